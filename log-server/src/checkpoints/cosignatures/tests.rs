//! Lines are found again, over restarts, segments and damage, and a quorum is the policy's to say.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test fails by panicking, and damages files on purpose"
)]

use std::fmt::Write as _;
use std::fs;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::{Checkpoint, Origin, SignedCheckpoint};
use anchorlog_proto::cosignature::CosignerKey;
use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::note::{KeyName, NoteSigner};
use tempfile::TempDir;

use super::*;

fn cosigner(name: &str) -> CosignerKey {
    CosignerKey::from_seed(KeyName::new(name).unwrap(), *Digest::of(name.as_bytes()).as_bytes())
}

fn checkpoint(size: u64) -> SignedCheckpoint {
    let signer = NoteSigner::from_seed(KeyName::new("log.example").unwrap(), [9; 32]);
    let origin = Origin::new("log.example").unwrap();
    let root = Digest::of(&size.to_be_bytes());
    let checkpoint = Checkpoint::new(origin, TreeSize::new(size).unwrap(), root);
    SignedCheckpoint::sign(&checkpoint, &signer).unwrap()
}

/// Lines of these witnesses about the checkpoint of `size`, of that time.
fn cosigned(size: u64, witnesses: &[&str], time: u64) -> Cosignatures {
    let checkpoint = checkpoint(size);
    let line = |name: &&str| cosigner(name).cosign(checkpoint.note().text(), time).unwrap();
    Cosignatures {
        size,
        note: checkpoint.to_bytes(),
        received: i64::try_from(time).unwrap(),
        lines: witnesses.iter().map(line).collect(),
    }
}

fn keys(witnesses: &[&str]) -> Vec<VerifierKey> {
    witnesses.iter().map(|name| cosigner(name).verifier_key().clone()).collect()
}

fn policy(quorum: &str) -> Arc<TlogPolicy> {
    let mut text = String::new();
    for name in ["a", "b", "c"] {
        writeln!(text, "witness {name} {}", cosigner(name).verifier_key()).unwrap();
    }
    writeln!(text, "group two 2 a b c\nquorum {quorum}").unwrap();
    Arc::new(TlogPolicy::parse(text.as_bytes()).unwrap())
}

fn open(directory: &TempDir, quorum: &str) -> CosignatureStore {
    CosignatureStore::open(directory.path(), Some(policy(quorum))).unwrap()
}

fn append(store: &CosignatureStore, size: u64, witnesses: &[&str], time: u64) {
    store.append(&cosigned(size, witnesses, time), &keys(witnesses)).unwrap();
}

fn file(directory: &TempDir, number: u64) -> PathBuf {
    directory.path().join("checkpoints").join(format!("{number:010}.cosigned"))
}

fn witnessed(store: &CosignatureStore, index: u64) -> Option<u64> {
    store.witnessed(index).unwrap().map(|found| found.size)
}

#[test]
fn lines_meet_on_a_checkpoint_and_make_a_quorum() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(&directory, "two");
    assert_eq!((store.at(0).unwrap(), witnessed(&store, 0), store.last_size()), (None, None, None));
    assert!(!directory.path().join("checkpoints").exists());
    let mut newest = store.newest();
    append(&store, 5, &["a"], 100);
    append(&store, 8, &["a", "c"], 200);
    // A slow one comes late.
    assert_eq!(newest.borrow_and_update().map(|newest| newest.size), Some(8));
    append(&store, 5, &["b"], 300);
    assert!(!newest.has_changed().unwrap());
    append(&store, 20, &["c"], 400);
    for store in [store, open(&directory, "two")] {
        let at = store.at(5).unwrap().unwrap();
        assert_eq!(at.note, checkpoint(5).to_bytes());
        assert_eq!(
            at.lines,
            [cosigned(5, &["a"], 100), cosigned(5, &["b"], 300)].map(|c| c.lines).concat()
        );
        assert_eq!(store.at(6).unwrap(), None);
        for (index, size) in [(0, Some(5)), (4, Some(5)), (5, Some(8)), (7, Some(8)), (8, None)] {
            assert_eq!(witnessed(&store, index), size, "{index}");
        }
        for (size, is) in [(5, true), (8, true), (20, false), (7, false)] {
            assert_eq!(store.is_witnessed(size).unwrap(), is, "{size}");
        }
        let expected = Witnessed { size: 8, received: 200 };
        assert_eq!(*store.newest().borrow(), Some(expected));
        assert_eq!((store.latest(0), store.latest(1)), (Some((8, 200)), Some((5, 300))));
        assert_eq!(store.last_size(), Some(20));
        assert_eq!(store.lines_of_newest(20), cosigned(20, &["c"], 400).lines);
        assert_eq!(store.lines_of_newest(8), []);
        let sizes = |below, limit| -> Vec<u64> {
            store.list(below, limit).unwrap().iter().map(|found| found.size).collect()
        };
        assert_eq!((sizes(u64::MAX, 10), sizes(20, 1)), (vec![20, 8, 5], vec![8]));
    }
    // Another policy sees other quorums in the same lines; without one there is none.
    assert_eq!(open(&directory, "c").newest().borrow().map(|newest| newest.size), Some(20));
    assert_eq!(witnessed(&open(&directory, "b"), 0), Some(5));
    let without = CosignatureStore::open(directory.path(), None).unwrap();
    assert_eq!((witnessed(&without, 0), without.at(8).unwrap().is_some()), (None, true));
}

