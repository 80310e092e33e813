//! Names, IDs and public keys: who a signature line says it is by, and what checks that.

use core::fmt;
use core::str::FromStr;

use super::error::{KeyError, SignatureFault};
use crate::cosignature;
#[cfg(feature = "ml-dsa")]
use crate::cosignature::ml_dsa::MlDsaPublicKey;
use crate::digest::Digest;
use crate::encoding;
use crate::signed_object::{self, PublicKey, Signature};

/// Length of an Ed25519 signature.
pub(crate) const ED25519_BYTES: usize = 64;

/// The longest key name, in bytes: what the one-byte length fields of the newer C2SP signatures hold.
pub const MAX_KEY_NAME_BYTES: usize = 255;

/// The longest text form of a key that is looked at: enough for the largest keys of C2SP (ML-DSA-44), so
/// that they are refused for their type and not for their length.
pub(super) const MAX_KEY_TEXT_BYTES: usize = 4096;

/// The name of a key, by which C2SP recommends a URL without its scheme.
///
/// Not empty, at most [`MAX_KEY_NAME_BYTES`], without Unicode white space, control characters below
/// U+0020 and `+`.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct KeyName(Box<str>);

impl KeyName {
    /// Takes `name` if it is a key name, and is [`KeyError::Name`] if it is not.
    pub fn new(name: &str) -> Result<Self, KeyError> {
        let forbidden = |c: char| c.is_whitespace() || c < '\u{20}' || c == '+';
        if name.is_empty() || name.len() > MAX_KEY_NAME_BYTES || name.contains(forbidden) {
            return Err(KeyError::Name);
        }
        Ok(Self(name.into()))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for KeyName {
    type Err = KeyError;

    fn from_str(name: &str) -> Result<Self, KeyError> {
        Self::new(name)
    }
}

/// The first four bytes of a hash over name, signature type and public key.
///
/// A hint for finding the key, never an identity: four bytes collide at will.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct KeyId([u8; 4]);

impl KeyId {
    /// Takes the four bytes as they are.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 4]) -> Self {
        Self(bytes)
    }

    /// The four bytes, in the order in which a signature line carries them.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 4] {
        &self.0
    }

    /// SHA-256(name, newline, type, public key), cut to four bytes.
    fn compute(name: &KeyName, algorithm: SignatureAlgorithm, key: &[u8]) -> Self {
        let parts: [&[u8]; 4] = [name.0.as_bytes(), b"\n", &[algorithm.type_byte()], key];
        let [a, b, c, d, ..] = *Digest::of_parts(&parts).as_bytes();
        Self([a, b, c, d])
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&encoding::hex_encode(&self.0))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}

impl FromStr for KeyId {
    type Err = KeyError;

    /// Reads eight lower-case hexadecimal digits.
    fn from_str(text: &str) -> Result<Self, KeyError> {
        encoding::hex_decode_array(text).map(Self).map_err(|_| KeyError::KeyIdForm)
    }
}

/// The signature types of C2SP signed-note that this crate verifies.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum SignatureAlgorithm {
    /// Type 0x01: Ed25519 over the text of the note.
    Ed25519,
    /// Type 0x04: Ed25519 over a timestamp and the text, a witness' cosignature ([`crate::cosignature`]).
    CosignatureV1,
    /// Type 0x06: ML-DSA-44 over a timestamp and the head of the tree, a cosignature of a newer kind
    /// ([`crate::cosignature::ml_dsa`]).
    #[cfg(feature = "ml-dsa")]
    MlDsa44,
}

impl SignatureAlgorithm {
    /// The byte that stands for the type in keys and key IDs.
    #[must_use]
    pub const fn type_byte(self) -> u8 {
        match self {
            Self::Ed25519 => 0x01,
            Self::CosignatureV1 => 0x04,
            #[cfg(feature = "ml-dsa")]
            Self::MlDsa44 => 0x06,
        }
    }

    const fn from_type_byte(type_byte: u8) -> Result<Self, KeyError> {
        match type_byte {
            0x01 => Ok(Self::Ed25519),
            0x04 => Ok(Self::CosignatureV1),
            #[cfg(feature = "ml-dsa")]
            0x06 => Ok(Self::MlDsa44),
            _ => Err(KeyError::Algorithm { type_byte }),
        }
    }
}

