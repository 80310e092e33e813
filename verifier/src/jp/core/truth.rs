//! Three-valued truth (Core sections 7.1 to 7.3).

use core::fmt;

/// What a condition is.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[allow(clippy::exhaustive_enums, reason = "Core has three values")]
pub enum Truth {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// It can't be told.
    Unknown,
}

impl Truth {
    /// Strong conjunction: false if any is false, true if every one is true.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::False, _) | (_, Self::False) => Self::False,
            (Self::True, Self::True) => Self::True,
            _ => Self::Unknown,
        }
    }

    /// Strong disjunction: true if any is true, false if every one is false.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        self.negated().and(other.negated()).negated()
    }

    /// True for false and false for true; unknown stays.
    #[must_use]
    pub const fn negated(self) -> Self {
        match self {
            Self::True => Self::False,
            Self::False => Self::True,
            Self::Unknown => Self::Unknown,
        }
    }

    /// The word of a trace.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::True => "true",
            Self::False => "false",
            Self::Unknown => "unknown",
        }
    }
}

impl From<bool> for Truth {
    fn from(holds: bool) -> Self {
        if holds { Self::True } else { Self::False }
    }
}

impl From<Option<bool>> for Truth {
    fn from(holds: Option<bool>) -> Self {
        holds.map_or(Self::Unknown, Self::from)
    }
}

impl fmt::Display for Truth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Truth::{False, True, Unknown};

    #[test]
    fn the_tables_are_kleenes() {
        for (a, b, and, or) in [
            (True, True, True, True),
            (True, False, False, True),
            (True, Unknown, Unknown, True),
            (False, False, False, False),
            (False, Unknown, False, Unknown),
            (Unknown, Unknown, Unknown, Unknown),
        ] {
            assert_eq!((a.and(b), b.and(a)), (and, and), "{a} and {b}");
            assert_eq!((a.or(b), b.or(a)), (or, or), "{a} or {b}");
        }
        assert_eq!([True, False, Unknown].map(super::Truth::negated), [False, True, Unknown]);
    }
}
