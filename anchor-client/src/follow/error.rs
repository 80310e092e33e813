//! Why a log can't be followed further: its contradictions by name, with the notes that prove them.

use std::path::PathBuf;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::{CheckpointError, VerifiedCheckpoint};
use anchorlog_proto::tile::TileError;
use anchorlog_verifier::codes::{self, Code};
use anchorlog_verifier::report::Verdict;

use super::files::FetchError;
use super::location::TileLocation;
use crate::durable::DurableError;
use crate::evidence::{Finding, keep_notes};
use crate::state::StateDir;

/// An error of whoever takes the entries.
pub type BoxedError = Box<dyn std::error::Error + Send + Sync>;

/// Two checkpoints that one log signed and that don't go together.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TwoNotes {
    /// The one known before.
    pub seen: VerifiedCheckpoint,
    /// The one shown now.
    pub shown: VerifiedCheckpoint,
    /// A consistency proof from the smaller to the larger tree that leads to the larger root and not to
    /// the smaller one, where one was made: it shows the fork to whoever has only the two notes.
    pub proof: Option<Vec<Digest>>,
}

/// Why a log can't be followed further.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FollowError {
    /// The checkpoint isn't one, or nobody trusted for the log has signed it.
    #[error("checkpoint: {0}")]
    Checkpoint(CheckpointError),
    /// Both trees are signed, and the smaller is no prefix of the larger one: a fork.
    #[error(
        "the tree of {} entries is no prefix of the tree of {} entries; the log signed both",
        notes.sizes().0, notes.sizes().1
    )]
    Inconsistent {
        /// Both.
        notes: Box<TwoNotes>,
    },
    /// An entry's bytes aren't those that the tree has at its place.
    #[error(
        "entry {index} is not the one in the tree{}",
        found_at.map(|other| format!("; it is entry {other}")).unwrap_or_default()
    )]
    Leaf {
        /// Where it stood.
        index: u64,
        /// Where in the same tile the tree has these bytes, if it does.
        found_at: Option<u64>,
    },
    /// An entry isn't what the sink takes: raised by sinks, never by the follower.
    #[error("entry {index}: {source}")]
    Malformed {
        /// The entry.
        index: u64,
        /// What is wrong with it.
        source: BoxedError,
    },
    /// A file that the tree must have isn't there.
    #[error("{path}: there is no such file, and the tree of {size} entries has it")]
    Missing {
        /// Path below the log's prefix.
        path: String,
        /// Size of the tree.
        size: u64,
    },
    /// No key is trusted for the log.
    #[error("no key is given for the log")]
    NoKeys,
    /// The checkpoint shown is smaller than one known; the log went back, or an old answer came.
    #[error(
        "the log shows a tree of {} entries after one of {}",
        notes.shown.checkpoint().size, notes.seen.checkpoint().size
    )]
    Rollback {
        /// Both.
        notes: Box<TwoNotes>,
    },
    /// The sink refused.
    #[error(transparent)]
    Sink(BoxedError),
    /// Two roots for one size.
    #[error("the log signed two different trees of {} entries", notes.seen.checkpoint().size)]
    SplitView {
        /// Both.
        notes: Box<TwoNotes>,
    },
    /// A tile or bundle isn't of the tree that the log signed.
    #[error("{path}: {fault}")]
    Tile {
        /// Path below the log's prefix.
        path: String,
        /// What is wrong with it.
        fault: TileFault,
    },
    /// No answer.
    #[error(transparent)]
    Unreachable(#[from] FetchError),
}

/// What is wrong with a tile.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TileFault {
    /// The hashes at the right edge of the tree don't lead to the signed root.
    #[error("with the other tiles at the right edge it does not lead to the signed root")]
    Edge,
    /// Not the bytes of a tile or bundle of this width.
    #[error("{0}")]
    Form(TileError),
    /// A hash of it isn't the one of the tree.
    #[error("hash {position} is not the one of the tree")]
    Hash {
        /// Its position within the level.
        position: u64,
    },
    /// Its root isn't the hash that the tile above names.
    #[error("its hashes do not lead to the signed root")]
    Root,
}

impl FollowError {
    /// Makes any error one of the sink.
    pub fn sink(error: impl Into<BoxedError>) -> Self {
        Self::Sink(error.into())
    }

    /// The stable code of the failure.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            // A note without a valid signature by a trusted key, in whatever way it lacks one.
            Self::Checkpoint(CheckpointError::Note(_)) => codes::log::SIG.as_str(),
            Self::Checkpoint(error) => error.code(),
            Self::Inconsistent { .. } => codes::log::CONSISTENCY.as_str(),
            Self::Leaf { found_at: None, .. } => codes::log::ENTRY.as_str(),
            Self::Leaf { found_at: Some(_), .. } => codes::log::ENTRY_INDEX.as_str(),
            Self::Malformed { .. } => codes::log::MALFORMED.as_str(),
            Self::Missing { .. } => codes::log::MISSING.as_str(),
            Self::NoKeys => "CLIENT.TRUST",
            Self::Rollback { .. } => codes::log::ROLLBACK.as_str(),
            Self::Sink(_) => "CLIENT.STATE",
            Self::SplitView { .. } => codes::log::SPLIT_VIEW.as_str(),
            Self::Tile { .. } => codes::log::TILE.as_str(),
            Self::Unreachable(error) => error.code(),
        }
    }

    /// What the failure says about the log: evaluated and it does not hold, or not evaluated.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::NoKeys | Self::Sink(_) | Self::Unreachable(_) => Verdict::NotEvaluated,
            _ => Verdict::DoesNotHold,
        }
    }

    /// Keeps the two notes under a state directory, where two don't go together; where they are kept.
    #[must_use]
    pub fn keep_evidence(
        &self,
        state: &StateDir,
        location: &TileLocation,
    ) -> Option<Result<PathBuf, DurableError>> {
        let notes = self.notes()?;
        let finding = Finding {
            code: Code::lookup(self.code())?,
            detail: &self.to_string(),
            proof: notes.proof.as_deref(),
        };
        Some(keep_notes(state, &location.to_string(), finding, &notes.seen, &notes.shown))
    }

    /// The two notes, where two don't go together.
    #[must_use]
    pub fn notes(&self) -> Option<&TwoNotes> {
        match self {
            Self::Inconsistent { notes } | Self::Rollback { notes } | Self::SplitView { notes } => {
                Some(notes)
            }
            _ => None,
        }
    }
}

impl TwoNotes {
    /// The smaller and the larger size.
    #[must_use]
    pub fn sizes(&self) -> (u64, u64) {
        let [seen, shown] = [&self.seen, &self.shown].map(|one| one.checkpoint().size.get());
        (seen.min(shown), seen.max(shown))
    }
}
