//! What must hold for any bytes, one function per parser.
//!
//! The targets in `fuzz_targets/` hand libFuzzer's bytes to these functions; a panic is a finding.
//! None of them only asks for "no crash": whatever is accepted must be written back the same, mean
//! the same to an independent reader, or prove only what is true.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a fuzz property fails by panicking")]

use std::sync::LazyLock;

use anchorlog_proto::audit::Audit;
use anchorlog_proto::checkpoint::{Checkpoint, SignedCheckpoint};
use anchorlog_proto::json::{ReadLimits, Value, canonical, parse, parse_canonical};
use anchorlog_proto::note::{SignedNote, VerifierKey};
use anchorlog_proto::receipt::Receipt;
use anchorlog_proto::statement::{LogEntry, MAX_LEAF_BYTES};
use anchorlog_proto::tile::{TilePath, Width, parse_bundle, push_entry};
use anchorlog_proto::tlog_policy::TlogPolicy;
use anchorlog_proto::tlog_proof::TlogProof;
use anchorlog_proto::tlog_witness::{
    AddCheckpoint, TlogWitnessError, decide, parse_cosignatures, parse_size,
    refuse_empty_tree_root, write_cosignatures, write_size,
};
use anchorlog_verifier::receipt::{Expectations, examine_receipt};

#[path = "../../verifier/tests/it/world.rs"]
#[allow(dead_code, missing_docs, reason = "made for tests, which use all of it")]
pub mod world;

#[path = "../../verifier/tests/it/gad_world/mod.rs"]
#[allow(dead_code, missing_docs, unused_imports, reason = "made for tests, which use all of it")]
pub mod gad_world;

#[path = "../../verifier/tests/it/jp_world.rs"]
#[allow(dead_code, missing_docs, reason = "made for tests, which use all of it")]
pub mod jp_world;

#[path = "../../tests/src/forge/mod.rs"]
#[allow(dead_code, missing_docs, reason = "made for tests, which use all of it")]
pub mod forge;

pub mod attribution;
pub mod gad;
pub mod timestamps;
pub mod witness;
pub mod witness_chain;
pub mod workflows;

#[path = "../../tests/src/workflow/mod.rs"]
#[allow(dead_code, missing_docs, reason = "made for tests, which use all of it")]
pub mod workflow_world;

#[path = "../../verifier/tests/it/witness_world.rs"]
#[allow(dead_code, missing_docs, reason = "made for tests, which use all of it")]
pub mod witness_world;

use world::{World, submitter};

static WORLD: LazyLock<World> = LazyLock::new(World::new);

/// Strict JSON: canonical form is a fixed point, and serde_json reads the same value.
pub fn json(bytes: &[u8]) {
    let Ok(value) = parse(bytes, &ReadLimits::DEFAULT) else {
        assert!(parse_canonical(bytes, &ReadLimits::DEFAULT).is_err());
        return;
    };
    let written = canonical(&value);
    let again = parse(&written, &ReadLimits::DEFAULT).expect("the canonical form is read back");
    assert_eq!(again, value);
    assert_eq!(canonical(&again), written);
    let accepted = parse_canonical(bytes, &ReadLimits::DEFAULT).is_ok();
    assert_eq!(accepted, written == bytes);
    let theirs: serde_json::Value = serde_json::from_slice(bytes).expect("strict JSON is JSON");
    assert_eq!(theirs, to_serde(&value));
}

/// Signed notes: what is read is written back byte for byte.
pub fn note(bytes: &[u8]) {
    let Ok(note) = SignedNote::parse(bytes) else { return };
    assert_eq!(note.to_bytes(), bytes);
    if let Ok(verified) = note.verify(std::slice::from_ref(WORLD.log.verifier_key())) {
        assert!(verified.is_signed_by(WORLD.log.verifier_key()));
    }
}

/// Checkpoints: one spelling each, with and without a note around them.
pub fn checkpoint(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(checkpoint) = Checkpoint::parse(text)
    {
        assert_eq!(checkpoint.to_text(), text);
    }
    let Ok(signed) = SignedCheckpoint::parse(bytes) else { return };
    assert_eq!(signed.to_bytes(), bytes);
    assert_eq!(signed.checkpoint().to_text(), signed.note().text());
    // The log of the test world has signed no other trees than these.
    if signed.verify(WORLD.log.verifier_key()).is_ok() {
        assert_eq!(*signed.checkpoint(), WORLD.checkpoint(signed.checkpoint().size.get()));
    }
}

/// Policies: any policy can judge any checkpoint without a panic.
pub fn tlog_policy(bytes: &[u8]) {
    let Ok(policy) = TlogPolicy::parse(bytes) else { return };
    let receipt = WORLD.draft(0).receipt();
    let _ = examine_receipt(&receipt, &policy, &Expectations::default());
}

/// Proof files: what is read is written back byte for byte.
pub fn tlog_proof(bytes: &[u8]) {
    let Ok(proof) = TlogProof::parse(bytes) else { return };
    assert_eq!(proof.to_text().as_bytes(), bytes);
}

