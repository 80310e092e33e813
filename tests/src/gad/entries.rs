//! Witness entries in the making, one constructor per type, each sound in its usual place.

use std::fmt;

use serde_json::{Value as Json, json};

/// A change to the finished line of an entry, its LF included.
pub type LineEdit = Box<dyn Fn(String) -> String>;

/// An entry in the making.
pub struct Entry {
    /// What other entries call it; unique in its record.
    pub label: String,
    /// Its type.
    pub kind: &'static str,
    /// Its payload, or the body of the signed object that its payload is.
    pub p: Json,
    /// Whose key signs it.
    pub signer: Option<&'static str>,
    /// Its time, where it isn't a minute after its predecessor's.
    pub t: Option<Json>,
    /// Its number, where it isn't its position.
    pub seq: Option<Json>,
    /// A change to the finished payload, signature and all.
    pub payload: Option<fn(&mut Json)>,
    /// A change to the whole body before it is hashed.
    pub body: Option<fn(&mut Json)>,
    /// A change to the line.
    pub line: Option<LineEdit>,
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.label, self.kind, self.p)
    }
}

impl Entry {
    /// An entry that nobody signs.
    #[must_use]
    pub fn new(label: impl Into<String>, kind: &'static str, p: Json) -> Self {
        let label = label.into();
        let (signer, t, seq) = (None, None, None);
        Self { label, kind, p, signer, t, seq, payload: None, body: None, line: None }
    }

    /// The same, signed by this key.
    #[must_use]
    pub fn by(mut self, signer: &'static str) -> Self {
        self.signer = Some(signer);
        self
    }

    /// The same, at this time.
    #[must_use]
    pub fn time(mut self, time: &str) -> Self {
        self.t = Some(time.into());
        self
    }

    /// The same, with another member at this pointer.
    #[must_use]
    pub fn with(mut self, pointer: &str, value: impl Into<Json>) -> Self {
        super::record::put(&mut self.p, pointer, value.into());
        self
    }

    /// The same, with this change to its line.
    pub fn edit(&mut self, change: impl Fn(String) -> String + 'static) {
        self.line = Some(Box::new(change));
    }
}

/// freeze.
#[must_use]
pub fn freeze() -> Entry {
    Entry::new("freeze", "freeze", json!({"hash": "@plan", "plan": "@plan-document"}))
}

/// dispatch of these nodes.
#[must_use]
pub fn dispatch(label: &str, session: &str, nodes: &[&str]) -> Entry {
    let input: Vec<_> = nodes
        .iter()
        .map(|node| json!({"node": node, "desc": "as planned", "prior_failure": null}))
        .collect();
    let p = json!({
        "session_id": session,
        "nodes": nodes,
        "executor_identity": {"model": "worker", "version": "9", "provider": "example"},
        "instruction_ref": "artifacts/instructions.md",
        "instruction_digest": "@sha:artifacts/instructions.md",
        "workspace_baseline_digest": "@sha256:baseline",
        "input": input,
    });
    Entry::new(label, "dispatch", p)
}

/// executor_exit, completed.
#[must_use]
pub fn exit(label: &str, session: &str, node: Option<&str>) -> Entry {
    let p = json!({
        "session_id": session, "node": node, "status": "completed", "exit_code": 0,
        "available_output_ref": null, "available_output_digest": null,
    });
    Entry::new(label, "executor_exit", p)
}

/// executor_exit, otherwise.
#[must_use]
pub fn bad_exit(label: &str, session: &str, node: Option<&str>, status: &str) -> Entry {
    exit(label, session, node).with("/status", status).with("/exit_code", json!(null))
}

/// execution_result with a delta.
#[must_use]
pub fn result(label: &str, session: &str, node: Option<&str>, touched: &[&str]) -> Entry {
    let p = json!({
        "session_id": session, "node": node,
        "delta_ref": "artifacts/delta.patch", "delta_digest": "@sha:artifacts/delta.patch",
        "touched_surface": touched, "output_status": "captured",
        "quiescence": {"outcome": "quiesced"},
    });
    Entry::new(label, "execution_result", p)
}

/// execution_result without one.
#[must_use]
pub fn no_result(label: &str, session: &str, node: Option<&str>) -> Entry {
    result(label, session, node, &[])
        .with("/delta_ref", json!(null))
        .with("/delta_digest", json!(null))
        .with("/output_status", "not_recorded")
        .with("/quiescence/outcome", "isolated")
}

/// Dispatch, exit and result of one session over one node, which touches this; labels `d`, `x`, `r` with
/// the session's name behind them.
#[must_use]
pub fn session(session: &str, node: &str, touched: &[&str]) -> [Entry; 3] {
    let label = |kind: &str| format!("{kind}-{session}");
    [
        dispatch(&label("d"), session, &[node]),
        exit(&label("x"), session, Some(node)),
        result(&label("r"), session, Some(node), touched),
    ]
}

/// verdict of the only test of a node over a session: pass.
#[must_use]
pub fn verdict(label: &str, session: &str, node: &str) -> Entry {
    let p = json!({
        "session_id": session, "execution_result_seq": format!("@seq:r-{session}"),
        "node": node, "test_id": "unit", "capture": "engine_capture",
        "observation_layers": ["authenticated_engine_observation"],
        "signal_kind": "direct_observable",
        "test_spec_digest": format!("@spec:{node}/unit"),
        "signal_artifact_digest": "@sha256:test program",
        "subject_artifact_digest": "@sha:artifacts/delta.patch",
        "environment_digest": "@sha256:environment",
        "stdout_digest": "@sha256:stdout", "stderr_digest": "@sha256:stderr",
        "result": "pass", "exit_code": 0, "engine_identity": "@key:engine",
    });
    Entry::new(label, "verdict", p).by("engine")
}

