//! The authority over HTTP (RFC 3161 section 3.4): `POST /tsa`, and the root at `GET /tsa/root.pem`.
//!
//! Whatever is a request in form is answered with 200 and a `TimeStampResp`, also a refusal. What isn't
//! (another media type, a body that is too large) is refused as the rest of the server refuses, with
//! problem details.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};

use anchorlog_proto::timestamp::MAX_REQUEST_BYTES;

use super::DevTsa;
use crate::http::body::{self, BodyLimits};
use crate::http::problem::{Code, Problem};
use crate::http::request_id::RequestIds;

/// Where requests go.
pub const STAMP_PATH: &str = "/tsa";

/// Where the root's certificate is.
pub const ROOT_PATH: &str = "/tsa/root.pem";

/// The authority's two paths. Every answer carries the header `x-anchorlog-trust: development`.
pub fn router(tsa: Arc<DevTsa>) -> Router {
    Router::new()
        .route(STAMP_PATH, post(stamp).fallback(method_not_allowed))
        .route(ROOT_PATH, get(root).fallback(method_not_allowed))
        .layer(map_response(mark))
        .with_state(Served { tsa, ids: Arc::new(RequestIds::new()) })
}

#[derive(Clone)]
struct Served {
    tsa: Arc<DevTsa>,
    ids: Arc<RequestIds>,
}

async fn stamp(State(served): State<Served>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    match answer(&served, &head.headers, body).await {
        Ok(response) => {
            let headers = [(CONTENT_TYPE, REPLY), (CACHE_CONTROL, "no-store")];
            (headers, response).into_response()
        }
        Err(problem) => problem.render(served.ids.assign(&head.headers).as_str()),
    }
}

async fn answer(served: &Served, headers: &HeaderMap, body: Body) -> Result<Vec<u8>, Problem> {
    let detail = "The body must be a TimeStampReq in DER and be declared with \
                  `Content-Type: application/timestamp-query`.";
    body::require_plain(headers, QUERY, detail)?;
    let request = body::read(body, LIMITS).await?;
    let tsa = Arc::clone(&served.tsa);
    // A join error means that the work panicked; the panic hook has reported where.
    tokio::task::spawn_blocking(move || tsa.respond(&request, tsa.now()))
        .await
        .map_err(|error| Problem::internal(&error))
}

async fn root(State(served): State<Served>) -> impl IntoResponse {
    let headers = [(CONTENT_TYPE, "application/x-pem-file"), (CACHE_CONTROL, "no-store")];
    (headers, served.tsa.root_pem().to_owned())
}

async fn method_not_allowed(State(served): State<Served>, headers: HeaderMap) -> Response {
    let detail = "This path doesn't know the method; the header `Allow` says which ones it knows.";
    let id = served.ids.assign(&headers);
    Problem::new(Code::MethodNotAllowed, detail).render(id.as_str())
}

async fn mark(mut response: Response) -> Response {
    response.headers_mut().insert(TRUST, HeaderValue::from_static("development"));
    response
}

const LIMITS: BodyLimits = BodyLimits { size: MAX_REQUEST_BYTES, timeout: Duration::from_secs(10) };

/// RFC 3161 section 3.4.
const QUERY: &str = "application/timestamp-query";
const REPLY: &str = "application/timestamp-reply";

/// Says what the authority is to whoever doesn't look into its answers.
const TRUST: HeaderName = HeaderName::from_static("x-anchorlog-trust");
