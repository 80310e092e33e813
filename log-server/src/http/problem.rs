//! Refusals as RFC 9457 problem details, `application/problem+json`.
//!
//! Every answer that isn't a success leaves the server as a [`Problem`]: a [`Code`] that never changes once
//! released, a detail that says what to do, and `Retry-After` where waiting helps. Handlers return one;
//! it travels in the response's extensions and is rendered once, at the edge, where the request's id is
//! known (`observe`). Causes that are none of the client's business go to the server's log only.

mod body;
mod witness;

use std::borrow::Cow;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

pub use self::body::ProblemBody;
pub use self::witness::WitnessCode;
use super::wire::{BatchReceipt, HeldConflict};

/// One refusal, on its way to the client. It is a pointer, so that results that carry it stay small.
#[derive(Clone, Debug)]
pub struct Problem(Box<Members>);

impl Problem {
    /// Makes a problem. `detail` is one or two sentences for the person who has to act on it.
    pub fn new(code: Code, detail: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Members {
            code,
            format_code: None,
            detail: detail.into(),
            pointer: None,
            position: None,
            statements: None,
            conflicts: None,
            retry_after: None,
            cause: None,
        }))
    }

    /// Makes the answer to an error of the server itself: the client learns that it happened, the server's
    /// log learns why.
    pub fn internal(cause: &dyn Display) -> Self {
        let detail = "The server failed to answer. Its log says why under the request's id.";
        Self::new(Code::Internal, detail).caused_by(cause)
    }

    /// Replaces the general code by the finer one of the format that was violated (`J.SYNTAX`, …).
    #[must_use]
    pub fn with_format_code(mut self, code: &'static str) -> Self {
        self.0.format_code = Some(code);
        self
    }

    /// Adds the JSON pointer (RFC 6901) of the offending member of the request's body.
    #[must_use]
    pub fn with_pointer(mut self, pointer: impl Into<String>) -> Self {
        self.0.pointer = Some(pointer.into());
        self
    }

    /// Says which statement of a batch is refused, counted from 0.
    #[must_use]
    pub fn at_position(mut self, position: usize) -> Self {
        self.0.position = Some(position);
        self.0.detail = format!("Statement {position} of the batch: {}", self.0.detail).into();
        self
    }

    /// Adds the lines of the checkpoint witness' statements that show why.
    #[must_use]
    pub fn with_statements(mut self, statements: Vec<String>) -> Self {
        self.0.statements = Some(statements);
        self
    }

    /// Says which line of the body is refused, counted from 1. The detail names it already.
    #[must_use]
    pub fn at_line(mut self, line: usize) -> Self {
        self.0.position = line.checked_sub(1);
        self
    }

    /// Says something else to the person.
    #[must_use]
    pub fn with_detail(mut self, detail: impl Into<Cow<'static, str>>) -> Self {
        self.0.detail = detail.into();
        self
    }

    /// Adds what disagrees, and where all of it is in the log now.
    #[must_use]
    pub fn with_conflicts(mut self, conflicts: Vec<HeldConflict>, committed: BatchReceipt) -> Self {
        self.0.conflicts = Some((conflicts, committed));
        self
    }

    /// Adds `Retry-After`, rounded up to whole seconds and at least one.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        let whole = wait.as_secs() + u64::from(wait.subsec_nanos() != 0);
        self.0.retry_after = Some(whole.max(1));
        self
    }

    /// Keeps the reason for the server's own log.
    #[must_use]
    pub fn caused_by(mut self, cause: &dyn Display) -> Self {
        self.0.cause = Some(cause.to_string());
        self
    }

    /// Returns the general code.
    #[must_use]
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// Returns the code the client reads: the format's own where there is one.
    #[must_use]
    pub fn code_str(&self) -> &'static str {
        self.0.format_code.unwrap_or_else(|| self.code().as_str())
    }

    /// Returns the sentence for the person.
    #[must_use]
    pub fn detail(&self) -> &str {
        &self.0.detail
    }

    /// Returns what only the server's log may know.
    #[must_use]
    pub fn cause(&self) -> Option<&str> {
        self.0.cause.as_deref()
    }

    /// Renders the problem. `instance` is the id of the request it answers.
    #[must_use]
    pub fn render(&self, instance: &str) -> Response {
        let (code, members) = (self.code(), &self.0);
        let body = ProblemBody {
            r#type: format!("{TYPE_PREFIX}{}", code.as_str()),
            title: code.title().to_owned(),
            status: code.status().as_u16(),
            code: self.code_str().to_owned(),
            detail: members.detail.to_string(),
            instance: format!("{INSTANCE_PREFIX}{instance}"),
            pointer: members.pointer.clone(),
            position: members.position,
            error: members.statements.as_ref().map(|_| members.detail.to_string()),
            reason: code.reason(),
            statements: members.statements.clone(),
            conflicts: members.conflicts.as_ref().map(|(conflicts, _)| conflicts.clone()),
            committed: members.conflicts.as_ref().map(|(_, committed)| committed.clone()),
        };
        // A struct of strings and numbers: serialising it can't fail.
        let body = serde_json::to_vec(&body).unwrap_or_default();
        let mut response = Response::new(Body::empty());
        *response.status_mut() = code.status();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = members.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        *response.body_mut() = Body::from(body);
        response
    }
}

