//! Keys of witnesses, and the one equation by which their signatures verify (section 8.4).

use core::fmt;
use core::str::FromStr;

use ed25519_dalek::{Signer as _, Verifier as _};
use zeroize::Zeroizing;

use super::error::KeyRefusal;
use crate::Digest;
use crate::encoding::{EncodingError, hex_decode_array, hex_encode};

/// What a statement calls its key by: the first 16 bytes of the SHA-256 of the key's 32.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct KeyId([u8; 16]);

impl KeyId {
    fn of(key: &[u8; 32]) -> Self {
        let digest = Digest::of(key);
        let [head, _] = digest.as_bytes().as_chunks::<16>().0 else { return Self([0; 16]) };
        Self(*head)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex_encode(&self.0))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}

impl FromStr for KeyId {
    type Err = EncodingError;

    fn from_str(text: &str) -> Result<Self, EncodingError> {
        if text.len() != 32 {
            return Err(EncodingError::Hex);
        }
        hex_decode_array(text).map(Self)
    }
}

/// The 64 bytes of a signature: R, then S. Whether it verifies is for [`WitnessKey::verify`] to say.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
pub struct Signature([u8; 64]);

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex_encode(&self.0))
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signature({self})")
    }
}

impl FromStr for Signature {
    type Err = EncodingError;

    fn from_str(text: &str) -> Result<Self, EncodingError> {
        if text.len() != 128 {
            return Err(EncodingError::Hex);
        }
        hex_decode_array(text).map(Self)
    }
}

/// A key that a reader may trust: the canonical encoding of a point whose order does not divide 8.
///
/// Points of mixed order are taken, as the specification has it. That, and an R of small order, is where this
/// differs from [`crate::signed_object::PublicKey`].
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct WitnessKey(ed25519_dalek::VerifyingKey);

impl WitnessKey {
    /// Holds 32 bytes to the key rule.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, KeyRefusal> {
        if !is_canonical(bytes) {
            return Err(KeyRefusal::NotCanonical);
        }
        let key = ed25519_dalek::VerifyingKey::from_bytes(bytes);
        let key = key.map_err(|_| KeyRefusal::NotOnCurve)?;
        if key.is_weak() { Err(KeyRefusal::SmallOrder) } else { Ok(Self(key)) }
    }

    /// The 32 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// What statements call it by.
    #[must_use]
    pub fn id(&self) -> KeyId {
        KeyId::of(self.as_bytes())
    }

    /// Whether S is below the group's order and `[S]B - [h]A` encodes to exactly R, without the cofactor.
    #[must_use]
    pub fn verify(&self, message: &[u8], signature: &Signature) -> bool {
        let signature = ed25519_dalek::Signature::from_bytes(&signature.0);
        self.0.verify(message, &signature).is_ok()
    }
}

impl fmt::Debug for WitnessKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WitnessKey({})", hex_encode(self.as_bytes()))
    }
}

/// A witness' private key. The secret is wiped when it is dropped and never printed.
#[derive(Clone)]
pub struct WitnessSigner(ed25519_dalek::SigningKey);

impl WitnessSigner {
    /// The key of a 32-byte RFC 8032 seed, which comes from a cryptographic random source.
    #[must_use]
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(ed25519_dalek::SigningKey::from_bytes(seed))
    }

    /// The seed, for storing the key; the copy is wiped when it is dropped.
    #[must_use]
    pub fn to_seed(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.0.to_bytes())
    }

    /// The public half, which no key rule refuses: a clamped scalar times the base point.
    #[must_use]
    pub fn key(&self) -> WitnessKey {
        WitnessKey(self.0.verifying_key())
    }

    /// Signs exactly `message`, deterministically.
    pub(super) fn sign(&self, message: &[u8]) -> Signature {
        Signature(self.0.sign(message).to_bytes())
    }
}

impl fmt::Debug for WitnessSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WitnessSigner({})", self.key().id())
    }
}

/// Whether y is below p = 2^255 - 19, and the sign of x is not set where x is 0, which is at y = 1 and p - 1.
fn is_canonical(bytes: &[u8; 32]) -> bool {
    let [low, middle @ .., top] = *bytes;
    let (sign, high) = (top & 0x80 != 0, top & 0x7f);
    let all = |byte: u8| middle.iter().all(|own| *own == byte);
    let highest = high == 0x7f && all(0xff);
    let below_p = !highest || low < 0xed;
    let x_is_zero = (high == 0 && all(0) && low == 1) || (highest && low == 0xec);
    below_p && !(sign && x_is_zero)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test may panic")]

    use super::*;

    fn refusal(hex: &str) -> Option<KeyRefusal> {
        WitnessKey::from_bytes(&hex_decode_array(hex).unwrap()).err()
    }

    #[test]
    fn the_key_rule_has_an_order() {
        let middle = "ff".repeat(30);
        for low in ["ed", "ee", "f0", "ff"] {
            for top in ["7f", "ff"] {
                let key = format!("{low}{middle}{top}");
                assert_eq!(refusal(&key), Some(KeyRefusal::NotCanonical), "{key}");
            }
        }
        let zeros = "00".repeat(30);
        for key in [format!("01{zeros}80"), format!("ec{middle}ff")] {
            assert_eq!(refusal(&key), Some(KeyRefusal::NotCanonical), "{key}");
        }
        for key in [
            format!("01{zeros}00"),
            format!("ec{middle}7f"),
            format!("00{zeros}00"),
            format!("00{zeros}80"),
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05".to_owned(),
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85".to_owned(),
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a".to_owned(),
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa".to_owned(),
        ] {
            assert_eq!(refusal(&key), Some(KeyRefusal::SmallOrder), "{key}");
        }
        assert_eq!(refusal(&format!("02{zeros}00")), Some(KeyRefusal::NotOnCurve));
        let signer = WitnessSigner::from_seed(&[3; 32]);
        assert_eq!(WitnessKey::from_bytes(signer.key().as_bytes()), Ok(signer.key()));
    }

    #[test]
    fn texts_have_one_spelling() {
        let signer = WitnessSigner::from_seed(&[3; 32]);
        let (id, signature) = (signer.key().id(), signer.sign(b"m"));
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(signature.to_string().parse(), Ok(signature));
        assert!(signer.key().verify(b"m", &signature));
        assert!(!signer.key().verify(b"n", &signature));
        for text in [id.to_string().to_uppercase(), String::new(), "0".repeat(34)] {
            assert!(text.parse::<KeyId>().is_err(), "{text}");
            assert!(text.parse::<Signature>().is_err(), "{text}");
        }
        assert_eq!(format!("{signer:?}"), format!("WitnessSigner({id})"));
    }
}
