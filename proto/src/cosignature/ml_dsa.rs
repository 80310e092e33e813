//! C2SP cosignatures of type 0x06: ML-DSA-44 (FIPS 204) over the tree's head. Behind the feature `ml-dsa`.
//!
//! What it is: the form of a cosignature that stays good when Ed25519 doesn't, of [c2sp.org/tlog-cosignature] from its
//! version 1.1 on. What it is not: it covers origin, size and root and nothing else, so a checkpoint with extension
//! lines can't be cosigned by it here, and a line of this type over one doesn't verify; the specification lets
//! such lines pass uncovered. Subtrees that don't begin with the first entry have no place in a note and
//! are not read.
//!
//! Signed, without a context string, is
//!
//! ```text
//! "subtree/v1\n\0"
//! u8 length ‖ name of the cosigner
//! u64 seconds since 1970
//! u8 length ‖ origin of the log
//! u64 0
//! u64 tree size
//! 32 bytes of root
//! ```
//!
//! with numbers big-endian; the line carries `u64 seconds ‖ signature`. Keys are 32 bytes of seed and 1,312
//! bytes of public key.
//!
//! [c2sp.org/tlog-cosignature]: https://c2sp.org/tlog-cosignature

use core::fmt;
use core::str::FromStr;
use std::sync::Arc;

use ml_dsa::{EncodedVerifyingKey, MlDsa44, Seed, Signature, SigningKey, VerifyingKey};
use ml_dsa::{Keypair as _, SignatureEncoding as _, Signer as _};
use zeroize::Zeroizing;

use super::{CosignatureError, MAX_UNIX_SECONDS};
use crate::checkpoint::Checkpoint;
use crate::encoding;
use crate::note::{
    KeyError, KeyName, NotePublicKey, NoteSignature, SignatureAlgorithm, SignatureFault,
    SigningKeyText, VerifierKey, split_skey,
};

/// Length of a public key.
pub const ML_DSA_44_KEY_BYTES: usize = 1312;

/// Length of a signature.
pub const ML_DSA_44_SIGNATURE_BYTES: usize = 2420;

/// Length of the timestamp and the signature.
const BLOB_BYTES: usize = 8 + ML_DSA_44_SIGNATURE_BYTES;

/// What the signed message begins with, so that it is none of any other kind.
const LABEL: &[u8; 12] = b"subtree/v1\n\0";

/// An ML-DSA-44 public key. Every 1,312 bytes are one.
#[derive(Clone, Eq, Hash, PartialEq)]
pub struct MlDsaPublicKey(Arc<[u8; ML_DSA_44_KEY_BYTES]>);

impl MlDsaPublicKey {
    /// Takes the encoded key, if it has the right length.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(Self(Arc::new(bytes.try_into().ok()?)))
    }

    /// The encoded key.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_slice()
    }

    fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let Ok(key) = EncodedVerifyingKey::<MlDsa44>::try_from(self.as_bytes()) else {
            return false;
        };
        let Ok(signature) = Signature::<MlDsa44>::try_from(signature) else { return false };
        VerifyingKey::<MlDsa44>::decode(&key).verify_with_context(message, &[], &signature)
    }
}

impl fmt::Debug for MlDsaPublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MlDsaPublicKey({})", crate::digest::Digest::of(self.as_bytes()).to_hex())
    }
}

/// A witness' private key of type 0x06.
///
/// One key is for one witness. The text form is the one of other implementations:
/// `PRIVATE+KEY+name+keyid+base64(0x06 ‖ seed)`. The seed is wiped from memory on drop. Signing is
/// deterministic, the variant of FIPS 204 without randomness: there is none to draw here.
pub struct MlDsaCosigner {
    key: SigningKey<MlDsa44>,
    verifier_key: VerifierKey,
}

impl MlDsaCosigner {
    /// The key that FIPS 204 derives from `seed`.
    #[must_use]
    pub fn from_seed(name: KeyName, seed: &[u8; 32]) -> Self {
        let seed = Zeroizing::new(Seed::from(*seed));
        let key = SigningKey::<MlDsa44>::from_seed(&seed);
        let mut public = [0; ML_DSA_44_KEY_BYTES];
        public.copy_from_slice(key.verifying_key().encode().as_slice());
        let verifier_key = VerifierKey::ml_dsa_44(name, MlDsaPublicKey(Arc::new(public)));
        Self { key, verifier_key }
    }

    /// The public half.
    #[must_use]
    pub const fn verifier_key(&self) -> &VerifierKey {
        &self.verifier_key
    }

