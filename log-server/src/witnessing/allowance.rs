//! How often a witness may be asked.
//!
//! Witnesses say how many requests a day they take from a log. No window of 24 hours has more than that: a
//! twenty-fourth of them may come in a burst, and the others are let out evenly. After a restart, which knows
//! nothing of the hours before, the burst is small.

use std::time::Duration;

use tokio::time::Instant;

/// The requests that one witness may be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    /// Between two requests when the burst is used up.
    period: Duration,
    /// How far the requests sent may be ahead of the even pace.
    burst: Duration,
    /// When all requests so far would have been sent at the even pace.
    paced: Instant,
}

impl Allowance {
    /// An allowance of `daily` requests, 1 at least.
    pub(super) fn new(daily: u32, now: Instant) -> Self {
        let burst = (daily / 24).max(1);
        let period = DAY / daily.saturating_sub(burst).max(1);
        let at_start = burst.min(BURST_AT_START);
        Self { period, burst: period * (burst - 1), paced: now + period * (burst - at_start) }
    }

    /// When the next request may be sent: now, if that isn't later.
    pub(super) fn ready_at(&self, now: Instant) -> Instant {
        self.paced.checked_sub(self.burst).map_or(now, |ready| ready.max(now))
    }

    /// How many requests may be sent now.
    pub(super) fn available(&self, now: Instant) -> u32 {
        let end = now + self.burst + self.period;
        let room = end.saturating_duration_since(self.paced.max(now));
        u32::try_from(room.as_nanos() / self.period.as_nanos().max(1)).unwrap_or(u32::MAX)
    }

    /// Records requests that were sent.
    pub(super) fn charge(&mut self, requests: u32, now: Instant) {
        self.paced = self.paced.max(now) + self.period * requests;
    }
}

const DAY: Duration = Duration::from_hours(24);

/// Requests of the burst after a start: to learn what a witness knows, and for a few retries.
const BURST_AT_START: u32 = 10;

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    #[test]
    fn no_day_has_more_requests_than_allowed() {
        for daily in [2, 24, 100, 8640] {
            let start = Instant::now();
            let mut allowance = Allowance::new(daily, start);
            let mut sent: VecDeque<Instant> = VecDeque::new();
            let mut now = start;
            let mut total = 0;
            while now < start + 3 * DAY {
                now = allowance.ready_at(now);
                assert!(allowance.available(now) >= 1);
                allowance.charge(1, now);
                sent.push_back(now);
                total += 1;
                while sent.front().is_some_and(|first| now >= *first + DAY) {
                    sent.pop_front();
                }
                assert!(sent.len() <= usize::try_from(daily).unwrap_or_default(), "{daily}");
            }
            // And it is made use of.
            assert!(total >= daily * 2, "{daily}: {total}");
        }
    }

    #[test]
    fn a_start_is_modest_and_the_burst_comes_back() {
        let start = Instant::now();
        let mut allowance = Allowance::new(8640, start);
        assert_eq!(allowance.available(start), BURST_AT_START);
        allowance.charge(BURST_AT_START, start);
        assert_eq!(allowance.available(start), 0);
        assert!(allowance.ready_at(start) > start);
        // After a quiet day all of it.
        assert_eq!(allowance.available(start + DAY), 360);
        // One a day is one a day.
        let mut one = Allowance::new(1, start);
        assert_eq!(one.available(start), 1);
        one.charge(1, start);
        assert_eq!(one.ready_at(start), start + DAY);
    }
}
