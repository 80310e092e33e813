//! A witness at work: who may submit what, and a disk that fails.

use std::io;
use std::sync::Arc;
use std::thread;

use anchorlog_client::durable::{DurableError, Operation};
use anchorlog_proto::jp::witness::StatementKind;

use super::*;
use crate::checkpoint_witness::Activity;
use crate::checkpoint_witness::disk::Tape;

/// A tape that fails at one step.
struct Failing {
    inner: Box<dyn Tape>,
    at: &'static str,
    /// Bytes that are written before an append fails.
    torn: usize,
    kind: io::ErrorKind,
}

impl Failing {
    fn fail(&self, step: &'static str) -> Result<(), DurableError> {
        if step != self.at {
            return Ok(());
        }
        let operation = if step == "sync" { Operation::Sync } else { Operation::Write };
        Err(DurableError::new("injected".as_ref(), operation, self.kind.into()))
    }
}

impl Tape for Failing {
    fn reserve(&mut self, bytes: u64) -> Result<(), DurableError> {
        self.fail("reserve")?;
        self.inner.reserve(bytes)
    }

    fn append(&mut self, bytes: &[u8]) -> Result<u64, DurableError> {
        if self.at == "append" {
            self.inner.append(&bytes[..self.torn]).unwrap();
        }
        self.fail("append")?;
        self.inner.append(bytes)
    }

    fn sync(&mut self) -> Result<(), DurableError> {
        self.fail("sync")?;
        self.inner.sync()
    }
}

/// Puts a failing tape in the place of one.
fn fail(tape: &mut Box<dyn Tape>, at: &'static str, torn: usize, kind: io::ErrorKind) {
    struct Gone;
    impl Tape for Gone {
        fn reserve(&mut self, _: u64) -> Result<(), DurableError> {
            Ok(())
        }
        fn append(&mut self, _: &[u8]) -> Result<u64, DurableError> {
            Ok(0)
        }
        fn sync(&mut self) -> Result<(), DurableError> {
            Ok(())
        }
    }
    let inner = std::mem::replace(tape, Box::new(Gone));
    *tape = Box::new(Failing { inner, at, torn, kind });
}

#[test]
fn a_failure_stops_all_trails_and_a_restart_is_sound() {
    for (on_marks, at, torn, outcome) in [
        (false, "append", 0, Outcome::Start),
        (false, "append", 100, Outcome::SetAside),
        (false, "sync", 0, Outcome::MarkCompleted),
        (true, "append", 0, Outcome::MarkCompleted),
        (true, "append", 30, Outcome::NewKey),
        (true, "sync", 0, Outcome::Start),
    ] {
        let place = Place::filled();
        let mut witness = place.open().unwrap();
        witness.with_writer(|writer| {
            let tape = if on_marks { &mut writer.marks } else { &mut writer.statements };
            fail(tape, at, torn, io::ErrorKind::Other);
        });
        let before = [read_chain(&witness, A), read_chain(&witness, B)];
        let refused = witness.submit(&somebody(), &submission(A, 30, "e"));
        assert_eq!(refused, Err(Refusal::Stopped), "{on_marks} {at} {torn}");
        // No trail gets another statement, and what is served is what was.
        for trail in [A, B, TrailId::from_bytes([1; 16])] {
            let refused = witness.submit(&somebody(), &submission(trail, 40, "f"));
            assert_eq!(refused, Err(Refusal::Stopped));
        }
        assert!(witness.retire(A).is_err());
        assert_eq!(witness.activity(), Activity::Stopped);
        assert_eq!([read_chain(&witness, A), read_chain(&witness, B)], before);
        // What is held needs no signature.
        statement(witness.submit(&somebody(), &submission(A, 10, "a")));
        drop(witness);

        assert_eq!(place.outcome().0, outcome, "{on_marks} {at} {torn}");
        if outcome == Outcome::NewKey {
            assert_eq!(place.repair().outcome, Outcome::NewKey);
            continue;
        }
        assert_eq!(place.repair().outcome, Outcome::Start);
        let witness = place.open().unwrap();
        // The statement may have been kept; if so it is the one that the checkpoint gets now.
        let again = statement(witness.submit(&somebody(), &submission(A, 30, "e")));
        assert_eq!(again.body().index, 3);
        let chain = read_chain(&witness, A);
        assert_eq!((&chain[..3], chain[3]), (&before[0][..], again));
        assert_eq!(read_chain(&witness, B), before[1]);
    }
}

