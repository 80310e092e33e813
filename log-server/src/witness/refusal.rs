//! Why a request gets no cosignature.

use anchorlog_proto::checkpoint::Origin;
use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::tlog_witness::{Refused, TlogWitnessError};

/// The answer to a request that isn't cosigned.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// 429: as many requests of this log wait as may.
    #[error("as many requests of this log wait as may; try again shortly")]
    Busy,
    /// 503: the clock is behind a time that was stated.
    #[error("the witness' clock ({now}) is behind a time it has stated before ({last})")]
    ClockBehind {
        /// What the clock says, in seconds since 1970; 0 if it was not set.
        now: u64,
        /// The latest time stated, in seconds since 1970.
        last: u64,
    },
    /// The decision of the protocol, with its own status.
    #[error("{0}")]
    Decided(#[from] Refused),
    /// 500: the witness can't go on and is stopping.
    #[error("the witness has failed; nothing was cosigned")]
    Failed,
    /// 500: the witness has lost state of this log, and cosigns nothing of it until its operator has looked.
    #[error("the witness has lost its state of {origin}; nothing of it is cosigned")]
    Halted {
        /// The log.
        origin: Origin,
    },
    /// 400: not a request.
    #[error("{0}")]
    Malformed(TlogWitnessError),
    /// 500: it could not be kept, and was therefore not cosigned.
    #[error("the checkpoint could not be kept; nothing was cosigned")]
    NotKept,
    /// 507: the disk is full.
    #[error("the witness' disk is full; nothing was cosigned")]
    OutOfSpace,
}

impl Refusal {
    /// The HTTP status of the answer.
    #[must_use]
    pub const fn status(&self) -> u16 {
        match self {
            Self::Decided(refused) => refused.status(),
            Self::Malformed(_) => 400,
            Self::Busy => 429,
            Self::Failed | Self::Halted { .. } | Self::NotKept => 500,
            Self::ClockBehind { .. } => 503,
            Self::OutOfSpace => 507,
        }
    }

    /// The stable code, which is also the label of the metrics where the set is closed.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Decided(refused) => refused.code(),
            Self::Malformed(error) => error.code(),
            Self::Busy => "WITNESS.BUSY",
            Self::ClockBehind { .. } => "WITNESS.CLOCK_BEHIND",
            Self::Failed => "WITNESS.FAILED",
            Self::Halted { .. } => "WITNESS.HALTED",
            Self::NotKept => "WITNESS.NOT_KEPT",
            Self::OutOfSpace => "WITNESS.DISK_FULL",
        }
    }

    /// The size the witness has, where that is the reason.
    #[must_use]
    pub const fn recorded(&self) -> Option<TreeSize> {
        match self {
            Self::Decided(Refused::Stale { recorded }) => Some(*recorded),
            _ => None,
        }
    }

    /// After how many seconds it may be worth trying again, where waiting helps.
    #[must_use]
    pub fn retry_after(&self) -> Option<u64> {
        match self {
            Self::Busy => Some(1),
            Self::ClockBehind { now, last } => Some(last.saturating_sub(*now).clamp(1, 3600)),
            Self::OutOfSpace => Some(60),
            _ => None,
        }
    }
}
