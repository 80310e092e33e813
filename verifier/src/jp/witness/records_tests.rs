//! Copies of trails, sound ones and ones changed in one thing, held to checkpoints.
#![allow(clippy::as_conversions, clippy::cast_possible_truncation, reason = "small numbers")]

use std::io::{self, BufReader, Read};

use anchorlog_proto::Digest;
use anchorlog_proto::jp::witness::{AuditCheckpoint, MAX_RECORD_BYTES, TrailId, read_lines};

use super::testing::TRAIL;
use super::{Held, TrailFault, hold_records};

/// A copy as the runtime writes it.
#[derive(Clone, Debug, Default)]
struct Copy {
    lines: Vec<String>,
    chained: bool,
}

impl Copy {
    /// So many records from before chaining, then so many chained ones.
    fn of(legacy: usize, chained: usize) -> Self {
        let mut copy = Self::default();
        copy.lines.extend((0..legacy).map(|at| format!("{{\"kind\":\"old\",\"at\":{at}}}")));
        (0..chained).for_each(|_| copy.append());
        copy
    }

    fn previous(&self) -> Digest {
        match self.lines.last() {
            Some(last) if self.chained => Digest::of(last.as_bytes()),
            _ => Digest::of(self.text().as_bytes()),
        }
    }

    fn append(&mut self) {
        self.append_after(self.previous(), "");
    }

    fn append_after(&mut self, previous: Digest, more: &str) {
        let sequence = self.lines.len() + 1;
        let kind = if more.is_empty() { ",\"kind\":\"evaluation\"" } else { more };
        self.lines.push(format!(
            "{{\"recordVersion\":\"1\",\"trail\":\"{TRAIL}\",\"sequence\":{sequence},\"previous\":\"{previous}\"{kind}}}"
        ));
        self.chained = true;
    }

    /// The rest of an incomplete write, and the record that a repair puts behind it.
    fn repair(&mut self, rest: &str) {
        let previous = self.previous();
        self.lines.push(rest.to_owned());
        let (line, bytes, digest) = (self.lines.len(), rest.len(), Digest::of(rest.as_bytes()));
        self.append_after(previous, &format!(
            ",\"kind\":\"discontinuity\",\"discontinuity\":{{\"reason\":\"incomplete-last-line\",\"line\":{line},\"bytes\":{bytes},\"digest\":\"{digest}\"}}"
        ));
    }

    fn text(&self) -> String {
        self.lines.iter().map(|line| line.clone() + "\n").collect()
    }

    fn checkpoint(&self, sequence: u64) -> AuditCheckpoint {
        let line = &self.lines[sequence as usize - 1];
        AuditCheckpoint::new(TRAIL, sequence, Digest::of(line.as_bytes())).unwrap()
    }

    fn checkpoints(&self, sequences: &[u64]) -> Vec<AuditCheckpoint> {
        sequences.iter().map(|sequence| self.checkpoint(*sequence)).collect()
    }
}

fn hold(text: &str, witnessed: &[AuditCheckpoint], held: &[AuditCheckpoint]) -> Held {
    // Pieces end anywhere.
    let whole = hold_records(TRAIL, witnessed, held, text.as_bytes()).unwrap();
    let pieces = BufReader::with_capacity(7, text.as_bytes());
    let again = hold_records(TRAIL, witnessed, held, pieces).unwrap();
    assert_eq!(format!("{whole:?}"), format!("{again:?}"));
    whole
}

fn faults(text: &str, checkpoints: &[AuditCheckpoint]) -> Vec<TrailFault> {
    hold(text, checkpoints, &[]).faults.into_iter().collect()
}

#[test]
fn records_up_to_the_latest_checkpoint_are_checked_and_the_rest_is_counted() {
    for legacy in [0, 3] {
        let copy = Copy::of(legacy, 9);
        let at = |line: u64| legacy as u64 + line;
        let witnessed = copy.checkpoints(&[at(2), at(5)]);
        let held = copy.checkpoints(&[at(7)]);
        let result = hold(&(copy.text() + "{\"half"), &witnessed, &held);
        assert!(result.faults.is_empty());
        assert_eq!((result.lines, result.incomplete, result.checked), (at(9), 6, at(7)));
        assert_eq!((result.legacy, result.chained), (legacy as u64, 7));
        assert_eq!((result.witnessed, result.held), (Some(at(5)), Some(at(7))));
        let [note] = result.found.list() else { panic!("{:?}", result.found) };
        assert!(!note.fails());
        // Lines after the latest checkpoint aren't read.
        let mut after = copy.clone();
        after.lines[legacy + 7] = "anything".to_owned();
        assert!(hold(&after.text(), &witnessed, &held).faults.is_empty());
    }
    assert_eq!(hold("", &[], &[]).checked, 0);
    assert_eq!(hold("x\ny\n", &[], &[]).lines, 2);
}

