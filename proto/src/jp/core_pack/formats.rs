//! The string formats that a pack's schema asserts: absolute URIs, dates, instants, versions,
//! extension names, and the syntax of JSON pointers.

use core::net::{Ipv4Addr, Ipv6Addr};

/// An absolute URI of RFC 3986: with a scheme; a fragment is allowed, as the schema's `uri` allows it.
pub(super) fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme = scheme.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (hierarchy, query) = rest.split_once('?').unwrap_or((rest, ""));
    let path_holds = match hierarchy.strip_prefix("//") {
        Some(rest) => {
            let end = rest.find('/').unwrap_or(rest.len());
            let (authority, path) = rest.split_at(end);
            is_authority(authority) && is_component(path, b":@/")
        }
        None => is_component(hierarchy, b":@/"),
    };
    is_scheme && path_holds && is_component(query, b":@/?") && is_component(fragment, b":@/?")
}

/// RFC 3339 `full-date`.
pub(super) fn is_full_date(text: &str) -> bool {
    read_date(text).is_some()
}

/// RFC 3339 `date-time`, with any offset; a leap second only where one can be: at 23:59:60 UTC.
pub(super) fn is_date_time(text: &str) -> bool {
    read_date_time(text).is_some()
}

/// `MAJOR.MINOR.PATCH` without leading zeros.
pub(super) fn is_pack_version(text: &str) -> bool {
    let is_number = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_digit())
            && (part.len() == 1 || !part.starts_with('0'))
    };
    text.split('.').count() == 3 && text.split('.').all(is_number)
}

/// A reverse-domain name that is not reserved (Core section 9).
pub(super) fn is_extension_name(text: &str) -> bool {
    let begins = |word: &str| word.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let mut words = text.split('.');
    let first = words.next().is_some_and(|word| begins(word) && word.bytes().all(is_plain));
    let rest =
        words.all(|word| begins(word) && word.bytes().all(|byte| is_plain(byte) || byte == b'-'));
    first && rest && text.contains('.') && !text.starts_with("org.judgmentpack.")
}

/// RFC 6901 syntax: empty, or tokens that each begin with `/` and escape with `~0` and `~1` alone.
pub(super) fn is_pointer(text: &str) -> bool {
    let bytes = text.as_bytes();
    let escapes = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'~');
    (text.is_empty() || text.starts_with('/'))
        && escapes.into_iter().all(|(at, _)| matches!(bytes.get(at + 1), Some(b'0' | b'1')))
}

fn is_authority(text: &str) -> bool {
    let (user, host) = text.rsplit_once('@').unwrap_or(("", text));
    if !is_component(user, b":") {
        return false;
    }
    let (host_holds, port) = if let Some(rest) = host.strip_prefix('[') {
        let Some((literal, port)) = rest.split_once(']') else { return false };
        (is_ip_literal(literal), port)
    } else {
        let at = host.find(':').unwrap_or(host.len());
        let (name, port) = host.split_at(at);
        (is_component(name, b""), port)
    };
    let port_holds = port.is_empty()
        || port
            .strip_prefix(':')
            .is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
    host_holds && port_holds
}

fn is_ip_literal(text: &str) -> bool {
    if let Some(future) = text.strip_prefix(['v', 'V']) {
        return future.split_once('.').is_some_and(|(version, address)| {
            !version.is_empty()
                && version.bytes().all(|byte| byte.is_ascii_hexdigit())
                && !address.is_empty()
                && !address.contains('%')
                && is_component(address, b":")
        });
    }
    // The IPv4 tail of an IPv6 address is held to the same form by both.
    text.parse::<Ipv6Addr>().is_ok()
        && text
            .rsplit_once(':')
            .is_none_or(|(_, tail)| !tail.contains('.') || tail.parse::<Ipv4Addr>().is_ok())
}

/// Unreserved characters, sub-delimiters, whole percent escapes, and `more`.
fn is_component(text: &str, more: &[u8]) -> bool {
    let bytes = text.as_bytes();
    let is_hex = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_hexdigit);
    bytes.iter().enumerate().all(|(at, byte)| match byte {
        b'%' => is_hex(at + 1) && is_hex(at + 2),
        _ => {
            byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(byte) || more.contains(byte)
        }
    })
}

/// Year, month and day of a real date.
fn read_date(text: &str) -> Option<(u32, u32, u32)> {
    if text.len() != 10 || !text.is_ascii() {
        return None;
    }
    let mut parts = text.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if (year.len(), month.len(), day.len()) != (4, 2, 2) {
        return None;
    }
    let (year, month, day) = (digits(year)?, digits(month)?, digits(day)?);
    ((1..=12).contains(&month) && day >= 1 && day <= days_in(year, month))
        .then_some((year, month, day))
}

