//! Ed25519 keys, signatures and key identifiers, with only the safe ways to use them.
//!
//! Rules: RFC 8032, S < L, the cofactorless equation, R and the public key canonical and not of
//! small order. Plain Ed25519 libraries accept keys under which one signature fits every message;
//! [`PublicKey`] can't hold one.

use std::fmt;
use std::str::FromStr;

use ed25519_dalek::Signer as _;
use zeroize::Zeroizing;

use super::Domain;
use crate::digest::Digest;
use crate::encoding::{
    EncodingError, base64_decode_array, base64_encode, hex_decode_array, hex_encode,
};

/// Why bytes or text aren't a key of ours.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The text isn't the canonical base64 of 32 bytes.
    #[error("a public key is the canonical base64 of 32 bytes")]
    Base64,
    /// The bytes encode no point of the curve, or not in the one canonical way.
    #[error("not the canonical encoding of an Ed25519 public key")]
    Encoding,
    /// The text isn't `gadk1:` and 64 lower-case hexadecimal digits.
    #[error("a key identifier is \"gadk1:\" and 64 lower-case hexadecimal digits")]
    IdForm,
    /// The point has small order: signatures under it would prove nothing.
    #[error("an Ed25519 public key of small order")]
    SmallOrder,
}

impl KeyError {
    /// The stable code of this refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Base64 => "J.B64_FORM",
            Self::Encoding => "KEY.ENCODING",
            Self::IdForm => "J.DIGEST_FORM",
            Self::SmallOrder => "KEY.SMALL_ORDER",
        }
    }
}

/// A signature that does not verify under the key it was checked with.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the signature does not verify")]
pub struct InvalidSignature;

/// The identifier of a signer's key: `gadk1:` + hex of H(dom(key-id), "ed25519" 0x00, key).
///
/// It names a key, it doesn't stand for one: whether two parties are the same is judged on their
/// public keys, and an identifier found in data is always recomputed from the key.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SignerId(Digest);

impl SignerId {
    /// The identifier of a key.
    #[must_use]
    pub fn of(key: &PublicKey) -> Self {
        Self::of_bytes(key.as_bytes())
    }

    /// The identifier that 32 key bytes would have, whether or not they are an acceptable key.
    #[must_use]
    pub fn of_bytes(key: &[u8; 32]) -> Self {
        Self(Domain::KeyId.hash(&[b"ed25519\0", key]))
    }

    /// The 32 bytes behind the prefix.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// An identifier from the 32 bytes behind the prefix.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Digest::from_bytes(bytes))
    }
}

impl fmt::Display for SignerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{ID_PREFIX}{}", hex_encode(self.as_bytes()))
    }
}

impl fmt::Debug for SignerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SignerId({self})")
    }
}

impl FromStr for SignerId {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let hex = text.strip_prefix(ID_PREFIX).ok_or(KeyError::IdForm)?;
        // Checked by its length first, so that nothing long is ever decoded.
        if hex.len() != 64 {
            return Err(KeyError::IdForm);
        }
        hex_decode_array(hex).map(Self::from_bytes).map_err(|_| KeyError::IdForm)
    }
}

/// An Ed25519 public key: a canonical encoding, not of small order.
#[derive(Clone, Copy, Eq, Hash, PartialEq)]
pub struct PublicKey(ed25519_dalek::VerifyingKey);

impl PublicKey {
    /// Accepts 32 bytes that are a canonical encoding of a point whose order isn't small.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, KeyError> {
        let key = ed25519_dalek::VerifyingKey::from_bytes(bytes).map_err(|_| KeyError::Encoding)?;
        // Decompression also accepts y-coordinates at or above the field's prime, and a sign bit on
        // x = 0; only re-encoding tells.
        if key.to_edwards().compress().as_bytes() != bytes {
            return Err(KeyError::Encoding);
        }
        if key.is_weak() {
            return Err(KeyError::SmallOrder);
        }
        Ok(Self(key))
    }

    /// Reads the canonical base64 of a key.
    pub fn from_base64(text: &str) -> Result<Self, KeyError> {
        Self::from_bytes(&decode(text).map_err(|_| KeyError::Base64)?)
    }

    /// The 32 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// The canonical base64 of the key.
    #[must_use]
    pub fn to_base64(&self) -> String {
        base64_encode(self.as_bytes())
    }

    /// The key's identifier.
    #[must_use]
    pub fn id(&self) -> SignerId {
        SignerId::of(self)
    }

    /// Strict RFC 8032 verification: S < L, R canonical and not of small order, no cofactor.
    pub fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), InvalidSignature> {
        let signature = ed25519_dalek::Signature::from_bytes(&signature.0);
        self.0.verify_strict(message, &signature).map_err(|_| InvalidSignature)
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.to_base64())
    }
}

/// The 64 bytes of an Ed25519 signature; whether it verifies is for [`PublicKey::verify`] to say.
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct Signature([u8; 64]);

impl Signature {
    /// The length of the base64 form.
    pub const BASE64_LENGTH: usize = 88;

    /// Takes 64 bytes as they are.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 64]) -> Self {
        Self(bytes)
    }

    /// Reads the canonical padded base64 of 64 bytes.
    pub fn from_base64(text: &str) -> Result<Self, EncodingError> {
        decode(text).map(Self)
    }

    /// The 64 bytes: R, then S.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 64] {
        &self.0
    }

    /// The canonical padded base64.
    #[must_use]
    pub fn to_base64(&self) -> String {
        base64_encode(&self.0)
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signature({})", self.to_base64())
    }
}

