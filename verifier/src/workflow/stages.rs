//! The artifacts of a branch, in order: stages, instances and their attempts, outputs, selections, sets.

use std::collections::{BTreeMap, HashMap};

use anchorlog_proto::Digest;
use anchorlog_proto::jp::canon::{canon, release};
use anchorlog_proto::jp::disposition::Conclusion;
use anchorlog_proto::jp::evaluation_error::EvaluationError;
use anchorlog_proto::jp::export::RunExport;
use anchorlog_proto::jp::fault::{Faults, Rule};
use anchorlog_proto::jp::json::{Bounds, Value, read_into};
use anchorlog_proto::jp::workflow::{
    Attempt, ClosedSet, Execution, Frozen, Instance, OutputRecord, Selection, Stage, Workflow,
};

use super::files::CouldNotRun;
use super::layout;
use super::load::{Bytewise, Loaded, Shelf};

/// What is kept of a stage's documents.
#[derive(Debug)]
pub(super) struct StageFacts {
    pub(super) pack: Digest,
    pub(super) pack_id: Option<String>,
    /// Digests of canon.
    pub(super) published: Digest,
    pub(super) binding: Option<Digest>,
    pub(super) bound: Digest,
    /// Digest of the release form.
    pub(super) release: Digest,
    pub(super) release_pack: Option<Digest>,
    pub(super) release_runtime: Option<Digest>,
    /// Digest of the canon of the release's `inputMapping`.
    pub(super) release_mapping: Option<Digest>,
    /// By file name, the digest of the bytes that were read.
    pub(super) documents: BTreeMap<&'static str, Digest>,
}

/// What is kept of an attempt's artifacts.
#[derive(Debug, Default)]
pub(super) struct AttemptFacts {
    pub(super) preparation: Option<Digest>,
    pub(super) audit: Option<Digest>,
    pub(super) run: Option<Digest>,
    pub(super) evaluation_error: Option<Digest>,
    /// What the side files say, where they say something else.
    pub(super) side_files: Option<&'static str>,
    /// What the export holds that is another thing than what is retained.
    pub(super) export: Option<ExportFacts>,
    /// The disposition of a completed evaluation.
    pub(super) conclusion: Option<Conclusion>,
    /// The preparation's own `verifiedAt`.
    pub(super) verified_at: Option<String>,
}

/// How a run export compares.
#[derive(Debug)]
pub(super) struct ExportFacts {
    /// The digest of its release, and the one it states.
    pub(super) release: Digest,
    pub(super) stated_release: Digest,
    pub(super) preparation_fits: bool,
    pub(super) audit_fits: bool,
}

/// A selection's file.
#[derive(Debug)]
pub(super) struct SelectionFile {
    pub(super) digest: Digest,
    pub(super) selection: Selection,
    /// The revision in its name.
    pub(super) named: u64,
}

/// A pinned output, and the files that are taken for it.
#[derive(Debug)]
pub(super) struct Offered {
    /// Position of its instance.
    pub(super) instance: usize,
    /// The index in its path.
    pub(super) index: u16,
    pub(super) digest: Digest,
    pub(super) record: OutputRecord,
    pub(super) payload: Digest,
}

/// Reads every referenced artifact. `None` when something was so wrong that it can't be kept; a fault says what.
pub(super) fn artifacts(
    shelf: &mut Shelf<'_>,
    (workflow, workflow_digest): (Workflow, Digest),
    (execution, execution_digest): (Execution, Digest),
) -> Result<Option<Loaded>, CouldNotRun> {
    let object = |value: &Value<'_>, faults: &mut Faults| object(value, faults);
    let root = shelf.artifact("root-case.json", &Bounds::CASE, Bytewise::Literal, object)?;
    let mut whole = true;
    let mut stages = Vec::new();
    for (stage, frozen) in workflow.stages.iter().zip(&execution.frozen) {
        match documents(shelf, stage, frozen)? {
            Some(facts) => stages.push(facts),
            None => whole = false,
        }
    }
    let (mut cases, mut attempts) = (Vec::new(), Vec::new());
    for instance in &execution.instances {
        let path = layout::case(&instance.id);
        let mut case = None;
        if instance.case_digest.is_some() {
            case = shelf.artifact(&path, &Bounds::CASE, Bytewise::Literal, object)?;
        } else {
            shelf.unpinned(&path);
        }
        cases.push(case.map(|((), digest)| digest));
        let mut facts = Vec::new();
        for (position, attempt) in instance.attempts.iter().enumerate() {
            facts.push(attempted(shelf, instance, position, attempt)?);
        }
        attempts.push(facts);
    }
    let (mut outputs, mut selections, mut sets) = (Vec::new(), Vec::new(), Vec::new());
    for (position, stage) in workflow.stages.iter().enumerate() {
        outputs.push(offered(shelf, stage, position, &execution)?);
        let pin = execution.selections.get(position).copied().flatten();
        selections.push(selection(shelf, stage, pin, &workflow)?);
        let path = layout::set(&stage.id);
        match shelf.artifact(&path, &Bounds::SET, Bytewise::Canon, ClosedSet::read)? {
            Some((_, digest)) => sets.push(digest),
            None => whole = false,
        }
    }
    let Some(((), root_case_digest)) = root else { return Ok(None) };
    Ok(whole.then_some(Loaded {
        workflow,
        workflow_digest,
        execution,
        execution_digest,
        root_case_digest,
        stages,
        cases,
        attempts,
        selections,
        sets,
        outputs,
    }))
}

