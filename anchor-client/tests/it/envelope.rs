//! `anchor envelope` and `anchor commit`: what goes in, what doesn't, and what is kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;

use anchorlog_client::envelope::Envelope;
use anchorlog_proto::Digest;
use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::attestation::{AttestationBody, Implementation, PolicyName};
use anchorlog_proto::gad::names::RunOutcome;
use anchorlog_proto::gad::policy::Policy;
use anchorlog_proto::statement::{LogEntry, Statement, StatementKind};
use anchorlog_verifier::gad::finding::Findings;
use anchorlog_verifier::gad::rules::r1_envelope::Predecessor;
use serde_json::{Value, json};

use crate::command::{anchor, report};
use crate::core::{BEGIN, Core, ENGINE, EVALUATOR, OPERATOR, canon, key};
use crate::fake_log::FakeLog;
use crate::tsa::Tsa;

pub struct World {
    pub directory: tempfile::TempDir,
    pub core: Core,
}

pub const CREATED: &str = "2026-07-20T11:00:00Z";

impl World {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let core = Core::new(None);
        core.write(&directory.path().join("core"));
        std::fs::write(directory.path().join("plan.json"), &core.plan).unwrap();
        Self { directory, core }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn command(&self, arguments: &[&str]) -> std::process::Command {
        let mut command = anchor(&self.path("state"));
        command.current_dir(self.directory.path()).args(arguments);
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Exit code and report.
    pub fn json(&self, arguments: &[&str]) -> (i32, Value) {
        report(&self.run(&[arguments, &["--json"]].concat()))
    }

    /// The report of what was done.
    #[track_caller]
    pub fn done(&self, arguments: &[&str]) -> Value {
        let (code, report) = self.json(arguments);
        assert_eq!(code, 0, "{report:#}");
        report
    }

    /// Exit code and code of what was refused; nothing new is there.
    #[track_caller]
    pub fn refused(&self, arguments: &[&str]) -> (i32, String) {
        let before = self.names();
        let (code, report) = self.json(arguments);
        assert_ne!(code, 0, "{report:#}");
        let names: Vec<_> = self.names().into_iter().filter(|name| name != "state").collect();
        let before: Vec<_> = before.into_iter().filter(|name| name != "state").collect();
        assert_eq!(names, before, "{report:#}");
        (code, report["errors"][0]["code"].as_str().unwrap().to_owned())
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.directory.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub fn new_envelope(&self, out: &str, more: &[&str]) -> Value {
        let arguments = ["envelope", "new", "core", "--out", out, "--layers", LAYERS];
        self.done(&[&arguments[..], &["--created", CREATED, "--producer", "test"], more].concat())
    }

    pub fn envelope(&self, name: &str) -> Envelope {
        Envelope::open(&self.path(name), &Limits::DEFAULT).unwrap()
    }

    /// An attestation of an envelope, in a file.
    pub fn attest(&self, envelope: &str, change: impl FnOnce(&mut AttestationBody)) -> String {
        let envelope = self.envelope(envelope);
        let statuses = &envelope.report().statuses;
        let mut body = AttestationBody {
            plan_hash: envelope.plan_hash(),
            root_core: envelope.root_core(),
            root_envelope: Some(envelope.root_envelope()),
            valid: statuses.valid(),
            outcome: RunOutcome::Completed,
            satisfied: true,
            spec_version: "1.3".into(),
            canonicalization: "jcs-int/1".into(),
            registry: "gad.registry/1".into(),
            evaluator: "Example Audit".into(),
            implementation: Implementation {
                name: "test".into(),
                version: "1".into(),
                hash: Digest::of(b"test"),
            },
            policy: PolicyName { id: "p".into(), hash: Policy::none().hash() },
            replay_layers: Vec::new(),
            suite_version: "1".into(),
            evaluation_time: BEGIN + 5000,
        };
        change(&mut body);
        let bytes = body.sign(&key(EVALUATOR)).to_canonical();
        let name = format!("q-{}.json", &Digest::of(&bytes).to_hex()[..8]);
        std::fs::write(self.path(&name), bytes).unwrap();
        name
    }

    /// A file with the root of this server.
    pub fn root(&self, tsa: &Tsa) -> String {
        std::fs::write(self.path("root.pem"), tsa.authority.root_pem()).unwrap();
        "root.pem".to_owned()
    }

    /// A file with the receipt of a statement.
    fn receipt(&self, log: &FakeLog, name: &str, statement: Statement) -> String {
        let entry = LogEntry::unsigned(statement).unwrap();
        let mut world = log.world();
        let index = u64::try_from(world.place(&entry)).unwrap();
        let receipt = world.receipt(index).to_json().unwrap();
        std::fs::write(self.path(name), receipt).unwrap();
        name.to_owned()
    }

    /// Every file below a directory.
    pub fn tree(&self, name: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let root = self.path(name);
        let mut files = BTreeMap::new();
        let mut left = vec![root.clone()];
        while let Some(directory) = left.pop() {
            for entry in std::fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    left.push(path);
                } else {
                    let name = path.strip_prefix(&root).unwrap().to_path_buf();
                    files.insert(name, std::fs::read(path).unwrap());
                }
            }
        }
        files
    }
}

