//! The witness at work.

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, TryLockError};

use anchorlog_client::durable::{self, AppendFile, DirectoryLock};
use anchorlog_proto::jp::witness::{
    AuditCheckpoint, Chain, ConflictStatement, Decision, Registration, StatementKind, Submission,
    TrailId, VerifiedStatement, WitnessKey, WitnessSigner, WitnessedAt,
};
use tokio::sync::watch;
use tracing::{info, warn};

use super::allowance::Allowances;
use super::answer::{
    Activity, Answer, Disagreement, MAX_PAGE, Opening, Options, Page, RegistrationMode,
};
use super::book::{Book, Place};
use super::disk::{Paths, Reader};
use super::error::{CheckpointWitnessError, Refusal};
use super::writer::Writer;
use crate::bearer::Principal;
use crate::clock::Clock;
use crate::metrics::Metrics;

/// A witness at work. Its files have one of them; a lock sees to that.
pub struct CheckpointWitness {
    key: WitnessKey,
    options: Options,
    allowances: Allowances,
    clock: Clock,
    metrics: Metrics,
    /// What is published. Taken to write for an instant, behind the mark.
    book: RwLock<Book>,
    /// Who signs; none if the witness is opened to be read.
    writer: Option<Mutex<Writer>>,
    /// The statements; none if there is no file yet.
    reader: Option<Reader>,
    /// Where the last published statement ends.
    published: watch::Sender<u64>,
    paths: Paths,
    _lock: Option<DirectoryLock>,
}

impl CheckpointWitness {
    /// Opens the files, or makes them, and holds them to the start-up checks. Nothing is repaired.
    pub fn open(
        paths: Paths,
        opening: Opening,
        options: Options,
        clock: Clock,
        metrics: Metrics,
    ) -> Result<Self, CheckpointWitnessError> {
        let (key, signer) = match opening {
            Opening::Sign(signer) => (signer.key(), Some(signer)),
            Opening::Read(key) => (key, None),
        };
        if signer.is_some() {
            durable::create_dir_all(&paths.directory)?;
            paths.check_marks_directory()?;
        }
        let lock = if paths.directory.is_dir() { Some(paths.lock()?) } else { None };
        let examined = paths.examine(&key, options.limits)?;
        if examined.finding_count > 0 {
            return Err(CheckpointWitnessError::Refused {
                outcome: examined.outcome,
                findings: examined.findings,
                finding_count: examined.finding_count,
            });
        }
        if signer.is_some() && paths.share_a_device() {
            warn!(
                marks = %paths.marks.display(),
                "the marks are on the same device as the statements: what takes one takes the other"
            );
        }
        let writer = signer.map(|signer| open_writer(&paths, signer)).transpose()?;
        let statements = paths.statements();
        let reader = statements.exists().then(|| Reader::open(&statements)).transpose()?;
        let book = examined.book;
        metrics.checkpoint_witness().begin(book.trail_count(), book.statements());
        Ok(Self {
            key,
            allowances: Allowances::new(options.submitters.clone(), options.submissions_per_minute),
            options,
            clock,
            metrics,
            book: RwLock::new(book),
            writer: writer.map(Mutex::new),
            reader,
            published: watch::Sender::new(examined.log.whole),
            paths,
            _lock: lock,
        })
    }

    /// Its public key.
    #[must_use]
    pub const fn key(&self) -> &WitnessKey {
        &self.key
    }

    /// Its files.
    #[must_use]
    pub const fn paths(&self) -> &Paths {
        &self.paths
    }

    /// Trails with statements, and statements.
    #[must_use]
    pub fn size(&self) -> (usize, u64) {
        let book = self.book();
        (book.trail_count(), book.statements())
    }

    /// What it does, without waiting for a statement that is being signed.
    #[must_use]
    pub fn activity(&self) -> Activity {
        let Some(writer) = &self.writer else { return Activity::Reading };
        let is_stopped = match writer.try_lock() {
            Ok(writer) => writer.is_stopped,
            Err(TryLockError::Poisoned(writer)) => writer.into_inner().is_stopped,
            Err(TryLockError::WouldBlock) => false,
        };
        if is_stopped { Activity::Stopped } else { Activity::Signing }
    }

