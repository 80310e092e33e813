//! ANC.*: anchors against the policy.

use serde_json::json;

use crate::gad::Case;
use crate::gad::Level::{A, E, N, Nobody, W};
use crate::gad::anchors::Anchor;
use crate::gad::base::envelopes::{
    committed, committed_weakly, cosigned, defensible, headed, logged, two_operators,
};
use crate::gad::case::case;
use crate::gad::trust::PKI;

const EQ7: &str = "eq (7)";
const ORDER: &str = "gad-formats 7 order and time";
const TARGET: &str = "gad-formats 7 target";

pub(super) fn cases() -> Vec<Case> {
    let mut list = required();
    list.extend(targets());
    list.extend(times());
    list.extend(commitments());
    list
}

fn required() -> Vec<Case> {
    vec![
        case("anc-required-missing", defensible, N, EQ7, "no anchor at all")
            .change(|r| r.anchors.clear())
            .indefensible(&["ANC.REQUIRED_MISSING", "NOTE.UNANCHORED"])
            .without(&["ANC.PRESENT_INVALID"]),
        case("anc-required-type", defensible, E, EQ7, "a token where the policy asks for a log")
            .change(|r| r.policy("/required_anchors/0/types", json!(["tlog"])))
            .indefensible(&["ANC.REQUIRED_MISSING"]),
        case("anc-required-kind", headed, E, EQ7, "a head is anchored, the root isn't")
            .change(|r| {
                r.anchors.remove(0);
            })
            .indefensible(&["ANC.REQUIRED_MISSING", "LVL.GAD4_NO_POST_RUN"]),
        case(
            "anc-untrusted-issuer",
            defensible,
            E,
            "ruling 4",
            "a TSA that the policy doesn't know",
        )
        .change(|r| r.anchor("root").stamp(|stamp| stamp.by(&PKI.tsa_x)))
        .indefensible(&["ANC.UNTRUSTED_ISSUER", "ANC.REQUIRED_MISSING"])
        .without(&["ANC.PRESENT_INVALID"]),
        case(
            "anc-untrusted-beside",
            defensible,
            Nobody,
            "ruling 4",
            "an unknown TSA's token beside a known one's breaks nothing",
        )
        .change(|r| {
            r.anchors.push(Anchor::token("more", "core_root", "core", |stamp| {
                stamp.by(&PKI.tsa_x);
            }));
        })
        .holds(&["ANC.UNTRUSTED_ISSUER"])
        .without(&["ANC.PRESENT_INVALID", "ANC.REQUIRED_MISSING"]),
        case(
            "anc-present-invalid",
            defensible,
            N,
            "eq (7) each verifies",
            "a bad token beside a good one",
        )
        .change(|r| {
            r.anchors.push(Anchor::token("more", "core_root", "core", |stamp| {
                stamp.token.spoil = spoil;
            }));
        })
        .indefensible(&["ANC.PRESENT_INVALID", "TSA.SIG"])
        .without(&["ANC.REQUIRED_MISSING"]),
        case(
            "anc-distinct",
            two_operators,
            E,
            "gad.policy/1",
            "two tokens of one TSA are one operator's",
        )
        .change(|r| {
            r.anchors.pop();
            r.anchors.push(Anchor::token("second", "core_root", "core", |stamp| {
                stamp.time("20250601120100Z");
            }));
        })
        .indefensible(&["ANC.DISTINCT"])
        .without(&["ANC.REQUIRED_MISSING"]),
        case(
            "anc-distinct-log",
            two_operators,
            Nobody,
            "gad.policy/1",
            "a TSA and a log are two operators",
        )
        .change(|r| {
            r.anchors.pop();
            r.anchors.push(Anchor::log("second", "core_root", "core", |_| {}));
        })
        .holds(&[])
        .without(&["ANC.DISTINCT"]),
        case("anc-type-unknown", defensible, N, EQ7, "an anchor of a type nobody knows")
            .change(|r| r.anchor("root").row(|row| row["type"] = "newspaper".into()))
            .indefensible(&["ANC.TYPE_UNKNOWN"]),
    ]
}

fn spoil(mut signature: Vec<u8>) -> Vec<u8> {
    if let Some(last) = signature.last_mut() {
        *last ^= 1;
    }
    signature
}

