//! The recorder: one directory, one holder, one entry at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anchorlog_proto::Digest;
use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::chain::{Chain, Line, Signer};
use anchorlog_proto::gad::entry::{EntryType, Payload};
use anchorlog_proto::gad::line::read_line;
use anchorlog_proto::gad::names::Role;
use anchorlog_proto::gad::operator::Operator;
use anchorlog_proto::gad::plan::{Plan, plan_hash};
use anchorlog_proto::json::{Value, format_utc_seconds};
use anchorlog_proto::signed_object::{SignerId, SigningKey};
use anchorlog_verifier::gad::trace::Machine;
use anchorlog_verifier::gad::witness::{Coverage, judge_entry};
use anchorlog_verifier::gad::{Event, Findings, GadFinding, NodeIx, PlanIndex};

use super::clock::{Clock, SystemClock};
use super::memory::Memory;
use super::room::{NO_BYTES, Room, Use};
use super::source::{ARTIFACTS, Document, LOCK, OPERATOR, PLAN, WITNESS};
use super::state::{Progress, State, breaking};
use super::{RecordError, Standing};
use crate::durable::{self, AppendFile, DirectoryLock, LockError};

/// Writes one record: every entry at its moment, judged before it is written, durable before it is
/// acknowledged.
///
/// It holds the lock of the directory. There is no state beside what lies in the directory: whoever opens
/// it next, after whatever end of this process, stands where the witness ends.
pub struct Recorder {
    directory: PathBuf,
    pub(super) plan: Arc<PlanIndex>,
    pub(super) artifacts: BTreeMap<String, Digest>,
    /// Their paths in lower case.
    pub(super) folded: BTreeSet<String>,
    pub(super) room: Room,
    pub(super) progress: Progress,
    witness: AppendFile,
    pub(super) engine: Option<SigningKey>,
    pub(super) clock: Box<dyn Clock>,
    cut: u64,
    stopped: bool,
    _lock: DirectoryLock,
}

/// An entry that was recorded and is durable.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "what names an entry")]
pub struct Recorded {
    /// Its number.
    pub seq: u64,
    /// Its chain hash.
    pub h: Digest,
}

/// Entries that are left free at the limit of entries, so that every record can be ended, disclosed and
/// sealed.
const RESERVED_ENTRIES: u64 = 8;

