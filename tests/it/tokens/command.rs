//! `verifier token`, as somebody calls it who used `openssl ts -verify` before.

use std::fs;
use std::path::{Path, PathBuf};

use anchorlog_tests::forge::world::MESSAGE;
use anchorlog_tests::forge::{Case, cases};
use anchorlog_tests::world::verifier;
use serde_json::Value;

/// The files of one case in a folder of their own.
struct Files {
    folder: tempfile::TempDir,
    token: String,
    root: String,
    digest: String,
}

impl Files {
    fn of(case: &Case) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let token = write(folder.path(), "token.tsr", &case.bytes);
        let root = write(folder.path(), "root.der", &case.given.trust[0].roots[0]);
        let digest = anchorlog_proto::encoding::hex_encode(&case.given.digest);
        Self { folder, token, root, digest: format!("{}:{digest}", case.given.digest_algorithm) }
    }

    fn run(&self, more: &[&str]) -> (i32, Value) {
        let arguments = ["token", &self.token, "--roots", &self.root, "--json"];
        let ran = verifier(arguments.into_iter().chain(more.iter().copied()));
        let report = ran.json();
        (ran.code, report)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> String {
        write(self.folder.path(), name, bytes)
    }
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> String {
    let path: PathBuf = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path.into_os_string().into_string().unwrap()
}

fn case(name: &str) -> Case {
    cases().into_iter().find(|case| case.name == name).unwrap()
}

fn reasons(report: &Value) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap().iter();
    findings.map(|finding| finding["reason"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_token_is_told_to_hold_with_everything_it_says() {
    let files = Files::of(&case("p256-sha256"));
    let (code, report) = files.run(&["--digest", &files.digest, "--at", "2026-01-01T00:00:00Z"]);
    assert_eq!((code, report["verdict"].as_str()), (0, Some("holds")));
    let row = &report["timestamps"][0];
    assert_eq!(row["state"], "verified");
    assert_eq!(row["gen_time"], "2025-06-01T12:00:00Z");
    assert_eq!(row["imprint"], files.digest.as_str());
    assert_eq!(row["chain"].as_array().unwrap().len(), 3);
    assert_eq!(row["revocation"]["stance"], "not-checked");
    assert_eq!(row["failure"], Value::Null);
}

#[test]
fn the_data_itself_and_the_request_can_be_given() {
    let sound = case("p256-sha256");
    let files = Files::of(&sound);
    let data = files.write("data", MESSAGE);
    assert_eq!(files.run(&["--data", &data]).0, 0);
    let other = files.write("other", b"goodbye");
    let (code, report) = files.run(&["--data", &other]);
    assert_eq!((code, reasons(&report)), (1, vec!["imprint.mismatch".to_owned()]));
    let request = files.write("request.tsq", &sound.request().unwrap());
    assert_eq!(files.run(&["--request", &request]).0, 0);
    let (code, report) = files.run(&["--digest", &files.digest, "--nonce", "01"]);
    assert_eq!((code, reasons(&report)), (1, vec!["nonce.mismatch".to_owned()]));
}

#[test]
fn what_does_not_hold_has_a_reason_and_what_can_not_be_judged_is_said_to_be_so() {
    for (name, reason) in
        [("signature-flipped", "signature.invalid"), ("ess-missing", "ess.missing")]
    {
        let files = Files::of(&case(name));
        let (code, report) = files.run(&["--digest", &files.digest]);
        assert_eq!((code, report["verdict"].as_str()), (1, Some("does_not_hold")), "{name}");
        assert_eq!(report["timestamps"][0]["failure"]["reason"], reason, "{name}");
    }
    let files = Files::of(&case("p256-sha256"));
    let nonsense = files.write("nonsense", b"not DER");
    let absent = files.folder.path().join("absent");
    for wrong in [&nonsense, absent.to_str().unwrap()] {
        let arguments = ["token", &files.token, "--digest", &files.digest, "--roots", wrong];
        assert_eq!(verifier(arguments).code, 2, "{wrong}");
    }
    let arguments =
        ["token", &nonsense, "--digest", &files.digest, "--roots", &files.root, "--json"];
    let ran = verifier(arguments);
    assert_eq!((ran.code, reasons(&ran.json())), (1, vec!["parse.response".to_owned()]));
}

#[test]
fn a_quorum_counts_operators_and_bad_tokens_spoil_nothing() {
    let files = Files::of(&case("p256-sha256"));
    let bad = files.write("bad.tsr", b"not a token");
    let roots = format!("one={}", files.root);
    let run = |quorum: &str, tokens: &[&str]| {
        let fixed = ["--digest", &files.digest, "--roots", &roots, "--quorum", quorum, "--json"];
        let ran = verifier(["token"].iter().chain(tokens).chain(&fixed).copied());
        let report = ran.json();
        let findings = report["findings"].as_array().unwrap().iter();
        let codes: Vec<_> = findings.map(|one| one["code"].as_str().unwrap().to_owned()).collect();
        (ran.code, codes)
    };
    assert_eq!(run("1", &[&files.token, &bad]), (0, codes(&["TSA.NOTE", "TSA.NOT_COUNTED"])));
    // Twice the same operator is one operator.
    assert!(run("2", &[&files.token, &files.token]).1.contains(&"TSA.QUORUM".to_owned()));
    assert_eq!(run("2", &[&files.token, &files.token]).0, 1);
    assert_eq!(run("1", &[&bad]), (1, codes(&["TSA.QUORUM", "TSA.NOT_COUNTED"])));
}

fn codes(codes: &[&str]) -> Vec<String> {
    codes.iter().map(|code| (*code).to_owned()).collect()
}