fn read_date_time(text: &str) -> Option<()> {
    if !text.is_ascii() {
        return None;
    }
    let (date, rest) = text.split_at_checked(10)?;
    read_date(date)?;
    let rest = rest.strip_prefix(['T', 't'])?;
    let (clock, rest) = rest.split_at_checked(8)?;
    let mut parts = clock.split(':');
    let (hour, minute, second) = (parts.next()?, parts.next()?, parts.next()?);
    if (hour.len(), minute.len(), second.len()) != (2, 2, 2) || parts.next().is_some() {
        return None;
    }
    let (hour, minute, second) = (digits(hour)?, digits(minute)?, digits(second)?);
    let zone = match rest.strip_prefix('.') {
        Some(rest) => {
            let end = rest.bytes().position(|byte| !byte.is_ascii_digit())?;
            (end > 0).then(|| rest.get(end..)).flatten()?
        }
        None => rest,
    };
    let ahead = read_offset(zone)?;
    let in_range = hour <= 23 && minute <= 59 && second <= 60;
    // Minutes of the day in UTC, with a day added so that nothing goes below zero.
    let utc = (i64::from(hour * 60 + minute) - ahead).rem_euclid(24 * 60);
    (in_range && (second < 60 || utc == 24 * 60 - 1)).then_some(())
}

/// Minutes ahead of UTC.
fn read_offset(text: &str) -> Option<i64> {
    if matches!(text, "Z" | "z") {
        return Some(0);
    }
    let (sign, rest) = match (text.strip_prefix('+'), text.strip_prefix('-')) {
        (Some(rest), _) => (1, rest),
        (_, Some(rest)) => (-1, rest),
        _ => return None,
    };
    let (hour, minute) = rest.split_once(':')?;
    if (hour.len(), minute.len()) != (2, 2) {
        return None;
    }
    let (hour, minute) = (digits(hour)?, digits(minute)?);
    (hour <= 23 && minute <= 59).then(|| sign * i64::from(hour * 60 + minute))
}

fn digits(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

const fn days_in(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris() {
        for good in [
            "https://example.invalid/judgment-packs/x?edition=A&B",
            "urn:example:pack",
            "http://user:pw@[2001:db8::7]:80/a/b;c?d/e?#f/g?",
            "http://[v1.a:b]/",
            "http://[::ffff:192.0.2.1]",
            "file:///etc",
            "a:",
            "x://host:/%20",
        ] {
            assert!(is_uri(good), "{good}");
        }
        for bad in [
            "",
            "relative/path",
            "/abs",
            "//host/x",
            "1a:b",
            ":x",
            "a:b c",
            "a:b\n",
            "a:é",
            "a:%2",
            "a:%zz",
            "a://h:8x/",
            "a://[::1",
            "a://[::zz]/",
            "a://[v.x]/",
            "a:#b#c",
            "a:\u{7f}",
            "a:[x]",
            "a://u@h@i/",
        ] {
            assert!(!is_uri(bad), "{bad}");
        }
    }

    #[test]
    fn dates_and_instants() {
        for good in ["2026-01-15", "2024-02-29", "2000-02-29", "0000-12-31"] {
            assert!(is_full_date(good), "{good}");
        }
        for bad in [
            "2026-1-15",
            "2023-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-04-31",
            "2026-01-00",
            "2026-01-15T",
            "+026-01-15",
            "2026-01--1",
        ] {
            assert!(!is_full_date(bad), "{bad}");
        }
        for good in [
            "2026-07-27T00:00:00Z",
            "2026-07-27t23:59:59.123456789z",
            "2026-07-27T00:00:00+14:30",
            "2016-12-31T23:59:60Z",
            "2016-12-31T15:59:60-08:00",
        ] {
            assert!(is_date_time(good), "{good}");
        }
        for bad in [
            "2026-07-27",
            "2026-07-27 00:00:00Z",
            "2026-07-27T24:00:00Z",
            "2026-07-27T00:60:00Z",
            "2026-07-27T00:00:60Z",
            "2026-07-27T00:00:61Z",
            "2026-07-27T00:00:00",
            "2026-07-27T00:00:00.Z",
            "2026-07-27T00:00:00+24:00",
            "2026-07-27T00:00:00+0000",
            "2026-07-27T00:00Z",
            "2026-07-27T0:000:00Z",
        ] {
            assert!(!is_date_time(bad), "{bad}");
        }
    }

    #[test]
    fn versions_names_and_pointers() {
        assert!(is_pack_version("0.1.0") && is_pack_version("10.20.30"));
        for bad in ["1.0", "1.0.0.0", "01.0.0", "1..0", "1.0.0-rc", "v1.0.0", "1.0.0\n", ""] {
            assert!(!is_pack_version(bad), "{bad}");
        }
        assert!(is_extension_name("com.example.review-policy") && is_extension_name("a1.b"));
        for bad in [
            "review-policy",
            "com",
            "com.",
            ".com",
            "com.1x",
            "co-m.x",
            "Com.x",
            "org.judgmentpack.future",
        ] {
            assert!(!is_extension_name(bad), "{bad}");
        }
        assert!(is_extension_name("org.judgmentpackx.y"));
        assert!(is_pointer("") && is_pointer("/") && is_pointer("/a~0~1b//é\n"));
        for bad in ["a", "/~", "/~2", "/a~", "#/a"] {
            assert!(!is_pointer(bad), "{bad}");
        }
    }
}
