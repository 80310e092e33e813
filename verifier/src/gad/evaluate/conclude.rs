//! The statuses, drawn from what was found: VALID_RECORD, OUTCOME, CONTRACT_SATISFIED, DEFENSIBLE, level.

use anchorlog_proto::gad::attestation::PolicyName;
use anchorlog_proto::gad::claims::REGISTRY;
use anchorlog_proto::gad::core_manifest::Seal;
use anchorlog_proto::gad::entry::EntryType;
use anchorlog_proto::gad::names::{AnchorKind, RunOutcome};
use anchorlog_proto::gad::policy::Policy;

use crate::codes::gad::Affect;
use crate::codes::gad::notes::{
    ATTRIBUTION_PROXY, NOT_HISTORY, NOTICE, RECORDED_ONLY, RELATIVE, SNAPSHOT, UNANCHORED,
};
use crate::codes::gad::outcome::{
    LVL_GAD1, LVL_GAD2_ATTESTED, LVL_GAD2_TESTIMONY, LVL_GAD4_NO_POST_RUN, LVL_GAD4_NO_PRECOMMIT,
    OUT_INCOMPLETE, OUT_INVALID, SAT_INVALID, SAT_NOT_COMPLETED,
};
use crate::codes::gad::r3::{EXIT_MISSING, RESULT_MISSING};
use crate::codes::gad::r9::REGISTRY as UNKNOWN_REGISTRY;
use crate::codes::gad::trust_policy::{HASH, PARSE};
use crate::gad::anchors::RequiredAnchorsVerified;
use crate::gad::attestation::{
    self, ATTESTATION_INPUT, AttestationFacts, AttestationFile, AttestationsOutcome,
};
use crate::gad::audit::{self, AuditInput};
use crate::gad::container::{Bundle, Form};
use crate::gad::finding::{Findings, GadFinding, Where};
use crate::gad::policy::{self, PolicyFacts};
use crate::gad::report::{
    Asked, CANONICALIZATION, Input, Precedence, RULES, Report, RuleState, Statuses,
    UnsignedMetadata, Versions,
};
use crate::gad::watch::Watch;

use super::Request;
use super::envelope::Judged;

/// The versions that are implemented.
const BYTE_PROFILE: &str = "gad-bytes/1";
const TABLE: &str = "gad.table/1";

/// The report on a bundle whose container has a fault: nothing in it was evaluated.
pub(super) fn refused(
    bundle: Option<&Bundle>,
    request: &Request<'_>,
    findings: Findings,
) -> Report {
    let mut findings = findings;
    for code in [OUT_INVALID, SAT_INVALID, NOT_HISTORY] {
        findings.push(GadFinding::new(code, Where::nowhere()));
    }
    let none = Policy::none();
    let policy = PolicyName { id: none.id.clone(), hash: none.hash() };
    let asked =
        request.policy.is_some() || matches!(request.asked, Asked::Defensible | Asked::Gad4);
    Report {
        evaluator: request.evaluator.clone(),
        input: input(bundle),
        root_core: None,
        root_envelope: None,
        plan_hash: None,
        versions: Versions::default(),
        statuses: Statuses {
            valid: false,
            outcome: RunOutcome::Invalid,
            satisfied: false,
            defensible: asked.then_some(false),
            level: 0,
            rules: [RuleState::NotEvaluated; 10],
            unevaluable: true,
        },
        anchors: Vec::new(),
        audits: Vec::new(),
        unsigned_metadata: None,
        claims_not_evaluated: Vec::new(),
        replay_layers: Vec::new(),
        vacuous_anchors: true,
        precedence: Precedence::Recorded,
        policy,
        limits: request.limits,
        evaluation_time: request.evaluation_time,
        findings,
    }
}

