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

/// The fingerprint of the rows of `index`, except those of `unstored` entries.
pub(super) fn read_rows(index: &dyn Index, unstored: &Range<u64>) -> Rows {
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
        Some(Ok(_)) => name_differences(index, entries, report),
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
