//! Check 3: projected cases, and the influence they inherit.

use std::collections::HashMap;

use anchorlog_proto::Digest;
use anchorlog_proto::jp::json::{Bounds, Value};
use anchorlog_proto::jp::workflow::{Failure, Influence, Input, Instance, Stage, State, project};

use super::super::check::{Check, FindingCode, Reason, Tally};
use super::super::layout;
use super::super::load::{again, value};
use super::super::plug::{Admission, InfluenceAgrees, InfluenceRequest, NoProof, influence};
use super::super::stages::Offered;
use super::{Bench, Interrupted, Proven, Step, output_counts, stage_of};
use crate::workflow::files::CouldNotRun;

pub(super) fn check(bench: &Bench<'_>, tally: &mut Tally, proven: &mut Proven) -> Step {
    let loaded = bench.loaded;
    let counts = output_counts(loaded);
    // Where each record of any set lies.
    let parents: HashMap<Digest, (usize, &Offered)> = loaded
        .outputs
        .iter()
        .enumerate()
        .flat_map(|(stage, offered)| {
            offered.iter().map(move |offered| (offered.digest, (stage, offered)))
        })
        .collect();
    for (at, instance) in loaded.execution.instances.iter().enumerate() {
        let Some((_, stage)) = stage_of(loaded, instance) else { continue };
        let parent = instance.parent_record.and_then(|record| parents.get(&record)).copied();
        projected(bench, tally, stage, instance, parent)?;
        let outputs = counts.get(at).copied().unwrap_or_default();
        let proof = inherited(bench, tally, proven, (at, instance), stage, parent, outputs)?;
        if bench.plugs.influence.is_some() {
            proven.influences.push(proof);
        }
    }
    tally.agrees(Check::Cases);
    tally.agrees(Check::Influence);
    Ok(())
}

fn projected(
    bench: &Bench<'_>,
    tally: &mut Tally,
    stage: &Stage,
    instance: &Instance,
    parent: Option<(usize, &Offered)>,
) -> Step {
    let id = &instance.id;
    let find = |tally: &mut Tally, what: &str| -> Interrupted {
        let detail = format_args!("instance {id}: {what}");
        tally.find(Check::Cases, FindingCode::CaseMismatch, detail).into()
    };
    if stage.input == Input::Root {
        return match instance.case_digest {
            Some(case) if case == bench.loaded.root_case_digest => Ok(()),
            None if is_unbegun(instance) => Ok(()),
            _ => Err(find(tally, "its case is not the root case")),
        };
    }
    // A parent that was never offered is a matter of the inventory, check 4.
    let Some((upstream, offered)) = parent else { return Ok(()) };
    let payload = payload(bench, upstream, offered)?;
    let Some((path, bytes)) = payload else { return Ok(()) };
    let payload = value(&bytes, &Bounds::CASE, &path)?;
    let is_recorded_invalid = instance.failure == Some(Failure::ProjectionInvalid);
    match (project(&stage.case_bindings, &payload), instance.case_digest) {
        (Ok(_), _) if is_recorded_invalid => Err(find(tally, "its projection does not fail")),
        (Ok(case), Some(digest)) => {
            let path = layout::case(id);
            let bytes = again(bench.files, &path, &Bounds::CASE, digest)?;
            if value(&bytes, &Bounds::CASE, &path)? == case {
                Ok(())
            } else {
                Err(find(tally, "its case is not the projection of its parent"))
            }
        }
        (_, None) if is_unbegun(instance) => Ok(()),
        (Ok(_), None) => Err(find(tally, "its projection holds and there is no case")),
        (Err(_), None) if is_recorded_invalid && instance.attempts.is_empty() => Ok(()),
        (Err(failed), _) => Err(find(tally, &format!("its projection fails: {failed}"))),
    }
}

