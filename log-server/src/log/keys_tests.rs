//! Changing a log's key, and ending a log: what is written under one set of keys is opened under the next.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and changes files on purpose"
)]

use std::fs;
use std::path::Path;

use anchorlog_proto::checkpoint::Checkpoint;
use anchorlog_proto::note::{KeyName, NoteSigner};

use super::tests::{entry, options, ready, run};
use super::*;
use crate::frozen::{self, Frozen};
use crate::fsck::{self, Note};
use crate::index::Engine;

fn signer(seed: u8) -> NoteSigner {
    NoteSigner::from_seed(KeyName::new("log.example").unwrap(), [seed; 32])
}

fn vkey(seed: u8) -> VerifierKey {
    signer(seed).verifier_key().clone()
}

/// Signs with `current`, the primary key first, and has signed with `retired`.
fn keys(current: &[u8], retired: &[u8]) -> LogKeys {
    let mut signers = current.iter().map(|seed| signer(*seed));
    let primary = signers.next().unwrap();
    LogKeys::new(primary, signers.collect(), retired.iter().map(|seed| vkey(*seed)).collect())
        .unwrap()
}

fn open(directory: &Path, keys: LogKeys) -> Result<(Log, Running), Error> {
    Log::open(directory, keys, &options(), Metrics::new())
}

fn check(directory: &Path, keys: &LogKeys) -> fsck::Report {
    let memory = index::DEFAULT_MEMORY;
    fsck::check_directory(directory, &keys.known(), Engine::Redb, memory, |_, _| {}).unwrap()
}

/// Who has signed what is published, in the order of the lines.
fn signed_by(log: &Log) -> Vec<u8> {
    let snapshot = log.snapshot();
    let lines = snapshot.checkpoint().note().signatures();
    let who = |id| (0..10).find(|seed| vkey(*seed).key_id() == id).unwrap();
    lines.iter().map(|line| who(line.key_id())).collect()
}

async fn submit(log: &Log, numbers: std::ops::Range<u64>) {
    ready(log).await;
    for number in numbers {
        let committed = log.submit(vec![entry(number)]).await.unwrap();
        let place = &committed.places[0];
        assert_eq!((place.index, place.duplicate), (number, false));
        let receipt = log.receipt_of(&committed, place, entry(number)).unwrap();
        for key in log.keys().current() {
            receipt.proof.checkpoint().verify(key).unwrap();
        }
    }
}

#[test]
fn a_key_is_changed_step_by_step_and_nothing_is_lost() {
    let directory = tempfile::tempdir().unwrap();
    let steps = [
        (keys(&[1], &[]), vec![1]),
        (keys(&[1, 2], &[]), vec![1, 2]),
        (keys(&[2, 1], &[]), vec![2, 1]),
        (keys(&[2], &[1]), vec![2]),
    ];
    for (step, (keys, lines)) in (0_u64..).zip(&steps) {
        // Once without anything written under these keys, and once more.
        for more in [false, true] {
            let (log, running) = open(directory.path(), keys.clone()).unwrap();
            assert_eq!(signed_by(&log), *lines, "step {step}");
            assert_eq!(log.key(), &vkey(lines[0]));
            if more {
                run(submit(&log, step * 10..step * 10 + 10));
                assert_eq!(signed_by(&log), *lines);
            }
            assert_eq!(log.snapshot().size().get(), step * 10 + if more { 10 } else { 0 });
            running.shut_down().unwrap();
            let report = check(directory.path(), keys);
            assert!(report.is_clean(), "step {step}: {:?}", report.problems);
        }
        let to = tempfile::tempdir().unwrap();
        crate::export::export(directory.path(), &keys.known(), to.path()).unwrap();
        let mut source = fsck::DirectorySource::new(to.path().to_path_buf());
        let report = fsck::check_tiles(&mut source, &keys.known(), true, |_, _| {});
        assert!(report.is_clean(), "step {step}: {:?}", report.problems);
    }
}

#[test]
fn a_key_that_was_never_published_beside_the_old_one_needs_it_to_be_known() {
    let directory = tempfile::tempdir().unwrap();
    let (log, running) = open(directory.path(), keys(&[1], &[])).unwrap();
    run(submit(&log, 0..3));
    running.shut_down().unwrap();
    let Err(error) = open(directory.path(), keys(&[2], &[])) else { panic!("opened") };
    assert!(matches!(error, Error::ForeignLog { .. }), "{error}");
    assert!(error.to_string().contains("log.retired_keys"), "{error}");
    let (log, running) = open(directory.path(), keys(&[2], &[1])).unwrap();
    assert_eq!(signed_by(&log), [2]);
    running.shut_down().unwrap();
}

