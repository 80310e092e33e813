//! R2: recorded precedence and the clock.

use serde_json::json;

use crate::gad::Case;
use crate::gad::Level::{A, C, E, Nobody, W};
use crate::gad::base::envelopes::{committed, defensible, headed};
use crate::gad::base::runs::minimal;
use crate::gad::case::case;
use crate::gad::entries::{Entry, freeze};
use crate::gad::record::take;

const RULE: &str = "A2 R2";
const CLOCK: &str = "A2 R2 clock policy";

pub(super) fn cases() -> Vec<Case> {
    let again = || Entry { label: "freeze2".into(), ..freeze() };
    vec![
        case("r2-freeze-missing", minimal, E, RULE, "nothing froze the plan")
            .change(|r| r.drop(&["freeze"]))
            .invalid(&["R2.FREEZE.MISSING"]),
        case("r2-freeze-dup", minimal, E, RULE, "the plan was frozen twice")
            .change(|r| r.behind("said", [again()]))
            .invalid(&["R2.FREEZE.DUP"]),
        case("r2-freeze-dup-first", minimal, E, RULE, "frozen twice before anything else")
            .change(|r| r.behind("freeze", [again()]))
            .invalid(&["R2.FREEZE.DUP"]),
        case("r2-freeze-not-first", minimal, E, RULE, "a checkpoint before the freeze")
            .change(|r| {
                r.before("freeze", [crate::gad::entries::probe("early")]);
            })
            .invalid(&["R2.FREEZE.NOT_FIRST"]),
        case(
            "r2-freeze-after-dispatch",
            minimal,
            E,
            RULE,
            "the plan was frozen after the work began",
        )
        .change(|r| r.move_before("freeze", "x-s"))
        .invalid(&["R2.FREEZE.AFTER_DISPATCH", "R2.FREEZE.NOT_FIRST"]),
        case("r2-freeze-hash", minimal, E, RULE, "the freeze states the hash of another plan")
            .change(|r| r.set("freeze", "/hash", "@sha256:another plan"))
            .invalid(&["R2.FREEZE.HASH"]),
        case("r2-freeze-hash-absent", minimal, E, RULE, "the freeze states no hash")
            .change(|r| r.unset("freeze", "/hash"))
            .invalid(&["R2.FREEZE.HASH"]),
        case("r2-freeze-embed", minimal, E, RULE, "the embedded plan isn't the plan")
            .change(|r| {
                let mut plan = r.plan.clone();
                plan["N"][0]["B"] = json!(7);
                r.set("freeze", "/plan", plan);
            })
            .invalid(&["R2.FREEZE.EMBED"]),
        case("r2-freeze-embed-absent", minimal, E, RULE, "no plan is embedded")
            .change(|r| r.unset("freeze", "/plan"))
            .invalid(&["R2.FREEZE.EMBED"]),
        case("r2-plan-swapped", minimal, C, RULE, "plan.json was replaced after the run")
            .change(|r| r.replace("core/plan.json", "\"B\":1", "\"B\":2"))
            .invalid(&["R2.FREEZE.HASH", "R2.FREEZE.EMBED"]),
        case("r2-clock-undeclared", minimal, E, CLOCK, "no clock policy")
            .change(|r| take(&mut r.plan, "/meta/clock_policy"))
            .invalid(&["R2.CLOCK.UNDECLARED"]),
        case("r2-clock-half", minimal, E, CLOCK, "half a clock policy")
            .change(|r| take(&mut r.plan, "/meta/clock_policy/max_backstep_s"))
            .invalid(&["R2.CLOCK.UNDECLARED"]),
        case("r2-clock-backstep", minimal, E, CLOCK, "six seconds back where five may be")
            .change(|r| r.entry("said").t = Some("2025-06-01T09:02:54Z".into()))
            .invalid(&["R2.CLOCK.BACKSTEP"]),
        case(
            "r2-clock-backstep-met",
            minimal,
            Nobody,
            CLOCK,
            "five seconds back where five may be",
        )
        .change(|r| r.entry("said").t = Some("2025-06-01T09:02:55Z".into()))
        .holds(&[])
        .without(&["R2.CLOCK.BACKSTEP"]),
        case(
            "r2-clock-anchor",
            headed,
            A,
            "S9 anchors",
            "an entry after the anchor that covers it",
        )
        .change(|r| {
            // The head's anchor is of 10:30:00, accuracy 1 s, skew 120 s.
            r.entry("v").t = Some("2025-06-01T10:32:02Z".into());
        })
        .indefensible(&["R2.CLOCK.ANCHOR_CONTRADICTION"]),
        case(
            "r2-clock-anchor-met",
            headed,
            Nobody,
            "S9 anchors",
            "as late as clock and accuracy allow",
        )
        .change(|r| r.entry("v").t = Some("2025-06-01T10:32:01Z".into()))
        .holds(&[])
        .without(&["R2.CLOCK.ANCHOR_CONTRADICTION"]),
        case(
            "r2-clock-root-anchor",
            defensible,
            A,
            "S9 anchors",
            "entries after the root's anchor",
        )
        .change(|r| r.anchor("root").stamp(|stamp| stamp.time("20250601090400Z")))
        .indefensible(&["R2.CLOCK.ANCHOR_CONTRADICTION"]),
        case(
            "r2-label-bounded",
            committed,
            E,
            "S9, R9",
            "bounded precedence claimed, the commitment is by a stranger",
        )
        .change(|r| {
            r.anchor("plan").stamp(|stamp| {
                stamp.by(&crate::gad::trust::PKI.tsa_x);
            });
        })
        .invalid(&["R2.LABEL.BOUNDED"]),
        case(
            "r2-label-bounded-absent",
            committed,
            E,
            "S9, R9",
            "bounded precedence claimed and no commitment",
        )
        .change(|r| {
            r.anchors.remove(1);
            r.unset("d-s", "/precommit_digest");
        })
        .invalid(&["R2.LABEL.BOUNDED", "R9.EVIDENCE_REF"]),
        case(
            "r2-label-bounded-late",
            committed,
            W,
            "S9, R9",
            "bounded precedence claimed, the commitment comes after the first dispatch",
        )
        .change(|r| {
            r.anchor("plan").stamp(|stamp| stamp.time("20250601090202Z"));
            r.policy("/required_anchors", json!([]));
        })
        .invalid(&["R2.LABEL.BOUNDED"]),
        case(
            "r2-unclaimed-commitment",
            committed,
            Nobody,
            "S9",
            "a commitment that no typed claim names",
        )
        .change(|r| r.claims = None)
        .holds(&[])
        .without(&["R2.LABEL.BOUNDED", "NOTE.RECORDED_ONLY"]),
    ]
}
