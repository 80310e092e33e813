//! What witnesses say against the log.

use std::fmt;

/// A witness knows something that it can't know of a log that was never rolled back and shows one tree to
/// everybody.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Alarm {
    /// The witness, by its name in the policy.
    pub witness: String,
    /// What it says.
    pub cause: AlarmCause,
    /// When it said it, in Unix seconds.
    pub since: i64,
}

/// What a witness says against the log.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum AlarmCause {
    /// It has cosigned more than the log has ever signed, as far as the log itself knows: the log was rolled
    /// back, or runs twice.
    LargerSize {
        /// The size that the witness knows.
        known: u64,
        /// The size that the log has published.
        published: u64,
    },
    /// It knows a tree of a smaller size that is not the beginning of the log's: the proof from that size,
    /// which the log has verified itself, was refused.
    Inconsistent {
        /// The size that the witness knows.
        from: u64,
        /// The size that it was offered.
        to: u64,
    },
    /// It knows a tree of the same size with another root.
    OtherRoot {
        /// The size.
        size: u64,
    },
}

impl AlarmCause {
    /// The stable code: that of the finding which the alarm is a sign of.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::LargerSize { .. } => "LOG.ROLLBACK",
            Self::Inconsistent { .. } => "LOG.CONSISTENCY",
            Self::OtherRoot { .. } => "LOG.SPLIT_VIEW",
        }
    }
}

impl fmt::Display for AlarmCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LargerSize { known, published } => write!(
                f,
                "it has cosigned a tree of {known} entries, and this log has {published}: the log was \
                 rolled back, or runs twice"
            ),
            Self::Inconsistent { from, to } => write!(
                f,
                "it refuses the proof that the tree of {to} entries continues the one of {from} that it \
                 has cosigned: that was another tree"
            ),
            Self::OtherRoot { size } => {
                write!(f, "it has cosigned another tree of the same {size} entries: a split view")
            }
        }
    }
}
