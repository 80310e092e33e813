//! Merkle proofs as findings: is this leaf in this tree, is this tree a prefix of that one.
//!
//! What it is: the arithmetic of [`anchorlog_proto::merkle`] with a code for each way to fail. What
//! it is not: nothing here knows a key. A proof ties hashes to roots; who vouches for a root is a
//! question for [`crate::receipt`] and [`crate::trust`].

mod file;

use anchorlog_proto::Digest;
use anchorlog_proto::merkle::{ProofError, TreeSize, consistency, inclusion};

pub use file::{ConsistencyFile, InclusionFile, hash_from_text};

use crate::codes::log::{CONSISTENCY, INCLUSION, INDEX, PROOF_LENGTH, ROLLBACK, SPLIT_VIEW};
use crate::finding::Finding;

/// A tree as a checkpoint names it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "a tree is its size and its root")]
pub struct Tree {
    /// Number of leaves.
    pub size: TreeSize,
    /// RFC 6962 root hash.
    pub root: Digest,
}

/// Checks that the leaf with this hash is the one at `index` of `tree` (RFC 9162 section 2.1.3.2).
///
/// In this order: `LOG.INDEX`, `LOG.PROOF_LENGTH`, `LOG.INCLUSION`; at most one of them.
pub fn check_inclusion(
    index: u64,
    tree: &Tree,
    leaf_hash: &Digest,
    hashes: &[Digest],
) -> Result<(), Finding> {
    // The root is compared here rather than by `inclusion::verify`, to be able to name both.
    let root = inclusion::root_from_proof(index, tree.size, leaf_hash, hashes)
        .map_err(|error| refused(&error, Finding::new(INCLUSION, error.to_string())))?;
    if root == tree.root {
        Ok(())
    } else {
        Err(Finding::new(INCLUSION, "leaf and proof lead to another root than the tree's")
            .compared(tree.root, root))
    }
}

/// Checks that `older` is a prefix of `newer` (RFC 9162 section 2.1.4.2).
///
/// In this order: `LOG.ROLLBACK`, `LOG.SPLIT_VIEW`, `LOG.PROOF_LENGTH`, `LOG.CONSISTENCY`; at most
/// one of them. Every tree extends the empty one, and a tree is consistent with itself: both need
/// the empty proof.
pub fn check_consistency(older: &Tree, newer: &Tree, hashes: &[Digest]) -> Result<(), Finding> {
    if older.size > newer.size {
        return Err(Finding::new(ROLLBACK, "the tree that should be the newer one is smaller")
            .compared(format!("a size of at least {}", older.size), newer.size));
    }
    if older.size == newer.size && older.root != newer.root {
        let detail = format!("two trees of size {} with different roots", older.size);
        return Err(Finding::new(SPLIT_VIEW, detail).compared(older.root, newer.root));
    }
    consistency::verify(older.size, newer.size, &older.root, &newer.root, hashes)
        .map_err(|error| refused(&error, Finding::new(CONSISTENCY, error.to_string())))
}

/// The finding for a refusal of the proof's form, or `otherwise`.
fn refused(error: &ProofError, otherwise: Finding) -> Finding {
    match *error {
        ProofError::IndexOutOfRange { index, size } => {
            Finding::new(INDEX, error.to_string()).compared(format!("an index below {size}"), index)
        }
        ProofError::Length { expected, actual } => {
            Finding::new(PROOF_LENGTH, error.to_string()).compared(expected, actual)
        }
        _ => otherwise,
    }
}

#[cfg(test)]
mod tests;
