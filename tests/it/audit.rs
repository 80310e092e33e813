//! `anchor audit` with the real programs: what a bundle can't show by itself, and what the verifier makes of it.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anchorlog_proto::Digest;
use anchorlog_proto::audit::Audit;
use anchorlog_proto::signed_object::SigningKey;
use anchorlog_tests::world::{Anchor, Program, Ran, World, command, run, verifier};
use serde_json::{Value, json};

use crate::client::write_key;

/// A record that was cut off: a valid snapshot of a run that went on.
fn snapshot() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("vectors/gad/snapshot/bundle.tar")
}

struct Auditor {
    vkey: String,
    anchor: Anchor,
    key: SigningKey,
}

impl Auditor {
    fn of(world: &World) -> Self {
        let anchor = Anchor::of(world);
        let key = SigningKey::from_seed(&[42; 32]);
        write_key(&anchor.home().join("auditor.pem"), &key);
        Self { vkey: world.vkey().to_owned(), anchor, key }
    }

    fn path(&self, name: &str) -> String {
        self.anchor.home().join(name).display().to_string()
    }

    fn audit(&self, arguments: &[&str]) -> Ran {
        let mut command: Command = command(Program::Anchor);
        let state = self.anchor.state();
        command.current_dir(self.anchor.home()).env("ANCHORLOG_STATE", state);
        command.args(["audit", "--json", "--vkey", &self.vkey]);
        run(command.args(arguments))
    }
}

/// The verifier's report on the snapshot, with these audits beside it.
fn judge(code: i32, audits: &[&str], auditor: &SigningKey) -> Value {
    let bundle = snapshot().display().to_string();
    let key = auditor.public_key().to_base64();
    let mut arguments = vec!["envelope", &bundle, "--at", "2025-07-01T00:00:00Z", "--json"];
    if !audits.is_empty() {
        arguments.push("--audit");
        arguments.extend(audits);
        arguments.extend(["--auditor", &key]);
    }
    verifier(arguments).report(code)
}

fn submit(world: &World, kind: &str, digest: &Digest, trail: &str) {
    let statement = json!({
        "schema": "anchorlog.statement/1",
        "kind": kind,
        "digest": digest.to_string(),
        "trail": trail,
    });
    assert_eq!(world.post("/v1/entries", statement.to_string()).status, 200, "{kind}");
}

fn codes(findings: &Value) -> Vec<&str> {
    findings.as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap()).collect()
}

