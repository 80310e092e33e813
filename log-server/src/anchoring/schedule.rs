//! When the newest checkpoint is stamped. Nothing here waits or asks anybody: instants in, instants out.
//!
//! A checkpoint is worth a token when it covers entries that no anchored checkpoint covers, *other than the
//! log's own statements about its tokens*. Every token becomes such a statement and so makes a new
//! checkpoint; if that were reason enough, an idle log would be stamped for ever. So an idle log rests, and
//! its last statements are covered with whatever comes next.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::time::Instant;

use crate::checkpoints::Newest;

/// The rules of the configuration.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rules {
    /// How long an entry waits for its token, and with it those that come meanwhile.
    pub interval: Duration,
    /// Entries that don't wait for the interval once they are so many; 0 for no such number.
    pub after_entries: u64,
    /// How long before the certificates of the newest token run out a new one is fetched.
    pub renew_before: Duration,
}

/// Between two rounds that `after_entries` brings about.
const LEAST_PAUSE: Duration = Duration::from_secs(1);

/// Between two tries to renew, at most; also how long a look at the wall clock is believed.
const RENEWAL_PAUSE: Duration = Duration::from_hours(1);

/// What is covered, and when that has to change.
#[derive(Debug)]
pub(super) struct Schedule {
    rules: Rules,
    /// Entries that the newest anchored checkpoint covers.
    covered: u64,
    /// Indexes of the log's own statements from there on.
    own: BTreeSet<u64>,
    size: u64,
    /// Since when there are entries of others that are not covered.
    waiting_since: Option<Instant>,
    /// The last round began then.
    last_round: Option<Instant>,
    /// No round before that, whatever waits.
    not_before: Option<Instant>,
    /// The newest anchored checkpoint.
    newest: Option<Newest>,
    last_renewal: Option<Instant>,
}

impl Schedule {
    /// A log whose newest anchored checkpoint is this one.
    pub(super) fn new(rules: Rules, newest: Option<Newest>) -> Self {
        let covered = newest.map_or(0, |newest| newest.size);
        Self {
            rules,
            covered,
            own: BTreeSet::new(),
            size: covered,
            waiting_since: None,
            last_round: None,
            not_before: None,
            newest,
            last_renewal: None,
        }
    }

    /// The log has grown to `size`.
    pub(super) fn grown(&mut self, size: u64, now: Instant) {
        self.size = size;
        self.look(now);
    }

    /// The entry at `index` is a statement of the log about one of its tokens.
    pub(super) fn own_statement(&mut self, index: u64, now: Instant) {
        if index >= self.covered {
            self.own.insert(index);
        }
        self.look(now);
    }

    /// The log has ended. Its own last statements wait like any other entry: nothing comes that covers them.
    pub(super) fn ended(&mut self, now: Instant) {
        self.own.clear();
        self.look(now);
    }

    /// A quorum has stamped a checkpoint.
    pub(super) fn anchored(&mut self, newest: Newest, now: Instant) {
        self.covered = newest.size;
        self.own = self.own.split_off(&newest.size);
        self.newest = Some(newest);
        // What came since then waits from now on.
        self.waiting_since = None;
        self.look(now);
    }

    /// A round begins.
    pub(super) fn round_begins(&mut self, now: Instant, wall: i64) {
        self.last_round = Some(now);
        if self.renewal_is_due(wall) {
            self.last_renewal = Some(now);
        }
    }

    /// A round has ended. When some answered and were no quorum, they are not asked again at once.
    pub(super) fn round_ended(&mut self, too_few: bool, now: Instant) {
        self.not_before = too_few.then(|| now + self.rules.interval);
    }

    /// Entries of others that no anchored checkpoint covers.
    pub(super) fn waiting(&self) -> u64 {
        let own = self.own.range(..self.size).count();
        let own = u64::try_from(own).unwrap_or(u64::MAX);
        self.size.saturating_sub(self.covered).saturating_sub(own)
    }

    /// Since when the oldest of them waits.
    pub(super) const fn waiting_since(&self) -> Option<Instant> {
        self.waiting_since
    }

    /// Whether it has to be told of every growth of the log.
    pub(super) const fn counts(&self) -> bool {
        self.waiting_since.is_none() || self.rules.after_entries > 0
    }

