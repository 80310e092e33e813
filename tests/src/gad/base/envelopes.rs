//! Envelopes: anchors, attestations and policies.

use serde_json::json;

use super::Base;
use super::gates::tuple;
use super::runs::minimal;
use crate::gad::anchors::Anchor;
use crate::gad::case::Status;
use crate::gad::record::Record;
use crate::gad::trust::{PKI, attestation, basic};

/// The bases of this file.
pub const ALL: &[Base] = &[
    (defensible, &["NOTE.RELATIVE"], &["NOTE.UNANCHORED", "POL.VACUOUS"]),
    (logged, &["NOTE.RELATIVE"], &["LOG.QUORUM", "NOTE.UNANCHORED"]),
    (committed, &[], &["NOTE.RECORDED_ONLY", "ANC.PRECOMMIT_UNBOUND"]),
    (committed_weakly, &[], &["NOTE.RECORDED_ONLY", "ANC.PRECOMMIT_LATE"]),
    (headed, &[], &["ANC.HEAD_UNDECLARED", "ANC.HEAD_NOT_IN_CHAIN"]),
    (sealed, &[], &["POL.SEAL"]),
    (cosigned, &[], &["ANC.NO_TRUSTED_TIME"]),
    (beside, &[], &["ATT.MISSING"]),
    (two_operators, &[], &["ANC.DISTINCT"]),
    (replayed, &[], &["R4.REPLAY_UNAVAILABLE", "POL.REPLAY_UNSUPPORTED", "ATT.REPLAY_LAYERS"]),
    (unanchored, &["POL.VACUOUS", "LVL.GAD4_NO_POST_RUN"], &["ANC.REQUIRED_MISSING"]),
];

/// A root anchor by a TSA in E_0, the attestation in E_1: defensible.
#[must_use]
pub fn defensible() -> Record {
    let mut r = minimal();
    (r.base, r.clause) = ("defensible", "eq (7), eq (8)");
    r.why = "a root anchor by a known TSA and the attestation of an independent evaluator";
    r.status = Status { defensible: Some(true), level: Some(4), ..Status::COMPLETED };
    r.anchors = vec![Anchor::token("root", "core_root", "core", |_| {})];
    r.attestations = vec![attestation()];
    r.policy = Some(basic());
    r.inputs.require = "defensible";
    r.inputs.predecessor = true;
    r
}

/// A log inclusion with a witness quorum and a token over the checkpoint.
#[must_use]
pub fn logged() -> Record {
    let mut r = defensible();
    (r.base, r.clause) = ("logged", "S9, eq (7)");
    r.why = "the root in a log, two of three witnesses, a token over the checkpoint";
    r.anchors = vec![Anchor::log("root", "core_root", "core", |_| {})];
    r.layers = json!(["witnessed_checkpoints"]);
    r
}

/// A commitment before the run whose digest the first dispatch carries.
#[must_use]
pub fn committed() -> Record {
    let mut r = defensible();
    (r.base, r.clause) = ("committed", "S9, gad.policy/1 bound_in_dispatch");
    r.why = "the plan was committed to before the first dispatch, which carries the token's digest";
    r.anchors.push(Anchor::token("plan", "plan_commitment", "plan", |stamp| {
        stamp.time("20250601090030Z");
    }));
    r.set("d-s", "/precommit_digest", "@anchor:plan");
    r.layers = json!(["pre_dispatch_commitment", "signed_entries_and_checkpoints"]);
    r.policy("/id", "suite/committed");
    r.policy(
        "/required_anchors/-",
        json!({
            "kind": "plan_commitment", "types": ["rfc3161", "tlog"], "min_distinct_operators": 1,
            "when": "bounded_precedence_claimed", "rule": "bound_in_dispatch",
        }),
    );
    let mut claim = tuple(
        "gad/precedence_bounded",
        json!(null),
        json!(null),
        &[],
        "engine_observed",
        "authorship_time",
    );
    claim["evidence_refs"] = json!([{"kind": "anchor", "target": "plan_commitment"}]);
    let mut existed = tuple(
        "gad/existed_by",
        json!(null),
        json!(null),
        &[],
        "engine_observed",
        "internal_timestamps",
    );
    existed["evidence_refs"] = json!([{"kind": "anchor", "target": "core_root"}]);
    r.claims = Some(json!({
        "schema": "gad.claims/1", "registry": "gad.registry/1", "claims": [claim, existed],
    }));
    r
}