/// The public half of a key, without a name or a use: what decides whether two keys are the same party's.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum NotePublicKey {
    /// Ed25519, of the types 0x01 and 0x04.
    Ed25519(PublicKey),
    /// ML-DSA-44, of type 0x06.
    #[cfg(feature = "ml-dsa")]
    MlDsa44(MlDsaPublicKey),
}

impl NotePublicKey {
    /// The encoded key.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Ed25519(key) => key.as_bytes(),
            #[cfg(feature = "ml-dsa")]
            Self::MlDsa44(key) => key.as_bytes(),
        }
    }

    /// The key, if it is one of Ed25519.
    #[must_use]
    pub const fn ed25519(&self) -> Option<&PublicKey> {
        match self {
            Self::Ed25519(key) => Some(key),
            #[cfg(feature = "ml-dsa")]
            Self::MlDsa44(_) => None,
        }
    }
}

/// A public key with the name and the signature type it is used under.
///
/// Text form is the `vkey` of C2SP signed-note: `name+keyid+base64(type ‖ key)`. An Ed25519 key is a canonical
/// encoding and not of small order, and the key ID is always the recomputed one. Equality of two keys says
/// nothing about equality of their owners: compare [`VerifierKey::public_key`] for that.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct VerifierKey {
    name: KeyName,
    key_id: KeyId,
    algorithm: SignatureAlgorithm,
    public_key: NotePublicKey,
}

impl VerifierKey {
    /// The key under which `name` signs in the manner of `algorithm`, which is one of Ed25519. (Under another,
    /// no line verifies.)
    #[must_use]
    pub fn new(name: KeyName, algorithm: SignatureAlgorithm, public_key: PublicKey) -> Self {
        Self::of(name, algorithm, NotePublicKey::Ed25519(public_key))
    }

    /// The key of type 0x06 under which `name` cosigns.
    #[cfg(feature = "ml-dsa")]
    #[must_use]
    pub fn ml_dsa_44(name: KeyName, public_key: MlDsaPublicKey) -> Self {
        Self::of(name, SignatureAlgorithm::MlDsa44, NotePublicKey::MlDsa44(public_key))
    }

    fn of(name: KeyName, algorithm: SignatureAlgorithm, public_key: NotePublicKey) -> Self {
        let key_id = KeyId::compute(&name, algorithm, public_key.as_bytes());
        Self { name, key_id, algorithm, public_key }
    }

    /// The name that lines of this key carry.
    #[must_use]
    pub const fn name(&self) -> &KeyName {
        &self.name
    }

    /// The key ID that lines of this key carry.
    #[must_use]
    pub const fn key_id(&self) -> KeyId {
        self.key_id
    }

    /// The signature type of this key.
    #[must_use]
    pub const fn algorithm(&self) -> SignatureAlgorithm {
        self.algorithm
    }

    /// The public key: what decides whether two keys are the same party's.
    #[must_use]
    pub const fn public_key(&self) -> &NotePublicKey {
        &self.public_key
    }

    /// Checks the bytes that follow the key ID in a line of this key; a cosignature gives its time.
    pub(crate) fn check(&self, text: &str, bytes: &[u8]) -> Result<Option<u64>, SignatureFault> {
        match self.algorithm {
            SignatureAlgorithm::Ed25519 => {
                let length =
                    SignatureFault::Length { expected: ED25519_BYTES, actual: bytes.len() };
                let signature = bytes.try_into().map_err(|_| length)?;
                self.check_ed25519(text.as_bytes(), signature).map(|()| None)
            }
            SignatureAlgorithm::CosignatureV1 => cosignature::check(self, text, bytes).map(Some),
            #[cfg(feature = "ml-dsa")]
            SignatureAlgorithm::MlDsa44 => cosignature::check(self, text, bytes).map(Some),
        }
    }

