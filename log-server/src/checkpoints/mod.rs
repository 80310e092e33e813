//! Countersigned checkpoints: what others have said about this log, kept as they said it.
//!
//! What it is: an append-only store of RFC 3161 tokens, each with the checkpoint it stamps, and one of
//! witnesses' cosignatures ([`CosignatureStore`]); durable before anybody is shown one, and found by the size
//! of the checkpoint. Whoever countersigns does so in the order of sizes, so the files are ordered by size too,
//! and their rows are searched and not scanned.
//!
//! What it isn't: a judge. A token was verified under its authority's trust entry before it comes here
//! ([`crate::anchoring`]), and whoever gets it verifies it again. Nor is it part of the log's own
//! promises: what is lost here can be had again from anybody who kept a receipt, and the next checkpoint
//! is stamped like the last.
//!
//! In memory are the rows of the newest segment and of the few older ones that were asked for last, so the
//! memory is bounded however long a log is anchored.

mod choice;
mod cosignatures;
mod examine;
mod record;
mod segment;
mod segments;
mod store;
#[cfg(test)]
mod tests;

pub use choice::{Countersigned, MAX_OPERATORS};
pub(crate) use cosignatures::examine as examine_cosignatures;
pub use cosignatures::{CosignatureStore, Cosigned, Witnessed};
pub(crate) use examine::examine;
#[cfg(test)]
pub(crate) use record::MAX_NOTE_BYTES;
pub use record::{Cosignatures, MAX_OPERATOR_BYTES, StoredToken};
pub(crate) use segment::FOLDER;
pub use store::{CheckpointStore, Newest};
