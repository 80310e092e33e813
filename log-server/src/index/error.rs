//! Why the index refused, in terms a caller can act on.

use std::io;

use thiserror::Error;

use super::Table;

/// A refusal or failure of the index.
///
/// The index is derived data, so there are three ways to go on, and [`IndexError::remedy`] says which one
/// a given error calls for.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum IndexError {
    /// A batch holds more than [`super::MAX_BATCH`] entries.
    #[error("a batch of {entries} entries is larger than the limit of {limit}")]
    BatchTooLarge {
        /// How many entries were handed over.
        entries: usize,
        /// How many are allowed.
        limit: usize,
    },
    /// What is stored is not what this index writes: a damaged file, or a foreign one.
    #[error("the index is damaged: {0}")]
    Damaged(Damage),
    /// The engine failed in a way that is neither input/output nor visible damage.
    #[error("the index engine failed: {0}")]
    Engine(#[source] Box<dyn core::error::Error + Send + Sync>),
    /// The directory was written by a version with another row format.
    #[error("the index has format {found}, this version reads {expected}")]
    Format {
        /// The format number in the directory.
        found: u8,
        /// The format number this version writes.
        expected: u8,
    },
    /// Reading or writing failed. Never to be taken for "not found".
    #[error("index input/output failed: {0}")]
    Io(#[source] io::Error),
    /// Another process, or another handle in this one, has the index open.
    #[error("the index is open elsewhere")]
    Locked,
    /// A batch doesn't start where the index ends.
    #[error("a batch starts at entry {found}, the index ends at {expected}")]
    NotContiguous {
        /// The next index to be appended.
        expected: u64,
        /// The index the batch starts at.
        found: u64,
    },
    /// An entry within a batch has not the index of its position.
    #[error("entry {found} stands where entry {expected} belongs")]
    OutOfOrder {
        /// The index that belongs there.
        expected: u64,
        /// The index that stands there.
        found: u64,
    },
    /// An earlier write failed, so nothing more is written through this handle, and with some engines
    /// nothing more is read. A fresh open of the same directory continues at a consistent size.
    #[error("an earlier write to the index failed; it has to be opened again")]
    Poisoned,
    /// The engine has not caught up with its background work within [`super::STALL_LIMIT`].
    #[error("the index engine made no progress for {seconds} seconds")]
    Stalled {
        /// How long was waited.
        seconds: u64,
    },
    /// The build has no such engine, or there is none of that name.
    #[error("there is no index engine of that name in this build")]
    UnknownEngine,
}

impl IndexError {
    /// The stable code of this error.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::BatchTooLarge { .. } => "INDEX.BATCH_TOO_LARGE",
            Self::Damaged(_) => "INDEX.DAMAGED",
            Self::Engine(_) => "INDEX.ENGINE",
            Self::Format { .. } => "INDEX.FORMAT",
            Self::Io(_) => "INDEX.IO",
            Self::Locked => "INDEX.LOCKED",
            Self::NotContiguous { .. } => "INDEX.NOT_CONTIGUOUS",
            Self::OutOfOrder { .. } => "INDEX.OUT_OF_ORDER",
            Self::Poisoned => "INDEX.POISONED",
            Self::Stalled { .. } => "INDEX.STALLED",
            Self::UnknownEngine => "INDEX.UNKNOWN_ENGINE",
        }
    }

    /// What helps.
    #[must_use]
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::Damaged(_) | Self::Engine(_) | Self::Format { .. } => Remedy::Rebuild,
            Self::Io(error) => match error.kind() {
                // What the engines report for files that are cut off, doubled or missing.
                io::ErrorKind::AlreadyExists
                | io::ErrorKind::InvalidData
                | io::ErrorKind::NotFound
                | io::ErrorKind::UnexpectedEof => Remedy::Rebuild,
                _ => Remedy::Reopen,
            },
            Self::Locked | Self::Poisoned | Self::Stalled { .. } => Remedy::Reopen,
            Self::BatchTooLarge { .. }
            | Self::NotContiguous { .. }
            | Self::OutOfOrder { .. }
            | Self::UnknownEngine => Remedy::FixCaller,
        }
    }

    /// Whether the device or the quota is full.
    #[must_use]
    pub fn is_no_space(&self) -> bool {
        matches!(self, Self::Io(error) if matches!(
            error.kind(),
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
        ))
    }
}

impl From<io::Error> for IndexError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// What an [`IndexError`] calls for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Remedy {
    /// The call was wrong; the index is as it was.
    FixCaller,
    /// Delete the directory and feed the index from the log again.
    Rebuild,
    /// Remove the cause (space, permissions, the other process) and open the directory again.
    Reopen,
}

/// What about the stored data was wrong.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Damage {
    /// The index counts entries that the log does not have.
    AheadOfLog,
    /// An entry of the log is not in the index as it should be.
    DiffersFromLog,
    /// The engine itself reports a broken checksum, structure or file.
    Engine,
    /// The engine holds another number of rows than the index had written when it recorded its size.
    RowCount {
        /// Rows the index had written.
        recorded: u64,
        /// Rows the engine holds.
        found: u64,
    },
    /// A row has a length or a content that is never written.
    Row(Table),
    /// A look-up met damage in an index that had opened well.
    MetByLookUp,
    /// The record of the indexed size can't be read.
    State,
}

impl core::fmt::Display for Damage {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::AheadOfLog => f.write_str("it counts more entries than the log has"),
            Self::DiffersFromLog => f.write_str("it differs from the log"),
            Self::Engine => f.write_str("the engine reports damaged files"),
            Self::RowCount { recorded, found } => {
                write!(f, "{recorded} rows were written, {found} are there")
            }
            Self::Row(table) => write!(f, "a row of table {table} can't be read"),
            Self::MetByLookUp => f.write_str("a look-up met damage"),
            Self::State => f.write_str("the record of its size can't be read"),
        }
    }
}
