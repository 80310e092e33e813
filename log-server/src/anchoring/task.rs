//! The task: waits until a round is due, holds it, and keeps what came of it.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use anchorlog_proto::Digest;
use anchorlog_proto::timestamp::{GenTime, Imprint};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::authority::{Authority, INTERNAL, StampFailure, Stamped};
use super::schedule::{Rules, Schedule};
use super::status::{AuthorityStatus, Status};
use crate::checkpoints::StoredToken;
use crate::clock::{Clock, unix_ms};
use crate::error::Error;
use crate::log::Log;
use crate::metrics::Metrics;
use crate::pool::SubmitError;
use crate::standing::Standing;

/// How a log is anchored.
#[derive(Clone, Debug)]
pub struct Options {
    /// When.
    pub rules: Rules,
    /// How long an authority may take for one token.
    pub timeout: Duration,
    /// By how much an authority's clock may differ from ours before it is an alarm.
    pub clock_skew: Duration,
    /// What time it is.
    pub clock: Clock,
}

/// The anchoring of one log.
pub struct Anchoring {
    log: Log,
    authorities: Vec<Asked>,
    options: Options,
    schedule: Schedule,
    metrics: Metrics,
    status: Status,
    requests: mpsc::Receiver<oneshot::Sender<Round>>,
    /// When the statements that are missing are tried again.
    statements_at: Option<Instant>,
    _handle: Handle,
}

/// Asks the task for things.
#[derive(Clone, Debug)]
pub struct Handle {
    requests: mpsc::Sender<oneshot::Sender<Round>>,
    /// How it goes.
    pub status: Status,
}

impl Handle {
    /// Has the newest checkpoint stamped now, whatever the schedule says. None when the task has ended or
    /// too many ask.
    pub async fn renew(&self) -> Option<Round> {
        let (answer, answered) = oneshot::channel();
        self.requests.try_send(answer).ok()?;
        answered.await.ok()
    }
}

/// What came of one round.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Round {
    /// Size of the checkpoint that was to be stamped.
    pub size: u64,
    /// Who stamped it, when, and until when the token is good (Unix seconds).
    pub stored: Vec<(String, GenTime, i64)>,
    /// Who did not, and why.
    pub failed: Vec<(String, StampFailure)>,
    /// Whether the checkpoint is anchored.
    pub anchored: bool,
}

struct Asked {
    authority: Arc<dyn Authority>,
    failures: u32,
    not_before: Option<Instant>,
}

impl Anchoring {
    /// Prepares the anchoring of `log`.
    pub fn new(
        log: Log,
        authorities: Vec<Arc<dyn Authority>>,
        options: Options,
        metrics: Metrics,
    ) -> Result<(Self, Handle), Error> {
        let (sender, requests) = mpsc::channel(MAX_REQUESTS);
        let status = Status::default();
        let checkpoints = Arc::clone(log.checkpoints());
        status.begin(
            authorities
                .iter()
                .map(|authority| AuthorityStatus {
                    operator: authority.operator().to_owned(),
                    last_token: checkpoints.last_received(authority.operator()),
                    ..AuthorityStatus::default()
                })
                .collect(),
        );
        for known in status.authorities() {
            metrics.anchoring().begin(&known.operator, known.last_token);
        }
        let newest = *checkpoints.newest().borrow();
        let mut schedule = Schedule::new(options.rules, newest);
        let now = Instant::now();
        let covered = newest.map_or(0, |newest| newest.size);
        // A log that has ended makes no more statements, and its last checkpoint is worth a token.
        let goes_on = log.standing() == Standing::Open;
        if goes_on {
            for index in own_statements(&log, covered, &checkpoints.digests_from(covered))? {
                schedule.own_statement(index, now);
            }
        }
        if let Some(newest) = newest {
            metrics.anchoring().set_anchored(newest.size, newest.good_until);
        }
        let asked = |authority| Asked { authority, failures: 0, not_before: None };
        let authorities = authorities.into_iter().map(asked).collect();
        let handle = Handle { requests: sender, status: status.clone() };
        // What a crash left out is committed first.
        let statements_at = (goes_on && !checkpoints.unlogged().is_empty()).then_some(now);
        let task = Self {
            log,
            authorities,
            options,
            schedule,
            metrics,
            status,
            requests,
            statements_at,
            _handle: handle.clone(),
        };
        Ok((task, handle))
    }