#[derive(Clone, Debug)]
struct Members {
    code: Code,
    format_code: Option<&'static str>,
    detail: Cow<'static, str>,
    pointer: Option<String>,
    position: Option<usize>,
    statements: Option<Vec<String>>,
    conflicts: Option<(Vec<HeldConflict>, BatchReceipt)>,
    /// Whole seconds.
    retry_after: Option<u64>,
    cause: Option<String>,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = self.code().status();
        response.extensions_mut().insert(Carried(Arc::new(self)));
        response
    }
}

/// A problem inside a response's extensions, until the edge renders it.
#[derive(Clone, Debug)]
pub(super) struct Carried(pub(super) Arc<Problem>);

/// What a refusal is. The strings are part of the interface: they are never changed or used again for
/// something else.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Code {
    /// 400: the query string can't be decoded, or names a parameter twice.
    MalformedQuery,
    /// 400: a query parameter this call doesn't know.
    UnknownParameter,
    /// 400: a query parameter this call can't do without.
    MissingParameter,
    /// 400: a parameter of the query or the path has a value that can't be used.
    BadParameter,
    /// 400: the body broke off or can't be read.
    UnreadableBody,
    /// 400: the body isn't the JSON that is asked for.
    MalformedStatement,
    /// 401: this log takes signed statements only.
    SignatureRequired,
    /// 401: this call needs a bearer token.
    TokenRequired,
    /// 401: not a bearer token, or not one this server knows.
    BadToken,
    /// 403: the signing key isn't one this log knows.
    UnknownKey,
    /// 403: the signature doesn't verify.
    BadSignature,
    /// 404: no such path.
    UnknownPath,
    /// 404: the path is right, but there is nothing (yet) under it.
    NotFound,
    /// 405: the path doesn't know the method.
    MethodNotAllowed,
    /// 408: the body didn't arrive in time.
    BodyTimeout,
    /// 409: a place of a trail is held with another digest.
    TrailConflict,
    /// 413: the body is larger than this server reads.
    BodyTooLarge,
    /// 413: the statement's canonical form is larger than an entry may be.
    StatementTooLarge,
    /// 413: more statements than one request, or this submitter's burst, may carry.
    BatchTooLarge,
    /// 415: the body isn't declared as JSON, or is compressed.
    UnsupportedMediaType,
    /// 422: well-formed, but not something the log takes.
    UnprocessableStatement,
    /// 429: the submitter's rate is used up.
    RateLimited,
    /// 500: an error of the server itself.
    Internal,
    /// 503: the index that tells duplicates from new statements isn't ready.
    IndexNotReady,
    /// 503: entries wait longer for their time stamp than the configuration allows.
    NotAnchored,
    /// 503: entries wait longer for the witnesses than the configuration allows.
    NotWitnessed,
    /// 503: a witness knows something that speaks against the log.
    WitnessAlarm,
    /// 503: too much is going on.
    Overloaded,
    /// 503: the log answers reads but takes nothing new.
    ReadOnly,
    /// 503: the server is stopping.
    Stopping,
    /// 507: the disk is full.
    DiskFull,
    /// What the checkpoint witness refuses.
    Witness(WitnessCode),
}

