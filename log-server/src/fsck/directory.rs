//! Checks the data directory of a log that is not running.
//!
//! The files of the log are read and nothing else. The index is opened by its engine, which may tidy its own
//! files up as at any start; all of it is derived.

use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use anchorlog_client::durable::DirectoryLock;
use anchorlog_proto::Digest;
use anchorlog_proto::merkle::{self, TreeSize, empty_root, leaf_hash, node_hash};
use anchorlog_proto::note::VerifierKey;
use anchorlog_proto::statement::LogEntry;
use anchorlog_proto::tile::{TileHashes, TileNodes};

use super::checkpoints::check_checkpoints;
use super::index::{Indexed, Rows, compare_index, open_index, read_rows};
use super::journal::{Signed, check_journal};
use super::{Fault, Note, Report};
use crate::error::Error;
use crate::frozen::{self, Frozen};
use crate::index::{self, Engine, Fingerprint, Index, IndexError, IndexedEntry};
use crate::recovery::{JOURNAL, LOCK, OBJECTS};
use crate::storage::flat::{FlatObjects, Unexpected};
use crate::storage::record::entries_of;
use crate::storage::{Defect, Objects, StorageError};

/// Bundles that one thread checks before it looks for more.
const STRIDE: u64 = 64;

/// Reads everything in the data directory of a log and compares it with what was signed.
///
/// `keys` are all that the log signs with or has signed with. `progress` is told the number of entries checked and the number there are.
pub fn check_directory(
    directory: &Path,
    keys: &[VerifierKey],
    engine: Engine,
    index_memory: u64,
    progress: impl Fn(u64, u64) + Sync,
) -> Result<Report, Error> {
    let _lock = DirectoryLock::acquire(&directory.join(LOCK))?;
    let mut report = Report::default();
    let folder = directory.join(OBJECTS);
    let begun = FlatObjects::stored_entries(&folder)?;
    let Some(journal) = check_journal(directory, keys, begun, &mut report)? else {
        return Ok(report);
    };
    report.size = journal.size.get();
    report.root = Some(journal.root);
    check_frozen(directory, keys, &journal, &mut report);
    let stored = FlatObjects::whole_entries(&folder, journal.base, journal.size, journal.bytes)?;
    let unstored = stored.get()..journal.size.get();
    if !unstored.is_empty() {
        report.notes.push(Note::NotStoredYet { entries: unstored.end - unstored.start });
    }
    check_files(&folder, stored, journal.size, &mut report)?;

    let objects = FlatObjects::open_unchanged(&folder, stored);
    let index = open_index(directory, engine, index_memory, &mut report);
    let count = index.as_deref().map_or(0, Index::indexed_size).min(stored.get());
    let check = Check {
        objects: &objects,
        root: unstored.is_empty().then_some(journal.root),
        indexed: Indexed { objects: &objects, count, unstored },
        next: AtomicU64::new(0),
        done: AtomicU64::new(0),
    };
    let (parts, rows) = check.run(index.as_deref(), &progress);
    let mut expected = Fingerprint::default();
    for (part, fingerprint) in parts {
        report.absorb(part);
        expected.merge(&fingerprint);
    }
    if report.is_clean() {
        check_signed_sizes(&objects, &journal.checkpoints, stored, &mut report);
    }
    check_checkpoints(directory, keys, &objects, journal.size, &mut report)?;
    if let Some(index) = &index {
        compare_index(&**index, rows, &expected, &check.indexed, journal.size, &mut report);
    }
    Ok(report)
}

/// Checks that a log which has ended ends where it says.
fn check_frozen(directory: &Path, keys: &[VerifierKey], journal: &Signed, report: &mut Report) {
    let fault = match Frozen::read(directory) {
        Ok(None) => return,
        Ok(Some(frozen)) => match frozen.checkpoint().verify_any(keys) {
            Ok(last) => {
                report.notes.push(Note::Frozen);
                let last = last.checkpoint();
                let same = (last.size, last.root) == (journal.size, journal.root);
                (!same).then_some(Fault::Frozen { reason: "not the tree that the log ends with" })
            }
            Err(error) => Some(Fault::Checkpoint(error)),
        },
        Err(error) => {
            tracing::debug!(%error, "the log's last checkpoint");
            Some(Fault::Frozen { reason: "its file can't be relied on" })
        }
    };
    if let Some(fault) = fault {
        report.problem(frozen::FILE, None, fault);
    }
}

