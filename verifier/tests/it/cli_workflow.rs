//! `verifier workflow`: exit codes, reports, plugged commands, commitments.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Output;

use anchorlog_proto::Digest;
use anchorlog_proto::signed_object::SigningKey;
use anchorlog_proto::statement::{LogEntry, Statement, StatementKind};
use anchorlog_verifier::workflow::Memory;
use anchorlog_verifier::workflow::commitment::Commitment;

use crate::cli::Folder;
use crate::workflow_world::{Bundle, Plan, generate, honest};

/// A folder with a bundle in `bundle/`.
struct Desk {
    folder: Folder,
    bundle: Bundle,
}

impl Desk {
    fn new(bundle: Bundle) -> Self {
        let folder = Folder::new();
        for (path, bytes) in &bundle.files {
            let at = folder.path("bundle").join(path);
            std::fs::create_dir_all(at.parent().unwrap()).unwrap();
            std::fs::write(at, bytes).unwrap();
        }
        Self { folder, bundle }
    }

    fn good() -> Self {
        Self::new(generate(&Plan::two_stages(), &honest))
    }

    /// Runs a subcommand on the bundle with everything that is held of it.
    fn run(&self, command: &str, more: &[&str]) -> Output {
        let (workflow, execution, runtime) = (
            self.bundle.workflow.to_string(),
            self.bundle.execution.to_string(),
            self.bundle.runtime.to_string(),
        );
        let mut arguments = vec!["workflow", command, "bundle"];
        arguments.extend(["--workflow-digest", &workflow, "--execution-digest", &execution]);
        arguments.extend(["--runtime", &runtime]);
        arguments.extend(more);
        self.folder.run(&arguments)
    }

