//! The reference phase: every artifact once, and what is kept of it.
//!
//! RFC 0020 section 9 takes the phases one after the other over all artifacts. Here every artifact is read
//! once, in workflow order, instance order, attempt order and member order, and [`Faults`] keep the first fault
//! of each phase: the refusal is the same, and memory holds one artifact at a time. Where workflow or execution
//! can't be read there is no such order; then every file of the layout is read in the order of its path.

use std::collections::{BTreeMap, BTreeSet};

use anchorlog_proto::Digest;
use anchorlog_proto::jp::canon::{canon, literal};
use anchorlog_proto::jp::fault::{Faults, Rule};
use anchorlog_proto::jp::id::Id;
use anchorlog_proto::jp::json::{Bounds, Value, read_into};
use anchorlog_proto::jp::workflow::{Execution, Workflow};

use super::files::{CouldNotRun, Files};
use super::layout::{self, Kind, MAX_FILES};
use super::stages::{AttemptFacts, Offered, SelectionFile, StageFacts};

/// What the semantic checks work with.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) workflow: Workflow,
    pub(super) workflow_digest: Digest,
    pub(super) execution: Execution,
    pub(super) execution_digest: Digest,
    pub(super) root_case_digest: Digest,
    /// By stage.
    pub(super) stages: Vec<StageFacts>,
    /// By instance.
    pub(super) cases: Vec<Option<Digest>>,
    /// By instance, then attempt.
    pub(super) attempts: Vec<Vec<AttemptFacts>>,
    /// By stage.
    pub(super) selections: Vec<Option<SelectionFile>>,
    /// By stage, the digest of the set file.
    pub(super) sets: Vec<Digest>,
    /// By stage, in the order of the pins.
    pub(super) outputs: Vec<Vec<Offered>>,
}

impl Loaded {
    /// A document of a stage once more: the bytes that were judged, or it could not run.
    pub(super) fn document(
        &self,
        files: &dyn Files,
        stage: &Id,
        name: &str,
    ) -> Result<Vec<u8>, CouldNotRun> {
        let document = self.optional_document(files, stage, name)?;
        document.ok_or_else(|| CouldNotRun(format!("{} was not read", layout::stage(stage, name))))
    }

    /// The same of one that need not be there.
    pub(super) fn optional_document(
        &self,
        files: &dyn Files,
        stage: &Id,
        name: &str,
    ) -> Result<Option<Vec<u8>>, CouldNotRun> {
        let facts = self.workflow.stage(stage).and_then(|(at, _)| self.stages.get(at));
        let digest = facts.and_then(|facts| facts.documents.get(name));
        let path = layout::stage(stage, name);
        digest.map(|digest| again(files, &path, &Bounds::FOREIGN, *digest)).transpose()
    }
}

/// What came of the reference phase.
#[derive(Debug)]
pub(super) struct Reference {
    /// Everything, unless something is wrong.
    pub(super) loaded: Option<Box<Loaded>>,
    pub(super) faults: Faults,
    pub(super) workflow_digest: Option<Digest>,
    pub(super) execution_digest: Option<Digest>,
    /// Files that have another literal form than the inferred one, a few of them.
    pub(super) other_literals: Vec<String>,
    /// Binding documents whose published dialect can't be told.
    pub(super) untold_bindings: bool,
    /// Files that no pin leads to and that are nothing of the layout, a few of them, and how many.
    pub(super) unread: Vec<String>,
    pub(super) unread_count: usize,
    /// Every path.
    pub(super) paths: BTreeSet<String>,
    /// How many bytes the files have together.
    pub(super) bytes: u64,
}

/// The most names that are kept of a list for people.
const MAX_NAMES: usize = 16;

/// Bytes of a file beside the artifacts at most.
const MAX_BESIDE: usize = 4096;

