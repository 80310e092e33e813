//! What the log is for, on real input, from one end to the other.
//!
//! The checkpoint lines of foreign audit trails, and plan hash and core root of recorded agent runs, are
//! submitted with `anchor submit`, receipted, looked up, and verified with `verifier receipt` when there is no
//! server any more. Between the submissions the server is stopped once and killed once.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anchorlog_proto::Digest;
use anchorlog_proto::json::{ReadLimits, canonical, parse};
use anchorlog_proto::receipt::{Receipt, ReceiptState};
use anchorlog_proto::signed_object::Domain;
use anchorlog_tests::world::{Anchor, World, corpus, verifier};
use serde_json::Value;

#[test]
fn commitments_of_real_runs_are_receipted_found_and_verified_offline() {
    let Some(gad) = corpus::folder("gad") else { return };
    let Some(packs) = corpus::folder("judgment-pack") else { return };
    let mut commitments = checkpoint_lines(&packs);
    assert_eq!(commitments.len(), 2, "the corpus holds two checkpoint lines");
    let records = records(&gad);
    assert_eq!(records.len(), 2 * 20, "the corpus holds twenty records");
    commitments.extend(records);

    let mut world = World::start();
    let anchor = Anchor::of(&world);
    let mut receipts: Vec<(Commitment, PathBuf, Receipt)> = Vec::new();
    let third = commitments.len().div_ceil(3);
    for (number, commitment) in commitments.into_iter().enumerate() {
        if number == third {
            assert_eq!(world.terminate(), 0);
            world.restart();
        } else if number == 2 * third {
            world.kill();
            world.restart();
        }
        let path = anchor.home().join(format!("{number}.json"));
        let receipt = submit(&anchor, &commitment, &path);
        receipts.push((commitment, path, receipt));
    }
    assert!(receipts.len() > 2 * third, "the server was stopped and killed in between");

    // The same statement has one index, another statement another one.
    let mut indexes = BTreeMap::new();
    for (_, _, receipt) in &receipts {
        let first = indexes.entry(receipt.leaf_hash).or_insert(receipt.index);
        assert_eq!(*first, receipt.index);
    }
    let mut distinct: Vec<u64> = indexes.values().copied().collect();
    distinct.sort_unstable();
    let size = u64::try_from(distinct.len()).unwrap();
    assert_eq!(distinct, (0..size).collect::<Vec<_>>(), "every index is somebody's");

    for (commitment, _, receipt) in &receipts {
        is_found(&anchor, commitment, receipt);
    }

    // What was receipted first is still provable in today's tree, which extends all that were seen.
    let all: Vec<String> = distinct.iter().map(u64::to_string).collect();
    let arguments: Vec<&str> =
        std::iter::once("receipt").chain(all.iter().map(String::as_str)).collect();
    let report = anchor.report(0, &arguments);
    for (fetched, index) in report["receipts"].as_array().unwrap().iter().zip(&distinct) {
        assert_eq!((&fetched["index"], &fetched["tree_size"]), (&(*index).into(), &size.into()));
    }

    let policy = world.policy();
    assert_eq!(world.terminate(), 0);
    for (commitment, path, receipt) in &receipts {
        is_verified_offline(commitment, path, receipt, &policy);
    }
    let fsck = world.log_server(&["fsck"]).report(0);
    assert_eq!((&fsck["size"], &fsck["problem_count"]), (&size.into(), &0.into()), "{fsck:#}");
}

/// The values of the first record that the format's description states.
#[test]
fn plan_hash_and_core_root_of_the_first_record_are_the_published_ones() {
    let Some(gad) = corpus::folder("gad") else { return };
    let [plan, root] = record(&gad.join("V01"));
    let published = |text: &str| text.parse::<Digest>().unwrap();
    assert_eq!(
        plan.digest,
        published("sha256:8bce941825302d4cd5bcdf872130cbc07e0f303663daa4c38eea1dab15b07138")
    );
    assert_eq!(
        root.digest,
        published("sha256:30b1bf79f3fee1534c5c819b844b3839fb89003ac8efd058c4a2521c51d2bb9b")
    );
    assert_eq!((plan.trail, root.trail), (plan.digest.to_string(), plan.digest.to_string()));
}

/// Something to be logged.
#[derive(Clone, Debug)]
struct Commitment {
    /// Where it is from.
    source: String,
    kind: &'static str,
    digest: Digest,
    trail: String,
    sequence: Option<u64>,
}

/// Every checkpoint line of the audit trails: SHA-256 of the line without its newline.
fn checkpoint_lines(packs: &Path) -> Vec<Commitment> {
    let mut found = Vec::new();
    for path in corpus::files(&packs.join("runner"), ".checkpoints.jsonl") {
        for line in fs::read_to_string(&path).unwrap().lines() {
            let value: Value = serde_json::from_str(line).unwrap();
            found.push(Commitment {
                source: path.display().to_string(),
                kind: "checkpoint",
                digest: Digest::of(line.as_bytes()),
                trail: value["trail"].as_str().unwrap().to_owned(),
                sequence: Some(value["sequence"].as_u64().unwrap()),
            });
        }
    }
    found
}

