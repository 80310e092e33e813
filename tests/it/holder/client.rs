//! `anchor checkpoints submit` and `held` with a log.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use anchorlog_proto::receipt::Receipt;
use anchorlog_tests::world::{Anchor, World, verifier};
use serde_json::Value;

use super::{corpus_lines, digest_of, line, token, trail};

fn code(report: &Value) -> &str {
    report["errors"][0]["code"].as_str().unwrap_or_else(|| panic!("no failure in {report:#}"))
}

#[test]
fn real_lines_get_receipts_that_verify_offline() {
    let Some((files, text)) = corpus_lines() else { return };
    let mut world = World::start();
    let anchor = Anchor::of(&world);
    let arguments = ["checkpoints", "submit", "--out", "receipts", "--at-once", "1"];
    let report = anchor.run_with_input(&arguments, text.as_bytes()).report(0);
    let count = text.lines().count();
    assert_eq!((&report["held"], &report["new"]), (&count.into(), &count.into()));
    let again = anchor.run_with_input(&arguments, text.as_bytes()).report(0);
    assert_eq!((&again["held"], &again["new"]), (&count.into(), &0.into()));
    let policy = world.policy();
    world.terminate();
    for (line, index) in text.lines().zip(0..) {
        let path = anchor.home().join(format!("receipts/{index}.json"));
        let receipt = Receipt::parse(&fs::read(&path).unwrap()).unwrap();
        assert_eq!(receipt.entry.statement().digest.to_string(), digest_of(line));
        let (path, policy) = (path.to_str().unwrap(), policy.to_str().unwrap());
        let digest = digest_of(line);
        let judged = verifier(["receipt", path, "--policy", policy, "--digest", &digest, "--json"]);
        assert_eq!(judged.report(0)["verdict"], "holds");
    }
    world.restart();
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let trail = first["trail"].as_str().unwrap();
    let lines = files[0].to_str().unwrap();
    let held = ["checkpoints", "held", "--trail", trail, "--lines", lines, "--out", "expect"];
    let report = anchor.report(0, &held);
    assert_eq!(report["without_line"].as_array().unwrap().len(), 0);
    let expect = fs::read_to_string(anchor.home().join("expect")).unwrap();
    assert_eq!(expect, fs::read_to_string(&files[0]).unwrap());
}

#[test]
fn a_conflict_shows_both_digests_and_keeps_every_receipt() {
    let world = World::start();
    let anchor = Anchor::of(&world);
    let submit = ["checkpoints", "submit", "--out", "receipts", "--at-once", "2", "-"];
    let first = line(1, "a") + &line(2, "b");
    let _ = anchor.run_with_input(&submit, first.as_bytes()).report(0);
    let rewritten = line(2, "x") + &line(3, "c") + &line(4, "d");
    for _ in 0..2 {
        let report = anchor.run_with_input(&submit, rewritten.as_bytes()).report(1);
        assert_eq!(code(&report), "trail.conflict");
        assert_eq!(report["held"], 3, "what comes after the conflict is handed over too");
        let conflict = &report["conflicts"][0];
        assert_eq!(conflict["held"]["digest"], digest_of(&line(2, "b")));
        assert_eq!(conflict["offered"]["digest"], digest_of(&line(2, "x")));
        let said = report["errors"][0]["detail"].as_str().unwrap();
        assert!(said.contains(&digest_of(&line(2, "b"))), "{said}");
        assert!(said.contains(&digest_of(&line(2, "x"))), "{said}");
    }
    assert_eq!(fs::read_dir(anchor.home().join("receipts")).unwrap().count(), 5);

    let trail = trail();
    let held = anchor.report(0, &["checkpoints", "held", "--trail", &trail]);
    assert_eq!(held["entries"].as_array().unwrap().len(), 5);
    assert_eq!(held["conflicts"], serde_json::json!([2]));
    let people = anchor.run_for_people(&["checkpoints", "held", "--trail", &trail]);
    let rows: Vec<Value> =
        people.stdout.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    assert_eq!((rows.len(), &rows[2]["index"], &rows[2]["sequence"]), (5, &2.into(), &2.into()));
    assert!(people.stderr.contains("more than one digest"), "{}", people.stderr);

    // Whoever keeps the trail now shows its new history alone.
    let shown = ["checkpoints", "held", "--trail", &trail, "--lines", "-"];
    let report = anchor.run_with_input(&shown, rewritten.as_bytes()).report(1);
    assert_eq!(code(&report), "CLIENT.LINES_MISSING");
    assert_eq!(report["lines_held"], 3);
    let missing = report["without_line"].as_array().unwrap();
    assert_eq!(
        missing.iter().map(|row| row["index"].as_u64().unwrap()).collect::<Vec<_>>(),
        [0, 1]
    );
    let none = anchor.report(1, &["checkpoints", "held", "--trail", &"0".repeat(32)]);
    assert_eq!(code(&none), "CLIENT.NOT_LOGGED");
}

#[test]
fn what_is_no_line_and_what_others_can_read_is_not_sent() {
    let (secret, config) = token("desk", "");
    let world = World::configured(&format!("{config}[access]\nmode = \"keys\"\n"));
    let anchor = Anchor::of(&world);
    let file = anchor.home().join("desk.token");
    fs::write(&file, format!("{secret}\n")).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let submit = ["checkpoints", "submit", "--token-file", "desk.token"];
    let good = line(1, "a");
    let exposed = anchor.run_with_input(&submit, good.as_bytes());
    assert_eq!(code(&exposed.report(2)), "CLIENT.TOKEN");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let spaced = good.clone() + &line(2, "b").replace(':', ": ");
    let refused = anchor.run_with_input(&submit, spaced.as_bytes()).report(2);
    assert_eq!(code(&refused), "CLIENT.INPUT");
    assert!(refused["errors"][0]["detail"].as_str().unwrap().contains("line 2"), "{refused:#}");
    let without = anchor.run_with_input(&["checkpoints", "submit"], good.as_bytes()).report(1);
    assert_eq!(code(&without), "access.token-required");
    assert_eq!(world.get("/v1/log").json()["size"], 0);
    let taken = anchor.run_with_input(&submit, good.as_bytes());
    assert!(taken.stderr.contains("isn't https"), "{}", taken.stderr);
    assert!(!taken.stdout.contains(&secret) && !taken.stderr.contains(&secret));
    assert_eq!(taken.report(0)["held"], 1);
}

#[test]
fn a_log_that_is_down_gets_the_rest_later() {
    let mut world = World::start();
    let anchor = Anchor::of(&world);
    let submit = ["checkpoints", "submit"];
    let lines = line(1, "a") + &line(2, "b");
    world.kill();
    let down = anchor.run_with_input(&submit, lines.as_bytes()).report(2);
    assert_eq!((code(&down), &down["held"]), ("CLIENT.UNREACHABLE", &0.into()));
    world.restart();
    let up = anchor.run_with_input(&submit, lines.as_bytes()).report(0);
    assert_eq!((&up["held"], &up["new"]), (&2.into(), &2.into()));
}
