//! The task: offers what is due to whom, and keeps what comes back.
//!
//! There is one *target* at a time: the checkpoint that all witnesses are offered, so that their lines meet
//! on it. A new one is taken at the interval when the log has grown, at the longer interval of refreshing when
//! it has not, and whenever a checkpoint is about to be stamped. A witness that is still busy with the last
//! one takes the newest when it is done; nobody waits for it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use anchorlog_client::witness::Cosigned;
use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::tlog_policy::TlogPolicy;
use tokio::sync::watch;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::Instant;

use super::alarm::{Alarm, AlarmCause};
use super::allowance::Allowance;
use super::offer::{MAX_REQUESTS, Offer, Outcome, Trouble};
use super::options::{NamedWitness, Options, clock_offset_ms, pause_after};
use super::status::{Status, WitnessStatus};
use super::witness::{INTERNAL, WitnessFailure};
use crate::checkpoints::Cosignatures;
use crate::clock::unix_ms;
use crate::log::Log;
use crate::metrics::Metrics;
use crate::snapshot::Snapshot;

/// The witnessing of one log.
pub struct Witnessing {
    log: Log,
    policy: Arc<TlogPolicy>,
    asked: Vec<Asked>,
    options: Options,
    metrics: Metrics,
    status: Status,
    target: Option<Arc<Target>>,
    /// When the target was taken.
    target_at: Instant,
    /// A new target is due whatever the interval says.
    hurry: bool,
    /// What is known of each target that somebody is busy with.
    rounds: BTreeMap<u64, Round>,
    answers: JoinSet<Outcome>,
    on_their_way: HashMap<Id, (usize, Arc<Target>)>,
    /// Every witness was heard of once since the start; before, nothing is stored.
    proven: bool,
}

/// What all witnesses are offered.
struct Target {
    number: u64,
    taken: Instant,
    size: TreeSize,
    checkpoint: Arc<SignedCheckpoint>,
    note: Vec<u8>,
}

/// What came of a target so far.
struct Round {
    target: Arc<Target>,
    /// Witnesses that are asked now.
    busy: usize,
    /// Verified, not stored yet.
    pending: Vec<(usize, Cosigned)>,
    /// Witnesses whose lines are stored, by position in the policy.
    stored: BTreeSet<usize>,
}

struct Asked {
    named: NamedWitness,
    believed: TreeSize,
    allowance: Allowance,
    busy: bool,
    /// The last target that it has cosigned.
    done: Option<u64>,
    heard: bool,
    failures: u32,
    not_before: Option<Instant>,
}

impl Witnessing {
    /// Prepares the witnessing of `log`, whose store of cosignatures has the same policy.
    #[must_use]
    pub fn new(
        log: Log,
        policy: Arc<TlogPolicy>,
        witnesses: Vec<NamedWitness>,
        options: Options,
        metrics: Metrics,
    ) -> (Self, Status) {
        let now = Instant::now();
        let (status, store) = (Status::default(), Arc::clone(log.cosignatures()));
        let mut shown = Vec::new();
        let mut asked = Vec::new();
        for named in witnesses {
            let latest = store.latest(named.position);
            metrics.witnessing().begin(&named.name, latest);
            shown.push(WitnessStatus {
                name: named.name.clone(),
                size: latest.map(|(size, _)| size),
                last_cosigned: latest.map(|(_, received)| received),
                ..WitnessStatus::default()
            });
            let believed = latest.and_then(|(size, _)| TreeSize::new(size).ok());
            asked.push(Asked {
                named,
                believed: believed.unwrap_or(TreeSize::ZERO),
                allowance: Allowance::new(options.daily_allowance, now),
                busy: false,
                done: None,
                heard: false,
                failures: 0,
                not_before: None,
            });
        }
        let newest = *store.newest().borrow();
        status.begin(shown, newest);
        if let Some(newest) = newest {
            metrics.witnessing().set_witnessed(newest);
        }
        let task = Self {
            log,
            policy,
            asked,
            options,
            metrics,
            status: status.clone(),
            target: None,
            target_at: now,
            hurry: false,
            rounds: BTreeMap::new(),
            answers: JoinSet::new(),
            on_their_way: HashMap::new(),
            proven: false,
        };
        (task, status)
    }

