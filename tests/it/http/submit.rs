//! `POST /v1/entries` and `POST /v1/entries:batch`.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use anchorlog_proto::merkle::leaf_hash;
use anchorlog_tests::world::World;
use anchorlog_tests::world::statements::{batch, digest, entry, placed, text, value};
use serde_json::Value;

use super::{changes_nothing, checkpoint, filled, members, receipt, verified};

#[test]
fn a_statement_gets_a_receipt_that_verifies() {
    let world = World::start();
    let answer = world.post("/v1/entries", text(0));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let body = answer.json();
    let expected =
        ["index", "leaf_hash", "log", "proof", "schema", "state", "statement", "timestamps"];
    assert_eq!(members(&body), expected);
    assert_eq!((&body["schema"], &body["index"]), (&"anchorlog.receipt/1".into(), &0.into()));
    assert_eq!((&body["log"], &body["state"]), (&"log.example/test".into(), &"published".into()));
    assert_eq!(body["timestamps"], Value::Array(Vec::new()));
    assert_eq!(body["statement"], value(0));
    assert_eq!(body["leaf_hash"], leaf_hash(text(0).as_bytes()).to_string());
    assert!(body["proof"].as_str().unwrap().starts_with("c2sp.org/tlog-proof@v1\nindex 0\n"));

    for number in 1..20 {
        let receipt = receipt(&world.post("/v1/entries", text(number)), &world);
        assert_eq!((receipt.index, &receipt.entry), (number, &entry(number)));
        // The answer is newer than the entry and no newer than the checkpoint everybody sees.
        let size = receipt.proof.checkpoint().checkpoint().size.get();
        assert!(number < size && size <= checkpoint(&world).checkpoint().size.get());
    }
}

#[test]
fn the_spelling_of_the_json_does_not_matter() {
    let world = World::start();
    let plain = receipt(&world.post("/v1/entries", text(7)), &world);
    let digest = digest(7);
    for spelling in [
        format!(
            " {{ \"kind\" :\t\"digest\",\r\n \"digest\":\"{digest}\", \"schema\":\"anchorlog.statement/1\"}} \n"
        ),
        format!(
            r#"{{"schema":"anchorlog.statement\/1","digest":"{digest}","\u006bind":"d\u0069gest"}}"#
        ),
    ] {
        let again = receipt(&world.post("/v1/entries", spelling), &world);
        assert_eq!((again.index, &again.entry), (plain.index, &plain.entry));
    }
    assert_eq!(checkpoint(&world).checkpoint().size.get(), 1);
}

#[test]
fn what_is_logged_already_keeps_its_index_in_every_way_of_asking() {
    let mut world = filled(5);
    changes_nothing(&world, || {
        for number in [0, 3, 4, 3] {
            let again = receipt(&world.post("/v1/entries", text(number)), &world);
            assert_eq!(again.index, number);
        }
        let body = world.post("/v1/entries:batch", batch([4, 0].map(text))).json();
        assert_eq!(
            (&body["receipts"][0]["index"], &body["receipts"][1]["index"]),
            (&4.into(), &0.into())
        );
        assert_eq!(body["receipts"][0]["duplicate"], true);
    });
    // Not by chance of memory: also after a restart, and after a death.
    world.terminate();
    world.restart();
    assert_eq!(receipt(&world.post("/v1/entries", text(2)), &world).index, 2);
    world.kill();
    world.restart();
    assert_eq!(receipt(&world.post("/v1/entries", text(2)), &world).index, 2);
    assert_eq!(receipt(&world.post("/v1/entries", text(9)), &world).index, 5);
    // Another kind or another place is another statement.
    assert_eq!(receipt(&world.post("/v1/entries", placed(2, "t", 0)), &world).index, 6);
    let mut other = value(2);
    other["kind"] = "attestation".into();
    assert_eq!(receipt(&world.post("/v1/entries", other.to_string()), &world).index, 7);
}

#[test]
fn the_same_statement_from_everywhere_at_once_is_logged_once() {
    let world = World::start();
    let indexes: Vec<BTreeSet<u64>> = thread::scope(|scope| {
        let submitters: Vec<_> = (0..16)
            .map(|_| {
                scope.spawn(|| {
                    let submit = |number| receipt(&world.post("/v1/entries", text(number)), &world);
                    (0..8).map(submit).map(|receipt| receipt.index).collect()
                })
            })
            .collect();
        submitters.into_iter().map(|submitter| submitter.join().unwrap()).collect()
    });
    for of_one in &indexes {
        assert_eq!(of_one, &(0..8).collect());
    }
    assert_eq!(checkpoint(&world).checkpoint().size.get(), 8);
}

