//! POL.*, HYG.* and NOTE.RELATIVE: the policy itself.

use serde_json::{Value as Json, json};

use crate::gad::Case;
use crate::gad::Level::{C, E, N, Nobody};
use crate::gad::base::envelopes::{defensible, sealed, unanchored};
use crate::gad::base::runs::{minimal, noticed, tripped};
use crate::gad::base::sessions::three_nodes;
use crate::gad::case::{Status, case};
use crate::gad::record::{Record, take};
use crate::gad::trust::attestation;

const POLICY: &str = "S2 trust policy, gad-formats 8";

pub(super) fn cases() -> Vec<Case> {
    let mut list = documents();
    list.extend(demands());
    list.extend(seals());
    list.extend(hygiene());
    list
}

/// A record under the usual policy, with anchor and attestation.
pub(super) fn under(mut r: Record, outcome: &'static str) -> Record {
    let full = defensible();
    r.anchors = full.anchors;
    r.policy = full.policy;
    r.inputs.require = "defensible";
    let mut q = attestation();
    q["body"]["predicate_results"] =
        json!({"valid": true, "outcome": outcome, "satisfied": outcome == "COMPLETED"});
    r.attestations = vec![q];
    r.status = Status { defensible: Some(true), level: Some(4), ..r.status };
    r
}

fn notice() -> Record {
    under(noticed(), "COMPLETED")
}

fn halted() -> Record {
    under(tripped(), "HALTED")
}

fn several() -> Record {
    under(three_nodes(), "COMPLETED")
}

fn documents() -> Vec<Case> {
    let form = |name, pointer: &str, value: Json, why| {
        case(name, defensible, N, POLICY, why)
            .change(|r| r.policy(pointer, value))
            .indefensible(&["POL.PARSE"])
            .status(|status| status.exit = 2)
    };
    let gone = |name, pointer| {
        case(name, defensible, N, POLICY, "a member of the policy is absent")
            .change(|r| take(r.policy.as_mut().expect("a policy"), pointer))
            .indefensible(&["POL.PARSE"])
            .status(|status| status.exit = 2)
    };
    let days = json!(86_401);
    vec![
        form(
            "pol-parse-unknown",
            "/expires",
            json!("2030-01-01T00:00:00Z"),
            "a policy never expires",
        ),
        form("pol-parse-schema", "/schema", json!("gad.policy/2"), "a policy of another version"),
        form("pol-parse-skew", "/clock/skew_s", days, "over a day of skew"),
        form("pol-parse-types", "/required_anchors/0/types", json!([]), "an anchor of no type"),
        form(
            "pol-parse-order",
            "/accept_outcomes",
            json!(["HALTED", "COMPLETED"]),
            "a set out of order",
        ),
        form("pol-parse-replay", "/replay", json!("some"), "a replay rule nobody knows"),
        form(
            "pol-parse-delay",
            "/required_anchors/0/rule",
            json!("bound_in_dispatch"),
            "a commitment's rule for a root",
        ),
        gone("pol-parse-no-time-sources", "/time_sources"),
        gone("pol-parse-no-delay", "/required_anchors/0/max_delay_s"),
        case("pol-parse-noncanonical", defensible, N, "gad-formats 1", "a policy with a space")
            .change(|r| r.replace("policy", "{", "{ "))
            .indefensible(&["POL.PARSE"])
            .status(|status| status.exit = 2),
        case("pol-hash", defensible, N, POLICY, "another policy than the caller expects")
            .change(|r| r.inputs.policy_hash = Some("@sha256:another policy"))
            .indefensible(&["POL.HASH"])
            .status(|status| status.exit = 2),
        case("pol-hash-met", defensible, Nobody, POLICY, "the policy the caller expects")
            .change(|r| r.inputs.policy_hash = Some("@policy"))
            .holds(&["NOTE.RELATIVE"])
            .without(&["POL.HASH"]),
        case("pol-unnamed", minimal, N, "S2", "defensible is asked for, under no policy")
            .change(|r| r.inputs.require = "defensible")
            .indefensible(&["POL.UNNAMED"])
            .without(&["NOTE.RELATIVE"]),
    ]
}

