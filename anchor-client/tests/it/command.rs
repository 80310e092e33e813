//! The program: exit codes, JSON on every path, messages that say what to do.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use anchorlog_proto::Digest;
use anchorlog_proto::receipt::Receipt;
use serde_json::Value;

use crate::fake_log::{FakeLog, problem};
use crate::{entries, entry};

/// The program with its own state directory and nothing from the environment.
pub fn anchor(state: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_anchor"));
    command.env_clear().env("ANCHORLOG_STATE", state).stdin(Stdio::null());
    command
}

struct World {
    log: FakeLog,
    state: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        Self { log: FakeLog::start(), state: tempfile::tempdir().unwrap() }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        anchor(self.state.path())
            .env("ANCHORLOG_LOG", self.log.url())
            .args(arguments)
            .output()
            .unwrap()
    }

    /// Runs with `--json` and returns exit code and report.
    fn json(&self, arguments: &[&str]) -> (i32, Value) {
        let output = self.run(&[arguments, &["--json"]].concat());
        report(&output)
    }
}

pub fn report(output: &Output) -> (i32, Value) {
    let code = output.status.code().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stdout)));
    assert_eq!(report["schema"], "anchorlog.client-report/1");
    assert_eq!(report["exit_code"], code);
    (code, report)
}

fn digest(number: u64) -> String {
    Digest::of(&number.to_be_bytes()).to_string()
}

#[test]
fn submit_receipt_lookup_and_trail_go_together() {
    let world = World::new();
    let file = world.state.path().join("report.pdf");
    std::fs::write(&file, b"content").unwrap();
    let out = world.state.path().join("receipt.json");
    let (file, out) = (file.to_str().unwrap(), out.to_str().unwrap());
    let arguments = [
        "submit",
        "--kind",
        "core_root",
        "--trail",
        "run-7",
        "--sequence",
        "0",
        file,
        "--out",
        out,
    ];
    let (code, report) = world.json(&arguments);
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(report["receipts"][0]["index"], 0);
    assert_eq!(report["receipts"][0]["file"], file);
    assert_eq!(report["receipts"][0]["digest"], Digest::of(b"content").to_string());
    assert_eq!(report["left_in_outbox"], 0);
    let receipt = Receipt::parse(&std::fs::read(out).unwrap()).unwrap();
    assert_eq!(receipt.entry.statement().digest, Digest::of(b"content"));

    let (code, report) = world.json(&["lookup", &Digest::of(b"content").to_string()]);
    assert_eq!((code, &report["entries"][0]["trail"]), (0, &Value::from("run-7")));
    let (code, report) = world.json(&["trail", "run-7"]);
    assert_eq!((code, report["entries"].as_array().unwrap().len()), (0, 1));
    let (code, report) = world.json(&["receipt", "0"]);
    assert_eq!(code, 0, "{report:#}");
    let embedded = report["receipts"][0]["receipt"].to_string();
    assert_eq!(Receipt::parse(embedded.as_bytes()).unwrap(), receipt);

    let text = String::from_utf8(world.run(&["lookup", &digest(99)]).stderr).unwrap();
    assert!(text.starts_with("error[CLIENT.NOT_LOGGED]: "), "{text}");
    assert_eq!(world.json(&["lookup", &digest(99)]).0, 1);
    let (code, report) = world.json(&["receipt", "7"]);
    assert_eq!((code, &report["errors"][0]["code"]), (1, &Value::from("NOT_FOUND")));
}

#[test]
fn first_use_is_said_loudly_and_once() {
    let world = World::new();
    let first = world.run(&["submit", "--kind", "digest", "--digest", &digest(1)]);
    let text = String::from_utf8(first.stderr).unwrap();
    assert!(text.contains("FIRST USE") && text.contains(&world.log.vkey()), "{text}");
    assert!(first.status.success());
    let second = world.run(&["submit", "--kind", "digest", "--digest", &digest(2)]);
    assert_eq!(String::from_utf8(second.stderr).unwrap(), "");
    let stdout = String::from_utf8(second.stdout).unwrap();
    assert!(stdout.starts_with("1  digest sha256:"), "{stdout}");
}

