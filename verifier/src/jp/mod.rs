//! Judgment Pack: what is judged with the documents of [`anchorlog_proto::jp`] beside workflows.
//!
//! What it is: [`core`], an evaluator of Core `0.2.0-draft` that also tells who contributed,
//! [`attribution`], accounting for contributors (RFC 0028), and [`witness`], the reader of a checkpoint witness'
//! chain. What it is not: a claim of conformance; the texts of the first two are drafts.

pub mod attribution;
pub mod core;
pub mod witness;
