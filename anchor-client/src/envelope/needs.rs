//! What a trust policy asks of anchors, as far as it can still be had.

use std::collections::BTreeSet;

use anchorlog_proto::gad::envelope::AnchorType;
use anchorlog_proto::gad::names::AnchorKind;
use anchorlog_proto::gad::policy::{Policy, RequiredTarget, RequiredWhen, TimeSource};
use anchorlog_proto::receipt::ReceiptState;

/// Who can be asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the caller counts them")]
pub struct Offer {
    /// How many logs.
    pub logs: usize,
    /// How many distinct operators of time-stamping authorities.
    pub operators: usize,
}

impl Offer {
    fn of(self, anchor_type: AnchorType) -> usize {
        match anchor_type {
            AnchorType::Tlog => self.logs,
            AnchorType::Rfc3161 => self.operators,
        }
    }

    /// The types that somebody can be asked for.
    fn types(self) -> BTreeSet<AnchorType> {
        AnchorType::ALL.iter().copied().filter(|one| self.of(*one) > 0).collect()
    }
}

/// The kinds to get, and by what.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "what there is to get")]
pub struct Need {
    /// What is to be anchored.
    pub kind: AnchorKind,
    /// By what: those of the types asked for that somebody was named for.
    pub types: BTreeSet<AnchorType>,
}

impl Need {
    /// These kinds, by everybody that was named.
    #[must_use]
    pub fn of_kinds(kinds: &[AnchorKind], offer: Offer) -> Vec<Self> {
        let kinds: BTreeSet<AnchorKind> = kinds.iter().copied().collect();
        kinds.into_iter().map(|kind| Self { kind, types: offer.types() }).collect()
    }

    /// What a policy always asks for, except for kinds in `present`: of those the envelope has anchors.
    ///
    /// A commitment to the plan comes before the first dispatch or not at all, so that a missing one is an
    /// error. Requirements that are in force only where a record claims bounded precedence are about
    /// commitments that such a record has, and aren't looked at.
    pub fn of_policy(
        policy: &Policy,
        present: &BTreeSet<AnchorKind>,
        offer: Offer,
    ) -> Result<Vec<Self>, NeedError> {
        let mut needs: Vec<Self> = Vec::new();
        for required in &policy.required_anchors {
            let kind = kind_of(required.target);
            if required.when != RequiredWhen::Always || present.contains(&kind) {
                continue;
            }
            if kind == AnchorKind::PlanCommitment {
                return Err(NeedError::Commitment);
            }
            let types: BTreeSet<AnchorType> =
                required.types.iter().copied().filter(|one| offer.of(*one) > 0).collect();
            if types.is_empty() {
                let types = required.types.clone();
                return Err(NeedError::Source { kind, types });
            }
            let offered = types.iter().map(|one| offer.of(*one)).sum();
            let needed = usize::try_from(required.min_distinct_operators).unwrap_or(usize::MAX);
            if offered < needed {
                return Err(NeedError::Operators { kind, needed, offered });
            }
            match needs.iter_mut().find(|need| need.kind == kind) {
                Some(need) => need.types.extend(types),
                None => needs.push(Self { kind, types }),
            }
        }
        Ok(needs)
    }
}

/// How far a log's receipt has to grow before this policy finds a time in it.
#[must_use]
pub fn state_for(policy: &Policy) -> ReceiptState {
    if policy.time_sources.contains(&TimeSource::Rfc3161) {
        ReceiptState::Anchored
    } else if policy.time_sources.contains(&TimeSource::Cosignature) {
        ReceiptState::Witnessed
    } else {
        ReceiptState::Published
    }
}

const fn kind_of(target: RequiredTarget) -> AnchorKind {
    match target {
        RequiredTarget::CoreRoot { .. } => AnchorKind::CoreRoot,
        RequiredTarget::ChainHead { .. } => AnchorKind::ChainHead,
        RequiredTarget::PlanCommitment { .. } => AnchorKind::PlanCommitment,
    }
}

