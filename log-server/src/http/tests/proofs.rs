//! Entries, receipts and proofs of every size; what doesn't exist, and what can't.

use anchorlog_proto::encoding::base64_decode_array;
use anchorlog_proto::merkle::{TreeSize, consistency, inclusion};
use anchorlog_proto::receipt::Receipt;

use super::*;

fn hashes(body: &Value) -> Vec<Digest> {
    let hashes = body["hashes"].as_array().unwrap().iter();
    hashes.map(|h| Digest::from_bytes(base64_decode_array(h.as_str().unwrap()).unwrap())).collect()
}

fn size(number: u64) -> TreeSize {
    TreeSize::new(number).unwrap()
}

#[tokio::test]
async fn entries_and_receipts_are_read_by_index() {
    let world = World::new().await;
    world.fill(3).await;
    let answer = world.get("/v1/entries/2").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("cache-control"), Some("public, max-age=604800, immutable"));
    let body = answer.json();
    assert_eq!(body["index"], 2);
    assert_eq!(body["leaf_hash"], entry(statement(2)).leaf_hash().to_string());
    assert_eq!(body["statement"], serde_json::from_str::<Value>(&text(2)).unwrap());
    for index in 0..3 {
        let answer = world.get(&format!("/v1/receipts/{index}")).await;
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        let receipt = Receipt::parse(&answer.body).unwrap();
        assert_eq!((receipt.index, receipt.entry.statement().digest), (index, digest(index)));
        receipt.proof.verify_inclusion(&receipt.leaf_hash).unwrap();
    }
    for path in ["/v1/entries/", "/v1/receipts/"] {
        for missing in ["3", "9223372036854775807"] {
            let problem =
                world.get(&format!("{path}{missing}")).await.problem(404, "log.not-found");
            assert!(problem["detail"].as_str().unwrap().contains("3 entries"), "{problem}");
        }
        for wrong in ["x", "-1", "01", "1.0", "9223372036854775808", "%31", "1%20"] {
            world.get(&format!("{path}{wrong}")).await.problem(400, "request.bad-parameter");
        }
    }
}

#[tokio::test]
async fn every_proof_of_every_size_holds() {
    let world = World::new().await;
    world.fill(12).await;
    let root = |number| world.log.root(size(number)).unwrap();
    for to in 1..=12 {
        for index in 0..to {
            let answer = world.get(&format!("/v1/proof/inclusion?index={index}&size={to}")).await;
            assert_eq!(answer.header("cache-control"), Some("public, max-age=604800, immutable"));
            let body = answer.json();
            assert_eq!((&body["index"], &body["size"]), (&index.into(), &to.into()));
            let leaf = entry(statement(index)).leaf_hash();
            inclusion::verify(index, size(to), &leaf, &hashes(&body), &root(to)).unwrap();
        }
        for from in 0..=to {
            let answer = world.get(&format!("/v1/proof/consistency?from={from}&to={to}")).await;
            let body = answer.json();
            assert_eq!((&body["from"], &body["to"]), (&from.into(), &to.into()));
            let (old, new) = (root(from), root(to));
            consistency::verify(size(from), size(to), &old, &new, &hashes(&body)).unwrap();
        }
    }
    let newest = world.get("/v1/proof/inclusion?index=4").await;
    assert_eq!(newest.json()["size"], 12);
    assert_eq!(newest.header("cache-control"), Some("no-store"));
}

#[tokio::test]
async fn proofs_of_what_is_not_there_are_refused() {
    let world = World::new().await;
    world.fill(5).await;
    for (query, status, code) in [
        ("inclusion?index=5", 404, "log.not-found"),
        ("inclusion?index=4&size=6", 404, "log.not-found"),
        ("inclusion?index=3&size=3", 400, "request.bad-parameter"),
        ("inclusion?index=9&size=5", 400, "request.bad-parameter"),
        ("inclusion?index=0&size=0", 400, "request.bad-parameter"),
        ("inclusion?size=3", 400, "request.missing-parameter"),
        ("inclusion?index=x", 400, "request.bad-parameter"),
        ("inclusion?index=1&sise=3", 400, "request.unknown-parameter"),
        ("consistency?from=1&to=6", 404, "log.not-found"),
        ("consistency?from=6&to=6", 404, "log.not-found"),
        ("consistency?from=4&to=3", 400, "request.bad-parameter"),
        ("consistency?from=4", 400, "request.missing-parameter"),
        ("consistency?to=4", 400, "request.missing-parameter"),
        ("consistency?from=-1&to=4", 400, "request.bad-parameter"),
    ] {
        world.get(&format!("/v1/proof/{query}")).await.problem(status, code);
    }
    assert_eq!(hashes(&world.get("/v1/proof/consistency?from=0&to=0").await.json()), []);
}

#[tokio::test]
async fn a_checkpoint_that_nobody_countersigned_is_not_there() {
    let world = World::new().await;
    world.fill(2).await;
    for size in ["1", "2", "3"] {
        world.get(&format!("/v1/checkpoints/{size}")).await.problem(404, "log.not-found");
    }
    world.get("/v1/checkpoints/newest").await.problem(400, "request.bad-parameter");
}

#[tokio::test]
async fn the_log_introduces_itself() {
    let world = World::new().await;
    world.fill(2).await;
    let answer = world.get("/v1/log").await;
    let body = answer.json();
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(body["origin"], ORIGIN);
    assert_eq!(body["size"], 2);
    assert_eq!(body["vkey"], world.log.key().to_string());
    assert_eq!(body["software"]["name"], "anchorlog");
}
