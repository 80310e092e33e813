//! The object store of the embedded default: flat files, in which every tile of every width is a slice.
//!
//! ```text
//! entries/<segment>   entries behind big-endian u16 lengths, back to back; 2^20 entries a segment
//! bundles/<segment>   little-endian u64 offset, in the entries segment, of every 256th entry
//! level<L>/<segment>  32-byte hashes of tile level L, back to back; 2^20 hashes a segment
//! ```
//!
//! Nothing here is synced on the way to a receipt: the journal has the batch already. After a crash the
//! files are cut back to what the journal knows to be durable, and the journal is replayed onto them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anchorlog_client::durable::{self, Allocation};
use anchorlog_proto::Digest;
use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::tile::{TILE_HEIGHT, TileHashes, hashes_in_level};

use super::record::entries_of;
use super::segments::{FileKey, Kind, SEGMENT_ITEMS, SegmentFiles};
use super::space::free_bytes;
use super::{Batch, Defect, Objects, StorageError};

mod layout;

pub use layout::Unexpected;

/// Bytes of a hash.
const HASH_BYTES: u64 = 32;

/// Bytes of a bundle offset.
const OFFSET_BYTES: u64 = 8;

/// Entries of a bundle.
const BUNDLE_ENTRIES: u64 = 256;

/// Tile levels a tree of 2^63-1 leaves has.
const LEVELS: u8 = 8;

/// Space that is reserved ahead of the end of a growing file, where there is plenty.
const RESERVE_BYTES: u64 = 1 << 20;

/// The part of the free space that one file may have reserved ahead. On a disk that is nearly full, the room
/// there is belongs to entries: some files grow by a few bytes in a million entries.
const RESERVE_PART: u64 = 32;

/// The longest a bundle can be.
const MAX_BUNDLE_BYTES: u64 = BUNDLE_ENTRIES * (2 + 65_535);

/// The longest run of hashes that lies within one tile.
const MAX_RUN: usize = 256;

/// The flat files of one directory.
#[derive(Debug)]
pub struct FlatObjects {
    files: SegmentFiles,
    size: AtomicU64,
    /// Owned by the thread that appends.
    tail: Mutex<Tail>,
    /// Files with bytes that no sync has covered yet.
    dirty: Mutex<BTreeSet<FileKey>>,
}

#[derive(Debug, Default)]
struct Tail {
    /// Where the next entry goes in its segment.
    entries_end: u64,
    /// Per growing file: up to where space is reserved. `u64::MAX` where that can't be done.
    reserved: BTreeMap<FileKey, u64>,
}

impl FlatObjects {
    /// Opens or creates the files of `directory` and cuts them back to `size` entries.
    ///
    /// Fails when they hold less.
    pub fn open(directory: &Path, size: TreeSize) -> Result<Self, StorageError> {
        durable::create_dir_all(directory)?;
        let store = Self {
            files: SegmentFiles::new(directory),
            size: AtomicU64::new(size.get()),
            tail: Mutex::default(),
            dirty: Mutex::default(),
        };
        for level in 0..LEVELS {
            store.cut(Kind::Level(level), hashes_in_level(level, size), HASH_BYTES)?;
        }
        store.cut(Kind::Bundles, bundle_count(size.get()), OFFSET_BYTES)?;
        let entries_end = store.entries_end(size.get())?;
        store.cut_file(Kind::Entries, size.get() / SEGMENT_ITEMS, entries_end)?;
        lock(&store.tail).entries_end = entries_end;
        Ok(store)
    }

    /// Opens the files of `directory` as they are, for reading only.
    #[must_use]
    pub fn open_unchanged(directory: &Path, size: TreeSize) -> Self {
        Self {
            files: SegmentFiles::new(directory),
            size: AtomicU64::new(size.get()),
            tail: Mutex::default(),
            dirty: Mutex::default(),
        }
    }

