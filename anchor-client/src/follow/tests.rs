//! The stream against an honest log and against every lie its files can tell.

use std::sync::Arc;

use super::testing::{Collected, MemoryFiles, MemoryLog};
use super::*;

fn follower(log: &MemoryLog, files: &Arc<MemoryFiles>, position: Option<Position>) -> Follower {
    with(log, files, position, FollowOptions { leaf_tiles: true, ..FollowOptions::default() })
}

fn with(
    log: &MemoryLog,
    files: &Arc<MemoryFiles>,
    position: Option<Position>,
    options: FollowOptions,
) -> Follower {
    let keys = vec![log.signer.verifier_key().clone()];
    let files: Arc<dyn TileFiles> = Arc::<MemoryFiles>::clone(files);
    Follower::with_files(files, keys, position, options).unwrap()
}

async fn read_all(follower: &mut Follower, first: u64) -> Result<Collected, FollowError> {
    let mut sink = Collected::from(first);
    let target = follower.poll().await?;
    let progress = follower.advance(&target, &mut sink).await?;
    assert!(progress.is_complete());
    Ok(sink)
}

async fn failure(log: &MemoryLog, files: &Arc<MemoryFiles>) -> FollowError {
    read_all(&mut follower(log, files, None), 0).await.unwrap_err()
}

#[tokio::test]
async fn a_log_of_every_shape_is_read_whole() {
    for size in [0, 1, 2, 255, 256, 257, 511, 512, 700, 65_535, 65_536, 66_000] {
        for parallel in [1, 8] {
            let log = MemoryLog::of("entry", size);
            let files = log.files(parallel);
            let mut follower = follower(&log, &files, None);
            let read = read_all(&mut follower, 0).await.unwrap();
            assert!(read.entries == log.entries, "size {size}");
            assert_eq!(read.confirmed, [size]);
            assert!(follower.position().unwrap().is_complete());
        }
    }
}

#[tokio::test]
async fn it_goes_on_where_it_stopped() {
    let mut log = MemoryLog::of("entry", 3);
    let files = log.files(1);
    let mut position = None;
    let mut read = 0;
    for more in [0, 1, 251, 1, 2, 600, 65_000] {
        log.grow("more", more);
        log.publish(&files);
        let mut follower = follower(&log, &files, position.take());
        let new = read_all(&mut follower, read).await.unwrap();
        let start = usize::try_from(read).unwrap();
        assert!(new.entries == log.entries[start..], "from {read}");
        read = log.size().get();
        // As it is kept on disk.
        let keys = [log.signer.verifier_key().clone()];
        position = Some(Position::parse(&follower.position().unwrap().to_bytes(), &keys).unwrap());
    }
}

#[tokio::test]
async fn it_stops_after_a_step_and_may_be_ended_there() {
    let mut log = MemoryLog::of("entry", 2000);
    let files = log.files(4);
    let options = FollowOptions { step: 300, ..FollowOptions::default() };
    let mut position = None;
    let mut read = Vec::new();
    loop {
        let mut follower = with(&log, &files, position.take(), options);
        let target = follower.poll().await.unwrap();
        let mut sink = Collected::from(u64::try_from(read.len()).unwrap());
        let progress = follower.advance(&target, &mut sink).await.unwrap();
        read.extend(sink.entries);
        assert_eq!(sink.confirmed.is_empty(), !progress.is_complete());
        if progress.is_complete() {
            break;
        }
        assert_eq!(progress.next % 256, 0);
        assert!(progress.next - progress.first >= 256);
        position = follower.position().cloned();
        // The log grows while it is read.
        log.grow("later", 10);
        log.publish(&files);
    }
    assert!(read == log.entries);
}

