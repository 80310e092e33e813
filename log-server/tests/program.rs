//! The program as people run it: start, submit, signal, restart, maintenance, exit codes.

#![allow(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that meets something unexpected may stop where it stands"
)]
#![allow(unused_crate_dependencies, reason = "the program under test has many, its test has few")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anchorlog_proto::timestamp::{TimestampResponse, Token};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

fn program(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_log-server"));
    command.current_dir(directory).env_clear();
    // The entries of a test are its own, unless it wants the development authority's among them.
    command.env("ANCHORLOG_ANCHORING_INTERVAL", "1h");
    command
}

fn run(directory: &Path, arguments: &[&str]) -> Output {
    program(directory).args(arguments).output().unwrap()
}

/// Runs with `--json` and returns exit code and report, which must be all there is on standard output.
fn report(directory: &Path, arguments: &[&str]) -> (i32, Value) {
    let output = program(directory).args(arguments).arg("--json").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let value: Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let code = output.status.code().unwrap();
    assert_eq!(value["exit_code"], code);
    assert_eq!(value["schema"], "anchorlog.log-server-report/1");
    (code, value)
}

/// A serving process.
struct Server {
    child: Child,
    address: String,
    greeting: Value,
}

impl Server {
    fn start(directory: &Path, arguments: &[&str]) -> Self {
        Self::start_as(program(directory), arguments)
    }

