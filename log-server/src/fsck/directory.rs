//! Checks the data directory of a log that is not running, without changing a byte of it.

use std::fs;
use std::io::ErrorKind;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use anchorlog_client::durable::DirectoryLock;
use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::merkle::{Extension, Frontier, TreeSize, leaf_hash, node_hash};
use anchorlog_proto::note::VerifierKey;
use anchorlog_proto::statement::LogEntry;
use anchorlog_proto::tile::TileHashes;

use super::{Fault, Note, Report};
use crate::error::Error;
use crate::index::{self, Engine, Fingerprint, Index, IndexError, IndexedEntry};
use crate::log::index_directory;
use crate::recovery::{JOURNAL, LOCK, OBJECTS};
use crate::storage::flat::{FlatObjects, Unexpected};
use crate::storage::record::entries_of;
use crate::storage::{BatchRecord, Objects, StorageError, wal};
use crate::tree::StoredTree;

/// Bundles that one thread checks before it looks for more.
const STRIDE: u64 = 64;

/// Reads everything in the data directory of a log and compares it with what was signed.
///
/// `progress` is told the number of entries checked and the number there are.
pub fn check_directory(
    directory: &Path,
    key: &VerifierKey,
    engine: Engine,
    index_memory: u64,
    progress: impl Fn(u64, u64) + Sync,
) -> Result<Report, Error> {
    let _lock = DirectoryLock::acquire(&directory.join(LOCK))?;
    let mut report = Report::default();
    let folder = directory.join(OBJECTS);
    let stored = FlatObjects::stored_entries(&folder)?;
    let Some(journal) = check_journal(directory, key, stored, &mut report)? else {
        return Ok(report);
    };
    report.size = journal.size.get();
    report.root = Some(journal.root);
    let stored = stored.min(journal.size.get());
    if stored < journal.size.get() {
        report.notes.push(Note::NotStoredYet { entries: journal.size.get() - stored });
    }
    let stored = TreeSize::new(stored)?;
    check_files(&folder, stored, &mut report)?;

    let objects = FlatObjects::open_unchanged(&folder, stored);
    let index = open_index(directory, engine, index_memory, &mut report);
    let indexed = index.as_deref().map_or(0, Index::indexed_size).min(stored.get());
    let check =
        Check { objects: &objects, indexed, next: AtomicU64::new(0), done: AtomicU64::new(0) };
    let (parts, rows) = check.run(index.as_deref(), &progress);
    let mut expected = Fingerprint::default();
    for (part, fingerprint) in parts {
        report.absorb(part);
        expected.merge(&fingerprint);
    }
    if report.is_clean() {
        check_signed_sizes(&objects, &journal.checkpoints, stored, &mut report);
    }
    if let Some(index) = &index {
        compare_index(&**index, rows, &expected, &check, journal.size, &mut report);
    }
    Ok(report)
}

/// What the journal says.
struct Signed {
    size: TreeSize,
    root: Digest,
    /// Every size and root that a record of the journal has a checkpoint for, oldest first.
    checkpoints: Vec<(TreeSize, Digest)>,
}

