//! A journal and objects that keep everything in memory and fail when they are told to: for tests of what
//! stands on top of them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use anchorlog_proto::Digest;
use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::tile::{TILE_HEIGHT, TileHashes};

use super::record::entries_of;
use super::{Batch, BatchRecord, Journal, Objects, StorageError};

/// What the next append to a [`MemoryJournal`] does.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Fault {
    /// It works.
    #[default]
    None,
    /// The disk is full: nothing is written.
    OutOfSpace,
    /// It fails, and nothing was written.
    Lost,
    /// It fails, but the record is there.
    Kept,
}

/// A batch as a [`MemoryJournal`] holds it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OwnedBatch {
    /// See [`BatchRecord::first_index`].
    pub first_index: u64,
    /// See [`BatchRecord::count`].
    pub count: u32,
    /// See [`BatchRecord::checkpoint`].
    pub checkpoint: Vec<u8>,
    /// See [`BatchRecord::entries`].
    pub entries: Vec<u8>,
}

impl OwnedBatch {
    /// The batch as a record.
    #[must_use]
    pub fn as_record(&self) -> BatchRecord<'_> {
        BatchRecord {
            first_index: self.first_index,
            count: self.count,
            checkpoint: &self.checkpoint,
            entries: &self.entries,
        }
    }
}

/// A journal in memory.
#[derive(Debug, Default)]
pub struct MemoryJournal {
    batches: Mutex<Vec<OwnedBatch>>,
    fault: Mutex<Fault>,
}

impl MemoryJournal {
    /// Decides what the next append does; the ones after it work again.
    pub fn fail_next(&self, fault: Fault) {
        *lock(&self.fault) = fault;
    }

    /// Every batch, oldest first.
    #[must_use]
    pub fn batches(&self) -> Vec<OwnedBatch> {
        lock(&self.batches).clone()
    }
}

impl Journal for MemoryJournal {
    fn size(&self) -> TreeSize {
        let batches = lock(&self.batches);
        batches.last().and_then(|batch| batch.as_record().size_after()).unwrap_or_default()
    }

    fn append(&self, batch: &BatchRecord<'_>) -> Result<(), StorageError> {
        let size = self.size().get();
        if batch.count == 0 && !lock(&self.batches).is_empty() {
            return Err(StorageError::EmptyBatch);
        }
        if batch.first_index != size || batch.size_after().is_none() {
            return Err(StorageError::NotTheNext { first_index: batch.first_index, size });
        }
        let fault = std::mem::take(&mut *lock(&self.fault));
        if matches!(fault, Fault::None | Fault::Kept) {
            lock(&self.batches).push(OwnedBatch {
                first_index: batch.first_index,
                count: batch.count,
                checkpoint: batch.checkpoint.to_vec(),
                entries: batch.entries.to_vec(),
            });
        }
        match fault {
            Fault::None => Ok(()),
            fault => Err(StorageError::Injected { out_of_space: fault == Fault::OutOfSpace }),
        }
    }

    fn maintain(&self, _durable: TreeSize) -> Result<(), StorageError> {
        Ok(())
    }
}

/// Objects in memory.
#[derive(Debug, Default)]
pub struct MemoryObjects {
    state: Mutex<MemoryState>,
}

#[derive(Debug, Default)]
struct MemoryState {
    size: TreeSize,
    entries: Vec<Vec<u8>>,
    levels: Vec<Vec<Digest>>,
    full: bool,
}

impl MemoryObjects {
    /// Plays a full disk, or one that has room again.
    pub fn set_full(&self, full: bool) {
        lock(&self.state).full = full;
    }
}

impl Objects for MemoryObjects {
    fn size(&self) -> TreeSize {
        lock(&self.state).size
    }

    fn reserve(&self, _entries: u64, _bytes: u64) -> Result<(), StorageError> {
        if lock(&self.state).full {
            Err(StorageError::Injected { out_of_space: true })
        } else {
            Ok(())
        }
    }

    fn append(&self, batch: &Batch<'_>) -> Result<(), StorageError> {
        let mut state = lock(&self.state);
        for entry in entries_of(batch.entries) {
            state.entries.push(entry.map_err(|_| StorageError::OutOfRange)?.to_vec());
        }
        for level in 0..8_u8 {
            if let Some((_, hashes)) = batch.extension.completed(level * TILE_HEIGHT) {
                let level = usize::from(level);
                if state.levels.len() <= level {
                    state.levels.resize_with(level + 1, Vec::new);
                }
                if let Some(stored) = state.levels.get_mut(level) {
                    stored.extend_from_slice(hashes);
                }
            }
        }
        state.size = batch.extension.size();
        Ok(())
    }

    fn sync(&self) -> Result<TreeSize, StorageError> {
        Ok(self.size())
    }

    fn read_entries(&self, first: u64, count: u16) -> Result<Vec<u8>, StorageError> {
        let state = lock(&self.state);
        let start = usize::try_from(first).map_err(|_| StorageError::OutOfRange)?;
        let end = start.checked_add(usize::from(count)).ok_or(StorageError::OutOfRange)?;
        let one_bundle = count > 0 && start / 256 == (end - 1) / 256;
        let entries = state.entries.get(start..end).filter(|_| one_bundle);
        let mut bundle = Vec::new();
        for entry in entries.ok_or(StorageError::OutOfRange)? {
            anchorlog_proto::tile::push_entry(&mut bundle, entry)
                .map_err(|_| StorageError::OutOfRange)?;
        }
        Ok(bundle)
    }
}

impl TileHashes for MemoryObjects {
    type Error = StorageError;

    fn read_hashes(&self, level: u8, first: u64, out: &mut [Digest]) -> Result<(), StorageError> {
        let state = lock(&self.state);
        let start = usize::try_from(first).map_err(|_| StorageError::OutOfRange)?;
        let hashes = state
            .levels
            .get(usize::from(level))
            .and_then(|level| level.get(start..start.checked_add(out.len())?))
            .ok_or(StorageError::OutOfRange)?;
        out.copy_from_slice(hashes);
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