#[test]
fn a_witness_that_cosigned_again_has_a_first_and_a_last_line() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(&directory, "two");
    append(&store, 5, &["a", "b"], 100);
    append(&store, 5, &["b", "a"], 200);
    let (first, last) = (cosigned(5, &["a", "b"], 100).lines, cosigned(5, &["a", "b"], 200).lines);
    for store in [store, open(&directory, "two")] {
        let at = store.at(5).unwrap().unwrap();
        assert_eq!((at.lines.len(), at.first_lines()), (4, first.clone()));
        assert!(last.iter().all(|line| at.last_lines().contains(line)));
        let served = store.lines_of_newest(5);
        assert!(served.len() == 2 && last.iter().all(|line| served.contains(line)));
        assert_eq!(*store.newest().borrow(), Some(Witnessed { size: 5, received: 200 }));
    }
}

#[test]
fn segments_grow_with_the_sizes_and_verify_by_themselves() {
    let directory = tempfile::tempdir().unwrap();
    let store = CosignatureStore::open_with(directory.path(), Some(policy("two")), 600).unwrap();
    for size in 1..=20 {
        append(&store, size * 10, &["a", "b"], size);
    }
    assert!(file(&directory, 4).exists());
    // Too late for the segment that is written.
    let late = store.append(&cosigned(10, &["c"], 1), &keys(&["c"]));
    assert!(matches!(late, Err(StorageError::NotTheNext { first_index: 10, .. })), "{late:?}");
    let reopened = CosignatureStore::open_with(directory.path(), Some(policy("two")), 600).unwrap();
    for store in [store, reopened] {
        for size in 1..=20 {
            assert_eq!(store.at(size * 10).unwrap().unwrap().lines.len(), 2, "{size}");
            assert_eq!(witnessed(&store, size * 10 - 1), Some(size * 10));
        }
        assert_eq!(store.list(u64::MAX, 100).unwrap().len(), 20);
    }
    let mut lines = 0;
    examine(directory.path(), |_, found| {
        let (cosigned, keys) = found.unwrap();
        for line in &cosigned.lines {
            let key = keys.iter().find(|key| key.key_id() == line.key_id()).unwrap();
            let text = checkpoint(cosigned.size).note().text().to_owned();
            anchorlog_proto::cosignature::verify(key, &text, line).unwrap();
            lines += 1;
        }
    })
    .unwrap();
    assert_eq!(lines, 40);
}

#[test]
fn a_torn_record_is_dropped_and_a_damaged_one_is_not_passed_over() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(&directory, "a");
    append(&store, 5, &["a"], 100);
    let whole = fs::read(file(&directory, 0)).unwrap();
    append(&store, 8, &["a"], 200);
    drop(store);
    let both = fs::read(file(&directory, 0)).unwrap();
    for cut in [whole.len() + 1, both.len() - 1] {
        fs::write(file(&directory, 0), &both[..cut]).unwrap();
        let store = open(&directory, "a");
        assert_eq!(store.last_size(), Some(5));
        append(&store, 9, &["a"], 300);
        assert_eq!(witnessed(&open(&directory, "a"), 5), Some(9));
    }
    let mut damaged = both.clone();
    damaged[whole.len() - 1] ^= 1;
    fs::write(file(&directory, 0), &damaged).unwrap();
    let error = CosignatureStore::open(directory.path(), Some(policy("a"))).unwrap_err();
    assert!(matches!(error, StorageError::Corrupt { .. }), "{error}");
}

#[test]
fn tokens_and_cosignatures_do_not_stand_in_each_others_files() {
    let directory = tempfile::tempdir().unwrap();
    append(&open(&directory, "a"), 5, &["a"], 100);
    let tokens = directory.path().join("checkpoints").join("0000000000");
    fs::copy(file(&directory, 0), &tokens).unwrap();
    let error = crate::checkpoints::CheckpointStore::open(directory.path(), 1).unwrap_err();
    assert!(matches!(error, StorageError::Corrupt { .. }), "{error}");
    fs::remove_file(&tokens).unwrap();
    assert!(crate::checkpoints::CheckpointStore::open(directory.path(), 1).is_ok());
}
