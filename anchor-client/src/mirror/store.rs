//! The directory of a copy.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use anchorlog_proto::checkpoint::{SignedCheckpoint, VerifiedCheckpoint};
use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::note::VerifierKey;
use anchorlog_proto::tile::{EntriesId, LevelShape, TileId};

use super::error::MirrorError;
use super::writer::File;
use crate::durable::{self, DirectoryLock};
use crate::follow::{MAX_CHECKPOINT_BYTES, Position, verify_any};
use crate::state::read_file;

/// The directory, held for as long as this lives.
#[derive(Debug)]
pub(super) struct Store {
    root: PathBuf,
    _lock: DirectoryLock,
}

/// What became of files.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) written: u64,
    pub(super) kept: u64,
}

impl Store {
    pub(super) fn open(root: &Path) -> Result<Self, MirrorError> {
        let state = root.join(STATE);
        durable::create_dir_all(&state)?;
        let lock = DirectoryLock::acquire(&state.join("LOCK"))?;
        Ok(Self { root: root.to_owned(), _lock: lock })
    }

    pub(super) fn state_directory(&self) -> PathBuf {
        self.root.join(STATE)
    }

    /// How far the copy is. The kept position and the checkpoint that is served are both verified; a
    /// checkpoint without a position means that every file is to be compared again.
    pub(super) fn position(&self, keys: &[VerifierKey]) -> Result<Option<Position>, MirrorError> {
        let kept = Position::load(&self.position_path(), keys)?;
        let served = self.checkpoint(keys)?;
        Ok(match (kept, served) {
            (kept, None) => kept,
            (None, Some(served)) => Position::new(served, 0),
            (Some(kept), Some(served)) => {
                // Published, and killed before the position was kept: the larger one is the newer one.
                let newer = served.checkpoint().size > kept.checkpoint().checkpoint().size;
                if newer { Position::new(served, kept.next()) } else { Some(kept) }
            }
        })
    }

    /// The size that is served now; the keys that verified the position verify it.
    pub(super) fn published(&self, position: Option<&Position>) -> TreeSize {
        let Some(position) = position else { return TreeSize::ZERO };
        let keys = [position.checkpoint().log_key().clone()];
        // After a change of keys the older note may be by another one: then nothing is pruned.
        let served = self.checkpoint(&keys).ok().flatten();
        served.map_or(TreeSize::ZERO, |served| served.checkpoint().size)
    }

    /// Writes files that are never replaced, directory by directory. One that is there must have the same
    /// bytes.
    pub(super) fn write(&self, files: Vec<File>) -> Result<Counts, MirrorError> {
        let mut counts = Counts::default();
        let mut directories: BTreeMap<PathBuf, Vec<(PathBuf, Vec<u8>)>> = BTreeMap::new();
        for (path, bytes) in files {
            let path = self.root.join(path);
            if self.holds(&path, &bytes)? {
                counts.kept += 1;
                continue;
            }
            counts.written += 1;
            let directory = path.parent().unwrap_or(&self.root).to_owned();
            directories.entry(directory).or_default().push((path, bytes));
        }
        for (directory, files) in &directories {
            durable::create_dir_all(directory)?;
            let named: Vec<(&OsStr, &[u8])> = files
                .iter()
                .filter_map(|(path, bytes)| Some((path.file_name()?, bytes.as_slice())))
                .collect();
            durable::write_replace_in(directory, &named)?;
        }
        Ok(counts)
    }

    /// Whether the file is there; with other bytes it is an error.
    #[expect(clippy::unused_self, reason = "a question to the store")]
    fn holds(&self, path: &Path, bytes: &[u8]) -> Result<bool, MirrorError> {
        let limit = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        match read_file(path, limit) {
            Ok(None) => Ok(false),
            Ok(Some(found)) if found == bytes => Ok(true),
            Err(error) if error.source.kind() != io::ErrorKind::FileTooLarge => Err(error.into()),
            Ok(Some(_)) | Err(_) => Err(MirrorError::Differs { path: path.to_owned() }),
        }
    }

    /// Serves a checkpoint. Everything below it must have been written.
    pub(super) fn publish(&self, checkpoint: &VerifiedCheckpoint) -> Result<(), MirrorError> {
        let (path, bytes) = (self.root.join(CHECKPOINT), checkpoint.signed().to_bytes());
        let limit = u64::try_from(MAX_CHECKPOINT_BYTES).unwrap_or(u64::MAX);
        if read_file(&path, limit)?.as_deref() != Some(&*bytes) {
            durable::write_replace(&path, &bytes)?;
        }
        Ok(())
    }

    pub(super) fn save(&self, position: Option<&Position>) -> Result<(), MirrorError> {
        let Some(position) = position else { return Ok(()) };
        let path = self.position_path();
        if read_file(&path, u64::MAX - 1)?.as_deref() != Some(&*position.to_bytes()) {
            position.save(&path)?;
        }
        Ok(())
    }

    /// Removes the partial files of the size before whose full ones are there now: C2SP tlog-tiles lets
    /// them go, and a copy that follows for years would be full of them.
    pub(super) fn prune(&self, before: TreeSize, now: TreeSize) -> Result<(), MirrorError> {
        for level in 0..8 {
            let (old, new) = (LevelShape::of(level, before), LevelShape::of(level, now));
            let Some(width) = old.partial.filter(|_| new.full > old.full) else { continue };
            self.remove_partials(&TileId { level, index: old.full, width }.path())?;
            if level == 0 {
                self.remove_partials(&EntriesId { index: old.full, width }.path())?;
            }
        }
        Ok(())
    }

    /// Removes the directory `….p` that a partial file lies in.
    fn remove_partials(&self, path: &str) -> Result<(), MirrorError> {
        let path = self.root.join(path);
        let Some(directory) = path.parent() else { return Ok(()) };
        match durable::remove_dir_all(directory) {
            Err(error) if error.source.kind() != io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    fn checkpoint(&self, keys: &[VerifierKey]) -> Result<Option<VerifiedCheckpoint>, MirrorError> {
        let path = self.root.join(CHECKPOINT);
        let limit = u64::try_from(MAX_CHECKPOINT_BYTES).unwrap_or(u64::MAX);
        let Some(bytes) = read_file(&path, limit)? else { return Ok(None) };
        SignedCheckpoint::parse(&bytes)
            .and_then(|signed| verify_any(&signed, keys))
            .map_err(|source| MirrorError::Checkpoint { path, source })
    }

    fn position_path(&self) -> PathBuf {
        self.root.join(STATE).join("position.json")
    }
}

const STATE: &str = ".mirror";
const CHECKPOINT: &str = "checkpoint";
