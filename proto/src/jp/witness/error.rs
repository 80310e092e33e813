//! What can be wrong with lines, statements and keys.

use core::fmt;

use super::checkpoint::{MAX_LINE_BYTES, MAX_SEQUENCE};

/// Why a line is no checkpoint line.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// More than [`MAX_LINE_BYTES`].
    #[error("the line is longer than {MAX_LINE_BYTES} bytes")]
    TooLong,
    /// Not a JSON object of exactly `checkpointVersion`, `recordDigest`, `sequence` and `trail`.
    #[error(
        "not a checkpoint: an object of checkpointVersion \"1\", recordDigest, sequence and trail"
    )]
    Form,
    /// A sequence out of 1 to 2^53-2.
    #[error("the sequence is not within 1 to {MAX_SEQUENCE}")]
    Sequence,
    /// The right values in another spelling than the canonical one.
    #[error("the line is not in its canonical form, as the checkpoint is printed")]
    Spelling,
}

/// Why bytes are no checkpoint lines.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LinesError {
    /// No line at all.
    #[error("there is no checkpoint line")]
    Empty,
    /// The last line has no newline at its end.
    #[error("line {line}: no newline at its end")]
    Unterminated {
        /// The line, counted from 1.
        line: usize,
    },
    /// More lines than asked for at once.
    #[error("more than {most} lines")]
    TooMany {
        /// How many there may be.
        most: usize,
    },
    /// A line that is no checkpoint line.
    #[error("line {line}: {error}")]
    Line {
        /// The line, counted from 1.
        line: usize,
        /// Why.
        error: LineError,
    },
}

/// Why checkpoint lines can't be submitted to a witness as one body.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SubmissionError {
    /// Bytes that are no checkpoint lines.
    #[error(transparent)]
    Lines(#[from] LinesError),
    /// A line of another trail than the first.
    #[error("line {line}: another trail than that of the first line")]
    OtherTrail {
        /// The line, counted from 1.
        line: usize,
    },
    /// A sequence that doesn't exceed the one before.
    #[error("line {line}: its sequence does not exceed that of the line before")]
    NotIncreasing {
        /// The line, counted from 1.
        line: usize,
    },
}

/// Why 32 bytes are no key that a reader may trust (section 8.4), in the order of the checks.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, thiserror::Error)]
#[error("{}", self.as_str())]
#[non_exhaustive]
pub enum KeyRefusal {
    /// Another encoding than the canonical one.
    NotCanonical,
    /// One of the eight points under which signatures prove nothing.
    SmallOrder,
    /// No point of the curve.
    NotOnCurve,
}

impl KeyRefusal {
    /// The reason, as the specification spells it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotCanonical => "key-not-canonical",
            Self::SmallOrder => "key-small-order",
            Self::NotOnCurve => "key-not-on-curve",
        }
    }
}

/// Why a statement can't be read or is not what a key's holder signed.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StatementError {
    /// Not the closed form of section 8.2.
    #[error("not a witness statement: {0}")]
    Form(Malformed),
    /// The statement names another key.
    #[error("the statement names the key {actual}, not {expected}")]
    OtherKey {
        /// The key at hand.
        expected: super::KeyId,
        /// The key that the statement names.
        actual: super::KeyId,
    },
    /// The signature does not verify.
    #[error("the signature does not verify")]
    Signature,
}

/// What is wrong with the form of a statement, for people.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Malformed(String);

impl Malformed {
    pub(super) fn new(what: impl fmt::Display) -> Self {
        Self(what.to_string())
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
