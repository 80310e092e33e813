//! Anchor files of transparency logs (`anchorlog.anchor/1`): a receipt without its log-side members.
//!
//! What it is: the closed object `{schema, type, statement, proof, timestamps}`, stored in canonical
//! form. What it isn't: a verification. Nothing in it is checked against anything; a reader that needs to
//! say what is wrong with a file learns which part it is ([`AnchorFileError::part`]).

use crate::encoding::{base64_decode, base64_encode};
use crate::json::{self, Fields, JsonCode, JsonError, Object, ReadLimits, Value};
use crate::receipt::{MAX_TIMESTAMP_BYTES, Receipt};
use crate::statement::{LogEntry, StatementError};
use crate::tlog_proof::{TlogProof, TlogProofError};

use super::envelope::AnchorType;

/// The schema name.
pub const ANCHOR_SCHEMA: &str = "anchorlog.anchor/1";

/// The longest proof text in an anchor file, in bytes.
pub const MAX_PROOF_TEXT_BYTES: usize = 64 << 10;

/// The most time-stamp tokens in an anchor file.
pub const MAX_ANCHOR_TIMESTAMPS: usize = 64;

/// The longest anchor file, in bytes: room for everything at its limit.
pub const MAX_ANCHOR_FILE_BYTES: usize = 6 << 20;

const LIMITS: ReadLimits = ReadLimits::DEFAULT.with_bytes(MAX_ANCHOR_FILE_BYTES);

/// An anchor in a transparency log, as its file states it. Nothing in it is verified.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct TlogAnchor {
    /// The log entry, which the file carries as `statement`.
    pub entry: LogEntry,
    /// The inclusion proof and the checkpoint it leads to; at most [`MAX_PROOF_TEXT_BYTES`] of text.
    pub proof: TlogProof,
    /// RFC 3161 tokens over the checkpoint, in DER; at most [`MAX_ANCHOR_TIMESTAMPS`] of 1 to
    /// [`MAX_TIMESTAMP_BYTES`] bytes.
    pub timestamps: Vec<Vec<u8>>,
}

impl TlogAnchor {
    /// Reads an anchor file.
    ///
    /// Order of refusals: JSON, canonical form, shape, statement, proof, tokens.
    pub fn parse(bytes: &[u8]) -> Result<Self, AnchorFileError> {
        let document = json::read(bytes, &LIMITS)?;
        if let Some(offset) = document.noncanonical_at {
            let part = noncanonical_part(bytes, &document.value);
            return Err(AnchorFileError::Noncanonical { part, offset });
        }
        let mut fields = Fields::new(&document.value, "")?;
        fields.literal("schema", ANCHOR_SCHEMA)?;
        fields.literal("type", AnchorType::Tlog.as_str())?;
        let statement = fields.required("statement")?;
        let proof = fields.string("proof")?;
        let tokens = fields.array("timestamps")?;
        fields.finish()?;
        let entry = LogEntry::from_value(statement, "/statement");
        let entry = entry.map_err(AnchorFileError::Statement)?;
        check_proof_length(proof.len())?;
        let proof = TlogProof::parse(proof.as_bytes()).map_err(AnchorFileError::Proof)?;
        check_timestamps(tokens.len())?;
        let mut timestamps = Vec::with_capacity(tokens.len());
        for (position, token) in tokens.iter().enumerate() {
            let refuse = |code| JsonError::at(code, format!("/timestamps/{position}"));
            let text = token.as_str().ok_or_else(|| refuse(JsonCode::Type))?;
            let token = base64_decode(text).map_err(|_| refuse(JsonCode::B64Form))?;
            check_token(position, token.len())?;
            timestamps.push(token);
        }
        Ok(Self { entry, proof, timestamps })
    }

    /// The anchor that a receipt makes. A receipt has room for a longer proof than an anchor file.
    pub fn from_receipt(receipt: &Receipt) -> Result<Self, AnchorFileError> {
        let anchor = Self {
            entry: receipt.entry.clone(),
            proof: receipt.proof.clone(),
            timestamps: receipt.timestamps.clone(),
        };
        anchor.check()?;
        Ok(anchor)
    }

    /// The bytes of the file, if it is one that [`TlogAnchor::parse`] would accept.
    pub fn to_bytes(&self) -> Result<Vec<u8>, AnchorFileError> {
        let proof = self.check()?;
        let timestamps = self.timestamps.iter().map(|token| base64_encode(token).into());
        let object = Object::from([
            ("schema", Value::from(ANCHOR_SCHEMA)),
            ("type", AnchorType::Tlog.as_str().into()),
            ("statement", self.entry.to_object().into()),
            ("proof", proof.into()),
            ("timestamps", timestamps.collect::<Vec<_>>().into()),
        ]);
        Ok(object.to_canonical())
    }

    /// The limits that the types alone don't guarantee; gives the proof's text.
    fn check(&self) -> Result<String, AnchorFileError> {
        let proof = self.proof.to_text();
        check_proof_length(proof.len())?;
        check_timestamps(self.timestamps.len())?;
        for (position, token) in self.timestamps.iter().enumerate() {
            check_token(position, token.len())?;
        }
        Ok(proof)
    }
}

