//! What a witness measures. The label `origin` has the logs of the configuration and no others; `code` has
//! the closed set of refusals.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use anchorlog_proto::checkpoint::Origin;
use prometheus_client::encoding::{EncodeLabelSet, prometheus_text, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use super::Refusal;
use super::store::Kept;
use crate::metrics::Format;

/// A shared handle on the measurements of one witness.
#[derive(Clone)]
pub struct WitnessMetrics(Arc<Inner>);

type Level = Gauge<u64, AtomicU64>;

struct Inner {
    registry: Registry,
    cosigned: Family<OriginLabel, Counter>,
    refused: Family<CodeLabel, Counter>,
    split_views: Family<OriginLabel, Counter>,
    size: Family<OriginLabel, Level>,
    time: Family<OriginLabel, Level>,
    persist: Histogram,
    not_kept: Counter,
    requests: Family<RequestLabels, Counter>,
    request_seconds: Histogram,
}

impl WitnessMetrics {
    /// A fresh, empty set with its own registry.
    #[must_use]
    pub fn new() -> Self {
        let mut inner = Inner {
            registry: Registry::with_prefix("anchorlog_witness"),
            cosigned: Family::default(),
            refused: Family::default(),
            split_views: Family::default(),
            size: Family::default(),
            time: Family::default(),
            // 100 µs … 3 s.
            persist: Histogram::new(exponential_buckets(100e-6, 2.0, 16)),
            not_kept: Counter::default(),
            requests: Family::default(),
            request_seconds: Histogram::new(exponential_buckets(250e-6, 2.0, 16)),
        };
        inner.register();
        Self(Arc::new(inner))
    }

    /// Writes all measurements in the exposition format that `format` names.
    #[must_use]
    pub fn encode(&self, format: Format) -> String {
        let mut out = String::with_capacity(4096);
        // Writing into a String can't fail, and neither encoder has an error of its own.
        let _ = match format {
            Format::OpenMetrics => text::encode(&mut out, &self.0.registry),
            Format::Prometheus => prometheus_text::encode(&mut out, &self.0.registry),
        };
        out
    }

    /// Shows a log from the start, with what is known of it.
    pub(super) fn begin(&self, origin: &Origin, latest: Option<&Kept>) {
        self.0.cosigned.get_or_create(&label(origin)).inc_by(0);
        self.0.split_views.get_or_create(&label(origin)).inc_by(0);
        if let Some(kept) = latest {
            self.set(origin, kept);
        }
    }

    /// Records a checkpoint that was cosigned and kept, and how long keeping it took.
    pub(super) fn kept(&self, origin: &Origin, kept: &Kept, took: Duration) {
        self.0.cosigned.get_or_create(&label(origin)).inc();
        self.0.persist.observe(took.as_secs_f64());
        self.set(origin, kept);
    }

    /// Records a checkpoint that could not be kept, and was therefore not cosigned.
    pub(super) fn not_kept(&self) {
        self.0.not_kept.inc();
    }

    /// Records that a log has signed two different trees of one size.
    pub(super) fn split_view(&self, origin: &Origin) {
        self.0.split_views.get_or_create(&label(origin)).inc();
    }

    /// Records a refusal.
    pub(super) fn refused(&self, refusal: &Refusal) {
        self.0.refused.get_or_create(&CodeLabel { code: refusal.code() }).inc();
    }

    /// Records one answered HTTP request.
    pub(super) fn request(&self, route: &'static str, status: u16, took: Duration) {
        self.0.requests.get_or_create(&RequestLabels { route, status }).inc();
        self.0.request_seconds.observe(took.as_secs_f64());
    }

    fn set(&self, origin: &Origin, kept: &Kept) {
        self.0.size.get_or_create(&label(origin)).set(kept.checkpoint.size.get());
        self.0.time.get_or_create(&label(origin)).set(kept.unix_seconds);
    }
}

impl Default for WitnessMetrics {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for WitnessMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WitnessMetrics").finish_non_exhaustive()
    }
}

impl Inner {
    fn register(&mut self) {
        let registry = &mut self.registry;
        let cosigned = self.cosigned.clone();
        registry.register("cosigned", "Checkpoints cosigned, by log", cosigned);
        let refused = self.refused.clone();
        registry.register("refused", "Requests that got no cosignature, by reason", refused);
        let views = self.split_views.clone();
        registry.register("split_views", "Two signed trees of one size with two roots", views);
        let size = self.size.clone();
        registry.register("size", "Size of the newest cosigned checkpoint, by log", size);
        registry.register_with_unit(
            "cosigned_time",
            "Time of the newest cosignature, since 1970, by log",
            Unit::Seconds,
            self.time.clone(),
        );
        registry.register_with_unit(
            "persist",
            "Time until a checkpoint is durable",
            Unit::Seconds,
            self.persist.clone(),
        );
        let not_kept = self.not_kept.clone();
        registry.register("not_kept", "Checkpoints that could not be made durable", not_kept);
        let requests = self.requests.clone();
        registry.register("http_requests", "HTTP requests answered", requests);
        registry.register_with_unit(
            "http_request",
            "Time from the request's head to its answer's head",
            Unit::Seconds,
            self.request_seconds.clone(),
        );
    }
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct OriginLabel {
    origin: String,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct CodeLabel {
    code: &'static str,
}

#[derive(Clone, Debug, EncodeLabelSet, Eq, Hash, PartialEq)]
struct RequestLabels {
    route: &'static str,
    /// The server answers with a dozen statuses of its own choice.
    status: u16,
}

fn label(origin: &Origin) -> OriginLabel {
    OriginLabel { origin: origin.as_str().to_owned() }
}
