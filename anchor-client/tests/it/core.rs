//! A small valid core, written below the recorder: one node, one session, one verdict.

use std::path::Path;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::chain::{Chain, checkpoint_digest, sign_body};
use anchorlog_proto::gad::plan::{plan_hash, test_spec_digest};
use anchorlog_proto::json::{Object, ReadLimits, Value, canonical, parse};
use anchorlog_proto::signed_object::SigningKey;
use serde_json::json;

/// The keys of the record.
pub fn key(seed: u8) -> SigningKey {
    SigningKey::from_seed(&[seed; 32])
}

pub const ENGINE: u8 = 1;
pub const OPERATOR: u8 = 2;
pub const EVALUATOR: u8 = 3;

/// When the run began, in seconds since 1970.
pub const BEGIN: i64 = 1_784_541_600;

/// A record in its files.
pub struct Core {
    pub plan: Vec<u8>,
    pub plan_hash: Digest,
    pub files: Vec<(String, Vec<u8>)>,
    pub heads: Vec<Digest>,
}

/// Canonical bytes of JSON.
pub fn canon(value: &serde_json::Value) -> Vec<u8> {
    canonical(&parse(value.to_string().as_bytes(), &ReadLimits::DEFAULT).unwrap())
}

pub fn plan() -> Vec<u8> {
    let engine = key(ENGINE);
    canon(&json!({
        "schema": "gad.plan/1",
        "N": [{
            "node": "n1", "desc": "the work", "fence": {"kind": "paths", "allow": ["src/"]},
            "T": [{"test_id": "t1", "spec": spec()}],
            "c_min": "engine_observed", "risk": "normal", "B": 1,
        }],
        "D": [],
        "authorized_principals": [{
            "key_id": engine.id().to_string(), "algorithm": "ed25519",
            "public_key": engine.public_key().to_base64(),
            "custody_statement": "a test's", "roles": ["engine"],
        }],
        "meta": {"clock_policy": {"max_backstep_s": 0, "max_future_skew_s": 300}},
    }))
}

fn spec() -> serde_json::Value {
    json!({
        "kind": "command", "run": "make test", "capture": "engine_capture",
        "observation_layers": ["authenticated_engine_observation"],
        "signal_kind": "direct_observable", "replay": false, "expect": {"exit_code": 0},
    })
}

