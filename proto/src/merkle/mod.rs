//! RFC 6962 Merkle trees: hashing, growing, proving, verifying.
//!
//! What it is: arithmetic over trees of any size up to 2^63-1, without ever holding one. A tree that grows
//! is a [`Frontier`]; a tree that is stored is a [`NodeReader`]; proofs are made over a reader and checked
//! by the algorithms of RFC 9162 section 2.1. What it is not: there are no tiles here (see
//! [`crate::tile`]), no signatures and no storage.
//!
//! Every index and size is a `u64` of at most 2^63-1: every other implementation of the field counts in
//! signed 64-bit integers.

pub mod consistency;
mod extension;
mod frontier;
mod hash;
pub mod inclusion;
mod node;
#[cfg(test)]
mod tests;

pub use extension::{Extension, MissingNode};
pub use frontier::Frontier;
pub use hash::{empty_root, leaf_hash, node_hash};
pub use node::{Node, NodeReader, root, subtree_root};

/// The largest number of leaves a tree can have.
pub const MAX_TREE_SIZE: u64 = (1 << 63) - 1;

/// The largest number of hashes a proof can have: one per level of the largest tree.
pub const MAX_PROOF_HASHES: usize = 63;

/// The number of leaves of a tree: at most [`MAX_TREE_SIZE`].
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TreeSize(u64);

impl TreeSize {
    /// The largest tree.
    pub const MAX: Self = Self(MAX_TREE_SIZE);
    /// The empty tree.
    pub const ZERO: Self = Self(0);

    /// A size, if it is within the limit.
    pub const fn new(size: u64) -> Result<Self, SizeError> {
        if size > MAX_TREE_SIZE { Err(SizeError { size }) } else { Ok(Self(size)) }
    }

    /// The number of leaves.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// This size with `leaves` more.
    pub fn plus(self, leaves: u64) -> Result<Self, SizeError> {
        self.0.checked_add(leaves).map_or(Err(SizeError { size: u64::MAX }), Self::new)
    }
}

impl core::fmt::Display for TreeSize {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.fmt(f)
    }
}

impl From<TreeSize> for u64 {
    fn from(size: TreeSize) -> Self {
        size.0
    }
}

/// A tree size over the limit.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("tree size {size} is over the limit of 2^63-1")]
pub struct SizeError {
    /// The size asked for.
    pub size: u64,
}

/// Why a proof does not hold.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProofError {
    /// The leaf is not in a tree of this size.
    #[error("index {index} is not below the tree size {size}")]
    IndexOutOfRange {
        /// Index of the leaf.
        index: u64,
        /// Size of the tree.
        size: u64,
    },
    /// A consistency proof from a larger tree to a smaller one.
    #[error("a tree of size {from} can't be a prefix of a tree of size {to}")]
    SizesReversed {
        /// Size of the older tree.
        from: u64,
        /// Size of the newer tree.
        to: u64,
    },
    /// More or fewer hashes than index and sizes determine.
    #[error("the proof holds {actual} hashes where {expected} are determined by the sizes")]
    Length {
        /// Hashes the sizes determine.
        expected: usize,
        /// Hashes given.
        actual: usize,
    },
    /// The hashes lead to another root than the one given.
    #[error("the proof leads to another root")]
    Root,
    /// The hashes of a consistency proof do not lead to the older root.
    #[error("the proof does not lead to the older root")]
    OldRoot,
}

impl ProofError {
    /// The stable code of this refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::IndexOutOfRange { .. } => "PROOF.INDEX",
            Self::SizesReversed { .. } => "PROOF.SIZES",
            Self::Length { .. } => "PROOF.LENGTH",
            Self::Root => "PROOF.ROOT",
            Self::OldRoot => "PROOF.OLD_ROOT",
        }
    }
}

/// The largest power of two that is smaller than `size` (RFC 6962 section 2.1), for `size` of at least 2.
const fn split_point(size: u64) -> u64 {
    // `size - 1` has the wanted bit as its highest one.
    1 << (size - 1).ilog2()
}
