//! Quantities with their unit written beside them: `"250ms"`, `"16 KiB"`.
//!
//! A bare number is refused: nobody should have to guess whether `timeout = 10` means seconds.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A length of time: a whole number and one of `ms`, `s`, `m`, `h`.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Span(Duration);

impl Span {
    /// Makes a span of whole milliseconds.
    #[must_use]
    pub const fn from_millis(milliseconds: u64) -> Self {
        Self(Duration::from_millis(milliseconds))
    }

    /// Makes a span of whole seconds.
    #[must_use]
    pub const fn from_secs(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }

    /// Returns the span as the standard library's type.
    #[must_use]
    pub const fn get(self) -> Duration {
        self.0
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = self.0.as_millis();
        match milliseconds {
            0 => f.write_str("0s"),
            m if m % 3_600_000 == 0 => write!(f, "{}h", m / 3_600_000),
            m if m % 60_000 == 0 => write!(f, "{}m", m / 60_000),
            m if m % 1_000 == 0 => write!(f, "{}s", m / 1_000),
            m => write!(f, "{m}ms"),
        }
    }
}

impl FromStr for Span {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (number, unit) = split(text)?;
        let milliseconds = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return Err(UnitError::Unit { units: "ms, s, m, h" }),
        };
        number.checked_mul(milliseconds).map(Self::from_millis).ok_or(UnitError::TooLarge)
    }
}

/// An amount of memory or disk: a whole number and one of `B`, `KiB`, `MiB`, `GiB`.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Bytes(u64);

impl Bytes {
    /// Makes an amount of `count` bytes.
    #[must_use]
    pub const fn new(count: u64) -> Self {
        Self(count)
    }

    /// Makes an amount of `count` KiB.
    #[must_use]
    pub const fn kib(count: u64) -> Self {
        Self(count << 10)
    }

    /// Makes an amount of `count` MiB.
    #[must_use]
    pub const fn mib(count: u64) -> Self {
        Self(count << 20)
    }

    /// Makes an amount of `count` GiB.
    #[must_use]
    pub const fn gib(count: u64) -> Self {
        Self(count << 30)
    }

    /// Returns the number of bytes.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the number of bytes as a length in memory, saturating where memory is smaller.
    #[must_use]
    pub fn to_usize(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n if n != 0 && n % (1 << 30) == 0 => write!(f, "{} GiB", n >> 30),
            n if n != 0 && n % (1 << 20) == 0 => write!(f, "{} MiB", n >> 20),
            n if n != 0 && n % (1 << 10) == 0 => write!(f, "{} KiB", n >> 10),
            n => write!(f, "{n} B"),
        }
    }
}

impl FromStr for Bytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let (number, unit) = split(text)?;
        let factor = match unit {
            "B" => 1,
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            _ => return Err(UnitError::Unit { units: "B, KiB, MiB, GiB" }),
        };
        number.checked_mul(factor).map(Self).ok_or(UnitError::TooLarge)
    }
}

/// Why a text is no quantity.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UnitError {
    /// It doesn't start with decimal digits.
    #[error("expected a whole number followed by a unit, as in \"10s\" or \"16 KiB\"")]
    Number,
    /// The product of number and unit doesn't fit 64 bits.
    #[error("the value does not fit into 64 bits")]
    TooLarge,
    /// The unit is missing or unknown.
    #[error("the number needs one of the units {units}")]
    Unit {
        /// The units that would be understood.
        units: &'static str,
    },
}

/// Splits into the number and the unit; at most one space between them.
fn split(text: &str) -> Result<(u64, &str), UnitError> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    if number.is_empty() {
        return Err(UnitError::Number);
    }
    let number = number.parse().map_err(|_| UnitError::TooLarge)?;
    Ok((number, unit.strip_prefix(' ').unwrap_or(unit)))
}

macro_rules! as_text {
    ($type:ty, $expecting:literal) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;

                impl de::Visitor<'_> for Visitor {
                    type Value = $type;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expecting)
                    }

                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                }

                deserializer.deserialize_str(Visitor)
            }
        }
    };
}

as_text!(Span, "a time with its unit, as in \"10s\" or \"250ms\"");
as_text!(Bytes, "an amount with its unit, as in \"16 KiB\"");

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing unwrap is a failing test")]

    use super::*;

    #[test]
    fn spans_are_read_and_written() {
        for (text, milliseconds) in [
            ("0s", 0),
            ("250ms", 250),
            ("10s", 10_000),
            ("90s", 90_000),
            ("2m", 120_000),
            ("1h", 3_600_000),
        ] {
            let span: Span = text.parse().unwrap();
            assert_eq!(span, Span::from_millis(milliseconds));
            assert_eq!(span.to_string().parse::<Span>().unwrap(), span);
        }
        assert_eq!(Span::from_secs(90).to_string(), "90s");
        assert_eq!("1500ms".parse::<Span>().unwrap().to_string(), "1500ms");
    }

    #[test]
    fn amounts_are_read_and_written() {
        for (text, bytes) in [
            ("0 B", 0),
            ("1023 B", 1023),
            ("16 KiB", 16 << 10),
            ("8MiB", 8 << 20),
            ("3 GiB", 3 << 30),
        ] {
            let amount: Bytes = text.parse().unwrap();
            assert_eq!(amount.get(), bytes);
            assert_eq!(amount.to_string().parse::<Bytes>().unwrap(), amount);
        }
        assert_eq!(Bytes::new(16 << 10).to_string(), "16 KiB");
    }

    #[test]
    fn what_has_no_unit_is_refused() {
        assert_eq!("".parse::<Span>(), Err(UnitError::Number));
        assert_eq!("s".parse::<Span>(), Err(UnitError::Number));
        assert_eq!("-1s".parse::<Span>(), Err(UnitError::Number));
        assert_eq!("10".parse::<Span>(), Err(UnitError::Unit { units: "ms, s, m, h" }));
        assert_eq!("10 sec".parse::<Span>(), Err(UnitError::Unit { units: "ms, s, m, h" }));
        assert_eq!("10  s".parse::<Span>(), Err(UnitError::Unit { units: "ms, s, m, h" }));
        assert_eq!("18446744073709551615h".parse::<Span>(), Err(UnitError::TooLarge));
        assert_eq!("10 KB".parse::<Bytes>(), Err(UnitError::Unit { units: "B, KiB, MiB, GiB" }));
        assert_eq!("99999999999999999999 B".parse::<Bytes>(), Err(UnitError::TooLarge));
        assert_eq!("18014398509481984 KiB".parse::<Bytes>(), Err(UnitError::TooLarge));
    }
}
