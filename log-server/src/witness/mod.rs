//! This program as a witness for other logs (c2sp.org/tlog-witness).
//!
//! What it is: for each log of its configuration it keeps one checkpoint, the newest it has cosigned, and
//! cosigns another one only when that is shown to extend it. What it promises is one thing: no two of its
//! cosignatures for a log are inconsistent, whatever is asked for, in whatever order, and whenever the
//! process is killed. What it is not: it reads no log, keeps no entries and judges none (a monitor does), and
//! it knows no other witness.
//!
//! The way of a request: [`http`] reads it, `anchorlog-proto` parses it and decides ([`decide`]), `times`
//! gives the second that is stated, `store` makes the result durable, and only then anybody hears of it.
//! Requests for one log come one after another from the decision to the answer; logs don't wait for each
//! other.
//!
//! | in the directory | what it is |
//! |---|---|
//! | `logs/<hex SHA-256 of the origin>/checkpoint` | the newest cosigned checkpoint, as it is served |
//! | `origins/<hex>` | that this log has been cosigned at all; holds its origin |
//! | `halted/<hex>` | the proof that this witness has lost state, see [`Refusal::Halted`] |
//! | `key.pem` | the private key, unless configured otherwise |
//! | `LOCK` | held by the one process that uses the directory |
//!
//! One file per log, replaced in one step, and no journal: there is nothing to replay after a crash, a log's
//! state is found by its name, and the file is what the witness serves anyway. It carries the witness' own
//! cosignature, by which a damaged, exchanged or foreign file is known when it is read. (The directory is
//! not for another server to serve: a file is there an instant before it is durable.)

mod cosigner;
mod error;
pub mod http;
mod known;
mod metrics;
mod refusal;
mod store;
#[cfg(test)]
mod tests;
mod times;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use anchorlog_client::durable::{DirectoryLock, DurableError};
use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::Origin;
use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::note::NoteSignature;
use anchorlog_proto::tlog_witness::{
    Accepted, AddCheckpoint, Refused, TlogWitnessError, decide, refuse_empty_tree_root,
};
use tokio::sync::{OwnedMutexGuard, watch};
use tracing::{error, info};

pub use self::cosigner::Cosigner;
pub use self::error::WitnessError;
use self::known::Writer;
pub use self::known::{KnownLog, LogSpec, MAX_KEYS, MAX_LOGS, merge};
pub use self::metrics::WitnessMetrics;
pub use self::refusal::Refusal;
use self::store::{Disk, Kept, Store};
use self::times::Times;
pub use crate::clock::Clock;

/// A witness at work. One directory has one of them; a lock sees to that.
pub struct Witness {
    cosigner: Cosigner,
    /// By the SHA-256 of the origin.
    logs: HashMap<Digest, Arc<KnownLog>>,
    store: Box<dyn Store>,
    times: Times,
    metrics: WitnessMetrics,
    /// Why it can't go on, once it can't.
    failure: watch::Sender<bool>,
    /// What the files of logs say that are not configured (any more): served, and never changed.
    retired: HashMap<Digest, Arc<[u8]>>,
    _lock: DirectoryLock,
}

impl Witness {
    /// Opens the witness in `directory`, or makes it, directory and all.
    ///
    /// Every file is read and its own cosignature verified before anything is signed. A log that was
    /// cosigned and whose file is gone keeps the witness from starting: with the file it would have
    /// forgotten what it has said.
    pub fn open(
        directory: &Path,
        cosigner: Cosigner,
        logs: Vec<LogSpec>,
        clock: Clock,
        metrics: WitnessMetrics,
    ) -> Result<Self, WitnessError> {
        known::check(&logs, &cosigner)?;
        let (disk, lock) = Disk::open(directory)?;
        let mut kept = disk.read_all(cosigner.key())?;
        let halted = disk.halted()?;
        let last = kept.values().map(|kept| kept.unix_seconds).max().unwrap_or_default();
        let mut known = HashMap::new();
        for spec in logs {
            let id = Digest::of(spec.origin.as_str().as_bytes());
            let log = KnownLog::new(spec, kept.remove(&id), halted.contains(&id));
            if log.is_halted() {
                error!(origin = log.origin().as_str(), "not cosigned: see the directory `halted`");
            }
            metrics.begin(log.origin(), log.latest().as_deref());
            known.insert(id, Arc::new(log));
        }
        let retired = kept.into_iter().map(|(id, kept)| (id, kept.note)).collect();
        Ok(Self {
            cosigner,
            logs: known,
            store: Box::new(disk),
            times: Times::new(clock, last),
            metrics,
            failure: watch::Sender::new(false),
            retired,
            _lock: lock,
        })
    }

