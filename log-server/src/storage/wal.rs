//! The write-ahead log: the journal of the embedded default.
//!
//! Segments of a fixed length are named by the index their first batch starts at. A segment is filled with
//! zeros and made durable before it is used, so that a commit overwrites and needs one `fdatasync` that
//! has no metadata to write. The maintenance thread keeps one spare segment ready.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anchorlog_client::durable::{self, DurableError, Operation, WritableFile};
use anchorlog_proto::merkle::TreeSize;

use super::record::{self, BatchRecord, Frame, Record, SegmentStart};
use super::space::free_bytes;
use super::{Defect, Journal, StorageError};

/// Name of the prepared segment.
const SPARE: &str = "spare";

/// What a disk writes whole or not at all, in bytes.
const SECTOR: usize = 512;

/// The part of the free space that a new segment may take. Much of it may be promised to the index.
const SEGMENT_SHARE: usize = 16;

/// More zeros than follow one another in a record.
const ZEROS_IN_A_RECORD: usize = 16;

/// How segments are cut.
#[derive(Clone, Copy, Debug)]
pub struct WalOptions {
    /// Bytes of a segment. A batch that is larger gets a segment of its own size.
    pub segment_bytes: usize,
}

impl Default for WalOptions {
    fn default() -> Self {
        Self { segment_bytes: 8 << 20 }
    }
}

/// Where the oldest record kept starts, and the checkpoint signed there.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Base {
    /// Entries before the oldest record: the objects hold at least these durably.
    pub size: TreeSize,
    /// The signed checkpoint of that size; empty when no record was ever let go.
    pub checkpoint: Vec<u8>,
}

/// The write-ahead log of one directory.
#[derive(Debug)]
pub struct FileJournal {
    directory: PathBuf,
    options: WalOptions,
    /// Owned by the thread that appends.
    writer: Mutex<Writer>,
    /// Segments in use, oldest first; the last one is being written.
    segments: Mutex<Vec<Segment>>,
    /// Length of the prepared segment, when there is one.
    spare: Mutex<Option<usize>>,
}

#[derive(Debug)]
struct Writer {
    file: Option<WritableFile>,
    /// Offset of the next record.
    end: usize,
    /// Bytes the segment has room for.
    length: usize,
    size: TreeSize,
    /// The newest checkpoint: the next segment starts with it.
    checkpoint: Vec<u8>,
    buffer: Vec<u8>,
}

#[derive(Clone, Debug)]
struct Segment {
    start: u64,
    path: PathBuf,
}

