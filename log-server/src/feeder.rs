//! The thread that feeds the index behind the log.
//!
//! It opens the index, brings it up to the log, and then follows. The index is derived, so nothing it does
//! can lose an entry: when it fails it is opened again, and when it is damaged it is made anew, whether that
//! shows when it is opened, when it is fed or when somebody looks something up.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::statement::LogEntry;

use crate::error::Error;
use crate::finder::Finder;
use crate::index::{self, Engine, Index, IndexError, IndexedEntry, Opened, Remedy};
use crate::metrics::Metrics;
use crate::storage::record::entries_of;
use crate::storage::space::SpaceGuard;
use crate::storage::{Defect, Objects, StorageError};

/// How long the feeder waits before it opens a failed index again.
const REOPEN_AFTER: Duration = Duration::from_secs(1);

/// How often what was fed is made durable. After a crash, that much is fed again.
const SYNC_EVERY: Duration = Duration::from_secs(10);

/// How long entries gather before they are fed, so that an append is worth its while. What waits is found
/// all the same.
const GATHER: Duration = Duration::from_millis(20);

/// Entries that are read from the log for one append to the index.
const CATCH_UP_BATCH: u64 = 4_096;

/// Entries of a reopened index that are compared with the log.
const SAMPLES: u64 = 64;

/// Everything the feeding thread works with.
pub(crate) struct Feeder {
    pub(crate) engine: Engine,
    pub(crate) options: index::Options,
    pub(crate) objects: Arc<dyn Objects>,
    pub(crate) finder: Arc<Finder>,
    pub(crate) metrics: Metrics,
    pub(crate) space: SpaceGuard,
}

impl Feeder {
    /// Feeds the index until it has to stop.
    pub(crate) fn run(self) {
        loop {
            match self.open_and_feed() {
                Ok(()) => {
                    // Handles on the log may live on; the index is closed with the log.
                    self.finder.unavailable(false);
                    return;
                }
                Err(error) => {
                    // Engines that fail in the background don't say why.
                    let out_of_space =
                        error.is_out_of_space() || self.space.is_low(self.finder.lag());
                    tracing::error!(%error, out_of_space, "the index failed and is opened again");
                    let stop = self.read_on_until_there_is_room();
                    self.finder.unavailable(out_of_space);
                    if stop {
                        return;
                    }
                    self.recreate_if_damaged(&error);
                }
            }
            if self.finder.sleep(REOPEN_AFTER) {
                return;
            }
        }
    }

    /// Keeps an index that can't be written open on a full disk: it still answers, and what it lacks waits
    /// beside it. Opening it again would take space. True: stop.
    fn read_on_until_there_is_room(&self) -> bool {
        if self.space.is_low(self.finder.lag()) {
            self.finder.starved();
        }
        while self.finder.is_ready() && self.space.is_low(self.finder.lag()) {
            // Damage that a look-up meets now is met again when there is room to make the index anew.
            let _ = self.finder.take_damage();
            if self.finder.sleep(REOPEN_AFTER) {
                return true;
            }
        }
        false
    }

    /// Opens the index, brings it up to the log and follows. Returns when it has to stop.
    fn open_and_feed(&self) -> Result<(), Error> {
        let (index, opened) = index::open_or_recreate(self.engine, &self.options)?;
        if let Opened::Recreated(reason) = opened {
            tracing::warn!(%reason, "the index could not be used and is rebuilt from the log");
        }
        let index: Arc<dyn Index> = Arc::from(index);
        verify_samples(&*index, &*self.objects)?;
        self.follow(&index).map_err(|error| self.looked_into(&*index, error))
    }

    /// What is behind a failure that says no more than that there was one: an engine's background work may have
    /// met damage, and would meet it again whenever it is opened. All of its files are read for that.
    pub(crate) fn looked_into(&self, index: &dyn Index, error: Error) -> Error {
        let unclear = matches!(error, Error::Index(IndexError::Poisoned));
        if !unclear || self.space.is_low(self.finder.lag()) {
            return error;
        }
        match index.check_files() {
            Err(found) if found.remedy() == Remedy::Rebuild => Error::Index(found),
            _ => error,
        }
    }

