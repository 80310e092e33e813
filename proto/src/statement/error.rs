//! Why a statement is refused.

use super::entry::MAX_LEAF_BYTES;
use crate::json::JsonError;
use crate::signed_object::SignerId;

/// What kind of refusal it is, for callers that answer each kind differently.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ErrorClass {
    /// Not the JSON of a statement: HTTP 400.
    Malformed,
    /// Over a size limit: HTTP 413.
    TooLarge,
    /// Well-formed, but it says something no statement can say: HTTP 422.
    Semantic,
    /// A signature is missing, by another key, or does not verify: HTTP 403.
    Signature,
}

/// Why a statement or log entry is refused.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StatementError {
    /// The JSON is malformed or has the wrong shape; keeps its own `J.*` code.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// `kind` is none of the kinds.
    #[error("`kind` is none of the kinds a statement can have")]
    Kind,
    /// `schema` is not the one this implementation knows.
    #[error("`schema` is not \"anchorlog.statement/1\"")]
    Schema,
    /// `sequence` is negative or over 2^53-1.
    #[error("`sequence` is an integer from 0 to 2^53-1")]
    SequenceRange,
    /// `sequence` without `trail`.
    #[error("`sequence` is allowed only together with `trail`")]
    SequenceWithoutTrail,
    /// The signature doesn't verify.
    #[error("the signature of the statement does not verify")]
    Signature,
    /// The statement is signed with another key than the one it is checked with.
    #[error("the statement is signed by {actual}, not by {expected}")]
    SignatureKey {
        /// The identifier of the key at hand.
        expected: SignerId,
        /// The identifier the statement names.
        actual: SignerId,
    },
    /// The leaf bytes, or the document they come from, are too long.
    #[error(
        "{bytes} bytes, where at most {limit} are allowed (a statement has at most {MAX_LEAF_BYTES} in canonical form)"
    )]
    TooLarge {
        /// The length found.
        bytes: usize,
        /// The limit that it crosses.
        limit: usize,
    },
    /// `trail` doesn't follow its grammar.
    #[error(
        "`trail` is 1 to 128 characters of a-z, 0-9, \":\", \".\", \"_\", \"-\", the first one a letter or digit"
    )]
    TrailForm,
    /// The `type` of a signed statement's body.
    #[error("the `type` of a signed statement is \"statement\"")]
    Type,
    /// A signature is asked about, and there is none.
    #[error("the statement is not signed")]
    Unsigned,
}

impl StatementError {
    /// The stable code of this refusal.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Json(error) => error.code(),
            Self::Kind => "STM.KIND",
            Self::Schema => "STM.SCHEMA",
            Self::SequenceRange => "STM.SEQUENCE_RANGE",
            Self::SequenceWithoutTrail => "STM.SEQUENCE_WITHOUT_TRAIL",
            Self::Signature => "STM.SIGNATURE",
            Self::SignatureKey { .. } => "STM.SIGNATURE_KEY",
            Self::TooLarge { .. } => "STM.TOO_LARGE",
            Self::TrailForm => "STM.TRAIL_FORM",
            Self::Type => "STM.TYPE",
            Self::Unsigned => "STM.UNSIGNED",
        }
    }

    /// The kind of refusal.
    #[must_use]
    pub const fn class(&self) -> ErrorClass {
        match self {
            Self::Json(error) if error.is_too_large() => ErrorClass::TooLarge,
            Self::Json(_) => ErrorClass::Malformed,
            Self::TooLarge { .. } => ErrorClass::TooLarge,
            Self::Kind
            | Self::Schema
            | Self::SequenceRange
            | Self::SequenceWithoutTrail
            | Self::TrailForm
            | Self::Type => ErrorClass::Semantic,
            Self::Signature | Self::SignatureKey { .. } | Self::Unsigned => ErrorClass::Signature,
        }
    }
}