#[test]
fn many_statements_from_standard_input_get_a_directory_of_receipts() {
    let world = World::new();
    let out = world.state.path().join("receipts-here");
    let mut child = anchor(world.state.path())
        .args(["submit", "--json", "--log", &world.log.url(), "-", "--out", out.to_str().unwrap()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for entry in entries(0..1203) {
        stdin.write_all(entry.leaf_bytes()).unwrap();
        stdin.write_all(b"\n").unwrap();
    }
    drop(stdin);
    let (code, report) = report(&child.wait_with_output().unwrap());
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(report["receipts"].as_array().unwrap().len(), 1203);
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 1203);
    let receipt = Receipt::parse(&std::fs::read(out.join("1202.json")).unwrap()).unwrap();
    assert_eq!(receipt.entry, entry(1202));
}

#[test]
fn a_log_that_is_down_keeps_statements_waiting_even_on_first_use() {
    let state = tempfile::tempdir().unwrap();
    // Nobody listens there.
    let url = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", free.local_addr().unwrap())
    };
    let output = anchor(state.path())
        .args(["submit", "--json", "--log", &url, "--attempts", "1", "--kind", "digest"])
        .args(["--digest", &digest(1)])
        .output()
        .unwrap();
    let (code, failed) = report(&output);
    assert_eq!(code, 2, "{failed:#}");
    assert_eq!(failed["errors"][0]["code"], "CLIENT.UNREACHABLE");
    assert_eq!(failed["left_in_outbox"], 1);

    let output = anchor(state.path()).args(["outbox", "list", "--json"]).output().unwrap();
    let (code, listed) = report(&output);
    assert_eq!((code, &listed["logs"][0]["log"]), (0, &Value::from(url.as_str())));
    assert_eq!(listed["logs"][0]["submissions"][0]["state"], "waiting");
    let hash = entry(1).leaf_hash().to_string();
    assert_eq!(listed["logs"][0]["submissions"][0]["leaf_hashes"][0], hash);

    let output = anchor(state.path())
        .args(["outbox", "flush", "--json", "--attempts", "1"])
        .output()
        .unwrap();
    let (code, flushed) = report(&output);
    assert_eq!((code, &flushed["logs"][0]["left_in_outbox"]), (2, &Value::from(1)));
}

#[test]
fn the_next_submission_sends_what_was_left_first() {
    let world = World::new();
    let url = world.log.url();
    world.log.hook(|_, line| line.starts_with("POST").then(|| problem(507, "DISK_FULL", "full")));
    let (code, report) = world.json(&["submit", "--kind", "digest", "--digest", &digest(1)]);
    assert_eq!((code, &report["errors"][0]["code"]), (2, &Value::from("DISK_FULL")));
    world.log.honest();
    let (code, report) = world.json(&["submit", "--kind", "digest", "--digest", &digest(2)]);
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(report["earlier"][0]["digest"], digest(1));
    assert_eq!(report["earlier"][0]["index"], 0);
    assert_eq!(report["receipts"][0]["index"], 1);
    let (_, listed) = world.json(&["outbox", "list", "--log", &url]);
    assert_eq!(listed["logs"][0]["submissions"], Value::Array(Vec::new()));
}

#[test]
fn contradictions_exit_with_one_and_name_the_evidence() {
    let world = World::new();
    world.log.world().append(entries(0..4));
    assert_eq!(world.json(&["receipt", "0"]).0, 0);
    world.log.world().entries = entries(100..104);
    let (code, report) = world.json(&["receipt", "0"]);
    assert_eq!((code, &report["errors"][0]["code"]), (1, &Value::from("LOG.SPLIT_VIEW")));
    let evidence = report["errors"][0]["evidence"].as_str().unwrap();
    assert!(Path::new(evidence).join("seen.note").exists());
    let text = String::from_utf8(world.run(&["receipt", "0"]).stderr).unwrap();
    assert!(text.contains("LOG.SPLIT_VIEW") && text.contains(evidence), "{text}");
}

