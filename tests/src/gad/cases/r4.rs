//! R4: verdicts.

use serde_json::{Value as Json, json};

use crate::gad::Case;
use crate::gad::Level::{E, Nobody};
use crate::gad::base::runs::{attested, minimal, retried};
use crate::gad::base::sessions::{three_nodes, two_nodes};
use crate::gad::case::case;

const FORM: &str = "A2 R4";
const CLASS: &str = "A2 R4, eq (3)";

pub(super) fn cases() -> Vec<Case> {
    let mut list = forms();
    list.extend(frozen());
    list.extend(reliance());
    list
}

fn set(name: &str, pointer: &str, value: Json, code: &'static str, why: &'static str) -> Case {
    case(name, minimal, E, FORM, why).change(|r| r.set("v", pointer, value)).invalid(&[code])
}

fn gone(name: &str, pointer: &str, code: &'static str) -> Case {
    case(name, minimal, E, FORM, "a member that R4 asks for is absent")
        .change(|r| r.unset("v", pointer))
        .invalid(&[code])
}

fn forms() -> Vec<Case> {
    let engine = "authenticated_engine_observation";
    vec![
        set(
            "r4-result-unavailable",
            "/result",
            json!("unavailable"),
            "R4.RESULT",
            "unavailable has to be written fail",
        ),
        gone("r4-result-absent", "/result", "R4.RESULT"),
        set(
            "r4-capture-unknown",
            "/capture",
            json!("remote_capture"),
            "R4.CAPTURE",
            "no such capture",
        ),
        gone("r4-capture-absent", "/capture", "R4.CAPTURE"),
        set(
            "r4-layers-unknown",
            "/observation_layers",
            json!(["seen"]),
            "R4.LAYERS",
            "no such layer",
        ),
        set(
            "r4-layers-twice",
            "/observation_layers",
            json!([engine, engine]),
            "R4.LAYERS",
            "a layer twice",
        ),
        set(
            "r4-layers-text",
            "/observation_layers",
            json!(engine),
            "R4.LAYERS",
            "a text where a set belongs",
        ),
        gone("r4-layers-absent", "/observation_layers", "R4.LAYERS"),
        set("r4-signal-unknown", "/signal_kind", json!("rumour"), "R4.SIGNAL", "no such signal"),
        gone("r4-signal-absent", "/signal_kind", "R4.SIGNAL"),
        gone("r4-digest-artifact", "/signal_artifact_digest", "R4.DIGESTS"),
        gone("r4-digest-subject", "/subject_artifact_digest", "R4.DIGESTS"),
        gone("r4-digest-environment", "/environment_digest", "R4.DIGESTS"),
        gone("r4-digest-stdout", "/stdout_digest", "R4.DIGESTS"),
        gone("r4-digest-stderr", "/stderr_digest", "R4.DIGESTS"),
        gone("r4-digest-spec", "/test_spec_digest", "R4.DIGESTS"),
        set(
            "r4-engine-identity",
            "/engine_identity",
            json!("@key:approver"),
            "R4.ENGINE_IDENTITY",
            "another engine is named",
        ),
        gone("r4-engine-identity-absent", "/engine_identity", "R4.ENGINE_IDENTITY"),
        set(
            "r4-class-declared",
            "/effective_class",
            json!("proxy"),
            "R4.CLASS_DECLARED",
            "a class is declared",
        ),
        set(
            "r4-class-declared-evidence",
            "/evidence_class",
            json!("attested"),
            "R4.CLASS_DECLARED",
            "a class is declared",
        ),
        set(
            "r4-class-declared-short",
            "/class",
            json!("engine_observed"),
            "R4.CLASS_DECLARED",
            "a class is declared, even the right one",
        ),
    ]
}

