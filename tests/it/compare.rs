//! `anchor compare` with real logs: one history from many places, and every fork by name, with both notes.

use std::fs;
use std::path::Path;

use anchorlog_proto::checkpoint::{SignedCheckpoint, VerifiedCheckpoint};
use anchorlog_tests::world::statements::{batch, text};
use anchorlog_tests::world::{Program, Ran, World, command, run, verifier};
use serde_json::Value;

fn fill(world: &World, numbers: impl Iterator<Item = u64>) {
    assert_eq!(world.post("/v1/entries:batch", batch(numbers.map(text))).status, 200);
}

/// Somebody with a folder, who knows the log's key.
struct Gossip<'w> {
    world: &'w World,
    home: tempfile::TempDir,
}

impl<'w> Gossip<'w> {
    fn about(world: &'w World) -> Self {
        Self { world, home: tempfile::tempdir().unwrap() }
    }

    fn home(&self) -> &Path {
        self.home.path()
    }

    fn keep(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.home().join(name), bytes).unwrap();
    }

    /// Keeps what a log shows now: its checkpoint, and the receipt of its last entry.
    fn visit(&self, world: &World, name: &str) {
        let note = world.get("/checkpoint").text();
        let size = note.lines().nth(1).unwrap().parse::<u64>().unwrap();
        self.keep(&format!("{name}.note"), note);
        let receipt = world.get(&format!("/v1/receipts/{}", size - 1)).text();
        self.keep(&format!("{name}.json"), receipt);
    }

    fn compare(&self, arguments: &[&str]) -> Ran {
        let mut command = command(Program::Anchor);
        command.current_dir(self.home()).env("ANCHORLOG_STATE", self.home().join("state"));
        command.args(["compare", "--json", "--attempts", "1", "--vkey", self.world.vkey()]);
        run(command.args(arguments))
    }

    /// The two notes that a failure names as evidence, both signed by the log.
    fn evidence(&self, report: &Value) -> [VerifiedCheckpoint; 2] {
        let directory = report["errors"][0]["evidence"].as_str().expect("evidence is named");
        let directory = self.home().join(directory);
        assert!(directory.join("report.json").is_file());
        ["seen.note", "shown.note"].map(|name| {
            let bytes = fs::read(directory.join(name)).unwrap();
            let vkey = self.world.vkey().parse().unwrap();
            SignedCheckpoint::parse(&bytes).unwrap().verify(&vkey).unwrap()
        })
    }
}

fn results(report: &Value) -> Vec<(u64, u64, String)> {
    let relations = report["logs"][0]["relations"].as_array().unwrap();
    let number = |value: &Value| value.as_u64().unwrap();
    relations
        .iter()
        .map(|one| {
            let word = one["code"].as_str().or(one["result"].as_str()).unwrap();
            (number(&one["from"]), number(&one["to"]), word.to_owned())
        })
        .collect()
}

fn is(results: &[(u64, u64, String)], expected: &[(u64, u64, &str)]) {
    let results: Vec<_> = results.iter().map(|(from, to, word)| (*from, *to, &**word)).collect();
    assert_eq!(results, expected);
}

#[test]
fn one_history_from_files_addresses_and_a_memory() {
    let world = World::start();
    let gossip = Gossip::about(&world);
    for (name, numbers) in [("a", 0..3), ("b", 3..300), ("c", 300..301)] {
        fill(&world, numbers);
        gossip.visit(&world, name);
    }
    let url = world.url();
    let everything = ["a.note", "a.json", "b.json", "c.note", &url];
    // Neither is shown as long as nobody is asked for tiles.
    let undecided = gossip.compare(&everything).report(2);
    is(&results(&undecided), &[(3, 300, "undecided"), (300, 301, "undecided")]);
    assert_eq!(undecided["errors"][0]["code"], "LOG.CONSISTENCY");

    let log = ["--log", &url, "--write-known", "known.json"];
    let report = gossip.compare(&[&everything[..], &log].concat()).report(0);
    is(&results(&report), &[(3, 300, "consistent"), (300, 301, "consistent")]);
    assert_eq!(report["logs"][0]["consistent"], true);
    assert_eq!(report["logs"][0]["checkpoints"][0]["seen_in"].as_array().unwrap().len(), 2);

    // The verifier takes the memory; and so does compare.
    let path = |name: &str| gossip.home().join(name).display().to_string();
    let known = path("known.json");
    let judged = verifier([
        "receipt",
        &path("a.json"),
        &path("b.json"),
        "--vkey",
        world.vkey(),
        "--known-checkpoints",
        &known,
        "--json",
    ]);
    assert_eq!(judged.report(0)["receipts"].as_array().unwrap().len(), 2);
    let _ = gossip.compare(&["known.json", "c.json", "--log", &url]).report(0);
}