    /// The text form, to be kept where private keys are kept.
    #[must_use]
    pub fn to_skey(&self) -> Zeroizing<String> {
        let mut typed = Zeroizing::new([0; 33]);
        let (type_byte, seed) = typed.split_at_mut(1);
        type_byte.fill(SignatureAlgorithm::MlDsa44.type_byte());
        seed.copy_from_slice(self.key.as_seed().as_slice());
        let (name, id) = (self.verifier_key.name(), self.verifier_key.key_id());
        // Room for everything at once: a string that grows leaves its old bytes behind.
        let mut text = Zeroizing::new(String::with_capacity(512));
        text.push_str("PRIVATE+KEY+");
        text.push_str(name.as_str());
        text.push('+');
        text.push_str(&id.to_string());
        text.push('+');
        encoding::base64_encode_into(typed.as_slice(), &mut text);
        text
    }

    /// States that the checkpoint with this text was seen at `unix_seconds`, from 1 to
    /// [`MAX_UNIX_SECONDS`], as [`super::CosignerKey::cosign`] does. (A time of 0 states nothing, by the
    /// specification.) A checkpoint with extension lines is refused.
    pub fn cosign(
        &self,
        checkpoint_text: &str,
        unix_seconds: u64,
    ) -> Result<NoteSignature, CosignatureError> {
        let checkpoint = Checkpoint::parse(checkpoint_text)?;
        if unix_seconds == 0 || unix_seconds > MAX_UNIX_SECONDS {
            return Err(SignatureFault::Timestamp { unix_seconds }.into());
        }
        if !checkpoint.extensions.is_empty() {
            return Err(CosignatureError::Extensions);
        }
        let message = message(self.verifier_key.name(), unix_seconds, &checkpoint);
        let signature = self.key.try_sign(&message).map_err(|_| CosignatureError::Signing)?;
        let mut blob = unix_seconds.to_be_bytes().to_vec();
        blob.extend_from_slice(signature.to_bytes().as_slice());
        let key = &self.verifier_key;
        Ok(NoteSignature::from_parts(key.name().clone(), key.key_id(), blob))
    }
}

impl fmt::Debug for MlDsaCosigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.verifier_key;
        write!(f, "MlDsaCosigner({}+{})", key.name(), key.key_id())
    }
}

impl FromStr for MlDsaCosigner {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let SigningKeyText { name, declared, algorithm, seed } = split_skey(text)?;
        if algorithm != SignatureAlgorithm::MlDsa44 {
            return Err(KeyError::Algorithm { type_byte: algorithm.type_byte() });
        }
        let key = Self::from_seed(name, &seed);
        let actual = key.verifier_key.key_id();
        if actual != declared {
            return Err(KeyError::KeyIdMismatch { declared, actual });
        }
        Ok(key)
    }
}

/// Checks the bytes that follow the key ID in a line of `key`.
pub(super) fn check(
    key: &VerifierKey,
    checkpoint_text: &str,
    bytes: &[u8],
) -> Result<u64, SignatureFault> {
    let NotePublicKey::MlDsa44(public_key) = key.public_key() else {
        return Err(SignatureFault::Mismatch);
    };
    let length = SignatureFault::Length { expected: BLOB_BYTES, actual: bytes.len() };
    let (time, signature) = bytes.split_first_chunk().ok_or(length)?;
    if signature.len() != ML_DSA_44_SIGNATURE_BYTES {
        return Err(length);
    }
    let unix_seconds = u64::from_be_bytes(*time);
    if unix_seconds == 0 || unix_seconds > MAX_UNIX_SECONDS {
        return Err(SignatureFault::Timestamp { unix_seconds });
    }
    // What is no checkpoint has no head that could be signed.
    let checkpoint = Checkpoint::parse(checkpoint_text).map_err(|_| SignatureFault::Mismatch)?;
    if !checkpoint.extensions.is_empty() {
        return Err(SignatureFault::Mismatch);
    }
    let message = message(key.name(), unix_seconds, &checkpoint);
    if public_key.verifies(&message, signature) {
        Ok(unix_seconds)
    } else {
        Err(SignatureFault::Mismatch)
    }
}

fn message(cosigner: &KeyName, unix_seconds: u64, checkpoint: &Checkpoint) -> Vec<u8> {
    let mut message = LABEL.to_vec();
    let text = |text: &str, message: &mut Vec<u8>| {
        // Names and origins have at most 255 bytes, for this very length.
        message.push(u8::try_from(text.len()).unwrap_or(u8::MAX));
        message.extend_from_slice(text.as_bytes());
    };
    text(cosigner.as_str(), &mut message);
    message.extend_from_slice(&unix_seconds.to_be_bytes());
    text(checkpoint.origin.as_str(), &mut message);
    message.extend_from_slice(&0_u64.to_be_bytes());
    message.extend_from_slice(&checkpoint.size.get().to_be_bytes());
    message.extend_from_slice(checkpoint.root.as_bytes());
    message
}

#[cfg(test)]
mod tests;
