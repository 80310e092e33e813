//! The rules of VALID_RECORD over manifests, the witness, and what is claimed of it, one file each.
//!
//! A rule over the witness is an observer: it is shown every entry once, in order, keeps what it needs of
//! it, and raises its findings there or in `finish`, after the last one; [`r9`] looks at the claims once all
//! have gone by. What it isn't: a judge of the trace; that is [`crate::gad::trace`], whose state the rules
//! read as of before the entry they are shown. R1 over the manifests looks at members instead, and its part
//! over the witness is [`crate::gad::witness`].

pub mod class;
#[cfg(test)]
mod corpus_tests;
#[cfg(test)]
mod gates_tests;
pub mod r1_envelope;
pub mod r1_manifest;
pub mod r2;
pub mod r4;
pub mod r5;
pub mod r6;
pub mod r7;
pub mod r9;
pub mod reliance;
#[cfg(test)]
mod scope_tests;
mod surface;
#[cfg(test)]
pub(in crate::gad) mod testing;

pub use r2::R2;
pub use r4::R4;
pub use r6::R6;
pub use r7::R7;
pub use reliance::Reliance;