    /// Answers the body of an `add-checkpoint` request.
    ///
    /// What is answered with cosignatures is durable. A caller that goes away in the meantime changes
    /// nothing about that: the work is finished without it.
    pub async fn add_checkpoint(self: &Arc<Self>, body: Vec<u8>) -> Result<Cosigned, Refusal> {
        let witness = Arc::clone(self);
        let (request, log) = off_thread(move || witness.look(&body)).await?;
        let place = log.place().ok_or(Refusal::Busy)?;
        let turn = log.turn().await;
        let witness = Arc::clone(self);
        off_thread(move || {
            let cosigned = witness.take(&log, turn, &request);
            drop(place);
            cosigned
        })
        .await
    }

    /// The newest cosigned checkpoint of the log with this SHA-256 of its origin: with the log's signature
    /// and the cosignatures, as the bytes of a note. None if it was never cosigned.
    #[must_use]
    pub fn checkpoint(&self, id: &Digest) -> Option<Arc<[u8]>> {
        let known = self.logs.get(id).and_then(|log| log.latest());
        known.map(|kept| Arc::clone(&kept.note)).or_else(|| self.retired.get(id).cloned())
    }

    /// The logs it knows, by their origins.
    #[must_use]
    pub fn logs(&self) -> Vec<Arc<KnownLog>> {
        let mut logs: Vec<_> = self.logs.values().cloned().collect();
        logs.sort_by(|a, b| a.origin().cmp(b.origin()));
        logs
    }

    /// Its own keys.
    #[must_use]
    pub fn cosigner(&self) -> &Cosigner {
        &self.cosigner
    }

    /// What it measures.
    #[must_use]
    pub fn metrics(&self) -> &WitnessMetrics {
        &self.metrics
    }

