//! Judgment Pack: what is judged with the documents of [`anchorlog_proto::jp`] beside workflows.
//!
//! What it is: [`core`], an evaluator of Core `0.2.0-draft` that also tells who contributed, and
//! [`attribution`], accounting for contributors (RFC 0028). What it is not: a claim of conformance; both
//! texts are drafts.

pub mod attribution;
pub mod core;
