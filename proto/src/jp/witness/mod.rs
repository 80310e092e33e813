//! Witnessed checkpoints of audit trails: the formats of the Judgment Pack gateway's section 8.
//!
//! What it is: the checkpoint line that a Runtime or a Runner prints ([`AuditCheckpoint`]), the statement that
//! a checkpoint witness signs about it ([`Statement`]), the keys of such witnesses with the one equation by
//! which a statement is verified ([`WitnessKey`]), where a reading goes on ([`Continuation`]), and how a record
//! of a trail is chained to those before ([`TrailRecord`]); for who is such a witness the rules of a chain
//! ([`Chain`]) and the lines of its storage ([`Mark`], [`Registration`]). What it isn't: a log's checkpoint, which is
//! [`crate::checkpoint`], or a witness of logs, which is [`crate::tlog_witness`]. The words are the same ones
//! in both worlds; here they are about a trail of records that nobody but its operator sees.
//!
//! The format is that of `witnessVersion` 1. All functions are pure.

mod chain;
mod checkpoint;
mod continuation;
mod error;
mod key;
mod record;
mod statement;
mod storage;

pub use chain::{Chain, ChainBreak, ConflictStatement, Decision};
pub use checkpoint::{
    AuditCheckpoint, MAX_LINE_BYTES, MAX_SEQUENCE, MAX_SUBMISSION_BYTES, Submission, TrailId,
    read_lines,
};
pub use continuation::Continuation;
pub use error::{KeyRefusal, LineError, LinesError, StatementError, SubmissionError};
pub use key::{KeyId, Signature, WitnessKey, WitnessSigner};
pub use record::{Discontinuity, MAX_RECORD_BYTES, TrailLine, TrailRecord};
pub use statement::{
    MAX_INDEX, Statement, StatementKind, Unsigned, VerifiedStatement, WitnessedAt,
};
pub use storage::{MAX_PRINCIPAL_BYTES, MAX_STORED_LINE_BYTES, Mark, Registration};

#[cfg(test)]
mod corpus_tests;
