//! Check 1: digests and every pin, and what belongs together.

use anchorlog_proto::Digest;
use anchorlog_proto::jp::json::Bounds;
use anchorlog_proto::jp::workflow::OutputSet;

use super::super::check::{Check, FindingCode, Reason, Tally};
use super::super::load::Loaded;
use super::super::plug::{ExpansionRequest, NoProof, expand};
use super::super::stages::Offered;
use super::{Bench, Proven, Step};
use crate::workflow::load::again;

const DIGEST: FindingCode = FindingCode::DigestMismatch;
const BINDING: FindingCode = FindingCode::StageBindingMismatch;

pub(super) fn check(bench: &Bench<'_>, tally: &mut Tally, proven: &mut Proven) -> Step {
    expected(bench, tally)?;
    for position in 0..bench.loaded.workflow.stages.len() {
        frozen(bench, tally, position)?;
        expansion(bench, tally, position, proven)?;
    }
    tally.unmade(Check::ReleaseEncoding, Reason::ReleaseEncodingNotPublic, "");
    for check in
        [Check::FrozenPins, Check::RuntimePins, Check::ReleaseAssociation, Check::Expansion]
    {
        tally.agrees(check);
    }
    instances(bench, tally)
}

/// Workflow and execution come first.
fn expected(bench: &Bench<'_>, tally: &mut Tally) -> Step {
    let (loaded, check) = (bench.loaded, Check::ExpectedDigests);
    let fits = |expected: Option<_>, own| expected.is_none_or(|expected| expected == own);
    let workflow = fits(bench.expect.workflow, loaded.workflow_digest);
    tally.require(workflow, check, DIGEST, "the workflow's digest is not the expected one")?;
    let execution = fits(bench.expect.execution, loaded.execution_digest);
    tally.require(execution, check, DIGEST, "the execution's digest is not the expected one")?;
    for (name, digest) in
        [("workflow.sha256", loaded.workflow_digest), ("execution.sha256", loaded.execution_digest)]
    {
        if bench.has(name) {
            let says = bench.files.read(name, 4096)? == format!("{digest}\n").into_bytes();
            tally.require(says, check, DIGEST, format_args!("{name} says another digest"))?;
        }
    }
    let own = loaded.execution.workflow_digest == loaded.workflow_digest;
    tally.require(own, check, DIGEST, "the execution is of another workflow")?;
    let root = loaded.execution.root_case_digest == loaded.root_case_digest;
    tally.require(root, check, DIGEST, "root-case.json is not of rootCaseDigest")?;
    if bench.expect.workflow.is_none() || bench.expect.execution.is_none() {
        tally.unmade(check, Reason::NoExpectation, "");
    }
    tally.agrees(check);
    Ok(())
}

fn frozen(bench: &Bench<'_>, tally: &mut Tally, position: usize) -> Step {
    let loaded = bench.loaded;
    let (Some(stage), Some(frozen), Some(facts)) = (
        loaded.workflow.stages.get(position),
        loaded.execution.frozen.get(position),
        loaded.stages.get(position),
    ) else {
        return Ok(());
    };
    let id = &stage.id;
    for (holds, what) in [
        (
            frozen.published_dialect_digest == stage.dialect.digest,
            "another dialect is frozen than declared",
        ),
        (frozen.pack_digest == stage.pack_digest, "another pack is frozen than declared"),
        (facts.pack == frozen.pack_digest, "pack.json"),
        (facts.pack_id.as_deref() == Some(&*stage.pack_id), "pack.json has another id"),
        (facts.published == frozen.published_dialect_digest, "dialect.json"),
        (facts.binding == frozen.binding_document_digest, "binding.json"),
        (facts.bound == frozen.bound_dialect_digest, "bound-dialect.json"),
        (facts.release == frozen.release_digest, "release.json"),
    ] {
        tally.require(holds, Check::FrozenPins, DIGEST, format_args!("stage {id}: {what}"))?;
    }
    match bench.expect.runtime_of(id) {
        Some(expected) => {
            let holds = frozen.runtime_digest == expected;
            let detail = format_args!("stage {id}: another runtime than the given one");
            tally.require(holds, Check::RuntimePins, DIGEST, detail)?;
        }
        None => tally.unmade(Check::RuntimePins, Reason::NoRuntimePin, format_args!("stage {id}")),
    }
    let unbound = frozen.binding_document_digest.is_some()
        || frozen.bound_dialect_digest == frozen.published_dialect_digest;
    for (holds, what) in [
        (facts.release_pack == Some(frozen.pack_digest), "the release pins another pack"),
        (facts.release_runtime == Some(frozen.runtime_digest), "the release pins another runtime"),
        (
            facts.release_mapping == Some(frozen.bound_dialect_digest),
            "the release maps by another dialect",
        ),
        (unbound, "there is no binding document, and the bound dialect is another one"),
    ] {
        let detail = format_args!("stage {id}: {what}");
        tally.require(holds, Check::ReleaseAssociation, BINDING, detail)?;
    }
    Ok(())
}

