//! Why a note, a line of it or a key is refused.

use super::key::{KeyId, KeyName};
use super::{MAX_NOTE_BYTES, MAX_SIGNATURES};

/// Why a signed note is refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NoteError {
    /// The note is longer than [`MAX_NOTE_BYTES`].
    #[error("a note of {bytes} bytes is over the limit of {MAX_NOTE_BYTES}")]
    TooLarge {
        /// Length of the note.
        bytes: usize,
    },
    /// The note is not UTF-8.
    #[error("the note is not UTF-8")]
    NotUtf8,
    /// A control character below U+0020 other than the newline, a carriage return for example.
    #[error("control character 0x{byte:02x} at offset {offset}")]
    ControlCharacter {
        /// Where it stands, in bytes from the start.
        offset: usize,
        /// Which one it is.
        byte: u8,
    },
    /// The last byte is not a newline.
    #[error("the note does not end with a newline")]
    NoFinalNewline,
    /// No blank line separates a text from signatures.
    #[error("no blank line between text and signatures")]
    NoBlankLine,
    /// Nothing follows the blank line.
    #[error("the note has no signature lines")]
    NoSignatures,
    /// More signature lines than [`MAX_SIGNATURES`].
    #[error("more than {MAX_SIGNATURES} signature lines")]
    TooManySignatures,
    /// A signature line is malformed.
    #[error("signature line {line}: {reason}")]
    SignatureLine {
        /// Which one, counted from 1 after the blank line.
        line: usize,
        /// What is wrong with it.
        reason: SignatureLineError,
    },
    /// The caller trusts two different keys of one name and key ID: a line can't say whose it is.
    #[error("two different keys are known as {name}+{key_id}")]
    AmbiguousKeys {
        /// Their name.
        name: KeyName,
        /// Their key ID.
        key_id: KeyId,
    },
    /// A line of a known key does not verify; the whole note is refused.
    #[error("the signature by {name}+{key_id} is not valid: {fault}")]
    BadSignature {
        /// Name of the known key.
        name: KeyName,
        /// Its key ID.
        key_id: KeyId,
        /// Whether the note carries more than one line of this key.
        repeated: bool,
        /// What is wrong with the signature.
        fault: SignatureFault,
    },
    /// No line is by a known key.
    #[error("no signature is by a known key{}", near.map_or("", NearMiss::hint))]
    UnknownKeys {
        /// A line that has half of a known key's identity, which is what a rotated key looks like.
        near: Option<NearMiss>,
    },
    /// A key is refused.
    #[error(transparent)]
    Key(#[from] KeyError),
}

impl NoteError {
    /// The stable code of this refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "NOTE.TOO_LARGE",
            Self::NotUtf8 => "NOTE.UTF8",
            Self::ControlCharacter { .. } => "NOTE.CONTROL",
            Self::NoFinalNewline => "NOTE.FINAL_NEWLINE",
            Self::NoBlankLine => "NOTE.SYNTAX",
            Self::NoSignatures => "NOTE.NO_SIGNATURES",
            Self::TooManySignatures => "NOTE.SIGNATURE_LINES",
            Self::SignatureLine { reason, .. } => reason.code(),
            Self::AmbiguousKeys { .. } => "NOTE.AMBIGUOUS_KEYS",
            Self::BadSignature { repeated: false, .. } => "NOTE.BAD_SIGNATURE",
            Self::BadSignature { repeated: true, .. } => "NOTE.BAD_REPEATED_SIGNATURE",
            Self::UnknownKeys { .. } => "NOTE.UNKNOWN_KEYS",
            Self::Key(error) => error.code(),
        }
    }
}

/// Why one signature line is malformed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureLineError {
    /// Not an em dash, a space, a key name, a space and base64.
    #[error("not of the form \"\u{2014} name base64\"")]
    Syntax,
    /// The key name is not one.
    #[error(transparent)]
    Name(KeyError),
    /// The signature is not canonical base64.
    #[error("not canonical standard base64 with padding")]
    Base64,
    /// Fewer than five bytes: a key ID and nothing signed by it.
    #[error("{bytes} bytes can't hold a key ID and a signature")]
    TooShort {
        /// Bytes the base64 decodes to.
        bytes: usize,
    },
}

