//! What is in the outbox arrives, once, whoever dies on the way.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use anchorlog_tests::world::statements::{batch, digest, entry, text};
use anchorlog_tests::world::{Anchor, World};
use serde_json::Value;

use super::{code, kept_receipts, lines, size};

#[test]
fn a_log_that_is_down_gets_what_was_meant_for_it_when_it_is_back() {
    let mut world = World::start();
    let anchor = Anchor::of(&world);
    let submit = |number: u64, exit| {
        let digest = digest(number).to_string();
        anchor.report(exit, &["submit", "--kind", "digest", "--digest", &digest])
    };
    let _ = submit(0, 0);
    world.kill();
    for number in 1..4 {
        let report = submit(number, 2);
        assert_eq!(code(&report), "CLIENT.UNREACHABLE", "{report:#}");
        assert_eq!(report["left_in_outbox"], number);
    }
    let many = anchor.run_with_input(&["submit", "-"], &lines(4..10)).report(2);
    assert_eq!(many["left_in_outbox"], 9);
    let listed = anchor.report(0, &["outbox", "list"]);
    let waiting = listed["logs"][0]["submissions"].as_array().unwrap();
    let hashes: Vec<&Value> =
        waiting.iter().flat_map(|one| one["leaf_hashes"].as_array().unwrap()).collect();
    let expected: Vec<Value> =
        (1..10).map(|number| entry(number).leaf_hash().to_string().into()).collect();
    assert_eq!(hashes, expected.iter().collect::<Vec<_>>(), "in the order of their submission");
    assert!(waiting.iter().all(|one| one["state"] == "waiting"));
    let still = anchor.report(2, &["outbox", "flush"]);
    assert_eq!(still["logs"][0]["left_in_outbox"], 9);

    world.restart();
    let report = submit(10, 0);
    let earlier: Vec<_> = report["earlier"].as_array().unwrap().iter().collect();
    assert_eq!(earlier.len(), 9);
    for (row, number) in earlier.iter().zip(1_u64..) {
        assert_eq!(
            (&row["index"], &row["digest"]),
            (&number.into(), &digest(number).to_string().into())
        );
    }
    assert_eq!(
        (&report["receipts"][0]["index"], &report["left_in_outbox"]),
        (&10.into(), &0.into())
    );
    assert_eq!(kept_receipts(&anchor).len(), 11);
    let empty = anchor.report(0, &["outbox", "list"]);
    assert_eq!(empty["logs"][0]["submissions"], Value::Array(Vec::new()));
    assert_eq!(size(&world), 11);
}

#[test]
fn flushing_sends_what_waits_without_anything_new() {
    let mut world = World::start();
    let anchor = Anchor::of(&world);
    world.terminate();
    let _ = anchor.run_with_input(&["submit", "-"], &lines(0..5)).report(2);
    world.restart();
    let flushed = anchor.report(0, &["outbox", "flush"]);
    assert_eq!(flushed["logs"][0]["earlier"].as_array().unwrap().len(), 5, "{flushed:#}");
    assert_eq!(kept_receipts(&anchor).len(), 5);
    let nothing = anchor.report(0, &["outbox", "flush"]);
    assert_eq!(nothing["logs"], Value::Array(Vec::new()));
    assert_eq!(size(&world), 5);
}

