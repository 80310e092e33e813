//! The options that say which logs and authorities give anchors, and how patiently they are asked.

use std::path::PathBuf;
use std::time::Duration;

use anchorlog_proto::note::VerifierKey;
use anchorlog_proto::receipt::ReceiptState;
use anchorlog_verifier::report::Verdict;

use super::log_args::announce_first_use;
use super::report::Report;
use super::stamp_args::AuthorityArgs;
use crate::address::LogUrl;
use crate::envelope::EnvelopeError;
use crate::envelope::sources::Sources;
use crate::error::ClientError;
use crate::log::{KeySource, Log, LogOptions};
use crate::retry::RetryPolicy;
use crate::stamp::{StampOptions, Stamper};
use crate::state::StateDir;

/// Who is asked for anchors.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct SourceArgs {
    /// A log to submit to; can be given several times.
    #[arg(long, value_name = "URL")]
    log: Vec<LogUrl>,
    /// The verifier key of each log, in the order of the logs. Without it and without --log-policy, the key
    /// that a log shows on first use is pinned, loudly, and trusted from then on.
    #[arg(long, value_name = "VKEY", requires = "log", conflicts_with = "log_policy")]
    vkey: Vec<VerifierKey>,
    /// Take the logs' keys and the witness quorum from a C2SP tlog-policy file.
    #[arg(long, value_name = "FILE", requires = "log")]
    log_policy: Option<PathBuf>,
    #[command(flatten)]
    authorities: AuthorityArgs,
    /// How many operators of authorities are enough for each value. Without it, all of them are needed.
    #[arg(long, value_name = "K", requires = "tsa")]
    quorum: Option<usize>,
    /// Wait until the logs' receipts are `published`, `witnessed` or `anchored`.
    #[arg(long, value_name = "STATE")]
    wait: Option<ReceiptState>,
    /// Seconds to wait for it.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    wait_timeout: u64,
    /// Directory for the outbox, pinned keys, checkpoints seen and receipts.
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Seconds that one try of one request may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// How often a log or an authority is asked before it counts as unreachable.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    attempts: u32,
}

impl SourceArgs {
    /// Whether nobody was named.
    pub(super) fn is_empty(&self) -> bool {
        self.log.is_empty() && self.authorities.operators().is_empty()
    }

    /// Everybody that is asked, without asking anything yet. `None`: the options don't fit together, and
    /// the report says why.
    pub(super) fn open(
        &self,
        wait: ReceiptState,
        report: &mut Report,
    ) -> Result<Option<Sources>, ClientError> {
        let mut refuse = |code: &str, detail: &str| {
            report.fail(Verdict::NotEvaluated, code, detail);
            Ok(None)
        };
        if self.is_empty() {
            return Err(EnvelopeError::NoSource.into());
        }
        if !self.vkey.is_empty() && self.vkey.len() != self.log.len() {
            return refuse(super::USAGE, "--vkey: one for each --log, in their order, or none");
        }
        let authorities = match self.authorities.read() {
            Ok(authorities) => authorities,
            Err(error) => return refuse(error.code(), &error.to_string()),
        };
        let operators = self.authorities.operators().len();
        let quorum = self.quorum.unwrap_or(operators);
        if operators > 0 && !(1..=operators).contains(&quorum) {
            let detail =
                format!("a quorum of {quorum} can't be reached by {operators} distinct operators");
            return refuse(super::USAGE, &detail);
        }
        let state = match &self.state {
            Some(path) => StateDir::at(path),
            None => StateDir::of_environment().ok_or(ClientError::NoState)?,
        };
        let mut logs = Vec::with_capacity(self.log.len());
        for (position, address) in self.log.iter().enumerate() {
            let keys = match (self.vkey.get(position), &self.log_policy) {
                (Some(key), _) => KeySource::Vkey(key.clone()),
                (None, Some(path)) => KeySource::Policy(path.clone()),
                (None, None) => KeySource::FirstUse,
            };
            logs.push(Log::new(LogOptions {
                address: address.clone(),
                keys,
                state: state.clone(),
                timeout: Duration::from_secs(self.timeout),
                retry: RetryPolicy { attempts: self.attempts, ..RetryPolicy::default() },
            })?);
        }
        let stamper = || {
            let defaults = StampOptions::default();
            Stamper::new(StampOptions {
                quorum,
                timeout: Duration::from_secs(self.timeout),
                retry: RetryPolicy { attempts: self.attempts, ..defaults.retry },
                ..defaults
            })
        };
        let authorities = if authorities.is_empty() {
            None
        } else {
            Some((stamper().map_err(EnvelopeError::from)?, authorities))
        };
        let patience = Duration::from_secs(self.wait_timeout);
        Ok(Some(Sources { logs, authorities, state, wait, patience }))
    }

    /// The state asked for, if one was.
    pub(super) fn wait(&self) -> Option<ReceiptState> {
        self.wait
    }
}

/// Says which logs' keys were trusted for no better reason than that the logs showed them.
pub(super) fn announce(sources: &Sources) {
    sources.logs.iter().for_each(announce_first_use);
}
