//! The members of a policy that are about the record itself.

use anchorlog_proto::Digest;
use anchorlog_proto::gad::envelope::OperatorSeal;
use anchorlog_proto::gad::names::{ProvenanceLayer, RunOutcome};
use anchorlog_proto::gad::operator::Credential;

use crate::codes::gad::Affect;
use crate::codes::gad::trust_policy::{LAYERS, NOTICE, OUTCOME, SEAL, SESSION_NODES, UNBOUND};
use crate::gad::finding::{Findings, GadFinding, Where};

use super::PolicyContext;

/// Member name of the envelope manifest.
const ENVELOPE: &str = "envelope.json";

/// What a policy asks about a record, as the evaluation found it.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "filled in by the evaluation and by tests")]
pub struct PolicyFacts<'a> {
    /// How the run ended.
    pub outcome: RunOutcome,
    /// The first nonconformance_notice, by its seq.
    pub notice: Option<u64>,
    /// The first dispatch that names several nodes, by its seq.
    pub several_nodes: Option<u64>,
    /// The first artifact that nothing names by its digest (`R1.ARTIFACT.UNBOUND`), by its path.
    pub unbound: Option<&'a str>,
    /// The layers the envelope declares; `None` without an envelope.
    pub layers: Option<&'a [ProvenanceLayer]>,
    /// The operator's seal, where the envelope has one that could be read.
    pub seal: Option<&'a OperatorSeal>,
    /// The operator's credential, where the operator record could be read.
    pub operator: Option<&'a Credential>,
    /// The recomputed root_core.
    pub root_core: Option<Digest>,
    /// h(P).
    pub plan_hash: Option<Digest>,
}

/// Holds a record against a policy that was given. In this order: `POL.OUTCOME`, `POL.NOTICE`,
/// `POL.SESSION_NODES`, `POL.UNBOUND`, `POL.LAYERS`, `POL.SEAL`; all that apply. A seal that isn't
/// required and doesn't verify is a note.
pub fn judge(facts: &PolicyFacts<'_>, context: &PolicyContext, findings: &mut Findings) {
    if !context.given() || !context.readable() {
        return;
    }
    let policy = context.policy();
    if !policy.accept_outcomes.contains(&facts.outcome) {
        let accepted: Vec<_> = policy.accept_outcomes.iter().map(|one| one.as_str()).collect();
        findings.push(
            GadFinding::new(OUTCOME, Where::nowhere())
                .expected(accepted.join(", "))
                .actual(facts.outcome),
        );
    }
    if let (true, Some(seq)) = (policy.reject_with_notice, facts.notice) {
        findings.push(GadFinding::new(NOTICE, Where::entry(seq)).expected("no notice"));
    }
    if let (true, Some(seq)) = (policy.require_single_node_sessions, facts.several_nodes) {
        findings.push(GadFinding::new(SESSION_NODES, Where::entry(seq)).expected("one node"));
    }
    if let (true, Some(path)) = (policy.require_bound_artifacts, facts.unbound) {
        findings.push(
            GadFinding::new(UNBOUND, Where::member(path))
                .expected("a digest in the plan or an entry"),
        );
    }
    let declared = facts.layers.unwrap_or_default();
    if !declared.iter().any(|layer| policy.accepted_layers.contains(layer)) {
        let words = |layers: &[ProvenanceLayer]| {
            layers.iter().map(|layer| layer.as_str()).collect::<Vec<_>>().join(", ")
        };
        let place = Where::member(ENVELOPE).at("/provenance_layers");
        findings.push(
            GadFinding::new(LAYERS, place)
                .expected(format_args!("one of: {}", words(&policy.accepted_layers)))
                .actual(words(declared)),
        );
    }
    seal(facts, policy.require_operator_seal, findings);
}

/// The operator's seal over root_core.
fn seal(facts: &PolicyFacts<'_>, required: bool, findings: &mut Findings) {
    let place = Where::member(ENVELOPE).at("/operator_seal");
    let finding = match facts.seal {
        None if required => GadFinding::new(SEAL, place).expected("a seal").actual("none"),
        None => return,
        Some(seal) => match unsealed(seal, facts) {
            None => return,
            Some(why) => GadFinding::new(SEAL, place)
                .expected("the operator's signature over this root_core")
                .actual(why),
        },
    };
    findings.push(if required { finding } else { finding.affecting(&[Affect::Note]) });
}

/// Why a seal isn't the operator's over this core.
fn unsealed(seal: &OperatorSeal, facts: &PolicyFacts<'_>) -> Option<&'static str> {
    let signed = &seal.signed;
    let Some(credential) = facts.operator else {
        return Some("no operator record to hold it against");
    };
    if !signed.type_agrees {
        return Some("a body of another type");
    }
    if seal.root_core.is_none() || seal.root_core != facts.root_core {
        return Some("over another root_core");
    }
    if signed.plan_hash.is_none() || signed.plan_hash != facts.plan_hash {
        return Some("of another plan");
    }
    if signed.key_id != Some(credential.key.id()) {
        return Some("under another key");
    }
    let holds = signed
        .signature
        .is_some_and(|signature| credential.key.verify(&signed.message, &signature).is_ok());
    (!holds).then_some("the signature does not verify")
}
