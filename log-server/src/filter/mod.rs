//! Says at once of most new leaves that the log does not have them.
//!
//! What it is: Bloom filters of all leaf hashes, in front of the look-up for duplicates that every submitted
//! statement needs. The index answers that look-up in microseconds; this does in tens of nanoseconds.
//!
//! What it is not: an answer. "The log may have this leaf" sends the sequencer to the index, as if there were
//! no filter, so a false positive costs one look-up and changes nothing. "The log does not have it" is
//! believed, so there must not be a false negative:
//!
//! * Bits are only ever set. A leaf that was inserted is found as long as the filter lives, however full it
//!   is, and it lives as long as the process.
//! * The leaves from before the start are read from the stored hashes, and their filter is used only once
//!   the tree over exactly these hashes has the root that the log signed. Until then, and for good if it has
//!   another root or can't be read, the answer to everything is "may have".
//! * The leaves since then are inserted by the sequencer, the one thread that gives out places, after their
//!   batch is durable and before it looks at the next one. A batch's own entries it knows by itself.
//!
//! Nothing of this depends on how far the index is, on what it does after a crash, or on its files.
//!
//! Memory is bounded. Filters are added as the log grows, each as large as the log was, with two bytes for
//! a leaf; when the memory is used up, the last one takes the rest, and ever more look-ups go to the index.

mod blocks;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use anchorlog_proto::Digest;
use anchorlog_proto::merkle::Frontier;

use self::blocks::{BLOCK_BYTES, Blocks, Key};
use crate::error::Error;
use crate::snapshot::Snapshot;
use crate::storage::Objects;

/// Memory a filter takes at most when nothing else is asked for, in bytes: good for 64 million leaves.
pub(crate) const DEFAULT_MEMORY: u64 = 128 << 20;

/// Bytes for a leaf, where there is room.
const LEAF_BYTES: u64 = 2;

/// Leaves for a byte at which a filter is not worth its while: more than every other answer would be wrong.
const MAX_LEAVES_PER_BYTE: u64 = 3;

/// Leaves the first of the added filters is made for, and the least that another one is worth.
const MIN_LEAVES: u64 = 1 << 18;

/// Hashes that are read at a time: one tile.
const TILE_HASHES: u64 = 256;

/// What the sequencer asks and tells.
pub(crate) struct LeafFilter {
    key: Key,
    /// The leaves from before the start, once they are read and compared.
    stored: Arc<OnceLock<Blocks>>,
    /// Those since then, oldest filter first; the last one takes new leaves.
    added: Vec<Blocks>,
    /// Leaves that all filters were made for.
    planned: u64,
    /// Leaves that the last of the added filters still takes.
    room: u64,
    /// Bytes that further filters may use.
    memory: u64,
}

/// The work of reading the leaves that a log has at its start.
pub(crate) struct StoredLeaves {
    key: Key,
    cell: Arc<OnceLock<Blocks>>,
    /// Bytes of the filter; none if it is not worth while.
    memory: Option<u64>,
}

impl LeafFilter {
    /// A filter of at most `memory` bytes for a log of `size` leaves, and the work that makes it useful.
    pub(crate) fn new(size: u64, memory: u64) -> Result<(Self, StoredLeaves), getrandom::Error> {
        let mut random = [0; 40];
        getrandom::fill(&mut random)?;
        let key = Key::new(&random);
        let cell = Arc::new(OnceLock::new());
        // A part is left for what comes.
        let wanted = size.saturating_mul(LEAF_BYTES).min(memory - memory / 4).max(BLOCK_BYTES);
        let worth_while = memory >= BLOCK_BYTES && size / MAX_LEAVES_PER_BYTE <= wanted;
        let stored = worth_while.then_some(wanted);
        let filter = Self {
            key,
            stored: Arc::clone(&cell),
            added: Vec::new(),
            planned: size,
            room: 0,
            memory: stored.map_or(0, |used| memory.saturating_sub(used)),
        };
        Ok((filter, StoredLeaves { key, cell, memory: stored }))
    }

    /// Whether the log may have this leaf. `false` is certain.
    pub(crate) fn may_have(&self, leaf_hash: &Digest) -> bool {
        let Some(stored) = self.stored.get() else { return true };
        let position = self.key.position(leaf_hash);
        // Most leaves are in none of them, so all are asked, and the waiting for memory is one and not many.
        self.added
            .iter()
            .fold(stored.may_have(position), |found, blocks| found | blocks.may_have(position))
    }

    /// Takes in leaves that the log has from now on.
    pub(crate) fn extend(&mut self, leaf_hashes: impl Iterator<Item = Digest>) {
        for leaf_hash in leaf_hashes {
            if self.room == 0 {
                self.grow();
            }
            if let Some(blocks) = self.added.last_mut() {
                blocks.insert(self.key.position(&leaf_hash));
            }
            self.room = self.room.saturating_sub(1);
        }
    }

    /// Adds a filter for as many leaves as there are by now, if there is memory for it. Without, the last
    /// one goes on taking leaves; without any at all, nothing may be ruled out any more.
    fn grow(&mut self) {
        let leaves = self.planned.max(MIN_LEAVES).min(self.memory / LEAF_BYTES);
        if leaves >= MIN_LEAVES || self.added.is_empty() && leaves > 0 {
            self.added.push(Blocks::new(leaves * LEAF_BYTES));
            self.memory -= leaves * LEAF_BYTES;
            self.planned = self.planned.saturating_add(leaves);
            self.room = leaves;
            return;
        }
        if self.added.is_empty() {
            self.stored = Arc::default();
        }
        self.room = u64::MAX;
    }
}

impl StoredLeaves {
    /// Does the work, for a thread of its own. That it fails costs look-ups and nothing else.
    pub(crate) fn run(self, objects: &dyn Objects, snapshot: &Snapshot, stop: &AtomicBool) {
        let started = Instant::now();
        let read = self.read(objects, snapshot, stop);
        let (size, millis) = (snapshot.size().get(), started.elapsed().as_millis());
        match read {
            Ok(()) => tracing::debug!(size, millis, "the stored leaves are read"),
            Err(error) => tracing::error!(%error, "there is no filter in front of the index"),
        }
    }

    /// Reads the leaf hashes of the log as `snapshot` has it and hands their filter over, unless it is told
    /// to stop or there is no filter to be made.
    ///
    /// # Errors
    ///
    /// A read that failed, or [`Error::RootMismatch`] when the hashes are not those that were signed. The
    /// filter then goes on ruling nothing out.
    fn read(
        self,
        objects: &dyn Objects,
        snapshot: &Snapshot,
        stop: &AtomicBool,
    ) -> Result<(), Error> {
        let Some(memory) = self.memory else { return Ok(()) };
        let mut blocks = Blocks::new(memory);
        let mut edge = Frontier::new();
        let size = snapshot.size().get();
        let mut tile = [Digest::from_bytes([0; 32]); 256];
        for first in (0..size).step_by(256) {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let count = usize::try_from((size - first).min(TILE_HASHES)).unwrap_or(tile.len());
            let (hashes, _) = tile.split_at_mut(count);
            objects.read_hashes(0, first, hashes)?;
            for hash in hashes {
                blocks.insert(self.key.position(hash));
                edge.push(*hash)?;
            }
        }
        if edge.root() != *snapshot.root() {
            return Err(Error::RootMismatch { size });
        }
        // It is set once, here.
        let _ = self.cell.set(blocks);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