/// Stopped before anything began, or after a sibling that exceeded a bound: every later one records that, and
/// none of them need have begun (RFC 0020 section 2). Whether a sibling did is a matter of the accounting.
fn is_unbegun(instance: &Instance) -> bool {
    let stopped = matches!(instance.state, State::Interrupted | State::Cancelled);
    let bound = instance.failure == Some(Failure::LimitExceeded);
    (stopped || bound) && instance.attempts.is_empty()
}

fn payload(
    bench: &Bench<'_>,
    upstream: usize,
    offered: &Offered,
) -> Result<Option<(String, Vec<u8>)>, CouldNotRun> {
    let loaded = bench.loaded;
    let (Some(stage), Some(instance)) =
        (loaded.workflow.stages.get(upstream), loaded.execution.instances.get(offered.instance))
    else {
        return Ok(None);
    };
    let path = layout::output(&stage.id, &instance.id, offered.index, "payload.json");
    let bytes = again(bench.files, &path, &Bounds::CASE, offered.payload)?;
    Ok(Some((path, bytes)))
}

fn inherited(
    bench: &Bench<'_>,
    tally: &mut Tally,
    proven: &Proven,
    (at, instance): (usize, &Instance),
    stage: &Stage,
    parent: Option<(usize, &Offered)>,
    outputs: usize,
) -> Result<Option<InfluenceAgrees>, Interrupted> {
    let Some(verifier) = &bench.plugs.influence else {
        tally.unmade(Check::Influence, Reason::NoInfluenceVerifier, "");
        return Ok(None);
    };
    let loaded = bench.loaded;
    let id = &instance.id;
    let lineage = lineage(bench, at);
    if instance.state.is_completed() && lineage.is_none() {
        tally.unmade(
            Check::Influence,
            Reason::NoPreparationVerifier,
            format_args!("instance {id}"),
        );
        return Ok(None);
    }
    // What the parent carries is what was computed for it, never what its record states.
    let inherited = parent.and_then(|(_, offered)| {
        let proof = proven.influences.get(offered.instance)?.as_ref()?;
        proof.outputs.get(usize::from(offered.index)).cloned()
    });
    if parent.is_some() && inherited.is_none() {
        tally.unmade(
            Check::Influence,
            Reason::NoAnswer,
            format_args!("the parent of instance {id}"),
        );
        return Ok(None);
    }
    let case = instance
        .case_digest
        .map(|digest| again(bench.files, &layout::case(id), &Bounds::CASE, digest));
    let request = InfluenceRequest {
        stage: stage.id.to_string(),
        instance: id.to_string(),
        bound: loaded.document(bench.files, &stage.id, "bound-dialect.json")?,
        case: case.transpose()?,
        bindings: stage.case_bindings.clone(),
        parent: inherited,
        lineage,
        pointer: stage.outputs.pointer.to_string(),
        outputs,
    };
    match influence(verifier.as_ref(), &request, Admission::of(instance)) {
        Ok(proof) if proof.outputs.len() == outputs => return Ok(Some(proof)),
        Ok(_) => {
            let detail = format_args!("instance {id}: not of every output");
            tally.unmade(Check::Influence, Reason::NoAnswer, detail);
        }
        Err(NoProof::Finding(detail) | NoProof::Refusal(detail)) => {
            let detail = format_args!("instance {id}: {detail}");
            return Err(tally
                .find(Check::Influence, FindingCode::InfluenceMismatch, detail)
                .into());
        }
        Err(NoProof::NoAnswer) => {
            tally.unmade(Check::Influence, Reason::NoAnswer, format_args!("instance {id}"));
        }
    }
    Ok(None)
}

/// The recomputed lineage of the last attempt's preparation.
fn lineage(bench: &Bench<'_>, at: usize) -> Option<Value<'static>> {
    let proofs = bench.preparations.get(at)?;
    proofs.last()?.as_ref().map(|proof| proof.lineage.clone())
}

/// The influence that was computed for a record.
pub(super) fn computed<'p>(proven: &'p Proven, offered: &Offered) -> Option<&'p Influence> {
    proven.influences.get(offered.instance)?.as_ref()?.outputs.get(usize::from(offered.index))
}
