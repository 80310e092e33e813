//! C2SP cosignatures: a witness' statement that it has seen a checkpoint, and when.
//!
//! What it is: type 0x04 of [c2sp.org/tlog-cosignature], "cosignature/v1" (and type 0x06 in builds with the
//! feature `ml-dsa`). What a witness states is that the
//! checkpoint is the largest of its log that it has seen by then, and consistent with all before. What it is
//! not: nothing here keeps that promise (a witness does), and no clock says whether a time is plausible.
//!
//! The signature line carries `u64 big-endian seconds since 1970 ‖ Ed25519 signature`. Signed is
//!
//! ```text
//! cosignature/v1
//! time <decimal seconds>
//! <the whole text of the checkpoint, extension lines included>
//! ```
//!
//! [c2sp.org/tlog-cosignature]: https://c2sp.org/tlog-cosignature

#[cfg(feature = "ml-dsa")]
pub mod ml_dsa;

use core::fmt;
use core::str::FromStr;

use zeroize::Zeroizing;

use crate::checkpoint::{Checkpoint, CheckpointError};
use crate::note::{
    ED25519_BYTES, KeyError, KeyName, NoteSignature, NoteSigner, SignatureAlgorithm,
    SignatureFault, VerifierKey,
};

/// The latest time a cosignature can state, in seconds since 1970.
pub const MAX_UNIX_SECONDS: u64 = (1 << 63) - 1;

/// Length of the timestamp and the signature.
const BLOB_BYTES: usize = 8 + ED25519_BYTES;

/// A witness' private key.
///
/// One key is for one witness: the name is not part of what is signed. The text form is the same as a log
/// key's ([`NoteSigner`]), of type 0x01, which is how existing witnesses keep theirs.
pub struct CosignerKey {
    // The type of the text form; what it signs here is nothing but cosignatures.
    signer: NoteSigner,
    verifier_key: VerifierKey,
}

impl CosignerKey {
    /// The key that RFC 8032 derives from `seed`.
    #[must_use]
    pub fn from_seed(name: KeyName, seed: [u8; 32]) -> Self {
        Self::from_note_signer(NoteSigner::from_seed(name, seed))
    }

    /// The public half, of type 0x04.
    #[must_use]
    pub const fn verifier_key(&self) -> &VerifierKey {
        &self.verifier_key
    }

    /// The text form, to be kept where private keys are kept.
    #[must_use]
    pub fn to_skey(&self) -> Zeroizing<String> {
        self.signer.to_skey()
    }

    /// States that the checkpoint with this text was seen at `unix_seconds`, at most
    /// [`MAX_UNIX_SECONDS`].
    ///
    /// Whether it may be stated, which is whether the checkpoint is consistent with all before, is the
    /// caller's to know. Anything but a checkpoint is refused.
    pub fn cosign(
        &self,
        checkpoint_text: &str,
        unix_seconds: u64,
    ) -> Result<NoteSignature, CosignatureError> {
        Checkpoint::parse(checkpoint_text)?;
        if unix_seconds > MAX_UNIX_SECONDS {
            return Err(SignatureFault::Timestamp { unix_seconds }.into());
        }
        let message = message(checkpoint_text, unix_seconds);
        let signature = self.signer.signing_key().sign(message.as_bytes());
        let mut blob = unix_seconds.to_be_bytes().to_vec();
        blob.extend_from_slice(signature.as_bytes());
        let key = &self.verifier_key;
        Ok(NoteSignature::from_parts(key.name().clone(), key.key_id(), blob))
    }

    fn from_note_signer(signer: NoteSigner) -> Self {
        let verifier_key = cosigner_from_note_key(signer.verifier_key());
        Self { signer, verifier_key }
    }
}

impl fmt::Debug for CosignerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CosignerKey").field(&self.verifier_key.to_string()).finish()
    }
}

impl FromStr for CosignerKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        text.parse().map(Self::from_note_signer)
    }
}

/// The witness key of type 0x04 that has the name and the public key of `key`, hence another key ID.
///
/// Some witnesses publish their key as type 0x01 and cosign with type 0x04. Taking one for the other is the
/// caller's decision, made by calling this; a key of another type comes back as it is.
#[must_use]
pub fn cosigner_from_note_key(key: &VerifierKey) -> VerifierKey {
    match key.public_key().ed25519() {
        Some(public_key) => {
            VerifierKey::new(key.name().clone(), SignatureAlgorithm::CosignatureV1, *public_key)
        }
        None => key.clone(),
    }
}

/// Verifies that `line` is a cosignature by `key` over the checkpoint with this text, and gives the time it
/// states, in seconds since 1970 and at most [`MAX_UNIX_SECONDS`].
///
/// For one line on its own, as a witness returns it. A whole note is verified by
/// [`crate::note::SignedNote::verify`], which looks at every line of the key.
pub fn verify(
    key: &VerifierKey,
    checkpoint_text: &str,
    line: &NoteSignature,
) -> Result<u64, CosignatureError> {
    Checkpoint::parse(checkpoint_text)?;
    if key.algorithm() == SignatureAlgorithm::Ed25519 {
        return Err(CosignatureError::KeyAlgorithm);
    }
    if line.name() != key.name() || line.key_id() != key.key_id() {
        return Err(CosignatureError::OtherKey);
    }
    Ok(check(key, checkpoint_text, line.bytes())?)
}

