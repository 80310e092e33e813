//! What the log tells its operator: counters, gauges and histograms for Prometheus.
//!
//! [`Metrics`] is one cheap handle that every part of the server holds and feeds. All label values come
//! from closed sets (submission outcomes, route templates, status classes), so no client can make the
//! number of series grow. This is not a tracing facility: single requests are in the structured log.

mod anchoring;
mod checkpoint_witness;
mod witnessing;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prometheus_client::encoding::{EncodeLabelSet, prometheus_text, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

pub use self::anchoring::AnchoringMetrics;
pub use self::checkpoint_witness::CheckpointWitnessMetrics;
pub use self::witnessing::WitnessingMetrics;

/// A shared handle on all measurements of one server. Cloning it is one reference count.
#[derive(Clone, Debug)]
pub struct Metrics(Arc<Inner>);

impl Metrics {
    /// Makes a fresh, empty set of measurements with its own registry.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(Inner::new()))
    }

    /// Counts `statements` statements that ended with `outcome`.
    pub fn submitted(&self, outcome: Outcome, statements: u64) {
        self.0
            .submissions
            .get_or_create(&OutcomeLabel { outcome: outcome.as_str() })
            .inc_by(statements);
    }

    /// Records one committed batch: how many new entries it brought and how long its one fsync took.
    pub fn batch_committed(&self, entries: u64, fsync: Duration) {
        self.0.batch_entries.observe(lossy(entries));
        self.0.fsync_seconds.observe(fsync.as_secs_f64());
    }

    /// Records a batch that could not be committed; nothing of it is in the log.
    pub fn batch_failed(&self) {
        self.0.batches_failed.inc();
    }

    /// Sets how many statements wait for the sequencer now.
    pub fn set_queue_depth(&self, statements: u64) {
        self.0.queue_depth.set(statements);
    }

    /// Sets the published tree size and the time at which its checkpoint was signed.
    pub fn set_checkpoint(&self, size: u64, signed: SystemTime) {
        self.0.tree_size.set(size);
        let seconds = signed.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        self.0.checkpoint_signed.set(seconds);
    }

    /// Sets how many entries are in the flat files; the rest of the tree is in the write-ahead log only.
    pub fn set_materialized(&self, size: u64) {
        self.0.materialized.set(size);
    }

    /// Sets how many entries the derived index covers.
    pub fn set_indexed(&self, size: u64) {
        self.0.indexed.set(size);
    }

    /// What the anchoring of the log measures.
    #[must_use]
    pub fn anchoring(&self) -> &AnchoringMetrics {
        &self.0.anchoring
    }

    /// What the checkpoint witness measures.
    #[must_use]
    pub fn checkpoint_witness(&self) -> &CheckpointWitnessMetrics {
        &self.0.checkpoint_witness
    }

    /// What the witnessing of the log measures.
    #[must_use]
    pub fn witnessing(&self) -> &WitnessingMetrics {
        &self.0.witnessing
    }

    /// Records one answered HTTP request. `route` is the route's template, never the path asked for.
    pub fn request(&self, route: &'static str, status: u16, took: Duration) {
        let labels = RequestLabels { route, status: status_class(status) };
        self.0.requests.get_or_create(&labels).inc();
        self.0.request_seconds.get_or_create(&RouteLabel { route }).observe(took.as_secs_f64());
    }

