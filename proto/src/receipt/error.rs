//! Why a receipt is refused.

use super::{MAX_CONFLICTS, MAX_TIMESTAMP_BYTES, MAX_TIMESTAMPS};
use crate::checkpoint::{CheckpointError, Origin};
use crate::digest::Digest;
use crate::json::JsonError;
use crate::statement::StatementError;
use crate::tlog_proof::TlogProofError;

/// Why a receipt is refused: a part is malformed, or two parts contradict each other.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ReceiptError {
    /// The state is `anchored`, and there is no token.
    #[error("`state` is \"anchored\", but `timestamps` is empty")]
    AnchoredWithoutTimestamp,
    /// `conflicts` is empty, too long, not ascending, negative, or names the entry itself.
    #[error(
        "`conflicts` lists 1 to {MAX_CONFLICTS} indexes of other entries in ascending order, or is absent"
    )]
    Conflicts,
    /// `index` isn't the index of the proof.
    #[error("`index` is {stated}, but the proof is for index {proof}")]
    Index {
        /// The receipt's index.
        stated: u64,
        /// The proof's index.
        proof: u64,
    },
    /// The JSON is malformed or has the wrong shape; keeps its own code.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// `leaf_hash` isn't the hash of the statement.
    #[error("`leaf_hash` is {stated}, but the statement's is {computed}")]
    LeafHash {
        /// The receipt's leaf hash.
        stated: Digest,
        /// The hash of the leaf that the statement makes.
        computed: Digest,
    },
    /// `log` is no origin.
    #[error("`log`: {0}")]
    Log(CheckpointError),
    /// `log` isn't the origin of the proof's checkpoint.
    #[error("`log` is {stated}, but the checkpoint is one of {checkpoint}")]
    Origin {
        /// The receipt's log.
        stated: Origin,
        /// The checkpoint's origin.
        checkpoint: Origin,
    },
    /// `proof` is no tlog-proof.
    #[error("`proof`: {0}")]
    Proof(TlogProofError),
    /// `statement` is no statement.
    #[error("`statement`: {0}")]
    Statement(StatementError),
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
    /// Too many tokens.
    #[error("{found} tokens in `timestamps`, where at most {MAX_TIMESTAMPS} are allowed")]
    TooManyTimestamps {
        /// The number of tokens.
        found: usize,
    },
}

impl ReceiptError {
    /// The stable code of this refusal. A malformed part keeps its own code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::AnchoredWithoutTimestamp => "RCT.ANCHORED_WITHOUT_TIMESTAMP",
            Self::Conflicts => "RCT.CONFLICTS",
            Self::Index { .. } => "RCT.INDEX",
            Self::Json(error) => error.code(),
            Self::LeafHash { .. } => "RCT.LEAF_HASH",
            Self::Log(error) => error.code(),
            Self::Origin { .. } => "RCT.ORIGIN",
            Self::Proof(error) => error.code(),
            Self::Statement(error) => error.code(),
            Self::TimestampLength { .. } => "RCT.TIMESTAMP_LENGTH",
            Self::TooManyTimestamps { .. } => "RCT.TIMESTAMP_COUNT",
        }
    }
}