/// Steps 4 to 8, and the report.
pub(super) fn report(
    bundle: &Bundle,
    request: &Request<'_>,
    judged: Judged,
    mut findings: Findings,
) -> Report {
    let core_only = bundle.form() == Form::Core;
    let rules = rules(&judged, core_only, &findings);
    let valid = is_valid(&rules, core_only);
    let outcome = outcome(&judged, valid, &mut findings);
    let satisfied = valid && outcome == RunOutcome::Completed;
    if !valid {
        findings.push(GadFinding::new(SAT_INVALID, Where::nowhere()));
    } else if !satisfied {
        findings.push(GadFinding::new(SAT_NOT_COMPLETED, Where::nowhere()).actual(outcome));
    }
    let record = Record { valid, outcome, satisfied };
    let asked_defensible = matches!(request.asked, Asked::Defensible | Asked::Gad4);
    let judged_defensible = judged.policy.given() || asked_defensible;
    let operator = judged.documents.operator.as_ref();
    let plan = judged.core.plan.as_ref().map(|plan| plan.plan());
    judged.survey.key_material(plan, operator, judged_defensible, &mut findings);
    let defensible =
        judged_defensible.then(|| is_defensible(request, &judged, &record, &mut findings));
    let level = level(&judged, &record, defensible == Some(true), &mut findings);
    notes(&judged, &mut findings);
    // Last, and beside all of it: a status that was drawn can't change any more.
    let audits = audit::judge(&AuditInput {
        audits: request.audits,
        auditors: request.auditors,
        record: &judged.core.facts,
        envelope: judged.envelope.as_ref(),
        files: &judged.files,
        predecessors: request.predecessors,
        policy: &judged.policy,
        known: request.known_checkpoints,
    });
    let unevaluable = findings.has(PARSE) || findings.has(HASH);
    let Judged {
        documents,
        core,
        envelope,
        has_ext,
        root_envelope,
        policy,
        anchors,
        claims_not_evaluated,
        ..
    } = judged;
    let unsigned_metadata =
        envelope.map(|envelope| UnsignedMetadata { metadata: envelope.metadata, ext: has_ext });
    let readable = documents.manifest.is_some();
    let replayed = core.watch.as_ref().map(Watch::replayed).unwrap_or_default();
    let replay_layers = replayed.layers_exercised().to_vec();
    let registry = readable && !findings.has(UNKNOWN_REGISTRY);
    Report {
        evaluator: request.evaluator.clone(),
        input: input(Some(bundle)),
        root_core: documents.root_core,
        root_envelope,
        plan_hash: core.facts.plan_hash,
        versions: Versions {
            spec: documents.manifest.map(|manifest| manifest.spec_version),
            byte_profile: readable.then_some(BYTE_PROFILE),
            table: readable.then_some(TABLE),
            registry: registry.then_some(REGISTRY),
        },
        statuses: Statuses { valid, outcome, satisfied, defensible, level, rules, unevaluable },
        vacuous_anchors: anchors.vacuous(),
        precedence: anchors.precedence(),
        anchors: anchors.anchors().to_vec(),
        audits,
        unsigned_metadata,
        claims_not_evaluated,
        replay_layers,
        policy: PolicyName { id: policy.policy().id.clone(), hash: policy.hash() },
        limits: request.limits,
        evaluation_time: request.evaluation_time,
        findings,
    }
}

/// VALID_RECORD, OUTCOME and CONTRACT_SATISFIED.
struct Record {
    valid: bool,
    outcome: RunOutcome,
    satisfied: bool,
}

fn input(bundle: Option<&Bundle>) -> Input {
    Input {
        form: bundle.map_or(Form::Directory, Bundle::form).as_str(),
        sha256: bundle.and_then(Bundle::sha256),
    }
}

fn rules(judged: &Judged, core_only: bool, findings: &Findings) -> [RuleState; 10] {
    RULES.map(|rule| {
        if findings.affects(rule) {
            RuleState::Fail
        } else if judged.core.not_evaluated.contains(&rule) || (core_only && rule == Affect::R1e) {
            RuleState::NotEvaluated
        } else {
            RuleState::Pass
        }
    })
}

/// R1 to R9, and the envelope's half of R1 where there is an envelope.
fn is_valid(rules: &[RuleState; 10], core_only: bool) -> bool {
    RULES
        .iter()
        .zip(rules)
        .all(|(rule, state)| *state == RuleState::Pass || (core_only && *rule == Affect::R1e))
}

/// OUTCOME: what the terminal entry says, of a valid record.
fn outcome(judged: &Judged, valid: bool, findings: &mut Findings) -> RunOutcome {
    if !valid {
        findings.push(GadFinding::new(OUT_INVALID, Where::nowhere()));
        return RunOutcome::Invalid;
    }
    let terminal = judged.core.summary.as_ref().and_then(|summary| summary.terminal);
    match terminal.map(|(entry_type, _)| entry_type) {
        Some(EntryType::PlanCompleted) => RunOutcome::Completed,
        Some(EntryType::PlanSuperseded) => RunOutcome::Superseded,
        Some(EntryType::PlanHalted) => RunOutcome::Halted,
        _ => {
            findings.push(GadFinding::new(OUT_INCOMPLETE, Where::nowhere()));
            RunOutcome::Incomplete
        }
    }
}

/// DEFENSIBLE: the conjunction of equation (8). Every conjunct is judged, whichever fails, and none can
/// be had but from the code that checked it.
fn is_defensible(
    request: &Request<'_>,
    judged: &Judged,
    record: &Record,
    findings: &mut Findings,
) -> bool {
    let watched = judged.core.watch.as_ref();
    let tally = watched.map(Watch::tally).unwrap_or_default();
    let operator = judged.documents.operator.as_ref();
    policy::judge(
        &PolicyFacts {
            outcome: record.outcome,
            notice: tally.notice,
            several_nodes: tally.several_nodes,
            unbound: judged.core.unbound.as_deref(),
            layers: judged.envelope.as_ref().map(|envelope| envelope.layers.as_slice()),
            seal: judged.envelope.as_ref().and_then(|envelope| envelope.operator_seal.as_ref()),
            operator: operator.map(|operator| &operator.credential),
            root_core: judged.documents.root_core,
            plan_hash: judged.core.facts.plan_hash,
        },
        &judged.policy,
        findings,
    );
    let attestations = attestations(request, judged, record, findings);
    let required: Option<RequiredAnchorsVerified> = judged.anchors.required();
    record.valid
        && required.is_some()
        && attestations.holds().is_some()
        && !findings.affects(Affect::Defensible)
}