#[tokio::test]
async fn a_partial_file_that_has_gone_is_taken_from_the_full_one() {
    let mut log = MemoryLog::of("entry", 300);
    let files = log.files(1);
    let old = log.checkpoint();
    log.grow("more", 400);
    log.publish_tiles(&files);
    for path in ["tile/entries/001.p/44", "tile/0/001.p/44", "tile/1/000.p/1"] {
        files.remove(path);
    }
    // The log still shows the old checkpoint, and level 1 in a wider tile only.
    let error = failure(&log, &files).await;
    assert!(
        matches!(error, FollowError::Missing { ref path, size: 300 } if path == "tile/1/000.p/1"),
        "{error}"
    );
    log.grow("more", 65_536);
    log.publish_tiles(&files);
    let read = read_all(&mut follower(&log, &files, None), 0).await.unwrap();
    assert!(read.entries == log.entries[..300]);
    assert_eq!(files.files.lock().unwrap()["checkpoint"], old.to_bytes());
}

#[tokio::test]
async fn what_is_handed_out_needs_no_leaf_tiles() {
    let log = MemoryLog::of("entry", 1000);
    let files = log.files(1);
    let mut follower = with(&log, &files, None, FollowOptions::default());
    read_all(&mut follower, 0).await.unwrap();
    let asked = files.asked.lock().unwrap().clone();
    let leaf_tiles: Vec<_> = asked.iter().filter(|path| path.starts_with("tile/0/")).collect();
    assert_eq!(leaf_tiles, ["tile/0/003.p/232"]);
}

#[tokio::test]
async fn two_roots_of_one_size_are_a_split_view() {
    let log = MemoryLog::of("entry", 700);
    let files = log.files(1);
    let mut follower = follower(&log, &files, None);
    read_all(&mut follower, 0).await.unwrap();
    let before = follower.position().cloned();
    let other = MemoryLog::of("other", 700);
    other.publish(&files);
    let error = follower.poll().await.unwrap_err();
    assert_eq!(error.code(), "LOG.SPLIT_VIEW");
    let notes = error.notes().unwrap();
    assert_eq!((&notes.seen, &notes.shown), (&log.verified(), &other.verified()));
    assert_eq!(follower.position().cloned(), before);
}

#[tokio::test]
async fn a_smaller_tree_is_a_rollback_and_a_smaller_other_tree_a_fork() {
    let log = MemoryLog::of("entry", 700);
    let files = log.files(1);
    let mut follower = follower(&log, &files, None);
    read_all(&mut follower, 0).await.unwrap();
    let stale = MemoryLog::of("entry", 500).checkpoint();
    files.set("checkpoint", stale.to_bytes());
    let error = follower.poll().await.unwrap_err();
    assert_eq!(error.code(), "LOG.ROLLBACK");
    assert_eq!(error.notes().unwrap().sizes(), (500, 700));
    let fork = MemoryLog::of("other", 500);
    files.set("checkpoint", fork.checkpoint().to_bytes());
    let error = follower.poll().await.unwrap_err();
    assert_eq!(error.code(), "LOG.CONSISTENCY");
    proves_a_fork(error.notes().unwrap());
    // With the tiles of the fork in their place nothing shows that it is one.
    fork.publish(&files);
    files.remove("tile/0/002.p/188");
    assert_eq!(follower.poll().await.unwrap_err().code(), "LOG.ROLLBACK");
}

fn proves_a_fork(notes: &TwoNotes) {
    use anchorlog_proto::merkle::{ProofError, consistency};
    let [small, large] = {
        let mut both = [notes.seen.checkpoint(), notes.shown.checkpoint()];
        both.sort_by_key(|one| one.size);
        both
    };
    let proof = notes.proof.as_ref().unwrap();
    assert_eq!(
        consistency::verify(small.size, large.size, &small.root, &large.root, proof),
        Err(ProofError::OldRoot)
    );
}

