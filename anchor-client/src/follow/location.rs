//! Where a log's tiles are.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use crate::address::{AddressError, LogUrl};

/// Where the files of C2SP tlog-tiles are found, `checkpoint` beside `tile/`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TileLocation {
    /// A log, a mirror or a static server.
    Url(LogUrl),
    /// A directory: an export, a mirror, the directory of a Tessera POSIX log.
    Directory(PathBuf),
}

impl fmt::Display for TileLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(url) => url.fmt(f),
            Self::Directory(path) => path.display().fmt(f),
        }
    }
}

impl FromStr for TileLocation {
    type Err = AddressError;

    /// What begins with a scheme and `://` is an address and must be one of a log; the rest are paths.
    fn from_str(text: &str) -> Result<Self, AddressError> {
        let scheme = text.split_once("://").map(|(scheme, _)| scheme);
        let is_scheme = |scheme: &str| {
            !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        if scheme.is_some_and(is_scheme) {
            return text.parse().map(Self::Url);
        }
        if text.is_empty() {
            return Err(AddressError::Syntax { given: text.to_owned() });
        }
        Ok(Self::Directory(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_a_scheme_and_paths_have_none() {
        let url: TileLocation = "https://log.example/a/".parse().unwrap();
        assert_eq!(url, TileLocation::Url("https://log.example/a".parse().unwrap()));
        for path in ["/srv/log", "log", "./http:/x", "a b://"] {
            assert_eq!(
                path.parse::<TileLocation>().unwrap(),
                TileLocation::Directory(path.into()),
                "{path}"
            );
        }
        assert!(matches!(
            "ftp://log.example".parse::<TileLocation>(),
            Err(AddressError::Scheme { .. })
        ));
        assert!("".parse::<TileLocation>().is_err());
    }
}
