//! Why a witness can't start.

use std::io;
use std::path::PathBuf;

use anchorlog_client::durable::{DurableError, LockError};
use anchorlog_proto::checkpoint::{CheckpointError, Origin};
use anchorlog_proto::note::{KeyError, KeyName};

use super::known::{MAX_KEYS, MAX_LOGS};
use crate::keys::KeyFileError;

/// Why there is no witness.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WitnessError {
    /// Two keys of one log have the same name and ID.
    #[error(
        "two different keys of {origin} have one name and key ID; a signature can't say whose it is"
    )]
    Ambiguous {
        /// The log.
        origin: Origin,
    },
    /// Something on disk.
    #[error(transparent)]
    Durable(#[from] DurableError),
    /// The directory is a log's.
    #[error("{}: a log is kept in this directory; a witness needs one of its own", directory.display())]
    HasLog {
        /// The directory.
        directory: PathBuf,
    },
    /// The key file.
    #[error(transparent)]
    Key(#[from] KeyFileError),
    /// A log has no key, or too many.
    #[error("{origin} has {keys} keys, but a log has 1 to {MAX_KEYS}")]
    Keys {
        /// The log.
        origin: Origin,
        /// Its keys.
        keys: usize,
    },
    /// A log's key is of another type than logs sign with.
    #[error("{origin}: the key {key} is not of the type that logs sign with (0x01)")]
    KeyType {
        /// The log.
        origin: Origin,
        /// The key.
        key: String,
    },
    /// Another process has the directory.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// A log's key can't be read.
    #[error("{text:?} is neither VKEY nor VKEY=ORIGIN: {source}")]
    LogKey {
        /// What was given.
        text: String,
        /// What is wrong with it.
        source: KeyError,
    },
    /// The name can't be a key's.
    #[error("the witness can't be named {name:?}: {source}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        source: KeyError,
    },
    /// What is in the file was not cosigned by this witness.
    #[error("{}: not cosigned by this witness' key; is it the right key, or another witness' directory?", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// A log can't be called that.
    #[error("{origin:?} can't be the origin of a log")]
    Origin {
        /// What was given.
        origin: String,
    },
    /// The key in the form of Go's `note` package has another name.
    #[error("the key is named {actual}, not {expected}")]
    OtherName {
        /// The name in the file.
        actual: KeyName,
        /// The witness' name.
        expected: KeyName,
    },
    /// A log signs with the witness' own key.
    #[error("{origin} has the witness' own key: it would vouch for itself")]
    OwnKey {
        /// The log.
        origin: Origin,
    },
    /// A file can't be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// What was kept of a log is not a checkpoint.
    #[error("{}: {source}; restore it, or start a new witness with a new key", path.display())]
    State {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: CheckpointError,
    },
    /// A log was cosigned, and what was kept of it is gone.
    #[error(
        "{}: missing, though {origin} was cosigned: without it this witness could contradict itself; \
         restore it, or start a new witness with a new key", path.display()
    )]
    StateMissing {
        /// The file.
        path: PathBuf,
        /// The log, as the directory names it.
        origin: String,
    },
    /// More logs than a witness can know.
    #[error("{logs} logs, but a witness can know {MAX_LOGS}")]
    TooManyLogs {
        /// How many there are.
        logs: usize,
    },
    /// An origin that is configured twice.
    #[error("{origin} is configured twice")]
    Twice {
        /// The log.
        origin: Origin,
    },
    /// A file is of another log than its name says.
    #[error("{}: the checkpoint of another log ({origin})", path.display())]
    WrongLog {
        /// The file.
        path: PathBuf,
        /// Whose checkpoint it is.
        origin: Origin,
    },
}
