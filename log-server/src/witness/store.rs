//! What a witness keeps on disk, and how it is found again.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchorlog_client::durable::{self, DirectoryLock, DurableError};
use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::{Checkpoint, Origin, SignedCheckpoint};
use anchorlog_proto::cosignature;
use anchorlog_proto::note::{MAX_NOTE_BYTES, VerifierKey};

use super::WitnessError;

/// The newest checkpoint of a log that was cosigned.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Kept {
    /// What the log says.
    pub(super) checkpoint: Checkpoint,
    /// The latest second at which it was cosigned.
    pub(super) unix_seconds: u64,
    /// The note: the log's lines and the cosignatures.
    pub(super) note: Arc<[u8]>,
}

impl Kept {
    pub(super) fn new(signed: &SignedCheckpoint, unix_seconds: u64) -> Self {
        let checkpoint = signed.checkpoint().clone();
        Self { checkpoint, unix_seconds, note: signed.to_bytes().into() }
    }

    /// Whether two trees can't both be prefixes of one, which their heads alone show.
    pub(super) fn contradicts(&self, other: &Checkpoint) -> bool {
        let ours = &self.checkpoint;
        ours.origin == other.origin && ours.size == other.size && ours.root != other.root
    }
}

/// Where what was decided is kept.
pub(super) trait Store: Send + Sync {
    /// Makes it the newest checkpoint of its log, durably. `first` says that there is none yet.
    ///
    /// After an error that is no failed sync either the old or the new one is kept, and because nobody has
    /// heard of the new one, each is right.
    fn keep(&self, kept: &Kept, first: bool) -> Result<(), DurableError>;

    /// Keeps the proof that state of this log was lost.
    fn keep_halt(&self, origin: &Origin, note: &[u8]) -> Result<(), DurableError>;
}

/// The directory of a witness.
#[derive(Debug)]
pub(super) struct Disk {
    directory: PathBuf,
}

impl Disk {
    /// Opens the directory, or makes it, and takes its lock. What a crash left half-written is removed.
    pub(super) fn open(directory: &Path) -> Result<(Self, DirectoryLock), WitnessError> {
        if directory.join("wal").is_dir() || directory.join("log").is_dir() {
            return Err(WitnessError::HasLog { directory: directory.to_path_buf() });
        }
        durable::create_dir_all(directory)?;
        let lock = DirectoryLock::acquire(&directory.join("LOCK"))?;
        let disk = Self { directory: directory.to_path_buf() };
        for part in [LOGS, ORIGINS, HALTED] {
            durable::create_dir_all(&directory.join(part))?;
            durable::remove_stale_temporaries(&directory.join(part))?;
        }
        Ok((disk, lock))
    }

    /// Reads every log's newest checkpoint, each verified to be cosigned by `own`.
    pub(super) fn read_all(
        &self,
        own: &VerifierKey,
    ) -> Result<HashMap<Digest, Kept>, WitnessError> {
        let mut all = HashMap::new();
        for id in self.ids(LOGS)? {
            durable::remove_stale_temporaries(&self.part(LOGS, &id))?;
            let path = self.checkpoint(&id);
            if let Some(bytes) = read(&path)? {
                all.insert(id, parse(&path, &id, &bytes, own)?);
            }
        }
        let marked = self.ids(ORIGINS)?;
        for id in &marked {
            if !all.contains_key(id) {
                let name = read(&self.part(ORIGINS, id))?.unwrap_or_default();
                let origin = String::from_utf8_lossy(&name).trim_end().escape_debug().to_string();
                return Err(WitnessError::StateMissing { path: self.checkpoint(id), origin });
            }
        }
        for (id, kept) in all.iter().filter(|(id, _)| !marked.contains(id)) {
            // Killed between the two, before anybody heard of it.
            self.mark(id, &kept.checkpoint.origin)?;
        }
        Ok(all)
    }

    /// The logs of which state was lost.
    pub(super) fn halted(&self) -> Result<HashSet<Digest>, WitnessError> {
        self.ids(HALTED)
    }

    fn mark(&self, id: &Digest, origin: &Origin) -> Result<(), DurableError> {
        durable::write_replace(&self.part(ORIGINS, id), format!("{origin}\n").as_bytes())
    }

    fn ids(&self, part: &str) -> Result<HashSet<Digest>, WitnessError> {
        let directory = self.directory.join(part);
        let failed = |source| WitnessError::Read { path: directory.clone(), source };
        let mut ids = HashSet::new();
        for entry in fs::read_dir(&directory).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            // What isn't called so is not ours.
            if let Some(id) = name.to_str().and_then(|name| Digest::from_hex(name).ok()) {
                ids.insert(id);
            }
        }
        Ok(ids)
    }

    fn part(&self, part: &str, id: &Digest) -> PathBuf {
        self.directory.join(part).join(id.to_hex())
    }

    fn checkpoint(&self, id: &Digest) -> PathBuf {
        self.part(LOGS, id).join(CHECKPOINT)
    }
}

impl Store for Disk {
    fn keep(&self, kept: &Kept, first: bool) -> Result<(), DurableError> {
        let origin = &kept.checkpoint.origin;
        let id = Digest::of(origin.as_str().as_bytes());
        if first {
            durable::create_dir_all(&self.part(LOGS, &id))?;
        }
        durable::write_replace(&self.checkpoint(&id), &kept.note)?;
        // Behind it: a mark without a checkpoint must mean that one was lost.
        if first { self.mark(&id, origin) } else { Ok(()) }
    }

    fn keep_halt(&self, origin: &Origin, note: &[u8]) -> Result<(), DurableError> {
        let id = Digest::of(origin.as_str().as_bytes());
        durable::write_replace(&self.part(HALTED, &id), note)
    }
}

fn parse(path: &Path, id: &Digest, bytes: &[u8], own: &VerifierKey) -> Result<Kept, WitnessError> {
    let signed = SignedCheckpoint::parse(bytes)
        .map_err(|source| WitnessError::State { path: path.to_path_buf(), source })?;
    let origin = &signed.checkpoint().origin;
    if Digest::of(origin.as_str().as_bytes()) != *id {
        return Err(WitnessError::WrongLog { path: path.to_path_buf(), origin: origin.clone() });
    }
    // The log's own key may have been changed since; what counts is that it was us who cosigned.
    let note = signed.note();
    let time = |line| cosignature::verify(own, note.text(), line).ok();
    let unix_seconds = note.signatures().iter().filter_map(time).max();
    let unix_seconds =
        unix_seconds.ok_or_else(|| WitnessError::NotOurs { path: path.to_path_buf() })?;
    Ok(Kept::new(&signed, unix_seconds))
}

/// The file's content; none if there is no such file.
fn read(path: &Path) -> Result<Option<Vec<u8>>, WitnessError> {
    let failed = |source| WitnessError::Read { path: path.to_path_buf(), source };
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(failed)?,
    };
    let mut bytes = Vec::new();
    // One more than a note can have: what is longer is refused as too long.
    let most = u64::try_from(MAX_NOTE_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    file.take(most).read_to_end(&mut bytes).map_err(failed)?;
    Ok(Some(bytes))
}

/// The directory with a directory for each log.
const LOGS: &str = "logs";

/// The directory that says which logs were cosigned at all.
const ORIGINS: &str = "origins";

/// The directory with proofs of lost state.
const HALTED: &str = "halted";

/// The file's name below a log's.
const CHECKPOINT: &str = "checkpoint";
