//! Opening a log: from a directory and keys to the state it goes on from, or stays in.
//!
//! Nothing is signed before everything is known that could speak against it: what is on disk is recovered
//! and held against its signatures, then against what others know ([`crate::rollback`]). Only then the newest
//! checkpoint gets a line by each of the log's present keys, which may be others than it was recorded with.

use std::path::Path;
use std::sync::Arc;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::{Origin, SignedCheckpoint};
use anchorlog_proto::merkle::{self, TreeSize, empty_root};

use super::LogOptions;
use crate::error::Error;
use crate::frozen::Frozen;
use crate::log_keys::LogKeys;
use crate::recovery::{self, Recovered};
use crate::rollback::{self, GuardError, Known, Ours};
use crate::sequencer::found_log;
use crate::snapshot::Snapshot;
use crate::standing::Standing;
use crate::storage::Objects;
use crate::storage::flat::FlatObjects;
use crate::storage::wal::FileJournal;
use crate::tree::StoredTree;

/// A log that may be started.
pub(super) struct Opened {
    /// Its keys, as they count from now on.
    pub(super) keys: LogKeys,
    pub(super) standing: Standing,
    pub(super) journal: FileJournal,
    pub(super) objects: Arc<FlatObjects>,
    /// What is published first.
    pub(super) snapshot: Snapshot,
}

/// Opens the log of `directory`, which is locked, or founds it there.
pub(super) fn open(
    directory: &Path,
    keys: LogKeys,
    options: &LogOptions,
    guard: impl FnOnce(&LogKeys, Option<&SignedCheckpoint>) -> Result<Vec<Known>, GuardError>,
) -> Result<Opened, Error> {
    let frozen = Frozen::read(directory).map_err(Box::new)?;
    let standing = match &frozen {
        Some(_) => Standing::Frozen,
        None if options.read_only => Standing::ReadOnly,
        None => Standing::Open,
    };
    if standing == Standing::Open && !keys.can_sign() {
        return Err(Error::NoSigner);
    }
    let keys = match &frozen {
        // A key that never was this log's opens it no more than before it ended.
        Some(frozen) => match frozen.checkpoint().verify_any(&keys.known()) {
            Ok(_) => frozen.keys().clone(),
            Err(source) => return Err(Error::ForeignLog { source }),
        },
        None if standing == Standing::ReadOnly => keys.without_signers(),
        None => keys,
    };
    let Recovered { journal, objects, snapshot } =
        recovery::recover(directory, &keys.known(), options.wal)?;
    let readable: Arc<dyn Objects> = Arc::<FlatObjects>::clone(&objects);
    let tree = StoredTree::new(readable);
    if standing == Standing::Open {
        let size = snapshot.as_ref().map_or(TreeSize::ZERO, Snapshot::size);
        let checkpoint = snapshot.as_ref().map(Snapshot::checkpoint);
        let known = guard(&keys, checkpoint).map_err(Box::new)?;
        let root = |size| root(&tree, snapshot.as_ref(), size);
        let ours = Ours { directory, checkpoint, size };
        rollback::compare(&ours, &known, root)?;
    }
    let snapshot = match (snapshot, frozen) {
        (Some(snapshot), Some(frozen)) if frozen.is_of(&snapshot) => {
            Snapshot::new(frozen.checkpoint().clone(), snapshot.edge().clone())
        }
        (snapshot, Some(_)) => {
            let size = snapshot.map_or(0, |snapshot| snapshot.size().get());
            return Err(Error::FrozenDiffers { size });
        }
        (Some(snapshot), None) if standing == Standing::Open => {
            let signed = keys.sign(snapshot.checkpoint().checkpoint())?;
            Snapshot::new(signed, snapshot.edge().clone())
        }
        (Some(snapshot), None) => snapshot,
        (None, None) if standing == Standing::Open => {
            let origin = keys.primary().map(|key| Origin::from(key.name()));
            found_log(&origin.ok_or(Error::NoSigner)?, &keys, &journal)?
        }
        (None, None) => return Err(Error::JournalMissing),
    };
    Ok(Opened { keys, standing, journal, objects, snapshot })
}

/// Our root of a size that is not larger than the log.
fn root(tree: &StoredTree, snapshot: Option<&Snapshot>, size: TreeSize) -> Result<Digest, Error> {
    match snapshot {
        Some(snapshot) => Ok(merkle::root(&tree.at(snapshot.edge()), size)?),
        None => Ok(empty_root()),
    }
}
