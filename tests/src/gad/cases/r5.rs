//! R5: probes of what the worker wrote.

use serde_json::{Value as Json, json};

use crate::gad::Case;
use crate::gad::Level::{C, E, Nobody};
use crate::gad::base::runs::probed;
use crate::gad::case::case;
use crate::gad::entries::probe;

const RULE: &str = "A2 R5, eq (3)";
const BELOW: &str = "R4.CLASS_BELOW";

pub(super) fn cases() -> Vec<Case> {
    let set = |name, pointer, value: Json, code, why| {
        case(name, probed, E, RULE, why)
            .change(|r| r.set("probe", pointer, value))
            .invalid(&[code, BELOW])
    };
    vec![
        case("r5-absent", probed, E, RULE, "no probe shows that the test can fail")
            .change(|r| r.drop(&["probe"]))
            .invalid(&["R5.ABSENT", BELOW]),
        case("r5-order", probed, E, RULE, "the probe after the verdict")
            .change(|r| r.move_before("probe", "done"))
            .invalid(&["R5.ORDER", BELOW]),
        set(
            "r5-artifact",
            "/signal_artifact_digest",
            json!("@sha256:another program"),
            "R5.ARTIFACT",
            "another program was probed",
        ),
        set(
            "r5-env",
            "/environment_digest",
            json!("@sha256:elsewhere"),
            "R5.ENV",
            "probed elsewhere",
        ),
        set(
            "r5-result",
            "/demonstrated_result",
            json!("pass"),
            "R5.RESULT",
            "the test passed with the defect in place",
        ),
        set(
            "r5-restoration-failed",
            "/restoration",
            json!("failed"),
            "R5.RESTORATION",
            "the defect is still there",
        ),
        set(
            "r5-restoration-unverified",
            "/restoration",
            json!("unverified"),
            "R5.RESTORATION",
            "nobody looked",
        ),
        set("r5-not-spawned", "/spawned", json!(false), "R5.NOT_FIRED", "nothing ran"),
        set("r5-exit-zero", "/exit_code", json!(0), "R5.NOT_FIRED", "a failure with exit code 0"),
        set(
            "r5-exit-null",
            "/exit_code",
            json!(null),
            "R5.NOT_FIRED",
            "a failure without an exit code",
        ),
        set("r5-output-null", "/output_digest", json!(null), "R5.NOT_FIRED", "no output"),
        set(
            "r5-output-empty",
            "/output_digest",
            json!("@sha256:"),
            "R5.NOT_FIRED",
            "the output is no bytes",
        ),
        case("r5-sig", probed, C, RULE, "a probe by a stranger")
            .change(|r| r.entry("probe").signer = Some("stranger"))
            .invalid(&["R5.SIG", "R1.ISSUER.KEY_UNREGISTERED"]),
        case(
            "r5-second-probe",
            probed,
            Nobody,
            RULE,
            "one probe that doesn't match and one that does",
        )
        .change(|r| {
            r.before("probe", [probe("other").with("/environment_digest", "@sha256:elsewhere")]);
        })
        .holds(&[])
        .without(&["R5.ENV", "R5.ABSENT"]),
        case("r5-between-sessions", probed, Nobody, RULE, "a probe right before the verdict")
            .change(|r| r.move_before("probe", "v"))
            .holds(&[])
            .without(&["R5.ORDER", "R3.PROBE.POSITION"]),
        case(
            "r5-attested-floor",
            probed,
            Nobody,
            RULE,
            "without a probe the verdict is attested, which this plan accepts",
        )
        .change(|r| {
            r.drop(&["probe"]);
            r.plan("/N/0/c_min", "attested");
        })
        .holds(&["R5.ABSENT", "LVL.GAD2_ATTESTED"])
        .without(&[BELOW])
        .status(|status| status.level = Some(1)),
        case("r5-negative-exit", probed, Nobody, RULE, "killed by a signal is a failure as well")
            .change(|r| r.set("probe", "/exit_code", -6))
            .holds(&[])
            .without(&["R5.NOT_FIRED"]),
    ]
}
