//! What every journal and every object store is held to: call these from a test of the implementation.
//!
//! They panic where the contract is broken, as tests do.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a suite for tests fails by panicking"
)]

use anchorlog_proto::Digest;
use anchorlog_proto::merkle::{self, Extension, Frontier, TreeSize, leaf_hash};
use anchorlog_proto::tile::{self, TileNodes, hashes_in_level};

use super::record::entries_of;
use super::{Batch, BatchRecord, Journal, Objects, StorageError};

/// A batch of made-up entries that follows `before`.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The entries as they are stored.
    pub bundle: Vec<u8>,
    /// Their hashes.
    pub extension: Extension,
    /// A stand-in for a signed checkpoint.
    pub checkpoint: Vec<u8>,
}

impl Sample {
    /// `count` entries of different lengths, some of them empty.
    #[must_use]
    pub fn new(before: &Frontier, count: u64) -> Self {
        let first = before.size().get();
        let entries: Vec<Vec<u8>> = (first..first + count).map(entry).collect();
        let mut bundle = Vec::new();
        for entry in &entries {
            tile::push_entry(&mut bundle, entry).expect("sample entries are short");
        }
        let hashes = entries.iter().map(|entry| leaf_hash(entry));
        let extension = Extension::new(before.clone(), hashes).expect("samples are small");
        let checkpoint = format!("checkpoint of {}", first + count).into_bytes();
        Self { bundle, extension, checkpoint }
    }

    /// The batch for a journal.
    #[must_use]
    pub fn record(&self) -> BatchRecord<'_> {
        let first_index = self.extension.before().size().get();
        let count = self.extension.size().get() - first_index;
        BatchRecord {
            first_index,
            count: u32::try_from(count).expect("samples are small"),
            checkpoint: &self.checkpoint,
            entries: &self.bundle,
        }
    }

    /// The batch for objects.
    #[must_use]
    pub fn batch(&self) -> Batch<'_> {
        Batch { entries: &self.bundle, extension: &self.extension }
    }
}

/// The made-up entry at `index`.
#[must_use]
pub fn entry(index: u64) -> Vec<u8> {
    let length = usize::try_from(index * 7 % 50).expect("a remainder is small");
    index.to_string().into_bytes().into_iter().cycle().take(length).collect()
}

/// Holds an empty journal to its contract; `reopen` gives it back after a restart, with what it replays.
pub fn check_journal<J: Journal>(
    journal: J,
    mut reopen: impl FnMut(J) -> (J, Vec<(u64, u32, Vec<u8>)>),
) {
    assert_eq!(journal.size(), TreeSize::ZERO);
    let mut edge = Frontier::new();
    let mut written = Vec::new();
    let mut journal = journal;
    for count in [0, 1, 300, 17, 5_000] {
        let sample = Sample::new(&edge, count);
        let record = sample.record();
        let stale = BatchRecord { first_index: record.first_index + 1, ..record };
        assert!(
            matches!(journal.append(&stale), Err(StorageError::NotTheNext { .. })),
            "a batch that leaves a gap must be refused"
        );
        journal.append(&record).expect("a batch that follows is taken");
        assert!(
            matches!(
                journal.append(&record),
                Err(StorageError::NotTheNext { .. } | StorageError::EmptyBatch)
            ),
            "the same batch twice must be refused"
        );
        let empty = Sample::new(sample.extension.after(), 0);
        assert!(
            matches!(journal.append(&empty.record()), Err(StorageError::EmptyBatch)),
            "a batch without entries must be refused"
        );
        written.push((record.first_index, record.count, sample.bundle.clone()));
        edge = sample.extension.after().clone();
        assert_eq!(journal.size(), edge.size());
        let (reopened, replayed) = reopen(journal);
        journal = reopened;
        assert_eq!(journal.size(), edge.size());
        assert!(ends_like(&replayed, &written), "all of it, in order, and nothing else");
    }
    journal.maintain(TreeSize::ZERO).expect("nothing is let go before it is durable elsewhere");
    let (journal, replayed) = reopen(journal);
    assert!(ends_like(&replayed, &written), "nothing was let go");

    journal.maintain(edge.size()).expect("what is durable elsewhere can be let go");
    let (journal, replayed) = reopen(journal);
    assert_eq!(journal.size(), edge.size(), "the newest record stays");
    assert_eq!(replayed.last().map(|batch| batch.0), written.last().map(|batch| batch.0));
}

