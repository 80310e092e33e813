//! Writes a log as the file tree of C2SP tlog-tiles, for any static file server.
//!
//! Tiles and bundles first, the checkpoint last: whoever reads the directory meanwhile never sees a
//! checkpoint that promises what is not there. Full tiles that are there already are left as they are, so
//! that exporting again costs what was added.

use std::path::Path;

use anchorlog_client::durable::{self, DirectoryLock};
use anchorlog_proto::Digest;
use anchorlog_proto::note::VerifierKey;
use anchorlog_proto::tile::{EntriesId, LevelShape, TileHashes};

use crate::error::Error;
use crate::frozen::Frozen;
use crate::log::tiles;
use crate::recovery::{self, LOCK};
use crate::storage::Objects;
use crate::storage::wal::WalOptions;

/// What an export wrote.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Exported {
    /// Size of the exported log.
    pub size: u64,
    /// Files written.
    pub written: u64,
    /// Full tiles and bundles that were there already.
    pub kept: u64,
}

/// Exports the log of `directory`, whose present and former keys are `keys`, below `to`. The log must not be
/// running.
pub fn export(directory: &Path, keys: &[VerifierKey], to: &Path) -> Result<Exported, Error> {
    let _lock = DirectoryLock::acquire(&directory.join(LOCK))?;
    let recovered = recovery::recover(directory, keys, WalOptions::default())?;
    let Some(snapshot) = recovered.snapshot else { return Err(Error::JournalMissing) };
    let objects = recovered.objects;
    let mut done = Exported { size: snapshot.size().get(), ..Exported::default() };
    durable::create_dir_all(to)?;

    for id in tiles(snapshot.size()) {
        write_file(to, &id.path(), id.width.is_full(), &mut done, || {
            let mut hashes = [Digest::from_bytes([0; 32]); 256];
            let (hashes, _) = hashes.split_at_mut(usize::from(id.width.get()));
            objects.read_hashes(id.level, id.first_hash(), hashes)?;
            Ok(hashes.iter().flat_map(|hash| *hash.as_bytes()).collect())
        })?;
    }
    for (index, width) in LevelShape::of(0, snapshot.size()).tiles() {
        let id = EntriesId { index, width };
        write_file(to, &id.path(), width.is_full(), &mut done, || {
            Ok(objects.read_entries(id.first_entry(), width.get())?)
        })?;
    }
    // The last checkpoint of a log that has ended was signed anew.
    let frozen = Frozen::read(directory).map_err(Box::new)?;
    if frozen.as_ref().is_some_and(|frozen| !frozen.is_of(&snapshot)) {
        return Err(Error::FrozenDiffers { size: snapshot.size().get() });
    }
    let last = frozen.map(|frozen| frozen.checkpoint().to_bytes());
    let note = last.as_deref().unwrap_or(snapshot.note());
    durable::write_replace(&to.join("checkpoint"), note)?;
    done.written += 1;
    Ok(done)
}

fn write_file(
    to: &Path,
    path: &str,
    full: bool,
    done: &mut Exported,
    bytes: impl FnOnce() -> Result<Vec<u8>, Error>,
) -> Result<(), Error> {
    let path = to.join(path);
    if full && path.exists() {
        done.kept += 1;
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        durable::create_dir_all(parent)?;
    }
    durable::write_replace(&path, &bytes()?)?;
    done.written += 1;
    Ok(())
}
