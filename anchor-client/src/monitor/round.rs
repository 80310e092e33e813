//! One round of a monitor: checkpoint, entries, countersignatures, judgement; and telling.

use anchorlog_proto::tlog_policy::{PolicyError, Quorum};
use anchorlog_verifier::codes;
use anchorlog_verifier::report::Verdict;

use super::alarm::Alarm;
use super::countersigned::{hold_against, note_cosignatures, note_tokens};
use super::event::Draft;
use super::output::{Output, OutputError};
use super::watch::WatchSink;
use super::{MAX_WAITING, Monitor, MonitorError};
use crate::follow::{FollowError, Position, Target};
use crate::log_client::{CallError, Wait};
use crate::record::Clock;
use crate::state::StateDir;

/// What one round did.
#[derive(Debug, Default)]
pub struct Round {
    /// Entries of the log's newest tree that holds.
    pub size: u64,
    /// Entries read and verified in this round.
    pub read: u64,
    /// Why the log could not be asked, if it could not.
    pub unreachable: Option<FollowError>,
    /// Why events wait, if some do.
    pub undelivered: Option<OutputError>,
}

impl<C: Clock> Monitor<C> {
    /// Asks the log once: reads everything that is new up to its newest checkpoint, raises and clears
    /// alarms, and tells what there is to tell. An error means that the monitor itself can't go on.
    pub async fn round(&mut self) -> Result<Round, MonitorError> {
        let mut round = Round::default();
        self.deliver(&mut round).await?;
        match self.read(&mut round).await {
            Ok(()) => {}
            Err(error) if error.verdict() == Verdict::DoesNotHold => self.suspect(&error),
            Err(error @ FollowError::Unreachable(_)) => round.unreachable = Some(error),
            // Ours: a sink that fails, a state that can't be written.
            Err(error) => return Err(error.into()),
        }
        round.size = self.state.life.size;
        self.judge();
        self.save()?;
        self.deliver(&mut round).await?;
        Ok(round)
    }

    async fn read(&mut self, round: &mut Round) -> Result<(), FollowError> {
        let target = self.poll().await?;
        let reading =
            [codes::log::TILE, codes::log::ENTRY, codes::log::ENTRY_INDEX, codes::log::MISSING];
        let is_reading = |alarm: &Alarm| reading.iter().any(|code| code.as_str() == alarm.code);
        self.clear("a checkpoint holds", |alarm| {
            alarm.subject == LOG && !alarm.is_lasting() && !is_reading(alarm)
        });
        if self.entries(&target, round).await? {
            self.clear("everything was read", is_reading);
        }
        self.countersigned(&target).await
    }

    async fn poll(&mut self) -> Result<Target, FollowError> {
        let first = self.follower.position().is_none();
        let target = self.follower.poll().await?;
        let size = target.checkpoint().checkpoint().size.get();
        if first && self.options.from_now {
            self.follower.restart(Position::new(target.checkpoint().clone(), size));
        }
        let now = self.clock.now();
        self.state.life.answered(now, size);
        Ok(target)
    }

    /// Reads up to the target, as long as what is found finds its takers; whether it came to the end.
    async fn entries(&mut self, target: &Target, round: &mut Round) -> Result<bool, FollowError> {
        loop {
            if self.state.waiting.len() >= MAX_WAITING {
                return Ok(false);
            }
            let mut sink = WatchSink::new(&self.options.watches);
            let progress = self.follower.advance(target, &mut sink).await;
            let WatchSink { found, malformed, anchors, .. } = sink;
            self.state.life.anchored(anchors);
            if let Some((index, reason)) = malformed {
                let detail = format!("entry {index} is not a canonical statement: {reason}");
                self.raise(codes::log::MALFORMED.as_str(), "entries", detail, None);
            }
            let any = !found.is_empty();
            self.state.tell(found, &self.origin);
            let progress = progress?;
            round.read += progress.next - progress.first;
            if any || !progress.is_complete() {
                self.save().map_err(FollowError::sink)?;
                self.deliver(round).await.map_err(FollowError::sink)?;
            }
            if progress.is_complete() {
                return Ok(true);
            }
        }
    }

