//! Where a record stands: everything that reading its directory again gives.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::chain::{Chain, genesis};
use anchorlog_proto::gad::core_manifest::SPEC_VERSIONS;
use anchorlog_proto::gad::entry::EntryType;
use anchorlog_proto::gad::line::read_line;
use anchorlog_proto::gad::plan::plan_hash;
use anchorlog_proto::gad::{Defects, Limits};
use anchorlog_verifier::codes::gad::Affect;
use anchorlog_verifier::gad::replay::ReplayRule;
use anchorlog_verifier::gad::report::RULES;
use anchorlog_verifier::gad::watch::Watch;
use anchorlog_verifier::gad::witness::{Artifacts, WitnessContext, WitnessError, read_witness};
use anchorlog_verifier::gad::{Event, Findings, GadFinding, PlanIndex};

use super::RecordError;
use super::memory::Memory;
use super::room::Room;
use super::source::{ARTIFACTS, Document, OPERATOR, PLAN, WITNESS, files_below};
use crate::durable;
use crate::file_digest::digest_file;

/// The version of the specification that is written.
pub const SPEC_VERSION: &str = "1.3";

// The newest that is read.
const _: () = assert!(SPEC_VERSIONS.len() == 8);

/// A record as read from its directory.
pub(super) struct State {
    pub(super) plan: Arc<PlanIndex>,
    /// Paths in the core, with what they hold.
    pub(super) artifacts: BTreeMap<String, Digest>,
    pub(super) room: Room,
    pub(super) progress: Progress,
    /// How many bytes of the witness are whole lines.
    pub(super) whole: u64,
    /// What lies after them.
    pub(super) torn: u64,
}

/// How far the witness has come.
pub(super) struct Progress {
    pub(super) watch: Watch,
    pub(super) memory: Memory,
    pub(super) chain: Chain,
    /// Number of lines.
    pub(super) entries: u64,
    /// Position of the last checkpoint; 0 before the first.
    pub(super) start: u64,
    /// Chain hashes from there on.
    pub(super) since: Vec<Digest>,
    /// The last entry is a checkpoint.
    pub(super) at_checkpoint: bool,
    /// What breaks a rule in the history.
    pub(super) defects: Vec<GadFinding>,
    /// Position of the first line that can't be read.
    pub(super) unreadable: Option<u64>,
}

impl State {
    /// Reads the record in `directory`. A torn last line is not looked at.
    pub(super) fn load(directory: &Path) -> Result<Self, RecordError> {
        let missing = |name: &str| !directory.join(name).exists();
        if missing(PLAN) || missing(OPERATOR) || missing(WITNESS) {
            return Err(RecordError::NoRecord { path: directory.to_owned() });
        }
        let plan = Document::plan(&directory.join(PLAN))?;
        Document::operator(&directory.join(OPERATOR))?;
        let index = PlanIndex::new(plan.content, plan_hash(&plan.canonical));
        let mut room = Room::default();
        for name in [PLAN, OPERATOR] {
            room.count(name, size(&directory.join(name))?);
        }
        let artifacts = artifacts(directory, &mut room)?;
        let witness = directory.join(WITNESS);
        let (whole, torn) = whole_lines(&witness)?;
        if whole == 0 {
            return Err(RecordError::NoRecord { path: directory.to_owned() });
        }
        let plan_index = Arc::new(index);
        let progress = Progress::read(&witness, whole, &plan_index, &artifacts)?;
        Ok(Self { plan: plan_index, artifacts, room, progress, whole, torn })
    }
}

impl Progress {
    /// Before the first entry.
    pub(super) fn new(plan: &Arc<PlanIndex>) -> Self {
        Self {
            watch: Watch::new(Arc::clone(plan), SPEC_VERSION, ReplayRule::none()),
            memory: Memory::default(),
            chain: Chain::new(),
            entries: 0,
            start: 0,
            since: Vec::new(),
            at_checkpoint: false,
            defects: Vec::new(),
            unreadable: None,
        }
    }