#[test]
fn every_change_at_or_before_a_checkpoint_shows() {
    use TrailFault::{
        CheckpointBeyondTrail, CheckpointNotChained, CheckpointRecordMismatch, PreviousMismatch,
        SequenceMismatch,
    };
    let copy = Copy::of(2, 6);
    let checkpoints = copy.checkpoints(&[4, 7]);
    let changed = |change: &dyn Fn(&mut Vec<String>)| {
        let mut lines = copy.lines.clone();
        change(&mut lines);
        faults(&lines.iter().map(|line| line.clone() + "\n").collect::<String>(), &checkpoints)
    };
    assert_eq!(changed(&|_| {}), []);
    assert_eq!(changed(&|lines| lines[0].push(' ')), [PreviousMismatch], "the legacy prefix");
    assert_eq!(changed(&|lines| lines[4].push(' ')), [PreviousMismatch]);
    assert_eq!(
        changed(&|lines| lines[3].push(' ')),
        [PreviousMismatch, CheckpointRecordMismatch],
        "a line with a checkpoint"
    );
    assert_eq!(changed(&|lines| lines[6].push(' ')), [CheckpointRecordMismatch]);
    assert_eq!(changed(&|lines| lines[6] = "{}".to_owned()), [CheckpointNotChained]);
    assert_eq!(changed(&|lines| lines.truncate(6)), [CheckpointBeyondTrail]);
    assert_eq!(changed(&|lines| lines.truncate(3)), [CheckpointBeyondTrail]);
    let removed = changed(&|lines| drop(lines.remove(4)));
    assert_eq!(removed, [SequenceMismatch, PreviousMismatch, CheckpointRecordMismatch]);
    let moved = changed(&|lines| lines.swap(4, 5));
    assert_eq!(moved, [SequenceMismatch, PreviousMismatch]);
    // Incomplete is not there.
    let cut = copy.text().replace(&(copy.lines[6].clone() + "\n"), &copy.lines[6]);
    let cut = &cut[..cut.len() - copy.lines[7].len() - 1];
    assert_eq!(faults(cut, &checkpoints), [CheckpointBeyondTrail]);
}

#[test]
fn a_rewritten_trail_fails_at_the_earlier_checkpoint() {
    let copy = Copy::of(0, 8);
    let mut rewritten = Copy::of(0, 2);
    rewritten.append_after(rewritten.previous(), ",\"kind\":\"other\"");
    (0..5).for_each(|_| rewritten.append());
    let later = rewritten.checkpoints(&[8]);
    assert_eq!(faults(&rewritten.text(), &later), [], "by the later one alone nothing shows");
    let both = [copy.checkpoint(5), rewritten.checkpoint(8)];
    let result = hold(&rewritten.text(), &both, &[]);
    assert_eq!(Vec::from_iter(result.faults), [TrailFault::CheckpointRecordMismatch]);
    assert_eq!(result.witnessed, None);
    // What matched before stays covered.
    let three = [copy.checkpoint(2), copy.checkpoint(5), rewritten.checkpoint(8)];
    assert_eq!(hold(&rewritten.text(), &three, &[]).witnessed, Some(2));
}

#[test]
fn checkpoints_and_records_are_of_one_trail() {
    use TrailFault::{CheckpointTrailMismatch, TrailMismatch};
    let copy = Copy::of(1, 4);
    let other = TrailId::from_bytes([9; 16]);
    let foreign = copy.text().replace(&TRAIL.to_string(), &other.to_string());
    let own = copy.checkpoints(&[2]);
    let found = hold(&foreign, &own, &[]).faults;
    assert_eq!(Vec::from_iter(found), [TrailMismatch, CheckpointTrailMismatch]);
    let digest = own[0].record_digest;
    let theirs = AuditCheckpoint::new(other, 2, digest).unwrap();
    let result = hold(&copy.text(), &own, &[theirs]);
    assert_eq!(Vec::from_iter(result.faults), [CheckpointTrailMismatch]);
    assert_eq!((result.witnessed, result.held), (None, None));
}

#[test]
fn records_that_are_not_chained_are_committed_to_by_the_next_one() {
    let mut copy = Copy::of(1, 3);
    copy.lines.push("{\"kind\":\"old\"}".to_owned());
    copy.chained = false;
    copy.append();
    let checkpoints = copy.checkpoints(&[6]);
    let result = hold(&copy.text(), &checkpoints, &[]);
    assert!(result.faults.is_empty());
    assert_eq!((result.legacy, result.chained, result.unchained), (1, 4, 1));
    let text = copy.text().replacen("old", "new", 1);
    assert_eq!(faults(&text, &checkpoints), [TrailFault::PreviousMismatch]);
    let not_chained = copy.checkpoints(&[5]);
    assert_eq!(faults(&copy.text(), &not_chained), [TrailFault::CheckpointNotChained]);
}