    /// Number of entries whose hashes are in the files of `directory`.
    ///
    /// Everything stored was in the journal before. So this is more than the journal holds only if the
    /// journal has lost something that it had promised.
    pub fn stored_entries(directory: &Path) -> Result<u64, StorageError> {
        let files = SegmentFiles::new(directory);
        let mut entries = 0;
        for segment in 0.. {
            let key = FileKey { kind: Kind::Level(0), segment };
            if !files.path(key).exists() {
                break;
            }
            let length = files.existing(key)?.len()?;
            if length > 0 {
                entries = segment * SEGMENT_ITEMS + length.div_ceil(HASH_BYTES);
            }
        }
        Ok(entries)
    }

    /// Cuts the files of a kind whose items all have `item_bytes` bytes.
    fn cut(&self, kind: Kind, items: u64, item_bytes: u64) -> Result<(), StorageError> {
        let per_segment = items_per_segment(kind);
        let (full, rest) = (items / per_segment, items % per_segment);
        for segment in 0..full {
            self.expect_length(FileKey { kind, segment }, per_segment * item_bytes)?;
        }
        self.cut_file(kind, full, rest * item_bytes)
    }

    /// Cuts `segment` to `length` bytes and empties whatever follows it.
    fn cut_file(&self, kind: Kind, segment: u64, length: u64) -> Result<(), StorageError> {
        if length > 0 {
            self.expect_length(FileKey { kind, segment }, length)?;
        }
        for later in segment.. {
            let key = FileKey { kind, segment: later };
            if !self.files.path(key).exists() {
                break;
            }
            self.files.existing(key)?.set_len(if later == segment { length } else { 0 })?;
        }
        Ok(())
    }

    /// Fails unless a file holds at least `length` bytes.
    fn expect_length(&self, key: FileKey, length: u64) -> Result<(), StorageError> {
        if !self.files.path(key).exists() {
            return Err(corrupt(key, 0, Defect::Missing));
        }
        let actual = self.files.existing(key)?.len()?;
        if actual < length { Err(corrupt(key, actual, Defect::Truncated)) } else { Ok(()) }
    }

    /// Where entry `index` starts, or would start, in its segment.
    fn entries_end(&self, index: u64) -> Result<u64, StorageError> {
        let within_bundle = index % BUNDLE_ENTRIES;
        if within_bundle == 0 {
            if index.is_multiple_of(SEGMENT_ITEMS) {
                return Ok(0);
            }
            // The bundle before is full; it ends where its last entry ends.
            let start = self.bundle_offset(index / BUNDLE_ENTRIES - 1)?;
            return Ok(start + self.walk(index - BUNDLE_ENTRIES, start, BUNDLE_ENTRIES)?);
        }
        let start = self.bundle_offset(index / BUNDLE_ENTRIES)?;
        Ok(start + self.walk(index - within_bundle, start, within_bundle)?)
    }

    /// Bytes that `count` entries take from `offset` on, where entry `first` starts.
    fn walk(&self, first: u64, offset: u64, count: u64) -> Result<u64, StorageError> {
        let key = entries_key(first);
        let mut length_bytes = [0; 2];
        let mut taken = 0;
        let file = self.files.existing(key)?;
        let end = file.len()?;
        if offset > end {
            return Err(corrupt(key, end, Defect::Truncated));
        }
        for _ in 0..count {
            let at = offset + taken;
            if at + 2 > end {
                return Err(corrupt(key, at, Defect::Truncated));
            }
            file.read_exact_at(&mut length_bytes, at)?;
            taken += 2 + u64::from(u16::from_be_bytes(length_bytes));
        }
        if offset + taken > end {
            return Err(corrupt(key, end, Defect::Truncated));
        }
        Ok(taken)
    }

