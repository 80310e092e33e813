//! Reading one thing, listing many, proving any past size.

use anchorlog_proto::Digest;
use anchorlog_proto::merkle::{Frontier, TreeSize, consistency, inclusion};
use anchorlog_tests::world::World;
use anchorlog_tests::world::statements::{digest, entry, placed, text, value};
use serde_json::{Value, json};

use super::{changes_nothing, checkpoint, filled, members, receipt};

#[test]
fn entries_and_receipts_are_read_by_index() {
    let world = filled(300);
    for index in [0, 1, 255, 256, 299] {
        let answer = world.get(&format!("/v1/entries/{index}"));
        assert_eq!(answer.header("cache-control"), Some("public, max-age=604800, immutable"));
        let body = answer.json();
        assert_eq!(members(&body), ["index", "leaf_hash", "statement"]);
        let expected = entry(index).leaf_hash().to_string();
        assert_eq!((&body["index"], &body["leaf_hash"]), (&index.into(), &expected.into()));
        assert_eq!(body["statement"], value(index));

        let answer = world.get(&format!("/v1/receipts/{index}"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        let receipt = receipt(&answer, &world);
        assert_eq!((receipt.index, &receipt.entry), (index, &entry(index)));
        assert_eq!(receipt.proof.checkpoint().checkpoint().size.get(), 300);
    }
    for (path, status, code) in [
        ("/v1/entries/300", 404, "log.not-found"),
        ("/v1/receipts/300", 404, "log.not-found"),
        ("/v1/entries/9223372036854775807", 404, "log.not-found"),
        ("/v1/entries/9223372036854775808", 400, "request.bad-parameter"),
        ("/v1/entries/-1", 400, "request.bad-parameter"),
        ("/v1/entries/01", 400, "request.bad-parameter"),
        ("/v1/entries/0x1", 400, "request.bad-parameter"),
        ("/v1/entries/1.0", 400, "request.bad-parameter"),
        ("/v1/receipts/one", 400, "request.bad-parameter"),
        ("/v1/entries/1?size=3", 400, "request.unknown-parameter"),
        ("/v1/receipts/1?a=%zz", 400, "request.unknown-parameter"),
        ("/v1/nothing", 404, "request.unknown-path"),
        ("/", 404, "request.unknown-path"),
        ("/v1/entries/1/2", 404, "request.unknown-path"),
    ] {
        world.get(path).problem(status, code);
    }
}

#[test]
fn a_digest_is_found_the_moment_its_receipt_is_there() {
    let world = World::start();
    for number in 0..50 {
        let receipt = receipt(&world.post("/v1/entries", text(number)), &world);
        let found = world.get(&format!("/v1/lookup?digest={}", digest(number))).json();
        assert_eq!(found["entries"][0]["index"], receipt.index);
    }
}

#[test]
fn look_ups_list_every_entry_of_a_digest_by_kind_if_asked() {
    let world = World::start();
    let submit = |statement: &Value| {
        receipt(&world.post("/v1/entries", statement.to_string()), &world).index
    };
    let (mut attestation, mut in_trail) = (value(1), value(1));
    attestation["kind"] = "attestation".into();
    in_trail["trail"] = "run-1".into();
    let indexes = [submit(&attestation), submit(&value(2)), submit(&in_trail), submit(&value(1))];
    assert_eq!(indexes, [0, 1, 2, 3]);

    let lookup = |query: &str| world.get(&format!("/v1/lookup?digest={}{query}", digest(1)));
    let answer = lookup("");
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let body = answer.json();
    assert_eq!(body["truncated"], false);
    let rows = body["entries"].as_array().unwrap();
    let row = |index: u64, kind: &str, trail: Value| {
        json!({"index": index, "kind": kind, "trail": trail, "sequence": null,
            "digest": digest(1).to_string(), "key_id": null})
    };
    let expected = [
        row(0, "attestation", Value::Null),
        row(2, "digest", "run-1".into()),
        row(3, "digest", Value::Null),
    ];
    assert_eq!(rows, &expected);
    assert_eq!(lookup("&kind=digest").json()["entries"], json!(expected[1..]));
    assert_eq!(lookup("&kind=core_root").json()["entries"], json!([]));
    let nothing = world.get(&format!("/v1/lookup?digest={}", digest(99))).json();
    assert_eq!(nothing["entries"], json!([]));

    for (query, code) in [
        ("", "request.missing-parameter"),
        ("?digest=", "request.bad-parameter"),
        ("?digest=sha256:00", "request.bad-parameter"),
        ("?digest=sha512:00", "request.bad-parameter"),
        ("?digset=1", "request.unknown-parameter"),
        ("?digest=%", "request.malformed-query"),
        ("?digest=%ff", "request.malformed-query"),
    ] {
        world.get(&format!("/v1/lookup{query}")).problem(400, code);
    }
    lookup("&kind=gossip").problem(400, "request.bad-parameter");
    lookup(&format!("&digest={}", digest(1))).problem(400, "request.malformed-query");
    // Percent-encoded it is the same digest.
    let encoded = digest(1).to_string().replace(':', "%3A");
    let body = world.get(&format!("/v1/lookup?digest={encoded}")).json();
    assert_eq!(body["entries"], json!(expected));
}

#[test]
fn trails_come_in_pages_and_name_their_conflicts() {
    let world = World::start();
    let submit = |statement: String| receipt(&world.post("/v1/entries", statement), &world);
    for number in 0..7 {
        let _ = submit(placed(number, "run-1", number));
        let _ = submit(text(100 + number));
    }
    let page = |query: &str| world.get(&format!("/v1/trails/run-1{query}")).json();
    let indexes = |body: &Value| -> Vec<u64> {
        let entries = body["entries"].as_array().unwrap();
        entries.iter().map(|entry| entry["index"].as_u64().unwrap()).collect()
    };
    let all = page("");
    assert_eq!(members(&all), ["conflicts", "entries", "next"]);
    assert_eq!(indexes(&all), [0, 2, 4, 6, 8, 10, 12]);
    assert_eq!((&all["next"], &all["conflicts"]), (&Value::Null, &json!([])));
    assert_eq!(
        all["entries"][3],
        json!({"index": 6, "kind": "digest", "trail": "run-1", "sequence": 3,
            "digest": digest(3).to_string(), "key_id": null})
    );
    // Page by page, as a client follows `next`.
    let (mut from, mut seen) = (0, Vec::new());
    loop {
        let part = page(&format!("?from={from}&limit=3"));
        let part_indexes = indexes(&part);
        assert!((1..=3).contains(&part_indexes.len()));
        seen.extend(part_indexes);
        match part["next"].as_u64() {
            Some(next) => from = next,
            None => break,
        }
    }
    assert_eq!(seen, indexes(&all));
    assert_eq!(indexes(&page("?from=5")), [6, 8, 10, 12]);
    assert_eq!(indexes(&page("?from=13")), Vec::<u64>::new());
    assert_eq!(indexes(&world.get("/v1/trails/run-2").json()), Vec::<u64>::new());

    // Another digest for a place that is taken is logged, and said in the receipt.
    let conflicting = submit(placed(50, "run-1", 3));
    assert_eq!((conflicting.index, conflicting.conflicts), (14, vec![6]));
    let earlier = receipt(&world.get("/v1/receipts/6"), &world);
    assert_eq!(earlier.conflicts, [14]);
    let all = page("");
    assert_eq!(all["conflicts"], json!([{"sequence": 3, "indexes": [6, 14]}]));
    // The same digest at the same place is no conflict, nor is another place.
    assert_eq!(submit(placed(3, "run-1", 3)).conflicts, [14]);
    assert!(submit(placed(51, "run-1", 20)).conflicts.is_empty());
    assert!(submit(placed(51, "run-9", 3)).conflicts.is_empty());

    for query in ["?limit=0", "?limit=1001", "?from=-1", "?limit=x"] {
        let answer = world.get(&format!("/v1/trails/run-1{query}"));
        answer.problem(400, "request.bad-parameter");
    }
    world.get("/v1/trails/run-1?form=3").problem(400, "request.unknown-parameter");
    for trail in ["UPPER", "a%20b", "%ff", ".x", &"t".repeat(129)] {
        world.get(&format!("/v1/trails/{trail}")).problem(400, "request.bad-parameter");
    }
    // A digest as a trail, as the GAD kinds have it, plain and encoded.
    let trail = digest(1).to_string();
    let _ = submit(placed(60, &trail, 0));
    for spelled in [trail.clone(), trail.replace(':', "%3A")] {
        let body = world.get(&format!("/v1/trails/{spelled}")).json();
        assert_eq!(body["entries"].as_array().unwrap().len(), 1);
    }
}

/// Sizes whose proofs are asked for: around the powers of two and the edges of tiles.
const SIZES: [u64; 17] = [0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 255, 256, 257, 511, 520];

#[test]
fn every_past_size_is_provable() {
    let world = filled(520);
    let mut frontier = Frontier::new();
    let mut roots: Vec<(TreeSize, Digest)> = vec![(frontier.size(), frontier.root())];
    for number in 0..520 {
        frontier.push(entry(number).leaf_hash()).unwrap();
        roots.push((frontier.size(), frontier.root()));
    }
    let head = checkpoint(&world);
    assert_eq!((head.checkpoint().size, head.checkpoint().root), *roots.last().unwrap());
    let at = |size: u64| roots[usize::try_from(size).unwrap()];
    let hashes = |body: &Value| -> Vec<Digest> {
        let hashes = body["hashes"].as_array().unwrap().iter();
        hashes.map(|hash| Digest::from_base64(hash.as_str().unwrap()).unwrap()).collect()
    };

    let mut proved = 0;
    for to in SIZES {
        for from in SIZES.into_iter().filter(|from| *from <= to) {
            let answer = world.get(&format!("/v1/proof/consistency?from={from}&to={to}"));
            assert_eq!(answer.header("cache-control"), Some("public, max-age=604800, immutable"));
            let body = answer.json();
            assert_eq!(members(&body), ["from", "hashes", "to"]);
            assert_eq!((&body["from"], &body["to"]), (&from.into(), &to.into()));
            let ((from, older), (to, newer)) = (at(from), at(to));
            consistency::verify(from, to, &older, &newer, &hashes(&body)).unwrap();
        }
        for index in [0, 1, 6, 31, 32, 254, 255, 256, 510, 519] {
            let path = format!("/v1/proof/inclusion?index={index}&size={to}");
            if index >= to {
                world.get(&path).problem(400, "request.bad-parameter");
                continue;
            }
            let answer = world.get(&path);
            assert_eq!(answer.header("cache-control"), Some("public, max-age=604800, immutable"));
            let body = answer.json();
            assert_eq!(members(&body), ["hashes", "index", "size"]);
            let (size, root) = at(to);
            let leaf = entry(index).leaf_hash();
            inclusion::verify(index, size, &leaf, &hashes(&body), &root).unwrap();
            proved += 1;
        }
    }
    assert!(proved > 50, "only {proved} inclusion proofs");

    // Without a size it is the present one, which may be another one tomorrow.
    let answer = world.get("/v1/proof/inclusion?index=3");
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let body = answer.json();
    assert_eq!(body["size"], 520);
    let (size, root) = at(520);
    inclusion::verify(3, size, &entry(3).leaf_hash(), &hashes(&body), &root).unwrap();
}

#[test]
fn proofs_that_cannot_be_are_refused() {
    let world = filled(5);
    for (path, status, code) in [
        ("inclusion", 400, "request.missing-parameter"),
        ("inclusion?size=3", 400, "request.missing-parameter"),
        ("inclusion?index=5", 404, "log.not-found"),
        ("inclusion?index=3&size=3", 400, "request.bad-parameter"),
        ("inclusion?index=0&size=0", 400, "request.bad-parameter"),
        ("inclusion?index=0&size=6", 404, "log.not-found"),
        ("inclusion?index=0&size=9223372036854775807", 404, "log.not-found"),
        ("inclusion?index=0&size=9223372036854775808", 400, "request.bad-parameter"),
        ("inclusion?index=0&size=05", 400, "request.bad-parameter"),
        ("consistency", 400, "request.missing-parameter"),
        ("consistency?from=1", 400, "request.missing-parameter"),
        ("consistency?from=3&to=2", 400, "request.bad-parameter"),
        ("consistency?from=3&to=6", 404, "log.not-found"),
        ("consistency?from=1&to=2&to=3", 400, "request.malformed-query"),
        ("consistency?first=1&second=2", 400, "request.unknown-parameter"),
    ] {
        world.get(&format!("/v1/proof/{path}")).problem(status, code);
    }
}

#[test]
fn nothing_is_countersigned_yet() {
    let world = filled(5);
    for (size, status, code) in [
        ("5", 404, "log.not-found"),
        ("6", 404, "log.not-found"),
        ("five", 400, "request.bad-parameter"),
    ] {
        world.get(&format!("/v1/checkpoints/{size}")).problem(status, code);
    }
}

#[test]
fn a_log_says_what_it_is_and_how_it_is() {
    let world = filled(3);
    let log = world.get("/v1/log").json();
    assert_eq!(members(&log), ["origin", "size", "software", "vkey", "vkeys"]);
    assert_eq!((&log["origin"], &log["size"]), (&world.origin().into(), &3.into()));
    assert_eq!((&log["vkey"], &log["vkeys"]), (&world.vkey().into(), &json!([world.vkey()])));
    assert_eq!(world.get("/healthz").json(), json!({"status": "ok"}));
    assert_eq!(world.get("/readyz").json(), json!({"status": "ready"}));

    let metrics = world.get("/metrics");
    assert_eq!(metrics.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let metrics = metrics.text();
    for line in ["anchorlog_tree_size 3", "anchorlog_submissions_total{outcome=\"accepted\"} 3"] {
        assert!(metrics.lines().any(|found| found == line), "{line} is not in\n{metrics}");
    }

    let document = world.get("/openapi.json").json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3."));
    let paths = document["paths"].as_object().unwrap();
    for path in [
        "/v1/entries",
        "/v1/entries:batch",
        "/v1/receipts/{index}",
        "/v1/entries/{index}",
        "/v1/lookup",
        "/v1/trails/{trail}",
        "/v1/proof/inclusion",
        "/v1/proof/consistency",
        "/v1/checkpoints/{size}",
        "/checkpoint",
        "/healthz",
        "/readyz",
        "/metrics",
        "/openapi.json",
    ] {
        assert!(paths.contains_key(path), "{path} is not described");
    }

    let quiet = World::configured("[telemetry]\nmetrics = false");
    quiet.get("/metrics").problem(404, "request.unknown-path");
}

#[test]
fn methods_that_a_path_does_not_know_are_refused() {
    let world = filled(1);
    changes_nothing(&world, || {
        for (method, path, allowed) in [
            ("GET", "/v1/entries", "POST"),
            ("GET", "/v1/entries:batch", "POST"),
            ("POST", "/checkpoint", "GET"),
            ("DELETE", "/v1/entries/0", "GET"),
            ("PUT", "/v1/entries/0", "GET"),
            ("PATCH", "/tile/0/000", "GET"),
            ("TRACE", "/v1/lookup", "GET"),
        ] {
            let answer = world.request(method, path, &[], b"");
            answer.problem(405, "request.method-not-allowed");
            let allow = answer.header("allow").unwrap();
            assert!(allow.split(',').any(|known| known.trim() == allowed), "{path}: {allow}");
        }
    });
}