fn frozen() -> Vec<Case> {
    let none: Json = json!([]);
    vec![
        set(
            "r4-frozen-capture",
            "/capture",
            json!("attested_capture"),
            "R4.SIGNAL_FROZEN",
            "another capture than frozen",
        ),
        set(
            "r4-frozen-layers",
            "/observation_layers",
            none,
            "R4.SIGNAL_FROZEN",
            "other layers than frozen",
        ),
        set(
            "r4-frozen-signal",
            "/signal_kind",
            json!("worker_authored_proxy"),
            "R4.SIGNAL_FROZEN",
            "another signal than frozen",
        ),
        set(
            "r4-spec-digest",
            "/test_spec_digest",
            json!("@sha256:another test"),
            "R4.SPEC_DIGEST",
            "another test than frozen",
        ),
        case("r4-contradiction", minimal, E, "P1 observables", "pass with the wrong exit code")
            .change(|r| r.set("v", "/exit_code", 1))
            .invalid(&["R4.CONTRADICTION"]),
        case("r4-contradiction-null", minimal, E, "P1 observables", "pass without an exit code")
            .change(|r| r.set("v", "/exit_code", json!(null)))
            .invalid(&["R4.CONTRADICTION"]),
        case(
            "r4-expected-nonzero",
            minimal,
            Nobody,
            "P1 observables",
            "a test that has to exit with 3, and does",
        )
        .change(|r| {
            r.plan("/N/0/T/0/spec/expect/exit_code", 3);
            r.set("v", "/exit_code", 3);
        })
        .holds(&[])
        .without(&["R4.CONTRADICTION"]),
        case("r4-fail-with-zero", retried, Nobody, "P1 observables", "fail may have any exit code")
            .change(|r| r.set("v", "/exit_code", 0))
            .holds(&[])
            .without(&["R4.CONTRADICTION"]),
        case(
            "r4-custody",
            minimal,
            E,
            "eq (3)",
            "an authenticated observation, custody not disclosed",
        )
        .change(|r| r.plan("/authorized_principals/0/custody_statement", ""))
        .invalid(&["R4.CUSTODY"]),
        case(
            "r4-custody-attested",
            attested,
            Nobody,
            "eq (3)",
            "an attested test asks for no custody",
        )
        .change(|r| r.plan("/authorized_principals/0/custody_statement", ""))
        .holds(&[])
        .without(&["R4.CUSTODY"]),
    ]
}

fn reliance() -> Vec<Case> {
    vec![
        case("r4-pass-missing", minimal, E, CLASS, "completed on a failing test")
            .change(|r| {
                r.set("v", "/result", "fail");
                r.set("v", "/exit_code", 1);
            })
            .invalid(&["R4.PASS_MISSING", "R3.COMPLETED.UNSATISFIED"]),
        case("r4-pass-missing-attempt", retried, E, CLASS, "only the attempt before passed")
            .change(|r| {
                r.drop(&["v2"]);
            })
            .invalid(&["R4.PASS_MISSING"]),
        case(
            "r4-pass-missing-dependency",
            two_nodes,
            E,
            CLASS,
            "a node is built on one that failed",
        )
        .change(|r| {
            r.set("va", "/result", "fail");
            r.set("va", "/exit_code", 2);
        })
        .invalid(&["R4.PASS_MISSING", "R3.DISPATCH.DEPS"]),
        case(
            "r4-pass-missing-one-of-three",
            three_nodes,
            E,
            CLASS,
            "one of three nodes wasn't judged",
        )
        .change(|r| r.drop(&["vb"]))
        .invalid(&["R4.PASS_MISSING"]),
        case("r4-class-below", attested, E, CLASS, "attested evidence under a floor of proxy")
            .change(|r| r.plan("/N/0/c_min", "proxy"))
            .invalid(&["R4.CLASS_BELOW", "R3.COMPLETED.UNSATISFIED"]),
        case(
            "r4-class-below-engine",
            attested,
            E,
            CLASS,
            "attested evidence under a floor of engine_observed",
        )
        .change(|r| r.plan("/N/0/c_min", "engine_observed"))
        .invalid(&["R4.CLASS_BELOW"]),
        case(
            "r4-class-below-no-layer",
            minimal,
            E,
            CLASS,
            "engine capture with no layer holding is attested",
        )
        .change(|r| {
            r.plan("/N/0/T/0/spec/observation_layers", json!([]));
            r.set("v", "/observation_layers", json!([]));
        })
        .invalid(&["R4.CLASS_BELOW"]),
        case(
            "r4-class-below-replayable",
            minimal,
            E,
            CLASS,
            "a layer nobody exercised holds nothing up",
        )
        .change(|r| {
            let layers = || json!(["independently_replayable"]);
            r.plan("/N/0/T/0/spec/observation_layers", layers());
            r.set("v", "/observation_layers", layers());
        })
        .invalid(&["R4.CLASS_BELOW"]),
        case("r4-class-above", minimal, Nobody, CLASS, "evidence above its floor")
            .change(|r| r.plan("/N/0/c_min", "attested"))
            .holds(&[])
            .without(&["R4.CLASS_BELOW", "LVL.GAD2_ATTESTED"]),
    ]
}
