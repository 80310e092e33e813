//! The index: are its rows those that the entries ask for, and no others?

use std::fs;
use std::io::ErrorKind;
use std::ops::{ControlFlow, Range};
use std::path::Path;

use anchorlog_proto::merkle::TreeSize;

use super::{Fault, Note, Report};
use crate::index::{self, Engine, Fingerprint, Index, IndexError, IndexedEntry};
use crate::log::index_directory;
use crate::storage::flat::FlatObjects;

/// The rows of the index, or why they can't be read.
pub(super) type Rows = Result<Fingerprint, IndexError>;

/// The stored entries that an index should have rows for.
pub(super) struct Indexed<'a> {
    pub(super) objects: &'a FlatObjects,
    /// How many: those the index says it has, as far as they are stored.
    pub(super) count: u64,
    /// Entries that only the journal has; the index may have them before they are stored again.
    pub(super) unstored: Range<u64>,
}

impl Indexed<'_> {
    /// What of `first..end` can be read; what can't is reported by whoever checks the entries.
    fn read(&self, first: u64, end: u64) -> Vec<IndexedEntry> {
        crate::feeder::read_entries(self.objects, first, end).unwrap_or_default()
    }
}

/// Opens the index, if there is one. Its engine may tidy its own files up on the way.
pub(super) fn open_index(
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

/// The fingerprint of the rows of `index`, except those of `unstored` entries, in the quickest way. That it is not
/// what the entries ask for doesn't say yet that the rows are not.
pub(super) fn read_rows(index: &dyn Index, unstored: &Range<u64>) -> Rows {
    match index.quick_sum(&|row| !unstored.contains(&row.index()))? {
        Some(sum) => Ok(sum),
        None => walk_rows(index, unstored),
    }
}

/// The same in the order of keys, as look-ups see the rows.
fn walk_rows(index: &dyn Index, unstored: &Range<u64>) -> Rows {
    index.check_files()?;
    let mut sum = Fingerprint::default();
    index.scan(&mut |row| {
        if !unstored.contains(&row.index()) {
            sum.add(row);
        }
        ControlFlow::Continue(())
    })?;
    Ok(sum)
}

/// Compares the rows of the index with the rows that the entries ask for.
pub(super) fn compare_index(
    index: &dyn Index,
    rows: Option<Rows>,
    expected: &Fingerprint,
    entries: &Indexed<'_>,
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
        Some(Ok(_)) => match walk_rows(index, &entries.unstored) {
            Ok(rows) if rows == *expected => {}
            Ok(_) => name_differences(index, entries, report),
            Err(error) => {
                report.problem(name, None, Fault::Index { code: error.code() });
            }
        },
        Some(Err(error)) => {
            report.problem(name, None, Fault::Index { code: error.code() });
        }
        None => {}
    }
}

/// Finds which rows are missing and which are foreign: slow, and only done when there are some.
fn name_differences(index: &dyn Index, entries: &Indexed<'_>, report: &mut Report) {
    let name = crate::recovery::INDEX;
    let before = report.problem_count;
    let mut next = 0;
    while next < entries.count {
        let end = entries.count.min(next + 256);
        for entry in &entries.read(next, end) {
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
        let entry = if at < entries.count { entries.read(at, at + 1) } else { Vec::new() };
        let mut rows = entry.iter().flat_map(index::key::rows);
        if !entries.unstored.contains(&at) && !rows.any(|asked_for| asked_for == *row) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::conformance::distinct_entry;
    use crate::index::{
        Claim, DigestCursor, MemoryIndex, Page, Posting, Row, expected_fingerprint,
    };
    use anchorlog_proto::Digest;
    use anchorlog_proto::signed_object::SignerId;
    use anchorlog_proto::statement::{StatementKind, Trail};

    /// An index whose quick sum is what it is told to be.
    struct Hasty(MemoryIndex, Option<Fingerprint>);

    impl Index for Hasty {
        fn indexed_size(&self) -> u64 {
            self.0.indexed_size()
        }

        fn row_count(&self) -> u64 {
            self.0.row_count()
        }

        fn append(&self, first: u64, entries: &[IndexedEntry]) -> Result<(), IndexError> {
            self.0.append(first, entries)
        }

        fn find_leaf(
            &self,
            kind: StatementKind,
            digest: &Digest,
            leaf_hash: &Digest,
        ) -> Result<Option<u64>, IndexError> {
            self.0.find_leaf(kind, digest, leaf_hash)
        }

        fn by_digest(
            &self,
            digest: &Digest,
            kind: Option<StatementKind>,
            after: Option<&DigestCursor>,
            limit: usize,
        ) -> Result<Page<Posting, DigestCursor>, IndexError> {
            self.0.by_digest(digest, kind, after, limit)
        }

        fn by_trail(
            &self,
            trail: &Trail,
            from: u64,
            limit: usize,
        ) -> Result<Page<Posting, u64>, IndexError> {
            self.0.by_trail(trail, from, limit)
        }

        fn by_trail_sequence(
            &self,
            trail: &Trail,
            sequence: u64,
            from: u64,
            limit: usize,
        ) -> Result<Page<Claim, u64>, IndexError> {
            self.0.by_trail_sequence(trail, sequence, from, limit)
        }

        fn by_submitter(
            &self,
            signer: &SignerId,
            from: u64,
            limit: usize,
        ) -> Result<Page<Posting, u64>, IndexError> {
            self.0.by_submitter(signer, from, limit)
        }

        fn sync(&self) -> Result<(), IndexError> {
            self.0.sync()
        }

        fn quick_sum(
            &self,
            _wanted: &(dyn Fn(&Row) -> bool + Sync),
        ) -> Result<Option<Fingerprint>, IndexError> {
            Ok(self.1)
        }

        fn scan(&self, visit: &mut dyn FnMut(&Row) -> ControlFlow<()>) -> Result<(), IndexError> {
            self.0.scan(visit)
        }

        fn missing(&self, entry: &IndexedEntry) -> Result<Vec<Row>, IndexError> {
            self.0.missing(entry)
        }
    }

    /// The quick sum can settle that all is well; that something is wrong, the walk has to say as well.
    #[test]
    fn a_wrong_quick_sum_is_followed_by_the_walk() {
        let (size, folder) = (TreeSize::new(30).unwrap(), tempfile::tempdir().unwrap());
        let objects = FlatObjects::open_unchanged(folder.path(), TreeSize::ZERO);
        let entries = Indexed { objects: &objects, count: 0, unstored: 0..0 };
        let log: Vec<_> = (0..30).map(distinct_entry).collect();
        let mut expected = Fingerprint::default();
        for entry in &log {
            expected.merge(&expected_fingerprint(entry));
        }
        let mut other = log.clone();
        other[7].sequence = Some(9_999);
        let wrong = expected_fingerprint(&log[3]);
        for (held, quick, clean) in [
            (&log, None, true),
            (&log, Some(expected), true),
            (&log, Some(wrong), true),
            (&other, None, false),
            (&other, Some(wrong), false),
        ] {
            let index = Hasty(MemoryIndex::new(), quick);
            index.append(0, held).unwrap();
            let mut report = Report::default();
            let rows = Some(read_rows(&index, &entries.unstored));
            compare_index(&index, rows, &expected, &entries, size, &mut report);
            assert_eq!(report.is_clean(), clean, "{quick:?} {report:?}");
        }
        // It is asked, and what it says is enough.
        let index = Hasty(MemoryIndex::new(), Some(wrong));
        assert_eq!(read_rows(&index, &(0..0)).unwrap(), wrong);
    }
}
