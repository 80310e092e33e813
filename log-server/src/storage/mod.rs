//! What the log keeps, and the two contracts it keeps it under.
//!
//! A [`Journal`] is the moment of truth: a batch of entries together with the checkpoint that covers it is
//! one record, durable or not there at all. [`Objects`] is what readers are served from: entries and
//! hashes by position, appended after the journal has them, made durable at leisure, and rebuilt from the
//! journal after a crash. The journal forgets a record only when the objects have it durably.
//!
//! Every implementation runs the suite of [`conformance`]. [`wal`] and [`flat`] are the embedded default,
//! files of one directory on one machine; [`memory`] keeps nothing and breaks on demand, for tests.

pub mod conformance;
pub mod flat;
pub mod memory;
pub mod record;
mod segments;
pub(crate) mod space;
pub mod wal;

use anchorlog_client::durable::DurableError;
use anchorlog_proto::merkle::{Extension, TreeSize};
use anchorlog_proto::tile::TileHashes;

pub use record::BatchRecord;

/// What can go wrong with stored data.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// The journal was asked to append a batch that does not continue it.
    #[error("a batch that starts at {first_index} can't follow a log of size {size}")]
    NotTheNext {
        /// Index of the batch's first entry.
        first_index: u64,
        /// Entries the journal holds.
        size: u64,
    },
    /// Stored bytes are not what was written.
    #[error("{file}: {defect} at byte {offset}")]
    Corrupt {
        /// The file, relative to the data directory.
        file: String,
        /// Where in the file.
        offset: u64,
        /// What is wrong there.
        defect: Defect,
    },
    /// A batch without entries, other than the first: it would promise nothing new.
    #[error("a batch without entries is only taken as the very first")]
    EmptyBatch,
    /// A record of the journal may be there in part, or whole. Only a restart can tell.
    #[error("a record of the journal may be written in part: {source}")]
    HalfWritten {
        /// What failed on the way.
        source: DurableError,
    },
    /// A read past what is stored.
    #[error("entries or hashes beyond the stored size were asked for")]
    OutOfRange,
    /// The operating system.
    #[error(transparent)]
    Durable(#[from] DurableError),
    /// An injected failure.
    #[error("the store was told to fail")]
    Injected {
        /// Whether it plays a full disk.
        out_of_space: bool,
    },
}

impl StorageError {
    /// Whether the disk is full. For an append this also means that nothing was written.
    #[must_use]
    pub fn is_out_of_space(&self) -> bool {
        match self {
            Self::Durable(error) => error.is_out_of_space(),
            Self::Injected { out_of_space } => *out_of_space,
            _ => false,
        }
    }
}

/// How stored bytes can be wrong.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Defect {
    /// Bytes that should never have been written are not zero.
    #[error("bytes after the last record")]
    BytesAfterEnd,
    /// A record whose checksum does not match stands before valid records.
    #[error("a damaged record before valid ones")]
    DamagedRecord,
    /// A batch record that does not start where the one before ended.
    #[error("a record out of sequence")]
    OutOfSequence,
    /// A file is shorter than its contents.
    #[error("a file that ends early")]
    Truncated,
    /// An entry's length or a bundle's offset leads outside the file.
    #[error("a length or offset that leads outside the file")]
    BadOffset,
    /// A record's body is not in its format.
    #[error("a record in another format")]
    BadRecord,
    /// A file that the log has grown past is missing.
    #[error("a missing file")]
    Missing,
}

/// A durable, ordered record of batches: what has been promised.
///
/// Contract:
/// - [`append`](Self::append) is a compare-and-swap on the end of the journal: a batch that does not start
///   at [`size`](Self::size) is refused and changes nothing. So is a batch without entries, but for the
///   very first one, which holds the checkpoint of the empty log.
/// - When it returns `Ok`, the record survives the loss of power. When it returns an error for which
///   [`StorageError::is_out_of_space`] holds, nothing was written and the caller may go on. After any
///   other error the state is unknown: the caller stops, and recovery decides.
/// - Records are replayed in order, and only whole: a record that was torn by a crash was never
///   acknowledged and is dropped; damage anywhere else is an error, never an end.
/// - The newest record is never forgotten.
///
/// One thread appends; another may call [`maintain`](Self::maintain) meanwhile.
pub trait Journal: Send + Sync {
    /// Entries recorded.
    fn size(&self) -> TreeSize;

    /// Makes `batch` durable.
    fn append(&self, batch: &BatchRecord<'_>) -> Result<(), StorageError>;

    /// Lets go of records that end at or before `durable`, and prepares room for new ones.
    fn maintain(&self, durable: TreeSize) -> Result<(), StorageError>;
}

/// A batch as the objects store it.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The entries back to back, each behind its big-endian `u16` length.
    pub entries: &'a [u8],
    /// The hashes that the batch added.
    pub extension: &'a Extension,
}

/// Entries and hashes by position, immutable once written.
///
/// Contract:
/// - After [`reserve`](Self::reserve) returned `Ok`, an append of that size does not fail for want of
///   space.
/// - What [`append`](Self::append) wrote is readable when it returns, and durable after the next
///   [`sync`](Self::sync), which answers with the size that is now durable.
/// - Readers never see a byte of an append that has not returned: they ask only below
///   [`size`](Self::size).
///
/// One thread appends, one syncs, many read.
pub trait Objects: Send + Sync + TileHashes<Error = StorageError> {
    /// Entries stored.
    fn size(&self) -> TreeSize;

    /// Makes room for `entries` entries of together `bytes` bytes, lengths included.
    fn reserve(&self, entries: u64, bytes: u64) -> Result<(), StorageError>;

    /// Stores a batch at the end.
    fn append(&self, batch: &Batch<'_>) -> Result<(), StorageError>;

    /// Makes everything durable that was appended before the call, and says up to which size that is.
    fn sync(&self) -> Result<TreeSize, StorageError>;

    /// The entries `first..first + count`, as a bundle. They lie within one bundle of 256.
    fn read_entries(&self, first: u64, count: u16) -> Result<Vec<u8>, StorageError>;
}
