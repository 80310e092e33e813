//! The copy against a log that grows, stops, lies, and disks that forget.
#![allow(clippy::disallowed_methods, reason = "tests build their own worlds")]

use std::fs;
use std::path::Path;

use anchorlog_proto::tile::{EntriesId, LevelShape, TileId, Width};

use super::*;
use crate::follow::Position;
use crate::follow::testing::{Collected, MemoryLog};

struct World {
    root: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        Self { root: tempfile::tempdir().unwrap() }
    }

    fn log(&self) -> PathBuf {
        self.root.path().join("log")
    }

    fn copy(&self) -> PathBuf {
        self.root.path().join("copy")
    }

    fn mirror(&self, log: &MemoryLog) -> Result<Mirror, MirrorError> {
        Mirror::open(MirrorOptions {
            from: TileLocation::Directory(self.log()),
            keys: vec![log.signer.verifier_key().clone()],
            to: self.copy(),
            follow: FollowOptions::default(),
        })
    }

    async fn round(&self, log: &MemoryLog) -> Result<Round, MirrorError> {
        self.mirror(log)?.round(&mut |_, _| {}).await
    }

    /// Reads the copy as anybody would.
    async fn check(&self, log: &MemoryLog) {
        let location = TileLocation::Directory(self.copy());
        let keys = vec![log.signer.verifier_key().clone()];
        let options = FollowOptions { leaf_tiles: true, ..FollowOptions::default() };
        let mut follower = Follower::new(&location, keys, None, options).unwrap();
        let target = follower.poll().await.unwrap();
        let mut sink = Collected::default();
        follower.advance(&target, &mut sink).await.unwrap();
        assert!(sink.entries == log.entries);
        // The tiles of every level, at exactly the paths that C2SP tlog-tiles gives them.
        for level in 0..3 {
            for (index, width) in LevelShape::of(level, log.size()).tiles() {
                let path = TileId { level, index, width }.path();
                let same =
                    fs::read(self.copy().join(&path)).ok() == fs::read(self.log().join(&path)).ok();
                assert!(same && self.copy().join(&path).exists(), "{path}");
            }
        }
    }
}

#[tokio::test]
async fn a_copy_follows_a_log_through_every_shape() {
    let world = World::new();
    let mut log = MemoryLog::of("entry", 0);
    for more in [0, 1, 255, 44, 0, 212, 65_024, 1, 300] {
        log.grow("entry", more);
        log.publish_to(&world.log());
        let round = world.round(&log).await.unwrap();
        assert_eq!((round.size, round.read), (log.size().get(), more));
        world.check(&log).await;
    }
    // Nothing new is nothing written, and partial files whose full ones are there have gone.
    let again = world.round(&log).await.unwrap();
    assert_eq!((again.read, again.written), (0, 0));
    for path in ["tile/0/000.p", "tile/entries/000.p", "tile/entries/001.p", "tile/1/000.p"] {
        assert!(!world.copy().join(path).exists(), "{path}");
    }
}

#[tokio::test]
async fn a_copy_that_was_killed_goes_on_where_it_was() {
    let log = MemoryLog::of("entry", 140_000);
    let world = World::new();
    log.publish_to(&world.log());
    // The files after the first two pieces can't be had yet.
    let gate = EntriesId { index: 520, width: Width::FULL }.path();
    let hidden = world.root.path().join("hidden");
    fs::rename(world.log().join(&gate), &hidden).unwrap();
    let error = world.round(&log).await.unwrap_err();
    assert_eq!(error.code(), "LOG.MISSING");
    assert!(error.is_temporary());
    assert!(!world.copy().join("checkpoint").exists(), "the checkpoint comes last");
    let keys = [log.signer.verifier_key().clone()];
    let position = world.copy().join(".mirror/position.json");
    assert_eq!(Position::load(&position, &keys).unwrap().unwrap().next(), 2 * PIECE);

    fs::rename(&hidden, world.log().join(&gate)).unwrap();
    let round = world.round(&log).await.unwrap();
    assert_eq!((round.size, round.read), (140_000, 140_000 - 2 * PIECE));
    world.check(&log).await;
    // Without its position everything is compared anew, and nothing is written.
    fs::remove_file(&position).unwrap();
    let round = world.round(&log).await.unwrap();
    assert_eq!((round.read, round.written), (140_000, 0));
}

