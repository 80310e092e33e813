//! R9: typed claims.

use serde_json::{Value as Json, json};

use crate::gad::Case;
use crate::gad::Level::{A, C, E, Nobody};
use crate::gad::base::envelopes::committed;
use crate::gad::base::gates::{claimed, refused, tuple};
use crate::gad::base::runs::retried;
use crate::gad::base::sessions::{flagged, superseded_with_delta, three_nodes, two_nodes};
use crate::gad::case::case;
use crate::gad::record::{Record, take};

const RULE: &str = "A2 R9";
const REGISTRY: &str = "gad.registry/1";

pub(super) fn cases() -> Vec<Case> {
    let mut list = forms();
    list.extend(issuers());
    list.extend(evidence());
    list.extend(classes());
    list.extend(controls());
    list
}

/// One member of the claims document set; claim 0 is gad/test_passed, 3 gate_authorized, 7 the judgment.
fn set(name: &str, pointer: &str, value: Json, code: &'static str, why: &'static str) -> Case {
    case(name, claimed, E, RULE, why).change(|r| r.claim(pointer, value)).invalid(&[code])
}

fn gone(name: &str, pointer: &str, code: &'static str) -> Case {
    case(name, claimed, E, RULE, "a member of the tuple is absent")
        .change(|r| take(r.claims.as_mut().expect("claims"), pointer))
        .invalid(&[code])
}

/// A base with one claim.
fn one(r: &mut Record, claim: Json) {
    r.claims =
        Some(json!({"schema": "gad.claims/1", "registry": "gad.registry/1", "claims": [claim]}));
}

fn entry(label: &str) -> Json {
    json!({"kind": "entry", "seq": format!("@seq:{label}")})
}

fn forms() -> Vec<Case> {
    let node = json!({"plan_hash": "@plan", "node": "n n", "test_id": null});
    vec![
        gone("r9-form-predicate", "/claims/0/predicate_id", "R9.FORM"),
        gone("r9-form-subject", "/claims/0/subject_ref", "R9.FORM"),
        gone("r9-form-evidence", "/claims/0/evidence_refs", "R9.FORM"),
        gone("r9-form-class", "/claims/0/evidence_class", "R9.FORM"),
        gone("r9-form-issuer", "/claims/0/issuer_type", "R9.FORM"),
        set(
            "r9-form-subject-node",
            "/claims/0/subject_ref",
            node,
            "R9.FORM",
            "a node that is no id",
        ),
        set(
            "r9-form-class-unknown",
            "/claims/0/evidence_class",
            json!("proven"),
            "R9.FORM",
            "no such class",
        ),
        set(
            "r9-form-ref-kind",
            "/claims/0/evidence_refs/0/kind",
            json!("rumour"),
            "R9.FORM",
            "no such kind",
        ),
        set(
            "r9-registry",
            "/registry",
            json!("gad.registry/2"),
            "R9.REGISTRY",
            "an unknown registry",
        ),
        set(
            "r9-predicate",
            "/claims/0/predicate_id",
            json!("gad/flawless"),
            "R9.PREDICATE",
            "not in the registry",
        ),
        set(
            "r9-predicate-judgment-form",
            "/claims/7/body/predicate_id",
            json!("judgment/"),
            "R9.PREDICATE",
            "a judgment of nothing",
        ),
        gone("r9-noncoverage-absent", "/claims/0/noncoverage", "R9.NONCOVERAGE"),
        set(
            "r9-noncoverage-empty",
            "/claims/0/noncoverage",
            json!([]),
            "R9.NONCOVERAGE",
            "it covers everything",
        ),
        set(
            "r9-noncoverage-aspect",
            "/claims/0/noncoverage/0/aspect",
            json!("external_time"),
            "R9.NONCOVERAGE",
            "another predicate's aspect",
        ),
        set(
            "r9-noncoverage-text",
            "/claims/0/noncoverage/0/text",
            json!(""),
            "R9.NONCOVERAGE",
            "nothing said",
        ),
    ]
}

