//! R1.CKPT and R1.SEAL: whether signed checkpoints cover the chain without a hole and up to its end.
//!
//! The digest of the range that a checkpoint ought to cover is kept running, so that a record whose ranges
//! are right costs one more hash of its heads. Another range than that has its own findings already; its
//! digest is recomputed too, but only as far as a budget goes that grows with the entries. Beyond it
//! R1.CKPT.DIGEST is raised unseen: no such record is valid either way, and otherwise n checkpoints over
//! n entries each would cost n² hashes.

use anchorlog_proto::Digest;
use anchorlog_proto::gad::chain::{RangeHasher, checkpoint_digest};
use anchorlog_proto::gad::core_manifest::Seal;
use anchorlog_proto::gad::entry::{EntryType, Payload};
use anchorlog_proto::gad::payload::Checkpoint;

use super::issuer::needs_coverage;
use crate::codes::gad::r1::{
    CKPT_COVERS_SELF, CKPT_DIGEST, CKPT_GAP, CKPT_NO_FINAL, CKPT_NONE, CKPT_NOT_AT_HEAD,
    CKPT_OVERLAP, CKPT_RANGE_FORM, CKPT_UNCOVERED, SEAL_MODE, SEAL_UNSEALED,
};
use crate::gad::finding::WITNESS;
use crate::gad::{Event, Findings, GadFinding, Where};

/// How many heads may be hashed again for each entry so far, on average.
const REHASHED_PER_ENTRY: u64 = 8;

/// How many heads may be hashed again in any record.
const REHASHED_ANYWAY: u64 = 4096;

/// Which entries lie in the range of a valid checkpoint: one without a finding, and authenticated.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Coverage {
    /// First and last position, ascending, neither overlapping nor adjacent.
    ranges: Vec<(u64, u64)>,
}

impl Coverage {
    /// Whether the entry at this position lies in one.
    #[must_use]
    pub fn contains(&self, position: u64) -> bool {
        let after = self.ranges.partition_point(|(first, _)| *first <= position);
        let candidate = after.checked_sub(1).and_then(|at| self.ranges.get(at));
        candidate.is_some_and(|(_, last)| position <= *last)
    }

    /// First and last position of each covered stretch, ascending.
    #[must_use]
    pub fn ranges(&self) -> &[(u64, u64)] {
        &self.ranges
    }

    fn push(&mut self, first: u64, last: u64) {
        match self.ranges.last_mut() {
            Some((_, end)) if end.checked_add(1) == Some(first) => *end = last,
            _ => self.ranges.push((first, last)),
        }
    }
}

/// The checkpoints so far.
#[derive(Debug)]
pub(super) struct Checkpoints {
    coverage: Coverage,
    /// Where the next range has to start: the position of the latest checkpoint.
    start: u64,
    /// Over the heads from `start` on.
    running: RangeHasher,
    /// seq of the first entry from `start` on that nobody signs, and how many there are.
    unsigned: Option<(u64, u64)>,
    rehashed: u64,
    any: bool,
    /// There is a registry to authenticate checkpoints with. Without, coverage can't be told.
    registry: bool,
}

/// What the end of a record looks like.
pub(super) struct End {
    /// seq and type of the last entry.
    pub(super) last: (u64, Option<EntryType>),
    /// Position, seq and type of the first terminal entry.
    pub(super) terminal: Option<(u64, u64, EntryType)>,
}

impl Checkpoints {
    pub(super) fn new(registry: bool) -> Self {
        Self {
            registry,
            coverage: Coverage::default(),
            start: 0,
            running: RangeHasher::new(),
            unsigned: None,
            rehashed: 0,
            any: false,
        }
    }

    /// Takes the next entry; `heads` are those before it.
    pub(super) fn observe(&mut self, event: &Event<'_>, heads: &[Digest], findings: &mut Findings) {
        let entry_type = event.entry.entry_type;
        if entry_type == EntryType::Checkpoint {
            self.checkpoint(event, heads, findings);
        } else if needs_coverage(entry_type) {
            let (_, count) = self.unsigned.get_or_insert((event.entry.seq, 0));
            *count = count.saturating_add(1);
        }
        self.head(event.h());
    }

    /// Takes an entry that is nothing but a link of the chain.
    pub(super) fn head(&mut self, h: Digest) {
        self.running.push(&h);
    }

    fn checkpoint(&mut self, event: &Event<'_>, heads: &[Digest], findings: &mut Findings) {
        self.any = true;
        let mut found = Vec::new();
        let read = match event.payload() {
            Some(Payload::Checkpoint(checkpoint)) => {
                self.compare(event, checkpoint, heads, &mut found);
                true
            }
            _ => false,
        };
        if read && found.is_empty() && event.authentic {
            // Its range is [start, index - 1] then, and so not empty.
            self.coverage.push(self.start, event.index.saturating_sub(1));
        } else {
            self.uncovered(findings);
        }
        for finding in found {
            findings.push(finding);
        }
        self.start = event.index;
        self.running = RangeHasher::new();
        self.unsigned = None;
    }