    /// Has the log witnessed until `stop` becomes true.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let mut published = self.log.published();
        let mut stamping = self.log.stamping();
        while self.status.alarm().is_none() {
            let now = Instant::now();
            let size = published.borrow_and_update().size();
            self.look(size, now);
            let due = self.due(size, now);
            // Under load there is a new checkpoint many times a second; most say nothing new here.
            let follows = !self.has_grown(size);
            tokio::select! {
                biased;
                () = stopped(&mut stop) => break,
                Some(answer) = self.answers.join_next_with_id() => self.take(answer).await,
                changed = stamping.changed() => {
                    if changed.is_err() {
                        break;
                    }
                    let snapshot = stamping.borrow_and_update().clone();
                    if let Some(snapshot) = snapshot.filter(|new| self.is_newer(new.size())) {
                        self.aim(&snapshot);
                        self.ask_everybody();
                    }
                }
                () = sleep_until(due) => {
                    if self.target_due(size, Instant::now()).is_some_and(|due| due <= Instant::now()) {
                        let snapshot = self.log.snapshot();
                        self.aim(&snapshot);
                    }
                    self.ask_everybody();
                }
                changed = published.changed(), if follows => if changed.is_err() {
                    break;
                },
            }
        }
        self.answers.shutdown().await;
        if self.status.alarm().is_none() && self.proven {
            self.flush_all().await;
        }
        // Nothing is called witnessed any more. What is shown stays, and so does the alarm.
        stopped(&mut stop).await;
    }

    /// Notes whether entries wait.
    fn look(&self, size: TreeSize, now: Instant) {
        let covered = self.status.witnessed().map_or(0, |witnessed| witnessed.size);
        self.status.set_waiting(size.get() > covered, now);
    }

    fn is_newer(&self, size: TreeSize) -> bool {
        let offered = self.target.as_ref().map_or(TreeSize::ZERO, |target| target.size);
        size > offered
    }

    fn has_grown(&self, size: TreeSize) -> bool {
        size > TreeSize::ZERO && self.is_newer(size)
    }

    /// When a new target is due. None: not before the log grows.
    fn target_due(&self, size: TreeSize, now: Instant) -> Option<Instant> {
        if self.has_grown(size) {
            return Some(match self.target {
                // The first one comes at once.
                None => self.target_at,
                Some(_) if self.hurry => now,
                Some(_) => self.target_at + self.options.interval,
            });
        }
        self.target.as_ref()?;
        (!self.options.refresh.is_zero()).then(|| self.target_at + self.options.refresh)
    }

    /// When there is something to do next.
    fn due(&self, size: TreeSize, now: Instant) -> Option<Instant> {
        let target = self.target.as_ref().map(|target| target.number);
        let waits = |asked: &&Asked| !asked.busy && target.is_some() && asked.done != target;
        let witnesses = self.asked.iter().filter(waits).map(|asked| asked.ready_at(now));
        witnesses.chain(self.target_due(size, now)).min()
    }

    /// Takes a checkpoint as the target.
    fn aim(&mut self, snapshot: &Arc<Snapshot>) {
        self.target_at = Instant::now();
        self.hurry = false;
        let made = self
            .log
            .note_to_stamp(snapshot)
            .and_then(|note| Ok((Arc::new(SignedCheckpoint::parse(&note)?), note)));
        match made {
            Ok((checkpoint, note)) => {
                let number = self.target.as_ref().map_or(0, |target| target.number + 1);
                let size = snapshot.size();
                let taken = self.target_at;
                self.target = Some(Arc::new(Target { number, taken, size, checkpoint, note }));
            }
            Err(error) => {
                tracing::error!(%error, "the newest checkpoint can't be offered");
                self.target_at += self.options.interval;
            }
        }
    }

    /// Offers the target to every witness that is not busy, not left alone and hasn't cosigned it.
    fn ask_everybody(&mut self) {
        let Some(target) = self.target.clone() else { return };
        let now = Instant::now();
        for (position, asked) in self.asked.iter_mut().enumerate() {
            if asked.busy || asked.done == Some(target.number) || asked.ready_at(now) > now {
                continue;
            }
            if asked.believed > target.size {
                // Somebody else has brought it further; the next target is for it too.
                self.hurry = true;
                asked.not_before = Some(now + AHEAD_PAUSE);
                continue;
            }
            let offer = Offer {
                log: self.log.clone(),
                witness: Arc::clone(&asked.named.witness),
                checkpoint: Arc::clone(&target.checkpoint),
                believed: asked.believed,
                requests: asked.allowance.available(now).clamp(1, MAX_REQUESTS),
                timeout: self.options.timeout,
            };
            let task = self.answers.spawn(offer.run());
            self.on_their_way.insert(task.id(), (position, Arc::clone(&target)));
            asked.busy = true;
            let round = || Round::of(Arc::clone(&target));
            self.rounds.entry(target.number).or_insert_with(round).busy += 1;
        }
    }

    /// Keeps what came of one offer.
    async fn take(&mut self, answer: Result<(Id, Outcome), JoinError>) {
        let (id, outcome) = match answer {
            Ok((id, outcome)) => (id, Some(outcome)),
            Err(panicked) => (panicked.id(), None),
        };
        let Some((position, target)) = self.on_their_way.remove(&id) else { return };
        let Some(asked) = self.asked.get_mut(position) else { return };
        (asked.busy, asked.heard) = (false, true);
        if let Some(round) = self.rounds.get_mut(&target.number) {
            round.busy = round.busy.saturating_sub(1);
        }
        let outcome = outcome.unwrap_or_else(|| Outcome {
            believed: asked.believed,
            requests: 1,
            result: Err(Trouble::Failed(WitnessFailure::lasting(
                INTERNAL,
                "a defect of the program",
            ))),
        });
        asked.allowance.charge(outcome.requests, Instant::now());
        asked.believed = outcome.believed;
        let believed = outcome.believed.get();
        self.metrics.witnessing().asked(&asked.named.name, outcome.requests, believed);
        self.status.update(position, |status| status.size = Some(believed));
        match outcome.result {
            Ok(cosigned) => {
                asked.done = Some(target.number);
                asked.failures = 0;
                asked.not_before = None;
                let (policy_position, name) = (asked.named.position, asked.named.name.clone());
                self.check_clock(position, &name, &cosigned);
                self.metrics.witnessing().answered(&name, cosigned.round_trip);
                if let Some(round) = self.rounds.get_mut(&target.number) {
                    round.pending.push((policy_position, cosigned));
                }
            }
            Err(Trouble::Ahead) => self.hurry = true,
            Err(Trouble::Failed(failure)) => self.failed(position, &target, &failure),
            Err(Trouble::Alarm(cause)) => return self.raise(position, cause),
        }
        self.proven = self.proven || self.asked.iter().all(|asked| asked.heard);
        if self.proven {
            self.flush_all().await;
        }
        self.ask_everybody();
    }

    fn failed(&mut self, position: usize, target: &Target, failure: &WitnessFailure) {
        let Some(asked) = self.asked.get_mut(position) else { return };
        asked.failures = asked.failures.saturating_add(1);
        let pause = pause_after(asked.failures, self.options.interval, failure.retry_after);
        asked.not_before = Some(Instant::now() + pause);
        tracing::warn!(
            witness = asked.named.name,
            size = target.size.get(),
            code = &*failure.code,
            failures = asked.failures,
            retry_in_s = pause.as_secs(),
            "no cosignature: {}",
            failure.text
        );
        self.metrics.witnessing().failed(&asked.named.name);
        self.status.update(position, |status| {
            status.failures = status.failures.saturating_add(1);
            status.error = Some(failure.code.clone());
        });
    }

    /// What this witness says is against the log.
    fn raise(&mut self, position: usize, cause: AlarmCause) {
        let Some(asked) = self.asked.get(position) else { return };
        let witness = asked.named.name.clone();
        tracing::error!(
            witness,
            code = cause.code(),
            "ALARM: {cause}. No further checkpoint is called witnessed until this is cleared up and the \
             server started again"
        );
        self.metrics.witnessing().alarm(&witness);
        self.status.update(position, |status| status.error = Some(cause.code().into()));
        let since = self.options.clock.unix_seconds();
        self.status.raise(Alarm { witness, cause, since });
        self.rounds.clear();
    }

    /// Raises the alarm about a clock that differs from ours. Which of the two is wrong can't be told from
    /// here, and a line that verifies is the witness' word, not ours: it is kept.
    fn check_clock(&self, position: usize, name: &str, cosigned: &Cosigned) {
        let offset = clock_offset_ms(cosigned);
        self.metrics.witnessing().set_clock_offset(name, offset);
        self.status.update(position, |status| status.clock_offset_ms = offset);
        if u128::from(offset.unsigned_abs()) > self.options.clock_skew.as_millis() {
            self.metrics.witnessing().clock_alarm(name);
            tracing::warn!(
                witness = name,
                offset_ms = offset,
                stated = cosigned.unix_seconds,
                "ALARM: the witness' clock and this machine's differ; one of them is wrong"
            );
        }
    }

    /// Stores what is enough for the quorum at once, and what comes after it when nobody is busy with that
    /// target any more.
    async fn flush_all(&mut self) {
        let current = self.target.as_ref().map(|target| target.number);
        let policy = Arc::clone(&self.policy);
        let numbers: Vec<u64> = self.rounds.keys().copied().collect();
        for number in numbers {
            let Some(round) = self.rounds.get_mut(&number) else { continue };
            let has = |stored: &BTreeSet<usize>| policy.is_quorum(|one| stored.contains(&one));
            let mut all = round.stored.clone();
            all.extend(round.pending.iter().map(|(witness, _)| *witness));
            let completes = has(&all) && !has(&round.stored);
            if !round.pending.is_empty() && (completes || round.busy == 0) {
                let pending = std::mem::take(&mut round.pending);
                round.stored = all;
                let target = Arc::clone(&round.target);
                self.store(&target, pending).await;
            }
            let over = |round: &Round| round.busy == 0 && Some(number) != current;
            if self.rounds.get(&number).is_some_and(over) {
                self.rounds.remove(&number);
            }
        }
    }
    /// Makes lines durable, and shows them.
    async fn store(&self, target: &Target, lines: Vec<(usize, Cosigned)>) {
        let received = lines.iter().map(|(_, line)| unix_ms(line.received).div_euclid(1000)).max();
        let received = received.unwrap_or_default();
        let witnesses: Vec<usize> = lines.iter().map(|(witness, _)| *witness).collect();
        let known = self.policy.witnesses();
        let keys: Vec<_> =
            witnesses.iter().filter_map(|one| Some(known.get(*one)?.key().clone())).collect();
        let cosigned = Cosignatures {
            size: target.size.get(),
            note: target.note.clone(),
            received,
            lines: lines.into_iter().map(|(_, line)| line.line).collect(),
        };
        let log = self.log.clone();
        let store = move || log.store_cosignatures(&cosigned, &keys);
        match tokio::task::spawn_blocking(store).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::error!(%error, size = target.size.get(), "cosignatures could not be stored");
                return;
            }
            // A panic was reported by the panic hook.
            Err(_) => return,
        }
        tracing::debug!(size = target.size.get(), lines = witnesses.len(), "cosigned");
        for (position, asked) in self.asked.iter().enumerate() {
            if witnesses.contains(&asked.named.position) {
                self.metrics.witnessing().cosigned(&asked.named.name, received);
                self.status.update(position, |status| {
                    status.last_cosigned = Some(received);
                    status.failures = 0;
                    status.error = None;
                });
            }
        }
        let newest = *self.log.cosignatures().newest().borrow();
        if let Some(newest) = newest.filter(|newest| newest.size == target.size.get()) {
            self.status.set_witnessed(newest);
            self.metrics.witnessing().set_witnessed(newest);
            if self.log.snapshot().size() > target.size {
                self.status.waits_since(target.taken);
            }
        }
    }
}

impl Round {
    const fn of(target: Arc<Target>) -> Self {
        Self { target, busy: 0, pending: Vec::new(), stored: BTreeSet::new() }
    }
}

impl Asked {
    /// When it may be asked again: now, if that isn't later.
    fn ready_at(&self, now: Instant) -> Instant {
        self.allowance.ready_at(now).max(self.not_before.unwrap_or(now))
    }
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

/// How long a witness waits that is ahead of the checkpoint it should be offered: a later one comes at once.
const AHEAD_PAUSE: Duration = Duration::from_millis(100);