/// What logs and witnesses say to each other: what is read is written back byte for byte, and a witness
/// accepts nothing but the test log's own trees.
pub fn tlog_witness(bytes: &[u8]) {
    if let Ok(size) = parse_size(bytes) {
        assert_eq!(write_size(size).as_bytes(), bytes);
    }
    if let Ok(lines) = parse_cosignatures(bytes) {
        assert_eq!(write_cosignatures(&lines).as_bytes(), bytes);
    }
    let keys = std::slice::from_ref(WORLD.log.verifier_key());
    let request = match AddCheckpoint::parse(bytes) {
        Ok(request) => request,
        Err(TlogWitnessError::EmptyTreeRoot(request)) => {
            // The log of the test world never signed such a thing.
            assert_ne!(
                refuse_empty_tree_root(&request, keys).code(),
                "TLOGWITNESS.EMPTY_TREE_ROOT"
            );
            return;
        }
        Err(_) => return,
    };
    assert_eq!(request.to_bytes(), bytes);
    for latest in [None, Some(WORLD.checkpoint(3))] {
        let Ok(accepted) = decide(latest.as_ref(), &request, keys) else { continue };
        let checkpoint = accepted.checkpoint();
        assert_eq!(*checkpoint, WORLD.checkpoint(checkpoint.size.get()));
        assert!(latest.is_none_or(|latest| latest.size <= checkpoint.size));
    }
}

/// Statements: every spelling has one leaf, and only the leaf is a leaf.
pub fn statement(bytes: &[u8]) {
    let read = LogEntry::read(bytes);
    let leaf = LogEntry::from_leaf(bytes);
    let Ok(entry) = read else {
        assert!(leaf.is_err());
        return;
    };
    assert!(entry.leaf_bytes().len() <= MAX_LEAF_BYTES);
    let again = LogEntry::from_leaf(entry.leaf_bytes()).expect("a leaf is read back");
    assert_eq!(again.leaf_hash(), entry.leaf_hash());
    assert_eq!(again.statement(), entry.statement());
    assert_eq!(leaf.is_ok(), entry.leaf_bytes() == bytes);
}

/// Receipts: the written form is a fixed point.
pub fn receipt(bytes: &[u8]) {
    let Ok(receipt) = Receipt::parse(bytes) else { return };
    let written = receipt.to_json().expect("what was read can be written");
    let again = Receipt::parse(&written).expect("a written receipt is read back");
    assert_eq!(again, receipt);
    assert_eq!(again.to_json().expect("twice"), written);
}

/// Audits: what is read can be signed and read again, and says only what was read about its subject.
pub fn audit(bytes: &[u8]) {
    let Ok(audit) = Audit::parse(bytes) else { return };
    let body = audit.body();
    assert!(body.checkpoint.verify(&body.log_key).is_ok());
    assert!(body.entries.is_sorted_by(|one, next| one.index < next.index));
    for entry in &body.entries {
        assert!(body.covers(entry.index));
        assert!(body.subject.takes_statement(&entry.statement, entry.signer));
        assert_eq!(body.entry(entry.index), Some(entry));
    }
    let key = submitter();
    let written = body.sign(&key).expect("what was read can be signed");
    let again = Audit::parse(&written).expect("a signed audit is read back");
    assert_eq!(again.body(), body);
    again.verify(&key.public_key()).expect("its signature holds");
    // Under its own signer the very bytes are the only spelling.
    assert_eq!(audit.verify(&key.public_key()).is_ok(), written == bytes);
}

/// Tile paths: one spelling each.
pub fn tile_path(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match text.parse() {
        Ok(TilePath::Tile(id)) => assert_eq!(id.path(), text),
        Ok(TilePath::Entries(id)) => assert_eq!(id.path(), text),
        Err(_) => {}
    }
}

/// Entry bundles; the first byte is the width, 0 for a full one.
pub fn entry_bundle(bytes: &[u8]) {
    let Some((width, bundle)) = bytes.split_first() else { return };
    let width = if *width == 0 { 256 } else { u16::from(*width) };
    let Some(width) = Width::new(width) else { return };
    let Ok(entries) = parse_bundle(bundle, width) else { return };
    assert_eq!(entries.len(), usize::from(width.get()));
    let mut again = Vec::new();
    for entry in entries {
        push_entry(&mut again, entry).expect("an entry of a bundle fits into a bundle");
    }
    assert_eq!(again, bundle);
}

/// Verifier keys: one spelling each.
pub fn vkey(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(key) = text.parse::<VerifierKey>() else { return };
    assert_eq!(key.to_string(), text);
}

/// Soundness: whatever receipt verifies, its entry is the one the log has at that index.
pub fn receipt_verify(bytes: &[u8]) {
    static POLICY: LazyLock<TlogPolicy> = LazyLock::new(|| WORLD.policy());
    let Ok(receipt) = Receipt::parse(bytes) else { return };
    let exam = examine_receipt(&receipt, &POLICY, &Expectations::default());
    let Ok(verified) = exam.into_verified() else { return };
    let index = usize::try_from(verified.index()).expect("a small tree");
    let truth = WORLD.entries.get(index).expect("the log has an entry at this index");
    assert_eq!(verified.entry().leaf_bytes(), truth.leaf_bytes());
    assert_eq!(verified.tree().root, WORLD.checkpoint(verified.tree().size.get()).root);
}

fn to_serde(value: &Value<'_>) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(truth) => (*truth).into(),
        Value::Integer(number) => (*number).into(),
        Value::String(text) => text.as_ref().into(),
        Value::Array(elements) => elements.iter().map(to_serde).collect(),
        Value::Object(object) => {
            object.iter().map(|(name, value)| (name.to_owned(), to_serde(value))).collect()
        }
    }
}