/// Reads a bundle through the reference phase.
pub(super) fn reference(files: &dyn Files) -> Result<Reference, CouldNotRun> {
    let mut shelf = Shelf::open(files)?;
    let mut reference = Reference {
        loaded: None,
        faults: Faults::new(),
        workflow_digest: None,
        execution_digest: None,
        other_literals: Vec::new(),
        untold_bindings: false,
        unread: Vec::new(),
        unread_count: 0,
        paths: shelf.sizes.keys().cloned().collect(),
        bytes: shelf.sizes.values().fold(0, |sum: u64, size| sum.saturating_add(*size)),
    };
    if shelf.sizes.len() <= MAX_FILES {
        let workflow = shelf.document("workflow.json", &Bounds::WORKFLOW, Workflow::read)?;
        let execution = shelf.document("execution.json", &Bounds::EXECUTION, Execution::read)?;
        reference.workflow_digest = workflow.as_ref().map(|(_, digest)| *digest);
        reference.execution_digest = execution.as_ref().map(|(_, digest)| *digest);
        match (workflow, execution) {
            (Some((workflow, workflow_digest)), Some((execution, execution_digest))) => {
                if execution.in_order(&workflow, &mut shelf.faults) {
                    reference.loaded = super::stages::artifacts(
                        &mut shelf,
                        (workflow, workflow_digest),
                        (execution, execution_digest),
                    )?
                    .map(Box::new);
                } else {
                    shelf.everything()?;
                }
            }
            _ => shelf.everything()?,
        }
    }
    let unread = shelf.unread();
    reference.unread_count = unread.len();
    reference.unread = unread.into_iter().take(MAX_NAMES).collect();
    reference.other_literals = shelf.other_literals;
    reference.untold_bindings = shelf.untold_bindings;
    reference.faults = shelf.faults;
    if !reference.faults.is_empty() {
        reference.loaded = None;
    }
    Ok(reference)
}

/// How an artifact's bytes have to be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Bytewise {
    /// Its canon, or the file is malformed.
    Canon,
    /// The literal form, which is inferred: another one is remembered.
    Literal,
    /// Any.
    Original,
}

/// The files of a bundle, which of them were read, and what is wrong with them.
pub(super) struct Shelf<'f> {
    files: &'f dyn Files,
    sizes: BTreeMap<String, u64>,
    read: BTreeSet<String>,
    pub(super) faults: Faults,
    other_literals: Vec<String>,
    pub(super) untold_bindings: bool,
}

impl<'f> Shelf<'f> {
    fn open(files: &'f dyn Files) -> Result<Self, CouldNotRun> {
        let mut faults = Faults::new();
        let listed = files.list()?;
        if listed.len() > MAX_FILES {
            faults.note(Rule::Bytes, format_args!("more than {MAX_FILES} files"));
        }
        let sizes: BTreeMap<String, u64> =
            listed.into_iter().map(|listed| (listed.path, listed.size)).collect();
        for (path, size) in &sizes {
            let most = match layout::kind(path) {
                Kind::Json(bounds) => bounds.bytes,
                Kind::Bytes(most) => most,
                Kind::Beside | Kind::Unknown => continue,
            };
            if u64::try_from(most).is_ok_and(|most| *size > most) {
                faults.note(Rule::Bytes, format_args!("{path}: more than {most} bytes"));
            }
        }
        Ok(Self {
            files,
            sizes,
            read: BTreeSet::new(),
            faults,
            other_literals: Vec::new(),
            untold_bindings: false,
        })
    }

    /// Whether there is such a file.
    pub(super) fn holds(&self, path: &str) -> bool {
        self.sizes.contains_key(path)
    }

    /// Every path from one on, in order.
    pub(super) fn paths_below(&self, folder: &str) -> Vec<String> {
        let below = self.sizes.range(folder.to_owned()..).map(|(path, _)| path);
        below.take_while(|path| path.starts_with(folder)).cloned().collect()
    }

    /// A pinned file's bytes. Absent is a fault; over its bound was one already.
    pub(super) fn bytes(
        &mut self,
        path: &str,
        most: usize,
    ) -> Result<Option<Vec<u8>>, CouldNotRun> {
        self.read.insert(path.to_owned());
        let Some(size) = self.sizes.get(path) else {
            self.faults.note(Rule::Absent, format_args!("{path} is not there"));
            return Ok(None);
        };
        if u64::try_from(most).is_ok_and(|most| *size > most) {
            return Ok(None);
        }
        self.files.read(path, most).map(Some)
    }

    /// The digest of a file that may turn out to be another one than the pinned one.
    pub(super) fn peek(&self, path: &str, most: usize) -> Result<Option<Digest>, CouldNotRun> {
        let within = |size: &u64| u64::try_from(most).is_ok_and(|most| *size <= most);
        if !self.sizes.get(path).is_some_and(within) {
            return Ok(None);
        }
        Ok(Some(Digest::of(&self.files.read(path, most)?)))
    }

    /// A file that was read and that no pin leads to.
    pub(super) fn leave(&mut self, path: &str) {
        self.read.remove(path);
    }