fn documents(
    shelf: &mut Shelf<'_>,
    stage: &Stage,
    frozen: &Frozen,
) -> Result<Option<StageFacts>, CouldNotRun> {
    let path = |name| layout::stage(&stage.id, name);
    let any = Bounds::FOREIGN;
    let published =
        shelf.artifact(&path("dialect.json"), &any, Bytewise::Original, |value, faults| {
            stage.dialect.identify(value, faults);
            canonical(value, faults)
        })?;
    let binding = if frozen.binding_document_digest.is_some() {
        let mut told = false;
        let read =
            shelf.artifact(&path("binding.json"), &any, Bytewise::Original, |value, faults| {
                // That the member is called `dialect` is read from RFC 0020 section 4; the form isn't public.
                let dialect = value.get("dialect").and_then(Value::as_str);
                if let Some(dialect) = dialect.and_then(|text| text.parse::<Digest>().ok()) {
                    told = true;
                    if dialect != frozen.published_dialect_digest {
                        faults.note(Rule::Binding, "it binds another published dialect");
                    }
                }
                canonical(value, faults)
            })?;
        shelf.untold_bindings |= !told;
        Some(read)
    } else {
        shelf.unpinned(&path("binding.json"));
        None
    };
    let bound = shelf.artifact(
        &path("bound-dialect.json"),
        &any,
        Bytewise::Original,
        |value, faults| {
            // Binding keeps the published identity (RFC 0020 section 4); an integer selector is kept as well.
            stage.dialect.identify(value, faults);
            canonical(value, faults)
        },
    )?;
    let pack = shelf.artifact(&path("pack.json"), &any, Bytewise::Original, |value, _| {
        Some(value.get("id").and_then(Value::as_str).map(str::to_owned))
    })?;
    let profiles = if shelf.holds(&path("profiles.json")) {
        shelf.artifact(&path("profiles.json"), &any, Bytewise::Original, |_, _| Some(()))?
    } else {
        None
    };
    let released =
        shelf.artifact(&path("release.json"), &any, Bytewise::Original, |value, _| {
            let digest = |name| value.get(name)?.as_str()?.parse::<Digest>().ok();
            let mapping = value.get("inputMapping").and_then(|mapping| canon(mapping).ok());
            Some((
                Digest::of(&release(value)),
                digest("packDigest"),
                digest("runtimeDigest"),
                mapping.map(|canon| Digest::of(&canon)),
            ))
        })?;
    let digest_of = |read: &Option<(Digest, Digest)>| read.as_ref().map(|(_, bytes)| *bytes);
    let documents = [
        ("dialect.json", digest_of(&published)),
        ("binding.json", binding.as_ref().and_then(digest_of)),
        ("bound-dialect.json", digest_of(&bound)),
        ("profiles.json", profiles.map(|((), bytes)| bytes)),
        ("release.json", released.as_ref().map(|(_, bytes)| *bytes)),
    ];
    let documents = documents.into_iter().filter_map(|(name, bytes)| Some((name, bytes?)));
    let documents = documents.collect();
    let binding = match binding {
        None => Some(None),
        Some(read) => read.map(|(digest, _)| Some(digest)),
    };
    let (Some((published, _)), Some(binding), Some((bound, _)), Some(pack), Some((released, _))) =
        (published, binding, bound, pack, released)
    else {
        return Ok(None);
    };
    let (pack_id, pack) = pack;
    let (release, release_pack, release_runtime, release_mapping) = released;
    Ok(Some(StageFacts {
        pack,
        pack_id,
        published,
        binding,
        bound,
        release,
        release_pack,
        release_runtime,
        release_mapping,
        documents,
    }))
}

