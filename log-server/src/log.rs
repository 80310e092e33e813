//! The log: one handle for everybody who submits to it or reads from it.
//!
//! Opening one takes the lock of its directory, recovers, and starts three threads: the sequencer, which
//! commits; the keeper, which makes stored entries durable and lets go of the journal; and the feeder,
//! which feeds the index. A fourth reads the stored hashes for the sequencer's filter, and ends. The handle is cheap to clone; [`Running`] is the one who can stop it all.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use anchorlog_client::durable::{self, DirectoryLock};
use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::{Origin, SignedCheckpoint};
use anchorlog_proto::merkle::{self, TreeSize, consistency};
use anchorlog_proto::note::VerifierKey;
use anchorlog_proto::signed_object::SignerId;
use anchorlog_proto::statement::{LogEntry, StatementKind, Trail};
use anchorlog_proto::tile::{EntriesId, LevelShape, TileId, Width, hashes_in_level};
use tokio::sync::watch;

use self::opening::Opened;
pub use self::options::LogOptions;
use crate::checkpoints::{CheckpointStore, CosignatureStore};
use crate::error::Error;
use crate::feeder::Feeder;
use crate::filter::LeafFilter;
use crate::finder::Finder;
use crate::index::{self, Claim, DigestCursor, Page, Posting};
use crate::keeper::{Keeper, Stop};
use crate::log_keys::LogKeys;
use crate::metrics::Metrics;
use crate::pool::{Committed, Pool, SubmitError};
use crate::recovery::{INDEX, LOCK};
use crate::rollback::{GuardError, Known};
use crate::sequencer::Sequencer;
use crate::snapshot::Snapshot;
use crate::standing::Standing;
use crate::storage::record::entries_of;
use crate::storage::space::SpaceGuard;
use crate::storage::{Defect, Journal, Objects, StorageError};
use crate::tree::StoredTree;

/// A handle on a running log.
#[derive(Clone)]
pub struct Log(Arc<Shared>);

struct Shared {
    origin: Origin,
    key: VerifierKey,
    keys: LogKeys,
    standing: watch::Receiver<Standing>,
    pool: Arc<Pool>,
    tree: StoredTree,
    finder: Arc<Finder>,
    published: watch::Receiver<Arc<Snapshot>>,
    /// Whoever follows a log that has ended goes on to follow it.
    _publish: Arc<watch::Sender<Arc<Snapshot>>>,
    checkpoints: Arc<CheckpointStore>,
    cosignatures: Arc<CosignatureStore>,
    stamping: watch::Sender<Option<Arc<Snapshot>>>,
    fail: Arc<watch::Sender<bool>>,
}

/// The threads of a log, and its lock.
pub struct Running {
    pool: Arc<Pool>,
    finder: Arc<Finder>,
    stop: Arc<Stop>,
    reader: JoinHandle<()>,
    stop_reading: Arc<AtomicBool>,
    sequencer: JoinHandle<Result<(), Error>>,
    keeper: JoinHandle<Result<(), Error>>,
    feeder: JoinHandle<()>,
    _lock: DirectoryLock,
}

impl Log {
    /// Opens the log of `directory`, or founds it there, and starts it. Nobody else is asked what they know of
    /// it: [`open_guarded`](Self::open_guarded) does that.
    ///
    /// The origin is the name of the signer's key.
    pub fn open(
        directory: &Path,
        keys: impl Into<LogKeys>,
        options: &LogOptions,
        metrics: Metrics,
    ) -> Result<(Self, Running), Error> {
        Self::open_guarded(directory, keys.into(), options, metrics, |_, _| Ok(Vec::new()))
    }

