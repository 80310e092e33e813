//! Algorithm 2, R9: "for c in claims(B_core): require c = (predicate_id, subject_ref, evidence_refs, class,
//! noncoverage, issuer); every evidence_ref resolves within E to registry-acceptable evidence about the
//! relevant subject, plan, and node; support_class(c) ← min over evidence_refs of evidence_strength(e,
//! c.predicate_id, registry); c.class ⊑ support_class(c) ∧ allowed(c.predicate_id, c.class) ∧ c.noncoverage
//! ≠ ⊥; issuer = machine ⇒ predicate_id ∉ JudgmentPredicates" (equation (9)).
//!
//! [`registry`] is gad.registry/1 as data. Without an envelope there are no anchors yet: a claim that refers
//! to one is then not evaluated, and said to be so. That bounded precedence is claimed without a commitment
//! (R2.LABEL.BOUNDED) belongs to the anchors.

mod evidence;
pub mod registry;

use std::collections::HashMap;

use anchorlog_proto::gad::claims::{Claims, EvidenceRef, IssuerType, TypedClaim};
use anchorlog_proto::gad::entry::{EntryType, Signed};
use anchorlog_proto::gad::names::{AnchorKind, Role};

use self::registry::Predicate;
use crate::codes::Code;
use crate::codes::gad::r9::{
    ALLOWED, CLASS, EVIDENCE_EMPTY, FORM, HUMAN_UNSIGNED, ISSUER, MACHINE_JUDGMENT, NONCOVERAGE,
    PREDICATE, REGISTRY,
};
use crate::gad::rules::R6;
use crate::gad::trace::Machine;
use crate::gad::{Findings, GadFinding, Ledger, PlanIndex, Where};

/// Path of the claims in a bundle.
const CLAIMS: &str = "core/claims.json";

/// What an envelope has of one kind of anchor.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "built by whoever judges anchors")]
pub struct AnchorState {
    /// M_envelope lists one.
    pub listed: bool,
    /// One of them verifies under the policy.
    pub verified: bool,
}

/// A record whose last entry has gone by.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "built by the evaluation and by tests")]
pub struct Record<'r> {
    /// Its plan.
    pub plan: &'r PlanIndex,
    /// What its nodes came to.
    pub machine: &'r Machine,
    /// Its entries.
    pub ledger: &'r Ledger,
    /// What its sessions touched.
    pub scope: &'r R6,
}

/// Judges the claims of a record. `anchors` tells what the envelope has of each kind; `None` where there is
/// no envelope. Gives back the positions of the claims that were not evaluated.
pub fn judge(
    claims: &Claims,
    record: Record<'_>,
    anchors: Option<&dyn Fn(AnchorKind) -> AnchorState>,
    findings: &mut Findings,
) -> Vec<usize> {
    let mut not_evaluated = Vec::new();
    if !claims.registry_known {
        findings.push(
            GadFinding::new(REGISTRY, Where::member(CLAIMS).at("/registry"))
                .expected(anchorlog_proto::gad::claims::REGISTRY),
        );
    }
    let facts = Facts::new(record);
    for (position, claim) in claims.claims.iter().enumerate() {
        let Some(claim) = claim else {
            let place = Where::member(CLAIMS).at(format!("/claims/{position}"));
            findings.push(GadFinding::new(FORM, place));
            continue;
        };
        let refers = |evidence: &EvidenceRef| matches!(evidence, EvidenceRef::Anchor(_));
        if anchors.is_none() && claim.evidence.iter().any(refers) {
            not_evaluated.push(position);
        } else if claims.registry_known {
            let anchors = |kind| anchors.map(|anchors| anchors(kind)).unwrap_or_default();
            Judgement { record, facts: &facts, anchors: &anchors, position, claim, findings }
                .judge();
        }
    }
    not_evaluated
}

/// What claims ask of a whole record, looked for once.
struct Facts {
    /// Of each node, the position of the latest flag in its last attempt.
    flags: Vec<Option<u64>>,
    /// Of each node, whether its last session touched what no fence admits and no flag names.
    stray: Vec<bool>,
    /// Position of the first dispatch.
    first_dispatch: Option<u64>,
}

