//! What a statement belongs to.

use std::fmt;
use std::str::FromStr;

use super::error::StatementError;
use crate::jp::witness::TrailId;

/// The name of a trail: a plan hash, a run, an audit trail. Statements of a trail can be listed.
///
/// Grammar: `[a-z0-9][a-z0-9:._-]*`, 1 to 128 bytes. It needs no escaping in JSON, URLs or files.
#[derive(Clone, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Trail(Box<str>);

impl Trail {
    /// The longest name, in bytes.
    pub const MAX_BYTES: usize = 128;

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<TrailId> for Trail {
    /// An audit trail's identity is the name of a trail as well.
    fn from(trail: TrailId) -> Self {
        Self(trail.to_string().into())
    }
}

impl FromStr for Trail {
    type Err = StatementError;

    fn from_str(text: &str) -> Result<Self, StatementError> {
        let alphanumeric = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9');
        let follows = |byte: &u8| alphanumeric(byte) || matches!(byte, b':' | b'.' | b'_' | b'-');
        let is_trail = text.len() <= Self::MAX_BYTES
            && text.as_bytes().first().is_some_and(alphanumeric)
            && text.as_bytes().iter().all(follows);
        if is_trail { Ok(Self(text.into())) } else { Err(StatementError::TrailForm) }
    }
}

impl AsRef<str> for Trail {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Trail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Trail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Trail({})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grammar() {
        let longest = "x".repeat(Trail::MAX_BYTES);
        for text in ["a", "0", "sha256:00ff", "run-1.2_3:4", "a---", longest.as_str()] {
            assert_eq!(text.parse::<Trail>().map(|trail| trail.to_string()), Ok(text.to_owned()));
        }
        let too_long = "x".repeat(Trail::MAX_BYTES + 1);
        for text in
            ["", "-a", ":a", ".a", "_a", "A", "aB", "a b", "a/b", "é", "a\n", "a\0", &too_long]
        {
            assert_eq!(text.parse::<Trail>(), Err(StatementError::TrailForm), "{text:?}");
        }
    }
}
