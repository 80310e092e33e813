//! Bearer tokens (RFC 6750): who calls, where what is sent carries no signature.
//!
//! What it is: `Authorization: Bearer <token>` becomes a [`Principal`] that the configuration names, with a
//! rate of its own. Tokens are opaque, and only their SHA-256 is configured: a token is looked up by its
//! hash, so the time of the look-up says nothing about any token, and a configuration that leaks admits
//! nobody. Tokens are never logged. What it isn't: protection of the way. Whoever reads a token may use it,
//! so it belongs on connections that the proxy in front has encrypted.

use std::collections::HashMap;
use std::fmt;

use anchorlog_proto::Digest;
use anchorlog_proto::encoding::hex_encode;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use zeroize::Zeroizing;

use crate::access::{Bucket, Reason};
use crate::config::TokenConfig;

/// Most bytes of an `Authorization` header that are looked at: 1 KiB.
pub const MAX_HEADER_BYTES: usize = 1024;

/// Most tokens of one configuration.
pub const MAX_TOKENS: usize = 10_000;

/// Most bytes of a subject or an issuer.
pub const MAX_NAME_BYTES: usize = 256;

/// Who a token stands for.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub struct Principal {
    /// Who answers for the name: the log's origin, unless the configuration says another.
    pub issuer: String,
    /// The name.
    pub subject: String,
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.subject, self.issuer)
    }
}

/// The holder of a known token.
#[derive(Debug)]
pub struct Bearer {
    principal: Principal,
    bucket: Bucket,
}

impl Bearer {
    /// Who it is.
    #[must_use]
    pub const fn principal(&self) -> &Principal {
        &self.principal
    }

    /// Takes this many statements from the token's rate, or none.
    ///
    /// Errors: [`Reason::RateLimited`] and [`Reason::OverBurst`].
    pub fn take(&self, count: u32) -> Result<(), Reason> {
        self.bucket.take(count)
    }
}

/// The tokens of a configuration.
#[derive(Debug, Default)]
pub struct Bearers(HashMap<Digest, Bearer>);

impl Bearers {
    /// Reads the configured tokens. `origin` is the issuer of those that name none.
    pub fn new(tokens: &[TokenConfig], origin: &str) -> Result<Self, TokenConfigError> {
        let mut bearers = HashMap::with_capacity(tokens.len());
        for (position, token) in tokens.iter().enumerate() {
            let subject = token.subject.clone();
            let Ok(hash) = token.sha256.parse::<Digest>() else {
                return Err(TokenConfigError::Hash { position, subject });
            };
            let issuer = if token.issuer.is_empty() { origin } else { &token.issuer };
            let bucket = Bucket::new(token.rate, token.burst);
            let principal = Principal { issuer: issuer.to_owned(), subject: subject.clone() };
            if bearers.insert(hash, Bearer { principal, bucket }).is_some() {
                return Err(TokenConfigError::Repeated { position, subject });
            }
        }
        Ok(Self(bearers))
    }

    /// The bearer whose token a request carries; none if it carries no `Authorization`.
    ///
    /// Errors: a header that isn't one bearer token, and a token nobody has configured.
    pub fn identify(&self, headers: &HeaderMap) -> Result<Option<&Bearer>, BearerError> {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let Some(value) = values.next() else { return Ok(None) };
        if values.next().is_some() || value.len() > MAX_HEADER_BYTES {
            return Err(BearerError::Malformed);
        }
        let token = token(value.as_bytes()).ok_or(BearerError::Malformed)?;
        self.0.get(&Digest::of(token)).map(Some).ok_or(BearerError::Unknown)
    }

    /// The same where a token has to be there.
    pub fn require(&self, headers: &HeaderMap) -> Result<&Bearer, BearerError> {
        self.identify(headers)?.ok_or(BearerError::Missing)
    }
}

/// Why a request has no bearer. All of these are answered 401 with `WWW-Authenticate: Bearer`.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BearerError {
    /// Not one header of the form `Bearer <token>`, or more than [`MAX_HEADER_BYTES`].
    #[error(
        "the header Authorization is not `Bearer` and one token, of {MAX_HEADER_BYTES} bytes at most"
    )]
    Malformed,
    /// There is no such header.
    #[error("this call needs a token; send it as `Authorization: Bearer <token>`")]
    Missing,
    /// A token that isn't in the configuration.
    #[error("the token is not one this server knows; ask its operator for one")]
    Unknown,
}

/// Why the configured tokens can't be used.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenConfigError {
    /// Not the hash of a token.
    #[error(
        "tokens, block {} (\"{subject}\"): sha256 must be `sha256:` and 64 lower-case hexadecimal digits, as \
         `log-server token` prints it",
        position + 1
    )]
    Hash {
        /// Which block, counted from 0.
        position: usize,
        /// Its subject.
        subject: String,
    },
    /// The same token stands there twice.
    #[error("tokens, block {} (\"{subject}\"): the same token stands in an earlier block", position + 1)]
    Repeated {
        /// Which block, counted from 0.
        position: usize,
        /// Its subject.
        subject: String,
    },
}

/// A new token, to be shown once: 256 random bits in 64 hexadecimal digits.
///
/// Errors: the system gives no random bytes.
pub fn generate() -> Result<Zeroizing<String>, getrandom::Error> {
    let mut bits = Zeroizing::new([0; 32]);
    getrandom::fill(bits.as_mut_slice())?;
    Ok(Zeroizing::new(hex_encode(bits.as_slice())))
}

