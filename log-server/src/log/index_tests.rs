//! What the log makes of its index: duplicates are told from new entries whatever happens to it.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and damages files on purpose"
)]

use std::fs;
use std::path::Path;

use super::tests::{check, entry, open, options, ready, run, signer, submit_all};
use super::*;
use crate::fsck::{self, Fault};
use crate::index::Engine;

const COUNT: u64 = 30_000;

fn fjall() -> LogOptions {
    // The least memory, so that rows come into files.
    LogOptions { engine: Engine::Fjall, index_memory: index::MIN_MEMORY, ..options() }
}

/// The answer to submitting entries `range` at once, as soon as there is one.
async fn places(log: &Log, range: std::ops::Range<u64>) -> Vec<(u64, bool)> {
    let started = std::time::Instant::now();
    loop {
        assert!(started.elapsed().as_secs() < 60, "the index does not come back");
        match log.submit(range.clone().map(entry).collect()).await {
            Ok(committed) => {
                return committed.places.iter().map(|p| (p.index, p.duplicate)).collect();
            }
            Err(SubmitError::IndexNotReady | SubmitError::Overloaded) => {
                tokio::time::sleep(std::time::Duration::from_millis(2)).await;
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Whether every entry below `size` is found where it is.
async fn all_are_duplicates(log: &Log, size: u64) {
    for first in (0..size).step_by(1_000) {
        let last = size.min(first + 1_000);
        let expected: Vec<_> = (first..last).map(|index| (index, true)).collect();
        assert_eq!(places(log, first..last).await, expected);
    }
    assert_eq!(log.snapshot().size().get(), size);
}

/// New entries and known ones in one submission, over restarts, with the filter read and not, with an index
/// that is whole and with one that was lost.
#[test]
fn no_entry_comes_in_twice_however_the_log_is_started() {
    let directory = tempfile::tempdir().unwrap();
    for (round, filter_memory) in [1 << 20, 0, 1 << 20, 500, 1 << 20].into_iter().enumerate() {
        let size = 700 * u64::try_from(round).unwrap();
        let options = LogOptions { filter_memory, ..options() };
        let (log, running) =
            Log::open(directory.path(), signer(), &options, Metrics::new()).unwrap();
        run(async {
            // At once: the index is being opened, and so the filter is being filled.
            let mixed = places(&log, size.saturating_sub(300)..size + 300).await;
            let known = usize::try_from(size.min(300)).unwrap();
            assert!(mixed[..known].iter().all(|(_, duplicate)| *duplicate));
            assert!(mixed[known..].iter().all(|(_, duplicate)| !*duplicate));
            assert_eq!(
                places(&log, size..size + 700).await[299..301],
                [(size + 299, true), (size + 300, false)]
            );
            all_are_duplicates(&log, size + 700).await;
        });
        running.shut_down().unwrap();
        if round % 2 == 1 {
            fs::remove_dir_all(directory.path().join("index")).unwrap();
        }
    }
    assert!(check(directory.path()).is_clean());
}

/// A stored hash that isn't the one that was signed would make the filter miss a leaf.
#[test]
fn a_damaged_leaf_hash_lets_no_entry_in_twice() {
    let directory = tempfile::tempdir().unwrap();
    let (log, running) = open(directory.path());
    run(async { places(&log, 0..600).await });
    running.shut_down().unwrap();
    let path = directory.path().join("log/level0/0000000000");
    let mut hashes = fs::read(&path).unwrap();
    hashes[5 * 32] ^= 1;
    fs::write(&path, hashes).unwrap();

    let (log, running) = open(directory.path());
    run(async {
        ready(&log).await;
        all_are_duplicates(&log, 600).await;
    });
    running.shut_down().unwrap();
}

/// Damage in the middle of an index that opened well: the look-up that meets it is refused, and the index
/// is made anew without a restart.
#[test]
fn damage_that_a_look_up_meets_is_mended() {
    let directory = tempfile::tempdir().unwrap();
    let open = || Log::open(directory.path(), signer(), &fjall(), Metrics::new()).unwrap();
    let (log, running) = open();
    run(async {
        for first in (0..COUNT).step_by(1_000) {
            places(&log, first..first + 1_000).await;
        }
    });
    running.shut_down().unwrap();

    let (log, running) = open();
    run(ready(&log));
    let damaged = damage_tables(&directory.path().join("index"));
    assert!(damaged > 10, "{damaged}");
    run(async {
        let mut refused = 0;
        for first in (0..COUNT).step_by(1_000) {
            let entries = (first..first + 1_000).map(entry).collect();
            match log.submit(entries).await {
                Ok(committed) => assert!(committed.places.iter().all(|place| place.duplicate)),
                Err(error) => {
                    assert_eq!(error, SubmitError::IndexNotReady);
                    refused += 1;
                }
            }
        }
        assert!(refused > 0);
        all_are_duplicates(&log, COUNT).await;
    });
    running.shut_down().unwrap();
    let key = signer().verifier_key().clone();
    let report = fsck::check_directory(
        directory.path(),
        std::slice::from_ref(&key),
        Engine::Fjall,
        index::MIN_MEMORY,
        |_, _| {},
    );
    let report = report.unwrap();
    assert!(report.is_clean(), "{:?}", report.problems);
}

/// Flips a bit in every 64 KiB of the front half, the rows, of every table file; answers with their number.
fn damage_tables(directory: &Path) -> usize {
    let mut damaged = 0;
    for item in fs::read_dir(directory).unwrap() {
        let path = item.unwrap().path();
        if path.is_dir() {
            damaged += damage_tables(&path);
        } else if path.parent().unwrap().ends_with("tables") {
            let file = fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
            let length = file.metadata().unwrap().len();
            for offset in (2_000..length / 2).step_by(1 << 16) {
                use std::os::unix::fs::FileExt;
                let mut byte = [0];
                file.read_exact_at(&mut byte, offset).unwrap();
                file.write_all_at(&[byte[0] ^ 1], offset).unwrap();
                damaged += 1;
            }
        }
    }
    damaged
}

#[test]
fn an_index_that_differs_from_the_log_is_named_and_made_anew() {
    let directory = tempfile::tempdir().unwrap();
    let (log, running) = open(directory.path());
    run(async {
        ready(&log).await;
        submit_all(&log, 0..20).await;
    });
    running.shut_down().unwrap();
    // The index of another log: right in form, wrong in content.
    let other = tempfile::tempdir().unwrap();
    let (log, running) = open(other.path());
    run(async {
        ready(&log).await;
        log.submit((1_000..1_020).map(entry).collect()).await.unwrap();
    });
    running.shut_down().unwrap();
    fs::remove_dir_all(directory.path().join("index")).unwrap();
    fs::rename(other.path().join("index"), directory.path().join("index")).unwrap();

    let report = check(directory.path());
    let named = |fault: fn(&Fault) -> bool| report.problems.iter().any(|p| fault(&p.fault));
    assert!(named(|fault| matches!(fault, Fault::MissingRow(_))), "{report:?}");
    assert!(named(|fault| matches!(fault, Fault::ForeignRow(_))), "{report:?}");

    let (log, running) = open(directory.path());
    run(async {
        ready(&log).await;
        for number in 0..20 {
            let digest = entry(number).statement().digest;
            assert_eq!(log.lookup(&digest, None, None, 10).unwrap().items.len(), 1);
        }
    });
    running.shut_down().unwrap();
    assert!(check(directory.path()).is_clean());
}

/// Whoever follows a list while entries come in never meets one that can't be read yet.
#[test]
fn what_is_found_is_published() {
    let finder = Finder::new();
    finder.ready(Arc::new(index::MemoryIndex::new()));
    let found = entry(0);
    let trail = found.statement().trail.clone().unwrap();
    let batch = Arc::new(vec![index::IndexedEntry::new(0, &found)]);
    let published = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            while finder.by_trail(&trail, 0, 1).unwrap().items.is_empty() {}
            published.load(Ordering::Acquire)
        });
        finder.hold(batch, || {
            thread::sleep(std::time::Duration::from_millis(50));
            published.store(true, Ordering::Release);
        });
        assert!(reader.join().unwrap());
    });
}
