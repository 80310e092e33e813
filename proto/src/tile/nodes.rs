//! Every node of a tree that is stored as tiles.

use super::TILE_HEIGHT;
use crate::digest::Digest;
use crate::merkle::{self, Node, NodeReader, node_hash};

/// A stored tree, as tiles keep it: the hashes of every eighth level.
pub trait TileHashes {
    /// What can go wrong when hashes are read.
    type Error;

    /// Reads the hashes of tile level `level` from `first` on, as many as `out` holds. They lie within one
    /// tile.
    fn read_hashes(&self, level: u8, first: u64, out: &mut [Digest]) -> Result<(), Self::Error>;
}

impl<T: TileHashes + ?Sized> TileHashes for &T {
    type Error = T::Error;

    fn read_hashes(&self, level: u8, first: u64, out: &mut [Digest]) -> Result<(), T::Error> {
        (**self).read_hashes(level, first, out)
    }
}

/// Every complete subtree of a tree that is stored as tiles: the levels between are hashed when asked for.
#[derive(Clone, Copy, Debug)]
pub struct TileNodes<T>(pub T);

impl<T: TileHashes> NodeReader for TileNodes<T> {
    type Error = T::Error;

    fn node(&self, node: Node) -> Result<Digest, T::Error> {
        let height = node.level % TILE_HEIGHT;
        let mut hashes = [Digest::from_bytes([0; 32]); 128];
        let (mut row, _) = hashes.split_at_mut(1 << height);
        self.0.read_hashes(node.level / TILE_HEIGHT, node.index << height, row)?;
        while row.len() > 1 {
            row = fold_row(row);
        }
        // A row is never empty: it starts with a power of two and is halved down to one.
        Ok(row.first().copied().unwrap_or_else(merkle::empty_root))
    }
}

/// Replaces a row of hashes by the row above it, in place, and returns that.
fn fold_row(row: &mut [Digest]) -> &mut [Digest] {
    let half = row.len() / 2;
    for parent in 0..half {
        if let Some([left, right]) = row.get(2 * parent..2 * parent + 2) {
            let hash = node_hash(left, right);
            if let Some(slot) = row.get_mut(parent) {
                *slot = hash;
            }
        }
    }
    row.split_at_mut(half).0
}
