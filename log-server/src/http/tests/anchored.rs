//! Receipts that grow to `anchored`, whoever waits for them, and what the authorities have said.

use std::time::Instant;

use anchorlog_proto::encoding::base64_decode;
use anchorlog_proto::receipt::{Receipt, ReceiptState};

use super::*;
use crate::anchoring::testing::{Answer, GOOD};
use crate::config::Span;

const LATE: Duration = Duration::from_secs(2);

/// A world whose entries are stamped some time after they came.
async fn stamped(script: impl IntoIterator<Item = Answer>) -> (World, Arc<Scripted>) {
    let authority = Scripted::new("Example TSA", script);
    let interval = |config: &mut Config, _: &mut LogOptions| {
        config.anchoring.interval = Span::from_secs(2);
    };
    (World::stamped(interval, std::slice::from_ref(&authority)).await, authority)
}

fn receipt(answer: &HttpAnswer) -> Receipt {
    assert_eq!(answer.status, 200, "{}", answer.text());
    Receipt::parse(&answer.body).unwrap()
}

/// The HTTP answer; the script's answers have the name too.
type HttpAnswer = super::Answer;

fn size_of(receipt: &Receipt) -> u64 {
    receipt.proof.checkpoint().checkpoint().size.get()
}

#[tokio::test]
async fn whoever_waits_is_answered_when_the_entry_is_anchored() {
    let (world, authority) = stamped([GOOD]).await;
    let begun = Instant::now();
    // Published at once, whatever comes later.
    let published = receipt(&world.post("/v1/entries", text(0)).await);
    assert_eq!((published.state, published.timestamps.len()), (ReceiptState::Published, 0));
    assert_eq!(receipt(&world.get("/v1/receipts/0").await).state, ReceiptState::Published);
    assert!(begun.elapsed() < LATE);

    let (submitted, read, batched) = tokio::join!(
        world.post("/v1/entries?wait=anchored&timeout=60", text(1)),
        world.get("/v1/receipts/0?wait=anchored&timeout=60"),
        async {
            let answer = world.post("/v1/entries:batch", batch(&[text(2), text(3)])).await;
            (answer.status, begun.elapsed())
        },
    );
    assert_eq!((batched.0, batched.1 < LATE), (200, true));
    assert!(begun.elapsed() + Duration::from_millis(50) >= LATE);
    let (submitted, read) = (receipt(&submitted), receipt(&read));
    assert_eq!((submitted.index, read.index), (1, 0));
    assert_eq!(authority.asked(), 1);
    for receipt in [&submitted, &read] {
        assert_eq!(receipt.state, ReceiptState::Anchored);
        assert_eq!((size_of(receipt), receipt.timestamps.len()), (4, 1));
        assert_eq!(receipt.proof.checkpoint(), submitted.proof.checkpoint());
        assert_eq!(receipt.timestamps, submitted.timestamps);
    }
    // From now on that is the entry's receipt, for a duplicate too.
    assert_eq!(receipt(&world.get("/v1/receipts/0").await), read);
    let again = receipt(&world.post("/v1/entries?wait=anchored", text(0)).await);
    assert_eq!(again, read);
    // `anchored` is more than `witnessed`.
    let more = receipt(&world.get("/v1/receipts/3?wait=witnessed").await);
    assert_eq!((more.state, size_of(&more)), (ReceiptState::Anchored, 4));
}

