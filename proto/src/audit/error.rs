//! Why an audit is refused.

use crate::checkpoint::CheckpointError;
use crate::json::JsonError;
use crate::note::KeyError;
use crate::signed_object::SignedObjectError;

/// Why an audit is refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// The checkpoint can't be read, or the stated key hasn't signed it.
    #[error("the audit's checkpoint: {0}")]
    Checkpoint(CheckpointError),
    /// An entry stands where it can't: not ascending, outside of what was read, or about something else.
    #[error("entry {position} of the audit: {problem}")]
    Entry {
        /// Its position in the list, from 0.
        position: usize,
        /// What is wrong with it.
        problem: EntryProblem,
    },
    /// A finding names an entry outside of what was read.
    #[error("finding {position} of the audit names an entry that was not read")]
    Finding {
        /// Its position in the list, from 0.
        position: usize,
    },
    /// The JSON isn't an audit's.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// The log's key isn't one.
    #[error("the log's key: {0}")]
    LogKey(KeyError),
    /// Something is omitted from a list that isn't full, or a list is too long.
    #[error("a list of the audit holds {found} of at most {limit}, and {omitted} are omitted")]
    Omitted {
        /// How many are listed.
        found: usize,
        /// How many may be.
        limit: usize,
        /// How many are said to be left out.
        omitted: u64,
    },
    /// The signature, or the key it was checked with.
    #[error(transparent)]
    Signed(#[from] SignedObjectError),
    /// The starting position lies after the checkpoint, or its root can't be that of its size.
    #[error("the audit starts at a tree that its checkpoint can't extend")]
    Start,
}

/// What is wrong with an entry of the list.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryProblem {
    /// It doesn't come after the one before it.
    #[error("its index is not above the one before it")]
    Order,
    /// Its index was not read.
    #[error("its index lies outside of what was read")]
    Range,
    /// It is about something else.
    #[error("it is not about the subject")]
    Subject,
}

impl AuditError {
    /// The stable code of this refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Json(error) => error.code(),
            Self::Signed(error) => error.code(),
            Self::Checkpoint(_)
            | Self::Entry { .. }
            | Self::Finding { .. }
            | Self::LogKey(_)
            | Self::Omitted { .. }
            | Self::Start => "AUD.FORM",
        }
    }
}
