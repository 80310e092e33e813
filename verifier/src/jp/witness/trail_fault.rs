//! The words for what is found in a copy of a trail.

use crate::codes::Code;
use crate::codes::trail::{
    BEYOND, DISCONTINUITY, IDENTITY, INCOMPLETE, LINE, NOT_CHAINED, OTHER, PREVIOUS, RECORD,
    SEQUENCE,
};
use crate::finding::Finding;

/// What is found in a copy, by the words of the Judgment Pack runtime.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum TrailFault {
    /// A line that is not read.
    LineTooLong,
    /// A sequence that isn't the line's number.
    SequenceMismatch,
    /// A record that doesn't follow what stands before it.
    PreviousMismatch,
    /// A record of another trail.
    TrailMismatch,
    /// A repair without the form, or of what can't be damage.
    DiscontinuityMalformed,
    /// A repair of other bytes.
    DiscontinuityMismatch,
    /// A checkpoint of a line that the copy doesn't have.
    CheckpointBeyondTrail,
    /// A checkpoint of a line that is no chained record.
    CheckpointNotChained,
    /// A checkpoint of another trail than the record.
    CheckpointTrailMismatch,
    /// A checkpoint of another record.
    CheckpointRecordMismatch,
    /// Bytes after the last newline. A note: no checkpoint covers them.
    IncompleteLastLine,
}

impl TrailFault {
    /// The runtime's word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LineTooLong => "line-too-long",
            Self::SequenceMismatch => "sequence-mismatch",
            Self::PreviousMismatch => "previous-mismatch",
            Self::TrailMismatch => "trail-mismatch",
            Self::DiscontinuityMalformed => "discontinuity-malformed",
            Self::DiscontinuityMismatch => "discontinuity-mismatch",
            Self::CheckpointBeyondTrail => "checkpoint-beyond-trail",
            Self::CheckpointNotChained => "checkpoint-not-chained",
            Self::CheckpointTrailMismatch => "checkpoint-trail-mismatch",
            Self::CheckpointRecordMismatch => "checkpoint-record-mismatch",
            Self::IncompleteLastLine => "incomplete-last-line",
        }
    }

    /// Our code.
    #[must_use]
    pub const fn code(self) -> Code {
        match self {
            Self::LineTooLong => LINE,
            Self::SequenceMismatch => SEQUENCE,
            Self::PreviousMismatch => PREVIOUS,
            Self::TrailMismatch => IDENTITY,
            Self::DiscontinuityMalformed | Self::DiscontinuityMismatch => DISCONTINUITY,
            Self::CheckpointBeyondTrail => BEYOND,
            Self::CheckpointNotChained => NOT_CHAINED,
            Self::CheckpointTrailMismatch => OTHER,
            Self::CheckpointRecordMismatch => RECORD,
            Self::IncompleteLastLine => INCOMPLETE,
        }
    }

    pub(super) fn finding(self, detail: impl Into<Box<str>>) -> Finding {
        Finding::new(self.code(), detail).because(self.as_str())
    }
}