    /// The same; but before anything is signed, `guard` is asked what others know of the log, and a log that
    /// has less or something else isn't opened. It is told the log's keys and its newest checkpoint. A log that signs nothing,
    /// because it is frozen or opened to be read, asks nobody.
    pub fn open_guarded(
        directory: &Path,
        keys: LogKeys,
        options: &LogOptions,
        metrics: Metrics,
        guard: impl FnOnce(&LogKeys, Option<&SignedCheckpoint>) -> Result<Vec<Known>, GuardError>,
    ) -> Result<(Self, Running), Error> {
        durable::create_dir_all(directory)?;
        let lock = DirectoryLock::acquire(&directory.join(LOCK))?;
        let Opened { keys, standing, journal, objects, snapshot } =
            opening::open(directory, keys, options, guard)?;
        let key = keys.primary().ok_or(Error::NoSigner)?.clone();
        let origin = Origin::from(key.name());
        let checkpoints = Arc::new(CheckpointStore::open(directory, options.anchor_quorum)?);
        let cosignatures = CosignatureStore::open(directory, options.witness_policy.clone())?;
        let cosignatures = Arc::new(cosignatures);
        metrics.set_checkpoint(snapshot.size().get(), snapshot.published());
        let journal: Arc<dyn Journal> = Arc::new(journal);
        let objects: Arc<dyn Objects> = objects;
        let (stands, standing) = watch::channel(standing);
        let (leaf_filter, stored_leaves) =
            LeafFilter::new(snapshot.size().get(), options.filter_memory)
                .map_err(|_| Error::Randomness)?;
        let (publish, published) = watch::channel(Arc::new(snapshot));
        let publish = Arc::new(publish);
        let pool = Arc::new(Pool::new(options.pool));
        match *standing.borrow() {
            Standing::Open => {}
            Standing::ReadOnly => pool.close(SubmitError::ReadOnly),
            Standing::Frozen => pool.close(SubmitError::Frozen),
        }
        let finder = Arc::new(Finder::new());
        let stop = Arc::new(Stop::default());
        let space = SpaceGuard::new(directory, options.min_free_bytes);

        let sequencer = Sequencer {
            origin: origin.clone(),
            keys: keys.clone(),
            directory: directory.to_path_buf(),
            standing: stands,
            pool: Arc::clone(&pool),
            journal: Arc::clone(&journal),
            objects: Arc::clone(&objects),
            finder: Arc::clone(&finder),
            filter: leaf_filter,
            published: Arc::clone(&publish),
            metrics: metrics.clone(),
            space: Some(space.clone()),
        };
        let keeper = Keeper {
            journal,
            objects: Arc::clone(&objects),
            metrics: metrics.clone(),
            stop: Arc::clone(&stop),
        };
        let feeder = Feeder {
            engine: options.engine,
            options: index::Options {
                directory: index_directory(directory),
                memory: options.index_memory,
            },
            objects: Arc::clone(&objects),
            finder: Arc::clone(&finder),
            metrics,
            space,
        };
        let fail = Arc::new(watch::Sender::new(false));
        let stop_reading = Arc::new(AtomicBool::new(false));
        let (leaves_of, told) = (Arc::clone(&objects), Arc::clone(&stop_reading));
        let newest = Arc::clone(&published.borrow());
        let running = Running {
            pool: Arc::clone(&pool),
            finder: Arc::clone(&finder),
            stop,
            reader: spawn("filter", move || stored_leaves.run(&*leaves_of, &newest, &told))?,
            stop_reading,
            sequencer: guarded("sequencer", &pool, &fail, move || sequencer.run())?,
            keeper: guarded("keeper", &pool, &fail, move || keeper.run())?,
            feeder: spawn("feeder", move || feeder.run())?,
            _lock: lock,
        };
        let tree = StoredTree::new(objects);
        let shared = Shared {
            origin,
            key,
            keys,
            standing,
            pool,
            tree,
            finder,
            published,
            _publish: publish,
            checkpoints,
            cosignatures,
            stamping: watch::Sender::new(None),
            fail,
        };
        let log = Self(Arc::new(shared));
        match log.check_countersigned() {
            Ok(()) => Ok((log, running)),
            Err(error) => {
                running.shut_down()?;
                Err(error)
            }
        }
    }