    /// Takes one submission from the principal's rate, if it may submit at all.
    pub fn admit(&self, principal: &Principal) -> Result<(), Refusal> {
        self.allowances.take(principal)
    }

    /// Answers a submission. What is answered with a statement is durable and marked.
    pub fn submit(
        &self,
        principal: &Principal,
        submission: &Submission,
    ) -> Result<Answer, Refusal> {
        let id = submission.trail();
        // What needs no signature needs no turn either.
        let decision = {
            let book = self.book();
            self.owns(&book, principal, id)?;
            decide(&book, submission)
        };
        if !signs(&decision) {
            return self.answer(id, decision);
        }
        let mut writer = self.writer()?;
        let decision = {
            let book = self.book();
            self.owns(&book, principal, id)?;
            decide(&book, submission)
        };
        match decision {
            Decision::Sign => {
                self.make_room(&book_facts(&self.book(), principal, id))?;
                self.claim(&mut writer, principal, id)?;
                let line = self.sign(&mut writer, StatementKind::Checkpoint, *submission.last())?;
                Ok(Answer::Statement(line))
            }
            Decision::Conflict { held, conflict: ConflictStatement::First(offered) } => {
                self.make_room(&book_facts(&self.book(), principal, id))?;
                warn!(trail = %id, sequence = offered.sequence, "another record was offered");
                let conflict = self.sign(&mut writer, StatementKind::Conflict, offered)?;
                let held = self.text(id, held)?;
                Ok(Answer::Disagreement(Disagreement::Conflict([held, text_of(conflict)?])))
            }
            decided => self.answer(id, decided),
        }
    }

    /// The last statement of a trail, with its newline; none if there is none.
    pub fn head(&self, id: TrailId) -> Result<Option<Vec<u8>>, Refusal> {
        let place = {
            let book = self.book();
            let trail = book.trail(id);
            trail.and_then(|trail| trail.place(trail.chain.len().saturating_sub(1)))
        };
        place.map(|place| self.line(place)).transpose()
    }

    /// A trail's statements from an index on, at most `limit`; none if the witness holds nothing for it.
    pub fn page(&self, id: TrailId, from: u64, limit: usize) -> Result<Option<Page>, Refusal> {
        let limit = limit.clamp(1, MAX_PAGE);
        let (places, is_settled) = {
            let book = self.book();
            let Some(trail) = book.trail(id) else { return Ok(None) };
            let places = trail.page(from, limit).to_vec();
            let is_last = trail.chain.is_retired() && !places.is_empty();
            let is_settled = places.len() == limit || is_last;
            (places, is_settled)
        };
        let mut lines = Vec::new();
        for place in places {
            lines.extend(self.line(place)?);
        }
        Ok(Some(Page { lines, is_settled }))
    }

    /// Registers a trail, or changes whose it is. Returns whether that changed anything.
    pub fn register(&self, registration: Registration) -> Result<bool, Refusal> {
        let mut writer = self.writer()?;
        let Registration { trail, issuer, subject, .. } = registration.clone();
        let principal = Principal { issuer, subject };
        {
            let book = self.book();
            let owner = book.registered(trail);
            if owner == Some(&principal) {
                return Ok(false);
            }
            if owner.is_none() && book.registration_count() >= self.options.limits.trails {
                return Err(Refusal::Full);
            }
        }
        writer.register(&registration)?;
        self.write_book().register(registration);
        info!(%trail, %principal, "registered");
        Ok(true)
    }

    /// Retires a trail. Returns the retirement's line with its newline, and whether it was there before.
    pub fn retire(&self, id: TrailId) -> Result<(Vec<u8>, bool), CheckpointWitnessError> {
        let mut writer = self.writer()?;
        let (latest, retired) = {
            let book = self.book();
            let chain = book.trail(id).map(|trail| &trail.chain);
            (chain.and_then(Chain::latest), chain.is_some_and(Chain::is_retired))
        };
        if retired {
            let head = self.head(id)?.ok_or(Refusal::Read)?;
            return Ok((head, true));
        }
        let latest = latest.ok_or(CheckpointWitnessError::NothingToRetire { trail: id })?;
        Ok((self.sign(&mut writer, StatementKind::Retirement, latest)?, false))
    }

