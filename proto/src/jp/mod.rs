//! Judgment Pack's companion documents: RFC 0020 workflows and what they pin.
//!
//! What it is: the byte forms ([`canon`]), a strict reader that keeps number literals ([`json`]), and the
//! closed objects of RFC 0020 read to the end; beside them the checkpoints of audit trails and what a witness
//! states about them ([`witness`]). What it isn't: the dialect. Its text (RFC 0018) is not public,
//! so nothing here reads a published or bound dialect, a binding document, a profile or a preparation beyond
//! hashing them. RFC 0020 is a draft; no conformance can be claimed.
//!
//! All functions are pure. What is judged with them is in `anchorlog_verifier::workflow`.

pub mod attribution;
pub mod canon;
pub mod core_pack;
pub mod dialect;
pub mod disposition;
pub mod evaluation_error;
pub mod export;
pub mod fault;
pub mod id;
pub mod json;
pub mod pointer;
pub mod witness;
pub mod workflow;

#[cfg(test)]
mod corpus_tests;
