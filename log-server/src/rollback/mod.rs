//! The rollback guard: before a log signs anything, does anybody know more of it than it does itself?
//!
//! A log that was restored from an old backup, or started on the wrong disk, would give the same indexes to
//! other entries and sign a second history; nothing takes that back. So at the start everybody is asked who may
//! have seen it ([`Sources`]): mirrors and exports, witnesses, a checkpoint that was pinned. What counts is a
//! checkpoint with this log's own valid signature; a claim without one is a warning, because else anybody
//! could keep a log from starting. One claim counts: that of a configured witness, which says what it knows when
//! it is offered our newest checkpoint. Every checkpoint that counts must be of a tree that ours
//! extends. If one isn't, both notes are kept and the log doesn't start; it can still be opened
//! to be read.
//!
//! What it isn't: protection from an operator who wants two histories. Against that there are witnesses.

mod evidence;
mod sources;
#[cfg(test)]
mod tests;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use anchorlog_client::durable::DurableError;
use anchorlog_client::log_client::CallError;
use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::{CheckpointError, SignedCheckpoint, VerifiedCheckpoint};
use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::tlog_policy::PolicyError;

pub use evidence::FOLDER;
pub use sources::{Place, PlaceError, Source, Sources};

/// A checkpoint of this log that somebody has shown. Its signature is verified.
#[derive(Clone, Debug)]
pub struct Known {
    /// Who showed it, for people.
    pub source: String,
    /// What they showed.
    pub checkpoint: VerifiedCheckpoint,
}

/// What a log holds itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ours<'a> {
    /// The data directory.
    pub(crate) directory: &'a Path,
    /// The newest checkpoint; none in a log that isn't founded yet.
    pub(crate) checkpoint: Option<&'a SignedCheckpoint>,
    /// Its size.
    pub(crate) size: TreeSize,
}

/// Why a log must not go on signing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GuardError {
    /// Somebody has a larger checkpoint that this log has signed.
    #[error(
        "{source_name} has a checkpoint of {known} entries that this log has signed, and the log here holds \
         {size}: it is an old copy, and would sign a second history; {evidence}. Restore a newer copy, or open \
         it with `log-server serve --read-only`"
    )]
    Behind {
        /// Who.
        source_name: String,
        /// Entries of their checkpoint.
        known: u64,
        /// Entries that the log holds.
        size: u64,
        /// Where both notes are.
        evidence: Evidence,
    },
    /// The log holds fewer entries than were configured.
    #[error(
        "the log holds {size} entries, and rollback_guard.min_size is {least}: it is an old copy, and would \
         sign a second history. Restore a newer copy, or open it with `log-server serve --read-only`"
    )]
    BelowMinimum {
        /// Entries configured.
        least: u64,
        /// Entries that the log holds.
        size: u64,
    },
    /// This machine gives no HTTP client, or no runtime for it.
    #[error("mirrors can't be asked: {0}")]
    Client(#[from] Box<CallError>),
    /// Somebody has a checkpoint that this log has signed, of a tree that isn't a beginning of ours.
    #[error(
        "{source_name} has a checkpoint of {known} entries that this log has signed, and the first {known} \
         entries of the log here are others: there are two histories under one name; {evidence}. Find out \
         which one was published; the log can be opened with `log-server serve --read-only`"
    )]
    Differs {
        /// Who.
        source_name: String,
        /// Entries of their checkpoint.
        known: u64,
        /// Where both notes are.
        evidence: Evidence,
    },
    /// The pinned checkpoint can't be read.
    #[error("rollback_guard.checkpoint_file: {}: {source}", path.display())]
    Pin {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The pinned checkpoint isn't one of this log.
    #[error("rollback_guard.checkpoint_file: {}: {source}", path.display())]
    PinForm {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: CheckpointError,
    },
    /// The policy with the witnesses can't be read.
    #[error("rollback_guard.witnesses: {}: {source}", path.display())]
    Policy {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The policy with the witnesses isn't one.
    #[error("rollback_guard.witnesses: {}: {source}", path.display())]
    PolicyForm {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<PolicyError>,
    },
    /// There is no runtime.
    #[error("mirrors and witnesses can't be asked: {0}")]
    Runtime(io::Error),
    /// A witness of the configuration says that it knows more of this log, or something else.
    #[error(
        "{source_name} says that it knows {}, and the log here holds {size} entries: it is an old copy or \
         another history, and would sign a second one. Restore a newer copy, open it with `log-server serve \
         --read-only`, or take the witness out of the policy if it is its error",
        known.map_or_else(|| "another tree of this size".to_owned(), |known| format!("{known} entries"))
    )]
    Witness {
        /// Who.
        source_name: String,
        /// Entries that it knows; none for another root at our size.
        known: Option<u64>,
        /// Entries that the log holds.
        size: u64,
    },
    /// Fewer sources have shown something that counts than have to.
    #[error(
        "{answered} of the {asked} sources have shown a checkpoint of this log, and rollback_guard.require is \
         {required}: {}", reasons.join("; ")
    )]
    TooFew {
        /// Those that did.
        answered: usize,
        /// Those that there are.
        asked: usize,
        /// How many have to.
        required: usize,
        /// What was the matter with the others.
        reasons: Vec<String>,
    },
}

impl GuardError {
    /// A stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Behind { .. }
            | Self::BelowMinimum { .. }
            | Self::Witness { known: Some(_), .. } => "LOG.ROLLBACK",
            Self::Differs { .. } | Self::Witness { known: None, .. } => "LOG.SPLIT_VIEW",
            Self::Client(_) | Self::Runtime(_) => "GUARD.CLIENT",
            Self::Pin { .. } | Self::PinForm { .. } => "GUARD.PIN",
            Self::Policy { .. } | Self::PolicyForm { .. } => "GUARD.POLICY",
            Self::TooFew { .. } => "GUARD.TOO_FEW",
        }
    }
}

/// Where two notes were kept that don't go together.
#[derive(Debug)]
pub struct Evidence(Result<PathBuf, DurableError>);

impl Evidence {
    /// The directory, if they could be kept.
    #[must_use]
    pub fn directory(&self) -> Option<&Path> {
        self.0.as_deref().ok()
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Ok(path) => write!(f, "both notes are kept in {}", path.display()),
            Err(error) => write!(f, "the notes could NOT be kept ({error})"),
        }
    }
}

/// Refuses to go on where one of the checkpoints `known` isn't of a tree that ours extends. `root` gives our
/// root of any size up to ours.
pub(crate) fn compare<E: From<Box<GuardError>>>(
    ours: &Ours<'_>,
    known: &[Known],
    root: impl Fn(TreeSize) -> Result<Digest, E>,
) -> Result<(), E> {
    for known in known {
        let shown = known.checkpoint.checkpoint();
        if shown.size > ours.size {
            let (source_name, size) = (known.source.clone(), ours.size.get());
            let evidence = Evidence(evidence::keep(ours, known, "LOG.ROLLBACK"));
            let known = shown.size.get();
            return Err(Box::new(GuardError::Behind { source_name, known, size, evidence }).into());
        }
        if root(shown.size)? != shown.root {
            let source_name = known.source.clone();
            let evidence = Evidence(evidence::keep(ours, known, "LOG.SPLIT_VIEW"));
            let known = shown.size.get();
            return Err(Box::new(GuardError::Differs { source_name, known, evidence }).into());
        }
    }
    Ok(())
}