    /// Checks a bare Ed25519 signature over `message`.
    pub(crate) fn check_ed25519(
        &self,
        message: &[u8],
        signature: &[u8; ED25519_BYTES],
    ) -> Result<(), SignatureFault> {
        let key = self.public_key.ed25519().ok_or(SignatureFault::Mismatch)?;
        key.verify(message, &Signature::from_bytes(*signature))
            .map_err(|_| SignatureFault::Mismatch)
    }
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut key = vec![self.algorithm.type_byte()];
        key.extend_from_slice(self.public_key.as_bytes());
        write!(f, "{}+{}+{}", self.name, self.key_id, encoding::base64_encode(&key))
    }
}

impl FromStr for VerifierKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        if text.len() > MAX_KEY_TEXT_BYTES {
            return Err(KeyError::Syntax);
        }
        // Three parts at most: the base64 of the key may itself hold a `+`.
        let mut parts = text.splitn(3, '+');
        let (Some(name), Some(key_id), Some(key)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(KeyError::Syntax);
        };
        let name = KeyName::new(name)?;
        let declared: KeyId = key_id.parse()?;
        let key = encoding::base64_decode(key).map_err(|_| KeyError::Base64)?;
        let key = Self::of_typed(name, &key)?;
        if key.key_id != declared {
            return Err(KeyError::KeyIdMismatch { declared, actual: key.key_id });
        }
        Ok(key)
    }
}

impl VerifierKey {
    /// The key that is `type ‖ key` in its text form.
    fn of_typed(name: KeyName, bytes: &[u8]) -> Result<Self, KeyError> {
        #[cfg(feature = "ml-dsa")]
        if let Some((&type_byte, key)) = bytes.split_first()
            && type_byte == SignatureAlgorithm::MlDsa44.type_byte()
        {
            let key = MlDsaPublicKey::from_bytes(key);
            let key = key.ok_or(KeyError::Length { bytes: bytes.len() })?;
            return Ok(Self::ml_dsa_44(name, key));
        }
        let (algorithm, key) = split_typed_key(bytes)?;
        let public_key = PublicKey::from_bytes(key).map_err(|error| match error {
            signed_object::KeyError::SmallOrder => KeyError::Weak,
            _ => KeyError::NonCanonical,
        })?;
        Ok(Self::new(name, algorithm, public_key))
    }
}

