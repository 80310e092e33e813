//! Which files a store of a size has, how long they are, and where its bundles start: what `fsck` asks.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anchorlog_client::durable::{DurableError, Operation};
use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::tile::hashes_in_level;

use super::{
    BUNDLE_ENTRIES, FlatObjects, HASH_BYTES, LEVELS, OFFSET_BYTES, bundle_count, items_per_segment,
};
use crate::storage::segments::{FileKey, Kind, SEGMENT_ITEMS};
use crate::storage::{Defect, StorageError};

/// How the files of a store can differ from what its size asks for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Unexpected {
    /// A file that no log of this size has.
    Foreign {
        /// The file, relative to the data directory.
        file: String,
    },
    /// A file with bytes after its contents.
    Longer {
        /// The file, relative to the data directory.
        file: String,
        /// Bytes too many.
        bytes: u64,
    },
    /// A file that ends early or is not there.
    Shorter {
        /// The file, relative to the data directory.
        file: String,
        /// Where it ends.
        offset: u64,
        /// Which of the two.
        defect: Defect,
    },
}

impl FlatObjects {
    /// What the files of `directory` have too much or too little for `size` entries, but for the contents.
    pub fn unexpected(directory: &Path, size: TreeSize) -> Result<Vec<Unexpected>, StorageError> {
        let store = Self::open_unchanged(directory, size);
        let mut expected = BTreeMap::new();
        for level in 0..LEVELS {
            let kind = Kind::Level(level);
            expect_items(kind, hashes_in_level(level, size), HASH_BYTES, &mut expected);
        }
        expect_items(Kind::Bundles, bundle_count(size.get()), OFFSET_BYTES, &mut expected);
        for segment in 0..size.get().div_ceil(SEGMENT_ITEMS) {
            let end = size.get().min((segment + 1) * SEGMENT_ITEMS);
            // The walk over the last bundle finds where the segment ends.
            let last_bundle = (end - 1) / BUNDLE_ENTRIES * BUNDLE_ENTRIES;
            let key = FileKey { kind: Kind::Entries, segment };
            let length = store
                .bundle_offset(last_bundle / BUNDLE_ENTRIES)
                .and_then(|start| Ok(start + store.walk(last_bundle, start, end - last_bundle)?));
            expected.insert(key.path(), length.unwrap_or_default());
        }
        let mut found = Vec::new();
        for (file, length) in list_files(directory)? {
            let name = PathBuf::from("log").join(&file).display().to_string();
            match expected.remove(&file) {
                // A file that the log has been cut back from, or that is reserved, is there and empty.
                None if length == 0 => {}
                None => found.push(Unexpected::Foreign { file: name }),
                Some(wanted) if length > wanted => {
                    found.push(Unexpected::Longer { file: name, bytes: length - wanted });
                }
                Some(wanted) if length < wanted => {
                    let defect = Defect::Truncated;
                    found.push(Unexpected::Shorter { file: name, offset: length, defect });
                }
                Some(_) => {}
            }
        }
        found.extend(expected.into_iter().filter(|(_, length)| *length > 0).map(|(file, _)| {
            let file = PathBuf::from("log").join(file).display().to_string();
            Unexpected::Shorter { file, offset: 0, defect: Defect::Missing }
        }));
        Ok(found)
    }

    /// Whether the bundle that starts with entry `first` starts where the one before it ends.
    pub fn bundle_follows(&self, first: u64) -> Result<bool, StorageError> {
        let start = self.bundle_offset(first / BUNDLE_ENTRIES)?;
        if first.is_multiple_of(SEGMENT_ITEMS) {
            return Ok(start == 0);
        }
        let before = self.bundle_offset(first / BUNDLE_ENTRIES - 1)?;
        let bytes = self.walk(first - BUNDLE_ENTRIES, before, BUNDLE_ENTRIES)?;
        Ok(before.checked_add(bytes) == Some(start))
    }
}

/// Notes the lengths of the files that `items` of a kind take.
fn expect_items(kind: Kind, items: u64, item_bytes: u64, expected: &mut BTreeMap<PathBuf, u64>) {
    let per_segment = items_per_segment(kind);
    for segment in 0..items.div_ceil(per_segment) {
        let count = per_segment.min(items - segment * per_segment);
        expected.insert(FileKey { kind, segment }.path(), count * item_bytes);
    }
}

/// The files below `directory` with their lengths.
fn list_files(directory: &Path) -> Result<Vec<(PathBuf, u64)>, StorageError> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let path = directory.join(&folder);
        let failed = |source| DurableError::new(&path, Operation::Read, source);
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(failed(error).into()),
        };
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let metadata = entry.metadata().map_err(failed)?;
            let relative = folder.join(entry.file_name());
            if metadata.is_dir() {
                folders.push(relative);
            } else {
                files.push((relative, metadata.len()));
            }
        }
    }
    files.sort();
    Ok(files)
}
