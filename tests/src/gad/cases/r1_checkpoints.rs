//! R1: checkpoints cover everything that nobody signs.

use serde_json::json;

use crate::gad::Case;
use crate::gad::Level::{C, E, Nobody};
use crate::gad::base::runs::{minimal, noticed};
use crate::gad::base::sessions::periodic;
use crate::gad::case::case;
use crate::gad::entries::checkpoint;

const RULE: &str = "S2 checkpoint, A2 R1";

pub(super) fn cases() -> Vec<Case> {
    let range = |name, base, label: &'static str, range: serde_json::Value, code, why| {
        case(name, base, E, RULE, why).change(|r| r.set(label, "/range", range)).invalid(&[code])
    };
    vec![
        case("r1-ckpt-none", minimal, C, RULE, "no checkpoint at all")
            .change(|r| r.drop(&["seal"]))
            .invalid(&["R1.CKPT.NONE", "R1.CKPT.NO_FINAL"]),
        range(
            "r1-ckpt-range-reversed",
            periodic,
            "c2",
            json!([3, 1]),
            "R1.CKPT.RANGE_FORM",
            "a range backwards",
        ),
        range(
            "r1-ckpt-range-three",
            periodic,
            "c2",
            json!([1, 2, 3]),
            "R1.CKPT.RANGE_FORM",
            "three bounds",
        ),
        range(
            "r1-ckpt-range-text",
            periodic,
            "c2",
            json!(["1", "3"]),
            "R1.CKPT.RANGE_FORM",
            "bounds as texts",
        ),
        range(
            "r1-ckpt-range-negative",
            periodic,
            "c2",
            json!([-1, 3]),
            "R1.CKPT.RANGE_FORM",
            "a bound below zero",
        ),
        range(
            "r1-ckpt-covers-self",
            minimal,
            "seal",
            json!([0, 7]),
            "R1.CKPT.COVERS_SELF",
            "it covers itself",
        ),
        range(
            "r1-ckpt-leaves-tail",
            minimal,
            "seal",
            json!([0, 5]),
            "R1.CKPT.COVERS_SELF",
            "the tail is left out",
        ),
        range(
            "r1-ckpt-gap",
            periodic,
            "c2",
            json!([2, 3]),
            "R1.CKPT.GAP",
            "the first entry since the last is left out",
        ),
        range(
            "r1-ckpt-gap-first",
            minimal,
            "seal",
            json!([1, 6]),
            "R1.CKPT.GAP",
            "the first range doesn't start at 0",
        ),
        range("r1-ckpt-overlap", periodic, "c2", json!([0, 3]), "R1.CKPT.OVERLAP", "covered again"),
        case("r1-ckpt-digest", minimal, E, RULE, "a digest over other hashes")
            .change(|r| r.set("seal", "/digest_over_range", "@sha256:other hashes"))
            .invalid(&["R1.CKPT.DIGEST"]),
        case("r1-ckpt-head", minimal, E, RULE, "the head of an earlier entry")
            .change(|r| r.set("seal", "/head", "@h:v"))
            .invalid(&["R1.CKPT.DIGEST"]),
        case(
            "r1-ckpt-uncovered",
            periodic,
            E,
            RULE,
            "a checkpoint over the claim is unsound, so it is uncovered",
        )
        .change(|r| r.set("c3", "/digest_over_range", "@sha256:other hashes"))
        .invalid(&["R1.CKPT.UNCOVERED", "R1.CKPT.DIGEST"]),
        case(
            "r1-ckpt-uncovered-unauthentic",
            periodic,
            C,
            RULE,
            "a checkpoint by a stranger covers nothing",
        )
        .change(|r| r.entry("c3").signer = Some("stranger"))
        .invalid(&["R1.CKPT.UNCOVERED"]),
        case("r1-ckpt-no-final", periodic, E, RULE, "no checkpoint behind the terminal")
            .change(|r| r.drop(&["seal"]))
            .invalid(&["R1.CKPT.NO_FINAL", "R1.CKPT.NOT_AT_HEAD"]),
        case("r1-ckpt-not-at-head", noticed, E, RULE, "a notice is the last entry")
            .change(|r| r.drop(&["seal2"]))
            .invalid(&["R1.CKPT.NOT_AT_HEAD"])
            .without(&["R1.CKPT.NO_FINAL"]),
        case("r1-ckpt-policy-overlap", minimal, C, RULE, "an overlap policy nobody knows")
            .change(|r| r.manifest(|m| m["checkpoint_overlap"] = "allowed".into()))
            .invalid(&["R1.CKPT.POLICY"]),
        case("r1-ckpt-policy-coverage", minimal, C, RULE, "a coverage scheme nobody knows")
            .change(|r| r.manifest(|m| m["coverage_scheme"] = "trust_me".into()))
            .invalid(&["R1.CKPT.POLICY"]),
        case(
            "r1-ckpt-in-a-row",
            minimal,
            Nobody,
            RULE,
            "a checkpoint over nothing but a checkpoint",
        )
        .change(|r| r.behind("v", [checkpoint("c1"), checkpoint("c2")]))
        .holds(&[])
        .without(&["R1.CKPT.GAP", "R1.CKPT.OVERLAP"]),
        case("r1-ckpt-before-freeze", minimal, E, "gad.table/1", "a checkpoint over nothing")
            .change(|r| r.before("freeze", [checkpoint("c1").with("/range", json!([0, 0]))]))
            .invalid(&["R1.CKPT.COVERS_SELF"]),
    ]
}
