//! What a statement's digest is a digest of.

use std::fmt;
use std::str::FromStr;

use super::error::StatementError;

/// The kinds of statement. A new kind is a new version of the format: readers refuse unknown ones.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum StatementKind {
    /// `h(P)`: the hash of a frozen plan, committed before the first dispatch.
    PlanCommitment,
    /// `root_core`, after the run.
    CoreRoot,
    /// `h_i` of a declared head: a checkpoint of the witness chain.
    ChainHead,
    /// `root_envelope`, for envelope lineage.
    EnvelopeRoot,
    /// SHA-256 of an attestation file.
    Attestation,
    /// The hash of a trust policy.
    Policy,
    /// SHA-256 of a canonical RFC 0020 execution record.
    ExecutionDigest,
    /// SHA-256 of an external audit trail's checkpoint line, without its newline.
    Checkpoint,
    /// SHA-256 of an RFC 3161 token over one of the log's own checkpoints, written by the log.
    Anchor,
    /// Anything else.
    Digest,
}

impl StatementKind {
    /// Every kind, in the order of the format's table.
    pub const ALL: [Self; 10] = [
        Self::PlanCommitment,
        Self::CoreRoot,
        Self::ChainHead,
        Self::EnvelopeRoot,
        Self::Attestation,
        Self::Policy,
        Self::ExecutionDigest,
        Self::Checkpoint,
        Self::Anchor,
        Self::Digest,
    ];

    /// The name in the `kind` member.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PlanCommitment => "plan_commitment",
            Self::CoreRoot => "core_root",
            Self::ChainHead => "chain_head",
            Self::EnvelopeRoot => "envelope_root",
            Self::Attestation => "attestation",
            Self::Policy => "policy",
            Self::ExecutionDigest => "execution_digest",
            Self::Checkpoint => "checkpoint",
            Self::Anchor => "anchor",
            Self::Digest => "digest",
        }
    }
}

impl fmt::Display for StatementKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for StatementKind {
    type Err = StatementError;

    fn from_str(text: &str) -> Result<Self, StatementError> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or(StatementError::Kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_are_exact() {
        for kind in StatementKind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
            assert_eq!(
                kind.as_str().to_uppercase().parse::<StatementKind>(),
                Err(StatementError::Kind)
            );
        }
        assert_eq!("".parse::<StatementKind>(), Err(StatementError::Kind));
    }
}