#[test]
fn bad_arguments_and_input_exit_with_two_and_change_nothing() {
    let world = World::new();
    for (arguments, expected) in [
        (&["submit"][..], "CLIENT.USAGE"),
        (&["submit", "--digest", "sha256:00", "--kind", "digest"], "CLIENT.USAGE"),
        (&["submit", "--digest", &digest(1)], "CLIENT.USAGE"),
        (&["submit", "--kind", "digest", "/no/such/file"], "CLIENT.INPUT"),
        (
            &["submit", "--kind", "digest", "--digest", &digest(1), "--key", "/dev/null"],
            "CLIENT.KEY_FILE",
        ),
        (&["lookup", "--log", "ftp://x", &digest(1)], "CLIENT.USAGE"),
        (&["receipt", "--vkey", "nonsense", "1"], "CLIENT.USAGE"),
        (&["receipt", "--policy", "/no/such/policy", "1"], "CLIENT.POLICY"),
        (&["trail", "UPPER"], "CLIENT.USAGE"),
        (&["stamp"], "CLIENT.USAGE"),
        (&["submit", "-"], "CLIENT.INPUT"),
        (&["man", "no-such"], "CLIENT.USAGE"),
    ] {
        let (code, report) = world.json(arguments);
        assert_eq!(
            (code, &report["errors"][0]["code"]),
            (2, &Value::from(expected)),
            "{arguments:?}"
        );
    }
    assert!(world.log.world().requests.is_empty());
    assert_eq!(std::fs::read_dir(world.state.path()).unwrap().count(), 0);
}

#[test]
fn help_completions_and_man_pages_are_made() {
    let world = World::new();
    for (arguments, expected) in [
        (&["--help"][..], "Examples:"),
        (&["submit", "--help"], "Examples:"),
        (&["--version"], "anchor "),
        (&["completions", "bash"], "_anchor"),
        (&["man"], ".TH anchor"),
        (&["man", "submit"], "submit"),
    ] {
        let output = world.run(arguments);
        assert!(output.status.success(), "{arguments:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains(expected), "{arguments:?}: {text}");
    }
}

#[test]
fn the_hammer_counts_and_verifies() {
    let world = World::new();
    for batch in [&[][..], &["--batch", "7"]] {
        let base = ["hammer", "--connections", "3", "--duration", "1", "--warmup", "0"];
        let (code, report) = world.json(&[&base[..], &["--sample", "5"], batch].concat());
        assert_eq!(code, 0, "{report:#}");
        assert!(report["statements_per_second"].as_f64().unwrap() > 0.0);
        assert_eq!(report["verified"], 5);
        assert!(report["latency_microseconds"]["p99"].as_u64().unwrap() > 0);
        assert_eq!(report["failures"], Value::Object(serde_json::Map::new()));
    }
    // Every answered statement is in the log.
    let logged = world.log.world().entries.len();
    assert!(logged > 0);

    world
        .log
        .hook(|_, line| line.starts_with("POST /bare").then(|| crate::fake_log::ok(&Value::Null)));
    let raw = ["hammer", "--raw", "--url-path", "/bare", "--duration", "1", "--connections", "2"];
    let (code, report) = world.json(&raw);
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(world.log.world().entries.len(), logged);

    world.log.hook(|_, line| line.starts_with("POST").then(|| problem(429, "SLOW", "slow down")));
    let (code, report) = world.json(&["hammer", "--duration", "1", "--connections", "2"]);
    assert_eq!(code, 1);
    assert!(report["failures"]["HTTP 429"].as_u64().unwrap() > 0);
}
