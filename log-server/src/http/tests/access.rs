//! Who may submit: the statuses of refusal, and that a refusal changes nothing.

use super::*;
use crate::config::AccessMode;

async fn keyed() -> World {
    World::with(|config, _| {
        config.access.mode = AccessMode::Keys;
        config.access.keys = vec![submitter(1, 0, 0), submitter(2, 1, 2)];
    })
    .await
}

#[tokio::test]
async fn a_keyed_log_takes_signed_statements() {
    let world = keyed().await;
    let answer = world.post("/v1/entries", signed(1, 1)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let receipt = anchorlog_proto::receipt::Receipt::parse(&answer.body).unwrap();
    receipt.entry.verify_signature(&key(1).public_key()).unwrap();
    assert_eq!(receipt.to_json().unwrap(), answer.body);
}

#[tokio::test]
async fn others_are_refused() {
    let world = keyed().await;
    let unsigned = world.post("/v1/entries", text(1)).await;
    unsigned.problem(401, "access.signature-required");
    assert!(unsigned.header("www-authenticate").is_some());
    world.post("/v1/entries", signed(1, 3)).await.problem(403, "access.unknown-key");
    let forged = signed(1, 1).replace(&digest(1).to_string(), &digest(2).to_string());
    let forged = world.post("/v1/entries", forged).await.problem(403, "access.bad-signature");
    assert!(forged["detail"].as_str().unwrap().contains("key 1"), "{forged}");
    let batch = batch(&[signed(1, 1), text(2)]);
    let refused = world.post("/v1/entries:batch", batch).await;
    assert_eq!(refused.problem(401, "access.signature-required")["position"], 1);
    assert_eq!(world.size(), 0);
}

#[tokio::test]
async fn a_signature_by_an_unknown_key_is_refused_by_an_open_log_too() {
    let world = World::new().await;
    let problem = world.post("/v1/entries", signed(1, 1)).await.problem(403, "access.unknown-key");
    assert!(problem["detail"].as_str().unwrap().contains(&key(1).id().to_string()));
}

#[tokio::test]
async fn rates_are_kept() {
    let world = keyed().await;
    for number in 0..2 {
        assert_eq!(world.post("/v1/entries", signed(number, 2)).await.status, 200);
    }
    let answer = world.post("/v1/entries", signed(2, 2)).await;
    answer.problem(429, "access.rate-limited");
    assert_eq!(answer.header("retry-after"), Some("1"));
    let large = batch(&[signed(3, 2), signed(4, 2), signed(5, 2)]);
    world.post("/v1/entries:batch", large).await.problem(413, "request.batch-too-large");
    assert_eq!(world.post("/v1/entries", signed(2, 1)).await.status, 200, "the other key is free");
    assert_eq!(world.size(), 3);
}

#[tokio::test]
async fn an_open_log_can_have_a_rate() {
    let world = World::with(|config, _| {
        config.access.open_rate = 1;
        config.access.open_burst = 1;
    })
    .await;
    assert_eq!(world.post("/v1/entries", text(1)).await.status, 200);
    let answer = world.post("/v1/entries", text(2)).await;
    answer.problem(429, "access.rate-limited");
    assert!(answer.header("retry-after").is_some());
}
