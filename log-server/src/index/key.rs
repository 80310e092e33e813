//! The rows an entry leaves in the index, byte for byte.
//!
//! | table | key | value | answers |
//! |---|---|---|---|
//! | `leaf` (1) | digest (32), kind (1), leaf hash (32) | index (8) | exact duplicates by a point look-up, a digest by its prefix |
//! | `trail` (2) | SHA-256 of the trail (32), index (8) | kind (1) | the statements of a trail, in order |
//! | `sequence` (3) | SHA-256 of the trail (32), sequence (8), index (8) | digest (32) | who claimed a place in a trail |
//! | `signer` (4) | the signer's id (32), index (8) | kind (1) | the statements of a submitter, in order |
//!
//! Numbers are big-endian, so the order of bytes is the order of numbers. Every table has keys and values
//! of one length: there is nothing to escape, and no trail, however long, can reach into the rows of
//! another. Hashes are kept whole, never shortened, so equal keys mean equal contents.
//!
//! A row is a pure function of one entry, carries that entry's index, and is never changed afterwards.
//! All the rest of the module leans on that: writing a batch twice does no harm, a reader's snapshot is
//! nothing but a number ("rows below this index"), and a row tells which entry it claims to stand for.

use anchorlog_proto::Digest;
use anchorlog_proto::signed_object::SignerId;
use anchorlog_proto::statement::{StatementKind, Trail};

use super::{Damage, DigestCursor, IndexError, IndexedEntry};

/// The number of the row format. It changes with every change to the table above.
pub const FORMAT: u8 = 1;

/// A group of rows that are searched together.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Table {
    /// One row for every entry.
    Leaf,
    /// One row for every entry with a trail.
    Trail,
    /// One row for every entry with a sequence number.
    Sequence,
    /// One row for every signed entry.
    Signer,
}

impl Table {
    /// Every table, in the order of the tags.
    pub const ALL: [Self; 4] = [Self::Leaf, Self::Trail, Self::Sequence, Self::Signer];

    /// The number of the table in stored bytes and in fingerprints.
    #[must_use]
    pub const fn tag(self) -> u8 {
        match self {
            Self::Leaf => 1,
            Self::Trail => 2,
            Self::Sequence => 3,
            Self::Signer => 4,
        }
    }

    /// The table's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Leaf => "leaf",
            Self::Trail => "trail",
            Self::Sequence => "sequence",
            Self::Signer => "signer",
        }
    }
}

impl core::fmt::Display for Table {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One stored row.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Row {
    /// A row of [`Table::Leaf`].
    Leaf {
        /// Digest, kind, leaf hash.
        key: [u8; 65],
        /// Index.
        value: [u8; 8],
    },
    /// A row of [`Table::Trail`].
    Trail {
        /// Hashed trail, index.
        key: [u8; 40],
        /// Kind.
        value: [u8; 1],
    },
    /// A row of [`Table::Sequence`].
    Sequence {
        /// Hashed trail, sequence, index.
        key: [u8; 48],
        /// Digest.
        value: [u8; 32],
    },
    /// A row of [`Table::Signer`].
    Signer {
        /// Signer's id, index.
        key: [u8; 40],
        /// Kind.
        value: [u8; 1],
    },
}

impl Row {
    /// Takes stored bytes for a row, if they have the lengths of their table and a known kind.
    ///
    /// # Errors
    ///
    /// [`Damage::Row`] otherwise.
    pub fn read(table: Table, key: &[u8], value: &[u8]) -> Result<Self, IndexError> {
        let row = match table {
            Table::Leaf => key
                .try_into()
                .ok()
                .zip(value.try_into().ok())
                .map(|(key, value)| Self::Leaf { key, value }),
            Table::Trail => key
                .try_into()
                .ok()
                .zip(value.try_into().ok())
                .map(|(key, value)| Self::Trail { key, value }),
            Table::Sequence => key
                .try_into()
                .ok()
                .zip(value.try_into().ok())
                .map(|(key, value)| Self::Sequence { key, value }),
            Table::Signer => key
                .try_into()
                .ok()
                .zip(value.try_into().ok())
                .map(|(key, value)| Self::Signer { key, value }),
        };
        let row = row.ok_or(IndexError::Damaged(Damage::Row(table)))?;
        row.kind()?;
        Ok(row)
    }

    /// The table the row stands in.
    #[must_use]
    pub const fn table(&self) -> Table {
        match self {
            Self::Leaf { .. } => Table::Leaf,
            Self::Trail { .. } => Table::Trail,
            Self::Sequence { .. } => Table::Sequence,
            Self::Signer { .. } => Table::Signer,
        }
    }

    /// The stored key.
    #[must_use]
    pub const fn key(&self) -> &[u8] {
        match self {
            Self::Leaf { key, .. } => key,
            Self::Trail { key, .. } | Self::Signer { key, .. } => key,
            Self::Sequence { key, .. } => key,
        }
    }

    /// The stored value.
    #[must_use]
    pub const fn value(&self) -> &[u8] {
        match self {
            Self::Leaf { value, .. } => value,
            Self::Trail { value, .. } | Self::Signer { value, .. } => value,
            Self::Sequence { value, .. } => value,
        }
    }

    /// The log index of the entry this row claims to stand for.
    #[must_use]
    pub fn index(&self) -> u64 {
        let bytes = match self {
            Self::Leaf { value, .. } => value.last_chunk(),
            Self::Trail { key, .. } | Self::Signer { key, .. } => key.last_chunk(),
            Self::Sequence { key, .. } => key.last_chunk(),
        };
        // Every one of these arrays holds eight bytes or more.
        bytes.map_or(u64::MAX, |bytes| u64::from_be_bytes(*bytes))
    }

