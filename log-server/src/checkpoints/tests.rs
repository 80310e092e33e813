//! What is stored is found again, over restarts, segments and damage.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and damages files on purpose"
)]

use std::fs;
use std::path::{Path, PathBuf};

use anchorlog_proto::Digest;
use anchorlog_proto::timestamp::GenTime;
use tempfile::TempDir;

use super::*;
use crate::storage::{Defect, StorageError};

const NOW: i64 = 1_000;

/// A token of `operator` over the checkpoint of `size`, good until `expires`.
fn token(size: u64, operator: &str, expires: i64) -> StoredToken {
    StoredToken {
        size,
        note: format!("note of {size}").into_bytes(),
        operator: operator.to_owned(),
        received: NOW,
        expires,
        gen_time: GenTime::from_unix(NOW),
        token: format!("token of {operator} over {size} until {expires}").into_bytes(),
    }
}

fn open(directory: &TempDir) -> CheckpointStore {
    CheckpointStore::open(directory.path(), 1).unwrap()
}

fn file(directory: &TempDir, number: u64) -> PathBuf {
    directory.path().join("checkpoints").join(format!("{number:010}"))
}

fn anchored(store: &CheckpointStore, index: u64) -> Option<u64> {
    store.anchored(index, NOW).unwrap().map(|found| found.size)
}

#[test]
fn nothing_is_made_before_there_is_something_to_keep() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(&directory);
    assert_eq!((store.at(0).unwrap(), anchored(&store, 0)), (None, None));
    assert_eq!(*store.newest().borrow(), None);
    assert!(!directory.path().join("checkpoints").exists());
}

#[test]
fn tokens_are_found_by_size_and_by_what_they_cover() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(&directory);
    for size in [5, 8, 20] {
        store.append(&token(size, "a", 9_999)).unwrap();
    }
    store.append(&token(20, "b", 9_999)).unwrap();
    for store in [store, open(&directory)] {
        assert_eq!(store.at(8).unwrap().unwrap().tokens, [token(8, "a", 9_999)]);
        assert_eq!(store.at(20).unwrap().unwrap().tokens.len(), 2);
        assert_eq!(store.at(7).unwrap(), None);
        for (index, size) in [(0, 5), (4, 5), (5, 8), (7, 8), (8, 20), (19, 20)] {
            assert_eq!(anchored(&store, index), Some(size), "index {index}");
        }
        assert_eq!(anchored(&store, 20), None);
        assert_eq!(
            *store.newest().borrow(),
            Some(Newest { size: 20, good_until: 9_999, stamped: NOW })
        );
        let sizes = |below, limit| -> Vec<u64> {
            store.list(below, limit).unwrap().iter().map(|found| found.size).collect()
        };
        assert_eq!(sizes(u64::MAX, 10), [20, 8, 5]);
        assert_eq!(sizes(20, 1), [8]);
        assert_eq!(store.last_received("b"), Some(NOW));
        assert_eq!(store.last_received("c"), None);
    }
}

#[test]
fn a_smaller_checkpoint_is_refused_and_the_same_token_kept_once() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(&directory);
    store.append(&token(8, "a", 9)).unwrap();
    let length = fs::metadata(file(&directory, 0)).unwrap().len();
    store.append(&token(8, "a", 9)).unwrap();
    let refused = store.append(&token(7, "a", 9));
    assert!(matches!(refused, Err(StorageError::NotTheNext { first_index: 7, size: 8 })));
    let long = StoredToken { operator: "x".repeat(MAX_OPERATOR_BYTES + 1), ..token(9, "", 9) };
    assert!(matches!(store.append(&long), Err(StorageError::OutOfRange)));
    assert_eq!(fs::metadata(file(&directory, 0)).unwrap().len(), length);
}

