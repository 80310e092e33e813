//! R3: terminal entries.

use serde_json::json;

use crate::gad::Case;
use crate::gad::Level::{A, E, Nobody};
use crate::gad::base::gates::{gated_node, refused};
use crate::gad::base::runs::{minimal, timed_out, tripped};
use crate::gad::base::sessions::{
    excluded, flag_then_succession, superseded_with_delta, two_nodes,
};
use crate::gad::case::case;
use crate::gad::entries::{Entry, claim, completed, halt, superseded};
use crate::gad::record::{Record, take};

const END: &str = "S3, A1 terminals";
const HALT: &str = "A1 plan_halted";
const SUCCEED: &str = "A1 SUCCEED";

pub(super) fn cases() -> Vec<Case> {
    let mut list = ends();
    list.extend(halts());
    list.extend(successions());
    list.extend(deltas());
    list
}

fn ends() -> Vec<Case> {
    let second = || Entry { label: "done2".into(), ..completed() };
    vec![
        case("r3-after-terminal", minimal, E, END, "something after the end")
            .change(|r| r.behind("done", [claim("late", "s", "n")]))
            .invalid(&["R3.PHASE.AFTER_TERMINAL"]),
        case("r3-multi-terminal", minimal, E, END, "two ends")
            .change(|r| r.behind("done", [second()]))
            .invalid(&["R3.PHASE.MULTI_TERMINAL"]),
        case("r3-multi-terminal-kinds", tripped, E, END, "halted and completed")
            .change(|r| r.behind("done", [second()]))
            .invalid(&["R3.PHASE.MULTI_TERMINAL"]),
        case("r3-completed-unsatisfied", two_nodes, E, "eq (5)", "completed with a node untouched")
            .change(|r| r.drop(&["d-s2", "x-s2", "r-s2", "vb"]))
            .invalid(&["R3.COMPLETED.UNSATISFIED"]),
        case("r3-completed-unjudged", minimal, E, "eq (5)", "completed with a node unjudged")
            .change(|r| r.drop(&["v"]))
            .invalid(&["R3.COMPLETED.UNSATISFIED", "R4.PASS_MISSING"]),
        case(
            "r3-completed-unapproved",
            gated_node,
            E,
            "eq (5)",
            "completed with a node unapproved",
        )
        .change(|r| r.drop(&["yes"]))
        .invalid(&["R3.COMPLETED.UNSATISFIED"]),
        case("r3-completed-refused", refused, E, "eq (5)", "completed with a node refused")
            .change(|r| r.end("done", crate::gad::entries::end()))
            .invalid(&["R3.COMPLETED.UNSATISFIED"]),
        case("r3-terminal-open-session", two_nodes, E, END, "halted while a session is open")
            .change(|r| {
                r.end("r-s2", halt(&["b"]));
            })
            .invalid(&["R3.TERMINAL.OPEN_SESSION"]),
        case("r3-terminal-open-completed", minimal, E, END, "completed while a session is open")
            .change(|r| r.move_before("done", "r-s"))
            .invalid(&["R3.TERMINAL.OPEN_SESSION"]),
    ]
}

fn halts() -> Vec<Case> {
    let unresolved = |name, value: serde_json::Value, why| {
        case(name, excluded, E, HALT, why)
            .change(|r| r.set("done", "/unresolved", value))
            .invalid(&["R3.HALT.UNRESOLVED"])
    };
    vec![
        case("r3-halt-ready", two_nodes, E, HALT, "halted with a node ready and none failed")
            .change(|r| r.end("d-s2", halt(&["b"])))
            .invalid(&["R3.HALT.READY"]),
        case("r3-halt-pending-human", gated_node, E, HALT, "halted while a human is asked")
            .change(|r| r.end("yes", halt(&["n"])))
            .invalid(&["R3.HALT.PENDING_HUMAN"]),
        unresolved("r3-halt-unresolved-short", json!([]), "an unresolved node isn't named"),
        unresolved("r3-halt-unresolved-more", json!(["a", "b"]), "a verified node is named"),
        unresolved("r3-halt-unresolved-unknown", json!(["b", "z"]), "a node the plan doesn't have"),
        case(
            "r3-halt-await-gate",
            gated_node,
            Nobody,
            HALT,
            "a node whose gate wasn't asked for bars no halt",
        )
        .change(|r| r.end("ask", halt(&["n"])))
        .holds(&[])
        .without(&["R3.HALT.READY", "R3.HALT.PENDING_HUMAN"])
        .status(|status| status.outcome = "HALTED"),
        case(
            "r3-halt-failed-with-retry-left",
            timed_out,
            Nobody,
            HALT,
            "a failed node may be left with retries",
        )
        .change(|r| r.plan("/N/0/B", 3))
        .holds(&[])
        .without(&["R3.HALT.READY"]),
    ]
}

