//! How anchoring goes, for whoever asks: the state of each authority, and how long entries have waited.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// A shared view of the state of anchoring. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Status(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    authorities: Vec<AuthorityStatus>,
    waiting_since: Option<Instant>,
}

/// How it goes with one authority.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct AuthorityStatus {
    /// Who runs it.
    pub operator: String,
    /// When its last token was received, in Unix seconds; none ever as far as is known.
    pub last_token: Option<i64>,
    /// Failures since then.
    pub failures: u32,
    /// Code of the last failure, if there was one since the last token.
    pub error: Option<Cow<'static, str>>,
    /// By how much its clock was ahead of ours when it last answered, in milliseconds; beyond the limit
    /// this is an alarm.
    pub clock_offset_ms: i64,
}

impl Status {
    /// The state of each authority, in the order of the configuration.
    #[must_use]
    pub fn authorities(&self) -> Vec<AuthorityStatus> {
        self.lock().authorities.clone()
    }

    /// How long the oldest entry has waited that no anchored checkpoint covers. Zero when there is none; the
    /// log's own statements about its tokens don't wait.
    #[must_use]
    pub fn waited(&self) -> Duration {
        self.lock().waiting_since.map(|since| since.elapsed()).unwrap_or_default()
    }

    pub(super) fn begin(&self, authorities: Vec<AuthorityStatus>) {
        self.lock().authorities = authorities;
    }

    pub(super) fn set_waiting(&self, since: Option<Instant>) {
        self.lock().waiting_since = since;
    }

    pub(super) fn update(&self, position: usize, change: impl FnOnce(&mut AuthorityStatus)) {
        if let Some(status) = self.lock().authorities.get_mut(position) {
            change(status);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Whole after every statement under it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
