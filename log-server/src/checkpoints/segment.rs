//! One segment file: walking its records, and reading one of them.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchorlog_client::durable::{DurableError, Operation};
use anchorlog_proto::Digest;

use super::record::{Header, MAX_BODY_BYTES, Record, StoredToken};
use crate::storage::record::HEADER_BYTES;
use crate::storage::{Defect, StorageError};

/// Folder of the countersigned checkpoints below the data directory.
pub(crate) const FOLDER: &str = "checkpoints";

/// The two series of segments in the folder.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Series {
    /// Tokens and the places of the statements about them.
    Tokens,
    /// Cosignatures and the keys they verify under.
    Cosignatures,
}

impl Series {
    const fn suffix(self) -> &'static str {
        match self {
            Self::Tokens => "",
            Self::Cosignatures => ".cosigned",
        }
    }

    /// Whether a record belongs into a segment of this series.
    const fn holds(self, record: &Record) -> bool {
        match record {
            Record::Start => true,
            Record::Token(_) | Record::Logged(..) => matches!(self, Self::Tokens),
            Record::Witness(_) | Record::Cosigned(_) => matches!(self, Self::Cosignatures),
        }
    }
}

/// Where a token is, and what has to be known to choose among tokens.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) size: u64,
    pub(super) operator: Arc<str>,
    pub(super) received: i64,
    pub(super) expires: i64,
    pub(super) digest: Digest,
    /// The record, header included.
    pub(super) offset: u64,
    pub(super) length: usize,
}

/// Where the records of a segment end, and where its bytes do.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct End {
    /// The end of the last whole record.
    pub(crate) records: u64,
    /// Bytes after it: what a crash left of one more.
    pub(crate) torn: u64,
}

/// Walks the records of segment `number` below `directory`, oldest first, and hands each to `visit` with
/// its offset and length. In the `last` segment a torn record is an end.
pub(super) fn walk(
    directory: &Path,
    series: Series,
    number: u64,
    last: bool,
    mut visit: impl FnMut(Record, u64, usize) -> Result<(), StorageError>,
) -> Result<End, StorageError> {
    let path = path_of(directory, series, number);
    let read = |source| DurableError::new(&path, Operation::Read, source);
    let bytes = fs::read(&path).map_err(read)?;
    let mut rest = bytes.as_slice();
    let mut offset = 0;
    while !rest.is_empty() {
        let Some((record, length, behind)) = read_record(rest) else {
            if last && !record_follows(rest) {
                return Ok(End { records: offset, torn: count(rest.len()) });
            }
            return Err(corrupt(series, number, offset, Defect::DamagedRecord));
        };
        if (offset == 0) != (record == Record::Start) || !series.holds(&record) {
            return Err(corrupt(series, number, offset, Defect::BadRecord));
        }
        visit(record, offset, length)?;
        offset += count(length);
        rest = behind;
    }
    Ok(End { records: offset, torn: 0 })
}

/// The token that `row` is about.
pub(super) fn read(directory: &Path, number: u64, row: &Row) -> Result<StoredToken, StorageError> {
    match read_at(directory, Series::Tokens, number, row.offset, row.length)? {
        Record::Token(token) => Ok(token),
        _ => Err(corrupt(Series::Tokens, number, row.offset, Defect::DamagedRecord)),
    }
}

/// The record at a place of a segment.
pub(super) fn read_at(
    directory: &Path,
    series: Series,
    number: u64,
    offset: u64,
    length: usize,
) -> Result<Record, StorageError> {
    let path = path_of(directory, series, number);
    let mut bytes = vec![0; length];
    let file =
        File::open(&path).map_err(|source| DurableError::new(&path, Operation::Open, source))?;
    file.read_exact_at(&mut bytes, offset)
        .map_err(|source| DurableError::new(&path, Operation::Read, source))?;
    match read_record(&bytes) {
        Some((record, _, [])) => Ok(record),
        _ => Err(corrupt(series, number, offset, Defect::DamagedRecord)),
    }
}

/// The size of the first checkpoint of a segment that isn't written any more.
pub(super) fn first_size(
    directory: &Path,
    series: Series,
    number: u64,
) -> Result<u64, StorageError> {
    let path = path_of(directory, series, number);
    let read = |source| DurableError::new(&path, Operation::Read, source);
    let mut bytes = Vec::new();
    // The start, keys of a few hundred bytes, and the record.
    let first_few = u64::try_from(FIRST_KEYS_BYTES + MAX_BODY_BYTES).unwrap_or(u64::MAX);
    File::open(&path)
        .and_then(|file| file.take(first_few).read_to_end(&mut bytes))
        .map_err(read)?;
    let mut rest = bytes.as_slice();
    while let Some((record, _, behind)) = read_record(rest) {
        match record {
            Record::Token(token) => return Ok(token.size),
            Record::Cosigned(cosigned) => return Ok(cosigned.size),
            _ => rest = behind,
        }
    }
    Err(corrupt(series, number, 0, Defect::DamagedRecord))
}

/// The numbers of the segments below `directory`, and names that are none.
pub(super) fn list(
    directory: &Path,
    series: Series,
) -> Result<(Vec<u64>, Vec<String>), StorageError> {
    let failed = |source| DurableError::new(directory, Operation::Read, source);
    let (mut numbers, mut foreign) = (Vec::new(), Vec::new());
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok((numbers, foreign));
        }
        entries => entries.map_err(failed)?,
    };
    for entry in entries {
        let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
        match number_of(&name) {
            Some((known, number)) if known == series => numbers.push(number),
            Some(_) => {}
            None => foreign.push(name),
        }
    }
    numbers.sort_unstable();
    foreign.sort_unstable();
    Ok((numbers, foreign))
}

/// The path of a segment.
pub(super) fn path_of(directory: &Path, series: Series, number: u64) -> PathBuf {
    directory.join(name_of(series, number))
}

/// A segment, as messages name it: relative to the data directory.
pub(super) fn file_of(series: Series, number: u64) -> String {
    format!("{FOLDER}/{}", name_of(series, number))
}

pub(super) fn corrupt(series: Series, number: u64, offset: u64, defect: Defect) -> StorageError {
    StorageError::Corrupt { file: file_of(series, number), offset, defect }
}

fn name_of(series: Series, number: u64) -> String {
    format!("{number:010}{}", series.suffix())
}

fn number_of(name: &str) -> Option<(Series, u64)> {
    [Series::Cosignatures, Series::Tokens].into_iter().find_map(|series| {
        let number = name.strip_suffix(series.suffix())?.parse().ok()?;
        (name == name_of(series, number)).then_some((series, number))
    })
}

/// Bytes that may stand before the first checkpoint of a segment.
const FIRST_KEYS_BYTES: usize = 64 << 10;

/// The record at the beginning of `bytes`, its length, and what is behind it.
fn read_record(bytes: &[u8]) -> Option<(Record, usize, &[u8])> {
    let (header, rest) = bytes.split_first_chunk::<HEADER_BYTES>()?;
    let header = Header::read(header)?;
    let (body, behind) = rest.split_at_checked(header.length())?;
    Some((header.body(body)?, HEADER_BYTES + body.len(), behind))
}

/// Whether a whole record stands anywhere behind the beginning. It was written after what stands there was
/// whole, so the beginning is damaged, not torn.
fn record_follows(bytes: &[u8]) -> bool {
    // Most places fail on the header; the checksum is computed for very few.
    (1..bytes.len()).any(|skip| bytes.get(skip..).and_then(read_record).is_some())
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
