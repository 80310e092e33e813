//! Time stamps (RFC 3161) from several authorities at once, each verified before anybody gets it.
//!
//! What it is: [`Stamper::stamp`] asks authorities in parallel about one imprint, again where that helps, and
//! gives a [`StampReport`] with every outcome. An answer is bound to its request (imprint, a fresh nonce of
//! 128 random bits in every attempt, policy, certificates) and judged in full by `anchorlog-verifier`, under
//! the trust entry of the authority that was asked and no other one. [`TokenStore`] keeps the bytes.
//!
//! What it is not: a judge, and a clock. Tokens that were fetched here are verified again by whoever is
//! shown them.
//!
//! ```no_run
//! # async fn example(authorities: Vec<anchorlog_client::stamp::Authority>) -> Result<(), Box<dyn std::error::Error>> {
//! use anchorlog_client::stamp::{StampOptions, Stamper};
//! use anchorlog_proto::timestamp::{HashAlgorithm, Imprint};
//!
//! let stamper = Stamper::new(StampOptions { quorum: 2, ..StampOptions::default() })?;
//! let imprint = Imprint::of_data(HashAlgorithm::Sha256, b"hello");
//! let report = stamper.stamp(&imprint, &authorities).await;
//! for (authority, stamp) in report.stamps() {
//!     println!("{} {}", authority.operator(), stamp.token.gen_time());
//! }
//! assert!(report.is_quorum());
//! # Ok(())
//! # }
//! ```

mod again;
mod authority;
mod crl;
mod error;
pub(crate) mod exchange;
mod report;
mod store;
mod task;
mod verify;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anchorlog_proto::timestamp::Imprint;
use anchorlog_verifier::timestamp::{Allow, DEFAULT_SKEW_S};
use tokio::sync::watch;
use tokio::task::JoinSet;

pub use again::Again;
pub use authority::{Authority, TsaUrl, TsaUrlError};
pub use crl::FetchedCrl;
pub use error::{CrlFailure, CrlFailureReason, StampError};
pub use exchange::{ExchangeError, RedirectRefusal};
pub use report::{Outcome, Stamp, StampReport, Transport};
pub use store::{KeptStamp, TokenForm, TokenStore};

use crate::retry::RetryPolicy;
use exchange::Http;

/// How to ask, and what is enough.
#[derive(Clone, Debug)]
pub struct StampOptions {
    /// Distinct operators that are enough.
    pub quorum: usize,
    /// How long one attempt may take, from connecting to the last byte of the answer.
    pub timeout: Duration,
    /// How long everything may take.
    pub deadline: Duration,
    /// How much longer the other authorities are waited for once enough operators have answered; `None`:
    /// until the deadline.
    pub grace: Option<Duration>,
    /// How often each authority is asked, and how long to wait in between.
    pub retry: RetryPolicy,
    /// Whether to fetch the revocation lists of the token's certificates, and to take no token without.
    pub fetch_crls: bool,
    /// What is tolerated in tokens.
    pub allow: Allow,
    /// How far genTime may lie ahead of our clock, in seconds.
    pub skew_s: u32,
}

impl Default for StampOptions {
    fn default() -> Self {
        Self {
            quorum: 1,
            timeout: Duration::from_secs(30),
            deadline: Duration::from_mins(2),
            grace: None,
            retry: RetryPolicy {
                attempts: 3,
                first_delay: Duration::from_millis(500),
                max_delay: Duration::from_secs(30),
            },
            fetch_crls: false,
            allow: Allow::default(),
            skew_s: DEFAULT_SKEW_S,
        }
    }
}

/// Asks authorities; keeps connections open between calls. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Stamper {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    http: Http,
    options: StampOptions,
}

impl Stamper {
    /// Prepares to ask. Fails if this machine can't set up an HTTP client.
    pub fn new(options: StampOptions) -> Result<Self, ExchangeError> {
        let http = Http::new(options.timeout.min(CONNECT_TIMEOUT))?;
        Ok(Self { shared: Arc::new(Shared { http, options }) })
    }

    /// How this asks.
    #[must_use]
    pub fn options(&self) -> &StampOptions {
        &self.shared.options
    }

    /// Asks all authorities at once about an imprint, and returns when each has answered or has been given
    /// up. Dropping the future drops every request. Needs a tokio runtime with time and I/O.
    pub async fn stamp(&self, imprint: &Imprint, authorities: &[Authority]) -> StampReport {
        let options = self.options();
        let begun = Instant::now();
        let deadline = tokio::time::Instant::now() + options.deadline;
        let (cut, _) = watch::channel(false);
        let mut tasks = JoinSet::new();
        let mut positions = HashMap::new();
        for (position, authority) in authorities.iter().enumerate() {
            let task = task::Task {
                shared: self.shared.clone(),
                imprint: imprint.clone(),
                authority: authority.clone(),
                deadline,
            };
            let handle = tasks.spawn(task.run(cut.subscribe()));
            positions.insert(handle.id(), position);
        }

        let mut outcomes: Vec<Option<Outcome>> = authorities.iter().map(|_| None).collect();
        let mut operators = BTreeSet::new();
        let mut grace_ends = None;
        loop {
            let joined = tokio::select! {
                joined = tasks.join_next_with_id() => joined,
                () = sleep_until(grace_ends) => {
                    grace_ends = None;
                    cut.send_replace(true);
                    continue;
                }
            };
            let Some(joined) = joined else { break };
            let Ok((id, outcome)) = joined else { continue };
            if outcome.result.is_ok() && operators.insert(outcome.authority.operator().to_owned()) {
                let just_enough = operators.len() == options.quorum;
                let grace = options.grace.filter(|_| just_enough);
                grace_ends = grace.map(|grace| tokio::time::Instant::now() + grace).or(grace_ends);
            }
            let place = positions.get(&id).and_then(|&position| outcomes.get_mut(position));
            if let Some(place) = place {
                *place = Some(outcome);
            }
        }
        let outcomes = authorities.iter().zip(outcomes).map(|(authority, outcome)| {
            // Only a task that panicked has none.
            outcome.unwrap_or_else(|| Outcome {
                authority: authority.clone(),
                attempts: 0,
                elapsed: begun.elapsed(),
                earlier: Vec::new(),
                result: Err(StampError::Internal),
            })
        });
        StampReport {
            imprint: imprint.clone(),
            quorum: options.quorum,
            outcomes: outcomes.collect(),
        }
    }
}

/// Ends at an instant, or never.
async fn sleep_until(instant: Option<tokio::time::Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
