//! Workflows of Judgment Pack (RFC 0020): is a bundle consistent with itself and with what is expected of it.
//!
//! What it is: every check of RFC 0020 section 9 that can be made from public texts, each named and reported
//! by itself, in the RFC's phases and order and with its codes ([`examine`]); and the section's entry point
//! ([`read_workflow`]), whose [`Reading`] exists only where three plugged verifiers have answered for what isn't
//! public: preparations, the expansion of dialects, and influence. What it isn't: a reader of any dialect, a
//! conformance claim (the RFC is a draft), or a statement that anything in a bundle is true. A reading
//! authenticates nothing; an independently held commitment to the execution digest does a part of that, see
//! [`commitment`].
//!
//! Memory is bounded by one artifact at a time and what is kept of each: a digest, a record's pins.

mod check;
pub mod commitment;
mod examine;
mod files;
mod layout;
mod load;
mod place;
pub mod plug;
mod reading;
mod report;
mod semantic;
mod stages;

pub use check::{Check, CheckResult, FindingCode, Reason, Status};
pub use examine::{Completion, Counts, Examination, Expectations, examine};
pub use files::{CouldNotRun, Directory, Files, Listed, Memory};
pub use layout::MAX_FILES;
pub use place::Place;
pub use plug::Plugs;
pub use reading::{Answer, Reading, read_workflow};
