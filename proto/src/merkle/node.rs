//! Complete subtrees as the currency between a stored tree and the proofs made from it.

use super::{TreeSize, empty_root, node_hash, split_point};
use crate::digest::Digest;

/// A complete subtree: the `index`-th run of 2^`level` leaves, aligned to its own length.
///
/// Its hash never changes once its last leaf is there, whatever is appended later.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Node {
    /// Height above the leaves, 0 to 62.
    pub level: u8,
    /// Position among the nodes of its level.
    pub index: u64,
}

/// A stored tree, as far as it is needed to prove something about it.
pub trait NodeReader {
    /// What can go wrong when a hash is read.
    type Error;

    /// The hash of a complete subtree. Asked only for nodes that lie within the size in question.
    fn node(&self, node: Node) -> Result<Digest, Self::Error>;
}

impl<R: NodeReader + ?Sized> NodeReader for &R {
    type Error = R::Error;

    fn node(&self, node: Node) -> Result<Digest, Self::Error> {
        (**self).node(node)
    }
}

/// Root of the first `size` leaves.
pub fn root<R: NodeReader>(reader: &R, size: TreeSize) -> Result<Digest, R::Error> {
    if size == TreeSize::ZERO { Ok(empty_root()) } else { subtree_root(reader, 0, size.get()) }
}

/// Root of the leaves `start..end` of a tree: MTH(D\[start:end\]) of RFC 6962.
///
/// `start` must be aligned as it is in every subtree that RFC 6962's recursion meets: a multiple of the
/// smallest power of two that is not below `end - start`. An empty range has the empty root.
pub fn subtree_root<R: NodeReader>(reader: &R, start: u64, end: u64) -> Result<Digest, R::Error> {
    let count = end.saturating_sub(start);
    if count == 0 {
        return Ok(empty_root());
    }
    if count.is_power_of_two() {
        // A power of two has its exponent in at most six bits.
        let level = u8::try_from(count.trailing_zeros()).unwrap_or(u8::MAX);
        return reader.node(Node { level, index: start >> count.trailing_zeros() });
    }
    let middle = start.saturating_add(split_point(count));
    let left = subtree_root(reader, start, middle)?;
    let right = subtree_root(reader, middle, end)?;
    Ok(node_hash(&left, &right))
}