    /// Replays the first `whole` bytes of a witness.
    pub(super) fn read(
        witness: &Path,
        whole: u64,
        plan: &Arc<PlanIndex>,
        artifacts: &BTreeMap<String, Digest>,
    ) -> Result<Self, RecordError> {
        let failed = |source| RecordError::Read { path: witness.to_owned(), source };
        let mut progress = Self::new(plan);
        let listed = artifacts.iter().map(|(path, digest)| (path.as_str(), *digest));
        let artifacts = Artifacts::new(listed);
        let context = WitnessContext {
            plan: Some(plan),
            stated: None,
            artifacts: &artifacts,
            limits: &Limits::DEFAULT,
            threads: WitnessContext::all_cores(),
            batch_bytes: WitnessContext::BATCH_BYTES,
        };
        let mut last_seq = None;
        let mut findings = Findings::new();
        let mut observer = |event: &Event<'_>, findings: &mut Findings| {
            progress.watch.observe(event, findings);
            progress.memory.observe(event, progress.watch.machine());
            last_seq = Some(event.entry.seq);
            progress.at_checkpoint = event.entry.entry_type == EntryType::Checkpoint;
            if progress.at_checkpoint {
                progress.start = event.index;
            }
        };
        let source = File::open(witness).map_err(failed)?.take(whole);
        let summary = match read_witness(source, &context, &mut observer, &mut findings) {
            Ok(summary) => summary,
            Err(WitnessError::Io(error)) => return Err(failed(error)),
            Err(_) => {
                return Err(RecordError::Document {
                    path: witness.to_owned(),
                    defects: findings.list().iter().map(super::error::describe).collect(),
                });
            }
        };
        progress.entries = summary.entries;
        progress.unreadable = summary.unreadable;
        let head = summary.heads.last().copied().unwrap_or_else(genesis);
        let next = last_seq.map_or(0, |seq| seq.saturating_add(1));
        progress.chain = Chain::resume(next, head);
        let start = usize::try_from(progress.start).unwrap_or(usize::MAX);
        progress.since = summary.heads.get(start..).unwrap_or_default().to_vec();
        progress.defects = breaking(&findings);
        progress.defects.retain(|finding| !ONLY_UNSEALED.contains(&finding.code.as_str()));
        Ok(progress)
    }
}

/// What only says that a record isn't sealed yet.
const ONLY_UNSEALED: [&str; 5] = [
    "R1.CKPT.NONE",
    "R1.CKPT.UNCOVERED",
    "R1.CKPT.NO_FINAL",
    "R1.CKPT.NOT_AT_HEAD",
    "R1.SEAL.UNSEALED",
];

/// Those findings that make a rule of the core false.
#[must_use]
pub fn breaking(findings: &Findings) -> Vec<GadFinding> {
    let breaks = |finding: &&GadFinding| {
        finding.affects.iter().any(|affect| *affect != Affect::R1e && RULES.contains(affect))
    };
    findings.list().iter().filter(breaks).cloned().collect()
}

/// Every artifact, by its path in the core, with its digest; counted in `room`.
fn artifacts(directory: &Path, room: &mut Room) -> Result<BTreeMap<String, Digest>, RecordError> {
    let folder = directory.join(ARTIFACTS);
    let mut artifacts = BTreeMap::new();
    for name in files_below(&folder)? {
        let path = folder.join(&name);
        if path.file_name().is_some_and(durable::is_temporary_name) {
            continue;
        }
        let digest = digest_file(&path, |_| ())
            .map_err(|source| RecordError::Read { path: path.clone(), source })?;
        let name = format!("{ARTIFACTS}/{name}");
        room.count(&name, size(&path)?);
        artifacts.insert(name, digest);
    }
    Ok(artifacts)
}

fn size(path: &Path) -> Result<u64, RecordError> {
    let metadata = std::fs::metadata(path);
    let failed = |source| RecordError::Read { path: path.to_owned(), source };
    metadata.map(|metadata| metadata.len()).map_err(failed)
}

/// How many bytes of a witness are whole lines, and how many a torn append left after them: bytes without
/// LF, or else one last line that is no entry. Neither was ever acknowledged.
fn whole_lines(witness: &Path) -> Result<(u64, u64), RecordError> {
    let path: PathBuf = witness.to_owned();
    let failed = |source| RecordError::Read { path: path.clone(), source };
    let mut file = File::open(witness).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    // Two lines of the greatest length always hold the last whole one and what follows it.
    let window = Limits::DEFAULT.line_bytes.saturating_mul(2).min(length);
    let from = length.saturating_sub(window);
    file.seek(SeekFrom::Start(from)).map_err(failed)?;
    let mut tail = Vec::new();
    file.take(window).read_to_end(&mut tail).map_err(failed)?;
    let size = |bytes: &[u8]| u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    let end = tail.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at.saturating_add(1));
    let (lines, rest) = tail.split_at(end);
    if !rest.is_empty() {
        return Ok((length.saturating_sub(size(rest)), size(rest)));
    }
    let last = lines.split_inclusive(|byte| *byte == b'\n').next_back().unwrap_or_default();
    if last.is_empty() || (from > 0 && size(last) == window) || is_entry(last) {
        return Ok((length, 0));
    }
    Ok((length.saturating_sub(size(last)), size(last)))
}

fn is_entry(line: &[u8]) -> bool {
    let bytes = line.strip_suffix(b"\n").unwrap_or(line);
    read_line(bytes, &Limits::DEFAULT).is_ok_and(|document| {
        document.entry(&Limits::DEFAULT, &mut Defects::new()).link().is_some()
    })
}
