//! A chain that was read without a finding.

use anchorlog_proto::jp::witness::{Continuation, TrailId, VerifiedStatement};

/// How far a reading reaches.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the specification knows these two")]
pub enum ReadingKind {
    /// Up to a head that the reader fetched from the witness, as of that moment.
    Current,
    /// Up to the highest statement that was supplied; nothing is said about any after it.
    Historical,
}

impl ReadingKind {
    /// The specification's word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Historical => "historical",
        }
    }
}

/// A whole chain: every statement present, linked and signed, from the first one or from where an earlier
/// reading ended. Only [`super::read_chain`] makes one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reading {
    pub(super) trail: TrailId,
    pub(super) continued: Option<u64>,
    pub(super) head: Option<u64>,
    pub(super) last: VerifiedStatement,
    pub(super) latest: VerifiedStatement,
    pub(super) conflicts: Vec<u64>,
    pub(super) retired: bool,
}

impl Reading {
    /// The trail.
    #[must_use]
    pub const fn trail(&self) -> TrailId {
        self.trail
    }

    /// How far it reaches.
    #[must_use]
    pub const fn kind(&self) -> ReadingKind {
        if self.head.is_some() { ReadingKind::Current } else { ReadingKind::Historical }
    }

    /// The index after which it went on, if it continued an earlier one.
    #[must_use]
    pub const fn continued_after(&self) -> Option<u64> {
        self.continued
    }

    /// The index of the head, if one was supplied.
    #[must_use]
    pub const fn head_index(&self) -> Option<u64> {
        self.head
    }

    /// The chain's highest index.
    #[must_use]
    pub fn highest_index(&self) -> u64 {
        self.last.body().index
    }

    /// The last statement, of any kind.
    #[must_use]
    pub const fn last(&self) -> &VerifiedStatement {
        &self.last
    }

    /// The latest checkpoint statement: how far the witness' signature covers the trail.
    #[must_use]
    pub const fn latest_checkpoint(&self) -> &VerifiedStatement {
        &self.latest
    }

    /// The sequences of the conflicts that were read, in the order of their indexes.
    #[must_use]
    pub fn conflicts(&self) -> &[u64] {
        &self.conflicts
    }

    /// Whether the chain has ended.
    #[must_use]
    pub const fn is_retired(&self) -> bool {
        self.retired
    }

    /// Where a later reading of the same chain can go on.
    #[must_use]
    pub const fn continuation(&self) -> Continuation {
        Continuation::of(&self.last, &self.latest)
    }
}
