//! Runs of one node: how a node comes to its end.

use serde_json::json;

use super::Base;
use crate::gad::case::Status;
use crate::gad::entries::{
    bad_exit, checkpoint, claim, dispatch, end, fail, freeze, halt, no_result, notice, probe,
    result, retry, session, trip, verdict,
};
use crate::gad::plans::{node, plan, proxy_spec, with};
use crate::gad::record::Record;

/// The bases of this file.
pub const ALL: &[Base] = &[
    (minimal, &["NOTE.UNANCHORED", "NOTE.RECORDED_ONLY"], &["NOTE.RELATIVE", "NOTE.SNAPSHOT"]),
    (retried, &[], &["R3.RETRY.NOT_FAILED", "R8.BOUND"]),
    (tripped, &["SAT.NOT_COMPLETED"], &["SAT.INVALID"]),
    (crashed, &[], &["LVL.GAD1"]),
    (timed_out, &["SAT.NOT_COMPLETED"], &[]),
    (probed, &[], &["R5.ABSENT", "R4.CLASS_BELOW"]),
    (fabricated, &[], &[]),
    (noticed, &["NOTE.NOTICE"], &[]),
    (testimony, &["LVL.GAD2_TESTIMONY"], &["LVL.GAD2_ATTESTED", "R4.CLASS_BELOW"]),
    (attested, &["LVL.GAD2_ATTESTED"], &["R4.CLASS_BELOW"]),
];

/// One node, one session, one test, completed.
#[must_use]
pub fn minimal() -> Record {
    let why = "one node, one session, one passing test, completed";
    let mut r = Record::new("minimal", "A1, A2", why, plan(&[node("n")], &[]));
    r.push([freeze()]);
    r.push(session("s", "n", &["src/lib.rs"]));
    r.push([claim("said", "s", "n"), verdict("v", "s", "n")]);
    r.push(end());
    r
}

/// The test fails, the node is retried and passes.
#[must_use]
pub fn retried() -> Record {
    let why = "a failing test, a retry with its diagnosis, then pass";
    let mut r = Record::new("retried", "A1 retry, R8", why, plan(&[node("n")], &[]));
    r.push([freeze()]);
    r.push(session("s", "n", &["src/lib.rs"]));
    r.push([fail("v", "s", "n"), retry("again", "n", "verdict_failed", &["v"])]);
    r.push(session("s2", "n", &["src/lib.rs"]));
    r.set("d-s2", "/input/0/prior_failure", json!(["@seq:v"]));
    r.push([verdict("v2", "s2", "n")]);
    r.push(end());
    r
}

/// The test fails, there is no retry, the node trips and the run halts.
#[must_use]
pub fn tripped() -> Record {
    let why = "no retry allowed: the node trips and the plan halts";
    let mut r = Record::new("tripped", "A1 trip, R8", why, plan(&[with(node("n"), "/B", 0)], &[]));
    r.status = Status::ended("HALTED");
    r.push([freeze()]);
    r.push(session("s", "n", &["src/lib.rs"]));
    r.push([fail("v", "s", "n"), trip("trip", "n", "verdict_failed", &["v"])]);
    r.push(halt(&["n"]));
    r
}

/// The executor crashes, the node is retried and passes.
#[must_use]
pub fn crashed() -> Record {
    let why = "a crashed session, a retry for it, then pass";
    let mut r = Record::new("crashed", "A1 abnormal exit", why, plan(&[node("n")], &[]));
    r.files.insert("artifacts/output.txt".into(), b"panic: out of ideas\n".to_vec());
    r.push([freeze(), dispatch("d-s", "s", &["n"])]);
    let exit = bad_exit("x-s", "s", Some("n"), "crashed")
        .with("/exit_code", 101)
        .with("/available_output_ref", "artifacts/output.txt")
        .with("/available_output_digest", "@sha:artifacts/output.txt");
    r.push([
        exit,
        result("r-s", "s", Some("n"), &["src/lib.rs"]).with("/output_status", "partial"),
    ]);
    r.push([retry("again", "n", "session_failed", &["x-s"])]);
    r.push(session("s2", "n", &["src/lib.rs"]));
    r.push([verdict("v", "s2", "n")]);
    r.push(end());
    r
}

/// The executor's time is up, nothing of it is recorded, the run halts.
#[must_use]
pub fn timed_out() -> Record {
    let why = "a timed-out session whose output was not recorded, halted";
    let mut r = Record::new("timed-out", "S2 execution result", why, plan(&[node("n")], &[]));
    r.status = Status::ended("HALTED");
    r.push([freeze(), dispatch("d-s", "s", &["n"])]);
    r.push([bad_exit("x-s", "s", Some("n"), "timed_out"), no_result("r-s", "s", Some("n"))]);
    r.push(halt(&["n"]));
    r
}

/// A test that the worker wrote, with a probe that showed it can fail.
#[must_use]
pub fn probed() -> Record {
    let why = "a worker-authored test credited as proxy by a fired probe";
    let plan =
        with(plan(&[with(node("n"), "/c_min", "proxy")], &[]), "/N/0/T/0/spec", proxy_spec());
    let mut r = Record::new("probed", "R5, eq (3)", why, plan);
    r.push([freeze(), probe("probe")]);
    r.push(session("s", "n", &["src/lib.rs"]));
    r.push([verdict("v", "s", "n").with("/signal_kind", "worker_authored_proxy")]);
    r.push(end());
    r
}

/// Nobody did anything; somebody with the engine key wrote it all at once.
#[must_use]
pub fn fabricated() -> Record {
    let why = "a record that was made up as a whole is valid: structure is not history";
    let mut r = Record::new("fabricated", "S1 boundary", why, plan(&[node("n")], &[]));
    r.push([freeze()]);
    r.push(session("s", "n", &[]));
    r.push([verdict("v", "s", "n")]);
    r.push(end());
    for entry in &mut r.entries {
        entry.t = Some("2025-06-01T09:00:00Z".into());
    }
    r
}

/// A notice in SEALING, which a policy may refuse and R1 to R9 don't.
#[must_use]
pub fn noticed() -> Record {
    let mut r = minimal();
    (r.base, r.clause) = ("noticed", "A1 EXPORT");
    r.why = "a nonconformance_notice after the terminal discloses and invalidates nothing";
    r.push([notice("notice"), checkpoint("seal2")]);
    r
}

/// A node whose obligation is to record testimony.
#[must_use]
pub fn testimony() -> Record {
    let mut r = attested();
    (r.base, r.clause) = ("testimony", "S8 testimony-recording");
    r.why =
        "an attested test of a testimony-recording node credits no completion and lowers no level";
    r.plan("/N/0/testimony", true);
    r.status = Status::COMPLETED;
    r
}

/// A node whose test is only attested, which its plan accepts.
#[must_use]
pub fn attested() -> Record {
    let mut r = minimal();
    (r.base, r.clause) = ("attested", "S8 GAD-2");
    r.why = "a plan may accept attested evidence: valid and satisfied, but below GAD-2";
    r.status.level = Some(1);
    r.plan("/N/0/c_min", "attested");
    r.plan("/N/0/T/0/spec/capture", "attested_capture");
    r.plan("/N/0/T/0/spec/observation_layers", json!([]));
    r.set("v", "/capture", "attested_capture");
    r.set("v", "/observation_layers", json!([]));
    r
}
