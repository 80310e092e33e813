//! ATT.* and IND.*: attestations and independence.

use serde_json::{Value as Json, json};

use crate::gad::Case;
use crate::gad::Level::{A, C, E, N, Nobody, W};
use crate::gad::base::envelopes::{beside, defensible};
use crate::gad::base::sessions::snapshot;
use crate::gad::case::{Status, case};
use crate::gad::record::{Record, take};
use crate::gad::trust::attestation;

const EQ8: &str = "eq (8), A2 attestation";
const IND: &str = "eq (8) IndependentUnder";

pub(super) fn cases() -> Vec<Case> {
    let mut list = forms();
    list.extend(contents());
    list.extend(keys());
    list.extend(times());
    list.extend(independence());
    list
}

fn set(name: &str, pointer: &str, value: Json, code: &'static str, why: &'static str) -> Case {
    case(name, defensible, W, EQ8, why)
        .change(|r| r.attest(&format!("/body{pointer}"), value))
        .indefensible(&[code])
}

fn forms() -> Vec<Case> {
    let gone = |name, pointer: &str| {
        let pointer = format!("/body{pointer}");
        case(name, defensible, W, EQ8, "a member of the attestation is absent")
            .change(|r| take(&mut r.attestations[0], &pointer))
            .indefensible(&["ATT.FORM"])
    };
    vec![
        case("att-missing", defensible, N, EQ8, "nobody attests")
            .change(|r| {
                r.attestations.clear();
                r.inputs.predecessor = false;
            })
            .indefensible(&["ATT.MISSING"]),
        gone("att-form-results", "/predicate_results"),
        gone("att-form-evaluator", "/evaluator_identity"),
        gone("att-form-time", "/evaluation_time"),
        gone("att-form-suite", "/conformance_suite_version"),
        gone("att-form-root-envelope", "/root_envelope"),
        set(
            "att-form-type",
            "/type",
            json!("verdict"),
            "ATT.FORM",
            "a signed object of another type",
        ),
        set(
            "att-form-unknown",
            "/comment",
            json!("well done"),
            "ATT.FORM",
            "a member nobody knows",
        ),
        set(
            "att-form-layer",
            "/replay_layers_exercised",
            json!(["everything"]),
            "ATT.FORM",
            "no such layer",
        ),
        set(
            "att-form-key",
            "/evaluator_credential/key_id",
            json!("@key:stranger"),
            "ATT.FORM",
            "an id of another key",
        ),
        set(
            "att-form-key-id",
            "/key_id",
            json!("@key:stranger"),
            "ATT.FORM",
            "signed as somebody else",
        ),
        case("att-in-core", defensible, A, "S2", "the attestation lies in the core it is about")
            .change(|r| {
                let q = json!({"@sign": "evaluator", "body": {
                    "type": "attestation", "key_id": "@key:evaluator", "plan_hash": "@sha256:any",
                }});
                let bytes =
                    crate::gad::json::canon(&crate::gad::json::Names::default().resolve(&q));
                r.files.insert("artifacts/q.json".into(), bytes);
                r.set("v", "/stdout_digest", "@sha:artifacts/q.json");
            })
            .indefensible(&["ATT.IN_CORE"]),
    ]
}