impl Core {
    /// The record of a run whose first dispatch carries `precommit`.
    pub fn new(precommit: Option<Digest>) -> Self {
        let plan = plan();
        let hash = plan_hash(&plan);
        let mut artifacts = Vec::new();
        let mut artifact = |name: &str, content: &str| {
            artifacts.push((format!("artifacts/{name}"), content.as_bytes().to_vec()));
            Digest::of(content.as_bytes()).to_string()
        };
        let (instruction, output) = (artifact("instruction", "do it"), artifact("out", "done"));
        let (delta, suite) = (artifact("delta", "+ line"), artifact("suite", "test:\n\ttrue"));
        let (environment, stdout) = (artifact("env", "linux"), artifact("stdout", "ok"));
        let stderr = artifact("stderr", "");
        let spec = parse(spec().to_string().as_bytes(), &ReadLimits::DEFAULT).unwrap().into_owned();
        let engine = key(ENGINE);
        let mut witness = Witness { chain: Chain::new(), lines: Vec::new(), heads: Vec::new() };
        let frozen: serde_json::Value = serde_json::from_slice(&plan).unwrap();
        witness.push("freeze", &json!({"hash": hash.to_string(), "plan": frozen}));
        let mut dispatch = json!({
            "session_id": "s1", "nodes": ["n1"],
            "executor_identity": {"model": "m", "version": "1", "provider": "p"},
            "instruction_ref": "artifacts/instruction", "instruction_digest": instruction,
            "workspace_baseline_digest": Digest::of(b"baseline").to_string(),
            "input": [{"node": "n1", "desc": "the work", "prior_failure": null}],
        });
        if let Some(precommit) = precommit {
            dispatch["precommit_digest"] = precommit.to_string().into();
        }
        witness.push("dispatch", &dispatch);
        witness.push(
            "executor_exit",
            &json!({"session_id": "s1", "node": "n1", "status": "completed", "exit_code": 0,
                "available_output_ref": "artifacts/out", "available_output_digest": output}),
        );
        witness.push(
            "execution_result",
            &json!({"session_id": "s1", "node": "n1", "delta_ref": "artifacts/delta",
                "delta_digest": delta, "touched_surface": ["src/lib.rs"],
                "output_status": "captured", "quiescence": {"outcome": "quiesced"}}),
        );
        witness.sign(
            "verdict",
            &json!({"session_id": "s1", "execution_result_seq": 3, "node": "n1", "test_id": "t1",
                "capture": "engine_capture",
                "observation_layers": ["authenticated_engine_observation"],
                "signal_kind": "direct_observable",
                "test_spec_digest": test_spec_digest(&spec).to_string(),
                "signal_artifact_digest": suite, "subject_artifact_digest": delta,
                "environment_digest": environment, "stdout_digest": stdout,
                "stderr_digest": stderr, "result": "pass", "exit_code": 0,
                "engine_identity": engine.id().to_string()}),
            &hash,
        );
        witness.push("plan_completed", &json!({}));
        let covered = checkpoint_digest(witness.heads.iter().copied()).to_string();
        let head = witness.heads.last().unwrap().to_string();
        let checkpoint = json!({"range": [0, 5], "digest_over_range": covered, "head": head});
        witness.sign("checkpoint", &checkpoint, &hash);
        let operator = key(OPERATOR);
        let operator = canon(&json!({
            "schema": "gad.operator/1",
            "legal_or_organizational_identity": "Example Works",
            "implementation_identity": "a test", "organizational_unit": "unit",
            "engagement_or_lane_id": "lane",
            "operator_credential": {"alg": "ed25519", "key_id": operator.id().to_string(),
                "public_key": operator.public_key().to_base64()},
        }));
        let mut files = artifacts;
        files.push(("operator.json".to_owned(), operator));
        files.push(("plan.json".to_owned(), plan.clone()));
        files.push(("witness.jsonl".to_owned(), witness.lines.concat()));
        files.sort();
        let members: Vec<_> = files
            .iter()
            .map(|(path, bytes)| {
                let role = match path.as_str() {
                    "operator.json" => "operator",
                    "plan.json" => "plan",
                    "witness.jsonl" => "witness",
                    _ => "artifact",
                };
                json!({"path": path, "role": role, "size": bytes.len(),
                    "digest": Digest::of(bytes).to_string()})
            })
            .collect();
        let manifest = canon(&json!({
            "schema": "gad.core-manifest/1", "spec_version": "1.3", "byte_profile": "gad-bytes/1",
            "canonicalization": "jcs-int/1", "hash": "sha256", "table": "gad.table/1",
            "chain_mode": "public", "coverage_scheme": "checkpoint", "checkpoint_overlap": "none",
            "seal": "final", "members": members,
            "witness": {"count": witness.heads.len(),
                "head": witness.heads.last().unwrap().to_string()},
        }));
        files.push(("manifest.json".to_owned(), manifest));
        Self { plan, plan_hash: hash, files, heads: witness.heads }
    }

    /// Writes the core into a new directory.
    pub fn write(&self, directory: &Path) {
        for (path, bytes) in &self.files {
            let path = directory.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
    }
}

struct Witness {
    chain: Chain,
    lines: Vec<Vec<u8>>,
    heads: Vec<Digest>,
}

impl Witness {
    fn push(&mut self, type_name: &str, payload: &serde_json::Value) {
        let text = payload.to_string();
        let value = parse(text.as_bytes(), &ReadLimits::DEFAULT).unwrap();
        self.append(type_name, value);
    }

    fn sign(&mut self, type_name: &str, members: &serde_json::Value, plan_hash: &Digest) {
        let text = members.to_string();
        let Value::Object(members) = parse(text.as_bytes(), &ReadLimits::DEFAULT).unwrap() else {
            panic!("an object");
        };
        let members: Object<'_> = members;
        self.append(type_name, sign_body(type_name, members, plan_hash, &key(ENGINE)).into());
    }

    fn append(&mut self, type_name: &str, payload: Value<'_>) {
        let time = anchorlog_proto::json::format_utc_seconds(
            BEGIN + i64::try_from(self.heads.len()).unwrap(),
        );
        let line = self.chain.append_raw(&time, type_name, payload);
        self.lines.push(line.bytes);
        self.heads.push(line.h);
    }
}
