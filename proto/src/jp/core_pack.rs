//! Judgment Pack Core `0.2.0-draft`: the document a decision is made by, read to the end.
//!
//! What it is: [`Pack`], which is carrier, structurally and semantically conforming by construction (Core
//! sections 2 to 6 and 9), the conditions in it, the [`Disposition`] that an evaluation gives, and the
//! comparisons that Core defines. What it is not: evaluation, which is
//! `anchorlog_verifier::jp::core`, and any other version of Core: `specVersion` is exact.
//!
//! A pack's numbers are its own: any JSON number, kept as it is spelled. Nothing in a pack is executed or
//! fetched; its sources, texts and extensions are checked for form and forgotten, because what pins a pack
//! is the digest of its bytes.

mod condition;
mod decimal;
mod disposition;
mod disposition_read;
mod formats;
mod id;
mod members;
pub mod number;
mod pack;
mod read;
#[cfg(test)]
mod read_tests;
mod resolve;

pub use condition::{Condition, Order, Pointer, Test};
pub use decimal::Decimal;
pub use disposition::{Disposition, DispositionError, DispositionKind, Reason, UnknownReason};
pub use id::{CoreId, CoreIdError};
pub use pack::{
    Effect, EvidenceRequirement, Exception, OnUnknown, Pack, PackError, PackLimits, PackRule, Rule,
    SPEC_VERSION,
};