pub const LAYERS: &str = "signed_entries_and_checkpoints,pre_dispatch_commitment";

/// What the verifier says about the lineage of an envelope.
fn lineage(world: &World, envelope: &str, predecessor: &str) -> Vec<&'static str> {
    let envelope = world.envelope(envelope);
    let before = world.envelope(predecessor);
    let predecessor = Predecessor::of_manifest(before.root_envelope(), before.manifest().clone());
    let mut findings = Findings::new();
    let survey = anchorlog_verifier::gad::artifacts::Survey::of(
        envelope.bundle(),
        |path| path != "core/witness.jsonl",
        std::num::NonZeroUsize::MIN,
    )
    .unwrap();
    let roots = anchorlog_verifier::gad::rules::r1_envelope::Roots {
        core: Some(envelope.root_core()),
        envelope: envelope.root_envelope(),
        expected_envelope: None,
    };
    anchorlog_verifier::gad::rules::r1_envelope::check(
        envelope.bundle(),
        envelope.manifest(),
        &roots,
        &survey,
        &[predecessor],
        &mut findings,
    );
    findings.list().iter().map(|finding| finding.code.as_str()).collect()
}

#[test]
fn a_core_becomes_an_envelope_whose_bytes_are_determined() {
    let world = World::new();
    let report = world.new_envelope("e0", &["--head", "last", "--head", "5"]);
    assert_eq!(report["valid"], true);
    assert_eq!(report["plan_hash"], world.core.plan_hash.to_string());
    let heads = &report["declared_heads"];
    assert_eq!(heads[0], json!({"seq": 5, "head": world.core.heads[5].to_string()}));
    assert_eq!(heads[1], json!({"seq": 6, "head": world.core.heads[6].to_string()}));
    let envelope = world.envelope("e0");
    assert!(envelope.report().statuses.valid());
    assert_eq!(report["root_envelope"], envelope.root_envelope().to_string());
    for (path, bytes) in &world.core.files {
        assert_eq!(std::fs::read(world.path("e0/core").join(path)).unwrap(), *bytes, "{path}");
    }
    let again = world.new_envelope("again", &["--head", "5", "--head", "6"]);
    assert_eq!(again["root_envelope"], report["root_envelope"]);
    assert_eq!(world.tree("again"), world.tree("e0"));
    let refused = |more: &[&str]| {
        let arguments = ["envelope", "new", "core", "--layers", LAYERS];
        world.refused(&[&arguments[..], more].concat())
    };
    assert_eq!(refused(&["--out", "e0"]), (2, "CLIENT.EXISTS".into()));
    assert_eq!(refused(&["--out", "x", "--head", "7"]), (2, "ANC.HEAD_NOT_IN_CHAIN".into()));
    assert_eq!(refused(&["--out", "x", "--producer", ""]), (2, "CLIENT.USAGE".into()));
    let arguments = ["envelope", "new", "state", "--out", "x", "--layers", LAYERS];
    assert_eq!(world.refused(&arguments).0, 2);
}

