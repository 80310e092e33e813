//! Whom the suite's policies trust: TSAs, logs, witnesses, parties; and the policies themselves.
//!
//! What it is: a PKI made with the token forge, two logs, three witnesses, all keys public, and the policy
//! documents as drafts. What it isn't: trust. Nobody should accept any of it.

use std::sync::LazyLock;

use anchorlog_proto::Digest;
use anchorlog_proto::cosignature::CosignerKey;
use anchorlog_proto::note::{KeyName, NoteSigner};
use serde_json::{Value as Json, json};

use super::json::Names;
use super::keys;
use super::record::Files;
use crate::forge::certificate::Identity;
use crate::forge::keys::Key;
use crate::forge::revocation::Crl;

/// The certificates.
#[derive(Debug)]
pub struct Pki {
    /// Root of TSA a.
    pub root_a: Identity,
    /// The CA of TSA a.
    pub issuing_a: Identity,
    /// TSA a.
    pub tsa_a: Identity,
    /// Root of TSA b.
    pub root_b: Identity,
    /// TSA b, right under its root.
    pub tsa_b: Identity,
    /// A root that no policy names.
    pub root_x: Identity,
    /// A TSA under it.
    pub tsa_x: Identity,
    /// A root that policies name for evaluator credentials.
    pub root_e: Identity,
    /// A TSA under it.
    pub tsa_e: Identity,
}

/// The certificates, the same each time.
pub static PKI: LazyLock<Pki> = LazyLock::new(|| {
    let root = |name: &str| Identity::root_of(name, Key::p256(name));
    let (root_a, root_b) = (root("Suite Root A"), root("Suite Root B"));
    let (root_x, root_e) = (root("Suite Root X"), root("Suite Root E"));
    let issuing_a = root_a.ca("Suite Issuing A", Key::p256("suite issuing a"), Some(0));
    Pki {
        tsa_a: issuing_a.tsa("Suite TSA A", Key::p256("suite tsa a")),
        tsa_b: root_b.tsa("Suite TSA B", Key::ed25519("suite tsa b")),
        tsa_x: root_x.tsa("Suite TSA X", Key::p256("suite tsa x")),
        tsa_e: root_e.tsa("Suite TSA E", Key::p256("suite tsa e")),
        root_a,
        issuing_a,
        root_b,
        root_x,
        root_e,
    }
});

/// The origin of the log that policies know.
pub const LOG: &str = "log.example/suite";
/// The origin of a log that no policy knows.
pub const OTHER_LOG: &str = "log.example/other";
/// The witnesses.
pub const WITNESSES: [&str; 3] =
    ["witness.example/one", "witness.example/two", "witness.example/three"];

/// The key of a log.
///
/// # Panics
/// On a name that is none.
#[must_use]
pub fn log_key(origin: &str) -> NoteSigner {
    NoteSigner::from_seed(KeyName::new(origin).expect("a name"), keys::seed(origin))
}

/// The key of a witness.
///
/// # Panics
/// On a name that is none.
#[must_use]
pub fn witness_key(name: &str) -> CosignerKey {
    CosignerKey::from_seed(KeyName::new(name).expect("a name"), keys::seed(name))
}

/// The log policy text: the log, two of the three witnesses.
#[must_use]
pub fn log_policy() -> String {
    let mut text = format!("log {}\n", log_key(LOG).verifier_key());
    for (name, number) in WITNESSES.iter().zip(1..) {
        text.push_str(&format!("witness w{number} {}\n", witness_key(name).verifier_key()));
    }
    text + "group two 2 w1 w2 w3\nquorum two\n"
}

/// A log policy text in which one key is two witnesses.
#[must_use]
pub fn doubled_log_policy() -> String {
    let one = witness_key(WITNESSES[0]).verifier_key().clone();
    let again = CosignerKey::from_seed(
        KeyName::new("witness.example/again").expect("a name"),
        keys::seed(WITNESSES[0]),
    );
    format!(
        "log {}\nwitness w1 {one}\nwitness w2 {}\ngroup two 2 w1 w2\nquorum two\n",
        log_key(LOG).verifier_key(),
        again.verifier_key()
    )
}

