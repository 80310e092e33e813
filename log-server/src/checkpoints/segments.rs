//! The segments of one series: which there are, the rows of a few of them, and the file of the last.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchorlog_client::durable::{self, AppendFile};

use super::record::Record;
use super::segment::{self, Series};
use crate::storage::{Defect, StorageError};

/// Bytes after which the next checkpoint begins a new segment.
pub(super) const SEGMENT_BYTES: u64 = 8 << 20;

/// What is kept in memory of a record.
pub(super) trait SegmentRow: Clone {
    /// Older segments whose rows are kept.
    const MAX_LOADED: usize;

    /// Number of entries that the record's checkpoint covers. The rows of a segment are in this order.
    fn size(&self) -> u64;
}

/// Every segment of a series. The last one is written.
#[derive(Debug)]
pub(super) struct Segments<R> {
    directory: PathBuf,
    series: Series,
    /// Bytes after which a segment is full.
    segment_bytes: u64,
    /// Each with the size of its first checkpoint, oldest first.
    older: Vec<(u64, u64)>,
    /// Rows of older ones that were asked for.
    loaded: BTreeMap<u64, Arc<Vec<R>>>,
    last: Option<Last<R>>,
}

#[derive(Debug)]
struct Last<R> {
    number: u64,
    file: AppendFile,
    rows: Arc<Vec<R>>,
}

impl<R: SegmentRow> Segments<R> {
    /// Opens the segments in `directory`, and drops a record that a crash tore. Nothing is created. `take` gets
    /// every record of the last segment with its offset and length, and adds its row.
    pub(super) fn open(
        directory: &Path,
        series: Series,
        segment_bytes: u64,
        mut take: impl FnMut(&mut Vec<R>, Record, u64, usize) -> Result<(), Defect>,
    ) -> Result<Self, StorageError> {
        let directory = directory.to_owned();
        let (mut numbers, _) = segment::list(&directory, series)?;
        let newest = numbers.pop();
        let first = |number| Ok((number, segment::first_size(&directory, series, number)?));
        let older = numbers.into_iter().map(first).collect::<Result<_, StorageError>>()?;
        let mut last = None;
        if let Some(number) = newest {
            let mut rows = Vec::new();
            let end = segment::walk(&directory, series, number, true, |record, offset, length| {
                take(&mut rows, record, offset, length)
                    .map_err(|defect| segment::corrupt(series, number, offset, defect))
            })?;
            let path = segment::path_of(&directory, series, number);
            let mut file = AppendFile::open_or_create(&path)?;
            if end.torn > 0 {
                tracing::warn!(
                    file = segment::file_of(series, number),
                    bytes = end.torn,
                    "a record that was never shown is dropped"
                );
                file.truncate(end.records)?;
            }
            // Whoever wrote the last record may have been killed before it was durable.
            file.sync_data()?;
            start(&mut file)?;
            last = Some(Last { number, file, rows: Arc::new(rows) });
        }
        Ok(Self { directory, series, segment_bytes, older, loaded: BTreeMap::new(), last })
    }

    /// The rows of the last segment.
    pub(super) fn tail(&self) -> &[R] {
        self.last.as_ref().map(|last| last.rows.as_slice()).unwrap_or_default()
    }

    /// The file and the rows of the last segment.
    pub(super) fn last(&mut self) -> Option<(&mut AppendFile, &mut Vec<R>)> {
        let Last { file, rows, .. } = self.last.as_mut()?;
        Some((file, Arc::make_mut(rows)))
    }

    /// Whether there is a segment that isn't full.
    pub(super) fn has_room(&self) -> bool {
        let room = |last: &Last<R>| last.file.len() < self.segment_bytes || last.rows.is_empty();
        self.last.as_ref().is_some_and(room)
    }

