//! The stored tree as a reader of nodes, for proofs at any size that was ever published.
//!
//! Tiles keep every eighth level; the levels between are hashed when asked for. Above the leaves' own
//! tiles they are kept then: there are few of those nodes, and every proof goes through some of them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use anchorlog_proto::Digest;
use anchorlog_proto::merkle::{Frontier, Node, NodeReader, node_hash};
use anchorlog_proto::tile::{TILE_HEIGHT, TILE_WIDTH, TileHashes, TileNodes};

use crate::storage::{Objects, StorageError};

/// Inner nodes that are kept: enough for all of 67 million entries, in about 30 MiB. When they are used up,
/// the cache starts anew.
const MAX_CACHED_NODES: usize = 1 << 18;

/// Hashes in a full tile.
const TILE_HASHES: u64 = 256;

/// The objects of a log, read as a tree.
pub struct StoredTree {
    objects: Arc<dyn Objects>,
    /// Nodes between the levels that tiles keep, none of them below the first inner tiles. A node's hash
    /// never changes once it is complete.
    cache: RwLock<HashMap<Node, Digest>>,
}

impl StoredTree {
    /// A reader of what `objects` holds.
    #[must_use]
    pub fn new(objects: Arc<dyn Objects>) -> Self {
        Self { objects, cache: RwLock::default() }
    }

    /// The objects beneath.
    #[must_use]
    pub fn objects(&self) -> &dyn Objects {
        &*self.objects
    }

    /// A reader for one proof about the size of `edge`, whose hashes it knows without looking them up.
    #[must_use]
    pub const fn at<'a>(&'a self, edge: &'a Frontier) -> TreeReader<'a> {
        TreeReader { tree: self, edge, leaves: RefCell::new(None) }
    }

    /// A node between the levels that inner tiles keep.
    fn inner_node(&self, node: Node) -> Result<Digest, StorageError> {
        let cached = self.cache.read().unwrap_or_else(PoisonError::into_inner).get(&node).copied();
        if let Some(hash) = cached {
            return Ok(hash);
        }
        let child = Node { level: node.level - 1, index: node.index << 1 };
        let left = self.node(child)?;
        let right = self.node(Node { index: child.index + 1, ..child })?;
        let hash = node_hash(&left, &right);
        let mut cache = self.cache.write().unwrap_or_else(PoisonError::into_inner);
        if cache.len() >= MAX_CACHED_NODES {
            cache.clear();
        }
        cache.insert(node, hash);
        Ok(hash)
    }
}

impl NodeReader for StoredTree {
    type Error = StorageError;

    fn node(&self, node: Node) -> Result<Digest, StorageError> {
        if node.level < TILE_HEIGHT || node.level.is_multiple_of(TILE_HEIGHT) {
            TileNodes(&*self.objects).node(node)
        } else {
            self.inner_node(node)
        }
    }
}

/// A [`StoredTree`] at one size, for one proof.
pub struct TreeReader<'a> {
    tree: &'a StoredTree,
    edge: &'a Frontier,
    /// The tile of leaf hashes that the proof goes through, once it was read.
    leaves: RefCell<Option<(u64, Vec<Digest>)>>,
}

impl TreeReader<'_> {
    /// A node within a full tile of leaf hashes.
    fn node_in_leaf_tile(&self, tile: u64, node: Node) -> Result<Digest, StorageError> {
        let mut leaves = self.leaves.borrow_mut();
        let first = tile * TILE_HASHES;
        let hashes = if let Some((_, hashes)) = leaves.take_if(|(known, _)| *known == tile) {
            hashes
        } else {
            let mut hashes = vec![Digest::from_bytes([0; 32]); usize::from(TILE_WIDTH)];
            self.tree.objects.read_hashes(0, first, &mut hashes)?;
            hashes
        };
        let (_, hashes) = leaves.insert((tile, hashes));
        TileNodes(InMemory { first, hashes }).node(node)
    }
}

impl NodeReader for TreeReader<'_> {
    type Error = StorageError;

    fn node(&self, node: Node) -> Result<Digest, StorageError> {
        if let Some((_, hash)) = self.edge.nodes().find(|(peak, _)| *peak == node) {
            return Ok(hash);
        }
        let tile = node.index >> TILE_HEIGHT.saturating_sub(node.level);
        let is_full = (tile + 1).saturating_mul(TILE_HASHES) <= self.edge.size().get();
        if node.level < TILE_HEIGHT && is_full {
            self.node_in_leaf_tile(tile, node)
        } else {
            self.tree.node(node)
        }
    }
}

/// A run of leaf hashes.
struct InMemory<'a> {
    first: u64,
    hashes: &'a [Digest],
}

impl TileHashes for InMemory<'_> {
    type Error = StorageError;

    fn read_hashes(&self, _level: u8, first: u64, out: &mut [Digest]) -> Result<(), StorageError> {
        let run = first
            .checked_sub(self.first)
            .and_then(|skip| usize::try_from(skip).ok())
            .and_then(|skip| self.hashes.get(skip..skip.checked_add(out.len())?))
            .ok_or(StorageError::OutOfRange)?;
        out.copy_from_slice(run);
        Ok(())
    }
}
