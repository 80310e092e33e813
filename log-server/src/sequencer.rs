//! The one thread that owns the tree: it gives entries their indexes, commits them and publishes.
//!
//! The order is the promise. A batch and the checkpoint that covers it become durable as one journal
//! record, and only then does anything of it leave the process. What could fail for want of space is
//! reserved before; what fails after is fatal, because the state on disk is then unknown and only recovery
//! may decide it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::{Checkpoint, Origin};
use anchorlog_proto::merkle::{Extension, Frontier, TreeSize};
use anchorlog_proto::statement::LogEntry;
use anchorlog_proto::tile;
use tokio::sync::watch;

use crate::error::Error;
use crate::filter::LeafFilter;
use crate::finder::{FindError, Finder};
use crate::frozen::Frozen;
use crate::index::IndexedEntry;
use crate::leaf_map::LeafMap;
use crate::log_keys::LogKeys;
use crate::metrics::Metrics;
use crate::pool::{Place, Pool, Submission, SubmitError};
use crate::snapshot::Snapshot;
use crate::standing::Standing;
use crate::storage::space::SpaceGuard;
use crate::storage::{Batch, BatchRecord, Journal, Objects};

/// Committed entries that may wait for the index, which are held in memory meanwhile: some 80 MiB of them.
pub(crate) const MAX_INDEX_LAG: usize = 1 << 18;

/// Everything the sequencing thread works with.
pub(crate) struct Sequencer {
    pub(crate) origin: Origin,
    pub(crate) keys: LogKeys,
    /// Where the log is ended.
    pub(crate) directory: PathBuf,
    pub(crate) standing: watch::Sender<Standing>,
    pub(crate) pool: Arc<Pool>,
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) objects: Arc<dyn Objects>,
    pub(crate) finder: Arc<Finder>,
    pub(crate) filter: LeafFilter,
    pub(crate) published: Arc<watch::Sender<Arc<Snapshot>>>,
    pub(crate) metrics: Metrics,
    pub(crate) space: Option<SpaceGuard>,
}

impl Sequencer {
    /// Commits batch after batch until the pool is closed and empty, or something fatal happens.
    pub(crate) fn run(mut self) -> Result<(), Error> {
        while let Some(submissions) = self.pool.take() {
            self.metrics.set_queue_depth(count(self.pool.depth()));
            self.commit(submissions)?;
        }
        let ending = self.pool.closed() == Some(SubmitError::Frozen);
        if ending && *self.standing.borrow() == Standing::Open {
            self.freeze()?;
        }
        Ok(())
    }

    /// Ends the log with what it has: everything that was promised is committed, and nothing more comes.
    fn freeze(&self) -> Result<(), Error> {
        let last = Arc::clone(&self.published.borrow());
        let signed = self.keys.sign(last.checkpoint().checkpoint())?;
        let frozen = Frozen::new(&self.keys, signed.clone());
        // From here on it has ended, whatever happens to this process.
        frozen.write(&self.directory)?;
        self.published.send_replace(Arc::new(Snapshot::new(signed, last.edge().clone())));
        self.standing.send_replace(Standing::Frozen);
        tracing::info!(size = last.size().get(), "the log is frozen");
        Ok(())
    }

    /// Commits what is new among `submissions` and answers them all.
    fn commit(&mut self, submissions: Vec<Submission>) -> Result<(), Error> {
        let before = Arc::clone(&self.published.borrow());
        let mut plan = Plan::new(before.size());
        let mut planned = Vec::with_capacity(submissions.len());
        for submission in submissions {
            match plan.place(&submission, &self.filter, &self.finder) {
                Ok(places) => planned.push((submission, places)),
                Err(error) => submission.refuse(error),
            }
        }
        if plan.new.is_empty() {
            answer(planned, &before, None);
            return Ok(());
        }
        let extension = Extension::new(before.edge().clone(), plan.leaf_hashes());
        let Ok(extension) = extension.map(Arc::new) else {
            refuse(planned, &before, SubmitError::LogFull);
            return Ok(());
        };
        if self.finder.lag() + plan.new.len() > MAX_INDEX_LAG {
            refuse(planned, &before, SubmitError::Overloaded);
            return Ok(());
        }
        if self.space.as_ref().is_some_and(|space| space.is_low(self.finder.lag())) {
            refuse(planned, &before, SubmitError::DiskFull);
            return Ok(());
        }
        let committed = self.make_durable(&before, &plan, &extension);
        match committed {
            Ok(snapshot) => {
                self.filter.extend(plan.leaf_hashes());
                let indexed = plan.new.into_iter().map(|(_, entry)| entry).collect();
                self.finder.hold(Arc::new(indexed), || {
                    self.published.send_replace(Arc::clone(&snapshot));
                });
                self.metrics.set_checkpoint(snapshot.size().get(), snapshot.published());
                answer(planned, &snapshot, Some(&extension));
                Ok(())
            }
            Err(error) => {
                self.metrics.batch_failed();
                if error.is_out_of_space() {
                    refuse(planned, &before, SubmitError::DiskFull);
                    return Ok(());
                }
                for (submission, _) in planned {
                    submission.refuse(SubmitError::Failed);
                }
                Err(error)
            }
        }
    }

