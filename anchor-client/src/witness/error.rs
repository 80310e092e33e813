//! Why a witness gave no answer that could be used.

use std::time::Duration;

use anchorlog_proto::note::NoteError;
use anchorlog_proto::tlog_witness::TlogWitnessError;

use crate::stamp::ExchangeError;

/// Why there is no cosignature, nor a reason that the log has to act upon.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WitnessError {
    /// A line that says it is by the witness' key isn't a cosignature of this checkpoint.
    #[error("answered with a cosignature that does not verify: {0}")]
    Cosignature(NoteError),
    /// No connection, no answer in time, or a status that names no other reason.
    #[error(transparent)]
    Exchange(#[from] ExchangeError),
    /// A success whose body is not signature lines.
    #[error("answered with something else than signature lines: {0}")]
    Malformed(TlogWitnessError),
    /// Signature lines, but none by the witness' key.
    #[error("answered with no line by its own key")]
    NoCosignature,
    /// 404 or 403: it doesn't know the log, or the log's key.
    #[error(
        "HTTP {status}: it doesn't know this log, or another key of it{}",
        if excerpt.is_empty() { String::new() } else { format!("; the answer begins: {excerpt}") }
    )]
    UnknownLog {
        /// The HTTP status.
        status: u16,
        /// How the body begins, made safe to print.
        excerpt: String,
    },
}

impl WitnessError {
    /// The stable code of the failure.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Cosignature(_) => "WITNESS.COSIGNATURE",
            Self::Exchange(ExchangeError::Status { status: 429, .. }) => "WITNESS.TOO_MANY",
            Self::Exchange(ExchangeError::Status { status: 400 | 413, .. }) => "WITNESS.REFUSED",
            Self::Exchange(error) => error.code(),
            Self::Malformed(_) => "WITNESS.ANSWER",
            Self::NoCosignature => "WITNESS.NO_COSIGNATURE",
            Self::UnknownLog { .. } => "WITNESS.UNKNOWN_LOG",
        }
    }

    /// Whether the same request can succeed a moment later. 421 is a bastion's, whose witness is away.
    #[must_use]
    pub const fn is_temporary(&self) -> bool {
        matches!(
            self,
            Self::Exchange(
                ExchangeError::Connection { .. }
                    | ExchangeError::Timeout { .. }
                    | ExchangeError::Status { status: 408 | 421 | 429 | 500..=599, .. }
            )
        )
    }

    /// How long the witness asked to be left alone.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Exchange(ExchangeError::Status { retry_after, .. }) => *retry_after,
            _ => None,
        }
    }
}
