//! EVALUATE: from an envelope and a policy to VALID_RECORD, OUTCOME, CONTRACT_SATISFIED and DEFENSIBLE.
#![allow(
    clippy::doc_markdown,
    reason = "the specification's symbols are written as it writes them"
)]

pub mod anchors;
pub mod artifacts;
pub mod attestation;
pub mod audit;
pub mod container;
pub mod evaluate;
pub mod event;
pub mod facts;
pub mod finding;
pub mod independence;
pub mod key_material;
pub mod ledger;
#[cfg(all(feature = "adequacy", debug_assertions))]
pub mod mute;
pub mod plan_index;
pub mod policy;
pub mod replay;
pub mod report;
pub mod rules;
#[cfg(test)]
pub(crate) mod testing;
pub mod trace;
pub mod trust;
pub mod watch;
pub mod witness;

pub use event::Event;
pub use facts::{FirstDispatch, RecordFacts};
pub use finding::{Findings, GadFinding, Where};
pub use ledger::{Kept, Ledger};
pub use plan_index::{NodeIx, PlanIndex};