/// Takes apart `type ‖ 32 bytes`, the inside of both key forms: an Ed25519 key, or any seed.
pub(super) fn split_typed_key(bytes: &[u8]) -> Result<(SignatureAlgorithm, &[u8; 32]), KeyError> {
    let length = KeyError::Length { bytes: bytes.len() };
    let Some((&type_byte, key)) = bytes.split_first() else {
        return Err(length);
    };
    // The type comes first: keys of other types have other lengths, and the type is what to report.
    let algorithm = SignatureAlgorithm::from_type_byte(type_byte)?;
    Ok((algorithm, key.try_into().map_err(|_| length)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOO: &str = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";

    fn vkey(key: &[u8]) -> String {
        let [a, b, c, d, ..] = *Digest::of_parts(&[b"n\n", key]).as_bytes();
        format!("n+{}+{}", KeyId([a, b, c, d]), encoding::base64_encode(key))
    }

    fn typed(type_byte: u8, key: [u8; 32]) -> Vec<u8> {
        [&[type_byte], &key[..]].concat()
    }

    #[test]
    fn the_text_form_round_trips() {
        // The last two have a `+` in their base64.
        for text in [
            FOO,
            "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
            "witness1.example+7b0bebb9+BBFDovhb1X3AQmjKku6E/zMteS09Shjwi3adxaj0L2wi",
            "witness3.example+6a67f0ad+BFg3orsz3eM9oFSZ8NIihNHRWb7nVBIdwbUO03gDvN+h",
            "log.example/gad+c0e67a31+AcDREHzWnPMwu79xv/AzePY+2HJaJJhOmLjvfBa+fms4",
        ] {
            let key: VerifierKey = text.parse().unwrap();
            assert_eq!(key.to_string(), text);
        }
        let foo: VerifierKey = FOO.parse().unwrap();
        assert_eq!(foo.name().as_str(), "example.com/foo");
        assert_eq!(foo.key_id().as_bytes(), &[0x53, 0x0d, 0x90, 0x3a]);
        assert_eq!(foo.algorithm(), SignatureAlgorithm::Ed25519);
    }

    #[test]
    fn other_text_forms_are_refused() {
        let declared = KeyId([0x53, 0x0d, 0x90, 0x3b]);
        let actual = KeyId([0x53, 0x0d, 0x90, 0x3a]);
        for (text, error) in [
            (String::new(), KeyError::Syntax),
            ("example.com/foo".to_owned(), KeyError::Syntax),
            ("example.com/foo+530d903a".to_owned(), KeyError::Syntax),
            (FOO.repeat(100), KeyError::Syntax),
            (FOO.replace("example.com/foo", ""), KeyError::Name),
            (FOO.replace("/foo", "/f oo"), KeyError::Name),
            (FOO.replace("530d903a", "530D903A"), KeyError::KeyIdForm),
            (FOO.replace("530d903a", "530d903"), KeyError::KeyIdForm),
            (FOO.replace("530d903a", "0530d903a"), KeyError::KeyIdForm),
            (FOO.replace("530d903a", "530d903b"), KeyError::KeyIdMismatch { declared, actual }),
            (format!("{FOO}\n"), KeyError::Base64),
            (FOO.replace("U2k", "U2"), KeyError::Base64),
            (vkey(&[]), KeyError::Length { bytes: 0 }),
            (vkey(&[1; 32]), KeyError::Length { bytes: 32 }),
            (vkey(&[1; 34]), KeyError::Length { bytes: 34 }),
            (vkey(&[2; 33]), KeyError::Algorithm { type_byte: 2 }),
            (vkey(&[5; 1313]), KeyError::Algorithm { type_byte: 5 }),
            #[cfg(not(feature = "ml-dsa"))]
            (vkey(&[6; 1313]), KeyError::Algorithm { type_byte: 6 }),
            #[cfg(not(feature = "ml-dsa"))]
            (vkey(&[6; 33]), KeyError::Algorithm { type_byte: 6 }),
            #[cfg(feature = "ml-dsa")]
            (vkey(&[6; 1312]), KeyError::Length { bytes: 1312 }),
            #[cfg(feature = "ml-dsa")]
            (vkey(&[6; 33]), KeyError::Length { bytes: 33 }),
        ] {
            assert_eq!(text.parse::<VerifierKey>(), Err(error), "{text}");
        }
    }

    #[test]
    fn weak_and_non_canonical_keys_are_refused() {
        let mut identity = [0; 32];
        identity[0] = 1;
        let mut signed_identity = identity;
        signed_identity[31] = 0x80;
        // y = p + 3 is a second spelling of y = 3, a good key.
        let mut over_p = [0xff; 32];
        over_p[0] = 0xf0;
        over_p[31] = 0x7f;
        let mut three = [0; 32];
        three[0] = 3;
        // y = 2 is on no point of the curve.
        let mut off_curve = [0; 32];
        off_curve[0] = 2;
        for type_byte in [1, 4] {
            for (key, error) in [
                (identity, KeyError::Weak),
                ([0; 32], KeyError::Weak), // order 4
                (signed_identity, KeyError::NonCanonical),
                (over_p, KeyError::NonCanonical),
                (off_curve, KeyError::NonCanonical),
            ] {
                assert_eq!(vkey(&typed(type_byte, key)).parse::<VerifierKey>(), Err(error));
            }
            assert!(vkey(&typed(type_byte, three)).parse::<VerifierKey>().is_ok());
        }
    }

    #[test]
    fn names_have_limits() {
        let longest = "n".repeat(MAX_KEY_NAME_BYTES);
        for name in ["a", "example.com/log", "späße.example", "-", &longest] {
            assert_eq!(KeyName::new(name).unwrap().as_str(), name);
        }
        let too_long = "n".repeat(MAX_KEY_NAME_BYTES + 1);
        for name in ["", " ", "a b", "a+b", "a\tb", "a\u{a0}b", "a\u{2003}b", "a\u{1}", &too_long] {
            assert_eq!(KeyName::new(name), Err(KeyError::Name), "{name:?}");
        }
    }
}