    fn script(&self, name: &str, script: &str) -> String {
        let path = self.folder.file(name, format!("#!/bin/sh\n{script}\n"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    }
}

fn answer(output: &Output) -> (i32, String) {
    (output.status.code().unwrap(), String::from_utf8(output.stdout.clone()).unwrap())
}

#[test]
fn check_exits_4_when_nothing_is_found_and_never_0() {
    let desk = Desk::good();
    let (code, text) = answer(&desk.run("check", &[]));
    assert_eq!(code, 4, "{text}");
    assert!(text.starts_with("INCOMPLETE\n"), "{text}");
    assert!(text.contains("not performed  preparations: no-preparation-verifier"), "{text}");
    let (code, json) = answer(&desk.run("check", &["--json"]));
    assert_eq!(code, 4);
    assert!(json.contains(r#""result":"incomplete""#) && json.ends_with("}\n"), "{json}");
}

#[test]
fn check_exits_1_2_and_3() {
    let desk = Desk::good();
    std::fs::write(desk.folder.path("bundle/sets/people.json"), "{").unwrap();
    let (code, json) = answer(&desk.run("check", &["--json"]));
    assert_eq!(code, 1);
    assert!(json.contains(r#""refusal":"input-malformed","result":"refusal""#), "{json}");

    let desk = Desk::good();
    let other = Digest::of(b"").to_string();
    let output =
        desk.folder.run(&["workflow", "check", "bundle", "--workflow-digest", &other, "--json"]);
    let (code, json) = answer(&output);
    assert_eq!(code, 2);
    assert!(json.contains(r#""finding":"digest-mismatch""#), "{json}");
    assert!(json.contains(r#""precedence":"not-established""#), "{json}");

    std::fs::remove_file(desk.folder.path("bundle/execution.json")).unwrap();
    let output = desk.run("check", &["--json"]);
    assert_eq!(answer(&output), (3, String::new()));
    assert!(!output.stderr.is_empty());
    let output = desk.folder.run(&["workflow", "check", "nowhere"]);
    assert_eq!(answer(&output), (3, String::new()));
    // A link is not followed.
    let desk = Desk::good();
    let link = desk.folder.path("bundle/sets/people.json");
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("organisations.json", &link).unwrap();
    assert_eq!(answer(&desk.run("check", &[])).0, 3);
}

#[test]
fn read_without_plugs_reads_no_kind() {
    let desk = Desk::good();
    let report = "{\"refusal\":\"kind-unread\",\"result\":\"refusal\"}\n";
    assert_eq!(answer(&desk.run("read", &[])), (1, report.to_owned()));
    assert_eq!(answer(&desk.run("read", &["--json"])), (1, report.to_owned()));
    assert_eq!(answer(&desk.folder.run(&["workflow", "read", "bundle"])), (3, String::new()));
}

/// Answers every preparation with what the generator prepared: the facts of its request's preparation.
const PREPARE: &str = r#"
request=$(cat)
case "$request" in
  *workflow-kind/1*) echo '{"outcome":"read"}' ;;
  *) prepared=$(printf '%s' "$request" | sed 's/.*"preparation":"\([^"]*\)".*/\1/' | base64 -d)
     facts=$(printf '%s' "$prepared" | sed 's/^{"facts":\(.*\),"instance":.*/\1/')
     printf '{"facts":%s,"lineage":[],"outcome":"agrees"}' "$facts" ;;
esac"#;

/// As many outputs as are asked about, each generated.
const INFLUENCE: &str = r#"
count=$(sed 's/.*"outputs":\([0-9]*\).*/\1/')
one='{"classes":["generated"],"generatedInfluence":true}'
list=""
while [ "$count" -gt 0 ]; do list="$list${list:+,}$one"; count=$((count - 1)); done
printf '{"influence":[%s],"outcome":"agrees"}' "$list""#;

#[test]
fn read_with_three_commands() {
    let desk = Desk::good();
    let path = "PATH=/usr/bin:/bin; export PATH\n";
    let prepare = desk.script("prepare", &format!("{path}{PREPARE}"));
    let expand = desk.script("expand", r#"cat >/dev/null 2>&1; echo '{"outcome":"agrees"}'"#);
    let influence = desk.script("influence", &format!("{path}{INFLUENCE}"));
    let plugs = |expand: &str| {
        ["--preparation-verifier", &prepare, "--expansion-verifier", expand]
            .into_iter()
            .chain(["--influence-verifier", &influence])
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let run = |command: &str, expand: &str, more: &[&str]| {
        let plugs = plugs(expand);
        let mut arguments: Vec<&str> = plugs.iter().map(String::as_str).collect();
        arguments.extend(more);
        desk.run(command, &arguments)
    };
    let output = run("read", &expand, &[]);
    let (code, report) = answer(&output);
    assert_eq!(code, 0, "{report}{}", String::from_utf8_lossy(&output.stderr));
    assert!(report.contains(r#""authentication":"not-established","completion":"complete""#));
    // Check still says what nobody has made.
    let (code, text) = answer(&run("check", &expand, &[]));
    assert_eq!(code, 4, "{text}");
    assert_eq!(text.matches("not performed").count(), 1, "{text}");

    let finds = desk.script("finds", r#"echo '{"outcome":"finding","detail":"no"}'"#);
    let report = "{\"finding\":\"stage-binding-mismatch\",\"result\":\"finding\"}\n";
    assert_eq!(answer(&run("read", &finds, &[])), (2, report.to_owned()));
    // What acquired something without admission is a finding, in the RFC's word.
    let refuses = desk.script("refuses", r#"echo '{"outcome":"not-admitted","detail":"/people"}'"#);
    let found = desk.run(
        "read",
        &[
            ["--preparation-verifier", &*prepare, "--expansion-verifier", &*expand],
            ["--influence-verifier", &*refuses, "--verifier-timeout", "20"],
        ]
        .concat(),
    );
    let report = "{\"finding\":\"influence-mismatch\",\"result\":\"finding\"}\n";
    assert_eq!(answer(&found), (2, report.to_owned()));
    // No answer never agrees: too late, another exit code, other bytes, other members.
    for silent in [
        "sleep 60",
        r#"echo '{"outcome":"agrees"}'; exit 1"#,
        "echo agrees",
        r#"echo '{"outcome":"agrees","more":1}'"#,
        "exit 0",
    ] {
        let silent = desk.script("silent", &format!("PATH=/usr/bin:/bin\n{silent}"));
        let output = run("read", &silent, &["--verifier-timeout", "2"]);
        assert_eq!(answer(&output), (3, String::new()), "{silent}");
    }
}

/// A receipt of a log with this one entry.
fn receipt(desk: &Desk, entry: &LogEntry) {
    desk.folder.file("commitment.json", desk.folder.world.draft_of_single(entry).json());
}

fn committed(desk: &Desk) -> (i32, Vec<String>) {
    let arguments = ["workflow", "commitment", "bundle", "--receipt", "commitment.json"];
    desk.folder.codes(&[&arguments[..], &["--policy", "policy"]].concat())
}

#[test]
fn a_commitment_is_to_this_execution_under_its_id() {
    let desk = Desk::good();
    let statement = |kind, digest, trail: &str| Statement {
        kind,
        digest,
        trail: Some(trail.parse().unwrap()),
        sequence: None,
    };
    let kind = StatementKind::ExecutionDigest;
    let good = statement(kind, desk.bundle.execution, "run-1");
    receipt(&desk, &LogEntry::unsigned(good.clone()).unwrap());
    assert_eq!(committed(&desk), (0, vec![]));
    receipt(&desk, &LogEntry::signed(good.clone(), &SigningKey::from_seed(&[7; 32])).unwrap());
    // Who signed it isn't asked here.
    assert_eq!(committed(&desk), (0, vec!["STM.SIGNER_UNCHECKED".to_owned()]));
    for other in [
        statement(kind, Digest::of(b"another branch"), "run-1"),
        statement(kind, desk.bundle.execution, "run-2"),
        statement(StatementKind::Digest, desk.bundle.execution, "run-1"),
        Statement { trail: None, ..good.clone() },
    ] {
        receipt(&desk, &LogEntry::unsigned(other).unwrap());
        assert_eq!(committed(&desk), (1, vec!["LOG.LEAF".to_owned()]));
    }
    // A bundle whose execution is of another workflow, or no execution record, has nothing to commit to.
    receipt(&desk, &LogEntry::unsigned(good).unwrap());
    let record = desk.folder.path("bundle/execution.json");
    std::fs::write(&record, b"{}").unwrap();
    assert_eq!(committed(&desk).0, 2);
    std::fs::remove_file(&record).unwrap();
    assert_eq!(committed(&desk), (2, vec!["IN.OPEN".to_owned()]));
}

#[test]
fn the_commitment_of_documents() {
    let bundle = generate(&Plan::two_stages(), &honest);
    let of = Commitment::of_bundle(&Memory(bundle.files.clone())).unwrap();
    assert_eq!((of.workflow_digest, of.execution_digest), (bundle.workflow, bundle.execution));
    assert_eq!(of.execution.as_str(), "run-1");
    let alone = Commitment::of_documents(None, &bundle.files["execution.json"]).unwrap();
    assert_eq!(alone, of);
    // Another spelling of the same record is the same record.
    let mut spelled = bundle.files["execution.json"].clone();
    spelled.insert(1, b' ');
    assert_eq!(Commitment::of_documents(None, &spelled).unwrap(), of);
    let other = generate(&Plan::disposition("unresolved", None), &honest);
    let workflow = &other.files["workflow.json"];
    assert!(Commitment::of_documents(Some(workflow), &bundle.files["execution.json"]).is_err());
}