    /// Where bundle `bundle` starts in its entries segment.
    fn bundle_offset(&self, bundle: u64) -> Result<u64, StorageError> {
        let per_segment = items_per_segment(Kind::Bundles);
        let key = FileKey { kind: Kind::Bundles, segment: bundle / per_segment };
        let mut bytes = [0; 8];
        let position = bundle % per_segment * OFFSET_BYTES;
        self.files.existing(key)?.read_exact_at(&mut bytes, position)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// The bytes of a bundle, and the file they are from. A bundle ends where the next one starts; after the
    /// last of a segment comes whatever was written since.
    fn read_bundle(&self, bundle: u64) -> Result<(FileKey, Vec<u8>), StorageError> {
        let key = entries_key(bundle * BUNDLE_ENTRIES);
        let file = self.files.existing(key)?;
        let start = self.bundle_offset(bundle)?;
        let next = (bundle + 1) * BUNDLE_ENTRIES;
        let has_next = next < self.size.load(Ordering::Acquire);
        let end = if has_next && !next.is_multiple_of(SEGMENT_ITEMS) {
            self.bundle_offset(bundle + 1)?
        } else {
            file.len()?.min(start.saturating_add(MAX_BUNDLE_BYTES))
        };
        let length = end.checked_sub(start).filter(|length| *length <= MAX_BUNDLE_BYTES);
        let length = length.and_then(|length| usize::try_from(length).ok());
        let mut bytes = vec![0; length.ok_or_else(|| corrupt(key, start, Defect::BadOffset))?];
        file.read_exact_at(&mut bytes, start)?;
        Ok((key, bytes))
    }

    fn write(&self, key: FileKey, bytes: &[u8], offset: u64) -> Result<(), StorageError> {
        self.files.create(key)?.write_all_at(bytes, offset)?;
        lock(&self.dirty).insert(key);
        Ok(())
    }

    /// Writes hashes of a level from position `first` on, over as many segments as they span.
    fn write_hashes(&self, level: u8, first: u64, hashes: &[Digest]) -> Result<(), StorageError> {
        let mut position = first;
        let mut rest = hashes;
        while !rest.is_empty() {
            let room = SEGMENT_ITEMS - position % SEGMENT_ITEMS;
            let count = usize::try_from(room).unwrap_or(usize::MAX).min(rest.len());
            let (now, later) = rest.split_at(count);
            let bytes: Vec<u8> = now.iter().flat_map(|hash| *hash.as_bytes()).collect();
            let key = FileKey { kind: Kind::Level(level), segment: position / SEGMENT_ITEMS };
            self.write(key, &bytes, position % SEGMENT_ITEMS * HASH_BYTES)?;
            position += u64::try_from(count).unwrap_or(u64::MAX);
            rest = later;
        }
        Ok(())
    }

    /// Writes entries from index `first` on, and the offsets of the bundles that start among them.
    fn write_entries(
        &self,
        tail: &mut Tail,
        first: u64,
        entries: &[u8],
    ) -> Result<(), StorageError> {
        let mut index = first;
        let mut rest = entries;
        while !rest.is_empty() {
            let key = entries_key(index);
            let segment_end = (key.segment + 1) * SEGMENT_ITEMS;
            let mut taken = 0;
            let mut offsets = Vec::new();
            let first_bundle = index.div_ceil(BUNDLE_ENTRIES);
            for entry in entries_of(rest) {
                if index == segment_end {
                    break;
                }
                if index.is_multiple_of(BUNDLE_ENTRIES) {
                    offsets.extend_from_slice(&(tail.entries_end + taken).to_le_bytes());
                }
                let entry = entry.map_err(|defect| corrupt(key, tail.entries_end, defect))?;
                taken += 2 + u64::try_from(entry.len()).unwrap_or(u64::MAX);
                index += 1;
            }
            let (now, later) = rest
                .split_at_checked(usize::try_from(taken).unwrap_or(usize::MAX))
                .ok_or_else(|| corrupt(key, tail.entries_end, Defect::BadOffset))?;
            self.write(key, now, tail.entries_end)?;
            if !offsets.is_empty() {
                let per_segment = items_per_segment(Kind::Bundles);
                let key = FileKey { kind: Kind::Bundles, segment: first_bundle / per_segment };
                self.write(key, &offsets, first_bundle % per_segment * OFFSET_BYTES)?;
            }
            tail.entries_end = if index == segment_end { 0 } else { tail.entries_end + taken };
            rest = later;
        }
        Ok(())
    }

    /// Reserves space in `key` up to `end`, and a little ahead.
    fn reserve_file(&self, tail: &mut Tail, key: FileKey, end: u64) -> Result<(), StorageError> {
        let reserved = tail.reserved.get(&key).copied().unwrap_or_default();
        if end <= reserved {
            return Ok(());
        }
        let file = self.files.create(key)?;
        let length = (end - reserved).max(reserve_ahead(free_bytes(self.files.directory())));
        let until = match file.allocate(reserved, length)? {
            Allocation::Reserved => reserved + length,
            Allocation::Unsupported => u64::MAX,
        };
        // Files that are full need no note any more.
        tail.reserved.retain(|other, _| other.kind != key.kind || other.segment >= key.segment);
        tail.reserved.insert(key, until);
        Ok(())
    }
}

impl Objects for FlatObjects {
    fn size(&self) -> TreeSize {
        TreeSize::new(self.size.load(Ordering::Acquire)).unwrap_or(TreeSize::MAX)
    }

