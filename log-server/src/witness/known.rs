//! The logs that a witness knows, and what it has of each.

use std::collections::{HashMap, HashSet};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use anchorlog_proto::checkpoint::Origin;
use anchorlog_proto::note::{SignatureAlgorithm, VerifierKey};
use anchorlog_proto::tlog_witness::{AddCheckpoint, Refused};
use tokio::sync::{Mutex, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};
use tracing::{debug, error};

use super::store::Kept;
use super::{Cosigner, WitnessError, WitnessMetrics};

/// The largest number of logs a witness can know.
pub const MAX_LOGS: usize = 65_536;

/// The largest number of keys of one log.
pub const MAX_KEYS: usize = 16;

/// A log as the configuration names it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LogSpec {
    /// The first line of its checkpoints.
    pub origin: Origin,
    /// Its keys, of type 0x01; a checkpoint is signed by one of them at least.
    pub keys: Vec<VerifierKey>,
}

impl FromStr for LogSpec {
    type Err = WitnessError;

    /// Reads `VKEY` or `VKEY=ORIGIN`: without an origin, the key's name is the log's.
    ///
    /// Names may hold a `=` and the base64 of a key may end in some, so the first `=` behind which there is
    /// a key in front is the one that is meant.
    fn from_str(text: &str) -> Result<Self, WitnessError> {
        let whole = match text.parse::<VerifierKey>() {
            Ok(key) => return Ok(Self { origin: Origin::from(key.name()), keys: vec![key] }),
            Err(error) => error,
        };
        let named = text.match_indices('=').find_map(|(at, _)| {
            let (key, origin) = text.split_at_checked(at)?;
            Some((key.parse::<VerifierKey>().ok()?, origin.strip_prefix('=')?))
        });
        let refused = |source| WitnessError::LogKey { text: text.to_owned(), source };
        let (key, origin) = named.ok_or_else(|| refused(whole))?;
        let origin =
            Origin::new(origin).map_err(|_| WitnessError::Origin { origin: origin.to_owned() })?;
        Ok(Self { origin, keys: vec![key] })
    }
}

/// Puts together what is said about one log in several places, and keeps the order.
#[must_use]
pub fn merge(specs: Vec<LogSpec>) -> Vec<LogSpec> {
    let mut merged: Vec<LogSpec> = Vec::new();
    let mut places = HashMap::new();
    for spec in specs {
        let place = *places.entry(spec.origin.clone()).or_insert(merged.len());
        match merged.get_mut(place) {
            None => merged.push(spec),
            Some(known) => {
                for key in spec.keys {
                    if !known.keys.contains(&key) {
                        known.keys.push(key);
                    }
                }
            }
        }
    }
    merged
}

/// Checks that a witness can be one for these logs.
pub(super) fn check(logs: &[LogSpec], cosigner: &Cosigner) -> Result<(), WitnessError> {
    if logs.len() > MAX_LOGS {
        return Err(WitnessError::TooManyLogs { logs: logs.len() });
    }
    let mut origins = HashSet::new();
    for log in logs {
        let origin = || log.origin.clone();
        if !origins.insert(&log.origin) {
            return Err(WitnessError::Twice { origin: origin() });
        }
        if log.keys.is_empty() || log.keys.len() > MAX_KEYS {
            return Err(WitnessError::Keys { origin: origin(), keys: log.keys.len() });
        }
        for key in &log.keys {
            if key.algorithm() != SignatureAlgorithm::Ed25519 {
                return Err(WitnessError::KeyType { origin: origin(), key: key.to_string() });
            }
            if key.public_key() == cosigner.key().public_key() {
                return Err(WitnessError::OwnKey { origin: origin() });
            }
        }
        let ids: HashSet<_> = log.keys.iter().map(|key| (key.name(), key.key_id())).collect();
        if ids.len() != log.keys.len() {
            return Err(WitnessError::Ambiguous { origin: origin() });
        }
    }
    Ok(())
}

/// A log that a witness knows.
#[derive(Debug)]
pub struct KnownLog {
    spec: LogSpec,
    /// The newest checkpoint that was cosigned, for readers.
    latest: RwLock<Option<Arc<Kept>>>,
    /// The same, for the one request whose turn it is.
    writer: Arc<Mutex<Writer>>,
    /// Places for requests that wait for their turn.
    places: Arc<Semaphore>,
    halted: AtomicBool,
    /// Whether the proof for that is on the disk, so that a restart doesn't forget it.
    proven: AtomicBool,
}

/// What the request whose turn it is may change.
#[derive(Debug)]
pub(super) struct Writer {
    /// The newest checkpoint that was cosigned.
    pub(super) latest: Option<Arc<Kept>>,
}

impl KnownLog {
    pub(super) fn new(spec: LogSpec, kept: Option<Kept>, halted: bool) -> Self {
        let latest = kept.map(Arc::new);
        Self {
            spec,
            writer: Arc::new(Mutex::new(Writer { latest: latest.clone() })),
            latest: RwLock::new(latest),
            places: Arc::new(Semaphore::new(PLACES)),
            halted: AtomicBool::new(halted),
            proven: AtomicBool::new(halted),
        }
    }

    /// The log's origin.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.spec.origin
    }

    /// The log's keys.
    #[must_use]
    pub fn keys(&self) -> &[VerifierKey] {
        &self.spec.keys
    }

    /// The size of the newest checkpoint that was cosigned.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        self.latest().map(|kept| kept.checkpoint.size.get())
    }

    /// Whether nothing of it is cosigned, because state of it was lost.
    #[must_use]
    pub fn is_halted(&self) -> bool {
        self.halted.load(Ordering::Acquire)
    }

    pub(super) fn latest(&self) -> Option<Arc<Kept>> {
        self.latest.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn publish(&self, kept: Arc<Kept>) {
        *self.latest.write().unwrap_or_else(PoisonError::into_inner) = Some(kept);
    }

    /// Marks it halted; true if the proof for that is still to be kept.
    pub(super) fn halt(&self) -> bool {
        self.halted.store(true, Ordering::Release);
        !self.proven.load(Ordering::Acquire)
    }

    /// The proof is kept.
    pub(super) fn set_proven(&self) {
        self.proven.store(true, Ordering::Release);
    }

    /// A place among those who wait, if there is one.
    pub(super) fn place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }

    /// The turn: held from the decision until its result is durable.
    pub(super) async fn turn(&self) -> OwnedMutexGuard<Writer> {
        Arc::clone(&self.writer).lock_owned().await
    }

    /// Tells the operator of a refusal. A signed tree that contradicts the one we have is what witnesses are
    /// there for.
    pub(super) fn report(
        &self,
        latest: Option<&Kept>,
        request: &AddCheckpoint,
        refused: Refused,
        metrics: &WitnessMetrics,
    ) {
        let origin = self.origin().as_str();
        let theirs = request.checkpoint.checkpoint();
        let contradiction =
            latest.filter(|kept| refused == Refused::Inconsistent && kept.contradicts(theirs));
        if let Some(kept) = contradiction {
            metrics.split_view(self.origin());
            let ours = String::from_utf8_lossy(&kept.note).into_owned();
            let theirs = request.checkpoint.note().to_text();
            error!(
                origin,
                ours,
                theirs,
                "SPLIT VIEW: the log has signed two trees of one size with different roots"
            );
        } else {
            debug!(origin, code = refused.code(), size = theirs.size.get(), "not cosigned");
        }
    }
}

/// Requests of one log that may wait for their turn, the one at work included.
const PLACES: usize = 8;
