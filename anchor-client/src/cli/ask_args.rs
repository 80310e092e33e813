//! The options that say how patiently places are asked, and where evidence is kept.

use std::path::PathBuf;
use std::time::Duration;

use crate::error::ClientError;
use crate::follow::FollowOptions;
use crate::retry::RetryPolicy;
use crate::state::StateDir;

/// Where evidence is kept.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct StateArgs {
    /// Directory for what is remembered; contradictions are kept below it, as evidence.
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
}

impl StateArgs {
    /// The state directory.
    pub(super) fn open(&self) -> Result<StateDir, ClientError> {
        match &self.state {
            Some(path) => Ok(StateDir::at(path)),
            None => StateDir::of_environment().ok_or(ClientError::NoState),
        }
    }
}

/// How patiently to ask.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct AskArgs {
    /// Seconds that one try of one request may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// How often a request is sent before somebody counts as unreachable.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    attempts: u32,
}

impl AskArgs {
    pub(super) fn options(self) -> FollowOptions {
        FollowOptions {
            timeout: Duration::from_secs(self.timeout),
            retry: RetryPolicy { attempts: self.attempts, ..RetryPolicy::default() },
            ..FollowOptions::default()
        }
    }
}
