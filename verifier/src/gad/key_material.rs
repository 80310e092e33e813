//! Key hygiene (REG-38): whether bytes are a private key, told by what they derive and not by how they
//! look.
//!
//! What it is: a probe of one whole member. Bytes that parse as a private key are key material. Bytes
//! that could be an Ed25519 seed are what any 32 bytes are, so that only the public key they derive can
//! tell: the caller compares it with the keys it knows. What it isn't: a search for secrets in text. A
//! PEM block counts wherever it stands, because that is how keys are stored; nothing else is looked for.
//!
//! An encrypted key parses only for whoever has its passphrase, and derives nothing; it isn't found.

use anchorlog_proto::encoding::{base64_decode, hex_decode_array};
use anchorlog_proto::signed_object::{PublicKey, SigningKey};
use der::asn1::{AnyRef, OctetStringRef};
use der::{Decode, Reader, SliceReader, Tag, Tagged};
use ed25519_dalek::pkcs8::PrivateKeyInfoRef;
use rsa::pkcs1::RsaPrivateKeyRef;

/// What a member turned out to be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "REG-38 names exactly these two")]
pub enum KeyMaterial {
    /// It parses as a private key.
    PrivateKey,
    /// As an Ed25519 seed it derives this public key, which is a secret of whoever uses that key.
    Seed(PublicKey),
}

/// Looks at a whole member.
#[must_use]
pub fn probe(bytes: &[u8]) -> Option<KeyMaterial> {
    if is_pkcs8(bytes) || holds_pem_key(bytes) {
        return Some(KeyMaterial::PrivateKey);
    }
    let key = SigningKey::from_seed(&seed(bytes)?).public_key();
    Some(KeyMaterial::Seed(key))
}

/// The seed that the bytes are, raw, in hexadecimal or in base64; each with or without one final LF.
fn seed(bytes: &[u8]) -> Option<[u8; 32]> {
    if let Ok(raw) = bytes.try_into() {
        return Some(raw);
    }
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    if let Ok(raw) = bytes.try_into() {
        return Some(raw);
    }
    let text = core::str::from_utf8(bytes).ok()?;
    match text.len() {
        64 => hex_decode_array(&text.to_ascii_lowercase()).ok(),
        43 | 44 => {
            let text = text.trim_end_matches('=').replace('-', "+").replace('_', "/");
            base64_decode(&format!("{text}=")).ok()?.try_into().ok()
        }
        _ => None,
    }
}

/// A PEM block (RFC 7468) that parses as the private key its label says. Lines may have any length.
fn holds_pem_key(bytes: &[u8]) -> bool {
    const BEGIN: &[u8] = b"-----BEGIN ";
    let mut rest = bytes;
    // Every round goes on after what it has looked at, so that all of them together are linear.
    while let Some(start) = rest.windows(BEGIN.len()).position(|window| window == BEGIN) {
        rest = rest.get(start + BEGIN.len()..).unwrap_or_default();
        let label_end = rest.iter().take(64).position(|byte| *byte == b'-').unwrap_or(0);
        let (label, tail) = rest.split_at_checked(label_end).unwrap_or_default();
        let Some(body) = tail.strip_prefix(b"-----") else { continue };
        let length = body.iter().take_while(|byte| is_pem_body(**byte)).count();
        let (body, tail) = body.split_at_checked(length).unwrap_or_default();
        rest = tail;
        let closes = tail
            .strip_prefix(b"-----END ")
            .and_then(|tail| tail.strip_prefix(label))
            .is_some_and(|tail| tail.starts_with(b"-----"));
        let text: String = body
            .iter()
            .filter(|byte| !byte.is_ascii_whitespace())
            .map(|byte| char::from(*byte))
            .collect();
        if closes && base64_decode(&text).is_ok_and(|content| is_key(label, &content)) {
            return true;
        }
    }
    false
}

const fn is_pem_body(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=') || byte.is_ascii_whitespace()
}

/// Whether the content of a PEM block is the private key of its label.
fn is_key(label: &[u8], content: &[u8]) -> bool {
    match label {
        b"PRIVATE KEY" => is_pkcs8(content),
        b"RSA PRIVATE KEY" => RsaPrivateKeyRef::try_from(content).is_ok(),
        b"EC PRIVATE KEY" => is_sec1(content).is_ok_and(|is_key| is_key),
        b"OPENSSH PRIVATE KEY" => is_openssh(content).is_some(),
        _ => false,
    }
}