/// Checks which files there are and how long they are: those of `stored` entries, or of more, up to what was
/// `promised`, where a crash came between the journal and them.
fn check_files(
    folder: &Path,
    stored: TreeSize,
    promised: TreeSize,
    report: &mut Report,
) -> Result<(), Error> {
    for unexpected in FlatObjects::unexpected(folder, stored, promised)? {
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

/// The work that threads share.
struct Check<'a> {
    objects: &'a FlatObjects,
    /// The root that was signed for all that is stored, unless a crash came in between.
    root: Option<Digest>,
    indexed: Indexed<'a>,
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
            let rows = index.map(|index| scope.spawn(|| read_rows(index, &self.indexed.unstored)));
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
            Err(error) => {
                if matches!(error, StorageError::Corrupt { defect: Defect::BadOffset, .. }) {
                    // Lengths and offsets disagree, and either may be the one that is wrong.
                    let offsets = format!("log/bundles/{:010}", range.start >> 20);
                    report.problem(offsets, Some(range.start), Fault::Offset);
                }
                return report_storage(&file, &error, report);
            }
        };
        self.compare_leaves(&file, bundle, &hashes, report);
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
        let bytes = self.objects.exact_bundle(range.start / 256)?;
        let mut hashes = Vec::with_capacity(256);
        for (index, bytes) in range.zip(entries_of(&bytes)) {
            let bytes = bytes.map_err(|_| StorageError::OutOfRange)?;
            report.entries += 1;
            match LogEntry::from_leaf(bytes) {
                Ok(entry) => {
                    hashes.push(entry.leaf_hash());
                    if index < self.indexed.count {
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

    /// Compares the stored leaf hashes of a bundle with those of its entries. Where they differ, what is
    /// stored above them says which of the two is not what was signed.
    fn compare_leaves(&self, file: &str, bundle: u64, computed: &[Digest], report: &mut Report) {
        let first = bundle * 256;
        let mut stored = vec![Digest::from_bytes([0; 32]); computed.len()];
        if let Err(error) = self.objects.read_hashes(0, first, &mut stored) {
            return report_storage(&level_file(0, first), &error, report);
        }
        if stored == computed {
            return;
        }
        let hashes_hold = if stored.len() == 256 {
            let mut above = [Digest::from_bytes([0; 32])];
            self.objects.read_hashes(1, bundle, &mut above).is_ok()
                && above == [tile_root(stored.clone())]
        } else {
            self.root.is_some()
                && merkle::root(&TileNodes(self.objects), self.objects.size()).ok() == self.root
        };
        for (index, (stored, computed)) in (first..).zip(stored.iter().zip(computed)) {
            if stored != computed && hashes_hold {
                report.problem(file, Some(index), Fault::Leaf);
            } else if stored != computed {
                report.problem(level_file(0, index), Some(index), Fault::Hash);
            }
        }
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
    row.first().copied().unwrap_or_else(empty_root)
}

/// Compares the roots of the stored entries with every checkpoint that the journal still has.
fn check_signed_sizes(
    objects: &FlatObjects,
    signed: &[(TreeSize, Digest)],
    stored: TreeSize,
    report: &mut Report,
) {
    let nodes = TileNodes(objects);
    // Neighbouring sizes share all but the edge, so the oldest and the newest say it for all between,
    // which the journal's own batches connect.
    let mut within = signed.iter().filter(|(size, _)| *size <= stored);
    let ends = [within.clone().next(), within.next_back()];
    for (size, root) in ends.into_iter().flatten() {
        if merkle::root(&nodes, *size).ok() != Some(*root) {
            report.problem(JOURNAL, Some(size.get()), Fault::Root);
        }
    }
}

pub(super) fn report_storage(file: &str, error: &StorageError, report: &mut Report) {
    match error {
        StorageError::Corrupt { file, offset, defect } => {
            report.problem(file, None, Fault::Damaged { offset: *offset, defect: *defect });
        }
        StorageError::Durable(error) => {
            report.problem(file, None, Fault::Unreadable { kind: error.source.kind() });
        }
        _ => {
            report.problem(file, None, Fault::Unreadable { kind: ErrorKind::InvalidData });
        }
    }
}

fn level_file(level: u8, index: u64) -> String {
    format!("log/level{level}/{:010}", index >> 20)
}