#[test]
fn an_invalid_core_is_packaged_only_when_asked() {
    let world = World::new();
    let path = world.path("core/artifacts/stdout");
    std::fs::write(path, "OK").unwrap();
    let arguments = ["envelope", "new", "core", "--out", "e0", "--layers", LAYERS];
    assert_eq!(world.refused(&arguments), (1, "R1.MANIFEST.HASH".into()));
    let report = world.new_envelope("e0", &["--allow-invalid"]);
    assert_eq!(
        (&report["valid"], &report["against"][0]),
        (&false.into(), &"R1.MANIFEST.HASH".into())
    );
    assert!(!world.envelope("e0").report().statuses.valid());
}

#[test]
fn the_operator_seals_and_nobody_else() {
    let world = World::new();
    let pem = |seed: u8, name: &str| {
        let base64 = anchorlog_proto::encoding::base64_encode(
            &[
                &b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20"[..],
                &[seed; 32],
            ]
            .concat(),
        );
        let text = format!("-----BEGIN PRIVATE KEY-----\n{base64}\n-----END PRIVATE KEY-----\n");
        anchorlog_client::durable::write_new(&world.path(name), text.as_bytes(), 0o600).unwrap();
        name.to_owned()
    };
    let (operator, engine) = (pem(OPERATOR, "operator.pem"), pem(ENGINE, "engine.pem"));
    let report = world.new_envelope("e0", &["--seal-key", &operator]);
    assert_eq!(report["sealed"], true);
    let seal = world.envelope("e0").manifest().operator_seal.clone().unwrap();
    let signature = seal.signed.signature.unwrap();
    key(OPERATOR).public_key().verify(&seal.signed.message, &signature).unwrap();
    let arguments = ["envelope", "new", "core", "--out", "x", "--layers", LAYERS, "--seal-key"];
    let refused = world.refused(&[&arguments[..], &[&engine]].concat());
    assert_eq!(refused, (1, "CLIENT.SEAL_KEY".into()));
}

#[test]
fn anchors_are_fetched_and_kept() {
    let (world, log, tsa) = (World::new(), FakeLog::start(), Tsa::start("alpha"));
    let roots = world.root(&tsa);
    world.new_envelope("e0", &["--head", "last"]);
    let before = world.envelope("e0");
    let (url, vkey, tsa_url) = (log.url(), log.vkey(), tsa.url());
    let sources = ["--log", &url, "--vkey", &vkey, "--tsa", &tsa_url, "--roots", &roots];
    let report = world.done(&[&["envelope", "anchor", "e0"], &sources[..]].concat());
    assert_eq!(report["step"], "extension");
    assert_eq!(report["added"].as_array().unwrap().len(), 4, "{report:#}");
    let after = world.envelope("e0");
    assert_eq!(after.manifest().anchors.len(), 4);
    assert_eq!(after.manifest().metadata, before.manifest().metadata);
    assert_eq!(after.root_core(), before.root_core());
    let logged: Vec<_> = log.world().entries.iter().map(|one| one.statement().clone()).collect();
    let kinds: Vec<_> = logged.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [StatementKind::CoreRoot, StatementKind::ChainHead]);
    assert_eq!(logged[0].digest, before.root_core());
    assert_eq!(logged[1].digest, world.core.heads[6]);
    for statement in &logged {
        assert_eq!(statement.trail.as_ref().unwrap().as_str(), world.core.plan_hash.to_string());
    }
    // The imprint is the value itself.
    let imprints: Vec<_> =
        tsa.asked().iter().map(|asked| asked.request().imprint.digest().to_vec()).collect();
    assert!(imprints.contains(&before.root_core().as_bytes().to_vec()));
    // Again: the log has nothing new, and its receipt is there already.
    let refused = world.refused(&["envelope", "anchor", "e0", "--log", &url, "--vkey", &vkey]);
    assert_eq!(refused, (2, "CLIENT.EXISTS".into()));
    assert_eq!(log.world().entries.len(), 2);

    let shown = world.done(&["envelope", "show", "e0"]);
    assert_eq!(shown["root_envelope"], after.root_envelope().to_string());
    let rows = shown["anchors"].as_array().unwrap();
    assert_eq!(rows.iter().filter(|row| row["says"]["log"] == "log.example").count(), 2);
    assert_eq!(rows.iter().filter(|row| row["says"]["gen_time"].is_string()).count(), 2);
    let text = world.run(&["envelope", "show", "e0"]);
    assert!(String::from_utf8(text.stdout).unwrap().contains("nothing here is a verdict"));
}