#[tokio::test]
async fn a_larger_tree_with_another_past_is_a_fork() {
    let log = MemoryLog::of("entry", 700);
    for fork_at in [0, 255, 256, 699] {
        let files = log.files(1);
        let mut follower = follower(&log, &files, None);
        read_all(&mut follower, 0).await.unwrap();
        let mut fork = MemoryLog::of("entry", fork_at);
        fork.grow("forked", 1200 - fork_at);
        fork.publish(&files);
        let error = follower.poll().await.unwrap_err();
        assert_eq!(error.code(), "LOG.CONSISTENCY", "at {fork_at}: {error}");
        proves_a_fork(error.notes().unwrap());
        assert_eq!(follower.position().unwrap().checkpoint(), &log.verified());
    }
}

#[tokio::test]
async fn a_checkpoint_of_a_tree_that_the_tiles_are_not_of() {
    let log = MemoryLog::of("entry", 700);
    let files = log.files(1);
    files.set("checkpoint", MemoryLog::of("other", 700).checkpoint().to_bytes());
    let error = failure(&log, &files).await;
    assert!(
        matches!(error, FollowError::Tile { fault: TileFault::Edge, .. })
            && error.code() == "LOG.TILE",
        "{error}"
    );
    files.remove("checkpoint");
    assert_eq!(failure(&log, &files).await.code(), "LOG.MISSING");
}

#[tokio::test]
async fn nobody_else_signs_for_the_log() {
    let log = MemoryLog::of("entry", 5);
    let files = log.files(1);
    let stranger = MemoryLog::new(2);
    let error = failure(&stranger, &files).await;
    assert_eq!(
        (error.code(), error.verdict()),
        ("LOG.SIG", anchorlog_verifier::report::Verdict::DoesNotHold)
    );
    // Any of several keys will do.
    let keys = [&stranger, &log].map(|log| log.signer.verifier_key().clone()).to_vec();
    let mut follower =
        Follower::with_files(files.clone(), keys, None, FollowOptions::default()).unwrap();
    assert_eq!(read_all(&mut follower, 0).await.unwrap().entries, log.entries);
    files.set("checkpoint", b"no checkpoint\n".to_vec());
    assert!(matches!(follower.poll().await, Err(FollowError::Checkpoint(_))));
    let none = Follower::with_files(files, Vec::new(), None, FollowOptions::default());
    assert!(matches!(none, Err(FollowError::NoKeys)));
}

#[tokio::test]
async fn a_wrong_entry_under_a_right_hash_is_named() {
    let log = MemoryLog::of("entry", 700);
    for (path, index) in [("tile/entries/001", 300), ("tile/entries/002.p/188", 600)] {
        let files = log.files(1);
        files.edit(path, |bundle| {
            let entry = format!("entry {index}");
            let at = bundle.windows(entry.len()).position(|one| one == entry.as_bytes()).unwrap();
            bundle[at] = b'E';
        });
        let mut follower = follower(&log, &files, None);
        let target = follower.poll().await.unwrap();
        let mut sink = Collected::default();
        let error = follower.advance(&target, &mut sink).await.unwrap_err();
        let expected =
            matches!(error, FollowError::Leaf { index: i, found_at: None } if i == index);
        assert!(expected && error.code() == "LOG.ENTRY", "{error}");
        // What came before it was handed out, and reading goes on there when it is mended.
        let first = index / 256 * 256;
        assert_eq!(follower.position().unwrap().next(), first);
        log.publish(&files);
        let rest = read_all(&mut follower, first).await.unwrap();
        assert_eq!(sink.entries.len() + rest.entries.len(), 700);
    }
}

#[tokio::test]
async fn a_right_entry_at_a_wrong_index_is_named() {
    let log = MemoryLog::of("entry", 700);
    let files = log.files(1);
    let mut swapped = MemoryLog::of("entry", 700);
    swapped.entries.swap(257, 258);
    let wrong = swapped.files(1);
    let bundle = wrong.files.lock().unwrap()["tile/entries/001"].clone();
    files.set("tile/entries/001", bundle);
    let error = failure(&log, &files).await;
    assert!(matches!(error, FollowError::Leaf { index: 257, found_at: Some(258) }), "{error}");
    assert_eq!(error.code(), "LOG.ENTRY_INDEX");
}