/// A part of an anchor file.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[allow(clippy::exhaustive_enums, reason = "the parts of the format")]
pub enum AnchorPart {
    /// The file itself: its JSON, its schema, its members.
    File,
    /// The log entry.
    Statement,
    /// The proof with its checkpoint.
    Proof,
    /// The tokens.
    Timestamps,
}

/// Why an anchor file is refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AnchorFileError {
    /// The JSON is malformed or has the wrong shape; keeps its own code.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// The bytes aren't the canonical form of what they say.
    #[error("the file is not in canonical form, first at byte {offset}")]
    Noncanonical {
        /// Where the first departure lies: [`AnchorPart::Statement`] when within the statement.
        part: AnchorPart,
        /// Its offset in bytes.
        offset: usize,
    },
    /// `statement` is no statement.
    #[error("`statement`: {0}")]
    Statement(StatementError),
    /// `proof` is no tlog-proof.
    #[error("`proof`: {0}")]
    Proof(TlogProofError),
    /// `proof` is longer than [`MAX_PROOF_TEXT_BYTES`].
    #[error("`proof`: {bytes} bytes, where at most {MAX_PROOF_TEXT_BYTES} are allowed")]
    ProofTooLong {
        /// Its length.
        bytes: usize,
    },
    /// Too many tokens.
    #[error("{found} tokens in `timestamps`, where at most {MAX_ANCHOR_TIMESTAMPS} are allowed")]
    TooManyTimestamps {
        /// The number of tokens.
        found: usize,
    },
    /// A token is empty or too long.
    #[error(
        "`timestamps` {position}: a token of {bytes} bytes, where 1 to {MAX_TIMESTAMP_BYTES} are allowed"
    )]
    TimestampLength {
        /// Position in the list, from 0.
        position: usize,
        /// Length in bytes of DER.
        bytes: usize,
    },
}

impl AnchorFileError {
    /// The stable code of this refusal. A malformed part keeps its own code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Json(error) => error.code(),
            Self::Noncanonical { .. } => JsonCode::Noncanonical.as_str(),
            Self::Statement(error) => error.code(),
            Self::Proof(error) => error.code(),
            Self::ProofTooLong { .. } => "ANCHOR.PROOF_LENGTH",
            Self::TooManyTimestamps { .. } => "ANCHOR.TIMESTAMPS",
            Self::TimestampLength { .. } => "ANCHOR.TIMESTAMP_LENGTH",
        }
    }

    /// Which part of the file is at fault.
    #[must_use]
    pub fn part(&self) -> AnchorPart {
        match self {
            Self::Json(error) => match error.pointer.split('/').nth(1) {
                Some("statement") => AnchorPart::Statement,
                Some("proof") => AnchorPart::Proof,
                Some("timestamps") => AnchorPart::Timestamps,
                _ => AnchorPart::File,
            },
            Self::Noncanonical { part, .. } => *part,
            Self::Statement(_) => AnchorPart::Statement,
            Self::Proof(_) | Self::ProofTooLong { .. } => AnchorPart::Proof,
            Self::TooManyTimestamps { .. } | Self::TimestampLength { .. } => AnchorPart::Timestamps,
        }
    }
}

fn check_proof_length(bytes: usize) -> Result<(), AnchorFileError> {
    if bytes > MAX_PROOF_TEXT_BYTES { Err(AnchorFileError::ProofTooLong { bytes }) } else { Ok(()) }
}

fn check_timestamps(found: usize) -> Result<(), AnchorFileError> {
    if found > MAX_ANCHOR_TIMESTAMPS {
        Err(AnchorFileError::TooManyTimestamps { found })
    } else {
        Ok(())
    }
}

fn check_token(position: usize, bytes: usize) -> Result<(), AnchorFileError> {
    if (1..=MAX_TIMESTAMP_BYTES).contains(&bytes) {
        Ok(())
    } else {
        Err(AnchorFileError::TimestampLength { position, bytes })
    }
}

/// Whether bytes that aren't canonical first depart from canonical form within their statement. They are
/// equal to it up to there, so the statement begins where it does in the canonical form.
fn noncanonical_part(bytes: &[u8], value: &Value<'_>) -> AnchorPart {
    let Some(object) = value.as_object() else { return AnchorPart::File };
    let canonical = object.to_canonical();
    let equal = bytes.iter().zip(&canonical).take_while(|(a, b)| a == b).count();
    let mut offset = 0;
    for (name, value) in object.iter() {
        // `{` or `,`, the name, `:`.
        let begin = offset + json::canonical(&Value::from(name)).len() + 2;
        offset = begin + json::canonical(value).len();
        if name == "statement" && (begin + 1..offset).contains(&equal) {
            return AnchorPart::Statement;
        }
    }
    AnchorPart::File
}

#[cfg(test)]
mod tests;
