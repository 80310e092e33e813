//! How far a log has been read: durable, and able to tell that it is damaged.

use std::path::{Path, PathBuf};

use anchorlog_proto::checkpoint::{CheckpointError, SignedCheckpoint, VerifiedCheckpoint};
use anchorlog_proto::note::VerifierKey;
use serde::{Deserialize, Serialize};

use crate::durable::{self, DurableError};
use crate::state::read_file;

/// How far a log has been read.
///
/// The checkpoint is the newest one whose tree is proved to extend all before; the entries below `next`
/// have been handed out. There is nothing else to keep: whatever comes later is verified against the
/// signed root.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Position {
    checkpoint: VerifiedCheckpoint,
    next: u64,
}

impl Position {
    /// The position in the tree of `checkpoint` with `next` entries read; `None` if the tree has fewer.
    #[must_use]
    pub fn new(checkpoint: VerifiedCheckpoint, next: u64) -> Option<Self> {
        (next <= checkpoint.checkpoint().size.get()).then_some(Self { checkpoint, next })
    }

    /// The newest checkpoint known.
    #[must_use]
    pub const fn checkpoint(&self) -> &VerifiedCheckpoint {
        &self.checkpoint
    }

    /// Index of the next entry to read.
    #[must_use]
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// Whether every entry of the checkpoint's tree has been read.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.next == self.checkpoint.checkpoint().size.get()
    }

    /// Reads a position from a file; `None` if there is no file. Its checkpoint must be signed by one of
    /// `keys`.
    pub fn load(path: &Path, keys: &[VerifierKey]) -> Result<Option<Self>, PositionError> {
        let Some(bytes) = read_file(path, MAX_POSITION_BYTES)? else { return Ok(None) };
        Self::parse(&bytes, keys)
            .map(Some)
            .map_err(|fault| PositionError::Damaged { path: path.to_owned(), fault })
    }

    /// Replaces the file at `path`. Durable on return.
    pub fn save(&self, path: &Path) -> Result<(), DurableError> {
        durable::write_replace(path, &self.to_bytes())
    }

    /// The position as JSON.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let stored = Stored {
            schema: SCHEMA.to_owned(),
            next: self.next,
            // A note is UTF-8 by its form.
            checkpoint: String::from_utf8_lossy(&self.checkpoint.signed().to_bytes()).into_owned(),
        };
        let mut bytes = serde_json::to_vec_pretty(&stored).unwrap_or_default();
        bytes.push(b'\n');
        bytes
    }

    /// Reads what [`Position::to_bytes`] wrote.
    pub fn parse(bytes: &[u8], keys: &[VerifierKey]) -> Result<Self, PositionFault> {
        let stored: Stored = serde_json::from_slice(bytes).map_err(|_| PositionFault::Form)?;
        if stored.schema != SCHEMA {
            return Err(PositionFault::Form);
        }
        let signed = SignedCheckpoint::parse(stored.checkpoint.as_bytes())?;
        let checkpoint = verify_any(&signed, keys)?.ok_or(PositionFault::NoKeys)?;
        Self::new(checkpoint, stored.next).ok_or(PositionFault::Next)
    }
}

/// Verifies a checkpoint under the first of the keys that signed it; `None` without keys.
///
/// The refusal is that of the key whose name is the checkpoint's origin, which has the most to say.
pub(crate) fn verify_any(
    signed: &SignedCheckpoint,
    keys: &[VerifierKey],
) -> Result<Option<VerifiedCheckpoint>, CheckpointError> {
    let mut refusal = None;
    for key in keys {
        match signed.verify(key) {
            Ok(verified) => return Ok(Some(verified)),
            Err(error) if key.name().as_str() == signed.checkpoint().origin.as_str() => {
                refusal = Some(error);
            }
            Err(error) => {
                refusal.get_or_insert(error);
            }
        }
    }
    refusal.map_or(Ok(None), Err)
}

/// Why a position can't be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PositionError {
    /// What is kept isn't a position under these keys.
    #[error(
        "{}: the kept position can't be used ({fault}); without it a log could show another history \
         unnoticed, so look into it before you move the file away",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: PositionFault,
    },
    /// The operating system says no.
    #[error(transparent)]
    File(#[from] DurableError),
}

/// What is wrong with a kept position.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PositionFault {
    /// The checkpoint isn't one, or isn't signed by a trusted key.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// Not the JSON that is written here.
    #[error("it is not a position")]
    Form,
    /// More entries read than the tree has.
    #[error("it is beyond the tree's size")]
    Next,
    /// No key to verify it with.
    #[error("no key is given")]
    NoKeys,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    schema: String,
    next: u64,
    checkpoint: String,
}

const SCHEMA: &str = "anchorlog.follow-position/1";

/// A checkpoint with its lines, each byte of it at most six in JSON.
const MAX_POSITION_BYTES: u64 = 2 * 1024 * 1024;