impl SignatureLineError {
    /// The stable code of this refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Syntax => "NOTE.SIGNATURE_LINE",
            Self::Name(error) => error.code(),
            Self::Base64 => "NOTE.SIGNATURE_BASE64",
            Self::TooShort { .. } => "NOTE.SIGNATURE_SHORT",
        }
    }
}

/// Why a signature by a known key does not count.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureFault {
    /// Not as long as signatures of the key's algorithm are.
    #[error("{actual} bytes where the algorithm has {expected}")]
    Length {
        /// Bytes the algorithm's signatures have, the key ID not counted.
        expected: usize,
        /// Bytes of this one.
        actual: usize,
    },
    /// The timestamp of a cosignature is over 2^63-1.
    #[error("timestamp {unix_seconds} is over 2^63-1")]
    Timestamp {
        /// The timestamp, in seconds since 1970.
        unix_seconds: u64,
    },
    /// Ed25519 verification failed: another text, another key, or not a canonical signature.
    #[error("it does not verify over this text")]
    Mismatch,
}

/// What an unknown line has in common with a known key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NearMiss {
    /// A line by the name of a known key, with another key ID.
    SameName,
    /// A line with the key ID of a known key, by another name.
    SameKeyId,
}

impl NearMiss {
    const fn hint(self) -> &'static str {
        match self {
            Self::SameName => " (a line has a known name, with another key ID)",
            Self::SameKeyId => " (a line has a known key ID, with another name)",
        }
    }
}

/// Why a key, or the name of one, is refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// Not `name+keyid+base64`, or for a signing key not `PRIVATE+KEY+name+keyid+base64`.
    #[error("not the text form of a key")]
    Syntax,
    /// The name is empty, too long, or holds white space, a control character or a `+`.
    #[error("not a key name")]
    Name,
    /// The key ID is not eight lower-case hexadecimal digits.
    #[error("the key ID is not eight lower-case hexadecimal digits")]
    KeyIdForm,
    /// The key ID is not the one that name and key have.
    #[error("key ID {declared} where name and key have {actual}")]
    KeyIdMismatch {
        /// The one written.
        declared: KeyId,
        /// The recomputed one.
        actual: KeyId,
    },
    /// The key is not canonical base64.
    #[error("the key is not canonical standard base64 with padding")]
    Base64,
    /// The signature type is none this crate verifies or, for a signing key, signs with.
    #[error("signature type 0x{type_byte:02x} is not supported")]
    Algorithm {
        /// The type byte of C2SP signed-note.
        type_byte: u8,
    },
    /// Not as many bytes as a key has.
    #[error("{bytes} bytes are not a type and a key of that type (33 for Ed25519)")]
    Length {
        /// Bytes given, with the type byte.
        bytes: usize,
    },
    /// The bytes are not a point of the curve, or not its canonical encoding.
    #[error("not the canonical encoding of an Ed25519 public key")]
    NonCanonical,
    /// The key is of small order: signatures that verify under it can be made by anybody.
    #[error("the Ed25519 public key is of small order")]
    Weak,
}

impl KeyError {
    /// The stable code of this refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Syntax => "NOTE.KEY_SYNTAX",
            Self::Name => "NOTE.KEY_NAME",
            Self::KeyIdForm => "NOTE.KEY_ID_FORM",
            Self::KeyIdMismatch { .. } => "NOTE.KEY_ID_MISMATCH",
            Self::Base64 => "NOTE.KEY_BASE64",
            Self::Algorithm { .. } => "NOTE.KEY_ALGORITHM",
            Self::Length { .. } => "NOTE.KEY_LENGTH",
            Self::NonCanonical => "NOTE.KEY_NON_CANONICAL",
            Self::Weak => "NOTE.KEY_WEAK",
        }
    }
}
