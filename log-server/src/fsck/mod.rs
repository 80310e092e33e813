//! Reads a whole log again, recomputes every hash, and compares.
//!
//! [`check_directory`] does it to the data directory of a log that is not running, and names what is wrong
//! down to the file; it changes nothing of the log. [`check_tiles`] does it to any C2SP tlog-tiles log, by whatever
//! way its files come. Both end at the signed checkpoint: entries that lead to its root are the entries
//! that were promised.

mod checkpoints;
mod directory;
mod index;
mod journal;
#[cfg(test)]
mod tests;
mod tiles;

use std::fmt;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::CheckpointError;
use anchorlog_proto::statement::StatementError;

use crate::index::Table;
use crate::storage::Defect;

pub use directory::check_directory;
pub use tiles::{DirectorySource, SourceError, TileSource, check_tiles};

/// Problems that are named one by one; beyond, they are only counted.
pub const MAX_NAMED: usize = 100;

/// What a check found.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Report {
    /// Entries of the log.
    pub size: u64,
    /// Root of the newest checkpoint.
    pub root: Option<Digest>,
    /// Entries that were read and hashed.
    pub entries: u64,
    /// Rows of the index that were read; none when there is no index to check.
    pub index_rows: Option<u64>,
    /// Tokens over checkpoints that were read.
    pub countersigned: u64,
    /// Lines of witnesses over checkpoints that were verified again.
    pub cosignatures: u64,
    /// What is wrong, as far as it is named.
    pub problems: Vec<Problem>,
    /// How much is wrong.
    pub problem_count: u64,
    /// What is remarkable and not wrong.
    pub notes: Vec<Note>,
}

impl Report {
    /// Whether nothing is wrong.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.problem_count == 0
    }

    fn problem(&mut self, file: impl Into<String>, index: Option<u64>, fault: Fault) {
        self.problem_count += 1;
        if self.problems.len() < MAX_NAMED {
            self.problems.push(Problem { file: file.into(), index, fault });
        }
    }

    /// Adds what another part of the check found.
    fn absorb(&mut self, part: Self) {
        self.entries += part.entries;
        self.problem_count += part.problem_count;
        let room = MAX_NAMED.saturating_sub(self.problems.len());
        self.problems.extend(part.problems.into_iter().take(room));
        self.notes.extend(part.notes);
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Problem {
    /// The file, relative to what was checked.
    pub file: String,
    /// The entry, hash or node concerned, where there is one.
    pub index: Option<u64>,
    /// What is wrong with it.
    pub fault: Fault,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file)?;
        if let Some(index) = self.index {
            write!(f, "{index}: ")?;
        }
        self.fault.fmt(f)
    }
}

