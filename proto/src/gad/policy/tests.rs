//! Trust policies: round trips, and every refusal.

#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use super::*;
use crate::gad::changes::{changes, json, shown, with};
use crate::gad::form::Defects;
use crate::json::Value;

/// A policy with something in every member.
fn full() -> Policy {
    let digest = |byte: u8| Digest::from_bytes([byte; 32]);
    let key = |byte: u8| SignerId::from_bytes([byte; 32]);
    let requirement = |target| RequiredAnchor {
        target,
        types: AnchorType::ALL.to_vec(),
        min_distinct_operators: 2,
        when: RequiredWhen::Always,
    };
    Policy {
        id: "a/b-1".into(),
        skew_s: 86_400,
        required_anchors: vec![
            requirement(RequiredTarget::CoreRoot { max_delay_s: 604_800 }),
            requirement(RequiredTarget::ChainHead { max_delay_s: 0 }),
            RequiredAnchor {
                types: vec![AnchorType::Rfc3161],
                when: RequiredWhen::BoundedPrecedenceClaimed,
                ..requirement(RequiredTarget::PlanCommitment {
                    rule: PrecommitRule::BoundInDispatch,
                })
            },
        ],
        tsa: vec![
            TsaEntry {
                operator: "tsa-a".into(),
                roots: vec![digest(2), digest(1)],
                start: 0,
                end: Some(1_900_000_000),
                policies: vec!["1.2.3.4.1".parse().unwrap(), "2.999".parse().unwrap()],
                require_accuracy_s: Some(60),
            },
            TsaEntry {
                operator: "tsa-b".into(),
                roots: Vec::new(),
                start: -1,
                end: None,
                policies: Vec::new(),
                require_accuracy_s: None,
            },
        ],
        logs: Some(digest(3)),
        time_sources: TimeSource::ALL.to_vec(),
        tsa_revocation: TsaRevocation::Required,
        revoked_keys: vec![(key(4), 1_784_545_200)],
        parties: vec![Party { id: "op".into(), names: vec!["Öp".into()], keys: vec![key(5)] }],
        related_groups: vec![vec!["op".into(), "ev".into()]],
        independence: INDEPENDENCE_RULE.into(),
        credential_authorities: vec![CredentialAuthority {
            id: "ca".into(),
            keys: vec![key(6)],
            roots: vec![digest(7)],
        }],
        accepted_layers: ProvenanceLayer::ALL.to_vec(),
        accepted_evaluators: vec![Implementation {
            name: "e".into(),
            version: "1".into(),
            hash: digest(8),
        }],
        accept_attestations_under: vec![digest(9)],
        replay: ReplayPolicy::RequiredFor(vec![ObservableKind::Page, ObservableKind::Command]),
        accept_outcomes: vec![RunOutcome::Completed],
        require_single_node_sessions: true,
        require_bound_artifacts: true,
        reject_with_notice: true,
        require_operator_seal: true,
    }
}

fn read(value: &Value<'_>) -> (Option<Policy>, Vec<String>) {
    let mut defects = Defects::new();
    let policy = Policy::read(value, &mut defects);
    (policy, shown(&defects))
}

#[track_caller]
fn refused(pointer: &str, replacement: &str, expected: &str) {
    let (policy, defects) = read(&with(&full().to_value(), pointer, replacement));
    let expected = vec![format!("{expected} {pointer}")];
    assert_eq!((policy, defects), (None, expected), "{pointer} = {replacement}");
}

#[track_caller]
fn accepted(pointer: &str, replacement: &str) {
    let value = with(&full().to_value(), pointer, replacement);
    let (policy, defects) = read(&value);
    assert_eq!(defects, [""; 0], "{pointer} = {replacement}");
    assert_eq!(policy.unwrap().to_value(), value);
}

#[test]
fn the_built_in_policy_has_its_published_hash() {
    let none = Policy::none();
    assert_eq!(
        none.hash().to_string(),
        "sha256:c9351ac82c1e42426a742378d22b681d6d400fc6cf6bc9efc5f99bfecdbe4c30"
    );
    assert_eq!(read(&none.to_value()), (Some(none), Vec::new()));
}

