//! The options that say which log is meant and whom to trust for it.

use std::path::PathBuf;
use std::time::Duration;

use anchorlog_proto::note::VerifierKey;
use anchorlog_proto::receipt::ReceiptState;

use super::report::announce;
use crate::address::LogUrl;
use crate::checkpoint_witness::CheckpointWitness;
use crate::error::ClientError;
use crate::log::{KeySource, Log, LogOptions};
use crate::log_client::Wait;
use crate::retry::RetryPolicy;
use crate::state::StateDir;
use crate::trust::TrustSource;

/// Where the log is, and how patiently to ask.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct LogArgs {
    /// Address of the log.
    #[arg(long, value_name = "URL", env = "ANCHORLOG_LOG")]
    pub(super) log: LogUrl,
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// The same without an address.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct CommonArgs {
    /// The log's verifier key. Without it and without --policy, the key that the log shows on first use is
    /// pinned, loudly, and trusted from then on.
    #[arg(long, value_name = "VKEY", conflicts_with = "policy")]
    vkey: Option<VerifierKey>,
    /// Take the log's key and the witness quorum from a C2SP tlog-policy file.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Directory for the outbox, pinned keys, checkpoints seen and receipts.
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Seconds that one try of one request may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// How often a request is sent before the log counts as unreachable.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    attempts: u32,
}

/// How far a receipt shall have grown.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct WaitArgs {
    /// Wait until the receipt is `published`, `witnessed` or `anchored`.
    #[arg(long, value_name = "STATE", default_value = "published")]
    pub(super) wait: ReceiptState,
    /// Seconds to wait for it.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=60))]
    wait_timeout: u64,
}

impl WaitArgs {
    pub(super) fn wait(self) -> Wait {
        Wait { state: self.wait, timeout: Duration::from_secs(self.wait_timeout) }
    }
}

impl LogArgs {
    /// The log, without asking it anything yet.
    pub(super) fn open(&self) -> Result<Log, ClientError> {
        self.common.open(self.log.clone())
    }
}

impl CommonArgs {
    /// The state directory.
    pub(super) fn state(&self) -> Result<StateDir, ClientError> {
        match &self.state {
            Some(path) => Ok(StateDir::at(path)),
            None => StateDir::of_environment().ok_or(ClientError::NoState),
        }
    }

    /// The checkpoint witness at an address.
    pub(super) fn witness(&self, address: LogUrl) -> Result<CheckpointWitness, ClientError> {
        let retry = RetryPolicy { attempts: self.attempts, ..RetryPolicy::default() };
        Ok(CheckpointWitness::new(address, Duration::from_secs(self.timeout), retry)?)
    }

    /// The log at an address, without asking it anything yet.
    pub(super) fn open(&self, address: LogUrl) -> Result<Log, ClientError> {
        let keys = match (&self.vkey, &self.policy) {
            (Some(key), _) => KeySource::Vkey(key.clone()),
            (None, Some(path)) => KeySource::Policy(path.clone()),
            (None, None) => KeySource::FirstUse,
        };
        Log::new(LogOptions {
            address,
            keys,
            state: self.state()?,
            timeout: Duration::from_secs(self.timeout),
            retry: RetryPolicy { attempts: self.attempts, ..RetryPolicy::default() },
        })
    }
}

/// Says on standard error if a key was trusted for no better reason than that the log showed it.
pub(super) fn announce_first_use(log: &Log) {
    if let Some(trust) = log.known_trust()
        && let TrustSource::FirstUse(path) = trust.source()
    {
        for key in trust.keys() {
            announce(&format!(
                "warning: FIRST USE of {}\n  The key it showed is trusted from now on, unchecked:\n  {key}\n  \
                 Compare it with the one its operator publishes. It is pinned in {}.",
                log.address(),
                path.display()
            ));
        }
    }
}
