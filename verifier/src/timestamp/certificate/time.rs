//! The two forms of time in certificates, CRLs and OCSP responses.

use anchorlog_proto::timestamp::GenTime;
use anchorlog_proto::timestamp::element::Element;
use der::Tag;

/// A `Time` (RFC 5280 section 4.1.2.5): `YYMMDDhhmmssZ`, or `YYYYMMDDhhmmssZ`, in whole seconds.
///
/// Times before 1970 are the earliest instant there is: no token is from then. Which form belongs
/// to which year isn't looked at.
pub(in crate::timestamp) fn read_time(element: &Element<'_>) -> Option<GenTime> {
    let text = element.value();
    let year = match (element.tag(), text) {
        // RFC 5280 section 4.1.2.5.1: from 50 on it is 19YY.
        (Tag::UtcTime, [b'5'..=b'9', ..]) if text.len() == 13 => "19",
        (Tag::UtcTime, _) if text.len() == 13 => "20",
        (Tag::GeneralizedTime, _) if text.len() == 15 => "",
        _ => return None,
    };
    let whole = [year.as_bytes(), text].concat();
    let (digits, zone) = whole.split_at_checked(14)?;
    if zone != b"Z" || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    match digits.get(..4)? {
        year if year < b"1970".as_slice() => Some(GenTime::from_unix(i64::MIN)),
        _ => GenTime::parse(&whole),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::tlv;
    use super::*;

    fn read(tag: u8, text: &str) -> Option<String> {
        let bytes = tlv(tag, &[text.as_bytes()]);
        read_time(&Element::parse(&bytes).unwrap()).map(|time| time.to_string())
    }

    #[test]
    fn both_forms_are_read() {
        assert_eq!(read(0x17, "491231235959Z").as_deref(), Some("2049-12-31T23:59:59Z"));
        assert_eq!(read(0x17, "990101000000Z").as_deref(), Some("1999-01-01T00:00:00Z"));
        assert_eq!(read(0x18, "20500101000000Z").as_deref(), Some("2050-01-01T00:00:00Z"));
        assert_eq!(read(0x18, "99991231235959Z").as_deref(), Some("9999-12-31T23:59:59Z"));
        let before = tlv(0x17, &[b"690101000000Z"]);
        let before = read_time(&Element::parse(&before).unwrap()).unwrap();
        assert!(before < GenTime::from_unix(0));
    }

    #[test]
    fn other_forms_are_refused() {
        for (tag, text) in [
            (0x17, "9901010000Z"),
            (0x17, "990101000000+0100"),
            (0x17, "19990101000000Z"),
            (0x17, "990101000060Z"),
            (0x17, "990230000000Z"),
            (0x17, "99010100000aZ"),
            (0x18, "990101000000Z"),
            (0x18, "20500101000000.5Z"),
            (0x18, "19600x01000000Z"),
            (0x13, "990101000000Z"),
        ] {
            assert_eq!(read(tag, text), None, "{text}");
        }
    }
}
