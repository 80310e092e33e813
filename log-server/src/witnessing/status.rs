//! How witnessing goes, for whoever asks: each witness, the alarm, and how long entries have waited.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::alarm::Alarm;
use crate::checkpoints::Witnessed;

/// A shared view of the state of witnessing. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Status(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    alarm: Option<Alarm>,
    witnessed: Option<Witnessed>,
    waiting_since: Option<Instant>,
    witnesses: Vec<WitnessStatus>,
}

/// How it goes with one witness.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct WitnessStatus {
    /// Its name in the policy.
    pub name: String,
    /// The largest size that it is known to know; none before it was asked.
    pub size: Option<u64>,
    /// When its last cosignature was received, in Unix seconds; none ever as far as is known.
    pub last_cosigned: Option<i64>,
    /// Failures since then.
    pub failures: u32,
    /// Code of the last failure, if there was one since the last cosignature.
    pub error: Option<Cow<'static, str>>,
    /// By how much its clock was ahead of ours when it last answered, in milliseconds; beyond the limit this
    /// is an alarm.
    pub clock_offset_ms: i64,
}

impl Status {
    /// Why nothing more is called witnessed, if that is so. It stays so until the server is started again.
    #[must_use]
    pub fn alarm(&self) -> Option<Alarm> {
        self.lock().alarm.clone()
    }

    /// The newest witnessed checkpoint.
    #[must_use]
    pub fn witnessed(&self) -> Option<Witnessed> {
        self.lock().witnessed
    }

    /// How long the oldest entry has waited that no witnessed checkpoint covers. Zero when there is none.
    #[must_use]
    pub fn waited(&self) -> Duration {
        self.lock().waiting_since.map(|since| since.elapsed()).unwrap_or_default()
    }

    /// The state of each witness, in the order of the policy.
    #[must_use]
    pub fn witnesses(&self) -> Vec<WitnessStatus> {
        self.lock().witnesses.clone()
    }

    pub(super) fn begin(&self, witnesses: Vec<WitnessStatus>, newest: Option<Witnessed>) {
        let mut inner = self.lock();
        inner.witnesses = witnesses;
        inner.witnessed = newest;
    }

    /// Keeps the first alarm: what comes after is more of the same.
    pub(super) fn raise(&self, alarm: Alarm) {
        self.lock().alarm.get_or_insert(alarm);
    }

    pub(super) fn set_witnessed(&self, witnessed: Witnessed) {
        self.lock().witnessed = Some(witnessed);
    }

    /// There are entries that no witnessed checkpoint covers, or there are none.
    pub(super) fn set_waiting(&self, waiting: bool, now: Instant) {
        let mut inner = self.lock();
        if waiting {
            inner.waiting_since.get_or_insert(now);
        } else {
            inner.waiting_since = None;
        }
    }

    /// What waits now has come since `since`.
    pub(super) fn waits_since(&self, since: Instant) {
        self.lock().waiting_since = Some(since);
    }

    pub(super) fn update(&self, position: usize, change: impl FnOnce(&mut WitnessStatus)) {
        if let Some(status) = self.lock().witnesses.get_mut(position) {
            change(status);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Whole after every statement under it.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
