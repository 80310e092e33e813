//! C2SP checkpoints: what a log signs about the tree it has.
//!
//! What it is: the strict codec of [c2sp.org/tlog-checkpoint] and two markers, for a checkpoint that is
//! merely well-formed ([`SignedCheckpoint`]) and one whose log's signature was verified
//! ([`VerifiedCheckpoint`]). What it is not: a log's signature alone doesn't say that the rest of the world
//! sees the same tree; witnesses do ([`crate::tlog_policy`]).
//!
//! ```text
//! <origin>
//! <tree size, decimal>
//! <base64 of the root hash>
//! [extension lines, not recommended]
//! ```
//!
//! There is one spelling of each checkpoint: a size has no sign, leading zero or white space and is at most
//! 2^63-1, a root is canonical base64 of exactly 32 bytes, and a tree of size 0 has the empty root.
//!
//! [c2sp.org/tlog-checkpoint]: https://c2sp.org/tlog-checkpoint

mod error;

use core::fmt;
use core::str::FromStr;

pub use error::CheckpointError;

use crate::digest::Digest;
use crate::encoding;
use crate::merkle::{MAX_TREE_SIZE, TreeSize, empty_root};
use crate::note::{
    KeyName, NoteError, NoteSignature, NoteSigner, SignatureAlgorithm, SignedNote, VerifiedNote,
    VerifierKey,
};

/// The longest origin, in bytes: what the one-byte length fields of the newer C2SP signatures hold.
pub const MAX_ORIGIN_BYTES: usize = 255;

/// The largest number of extension lines of a checkpoint.
pub const MAX_EXTENSION_LINES: usize = 64;

/// The name a log signs its checkpoints under: by recommendation a URL without its scheme, but never to be
/// taken for one.
///
/// Not empty, at most [`MAX_ORIGIN_BYTES`], without control characters below U+0020.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Origin(String);

impl Origin {
    /// Takes `origin` if it is one, and is [`CheckpointError::Origin`] if it is not.
    pub fn new(origin: &str) -> Result<Self, CheckpointError> {
        if origin.is_empty() || origin.len() > MAX_ORIGIN_BYTES || has_control_character(origin) {
            return Err(CheckpointError::Origin);
        }
        Ok(Self(origin.to_owned()))
    }

    /// The origin as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Origin {
    type Err = CheckpointError;

    fn from_str(origin: &str) -> Result<Self, CheckpointError> {
        Self::new(origin)
    }
}

impl From<&KeyName> for Origin {
    /// A log whose key is called `name` has this origin; what is a key name is always an origin.
    fn from(name: &KeyName) -> Self {
        Self(name.as_str().to_owned())
    }
}

/// One opaque line that a log adds beneath the root. Logs of ours add none: witnesses refuse them.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct ExtensionLine(String);

impl ExtensionLine {
    /// Takes `line`, which is not empty, holds no control character and comes without its newline.
    pub fn new(line: &str) -> Result<Self, CheckpointError> {
        if line.is_empty() || has_control_character(line) {
            return Err(CheckpointError::ExtensionForm);
        }
        Ok(Self(line.to_owned()))
    }

    /// The line without its newline.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The state of a log: its tree's size and root.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Checkpoint {
    /// Which log.
    pub origin: Origin,
    /// How many entries its tree has.
    pub size: TreeSize,
    /// The root over exactly those entries.
    pub root: Digest,
    /// Further lines, at most [`MAX_EXTENSION_LINES`]; none in checkpoints of ours.
    pub extensions: Vec<ExtensionLine>,
}

impl Checkpoint {
    /// A checkpoint without extension lines.
    #[must_use]
    pub const fn new(origin: Origin, size: TreeSize, root: Digest) -> Self {
        Self { origin, size, root, extensions: Vec::new() }
    }

    /// Reads the text of a checkpoint, which ends with a newline and is what its note signs.
    pub fn parse(text: &str) -> Result<Self, CheckpointError> {
        let body = text.strip_suffix('\n').ok_or(CheckpointError::NoFinalNewline)?;
        let mut lines = body.split('\n');
        let (Some(origin), Some(size), Some(root)) = (lines.next(), lines.next(), lines.next())
        else {
            return Err(CheckpointError::Lines);
        };
        let origin = Origin::new(origin)?;
        let size = parse_size(size)?;
        let root = parse_root(root)?;
        if body.ends_with('\n') {
            return Err(CheckpointError::TrailingBlankLine);
        }
        let mut extensions = Vec::new();
        for (line, number) in lines.zip(4..) {
            if extensions.len() == MAX_EXTENSION_LINES {
                return Err(CheckpointError::TooManyExtensions);
            }
            if line.is_empty() {
                return Err(CheckpointError::BlankLine { line: number });
            }
            extensions.push(ExtensionLine::new(line)?);
        }
        let checkpoint = Self { origin, size, root, extensions };
        checkpoint.check_empty_root()?;
        Ok(checkpoint)
    }

