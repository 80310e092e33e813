//! Witnessed checkpoints of audit trails: the formats of the Judgment Pack gateway's section 8.
//!
//! What it is: the checkpoint line that a Runtime or a Runner prints ([`AuditCheckpoint`]), the statement that
//! a checkpoint witness signs about it ([`Statement`]), and the keys of such witnesses with the one equation
//! by which a statement is verified ([`WitnessKey`]). What it isn't: a log's checkpoint, which is
//! [`crate::checkpoint`], or a witness of logs, which is [`crate::tlog_witness`]. The words are the same ones
//! in both worlds; here they are about a trail of records that nobody but its operator sees.
//!
//! The format is that of `witnessVersion` 1. All functions are pure.

mod checkpoint;
mod error;
mod key;
mod statement;

pub use checkpoint::{
    AuditCheckpoint, MAX_LINE_BYTES, MAX_SEQUENCE, MAX_SUBMISSION_BYTES, Submission, TrailId,
    read_lines,
};
pub use error::{KeyRefusal, LineError, LinesError, StatementError, SubmissionError};
pub use key::{KeyId, Signature, WitnessKey, WitnessSigner};
pub use statement::{
    MAX_INDEX, Statement, StatementKind, Unsigned, VerifiedStatement, WitnessedAt,
};

#[cfg(test)]
mod corpus_tests;
