//! A DER writer without opinions: it writes what it is told, the malformed too.
//!
//! What it is: tags, lengths and the few primitive types that tokens and certificates need, each a function
//! from contents to bytes, and the BER forms that DER rules out. What it isn't: an encoder that guards
//! rules; every rule of X.690 can be broken with it, on purpose.

/// The tag of `SEQUENCE`.
pub const SEQUENCE: u8 = 0x30;
/// The tag of `SET`.
pub const SET: u8 = 0x31;
/// The tag of `INTEGER`.
pub const INTEGER: u8 = 0x02;
/// The tag of `OCTET STRING`.
pub const OCTET_STRING: u8 = 0x04;

/// A length in its shortest form (X.690 section 10.1).
#[must_use]
pub fn length(octets: usize) -> Vec<u8> {
    if let Ok(short @ 0..=0x7f) = u8::try_from(octets) {
        return vec![short];
    }
    let digits: Vec<u8> =
        octets.to_be_bytes().into_iter().skip_while(|&digit| digit == 0).collect();
    let count = u8::try_from(digits.len()).unwrap_or(0x7f);
    let mut out = vec![0x80 | count];
    out.extend(digits);
    out
}

/// A tag, the shortest length, the contents.
#[must_use]
pub fn tlv(tag: u8, content: impl AsRef<[u8]>) -> Vec<u8> {
    let content = content.as_ref();
    let mut out = vec![tag];
    out.extend(length(content.len()));
    out.extend_from_slice(content);
    out
}

/// A tag, a length of `octets` octets where fewer would do (BER only), the contents.
#[must_use]
pub fn long_length(tag: u8, octets: usize, content: impl AsRef<[u8]>) -> Vec<u8> {
    let content = content.as_ref();
    let all = content.len().to_be_bytes();
    let skip = all.len().saturating_sub(octets);
    let mut out = vec![tag, 0x80 | u8::try_from(octets).unwrap_or(0x7f)];
    out.extend(all.into_iter().skip(skip));
    out.extend_from_slice(content);
    out
}

/// A constructed value of indefinite length (BER only).
#[must_use]
pub fn indefinite(tag: u8, content: impl AsRef<[u8]>) -> Vec<u8> {
    let mut out = vec![tag, 0x80];
    out.extend_from_slice(content.as_ref());
    out.extend([0, 0]);
    out
}

/// Parts one after the other.
#[must_use]
pub fn join<P: AsRef<[u8]>>(parts: impl IntoIterator<Item = P>) -> Vec<u8> {
    let mut out = Vec::new();
    for part in parts {
        out.extend_from_slice(part.as_ref());
    }
    out
}

/// `SEQUENCE` of the parts.
#[must_use]
pub fn sequence<P: AsRef<[u8]>>(parts: impl IntoIterator<Item = P>) -> Vec<u8> {
    tlv(SEQUENCE, join(parts))
}

/// `SET` of the parts, in the order given.
#[must_use]
pub fn set<P: AsRef<[u8]>>(parts: impl IntoIterator<Item = P>) -> Vec<u8> {
    tlv(SET, join(parts))
}

/// `SET OF` the parts, in the order of DER (X.690 section 11.6).
#[must_use]
pub fn set_of(mut parts: Vec<Vec<u8>>) -> Vec<u8> {
    parts.sort();
    set(parts)
}

/// `INTEGER` with these content octets, whatever they are.
#[must_use]
pub fn integer(content: impl AsRef<[u8]>) -> Vec<u8> {
    tlv(INTEGER, content)
}

/// A non-negative `INTEGER` from its magnitude, in the shortest form.
#[must_use]
pub fn unsigned(magnitude: &[u8]) -> Vec<u8> {
    let mut content: Vec<u8> = magnitude.iter().copied().skip_while(|&octet| octet == 0).collect();
    if content.first().is_none_or(|&first| first >= 0x80) {
        content.insert(0, 0);
    }
    integer(content)
}

/// A small non-negative `INTEGER`.
#[must_use]
pub fn number(value: u64) -> Vec<u8> {
    unsigned(&value.to_be_bytes())
}

/// `OBJECT IDENTIFIER` from its dotted form. Arcs that aren't numbers count as zero.
#[must_use]
pub fn oid(dotted: &str) -> Vec<u8> {
    let mut arcs = dotted.split('.').map(|arc| arc.parse::<u64>().unwrap_or(0));
    let first = arcs.next().unwrap_or(0) * 40 + arcs.next().unwrap_or(0);
    let mut content = Vec::new();
    for arc in std::iter::once(first).chain(arcs) {
        let groups = (64 - arc.leading_zeros()).div_ceil(7).max(1);
        for group in (0..groups).rev() {
            let more = if group == 0 { 0 } else { 0x80 };
            content.push(u8::try_from(arc >> (7 * group) & 0x7f).unwrap_or(0) | more);
        }
    }
    tlv(0x06, content)
}

/// `OCTET STRING`.
#[must_use]
pub fn octets(content: impl AsRef<[u8]>) -> Vec<u8> {
    tlv(OCTET_STRING, content)
}

/// `BIT STRING` of whole octets.
#[must_use]
pub fn bits(content: impl AsRef<[u8]>) -> Vec<u8> {
    tlv(0x03, join([&[0], content.as_ref()]))
}

