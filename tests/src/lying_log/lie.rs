//! What can be lied about, and how it looks.

use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::note::NoteSigner;

use super::{Branch, sign};
use crate::world::statements;

/// One way to lie. Indexes and sizes are those of the honest tree and have to be within it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Lie {
    /// The truth.
    None,
    /// A tree of the same size with another entry at `index`, right in itself. A statement that is
    /// submitted meanwhile takes that place.
    SplitView {
        /// The entry that is another.
        index: u64,
    },
    /// The tree as it was at `size`, as if it had never grown. What is submitted follows there.
    Rollback {
        /// The size gone back to.
        size: u64,
    },
    /// A larger tree, right in itself, with another entry at `index`: it doesn't extend the honest one. What
    /// is submitted follows there.
    Fork {
        /// The entry that is another.
        index: u64,
        /// How many made-up entries follow after the honest size.
        more: u64,
    },
    /// Another entry at `index` under the hash of the right one: bundles and statements lie, the tree
    /// doesn't.
    WrongEntry {
        /// The entry that is another.
        index: u64,
    },
    /// Another entry at `index` with its own hash in the tile of leaves, under the true tree's upper hashes and
    /// root.
    WrongLeaf {
        /// The entry that is another.
        index: u64,
    },
    /// The right entries under wrong indexes: these two have changed places, the tree hasn't. What is
    /// submitted is said to be at `one`.
    WrongIndex {
        /// One of them.
        one: u64,
        /// The other.
        other: u64,
    },
    /// The checkpoint of `size`, true and signed once, for ever: the tree grows, what is signed doesn't.
    Stale {
        /// The size it stays at.
        size: u64,
    },
}

/// What is shown: a tree, which may have been tampered with, and the size that is signed.
#[derive(Clone, Debug)]
pub struct View {
    /// What tiles, bundles and proofs are made of.
    pub tree: Branch,
    /// The size of the checkpoint.
    pub signed: u64,
    /// What roots are made of; the same as `tree` unless that was tampered with.
    roots: Option<Branch>,
}

impl Lie {
    /// What this lie makes of the honest tree.
    #[must_use]
    pub fn view(&self, truth: &Branch) -> View {
        let mut tree = truth.clone();
        let mut signed = truth.size();
        let mut roots = None;
        match *self {
            Self::None => {}
            Self::SplitView { index } => tree = truth.replaced(index, made_up(index)),
            Self::Rollback { size } => {
                tree = truth.prefix(size);
                signed = size;
            }
            Self::Fork { index, more } => {
                tree = truth.replaced(index, made_up(index));
                for number in 0..more {
                    tree.push(made_up(signed + number));
                }
                signed += more;
            }
            Self::WrongEntry { index } => tree.forge_entry(index, made_up(index)),
            Self::WrongLeaf { index } => {
                tree.forge_leaf(index, made_up(index));
                roots = Some(truth.clone());
            }
            Self::WrongIndex { one, other } => {
                let entry = |index| truth.entry(index).expect("an entry of the tree").to_vec();
                tree.forge_entry(one, entry(other));
                tree.forge_entry(other, entry(one));
            }
            Self::Stale { size } => signed = size,
        }
        View { tree, signed, roots }
    }
}

impl View {
    /// The checkpoint.
    pub(super) fn checkpoint(&self, signer: &NoteSigner) -> SignedCheckpoint {
        sign(signer, self.roots.as_ref().unwrap_or(&self.tree), self.signed)
    }
}

/// The entry that lies put at an index: a statement like any other, of something that nobody submitted.
#[must_use]
pub fn made_up(index: u64) -> Vec<u8> {
    statements::entry(1_000_000_000 + index).leaf_bytes().to_vec()
}
