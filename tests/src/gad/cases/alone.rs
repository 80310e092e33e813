//! One finding and no other: where a defect usually shows under several codes, a record in which only the
//! code's own rule can make it invalid.
//!
//! Most of them end as snapshots or halt, so that nothing relies on the node that is defective.

use serde_json::{Value as Json, json};

use crate::gad::Case;
use crate::gad::Level::{A, C, E, N, W};
use crate::gad::anchors::Anchor;
use crate::gad::base::envelopes::{defensible, headed};
use crate::gad::base::gates::{gated_node, refused};
use crate::gad::base::runs::{minimal, timed_out, tripped};
use crate::gad::base::sessions::{dag, excluded, flagged, two_nodes};
use crate::gad::case::case;
use crate::gad::entries::{checkpoint, fail, remediation, request, session, verdict};
use crate::gad::record::Record;

pub(super) fn cases() -> Vec<Case> {
    let mut list = verdicts();
    list.extend(trace());
    list.extend(plans());
    list.extend(checkpoints());
    list.extend(anchors());
    list
}

/// Everything behind this entry is cut, and the run sealed as it stands.
fn stop_behind(r: &mut Record, label: &str) {
    let position = r.at(label) + 1;
    r.entries.truncate(position);
    r.push([checkpoint("seal")]);
    r.seal = "snapshot";
}

fn verdicts() -> Vec<Case> {
    let set = |name, pointer, value: Json, code, why| {
        case(name, minimal, E, "A2 R4", why)
            .change(|r| {
                r.set("v", pointer, value);
                stop_behind(r, "v");
            })
            .invalid(&[code])
    };
    vec![
        set(
            "alone-r4-result",
            "/result",
            json!("unavailable"),
            "R4.RESULT",
            "no result, and nothing relies on it",
        ),
        set(
            "alone-r4-capture",
            "/capture",
            json!("remote"),
            "R4.CAPTURE",
            "no capture, and nothing relies on it",
        ),
        set(
            "alone-r4-layers",
            "/observation_layers",
            json!(["seen"]),
            "R4.LAYERS",
            "no layer, and nothing relies on it",
        ),
        set(
            "alone-r4-signal",
            "/signal_kind",
            json!("rumour"),
            "R4.SIGNAL",
            "no signal, and nothing relies on it",
        ),
        set(
            "alone-r4-frozen",
            "/capture",
            json!("attested_capture"),
            "R4.SIGNAL_FROZEN",
            "another capture than frozen, and nothing relies on it",
        ),
        case(
            "alone-r4-custody",
            minimal,
            E,
            "eq (3)",
            "custody not disclosed, and nothing relies on it",
        )
        .change(|r| {
            r.plan("/authorized_principals/0/custody_statement", "");
            stop_behind(r, "v");
        })
        .invalid(&["R4.CUSTODY"]),
        case(
            "alone-r3-verdict-unknown-test",
            minimal,
            E,
            "A1",
            "one verdict too many, of a test nobody planned",
        )
        .change(|r| r.before("v", [verdict("more", "s", "n").with("/test_id", "smoke")]))
        .invalid(&["R3.VERDICT.UNKNOWN_TEST"]),
        case(
            "alone-r3-verdict-failed-session",
            timed_out,
            E,
            "A1 abnormal exit",
            "a failing verdict for a failed session",
        )
        .change(|r| {
            let verdict = fail("v", "s", "n").with("/subject_artifact_digest", "@sha256:nothing");
            r.before("done", [verdict]);
        })
        .invalid(&["R3.VERDICT.FAILED_SESSION"]),
    ]
}

