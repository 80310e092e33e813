//! The specification's words for what refuses a reading and for what is found in it.

use anchorlog_proto::jp::witness::KeyRefusal;

use super::{KEY, MAX_BYTES, MAX_KEYS, MAX_STATEMENTS, STATEMENTS};
use crate::codes::Code;
use crate::codes::witness::{
    BOUND, CHAIN, EQUIVOCATION, HEAD_BEHIND, HEAD_UNREACHED, KEY_RULE, MALFORMED, RESUMED,
    SIGNATURE, TRAIL,
};
use crate::finding::Finding;

/// Why nothing was read at all. A reading is never one of a part.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// More than [`MAX_KEYS`].
    #[error("{given} keys are given, and one reading takes at most {MAX_KEYS}")]
    KeysOverBound {
        /// How many.
        given: usize,
    },
    /// A key that the key rule refuses.
    #[error("key {number} can't be trusted: {}", why(*.refusal))]
    Key {
        /// Which, counted from 1.
        number: usize,
        /// Why.
        refusal: KeyRefusal,
    },
    /// The files are together over [`MAX_BYTES`].
    #[error("the files have more than {MAX_BYTES} bytes together")]
    BytesOverBound,
    /// The files have together more than [`MAX_STATEMENTS`] statement lines.
    #[error(
        "the files have more than {MAX_STATEMENTS} statements together; read the chain in steps"
    )]
    StatementsOverBound,
    /// A file has a statement that the continuation stands for already.
    #[error(
        "line {line}: the statement of index {index}, and the continuation ends at index {last}; \
         give only the statements after it"
    )]
    BeforeContinuation {
        /// Which file, counted from 1.
        file: u32,
        /// Which of its lines, counted from 1.
        line: u64,
        /// The statement's index.
        index: u64,
        /// The index of the continuation's last statement.
        last: u64,
    },
}

impl Refusal {
    /// The specification's word.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::KeysOverBound { .. } => "keys-over-bound",
            Self::Key { refusal, .. } => refusal.as_str(),
            Self::BytesOverBound => "bytes-over-bound",
            Self::StatementsOverBound => "statements-over-bound",
            Self::BeforeContinuation { .. } => "statement-before-continuation",
        }
    }

    /// The finding, whose reason is the specification's word.
    #[must_use]
    pub fn finding(&self) -> Finding {
        let code = match self {
            Self::Key { .. } => KEY_RULE,
            Self::BeforeContinuation { .. } => RESUMED,
            _ => BOUND,
        };
        let finding = Finding::new(code, self.to_string()).because(self.as_str());
        match *self {
            Self::KeysOverBound { .. } => finding.in_input(KEY),
            Self::Key { number, .. } => {
                finding.in_input(KEY).numbered(u32::try_from(number).unwrap_or(u32::MAX))
            }
            Self::BeforeContinuation { file, .. } => finding.in_input(STATEMENTS).numbered(file),
            _ => finding,
        }
    }
}

/// What is found in a reading, in the order of the steps.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum ChainFault {
    /// A line, a head file or a continuation without the form.
    Malformed,
    /// A statement that no key at hand signed.
    SignatureInvalid,
    /// A statement of another trail.
    TrailMismatch,
    /// Two different statements at one place.
    Equivocation,
    /// What was supplied is no chain from its beginning.
    ChainBroken,
    /// The statements do not reach the head.
    HeadUnreached,
    /// The head is older than what was read before.
    HeadBehind,
}

impl ChainFault {
    /// The specification's word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Malformed => "witness-malformed",
            Self::SignatureInvalid => "witness-signature-invalid",
            Self::TrailMismatch => "witness-trail-mismatch",
            Self::Equivocation => "witness-equivocation",
            Self::ChainBroken => "witness-chain-broken",
            Self::HeadUnreached => "witness-head-unreached",
            Self::HeadBehind => "witness-head-behind",
        }
    }

    /// Our code.
    #[must_use]
    pub const fn code(self) -> Code {
        match self {
            Self::Malformed => MALFORMED,
            Self::SignatureInvalid => SIGNATURE,
            Self::TrailMismatch => TRAIL,
            Self::Equivocation => EQUIVOCATION,
            Self::ChainBroken => CHAIN,
            Self::HeadUnreached => HEAD_UNREACHED,
            Self::HeadBehind => HEAD_BEHIND,
        }
    }

    pub(super) fn finding(self, detail: impl Into<Box<str>>) -> Finding {
        Finding::new(self.code(), detail).because(self.as_str())
    }
}

const fn why(refusal: KeyRefusal) -> &'static str {
    match refusal {
        KeyRefusal::NotCanonical => "it is not the canonical encoding of a point",
        KeyRefusal::SmallOrder => "it is a point of small order, under which anybody can sign",
        KeyRefusal::NotOnCurve => "it is no point of the curve",
        _ => refusal.as_str(),
    }
}