fn targets() -> Vec<Case> {
    let target = |name, base, anchor: &'static str, value: &'static str, code, why| {
        case(name, base, E, TARGET, why)
            .change(|r| r.anchor(anchor).row(move |row| row["target"] = value.into()))
            .indefensible(&[code])
    };
    vec![
        target(
            "anc-target-root",
            defensible,
            "root",
            "@sha256:another root",
            "ANC.TARGET",
            "a row about another root",
        ),
        target(
            "anc-target-plan",
            committed_without_claims,
            "plan",
            "@sha256:another plan",
            "ANC.TARGET",
            "a row about another plan",
        ),
        target(
            "anc-target-swapped",
            defensible,
            "root",
            "@plan",
            "ANC.TARGET",
            "the plan's hash as a root",
        ),
        target(
            "anc-head-undeclared",
            headed,
            "head",
            "@h:r-s",
            "ANC.HEAD_UNDECLARED",
            "a head that isn't declared",
        ),
        case("anc-head-undeclared-list", headed, N, TARGET, "the declaration is gone")
            .change(|r| r.heads.clear())
            .indefensible(&["ANC.HEAD_UNDECLARED"]),
        case("anc-head-not-in-chain", headed, E, TARGET, "a declared head of another chain")
            .change(|r| {
                r.envelope(|e| e["declared_heads"][0]["head"] = "@sha256:another chain".into());
                r.anchors.pop();
            })
            .indefensible(&["ANC.HEAD_NOT_IN_CHAIN"]),
        case("anc-head-other-entry", headed, E, TARGET, "a declared head of another entry")
            .change(|r| r.envelope(|e| e["declared_heads"][0]["seq"] = "@seq:r-s".into()))
            .indefensible(&["ANC.HEAD_NOT_IN_CHAIN"]),
        case("anc-head-beyond", headed, E, TARGET, "a declared head beyond the chain")
            .change(|r| r.envelope(|e| e["declared_heads"][0]["seq"] = 999.into()))
            .indefensible(&["ANC.HEAD_NOT_IN_CHAIN"]),
        case(
            "anc-head-declared-only",
            defensible,
            Nobody,
            TARGET,
            "a head may be declared and not anchored",
        )
        .change(|r| r.heads = vec!["freeze", "seal"])
        .holds(&[])
        .without(&["ANC.HEAD_NOT_IN_CHAIN"]),
    ]
}

fn committed_without_claims() -> crate::gad::record::Record {
    let mut r = committed();
    r.claims = None;
    r
}

fn times() -> Vec<Case> {
    // The terminal entry is of 09:06:00; the policy's skew is a minute, the accuracy a second.
    let at = |name, base, time: &'static str, code, why| {
        case(name, base, W, ORDER, why)
            .change(|r| r.anchor("root").stamp(move |stamp| stamp.time(time)))
            .indefensible(&[code])
    };
    let met = |name, time: &'static str, code, why| {
        case(name, defensible, Nobody, ORDER, why)
            .change(|r| r.anchor("root").stamp(move |stamp| stamp.time(time)))
            .holds(&[])
            .without(&[code])
    };
    let (early, late) = ("ANC.TIME_BEFORE_TERMINAL", "ANC.TOO_LATE");
    vec![
        at(
            "anc-time-before-terminal",
            defensible,
            "20250601090458Z",
            early,
            "the root was stamped before its run ended",
        ),
        met(
            "anc-time-before-terminal-met",
            "20250601090500Z",
            early,
            "within clock and accuracy of the end",
        ),
        at(
            "anc-too-late",
            defensible,
            "20250602090601Z",
            late,
            "a second more than a day after the end",
        ),
        case("anc-too-late-met", defensible, Nobody, ORDER, "a day after the end")
            .change(|r| {
                r.anchor("root").stamp(|stamp| stamp.time("20250602090600Z"));
                r.attest("/body/evaluation_time", "2025-06-03T00:00:00Z");
            })
            .holds(&[])
            .without(&[late]),
        case(
            "anc-too-late-attested-then",
            defensible,
            W,
            ORDER,
            "an hour where half an hour may be",
        )
        .change(|r| r.policy("/required_anchors/0/max_delay_s", 1800))
        .indefensible(&[late]),
        case(
            "anc-no-trusted-time",
            cosigned,
            E,
            "gad.policy/1 time_sources",
            "cosignatures that the policy doesn't take for time",
        )
        .change(|r| r.policy("/time_sources", json!(["rfc3161"])))
        .indefensible(&["ANC.NO_TRUSTED_TIME"]),
        case(
            "anc-no-trusted-time-log",
            logged,
            N,
            "gad.policy/1 time_sources",
            "a log inclusion alone proves no time",
        )
        .change(|r| r.anchor("root").logged(|logged| logged.tokens.clear()))
        .indefensible(&["ANC.NO_TRUSTED_TIME"]),
        case("anc-log-late-token", logged, W, ORDER, "the token over the checkpoint is too late")
            .change(|r| {
                r.anchor("root").logged(|logged| {
                    logged.tokens = vec![Box::new(|stamp| stamp.time("20250603090000Z"))];
                });
            })
            .indefensible(&[late]),
        case(
            "anc-log-earliest-token",
            logged,
            Nobody,
            ORDER,
            "the earliest of two tokens is the time",
        )
        .change(|r| {
            r.anchor("root").logged(|logged| {
                logged.tokens =
                    vec![Box::new(|stamp| stamp.time("20250603090000Z")), Box::new(|_| {})];
            });
            r.attest("/body/evaluation_time", "2025-06-04T00:00:00Z");
        })
        .holds(&[])
        .without(&[late]),
    ]
}

