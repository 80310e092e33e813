//! Exit codes and reports: one complete JSON document whatever happens, and what people read.

use std::fs;

use anchorlog_tests::world::statements::{batch, digest, placed, text};
use anchorlog_tests::world::{Anchor, World, verifier};
use serde_json::{Value, json};

use super::{code, size};

#[test]
fn entries_are_listed_with_what_they_say() {
    let world = World::start();
    let anchor = Anchor::of(&world);
    let statements =
        [placed(1, "run-1", 0), text(2), placed(3, "run-1", 1), placed(4, "run-1", 1), text(1)];
    assert_eq!(world.post("/v1/entries:batch", batch(&statements)).status, 200);
    let indexes = |report: &Value| -> Vec<u64> {
        let entries = report["entries"].as_array().unwrap();
        entries.iter().map(|entry| entry["index"].as_u64().unwrap()).collect()
    };

    let one = digest(1).to_string();
    assert_eq!(indexes(&anchor.report(0, &["lookup", &one])), [0, 4]);
    let report = anchor.report(1, &["lookup", &one, "--kind", "core_root"]);
    assert_eq!((code(&report), indexes(&report)), ("CLIENT.NOT_LOGGED", vec![]));

    let report = anchor.report(0, &["trail", "run-1"]);
    assert_eq!(indexes(&report), [0, 2, 3]);
    assert_eq!(report["conflicts"], json!([{"sequence": 1, "indexes": [2, 3]}]));
    assert_eq!((&report["tree_size"], &report["next"]), (&5.into(), &Value::Null));
    let report = anchor.report(0, &["trail", "run-1", "--from", "1", "--limit", "1"]);
    assert_eq!((indexes(&report), &report["next"]), (vec![2], &3.into()));
    assert_eq!(indexes(&anchor.report(0, &["trail", "run-2"])), Vec::<u64>::new());

    let report = anchor.report(0, &["receipt", "3"]);
    assert_eq!(report["receipts"][0]["conflicts"], json!([2]));
    let report = anchor.report(0, &["receipt", "4", "0", "--out", "here"]);
    assert_eq!(report["receipts"][0]["index"], 4);
    for name in ["here/4.json", "here/0.json"] {
        assert!(anchor.home().join(name).is_file(), "{name}");
    }
    let report = anchor.report(1, &["receipt", "5"]);
    assert_eq!(code(&report), "log.not-found");
}

#[test]
fn long_trails_are_followed_over_many_pages() {
    let world = World::start();
    let anchor = Anchor::of(&world);
    for part in 0..3 {
        let statements =
            (part * 900..(part + 1) * 900).map(|number| placed(number, "long", number));
        assert_eq!(world.post("/v1/entries:batch", batch(statements)).status, 200);
    }
    let report = anchor.report(0, &["trail", "long", "--limit", "5000"]);
    let entries = report["entries"].as_array().unwrap();
    assert_eq!((entries.len(), &report["next"]), (2700, &Value::Null));
    for (entry, number) in entries.iter().zip(0_u64..) {
        assert_eq!((&entry["index"], &entry["sequence"]), (&number.into(), &number.into()));
        assert_eq!(entry["digest"], digest(number).to_string());
    }
    let report = anchor.report(0, &["trail", "long", "--from", "2000", "--limit", "100"]);
    assert_eq!((&report["entries"][0]["index"], &report["next"]), (&2000.into(), &2100.into()));
}

#[test]
fn every_failure_is_one_json_document_with_its_exit_code() {
    let mut world = World::start();
    let anchor = Anchor::of(&world);
    let one = digest(1).to_string();
    fs::write(anchor.home().join("readable.pem"), "x").unwrap();
    let cases: &[(&[&str], i32, &str)] = &[
        (&["submit"], 2, "CLIENT.USAGE"),
        (&["submit", "--kind", "gossip", "--digest", &one], 2, "CLIENT.USAGE"),
        (&["submit", "--kind", "digest", "--digest", "sha256:00"], 2, "CLIENT.USAGE"),
        (&["submit", "--kind", "digest", "--digest", &one, "--sequence", "1"], 2, "CLIENT.USAGE"),
        (&["submit", "--kind", "digest", "--digest", &one, "--wait", "long"], 2, "CLIENT.USAGE"),
        (&["submit", "--kind", "digest", "no-such-file"], 2, "CLIENT.INPUT"),
        (
            &["submit", "--kind", "digest", "--digest", &one, "--key", "readable.pem"],
            2,
            "CLIENT.KEY_EXPOSED",
        ),
        (&["lookup", "sha256:zz"], 2, "CLIENT.USAGE"),
        (&["lookup", &one], 1, "CLIENT.NOT_LOGGED"),
        (&["trail", "Not A Trail"], 2, "CLIENT.USAGE"),
        (&["receipt", "0"], 1, "log.not-found"),
        (&["receipt", "-1"], 2, "CLIENT.USAGE"),
        (&["receipt", "0", "--log", "ftp://log.example"], 2, "CLIENT.USAGE"),
        (&["frobnicate"], 2, "CLIENT.USAGE"),
    ];
    for (arguments, exit, expected) in cases {
        let report = anchor.report(*exit, arguments);
        assert_eq!(code(&report), *expected, "{arguments:?}: {report:#}");
        assert!(!report["errors"][0]["detail"].as_str().unwrap().is_empty());
    }
    assert_eq!(size(&world), 0);
    world.terminate();
    for arguments in [&["receipt", "0"][..], &["lookup", &one], &["trail", "t"]] {
        let report = anchor.report(2, arguments);
        assert_eq!(code(&report), "CLIENT.UNREACHABLE", "{report:#}");
    }
}