fn attestations(
    request: &Request<'_>,
    judged: &Judged,
    record: &Record,
    findings: &mut Findings,
) -> AttestationsOutcome {
    let inside = judged.envelope.iter().flat_map(|envelope| &envelope.attestations);
    let mut files: Vec<_> = inside
        .filter_map(|row| {
            let bytes = judged.files.get(&row.path)?;
            Some(AttestationFile { name: &row.path, bytes, beside: false })
        })
        .collect();
    files.extend(request.attestations.iter().map(|bytes| AttestationFile {
        name: ATTESTATION_INPUT,
        bytes,
        beside: true,
    }));
    let in_core = judged.survey.attestations_in_core();
    let manifest = judged.documents.manifest.as_ref();
    let plan = judged.core.plan.as_ref();
    let facts = AttestationFacts {
        root_core: judged.documents.root_core,
        plan_hash: judged.core.facts.plan_hash,
        valid: record.valid,
        outcome: record.outcome,
        satisfied: record.satisfied,
        spec_version: manifest.map(|manifest| &*manifest.spec_version),
        canonicalization: manifest.map(|_| CANONICALIZATION),
        registry: (!findings.has(UNKNOWN_REGISTRY)).then_some(REGISTRY),
        predecessor: judged
            .envelope
            .as_ref()
            .and_then(|envelope| envelope.predecessor.ok().flatten()),
        latest_anchor: judged.anchors.latest(),
        replay_asked: judged.core.watch.as_ref().is_some_and(|watch| watch.replayed().asked() > 0),
        in_core: &in_core,
        operator: judged.documents.operator.as_ref(),
        principals: plan.map_or(&[], |plan| plan.plan().principals.as_slice()),
    };
    attestation::judge(&files, &facts, &judged.policy, &request.limits, findings)
}

/// The ladder of section 8; floors are cumulative.
fn level(judged: &Judged, record: &Record, defensible: bool, findings: &mut Findings) -> u8 {
    let watched = judged.core.watch.as_ref();
    let testimony = judged.core.plan.iter().flat_map(|plan| &plan.plan().nodes);
    for node in testimony.filter(|node| node.testimony) {
        let place = Where::member("core/plan.json");
        findings.push(GadFinding::new(LVL_GAD2_TESTIMONY, place).actual(&node.id));
    }
    let whole = watched.is_some()
        && !judged.core.not_evaluated.contains(&Affect::R3)
        && !findings.has(EXIT_MISSING)
        && !findings.has(RESULT_MISSING);
    if !whole {
        findings.push(GadFinding::new(LVL_GAD1, Where::nowhere()));
    }
    let attested = watched.and_then(|watch| watch.tally().attested);
    if let Some(seq) = attested {
        findings.push(GadFinding::new(LVL_GAD2_ATTESTED, Where::entry(seq)));
    }
    let supports = |kind| judged.anchors.supports(kind);
    let post_run = supports(AnchorKind::CoreRoot);
    let precommitted =
        !judged.core.facts.bounded_precedence_claimed() || supports(AnchorKind::PlanCommitment);
    if judged.policy.given() {
        if !post_run {
            findings.push(GadFinding::new(LVL_GAD4_NO_POST_RUN, Where::nowhere()));
        }
        if !precommitted {
            findings.push(GadFinding::new(LVL_GAD4_NO_PRECOMMIT, Where::nowhere()));
        }
    }
    match () {
        () if !whole => 0,
        () if attested.is_some() => 1,
        () if !record.valid => 2,
        () if defensible && post_run && precommitted => 4,
        () => 3,
    }
}

/// What the reader should know though nothing fails by it.
fn notes(judged: &Judged, findings: &mut Findings) {
    let mut note = |code, place| findings.push(GadFinding::new(code, place));
    note(NOT_HISTORY, Where::nowhere());
    if judged.policy.given() {
        note(RELATIVE, Where::nowhere());
    }
    let supports = |kind| judged.anchors.supports(kind);
    if !supports(AnchorKind::CoreRoot) && !supports(AnchorKind::ChainHead) {
        note(UNANCHORED, Where::nowhere());
    }
    if !supports(AnchorKind::PlanCommitment) {
        note(RECORDED_ONLY, Where::nowhere());
    }
    let tally = judged.core.watch.as_ref().map(Watch::tally).unwrap_or_default();
    if let Some(seq) = tally.several_nodes {
        note(ATTRIBUTION_PROXY, Where::entry(seq));
    }
    if let Some(seq) = tally.notice {
        note(NOTICE, Where::entry(seq));
    }
    let seal = judged.documents.manifest.as_ref().map(|manifest| manifest.seal);
    if seal == Some(Seal::Snapshot) {
        note(SNAPSHOT, Where::nowhere());
    }
}