    /// Where the last published statement ends, now and whenever that changes.
    pub(super) fn published(&self) -> watch::Receiver<u64> {
        self.published.subscribe()
    }

    /// Published bytes of the statements.
    pub(super) fn range(&self, offset: u64, end: u64, most: usize) -> Result<Vec<u8>, Refusal> {
        let end = end.min(*self.published.borrow());
        match &self.reader {
            Some(reader) => reader.range(offset, end, most).map_err(|error| unread(&error)),
            None => Ok(Vec::new()),
        }
    }

    /// Whether submissions for the trail are taken from the principal.
    fn owns(&self, book: &Book, principal: &Principal, id: TrailId) -> Result<(), Refusal> {
        match (book.registered(id), self.options.registration) {
            (Some(owner), _) if owner == principal => Ok(()),
            (Some(_), _) => Err(Refusal::RegisteredToAnother),
            (None, RegistrationMode::Operator) => Err(Refusal::Unregistered),
            (None, RegistrationMode::FirstSubmission) => Ok(()),
        }
    }

    /// Whether another statement can be kept, and another trail of this submitter.
    fn make_room(&self, facts: &Facts) -> Result<(), Refusal> {
        let limits = self.options.limits;
        let most = self.options.trails_per_submitter;
        if facts.is_new && facts.submitted >= most {
            return Err(Refusal::TooManyTrails { most });
        }
        let full = facts.statements >= limits.statements
            || (facts.is_new && facts.trails >= limits.trails)
            || (!facts.is_registered && facts.registrations >= limits.trails);
        if full { Err(Refusal::Full) } else { Ok(()) }
    }

    /// Registers a trail that nobody has to whom submits for it; durable before anything is signed.
    fn claim(
        &self,
        writer: &mut Writer,
        principal: &Principal,
        id: TrailId,
    ) -> Result<(), Refusal> {
        if self.book().registered(id).is_some() {
            return Ok(());
        }
        let registration = Registration::new(id, &principal.issuer, &principal.subject);
        let registration = registration.ok_or(Refusal::NotASubmitter)?;
        writer.register(&registration)?;
        self.write_book().register(registration);
        info!(trail = %id, %principal, "registered by its first submission");
        Ok(())
    }

    /// Signs the next statement of a trail, keeps, marks and publishes it; its line with the newline.
    fn sign(
        &self,
        writer: &mut Writer,
        kind: StatementKind,
        checkpoint: AuditCheckpoint,
    ) -> Result<Vec<u8>, Refusal> {
        let seconds = u64::try_from(self.clock.unix_seconds()).map_err(|_| Refusal::Clock)?;
        let now = WitnessedAt::from_unix_seconds(seconds).ok_or(Refusal::Clock)?;
        let next = {
            let book = self.book();
            let chain = book.trail(checkpoint.trail).map(|trail| &trail.chain);
            let next = match chain {
                Some(chain) => chain.next(kind, checkpoint, now),
                None => Chain::new().next(kind, checkpoint, now),
            };
            next.ok_or(Refusal::Full)?
        };
        let started = std::time::Instant::now();
        let kept = writer.keep(next);
        let metrics = self.metrics.checkpoint_witness();
        metrics.set_stopped(writer.is_stopped);
        let (statement, place) = kept?;
        let trails = self.publish(writer, &statement, place)?;
        metrics.kept(kind, trails, started.elapsed());
        let (trail, index) = (checkpoint.trail, next.index);
        info!(%trail, index, sequence = checkpoint.sequence, kind = kind.as_str(), "witnessed");
        Ok(statement.to_line().into_bytes().into_iter().chain([b'\n']).collect())
    }

    fn publish(
        &self,
        writer: &mut Writer,
        statement: &VerifiedStatement,
        place: Place,
    ) -> Result<usize, Refusal> {
        let mut book = self.write_book();
        if let Err(broken) = book.push(statement, place) {
            // `Chain::next` makes what `Chain::push` takes.
            tracing::error!(%broken, "stopping: a statement was signed that does not continue its chain");
            writer.is_stopped = true;
            return Err(Refusal::Stopped);
        }
        let end = place.offset.saturating_add(u64::from(place.length)).saturating_add(1);
        self.published.send_replace(end);
        Ok(book.trail_count())
    }