#[test]
fn a_record_that_was_rolled_back_is_shown_by_the_audit_and_by_nothing_else() {
    let world = World::start();
    let auditor = Auditor::of(&world);
    let before = judge(0, &[], &auditor.key);
    let text = |name: &str| before[name].as_str().unwrap().to_owned();
    let (plan, root) = (text("plan_hash"), text("root_core"));
    assert_eq!(before["audits"], json!([]));

    // What its engine registered: the plan, this record's root; then the run went on.
    let digest = |text: &str| text.parse::<Digest>().unwrap();
    submit(&world, "plan_commitment", &digest(&plan), &plan);
    submit(&world, "core_root", &digest(&root), &plan);
    submit(&world, "digest", &Digest::of(b"somebody else's"), "another-trail");
    let signed = ["--key", "auditor.pem", "--out"];
    let url = world.url();
    let subject = ["--log", &url, "--plan", &plan];
    let audit = |out: &str| auditor.audit(&[&subject[..], &signed, &[out]].concat());
    let report = audit("early.json").report(0);
    assert_eq!(report["entries"].as_array().unwrap().len(), 2);
    let report = judge(0, &[&auditor.path("early.json")], &auditor.key);
    assert_eq!(report["audits"][0]["state"], "accepted");
    assert_eq!(codes(&report["audits"][0]["findings"]), [""; 0], "{report:#}");

    submit(&world, "chain_head", &Digest::of(b"a later head"), &plan);
    submit(&world, "attestation", &Digest::of(b"an adverse one"), &plan);
    submit(&world, "core_root", &Digest::of(b"the whole run"), &plan);
    let report = audit("late.json").report(1);
    assert_eq!(report["errors"][0]["code"], "AUD.SECOND_CORE_ROOT", "{report:#}");
    let path = auditor.path("late.json");
    let document = Audit::parse(&fs::read(&path).unwrap()).unwrap();
    document.verify(&auditor.key.public_key()).unwrap();
    assert_eq!(document.body().size().get(), 6);
    let vkey = world.vkey().parse().unwrap();
    assert!(document.body().checkpoint.verify(&vkey).is_ok());

    // The bundle is what it was; the audit alone tells.
    let after = judge(0, &[&path], &auditor.key);
    let found = codes(&after["audits"][0]["findings"]);
    let expected = ["AUD.LATER_HEAD", "AUD.ATTESTATION_LEFT_OUT", "AUD.SECOND_CORE_ROOT"];
    assert_eq!(found, expected, "{after:#}");
    let without = |report: &Value| {
        let mut report = report.clone();
        report.as_object_mut().unwrap().remove("audits");
        report
    };
    assert_eq!(without(&after), without(&before), "nothing but the audits changed");
    let people = verifier(
        ["envelope", snapshot().to_str().unwrap(), "--audit", &path, "--auditor"]
            .into_iter()
            .map(ToOwned::to_owned)
            .chain([auditor.key.public_key().to_base64()]),
    );
    assert!(people.stdout.contains("beside the verdict: an audit, accepted"), "{people:?}");

    // Whoever isn't accepted isn't heard.
    let stranger = SigningKey::from_seed(&[43; 32]);
    let report = judge(0, &[&path], &stranger);
    assert_eq!(codes(&report["audits"][0]["findings"]), ["AUD.AUDITOR"]);

    // The auditor can compare at once, signed or not.
    let bundle = snapshot().display().to_string();
    let envelope = ["--envelope", &bundle];
    let report = auditor.audit(&[&subject[..], &envelope].concat()).report(1);
    assert_eq!(codes(&report["envelope"]), found);
}

#[test]
fn an_audit_goes_on_from_where_it_ended_and_knows_a_fork() {
    let mut world = World::start();
    let plan = Digest::of(b"plan").to_string();
    submit(&world, "plan_commitment", &Digest::of(b"plan"), &plan);
    submit(&world, "digest", &Digest::of(b"more"), "other");
    let auditor = Auditor::of(&world);
    let url = world.url();
    let read = |from: &[&str]| {
        auditor.audit(&[&["--log", &url, "--trail", &plan, "--save", "position"], from].concat())
    };
    let first = read(&[]).report(0);
    assert_eq!(first["findings"][0]["code"], "AUD.NO_CORE_ROOT");
    assert_eq!((&first["from"], &first["size"]), (&json!(0), &json!(2)));
    submit(&world, "core_root", &Digest::of(b"root"), &plan);
    let later = read(&["--from", "position"]).report(0);
    assert_eq!((&later["from"], &later["size"]), (&json!(2), &json!(3)));
    assert_eq!(later["entries"][0]["kind"], "core_root");

    // Another log with the same key in the same place.
    let mut twin = world.twin();
    for number in 0..5_u8 {
        submit(&twin, "digest", &Digest::of(&[number]), &plan);
    }
    assert_eq!((world.terminate(), twin.terminate()), (0, 0));
    twin.move_to(world.address());
    twin.restart();
    let report = read(&["--from", "position"]).report(1);
    assert_eq!(report["errors"][0]["code"], "LOG.CONSISTENCY", "{report:#}");
    let evidence = report["errors"][0]["evidence"].as_str().unwrap();
    assert!(auditor.anchor.home().join(evidence).join("seen.note").is_file());
}

#[test]
fn what_cannot_be_read_is_no_audit() {
    let world = World::start();
    let auditor = Auditor::of(&world);
    let missing = auditor.audit(&["--log", "/nowhere", "--trail", "t"]).report(2);
    assert_eq!(missing["errors"][0]["code"], "LOG.MISSING", "{missing:#}");
    for wrong in [&["--log", "/nowhere"][..], &["--log", "/x", "--trail", "t", "--out", "o"]] {
        assert_eq!(auditor.audit(wrong).code, 2);
    }
}
