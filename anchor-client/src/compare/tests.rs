//! Logs in directories, honest and not, and what comparing shows of them.
#![allow(clippy::disallowed_methods, reason = "tests build their own worlds")]

use std::fs;
use std::path::Path;

use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::gad::known_checkpoints::KnownCheckpoint;
use anchorlog_proto::json::canonical;
use anchorlog_proto::merkle::TreeSize;

use super::sources::{Found, SourceError, parse};
use super::*;
use crate::follow::testing::{MemoryFiles, MemoryLog};

/// Writes the files of a log as it is now; those of before stay.
fn serve(log: &MemoryLog, directory: &Path) {
    let files = MemoryFiles::default();
    log.publish(&files);
    for (path, bytes) in files.files.lock().unwrap().iter() {
        let path = directory.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

fn place(path: impl AsRef<Path>) -> TileLocation {
    TileLocation::Directory(path.as_ref().to_path_buf())
}

fn options(log: &MemoryLog, directory: Option<&Path>) -> CompareOptions {
    CompareOptions {
        keys: vec![log.signer.verifier_key().clone()],
        logs: directory.into_iter().map(place).collect(),
        follow: FollowOptions::default(),
    }
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn note(&self, name: &str, note: &SignedCheckpoint) -> TileLocation {
        let path = self.0.path().join(name);
        fs::write(&path, note.to_bytes()).unwrap();
        place(path)
    }

    fn known(&self, known: KnownCheckpoint) -> TileLocation {
        let path = self.0.path().join("known.json");
        let known = KnownCheckpoints { checkpoints: vec![known] };
        fs::write(&path, canonical(&known.to_value())).unwrap();
        place(path)
    }
}

async fn compared(places: &[TileLocation], options: &CompareOptions) -> Line {
    let gathered = gather(places, options).await;
    assert_eq!(gathered.problems, []);
    let mut lines = line_up(gathered.sightings);
    assert_eq!(lines.len(), 1);
    let mut line = lines.remove(0);
    relate(&mut line, options).await;
    line
}

fn words(line: &Line) -> Vec<(u64, u64, &'static str)> {
    let size = |at: usize| line.sightings[at].tree.size.get();
    let word = |relation: &Relation| match &relation.verdict {
        Verdict::Consistent => "consistent",
        Verdict::Fork(fork) => fork.code.as_str(),
        Verdict::Undecided { .. } => "undecided",
    };
    line.relations.iter().map(|one| (size(one.older), size(one.newer), word(one))).collect()
}

/// The proof leads to the larger tree and not to the smaller one: anybody can check the fork.
fn is_shown(fork: &Fork) {
    let (seen, shown) = fork.notes.as_ref().unwrap();
    let [older, newer] = [seen, shown].map(|note| note.checkpoint());
    let proof = fork.proof.as_ref().unwrap();
    let tree = |checkpoint: &anchorlog_proto::checkpoint::Checkpoint| Tree {
        size: checkpoint.size,
        root: checkpoint.root,
    };
    let refused =
        anchorlog_verifier::proof::check_consistency(&tree(older), &tree(newer), proof).is_err();
    assert!(refused);
}

#[tokio::test]
async fn one_history_is_shown_by_the_logs_tiles() {
    let (folder, tiles) = (Folder::new(), tempfile::tempdir().unwrap());
    let mut log = MemoryLog::new(1);
    let mut places = Vec::new();
    for (name, more) in [("a", 3), ("b", 300), ("c", 1), ("d", 70_000)] {
        log.grow("x", more);
        serve(&log, tiles.path());
        places.push(folder.note(name, &log.checkpoint()));
        // The same again, from somebody else.
        places.push(folder.note(&format!("{name}2"), &log.checkpoint()));
    }
    let line = compared(&places, &options(&log, Some(tiles.path()))).await;
    let expected = [(3, 303, "consistent"), (303, 304, "consistent"), (304, 70_304, "consistent")];
    assert_eq!(words(&line), expected);
    assert!(line.is_consistent());
    assert_eq!(line.sightings[0].seen_in.len(), 2);
    assert_eq!(line.sightings[3].seen_in.len(), 3, "the log itself");
    let known = to_remember(std::slice::from_ref(&line)).checkpoints;
    assert_eq!(known.len(), 4);
    assert!(known.iter().all(|one| one.consistency.is_none()));
}

#[tokio::test]
async fn without_tiles_only_equal_sizes_can_be_told() {
    let folder = Folder::new();
    let mut log = MemoryLog::of("x", 5);
    let five = folder.note("five", &log.checkpoint());
    log.grow("x", 2);
    let seven = folder.note("seven", &log.checkpoint());
    let line = compared(&[five.clone(), seven], &options(&log, None)).await;
    assert_eq!(words(&line), [(5, 7, "undecided")]);
    assert!(!line.is_consistent() && line.forks().next().is_none());

    let other = MemoryLog::of("y", 5);
    let fork = folder.note("fork", &other.checkpoint());
    let line = compared(&[five, fork], &options(&log, None)).await;
    assert_eq!(words(&line), [(5, 5, "LOG.SPLIT_VIEW")]);
    let fork = line.forks().next().unwrap();
    let (one, other) = fork.notes.as_ref().unwrap();
    assert_ne!(one.checkpoint().root, other.checkpoint().root);
    assert_eq!(to_remember(&[line]).checkpoints, []);
}

#[tokio::test]
async fn a_fork_at_a_later_size_is_shown_and_not_only_suspected() {
    let (folder, tiles) = (Folder::new(), tempfile::tempdir().unwrap());
    let mut fork = MemoryLog::of("x", 4);
    fork.grow("y", 2);
    let mut log = MemoryLog::of("x", 4);
    let four = folder.note("four", &log.checkpoint());
    log.grow("x", 296);
    serve(&log, tiles.path());
    let forked = folder.note("forked", &fork.checkpoint());
    let line = compared(&[four, forked], &options(&log, Some(tiles.path()))).await;
    // Up to four they are one history, which nobody's tiles show any more.
    assert_eq!(words(&line), [(4, 6, "undecided"), (6, 300, "LOG.CONSISTENCY")]);
    line.forks().for_each(is_shown);

    // What is beyond the log's own tree can't be told from it; that the smaller one is a fork can.
    fork.grow("y", 1000);
    let beyond = folder.note("beyond", &fork.checkpoint());
    let line = compared(&[beyond], &options(&log, Some(tiles.path()))).await;
    assert_eq!(words(&line), [(300, 1006, "undecided")]);
}

#[tokio::test]
async fn a_wrong_tile_shows_nothing() {
    let (folder, tiles) = (Folder::new(), tempfile::tempdir().unwrap());
    let mut log = MemoryLog::of("x", 5);
    let five = folder.note("five", &log.checkpoint());
    log.grow("x", 600);
    serve(&log, tiles.path());
    let tile = tiles.path().join("tile/0/000");
    let mut bytes = fs::read(&tile).unwrap();
    bytes[0] ^= 1;
    fs::write(&tile, bytes).unwrap();
    let line = compared(&[five], &options(&log, Some(tiles.path()))).await;
    assert_eq!(words(&line), [(5, 605, "undecided")]);

    // A mirror that has the right ones decides it.
    let mirror = tempfile::tempdir().unwrap();
    serve(&log, mirror.path());
    let mut both = options(&log, Some(tiles.path()));
    both.logs.push(place(mirror.path()));
    let line = compared(&[place(folder.0.path().join("five"))], &both).await;
    assert_eq!(words(&line), [(5, 605, "consistent")]);
}

#[tokio::test]
async fn what_is_remembered_counts_though_it_proves_nothing_to_others() {
    let folder = Folder::new();
    let log = MemoryLog::of("x", 5);
    let five = folder.note("five", &log.checkpoint());
    let remembered = |origin: &str| KnownCheckpoint {
        origin: origin.parse().unwrap(),
        size: TreeSize::new(5).unwrap(),
        root: Digest::of(b"another"),
        consistency: None,
    };
    let known = folder.known(remembered("log.example"));
    let line = compared(&[five.clone(), known], &options(&log, None)).await;
    assert_eq!(words(&line), [(5, 5, "LOG.SPLIT_VIEW")]);
    assert!(line.forks().all(|fork| fork.notes.is_none()));
    // The memory of another log is no matter of this one.
    let known = folder.known(remembered("other.example"));
    let line = compared(&[five, known], &options(&log, None)).await;
    assert_eq!(line.sightings.len(), 1);
}

#[tokio::test]
async fn what_the_log_did_not_sign_is_no_checkpoint_of_it() {
    let folder = Folder::new();
    let log = MemoryLog::of("x", 5);
    let mut forger = MemoryLog::new(9);
    forger.grow("y", 5);
    let places =
        [folder.note("five", &log.checkpoint()), folder.note("forged", &forger.checkpoint())];
    let mut options = options(&log, None);
    let gathered = gather(&places, &options).await;
    assert_eq!(gathered.sightings.len(), 1);
    assert_eq!(gathered.problems[0].code, "LOG.SIG");
    let name = anchorlog_proto::note::KeyName::new("other.example").unwrap();
    options.keys =
        vec![anchorlog_proto::note::NoteSigner::from_seed(name, [1; 32]).verifier_key().clone()];
    let gathered = gather(&places[..1], &options).await;
    assert_eq!(gathered.problems[0].code, "LOG.UNKNOWN");
    let missing = gather(&[place("/nowhere/at/all")], &options).await;
    assert_eq!(missing.problems[0].code, "CLIENT.SOURCE");
}

#[test]
fn files_of_no_such_form_say_nothing() {
    for (bytes, code) in [
        (&b""[..], "CKPT"),
        (b"nonsense", ""),
        (b"{}", "J."),
        (b"{", "J."),
        (b"{\n{\n", "J."),
        (br#"{"schema":"anchorlog.receipt/1"}"#, "J."),
        (br#"{"schema":"gad.known-checkpoints/1"}"#, "J."),
        (b"c2sp.org/tlog-proof@v1\n", "TLOGPROOF."),
    ] {
        let error = parse(bytes).unwrap_err();
        assert!(code == "CKPT" || error.code().starts_with(code), "{error}: {}", error.code());
    }
    let note = MemoryLog::of("x", 1).checkpoint();
    assert!(matches!(parse(&note.to_bytes()).unwrap()[..], [Found::Signed(_)]));
    assert!(matches!(parse(b"x"), Err(SourceError::Form(_))));
}
