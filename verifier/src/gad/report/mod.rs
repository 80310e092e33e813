//! The report of EVALUATE, `gad.report/1`: complete whatever came out.
//!
//! A [`Report`] is data about one evaluation; equal inputs give equal bytes. Its [`Statuses`] can only
//! be made by the evaluation itself, from findings, so that no report can say more than was checked.

pub mod diff;
mod json;
pub mod sarif;
pub mod statement;
pub mod text;

use anchorlog_proto::Digest;
use anchorlog_proto::audit::AuditBody;
use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::attestation::{Implementation, PolicyName};
use anchorlog_proto::gad::envelope::Metadata;
use anchorlog_proto::gad::names::{AnchorKind, ObservationLayer, RunOutcome};
use anchorlog_proto::signed_object::SignerId;

use crate::codes::gad::Affect;

use super::finding::{Findings, GadFinding};

/// The schema name.
pub const REPORT_SCHEMA: &str = "gad.report/1";

/// The canonicalization that is implemented.
pub const CANONICALIZATION: &str = "jcs-int/1";

/// Everything one evaluation found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// Who evaluated.
    pub evaluator: Implementation,
    /// What was handed in.
    pub input: Input,
    /// The recomputed root_core.
    pub root_core: Option<Digest>,
    /// The recomputed root_envelope.
    pub root_envelope: Option<Digest>,
    /// h(P).
    pub plan_hash: Option<Digest>,
    /// The versions the record names.
    pub versions: Versions,
    /// What holds.
    pub statuses: Statuses,
    /// The anchors of the envelope, in its order.
    pub anchors: Vec<AnchorReport>,
    /// The audits that were handed in, in their order, with what each shows. No status depends on them.
    pub audits: Vec<AuditReport>,
    /// What the manifest of the envelope says that nobody signs and no status depends on; `None` where there
    /// is no envelope, or where it can't be read.
    pub unsigned_metadata: Option<UnsignedMetadata>,
    /// Positions of the claims that were not evaluated: of a core alone, those that refer to an anchor.
    pub claims_not_evaluated: Vec<usize>,
    /// The replay layers that were exercised, ascending.
    pub replay_layers: Vec<ObservationLayer>,
    /// Whether the policy asks for no anchor at all, so that eq (7) holds vacuously.
    pub vacuous_anchors: bool,
    /// Whether precedence is bounded from outside, or only recorded.
    pub precedence: Precedence,
    /// The policy used.
    pub policy: PolicyName,
    /// The limits in force.
    pub limits: Limits,
    /// The time of evaluation, in seconds since 1970: an input, never a clock.
    pub evaluation_time: i64,
    /// Everything found.
    pub findings: Findings,
}

impl Report {
    /// The canonical JSON form, without a newline at its end.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        json::write(self)
    }

    /// Whether the status that was asked for holds.
    #[must_use]
    pub fn holds(&self, asked: Asked) -> bool {
        match asked {
            Asked::Valid => self.statuses.valid(),
            Asked::Satisfied => self.statuses.satisfied(),
            Asked::Defensible => self.statuses.defensible() == Some(true),
            Asked::Gad4 => self.statuses.level() == 4,
        }
    }

    /// The exit code of a program that was asked for this status: 0 it holds, 1 it doesn't, 2 the
    /// container or the policy couldn't be read.
    #[must_use]
    pub fn exit_code(&self, asked: Asked) -> u8 {
        if self.statuses.unevaluable { 2 } else { u8::from(!self.holds(asked)) }
    }
}

/// The status a caller asks for.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the interface names exactly these")]
pub enum Asked {
    /// VALID_RECORD.
    #[default]
    Valid,
    /// CONTRACT_SATISFIED.
    Satisfied,
    /// DEFENSIBLE.
    Defensible,
    /// Level 4 of the ladder.
    Gad4,
}

/// What was handed in.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the report lists exactly these members")]
pub struct Input {
    /// `directory`, `tar` or `core`.
    pub form: &'static str,
    /// SHA-256 of the archive; `None` for a directory.
    pub sha256: Option<Digest>,
}

/// The versions a record names, where they could be read.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the report lists exactly these members")]
pub struct Versions {
    /// Of the specification.
    pub spec: Option<Box<str>>,
    /// Of the byte profile.
    pub byte_profile: Option<&'static str>,
    /// Of the transition table.
    pub table: Option<&'static str>,
    /// Of the predicate registry.
    pub registry: Option<&'static str>,
}

