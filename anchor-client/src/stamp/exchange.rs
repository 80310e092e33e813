//! One question to a server over HTTP, with limits on everything that comes back.
//!
//! What it is: the POST of a query and the GET of a revocation list; size, time and redirects bounded,
//! status and media type looked at. What it is not: no body is read as anything here.

use std::sync::OnceLock;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, LOCATION, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode, Url};

use super::again::Again;
use crate::problem::printable;
use crate::retry::parse_retry_after;
use crate::transport::{header, root_cause};

/// Prepared connections to any number of servers.
#[derive(Debug)]
pub(crate) struct Http {
    plain: Client,
    /// Built when first needed: it wants the system's certificates, which minimal containers don't have.
    secure: OnceLock<Client>,
    connect_timeout: Duration,
}

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ask<'a> {
    /// A time-stamp query is posted; the answer has to be of one of the two media types of RFC 3161
    /// section 3.4.
    Query(&'a [u8]),
    /// A revocation list. Servers call it all sorts of things, and it is signed anyway.
    Crl,
}

/// An answer with a good status and a fitting media type.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) body: Vec<u8>,
    /// Whether the answer came over TLS.
    pub(super) secure: bool,
}

impl Http {
    pub(crate) fn new(connect_timeout: Duration) -> Result<Self, ExchangeError> {
        let plain = builder(connect_timeout).tls_certs_only([]).build();
        let plain = plain.map_err(|source| ExchangeError::Setup { source })?;
        Ok(Self { plain, secure: OnceLock::new(), connect_timeout })
    }

    /// Asks once, all told within `timeout`.
    pub(super) async fn ask(
        &self,
        url: &Url,
        ask: Ask<'_>,
        limit: usize,
        timeout: Duration,
    ) -> Result<Answer, ExchangeError> {
        let exchange = self.follow(url, ask, limit);
        tokio::time::timeout(timeout, exchange)
            .await
            .unwrap_or(Err(ExchangeError::Timeout { after: timeout }))
    }

    async fn follow(&self, url: &Url, ask: Ask<'_>, limit: usize) -> Result<Answer, ExchangeError> {
        let mut url = url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let client = self.client(&url)?;
            let request = match ask {
                Ask::Query(query) => client
                    .post(url.clone())
                    .header(CONTENT_TYPE, MEDIA_TYPE_QUERY)
                    .header(ACCEPT, MEDIA_TYPES_REPLY.join(", "))
                    .body(query.to_vec()),
                Ask::Crl => client.get(url.clone()).header(ACCEPT, "application/pkix-crl, */*"),
            };
            let response = request.send().await.map_err(ExchangeError::connection)?;
            if is_redirect(response.status()) {
                let location = header(response.headers(), &LOCATION).unwrap_or_default();
                let target = redirected(&url, ask, response.status(), &location);
                url = target.map_err(|refusal| ExchangeError::Redirect {
                    target: printable(&location),
                    refusal,
                })?;
            } else {
                return read(response, ask, limit).await;
            }
        }
        let refusal = RedirectRefusal::TooMany;
        Err(ExchangeError::Redirect { target: printable(url.as_str()), refusal })
    }

    /// The client for a URL: without TLS nothing needs the system's certificates.
    pub(crate) fn client(&self, url: &Url) -> Result<&Client, ExchangeError> {
        if url.scheme() == "http" {
            return Ok(&self.plain);
        }
        if let Some(client) = self.secure.get() {
            return Ok(client);
        }
        let client = builder(self.connect_timeout).build();
        let client = client.map_err(|source| ExchangeError::Setup { source })?;
        Ok(self.secure.get_or_init(|| client))
    }
}

