//! What the checkpoint witness measures. The label `kind` has the three kinds of statements, `code` the closed
//! set of refusals; no trail and no submitter is a label.

use std::time::Duration;

use anchorlog_proto::jp::witness::StatementKind;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use super::Level;

/// Counters and gauges of the checkpoint witness.
#[derive(Debug)]
pub struct CheckpointWitnessMetrics {
    statements: Family<KindLabel, Counter>,
    submissions: Family<AnswerLabel, Counter>,
    kept: Level,
    trails: Level,
    stopped: Level,
    unentered: Level,
    persist: Histogram,
}

impl Default for CheckpointWitnessMetrics {
    fn default() -> Self {
        Self {
            statements: Family::default(),
            submissions: Family::default(),
            kept: Level::default(),
            trails: Level::default(),
            stopped: Level::default(),
            unentered: Level::default(),
            // 100 µs … 3 s.
            persist: Histogram::new(exponential_buckets(100e-6, 2.0, 16)),
        }
    }
}

impl CheckpointWitnessMetrics {
    /// Shows what the files hold.
    pub fn begin(&self, trails: usize, statements: u64) {
        for kind in StatementKind::ALL {
            self.statements.get_or_create(&KindLabel { kind: kind.as_str() }).inc_by(0);
        }
        self.trails.set(u64::try_from(trails).unwrap_or(u64::MAX));
        self.kept.set(statements);
        self.stopped.set(0);
    }

    /// Records a statement that was signed, kept and marked, and how long that took.
    pub fn kept(&self, kind: StatementKind, trails: usize, took: Duration) {
        self.statements.get_or_create(&KindLabel { kind: kind.as_str() }).inc();
        self.trails.set(u64::try_from(trails).unwrap_or(u64::MAX));
        self.kept.inc();
        self.persist.observe(took.as_secs_f64());
    }

    /// Says whether nothing is signed until a restart.
    pub fn set_stopped(&self, is_stopped: bool) {
        self.stopped.set(u64::from(is_stopped));
    }

    /// Sets how many bytes of published statements are not in the log yet.
    pub fn set_unentered(&self, bytes: u64) {
        self.unentered.set(bytes);
    }

    /// Records the answer to a submission: `statement`, or the code of a problem.
    pub fn answered(&self, code: &'static str) {
        self.submissions.get_or_create(&AnswerLabel { code }).inc();
    }

    pub(super) fn register(&self, registry: &mut Registry) {
        let registry = registry.sub_registry_with_prefix("checkpoint_witness");
        registry.register(
            "statements",
            "Statements signed since the start, by kind",
            self.statements.clone(),
        );
        registry.register("submissions", "Submissions, by the answer", self.submissions.clone());
        registry.register("kept", "Statements kept", self.kept.clone());
        registry.register("trails", "Trails with statements", self.trails.clone());
        registry.register(
            "stopped",
            "1 when a statement could not be kept and nothing is signed until a restart",
            self.stopped.clone(),
        );
        registry.register(
            "unentered_bytes",
            "Published statements not yet in the log, in bytes",
            self.unentered.clone(),
        );
        registry.register_with_unit(
            "persist",
            "Time from the signature to the mark",
            Unit::Seconds,
            self.persist.clone(),
        );
    }
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct KindLabel {
    kind: &'static str,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct AnswerLabel {
    code: &'static str,
}
