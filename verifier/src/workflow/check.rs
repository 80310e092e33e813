//! The checks by name, and what came of each.

use core::fmt;

use anchorlog_proto::jp::fault::{Phase, Rule};

/// A check, in the order in which they are made.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Check {
    /// Bytes, files and nesting.
    Bounds,
    /// The branch's aggregate bytes and files against the document's limits.
    BranchAggregate,
    /// The dialect's own bounds of each preparation.
    PreparationBounds,
    /// Strict JSON and the domain of integers.
    StrictJson,
    /// Counts and lengths.
    Counts,
    /// Versions and format selectors.
    Versions,
    /// Closed forms, and the bytes that the layout asks for.
    ClosedForms,
    /// Order of stages and entries, pairs of nulls.
    ReferenceOrder,
    /// Pointers and overlaps.
    Pointers,
    /// Named dialects are the ones referred to.
    DialectIdentity,
    /// Binding documents bind the published dialect.
    BindingDocuments,
    /// Closed forms of dialects, profiles and preparations.
    DialectForms,
    /// Dispositions of completed evaluations.
    Dispositions,
    /// Error envelopes.
    EvaluationErrors,
    /// Cases, payloads and preparations have the literal form, as it is inferred.
    LiteralForm,
    /// Every pin has its file.
    ArtifactsPresent,
    /// Dialect kinds are read.
    DialectKinds,
    /// Preparations.
    Preparations,
    /// Expected digests, and the execution's workflow.
    ExpectedDigests,
    /// Frozen pins: packs, dialects, bindings, releases.
    FrozenPins,
    /// Runtime pins against the given ones.
    RuntimePins,
    /// A release's digest is of its typed encoding.
    ReleaseEncoding,
    /// A release pins the same pack, runtime and bound dialect.
    ReleaseAssociation,
    /// The published dialect expands to the bound one.
    Expansion,
    /// Pins of instances.
    InstancePins,
    /// Pins of error envelopes.
    EvaluationErrorPins,
    /// Run exports hold the retained preparation and audit, under the frozen release.
    RunExports,
    /// Selections.
    Selections,
    /// Projected cases.
    Cases,
    /// Inherited influence and its admission.
    Influence,
    /// The expected inventory.
    Inventory,
    /// Deterministic accounting of bounds.
    BoundAccounting,
    /// Outputs re-extracted.
    Outputs,
    /// The influence that output records state.
    OutputInfluence,
}

impl Check {
    /// Every check, in order.
    pub const ALL: [Self; 34] = [
        Self::Bounds,
        Self::BranchAggregate,
        Self::PreparationBounds,
        Self::StrictJson,
        Self::Counts,
        Self::Versions,
        Self::ClosedForms,
        Self::ReferenceOrder,
        Self::Pointers,
        Self::DialectIdentity,
        Self::BindingDocuments,
        Self::DialectForms,
        Self::Dispositions,
        Self::EvaluationErrors,
        Self::LiteralForm,
        Self::ArtifactsPresent,
        Self::DialectKinds,
        Self::Preparations,
        Self::ExpectedDigests,
        Self::FrozenPins,
        Self::RuntimePins,
        Self::ReleaseEncoding,
        Self::ReleaseAssociation,
        Self::Expansion,
        Self::InstancePins,
        Self::EvaluationErrorPins,
        Self::RunExports,
        Self::Selections,
        Self::Cases,
        Self::Influence,
        Self::Inventory,
        Self::BoundAccounting,
        Self::Outputs,
        Self::OutputInfluence,
    ];

