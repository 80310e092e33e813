//! The trust policy of the story: whom a stranger believes.

use std::fs;
use std::path::{Path, PathBuf};

use anchorlog_proto::Digest;
use anchorlog_tests::world::World;
use serde_json::{Value, json};

use super::people::{EVALUATOR, EVALUATOR_NAME, OPERATOR, OPERATOR_NAME, canon, key};

/// A policy with the files it names.
pub(super) struct Trust {
    pub policy: PathBuf,
    pub directory: PathBuf,
}

impl Trust {
    /// Trusts this log and the development authority in it, the evaluator, and an evaluator's program with this
    /// description.
    pub(super) fn write(home: &Path, world: &World, implementation: &Value) -> Self {
        let directory = home.join("trust");
        fs::create_dir(&directory).unwrap();
        let pem = fs::read_to_string(world.data().join("dev-tsa/root.pem")).unwrap();
        let base64: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
        let root = anchorlog_proto::encoding::base64_decode(&base64).unwrap();
        fs::write(directory.join("root.der"), &root).unwrap();
        let logs = fs::read(world.policy()).unwrap();
        fs::write(directory.join("logs.policy"), &logs).unwrap();
        let (operator, evaluator) = (key(OPERATOR).id(), key(EVALUATOR).id());
        let policy = json!({
            "schema": "gad.policy/1", "id": "example/story", "clock": {"skew_s": 60},
            "required_anchors": [
                {"kind": "core_root", "types": ["rfc3161", "tlog"], "min_distinct_operators": 2,
                    "when": "always", "max_delay_s": 3600},
                {"kind": "plan_commitment", "types": ["tlog"], "min_distinct_operators": 1,
                    "when": "always", "rule": "bound_in_dispatch"},
            ],
            "tsa": [{"operator": "development", "roots": [Digest::of(&root).to_string()],
                "window": {"start": "2020-01-01T00:00:00Z", "end": null}, "policies": [],
                "require_accuracy_s": null}],
            "logs": {"format": "c2sp.org/tlog-policy", "text_digest": Digest::of(&logs).to_string()},
            "time_sources": ["rfc3161"],
            "revocation": {"tsa": "none", "keys": []},
            "parties": [
                {"id": "works", "names": [OPERATOR_NAME], "keys": [operator.to_string()]},
                {"id": "audit", "names": [EVALUATOR_NAME], "keys": [evaluator.to_string()]},
            ],
            "related_groups": [],
            "independence": {"rule": "distinct_unrelated/1"},
            "credential_authorities": [
                {"id": "auditors", "keys": [evaluator.to_string()], "roots": []},
            ],
            "accepted_layers": ["pre_dispatch_commitment"],
            "accepted_evaluators": [implementation],
            "accept_attestations_under": [],
            "replay": "none",
            "accept_outcomes": ["COMPLETED"],
            "require_single_node_sessions": true, "require_bound_artifacts": true,
            "reject_with_notice": true, "require_operator_seal": true,
        });
        let path = home.join("policy.json");
        fs::write(&path, canon(&policy)).unwrap();
        Self { policy: path, directory }
    }
}

/// The policy that the documentation shows is one, in the form that the verifier takes.
#[test]
fn the_documented_policy_is_one() {
    use anchorlog_proto::gad::form::Defects;
    use anchorlog_proto::gad::policy::Policy;
    use anchorlog_proto::json::{ReadLimits, parse_canonical};

    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/evidence/policy.json");
    let bytes = fs::read(path).unwrap();
    let value = parse_canonical(&bytes, &ReadLimits::DEFAULT).unwrap();
    let mut defects = Defects::new();
    let policy = Policy::read(&value, &mut defects).unwrap();
    assert!(defects.is_empty(), "{defects:?}");
    assert_eq!(&*policy.id, "example/tour");
}
