//! gad.registry/1 as data: what may be claimed, by whom, of what, on which evidence, how strongly at most
//! and at least, and what each claim has to leave open.

use anchorlog_proto::gad::claims::IssuerType;
use anchorlog_proto::gad::entry::EntryType;
use anchorlog_proto::gad::names::{AnchorKind, EvidenceClass, is_id};

/// What a predicate is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the registry's cases")]
pub enum SubjectShape {
    /// The plan: neither node nor test.
    Plan,
    /// A node of it.
    Node,
    /// A test of a node.
    Test,
    /// Any of these.
    Any,
}

/// Which evidence is of the right kind.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the registry's cases")]
pub enum Accepts {
    /// Entries of these types.
    Entries(&'static [EntryType]),
    /// Entries of every type.
    AnyEntry,
    /// Anchors of these kinds.
    Anchors(&'static [AnchorKind]),
}

/// How much evidence there has to be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the registry's cases")]
pub enum Needs {
    /// Exactly one.
    One,
    /// One or more.
    AtLeastOne,
    /// The node's last execution_result, and when it was flagged its scope_closed pass.
    ResultAndClosure,
    /// Exactly one verdict per test of the node.
    VerdictPerTest,
    /// The freeze and the first dispatch.
    FreezeAndFirstDispatch,
}

/// How strong the evidence is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the registry's cases")]
pub enum Strength {
    /// eff of the verdict.
    Effective,
    /// Always this.
    Always(EvidenceClass),
    /// engine_observed for a session of one node, proxy for one of several.
    Session,
    /// engine_observed when an anchor of the kind verifies, attested otherwise.
    Anchor,
}

/// One row of the registry.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "the registry's columns")]
pub struct Predicate {
    /// Its id; of judgments, what it starts with.
    pub id: &'static str,
    /// Who may claim it.
    pub issuers: &'static [IssuerType],
    /// Of what.
    pub subject: SubjectShape,
    /// On what.
    pub accepts: Accepts,
    /// On how much of it.
    pub needs: Needs,
    /// Whether the evidence has to be of the node's last attempt.
    pub last_attempt: bool,
    /// How strong each piece is.
    pub strength: Strength,
    /// The lowest class it may be claimed at.
    pub lowest: EvidenceClass,
    /// What has to be named as not covered.
    pub aspect: &'static str,
}

const MACHINE: &[IssuerType] = &[IssuerType::Machine];
const HUMAN: &[IssuerType] = &[IssuerType::Human];
const EITHER: &[IssuerType] = &[IssuerType::Machine, IssuerType::Human];

/// gad.registry/1, row by row; the last one is that of judgments.
pub const REGISTRY: [Predicate; 11] = [
    Predicate {
        id: "gad/test_passed",
        issuers: MACHINE,
        subject: SubjectShape::Test,
        accepts: Accepts::Entries(&[EntryType::Verdict]),
        needs: Needs::One,
        last_attempt: true,
        strength: Strength::Effective,
        lowest: EvidenceClass::Proxy,
        aspect: "not_exercised",
    },
    Predicate {
        id: "gad/node_verified",
        issuers: MACHINE,
        subject: SubjectShape::Node,
        accepts: Accepts::Entries(&[EntryType::Verdict]),
        needs: Needs::VerdictPerTest,
        last_attempt: true,
        strength: Strength::Effective,
        lowest: EvidenceClass::Proxy,
        aspect: "adequacy_of_tests",
    },
    Predicate {
        id: "gad/scope_contained",
        issuers: MACHINE,
        subject: SubjectShape::Node,
        accepts: Accepts::Entries(&[EntryType::ExecutionResult, EntryType::ScopeClosed]),
        needs: Needs::ResultAndClosure,
        last_attempt: true,
        strength: Strength::Session,
        lowest: EvidenceClass::Proxy,
        aspect: "unmonitored_effects",
    },
    Predicate {
        id: "gad/gate_authorized",
        issuers: EITHER,
        subject: SubjectShape::Node,
        // A refusal is of the right kind, and says the contrary.
        accepts: Accepts::Entries(&[EntryType::Approval, EntryType::Refusal]),
        needs: Needs::One,
        last_attempt: true,
        strength: Strength::Always(EvidenceClass::EngineObserved),
        lowest: EvidenceClass::Attested,
        aspect: "approver_competence",
    },
    Predicate {
        id: "gad/succeeded_with_delta",
        issuers: MACHINE,
        subject: SubjectShape::Plan,
        accepts: Accepts::Entries(&[EntryType::PlanSuperseded]),
        needs: Needs::One,
        last_attempt: false,
        strength: Strength::Always(EvidenceClass::EngineObserved),
        lowest: EvidenceClass::EngineObserved,
        aspect: "successor_adequacy",
    },
    Predicate {
        id: "gad/record_covered",
        issuers: MACHINE,
        subject: SubjectShape::Plan,
        accepts: Accepts::Entries(&[EntryType::Checkpoint]),
        needs: Needs::AtLeastOne,
        last_attempt: false,
        strength: Strength::Always(EvidenceClass::EngineObserved),
        lowest: EvidenceClass::EngineObserved,
        aspect: "unrecorded_events",
    },
    Predicate {
        id: "gad/existed_by",
        issuers: MACHINE,
        subject: SubjectShape::Plan,
        accepts: Accepts::Anchors(&[AnchorKind::CoreRoot, AnchorKind::ChainHead]),
        needs: Needs::AtLeastOne,
        last_attempt: false,
        strength: Strength::Anchor,
        lowest: EvidenceClass::EngineObserved,
        aspect: "internal_timestamps",
    },
    Predicate {
        id: "gad/precedence_recorded",
        issuers: MACHINE,
        subject: SubjectShape::Plan,
        accepts: Accepts::Entries(&[EntryType::Freeze, EntryType::Dispatch]),
        needs: Needs::FreezeAndFirstDispatch,
        last_attempt: false,
        strength: Strength::Always(EvidenceClass::EngineObserved),
        lowest: EvidenceClass::EngineObserved,
        aspect: "external_time",
    },
    Predicate {
        id: "gad/precedence_bounded",
        issuers: MACHINE,
        subject: SubjectShape::Plan,
        accepts: Accepts::Anchors(&[AnchorKind::PlanCommitment]),
        needs: Needs::AtLeastOne,
        last_attempt: false,
        strength: Strength::Anchor,
        lowest: EvidenceClass::EngineObserved,
        aspect: "authorship_time",
    },
    Predicate {
        id: "gad/executor_said",
        issuers: MACHINE,
        subject: SubjectShape::Node,
        accepts: Accepts::Entries(&[EntryType::Claim]),
        needs: Needs::One,
        last_attempt: false,
        strength: Strength::Always(EvidenceClass::Attested),
        lowest: EvidenceClass::Attested,
        aspect: "truth_of_text",
    },
    Predicate {
        id: JUDGMENT,
        issuers: HUMAN,
        subject: SubjectShape::Any,
        accepts: Accepts::AnyEntry,
        needs: Needs::AtLeastOne,
        last_attempt: false,
        strength: Strength::Always(EvidenceClass::Attested),
        lowest: EvidenceClass::Attested,
        aspect: "scope",
    },
];

/// What the id of a judgment starts with; an id follows.
pub const JUDGMENT: &str = "judgment/";

impl Predicate {
    /// The row of a predicate id.
    #[must_use]
    pub fn find(id: &str) -> Option<&'static Self> {
        let id = match id.strip_prefix(JUDGMENT) {
            Some(judgment) => is_id(judgment).then_some(JUDGMENT)?,
            None => id,
        };
        REGISTRY.iter().find(|predicate| predicate.id == id)
    }

    /// Whether it is a judgment, which no machine may issue.
    #[must_use]
    pub fn is_judgment(&self) -> bool {
        self.id == JUDGMENT
    }
}

#[cfg(test)]
mod tests {
    use anchorlog_proto::gad::claims::ASPECTS;

    use super::*;

    #[test]
    fn ids_are_found_exactly() {
        for predicate in &REGISTRY {
            let id = if predicate.is_judgment() { "judgment/adequate" } else { predicate.id };
            assert_eq!(Predicate::find(id).unwrap().id, predicate.id);
        }
        for unknown in [
            "",
            "gad/",
            "gad/test_passed ",
            "GAD/test_passed",
            "test_passed",
            "judgment",
            "judgment/",
            "judgment/a b",
            "judgment/a/b",
            "judgment/-a",
            "gad/judgment",
        ] {
            assert!(Predicate::find(unknown).is_none(), "{unknown:?}");
        }
    }

    #[test]
    fn every_aspect_of_the_format_is_what_one_predicate_leaves_open() {
        let mut aspects = REGISTRY.map(|predicate| predicate.aspect);
        aspects.sort_unstable();
        assert_eq!(aspects, ASPECTS);
    }
}
