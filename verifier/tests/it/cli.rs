//! The program: exit codes, reports, and what it prints where.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anchorlog_proto::Digest;
use anchorlog_proto::json::{Object, ReadLimits, Value, parse_canonical};

use crate::world::{World, submitter};

/// A folder with the world's policies and receipts, gone with the value.
pub struct Folder {
    pub world: World,
    folder: tempfile::TempDir,
}

impl Folder {
    pub fn new() -> Self {
        let folder = Self { world: World::new(), folder: tempfile::tempdir().unwrap() };
        folder.file("policy", folder.world.policy_text());
        folder.file("receipt.json", folder.world.draft(2).json());
        folder
    }

    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the program in the folder.
    pub fn run(&self, arguments: &[&str]) -> Output {
        program(self.folder.path()).args(arguments).output().unwrap()
    }

    /// Runs it with `--json` and reads the report.
    pub fn report(&self, arguments: &[&str]) -> (Report, i32) {
        let output = self.run(&[arguments, &["--json"]].concat());
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        (Report::read(&output.stdout), output.status.code().unwrap())
    }

    /// The verdict's exit code and the codes of the findings, from the report.
    pub fn codes(&self, arguments: &[&str]) -> (i32, Vec<String>) {
        let (report, code) = self.report(arguments);
        (code, report.codes())
    }
}

fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_verifier"));
    command.current_dir(folder).env_clear().stdin(Stdio::null());
    command
}

/// A JSON report as it was printed.
pub struct Report(pub Object<'static>);

impl Report {
    fn read(stdout: &[u8]) -> Self {
        let line = stdout.strip_suffix(b"\n").expect("one line");
        let value = parse_canonical(line, &ReadLimits::DEFAULT).expect("canonical JSON");
        let object = value.as_object().unwrap().clone().into_owned();
        assert_eq!(object.get("schema").unwrap().as_str(), Some("anchorlog.verifier-report/1"));
        let members: Vec<_> = object.iter().map(|(name, _)| name.to_owned()).collect();
        assert_eq!(
            members,
            [
                "command",
                "findings",
                "index",
                "leaf_hash",
                "log",
                "older",
                "policy",
                "receipts",
                "root",
                "schema",
                "size",
                "state",
                "statement",
                "timestamps",
                "verdict",
                "verifier",
                "witnesses",
            ]
        );
        Self(object)
    }

    pub fn text(&self, member: &str) -> &str {
        self.0.get(member).unwrap().as_str().unwrap()
    }

    fn findings(&self) -> &[Value<'static>] {
        self.0.get("findings").unwrap().as_array().unwrap()
    }

    fn codes(&self) -> Vec<String> {
        let code = |finding: &Value<'static>| member(finding, "code").as_str().unwrap().to_owned();
        self.findings().iter().map(code).collect()
    }
}

fn member<'a>(value: &'a Value<'static>, name: &str) -> &'a Value<'static> {
    value.as_object().unwrap().get(name).unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn a_good_receipt() {
    let folder = Folder::new();
    let digest = folder.world.entries[2].statement().digest.to_string();
    let arguments = [
        "receipt",
        "receipt.json",
        "--policy",
        "policy",
        "--digest",
        &digest,
        "--kind",
        "chain_head",
        "--trail",
        "trail:a",
    ];
    let output = folder.run(&arguments);
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty());
    let text = stdout(&output);
    assert!(text.starts_with("receipt: holds\n"), "{text}");
    assert!(text.contains(&digest) && text.contains("witnessed"), "{text}");
    assert!(text.contains("w1 2027-01-15T08:00:00Z"), "{text}");
    // Colour is for terminals.
    assert!(!text.contains('\u{1b}'), "{text}");

    let (report, code) = folder.report(&arguments);
    assert_eq!(code, 0);
    assert_eq!(report.text("verdict"), "holds");
    assert_eq!(report.text("command"), "receipt");
    assert_eq!(report.text("log"), "log.example/test");
    assert_eq!(report.0.get("index"), Some(&Value::Integer(2)));
    assert_eq!(report.0.get("size"), Some(&Value::Integer(7)));
    assert_eq!(report.text("root"), folder.world.checkpoint(7).root.to_string());
    assert_eq!(
        report.0.get("statement").unwrap().as_object(),
        Some(&folder.world.entries[2].to_object())
    );
    assert_eq!(report.0.get("witnesses").unwrap().as_array().unwrap().len(), 2);
    let policy = member_of(&report, "policy");
    let text = folder.world.policy_text();
    assert_eq!(member(policy, "digest").as_str(), Some(&*Digest::of(text.as_bytes()).to_string()));
    assert!(report.codes().is_empty());
}