    /// Anchors until `stop` becomes true.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let mut published = self.log.published();
        loop {
            let now = Instant::now();
            let size = published.borrow_and_update().size().get();
            self.schedule.grown(size, now);
            if self.log.standing() != Standing::Open {
                self.schedule.ended(now);
            }
            self.status.set_waiting(self.schedule.waiting_since());
            let due = self.due(now);
            tokio::select! {
                biased;
                () = stopped(&mut stop) => return,
                request = self.requests.recv() => if let Some(answer) = request {
                    let round = self.round(true, &mut stop).await;
                    // Whoever asked may have gone.
                    let _ = answer.send(round);
                },
                () = sleep_until(self.statements_at) => self.commit_statements().await,
                () = sleep_until(due) => {
                    let now = Instant::now();
                    if self.due(now).is_some_and(|due| due <= now) {
                        self.round(false, &mut stop).await;
                    }
                }
                // Under load there is a new checkpoint many times a second; most say nothing new here.
                changed = published.changed(), if self.schedule.counts() => if changed.is_err() {
                    return;
                },
            }
        }
    }

    /// Has the newest checkpoint stamped once, and the statements committed.
    pub async fn once(&mut self) -> Round {
        let (never, mut stop) = watch::channel(false);
        let round = self.round(true, &mut stop).await;
        drop(never);
        round
    }

    /// When the next round is due and somebody may be asked.
    fn due(&self, now: Instant) -> Option<Instant> {
        let due = self.schedule.due(now, self.options.clock.unix_seconds())?;
        let ready = self.authorities.iter().map(|asked| asked.not_before.unwrap_or(now)).min()?;
        Some(due.max(ready))
    }

    /// Asks for tokens over the newest checkpoint: everybody when `forced`, else whoever isn't being left
    /// alone for a while.
    async fn round(&mut self, forced: bool, stop: &mut watch::Receiver<bool>) -> Round {
        let begun = Instant::now();
        let snapshot = self.log.snapshot();
        let size = snapshot.size().get();
        let mut round = Round { size, ..Round::default() };
        self.schedule.round_begins(begun, self.options.clock.unix_seconds());
        let note = match self.log.note_to_stamp(&snapshot) {
            // An empty log says nothing that could be stamped.
            Ok(note) if size > 0 => note,
            Ok(_) => return round,
            Err(error) => {
                tracing::error!(%error, "the newest checkpoint can't be stamped");
                self.schedule.round_ended(true, begun);
                return round;
            }
        };
        self.log.announce_stamping(&snapshot);
        let imprint = Imprint::of_digest(&Digest::of(&note));
        let mut answers = JoinSet::new();
        let mut positions = HashMap::new();
        for (position, asked) in self.authorities.iter().enumerate() {
            if forced || asked.not_before.is_none_or(|not_before| not_before <= begun) {
                let (limit, imprint) = (self.options.timeout, imprint.clone());
                let stamping = Arc::clone(&asked.authority).stamp(imprint);
                let task = answers.spawn(async move {
                    let answer = tokio::time::timeout(limit, stamping).await;
                    answer.unwrap_or_else(|_| Err(StampFailure::late(limit)))
                });
                positions.insert(task.id(), position);
            }
        }
        loop {
            let answer = tokio::select! {
                biased;
                // Requests on their way are dropped with the set.
                () = stopped(stop) => break,
                answer = answers.join_next_with_id() => answer,
            };
            let (id, answer) = match answer {
                None => break,
                Some(Ok(answer)) => answer,
                Some(Err(panicked)) => {
                    let text = "a defect of the program".to_owned();
                    (panicked.id(), Err(StampFailure { code: INTERNAL.into(), text }))
                }
            };
            if let Some(position) = positions.get(&id) {
                self.take(*position, answer, snapshot.note(), &mut round).await;
            }
        }
        self.conclude(&mut round).await;
        round
    }

    /// Keeps one authority's answer.
    async fn take(
        &mut self,
        position: usize,
        answer: Result<Stamped, StampFailure>,
        note: &[u8],
        round: &mut Round,
    ) {
        let Some(asked) = self.authorities.get_mut(position) else { return };
        let operator = asked.authority.operator().to_owned();
        let result = match answer {
            Ok(stamped) => {
                check_clock(&operator, &stamped, &self.options, &self.metrics);
                let offset = stamped.clock_offset_ms();
                self.status.update(position, |status| status.clock_offset_ms = offset);
                store(&self.log, round.size, &operator, note, stamped).await
            }
            Err(failure) => Err(failure),
        };
        match result {
            Ok(stored) => {
                asked.failures = 0;
                asked.not_before = None;
                tracing::debug!(operator, size = round.size, gen_time = %stored.gen_time, "anchored");
                self.metrics.anchoring().stored(&operator, stored.received);
                self.status.update(position, |status| {
                    status.last_token = Some(stored.received);
                    status.failures = 0;
                    status.error = None;
                });
                round.stored.push((operator, stored.gen_time, stored.expires));
            }
            Err(failure) => {
                asked.failures = asked.failures.saturating_add(1);
                let pause = pause_after(asked.failures, self.options.rules.interval);
                asked.not_before = Some(Instant::now() + pause);
                tracing::warn!(
                    operator,
                    size = round.size,
                    code = &*failure.code,
                    failures = asked.failures,
                    retry_in_s = pause.as_secs(),
                    "no token: {}",
                    failure.text
                );
                self.metrics.anchoring().failed(&operator);
                self.status.update(position, |status| {
                    status.failures = status.failures.saturating_add(1);
                    status.error = Some(failure.code.clone());
                });
                round.failed.push((operator, failure));
            }
        }
    }

    /// Notes what the round has brought, and commits the statements about it.
    async fn conclude(&mut self, round: &mut Round) {
        let now = Instant::now();
        let newest = *self.log.checkpoints().newest().borrow();
        if let Some(newest) = newest.filter(|newest| newest.size == round.size) {
            round.anchored = true;
            self.schedule.anchored(newest, now);
            self.metrics.anchoring().set_anchored(newest.size, newest.good_until);
        }
        self.schedule.round_ended(!round.stored.is_empty() && !round.anchored, now);
        if !round.stored.is_empty() {
            self.commit_statements().await;
        }
    }

    /// Commits the statements about tokens that aren't in the log yet. When the log can't take them now,
    /// they are tried again.
    async fn commit_statements(&mut self) {
        self.statements_at = None;
        if self.log.standing() != Standing::Open {
            // A token over the last checkpoint has no later tree to be in.
            return;
        }
        for digests in self.log.checkpoints().unlogged().chunks(MAX_STATEMENTS) {
            match self.log.log_tokens(digests).await {
                Ok(indexes) => {
                    let places: Vec<_> = digests.iter().copied().zip(indexes).collect();
                    self.schedule.grown(self.log.snapshot().size().get(), Instant::now());
                    for (_, index) in &places {
                        self.schedule.own_statement(*index, Instant::now());
                    }
                    self.mark(places).await;
                }
                Err(SubmitError::Frozen) => return,
                Err(error) => {
                    tracing::warn!(%error, "statements about tokens wait for the log");
                    self.statements_at = Some(Instant::now() + STATEMENTS_PAUSE);
                    return;
                }
            }
        }
    }

    async fn mark(&self, places: Vec<(Digest, u64)>) {
        let checkpoints = Arc::clone(self.log.checkpoints());
        let mark = move || {
            for (digest, index) in places {
                if let Err(error) = checkpoints.mark_logged(digest, index) {
                    // After a restart the statement is submitted again, and has its place already.
                    tracing::warn!(%error, "a token's place in the log could not be noted");
                }
            }
        };
        // A panic was reported by the panic hook.
        let _ = tokio::task::spawn_blocking(mark).await;
    }
}