impl Recorder {
    /// Starts a record: plan, operator record, then the freeze entry. The directory may be there if it is
    /// empty or holds a record that never got to its freeze entry. `engine` as for
    /// [`Recorder::with_engine`].
    ///
    /// # Errors
    ///
    /// Beside those of the disk: [`RecordError::Document`] when the plan's h and bytes can't stand in one
    /// line of the witness, [`RecordError::KeyRole`], [`RecordError::Exists`] when there is a record, or anything else.
    pub fn freeze(
        directory: &Path,
        plan: &Document<Plan>,
        operator: &Document<Operator>,
        engine: Option<SigningKey>,
        clock: Box<dyn Clock>,
    ) -> Result<Self, RecordError> {
        let hash = plan_hash(&plan.canonical);
        let index = Arc::new(PlanIndex::new(plan.content.clone(), hash));
        if let Some(key_id) = engine.as_ref().map(SigningKey::id)
            && !index.has_role(key_id, Role::Engine)
        {
            return Err(RecordError::KeyRole { key_id, role: Role::Engine });
        }
        check_free(directory)?;
        durable::create_dir_all(directory)?;
        let lock = acquire(directory)?;
        check_free(directory)?;
        durable::write_replace(&directory.join(PLAN), &plan.canonical)?;
        durable::write_replace(&directory.join(OPERATOR), &operator.canonical)?;
        durable::create_dir_all(&directory.join(ARTIFACTS))?;
        let mut witness = AppendFile::open_or_create(&directory.join(WITNESS))?;
        witness.truncate(0)?;
        let mut recorder = Self {
            directory: directory.to_owned(),
            progress: Progress::new(&index),
            plan: index,
            artifacts: BTreeMap::new(),
            folded: BTreeSet::new(),
            room: Room::default(),
            witness,
            engine,
            clock,
            cut: 0,
            stopped: false,
            _lock: lock,
        };
        for (name, bytes) in [(PLAN, &plan.canonical), (OPERATOR, &operator.canonical)] {
            recorder.room.count(name, u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        }
        let Value::Object(object) = &plan.value else {
            let defects = vec!["is no object".to_owned()];
            return Err(RecordError::Document { path: directory.join(PLAN), defects });
        };
        recorder.write(&Payload::freeze(object), None)?;
        Ok(recorder)
    }

    /// Opens a record where it stands. A torn last line, which no append ever acknowledged, is cut off
    /// ([`Recorder::cut`]). Whatever else is wrong with the history is reported ([`Recorder::defects`]) and
    /// never repaired.
    ///
    /// # Errors
    ///
    /// [`RecordError::Lock`] when somebody else records, [`RecordError::NoRecord`] when there is none.
    pub fn open(directory: &Path) -> Result<Self, RecordError> {
        Self::open_at(directory, Box::new(SystemClock))
    }

    /// As [`Recorder::open`], with another clock.
    pub fn open_at(directory: &Path, clock: Box<dyn Clock>) -> Result<Self, RecordError> {
        if !directory.join(WITNESS).exists() {
            return Err(RecordError::NoRecord { path: directory.to_owned() });
        }
        let lock = acquire(directory)?;
        for folder in super::artifacts::folders(directory)? {
            durable::remove_stale_temporaries(&folder)?;
        }
        let state = State::load(directory)?;
        let mut witness = AppendFile::open_or_create(&directory.join(WITNESS))?;
        if state.torn > 0 {
            witness.truncate(state.whole)?;
            witness.sync_data()?;
        }
        Ok(Self {
            directory: directory.to_owned(),
            plan: state.plan,
            folded: state.artifacts.keys().map(|path| path.to_ascii_lowercase()).collect(),
            artifacts: state.artifacts,
            room: state.room,
            progress: state.progress,
            witness,
            engine: None,
            clock,
            cut: state.torn,
            stopped: false,
            _lock: lock,
        })
    }

    /// Gives the recorder the key of the engine, with which it signs verdicts, probes, scope closures,
    /// checkpoints and notices.
    ///
    /// # Errors
    ///
    /// [`RecordError::KeyRole`] when the plan doesn't register it as an engine's.
    pub fn with_engine(mut self, key: SigningKey) -> Result<Self, RecordError> {
        self.check_role(key.id(), Role::Engine)?;
        self.engine = Some(key);
        Ok(self)
    }

    /// The directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The frozen plan.
    #[must_use]
    pub fn plan(&self) -> &PlanIndex {
        &self.plan
    }

    /// Where every node and every session stands.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        self.progress.watch.machine()
    }

    /// Where the record stands as a whole.
    #[must_use]
    pub fn standing(&self) -> Standing {
        Standing::of(&self.progress)
    }

    /// What breaks a rule in the history that was found.
    #[must_use]
    pub fn defects(&self) -> &[GadFinding] {
        &self.progress.defects
    }

    /// How many bytes of a torn last line were cut off.
    #[must_use]
    pub const fn cut(&self) -> u64 {
        self.cut
    }

    /// The size of the witness in bytes.
    #[must_use]
    pub fn witness_bytes(&self) -> u64 {
        self.witness.len()
    }

    /// Bytes that the bundle has left for this.
    pub(super) fn left(&self, wanted: Use) -> u64 {
        self.room.left(wanted, self.witness.len())
    }

    pub(super) const fn memory(&self) -> &Memory {
        &self.progress.memory
    }

    pub(super) fn node(&self, id: &str) -> Result<NodeIx, RecordError> {
        self.plan.find(id).ok_or_else(|| RecordError::NoNode { node: id.to_owned() })
    }

    pub(super) fn check_role(&self, key_id: SignerId, role: Role) -> Result<(), RecordError> {
        if self.plan.has_role(key_id, role) {
            Ok(())
        } else {
            Err(RecordError::KeyRole { key_id, role })
        }
    }

    /// Records an entry that nobody signs, or that the engine signs.
    pub(super) fn record(&mut self, payload: &Payload<'_>) -> Result<Recorded, RecordError> {
        match payload.entry_type().required_role() {
            None => self.write(payload, None),
            Some(Role::Engine) => {
                let engine = self.engine_key(payload.entry_type())?.clone();
                self.write(payload, Some(&engine))
            }
            Some(role) => Err(RecordError::NoKey { entry_type: payload.entry_type(), role }),
        }
    }