#[test]
fn a_registration_that_may_not_be_kept_stops_before_anything_is_signed() {
    let place = Place::filled();
    let mut witness = place.open().unwrap();
    witness.with_writer(|writer| fail(&mut writer.registrations, "sync", 0, io::ErrorKind::Other));
    let new = TrailId::from_bytes([1; 16]);
    let refused = witness.submit(&somebody(), &submission(new, 1, "x"));
    assert_eq!(refused, Err(Refusal::Stopped));
    drop(witness);
    let witness = place.open().unwrap();
    assert_eq!(witness.head(new).unwrap(), None, "a registration at most");
    statement(witness.submit(&somebody(), &submission(new, 1, "x")));
}

#[test]
fn a_full_disk_shows_before_anything_is_signed() {
    let place = Place::filled();
    let mut witness = place.open().unwrap();
    let full = io::ErrorKind::StorageFull;
    witness.with_writer(|writer| fail(&mut writer.marks, "reserve", 0, full));
    let submission = submission(A, 30, "e");
    assert_eq!(witness.submit(&somebody(), &submission), Err(Refusal::OutOfSpace));
    assert_eq!(witness.activity(), Activity::Signing, "and nothing is stopped by it");
    drop(witness);
    let witness = place.open().unwrap();
    assert_eq!(statement(witness.submit(&somebody(), &submission)).body().index, 3);
}

#[test]
fn answers_come_from_what_is_held() {
    let place = Place::filled();
    let witness = place.open().unwrap();
    let submit =
        |trail, sequence, record| witness.submit(&somebody(), &submission(trail, sequence, record));
    let chain = read_chain(&witness, A);
    let kinds: Vec<_> = chain.iter().map(|statement| statement.body().kind).collect();
    let kind = StatementKind::Checkpoint;
    assert_eq!(kinds, [kind, kind, StatementKind::Conflict]);
    assert_eq!(statement(submit(A, 10, "a")), chain[0]);
    let conflict = [chain[1].to_line(), chain[2].to_line()];
    for record in ["other", "a third"] {
        let answer = submit(A, 20, record).unwrap();
        let expected = Disagreement::Conflict(conflict.clone());
        assert_eq!(answer, Answer::Disagreement(expected), "the first offer is the evidence");
    }
    let below = submit(A, 15, "x").unwrap();
    assert_eq!(below, Answer::Disagreement(Disagreement::BelowHead(chain[2].to_line())));
    let first = submit(A, 10, "z").unwrap();
    let Answer::Disagreement(Disagreement::Conflict([held, fresh])) = first else {
        panic!("{first:?}")
    };
    assert_eq!(held, chain[0].to_line());
    assert_eq!(Statement::read(fresh.as_bytes()).unwrap().body().index, 3);

    let (retirement, before) = witness.retire(A).unwrap();
    assert!(!before);
    assert_eq!(witness.retire(A).unwrap(), (retirement.clone(), true));
    let text = String::from_utf8(retirement).unwrap().trim_end().to_owned();
    let retired = Answer::Disagreement(Disagreement::Retired(text));
    assert_eq!(submit(A, 10, "a").unwrap(), retired);
    assert_eq!(submit(A, 99, "z").unwrap(), retired);
    let nothing = witness.retire(TrailId::from_bytes([1; 16]));
    assert!(matches!(nothing, Err(CheckpointWitnessError::NothingToRetire { .. })));
    let chain = read_chain(&witness, A);
    assert_eq!(chain.len(), 5);
    drop(witness);
    let witness = place.open().unwrap();
    assert_eq!(read_chain(&witness, A), chain, "the same after a restart");
}

