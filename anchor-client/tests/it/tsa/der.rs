//! A few lines that write DER.

use anchorlog_proto::timestamp::ObjectIdentifier;

/// One element.
pub fn tlv(tag: u8, contents: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    let length = contents.len();
    if length < 0x80 {
        bytes.push(u8::try_from(length).unwrap());
    } else {
        let octets: Vec<u8> = length.to_be_bytes().into_iter().skip_while(|&o| o == 0).collect();
        bytes.push(0x80 | u8::try_from(octets.len()).unwrap());
        bytes.extend(octets);
    }
    bytes.extend_from_slice(contents);
    bytes
}

pub fn seq(parts: &[&[u8]]) -> Vec<u8> {
    tlv(0x30, &parts.concat())
}

/// A SET OF, in DER's order.
pub fn set(parts: &[&[u8]]) -> Vec<u8> {
    let mut parts = parts.to_vec();
    parts.sort_unstable();
    tlv(0x31, &parts.concat())
}

pub fn oid(text: &str) -> Vec<u8> {
    tlv(6, text.parse::<ObjectIdentifier>().unwrap().as_bytes())
}

/// A positive INTEGER.
pub fn integer(octets: &[u8]) -> Vec<u8> {
    let mut value: Vec<u8> = octets.iter().copied().skip_while(|&octet| octet == 0).collect();
    if value.first().is_none_or(|&first| first >= 0x80) {
        value.insert(0, 0);
    }
    tlv(2, &value)
}

pub fn octets(bytes: &[u8]) -> Vec<u8> {
    tlv(4, bytes)
}

pub fn bits(bytes: &[u8]) -> Vec<u8> {
    tlv(3, &[&[0], bytes].concat())
}

/// A Name of one common name.
pub fn name(common: &str) -> Vec<u8> {
    seq(&[&set(&[&seq(&[&oid("2.5.4.3"), &tlv(0x0c, common.as_bytes())])])])
}