#[test]
fn a_quorum_is_of_operators_and_not_of_tokens() {
    let directory = tempfile::tempdir().unwrap();
    let store = CheckpointStore::open(directory.path(), 2).unwrap();
    let mut newest = store.newest();
    store.append(&token(5, "a", 2_000)).unwrap();
    store.append(&token(5, "a", 3_000)).unwrap();
    assert_eq!(anchored(&store, 0), None);
    assert!(!newest.has_changed().unwrap());
    store.append(&token(6, "a", 2_000)).unwrap();
    store.append(&token(6, "b", 4_000)).unwrap();
    // The quorum is as good as its worst.
    let expected = Newest { size: 6, good_until: 2_000, stamped: NOW };
    assert_eq!(*newest.borrow_and_update(), Some(expected));
    for store in [store, CheckpointStore::open(directory.path(), 2).unwrap()] {
        // The checkpoint of 5 covers it too, but nobody second has stamped it.
        assert_eq!(anchored(&store, 0), Some(6));
        assert_eq!(*store.newest().borrow(), Some(expected));
    }
    let store = open(&directory);
    assert_eq!(anchored(&store, 0), Some(5));
}

#[test]
fn what_has_run_out_gives_way_to_what_was_renewed() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(&directory);
    store.append(&token(5, "a", NOW - 2)).unwrap();
    // Nothing better: it still says what it said.
    assert_eq!(anchored(&store, 0), Some(5));
    store.append(&token(5, "a", NOW - 1)).unwrap();
    store.append(&token(9, "a", NOW + 5)).unwrap();
    store.append(&token(12, "a", NOW + 9)).unwrap();
    // The earliest that is good; the one before it is not.
    assert_eq!(anchored(&store, 0), Some(9));
    let later = |now| store.anchored(0, now).unwrap().unwrap();
    assert_eq!(later(NOW + 6).size, 12);
    // When all have run out, the one that was good longest.
    assert_eq!(later(NOW + 10).size, 12);
    // Of an operator's tokens, the first that is good.
    assert_eq!(store.anchored(0, NOW - 2).unwrap().unwrap().tokens, [token(5, "a", NOW - 2)]);
    assert_eq!(store.anchored(0, NOW - 1).unwrap().unwrap().tokens, [token(5, "a", NOW - 1)]);
}

#[test]
fn a_receipt_carries_a_bounded_number_of_tokens() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(&directory);
    for number in 0..=MAX_OPERATORS {
        store.append(&token(1, &format!("operator {number}"), 9_999)).unwrap();
    }
    assert_eq!(store.anchored(0, NOW).unwrap().unwrap().tokens.len(), MAX_OPERATORS);
    assert_eq!(store.at(1).unwrap().unwrap().tokens.len(), MAX_OPERATORS + 1);
}

#[test]
fn statements_that_are_missing_are_known_after_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(&directory);
    let (first, second) = (token(5, "a", 9), token(6, "a", 9));
    store.append(&first).unwrap();
    store.append(&second).unwrap();
    store.mark_logged(Digest::of(&first.token), 5).unwrap();
    store.mark_logged(Digest::of(b"unknown"), 5).unwrap();
    for store in [store, open(&directory)] {
        assert_eq!(store.unlogged(), [Digest::of(&second.token)]);
        assert_eq!(store.last_size(), Some(6));
        assert_eq!(store.digests_from(6), [Digest::of(&second.token)].into());
    }
}

/// A store of many small segments.
fn segmented(directory: &Path) -> CheckpointStore {
    CheckpointStore::open_with(directory, 1, 300).unwrap()
}

#[test]
fn segments_begin_between_checkpoints_and_are_searched_as_one() {
    let directory = tempfile::tempdir().unwrap();
    let store = segmented(directory.path());
    for size in 1..=60 {
        for operator in ["a", "b"] {
            let token = token(size * 10, operator, 9_999);
            store.append(&token).unwrap();
            // A statement that isn't in the log yet keeps its segment open.
            if size != 30 {
                store.mark_logged(Digest::of(&token.token), size).unwrap();
            }
        }
        if size == 33 {
            for digest in store.unlogged() {
                store.mark_logged(digest, 999).unwrap();
            }
        }
    }
    let segments = fs::read_dir(directory.path().join("checkpoints")).unwrap().count();
    assert!(segments > MAX_LOADED_IN_TESTS, "{segments}");
    for store in [store, segmented(directory.path())] {
        for size in 1..=60_u64 {
            assert_eq!(store.at(size * 10).unwrap().unwrap().tokens.len(), 2, "{size}");
            assert_eq!(store.at(size * 10 - 1).unwrap(), None);
            assert_eq!(anchored(&store, size * 10 - 1), Some(size * 10));
            assert_eq!(anchored(&store, (size - 1) * 10), Some(size * 10));
        }
        assert_eq!(anchored(&store, 600), None);
        assert_eq!(store.list(u64::MAX, 100).unwrap().len(), 60);
        assert_eq!(
            store.list(305, 3).unwrap().iter().map(|c| c.size).collect::<Vec<_>>(),
            [300, 290, 280]
        );
        assert!(store.unlogged().is_empty());
    }
}

