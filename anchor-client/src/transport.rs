//! HTTP with limits: every answer has a size limit and a deadline, nobody is followed to another host, and
//! what can be tried again is tried again ([`crate::retry`]).
//!
//! What it is not: nothing is read or verified here. What comes out is bytes that somebody sent.

use std::time::Duration;

use reqwest::header::{
    ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION, RETRY_AFTER,
};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode, Url};

use crate::address::{AddressError, LogUrl};
use crate::problem::{PROBLEM_MEDIA_TYPE, Problem, printable};
use crate::retry::{RetryPolicy, is_retryable, parse_retry_after};
use crate::token::Token;

/// Where requests go and how patiently.
#[derive(Clone, Debug)]
pub struct Transport {
    client: Client,
    log: LogUrl,
    retry: RetryPolicy,
    timeout: Duration,
}

impl Transport {
    /// Prepares connections to one log. `timeout` is how long one try may take, from the first byte sent
    /// to the last one received.
    pub fn new(log: LogUrl, timeout: Duration, retry: RetryPolicy) -> Result<Self, TransportError> {
        let builder = Client::builder()
            .user_agent(concat!("anchorlog-client/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(timeout.min(CONNECT_TIMEOUT))
            .redirect(Policy::none())
            .tcp_nodelay(true);
        // Without TLS nothing needs the system's certificates, which minimal containers don't have.
        let builder = if log.is_https() { builder } else { builder.tls_certs_only([]) };
        let client = builder.build().map_err(|source| TransportError::Setup { source })?;
        Ok(Self { client, log, retry, timeout })
    }

    /// The log this leads to.
    #[must_use]
    pub fn log(&self) -> &LogUrl {
        &self.log
    }

    /// Sends one request, again where that helps, and returns the body of a successful answer.
    pub(crate) async fn send(&self, request: &Request) -> Result<Vec<u8>, TransportError> {
        self.send_any(request).await.map(|(_, body)| body)
    }

    /// The same with the status, which is 200, or 409 where the request takes that.
    pub(crate) async fn send_any(
        &self,
        request: &Request,
    ) -> Result<(u16, Vec<u8>), TransportError> {
        let url = self.log.join(&request.path)?;
        let mut tried = 0;
        loop {
            tried += 1;
            let failure = match self.try_once(&url, request).await {
                Ok(body) => return Ok(body),
                Err(failure) => failure,
            };
            let delay = if failure.is_temporary() {
                self.retry.delay(tried, failure.retry_after())
            } else {
                None
            };
            let Some(delay) = delay else { return Err(failure) };
            tokio::time::sleep(delay).await;
        }
    }

    async fn try_once(
        &self,
        url: &Url,
        request: &Request,
    ) -> Result<(u16, Vec<u8>), TransportError> {
        let timeout = self.timeout + request.patience;
        let exchange = async {
            let response = self.exchange(url, request).await?;
            self.read(url, response, request).await
        };
        match tokio::time::timeout(timeout, exchange).await {
            Ok(result) => result,
            Err(_) => Err(TransportError::Timeout { url: url.to_string(), after: timeout }),
        }
    }

    /// One request and, for reads, the redirects that stay on the host.
    async fn exchange(&self, url: &Url, request: &Request) -> Result<Response, TransportError> {
        let mut url = url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let builder = match &request.body {
                Some(body) => self
                    .client
                    .post(url.clone())
                    .header(CONTENT_TYPE, request.media_type)
                    .body(body.clone()),
                None => self.client.get(url.clone()),
            };
            let builder = match &request.token {
                Some(token) => builder.bearer_auth(token.secret()),
                None => builder,
            };
            let response = builder
                .header(ACCEPT, request.accept)
                .send()
                .await
                .map_err(|source| TransportError::connection(&url, source))?;
            if !response.status().is_redirection() {
                return Ok(response);
            }
            let location = header(response.headers(), &LOCATION).unwrap_or_default();
            let target = url.join(&location).ok();
            match target {
                Some(target) if request.body.is_none() && same_host(&url, &target) => url = target,
                _ => {
                    return Err(TransportError::Redirect {
                        url: url.to_string(),
                        target: printable(&location),
                    });
                }
            }
        }
        Err(TransportError::Redirect { url: url.to_string(), target: url.to_string() })
    }

    async fn read(
        &self,
        url: &Url,
        response: Response,
        request: &Request,
    ) -> Result<(u16, Vec<u8>), TransportError> {
        let status = response.status();
        let headers = response.headers().clone();
        if let Some(encoding) = header(&headers, &CONTENT_ENCODING)
            && encoding != "identity"
        {
            return Err(TransportError::Encoding {
                url: url.to_string(),
                encoding: printable(&encoding),
            });
        }
        let conflict = request.takes_conflicts && status == StatusCode::CONFLICT;
        if status == StatusCode::OK || conflict {
            return Ok((status.as_u16(), read_limited(url, response, request.limit).await?));
        }
        let retry_after = header(&headers, &RETRY_AFTER).and_then(|v| parse_retry_after(&v));
        let media_type = header(&headers, &CONTENT_TYPE).unwrap_or_default();
        let media_type = media_type.split(';').next().map(str::trim);
        let body = read_limited(url, response, MAX_PROBLEM_BYTES).await?;
        let problem = match media_type {
            Some(PROBLEM_MEDIA_TYPE) => Problem::read(status.as_u16(), &body, retry_after),
            Some("application/json") => Problem::read_reason(status.as_u16(), &body, retry_after),
            _ => None,
        };
        Err(match problem {
            Some(problem) => TransportError::Problem { url: url.to_string(), problem },
            None => TransportError::Status {
                url: url.to_string(),
                status: status.as_u16(),
                retry_after,
            },
        })
    }
}

/// One call of the log's interface.
#[derive(Debug)]
pub(crate) struct Request {
    /// Path below the log's address, with its query.
    path: String,
    /// What to post; without it it is a GET.
    body: Option<Vec<u8>>,
    /// What the body is.
    media_type: &'static str,
    token: Option<Token>,
    /// Whether a 409 is an answer like one of status 200.
    takes_conflicts: bool,
    accept: &'static str,
    /// The largest body of an answer, in bytes.
    limit: usize,
    /// How long the log was asked to hold the request.
    patience: Duration,
}

impl Request {
    pub(crate) fn get(path: impl Into<String>, accept: &'static str, limit: usize) -> Self {
        Self {
            path: path.into(),
            body: None,
            media_type: JSON,
            token: None,
            takes_conflicts: false,
            accept,
            limit,
            patience: Duration::ZERO,
        }
    }