impl FileJournal {
    /// Opens or creates the journal of `directory`, checks every record, and drops a torn one at its end.
    ///
    /// Hands each batch to `replay`, oldest first. `base` comes before the first: where the oldest record
    /// starts.
    pub fn open<E: From<StorageError>>(
        directory: &Path,
        options: WalOptions,
        base: impl FnMut(&Base) -> Result<(), E>,
        replay: impl FnMut(&BatchRecord<'_>) -> Result<(), E>,
    ) -> Result<Self, E> {
        durable::create_dir_all(directory).map_err(StorageError::from)?;
        remove_if_there(&directory.join(SPARE))?;
        let scanned = scan(directory, base, replay)?;
        let mut segments = scanned.segments;
        let mut writer = Writer {
            file: None,
            end: 0,
            length: 0,
            size: scanned.size,
            checkpoint: scanned.checkpoint,
            buffer: Vec::new(),
        };
        if scanned.last_unused {
            if let Some(segment) = segments.pop() {
                durable::remove_file(&segment.path).map_err(StorageError::from)?;
            }
        } else if let Some(last) = segments.last() {
            let file = WritableFile::open(&last.path).map_err(StorageError::from)?;
            settle(&file, scanned.newest..scanned.end, scanned.torn_bytes)
                .map_err(StorageError::from)?;
            writer.file = Some(file);
            writer.end = scanned.end;
            writer.length = scanned.length;
        }
        Ok(Self {
            directory: directory.to_path_buf(),
            options,
            writer: Mutex::new(writer),
            segments: Mutex::new(segments),
            spare: Mutex::new(None),
        })
    }

    /// The newest signed checkpoint; empty before the first.
    #[must_use]
    pub fn checkpoint(&self) -> Vec<u8> {
        lock(&self.writer).checkpoint.clone()
    }

    /// Takes the spare segment, or makes one, for a record of `needed` bytes.
    fn take_segment(
        &self,
        start: u64,
        needed: usize,
    ) -> Result<(WritableFile, usize), StorageError> {
        let path = self.directory.join(segment_name(start));
        let spare = lock(&self.spare).take_if(|length| *length >= needed);
        let length = if let Some(length) = spare {
            durable::rename(&self.directory.join(SPARE), &path)?;
            length
        } else {
            let length = self.affordable_length(needed)?;
            write_zeros(&path, length)?;
            length
        };
        Ok((WritableFile::open(&path)?, length))
    }

    /// Counts a segment among those in use, now that its first record is durable. Before, the segment behind
    /// which it comes has the newest record and must not be let go.
    fn begin_segment(&self, start: u64) {
        let path = self.directory.join(segment_name(start));
        let mut segments = lock(&self.segments);
        // Only the checkpoint of the empty log can share its start with what follows, which repeats it.
        segments.retain(|segment| segment.start != start);
        segments.push(Segment { start, path });
    }
}

impl FileJournal {
    /// Length of a new segment with room for `needed` bytes. On a disk that is nearly full it is a small
    /// one: what is written in vain until nothing fits any more would starve everything else on it.
    fn affordable_length(&self, needed: usize) -> Result<usize, StorageError> {
        let free = usize::try_from(free_bytes(&self.directory)).unwrap_or(usize::MAX);
        if needed > free / 2 {
            let full = std::io::ErrorKind::StorageFull.into();
            return Err(DurableError::new(&self.directory, Operation::Allocate, full).into());
        }
        Ok(needed.max(self.options.segment_bytes.min(free / SEGMENT_SHARE)))
    }
}

impl Journal for FileJournal {
    fn size(&self) -> TreeSize {
        lock(&self.writer).size
    }

    fn append(&self, batch: &BatchRecord<'_>) -> Result<(), StorageError> {
        let mut guard = lock(&self.writer);
        let writer = &mut *guard;
        if batch.count == 0 && !writer.checkpoint.is_empty() {
            return Err(StorageError::EmptyBatch);
        }
        let after = batch.size_after().filter(|_| batch.first_index == writer.size.get());
        let Some(after) = after else {
            return Err(StorageError::NotTheNext {
                first_index: batch.first_index,
                size: writer.size.get(),
            });
        };
        writer.buffer.clear();
        record::write_batch(batch, &mut writer.buffer);
        let mut begun = None;
        if writer.file.is_none() || writer.buffer.len() > writer.length.saturating_sub(writer.end) {
            writer.buffer.clear();
            let start = SegmentStart { size: writer.size, checkpoint: &writer.checkpoint };
            record::write_start(&start, &mut writer.buffer);
            record::write_batch(batch, &mut writer.buffer);
            let (file, length) = self.take_segment(writer.size.get(), writer.buffer.len())?;
            writer.file = Some(file);
            writer.end = 0;
            writer.length = length;
            begun = Some(writer.size.get());
        }
        if let Some(file) = &writer.file {
            // From here on a full disk is like any other failure: part of the record may be there.
            file.write_all_at(&writer.buffer, offset(writer.end))
                .and_then(|()| file.sync_data())
                .map_err(|source| StorageError::HalfWritten { source })?;
        }
        if let Some(start) = begun {
            self.begin_segment(start);
        }
        writer.end += writer.buffer.len();
        writer.size = after;
        writer.checkpoint.clear();
        writer.checkpoint.extend_from_slice(batch.checkpoint);
        Ok(())
    }