#[test]
fn a_segment_that_a_crash_left_without_a_checkpoint_is_written_on() {
    let directory = tempfile::tempdir().unwrap();
    let tiny = || CheckpointStore::open_with(directory.path(), 1, 1).unwrap();
    let first = token(1, "a", 9_999);
    let store = tiny();
    store.append(&first).unwrap();
    store.mark_logged(Digest::of(&first.token), 1).unwrap();
    drop(store);
    let mut start = Vec::new();
    record::Record::Start.write(&mut start).unwrap();
    fs::write(file(&directory, 1), start).unwrap();

    tiny().append(&token(2, "a", 9_999)).unwrap();
    assert!(!file(&directory, 2).exists());
    let store = tiny();
    assert_eq!((store.at(1).unwrap().is_some(), store.at(2).unwrap().is_some()), (true, true));
}

/// More than the store keeps in memory.
const MAX_LOADED_IN_TESTS: usize = 20;

#[test]
fn every_torn_tail_is_dropped() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(&directory);
    store.append(&token(5, "a", 9)).unwrap();
    let whole = fs::read(file(&directory, 0)).unwrap();
    store.append(&token(6, "a", 9)).unwrap();
    drop(store);
    let longer = fs::read(file(&directory, 0)).unwrap();
    for length in 0..longer.len() {
        fs::write(file(&directory, 0), &longer[..length]).unwrap();
        let store = open(&directory);
        let kept = (5..=6).filter(|size| store.at(*size).unwrap().is_some()).count();
        assert_eq!(kept, usize::from(length >= whole.len()), "{length}");
        // It can be gone on from.
        store.append(&token(7, "a", 9)).unwrap();
        drop(store);
        assert_eq!(anchored(&open(&directory), 6), Some(7));
    }
}

#[test]
fn damage_before_whole_records_is_never_an_end() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(&directory);
    store.append(&token(5, "a", 9)).unwrap();
    let whole = fs::metadata(file(&directory, 0)).unwrap().len();
    store.append(&token(6, "a", 9)).unwrap();
    drop(store);
    let bytes = fs::read(file(&directory, 0)).unwrap();
    for position in 0..usize::try_from(whole).unwrap() {
        let mut damaged = bytes.clone();
        damaged[position] ^= 0x40;
        fs::write(file(&directory, 0), &damaged).unwrap();
        let error = CheckpointStore::open(directory.path(), 1).unwrap_err();
        let StorageError::Corrupt { file, defect, .. } = error else { panic!("{error}") };
        assert_eq!((file.as_str(), defect), ("checkpoints/0000000000", Defect::DamagedRecord));
    }
}

#[test]
fn damage_in_an_older_segment_shows_where_it_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let store = segmented(directory.path());
    for size in 1..=20 {
        let token = token(size, "a", 9_999);
        store.append(&token).unwrap();
        store.mark_logged(Digest::of(&token.token), size).unwrap();
    }
    drop(store);
    let path = file(&directory, 1);
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 60;
    bytes[last] ^= 1;
    fs::write(&path, bytes).unwrap();
    let store = segmented(directory.path());
    assert_eq!(anchored(&store, 19), Some(20));
    let failed = (1..=20).filter(|size| store.at(*size).is_err()).count();
    assert!((1..20).contains(&failed), "{failed}");
}
