//! What is derived from a report: SARIF, in-toto statements, differences, text; and the commands that print
//! them.

use std::path::Path;
use std::process::{Command, Output};

use anchorlog_proto::gad::core_manifest::Seal;
use anchorlog_proto::json::{ReadLimits, Value, canonical, parse};
use anchorlog_verifier::gad::container::{Bundle, Form};
use anchorlog_verifier::gad::report::diff::diff;
use anchorlog_verifier::gad::report::{Asked, Report, sarif, statement, text};
use anchorlog_verifier::report::text::Style;

use crate::gad_world::{Files, completed, defended};

/// A defensible envelope and its report; with a byte changed, another one.
fn reports() -> (Files, Report, Report) {
    let defended = defended(&completed(), Seal::Final);
    let files = defended.files.clone();
    let good = defended.evaluate(&files, 1);
    let mut bent = files.clone();
    let plan = bent.get_mut("core/plan.json").unwrap();
    let at = plan.windows(4).position(|window| window == b"work").unwrap();
    plan[at] = b'W';
    let bad = defended.evaluate(&bent, 1);
    assert_eq!(good.statuses.defensible(), Some(true));
    assert_eq!(bad.statuses.defensible(), Some(false));
    (files, good, bad)
}

/// The value at a pointer of a JSON text, in canonical form; empty where there is none.
fn at(json: &[u8], pointer: &str) -> String {
    let value = parse(json, &ReadLimits::DEFAULT).unwrap();
    let mut place = Some(&value);
    for token in pointer.split('/').skip(1) {
        place = place.and_then(|value| match value {
            Value::Object(object) => object.get(token),
            Value::Array(elements) => elements.get(token.parse::<usize>().unwrap()),
            _ => None,
        });
    }
    place.map_or_else(String::new, |value| String::from_utf8(canonical(value)).unwrap())
}

#[test]
fn sarif_names_rule_file_and_level() {
    let (_, good, bad) = reports();
    let log = sarif::write(&bad);
    assert_eq!(at(&log, "/version"), "\"2.1.0\"");
    assert_eq!(at(&log, "/runs/0/properties/valid"), "false");
    let findings = bad.findings.sorted();
    let results = at(&log, "/runs/0/results");
    assert_eq!(results.matches("\"ruleId\"").count(), findings.len());
    let position = findings.iter().position(|one| one.code.as_str() == "R1.MANIFEST.HASH").unwrap();
    let result = |member: &str| at(&log, &format!("/runs/0/results/{position}{member}"));
    assert_eq!(result("/level"), "\"error\"");
    assert_eq!(result("/locations/0/physicalLocation/artifactLocation/uri"), "\"core/plan.json\"");
    assert!(result("/message/text").contains("sha256:"));
    // Every rule that a result names is described.
    let rules = at(&log, "/runs/0/tool/driver/rules");
    for finding in &findings {
        assert!(rules.contains(&format!("\"id\":\"{}\"", finding.code)), "{}", finding.code);
    }
    // Notes are notes.
    let log = sarif::write(&good);
    assert!(!at(&log, "/runs/0/results").contains("\"level\":\"error\""));
}

#[test]
fn statements_list_what_holds_and_nothing_else() {
    let (_, good, bad) = reports();
    let root = good.root_core.unwrap().to_hex();
    let svr = statement::simple_verification_result(&good).unwrap();
    assert_eq!(at(&svr, "/predicateType"), "\"https://in-toto.io/attestation/svr/v0.1\"");
    assert_eq!(at(&svr, "/subject/0/digest/sha256"), format!("\"{root}\""));
    let properties = at(&svr, "/predicate/properties");
    for property in
        ["GAD_VALID_RECORD", "GAD_CONTRACT_SATISFIED", "GAD_DEFENSIBLE", "GAD_OUTCOME_COMPLETED"]
    {
        assert!(properties.contains(&format!("\"{property}\"")), "{properties}");
    }
    let svr = statement::simple_verification_result(&bad).unwrap();
    let properties = at(&svr, "/predicate/properties");
    assert!(!properties.contains("VALID") && !properties.contains("DEFENSIBLE"), "{properties}");

    let summary = |report, asked| {
        let vsa = statement::verification_summary(report, asked).unwrap();
        at(&vsa, "/predicate/verificationResult")
    };
    assert_eq!(summary(&good, Asked::Gad4), "\"PASSED\"");
    assert_eq!(summary(&bad, Asked::Valid), "\"FAILED\"");

    // Without a root there is no subject, and so no statement.
    let nothing = Bundle::in_memory(Vec::new(), Form::Directory, &good.limits);
    let nothing = crate::gad_world::evaluation(&nothing, None, &[], 1);
    assert_eq!(statement::simple_verification_result(&nothing), None);
    assert_eq!(statement::verification_summary(&nothing, Asked::Valid), None);
}