#[test]
fn pages_are_settled_when_nothing_can_be_added_to_them() {
    let place = Place::filled();
    let witness = place.open().unwrap();
    let page = |from, limit| witness.page(A, from, limit).unwrap().unwrap();
    for (from, limit, lines, is_settled) in
        [(0, 2, 2, true), (0, 3, 3, true), (0, 4, 3, false), (3, 1, 0, false), (99, 1, 0, false)]
    {
        let page = page(from, limit);
        let counted = page.lines.split_inclusive(|byte| *byte == b'\n').count();
        assert_eq!((counted, page.is_settled), (lines, is_settled), "{from} {limit}");
    }
    assert_eq!(witness.page(TrailId::from_bytes([1; 16]), 0, 1).unwrap(), None);
    witness.retire(A).unwrap();
    assert!(witness.page(A, 0, 1000).unwrap().unwrap().is_settled);
    assert!(!witness.page(A, 4, 1000).unwrap().unwrap().is_settled);
}

#[test]
fn time_never_goes_back_in_a_chain() {
    let mut place = Place::filled();
    place.seconds -= 1000;
    let witness = place.open().unwrap();
    statement(witness.submit(&somebody(), &submission(A, 30, "e")));
    let times: Vec<_> =
        read_chain(&witness, A).iter().map(|statement| statement.body().witnessed_at).collect();
    assert!(times.is_sorted() && times.len() == 4);
}

#[test]
fn trails_have_owners() {
    let place = Place::new();
    let witness = place.open_with(|options| options.registration = RegistrationMode::Operator);
    let witness = witness.unwrap();
    let other = Principal { subject: "other".to_owned(), ..somebody() };
    let first = submission(A, 1, "a");
    assert_eq!(witness.submit(&somebody(), &first), Err(Refusal::Unregistered));
    let registration = |principal: &Principal| {
        Registration::new(A, &principal.issuer, &principal.subject).unwrap()
    };
    assert!(witness.register(registration(&somebody())).unwrap());
    assert!(!witness.register(registration(&somebody())).unwrap());
    statement(witness.submit(&somebody(), &first));
    assert_eq!(witness.submit(&other, &first), Err(Refusal::RegisteredToAnother));
    assert!(witness.register(registration(&other)).unwrap());
    statement(witness.submit(&other, &first));
    drop(witness);
    let witness = place.open().unwrap();
    assert_eq!(witness.submit(&somebody(), &first), Err(Refusal::RegisteredToAnother));
    statement(witness.submit(&other, &first));
}

#[test]
fn trails_and_rates_are_bounded() {
    let place = Place::new();
    let other = Principal { subject: "other".to_owned(), ..somebody() };
    let witness = place.open_with(|options| {
        options.trails_per_submitter = 2;
        options.submissions_per_minute = NonZeroU32::new(3).unwrap();
        options.submitters = Some([somebody(), other.clone()].into());
        options.limits = Limits { trails: 4, statements: 7 };
    });
    let witness = witness.unwrap();
    let trail = |number| TrailId::from_bytes([number; 16]);
    let submit = |who: &Principal, number, sequence| {
        witness.submit(who, &submission(trail(number), sequence, "r"))
    };
    for number in [1, 2] {
        statement(submit(&somebody(), number, 1));
    }
    assert_eq!(submit(&somebody(), 3, 1), Err(Refusal::TooManyTrails { most: 2 }));
    statement(submit(&somebody(), 1, 2));
    for number in [3, 4] {
        statement(submit(&other, number, 1));
    }
    let third = Principal { subject: "third".to_owned(), ..somebody() };
    assert_eq!(submit(&third, 5, 1), Err(Refusal::Full), "no trail more");
    statement(submit(&other, 3, 2));
    statement(submit(&other, 3, 3));
    assert_eq!(submit(&other, 3, 4), Err(Refusal::Full), "no statement more");
    statement(submit(&other, 3, 3));

    for _ in 0..3 {
        witness.admit(&somebody()).unwrap();
    }
    assert!(matches!(witness.admit(&somebody()), Err(Refusal::RateLimited { .. })));
    witness.admit(&other).unwrap();
    assert_eq!(witness.admit(&third), Err(Refusal::NotASubmitter));
    drop(witness);
    let small = Limits { trails: 4, statements: 6 };
    let refused = place.open_with(|options| options.limits = small);
    assert!(matches!(refused, Err(CheckpointWitnessError::Refused { .. })));
}

