//! The log over HTTP: one router, one shared state, one module per concern.
//!
//! The way of a request: [`serve`] reads its head from a bounded connection, `observe` gives it an id and a
//! place, [`submit`], [`holder`], [`read`], [`tiles`] or [`health`] answer it, and [`problem`] says what is wrong. Nothing
//! here knows how the log keeps its data, and nothing here decides what is true: statements are read by
//! `anchorlog-proto`, admitted by [`crate::access`] and committed by [`crate::log`].
//!
//! Reads are open to everybody and to every web page; writes are for [`crate::access`] to judge.

pub mod body;
mod checkpoint_witness;
mod checkpoints;
mod claims;
pub mod health;
pub mod holder;
mod lists;
mod observe;
pub mod openapi;
pub mod problem;
pub mod query;
pub mod read;
pub mod receipt;
pub mod request_id;
pub mod routes;
pub mod serve;
mod stall;
pub mod submit;
#[cfg(test)]
mod tests;
pub mod tiles;
pub mod wait;
pub mod wire;

use std::sync::Arc;
use std::time::Duration;

use anchorlog_proto::jp::witness::MAX_SUBMISSION_BYTES;
use axum::Router;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_MAX_AGE, ALLOW,
};
use axum::http::{HeaderName, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::sync::{Semaphore, watch};
use tower_http::compression::CompressionLayer;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter, UtoipaMethodRouterExt};
use utoipa_axum::routes as handlers;

use self::body::BodyLimits;
use self::problem::{Code, Problem};
use self::request_id::RequestIds;
use crate::access::Access;
use crate::anchoring::Status;
use crate::checkpoint_witness::CheckpointWitness;
use crate::config::Config;
use crate::error::Error;
use crate::log::Log;
use crate::metrics::Metrics;
use crate::witnessing;

/// Everything the handlers share.
pub struct App {
    log: Log,
    access: Access,
    metrics: Metrics,
    /// Limits of a single submission's body.
    statement_body: BodyLimits,
    /// Limits of a batch submission's body.
    batch_body: BodyLimits,
    /// Limits of a body of checkpoint lines.
    lines_body: BodyLimits,
    /// Statements in one batch.
    batch: usize,
    /// Whether `/metrics` is there.
    serve_metrics: bool,
    /// The log's origin as a JSON string, quotes included: every receipt says it.
    origin_json: String,
    request_ids: RequestIds,
    /// Places for requests in work.
    requests: Semaphore,
    /// Places for requests that wait for a state.
    waiting: Semaphore,
    /// The checkpoint witness, if this log is one.
    checkpoint_witness: Option<Arc<CheckpointWitness>>,
    /// How anchoring goes, if there is any.
    anchoring: Option<Status>,
    /// How long an entry may wait for its token before the server isn't ready; zero for as long as it takes.
    required_age: Duration,
    /// How witnessing goes, if there is any.
    witnessing: Option<witnessing::Status>,
    /// The same for the witnesses.
    required_witnessed_age: Duration,
    /// Becomes true when the server has to stop.
    stop: watch::Receiver<bool>,
}

impl App {
    /// Puts the shared state together. `stop` becomes true when the server is to stop: requests that wait
    /// are then answered at once.
    #[must_use]
    pub fn new(
        log: Log,
        access: Access,
        metrics: Metrics,
        config: &Config,
        stop: watch::Receiver<bool>,
    ) -> Self {
        let timeout = config.http.body_timeout.get();
        let body = |size: crate::config::Bytes| BodyLimits { size: size.to_usize(), timeout };
        Self {
            statement_body: body(config.limits.statement_body),
            batch_body: body(config.limits.batch_body),
            lines_body: BodyLimits { size: MAX_SUBMISSION_BYTES, timeout },
            batch: config.limits.batch,
            serve_metrics: config.telemetry.metrics,
            origin_json: receipt::json_string(log.origin().as_str()),
            request_ids: RequestIds::new(),
            requests: Semaphore::new(config.http.max_requests),
            waiting: Semaphore::new(config.http.max_waiting),
            checkpoint_witness: None,
            anchoring: None,
            required_age: config.anchoring.required_age.get(),
            witnessing: None,
            required_witnessed_age: config.witnessing.required_age.get(),
            log,
            access,
            metrics,
            stop,
        }
    }

    /// Serves this witness of audit trails' checkpoints.
    #[must_use]
    pub fn with_checkpoint_witness(mut self, witness: Arc<CheckpointWitness>) -> Self {
        self.checkpoint_witness = Some(witness);
        self
    }

    /// Shows how anchoring goes, in `/readyz`.
    #[must_use]
    pub fn with_anchoring(mut self, status: Status) -> Self {
        self.anchoring = Some(status);
        self
    }

    /// Shows how witnessing goes, in `/readyz`.
    #[must_use]
    pub fn with_witnessing(mut self, status: witnessing::Status) -> Self {
        self.witnessing = Some(status);
        self
    }

    fn is_stopping(&self) -> bool {
        *self.stop.borrow()
    }
}

