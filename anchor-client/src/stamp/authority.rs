//! Who is asked for a time stamp, and who is believed for it.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use anchorlog_proto::timestamp::ObjectIdentifier;
use anchorlog_verifier::timestamp::{Certificate, TrustEntry};
use reqwest::Url;

/// One time-stamping authority: where it is, who runs it, and what its tokens have to chain to.
///
/// Cheap to clone. Two authorities of one operator are two chances for one token, never two tokens of a
/// quorum.
#[derive(Clone, Debug)]
pub struct Authority {
    url: TsaUrl,
    trust: Arc<TrustEntry>,
    certificates: Arc<Vec<Certificate>>,
    policy: Option<ObjectIdentifier>,
}

impl Authority {
    /// An authority whose tokens are judged by this trust entry and by no other one. The operator is the
    /// trust entry's.
    #[must_use]
    pub fn new(url: TsaUrl, trust: TrustEntry) -> Self {
        Self { url, trust: Arc::new(trust), certificates: Arc::default(), policy: None }
    }

    /// Asks for tokens under this policy, and takes no others.
    #[must_use]
    pub fn with_policy(self, policy: ObjectIdentifier) -> Self {
        Self { policy: Some(policy), ..self }
    }

    /// Issuing certificates that the authority leaves out of its tokens. They are trusted no more than
    /// the ones in a token.
    #[must_use]
    pub fn with_certificates(self, certificates: Vec<Certificate>) -> Self {
        Self { certificates: Arc::new(certificates), ..self }
    }

    /// Who runs it: what a quorum counts.
    #[must_use]
    pub fn operator(&self) -> &str {
        self.trust.operator()
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> &TsaUrl {
        &self.url
    }

    /// What its tokens are judged by.
    #[must_use]
    pub fn trust(&self) -> &TrustEntry {
        &self.trust
    }

    /// The policy that is asked for.
    #[must_use]
    pub fn policy(&self) -> Option<ObjectIdentifier> {
        self.policy
    }

    pub(super) fn certificates(&self) -> &[Certificate] {
        &self.certificates
    }
}

/// The address of a time-stamping authority: `http` or `https`, with a path and perhaps a query.
///
/// Plain `http` is usual and safe for what matters: a token is signed and bound to its request. Whoever
/// is on the way can see the digest and keep the answer back, and no more.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TsaUrl(Url);

impl TsaUrl {
    /// The address as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The host, without brackets around an IPv6 address.
    #[must_use]
    pub fn host(&self) -> &str {
        // Without a host it isn't an address; `from_str` sees to that.
        self.0.host_str().unwrap_or_default().trim_matches(['[', ']'])
    }

    pub(super) fn url(&self) -> &Url {
        &self.0
    }
}

impl fmt::Display for TsaUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for TsaUrl {
    type Err = TsaUrlError;

    fn from_str(text: &str) -> Result<Self, TsaUrlError> {
        let given = || text.to_owned();
        let url = Url::parse(text).map_err(|_| TsaUrlError::Syntax { given: given() })?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(TsaUrlError::Scheme { given: given() });
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(TsaUrlError::Credentials);
        }
        if url.fragment().is_some() {
            return Err(TsaUrlError::Fragment { given: given() });
        }
        Ok(Self(url))
    }
}

/// Why a text is not the address of an authority.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TsaUrlError {
    /// A password in an address ends up in shell histories, process lists and reports.
    #[error("the authority's address must not contain a user name or password")]
    Credentials,
    /// What is behind `#` is never sent.
    #[error("`{given}`: the authority's address must end before `#`")]
    Fragment {
        /// The text given.
        given: String,
    },
    /// Only `http` and `https`.
    #[error("`{given}`: the authority's address must begin with http:// or https:// and a host")]
    Scheme {
        /// The text given.
        given: String,
    },
    /// Not a URL at all.
    #[error("`{given}` is not a URL; an example: http://timestamp.example/tsr")]
    Syntax {
        /// The text given.
        given: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_http_with_path_and_query() {
        let url: TsaUrl = "HTTP://TSA.example:80/a?b=c".parse().unwrap();
        assert_eq!((url.as_str(), url.host()), ("http://tsa.example/a?b=c", "tsa.example"));
        let url: TsaUrl = "https://[::1]:8443".parse().unwrap();
        assert_eq!((url.as_str(), url.host()), ("https://[::1]:8443/", "::1"));
    }

    #[test]
    fn other_addresses_are_refused_with_their_reason() {
        let refused = |text: &str| text.parse::<TsaUrl>().unwrap_err();
        assert!(matches!(refused("tsa.example"), TsaUrlError::Syntax { .. }));
        assert!(matches!(refused("ftp://tsa.example/"), TsaUrlError::Scheme { .. }));
        assert!(matches!(refused("http://tsa.example/#a"), TsaUrlError::Fragment { .. }));
        assert_eq!(refused("http://me:secret@tsa.example"), TsaUrlError::Credentials);
    }
}