#[test]
fn a_repair_names_the_damage_it_stands_in_for() {
    use TrailFault::{
        CheckpointNotChained, DiscontinuityMalformed, DiscontinuityMismatch, PreviousMismatch,
    };
    let mut copy = Copy::of(1, 3);
    copy.repair("{\"recordVers");
    copy.append();
    let checkpoints = copy.checkpoints(&[4, 6, 7]);
    let result = hold(&copy.text(), &checkpoints, &[]);
    assert!(result.faults.is_empty(), "{:?}", result.found);
    assert_eq!((result.damaged, result.chained, result.unchained), (1, 5, 0));
    assert_eq!(result.witnessed, Some(7));

    let before = copy.checkpoints(&[4]);
    let upto = copy.checkpoints(&[4, 5]);
    assert_eq!(faults(&copy.text(), &before), []);
    assert_eq!(faults(&copy.text(), &upto), [CheckpointNotChained]);
    let text = copy.text();
    let other = |from: &str, to: &str| {
        let text = text.replacen(from, to, 1);
        let digest = Digest::of(text.lines().nth(5).unwrap().as_bytes());
        faults(&text, &[AuditCheckpoint::new(TRAIL, 6, digest).unwrap()])
    };
    assert_eq!(other("{\"recordVers\n", "{\"recordVerz\n"), [DiscontinuityMismatch]);
    assert_eq!(other("\"bytes\":12", "\"bytes\":13"), [DiscontinuityMismatch]);
    assert_eq!(other("\"line\":5", "\"line\":4"), [PreviousMismatch, DiscontinuityMalformed]);
    // The line of the latest checkpoint can't be given up by the next one, which isn't covered itself.
    let mut copy = Copy::of(0, 3);
    let rest = copy.lines.pop().unwrap();
    copy.repair(&rest);
    assert_eq!(faults(&copy.text(), &copy.checkpoints(&[3])), [CheckpointNotChained]);
    // Nor is a repair ever damage.
    let mut copy = Copy::of(0, 2);
    copy.repair("{");
    let last = copy.lines.pop().unwrap();
    copy.repair(&last);
    let found = faults(&copy.text(), &copy.checkpoints(&[5]));
    assert_eq!(found, [PreviousMismatch, DiscontinuityMalformed]);
}

#[test]
fn lines_are_bounded_at_the_limit_and_one_past() {
    let padded = |bytes: usize| {
        let mut copy = Copy::of(0, 2);
        let pad = bytes - copy.lines[1].len();
        copy.lines[1].push_str(&" ".repeat(pad));
        (0..2).for_each(|_| copy.append());
        faults(&copy.text(), &copy.checkpoints(&[4]))
    };
    assert_eq!(padded(MAX_RECORD_BYTES), []);
    assert_eq!(padded(MAX_RECORD_BYTES + 1), [TrailFault::LineTooLong]);
}

#[test]
fn a_copy_that_can_not_be_read_is_an_error() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("gone"))
        }
    }
    let copy = Copy::of(0, 3);
    let text = copy.text();
    let checkpoints = copy.checkpoints(&[3]);
    let input = BufReader::new(text.as_bytes().take(200).chain(Failing));
    assert!(hold_records(TRAIL, &checkpoints, &[], input).is_err());
}

#[test]
fn chains_of_real_runners_match_their_checkpoints() {
    let required = std::env::var_os("ANCHORLOG_REQUIRE_CORPUS").is_some_and(|value| value == "1");
    let Some(corpus) = std::env::var_os("ANCHORLOG_CORPUS").map(std::path::PathBuf::from) else {
        assert!(!required, "ANCHORLOG_CORPUS is not set");
        eprintln!("skipped: ANCHORLOG_CORPUS is not set");
        return;
    };
    for name in ["no-mapping-run", "v1-file-mapping-run"] {
        let file = |what: &str| {
            std::fs::read(corpus.join(format!("judgment-pack/runner/{name}.{what}.jsonl"))).unwrap()
        };
        let held = read_lines(&file("checkpoints"), 100).unwrap();
        let copy = file("chain");
        let result = hold_records(held[0].trail, &[], &held, copy.as_slice()).unwrap();
        assert!(result.faults.is_empty(), "{name}: {:?}", result.found);
        assert_eq!(result.held, held.last().map(|last| last.sequence));
        let cut = copy.len() - 3;
        let result = hold_records(held[0].trail, &[], &held, &copy[..cut]).unwrap();
        assert_eq!(Vec::from_iter(result.faults), [TrailFault::CheckpointBeyondTrail]);
    }
}
