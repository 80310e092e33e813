//! Who issues an entry: the issuer table of the specification's section 2.

use super::entry::EntryType;
use super::names::Role;

/// What makes an entry authentic.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the issuer table's four columns")]
pub enum Issuer {
    /// The engine signs it.
    EngineSigned,
    /// A named human signs it.
    PrincipalSigned,
    /// The succession authority signs it.
    AuthoritySigned,
    /// Nobody signs it; a signed checkpoint covers it.
    CheckpointCovered,
}

impl Issuer {
    /// The role that the signer's registered key needs.
    #[must_use]
    pub const fn required_role(self) -> Option<Role> {
        match self {
            Self::EngineSigned => Some(Role::Engine),
            Self::PrincipalSigned => Some(Role::Approver),
            Self::AuthoritySigned => Some(Role::SuccessionAuthority),
            Self::CheckpointCovered => None,
        }
    }
}

impl EntryType {
    /// What makes an entry of this type authentic.
    #[must_use]
    pub const fn issuer(self) -> Issuer {
        match self {
            Self::Verdict
            | Self::ScopeClosed
            | Self::Probe
            | Self::Checkpoint
            | Self::NonconformanceNotice => Issuer::EngineSigned,
            Self::Approval | Self::Refusal => Issuer::PrincipalSigned,
            Self::PlanSuperseded => Issuer::AuthoritySigned,
            Self::Freeze
            | Self::Dispatch
            | Self::ExecutorExit
            | Self::ExecutionResult
            | Self::Claim
            | Self::Flag
            | Self::Remediation
            | Self::GateRequest
            | Self::RevisedApprovalRequest
            | Self::Retry
            | Self::Trip
            | Self::PlanCompleted
            | Self::PlanHalted => Issuer::CheckpointCovered,
        }
    }

    /// The role that the signer of this type needs; `None` for types that nobody signs.
    #[must_use]
    pub const fn required_role(self) -> Option<Role> {
        self.issuer().required_role()
    }

    /// Whether its payload is a signed object.
    #[must_use]
    pub const fn is_signed(self) -> bool {
        self.required_role().is_some()
    }

    /// Whether it ends the run: only checkpoints and notices may follow.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(self, Self::PlanCompleted | Self::PlanHalted | Self::PlanSuperseded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_the_format() {
        let of = |issuer: Issuer| {
            let types = EntryType::ALL.iter().filter(|entry| entry.issuer() == issuer);
            types.map(|entry| entry.as_str()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            of(Issuer::EngineSigned),
            "scope_closed verdict probe checkpoint nonconformance_notice"
        );
        assert_eq!(of(Issuer::PrincipalSigned), "approval refusal");
        assert_eq!(of(Issuer::AuthoritySigned), "plan_superseded");
        assert_eq!(EntryType::Approval.required_role(), Some(Role::Approver));
        assert_eq!(EntryType::Checkpoint.required_role(), Some(Role::Engine));
        assert_eq!(EntryType::PlanSuperseded.required_role(), Some(Role::SuccessionAuthority));
        assert_eq!(EntryType::Freeze.required_role(), None);
        assert!(!EntryType::Claim.is_signed() && EntryType::Probe.is_signed());
        let terminal = EntryType::ALL.iter().filter(|entry| entry.is_terminal());
        assert_eq!(terminal.count(), 3);
    }
}
