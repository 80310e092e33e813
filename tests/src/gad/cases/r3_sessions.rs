//! R3: exits, results and claims of sessions.

use serde_json::json;

use crate::gad::Case;
use crate::gad::Level::{E, Nobody};
use crate::gad::base::runs::{crashed, minimal, timed_out};
use crate::gad::base::sessions::{snapshot, three_nodes, two_nodes};
use crate::gad::case::case;
use crate::gad::entries::{claim, exit, result};

const EXIT: &str = "S2 executor exit, RUL-12";
const RESULT: &str = "S2 execution result, RUL-10";
const CLAIM: &str = "A1 claim";

pub(super) fn cases() -> Vec<Case> {
    let mut list = exits();
    list.extend(results());
    list.extend(claims());
    list
}

fn exits() -> Vec<Case> {
    vec![
        case("r3-exit-missing", minimal, E, "A2 R3", "a dispatch without an exit")
            .change(|r| r.drop(&["x-s"]))
            .invalid(&["R3.EXIT.MISSING", "LVL.GAD1"]),
        case("r3-exit-orphan", minimal, E, EXIT, "an exit of no session")
            .change(|r| r.behind("v", [exit("x-2", "ghost", Some("n"))]))
            .invalid(&["R3.EXIT.ORPHAN"]),
        case("r3-exit-orphan-early", minimal, E, EXIT, "an exit before any dispatch")
            .change(|r| r.behind("freeze", [exit("x-2", "ghost", Some("n"))]))
            .invalid(&["R3.EXIT.ORPHAN"]),
        case("r3-exit-dup", minimal, E, "RUL-12", "a session dies twice")
            .change(|r| r.behind("x-s", [exit("x-2", "s", Some("n"))]))
            .invalid(&["R3.EXIT.DUP"]),
        case("r3-exit-completed-nonzero", minimal, E, EXIT, "completed with exit code 1")
            .change(|r| r.set("x-s", "/exit_code", 1))
            .invalid(&["R3.EXIT.COMPLETED_NONZERO"]),
        case("r3-exit-completed-null", minimal, E, EXIT, "completed without an exit code")
            .change(|r| r.set("x-s", "/exit_code", json!(null)))
            .invalid(&["R3.EXIT.COMPLETED_NONZERO"]),
        case("r3-exit-node-null", minimal, E, "RUL-12", "null where one node is meant")
            .change(|r| r.set("x-s", "/node", json!(null)))
            .invalid(&["R3.EXIT.NODE_NULLITY"]),
        case("r3-exit-node-named", three_nodes, E, "RUL-12", "a node where three are meant")
            .change(|r| r.set("x-s", "/node", "a"))
            .invalid(&["R3.EXIT.NODE_NULLITY"]),
        case("r3-exit-node-other", two_nodes, E, "RUL-12", "a node of another session")
            .change(|r| r.set("x-s", "/node", "b"))
            .invalid(&["R3.EXIT.NODE_NULLITY"]),
        case("r3-exit-crashed-zero", crashed, Nobody, EXIT, "a crash may leave exit code 0")
            .change(|r| r.set("x-s", "/exit_code", 0))
            .holds(&[])
            .without(&["R3.EXIT.COMPLETED_NONZERO"]),
        case(
            "r3-exit-killed-negative",
            crashed,
            Nobody,
            EXIT,
            "killed by a signal: a negative code",
        )
        .change(|r| {
            r.set("x-s", "/status", "killed");
            r.set("x-s", "/exit_code", -9);
        })
        .holds(&[])
        .without(&["R3.EXIT.COMPLETED_NONZERO", "J.ENUM"]),
    ]
}

