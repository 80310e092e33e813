//! The trust policy Π (`gad.policy/1`): what has to be shown before a record counts as defensible.

mod emission;
mod reading;

use crate::digest::Digest;
use crate::json::canonical;
use crate::signed_object::{Domain, SignerId};
use crate::timestamp::ObjectIdentifier;

use super::attestation::Implementation;
use super::envelope::AnchorType;
use super::names::{ObservableKind, ProvenanceLayer, RunOutcome, words};

/// The schema name.
pub const POLICY_SCHEMA: &str = "gad.policy/1";

/// A policy. Published, identified, hashed.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
#[allow(clippy::struct_excessive_bools, reason = "the format's booleans")]
pub struct Policy {
    /// Its id.
    pub id: Box<str>,
    /// Seconds by which clocks of others may differ, 0..86400.
    pub skew_s: u32,
    /// The anchors it asks for.
    pub required_anchors: Vec<RequiredAnchor>,
    /// The time-stamping authorities it trusts.
    pub tsa: Vec<TsaEntry>,
    /// Digest of the log policy text (`c2sp.org/tlog-policy`), where it trusts logs.
    pub logs: Option<Digest>,
    /// Where trusted time may come from, ascending.
    pub time_sources: Vec<TimeSource>,
    /// How revocation counts for authorities.
    pub tsa_revocation: TsaRevocation,
    /// Evaluators' keys that are revoked, and from when (seconds since 1970).
    pub revoked_keys: Vec<(SignerId, i64)>,
    /// The parties it knows.
    pub parties: Vec<Party>,
    /// Groups of parties that belong together.
    pub related_groups: Vec<Vec<Box<str>>>,
    /// The rule of independence.
    pub independence: Box<str>,
    /// Authorities under which an evaluator's key counts.
    pub credential_authorities: Vec<CredentialAuthority>,
    /// Layers of which an envelope has to declare one, ascending.
    pub accepted_layers: Vec<ProvenanceLayer>,
    /// Evaluators it accepts.
    pub accepted_evaluators: Vec<Implementation>,
    /// Other policies under whose attestations it accepts.
    pub accept_attestations_under: Vec<Digest>,
    /// What has to be replayed.
    pub replay: ReplayPolicy,
    /// Outcomes it accepts, ascending.
    pub accept_outcomes: Vec<RunOutcome>,
    /// Whether every session has to be of one node.
    pub require_single_node_sessions: bool,
    /// Whether every artifact has to be named by a digest.
    pub require_bound_artifacts: bool,
    /// Whether a record with a nonconformance_notice is refused.
    pub reject_with_notice: bool,
    /// Whether the operator has to seal root_core.
    pub require_operator_seal: bool,
}

/// The format of the log policy text that `logs` names.
pub const LOG_POLICY_FORMAT: &str = "c2sp.org/tlog-policy";

/// The rule of independence that is implemented.
pub const INDEPENDENCE_RULE: &str = "distinct_unrelated/1";

/// The hash of a policy, whose canonical bytes these are.
#[must_use]
pub fn policy_hash(canonical: &[u8]) -> Digest {
    Domain::TrustPolicy.hash(&[canonical])
}

impl Policy {
    /// [`POLICY_NONE_ID`].
    #[must_use]
    pub fn none() -> Self {
        Self {
            id: POLICY_NONE_ID.into(),
            skew_s: 300,
            required_anchors: Vec::new(),
            tsa: Vec::new(),
            logs: None,
            time_sources: Vec::new(),
            tsa_revocation: TsaRevocation::None,
            revoked_keys: Vec::new(),
            parties: Vec::new(),
            related_groups: Vec::new(),
            independence: INDEPENDENCE_RULE.into(),
            credential_authorities: Vec::new(),
            accepted_layers: Vec::new(),
            accepted_evaluators: Vec::new(),
            accept_attestations_under: Vec::new(),
            replay: ReplayPolicy::None,
            accept_outcomes: ACCEPTABLE_OUTCOMES.to_vec(),
            require_single_node_sessions: false,
            require_bound_artifacts: false,
            reject_with_notice: false,
            require_operator_seal: false,
        }
    }

    /// The hash of this policy.
    #[must_use]
    pub fn hash(&self) -> Digest {
        policy_hash(&canonical(&self.to_value()))
    }
}

