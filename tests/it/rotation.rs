//! A log changes its key, as docs/operating.md says: with either key its readers verify what they get, and
//! nobody forgets what the log said before.

use std::fs;
use std::path::{Path, PathBuf};

use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::note::VerifierKey;
use anchorlog_tests::world::statements::{batch, text};
use anchorlog_tests::world::{Anchor, Settings, World, verifier};
use serde_json::Value;

const ANCHORING: &str = "[anchoring]\ndev_tsa = true\ninterval = \"1s\"";

/// A policy file that trusts these keys, in this order.
fn policy(directory: &Path, name: &str, keys: &[&str]) -> PathBuf {
    let path = directory.join(name);
    let lines: Vec<String> = keys.iter().map(|key| format!("log {key}\n")).collect();
    let lines = lines.concat();
    fs::write(&path, format!("{lines}quorum none\n")).unwrap();
    path
}

/// Somebody who judges by a policy file.
fn anchor_receipt(anchor: &Anchor, policy: &Path, index: u64, code: i32) -> Value {
    let (policy, index) = (policy.to_str().unwrap(), index.to_string());
    anchor.report(code, &["receipt", "--policy", policy, &index])
}

fn signers(world: &World) -> Vec<String> {
    let note = SignedCheckpoint::parse(&world.get("/checkpoint").body).unwrap();
    note.note().signatures().iter().map(|line| line.key_id().to_string()).collect()
}

fn id(vkey: &str) -> String {
    vkey.parse::<VerifierKey>().unwrap().key_id().to_string()
}

/// Saves the receipt of an entry, which is anchored, to a file.
fn anchored(world: &World, index: u64, name: &str) -> PathBuf {
    let answer = world.get(&format!("/v1/receipts/{index}?wait=anchored&timeout=30"));
    assert_eq!(answer.json()["state"], "anchored", "{}", answer.text());
    let path = world.root().join(name);
    fs::write(&path, &answer.body).unwrap();
    path
}

/// The verifier's word on a receipt under a policy, with the authority's root.
fn judged(world: &World, receipt: &Path, policy: &Path) -> Value {
    let root = world.data().join("dev-tsa/root.pem");
    let arguments = [Path::new("receipt"), receipt, Path::new("--policy"), policy];
    let more = [Path::new("--tsa-roots"), &root, Path::new("--json")];
    let ran = verifier(arguments.into_iter().chain(more));
    assert_eq!(ran.code, 0, "{}\n{}", ran.stdout, ran.stderr);
    ran.json()
}

