//! A log's tree as its tiles show it: fetched when needed, kept for one piece of work, and proved against
//! one checkpoint.
//!
//! A batch of a thousand statements is verified with a dozen requests this way instead of a thousand:
//! neighbouring leaves share their tiles. Nothing a tile says is believed: each proof made from tiles is
//! verified against the checkpoint's root like any other.

use std::collections::HashMap;

use anchorlog_proto::Digest;
use anchorlog_proto::merkle::{TreeSize, inclusion};
use anchorlog_proto::tile::{
    EntriesId, TILE_WIDTH, TileHashes, TileId, TileNodes, Width, hashes_in_level,
};

use crate::log_client::{CallError, LogClient};

/// The tiles and entries of one tree, fetched on demand.
#[derive(Debug)]
pub(crate) struct TileTree<'c> {
    client: &'c LogClient,
    size: TreeSize,
    tiles: Fetched,
    bundles: HashMap<u64, Vec<Vec<u8>>>,
}

impl<'c> TileTree<'c> {
    /// The tree of the first `size` leaves.
    pub(crate) fn new(client: &'c LogClient, size: TreeSize) -> Self {
        Self { client, size, tiles: Fetched::default(), bundles: HashMap::new() }
    }

    /// An inclusion proof for the leaf at `index`, to be verified; `None` if the tree has no such leaf.
    pub(crate) async fn inclusion(&mut self, index: u64) -> Result<Option<Vec<Digest>>, CallError> {
        loop {
            // Each round fetches one more of the at most eight tiles on the way up.
            match inclusion::prove(&TileNodes(&self.tiles), index, self.size) {
                Ok(proof) => return Ok(proof.ok()),
                Err(Missing { level, index }) => {
                    let Some(width) = self.width(level, index) else { return Ok(None) };
                    if self.tiles.0.contains_key(&(level, index)) {
                        return Ok(None);
                    }
                    let hashes = self.client.tile(TileId { level, index, width }).await?;
                    self.tiles.0.insert((level, index), hashes);
                }
            }
        }
    }

    /// The bytes of the entry at `index`, to be verified; `None` if the tree has no such leaf.
    pub(crate) async fn entry(&mut self, index: u64) -> Result<Option<&[u8]>, CallError> {
        let bundle = index / u64::from(TILE_WIDTH);
        if !self.bundles.contains_key(&bundle) {
            let Some(width) = self.width(0, bundle) else { return Ok(None) };
            let entries = self.client.entries(EntriesId { index: bundle, width }).await?;
            self.bundles.insert(bundle, entries);
        }
        let position = usize::try_from(index % u64::from(TILE_WIDTH)).unwrap_or(usize::MAX);
        Ok(self.bundles.get(&bundle).and_then(|entries| entries.get(position)).map(Vec::as_slice))
    }

    /// How much of a tile this tree has; `None` if nothing.
    fn width(&self, level: u8, index: u64) -> Option<Width> {
        let before = index.checked_mul(u64::from(TILE_WIDTH))?;
        let from_there_on = hashes_in_level(level, self.size).checked_sub(before)?;
        Width::new(u16::try_from(from_there_on.min(u64::from(TILE_WIDTH))).ok()?)
    }
}

#[derive(Debug, Default)]
struct Fetched(HashMap<(u8, u64), Vec<Digest>>);

/// A tile that has to be fetched first.
#[derive(Clone, Copy, Debug)]
struct Missing {
    level: u8,
    index: u64,
}

impl TileHashes for &Fetched {
    type Error = Missing;

    fn read_hashes(&self, level: u8, first: u64, out: &mut [Digest]) -> Result<(), Missing> {
        let index = first / u64::from(TILE_WIDTH);
        let missing = Missing { level, index };
        let tile = self.0.get(&(level, index)).ok_or(missing)?;
        let start = usize::try_from(first % u64::from(TILE_WIDTH)).map_err(|_| missing)?;
        let hashes = tile.get(start..).and_then(|rest| rest.get(..out.len())).ok_or(missing)?;
        out.copy_from_slice(hashes);
        Ok(())
    }
}
