//! A log that is a witness of audit trails: the whole way, and `kill -9` under submissions of several trails.
//!
//! The bug this guards against is a statement that is given out and not kept, or an index that is signed twice.
//! Chains are read with the verifier's reader, which shares no code with the witness' own rules.
//!
//! `ANCHORLOG_KILLS` says how often (8), `ANCHORLOG_SEED` repeats a run as far as timing lets it.

use std::collections::HashMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anchorlog_proto::Digest;
use anchorlog_proto::encoding::hex_decode_array;
use anchorlog_proto::jp::witness::{AuditCheckpoint, Statement, TrailId};
use anchorlog_tests::interop::random::Random;
use anchorlog_tests::process::setting;
use anchorlog_tests::world::http::Answer;
use anchorlog_tests::world::{Settings, World};
use anchorlog_verifier::jp::witness::{Reading, ReadingKind, Supplied, TrustedKeys, read_chain};
use serde_json::Value;

const SUBMIT: &str = "/witness/checkpoints";

/// A log with a token for `desk`, and a checkpoint witness.
fn world(more: &str) -> World {
    let sections = format!(
        "[[tokens]]\nsubject = \"desk\"\nsha256 = \"{}\"\n[checkpoint_witness]\nmarks = \"marks.jsonl\"\n\
         submissions_per_minute = 6000\n{more}",
        Digest::of(b"token")
    );
    World::with(Settings { sections, ..Settings::default() })
}

fn trail(number: u8) -> TrailId {
    TrailId::from_bytes([number; 16])
}

fn line(number: u8, sequence: u64) -> String {
    let digest = Digest::of(format!("record {sequence} of {number}").as_bytes());
    AuditCheckpoint::new(trail(number), sequence, digest).unwrap().to_line() + "\n"
}

fn post(world: &World, body: &str) -> Answer {
    let headers = [("content-type", "application/jsonl"), ("authorization", "Bearer token")];
    world.request("POST", SUBMIT, &headers, body.as_bytes())
}

/// Reads a trail page by page with the verifier's reader, against the head.
fn read(world: &World, number: u8) -> (Reading, Vec<Statement>) {
    let key = world.greeting()["checkpoint_witness"]["key"].as_str().unwrap();
    let keys = TrustedKeys::new(&[hex_decode_array(key).unwrap()]).unwrap();
    let path = format!("/witness/trails/{}", trail(number));
    let mut pages = Vec::new();
    let mut statements = Vec::new();
    loop {
        let answer = world.get(&format!("{path}/statements?from={}&limit=7", statements.len()));
        assert_eq!(answer.status, 200);
        if answer.body.is_empty() {
            break;
        }
        let text = answer.text();
        statements.extend(text.lines().map(|line| Statement::read(line.as_bytes()).unwrap()));
        pages.push(answer.body);
    }
    let head = world.get(&format!("{path}/head")).body;
    let files: Vec<&[u8]> = pages.iter().map(Vec::as_slice).collect();
    let supplied =
        Supplied { trail: trail(number), statements: &files, head: Some(&head), resume: None };
    let outcome = read_chain(&keys, &supplied).unwrap();
    assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
    let reading = outcome.reading.unwrap();
    assert_eq!(reading.kind(), ReadingKind::Current);
    (reading, statements)
}

