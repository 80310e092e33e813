//! Is it alive, does it take statements, and what does it measure?

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};

use super::problem::{Code, Problem, ProblemBody};
use super::query::Query;
use super::wire::{
    AnchoringHealth, AuthorityHealth, HealthAnswer, WitnessHealth, WitnessingHealth,
};
use super::{App, VOLATILE, index_not_ready, json_of};
use crate::anchoring::{AuthorityStatus, Status};
use crate::checkpoint_witness::Activity;
use crate::clock::Clock;
use crate::metrics::Format;
use crate::standing::Standing;
use crate::witnessing::{self, WitnessStatus};

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
    let answer =
        HealthAnswer { anchoring: None, checkpoint_witness: None, status: "ok", witnessing: None };
    Ok(json_of(&answer, VOLATILE))
}

/// Whether statements and look-ups are taken now.
#[utoipa::path(
    get,
    path = "/readyz",
    tag = "operate",
    responses(
        (status = 200, description = "It takes statements; or it is frozen or opened for reading, says so, and answers whoever reads.", body = HealthAnswer),
        (status = 503, description = "Not now: it is starting, stopping, has failed, entries wait longer for time stamps or witnesses than the configuration allows, or a witness knows something that speaks against the log.", body = ProblemBody, content_type = "application/problem+json"),
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
    let witnessing = app.witnessing.as_ref();
    if let Some(status) = witnessing {
        check_witnessing(&app, status)?;
    }
    let status = match app.log.standing() {
        Standing::Open => "ready",
        Standing::ReadOnly => "read-only",
        Standing::Frozen => "frozen",
    };
    let witness = app.checkpoint_witness.as_ref();
    let answer = HealthAnswer {
        anchoring: anchoring.map(anchoring_health),
        checkpoint_witness: witness.map(|witness| {
            let activity = match app.log.standing() {
                Standing::Open => witness.activity(),
                Standing::ReadOnly | Standing::Frozen => Activity::Reading,
            };
            activity.as_str()
        }),
        status,
        witnessing: witnessing.map(witnessing_health),
    };
    Ok(json_of(&answer, VOLATILE))
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

/// A witness that knows better is a reason to send nobody here; so is, where the configuration says so, that
/// entries have waited too long.
fn check_witnessing(app: &App, status: &witnessing::Status) -> Result<(), Problem> {
    if let Some(alarm) = status.alarm() {
        let detail = format!(
            "Witness {:?} speaks against this log ({}): {}. No further checkpoint is called witnessed. \
             Statements are taken all the same.",
            alarm.witness,
            alarm.cause.code(),
            alarm.cause
        );
        return Err(Problem::new(Code::WitnessAlarm, detail));
    }
    let waited = status.waited();
    if !app.required_witnessed_age.is_zero() && waited > app.required_witnessed_age {
        let detail = format!(
            "An entry has waited {} s for the witnesses, longer than witnessing.required_age allows. \
             Statements are taken all the same.",
            waited.as_secs()
        );
        return Err(Problem::new(Code::NotWitnessed, detail).retry_after(Duration::from_secs(5)));
    }
    Ok(())
}

fn witnessing_health(status: &witnessing::Status) -> WitnessingHealth {
    let now = Clock::system().unix_seconds();
    let age = |last: i64| u64::try_from(now.saturating_sub(last)).unwrap_or_default();
    let witness = |known: WitnessStatus| WitnessHealth {
        age_seconds: known.last_cosigned.map(age),
        clock_offset_ms: known.clock_offset_ms,
        error: known.error,
        failures: known.failures,
        name: known.name,
        size: known.size,
    };
    let witnessed = status.witnessed();
    WitnessingHealth {
        age_seconds: witnessed.map(|witnessed| age(witnessed.received)),
        size: witnessed.map(|witnessed| witnessed.size),
        waited_seconds: status.waited().as_secs(),
        witnesses: status.witnesses().into_iter().map(witness).collect(),
    }
}

fn alive(app: &App) -> Result<(), Problem> {
    if app.log.has_failed() {
        let detail = "The log has failed and must be restarted; its own log says why.";
        return Err(Problem::new(Code::ReadOnly, detail).retry_after(Duration::from_secs(30)));
    }
    Ok(())
}
