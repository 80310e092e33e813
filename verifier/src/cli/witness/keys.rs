//! Public keys of witnesses, from the command line or from files.

use std::path::Path;

use anchorlog_proto::encoding::hex_decode_array;

use crate::cli::input::Inputs;
use crate::codes::input::USAGE;
use crate::finding::Finding;
use crate::jp::witness::KEY;

/// Reads keys in their order, as their 32 bytes. Whether one may be trusted is for the key rule to say.
pub(super) fn read(texts: &[String], inputs: &mut Inputs) -> Result<Vec<[u8; 32]>, Box<Finding>> {
    let mut keys = Vec::new();
    for (number, text) in (1..).zip(texts) {
        if let Some(key) = hex(text) {
            inputs.name(KEY, text);
            keys.push(key);
            continue;
        }
        let content = inputs.read(KEY, Path::new(text), MAX_KEY_BYTES);
        let content = content.map_err(|finding| finding.numbered(number))?;
        keys.push(key(&content).ok_or_else(|| {
            let what = format!("{text} is no Ed25519 public key: {FORMS}");
            Finding::new(USAGE, what).in_input(KEY).numbered(number)
        })?);
    }
    Ok(keys)
}

/// A key file's content.
fn key(content: &[u8]) -> Option<[u8; 32]> {
    if let Ok(raw) = content.try_into() {
        return Some(raw);
    }
    let text = core::str::from_utf8(content).ok()?;
    if let Some(key) = hex(text.trim()) {
        return Some(key);
    }
    let (label, der) = pem_rfc7468::decode_vec(text.trim().as_bytes()).ok()?;
    // Not through a decoder of points: those take encodings that the key rule refuses.
    let key = der.strip_prefix(SUBJECT_PUBLIC_KEY_INFO)?;
    (label == "PUBLIC KEY").then_some(key)?.try_into().ok()
}

fn hex(text: &str) -> Option<[u8; 32]> {
    if text.len() == 64 { hex_decode_array(&text.to_ascii_lowercase()).ok() } else { None }
}

/// RFC 8410: what precedes the 32 bytes of an Ed25519 key in DER.
const SUBJECT_PUBLIC_KEY_INFO: &[u8] =
    &[0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

const FORMS: &str = "64 hexadecimal digits, PEM (PUBLIC KEY) or 32 bytes";

const MAX_KEY_BYTES: u64 = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8410 section 10.1.
    const PEM: &str = "-----BEGIN PUBLIC KEY-----\n\
        MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n\
        -----END PUBLIC KEY-----\n";

    #[test]
    fn a_key_has_three_forms() {
        let text = "19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1";
        let raw = hex(text).unwrap();
        for form in [PEM.as_bytes(), &raw, text.as_bytes(), format!("{text}\n").as_bytes()] {
            assert_eq!(key(form), Some(raw));
        }
        assert_eq!(hex(&text.to_uppercase()), Some(raw));
        let private = PEM.replace("PUBLIC", "PRIVATE");
        for form in [private.as_bytes(), &raw[1..], &text.as_bytes()[1..], b"", b"\xff"] {
            assert_eq!(key(form), None);
        }
    }
}
