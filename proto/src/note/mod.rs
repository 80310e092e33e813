//! C2SP signed notes: a text with signature lines beneath it.
//!
//! What it is: the strict codec of [c2sp.org/signed-note], its keys, and the one function that decides
//! whether a note is signed by somebody the caller knows. Every accepted note is written back byte for
//! byte. What it is not: the text is opaque here ([`crate::checkpoint`] reads it), and which keys to know
//! is the caller's business ([`crate::tlog_policy`]).
//!
//! ```text
//! <text, ends with a newline>
//!                                         the last blank line ends the text
//! — <key name> base64(key ID ‖ signature)  1 to 100 of them
//! ```
//!
//! Rules where the specification leaves room:
//! - A line of a known key that fails refuses the whole note, whatever other lines say.
//! - Several lines of one known key must *all* verify, and count as one signer. (Go's `note` package looks
//!   at the first alone, and then what follows it is signed by nobody.)
//! - Lines of unknown keys, of algorithms unknown here included, are kept and otherwise ignored.
//!
//! [c2sp.org/signed-note]: https://c2sp.org/signed-note

mod error;
mod key;
mod signature;
mod signer;

pub use error::{KeyError, NearMiss, NoteError, SignatureFault, SignatureLineError};
pub(crate) use key::ED25519_BYTES;
pub use key::{KeyId, KeyName, MAX_KEY_NAME_BYTES, NotePublicKey, SignatureAlgorithm, VerifierKey};
pub use signature::NoteSignature;
pub use signer::NoteSigner;
#[cfg(feature = "ml-dsa")]
pub(crate) use signer::{SigningKeyText, split_skey};

/// The longest note, in bytes.
pub const MAX_NOTE_BYTES: usize = 1 << 20;

/// The largest number of signature lines of a note. C2SP demands at least 16.
pub const MAX_SIGNATURES: usize = 100;

/// A well-formed note. Nothing is verified: [`SignedNote::verify`] does that.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct SignedNote {
    text: String,
    signatures: Vec<NoteSignature>,
}

impl SignedNote {
    /// Reads a note.
    pub fn parse(bytes: &[u8]) -> Result<Self, NoteError> {
        if bytes.len() > MAX_NOTE_BYTES {
            return Err(NoteError::TooLarge { bytes: bytes.len() });
        }
        let note = str::from_utf8(bytes).map_err(|_| NoteError::NotUtf8)?;
        refuse_control_characters(note)?;
        let body = note.strip_suffix('\n').ok_or(NoteError::NoFinalNewline)?;
        if body.ends_with('\n') {
            return Err(NoteError::NoSignatures);
        }
        // The LAST blank line: a text may hold blank lines, signatures may not.
        let (text, lines) = body.rsplit_once("\n\n").ok_or(NoteError::NoBlankLine)?;
        let mut signatures = Vec::new();
        for (line, number) in lines.split('\n').zip(1..) {
            if number > MAX_SIGNATURES {
                return Err(NoteError::TooManySignatures);
            }
            let signature =
                line.parse().map_err(|reason| NoteError::SignatureLine { line: number, reason })?;
            signatures.push(signature);
        }
        Ok(Self { text: format!("{text}\n"), signatures })
    }

    /// Makes a note of a text, which ends with a newline, and its signatures, one at least.
    pub fn new(text: String, signatures: Vec<NoteSignature>) -> Result<Self, NoteError> {
        refuse_control_characters(&text)?;
        if !text.ends_with('\n') {
            return Err(NoteError::NoFinalNewline);
        }
        if signatures.is_empty() {
            return Err(NoteError::NoSignatures);
        }
        Self { text, signatures }.within_limits()
    }

