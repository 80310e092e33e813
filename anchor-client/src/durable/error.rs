//! What can go wrong on disk: which file, doing what, and the operating system's reason.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

/// A failed file operation with the file it was about.
#[derive(Debug, thiserror::Error)]
#[error("{}: {operation} failed: {source}", path.display())]
pub struct DurableError {
    /// The file or directory the caller named (never the temporary file used on the way).
    pub path: PathBuf,
    /// What was being done.
    pub operation: Operation,
    /// The operating system's answer.
    pub source: io::Error,
}

impl DurableError {
    /// An error of `operation` on `path`.
    #[must_use]
    pub fn new(path: &Path, operation: Operation, source: io::Error) -> Self {
        Self { path: path.to_path_buf(), operation, source }
    }

    /// Whether the disk or the quota is full: nothing was replaced, and it may work once space is freed. A
    /// sync that fails is fatal for whatever reason.
    #[must_use]
    pub fn is_out_of_space(&self) -> bool {
        !self.is_sync_failure() && is_out_of_space(&self.source)
    }

    /// Whether data or names could not be made durable. Fatal: what the kernel holds may already be lost,
    /// and trying again can report a success that isn't one. Stop and recover from disk.
    #[must_use]
    pub fn is_sync_failure(&self) -> bool {
        matches!(self.operation, Operation::Sync | Operation::SyncDirectory)
    }
}

/// Whether an error says that the disk (`ENOSPC`) or the quota (`EDQUOT`) is full.
#[must_use]
pub fn is_out_of_space(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
        || matches!(Errno::from_io_error(error), Some(Errno::NOSPC | Errno::DQUOT))
}

/// The step at which a file operation failed.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Operation {
    /// Reserving disk blocks ahead of writing them.
    Allocate,
    /// Creating a file.
    Create,
    /// Creating a directory.
    CreateDirectory,
    /// Taking a lock.
    Lock,
    /// Asking for length or kind.
    Metadata,
    /// Opening an existing file.
    Open,
    /// Reading content or directory entries.
    Read,
    /// Removing a file or directory.
    Remove,
    /// Moving a file to its final name.
    Rename,
    /// Making content durable (`fsync`, `fdatasync`). Fatal.
    Sync,
    /// Making the names in a directory durable. Fatal.
    SyncDirectory,
    /// Changing the length.
    Truncate,
    /// Writing content.
    Write,
}

impl Operation {
    /// The operation in words that fit before "failed".
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allocate => "reserving disk space",
            Self::Create => "creating the file",
            Self::CreateDirectory => "creating the directory",
            Self::Lock => "locking",
            Self::Metadata => "asking for its length",
            Self::Open => "opening",
            Self::Read => "reading",
            Self::Remove => "removing",
            Self::Rename => "moving it into place",
            Self::Sync => "making the content durable (fsync)",
            Self::SyncDirectory => "making the directory durable (fsync)",
            Self::Truncate => "changing the length",
            Self::Write => "writing",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Adds path and operation to an [`io::Result`].
pub(super) trait Context<T> {
    fn context(self, path: &Path, operation: Operation) -> Result<T, DurableError>;
}

impl<T> Context<T> for io::Result<T> {
    fn context(self, path: &Path, operation: Operation) -> Result<T, DurableError> {
        self.map_err(|source| DurableError::new(path, operation, source))
    }
}

impl<T> Context<T> for rustix::io::Result<T> {
    fn context(self, path: &Path, operation: Operation) -> Result<T, DurableError> {
        self.map_err(|errno| DurableError::new(path, operation, errno.into()))
    }
}