impl Code {
    /// All codes.
    pub const ALL: [Self; 42] = [
        Self::MalformedQuery,
        Self::UnknownParameter,
        Self::MissingParameter,
        Self::BadParameter,
        Self::UnreadableBody,
        Self::MalformedStatement,
        Self::SignatureRequired,
        Self::TokenRequired,
        Self::BadToken,
        Self::UnknownKey,
        Self::BadSignature,
        Self::UnknownPath,
        Self::NotFound,
        Self::MethodNotAllowed,
        Self::BodyTimeout,
        Self::TrailConflict,
        Self::BodyTooLarge,
        Self::StatementTooLarge,
        Self::BatchTooLarge,
        Self::UnsupportedMediaType,
        Self::UnprocessableStatement,
        Self::RateLimited,
        Self::Internal,
        Self::IndexNotReady,
        Self::NotAnchored,
        Self::NotWitnessed,
        Self::WitnessAlarm,
        Self::Overloaded,
        Self::ReadOnly,
        Self::Stopping,
        Self::DiskFull,
        Self::Witness(WitnessCode::Malformed),
        Self::Witness(WitnessCode::NotASubmitter),
        Self::Witness(WitnessCode::NotRegistered),
        Self::Witness(WitnessCode::OfAnother),
        Self::Witness(WitnessCode::ReservedTrail),
        Self::Witness(WitnessCode::Conflict),
        Self::Witness(WitnessCode::BelowHead),
        Self::Witness(WitnessCode::Retired),
        Self::Witness(WitnessCode::LineTooLong),
        Self::Witness(WitnessCode::TooManyTrails),
        Self::Witness(WitnessCode::Stopped),
    ];

