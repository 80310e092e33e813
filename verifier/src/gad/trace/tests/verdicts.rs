//! Verdicts, retries and trips: each guard violated once, and which code is chosen.

use anchorlog_proto::gad::entry::{EntryType, Payload};
use anchorlog_proto::gad::names::EvidenceClass::EngineObserved;
use anchorlog_proto::gad::payload::FailureReason::{
    InsufficientBoundEvidence, SessionFailed, VerdictFailed,
};
use anchorlog_proto::gad::payload::{ExitStatus, NodeOrNull, Retry};
use anchorlog_proto::gad::plan::Node;

use crate::gad::trace::Status;
use crate::gad::trace::testing::{Run, node, test, verdict};

/// A node with two tests.
fn two_tests(id: &str) -> Node {
    let mut node = node(id);
    node.tests.push(test("t2"));
    node
}

#[test]
fn a_test_is_one_of_the_node() {
    let mut run = Run::of(vec![node("n1")]);
    run.session("s1", "n1", 0).verdict_of("n1", "t9", true).finds(&["R3.VERDICT.UNKNOWN_TEST"]);
    run.stands("n1", Status::Captured).verdict("n1", true).stands("n1", Status::Verified).clean();
}

#[test]
fn verdicts_stand_between_sessions() {
    let mut run = Run::of(vec![node("a"), node("b")]);
    run.session("s1", "a", 0).dispatch("s2", &["b"]).clean();
    run.verdict("a", true).finds(&["R3.VERDICT.OPEN_SESSION"]).stands("a", Status::Verified);
    // Of the open session itself: nothing was captured yet either.
    run.verdict("b", true).finds(&["R3.VERDICT.OPEN_SESSION", "R3.VERDICT.WINDOW"]);
    // When it closes, the test is judged already.
    run.exit("s2", "b", 0).result("s2", "b").stands("b", Status::Verified).clean();
}

#[test]
fn a_verdict_names_a_session_that_covered_the_node() {
    let mut run = Run::of(vec![node("a"), node("b")]);
    run.session("s1", "a", 0).clean();
    let codes = ["R3.VERDICT.NOT_COMMISSIONED"];
    run.verdict_as(&verdict("s1", 3, "b", "t1"), false, EngineObserved).finds(&codes);
    run.verdict_as(&verdict("s1", 3, "ghost", "t1"), true, EngineObserved).finds(&codes);
    run.verdict_as(&verdict("ghost", 3, "a", "t1"), false, EngineObserved).finds(&codes);
}

#[test]
fn a_failed_session_is_not_judged() {
    let mut run = Run::of(vec![node("n1")]);
    run.session("s1", "n1", 1).verdict("n1", true).finds(&["R3.VERDICT.FAILED_SESSION"]);
}

#[test]
fn the_first_verdict_of_a_test_counts() {
    let mut run = Run::of(vec![two_tests("n1")]);
    run.session("s1", "n1", 0).verdict("n1", false).clean();
    run.verdict("n1", true).finds(&["R3.VERDICT.DUP"]).verdict_of("n1", "t2", true);
    run.stands("n1", Status::Failed).clean().verdict("n1", true).finds(&["R3.VERDICT.DUP"]);
    run.stands("n1", Status::Failed);
    let n1 = run.ix("n1");
    assert_eq!(run.machine.judged(n1, 0).map(|judged| judged.pass), Some(false));
}

#[test]
fn a_verdict_names_the_result_it_judges() {
    let mut run = Run::of(vec![node("n1")]);
    run.session("s1", "n1", 0);
    run.verdict_as(&verdict("s1", 2, "n1", "t1"), true, EngineObserved);
    run.finds(&["R3.VERDICT.WINDOW"]).stands("n1", Status::Verified);
}

#[test]
fn a_verdict_stands_before_the_next_attempt() {
    let mut retried = Run::of(vec![two_tests("n1")]);
    retried.session("s1", "n1", 0).retry("n1", InsufficientBoundEvidence, &[3]).clean();
    retried.verdict("n1", true).finds(&["R3.VERDICT.WINDOW"]);

    let mut again = Run::of(vec![node("n1")]);
    again.session("s1", "n1", 0).verdict("n1", false).retry("n1", VerdictFailed, &[4]);
    again.session("s2", "n1", 0).clean();
    again.verdict_as(&verdict("s1", 3, "n1", "t1"), true, EngineObserved);
    again.finds(&["R3.VERDICT.WINDOW"]);
}

#[test]
fn an_open_flag_bars_verdicts() {
    let mut run = Run::of(vec![node("n1")]);
    run.session("s1", "n1", 0).flag("n1").verdict("n1", true).finds(&["R3.VERDICT.OPEN_FLAG"]);
}

#[test]
fn what_a_judged_node_needs_is_all_its_verdicts() {
    let mut run = Run::of(vec![two_tests("n1"), two_tests("n2")]);
    run.session_of("s1", &["n1", "n2"]).verdict("n1", false).verdict("n2", false).clean();
    run.retry("n1", VerdictFailed, &[4]);
    run.finds(&["R3.RETRY.NOT_FAILED", "R3.VERDICT.INCOMPLETE"]).stands("n1", Status::Granted);
    run.trip("n2", VerdictFailed);
    run.finds(&["R3.TRIP.EARLY", "R3.TRIP.NOT_FAILED", "R3.VERDICT.INCOMPLETE"]);
    run.stands("n2", Status::Tripped);
}

