//! Where the time of an entry comes from.

use std::time::{SystemTime, UNIX_EPOCH};

/// Tells the time.
pub trait Clock: Send {
    /// Now, in whole seconds since 1970, UTC.
    fn now(&self) -> i64;
}

/// The clock of the machine.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::exhaustive_structs, reason = "it has nothing to it")]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    }
}

/// Any function that tells the time.
impl<F: Fn() -> i64 + Send> Clock for F {
    fn now(&self) -> i64 {
        self()
    }
}
