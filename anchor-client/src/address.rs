//! Where a log is: its URL, checked and in one spelling.
//!
//! The spelling matters because pins and outboxes are kept per address: `HTTP://Log.example:80/a/` and
//! `http://log.example/a` must be one log. What an address does not say is who the log *is*: that is its
//! verifier key.

use std::fmt;
use std::str::FromStr;

use anchorlog_proto::Digest;
use reqwest::Url;

/// The address of a log: scheme, host, port and an optional path prefix, without a slash at the end.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct LogUrl(String);

impl LogUrl {
    /// The address as text, without a slash at the end.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the connection is encrypted.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.0.starts_with("https:")
    }

    /// The full URL of a call: `path` begins with a slash and may carry a query.
    pub(crate) fn join(&self, path: &str) -> Result<Url, AddressError> {
        Url::parse(&format!("{}{path}", self.0))
            .map_err(|_| AddressError::Syntax { given: format!("{}{path}", self.0) })
    }

    /// A name for files about this address: 64 hexadecimal digits.
    pub(crate) fn file_stem(&self) -> String {
        Digest::of(self.0.as_bytes()).to_hex()
    }
}

impl fmt::Display for LogUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for LogUrl {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let given = || text.to_owned();
        let url = Url::parse(text).map_err(|_| AddressError::Syntax { given: given() })?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(AddressError::Scheme { given: given() });
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(AddressError::Credentials);
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(AddressError::Query { given: given() });
        }
        Ok(Self(url.as_str().trim_end_matches('/').to_owned()))
    }
}

/// Why a text is not the address of a log.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// A password in an address ends up in shell histories and process lists.
    #[error("the log's address must not contain a user name or password")]
    Credentials,
    /// Paths are appended to the address, so it can't end in a query or fragment.
    #[error("`{given}`: the log's address must end before `?` and `#`")]
    Query {
        /// The text given.
        given: String,
    },
    /// Only `http` and `https`.
    #[error("`{given}`: the log's address must begin with http:// or https:// and a host")]
    Scheme {
        /// The text given.
        given: String,
    },
    /// Not a URL at all.
    #[error("`{given}` is not a URL; an example: http://127.0.0.1:7390")]
    Syntax {
        /// The text given.
        given: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_log_has_one_spelling() {
        let log: LogUrl = "HTTP://Log.Example:80/a/".parse().unwrap();
        assert_eq!(log.as_str(), "http://log.example/a");
        assert_eq!(log, "http://log.example/a".parse().unwrap());
        assert_eq!(log.join("/v1/log").unwrap().as_str(), "http://log.example/a/v1/log");
        let bare: LogUrl = "https://log.example/".parse().unwrap();
        assert_eq!(bare.join("/checkpoint").unwrap().as_str(), "https://log.example/checkpoint");
        assert!(bare.is_https() && !log.is_https());
    }

    #[test]
    fn other_addresses_are_refused_with_their_reason() {
        let refused = |text: &str| text.parse::<LogUrl>().unwrap_err();
        assert!(matches!(refused("127.0.0.1:7390"), AddressError::Syntax { .. }));
        assert!(matches!(refused("file:///etc/passwd"), AddressError::Scheme { .. }));
        assert_eq!(refused("http://me:secret@log.example"), AddressError::Credentials);
        assert!(matches!(refused("http://log.example/?a=1"), AddressError::Query { .. }));
        assert!(matches!(refused("http://log.example/#a"), AddressError::Query { .. }));
    }
}