    /// When the next round is due. In the past: at once. None: not before the log grows. `wall` is the
    /// present time of day, Unix seconds.
    pub(super) fn due(&self, now: Instant, wall: i64) -> Option<Instant> {
        let waited = self.waiting_since.map(|since| {
            let many = self.rules.after_entries;
            let due = since + self.rules.interval;
            if many > 0 && self.waiting() >= many {
                let pause = LEAST_PAUSE.min(self.rules.interval);
                due.min(self.last_round.map_or(now, |last| last + pause))
            } else {
                due
            }
        });
        let waited =
            waited.map(|due| self.not_before.map_or(due, |not_before| due.max(not_before)));
        match (waited, self.renewal(now, wall)) {
            (Some(waited), Some(renewal)) => Some(waited.min(renewal)),
            (waited, renewal) => waited.or(renewal),
        }
    }

    /// Whether the newest token has to be renewed.
    fn renewal_is_due(&self, wall: i64) -> bool {
        self.newest.is_some_and(|newest| wall >= self.renew_at(newest))
    }

    /// When to renew a token: `renew_before` its end, but in the last third of its life in any case, so that
    /// certificates that are shorter-lived than that aren't renewed all the time.
    fn renew_at(&self, newest: Newest) -> i64 {
        let before = i64::try_from(self.rules.renew_before.as_secs()).unwrap_or(i64::MAX);
        let third = newest.good_until.saturating_sub(newest.stamped).max(0) / 3;
        newest.good_until.saturating_sub(before.min(third))
    }

    /// When to renew, or to look again whether to. What an authority gives may run out no later than what
    /// there is, if it still uses the same certificate; so the tries come at ever shorter times, but never
    /// faster than rounds do.
    fn renewal(&self, now: Instant, wall: i64) -> Option<Instant> {
        let newest = self.newest?;
        if !self.renewal_is_due(wall) {
            let left = self.renew_at(newest).saturating_sub(wall);
            return Some(now + seconds(left).min(RENEWAL_PAUSE));
        }
        let Some(last) = self.last_renewal else { return Some(now) };
        let left = seconds(newest.good_until.saturating_sub(wall));
        let pause = if left.is_zero() { RENEWAL_PAUSE } else { left / 2 };
        Some(last + pause.min(RENEWAL_PAUSE).max(self.rules.interval))
    }

    fn look(&mut self, now: Instant) {
        if self.waiting() == 0 {
            self.waiting_since = None;
        } else {
            self.waiting_since.get_or_insert(now);
        }
    }
}