    /// Returns the code's text.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MalformedQuery => "request.malformed-query",
            Self::UnknownParameter => "request.unknown-parameter",
            Self::MissingParameter => "request.missing-parameter",
            Self::BadParameter => "request.bad-parameter",
            Self::UnreadableBody => "request.unreadable-body",
            Self::MalformedStatement => "statement.malformed",
            Self::SignatureRequired => "access.signature-required",
            Self::TokenRequired => "access.token-required",
            Self::BadToken => "access.bad-token",
            Self::UnknownKey => "access.unknown-key",
            Self::BadSignature => "access.bad-signature",
            Self::UnknownPath => "request.unknown-path",
            Self::NotFound => "log.not-found",
            Self::MethodNotAllowed => "request.method-not-allowed",
            Self::BodyTimeout => "request.body-timeout",
            Self::TrailConflict => "trail.conflict",
            Self::BodyTooLarge => "request.body-too-large",
            Self::StatementTooLarge => "statement.too-large",
            Self::BatchTooLarge => "request.batch-too-large",
            Self::UnsupportedMediaType => "request.unsupported-media-type",
            Self::UnprocessableStatement => "statement.unprocessable",
            Self::RateLimited => "access.rate-limited",
            Self::Internal => "server.internal",
            Self::IndexNotReady => "server.index-not-ready",
            Self::NotAnchored => "server.not-anchored",
            Self::NotWitnessed => "server.not-witnessed",
            Self::WitnessAlarm => "server.witness-alarm",
            Self::Overloaded => "server.overloaded",
            Self::ReadOnly => "server.read-only",
            Self::Stopping => "server.stopping",
            Self::DiskFull => "server.disk-full",
            Self::Witness(code) => code.as_str(),
        }
    }

    /// Returns the HTTP status.
    #[must_use]
    pub fn status(self) -> StatusCode {
        match self {
            Self::MalformedQuery
            | Self::UnknownParameter
            | Self::MissingParameter
            | Self::BadParameter
            | Self::UnreadableBody
            | Self::MalformedStatement => StatusCode::BAD_REQUEST,
            Self::SignatureRequired | Self::TokenRequired | Self::BadToken => {
                StatusCode::UNAUTHORIZED
            }
            Self::UnknownKey | Self::BadSignature => StatusCode::FORBIDDEN,
            Self::UnknownPath | Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::BodyTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::TrailConflict => StatusCode::CONFLICT,
            Self::BodyTooLarge | Self::StatementTooLarge | Self::BatchTooLarge => {
                StatusCode::PAYLOAD_TOO_LARGE
            }
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::UnprocessableStatement => StatusCode::UNPROCESSABLE_ENTITY,
            Self::RateLimited => StatusCode::TOO_MANY_REQUESTS,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::IndexNotReady
            | Self::NotAnchored
            | Self::NotWitnessed
            | Self::WitnessAlarm
            | Self::Overloaded
            | Self::ReadOnly
            | Self::Stopping => StatusCode::SERVICE_UNAVAILABLE,
            Self::DiskFull => StatusCode::INSUFFICIENT_STORAGE,
            Self::Witness(code) => code.status(),
        }
    }

    /// Returns the title: the same for every occurrence, as RFC 9457 section 3.1.3 asks.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::MalformedQuery => "Malformed query",
            Self::UnknownParameter => "Unknown parameter",
            Self::MissingParameter => "Missing parameter",
            Self::BadParameter => "Unusable parameter",
            Self::UnreadableBody => "Unreadable body",
            Self::MalformedStatement => "Malformed statement",
            Self::SignatureRequired => "Signature required",
            Self::TokenRequired => "Token required",
            Self::BadToken => "Unknown token",
            Self::UnknownKey => "Unknown key",
            Self::BadSignature => "Signature does not verify",
            Self::UnknownPath => "No such path",
            Self::NotFound => "Not found",
            Self::MethodNotAllowed => "Method not allowed",
            Self::BodyTimeout => "Body took too long",
            Self::TrailConflict => "Another digest is held",
            Self::BodyTooLarge => "Body too large",
            Self::StatementTooLarge => "Statement too large",
            Self::BatchTooLarge => "Batch too large",
            Self::UnsupportedMediaType => "Unsupported media type",
            Self::UnprocessableStatement => "Statement not accepted",
            Self::RateLimited => "Too many statements",
            Self::Internal => "Internal error",
            Self::IndexNotReady => "Index not ready",
            Self::NotAnchored => "Not anchored in time",
            Self::NotWitnessed => "Not witnessed in time",
            Self::WitnessAlarm => "A witness knows better",
            Self::Overloaded => "Overloaded",
            Self::ReadOnly => "Read-only",
            Self::Stopping => "Stopping",
            Self::DiskFull => "Disk full",
            Self::Witness(code) => code.title(),
        }
    }

    const fn reason(self) -> Option<&'static str> {
        match self {
            Self::Witness(code) => code.reason(),
            _ => None,
        }
    }
}

/// The media type of RFC 9457.
pub const MEDIA_TYPE: &str = "application/problem+json";

const TYPE_PREFIX: &str = "urn:anchorlog:problem:";
const INSTANCE_PREFIX: &str = "urn:anchorlog:request:";

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn codes_are_distinct_and_tell_their_class() {
        let texts: HashSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(texts.len(), Code::ALL.len());
        for code in Code::ALL {
            assert!(code.status().is_client_error() || code.status().is_server_error(), "{code:?}");
            assert_eq!(code.status().is_server_error(), code.as_str().starts_with("server."));
        }
    }

    #[test]
    fn waiting_times_are_whole_seconds_and_never_zero() {
        for (wait, seconds) in [(0, 1), (1, 1), (1000, 1), (1001, 2), (90_000, 90)] {
            let problem =
                Problem::new(Code::Overloaded, "x").retry_after(Duration::from_millis(wait));
            let response = problem.render("r1");
            assert_eq!(response.headers()[RETRY_AFTER], HeaderValue::from(seconds));
            assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        }
    }

    #[test]
    fn a_position_is_named_in_words_and_as_a_number() {
        let problem = Problem::new(Code::MalformedStatement, "bad digest.").at_position(7);
        assert_eq!(problem.detail(), "Statement 7 of the batch: bad digest.");
        assert_eq!(problem.0.position, Some(7));
    }

    #[test]
    fn causes_stay_inside() {
        let problem = Problem::internal(&"disk sda1 is on fire");
        assert_eq!(problem.cause(), Some("disk sda1 is on fire"));
        assert!(!problem.detail().contains("sda1"));
    }
}