fn expansion(bench: &Bench<'_>, tally: &mut Tally, position: usize, proven: &mut Proven) -> Step {
    let Some(verifier) = &bench.plugs.expansion else {
        tally.unmade(Check::Expansion, Reason::NoExpansionVerifier, "");
        return Ok(());
    };
    let (Some(stage), Some(facts)) =
        (bench.loaded.workflow.stages.get(position), bench.loaded.stages.get(position))
    else {
        return Ok(());
    };
    let id = &stage.id;
    let read = |name| bench.loaded.document(bench.files, id, name);
    let request = ExpansionRequest {
        stage: id.to_string(),
        published: read("dialect.json")?,
        binding: facts.binding.map(|_| read("binding.json")).transpose()?,
        bound: read("bound-dialect.json")?,
        profiles: bench.loaded.optional_document(bench.files, id, "profiles.json")?,
        release: read("release.json")?,
        workflow: again(
            bench.files,
            "workflow.json",
            &Bounds::WORKFLOW,
            bench.loaded.workflow_digest,
        )?,
        files: bench.paths.len(),
        bytes: bench.bytes,
    };
    match expand(verifier.as_ref(), &request) {
        Ok(proof) => proven.expansions.push(proof),
        Err(NoProof::Finding(detail) | NoProof::Refusal(detail)) => {
            let detail = format_args!("stage {id}: {detail}");
            return Err(tally.find(Check::Expansion, BINDING, detail).into());
        }
        Err(NoProof::NoAnswer) => {
            tally.unmade(Check::Expansion, Reason::NoAnswer, format_args!("stage {id}"));
        }
    }
    Ok(())
}

/// Instance by instance: first the pins, then what belongs together.
fn instances(bench: &Bench<'_>, tally: &mut Tally) -> Step {
    let loaded = bench.loaded;
    let groups = by_instance(loaded);
    for ((at, instance), pinned) in loaded.execution.instances.iter().enumerate().zip(&groups) {
        let id = &instance.id;
        let case = loaded.cases.get(at).copied().flatten() == instance.case_digest;
        let pins = Check::InstancePins;
        tally.require(case, pins, DIGEST, format_args!("instance {id}: case.json"))?;
        let facts = loaded.attempts.get(at).map(Vec::as_slice).unwrap_or_default();
        for (number, (attempt, facts)) in (1..).zip(instance.attempts.iter().zip(facts)) {
            let place = |what: &str| format!("instance {id}, attempt {number}: {what}");
            for (holds, what) in [
                (facts.preparation == attempt.preparation_digest, "preparation.json"),
                (facts.audit == attempt.audit_digest, "audit.json"),
                (facts.run == attempt.run_digest, "run.json"),
            ] {
                tally.require(holds, pins, DIGEST, place(what))?;
            }
            if let Some(name) = facts.side_files {
                return Err(tally.find(pins, DIGEST, place(name)).into());
            }
            let error = facts.evaluation_error == attempt.evaluation_error_digest;
            let what = place("evaluation-error.json");
            tally.require(error, Check::EvaluationErrorPins, DIGEST, what)?;
            if let Some(export) = &facts.export {
                for (holds, what) in [
                    (export.preparation_fits, "run.json has another preparation"),
                    (export.audit_fits, "run.json has another audit record"),
                    (
                        export.release == export.stated_release,
                        "run.json states another release digest",
                    ),
                ] {
                    tally.require(holds, Check::RunExports, DIGEST, place(what))?;
                }
                let release = bench.frozen(&instance.stage).map(|frozen| frozen.release_digest);
                let holds = release == Some(export.stated_release);
                let what = place("run.json is of another release");
                tally.require(holds, Check::RunExports, BINDING, what)?;
            }
        }
        outputs(tally, pinned)?;
    }
    for (position, stage) in loaded.workflow.stages.iter().enumerate() {
        let id = &stage.id;
        let pin = loaded.execution.selections.get(position).copied().flatten();
        let file = loaded.selections.get(position).and_then(Option::as_ref);
        let selection = file.map(|file| file.digest) == pin;
        let pins = Check::InstancePins;
        tally.require(selection, pins, DIGEST, format_args!("stage {id}: its selection"))?;
        let derived = loaded.execution.closed_set(position).map(|set| set.digest());
        let set = loaded.sets.get(position).copied() == derived;
        tally.require(set, pins, DIGEST, format_args!("stage {id}: its closed set"))?;
    }
    for check in [Check::InstancePins, Check::EvaluationErrorPins, Check::RunExports] {
        tally.agrees(check);
    }
    Ok(())
}

type Pinned<'l> = (&'l OutputSet, &'l Digest, &'l Offered);

/// The pinned outputs by the position of their instance.
fn by_instance(loaded: &Loaded) -> Vec<Vec<Pinned<'_>>> {
    let mut groups = vec![Vec::new(); loaded.execution.instances.len()];
    for (offered, set) in loaded.outputs.iter().zip(&loaded.execution.output_sets) {
        for (offered, pin) in offered.iter().zip(&set.records) {
            if let Some(group) = groups.get_mut(offered.instance) {
                group.push((set, pin, offered));
            }
        }
    }
    groups
}

fn outputs(tally: &mut Tally, pinned: &[Pinned<'_>]) -> Step {
    let pins = Check::InstancePins;
    for (set, pin, offered) in pinned {
        let stage = &set.stage;
        let detail = format_args!("stage {stage}: a record is not of its digest {pin}");
        tally.require(offered.digest == **pin, pins, DIGEST, detail)?;
        let holds = offered.record.payload_digest == offered.payload;
        let detail = format_args!("stage {stage}: the payload of record {pin}");
        tally.require(holds, pins, DIGEST, detail)?;
    }
    Ok(())
}
