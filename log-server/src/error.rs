//! What can stop the log or keep it from starting.

use anchorlog_client::durable::{DurableError, LockError};
use anchorlog_proto::checkpoint::CheckpointError;
use anchorlog_proto::merkle::{ProofError, SizeError};
use anchorlog_proto::statement::StatementError;
use anchorlog_proto::tlog_proof::TlogProofError;

use crate::finder::FindError;
use crate::frozen::FrozenError;
use crate::index::IndexError;
use crate::rollback::GuardError;
use crate::storage::StorageError;

/// Any failure of the server that is not the answer to one request.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A batch is in the journal but could not be stored. Only a restart can tell what is on disk.
    #[error("a committed batch could not be stored: {source}")]
    AfterCommit {
        /// What failed.
        source: StorageError,
    },
    /// The log ends before a checkpoint of it that others have countersigned.
    #[error(
        "the log holds {size} entries, but a checkpoint of {stored} was countersigned; restore it from a \
         newer backup"
    )]
    BehindCheckpoint {
        /// Entries of the newest countersigned checkpoint.
        stored: u64,
        /// Entries that the log holds.
        size: u64,
    },
    /// The checkpoint on disk is not in the form of one.
    #[error("a stored checkpoint: {0}")]
    Checkpoint(#[from] CheckpointError),
    /// The log's directory was written under another name or key.
    #[error(
        "the log in this directory is not signed by a configured key: {source}; a key that it was signed \
         with before belongs into log.retired_keys"
    )]
    ForeignLog {
        /// What the signature check said.
        source: CheckpointError,
    },
    /// Something on disk besides the log's own storage.
    #[error(transparent)]
    Durable(#[from] DurableError),
    /// The file that says that the log has ended.
    #[error(transparent)]
    Frozen(#[from] Box<FrozenError>),
    /// The log is frozen, and this is not the tree it ended with.
    #[error(
        "the log is frozen, but its {size} entries are not those of its last checkpoint; restore it from a \
         backup that was made after it was frozen"
    )]
    FrozenDiffers {
        /// Entries that the log holds.
        size: u64,
    },
    /// Somebody knows of more, or of something else, than the log holds; or too few could be asked.
    #[error(transparent)]
    Guard(#[from] Box<GuardError>),
    /// A look-up.
    #[error(transparent)]
    Find(#[from] FindError),
    /// The index.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The journal ends before entries that are stored, and were therefore promised.
    #[error(
        "the write-ahead log is damaged at its end: it holds {journal} entries, but {stored} were \
         committed; restore it from a backup"
    )]
    JournalBehind {
        /// Entries the journal holds.
        journal: u64,
        /// Entries that were committed, at least.
        stored: u64,
    },
    /// The write-ahead log is gone while the log has entries.
    #[error("the write-ahead log is missing, but the log has entries; restore it from a backup")]
    JournalMissing,
    /// Another process has the directory.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// A log that is to sign, and no private key.
    #[error("the log's private key is needed: it is not frozen")]
    NoSigner,
    /// A thread of the log panicked: a defect of the program.
    #[error("a thread of the log panicked")]
    Panicked,
    /// A proof about sizes or indexes that do not exist.
    #[error(transparent)]
    Proof(#[from] ProofError),
    /// The system gave no random bytes.
    #[error("the system's source of random numbers failed")]
    Randomness,
    /// Stored entries do not have the root that was signed for them.
    #[error("the stored entries up to {size} do not have the root that was signed for them")]
    RootMismatch {
        /// Size of the log at which it shows.
        size: u64,
    },
    /// The operating system gave no thread.
    #[error("a thread could not be started: {0}")]
    Thread(std::io::Error),
    /// A tree size over the limit.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// A stored entry is not a statement.
    #[error("stored entry {index}: {source}")]
    Statement {
        /// Index of the entry.
        index: u64,
        /// What is wrong with it.
        source: StatementError,
    },
    /// The journal or the objects.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A proof in the form that receipts carry.
    #[error(transparent)]
    TlogProof(#[from] TlogProofError),
}

impl Error {
    /// Whether the disk is full, and nothing was changed because of it.
    #[must_use]
    pub fn is_out_of_space(&self) -> bool {
        match self {
            Self::Durable(error) => error.is_out_of_space(),
            Self::Find(error) => error.is_out_of_space(),
            Self::Index(error) => error.is_no_space(),
            Self::Storage(error) => error.is_out_of_space(),
            _ => false,
        }
    }
}
