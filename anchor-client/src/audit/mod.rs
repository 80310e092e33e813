//! Audits: everything a log holds about one subject, by reading and verifying all of it.
//!
//! What it is: a [`Follower`] reads every entry up to a checkpoint that the log signed, and a
//! [`Collector`] keeps those about the subject. A listing can leave an entry out; this can't, since the
//! entries hash to the signed root. What comes out is an [`AuditBody`], for the auditor to sign
//! ([`anchorlog_proto::audit`]). What it is not: a judgment. What an audit says about an envelope is for the
//! verifier to tell ([`beside()`] asks it).

mod beside;
#[cfg(test)]
mod tests;

use anchorlog_proto::audit::{AuditBody, Collector, Start, Subject};
use anchorlog_proto::checkpoint::VerifiedCheckpoint;
use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::note::VerifierKey;
use anchorlog_proto::statement::LogEntry;

pub use beside::{BesideError, beside};

use crate::follow::{
    EntrySink, FollowError, FollowOptions, Follower, Position, Progress, TileLocation,
};

/// From where on a log is read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ReadFrom {
    /// From its beginning.
    Beginning,
    /// From the entry with this index.
    Index(u64),
    /// From where a reading ended before; the tree read then must be a prefix of the one read now.
    Position(Box<Position>),
}

/// What to audit.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "the caller fills it in")]
pub struct AuditRequest {
    /// Where the log's tiles are.
    pub location: TileLocation,
    /// The log's keys.
    pub keys: Vec<VerifierKey>,
    /// What the entries have to be about.
    pub subject: Subject,
    /// From where on to read.
    pub from: ReadFrom,
    /// How to read.
    pub follow: FollowOptions,
}

/// A log that was read.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "the result, for whoever signs or shows it")]
pub struct Audited {
    /// What it holds about the subject.
    pub body: AuditBody,
    /// The checkpoint up to which it was read, with all its lines.
    pub checkpoint: VerifiedCheckpoint,
    /// Where the reading ended, for the next one.
    pub position: Position,
    /// Indexes of entries that name the subject and are no statements: the first few.
    pub unreadable: Vec<u64>,
}

/// Reads a log. `progress` hears of every stretch that was read; `time` is in the audit as the end of the
/// reading, in seconds since 1970.
///
/// # Errors
///
/// As the follower has them: a fork, a rollback, entries that aren't those of the tree. An entry that is no
/// statement is no error: it is nobody's, and those that name the subject are told.
pub async fn audit(
    request: AuditRequest,
    time: impl FnOnce() -> i64,
    mut progress: impl FnMut(Progress),
) -> Result<Audited, FollowError> {
    let AuditRequest { location, keys, subject, from, follow } = request;
    // Stretches, so that somebody can be told how far it is.
    let follow = FollowOptions { step: follow.step.min(STRETCH), ..follow };
    let position = match &from {
        ReadFrom::Position(position) => Some((**position).clone()),
        ReadFrom::Beginning | ReadFrom::Index(_) => None,
    };
    let mut follower = Follower::new(&location, keys.clone(), position, follow)?;
    let target = follower.poll().await?;
    let size = target.checkpoint().checkpoint().size.get();
    let first = match &from {
        ReadFrom::Beginning => 0,
        ReadFrom::Index(index) => *index,
        ReadFrom::Position(position) => position.next(),
    };
    let beyond = || FollowError::Missing { path: format!("entry {first}"), size };
    let start = TreeSize::new(first).map_err(|_| beyond())?;
    let (root, _) = target.prefix(start).await?.ok_or_else(beyond)?;
    if let ReadFrom::Index(_) = from {
        let position = Position::new(target.checkpoint().clone(), first);
        follower = Follower::new(&location, keys, position, follow)?;
    }
    let mut sink =
        Sink { wanted: subject.value(), collector: Collector::new(subject), bad: vec![] };
    loop {
        let read = follower.advance(&target, &mut sink).await?;
        progress(read);
        if read.is_complete() {
            break;
        }
    }
    let checkpoint = target.checkpoint().clone();
    let position = Position::new(checkpoint.clone(), size).ok_or_else(beyond)?;
    let subject = sink.collector.subject().clone();
    let collected = sink.collector.finish();
    let body = AuditBody {
        log_key: checkpoint.log_key().clone(),
        checkpoint: checkpoint.signed().clone(),
        from: Start { size: start, root },
        subject,
        entries: collected.entries,
        entries_omitted: collected.entries_omitted,
        findings: collected.findings,
        findings_omitted: collected.findings_omitted,
        time: time(),
    };
    Ok(Audited { body, checkpoint, position, unreadable: sink.bad })
}

/// Keeps what is about the subject.
struct Sink {
    /// The subject's value, which every entry about it spells out: a leaf is canonical, and nothing in such
    /// a value is ever escaped. So most entries need no parsing.
    wanted: String,
    collector: Collector,
    bad: Vec<u64>,
}

impl EntrySink for Sink {
    fn entries(&mut self, first: u64, entries: &[&[u8]]) -> Result<(), FollowError> {
        for (index, leaf) in (first..).zip(entries) {
            let names = str::from_utf8(leaf).is_ok_and(|text| text.contains(&self.wanted));
            if !names {
                continue;
            }
            match LogEntry::from_leaf(leaf) {
                Ok(entry) => {
                    self.collector.push(index, &entry);
                }
                Err(_) if self.bad.len() < MAX_UNREADABLE => self.bad.push(index),
                Err(_) => {}
            }
        }
        Ok(())
    }
}

/// Entries read before somebody is told.
const STRETCH: u64 = 1 << 18;

/// The most unreadable entries that are named.
const MAX_UNREADABLE: usize = 100;
