//! The few lines of DER that requests need.

/// One element: identifier octet, length, contents.
pub(super) fn element(identifier: u8, contents: &[&[u8]]) -> Vec<u8> {
    let length: usize = contents.iter().map(|part| part.len()).sum();
    let mut encoding = vec![identifier];
    if let Ok(short @ 0..0x80) = u8::try_from(length) {
        encoding.push(short);
    } else {
        let octets = length.to_be_bytes();
        let zeros = octets.iter().take_while(|&&octet| octet == 0).count();
        encoding.extend(u8::try_from(octets.len() - zeros).map(|count| 0x80 | count));
        encoding.extend(octets.iter().skip(zeros));
    }
    for part in contents {
        encoding.extend_from_slice(part);
    }
    encoding
}

pub(super) const BOOLEAN: u8 = 0x01;
pub(super) const INTEGER: u8 = 0x02;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const NULL: u8 = 0x05;
pub(super) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_minimal() {
        for (length, header) in [
            (0, &[4, 0][..]),
            (127, &[4, 127]),
            (128, &[4, 0x81, 128]),
            (255, &[4, 0x81, 255]),
            (256, &[4, 0x82, 1, 0]),
            (65_536, &[4, 0x83, 1, 0, 0]),
        ] {
            assert!(element(OCTET_STRING, &[&vec![0; length]]).starts_with(header), "{length}");
        }
    }
}
