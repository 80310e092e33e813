//! Checkpoint lines of audit trails: what is taken, from whom, and what is said about conflicts.

use anchorlog_proto::jp::witness::{AuditCheckpoint, TrailId};

use super::*;
use crate::config::{AccessMode, TokenConfig};

const PATH: &str = "/v1/trails:checkpoints";

fn line(trail: u8, sequence: u64, record: &str) -> String {
    let trail = TrailId::from_bytes([trail; 16]);
    AuditCheckpoint::new(trail, sequence, Digest::of(record.as_bytes())).unwrap().to_line() + "\n"
}

fn digest_of(line: &str) -> String {
    Digest::of(line.trim_end().as_bytes()).to_string()
}

fn token(token: &str, rate: u32, burst: u32) -> TokenConfig {
    let sha256 = Digest::of(token.as_bytes()).to_string();
    TokenConfig { subject: token.to_owned(), sha256, rate, burst, ..TokenConfig::default() }
}

impl World {
    async fn lines(&self, body: impl Into<String>) -> Answer {
        self.lines_as(None, body).await
    }

    async fn lines_as(&self, authorization: Option<&str>, body: impl Into<String>) -> Answer {
        let mut headers = vec![("content-type", "application/jsonl; charset=utf-8")];
        headers.extend(authorization.map(|value| ("authorization", value)));
        self.send(request(Method::POST, PATH, &headers, body)).await
    }
}

fn places(answer: &Answer) -> Vec<(u64, bool)> {
    assert_eq!(answer.status, 200, "{}", answer.text());
    places_of(&answer.json())
}

fn places_of(batch: &Value) -> Vec<(u64, bool)> {
    let receipts = batch["receipts"].as_array().unwrap();
    let place =
        |place: &Value| (place["index"].as_u64().unwrap(), place["duplicate"].as_bool().unwrap());
    receipts.iter().map(place).collect()
}

#[tokio::test]
async fn lines_become_statements() {
    let world = World::new().await;
    let body = line(1, 1, "a") + &line(1, 2, "b") + &line(2, 1, "a");
    let answer = world.lines(body.clone()).await;
    assert_eq!(places(&answer), [(0, false), (1, false), (2, false)]);
    assert_eq!(answer.json()["log"], ORIGIN);
    let entry = world.get("/v1/entries/1").await.json();
    let statement = &entry["statement"];
    assert_eq!(statement["kind"], "checkpoint");
    assert_eq!(statement["digest"], digest_of(&line(1, 2, "b")));
    assert_eq!(statement["trail"], "01".repeat(16));
    assert_eq!(statement["sequence"], 2);
    assert_eq!(places(&world.lines(body).await), [(0, true), (1, true), (2, true)]);
    let more = line(1, 2, "b") + &line(1, 3, "c") + &line(1, 3, "c");
    assert_eq!(places(&world.lines(more).await), [(1, true), (3, false), (3, true)]);
    let trail = world.get(&format!("/v1/trails/{}", "01".repeat(16))).await.json();
    assert_eq!(trail["entries"].as_array().unwrap().len(), 3);
    assert_eq!(trail["conflicts"], Value::Array(Vec::new()));
}

#[tokio::test]
async fn more_lines_than_a_batch_go_in_one_after_another() {
    let world = World::with(|config, _| config.limits.batch = 3).await;
    let body: String = (1..=8).map(|sequence| line(1, sequence, "a")).collect();
    let expected: Vec<_> = (0..8).map(|index| (index, false)).collect();
    assert_eq!(places(&world.lines(body).await), expected);
    let body: String = (8..=9).map(|sequence| line(1, sequence, "a")).collect();
    assert_eq!(places(&world.lines(body).await), [(7, true), (8, false)]);
}

