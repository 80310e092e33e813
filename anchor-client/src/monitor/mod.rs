//! A monitor: somebody who reads a log whole, again and again, and tells when it is not what it promises.
//!
//! What it is: one log followed through its tiles ([`crate::follow`]); alarms with stable codes, each raised
//! once and cleared once; every entry of the trails, keys and digests that are watched, told in order to
//! every output until it takes it. Its state is one file, replaced before anything that depends on it, and
//! a small one that says how far each output is.
//!
//! What it is not: it decides nothing about trust: the policy says whose signatures and cosignatures count,
//! and `anchorlog-verifier` judges time stamps. It can't see what the log shows to others: for that, compare
//! checkpoints.
//!
//! | finding | alarm | over when |
//! |---|---|---|
//! | two roots for one size | `LOG.SPLIT_VIEW` | acknowledged |
//! | a tree that doesn't contain the older one | `LOG.CONSISTENCY` | acknowledged |
//! | an entry that isn't a statement | `LOG.MALFORMED` | acknowledged |
//! | a smaller tree than before | `LOG.ROLLBACK` | a checkpoint holds again |
//! | no valid signature of the log, or of a known witness | `LOG.SIG`, `LOG.COSIGNATURE` | the same |
//! | tiles or entries that aren't of the signed tree | `LOG.TILE`, `LOG.ENTRY`, `LOG.ENTRY_INDEX` | they are read rightly |
//! | files of the tree that aren't there | `LOG.MISSING` | the same |
//! | no answer, no growth and no newer time | `LOG.SILENT` | there is one |
//! | no quorum of witnesses for too long | `LOG.QUORUM` | there is one |
//! | times that can't be | `LOG.CLOCK` | they can |

mod alarm;
mod countersigned;
mod event;
mod health;
mod output;
mod round;
mod state;
mod watch;

use std::path::PathBuf;

use anchorlog_proto::Digest;
use anchorlog_proto::note::VerifierKey;
use anchorlog_proto::tlog_policy::TlogPolicy;
use anchorlog_verifier::timestamp::TrustEntry;

pub use alarm::{Alarm, Alarms};
pub use event::{Event, MAX_EVENT_BYTES, SCHEMA};
pub use health::Limits;
pub use output::{Hook, Lines, Output, OutputError, Webhook, WebhookUrl, WebhookUrlError};
pub use round::Round;
pub use state::StateError;
pub use watch::Watches;

use crate::durable::{self, DirectoryLock, DurableError, LockError};
use crate::follow::{FollowError, FollowOptions, Follower, TileLocation};
use crate::log_client::LogClient;
use crate::record::Clock;
use crate::state::StateDir;
use state::State;

/// What to watch, and how.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "the caller fills it in")]
pub struct MonitorOptions {
    /// The log.
    pub log: TileLocation,
    /// The keys of which one signs its checkpoints, all of one origin.
    pub keys: Vec<VerifierKey>,
    /// What is demanded of witnesses.
    pub policy: TlogPolicy,
    /// Authorities whose time stamps count, where the log gives any.
    pub authorities: Vec<TrustEntry>,
    /// What is looked for.
    pub watches: Watches,
    /// When silence, lag and disagreement are alarming.
    pub limits: Limits,
    /// How to read. `step` and `leaf_tiles` are the monitor's own.
    pub follow: FollowOptions,
    /// Begin at the end of the log as it is first seen, and believe what is before.
    pub from_now: bool,
}

/// A monitor with its state.
#[derive(Debug)]
pub struct Monitor<C> {
    options: MonitorOptions,
    origin: String,
    follower: Follower,
    /// For the receipts of logs that give any.
    client: Option<LogClient>,
    outputs: Vec<Output>,
    state: State,
    directory: PathBuf,
    clock: C,
    _lock: DirectoryLock,
}

impl<C: Clock> Monitor<C> {
    /// Opens the state of this log's monitor below `state`, or begins one. Nothing is asked of the log yet.
    pub fn open(
        options: MonitorOptions,
        state: &StateDir,
        outputs: Vec<Output>,
        clock: C,
    ) -> Result<Self, MonitorError> {
        let keys = options.keys.clone();
        let origin = keys.first().ok_or(FollowError::NoKeys)?.name().to_string();
        let directory = state.directory(directory_of(&options.log, &origin))?;
        let lock = DirectoryLock::acquire(&directory.join("LOCK"))?;
        durable::remove_stale_temporaries(&directory)?;
        let mut kept = State::load(&directory, &keys)?;
        if kept.life.started == 0 {
            kept.life.started = clock.now();
        }
        let follow = FollowOptions { step: STEP, leaf_tiles: true, ..options.follow };
        let follower = Follower::new(&options.log, keys, kept.position.clone(), follow)?;
        let client = match &options.log {
            TileLocation::Url(url) => {
                let FollowOptions { timeout, retry, .. } = options.follow;
                LogClient::new(url.clone(), timeout, retry).ok()
            }
            TileLocation::Directory(_) => None,
        };
        Ok(Self {
            options,
            origin,
            follower,
            client,
            outputs,
            state: kept,
            directory,
            clock,
            _lock: lock,
        })
    }

    /// The alarms that are raised now.
    #[must_use]
    pub fn alarms(&self) -> &[Alarm] {
        self.state.alarms.active()
    }

    /// Where the state is kept.
    #[must_use]
    pub fn directory(&self) -> &std::path::Path {
        &self.directory
    }

    /// Takes back the alarms with this code, because a person has seen to them; how many there were. The
    /// events that say so are told in the next round.
    pub fn acknowledge(&mut self, code: &str) -> Result<usize, MonitorError> {
        let cleared = self.clear("acknowledged", |alarm| alarm.code == code);
        self.save()?;
        Ok(cleared)
    }

    fn save(&mut self) -> Result<(), MonitorError> {
        self.state.position = self.follower.position().cloned();
        Ok(self.state.save(&self.directory)?)
    }
}

/// A directory for each log at each place.
fn directory_of(log: &TileLocation, origin: &str) -> PathBuf {
    let name = Digest::of(format!("{origin}\n{log}").as_bytes()).to_hex();
    PathBuf::from("monitor").join(name.get(..32).unwrap_or_default())
}

/// Why a monitor can't go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MonitorError {
    /// The operating system says no.
    #[error(transparent)]
    File(#[from] DurableError),
    /// The log can't be followed, for a reason that isn't the log's.
    #[error(transparent)]
    Follow(#[from] FollowError),
    /// Another monitor of this log uses the state directory.
    #[error("{0}; another monitor of the same log needs another state directory")]
    Lock(#[from] LockError),
    /// The state can't be used.
    #[error(transparent)]
    State(#[from] StateError),
}

impl MonitorError {
    /// The stable code of the failure.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Follow(error) => error.code(),
            Self::File(_) | Self::Lock(_) | Self::State(_) => "CLIENT.STATE",
        }
    }
}

/// Entries between two points from which a monitor goes on: its events wait in memory and in the state.
const STEP: u64 = 16_384;

/// Events that wait for an output before reading stops.
const MAX_WAITING: usize = 16_384;

#[cfg(test)]
mod tests;
