//! Another log under the same key in the same place: whatever it shows is reported as what it is.

use std::fs;
use std::path::Path;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::{SignedCheckpoint, VerifiedCheckpoint};
use anchorlog_tests::world::statements::{batch, digest, text};
use anchorlog_tests::world::{Anchor, Settings, World};
use serde_json::Value;

use super::{code, size};

/// A log that was seen with six entries, and its user.
fn seen() -> (World, Anchor) {
    let world = World::start();
    let anchor = Anchor::of(&world);
    fill(&world, 0..6);
    let report = anchor.report(0, &["receipt", "5"]);
    assert_eq!(report["receipts"][0]["tree_size"], 6);
    (world, anchor)
}

fn fill(world: &World, numbers: impl Iterator<Item = u64>) {
    assert_eq!(world.post("/v1/entries:batch", batch(numbers.map(text))).status, 200);
}

/// Puts a log with the same key and these statements in the place of an honest one.
fn replaced(world: &mut World, numbers: impl Iterator<Item = u64>) -> World {
    let mut twin = world.twin();
    assert_eq!(twin.vkey(), world.vkey());
    fill(&twin, numbers);
    assert_eq!((world.terminate(), twin.terminate()), (0, 0));
    twin.move_to(world.address());
    twin.restart();
    twin
}

/// The two notes a report names as evidence, both signed by the log.
fn evidence(report: &Value, vkey: &str) -> [VerifiedCheckpoint; 2] {
    let directory = report["errors"][0]["evidence"].as_str().expect("evidence is named");
    let note = |name: &str| {
        let bytes = fs::read(Path::new(directory).join(name)).unwrap();
        SignedCheckpoint::parse(&bytes).unwrap().verify(&vkey.parse().unwrap()).unwrap()
    };
    assert!(Path::new(directory).join("report.json").is_file());
    [note("seen.note"), note("shown.note")]
}

fn tree(checkpoint: &VerifiedCheckpoint) -> (u64, Digest) {
    (checkpoint.checkpoint().size.get(), checkpoint.checkpoint().root)
}

#[test]
fn another_root_of_the_same_size_is_a_split_view() {
    let (mut world, anchor) = seen();
    let mut twin = replaced(&mut world, 100..106);
    let asked = digest(101).to_string();
    for arguments in [&["receipt", "5"][..], &["lookup", &asked]] {
        let report = anchor.report(1, arguments);
        assert_eq!(code(&report), "LOG.SPLIT_VIEW", "{report:#}");
        let [seen, shown] = evidence(&report, world.vkey());
        assert_eq!((tree(&seen).0, tree(&shown).0), (6, 6));
        assert_ne!(tree(&seen).1, tree(&shown).1);
    }
    // People are told too, with the place of the notes.
    let told = anchor.run_for_people(&["receipt", "5"]);
    assert_eq!((told.code, told.stdout.as_str()), (1, ""));
    assert!(told.stderr.contains("LOG.SPLIT_VIEW") && told.stderr.contains("evidence"), "{told:?}");

    // What was seen is not forgotten over it: the honest log goes on where it was.
    assert_eq!(twin.terminate(), 0);
    world.restart();
    fill(&world, 6..9);
    let report = anchor.report(0, &["receipt", "5", "8"]);
    assert_eq!(report["receipts"][1]["tree_size"], 9);
}

#[test]
fn a_smaller_tree_is_a_rollback_even_if_it_was_once_true() {
    for numbers in [0..3, 100..103] {
        let (mut world, anchor) = seen();
        let _twin = replaced(&mut world, numbers);
        let asked = digest(0).to_string();
        let report = anchor.report(1, &["lookup", &asked]);
        assert_eq!(code(&report), "LOG.ROLLBACK", "{report:#}");
        let [seen, shown] = evidence(&report, world.vkey());
        assert_eq!((tree(&seen).0, tree(&shown).0), (6, 3));
    }
}

#[test]
fn a_larger_tree_that_does_not_extend_what_was_seen_is_inconsistent() {
    let (mut world, anchor) = seen();
    let _twin = replaced(&mut world, 100..110);
    let report = anchor.report(1, &["receipt", "7"]);
    assert_eq!(code(&report), "LOG.CONSISTENCY", "{report:#}");
    let [seen, shown] = evidence(&report, world.vkey());
    assert_eq!((tree(&seen).0, tree(&shown).0), (6, 10));
}

#[test]
fn the_true_log_from_another_disk_is_no_contradiction() {
    let (mut world, anchor) = seen();
    let twin = replaced(&mut world, 0..8);
    let report = anchor.report(0, &["receipt", "5", "7"]);
    assert_eq!(report["receipts"][1]["tree_size"], 8);
    assert_eq!(size(&twin), 8);
    assert!(!anchor.state().join("evidence").exists());
}

#[test]
fn a_lying_log_gets_no_receipt_accepted_and_the_statement_waits() {
    let (mut world, anchor) = seen();
    let mut twin = replaced(&mut world, 100..105);
    let new = digest(50).to_string();
    let submit = ["submit", "--kind", "digest", "--digest", &new];
    let report = anchor.report(1, &submit);
    // Its tree of six entries, with ours as the last, has another root.
    assert_eq!(code(&report), "LOG.SPLIT_VIEW", "{report:#}");
    assert_eq!(report["left_in_outbox"], 1);
    assert_eq!(report["receipts"], Value::Array(Vec::new()));
    assert_eq!(twin.terminate(), 0);
    world.restart();
    let report = anchor.report(0, &submit);
    assert_eq!(
        (&report["receipts"][0]["index"], &report["left_in_outbox"]),
        (&6.into(), &0.into())
    );
}

#[test]
fn another_key_is_not_the_logs() {
    let (mut world, anchor) = seen();
    let stranger = Anchor::stranger(world.address());
    let first = stranger.run(&["receipt", "0"]);
    assert!(first.stderr.contains("FIRST USE") && first.stderr.contains(world.vkey()), "{first:?}");
    let _ = first.report(0);
    assert_eq!(stranger.run(&["receipt", "0"]).stderr, "", "said once");

    let mut other = World::with(Settings::default());
    assert_ne!(other.vkey(), world.vkey());
    fill(&other, 0..9);
    assert_eq!((world.terminate(), other.terminate()), (0, 0));
    other.move_to(world.address());
    other.restart();
    for user in [&anchor, &stranger] {
        let report = user.report(1, &["receipt", "0"]);
        assert_eq!(code(&report), "LOG.SIG", "{report:#}");
    }
}
