//! R3: gates as the trace sees them.

use serde_json::json;

use crate::gad::Case;
use crate::gad::Level::{A, E};
use crate::gad::base::gates::{gated_node, refused, revised_after_refusal};
use crate::gad::base::runs::minimal;
use crate::gad::case::case;
use crate::gad::entries::{approval, fail, refusal, request, retry, revised};

const RULE: &str = "A1 gate, S3 REFUSED";

pub(super) fn cases() -> Vec<Case> {
    vec![
        case("r3-gate-normal-node", minimal, E, RULE, "a gate for a node without one")
            .change(|r| r.behind("v", [request("ask", "n", &["v"])]))
            .invalid(&["R3.GATE.NORMAL_NODE"]),
        case("r3-gate-premature", gated_node, E, RULE, "asked before the test is judged")
            .change(|r| {
                r.move_before("ask", "v");
                r.set("ask", "/findings", json!(["@seq:r-s"]));
                r.set("yes", "/findings_ref", json!(["@seq:r-s"]));
            })
            .invalid(&["R3.GATE.PREMATURE"]),
        case("r3-gate-failed", gated_node, E, RULE, "asked for a node that failed")
            .change(|r| {
                r.set("v", "/result", "fail");
                r.set("v", "/exit_code", 1);
            })
            .invalid(&["R3.GATE.PREMATURE"]),
        case("r3-gate-twice", gated_node, E, RULE, "asked twice")
            .change(|r| r.behind("ask", [request("ask2", "n", &["v"])]))
            .invalid(&["R3.GATE.PREMATURE"]),
        case(
            "r3-gate-unknown-node",
            gated_node,
            E,
            RULE,
            "a gate for a node the plan doesn't have",
        )
        .change(|r| r.behind("yes", [request("ask2", "m", &["v"])]))
        .invalid(&["R3.GATE.PREMATURE"]),
        case("r3-gate-no-request", gated_node, A, RULE, "approved, nobody asked")
            .change(|r| {
                r.drop(&["ask"]);
                r.set("yes", "/request_h", "@h:v");
            })
            .invalid(&["R3.GATE.NO_REQUEST", "R7.NO_REQUEST"]),
        case("r3-gate-approved-twice", gated_node, A, RULE, "approved twice")
            .change(|r| r.behind("yes", [approval("again", "n", "ask", &["v"])]))
            .invalid(&["R3.GATE.NO_REQUEST"]),
        case("r3-gate-refused-after", gated_node, A, RULE, "refused after the approval")
            .change(|r| r.behind("yes", [refusal("no", "n", "ask", &["v"])]))
            .invalid(&["R3.GATE.NO_REQUEST"]),
        case("r3-refused-request", refused, E, RULE, "a refused node is asked for anew")
            .change(|r| r.behind("no", [request("ask2", "n", &["v"])]))
            .invalid(&["R3.REFUSED.REENTRY"]),
        case("r3-refused-retry", refused, E, RULE, "a refused node is retried")
            .change(|r| r.behind("no", [retry("again", "n", "verdict_failed", &["v"])]))
            .invalid(&["R3.REFUSED.REENTRY"]),
        case("r3-revised-no-refusal", gated_node, E, RULE, "asked again, nobody refused")
            .change(|r| r.behind("ask", [revised("ask2", "n", &["v"], "v")]))
            .invalid(&["R3.REVISED.NO_REFUSAL"]),
        case(
            "r3-revised-no-change",
            revised_after_refusal,
            E,
            RULE,
            "asked again, nothing changed",
        )
        .change(|r| {
            r.drop(&["change"]);
            r.set("ask2", "/findings", json!(["@seq:v"]));
            r.set("ask2", "/change_ref", "@seq:v");
        })
        .invalid(&["R3.REVISED.NO_CHANGE"]),
        case(
            "r3-revised-change-later",
            revised_after_refusal,
            E,
            RULE,
            "the change is still to come",
        )
        .change(|r| {
            r.move_before("change", "yes");
            r.set("ask2", "/findings", json!(["@seq:v"]));
        })
        .invalid(&["R3.REVISED.NO_CHANGE"]),
        case(
            "r3-revised-change-type",
            revised_after_refusal,
            E,
            RULE,
            "the refusal itself is no change",
        )
        .change(|r| r.set("ask2", "/change_ref", "@seq:no"))
        .invalid(&["R3.REVISED.NO_CHANGE"]),
        case("r3-verdict-after-refusal", refused, E, RULE, "a refused node is judged again")
            .change(|r| r.behind("no", [fail("again", "s", "n")]))
            .invalid(&["R3.VERDICT.DUP"]),
    ]
}