    /// Steps 2 to 5 of an entry's life: sign, record, store. What this returns may leave the process.
    fn make_durable(
        &self,
        before: &Snapshot,
        plan: &Plan,
        extension: &Extension,
    ) -> Result<Arc<Snapshot>, Error> {
        let checkpoint =
            Checkpoint::new(self.origin.clone(), extension.size(), extension.after().root());
        let signed = self.keys.sign(&checkpoint)?;
        let snapshot = Arc::new(Snapshot::new(signed, extension.after().clone()));
        let entries = count(plan.new.len());
        self.objects.reserve(entries, count(plan.bundle.len()))?;
        let started = Instant::now();
        self.journal.append(&BatchRecord {
            first_index: before.size().get(),
            // The pool bounds a batch far below u32.
            count: u32::try_from(plan.new.len()).unwrap_or(u32::MAX),
            checkpoint: snapshot.note(),
            entries: &plan.bundle,
        })?;
        self.metrics.batch_committed(entries, started.elapsed());
        // The batch is promised now. Space for it is reserved, so a failure here is never a full disk.
        self.objects
            .append(&Batch { entries: &plan.bundle, extension })
            .map_err(|error| Error::AfterCommit { source: error })?;
        Ok(snapshot)
    }
}

/// The batch in the making.
struct Plan {
    next: u64,
    /// Entries that the log does not have, in the order of their indexes.
    new: Vec<(Digest, IndexedEntry)>,
    by_leaf: LeafMap<u64>,
    /// The new entries as they are stored.
    bundle: Vec<u8>,
}

impl Plan {
    fn new(size: TreeSize) -> Self {
        Self { next: size.get(), new: Vec::new(), by_leaf: LeafMap::default(), bundle: Vec::new() }
    }

    /// Gives every entry of a submission its index. When one can't be placed, none is.
    fn place(
        &mut self,
        submission: &Submission,
        filter: &LeafFilter,
        finder: &Finder,
    ) -> Result<Vec<Place>, SubmitError> {
        let (next, new, bundle) = (self.next, self.new.len(), self.bundle.len());
        self.bundle.reserve(submission.bytes());
        self.new.reserve(submission.entries.len());
        self.by_leaf.reserve(submission.entries.len());
        // All at once, while nothing else waits: the filter is larger than what the processor keeps at hand.
        let entries = &submission.entries;
        let known: Vec<bool> =
            entries.iter().map(|entry| filter.may_have(&entry.leaf_hash())).collect();
        let place = |(entry, known)| self.place_entry(entry, known, finder);
        let places: Result<Vec<Place>, SubmitError> =
            entries.iter().zip(known).map(place).collect();
        if places.is_err() {
            for (leaf_hash, _) in self.new.drain(new..) {
                self.by_leaf.remove(&leaf_hash);
            }
            self.next = next;
            self.bundle.truncate(bundle);
        }
        places
    }

    fn place_entry(
        &mut self,
        entry: &LogEntry,
        may_be_known: bool,
        finder: &Finder,
    ) -> Result<Place, SubmitError> {
        let leaf_hash = entry.leaf_hash();
        if let Some(index) = self.by_leaf.get(&leaf_hash) {
            return Ok(Place { index: *index, leaf_hash, duplicate: true });
        }
        let found = if may_be_known {
            let statement = entry.statement();
            finder.find_leaf(statement.kind, &statement.digest, &leaf_hash).map_err(not_ready)?
        } else {
            None
        };
        if let Some(index) = found {
            return Ok(Place { index, leaf_hash, duplicate: true });
        }
        // Receipts and look-ups of what is new need the index too.
        finder.check_feeding().map_err(not_ready)?;
        let index = self.next;
        // Entries are bounded far below what a bundle can hold.
        tile::push_entry(&mut self.bundle, entry.leaf_bytes()).map_err(|_| SubmitError::LogFull)?;
        self.by_leaf.insert(leaf_hash, index);
        self.new.push((leaf_hash, IndexedEntry::new(index, entry)));
        self.next = index.checked_add(1).ok_or(SubmitError::LogFull)?;
        Ok(Place { index, leaf_hash, duplicate: false })
    }

    fn leaf_hashes(&self) -> impl Iterator<Item = Digest> + '_ {
        self.new.iter().map(|(leaf_hash, _)| *leaf_hash)
    }
}

/// Answers submissions whose places are all in `snapshot`.
fn answer(
    planned: Vec<(Submission, Vec<Place>)>,
    snapshot: &Arc<Snapshot>,
    extension: Option<&Arc<Extension>>,
) {
    for (submission, places) in planned {
        submission.committed(Arc::clone(snapshot), extension.cloned(), places);
    }
}

/// Refuses the submissions that brought anything new; the others have their places already.
fn refuse(planned: Vec<(Submission, Vec<Place>)>, snapshot: &Arc<Snapshot>, reason: SubmitError) {
    let known = |places: &[Place]| {
        places.iter().all(|place| place.duplicate && place.index < snapshot.size().get())
    };
    let (known, new): (Vec<_>, Vec<_>) = planned.into_iter().partition(|(_, places)| known(places));
    answer(known, snapshot, None);
    for (submission, _) in new {
        submission.refuse(reason);
    }
}

/// Signs the checkpoint of the empty log and makes it durable: the first record of a new journal.
pub(crate) fn found_log(
    origin: &Origin,
    keys: &LogKeys,
    journal: &dyn Journal,
) -> Result<Snapshot, Error> {
    let edge = Frontier::new();
    let checkpoint = Checkpoint::new(origin.clone(), edge.size(), edge.root());
    let snapshot = Snapshot::new(keys.sign(&checkpoint)?, edge);
    journal.append(&BatchRecord {
        first_index: 0,
        count: 0,
        checkpoint: snapshot.note(),
        entries: &[],
    })?;
    Ok(snapshot)
}

fn not_ready(error: FindError) -> SubmitError {
    if error.is_out_of_space() {
        return SubmitError::DiskFull;
    }
    if let FindError::Index(error) = error {
        tracing::error!(%error, "the index failed a look-up");
    }
    SubmitError::IndexNotReady
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
