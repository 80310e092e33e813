//! R3: what may be dispatched when.

use serde_json::json;

use crate::gad::Case;
use crate::gad::Level::{E, Nobody};
use crate::gad::base::gates::{gated_node, refused};
use crate::gad::base::runs::{minimal, retried, tripped};
use crate::gad::base::sessions::{dag, excluded, snapshot, three_nodes, two_nodes};
use crate::gad::base::shapes::scalar;
use crate::gad::case::case;
use crate::gad::entries::{checkpoint, dispatch, session};

const READY: &str = "A1 READY";
const NODES: &str = "A1 dispatch";

pub(super) fn cases() -> Vec<Case> {
    let nodes = |name, value: serde_json::Value, why| {
        case(name, minimal, E, NODES, why)
            .change(|r| r.set("d-s", "/nodes", value))
            .invalid(&["R3.DISPATCH.NODES"])
    };
    let mut list = vec![
        nodes("r3-dispatch-nodes-empty", json!([]), "a session over nothing"),
        nodes("r3-dispatch-nodes-twice", json!(["n", "n"]), "a node twice"),
        case("r3-dispatch-nodes-unknown", minimal, E, NODES, "a node the plan doesn't have")
            .change(|r| {
                r.set("d-s", "/nodes", json!(["m"]));
                r.set("d-s", "/input/0/node", "m");
            })
            .invalid(&["R3.DISPATCH.NODES"]),
        nodes("r3-dispatch-nodes-text", json!("n"), "a text where a set belongs"),
        case("r3-dispatch-nodes-absent", minimal, E, NODES, "no nodes")
            .change(|r| r.unset("d-s", "/nodes"))
            .invalid(&["R3.DISPATCH.NODES"]),
        case("r3-dispatch-scalar", scalar, E, "S1 REG-29", "the scalar spelling after version 0.6")
            .change(|r| r.spec_version = "0.7")
            .invalid(&["R3.DISPATCH.SCALAR"]),
        case(
            "r3-dispatch-set-in-0.6",
            minimal,
            Nobody,
            "S1 REG-29",
            "version 0.6 knows the set as well",
        )
        .change(|r| r.spec_version = "0.6")
        .holds(&[])
        .without(&["R3.DISPATCH.NODES", "R3.DISPATCH.SCALAR"]),
        case("r3-dispatch-baseline", minimal, E, NODES, "the workspace before isn't stated")
            .change(|r| r.unset("d-s", "/workspace_baseline_digest"))
            .invalid(&["R3.DISPATCH.BASELINE"]),
        case(
            "r3-dispatch-node-order",
            three_nodes,
            Nobody,
            "gad-formats 5 dispatch",
            "the order of nodes is free",
        )
        .change(|r| {
            r.drop(&["d-s"]);
            r.behind("freeze", [dispatch("d-s", "s", &["c", "a", "b"])]);
        })
        .holds(&[])
        .without(&["R3.DISPATCH.NODES", "J.ENUM"]),
    ];
    list.extend(order());
    list
}

fn order() -> Vec<Case> {
    vec![
        case(
            "r3-dispatch-open-session",
            two_nodes,
            E,
            "A1 RUN_LOOP",
            "dispatched while a session is open",
        )
        .change(|r| {
            r.plan("/D", json!([]));
            r.move_before("d-s2", "r-s");
        })
        .invalid(&["R3.DISPATCH.OPEN_SESSION"]),
        case(
            "r3-dispatch-session-reused",
            two_nodes,
            E,
            "A1 fresh_session_id",
            "a session id twice",
        )
        .change(|r| {
            for label in ["d-s2", "x-s2", "r-s2", "vb"] {
                r.set(label, "/session_id", "s");
            }
        })
        .invalid(&["R3.DISPATCH.SESSION_REUSED"]),
        case(
            "r3-dispatch-deps",
            two_nodes,
            E,
            READY,
            "dispatched before its predecessor is verified",
        )
        .change(|r| r.drop(&["va"]))
        .invalid(&["R3.DISPATCH.DEPS"]),
        case(
            "r3-dispatch-deps-gate",
            dag,
            E,
            READY,
            "dispatched before its predecessor is approved",
        )
        .change(|r| r.drop(&["yes"]))
        .invalid(&["R3.DISPATCH.DEPS", "R3.COMPLETED.UNSATISFIED"]),
        case(
            "r3-dispatch-deps-never",
            two_nodes,
            E,
            READY,
            "dispatched with its predecessor untouched",
        )
        .change(|r| r.drop(&["d-s", "x-s", "r-s", "va"]))
        .invalid(&["R3.DISPATCH.DEPS"]),
        case("r3-dispatch-not-ready", excluded, E, READY, "a captured node is dispatched again")
            .change(|r| r.drop(&["again"]))
            .invalid(&["R3.DISPATCH.NOT_READY"]),
        case(
            "r3-dispatch-no-retry",
            retried,
            E,
            "A1, S3",
            "a failed node is dispatched without a retry",
        )
        .change(|r| r.drop(&["again"]))
        .invalid(&["R3.DISPATCH.NO_RETRY"]),
        case("r3-dispatch-resolved", minimal, E, "S3", "a verified node is dispatched again")
            .change(|r| r.behind("v", session("s2", "n", &["src/lib.rs"])))
            .invalid(&["R3.DISPATCH.RESOLVED"]),
        case(
            "r3-dispatch-resolved-approved",
            gated_node,
            E,
            "S3",
            "an approved node is dispatched again",
        )
        .change(|r| r.behind("yes", session("s2", "n", &["src/lib.rs"])))
        .invalid(&["R3.DISPATCH.RESOLVED"]),
        case(
            "r3-dispatch-resolved-tripped",
            tripped,
            E,
            "S3, R8",
            "a tripped node is dispatched again",
        )
        .change(|r| r.behind("trip", session("s2", "n", &["src/lib.rs"])))
        .invalid(&["R8.TRIP_EXIT"]),
        case("r3-dispatch-refused", refused, E, "S3", "a refused node is dispatched again")
            .change(|r| r.behind("no", session("s2", "n", &["src/lib.rs"])))
            .invalid(&["R3.REFUSED.REENTRY"]),
        case(
            "r3-dispatch-awaiting",
            gated_node,
            E,
            "S3",
            "a node that awaits approval is dispatched",
        )
        .change(|r| r.behind("ask", session("s2", "n", &["src/lib.rs"])))
        .invalid(&["R3.DISPATCH.RESOLVED"]),
        case(
            "r3-dispatch-snapshot-open",
            snapshot,
            Nobody,
            "A2 R3",
            "a snapshot right after a dispatch",
        )
        .change(|r| {
            r.end("d-s2", [dispatch("d-s2", "s2", &["b"]), checkpoint("seal")]);
        })
        .holds(&[])
        .without(&["R3.EXIT.MISSING", "R3.RESULT.MISSING"]),
    ]
}