    /// Answers what is decided and needs no signature.
    fn answer(&self, id: TrailId, decision: Decision) -> Result<Answer, Refusal> {
        let disagreement = match decision {
            Decision::Held { index } => {
                let place = self.book().trail(id).and_then(|trail| trail.place(index));
                return Ok(Answer::Statement(self.line(place.ok_or(Refusal::Read)?)?));
            }
            Decision::Retired { index } => Disagreement::Retired(self.text(id, index)?),
            Decision::BelowHead { head } => Disagreement::BelowHead(self.text(id, head)?),
            Decision::Conflict { held, conflict: ConflictStatement::Kept { index } } => {
                Disagreement::Conflict([self.text(id, held)?, self.text(id, index)?])
            }
            Decision::Conflict { .. } | Decision::Sign => return Err(Refusal::ReadOnly),
        };
        Ok(Answer::Disagreement(disagreement))
    }

    fn text(&self, id: TrailId, index: u64) -> Result<String, Refusal> {
        let place = self.book().trail(id).and_then(|trail| trail.place(index));
        text_of(self.line(place.ok_or(Refusal::Read)?)?)
    }

    fn line(&self, place: Place) -> Result<Vec<u8>, Refusal> {
        let reader = self.reader.as_ref().ok_or(Refusal::Read)?;
        reader.line(place).map_err(|error| unread(&error))
    }

    fn writer(&self) -> Result<MutexGuard<'_, Writer>, Refusal> {
        let writer = self.writer.as_ref().ok_or(Refusal::ReadOnly)?;
        // Whoever panicked has left it stopped.
        Ok(writer.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn book(&self) -> RwLockReadGuard<'_, Book> {
        self.book.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_book(&self) -> std::sync::RwLockWriteGuard<'_, Book> {
        self.book.write().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn with_writer(&mut self, change: impl FnOnce(&mut Writer)) {
        let writer = self
            .writer
            .as_mut()
            .map(|writer| writer.get_mut().unwrap_or_else(PoisonError::into_inner));
        if let Some(writer) = writer {
            change(writer);
        }
    }
}

impl std::fmt::Debug for CheckpointWitness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CheckpointWitness").field("key", &self.key).finish_non_exhaustive()
    }
}

/// What room depends on.
struct Facts {
    is_new: bool,
    is_registered: bool,
    submitted: usize,
    trails: usize,
    registrations: usize,
    statements: u64,
}

fn book_facts(book: &Book, principal: &Principal, id: TrailId) -> Facts {
    let is_new = book.trail(id).is_none();
    Facts {
        is_new,
        is_registered: book.registered(id).is_some(),
        // It takes a walk, and only a new trail asks for it.
        submitted: if is_new { book.submitted_by(principal) } else { 0 },
        trails: book.trail_count(),
        registrations: book.registration_count(),
        statements: book.statements(),
    }
}

fn decide(book: &Book, submission: &Submission) -> Decision {
    let trail = book.trail(submission.trail());
    trail.map_or(Decision::Sign, |trail| trail.chain.decide(submission))
}

const fn signs(decision: &Decision) -> bool {
    matches!(
        decision,
        Decision::Sign | Decision::Conflict { conflict: ConflictStatement::First(_), .. }
    )
}

fn open_writer(paths: &Paths, signer: WitnessSigner) -> Result<Writer, CheckpointWitnessError> {
    // The marks first: statements without marks are never there.
    let marks = AppendFile::open_or_create(&paths.marks)?;
    let statements = AppendFile::open_or_create(&paths.statements())?;
    let registrations = AppendFile::open_or_create(&paths.registrations())?;
    // What a process left that was killed before its sync is built upon from here on.
    for file in [&marks, &statements, &registrations] {
        file.sync_data()?;
    }
    Ok(Writer {
        signer,
        statements: Box::new(statements),
        marks: Box::new(marks),
        registrations: Box::new(registrations),
        is_stopped: false,
    })
}

fn text_of(mut line: Vec<u8>) -> Result<String, Refusal> {
    line.pop();
    String::from_utf8(line).map_err(|_| Refusal::Read)
}

fn unread(error: &std::io::Error) -> Refusal {
    tracing::error!(%error, "a statement can't be read");
    Refusal::Read
}
