//! Evaluation errors (Core section 8.4): what there is instead of a disposition.

use core::fmt;

use anchorlog_proto::jp::core_pack::PackError;
use anchorlog_proto::jp::fault::Fault;

/// The class of an error, in the order in which classes are reported.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[allow(clippy::exhaustive_enums, reason = "Core has these four, and this evaluator adds none")]
pub enum ErrorClass {
    /// The pack is not a semantically conforming document.
    PackNotConformant,
    /// A document was not admitted.
    MalformedInput,
    /// The pack requires an extension that is not supported.
    UnsupportedRequiredExtension,
    /// A limit of evaluation was reached.
    ResourceExhaustion,
}

impl ErrorClass {
    /// The identifier of Core.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PackNotConformant => "pack-not-conformant",
            Self::MalformedInput => "malformed-input",
            Self::UnsupportedRequiredExtension => "unsupported-required-extension",
            Self::ResourceExhaustion => "resource-exhaustion",
        }
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// When an error was met.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[allow(clippy::exhaustive_enums, reason = "Core section 3.4.1 names these two")]
pub enum Phase {
    /// While admitting the inputs.
    Preflight,
    /// While evaluating them.
    Evaluation,
}

/// Why there is no disposition. Nothing of a partial evaluation is kept.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluationError {
    /// The pack does not conform.
    #[error("the pack does not conform: {0}")]
    Pack(PackError),
    /// The pack is over a limit of admission.
    #[error("the pack is not admitted: {0}")]
    PackLimit(PackError),
    /// The facts are not admitted.
    #[error("the facts are not admitted: {0}")]
    Facts(Fault),
    /// The evidence availability is not admitted.
    #[error("the evidence availability is not admitted: {0}")]
    Evidence(Fault),
    /// The evidence availability is no object.
    #[error("the evidence availability is no object")]
    EvidenceType,
    /// The evidence availability names what the pack does not declare.
    #[error("the evidence availability names {name:?}, which the pack does not declare")]
    EvidenceUndeclared {
        /// The name, at most 256 bytes of it.
        name: String,
    },
    /// A value of the evidence availability is none of `present`, `absent`, `unknown`.
    #[error("the availability of {name:?} is none of present, absent, unknown")]
    EvidenceState {
        /// The name of the requirement.
        name: String,
    },
    /// A required extension that is not supported.
    #[error("the required extension {name:?} is not supported")]
    Extension {
        /// The name, at most 256 bytes of it.
        name: String,
    },
    /// A collection is larger than the limit.
    #[error("a collection has more than {limit} elements")]
    Collection {
        /// The limit.
        limit: usize,
    },
    /// The evaluation needs more work than the limit.
    #[error("the evaluation needs more than {limit} units of work")]
    Work {
        /// The limit.
        limit: u64,
    },
}

impl EvaluationError {
    /// The one class of this error.
    #[must_use]
    pub const fn class(&self) -> ErrorClass {
        match self {
            Self::Pack(_) => ErrorClass::PackNotConformant,
            Self::PackLimit(_)
            | Self::Facts(_)
            | Self::Evidence(_)
            | Self::EvidenceType
            | Self::EvidenceUndeclared { .. }
            | Self::EvidenceState { .. } => ErrorClass::MalformedInput,
            Self::Extension { .. } => ErrorClass::UnsupportedRequiredExtension,
            Self::Collection { .. } | Self::Work { .. } => ErrorClass::ResourceExhaustion,
        }
    }

    /// When it was met.
    #[must_use]
    pub const fn phase(&self) -> Phase {
        match self.class() {
            ErrorClass::ResourceExhaustion => Phase::Evaluation,
            _ => Phase::Preflight,
        }
    }
}

/// A name from an input, short enough for a message.
pub(super) fn shown(name: &str) -> String {
    let end = name.floor_char_boundary(256);
    name.get(..end).unwrap_or_default().to_owned()
}
