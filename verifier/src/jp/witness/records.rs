//! Holding the records of a trail to checkpoints.

use std::collections::BTreeSet;
use std::io::{self, BufRead};

use anchorlog_proto::Digest;
use anchorlog_proto::jp::witness::{AuditCheckpoint, Discontinuity, TrailId, TrailLine};

use super::RECORDS;
use super::record_lines::{RawLine, RecordLines};
use super::trail_fault::TrailFault;
use crate::jp::attribution::Found;

/// What a copy of a trail came to.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Held {
    /// The words for what was found; all of them, however many findings are kept.
    pub faults: BTreeSet<TrailFault>,
    /// The findings.
    pub found: Found,
    /// The complete lines of the copy.
    pub lines: u64,
    /// The bytes after the last newline.
    pub incomplete: u64,
    /// Lines 1 to this one were checked: up to the latest line that a checkpoint names, or the copy's end.
    pub checked: u64,
    /// Of those, the lines before the first chained record.
    pub legacy: u64,
    /// Of those, the chained records.
    pub chained: u64,
    /// Of those, the lines after the first chained record that are none.
    pub unchained: u64,
    /// Of those, the lines that a record says are damage.
    pub damaged: u64,
    /// The highest line that a witness' checkpoint matched, with nothing found at or before it. Whether it counts
    /// depends on the witness' chain.
    pub witnessed: Option<u64>,
    /// The same by a holder's checkpoint.
    pub held: Option<u64>,
}

/// Holds a copy of a trail, its exact bytes, to the checkpoints that a witness signed and to those that somebody
/// else holds. Memory is that of one line.
///
/// Every line that a checkpoint names must be there, chained, of the checkpoint's trail and of its digest. Up to
/// the latest such line the copy's own chain is checked as well: a chained record has its line number as sequence,
/// is of the trail, and names the digest of the line before it, or, where that line isn't chained, of all bytes
/// before it. Lines after it are counted and not read.
pub fn hold_records(
    trail: TrailId,
    witnessed: &[AuditCheckpoint],
    held: &[AuditCheckpoint],
    copy: impl BufRead,
) -> io::Result<Held> {
    let wanted = |by| move |checkpoint: &AuditCheckpoint| (checkpoint.sequence, by, *checkpoint);
    let mut all: Vec<_> = witnessed.iter().map(wanted(By::Witness)).collect();
    all.extend(held.iter().map(wanted(By::Holder)));
    all.sort_by_key(|(sequence, by, _)| (*sequence, *by));
    let latest = all.last().map_or(0, |(sequence, ..)| *sequence);

    let mut lines = RecordLines::new(copy);
    let mut walk = Walk { trail, wanted: &all, pending: None, held: Held::default() };
    // One line further: it can say that the latest one is damage.
    while lines.complete() <= latest {
        let before = walk.before(|| lines.digest_so_far());
        let Some(raw) = lines.read()? else { break };
        let next = walk.check(&raw, before);
        walk.settle();
        walk.pending = (raw.number <= latest).then_some(next);
    }
    walk.settle();
    lines.skip_rest()?;
    Ok(walk.finish(lines.complete(), lines.incomplete()))
}

/// Whose checkpoint it is.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum By {
    Witness,
    Holder,
}

/// What a record in a line's place has to name.
#[derive(Clone, Copy, Debug)]
struct Before {
    trail: TrailId,
    previous: Digest,
}

/// A line that was read; the next one can still say that it is damage.
struct Seen {
    raw: RawLine,
    line: Option<TrailLine>,
    /// None where it can't be known: after a line that is too long.
    before: Option<Before>,
    found: Vec<(TrailFault, &'static str)>,
    damaged: bool,
}

struct Walk<'a> {
    /// The trail of the last chained record, or the one asked for.
    trail: TrailId,
    /// The checkpoints of lines that weren't settled yet, ascending.
    wanted: &'a [(u64, By, AuditCheckpoint)],
    pending: Option<Seen>,
    held: Held,
}

