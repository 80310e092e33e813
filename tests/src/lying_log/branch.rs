//! One history: entries and the tree over them.

use anchorlog_proto::Digest;
use anchorlog_proto::merkle::{
    Node, NodeReader, TreeSize, consistency, inclusion, leaf_hash, node_hash, root,
};
use anchorlog_proto::tile::{EntriesId, TILE_HEIGHT, TileId, push_entry};

/// Entries and every complete subtree over them, held in memory.
#[derive(Clone, Debug, Default)]
pub struct Branch {
    entries: Vec<Vec<u8>>,
    /// Per binary level: the hashes of its complete subtrees.
    levels: Vec<Vec<Digest>>,
}

/// A node that the branch doesn't have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NoSuchNode(pub Node);

impl Branch {
    /// No entries.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// These entries.
    #[must_use]
    pub fn of<E: AsRef<[u8]>>(entries: impl IntoIterator<Item = E>) -> Self {
        let mut branch = Self::new();
        for entry in entries {
            branch.push(entry.as_ref().to_vec());
        }
        branch
    }

    /// Appends an entry.
    pub fn push(&mut self, entry: Vec<u8>) {
        let hash = leaf_hash(&entry);
        self.entries.push(entry);
        self.push_hash(hash);
    }

    /// The first `size` entries.
    #[must_use]
    pub fn prefix(&self, size: u64) -> Self {
        let size = usize_of(size);
        let complete = |(height, row): (usize, &Vec<Digest>)| row[..size >> height].to_vec();
        let levels = self.levels.iter().enumerate().map(complete).take_while(|row| !row.is_empty());
        Self { entries: self.entries[..size].to_vec(), levels: levels.collect() }
    }

    /// The same number of entries, one of them another.
    #[must_use]
    pub fn replaced(&self, index: u64, entry: Vec<u8>) -> Self {
        let mut entries = self.entries.clone();
        entries[usize_of(index)] = entry;
        Self::of(entries)
    }

    /// Number of entries.
    #[must_use]
    pub fn size(&self) -> u64 {
        u64::try_from(self.entries.len()).expect("a tree of a test")
    }

    /// The entry at an index.
    #[must_use]
    pub fn entry(&self, index: u64) -> Option<&[u8]> {
        self.entries.get(usize::try_from(index).ok()?).map(Vec::as_slice)
    }

    /// All entries.
    #[must_use]
    pub fn entries(&self) -> &[Vec<u8>] {
        &self.entries
    }

    /// Where the first entry of these bytes is.
    #[must_use]
    pub fn position(&self, entry: &[u8]) -> Option<u64> {
        let position = self.entries.iter().position(|known| known == entry)?;
        u64::try_from(position).ok()
    }

    /// The root over the first `size` entries.
    #[must_use]
    pub fn root(&self, size: u64) -> Digest {
        root(self, tree(size)).expect("a size that was reached")
    }

    /// The inclusion proof of an entry in the tree of the first `size`; `None` if it isn't in there.
    #[must_use]
    pub fn inclusion(&self, index: u64, size: u64) -> Option<Vec<Digest>> {
        inclusion::prove(self, index, tree(size)).ok()?.ok()
    }

    /// The consistency proof between two sizes; `None` if the branch hasn't got that far.
    #[must_use]
    pub fn consistency(&self, from: u64, to: u64) -> Option<Vec<Digest>> {
        consistency::prove(self, tree(from), tree(to)).ok()?.ok()
    }

    /// The bytes of a tile, if the branch has that many hashes.
    #[must_use]
    pub fn tile(&self, id: TileId) -> Option<Vec<u8>> {
        let level = self.levels.get(usize::from(id.level) * usize::from(TILE_HEIGHT))?;
        let first = usize::try_from(id.first_hash()).ok()?;
        let hashes = level.get(first..first.checked_add(usize::from(id.width.get()))?)?;
        Some(hashes.iter().flat_map(|hash| *hash.as_bytes()).collect())
    }

    /// The bytes of a bundle, if the branch has that many entries.
    #[must_use]
    pub fn bundle(&self, id: EntriesId) -> Option<Vec<u8>> {
        let first = usize::try_from(id.first_entry()).ok()?;
        let entries = self.entries.get(first..first.checked_add(usize::from(id.width.get()))?)?;
        let mut bytes = Vec::new();
        for entry in entries {
            push_entry(&mut bytes, entry).ok()?;
        }
        Some(bytes)
    }

    /// Overwrites an entry and the hash of its leaf, and leaves all that is above as it was.
    pub(super) fn forge_leaf(&mut self, index: u64, entry: Vec<u8>) {
        self.levels[0][usize_of(index)] = leaf_hash(&entry);
        self.forge_entry(index, entry);
    }

    /// Overwrites an entry and leaves the whole tree over it as it was.
    pub(super) fn forge_entry(&mut self, index: u64, entry: Vec<u8>) {
        self.entries[usize_of(index)] = entry;
    }

    fn push_hash(&mut self, hash: Digest) {
        let mut hash = hash;
        for level in 0.. {
            if level == self.levels.len() {
                self.levels.push(Vec::new());
            }
            let row = &mut self.levels[level];
            row.push(hash);
            let [.., left, right] = row.as_slice() else { return };
            if row.len() % 2 == 1 {
                return;
            }
            hash = node_hash(left, right);
        }
    }
}

impl NodeReader for Branch {
    type Error = NoSuchNode;

    fn node(&self, node: Node) -> Result<Digest, NoSuchNode> {
        let row = self.levels.get(usize::from(node.level));
        let hash = row.and_then(|row| row.get(usize::try_from(node.index).ok()?));
        hash.copied().ok_or(NoSuchNode(node))
    }
}

fn tree(size: u64) -> TreeSize {
    TreeSize::new(size).expect("a tree of a test")
}

fn usize_of(number: u64) -> usize {
    usize::try_from(number).expect("a tree of a test")
}

#[cfg(test)]
mod tests {
    use anchorlog_proto::merkle::Frontier;

    use super::*;

    #[test]
    fn a_branch_is_the_tree_that_a_frontier_grows() {
        let mut frontier = Frontier::new();
        let mut branch = Branch::new();
        for number in 0_u64..300 {
            assert_eq!(branch.root(number), frontier.root());
            frontier.push(leaf_hash(&number.to_be_bytes())).unwrap();
            branch.push(number.to_be_bytes().to_vec());
        }
        let proof = branch.consistency(77, 300).unwrap();
        let (old, new) = (branch.root(77), branch.root(300));
        consistency::verify(tree(77), tree(300), &old, &new, &proof).unwrap();
        let proof = branch.inclusion(5, 299).unwrap();
        let leaf = leaf_hash(&5_u64.to_be_bytes());
        inclusion::verify(5, tree(299), &leaf, &proof, &branch.root(299)).unwrap();
        assert_eq!(branch.inclusion(5, 301), None);
        assert_eq!(branch.consistency(5, 301), None);
        let mut prefix = branch.prefix(123);
        assert_eq!(prefix.root(123), branch.root(123));
        for number in 123_u64..300 {
            prefix.push(number.to_be_bytes().to_vec());
        }
        assert_eq!(prefix.root(300), branch.root(300));
        assert_ne!(branch.replaced(9, b"x".to_vec()).root(300), branch.root(300));
    }
}
