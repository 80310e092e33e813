//! Every check on a bundle, one after the other.

use std::collections::BTreeMap;

use anchorlog_proto::Digest;
use anchorlog_proto::jp::export::RunExport;
use anchorlog_proto::jp::fault::Faults;
use anchorlog_proto::jp::id::Id;
use anchorlog_proto::jp::json::{Bounds, Value};
use anchorlog_proto::jp::workflow::{Instance, SetStatus};

use super::check::{Check, CheckResult, FindingCode, Reason, Status, Stopped, Tally};
use super::files::{CouldNotRun, Files};
use super::layout;
use super::load::{Loaded, Reference, again, reference};
use super::plug::{
    Kind, KindRequest, NoProof, Plugs, PreparationAgrees, PreparationRequest, PreparationVerifier,
    prepare,
};
use super::semantic::{Bench, Interrupted, Proven, checks};

/// What the caller holds independently of the bundle. What is `None` is not compared, and said so.
#[derive(Clone, Debug, Default)]
#[allow(clippy::exhaustive_structs, reason = "callers fill it in, with `..Default::default()`")]
pub struct Expectations {
    /// The workflow's digest.
    pub workflow: Option<Digest>,
    /// The execution record's digest.
    pub execution: Option<Digest>,
    /// The runtime of every stage that has none of its own.
    pub runtime: Option<Digest>,
    /// The runtime of a stage.
    pub runtimes: BTreeMap<Id, Digest>,
}

impl Expectations {
    pub(super) fn runtime_of(&self, stage: &Id) -> Option<Digest> {
        self.runtimes.get(stage).copied().or(self.runtime)
    }
}

/// Whether everything a branch asked for was done (RFC 0020 section 7).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the RFC has these two")]
pub enum Completion {
    /// All stages closed, all required selections consumed, all instances completed.
    Complete,
    /// Something was left.
    Partial,
}

/// How much a branch holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the RFC's closed form")]
pub struct Counts {
    /// Stages.
    pub stages: usize,
    /// Instances.
    pub instances: usize,
    /// Output records.
    pub outputs: usize,
    /// Selections that aren't null.
    pub selections: usize,
}

/// Every check and what came of it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Examination {
    /// The workflow document's digest, where it could be read.
    pub workflow_digest: Option<Digest>,
    /// The execution record's digest, where it could be read.
    pub execution_digest: Option<Digest>,
    /// The execution's id, where every form could be read.
    pub execution: Option<Id>,
    /// By the record, where every form could be read.
    pub completion: Option<Completion>,
    /// The same.
    pub counts: Option<Counts>,
    /// Every check, in order.
    pub checks: Vec<CheckResult>,
    /// Files that nothing pins and that are nothing of the layout: some of their names.
    pub unread: Vec<String>,
    /// How many of them there are.
    pub unread_count: usize,
    /// What plugged verifiers have proven, as far as it goes.
    pub(super) proofs: Proofs,
    /// The first question that a plugged verifier had no answer to, before whatever ended the checks.
    pub(super) unanswered: Option<CheckResult>,
}

/// The proofs of an examination.
#[derive(Debug, Default)]
pub(super) struct Proofs {
    /// By instance, then attempt.
    pub(super) preparations: Vec<Vec<Option<PreparationAgrees>>>,
    /// How many preparations the record pins.
    pub(super) pinned: usize,
    pub(super) proven: Proven,
}

impl Examination {
    /// The first refusal: its code, and whose check it is.
    #[must_use]
    pub fn refusal(&self) -> Option<(Check, &str)> {
        self.checks.iter().find_map(|result| match &result.status {
            Status::Refusal { code, .. } => Some((result.check, &**code)),
            _ => None,
        })
    }

    /// The first finding: its code, and whose check it is.
    #[must_use]
    pub fn finding(&self) -> Option<(Check, FindingCode)> {
        self.checks.iter().find_map(|result| match &result.status {
            Status::Finding { code, .. } => Some((result.check, *code)),
            _ => None,
        })
    }

    /// The checks that are not made.
    pub fn unperformed(&self) -> impl Iterator<Item = &CheckResult> {
        self.checks.iter().filter(|result| matches!(result.status, Status::NotPerformed { .. }))
    }

    /// What came of a check.
    #[must_use]
    pub fn status(&self, check: Check) -> Option<&Status> {
        self.checks.iter().find(|result| result.check == check).map(|result| &result.status)
    }
}

/// Examines a bundle: every check that can be made, in the RFC's phases and order, up to the first refusal or
/// finding.
///
/// # Errors
///
/// When it could not run: a file that is there can't be read, or workflow or execution aren't there.
pub fn examine(
    files: &dyn Files,
    expect: &Expectations,
    plugs: &Plugs,
) -> Result<Examination, CouldNotRun> {
    let mut reference = reference(files)?;
    let loaded = reference.loaded.take();
    let mut tally = Tally::default();
    let mut proofs = Proofs::default();
    noted(&reference, plugs, &mut tally);
    if let Some(loaded) = &loaded {
        let ended = further(files, loaded, &reference, expect, plugs, &mut tally, &mut proofs);
        match ended {
            Ok(()) => delegated(&mut tally),
            Err(Interrupted::Stopped) => {}
            Err(Interrupted::CouldNotRun(error)) => return Err(error),
        }
    }
    Ok(Examination {
        workflow_digest: reference.workflow_digest,
        execution_digest: reference.execution_digest,
        execution: loaded.as_ref().map(|loaded| loaded.execution.execution.clone()),
        completion: loaded.as_ref().map(|loaded| completion(loaded)),
        counts: loaded.as_ref().map(|loaded| counts(loaded)),
        unanswered: tally.unanswered(),
        checks: tally.results(),
        unread: reference.unread,
        unread_count: reference.unread_count,
        proofs,
    })
}