#[test]
fn a_key_is_changed_while_everybody_reads_on() {
    let mut world = World::with(Settings { sections: ANCHORING.to_owned(), ..Settings::default() });
    let root = world.root().to_path_buf();
    let old = world.vkey().to_owned();
    let fill = |world: &World, numbers: std::ops::Range<u64>| {
        assert_eq!(world.post("/v1/entries:batch", batch(numbers.map(text))).status, 200);
    };
    fill(&world, 0..5);
    let first = anchored(&world, 0, "first.json");

    // 1. The new key is made; readers get both.
    let new_key = root.join("new.pem");
    let made = world.log_server(&["keygen", "--out", new_key.to_str().unwrap()]).report(0);
    let new = made["vkey"].as_str().unwrap().to_owned();
    let both = policy(&root, "both", &[&old, &new]);
    let swapped = policy(&root, "swapped", &[&new, &old]);
    let (only_old, only_new) = (policy(&root, "old", &[&old]), policy(&root, "new", &[&new]));
    let witness = Anchor::stranger(world.address());
    anchor_receipt(&witness, &both, 4, 0);
    let reader = Anchor::stranger(world.address());
    anchor_receipt(&reader, &both, 4, 0);

    // 2. It signs beside the old one.
    assert_eq!(world.terminate(), 0);
    world.reconfigure(|settings| settings.log = format!("additional_keys = [{new_key:?}]"));
    world.restart();
    assert_eq!(signers(&world), [id(&old), id(&new)]);
    assert_eq!(world.vkey(), old);
    let info = world.get("/v1/log").json();
    assert_eq!(info["vkeys"], serde_json::json!([old, new]));
    fill(&world, 5..10);
    let second = anchored(&world, 7, "second.json");
    // The receipt of before has grown a line that those verify who know the new key alone.
    let first_again = anchored(&world, 0, "first-again.json");
    for (index, policy) in [(0, &only_old), (7, &only_old), (0, &only_new), (7, &only_new)] {
        anchor_receipt(&Anchor::stranger(world.address()), policy, index, 0);
    }
    // Tokens are over the primary key's line: they count for whoever knows that key, in any order.
    for receipt in [&first, &second, &first_again] {
        for policy in [&both, &swapped, &only_old] {
            let report = judged(&world, receipt, policy);
            assert_eq!(report["state"]["shown"], "anchored", "{report:#}");
        }
    }

    // 3. The new key becomes the primary one.
    assert_eq!(world.terminate(), 0);
    let old_key = world.data().join("key.pem");
    world.reconfigure(|settings| {
        settings.key_file = Some(new_key.clone());
        settings.log = format!("additional_keys = [{old_key:?}]");
    });
    world.restart();
    assert_eq!(signers(&world), [id(&new), id(&old)]);
    fill(&world, 10..15);
    let third = anchored(&world, 12, "third.json");
    for policy in [&both, &swapped, &only_new] {
        let report = judged(&world, &third, policy);
        assert_eq!(report["state"]["shown"], "anchored", "{report:#}");
    }
    anchor_receipt(&reader, &both, 12, 0);

    // 4. The old key is retired, and its file is gone.
    assert_eq!(world.terminate(), 0);
    fs::remove_file(&old_key).unwrap();
    world.reconfigure(|settings| settings.log = format!("retired_keys = [{old:?}]"));
    world.restart();
    assert_eq!(signers(&world), [id(&new)]);
    fill(&world, 15..20);
    anchor_receipt(&reader, &both, 17, 0);
    anchor_receipt(&Anchor::stranger(world.address()), &only_new, 0, 0);
    let fourth = anchored(&world, 2, "fourth.json");
    assert_eq!(judged(&world, &fourth, &both)["state"]["shown"], "anchored");
    let refused = anchor_receipt(&Anchor::stranger(world.address()), &only_old, 17, 1);
    assert!(refused.to_string().contains("NOTE.UNKNOWN_KEYS") || refused["errors"][0].is_object());
    assert_eq!(world.terminate(), 0);
    let report = world.log_server(&["fsck"]).report(0);
    assert_eq!((&report["size"], &report["verdict"]), (&report["entries"], &"holds".into()));
    let _ = world.log_server(&["export", "--to", "public"]).report(0);
    let _ = world.log_server(&["fsck", "public", "--vkey", &new]).report(0);
    // What the new key alone has never signed shows, too.
    let unknown = world.log_server(&["fsck", "--vkey", &new]).report(1);
    assert!(unknown["problem_count"].as_u64().unwrap() > 0, "{unknown:#}");

    // A log that begins anew under the new key is not the one that was seen under the old one.
    let mut other = World::with(Settings { key_file: Some(new_key), ..Settings::default() });
    fill(&other, 0..3);
    assert_eq!(other.terminate(), 0);
    other.move_to(world.address());
    other.restart();
    anchor_receipt(&Anchor::stranger(other.address()), &both, 1, 0);
    let caught = witness.report(1, &["lookup", "--policy", both.to_str().unwrap(), DIGEST]);
    let codes = caught.to_string();
    assert!(codes.contains("LOG.ROLLBACK") || codes.contains("LOG.CONSISTENCY"), "{caught:#}");
}

const DIGEST: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