    pub(crate) fn post(path: impl Into<String>, body: Vec<u8>, limit: usize) -> Self {
        Self { body: Some(body), ..Self::get(path, JSON, limit) }
    }

    /// The body is JSON lines, sent by whoever has this token.
    pub(crate) fn of_lines(self, token: Option<&Token>) -> Self {
        Self { media_type: "application/jsonl", accept: "*/*", token: token.cloned(), ..self }
    }

    /// A 409 is an answer to be read.
    pub(crate) fn taking_conflicts(self) -> Self {
        Self { takes_conflicts: true, ..self }
    }

    pub(crate) fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }
}

/// Why no successful answer came back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// The address doesn't make a URL.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The answer is compressed although that wasn't asked for.
    #[error("{url}: answered with content encoding `{encoding}`, which was not asked for")]
    Encoding {
        /// What was asked.
        url: String,
        /// The encoding named.
        encoding: String,
    },
    /// The log gave its reasons for saying no.
    #[error("{url}: {} ({}, HTTP {})", problem.detail, problem.code, problem.status)]
    Problem {
        /// What was asked.
        url: String,
        /// The reasons.
        problem: Problem,
    },
    /// The answer sends us elsewhere: to another host, or with a statement in hand.
    #[error("{url}: redirects to `{target}`, which is not followed; use the log's own address")]
    Redirect {
        /// What was asked.
        url: String,
        /// Where it points.
        target: String,
    },
    /// TLS or the resolver can't be set up on this machine.
    #[error("the HTTP client can't be set up: {}", root_cause(source))]
    Setup {
        /// The reason.
        source: reqwest::Error,
    },
    /// An error status without a problem document: most likely not a log, or a gateway before one.
    #[error("{url}: HTTP {status} without a problem document; is this the address of a log?")]
    Status {
        /// What was asked.
        url: String,
        /// The HTTP status.
        status: u16,
        /// How long it asked to wait.
        retry_after: Option<Duration>,
    },
    /// It took too long.
    #[error("{url}: no complete answer within {} seconds", after.as_secs_f32())]
    Timeout {
        /// What was asked.
        url: String,
        /// The limit.
        after: Duration,
    },
    /// The answer is longer than the longest right one.
    #[error("{url}: the answer is longer than {limit} bytes")]
    TooLarge {
        /// What was asked.
        url: String,
        /// The limit in bytes.
        limit: usize,
    },
    /// No connection, or one that broke.
    #[error("{url}: can't be reached: {}", root_cause(source))]
    Unreachable {
        /// What was asked.
        url: String,
        /// The reason.
        source: reqwest::Error,
    },
}