/// h(P) and `root_core` of every base record.
fn records(gad: &Path) -> Vec<Commitment> {
    let names = fs::read_dir(gad).unwrap().map(|entry| entry.unwrap());
    let mut folders: Vec<PathBuf> = names
        .filter(|entry| entry.file_name().to_string_lossy().starts_with('V'))
        .map(|entry| entry.path())
        .collect();
    folders.sort();
    folders.iter().flat_map(|folder| record(folder)).collect()
}

/// h(P) and `root_core` of one record, both in the trail of its plan.
fn record(folder: &Path) -> [Commitment; 2] {
    let read = |name: &str| fs::read(folder.join("bundle/core").join(name)).unwrap();
    let (plan, manifest) = (read("plan.json"), read("manifest.json"));
    let plan = canonical(&parse(&plan, &ReadLimits::DEFAULT).unwrap());
    let plan_hash = Domain::Plan.hash(&[&plan]);
    let root_core = Domain::CoreManifest.hash(&[&manifest]);
    let commitment = |kind, digest| Commitment {
        source: folder.display().to_string(),
        kind,
        digest,
        trail: plan_hash.to_string(),
        sequence: None,
    };
    [commitment("plan_commitment", plan_hash), commitment("core_root", root_core)]
}

/// Submits with the program and returns the receipt it wrote.
fn submit(anchor: &Anchor, commitment: &Commitment, path: &Path) -> Receipt {
    let Commitment { source, kind, digest, trail, sequence } = commitment;
    let (digest, sequence) = (digest.to_string(), sequence.map(|number| number.to_string()));
    let out = path.to_str().unwrap();
    let mut arguments =
        vec!["submit", "--kind", kind, "--digest", &digest, "--trail", trail, "--out", out];
    if let Some(sequence) = &sequence {
        arguments.extend(["--sequence", sequence]);
    }
    let report = anchor.report(0, &arguments);
    assert_eq!(report["left_in_outbox"], 0);
    let receipt = Receipt::parse(&fs::read(path).unwrap()).unwrap();
    assert_eq!(report["receipts"][0]["index"], receipt.index);
    assert_eq!(receipt.state, ReceiptState::Published);
    assert!(receipt.conflicts.is_empty(), "{source}");
    let statement = receipt.entry.statement();
    assert_eq!((statement.kind.as_str(), statement.digest), (*kind, commitment.digest));
    assert_eq!(statement.trail.as_ref().unwrap().as_str(), trail);
    assert_eq!(statement.sequence, commitment.sequence);
    receipt
}

/// Looks a commitment up by its digest and by its trail.
fn is_found(anchor: &Anchor, commitment: &Commitment, receipt: &Receipt) {
    let expected = |entry: &Value| {
        entry["index"] == receipt.index
            && entry["kind"] == commitment.kind
            && entry["digest"] == commitment.digest.to_string()
            && entry["trail"] == commitment.trail
            && entry["sequence"] == commitment.sequence.map_or(Value::Null, Value::from)
    };
    let digest = commitment.digest.to_string();
    for arguments in [
        &["lookup", &digest][..],
        &["lookup", &digest, "--kind", commitment.kind],
        &["trail", &commitment.trail],
    ] {
        let report = anchor.report(0, arguments);
        let entries = report["entries"].as_array().unwrap();
        let hits = entries.iter().filter(|entry| expected(entry)).count();
        assert_eq!(hits, 1, "{}: {report:#}", commitment.source);
        assert_eq!(report["conflicts"].as_array().unwrap().len(), 0);
    }
    let other = if commitment.kind == "attestation" { "digest" } else { "attestation" };
    let _ = anchor.report(1, &["lookup", &digest, "--kind", other]);
}

/// Verifies a receipt by its policy alone, and sees it refused for anything it doesn't say.
fn is_verified_offline(commitment: &Commitment, path: &Path, receipt: &Receipt, policy: &Path) {
    let Commitment { kind, trail, digest, .. } = commitment;
    let judge = |kind: &str, digest: &Digest, trail: &str, code| {
        let digest = digest.to_string();
        let file = path.to_str().unwrap();
        let policy = policy.to_str().unwrap();
        let expected = ["--digest", &digest, "--kind", kind, "--trail", trail];
        verifier(["receipt", file, "--policy", policy, "--json"].into_iter().chain(expected))
            .report(code)
    };
    let report = judge(kind, digest, trail, 0);
    assert_eq!(report["verdict"], "holds");
    assert_eq!(report["index"], receipt.index);
    assert_eq!(report["state"]["shown"], "published");
    assert_eq!(report["statement"]["digest"], digest.to_string());

    let refused = judge(kind, &Digest::of(b"something else"), trail, 1);
    let findings = refused["findings"].as_array().unwrap();
    assert!(findings.iter().any(|finding| finding["code"] == "LOG.LEAF"), "{refused:#}");
    let _ = judge("attestation", digest, trail, 1);
    let _ = judge(kind, digest, "another-trail", 1);
}