    fn reserve(&self, entries: u64, bytes: u64) -> Result<(), StorageError> {
        let mut guard = lock(&self.tail);
        let tail = &mut *guard;
        let before = self.size.load(Ordering::Acquire);
        let after = before + entries;
        // A batch that crosses into a new segment is reserved as if it all went into both.
        for segment in before / SEGMENT_ITEMS..=after / SEGMENT_ITEMS {
            let first_segment = segment == before / SEGMENT_ITEMS;
            let start = if first_segment { tail.entries_end } else { 0 };
            let key = FileKey { kind: Kind::Entries, segment };
            self.reserve_file(tail, key, start + bytes)?;
        }
        for level in 0..LEVELS {
            let hashes = |size| hashes_in_level(level, TreeSize::new(size).unwrap_or_default());
            reserve_items(self, tail, Kind::Level(level), hashes(before)..hashes(after))?;
        }
        reserve_items(self, tail, Kind::Bundles, bundle_count(before)..bundle_count(after))
    }

    fn append(&self, batch: &Batch<'_>) -> Result<(), StorageError> {
        let mut tail = lock(&self.tail);
        self.write_entries(&mut tail, batch.extension.before().size().get(), batch.entries)?;
        for level in 0..LEVELS {
            if let Some((first, hashes)) = batch.extension.completed(level * TILE_HEIGHT) {
                self.write_hashes(level, first, hashes)?;
            }
        }
        self.size.store(batch.extension.size().get(), Ordering::Release);
        Ok(())
    }

    fn sync(&self) -> Result<TreeSize, StorageError> {
        // The size first: whatever it counts was marked dirty before.
        let size = self.size();
        let dirty = std::mem::take(&mut *lock(&self.dirty));
        for key in dirty {
            self.files.existing(key)?.sync_data()?;
        }
        Ok(size)
    }

    fn read_entries(&self, first: u64, count: u16) -> Result<Vec<u8>, StorageError> {
        let size = self.size.load(Ordering::Acquire);
        let last = first.checked_add(u64::from(count)).filter(|last| count > 0 && *last <= size);
        let last = last.ok_or(StorageError::OutOfRange)?;
        let bundle = first / BUNDLE_ENTRIES;
        if (last - 1) / BUNDLE_ENTRIES != bundle {
            return Err(StorageError::OutOfRange);
        }
        let (file, bytes) = self.read_bundle(bundle)?;
        slice_entries(bytes, first % BUNDLE_ENTRIES, count)
            .ok_or_else(|| corrupt(file, 0, Defect::BadOffset))
    }
}

impl TileHashes for FlatObjects {
    type Error = StorageError;

