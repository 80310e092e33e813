//! Packs of Judgment Pack Core, their evaluation, and the forms of accounting for contributors.

use anchorlog_proto::Digest;
use anchorlog_proto::jp::attribution::{
    AuditRecord, ContributorKind, Drift, ExecutionPins, Projection, Summary,
};
use anchorlog_proto::jp::canon::canon;
use anchorlog_proto::jp::core_pack::{Disposition, DispositionKind, Effect, Pack, PackLimits};
use anchorlog_proto::jp::fault::Faults;
use anchorlog_proto::jp::json::{Bounds, read};
use anchorlog_verifier::jp::attribution::{Packs, account, compare_drift, compare_summary};
use anchorlog_verifier::jp::core::{Limits, evaluate};

/// A pack: what is read has what Core requires, and evaluates without a failure of the program.
pub fn core_pack(bytes: &[u8]) {
    let Ok(pack) = Pack::read(bytes, &PackLimits::DEFAULT) else { return };
    assert!(pack.outcomes().len() >= 2 && !pack.rules().is_empty());
    for rule in pack.rules() {
        assert!(pack.outcomes().contains(&rule.outcome));
        assert_eq!(pack.rule(&rule.id), Some(rule), "ids are unique");
    }
    for exception in pack.exceptions() {
        assert_eq!(pack.exception(&exception.id), Some(exception), "ids are unique");
    }
    // Another spelling of the same value is the same pack.
    let value = read(bytes, &PackLimits::DEFAULT.bounds()).unwrap();
    assert_eq!(Pack::from_value(&value).unwrap(), pack);
    evaluated(bytes, b"{}", None);
}

/// Pack, facts and evidence, parted by zero bytes, which JSON does not have.
pub fn core_evaluate(bytes: &[u8]) {
    let mut parts = bytes.split(|byte| *byte == 0);
    let (pack, facts) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    evaluated(pack, facts, parts.next());
}

fn evaluated(bytes: &[u8], facts: &[u8], evidence: Option<&[u8]>) {
    let limits = Limits { work: 100_000, ..Limits::DEFAULT };
    let evaluation = evaluate(bytes, facts, evidence, &[], &limits);
    assert_eq!(evaluation, evaluate(bytes, facts, evidence, &[], &limits), "deterministic");
    let Ok(evaluation) = evaluation else { return };
    let pack = Pack::read(bytes, &PackLimits::DEFAULT).unwrap();
    let written = evaluation.disposition.to_canonical();
    let value = read(&written, &Bounds::FOREIGN).unwrap();
    let mut faults = Faults::new();
    assert_eq!(Disposition::read(&value, "", &mut faults).as_ref(), Some(&evaluation.disposition));
    let outcome = evaluation.disposition.outcome_id();
    assert_eq!(outcome.is_some(), evaluation.disposition.kind() == DispositionKind::Outcome);
    let Some(contributors) = evaluation.credit.contributors() else { return };
    for id in contributors.ids() {
        let leads_to = match contributors.kind() {
            ContributorKind::Rule => pack.rule(id).map(|rule| &rule.outcome),
            ContributorKind::ForcingException => match &pack.exception(id).unwrap().effect {
                Effect::ForceOutcome(outcome) => Some(outcome),
                _ => None,
            },
        };
        assert_eq!(leads_to, outcome);
    }
}

/// A projection, and its packs after zero bytes: what is counted keeps its invariants and its form.
pub fn attribution_projection(bytes: &[u8]) {
    let mut parts = bytes.split(|byte| *byte == 0);
    let Ok(projection) = Projection::read(parts.next().unwrap_or_default()) else { return };
    let mut packs = Packs::new();
    for pack in parts {
        let _refused = packs.add(pack);
    }
    let Ok(accounted) = account(&projection, &packs) else { return };
    let summary = &accounted.summary;
    assert!(summary.stages.iter().all(|stage| stage.check().is_ok()));
    assert_eq!(Summary::read(&summary.to_canonical().unwrap()).as_ref(), Ok(summary));
    assert!(compare_summary(summary, summary).is_empty());
    let drift = Drift::between(summary, summary).unwrap();
    assert!(drift.is_zero() && compare_drift(&drift, &drift).is_empty());
}

/// A summary: its canonical form is a fixed point and says the same.
pub fn attribution_summary(bytes: &[u8]) {
    let Ok(summary) = Summary::read(bytes) else { return };
    let written = summary.to_canonical().unwrap();
    assert_eq!(Summary::read(&written).as_ref(), Ok(&summary));
    assert_eq!(canon(&read(bytes, &Bounds::FOREIGN).unwrap()).unwrap(), written);
    let drift = Drift::between(&summary, &summary).unwrap();
    assert!(drift.is_zero());
}

/// A drift: the same.
pub fn attribution_drift(bytes: &[u8]) {
    let Ok(drift) = Drift::read(bytes) else { return };
    let written = drift.to_canonical().unwrap();
    assert_eq!(Drift::read(&written).as_ref(), Ok(&drift));
    assert_eq!(canon(&read(bytes, &Bounds::FOREIGN).unwrap()).unwrap(), written);
}

/// An execution record's pins: they are of the canonical record.
pub fn attribution_execution(bytes: &[u8]) {
    let Ok(pins) = ExecutionPins::read(bytes) else { return };
    let canonical = canon(&read(bytes, &Bounds::EXECUTION).unwrap()).unwrap();
    assert_eq!(pins.digest, Digest::of(&canonical));
    assert_eq!(ExecutionPins::read(&canonical), Ok(pins));
}

/// A line of an audit trail: its digest is that of its bytes.
pub fn attribution_audit(bytes: &[u8]) {
    let Ok(record) = AuditRecord::read(bytes) else { return };
    assert_eq!(record.digest, Digest::of(bytes.strip_suffix(b"\n").unwrap_or(bytes)));
}
