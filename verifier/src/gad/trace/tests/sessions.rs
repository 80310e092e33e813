//! Dispatches, exits, results and claims: each guard violated once.

use anchorlog_proto::gad::entry::{EntryType, Payload};
use anchorlog_proto::gad::payload::{
    DispatchNodes, ExecutionResult, ExitStatus, FailureReason, Malformed, NodeOrNull, OutputStatus,
};

use crate::gad::trace::Status;
use crate::gad::trace::testing::{Run, dispatch, gated, node, result};

fn result_with(run: &mut Run, result: ExecutionResult<'_>) {
    run.put(EntryType::ExecutionResult, Payload::ExecutionResult(result));
}

#[test]
fn a_dispatch_names_nodes_of_the_plan_once_each() {
    for nodes in [
        DispatchNodes::Malformed,
        DispatchNodes::Set(vec![]),
        DispatchNodes::Set(vec!["n1", "n1"]),
        DispatchNodes::Set(vec!["n1", "ghost"]),
    ] {
        let mut run = Run::of(vec![node("n1")]);
        run.put(EntryType::Dispatch, Payload::Dispatch(dispatch("s1", nodes)));
        run.finds(&["R3.DISPATCH.NODES"]);
    }
}

#[test]
fn a_dispatch_spells_its_nodes_as_a_set() {
    let mut run = Run::of(vec![node("n1")]);
    run.put(EntryType::Dispatch, Payload::Dispatch(dispatch("s1", DispatchNodes::Scalar("n1"))));
    run.finds(&["R3.DISPATCH.SCALAR"]).stands("n1", Status::Open);
}

#[test]
fn a_dispatch_states_its_baseline() {
    let mut run = Run::of(vec![node("n1")]);
    let without = anchorlog_proto::gad::payload::Dispatch {
        baseline: None,
        ..dispatch("s1", DispatchNodes::Set(vec!["n1"]))
    };
    run.put(EntryType::Dispatch, Payload::Dispatch(without)).finds(&["R3.DISPATCH.BASELINE"]);
}

#[test]
fn one_session_at_a_time() {
    let mut run = Run::of(vec![node("a"), node("b")]);
    run.dispatch("s1", &["a"]).clean().dispatch("s2", &["b"]).finds(&["R3.DISPATCH.OPEN_SESSION"]);
    run.exit("s1", "a", 0).result("s1", "a").exit("s2", "b", 0).result("s2", "b").clean();
    run.stands("a", Status::Captured).stands("b", Status::Captured);
}

#[test]
fn a_session_id_is_used_once() {
    let mut run = Run::of(vec![node("a"), node("b")]);
    run.session("s1", "a", 0).verdict("a", true).clean();
    run.dispatch("s1", &["b"]).finds(&["R3.DISPATCH.SESSION_REUSED"]);
}

#[test]
fn a_dispatch_takes_what_is_ready() {
    use FailureReason::VerdictFailed;
    let dispatched = |prepare: &dyn Fn(&mut Run), codes: &[&str]| {
        let mut run = Run::with_edges(vec![node("a"), gated("g"), node("late")], &[("g", "late")]);
        prepare(&mut run);
        run.clean().dispatch("again", &["a"]).finds(codes).stands("a", Status::Open);
    };
    dispatched(&|_| {}, &[]);
    dispatched(
        &|run| {
            run.session("s1", "a", 0);
        },
        &["R3.DISPATCH.NOT_READY"],
    );
    dispatched(
        &|run| {
            run.session("s1", "a", 1);
        },
        &["R3.DISPATCH.NO_RETRY"],
    );
    dispatched(
        &|run| {
            run.session("s1", "a", 0).verdict("a", false);
        },
        &["R3.DISPATCH.NO_RETRY"],
    );
    dispatched(
        &|run| {
            run.session("s1", "a", 0).verdict("a", false).retry("a", VerdictFailed, &[4]);
        },
        &[],
    );
    dispatched(
        &|run| {
            run.session("s1", "a", 0).verdict("a", true);
        },
        &["R3.DISPATCH.RESOLVED"],
    );
}

#[test]
fn a_dispatch_of_an_open_node_is_not_ready() {
    let mut run = Run::of(vec![node("a")]);
    run.dispatch("s1", &["a"]).clean().dispatch("s2", &["a"]);
    run.finds(&["R3.DISPATCH.NOT_READY", "R3.DISPATCH.OPEN_SESSION"]);
    // s1 is no longer a's session: what it comes to changes nothing.
    run.exit("s1", "a", 1).result("s1", "a").stands("a", Status::Open).clean();
}