    /// The text, final newline included: exactly what it was parsed from.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!("{}\n{}\n{}\n", self.origin, self.size, self.root.to_base64());
        for line in &self.extensions {
            text.push_str(line.as_str());
            text.push('\n');
        }
        text
    }

    fn check_empty_root(&self) -> Result<(), CheckpointError> {
        if self.size == TreeSize::ZERO && self.root != empty_root() {
            return Err(CheckpointError::EmptyRoot { root: self.root });
        }
        Ok(())
    }
}

/// A note whose text is a checkpoint. Nothing is verified.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SignedCheckpoint {
    note: SignedNote,
    checkpoint: Checkpoint,
}

impl SignedCheckpoint {
    /// Reads a signed checkpoint.
    pub fn parse(bytes: &[u8]) -> Result<Self, CheckpointError> {
        Self::from_note(SignedNote::parse(bytes)?)
    }

    /// Takes a note whose text is a checkpoint.
    pub fn from_note(note: SignedNote) -> Result<Self, CheckpointError> {
        let checkpoint = Checkpoint::parse(note.text())?;
        Ok(Self { note, checkpoint })
    }

    /// Signs a checkpoint with the log's key, whose name is the checkpoint's origin.
    pub fn sign(checkpoint: &Checkpoint, signer: &NoteSigner) -> Result<Self, CheckpointError> {
        check_origin(&checkpoint.origin, signer.verifier_key())?;
        let text = checkpoint.to_text();
        // What we sign is what everybody reads: the invariants are checked where readers check them.
        let checkpoint = Checkpoint::parse(&text)?;
        let signature = signer.sign(&text);
        Ok(Self { note: SignedNote::new(text, vec![signature])?, checkpoint })
    }

    /// The note's bytes: exactly those it was parsed from.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.note.to_bytes()
    }

    /// What the note says, which nobody has verified.
    #[must_use]
    pub const fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// The note.
    #[must_use]
    pub const fn note(&self) -> &SignedNote {
        &self.note
    }

    /// This checkpoint with one more signature line, a cosignature for example; an older line of the same
    /// key gives way ([`SignedNote::with_signature`]).
    pub fn with_signature(self, signature: NoteSignature) -> Result<Self, CheckpointError> {
        Ok(Self { note: self.note.with_signature(signature)?, checkpoint: self.checkpoint })
    }

    /// Verifies the signature of the log whose key is `log_key`.
    ///
    /// The key is of type 0x01 and its name is the origin: else a key would speak for any log.
    pub fn verify(&self, log_key: &VerifierKey) -> Result<VerifiedCheckpoint, CheckpointError> {
        check_origin(&self.checkpoint.origin, log_key)?;
        self.verify_with_origin(log_key, &self.checkpoint.origin)
    }

    /// Verifies the signatures of a log that has, or had, several keys: as while it changes one for another.
    ///
    /// Keys of other names are passed over. There is a line by one of the others, and every line by one of
    /// them holds; the first of `log_keys` that signed is the one that the result names.
    pub fn verify_any(
        &self,
        log_keys: &[VerifierKey],
    ) -> Result<VerifiedCheckpoint, CheckpointError> {
        let named: Vec<_> = log_keys
            .iter()
            .filter(|key| key.name().as_str() == self.checkpoint.origin.as_str())
            .cloned()
            .collect();
        if let (true, Some(key)) = (named.is_empty(), log_keys.first()) {
            check_origin(&self.checkpoint.origin, key)?;
        }
        if named.iter().any(|key| key.algorithm() != SignatureAlgorithm::Ed25519) {
            return Err(CheckpointError::KeyAlgorithm);
        }
        let note = self.note.verify(&named)?;
        let log_key = named.into_iter().find(|key| note.is_signed_by(key));
        // Verification saw a line of one of them.
        let log_key = log_key.ok_or(NoteError::UnknownKeys { near: None })?;
        Ok(VerifiedCheckpoint { signed: self.clone(), log_key })
    }

    /// As [`verify`](Self::verify), for a log whose key is called otherwise than its origin, which the
    /// caller names.
    pub fn verify_with_origin(
        &self,
        log_key: &VerifierKey,
        origin: &Origin,
    ) -> Result<VerifiedCheckpoint, CheckpointError> {
        if self.checkpoint.origin != *origin {
            return Err(CheckpointError::OriginMismatch { expected: origin.clone() });
        }
        if log_key.algorithm() != SignatureAlgorithm::Ed25519 {
            return Err(CheckpointError::KeyAlgorithm);
        }
        self.note.verify(core::slice::from_ref(log_key))?;
        Ok(VerifiedCheckpoint { signed: self.clone(), log_key: log_key.clone() })
    }

    /// The bytes that a time stamp over this checkpoint covers: the note made of the text, the blank line
    /// and only the line by `log_key`, which is verified for it. Cosignatures added later don't change it.
    pub fn log_note_bytes(&self, log_key: &VerifierKey) -> Result<Vec<u8>, CheckpointError> {
        self.verify(log_key)?.log_note_bytes()
    }
}

