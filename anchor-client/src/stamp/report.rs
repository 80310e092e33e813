//! What came of asking: every authority's outcome, and whether together they are enough.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use anchorlog_proto::timestamp::Imprint;
use anchorlog_verifier::timestamp::VerifiedToken;

use super::authority::Authority;
use super::crl::FetchedCrl;
use super::error::StampError;

/// What came of asking several authorities about one imprint.
#[derive(Debug)]
#[non_exhaustive]
pub struct StampReport {
    /// What was to be stamped.
    pub imprint: Imprint,
    /// Distinct operators that are enough.
    pub quorum: usize,
    /// One for each authority, in the order they were given.
    pub outcomes: Vec<Outcome>,
}

impl StampReport {
    /// The operators that gave a token that holds, each once.
    #[must_use]
    pub fn operators(&self) -> BTreeSet<&str> {
        let holding = self.outcomes.iter().filter(|outcome| outcome.result.is_ok());
        holding.map(|outcome| outcome.authority.operator()).collect()
    }

    /// Whether tokens of enough distinct operators hold. Bad ones don't spoil good ones.
    #[must_use]
    pub fn is_quorum(&self) -> bool {
        self.operators().len() >= self.quorum
    }

    /// The tokens that hold.
    pub fn stamps(&self) -> impl Iterator<Item = (&Authority, &Stamp)> {
        self.outcomes
            .iter()
            .filter_map(|outcome| Some((&outcome.authority, outcome.result.as_ref().ok()?)))
    }
}

/// What came of asking one authority.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// Who was asked.
    pub authority: Authority,
    /// How often.
    pub attempts: u32,
    /// How long it took, waiting between attempts included.
    pub elapsed: Duration,
    /// What went wrong in attempts before the one that decided, in order.
    pub earlier: Vec<StampError>,
    /// The token, or why there is none.
    pub result: Result<Stamp, StampError>,
}

/// A token that holds, with everything that came with it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stamp {
    /// The time-stamp response, exactly as received.
    pub response: Vec<u8>,
    /// The token in it, verified.
    pub token: VerifiedToken,
    /// The revocation lists that it was verified with, if any were asked for.
    pub crls: Vec<FetchedCrl>,
    /// How it came here.
    pub transport: Transport,
    /// Our clock when the answer was complete.
    pub received_at: SystemTime,
    /// Between sending the request and having the whole answer: genTime lies in this span, as far as both
    /// clocks are right.
    pub round_trip: Duration,
}

/// How an answer came here.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "with TLS or without")]
pub enum Transport {
    /// Readable on the way.
    Http,
    /// Over TLS.
    Https,
}

impl Transport {
    /// The word of the report.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}