/// What the reference phase has found.
fn noted(reference: &Reference, plugs: &Plugs, tally: &mut Tally) {
    if plugs.expansion.is_none() {
        tally.unmade(Check::BranchAggregate, Reason::LimitsTableNotPublic, "");
        if reference.untold_bindings {
            tally.unmade(Check::BindingDocuments, Reason::DialectNotPublic, "");
        }
    }
    if plugs.preparation.is_none() {
        tally.unmade(Check::PreparationBounds, Reason::DialectNotPublic, "");
        tally.unmade(Check::DialectKinds, Reason::NoPreparationVerifier, "");
        tally.unmade(Check::Preparations, Reason::NoPreparationVerifier, "");
    }
    if plugs.preparation.is_none() || plugs.expansion.is_none() {
        tally.unmade(Check::DialectForms, Reason::DialectNotPublic, "");
    }
    if !reference.other_literals.is_empty() {
        let names = reference.other_literals.join(", ");
        tally.unmade(Check::LiteralForm, Reason::LiteralFormInferred, names);
    }
    let first = reference.faults.first();
    if let Some(fault) = first {
        let _stopped = tally.refuse(Check::of(fault.rule), fault.code().as_str(), &fault.detail);
    }
    let refused = first.map(|fault| fault.rule.phase());
    for check in Check::ALL {
        let Some(phase) = check.phase() else { continue };
        // What a plugged verifier has to agree to is noted when it has.
        let told = check == Check::BindingDocuments && !reference.untold_bindings;
        let made = told || DELEGATED.iter().all(|(delegated, _)| *delegated != check);
        if made && refused.is_none_or(|refused| phase < refused) {
            tally.agrees(check);
        }
    }
}

/// What plugged verifiers answer for, and by which of their checks: whoever has answered to all of those agrees
/// to these as well.
const DELEGATED: [(Check, &[Check]); 5] = [
    (Check::BranchAggregate, &[Check::Expansion]),
    (Check::PreparationBounds, &[Check::Preparations]),
    (Check::BindingDocuments, &[Check::Expansion]),
    (Check::DialectForms, &[Check::Preparations, Check::Expansion]),
    (Check::DialectKinds, &[Check::DialectKinds]),
];

fn delegated(tally: &mut Tally) {
    for (check, by) in DELEGATED {
        if by.iter().any(|by| tally.is_unmade(*by)) {
            tally.unmade(check, Reason::NoAnswer, "");
        } else {
            tally.agrees(check);
        }
    }
}

fn further(
    files: &dyn Files,
    loaded: &Loaded,
    reference: &Reference,
    expect: &Expectations,
    plugs: &Plugs,
    tally: &mut Tally,
    proofs: &mut Proofs,
) -> Result<(), Interrupted> {
    if let Some(verifier) = &plugs.preparation {
        kinds(files, loaded, verifier.as_ref(), tally)?;
        let attempts = loaded.execution.instances.iter().flat_map(|instance| &instance.attempts);
        proofs.pinned = attempts.filter(|attempt| attempt.preparation_digest.is_some()).count();
        proofs.preparations = preparations(files, loaded, reference, verifier.as_ref(), tally)?;
    }
    let bench = Bench {
        files,
        loaded,
        expect,
        plugs,
        paths: &reference.paths,
        bytes: reference.bytes,
        preparations: &proofs.preparations,
    };
    proofs.proven = checks(&bench, tally)?;
    Ok(())
}

fn kinds(
    files: &dyn Files,
    loaded: &Loaded,
    verifier: &dyn PreparationVerifier,
    tally: &mut Tally,
) -> Result<(), Interrupted> {
    for stage in &loaded.workflow.stages {
        let request = KindRequest {
            stage: stage.id.to_string(),
            reference: stage.dialect.clone(),
            published: loaded.document(files, &stage.id, "dialect.json")?,
            bound: loaded.document(files, &stage.id, "bound-dialect.json")?,
        };
        let place = format!("stage {}", stage.id);
        match verifier.reads(&request) {
            Kind::Read => {}
            Kind::Unread => {
                return Err(tally.refuse(Check::DialectKinds, "kind-unread", place).into());
            }
            Kind::NoAnswer => tally.unmade(Check::DialectKinds, Reason::NoAnswer, place),
        }
    }
    Ok(())
}