/// What became of one rule.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the report names exactly these")]
pub enum RuleState {
    /// It holds.
    Pass,
    /// It doesn't.
    Fail,
    /// It wasn't looked at, and so doesn't hold either.
    NotEvaluated,
}

impl RuleState {
    /// The word of the report.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::NotEvaluated => "not_evaluated",
        }
    }
}

/// The rules of VALID_RECORD, in the order of the report.
pub const RULES: [Affect; 10] = [
    Affect::R1,
    Affect::R2,
    Affect::R3,
    Affect::R4,
    Affect::R5,
    Affect::R6,
    Affect::R7,
    Affect::R8,
    Affect::R9,
    Affect::R1e,
];

/// What holds. Only the evaluation makes one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Statuses {
    pub(super) valid: bool,
    pub(super) outcome: RunOutcome,
    pub(super) satisfied: bool,
    pub(super) defensible: Option<bool>,
    pub(super) level: u8,
    pub(super) rules: [RuleState; 10],
    pub(super) unevaluable: bool,
}

impl Statuses {
    /// VALID_RECORD: R1 to R9, and the envelope's half of R1 where there is an envelope.
    #[must_use]
    pub const fn valid(&self) -> bool {
        self.valid
    }

    /// OUTCOME.
    #[must_use]
    pub const fn outcome(&self) -> RunOutcome {
        self.outcome
    }

    /// CONTRACT_SATISFIED.
    #[must_use]
    pub const fn satisfied(&self) -> bool {
        self.satisfied
    }

    /// DEFENSIBLE; `None` when nobody asked and no policy was given.
    #[must_use]
    pub const fn defensible(&self) -> Option<bool> {
        self.defensible
    }

    /// The level on the ladder, 0 to 4.
    #[must_use]
    pub const fn level(&self) -> u8 {
        self.level
    }

    /// The rules in the order of [`RULES`].
    #[must_use]
    pub const fn rules(&self) -> &[RuleState; 10] {
        &self.rules
    }

    /// Whether the container or the policy couldn't be read, so that nothing was evaluated.
    #[must_use]
    pub const fn unevaluable(&self) -> bool {
        self.unevaluable
    }
}

/// Words of an envelope's producer. Whoever passes an envelope on can change them, and its root_envelope
/// with them, without an effect on any status.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the report lists exactly these members")]
pub struct UnsignedMetadata {
    /// `metadata`; `None` where its form is refused.
    pub metadata: Option<Metadata>,
    /// Whether the manifest has an `ext`, which is never read.
    pub ext: bool,
}

/// What became of one anchor.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the report lists exactly these members")]
pub struct AnchorReport {
    /// Its path in the bundle.
    pub path: Box<str>,
    /// What it is over.
    pub kind: AnchorKind,
    /// What became of it.
    pub state: AnchorState,
    /// Its trusted time in seconds since 1970, if it has one.
    pub time: Option<i64>,
    /// Whose it is: the policy's name of the authority, the origin of the log.
    pub operator: Option<Box<str>>,
}

/// What became of an anchor.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the report names exactly these")]
pub enum AnchorState {
    /// It holds under the policy.
    Verified,
    /// It contradicts something, or can't be read.
    Failed,
    /// The policy doesn't know its issuer: it counts for nothing.
    Unsupported,
}

impl AnchorState {
    /// The word of the report.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Failed => "failed",
            Self::Unsupported => "unsupported",
        }
    }
}

/// What became of one audit, and what it shows, beside everything else.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the report lists exactly these members")]
pub struct AuditReport {
    /// SHA-256 of the audit.
    pub sha256: Digest,
    /// What became of it.
    pub state: AuditState,
    /// The key it says it is signed with, if it can be read.
    pub auditor: Option<SignerId>,
    /// What it states, if it can be read: the auditor's word where it is accepted, and nobody's else.
    pub claims: Option<AuditBody>,
    /// What was found, all of it notes, ascending by place and code.
    pub findings: Vec<GadFinding>,
}

/// What became of an audit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the report names exactly these")]
pub enum AuditState {
    /// An accepted auditor signed it.
    Accepted,
    /// None did, and nothing in it was looked at.
    NotAccepted,
    /// It can't be read.
    Unreadable,
}

impl AuditState {
    /// The word of the report.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::NotAccepted => "not_accepted",
            Self::Unreadable => "unreadable",
        }
    }
}

/// How the plan's precedence is shown.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the report names exactly these")]
pub enum Precedence {
    /// By order inside the record.
    Recorded,
    /// By a verified commitment before the first dispatch.
    Bounded,
}

impl Precedence {
    /// The word of the report.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Bounded => "bounded",
        }
    }
}
