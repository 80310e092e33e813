//! The transition language: what may follow what, and what every node has come to.
//!
//! [`table`] is gad.table/1 as data, to be laid beside the specification; [`Machine`] is the small engine
//! that evaluates it over one entry after the other. It raises `R3.*` and `R8.*`. What it isn't: it looks
//! at no signature, no evidence and no scope; the rules that do are told the state of every node by it.
//!
//! After a violated guard the effect is applied all the same, so that later entries are judged by what the
//! record says happened; the table names the few that are ignored instead.

mod condition;
mod effect;
mod guard;
mod machine;
mod nodes;
mod render;
mod sessions;
mod snapshot;
mod status;
mod succession;
pub mod table;
#[cfg(test)]
pub(in crate::gad) mod testing;
#[cfg(test)]
mod tests;

pub use condition::Condition;
pub use effect::Effect;
pub use machine::Machine;
pub use nodes::{Judged, Request};
#[doc(hidden)]
pub use render::markdown;
pub use sessions::Session;
pub use snapshot::{NodeView, Snapshot};
pub use status::Status;
pub use succession::check_delta;