#[test]
fn what_is_written_reads_back() {
    for replay in [
        ReplayPolicy::None,
        ReplayPolicy::RequiredForAll,
        ReplayPolicy::RequiredFor(Vec::new()),
        ReplayPolicy::Sampled { per_million: 0 },
        ReplayPolicy::Sampled { per_million: 1_000_000 },
        full().replay,
    ] {
        let policy = Policy { replay, ..full() };
        assert_eq!(read(&policy.to_value()), (Some(policy), Vec::new()));
    }
    let prefixed = [b"gad/1/trust-policy\0".to_vec(), canonical(&full().to_value())].concat();
    assert_eq!(full().hash(), Digest::of(&prefixed));
}

#[test]
fn every_change_of_one_place_is_refused() {
    let sampled = Policy { replay: ReplayPolicy::Sampled { per_million: 5 }, ..full() };
    let all = Policy { replay: ReplayPolicy::RequiredForAll, ..full() };
    for policy in [full(), sampled, all, Policy::none()] {
        let changes = changes(&policy.to_value());
        assert!(changes.len() > 50, "only {}", changes.len());
        for change in changes {
            let (policy, defects) = read(&change.value);
            assert!(policy.is_none() && !defects.is_empty(), "{}", change.what);
        }
    }
}

#[test]
fn earlier_defects_of_the_caller_are_not_its_own() {
    let mut defects = Defects::new();
    defects.push(crate::json::JsonCode::Enum, &crate::gad::At::root("/elsewhere"));
    assert_eq!(Policy::read(&full().to_value(), &mut defects), Some(full()));
}

#[test]
fn there_is_no_extension_bag() {
    for object in ["", "/clock", "/required_anchors/0", "/tsa/0", "/tsa/0/window", "/logs"] {
        refused(&format!("{object}/ext"), "{}", "J.UNKNOWN_FIELD");
    }
    for object in ["/revocation", "/revocation/keys/0", "/parties/0", "/independence", "/replay"] {
        refused(&format!("{object}/ext"), "{}", "J.UNKNOWN_FIELD");
    }
    for object in ["/credential_authorities/0", "/accepted_evaluators/0"] {
        refused(&format!("{object}/ext"), "{}", "J.UNKNOWN_FIELD");
    }
}

#[test]
fn ids_and_numbers() {
    refused("/schema", "\"gad.policy/2\"", "J.ENUM");
    for bad in ["", ".a", "/a", "a b", "ä", &"a".repeat(129)] {
        refused("/id", &format!("\"{bad}\""), "J.ENUM");
    }
    for good in ["a", "0/._-Z", &"a".repeat(128)] {
        accepted("/id", &format!("\"{good}\""));
    }
    refused("/clock/skew_s", "-1", "J.ENUM");
    refused("/clock/skew_s", "86401", "J.ENUM");
    accepted("/clock/skew_s", "0");
    for bad in ["0", "17", "-1"] {
        refused("/required_anchors/0/min_distinct_operators", bad, "J.ENUM");
    }
    for good in ["1", "16"] {
        accepted("/required_anchors/0/min_distinct_operators", good);
    }
    refused("/required_anchors/0/max_delay_s", "-1", "J.ENUM");
    accepted("/required_anchors/0/max_delay_s", "9007199254740991");
    for member in ["/tsa/0/operator", "/parties/0/id", "/credential_authorities/0/id"] {
        refused(member, "\"a/b\"", "J.ENUM");
    }
    refused("/related_groups/0/1", "\"\"", "J.ENUM");
    refused("/tsa/0/require_accuracy_s", "-1", "J.ENUM");
    refused("/tsa/0/require_accuracy_s", "4294967296", "J.ENUM");
    accepted("/tsa/0/require_accuracy_s", "0");
}