fn issuers() -> Vec<Case> {
    vec![
        set(
            "r9-issuer-unknown",
            "/claims/0/issuer_type",
            json!("oracle"),
            "R9.FORM",
            "no such issuer",
        ),
        case("r9-issuer", claimed, A, RULE, "a human where the registry asks for the machine")
            .change(|r| {
                let mut claim = r.claims.as_ref().expect("claims")["claims"][0].clone();
                claim["issuer_type"] = "human".into();
                for (name, value) in
                    [("type", "typed_claim"), ("key_id", "@key:approver"), ("plan_hash", "@plan")]
                {
                    claim[name] = value.into();
                }
                r.claim("/claims/0", json!({"@sign": "approver", "body": claim}));
            })
            .invalid(&["R9.ISSUER"]),
        case("r9-machine-judgment", claimed, E, "A2 R9, I6", "the machine judges")
            .change(|r| {
                let mut claim = r.claims.as_ref().expect("claims")["claims"][7]["body"].clone();
                claim["issuer_type"] = "machine".into();
                for name in ["/type", "/key_id", "/plan_hash"] {
                    take(&mut claim, name);
                }
                r.claim("/claims/7", claim);
            })
            .invalid(&["R9.MACHINE_JUDGMENT"]),
        case("r9-human-bare", claimed, E, RULE, "a human's claim that nobody signed")
            .change(|r| {
                let mut claim = r.claims.as_ref().expect("claims")["claims"][7]["body"].clone();
                for name in ["/type", "/key_id", "/plan_hash"] {
                    take(&mut claim, name);
                }
                r.claim("/claims/7", claim);
            })
            .invalid(&["R9.HUMAN_UNSIGNED"]),
        case("r9-human-stranger", claimed, C, RULE, "signed by nobody who is registered")
            .change(|r| {
                r.claim("/claims/7/@sign", "stranger");
                r.claim("/claims/7/body/key_id", "@key:stranger");
            })
            .invalid(&["R9.HUMAN_UNSIGNED"]),
        case("r9-human-engine", claimed, E, RULE, "the engine signs as a human")
            .change(|r| {
                r.claim("/claims/7/@sign", "engine");
                r.claim("/claims/7/body/key_id", "@key:engine");
            })
            .invalid(&["R9.HUMAN_UNSIGNED"]),
        case("r9-human-signature", claimed, C, RULE, "the signature is another key's")
            .change(|r| r.claim("/claims/7/@sign", "stranger"))
            .invalid(&["R9.HUMAN_UNSIGNED"]),
        case("r9-human-run", claimed, A, RULE, "signed for another run")
            .change(|r| r.claim("/claims/7/body/plan_hash", "@sha256:another plan"))
            .invalid(&["R9.HUMAN_UNSIGNED"]),
    ]
}

fn evidence() -> Vec<Case> {
    let other = json!({"plan_hash": "@sha256:another plan", "node": "n", "test_id": "unit"});
    vec![
        set(
            "r9-evidence-empty",
            "/claims/0/evidence_refs",
            json!([]),
            "R9.EVIDENCE_EMPTY",
            "the least of nothing",
        ),
        set(
            "r9-evidence-ref",
            "/claims/0/evidence_refs/0/seq",
            json!(999),
            "R9.EVIDENCE_REF",
            "no such entry",
        ),
        case("r9-evidence-ref-anchor", claimed, E, RULE, "no such anchor")
            .change(|r| {
                let mut claim = tuple(
                    "gad/existed_by",
                    json!(null),
                    json!(null),
                    &[],
                    "attested",
                    "internal_timestamps",
                );
                claim["evidence_refs"] = json!([{"kind": "anchor", "target": "core_root"}]);
                r.claim("/claims/-", claim);
            })
            .invalid(&["R9.EVIDENCE_REF"]),
        set(
            "r9-evidence-shape",
            "/claims/0/evidence_refs/0",
            entry("r-s"),
            "R9.EVIDENCE_SHAPE",
            "a result isn't a verdict",
        ),
        set(
            "r9-evidence-shape-claim",
            "/claims/0/evidence_refs/0",
            entry("said"),
            "R9.EVIDENCE_SHAPE",
            "what was said isn't a verdict",
        ),
        set(
            "r9-evidence-shape-half",
            "/claims/5/evidence_refs",
            json!([entry("freeze")]),
            "R9.EVIDENCE_SHAPE",
            "the freeze without the dispatch",
        ),
        case("r9-evidence-shape-flagged", flagged, E, RULE, "scope contained without the closure")
            .change(|r| {
                one(
                    r,
                    tuple(
                        "gad/scope_contained",
                        json!("n"),
                        json!(null),
                        &["r-s"],
                        "engine_observed",
                        "unmonitored_effects",
                    ),
                );
            })
            .invalid(&["R9.EVIDENCE_SHAPE"]),
        set(
            "r9-evidence-subject-plan",
            "/claims/0/subject_ref",
            other,
            "R9.EVIDENCE_SUBJECT",
            "another plan",
        ),
        case("r9-evidence-subject-node", two_nodes, E, RULE, "another node's verdict")
            .change(|r| {
                one(
                    r,
                    tuple(
                        "gad/test_passed",
                        json!("a"),
                        json!("unit"),
                        &["vb"],
                        "engine_observed",
                        "not_exercised",
                    ),
                );
            })
            .invalid(&["R9.EVIDENCE_SUBJECT"]),
        case("r9-evidence-subject-attempt", retried, E, RULE, "the attempt before")
            .change(|r| {
                one(
                    r,
                    tuple(
                        "gad/test_passed",
                        json!("n"),
                        json!("unit"),
                        &["v"],
                        "engine_observed",
                        "not_exercised",
                    ),
                );
            })
            .invalid(&["R9.EVIDENCE_SUBJECT"]),
        case(
            "r9-evidence-negative",
            crate::gad::base::runs::tripped,
            E,
            RULE,
            "a failing verdict for passed",
        )
        .change(|r| {
            one(
                r,
                tuple(
                    "gad/test_passed",
                    json!("n"),
                    json!("unit"),
                    &["v"],
                    "engine_observed",
                    "not_exercised",
                ),
            );
        })
        .invalid(&["R9.EVIDENCE_NEGATIVE"]),
        case("r9-evidence-negative-refusal", refused, E, RULE, "a refusal for authorized")
            .change(|r| {
                one(
                    r,
                    tuple(
                        "gad/gate_authorized",
                        json!("n"),
                        json!(null),
                        &["no"],
                        "engine_observed",
                        "approver_competence",
                    ),
                );
            })
            .invalid(&["R9.EVIDENCE_NEGATIVE"]),
    ]
}

