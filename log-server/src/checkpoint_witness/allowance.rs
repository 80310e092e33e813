//! Who may submit at all, and how often.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultDirectRateLimiter, Quota};

use super::error::Refusal;
use crate::bearer::Principal;

/// The submitters, and a rate for each. There are no more of them than tokens in the configuration.
#[derive(Debug)]
pub(super) struct Allowances {
    /// None lets every holder of a token submit.
    submitters: Option<HashSet<Principal>>,
    per_minute: NonZeroU32,
    limiters: Mutex<HashMap<Principal, Arc<DefaultDirectRateLimiter>>>,
}

impl Allowances {
    pub(super) fn new(submitters: Option<HashSet<Principal>>, per_minute: NonZeroU32) -> Self {
        Self { submitters, per_minute, limiters: Mutex::default() }
    }

    /// Takes one submission from the principal's rate.
    pub(super) fn take(&self, principal: &Principal) -> Result<(), Refusal> {
        if self.submitters.as_ref().is_some_and(|submitters| !submitters.contains(principal)) {
            return Err(Refusal::NotASubmitter);
        }
        let limiter = {
            let mut limiters = self.limiters.lock().unwrap_or_else(PoisonError::into_inner);
            let quota = Quota::per_minute(self.per_minute);
            let made = || Arc::new(DefaultDirectRateLimiter::direct(quota));
            Arc::clone(limiters.entry(principal.clone()).or_insert_with(made))
        };
        limiter.check().map_err(|not_yet| Refusal::RateLimited {
            wait: not_yet.wait_time_from(DefaultClock::default().now()),
        })
    }
}
