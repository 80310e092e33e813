//! `anchor checkpoints submit --witness` and `fetch`.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;

use anchorlog_proto::Digest;
use anchorlog_proto::jp::witness::{AuditCheckpoint, Statement, TrailId};
use anchorlog_tests::world::Anchor;
use serde_json::Value;

use super::witness_double::{Script, start};
use super::{line, trail};

fn code(report: &Value) -> &str {
    report["errors"][0]["code"].as_str().unwrap_or_else(|| panic!("no failure in {report:#}"))
}

fn other(sequence: u64) -> String {
    let trail = TrailId::from_bytes([1; 16]);
    AuditCheckpoint::new(trail, sequence, Digest::of(b"other")).unwrap().to_line() + "\n"
}

fn url(address: SocketAddr) -> String {
    format!("http://{address}")
}

#[test]
fn a_request_is_of_one_trail_and_its_last_line_is_signed() {
    let (address, script) = start(Script { token: Some("t0".to_owned()), ..Script::default() });
    let anchor = Anchor::stranger(address);
    let file = anchor.home().join("token");
    fs::write(&file, "t0").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let witness = url(address);
    let submit =
        ["checkpoints", "submit", "--witness", &witness, "--token-file", "token", "--out", "kept"];
    let text = line(1, "a") + &other(7) + &line(2, "b");
    let report = anchor.run_with_input(&submit, text.as_bytes()).report(0);
    let statements = report["statements"].as_array().unwrap();
    assert_eq!(statements.len(), 2);
    assert_eq!(statements[0]["sequence"], 2, "only the last line is signed");
    {
        let script = script.lock().unwrap();
        assert_eq!(script.bodies, [line(1, "a") + &line(2, "b"), other(7)]);
        let kept = fs::read(anchor.home().join(format!("kept/{}.0.jsonl", trail()))).unwrap();
        assert_eq!(kept, (script.chain[0].to_line() + "\n").as_bytes());
    }
    // The same again is the same statement; another record is a disagreement with both.
    let _ = anchor.run_with_input(&submit, text.as_bytes()).report(0);
    let rewritten = line(2, "x");
    let report = anchor.run_with_input(&submit, rewritten.as_bytes()).report(1);
    assert_eq!(code(&report), "CLIENT.WITNESS");
    let said = report["errors"][0]["detail"].as_str().unwrap();
    for record in ["b", "x"] {
        assert!(said.contains(&Digest::of(record.as_bytes()).to_string()), "{said}");
    }
    assert_eq!(report["disagreements"][0]["reason"], "conflict");
    assert_eq!(report["disagreements"][0]["statements"].as_array().unwrap().len(), 2);

    let without = ["checkpoints", "submit", "--witness", &witness];
    let refused = anchor.run_with_input(&without, text.as_bytes()).report(1);
    assert_eq!(code(&refused), "unauthorized");
}

#[test]
fn statements_are_fetched_up_to_the_head() {
    let (address, script) = start(Script::default());
    let anchor = Anchor::stranger(address);
    let (witness, trail) = (url(address), trail());
    let fetch = |more: &[&str], exit| {
        let fixed =
            ["checkpoints", "fetch", "--witness", &witness, "--trail", &trail, "--out", "kept"];
        anchor.report(exit, &[&fixed[..], more].concat())
    };
    assert_eq!(code(&fetch(&[], 1)), "CLIENT.NOT_WITNESSED");
    let submit = ["checkpoints", "submit", "--witness", &witness, "--at-once", "1"];
    // More than a page.
    let lines: String = (1..=1003).map(|sequence| line(sequence, "a")).collect();
    let _ = anchor.run_with_input(&submit, lines.as_bytes()).report(0);
    let report = fetch(&[], 0);
    assert_eq!((&report["head_index"], &report["statements"]), (&1002.into(), &1003.into()));
    let read = |name: String| fs::read_to_string(anchor.home().join("kept").join(name)).unwrap();
    let chain: Vec<Statement> = script.lock().unwrap().chain.clone();
    let served: String = chain.iter().map(|statement| statement.to_line() + "\n").collect();
    assert_eq!(read(format!("{trail}.statements.jsonl")), served);
    assert_eq!(read(format!("{trail}.head.jsonl")), chain[1002].to_line() + "\n");

    let part = fetch(&["--limit", "1001"], 2);
    assert_eq!((code(&part), &part["next"]), ("CLIENT.MORE", &1001.into()));
    let rest = fetch(&["--from", "1001"], 0);
    assert_eq!(rest["statements"], 2);
    let both =
        read(format!("{trail}.statements.jsonl")) + &read(format!("{trail}.statements-1001.jsonl"));
    assert_eq!(both, served);
}

#[test]
fn a_witness_that_contradicts_itself_is_found_out() {
    let (address, script) = start(Script::default());
    let anchor = Anchor::stranger(address);
    let (witness, trail) = (url(address), trail());
    let submit = ["checkpoints", "submit", "--witness", &witness, "--at-once", "1"];
    let lines: String = (1..=3).map(|sequence| line(sequence, "a")).collect();
    let _ = anchor.run_with_input(&submit, lines.as_bytes()).report(0);
    let fetch = ["checkpoints", "fetch", "--witness", &witness, "--trail", &trail, "--out", "kept"];
    script.lock().unwrap().hidden = 1;
    let report = anchor.report(1, &fetch);
    assert_eq!((code(&report), &report["statements"]), ("CLIENT.WITNESS_ORDER", &2.into()));
    script.lock().unwrap().hidden = 0;
    script.lock().unwrap().second_head = true;
    let report = anchor.report(1, &fetch);
    assert_eq!((code(&report), &report["statements"]), ("CLIENT.WITNESS_ORDER", &3.into()));
    script.lock().unwrap().second_head = false;
    script.lock().unwrap().chain.swap(0, 1);
    let report = anchor.report(1, &fetch);
    assert_eq!(code(&report), "CLIENT.WITNESS_ORDER");
    let other = "0".repeat(32);
    let fetch = ["checkpoints", "fetch", "--witness", &witness, "--trail", &other, "--out", "kept"];
    assert_eq!(code(&anchor.report(2, &fetch)), "CLIENT.ANSWER", "a head of another trail");
}
