//! Check 4, first half: the expected instances, their attempts and states, and the closure of stages.

use std::collections::BTreeMap;

use anchorlog_proto::Digest;
use anchorlog_proto::jp::id::Id;
use anchorlog_proto::jp::workflow::{
    Attempt, Cardinality, Failure, Input, Instance, SetStatus, Stage, State, dependent_input,
};

use super::super::check::{Check, FindingCode, Reason, Tally};
use super::super::load::Loaded;
use super::{Bench, Extracted, Interrupted, Step, extract_of, instances, output_counts};

pub(super) fn check(bench: &Bench<'_>, tally: &mut Tally) -> Step {
    let loaded = bench.loaded;
    let counts = output_counts(loaded);
    let mut blocked: BTreeMap<&Id, bool> = BTreeMap::new();
    for (position, stage) in loaded.workflow.stages.iter().enumerate() {
        let (is_blocked, selected, selection) = match &stage.input {
            Input::Root => (false, None, None),
            Input::From(upstream) => {
                let at = loaded.workflow.stage(upstream).map_or(0, |(at, _)| at);
                let file = loaded.selections.get(at).and_then(Option::as_ref);
                let refused = file.is_none_or(|file| file.selection.refused);
                let is_blocked = refused || blocked.get(upstream).copied().unwrap_or(true);
                let selected = file.map(|file| file.selection.selected.as_slice());
                (is_blocked, Some(selected.unwrap_or_default()), file.map(|file| file.digest))
            }
        };
        blocked.insert(&stage.id, is_blocked);
        closure(bench, tally, position, stage, is_blocked)?;
        if is_blocked {
            continue;
        }
        let expected: Vec<Option<Digest>> = match selected {
            None => vec![None],
            Some(selected) => selected.iter().copied().map(Some).collect(),
        };
        let recorded: Vec<Option<Digest>> =
            instances(loaded, stage).map(|(_, instance)| instance.parent_record).collect();
        let detail =
            format_args!("stage {}: not one instance per selected record, in order", stage.id);
        require(tally, recorded == expected, detail)?;
        for (at, instance) in instances(loaded, stage) {
            let input = match (instance.parent_record, selection) {
                (Some(parent), Some(selection)) => {
                    dependent_input(parent, selection, &stage.case_bindings)
                }
                _ => loaded.execution.root_case_digest,
            };
            for (holds, what) in [
                (instance.selection_digest == selection, "it is of another selection"),
                (instance.input_digest == input, "it was admitted for another input"),
            ] {
                require(tally, holds, format_args!("instance {}: {what}", instance.id))?;
            }
            let outputs = counts.get(at).copied().unwrap_or_default();
            terminal(tally, stage, instance, outputs)?;
            unsuccessful(bench, tally, stage, at, instance)?;
        }
    }
    tally.agrees(Check::Inventory);
    Ok(())
}

fn require(
    tally: &mut Tally,
    holds: bool,
    detail: impl core::fmt::Display,
) -> Result<(), Interrupted> {
    let code = FindingCode::InventoryMismatch;
    tally.require(holds, Check::Inventory, code, detail).map_err(Interrupted::from)
}

fn closure(
    bench: &Bench<'_>,
    tally: &mut Tally,
    position: usize,
    stage: &Stage,
    is_blocked: bool,
) -> Step {
    let loaded = bench.loaded;
    let id = &stage.id;
    let Some(set) = loaded.execution.output_sets.get(position) else { return Ok(()) };
    let pin = loaded.execution.selections.get(position).copied().flatten();
    let status = if is_blocked { SetStatus::Blocked } else { SetStatus::Closed };
    require(tally, set.status == status, format_args!("stage {id}: closed or blocked"))?;
    require(
        tally,
        pin.is_none() || stage.selection.is_some(),
        format_args!("stage {id}: a terminal stage with a selection"),
    )?;
    if is_blocked {
        let idle =
            set.records.is_empty() && pin.is_none() && instances(loaded, stage).next().is_none();
        require(tally, idle, format_args!("stage {id}: it is blocked and has something"))?;
    }
    let file = loaded.selections.get(position).and_then(Option::as_ref);
    if let Some(file) = file.filter(|file| file.selection.refused)
        && !is_over_limit(loaded, position, file.selection.selected.len())
    {
        let detail = format_args!("stage {id}: a refused selection within limits.maxInstances");
        tally.unmade(Check::Inventory, Reason::LimitsTableNotPublic, detail);
    }
    Ok(())
}