fn trace() -> Vec<Case> {
    vec![
        case(
            "alone-r3-exit-nonzero",
            minimal,
            E,
            "S2 executor exit",
            "completed with exit code 1, and nothing follows",
        )
        .change(|r| {
            r.set("x-s", "/exit_code", 1);
            stop_behind(r, "r-s");
        })
        .invalid(&["R3.EXIT.COMPLETED_NONZERO"]),
        case(
            "alone-r3-exit-missing",
            minimal,
            E,
            "A2 R3",
            "a result without an exit, and nothing follows",
        )
        .change(|r| {
            r.drop(&["x-s"]);
            stop_behind(r, "r-s");
        })
        .invalid(&["R3.EXIT.MISSING"]),
        case(
            "alone-r3-open-session",
            two_nodes,
            E,
            "A1 RUN_LOOP",
            "two sessions at once, judged when both have ended",
        )
        .change(|r| {
            r.plan("/D", json!([]));
            r.move_before("d-s2", "x-s");
            r.move_before("va", "vb");
        })
        .invalid(&["R3.DISPATCH.OPEN_SESSION"]),
        case(
            "alone-r3-deps",
            dag,
            E,
            "A1 READY",
            "dispatched before its predecessor is approved, and nothing follows",
        )
        .change(|r| {
            r.drop(&["yes"]);
            stop_behind(r, "d-s4");
        })
        .invalid(&["R3.DISPATCH.DEPS"]),
        case(
            "alone-r3-not-ready",
            excluded,
            E,
            "A1 READY",
            "a captured node is dispatched again, and nothing follows",
        )
        .change(|r| {
            r.drop(&["again"]);
            stop_behind(r, "r-s2");
        })
        .invalid(&["R3.DISPATCH.NOT_READY"]),
        case("alone-r3-resolved", minimal, E, "S3", "a verified node is done and judged once more")
            .change(|r| {
                r.behind("v", session("s2", "n", &["src/lib.rs"]));
                r.behind("r-s2", [verdict("v2", "s2", "n")]);
            })
            .invalid(&["R3.DISPATCH.RESOLVED"]),
        case(
            "alone-r3-refused",
            refused,
            E,
            "S3",
            "a refused node is asked for anew, and nothing follows",
        )
        .change(|r| {
            r.behind("no", [request("ask2", "n", &["v"])]);
            stop_behind(r, "ask2");
        })
        .invalid(&["R3.REFUSED.REENTRY"]),
        case(
            "alone-r3-gate-normal",
            minimal,
            E,
            "A1 gate",
            "a gate for a node without one, and nothing follows",
        )
        .change(|r| {
            r.behind("v", [request("ask", "n", &["v"])]);
            stop_behind(r, "ask");
        })
        .invalid(&["R3.GATE.NORMAL_NODE"]),
        case(
            "alone-r3-gate-premature",
            gated_node,
            A,
            "A1 gate",
            "asked twice, and the second is answered",
        )
        .change(|r| {
            r.behind("ask", [request("ask2", "n", &["v"])]);
            r.set("yes", "/request_h", "@h:ask2");
        })
        .invalid(&["R3.GATE.PREMATURE"]),
        case(
            "alone-r3-result-before-exit",
            minimal,
            E,
            "S2 execution result",
            "the result before the exit, and no claim",
        )
        .change(|r| {
            r.drop(&["said"]);
            r.move_before("r-s", "x-s");
        })
        .invalid(&["R3.RESULT.BEFORE_EXIT"]),
        case(
            "alone-r3-result-dup",
            minimal,
            E,
            "S2 execution result",
            "a second result, and no claim",
        )
        .change(|r| {
            r.drop(&["said"]);
            let again = crate::gad::entries::result("r-2", "s", Some("n"), &["src/lib.rs"]);
            r.behind("r-s", [again]);
        })
        .invalid(&["R3.RESULT.DUP"]),
        case("alone-r6-action", flagged, E, "A2 R6", "a removal, and an action that is none")
            .change(|r| r.behind("removal", [remediation("more", "n", "apology")]))
            .invalid(&["R6.REMEDIATION.ACTION"]),
        case(
            "alone-r6-succession",
            flagged,
            E,
            "A2 R6",
            "a removal, and a succession that closes in place",
        )
        .change(|r| r.behind("removal", [remediation("more", "n", "succession")]))
        .invalid(&["R6.SUCCESSION_CLOSE"]),
    ]
}

fn plans() -> Vec<Case> {
    vec![
        case("alone-plan-fence", minimal, E, "S2 node fence", "no fence, and nothing is touched")
            .change(|r| {
                r.plan("/N/0/fence", json!({"kind": "paths", "allow": ["src/*"]}));
                r.set("r-s", "/touched_surface", json!([]));
            })
            .invalid(&["PLAN.FENCE_FORM"]),
        case(
            "alone-plan-risk",
            gated_node,
            E,
            "S2 node",
            "no such risk, and the node was approved",
        )
        .change(|r| r.plan("/N/0/risk", "severe"))
        .invalid(&["PLAN.RISK"]),
        case(
            "alone-plan-registry",
            tripped,
            E,
            "S2 plan",
            "a gated node, nobody to approve it, and it failed",
        )
        .change(|r| {
            r.plan("/N/0/risk", "gated");
            r.plan("/authorized_principals/1/roles", json!(["succession_authority"]));
        })
        .invalid(&["PLAN.REGISTRY_EMPTY"]),
        case("alone-plan-tests", timed_out, E, "S2 node", "no test, and the session failed")
            .change(|r| r.plan("/N/0/T", json!([])))
            .invalid(&["PLAN.TESTS_EMPTY"]),
        case(
            "alone-r1-absent",
            minimal,
            N,
            "A2 R1 M_core",
            "a listed artifact that nothing names is gone",
        )
        .change(|r| {
            r.files.insert("artifacts/loose.txt".into(), b"loose".to_vec());
            r.outside(|files| {
                files.remove("core/artifacts/loose.txt");
            });
        })
        .invalid(&["R1.MANIFEST.ABSENT_MEMBER"]),
    ]
}

