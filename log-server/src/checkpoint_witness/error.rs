//! Why a checkpoint witness can't start, and why it refuses a submission.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use anchorlog_client::durable::{DurableError, LockError};
use anchorlog_proto::jp::witness::{MAX_PRINCIPAL_BYTES, TrailId};

use super::finding::{Finding, Outcome};
use crate::keys::KeyFileError;

/// Why there is no checkpoint witness, or why its operator's wish is not done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointWitnessError {
    /// Something on disk.
    #[error(transparent)]
    Durable(#[from] DurableError),
    /// The key file.
    #[error(transparent)]
    Key(#[from] KeyFileError),
    /// The private key is gone, and there are statements of it.
    #[error("{}: the witness' private key is missing; restore it, or go on with a new directory and new marks", path.display())]
    KeyMissing {
        /// Where it should be.
        path: PathBuf,
    },
    /// The log and the witness have the same key.
    #[error("{}: this is a key of the log; the witness' own key must be another one", path.display())]
    LogKey {
        /// The key file.
        path: PathBuf,
    },
    /// Another process has the directory.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// An issuer or a subject that can't be one.
    #[error(
        "an issuer and a subject are 1 to {MAX_PRINCIPAL_BYTES} bytes without control characters"
    )]
    Name,
    /// There is no directory for the marks.
    #[error("{}: no such directory for the marks; make it, on another device than the statements, or mount it", directory.display())]
    NoMarksDirectory {
        /// The directory.
        directory: PathBuf,
    },
    /// A trail without a witnessed checkpoint.
    #[error("the trail {trail} has no statement, so there is nothing to retire")]
    NothingToRetire {
        /// The trail.
        trail: TrailId,
    },
    /// The directory belongs to another key.
    #[error("{}: the statements are another key's; is it the right key file, or another witness' directory?", path.display())]
    OtherKey {
        /// The file with the public key.
        path: PathBuf,
    },
    /// The public key that is kept beside the statements is none.
    #[error("{}: not a public key in 64 hexadecimal digits", path.display())]
    PublicKey {
        /// The file.
        path: PathBuf,
    },
    /// A file can't be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The start-up checks found something.
    #[error("the checkpoint witness does not start [{}]: {}", outcome.as_str(), Said { findings, count: *finding_count, outcome: *outcome })]
    Refused {
        /// What follows.
        outcome: Outcome,
        /// What was found, as far as it is named.
        findings: Vec<Finding>,
        /// How much was found.
        finding_count: u64,
    },
    /// The witness refuses what was asked for.
    #[error(transparent)]
    Refusal(#[from] Refusal),
}

/// Why a submission or a wish of the operator is refused. Nothing has changed, but for [`Refusal::Stopped`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The clock has no time that a statement can state.
    #[error("the witness' clock has no time that can be stated")]
    Clock,
    /// As many statements, or trails, as a witness keeps.
    #[error("the witness keeps as many statements or trails as it can")]
    Full,
    /// The token's holder is not among the submitters.
    #[error("this witness takes no submissions from the holder of this token")]
    NotASubmitter,
    /// The disk of the statements or of the marks is full.
    #[error("the disk of the witness is full")]
    OutOfSpace,
    /// The submitter's rate is used up.
    #[error("the submitter's rate of submissions is used up")]
    RateLimited {
        /// How long until the same request can be taken.
        wait: Duration,
    },
    /// Statements can't be read.
    #[error("a statement can't be read")]
    Read,
    /// It takes no submissions at all.
    #[error("the witness is open for reading alone")]
    ReadOnly,
    /// The trail belongs to somebody else.
    #[error("the trail is registered to another submitter")]
    RegisteredToAnother,
    /// A statement or a registration could not be kept: nothing is signed until a restart.
    #[error("a statement could not be kept, so nothing is signed until the witness has restarted")]
    Stopped,
    /// The submitter has as many trails as it may have.
    #[error("the submitter has submitted for {most} trails, and may not for more")]
    TooManyTrails {
        /// How many it may have.
        most: usize,
    },
    /// Nobody has registered the trail.
    #[error("the trail is not registered; the witness' operator does that")]
    Unregistered,
}

/// Findings and what to do about them, in several lines.
struct Said<'a> {
    findings: &'a [Finding],
    count: u64,
    outcome: Outcome,
}

impl fmt::Display for Said<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.outcome.advice())?;
        for finding in self.findings {
            write!(f, "\n{finding}")?;
        }
        let named = u64::try_from(self.findings.len()).unwrap_or(u64::MAX);
        match self.count.saturating_sub(named) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}