    /// The log's origin: the first line of its checkpoints.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.0.origin
    }

    /// The primary key that verifies its checkpoints.
    #[must_use]
    pub fn key(&self) -> &VerifierKey {
        &self.0.key
    }

    /// All its keys.
    #[must_use]
    pub fn keys(&self) -> &LogKeys {
        &self.0.keys
    }

    /// Whether it takes anything.
    #[must_use]
    pub fn standing(&self) -> Standing {
        *self.0.standing.borrow()
    }

    /// Ends the log: what waits is still committed, a last checkpoint is signed, and nothing is ever added
    /// again. Done already, it changes nothing. Returns when it is durable.
    pub async fn freeze(&self) -> Result<Arc<Snapshot>, SubmitError> {
        if self.standing() == Standing::ReadOnly {
            return Err(SubmitError::ReadOnly);
        }
        self.0.pool.close(SubmitError::Frozen);
        let mut standing = self.0.standing.clone();
        let ended = tokio::select! {
            // The sender goes with the sequencer, in whose hands it is.
            ended = standing.wait_for(|standing| *standing == Standing::Frozen) => ended.is_ok(),
            () = self.failed() => false,
        };
        if ended { Ok(self.snapshot()) } else { Err(SubmitError::Failed) }
    }

    /// What is published now.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.0.published.borrow())
    }

    /// Commits `entries`, all or none, and answers where they are once they are durable and published.
    /// Entries that the log has already keep their first place.
    pub async fn submit(&self, entries: Vec<LogEntry>) -> Result<Committed, SubmitError> {
        let answer = self.0.pool.submit(entries)?;
        // The sequencer drops an answer only by dying.
        answer.await.unwrap_or(Err(SubmitError::Failed))
    }

    /// The entry at `index`. None when the log is not that long.
    pub fn entry(&self, index: u64) -> Result<Option<LogEntry>, Error> {
        if index >= self.snapshot().size().get() {
            return Ok(None);
        }
        let bundle = self.0.tree.objects().read_entries(index, 1)?;
        let bytes = entries_of(&bundle).next().unwrap_or(Err(Defect::BadOffset));
        let bytes = bytes.map_err(|_| StorageError::OutOfRange)?;
        LogEntry::from_leaf(bytes).map(Some).map_err(|source| Error::Statement { index, source })
    }

    /// The inclusion proof of the entry at `index` in the tree of `size`, which must not be larger than
    /// what is published.
    pub fn inclusion_proof(&self, index: u64, size: TreeSize) -> Result<Vec<Digest>, Error> {
        let snapshot = self.snapshot();
        check_published(size, &snapshot)?;
        self.prove_inclusion(&snapshot, index, size)
    }

    /// The consistency proof between two sizes, neither larger than what is published.
    pub fn consistency_proof(&self, from: TreeSize, to: TreeSize) -> Result<Vec<Digest>, Error> {
        let snapshot = self.snapshot();
        check_published(to, &snapshot)?;
        let reader = self.0.tree.at(snapshot.edge());
        Ok(consistency::prove(&reader, from, to)??)
    }

    /// Root of the tree of `size`, which must not be larger than what is published.
    pub fn root(&self, size: TreeSize) -> Result<Digest, Error> {
        let snapshot = self.snapshot();
        check_published(size, &snapshot)?;
        Ok(merkle::root(&self.0.tree.at(snapshot.edge()), size)?)
    }

    /// The bytes of a tile, if the published tree has it.
    pub fn tile(&self, id: TileId) -> Result<Option<Vec<u8>>, Error> {
        let end = id.first_hash().saturating_add(u64::from(id.width.get()));
        if end > hashes_in_level(id.level, self.snapshot().size()) {
            return Ok(None);
        }
        let mut hashes = vec![Digest::from_bytes([0; 32]); usize::from(id.width.get())];
        self.0.tree.objects().read_hashes(id.level, id.first_hash(), &mut hashes)?;
        Ok(Some(hashes.iter().flat_map(|hash| *hash.as_bytes()).collect()))
    }

    /// The bytes of an entry bundle, if the published tree has it.
    pub fn entries(&self, id: EntriesId) -> Result<Option<Vec<u8>>, Error> {
        let end = id.first_entry().saturating_add(u64::from(id.width.get()));
        if end > self.snapshot().size().get() {
            return Ok(None);
        }
        Ok(Some(self.0.tree.objects().read_entries(id.first_entry(), id.width.get())?))
    }

    /// Entries that commit to `digest`.
    pub fn lookup(
        &self,
        digest: &Digest,
        kind: Option<StatementKind>,
        after: Option<&DigestCursor>,
        limit: usize,
    ) -> Result<Page<Posting, DigestCursor>, Error> {
        Ok(self.0.finder.by_digest(digest, kind, after, limit)?)
    }

    /// Entries of a trail from index `from` on.
    pub fn trail(
        &self,
        trail: &Trail,
        from: u64,
        limit: usize,
    ) -> Result<Page<Posting, u64>, Error> {
        Ok(self.0.finder.by_trail(trail, from, limit)?)
    }

    /// Entries that claim a place in a trail, from index `from` on: more than one digest among them is a conflict.
    pub fn claims(
        &self,
        trail: &Trail,
        sequence: u64,
        from: u64,
        limit: usize,
    ) -> Result<Page<Claim, u64>, Error> {
        Ok(self.0.finder.by_trail_sequence(trail, sequence, from, limit)?)
    }

    /// Entries signed by a submitter from index `from` on.
    pub fn submitter(
        &self,
        signer: &SignerId,
        from: u64,
        limit: usize,
    ) -> Result<Page<Posting, u64>, Error> {
        Ok(self.0.finder.by_submitter(signer, from, limit)?)
    }

    /// Whether look-ups and submissions can be answered now.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.0.finder.is_ready() && !self.has_failed()
    }

    /// Whether something fatal happened: only a restart helps.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        *self.0.fail.borrow()
    }

    /// Waits until something fatal happens.
    pub async fn failed(&self) {
        // The sender lives as long as this handle.
        let _ = self.0.fail.subscribe().wait_for(|failed| *failed).await;
    }

    /// Takes no more submissions; what waits is still committed and answered.
    pub fn close(&self) {
        self.0.pool.close(SubmitError::ShuttingDown);
    }
}

