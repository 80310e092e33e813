//! The people of the story, with their keys, and what they write down.

use std::path::Path;

use anchorlog_proto::encoding::base64_encode;
use anchorlog_proto::json::{ReadLimits, canonical, parse};
use anchorlog_proto::signed_object::SigningKey;
use serde_json::{Value, json};

/// The engine that judges; its key is the plan's.
pub(super) const ENGINE: u8 = 1;

/// Who answers for the run.
pub(super) const OPERATOR: u8 = 2;

/// Somebody else, who evaluates it.
pub(super) const EVALUATOR: u8 = 3;

/// The operator's name.
pub(super) const OPERATOR_NAME: &str = "Example Works";

/// The evaluator's name.
pub(super) const EVALUATOR_NAME: &str = "Example Audit";

pub(super) fn key(seed: u8) -> SigningKey {
    SigningKey::from_seed(&[seed; 32])
}

/// A key file as `openssl genpkey -algorithm ed25519` writes it.
pub(super) fn write_key(path: &Path, seed: u8) {
    let head = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
    let base64 = base64_encode(&[&head[..], &[seed; 32]].concat());
    let text = format!("-----BEGIN PRIVATE KEY-----\n{base64}\n-----END PRIVATE KEY-----\n");
    anchorlog_client::durable::write_new(path, text.as_bytes(), 0o600).unwrap();
}

/// Canonical bytes of a document.
pub(super) fn canon(value: &Value) -> Vec<u8> {
    canonical(&parse(value.to_string().as_bytes(), &ReadLimits::DEFAULT).unwrap())
}

/// A plan of one node with one test, `run`.
pub(super) fn plan(run: &str) -> Vec<u8> {
    let engine = key(ENGINE);
    canon(&json!({
        "schema": "gad.plan/1",
        "N": [{
            "node": "parser", "desc": "write the parser", "B": 1, "risk": "normal",
            "c_min": "engine_observed", "fence": {"kind": "paths", "allow": ["src/"]},
            "T": [{"test_id": "parses", "spec": {
                "kind": "command", "run": run, "capture": "engine_capture",
                "observation_layers": ["authenticated_engine_observation"],
                "signal_kind": "direct_observable", "replay": false, "expect": {"exit_code": 0},
            }}],
        }],
        "D": [],
        "authorized_principals": [{
            "key_id": engine.id().to_string(), "algorithm": "ed25519",
            "public_key": engine.public_key().to_base64(),
            "custody_statement": "of a test, with a published seed", "roles": ["engine"],
        }],
        "meta": {"clock_policy": {"max_backstep_s": 2, "max_future_skew_s": 60}},
    }))
}

/// The operator's record.
pub(super) fn operator() -> Vec<u8> {
    let key = key(OPERATOR);
    canon(&json!({
        "schema": "gad.operator/1", "legal_or_organizational_identity": OPERATOR_NAME,
        "implementation_identity": "anchor", "organizational_unit": "tests",
        "engagement_or_lane_id": "story",
        "operator_credential": {"alg": "ed25519", "key_id": key.id().to_string(),
            "public_key": key.public_key().to_base64()},
    }))
}