fn commitments() -> Vec<Case> {
    // The first dispatch is of 09:01:00.
    let at = |name, base, time: &'static str, why| {
        case(name, base, W, ORDER, why)
            .change(|r| r.anchor("plan").stamp(move |stamp| stamp.time(time)))
    };
    // Of a record that claims nothing in words: a claim of bounded precedence has no support then.
    let unclaimed = |name, base, time: &'static str, why| {
        case(name, base, W, ORDER, why).change(|r| {
            r.claims = None;
            r.policy("/required_anchors/1/when", "always");
            r.anchor("plan").stamp(move |stamp| stamp.time(time));
        })
    };
    let late = "ANC.PRECOMMIT_LATE";
    vec![
        unclaimed(
            "anc-precommit-late",
            committed_weakly,
            "20250601090100Z",
            "its accuracy reaches past the first dispatch",
        )
        .indefensible(&[late]),
        at(
            "anc-precommit-met",
            committed_weakly,
            "20250601090059Z",
            "right up to the first dispatch",
        )
        .holds(&[])
        .without(&[late]),
        unclaimed(
            "anc-precommit-bound-late",
            committed,
            "20250601090202Z",
            "bound, and over a minute after the dispatch's own time",
        )
        .indefensible(&[late]),
        at(
            "anc-precommit-bound-met",
            committed,
            "20250601090201Z",
            "bound, and within clock and accuracy",
        )
        .holds(&[])
        .without(&[late, "ANC.PRECOMMIT_UNBOUND"]),
        case("anc-precommit-unbound", committed, A, ORDER, "the dispatch names another token")
            .change(|r| r.set("d-s", "/precommit_digest", "@sha256:another token"))
            .indefensible(&["ANC.PRECOMMIT_UNBOUND"]),
        case("anc-precommit-unbound-absent", committed, A, ORDER, "the dispatch names no token")
            .change(|r| r.unset("d-s", "/precommit_digest"))
            .indefensible(&["ANC.PRECOMMIT_UNBOUND"]),
        case(
            "anc-precommit-required",
            committed,
            E,
            EQ7,
            "bounded precedence is claimed, the commitment is in a log without time",
        )
        .change(|r| {
            r.claims = None;
            r.anchors.pop();
            r.anchors.push(Anchor::log("plan", "plan_commitment", "plan", |logged| {
                logged.tokens.clear();
            }));
            r.policy("/required_anchors/1/rule", "before_first_dispatch");
        })
        .indefensible(&["ANC.NO_TRUSTED_TIME"]),
        case(
            "anc-precommit-not-claimed",
            defensible,
            Nobody,
            "gad.policy/1 when",
            "nobody claims bounded precedence",
        )
        .change(|r| {
            r.policy(
                "/required_anchors/-",
                json!({
                    "kind": "plan_commitment", "types": ["rfc3161"], "min_distinct_operators": 1,
                    "when": "bounded_precedence_claimed", "rule": "bound_in_dispatch",
                }),
            );
        })
        .holds(&["NOTE.RECORDED_ONLY"])
        .without(&["ANC.REQUIRED_MISSING"]),
        case(
            "anc-precommit-always",
            defensible,
            E,
            "gad.policy/1 when",
            "a commitment is asked for whatever is claimed",
        )
        .change(|r| {
            r.policy(
                "/required_anchors/-",
                json!({
                    "kind": "plan_commitment", "types": ["rfc3161"], "min_distinct_operators": 1,
                    "when": "always", "rule": "before_first_dispatch",
                }),
            );
        })
        .indefensible(&["ANC.REQUIRED_MISSING"]),
        case("anc-precommit-in-log", committed, Nobody, "S9", "a commitment in a log")
            .change(|r| {
                r.anchors.pop();
                r.anchors.push(Anchor::log("plan", "plan_commitment", "plan", |logged| {
                    logged.tokens = vec![Box::new(|stamp| stamp.time("20250601090030Z"))];
                }));
            })
            .holds(&[])
            .without(&["ANC.PRECOMMIT_UNBOUND", "NOTE.RECORDED_ONLY"]),
    ]
}
