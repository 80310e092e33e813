//! From a directory to a log that can go on: the same steps as for a new batch, driven by the journal.
//!
//! The journal says up to where the stored entries are durable. They are cut back to there, their root is
//! compared with the checkpoint that was signed for that size, and every batch after it is checked,
//! hashed, compared with its own signed checkpoint and stored again.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::merkle::{Extension, Frontier, TreeSize, leaf_hash};
use anchorlog_proto::note::VerifierKey;

use crate::error::Error;
use crate::snapshot::Snapshot;
use crate::storage::flat::FlatObjects;
use crate::storage::record::entries_of;
use crate::storage::wal::{self, Base, FileJournal, WalOptions};
use crate::storage::{Batch, BatchRecord, Defect, Objects, StorageError};
use crate::tree::StoredTree;

/// Folder of the journal below the data directory.
pub(crate) const JOURNAL: &str = "wal";

/// Folder of the stored entries and hashes below the data directory.
pub(crate) const OBJECTS: &str = "log";

/// Folder of the index below the data directory.
pub(crate) const INDEX: &str = "index";

/// Name of the lock file in the data directory.
pub(crate) const LOCK: &str = "LOCK";

/// A log's storage, brought into agreement with itself.
pub(crate) struct Recovered {
    pub(crate) journal: FileJournal,
    pub(crate) objects: Arc<FlatObjects>,
    /// What was last published or could have been; nothing in a new log.
    pub(crate) snapshot: Option<Snapshot>,
}

/// Opens the storage below `directory`, which is created when it is not there. `keys` are all that the log
/// signs with or has signed with.
pub(crate) fn recover(
    directory: &Path,
    keys: &[VerifierKey],
    options: WalOptions,
) -> Result<Recovered, Error> {
    let folder = directory.join(OBJECTS);
    check_journal_covers(directory, &folder)?;
    // Both callbacks of the journal work on the one replay.
    let replay = RefCell::new(Replay { folder, keys, objects: None, snapshot: None });
    let journal = FileJournal::open(
        &directory.join(JOURNAL),
        options,
        |base| replay.borrow_mut().start(base),
        |batch| replay.borrow_mut().batch(batch),
    )?;
    let Replay { objects, snapshot, .. } = replay.into_inner();
    let objects = objects.ok_or(Error::JournalMissing)?;
    // Every root on the way was compared; the newest signature vouches for all of them.
    if let Some(snapshot) = &snapshot {
        check_signature(snapshot, keys)?;
    }
    Ok(Recovered { journal, objects, snapshot })
}

/// Refuses a journal that ends before what is stored: it has lost entries that were promised.
///
/// A damaged last record looks as if a crash had torn it. But what is stored was promised before, so a
/// journal that would end earlier is not one to go on from.
fn check_journal_covers(directory: &Path, folder: &Path) -> Result<(), Error> {
    let stored = FlatObjects::stored_entries(folder)?;
    if stored == 0 {
        return Ok(());
    }
    let journal = directory.join(JOURNAL);
    if !journal.exists() {
        return Err(Error::JournalMissing);
    }
    let scanned = wal::scan(&journal, |_| Ok::<(), Error>(()), |_| Ok(()))?;
    if scanned.checkpoint.is_empty() {
        return Err(Error::JournalMissing);
    }
    if scanned.size.get() < stored {
        return Err(Error::JournalBehind { journal: scanned.size.get(), stored });
    }
    Ok(())
}

struct Replay<'a> {
    folder: PathBuf,
    keys: &'a [VerifierKey],
    objects: Option<Arc<FlatObjects>>,
    snapshot: Option<Snapshot>,
}

impl Replay<'_> {
    /// Cuts the stored entries back to where the journal starts, and checks them against what was signed.
    fn start(&mut self, base: &Base) -> Result<(), Error> {
        let objects = Arc::new(FlatObjects::open(&self.folder, base.size)?);
        let readable: Arc<dyn Objects> = Arc::<FlatObjects>::clone(&objects);
        let tree = StoredTree::new(readable);
        let edge = Frontier::from_reader(&tree, base.size)?;
        if !base.checkpoint.is_empty() {
            let snapshot = snapshot_of(&base.checkpoint, edge)?;
            check_signature(&snapshot, self.keys)?;
            self.snapshot = Some(snapshot);
        } else if base.size != TreeSize::ZERO {
            return Err(Error::RootMismatch { size: base.size.get() });
        }
        self.objects = Some(objects);
        Ok(())
    }

    /// Stores a batch again.
    fn batch(&mut self, batch: &BatchRecord<'_>) -> Result<(), Error> {
        let edge = self.snapshot.as_ref().map_or_else(Frontier::new, |last| last.edge().clone());
        let mut leaf_hashes = Vec::new();
        for entry in entries_of(batch.entries) {
            leaf_hashes.push(leaf_hash(entry.map_err(|defect| damaged(batch, defect))?));
        }
        let extension = Extension::new(edge, leaf_hashes)?;
        self.snapshot = Some(snapshot_of(batch.checkpoint, extension.after().clone())?);
        if let Some(objects) = &self.objects {
            objects.append(&Batch { entries: batch.entries, extension: &extension })?;
        }
        Ok(())
    }
}

/// A snapshot of `edge`, if `note` is a checkpoint of exactly that tree.
fn snapshot_of(note: &[u8], edge: Frontier) -> Result<Snapshot, Error> {
    let signed = SignedCheckpoint::parse(note)?;
    let checkpoint = signed.checkpoint();
    if checkpoint.size != edge.size() || checkpoint.root != edge.root() {
        return Err(Error::RootMismatch { size: checkpoint.size.get() });
    }
    Ok(Snapshot::new(signed, edge))
}

/// Refuses a checkpoint that none of the log's keys, present or former, has signed.
fn check_signature(snapshot: &Snapshot, keys: &[VerifierKey]) -> Result<(), Error> {
    let verdict = snapshot.checkpoint().verify_any(keys);
    verdict.map(|_| ()).map_err(|source| Error::ForeignLog { source })
}

fn damaged(batch: &BatchRecord<'_>, defect: Defect) -> StorageError {
    StorageError::Corrupt {
        file: format!("{JOURNAL}/ batch at index {}", batch.first_index),
        offset: 0,
        defect,
    }
}
