//! Why a request to a witness, or an answer of one, is malformed.

use super::{MAX_COSIGNATURES, MAX_PROOF_LINES};
use crate::checkpoint::{CheckpointError, Origin};
use crate::digest::Digest;
use crate::merkle::TreeSize;
use crate::note::{SignatureLineError, SignedNote};

/// Why a request or an answer is refused for its form.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TlogWitnessError {
    /// Longer than [`super::MAX_REQUEST_BYTES`], or for cosignatures [`super::MAX_RESPONSE_BYTES`].
    #[error("{bytes} bytes are over the limit")]
    TooLarge {
        /// Bytes given.
        bytes: usize,
    },
    /// It ends before the blank line in front of the checkpoint, or without a newline.
    #[error("the text ends within its lines")]
    Truncated,
    /// The first line is not `old` and a decimal number.
    #[error("the first line is not \"old\" and a decimal number without sign or leading zero")]
    OldForm,
    /// A size is not a decimal number in its one spelling, with a newline behind it.
    #[error("the size is not a decimal number without sign or leading zero, and a newline")]
    SizeForm,
    /// A size is over 2^63-1.
    #[error("the size is over 2^63-1")]
    SizeRange,
    /// A hash is not the canonical base64 of 32 bytes.
    #[error("hash {number} is not the canonical base64 of 32 bytes")]
    Hash {
        /// Which one, counted from 1.
        number: usize,
    },
    /// More hashes than [`MAX_PROOF_LINES`].
    #[error("more than {MAX_PROOF_LINES} hashes")]
    TooManyHashes,
    /// The old size is larger than the checkpoint's.
    #[error("the old size {old} is over the checkpoint's size {size}")]
    OldOverSize {
        /// The old size.
        old: TreeSize,
        /// The checkpoint's.
        size: TreeSize,
    },
    /// The checkpoint is of size 0 and has another root than the empty tree.
    #[error("the checkpoint is of size 0 and does not have the empty tree's root")]
    EmptyTreeRoot(Box<EmptyTreeRoot>),
    /// The checkpoint is refused.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The cosignatures are not UTF-8.
    #[error("the cosignatures are not UTF-8")]
    NotUtf8,
    /// No cosignature where there must be one.
    #[error("no cosignature")]
    NoCosignatures,
    /// More lines than [`MAX_COSIGNATURES`].
    #[error("more than {MAX_COSIGNATURES} cosignatures")]
    TooManyCosignatures,
    /// A cosignature line is malformed.
    #[error("cosignature line {line}: {reason}")]
    Cosignature {
        /// Which one, counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: SignatureLineError,
    },
}

impl TlogWitnessError {
    /// The stable code of this refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "TLOGWITNESS.TOO_LARGE",
            Self::Truncated => "TLOGWITNESS.TRUNCATED",
            Self::OldForm => "TLOGWITNESS.OLD_FORM",
            Self::SizeForm => "TLOGWITNESS.SIZE_FORM",
            Self::SizeRange => "TLOGWITNESS.SIZE_RANGE",
            Self::Hash { .. } => "TLOGWITNESS.HASH",
            Self::TooManyHashes => "TLOGWITNESS.HASHES",
            Self::OldOverSize { .. } => "TLOGWITNESS.OLD_OVER_SIZE",
            Self::EmptyTreeRoot(_) => "CKPT.EMPTY_ROOT",
            Self::Checkpoint(error) => error.code(),
            Self::NotUtf8 => "TLOGWITNESS.UTF8",
            Self::NoCosignatures => "TLOGWITNESS.NO_COSIGNATURES",
            Self::TooManyCosignatures => "TLOGWITNESS.COSIGNATURES",
            Self::Cosignature { reason, .. } => reason.code(),
        }
    }
}

/// A note that would be a checkpoint of size 0 if it had the empty tree's root.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EmptyTreeRoot {
    /// The note.
    pub note: SignedNote,
    /// Its first line.
    pub origin: Origin,
    /// The root it has.
    pub root: Digest,
}