impl Walk<'_> {
    /// What the next line has to name.
    fn before(&self, whole: impl FnOnce() -> Digest) -> Option<Before> {
        let trail = self.trail;
        match &self.pending {
            Some(Seen { line: None, .. }) => None,
            Some(Seen { line: Some(TrailLine::Chained(record)), raw, .. }) => {
                Some(Before { trail: record.trail, previous: raw.digest })
            }
            _ => Some(Before { trail, previous: whole() }),
        }
    }

    /// Checks a line against those before it.
    fn check(&mut self, raw: &RawLine, before: Option<Before>) -> Seen {
        let line = raw.bytes().map(TrailLine::read);
        let mut found = Vec::new();
        match line {
            None => found.push((TrailFault::LineTooLong, "it is longer than a line may be")),
            Some(TrailLine::Unchained { .. }) => {}
            Some(TrailLine::Chained(record)) => {
                let expected = match record.discontinuity {
                    None => before,
                    Some(stated) => self.excuse(stated, before, &mut found),
                };
                if record.sequence != raw.number {
                    let what = "the record's sequence is another number than the line's";
                    found.push((TrailFault::SequenceMismatch, what));
                }
                if expected.is_some_and(|expected| expected.previous != record.previous) {
                    let what = "the record names another digest than that of what stands before it";
                    found.push((TrailFault::PreviousMismatch, what));
                }
                if expected.is_some_and(|expected| expected.trail != record.trail) {
                    found.push((TrailFault::TrailMismatch, "the record is of another trail"));
                }
                self.trail = record.trail;
            }
        }
        Seen { raw: raw.summary(), line, before, found, damaged: false }
    }

    /// A record says that the line before it is damage. It stands in that line's place then.
    fn excuse(
        &mut self,
        stated: Option<Discontinuity>,
        before: Option<Before>,
        found: &mut Vec<(TrailFault, &'static str)>,
    ) -> Option<Before> {
        let pending = self.pending.as_mut().filter(|line| can_be_damage(line.line));
        let excused = stated.zip(pending).filter(|(stated, line)| stated.line == line.raw.number);
        let Some((stated, line)) = excused else {
            let what = "the discontinuity has not the form, or doesn't name the line before it";
            found.push((TrailFault::DiscontinuityMalformed, what));
            return before;
        };
        line.damaged = true;
        if (stated.bytes, stated.digest) != (line.raw.length, line.raw.digest) {
            let what = "the discontinuity names other bytes than the line before it has";
            found.push((TrailFault::DiscontinuityMismatch, what));
        }
        line.before
    }

    /// Nothing can be said against the last line any more: counts it, and holds it to its checkpoints.
    fn settle(&mut self) {
        let Some(seen) = self.pending.take() else { return };
        let number = seen.raw.number;
        self.held.checked = number;
        let chained = match seen.line {
            Some(TrailLine::Chained(record)) if !seen.damaged => Some(record),
            _ => None,
        };
        if seen.damaged {
            self.held.damaged += 1;
        } else {
            seen.found.iter().for_each(|(fault, what)| self.find(*fault, number, what));
            match chained {
                Some(_) => self.held.chained += 1,
                None if self.held.chained == 0 => self.held.legacy += 1,
                None => self.held.unchained += 1,
            }
        }
        let count = self.wanted.iter().take_while(|(sequence, ..)| *sequence == number).count();
        let (here, later) = self.wanted.split_at_checked(count).unwrap_or_default();
        self.wanted = later;
        for (_, by, checkpoint) in here {
            let fault = match chained {
                None => TrailFault::CheckpointNotChained,
                Some(record) if record.trail != checkpoint.trail => {
                    TrailFault::CheckpointTrailMismatch
                }
                Some(_) if seen.raw.digest != checkpoint.record_digest => {
                    TrailFault::CheckpointRecordMismatch
                }
                Some(_) => continue,
            };
            self.find(fault, number, &contradiction(fault, *by));
        }
        if self.held.faults.is_empty() {
            for (_, by, _) in here {
                match by {
                    By::Witness => self.held.witnessed = Some(number),
                    By::Holder => self.held.held = Some(number),
                }
            }
        }
    }

    fn finish(mut self, lines: u64, incomplete: u64) -> Held {
        for (sequence, by, _) in self.wanted {
            let fault = TrailFault::CheckpointBeyondTrail;
            let what = format!("{}; the copy has {lines} lines", contradiction(fault, *by));
            self.find(fault, *sequence, &what);
        }
        if incomplete > 0 {
            let what = format!("the copy ends in {incomplete} bytes without a newline");
            let finding = TrailFault::IncompleteLastLine.finding(what).in_input(RECORDS);
            self.held.found.push(finding);
        }
        Held { lines, incomplete, ..self.held }
    }

    fn find(&mut self, fault: TrailFault, line: u64, what: &str) {
        let finding = fault.finding(format!("line {line}: {what}"));
        self.held.faults.insert(fault);
        self.held.found.push(finding.in_input(RECORDS));
    }
}

/// A discontinuity never excuses a line that wasn't read, and never another discontinuity: what each of them
/// decides is final.
const fn can_be_damage(line: Option<TrailLine>) -> bool {
    match line {
        None | Some(TrailLine::Unchained { discontinuity: true }) => false,
        Some(TrailLine::Unchained { discontinuity: false }) => true,
        Some(TrailLine::Chained(record)) => record.discontinuity.is_none(),
    }
}

fn contradiction(fault: TrailFault, by: By) -> String {
    let whose = match by {
        By::Witness => "the witness signed a checkpoint of it",
        By::Holder => "the holder has a checkpoint of it",
    };
    let what = match fault {
        TrailFault::CheckpointNotChained => "it is not a chained record",
        TrailFault::CheckpointTrailMismatch => "its record is of another trail",
        TrailFault::CheckpointRecordMismatch => "its record has another digest",
        _ => "it is not there",
    };
    format!("{whose}, and {what}")
}