    /// Writes all measurements in the exposition format that `format` names.
    ///
    /// Values that are differences (index lag, checkpoint age) are computed here, at scrape time.
    #[must_use]
    pub fn encode(&self, format: Format) -> String {
        let inner = &*self.0;
        let size = inner.tree_size.get();
        inner.index_lag.set(size.saturating_sub(inner.indexed.get()));
        inner.materialize_lag.set(size.saturating_sub(inner.materialized.get()));
        let signed = inner.checkpoint_signed.get();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        inner.anchoring.refresh(i64::try_from(now).unwrap_or(i64::MAX), size);
        inner.witnessing.refresh(i64::try_from(now).unwrap_or(i64::MAX), size);
        if signed != 0 {
            inner.checkpoint_age.set(now.saturating_sub(signed));
        }
        let mut out = String::with_capacity(8 * 1024);
        // Writing into a String can't fail, and neither encoder has an error of its own.
        let _ = match format {
            Format::OpenMetrics => text::encode(&mut out, &inner.registry),
            Format::Prometheus => prometheus_text::encode(&mut out, &inner.registry),
        };
        out
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

/// How a submitted statement ended. One label value each, so the set stays closed.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// A new entry, durable and answered with its receipt.
    Accepted,
    /// The same leaf bytes were in the log before; the first receipt was returned.
    Duplicate,
    /// Unreadable or refused for what it says (400, 415, 422).
    Malformed,
    /// Over a size limit (413).
    TooLarge,
    /// Not permitted (401, 403).
    Forbidden,
    /// Over the submitter's rate (429).
    RateLimited,
    /// The queue was full or the server was stopping (503).
    Overloaded,
    /// The disk was full (507).
    DiskFull,
    /// An error of the server itself (500).
    Failed,
}

impl Outcome {
    /// Returns the label value.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Duplicate => "duplicate",
            Self::Malformed => "malformed",
            Self::TooLarge => "too_large",
            Self::Forbidden => "forbidden",
            Self::RateLimited => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::DiskFull => "disk_full",
            Self::Failed => "failed",
        }
    }
}

/// The exposition format of a scrape.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
    /// `OpenMetrics` 1.0 text.
    OpenMetrics,
    /// Prometheus text 0.0.4.
    Prometheus,
}

impl Format {
    /// Chooses by the `Accept` header: `OpenMetrics` for those who name it, Prometheus text for all others.
    #[must_use]
    pub fn negotiate(accept: Option<&str>) -> Self {
        match accept {
            Some(accept) if accept.contains("application/openmetrics-text") => Self::OpenMetrics,
            _ => Self::Prometheus,
        }
    }

    /// Returns the `Content-Type` of the format.
    #[must_use]
    pub fn content_type(self) -> &'static str {
        match self {
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Self::Prometheus => prometheus_text::CONTENT_TYPE,
        }
    }
}

type Level = Gauge<u64, AtomicU64>;

struct Inner {
    registry: Registry,
    submissions: Family<OutcomeLabel, Counter>,
    batch_entries: Histogram,
    batches_failed: Counter,
    fsync_seconds: Histogram,
    queue_depth: Level,
    tree_size: Level,
    materialized: Level,
    materialize_lag: Level,
    indexed: Level,
    index_lag: Level,
    /// Unix seconds; 0 until the first checkpoint is known.
    checkpoint_signed: Level,
    checkpoint_age: Level,
    anchoring: AnchoringMetrics,
    checkpoint_witness: CheckpointWitnessMetrics,
    witnessing: WitnessingMetrics,
    requests: Family<RequestLabels, Counter>,
    request_seconds: Family<RouteLabel, Histogram>,
}

impl Inner {
    fn new() -> Self {
        let mut inner = Self {
            registry: Registry::with_prefix("anchorlog"),
            submissions: Family::default(),
            // 1, 4, 16 … 16,384 entries.
            batch_entries: Histogram::new(exponential_buckets(1.0, 4.0, 8)),
            batches_failed: Counter::default(),
            // 50 µs … 1.6 s.
            fsync_seconds: Histogram::new(exponential_buckets(50e-6, 2.0, 16)),
            queue_depth: Level::default(),
            tree_size: Level::default(),
            materialized: Level::default(),
            materialize_lag: Level::default(),
            indexed: Level::default(),
            index_lag: Level::default(),
            checkpoint_signed: Level::default(),
            checkpoint_age: Level::default(),
            anchoring: AnchoringMetrics::default(),
            checkpoint_witness: CheckpointWitnessMetrics::default(),
            witnessing: WitnessingMetrics::default(),
            requests: Family::default(),
            request_seconds: Family::new_with_constructor(request_buckets),
        };
        inner.register();
        inner
    }