/// Why no usable answer came back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExchangeError {
    /// No connection, or one that broke, also in the middle of the answer.
    #[error("can't be reached, or the connection broke: {}", root_cause(source))]
    Connection {
        /// The reason.
        source: reqwest::Error,
    },
    /// The answer is compressed although that wasn't asked for.
    #[error("answered with content encoding `{encoding}`, which was not asked for")]
    Encoding {
        /// The encoding named.
        encoding: String,
    },
    /// The answer says that it is something else than a time-stamp response.
    #[error(
        "answered with {} instead of {}{}",
        if found.is_empty() { "no media type" } else { found.as_str() },
        MEDIA_TYPES_REPLY.join(" or "),
        excerpt_sentence(excerpt)
    )]
    MediaType {
        /// The media type found, without its parameters.
        found: String,
        /// How the body begins, made safe to print.
        excerpt: String,
    },
    /// The answer sends us elsewhere, and we don't go there.
    #[error("redirects to `{target}`, which is not followed: {refusal}")]
    Redirect {
        /// Where it points, made safe to print.
        target: String,
        /// Why it isn't followed.
        refusal: RedirectRefusal,
    },
    /// TLS or the resolver can't be set up on this machine.
    #[error("the HTTP client can't be set up: {}", root_cause(source))]
    Setup {
        /// The reason.
        source: reqwest::Error,
    },
    /// A status that isn't a success.
    #[error("HTTP {status}{}", excerpt_sentence(excerpt))]
    Status {
        /// The HTTP status.
        status: u16,
        /// How long it asked to wait.
        retry_after: Option<Duration>,
        /// How the body begins, made safe to print.
        excerpt: String,
    },
    /// It took too long.
    #[error("no complete answer within {} seconds", after.as_secs_f32())]
    Timeout {
        /// The limit.
        after: Duration,
    },
    /// The answer is longer than the longest right one.
    #[error("the answer is longer than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
}

/// Why a redirect isn't followed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RedirectRefusal {
    /// From https to http.
    #[error("it would give up TLS")]
    Downgrade,
    /// It asks for a GET, which can't carry a query.
    #[error("it asks for another method")]
    Method,
    /// Who was asked has to be where its address says.
    #[error("nothing is sent elsewhere")]
    Never,
    /// Another host or port, or no address at all.
    #[error("it isn't on the same host")]
    OtherHost,
    /// Too many in a row.
    #[error("it is one too many")]
    TooMany,
}

impl ExchangeError {
    /// The stable code of the failure.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Connection { .. } => "CLIENT.UNREACHABLE",
            Self::Encoding { .. } | Self::Status { .. } => "CLIENT.ANSWER",
            Self::MediaType { .. } => "CLIENT.MEDIA_TYPE",
            Self::Redirect { .. } => "CLIENT.REDIRECT",
            Self::Setup { .. } => "CLIENT.SETUP",
            Self::Timeout { .. } => "CLIENT.TIMEOUT",
            Self::TooLarge { .. } => "CLIENT.TOO_LARGE",
        }
    }

    /// Whether asking again can help.
    #[must_use]
    pub fn again(&self) -> Again {
        match self {
            Self::Connection { .. }
            | Self::Timeout { .. }
            | Self::Status { status: 408 | 429 | 500..=599, .. } => Again::Later,
            // A gateway's page, perhaps.
            Self::MediaType { .. } => Again::Once,
            _ => Again::Never,
        }
    }

    pub(crate) fn connection(source: reqwest::Error) -> Self {
        // Whoever reports it knows the URL.
        Self::Connection { source: source.without_url() }
    }
}

