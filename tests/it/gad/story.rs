//! The whole story of one run, with the three programs: committed to before dispatch, recorded while a real
//! process worked, sealed, anchored at a running log with its development authority, attested by somebody
//! else, and DEFENSIBLE under a policy that asks for all of it. Then the same with one byte changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anchorlog_proto::Digest;
use anchorlog_tests::world::{Program, Ran, World, command, run, verifier};
use serde_json::Value;

use super::people::{ENGINE, EVALUATOR, EVALUATOR_NAME, OPERATOR, operator, plan, write_key};
use super::policy::Trust;

/// What the plan's test runs.
const TEST: &str = "grep parse src/parser.txt";

/// What the executor runs.
const WORK: &str = "mkdir -p src && echo 'fn parse' > src/parser.txt && echo written";

#[test]
#[allow(clippy::too_many_lines, reason = "one story, told in its order")]
fn from_a_plan_to_defensible_and_not_with_one_byte_changed() {
    let world = World::configured("[anchoring]\ndev_tsa = true\ninterval = \"1s\"");
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    for (name, bytes) in [("plan.json", plan(TEST)), ("operator.json", operator())] {
        fs::write(home.join(name), bytes).unwrap();
    }
    for (name, seed) in [("engine", ENGINE), ("operator", OPERATOR), ("evaluator", EVALUATOR)] {
        write_key(&home.join(format!("{name}.pem")), seed);
    }
    let story = Story { world: &world, home };

    // COMMIT, before anything is dispatched.
    let url = world.url();
    let log = [&["--log", &url, "--vkey", world.vkey()][..], &["--wait-timeout", "120"]].concat();
    let commit =
        story.anchor(&[&["commit", "plan.json", "--out", "commitment"], &log[..]].concat());
    let commitment = commit["anchors"][0]["file"].as_str().unwrap().to_owned();
    let digest = Digest::of(&fs::read(story.path(&commitment)).unwrap());
    assert_eq!(commit["precommit_digest"], digest.to_string());

    story.record(&commitment);

    // ANCHOR.
    let created = story.anchor(&[
        "envelope",
        "new",
        "core",
        "--out",
        "e0",
        "--layers",
        "pre_dispatch_commitment,signed_entries_and_checkpoints",
        "--head",
        "last",
        "--seal-key",
        "operator.pem",
    ]);
    assert_eq!((&created["valid"], &created["sealed"]), (&true.into(), &true.into()));
    story.anchor(&["envelope", "add-anchor", "e0", "--kind", "plan_commitment", &commitment]);
    let first = verifier(["envelope", story.path("e0").to_str().unwrap(), "--json"]);
    let trust = Trust::write(home, &world, &first.report(0)["evaluator"]);
    let root = world.data().join("dev-tsa/root.pem");
    let tsa = format!("development={}/tsa", world.url());
    let roots = format!("development={}", root.display());
    let anchored = story.anchor(
        &[
            &["envelope", "anchor", "e0", "--policy", "policy.json", "--tsa", &tsa][..],
            &["--roots", &roots],
            &log,
        ]
        .concat(),
    );
    assert_eq!(anchored["added"].as_array().unwrap().len(), 2, "{anchored:#}");

    // Without an attestation it isn't defensible.
    let before = story.judge("e0", &trust, &["--require", "defensible"]).report(1);
    assert_eq!(codes(&before, "broken"), Vec::<String>::new(), "{before:#}");
    assert!(codes(&before, "unmet").contains(&"ATT.MISSING".to_owned()), "{before:#}");

    // EVALUATE, by somebody else.
    let q = verifier([
        "attest",
        story.path("e0").to_str().unwrap(),
        "--policy",
        trust.policy.to_str().unwrap(),
        "--trust",
        trust.directory.to_str().unwrap(),
        "--key",
        story.path("evaluator.pem").to_str().unwrap(),
        "--identity",
        EVALUATOR_NAME,
    ]);
    assert_eq!(q.code, 0, "{q:?}");
    fs::write(story.path("q.json"), &q.stdout).unwrap();
    let added = story.anchor(
        &[&["envelope", "add-attestation", "e0", "q.json", "--out", "e1"], &log[..]].concat(),
    );
    assert_eq!(added["attests_predecessor"], true);
    assert_eq!(added["receipts"].as_array().unwrap().len(), 2);

    // DEFENSIBLE, in the directory and in the archive.
    let predecessor = story.path("e0/envelope.json");
    let more = ["--require", "defensible", "--predecessor", predecessor.to_str().unwrap()];
    let report = story.judge("e1", &trust, &more).report(0);
    assert_eq!((&report["defensible"], &report["level"]), (&true.into(), &4.into()), "{report:#}");
    assert_eq!(report["policy"]["id"], "example/story");
    assert_eq!(report["precedence"], "bounded");
    assert!(report["anchors"].as_array().unwrap().iter().all(|one| one["state"] == "verified"));
    story.anchor(&["envelope", "pack", "e1", "e1.tar"]);
    let packed = story.judge("e1.tar", &trust, &["--require", "gad4"]).report(0);
    assert_eq!(packed["level"], 4);

    // One byte.
    let manifest: Value =
        serde_json::from_slice(&fs::read(story.path("e1/envelope.json")).unwrap()).unwrap();
    let listed = |list: &str| manifest[list][0]["path"].as_str().unwrap().to_owned();
    for (member, code) in [
        ("core/artifacts/parser/1/parses.stdout".to_owned(), "R1.MANIFEST.HASH"),
        ("core/witness.jsonl".to_owned(), "R1.MANIFEST.HASH"),
        (listed("anchors"), "R1.ENV.ITEM_HASH"),
        (listed("attestations"), "R1.ENV.ITEM_HASH"),
    ] {
        let path = story.path("e1").join(&member);
        let good = fs::read(&path).unwrap();
        let mut bent = good.clone();
        let middle = bent.len() / 2;
        bent[middle] ^= 1;
        fs::write(&path, bent).unwrap();
        let report = story.judge("e1", &trust, &["--require", "defensible"]).report(1);
        assert_eq!(report["defensible"], false, "{member}");
        let found = codes(&report, "broken");
        assert!(found.contains(&code.to_owned()), "{member}: {found:?}");
        fs::write(&path, good).unwrap();
    }
    let mended = story.judge("e1", &trust, &["--require", "defensible"]).report(0);
    assert_eq!(mended["defensible"], true);
}

