//! Why a policy is refused, and why a checkpoint is not what a policy demands.

use super::{MAX_GROUPS, MAX_LOGS, MAX_NAME_BYTES, MAX_POLICY_BYTES, MAX_WITNESSES, PolicyName};
use crate::checkpoint::Origin;
use crate::note::{KeyError, NoteError};

/// Why a policy text is refused, or why a checkpoint does not satisfy a policy.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// The text is longer than [`MAX_POLICY_BYTES`].
    #[error("a policy of {bytes} bytes is over the limit of {MAX_POLICY_BYTES}")]
    TooLarge {
        /// Length of the text.
        bytes: usize,
    },
    /// The last line is not ended by a newline: it may have been cut.
    #[error("the policy does not end with a newline")]
    NoFinalNewline,
    /// A line is refused.
    #[error("line {line} of the policy: {reason}")]
    Line {
        /// Which line, counted from 1.
        line: usize,
        /// What is wrong with it.
        reason: PolicyLineError,
    },
    /// There is no quorum line.
    #[error("the policy has no quorum line")]
    NoQuorum,
    /// No log of the policy has the checkpoint's origin.
    #[error("the policy knows no log {origin}")]
    UnknownLog {
        /// The checkpoint's origin.
        origin: Origin,
    },
    /// No valid line by a key the policy has for this log.
    #[error("the log {origin} has not signed: {source}")]
    LogSignature {
        /// The checkpoint's origin.
        origin: Origin,
        /// What verification says.
        source: NoteError,
    },
    /// A line by a witness of the policy does not verify; the checkpoint is refused.
    #[error("a witness' line is not valid: {source}")]
    WitnessSignature {
        /// What verification says.
        source: NoteError,
    },
    /// The witnesses that cosigned do not make up the quorum.
    #[error("the quorum is not met by {cosigned} cosigning witnesses")]
    QuorumNotMet {
        /// How many witnesses of the policy have cosigned.
        cosigned: usize,
    },
}

impl PolicyError {
    /// The stable code of this refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "POLICY.TOO_LARGE",
            Self::NoFinalNewline => "POLICY.FINAL_NEWLINE",
            Self::Line { reason, .. } => reason.code(),
            Self::NoQuorum => "POLICY.NO_QUORUM",
            Self::UnknownLog { .. } => "LOG.UNKNOWN",
            Self::LogSignature { .. } => "LOG.SIG",
            Self::WitnessSignature { .. } | Self::QuorumNotMet { .. } => "LOG.QUORUM",
        }
    }
}

/// Why one line of a policy is refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyLineError {
    /// A byte that a policy can't hold, a carriage return for example.
    #[error("byte 0x{byte:02x} is not allowed")]
    Byte {
        /// Which one.
        byte: u8,
    },
    /// The line begins with none of the four keywords.
    #[error("a line begins with log, witness, group or quorum")]
    Keyword,
    /// Fewer or more words than lines of this kind have.
    #[error("not the words that such a line has")]
    Words,
    /// A key is refused.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The key is of a type that a log or a witness does not sign with.
    #[error("the key is of a type that is not used for this")]
    KeyAlgorithm,
    /// A log with the public key of an earlier one.
    #[error("an earlier log has the same public key")]
    DuplicateLog,
    /// A witness with the public key of an earlier one.
    #[error("an earlier witness has the same public key")]
    DuplicateWitness,
    /// Another key of the same name and key ID: a signature line could not say whose it is.
    #[error("an earlier key has the same name and key ID")]
    AmbiguousKey,
    /// A name longer than [`MAX_NAME_BYTES`].
    #[error("a name of more than {MAX_NAME_BYTES} bytes")]
    NameTooLong,
    /// The name `none` is given to a witness or a group, or used as a member.
    #[error("\"none\" is not the name of a witness or a group")]
    ReservedName,
    /// The name is given to a witness or a group already.
    #[error("the name {name} is given already")]
    DuplicateName {
        /// The name.
        name: PolicyName,
    },
    /// The name is not given on an earlier line.
    #[error("no earlier line defines {name}")]
    UndefinedName {
        /// The name.
        name: PolicyName,
    },
    /// The name is a member of a group already: its witnesses would count twice.
    #[error("{name} is a member of a group already")]
    MemberTwice {
        /// The name.
        name: PolicyName,
    },
    /// The threshold is neither `all` nor `any` nor a decimal number.
    #[error("the threshold is neither \"all\" nor \"any\" nor a decimal number")]
    ThresholdForm,
    /// The threshold is 0 or more than there are members.
    #[error("the threshold is not between 1 and the number of members, {members}")]
    ThresholdRange {
        /// How many members the group has.
        members: usize,
    },
    /// A second quorum line.
    #[error("there is a quorum line already")]
    SecondQuorum,
    /// More logs than [`MAX_LOGS`].
    #[error("more than {MAX_LOGS} logs")]
    TooManyLogs,
    /// More witnesses than [`MAX_WITNESSES`].
    #[error("more than {MAX_WITNESSES} witnesses")]
    TooManyWitnesses,
    /// More groups than [`MAX_GROUPS`].
    #[error("more than {MAX_GROUPS} groups")]
    TooManyGroups,
}

impl PolicyLineError {
    /// The stable code of this refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Byte { .. } => "POLICY.BYTE",
            Self::Keyword => "POLICY.KEYWORD",
            Self::Words => "POLICY.WORDS",
            Self::Key(error) => error.code(),
            Self::KeyAlgorithm => "POLICY.KEY_ALGORITHM",
            Self::DuplicateLog => "POLICY.LOG_DUP",
            Self::DuplicateWitness => "LOG.WITNESS_DUP",
            Self::AmbiguousKey => "POLICY.AMBIGUOUS_KEY",
            Self::NameTooLong => "POLICY.NAME_LENGTH",
            Self::ReservedName => "POLICY.RESERVED_NAME",
            Self::DuplicateName { .. } => "POLICY.NAME_DUP",
            Self::UndefinedName { .. } => "POLICY.UNDEFINED_NAME",
            Self::MemberTwice { .. } => "POLICY.MEMBER_TWICE",
            Self::ThresholdForm => "POLICY.THRESHOLD_FORM",
            Self::ThresholdRange { .. } => "POLICY.THRESHOLD_RANGE",
            Self::SecondQuorum => "POLICY.SECOND_QUORUM",
            Self::TooManyLogs => "POLICY.LOGS",
            Self::TooManyWitnesses => "POLICY.WITNESSES",
            Self::TooManyGroups => "POLICY.GROUPS",
        }
    }
}
