//! The witness over HTTP: `POST /add-checkpoint`, `GET /<hex SHA-256 of the origin>/checkpoint`, and what an
//! operator asks for.
//!
//! Submission and monitoring have the same prefix, the address of this server; a proxy in front may give
//! them others. Refusals are problem details like those of the log, apart from 409, whose body is the size
//! that the witness has (`text/x.tlog.size`).

use std::sync::Arc;
use std::time::{Duration, Instant};

use anchorlog_proto::Digest;
use anchorlog_proto::tlog_witness::{
    MAX_REQUEST_BYTES, SIZE_CONTENT_TYPE, write_cosignatures, write_size,
};
use axum::Router;
use axum::body::Body;
use axum::extract::{MatchedPath, Path, Request, State};
use axum::http::header::{
    ACCEPT, ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tokio::sync::{Semaphore, watch};
use tracing::{debug, warn};

use super::{Refusal, Witness};
use crate::config::{HttpConfig, TelemetryConfig};
use crate::http::body::{self, BodyLimits};
use crate::http::problem::{Code, MEDIA_TYPE, ProblemBody};
use crate::http::request_id::{self, RequestId, RequestIds};
use crate::metrics::Format;

/// Where logs submit their checkpoints.
pub const ADD_CHECKPOINT: &str = "/add-checkpoint";

/// Where the newest cosigned checkpoint of a log is.
pub const CHECKPOINT: &str = "/{log}/checkpoint";

/// What the handlers share.
struct App {
    witness: Arc<Witness>,
    body_timeout: Duration,
    serve_metrics: bool,
    ids: RequestIds,
    /// Places for requests in work.
    requests: Semaphore,
    stop: watch::Receiver<bool>,
}

/// The witness' paths. `stop` becomes true when the server is to stop.
pub fn router(
    witness: Arc<Witness>,
    http: &HttpConfig,
    telemetry: &TelemetryConfig,
    stop: watch::Receiver<bool>,
) -> Router {
    let app = Arc::new(App {
        witness,
        body_timeout: http.body_timeout.get(),
        serve_metrics: telemetry.metrics,
        ids: RequestIds::new(),
        requests: Semaphore::new(http.max_requests),
        stop,
    });
    Router::new()
        .route(ADD_CHECKPOINT, post(add_checkpoint))
        .route(CHECKPOINT, get(checkpoint))
        .route(HEALTHZ, get(healthz))
        .route(READYZ, get(readyz))
        .route(METRICS, get(metrics))
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(unknown_path)
        .layer(from_fn_with_state(Arc::clone(&app), observe))
        .with_state(app)
}

async fn add_checkpoint(State(app): State<Arc<App>>, request: Request) -> Response {
    let limits = BodyLimits { size: MAX_REQUEST_BYTES, timeout: app.body_timeout };
    let body = match body::read(request.into_body(), limits).await {
        Ok(body) => body.to_vec(),
        Err(problem) => return edge(problem.code(), problem.detail(), None),
    };
    match app.witness.add_checkpoint(body).await {
        Ok(cosigned) => text(TEXT, write_cosignatures(&cosigned.lines)),
        Err(refusal) => refused(&app, &refusal),
    }
}

async fn checkpoint(State(app): State<Arc<App>>, Path(log): Path<String>) -> Response {
    let kept = Digest::from_hex(&log).ok().and_then(|id| app.witness.checkpoint(&id));
    let Some(note) = kept else {
        let detail = "No checkpoint of a log with this SHA-256 of its origin was ever cosigned.";
        return edge(Code::NotFound, detail, None);
    };
    text(TEXT, note.to_vec())
}

async fn healthz(State(app): State<Arc<App>>) -> Response {
    if app.witness.has_failed() { refused(&app, &Refusal::Failed) } else { status("ok") }
}

async fn readyz(State(app): State<Arc<App>>) -> Response {
    if *app.stop.borrow() {
        return edge(Code::Stopping, "The witness is stopping.", Some(5));
    }
    match app.witness.impediment() {
        // Whoever asks for readiness understands 503.
        Some(refusal) => problem(&refusal, StatusCode::SERVICE_UNAVAILABLE),
        None => status("ready"),
    }
}

async fn metrics(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    if !app.serve_metrics {
        return unknown_path().await;
    }
    let format = Format::negotiate(headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()));
    text(format.content_type(), app.witness.metrics().encode(format))
}

async fn method_not_allowed() -> Response {
    let detail = "This path doesn't know the method; the header `Allow` says which ones it knows.";
    edge(Code::MethodNotAllowed, detail, None)
}

async fn unknown_path() -> Response {
    let detail =
        "A witness has the paths /add-checkpoint and /<hex SHA-256 of an origin>/checkpoint.";
    edge(Code::UnknownPath, detail, None)
}