/// A commitment whose time lies before the first dispatch's.
#[must_use]
pub fn committed_weakly() -> Record {
    let mut r = committed();
    (r.base, r.clause) = ("committed-weakly", "S9, gad.policy/1 before_first_dispatch");
    r.why = "the commitment's time plus its accuracy lies before the first dispatch";
    r.policy("/id", "suite/committed-weakly");
    r.policy("/required_anchors/1/rule", "before_first_dispatch");
    r.unset("d-s", "/precommit_digest");
    r
}

/// An anchor over a declared head, beside the one over the root.
#[must_use]
pub fn headed() -> Record {
    let mut r = defensible();
    (r.base, r.clause) = ("headed", "S9 declared head");
    r.why = "a head of the chain is declared and anchored while the run goes on";
    r.heads = vec!["v"];
    r.anchors.push(Anchor::token("head", "chain_head", "h:v", |stamp| {
        stamp.time("20250601103000Z");
    }));
    r.policy("/id", "suite/headed");
    r.policy("/required_anchors/-", json!({
        "kind": "chain_head", "types": ["rfc3161"], "min_distinct_operators": 1, "when": "always",
        "max_delay_s": 86400,
    }));
    r
}

/// The operator's seal over the root.
#[must_use]
pub fn sealed() -> Record {
    let mut r = defensible();
    (r.base, r.clause) = ("sealed", "gad-formats 6 operator_seal");
    r.why = "the operator's credential signs the root, as the policy asks";
    r.operator_seal = Some(json!({"@sign": "operator", "body": {
        "type": "operator_seal", "key_id": "@key:operator", "plan_hash": "@plan",
        "root_core": "@core",
    }}));
    r.policy("/id", "suite/sealed");
    r.policy("/require_operator_seal", true);
    r
}

/// A log inclusion whose time is the quorum's cosignatures.
#[must_use]
pub fn cosigned() -> Record {
    let mut r = logged();
    (r.base, r.clause) = ("cosigned", "gad.policy/1 time_sources");
    r.why = "the witness quorum's cosignatures are the trusted time, where the policy says so";
    r.anchor("root").logged(|logged| logged.tokens.clear());
    r.policy("/id", "suite/cosigned");
    r.policy("/time_sources", json!(["cosignature", "rfc3161"]));
    r
}

/// The attestation beside the envelope.
#[must_use]
pub fn beside() -> Record {
    let mut r = defensible();
    (r.base, r.clause) = ("beside", "eq (8)");
    r.why = "an attestation given beside the envelope counts as one inside";
    r.inputs.attestation = r.attestations.pop();
    r.inputs.predecessor = false;
    r
}

/// Tokens of two TSAs, where the policy asks for two operators.
#[must_use]
pub fn two_operators() -> Record {
    let mut r = defensible();
    (r.base, r.clause) = ("two-operators", "gad.policy/1 min_distinct_operators");
    r.why = "tokens of two operators over the root";
    r.anchors.push(Anchor::token("second", "core_root", "core", |stamp| stamp.by(&PKI.tsa_b)));
    r.policy("/id", "suite/two-operators");
    r.policy("/required_anchors/0/min_distinct_operators", 2);
    r
}

/// A replayable test, replayed by the evaluator and agreeing.
#[must_use]
pub fn replayed() -> Record {
    let mut r = defensible();
    (r.base, r.clause) = ("replayed", "S2 trust policy replay, eq (3)");
    r.why = "the policy asks for the replay of every replayable test, and it agrees";
    let layers = || json!(["authenticated_engine_observation", "independently_replayable"]);
    r.plan("/N/0/T/0/spec/observation_layers", layers());
    r.plan("/N/0/T/0/spec/replay", true);
    r.set("v", "/observation_layers", layers());
    r.policy("/id", "suite/replayed");
    r.policy("/replay", json!({"rule": "required_for_all"}));
    r.attest("/body/replay_layers_exercised", json!(["independently_replayable"]));
    r.inputs.replay = Some("agrees");
    r
}

/// A policy that asks for no anchor.
#[must_use]
pub fn unanchored() -> Record {
    let mut r = defensible();
    (r.base, r.clause) = ("unanchored", "eq (7), S8 GAD-4 floor");
    r.why = "a policy that asks for no anchor is met vacuously, and level 4 isn't reached";
    r.anchors.clear();
    r.status.level = Some(3);
    r.policy("/id", "suite/unanchored");
    r.policy("/required_anchors", json!([]));
    r
}