/// A checkpoint that covers nothing but a checkpoint, which is signed: what is wrong with it leaves no entry
/// uncovered.
fn checkpoints() -> Vec<Case> {
    let second = |name, pointer, value: Json, code, why| {
        case(name, minimal, E, "S2 checkpoint, A2 R1", why)
            .change(|r| {
                r.behind("v", [checkpoint("c1"), checkpoint("c2")]);
                r.set("c2", pointer, value);
            })
            .invalid(&[code])
    };
    vec![
        second(
            "alone-r1-ckpt-digest",
            "/digest_over_range",
            json!("@sha256:x"),
            "R1.CKPT.DIGEST",
            "a digest over other hashes",
        ),
        second(
            "alone-r1-ckpt-form",
            "/range",
            json!([6, 6, 6]),
            "R1.CKPT.RANGE_FORM",
            "three bounds",
        ),
        second(
            "alone-r1-ckpt-overlap",
            "/range",
            json!([5, 6]),
            "R1.CKPT.OVERLAP",
            "covered again",
        ),
        second(
            "alone-r1-ckpt-self",
            "/range",
            json!([6, 7]),
            "R1.CKPT.COVERS_SELF",
            "it covers itself",
        ),
    ]
}

fn anchors() -> Vec<Case> {
    let more = |name, code, why, change: fn(&mut Json)| {
        case(name, defensible, N, "gad-formats 7", why)
            .change(|r| {
                let mut anchor = Anchor::token("more", "core_root", "core", |_| {});
                anchor.row(change);
                r.anchors.push(anchor);
            })
            .indefensible(&[code])
    };
    vec![
        more("alone-anc-target", "ANC.TARGET", "a second row about another root", |row| {
            row["target"] = "@sha256:another root".into();
        }),
        more(
            "alone-anc-type",
            "ANC.TYPE_UNKNOWN",
            "a second anchor of a type nobody knows",
            |row| {
                row["type"] = "newspaper".into();
            },
        ),
        case(
            "alone-anc-head-undeclared",
            headed,
            N,
            "gad-formats 7",
            "an undeclared head that nobody asks for",
        )
        .change(|r| {
            r.heads.clear();
            crate::gad::record::take(r.policy.as_mut().expect("one"), "/required_anchors/1");
        })
        .indefensible(&["ANC.HEAD_UNDECLARED"]),
        case(
            "alone-anc-head-not-in-chain",
            headed,
            C,
            "gad-formats 7",
            "a declared head of another chain that nobody asks for",
        )
        .change(|r| {
            r.envelope(|e| e["declared_heads"][0]["head"] = "@sha256:another chain".into());
            r.anchors.pop();
            crate::gad::record::take(r.policy.as_mut().expect("one"), "/required_anchors/1");
        })
        .indefensible(&["ANC.HEAD_NOT_IN_CHAIN"]),
        case(
            "alone-anc-before-terminal",
            defensible,
            W,
            "gad-formats 7",
            "stamped before the end, by a plan with a lenient clock",
        )
        .change(|r| {
            r.plan("/meta/clock_policy/max_future_skew_s", 86_400);
            r.anchor("root").stamp(|stamp| stamp.time("20250601090400Z"));
        })
        .indefensible(&["ANC.TIME_BEFORE_TERMINAL"]),
        case(
            "alone-pol-no-roots",
            defensible,
            N,
            "gad-formats 8",
            "an anchor asked for only sometimes, and nobody is trusted",
        )
        .change(|r| {
            r.policy("/tsa", json!([]));
            r.policy("/logs", json!(null));
            r.policy(
                "/required_anchors",
                json!([{
                    "kind": "plan_commitment", "types": ["rfc3161"], "min_distinct_operators": 1,
                    "when": "bounded_precedence_claimed", "rule": "bound_in_dispatch",
                }]),
            );
        })
        .indefensible(&["POL.NO_ROOTS"]),
    ]
}
