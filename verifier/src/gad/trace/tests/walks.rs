//! Records that are as they should be: nothing is found, and every node stands where it should.

use anchorlog_proto::gad::entry::{EntryType, Payload};
use anchorlog_proto::gad::names::{EvidenceClass, PassFail, Role};
use anchorlog_proto::gad::payload::FailureReason::{
    InsufficientBoundEvidence, SessionFailed, VerdictFailed,
};
use anchorlog_proto::gad::payload::{DispatchNodes, ExitStatus, NodeOrNull, RemediationAction};

use crate::gad::trace::Status;
use crate::gad::trace::testing::{
    Run, dispatch, gated, node, plan, result, succession, test, verdict,
};

#[test]
fn one_node_is_verified_by_its_last_verdict() {
    let mut two = node("n1");
    two.tests.push(test("t2"));
    let mut run = Run::of(vec![two]);
    run.stands("n1", Status::Pending).dispatch("s1", &["n1"]).stands("n1", Status::Open);
    run.exit("s1", "n1", 0).stands("n1", Status::Open).result("s1", "n1");
    run.stands("n1", Status::Captured).verdict_of("n1", "t2", true).stands("n1", Status::Captured);
    run.verdict("n1", true).stands("n1", Status::Verified).completed().checkpoint();
    run.finish(false).clean();
    let n1 = run.ix("n1");
    assert!(run.machine.is_good(n1));
    assert_eq!(run.machine.terminal(), Some((EntryType::PlanCompleted, 6)));
    assert_eq!((run.machine.attempt(n1), run.machine.attempt_start(n1)), (1, Some(1)));
    assert_eq!(run.machine.judged(n1, 1).map(|judged| judged.seq), Some(4));
}

#[test]
fn a_failed_test_is_retried() {
    let mut run = Run::of(vec![node("n1")]);
    run.session("s1", "n1", 0).verdict("n1", false).stands("n1", Status::Failed);
    run.retry("n1", VerdictFailed, &[4]).stands("n1", Status::Granted);
    run.session("s2", "n1", 0).verdict("n1", true).completed().finish(false).clean();
    let n1 = run.ix("n1");
    assert_eq!((run.machine.attempt(n1), run.machine.retries(n1)), (2, 1));
}

#[test]
fn a_pass_below_the_class_floor_fails() {
    let mut run = Run::of(vec![node("n1")]);
    run.session("s1", "n1", 0);
    run.verdict_as(&verdict("s1", 3, "n1", "t1"), true, EvidenceClass::Attested);
    run.stands("n1", Status::Failed).retry("n1", VerdictFailed, &[4]).clean();
    run.session("s2", "n1", 0);
    run.verdict_as(&verdict("s2", 8, "n1", "t1"), true, EvidenceClass::Proxy);
    run.stands("n1", Status::Verified).clean();
}

#[test]
fn a_failed_session_is_retried() {
    let mut run = Run::of(vec![node("n1")]);
    run.session("s1", "n1", 139).stands("n1", Status::Failed);
    run.retry("n1", SessionFailed, &[2]).session("s2", "n1", 0).verdict("n1", true);
    run.completed().finish(false).clean();
}

#[test]
fn without_a_retry_left_a_node_trips_and_the_plan_halts() {
    let mut run = Run::of(vec![node("n1")]);
    run.session("s1", "n1", 0).verdict("n1", false).retry("n1", VerdictFailed, &[4]);
    run.session("s2", "n1", 1).trip("n1", SessionFailed).stands("n1", Status::Tripped);
    run.halted(&["n1"]).checkpoint().notice().checkpoint().finish(false).clean();
}

#[test]
fn a_failed_node_may_halt_the_plan_while_others_are_ready() {
    let mut run = Run::of(vec![node("b"), node("a")]);
    run.session("s1", "a", 1).halted(&["a", "b"]).finish(false).clean();
}

#[test]
fn an_excluded_node_is_retried_tripped_or_halts_the_plan() {
    let nodes = || vec![node("a"), node("b")];
    let mut retried = Run::of(nodes());
    retried.session_of("s1", &["a", "b"]).verdict("a", true).stands("b", Status::Captured);
    retried.retry("b", InsufficientBoundEvidence, &[3]).session("s2", "b", 0).verdict("b", true);
    retried.completed().finish(false).clean();

    let mut tripped =
        Run::of(vec![node("a"), anchorlog_proto::gad::plan::Node { retries: 0, ..node("b") }]);
    tripped.session_of("s1", &["b", "a"]).verdict("a", true);
    tripped.trip("b", InsufficientBoundEvidence).halted(&["b"]).finish(false).clean();

    let mut halted = Run::of([nodes(), vec![node("c")]].concat());
    halted.session_of("s1", &["a", "b"]).verdict("a", true).halted(&["b", "c"]);
    halted.finish(false).clean();
}

#[test]
fn a_gated_node_needs_a_human() {
    let mut run = Run::of(vec![gated("n1")]);
    run.session("s1", "n1", 0).verdict("n1", true).stands("n1", Status::AwaitGate);
    run.gate_request("n1").stands("n1", Status::AwaitApproval);
    let n1 = run.ix("n1");
    assert_eq!(run.machine.pending_request(n1).map(|request| request.seq), Some(5));
    assert!(!run.machine.is_good(n1));
    run.approval("n1").stands("n1", Status::Approved).completed().finish(false).clean();
    assert!(run.machine.is_good(n1) && run.machine.pending_request(n1).is_none());
}

