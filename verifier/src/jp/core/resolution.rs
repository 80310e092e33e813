//! Resolution (Core section 8): from conditions to one disposition, and who contributed to it.

use std::collections::BTreeSet;

use anchorlog_proto::jp::attribution::{ContributorKind, Contributors, Credit};
use anchorlog_proto::jp::core_pack::{CoreId, Disposition, Effect, OnUnknown, Pack, Reason};
use anchorlog_proto::jp::json::Value;

use super::error::{EvaluationError, shown};
use super::inputs::Availability;
use super::meter::{Limits, Meter};
use super::truth::Truth;

/// What came of an evaluation.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Evaluation {
    /// The portable disposition.
    pub disposition: Disposition,
    /// Whom it is credited to. Core leaves contributors outside the disposition; RFC 0028 says who they are.
    pub credit: Credit,
    /// What the conditions were.
    pub trace: Trace,
}

/// What the conditions were, in the pack's order. Informative; no part of the portable result.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Trace {
    /// The applicability; true where the pack states none.
    pub applicability: Truth,
    /// The exceptions; empty where resolution ended before them.
    pub exceptions: Vec<TraceStep>,
    /// The rules; empty where resolution ended before them.
    pub rules: Vec<TraceStep>,
}

/// One condition.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct TraceStep {
    /// Of the exception or rule with this id.
    pub id: CoreId,
    /// What it was; `None` for a suppressed rule, which is not evaluated.
    pub condition: Option<Truth>,
}

/// Evaluates inputs that are admitted, apart from the pack's required extensions, which are asked about first.
pub fn evaluate_admitted(
    pack: &Pack,
    facts: &Value<'_>,
    evidence: &Availability,
    supported: &[&str],
    limits: &Limits,
) -> Result<Evaluation, EvaluationError> {
    if let Some(name) = pack.required_extensions().find(|name| !supported.contains(name)) {
        return Err(EvaluationError::Extension { name: shown(name) });
    }
    let mut meter = Meter::new(facts, evidence, limits);
    let collections = [
        pack.rules().len(),
        pack.exceptions().len(),
        pack.outcomes().len(),
        pack.evidence_requirements().len(),
    ];
    collections.into_iter().try_for_each(|count| meter.collection(count))?;
    let applicability = match pack.applicability() {
        Some(condition) => meter.truth(condition)?,
        None => Truth::True,
    };
    let mut trace = Trace { applicability, exceptions: Vec::new(), rules: Vec::new() };
    let (disposition, credit) = match applicability {
        // Step 1.
        Truth::False => (not_applicable(pack), Credit::NonOutcome),
        Truth::Unknown => (unresolved(pack, BTreeSet::from([Reason::Unknown])), Credit::NonOutcome),
        Truth::True => resolve(pack, evidence, &mut meter, &mut trace)?,
    };
    Ok(Evaluation { disposition, credit, trace })
}

type Resolved = Result<(Disposition, Credit), EvaluationError>;

/// Steps 2 to 10.
fn resolve(
    pack: &Pack,
    evidence: &Availability,
    meter: &mut Meter<'_>,
    trace: &mut Trace,
) -> Resolved {
    let mut reasons: BTreeSet<Reason> = missing_evidence(pack, evidence).into_iter().collect();
    let effects = effects(pack, meter, trace, &mut reasons)?;
    if !reasons.is_empty() {
        // Step 5: blocked before the rules.
        return Ok((unresolved(pack, reasons), Credit::NonOutcome));
    }
    if let Some((outcome, forcing)) = effects.forced {
        // Step 6: every true exception that forces it contributes; the rules are bypassed.
        return credited(outcome, ContributorKind::ForcingException, forcing);
    }
    let mut candidates: BTreeSet<&CoreId> = BTreeSet::new();
    let mut contributing = Vec::new();
    for rule in pack.rules() {
        let suppressed = effects.suppressed.contains(&rule.id);
        let condition = if suppressed { None } else { Some(meter.truth(&rule.when)?) };
        trace.rules.push(TraceStep { id: rule.id.clone(), condition });
        // Step 7.
        match condition {
            Some(Truth::True) => {
                candidates.insert(&rule.outcome);
                contributing.push(rule.id.clone());
            }
            Some(Truth::Unknown) if rule.on_unknown == OnUnknown::Escalate => {
                reasons.insert(Reason::Unknown);
            }
            _ => {}
        }
    }
    // Step 8.
    if candidates.len() > 1 {
        reasons.insert(Reason::Conflict);
    }
    if !reasons.is_empty() {
        return Ok((unresolved(pack, reasons), Credit::NonOutcome));
    }
    match (candidates.pop_first(), pack.fallback_outcome()) {
        // Step 9: every true rule names this outcome, since there is no conflict.
        (Some(outcome), _) => credited(outcome, ContributorKind::Rule, contributing),
        // Step 10.
        (None, Some(fallback)) => Ok((Disposition::outcome(fallback.clone()), Credit::Fallback)),
        (None, None) => {
            Ok((unresolved(pack, BTreeSet::from([Reason::NoMatch])), Credit::NonOutcome))
        }
    }
}

