//! Makes the index of a log anew from its entries.

use std::path::Path;
use std::sync::Arc;

use anchorlog_client::durable::DirectoryLock;
use anchorlog_proto::note::VerifierKey;

use crate::error::Error;
use crate::feeder;
use crate::index::{self, Engine};
use crate::log::index_directory;
use crate::recovery::{self, LOCK};
use crate::storage::Objects;
use crate::storage::wal::WalOptions;

/// Deletes the index of the log of `directory` and feeds a new one; `progress` is told the number of
/// indexed entries and the size of the log. Answers with the number of entries.
///
/// The log must not be running.
pub fn rebuild_index(
    directory: &Path,
    keys: &[VerifierKey],
    engine: Engine,
    memory: u64,
    mut progress: impl FnMut(u64, u64),
) -> Result<u64, Error> {
    let _lock = DirectoryLock::acquire(&directory.join(LOCK))?;
    let recovered = recovery::recover(directory, keys, WalOptions::default())?;
    let objects: Arc<dyn Objects> = recovered.objects;
    let size = objects.size();
    let directory = index_directory(directory);
    index::delete(&directory)?;
    let index = index::open(engine, &index::Options { directory, memory })?;
    feeder::feed(&*index, &*objects, size, |indexed| progress(indexed, size.get()))?;
    index.sync()?;
    Ok(index.indexed_size())
}
