//! A growing tree in logarithmic memory.

use super::node::{Node, NodeReader};
use super::{SizeError, TreeSize, empty_root, node_hash};
use crate::digest::Digest;

/// The right edge of a tree: the roots of the maximal complete subtrees, largest first.
///
/// There is one for every set bit of the size, so a tree of any size takes at most 63 hashes. Cloning one
/// is a snapshot.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Frontier {
    size: TreeSize,
    peaks: Vec<Digest>,
}

impl Frontier {
    /// The empty tree.
    #[must_use]
    pub const fn new() -> Self {
        Self { size: TreeSize::ZERO, peaks: Vec::new() }
    }

    /// The right edge of a stored tree.
    pub fn from_reader<R: NodeReader>(reader: &R, size: TreeSize) -> Result<Self, R::Error> {
        let peaks = peak_nodes(size).map(|node| reader.node(node)).collect::<Result<_, _>>()?;
        Ok(Self { size, peaks })
    }

    /// Number of leaves.
    #[must_use]
    pub const fn size(&self) -> TreeSize {
        self.size
    }

    /// Appends the hash of a leaf.
    pub fn push(&mut self, leaf_hash: Digest) -> Result<(), SizeError> {
        self.push_with(leaf_hash, |_, _| {})
    }

    /// Appends the hash of a leaf and tells of every subtree that it completes, leaf first.
    pub fn push_with(
        &mut self,
        leaf_hash: Digest,
        mut completed: impl FnMut(Node, &Digest),
    ) -> Result<(), SizeError> {
        let grown = self.size.plus(1)?;
        let mut node = Node { level: 0, index: self.size.get() };
        let mut hash = leaf_hash;
        completed(node, &hash);
        // The new leaf is a right child as often as the old size ends in ones.
        for _ in 0..self.size.get().trailing_ones() {
            let Some(left) = self.peaks.pop() else { break };
            hash = node_hash(&left, &hash);
            node = Node { level: node.level + 1, index: node.index >> 1 };
            completed(node, &hash);
        }
        self.peaks.push(hash);
        self.size = grown;
        Ok(())
    }

    /// Root of the tree.
    #[must_use]
    pub fn root(&self) -> Digest {
        let mut peaks = self.peaks.iter().rev();
        let Some(smallest) = peaks.next() else { return empty_root() };
        peaks.fold(*smallest, |right, left| node_hash(left, &right))
    }

    /// The complete subtrees of the edge with their hashes, largest first.
    pub fn nodes(&self) -> impl Iterator<Item = (Node, Digest)> + '_ {
        peak_nodes(self.size).zip(self.peaks.iter().copied())
    }
}

/// The maximal complete subtrees of the first `size` leaves, largest first.
fn peak_nodes(size: TreeSize) -> impl Iterator<Item = Node> {
    let size = size.get();
    (0..63_u8).rev().filter(move |level| size >> level & 1 == 1).map(move |level| {
        // Everything above this bit lies to the left of the subtree.
        Node { level, index: (size >> level) - 1 }
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::super::leaf_hash;
    use super::*;

    /// The eight leaves of RFC 6962's classic example and the roots of their prefixes.
    #[test]
    fn classic_roots() {
        let leaves: [&[u8]; 8] = [
            b"",
            b"\x00",
            b"\x10",
            b"\x20\x21",
            b"\x30\x31",
            b"\x40\x41\x42\x43",
            b"\x50\x51\x52\x53\x54\x55\x56\x57",
            b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
        ];
        let roots = [
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
            "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
            "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
            "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
            "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
        ];
        let mut frontier = Frontier::new();
        for (leaf, root) in leaves.iter().zip(roots) {
            assert_eq!(frontier.root().to_hex(), root, "size {}", frontier.size());
            frontier.push(leaf_hash(leaf)).unwrap();
        }
        assert_eq!(frontier.root().to_hex(), roots[8]);
    }

    #[test]
    fn peaks_are_the_set_bits() {
        let nodes: Vec<Node> = peak_nodes(TreeSize::new(0b1101).unwrap()).collect();
        let expected = [(3, 0), (2, 2), (0, 12)].map(|(level, index)| Node { level, index });
        assert_eq!(nodes, expected);
        assert_eq!(peak_nodes(TreeSize::MAX).count(), 63);
    }

    #[test]
    fn the_largest_tree_takes_no_more() {
        let peaks = vec![Digest::of(b"peak"); 63];
        let mut full = Frontier { size: TreeSize::MAX, peaks };
        let before = full.clone();
        assert!(full.push(Digest::of(b"leaf")).is_err());
        assert_eq!(full, before);
    }
}