/// How something can be wrong.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The checkpoint is malformed or not signed by the log's key.
    #[error("checkpoint: {0}")]
    Checkpoint(CheckpointError),
    /// A line of a witness isn't what it should be.
    #[error("cosignature: {reason}")]
    Cosignature {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Stored bytes are damaged.
    #[error("{defect} at byte {offset}")]
    Damaged {
        /// Where in the file.
        offset: u64,
        /// What is wrong there.
        defect: Defect,
    },
    /// An entry is not a canonical statement.
    #[error("entry is not a statement: {0}")]
    Entry(StatementError),
    /// Nothing of ours has such a name.
    #[error("a file that does not belong here")]
    ForeignFile,
    /// A row of the index stands for no entry.
    #[error("a row of table {0} that stands for no entry")]
    ForeignRow(Table),
    /// A stored hash is not the hash of what lies beneath it.
    #[error("stored hash differs from the one computed")]
    Hash,
    /// The index can't be read.
    #[error("index: {code}")]
    Index {
        /// The stable code of the index's error.
        code: &'static str,
    },
    /// The index counts other entries than it holds.
    #[error("the index differs from the log")]
    IndexDiffers,
    /// The journal ends before entries that were committed.
    #[error("the journal ends at {journal} of {stored} committed entries")]
    JournalBehind {
        /// Entries the journal holds.
        journal: u64,
        /// Entries that are stored.
        stored: u64,
    },
    /// The log has ended otherwise than it says.
    #[error("the last checkpoint of the frozen log: {reason}")]
    Frozen {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// An entry is not the one whose hash was signed.
    #[error("entry is not the one that was signed")]
    Leaf,
    /// A file is longer than its contents.
    #[error("{bytes} bytes after the end of the contents")]
    Longer {
        /// Bytes too many.
        bytes: u64,
    },
    /// A row of the index is missing or wrong.
    #[error("a row of table {0} is missing or wrong")]
    MissingRow(Table),
    /// A bundle starts elsewhere than its offset says.
    #[error("offset of a bundle differs from where the bundle is")]
    Offset,
    /// The entries do not lead to the root that was signed.
    #[error("entries do not lead to the signed root")]
    Root,
    /// A countersigned checkpoint or its token isn't what it should be.
    #[error("countersigned checkpoint: {reason}")]
    Token {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A file can't be read.
    #[error("can't be read: {kind}")]
    Unreadable {
        /// The operating system's kind of error.
        kind: std::io::ErrorKind,
    },
    /// A tile or bundle is not in its form.
    #[error("{0}")]
    Tile(anchorlog_proto::tile::TileError),
}

impl Fault {
    /// The stable code of this fault.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Checkpoint(_) => "FSCK.CHECKPOINT",
            Self::Cosignature { .. } => "FSCK.COSIGNATURE",
            Self::Damaged { .. } => "FSCK.DAMAGED",
            Self::Entry(_) => "FSCK.ENTRY",
            Self::ForeignFile => "FSCK.FOREIGN_FILE",
            Self::ForeignRow(_) => "FSCK.FOREIGN_ROW",
            Self::Frozen { .. } => "FSCK.FROZEN",
            Self::Hash => "FSCK.HASH",
            Self::Index { .. } => "FSCK.INDEX",
            Self::IndexDiffers => "FSCK.INDEX_DIFFERS",
            Self::JournalBehind { .. } => "FSCK.JOURNAL_BEHIND",
            Self::Leaf => "FSCK.LEAF",
            Self::Longer { .. } => "FSCK.LONGER",
            Self::MissingRow(_) => "FSCK.MISSING_ROW",
            Self::Offset => "FSCK.OFFSET",
            Self::Root => "FSCK.ROOT",
            Self::Tile(_) => "FSCK.TILE",
            Self::Token { .. } => "FSCK.TOKEN",
            Self::Unreadable { .. } => "FSCK.UNREADABLE",
        }
    }
}

/// Something remarkable that is not wrong.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Note {
    /// The log is frozen: it has ended.
    Frozen,
    /// The index lacks the newest entries; it is fed at the next start.
    IndexBehind {
        /// Entries it lacks.
        entries: u64,
    },
    /// There is no index; it is made at the next start.
    NoIndex,
    /// Entries are in the journal and not yet stored; they are stored at the next start.
    NotStoredYet {
        /// Entries concerned.
        entries: u64,
    },
    /// A record was torn by a crash before it was promised; it is dropped at the next start.
    TornRecord {
        /// Bytes of it.
        bytes: u64,
    },
    /// A line of a witness was torn by a crash before anybody was shown it; it is dropped at the next start.
    TornCosignature {
        /// Bytes of it.
        bytes: u64,
    },
    /// A token was torn by a crash before anybody was shown it; it is dropped at the next start.
    TornToken {
        /// Bytes of it.
        bytes: u64,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Frozen => f.write_str("the log is frozen"),
            Self::IndexBehind { entries } => {
                write!(f, "the index lacks the newest {entries} entries until the next start")
            }
            Self::NoIndex => f.write_str("there is no index; the next start makes one"),
            Self::NotStoredYet { entries } => {
                write!(f, "{entries} entries are only in the journal until the next start")
            }
            Self::TornRecord { bytes } => {
                write!(f, "{bytes} bytes of a record that was never promised are in the journal")
            }
            Self::TornCosignature { bytes } => {
                write!(f, "{bytes} bytes of a cosignature that was never shown are in checkpoints/")
            }
            Self::TornToken { bytes } => {
                write!(f, "{bytes} bytes of a token that was never shown are in checkpoints/")
            }
        }
    }
}
