//! A log in a directory, read whole.
#![allow(clippy::disallowed_methods, reason = "tests build their own worlds")]

use std::fs;
use std::path::Path;

use anchorlog_proto::Digest;
use anchorlog_proto::audit::{Audit, AuditCode};
use anchorlog_proto::signed_object::SigningKey;
use anchorlog_proto::statement::{Statement, StatementKind, Trail};

use super::*;
use crate::follow::testing::{MemoryFiles, MemoryLog};

fn serve(log: &MemoryLog, directory: &Path) {
    let files = MemoryFiles::default();
    log.publish(&files);
    for (path, bytes) in files.files.lock().unwrap().iter() {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

fn entry(kind: StatementKind, number: u64, name: Option<&str>) -> Vec<u8> {
    let statement = Statement::new(kind, Digest::of(&number.to_be_bytes()));
    let statement = match name {
        Some(name) => statement.in_trail(trail(name), None),
        None => statement,
    };
    LogEntry::unsigned(statement).unwrap().leaf_bytes().to_vec()
}

fn trail(name: &str) -> Trail {
    name.parse().unwrap()
}

/// Statements of two trails among many others, and one leaf that is none.
fn story() -> MemoryLog {
    let mut log = MemoryLog::new(1);
    for number in 0..600 {
        log.push(match number {
            5 => entry(StatementKind::PlanCommitment, 0, Some("mine")),
            300 => entry(StatementKind::CoreRoot, 1, Some("mine")),
            301 => entry(StatementKind::CoreRoot, 2, Some("another")),
            555 => entry(StatementKind::CoreRoot, 3, Some("mine")),
            400 => br#"{"trail":"mine"}"#.to_vec(),
            _ => entry(StatementKind::Digest, 1000 + number, None),
        });
    }
    log
}

fn request(log: &MemoryLog, directory: &Path, from: ReadFrom) -> AuditRequest {
    AuditRequest {
        location: TileLocation::Directory(directory.to_path_buf()),
        keys: vec![log.signer.verifier_key().clone()],
        subject: Subject::Trail(trail("mine")),
        from,
        follow: FollowOptions { step: 100, ..FollowOptions::default() },
    }
}

#[tokio::test]
async fn the_list_is_everything_and_can_be_signed() {
    let tiles = tempfile::tempdir().unwrap();
    let log = story();
    serve(&log, tiles.path());
    let mut told = Vec::new();
    let audited = audit(
        request(&log, tiles.path(), ReadFrom::Beginning),
        || 77,
        |read| {
            told.push(read.next);
        },
    )
    .await
    .unwrap();
    let body = &audited.body;
    let indexes: Vec<_> = body.entries.iter().map(|entry| entry.index).collect();
    assert_eq!(indexes, [5, 300, 555]);
    let found: Vec<_> = body.findings.iter().map(|one| (one.code, one.indexes.clone())).collect();
    assert_eq!(found, [(AuditCode::SecondCoreRoot, vec![300, 555])]);
    assert_eq!((body.time, body.is_whole(), audited.unreadable), (77, true, vec![400]));
    assert_eq!((told.len() > 1, told.last()), (true, Some(&600)));
    let key = SigningKey::from_seed(&[4; 32]);
    let audit = Audit::parse(&body.sign(&key).unwrap()).unwrap();
    audit.verify(&key.public_key()).unwrap();
    assert_eq!(audit.body(), body);
}

#[tokio::test]
async fn a_later_audit_goes_on_where_the_first_ended() {
    let tiles = tempfile::tempdir().unwrap();
    let mut log = story();
    serve(&log, tiles.path());
    let read = |log: &MemoryLog, from| audit(request(log, tiles.path(), from), || 0, |_| {});
    let first = read(&log, ReadFrom::Beginning).await.unwrap();
    log.push(entry(StatementKind::ChainHead, 7, Some("mine")));
    serve(&log, tiles.path());
    let position = || ReadFrom::Position(Box::new(first.position.clone()));
    let later = read(&log, position()).await.unwrap().body;
    assert_eq!((later.from.size.get(), later.from.root), (600, first.body.root()));
    assert_eq!(later.entries.len(), 1);
    assert_eq!(later.entries[0].index, 600);
    let from = read(&log, ReadFrom::Index(555)).await.unwrap().body;
    assert_eq!(from.entries.iter().map(|one| one.index).collect::<Vec<_>>(), [555, 600]);
    assert!(later.sign(&SigningKey::from_seed(&[4; 32])).is_ok());
    let error = read(&log, ReadFrom::Index(602)).await.unwrap_err();
    assert!(matches!(error, FollowError::Missing { .. }), "{error}");

    // Another history from before that position.
    let mut fork = MemoryLog::new(1);
    for number in 0..700 {
        fork.push(entry(StatementKind::Digest, number, None));
    }
    serve(&fork, tiles.path());
    let error = read(&fork, position()).await.unwrap_err();
    assert_eq!(error.code(), "LOG.CONSISTENCY");
    assert!(error.notes().is_some());
}

#[tokio::test]
async fn an_entry_that_is_not_the_trees_ends_it() {
    let tiles = tempfile::tempdir().unwrap();
    let log = story();
    serve(&log, tiles.path());
    let bundle = tiles.path().join("tile/entries/001");
    let bytes = fs::read(&bundle).unwrap();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    assert!(text.contains("mine"));
    // The trail of one entry is another one: it is left out, so to speak.
    let place = bytes.windows(4).position(|window| window == b"mine").unwrap();
    let mut changed = bytes;
    changed[place] = b'w';
    fs::write(&bundle, changed).unwrap();
    let error = audit(request(&log, tiles.path(), ReadFrom::Beginning), || 0, |_| {});
    assert!(matches!(error.await.unwrap_err(), FollowError::Leaf { index: 300, .. }));
}