/// Checks the bytes that follow the key ID in a line of `key`.
pub(crate) fn check(key: &VerifierKey, text: &str, bytes: &[u8]) -> Result<u64, SignatureFault> {
    #[cfg(feature = "ml-dsa")]
    if key.algorithm() == SignatureAlgorithm::MlDsa44 {
        return ml_dsa::check(key, text, bytes);
    }
    let length = SignatureFault::Length { expected: BLOB_BYTES, actual: bytes.len() };
    let (time, signature) = bytes.split_first_chunk().ok_or(length)?;
    let signature = signature.try_into().map_err(|_| length)?;
    let unix_seconds = u64::from_be_bytes(*time);
    if unix_seconds > MAX_UNIX_SECONDS {
        return Err(SignatureFault::Timestamp { unix_seconds });
    }
    key.check_ed25519(message(text, unix_seconds).as_bytes(), signature)?;
    Ok(unix_seconds)
}

/// Why a cosignature is refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CosignatureError {
    /// What is cosigned is not a checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The key is not of a type that cosigns.
    #[error("a witness' key is of type 0x04 or 0x06")]
    KeyAlgorithm,
    /// A checkpoint with extension lines, which this type of cosignature doesn't cover.
    #[cfg(feature = "ml-dsa")]
    #[error("a cosignature of type 0x06 doesn't cover extension lines")]
    Extensions,
    /// The algorithm found no signature.
    #[cfg(feature = "ml-dsa")]
    #[error("the signature could not be made")]
    Signing,
    /// The line is by another key.
    #[error("the line is by another key")]
    OtherKey,
    /// The signature, or the time in it, is not valid.
    #[error("the cosignature is not valid: {0}")]
    Signature(#[from] SignatureFault),
}

impl CosignatureError {
    /// The stable code of this refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Checkpoint(error) => error.code(),
            Self::KeyAlgorithm => "COSIG.KEY_ALGORITHM",
            #[cfg(feature = "ml-dsa")]
            Self::Extensions => "COSIG.EXTENSIONS",
            #[cfg(feature = "ml-dsa")]
            Self::Signing => "COSIG.SIGNING",
            Self::OtherKey => "COSIG.OTHER_KEY",
            Self::Signature(SignatureFault::Timestamp { .. }) => "COSIG.TIMESTAMP",
            Self::Signature(SignatureFault::Length { .. }) => "COSIG.LENGTH",
            Self::Signature(SignatureFault::Mismatch) => "COSIG.BAD_SIGNATURE",
        }
    }
}