#[test]
fn what_does_not_arrive_changes_nothing() {
    let (world, log) = (World::new(), FakeLog::start());
    world.new_envelope("e0", &[]);
    let before = world.tree("e0");
    let (url, vkey) = (log.url(), log.vkey());
    let arguments = ["envelope", "anchor", "e0", "--log", &url, "--vkey", &vkey];
    let late =
        world.refused(&[&arguments[..], &["--wait", "anchored", "--wait-timeout", "1"]].concat());
    assert_eq!(late, (1, "CLIENT.NOT_YET".into()));
    let heads = world.refused(&[&arguments[..], &["--kind", "chain_head"]].concat());
    assert_eq!(heads, (2, "ANC.HEAD_UNDECLARED".into()));
    assert_eq!(world.refused(&["envelope", "anchor", "e0"]), (2, "CLIENT.USAGE".into()));
    assert_eq!(world.tree("e0"), before);
    world.done(&arguments);
}

#[test]
fn a_policy_says_what_to_get() {
    let (world, log, tsa) = (World::new(), FakeLog::start(), Tsa::start("alpha"));
    let roots = world.root(&tsa);
    world.new_envelope("e0", &["--head", "last"]);
    let policy = json!({
        "schema": "gad.policy/1", "id": "test", "clock": {"skew_s": 300},
        "required_anchors": [{"kind": "core_root", "types": ["rfc3161"],
            "min_distinct_operators": 1, "when": "always", "max_delay_s": 86400}],
        "tsa": [], "logs": null, "time_sources": ["rfc3161"],
        "revocation": {"tsa": "none", "keys": []}, "parties": [], "related_groups": [],
        "independence": {"rule": "distinct_unrelated/1"}, "credential_authorities": [],
        "accepted_layers": [], "accepted_evaluators": [], "accept_attestations_under": [],
        "replay": "none",
        "accept_outcomes": ["COMPLETED"], "require_single_node_sessions": false,
        "require_bound_artifacts": false, "reject_with_notice": false,
        "require_operator_seal": false,
    });
    std::fs::write(world.path("policy.json"), canon(&policy)).unwrap();
    let (url, vkey, tsa_url) = (log.url(), log.vkey(), tsa.url());
    let arguments = ["envelope", "anchor", "e0", "--policy", "policy.json"];
    let with_log = [&arguments[..], &["--log", &url, "--vkey", &vkey]].concat();
    assert_eq!(world.refused(&with_log), (2, "ANC.REQUIRED_MISSING".into()));
    let both = [&with_log[..], &["--tsa", &tsa_url, "--roots", &roots]].concat();
    let report = world.done(&both);
    assert_eq!(report["items"]["anchors"], 1, "{report:#}");
    assert!(log.world().entries.is_empty(), "the policy takes no receipts");
    assert_eq!(world.done(&both)["added"], json!([]));
    std::fs::write(world.path("policy.json"), "{}").unwrap();
    assert_eq!(world.refused(&both), (2, "J.MISSING_FIELD".into()));
}