fn seconds(count: i64) -> Duration {
    Duration::from_secs(u64::try_from(count).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);

    /// The checkpoint of `size`, stamped at 0 and good for some time.
    fn newest(size: u64, good_until: i64) -> Newest {
        Newest { size, good_until, stamped: 0 }
    }

    fn rules(after_entries: u64) -> Rules {
        Rules { interval: 10 * S, after_entries, renew_before: 100 * S }
    }

    #[test]
    fn entries_wait_for_the_interval_and_their_own_statements_for_nothing() {
        let start = Instant::now();
        let mut schedule = Schedule::new(rules(0), None);
        assert_eq!(schedule.due(start, 0), None);
        schedule.grown(3, start + S);
        schedule.grown(5, start + 4 * S);
        assert_eq!(schedule.due(start + 4 * S, 0), Some(start + 11 * S));
        schedule.round_begins(start + 11 * S, 0);
        schedule.grown(6, start + 12 * S);
        schedule.anchored(newest(5, 10_000), start + 12 * S);
        // One came meanwhile and waits for its own interval.
        assert_eq!((schedule.waiting(), schedule.waiting_since()), (1, Some(start + 12 * S)));
        schedule.round_ended(false, start + 12 * S);
        assert_eq!(schedule.due(start + 12 * S, 0), Some(start + 22 * S));
        schedule.grown(7, start + 12 * S);
        schedule.own_statement(6, start + 12 * S);
        assert_eq!(schedule.waiting(), 1);
        schedule.anchored(newest(6, 10_000), start + 23 * S);
        // What is left is the statement of the token.
        assert_eq!((schedule.waiting(), schedule.waiting_since()), (0, None));
        assert!(schedule.counts());
    }

    #[test]
    fn an_idle_log_is_never_stamped_again() {
        let start = Instant::now();
        let mut schedule = Schedule::new(rules(1), Some(newest(5, 1_000_000)));
        schedule.grown(6, start);
        schedule.own_statement(5, start);
        for hours in 0..100 {
            let now = start + hours * RENEWAL_PAUSE;
            // Nothing but a look at the time of day.
            assert_eq!(schedule.due(now, 0), Some(now + RENEWAL_PAUSE));
        }
    }

    #[test]
    fn what_a_log_ends_with_is_stamped_too() {
        let start = Instant::now();
        let mut schedule = Schedule::new(rules(0), Some(newest(5, 1_000_000)));
        schedule.grown(6, start);
        schedule.own_statement(5, start);
        assert_eq!(schedule.waiting_since(), None);
        schedule.ended(start + S);
        assert_eq!(schedule.due(start + S, 0), Some(start + 11 * S));
        schedule.anchored(newest(6, 1_000_000), start + 2 * S);
        schedule.ended(start + 3 * S);
        assert_eq!(schedule.waiting_since(), None);
    }

    #[test]
    fn many_entries_do_not_wait_but_leave_a_pause() {
        let start = Instant::now();
        let mut schedule = Schedule::new(rules(100), None);
        schedule.grown(99, start);
        assert_eq!(schedule.due(start, 0), Some(start + 10 * S));
        schedule.grown(100, start + S);
        assert_eq!(schedule.due(start + S, 0), Some(start + S));
        schedule.round_begins(start + S, 0);
        schedule.anchored(newest(100, 10_000), start + S);
        schedule.round_ended(false, start + S);
        schedule.grown(900, start + S);
        assert_eq!(schedule.due(start + S, 0), Some(start + 2 * S));
    }

    #[test]
    fn a_round_without_a_quorum_is_repeated_after_the_interval() {
        let start = Instant::now();
        let mut schedule = Schedule::new(rules(0), None);
        schedule.grown(1, start);
        schedule.round_begins(start + 10 * S, 0);
        schedule.round_ended(true, start + 12 * S);
        assert_eq!(schedule.due(start + 12 * S, 0), Some(start + 22 * S));
        // Nobody answered: whoever is asked decides when.
        schedule.round_ended(false, start + 22 * S);
        assert_eq!(schedule.due(start + 22 * S, 0), Some(start + 10 * S));
    }

    #[test]
    fn renewal_comes_before_the_end_and_does_not_hammer() {
        let start = Instant::now();
        let mut schedule = Schedule::new(rules(0), Some(newest(5, 1_000)));
        schedule.grown(5, start);
        assert_eq!(schedule.due(start, 700), Some(start + 200 * S));
        assert!(!schedule.renewal_is_due(899) && schedule.renewal_is_due(900));
        assert_eq!(schedule.due(start, 900), Some(start));
        schedule.round_begins(start, 900);
        // Nobody answered.
        assert_eq!(schedule.due(start, 900), Some(start + 50 * S));
        // The authority's certificate is still the old one: a third of what is left.
        schedule.anchored(Newest { stamped: 910, ..newest(5, 1_000) }, start + 10 * S);
        assert_eq!(schedule.due(start + 10 * S, 910), Some(start + 70 * S));
        schedule.round_begins(start + 70 * S, 970);
        assert_eq!(schedule.due(start + 70 * S, 970), Some(start + 85 * S));
        // Never faster than rounds.
        schedule.round_begins(start + 95 * S, 995);
        assert_eq!(schedule.due(start + 95 * S, 995), Some(start + 105 * S));
        // Too late: it goes on at a slow pace.
        assert_eq!(schedule.due(start + 105 * S, 1_005), Some(start + 95 * S + RENEWAL_PAUSE));
        // A new certificate at last.
        schedule.anchored(newest(5, 100_000), start + 106 * S);
        assert_eq!(schedule.due(start, 1_006), Some(start + RENEWAL_PAUSE));
    }

    #[test]
    fn certificates_of_hours_are_renewed_in_their_last_third() {
        let start = Instant::now();
        let rules = Rules { renew_before: 1_000_000 * S, ..rules(0) };
        let mut schedule = Schedule::new(rules, Some(newest(5, 3_000)));
        schedule.grown(5, start);
        assert_eq!(schedule.due(start, 0), Some(start + 2_000 * S));
        assert_eq!(schedule.due(start, 2_000), Some(start));
    }

    #[test]
    fn nothing_is_renewed_before_there_is_something() {
        let start = Instant::now();
        assert_eq!(Schedule::new(rules(0), None).due(start, 1_000), None);
    }
}