fn results() -> Vec<Case> {
    let set = |name, pointer, value: serde_json::Value, code, why| {
        case(name, minimal, E, RESULT, why)
            .change(|r| r.set("r-s", pointer, value))
            .invalid(&[code])
    };
    let surface = |name, value: serde_json::Value, why| {
        set(name, "/touched_surface", value, "R3.RESULT.SURFACE_FORM", why)
    };
    vec![
        case("r3-result-missing", timed_out, E, "A2 R3", "a dispatch without a result")
            .change(|r| r.drop(&["r-s"]))
            .invalid(&["R3.RESULT.MISSING", "LVL.GAD1"]),
        case(
            "r3-result-missing-snapshot",
            snapshot,
            E,
            "A2 R3",
            "only the open session of a snapshot may lack one",
        )
        .change(|r| r.drop(&["r-s", "va"]))
        .invalid(&["R3.RESULT.MISSING"]),
        case("r3-result-orphan", minimal, E, RESULT, "a result of no session")
            .change(|r| r.behind("v", [result("r-2", "ghost", Some("n"), &["src/lib.rs"])]))
            .invalid(&["R3.RESULT.ORPHAN"]),
        case("r3-result-dup", minimal, E, RESULT, "a second result")
            .change(|r| r.behind("r-s", [result("r-2", "s", Some("n"), &["src/lib.rs"])]))
            .invalid(&["R3.RESULT.DUP"]),
        case("r3-result-before-exit", minimal, E, RESULT, "the result before the exit")
            .change(|r| r.move_before("r-s", "x-s"))
            .invalid(&["R3.RESULT.BEFORE_EXIT"]),
        set(
            "r3-result-node-null",
            "/node",
            json!(null),
            "R3.RESULT.NODE_NULLITY",
            "null where one node is meant",
        ),
        case("r3-result-node-named", three_nodes, E, RESULT, "a node where three are meant")
            .change(|r| r.set("r-s", "/node", "c"))
            .invalid(&["R3.RESULT.NODE_NULLITY"]),
        set(
            "r3-result-delta-half",
            "/delta_digest",
            json!(null),
            "R3.RESULT.DELTA_FORM",
            "a reference without a digest",
        ),
        set(
            "r3-result-delta-status",
            "/output_status",
            json!("not_recorded"),
            "R3.RESULT.DELTA_FORM",
            "a delta that wasn't recorded",
        ),
        case("r3-result-delta-none", minimal, E, RESULT, "captured, and no delta")
            .change(|r| {
                r.set("r-s", "/delta_ref", json!(null));
                r.set("r-s", "/delta_digest", json!(null));
            })
            .invalid(&["R3.RESULT.DELTA_FORM"]),
        surface("r3-result-surface-order", json!(["src/b.rs", "src/a.rs"]), "out of order"),
        surface("r3-result-surface-twice", json!(["src/a.rs", "src/a.rs"]), "a path twice"),
        surface("r3-result-surface-parent", json!(["../a.rs"]), "a path that leaves"),
        surface("r3-result-surface-ext-empty", json!(["ext:"]), "an outside write without a label"),
        surface("r3-result-surface-type", json!([7]), "a number"),
        case(
            "r3-result-surface-ext",
            minimal,
            E,
            "P1 touched surface",
            "an outside write has a label, and no fence admits it",
        )
        .change(|r| r.set("r-s", "/touched_surface", json!(["ext:/tmp/cache", "src/lib.rs"])))
        .invalid(&["R6.FLAG.OMITTED"])
        .without(&["R3.RESULT.SURFACE_FORM"]),
    ]
}

fn claims() -> Vec<Case> {
    vec![
        case("r3-claim-abnormal", crashed, E, CLAIM, "a claim for a crashed session")
            .change(|r| r.behind("r-s", [claim("said", "s", "n")]))
            .invalid(&["R3.CLAIM.ABNORMAL"]),
        case("r3-claim-node", two_nodes, E, CLAIM, "a claim about a node of another session")
            .change(|r| r.behind("r-s", [claim("said", "s", "b")]))
            .invalid(&["R3.CLAIM.NODE"]),
        case(
            "r3-claim-node-unknown",
            minimal,
            E,
            CLAIM,
            "a claim about a node the plan doesn't have",
        )
        .change(|r| r.set("said", "/node", "m"))
        .invalid(&["R3.CLAIM.NODE"]),
        case("r3-claim-late", minimal, E, CLAIM, "a claim after the verdict")
            .change(|r| r.move_before("said", "done"))
            .invalid(&["R3.CLAIM.POSITION"]),
        case("r3-claim-early", minimal, E, CLAIM, "a claim before the result")
            .change(|r| r.move_before("said", "r-s"))
            .invalid(&["R3.CLAIM.POSITION"]),
        case("r3-claim-session", minimal, E, CLAIM, "a claim for no session")
            .change(|r| r.set("said", "/session_id", "ghost"))
            .invalid(&["R3.CLAIM.POSITION"]),
        case(
            "r3-claim-several",
            three_nodes,
            Nobody,
            CLAIM,
            "claims, a probe and a checkpoint may mix",
        )
        .change(|r| {
            r.behind(
                "r-s",
                [
                    claim("c1", "s", "a"),
                    crate::gad::entries::checkpoint("cp"),
                    claim("c2", "s", "b"),
                    crate::gad::entries::probe("probe"),
                    claim("c3", "s", "a"),
                ],
            );
        })
        .holds(&[])
        .without(&["R3.CLAIM.POSITION"]),
    ]
}
