//! `[anchoring]`: who stamps the log's checkpoints, and when.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{ConfigError, Span, bounded};
use crate::checkpoints::{MAX_OPERATOR_BYTES, MAX_OPERATORS};

/// The operator of the development authority.
pub const DEV_OPERATOR: &str = "development";

/// `[anchoring]`: when checkpoints are stamped, and what is enough.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct AnchoringConfig {
    /// How long an entry waits for its time stamp, and with it those that come meanwhile.
    pub interval: Span,
    /// Entries that don't wait for the interval once they are so many; 0 for no such number.
    pub after_entries: u64,
    /// Distinct operators that have to stamp a checkpoint before it is anchored.
    pub quorum: usize,
    /// How long an authority may take for one token.
    pub timeout: Span,
    /// By how much an authority's clock may differ from ours before it is an alarm.
    pub clock_skew: Span,
    /// How long before the certificates of the newest token run out a new one is fetched.
    pub renew_before: Span,
    /// How long an entry may wait for its time stamp before `/readyz` says 503; 0 for as long as it takes.
    pub required_age: Span,
    /// Whether the development authority inside the server stamps too.
    pub dev_tsa: bool,
    /// The authorities.
    pub tsa: Vec<TsaConfig>,
}

impl AnchoringConfig {
    /// Whether anybody is asked.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.dev_tsa || !self.tsa.is_empty()
    }

    /// What a server does that nobody configured: its development authority stamps, and soon. A variable that
    /// is set (`is_set`, by its name) says otherwise.
    pub(crate) fn try_out(&mut self, is_set: impl Fn(&str) -> bool) {
        if self.tsa.is_empty() && !is_set("ANCHORLOG_ANCHORING_DEV_TSA") {
            self.dev_tsa = true;
        }
        if self.dev_tsa && !is_set("ANCHORLOG_ANCHORING_INTERVAL") {
            self.interval = Span::from_secs(5);
        }
    }

    /// Checks every value against its bounds.
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let (second, minutes) = (Span::from_secs(1), Span::from_secs(600));
        let (never, day, year) =
            (Span::from_secs(0), Span::from_secs(86_400), Span::from_secs(366 * 86_400));
        bounded("anchoring.interval", &self.interval, &second, &day)?;
        bounded("anchoring.after_entries", &self.after_entries, &0, &1_000_000_000)?;
        bounded("anchoring.quorum", &self.quorum, &1, &MAX_OPERATORS)?;
        bounded("anchoring.timeout", &self.timeout, &Span::from_millis(100), &minutes)?;
        bounded("anchoring.clock_skew", &self.clock_skew, &second, &day)?;
        bounded("anchoring.renew_before", &self.renew_before, &never, &year)?;
        bounded("anchoring.required_age", &self.required_age, &never, &year)?;
        bounded("anchoring.tsa (length)", &self.tsa.len(), &0, &MAX_OPERATORS)?;
        for tsa in &self.tsa {
            let length = tsa.operator.len();
            bounded("anchoring.tsa.operator (bytes)", &length, &1, &MAX_OPERATOR_BYTES)?;
            let accuracy = &tsa.require_accuracy;
            bounded("anchoring.tsa.require_accuracy", accuracy, &never, &day)?;
            let refused = |reason| ConfigError::Tsa { operator: tsa.operator.clone(), reason };
            if tsa.operator.chars().any(char::is_control) {
                return Err(refused("its name has control characters"));
            }
            if tsa.operator == DEV_OPERATOR {
                return Err(refused("that name is the development authority's"));
            }
            if tsa.url.is_empty() {
                return Err(refused("it has no url"));
            }
            if tsa.roots.as_os_str().is_empty() {
                return Err(refused("it has no roots, and so no token of it could be believed"));
            }
        }
        let mut operators: Vec<&str> = self.tsa.iter().map(|tsa| tsa.operator.as_str()).collect();
        operators.extend(self.dev_tsa.then_some(DEV_OPERATOR));
        operators.sort_unstable();
        operators.dedup();
        if self.is_on() && operators.len() < self.quorum {
            let (quorum, operators) = (self.quorum, operators.len());
            return Err(ConfigError::Quorum { quorum, operators });
        }
        Ok(())
    }
}

impl Default for AnchoringConfig {
    fn default() -> Self {
        Self {
            interval: Span::from_secs(30),
            after_entries: 0,
            quorum: 1,
            timeout: Span::from_secs(10),
            clock_skew: Span::from_secs(60),
            renew_before: Span::from_secs(30 * 86_400),
            required_age: Span::from_secs(0),
            dev_tsa: false,
            tsa: Vec::new(),
        }
    }
}

/// `[[anchoring.tsa]]`: one time-stamping authority and what its tokens have to chain to.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TsaConfig {
    /// Who runs it. Two authorities of one operator are two chances for one token of a quorum.
    pub operator: String,
    /// Where it is, `http` or `https`.
    pub url: String,
    /// The root certificates it is trusted by, PEM.
    pub roots: PathBuf,
    /// The policy that is asked for and accepted, a dotted OID; empty for any.
    #[serde(default)]
    pub policy: String,
    /// The largest accuracy that a token may state; 0 asks for none.
    #[serde(default = "none")]
    pub require_accuracy: Span,
    /// What is tolerated in its tokens.
    #[serde(default)]
    pub allow: Vec<Tolerated>,
    /// When its tokens are believed, by genTime.
    #[serde(default)]
    pub window: WindowConfig,
}

/// `window` of an authority; an empty end is open.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct WindowConfig {
    /// The first instant, as in `2026-01-01T00:00:00Z`.
    pub start: String,
    /// The last instant.
    pub end: String,
}

/// Deviations that a token may have where its authority's block says so.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
#[serde(rename_all = "snake_case")]
pub enum Tolerated {
    /// SHA-1 where it can be.
    Sha1,
    /// BER in the unsigned wrapper.
    Ber,
    /// An extended key usage that isn't critical.
    NoncriticalEku,
}

const fn none() -> Span {
    Span::from_secs(0)
}
