//! Attestations: signed and read back, and refused with any defect.

#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use super::*;
use crate::gad::changes::{changes, json, shown, with};
use crate::signed_object::SignerId;

fn key() -> SigningKey {
    SigningKey::from_seed(&[7; 32])
}

fn body() -> AttestationBody {
    let digest = |byte: u8| Digest::from_bytes([byte; 32]);
    AttestationBody {
        plan_hash: digest(1),
        root_core: digest(2),
        root_envelope: Some(digest(3)),
        valid: true,
        outcome: RunOutcome::Completed,
        satisfied: false,
        spec_version: "1.3".into(),
        canonicalization: "jcs-int/1".into(),
        registry: "gad.registry/1".into(),
        evaluator: "Evaluator AG".into(),
        implementation: Implementation {
            name: "evaluator".into(),
            version: "1".into(),
            hash: digest(4),
        },
        policy: PolicyName { id: "basic".into(), hash: digest(5) },
        replay_layers: ObservationLayer::ALL.to_vec(),
        suite_version: String::new().into(),
        evaluation_time: 1_784_545_200,
    }
}

fn signed() -> Value<'static> {
    body().sign(&key()).into()
}

fn read(value: &Value<'_>) -> (Option<Attestation>, Vec<String>) {
    let mut defects = Defects::new();
    let attestation = Attestation::read(value, &Limits::DEFAULT, &mut defects);
    (attestation, shown(&defects))
}

#[track_caller]
fn refused(pointer: &str, replacement: &str, expected: &str) {
    let (attestation, defects) = read(&with(&signed(), pointer, replacement));
    assert_eq!(
        (attestation, defects),
        (None, vec![expected.to_owned()]),
        "{pointer} = {replacement}"
    );
}

#[test]
fn what_is_signed_reads_back_and_verifies() {
    for root_envelope in [None, body().root_envelope] {
        let body = AttestationBody { root_envelope, ..body() };
        let value = Value::Object(body.sign(&key()));
        let (attestation, defects) = read(&value);
        assert_eq!(defects, [""; 0]);
        let found = attestation.unwrap();
        assert_eq!(found.to_value(), value);
        assert_eq!(found.credential.key, key().public_key());
        assert_eq!(found.signed.key_id, Some(key().id()));
        let signature = found.signed.signature.unwrap();
        key().public_key().verify(&found.signed.message, &signature).unwrap();
        assert_eq!(found.body, body);
    }
    let (attestation, defects) = read(&with(&signed(), "/body/ext", r#"{"ö":[]}"#));
    assert!(attestation.is_some() && defects.is_empty());
}

#[test]
fn every_change_of_one_place_is_refused() {
    let changes = changes(&signed());
    assert!(changes.len() > 60, "only {}", changes.len());
    for change in changes {
        let (attestation, defects) = read(&change.value);
        assert!(attestation.is_none() && !defects.is_empty(), "{}", change.what);
    }
}

#[test]
fn earlier_defects_of_the_caller_are_not_its_own() {
    let mut defects = Defects::new();
    defects.push(JsonCode::Enum, &At::root("/elsewhere"));
    let value = signed();
    assert!(Attestation::read(&value, &Limits::DEFAULT, &mut defects).is_some());
}

#[test]
fn forms() {
    assert_eq!(read(&json("[]")), (None, vec!["J.TYPE ".to_owned()]));
    refused("/body/type", "\"verdict\"", "J.ENUM /body/type");
    refused("/signature", "\"AA==\"", "J.B64_FORM /signature");
    refused("/body/root_core", "\"sha256:\"", "J.DIGEST_FORM /body/root_core");
    refused("/body/root_envelope", "\"\"", "J.DIGEST_FORM /body/root_envelope");
    refused("/body/plan_hash", "\"\"", "J.DIGEST_FORM /body/plan_hash");
    let outcome = "/body/predicate_results/outcome";
    refused(outcome, "\"completed\"", "J.ENUM /body/predicate_results/outcome");
    assert!(read(&with(&signed(), outcome, "\"INVALID\"")).0.is_some());
    refused("/body/evaluator_identity", "\"\"", "J.ENUM /body/evaluator_identity");
    let long = format!("\"{}\"", "x".repeat(1025));
    refused("/body/evaluator_identity", &long, "J.ENUM /body/evaluator_identity");
    refused("/body/evaluation_time", "\"now\"", "J.TIME_FORM /body/evaluation_time");
    let layers = "/body/replay_layers_exercised";
    refused(layers, "[\"hope\"]", "J.ENUM /body/replay_layers_exercised/0");
    let reversed = r#"["independently_replayable","authenticated_engine_observation"]"#;
    refused(layers, reversed, "J.ENUM /body/replay_layers_exercised");
    refused("/body/policy/hash", "\"none\"", "J.DIGEST_FORM /body/policy/hash");
    refused("/body/policy/ext", "{}", "J.UNKNOWN_FIELD /body/policy/ext");
}

#[test]
fn the_credential_is_the_signers_key() {
    let credential = "/body/evaluator_credential";
    let at = |member: &str| format!("{credential}/{member}");
    refused(&at("alg"), "\"rsa\"", "J.ENUM /body/evaluator_credential/alg");
    refused(&at("public_key"), "\"AA==\"", "J.B64_FORM /body/evaluator_credential/public_key");
    // The identity, a key of small order.
    let weak = "\"AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"";
    refused(&at("public_key"), weak, "ATT.FORM /body/evaluator_credential/public_key");

    let other = SigningKey::from_seed(&[8; 32]);
    let own = |id: SignerId, key: PublicKey| {
        let credential = Credential { key, key_id: id };
        String::from_utf8(crate::json::canonical(&credential_value(&credential))).unwrap()
    };
    // Another key under the signer's id, and a whole credential of somebody else.
    let wrong = own(key().id(), other.public_key());
    refused(credential, &wrong, "ATT.FORM /body/evaluator_credential/key_id");
    let wrong = own(other.id(), other.public_key());
    refused(credential, &wrong, "ATT.FORM /body/evaluator_credential");
    let id = format!("\"{}\"", other.id());
    refused("/body/key_id", &id, "ATT.FORM /body/evaluator_credential");
}