#[test]
fn an_anchor_over_something_else_does_not_go_in() {
    let (world, log) = (World::new(), FakeLog::start());
    world.new_envelope("e0", &["--head", "6"]);
    let root = world.envelope("e0").root_core();
    let plan = world.core.plan_hash;
    let trail = |value: Digest| Some(value.to_string().parse().unwrap());
    let statement = |kind, digest, trail| Statement { kind, digest, trail, sequence: None };
    let receipt =
        |name: &str, kind, digest, trail| world.receipt(&log, name, statement(kind, digest, trail));
    let add = |kind: &str, file: &str| {
        world.refused(&["envelope", "add-anchor", "e0", "--kind", kind, file])
    };
    let other = receipt("other.json", StatementKind::CoreRoot, plan, None);
    assert_eq!(add("core_root", &other), (1, "ANC.TARGET".into()));
    let digest = receipt("digest.json", StatementKind::Digest, root, None);
    assert_eq!(add("core_root", &digest), (1, "LOG.LEAF".into()));
    let stranger = receipt("trail.json", StatementKind::CoreRoot, root, trail(root));
    assert_eq!(add("core_root", &stranger), (1, "LOG.LEAF".into()));
    let head = receipt("head.json", StatementKind::ChainHead, world.core.heads[5], trail(plan));
    assert_eq!(add("chain_head", &head), (1, "ANC.HEAD_UNDECLARED".into()));
    let good = receipt("good.json", StatementKind::CoreRoot, root, trail(plan));
    assert_eq!(add("plan_commitment", &good), (1, "LOG.LEAF".into()));
    for (name, code) in
        [("x.tsr", "TSA.PARSE"), ("x.json", "J.SYNTAX"), ("x.txt", "CLIENT.ANCHOR_NAME")]
    {
        std::fs::write(world.path(name), "no anchor").unwrap();
        assert_eq!(add("core_root", name), (2, code.into()));
    }
    assert_eq!(add("core_root", "missing.tsr"), (2, "CLIENT.INPUT".into()));
    // A proof that leads elsewhere.
    let text = std::fs::read_to_string(world.path("good.json")).unwrap();
    let mut value: Value = serde_json::from_str(&text).unwrap();
    let proof = value["proof"].as_str().unwrap().replacen("index 4", "index 3", 1);
    assert_ne!(value["proof"], proof);
    value["proof"] = proof.into();
    value["index"] = 3.into();
    std::fs::write(world.path("bent.json"), value.to_string()).unwrap();
    assert_eq!(add("core_root", "bent.json").0, 1);

    world.done(&["envelope", "add-anchor", "e0", "--kind", "core_root", &good]);
    assert_eq!(add("core_root", &good), (2, "CLIENT.EXISTS".into()));
    // Equal anchors make equal envelopes, in place or not.
    world.new_envelope("f0", &["--head", "6"]);
    world.done(&["envelope", "add-anchor", "f0", "--kind", "core_root", &good, "--out", "f1"]);
    assert_eq!(world.tree("f1"), world.tree("e0"));
    assert_ne!(world.tree("f0"), world.tree("f1"));
    assert_eq!(world.envelope("f1").manifest().predecessor, Ok(None));
}