/// Whether reserving so many children for every consumer of a stage exceeds the known bound.
fn is_over_limit(loaded: &Loaded, position: usize, selected: usize) -> bool {
    let Some(producer) = loaded.workflow.stages.get(position) else { return false };
    let consumers = loaded
        .workflow
        .stages
        .iter()
        .filter(|stage| matches!(&stage.input, Input::From(from) if *from == producer.id));
    let children = selected.saturating_mul(consumers.count());
    let total = loaded.execution.instances.len().saturating_add(children);
    u64::try_from(total).is_ok_and(|total| total > loaded.workflow.limits.max_instances)
}

/// States against attempts, failures and outputs.
fn terminal(tally: &mut Tally, stage: &Stage, instance: &Instance, outputs: usize) -> Step {
    let earlier = instance.attempts.split_last().map(|(_, earlier)| earlier).unwrap_or_default();
    let last = instance.attempts.last();
    let many = stage.outputs.cardinality == Cardinality::Many;
    let unattempted = match (instance.state, instance.failure) {
        (State::Failed, failure) => failure != Some(Failure::EvaluationError),
        (State::Interrupted | State::Cancelled, _) => true,
        _ => false,
    };
    let produces = match instance.state {
        State::Completed => outputs > 0,
        State::CompletedZero => outputs == 0 && many,
        State::Failed | State::Interrupted | State::Cancelled => outputs == 0,
    };
    let projection_failed = instance.failure == Some(Failure::ProjectionInvalid);
    for (holds, what) in [
        (
            earlier.iter().all(|one| matches!(one.state, State::Failed | State::Interrupted)),
            "an earlier attempt did not fail",
        ),
        (
            last.is_none_or(|last| {
                (last.state, last.failure) == (instance.state, instance.failure)
            }),
            "its last attempt ended otherwise",
        ),
        (last.is_some() || unattempted, "it ended like this without an attempt"),
        (produces, "its state does not go with its outputs"),
        (!projection_failed || last.is_none(), "it has attempts, and its projection failed"),
        (
            instance.attempts.iter().all(|one| one.failure != Some(Failure::ProjectionInvalid)),
            "an attempt of it is recorded as a failed projection, which has none",
        ),
        (instance.case_digest.is_some() || last.is_none(), "it has attempts and no case"),
        (
            instance.attempts.iter().all(error_association),
            "an error envelope goes with another failure",
        ),
        (instance.attempts.iter().all(evaluated), "an attempt failed in spite of its evaluation"),
    ] {
        require(tally, holds, format_args!("instance {}: {what}", instance.id))?;
    }
    Ok(())
}

/// An envelope is retained exactly for an evaluation error, which has no audit.
fn error_association(attempt: &Attempt) -> bool {
    let is_error = attempt.failure == Some(Failure::EvaluationError);
    attempt.evaluation_error_digest.is_some() == is_error
        && !(is_error && attempt.audit_digest.is_some())
}

/// A successful evaluation fails by its outputs or a bound alone.
fn evaluated(attempt: &Attempt) -> bool {
    let outputs = [Some(Failure::OutputInvalid), Some(Failure::LimitExceeded)];
    attempt.audit_digest.is_none()
        || attempt.state != State::Failed
        || outputs.contains(&attempt.failure)
}

/// A recorded output failure is recomputed, that of an attempt that was retried as well: an evaluation with valid
/// outputs is no failure that could be tried again.
fn unsuccessful(
    bench: &Bench<'_>,
    tally: &mut Tally,
    stage: &Stage,
    at: usize,
    instance: &Instance,
) -> Step {
    let id = &instance.id;
    if instance.failure == Some(Failure::OutputInvalid) && instance.attempts.is_empty() {
        tally.unmade(Check::Inventory, Reason::NoRunExport, format_args!("instance {id}"));
    }
    for (position, attempt) in instance.attempts.iter().enumerate() {
        if attempt.failure != Some(Failure::OutputInvalid) {
            continue;
        }
        let place = format!("instance {id}, attempt {}", position.saturating_add(1));
        match extract_of(bench, stage, at, instance, position)? {
            Extracted::Invalid(_) => {}
            Extracted::Unknown => tally.unmade(Check::Inventory, Reason::NoRunExport, place),
            Extracted::Values(_) => {
                require(tally, false, format_args!("{place}: its outputs are valid"))?;
            }
        }
    }
    Ok(())
}