fn successions() -> Vec<Case> {
    let base: fn() -> Record = flag_then_succession;
    let gone = |name, pointer| {
        case(name, base, A, SUCCEED, "a member of the delta is absent")
            .change(|r| r.unset("done", pointer))
            .invalid(&["R3.SUPERSEDE.DELTA"])
    };
    let map = |name, value: serde_json::Value, why| {
        case(name, base, A, SUCCEED, why)
            .change(|r| r.set("done", "/obligation_map", value))
            .invalid(&["R3.SUPERSEDE.OBLIGATIONS"])
    };
    let row = |node: &str| json!({"node": node, "disposition": "carried"});
    vec![
        gone("r3-supersede-no-reason", "/reason"),
        gone("r3-supersede-no-map", "/obligation_map"),
        gone("r3-supersede-no-floors", "/changed_class_floors"),
        gone("r3-supersede-no-fences", "/changed_fences"),
        gone("r3-supersede-no-tests", "/changed_tests"),
        case("r3-supersede-predecessor", base, A, SUCCEED, "another predecessor")
            .change(|r| r.set("done", "/predecessor", "@sha256:another plan altogether"))
            .invalid(&["R3.SUPERSEDE.PREDECESSOR"]),
        case("r3-supersede-successor", base, A, SUCCEED, "the plan succeeds itself")
            .change(|r| r.set("done", "/successor", "@plan"))
            .invalid(&["R3.SUPERSEDE.SUCCESSOR"]),
        case("r3-supersede-authority", base, A, SUCCEED, "somebody else is named")
            .change(|r| r.set("done", "/named_authority", "@key:approver"))
            .invalid(&["R3.SUPERSEDE.AUTHORITY"]),
        case("r3-supersede-authority-role", base, A, SUCCEED, "the approver decides")
            .change(|r| {
                r.set("done", "/named_authority", "@key:approver");
                r.entry("done").signer = Some("approver");
            })
            .invalid(&["R3.SUPERSEDE.AUTHORITY", "R1.ISSUER.WRONG_ROLE"]),
        map("r3-supersede-map-empty", json!([]), "an unresolved node isn't named"),
        map("r3-supersede-map-twice", json!([row("n"), row("n")]), "a node is named twice"),
        map("r3-supersede-map-more", json!([row("m"), row("n")]), "a node that has no obligation"),
        case("r3-supersede-resolved-node", two_nodes, A, SUCCEED, "a verified node is named")
            .change(|r| {
                r.end(
                    "d-s2",
                    [
                        superseded("@sha256:another plan", &["a", "b"]),
                        crate::gad::entries::checkpoint("seal"),
                    ],
                );
            })
            .invalid(&["R3.SUPERSEDE.OBLIGATIONS"]),
    ]
}

fn deltas() -> Vec<Case> {
    let emptied = |name, pointer, why| {
        case(name, superseded_with_delta, A, "S4", why)
            .change(|r| r.set("done", pointer, json!([])))
            .holds(&["R3.SUPERSEDE.DELTA_FALSE"])
    };
    vec![
        emptied(
            "r3-supersede-false-floor",
            "/changed_class_floors",
            "a lowered floor isn't stated",
        ),
        emptied("r3-supersede-false-fence", "/changed_fences", "a wider fence isn't stated"),
        emptied("r3-supersede-false-test", "/changed_tests", "a dropped test isn't stated"),
        case(
            "r3-supersede-false-to",
            superseded_with_delta,
            A,
            "S4",
            "the floor goes lower than stated",
        )
        .change(|r| {
            let row = json!({"node": "b", "from": "engine_observed", "to": "engine_observed"});
            r.set("done", "/changed_class_floors", json!([row]));
        })
        .holds(&["R3.SUPERSEDE.DELTA_FALSE"]),
        case(
            "r3-supersede-false-policy",
            superseded_under_policy,
            A,
            "S4",
            "what isn't stated fails DEFENSIBLE",
        )
        .change(|r| r.set("done", "/changed_fences", json!([])))
        .indefensible(&["R3.SUPERSEDE.DELTA_FALSE"]),
        case(
            "r3-supersede-policy",
            superseded_under_policy,
            Nobody,
            "S4",
            "everything is stated, under a policy",
        )
        .holds(&[])
        .without(&["R3.SUPERSEDE.DELTA_FALSE"]),
        case(
            "r3-supersede-no-successor-plan",
            superseded_with_delta,
            Nobody,
            "S4",
            "without the plan nobody can tell",
        )
        .change(|r| {
            r.inputs.successor = None;
            r.set("done", "/successor", "@sha256:another plan");
            r.set("done", "/changed_fences", json!([]));
        })
        .holds(&[])
        .without(&["R3.SUPERSEDE.DELTA_FALSE"]),
        case(
            "r3-supersede-stricter",
            superseded_with_delta,
            Nobody,
            "S4",
            "what is made stricter needn't be stated",
        )
        .change(|r| {
            let plan = r.inputs.successor.as_mut().expect("a plan");
            plan["N"][1] = crate::gad::plans::node("b");
            plan["N"][1]["fence"]["allow"] = json!([]);
            r.set("done", "/changed_class_floors", json!([]));
            r.set("done", "/changed_fences", json!([]));
            take(plan_of(r), "/meta/clock_policy/max_backstep_s");
            crate::gad::record::put(plan_of(r), "/meta/clock_policy/max_backstep_s", json!(0));
        })
        .holds(&[])
        .without(&["R3.SUPERSEDE.DELTA_FALSE"]),
    ]
}

/// The succession with its delta under the usual policy.
fn superseded_under_policy() -> Record {
    super::policies::under(superseded_with_delta(), "SUPERSEDED")
}

fn plan_of(r: &mut Record) -> &mut serde_json::Value {
    r.inputs.successor.as_mut().expect("a plan")
}