fn contents() -> Vec<Case> {
    let results = |valid: bool, outcome: &str, satisfied: bool| json!({"valid": valid, "outcome": outcome, "satisfied": satisfied});
    vec![
        case("att-sig", defensible, C, EQ8, "signed by another key")
            .change(|r| r.attestations[0]["@sign"] = "stranger".into())
            .indefensible(&["ATT.SIG"]),
        set(
            "att-root-core",
            "/root_core",
            json!("@sha256:another core"),
            "ATT.ROOT_CORE",
            "about another core",
        ),
        set(
            "att-root-core-plan",
            "/plan_hash",
            json!("@sha256:another plan"),
            "ATT.ROOT_CORE",
            "about another plan",
        ),
        set(
            "att-negative",
            "/predicate_results",
            results(false, "INVALID", false),
            "ATT.NEGATIVE",
            "it says that the record isn't valid",
        ),
        set(
            "att-diverges-outcome",
            "/predicate_results",
            results(true, "HALTED", false),
            "ATT.DIVERGES",
            "it says another outcome",
        ),
        set(
            "att-diverges-satisfied",
            "/predicate_results",
            results(true, "COMPLETED", false),
            "ATT.DIVERGES",
            "it says that the contract isn't satisfied",
        ),
        case(
            "att-diverges-valid",
            defensible,
            E,
            EQ8,
            "it says that a record is valid which isn't",
        )
        .change(|r| r.set("v", "/exit_code", 1))
        .invalid(&["ATT.DIVERGES", "R4.CONTRADICTION"]),
        set(
            "att-spec-version",
            "/spec_version",
            json!("1.2"),
            "ATT.SPEC_VERSION",
            "under another version",
        ),
        set(
            "att-spec-canon",
            "/canonicalization_version",
            json!("jcs/1"),
            "ATT.SPEC_VERSION",
            "under another canonical form",
        ),
        set(
            "att-spec-registry",
            "/predicate_registry_version",
            json!("gad.registry/2"),
            "ATT.SPEC_VERSION",
            "under another registry",
        ),
        set(
            "att-policy",
            "/policy",
            json!({"id": "suite/lenient", "hash": "@sha256:lenient"}),
            "ATT.POLICY",
            "under another policy",
        ),
        case(
            "att-policy-accepted",
            defensible,
            Nobody,
            EQ8,
            "under another policy, which this one accepts",
        )
        .change(|r| {
            r.attest("/body/policy", json!({"id": "suite/lenient", "hash": "@sha256:lenient"}));
            r.policy("/accept_attestations_under", json!(["@sha256:lenient"]));
        })
        .holds(&[])
        .without(&["ATT.POLICY"]),
        set(
            "att-implementation",
            "/evaluator_implementation/version",
            json!("2"),
            "ATT.IMPLEMENTATION",
            "by a version nobody accepted",
        ),
        set(
            "att-implementation-hash",
            "/evaluator_implementation/hash",
            json!("@sha256:another binary"),
            "ATT.IMPLEMENTATION",
            "by a binary nobody accepted",
        ),
    ]
}

fn keys() -> Vec<Case> {
    let by = |r: &mut Record, who: &str| {
        r.attestations[0]["@sign"] = who.into();
        r.attest("/body/key_id", format!("@key:{who}"));
        r.attest("/body/evaluator_credential/key_id", format!("@key:{who}"));
        r.attest("/body/evaluator_credential/public_key", format!("@pub:{who}"));
    };
    vec![
        case("att-untrusted", defensible, W, EQ8, "a key under no authority of the policy")
            .change(|r| {
                by(r, "newcomer");
                r.policy("/parties/1/keys", json!(["@key:newcomer"]));
            })
            .indefensible(&["ATT.UNTRUSTED"]),
        case(
            "att-key-revoked",
            defensible,
            W,
            "REG-14",
            "the evaluator's key was revoked before the evaluation",
        )
        .change(|r| {
            let row = json!({"key_id": "@key:evaluator", "from": "2025-07-01T00:00:00Z"});
            r.policy("/revocation/keys", json!([row]));
        })
        .indefensible(&["ATT.KEY_REVOKED"]),
        case(
            "att-key-revoked-stated-time",
            defensible,
            W,
            "REG-14",
            "a stated time proves nothing",
        )
        .change(|r| {
            let row = json!({"key_id": "@key:evaluator", "from": "2025-06-03T00:00:00Z"});
            r.policy("/revocation/keys", json!([row]));
        })
        .indefensible(&["ATT.KEY_REVOKED"]),
        case(
            "att-key-revoked-later",
            defensible,
            Nobody,
            "REG-14",
            "revoked from a second after the evaluation on",
        )
        .change(|r| {
            let row = json!({"key_id": "@key:evaluator", "from": "2025-07-01T00:00:01Z"});
            r.policy("/revocation/keys", json!([row]));
        })
        .holds(&[])
        .without(&["ATT.KEY_REVOKED"]),
        case(
            "ind-evaluator-unresolved",
            defensible,
            W,
            IND,
            "an evaluator that is no party of the policy",
        )
        .change(|r| by(r, "stranger"))
        .indefensible(&["IND.EVALUATOR_UNRESOLVED"]),
        case("ind-evaluator-name", defensible, W, IND, "a name that the policy doesn't know")
            .change(|r| r.attest("/body/evaluator_identity", "Example Audit Ltd"))
            .indefensible(&["IND.EVALUATOR_UNRESOLVED"]),
        case("ind-shared-key", defensible, E, IND, "the engine's key attests")
            .change(|r| {
                by(r, "engine");
                r.policy("/parties/1/keys", json!(["@key:engine"]));
            })
            .indefensible(&["IND.SHARED_KEY"]),
        case("ind-shared-key-operator", defensible, A, IND, "the operator's key attests")
            .change(|r| {
                by(r, "operator");
                r.policy("/parties/1/keys", json!(["@key:operator"]));
                r.policy("/parties/0/keys", json!([]));
                r.policy("/credential_authorities/0/keys", json!(["@key:operator"]));
            })
            .indefensible(&["IND.SHARED_KEY"]),
        case("ind-related", defensible, W, IND, "the evaluator belongs to the operator")
            .change(|r| {
                by(r, "subsidiary");
                r.attest("/body/evaluator_identity", "Example Works Audit");
            })
            .indefensible(&["IND.RELATED"]),
    ]
}

