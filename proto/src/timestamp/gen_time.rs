//! genTime: the instant a token is about (RFC 3161 section 2.4.2).

use core::fmt;

use der::DateTime;

use crate::json::parse_utc_seconds;

/// Digits of a fraction of a second that are kept. More are refused: no clock has them.
const MAX_FRACTION_DIGITS: usize = 36;

/// An instant, exactly as a token states it. The order is that of time.
///
/// `Display` is RFC 3339 with the fraction as stated: `2025-06-01T12:00:00.5Z`.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct GenTime {
    seconds: i64,
    /// Units of 10^-36 seconds: any fraction that is read fits without rounding.
    fraction: u128,
}

impl GenTime {
    /// The instant of a whole second, counted from 1970-01-01T00:00:00Z.
    #[must_use]
    pub const fn from_unix(seconds: i64) -> Self {
        Self { seconds, fraction: 0 }
    }

    /// Reads the contents of a `GeneralizedTime` in RFC 3161's form, `YYYYMMDDhhmmss[.s*]Z`.
    ///
    /// `None` for every other form: without seconds, with an offset, with a comma, with a fraction
    /// that is empty, ends in zero or has more than 36 digits; for what is no real instant, and for one
    /// before 1970, when there were no authorities.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        let digits = text.strip_suffix(b"Z")?;
        let (whole, fraction) = digits.split_at_checked(14)?;
        let fraction = match fraction {
            [] => 0,
            [b'.', digits @ .., b'1'..=b'9'] if digits.len() < MAX_FRACTION_DIGITS => {
                parse_fraction(fraction.get(1..)?)?
            }
            _ => return None,
        };
        let whole = core::str::from_utf8(whole).ok()?;
        let (date, time) = (whole.get(..8)?, whole.get(8..)?);
        let (year, month, day) = (date.get(..4)?, date.get(4..6)?, date.get(6..)?);
        let (hour, minute, second) = (time.get(..2)?, time.get(2..4)?, time.get(4..)?);
        let seconds =
            parse_utc_seconds(&format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z"))?;
        (seconds >= 0).then_some(Self { seconds, fraction })
    }

    /// Whole seconds since 1970-01-01T00:00:00Z, rounded down.
    #[must_use]
    pub const fn unix_seconds(self) -> i64 {
        self.seconds
    }

    /// The nanoseconds of the second, rounded down.
    #[must_use]
    pub fn nanoseconds(self) -> u32 {
        u32::try_from(self.fraction / 10_u128.pow(27)).unwrap_or(999_999_999)
    }

    /// The instant so many microseconds earlier (negative) or later, as far as time is counted.
    #[must_use]
    pub fn shifted(self, microseconds: i64) -> Self {
        const MICROSECOND: u128 = 10_u128.pow(30);
        const SECOND: u128 = 10_u128.pow(36);
        let part = u128::from(microseconds.rem_euclid(1_000_000).unsigned_abs()) * MICROSECOND;
        let fraction = self.fraction + part;
        let carry = i64::from(fraction >= SECOND);
        let seconds = self.seconds.saturating_add(microseconds.div_euclid(1_000_000));
        Self { seconds: seconds.saturating_add(carry), fraction: fraction % SECOND }
    }

    /// The contents of the `GeneralizedTime`. `None` outside the years 1970 to 9999.
    #[must_use]
    pub fn to_generalized_time(self) -> Option<String> {
        let text = self.to_string();
        (text.len() >= 20).then(|| text.chars().filter(|c| !"-:T".contains(*c)).collect())
    }
}

fn parse_fraction(digits: &[u8]) -> Option<u128> {
    let mut fraction = 0;
    for place in 0..MAX_FRACTION_DIGITS {
        let digit = digits.get(place).copied().unwrap_or(b'0');
        if !digit.is_ascii_digit() {
            return None;
        }
        fraction = fraction * 10 + u128::from(digit - b'0');
    }
    Some(fraction)
}

impl fmt::Display for GenTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since_epoch = u64::try_from(self.seconds).ok().map(core::time::Duration::from_secs);
        let Some(whole) = since_epoch.and_then(|since| DateTime::from_unix_duration(since).ok())
        else {
            return write!(f, "{} s", self.seconds);
        };
        let mut text = whole.to_string();
        if self.fraction != 0 {
            let digits = format!("{:0width$}", self.fraction, width = MAX_FRACTION_DIGITS);
            text = format!("{}.{}Z", text.trim_end_matches('Z'), digits.trim_end_matches('0'));
        }
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_written() {
        for text in [
            "20250601120000Z",
            "20250601120000.5Z",
            "20250601120000.000000001Z",
            "20240229235959.123456789012345678901234567890123456Z",
            "19700101000000Z",
            "99991231235959Z",
        ] {
            let time = GenTime::parse(text.as_bytes()).unwrap();
            assert_eq!(time.to_generalized_time().as_deref(), Some(text));
        }
        let time = GenTime::parse(b"20250601120000.5Z").unwrap();
        assert_eq!(time.to_string(), "2025-06-01T12:00:00.5Z");
        assert_eq!((time.unix_seconds(), time.nanoseconds()), (1_748_779_200, 500_000_000));
    }

    #[test]
    fn every_other_form_is_refused() {
        for text in [
            "",
            "Z",
            "20250601120000",
            "20250601120000z",
            "202506011200Z",
            "20250601140000+0200",
            "20250601120000.Z",
            "20250601120000.0Z",
            "20250601120000.50Z",
            "20250601120000,5Z",
            "20250601120000.5 Z",
            "20250601120000.-5Z",
            "20250601120060Z",
            "20250601240000Z",
            "20251301120000Z",
            "20250229120000Z",
            "250601120000Z",
            "00001222005525Z",
            "19691231235959Z",
            "2025060112000\u{e4}Z",
            "20240229235959.1234567890123456789012345678901234567Z",
        ] {
            assert_eq!(GenTime::parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn time_moves_both_ways_and_is_ordered() {
        let time = GenTime::parse(b"20250601120000.5Z").unwrap();
        assert_eq!(time.shifted(500_000).to_string(), "2025-06-01T12:00:01Z");
        assert_eq!(time.shifted(-500_001).to_string(), "2025-06-01T11:59:59.999999Z");
        assert_eq!(time.shifted(0), time);
        assert!(
            time > GenTime::from_unix(1_748_779_200) && time < GenTime::from_unix(1_748_779_201)
        );
        assert!(GenTime::from_unix(i64::MAX).shifted(i64::MAX).unix_seconds() == i64::MAX);
    }
}