/// The outcomes a policy can accept, ascending. An invalid record is none of them.
pub const ACCEPTABLE_OUTCOMES: [RunOutcome; 4] =
    [RunOutcome::Completed, RunOutcome::Halted, RunOutcome::Incomplete, RunOutcome::Superseded];

/// The built-in policy that is used where none is given: no anchors, no trust, no replay.
pub const POLICY_NONE_ID: &str = "gad.policy.none/1";

/// One requirement of anchors.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct RequiredAnchor {
    /// Over what, and when.
    pub target: RequiredTarget,
    /// Of which types, ascending, not empty.
    pub types: Vec<AnchorType>,
    /// By how many different operators, 1..16.
    pub min_distinct_operators: u32,
    /// When it is in force.
    pub when: RequiredWhen,
}

/// What a requirement is over, with the rule of time that belongs to it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the format lists exactly these")]
pub enum RequiredTarget {
    /// `root_core`, at most so many seconds after the terminal entry.
    CoreRoot {
        /// The seconds.
        max_delay_s: u64,
    },
    /// A declared head, at most so many seconds after the terminal entry.
    ChainHead {
        /// The seconds.
        max_delay_s: u64,
    },
    /// h(P), before the first dispatch by this rule.
    PlanCommitment {
        /// The rule.
        rule: PrecommitRule,
    },
}

words! {
    /// How a commitment is shown to lie before the first dispatch.
    PrecommitRule {
        /// By the operator's clock.
        BeforeFirstDispatch = "before_first_dispatch",
        /// By the digest that the first dispatch carries.
        BoundInDispatch = "bound_in_dispatch",
    }
}

words! {
    /// When a requirement is in force.
    RequiredWhen {
        /// Always.
        Always = "always",
        /// Where the record claims bounded precedence.
        BoundedPrecedenceClaimed = "bounded_precedence_claimed",
    }
}

/// A time-stamping authority.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct TsaEntry {
    /// Who runs it.
    pub operator: Box<str>,
    /// SHA-256 of its root certificates (DER).
    pub roots: Vec<Digest>,
    /// From when it counts, in seconds since 1970.
    pub start: i64,
    /// Until when, both ends included.
    pub end: Option<i64>,
    /// Policies under which its tokens count; empty: any.
    pub policies: Vec<ObjectIdentifier>,
    /// The accuracy it has to state, in seconds.
    pub require_accuracy_s: Option<u32>,
}

words! {
    /// Where trusted time may come from.
    TimeSource {
        /// Witnesses' cosignatures.
        Cosignature = "cosignature",
        /// RFC 3161 tokens.
        Rfc3161 = "rfc3161",
    }
}

words! {
    /// How revocation counts for authorities.
    TsaRevocation {
        /// Not at all.
        None = "none",
        /// CRLs that are supplied count.
        Supplied = "supplied",
        /// And there has to be one.
        Required = "required",
    }
}

/// A party.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct Party {
    /// Its id in this policy.
    pub id: Box<str>,
    /// Names it goes by.
    pub names: Vec<Box<str>>,
    /// Its keys.
    pub keys: Vec<SignerId>,
}

/// An authority for evaluators' credentials.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct CredentialAuthority {
    /// Its id.
    pub id: Box<str>,
    /// The keys under it.
    pub keys: Vec<SignerId>,
    /// Certificates kept for this purpose, by SHA-256 of their DER.
    pub roots: Vec<Digest>,
}

/// What has to be replayed (section 2, trust policy).
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the format lists exactly these")]
pub enum ReplayPolicy {
    /// Nothing.
    None,
    /// All replayable completion evidence.
    RequiredForAll,
    /// That of tests of these kinds.
    RequiredFor(Vec<ObservableKind>),
    /// A sample, at this rate in a million.
    Sampled {
        /// The rate.
        per_million: u32,
    },
}

words! {
    /// The rules of replay that are objects.
    ReplayRule {
        /// [`ReplayPolicy::RequiredFor`].
        RequiredFor = "required_for",
        /// [`ReplayPolicy::RequiredForAll`].
        RequiredForAll = "required_for_all",
        /// [`ReplayPolicy::Sampled`].
        Sampled = "sampled",
    }
}

#[cfg(test)]
mod tests;
