//! What can go wrong, sorted by what it means for whoever asked.

use std::path::PathBuf;

use anchorlog_proto::checkpoint::CheckpointError;
use anchorlog_verifier::finding::Finding;
use anchorlog_verifier::report::Verdict;

use crate::address::{AddressError, LogUrl};
use crate::durable::DurableError;
use crate::envelope::EnvelopeError;
use crate::evidence::Contradiction;
use crate::keys::KeyFileError;
use crate::log_client::CallError;
use crate::outbox::OutboxError;
use crate::seen::SeenError;
use crate::token::TokenError;
use crate::transport::TransportError;
use crate::trust::TrustError;

/// Any failure of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The address of a log can't be used.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The log gave no usable answer, or refused.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The log contradicts what it signed before.
    #[error(transparent)]
    Contradiction(#[from] Box<Contradiction>),
    /// An envelope can't be read, made or extended.
    #[error(transparent)]
    Envelope(Box<EnvelopeError>),
    /// A file of the client can't be written or read.
    #[error(transparent)]
    File(#[from] DurableError),
    /// A private key can't be used.
    #[error(transparent)]
    Key(#[from] KeyFileError),
    /// Nobody is trusted to sign for the log.
    #[error("{log}: no key is known for this log")]
    NoKeys {
        /// The log.
        log: LogUrl,
    },
    /// What the log answered was evaluated and does not hold.
    #[error("{log}: {what} does not hold: {}", finding.detail)]
    NotHolding {
        /// The log.
        log: LogUrl,
        /// What was evaluated.
        what: &'static str,
        /// Why it does not hold.
        finding: Box<Finding>,
    },
    /// A checkpoint without a signature by a key that is trusted for this log.
    #[error(
        "{log}: the checkpoint is not signed by the log's known key: {source}; \
         if the log has a new key, get it from its operator and pass --vkey"
    )]
    NotSigned {
        /// The log.
        log: LogUrl,
        /// Why the signature doesn't count.
        source: CheckpointError,
    },
    /// The outbox can't be used.
    #[error(transparent)]
    Outbox(#[from] OutboxError),
    /// What was seen before can't be read or written.
    #[error(transparent)]
    Seen(#[from] SeenError),
    /// None of the variables that name the state directory is set.
    #[error(
        "there is no place to remember checkpoints: set ANCHORLOG_STATE or HOME, or pass --state"
    )]
    NoState,
    /// A bearer token can't be used.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// It isn't known whom to trust.
    #[error(transparent)]
    Trust(#[from] TrustError),
}

impl ClientError {
    /// The stable code of the failure; where the log refused, the log's own code.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Address(_) => "CLIENT.ADDRESS",
            Self::Call(error) => error.code(),
            Self::Contradiction(contradiction) => contradiction.code.as_str(),
            Self::Envelope(error) => error.code(),
            Self::Key(error) => error.code(),
            Self::NotHolding { finding, .. } => finding.code.as_str(),
            Self::NotSigned { .. } => "LOG.SIG",
            Self::Outbox(error) => error.code(),
            Self::File(_) | Self::Seen(_) | Self::NoKeys { .. } | Self::NoState => "CLIENT.STATE",
            Self::Token(_) => "CLIENT.TOKEN",
            Self::Trust(error) => error.code(),
        }
    }

    /// What the failure says about the thing asked: evaluated and not so, or not evaluated.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Contradiction(_) | Self::NotHolding { .. } | Self::NotSigned { .. } => {
                Verdict::DoesNotHold
            }
            Self::Envelope(error) => error.verdict(),
            Self::Call(CallError::Transport(error)) if error.refusal().is_some() => {
                Verdict::DoesNotHold
            }
            _ => Verdict::NotEvaluated,
        }
    }

    /// The directory with both signed notes, if this is a contradiction and they could be kept.
    #[must_use]
    pub fn evidence(&self) -> Option<&PathBuf> {
        match self {
            Self::Contradiction(contradiction) => contradiction.evidence.as_ref().ok(),
            _ => None,
        }
    }

    /// Whether the log itself said no to what was asked, so that asking again can't help.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Call(CallError::Transport(error)) if error.refusal().is_some())
    }

    /// Which statement of a batch the log's refusal is about, counted from 0.
    #[must_use]
    pub fn position(&self) -> Option<u64> {
        match self {
            Self::Call(CallError::Transport(TransportError::Problem { problem, .. })) => {
                problem.position
            }
            _ => None,
        }
    }
}

impl From<EnvelopeError> for ClientError {
    fn from(error: EnvelopeError) -> Self {
        Self::Envelope(Box::new(error))
    }
}