#[tokio::test]
async fn when_the_time_is_up_the_receipt_comes_as_it_is() {
    let (world, authority) = stamped([Answer::Hang]).await;
    assert_eq!(world.post("/v1/entries", text(0)).await.status, 200);
    let patience = Instant::now() + Duration::from_secs(30);
    while authority.asked() == 0 {
        assert!(Instant::now() < patience);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    for path in ["/v1/entries?wait=anchored&timeout=1", "/v1/entries?wait=witnessed&timeout=0"] {
        let begun = Instant::now();
        let answer = receipt(&world.post(path, text(0)).await);
        assert_eq!(answer.state, ReceiptState::Published);
        assert!(begun.elapsed() < Duration::from_secs(30));
    }
    assert_eq!(authority.asked(), 1);
}

#[tokio::test]
async fn only_so_many_wait() {
    let authority = Scripted::new("a", [Answer::Hang]);
    let nobody = |config: &mut Config, _: &mut LogOptions| config.http.max_waiting = 0;
    let world = World::stamped(nobody, &[authority]).await;
    let begun = Instant::now();
    let answer = receipt(&world.post("/v1/entries?wait=anchored&timeout=60", text(0)).await);
    assert_eq!(answer.state, ReceiptState::Published);
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[tokio::test]
async fn countersigned_checkpoints_are_shown_and_listed() {
    let (world, _) = stamped([GOOD]).await;
    world.get("/v1/checkpoints/0").await.problem(404, "log.not-found");
    assert_eq!(world.get("/v1/checkpoints").await.text(), r#"{"checkpoints":[],"next":null}"#);
    let first = receipt(&world.post("/v1/entries?wait=anchored", text(0)).await);
    let second = receipt(&world.post("/v1/entries?wait=anchored", text(1)).await);
    assert_eq!((size_of(&first), size_of(&second)), (1, 3));
    let answer = world.get("/v1/checkpoints/1").await;
    assert_eq!((answer.status, answer.header("cache-control")), (200, Some("no-store")));
    let shown = answer.json();
    assert_eq!(shown["size"], 1);
    assert_eq!(shown["cosignatures"], serde_json::json!([]));
    let note = shown["checkpoint"].as_str().unwrap();
    assert_eq!(note.as_bytes(), first.proof.checkpoint().to_bytes());
    let timestamp = &shown["timestamps"][0];
    assert_eq!(timestamp["operator"], "Example TSA");
    let token = base64_decode(timestamp["token"].as_str().unwrap()).unwrap();
    assert_eq!(token, first.timestamps[0]);
    for time in ["gen_time", "expires", "received"] {
        assert!(timestamp[time].as_str().unwrap().ends_with('Z'), "{shown}");
    }
    world.get("/v1/checkpoints/2").await.problem(404, "log.not-found");
    world.get("/v1/checkpoints/99").await.problem(404, "log.not-found");
    world.get("/v1/checkpoints/x").await.problem(400, "request.bad-parameter");

    let list = world.get("/v1/checkpoints").await.json();
    assert_eq!((&list["checkpoints"][0]["size"], &list["checkpoints"][1]), (&3.into(), &shown));
    assert_eq!(list["next"], Value::Null);
    let list = world.get("/v1/checkpoints?limit=1").await.json();
    assert_eq!((&list["checkpoints"][0]["size"], &list["next"]), (&3.into(), &3.into()));
    let list = world.get("/v1/checkpoints?limit=1&below=3").await.json();
    assert_eq!((&list["checkpoints"][0], &list["next"]), (&shown, &Value::Null));
    for limit in ["0", "101", "-1"] {
        let path = format!("/v1/checkpoints?limit={limit}");
        world.get(&path).await.problem(400, "request.bad-parameter");
    }
}

#[tokio::test]
async fn readiness_tells_how_anchoring_goes_and_stands_by_it_only_if_told_to() {
    let plain = World::new().await;
    assert_eq!(plain.get("/readyz").await.text(), r#"{"status":"ready"}"#);

    for required in [false, true] {
        let down = Scripted::new("Example TSA", [Answer::Refuse("TSA.STATUS")]);
        let strict = |config: &mut Config, _: &mut LogOptions| {
            config.anchoring.interval = Span::from_millis(20);
            if required {
                config.anchoring.required_age = Span::from_millis(300);
            }
        };
        let world = World::stamped(strict, std::slice::from_ref(&down)).await;
        let answer = world.get("/readyz").await.json();
        assert_eq!(answer["anchoring"]["waited_seconds"], 0);
        let state = &answer["anchoring"]["authorities"][0];
        assert_eq!((&state["age_seconds"], &state["error"]), (&Value::Null, &Value::Null));
        world.post("/v1/entries", text(0)).await;
        let ready = async || world.get("/readyz").await;
        if required {
            let answer = until(ready, |answer| answer.status == 503).await;
            answer.problem(503, "server.not-anchored");
            // It is a complaint, not a refusal.
            assert_eq!(world.post("/v1/entries", text(1)).await.status, 200);
            continue;
        }
        let waited = |answer: &HttpAnswer| {
            let anchoring = &answer.json()["anchoring"];
            let failures = &anchoring["authorities"][0]["failures"];
            anchoring["waited_seconds"].as_u64() >= Some(1) && failures.as_u64() >= Some(1)
        };
        let answer = until(ready, waited).await.json();
        let state = &answer["anchoring"]["authorities"][0];
        assert_eq!(
            (&state["operator"], &state["error"]),
            (&"Example TSA".into(), &"TSA.STATUS".into())
        );
    }
}
