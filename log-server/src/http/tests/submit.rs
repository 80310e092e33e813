//! Submissions: receipts, duplicates, conflicts, waiting, batches, and everything that is refused.

use std::time::Instant;

use anchorlog_proto::receipt::{Receipt, ReceiptState};

use super::*;

#[tokio::test]
async fn a_statement_gets_a_receipt_that_holds() {
    let world = World::new().await;
    world.fill(5).await;
    let answer = world.post("/v1/entries", text(9)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("access-control-allow-origin"), None);
    let receipt = Receipt::parse(&answer.body).unwrap();
    assert_eq!(receipt.index, 5);
    assert_eq!(receipt.state, ReceiptState::Published);
    assert_eq!(receipt.entry, entry(statement(9)));
    receipt.proof.verify_inclusion(&receipt.leaf_hash).unwrap();
    let signed = receipt.proof.checkpoint();
    signed.verify(world.log.key()).unwrap();
    assert_eq!(signed.checkpoint().size.get(), 6);
    assert_eq!(receipt.to_json().unwrap(), answer.body, "the fast writer is canonical");
}

#[tokio::test]
async fn the_same_statement_gets_the_first_receipt_again() {
    let world = World::new().await;
    let first = world.post("/v1/entries", text(1)).await.json();
    world.fill(300).await;
    let spelled = text(1).replace(':', " : ").replace("sha256 : ", "sha256:");
    let spelled = spelled.replace("statement/1", "\\u0073tatement\\/1");
    let again = world.post("/v1/entries", spelled).await;
    assert_eq!(again.status, 200, "{}", again.text());
    let receipt = Receipt::parse(&again.body).unwrap();
    assert_eq!(receipt.index, first["index"]);
    receipt.proof.verify_inclusion(&receipt.leaf_hash).unwrap();
    assert_eq!(receipt.to_json().unwrap(), again.body);
    assert_eq!(world.size(), 300);
}

#[tokio::test]
async fn a_conflicting_claim_is_kept_and_flagged() {
    let world = World::new().await;
    let first = Receipt::parse(&world.post("/v1/entries", placed(1, "run", 7)).await.body).unwrap();
    assert!(first.conflicts.is_empty());
    let answer = world.post("/v1/entries", placed(2, "run", 7)).await;
    let second = Receipt::parse(&answer.body).unwrap();
    assert_eq!((second.index, &second.conflicts[..]), (1, &[0][..]));
    assert_eq!(second.to_json().unwrap(), answer.body);
    let other = Receipt::parse(&world.post("/v1/entries", placed(3, "run", 8)).await.body).unwrap();
    assert!(other.conflicts.is_empty());
    let grown = world.get("/v1/receipts/0").await;
    assert_eq!(Receipt::parse(&grown.body).unwrap().conflicts, [1]);
}

#[tokio::test]
async fn waiting_ends_with_its_time_and_the_state_reached() {
    let world = World::new().await;
    let started = Instant::now();
    let answer = world.post("/v1/entries?wait=witnessed&timeout=1", text(1)).await;
    assert!(started.elapsed() >= Duration::from_secs(1));
    assert_eq!(answer.json()["state"], "published");
    let started = Instant::now();
    for query in ["wait=published&timeout=60", "wait=anchored&timeout=0", "timeout=60"] {
        assert_eq!(world.post(&format!("/v1/entries?{query}"), text(2)).await.status, 200);
        assert_eq!(world.get(&format!("/v1/receipts/0?{query}")).await.status, 200);
    }
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[tokio::test]
async fn a_stop_ends_the_waiting_with_an_answer() {
    let world = World::new().await;
    let waiting = world.post("/v1/entries?wait=anchored&timeout=60", text(1));
    let stopping = async {
        while world.size() == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        world.stop.send(true).unwrap();
    };
    let (answer, ()) = tokio::join!(waiting, stopping);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["state"], "published");
}