/// Why a policy can't be met by asking those who were named.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NeedError {
    /// The policy asks for a commitment before the first dispatch.
    #[error(
        "the policy asks for a plan_commitment, which can't be made after the run; add the one of \
         `anchor commit` with `anchor envelope add-anchor --kind plan_commitment`"
    )]
    Commitment,
    /// The envelope declares no heads.
    #[error("the envelope declares no heads to anchor; `anchor envelope new --head SEQ` does")]
    NoHeads,
    /// Not enough operators were named.
    #[error("the policy asks for {kind} anchors of {needed} operators; {offered} were named")]
    Operators {
        /// The kind.
        kind: AnchorKind,
        /// How many it asks for.
        needed: usize,
        /// How many were named.
        offered: usize,
    },
    /// Nobody was named who gives anchors of the types asked for.
    #[error("the policy asks for a {kind} anchor: {}", sources(types))]
    Source {
        /// The kind.
        kind: AnchorKind,
        /// The types it takes.
        types: Vec<AnchorType>,
    },
}

impl NeedError {
    /// The stable code: the one the verifier would have for the envelope.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Commitment | Self::Source { .. } => "ANC.REQUIRED_MISSING",
            Self::NoHeads => "ANC.HEAD_UNDECLARED",
            Self::Operators { .. } => "ANC.DISTINCT",
        }
    }
}

fn sources(types: &[AnchorType]) -> String {
    let source = |one: &AnchorType| match one {
        AnchorType::Tlog => "give --log URL",
        AnchorType::Rfc3161 => "give --tsa URL and --roots FILE",
    };
    types.iter().map(source).collect::<Vec<_>>().join(", or ")
}

#[cfg(test)]
mod tests {
    use anchorlog_proto::gad::policy::{PrecommitRule, RequiredAnchor};

    use super::*;

    fn policy(required: &[(RequiredTarget, &[AnchorType], u32)]) -> Policy {
        let required = required.iter().map(|(target, types, least)| RequiredAnchor {
            target: *target,
            types: types.to_vec(),
            min_distinct_operators: *least,
            when: RequiredWhen::Always,
        });
        Policy { required_anchors: required.collect(), ..Policy::none() }
    }

    const ROOT: RequiredTarget = RequiredTarget::CoreRoot { max_delay_s: 1 };
    const BOTH: [AnchorType; 2] = [AnchorType::Rfc3161, AnchorType::Tlog];

    #[test]
    fn a_policy_says_what_to_get() {
        let none = BTreeSet::new();
        let offer = Offer { logs: 1, operators: 1 };
        let needs = |policy: &Policy, offer| Need::of_policy(policy, &none, offer);
        let root = |types: &[AnchorType]| Need {
            kind: AnchorKind::CoreRoot,
            types: types.iter().copied().collect(),
        };
        assert_eq!(needs(&policy(&[]), offer), Ok(vec![]));
        assert_eq!(needs(&policy(&[(ROOT, &BOTH, 2)]), offer), Ok(vec![root(&BOTH)]));
        let two = policy(&[(ROOT, &BOTH[..1], 1), (ROOT, &BOTH[1..], 1)]);
        assert_eq!(needs(&two, offer), Ok(vec![root(&BOTH)]));
        let error = needs(&policy(&[(ROOT, &BOTH, 3)]), offer).unwrap_err();
        assert_eq!(error.code(), "ANC.DISTINCT");
        let error = needs(&two, Offer { logs: 0, operators: 1 }).unwrap_err();
        assert_eq!(error.code(), "ANC.REQUIRED_MISSING");
        assert!(error.to_string().contains("--log"), "{error}");
        let rule = PrecommitRule::BoundInDispatch;
        let commitment = policy(&[(RequiredTarget::PlanCommitment { rule }, &BOTH, 1)]);
        assert_eq!(needs(&commitment, offer), Err(NeedError::Commitment));
        let present = BTreeSet::from([AnchorKind::PlanCommitment]);
        assert_eq!(Need::of_policy(&commitment, &present, offer), Ok(vec![]));
    }

    #[test]
    fn the_state_is_the_first_with_a_time() {
        let with = |sources: &[TimeSource]| {
            state_for(&Policy { time_sources: sources.to_vec(), ..Policy::none() })
        };
        assert_eq!(with(&[]), ReceiptState::Published);
        assert_eq!(with(&[TimeSource::Cosignature]), ReceiptState::Witnessed);
        assert_eq!(with(&[TimeSource::Cosignature, TimeSource::Rfc3161]), ReceiptState::Anchored);
    }
}
