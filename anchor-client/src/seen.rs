//! The largest checkpoint seen under each log key, kept on disk.
//!
//! This is the client's memory of a log, and what makes a log's promise to only grow more than a promise:
//! [`crate::log::Log`] holds every later answer against it. One file per key, replaced only by a checkpoint
//! that was proved to extend it. A log that changes its key has a file for each: whoever knows both keys holds
//! it against both.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::{CheckpointError, SignedCheckpoint, VerifiedCheckpoint};
use anchorlog_proto::note::VerifierKey;

use crate::durable::{self, DurableError, LockError};
use crate::state::{StateDir, lock_patiently, read_file};

/// The store of checkpoints seen.
#[derive(Clone, Debug)]
pub struct SeenStore {
    state: StateDir,
}

/// What became of a wish to remember a checkpoint.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Remembered {
    /// It is durable.
    Stored,
    /// Somebody else remembered another one since it was compared: compare with this one.
    Changed(Box<VerifiedCheckpoint>),
}

impl SeenStore {
    /// The store within a state directory.
    #[must_use]
    pub fn new(state: StateDir) -> Self {
        Self { state }
    }

    /// The largest checkpoint seen under `key`; its signature is verified anew.
    pub fn last(&self, key: &VerifierKey) -> Result<Option<VerifiedCheckpoint>, SeenError> {
        let path = self.state.path(Self::relative(key)).join(CHECKPOINT);
        let Some(bytes) = read_file(&path, MAX_NOTE_BYTES)? else { return Ok(None) };
        SignedCheckpoint::parse(&bytes)
            .and_then(|signed| signed.verify(key))
            .map(Some)
            .map_err(|source| SeenError::Damaged { path, source })
    }

    /// Remembers `newer`, provided that the one remembered until now is still `compared_with`. Durable on
    /// return.
    pub fn remember(
        &self,
        newer: &VerifiedCheckpoint,
        compared_with: Option<&VerifiedCheckpoint>,
    ) -> Result<Remembered, SeenError> {
        let directory = self.state.directory(Self::relative(newer.log_key()))?;
        let _lock = lock_patiently(&directory.join("LOCK"), LOCK_PATIENCE)?;
        match self.last(newer.log_key())? {
            Some(now) if !same_tree(Some(&now), compared_with) => {
                return Ok(Remembered::Changed(Box::new(now)));
            }
            _ => {}
        }
        durable::write_replace(&directory.join(CHECKPOINT), &newer.signed().to_bytes())?;
        Ok(Remembered::Stored)
    }

    fn relative(key: &VerifierKey) -> PathBuf {
        Path::new("seen").join(Digest::of(key.to_string().as_bytes()).to_hex())
    }
}

fn same_tree(one: Option<&VerifiedCheckpoint>, other: Option<&VerifiedCheckpoint>) -> bool {
    one.map(VerifiedCheckpoint::checkpoint) == other.map(VerifiedCheckpoint::checkpoint)
}

/// Why the memory can't be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SeenError {
    /// What is kept isn't a checkpoint under its key any more.
    #[error(
        "{}: the remembered checkpoint is damaged ({source}); without it a log could show another history \
         unnoticed, so look into it before you move the file away",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: CheckpointError,
    },
    /// The operating system says no.
    #[error(transparent)]
    File(#[from] DurableError),
    /// Another process keeps the lock for longer than replacing a file takes.
    #[error(transparent)]
    Lock(#[from] LockError),
}

const CHECKPOINT: &str = "checkpoint";
const LOCK_PATIENCE: Duration = Duration::from_secs(10);
const MAX_NOTE_BYTES: u64 = 256 * 1024;

#[cfg(test)]
mod tests {
    use anchorlog_proto::checkpoint::Checkpoint;
    use anchorlog_proto::merkle::TreeSize;
    use anchorlog_proto::note::{KeyName, NoteSigner};

    use super::*;

    fn signer(seed: u8) -> NoteSigner {
        NoteSigner::from_seed(KeyName::new("log.example").unwrap(), [seed; 32])
    }

    fn checkpoint(signer: &NoteSigner, size: u64) -> VerifiedCheckpoint {
        let checkpoint = Checkpoint::new(
            "log.example".parse().unwrap(),
            TreeSize::new(size).unwrap(),
            Digest::of(&size.to_be_bytes()),
        );
        let note = SignedCheckpoint::sign(&checkpoint, signer).unwrap();
        note.verify(signer.verifier_key()).unwrap()
    }

    #[test]
    fn each_key_has_its_own_memory() {
        let root = tempfile::tempdir().unwrap();
        let store = SeenStore::new(StateDir::at(root.path()));
        let (one, other) = (signer(1), signer(2));
        assert_eq!(store.last(one.verifier_key()).unwrap(), None);
        let five = checkpoint(&one, 5);
        assert_eq!(store.remember(&five, None).unwrap(), Remembered::Stored);
        assert_eq!(store.last(one.verifier_key()).unwrap(), Some(five.clone()));
        assert_eq!(store.last(other.verifier_key()).unwrap(), None);

        let seven = checkpoint(&one, 7);
        assert_eq!(store.remember(&seven, Some(&five)).unwrap(), Remembered::Stored);
        assert_eq!(store.last(one.verifier_key()).unwrap(), Some(seven));
    }

    #[test]
    fn a_memory_that_changed_in_between_is_compared_again() {
        let root = tempfile::tempdir().unwrap();
        let store = SeenStore::new(StateDir::at(root.path()));
        let signer = signer(1);
        let [five, six, seven] = [5, 6, 7].map(|size| checkpoint(&signer, size));
        store.remember(&five, None).unwrap();
        store.remember(&six, Some(&five)).unwrap();
        let changed = Remembered::Changed(Box::new(six.clone()));
        assert_eq!(store.remember(&seven, Some(&five)).unwrap(), changed);
        assert_eq!(store.remember(&seven, None).unwrap(), changed);
        assert_eq!(store.last(signer.verifier_key()).unwrap(), Some(six));
    }

    #[test]
    fn a_damaged_memory_is_an_error_and_never_overwritten() {
        let root = tempfile::tempdir().unwrap();
        let store = SeenStore::new(StateDir::at(root.path()));
        let signer = signer(1);
        let five = checkpoint(&signer, 5);
        store.remember(&five, None).unwrap();
        let path = root.path().join(SeenStore::relative(signer.verifier_key())).join(CHECKPOINT);
        let mut note = read_file(&path, 10_000).unwrap().unwrap();
        let place = note.iter().position(|byte| *byte == b'5').unwrap();
        note[place] = b'6';
        durable::write_replace(&path, &note).unwrap();
        let error = store.last(signer.verifier_key()).unwrap_err();
        assert!(matches!(error, SeenError::Damaged { .. }), "{error}");
        assert!(store.remember(&checkpoint(&signer, 9), Some(&five)).is_err());
        assert_eq!(read_file(&path, 10_000).unwrap().unwrap(), note);
    }
}
