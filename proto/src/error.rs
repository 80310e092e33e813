//! One error for callers who pass several formats on: each format keeps its own enum beneath it.

use crate::audit::AuditError;
use crate::checkpoint::CheckpointError;
use crate::cosignature::CosignatureError;
use crate::encoding::EncodingError;
use crate::json::JsonError;
use crate::merkle::ProofError;
use crate::note::NoteError;
use crate::receipt::ReceiptError;
use crate::signed_object::SignedObjectError;
use crate::statement::StatementError;
use crate::tile::TileError;
use crate::timestamp::TimestampError;
use crate::tlog_policy::PolicyError;
use crate::tlog_proof::TlogProofError;
use crate::tlog_witness::TlogWitnessError;

/// Any refusal of this crate, by the format that refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An audit of a log.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// A C2SP checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A C2SP cosignature.
    #[error(transparent)]
    Cosignature(#[from] CosignatureError),
    /// A text encoding of bytes.
    #[error(transparent)]
    Encoding(#[from] EncodingError),
    /// JSON or its canonical form.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// A C2SP signed note.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// A C2SP tlog-policy.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A Merkle proof.
    #[error(transparent)]
    Proof(#[from] ProofError),
    /// A receipt.
    #[error(transparent)]
    Receipt(#[from] ReceiptError),
    /// A signed object.
    #[error(transparent)]
    SignedObject(#[from] SignedObjectError),
    /// A statement.
    #[error(transparent)]
    Statement(#[from] StatementError),
    /// A tile or an entry bundle.
    #[error(transparent)]
    Tile(#[from] TileError),
    /// An RFC 3161 request, response or token.
    #[error(transparent)]
    Timestamp(#[from] TimestampError),
    /// A C2SP tlog-proof.
    #[error(transparent)]
    TlogProof(#[from] TlogProofError),
    /// A request to a C2SP tlog-witness, or an answer of one.
    #[error(transparent)]
    TlogWitness(#[from] TlogWitnessError),
}

impl Error {
    /// The stable code of the refusal, as the format's own enum gives it.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Audit(error) => error.code(),
            Self::Checkpoint(error) => error.code(),
            Self::Cosignature(error) => error.code(),
            Self::Encoding(error) => error.code(),
            Self::Json(error) => error.code(),
            Self::Note(error) => error.code(),
            Self::Policy(error) => error.code(),
            Self::Proof(error) => error.code(),
            Self::Receipt(error) => error.code(),
            Self::SignedObject(error) => error.code(),
            Self::Statement(error) => error.code(),
            Self::Tile(error) => error.code(),
            Self::Timestamp(error) => error.code(),
            Self::TlogProof(error) => error.code(),
            Self::TlogWitness(error) => error.code(),
        }
    }
}