/// An Ed25519 private key. The secret is wiped when it is dropped and never printed.
#[derive(Clone)]
pub struct SigningKey(ed25519_dalek::SigningKey);

impl SigningKey {
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

    /// The public half.
    #[must_use]
    pub fn public_key(&self) -> PublicKey {
        // A clamped scalar times the base point is canonical and never of small order.
        PublicKey(self.0.verifying_key())
    }

    /// The identifier of the public half.
    #[must_use]
    pub fn id(&self) -> SignerId {
        self.public_key().id()
    }

    /// Signs exactly `message`, deterministically.
    #[must_use]
    pub fn sign(&self, message: &[u8]) -> Signature {
        Signature(self.0.sign(message).to_bytes())
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.id())
    }
}

/// Decodes base64 of exactly `N` bytes, refusing other lengths before anything is decoded.
fn decode<const N: usize>(text: &str) -> Result<[u8; N], EncodingError> {
    if text.len() == N.div_ceil(3) * 4 {
        base64_decode_array(text)
    } else {
        Err(EncodingError::Base64)
    }
}

const ID_PREFIX: &str = "gadk1:";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a failing test may panic")]

    use super::*;

    /// RFC 8032 section 7.1, test 2.
    const SEED: &str = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb";
    const KEY: &str = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
    const SIGNATURE: &str = "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00";

    #[test]
    fn rfc_8032_vector() {
        let key = SigningKey::from_seed(&hex_decode_array(SEED).unwrap());
        assert_eq!(hex_encode(key.public_key().as_bytes()), KEY);
        let signature = key.sign(&[0x72]);
        assert_eq!(hex_encode(signature.as_bytes()), SIGNATURE);
        assert_eq!(key.public_key().verify(&[0x72], &signature), Ok(()));
        assert_eq!(key.public_key().verify(&[0x73], &signature), Err(InvalidSignature));
        assert_eq!(*key.to_seed(), hex_decode_array(SEED).unwrap());
    }

    #[test]
    fn an_s_of_l_or_more_is_refused() {
        let key = SigningKey::from_seed(&[7; 32]);
        let mut bytes = *key.sign(b"m").as_bytes();
        // Adding the group order L to S gives a second signature that satisfies the equation.
        let order: [u8; 32] =
            hex_decode_array("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
                .unwrap();
        let mut carry = 0_u16;
        for (byte, add) in bytes[32..].iter_mut().zip(order) {
            let sum = u16::from(*byte) + u16::from(add) + carry;
            *byte = sum.to_le_bytes()[0];
            carry = sum >> 8;
        }
        assert_eq!(carry, 0);
        let malleated = Signature::from_bytes(bytes);
        assert_eq!(key.public_key().verify(b"m", &malleated), Err(InvalidSignature));
    }

    #[test]
    fn small_order_keys_are_refused() {
        // The canonical encodings of the eight points whose order divides 8.
        for hex in [
            "0100000000000000000000000000000000000000000000000000000000000000",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0000000000000000000000000000000000000000000000000000000000000080",
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        ] {
            let bytes = hex_decode_array(hex).unwrap();
            assert_eq!(PublicKey::from_bytes(&bytes), Err(KeyError::SmallOrder), "{hex}");
        }
    }

    #[test]
    fn keys_that_are_not_canonical_are_refused() {
        let mut on_the_curve = 0;
        for low in 0xed..=0xff_u8 {
            for top in [0x7f, 0xff_u8] {
                // y = p + (low - 0xed), with either sign of x.
                let mut bytes = [0xff; 32];
                bytes[0] = low;
                bytes[31] = top;
                let lenient = ed25519_dalek::VerifyingKey::from_bytes(&bytes);
                on_the_curve += u8::from(lenient.is_ok());
                assert_eq!(PublicKey::from_bytes(&bytes), Err(KeyError::Encoding), "{low:#x}");
            }
        }
        assert!(on_the_curve > 0, "the library accepts some, so the check above has work to do");
        // x = 0 with its sign bit set.
        let mut negative_zero = [0; 32];
        negative_zero[0] = 1;
        negative_zero[31] = 0x80;
        assert_eq!(PublicKey::from_bytes(&negative_zero), Err(KeyError::Encoding));
    }

    #[test]
    fn identifiers_have_one_spelling() {
        let id = SigningKey::from_seed(&[1; 32]).id();
        let text = id.to_string();
        assert_eq!(text.parse(), Ok(id));
        for wrong in [text.to_uppercase(), text[1..].to_owned(), format!("{text}0"), String::new()]
        {
            assert_eq!(wrong.parse::<SignerId>(), Err(KeyError::IdForm), "{wrong}");
        }
    }

    #[test]
    fn secrets_are_not_printed() {
        let key = SigningKey::from_seed(&hex_decode_array(SEED).unwrap());
        assert_eq!(format!("{key:?}"), format!("SigningKey({})", key.id()));
    }

    #[test]
    fn base64_forms_are_exact() {
        let key = SigningKey::from_seed(&[1; 32]);
        let public = key.public_key();
        assert_eq!(PublicKey::from_base64(&public.to_base64()), Ok(public));
        assert_eq!(PublicKey::from_base64("AAAA"), Err(KeyError::Base64));
        let signature = key.sign(b"");
        assert_eq!(signature.to_base64().len(), Signature::BASE64_LENGTH);
        assert_eq!(Signature::from_base64(&signature.to_base64()), Ok(signature));
        assert!(Signature::from_base64(&public.to_base64()).is_err());
    }
}