fn times() -> Vec<Case> {
    vec![
        case(
            "att-time-future",
            defensible,
            W,
            "gad-formats 6",
            "evaluated after now, beyond the skew",
        )
        .change(|r| r.attest("/body/evaluation_time", "2025-07-01T00:01:01Z"))
        .indefensible(&["ATT.TIME_FUTURE"]),
        case(
            "att-time-future-met",
            defensible,
            Nobody,
            "gad-formats 6",
            "evaluated after now by the skew",
        )
        .change(|r| r.attest("/body/evaluation_time", "2025-07-01T00:01:00Z"))
        .holds(&[])
        .without(&["ATT.TIME_FUTURE"]),
        case(
            "att-time-order",
            defensible,
            W,
            "gad-formats 6",
            "evaluated before the anchor that was there already",
        )
        .change(|r| r.attest("/body/evaluation_time", "2025-06-01T11:58:59Z"))
        .indefensible(&["ATT.TIME_ORDER"]),
        case(
            "att-time-order-met",
            defensible,
            Nobody,
            "gad-formats 6",
            "before the anchor by the skew",
        )
        .change(|r| r.attest("/body/evaluation_time", "2025-06-01T11:59:00Z"))
        .holds(&[])
        .without(&["ATT.TIME_ORDER"]),
        case(
            "att-time-order-beside",
            beside,
            W,
            "gad-formats 6",
            "beside the envelope, and before its anchor",
        )
        .change(|r| {
            let q = r.inputs.attestation.as_mut().expect("one");
            q["body"]["evaluation_time"] = "2025-06-01T11:58:59Z".into();
        })
        .indefensible(&["ATT.TIME_ORDER"]),
        case(
            "att-core-only",
            defensible,
            Nobody,
            "gad-definitions 1.17",
            "an evaluation of the core alone counts",
        )
        .change(|r| r.attest("/body/root_envelope", json!(null)))
        .holds(&[])
        .without(&["ATT.FORM"]),
        case(
            "att-second-good",
            defensible,
            Nobody,
            "gad-formats 6",
            "one good attestation among two",
        )
        .change(|r| {
            let mut bad = attestation();
            bad["body"]["spec_version"] = "1.2".into();
            r.attestations.push(bad);
        })
        .holds(&[])
        .without(&["ATT.MISSING"]),
        case(
            "att-halted-record",
            snapshot_attested,
            Nobody,
            EQ8,
            "an incomplete record is defensible as what it is",
        )
        .holds(&["NOTE.SNAPSHOT", "OUT.INCOMPLETE"]),
    ]
}

fn snapshot_attested() -> Record {
    let mut r = snapshot();
    let full = defensible();
    r.anchors = full.anchors;
    r.attestations = full.attestations;
    r.policy = full.policy;
    r.inputs.require = "defensible";
    r.attest(
        "/body/predicate_results",
        json!({"valid": true, "outcome": "INCOMPLETE", "satisfied": false}),
    );
    r.status = Status { defensible: Some(true), level: Some(4), ..r.status };
    r
}

fn independence() -> Vec<Case> {
    let policy = |name, pointer, value: Json, code, why| {
        case(name, defensible, W, IND, why)
            .change(|r| r.policy(pointer, value))
            .indefensible(&[code])
    };
    vec![
        policy(
            "ind-same-party",
            "/parties",
            json!([{"id": "one",
            "names": ["Example Audit", "Example Works"], "keys": ["@key:evaluator"]}]),
            "IND.SAME_PARTY",
            "operator and evaluator are one party",
        ),
        policy(
            "ind-operator-unresolved",
            "/parties/0/names",
            json!(["Other Works"]),
            "IND.OPERATOR_UNRESOLVED",
            "the operator is no party of the policy",
        ),
        policy(
            "ind-operator-twice",
            "/parties/2/names",
            json!(["Example Works"]),
            "IND.OPERATOR_UNRESOLVED",
            "the operator's name is two parties'",
        ),
        policy(
            "ind-rule",
            "/independence/rule",
            json!("arms_length/1"),
            "IND.RULE",
            "a rule nobody knows",
        ),
        case("ind-operator-name-case", defensible, E, IND, "names are compared byte for byte")
            .change(|r| {
                r.operator.as_mut().expect("one")["legal_or_organizational_identity"] =
                    "example works".into();
            })
            .indefensible(&["IND.OPERATOR_UNRESOLVED"]),
    ]
}