fn message(checkpoint_text: &str, unix_seconds: u64) -> String {
    format!("cosignature/v1\ntime {unix_seconds}\n{checkpoint_text}")
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::{Signature, VerifyingKey};
    use proptest::prelude::*;

    use super::*;
    use crate::checkpoint::SignedCheckpoint;
    use crate::note::{NoteError, SignedNote};

    const CHECKPOINT: &str = "log.example\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n";

    fn witness() -> CosignerKey {
        CosignerKey::from_seed(KeyName::new("witness.example").unwrap(), [7; 32])
    }

    #[test]
    fn the_message_is_the_specified_one() {
        let line = witness().cosign(CHECKPOINT, 1_679_315_147).unwrap();
        assert_eq!(line.bytes().len(), 72);
        assert_eq!(line.to_string().rsplit(' ').next().unwrap().len(), 104);
        // The timestamp bytes of the specification's example.
        assert_eq!(line.bytes()[..8], [0, 0, 0, 0, 0x64, 0x18, 0x50, 0xcb]);
        // Against the primitive itself, with the message spelled out.
        let message = "cosignature/v1\ntime 1679315147\n\
            log.example\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n";
        let key = VerifyingKey::try_from(witness().verifier_key().public_key().as_bytes()).unwrap();
        let signature = Signature::from_slice(&line.bytes()[8..]).unwrap();
        key.verify_strict(message.as_bytes(), &signature).unwrap();
    }

    #[test]
    fn what_is_cosigned_verifies_and_nothing_else_does() {
        let witness = witness();
        let key = witness.verifier_key();
        let line = witness.cosign(CHECKPOINT, 5).unwrap();
        assert_eq!(verify(key, CHECKPOINT, &line), Ok(5));

        let other = CHECKPOINT.replace("log", "lag");
        let mismatch = CosignatureError::Signature(SignatureFault::Mismatch);
        assert_eq!(verify(key, &other, &line), Err(mismatch.clone()));
        // Extension lines are covered.
        assert_eq!(verify(key, &format!("{CHECKPOINT}more\n"), &line), Err(mismatch.clone()));
        let rebuilt =
            |bytes: Vec<u8>| NoteSignature::new(key.name().clone(), key.key_id(), bytes).unwrap();
        let mut later = line.bytes().to_vec();
        later[7] = 6;
        assert_eq!(verify(key, CHECKPOINT, &rebuilt(later)), Err(mismatch));
        for bytes in [1, 8, 64, 71, 73] {
            let length = SignatureFault::Length { expected: 72, actual: bytes };
            assert_eq!(verify(key, CHECKPOINT, &rebuilt(vec![0; bytes])), Err(length.into()));
        }
        let signer = NoteSigner::from_seed(key.name().clone(), [7; 32]);
        let plain = signer.verifier_key();
        assert_eq!(verify(plain, CHECKPOINT, &line), Err(CosignatureError::KeyAlgorithm));
        assert_eq!(
            verify(key, CHECKPOINT, &signer.sign(CHECKPOINT)),
            Err(CosignatureError::OtherKey)
        );
        let not_one = CosignatureError::Checkpoint(CheckpointError::Lines);
        assert_eq!(witness.cosign("text\n", 5), Err(not_one.clone()));
        assert_eq!(verify(key, "text\n", &line), Err(not_one));
    }

    #[test]
    fn time_ends_at_two_to_the_sixty_three() {
        let witness = witness();
        let key = witness.verifier_key();
        for time in [0, 1, MAX_UNIX_SECONDS] {
            let line = witness.cosign(CHECKPOINT, time).unwrap();
            assert_eq!(verify(key, CHECKPOINT, &line), Ok(time));
        }
        for unix_seconds in [1 << 63, u64::MAX] {
            let refused = CosignatureError::Signature(SignatureFault::Timestamp { unix_seconds });
            assert_eq!(witness.cosign(CHECKPOINT, unix_seconds), Err(refused.clone()));
            // A witness that signs such a time nevertheless: right in all but the time.
            let signature =
                witness.signer.signing_key().sign(message(CHECKPOINT, unix_seconds).as_bytes());
            let blob = [&unix_seconds.to_be_bytes()[..], signature.as_bytes()].concat();
            let line = NoteSignature::new(key.name().clone(), key.key_id(), blob).unwrap();
            assert_eq!(verify(key, CHECKPOINT, &line), Err(refused));
        }
    }

    #[test]
    fn a_note_key_becomes_a_cosigner_only_when_asked() {
        let witness = witness();
        let skey = witness.to_skey();
        let again: CosignerKey = skey.parse().unwrap();
        assert_eq!(again.verifier_key(), witness.verifier_key());

        let note_key = skey.parse::<NoteSigner>().unwrap().verifier_key().clone();
        assert_eq!(note_key.algorithm(), SignatureAlgorithm::Ed25519);
        let note =
            SignedNote::new(CHECKPOINT.to_owned(), vec![witness.cosign(CHECKPOINT, 5).unwrap()])
                .unwrap();
        assert!(matches!(
            note.verify(std::slice::from_ref(&note_key)),
            Err(NoteError::UnknownKeys { .. })
        ));
        let key = cosigner_from_note_key(&note_key);
        assert_ne!(key.key_id(), note_key.key_id());
        assert_eq!(cosigner_from_note_key(&key), key);
        let verified = note.verify(&[key]).unwrap();
        assert_eq!(verified.signatures()[0].unix_seconds(), Some(5));
        // And no seed in debug output.
        assert!(!format!("{witness:?}").contains("BwcHBwc"));
    }

    #[test]
    fn a_cosigned_checkpoint_keeps_the_bytes_that_are_time_stamped() {
        let log = NoteSigner::from_seed(KeyName::new("log.example").unwrap(), [1; 32]);
        let signed = SignedCheckpoint::sign(&Checkpoint::parse(CHECKPOINT).unwrap(), &log).unwrap();
        let stamped = signed.log_note_bytes(log.verifier_key()).unwrap();
        assert_eq!(stamped, signed.to_bytes());
        let cosigned = signed.with_signature(witness().cosign(CHECKPOINT, 5).unwrap()).unwrap();
        assert_ne!(cosigned.to_bytes(), stamped);
        assert_eq!(cosigned.log_note_bytes(log.verifier_key()).unwrap(), stamped);
    }

    proptest! {
        #[test]
        fn cosignatures_round_trip(time in 0..=MAX_UNIX_SECONDS, seed in any::<[u8; 32]>()) {
            let witness = CosignerKey::from_seed(KeyName::new("w").unwrap(), seed);
            let line = witness.cosign(CHECKPOINT, time).unwrap();
            let read: NoteSignature = line.to_string().parse().unwrap();
            prop_assert_eq!(verify(witness.verifier_key(), CHECKPOINT, &read), Ok(time));
        }

        #[test]
        fn any_bytes_are_no_cosignature(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            prop_assert!(check(witness().verifier_key(), CHECKPOINT, &bytes).is_err());
        }
    }
}
