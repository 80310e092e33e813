//! What the witnessing of a log measures. The label `witness` has the names of the policy and no others.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use super::Level;
use crate::checkpoints::Witnessed;

/// Counters and gauges of witnessing.
#[derive(Debug)]
pub struct WitnessingMetrics {
    offers: Family<OfferLabels, Counter>,
    requests: Family<WitnessLabel, Counter>,
    answer_seconds: Family<WitnessLabel, Histogram, fn() -> Histogram>,
    known: Family<WitnessLabel, Level>,
    /// Unix seconds of the last cosignature of each witness, and of the newest witnessed checkpoint.
    last: Mutex<(BTreeMap<String, i64>, Option<i64>)>,
    age: Family<WitnessLabel, Level>,
    clock_offset: Family<WitnessLabel, Gauge<f64, std::sync::atomic::AtomicU64>>,
    clock_alarms: Family<WitnessLabel, Counter>,
    alarms: Family<WitnessLabel, Counter>,
    alarm: Level,
    witnessed: Level,
    lag: Level,
    witnessed_age: Level,
}

impl Default for WitnessingMetrics {
    fn default() -> Self {
        let answers = || Histogram::new(exponential_buckets(0.004, 2.0, 13));
        Self {
            offers: Family::default(),
            requests: Family::default(),
            answer_seconds: Family::new_with_constructor(answers),
            known: Family::default(),
            last: Mutex::default(),
            age: Family::default(),
            clock_offset: Family::default(),
            clock_alarms: Family::default(),
            alarms: Family::default(),
            alarm: Level::default(),
            witnessed: Level::default(),
            lag: Level::default(),
            witnessed_age: Level::default(),
        }
    }
}

impl WitnessingMetrics {
    /// Shows a witness from the start, with the size and the time of its last cosignature if they are known.
    pub fn begin(&self, witness: &str, latest: Option<(u64, i64)>) {
        for outcome in [COSIGNED, FAILED] {
            self.offers.get_or_create(&offer(witness, outcome)).inc_by(0);
        }
        self.requests.get_or_create(&label(witness)).inc_by(0);
        self.clock_alarms.get_or_create(&label(witness)).inc_by(0);
        self.alarms.get_or_create(&label(witness)).inc_by(0);
        if let Some((size, received)) = latest {
            self.known.get_or_create(&label(witness)).set(size);
            self.set_last(witness, received);
        }
    }

    /// Records requests sent to a witness, and the size that it is known, or taken, to know.
    pub fn asked(&self, witness: &str, requests: u32, known: u64) {
        self.requests.get_or_create(&label(witness)).inc_by(u64::from(requests));
        self.known.get_or_create(&label(witness)).set(known);
    }

    /// Records how long a witness took for a cosignature.
    pub fn answered(&self, witness: &str, took: Duration) {
        self.answer_seconds.get_or_create(&label(witness)).observe(took.as_secs_f64());
    }

    /// Records a cosignature, verified and durable, that was received at that time (Unix seconds).
    pub fn cosigned(&self, witness: &str, received: i64) {
        self.offers.get_or_create(&offer(witness, COSIGNED)).inc();
        self.set_last(witness, received);
    }

    /// Records an offer that brought no cosignature.
    pub fn failed(&self, witness: &str) {
        self.offers.get_or_create(&offer(witness, FAILED)).inc();
    }

    /// Records that a witness knows something that speaks against the log.
    pub fn alarm(&self, witness: &str) {
        self.alarms.get_or_create(&label(witness)).inc();
        self.alarm.set(1);
    }

    /// Sets by how much a witness' clock is ahead of ours, in milliseconds.
    pub fn set_clock_offset(&self, witness: &str, milliseconds: i64) {
        // Beyond 24 days it saturates, which says as much.
        let most = if milliseconds < 0 { i32::MIN } else { i32::MAX };
        let milliseconds = i32::try_from(milliseconds).unwrap_or(most);
        self.clock_offset.get_or_create(&label(witness)).set(f64::from(milliseconds) / 1000.0);
    }

    /// Records a cosignature whose time differs too much from ours.
    pub fn clock_alarm(&self, witness: &str) {
        self.clock_alarms.get_or_create(&label(witness)).inc();
    }

    /// Sets the newest witnessed checkpoint.
    pub fn set_witnessed(&self, witnessed: Witnessed) {
        self.witnessed.set(witnessed.size);
        self.last.lock().unwrap_or_else(PoisonError::into_inner).1 = Some(witnessed.received);
    }

    /// Works out what depends on the present: `now` in Unix seconds, in a log of `size` entries.
    pub(super) fn refresh(&self, now: i64, size: u64) {
        self.lag.set(size.saturating_sub(self.witnessed.get()));
        let age = |last: i64| u64::try_from(now.saturating_sub(last)).unwrap_or_default();
        let known = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        for (witness, last) in &known.0 {
            self.age.get_or_create(&label(witness)).set(age(*last));
        }
        self.witnessed_age.set(known.1.map_or(0, age));
    }