fn attempted(
    shelf: &mut Shelf<'_>,
    instance: &Instance,
    position: usize,
    attempt: &Attempt,
) -> Result<AttemptFacts, CouldNotRun> {
    let path = |name: &str| layout::attempt(&instance.id, position, name);
    let mut facts = AttemptFacts::default();
    let mut preparation = None;
    if attempt.preparation_digest.is_some() {
        let name = path("preparation.json");
        let read = shelf.artifact(&name, &Bounds::FOREIGN, Bytewise::Literal, |value, _| {
            Some(value.clone().into_owned())
        })?;
        if let Some((value, digest)) = read {
            facts.preparation = Some(digest);
            let verified_at = value.get("verifiedAt").and_then(Value::as_str);
            facts.verified_at = verified_at.map(str::to_owned);
            preparation = Some(value);
        }
        facts.side_files = side_files(shelf, &facts, &path)?;
    } else {
        shelf.unpinned(&path("preparation.json"));
    }
    let mut audit = None;
    if attempt.audit_digest.is_some() {
        audit = shelf.bytes(&path("audit.json"), Bounds::FOREIGN.bytes)?;
        facts.audit = audit.as_deref().map(Digest::of);
        // An audit record is of an evaluation that completed, whatever became of the attempt after it.
        if let Some(bytes) = &audit {
            facts.conclusion = conclusion(shelf, bytes, &path("audit.json"));
        }
    } else {
        shelf.unpinned(&path("audit.json"));
    }
    if attempt.run_digest.is_some() {
        let name = path("run.json");
        if let Some(bytes) = shelf.bytes(&name, Bounds::EXPORT.bytes)? {
            facts.run = Some(Digest::of(&bytes));
            let mut faults = Faults::new();
            facts.export = RunExport::read(&bytes, &mut faults).map(|export| ExportFacts {
                release: Digest::of(&release(&export.release)),
                stated_release: export.release_digest,
                // An unsuccessful attempt's failed preparation is in the export and isn't retained.
                preparation_fits: preparation.is_none() || export.preparation == preparation,
                audit_fits: export.audit == audit
                    && is_record(export.record.as_ref(), audit.as_deref()),
            });
            shelf.faults.merge(faults, &name);
        }
    } else {
        shelf.unpinned(&path("run.json"));
    }
    if attempt.evaluation_error_digest.is_some() {
        let name = path("evaluation-error.json");
        if let Some(bytes) = shelf.bytes(&name, Bounds::EVALUATION_ERROR.bytes)? {
            facts.evaluation_error = Some(Digest::of(&bytes));
            let mut faults = Faults::new();
            let _read = EvaluationError::read(&bytes, &mut faults);
            shelf.faults.merge(faults, &name);
        }
    } else {
        shelf.unpinned(&path("evaluation-error.json"));
    }
    Ok(facts)
}

/// Whether the record that an export shows is the one whose bytes it holds: its disposition is read from either.
fn is_record(shown: Option<&Value<'_>>, bytes: Option<&[u8]>) -> bool {
    let Some(shown) = shown else { return true };
    bytes.is_some_and(|bytes| {
        read_into(bytes, &Bounds::FOREIGN, &mut Faults::new()).as_ref() == Some(shown)
    })
}

fn conclusion(shelf: &mut Shelf<'_>, bytes: &[u8], name: &str) -> Option<Conclusion> {
    let mut faults = Faults::new();
    let conclusion = read_into(bytes, &Bounds::FOREIGN, &mut faults).and_then(|audit| {
        Conclusion::read(audit.get("disposition").unwrap_or(&Value::Null), &mut faults)
    });
    shelf.faults.merge(faults, name);
    conclusion
}

fn side_files(
    shelf: &mut Shelf<'_>,
    facts: &AttemptFacts,
    path: &dyn Fn(&str) -> String,
) -> Result<Option<&'static str>, CouldNotRun> {
    let says = |said: Option<Vec<u8>>, own: Option<String>| {
        said.is_none_or(|said| own.is_some_and(|own| format!("{own}\n").into_bytes() == said))
    };
    let digest = shelf.beside(&path("preparation.sha256"))?;
    if !says(digest, facts.preparation.map(|digest| digest.to_string())) {
        return Ok(Some("preparation.sha256"));
    }
    let at = shelf.beside(&path("verified-at.txt"))?;
    Ok((!says(at, facts.verified_at.clone())).then_some("verified-at.txt"))
}