/// verdict: fail.
#[must_use]
pub fn fail(label: &str, session: &str, node: &str) -> Entry {
    verdict(label, session, node).with("/result", "fail").with("/exit_code", 1)
}

/// checkpoint over everything since the last one.
#[must_use]
pub fn checkpoint(label: &str) -> Entry {
    let p = json!({"range": "@@auto", "digest_over_range": "@@auto", "head": "@@auto"});
    Entry::new(label, "checkpoint", p).by("engine")
}

/// plan_completed.
#[must_use]
pub fn completed() -> Entry {
    Entry::new("done", "plan_completed", json!({}))
}

/// plan_completed and the checkpoint that seals it.
#[must_use]
pub fn end() -> [Entry; 2] {
    [completed(), checkpoint("seal")]
}

/// plan_halted with these unresolved, and the checkpoint that seals it.
#[must_use]
pub fn halt(unresolved: &[&str]) -> [Entry; 2] {
    [Entry::new("done", "plan_halted", json!({"unresolved": unresolved})), checkpoint("seal")]
}

/// retry of a node for these entries.
#[must_use]
pub fn retry(label: &str, node: &str, reason: &str, shown_by: &[&str]) -> Entry {
    Entry::new(label, "retry", json!({"node": node, "reason": reason, "input_ref": seqs(shown_by)}))
}

/// trip of a node for these entries.
#[must_use]
pub fn trip(label: &str, node: &str, reason: &str, history: &[&str]) -> Entry {
    Entry::new(label, "trip", json!({"node": node, "reason": reason, "history": seqs(history)}))
}

/// claim.
#[must_use]
pub fn claim(label: &str, session: &str, node: &str) -> Entry {
    Entry::new(label, "claim", json!({"session_id": session, "node": node, "text": "all done"}))
}

/// flag of paths over a session's result.
#[must_use]
pub fn flag(label: &str, session: &str, node: &str, paths: &[&str]) -> Entry {
    let seq = format!("@seq:r-{session}");
    Entry::new(label, "flag", json!({"node": node, "execution_result_seq": seq, "paths": paths}))
}

/// remediation.
#[must_use]
pub fn remediation(label: &str, node: &str, action: &str) -> Entry {
    Entry::new(label, "remediation", json!({"node": node, "action": action}))
}

/// scope_closed.
#[must_use]
pub fn closed(label: &str, node: &str, verdict: &str) -> Entry {
    Entry::new(label, "scope_closed", json!({"node": node, "verdict": verdict})).by("engine")
}

/// probe that fired.
#[must_use]
pub fn probe(label: &str) -> Entry {
    let p = json!({
        "signal_artifact_digest": "@sha256:test program",
        "environment_digest": "@sha256:environment",
        "induced_defect": "an assertion was turned around",
        "demonstrated_result": "fail", "restoration": "verified", "t": "2025-06-01T09:00:30Z",
        "spawned": true, "exit_code": 1, "output_digest": "@sha256:1 test failed",
    });
    Entry::new(label, "probe", p).by("engine")
}

/// gate_request of a node over these findings.
#[must_use]
pub fn request(label: &str, node: &str, findings: &[&str]) -> Entry {
    Entry::new(label, "gate_request", json!({"node": node, "findings": seqs(findings)}))
}

/// approval that answers a request.
#[must_use]
pub fn approval(label: &str, node: &str, request: &str, findings: &[&str]) -> Entry {
    Entry::new(label, "approval", answer(node, "proceed", request, findings)).by("approver")
}

/// refusal that answers a request.
#[must_use]
pub fn refusal(label: &str, node: &str, request: &str, findings: &[&str]) -> Entry {
    Entry::new(label, "refusal", answer(node, "refuse", request, findings)).by("approver")
}

fn answer(node: &str, decision: &str, request: &str, findings: &[&str]) -> Json {
    json!({
        "node": node, "who": "@key:approver", "decision": decision,
        "findings_ref": seqs(findings), "request_h": format!("@h:{request}"),
    })
}

/// revised_approval_request after this change.
#[must_use]
pub fn revised(label: &str, node: &str, findings: &[&str], change: &str) -> Entry {
    let change = format!("@seq:{change}");
    let p = json!({"node": node, "findings": seqs(findings), "change_ref": change});
    Entry::new(label, "revised_approval_request", p)
}

/// plan_superseded by the plan with this hash; these nodes are carried on.
#[must_use]
pub fn superseded(successor: &str, carried: &[&str]) -> Entry {
    let rows: Vec<_> =
        carried.iter().map(|node| json!({"node": node, "disposition": "carried"})).collect();
    let p = json!({
        "predecessor": "@plan", "successor": successor, "reason": "the interface changed",
        "named_authority": "@key:authority", "obligation_map": rows,
        "changed_class_floors": [], "changed_fences": [], "changed_tests": [],
    });
    Entry::new("done", "plan_superseded", p).by("authority")
}

/// nonconformance_notice.
#[must_use]
pub fn notice(label: &str) -> Entry {
    let p = json!({"defects": ["the workspace was read late"]});
    Entry::new(label, "nonconformance_notice", p).by("engine")
}

/// The numbers of these entries.
#[must_use]
pub fn seqs(labels: &[&str]) -> Json {
    labels.iter().map(|label| Json::from(format!("@seq:{label}"))).collect()
}
