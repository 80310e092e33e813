//! Ids: `[a-z][a-z0-9-]{0,63}` (RFC 0020 section 1).

use core::fmt;
use core::str::FromStr;

/// An id of a stage, an instance, an execution or a relation.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Id(String);

/// Text that is no id.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not an id: [a-z][a-z0-9-]{{0,63}}")]
#[non_exhaustive]
pub struct IdError;

impl Id {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Id {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let tail = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        match text.as_bytes() {
            [b'a'..=b'z', rest @ ..] if rest.len() < 64 && rest.iter().copied().all(tail) => {
                Ok(Self(text.to_owned()))
            }
            _ => Err(IdError),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids() {
        let long = "a".repeat(64);
        for good in ["a", "a-", "people", "r2-d2", &long] {
            assert_eq!(good.parse::<Id>().map(|id| id.to_string()), Ok(good.to_owned()));
        }
        let longer = "a".repeat(65);
        for bad in ["", "A", "1a", "-a", "a_b", "a.b", "é", "a b", "a\n", &longer] {
            assert_eq!(bad.parse::<Id>(), Err(IdError), "{bad}");
        }
    }
}