#[tokio::test]
async fn too_many_waiting_are_answered_at_once() {
    let world = World::with(|config, _| config.http.max_waiting = 0).await;
    let started = Instant::now();
    assert_eq!(world.post("/v1/entries?wait=anchored&timeout=60", text(1)).await.status, 200);
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[tokio::test]
async fn what_is_no_statement_is_refused_with_code_and_place() {
    let world = World::new().await;
    let good = text(1);
    let with = |from: &str, to: &str| good.replace(from, to);
    let digest = digest(1).to_string();
    for (body, status, code, pointer) in [
        (String::new(), 400, "J.SYNTAX", Some("")),
        ("{".to_owned(), 400, "J.SYNTAX", Some("")),
        ("[]".to_owned(), 400, "J.TYPE", Some("")),
        (format!("{good}x"), 400, "J.SYNTAX", Some("")),
        (with("{", "{\"kind\":\"digest\","), 400, "J.DUP_KEY", None),
        (with("{", "{\"extra\":1,"), 400, "J.UNKNOWN_FIELD", Some("/extra")),
        (with("{", "{\"sequence\":1.0,"), 400, "J.NON_INTEGER", None),
        (with(&digest, "sha256:AB"), 400, "J.DIGEST_FORM", Some("/digest")),
        (with("\"digest\":", "\"digets\":"), 400, "J.MISSING_FIELD", Some("/digest")),
        (with("\"kind\":\"digest\"", "\"kind\":\"gossip\""), 422, "STM.KIND", None),
        (with("statement/1", "statement/2"), 422, "STM.SCHEMA", None),
        (with("{", "{\"sequence\":1,"), 422, "STM.SEQUENCE_WITHOUT_TRAIL", None),
        (with("{", "{\"trail\":\"UPPER\","), 422, "STM.TRAIL_FORM", None),
        (with("{", &format!("{{\"x\":\"{}\",", "x".repeat(5000))), 413, "STM.TOO_LARGE", None),
        (" ".repeat(17_000), 413, "request.body-too-large", None),
    ] {
        let answer = world.post("/v1/entries", body.clone()).await;
        let problem = answer.problem(status, code);
        if let Some(pointer) = pointer {
            assert_eq!(problem["pointer"], pointer, "{body}");
        }
        assert_eq!(problem.get("position"), None);
    }
    assert_eq!(world.size(), 0);
}

#[tokio::test]
async fn other_media_types_and_parameters_are_refused() {
    let world = World::new().await;
    for headers in [
        &[][..],
        &[("content-type", "text/plain")],
        &[("content-type", "application/x-www-form-urlencoded")],
        &[("content-type", "application/json"), ("content-encoding", "gzip")],
    ] {
        for path in ["/v1/entries", "/v1/entries:batch"] {
            let answer = world.send(request(Method::POST, path, headers, text(1))).await;
            answer.problem(415, "request.unsupported-media-type");
        }
    }
    for (query, code) in [
        ("wiat=published", "request.unknown-parameter"),
        ("wait=never", "request.bad-parameter"),
        ("wait=published&timeout=61", "request.bad-parameter"),
        ("timeout=1&timeout=1", "request.malformed-query"),
    ] {
        world.post(&format!("/v1/entries?{query}"), text(1)).await.problem(400, code);
        world.get(&format!("/v1/receipts/0?{query}")).await.problem(400, code);
    }
    let batch = batch(&[text(1)]);
    world.post("/v1/entries:batch?wait=x", batch).await.problem(400, "request.unknown-parameter");
    assert_eq!(world.size(), 0);
}

#[tokio::test]
async fn a_batch_is_answered_in_order() {
    let world = World::new().await;
    world.fill(2).await;
    let statements = [text(10), text(1), text(11), text(10), signed_unknown()];
    let answer = world.post("/v1/entries:batch", batch(&statements[..4])).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let body = answer.json();
    assert_eq!(body["log"], ORIGIN);
    assert_eq!(body["checkpoint"].as_str().unwrap().as_bytes(), world.log.snapshot().note());
    let places: Vec<_> = body["receipts"].as_array().unwrap().iter().collect();
    let indexes: Vec<_> = places.iter().map(|place| place["index"].as_u64().unwrap()).collect();
    assert_eq!(indexes, [2, 1, 3, 2]);
    let duplicate: Vec<_> = places.iter().map(|p| p["duplicate"].as_bool().unwrap()).collect();
    assert_eq!(duplicate, [false, true, false, true]);
    for (place, number) in places.iter().zip([10, 1, 11, 10]) {
        assert_eq!(place["state"], "published");
        assert_eq!(place["leaf_hash"], entry(statement(number)).leaf_hash().to_string());
    }
    assert_eq!(
        anchorlog_proto::json::canonical(
            &anchorlog_proto::json::parse(
                &answer.body,
                &anchorlog_proto::json::ReadLimits::default()
            )
            .unwrap()
        ),
        answer.body
    );
}

#[tokio::test]
async fn one_refused_statement_refuses_its_batch() {
    let world = World::new().await;
    let with = |third: String| batch(&[text(1), text(2), third, text(4)]);
    for (third, status, code, pointer) in [
        (text(3).replace("sha256:", "sha512:"), 400, "J.DIGEST_FORM", "/statements/2/digest"),
        ("7".to_owned(), 400, "J.TYPE", "/statements/2"),
        (
            text(3).replace("\"kind\":\"digest\"", "\"kind\":\"x\""),
            422,
            "STM.KIND",
            "/statements/2",
        ),
        (signed_unknown(), 403, "access.unknown-key", "/statements/2"),
    ] {
        let problem = world.post("/v1/entries:batch", with(third)).await.problem(status, code);
        assert_eq!(problem["position"], 2);
        assert_eq!(problem["pointer"], pointer);
        assert!(problem["detail"].as_str().unwrap().starts_with("Statement 2 of the batch: "));
    }
    assert_eq!(world.size(), 0);
}

#[tokio::test]
async fn batches_have_bounds() {
    let world = World::new().await;
    let answer = world.post("/v1/entries:batch", batch(&[])).await;
    assert_eq!(answer.problem(400, "statement.malformed")["pointer"], "/statements");
    let full: Vec<_> = (0..1001).map(text).collect();
    world.post("/v1/entries:batch", batch(&full)).await.problem(413, "request.batch-too-large");
    assert_eq!(world.size(), 0);
    let answer = world.post("/v1/entries:batch", batch(&full[..1000])).await;
    assert_eq!(answer.json()["receipts"].as_array().unwrap().len(), 1000);
    for (body, code) in [
        ("{}", "J.MISSING_FIELD"),
        ("[]", "J.TYPE"),
        (r#"{"statements":{}}"#, "J.TYPE"),
        (r#"{"statements":[],"more":1}"#, "J.UNKNOWN_FIELD"),
    ] {
        world.post("/v1/entries:batch", body).await.problem(400, code);
    }
    let world =
        World::with(|config, _| config.limits.batch_body = crate::config::Bytes::kib(4)).await;
    world.post("/v1/entries:batch", batch(&full)).await.problem(413, "request.body-too-large");
}

#[tokio::test]
async fn a_full_queue_and_a_closed_log_turn_submissions_away() {
    let world = World::with(|_, options| options.pool.queue_entries = 1).await;
    let answer = world.post("/v1/entries:batch", batch(&[text(1), text(2)])).await;
    answer.problem(503, "server.overloaded");
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(world.post("/v1/entries", text(1)).await.status, 200);
    world.log.close();
    let answer = world.post("/v1/entries", text(3)).await;
    answer.problem(503, "server.stopping");
    assert!(answer.header("retry-after").is_some());
    assert_eq!(world.get("/v1/receipts/0").await.status, 200, "reading goes on");
}

#[tokio::test]
async fn submissions_are_counted_by_outcome() {
    let world = World::new().await;
    world.post("/v1/entries", text(1)).await;
    world.post("/v1/entries", text(1)).await;
    world.post("/v1/entries:batch", batch(&[text(2), text(3)])).await;
    world.post("/v1/entries", "{").await;
    world.post("/v1/entries", signed_unknown()).await;
    let metrics = world.get("/metrics").await;
    for line in [
        "anchorlog_submissions_total{outcome=\"accepted\"} 3",
        "anchorlog_submissions_total{outcome=\"duplicate\"} 1",
        "anchorlog_submissions_total{outcome=\"malformed\"} 1",
        "anchorlog_submissions_total{outcome=\"forbidden\"} 1",
        "anchorlog_http_requests_total{route=\"/v1/entries\",status=\"2xx\"} 2",
        "anchorlog_http_requests_total{route=\"/v1/entries\",status=\"4xx\"} 2",
        "anchorlog_tree_size 3",
    ] {
        assert!(metrics.text().contains(line), "{line} is not in:\n{}", metrics.text());
    }
}

fn signed_unknown() -> String {
    signed(3, 99)
}
