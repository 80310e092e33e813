//! Runs of several nodes, scope, and what isn't finished.

use serde_json::json;

use super::Base;
use super::runs::minimal;
use crate::gad::case::Status;
use crate::gad::entries::{
    checkpoint, closed, dispatch, end, exit, flag, freeze, halt, remediation, request, result,
    retry, session, superseded, trip, verdict,
};
use crate::gad::plans::{gated, node, plan, with};
use crate::gad::record::Record;

/// The bases of this file.
pub const ALL: &[Base] = &[
    (three_nodes, &["NOTE.ATTRIBUTION_PROXY"], &["R3.EXIT.NODE_NULLITY"]),
    (two_nodes, &[], &["R3.DISPATCH.DEPS"]),
    (excluded, &[], &["R3.TRIP.EARLY", "R3.HALT.READY"]),
    (flagged, &[], &["R6.FLAG.INCOMPLETE", "R6.OPEN_AT_GOOD"]),
    (flag_then_succession, &["SAT.NOT_COMPLETED"], &["R6.SUCCESSION_CLOSE"]),
    (superseded_with_delta, &["SAT.NOT_COMPLETED"], &["R3.SUPERSEDE.DELTA_FALSE"]),
    (snapshot, &["NOTE.SNAPSHOT", "OUT.INCOMPLETE"], &["R3.EXIT.MISSING", "LVL.GAD1"]),
    (periodic, &[], &["R1.CKPT.GAP", "R1.CKPT.OVERLAP"]),
    (dag, &[], &["R3.DISPATCH.DEPS", "R7.CONSEQUENCE"]),
];

/// One session over three nodes.
#[must_use]
pub fn three_nodes() -> Record {
    let why = "one session over three nodes: exit and result name none, attribution is proxy";
    let nodes = [node("a"), node("b"), node("c")];
    let mut r = Record::new("three-nodes", "RUL-8, RUL-12", why, plan(&nodes, &[]));
    r.push([freeze(), dispatch("d-s", "s", &["a", "b", "c"]), exit("x-s", "s", None)]);
    r.push([result("r-s", "s", None, &["src/a.rs", "src/b.rs"])]);
    r.push([verdict("va", "s", "a"), verdict("vb", "s", "b"), verdict("vc", "s", "c")]);
    r.push(end());
    r
}

/// Two nodes, one after the other.
#[must_use]
pub fn two_nodes() -> Record {
    let why = "a node is dispatched once its predecessor is verified";
    let mut r =
        Record::new("two-nodes", "A1 READY", why, plan(&[node("a"), node("b")], &[("a", "b")]));
    r.push([freeze()]);
    r.push(session("s", "a", &["src/a.rs"]));
    r.push([verdict("va", "s", "a")]);
    r.push(session("s2", "b", &["src/b.rs"]));
    r.push([verdict("vb", "s2", "b")]);
    r.push(end());
    r
}

/// A session that completed without evidence about one of its nodes.
#[must_use]
pub fn excluded() -> Record {
    let why = "a node without a verdict is excluded: retried, then tripped, the plan halts";
    let nodes = [node("a"), node("b")];
    let mut r = Record::new("excluded", "A1 U_s", why, plan(&nodes, &[]));
    r.status = Status::ended("HALTED");
    r.push([freeze(), dispatch("d-s", "s", &["a", "b"]), exit("x-s", "s", None)]);
    r.push([result("r-s", "s", None, &["src/a.rs"]), verdict("va", "s", "a")]);
    r.push([retry("again", "b", "insufficient_bound_evidence", &["r-s"])]);
    r.push(session("s2", "b", &["src/b.rs"]));
    r.push([trip("trip", "b", "insufficient_bound_evidence", &["r-s", "r-s2"])]);
    r.push(halt(&["b"]));
    r
}

/// Work outside the fence: flagged, removed, closed.
#[must_use]
pub fn flagged() -> Record {
    let why = "a stray path is flagged, removed and closed before the test is judged";
    let mut r = Record::new("flagged", "R6", why, plan(&[node("n")], &[]));
    r.push([freeze()]);
    r.push(session("s", "n", &["docs/notes.md", "src/lib.rs"]));
    r.push([flag("flag", "s", "n", &["docs/notes.md"]), remediation("removal", "n", "removal")]);
    r.push([closed("closed", "n", "pass"), verdict("v", "s", "n")]);
    r.push(end());
    r
}