struct Story<'w> {
    world: &'w World,
    home: &'w Path,
}

impl Story<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.home.join(name)
    }

    /// The report of `anchor` with these arguments, which has to succeed.
    #[track_caller]
    fn anchor(&self, arguments: &[&str]) -> Value {
        let mut anchor = command(Program::Anchor);
        anchor.current_dir(self.home).env("ANCHORLOG_STATE", self.path("state"));
        let ran = run(anchor.args(arguments).arg("--json"));
        assert_eq!(ran.code, 0, "{}\n{}\n{}", ran.stdout, ran.stderr, self.world.read_server_log());
        ran.json()
    }

    fn judge(&self, envelope: &str, trust: &Trust, more: &[&str]) -> Ran {
        let envelope = self.path(envelope);
        let mut arguments = vec!["envelope", envelope.to_str().unwrap(), "--json"];
        arguments.extend(["--policy", trust.policy.to_str().unwrap()]);
        arguments.extend(["--trust", trust.directory.to_str().unwrap()]);
        arguments.extend(more);
        verifier(arguments)
    }

    /// Runs the plan's one node with a real process and the plan's test with another, and exports the core.
    fn record(&self, commitment: &str) {
        let workspace = self.path("workspace");
        fs::create_dir(&workspace).unwrap();
        fs::write(self.path("task.md"), "write the parser").unwrap();
        let record = |command: &str, arguments: &[&str]| {
            let key: &[&str] =
                if command == "freeze" { &[] } else { &["--engine-key", "engine.pem"] };
            self.anchor(&[&["record", command, "record"], key, arguments].concat())
        };
        record("freeze", &["--plan", "plan.json", "--operator", "operator.json"]);
        let session = [
            "--node",
            "parser",
            "--workspace",
            "workspace",
            "--instruction",
            "task.md",
            "--precommit",
            commitment,
            "--model",
            "sh",
            "--model-version",
            "1",
            "--provider",
            "story",
        ];
        let ran = record("run", &[&session[..], &["--", "/bin/sh", "-c", WORK]].concat());
        assert_eq!(ran["touched"], serde_json::json!(["src/parser.txt"]));
        let said = self.path("record").join(ran["output"].as_str().unwrap());
        assert_eq!(fs::read(said).unwrap(), b"written\n");

        let judged =
            Command::new("/bin/sh").args(["-c", TEST]).current_dir(&workspace).output().unwrap();
        for (name, bytes) in [
            ("stdout", &judged.stdout[..]),
            ("stderr", &judged.stderr),
            ("test.sh", TEST.as_bytes()),
            ("environment", b"/bin/sh"),
        ] {
            fs::write(self.path(name), bytes).unwrap();
        }
        record(
            "verdict",
            &[
                "--node",
                "parser",
                "--test",
                "parses",
                "--exit-code",
                &judged.status.code().unwrap().to_string(),
                "--signal",
                "test.sh",
                "--subject",
                "workspace/src/parser.txt",
                "--environment",
                "environment",
                "--stdout",
                "stdout",
                "--stderr",
                "stderr",
                "--keep",
            ],
        );
        record("complete", &[]);
        record("export", &["--out", "core"]);
    }
}

/// The codes of findings of a class.
fn codes(report: &Value, class: &str) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap();
    let of_class = findings.iter().filter(|finding| finding["class"] == class);
    of_class.map(|finding| finding["code"].as_str().unwrap().to_owned()).collect()
}