/// Checks every record of the journal: sequence, hashes, signatures.
fn check_journal(
    directory: &Path,
    key: &VerifierKey,
    stored: u64,
    report: &mut Report,
) -> Result<Option<Signed>, Error> {
    let mut signed: Vec<(TreeSize, Digest)> = Vec::new();
    let mut edge: Option<Frontier> = None;
    let folder = directory.join(OBJECTS);
    let mut faults: Vec<Fault> = Vec::new();
    let cell = std::cell::RefCell::new((&mut signed, &mut edge, &mut faults));
    let scanned = wal::scan(
        &directory.join(JOURNAL),
        |base| {
            let mut guard = cell.borrow_mut();
            let (signed, edge, faults) = &mut *guard;
            if !base.checkpoint.is_empty() {
                match verify(&base.checkpoint, key) {
                    Ok(checkpoint) => signed.push(checkpoint),
                    Err(fault) => faults.push(fault),
                }
            }
            // The hashes themselves are compared with what is beneath them later.
            let size = base.size.get().min(stored);
            let objects = FlatObjects::open_unchanged(&folder, TreeSize::new(size)?);
            let tree = StoredTree::new(std::sync::Arc::new(objects));
            **edge = Frontier::from_reader(&tree, base.size).ok();
            Ok::<(), Error>(())
        },
        |batch| {
            let mut guard = cell.borrow_mut();
            let (signed, edge, faults) = &mut *guard;
            match check_batch(batch, edge.take(), key) {
                Ok((checkpoint, after)) => {
                    signed.push(checkpoint);
                    **edge = after;
                }
                Err(fault) => faults.push(fault),
            }
            Ok(())
        },
    );
    for fault in faults {
        report.problem(JOURNAL, None, fault);
    }
    let scanned = match scanned {
        Ok(scanned) => scanned,
        Err(Error::Storage(StorageError::Corrupt { file, offset, defect })) => {
            report.problem(file, None, Fault::Damaged { offset, defect });
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    if scanned.torn_bytes > 0 {
        let bytes = u64::try_from(scanned.torn_bytes).unwrap_or(u64::MAX);
        report.notes.push(Note::TornRecord { bytes });
    }
    if scanned.size.get() < stored {
        let journal = scanned.size.get();
        report.problem(JOURNAL, None, Fault::JournalBehind { journal, stored });
        return Ok(None);
    }
    let Some((size, root)) = signed.last().copied().filter(|(size, _)| *size == scanned.size)
    else {
        if report.is_clean() {
            report.problem(JOURNAL, None, Fault::Root);
        }
        return Ok(None);
    };
    Ok(Some(Signed { size, root, checkpoints: signed }))
}

/// Checks one batch; without the edge before it, its signature only.
fn check_batch(
    batch: &BatchRecord<'_>,
    edge: Option<Frontier>,
    key: &VerifierKey,
) -> Result<((TreeSize, Digest), Option<Frontier>), Fault> {
    let (size, root) = verify(batch.checkpoint, key)?;
    let Some(edge) = edge else { return Ok(((size, root), None)) };
    // Records are whole when they come here, so every entry is.
    let hashes = entries_of(batch.entries).flatten().map(leaf_hash);
    let extension = Extension::new(edge, hashes).map_err(|_| Fault::Root)?;
    if (extension.size(), extension.after().root()) != (size, root) {
        return Err(Fault::Root);
    }
    Ok(((size, root), Some(extension.after().clone())))
}

fn verify(note: &[u8], key: &VerifierKey) -> Result<(TreeSize, Digest), Fault> {
    let signed = SignedCheckpoint::parse(note).map_err(Fault::Checkpoint)?;
    let verified = signed.verify(key).map_err(Fault::Checkpoint)?;
    Ok((verified.checkpoint().size, verified.checkpoint().root))
}

/// Checks which files there are and how long they are.
fn check_files(folder: &Path, size: TreeSize, report: &mut Report) -> Result<(), Error> {
    for unexpected in FlatObjects::unexpected(folder, size)? {
        match unexpected {
            Unexpected::Foreign { file } => report.problem(file, None, Fault::ForeignFile),
            Unexpected::Longer { file, bytes } => {
                report.problem(file, None, Fault::Longer { bytes });
            }
            Unexpected::Shorter { file, offset, defect } => {
                report.problem(file, None, Fault::Damaged { offset, defect });
            }
        }
    }
    Ok(())
}

/// What one thread found in the bundles it took, and the rows that their entries ask the index for.
type Part = (Report, Fingerprint);

/// The rows of the index, or why they can't be read.
type Rows = Result<Fingerprint, IndexError>;

/// The work that threads share.
struct Check<'a> {
    objects: &'a FlatObjects,
    /// Entries that the index has.
    indexed: u64,
    /// The next bundle nobody has taken.
    next: AtomicU64,
    /// Entries checked.
    done: AtomicU64,
}

impl Check<'_> {
    /// Checks all bundles on all processors, and reads the index meanwhile.
    fn run(
        &self,
        index: Option<&dyn Index>,
        progress: &(impl Fn(u64, u64) + Sync),
    ) -> (Vec<Part>, Option<Rows>) {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let parts = Mutex::new(Vec::new());
        let rows = thread::scope(|scope| {
            let rows = index.map(|index| scope.spawn(|| index.fingerprint()));
            for _ in 0..threads {
                scope.spawn(|| {
                    let part = self.check_bundles(progress);
                    if let Ok(mut parts) = parts.lock() {
                        parts.push(part);
                    }
                });
            }
            rows.map(|rows| rows.join().unwrap_or(Err(IndexError::Poisoned)))
        });
        (parts.into_inner().unwrap_or_default(), rows)
    }

    fn check_bundles(&self, progress: &impl Fn(u64, u64)) -> (Report, Fingerprint) {
        let mut report = Report::default();
        let mut fingerprint = Fingerprint::default();
        let size = self.objects.size().get();
        let bundles = size.div_ceil(256);
        loop {
            let first = self.next.fetch_add(STRIDE, Ordering::Relaxed);
            if first >= bundles {
                return (report, fingerprint);
            }
            for bundle in first..bundles.min(first + STRIDE) {
                self.check_bundle(bundle, &mut report, &mut fingerprint);
            }
            let last = (first + STRIDE).min(bundles) * 256;
            let checked = last.min(size) - first * 256;
            progress(self.done.fetch_add(checked, Ordering::Relaxed) + checked, size);
        }
    }

    /// Checks 256 entries, their leaf hashes, and the hash of the tile they fill.
    fn check_bundle(&self, bundle: u64, report: &mut Report, fingerprint: &mut Fingerprint) {
        let size = self.objects.size().get();
        let range = bundle * 256..size.min((bundle + 1) * 256);
        let file = format!("log/entries/{:010}", range.start >> 20);
        let hashes = match self.read_bundle(range.clone(), &file, report, fingerprint) {
            Ok(hashes) => hashes,
            Err(error) => return report_storage(&file, &error, report),
        };
        self.compare_level(0, range.start, &hashes, report);
        let (mut level, mut index, mut row) = (1, bundle, hashes);
        // A tile that this bundle completes is checked here, and so on upwards.
        while row.len() == 256 {
            let hash = [tile_root(row)];
            self.compare_level(level, index, &hash, report);
            if index % 256 != 255 {
                return;
            }
            row = vec![Digest::from_bytes([0; 32]); 256];
            if let Err(error) = self.objects.read_hashes(level, index - 255, &mut row) {
                return report_storage(&level_file(level, index), &error, report);
            }
            index /= 256;
            level += 1;
        }
    }

    fn read_bundle(
        &self,
        range: Range<u64>,
        file: &str,
        report: &mut Report,
        fingerprint: &mut Fingerprint,
    ) -> Result<Vec<Digest>, StorageError> {
        let count = u16::try_from(range.end - range.start).map_err(|_| StorageError::OutOfRange)?;
        if !self.objects.bundle_follows(range.start)? {
            report.problem(
                format!("log/bundles/{:010}", range.start >> 20),
                Some(range.start),
                Fault::Offset,
            );
        }
        let bytes = self.objects.read_entries(range.start, count)?;
        let mut hashes = Vec::with_capacity(usize::from(count));
        for (index, bytes) in range.zip(entries_of(&bytes)) {
            let bytes = bytes.map_err(|_| StorageError::OutOfRange)?;
            report.entries += 1;
            match LogEntry::from_leaf(bytes) {
                Ok(entry) => {
                    hashes.push(entry.leaf_hash());
                    if index < self.indexed {
                        let entry = IndexedEntry::new(index, &entry);
                        fingerprint.merge(&index::expected_fingerprint(&entry));
                    }
                }
                Err(error) => {
                    hashes.push(leaf_hash(bytes));
                    report.problem(file, Some(index), Fault::Entry(error));
                }
            }
        }
        Ok(hashes)
    }

    fn compare_level(&self, level: u8, first: u64, computed: &[Digest], report: &mut Report) {
        let mut stored = vec![Digest::from_bytes([0; 32]); computed.len()];
        if let Err(error) = self.objects.read_hashes(level, first, &mut stored) {
            return report_storage(&level_file(level, first), &error, report);
        }
        for (index, (stored, computed)) in (first..).zip(stored.iter().zip(computed)) {
            if stored != computed {
                report.problem(level_file(level, index), Some(index), Fault::Hash);
            }
        }
    }
}