/// Makes a token durable.
async fn store(
    log: &Log,
    size: u64,
    operator: &str,
    note: &[u8],
    stamped: Stamped,
) -> Result<StoredToken, StampFailure> {
    let token = StoredToken {
        size,
        note: note.to_vec(),
        operator: operator.to_owned(),
        received: unix_ms(stamped.received).div_euclid(1000),
        expires: stamped.expires,
        gen_time: stamped.gen_time,
        token: stamped.token,
    };
    let log = log.clone();
    let stored = tokio::task::spawn_blocking(move || log.store_token(&token).map(|()| token)).await;
    let failed = |text: String| StampFailure { code: STORE_FAILED.into(), text };
    match stored {
        Ok(Ok(token)) => Ok(token),
        Ok(Err(error)) => Err(failed(error.to_string())),
        Err(panicked) => Err(failed(panicked.to_string())),
    }
}

/// Raises the alarm about a clock that differs from ours. Which of the two is wrong can't be told from
/// here, and a token that verifies is the authority's word, not ours: it is kept.
fn check_clock(operator: &str, stamped: &Stamped, options: &Options, metrics: &Metrics) {
    let offset = stamped.clock_offset_ms();
    let limit = options.clock_skew.as_millis();
    metrics.anchoring().set_clock_offset(operator, offset);
    if u128::from(offset.unsigned_abs()) > limit {
        metrics.anchoring().clock_alarm(operator);
        tracing::warn!(
            operator,
            offset_ms = offset,
            gen_time = %stamped.gen_time,
            "ALARM: the authority's clock and this machine's differ; one of them is wrong"
        );
    }
}

