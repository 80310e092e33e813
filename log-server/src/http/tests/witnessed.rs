//! Receipts that grow to `witnessed`, whoever waits for them, and what the witnesses have said.

use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::receipt::{Receipt, ReceiptState};
use anchorlog_proto::tlog_policy::{QuorumOutcome, TlogPolicy};
use anchorlog_proto::tlog_witness::AddCheckpoint;

use super::*;
use crate::anchoring::testing::GOOD;
use crate::config::Span;
use crate::witnessing::testing::{Reply, Scripted as Witness, policy};

fn receipt(answer: &Answer) -> Receipt {
    assert_eq!(answer.status, 200, "{}", answer.text());
    Receipt::parse(&answer.body).unwrap()
}

fn size_of(receipt: &Receipt) -> u64 {
    receipt.proof.checkpoint().checkpoint().size.get()
}

fn lines_of(receipt: &Receipt) -> usize {
    receipt.proof.checkpoint().note().signatures().len() - 1
}

/// A world whose checkpoints these witnesses cosign, two of them being enough, and this authority stamps.
async fn witnessed(
    interval: u64,
    witnesses: &[&Arc<Witness>],
    authorities: &[Arc<Scripted>],
) -> (World, Arc<TlogPolicy>) {
    let signer = NoteSigner::from_seed(KeyName::new(ORIGIN).unwrap(), [7; 32]);
    let (policy, named) = policy(signer.verifier_key(), 2, witnesses);
    let the_policy = Arc::clone(&policy);
    let change = move |config: &mut Config, options: &mut LogOptions| {
        config.witnessing.interval = Span::from_millis(interval);
        config.anchoring.interval = Span::from_millis(200);
        options.witness_policy = Some(the_policy);
    };
    (World::countersigned(change, authorities, named).await, policy)
}

#[tokio::test]
async fn whoever_waits_is_answered_when_the_quorum_has_cosigned() {
    let [a, b, c] = ["a", "b", "c"].map(|name| Witness::new(name, [Reply::Honest]));
    c.script([Reply::Hang]);
    let (world, policy) = witnessed(300, &[&a, &b, &c], &[]).await;
    let published = receipt(&world.post("/v1/entries", text(0)).await);
    assert_eq!((published.state, lines_of(&published)), (ReceiptState::Published, 0));
    // At the start a log waits for everybody, and this one doesn't answer: it is given up.
    let timely = receipt(&world.post("/v1/entries?wait=witnessed&timeout=1", text(1)).await);
    assert_eq!(timely.state, ReceiptState::Published);
    let grown = receipt(&world.get("/v1/receipts/1?wait=witnessed&timeout=60").await);
    assert_eq!((grown.state, grown.timestamps.len()), (ReceiptState::Witnessed, 0));
    let submitted = receipt(&world.post("/v1/entries?wait=witnessed&timeout=60", text(2)).await);
    assert_eq!((submitted.state, lines_of(&submitted)), (ReceiptState::Witnessed, 2));
    let verdict = policy.check(submitted.proof.checkpoint()).unwrap();
    assert!(matches!(verdict.quorum(), QuorumOutcome::Met { .. }));
    assert_eq!(receipt(&world.get("/v1/receipts/2").await), submitted);

    // What was said about it is shown, and served with the checkpoint as long as it is the newest.
    let shown = world.get(&format!("/v1/checkpoints/{}", size_of(&submitted))).await.json();
    let lines = shown["cosignatures"].as_array().unwrap();
    assert_eq!((lines.len(), &shown["timestamps"]), (2, &serde_json::json!([])));
    // As they came in.
    let is_by = |name| lines.iter().any(|line| line.as_str().unwrap().starts_with(name));
    assert!(is_by("\u{2014} a ") && is_by("\u{2014} b "), "{shown}");
    let list = world.get("/v1/checkpoints").await.json();
    assert_eq!(list["checkpoints"][0], shown);
    let served = world.get("/checkpoint").await;
    let note = SignedCheckpoint::parse(&served.body).unwrap();
    assert_eq!(note.note().signatures().len(), 3);
    assert!(note.verify(world.log.key()).is_ok());
    world.post("/v1/entries", text(3)).await;
    let served = world.get("/checkpoint").await;
    assert_eq!(SignedCheckpoint::parse(&served.body).unwrap().note().signatures().len(), 1);

    // Nobody is told more than the log's own line.
    let alone = |request: &AddCheckpoint| request.checkpoint.note().signatures().len() == 1;
    assert!(a.seen().iter().all(alone));
    let health = world.get("/readyz").await.json();
    assert_eq!(health["status"], "ready");
    let health = &health["witnessing"];
    assert_eq!((&health["witnesses"][0]["name"], &health["size"]), (&"a".into(), &3.into()));
    assert_eq!(health["witnesses"][2]["age_seconds"], Value::Null);
}