    fn start_as(mut command: Command, arguments: &[&str]) -> Self {
        command.args(["--listen", "127.0.0.1:0", "--json"]).args(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let greeting: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
        let address = greeting["url"].as_str().unwrap().trim_start_matches("http://").to_owned();
        let server = Self { child, address, greeting };
        let patience = Instant::now() + Duration::from_secs(20);
        while server.get("/readyz").0 != 200 {
            assert!(Instant::now() < patience, "the server doesn't become ready");
            thread::sleep(Duration::from_millis(10));
        }
        server
    }

    fn get(&self, path: &str) -> (u16, String) {
        self.exchange(&format!("GET {path} HTTP/1.1\r\n"), "")
    }

    /// Waits until a line is among the metrics. They follow what the log answers a moment later.
    fn measures(&self, line: &str) {
        let patience = Instant::now() + Duration::from_secs(30);
        while !self.get("/metrics").1.lines().any(|known| known == line) {
            assert!(Instant::now() < patience, "never: {line}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn submit(&self, digit: char) -> Value {
        let digest = format!("sha256:{}", digit.to_string().repeat(64));
        let body =
            format!(r#"{{"schema":"anchorlog.statement/1","kind":"digest","digest":"{digest}"}}"#);
        let head = "POST /v1/entries HTTP/1.1\r\ncontent-type: application/json\r\n";
        let (status, text) = self.exchange(head, &body);
        assert_eq!(status, 200, "{text}");
        serde_json::from_str(&text).unwrap()
    }

    fn exchange(&self, head: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        write!(
            stream,
            "{head}host: x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    fn stop(mut self, signal: Signal) -> i32 {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        self.child.wait().unwrap().code().unwrap_or(-1)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Already gone if the test stopped it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_log_is_born_serves_and_is_found_again() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(home.path(), &[]);
    assert_eq!(server.greeting["development_trust"], true);
    assert_eq!(server.greeting["key_created"], true);
    let vkey = server.greeting["vkey"].clone();
    assert_eq!(server.submit('a')["index"], 0);
    assert_eq!(server.submit('b')["index"], 1);
    let before = server.get("/checkpoint").1;
    assert_eq!(server.stop(Signal::TERM), 0);

    let server = Server::start(home.path(), &[]);
    assert_eq!(server.greeting["key_created"], false);
    assert_eq!((&server.greeting["vkey"], &server.greeting["size"]), (&vkey, &2.into()));
    assert_eq!(server.get("/checkpoint").1, before);
    assert_eq!(server.submit('a')["index"], 0, "the same statement gets its first index");
    assert_eq!(server.submit('c')["index"], 2);
    assert_eq!(server.stop(Signal::INT), 0);
}

#[test]
fn a_development_authority_stamps_and_is_found_again() {
    // A SHA-256 imprint of zeros, and certReq.
    let request = [
        &b"\x30\x39\x02\x01\x01\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20"[..],
        &[0; 32],
        b"\x01\x01\xff",
    ]
    .concat();
    let home = tempfile::tempdir().unwrap();
    let mut roots = Vec::new();
    for signer in ["p256", "ed25519"] {
        let arguments = ["dev-tsa", "--listen", "127.0.0.1:0", "--signer", signer, "--json"];
        let mut child = program(home.path())
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let greeting: Value = serde_json::from_str(&line).unwrap();
        let url = greeting["url"].as_str().unwrap();
        let address = url.trim_start_matches("http://").trim_end_matches("/tsa").to_owned();
        let server = Server { child, address, greeting: greeting.clone() };
        assert_eq!(server.greeting["development_trust"], true);
        assert_eq!(server.greeting["signer"], signer);

        let (status, root) = server.get("/tsa/root.pem");
        assert_eq!(status, 200);
        let file = home.path().join(greeting["root"].as_str().unwrap());
        assert_eq!(fs::read_to_string(file).unwrap(), root);
        roots.push(root);

        let mut stream = TcpStream::connect(&server.address).unwrap();
        let length = request.len();
        write!(
            stream,
            "POST /tsa HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n\
             content-type: application/timestamp-query\r\n\r\n"
        )
        .unwrap();
        stream.write_all(&request).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let text = String::from_utf8_lossy(&answer);
        assert!(text.starts_with("HTTP/1.1 200"), "{text}");
        let start = answer.windows(4).position(|end| end == b"\r\n\r\n").unwrap() + 4;
        let response = TimestampResponse::parse(&answer[start..]).unwrap();
        let token = Token::parse(response.granted().unwrap()).unwrap();
        assert_eq!(token.info.imprint, [0; 32]);

        let (code, second) = report(home.path(), &["dev-tsa", "--listen", "127.0.0.1:0"]);
        assert_eq!((code, &second["error"]["code"]), (2, &"CLI.LOCKED".into()));
        assert_eq!(server.stop(Signal::TERM), 0);
    }
    assert_eq!(roots[0], roots[1]);
    let (code, refused) = report(home.path(), &["dev-tsa", "--certificate-validity", "1s"]);
    assert_eq!((code, &refused["error"]["code"]), (2, &"CLI.DEV_TSA".into()));
}

#[test]
fn a_log_without_configuration_is_anchored_by_itself_and_says_what_that_is_worth() {
    let home = tempfile::tempdir().unwrap();
    let mut command = program(home.path());
    command.env("ANCHORLOG_ANCHORING_INTERVAL", "1s");
    let server = Server::start_as(command, &[]);
    assert_eq!(server.greeting["development_trust"], true);
    let root = server.greeting["development_tsa"]["root"].as_str().unwrap();
    assert!(home.path().join(root).is_file(), "{root}");
    assert_eq!(server.get("/tsa/root.pem").0, 200);
    server.submit('a');
    let receipt = server.get("/v1/receipts/0?wait=anchored&timeout=60").1;
    let receipt: Value = serde_json::from_str(&receipt).unwrap();
    assert_eq!(receipt["state"], "anchored");
    let size = receipt["proof"].as_str().unwrap().lines().find(|line| *line == "1");
    assert_eq!(size, Some("1"), "{receipt}");
    let shown: Value = serde_json::from_str(&server.get("/v1/checkpoints/1").1).unwrap();
    assert_eq!(shown["timestamps"][0]["operator"], "development");
    assert_eq!(shown["timestamps"][0]["token"], receipt["timestamps"][0]);
    let ready: Value = serde_json::from_str(&server.get("/readyz").1).unwrap();
    assert_eq!(ready["anchoring"]["authorities"][0]["error"], Value::Null);
    server.measures("anchorlog_anchored_size 1");

    // The statement about the token, and then one more for every renewal: by the server, and without it.
    let (code, renewed) = report(home.path(), &["renew"]);
    assert_eq!((code, &renewed["server_running"]), (0, &true.into()), "{renewed}");
    assert_eq!((&renewed["size"], &renewed["anchored"]), (&2.into(), &true.into()), "{renewed}");
    assert_eq!(server.stop(Signal::TERM), 0);
    let (code, renewed) = report(home.path(), &["renew"]);
    assert_eq!((code, &renewed["server_running"]), (0, &false.into()), "{renewed}");
    assert_eq!(renewed["size"], 3);
    assert_eq!(renewed["stored"][0]["operator"], "development");
    let (code, check) = report(home.path(), &["fsck"]);
    assert_eq!((code, &check["countersigned"]), (0, &3.into()), "{check}");
    assert_eq!(check["size"], 4);

    // It is off where somebody says so, and for a log with a name of its own.
    let mut command = program(home.path());
    command.env("ANCHORLOG_ANCHORING_DEV_TSA", "false");
    let server = Server::start_as(command, &[]);
    assert_eq!(server.greeting["development_tsa"], Value::Null);
    assert_eq!(server.get("/tsa/root.pem").0, 404);
    // What was stamped stays.
    assert!(server.get("/v1/receipts/0").1.contains(r#""state":"anchored""#));
    server.stop(Signal::TERM);
    let named = ["--data", "named", "--origin", "example.com/log"];
    let server = Server::start(home.path(), &named);
    assert_eq!(server.greeting["development_tsa"], Value::Null);
    server.stop(Signal::TERM);
    let (code, nobody) = report(home.path(), &[&named[..], &["renew"]].concat());
    assert_eq!((code, &nobody["error"]["code"]), (2, &"CLI.NO_AUTHORITIES".into()), "{nobody}");
    let (code, nothing) = report(home.path(), &["--data", "nowhere", "renew"]);
    assert_eq!((code, &nothing["error"]["code"]), (2, &"CLI.NO_LOG".into()), "{nothing}");
}

#[test]
fn a_killed_log_goes_on_where_it_was() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(home.path(), &[]);
    for digit in "abc".chars() {
        server.submit(digit);
    }
    server.stop(Signal::KILL);
    let server = Server::start(home.path(), &[]);
    assert_eq!(server.greeting["size"], 3);
    assert_eq!(server.submit('b')["index"], 1);
}

#[test]
fn a_request_in_work_is_answered_before_the_stop() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(home.path(), &[]);
    let address = server.address.clone();
    let waiting = thread::spawn(move || {
        let body = format!(
            r#"{{"schema":"anchorlog.statement/1","kind":"digest","digest":"sha256:{}"}}"#,
            "d".repeat(64)
        );
        let mut stream = TcpStream::connect(address).unwrap();
        let length = body.len();
        let path = "/v1/entries?wait=anchored&timeout=60";
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    });
    let patience = Instant::now() + Duration::from_secs(20);
    while !server.get("/v1/log").1.contains("\"size\":1") {
        assert!(Instant::now() < patience);
        thread::sleep(Duration::from_millis(5));
    }
    let stopping = Instant::now();
    assert_eq!(server.stop(Signal::TERM), 0);
    assert!(stopping.elapsed() < Duration::from_secs(20));
    let answer = waiting.join().unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.contains("\"state\":\"published\""),
        "{answer}"
    );
}

#[test]
fn a_second_server_leaves_at_once_and_disturbs_nothing() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(home.path(), &[]);
    server.submit('a');
    let started = Instant::now();
    let (code, second) = report(home.path(), &["--listen", "127.0.0.1:0"]);
    // On a quiet machine it is a tenth of a second.
    assert!(started.elapsed() < Duration::from_secs(10));
    assert_eq!((code, &second["error"]["code"]), (2, &"CLI.LOCKED".into()));
    assert_eq!(server.submit('b')["index"], 1);
    let (code, check) = report(home.path(), &["fsck"]);
    assert_eq!((code, &check["error"]["code"]), (2, &"CLI.LOCKED".into()));
}

#[test]
fn a_stopped_log_is_checked_exported_and_indexed_anew() {
    let home = tempfile::tempdir().unwrap();
    let server = Server::start(home.path(), &[]);
    for digit in "abcdef".chars() {
        server.submit(digit);
    }
    let vkey = server.greeting["vkey"].as_str().unwrap().to_owned();
    let url = server.greeting["url"].as_str().unwrap().to_owned();
    let (code, over_http) = report(home.path(), &["fsck", &url, "--vkey", &vkey]);
    assert_eq!((code, &over_http["size"]), (0, &6.into()), "{over_http}");
    assert_eq!(report(home.path(), &["fsck", &url]).1["error"]["code"], "CLI.VKEY");
    server.stop(Signal::TERM);

    let (code, check) = report(home.path(), &["fsck"]);
    assert_eq!(
        (code, &check["entries"], &check["verdict"]),
        (0, &6.into(), &"holds".into()),
        "{check}"
    );
    let (code, rebuilt) = report(home.path(), &["rebuild-index"]);
    assert_eq!((code, &rebuilt["entries"]), (0, &6.into()), "{rebuilt}");
    let (code, exported) = report(home.path(), &["export", "--to", "public"]);
    assert_eq!((code, &exported["size"]), (0, &6.into()), "{exported}");
    let (code, copy) = report(home.path(), &["fsck", "public", "--vkey", &vkey]);
    assert_eq!((code, &copy["root"]), (0, &check["root"]), "{copy}");

    let tile = home.path().join("public/tile/entries/000.p/6");
    let mut bytes = fs::read(&tile).unwrap();
    bytes[20] ^= 1;
    fs::write(&tile, bytes).unwrap();
    let (code, broken) = report(home.path(), &["fsck", "public", "--vkey", &vkey]);
    assert_eq!((code, &broken["verdict"]), (1, &"does_not_hold".into()), "{broken}");
    assert!(broken["problems"].to_string().contains("tile/entries/000.p/6"), "{broken}");
}

#[test]
fn a_log_can_be_made_before_it_is_served() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("log.toml"), "log.origin = \"example.com/log\"\nlog.data = \"d\"\n")
        .unwrap();
    let (code, made) = report(home.path(), &["--config", "log.toml", "init"]);
    assert_eq!((code, &made["key_created"], &made["size"]), (0, &true.into(), &0.into()));
    let (code, again) = report(home.path(), &["init", "--config", "log.toml"]);
    assert_eq!((code, &again["key_created"], &again["vkey"]), (0, &false.into(), &made["vkey"]));
    let server = Server::start(home.path(), &["--config", "log.toml"]);
    assert_eq!(server.greeting["development_trust"], false);
    assert_eq!(server.greeting["vkey"], made["vkey"]);
    server.stop(Signal::TERM);
    // Under another name the key is another key.
    let (code, foreign) =
        report(home.path(), &["--data", "d", "--origin", "example.com/b", "init"]);
    assert_eq!((code, &foreign["error"]["code"]), (2, &"CLI.FOREIGN_LOG".into()), "{foreign}");
    fs::remove_file(home.path().join("d/key.pem")).unwrap();
    let (code, lost) = report(home.path(), &["--config", "log.toml", "init"]);
    assert_eq!((code, &lost["error"]["code"]), (2, &"CLI.MISSING_KEY".into()));
    assert!(!home.path().join("d/key.pem").exists());
}

#[test]
fn keys_go_in_and_out_in_gos_form() {
    let home = tempfile::tempdir().unwrap();
    let (code, made) =
        report(home.path(), &["keygen", "--origin", "example.com/log", "--out", "k.pem"]);
    assert_eq!(code, 0, "{made}");
    let export = ["keygen", "--origin", "example.com/log", "--key", "k.pem", "--export-note-key"];
    let text = String::from_utf8(run(home.path(), &export).stdout).unwrap();
    assert!(text.starts_with("PRIVATE+KEY+example.com/log+"), "{text}");
    let (code, _) = report(home.path(), &[&export[..], &["--out", "k.skey"]].concat());
    assert_eq!(code, 0);
    assert_eq!(fs::read_to_string(home.path().join("k.skey")).unwrap(), text);
    let import = ["keygen", "--import-note-key", "k.skey", "--out", "again.pem"];
    let (code, again) = report(home.path(), &import);
    assert_eq!((code, &again["vkey"]), (0, &made["vkey"]), "{again}");
    let read = |name: &str| fs::read_to_string(home.path().join(name)).unwrap();
    assert_eq!(read("again.pem"), read("k.pem"));
    let (code, taken) = report(home.path(), &import);
    assert_eq!((code, &taken["error"]["code"]), (2, &"CLI.KEY".into()), "nothing is overwritten");
    let other = ["keygen", "--origin", "b", "--import-note-key", "k.skey", "--out", "x.pem"];
    assert_eq!(report(home.path(), &other).1["error"]["code"], "CLI.OTHER_NAME");
}

#[test]
fn mistakes_are_told_with_their_place() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("bad.toml"), "[log]\norigni = \"x\"\n").unwrap();
    for (arguments, code) in [
        (&["--config", "bad.toml"][..], "CLI.CONFIG"),
        (&["--config", "none.toml"], "CLI.CONFIG"),
        (&["--origin", "two words"], "CLI.ORIGIN"),
        (&["fsck"], "CLI.NO_LOG"),
        (&["export", "--to", "x"], "CLI.NO_LOG"),
        (&["rebuild-index"], "CLI.NO_LOG"),
        (&["keygen"], "CLI.USAGE"),
        (&["--listen", "nowhere"], "CLI.USAGE"),
        (&["frobnicate"], "CLI.USAGE"),
        (&["--listen", "127.0.0.1:1", "fsck"], "CLI.USAGE"),
        (&["man", "frobnicate"], "CLI.USAGE"),
    ] {
        let (exit, told) = report(home.path(), arguments);
        assert_eq!((exit, &told["error"]["code"]), (2, &code.into()), "{arguments:?}: {told}");
        let output = run(home.path(), arguments);
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty() && !output.stderr.is_empty());
    }
    let told = report(home.path(), &["--config", "bad.toml"]).1;
    let message = told["error"]["message"].as_str().unwrap();
    assert!(message.contains("bad.toml") && message.contains("line 2"), "{message}");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1, "nothing was made");
}

