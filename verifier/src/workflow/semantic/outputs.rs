//! Check 4, second half: outputs, extracted again from the prepared facts, and their lineage.

use anchorlog_proto::jp::json::Bounds;
use anchorlog_proto::jp::workflow::{Cardinality, Instance, Lineage, Stage};

use super::super::check::{Check, FindingCode, Reason, Tally};
use super::super::layout;
use super::super::load::{again, value};
use super::super::stages::Offered;
use super::cases::computed;
use super::{Bench, Extracted, Interrupted, Proven, Step, extract, instances};

const CODE: FindingCode = FindingCode::OutputMismatch;

pub(super) fn check(bench: &Bench<'_>, tally: &mut Tally, proven: &Proven) -> Step {
    let loaded = bench.loaded;
    for (position, stage) in loaded.workflow.stages.iter().enumerate() {
        let offered = loaded.outputs.get(position).map(Vec::as_slice).unwrap_or_default();
        let ordered = offered
            .iter()
            .map(|offered| (offered.instance, offered.index))
            .is_sorted_by(|one, two| one < two);
        let id = &stage.id;
        require(tally, ordered, format_args!("stage {id}: not in instance order, then index"))?;
        let mut rest = offered;
        for (at, instance) in instances(loaded, stage) {
            let count = rest.iter().take_while(|offered| offered.instance == at).count();
            let (own, later) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            rest = later;
            if instance.state.is_completed() {
                extracted(bench, tally, stage, (at, instance), own)?;
            }
            for offered in own {
                lineage(bench, tally, stage, instance, offered)?;
                influence(tally, proven, instance, offered)?;
            }
        }
        require(tally, rest.is_empty(), format_args!("stage {id}: records of no instance"))?;
    }
    if bench.plugs.influence.is_none() {
        tally.unmade(Check::OutputInfluence, Reason::NoInfluenceVerifier, "");
    }
    tally.agrees(Check::Outputs);
    tally.agrees(Check::OutputInfluence);
    Ok(())
}

fn require(
    tally: &mut Tally,
    holds: bool,
    detail: impl core::fmt::Display,
) -> Result<(), Interrupted> {
    tally.require(holds, Check::Outputs, CODE, detail).map_err(Interrupted::from)
}

fn extracted(
    bench: &Bench<'_>,
    tally: &mut Tally,
    stage: &Stage,
    (at, instance): (usize, &Instance),
    own: &[Offered],
) -> Step {
    let id = &instance.id;
    let values = match extract(bench, stage, at, instance)? {
        Extracted::Values(values) => values,
        Extracted::Invalid(what) => {
            return require(tally, false, format_args!("instance {id}: {what}"));
        }
        Extracted::Unknown => {
            tally.unmade(Check::Outputs, Reason::NoRunExport, format_args!("instance {id}"));
            return Ok(());
        }
    };
    let complete = values.len() == own.len();
    require(tally, complete, format_args!("instance {id}: not all of its outputs"))?;
    for ((index, offered), expected) in (0_u16..).zip(own).zip(&values) {
        let path = layout::output(&stage.id, id, offered.index, "payload.json");
        let bytes = again(bench.files, &path, &Bounds::CASE, offered.payload)?;
        // Literals and all; the bytes of the literal form are a check of their own.
        let same = offered.index == index && value(&bytes, &Bounds::CASE, &path)? == *expected;
        let detail = format_args!("instance {id}: output {index} is not what was prepared");
        require(tally, same, detail)?;
    }
    Ok(())
}

fn lineage(
    bench: &Bench<'_>,
    tally: &mut Tally,
    stage: &Stage,
    instance: &Instance,
    offered: &Offered,
) -> Step {
    let loaded = bench.loaded;
    let stated = &offered.record.lineage;
    let (Some(frozen), Some(attempt)) = (bench.frozen(&stage.id), instance.attempts.last()) else {
        return Ok(());
    };
    let (Some(preparation), Some(audit), Some(case)) =
        (attempt.preparation_digest, attempt.audit_digest, instance.case_digest)
    else {
        return require(tally, false, format_args!("instance {}: it made nothing", instance.id));
    };
    let expected = Lineage {
        workflow_digest: loaded.workflow_digest,
        execution: loaded.execution.execution.clone(),
        stage: stage.id.clone(),
        instance: instance.id.clone(),
        published_dialect_digest: frozen.published_dialect_digest,
        binding_document_digest: frozen.binding_document_digest,
        bound_dialect_digest: frozen.bound_dialect_digest,
        pack_digest: frozen.pack_digest,
        release_digest: frozen.release_digest,
        preparation_digest: preparation,
        audit_digest: audit,
        output_pointer: stage.outputs.pointer.clone(),
        index: offered.index,
        root_case_digest: loaded.execution.root_case_digest,
        case_digest: case,
        parent_record: instance.parent_record,
        selection_digest: instance.selection_digest,
        relation: stage.relation.clone(),
        // What it carries is a check of its own.
        influence: stated.influence.clone(),
    };
    let single = stage.outputs.cardinality == Cardinality::Many || offered.index == 0;
    let detail = format_args!("instance {}: lineage of record {}", instance.id, offered.digest);
    require(tally, *stated == expected && single, detail)
}

fn influence(
    tally: &mut Tally,
    proven: &Proven,
    instance: &Instance,
    offered: &Offered,
) -> Result<(), Interrupted> {
    let Some(computed) = computed(proven, offered) else {
        if !proven.influences.is_empty() {
            let detail = format_args!("instance {}", instance.id);
            tally.unmade(Check::OutputInfluence, Reason::NoAnswer, detail);
        }
        return Ok(());
    };
    let holds = *computed == offered.record.lineage.influence;
    let detail = format_args!("instance {}: influence of record {}", instance.id, offered.digest);
    tally.require(holds, Check::OutputInfluence, CODE, detail).map_err(Interrupted::from)
}