/// A checkpoint that its log has signed. Comes into being by verification and in no other way.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct VerifiedCheckpoint {
    signed: SignedCheckpoint,
    log_key: VerifierKey,
}

impl VerifiedCheckpoint {
    /// The marker for a checkpoint whose note was verified, if `log_key` is among its signers.
    pub(crate) fn of_verified_note(
        signed: &SignedCheckpoint,
        note: &VerifiedNote,
        log_key: &VerifierKey,
    ) -> Option<Self> {
        let holds = note.note() == signed.note() && note.is_signed_by(log_key);
        holds.then(|| Self { signed: signed.clone(), log_key: log_key.clone() })
    }

    /// What the log says.
    #[must_use]
    pub const fn checkpoint(&self) -> &Checkpoint {
        &self.signed.checkpoint
    }

    /// The note with all its lines, the unverified ones included.
    #[must_use]
    pub const fn signed(&self) -> &SignedCheckpoint {
        &self.signed
    }

    /// The key that verified it.
    #[must_use]
    pub const fn log_key(&self) -> &VerifierKey {
        &self.log_key
    }

    /// See [`SignedCheckpoint::log_note_bytes`].
    ///
    /// Two different valid lines of one key are refused: the order of lines, which nothing protects, would
    /// decide which one was stamped.
    pub fn log_note_bytes(&self) -> Result<Vec<u8>, CheckpointError> {
        let mut lines = self.signed.note.signatures().iter().filter(|line| {
            line.name() == self.log_key.name() && line.key_id() == self.log_key.key_id()
        });
        // Verification saw a line of this key.
        let first = lines.next().ok_or(NoteError::UnknownKeys { near: None })?;
        if lines.any(|line| line != first) {
            return Err(CheckpointError::SignaturesDiffer);
        }
        let note = SignedNote::new(self.signed.note.text().to_owned(), vec![first.clone()])?;
        Ok(note.to_bytes())
    }
}

/// A decimal number in its one spelling, at most 2^63-1: the sizes and indexes of all C2SP texts.
pub(crate) fn parse_decimal(text: &str) -> Result<u64, DecimalError> {
    let canonical = match text.as_bytes() {
        [b'0'] => true,
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    if !canonical {
        return Err(DecimalError::Form);
    }
    // Only digits are left, so what fails now is too large.
    match text.parse() {
        Ok(number) if number <= MAX_TREE_SIZE => Ok(number),
        _ => Err(DecimalError::Range),
    }
}

/// Why a text is not a decimal number.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum DecimalError {
    /// Not canonical decimal digits.
    Form,
    /// Over 2^63-1.
    Range,
}

fn parse_size(text: &str) -> Result<TreeSize, CheckpointError> {
    let size = parse_decimal(text).map_err(|error| match error {
        DecimalError::Form => CheckpointError::SizeForm,
        DecimalError::Range => CheckpointError::SizeRange,
    })?;
    TreeSize::new(size).map_err(|_| CheckpointError::SizeRange)
}

fn parse_root(text: &str) -> Result<Digest, CheckpointError> {
    let bytes = encoding::base64_decode(text).map_err(|_| CheckpointError::RootBase64)?;
    let root = bytes.as_slice().try_into();
    root.map(Digest::from_bytes).map_err(|_| CheckpointError::RootLength { bytes: bytes.len() })
}

fn check_origin(origin: &Origin, key: &VerifierKey) -> Result<(), CheckpointError> {
    if origin.as_str() == key.name().as_str() {
        Ok(())
    } else {
        Err(CheckpointError::OriginMismatch { expected: Origin::from(key.name()) })
    }
}

fn has_control_character(text: &str) -> bool {
    text.bytes().any(|byte| byte < 0x20)
}

#[cfg(test)]
mod tests;
