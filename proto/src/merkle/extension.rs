//! What a batch added to a tree: enough to prove every leaf of it without reading the tree again.

use super::node::{Node, NodeReader};
use super::{Frontier, SizeError, TreeSize};
use crate::digest::Digest;

/// The nodes that a batch of leaves completed, beside the edge it was appended to.
///
/// The inclusion proof of a leaf of the batch, at the size the batch reached, needs only nodes that the
/// batch completed and nodes of the edge before it; so does the consistency proof from the size before.
/// A log keeps one per batch, answers everybody who waited from it, and drops it.
#[derive(Clone, Debug)]
pub struct Extension {
    before: Frontier,
    after: Frontier,
    /// Per level: index of the first completed node, and the completed nodes from there on.
    levels: Vec<(u64, Vec<Digest>)>,
}

/// A node that neither the batch nor the edge before it holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("node {} of level {} is not part of this extension", node.index, node.level)]
pub struct MissingNode {
    /// The node asked for.
    pub node: Node,
}

impl Extension {
    /// Appends `leaf_hashes` to the tree of `before`.
    pub fn new(
        before: Frontier,
        leaf_hashes: impl IntoIterator<Item = Digest>,
    ) -> Result<Self, SizeError> {
        let mut levels: Vec<(u64, Vec<Digest>)> = Vec::new();
        let mut after = before.clone();
        for leaf_hash in leaf_hashes {
            // Levels are completed from the leaf upwards, so each new level is the next in the list.
            after.push_with(leaf_hash, |node, hash| {
                match levels.get_mut(usize::from(node.level)) {
                    Some((_, hashes)) => hashes.push(*hash),
                    None => levels.push((node.index, vec![*hash])),
                }
            })?;
        }
        Ok(Self { before, after, levels })
    }

    /// The edge before the batch.
    #[must_use]
    pub const fn before(&self) -> &Frontier {
        &self.before
    }

    /// The edge after the batch.
    #[must_use]
    pub const fn after(&self) -> &Frontier {
        &self.after
    }

    /// Number of leaves after the batch.
    #[must_use]
    pub const fn size(&self) -> TreeSize {
        self.after.size()
    }

    /// The nodes of `level` that the batch completed: index of the first, and their hashes in order.
    ///
    /// What a log stores of the level when it appends the batch.
    #[must_use]
    pub fn completed(&self, level: u8) -> Option<(u64, &[Digest])> {
        self.levels.get(usize::from(level)).map(|(first, hashes)| (*first, hashes.as_slice()))
    }
}

impl NodeReader for Extension {
    type Error = MissingNode;

    fn node(&self, node: Node) -> Result<Digest, MissingNode> {
        let completed = self.completed(node.level).and_then(|(first, hashes)| {
            hashes.get(usize::try_from(node.index.checked_sub(first)?).ok()?).copied()
        });
        completed
            .or_else(|| self.before.nodes().find(|(edge, _)| *edge == node).map(|(_, hash)| hash))
            .ok_or(MissingNode { node })
    }
}