fn demands() -> Vec<Case> {
    let demand = |name, base: fn() -> Record, pointer: &str, value: Json, code, why| {
        case(name, base, E, POLICY, why).change(|r| r.policy(pointer, value)).indefensible(&[code])
    };
    vec![
        case("pol-no-roots", defensible, N, POLICY, "anchors are asked for and nobody is trusted")
            .change(|r| {
                r.policy("/tsa", json!([]));
                r.policy("/logs", json!(null));
            })
            .indefensible(&["POL.NO_ROOTS"]),
        demand(
            "pol-outcome",
            halted,
            "/accept_outcomes",
            json!(["COMPLETED"]),
            "POL.OUTCOME",
            "only completed runs",
        ),
        case("pol-outcome-met", halted, Nobody, POLICY, "a halted run is defensible as what it is")
            .holds(&["SAT.NOT_COMPLETED"])
            .without(&["POL.OUTCOME"]),
        case("pol-notice", notice, E, POLICY, "a notice, and the policy refuses notices")
            .indefensible(&["POL.NOTICE", "NOTE.NOTICE"]),
        case("pol-notice-allowed", notice, Nobody, POLICY, "a notice, and the policy accepts them")
            .change(|r| r.policy("/reject_with_notice", false))
            .holds(&["NOTE.NOTICE"])
            .without(&["POL.NOTICE"]),
        demand(
            "pol-session-nodes",
            several,
            "/require_single_node_sessions",
            json!(true),
            "POL.SESSION_NODES",
            "one node per session",
        ),
        case(
            "pol-session-nodes-met",
            several,
            Nobody,
            POLICY,
            "sessions over several nodes are accepted",
        )
        .holds(&["NOTE.ATTRIBUTION_PROXY"])
        .without(&["POL.SESSION_NODES"]),
        case("pol-unbound", defensible, C, POLICY, "an artifact that nothing names")
            .change(|r| {
                r.files.insert("artifacts/loose.txt".into(), b"loose".to_vec());
            })
            .indefensible(&["POL.UNBOUND", "R1.ARTIFACT.UNBOUND"]),
        case("pol-unbound-allowed", defensible, Nobody, POLICY, "loose artifacts are accepted")
            .change(|r| {
                r.files.insert("artifacts/loose.txt".into(), b"loose".to_vec());
                r.policy("/require_bound_artifacts", false);
            })
            .holds(&["R1.ARTIFACT.UNBOUND"])
            .without(&["POL.UNBOUND"]),
        demand(
            "pol-layers",
            defensible,
            "/accepted_layers",
            json!(["runtime_attestation"]),
            "POL.LAYERS",
            "another layer is asked for",
        ),
        demand(
            "pol-layers-none",
            defensible,
            "/accepted_layers",
            json!([]),
            "POL.LAYERS",
            "no layer is accepted",
        ),
        case("pol-vacuous", unanchored, Nobody, "eq (7), S8", "nothing is asked for")
            .holds(&["POL.VACUOUS"])
            .without(&["POL.NO_ROOTS"]),
        case(
            "pol-vacuous-nobody-trusted",
            unanchored,
            Nobody,
            "eq (7), S8",
            "nothing is asked for and nobody is trusted",
        )
        .change(|r| {
            r.policy("/tsa", json!([]));
            r.policy("/logs", json!(null));
        })
        .holds(&["POL.VACUOUS"])
        .without(&["POL.NO_ROOTS"]),
    ]
}

fn seals() -> Vec<Case> {
    let seal = |name, pointer: &'static str, value: &'static str, why| {
        case(name, sealed, E, "gad-formats 6 operator_seal", why)
            .change(|r| {
                let seal = r.operator_seal.as_mut().expect("a seal");
                crate::gad::record::put(seal, pointer, value.into());
            })
            .indefensible(&["POL.SEAL"])
    };
    vec![
        case("pol-seal-absent", sealed, N, "gad-formats 6 operator_seal", "no seal")
            .change(|r| r.operator_seal = None)
            .indefensible(&["POL.SEAL"]),
        seal("pol-seal-key", "/@sign", "stranger", "signed by another key"),
        seal("pol-seal-root", "/body/root_core", "@sha256:another core", "over another core"),
        seal("pol-seal-plan", "/body/plan_hash", "@sha256:another plan", "for another plan"),
        seal("pol-seal-type", "/body/type", "attestation", "a signed object of another type"),
        case(
            "pol-seal-not-asked",
            sealed,
            Nobody,
            "gad-formats 6 operator_seal",
            "a bad seal that nobody asks for is told of, and fails nothing",
        )
        .change(|r| {
            r.policy("/require_operator_seal", false);
            let seal = r.operator_seal.as_mut().expect("a seal");
            crate::gad::record::put(seal, "/@sign", "stranger".into());
        })
        .holds(&["POL.SEAL"]),
    ]
}

fn hygiene() -> Vec<Case> {
    let member = |base, name, bytes: Vec<u8>, why| {
        case(name, base, C, "S9 REG-38", why).change(|r: &mut Record| {
            r.files.insert("artifacts/debug.log".into(), bytes);
            r.set("v", "/stdout_digest", "@sha:artifacts/debug.log");
        })
    };
    let seed = crate::gad::render::seed_file;
    let hex = |label| {
        let digits: String = seed(label).iter().map(|byte| format!("{byte:02x}")).collect();
        digits.into_bytes()
    };
    let code = "HYG.KEY_MATERIAL";
    let der =
        [&b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20"[..], &seed("nobody")]
            .concat();
    let pem = pem_rfc7468::encode_string("PRIVATE KEY", pem_rfc7468::LineEnding::LF, &der);
    let pem = pem.expect("PEM").into_bytes();
    let defensible: fn() -> Record = defensible;
    vec![
        member(defensible, "hyg-seed", seed("engine"), "the engine's seed").indefensible(&[code]),
        member(defensible, "hyg-seed-hex", hex("approver"), "the approver's seed in hexadecimal")
            .indefensible(&[code]),
        member(
            defensible,
            "hyg-seed-base64",
            {
                let mut text = anchorlog_proto::encoding::base64_encode(&seed("operator"));
                text.push('\n');
                text.into_bytes()
            },
            "the operator's seed in base64",
        )
        .indefensible(&[code]),
        member(defensible, "hyg-pem", pem.clone(), "a private key nobody registered, in PEM")
            .indefensible(&[code]),
        member(defensible, "hyg-der", der, "a private key nobody registered, in DER")
            .indefensible(&[code]),
        member(minimal, "hyg-note", pem, "a private key, and no policy").holds(&[code]),
        member(defensible, "hyg-other-seed", seed("nobody"), "32 bytes that derive nobody's key")
            .holds(&[])
            .without(&[code]),
    ]
}
