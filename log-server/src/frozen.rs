//! A frozen log: one that has ended, and is served for ever.
//!
//! What it is: one file, `FROZEN` in the data directory, that holds the log's last checkpoint with a line by
//! each of its keys, and the keys themselves. It appears whole or not at all, and it is the moment of truth:
//! before it the log goes on, after it nothing is ever added. Whoever opens the directory finds everything in
//! it that readers need, so that the private keys can be destroyed.
//!
//! What it isn't: a proof to others. That a log has ended shows by its silence, and by what its operator
//! publishes; a later checkpoint under its keys would be evidence against whoever kept them.
//!
//! ```json
//! {"checkpoint":"<signed note>","retired":["<vkey>",…],"schema":"anchorlog.frozen/1","vkeys":["<vkey>",…]}
//! ```

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use anchorlog_client::durable::{self, DurableError, MODE_SHARED};
use anchorlog_proto::checkpoint::{CheckpointError, SignedCheckpoint};
use anchorlog_proto::json::{self, Fields, JsonError, Object, ReadLimits, Value};
use anchorlog_proto::note::VerifierKey;

use crate::log_keys::{LogKeys, LogKeysError};
use crate::snapshot::Snapshot;

/// The file's name in the data directory.
pub const FILE: &str = "FROZEN";

/// The schema of its content.
const SCHEMA: &str = "anchorlog.frozen/1";

/// Bytes of the longest file: all keys of the longest name, and the longest note.
const MAX_BYTES: usize = 128 << 10;

/// How a log ended.
#[derive(Clone, Debug)]
pub struct Frozen {
    keys: LogKeys,
    checkpoint: SignedCheckpoint,
}

/// Why the file can't be relied on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrozenError {
    /// Its checkpoint isn't signed by its keys, or is none.
    #[error("{}: its checkpoint: {source}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: CheckpointError,
    },
    /// It isn't in its form.
    #[error("{}: {source}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: JsonError,
    },
    /// Its keys aren't those of a log.
    #[error("{}: {source}", path.display())]
    Keys {
        /// The file.
        path: PathBuf,
        /// What is wrong with them.
        source: LogKeysError,
    },
    /// One of its keys can't be read.
    #[error("{}: {text:?} is no verifier key", path.display())]
    Key {
        /// The file.
        path: PathBuf,
        /// What stands there.
        text: String,
    },
    /// It can't be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// It is of another version.
    #[error("{}: its schema is not {SCHEMA}", path.display())]
    Schema {
        /// The file.
        path: PathBuf,
    },
}

impl Frozen {
    /// Ends the log of `keys` with its last checkpoint. Nothing is written yet.
    #[must_use]
    pub fn new(keys: &LogKeys, checkpoint: SignedCheckpoint) -> Self {
        Self { keys: keys.clone().without_signers(), checkpoint }
    }