    fn follow(&self, index: &Arc<dyn Index>) -> Result<(), Error> {
        let mut synced = Instant::now();
        // What waits may be indexed already, if the index was opened again: start from the log.
        self.catch_up(&**index)?;
        self.space.owe(index.unwritten_bytes());
        self.finder.ready(Arc::clone(index));
        loop {
            let mut stop = self.finder.sleep(SYNC_EVERY);
            if !stop && self.finder.lag() > 0 {
                stop = self.finder.gather(GATHER);
            }
            if self.finder.take_damage() {
                return Err(Error::Index(IndexError::Damaged(index::Damage::MetByLookUp)));
            }
            loop {
                let (batches, entries) = self.finder.oldest();
                if batches == 0 {
                    break;
                }
                let known = index.indexed_size();
                let fresh: Vec<IndexedEntry> =
                    entries.into_iter().filter(|entry| entry.index >= known).collect();
                self.space.pay();
                index.append(known, &fresh)?;
                self.space.owe(index.unwritten_bytes());
                self.finder.release(batches);
                self.metrics.set_indexed(index.indexed_size());
            }
            if stop || synced.elapsed() >= SYNC_EVERY {
                self.space.pay();
                index.sync()?;
                self.space.owe(index.unwritten_bytes());
                synced = Instant::now();
            }
            if stop {
                return Ok(());
            }
        }
    }

    /// Feeds from the stored entries until the index has all that were stored when it looked.
    fn catch_up(&self, index: &dyn Index) -> Result<(), Error> {
        let size = self.objects.size();
        if index.indexed_size() < size.get() {
            self.finder.catching_up();
            let behind = size.get() - index.indexed_size();
            tracing::info!(behind, "the index is catching up with the log");
        }
        feed(index, &*self.objects, size, |indexed| self.metrics.set_indexed(indexed))
    }

    fn recreate_if_damaged(&self, error: &Error) {
        if let Error::Index(error) = error
            && error.remedy() == Remedy::Rebuild
            && let Err(error) = index::delete(&self.options.directory)
        {
            tracing::error!(%error, "a damaged index could not be deleted");
        }
    }
}

/// Feeds the entries of `objects` below `size` that `index` lacks, and tells of the progress.
pub(crate) fn feed(
    index: &dyn Index,
    objects: &dyn Objects,
    size: TreeSize,
    mut progress: impl FnMut(u64),
) -> Result<(), Error> {
    if index.indexed_size() > size.get() {
        // Fed from a log that is not there any more, such as one restored from an old backup.
        return Err(Error::Index(IndexError::Damaged(index::Damage::AheadOfLog)));
    }
    while index.indexed_size() < size.get() {
        let first = index.indexed_size();
        let end = size.get().min(first + CATCH_UP_BATCH);
        index.append(first, &read_entries(objects, first, end)?)?;
        progress(index.indexed_size());
    }
    Ok(())
}

/// The entries `first..end` as the index wants them.
pub(crate) fn read_entries(
    objects: &dyn Objects,
    first: u64,
    end: u64,
) -> Result<Vec<IndexedEntry>, Error> {
    let mut entries = Vec::new();
    let mut next = first;
    while next < end {
        let bundle_end = end.min((next / 256 + 1) * 256);
        let count = u16::try_from(bundle_end - next).map_err(|_| StorageError::OutOfRange)?;
        let bundle = objects.read_entries(next, count)?;
        for bytes in entries_of(&bundle) {
            let bytes = bytes.map_err(|_| damaged_entry(next))?;
            let entry = LogEntry::from_leaf(bytes)
                .map_err(|source| Error::Statement { index: next, source })?;
            entries.push(IndexedEntry::new(next, &entry));
            next += 1;
        }
        if next != bundle_end {
            return Err(damaged_entry(next).into());
        }
    }
    Ok(entries)
}

/// Compares some entries of an index that was there before with the log.
fn verify_samples(index: &dyn Index, objects: &dyn Objects) -> Result<(), Error> {
    let known = index.indexed_size().min(objects.size().get());
    for sample in 0..SAMPLES.min(known) {
        // Spread over the log; the newest ones always among them, since a crash hits those.
        let position = known - 1 - sample * known / SAMPLES.min(known);
        for entry in read_entries(objects, position, position + 1)? {
            if !index.missing(&entry)?.is_empty() {
                return Err(Error::Index(IndexError::Damaged(index::Damage::DiffersFromLog)));
            }
        }
    }
    Ok(())
}

fn damaged_entry(index: u64) -> StorageError {
    let file = format!("log/entries of index {index}");
    StorageError::Corrupt { file, offset: 0, defect: Defect::BadOffset }
}