/// Root of a full tile.
fn tile_root(mut row: Vec<Digest>) -> Digest {
    while row.len() > 1 {
        row = row.as_chunks().0.iter().map(|[left, right]| node_hash(left, right)).collect();
    }
    row.first().copied().unwrap_or_else(anchorlog_proto::merkle::empty_root)
}

/// Compares the roots of the stored entries with every checkpoint that the journal still has.
fn check_signed_sizes(
    objects: &FlatObjects,
    signed: &[(TreeSize, Digest)],
    stored: TreeSize,
    report: &mut Report,
) {
    let nodes = anchorlog_proto::tile::TileNodes(objects);
    // Neighbouring sizes share all but the edge, so the oldest and the newest say it for all between,
    // which the journal's own batches connect.
    let mut within = signed.iter().filter(|(size, _)| *size <= stored);
    let ends = [within.clone().next(), within.next_back()];
    for (size, root) in ends.into_iter().flatten() {
        if anchorlog_proto::merkle::root(&nodes, *size).ok() != Some(*root) {
            report.problem(JOURNAL, Some(size.get()), Fault::Root);
        }
    }
}

fn open_index(
    directory: &Path,
    engine: Engine,
    memory: u64,
    report: &mut Report,
) -> Option<Box<dyn Index>> {
    let directory = index_directory(directory);
    let exists = match fs::metadata(&directory) {
        Ok(_) => true,
        Err(error) if error.kind() == ErrorKind::NotFound => false,
        Err(error) => {
            let kind = error.kind();
            report.problem(crate::recovery::INDEX, None, Fault::Unreadable { kind });
            return None;
        }
    };
    if !exists {
        report.notes.push(Note::NoIndex);
        return None;
    }
    match index::open(engine, &index::Options { directory, memory }) {
        Ok(index) => Some(index),
        Err(error) => {
            let code = error.code();
            report.problem(crate::recovery::INDEX, None, Fault::Index { code });
            None
        }
    }
}