/// Step 2.
fn missing_evidence(pack: &Pack, evidence: &Availability) -> Option<Reason> {
    let required = pack.evidence_requirements().iter().filter(|requirement| requirement.required);
    let all = required.fold(Truth::True, |all, one| all.and(evidence.of(&one.id).into()));
    match all {
        Truth::True => None,
        Truth::False => Some(Reason::MissingRequiredEvidence),
        Truth::Unknown => Some(Reason::Unknown),
    }
}

/// What the exceptions do together.
struct Effects<'p> {
    suppressed: BTreeSet<&'p CoreId>,
    forced: Option<(&'p CoreId, Vec<CoreId>)>,
}

/// Steps 3 to 5: evaluates every exception, and notes the reasons that block.
fn effects<'p>(
    pack: &'p Pack,
    meter: &mut Meter<'_>,
    trace: &mut Trace,
    reasons: &mut BTreeSet<Reason>,
) -> Result<Effects<'p>, EvaluationError> {
    let mut effects = Effects { suppressed: BTreeSet::new(), forced: None };
    for exception in pack.exceptions() {
        let condition = meter.truth(&exception.when)?;
        trace.exceptions.push(TraceStep { id: exception.id.clone(), condition: Some(condition) });
        match condition {
            Truth::False => {}
            Truth::Unknown => {
                if exception.on_unknown == OnUnknown::Escalate {
                    reasons.insert(Reason::Unknown);
                }
            }
            Truth::True => match &exception.effect {
                Effect::SuppressRule(target) => drop(effects.suppressed.insert(target)),
                Effect::Escalate => drop(reasons.insert(Reason::ExceptionEscalation)),
                Effect::ForceOutcome(outcome) => match &mut effects.forced {
                    None => effects.forced = Some((outcome, vec![exception.id.clone()])),
                    Some((forced, by)) if *forced == outcome => by.push(exception.id.clone()),
                    Some(_) => drop(reasons.insert(Reason::Conflict)),
                },
            },
        }
    }
    Ok(effects)
}

fn credited(outcome: &CoreId, kind: ContributorKind, ids: Vec<CoreId>) -> Resolved {
    // The ids are of one collection, which is within the limit; a caller's greater limit may let more through
    // than any output can name.
    let limit = anchorlog_proto::jp::attribution::MAX_CONTRIBUTORS;
    let contributors =
        Contributors::new(kind, ids).map_err(|_| EvaluationError::Collection { limit })?;
    Ok((Disposition::outcome(outcome.clone()), Credit::Contributors(contributors)))
}

fn not_applicable(pack: &Pack) -> Disposition {
    let triggers = pack.triggers();
    Disposition::not_applicable(triggers.is_some_and(|set| set.contains(&Reason::NotApplicable)))
}

/// Section 8.1: the reasons that are configured triggers, and a direct request in any case.
fn unresolved(pack: &Pack, reasons: BTreeSet<Reason>) -> Disposition {
    let triggers = |reason: &Reason| {
        *reason == Reason::ExceptionEscalation
            || pack.triggers().is_some_and(|set| set.contains(reason))
    };
    let triggered_by: BTreeSet<Reason> =
        reasons.iter().copied().filter(|reason| triggers(reason)).collect();
    #[expect(clippy::expect_used, reason = "callers give a reason, never not-applicable")]
    Disposition::unresolved(reasons, triggered_by).expect("reasons that block make a disposition")
}