    /// Reads the file of the data directory `data`. None: the log isn't frozen.
    pub fn read(data: &Path) -> Result<Option<Self>, FrozenError> {
        let path = data.join(FILE);
        let mut bytes = Vec::new();
        let failed = |source| FrozenError::Read { path: path.clone(), source };
        match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => {
                let most = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX);
                file.map_err(failed)?.take(most).read_to_end(&mut bytes).map_err(failed)?;
            }
        }
        Self::parse(&path, &bytes).map(Some)
    }

    /// Makes it durable that the log of the data directory `data` has ended. What is written there once stays.
    pub fn write(&self, data: &Path) -> Result<(), DurableError> {
        durable::write_new(&data.join(FILE), &self.to_bytes(), MODE_SHARED)
    }

    /// The keys, their public halves alone.
    #[must_use]
    pub const fn keys(&self) -> &LogKeys {
        &self.keys
    }

    /// The last checkpoint, which is signed by all keys that the log had then.
    #[must_use]
    pub const fn checkpoint(&self) -> &SignedCheckpoint {
        &self.checkpoint
    }

    /// Whether `snapshot` is the state that the log ended in.
    pub(crate) fn is_of(&self, snapshot: &Snapshot) -> bool {
        self.checkpoint.checkpoint() == snapshot.checkpoint().checkpoint()
    }

    fn to_bytes(&self) -> Vec<u8> {
        let list = |keys: &[VerifierKey]| {
            Value::from(keys.iter().map(|key| Value::from(key.to_string())).collect::<Vec<_>>())
        };
        let mut bytes = Object::from([
            ("checkpoint", Value::from(self.checkpoint.note().to_text())),
            ("retired", list(self.keys.retired())),
            ("schema", Value::from(SCHEMA)),
            ("vkeys", list(self.keys.current())),
        ])
        .to_canonical();
        bytes.push(b'\n');
        bytes
    }

    fn parse(path: &Path, bytes: &[u8]) -> Result<Self, FrozenError> {
        let path = || path.to_path_buf();
        let form = |source| FrozenError::Form { path: path(), source };
        let limits = ReadLimits::DEFAULT.with_bytes(MAX_BYTES);
        let value = json::parse(bytes.trim_ascii_end(), &limits).map_err(form)?;
        let mut fields = Fields::new(&value, "").map_err(form)?;
        let note = fields.string("checkpoint").map_err(form)?;
        let retired = fields.array("retired").map_err(form)?;
        let schema = fields.string("schema").map_err(form)?;
        let vkeys = fields.array("vkeys").map_err(form)?;
        fields.finish().map_err(form)?;
        if schema != SCHEMA {
            return Err(FrozenError::Schema { path: path() });
        }
        let read = |keys: &[Value<'_>]| {
            let read = |key: &Value<'_>| {
                let text = key.as_str().unwrap_or_default();
                text.parse().map_err(|_| FrozenError::Key { path: path(), text: text.to_owned() })
            };
            keys.iter().map(read).collect::<Result<Vec<_>, _>>()
        };
        let keys = LogKeys::public(read(vkeys)?, read(retired)?)
            .map_err(|source| FrozenError::Keys { path: path(), source })?;
        let wrong = |source| FrozenError::Checkpoint { path: path(), source };
        let checkpoint = SignedCheckpoint::parse(note.as_bytes()).map_err(wrong)?;
        for key in keys.current() {
            checkpoint.verify(key).map_err(wrong)?;
        }
        Ok(Self { keys, checkpoint })
    }
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::disallowed_methods,
        reason = "tests make files and may fail loudly"
    )]

    use std::fs;

    use anchorlog_proto::checkpoint::Checkpoint;
    use anchorlog_proto::merkle::{TreeSize, empty_root};
    use anchorlog_proto::note::{KeyName, NoteSigner};

    use super::*;

    fn signer(seed: u8) -> NoteSigner {
        NoteSigner::from_seed(KeyName::new("log.example").unwrap(), [seed; 32])
    }

    fn frozen() -> Frozen {
        let retired = vec![signer(3).verifier_key().clone()];
        let keys = LogKeys::new(signer(1), vec![signer(2)], retired).unwrap();
        let empty = Checkpoint::new("log.example".parse().unwrap(), TreeSize::ZERO, empty_root());
        Frozen::new(&keys, keys.sign(&empty).unwrap())
    }

    #[test]
    fn what_is_written_is_read_and_stays() {
        let data = tempfile::tempdir().unwrap();
        assert!(Frozen::read(data.path()).unwrap().is_none());
        let frozen = frozen();
        assert!(!frozen.keys().can_sign());
        frozen.write(data.path()).unwrap();
        let read = Frozen::read(data.path()).unwrap().unwrap();
        assert_eq!(read.checkpoint(), frozen.checkpoint());
        assert_eq!(read.keys().known(), frozen.keys().known());
        assert_eq!(read.keys().retired().len(), 1);
        let again = frozen.write(data.path()).unwrap_err();
        assert_eq!(again.source.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_dir(data.path()).unwrap().count(), 1);
    }

    #[test]
    fn every_change_of_it_is_seen() {
        let data = tempfile::tempdir().unwrap();
        let path = data.path().join(FILE);
        let whole = frozen().to_bytes();
        // All bytes but the newline at the end.
        for position in 0..whole.len() - 1 {
            let mut changed = whole.clone();
            changed[position] ^= 1;
            fs::write(&path, &changed).unwrap();
            let read = Frozen::read(data.path());
            // The schema's own name is the only place where a flip could still be a file of ours.
            assert!(read.is_err(), "byte {position}");
            fs::write(&path, &whole[..position]).unwrap();
            assert!(Frozen::read(data.path()).is_err(), "cut at {position}");
        }
        fs::write(&path, &whole).unwrap();
        Frozen::read(data.path()).unwrap().unwrap();
    }

    #[test]
    fn a_checkpoint_has_to_be_signed_by_all_its_keys() {
        let data = tempfile::tempdir().unwrap();
        let keys = LogKeys::new(signer(1), vec![signer(2)], Vec::new()).unwrap();
        let alone = LogKeys::from(signer(1)).sign(frozen().checkpoint().checkpoint()).unwrap();
        Frozen::new(&keys, alone).write(data.path()).unwrap();
        let error = Frozen::read(data.path()).unwrap_err();
        assert!(matches!(error, FrozenError::Checkpoint { .. }), "{error}");
    }
}
