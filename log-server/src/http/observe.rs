//! The edge every request passes once on its way in and once on its way out.
//!
//! In: the request gets its id and a place among the requests in work, or a 503 at once. Out: a carried
//! [`super::problem::Problem`] becomes a body, reads get their CORS header, the id goes into a header, and
//! the request is counted and logged. Handlers know nothing of all this.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ALLOW, VARY, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tracing::{debug, error, warn};

use super::problem::{Carried, Code, Problem};
use super::request_id::{self, RequestId};
use super::{App, routes};

/// The outermost layer; see the module.
pub(super) async fn observe(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or(routes::UNMATCHED, |matched| routes::known(matched.as_str()));
    let id = app.request_ids.assign(request.headers());
    let method = request.method().clone();
    let response = match app.requests.try_acquire() {
        Ok(_place) => next.run(request).await,
        // What is asked when the server is in trouble must not be refused because it is in trouble.
        Err(_) if routes::is_vital(route) => next.run(request).await,
        Err(_) => {
            let detail =
                "The server has as many requests in work as it is allowed; try again shortly.";
            Problem::new(Code::Overloaded, detail)
                .retry_after(Duration::from_secs(1))
                .into_response()
        }
    };
    let problem = response.extensions().get::<Carried>().map(|carried| Arc::clone(&carried.0));
    let mut response = match &problem {
        Some(problem) => rendered(problem, &response, &id),
        None => response,
    };
    if method == Method::HEAD && problem.is_some() {
        *response.body_mut() = Body::empty();
    }
    if method == Method::GET || method == Method::HEAD {
        allow_any_origin(&mut response);
    }
    // Answers quote what strangers submitted: no browser shall guess that they are pages.
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let took = started.elapsed();
    app.metrics.request(route, response.status().as_u16(), took);
    report(&id, &method, route, response.status(), problem.as_deref(), took);
    response.headers_mut().insert(request_id::HEADER, id.into_header());
    response
}

/// The problem's own response, with the headers the route had already set (`Allow` of a 405).
fn rendered(problem: &Problem, carrier: &Response, id: &RequestId) -> Response {
    let mut response = problem.render(id.as_str());
    if let Some(allow) = carrier.headers().get(ALLOW) {
        response.headers_mut().insert(ALLOW, allow.clone());
    }
    // RFC 9110 section 15.5.2: a 401 names a challenge.
    let challenge = match problem.code() {
        // Ours is in the statement, not in a header.
        Code::SignatureRequired => Some("anchorlog-signed-statement"),
        Code::TokenRequired | Code::BadToken => Some("Bearer"),
        _ => None,
    };
    if let Some(challenge) = challenge {
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    }
    response
}

/// Reads are public, so any page may make them; writes need no browser and get no CORS header.
fn allow_any_origin(response: &mut Response) {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("retry-after, x-request-id"),
    );
    // The answer never depends on `Origin`, so nothing is added for it.
    debug_assert!(headers.get(VARY).is_none_or(|vary| vary != "origin"));
}

fn report(
    id: &RequestId,
    method: &Method,
    route: &'static str,
    status: StatusCode,
    problem: Option<&Problem>,
    took: Duration,
) {
    let (request_id, status) = (id.as_str(), status.as_u16());
    let micros = took.as_micros();
    let Some(problem) = problem else {
        debug!(request_id, %method, route, status, micros, "answered");
        return;
    };
    let (code, detail) = (problem.code_str(), problem.detail());
    let cause = problem.cause().unwrap_or_default();
    match problem.code() {
        Code::Internal => {
            error!(request_id, %method, route, status, code, cause, micros, "request failed");
        }
        Code::IndexNotReady | Code::Overloaded | Code::ReadOnly | Code::DiskFull => {
            warn!(request_id, %method, route, status, code, cause, micros, "request turned away");
        }
        _ => debug!(request_id, %method, route, status, code, detail, micros, "request refused"),
    }
}