    fn maintain(&self, durable_size: TreeSize) -> Result<(), StorageError> {
        // A segment ends where the next one starts, so the last one always stays.
        let finished: Vec<Segment> = {
            let mut segments = lock(&self.segments);
            let keep_from = segments
                .iter()
                .rposition(|segment| segment.start <= durable_size.get())
                .unwrap_or_default();
            segments.drain(..keep_from).collect()
        };
        for segment in finished {
            durable::remove_file(&segment.path)?;
        }
        let length = self.options.segment_bytes;
        if lock(&self.spare).is_none() && self.affordable_length(length).is_ok() {
            write_zeros(&self.directory.join(SPARE), length)?;
            *lock(&self.spare) = Some(length);
        }
        Ok(())
    }
}

/// What [`scan`] found.
#[derive(Debug)]
pub struct Scanned {
    /// Entries recorded.
    pub size: TreeSize,
    /// The newest checkpoint; empty when there is no record.
    pub checkpoint: Vec<u8>,
    /// Bytes after the last record of the last segment, up to the last that is not zero.
    pub torn_bytes: usize,
    /// File and offset of the first byte after the last record that is not zero, where no torn record can
    /// have left it. Opening clears it away all the same.
    pub stray: Option<(String, u64)>,
    segments: Vec<Segment>,
    /// The last segment was taken, but holds no record yet.
    last_unused: bool,
    /// Where the last record of the last segment begins.
    newest: usize,
    /// Where the next record goes in the last segment, and the bytes that segment has.
    end: usize,
    length: usize,
}

/// Reads every record of the journal of `directory` and changes nothing: see [`FileJournal::open`].
pub fn scan<E: From<StorageError>>(
    directory: &Path,
    mut base: impl FnMut(&Base) -> Result<(), E>,
    mut replay: impl FnMut(&BatchRecord<'_>) -> Result<(), E>,
) -> Result<Scanned, E> {
    let segments = list_segments(directory)?;
    let mut found = Scanned {
        size: TreeSize::ZERO,
        checkpoint: Vec::new(),
        torn_bytes: 0,
        stray: None,
        segments: Vec::new(),
        last_unused: false,
        newest: 0,
        end: 0,
        length: 0,
    };
    for (position, segment) in segments.iter().enumerate() {
        let bytes = read_file(&segment.path)?;
        let last = position + 1 == segments.len();
        let mut scan = Scan { segment, bytes: &bytes, offset: 0, last };
        let start = match scan.next()? {
            Some(Record::Start(start)) => start,
            // Crashed between taking the segment and its first commit: nothing was promised in it.
            None if last => {
                found.last_unused = true;
                break;
            }
            _ => return Err(scan.corrupt(Defect::BadRecord).into()),
        };
        found.newest = 0;
        if position == 0 {
            found.size = start.size;
            found.checkpoint = start.checkpoint.to_vec();
            base(&Base { size: start.size, checkpoint: start.checkpoint.to_vec() })?;
        } else if start.size != found.size || start.checkpoint != found.checkpoint {
            return Err(scan.corrupt(Defect::OutOfSequence).into());
        }
        loop {
            let offset = scan.offset;
            let Some(record) = scan.next()? else { break };
            let Record::Batch(batch) = record else {
                scan.offset = offset;
                return Err(scan.corrupt(Defect::BadRecord).into());
            };
            let follows = batch.first_index == found.size.get();
            let Some(after) = batch.size_after().filter(|_| follows) else {
                scan.offset = offset;
                return Err(scan.corrupt(Defect::OutOfSequence).into());
            };
            replay(&batch)?;
            found.newest = offset;
            found.size = after;
            found.checkpoint = batch.checkpoint.to_vec();
        }
        found.torn_bytes = scan.torn_bytes();
        found.stray = scan.stray();
        found.end = scan.offset;
        found.length = bytes.len();
    }
    if segments.is_empty() || (found.last_unused && segments.len() == 1) {
        base(&Base { size: TreeSize::ZERO, checkpoint: Vec::new() })?;
    }
    found.segments = segments;
    Ok(found)
}

/// Walks the records of one segment.
struct Scan<'a> {
    segment: &'a Segment,
    bytes: &'a [u8],
    offset: usize,
    /// In the last segment a torn record is an end too.
    last: bool,
}

impl<'a> Scan<'a> {
    /// The next record, or nothing at the end.
    fn next(&mut self) -> Result<Option<Record<'a>>, StorageError> {
        match record::read_frame(self.rest()) {
            Frame::Record(record, length) => {
                self.offset += length;
                Ok(Some(record))
            }
            Frame::End if self.torn_bytes() == 0 => Ok(None),
            _ if self.last && !self.valid_record_follows() => Ok(None),
            _ if self.last => Err(self.corrupt(Defect::DamagedRecord)),
            _ => Err(self.corrupt(Defect::BytesAfterEnd)),
        }
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.offset..).unwrap_or_default()
    }

    /// Length of what stands here up to the last byte that is not zero.
    fn torn_bytes(&self) -> usize {
        self.rest().iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)
    }

    /// Where bytes stand after the last record that aren't what is left of another one.
    ///
    /// A disk writes sectors, in any order. So a torn record starts at its place, or at a sector whose
    /// predecessors were lost; a few of its own bytes may be zeros.
    fn stray(&self) -> Option<(String, u64)> {
        let zeros = self.rest().iter().position(|byte| *byte != 0)?;
        let first = self.offset + zeros;
        let torn = zeros < ZEROS_IN_A_RECORD || first % SECTOR < ZEROS_IN_A_RECORD;
        (!torn).then(|| (segment_file(self.segment), offset(first)))
    }

    /// Whether a whole record stands anywhere behind the present place. It was written after what stands
    /// here was durable, so this place is damaged, not torn.
    fn valid_record_follows(&self) -> bool {
        let rest = self.rest();
        (1..rest.len()).any(|skip| {
            let candidate = rest.get(skip..).unwrap_or_default();
            // Most places fail on the first word; the checksum is computed for very few.
            matches!(record::read_frame(candidate), Frame::Record(..))
        })
    }

    fn corrupt(&self, defect: Defect) -> StorageError {
        StorageError::Corrupt {
            file: segment_file(self.segment),
            offset: offset(self.offset),
            defect,
        }
    }
}