/// Work outside the fence, and another plan instead.
#[must_use]
pub fn flag_then_succession() -> Record {
    let why = "a flag is left open by a succession, which closes nothing in place";
    let mut r = Record::new("flag-then-succession", "R6, A1 SUCCEED", why, plan(&[node("n")], &[]));
    r.status = Status::ended("SUPERSEDED");
    r.push([freeze()]);
    r.push(session("s", "n", &["docs/notes.md", "src/lib.rs"]));
    r.push([flag("flag", "s", "n", &["docs/notes.md"])]);
    r.push([superseded("@sha256:another plan", &["n"]), checkpoint("seal")]);
    r
}

/// A succession that states everything it changes, with the successor plan beside it.
#[must_use]
pub fn superseded_with_delta() -> Record {
    let mut r = two_nodes();
    (r.base, r.clause) = ("superseded", "A1 SUCCEED, S4");
    r.why = "a successor that lowers a floor, widens a fence and drops a test states each of them";
    r.status = Status::ended("SUPERSEDED");
    r.plan("/N/1/T/-", json!({"test_id": "lint", "spec": crate::gad::plans::spec()}));
    r.end("d-s2", [superseded("@successor", &[]), checkpoint("seal")]);
    let lowered = with(node("b"), "/c_min", "proxy");
    let lowered = with(lowered, "/fence/allow", json!(["docs/", "src/"]));
    r.inputs.successor = Some(plan(&[node("a"), lowered], &[("a", "b")]));
    r.set("done", "/obligation_map", json!([{"node": "b", "disposition": "changed"}]));
    r.set(
        "done",
        "/changed_class_floors",
        json!([{"node": "b", "from": "engine_observed", "to": "proxy"}]),
    );
    let fence = |allow: &[&str]| json!({"kind": "paths", "allow": allow});
    r.set(
        "done",
        "/changed_fences",
        json!([{"node": "b", "from": fence(&["src/"]), "to": fence(&["docs/", "src/"])}]),
    );
    r.set(
        "done",
        "/changed_tests",
        json!([{"node": "b", "test_id": "lint", "from": "@spec:b/lint", "to": null}]),
    );
    r
}

/// A run that goes on, sealed as it stands, with a session open.
#[must_use]
pub fn snapshot() -> Record {
    let mut r = two_nodes();
    (r.base, r.clause) = ("snapshot", "S3 snapshot");
    r.why = "a snapshot of a run with an open session: valid and incomplete";
    r.status = Status::ended("INCOMPLETE");
    r.seal = "snapshot";
    r.end("x-s2", [checkpoint("seal")]);
    r
}

/// Checkpoints along the way, also within a session.
#[must_use]
pub fn periodic() -> Record {
    let mut r = minimal();
    (r.base, r.clause) = ("periodic", "S2 checkpoint");
    r.why = "checkpoints along the way, each covering what came since the last one";
    r.behind("freeze", [checkpoint("c1")]);
    r.behind("x-s", [checkpoint("c2")]);
    r.behind("v", [checkpoint("c3")]);
    r
}

/// Five nodes with dependencies, one of them gated, two retried and one session over two.
#[must_use]
pub fn dag() -> Record {
    let why = "five nodes with dependencies, a gate in between, a session over two of them";
    let nodes = [node("a"), node("b"), gated("c"), node("d"), node("e")];
    let edges = [("a", "c"), ("b", "c"), ("c", "d"), ("c", "e")];
    let mut r = Record::new("dag", "A1, R7", why, plan(&nodes, &edges));
    r.push([freeze()]);
    r.push(session("s1", "a", &["src/a.rs"]));
    r.push([verdict("va", "s1", "a")]);
    r.push(session("s2", "b", &["src/b.rs"]));
    r.push([verdict("vb", "s2", "b"), checkpoint("c1")]);
    r.push(session("s3", "c", &["src/c.rs"]));
    r.push([verdict("vc", "s3", "c"), request("ask", "c", &["vc"])]);
    r.push([crate::gad::entries::approval("yes", "c", "ask", &["vc"])]);
    r.push([dispatch("d-s4", "s4", &["e", "d"]), exit("x-s4", "s4", None)]);
    r.push([result("r-s4", "s4", None, &["src/d.rs"])]);
    r.push([verdict("vd", "s4", "d"), verdict("ve", "s4", "e")]);
    r.push(end());
    r
}