/// PKCS#8 (RFC 5958), not encrypted.
fn is_pkcs8(der: &[u8]) -> bool {
    PrivateKeyInfoRef::try_from(der).is_ok()
}

/// ECPrivateKey (RFC 5915): version 1, the key, then optional parameters and public key.
fn is_sec1(der: &[u8]) -> der::Result<bool> {
    let sequence = AnyRef::from_der(der)?;
    let mut reader = SliceReader::new(sequence.value())?;
    let version = u8::decode(&mut reader)?;
    let key = <&OctetStringRef>::decode(&mut reader)?;
    let mut optional = true;
    while !reader.is_finished() {
        optional &= matches!(AnyRef::decode(&mut reader)?.tag(), Tag::ContextSpecific { .. });
    }
    Ok(sequence.tag() == Tag::Sequence && version == 1 && !key.is_empty() && optional)
}

/// openssh-key-v1, not encrypted: ciphers, public keys, then the private keys, which start with the
/// same four bytes twice.
fn is_openssh(content: &[u8]) -> Option<()> {
    fn number(bytes: &[u8]) -> Option<(u32, &[u8])> {
        let (number, rest) = bytes.split_first_chunk()?;
        Some((u32::from_be_bytes(*number), rest))
    }
    fn string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
        let (length, rest) = number(bytes)?;
        rest.split_at_checked(usize::try_from(length).ok()?)
    }
    let rest = content.strip_prefix(b"openssh-key-v1\0")?;
    let (cipher, rest) = string(rest)?;
    let (_kdf, rest) = string(rest)?;
    let (_kdf_options, rest) = string(rest)?;
    let (keys, mut rest) = number(rest)?;
    for _ in 0..keys {
        (_, rest) = string(rest)?;
    }
    let (private, rest) = string(rest)?;
    let (first, private) = number(private)?;
    let (second, _) = number(private)?;
    (cipher == b"none" && keys > 0 && first == second && rest.is_empty()).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use anchorlog_proto::encoding::{base64_encode, hex_encode};
    use ed25519_dalek::pkcs8::EncodePrivateKey;
    use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;

    fn pem(label: &str, content: &[u8], width: usize) -> Vec<u8> {
        let text = base64_encode(content);
        let lines: Vec<_> = text.as_bytes().chunks(width).collect();
        let mut pem = format!("-----BEGIN {label}-----\n").into_bytes();
        pem.extend(lines.join(&b'\n'));
        pem.extend(format!("\n-----END {label}-----\n").bytes());
        pem
    }

    fn openssh(cipher: &[u8], checks: [u32; 2]) -> Vec<u8> {
        let string = |bytes: &[u8]| {
            let length = u32::try_from(bytes.len()).unwrap();
            [&length.to_be_bytes(), bytes].concat()
        };
        let private = [checks[0].to_be_bytes(), checks[1].to_be_bytes(), [9; 4]].concat();
        let fields = [string(cipher), string(b"none"), string(b""), vec![0, 0, 0, 1]];
        let keys = [string(b"public"), string(&private)];
        [b"openssh-key-v1\0".to_vec(), fields.concat(), keys.concat()].concat()
    }

    #[test]
    fn seeds_are_told_by_what_they_derive() {
        let seed = [7_u8; 32];
        let key = SigningKey::from_seed(&seed).public_key();
        let found = Some(KeyMaterial::Seed(key));
        let hex = hex_encode(&seed);
        let base64 = base64_encode(&seed);
        for text in [&*hex, &hex.to_uppercase(), &base64, base64.trim_end_matches('=')] {
            assert_eq!(probe(text.as_bytes()), found, "{text}");
            assert_eq!(probe(format!("{text}\n").as_bytes()), found, "{text}");
            assert_eq!(probe(format!("{text}\n\n").as_bytes()), None);
            assert_eq!(probe(format!(" {text}").as_bytes()), None);
        }
        assert_eq!(probe(&seed), found);
        assert_eq!(probe(&[&seed[..], b"\n"].concat()), found);
        // Two line feeds, of which one may be part of the seed.
        let ends_in_lf = [[7_u8; 31].as_slice(), b"\n"].concat();
        assert_eq!(probe(&ends_in_lf), probe(&[&ends_in_lf[..], b"\n"].concat()));
        for length in [0, 1, 16, 31, 34, 42, 45, 63, 65, 96] {
            assert_eq!(probe(&vec![b'A'; length]), None, "{length}");
        }
    }

    #[test]
    fn private_keys_are_those_that_parse() {
        let key = ed25519_dalek::SigningKey::from_bytes(&[7; 32]);
        let der = key.to_pkcs8_der().unwrap();
        let text = key.to_pkcs8_pem(LineEnding::CRLF).unwrap();
        let found = Some(KeyMaterial::PrivateKey);
        assert_eq!(probe(der.as_bytes()), found);
        assert_eq!(probe(text.as_bytes()), found);
        // In the middle of other text, on one line, behind a block that is none.
        let block = pem("PRIVATE KEY", der.as_bytes(), 1000);
        let log =
            [b"-----BEGIN -----BEGIN CERTIFICATE-----\nAAAA\n".to_vec(), block, b"x".to_vec()];
        assert_eq!(probe(&log.concat()), found);

        for cut in 1..der.as_bytes().len() {
            let short = der.as_bytes().get(..cut).unwrap();
            assert_ne!(probe(short), found, "{cut}");
            assert_ne!(probe(&pem("PRIVATE KEY", short, 64)), found, "{cut}");
        }
        assert_eq!(probe(&[der.as_bytes(), b"\0"].concat()), None);
        assert_eq!(probe(&pem("PUBLIC KEY", der.as_bytes(), 64)), None);
        assert_eq!(
            probe(b"-----BEGIN PRIVATE KEY-----\nsecret\n-----END PRIVATE KEY-----\n"),
            None
        );
        let text = text.replace("END PRIVATE", "END PUBLIC");
        assert_eq!(probe(text.as_bytes()), None);
    }

    #[test]
    fn the_older_forms_of_private_keys_are_known() {
        let found = Some(KeyMaterial::PrivateKey);
        let sec1 = [&[0x30, 0x25, 2, 1, 1, 4, 0x20][..], &[5; 32]].concat();
        assert_eq!(probe(&pem("EC PRIVATE KEY", &sec1, 64)), found);
        assert_eq!(probe(&pem("EC PRIVATE KEY", &[0x30, 3, 2, 1, 1], 64)), None);
        assert_eq!(probe(&pem("EC PRIVATE KEY", &[0x30, 5, 2, 1, 1, 4, 0], 64)), None);

        // RFC 8017 A.1.2, of the textbook's small primes.
        let rsa = [
            0x30, 0x1d, 2, 1, 0, 2, 2, 0x0c, 0xa1, 2, 1, 17, 2, 2, 0x0a, 0xc1, 2, 1, 61, 2, 1, 53,
            2, 1, 53, 2, 1, 49, 2, 1, 38,
        ];
        assert_eq!(probe(&pem("RSA PRIVATE KEY", &rsa, 64)), found);
        assert_eq!(probe(&pem("RSA PRIVATE KEY", rsa.get(..20).unwrap(), 64)), None);

        assert_eq!(probe(&pem("OPENSSH PRIVATE KEY", &openssh(b"none", [4, 4]), 70)), found);
        assert_eq!(probe(&pem("OPENSSH PRIVATE KEY", &openssh(b"none", [4, 5]), 70)), None);
        assert_eq!(probe(&pem("OPENSSH PRIVATE KEY", &openssh(b"aes256-ctr", [4, 4]), 70)), None);
    }

    /// Hostile text costs time in proportion to its length.
    #[test]
    fn many_begins_are_looked_at_once() {
        let begins = b"-----BEGIN PRIVATE KEY-----".repeat(40_000);
        assert_eq!(probe(&begins), None);
        let long = [b"-----BEGIN PRIVATE KEY-----".to_vec(), vec![b'A'; 1 << 20]].concat();
        assert_eq!(probe(&long), None);
    }
}