fn builder(connect_timeout: Duration) -> reqwest::ClientBuilder {
    Client::builder()
        .user_agent(concat!("anchorlog-client/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(connect_timeout)
        .redirect(Policy::none())
        .referer(false)
        .tcp_nodelay(true)
}

pub(crate) fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// Where to ask next: the same host and port, or the same host with TLS where there was none. 301 and 302
/// are followed with the method they were answered to, which RFC 9110 section 15.4 allows: the question is
/// the same wherever it is asked.
fn redirected(
    url: &Url,
    ask: Ask<'_>,
    status: StatusCode,
    location: &str,
) -> Result<Url, RedirectRefusal> {
    if status == StatusCode::SEE_OTHER && matches!(ask, Ask::Query(_)) {
        return Err(RedirectRefusal::Method);
    }
    let Ok(target) = url.join(location) else { return Err(RedirectRefusal::OtherHost) };
    let clean = target.username().is_empty() && target.password().is_none();
    if !clean || target.host_str() != url.host_str() {
        return Err(RedirectRefusal::OtherHost);
    }
    match (url.scheme(), target.scheme()) {
        ("https", "http") => Err(RedirectRefusal::Downgrade),
        ("http", "https") if url.port().is_none() && target.port().is_none() => Ok(target),
        _ if target.origin() == url.origin() => Ok(target),
        _ => Err(RedirectRefusal::OtherHost),
    }
}

async fn read(response: Response, ask: Ask<'_>, limit: usize) -> Result<Answer, ExchangeError> {
    let status = response.status();
    let headers = response.headers();
    if !status.is_success() {
        let retry_after = header(headers, &RETRY_AFTER).and_then(|value| parse_retry_after(&value));
        let excerpt = excerpt(response).await;
        return Err(ExchangeError::Status { status: status.as_u16(), retry_after, excerpt });
    }
    if let Some(encoding) = header(headers, &CONTENT_ENCODING)
        && !encoding.eq_ignore_ascii_case("identity")
    {
        return Err(ExchangeError::Encoding { encoding: printable(&encoding) });
    }
    if matches!(ask, Ask::Query(_)) {
        let found = media_type(headers);
        if !MEDIA_TYPES_REPLY.contains(&found.as_str()) {
            return Err(ExchangeError::MediaType { found, excerpt: excerpt(response).await });
        }
    }
    let secure = response.url().scheme() == "https";
    Ok(Answer { body: read_limited(response, limit).await?, secure })
}

/// The media type in lower case and without parameters: what stands before the first `;` of a header that
/// may be very long.
fn media_type(headers: &HeaderMap) -> String {
    let bytes = headers.get(CONTENT_TYPE).map_or(&[][..], |value| value.as_bytes());
    let bytes = bytes.split(|&byte| byte == b';').next().unwrap_or_default();
    let longest = bytes.get(..MAX_MEDIA_TYPE).unwrap_or(bytes);
    printable(String::from_utf8_lossy(longest).trim()).to_ascii_lowercase()
}

pub(crate) async fn read_limited(
    mut response: Response,
    limit: usize,
) -> Result<Vec<u8>, ExchangeError> {
    // What a server announces is never believed to be little, only to be too much.
    let announced = response.content_length().map(usize::try_from);
    if announced.is_some_and(|length| length.map_or(true, |length| length > limit)) {
        return Err(ExchangeError::TooLarge { limit });
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(ExchangeError::connection)? {
        if chunk.len() > limit.saturating_sub(body.len()) {
            return Err(ExchangeError::TooLarge { limit });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// How a body begins, for people. Whoever sends it slowly isn't waited for.
pub(crate) async fn excerpt(mut response: Response) -> String {
    let mut bytes = Vec::new();
    let read = async {
        while bytes.len() < EXCERPT_BYTES {
            match response.chunk().await {
                Ok(Some(chunk)) => bytes.extend(chunk.iter().take(EXCERPT_BYTES)),
                _ => break,
            }
        }
    };
    // Late or early, what has come is what is shown.
    let _ = tokio::time::timeout(EXCERPT_PATIENCE, read).await;
    let text = printable(&String::from_utf8_lossy(&bytes));
    let words: Vec<_> = text.split_whitespace().collect();
    words.join(" ").chars().take(EXCERPT_CHARACTERS).collect()
}

fn excerpt_sentence(excerpt: &str) -> String {
    if excerpt.is_empty() { String::new() } else { format!("; the answer begins: {excerpt}") }
}

const MEDIA_TYPE_QUERY: &str = "application/timestamp-query";

/// RFC 3161 section 3.4 names the first in its definition and the second in its text.
const MEDIA_TYPES_REPLY: [&str; 2] =
    ["application/timestamp-reply", "application/timestamp-response"];

const MAX_REDIRECTS: usize = 3;
const MAX_MEDIA_TYPE: usize = 128;
const EXCERPT_BYTES: usize = 1024;
const EXCERPT_CHARACTERS: usize = 200;
const EXCERPT_PATIENCE: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;

    fn target(url: &str, location: &str) -> Result<String, RedirectRefusal> {
        let url = Url::parse(url).unwrap();
        redirected(&url, Ask::Query(b""), StatusCode::TEMPORARY_REDIRECT, location).map(Into::into)
    }

    #[test]
    fn tls_is_taken_up_and_never_given_up() {
        let upgraded = target("http://tsa.example/a", "https://tsa.example/b");
        assert_eq!(upgraded.as_deref(), Ok("https://tsa.example/b"));
        let downgraded = target("https://tsa.example/a", "http://tsa.example/a");
        assert_eq!(downgraded, Err(RedirectRefusal::Downgrade));
        for (url, location) in [
            ("http://tsa.example/", "https://tsa.example:8443/"),
            ("http://tsa.example:80/", "https://other.example/"),
            ("http://tsa.example/", "http://tsa.example:8080/"),
            ("http://tsa.example/", "//other.example/"),
            ("http://tsa.example/", "http://tsa.example.other.example/"),
            ("http://tsa.example/", "file:///etc/passwd"),
            ("http://tsa.example/", "http://[bad"),
        ] {
            assert_eq!(target(url, location), Err(RedirectRefusal::OtherHost), "{location}");
        }
        assert_eq!(target("http://tsa.example/a/b", "c").as_deref(), Ok("http://tsa.example/a/c"));
    }
}
