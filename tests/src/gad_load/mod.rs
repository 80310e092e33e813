//! Records of any length, written to be evaluated: what EVALUATE costs is measured on them.
//!
//! What it is: [`run`] writes realistic runs that come out valid, [`hostile`] writes records made to be
//! expensive, both streamed into a core's directory by [`Record`]; [`measure`] evaluates them, and does the
//! work that no evaluation can do without beside it. What it isn't: a recorder. Nothing here asks whether an
//! entry may be written.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a generator that can't write its record fails by panicking"
)]

pub mod hostile;
pub mod measure;
mod plans;
mod record;
pub mod run;

pub use record::{Record, Written};
