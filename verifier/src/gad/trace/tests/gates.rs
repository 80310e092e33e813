//! Gates and refusals: each guard violated once.

use anchorlog_proto::gad::names::PassFail;
use anchorlog_proto::gad::payload::FailureReason::VerdictFailed;
use anchorlog_proto::gad::payload::RemediationAction::Revision;

use crate::gad::trace::Status;
use crate::gad::trace::testing::{Run, gated, node, test};

fn awaits_gate() -> Run {
    let mut run = Run::of(vec![gated("n1")]);
    run.session("s1", "n1", 0).verdict("n1", true).clean();
    run
}

fn refused() -> Run {
    let mut run = awaits_gate();
    run.gate_request("n1").refusal("n1").clean();
    run
}

#[test]
fn no_human_is_asked_about_a_normal_node() {
    let mut run = Run::of(vec![node("n1")]);
    run.session("s1", "n1", 0).verdict("n1", true).gate_request("n1");
    run.finds(&["R3.GATE.NORMAL_NODE"]);
}

#[test]
fn no_human_is_asked_too_early_or_twice() {
    let premature = ["R3.GATE.PREMATURE"];
    Run::of(vec![gated("n1")]).gate_request("n1").finds(&premature);
    Run::of(vec![gated("n1")]).gate_request("ghost").finds(&premature);
    Run::of(vec![gated("n1")]).session("s1", "n1", 0).gate_request("n1").finds(&premature);
    let mut failed = Run::of(vec![gated("n1")]);
    failed.session("s1", "n1", 0).verdict("n1", false).gate_request("n1").finds(&premature);
    let mut twice = awaits_gate();
    twice.gate_request("n1").clean().gate_request("n1").finds(&premature);
}

#[test]
fn no_human_is_asked_about_half_of_the_tests() {
    let mut half = gated("n1");
    half.tests.push(test("t2"));
    let mut run = Run::of(vec![half]);
    run.session("s1", "n1", 0).verdict("n1", true).gate_request("n1");
    run.finds(&["R3.GATE.PREMATURE", "R3.VERDICT.INCOMPLETE"]);
}

#[test]
fn answers_answer_a_request() {
    let none = ["R3.GATE.NO_REQUEST"];
    awaits_gate().approval("n1").finds(&none).stands("n1", Status::Approved);
    awaits_gate().refusal("n1").finds(&none).stands("n1", Status::Refused);
    awaits_gate().approval("ghost").finds(&none);
    awaits_gate().refusal("ghost").finds(&none);
    let mut late = awaits_gate();
    late.gate_request("n1").approval("n1").clean().refusal("n1").finds(&none);
    late.stands("n1", Status::Refused).completed().finds(&["R3.COMPLETED.UNSATISFIED"]);
}

#[test]
fn a_refused_node_does_not_slip_back_in() {
    let reentry = "R3.REFUSED.REENTRY";
    refused().gate_request("n1").finds(&[reentry]).stands("n1", Status::AwaitApproval);
    refused().dispatch("s2", &["n1"]).finds(&["R3.DISPATCH.RESOLVED", reentry]);
    refused().retry("n1", VerdictFailed, &[4]).finds(&[
        reentry,
        "R3.RETRY.NOT_FAILED",
        "R3.RETRY.NO_DIAGNOSIS",
    ]);
    refused().approval("n1").finds(&["R3.GATE.NO_REQUEST"]);
}

#[test]
fn a_revised_request_follows_a_refusal() {
    let none = ["R3.REVISED.NO_REFUSAL"];
    let both = ["R3.REVISED.NO_CHANGE", "R3.REVISED.NO_REFUSAL"];
    awaits_gate().revised("ghost", 4).finds(&none);
    awaits_gate().revised("n1", 4).finds(&both);
    awaits_gate().gate_request("n1").revised("n1", 4).finds(&both);
}

#[test]
fn a_revised_request_names_what_changed_since() {
    let none = ["R3.REVISED.NO_CHANGE"];
    for other in [4, 6, 7, 99] {
        refused().revised("n1", other).finds(&none).stands("n1", Status::AwaitApproval);
    }
    // A change of an earlier refusal is none of this one.
    let mut again = refused();
    again.remediation("n1", Revision).revised("n1", 7).refusal("n1").clean();
    again.revised("n1", 7).finds(&none);
    // A look at the scope is a recorded change; a repeated verdict is ignored here too.
    refused().scope_closed("n1", PassFail::Pass).revised("n1", 7).clean();
    refused().verdict("n1", true).finds(&["R3.VERDICT.DUP"]).revised("n1", 7).finds(&none);
    // What other nodes do isn't.
    let mut other = Run::of(vec![gated("n1"), node("n2")]);
    other.session("s1", "n1", 0).verdict("n1", true).gate_request("n1").refusal("n1");
    other.remediation("n2", Revision).clean().revised("n1", 7).finds(&none);
}