#[test]
fn documents_are_printed_as_they_are() {
    let home = tempfile::tempdir().unwrap();
    let text = |arguments: &[&str]| {
        let output = run(home.path(), arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let example = text(&["config", "--example"]);
    fs::write(home.path().join("example.toml"), &example).unwrap();
    let in_force = text(&["--config", "example.toml", "config"]);
    // Without a file one thing is different, and said.
    assert_eq!(text(&["config"]).replace("dev_tsa = true", "dev_tsa = false"), in_force);
    assert!(in_force.contains("origin = \"localhost/anchorlog\""), "{in_force}");
    assert!(text(&["openapi"]).starts_with("{\n  \"openapi\""));
    assert!(text(&["completions", "bash"]).contains("log-server"));
    assert!(text(&["man"]).contains(".TH log-server"));
    assert!(text(&["man", "fsck"]).contains("log-server-fsck"));
    assert!(text(&["--help"]).contains("Examples:"));
    assert!(text(&["--version"]).starts_with("log-server "));
}

#[test]
fn the_environment_is_read_and_mistyped_names_are_refused() {
    let home = tempfile::tempdir().unwrap();
    let config = |name: &str, value: &str| {
        program(home.path()).args(["config"]).env(name, value).output().unwrap()
    };
    let output = config("ANCHORLOG_LIMITS_QUEUE", "5000");
    assert!(String::from_utf8(output.stdout).unwrap().contains("queue = 5000"));
    for (name, value) in [("ANCHORLOG_LIMITS_QEUE", "5000"), ("ANCHORLOG_LIMITS_QUEUE", "5")] {
        let output = config(name, value);
        assert_eq!(output.status.code(), Some(2));
    }
}