    fn read_hashes(&self, level: u8, first: u64, out: &mut [Digest]) -> Result<(), StorageError> {
        let count = u64::try_from(out.len()).unwrap_or(u64::MAX);
        let last = first.checked_add(count);
        if out.len() > MAX_RUN || last.is_none_or(|last| last > hashes_in_level(level, self.size()))
        {
            return Err(StorageError::OutOfRange);
        }
        let mut buffer = [0; MAX_RUN * 32];
        let (bytes, _) = buffer.split_at_mut(out.len() * 32);
        let key = FileKey { kind: Kind::Level(level), segment: first / SEGMENT_ITEMS };
        let file = self.files.existing(key)?;
        file.read_exact_at(bytes, first % SEGMENT_ITEMS * HASH_BYTES)?;
        for (hash, bytes) in out.iter_mut().zip(bytes.as_chunks::<32>().0) {
            *hash = Digest::from_bytes(*bytes);
        }
        Ok(())
    }
}

/// How much one file may have reserved ahead of its end where `free` bytes are left for everything.
const fn reserve_ahead(free: u64) -> u64 {
    let part = free / RESERVE_PART;
    if part < RESERVE_BYTES { part } else { RESERVE_BYTES }
}

/// Reserves space for the items `range` of a kind whose items all have one size.
fn reserve_items(
    store: &FlatObjects,
    tail: &mut Tail,
    kind: Kind,
    range: std::ops::Range<u64>,
) -> Result<(), StorageError> {
    let per_segment = items_per_segment(kind);
    let item_bytes = if kind == Kind::Bundles { OFFSET_BYTES } else { HASH_BYTES };
    if range.is_empty() {
        return Ok(());
    }
    for segment in range.start / per_segment..=(range.end - 1) / per_segment {
        let end = (range.end - segment * per_segment).min(per_segment);
        store.reserve_file(tail, FileKey { kind, segment }, end * item_bytes)?;
    }
    Ok(())
}

/// Cuts `count` entries from the `skip`-th on out of a bundle.
fn slice_entries(mut bundle: Vec<u8>, skip: u64, count: u16) -> Option<Vec<u8>> {
    let (mut start, mut end) = (0, 0);
    let wanted = skip + u64::from(count);
    let mut position = 0;
    for entry in entries_of(&bundle) {
        if position == skip {
            start = end;
        }
        if position == wanted {
            break;
        }
        end += 2 + entry.ok()?.len();
        position += 1;
    }
    if position < wanted {
        return None;
    }
    bundle.truncate(end);
    bundle.drain(..start);
    Some(bundle)
}

/// Bundles that `entries` entries have begun.
const fn bundle_count(entries: u64) -> u64 {
    entries.div_ceil(BUNDLE_ENTRIES)
}

const fn items_per_segment(kind: Kind) -> u64 {
    match kind {
        Kind::Bundles => SEGMENT_ITEMS / BUNDLE_ENTRIES,
        Kind::Entries | Kind::Level(_) => SEGMENT_ITEMS,
    }
}

const fn entries_key(index: u64) -> FileKey {
    FileKey { kind: Kind::Entries, segment: index / SEGMENT_ITEMS }
}

fn corrupt(key: FileKey, offset: u64, defect: Defect) -> StorageError {
    let file = PathBuf::from("log").join(key.path()).display().to_string();
    StorageError::Corrupt { file, offset, defect }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic in another thread stops the log; the data under these locks is whole at every step.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_reserved_ahead_leaves_room_for_entries() {
        assert_eq!(reserve_ahead(u64::MAX), RESERVE_BYTES);
        assert_eq!(reserve_ahead(64 << 20), RESERVE_BYTES);
        assert_eq!(reserve_ahead(2 << 20), 64 << 10);
        assert_eq!(reserve_ahead(0), 0);
    }
}