/// `BIT STRING` that is a list of named bits, in the form of DER (X.690 section 11.2.2).
#[must_use]
pub fn named_bits(set: &[usize]) -> Vec<u8> {
    let Some(&last) = set.iter().max() else { return tlv(0x03, [0]) };
    let mut octets = vec![0_u8; last / 8 + 1];
    for bit in set {
        if let Some(octet) = octets.get_mut(bit / 8) {
            *octet |= 0x80 >> (bit % 8);
        }
    }
    let unused = u8::try_from(7 - last % 8).unwrap_or(0);
    tlv(0x03, join([vec![unused], octets]))
}

/// `BOOLEAN`.
#[must_use]
pub fn boolean(value: bool) -> Vec<u8> {
    tlv(0x01, [if value { 0xff } else { 0 }])
}

/// `NULL`.
#[must_use]
pub fn null() -> Vec<u8> {
    tlv(0x05, [])
}

/// `[n]`, constructed: an EXPLICIT tag around one value, or an IMPLICIT one around the contents of a
/// constructed type.
#[must_use]
pub fn context(number: u8, content: impl AsRef<[u8]>) -> Vec<u8> {
    tlv(0xa0 | number, content)
}

/// `[n]`, primitive: an IMPLICIT tag on a primitive type.
#[must_use]
pub fn context_primitive(number: u8, content: impl AsRef<[u8]>) -> Vec<u8> {
    tlv(0x80 | number, content)
}

/// The same value under another tag.
#[must_use]
pub fn retag(tag: u8, value: &[u8]) -> Vec<u8> {
    let mut out = value.to_vec();
    if let Some(first) = out.first_mut() {
        *first = tag;
    }
    out
}

/// The contents of a value with a length of its own, of up to 64 KiB; nothing for what isn't one.
#[must_use]
pub fn contents(value: &[u8]) -> &[u8] {
    let header = match value {
        [_, 0..=0x7f, ..] => 2,
        [_, 0x81, ..] => 3,
        [_, 0x82, ..] => 4,
        _ => value.len(),
    };
    value.get(header..).unwrap_or_default()
}

/// `GeneralizedTime` of this text, right or wrong.
#[must_use]
pub fn generalized(text: &str) -> Vec<u8> {
    tlv(0x18, text)
}

/// `UTCTime` of this text.
#[must_use]
pub fn utc(text: &str) -> Vec<u8> {
    tlv(0x17, text)
}

/// `UTF8String`.
#[must_use]
pub fn utf8(text: &str) -> Vec<u8> {
    tlv(0x0c, text)
}

/// `AlgorithmIdentifier`: an identifier and, where given, parameters.
#[must_use]
pub fn algorithm(dotted: &str, parameters: Option<Vec<u8>>) -> Vec<u8> {
    sequence([oid(dotted), parameters.unwrap_or_default()])
}

/// `Attribute` (RFC 5652 section 5.3): a type and its values.
#[must_use]
pub fn attribute<P: AsRef<[u8]>>(dotted: &str, values: impl IntoIterator<Item = P>) -> Vec<u8> {
    sequence([oid(dotted), set(values)])
}

/// `Name` (RFC 5280 section 4.1.2.4) with a country, an organisation and a common name, all `UTF8String`
/// but the country.
#[must_use]
pub fn name(common: &str) -> Vec<u8> {
    let part = |kind: &str, value: Vec<u8>| set([sequence([oid(kind), value])]);
    sequence([
        part("2.5.4.6", tlv(0x13, "XX")),
        part("2.5.4.10", utf8("Anchorlog Forge")),
        part("2.5.4.3", utf8(common)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_the_shortest() {
        assert_eq!(length(0x7f), [0x7f]);
        assert_eq!(length(0x80), [0x81, 0x80]);
        assert_eq!(length(0x1234), [0x82, 0x12, 0x34]);
        for size in [0, 0x7f, 0x80, 0xff, 0x100] {
            assert_eq!(contents(&octets(vec![7; size])), vec![7; size]);
        }
        assert_eq!(long_length(0x04, 2, [7]), [0x04, 0x82, 0, 1, 7]);
    }

    #[test]
    fn integers_are_the_shortest() {
        assert_eq!(number(0), [2, 1, 0]);
        assert_eq!(number(0x80), [2, 2, 0, 0x80]);
        assert_eq!(unsigned(&[0, 0, 5]), [2, 1, 5]);
    }

    #[test]
    fn named_bits_drop_trailing_zeroes() {
        assert_eq!(named_bits(&[0]), [3, 2, 7, 0x80]);
        assert_eq!(named_bits(&[5, 6]), [3, 2, 1, 0x06]);
        assert_eq!(named_bits(&[24]), [3, 5, 7, 0, 0, 0, 0x80]);
    }

    #[test]
    fn the_der_crate_reads_what_is_written() {
        use der::{Decode, asn1::ObjectIdentifier};
        let signed_data: ObjectIdentifier = Decode::from_der(&oid("1.2.840.113549.1.7.2")).unwrap();
        assert_eq!(signed_data.to_string(), "1.2.840.113549.1.7.2");
        assert_eq!(oid("2.999.1"), [6, 3, 0x88, 0x37, 1]);
        assert_eq!(u64::from_der(&number(300)), Ok(300));
    }
}