#[test]
fn only_a_failed_node_is_retried_or_tripped() {
    let mut run = Run::of(vec![node("n1")]);
    let not = ["R3.RETRY.NOT_FAILED", "R3.RETRY.NO_DIAGNOSIS"];
    run.retry("ghost", VerdictFailed, &[0]).finds(&["R3.RETRY.NOT_FAILED"]);
    run.trip("ghost", VerdictFailed).finds(&["R3.TRIP.NOT_FAILED"]);
    let mut pending = Run::of(vec![node("n1")]);
    pending.retry("n1", VerdictFailed, &[0]).finds(&not);
    run.session("s1", "n1", 0).clean();
    // CAPTURED without a verdict: only as that.
    run.clone().retry("n1", SessionFailed, &[3]).finds(&not);
    run.verdict("n1", true).clean().retry("n1", VerdictFailed, &[4]).finds(&not);
}

#[test]
fn a_retry_is_a_diagnosis() {
    let codes = ["R3.RETRY.NO_DIAGNOSIS"];
    let failed = || {
        let mut run = Run::of(vec![two_tests("n1")]);
        run.session("s1", "n1", 0).verdict("n1", false).verdict_of("n1", "t2", true).clean();
        run
    };
    for (input, shows) in [
        (vec![4], true),
        (vec![], false),
        (vec![5], false),
        (vec![4, 5], false),
        (vec![3], false),
        (vec![2], false),
        (vec![99], false),
    ] {
        failed().retry("n1", VerdictFailed, &input).finds(if shows { &[] } else { &codes });
    }
    // The result shows only that a node was excluded.
    failed().retry("n1", InsufficientBoundEvidence, &[3]).finds(&codes);
    let absent = Retry { node: "n1", reason: VerdictFailed, input_ref: None };
    failed().put(EntryType::Retry, Payload::Retry(absent)).finds(&codes);

    let mut crashed = Run::of(vec![node("n1")]);
    crashed.session("s1", "n1", 1).retry("n1", SessionFailed, &[3]).finds(&codes);
    // An earlier attempt's failure is none of this one.
    let mut later = Run::of(vec![Node { retries: 2, ..node("n1") }]);
    later.session("s1", "n1", 0).verdict("n1", false).retry("n1", VerdictFailed, &[4]);
    later.session("s2", "n1", 0).verdict("n1", false).clean();
    later.retry("n1", VerdictFailed, &[4]).finds(&codes);
}

#[test]
fn a_failed_session_of_several_shows_the_failure_of_each() {
    let mut run = Run::of(vec![node("a"), node("b")]);
    run.dispatch("s1", &["a", "b"]);
    run.exit_as("s1", NodeOrNull::Null, ExitStatus::Killed, None);
    run.put(
        EntryType::ExecutionResult,
        Payload::ExecutionResult(crate::gad::trace::testing::result("s1", NodeOrNull::Null)),
    );
    run.retry("a", SessionFailed, &[2]).retry("b", SessionFailed, &[2]).clean();
}

#[test]
fn there_are_no_more_than_b_retries() {
    let mut run = Run::of(vec![node("n1")]);
    run.session("s1", "n1", 1).retry("n1", SessionFailed, &[2]).session("s2", "n1", 1).clean();
    run.retry("n1", SessionFailed, &[6]).finds(&["R8.BOUND"]).stands("n1", Status::Granted);
    let n1 = run.ix("n1");
    assert_eq!(run.machine.retries(n1), 2);
    run.session("s3", "n1", 1).trip("n1", SessionFailed).clean();
}

#[test]
fn a_trip_comes_when_no_retry_is_left() {
    let mut run = Run::of(vec![node("n1")]);
    run.session("s1", "n1", 1).trip("n1", SessionFailed).finds(&["R3.TRIP.EARLY"]);
}

#[test]
fn a_tripped_node_goes_nowhere() {
    let tripped = || {
        let mut run = Run::of(vec![Node { retries: 0, ..node("n1") }]);
        run.session("s1", "n1", 0).verdict("n1", false).trip("n1", VerdictFailed).clean();
        run
    };
    tripped().dispatch("s2", &["n1"]).finds(&["R3.DISPATCH.RESOLVED", "R8.TRIP_EXIT"]);
    tripped().retry("n1", VerdictFailed, &[4]).finds(&[
        "R3.RETRY.NOT_FAILED",
        "R8.BOUND",
        "R8.TRIP_EXIT",
    ]);
    tripped().verdict("n1", true).finds(&["R3.VERDICT.DUP", "R8.TRIP_EXIT"]);
    tripped().gate_request("n1").finds(&["R3.GATE.NORMAL_NODE", "R8.TRIP_EXIT"]);
    tripped().approval("n1").finds(&["R3.GATE.NO_REQUEST", "R8.TRIP_EXIT"]);
    tripped().trip("n1", VerdictFailed).finds(&["R3.TRIP.NOT_FAILED"]);
    // Whatever came of the trip: it was recorded.
    let mut on = tripped();
    on.session("s2", "n1", 0).raised();
    on.verdict("n1", true).finds(&["R8.TRIP_EXIT"]);
}