#[test]
fn a_gated_node_that_waits_or_was_answered_is_resolved() {
    let mut run = Run::of(vec![gated("g")]);
    run.session("s1", "g", 0).verdict("g", true);
    let waits = |run: &mut Run, codes: &[&str]| {
        run.clone().dispatch("again", &["g"]).finds(codes);
    };
    waits(&mut run, &["R3.DISPATCH.RESOLVED"]);
    run.gate_request("g");
    waits(&mut run, &["R3.DISPATCH.RESOLVED"]);
    run.refusal("g");
    waits(&mut run, &["R3.DISPATCH.RESOLVED", "R3.REFUSED.REENTRY"]);
    run.clean();
}

#[test]
fn a_dispatch_waits_for_predecessors() {
    let nodes = || vec![node("a"), gated("g"), node("z")];
    let edges = [("a", "z"), ("g", "z")];
    let mut run = Run::with_edges(nodes(), &edges);
    run.session("s1", "a", 0).verdict("a", true).session("s2", "g", 0).verdict("g", true).clean();
    run.dispatch("s3", &["z"]).finds(&["R3.DISPATCH.DEPS"]);
    let findings = {
        let mut run = Run::with_edges(nodes(), &edges);
        run.dispatch("s1", &["z"]).findings()
    };
    let finding = findings.list().first().unwrap();
    assert_eq!(finding.place.pointer.as_deref(), Some("/body/p/nodes"));
    assert_eq!(finding.actual.as_deref(), Some("z: 2 not good"));
}

#[test]
fn a_predecessor_that_is_dispatched_again_is_good_no_longer() {
    let mut run = Run::with_edges(vec![node("a"), node("z")], &[("a", "z")]);
    run.session("s1", "a", 0).verdict("a", true).clean();
    run.session("s2", "a", 0).finds(&["R3.DISPATCH.RESOLVED"]);
    run.dispatch("s3", &["z"]).finds(&["R3.DISPATCH.DEPS"]);
}

#[test]
fn an_exit_belongs_to_a_session() {
    let mut run = Run::of(vec![node("n1")]);
    run.dispatch("s1", &["n1"]).exit("ghost", "n1", 0).finds(&["R3.EXIT.ORPHAN"]);
    run.exit("s1", "n1", 0).clean().exit("s1", "n1", 1).finds(&["R3.EXIT.DUP"]);
    run.result("s1", "n1").stands("n1", Status::Captured).clean();
    run.exit("s1", "n1", 1).finds(&["R3.EXIT.DUP"]);
}

#[test]
fn completed_means_exit_code_0() {
    for code in [Some(1), Some(-1), None] {
        let mut run = Run::of(vec![node("n1")]);
        run.dispatch("s1", &["n1"]);
        run.exit_as("s1", NodeOrNull::Node("n1"), ExitStatus::Completed, code);
        run.finds(&["R3.EXIT.COMPLETED_NONZERO"]).result("s1", "n1");
        run.stands("n1", Status::Failed).clean();
    }
    // What didn't complete may have exited with 0: nothing says otherwise.
    let mut run = Run::of(vec![node("n1")]);
    run.dispatch("s1", &["n1"]);
    run.exit_as("s1", NodeOrNull::Node("n1"), ExitStatus::Malformed, Some(0)).clean();
    run.result("s1", "n1").stands("n1", Status::Failed).clean();
}

#[test]
fn exits_and_results_name_a_node_exactly_where_there_is_one() {
    let one: &[&str] = &["a"];
    let two: &[&str] = &["a", "b"];
    for (nodes, named, right) in [
        (one, NodeOrNull::Node("a"), true),
        (one, NodeOrNull::Node("b"), false),
        (one, NodeOrNull::Null, false),
        (one, NodeOrNull::Malformed, false),
        (two, NodeOrNull::Null, true),
        (two, NodeOrNull::Node("a"), false),
        (two, NodeOrNull::Malformed, false),
    ] {
        let mut run = Run::of(vec![node("a"), node("b")]);
        let codes = |code: &'static str| if right { vec![] } else { vec![code] };
        run.dispatch("s1", nodes).exit_as("s1", named, ExitStatus::Completed, Some(0));
        run.finds(&codes("R3.EXIT.NODE_NULLITY"));
        result_with(&mut run, result("s1", named));
        run.finds(&codes("R3.RESULT.NODE_NULLITY")).stands("a", Status::Captured);
    }
}

