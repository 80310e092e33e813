//! Gated nodes: requests and the humans who answer them.

use serde_json::json;

use super::Base;
use crate::gad::case::Status;
use crate::gad::entries::{
    approval, end, freeze, halt, refusal, remediation, request, revised, session, verdict,
};
use crate::gad::plans::{gated, plan};
use crate::gad::record::Record;

/// The bases of this file.
pub const ALL: &[Base] = &[
    (gated_node, &[], &["R7.NO_REQUEST", "R3.GATE.PREMATURE"]),
    (refused, &["SAT.NOT_COMPLETED"], &["R3.HALT.PENDING_HUMAN"]),
    (revised_after_refusal, &[], &["R7.REFUSAL", "R3.REVISED.NO_CHANGE"]),
    (claimed, &[], &["R9.CLASS", "R9.HUMAN_UNSIGNED"]),
];

/// One gated node, approved.
#[must_use]
pub fn gated_node() -> Record {
    let why = "a gated node is approved by a registered human over the engine's findings";
    let mut r = Record::new("gated", "R7", why, plan(&[gated("n")], &[]));
    r.push([freeze()]);
    r.push(session("s", "n", &["src/lib.rs"]));
    r.push([verdict("v", "s", "n"), request("ask", "n", &["r-s", "v"])]);
    r.push([approval("yes", "n", "ask", &["v"])]);
    r.push(end());
    r
}

/// One gated node, refused; the run halts.
#[must_use]
pub fn refused() -> Record {
    let mut r = gated_node();
    (r.base, r.clause) = ("refused", "R7 REFUSED");
    r.why = "a refused node is left unresolved and the plan halts";
    r.status = Status::ended("HALTED");
    r.end("yes", [refusal("no", "n", "ask", &["v"])]);
    r.push(halt(&["n"]));
    r
}

/// One gated node, refused, changed, asked for again and approved.
#[must_use]
pub fn revised_after_refusal() -> Record {
    let mut r = gated_node();
    (r.base, r.clause) = ("revised", "R7 REFUSED, S3");
    r.why = "after a refusal and a recorded change the human is asked again and approves";
    r.end("yes", [refusal("no", "n", "ask", &["v"]), remediation("change", "n", "revision")]);
    r.push([revised("ask2", "n", &["change", "v"], "change")].map(|mut entry| {
        entry.p["findings"] = json!(["@seq:v", "@seq:change"]);
        entry
    }));
    r.push([approval("yes", "n", "ask2", &["v"])]);
    r.push(end());
    r
}

/// Every predicate of the registry and a human's judgment, claimed over one record.
#[must_use]
pub fn claimed() -> Record {
    let mut r = gated_node();
    (r.base, r.clause) = ("claimed", "R9, S2 claim");
    r.why = "typed claims over one record, each with evidence of its class, and a human's judgment";
    r.behind("r-s", [crate::gad::entries::claim("said", "s", "n")]);
    let claims = [
        tuple(
            "gad/test_passed",
            json!("n"),
            json!("unit"),
            &["v"],
            "engine_observed",
            "not_exercised",
        ),
        tuple(
            "gad/node_verified",
            json!("n"),
            json!(null),
            &["v"],
            "engine_observed",
            "adequacy_of_tests",
        ),
        tuple(
            "gad/scope_contained",
            json!("n"),
            json!(null),
            &["r-s"],
            "engine_observed",
            "unmonitored_effects",
        ),
        tuple(
            "gad/gate_authorized",
            json!("n"),
            json!(null),
            &["yes"],
            "engine_observed",
            "approver_competence",
        ),
        tuple(
            "gad/record_covered",
            json!(null),
            json!(null),
            &["seal"],
            "engine_observed",
            "unrecorded_events",
        ),
        tuple(
            "gad/precedence_recorded",
            json!(null),
            json!(null),
            &["freeze", "d-s"],
            "engine_observed",
            "external_time",
        ),
        tuple("gad/executor_said", json!("n"), json!(null), &["said"], "attested", "truth_of_text"),
    ];
    let mut judgment =
        tuple("judgment/adequate", json!("n"), json!(null), &["v"], "attested", "scope");
    judgment["issuer_type"] = "human".into();
    for (name, value) in
        [("type", "typed_claim"), ("key_id", "@key:approver"), ("plan_hash", "@plan")]
    {
        judgment[name] = value.into();
    }
    let mut list = claims.to_vec();
    list.push(json!({"@sign": "approver", "body": judgment}));
    r.claims = Some(json!({
        "schema": "gad.claims/1", "registry": "gad.registry/1", "claims": list,
    }));
    r
}

/// One machine claim.
#[must_use]
pub fn tuple(
    predicate: &str,
    node: serde_json::Value,
    test: serde_json::Value,
    evidence: &[&str],
    class: &str,
    aspect: &str,
) -> serde_json::Value {
    let evidence: Vec<_> = evidence
        .iter()
        .map(|label| json!({"kind": "entry", "seq": format!("@seq:{label}")}))
        .collect();
    json!({
        "predicate_id": predicate,
        "subject_ref": {"plan_hash": "@plan", "node": node, "test_id": test},
        "evidence_refs": evidence,
        "evidence_class": class,
        "noncoverage": [{"aspect": aspect, "text": "as the registry says"}],
        "issuer_type": "machine",
    })
}