/// Every referenced preparation, in instance and attempt order. Refusals come before findings.
fn preparations(
    files: &dyn Files,
    loaded: &Loaded,
    reference: &Reference,
    verifier: &dyn PreparationVerifier,
    tally: &mut Tally,
) -> Result<Vec<Vec<Option<PreparationAgrees>>>, Interrupted> {
    let mut proofs = Vec::with_capacity(loaded.execution.instances.len());
    let mut finding: Option<String> = None;
    for (at, instance) in loaded.execution.instances.iter().enumerate() {
        let mut own = Vec::with_capacity(instance.attempts.len());
        for position in 0..instance.attempts.len() {
            let place = format!("instance {}, attempt {}", instance.id, position + 1);
            let Some(request) = request(files, loaded, reference, (at, instance), position)? else {
                let pin = instance.attempts.get(position);
                if pin.is_some_and(|attempt| attempt.preparation_digest.is_some()) {
                    tally.unmade(Check::Preparations, Reason::NoCase, place);
                }
                own.push(None);
                continue;
            };
            own.push(match prepare(verifier, &request) {
                Ok(proof) => {
                    if !facts_fit(files, loaded, at, instance, position, &proof.facts)? {
                        let other = format!("{place}: the run export has other facts");
                        finding.get_or_insert(other);
                    }
                    Some(proof)
                }
                Err(NoProof::Refusal(code)) => {
                    return Err(tally.refuse(Check::Preparations, code, place).into());
                }
                Err(NoProof::Finding(detail)) => {
                    finding.get_or_insert(format!("{place}: {detail}"));
                    None
                }
                Err(NoProof::NoAnswer) => {
                    tally.unmade(Check::Preparations, Reason::NoAnswer, place);
                    None
                }
            });
        }
        proofs.push(own);
    }
    if let Some(detail) = finding {
        let stopped: Stopped =
            tally.find(Check::Preparations, FindingCode::PreparationMismatch, detail);
        return Err(stopped.into());
    }
    tally.agrees(Check::Preparations);
    Ok(proofs)
}

fn request(
    files: &dyn Files,
    loaded: &Loaded,
    reference: &Reference,
    (at, instance): (usize, &Instance),
    position: usize,
) -> Result<Option<PreparationRequest>, CouldNotRun> {
    let facts = loaded.attempts.get(at).and_then(|attempts| attempts.get(position));
    let (Some(facts), Some(attempt)) = (facts, instance.attempts.get(position)) else {
        return Ok(None);
    };
    let (Some(preparation), Some(case)) =
        (facts.preparation, loaded.cases.get(at).copied().flatten())
    else {
        return Ok(None);
    };
    let path = |name| layout::attempt(&instance.id, position, name);
    let any = Bounds::FOREIGN;
    let stage = &instance.stage;
    Ok(Some(PreparationRequest {
        stage: stage.to_string(),
        instance: instance.id.to_string(),
        attempt: position + 1,
        bound: loaded.document(files, stage, "bound-dialect.json")?,
        case: again(files, &layout::case(&instance.id), &Bounds::CASE, case)?,
        preparation: again(files, &path("preparation.json"), &any, preparation)?,
        sources: reference
            .paths
            .contains(&path("sources.json"))
            .then(|| files.read(&path("sources.json"), Bounds::EXPORT.bytes))
            .transpose()?,
        profiles: loaded.optional_document(files, stage, "profiles.json")?,
        audit: facts
            .audit
            .map(|audit| again(files, &path("audit.json"), &any, audit))
            .transpose()?,
        verified_at: facts.verified_at.clone(),
        require_binding: attempt.state.is_completed() || attempt.audit_digest.is_some(),
    }))
}

/// Whether the facts that outputs are extracted from are the ones that were recomputed.
fn facts_fit(
    files: &dyn Files,
    loaded: &Loaded,
    at: usize,
    instance: &Instance,
    position: usize,
    facts: &Value<'static>,
) -> Result<bool, CouldNotRun> {
    let run = loaded.attempts.get(at).and_then(|own| own.get(position)).and_then(|own| own.run);
    let Some(run) = run else { return Ok(true) };
    let path = layout::attempt(&instance.id, position, "run.json");
    let bytes = again(files, &path, &Bounds::EXPORT, run)?;
    let export = RunExport::read(&bytes, &mut Faults::new());
    Ok(export.and_then(|export| export.facts).is_none_or(|own| own == *facts))
}

fn completion(loaded: &Loaded) -> Completion {
    let execution = &loaded.execution;
    let closed = execution.output_sets.iter().all(|set| set.status == SetStatus::Closed);
    let completed = execution.instances.iter().all(|instance| instance.state.is_completed());
    let stages = loaded.workflow.stages.iter().zip(&execution.selections);
    let selected =
        stages.into_iter().all(|(stage, pin)| stage.selection.is_none() || pin.is_some());
    if closed && completed && selected { Completion::Complete } else { Completion::Partial }
}

fn counts(loaded: &Loaded) -> Counts {
    let execution = &loaded.execution;
    Counts {
        stages: loaded.workflow.stages.len(),
        instances: execution.instances.len(),
        outputs: execution.output_sets.iter().map(|set| set.records.len()).sum(),
        selections: execution.selections.iter().flatten().count(),
    }
}
