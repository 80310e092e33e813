//! Why a copy stops.

use std::path::PathBuf;

use anchorlog_proto::checkpoint::CheckpointError;
use anchorlog_verifier::report::Verdict;

use crate::durable::{DurableError, LockError};
use crate::follow::{FollowError, PositionError};

/// Why a copy stops.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MirrorError {
    /// The checkpoint in the directory isn't one of the log.
    #[error(
        "{}: {source}; the directory holds the copy of another log, or was changed",
        path.display()
    )]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: CheckpointError,
    },
    /// A file of the copy has other bytes than the log's tree, which it signed, has there.
    #[error(
        "{}: the file differs from the tree that the log signed; it is left as it is. Check the disk, and \
         move the file away to have it fetched again",
        path.display()
    )]
    Differs {
        /// The file.
        path: PathBuf,
    },
    /// The operating system says no.
    #[error(transparent)]
    File(#[from] DurableError),
    /// The log can't be followed, or contradicts itself.
    #[error("{source}{}", place(evidence.as_ref()))]
    Follow {
        /// Why.
        source: Box<FollowError>,
        /// Where both notes of a contradiction are kept.
        evidence: Option<Result<PathBuf, Box<DurableError>>>,
    },
    /// Another process writes the copy.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The kept position can't be used.
    #[error(transparent)]
    Position(#[from] PositionError),
}

impl MirrorError {
    /// The stable code of the failure.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Checkpoint { source, .. } => source.code(),
            Self::Differs { .. } => "CLIENT.MIRROR_DIFFERS",
            Self::Follow { source, .. } => source.code(),
            Self::File(_) | Self::Lock(_) | Self::Position(_) => "CLIENT.STATE",
        }
    }

    /// What it says about the log and its copy: evaluated and they do not hold, or not evaluated.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Follow { source, .. } => source.verdict(),
            Self::Checkpoint { .. } | Self::Differs { .. } => Verdict::DoesNotHold,
            Self::File(_) | Self::Lock(_) | Self::Position(_) => Verdict::NotEvaluated,
        }
    }

    /// Whether asking again later can help.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Follow { source, .. } => {
                matches!(**source, FollowError::Unreachable(_) | FollowError::Missing { .. })
            }
            _ => false,
        }
    }
}

impl From<FollowError> for MirrorError {
    fn from(source: FollowError) -> Self {
        Self::Follow { source: Box::new(source), evidence: None }
    }
}

fn place(evidence: Option<&Result<PathBuf, Box<DurableError>>>) -> String {
    match evidence {
        None => String::new(),
        Some(Ok(path)) => format!("; both signed notes are kept in {}", path.display()),
        Some(Err(error)) => format!("; the signed notes could NOT be kept: {error}"),
    }
}
