//! The files of a witness in every state of damage, and a witness whose disk fails.

#![allow(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests damage files and may fail loudly"
)]

mod damage;
mod service;

use std::fs;
use std::num::NonZeroU32;
use std::time::{Duration, SystemTime};

use anchorlog_proto::Digest;
use anchorlog_proto::jp::witness::{
    AuditCheckpoint, Chain, Registration, Statement, Submission, TrailId, WitnessSigner,
};
use tempfile::TempDir;

use super::*;
use crate::bearer::Principal;
use crate::clock::Clock;
use crate::metrics::Metrics;

/// A witness' files in a directory of their own.
struct Place {
    home: TempDir,
    seconds: u64,
}

impl Place {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("elsewhere")).unwrap();
        Self { home, seconds: 1_900_000_000 }
    }

    fn paths(&self) -> Paths {
        let marks = self.home.path().join("elsewhere/marks.jsonl");
        Paths { directory: self.home.path().join("data"), marks }
    }

    fn open(&self) -> Result<CheckpointWitness, CheckpointWitnessError> {
        self.open_with(|_| {})
    }

    fn open_with(
        &self,
        change: impl FnOnce(&mut Options),
    ) -> Result<CheckpointWitness, CheckpointWitnessError> {
        let mut options = Options {
            registration: RegistrationMode::FirstSubmission,
            submitters: None,
            submissions_per_minute: NonZeroU32::new(6000).unwrap(),
            trails_per_submitter: 100,
            limits: Limits::DEFAULT,
        };
        change(&mut options);
        let seconds = self.seconds;
        let clock = Clock::of(move || SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        let opening = Opening::Sign(signer());
        CheckpointWitness::open(self.paths(), opening, options, clock, Metrics::new())
    }

    fn outcome(&self) -> (Outcome, Vec<FindingCode>) {
        let examined = self.paths().examine(&signer().key(), Limits::DEFAULT).unwrap();
        let mut codes: Vec<_> = examined.findings.iter().map(|finding| finding.code).collect();
        codes.dedup();
        (examined.outcome, codes)
    }

    fn repair(&self) -> Repaired {
        repair(&self.paths(), &signer().key(), Limits::DEFAULT).unwrap()
    }

    fn read(&self) -> [Vec<u8>; 3] {
        let paths = self.paths();
        [paths.statements(), paths.marks.clone(), paths.registrations()]
            .map(|path| fs::read(path).unwrap_or_default())
    }

    fn write(&self, files: &[Vec<u8>; 3]) {
        let paths = self.paths();
        let names = [paths.statements(), paths.marks.clone(), paths.registrations()];
        for (path, bytes) in names.iter().zip(files) {
            fs::write(path, bytes).unwrap();
        }
    }

    /// Two trails with five statements: 0a, 0b, 1a, a conflict about it, 1b.
    fn filled() -> Self {
        let place = Self::new();
        let witness = place.open().unwrap();
        for (trail, sequence, record) in
            [(A, 10, "a"), (B, 5, "b"), (A, 20, "c"), (A, 20, "other"), (B, 9, "d")]
        {
            witness.submit(&somebody(), &submission(trail, sequence, record)).unwrap();
        }
        place
    }
}

const A: TrailId = TrailId::from_bytes([0xaa; 16]);
const B: TrailId = TrailId::from_bytes([0xbb; 16]);

fn signer() -> WitnessSigner {
    WitnessSigner::from_seed(&[0x77; 32])
}

fn somebody() -> Principal {
    Principal { issuer: "issuer.example".to_owned(), subject: "somebody".to_owned() }
}

fn checkpoint(trail: TrailId, sequence: u64, record: &str) -> AuditCheckpoint {
    AuditCheckpoint::new(trail, sequence, Digest::of(record.as_bytes())).unwrap()
}

fn submission(trail: TrailId, sequence: u64, record: &str) -> Submission {
    let line = checkpoint(trail, sequence, record).to_line() + "\n";
    Submission::read(line.as_bytes()).unwrap()
}

fn statement(answer: Result<Answer, Refusal>) -> Statement {
    match answer {
        Ok(Answer::Statement(line)) => Statement::read(line.strip_suffix(b"\n").unwrap()).unwrap(),
        other => panic!("{other:?}"),
    }
}

/// Reads a trail from its first statement, and holds it to the rules and to its head.
fn read_chain(witness: &CheckpointWitness, trail: TrailId) -> Vec<Statement> {
    let mut chain = Chain::new();
    let mut all = Vec::new();
    loop {
        let page = witness.page(trail, chain.len(), 2).unwrap().unwrap();
        if page.lines.is_empty() {
            break;
        }
        for line in page.lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let read = Statement::read(line).unwrap();
            assert_eq!(read.to_line().as_bytes(), line);
            chain.push(&read.verify(witness.key()).unwrap()).unwrap();
            all.push(read);
        }
    }
    let head = witness.head(trail).unwrap().unwrap();
    assert_eq!(head, (all.last().unwrap().to_line() + "\n").into_bytes());
    all
}