impl TransportError {
    /// The stable code of the failure; the log's own, where it gave one.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Address(_) => "CLIENT.ADDRESS",
            Self::Encoding { .. } | Self::Status { .. } => "CLIENT.ANSWER",
            Self::Problem { problem, .. } => &problem.code,
            Self::Redirect { .. } => "CLIENT.REDIRECT",
            Self::Setup { .. } => "CLIENT.SETUP",
            Self::Timeout { .. } => "CLIENT.TIMEOUT",
            Self::TooLarge { .. } => "CLIENT.TOO_LARGE",
            Self::Unreachable { .. } => "CLIENT.UNREACHABLE",
        }
    }

    /// Whether the same request can succeed later.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Timeout { .. } | Self::Unreachable { .. } => true,
            Self::Problem { problem, .. } => is_retryable(problem.status),
            Self::Status { status, .. } => is_retryable(*status),
            _ => false,
        }
    }

    /// Whether what was asked for doesn't exist, as the log, or a static server, says.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        match self {
            Self::Problem { problem, .. } => problem.status == 404,
            Self::Status { status, .. } => *status == 404,
            _ => false,
        }
    }

    /// The log's refusal, if this is one that asking again can't change.
    #[must_use]
    pub fn refusal(&self) -> Option<&Problem> {
        match self {
            Self::Problem { problem, .. } if problem.is_refusal() => Some(problem),
            _ => None,
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Problem { problem, .. } => problem.retry_after,
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    fn connection(url: &Url, source: reqwest::Error) -> Self {
        // The URL is said once, by us.
        Self::Unreachable { url: url.to_string(), source: source.without_url() }
    }
}

/// reqwest's own text stops at "error sending request"; the cause is at the end of the chain.
pub(crate) fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    printable(&cause.to_string())
}

pub(crate) fn header(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

fn same_host(one: &Url, other: &Url) -> bool {
    one.origin() == other.origin() && other.username().is_empty() && other.password().is_none()
}

async fn read_limited(
    url: &Url,
    mut response: Response,
    limit: usize,
) -> Result<Vec<u8>, TransportError> {
    let too_large = || TransportError::TooLarge { url: url.to_string(), limit };
    let announced = response.content_length().map(usize::try_from);
    if announced.is_some_and(|length| length.is_ok_and(|n| n > limit) || length.is_err()) {
        return Err(too_large());
    }
    let mut body = Vec::new();
    while let Some(chunk) =
        response.chunk().await.map_err(|source| TransportError::connection(url, source))?
    {
        if chunk.len() > limit - body.len() {
            return Err(too_large());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

const JSON: &str = "application/json";
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_REDIRECTS: usize = 3;
const MAX_PROBLEM_BYTES: usize = 64 * 1024;
