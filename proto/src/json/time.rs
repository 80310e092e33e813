//! Times in JSON: RFC 3339 UTC in whole seconds, one spelling per instant.

/// Reads `YYYY-MM-DDThh:mm:ssZ` as seconds since 1970-01-01T00:00:00Z.
///
/// `None` for every other spelling and for what is no real instant: months and days that do not
/// exist, hour 24, leap seconds.
#[must_use]
pub fn parse_utc_seconds(text: &str) -> Option<i64> {
    let bytes: &[u8; 20] = text.as_bytes().try_into().ok()?;
    let [
        y3,
        y2,
        y1,
        y0,
        b'-',
        o1,
        o0,
        b'-',
        d1,
        d0,
        b'T',
        h1,
        h0,
        b':',
        m1,
        m0,
        b':',
        s1,
        s0,
        b'Z',
    ] = *bytes
    else {
        return None;
    };
    let year = number(&[y3, y2, y1, y0])?;
    let month = number(&[o1, o0])?;
    let day = number(&[d1, d0])?;
    let hour = number(&[h1, h0])?;
    let minute = number(&[m1, m0])?;
    let second = number(&[s1, s0])?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days_in_month = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return None,
    };
    if !(1..=days_in_month).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    Some(((days_since_epoch(year, month, day) * 24 + hour) * 60 + minute) * 60 + second)
}

/// Writes an instant, in seconds since 1970-01-01T00:00:00Z, as [`parse_utc_seconds`] reads it.
///
/// Outside the years 0000 to 9999 the text is that of no such instant and is refused by every reader.
#[must_use]
pub fn format_utc_seconds(seconds: i64) -> String {
    let (days, of_day) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // The inverse of `days_since_epoch`, counted from March again.
    let shifted = days.saturating_add(719_468);
    let (cycle, day_of_cycle) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let leap_days = day_of_cycle / 1_460 - day_of_cycle / 36_524 + day_of_cycle / 146_096;
    let year_of_cycle = (day_of_cycle - leap_days) / 365;
    let day_of_year =
        day_of_cycle - (year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = cycle * 400 + year_of_cycle + i64::from(month <= 2);
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |sum, digit| {
        digit.is_ascii_digit().then(|| sum * 10 + i64::from(digit - b'0'))
    })
}

/// Days from 1970-01-01 in the proleptic Gregorian calendar.
///
/// Years are counted from March, so that the leap day comes last; a cycle of 400 years has 146,097
/// days, and the 719,468th day is the epoch.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let shifted = if month <= 2 { year - 1 } else { year };
    let cycle = shifted.div_euclid(400);
    let year_of_cycle = shifted.rem_euclid(400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_cycle = year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100 + day_of_year;
    cycle * 146_097 + day_of_cycle - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_instants() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1969-12-31T23:59:59Z", -1),
            ("2000-02-29T12:00:00Z", 951_825_600),
            ("2001-09-09T01:46:40Z", 1_000_000_000),
            ("2038-01-19T03:14:08Z", 2_147_483_648),
            ("9999-12-31T23:59:59Z", 253_402_300_799),
            ("0000-01-01T00:00:00Z", -62_167_219_200),
        ] {
            assert_eq!(parse_utc_seconds(text), Some(seconds), "{text}");
            assert_eq!(format_utc_seconds(seconds), text);
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        // Every day of four centuries, at another second of the day each time.
        for day in -200_000..200_000_i64 {
            let seconds = day * 86_400 + (day * 7_919).rem_euclid(86_400);
            assert_eq!(parse_utc_seconds(&format_utc_seconds(seconds)), Some(seconds));
        }
        for unwritable in [i64::MIN, -62_167_219_201, 253_402_300_800, i64::MAX] {
            assert_eq!(parse_utc_seconds(&format_utc_seconds(unwritable)), None);
        }
    }

    #[test]
    fn other_spellings_and_unreal_instants() {
        for text in [
            "",
            "2026-01-01",
            "2026-01-01T00:00:00",
            "2026-01-01T00:00:00z",
            "2026-01-01t00:00:00Z",
            "2026-01-01 00:00:00Z",
            "2026-01-01T00:00:00+00:00",
            "2026-01-01T00:00:00.0Z",
            "2026-00-01T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-04-31T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:60:00Z",
            "2016-12-31T23:59:60Z",
            "2026-01-01T0a:00:00Z",
            "+026-01-01T00:00:00Z",
            "２026-01-01T00:00:0Z",
        ] {
            assert_eq!(parse_utc_seconds(text), None, "{text}");
        }
    }
}
