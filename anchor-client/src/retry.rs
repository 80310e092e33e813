//! When to ask again, and when to stop asking.
//!
//! Every call of the log's interface may be repeated: reads change nothing, and the same leaf bytes always
//! get the same index. So overload (429, 503), a gateway in the way (502, 504) and broken connections are
//! worth another try; a refusal is not, and neither is an answer that doesn't verify.

use std::time::Duration;

/// How often and how long to try.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RetryPolicy {
    /// How many times a request is sent, the first time included.
    pub attempts: u32,
    /// The longest wait before the second try; it doubles with each further one.
    pub first_delay: Duration,
    /// The longest wait before any try. A log that asks for more is believed, and not asked again.
    pub max_delay: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 5,
            first_delay: Duration::from_millis(200),
            max_delay: Duration::from_secs(10),
        }
    }
}

impl RetryPolicy {
    /// One try only.
    pub const NEVER: Self =
        Self { attempts: 1, first_delay: Duration::ZERO, max_delay: Duration::ZERO };

    /// How long to wait before the next try, after `tried` tries; `None` to give up.
    ///
    /// With `Retry-After`, what the log asked for and a little more, so that its clients don't come back
    /// all at once. Without, a random part of an exponentially growing limit ("full jitter").
    #[must_use]
    pub fn delay(&self, tried: u32, retry_after: Option<Duration>) -> Option<Duration> {
        self.delay_with(tried, retry_after, random_fraction())
    }

    fn delay_with(
        &self,
        tried: u32,
        retry_after: Option<Duration>,
        fraction: f64,
    ) -> Option<Duration> {
        if tried >= self.attempts {
            return None;
        }
        match retry_after {
            Some(asked) if asked > self.max_delay => None,
            Some(asked) => Some(asked + self.first_delay.mul_f64(fraction)),
            None => {
                let doublings = tried.saturating_sub(1).min(16);
                let limit = self.first_delay.saturating_mul(1 << doublings).min(self.max_delay);
                Some(limit.mul_f64(fraction))
            }
        }
    }
}

/// Whether a status says that the same request can succeed later.
#[must_use]
pub fn is_retryable(status: u16) -> bool {
    matches!(status, 429 | 502 | 503 | 504)
}

/// Reads `Retry-After` in its form of whole seconds (RFC 9110 section 10.2.3). The date form would need
/// the log's clock and ours to agree; it is ignored, and the ordinary delay applies.
#[must_use]
pub fn parse_retry_after(value: &str) -> Option<Duration> {
    let value = value.trim();
    let all_digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    if all_digits { value.parse().ok().map(Duration::from_secs) } else { None }
}

/// Uniform in 0..1. Without randomness from the operating system all clients wait the longest time, which
/// is safe.
fn random_fraction() -> f64 {
    getrandom::u32().map_or(1.0, |random| f64::from(random) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_the_limit_and_end() {
        let policy = RetryPolicy {
            attempts: 5,
            first_delay: Duration::from_millis(100),
            max_delay: Duration::from_millis(350),
        };
        let longest = |tried| policy.delay_with(tried, None, 1.0).map(|d| d.as_millis());
        assert_eq!([1, 2, 3, 4].map(longest), [Some(100), Some(200), Some(350), Some(350)]);
        assert_eq!(longest(5), None);
        assert_eq!(policy.delay_with(2, None, 0.5), Some(Duration::from_millis(100)));
        assert_eq!(RetryPolicy::NEVER.delay(1, None), None);
    }

    #[test]
    fn the_log_is_given_the_time_it_asked_for() {
        let policy = RetryPolicy::default();
        let asked = Duration::from_secs(3);
        let delay = policy.delay(1, Some(asked)).unwrap();
        assert!(delay >= asked && delay <= asked + policy.first_delay, "{delay:?}");
        assert_eq!(policy.delay(1, Some(Duration::from_hours(1))), None);
        assert_eq!(policy.delay(5, Some(asked)), None);
    }

    #[test]
    fn huge_counts_and_delays_do_not_overflow() {
        let policy =
            RetryPolicy { attempts: u32::MAX, max_delay: Duration::MAX, ..RetryPolicy::default() };
        assert!(policy.delay(u32::MAX - 1, None).is_some());
    }

    #[test]
    fn retry_after_is_seconds_or_nothing() {
        assert_eq!(parse_retry_after(" 120 "), Some(Duration::from_mins(2)));
        for value in ["", "-1", "1.5", "Fri, 31 Dec 1999 23:59:59 GMT", "99999999999999999999"] {
            assert_eq!(parse_retry_after(value), None, "{value}");
        }
    }

    #[test]
    fn only_statuses_that_pass_are_retried() {
        assert!([429, 502, 503, 504].into_iter().all(is_retryable));
        assert!(![200, 400, 404, 422, 500, 507].into_iter().any(is_retryable));
    }
}