#[tokio::test]
async fn a_place_with_two_digests_is_kept_and_told() {
    let world = World::new().await;
    let (first, second) = (line(1, 2, "a"), line(1, 2, "b"));
    places(&world.lines(line(1, 1, "x") + &first).await);
    let both = second.clone() + &line(1, 3, "c");
    for (round, duplicate) in [(0, false), (1, true)] {
        let problem = world.lines(both.clone()).await.problem(409, "trail.conflict");
        assert_eq!(places_of(&problem["committed"]), [(2, duplicate), (3, duplicate)], "{round}");
        let conflicts = problem["conflicts"].as_array().unwrap();
        assert_eq!(conflicts.len(), 1);
        assert_eq!(conflicts[0]["trail"], "01".repeat(16));
        assert_eq!(conflicts[0]["sequence"], 2);
        assert_eq!(conflicts[0]["held"]["digest"], digest_of(&first));
        assert_eq!(conflicts[0]["held"]["index"], 1);
        assert_eq!(conflicts[0]["offered"]["digest"], digest_of(&second));
        assert_eq!(conflicts[0]["offered"]["index"], 2);
    }
    assert_eq!(places(&world.lines(first.clone()).await), [(1, true)], "who was first is right");
    let third = world.lines(line(1, 2, "z")).await.problem(409, "trail.conflict");
    assert_eq!(third["conflicts"][0]["held"]["index"], 1, "held is what was first");
    let trail = world.get(&format!("/v1/trails/{}", "01".repeat(16))).await.json();
    assert_eq!(trail["conflicts"][0]["indexes"], serde_json::json!([1, 2, 4]));
}

#[tokio::test]
async fn one_body_can_disagree_with_itself() {
    let world = World::new().await;
    let body = line(1, 2, "a") + &line(1, 2, "b") + &line(2, 2, "b");
    let problem = world.lines(body).await.problem(409, "trail.conflict");
    assert_eq!(problem["conflicts"].as_array().unwrap().len(), 1);
    assert_eq!(problem["conflicts"][0]["held"]["index"], 0);
    assert_eq!(problem["conflicts"][0]["offered"]["index"], 1);
}

#[tokio::test]
async fn other_statements_about_a_place_are_no_conflict() {
    let world = World::new().await;
    assert_eq!(world.post("/v1/entries", placed(1, &"01".repeat(16), 2)).await.status, 200);
    let own = line(1, 2, "a");
    let same = format!(
        r#"{{"digest":"{}","kind":"digest","schema":"anchorlog.statement/1","sequence":2,"trail":"{}"}}"#,
        digest_of(&own),
        "01".repeat(16)
    );
    assert_eq!(world.post("/v1/entries", same).await.status, 200);
    assert_eq!(places(&world.lines(own).await), [(2, false)]);
    world.lines(line(1, 2, "b")).await.problem(409, "trail.conflict");
}

#[tokio::test]
async fn a_conflict_cannot_be_buried_under_other_statements() {
    let world = World::new().await;
    let trail = TrailId::from_bytes([1; 16]);
    let crowd = |numbers: core::ops::Range<u64>, sequence: u64| {
        let one = |number| entry(statement(number).in_trail(trail.into(), Some(sequence)));
        numbers.map(one).collect::<Vec<_>>()
    };
    // More than one look at the index brings.
    world.commit(crowd(0..2_500, 1)).await;
    assert_eq!(places(&world.lines(line(1, 1, "first")).await), [(2_500, false)]);
    let problem = world.lines(line(1, 1, "second")).await.problem(409, "trail.conflict");
    assert_eq!(problem["conflicts"][0]["held"]["index"], 2_500);
    assert_eq!(places(&world.lines(line(1, 1, "first")).await), [(2_500, true)]);

    // With one more than are compared, nobody is told that there is none.
    let begin = world.size();
    world.commit(crowd(0..9_999, 2)).await;
    assert_eq!(places(&world.lines(line(1, 2, "in time")).await).len(), 1);
    let begin_next = world.size();
    world.commit(crowd(0..10_000, 3)).await;
    let problem = world.lines(line(1, 3, "late")).await.problem(409, "trail.conflict");
    assert_eq!(problem["conflicts"][0]["held"]["index"], begin_next + 9_999);
    assert_eq!(begin_next, begin + 10_000);
}