#[test]
fn a_batch_is_answered_in_order_with_one_checkpoint() {
    let world = filled(3);
    let numbers = [10, 1, 11, 10, 12];
    let answer = world.post("/v1/entries:batch", batch(numbers.map(text)));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let body = answer.json();
    assert_eq!(members(&body), ["checkpoint", "log", "receipts"]);
    assert_eq!(body["log"], world.origin());
    let note = body["checkpoint"].as_str().unwrap();
    assert_eq!(verified(note.as_bytes(), &world).checkpoint().size.get(), 6);
    let places = body["receipts"].as_array().unwrap();
    for (place, (number, index, duplicate)) in places.iter().zip([
        (10, 3, false),
        (1, 1, true),
        (11, 4, false),
        (10, 3, true),
        (12, 5, false),
    ]) {
        assert_eq!(members(place), ["duplicate", "index", "leaf_hash", "state"]);
        assert_eq!((&place["index"], &place["duplicate"]), (&index.into(), &duplicate.into()));
        assert_eq!(place["leaf_hash"], entry(number).leaf_hash().to_string());
        assert_eq!(place["state"], "published");
        let whole = receipt(&world.get(&format!("/v1/receipts/{index}")), &world);
        assert_eq!(whole.entry, entry(number));
    }
    assert_eq!(places.len(), numbers.len());
}

