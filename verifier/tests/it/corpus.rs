//! The conformance corpus: every transparency-log anchor of it, judged under its own policy.
//!
//! An anchor is a receipt without its log-side members; those are put back here. What is judged is
//! what a receipt can show: the rules about envelopes are not in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anchorlog_proto::json::{Object, ReadLimits, Value, canonical, parse};
use anchorlog_proto::tlog_policy::TlogPolicy;
use anchorlog_verifier::receipt::{Expectations, examine_receipt, read_receipt};

use crate::mutations::judge;

/// What a receipt made of the anchor must come to: the failing codes. Every anchor of the corpus is
/// listed.
const EXPECTED: &[(&str, &[&str])] = &[
    ("V18", &[]),
    ("X178a", &["LOG.SIG"]),
    ("X178b", &["LOG.SIG"]),
    ("X178c", &["LOG.SIG"]),
    ("X178d", &["LOG.UNKNOWN"]),
    ("X180", &[]),
    ("X182", &[]),
    ("X184", &["LOG.LEAF"]),
    ("X184b", &["LOG.LEAF"]),
    ("X241", &[]),
    ("X241b", &[]),
    ("X301", &[]),
    // Its fault is in the time stamp, which is not verified here.
    ("X331a", &[]),
    ("X331b", &["J.UNKNOWN_FIELD"]),
    ("X331c", &["LOG.COSIGNATURE", "LOG.QUORUM"]),
    ("X331d", &["LOG.COSIGNATURE", "LOG.QUORUM"]),
    ("X331e", &[]),
    ("X331f", &["CKPT.ROOT_LENGTH"]),
    ("X331g", &["TLOGPROOF.HEADER"]),
];

#[test]
fn every_log_anchor_of_the_corpus() {
    let Some(gad) = corpus_folder("gad") else { return };
    let policy = fs::read(gad.join("_shared/trust/log-policy.txt")).unwrap();
    let policy = TlogPolicy::parse(&policy).unwrap();
    let expected: BTreeMap<_, _> = EXPECTED.iter().copied().collect();
    let mut seen = 0;
    for (name, path) in anchors(&gad) {
        let bytes = fs::read(&path).unwrap();
        let receipt = receipt(&bytes);
        // What the corpus' base record anchors.
        let expect = Expectations {
            digest: "sha256:30b1bf79f3fee1534c5c819b844b3839fb89003ac8efd058c4a2521c51d2bb9b"
                .parse()
                .ok(),
            kind: "core_root".parse().ok(),
            trail: "sha256:8bce941825302d4cd5bcdf872130cbc07e0f303663daa4c38eea1dab15b07138"
                .parse()
                .ok(),
            submitter: None,
        };
        let codes = judge(&receipt, &policy, &expect);
        let expected =
            expected.get(name.as_str()).unwrap_or_else(|| panic!("{name} is not listed"));
        assert_eq!(codes, *expected, "{name}");
        if expected.is_empty() {
            let receipt = read_receipt(&receipt).unwrap();
            let verified = examine_receipt(&receipt, &policy, &expect).into_verified().unwrap();
            let times: Vec<_> = verified.witnesses().iter().map(|w| w.unix_seconds).collect();
            assert_eq!(times, [1_784_542_260, 1_784_542_261], "{name}");
        }
        seen += 1;
    }
    assert_eq!(seen, EXPECTED.len());
}

/// A folder of the corpus, if there is one; required when the environment says so.
pub fn corpus_folder(name: &str) -> Option<PathBuf> {
    let required = std::env::var_os("ANCHORLOG_REQUIRE_CORPUS").is_some_and(|value| value == "1");
    let Some(corpus) = std::env::var_os("ANCHORLOG_CORPUS") else {
        assert!(!required, "ANCHORLOG_CORPUS is not set and ANCHORLOG_REQUIRE_CORPUS is");
        println!("skipped: ANCHORLOG_CORPUS is not set");
        return None;
    };
    let folder = Path::new(&corpus).join(name);
    assert!(folder.is_dir(), "{} is not there", folder.display());
    Some(folder)
}

/// Every `*.json` of an `anchors` folder, with the name of its vector.
fn anchors(gad: &Path) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for vector in fs::read_dir(gad).unwrap() {
        let vector = vector.unwrap();
        let Ok(files) = fs::read_dir(vector.path().join("bundle/anchors")) else { continue };
        for file in files {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "json") {
                found.push((vector.file_name().into_string().unwrap(), path));
            }
        }
    }
    found.sort();
    found
}

/// The receipt that the anchor was cut from: index and log are those of the proof, the leaf hash
/// that of the statement.
fn receipt(anchor: &[u8]) -> Vec<u8> {
    let value = parse(anchor, &ReadLimits::DEFAULT).unwrap();
    let anchor = value.as_object().unwrap();
    let member = |name| anchor.get(name).unwrap().clone();
    assert_eq!(member("type").as_str(), Some("tlog"));
    let proof = member("proof").as_str().unwrap().to_owned();
    let index = proof.lines().find_map(|line| line.strip_prefix("index ")).unwrap();
    let (_, note) = proof.split_once("\n\n").unwrap();
    let statement = canonical(&member("statement"));
    let leaf_hash = anchorlog_proto::merkle::leaf_hash(&statement).to_string();
    let receipt = Object::from([
        ("schema", Value::from("anchorlog.receipt/1")),
        ("log", note.lines().next().unwrap().to_owned().into()),
        ("index", Value::try_from(index.parse::<u64>().unwrap()).unwrap()),
        ("leaf_hash", leaf_hash.into()),
        ("statement", member("statement")),
        ("proof", proof.clone().into()),
        ("timestamps", member("timestamps")),
        ("state", "published".into()),
    ]);
    canonical(&receipt.into())
}
