//! Where a witness is.

use std::fmt;
use std::str::FromStr;

use reqwest::Url;

/// The submission prefix of a witness: `http` or `https`, a host and perhaps a path, without a slash at the
/// end.
///
/// Plain `http` is safe for what matters: a cosignature is signed and bound to its checkpoint, which is
/// public. Whoever is on the way can keep answers back and can cry wolf, and no more.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WitnessUrl {
    prefix: String,
    add_checkpoint: Url,
}

impl WitnessUrl {
    /// The prefix as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.prefix
    }

    /// Reads what a policy says about where a witness is: bytes that need not be text.
    pub fn from_policy(bytes: &[u8]) -> Result<Self, WitnessUrlError> {
        str::from_utf8(bytes).map_err(|_| WitnessUrlError::Syntax)?.parse()
    }

    pub(super) const fn add_checkpoint(&self) -> &Url {
        &self.add_checkpoint
    }
}

impl fmt::Display for WitnessUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for WitnessUrl {
    type Err = WitnessUrlError;

    fn from_str(text: &str) -> Result<Self, WitnessUrlError> {
        let mut url = Url::parse(text).map_err(|_| WitnessUrlError::Syntax)?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(WitnessUrlError::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(WitnessUrlError::Credentials);
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(WitnessUrlError::Suffix);
        }
        let path = url.path().trim_end_matches('/').to_owned();
        url.set_path(&path);
        let prefix = url.as_str().trim_end_matches('/').to_owned();
        url.set_path(&format!("{path}/add-checkpoint"));
        Ok(Self { prefix, add_checkpoint: url })
    }
}

/// Why a text is not the address of a witness. The text itself isn't repeated: it may hold a password.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WitnessUrlError {
    /// A password in an address ends up in policies that are published.
    #[error("a witness' address must not contain a user name or password")]
    Credentials,
    /// Only `http` and `https`.
    #[error("a witness' address must begin with http:// or https:// and a host")]
    Scheme,
    /// Paths are appended to it.
    #[error("a witness' address must end before `?` and `#`")]
    Suffix,
    /// Not a URL at all.
    #[error("a witness' address is a URL like https://witness.example/prefix")]
    Syntax,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_call_is_below_the_prefix() {
        for (given, prefix, call) in [
            ("https://Witness.example", "https://witness.example", "/add-checkpoint"),
            ("http://[::1]:80//", "http://[::1]", "/add-checkpoint"),
            ("https://w.example/a/b/", "https://w.example/a/b", "/a/b/add-checkpoint"),
        ] {
            let url: WitnessUrl = given.parse().unwrap();
            assert_eq!((url.as_str(), url.add_checkpoint().path()), (prefix, call), "{given}");
        }
    }

    #[test]
    fn other_addresses_are_refused_with_their_reason() {
        let refused = |text: &str| WitnessUrl::from_policy(text.as_bytes()).unwrap_err();
        assert_eq!(refused("witness.example"), WitnessUrlError::Syntax);
        assert_eq!(refused("ftp://witness.example/"), WitnessUrlError::Scheme);
        assert_eq!(refused("https://w.example/?a"), WitnessUrlError::Suffix);
        assert_eq!(refused("https://w.example/#a"), WitnessUrlError::Suffix);
        assert_eq!(refused("https://me:secret@w.example"), WitnessUrlError::Credentials);
        assert_eq!(WitnessUrl::from_policy(b"http://\xff"), Err(WitnessUrlError::Syntax));
    }
}