    pub(super) fn register(&self, registry: &mut Registry) {
        registry.register(
            "witness_offers",
            "Checkpoints offered, by witness and how it ended",
            self.offers.clone(),
        );
        registry.register(
            "witness_requests",
            "Requests sent, which count against a witness' daily allowance",
            self.requests.clone(),
        );
        registry.register_with_unit(
            "witness_answer",
            "Time for one cosignature, from the request to the verified line",
            Unit::Seconds,
            self.answer_seconds.clone(),
        );
        registry.register(
            "witness_known_size",
            "Entries of the newest checkpoint that a witness knows",
            self.known.clone(),
        );
        registry.register_with_unit(
            "witness_age",
            "Time since a witness' last cosignature was received",
            Unit::Seconds,
            self.age.clone(),
        );
        registry.register_with_unit(
            "witness_clock_offset",
            "By how much a witness' clock was ahead when it last answered",
            Unit::Seconds,
            self.clock_offset.clone(),
        );
        registry.register(
            "witness_clock_alarms",
            "Cosignatures whose time differs from ours by more than the limit",
            self.clock_alarms.clone(),
        );
        registry.register(
            "witness_alarms",
            "Answers that speak against the log: a larger size, another tree",
            self.alarms.clone(),
        );
        registry.register(
            "witness_alarm",
            "1 while nothing more is called witnessed because of an alarm",
            self.alarm.clone(),
        );
        registry.register(
            "witnessed_size",
            "Entries that the newest witnessed checkpoint covers",
            self.witnessed.clone(),
        );
        registry.register(
            "witness_lag",
            "Published entries that no witnessed checkpoint covers",
            self.lag.clone(),
        );
        registry.register_with_unit(
            "witnessed_age",
            "Time since the newest witnessed checkpoint was; 0 before the first",
            Unit::Seconds,
            self.witnessed_age.clone(),
        );
    }

    fn set_last(&self, witness: &str, last: i64) {
        let mut known = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        known.0.insert(witness.to_owned(), last);
    }
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct OfferLabels {
    witness: String,
    outcome: &'static str,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct WitnessLabel {
    witness: String,
}

fn label(witness: &str) -> WitnessLabel {
    WitnessLabel { witness: witness.to_owned() }
}

fn offer(witness: &str, outcome: &'static str) -> OfferLabels {
    OfferLabels { witness: witness.to_owned(), outcome }
}

const COSIGNED: &str = "cosigned";
const FAILED: &str = "failed";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Format, Metrics};

    #[test]
    fn every_family_of_witnessing_is_exposed() {
        let metrics = Metrics::new();
        let witnessing = metrics.witnessing();
        witnessing.begin("b", None);
        witnessing.begin("a", Some((5, 0)));
        witnessing.asked("a", 3, 7);
        witnessing.answered("a", Duration::from_millis(5));
        witnessing.cosigned("a", i64::MAX);
        witnessing.failed("b");
        witnessing.alarm("b");
        witnessing.set_clock_offset("a", -1500);
        witnessing.set_clock_offset("b", i64::MAX);
        witnessing.clock_alarm("a");
        witnessing.set_witnessed(Witnessed { size: 7, received: i64::MAX });
        metrics.set_checkpoint(10, std::time::SystemTime::now());
        let text = metrics.encode(Format::Prometheus);
        for line in [
            "anchorlog_witness_offers_total{witness=\"a\",outcome=\"cosigned\"} 1",
            "anchorlog_witness_offers_total{witness=\"b\",outcome=\"failed\"} 1",
            "anchorlog_witness_offers_total{witness=\"b\",outcome=\"cosigned\"} 0",
            "anchorlog_witness_requests_total{witness=\"a\"} 3",
            "anchorlog_witness_answer_seconds_count{witness=\"a\"} 1",
            "anchorlog_witness_known_size{witness=\"a\"} 7",
            "anchorlog_witness_age_seconds{witness=\"a\"} 0",
            "anchorlog_witness_clock_offset_seconds{witness=\"a\"} -1.5",
            "anchorlog_witness_clock_alarms_total{witness=\"a\"} 1",
            "anchorlog_witness_alarms_total{witness=\"b\"} 1",
            "anchorlog_witness_alarm 1",
            "anchorlog_witnessed_size 7",
            "anchorlog_witness_lag 3",
            "anchorlog_witnessed_age_seconds 0",
        ] {
            assert!(text.contains(line), "{line} is not in:\n{text}");
        }
        // Nobody's age is made up.
        assert!(!text.contains("witness_age_seconds{witness=\"b\"}"), "{text}");
    }
}