/// Builds the router with every path, the refusals for all others, and the edge around them.
pub fn router(app: Arc<App>) -> Router {
    let (router, _) = routed().split_for_parts();
    let router: Router<Arc<App>> = router;
    router
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(unknown_path)
        .layer(from_fn_with_state(Arc::clone(&app), observe::observe))
        .with_state(app)
}

/// Every path with its handler and its description.
fn routed() -> OpenApiRouter<Arc<App>> {
    let compress = CompressionLayer::new().gzip(true);
    OpenApiRouter::with_openapi(openapi::base())
        .routes(writes(handlers!(submit::submit)))
        .routes(writes(handlers!(submit::submit_batch)))
        .routes(writes(handlers!(checkpoint_witness::submit)))
        .routes(reads(handlers!(checkpoint_witness::head)))
        .routes(reads(handlers!(checkpoint_witness::statements)))
        .routes(writes(handlers!(holder::hold)))
        .routes(reads(handlers!(read::receipt)))
        .routes(reads(handlers!(read::entry)))
        .routes(reads(handlers!(lists::lookup)))
        .routes(reads(handlers!(lists::trail)))
        .routes(reads(handlers!(lists::submitter)))
        .routes(reads(handlers!(read::inclusion)))
        .routes(reads(handlers!(read::consistency)))
        .routes(reads(handlers!(checkpoints::list)))
        .routes(reads(handlers!(checkpoints::countersigned)))
        .routes(reads(handlers!(read::log_info)))
        .routes(reads(handlers!(tiles::checkpoint)))
        .routes(reads(handlers!(health::healthz)))
        .routes(reads(handlers!(health::readyz)))
        .routes(reads(handlers!(health::metrics)))
        .routes(reads(handlers!(openapi::document)))
        // OpenAPI has no path parameter that spans segments, so these two are described in the base.
        .route(routes::TILE, get(tiles::tile).options(preflight))
        .route(routes::BUNDLE, get(tiles::bundle).options(preflight).layer(compress))
}

/// A route for everybody: `OPTIONS` also answers a browser's preflight.
fn reads(route: UtoipaMethodRouter<Arc<App>>) -> UtoipaMethodRouter<Arc<App>> {
    route.map(|methods| methods.options(preflight))
}

/// A route that no web page may call.
fn writes(route: UtoipaMethodRouter<Arc<App>>) -> UtoipaMethodRouter<Arc<App>> {
    route.map(|methods| methods.options(write_options))
}

async fn preflight() -> impl IntoResponse {
    let headers: [(HeaderName, &str); 5] = [
        (ALLOW, "GET, HEAD, OPTIONS"),
        (ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD"),
        (ACCESS_CONTROL_ALLOW_HEADERS, "x-request-id"),
        (ACCESS_CONTROL_MAX_AGE, "86400"),
    ];
    (StatusCode::NO_CONTENT, headers)
}

async fn write_options() -> impl IntoResponse {
    (StatusCode::NO_CONTENT, [(ALLOW, "POST, OPTIONS")])
}

async fn method_not_allowed() -> Problem {
    let detail = "This path doesn't know the method; the header `Allow` says which ones it knows.";
    Problem::new(Code::MethodNotAllowed, detail)
}

async fn unknown_path() -> Problem {
    Problem::new(Code::UnknownPath, "There is no such path; /openapi.json lists those there are.")
}

/// Runs what may touch the disk where it doesn't hold up other requests.
async fn off_thread<T, F>(app: &Arc<App>, work: F) -> Result<T, Problem>
where
    T: Send + 'static,
    F: FnOnce(&App) -> Result<T, Problem> + Send + 'static,
{
    let app = Arc::clone(app);
    // A join error means that the work panicked; the panic hook has reported where.
    tokio::task::spawn_blocking(move || work(&app))
        .await
        .unwrap_or_else(|error| Err(Problem::internal(&error)))
}

/// What a failed read is to the client.
fn read_failed(error: &Error) -> Problem {
    match error {
        _ if error.is_out_of_space() => disk_full().caused_by(error),
        Error::Find(_) => index_not_ready().caused_by(error),
        _ => Problem::internal(error),
    }
}

fn disk_full() -> Problem {
    let detail = "The disk of the log is full; nothing was changed. Reading goes on, and so will \
                  writing once its operator has made room.";
    Problem::new(Code::DiskFull, detail).retry_after(Duration::from_mins(1))
}

fn index_not_ready() -> Problem {
    let detail = "The index of the log is catching up or being rebuilt; nothing was changed. Reads that \
                  don't need it are answered.";
    Problem::new(Code::IndexNotReady, detail).retry_after(Duration::from_secs(2))
}

fn json(body: Vec<u8>, cache: &'static str) -> Response {
    use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
    ([(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, cache)], body).into_response()
}

fn json_of<T: serde::Serialize>(body: &T, cache: &'static str) -> Response {
    // The wire types are structs of strings, numbers and lists: serialising them can't fail.
    json(serde_json::to_vec(body).unwrap_or_default(), cache)
}

/// For answers that can change.
const VOLATILE: &str = "no-store";

/// For answers that can't: what is in the log stays there.
const IMMUTABLE: &str = "public, max-age=604800, immutable";
