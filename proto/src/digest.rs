//! The one hash value of the house: 32 bytes of SHA-256.
//!
//! A [`Digest`] says nothing about *what* was hashed; the types that hold one do. There is no other hash
//! algorithm and no agility inside a format: a new hash is a new byte profile.

use core::fmt;
use core::str::FromStr;

use sha2::{Digest as _, Sha256};

use crate::encoding::{self, EncodingError};

/// Prefix of the text form, the same in every format of ours.
const PREFIX: &str = "sha256:";

/// A SHA-256 value.
///
/// Text form: `sha256:` and 64 lower-case hexadecimal digits, nothing else.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Takes 32 bytes as they are.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// SHA-256 of `bytes`, with no prefix of any kind.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// SHA-256 of the concatenation of `parts`.
    #[must_use]
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    /// 64 lower-case hexadecimal digits, without the prefix.
    #[must_use]
    pub fn to_hex(&self) -> String {
        encoding::hex_encode(&self.0)
    }

    /// Reads 64 lower-case hexadecimal digits.
    pub fn from_hex(text: &str) -> Result<Self, EncodingError> {
        encoding::hex_decode_array(text).map(Self)
    }

    /// Standard padded base64: the form of C2SP checkpoints and proofs.
    #[must_use]
    pub fn to_base64(&self) -> String {
        encoding::base64_encode(&self.0)
    }

    /// Reads the canonical base64 of exactly 32 bytes.
    pub fn from_base64(text: &str) -> Result<Self, EncodingError> {
        encoding::base64_decode_array(text).map(Self)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        f.write_str(&self.to_hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({})", self.to_hex())
    }
}

impl FromStr for Digest {
    type Err = EncodingError;

    fn from_str(text: &str) -> Result<Self, EncodingError> {
        Self::from_hex(text.strip_prefix(PREFIX).ok_or(EncodingError::DigestPrefix)?)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn text_form_round_trips_and_is_strict() {
        let digest = Digest::of(b"hello");
        let text = "sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
        assert_eq!(digest.to_string(), text);
        assert_eq!(text.parse::<Digest>().unwrap(), digest);
        assert_eq!(Digest::from_base64(&digest.to_base64()).unwrap(), digest);

        assert_eq!(text.to_uppercase().parse::<Digest>(), Err(EncodingError::DigestPrefix));
        assert_eq!(text.replace('f', "F").parse::<Digest>(), Err(EncodingError::Hex));
        assert_eq!(text.replace("sha256:", "").parse::<Digest>(), Err(EncodingError::DigestPrefix));
        for wrong in [&text[..text.len() - 1], &text[..text.len() - 2], &format!("{text}0")] {
            assert!(wrong.parse::<Digest>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn parts_are_concatenated() {
        assert_eq!(Digest::of_parts(&[b"he", b"", b"llo"]), Digest::of(b"hello"));
    }
}
