//! A witness entry: 21 types.

use super::core::layers;
use super::parts::{
    Closed, Part, any_object, array, boolean, common, constant, described, digest, fence, id,
    integer, key_id, nullable, one_of, path, seq, set, signed, string, text_of, time, titled, with,
    words,
};
use crate::gad::emit::{list, object, text};
use crate::gad::entry::EntryType;
use crate::gad::limits::Limits;
use crate::gad::names::{Capture, EvidenceClass, PassFail, SignalKind};
use crate::gad::payload::{
    Decision, Disposition, ExitStatus, FailureReason, MAX_CLAIM_BYTES, MAX_DEFECT_BYTES,
    MAX_EXIT_CODE, MAX_IDENTITY_BYTES, MAX_REASON_BYTES, OutputStatus, Quiescence,
    RemediationAction, Restoration,
};
use crate::json::{MAX_INTEGER, Object, Value};

const MOST: u64 = Limits::DEFAULT.elements;

/// The schema: one definition per type, each of a whole body.
pub(super) fn entry() -> Part {
    let mut definitions = Object::new();
    for entry_type in EntryType::ALL.iter().copied() {
        definitions.insert(entry_type.as_str(), body(entry_type));
    }
    let bodies = EntryType::ALL.iter().map(|entry_type| common(entry_type.as_str()));
    let line = Closed::new().with("body", one_of(bodies)).with("h", digest());
    with(titled(line.part(), "witness entry"), "$defs", Value::Object(definitions))
}

fn body(entry_type: EntryType) -> Part {
    let payload = match entry_type {
        EntryType::Dispatch => dispatch(),
        signed_type if signed_type.is_signed() => {
            signed(signed_type.as_str(), members(signed_type).ext())
        }
        unsigned => members(unsigned).ext().part(),
    };
    Closed::new()
        .with("seq", seq())
        .with("t", time())
        .with("type", constant(entry_type.as_str()))
        .with("p", payload)
        .part()
}

/// The members of a payload, those of every signed body apart.
fn members(entry_type: EntryType) -> Closed {
    let of = Closed::new;
    let node = || of().with("node", id());
    let refs = || set(seq(), 0..=MOST);
    match entry_type {
        EntryType::Freeze => {
            of().with("hash", digest()).with("plan", described(any_object(), "A plan."))
        }
        EntryType::ExecutorExit => session()
            .with("node", nullable(id()))
            .with("status", words(ExitStatus::ALL))
            .with("exit_code", nullable(exit_code()))
            .with("available_output_ref", nullable(path()))
            .with("available_output_digest", nullable(digest())),
        EntryType::ExecutionResult => session()
            .with("node", nullable(id()))
            .with("delta_ref", nullable(path()))
            .with("delta_digest", nullable(digest()))
            .with("touched_surface", set(common("surface"), 0..=MOST))
            .with("output_status", words(OutputStatus::ALL))
            .with("quiescence", of().with("outcome", words(Quiescence::ALL)).part()),
        EntryType::Claim => session().with("node", id()).with("text", text_of(0..=MAX_CLAIM_BYTES)),
        EntryType::Flag => node()
            .with("execution_result_seq", seq())
            .with("paths", set(common("surface"), 1..=MOST)),
        EntryType::Remediation => node().with("action", words(RemediationAction::ALL)),
        EntryType::ScopeClosed => node().with("verdict", words(PassFail::ALL)),
        EntryType::Verdict => verdict(),
        EntryType::Probe => probe(),
        EntryType::GateRequest => node().with("findings", refs()),
        EntryType::Approval | EntryType::Refusal => node()
            .with("who", key_id())
            .with("decision", words(Decision::ALL))
            .with("findings_ref", refs())
            .with("request_h", digest()),
        EntryType::RevisedApprovalRequest => {
            node().with("findings", refs()).with("change_ref", seq())
        }
        EntryType::Retry => {
            node().with("reason", words(FailureReason::ALL)).with("input_ref", refs())
        }
        EntryType::Trip => {
            node().with("reason", words(FailureReason::ALL)).with("history", set(seq(), 1..=MOST))
        }
        EntryType::Checkpoint => of()
            .with("range", described(array(seq(), 2..=2), "[first, last]"))
            .with("digest_over_range", digest())
            .with("head", digest()),
        // A dispatch is described as a whole.
        EntryType::Dispatch | EntryType::PlanCompleted => of(),
        EntryType::PlanHalted => of().with("unresolved", set(id(), 0..=MOST)),
        EntryType::PlanSuperseded => plan_superseded(),
        EntryType::NonconformanceNotice => {
            of().with("defects", array(text_of(1..=MAX_DEFECT_BYTES), 1..=MOST))
        }
    }
}