#[test]
fn versions_keep_what_came_before() {
    let (world, log) = (World::new(), FakeLog::start());
    world.new_envelope("e0", &[]);
    let root = world.envelope("e0").root_core();
    let statement = Statement::new(StatementKind::CoreRoot, root);
    let first = world.receipt(&log, "first.json", statement.clone());
    world.done(&["envelope", "add-anchor", "e0", "--kind", "core_root", &first]);
    let q = world.attest("e0", |_| {});
    let (url, vkey) = (log.url(), log.vkey());
    let report = world.done(&[
        "envelope",
        "add-attestation",
        "e0",
        &q,
        "--out",
        "e1",
        "--log",
        &url,
        "--vkey",
        &vkey,
    ]);
    assert_eq!(report["attests_predecessor"], true);
    let [e0, e1] = ["e0", "e1"].map(|name| world.envelope(name));
    assert_eq!(e1.manifest().predecessor, Ok(Some(e0.root_envelope())));
    assert_eq!(lineage(&world, "e1", "e0"), Vec::<&str>::new());
    let logged: Vec<_> =
        log.world().entries[1..].iter().map(|one| one.statement().clone()).collect();
    let kinds: Vec<_> = logged.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [StatementKind::EnvelopeRoot, StatementKind::Attestation]);
    assert_eq!(logged[0].digest, e1.root_envelope());
    assert_eq!(logged[1].digest, Digest::of(&std::fs::read(world.path(&q)).unwrap()));

    // What is attested isn't changed any more.
    let second = world.receipt(&log, "second.json", statement);
    let add = ["envelope", "add-anchor", "e1", "--kind", "core_root", &second];
    assert_eq!(world.refused(&add), (2, "CLIENT.ENVELOPE_FIXED".into()));
    let report = world.done(&[&add[..], &["--out", "e2"]].concat());
    assert_eq!(report["step"], "successor");
    assert_eq!(lineage(&world, "e2", "e1"), Vec::<&str>::new());
    assert_eq!(lineage(&world, "e2", "e0"), ["R1.ENV.PREDECESSOR_MISMATCH"]);
    let adverse = world.attest("e0", |body| body.valid = false);
    let report = world.done(&["envelope", "add-attestation", "e2", &adverse, "--out", "e3"]);
    assert_eq!(report["attests_predecessor"], false);
    assert_eq!(lineage(&world, "e3", "e2"), Vec::<&str>::new());
    let tree = world.tree("e3");
    for (path, bytes) in world.tree("e2") {
        assert!(path == Path::new("envelope.json") || tree[&path] == bytes, "{}", path.display());
    }
    let e3 = world.envelope("e3");
    assert_eq!((e3.manifest().anchors.len(), e3.manifest().attestations.len()), (2, 2));
    assert!(e3.report().statuses.valid());
    let shown = world.done(&["envelope", "show", "e3"]);
    assert_eq!(shown["attestations"][0]["says"]["evaluator"], "Example Audit");
}

#[test]
fn an_attestation_of_something_else_does_not_go_in() {
    let world = World::new();
    world.new_envelope("e0", &[]);
    let add =
        |file: &str| world.refused(&["envelope", "add-attestation", "e0", file, "--out", "e1"]);
    let other = world.attest("e0", |body| body.root_core = Digest::of(b"other"));
    assert_eq!(add(&other), (1, "ATT.ROOT_CORE".into()));
    let other = world.attest("e0", |body| body.plan_hash = Digest::of(b"other"));
    assert_eq!(add(&other), (1, "ATT.ROOT_CORE".into()));
    let good = world.attest("e0", |_| {});
    let text = std::fs::read_to_string(world.path(&good)).unwrap();
    for (from, to, expected) in [
        ("Example Audit", "Example audit", (1, "ATT.SIG")),
        ("{", "{ ", (2, "J.NONCANONICAL")),
        ("outcome", "outkome", (2, "ATT.FORM")),
        ("{", "", (2, "J.SYNTAX")),
    ] {
        std::fs::write(world.path("bent.json"), text.replacen(from, to, 1)).unwrap();
        assert_eq!(add("bent.json"), (expected.0, expected.1.to_owned()), "{from}");
    }
    world.done(&["envelope", "add-attestation", "e0", &good, "--out", "e1"]);
    assert_eq!(add(&good), (2, "CLIENT.EXISTS".into()));
    let again = world.refused(&["envelope", "add-attestation", "e1", &good, "--out", "e2"]);
    assert_eq!(again, (2, "CLIENT.EXISTS".into()));
}