/// The token of `Bearer <token>` (RFC 6750 section 2.1); the scheme may be spelled in any case (RFC 9110
/// section 11.1).
fn token(header: &[u8]) -> Option<&[u8]> {
    let (scheme, rest) = header.split_at_checked(SCHEME.len())?;
    let token = rest.strip_prefix(b" ")?.trim_ascii_start();
    let unpadded = token.iter().rev().skip_while(|byte| **byte == b'=');
    let mut plain = unpadded.peekable();
    let is_token = plain.peek().is_some()
        && plain.all(|byte| byte.is_ascii_alphanumeric() || b"-._~+/".contains(byte));
    (scheme.eq_ignore_ascii_case(SCHEME) && is_token).then_some(token)
}

const SCHEME: &[u8] = b"Bearer";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

    use axum::http::HeaderValue;

    use super::*;

    fn configured(token: &str, subject: &str, issuer: &str) -> TokenConfig {
        TokenConfig {
            subject: subject.to_owned(),
            issuer: issuer.to_owned(),
            sha256: Digest::of(token.as_bytes()).to_string(),
            rate: 1,
            burst: 2,
        }
    }

    fn headers(values: &[&str]) -> HeaderMap {
        let values = values.iter().map(|value| HeaderValue::from_str(value).unwrap());
        values.map(|value| (AUTHORIZATION, value)).collect()
    }

    #[test]
    fn a_token_names_its_principal() {
        let token = generate().unwrap();
        assert_eq!(token.len(), 64);
        let tokens = [configured(&token, "desk", ""), configured("b", "runner", "runs.example")];
        let bearers = Bearers::new(&tokens, "log.example").unwrap();
        for header in [
            format!("Bearer {}", *token),
            format!("bearer  {}", *token),
            format!("BEARER {}", *token),
        ] {
            let headers = headers(&[&header]);
            let principal = bearers.require(&headers).unwrap().principal();
            assert_eq!(principal.to_string(), "desk of log.example");
        }
        let principal = bearers.identify(&headers(&["Bearer b"])).unwrap().unwrap().principal();
        assert_eq!(principal.to_string(), "runner of runs.example");
    }

    #[test]
    fn what_is_no_known_token_is_told_apart() {
        let bearers = Bearers::new(&[configured("a=", "desk", "")], "log.example").unwrap();
        assert!(bearers.identify(&headers(&[])).unwrap().is_none());
        assert_eq!(bearers.require(&headers(&[])).unwrap_err(), BearerError::Missing);
        assert!(bearers.require(&headers(&["Bearer a="])).is_ok());
        for unknown in ["Bearer a", "Bearer A=", "Bearer a=="] {
            assert_eq!(bearers.require(&headers(&[unknown])).unwrap_err(), BearerError::Unknown);
        }
        let long = format!("Bearer {}", "a".repeat(MAX_HEADER_BYTES - 6));
        let longest = format!("Bearer {}", "a".repeat(MAX_HEADER_BYTES - 7));
        assert_eq!(bearers.require(&headers(&[&longest])).unwrap_err(), BearerError::Unknown);
        for malformed in
            ["", "Bearer", "Bearer ", "Bearer =", "Bearera=", "Basic a=", "Bearer a b", "a=", &long]
        {
            let error = bearers.identify(&headers(&[malformed])).unwrap_err();
            assert_eq!(error, BearerError::Malformed, "{malformed:?}");
        }
        let twice = bearers.identify(&headers(&["Bearer a=", "Bearer a="]));
        assert_eq!(twice.unwrap_err(), BearerError::Malformed);
        let bytes = HeaderValue::from_bytes(b"Bearer \xff").unwrap();
        let bytes = [(AUTHORIZATION, bytes)].into_iter().collect();
        assert_eq!(bearers.identify(&bytes).unwrap_err(), BearerError::Malformed);
    }

    #[test]
    fn every_token_has_its_own_rate() {
        let tokens = [configured("a", "desk", ""), configured("b", "desk", "")];
        let bearers = Bearers::new(&tokens, "log.example").unwrap();
        let take = |token: &str, count| {
            let headers = headers(&[&format!("Bearer {token}")]);
            bearers.require(&headers).unwrap().take(count)
        };
        take("a", 2).unwrap();
        assert!(matches!(take("a", 1), Err(Reason::RateLimited { .. })));
        assert_eq!(take("b", 3), Err(Reason::OverBurst { count: 3, burst: 2 }));
        take("b", 2).unwrap();
    }

    #[test]
    fn a_token_given_twice_or_wrongly_is_named() {
        let twice = [configured("a", "one", ""), configured("a", "two", "")];
        let error = Bearers::new(&twice, "log.example").unwrap_err();
        assert!(error.to_string().contains("block 2 (\"two\")"), "{error}");
        let mut wrong = configured("a", "one", "");
        wrong.sha256 = wrong.sha256.to_uppercase();
        let error = Bearers::new(&[wrong], "log.example").unwrap_err();
        assert!(error.to_string().contains("block 1 (\"one\")"), "{error}");
    }

    #[test]
    fn tokens_are_not_shown() {
        let bearers = Bearers::new(&[configured("secret", "desk", "")], "log.example").unwrap();
        assert!(!format!("{bearers:?}").contains("secret"));
    }
}