fn session() -> Closed {
    Closed::new().with("session_id", id())
}

fn exit_code() -> Part {
    integer(-MAX_EXIT_CODE..=MAX_EXIT_CODE)
}

/// A dispatch names a set of nodes; one node in records of spec_version 0.6.
fn dispatch() -> Part {
    let text_part = || text_of(1..=MAX_IDENTITY_BYTES);
    let executor = Closed::new()
        .with("model", text_part())
        .with("version", text_part())
        .with("provider", text_part());
    let row = Closed::new()
        .with("node", id())
        .with("desc", string())
        .with("prior_failure", nullable(set(seq(), 0..=MOST)));
    let dispatch = session()
        .may("nodes", array(id(), 0..=MOST))
        .may("node", described(id(), "In place of nodes, with spec_version 0.6 only."))
        .with("executor_identity", executor.part())
        .with("instruction_ref", path())
        .with("instruction_digest", digest())
        .with("workspace_baseline_digest", digest())
        .with("input", described(array(row.part(), 0..=MOST), "One row per node, in their order."))
        .may("precommit_digest", digest())
        .ext()
        .part();
    let named = |name: &'static str| object([("required", list(&[name], text))]);
    with(dispatch, "oneOf", Value::Array(vec![named("nodes"), named("node")]))
}

fn verdict() -> Closed {
    let mut verdict = session()
        .with("execution_result_seq", seq())
        .with("node", id())
        .with("test_id", id())
        .with("capture", words(Capture::ALL))
        .with("observation_layers", layers())
        .with("signal_kind", words(SignalKind::ALL))
        .with("result", words(PassFail::ALL))
        .with("exit_code", nullable(exit_code()))
        .with("engine_identity", key_id());
    for name in [
        "test_spec_digest",
        "signal_artifact_digest",
        "subject_artifact_digest",
        "environment_digest",
        "stdout_digest",
        "stderr_digest",
    ] {
        verdict = verdict.with(name, digest());
    }
    verdict
}

fn probe() -> Closed {
    Closed::new()
        .with("signal_artifact_digest", digest())
        .with("environment_digest", digest())
        .with("induced_defect", text_of(1..=MAX_DEFECT_BYTES))
        .with("demonstrated_result", words(PassFail::ALL))
        .with("restoration", words(Restoration::ALL))
        .with("t", time())
        .with("spawned", boolean())
        .with("exit_code", nullable(integer(-MAX_INTEGER..=MAX_INTEGER)))
        .with("output_digest", nullable(digest()))
}

fn plan_superseded() -> Closed {
    let change = |part: fn() -> Part| {
        Closed::new().with("node", id()).with("from", part()).with("to", part())
    };
    let rows = |row: Closed| array(row.part(), 0..=MOST);
    let obligation = Closed::new().with("node", id()).with("disposition", words(Disposition::ALL));
    Closed::new()
        .with("predecessor", digest())
        .with("successor", digest())
        .with("reason", text_of(1..=MAX_REASON_BYTES))
        .with("named_authority", key_id())
        .with("obligation_map", rows(obligation))
        .with("changed_class_floors", rows(change(|| words(EvidenceClass::ALL))))
        .with("changed_fences", rows(change(|| nullable(fence()))))
        .with("changed_tests", rows(change(|| nullable(digest())).with("test_id", id())))
}
