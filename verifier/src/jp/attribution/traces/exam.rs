//! One trace by itself: against the pack that it is of, its disposition, and the replay.

use anchorlog_proto::jp::attribution::{
    AuditRecord, RecordedTrace, RuleVerdict, Traced, TracedEffect, Verdict,
};
use anchorlog_proto::jp::core_pack::{CoreId, Effect, Exception, OnUnknown, Pack, Rule};

use super::super::replay::evaluate;
use super::{Examined, RESULT, TracedExport, about};
use crate::codes::attribution::TRACE;
use crate::finding::Finding;
use crate::jp::core::{Evaluation, TraceStep, Truth};

/// Examines the trace of an export; with an audit record also against the replay on it.
pub(super) fn examine(
    export: &TracedExport,
    pack: &Pack,
    audit: Option<&AuditRecord<'_>>,
) -> Examined {
    let trace = &export.result.trace;
    let mut wrong = Vec::new();
    let mut note = |at: &str, detail: &str| {
        let finding = about(Finding::new(TRACE, detail), export.number);
        wrong.push(finding.at(format!("{RESULT}/trace{at}")));
    };
    let of_pack = against_pack(trace, pack);
    if let Err((at, detail)) = &of_pack {
        note(at, detail);
    }
    let credit = match trace.credit(&export.result.disposition) {
        Ok(credit) => Some(credit),
        Err(error) => {
            note(&error.at, &error.to_string());
            None
        }
    };
    // What can't be evaluated again is the replay's own finding.
    let again = audit.and_then(|audit| evaluate(audit, pack).ok());
    if let (Some(again), Ok(())) = (&again, &of_pack) {
        if let Some(at) = against_replay(trace, again) {
            note(&at, "evaluated again this condition is another one");
        }
        if credit.as_ref().is_some_and(|credit| *credit != again.credit) {
            note("", "evaluated again other contributors come of it");
        }
    }
    Examined { credit: credit.filter(|_| wrong.is_empty()), wrong }
}

type OfPack = Result<(), (String, &'static str)>;

/// A trace that is of this pack: its entries are the pack's, in the pack's order, and say what the pack says.
fn against_pack(trace: &RecordedTrace, pack: &Pack) -> OfPack {
    if trace.applicability.is_some() != pack.applicability().is_some() {
        let detail = "the pack and the trace don't both have an applicability";
        return Err((String::new(), detail));
    }
    let applies = matches!(trace.applicability, None | Some(Verdict::True(())));
    let exceptions = if applies { pack.exceptions() } else { &[] };
    same_ids(&trace.exceptions, exceptions.iter().map(|one| &one.id), |at| trace.exception_at(at))?;
    for (position, (traced, own)) in trace.exceptions.iter().zip(exceptions).enumerate() {
        if !of_exception(&traced.verdict, own) {
            return Err((trace.exception_at(position), "the pack's exception does another thing"));
        }
    }
    if trace.rules.is_empty() {
        return Ok(());
    }
    let rules = if applies { pack.rules() } else { &[] };
    same_ids(&trace.rules, rules.iter().map(|one| &one.id), |at| trace.rule_at(at))?;
    for (position, (traced, own)) in trace.rules.iter().zip(rules).enumerate() {
        if !of_rule(&traced.verdict, own) {
            return Err((trace.rule_at(position), "the pack's rule says another thing"));
        }
        let suppressed = suppresses(trace, exceptions, &own.id);
        let fits = match traced.verdict {
            RuleVerdict::Skipped => true,
            RuleVerdict::Suppressed => suppressed,
            RuleVerdict::Evaluated(_) => !suppressed,
        };
        if !fits {
            let detail = "whether a true exception suppresses this rule is said both ways";
            return Err((trace.rule_at(position), detail));
        }
    }
    Ok(())
}

fn same_ids<'p, T>(
    traced: &[Traced<T>],
    mut pack: impl ExactSizeIterator<Item = &'p CoreId>,
    place: impl Fn(usize) -> String,
) -> OfPack {
    let (count, all) = (traced.len(), pack.len());
    for (position, one) in traced.iter().enumerate() {
        if pack.next() != Some(&one.id) {
            return Err((place(position), "this is not the pack's next one"));
        }
    }
    if count == all { Ok(()) } else { Err((String::new(), "the trace ends before the pack does")) }
}

fn of_exception(verdict: &Verdict<TracedEffect>, own: &Exception) -> bool {
    match verdict {
        Verdict::True(effect) => *effect == TracedEffect::of(&own.effect),
        Verdict::False => true,
        Verdict::Unknown(on_unknown) => same(*on_unknown, own.on_unknown),
    }
}

fn of_rule(verdict: &RuleVerdict, own: &Rule) -> bool {
    match verdict {
        RuleVerdict::Evaluated(Verdict::True(outcome)) => *outcome == own.outcome,
        RuleVerdict::Evaluated(Verdict::Unknown(on_unknown)) => same(*on_unknown, own.on_unknown),
        RuleVerdict::Evaluated(Verdict::False) | RuleVerdict::Skipped | RuleVerdict::Suppressed => {
            true
        }
    }
}

fn same(traced: Option<OnUnknown>, own: OnUnknown) -> bool {
    traced.is_none_or(|traced| traced == own)
}

/// Whether a true exception suppresses this rule.
fn suppresses(trace: &RecordedTrace, exceptions: &[Exception], rule: &CoreId) -> bool {
    trace.exceptions.iter().zip(exceptions).any(|(traced, own)| {
        matches!(traced.verdict, Verdict::True(_))
            && matches!(&own.effect, Effect::SuppressRule(target) if target == rule)
    })
}

/// The place of the first condition that a replay has otherwise.
fn against_replay(trace: &RecordedTrace, again: &Evaluation) -> Option<String> {
    let applicability = trace.applicability.as_ref().map_or(Truth::True, truth);
    if applicability != again.trace.applicability {
        return Some("/0".to_owned());
    }
    let exceptions = trace.exceptions.iter().map(|one| Some(truth(&one.verdict)));
    if let Some(position) = first_other(exceptions, &again.trace.exceptions) {
        return Some(trace.exception_at(position));
    }
    // The evaluator says nothing of rules that it didn't come to, and the Runtime says that they are skipped.
    let evaluated = trace.rules.iter().filter(|one| one.verdict != RuleVerdict::Skipped);
    let rules = evaluated.map(|one| match &one.verdict {
        RuleVerdict::Evaluated(verdict) => Some(truth(verdict)),
        RuleVerdict::Skipped | RuleVerdict::Suppressed => None,
    });
    first_other(rules, &again.trace.rules).map(|position| trace.rule_at(position))
}

/// Both are of the same pack, in its order: so a difference in length is one too.
fn first_other(
    mut traced: impl Iterator<Item = Option<Truth>>,
    again: &[TraceStep],
) -> Option<usize> {
    let other = again.iter().position(|step| traced.next() != Some(step.condition));
    other.or_else(|| traced.next().map(|_| again.len()))
}

const fn truth<T>(verdict: &Verdict<T>) -> Truth {
    match verdict {
        Verdict::True(_) => Truth::True,
        Verdict::False => Truth::False,
        Verdict::Unknown(_) => Truth::Unknown,
    }
}