/// The outputs of a stage in the order of their pins. A pin's files are those whose digest it is; what is left
/// of pins and files goes together in order, and its digests will be found to differ.
fn offered(
    shelf: &mut Shelf<'_>,
    stage: &Stage,
    position: usize,
    execution: &Execution,
) -> Result<Vec<Offered>, CouldNotRun> {
    let mut found: Vec<Option<Offered>> = Vec::new();
    let pins = execution.output_sets.get(position).map(|set| set.records.as_slice());
    let pins = pins.unwrap_or_default();
    let mut missing = false;
    for (at, instance) in execution.instances.iter().enumerate() {
        if instance.stage != stage.id {
            continue;
        }
        for index in indexes(shelf, stage, instance) {
            let name = layout::output(&stage.id, &instance.id, index, "record.json");
            let read =
                shelf.artifact(&name, &Bounds::OUTPUT, Bytewise::Canon, OutputRecord::read)?;
            let name = layout::output(&stage.id, &instance.id, index, "payload.json");
            let payload = shelf.artifact(&name, &Bounds::CASE, Bytewise::Literal, object)?;
            match (read, payload) {
                (Some((record, digest)), Some(((), payload))) => {
                    found.push(Some(Offered { instance: at, index, digest, record, payload }));
                }
                _ => missing = true,
            }
        }
    }
    let mut by_digest: HashMap<Digest, usize> = HashMap::new();
    for (at, offered) in found.iter().enumerate() {
        if let Some(offered) = offered {
            by_digest.entry(offered.digest).or_insert(at);
        }
    }
    let mut matched: Vec<Option<Offered>> = Vec::with_capacity(pins.len());
    for pin in pins {
        let at = by_digest.get(pin);
        matched.push(at.and_then(|at| found.get_mut(*at)).and_then(Option::take));
    }
    let mut rest = found.into_iter().flatten();
    let mut outputs = Vec::with_capacity(pins.len());
    for (pin, offered) in pins.iter().zip(matched) {
        match offered.or_else(|| rest.next()) {
            Some(offered) => outputs.push(offered),
            None if missing => {}
            None => {
                let stage = &stage.id;
                shelf.faults.note(Rule::Absent, format_args!("stage {stage}: no record {pin}"));
            }
        }
    }
    for left in rest {
        if let Some(instance) = execution.instances.get(left.instance) {
            for name in ["record.json", "payload.json"] {
                shelf.leave(&layout::output(&stage.id, &instance.id, left.index, name));
            }
        }
    }
    Ok(outputs)
}

/// The indexes that an instance's outputs have files for, ascending.
fn indexes(shelf: &Shelf<'_>, stage: &Stage, instance: &Instance) -> Vec<u16> {
    let folder = format!("outputs/{}/{}/", stage.id, instance.id);
    let mut indexes: Vec<u16> = shelf
        .paths_below(&folder)
        .iter()
        .filter_map(|path| path.strip_prefix(&folder)?.strip_suffix("/record.json"))
        .filter_map(|text| u16::try_from(layout::decimal(text)?).ok())
        .filter(|index| *index < 4096)
        .collect();
    indexes.sort_unstable();
    indexes
}

/// The file of a pinned selection: the one of its digest, else the first one there is.
fn selection(
    shelf: &mut Shelf<'_>,
    stage: &Stage,
    pin: Option<Digest>,
    workflow: &Workflow,
) -> Result<Option<SelectionFile>, CouldNotRun> {
    let Some(pin) = pin else { return Ok(None) };
    let folder = format!("selections/{}/", stage.id);
    let mut files: Vec<(u64, String)> = shelf
        .paths_below(&folder)
        .into_iter()
        .filter_map(|path| Some((layout::revision(path.strip_prefix(&folder)?)?, path)))
        .collect();
    files.sort_unstable();
    let mut chosen = None;
    // A revision goes up to 16; whatever else lies there isn't searched for ever.
    for (named, path) in files.into_iter().take(64) {
        let digest = shelf.peek(&path, Bounds::SELECTION.bytes)?;
        if digest == Some(pin) {
            chosen = Some((named, path));
            break;
        }
        chosen = chosen.or(Some((named, path)));
    }
    let Some((named, path)) = chosen else {
        let stage = &stage.id;
        shelf.faults.note(Rule::Absent, format_args!("stage {stage}: no selection {pin}"));
        return Ok(None);
    };
    let most = workflow.limits.max_records;
    let read = shelf.artifact(&path, &Bounds::SELECTION, Bytewise::Canon, |value, faults| {
        let selection = Selection::read(value, faults)?;
        if u64::try_from(selection.selected.len()).is_ok_and(|count| count > most) {
            faults.note(Rule::Count, "/selected has more records than limits.maxRecords");
        }
        Some(selection)
    })?;
    Ok(read.map(|(selection, digest)| SelectionFile { digest, selection, named }))
}

fn object(value: &Value<'_>, faults: &mut Faults) -> Option<()> {
    if value.as_object().is_none() {
        faults.note(Rule::Form, "not an object");
        return None;
    }
    Some(())
}

/// The digest of a document's canon; a document without one is outside the domain.
fn canonical(value: &Value<'_>, faults: &mut Faults) -> Option<Digest> {
    match canon(value) {
        Ok(canon) => Some(Digest::of(&canon)),
        Err(error) => {
            faults.note(Rule::Domain, error);
            None
        }
    }
}