    pub(super) fn engine_key(&self, entry_type: EntryType) -> Result<&SigningKey, RecordError> {
        self.engine.as_ref().ok_or(RecordError::NoKey { entry_type, role: Role::Engine })
    }

    /// Records an entry that is signed by this key.
    pub(super) fn record_signed(
        &mut self,
        payload: &Payload<'_>,
        key: &SigningKey,
    ) -> Result<Recorded, RecordError> {
        if let Some(role) = payload.entry_type().required_role() {
            self.check_role(key.id(), role)?;
        }
        self.write(payload, Some(key))
    }

    fn write(
        &mut self,
        payload: &Payload<'_>,
        key: Option<&SigningKey>,
    ) -> Result<Recorded, RecordError> {
        let time = self.admit(payload.entry_type())?;
        let mut chain = self.progress.chain.clone();
        let signer = key.map_or(Signer::None, Signer::Key);
        let line = chain.append(time, payload, signer, &self.plan.hash());
        self.commit(payload.entry_type(), chain, &line)
    }

    /// Records an entry whose payload was signed elsewhere.
    pub(super) fn record_ready(
        &mut self,
        entry_type: EntryType,
        signed: Value<'_>,
    ) -> Result<Recorded, RecordError> {
        let time = self.admit(entry_type)?;
        let mut chain = self.progress.chain.clone();
        let line = chain.append_raw(&format_utc_seconds(time), entry_type.as_str(), signed);
        self.commit(entry_type, chain, &line)
    }

    /// Whether an entry of this type may be tried at all, and the time it would bear.
    fn admit(&self, entry_type: EntryType) -> Result<i64, RecordError> {
        if self.stopped {
            return Err(RecordError::Stopped);
        }
        if let Some(line) = self.progress.unreadable {
            return Err(RecordError::Unreadable { line });
        }
        let ends = entry_type.is_terminal()
            || matches!(entry_type, EntryType::Checkpoint | EntryType::NonconformanceNotice);
        if !self.progress.defects.is_empty() && (!ends || entry_type == EntryType::PlanCompleted) {
            let findings = self.progress.defects.clone();
            return Err(RecordError::History { entry_type, findings });
        }
        let limit = Limits::DEFAULT.entries;
        let reserved = if ends { 0 } else { RESERVED_ENTRIES };
        if self.progress.entries.saturating_add(reserved) >= limit {
            return Err(RecordError::Limit { what: "entries", limit });
        }
        if !ends && self.left(Use::Entry) == 0 {
            return Err(NO_BYTES);
        }
        self.time()
    }

    /// Now, but never before the last entry; a clock that went back by more than the plan allows is refused.
    fn time(&self) -> Result<i64, RecordError> {
        let now = self.clock.now();
        let Some(last) = self.progress.memory.last_time.filter(|last| now < *last) else {
            return Ok(now);
        };
        let allowed = self.plan.plan().clock.map_or(0, |clock| clock.max_backstep_s);
        if last.saturating_sub(now) > i64::from(allowed) {
            return Err(RecordError::Clock { now, last, allowed });
        }
        Ok(last)
    }

    /// Shows a line to the rules, and appends it if they find nothing that breaks one.
    fn commit(
        &mut self,
        entry_type: EntryType,
        chain: Chain,
        line: &Line,
    ) -> Result<Recorded, RecordError> {
        let findings = match self.observe(line) {
            Ok(findings) => findings,
            Err(error) => {
                self.rebuild()?;
                return Err(error);
            }
        };
        // What discloses a broken rule may break the rule of where it stands.
        let discloses =
            entry_type == EntryType::NonconformanceNotice && !self.progress.defects.is_empty();
        if !findings.is_empty() && !discloses {
            self.rebuild()?;
            return Err(RecordError::Refused { entry_type, findings });
        }
        if let Err(error) = self.append(&line.bytes) {
            if error.is_sync_failure() {
                self.stopped = true;
            } else {
                self.rebuild()?;
            }
            return Err(error.into());
        }
        let position = self.progress.entries;
        self.progress.chain = chain;
        self.progress.entries = position.saturating_add(1);
        self.progress.at_checkpoint = entry_type == EntryType::Checkpoint;
        if self.progress.at_checkpoint {
            self.progress.start = position;
            self.progress.since.clear();
        }
        self.progress.since.push(line.h);
        Ok(Recorded { seq: line.seq, h: line.h })
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), durable::DurableError> {
        self.witness.append(bytes)?;
        self.witness.sync_data()
    }