#[test]
fn a_refusal_halts_or_is_asked_again_after_a_change() {
    let mut halted = Run::of(vec![gated("n1"), node("n2")]);
    halted.session("s1", "n1", 0).verdict("n1", true).gate_request("n1").refusal("n1");
    halted.stands("n1", Status::Refused).halted(&["n1", "n2"]).finish(false).clean();

    let mut again = Run::of(vec![gated("n1")]);
    again.session("s1", "n1", 0).verdict("n1", true).gate_request("n1").refusal("n1");
    again.remediation("n1", RemediationAction::Revision).revised("n1", 7);
    again.stands("n1", Status::AwaitApproval).refusal("n1");
    again.remediation("n1", RemediationAction::Revision).revised("n1", 10).approval("n1");
    again.completed().finish(false).clean();
}

#[test]
fn flags_close_by_removal_and_a_passing_look() {
    let mut run = Run::of(vec![node("n1")]);
    run.session("s1", "n1", 0).flag("n1").flag("n1");
    let n1 = run.ix("n1");
    assert!(run.machine.has_open_flag(n1) && !run.machine.has_removal(n1));
    run.removal("n1").scope_closed("n1", PassFail::Fail);
    assert!(run.machine.has_open_flag(n1) && run.machine.has_removal(n1));
    run.removal("n1").scope_closed("n1", PassFail::Pass);
    assert!(!run.machine.has_open_flag(n1) && run.machine.may_be_flagged(n1));
    run.verdict("n1", true);
    assert!(!run.machine.may_be_flagged(n1));
    run.completed().finish(false).clean();
}

#[test]
fn a_retry_closes_no_flag() {
    let mut run = Run::of(vec![node("n1")]);
    run.session("s1", "n1", 0).flag("n1");
    run.retry("n1", InsufficientBoundEvidence, &[3]).session("s2", "n1", 0).clean();
    let n1 = run.ix("n1");
    assert!(run.machine.has_open_flag(n1));
    run.clone().verdict("n1", true).finds(&["R3.VERDICT.OPEN_FLAG"]);
    // What was left behind is removed now, and looked at again.
    run.removal("n1").scope_closed("n1", PassFail::Pass).verdict("n1", true);
    run.completed().finish(false).clean();
}

#[test]
fn a_session_of_several_nodes_names_none() {
    let mut run = Run::with_edges(vec![node("a"), node("b"), node("c")], &[("a", "c"), ("b", "c")]);
    run.session_of("s1", &["b", "a"]).claim("s1", "a").claim("s1", "b").probe();
    run.checkpoint().claim("s1", "a").verdict("a", true).verdict("b", true);
    run.session("s2", "c", 0).verdict("c", true).completed().finish(false).clean();
}

#[test]
fn probes_stand_between_sessions_and_checkpoints_anywhere() {
    let mut run = Run::of(vec![node("n1")]);
    run.probe().dispatch("s1", &["n1"]).checkpoint().exit("s1", "n1", 0).checkpoint();
    run.result("s1", "n1").probe().verdict("n1", true).probe().completed().checkpoint();
    run.finish(false).clean();
}

#[test]
fn a_succession_names_every_node_that_is_not_good() {
    let mut run = Run::of(vec![node("a"), node("b"), node("c")]);
    run.session("s1", "b", 0).verdict("b", true);
    run.superseded(succession(&["c", "a"]), Role::SuccessionAuthority).finish(false).clean();
}

#[test]
fn a_snapshot_may_end_in_a_session() {
    for entries in 1..=2 {
        let mut run = Run::of(vec![node("n1")]);
        run.dispatch("s1", &["n1"]);
        if entries == 2 {
            run.exit("s1", "n1", 0);
        }
        run.checkpoint().finish(true).clean();
        assert_eq!(run.machine.open_session().map(|session| &*session.id), Some("s1"));
        assert_eq!(run.machine.unfinished_sessions().count(), 1);
    }
}

#[test]
fn records_of_0_6_spell_a_set_of_one_as_a_scalar() {
    let mut run = Run::unfrozen(plan(vec![node("n1")], &[]), true);
    run.put(EntryType::Dispatch, Payload::Dispatch(dispatch("s1", DispatchNodes::Scalar("n1"))));
    run.exit("s1", "n1", 0).result("s1", "n1").verdict("n1", true).clean();
}

#[test]
fn a_session_that_recorded_nothing_failed() {
    let mut run = Run::of(vec![node("n1")]);
    run.dispatch("s1", &["n1"]);
    run.exit_as("s1", NodeOrNull::Node("n1"), ExitStatus::TimedOut, None);
    let mut nothing = result("s1", NodeOrNull::Node("n1"));
    nothing.delta = Ok(None);
    nothing.output_status = anchorlog_proto::gad::payload::OutputStatus::NotRecorded;
    run.put(EntryType::ExecutionResult, Payload::ExecutionResult(nothing));
    run.stands("n1", Status::Failed).halted(&["n1"]).finish(false).clean();
}