    /// The note's bytes: exactly those it was parsed from.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_text().into_bytes()
    }

    /// The note as text, for formats that carry it in one.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = format!("{}\n", self.text);
        for signature in &self.signatures {
            signature.write_line(&mut out);
        }
        out
    }

    /// What is signed: the text with its final newline, without the blank line.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// All signature lines in their order, verified by nobody.
    #[must_use]
    pub fn signatures(&self) -> &[NoteSignature] {
        &self.signatures
    }

    /// This note with one more signature line, at the end.
    ///
    /// A line of the same name and key ID gives way to it, so that a refreshed cosignature does not pile
    /// up beside the old one.
    pub fn with_signature(mut self, signature: NoteSignature) -> Result<Self, NoteError> {
        self.signatures.retain(|line| !same_identity(line, &signature));
        self.signatures.push(signature);
        self.within_limits()
    }

    /// Verifies every line that is by one of `keys`.
    ///
    /// Succeeds if there is such a line and none of them fails. A key counts as known only if name *and*
    /// key ID of the line are its own.
    pub fn verify(&self, keys: &[VerifierKey]) -> Result<VerifiedNote, NoteError> {
        let mut verified = Vec::new();
        for signature in &self.signatures {
            let Some(key) = known_key(keys, signature)? else { continue };
            let unix_seconds = key.check(&self.text, signature.bytes()).map_err(|fault| {
                let lines = self.signatures.iter().filter(|line| same_identity(line, signature));
                NoteError::BadSignature {
                    name: key.name().clone(),
                    key_id: key.key_id(),
                    repeated: lines.count() > 1,
                    fault,
                }
            })?;
            verified.push(VerifiedSignature {
                key: key.clone(),
                signature: signature.clone(),
                unix_seconds,
            });
        }
        if verified.is_empty() {
            return Err(NoteError::UnknownKeys { near: self.near_miss(keys) });
        }
        Ok(VerifiedNote { note: self.clone(), signatures: verified })
    }

    fn within_limits(self) -> Result<Self, NoteError> {
        if self.signatures.len() > MAX_SIGNATURES {
            return Err(NoteError::TooManySignatures);
        }
        let bytes = self.to_text().len();
        if bytes > MAX_NOTE_BYTES {
            return Err(NoteError::TooLarge { bytes });
        }
        Ok(self)
    }

    fn near_miss(&self, keys: &[VerifierKey]) -> Option<NearMiss> {
        let any = |near: fn(&NoteSignature, &VerifierKey) -> bool| {
            self.signatures.iter().any(|line| keys.iter().any(|key| near(line, key)))
        };
        if any(|line, key| line.name() == key.name()) {
            Some(NearMiss::SameName)
        } else if any(|line, key| line.key_id() == key.key_id()) {
            Some(NearMiss::SameKeyId)
        } else {
            None
        }
    }
}

/// A note that at least one known key signed, and of which no known key's line failed.
///
/// Comes into being in [`SignedNote::verify`] and nowhere else.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct VerifiedNote {
    note: SignedNote,
    signatures: Vec<VerifiedSignature>,
}

impl VerifiedNote {
    /// The signed text.
    #[must_use]
    pub fn text(&self) -> &str {
        self.note.text()
    }

    /// The whole note, with the lines that nobody verified.
    #[must_use]
    pub const fn note(&self) -> &SignedNote {
        &self.note
    }

    /// The verified lines in their order; never empty. A key may have several.
    #[must_use]
    pub fn signatures(&self) -> &[VerifiedSignature] {
        &self.signatures
    }

    /// Whether `key` is among the signers.
    #[must_use]
    pub fn is_signed_by(&self, key: &VerifierKey) -> bool {
        self.signatures.iter().any(|signature| signature.key() == key)
    }
}

/// A line that verified under a known key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct VerifiedSignature {
    key: VerifierKey,
    signature: NoteSignature,
    unix_seconds: Option<u64>,
}

impl VerifiedSignature {
    /// The key that signed.
    #[must_use]
    pub const fn key(&self) -> &VerifierKey {
        &self.key
    }

    /// The line.
    #[must_use]
    pub const fn signature(&self) -> &NoteSignature {
        &self.signature
    }

    /// The time a cosignature states, in seconds since 1970 and at most 2^63-1; none for other types.
    #[must_use]
    pub const fn unix_seconds(&self) -> Option<u64> {
        self.unix_seconds
    }
}

fn refuse_control_characters(text: &str) -> Result<(), NoteError> {
    match text.bytes().enumerate().find(|&(_, byte)| byte < 0x20 && byte != b'\n') {
        Some((offset, byte)) => Err(NoteError::ControlCharacter { offset, byte }),
        None => Ok(()),
    }
}

fn same_identity(a: &NoteSignature, b: &NoteSignature) -> bool {
    a.name() == b.name() && a.key_id() == b.key_id()
}

/// The one known key that a line says it is by. The same key given twice is still one.
fn known_key<'k>(
    keys: &'k [VerifierKey],
    line: &NoteSignature,
) -> Result<Option<&'k VerifierKey>, NoteError> {
    let mut matching =
        keys.iter().filter(|key| key.name() == line.name() && key.key_id() == line.key_id());
    let first = matching.next();
    match matching.find(|&key| Some(key) != first) {
        Some(key) => {
            Err(NoteError::AmbiguousKeys { name: key.name().clone(), key_id: key.key_id() })
        }
        None => Ok(first),
    }
}

#[cfg(test)]
mod tests;