/// The log's entries of a trail's statements, once they are all there.
fn entered(world: &World, number: u8, statements: &[Statement]) {
    let path = format!("/v1/trails/witness:{}?limit=1000", trail(number));
    for _ in 0..3000 {
        let answer = world.get(&path);
        if answer.status == 200 {
            let json = answer.json();
            assert_eq!(json["conflicts"], Value::Array(Vec::new()), "{json:#}");
            let entries = json["entries"].as_array().unwrap();
            if entries.len() == statements.len() {
                for (entry, statement) in entries.iter().zip(statements) {
                    let digest = Digest::of(statement.to_line().as_bytes());
                    assert_eq!(entry["digest"], digest.to_string());
                    assert_eq!(entry["sequence"], statement.body().index);
                }
                return;
            }
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("the statements of trail {number} are not in the log: {}", world.get(&path).text());
}

#[test]
fn an_operator_registers_a_trail_and_retires_it() {
    let mut world = world("");
    let register = |world: &World, number| {
        let trail = trail(number).to_string();
        let arguments = ["checkpoint-witness", "register", "--trail", &trail, "--subject", "desk"];
        world.log_server(&arguments).report(0)
    };
    post(&world, &line(1, 4)).problem(403, "witness.not-registered");
    let done = register(&world, 1);
    assert_eq!((&done["changed"], &done["server_running"]), (&true.into(), &true.into()));
    assert_eq!(register(&world, 1)["changed"], false);
    let first = post(&world, &line(1, 4));
    assert_eq!(first.status, 200, "{}", first.text());
    assert_eq!(post(&world, &(line(1, 4) + &line(1, 6))).status, 200);
    let (reading, statements) = read(&world, 1);
    assert_eq!(reading.latest_checkpoint().body().checkpoint.sequence, 6);
    entered(&world, 1, &statements);

    let retire = |world: &World, number, code| {
        let trail = trail(number).to_string();
        world.log_server(&["checkpoint-witness", "retire", "--trail", &trail]).report(code)
    };
    let refused = retire(&world, 2, 2);
    assert_eq!(refused["error"]["code"], "CLI.WITNESS_REFUSED", "{refused:#}");
    let done = retire(&world, 1, 0);
    assert_eq!(done["already_retired"], false);
    let problem = post(&world, &line(1, 9)).problem(409, "witness.retired");
    assert_eq!(problem["statements"], Value::from(vec![done["statement"].clone()]));
    let (reading, statements) = read(&world, 1);
    assert!(reading.is_retired());
    entered(&world, 1, &statements);
    assert_eq!(world.terminate(), 0);

    // Stopped, the same commands work on the files.
    let done = register(&world, 2);
    assert_eq!((&done["changed"], &done["server_running"]), (&true.into(), &false.into()));
    assert_eq!(retire(&world, 1, 0)["already_retired"], true);
    let verified = world.log_server(&["checkpoint-witness", "verify"]).report(0);
    assert_eq!((&verified["outcome"], &verified["statements"]), (&"start".into(), &3.into()));
    let key = world.log_server(&["checkpoint-witness", "key"]).report(0);
    let statements = world.data().join("checkpoint-witness/statements.jsonl");
    let copy = statements.to_str().unwrap();
    let arguments =
        ["checkpoint-witness", "verify", "--log", copy, "--key", key["key"].as_str().unwrap()];
    assert_eq!(world.log_server(&arguments).report(0)["marks"], Value::Null);
    let checked = world.log_server(&["fsck"]).report(0);
    assert_eq!(checked["checkpoint_witness"]["outcome"], "start", "{checked:#}");

    // A torn line: the server says what and what to do, and starts when that is done.
    let whole = fs::read(&statements).unwrap();
    fs::write(&statements, [whole.clone(), b"{\"checkpoint\":{\"ch".to_vec()].concat()).unwrap();
    let refused = world.log_server(&["serve"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    let message = refused.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("witness-log-torn") && message.contains("repair"), "{message}");
    assert_eq!(world.log_server(&["fsck"]).report(1)["checkpoint_witness"]["outcome"], "set-aside");
    let _ = world.log_server(&["checkpoint-witness", "verify"]).report(1);
    let repaired = world.log_server(&["checkpoint-witness", "repair"]).report(0);
    assert_eq!(repaired["steps"], Value::from(vec!["set-aside"]));
    assert_eq!(fs::read(&statements).unwrap(), whole);
    world.restart();
    assert_eq!(post(&world, &line(2, 1)).status, 200);

    // The end of the log is the end of its witness, which is read on.
    let _ = world.log_server(&["freeze"]).report(0);
    post(&world, &line(2, 2)).problem(503, "server.read-only");
    let refused = retire(&world, 2, 2);
    assert_eq!(refused["error"]["code"], "CLI.WITNESS_REFUSED", "{refused:#}");
    assert_eq!(world.terminate(), 0);
    fs::remove_file(world.data().join("checkpoint-witness/key.pem")).unwrap();
    world.restart();
    assert_eq!(read(&world, 1).1.len(), 3);
    assert_eq!(read(&world, 2).1.len(), 1);
    assert_eq!(world.terminate(), 0);
}

#[test]
fn a_trail_can_be_registered_before_the_first_start() {
    let mut world = world("");
    assert_eq!(world.terminate(), 0);
    fs::remove_dir_all(world.data()).unwrap();
    let trail = trail(1).to_string();
    let arguments = ["checkpoint-witness", "register", "--trail", &trail, "--subject", "desk"];
    assert_eq!(world.log_server(&arguments).report(0)["changed"], true);
    world.restart();
    assert_eq!(post(&world, &line(1, 4)).status, 200);
    assert_eq!(world.terminate(), 0);
}

/// What the answered submissions said, by trail and index.
type Answered = HashMap<(TrailId, u64), String>;

#[test]
fn killed_under_submissions_it_keeps_what_it_gave_out() {
    let kills = setting("ANCHORLOG_KILLS", 8);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seed = setting("ANCHORLOG_SEED", u64::from(now.subsec_nanos()));
    println!("{kills} kills, ANCHORLOG_SEED={seed}");
    let mut random = Random::new(seed);
    let mut world = world("registration = \"first-submission\"");
    let sequences: Vec<AtomicU64> = (0..3).map(|_| AtomicU64::new(1)).collect();
    let mut answered = Answered::new();
    let (mut repairs, mut before) = (0, 0);
    for _ in 0..kills {
        let pause = Duration::from_micros(20_000 + random.below(250_000));
        let stop = AtomicBool::new(false);
        let address = world.address();
        let lines: Vec<String> = thread::scope(|scope| {
            let clients: Vec<_> = (0..6_u8)
                .map(|client| {
                    let (sequences, stop) = (&sequences, &stop);
                    scope.spawn(move || submit_until(address, client, sequences, stop))
                })
                .collect();
            thread::sleep(pause);
            world.kill();
            stop.store(true, Ordering::Relaxed);
            clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
        });
        for line in lines {
            let statement = Statement::read(line.as_bytes()).unwrap();
            let place = (statement.body().checkpoint.trail, statement.body().index);
            let known = answered.entry(place).or_insert_with(|| line.clone());
            assert_eq!(*known, line, "an index was signed twice");
        }
        let repaired = world.log_server(&["checkpoint-witness", "repair"]).report(0);
        repairs += repaired["steps"].as_array().unwrap().len();
        world.restart();
        let mut total = 0;
        for number in 0..3 {
            if world.get(&format!("/witness/trails/{}/head", trail(number))).status == 404 {
                continue;
            }
            let (_, statements) = read(&world, number);
            total += statements.len();
            for ((id, index), line) in &answered {
                if *id == trail(number) {
                    let served = statements[usize::try_from(*index).unwrap()].to_line();
                    assert_eq!(served, *line, "what was given out is served");
                }
            }
            entered(&world, number, &statements[..statements.len().min(1000)]);
        }
        assert!(total >= before && total >= answered.len());
        before = total;
    }
    println!(
        "{kills} kills, {} of {before} statements answered, {repairs} repairs of the last step",
        answered.len()
    );
    assert!(!answered.is_empty(), "hardly any load");
    assert_eq!(world.terminate(), 0);
    let _ = world.log_server(&["fsck"]).report(0);
}

/// Submits ever higher sequences of one of three trails, two clients for each, and returns the statements.
fn submit_until(
    address: SocketAddr,
    client: u8,
    sequences: &[AtomicU64],
    stop: &AtomicBool,
) -> Vec<String> {
    let number = client % 3;
    let mut lines = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let sequence = sequences[usize::from(number)].fetch_add(1, Ordering::Relaxed);
        match try_post(address, &line(number, sequence)) {
            Some((200, body)) => lines.push(body.trim_end().to_owned()),
            // The other client of the trail was first with a higher one, or the rate is used up.
            Some((409 | 429, _)) => {}
            Some((status, body)) => panic!("{status}: {body}"),
            None => break,
        }
    }
    lines
}

/// One submission; none if the server goes away before the whole answer.
fn try_post(address: SocketAddr, body: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_mins(1))).ok()?;
    let head = format!(
        "POST {SUBMIT} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\nauthorization: Bearer token\r\n\
         content-type: application/jsonl\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "))?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    (length.parse() == Ok(body.len())).then(|| (status, body.to_owned()))
}