/// The log's own statements about the tokens of these digests, among the first entries from `covered` on.
/// There are more entries only where others have written too, and then it doesn't matter.
fn own_statements(log: &Log, covered: u64, digests: &BTreeSet<Digest>) -> Result<Vec<u64>, Error> {
    let mut own = Vec::new();
    let end = log.snapshot().size().get().min(covered.saturating_add(OWN_SEARCHED));
    for index in covered..end {
        if let Some(entry) = log.entry(index)? {
            let statement = entry.statement();
            let ours = statement.kind == anchorlog_proto::statement::StatementKind::Anchor;
            if ours && digests.contains(&statement.digest) {
                own.push(index);
            }
        }
    }
    Ok(own)
}

/// How long an authority is left alone after so many failures in a row.
fn pause_after(failures: u32, interval: Duration) -> Duration {
    let first = FIRST_PAUSE.min(interval);
    first.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(LONGEST_PAUSE)
}

/// Ends when the server has to stop, also when nobody is left who could say so.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stopped| *stopped).await;
}

/// Ends at an instant, or never.
async fn sleep_until(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

/// Code of a token that holds but could not be stored.
pub const STORE_FAILED: &str = "ANCHOR.STORE";

/// Rounds that may be asked for and not have begun.
const MAX_REQUESTS: usize = 4;

/// Statements of one submission.
const MAX_STATEMENTS: usize = 100;

/// How long statements wait that the log could not take.
const STATEMENTS_PAUSE: Duration = Duration::from_secs(2);

/// Entries behind the anchored ones that are searched for the log's own statements at the start.
const OWN_SEARCHED: u64 = 64;

/// How long an authority is left alone after its first failure, at most.
const FIRST_PAUSE: Duration = Duration::from_secs(5);

/// How long it is left alone at most.
const LONGEST_PAUSE: Duration = Duration::from_mins(10);