#[test]
fn a_split_view_needs_no_proof_and_both_notes_are_kept() {
    let world = World::start();
    let twin = world.twin();
    fill(&world, 0..6);
    fill(&twin, 100..106);
    let gossip = Gossip::about(&world);
    gossip.visit(&world, "mine");
    gossip.visit(&twin, "theirs");
    let report = gossip.compare(&["mine.json", "theirs.json", "--write-known", "k"]).report(1);
    is(&results(&report), &[(6, 6, "LOG.SPLIT_VIEW")]);
    assert_eq!(report["errors"][0]["code"], "LOG.SPLIT_VIEW");
    let [one, other] = gossip.evidence(&report);
    assert_eq!(one.checkpoint().size, other.checkpoint().size);
    assert_ne!(one.checkpoint().root, other.checkpoint().root);
    let notes = report["logs"][0]["relations"][0]["notes"].as_array().unwrap();
    assert!(notes.iter().all(|note| note.as_str().unwrap().contains("\n\n\u{2014} ")));
    assert!(!gossip.home().join("k").exists(), "one of two histories would be believed");

    // The verifier says the same of the two receipts.
    let path = |name: &str| gossip.home().join(name).display().to_string();
    let (mine, theirs) = (path("mine.json"), path("theirs.json"));
    let judged = verifier(["receipt", &mine, &theirs, "--vkey", world.vkey(), "--json"]).report(1);
    let codes = judged["findings"].as_array().unwrap().iter().map(|one| &one["code"]);
    assert_eq!(codes.filter(|code| **code == "LOG.SPLIT_VIEW").count(), 2);
    // And of the two notes as a proof of consistency.
    let notes = [path("mine.note"), path("theirs.note")];
    let judged = verifier([
        "proof",
        "consistency",
        "--old-checkpoint",
        &notes[0],
        "--new-checkpoint",
        &notes[1],
        "--vkey",
        world.vkey(),
        "--json",
    ]);
    assert_eq!(judged.report(1)["findings"][0]["code"], "LOG.SPLIT_VIEW");
}

#[test]
fn a_fork_at_a_later_size_is_shown_by_tiles() {
    let world = World::start();
    let twin = world.twin();
    fill(&world, 0..6);
    fill(&twin, 0..4);
    fill(&twin, 104..300);
    let gossip = Gossip::about(&world);
    gossip.visit(&world, "mine");
    let report = gossip.compare(&["mine.json", "--log", &twin.url()]).report(1);
    is(&results(&report), &[(6, 200, "LOG.CONSISTENCY")]);
    let [mine, theirs] = gossip.evidence(&report);
    assert_eq!((mine.checkpoint().size.get(), theirs.checkpoint().size.get()), (6, 200));
    let proof = report["logs"][0]["relations"][0]["proof"].as_array().unwrap();
    assert!(!proof.is_empty());

    // A log that shows less than was seen is behind, which is no fork.
    let report = gossip.compare(&["mine.json", "theirs", "--log", &twin.url()]).report(1);
    assert_eq!(report["unusable"], 1);
    let behind = World::start();
    fill(&behind, 0..1);
    let report = gossip.compare(&["mine.json", "--log", &behind.url()]).report(2);
    assert_eq!(report["errors"][0]["code"], "LOG.SIG", "another log's key: {report:#}");
}