    /// The stable name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bounds => "bounds",
            Self::BranchAggregate => "branch-aggregate",
            Self::PreparationBounds => "preparation-bounds",
            Self::StrictJson => "strict-json",
            Self::Counts => "counts",
            Self::Versions => "versions",
            Self::ClosedForms => "closed-forms",
            Self::ReferenceOrder => "reference-order",
            Self::Pointers => "pointers",
            Self::DialectIdentity => "dialect-identity",
            Self::BindingDocuments => "binding-documents",
            Self::DialectForms => "dialect-forms",
            Self::Dispositions => "dispositions",
            Self::EvaluationErrors => "evaluation-errors",
            Self::LiteralForm => "literal-form",
            Self::ArtifactsPresent => "artifacts-present",
            Self::DialectKinds => "dialect-kinds",
            Self::Preparations => "preparations",
            Self::ExpectedDigests => "expected-digests",
            Self::FrozenPins => "frozen-pins",
            Self::RuntimePins => "runtime-pins",
            Self::ReleaseEncoding => "release-encoding",
            Self::ReleaseAssociation => "release-association",
            Self::Expansion => "expansion",
            Self::InstancePins => "instance-pins",
            Self::EvaluationErrorPins => "evaluation-error-pins",
            Self::RunExports => "run-exports",
            Self::Selections => "selections",
            Self::Cases => "cases",
            Self::Influence => "influence",
            Self::Inventory => "inventory",
            Self::BoundAccounting => "bound-accounting",
            Self::Outputs => "outputs",
            Self::OutputInfluence => "output-influence",
        }
    }

    /// The check that asks about a rule.
    #[must_use]
    pub const fn of(rule: Rule) -> Self {
        match rule {
            Rule::Bytes | Rule::Nesting => Self::Bounds,
            Rule::Json | Rule::Domain => Self::StrictJson,
            Rule::Count => Self::Counts,
            Rule::Version => Self::Versions,
            Rule::Order => Self::ReferenceOrder,
            Rule::Pointer => Self::Pointers,
            Rule::Identity => Self::DialectIdentity,
            Rule::Binding => Self::BindingDocuments,
            Rule::Disposition => Self::Dispositions,
            Rule::Envelope => Self::EvaluationErrors,
            Rule::Absent => Self::ArtifactsPresent,
            Rule::Kind => Self::DialectKinds,
            _ => Self::ClosedForms,
        }
    }

    /// The phase of the reference phase that the check belongs to; none for what comes after it.
    #[must_use]
    pub const fn phase(self) -> Option<Phase> {
        Some(match self {
            Self::Bounds | Self::BranchAggregate | Self::PreparationBounds => Phase::Bounds,
            Self::StrictJson => Phase::Json,
            Self::Counts => Phase::Counts,
            Self::Versions => Phase::Versions,
            Self::ClosedForms
            | Self::ReferenceOrder
            | Self::Pointers
            | Self::DialectIdentity
            | Self::BindingDocuments
            | Self::DialectForms
            | Self::Dispositions
            | Self::EvaluationErrors
            | Self::LiteralForm => Phase::Forms,
            Self::ArtifactsPresent => Phase::Inventory,
            Self::DialectKinds => Phase::Kinds,
            _ => return None,
        })
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A code of a finding (RFC 0020 section 9), in the RFC's spelling.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum FindingCode {
    /// A preparation does not verify.
    PreparationMismatch,
    /// A digest is of other bytes.
    DigestMismatch,
    /// Dialect, binding, profile, pack, release or runtime don't belong together.
    StageBindingMismatch,
    /// A selection.
    SelectionMismatch,
    /// A projected case.
    CaseMismatch,
    /// Inherited influence or its admission.
    InfluenceMismatch,
    /// The inventory of instances, attempts and sets.
    InventoryMismatch,
    /// Outputs and their lineage.
    OutputMismatch,
}

impl FindingCode {
    /// The RFC's spelling.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PreparationMismatch => "preparation-mismatch",
            Self::DigestMismatch => "digest-mismatch",
            Self::StageBindingMismatch => "stage-binding-mismatch",
            Self::SelectionMismatch => "selection-mismatch",
            Self::CaseMismatch => "case-mismatch",
            Self::InfluenceMismatch => "influence-mismatch",
            Self::InventoryMismatch => "inventory-mismatch",
            Self::OutputMismatch => "output-mismatch",
        }
    }
}

/// Why a check is not made.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Reason {
    /// The RFC's table of limits is not public.
    LimitsTableNotPublic,
    /// The dialect's text is not public.
    DialectNotPublic,
    /// The typed encoding of releases is not public.
    ReleaseEncodingNotPublic,
    /// The literal form is inferred, and a file has another one.
    LiteralFormInferred,
    /// Whether records are counted per stage or per branch is not public, and here it matters.
    RecordScopeNotPublic,
    /// No preparation verifier is plugged in.
    NoPreparationVerifier,
    /// No expansion verifier is plugged in.
    NoExpansionVerifier,
    /// No influence verifier is plugged in.
    NoInfluenceVerifier,
    /// A plugged verifier gave no answer.
    NoAnswer,
    /// No digest was given to compare with.
    NoExpectation,
    /// No runtime pin was given to compare with.
    NoRuntimePin,
    /// A completed or bound-failed instance has no run export to extract from.
    NoRunExport,
    /// A preparation is pinned where there is no case that it could be of.
    NoCase,
    /// A refusal came first.
    RefusedBefore,
    /// A finding came first.
    FindingBefore,
}