#[tokio::test]
async fn a_checkpoint_that_is_both_is_what_a_receipt_comes_to() {
    let [a, b] = ["a", "b"].map(|name| Witness::new(name, [Reply::Honest]));
    let authority = Scripted::new("Example TSA", [GOOD]);
    // The witnesses would not be asked for hours, were it not for the stamp.
    let (world, policy) = witnessed(3_600_000, &[&a, &b], &[authority]).await;
    let first = receipt(&world.post("/v1/entries?wait=witnessed&timeout=60", text(0)).await);
    assert_eq!((size_of(&first), lines_of(&first)), (1, 2));
    let second = receipt(&world.post("/v1/entries?wait=anchored&timeout=60", text(1)).await);
    assert_eq!((second.state, second.timestamps.len()), (ReceiptState::Anchored, 1));
    // The statement about the first token may have come before it.
    let path = format!("/v1/receipts/{}", second.index);
    let waiting = format!("{path}?wait=witnessed&timeout=60");
    let second = receipt(&world.get(&waiting).await);
    assert_eq!((second.state, second.timestamps.len()), (ReceiptState::Anchored, 1));
    assert_eq!(lines_of(&second), 2);
    assert!(matches!(
        policy.check(second.proof.checkpoint()).unwrap().quorum(),
        QuorumOutcome::Met { .. }
    ));
    assert_eq!(receipt(&world.get(&path).await), second);
}

#[tokio::test]
async fn stamped_but_not_witnessed_is_anchored_and_says_so_by_its_lines() {
    let [a, b] = ["a", "b"].map(|name| Witness::new(name, [Reply::Honest]));
    b.script([Reply::Refuses("WITNESS.UNKNOWN_LOG")]);
    let authority = Scripted::new("Example TSA", [GOOD]);
    let (world, policy) = witnessed(100, &[&a, &b], &[authority]).await;
    let anchored = receipt(&world.post("/v1/entries?wait=anchored&timeout=60", text(0)).await);
    assert_eq!((anchored.state, anchored.timestamps.len()), (ReceiptState::Anchored, 1));
    // Waiting for witnesses is not over because an authority has stamped.
    let begun = std::time::Instant::now();
    let still = receipt(&world.get("/v1/receipts/0?wait=witnessed&timeout=1").await);
    assert!(begun.elapsed() >= Duration::from_millis(900));
    assert_eq!(still.state, ReceiptState::Anchored);
    let verdict = policy.check(still.proof.checkpoint()).unwrap();
    assert_eq!(verdict.quorum(), QuorumOutcome::NotMet);
}

#[tokio::test]
async fn readiness_says_when_a_witness_speaks_against_the_log() {
    let [a, b] = ["a", "b"].map(|name| Witness::new(name, [Reply::Honest]));
    let (world, _) = witnessed(50, &[&a, &b], &[]).await;
    let good = receipt(&world.post("/v1/entries?wait=witnessed&timeout=60", text(0)).await);
    assert_eq!(good.state, ReceiptState::Witnessed);
    b.script([Reply::Stale(Some(1_000))]);
    let patience = std::time::Instant::now() + Duration::from_secs(30);
    let mut number = 1;
    let problem = loop {
        assert!(std::time::Instant::now() < patience);
        assert_eq!(world.post("/v1/entries", text(number)).await.status, 200);
        number += 1;
        let answer = world.get("/readyz").await;
        if answer.status == 503 {
            break answer.problem(503, "server.witness-alarm");
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("1000") && detail.contains("LOG.ROLLBACK"), "{problem}");
    // What was witnessed stays so; nothing new is.
    assert_eq!(receipt(&world.get("/v1/receipts/0").await), good);
    let path = "/v1/entries?wait=witnessed&timeout=1";
    let later = receipt(&world.post(path, text(99)).await);
    assert_eq!(later.state, ReceiptState::Published);
}

#[tokio::test]
async fn readiness_complains_about_waiting_only_if_told_to() {
    let a = Witness::new("a", [Reply::Refuses("WITNESS.UNKNOWN_LOG")]);
    let b = Witness::new("b", [Reply::Honest]);
    for required in [false, true] {
        let signer = NoteSigner::from_seed(KeyName::new(ORIGIN).unwrap(), [7; 32]);
        let (policy, named) = policy(signer.verifier_key(), 2, &[&a, &b]);
        let strict = move |config: &mut Config, options: &mut LogOptions| {
            options.witness_policy = Some(policy);
            if required {
                config.witnessing.required_age = Span::from_millis(100);
            }
        };
        let world = World::countersigned(strict, &[], named).await;
        assert_eq!(world.get("/readyz").await.status, 200);
        world.post("/v1/entries", text(0)).await;
        let ready = async || world.get("/readyz").await;
        if required {
            until(ready, |answer| answer.status == 503).await.problem(503, "server.not-witnessed");
        } else {
            let asked =
                |answer: &Answer| !answer.json()["witnessing"]["witnesses"][0]["error"].is_null();
            let health = &until(ready, asked).await.json()["witnessing"];
            assert_eq!(health["witnesses"][0]["error"], "WITNESS.UNKNOWN_LOG", "{health}");
            assert_eq!((&health["size"], &health["age_seconds"]), (&Value::Null, &Value::Null));
        }
    }
}