#[tokio::test]
async fn a_wrong_tile_is_named() {
    let log = MemoryLog::of("entry", 66_000);
    // A full tile of level 1, and one of level 0 that is read although nothing depends on it.
    for (path, fault) in [
        ("tile/1/000", TileFault::Root),
        ("tile/0/007", TileFault::Hash { position: 7 * 256 + 1 }),
        ("tile/0/257.p/208", TileFault::Edge),
    ] {
        let files = log.files(1);
        files.edit(path, |tile| tile[40] ^= 1);
        let error = failure(&log, &files).await;
        let expected = matches!(error, FollowError::Tile { fault: found, .. } if found == fault);
        assert!(expected && error.code() == "LOG.TILE", "{path}: {error}");
    }
    let files = log.files(1);
    files.edit("tile/entries/003", |bundle| bundle.push(0));
    let error = failure(&log, &files).await;
    assert!(matches!(error, FollowError::Tile { fault: TileFault::Form(_), .. }), "{error}");
    files.remove("tile/entries/003");
    let error = failure(&log, &files).await;
    assert!(matches!(error, FollowError::Missing { ref path, .. } if path == "tile/entries/003"));
}

#[test]
fn a_damaged_position_is_an_error() {
    let log = MemoryLog::of("entry", 5);
    let keys = [log.signer.verifier_key().clone()];
    let good = Position::new(log.verified(), 3).unwrap();
    assert_eq!(Position::parse(&good.to_bytes(), &keys).as_ref(), Ok(&good));
    assert_eq!(Position::new(log.verified(), 6), None);
    let text = String::from_utf8(good.to_bytes()).unwrap();
    let refused = |text: String, keys| Position::parse(text.as_bytes(), keys).unwrap_err();
    assert_eq!(refused(text.replace("\"next\": 3", "\"next\": 6"), &keys), PositionFault::Next);
    assert_eq!(refused(text.replace("position/1", "position/2"), &keys), PositionFault::Form);
    assert_eq!(refused(text.replace("next", "more"), &keys), PositionFault::Form);
    assert_eq!(refused(text.clone(), &[]), PositionFault::NoKeys);
    let damaged = text.replace("\\n5\\n", "\\n4\\n");
    assert!(matches!(refused(damaged, &keys), PositionFault::Checkpoint(_)));
    let stranger = [MemoryLog::new(2).signer.verifier_key().clone()];
    assert!(matches!(refused(text, &stranger), PositionFault::Checkpoint(_)));

    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("position.json");
    assert_eq!(Position::load(&path, &keys).unwrap(), None);
    good.save(&path).unwrap();
    assert_eq!(Position::load(&path, &keys).unwrap(), Some(good));
    crate::durable::write_replace(&path, b"{").unwrap();
    assert!(matches!(Position::load(&path, &keys), Err(PositionError::Damaged { .. })));
}

#[tokio::test]
async fn a_directory_is_a_log() {
    let log = MemoryLog::of("entry", 700);
    let root = tempfile::tempdir().unwrap();
    log.publish_to(root.path());
    let location = TileLocation::Directory(root.path().to_owned());
    let keys = vec![log.signer.verifier_key().clone()];
    let options = FollowOptions { leaf_tiles: true, ..FollowOptions::default() };
    let mut follower = Follower::new(&location, keys.clone(), None, options).unwrap();
    assert_eq!(read_all(&mut follower, 0).await.unwrap().entries, log.entries);
    let nowhere = TileLocation::Directory(root.path().join("checkpoint"));
    let mut follower = Follower::new(&nowhere, keys, None, options).unwrap();
    assert_eq!(follower.poll().await.unwrap_err().code(), "LOG.MISSING");
}
