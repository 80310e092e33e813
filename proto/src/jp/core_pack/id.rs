//! Identifiers of a pack's objects.

use std::fmt;
use std::str::FromStr;

/// A local identifier (Core section 5): `^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$`.
///
/// It names one object of one collection of one pack: a rule and an exception may have the same one.
/// It is ASCII, so the derived order is that of bytes, of code points and of UTF-16 units alike.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct CoreId(Box<str>);

/// Not a local identifier.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "not a local identifier: lower-case letters and digits, a letter first, single dashes between"
)]
pub struct CoreIdError;

impl CoreId {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for CoreId {
    type Err = CoreIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_word = |word: &str| {
            !word.is_empty()
                && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        };
        let begins_with_letter = text.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
        if begins_with_letter && text.split('-').all(is_word) {
            Ok(Self(text.into()))
        } else {
            Err(CoreIdError)
        }
    }
}

impl fmt::Display for CoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl AsRef<str> for CoreId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for CoreId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_is_that_of_core() {
        for good in ["a", "a1", "a-1", "rule-a-b2", "z9-9"] {
            assert!(good.parse::<CoreId>().is_ok(), "{good}");
        }
        for bad in ["", "1", "-a", "a-", "a--b", "A", "aB", "a_b", "a b", "é", "a\n", "a.b"] {
            assert_eq!(bad.parse::<CoreId>(), Err(CoreIdError), "{bad}");
        }
    }
}