#[test]
fn a_policy_asks_for_witnesses_or_not() {
    let world = World::start();
    let anchor = Anchor::stranger(world.address());
    assert_eq!(world.post("/v1/entries", text(0)).status, 200);
    let own = world.policy();
    let report = anchor.report(0, &["receipt", "0", "--policy", own.to_str().unwrap()]);
    assert_eq!(report["receipts"][0]["shown"], "published");

    // A witness that has never heard of this log.
    let witness =
        "witness w1 witness1.example+5fcae608+BGa+fjMsekUzMr2dCn99sFX1xe8aBq2mbZizn7aBDEc6";
    let strict = anchor.home().join("strict.policy");
    fs::write(&strict, format!("log {}\n{witness}\nquorum w1\n", world.vkey())).unwrap();
    // The client takes what there is and says how far that goes; the verifier asks for the whole policy.
    let strict = strict.to_str().unwrap();
    let receipt = ["receipt", "0", "--policy", strict, "--out", "receipt.json"];
    let report = anchor.report(0, &receipt);
    assert_eq!(report["receipts"][0]["shown"], "published");
    let wait = ["--wait", "witnessed", "--wait-timeout", "1"];
    let report = anchor.report(1, &[&receipt[..], &wait].concat());
    assert_eq!(code(&report), "CLIENT.NOT_YET", "{report:#}");
    let path = anchor.home().join("receipt.json");
    let judge =
        |policy| verifier(["receipt", path.to_str().unwrap(), "--policy", policy, "--json"]);
    let _ = judge(own.to_str().unwrap()).report(0);
    let report = judge(strict).report(1);
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().any(|finding| finding["code"] == "LOG.QUORUM"), "{report:#}");

    let other = World::with(anchorlog_tests::world::Settings {
        origin: "other.example/log".to_owned(),
        ..Default::default()
    });
    let foreign = other.policy();
    let report = anchor.report(1, &["receipt", "0", "--policy", foreign.to_str().unwrap()]);
    assert_eq!(code(&report), "LOG.SIG", "{report:#}");
    fs::write(anchor.home().join("bad.policy"), "log nonsense\n").unwrap();
    let report = anchor.report(2, &["receipt", "0", "--policy", "bad.policy"]);
    assert_eq!(code(&report), "NOTE.KEY_SYNTAX", "{report:#}");
}

#[test]
fn people_read_text_and_errors_go_to_standard_error() {
    let world = World::start();
    let user = Anchor::of(&world);
    let anchor = |arguments: &[&str]| user.run_for_people(arguments);
    let one = digest(1).to_string();
    let done = anchor(&["submit", "--kind", "digest", "--digest", &one]);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    assert!(done.stdout.starts_with(&format!("0  digest {one} (published)")), "{done:?}");
    let found = anchor(&["lookup", &one]);
    assert!(found.stdout.contains(&one) && found.stderr.is_empty(), "{found:?}");
    let missing = anchor(&["lookup", &digest(2).to_string()]);
    assert_eq!((missing.code, missing.stdout.as_str()), (1, ""));
    assert!(missing.stderr.starts_with("error[CLIENT.NOT_LOGGED]:"), "{missing:?}");
    let refused = anchor(&["receipt", "9"]);
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.starts_with("error[log.not-found]:"), "{refused:?}");
    for ran in [&done, &found, &missing, &refused] {
        assert!(
            !ran.stdout.contains('\x1b') && !ran.stderr.contains('\x1b'),
            "no colour in a file"
        );
    }
}

#[test]
fn the_hammer_measures_a_real_log() {
    let world = World::start();
    let anchor = Anchor::of(&world);
    for more in [&[][..], &["--batch", "50"]] {
        let before = size(&world);
        let base = ["hammer", "--connections", "4", "--duration", "1", "--warmup", "0"];
        let report = anchor.report(0, &[&base[..], &["--sample", "7"], more].concat());
        assert_eq!(
            (&report["verified"], &report["failures"]),
            (&7.into(), &json!({})),
            "{report:#}"
        );
        let counted = report["statements"].as_u64().unwrap();
        assert!(counted > 0 && size(&world) - before >= counted, "{report:#}");
    }
}
