//! `anchor workflow commit`, and what `verifier workflow commitment` says about it when the log is gone.

use std::fs;
use std::path::{Path, PathBuf};

use anchorlog_proto::receipt::Receipt;
use anchorlog_proto::signed_object::SigningKey;
use anchorlog_tests::workflow::{Bundle, EXECUTION, Plan, generate, honest};
use anchorlog_tests::world::{Anchor, Ran, World, verifier};
use serde_json::Value;

use crate::client::write_key;

fn write(bundle: &Bundle, root: &Path) {
    for (name, bytes) in &bundle.files {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

fn judge(bundle: &Path, policy: &Path, more: &[&str]) -> Ran {
    let (bundle, policy) = (bundle.to_str().unwrap(), policy.to_str().unwrap());
    let fixed = ["workflow", "commitment", bundle, "--policy", policy, "--json"];
    verifier([&fixed[..], more].concat())
}

fn code(report: &Value) -> &str {
    report["errors"][0]["code"].as_str().unwrap_or_else(|| panic!("no failure in {report:#}"))
}

#[test]
fn branches_are_committed_to_and_checked_offline() {
    let mut world = World::start();
    let anchor = Anchor::of(&world);
    let branches = [Plan::two_stages(), Plan::second_installation()];
    let branches = branches.map(|plan| generate(&plan, &honest));
    assert_ne!(branches[0].execution, branches[1].execution);
    let mut bundles: Vec<PathBuf> = Vec::new();
    for (bundle, name) in branches.iter().zip(["one", "two"]) {
        let root = anchor.home().join(name);
        write(bundle, &root);
        let before = listing(&root);
        let report = anchor.report(0, &["workflow", "commit", name]);
        assert_eq!(report["execution_digest"], bundle.execution.to_string());
        assert_eq!(report["workflow_digest"], bundle.workflow.to_string());
        assert_eq!(report["execution"], EXECUTION);
        let row = &report["receipts"][0];
        assert_eq!((&row["kind"], &row["trail"]), (&"execution_digest".into(), &EXECUTION.into()));
        assert_eq!(row["sequence"], Value::Null);
        assert_eq!(row["conflicts"], serde_json::json!([]), "branches contend for nothing");
        assert_eq!(listing(&root), before, "nothing is written into the bundle");
        bundles.push(root);
    }
    let listed = world.get(&format!("/v1/trails/{EXECUTION}")).json();
    assert_eq!(listed["entries"].as_array().unwrap().len(), 2);
    assert_eq!(listed["conflicts"], serde_json::json!([]));
    // Again is the same entry, also by the record's own path.
    let again = anchor.report(0, &["workflow", "commit", "one/execution.json"]);
    assert_eq!(again["receipts"][0]["index"], 0);

    let policy = world.policy();
    world.terminate();
    for bundle in &bundles {
        assert_eq!(judge(bundle, &policy, &[]).report(0)["verdict"], "holds");
        let record = bundle.join("execution.json");
        assert_eq!(judge(&record, &policy, &[]).report(0)["verdict"], "holds");
    }
    // One branch's receipt says nothing about the other, and a changed record has none.
    let receipt = anchor.home().join("two.receipt.json");
    let _ = judge(&bundles[0], &policy, &["--receipt", receipt.to_str().unwrap()]).report(1);
    let mut changed = branches[0].clone();
    changed.reseal(|bytes| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        // The first digest in it becomes another one, in the form of one.
        let at = text.find("sha256:").unwrap() + 7;
        let digit = if text.as_bytes()[at] == b'0' { "1" } else { "0" };
        bytes.splice(at..=at, digit.bytes());
    });
    write(&changed, &bundles[0]);
    let _ = judge(&bundles[0], &policy, &[]).report(1);
}

#[test]
fn a_record_that_stands_alone_can_be_signed_for() {
    let world = World::configured(&format!(
        "[access]\nmode = \"keys\"\n[[access.keys]]\nname = \"runner\"\nkey = \"{}\"\n",
        key().public_key().to_base64()
    ));
    let anchor = Anchor::of(&world);
    let bundle = generate(&Plan::two_stages(), &honest);
    fs::write(anchor.home().join("run.json"), &bundle.files["execution.json"]).unwrap();
    write_key(&anchor.home().join("key.pem"), &key());
    let unsigned = anchor.report(1, &["workflow", "commit", "run.json"]);
    assert_eq!(code(&unsigned), "access.signature-required");
    let commit = ["workflow", "commit", "run.json", "--key", "key.pem"];
    let report = anchor.report(0, &commit);
    assert_eq!(report["workflow_digest"], bundle.workflow.to_string());
    let path = anchor.home().join("run.receipt.json");
    let receipt = Receipt::parse(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(receipt.entry.signer(), Some(key().id()));
    let judged = judge(&anchor.home().join("run.json"), &world.policy(), &[]);
    assert_eq!(judged.report(0)["verdict"], "holds");
    let elsewhere = anchor.report(0, &[&commit[..], &["--out", "kept.json"]].concat());
    assert_eq!(elsewhere["receipts"][0]["receipt_file"], "kept.json");
}

#[test]
fn what_does_not_fit_together_is_not_committed_to() {
    let world = World::start();
    let anchor = Anchor::of(&world);
    let bundle = generate(&Plan::two_stages(), &honest);
    let other = generate(&Plan::disposition("outcome", Some("listed")), &honest);
    let commit = |name: &str, bundle: &Bundle, change: &dyn Fn(&Path)| {
        let root = anchor.home().join(name);
        write(bundle, &root);
        change(&root);
        anchor.run(&["workflow", "commit", name])
    };
    let replace = |file: &'static str, bytes: Vec<u8>| {
        move |root: &Path| fs::write(root.join(file), &bytes).unwrap()
    };
    let workflow = other.files["workflow.json"].clone();
    assert_ne!(workflow, bundle.files["workflow.json"]);
    for (name, file, bytes) in [
        ("workflow", "workflow.json", workflow),
        ("form", "execution.json", b"{}".to_vec()),
        ("json", "execution.json", b"{\"a\":1,\"a\":1}".to_vec()),
        ("side", "execution.sha256", format!("{}\n", bundle.workflow).into_bytes()),
    ] {
        let report = commit(name, &bundle, &replace(file, bytes)).report(1);
        assert_eq!(code(&report), "CLIENT.BUNDLE", "{name}");
    }
    let missing = commit("gone", &bundle, &|root| {
        fs::remove_file(root.join("execution.json")).unwrap();
    });
    assert_eq!(code(&missing.report(2)), "CLIENT.INPUT");
    assert_eq!(world.get("/v1/log").json()["size"], 0);
}

#[test]
fn a_log_that_is_down_gets_the_commitment_later() {
    let mut world = World::start();
    let anchor = Anchor::of(&world);
    write(&generate(&Plan::two_stages(), &honest), &anchor.home().join("one"));
    world.kill();
    let report = anchor.report(2, &["workflow", "commit", "one"]);
    assert_eq!(report["left_in_outbox"], 1);
    world.restart();
    let report = anchor.report(0, &["workflow", "commit", "one"]);
    assert_eq!(report["earlier"][0]["index"], 0, "what was left over goes first");
    assert_eq!(report["receipts"][0]["index"], 0, "and is the same");
    assert!(anchor.home().join("one.receipt.json").is_file());
}

fn key() -> SigningKey {
    SigningKey::from_seed(&[3; 32])
}

fn listing(root: &Path) -> Vec<PathBuf> {
    anchorlog_tests::world::corpus::files(root, "")
}
