//! What the anchoring of a log measures. The label `operator` has the names of the configuration and no
//! others.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use super::Level;

/// Counters and gauges of anchoring.
#[derive(Debug, Default)]
pub struct AnchoringMetrics {
    attempts: Family<AttemptLabels, Counter>,
    /// Unix seconds of the last token of each operator.
    last: Mutex<BTreeMap<String, i64>>,
    age: Family<OperatorLabel, Level>,
    clock_offset: Family<OperatorLabel, Gauge<f64, std::sync::atomic::AtomicU64>>,
    clock_alarms: Family<OperatorLabel, Counter>,
    anchored: Level,
    lag: Level,
    good_until: Gauge,
}

impl AnchoringMetrics {
    /// Shows an operator from the start, with the time of its last token if it is known.
    pub fn begin(&self, operator: &str, last_token: Option<i64>) {
        for outcome in [STORED, FAILED] {
            let labels = AttemptLabels { operator: operator.to_owned(), outcome };
            self.attempts.get_or_create(&labels).inc_by(0);
        }
        self.clock_alarms.get_or_create(&label(operator)).inc_by(0);
        if let Some(last) = last_token {
            self.set_last(operator, last);
        }
    }

    /// Records a token, verified and durable, that was received at that time (Unix seconds).
    pub fn stored(&self, operator: &str, received: i64) {
        let labels = AttemptLabels { operator: operator.to_owned(), outcome: STORED };
        self.attempts.get_or_create(&labels).inc();
        self.set_last(operator, received);
    }

    /// Records an attempt that brought no token.
    pub fn failed(&self, operator: &str) {
        let labels = AttemptLabels { operator: operator.to_owned(), outcome: FAILED };
        self.attempts.get_or_create(&labels).inc();
    }

    /// Sets by how much an operator's clock is ahead of ours, in milliseconds.
    pub fn set_clock_offset(&self, operator: &str, milliseconds: i64) {
        // Beyond 24 days it saturates, which says as much.
        let milliseconds = i32::try_from(milliseconds).unwrap_or(if milliseconds < 0 {
            i32::MIN
        } else {
            i32::MAX
        });
        self.clock_offset.get_or_create(&label(operator)).set(f64::from(milliseconds) / 1000.0);
    }

    /// Records a token whose time differs too much from ours.
    pub fn clock_alarm(&self, operator: &str) {
        self.clock_alarms.get_or_create(&label(operator)).inc();
    }

    /// Sets the size of the newest anchored checkpoint, and until when its tokens are good (Unix seconds).
    pub fn set_anchored(&self, size: u64, good_until: i64) {
        self.anchored.set(size);
        self.good_until.set(good_until);
    }

    /// Works out what depends on the present: `now` in Unix seconds, in a log of `size` entries.
    pub(super) fn refresh(&self, now: i64, size: u64) {
        self.lag.set(size.saturating_sub(self.anchored.get()));
        for (operator, last) in &*self.last.lock().unwrap_or_else(PoisonError::into_inner) {
            let age = u64::try_from(now.saturating_sub(*last)).unwrap_or_default();
            self.age.get_or_create(&label(operator)).set(age);
        }
    }

    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register(
            "anchor_attempts",
            "Tokens asked for, by operator and how it ended",
            self.attempts.clone(),
        );
        registry.register_with_unit(
            "anchor_age",
            "Time since an operator's last token was received",
            Unit::Seconds,
            self.age.clone(),
        );
        registry.register_with_unit(
            "anchor_clock_offset",
            "By how much an operator's clock was ahead when it last answered",
            Unit::Seconds,
            self.clock_offset.clone(),
        );
        registry.register(
            "anchor_clock_alarms",
            "Tokens whose time differs from ours by more than the limit",
            self.clock_alarms.clone(),
        );
        registry.register(
            "anchored_size",
            "Entries that the newest anchored checkpoint covers",
            self.anchored.clone(),
        );
        registry.register(
            "anchor_lag",
            "Published entries that no anchored checkpoint covers",
            self.lag.clone(),
        );
        registry.register_with_unit(
            "anchor_good_until",
            "When the certificates behind the newest anchored checkpoint run out, in Unix time; 0 before the first",
            Unit::Seconds,
            self.good_until.clone(),
        );
    }

    fn set_last(&self, operator: &str, last: i64) {
        let mut known = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(operator.to_owned(), last);
    }
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct AttemptLabels {
    operator: String,
    outcome: &'static str,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct OperatorLabel {
    operator: String,
}

fn label(operator: &str) -> OperatorLabel {
    OperatorLabel { operator: operator.to_owned() }
}

const STORED: &str = "stored";
const FAILED: &str = "failed";

#[cfg(test)]
mod tests {
    use crate::metrics::{Format, Metrics};

    #[test]
    fn every_family_of_anchoring_is_exposed() {
        let metrics = Metrics::new();
        let anchoring = metrics.anchoring();
        anchoring.begin("b", None);
        anchoring.begin("a", Some(0));
        anchoring.stored("a", i64::MAX);
        anchoring.failed("b");
        anchoring.set_clock_offset("a", -1500);
        anchoring.set_clock_offset("b", i64::MAX);
        anchoring.clock_alarm("a");
        anchoring.set_anchored(7, 1_900_000_000);
        metrics.set_checkpoint(10, std::time::SystemTime::now());
        let text = metrics.encode(Format::Prometheus);
        for line in [
            "anchorlog_anchor_attempts_total{operator=\"a\",outcome=\"stored\"} 1",
            "anchorlog_anchor_attempts_total{operator=\"b\",outcome=\"failed\"} 1",
            "anchorlog_anchor_attempts_total{operator=\"b\",outcome=\"stored\"} 0",
            "anchorlog_anchor_age_seconds{operator=\"a\"} 0",
            "anchorlog_anchor_clock_offset_seconds{operator=\"a\"} -1.5",
            "anchorlog_anchor_clock_alarms_total{operator=\"a\"} 1",
            "anchorlog_anchored_size 7",
            "anchorlog_anchor_lag 3",
            "anchorlog_anchor_good_until_seconds 1900000000",
        ] {
            assert!(text.contains(line), "{line} is not in:\n{text}");
        }
        // Nobody's age is made up.
        assert!(!text.contains("anchor_age_seconds{operator=\"b\"}"), "{text}");
    }
}