/// The trust directory.
#[must_use]
pub fn files() -> Files {
    [
        ("evaluator-root.der", PKI.root_e.certificate.clone()),
        ("logs.txt", log_policy().into_bytes()),
        ("tsa-a-root.der", PKI.root_a.certificate.clone()),
        ("tsa-b-root.der", PKI.root_b.certificate.clone()),
    ]
    .map(|(name, bytes)| (name.to_owned(), bytes))
    .into()
}

/// A CRL of TSA a's issuer that lists nobody.
#[must_use]
pub fn crl() -> Crl {
    Crl::of(&PKI.issuing_a)
}

/// What policies call these.
pub fn name(names: &mut Names) {
    let mut digest = |name: &str, bytes: &[u8]| names.set(name, Digest::of(bytes).to_string());
    digest("root-a", &PKI.root_a.certificate);
    digest("root-b", &PKI.root_b.certificate);
    digest("root-x", &PKI.root_x.certificate);
    digest("root-e", &PKI.root_e.certificate);
    digest("logs", log_policy().as_bytes());
    digest("doubled-logs", doubled_log_policy().as_bytes());
}

/// The policy of most cases: a root anchor by TSA a or b within a day, an independent evaluator.
#[must_use]
pub fn basic() -> Json {
    let window = json!({"start": "2024-01-01T00:00:00Z", "end": null});
    json!({
        "schema": "gad.policy/1",
        "id": "suite/basic",
        "clock": {"skew_s": 60},
        "required_anchors": [{
            "kind": "core_root", "types": ["rfc3161", "tlog"], "min_distinct_operators": 1,
            "when": "always", "max_delay_s": 86400,
        }],
        "tsa": [
            {"operator": "tsa-a", "roots": ["@root-a"], "window": window.clone(), "policies": [],
             "require_accuracy_s": 60},
            {"operator": "tsa-b", "roots": ["@root-b"], "window": window, "policies": [],
             "require_accuracy_s": null},
        ],
        "logs": {"format": "c2sp.org/tlog-policy", "text_digest": "@logs"},
        "time_sources": ["rfc3161"],
        "revocation": {"tsa": "none", "keys": []},
        "parties": [
            {"id": "works", "names": ["Example Works"], "keys": ["@key:operator"]},
            {"id": "audit", "names": ["Example Audit"], "keys": ["@key:evaluator"]},
            {"id": "works-sub", "names": ["Example Works Audit"], "keys": ["@key:subsidiary"]},
        ],
        "related_groups": [["works", "works-sub"]],
        "independence": {"rule": "distinct_unrelated/1"},
        "credential_authorities": [{
            "id": "board", "roots": ["@root-e"],
            "keys": ["@key:evaluator", "@key:subsidiary", "@key:engine", "@key:stranger"],
        }],
        "accepted_layers": ["signed_entries_and_checkpoints", "witnessed_checkpoints"],
        "accepted_evaluators":
            [{"name": "suite-evaluator", "version": "1", "hash": "@sha256:suite-evaluator"}],
        "accept_attestations_under": [],
        "replay": "none",
        "accept_outcomes": ["COMPLETED", "HALTED", "INCOMPLETE", "SUPERSEDED"],
        "require_single_node_sessions": false,
        "require_bound_artifacts": true,
        "reject_with_notice": true,
        "require_operator_seal": false,
    })
}

/// The attestation of most cases, of a completed record.
#[must_use]
pub fn attestation() -> Json {
    json!({"@sign": "evaluator", "body": {
        "type": "attestation", "key_id": "@key:evaluator", "plan_hash": "@plan",
        "root_core": "@core", "root_envelope": "@envelope",
        "predicate_results": {"valid": true, "outcome": "COMPLETED", "satisfied": true},
        "spec_version": "1.3", "canonicalization_version": "jcs-int/1",
        "predicate_registry_version": "gad.registry/1",
        "evaluator_identity": "Example Audit",
        "evaluator_credential":
            {"alg": "ed25519", "key_id": "@key:evaluator", "public_key": "@pub:evaluator"},
        "evaluator_implementation":
            {"name": "suite-evaluator", "version": "1", "hash": "@sha256:suite-evaluator"},
        "policy": {"id": "@policy-id", "hash": "@policy"},
        "replay_layers_exercised": [],
        "conformance_suite_version": "1",
        "evaluation_time": "2025-06-02T09:00:00Z",
    }})
}
