//! Equality of JSON numbers by mathematical value, without a lossy conversion (Core section 7.4).

/// Whether two JSON number literals have the same value; `None` where an exponent is beyond 10^18 in
/// magnitude, which this implementation does not compare.
///
/// That is the one place where Core lets an implementation not know (sections 7.4 and 13); it is
/// written down with the other limits. A literal that is spelled the same is equal all the same.
#[must_use]
pub fn equal(a: &str, b: &str) -> Option<bool> {
    if a == b {
        return Some(true);
    }
    match (Scientific::of(a), Scientific::of(b)) {
        (Read::Exact(a), Read::Exact(b)) => Some(a == b),
        // Zero is zero whatever the other one's exponent is.
        (Read::Exact(zero), Read::Beyond) | (Read::Beyond, Read::Exact(zero)) if zero.is_zero() => {
            Some(false)
        }
        _ => None,
    }
}

/// The largest magnitude of an exponent that is compared.
const MAX_EXPONENT: i64 = 1_000_000_000_000_000_000;

/// `digits × 10^exponent`, normalised: no zero at either end of the digits, and zero is empty and
/// positive.
#[derive(Debug, Eq, PartialEq)]
struct Scientific {
    negative: bool,
    digits: Vec<u8>,
    exponent: i64,
}

enum Read {
    Exact(Scientific),
    Beyond,
}

impl Scientific {
    /// Reads what the JSON grammar calls a number; the caller's reader has checked that it is one.
    fn of(literal: &str) -> Read {
        let (negative, magnitude) = match literal.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, literal),
        };
        let (mantissa, exponent) = magnitude.split_once(['e', 'E']).unwrap_or((magnitude, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let leading = digits.iter().take_while(|digit| **digit == b'0').count();
        digits.drain(..leading);
        if digits.is_empty() {
            return Read::Exact(Self { negative: false, digits, exponent: 0 });
        }
        let trailing = digits.iter().rev().take_while(|digit| **digit == b'0').count();
        digits.truncate(digits.len() - trailing);
        let shift = i64::try_from(trailing).ok().zip(i64::try_from(fraction.len()).ok());
        let exponent = read_exponent(exponent)
            .zip(shift)
            .and_then(|(exponent, (up, down))| exponent.checked_add(up)?.checked_sub(down));
        match exponent {
            Some(exponent) => Read::Exact(Self { negative, digits, exponent }),
            None => Read::Beyond,
        }
    }

    fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }
}

fn read_exponent(text: &str) -> Option<i64> {
    let text = text.strip_prefix('+').unwrap_or(text);
    let exponent: i64 = text.parse().ok()?;
    (exponent.unsigned_abs() <= MAX_EXPONENT.unsigned_abs()).then_some(exponent)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_are_equal_however_they_are_spelled() {
        for (a, b) in [
            ("1", "1.0"),
            ("100", "1e2"),
            ("100", "1E+2"),
            ("0.01", "1e-2"),
            ("-0", "0"),
            ("0e999999999999999999999", "-0.000"),
            ("1.50", "15e-1"),
            ("1e00000000000000000000000002", "100"),
            ("9007199254740993", "9007199254740993.0"),
        ] {
            assert_eq!(equal(a, b), Some(true), "{a} {b}");
            assert_eq!(equal(b, a), Some(true), "{b} {a}");
        }
        for (a, b) in [
            ("1", "-1"),
            ("9007199254740993", "9007199254740992"),
            ("0.1", "0.10000000000000001"),
            ("1e400", "1e401"),
            ("1e-400", "0"),
            ("0", "1e9999999999999999999999"),
        ] {
            assert_eq!(equal(a, b), Some(false), "{a} {b}");
        }
    }

    #[test]
    fn exponents_without_measure_are_not_compared() {
        assert_eq!(equal("1e1000000000000000001", "1"), None);
        assert_eq!(equal("1e-9999999999999999999999", "2e-9999999999999999999999"), None);
        assert_eq!(equal("1e9999999999999999999999", "1e9999999999999999999999"), Some(true));
        assert_eq!(equal("1e1000000000000000000", "10e999999999999999999"), Some(true));
    }

    proptest! {
        #[test]
        fn shifting_the_point_changes_nothing(value in any::<i64>(), shift in 0_i32..30) {
            let zeros = "0".repeat(usize::try_from(shift).unwrap_or(0));
            prop_assert_eq!(equal(&value.to_string(), &format!("{value}{zeros}e-{shift}")), Some(true));
            let next = value.wrapping_add(1).to_string();
            prop_assert_eq!(equal(&next, &format!("{value}{zeros}e-{shift}")), Some(false));
        }
    }
}