#[test]
fn a_stamp_covers_the_line_of_the_primary_key_alone() {
    let directory = tempfile::tempdir().unwrap();
    let (log, running) = open(directory.path(), keys(&[1, 2], &[])).unwrap();
    run(submit(&log, 0..1));
    let snapshot = log.snapshot();
    let alone = LogKeys::from(signer(1)).sign(snapshot.checkpoint().checkpoint()).unwrap();
    assert_eq!(log.note_to_stamp(&snapshot).unwrap(), alone.to_bytes());
    running.shut_down().unwrap();
}

#[test]
fn a_frozen_log_is_served_for_ever_and_takes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let (log, running) = open(path, keys(&[1, 2], &[3])).unwrap();
    run(submit(&log, 0..20));
    let waiting: Vec<_> = (20..25).map(|number| log.0.pool.submit(vec![entry(number)])).collect();
    let last = run(log.freeze()).unwrap();
    // What had been accepted is in it.
    assert_eq!(last.size().get(), 25);
    for answer in waiting {
        run(async { answer.unwrap().await.unwrap().unwrap() });
    }
    assert_eq!(log.standing(), Standing::Frozen);
    assert_eq!(run(log.submit(vec![entry(99)])).unwrap_err(), SubmitError::Frozen);
    assert_eq!(run(log.freeze()).unwrap().note(), last.note(), "again, it changes nothing");
    log.close();
    assert_eq!(run(log.submit(vec![entry(99)])).unwrap_err(), SubmitError::Frozen);
    running.shut_down().unwrap();

    // Without any private key, and under whatever is configured by now.
    let kept = Frozen::read(path).unwrap().unwrap();
    for keys in [kept.keys().clone(), keys(&[1], &[]), keys(&[9], &[2])] {
        let (log, running) = open(path, keys).unwrap();
        run(ready(&log));
        assert_eq!(log.standing(), Standing::Frozen);
        assert_eq!(log.snapshot().note(), last.note());
        assert_eq!(log.key(), &vkey(1));
        assert_eq!(run(log.submit(vec![entry(1)])).unwrap_err(), SubmitError::Frozen);
        let receipt = log.receipt(7).unwrap().unwrap();
        receipt.proof.checkpoint().verify(&vkey(2)).unwrap();
        assert_eq!(run(log.freeze()).unwrap().note(), last.note());
        running.shut_down().unwrap();
    }
    let Err(error) = open(path, keys(&[9], &[])) else { panic!("opened") };
    assert!(matches!(error, Error::ForeignLog { .. }), "{error}");
    let report = check(path, kept.keys());
    assert!(report.is_clean() && report.notes.contains(&Note::Frozen), "{report:?}");
    let to = tempfile::tempdir().unwrap();
    crate::export::export(path, &kept.keys().known(), to.path()).unwrap();
    assert_eq!(fs::read(to.path().join("checkpoint")).unwrap(), last.note());
}

#[test]
fn a_crash_on_the_way_leaves_a_log_that_goes_on_or_has_ended() {
    // Before the file has its name, the log goes on.
    let directory = tempfile::tempdir().unwrap();
    let (log, running) = open(directory.path(), keys(&[1], &[])).unwrap();
    run(submit(&log, 0..3));
    running.shut_down().unwrap();
    fs::write(directory.path().join(".FROZEN.tmp-1-1"), b"{\"checkpo").unwrap();
    let (log, running) = open(directory.path(), keys(&[1], &[])).unwrap();
    assert_eq!(log.standing(), Standing::Open);
    run(submit(&log, 3..5));
    let snapshot = log.snapshot();
    running.shut_down().unwrap();
    // As soon as it has, the log has ended, though nobody was told.
    let frozen = Frozen::new(&keys(&[1], &[]), snapshot.checkpoint().clone());
    frozen.write(directory.path()).unwrap();
    let (log, running) = open(directory.path(), keys(&[1], &[])).unwrap();
    assert_eq!((log.standing(), log.snapshot().size().get()), (Standing::Frozen, 5));
    running.shut_down().unwrap();
}

