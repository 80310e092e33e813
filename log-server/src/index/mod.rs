//! Finds entries by what they say: leaf, digest, trail, place in a trail, submitter.
//!
//! What it is: a derived view of the log. One background writer feeds it after the commit from the durable
//! log; it can be deleted at any time and is rebuilt from the log. It says where to look, and the log says
//! what is there.
//!
//! What it is not: it is not the source of truth, it has no part in a commit and no fsync stands between a
//! request and its receipt because of it. It does not vouch for itself: a fingerprint of its rows is
//! compared with the log by `fsck`, because no engine notices every flipped bit.
//!
//! The contract is at [`Index`], the bytes are at [`key`], and [`conformance`] is the suite that every
//! implementation passes. Which engine is the default, and why, is in `docs/decisions/0002-index-engine.md`.

pub mod conformance;
mod error;
mod fingerprint;
mod fjall;
pub mod key;
mod keyed;
mod memory;
mod options;
mod redb;
#[cfg(feature = "sled")]
mod sled;
mod store;
#[cfg(test)]
mod tests;

use core::ops::ControlFlow;
use core::time::Duration;

use anchorlog_proto::Digest;
use anchorlog_proto::signed_object::SignerId;
use anchorlog_proto::statement::{LogEntry, StatementKind, Trail};

pub use error::{Damage, IndexError, Remedy};
pub use fingerprint::Fingerprint;
pub use key::{Row, Table};
pub use memory::MemoryIndex;
pub(crate) use options::contained;
pub use options::{
    DEFAULT_MEMORY, Engine, MIN_MEMORY, Opened, Options, delete, open, open_or_recreate,
};

use keyed::KeyedIndex;

/// Entries one call of [`Index::append`] takes. It bounds the memory of a batch to some tens of MiB.
pub const MAX_BATCH: usize = 16_384;

/// Items one call of a listing returns; a larger limit is taken for this one, and nought for one.
pub const MAX_PAGE: usize = 1_000;

/// How long [`Index::append`] waits for the engine's background work before it gives up.
pub const STALL_LIMIT: Duration = Duration::from_mins(2);

/// The index of one log.
///
/// # Contract
///
/// * **One writer, many readers.** `append` and `sync` are called by one thread at a time (a second caller
///   waits); every other method at any time, from any number of threads. No method is asynchronous; all of
///   them may touch the disk.
/// * **Contiguous.** A batch begins at `indexed_size` and its entries follow one another. Anything else is
///   refused, and the index is as it was.
/// * **Atomic.** A batch and the `indexed_size` that counts it become visible together, and after a crash
///   are there together or not at all. A reader never sees an entry at or above the `indexed_size` it could
///   read afterwards.
/// * **A crash only sets it back.** After `kill -9` or power loss the index opens again at some earlier or
///   equal `indexed_size` and holds exactly the entries below it. What was appended before a `sync` that
///   returned is never lost.
/// * **Not found means not found.** A look-up that couldn't be made is an error, never an absence: the
///   sequencer would take an absence for a new entry.
/// * **No duplicates come in.** The log gives the same leaf one index, so no two entries with the same
///   `leaf_hash` are appended. Were it to happen, a look-up would answer one of them, and the fingerprint
///   would tell.
/// * **A failed write ends writing.** After an error other than a refusal, `append` and `sync` answer
///   [`IndexError::Poisoned`]. Reads go on where the engine can (fjall), or are errors as well (redb, sled);
///   they never take to answering "not found". The way back is to open the directory again.
pub trait Index: Send + Sync {
    /// How many entries of the log are in the index; the index of the next one to append.
    fn indexed_size(&self) -> u64;

    /// How many rows were written for them.
    fn row_count(&self) -> u64;

    /// Appends `entries`, the first of which has the index `first`. An empty batch does nothing.
    ///
    /// # Errors
    ///
    /// [`IndexError::NotContiguous`] unless `first` is `indexed_size`, [`IndexError::OutOfOrder`] for an
    /// entry out of place, [`IndexError::BatchTooLarge`] for more than [`MAX_BATCH`]; these leave
    /// everything as it was. Any other error poisons the handle.
    fn append(&self, first: u64, entries: &[IndexedEntry]) -> Result<(), IndexError>;

    /// The index of the entry with exactly this leaf: the look-up every submission makes.
    fn find_leaf(
        &self,
        kind: StatementKind,
        digest: &Digest,
        leaf_hash: &Digest,
    ) -> Result<Option<u64>, IndexError>;

    /// Entries that commit to `digest`, of one kind or of all kinds.
    ///
    /// They come in the order of kind and leaf hash, not of index, so that a digest that somebody submitted
    /// a million times can still be listed page by page and costs what the page costs.
    fn by_digest(
        &self,
        digest: &Digest,
        kind: Option<StatementKind>,
        after: Option<&DigestCursor>,
        limit: usize,
    ) -> Result<Page<Posting, DigestCursor>, IndexError>;

    /// Entries of `trail` with an index of `from` or more, in the order of the log.
    fn by_trail(
        &self,
        trail: &Trail,
        from: u64,
        limit: usize,
    ) -> Result<Page<Posting, u64>, IndexError>;