    /// Takes down what witnesses and authorities state, and holds their checkpoints against the tree.
    async fn countersigned(&mut self, target: &Target) -> Result<(), FollowError> {
        let signed = target.checkpoint().signed().clone();
        let served = note_cosignatures(&signed, &self.options.policy, &mut self.state.life);
        self.cosignatures_hold("checkpoint", served.map(|_| ()));

        let Some(client) = &self.client else { return Ok(()) };
        let last = target.checkpoint().checkpoint().size.get().checked_sub(1);
        let Some(index) = self.state.asked.or(last) else { return Ok(()) };
        self.state.asked = Some(index);
        let receipt = match client.receipt(index, Wait::PUBLISHED).await {
            Ok(receipt) => receipt,
            Err(error) => {
                // Logs of others have no receipts. One that is slow with them has answered already.
                if error.is_not_found() || matches!(error, CallError::Receipt { .. }) {
                    self.client = None;
                }
                return Ok(());
            }
        };
        let shown = receipt.proof.checkpoint();
        let life = &mut self.state.life;
        let witnessed = life.witnessed;
        let checkpoint = match note_cosignatures(shown, &self.options.policy, life) {
            Ok(checkpoint) => checkpoint,
            Err(error) => {
                self.cosignatures_hold("receipt", Err(error));
                return Ok(());
            }
        };
        let tokens = &receipt.timestamps;
        note_tokens(&checkpoint, tokens, &self.options.authorities, life);
        let grown = life.witnessed != witnessed || !tokens.is_empty();
        self.cosignatures_hold("receipt", Ok(()));
        if hold_against(target, &checkpoint).await? && grown {
            // It has grown; the next one to wait for is the newest.
            self.state.asked = last;
        }
        Ok(())
    }

    /// Raises or clears the alarm about signature lines on a checkpoint.
    fn cosignatures_hold(&mut self, subject: &str, checked: Result<(), PolicyError>) {
        let code = codes::log::COSIGNATURE.as_str();
        let is_lines = |alarm: &Alarm| alarm.code == code || alarm.code == codes::log::SIG.as_str();
        match checked {
            Ok(()) => {
                self.clear("the lines hold", |alarm| alarm.subject == subject && is_lines(alarm));
            }
            Err(error @ PolicyError::WitnessSignature { .. }) => {
                self.raise(code, subject, error.to_string(), None);
            }
            Err(error) => {
                self.raise(codes::log::SIG.as_str(), subject, error.to_string(), None);
            }
        }
    }

    /// Raises the alarm for what was found.
    fn suspect(&mut self, error: &FollowError) {
        let state = StateDir::at(&self.directory);
        let evidence = error.keep_evidence(&state, &self.options.log);
        let detail = match &evidence {
            Some(Err(failure)) => format!("{error}; the signed notes could NOT be kept: {failure}"),
            _ => error.to_string(),
        };
        let evidence = evidence.and_then(Result::ok).map(|path| path.display().to_string());
        self.raise(error.code(), LOG, detail, evidence);
    }

    /// Raises and clears what depends on the time.
    fn judge(&mut self) {
        let now = self.clock.now();
        let quorum = self.options.policy.quorum() != Quorum::None;
        let complaints = self.state.life.complaints(now, quorum, &self.options.limits);
        let timed = [codes::log::SILENT, codes::log::QUORUM, codes::log::CLOCK];
        self.clear("it is over", |alarm| {
            timed.iter().any(|code| code.as_str() == alarm.code)
                && !complaints.iter().any(|(code, subject, _)| {
                    code.as_str() == alarm.code && *subject == alarm.subject
                })
        });
        for (code, subject, detail) in complaints {
            self.raise(code.as_str(), &subject, detail, None);
        }
    }

    fn raise(&mut self, code: &str, subject: &str, detail: String, evidence: Option<String>) {
        let since = self.clock.now();
        let build = || Alarm {
            code: code.to_owned(),
            subject: subject.to_owned(),
            detail,
            since,
            evidence,
        };
        let draft = self.state.alarms.raise(code, subject, build).map(Draft::raised);
        self.state.tell(draft, &self.origin);
    }

    pub(super) fn clear(&mut self, reason: &str, over: impl Fn(&Alarm) -> bool) -> usize {
        let now = self.clock.now();
        let cleared = self.state.alarms.clear(over);
        let drafts = cleared.iter().map(|alarm| Draft::cleared(alarm, reason, now));
        self.state.tell(drafts.collect::<Vec<_>>(), &self.origin);
        cleared.len()
    }

    /// Tells every output what waits for it. An output that fails doesn't hold up the others.
    async fn deliver(&mut self, round: &mut Round) -> Result<(), MonitorError> {
        let names: Vec<String> = self.outputs.iter().map(Output::name).collect();
        for (output, name) in self.outputs.iter_mut().zip(&names) {
            let each = output.is_slow();
            let mut any = false;
            while let Some(event) = self.state.waiting_for(name).first().cloned() {
                if let Err(error) = output.take(&event).await {
                    round.undelivered = Some(error);
                    break;
                }
                self.state.took(name, event.number + 1);
                any = true;
                if each {
                    self.state.save_taken(&self.directory)?;
                }
            }
            if any && !each {
                self.state.save_taken(&self.directory)?;
            }
        }
        if self.state.settle(&names) {
            self.save()?;
        }
        Ok(())
    }
}

/// The subject of alarms about the log itself: its checkpoint, its tiles, its entries.
const LOG: &str = "log";