#[test]
fn a_frozen_log_that_is_not_what_it_ended_with_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (log, running) = open(directory.path(), keys(&[1], &[])).unwrap();
    run(submit(&log, 0..3));
    let size = log.snapshot().size();
    running.shut_down().unwrap();
    let origin = Origin::new("log.example").unwrap();
    let other = Checkpoint::new(origin, size, Digest::of(b"another root"));
    let other = keys(&[1], &[]).sign(&other).unwrap();
    Frozen::new(&keys(&[1], &[]), other).write(directory.path()).unwrap();
    let Err(error) = open(directory.path(), keys(&[1], &[])) else { panic!("opened") };
    assert!(matches!(error, Error::FrozenDiffers { size: 3 }), "{error}");
    let report = check(directory.path(), &keys(&[1], &[]));
    let codes: Vec<_> = report.problems.iter().map(|problem| problem.fault.code()).collect();
    assert_eq!(codes, ["FSCK.FROZEN"]);
    // A file that isn't whole keeps the log from starting too: it may have ended.
    fs::write(directory.path().join(frozen::FILE), b"{}").unwrap();
    let Err(error) = open(directory.path(), keys(&[1], &[])) else { panic!("opened") };
    assert!(matches!(error, Error::Frozen(_)), "{error}");
    assert!(!check(directory.path(), &keys(&[1], &[])).is_clean());
}

#[test]
fn opened_to_be_read_a_log_signs_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let reading = LogOptions { read_only: true, ..options() };
    let read = |keys| Log::open(directory.path(), keys, &reading, Metrics::new());
    assert!(matches!(read(keys(&[1], &[])), Err(Error::JournalMissing)), "nothing is founded");
    let (log, running) = open(directory.path(), keys(&[1], &[])).unwrap();
    run(submit(&log, 0..3));
    running.shut_down().unwrap();
    let (log, running) = read(keys(&[2, 1], &[])).unwrap();
    run(ready(&log));
    assert_eq!((log.standing(), signed_by(&log)), (Standing::ReadOnly, vec![1]));
    assert_eq!(run(log.submit(vec![entry(9)])).unwrap_err(), SubmitError::ReadOnly);
    assert_eq!(run(log.freeze()).unwrap_err(), SubmitError::ReadOnly);
    assert_eq!(log.receipt(2).unwrap().unwrap().index, 2);
    running.shut_down().unwrap();
    assert!(Frozen::read(directory.path()).unwrap().is_none());
    // Without private keys nothing else can be done with it.
    let public = keys(&[1], &[]).without_signers();
    assert!(matches!(open(directory.path(), public), Err(Error::NoSigner)));
}

#[test]
fn nothing_is_signed_when_somebody_knows_more() {
    let directory = tempfile::tempdir().unwrap();
    let (log, running) = open(directory.path(), keys(&[1], &[])).unwrap();
    run(submit(&log, 0..3));
    let three = log.snapshot();
    run(submit(&log, 3..5));
    let five = log.snapshot();
    running.shut_down().unwrap();
    let known = |snapshot: &Snapshot| Known {
        source: "a mirror".to_owned(),
        checkpoint: snapshot.checkpoint().verify(&vkey(1)).unwrap(),
    };
    let guarded = |directory: &Path, known: Vec<Known>| {
        let guard = move |_: &LogKeys, _: Option<&SignedCheckpoint>| Ok(known);
        Log::open_guarded(directory, keys(&[1], &[]), &options(), Metrics::new(), guard)
    };
    let (_, running) = guarded(directory.path(), vec![known(&three), known(&five)]).unwrap();
    running.shut_down().unwrap();
    // An empty disk is an old copy like any other, and no log is founded on it.
    let empty = tempfile::tempdir().unwrap();
    let Err(Error::Guard(error)) = guarded(empty.path(), vec![known(&three)]) else {
        panic!("founded")
    };
    assert_eq!(error.code(), "LOG.ROLLBACK", "{error}");
    let (log, running) = open(empty.path(), keys(&[1], &[])).unwrap();
    assert_eq!(log.snapshot().size().get(), 0, "nothing was left behind that would keep it");
    // And another history is one, however long it is.
    run(async {
        ready(&log).await;
        for number in 10..20 {
            log.submit(vec![entry(number)]).await.unwrap();
        }
    });
    running.shut_down().unwrap();
    let Err(Error::Guard(error)) = guarded(empty.path(), vec![known(&five)]) else {
        panic!("opened")
    };
    assert_eq!(error.code(), "LOG.SPLIT_VIEW", "{error}");
}
