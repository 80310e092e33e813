//! What a crash leaves is no problem, and what no crash leaves is one.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and damages files on purpose"
)]

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use anchorlog_proto::Digest;
use anchorlog_proto::cosignature::CosignerKey;
use anchorlog_proto::note::{KeyName, NoteSignature, NoteSigner};
use anchorlog_proto::statement::{LogEntry, Statement, StatementKind};
use tempfile::TempDir;

use super::*;
use crate::checkpoints::Cosignatures;
use crate::index::{DEFAULT_MEMORY, Engine};
use crate::log::{Log, LogOptions};
use crate::metrics::Metrics;
use crate::storage::wal::WalOptions;

const ENTRIES: u64 = 600;

fn signer() -> NoteSigner {
    NoteSigner::from_seed(KeyName::new("log.example/fsck").unwrap(), [3; 32])
}

fn options() -> LogOptions {
    let wal = WalOptions { segment_bytes: 256 << 10 };
    LogOptions { engine: Engine::Redb, min_free_bytes: 0, wal, ..LogOptions::default() }
}

/// A stopped log without an index.
fn stopped() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let (log, running) = Log::open(directory.path(), signer(), &options(), Metrics::new()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        while !log.is_ready() {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
        for first in (0..ENTRIES).step_by(100) {
            let entry = |number: u64| {
                let digest = Digest::of(&number.to_be_bytes());
                LogEntry::unsigned(Statement::new(StatementKind::Digest, digest)).unwrap()
            };
            log.submit((first..first + 100).map(entry).collect()).await.unwrap();
        }
    });
    running.shut_down().unwrap();
    fs::remove_dir_all(directory.path().join("index")).unwrap();
    directory
}

fn check(directory: &Path) -> Report {
    let key = signer().verifier_key().clone();
    check_directory(directory, std::slice::from_ref(&key), Engine::Redb, DEFAULT_MEMORY, |_, _| {})
        .unwrap()
}

fn wal(directory: &TempDir) -> PathBuf {
    directory.path().join("wal").join(format!("{:020}.wal", 0))
}

/// Where the last record of the journal ends.
fn end_of_records(directory: &TempDir) -> u64 {
    let bytes = fs::read(wal(directory)).unwrap();
    let last = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    u64::try_from(last + 1).unwrap()
}

fn write_at(directory: &TempDir, offset: u64, bytes: &[u8]) {
    File::options().write(true).open(wal(directory)).unwrap().write_all_at(bytes, offset).unwrap();
}

#[test]
fn files_that_a_crash_left_behind_the_journal_are_no_problem() {
    let directory = stopped();
    assert_eq!(check(directory.path()).notes, [Note::NoIndex]);
    // In the order of writing: the entries are there and the rest is not, and so on; the loss of power
    // may also take the entries alone.
    for (file, cut) in [
        ("level1", 32),
        ("level0", 32 * 100),
        ("bundles", 8),
        ("entries", 1),
        ("entries", 150 * 200),
    ] {
        let path = directory.path().join("log").join(file).join(format!("{:010}", 0));
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(file.metadata().unwrap().len() - cut).unwrap();
        let report = check(directory.path());
        assert!(report.is_clean(), "{}: {:?}", path.display(), report.problems);
        assert!(
            report.notes.iter().any(|note| matches!(note, Note::NotStoredYet { .. })),
            "{}: {report:?}",
            path.display()
        );
    }
    let (log, running) = Log::open(directory.path(), signer(), &options(), Metrics::new()).unwrap();
    assert_eq!(log.snapshot().size().get(), ENTRIES);
    running.shut_down().unwrap();
    let report = check(directory.path());
    assert!(report.is_clean(), "{:?}", report.problems);
    assert_eq!(report.entries, ENTRIES);
}

