//! `verifier workflow attribution` and `verifier workflow drift`: exit codes, reports, and what a digest that is
//! held elsewhere shows.

use anchorlog_proto::Digest;
use anchorlog_proto::json::{Object, ReadLimits, Value, parse_canonical};
use anchorlog_proto::statement::{LogEntry, Statement, StatementKind};

use crate::cli::Folder;
use crate::jp_world::{OutputDraft, ProjectionDraft, pack};

pub const FACTS: [&str; 3] = [
    r#"{"bad":false,"amount":true,"known":true}"#,
    r#"{"bad":false,"vip":true,"board":true}"#,
    r#"{"bad":false}"#,
];

pub struct World {
    pub folder: Folder,
    pub honest: ProjectionDraft,
}

impl World {
    pub fn new() -> Self {
        let folder = Folder::new();
        let (honest, trail) = ProjectionDraft::evaluated(&pack(), &FACTS);
        folder.file("pack.json", pack());
        folder.file("p.json", honest.json());
        folder.file("execution.json", honest.execution_record());
        folder.file("trail.jsonl", format!("{{\"another\":\"record\"}}\n{trail}"));
        Self { folder, honest }
    }

    /// The report and the exit code of `attribution p.json --pack pack.json` and more.
    pub fn attribution(&self, more: &[&str]) -> (Object<'static>, i32) {
        self.report(&[&["attribution", "p.json", "--pack", "pack.json"], more].concat())
    }

    fn report(&self, arguments: &[&str]) -> (Object<'static>, i32) {
        let output = self.folder.run(&[&["workflow"], arguments, &["--json"]].concat());
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        let line = output.stdout.strip_suffix(b"\n").expect("one line");
        let limits = ReadLimits::DEFAULT.with_bytes(usize::MAX);
        let value = parse_canonical(line, &limits).expect("canonical JSON").into_owned();
        let object = value.as_object().unwrap().clone();
        let members: Vec<_> = object.iter().map(|(name, _)| name.to_owned()).collect();
        let expected = [
            "authentication",
            "code",
            "command",
            "document",
            "document_digest",
            "expectations",
            "findings",
            "findings_omitted",
            "membership",
            "outputs_replayed",
            "outputs_traced",
            "result",
            "schema",
            "stated",
            "verifier",
        ];
        assert_eq!(members, expected);
        (object, output.status.code().unwrap())
    }

    fn summary(&self) -> Vec<u8> {
        let arguments =
            ["workflow", "attribution", "p.json", "--pack", "pack.json", "--as", "summary"];
        let output = self.folder.run(&arguments);
        assert_eq!(output.status.code(), Some(0));
        output.stdout
    }