    fn compare(
        &mut self,
        event: &Event<'_>,
        checkpoint: &Checkpoint,
        heads: &[Digest],
        found: &mut Vec<GadFinding>,
    ) {
        let range = event.member("/range");
        let Some((first, last)) = checkpoint.range.filter(|(first, last)| first <= last) else {
            let finding = GadFinding::new(CKPT_RANGE_FORM, range);
            found.push(match checkpoint.range {
                Some((first, last)) => finding.actual(format_args!("[{first},{last}]")),
                None => finding,
            });
            return;
        };
        let stated = format!("[{first},{last}]");
        let expected = match event.index.checked_sub(1) {
            Some(last) => format!("[{},{last}]", self.start),
            None => "an entry before it".to_owned(),
        };
        let mut wrong = |code| {
            found.push(GadFinding::new(code, range.clone()).expected(&expected).actual(&stated));
        };
        if last.checked_add(1) != Some(event.index) {
            wrong(CKPT_COVERS_SELF);
        }
        if first > self.start {
            wrong(CKPT_GAP);
        }
        if first < self.start {
            wrong(CKPT_OVERLAP);
        }
        let digest = self.digest((first, last), event.index, heads);
        if digest != Recomputed::Digest(checkpoint.digest) {
            let finding = GadFinding::new(CKPT_DIGEST, event.member("/digest_over_range"))
                .actual(checkpoint.digest);
            found.push(match digest {
                Recomputed::Digest(digest) => finding.expected(digest),
                Recomputed::Impossible => finding.expected("heads of earlier entries"),
                Recomputed::TooMuch => finding.expected("ranges that follow one another"),
            });
        }
        if let Some(head) = usize::try_from(last).ok().and_then(|last| heads.get(last))
            && *head != checkpoint.head
        {
            found.push(
                GadFinding::new(CKPT_DIGEST, event.member("/head"))
                    .expected(head)
                    .actual(checkpoint.head),
            );
        }
    }

    /// The digest over this range at the checkpoint at `index`.
    fn digest(&mut self, (first, last): (u64, u64), index: u64, heads: &[Digest]) -> Recomputed {
        if first == self.start && last.checked_add(1) == Some(index) {
            return Recomputed::Digest(self.running.clone().finish());
        }
        let range = usize::try_from(first)
            .ok()
            .zip(usize::try_from(last).ok())
            .and_then(|(first, last)| heads.get(first..=last));
        // No digest can hold the head of its own entry or of a later one.
        let Some(range) = range else { return Recomputed::Impossible };
        let budget = index.saturating_mul(REHASHED_PER_ENTRY).saturating_add(REHASHED_ANYWAY);
        let cost = u64::try_from(range.len()).unwrap_or(u64::MAX);
        let spent = self.rehashed.saturating_add(cost);
        if spent > budget {
            return Recomputed::TooMuch;
        }
        self.rehashed = spent;
        Recomputed::Digest(checkpoint_digest(range.iter().copied()))
    }

    fn uncovered(&self, findings: &mut Findings) {
        if let Some((seq, count)) = self.unsigned.filter(|_| self.registry) {
            findings.push(
                GadFinding::new(CKPT_UNCOVERED, Where::entry(seq))
                    .expected("a valid checkpoint over it")
                    .actual(format_args!("{count} unsigned entries from here on in none")),
            );
        }
    }

    /// What follows from the end of the record, for one with at least one entry.
    pub(super) fn finish(&self, end: &End, seal: Option<Seal>, findings: &mut Findings) {
        let witness = || Where::member(WITNESS);
        let (last_seq, last_type) = end.last;
        let at_head = last_type == Some(EntryType::Checkpoint);
        if !self.any {
            findings.push(GadFinding::new(CKPT_NONE, witness()));
        }
        self.uncovered(findings);
        if !at_head {
            let finding = GadFinding::new(CKPT_NOT_AT_HEAD, Where::entry(last_seq))
                .expected(EntryType::Checkpoint);
            findings.push(match last_type {
                Some(last) => finding.actual(last),
                None => finding,
            });
        }
        match end.terminal {
            Some((position, seq, _)) if !self.any || self.start < position => {
                findings.push(
                    GadFinding::new(CKPT_NO_FINAL, Where::entry(seq))
                        .expected("a checkpoint after it"),
                );
            }
            Some(_) => {}
            None if at_head => {}
            None => findings.push(
                GadFinding::new(SEAL_UNSEALED, witness())
                    .expected("a terminal entry, or a checkpoint at the end"),
            ),
        }
        let mismatch = match (seal, end.terminal) {
            (Some(Seal::Final), None) => Some((None, "no terminal entry")),
            (Some(Seal::Snapshot), Some((_, seq, _))) => Some((Some(seq), "a terminal entry")),
            _ => None,
        };
        if let Some((seq, actual)) = mismatch {
            let place = seq.map_or_else(witness, Where::entry);
            let seal = seal.map_or("", Seal::as_str);
            findings.push(
                GadFinding::new(SEAL_MODE, place)
                    .expected(format_args!("what \"seal\":\"{seal}\" says"))
                    .actual(actual),
            );
        }
    }

    pub(super) fn into_coverage(self) -> Coverage {
        self.coverage
    }
}

/// A digest over a range, as far as there is one.
#[derive(PartialEq)]
enum Recomputed {
    Digest(Digest),
    /// The range holds the checkpoint itself or a later entry.
    Impossible,
    /// The record has asked for more than the budget.
    TooMuch,
}