    /// Whether it can't go on: a sync failed, and only a restart can tell what is on the disk.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        *self.failure.borrow()
    }

    /// Resolves once it can't go on.
    pub async fn failed(&self) {
        // The sender is ours and lives as long as we do.
        let _ = self.failure.subscribe().wait_for(|failed| *failed).await;
    }

    /// Why it would not cosign now even what is right, if that is so.
    #[must_use]
    pub fn impediment(&self) -> Option<Refusal> {
        if self.has_failed() {
            return Some(Refusal::Failed);
        }
        if let Err(refusal) = self.times.look() {
            return Some(refusal);
        }
        let halted = self.logs.values().find(|log| log.is_halted())?;
        Some(Refusal::Halted { origin: halted.origin().clone() })
    }

    /// Everything that can be said about a request without waiting for its log's turn. A refusal is true of
    /// the state at some moment of the request, which is all that any refusal can be.
    fn look(&self, body: &[u8]) -> Result<(AddCheckpoint, Arc<KnownLog>), Refusal> {
        if self.has_failed() {
            return Err(Refusal::Failed);
        }
        let request = match AddCheckpoint::parse(body) {
            Ok(request) => request,
            Err(TlogWitnessError::EmptyTreeRoot(request)) => {
                let known = self.known(&request.origin);
                let keys = known.map_or(&[][..], |log| log.keys());
                return Err(refuse_empty_tree_root(&request, keys).into());
            }
            Err(error) => return Err(Refusal::Malformed(error)),
        };
        let log = self.known(&request.checkpoint.checkpoint().origin);
        let log = log.ok_or(Refused::UnknownOrigin)?;
        let latest = log.latest();
        let decided = decide(latest.as_ref().map(|kept| &kept.checkpoint), &request, log.keys());
        self.look_for_ourselves(log, latest.as_deref(), &request)?;
        match decided {
            Ok(_) if log.is_halted() => Err(Refusal::Halted { origin: log.origin().clone() }),
            Ok(_) => Ok((request, Arc::clone(log))),
            Err(refused) => {
                log.report(latest.as_deref(), &request, refused, &self.metrics);
                Err(refused.into())
            }
        }
    }

    /// Decides for good, keeps the result and cosigns. `turn` is what makes one log's requests come one
    /// after another.
    fn take(
        &self,
        log: &KnownLog,
        mut turn: OwnedMutexGuard<Writer>,
        request: &AddCheckpoint,
    ) -> Result<Cosigned, Refusal> {
        if self.has_failed() {
            return Err(Refusal::Failed);
        }
        // It may have been halted while this request waited for its turn.
        if log.is_halted() {
            return Err(Refusal::Halted { origin: log.origin().clone() });
        }
        let latest = turn.latest.clone();
        let checkpoint = latest.as_ref().map(|kept| &kept.checkpoint);
        let accepted = decide(checkpoint, request, log.keys())?;
        let unix_seconds = self.times.next()?;
        let (kept, lines) = self.cosign(&accepted, unix_seconds)?;
        let started = std::time::Instant::now();
        if let Err(error) = self.store.keep(&kept, latest.is_none()) {
            return Err(self.not_kept(log, &error));
        }
        self.metrics.kept(log.origin(), &kept, started.elapsed());
        let kept = Arc::new(kept);
        turn.latest = Some(Arc::clone(&kept));
        // Before anybody can have the answer: who has it and asks again is never told an older state.
        log.publish(kept);
        let (origin, size) = (log.origin().as_str(), accepted.checkpoint().size.get());
        info!(origin, size, unix_seconds, refresh = accepted.is_refresh(), "cosigned");
        Ok(Cosigned { size: accepted.checkpoint().size, lines })
    }

    fn cosign(
        &self,
        accepted: &Accepted,
        unix_seconds: u64,
    ) -> Result<(Kept, Vec<NoteSignature>), Refusal> {
        let text = accepted.signed().note().text();
        let failed = |error: &dyn std::fmt::Display| {
            error!(%error, "a checkpoint can't be cosigned");
            Refusal::Failed
        };
        let lines = self.cosigner.cosign(text, unix_seconds).map_err(|error| failed(&error))?;
        let mut signed = accepted.signed().clone();
        for line in &lines {
            signed = signed.with_signature(line.clone()).map_err(|error| failed(&error))?;
        }
        Ok((Kept::new(&signed, unix_seconds), lines))
    }

    /// What a failed write is: nothing was said to anybody, so nothing has happened. A failed sync is more:
    /// what is on the disk is not known any more.
    fn not_kept(&self, log: &KnownLog, error: &DurableError) -> Refusal {
        let origin = log.origin().as_str();
        self.metrics.not_kept();
        if error.is_sync_failure() {
            error!(%error, origin, "stopping: it is not known what is on the disk");
            self.failure.send_replace(true);
            return Refusal::Failed;
        }
        error!(%error, origin, "the checkpoint could not be kept, so it is not cosigned");
        if error.is_out_of_space() { Refusal::OutOfSpace } else { Refusal::NotKept }
    }

    /// Looks for our own cosignature in a request. One that says more than we know was made by us in a past
    /// that this directory has lost: a backup was restored, a disk went back.
    fn look_for_ourselves(
        &self,
        log: &KnownLog,
        latest: Option<&Kept>,
        request: &AddCheckpoint,
    ) -> Result<(), Refusal> {
        let Some(unix_seconds) = self.cosigner.time_of_own(request.checkpoint.note()) else {
            return Ok(());
        };
        let theirs = request.checkpoint.checkpoint();
        let knows_it = latest.is_some_and(|kept| {
            let ours = &kept.checkpoint;
            kept.unix_seconds >= unix_seconds
                && (ours.size > theirs.size
                    || (ours.size == theirs.size && ours.root == theirs.root))
        });
        if knows_it {
            return Ok(());
        }
        let (origin, size) = (log.origin(), theirs.size.get());
        error!(
            origin = origin.as_str(),
            size,
            unix_seconds,
            "STATE LOST: a checkpoint carries a cosignature of this witness that it does not know of"
        );
        if log.halt() {
            match self.store.keep_halt(origin, &request.checkpoint.to_bytes()) {
                Ok(()) => log.set_proven(),
                // Whoever shows it again gives us another try.
                Err(error) => {
                    error!(%error, origin = origin.as_str(), "the proof of it could not be kept");
                }
            }
        }
        Err(Refusal::Halted { origin: origin.clone() })
    }

    fn known(&self, origin: &Origin) -> Option<&Arc<KnownLog>> {
        self.logs.get(&Digest::of(origin.as_str().as_bytes()))
    }
}

impl std::fmt::Debug for Witness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Witness").field("cosigner", &self.cosigner).finish_non_exhaustive()
    }
}

/// A checkpoint that was cosigned, durably.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Cosigned {
    /// The size of its tree.
    pub size: TreeSize,
    /// The signature lines, one for each of the witness' keys.
    pub lines: Vec<NoteSignature>,
}

/// Runs what computes or touches the disk where it doesn't hold up other requests.
async fn off_thread<T, F>(work: F) -> Result<T, Refusal>
where
    T: Send + 'static,
    F: FnOnce() -> Result<T, Refusal> + Send + 'static,
{
    // A join error means that the work panicked; the panic hook has reported where.
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(Refusal::Failed))
}