    /// Leaves one contributor out and makes everything else agree with that.
    pub fn omit(&self) {
        let mut omitted = self.honest.clone();
        omitted.stages[0].outputs[0].contributors =
            Some(r#"[{"kind":"rule","id":"known"}]"#.to_owned());
        self.folder.file("p.json", omitted.json());
        self.folder.file("execution.json", omitted.execution_record());
    }

    fn receipt(&self, kind: StatementKind, digest: Digest) {
        let entry = LogEntry::unsigned(Statement::new(kind, digest)).unwrap();
        self.folder.file("logged.json", self.folder.world.draft_of_single(&entry).json());
    }
}

pub fn text<'v>(object: &'v Object<'static>, name: &str) -> &'v str {
    object.get(name).unwrap().as_str().unwrap()
}

pub fn codes(object: &Object<'static>) -> Vec<String> {
    let findings = object.get("findings").and_then(Value::as_array).unwrap();
    let code = |row: &Value<'static>| text(row.as_object().unwrap(), "code").to_owned();
    findings.iter().map(code).collect()
}

#[test]
fn agreement_is_bulk_consistency_and_no_reading() {
    let world = World::new();
    world.folder.file("summary.json", world.summary());
    let (report, code) =
        world.attribution(&["--summary", "summary.json", "--execution", "execution.json"]);
    assert_eq!((text(&report, "result"), code), ("bulk-consistency", 0));
    assert_eq!(text(&report, "membership"), "not-established");
    assert_eq!(text(&report, "authentication"), "not-established");
    assert_eq!(text(&report, "document_digest"), Digest::of(&world.summary()).to_string());
    let plain = world.folder.run(&["workflow", "attribution", "p.json", "--pack", "pack.json"]);
    let plain = String::from_utf8(plain.stdout).unwrap();
    assert!(plain.contains("bulk-consistency") && !plain.contains("reading"), "{plain}");
    // Equal inputs, equal bytes.
    assert_eq!(world.attribution(&[]).0, world.attribution(&[]).0);
}

#[test]
fn exit_codes_tell_findings_from_refusals() {
    let world = World::new();
    let summary = String::from_utf8(world.summary()).unwrap();
    world.folder.file("wrong.json", summary.replacen(r#""board":1"#, r#""other":1"#, 1));
    let (report, code) = world.attribution(&["--summary", "wrong.json"]);
    assert_eq!(
        (text(&report, "result"), text(&report, "code"), code),
        ("finding", "count-mismatch", 1)
    );
    world.folder.file("unread.json", summary.replacen(r#"Version":2"#, r#"Version":1"#, 1));
    let (report, code) = world.attribution(&["--summary", "unread.json"]);
    assert_eq!(
        (text(&report, "result"), text(&report, "code"), code),
        ("refusal", "version-unread", 2)
    );
    let (report, code) = world.attribution(&["--summary", "absent.json"]);
    assert_eq!(
        (text(&report, "result"), text(&report, "code"), code),
        ("refusal", "could-not-run", 2)
    );
    world.folder.file("pack.json", "{}");
    let (report, code) = world.attribution(&[]);
    assert_eq!((codes(&report), code), (vec!["ATTR.MALFORMED".to_owned()], 2));
    world.folder.file("pack.json", pack().replacen(':', " :", 1));
    let (report, code) = world.attribution(&[]);
    assert_eq!((text(&report, "code"), code), ("inventory-mismatch", 2));
}

#[test]
fn a_coordinated_omission_passes_and_a_digest_held_elsewhere_shows_it() {
    let world = World::new();
    let summary = Digest::of(&world.summary());
    let execution = Digest::of(world.honest.execution_record().as_bytes());
    let expect = ["--expect-summary", &summary.to_string()];
    assert_eq!(world.attribution(&expect).1, 0);
    world.omit();
    // Output, pins, execution record and summary agree with each other: structure can't show it.
    world.folder.file("summary.json", world.summary());
    let all = ["--summary", "summary.json", "--execution", "execution.json"];
    assert_eq!(world.attribution(&all).1, 0);
    // The digest of the summary that somebody holds.
    let (report, code) = world.attribution(&expect);
    assert_eq!((codes(&report), code), (vec!["ATTR.EXPECTED".to_owned()], 1));
    assert_eq!(text(&report, "authentication"), "expected-digest");
    // The digest of the execution record.
    let execution = execution.to_string();
    let (report, code) =
        world.attribution(&["--execution", "execution.json", "--expect-execution", &execution]);
    assert_eq!((codes(&report), code), (vec!["ATTR.EXPECTED".to_owned()], 1));
}

#[test]
fn a_logged_digest_is_such_an_expectation() {
    let world = World::new();
    let policy = ["--policy", "policy"];
    let with = |more: &[&str]| {
        let more: Vec<&str> = [&["--receipt", "logged.json"], &policy[..], more].concat();
        let (report, code) = world.attribution(&more);
        (codes(&report), text(&report, "authentication").to_owned(), code)
    };
    let summary = Digest::of(&world.summary());
    let record = Digest::of(world.honest.execution_record().as_bytes());
    let logged = "logged-digest".to_owned();
    world.receipt(StatementKind::Digest, summary);
    assert_eq!(with(&[]), (vec![], logged.clone(), 0));
    world.receipt(StatementKind::ExecutionDigest, record);
    assert_eq!(with(&["--execution", "execution.json"]), (vec![], logged.clone(), 0));
    assert_eq!(with(&[]).0, ["CLI.USAGE"], "the execution record is needed");
    world.receipt(StatementKind::Policy, summary);
    assert_eq!(with(&[]).0, ["CLI.USAGE"]);
    // The omission is shown by either.
    world.receipt(StatementKind::Digest, summary);
    world.omit();
    let expected = vec!["ATTR.EXPECTED".to_owned()];
    assert_eq!(with(&[]), (expected.clone(), logged.clone(), 1));
    world.receipt(StatementKind::ExecutionDigest, record);
    assert_eq!(with(&["--execution", "execution.json"]), (expected, logged, 1));
    // A receipt that does not hold is no expectation that is met.
    let world = World::new();
    let entry = LogEntry::unsigned(Statement::new(StatementKind::Digest, summary)).unwrap();
    let mut draft = world.folder.world.draft_of_single(&entry);
    draft.signatures.clear();
    draft.sign(&world.folder.world, &[]);
    world.folder.file("logged.json", draft.json());
    let (report, code) = world.attribution(&["--receipt", "logged.json", "--policy", "policy"]);
    assert_eq!(code, 1);
    assert!(codes(&report).contains(&"LOG.QUORUM".to_owned()), "{:?}", codes(&report));
}

#[test]
fn a_replay_shows_it_too() {
    let world = World::new();
    let replay = ["--replay", "--audit", "trail.jsonl"];
    let (report, code) = world.attribution(&replay);
    assert_eq!((codes(&report), code), (vec![], 0));
    assert_eq!(text(&report, "membership"), "replayed");
    world.omit();
    let (report, code) = world.attribution(&replay);
    assert_eq!((codes(&report), code), (vec!["ATTR.REPLAY".to_owned()], 1));
    let replayed = report.get("outputs_replayed").unwrap().as_object().unwrap();
    let count = |name: &str| replayed.get(name).unwrap().as_integer().unwrap();
    assert_eq!((count("agree"), count("differ")), (2, 1));
    // An added member that was false in fact.
    let mut added = world.honest.clone();
    added.stages[0].outputs[1].contributors = Some(r#"[{"kind":"rule","id":"known"}]"#.to_owned());
    world.folder.file("p.json", added.json());
    assert_eq!(world.attribution(&[]).1, 0, "structure can't show that either");
    assert_eq!(codes(&world.attribution(&replay).0), ["ATTR.REPLAY"]);
    // Without the audit record there is nothing to evaluate.
    world.folder.file("p.json", world.honest.json());
    world.folder.file("empty.jsonl", "");
    let (report, code) = world.attribution(&["--replay", "--audit", "empty.jsonl"]);
    assert_eq!((codes(&report), code), (vec!["ATTR.REPLAY_INPUT".to_owned(); 3], 1));
    // An audit record of another disposition than the projection states.
    let mut other = world.honest.clone();
    other.stages[0].outputs[2] = OutputDraft {
        audit: other.stages[0].outputs[0].audit,
        ..other.stages[0].outputs[2].clone()
    };
    world.folder.file("p.json", other.json());
    let found = codes(&world.attribution(&replay).0);
    assert_eq!(found, ["ATTR.AUDIT", "ATTR.REPLAY", "ATTR.REPLAY"]);
}

#[test]
fn drift_from_the_command_line() {
    let world = World::new();
    let (mut after, _) = ProjectionDraft::evaluated(&pack(), &FACTS[1..]);
    after.execution = "e2".to_owned();
    world.folder.file("q.json", after.json());
    let arguments = ["drift", "p.json", "q.json", "--pack", "pack.json"];
    let (report, code) = world.report(&arguments);
    assert_eq!((text(&report, "result"), code), ("bulk-consistency", 0));
    let output = world.folder.run(&[&["workflow"], &arguments[..], &["--as", "drift"]].concat());
    let drift = String::from_utf8(output.stdout).unwrap();
    assert!(drift.contains(r#""rule":{"amount-ok":-1,"known":-1}"#), "{drift}");
    world.folder.file("drift.json", &drift);
    let stated = [&arguments[..], &["--drift", "drift.json"]].concat();
    assert_eq!(world.report(&stated).1, 0);
    world.folder.file("drift.json", drift.replacen(r#""known":-1"#, r#""known":-2"#, 1));
    let (report, code) = world.report(&stated);
    assert_eq!((text(&report, "code"), code), ("drift-mismatch", 1));
    // Mixed models are not compared.
    world.folder.file(
        "q.json",
        after.json().replacen(r#"executionVersion":3"#, r#"executionVersion":1"#, 1),
    );
    let (report, code) = world.report(&arguments);
    assert_eq!((text(&report, "code"), code), ("version-unread", 2));
    // What doesn't hold on one side has no drift.
    after.stages[0].outputs[0].contributors = Some(r#"[{"kind":"rule","id":"refuse"}]"#.to_owned());
    world.folder.file("q.json", after.json());
    let (report, code) = world.report(&arguments);
    assert_eq!((text(&report, "code"), code), ("output-mismatch", 1));
    assert!(report.get("document").unwrap().is_null());
}

#[test]
fn everything_together_has_a_limit() {
    let world = World::new();
    // Canonical bytes count, and white space does not; over the input limit it is not read at all.
    let spaced = format!("{}{}", world.honest.json(), " ".repeat(1 << 20));
    world.folder.file("p.json", spaced);
    assert_eq!(world.attribution(&[]).1, 0);
    world.folder.file("p.json", " ".repeat(33_554_433));
    let (report, code) = world.attribution(&[]);
    assert_eq!((text(&report, "code"), code), ("input-over-bound", 2));
    // Projections and packs together: five packs of seven million bytes.
    world.folder.file("p.json", world.honest.json());
    let mut arguments = vec!["attribution", "p.json", "--pack", "pack.json"];
    let names: Vec<String> = (0..5).map(|n| format!("big{n}.json")).collect();
    for name in &names {
        let spaced = pack().replacen(':', &format!("{}:", " ".repeat(7_000_000)), 1);
        world.folder.file(name, format!("{spaced}{}", " ".repeat(name.len())));
        arguments.extend(["--pack", name]);
    }
    let (report, code) = world.report(&arguments);
    assert_eq!((codes(&report), code), (vec!["ATTR.BOUND".to_owned()], 2));
}