    /// The kind of the statement, where the row has it.
    ///
    /// # Errors
    ///
    /// [`Damage::Row`] for a number that stands for no kind.
    pub fn kind(&self) -> Result<Option<StatementKind>, IndexError> {
        let code = match self {
            Self::Leaf { key, .. } => key.get(32),
            Self::Trail { value: [code], .. } | Self::Signer { value: [code], .. } => Some(code),
            Self::Sequence { .. } => None,
        };
        code.map(|&code| kind_from_code(code).ok_or(IndexError::Damaged(Damage::Row(self.table()))))
            .transpose()
    }
}

/// The rows of one entry, and nothing else: the pure function the whole index is made of.
pub fn rows(entry: &IndexedEntry) -> impl Iterator<Item = Row> + use<> {
    let kind = kind_code(entry.kind);
    let leaf = Row::Leaf {
        key: leaf_key(&entry.digest, entry.kind, &entry.leaf_hash),
        value: entry.index.to_be_bytes(),
    };
    let trail = entry.trail.as_ref().map(trail_name);
    let signer = entry.signer.as_ref().map(signer_name);
    let sequence = trail.zip(entry.sequence).map(|(name, sequence)| Row::Sequence {
        key: sequence_key(&name, sequence, entry.index),
        value: *entry.digest.as_bytes(),
    });
    let trail = trail.map(|name| Row::Trail { key: list_key(&name, entry.index), value: [kind] });
    let signer =
        signer.map(|name| Row::Signer { key: list_key(&name, entry.index), value: [kind] });
    [Some(leaf), trail, sequence, signer].into_iter().flatten()
}

/// The key of [`Table::Leaf`].
pub(super) fn leaf_key(digest: &Digest, kind: StatementKind, leaf_hash: &Digest) -> [u8; 65] {
    let mut key = [0; 65];
    let (head, tail) = key.split_at_mut(32);
    head.copy_from_slice(digest.as_bytes());
    let (code, tail) = tail.split_at_mut(1);
    code.copy_from_slice(&[kind_code(kind)]);
    tail.copy_from_slice(leaf_hash.as_bytes());
    key
}

/// The first and the last key of [`Table::Leaf`] a digest can have, in one kind or in all.
pub(super) fn leaf_range(digest: &Digest, kind: Option<StatementKind>) -> ([u8; 65], [u8; 65]) {
    let bound = |fill: u8| {
        let mut key = [fill; 65];
        let (head, tail) = key.split_at_mut(32);
        head.copy_from_slice(digest.as_bytes());
        if let (Some(kind), Some(code)) = (kind, tail.first_mut()) {
            *code = kind_code(kind);
        }
        key
    };
    (bound(0), bound(0xff))
}

/// The least key above `key`; the greatest key of all is its own successor.
pub(super) fn successor(key: [u8; 65]) -> [u8; 65] {
    let mut next = key;
    for byte in next.iter_mut().rev() {
        let (sum, carry) = byte.overflowing_add(1);
        *byte = sum;
        if !carry {
            return next;
        }
    }
    key
}

/// Kind and leaf hash of a row of [`Table::Leaf`].
pub(super) fn digest_cursor(row: &Row) -> Result<DigestCursor, IndexError> {
    let damaged = IndexError::Damaged(Damage::Row(row.table()));
    match (row, row.kind()?) {
        (Row::Leaf { key, .. }, Some(kind)) => {
            let leaf_hash = key.last_chunk().ok_or(damaged)?;
            Ok(DigestCursor { kind, leaf_hash: Digest::from_bytes(*leaf_hash) })
        }
        _ => Err(damaged),
    }
}

/// The key of [`Table::Trail`] and of [`Table::Signer`].
pub(super) fn list_key(name: &[u8; 32], index: u64) -> [u8; 40] {
    let mut key = [0; 40];
    let (head, tail) = key.split_at_mut(32);
    head.copy_from_slice(name);
    tail.copy_from_slice(&index.to_be_bytes());
    key
}

/// The key of [`Table::Sequence`].
pub(super) fn sequence_key(name: &[u8; 32], sequence: u64, index: u64) -> [u8; 48] {
    let mut key = [0; 48];
    let (head, tail) = key.split_at_mut(32);
    head.copy_from_slice(name);
    let (place, tail) = tail.split_at_mut(8);
    place.copy_from_slice(&sequence.to_be_bytes());
    tail.copy_from_slice(&index.to_be_bytes());
    key
}

/// What a trail is called in keys.
pub(super) fn trail_name(trail: &Trail) -> [u8; 32] {
    *Digest::of(trail.as_str().as_bytes()).as_bytes()
}

/// What a signer is called in keys: the 32 bytes of its identifier.
pub(super) const fn signer_name(signer: &SignerId) -> [u8; 32] {
    *signer.as_bytes()
}

/// The number of a kind in keys and values. Numbers are never given anew.
pub(super) const fn kind_code(kind: StatementKind) -> u8 {
    match kind {
        StatementKind::PlanCommitment => 1,
        StatementKind::CoreRoot => 2,
        StatementKind::ChainHead => 3,
        StatementKind::EnvelopeRoot => 4,
        StatementKind::Attestation => 5,
        StatementKind::Policy => 6,
        StatementKind::ExecutionDigest => 7,
        StatementKind::Checkpoint => 8,
        StatementKind::Anchor => 9,
        StatementKind::Digest => 10,
    }
}

fn kind_from_code(code: u8) -> Option<StatementKind> {
    StatementKind::ALL.iter().copied().find(|&kind| kind_code(kind) == code)
}