/// Gives the request an id and a place, counts it and logs it.
async fn observe(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let matched = request.extensions().get::<MatchedPath>();
    let route = matched.map_or(UNMATCHED, |matched| known(matched.as_str()));
    let id = app.ids.assign(request.headers());
    let method = request.method().clone();
    let mut response = match app.requests.try_acquire() {
        Ok(_place) => next.run(request).await,
        Err(_) if matches!(route, HEALTHZ | READYZ | METRICS) => next.run(request).await,
        Err(_) => {
            let detail = "The witness has as many requests in work as it may; try again shortly.";
            edge(Code::Overloaded, detail, Some(1))
        }
    };
    if let Some(said) = response.extensions_mut().remove::<Said>() {
        let body = said.render(response.status(), &id);
        *response.body_mut() = if method == Method::HEAD { Body::empty() } else { body.into() };
    }
    let status = response.status().as_u16();
    let took = started.elapsed();
    app.witness.metrics().request(route, status, took);
    let (request_id, micros) = (id.as_str(), took.as_micros());
    if status >= 500 {
        warn!(request_id, %method, route, status, micros, "answered");
    } else {
        debug!(request_id, %method, route, status, micros, "answered");
    }
    let headers = response.headers_mut();
    if method == Method::GET || method == Method::HEAD {
        // Reads are public, so any page may make them.
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    }
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(request_id::HEADER, id.into_header());
    response
}

fn refused(app: &App, refusal: &Refusal) -> Response {
    app.witness.metrics().refused(refusal);
    if let Some(size) = refusal.recorded() {
        let body = text(SIZE_CONTENT_TYPE, write_size(size));
        return (StatusCode::CONFLICT, body).into_response();
    }
    let status = StatusCode::from_u16(refusal.status());
    problem(refusal, status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR))
}

fn problem(refusal: &Refusal, status: StatusCode) -> Response {
    let (code, detail) = (refusal.code(), sentence(&refusal.to_string()));
    said(status, Said { code, title: "Not cosigned", detail }, refusal.retry_after())
}

/// A refusal that is none of the witness' own.
fn edge(code: Code, detail: impl Into<String>, retry_after: Option<u64>) -> Response {
    let refusal = Said { code: code.as_str(), title: code.title(), detail: detail.into() };
    said(code.status(), refusal, retry_after)
}

/// A refusal on its way to where the request's id is known.
#[derive(Clone)]
struct Said {
    code: &'static str,
    title: &'static str,
    detail: String,
}

impl Said {
    fn render(self, status: StatusCode, id: &RequestId) -> Vec<u8> {
        let body = ProblemBody {
            r#type: format!("{TYPE}{}", self.code),
            title: self.title.to_owned(),
            status: status.as_u16(),
            code: self.code.to_owned(),
            detail: self.detail,
            instance: format!("{INSTANCE}{}", id.as_str()),
            pointer: None,
            position: None,
            error: None,
            reason: None,
            statements: None,
            conflicts: None,
            committed: None,
        };
        // A struct of strings and numbers: serialising it can't fail.
        serde_json::to_vec(&body).unwrap_or_default()
    }
}

fn said(status: StatusCode, said: Said, retry_after: Option<u64>) -> Response {
    let headers = [(CONTENT_TYPE, MEDIA_TYPE), (CACHE_CONTROL, VOLATILE)];
    let mut response = (status, headers).into_response();
    if let Some(seconds) = retry_after {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response.extensions_mut().insert(said);
    response
}

fn text(content_type: &'static str, body: impl Into<Body>) -> Response {
    let headers = [(CONTENT_TYPE, content_type), (CACHE_CONTROL, VOLATILE)];
    (headers, body.into()).into_response()
}

fn status(word: &str) -> Response {
    text("application/json", format!("{{\"status\":\"{word}\"}}"))
}

/// With a capital and a full stop, as details are written.
fn sentence(message: &str) -> String {
    let mut characters = message.chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(characters).chain(['.']).collect()
}

fn known(template: &str) -> &'static str {
    let routes = [ADD_CHECKPOINT, CHECKPOINT, HEALTHZ, READYZ, METRICS];
    routes.into_iter().find(|route| *route == template).unwrap_or(UNMATCHED)
}

const HEALTHZ: &str = "/healthz";
const READYZ: &str = "/readyz";
const METRICS: &str = "/metrics";
const UNMATCHED: &str = "unmatched";

const TEXT: &str = "text/plain; charset=utf-8";
const VOLATILE: &str = "no-store";
const TYPE: &str = "urn:anchorlog:problem:";
const INSTANCE: &str = "urn:anchorlog:request:";
