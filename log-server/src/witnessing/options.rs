//! How a log is witnessed, by whom, and what follows from their answers.

use std::sync::Arc;
use std::time::Duration;

use anchorlog_client::witness::Cosigned;

use super::witness::Witness;
use crate::clock::{Clock, unix_ms};

/// How a log is witnessed.
#[derive(Clone, Debug)]
pub struct Options {
    /// How often a new checkpoint is offered while the log grows.
    pub interval: Duration,
    /// How often the newest checkpoint is offered again while the log doesn't grow, for a line with a newer
    /// time; zero for never.
    pub refresh: Duration,
    /// Requests a day that each witness takes.
    pub daily_allowance: u32,
    /// How long a witness may take for one answer.
    pub timeout: Duration,
    /// By how much a witness' clock may differ from ours before it is an alarm.
    pub clock_skew: Duration,
    /// What time it is.
    pub clock: Clock,
}

/// A witness of the policy that can be asked.
#[derive(Clone)]
pub struct NamedWitness {
    /// Its name in the policy, made printable.
    pub name: String,
    /// Its position among the policy's witnesses.
    pub position: usize,
    /// Whom to ask.
    pub witness: Arc<dyn Witness>,
}

/// By how much the witness' clock differs from ours, as far as one exchange can tell, in milliseconds:
/// positive when the witness is ahead. It states whole seconds.
pub(super) fn clock_offset_ms(cosigned: &Cosigned) -> i64 {
    let stated = i64::try_from(cosigned.unix_seconds).unwrap_or(i64::MAX).saturating_mul(1000);
    let received = unix_ms(cosigned.received);
    let round_trip = i64::try_from(cosigned.round_trip.as_millis()).unwrap_or(i64::MAX);
    let asked = received.saturating_sub(round_trip);
    if stated > received {
        stated.saturating_sub(received)
    } else if stated.saturating_add(1000) < asked {
        stated.saturating_add(1000).saturating_sub(asked)
    } else {
        0
    }
}

/// How long a witness is left alone after so many failures in a row, and after what it asked for.
pub(super) fn pause_after(
    failures: u32,
    interval: Duration,
    asked_for: Option<Duration>,
) -> Duration {
    let first = FIRST_PAUSE.min(interval);
    let pause = first.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(LONGEST_PAUSE);
    pause.max(asked_for.unwrap_or_default().min(LONGEST_WISH))
}

/// How long a witness is left alone after its first failure, at most.
const FIRST_PAUSE: Duration = Duration::from_secs(5);

/// How long it is left alone at most, if it doesn't ask for more.
const LONGEST_PAUSE: Duration = Duration::from_mins(10);

/// How long it is left alone at most because it asked for it.
const LONGEST_WISH: Duration = Duration::from_hours(1);

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

    use std::time::SystemTime;

    use super::*;

    const S: Duration = Duration::from_secs(1);

    #[test]
    fn the_clock_is_only_wrong_outside_the_exchange() {
        let offset = |unix_seconds| {
            let received = SystemTime::UNIX_EPOCH + Duration::from_millis(100_500);
            let line = "\u{2014} w AAECAwQ=".parse().unwrap();
            clock_offset_ms(&Cosigned { line, unix_seconds, received, round_trip: 2 * S })
        };
        // A whole second stands for all of it: the exchange is from 98.5 to 100.5.
        for within in [98, 99, 100] {
            assert_eq!(offset(within), 0, "{within}");
        }
        assert_eq!(offset(97), -500);
        assert_eq!(offset(101), 500);
        assert_eq!(offset(160), 59_500);
        assert!(offset((1 << 63) - 1) > 1 << 60);
    }

    #[test]
    fn pauses_double_and_wishes_are_granted_within_reason() {
        let after = |failures| pause_after(failures, 10 * S, None);
        assert_eq!([1, 2, 3, 4].map(after), [5 * S, 10 * S, 20 * S, 40 * S]);
        assert_eq!(after(u32::MAX), 600 * S);
        assert_eq!(pause_after(1, S, None), S);
        assert_eq!(pause_after(1, S, Some(90 * S)), 90 * S);
        assert_eq!(pause_after(3, 10 * S, Some(S)), 20 * S);
        assert_eq!(pause_after(1, S, Some(Duration::MAX)), 3600 * S);
    }
}
