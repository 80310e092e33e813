//! OUT, SAT, LVL and the notes.

use serde_json::json;

use crate::gad::Case;
use crate::gad::Level::{E, Nobody, W};
use crate::gad::base::envelopes::{committed, defensible, headed, unanchored};
use crate::gad::base::runs::{attested, minimal, noticed, testimony, tripped};
use crate::gad::base::sessions::{snapshot, three_nodes};
use crate::gad::case::case;

pub(super) fn cases() -> Vec<Case> {
    vec![
        case(
            "out-invalid",
            minimal,
            E,
            "A2 OUTCOME",
            "what isn't valid has no outcome and satisfies nothing",
        )
        .change(|r| r.set("v", "/exit_code", 1))
        .invalid(&["OUT.INVALID", "SAT.INVALID"])
        .without(&["SAT.NOT_COMPLETED", "OUT.INCOMPLETE"]),
        case(
            "out-incomplete-satisfied",
            snapshot,
            Nobody,
            "eq (6)",
            "a snapshot is not satisfied, when that is asked",
        )
        .change(|r| r.inputs.require = "satisfied")
        .holds(&["SAT.NOT_COMPLETED", "OUT.INCOMPLETE"])
        .status(|status| status.exit = 1),
        case(
            "sat-halted",
            tripped,
            Nobody,
            "eq (6)",
            "a halted plan is not satisfied, when that is asked",
        )
        .change(|r| r.inputs.require = "satisfied")
        .holds(&["SAT.NOT_COMPLETED"])
        .status(|status| status.exit = 1),
        case("sat-completed", minimal, Nobody, "eq (6)", "a completed one is")
            .change(|r| r.inputs.require = "satisfied")
            .holds(&[])
            .without(&["SAT.NOT_COMPLETED"]),
        case("lvl-gad1", minimal, E, "S8", "a dispatch without its three entries")
            .change(|r| r.drop(&["x-s", "r-s", "v", "said"]))
            .invalid(&["LVL.GAD1"])
            .status(|status| status.level = Some(0)),
        case("lvl-gad2-attested", attested, Nobody, "S8", "one attested test among others")
            .change(|r| r.plan("/N/0/desc", "attested on purpose"))
            .holds(&["LVL.GAD2_ATTESTED"]),
        case("lvl-gad2-testimony", testimony, Nobody, "S8", "testimony is named as such")
            .change(|r| r.plan("/N/0/desc", "testimony on purpose"))
            .holds(&["LVL.GAD2_TESTIMONY"])
            .without(&["LVL.GAD2_ATTESTED"]),
        case("lvl-gad4-asked", defensible, Nobody, "S8", "level 4, when that is asked")
            .change(|r| r.inputs.require = "gad4")
            .holds(&[])
            .without(&["LVL.GAD4_NO_POST_RUN", "LVL.GAD4_NO_PRECOMMIT"]),
        case(
            "lvl-gad4-no-post-run",
            unanchored,
            Nobody,
            "S8",
            "defensible without an anchor isn't level 4",
        )
        .change(|r| r.inputs.require = "gad4")
        .holds(&["LVL.GAD4_NO_POST_RUN"])
        .status(|status| status.exit = 1),
        case("lvl-gad4-no-post-run-head", headed, Nobody, "S8", "a head's anchor isn't the root's")
            .change(|r| {
                r.anchors.remove(0);
                r.policy("/required_anchors", json!([]));
                r.inputs.require = "gad4";
            })
            .holds(&["LVL.GAD4_NO_POST_RUN"])
            .without(&["NOTE.UNANCHORED"])
            .status(|status| {
                status.exit = 1;
                status.level = Some(3);
            }),
        case(
            "lvl-gad4-no-precommit",
            committed,
            E,
            "S8",
            "the dispatch is bound to a commitment that isn't there",
        )
        .change(|r| {
            r.claims = None;
            r.anchors.remove(1);
            r.set("d-s", "/precommit_digest", "@sha256:a token nobody has");
            r.policy("/required_anchors", json!([]));
            r.inputs.require = "gad4";
        })
        .holds(&["LVL.GAD4_NO_PRECOMMIT"])
        .status(|status| {
            status.exit = 1;
            status.level = Some(3);
        }),
        case(
            "lvl-gad4-late-commitment",
            committed,
            W,
            "S8, S9",
            "the commitment comes after the first dispatch, and no requirement asks about it",
        )
        .change(|r| {
            r.claims = None;
            r.anchor("plan").stamp(|stamp| stamp.time("20250601090202Z"));
            r.policy("/required_anchors", json!([]));
            r.inputs.require = "gad4";
        })
        .holds(&["LVL.GAD4_NO_PRECOMMIT", "NOTE.RECORDED_ONLY"])
        .status(|status| {
            status.exit = 1;
            status.level = Some(3);
        }),
        case("note-snapshot-final", minimal, Nobody, "S3", "a final record is no snapshot")
            .holds(&["NOTE.UNANCHORED", "NOTE.RECORDED_ONLY"])
            .without(&["NOTE.SNAPSHOT", "NOTE.NOTICE", "NOTE.ATTRIBUTION_PROXY", "NOTE.RELATIVE"]),
        case(
            "note-attribution",
            three_nodes,
            Nobody,
            "RUL-8",
            "a session over several nodes is noted",
        )
        .holds(&["NOTE.ATTRIBUTION_PROXY"])
        .without(&["POL.SESSION_NODES"]),
        case("note-notice", noticed, Nobody, "S2", "a notice is noted")
            .holds(&["NOTE.NOTICE"])
            .without(&["POL.NOTICE"]),
        case(
            "note-unanchored-policy",
            unanchored,
            Nobody,
            "S1",
            "a policy anchors nothing by itself",
        )
        .holds(&["NOTE.UNANCHORED", "NOTE.RELATIVE", "POL.VACUOUS"])
        .without(&["ANC.REQUIRED_MISSING"]),
    ]
}
