//! Is it alive, does it take statements, and what does it measure?

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};

use super::problem::{Code, Problem, ProblemBody};
use super::query::Query;
use super::wire::{AnchoringHealth, AuthorityHealth, HealthAnswer};
use super::{App, VOLATILE, index_not_ready, json_of};
use crate::anchoring::{AuthorityStatus, Status};
use crate::clock::Clock;
use crate::metrics::Format;

/// Whether the process is worth keeping: only a log that failed for good is not.
#[utoipa::path(
    get,
    path = "/healthz",
    tag = "operate",
    responses(
        (status = 200, description = "It runs.", body = HealthAnswer),
        (status = 503, description = "It has failed and needs a restart.", body = ProblemBody, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn healthz(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    Query::read(uri.query(), &[])?;
    alive(&app)?;
    Ok(json_of(&HealthAnswer { anchoring: None, status: "ok" }, VOLATILE))
}

/// Whether statements and look-ups are taken now.
#[utoipa::path(
    get,
    path = "/readyz",
    tag = "operate",
    responses(
        (status = 200, description = "It takes statements.", body = HealthAnswer),
        (status = 503, description = "Not now: it is starting, stopping, has failed, or entries wait longer for their time stamp than the configuration allows.", body = ProblemBody, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn readyz(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    Query::read(uri.query(), &[])?;
    alive(&app)?;
    if app.is_stopping() {
        return Err(Problem::new(Code::Stopping, "The server is stopping.")
            .retry_after(Duration::from_secs(5)));
    }
    if !app.log.is_ready() {
        return Err(index_not_ready());
    }
    let anchoring = app.anchoring.as_ref();
    if let Some(status) = anchoring.filter(|_| !app.required_age.is_zero()) {
        let waited = status.waited();
        if waited > app.required_age {
            let detail = format!(
                "An entry has waited {} s for its time stamp, longer than anchoring.required_age allows. \
                 Statements are taken all the same.",
                waited.as_secs()
            );
            return Err(Problem::new(Code::NotAnchored, detail).retry_after(Duration::from_secs(5)));
        }
    }
    let anchoring = anchoring.map(anchoring_health);
    Ok(json_of(&HealthAnswer { anchoring, status: "ready" }, VOLATILE))
}

/// Prometheus metrics; `OpenMetrics` for scrapers that ask for it.
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "operate",
    responses(
        (status = 200, description = "The measurements.", body = String, content_type = "text/plain; version=0.0.4; charset=utf-8"),
        (status = 404, description = "Switched off by configuration.", body = ProblemBody, content_type = "application/problem+json"),
    ),
)]
pub(super) async fn metrics(
    State(app): State<Arc<App>>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    Query::read(uri.query(), &[])?;
    if !app.serve_metrics {
        let detail = "Metrics are switched off here (`telemetry.metrics` in the configuration).";
        return Err(Problem::new(Code::UnknownPath, detail));
    }
    let format = Format::negotiate(headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()));
    let body = app.metrics.encode(format);
    let headers = [(CONTENT_TYPE, format.content_type()), (CACHE_CONTROL, VOLATILE)];
    Ok((headers, body).into_response())
}

fn anchoring_health(status: &Status) -> AnchoringHealth {
    let now = Clock::system().unix_seconds();
    let age = |last: i64| u64::try_from(now.saturating_sub(last)).unwrap_or_default();
    let authority = |known: AuthorityStatus| AuthorityHealth {
        age_seconds: known.last_token.map(age),
        clock_offset_ms: known.clock_offset_ms,
        error: known.error,
        failures: known.failures,
        operator: known.operator,
    };
    AnchoringHealth {
        authorities: status.authorities().into_iter().map(authority).collect(),
        waited_seconds: status.waited().as_secs(),
    }
}

fn alive(app: &App) -> Result<(), Problem> {
    if app.log.has_failed() {
        let detail = "The log has failed and must be restarted; its own log says why.";
        return Err(Problem::new(Code::ReadOnly, detail).retry_after(Duration::from_secs(30)));
    }
    Ok(())
}
