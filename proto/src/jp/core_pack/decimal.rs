//! Decimal strings (Core sections 2.2 and 7.4): their grammar, and their order by value.

use std::cmp::Ordering;

/// A string of the decimal grammar: `[ "-" ] ( "0" / non-zero-digit *DIGIT ) [ "." 1*DIGIT ]`.
///
/// It is compared by mathematical value: `1.0` and `1.00` are neither greater nor less. There is no
/// equality here on purpose: as JSON they are different strings.
#[derive(Clone, Copy, Debug)]
pub struct Decimal<'a> {
    negative: bool,
    /// Digits before the point, without leading zeros: empty for zero.
    whole: &'a [u8],
    /// Digits after the point, without trailing zeros.
    fraction: &'a [u8],
}

impl<'a> Decimal<'a> {
    /// Reads a decimal string; `None` for every other string.
    #[must_use]
    pub fn parse(text: &'a str) -> Option<Self> {
        let (negative, magnitude) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (whole, fraction) = match magnitude.split_once('.') {
            Some((whole, fraction)) if is_digits(fraction) => (whole, fraction),
            Some(_) => return None,
            None => (magnitude, ""),
        };
        if !is_digits(whole) || (whole.len() > 1 && whole.starts_with('0')) {
            return None;
        }
        let whole = if whole == "0" { "" } else { whole };
        Some(Self {
            negative,
            whole: whole.as_bytes(),
            fraction: fraction.trim_end_matches('0').as_bytes(),
        })
    }

    /// The order by mathematical value.
    #[must_use]
    pub fn compare(&self, other: &Self) -> Ordering {
        let (ours, theirs) = (self.sign(), other.sign());
        let magnitudes = self.compare_magnitude(other);
        ours.cmp(&theirs).then(if ours < 0 { magnitudes.reverse() } else { magnitudes })
    }

    /// -1, 0 or 1.
    const fn sign(&self) -> i8 {
        if self.whole.is_empty() && self.fraction.is_empty() {
            0
        } else if self.negative {
            -1
        } else {
            1
        }
    }

    /// Digits of equal length compare as text; so do fractions, because they have no trailing zeros.
    fn compare_magnitude(&self, other: &Self) -> Ordering {
        self.whole
            .len()
            .cmp(&other.whole.len())
            .then_with(|| self.whole.cmp(other.whole))
            .then_with(|| self.fraction.cmp(other.fraction))
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use proptest::prelude::*;

    use super::*;

    fn compare(a: &str, b: &str) -> Ordering {
        Decimal::parse(a).unwrap().compare(&Decimal::parse(b).unwrap())
    }

    #[test]
    fn the_grammar_is_that_of_core() {
        for good in ["0", "-0", "0.0", "-0.5", "10", "1000.00", "9007199254740993.000000001"] {
            assert!(Decimal::parse(good).is_some(), "{good}");
        }
        for bad in [
            "", "-", "+1", "01", "-01", "1.", ".5", "1e3", "1.2.3", "NaN", " 1", "1 ", "١", "--1",
            "00.1",
        ] {
            assert!(Decimal::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn order_is_that_of_values_not_of_text() {
        assert_eq!(compare("999.99", "1000"), Ordering::Less);
        assert_eq!(compare("1000.00", "1000"), Ordering::Equal);
        assert_eq!(compare("-0", "0.000"), Ordering::Equal);
        assert_eq!(compare("-2", "-10"), Ordering::Greater);
        assert_eq!(compare("-0.5", "-0.45"), Ordering::Less);
        assert_eq!(compare("0.5", "0.45"), Ordering::Greater);
        assert_eq!(compare("0.1", "-0.1"), Ordering::Greater);
        let long = format!("1{}", "0".repeat(5000));
        assert_eq!(compare(&long, &format!("{long}.01")), Ordering::Less);
    }

    proptest! {
        #[test]
        fn order_agrees_with_fixed_point_arithmetic(
            a in -1_000_000_i64..1_000_000,
            b in -1_000_000_i64..1_000_000,
            zeros in 0_usize..4,
        ) {
            let write = |value: i64, zeros: usize| {
                let sign = if value < 0 { "-" } else { "" };
                let magnitude = value.unsigned_abs();
                format!("{sign}{}.{:03}{}", magnitude / 1000, magnitude % 1000, "0".repeat(zeros))
            };
            prop_assert_eq!(compare(&write(a, zeros), &write(b, 0)), a.cmp(&b));
        }
    }
}
