//! `[witnessing]`: who cosigns the log's checkpoints, and when they are asked.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{ConfigError, Span, bounded};

/// `[witnessing]`: the policy that names the witnesses, and how they are asked.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct WitnessingConfig {
    /// A C2SP tlog-policy: witnesses with their addresses, and the quorum of them that makes a checkpoint
    /// witnessed. Empty: nobody is asked.
    pub policy: PathBuf,
    /// How often a new checkpoint is offered while the log grows.
    pub interval: Span,
    /// How often the newest checkpoint is offered again while the log doesn't grow; 0 for never.
    pub refresh: Span,
    /// Requests a day that each witness takes from this log.
    pub daily_allowance: u32,
    /// How long a witness may take for one answer.
    pub timeout: Span,
    /// By how much a witness' clock may differ from ours before it is an alarm.
    pub clock_skew: Span,
    /// How long an entry may wait for the witnesses before `/readyz` says 503; 0 for as long as it takes.
    pub required_age: Span,
}

impl WitnessingConfig {
    /// Whether anybody is asked.
    #[must_use]
    pub fn is_on(&self) -> bool {
        !self.policy.as_os_str().is_empty()
    }

    /// Checks every value against its bounds.
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let (second, minutes) = (Span::from_secs(1), Span::from_secs(600));
        let (never, day, year) =
            (Span::from_secs(0), Span::from_secs(86_400), Span::from_secs(366 * 86_400));
        bounded("witnessing.interval", &self.interval, &second, &day)?;
        bounded("witnessing.refresh", &self.refresh, &never, &year)?;
        bounded("witnessing.daily_allowance", &self.daily_allowance, &1, &MAX_ALLOWANCE)?;
        bounded("witnessing.timeout", &self.timeout, &Span::from_millis(100), &minutes)?;
        bounded("witnessing.clock_skew", &self.clock_skew, &second, &day)?;
        bounded("witnessing.required_age", &self.required_age, &never, &year)
    }
}

impl Default for WitnessingConfig {
    fn default() -> Self {
        Self {
            policy: PathBuf::new(),
            interval: Span::from_secs(10),
            refresh: Span::from_secs(3600),
            daily_allowance: 8640,
            timeout: Span::from_secs(5),
            clock_skew: Span::from_secs(60),
            required_age: Span::from_secs(0),
        }
    }
}

/// Requests a day beyond which an allowance means nothing.
const MAX_ALLOWANCE: u32 = 10_000_000;