    fn register(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "submissions",
            "Statements submitted, by how they ended",
            self.submissions.clone(),
        );
        registry.register(
            "batch_entries",
            "New entries per committed batch",
            self.batch_entries.clone(),
        );
        registry.register(
            "batches_failed",
            "Batches that could not be committed",
            self.batches_failed.clone(),
        );
        registry.register_with_unit(
            "fsync",
            "Time of the one fsync of a batch",
            Unit::Seconds,
            self.fsync_seconds.clone(),
        );
        registry.register(
            "queue_depth",
            "Statements waiting for the sequencer",
            self.queue_depth.clone(),
        );
        registry.register("tree_size", "Entries in the published tree", self.tree_size.clone());
        registry.register(
            "materialized_size",
            "Entries in the flat files",
            self.materialized.clone(),
        );
        registry.register(
            "materialize_lag",
            "Published entries not yet in the flat files",
            self.materialize_lag.clone(),
        );
        registry.register("indexed_size", "Entries the derived index covers", self.indexed.clone());
        registry.register(
            "index_lag",
            "Published entries not yet in the derived index",
            self.index_lag.clone(),
        );
        registry.register_with_unit(
            "checkpoint_age",
            "Time since the newest checkpoint was signed",
            Unit::Seconds,
            self.checkpoint_age.clone(),
        );
        self.anchoring.register(registry);
        self.witnessing.register(registry);
        self.checkpoint_witness.register(registry);
        registry.register(
            "http_requests",
            "HTTP requests answered, by route template and status class",
            self.requests.clone(),
        );
        registry.register_with_unit(
            "http_request",
            "Time from the request's head to its answer's head, by route template",
            Unit::Seconds,
            self.request_seconds.clone(),
        );
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct OutcomeLabel {
    outcome: &'static str,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct RequestLabels {
    route: &'static str,
    status: &'static str,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct RouteLabel {
    route: &'static str,
}

/// 250 µs … 8 s; a long poll lands above.
fn request_buckets() -> Histogram {
    Histogram::new(exponential_buckets(250e-6, 2.0, 16))
}

fn status_class(status: u16) -> &'static str {
    match status / 100 {
        1 => "1xx",
        2 => "2xx",
        3 => "3xx",
        4 => "4xx",
        _ => "5xx",
    }
}

/// A count as a sample. Above 2^32 the sample saturates: no batch is that large.
fn lossy(count: u64) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_is_exposed_in_both_formats() {
        let metrics = Metrics::new();
        metrics.submitted(Outcome::Accepted, 3);
        metrics.batch_committed(3, Duration::from_micros(120));
        metrics.set_queue_depth(7);
        metrics.set_checkpoint(10, SystemTime::now() - Duration::from_secs(5));
        metrics.set_indexed(4);
        metrics.set_materialized(9);
        metrics.request("/v1/entries", 200, Duration::from_millis(1));
        for format in [Format::Prometheus, Format::OpenMetrics] {
            let text = metrics.encode(format);
            for line in [
                "anchorlog_submissions_total{outcome=\"accepted\"} 3",
                "anchorlog_batch_entries_sum 3.0",
                "anchorlog_fsync_seconds_count 1",
                "anchorlog_queue_depth 7",
                "anchorlog_tree_size 10",
                "anchorlog_index_lag 6",
                "anchorlog_materialize_lag 1",
                "anchorlog_http_requests_total{route=\"/v1/entries\",status=\"2xx\"} 1",
                "anchorlog_http_request_seconds_count{route=\"/v1/entries\"} 1",
            ] {
                assert!(text.contains(line), "{line} is not in:\n{text}");
            }
            let age = text
                .lines()
                .find(|l| l.starts_with("anchorlog_checkpoint_age_seconds "))
                .map(str::to_owned);
            assert!(age.is_some_and(|l| l.ends_with(" 5") || l.ends_with(" 6")), "{text}");
        }
    }

    #[test]
    fn the_format_follows_the_accept_header() {
        assert_eq!(Format::negotiate(None), Format::Prometheus);
        assert_eq!(Format::negotiate(Some("text/plain")), Format::Prometheus);
        assert_eq!(
            Format::negotiate(Some("application/openmetrics-text;version=1.0.0,text/plain;q=0.5")),
            Format::OpenMetrics
        );
    }
}