fn member_of<'a>(report: &'a Report, name: &str) -> &'a Value<'static> {
    report.0.get(name).unwrap()
}

#[test]
fn equal_inputs_give_equal_bytes_wherever_they_lie() {
    let (here, there) = (Folder::new(), Folder::new());
    there.file("other name.json", there.world.draft(2).json());
    let first = here.run(&["receipt", "receipt.json", "--policy", "policy", "--json"]);
    let second = there.run(&["--json", "receipt", "other name.json", "--policy", "policy"]);
    assert_eq!(first.stdout, second.stdout);
}

#[test]
fn a_receipt_on_standard_input() {
    let folder = Folder::new();
    let mut child = program(folder.folder.path())
        .args(["receipt", "-", "--vkey", &folder.world.vkey(), "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut draft = folder.world.draft(2);
    draft.state = "published";
    child.stdin.take().unwrap().write_all(&draft.json()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(Report::read(&output.stdout).codes(), ["POLICY.UNWITNESSED"]);
    let (code, codes) = folder.codes(&["receipt", "-", "--policy", "-"]);
    assert_eq!((code, codes), (2, vec!["CLI.USAGE".to_owned()]));
}

#[test]
fn a_receipt_that_does_not_hold() {
    let folder = Folder::new();
    let other = Digest::of(b"other").to_string();
    let wrong = ["receipt", "receipt.json", "--policy", "policy", "--digest", &other];
    let output = folder.run(&wrong);
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    assert!(text.starts_with("receipt: does not hold\n"), "{text}");
    assert!(text.contains("broken LOG.LEAF: "), "{text}");
    assert!(text.contains("receipt receipt.json at /statement/digest"), "{text}");
    assert!(text.contains(&other) && text.contains("what to do"), "{text}");

    let (report, code) = folder.report(&wrong);
    assert_eq!((code, report.text("verdict")), (1, "does_not_hold"));
    let finding = &report.findings()[0];
    assert_eq!(member(finding, "code").as_str(), Some("LOG.LEAF"));
    assert_eq!(member(finding, "class").as_str(), Some("broken"));
    assert_eq!(member(finding, "expected").as_str(), Some(&*other));
    assert_eq!(member(member(finding, "where"), "pointer").as_str(), Some("/statement/digest"));
    assert_eq!(member(member(finding, "where"), "input").as_str(), Some("receipt"));
    // A state is shown only by what holds.
    assert!(member(member_of(&report, "state"), "shown").is_null());
}

#[test]
fn contradictions_are_evaluated_and_do_not_hold() {
    let folder = Folder::new();
    let mut draft = folder.world.draft(2);
    draft.proof_index = "7".to_owned();
    draft.index = 7;
    folder.file("beyond.json", draft.json());
    let mut draft = folder.world.draft(2);
    draft.log = "log.example/other".to_owned();
    folder.file("other-log.json", draft.json());
    for (file, code) in [("beyond.json", "LOG.INDEX"), ("other-log.json", "RCT.ORIGIN")] {
        let found = folder.codes(&["receipt", file, "--policy", "policy"]);
        assert_eq!(found, (1, vec![code.to_owned()]), "{file}");
    }
}

#[test]
fn findings_are_sorted_and_complete() {
    let folder = Folder::new();
    let mut draft = folder.world.draft(4);
    draft.sign(&folder.world, &[0]);
    draft.hashes.pop();
    draft.timestamps = vec![vec![0x30, 0]];
    draft.conflicts = vec![1];
    folder.file("bad.json", draft.json());
    let (code, codes) = folder.codes(&["receipt", "bad.json", "--policy", "policy"]);
    assert_eq!(code, 1);
    assert_eq!(
        codes,
        [
            "RCT.CONFLICT_FLAGGED", // /conflicts
            "LOG.PROOF_LENGTH",     // /proof
            "LOG.QUORUM",           // /proof
            "RCT.STATE",            // /state
            "STM.SIGNER_UNCHECKED", // /statement
            "TSA.UNCHECKED",        // /timestamps/0
        ]
    );
}

#[test]
fn the_submitter_is_checked_on_request() {
    let folder = Folder::new();
    folder.file("signed.json", folder.world.draft(4).json());
    let key = submitter().public_key().to_base64();
    let arguments = ["receipt", "signed.json", "--policy", "policy", "--submitter", &key];
    assert_eq!(folder.codes(&arguments), (0, vec![]));
    let arguments = ["receipt", "receipt.json", "--policy", "policy", "--submitter", &key];
    assert_eq!(folder.codes(&arguments), (1, vec!["STM.UNSIGNED".to_owned()]));
}

#[test]
fn what_can_not_be_evaluated() {
    let folder = Folder::new();
    folder.file("empty", "");
    folder.file("text", "not JSON");
    folder.file("utf8", [0xff, 0xfe]);
    folder.file("large", vec![b' '; (4 << 20) + 1]);
    folder.file("no-quorum", format!("log {}\n", folder.world.vkey()));
    folder.file(
        "dup",
        folder.world.policy_text().replace("witness w1", "witness w0").replacen(
            "group",
            &format!("witness w1 {}\ngroup", folder.world.witnesses[0].verifier_key()),
            1,
        ),
    );
    for (file, policy, code) in [
        ("missing", "policy", "IN.OPEN"),
        (".", "policy", "IN.OPEN"),
        ("empty", "policy", "J.SYNTAX"),
        ("text", "policy", "J.SYNTAX"),
        ("utf8", "policy", "J.UTF8"),
        ("large", "policy", "IN.LIMIT_BYTES"),
        ("receipt.json", "missing", "IN.OPEN"),
        ("receipt.json", "empty", "POLICY.NO_QUORUM"),
        ("receipt.json", "text", "POLICY.FINAL_NEWLINE"),
        ("receipt.json", "no-quorum", "POLICY.NO_QUORUM"),
        ("receipt.json", "dup", "LOG.WITNESS_DUP"),
    ] {
        let arguments = ["receipt", file, "--policy", policy];
        assert_eq!(folder.codes(&arguments), (2, vec![code.to_owned()]), "{file} {policy}");
        let output = folder.run(&arguments);
        assert_eq!(output.status.code(), Some(2));
        let text = stdout(&output);
        assert!(text.starts_with("receipt: could not be evaluated\n"), "{text}");
        // The text names the file.
        let named = if file == "receipt.json" { policy } else { file };
        assert!(text.contains(named), "{text}");
    }
    let (report, _) = folder.report(&["receipt", "text", "--policy", "policy"]);
    assert_eq!(report.text("verdict"), "could_not_evaluate");
    let place = member(&report.findings()[0], "where");
    assert_eq!(member(place, "offset"), &Value::Integer(0));
}

#[test]
fn several_receipts_are_reported_each_and_held_against_each_other() {
    let folder = Folder::new();
    let world = &folder.world;
    folder.file("one", world.draft_of_single(&world.entries[0]).json());
    folder.file("other", world.draft_of_single(&world.entries[3]).json());
    let both = |files: &[&str], more: &[&str]| {
        folder.report(&[&["receipt"], files, &["--policy", "policy"], more].concat())
    };
    let (report, code) = both(&["receipt.json", "one"], &[]);
    assert_eq!((code, report.codes()), (0, vec![]));
    let Value::Array(rows) = member_of(&report, "receipts") else { panic!("rows") };
    assert_eq!(member(&rows[1], "size"), &Value::Integer(1));
    assert_eq!(member(member(&rows[0], "state"), "shown"), &Value::from("witnessed"));
    assert_eq!(member_of(&report, "index"), &Value::Null);

    let (report, code) = both(&["receipt.json", "one", "other"], &[]);
    assert_eq!((code, report.codes()), (1, vec!["LOG.SPLIT_VIEW".to_owned(); 2]));
    let number = |at: usize| member(member(&report.findings()[at], "where"), "number").clone();
    assert_eq!([number(0), number(1)], [Value::Integer(2), Value::Integer(3)]);
    let Value::Array(rows) = member_of(&report, "receipts") else { panic!("rows") };
    assert_eq!(member(member(&rows[1], "state"), "shown"), &Value::Null);
    assert_eq!(member(member(&rows[0], "state"), "shown"), &Value::from("witnessed"));
    let text = stdout(&folder.run(&["receipt", "one", "other", "--policy", "policy"]));
    assert!(text.contains("receipt one at /proof") && text.contains("receipt other at"), "{text}");

    // And what is remembered, for one receipt as for several.
    let root = world.checkpoint(6).root.to_base64();
    let known = |size: u64| {
        format!(
            r#"{{"checkpoints":[{{"origin":"log.example/test","root":"{root}","size":{size}}}],"schema":"gad.known-checkpoints/1"}}"#
        )
    };
    folder.file("known", known(7));
    folder.file("older", known(6));
    let with = |file: &str| both(&["receipt.json"], &["--known-checkpoints", file]);
    let (report, code) = with("known");
    assert_eq!((code, report.codes()), (1, vec!["LOG.SPLIT_VIEW".to_owned()]));
    assert_eq!(member(member_of(&report, "state"), "shown"), &Value::Null);
    assert_eq!(with("older").1, 0);
    folder.file("nonsense", "{}");
    assert_eq!(with("nonsense").1, 2);
}

#[test]
fn wrong_command_lines() {
    let folder = Folder::new();
    let vkey = folder.world.vkey();
    for arguments in [
        &["receipt"][..],
        &["receipt", "receipt.json"],
        &["receipt", "receipt.json", "--policy", "policy", "--vkey", &vkey],
        &["receipt", "receipt.json", "--policy", "policy", "--digest", "sha256:00"],
        &["receipt", "receipt.json", "--policy", "policy", "--kind", "nothing"],
        &["receipt", "receipt.json", "--policy", "policy", "--trail", "A"],
        &["receipt", "receipt.json", "--policy", "policy", "--tsa-roots", "=roots.pem"],
        &["receipt", "receipt.json", "--policy", "policy", "--submitter", "AAAA"],
        &["proof"],
        &["policy", "check"],
        &["explain"],
        &["explain", "NO.SUCH"],
        &["man", "nothing"],
        &["completions", "command.com"],
        &["unknown"],
    ] {
        let output = folder.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!output.stderr.is_empty() || !output.stdout.is_empty(), "{arguments:?}");
        assert_eq!(folder.codes(arguments), (2, vec!["CLI.USAGE".to_owned()]), "{arguments:?}");
    }
    // Nothing asked is an error too, and says how to ask.
    let output = folder.run(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("Usage: verifier"));
    assert_eq!(
        folder.codes(&["receipt", "receipt.json", "--vkey", "log.example+00000000+AQ=="]),
        (2, vec!["NOTE.KEY_LENGTH".to_owned()])
    );
}

#[test]
fn a_reader_that_went_away_is_no_success() {
    let folder = Folder::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status = program(folder.folder.path())
        .args(["receipt", "receipt.json", "--policy", "policy"])
        .stdout(full)
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(3));
}

#[test]
fn policies() {
    let folder = Folder::new();
    let output = folder.run(&["policy", "check", "policy"]);
    assert_eq!(output.status.code(), Some(0));
    let text = stdout(&output);
    assert!(text.contains("group       g: 2 of 3: w1 w2 w3"), "{text}");
    assert!(
        text.contains("https://log.example/") && text.contains("quorum      g: 2 of 3"),
        "{text}"
    );
    let (report, _) = folder.report(&["policy", "check", "policy"]);
    let policy = member_of(&report, "policy");
    assert_eq!(member(policy, "logs").as_array().unwrap().len(), 1);
    assert_eq!(member(policy, "witnesses").as_array().unwrap().len(), 3);
    assert_eq!(member(policy, "groups").as_array().unwrap().len(), 1);

    folder.file("open", folder.world.policy_text_without_quorum());
    assert_eq!(
        folder.codes(&["policy", "check", "open"]),
        (0, vec!["POLICY.UNWITNESSED".to_owned()])
    );
    folder.file("bad", "log x\nquorum none\n");
    assert_eq!(folder.codes(&["policy", "check", "bad"]), (2, vec!["NOTE.KEY_SYNTAX".to_owned()]));
}

#[test]
fn codes_are_explained() {
    let folder = Folder::new();
    let output = folder.run(&["explain", "log.quorum"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).starts_with("LOG.QUORUM (unmet): Too few witnesses have cosigned\n"));
    // What it makes false, where that is the same everywhere; and what may have been meant.
    let text = stdout(&folder.run(&["explain", "R3.GATE.NO_REQUEST"]));
    assert!(text.contains("\nMakes false: R3, R7\nClause: GAD 1.3, Algorithm 1"), "{text}");
    let json = stdout(&folder.run(&["explain", "--json", "R3.GATE.NO_REQUEST"]));
    assert!(json.starts_with("{\"affects\":[\"R3\",\"R7\"],"), "{json}");
    let text = stdout(&folder.run(&["explain", "r3.verdict"]));
    assert!(text.contains("near it are R3.VERDICT.DUP, "), "{text}");
    assert!(!text.contains("R3.TRIP"), "{text}");
    let list = stdout(&folder.run(&["explain", "--list"]));
    assert!(list.lines().count() > 300, "{list}");
    for line in list.lines() {
        let code = line.split_whitespace().next().unwrap();
        let output = folder.run(&["explain", code, "--json"]);
        let line = output.stdout.strip_suffix(b"\n").unwrap();
        let value = parse_canonical(line, &ReadLimits::DEFAULT).unwrap();
        assert_eq!(value.as_object().unwrap().get("code").unwrap().as_str(), Some(code));
    }
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/codes.md");
    let output = folder.run(&["explain", "--markdown"]);
    assert_eq!(stdout(&output), std::fs::read_to_string(committed).unwrap());
}

#[test]
fn completions_man_pages_and_help() {
    let folder = Folder::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = folder.run(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0));
        assert!(stdout(&output).contains("verifier"), "{shell}");
    }
    let page = stdout(&folder.run(&["man"]));
    assert!(page.contains(".TH verifier 1"), "{page}");
    let page = stdout(&folder.run(&["man", "proof", "inclusion"]));
    assert!(page.contains(".TH verifier-proof-inclusion 1"), "{page}");
    assert!(page.contains("\\-\\-tlog\\-proof"), "{page}");
    for command in [
        &["receipt"][..],
        &["proof", "inclusion"],
        &["proof", "consistency"],
        &["policy", "check"],
        &["explain"],
        &["completions"],
        &["man"],
    ] {
        let output = folder.run(&[command, &["--help"]].concat());
        assert_eq!(output.status.code(), Some(0), "{command:?}");
        assert!(stdout(&output).contains("Example"), "{command:?}");
    }
    let version = stdout(&folder.run(&["--version"]));
    assert_eq!(version, format!("verifier {}\n", env!("CARGO_PKG_VERSION")));
}
