//! Terminals and what follows them: each guard violated once.

use anchorlog_proto::Digest;
use anchorlog_proto::gad::entry::EntryType;
use anchorlog_proto::gad::names::Role;
use anchorlog_proto::gad::payload::{FailureReason, PlanSuperseded};

use crate::gad::trace::Status;
use crate::gad::trace::testing::{Run, gated, key, node, plan_hash, succession};

fn done() -> Run {
    let mut run = Run::of(vec![node("n1")]);
    run.session("s1", "n1", 0).verdict("n1", true).completed().clean();
    run
}

#[test]
fn after_a_terminal_there_are_only_checkpoints_and_notices() {
    let after = ["R3.PHASE.AFTER_TERMINAL"];
    done().checkpoint().notice().checkpoint().clean();
    done().dispatch("s2", &["n1"]).finds(&after).stands("n1", Status::Verified);
    done().retry("n1", FailureReason::VerdictFailed, &[]).finds(&after);
    done().retry("ghost", FailureReason::VerdictFailed, &[]).finds(&after);
    done().verdict("n1", true).finds(&after).claim("s1", "n1").finds(&after);
    done().flag("n1").finds(&after).exit("ghost", "n1", 0).finds(&after);
    done().probe().finds(&["R3.PHASE.AFTER_TERMINAL", "R3.PROBE.POSITION"]);
}

#[test]
fn there_is_one_terminal() {
    let twice = ["R3.PHASE.AFTER_TERMINAL", "R3.PHASE.MULTI_TERMINAL"];
    done().completed().finds(&twice).halted(&[]).finds(&twice);
    let mut run = done();
    run.superseded(succession(&[]), Role::SuccessionAuthority).finds(&twice);
    assert_eq!(run.machine.terminal(), Some((EntryType::PlanCompleted, 5)));
}

#[test]
fn terminals_stand_between_sessions() {
    let open = |run: &mut Run| {
        run.dispatch("s1", &["n1"]).clean();
    };
    let code = "R3.TERMINAL.OPEN_SESSION";
    let mut run = Run::of(vec![node("n1")]);
    open(&mut run);
    run.halted(&["n1"]).finds(&[code]);
    // What comes after is not looked at: the session stays as it was, snapshot or not.
    run.exit("s1", "n1", 0).finds(&["R3.PHASE.AFTER_TERMINAL"]);
    run.finish(true).finds(&["R3.EXIT.MISSING", "R3.RESULT.MISSING"]);
    let mut run = Run::of(vec![node("n1")]);
    open(&mut run);
    run.completed().finds(&["R3.COMPLETED.UNSATISFIED", code]);
    let mut run = Run::of(vec![node("n1")]);
    open(&mut run);
    run.superseded(succession(&["n1"]), Role::SuccessionAuthority).finds(&[code]);
}

#[test]
fn completed_means_every_node_is_good() {
    let mut run = Run::of(vec![node("a"), gated("g")]);
    run.session("s1", "a", 0).verdict("a", true).session("s2", "g", 0).verdict("g", true).clean();
    let findings = run.completed().findings();
    let finding = findings.list().first().unwrap();
    assert_eq!(finding.code.as_str(), "R3.COMPLETED.UNSATISFIED");
    assert_eq!(finding.actual.as_deref(), Some("g"));
}

#[test]
fn a_plan_halts_when_nothing_is_ready_or_something_is_stuck() {
    let ready = ["R3.HALT.READY"];
    Run::of(vec![node("n1")]).halted(&["n1"]).finds(&ready);
    let mut half = Run::of(vec![node("a"), node("b")]);
    half.session("s1", "a", 0).verdict("a", true).halted(&["b"]).finds(&ready);
    let mut granted = Run::of(vec![node("a")]);
    granted.session("s1", "a", 1).retry("a", FailureReason::SessionFailed, &[2]).halted(&["a"]);
    granted.finds(&ready);
    // Behind a gate nothing is ready; nobody was asked.
    let mut gate = Run::with_edges(vec![gated("g"), node("z")], &[("g", "z")]);
    gate.session("s1", "g", 0).verdict("g", true).halted(&["g", "z"]).clean();
}

#[test]
fn a_plan_does_not_halt_while_a_human_is_asked() {
    let mut run = Run::of(vec![gated("g"), node("n1")]);
    run.session("s1", "n1", 1).session("s2", "g", 0).verdict("g", true).gate_request("g").clean();
    run.halted(&["g", "n1"]).finds(&["R3.HALT.PENDING_HUMAN"]);
}

#[test]
fn a_halt_names_every_node_that_is_not_good() {
    for (named, right) in [
        (vec!["a", "b"], true),
        (vec!["a"], false),
        (vec!["a", "b", "ok"], false),
        (vec!["b", "a"], false),
        (vec![], false),
    ] {
        let mut run = Run::of(vec![node("b"), node("ok"), node("a")]);
        run.session("s1", "ok", 0).verdict("ok", true).session("s2", "a", 1).halted(&named);
        run.finds(if right { &[] } else { &["R3.HALT.UNRESOLVED"] });
    }
}

#[test]
fn a_notice_follows_the_terminal() {
    Run::of(vec![node("n1")]).notice().finds(&["R3.NOTICE.POSITION"]);
}

#[test]
fn a_probe_stands_between_sessions() {
    let mut run = Run::of(vec![node("n1")]);
    run.dispatch("s1", &["n1"]).probe().finds(&["R3.PROBE.POSITION"]);
}

#[test]
fn a_succession_states_its_delta_and_its_authority() {
    let supersede = |change: &dyn Fn(&mut PlanSuperseded<'_>), signer, codes: &[&str]| {
        let mut end = succession(&["a", "b"]);
        change(&mut end);
        Run::of(vec![node("b"), node("a")]).superseded(end, signer).finds(codes);
    };
    let authority = Role::SuccessionAuthority;
    supersede(&|_| {}, authority, &[]);
    supersede(&|end| end.delta = None, authority, &["R3.SUPERSEDE.DELTA"]);
    supersede(
        &|end| end.predecessor = Digest::of(b"other"),
        authority,
        &["R3.SUPERSEDE.PREDECESSOR"],
    );
    supersede(&|end| end.successor = plan_hash(), authority, &["R3.SUPERSEDE.SUCCESSOR"]);
    let wrong = ["R3.SUPERSEDE.AUTHORITY"];
    supersede(&|_| {}, Role::Engine, &wrong);
    supersede(&|end| end.named_authority = key(Role::Engine).id(), authority, &wrong);
    supersede(&|end| end.named_authority = key(Role::Engine).id(), Role::Engine, &wrong);
    let wrong = ["R3.SUPERSEDE.OBLIGATIONS"];
    let obligations = |change: &dyn Fn(&mut Vec<&str>)| {
        let mut named = vec!["a", "b"];
        change(&mut named);
        let end = succession(&named);
        Run::of(vec![node("b"), node("a")]).superseded(end, authority).finds(&wrong);
    };
    obligations(&|named| {
        named.pop();
    });
    obligations(&|named| named.push("b"));
    obligations(&|named| named.push("ghost"));
}
