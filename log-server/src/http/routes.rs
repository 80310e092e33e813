//! The paths of the server, as templates: the closed set of values that the metrics' `route` label can have.

/// Every path template, the busiest first. A test holds this list to the router's own.
pub const ALL: [&str; 24] = [
    ENTRIES,
    BATCH,
    LINES,
    CHECKPOINT,
    TILE,
    BUNDLE,
    "/v1/receipts/{index}",
    "/v1/entries/{index}",
    "/v1/lookup",
    "/v1/proof/inclusion",
    "/v1/proof/consistency",
    "/v1/trails/{trail}",
    "/v1/submitters/{key_id}",
    "/v1/checkpoints",
    "/v1/checkpoints/{size}",
    "/v1/log",
    "/witness/checkpoints",
    "/witness/trails/{trail}/head",
    "/witness/trails/{trail}/statements",
    HEALTHZ,
    READYZ,
    METRICS,
    "/openapi.json",
    UNMATCHED,
];

/// Single submissions.
pub const ENTRIES: &str = "/v1/entries";
/// Batch submissions.
pub const BATCH: &str = "/v1/entries:batch";
/// Checkpoint lines of audit trails.
pub const LINES: &str = "/v1/trails:checkpoints";
/// The newest checkpoint.
pub const CHECKPOINT: &str = "/checkpoint";
/// Tiles of hashes.
pub const TILE: &str = "/tile/{level}/{*index}";
/// Entry bundles.
pub const BUNDLE: &str = "/tile/entries/{*index}";
/// Liveness.
pub const HEALTHZ: &str = "/healthz";
/// Readiness.
pub const READYZ: &str = "/readyz";
/// Prometheus metrics.
pub const METRICS: &str = "/metrics";
/// What stands for all paths that aren't ours.
pub const UNMATCHED: &str = "unmatched";

/// Returns the template as a text that lives for ever.
pub(super) fn known(template: &str) -> &'static str {
    ALL.into_iter().find(|known| *known == template).unwrap_or(UNMATCHED)
}

/// Whether the route must answer even when the server has more requests than it may have.
pub(super) fn is_vital(route: &str) -> bool {
    matches!(route, HEALTHZ | READYZ | METRICS)
}