#[tokio::test]
async fn what_is_no_line_changes_nothing() {
    let world = World::new().await;
    let good = line(1, 1, "a");
    for (body, status, code) in [
        (String::new(), 400, "statement.malformed"),
        (good.trim_end().to_owned(), 400, "statement.malformed"),
        (good.clone() + "\n", 400, "statement.malformed"),
        (
            good.clone() + &line(1, 2, "b").replace("\"sequence\":2", "\"sequence\": 2"),
            400,
            "statement.malformed",
        ),
        (good.replace('\n', "\r\n"), 400, "statement.malformed"),
        (good.clone() + &" ".repeat(4097) + "\n", 413, "statement.too-large"),
        (good.repeat(6200), 413, "request.body-too-large"),
    ] {
        let problem = world.lines(body).await.problem(status, code);
        assert!(!problem["detail"].as_str().unwrap().is_empty());
    }
    let spelled = good.clone() + &line(1, 2, "b").replace(':', ": ");
    let problem = world.lines(spelled).await.problem(400, "statement.malformed");
    assert_eq!(problem["position"], 1);
    assert!(problem["detail"].as_str().unwrap().starts_with("Line 2: "), "{problem}");
    let typed = world.post(PATH, good.clone()).await;
    typed.problem(415, "request.unsupported-media-type");
    let headers = [("content-type", "application/jsonl"), ("content-encoding", "gzip")];
    let coded = world.send(request(Method::POST, PATH, &headers, good.clone())).await;
    coded.problem(415, "request.unsupported-media-type");
    let headers = [("content-type", "application/jsonl")];
    let path = format!("{PATH}?wait=published");
    let asked = world.send(request(Method::POST, &path, &headers, good)).await;
    asked.problem(400, "request.unknown-parameter");
    world.get(PATH).await.problem(405, "request.method-not-allowed");
    assert_eq!(world.size(), 0);
}

#[tokio::test]
async fn a_keyed_log_wants_a_token() {
    let world = World::with(|config, _| {
        config.access.mode = AccessMode::Keys;
        config.tokens = vec![token("desk", 0, 0)];
    })
    .await;
    let body = line(1, 1, "a");
    let missing = world.lines(body.clone()).await;
    missing.problem(401, "access.token-required");
    assert_eq!(missing.header("www-authenticate"), Some("Bearer"));
    for wrong in ["Bearer desk1", "Basic desk", "Bearer", "desk"] {
        let answer = world.lines_as(Some(wrong), body.clone()).await;
        let problem = answer.problem(401, "access.bad-token");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        assert!(!problem.to_string().contains("desk1"), "tokens aren't repeated");
    }
    assert_eq!(world.size(), 0);
    assert_eq!(places(&world.lines_as(Some("bearer desk"), body).await), [(0, false)]);
}

#[tokio::test]
async fn rates_count_lines() {
    let world = World::with(|config, _| {
        config.access.open_rate = 1;
        config.access.open_burst = 2;
        config.tokens = vec![token("desk", 1, 4), token("other", 0, 0)];
    })
    .await;
    let two = line(1, 1, "a") + &line(1, 2, "b");
    let three = two.clone() + &line(1, 3, "c");
    world.lines(three.clone()).await.problem(413, "request.batch-too-large");
    places(&world.lines(two.clone()).await);
    let late = world.lines(two.clone()).await;
    late.problem(429, "access.rate-limited");
    assert!(late.header("retry-after").is_some());
    places(&world.lines_as(Some("Bearer desk"), three.clone()).await);
    world.lines_as(Some("Bearer desk"), two).await.problem(429, "access.rate-limited");
    places(&world.lines_as(Some("Bearer other"), three.clone()).await);
    world.lines_as(Some("Bearer unknown"), three).await.problem(401, "access.bad-token");
}

#[tokio::test]
async fn a_frozen_log_takes_no_lines() {
    let world = World::new().await;
    places(&world.lines(line(1, 1, "a")).await);
    world.log.freeze().await.unwrap();
    world.lines(line(1, 2, "b")).await.problem(503, "server.read-only");
    assert_eq!(world.size(), 1);
}
