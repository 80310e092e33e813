//! The seconds that a witness states: the system's, and never one before another that it has stated.

use std::sync::{Mutex, PoisonError};

use super::Refusal;
use crate::clock::Clock;

/// Hands out times in the order in which they are stated.
///
/// A cosignature says "the largest tree I have seen by then". Were the clock set back, the next one would
/// contradict an earlier one. There is no honest time to state then: the old one may be wrong too. So the
/// witness waits until the clock has passed what it has stated before.
#[derive(Debug)]
pub(super) struct Times {
    clock: Clock,
    last: Mutex<u64>,
}

impl Times {
    /// `last` is the latest second stated so far, over all logs.
    pub(super) fn new(clock: Clock, last: u64) -> Self {
        Self { clock, last: Mutex::new(last) }
    }

    /// The present second, which is now the latest one stated.
    pub(super) fn next(&self) -> Result<u64, Refusal> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        // Read while the lock is held: two times can't overtake each other on their way.
        let now = self.at_least(*last)?;
        *last = now;
        Ok(now)
    }

    /// Whether there is a second to state.
    pub(super) fn look(&self) -> Result<(), Refusal> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        self.at_least(*last).map(|_| ())
    }

    fn at_least(&self, last: u64) -> Result<u64, Refusal> {
        // A clock before 1970, or in its first second, has not been set.
        let now = u64::try_from(self.clock.unix_seconds()).unwrap_or_default();
        if now == 0 || now < last { Err(Refusal::ClockBehind { now, last }) } else { Ok(now) }
    }
}
