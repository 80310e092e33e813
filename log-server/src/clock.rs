//! What time it is: the system's clock, or one of a test's own.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

/// A clock. Cheap to clone.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> SystemTime + Send + Sync>);

impl Clock {
    /// The system's clock.
    #[must_use]
    pub fn system() -> Self {
        Self(Arc::new(SystemTime::now))
    }

    /// A clock of one's own.
    #[must_use]
    pub fn of(now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> SystemTime {
        (self.0)()
    }

    /// The time in Unix seconds.
    #[must_use]
    pub fn unix_seconds(&self) -> i64 {
        unix_ms(self.now()).div_euclid(1000)
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

/// Milliseconds since 1970, negative before.
pub(crate) fn unix_ms(time: SystemTime) -> i64 {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |ms| -ms),
    }
}