#[test]
fn a_torn_record_is_a_note_wherever_the_disk_began_with_it() {
    let directory = stopped();
    let end = end_of_records(&directory);
    // From its own start, and from the next sector on.
    for offset in [end, end.next_multiple_of(512)] {
        write_at(&directory, offset, b"torn");
        let report = check(directory.path());
        assert!(report.is_clean(), "{:?}", report.problems);
        let torn = |note: &Note| matches!(note, Note::TornRecord { .. });
        assert!(report.notes.iter().any(torn), "{:?}", report.notes);
        write_at(&directory, offset, &[0; 4]);
    }
}

#[test]
fn bytes_that_no_record_left_are_named() {
    let directory = stopped();
    let offset = end_of_records(&directory).next_multiple_of(512) + 100;
    write_at(&directory, offset, b"x");
    let report = check(directory.path());
    let defect = Defect::BytesAfterEnd;
    let problem = report.problems.first().unwrap();
    assert_eq!(problem.fault, Fault::Damaged { offset, defect });
    assert_eq!(problem.file, format!("wal/{:020}.wal", 0));
}

#[test]
fn an_entry_and_its_hash_are_told_apart() {
    // In a full tile, and in the last one.
    for number in [7, ENTRIES - 7] {
        let directory = stopped();
        let folder = directory.path().join("log");
        let entries = folder.join("entries").join(format!("{:010}", 0));
        let hashes = folder.join("level0").join(format!("{:010}", 0));
        let length = fs::metadata(&entries).unwrap().len() / ENTRIES;
        // A digit of the digest: what results is a statement, only not this one.
        let digit = length * number + 40;
        for (path, offset, fault) in
            [(&entries, digit, Fault::Leaf), (&hashes, 32 * number, Fault::Hash)]
        {
            let original = fs::read(path).unwrap();
            let mut damaged = original.clone();
            let byte = damaged.get_mut(usize::try_from(offset).unwrap()).unwrap();
            *byte = if *byte == b'1' { b'2' } else { b'1' };
            fs::write(path, damaged).unwrap();
            let report = check(directory.path());
            let problem = report.problems.first().unwrap();
            assert_eq!((&problem.fault, problem.index), (&fault, Some(number)));
            assert!(path.ends_with(&problem.file), "{problem}");
            fs::write(path, original).unwrap();
        }
    }
}

#[test]
fn every_line_of_a_witness_is_verified_again() {
    let directory = stopped();
    let witness = |name: &str| CosignerKey::from_seed(KeyName::new(name).unwrap(), [3; 32]);
    let key = witness("a").verifier_key().clone();
    let (log, running) = Log::open(directory.path(), signer(), &options(), Metrics::new()).unwrap();
    let snapshot = log.snapshot();
    let (size, note) = (snapshot.size().get(), log.note_to_stamp(&snapshot).unwrap());
    let text = snapshot.checkpoint().note().text().to_owned();
    let good = witness("a").cosign(&text, 1_800_000_000).unwrap();
    let store = |lines: Vec<NoteSignature>, note: &[u8]| {
        let cosigned = Cosignatures { size, note: note.to_vec(), received: 0, lines };
        log.store_cosignatures(&cosigned, std::slice::from_ref(&key)).unwrap();
    };
    store(vec![good.clone()], &note);
    running.shut_down().unwrap();
    let report = check(directory.path());
    assert_eq!((report.problem_count, report.cosignatures), (0, 1), "{report:?}");

    // Lines that nobody should have stored.
    let other =
        witness("a").cosign("log.example\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n", 1);
    store(vec![other.unwrap()], &note);
    store(vec![witness("b").cosign(&text, 1).unwrap()], &note);
    let with_line = [note.as_slice(), format!("{good}\n").as_bytes()].concat();
    store(vec![good], &with_line);
    drop(log);
    let report = check(directory.path());
    let codes: Vec<_> = report.problems.iter().map(|problem| problem.fault.code()).collect();
    assert_eq!(codes, ["FSCK.COSIGNATURE", "FSCK.COSIGNATURE", "FSCK.TOKEN"], "{report:?}");
    assert_eq!(report.cosignatures, 4);
}