impl Reason {
    /// The stable name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LimitsTableNotPublic => "limits-table-not-public",
            Self::DialectNotPublic => "dialect-not-public",
            Self::ReleaseEncodingNotPublic => "release-encoding-not-public",
            Self::LiteralFormInferred => "literal-form-inferred",
            Self::RecordScopeNotPublic => "record-scope-not-public",
            Self::NoPreparationVerifier => "no-preparation-verifier",
            Self::NoExpansionVerifier => "no-expansion-verifier",
            Self::NoInfluenceVerifier => "no-influence-verifier",
            Self::NoAnswer => "no-answer",
            Self::NoExpectation => "no-expectation",
            Self::NoRuntimePin => "no-runtime-pin",
            Self::NoRunExport => "no-run-export",
            Self::NoCase => "no-case",
            Self::RefusedBefore => "refused-before",
            Self::FindingBefore => "finding-before",
        }
    }
}

/// What came of a check.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "there is no fifth: what is neither is not performed")]
pub enum Status {
    /// It was made and holds.
    Agrees,
    /// It refuses the input. A plugged verifier's refusal has its own code.
    Refusal {
        /// The code.
        code: String,
        /// What and where.
        detail: String,
    },
    /// It was made and does not hold.
    Finding {
        /// The code.
        code: FindingCode,
        /// What and where.
        detail: String,
    },
    /// It was not made.
    NotPerformed {
        /// Why.
        reason: Reason,
        /// What and where; may be empty.
        detail: String,
    },
}

/// A check and what came of it.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct CheckResult {
    /// The check.
    pub check: Check,
    /// What came of it.
    pub status: Status,
}

impl CheckResult {
    /// Whether the check isn't made for no other reason than that something else ended the checks.
    pub(super) const fn was_not_come_to(&self) -> bool {
        let Status::NotPerformed { reason, .. } = &self.status else { return false };
        matches!(reason, Reason::FindingBefore | Reason::RefusedBefore)
    }
}

/// The checks as they are made. The first refusal or finding ends them.
#[derive(Debug, Default)]
pub(super) struct Tally {
    made: std::collections::BTreeMap<Check, Status>,
    unanswered: Option<CheckResult>,
}

/// Something ended the checks; it is in the tally.
#[derive(Debug)]
pub(super) struct Stopped;

impl Tally {
    /// The check was made and holds, unless something else was noted about it.
    pub(super) fn agrees(&mut self, check: Check) {
        self.made.entry(check).or_insert(Status::Agrees);
    }

    /// The check is not made, or not wholly; the first reason stays.
    pub(super) fn unmade(&mut self, check: Check, reason: Reason, detail: impl fmt::Display) {
        let status = Status::NotPerformed { reason, detail: detail.to_string() };
        if reason == Reason::NoAnswer {
            let status = status.clone();
            self.unanswered.get_or_insert(CheckResult { check, status });
        }
        self.made.entry(check).or_insert(status);
    }

    /// Whether something was noted as not made about the check.
    pub(super) fn is_unmade(&self, check: Check) -> bool {
        matches!(self.made.get(&check), Some(Status::NotPerformed { .. }))
    }

    /// The first question that a plugged verifier had no answer to. It is remembered apart, as a later stage or
    /// instance can refuse or end the same check: what the answer would have been comes before that.
    pub(super) fn unanswered(&self) -> Option<CheckResult> {
        self.unanswered.clone()
    }

    /// The check refuses.
    pub(super) fn refuse(
        &mut self,
        check: Check,
        code: impl Into<String>,
        detail: impl fmt::Display,
    ) -> Stopped {
        let status = Status::Refusal { code: code.into(), detail: detail.to_string() };
        self.made.insert(check, status);
        Stopped
    }

    /// The check does not hold.
    pub(super) fn find(
        &mut self,
        check: Check,
        code: FindingCode,
        detail: impl fmt::Display,
    ) -> Stopped {
        self.made.insert(check, Status::Finding { code, detail: detail.to_string() });
        Stopped
    }

    /// The same unless it holds.
    pub(super) fn require(
        &mut self,
        holds: bool,
        check: Check,
        code: FindingCode,
        detail: impl fmt::Display,
    ) -> Result<(), Stopped> {
        if holds { Ok(()) } else { Err(self.find(check, code, detail)) }
    }

    /// Every check in order; what was not come to has the reason that ended the rest.
    pub(super) fn results(mut self) -> Vec<CheckResult> {
        let refused = self.made.values().any(|status| matches!(status, Status::Refusal { .. }));
        let reason = if refused { Reason::RefusedBefore } else { Reason::FindingBefore };
        let unmade = Status::NotPerformed { reason, detail: String::new() };
        let results = Check::ALL.map(|check| {
            let status = self.made.remove(&check).unwrap_or_else(|| unmade.clone());
            CheckResult { check, status }
        });
        results.into()
    }
}
