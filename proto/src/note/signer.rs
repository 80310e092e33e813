//! The private half of a note key.

use core::fmt;
use core::str::FromStr;

use zeroize::Zeroizing;

use super::error::KeyError;
use super::key::{
    KeyId, KeyName, MAX_KEY_TEXT_BYTES, SignatureAlgorithm, VerifierKey, split_typed_key,
};
use super::signature::NoteSignature;
use crate::encoding;
use crate::signed_object::SigningKey;

/// How the text form of a signing key begins.
const PREFIX: &str = "PRIVATE+KEY+";

/// An Ed25519 key (type 0x01) that signs notes: a log's key.
///
/// Text form is the one of Go's `note` package, which other implementations read too:
/// `PRIVATE+KEY+name+keyid+base64(0x01 ‖ seed)`. The seed is wiped from memory on drop, and
/// [`fmt::Debug`] shows the public half alone.
pub struct NoteSigner {
    signing_key: SigningKey,
    verifier_key: VerifierKey,
}

impl NoteSigner {
    /// The key that RFC 8032 derives from `seed`.
    #[must_use]
    pub fn from_seed(name: KeyName, seed: [u8; 32]) -> Self {
        // Both copies of the seed are wiped: this one, and the key's own on its drop.
        let signing_key = SigningKey::from_seed(&Zeroizing::new(seed));
        let verifier_key =
            VerifierKey::new(name, SignatureAlgorithm::Ed25519, signing_key.public_key());
        Self { signing_key, verifier_key }
    }

    /// The text form, to be kept where private keys are kept.
    #[must_use]
    pub fn to_skey(&self) -> Zeroizing<String> {
        let key = self.verifier_key();
        let mut typed_seed = Zeroizing::new([0; 33]);
        let (type_byte, seed) = typed_seed.split_at_mut(1);
        type_byte.fill(SignatureAlgorithm::Ed25519.type_byte());
        seed.copy_from_slice(self.signing_key.to_seed().as_slice());
        // Room for everything at once: a string that grows leaves its old bytes behind.
        let mut text = Zeroizing::new(String::with_capacity(MAX_KEY_TEXT_BYTES));
        text.push_str(PREFIX);
        text.push_str(key.name().as_str());
        text.push('+');
        text.push_str(&key.key_id().to_string());
        text.push('+');
        encoding::base64_encode_into(typed_seed.as_slice(), &mut text);
        text
    }

    /// The public half.
    #[must_use]
    pub const fn verifier_key(&self) -> &VerifierKey {
        &self.verifier_key
    }

    /// Signs the text of a note, its final newline included.
    ///
    /// Whether `text` can be the text of a note is checked where the note is made
    /// ([`super::SignedNote::new`]).
    #[must_use]
    pub fn sign(&self, text: &str) -> NoteSignature {
        let signature = self.signing_key.sign(text.as_bytes());
        let key = self.verifier_key();
        NoteSignature::from_parts(key.name().clone(), key.key_id(), signature.as_bytes().to_vec())
    }

    /// The private key itself, for [`crate::cosignature`].
    pub(crate) const fn signing_key(&self) -> &SigningKey {
        &self.signing_key
    }
}

impl fmt::Debug for NoteSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NoteSigner").field(&self.verifier_key.to_string()).finish()
    }
}

impl FromStr for NoteSigner {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let SigningKeyText { name, declared, algorithm, seed } = split_skey(text)?;
        if algorithm != SignatureAlgorithm::Ed25519 {
            return Err(KeyError::Algorithm { type_byte: algorithm.type_byte() });
        }
        let signer = Self::from_seed(name, *seed);
        let actual = signer.verifier_key.key_id();
        if actual != declared {
            return Err(KeyError::KeyIdMismatch { declared, actual });
        }
        Ok(signer)
    }
}

/// What the text form of a signing key says.
pub(crate) struct SigningKeyText {
    pub(crate) name: KeyName,
    /// The ID it says it has.
    pub(crate) declared: KeyId,
    pub(crate) algorithm: SignatureAlgorithm,
    pub(crate) seed: Zeroizing<[u8; 32]>,
}

/// Takes apart the text form of a signing key of any type.
pub(crate) fn split_skey(text: &str) -> Result<SigningKeyText, KeyError> {
    if text.len() > MAX_KEY_TEXT_BYTES {
        return Err(KeyError::Syntax);
    }
    let rest = text.strip_prefix(PREFIX).ok_or(KeyError::Syntax)?;
    let mut parts = rest.splitn(3, '+');
    let (Some(name), Some(key_id), Some(seed)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(KeyError::Syntax);
    };
    let name = KeyName::new(name)?;
    let declared: KeyId = key_id.parse()?;
    let seed = Zeroizing::new(encoding::base64_decode(seed).map_err(|_| KeyError::Base64)?);
    let (algorithm, seed) = split_typed_key(&seed)?;
    Ok(SigningKeyText { name, declared, algorithm, seed: Zeroizing::new(*seed) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SKEY: &str =
        "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz";
    const VKEY: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";

    #[test]
    fn the_text_form_round_trips() {
        let signer: NoteSigner = SKEY.parse().unwrap();
        assert_eq!(signer.to_skey().as_str(), SKEY);
        assert_eq!(signer.verifier_key().to_string(), VKEY);

        let name = KeyName::new(&"n".repeat(255)).unwrap();
        let signer = NoteSigner::from_seed(name, [0xff; 32]);
        let again: NoteSigner = signer.to_skey().parse().unwrap();
        assert_eq!(again.verifier_key(), signer.verifier_key());
    }

    #[test]
    fn other_text_forms_are_refused() {
        let retyped =
            "PRIVATE+KEY+PeterNeumann+c74f20a3+BIEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz";
        let other_name = SKEY.replace("Peter", "Petra");
        let renamed = NoteSigner::from_seed(
            KeyName::new("PetraNeumann").unwrap(),
            *SKEY.parse::<NoteSigner>().unwrap().signing_key.to_seed(),
        );
        let mismatch = KeyError::KeyIdMismatch {
            declared: "c74f20a3".parse().unwrap(),
            actual: renamed.verifier_key().key_id(),
        };
        for (text, error) in [
            (VKEY, KeyError::Syntax),
            ("PRIVATE+KEY+PeterNeumann+c74f20a3", KeyError::Syntax),
            (&SKEY.to_lowercase(), KeyError::Syntax),
            (&SKEY.replace("c74f20a3", "C74F20A3"), KeyError::KeyIdForm),
            (&format!("{SKEY}="), KeyError::Base64),
            (retyped, KeyError::Algorithm { type_byte: 4 }),
            (&SKEY[..SKEY.len() - 4], KeyError::Length { bytes: 30 }),
            (&other_name, mismatch),
        ] {
            assert_eq!(text.parse::<NoteSigner>().unwrap_err(), error, "{text}");
        }
    }

    #[test]
    fn debug_output_has_no_seed() {
        let signer: NoteSigner = SKEY.parse().unwrap();
        let shown = format!("{signer:?}");
        assert!(shown.contains(VKEY) && !shown.contains("YEKFALV"), "{shown}");
    }
}
