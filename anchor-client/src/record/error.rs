//! Why something is not recorded.

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

use anchorlog_proto::gad::entry::EntryType;
use anchorlog_proto::gad::names::Role;
use anchorlog_proto::json::format_utc_seconds;
use anchorlog_proto::signed_object::SignerId;
use anchorlog_verifier::gad::GadFinding;
use anchorlog_verifier::report::Verdict;

use crate::durable::{DurableError, LockError};
use crate::keys::KeyFileError;

/// Why a recorder did not do what it was asked. Unless a variant says otherwise, nothing was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The rules don't allow the entry.
    #[error(
        "{entry_type}: not recorded, because the record would break a rule: {}",
        list(findings)
    )]
    Refused {
        /// The type of the entry.
        entry_type: EntryType,
        /// What the rules find at it.
        findings: Vec<GadFinding>,
    },
    /// The history is defective already, so nothing is recorded but its end.
    #[error(
        "{entry_type}: not recorded, because the history breaks rules already ({}); \
         what is left is to halt, to disclose, to seal and to export",
        list(findings)
    )]
    History {
        /// The type of the entry.
        entry_type: EntryType,
        /// What the rules find in the history.
        findings: Vec<GadFinding>,
    },
    /// A line of the witness can't be read, so that no entry can be linked to it.
    #[error(
        "line {line} of the witness can't be read: nothing can follow it; export shows what there is"
    )]
    Unreadable {
        /// Its position, from 0.
        line: u64,
    },
    /// A document is not what it should be.
    #[error("{}: {}", path.display(), defects.join("; "))]
    Document {
        /// The file.
        path: PathBuf,
        /// Each with its code and its place.
        defects: Vec<String>,
    },
    /// There is no record in the directory.
    #[error("{}: holds no record; `anchor record freeze` starts one", path.display())]
    NoRecord {
        /// The directory.
        path: PathBuf,
    },
    /// There is something in the directory already.
    #[error("{}: is there already, and is never replaced", path.display())]
    Exists {
        /// The file or directory.
        path: PathBuf,
    },
    /// The plan doesn't give the key the role that the entry needs.
    #[error("the key {key_id} isn't registered in the plan with the role {role}")]
    KeyRole {
        /// The key.
        key_id: SignerId,
        /// The role.
        role: Role,
    },
    /// The entry is signed, and there is no key to sign with.
    #[error("{entry_type}: is signed by the {role} role, and no key was given")]
    NoKey {
        /// The type of the entry.
        entry_type: EntryType,
        /// The role.
        role: Role,
    },
    /// The clock went back by more than the plan allows.
    #[error(
        "the clock says {}, which is before {} of the last entry by more than the {allowed} s that the \
         plan's clock policy allows; correct the clock",
        format_utc_seconds(*now),
        format_utc_seconds(*last)
    )]
    Clock {
        /// What the clock says, in seconds since 1970.
        now: i64,
        /// t of the last entry.
        last: i64,
        /// The plan's max_backstep_s.
        allowed: u32,
    },
    /// The plan has no such node.
    #[error("the plan has no node {node:?}")]
    NoNode {
        /// What was asked for.
        node: String,
    },
    /// The node has no such test.
    #[error("node {node:?} has no test {test_id:?}")]
    NoTest {
        /// The node.
        node: String,
        /// What was asked for.
        test_id: String,
    },
    /// What was asked for can't follow from where the record stands.
    #[error("{subject}: {reason}")]
    State {
        /// What it is about.
        subject: String,
        /// Why not.
        reason: &'static str,
    },
    /// An artifact's name isn't a path of the form below `artifacts/`.
    #[error(
        "{name:?} is no name for an artifact: letters, digits, '.', '_', '-' and '/' only, no '..'"
    )]
    ArtifactName {
        /// The name.
        name: String,
    },
    /// There is an artifact of that name with other bytes.
    #[error("the artifact {path} has other bytes already; artifacts never change")]
    ArtifactDiffers {
        /// Its path in the core.
        path: String,
    },
    /// There is no such artifact, or it has another digest.
    #[error("there is no artifact {path} with the digest that was named")]
    NoArtifact {
        /// Its path in the core.
        path: String,
    },
    /// A signed object isn't of the form.
    #[error("the signed object can't be read: {detail}")]
    SignedObject {
        /// Why.
        detail: String,
    },
    /// The record is at a limit of `gad-bytes/1`.
    #[error("the record is at its limit of {limit} {what}")]
    Limit {
        /// Of what.
        what: &'static str,
        /// How many.
        limit: u64,
    },
    /// A sync failed before: what is on disk isn't known. Open the record again.
    #[error("a sync failed before; open the record again to see what is on disk")]
    Stopped,
    /// The core that was put together from the record's sources doesn't hold, and it isn't the history.
    #[error("the core can't be put together: {}", list(findings))]
    Packaging {
        /// What was found.
        findings: Vec<GadFinding>,
    },
    /// The run isn't over.
    #[error("the run isn't over: complete, halt or supersede it first, or take a snapshot")]
    NotTerminated,
    /// The workspace and the record lie within each other.
    #[error("{}: the record must lie outside of the workspace, where the executor can't reach it", path.display())]
    Overlap {
        /// The record.
        path: PathBuf,
    },
    /// A command can't be started. The dispatch stands, and so do the exit and the result that say so.
    #[error("{program}: can't be started: {source}")]
    Spawn {
        /// The program.
        program: String,
        /// The reason.
        source: io::Error,
    },
    /// A file can't be read.
    #[error("{}: can't be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The disk says no. After a failed sync the recorder stops.
    #[error(transparent)]
    File(#[from] DurableError),
    /// Somebody else records.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// A key file was refused.
    #[error(transparent)]
    Key(#[from] KeyFileError),
}

impl RecordError {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused { .. } => "RECORD.REFUSED",
            Self::History { .. } => "RECORD.HISTORY",
            Self::Unreadable { .. } => "RECORD.UNREADABLE",
            Self::Document { .. } => "RECORD.DOCUMENT",
            Self::NoRecord { .. } => "RECORD.NONE",
            Self::Exists { .. } => "RECORD.EXISTS",
            Self::KeyRole { .. } => "RECORD.KEY_ROLE",
            Self::NoKey { .. } => "RECORD.NO_KEY",
            Self::Clock { .. } => "RECORD.CLOCK",
            Self::NoNode { .. } | Self::NoTest { .. } => "RECORD.UNKNOWN",
            Self::State { .. } => "RECORD.STATE",
            Self::ArtifactName { .. } | Self::ArtifactDiffers { .. } | Self::NoArtifact { .. } => {
                "RECORD.ARTIFACT"
            }
            Self::SignedObject { .. } => "RECORD.SIGNED_OBJECT",
            Self::Limit { .. } => "RECORD.LIMIT",
            Self::Stopped => "RECORD.STOPPED",
            Self::Packaging { .. } => "RECORD.PACKAGING",
            Self::NotTerminated => "RECORD.NOT_TERMINATED",
            Self::Overlap { .. } => "RECORD.OVERLAP",
            Self::Spawn { .. } => "RECORD.SPAWN",
            Self::Read { .. } => "RECORD.READ",
            Self::File(error) if error.is_out_of_space() => "RECORD.DISK_FULL",
            Self::Lock(LockError::Held { .. }) => "RECORD.LOCKED",
            Self::File(_) | Self::Lock(_) => "RECORD.DISK",
            Self::Key(error) => error.code(),
        }
    }

    /// What the failure says: asked and not so, not to be asked, or a failure of the machine.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Refused { .. }
            | Self::History { .. }
            | Self::Unreadable { .. }
            | Self::State { .. }
            | Self::Packaging { .. }
            | Self::NotTerminated => Verdict::DoesNotHold,
            Self::File(error) if error.is_sync_failure() => Verdict::Failed,
            Self::Stopped => Verdict::Failed,
            _ => Verdict::NotEvaluated,
        }
    }

    /// What the rules found, where it is they who refuse.
    #[must_use]
    pub fn findings(&self) -> &[GadFinding] {
        match self {
            Self::Refused { findings, .. }
            | Self::History { findings, .. }
            | Self::Packaging { findings } => findings,
            _ => &[],
        }
    }
}

/// The most findings that a message names.
const MOST_NAMED: usize = 8;

fn list(findings: &[GadFinding]) -> String {
    let mut named: Vec<String> = findings.iter().take(MOST_NAMED).map(describe).collect();
    if let Some(more) = findings.len().checked_sub(MOST_NAMED).filter(|more| *more > 0) {
        named.push(format!("and {more} more"));
    }
    named.join("; ")
}

/// A finding in a few words.
#[must_use]
pub fn describe(finding: &GadFinding) -> String {
    let mut text = finding.code.to_string();
    // A String takes everything.
    if let Some(seq) = finding.place.seq {
        let _ = write!(text, " at entry {seq}");
    }
    if let Some(pointer) = &finding.place.pointer {
        let _ = write!(text, " {pointer}");
    }
    let _ = match (&finding.expected, &finding.actual) {
        (Some(expected), Some(actual)) => {
            write!(text, " (expected {expected}, found {actual})")
        }
        (Some(expected), None) => write!(text, " (expected {expected})"),
        (None, Some(actual)) => write!(text, " (found {actual})"),
        (None, None) => Ok(()),
    };
    text
}