#[test]
fn one_process_has_the_files() {
    let place = Place::filled();
    let witness = place.open().unwrap();
    assert!(matches!(place.open(), Err(CheckpointWitnessError::Lock(_))));
    let repaired = repair(&place.paths(), &signer().key(), Limits::DEFAULT);
    assert!(matches!(repaired, Err(CheckpointWitnessError::Lock(_))));
    drop(witness);
    let mut paths = place.paths();
    paths.marks = place.home.path().join("unmounted/marks.jsonl");
    let options = Options {
        registration: RegistrationMode::Operator,
        submitters: None,
        submissions_per_minute: NonZeroU32::MIN,
        trails_per_submitter: 1,
        limits: Limits::DEFAULT,
    };
    let opening = Opening::Sign(signer());
    let opened =
        CheckpointWitness::open(paths, opening, options.clone(), Clock::system(), Metrics::new());
    assert!(matches!(opened, Err(CheckpointWitnessError::NoMarksDirectory { .. })));
    // To be read it needs no private key, and signs nothing.
    let opening = Opening::Read(signer().key());
    let reading =
        CheckpointWitness::open(place.paths(), opening, options, Clock::system(), Metrics::new());
    let reading = reading.unwrap();
    assert_eq!(read_chain(&reading, A).len(), 3);
    assert_eq!(reading.submit(&somebody(), &submission(A, 30, "e")), Err(Refusal::ReadOnly));
    statement(reading.submit(&somebody(), &submission(A, 10, "a")));
}

#[test]
fn the_key_is_its_own() {
    let home = tempfile::tempdir().unwrap();
    let files =
        KeyFiles { private: home.path().join("key.pem"), public: home.path().join("key.pub") };
    assert!(matches!(files.signer(&[], false), Err(CheckpointWitnessError::KeyMissing { .. })));
    let (made, _) = files.signer(&[], true).unwrap();
    assert_eq!(files.public_key().unwrap(), made.key());
    let log_keys = [*made.key().as_bytes()];
    let refused = files.signer(&log_keys, true);
    assert!(matches!(refused, Err(CheckpointWitnessError::LogKey { .. })));
    fs::remove_file(&files.private).unwrap();
    let refused = files.signer(&[], true);
    assert!(matches!(refused, Err(CheckpointWitnessError::KeyMissing { .. })), "never made twice");
    crate::keys::LogKey::generate().unwrap().write_new(&files.private).unwrap();
    let refused = files.signer(&[], true);
    assert!(matches!(refused, Err(CheckpointWitnessError::OtherKey { .. })));
}

#[test]
fn submissions_at_once_make_one_chain_each() {
    let place = Place::new();
    let witness = Arc::new(place.open().unwrap());
    let threads: Vec<_> = (0..8_u8)
        .map(|number| {
            let witness = Arc::clone(&witness);
            thread::spawn(move || {
                let trail = if number % 2 == 0 { A } else { B };
                for sequence in 1..20 {
                    let record = format!("{}", number % 3);
                    let answer = witness.submit(&somebody(), &submission(trail, sequence, &record));
                    answer.unwrap();
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let chains = [A, B].map(|trail| read_chain(&witness, trail));
    drop(witness);
    let witness = place.open().unwrap();
    assert_eq!([A, B].map(|trail| read_chain(&witness, trail)), chains);
}