    /// What breaks a rule at this line. The live state has stepped over it afterwards.
    fn observe(&mut self, line: &Line) -> Result<Vec<GadFinding>, RecordError> {
        let limits = &Limits::DEFAULT;
        let bytes = line.bytes.strip_suffix(b"\n").unwrap_or(&line.bytes);
        if u64::try_from(line.bytes.len()).unwrap_or(u64::MAX) > limits.line_bytes {
            let limit = limits.line_bytes;
            return Err(RecordError::Limit { what: "bytes of one line of the witness", limit });
        }
        let document = read_line(bytes, limits)
            .map_err(|error| RecordError::SignedObject { detail: error.to_string() })?;
        let mut findings = Findings::new();
        let Some((entry, authentic)) = judge_entry(&document, &self.plan, limits, &mut findings)
        else {
            return Ok(breaking(&findings));
        };
        let event = Event { index: self.progress.entries, entry: &entry, authentic };
        self.progress.watch.observe(&event, &mut findings);
        self.progress.memory.observe(&event, self.progress.watch.machine());
        // Here a node or the run stops waiting for something: what could still be said until now can't be
        // said any more.
        let settles = entry.entry_type.is_terminal()
            || matches!(entry.entry_type, EntryType::Retry | EntryType::Trip);
        if settles && self.progress.defects.is_empty() {
            let mut at_end = Findings::new();
            self.progress.watch.finish(true, &Coverage::default(), &mut at_end);
            for finding in at_end.list().iter().filter(|finding| !needs_seal(finding)) {
                findings.push(finding.clone());
            }
        }
        Ok(breaking(&findings))
    }

    /// Reads the witness again, after the live state has seen what wasn't written.
    fn rebuild(&mut self) -> Result<(), RecordError> {
        let path = self.directory.join(WITNESS);
        self.progress = if self.witness.is_empty() {
            Progress::new(&self.plan)
        } else {
            Progress::read(&path, self.witness.len(), &self.plan, &self.artifacts)?
        };
        Ok(())
    }
}

/// How long a recorder waits for another one to finish.
const PATIENCE: Duration = Duration::from_secs(1);

/// Takes the lock of a record. Commands hold it for an instant, and so does a process that is being spawned
/// by whoever held it until now: that is waited for.
fn acquire(directory: &Path) -> Result<DirectoryLock, LockError> {
    let start = Instant::now();
    loop {
        match DirectoryLock::acquire(&directory.join(LOCK)) {
            Err(LockError::Held { .. }) if start.elapsed() < PATIENCE => {
                thread::sleep(Duration::from_millis(10));
            }
            result => return result,
        }
    }
}

/// Whether a finding at the end only says that no checkpoint covers something yet.
fn needs_seal(finding: &GadFinding) -> bool {
    finding.code.as_str() == "R6.FLAG.UNAUTHENTICATED"
}

/// Whether there is nothing in the directory that a new record would run into.
fn check_free(directory: &Path) -> Result<(), RecordError> {
    let exists = || RecordError::Exists { path: directory.to_owned() };
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(_) => return Err(exists()),
    };
    for entry in entries {
        let entry =
            entry.map_err(|source| RecordError::Read { path: directory.to_owned(), source })?;
        let name = entry.file_name();
        let own = [PLAN, OPERATOR, LOCK, ARTIFACTS, WITNESS].iter().any(|own| *own == name)
            || durable::is_temporary_name(&name);
        if !own {
            return Err(exists());
        }
    }
    // A witness with a whole line is a record. One without never got to its freeze entry.
    match std::fs::read(directory.join(WITNESS)) {
        Ok(bytes) if bytes.contains(&b'\n') => Err(exists()),
        _ => Ok(()),
    }
}