/// Compares the rows of the index with the rows that the entries ask for.
fn compare_index(
    index: &dyn Index,
    rows: Option<Rows>,
    expected: &Fingerprint,
    check: &Check<'_>,
    size: TreeSize,
    report: &mut Report,
) {
    let name = crate::recovery::INDEX;
    report.index_rows = Some(index.row_count());
    if index.indexed_size() > size.get() {
        report.problem(name, None, Fault::IndexDiffers);
    } else if index.indexed_size() < size.get() {
        report.notes.push(Note::IndexBehind { entries: size.get() - index.indexed_size() });
    }
    match rows {
        Some(Ok(rows)) if rows == *expected => {}
        Some(Ok(_)) => name_differences(index, check, report),
        Some(Err(error)) => {
            report.problem(name, None, Fault::Index { code: error.code() });
        }
        None => {}
    }
}

/// Finds which rows are missing and which are foreign: slow, and only done when there are some.
fn name_differences(index: &dyn Index, check: &Check<'_>, report: &mut Report) {
    let name = crate::recovery::INDEX;
    let before = report.problem_count;
    let mut next = 0;
    while next < check.indexed {
        let end = check.indexed.min(next + 256);
        let entries = crate::feeder::read_entries(check.objects, next, end).unwrap_or_default();
        for entry in &entries {
            match index.missing(entry) {
                Ok(rows) => {
                    for row in rows {
                        report.problem(name, Some(entry.index), Fault::MissingRow(row.table()));
                    }
                }
                Err(error) => {
                    report.problem(name, Some(entry.index), Fault::Index { code: error.code() });
                }
            }
        }
        next = end;
    }
    let scanned = index.scan(&mut |row| {
        let at = row.index();
        let entry = (at < check.indexed)
            .then(|| crate::feeder::read_entries(check.objects, at, at + 1).unwrap_or_default());
        let mut rows = entry.iter().flatten().flat_map(index::key::rows);
        if !rows.any(|asked_for| asked_for == *row) {
            report.problem(name, Some(at), Fault::ForeignRow(row.table()));
        }
        ControlFlow::Continue(())
    });
    if let Err(error) = scanned {
        report.problem(name, None, Fault::Index { code: error.code() });
    }
    if report.problem_count == before {
        report.problem(name, None, Fault::IndexDiffers);
    }
}

fn report_storage(file: &str, error: &StorageError, report: &mut Report) {
    match error {
        StorageError::Corrupt { file, offset, defect } => {
            report.problem(file, None, Fault::Damaged { offset: *offset, defect: *defect });
        }
        StorageError::Durable(error) => {
            report.problem(file, None, Fault::Unreadable { kind: error.source.kind() });
        }
        _ => report.problem(file, None, Fault::Unreadable { kind: ErrorKind::InvalidData }),
    }
}

fn level_file(level: u8, index: u64) -> String {
    format!("log/level{level}/{:010}", index >> 20)
}
