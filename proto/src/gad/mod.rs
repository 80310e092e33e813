//! GAD objects (`gad-bytes/1`): plans, witness entries, manifests, claims, attestations, policies.
//!
//! What it is: every object of a GAD record as a closed type, read strictly and to the end, and written
//! in the one canonical form. What it isn't: a rule about the record; `anchorlog-verifier` has those.
#![allow(
    clippy::doc_markdown,
    reason = "the specification's symbols are written as it writes them"
)]
#![allow(
    clippy::redundant_closure_for_method_calls,
    reason = "a cell's methods are not general over its lifetime"
)]

pub mod anchor_file;
pub mod attestation;
pub mod chain;
#[cfg(test)]
#[allow(clippy::panic, clippy::unwrap_used, reason = "a failing test may panic")]
mod changes;
pub mod claims;
pub mod code;
pub mod core_manifest;
#[cfg(test)]
mod corpus_tests;
#[cfg(test)]
mod document_corpus_tests;
mod emit;
pub mod entry;
#[cfg(test)]
mod entry_tests;
pub mod envelope;
pub mod form;
pub mod issuer;
pub mod known_checkpoints;
pub mod limits;
pub mod line;
pub mod names;
pub mod operator;
pub mod payload;
pub mod plan;
pub mod policy;
pub mod schema;
pub mod signed;
pub mod tar;

pub use code::FormCode;
pub use form::{At, Cell, Defect, Defects, Reader};
pub use limits::Limits;