/// Makes durable what a journal ends with, and puts back the zeros where a record was torn.
///
/// Whoever wrote the last record may have been killed before it was synced, or stopped because it could not
/// be: what was read is then the kernel's word and not yet the disk's. It is written again, since a sync that
/// has failed once leaves pages that the next one takes for clean.
fn settle(file: &WritableFile, newest: Range<usize>, torn: usize) -> Result<(), DurableError> {
    let start = offset(newest.start);
    let mut bytes = vec![0; newest.len()];
    file.read_exact_at(&mut bytes, start)?;
    bytes.resize(newest.len().saturating_add(torn), 0);
    file.write_all_at(&bytes, start)?;
    file.sync_data()
}

/// The segments of a directory, oldest first.
fn list_segments(directory: &Path) -> Result<Vec<Segment>, StorageError> {
    let failed = |source| DurableError::new(directory, Operation::Read, source);
    let mut segments = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let start = name.to_str().and_then(|name| name.strip_suffix(".wal"));
        if let Some(start) = start.and_then(|digits| digits.parse().ok()) {
            segments.push(Segment { start, path: entry.path() });
        }
    }
    segments.sort_by_key(|segment| segment.start);
    Ok(segments)
}

/// A segment's file, relative to the data directory.
fn segment_file(segment: &Segment) -> String {
    format!("wal/{}", segment_name(segment.start))
}

fn segment_name(start: u64) -> String {
    format!("{start:020}.wal")
}

fn read_file(path: &Path) -> Result<Vec<u8>, StorageError> {
    Ok(fs::read(path).map_err(|source| DurableError::new(path, Operation::Read, source))?)
}

fn remove_if_there(path: &Path) -> Result<(), StorageError> {
    match durable::remove_file(path) {
        Err(error) if error.source.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// Makes a durable file of `length` zeros, or none at all.
fn write_zeros(path: &Path, length: usize) -> Result<(), StorageError> {
    const CHUNK: usize = 1 << 20;
    let write = || {
        let file = WritableFile::open_or_create(path)?;
        let zeros = vec![0; CHUNK.min(length)];
        let mut written = 0;
        while written < length {
            let chunk = zeros.get(..CHUNK.min(length - written)).unwrap_or_default();
            file.write_all_at(chunk, offset(written))?;
            written += chunk.len();
        }
        file.sync_all()
    };
    write().map_err(|error| {
        // On a full disk the half-made file must not stay. Nothing refers to it yet, so a failure to
        // remove it changes nothing.
        if error.is_out_of_space() {
            let _ = remove_if_there(path);
        }
        error.into()
    })
}

/// A position in a segment as a file offset.
fn offset(position: usize) -> u64 {
    // Positions are bounded by the segment's length in memory.
    u64::try_from(position).unwrap_or(u64::MAX)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic in another thread stops the log; the data under these locks is whole at every step.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