#[test]
fn differences_are_those_there_are() {
    let (_, good, bad) = reports();
    let (good, bad) = (good.to_json(), bad.to_json());
    assert!(diff(&good, &good).unwrap().is_empty());
    let difference = diff(&good, &bad).unwrap();
    let changed: Vec<_> = difference.members.iter().map(|(name, _, _)| name.as_str()).collect();
    for name in ["defensible", "level", "outcome", "plan_hash", "rules/R1", "valid"] {
        assert!(changed.contains(&name), "{changed:?}");
    }
    assert!(!changed.contains(&"limits") && !changed.contains(&"rules"), "{changed:?}");
    assert!(difference.new.iter().any(|finding| finding.contains("R1.MANIFEST.HASH")));
    let back = diff(&bad, &good).unwrap();
    assert_eq!((back.gone, back.new), (difference.new.clone(), difference.gone.clone()));
    assert!(difference.to_text().contains("valid: true -> false\n"));
    assert_eq!(at(&difference.to_json(), "/schema"), "\"gad.report-diff/1\"");
    assert_eq!(diff(b"{}", &good).unwrap_err().pointer, "/schema");
    assert_eq!(diff(&good, b"[").unwrap_err().code.as_str(), "J.SYNTAX");
}

#[test]
fn people_see_statuses_places_and_what_to_do() {
    let (_, good, bad) = reports();
    let shown = text::render(&good, Asked::Defensible, Style::Plain);
    assert!(shown.starts_with("defensible: holds\n"), "{shown}");
    assert!(shown.contains("  level       GAD-4\n") && !shown.contains('\u{1b}'), "{shown}");
    let shown = text::render(&bad, Asked::Valid, Style::Plain);
    assert!(shown.starts_with("valid: does not hold\n"), "{shown}");
    assert!(shown.contains("R1 FAIL") && shown.contains("in          core/plan.json\n"), "{shown}");
    assert!(shown.contains("what to do"), "{shown}");
    assert!(text::render(&bad, Asked::Valid, Style::Colour).contains('\u{1b}'));
}

#[test]
fn the_commands_print_them() {
    let (files, ..) = reports();
    let home = tempfile::tempdir().unwrap();
    for (path, bytes) in &files {
        let path = home.path().join("e").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    let verifier = |arguments: &[&str]| run(home.path(), arguments);
    let envelope = |more: &[&str]| {
        verifier(&[&["envelope", "e", "--at", "2026-11-01T00:00:00Z"], more].concat())
    };
    let valid = envelope(&["--json"]);
    assert_eq!(valid.status.code(), Some(0));
    assert_eq!(at(&valid.stdout, "/evaluation_time"), "\"2026-11-01T00:00:00Z\"");
    assert_eq!(at(&valid.stdout, "/defensible"), "null");
    // Equal inputs, equal bytes, whatever the number of threads.
    assert_eq!(envelope(&["--json", "--threads", "3"]).stdout, valid.stdout);
    // Asked for without a policy it is false, and named.
    let unnamed = envelope(&["--require", "defensible", "--json"]);
    assert_eq!(unnamed.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&unnamed.stdout).contains("POL.UNNAMED"));
    assert_eq!(at(&envelope(&["--as", "sarif"]).stdout, "/version"), "\"2.1.0\"");
    assert!(at(&envelope(&["--as", "vsa"]).stdout, "/predicateType").contains("slsa.dev"));
    // The trace comes first: one line per entry, and then the report.
    let traced = envelope(&["--trace", "--json"]);
    let lines: Vec<_> =
        traced.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let entries = files["core/witness.jsonl"].iter().filter(|byte| **byte == b'\n');
    assert_eq!(lines.len(), entries.count() + 1);
    assert_eq!(lines.last(), valid.stdout.strip_suffix(b"\n").as_ref());

    // Limits are the caller's, and an unknown one is a mistake.
    let limited = envelope(&["--limit", "entries=1", "--json"]);
    assert_eq!(limited.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&limited.stdout).contains("IN.LIMIT_COUNT"));
    assert_eq!(envelope(&["--limit", "entires=1"]).status.code(), Some(2));
    let absent = verifier(&["envelope", "absent.tar", "--json"]);
    assert_eq!(absent.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&absent.stdout).contains("IN.OPEN"));

    // Two reports, compared.
    std::fs::write(home.path().join("a.json"), &valid.stdout).unwrap();
    std::fs::write(home.path().join("b.json"), &unnamed.stdout).unwrap();
    assert_eq!(verifier(&["diff", "a.json", "a.json"]).status.code(), Some(0));
    let differ = verifier(&["diff", "a.json", "b.json"]);
    assert_eq!(differ.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&differ.stdout).contains("defensible: null -> false"));

    // An attestation names the envelope it is about; a key that others can read signs nothing.
    let key = home.path().join("key.pem");
    std::fs::write(&key, KEY).unwrap();
    let attest = ["attest", "e", "--key", "key.pem", "--identity", "Example Audit"];
    restrict(&key, 0o644);
    assert_eq!(verifier(&attest).status.code(), Some(2));
    restrict(&key, 0o600);
    let q = verifier(&attest);
    assert_eq!(q.status.code(), Some(0), "{q:?}");
    assert_eq!(at(&q.stdout, "/body/root_envelope"), at(&valid.stdout, "/root_envelope"));
    assert_eq!(at(&q.stdout, "/body/evaluator_implementation/hash").len(), 73);
    let asked = [&attest[..], &["--require", "defensible"]].concat();
    assert_eq!(verifier(&asked).status.code(), Some(2));
}

fn run(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_verifier"))
        .current_dir(directory)
        .args(arguments)
        .output()
        .unwrap()
}

fn restrict(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;

    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// RFC 8410 section 10.3.
const KEY: &str = "-----BEGIN PRIVATE KEY-----\n\
    MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n\
    -----END PRIVATE KEY-----\n";