    /// Entries that claim place `sequence` of `trail`, with an index of `from` or more, in the order of the
    /// log. More than one digest among them is a conflict.
    fn by_trail_sequence(
        &self,
        trail: &Trail,
        sequence: u64,
        from: u64,
        limit: usize,
    ) -> Result<Page<Claim, u64>, IndexError>;

    /// Entries signed by `signer` with an index of `from` or more, in the order of the log.
    fn by_submitter(
        &self,
        signer: &SignerId,
        from: u64,
        limit: usize,
    ) -> Result<Page<Posting, u64>, IndexError>;

    /// Makes everything appended so far durable.
    fn sync(&self) -> Result<(), IndexError>;

    /// Bytes of files that what was appended and isn't in any yet will take, about.
    fn unwritten_bytes(&self) -> u64 {
        0
    }

    /// Checks what of its files [`scan`](Self::scan) doesn't read, as far as the engine has checksums of it.
    fn check_files(&self) -> Result<(), IndexError> {
        Ok(())
    }

    /// The fingerprint of the `wanted` rows among all that are stored, from the engine's files on several
    /// threads and without an order; none where the engine has no such way or where rows may hide one another,
    /// so that only [`scan`](Self::scan) tells which rows there are. Checks all that
    /// [`check_files`](Self::check_files) checks.
    ///
    /// If this is what the entries of a log ask for, `scan` visits exactly their rows. If it isn't, `scan` has
    /// the last word.
    fn quick_sum(
        &self,
        _wanted: &(dyn Fn(&Row) -> bool + Sync),
    ) -> Result<Option<Fingerprint>, IndexError> {
        Ok(None)
    }

    /// Visits every stored row, also such as stand for no entry below `indexed_size`, until the visitor
    /// breaks. This reads the whole index.
    ///
    /// Together with [`key::rows`] and the log it names what is foreign: a row is foreign unless the
    /// entry at [`Row::index`] has it.
    fn scan(&self, visit: &mut dyn FnMut(&Row) -> ControlFlow<()>) -> Result<(), IndexError>;

    /// The rows of `entry` that are not stored exactly as they should be: none for an entry that is
    /// completely indexed.
    fn missing(&self, entry: &IndexedEntry) -> Result<Vec<Row>, IndexError>;

    /// The fingerprint of every stored row. This reads the whole index.
    ///
    /// It equals the merged [`expected_fingerprint`] of the log's first `indexed_size` entries exactly if
    /// the index holds their rows and no others.
    fn fingerprint(&self) -> Result<Fingerprint, IndexError> {
        let mut sum = Fingerprint::default();
        self.scan(&mut |row| {
            sum.add(row);
            ControlFlow::Continue(())
        })?;
        Ok(sum)
    }
}

/// What `entry` contributes to the fingerprint of an index.
#[must_use]
pub fn expected_fingerprint(entry: &IndexedEntry) -> Fingerprint {
    let mut sum = Fingerprint::default();
    for row in key::rows(entry) {
        sum.add(&row);
    }
    sum
}

/// What the index needs to know of one log entry.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct IndexedEntry {
    /// Position in the log.
    pub index: u64,
    /// RFC 6962 leaf hash of the entry.
    pub leaf_hash: Digest,
    /// The digest the statement commits to.
    pub digest: Digest,
    /// What the digest is a digest of.
    pub kind: StatementKind,
    /// The trail the statement belongs to.
    pub trail: Option<Trail>,
    /// Its place in the trail; of no effect without a trail.
    pub sequence: Option<u64>,
    /// Who signed the statement.
    pub signer: Option<SignerId>,
}

impl IndexedEntry {
    /// The log's entry number `index`.
    #[must_use]
    pub fn new(index: u64, entry: &LogEntry) -> Self {
        let statement = entry.statement();
        Self {
            index,
            leaf_hash: entry.leaf_hash(),
            digest: statement.digest,
            kind: statement.kind,
            trail: statement.trail.clone(),
            sequence: statement.sequence,
            signer: entry.signer(),
        }
    }
}

/// An entry found, to be read in the log.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Posting {
    /// Position in the log.
    pub index: u64,
    /// Kind of its statement.
    pub kind: StatementKind,
}

/// An entry that claims a place in a trail.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Claim {
    /// Position in the log.
    pub index: u64,
    /// The digest it claims for the place.
    pub digest: Digest,
}

/// A part of a listing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Page<T, C> {
    /// At most as many as were asked for.
    pub items: Vec<T>,
    /// Where to go on; `None` when the listing ends here.
    pub next: Option<C>,
}

/// A place in the listing of a digest: the last row that was returned.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct DigestCursor {
    /// Its kind.
    pub kind: StatementKind,
    /// Its leaf hash.
    pub leaf_hash: Digest,
}

/// Refuses what doesn't continue the index at `size`.
fn check_batch(size: u64, first: u64, entries: &[IndexedEntry]) -> Result<(), IndexError> {
    if first != size {
        return Err(IndexError::NotContiguous { expected: size, found: first });
    }
    if entries.len() > MAX_BATCH {
        return Err(IndexError::BatchTooLarge { entries: entries.len(), limit: MAX_BATCH });
    }
    for (expected, entry) in (first..).zip(entries) {
        if entry.index != expected {
            return Err(IndexError::OutOfOrder { expected, found: entry.index });
        }
    }
    Ok(())
}