    /// A file that must not be there, as its pin is null.
    pub(super) fn unpinned(&mut self, path: &str) {
        if self.holds(path) {
            self.read.insert(path.to_owned());
            self.faults.note(Rule::Bytewise, format_args!("{path} is there and its pin is null"));
        }
    }

    /// A file beside the artifacts: read where it is there, at most 4 KiB.
    pub(super) fn beside(&mut self, path: &str) -> Result<Option<Vec<u8>>, CouldNotRun> {
        let Some(size) = self.sizes.get(path).copied() else { return Ok(None) };
        self.read.insert(path.to_owned());
        if usize::try_from(size).map_or(true, |size| size > MAX_BESIDE) {
            // More than it has to say, so it agrees with nothing; neither does an empty file.
            return Ok(Some(Vec::new()));
        }
        self.files.read(path, MAX_BESIDE).map(Some)
    }

    /// A pinned artifact through `read`, with the digest of its bytes.
    pub(super) fn artifact<T>(
        &mut self,
        path: &str,
        bounds: &Bounds,
        bytewise: Bytewise,
        read: impl FnOnce(&Value<'_>, &mut Faults) -> Option<T>,
    ) -> Result<Option<(T, Digest)>, CouldNotRun> {
        let Some(bytes) = self.bytes(path, bounds.bytes)? else { return Ok(None) };
        let mut faults = Faults::new();
        let value = read_into(&bytes, bounds, &mut faults);
        let read = value.as_ref().and_then(|value| {
            match bytewise {
                Bytewise::Canon => {
                    if canon(value).is_ok_and(|canon| canon != bytes) {
                        faults.note(Rule::Bytewise, "the bytes are not canonical");
                    }
                }
                Bytewise::Literal => {
                    if literal(value) != bytes && self.other_literals.len() < MAX_NAMES {
                        self.other_literals.push(path.to_owned());
                    }
                }
                Bytewise::Original => {}
            }
            read(value, &mut faults)
        });
        self.faults.merge(faults, path);
        Ok(read.map(|read| (read, Digest::of(&bytes))))
    }

    /// Workflow and execution: there is nothing to judge without them.
    fn document<T>(
        &mut self,
        path: &str,
        bounds: &Bounds,
        read: impl FnOnce(&Value<'_>, &mut Faults) -> Option<T>,
    ) -> Result<Option<(T, Digest)>, CouldNotRun> {
        if !self.holds(path) {
            return Err(CouldNotRun(format!("{path} is not in the bundle")));
        }
        self.artifact(path, bounds, Bytewise::Canon, read)
    }

    /// Reads every file of the layout for bounds, grammar and counts alone.
    fn everything(&mut self) -> Result<(), CouldNotRun> {
        let paths: Vec<String> = self.sizes.keys().cloned().collect();
        for path in paths {
            if let Kind::Json(bounds) = layout::kind(&path)
                && !self.read.contains(&path)
                && let Some(bytes) = self.bytes(&path, bounds.bytes)?
            {
                let mut faults = Faults::new();
                let _read = read_into(&bytes, &bounds, &mut faults);
                self.faults.merge(faults, &path);
            }
        }
        Ok(())
    }

    /// Files that were not read. What lies beside the artifacts by the layout isn't among them.
    fn unread(&self) -> Vec<String> {
        let known = |path: &str| matches!(layout::kind(path), Kind::Beside | Kind::Bytes(_));
        let unread = self.sizes.keys().filter(|path| !self.read.contains(*path) && !known(path));
        unread.cloned().collect()
    }
}

/// Reads an artifact again, which has to have the digest it had.
pub(super) fn again(
    files: &dyn Files,
    path: &str,
    bounds: &Bounds,
    digest: Digest,
) -> Result<Vec<u8>, CouldNotRun> {
    let bytes = files.read(path, bounds.bytes)?;
    if Digest::of(&bytes) == digest {
        Ok(bytes)
    } else {
        Err(CouldNotRun(format!("{path} has changed while it was read")))
    }
}

/// The value in bytes that were read once.
pub(super) fn value<'a>(
    bytes: &'a [u8],
    bounds: &Bounds,
    path: &str,
) -> Result<Value<'a>, CouldNotRun> {
    anchorlog_proto::jp::json::read(bytes, bounds)
        .map_err(|fault| CouldNotRun(format!("{path}: {fault}")))
}