/// Whether a replay ends with what was written last. Only the record of the empty log may be missing.
fn ends_like(replayed: &[(u64, u32, Vec<u8>)], written: &[(u64, u32, Vec<u8>)]) -> bool {
    written.ends_with(replayed) && (replayed.len() + 1 >= written.len())
}

/// Holds empty objects to their contract.
pub fn check_objects<O: Objects>(objects: &O) {
    let mut edge = Frontier::new();
    // Across bundle borders and level 1 tiles, one at a time and many at once.
    for count in [1, 1, 253, 1, 1, 255, 256, 513, 70_000, 3] {
        let sample = Sample::new(&edge, count);
        let bytes = u64::try_from(sample.bundle.len()).expect("samples are small");
        objects.reserve(count, bytes).expect("there is room");
        assert_eq!(objects.size(), edge.size(), "reserving stores nothing");
        objects.append(&sample.batch()).expect("there is room");
        edge = sample.extension.after().clone();
        assert_eq!(objects.size(), edge.size());
        assert_eq!(objects.sync().expect("the store syncs"), edge.size());
        check_contents(objects, &edge);
    }
}

/// Compares what objects hold with the entries and the tree that were stored.
pub fn check_contents<O: Objects>(objects: &O, edge: &Frontier) {
    let size = edge.size();
    let root = merkle::root(&TileNodes(objects), size).expect("stored hashes are readable");
    assert_eq!(root, edge.root());
    let last = size.get() - 1;
    for index in [0, 1, 255, 256, 257, last / 2, last.saturating_sub(1), last] {
        if index > last {
            continue;
        }
        let bundle = objects.read_entries(index, 1).expect("a stored entry is readable");
        let read: Vec<&[u8]> = entries_of(&bundle).map(|entry| entry.expect("whole")).collect();
        assert_eq!(read, [entry(index)], "entry {index}");
        let mut hash = [Digest::from_bytes([0; 32])];
        objects.read_hashes(0, index, &mut hash).expect("a stored hash is readable");
        assert_eq!(hash, [leaf_hash(&entry(index))]);
    }
    let last_bundle = last / 256 * 256;
    let width = u16::try_from(size.get() - last_bundle).expect("a bundle is small");
    let bundle = objects.read_entries(last_bundle, width).expect("the last bundle is readable");
    assert_eq!(entries_of(&bundle).count(), usize::from(width));

    let refused = |result: Result<Vec<u8>, StorageError>| {
        assert!(matches!(result, Err(StorageError::OutOfRange)), "must be out of range");
    };
    refused(objects.read_entries(size.get(), 1));
    refused(objects.read_entries(last, 2));
    refused(objects.read_entries(last, 0));
    refused(objects.read_entries(u64::MAX, 1));
    refused(objects.read_entries(255, 2));
    for level in 0..=9 {
        let end = hashes_in_level(level, size);
        let result = objects.read_hashes(level, end, &mut [Digest::from_bytes([0; 32])]);
        assert!(matches!(result, Err(StorageError::OutOfRange)), "level {level} ends at {end}");
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test fails by panicking")]

    use std::cell::RefCell;
    use std::fs;

    use super::super::flat::FlatObjects;
    use super::super::memory::{Fault, MemoryJournal, MemoryObjects};
    use super::super::wal::{FileJournal, WalOptions};
    use super::super::{Defect, StorageError};
    use super::*;

    type Replayed = Vec<(u64, u32, Vec<u8>)>;

    fn open_wal(directory: &std::path::Path, segment_bytes: usize) -> (FileJournal, Replayed) {
        try_open_wal(directory, segment_bytes).unwrap()
    }

    fn try_open_wal(
        directory: &std::path::Path,
        segment_bytes: usize,
    ) -> Result<(FileJournal, Replayed), StorageError> {
        let replayed = RefCell::new(Vec::new());
        let journal = FileJournal::open(
            directory,
            WalOptions { segment_bytes },
            |_| Ok(()),
            |batch| {
                let batch = (batch.first_index, batch.count, batch.entries.to_vec());
                replayed.borrow_mut().push(batch);
                Ok::<(), StorageError>(())
            },
        )?;
        Ok((journal, replayed.into_inner()))
    }

    #[test]
    fn memory_conforms() {
        check_journal(MemoryJournal::default(), |journal| {
            let batches = journal.batches();
            (journal, batches.into_iter().map(|b| (b.first_index, b.count, b.entries)).collect())
        });
        check_objects(&MemoryObjects::default());
    }

    #[test]
    fn memory_fails_as_told() {
        let journal = MemoryJournal::default();
        let sample = Sample::new(&Frontier::new(), 3);
        for (fault, size) in [(Fault::OutOfSpace, 0), (Fault::Lost, 0), (Fault::Kept, 3)] {
            journal.fail_next(fault);
            let error = journal.append(&sample.record()).unwrap_err();
            assert_eq!(error.is_out_of_space(), fault == Fault::OutOfSpace);
            assert_eq!(journal.size().get(), size);
        }
    }

    #[test]
    fn files_conform() {
        // Small segments are rotated at every batch, large ones never.
        for segment_bytes in [256, 64 << 10, 8 << 20] {
            let directory = tempfile::tempdir().unwrap();
            let (journal, _) = open_wal(directory.path(), segment_bytes);
            check_journal(journal, |journal| {
                drop(journal);
                open_wal(directory.path(), segment_bytes)
            });
            let directory = tempfile::tempdir().unwrap();
            check_objects(&FlatObjects::open(directory.path(), TreeSize::ZERO).unwrap());
        }
    }

    /// A journal of three batches in one segment, and the offsets at which the batches end.
    fn three_batches(directory: &std::path::Path) -> (std::path::PathBuf, Vec<usize>) {
        let (journal, _) = open_wal(directory, 1 << 16);
        let mut edge = Frontier::new();
        let path = directory.join(format!("{:020}.wal", 0));
        let mut ends = Vec::new();
        for count in [2, 3, 4] {
            let sample = Sample::new(&edge, count);
            journal.append(&sample.record()).unwrap();
            edge = sample.extension.after().clone();
            let bytes = fs::read(&path).unwrap();
            ends.push(bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1);
        }
        (path, ends)
    }

    #[test]
    fn a_torn_record_at_the_end_is_dropped_whatever_was_torn_off() {
        let whole = tempfile::tempdir().unwrap();
        let (path, ends) = three_batches(whole.path());
        let bytes = fs::read(&path).unwrap();
        for end in ends[1]..ends[2] {
            let directory = tempfile::tempdir().unwrap();
            let mut torn = bytes.clone();
            torn[end..].fill(0);
            fs::write(directory.path().join(path.file_name().unwrap()), torn).unwrap();
            let (journal, replayed) = open_wal(directory.path(), 1 << 16);
            assert_eq!((replayed.len(), journal.size().get()), (2, 5), "torn at {end}");
            // What was torn is gone for good, and the journal goes on where it was.
            let edge = Sample::new(&Frontier::new(), 5).extension.after().clone();
            journal.append(&Sample::new(&edge, 1).record()).unwrap();
            drop(journal);
            let (journal, replayed) = open_wal(directory.path(), 1 << 16);
            assert_eq!((replayed.len(), journal.size().get()), (3, 6));
        }
    }

    #[test]
    fn damage_before_the_end_is_never_an_end() {
        let whole = tempfile::tempdir().unwrap();
        let (path, ends) = three_batches(whole.path());
        let bytes = fs::read(&path).unwrap();
        for position in 0..ends[1] {
            let mut damaged = bytes.clone();
            damaged[position] ^= 0x10;
            fs::write(&path, damaged).unwrap();
            let error = try_open_wal(whole.path(), 1 << 16).unwrap_err();
            let StorageError::Corrupt { file, defect, .. } = error else { panic!("{error}") };
            assert!(file.starts_with("wal/"));
            assert_eq!(defect, Defect::DamagedRecord, "byte {position}");
        }
    }

    /// The record of a new segment may fail, and until it is durable the segment before has the newest one.
    #[test]
    fn the_newest_record_stays_when_a_new_segment_can_not_be_written() {
        let directory = tempfile::tempdir().unwrap();
        let (journal, _) = open_wal(directory.path(), 4_096);
        let sample = Sample::new(&Frontier::new(), 100);
        journal.append(&sample.record()).unwrap();
        let edge = sample.extension.after().clone();
        // Makes the spare segment, which comes to lie on a disk that takes nothing.
        journal.maintain(TreeSize::ZERO).unwrap();
        let spare = directory.path().join("spare");
        fs::remove_file(&spare).unwrap();
        std::os::unix::fs::symlink("/dev/full", &spare).unwrap();
        let failed = journal.append(&Sample::new(&edge, 100).record());
        assert!(matches!(failed, Err(StorageError::HalfWritten { .. })), "{failed:?}");
        // The thread that keeps goes on until the log is closed, and all that was promised is durable.
        journal.maintain(edge.size()).unwrap();
        drop(journal);

        let taken = directory.path().join(format!("{:020}.wal", edge.size().get()));
        fs::remove_file(&taken).unwrap();
        fs::write(&taken, vec![0; 4_096]).unwrap();
        let (journal, replayed) = open_wal(directory.path(), 4_096);
        assert_eq!((journal.size(), replayed.len()), (edge.size(), 1));
        assert_eq!(journal.checkpoint(), sample.checkpoint);
    }

    /// Whoever wrote the last record may have been killed before it was durable, or told that it is not.
    #[test]
    fn what_an_opened_journal_ends_with_is_made_durable_again() {
        let directory = tempfile::tempdir().unwrap();
        let (path, ends) = three_batches(directory.path());
        let bytes = fs::read(&path).unwrap();
        let long_ago = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
        fs::File::options().write(true).open(&path).unwrap().set_modified(long_ago).unwrap();
        let (journal, replayed) = open_wal(directory.path(), 1 << 16);
        assert_eq!((replayed.len(), journal.size().get()), (3, 9));
        assert_ne!(fs::metadata(&path).unwrap().modified().unwrap(), long_ago);
        assert_eq!(fs::read(&path).unwrap(), bytes);
        assert!(ends[2] < bytes.len());
    }

    #[test]
    fn objects_are_cut_back_and_stored_again() {
        let directory = tempfile::tempdir().unwrap();
        let first = Sample::new(&Frontier::new(), 700);
        let second = Sample::new(first.extension.after(), 66_000);
        let objects = FlatObjects::open(directory.path(), TreeSize::ZERO).unwrap();
        objects.append(&first.batch()).unwrap();
        objects.append(&second.batch()).unwrap();
        drop(objects);

        for size in [0, 1, 255, 256, 257, 700] {
            let size = TreeSize::new(size).unwrap();
            let objects = FlatObjects::open(directory.path(), size).unwrap();
            assert_eq!(objects.size(), size);
            let edge = Sample::new(&Frontier::new(), size.get()).extension.after().clone();
            let again = Sample::new(&edge, 66_700 - size.get());
            objects.append(&again.batch()).unwrap();
            check_contents(&objects, again.extension.after());
        }
        let beyond = TreeSize::new(66_701).unwrap();
        assert!(matches!(
            FlatObjects::open(directory.path(), beyond),
            Err(StorageError::Corrupt { defect: Defect::Truncated, .. })
        ));
    }
}