impl Running {
    /// Commits and answers what waits, makes everything durable, and ends all threads.
    pub fn shut_down(self) -> Result<(), Error> {
        self.pool.close(SubmitError::ShuttingDown);
        let sequenced = join(self.sequencer);
        self.stop.stop();
        let kept = join(self.keeper);
        self.stop_reading.store(true, Ordering::Relaxed);
        let _ = self.reader.join();
        self.finder.stop();
        let _ = self.feeder.join();
        sequenced.and(kept)
    }
}

/// Folder of the index of the log of `directory`.
#[must_use]
pub fn index_directory(directory: &Path) -> PathBuf {
    directory.join(INDEX)
}

/// The tiles of a tree of `size`, level by level, lowest first.
pub fn tiles(size: TreeSize) -> impl Iterator<Item = TileId> {
    (0..8_u8).flat_map(move |level| {
        let tiles = LevelShape::of(level, size).tiles();
        tiles.map(move |(index, width): (u64, Width)| TileId { level, index, width })
    })
}

/// Refuses a size that nobody has seen signed.
fn check_published(size: TreeSize, snapshot: &Snapshot) -> Result<(), Error> {
    if size > snapshot.size() {
        let (from, to) = (size.get(), snapshot.size().get());
        return Err(Error::Proof(merkle::ProofError::SizesReversed { from, to }));
    }
    Ok(())
}

/// Starts a thread whose failure stops the log.
fn guarded(
    name: &'static str,
    pool: &Arc<Pool>,
    fail: &Arc<watch::Sender<bool>>,
    run: impl FnOnce() -> Result<(), Error> + Send + 'static,
) -> Result<JoinHandle<Result<(), Error>>, Error> {
    let guard = FailureGuard { name, pool: Arc::clone(pool), fail: Arc::clone(fail), done: false };
    spawn(name, move || {
        let mut guard = guard;
        let result = run();
        if let Err(error) = &result {
            tracing::error!(%error, thread = name, "the log failed and takes nothing more");
        }
        guard.done = result.is_ok();
        result
    })
}

/// Closes the pool when its thread ends otherwise than in order, by a panic too: whoever waits is told.
struct FailureGuard {
    name: &'static str,
    pool: Arc<Pool>,
    fail: Arc<watch::Sender<bool>>,
    done: bool,
}

impl Drop for FailureGuard {
    fn drop(&mut self) {
        if !self.done {
            tracing::error!(thread = self.name, "a thread of the log ended");
            self.pool.close(SubmitError::Failed);
            self.fail.send_replace(true);
        }
    }
}

fn spawn<T: Send + 'static>(
    name: &'static str,
    run: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, Error> {
    thread::Builder::new().name(name.to_owned()).spawn(run).map_err(Error::Thread)
}

fn join(thread: JoinHandle<Result<(), Error>>) -> Result<(), Error> {
    // A panic was reported by its guard and by the panic hook.
    thread.join().unwrap_or(Err(Error::Panicked))
}

mod anchors;
#[cfg(test)]
mod index_tests;
#[cfg(test)]
mod keys_tests;
mod opening;
mod options;
mod receipts;
#[cfg(test)]
mod tests;
