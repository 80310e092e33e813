//! Which files a store of a size has, how long they are, and where its bundles start: what `fsck` asks.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anchorlog_client::durable::{DurableError, Operation};
use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::tile::{TILE_HEIGHT, hashes_in_level};

use super::{
    BUNDLE_ENTRIES, FlatObjects, HASH_BYTES, LEVELS, OFFSET_BYTES, bundle_count, corrupt,
    items_per_segment,
};
use crate::storage::record::entries_of;
use crate::storage::segments::{FileKey, Kind, SEGMENT_ITEMS};
use crate::storage::{Defect, Objects, StorageError};

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
    /// How many of the `promised` entries all files of `directory` hold, hashes and offsets included.
    ///
    /// The journal starts at `durable` and has `bytes` bytes of entries since. Between a commit and the files,
    /// a crash leaves some of them shorter than others; a start goes back to `durable` then.
    pub fn whole_entries(
        directory: &Path,
        durable: TreeSize,
        promised: TreeSize,
        bytes: u64,
    ) -> Result<TreeSize, StorageError> {
        let store = Self::open_unchanged(directory, promised);
        let bundles = store.items(Kind::Bundles, OFFSET_BYTES)?;
        let mut whole = promised.get().min(bundles.saturating_mul(BUNDLE_ENTRIES));
        for level in 0..LEVELS {
            // So many hashes do until the next subtree of this level is full.
            let subtrees = u128::from(store.items(Kind::Level(level), HASH_BYTES)?) + 1;
            let most = (subtrees << (u32::from(level) * u32::from(TILE_HEIGHT))) - 1;
            whole = whole.min(u64::try_from(most).unwrap_or(u64::MAX));
        }
        let segment = whole / SEGMENT_ITEMS;
        let entries_end = if whole == promised.get() && segment == durable.get() / SEGMENT_ITEMS {
            store.entries_end(durable.get()).map(|end| end.saturating_add(bytes))
        } else {
            store.entries_end(whole)
        };
        let key = FileKey { kind: Kind::Entries, segment };
        let whole = match entries_end {
            Ok(0) => whole,
            Ok(end)
                if store.files.path(key).exists() && store.files.existing(key)?.len()? >= end =>
            {
                whole
            }
            _ => durable.get(),
        };
        Ok(TreeSize::new(whole.max(durable.get())).unwrap_or(durable))
    }

    /// What the files of `directory` have too much or too little for `size` entries, but for the contents.
    /// Where more were `promised`, files may be as long as those of so many entries.
    pub fn unexpected(
        directory: &Path,
        size: TreeSize,
        promised: TreeSize,
    ) -> Result<Vec<Unexpected>, StorageError> {
        let store = Self::open_unchanged(directory, size);
        let mut expected = fixed_lengths(size);
        let mut most = fixed_lengths(promised);
        for segment in 0..promised.get().div_ceil(SEGMENT_ITEMS) {
            let path = FileKey { kind: Kind::Entries, segment }.path();
            let end = size.get().min((segment + 1) * SEGMENT_ITEMS);
            if end < promised.get().min((segment + 1) * SEGMENT_ITEMS) {
                // What a crash has left here is cut off at the next start.
                most.insert(path.clone(), u64::MAX);
            }
            if end > segment * SEGMENT_ITEMS {
                // The walk over the last bundle finds where the segment ends.
                let last_bundle = (end - 1) / BUNDLE_ENTRIES * BUNDLE_ENTRIES;
                let length = store.bundle_offset(last_bundle / BUNDLE_ENTRIES).and_then(|start| {
                    Ok(start + store.walk(last_bundle, start, end - last_bundle)?)
                });
                expected.insert(path, length.unwrap_or_default());
            }
        }
        let mut found = Vec::new();
        for (file, length) in list_files(directory)? {
            let name = PathBuf::from("log").join(&file).display().to_string();
            let wanted = expected.remove(&file);
            let most = most.get(&file).copied().max(wanted);
            match (wanted.unwrap_or_default(), most) {
                (wanted, _) if length < wanted => {
                    let defect = Defect::Truncated;
                    found.push(Unexpected::Shorter { file: name, offset: length, defect });
                }
                // A file that the log has been cut back from, or that is reserved, is there and empty.
                (_, None) if length > 0 => found.push(Unexpected::Foreign { file: name }),
                (_, Some(most)) if length > most => {
                    found.push(Unexpected::Longer { file: name, bytes: length - most });
                }
                _ => {}
            }
        }
        found.extend(expected.into_iter().filter(|(_, length)| *length > 0).map(|(file, _)| {
            let file = PathBuf::from("log").join(file).display().to_string();
            Unexpected::Shorter { file, offset: 0, defect: Defect::Missing }
        }));
        Ok(found)
    }

    /// How many items of a kind the files hold, by their lengths.
    fn items(&self, kind: Kind, item_bytes: u64) -> Result<u64, StorageError> {
        let per_segment = items_per_segment(kind);
        let mut items = 0;
        for segment in 0.. {
            let key = FileKey { kind, segment };
            if !self.files.path(key).exists() {
                break;
            }
            let length = self.files.existing(key)?.len()?;
            if length > 0 {
                items = segment * per_segment + length / item_bytes;
            }
        }
        Ok(items)
    }

    /// The bytes of a whole bundle, if the offsets of the bundles enclose exactly its entries. What follows
    /// the last bundle is a matter of the file's length.
    pub fn exact_bundle(&self, bundle: u64) -> Result<Vec<u8>, StorageError> {
        let (file, mut bytes) = self.read_bundle(bundle)?;
        let first = bundle * BUNDLE_ENTRIES;
        let misplaced = || corrupt(file, 0, Defect::BadOffset);
        if first.is_multiple_of(SEGMENT_ITEMS) && self.bundle_offset(bundle)? != 0 {
            return Err(misplaced());
        }
        let expected = BUNDLE_ENTRIES.min(self.size().get().saturating_sub(first));
        let is_last = (first + expected).is_multiple_of(SEGMENT_ITEMS)
            || first + expected == self.size().get();
        let (mut entries, mut end) = (0, 0);
        for entry in entries_of(&bytes) {
            if is_last && entries == expected {
                break;
            }
            end += 2 + entry.map_err(|_| misplaced())?.len();
            entries += 1;
        }
        if entries != expected {
            return Err(misplaced());
        }
        bytes.truncate(end);
        Ok(bytes)
    }
}

/// The lengths of all files of a log of `size` entries whose items have one size.
fn fixed_lengths(size: TreeSize) -> BTreeMap<PathBuf, u64> {
    let mut lengths = BTreeMap::new();
    for level in 0..LEVELS {
        expect_items(Kind::Level(level), hashes_in_level(level, size), HASH_BYTES, &mut lengths);
    }
    expect_items(Kind::Bundles, bundle_count(size.get()), OFFSET_BYTES, &mut lengths);
    lengths
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