#[test]
fn batches_of_one_and_of_a_thousand_are_taken_and_none_else() {
    let world = World::start();
    assert_eq!(world.post("/v1/entries:batch", batch([text(0)])).json()["receipts"][0]["index"], 0);
    let full = world.post("/v1/entries:batch", batch((1..1001).map(text))).json();
    for (place, index) in full["receipts"].as_array().unwrap().iter().zip(1_u64..) {
        assert_eq!(place["index"], index);
    }
    changes_nothing(&world, || {
        let over = world.post("/v1/entries:batch", batch((2000..3001).map(text)));
        over.problem(413, "request.batch-too-large");
        let none = world.post("/v1/entries:batch", r#"{"statements":[]}"#);
        none.problem(400, "statement.malformed");
    });
}

#[test]
fn one_refused_statement_refuses_its_batch_and_is_named() {
    let world = filled(2);
    let refusals = [
        (text(3).replace("sha256:", "sha512:"), 400, "J.DIGEST_FORM"),
        ("7".to_owned(), 400, "J.TYPE"),
        (text(3).replace("\"digest\":", "\"digets\":"), 400, "J.MISSING_FIELD"),
        (text(3).replace("\"kind\":\"digest\"", "\"kind\":\"gossip\""), 422, "STM.KIND"),
        (text(3).replace('{', "{\"sequence\":4,"), 422, "STM.SEQUENCE_WITHOUT_TRAIL"),
        (format!("{{\"x\":\"{}\",{}", "x".repeat(5000), &text(3)[1..]), 413, "STM.TOO_LARGE"),
    ];
    changes_nothing(&world, || {
        for (wrong, status, code) in refusals {
            for position in [0, 1, 3] {
                let mut statements: Vec<String> = (10..13).map(text).collect();
                statements.insert(position, wrong.clone());
                let answer = world.post("/v1/entries:batch", batch(statements));
                let problem = answer.problem(status, code);
                assert_eq!(problem["position"], position, "{problem:#}");
                let detail = problem["detail"].as_str().unwrap();
                assert!(detail.contains(&format!("Statement {position} ")), "{detail}");
                let pointer = problem["pointer"].as_str().unwrap();
                assert!(pointer.starts_with(&format!("/statements/{position}")), "{pointer}");
            }
        }
        for number in 10..13 {
            let found = world.get(&format!("/v1/lookup?digest={}", digest(number))).json();
            assert_eq!(found["entries"], Value::Array(Vec::new()));
        }
    });
    // The same places are free for what is right.
    let body = world.post("/v1/entries:batch", batch((10..13).map(text))).json();
    assert_eq!(body["receipts"][2]["index"], 4);
}

#[test]
fn what_is_no_statement_is_refused_with_its_reason() {
    let world = World::start();
    let good = text(1);
    let with = |from: &str, to: &str| good.replacen(from, to, 1);
    let digest = digest(1).to_string();
    changes_nothing(&world, || {
        for (body, status, code) in [
            (String::new(), 400, "J.SYNTAX"),
            ("null".to_owned(), 400, "J.TYPE"),
            (format!("{good}{good}"), 400, "J.SYNTAX"),
            (with("{", "{\"extra\":1,"), 400, "J.UNKNOWN_FIELD"),
            (with(&digest, &digest.to_uppercase()), 400, "J.DIGEST_FORM"),
            (with(&digest, "sha256:ab"), 400, "J.DIGEST_FORM"),
            (with("\"kind\":\"digest\"", "\"kind\":7"), 400, "J.TYPE"),
            (with("\"kind\":\"digest\"", "\"kind\":\"Digest\""), 422, "STM.KIND"),
            (with("statement/1", "statement/2"), 422, "STM.SCHEMA"),
            (with("{", "{\"sequence\":1,"), 422, "STM.SEQUENCE_WITHOUT_TRAIL"),
            (with("{", "{\"trail\":\"t\",\"sequence\":-1,"), 422, "STM.SEQUENCE_RANGE"),
            (with("{", "{\"trail\":\"t\",\"sequence\":9007199254740992,"), 400, "J.INT_RANGE"),
            (with("{", "{\"trail\":\"t\",\"sequence\":1.0,"), 400, "J.NON_INTEGER"),
            (with("{", "{\"trail\":\"\","), 422, "STM.TRAIL_FORM"),
            (with("{", &format!("{{\"trail\":\"{}\",", "t".repeat(129))), 422, "STM.TRAIL_FORM"),
            (with("{", "{\"trail\":null,"), 400, "J.TYPE"),
        ] {
            let answer = world.post("/v1/entries", &body);
            let problem = answer.problem(status, code);
            assert_eq!(problem.get("position"), None, "{body}");
        }
    });
    let limits = [("sequence", 0), ("sequence", 9_007_199_254_740_991)];
    for (_, sequence) in limits {
        let taken = placed(1, &"t".repeat(128), sequence);
        assert_eq!(world.post("/v1/entries", taken).status, 200);
    }
}

#[test]
fn waiting_for_what_does_not_come_ends_with_what_there_is() {
    let world = filled(1);
    let started = Instant::now();
    let receipt_now = receipt(&world.post("/v1/entries?wait=anchored&timeout=1", text(1)), &world);
    assert!(started.elapsed() >= Duration::from_secs(1));
    assert_eq!(receipt_now.state.as_str(), "published");
    let started = Instant::now();
    for query in ["?wait=published&timeout=60", "?wait=witnessed&timeout=0"] {
        let _ = receipt(&world.get(&format!("/v1/receipts/0{query}")), &world);
        let _ = receipt(&world.post(&format!("/v1/entries{query}"), text(2)), &world);
    }
    assert!(started.elapsed() < Duration::from_secs(30), "nobody waited");
    changes_nothing(&world, || {
        for (query, code) in [
            ("?wait=forever", "request.bad-parameter"),
            ("?wait=anchored&timeout=61", "request.bad-parameter"),
            ("?timeout=-1", "request.bad-parameter"),
            ("?wiat=published", "request.unknown-parameter"),
            ("?wait=published&wait=published", "request.malformed-query"),
        ] {
            world.post(&format!("/v1/entries{query}"), text(3)).problem(400, code);
            world.get(&format!("/v1/receipts/0{query}")).problem(400, code);
        }
    });
}

#[test]
fn a_request_in_work_is_answered_before_the_server_stops() {
    let mut world = World::start();
    let address = world.address();
    let waiting = thread::spawn(move || {
        let headers = [("content-type", "application/json")];
        let path = "/v1/entries?wait=anchored&timeout=60";
        anchorlog_tests::world::http::request(address, "POST", path, &headers, text(0).as_bytes())
    });
    let patience = Instant::now() + Duration::from_secs(30);
    while checkpoint(&world).checkpoint().size.get() == 0 {
        assert!(Instant::now() < patience, "the statement is not logged");
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(world.terminate(), 0);
    let answered = receipt(&waiting.join().unwrap(), &world);
    assert_eq!((answered.index, answered.state.as_str()), (0, "published"));
}