#[tokio::test]
async fn after_a_failure_the_same_process_goes_on_too() {
    let log = MemoryLog::of("entry", 70_000);
    let world = World::new();
    log.publish_to(&world.log());
    let gate = world.log().join(EntriesId { index: 260, width: Width::FULL }.path());
    let bundle = fs::read(&gate).unwrap();
    fs::remove_file(&gate).unwrap();
    let mut mirror = world.mirror(&log).unwrap();
    mirror.round(&mut |_, _| {}).await.unwrap_err();
    fs::write(&gate, bundle).unwrap();
    mirror.round(&mut |_, _| {}).await.unwrap();
    drop(mirror);
    world.check(&log).await;
}

#[tokio::test]
async fn a_file_is_never_replaced_by_other_bytes() {
    let log = MemoryLog::of("entry", 700);
    let world = World::new();
    log.publish_to(&world.log());
    world.round(&log).await.unwrap();
    let path = world.copy().join("tile/0/001");
    let mut bytes = fs::read(&path).unwrap();
    bytes[0] ^= 1;
    for wrong in [bytes.clone(), bytes[..100].to_vec(), [bytes, vec![0]].concat()] {
        fs::write(&path, &wrong).unwrap();
        fs::remove_file(world.copy().join(".mirror/position.json")).unwrap();
        let error = world.round(&log).await.unwrap_err();
        assert!(
            matches!(&error, MirrorError::Differs { path: found } if *found == path),
            "{error}"
        );
        assert_eq!(fs::read(&path).unwrap(), wrong);
    }
    fs::remove_file(&path).unwrap();
    assert_eq!(world.round(&log).await.unwrap().written, 1);
    world.check(&log).await;
}

#[tokio::test]
async fn a_fork_is_refused_and_both_notes_are_kept() {
    let log = MemoryLog::of("entry", 700);
    let world = World::new();
    log.publish_to(&world.log());
    world.round(&log).await.unwrap();
    let served = fs::read(world.copy().join("checkpoint")).unwrap();
    for (fork, code) in [
        (MemoryLog::of("other", 700), "LOG.SPLIT_VIEW"),
        (MemoryLog::of("other", 900), "LOG.CONSISTENCY"),
    ] {
        fs::remove_dir_all(world.log()).unwrap();
        fork.publish_to(&world.log());
        let error = world.round(&log).await.unwrap_err();
        assert_eq!(error.code(), code);
        let MirrorError::Follow { evidence: Some(Ok(evidence)), .. } = error else { panic!() };
        assert_eq!(fs::read(evidence.join("seen.note")).unwrap(), log.checkpoint().to_bytes());
        assert_eq!(fs::read(evidence.join("shown.note")).unwrap(), fork.checkpoint().to_bytes());
        assert_eq!(fs::read(world.copy().join("checkpoint")).unwrap(), served);
    }
    fs::remove_dir_all(world.log()).unwrap();
    MemoryLog::of("entry", 300).publish_to(&world.log());
    assert_eq!(world.round(&log).await.unwrap_err().code(), "LOG.ROLLBACK");
    // And the log itself goes on.
    log.publish_to(&world.log());
    world.round(&log).await.unwrap();
}

#[tokio::test]
async fn a_copy_of_another_log_is_not_touched() {
    let log = MemoryLog::of("entry", 5);
    let world = World::new();
    log.publish_to(&world.log());
    world.round(&log).await.unwrap();
    let stranger = MemoryLog::new(2);
    assert!(world.mirror(&stranger).is_err());
    fs::remove_file(world.copy().join(".mirror/position.json")).unwrap();
    assert!(matches!(world.mirror(&stranger), Err(MirrorError::Checkpoint { .. })));
    let held = world.mirror(&log).unwrap();
    assert!(matches!(world.mirror(&log), Err(MirrorError::Lock(_))));
    drop(held);
    assert!(Path::new(&world.copy()).join("tile/entries/000.p/5").exists());
}
