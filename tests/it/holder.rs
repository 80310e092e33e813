//! Checkpoint lines of audit trails: the log as their holder, and the client on both sides.

mod client;
mod witness;
mod witness_double;

use std::fs;
use std::path::PathBuf;

use anchorlog_proto::Digest;
use anchorlog_proto::jp::witness::{AuditCheckpoint, TrailId};
use anchorlog_tests::world::http::Answer;
use anchorlog_tests::world::{Program, World, command, corpus, run};
use serde_json::{Value, json};

const PATH: &str = "/v1/trails:checkpoints";
const TRAIL: [u8; 16] = [0xab; 16];

fn line(sequence: u64, record: &str) -> String {
    let trail = TrailId::from_bytes(TRAIL);
    let digest = Digest::of(record.as_bytes());
    AuditCheckpoint::new(trail, sequence, digest).unwrap().to_line() + "\n"
}

fn trail() -> String {
    TrailId::from_bytes(TRAIL).to_string()
}

fn digest_of(line: &str) -> String {
    Digest::of(line.trim_end().as_bytes()).to_string()
}

fn post(world: &World, body: &str) -> Answer {
    post_as(world, None, body)
}

fn post_as(world: &World, token: Option<&str>, body: &str) -> Answer {
    let authorization = token.map(|token| format!("Bearer {token}"));
    let mut headers = vec![("content-type", "application/jsonl")];
    headers.extend(authorization.as_deref().map(|value| ("authorization", value)));
    world.request("POST", PATH, &headers, body.as_bytes())
}

fn indexes(batch: &Value) -> Vec<u64> {
    let receipts = batch["receipts"].as_array().unwrap();
    receipts.iter().map(|receipt| receipt["index"].as_u64().unwrap()).collect()
}

/// The real checkpoint lines of the corpus, one file after another.
fn corpus_lines() -> Option<(Vec<PathBuf>, String)> {
    let folder = corpus::folder("judgment-pack/runner")?;
    let files = corpus::files(&folder, ".checkpoints.jsonl");
    let text = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    Some((files, text))
}

/// A new token, and the configuration that knows it.
fn token(subject: &str, more: &str) -> (String, String) {
    let made = run(command(Program::LogServer).args(["token", "--subject", subject, "--json"]));
    let report = made.report(0);
    let text = |name: &str| report[name].as_str().unwrap().to_owned();
    assert_eq!(Digest::of(text("token").as_bytes()).to_string(), text("sha256"));
    let config = text("config").replace("rate = 0\n", "").replace("burst = 0\n", "");
    (text("token"), format!("{config}{more}\n"))
}

#[test]
fn real_lines_are_held_found_again_and_kept_over_restarts() {
    let Some((files, text)) = corpus_lines() else { return };
    assert_eq!(files.len(), 2, "the corpus holds two files of lines");
    let mut world = World::start();
    let answer = post(&world, &text);
    let first = answer.json();
    let count = u64::try_from(text.lines().count()).unwrap();
    assert_eq!(indexes(&first), (0..count).collect::<Vec<_>>());
    assert_eq!(first["log"], world.origin());
    for (line, index) in text.lines().zip(0_u64..) {
        let value: Value = serde_json::from_str(line).unwrap();
        let entry = world.get(&format!("/v1/entries/{index}")).json();
        assert_eq!(entry["statement"]["digest"], digest_of(line));
        assert_eq!(entry["statement"]["trail"], value["trail"]);
        assert_eq!(entry["statement"]["sequence"], value["sequence"]);
        assert_eq!(entry["statement"]["kind"], "checkpoint");
        let found = world.get(&format!("/v1/lookup?digest={}", digest_of(line))).json();
        assert_eq!(found["entries"][0]["index"], index);
    }
    world.kill();
    world.restart();
    let again = post(&world, &text).json();
    assert_eq!(indexes(&again), indexes(&first));
    for receipt in again["receipts"].as_array().unwrap() {
        assert_eq!(receipt["duplicate"], true);
    }
    assert_eq!(world.get("/v1/log").json()["size"], count);
    assert_eq!(world.terminate(), 0);
    assert_eq!(world.log_server(&["fsck"]).report(0)["verdict"], "holds");
}

#[test]
fn a_rewritten_trail_is_told_again_and_again() {
    let mut world = World::start();
    assert_eq!(post(&world, &(line(1, "a") + &line(2, "b"))).status, 200);
    let rewritten = line(2, "x") + &line(3, "c");
    let expected = json!([{
        "held": {"digest": digest_of(&line(2, "b")), "index": 1},
        "offered": {"digest": digest_of(&line(2, "x")), "index": 2},
        "sequence": 2,
        "trail": trail(),
    }]);
    for round in 0..3 {
        let problem = post(&world, &rewritten).problem(409, "trail.conflict");
        assert_eq!(problem["conflicts"], expected, "{round}");
        assert_eq!(indexes(&problem["committed"]), [2, 3]);
        if round == 1 {
            world.kill();
            world.restart();
        }
    }
    assert_eq!(indexes(&post(&world, &line(2, "b")).json()), [1], "who was first is right");
    let listed = world.get(&format!("/v1/trails/{}", trail())).json();
    assert_eq!(listed["conflicts"], json!([{"indexes": [1, 2], "sequence": 2}]));
    assert_eq!(listed["entries"].as_array().unwrap().len(), 4);
    let receipt = world.get("/v1/receipts/2").json();
    assert_eq!(receipt["conflicts"], json!([1]));
}

#[test]
fn what_is_no_line_is_refused_and_changes_nothing() {
    let world = World::start();
    let good = line(1, "a");
    for (body, status, code) in [
        (good.replace(":1,", ": 1,"), 400, "statement.malformed"),
        (good.replace('\n', "\r\n"), 400, "statement.malformed"),
        (good.trim_end().to_owned(), 400, "statement.malformed"),
        (good.clone() + &" ".repeat(4097) + "\n", 413, "statement.too-large"),
        (good.repeat(1 << 13), 413, "request.body-too-large"),
    ] {
        post(&world, &body).problem(status, code);
    }
    world.post(PATH, &good).problem(415, "request.unsupported-media-type");
    assert_eq!(world.get("/v1/log").json()["size"], 0);
}

#[test]
fn tokens_let_in_and_are_not_written_down() {
    let (secret, config) = token("desk", "rate = 1\nburst = 2");
    let world = World::configured(&format!("{config}[access]\nmode = \"keys\"\n"));
    let missing = post(&world, &line(1, "a"));
    missing.problem(401, "access.token-required");
    assert_eq!(missing.header("www-authenticate"), Some("Bearer"));
    let unknown =
        post_as(&world, Some(&secret.replace(|c: char| c.is_ascii_digit(), "f")), &line(1, "a"));
    unknown.problem(401, "access.bad-token");
    assert_eq!(unknown.header("www-authenticate"), Some("Bearer"));
    let two = line(1, "a") + &line(2, "b");
    assert_eq!(indexes(&post_as(&world, Some(&secret), &two).json()), [0, 1]);
    let late = post_as(&world, Some(&secret), &two);
    late.problem(429, "access.rate-limited");
    assert!(late.header("retry-after").is_some());
    assert!(!world.read_server_log().contains(&secret));
    // What has no signature stays out of the other calls, token or not.
    let statement = anchorlog_tests::world::statements::text(1);
    world.post("/v1/entries", statement).problem(401, "access.signature-required");
}