    /// Begins a new segment.
    pub(super) fn begin(&mut self) -> Result<(), StorageError> {
        durable::create_dir_all(&self.directory)?;
        if let Some(old) = &self.last {
            old.file.sync_data()?;
        }
        let number = self.last.as_ref().map_or(0, |last| last.number + 1);
        let path = segment::path_of(&self.directory, self.series, number);
        let mut file = AppendFile::open_or_create(&path)?;
        start(&mut file)?;
        let new = Last { number, file, rows: Arc::default() };
        if let Some(old) = self.last.replace(new)
            && let Some(first) = old.rows.first()
        {
            self.older.push((old.number, first.size()));
        }
        Ok(())
    }

    /// The segment in which a checkpoint of `size` can be.
    pub(super) fn segment_of(&self, size: u64) -> Option<u64> {
        self.newest_first(size.saturating_add(1)).next()
    }

    /// The segments in which a checkpoint smaller than `below` can be, newest first.
    pub(super) fn newest_first(&self, below: u64) -> impl Iterator<Item = u64> {
        self.all().rev().filter(move |(_, first)| *first < below).map(|(number, _)| number)
    }

    /// The segments in which a checkpoint larger than `index` can be, oldest first.
    pub(super) fn covering(&self, index: u64) -> impl Iterator<Item = u64> {
        let begun = self.all().filter(|(_, first)| *first <= index).count();
        self.all().skip(begun.saturating_sub(1)).map(|(number, _)| number)
    }

    fn all(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> {
        let first = |last: &Last<R>| last.rows.first().map_or(u64::MAX, SegmentRow::size);
        let last = self.last.iter().map(move |last| (last.number, first(last)));
        self.older.iter().copied().chain(last)
    }

    /// The rows of a segment, from memory or from the file; `take` as for [`Self::open`].
    pub(super) fn rows(
        &mut self,
        number: u64,
        mut take: impl FnMut(&mut Vec<R>, Record, u64, usize) -> Result<(), Defect>,
    ) -> Result<Arc<Vec<R>>, StorageError> {
        if let Some(last) = self.last.as_ref().filter(|last| last.number == number) {
            return Ok(Arc::clone(&last.rows));
        }
        if let Some(rows) = self.loaded.get(&number) {
            return Ok(Arc::clone(rows));
        }
        let mut rows = Vec::new();
        let series = self.series;
        segment::walk(&self.directory, series, number, false, |record, offset, length| {
            take(&mut rows, record, offset, length)
                .map_err(|defect| segment::corrupt(series, number, offset, defect))
        })?;
        if self.loaded.len() >= R::MAX_LOADED {
            // Which one goes matters little: a segment is read in milliseconds.
            self.loaded.pop_first();
        }
        let rows = Arc::new(rows);
        self.loaded.insert(number, Arc::clone(&rows));
        Ok(rows)
    }
}

/// The rows of one size.
pub(super) fn group<R: SegmentRow>(rows: &[R], size: u64) -> &[R] {
    let start = rows.partition_point(|row| row.size() < size);
    let end = rows.partition_point(|row| row.size() <= size);
    rows.get(start..end).unwrap_or_default()
}

/// The rows of checkpoints larger than `index`, those of one size together.
pub(super) fn groups_above<R: SegmentRow>(rows: &[R], index: u64) -> impl Iterator<Item = &[R]> {
    let above = rows.get(rows.partition_point(|row| row.size() <= index)..);
    above.unwrap_or_default().chunk_by(|a, b| a.size() == b.size())
}

/// The rows of checkpoints smaller than `below`, those of one size together, largest first.
pub(super) fn groups_below<R: SegmentRow>(rows: &[R], below: u64) -> impl Iterator<Item = &[R]> {
    let within = rows.get(..rows.partition_point(|row| row.size() < below));
    within.unwrap_or_default().chunk_by(|a, b| a.size() == b.size()).rev()
}

/// Writes the first record of a segment, unless it is there.
fn start(file: &mut AppendFile) -> Result<(), StorageError> {
    if file.is_empty() {
        let mut record = Vec::new();
        Record::Start.write(&mut record).ok_or(StorageError::OutOfRange)?;
        file.append(&record)?;
    }
    Ok(())
}