fn classes() -> Vec<Case> {
    vec![
        set(
            "r9-class-said",
            "/claims/6/evidence_class",
            json!("proxy"),
            "R9.CLASS",
            "what was said is attested",
        ),
        set(
            "r9-class-judgment",
            "/claims/7/body/evidence_class",
            json!("engine_observed"),
            "R9.CLASS",
            "a judgment is attested",
        ),
        case(
            "r9-class-scope",
            three_nodes,
            E,
            "RUL-8",
            "scope of a session over several nodes is proxy",
        )
        .change(|r| {
            one(
                r,
                tuple(
                    "gad/scope_contained",
                    json!("a"),
                    json!(null),
                    &["r-s"],
                    "engine_observed",
                    "unmonitored_effects",
                ),
            );
        })
        .invalid(&["R9.CLASS"]),
        case(
            "r9-class-anchor",
            committed,
            E,
            "D5",
            "an anchor that the policy doesn't know is attested",
        )
        .change(|r| {
            r.policy = Some(crate::gad::trust::basic());
            r.policy("/tsa", json!([]));
        })
        .invalid(&["R9.CLASS"]),
        set(
            "r9-allowed",
            "/claims/0/evidence_class",
            json!("attested"),
            "R9.ALLOWED",
            "below what the registry allows",
        ),
        set(
            "r9-allowed-covered",
            "/claims/4/evidence_class",
            json!("proxy"),
            "R9.ALLOWED",
            "below what the registry allows",
        ),
    ]
}

fn controls() -> Vec<Case> {
    let good = |name, base, why, change: fn(&mut Record)| {
        case(name, base, Nobody, REGISTRY, why).change(change).holds(&[]).without(&[
            "R9.CLASS",
            "R9.ALLOWED",
            "R9.EVIDENCE_SHAPE",
            "R9.EVIDENCE_SUBJECT",
        ])
    };
    vec![
        good("r9-class-less", claimed, "a claim may be weaker than its evidence", |r| {
            r.claim("/claims/0/evidence_class", "proxy");
        }),
        good(
            "r9-scope-proxy",
            three_nodes,
            "scope of a session over several nodes, as proxy",
            |r| {
                one(
                    r,
                    tuple(
                        "gad/scope_contained",
                        json!("a"),
                        json!(null),
                        &["r-s"],
                        "proxy",
                        "unmonitored_effects",
                    ),
                );
            },
        ),
        good("r9-scope-flagged", flagged, "scope contained with the closure", |r| {
            one(
                r,
                tuple(
                    "gad/scope_contained",
                    json!("n"),
                    json!(null),
                    &["r-s", "closed"],
                    "engine_observed",
                    "unmonitored_effects",
                ),
            );
        }),
        good("r9-succeeded", superseded_with_delta, "a succession with its delta", |r| {
            one(
                r,
                tuple(
                    "gad/succeeded_with_delta",
                    json!(null),
                    json!(null),
                    &["done"],
                    "engine_observed",
                    "successor_adequacy",
                ),
            );
        }),
        good("r9-none", claimed, "no claims", |r| r.claim("/claims", json!([]))),
        good("r9-noncoverage-more", claimed, "more than the registry asks to name", |r| {
            r.claim("/claims/0/noncoverage/-", json!({"aspect": "external_time", "text": "also"}));
        }),
    ]
}
