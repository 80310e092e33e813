//! The witness' statements in the log: each is entered as a `digest`, for everybody to see.
//!
//! The digest is the SHA-256 of the statement's line without its newline, the trail is `witness:` and the
//! trail's identity, the sequence is the statement's index. A second chain of this witness for a trail, were
//! there one in the log, would show there as two digests of one place. Statements are entered behind their marks,
//! in the order in which they were signed; no answer waits for it, and what is missing is made up for at the
//! next start. The log keeps duplicates once, so entering one again changes nothing.

use std::sync::Arc;
use std::time::Duration;

use anchorlog_client::durable;
use anchorlog_proto::Digest;
use anchorlog_proto::jp::witness::Statement as WitnessStatement;
use anchorlog_proto::statement::{LogEntry, Statement, StatementKind, Trail};
use tokio::sync::watch;
use tracing::{error, warn};

use super::service::CheckpointWitness;
use crate::log::Log;
use crate::metrics::Metrics;
use crate::pool::SubmitError;
use crate::standing::Standing;

/// What the names of these trails in the log begin with.
pub const TRAIL_PREFIX: &str = "witness:";

/// Enters the statements of a witness into the log.
pub struct Ledger {
    witness: Arc<CheckpointWitness>,
    log: Log,
    metrics: Metrics,
    /// Up to where the statements are entered.
    entered: u64,
    /// The same, as the disk has it.
    recorded: u64,
}

impl Ledger {
    /// Starts where the last one was; from the beginning, if the log doesn't have what was entered then.
    #[must_use]
    pub fn new(witness: Arc<CheckpointWitness>, log: Log, metrics: Metrics) -> Self {
        let recorded = std::fs::read_to_string(witness.paths().entered()).ok();
        let recorded = recorded.and_then(|text| text.trim().parse().ok()).unwrap_or(0);
        Self { witness, log, metrics, entered: recorded, recorded }
    }

    /// Enters what there is and what comes, until `stop` becomes true or the log takes nothing more.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) {
        let mut published = self.witness.published();
        if !self.wait_for_the_log(&mut stop).await {
            return;
        }
        self.check_the_start().await;
        while !*stop.borrow() {
            let end = *published.borrow_and_update();
            self.metrics.checkpoint_witness().set_unentered(end.saturating_sub(self.entered));
            if self.entered < end {
                match self.enter(end).await {
                    Ok(()) => continue,
                    Err(Halt::Ended) => break,
                    Err(Halt::Later) => {
                        tokio::select! {
                            _ = stop.wait_for(|stopped| *stopped) => break,
                            () = tokio::time::sleep(AGAIN) => continue,
                        }
                    }
                }
            }
            self.record();
            tokio::select! {
                _ = stop.wait_for(|stopped| *stopped) => break,
                changed = published.changed() => if changed.is_err() { break },
            }
        }
        self.record();
    }

    /// Without the index the log can't tell duplicates.
    async fn wait_for_the_log(&self, stop: &mut watch::Receiver<bool>) -> bool {
        while !self.log.is_ready() {
            if self.log.has_failed() {
                return false;
            }
            tokio::select! {
                _ = stop.wait_for(|stopped| *stopped) => return false,
                () = tokio::time::sleep(Duration::from_millis(20)) => {}
            }
        }
        self.log.standing() == Standing::Open
    }

    /// The last statement that was entered must be in the log: another log, or an older copy of this one,
    /// gets them all again.
    async fn check_the_start(&mut self) {
        if self.entered == 0 {
            return;
        }
        let (witness, log, entered) = (Arc::clone(&self.witness), self.log.clone(), self.entered);
        let there = tokio::task::spawn_blocking(move || {
            let from = entered.saturating_sub(LONGEST);
            let bytes = witness.range(from, entered, PIECE).ok()?;
            let line = bytes.strip_suffix(b"\n")?.rsplit(|byte| *byte == b'\n').next()?.to_vec();
            let page = log.lookup(&Digest::of(&line), Some(StatementKind::Digest), None, 1).ok()?;
            (!page.items.is_empty()).then_some(())
        });
        if !matches!(there.await, Ok(Some(()))) {
            warn!(
                "the log doesn't have the witness' statements; they are entered from the first on"
            );
            self.entered = 0;
        }
    }

    /// Enters the next statements, at most a batch of them.
    async fn enter(&mut self, end: u64) -> Result<(), Halt> {
        let (witness, from) = (Arc::clone(&self.witness), self.entered);
        let read = tokio::task::spawn_blocking(move || witness.range(from, end, PIECE)).await;
        let Ok(Ok(bytes)) = read else {
            error!("the witness' statements can't be read; they are not entered into the log");
            return Err(Halt::Ended);
        };
        let mut entries = Vec::new();
        let mut length = 0_usize;
        for line in bytes.split_inclusive(|byte| *byte == b'\n').take(crate::config::MAX_BATCH) {
            let Some(text) = line.strip_suffix(b"\n") else { break };
            let Some(entry) = entry_of(text) else {
                error!("a published statement can't be entered into the log");
                return Err(Halt::Ended);
            };
            entries.push(entry);
            length = length.saturating_add(line.len());
        }
        if entries.is_empty() {
            return Err(Halt::Ended);
        }
        match self.log.submit(entries).await {
            Ok(_) => {
                let length = u64::try_from(length).unwrap_or(u64::MAX);
                self.entered = self.entered.saturating_add(length);
                Ok(())
            }
            Err(SubmitError::DiskFull | SubmitError::IndexNotReady | SubmitError::Overloaded) => {
                Err(Halt::Later)
            }
            Err(error) => {
                warn!(%error, "the log takes no statement of the witness now");
                Err(Halt::Ended)
            }
        }
    }

    /// Remembers how far it is. Lost, it costs time at the next start and nothing else.
    fn record(&mut self) {
        if self.recorded == self.entered {
            return;
        }
        let text = format!("{}\n", self.entered);
        match durable::write_replace(&self.witness.paths().entered(), text.as_bytes()) {
            Ok(()) => self.recorded = self.entered,
            Err(error) => warn!(%error, "how far the statements are in the log is not recorded"),
        }
    }
}

/// Why nothing is entered now.
enum Halt {
    /// The log takes nothing more.
    Ended,
    /// It may, in a while.
    Later,
}

/// The log's entry of a statement's line.
#[must_use]
pub fn entry_of(line: &[u8]) -> Option<LogEntry> {
    let statement = WitnessStatement::read(line).ok()?;
    let body = statement.body();
    let trail: Trail = format!("{TRAIL_PREFIX}{}", body.checkpoint.trail).parse().ok()?;
    LogEntry::unsigned(Statement {
        kind: StatementKind::Digest,
        digest: Digest::of(line),
        trail: Some(trail),
        sequence: Some(body.index),
    })
    .ok()
}

/// Bytes read at once.
const PIECE: usize = 1 << 20;

/// No statement's line is longer.
const LONGEST: u64 = 8192;

/// How long it waits when the log takes nothing for the moment.
const AGAIN: Duration = Duration::from_secs(1);
