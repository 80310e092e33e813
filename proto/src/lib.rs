//! The nouns of Anchorlog: every byte format it reads or writes, and every pure function on them.
//!
//! What it is: digests, strict JSON and its one canonical form, RFC 6962 Merkle arithmetic, C2SP tiles,
//! signed notes, checkpoints, cosignatures, policies and proofs, statements and receipts.
//! What it is not: there is no I/O here, no clock, no async, no global state and no decision about trust.
//! Next along the way of the data: `anchorlog-verifier` judges with these types, `anchorlog-client`
//! carries them about, `anchorlog-server` makes the log out of them.

pub mod audit;
pub mod checkpoint;
pub mod cosignature;
pub mod digest;
pub mod encoding;
mod error;
pub mod gad;
pub mod jp;
pub mod json;
pub mod merkle;
pub mod note;
pub mod receipt;
pub mod signed_object;
pub mod statement;
pub mod tile;
pub mod timestamp;
pub mod tlog_policy;
pub mod tlog_proof;
pub mod tlog_witness;

pub use digest::Digest;
pub use error::Error;