impl Facts {
    fn new(record: Record<'_>) -> Self {
        let mut flags = vec![None; record.plan.plan().nodes.len()];
        let mut first_dispatch = None;
        for (position, kept) in record.ledger.iter() {
            match (kept.entry_type, kept.node) {
                (EntryType::Dispatch, _) => {
                    first_dispatch.get_or_insert(position);
                }
                (EntryType::Flag, Some(node)) if kept.attempt == record.machine.attempt(node) => {
                    if let Some(flag) = flags.get_mut(node.position()) {
                        *flag = Some(position);
                    }
                }
                _ => {}
            }
        }
        // A session of many nodes is looked at once.
        let mut known: HashMap<u64, bool> = HashMap::new();
        let mut strays = |node| {
            let session = record.machine.session_of(node)?;
            let known = known.entry(session.dispatch);
            Some(*known.or_insert_with(|| record.scope.strays(session, record.plan)))
        };
        let stray = record.plan.nodes().map(|node| strays(node).unwrap_or(false)).collect();
        Self { flags, stray, first_dispatch }
    }
}

/// One claim on its way through the rule, in the order of the formats' section 4.
struct Judgement<'a> {
    record: Record<'a>,
    facts: &'a Facts,
    anchors: &'a dyn Fn(AnchorKind) -> AnchorState,
    position: usize,
    claim: &'a TypedClaim,
    findings: &'a mut Findings,
}

impl Judgement<'_> {
    fn judge(mut self) {
        let claim = self.claim;
        if claim.issuer == IssuerType::Machine && claim.signed.is_some() {
            // Only what a human issues stands in a signed object.
            return self.report(FORM, "/issuer_type", Some("human"), Some("machine"));
        }
        let Some(predicate) = Predicate::find(&claim.predicate) else {
            return self.report(PREDICATE, "/predicate_id", None, Some(&claim.predicate));
        };
        if predicate.is_judgment() && claim.issuer == IssuerType::Machine {
            return self.report(MACHINE_JUDGMENT, "/issuer_type", Some("human"), Some("machine"));
        }
        if !predicate.issuers.contains(&claim.issuer) {
            self.report(ISSUER, "/issuer_type", None, Some(claim.issuer.as_str()));
        }
        if claim.issuer == IssuerType::Human && !self.is_signed_by_a_human() {
            self.report(HUMAN_UNSIGNED, "", Some("a registered principal's signature"), None);
        }
        self.noncoverage(predicate);
        if claim.evidence.is_empty() {
            self.report(EVIDENCE_EMPTY, "/evidence_refs", Some("evidence"), Some("none"));
        }
        let support = self.support(predicate);
        if let Some(support) = support
            && claim.class > support
        {
            let (support, class) = (support.as_str(), claim.class.as_str());
            self.report(CLASS, "/evidence_class", Some(support), Some(class));
        }
        if claim.class < predicate.lowest {
            let (lowest, class) = (predicate.lowest.as_str(), claim.class.as_str());
            self.report(ALLOWED, "/evidence_class", Some(lowest), Some(class));
        }
    }

    fn noncoverage(&mut self, predicate: &Predicate) {
        let holds = self.claim.noncoverage.as_ref().is_some_and(|noncoverage| {
            noncoverage.iter().any(|named| &*named.aspect == predicate.aspect)
        });
        if !holds {
            self.report(NONCOVERAGE, "/noncoverage", Some(predicate.aspect), None);
        }
    }

    /// Under a registered principal without the engine role, over this plan.
    fn is_signed_by_a_human(&self) -> bool {
        let plan = self.record.plan;
        let Some(Signed { type_agrees: true, plan_hash, key_id, signature, message }) =
            &self.claim.signed
        else {
            return false;
        };
        let principal = key_id
            .and_then(|key_id| plan.principal(key_id))
            .filter(|principal| !principal.roles.contains(&Role::Engine));
        *plan_hash == Some(plan.hash())
            && principal.zip(signature.as_ref()).is_some_and(|(principal, signature)| {
                principal.key.verify(message, signature).is_ok()
            })
    }

    fn place(&self, member: &str) -> Where {
        let body = if self.claim.signed.is_some() { "/body" } else { "" };
        Where::member(CLAIMS).at(format!("/claims/{}{body}{member}", self.position))
    }

    fn report(&mut self, code: Code, member: &str, expected: Option<&str>, actual: Option<&str>) {
        let mut finding = GadFinding::new(code, self.place(member));
        if let Some(expected) = expected {
            finding = finding.expected(expected);
        }
        if let Some(actual) = actual {
            finding = finding.actual(actual);
        }
        self.findings.push(finding);
    }
}

#[cfg(test)]
mod tests;