#[test]
fn words_and_sets() {
    refused("/required_anchors/0/types", "[]", "J.ENUM");
    refused("/required_anchors/0/types", r#"["tlog","rfc3161"]"#, "J.ENUM");
    refused("/required_anchors/0/types", r#"["tlog","tlog"]"#, "J.ENUM");
    refused("/required_anchors/0/types/0", "\"rekor\"", "J.ENUM");
    refused("/required_anchors/0/when", "\"never\"", "J.ENUM");
    refused("/required_anchors/0/kind", "\"root\"", "J.ENUM");
    refused("/required_anchors/2/rule", "\"before\"", "J.ENUM");
    refused("/logs/format", "\"c2sp.org/other\"", "J.ENUM");
    refused("/time_sources", r#"["rfc3161","cosignature"]"#, "J.ENUM");
    refused("/time_sources/0", "\"clock\"", "J.ENUM");
    refused("/revocation/tsa", "\"ocsp\"", "J.ENUM");
    refused("/accepted_layers", r#"["runtime_attestation","runtime_attestation"]"#, "J.ENUM");
    refused("/accepted_layers/0", "\"hope\"", "J.ENUM");
    refused("/accept_outcomes", r#"["HALTED","COMPLETED"]"#, "J.ENUM");
    // A record that isn't valid can't be accepted by any policy.
    refused("/accept_outcomes/0", "\"INVALID\"", "J.ENUM");
    refused("/replay", "\"all\"", "J.ENUM");
    refused("/replay/rule", "\"none\"", "J.ENUM");
    refused("/replay/kinds/0", "\"guess\"", "J.ENUM");
    // Another rule of independence is read, and refused under its own code.
    accepted("/independence/rule", "\"anybody/1\"");
    for empty in ["/time_sources", "/accepted_layers", "/accept_outcomes", "/required_anchors"] {
        accepted(empty, "[]");
    }
}

/// Sets of words ascend as strings do, and are compared as words.
#[test]
fn the_order_of_words_is_that_of_their_strings() {
    fn check<T: Copy + Ord>(all: &[T], word: impl Fn(T) -> &'static str) {
        for (a, b) in all.iter().zip(all.iter().skip(1)) {
            assert!(a < b && word(*a) < word(*b), "{} and {}", word(*a), word(*b));
        }
    }
    check(AnchorType::ALL, AnchorType::as_str);
    check(TimeSource::ALL, TimeSource::as_str);
    check(ProvenanceLayer::ALL, ProvenanceLayer::as_str);
    check(RunOutcome::ALL, RunOutcome::as_str);
    check(&ACCEPTABLE_OUTCOMES, RunOutcome::as_str);
    check(crate::gad::names::ObservationLayer::ALL, crate::gad::names::ObservationLayer::as_str);
}

#[test]
fn a_rule_of_time_belongs_to_its_kind() {
    refused("/required_anchors/0/rule", "\"bound_in_dispatch\"", "J.UNKNOWN_FIELD");
    refused("/required_anchors/2/max_delay_s", "1", "J.UNKNOWN_FIELD");
    refused("/replay/per_million", "1", "J.UNKNOWN_FIELD");
    let replay = |text: &str| read(&with(&full().to_value(), "/replay", text)).1;
    let sampled = |n: &str| replay(&format!(r#"{{"rule":"sampled","per_million":{n}}}"#));
    assert_eq!(sampled("1000001"), ["J.ENUM /replay/per_million"]);
    assert_eq!(sampled("-1"), ["J.ENUM /replay/per_million"]);
    let all = r#"{"rule":"required_for_all","kinds":[]}"#;
    assert_eq!(replay(all), ["J.UNKNOWN_FIELD /replay/kinds"]);
}

#[test]
fn digests_keys_times_and_identifiers() {
    for digest in [
        "/tsa/0/roots/1",
        "/logs/text_digest",
        "/credential_authorities/0/roots/0",
        "/accepted_evaluators/0/hash",
        "/accept_attestations_under/0",
        "/revocation/keys/0/key_id",
        "/parties/0/keys/0",
        "/credential_authorities/0/keys/0",
    ] {
        refused(digest, "\"sha256:AB\"", "J.DIGEST_FORM");
    }
    for time in ["/tsa/0/window/start", "/tsa/0/window/end", "/revocation/keys/0/from"] {
        refused(time, "\"2026-01-01\"", "J.TIME_FORM");
    }
    for oid in ["", "1", "1.2.", "1.02", "1.40.1", "3.1", "id-tsa"] {
        refused("/tsa/0/policies/0", &format!("\"{oid}\""), "J.ENUM");
    }
    accepted("/tsa/0/window/end", "null");
    accepted("/logs", "null");
    accepted("/tsa/0/require_accuracy_s", "null");
}

#[test]
fn every_defect_is_told() {
    let (policy, defects) = read(&json("{}"));
    assert_eq!((policy, defects.len()), (None, 21));
    assert_eq!(read(&json("[]")).1, ["J.TYPE "]);
}