#[test]
fn a_dispatch_has_its_exit_and_its_result() {
    let mut run = Run::of(vec![node("n1")]);
    run.dispatch("s1", &["n1"]).finish(false).finds(&["R3.EXIT.MISSING", "R3.RESULT.MISSING"]);
    run.exit("s1", "n1", 0).finish(false).finds(&["R3.RESULT.MISSING"]);
    run.finish(true).clean().result("s1", "n1").finish(false).clean();

    // A snapshot excuses what is open, not what was closed without an exit.
    let mut headless = Run::of(vec![node("n1")]);
    headless.dispatch("s1", &["n1"]).result("s1", "n1").clean();
    headless.finish(true).finds(&["R3.EXIT.MISSING"]);
    let findings = headless.finish(true).findings();
    assert_eq!(findings.list().first().unwrap().place.seq, Some(1));
    headless.stands("n1", Status::Failed);
}

#[test]
fn of_several_open_sessions_a_snapshot_excuses_the_last() {
    let mut run = Run::of(vec![node("a"), node("b")]);
    run.dispatch("s1", &["a"]).dispatch("s2", &["b"]).raised();
    run.finish(true).finds(&["R3.EXIT.MISSING", "R3.RESULT.MISSING"]);
}

#[test]
fn a_result_belongs_to_a_session_and_stands_once() {
    let mut run = Run::of(vec![node("n1")]);
    run.dispatch("s1", &["n1"]).exit("s1", "n1", 0).result("ghost", "n1");
    run.finds(&["R3.RESULT.ORPHAN"]).result("s1", "n1").clean();
    run.verdict("n1", true).result("s1", "n1").finds(&["R3.RESULT.DUP"]);
    run.stands("n1", Status::Verified);
}

#[test]
fn a_result_before_its_exit_is_found_at_the_result() {
    let mut run = Run::of(vec![node("n1")]);
    run.dispatch("s1", &["n1"]).result("s1", "n1").clean().exit("s1", "n1", 0);
    let findings = run.findings();
    let finding = findings.list().first().unwrap();
    assert_eq!((finding.code.as_str(), finding.place.seq), ("R3.RESULT.BEFORE_EXIT", Some(2)));
    run.stands("n1", Status::Captured).verdict("n1", true).completed().finish(false).clean();
}

#[test]
fn a_delta_is_there_exactly_when_output_was_recorded() {
    let right = result("s1", NodeOrNull::Node("n1"));
    for (delta, status, fits) in [
        (right.delta, OutputStatus::Captured, true),
        (right.delta, OutputStatus::Partial, true),
        (right.delta, OutputStatus::NotRecorded, false),
        (Ok(None), OutputStatus::NotRecorded, true),
        (Ok(None), OutputStatus::Captured, false),
        (Ok(None), OutputStatus::Partial, false),
        (Err(Malformed), OutputStatus::Captured, false),
        (Err(Malformed), OutputStatus::NotRecorded, false),
    ] {
        let mut run = Run::of(vec![node("n1")]);
        run.dispatch("s1", &["n1"]).exit("s1", "n1", 0);
        result_with(&mut run, ExecutionResult { delta, output_status: status, ..right.clone() });
        run.finds(if fits { &[] } else { &["R3.RESULT.DELTA_FORM"] });
    }
}

#[test]
fn a_touched_surface_has_its_form() {
    let mut run = Run::of(vec![node("n1")]);
    run.dispatch("s1", &["n1"]).exit("s1", "n1", 0);
    let wrong = ExecutionResult { touched: Err(Malformed), ..result("s1", NodeOrNull::Node("n1")) };
    result_with(&mut run, wrong);
    run.finds(&["R3.RESULT.SURFACE_FORM"]).stands("n1", Status::Captured);
}

#[test]
fn a_claim_follows_its_result_directly() {
    let mut run = Run::of(vec![node("a"), node("b")]);
    run.claim("ghost", "a").finds(&["R3.CLAIM.POSITION"]);
    run.dispatch("s1", &["a"]).claim("s1", "a").finds(&["R3.CLAIM.POSITION"]);
    run.exit("s1", "a", 0).result("s1", "a").claim("s1", "a").clean();
    run.claim("s1", "b").finds(&["R3.CLAIM.NODE"]);
    run.claim("s1", "ghost").finds(&["R3.CLAIM.NODE"]).claim("s1", "a").clean();
    run.verdict("a", true).claim("s1", "a").finds(&["R3.CLAIM.POSITION"]);
    run.session("s2", "b", 0).claim("s1", "a").finds(&["R3.CLAIM.POSITION"]);
    // An entry that can't be read stands between all the same.
    run.claim("s2", "b").clean().put_unreadable(EntryType::Flag).claim("s2", "b");
    run.finds(&["R3.CLAIM.POSITION"]);
}

#[test]
fn nothing_is_claimed_for_a_failed_session() {
    let mut run = Run::of(vec![node("a")]);
    run.session("s1", "a", 1).claim("s1", "a").finds(&["R3.CLAIM.ABNORMAL"]);
}