/// What the log refuses must not keep the rest from arriving.
#[test]
fn what_is_refused_later_is_put_aside() {
    let mut world = World::start();
    let anchor = Anchor::of(&world);
    world.terminate();
    let signed = {
        use anchorlog_proto::signed_object::SigningKey;
        use anchorlog_proto::statement::{LogEntry, Statement, StatementKind};
        let statement = Statement::new(StatementKind::Digest, digest(0));
        let key = SigningKey::from_seed(&[7; 32]);
        LogEntry::signed(statement, &key).unwrap().leaf_bytes().to_vec()
    };
    let _ = anchor.run_with_input(&["submit", "-"], &signed).report(2);
    let _ = anchor.run_with_input(&["submit", "-"], &lines(1..3)).report(2);
    world.restart();
    let flushed = anchor.report(1, &["outbox", "flush"]);
    assert_eq!(code(&flushed), "access.unknown-key", "{flushed:#}");
    assert_eq!(flushed["logs"][0]["earlier"].as_array().unwrap().len(), 2);
    assert_eq!(size(&world), 2);
    let listed = anchor.report(0, &["outbox", "list"]);
    let rest = listed["logs"][0]["submissions"].as_array().unwrap();
    assert_eq!((rest.len(), &rest[0]["state"]), (1, &"refused".into()));
    let file = rest[0]["file"].as_str().unwrap();
    assert_eq!(fs::read(file).unwrap().trim_ascii_end(), signed);
}

/// Clients are killed at all moments of a submission of two requests, and once the server with them.
#[test]
fn killed_clients_lose_nothing_and_send_nothing_twice() {
    const ROUNDS: u64 = 12;
    const STATEMENTS: u64 = 1200;
    let mut world = World::start();
    let anchor = Anchor::of(&world);
    let mut interrupted = 0;
    for round in 0..ROUNDS {
        let first = round * STATEMENTS;
        let path = anchor.home().join("lines");
        fs::write(&path, lines(first..first + STATEMENTS)).unwrap();
        let mut child = anchor
            .command(&["submit", "-"])
            .stdin(fs::File::open(&path).unwrap())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(20 + 25 * round));
        if round == ROUNDS / 2 {
            world.kill();
        }
        child.kill().unwrap();
        interrupted += u64::from(!child.wait().unwrap().success());
        if round == ROUNDS / 2 {
            world.restart();
        }
    }
    assert!(interrupted > 0, "no kill came before the end");
    let waiting = anchor.report(0, &["outbox", "list"]);
    let waiting: Vec<String> = waiting["logs"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|log| log["submissions"].as_array().unwrap())
        .flat_map(|one| one["leaf_hashes"].as_array().unwrap())
        .map(|hash| hash.as_str().unwrap().to_owned())
        .collect();
    assert!(!waiting.is_empty(), "no kill left anything to do");

    let _ = anchor.report(0, &["outbox", "flush"]);
    let rest = anchor.report(0, &["outbox", "list"]);
    assert_eq!(rest["logs"][0]["submissions"], Value::Array(Vec::new()), "{rest:#}");

    // Everything that was once in the outbox has a receipt, and all that is in the log has one index.
    let kept = kept_receipts(&anchor);
    for hash in &waiting {
        assert!(kept.contains_key(&hash.parse().unwrap()), "{hash} was taken and has no receipt");
    }
    let mut by_index: Vec<_> = kept.iter().map(|(hash, index)| (*index, *hash)).collect();
    by_index.sort_unstable();
    by_index.dedup_by_key(|(index, _)| *index);
    assert_eq!(by_index.len(), kept.len(), "no index belongs to two statements");

    // Sent once more, every statement of the test is where it was, and all are there exactly once.
    let mut logged = kept;
    let before = size(&world);
    for round in 0..ROUNDS {
        let first = round * STATEMENTS;
        for chunk in (first..first + STATEMENTS).collect::<Vec<_>>().chunks(1000) {
            let answer = world.post("/v1/entries:batch", batch(chunk.iter().copied().map(text)));
            for (place, number) in answer.json()["receipts"].as_array().unwrap().iter().zip(chunk) {
                let (hash, index) = (entry(*number).leaf_hash(), place["index"].as_u64().unwrap());
                assert_eq!(place["duplicate"], index < before, "{number}");
                assert_eq!(*logged.entry(hash).or_insert(index), index, "{number}");
            }
        }
    }
    assert_eq!(size(&world), ROUNDS * STATEMENTS);
    world.terminate();
    let check = world.log_server(&["fsck"]).report(0);
    assert_eq!(check["entries"], ROUNDS * STATEMENTS);
}
