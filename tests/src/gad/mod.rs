//! The conformance suite of EVALUATE: records of every kind, and records with one defect each.
//!
//! What it is: a generator. A base record is a draft; a case makes one change to it, and everything that an
//! attacker of the stated level could make consistent again is made consistent again, so that the record
//! fails for the rule it is about and not for a stale hash. `gad-vectors` writes all of them as files, for
//! any evaluator; [`suite`] runs one on them. What it isn't: an evaluator; nothing here looks at what it
//! writes.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::missing_panics_doc,
    clippy::doc_markdown,
    clippy::disallowed_methods,
    clippy::format_collect,
    clippy::format_push_string,
    clippy::match_same_arms,
    clippy::needless_pass_by_value,
    clippy::too_many_lines,
    clippy::type_complexity,
    reason = "a generator knows its own drafts, fails by panicking, and is mostly tables"
)]

pub mod anchors;
pub mod archive;
pub mod base;
pub mod case;
pub mod cases;
pub mod entries;
pub mod json;
pub mod keys;
pub mod plans;
pub mod record;
pub mod render;
pub mod suite;
pub mod trust;
pub mod write;

pub use case::{Case, Level, Vector};

/// Every vector, bases first. The same in each run.
#[must_use]
pub fn vectors() -> Vec<Vector> {
    base::all().iter().chain(&cases::all()).map(Case::render).collect()
}
