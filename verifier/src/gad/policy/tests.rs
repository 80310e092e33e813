//! Policies, what they name, and what they say about a record.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use anchorlog_proto::Digest;
use anchorlog_proto::gad::entry::Signed;
use anchorlog_proto::gad::envelope::OperatorSeal;
use anchorlog_proto::gad::names::{ObservableKind, ProvenanceLayer, RunOutcome};
use anchorlog_proto::gad::operator::Credential;
use anchorlog_proto::gad::policy::{Policy, ReplayPolicy};
use anchorlog_proto::json::canonical;
use anchorlog_proto::signed_object::SigningKey;

use super::{PolicyContext, PolicyFacts, PolicyInput, judge};
use crate::gad::anchors::testing::{TSA_A, World, codes, input, log_policy};
use crate::gad::finding::Findings;
use crate::gad::trust::TrustMaterial;

fn load(world: &World, input: &PolicyInput<'_>) -> (PolicyContext, Vec<String>) {
    let mut findings = Findings::new();
    let context = PolicyContext::load(input, &world.material(), &mut findings);
    assert_eq!(context.sound(), !findings.affects(crate::codes::gad::Affect::Defensible));
    (context, codes(&findings))
}

fn bytes(policy: &Policy) -> Vec<u8> {
    canonical(&policy.to_value())
}

#[test]
fn no_policy_is_the_policy_of_nobody() {
    let world = World::new();
    let (context, found) = load(&world, &input(None));
    assert_eq!(found, [""; 0]);
    assert_eq!(&*context.policy().id, "gad.policy.none/1");
    assert!(!context.given() && context.readable() && context.tsa().is_empty());
    assert!(context.logs().is_none());
    let (context, found) = load(&world, &PolicyInput { defensible_asked: true, ..input(None) });
    assert_eq!(found, ["POL.UNNAMED"]);
    assert!(!context.sound());
    // A hash that is expected of no policy is no policy's.
    let expected_hash = Some(Digest::of(b"other"));
    let (_, found) = load(&world, &PolicyInput { expected_hash, ..input(None) });
    assert_eq!(found, ["POL.HASH"]);
}

#[test]
fn a_policy_is_canonical_and_closed() {
    let world = World::new();
    let good = bytes(&world.policy);
    let (context, found) = load(&world, &input(Some(&good)));
    assert_eq!(found, [""; 0]);
    assert_eq!((context.hash(), context.given()), (world.policy.hash(), true));
    assert_eq!(context.tsa().len(), 2);
    assert!(context.logs().is_some() && context.missing().is_empty());

    let text = String::from_utf8(good).unwrap();
    for bad in [
        String::new(),
        "[]".to_owned(),
        format!("{text}\n"),
        text.replace("\"clock\":", "\"clock\": "),
        text.replace("\"clock\":{", "\"clock\":{\"x\":1,"),
        text.replace("gad.policy/1", "gad.policy/2"),
        text.replace("\"skew_s\":300", "\"skew_s\":86401"),
    ] {
        let expected_hash = Some(world.policy.hash());
        let input = PolicyInput { expected_hash, ..input(Some(bad.as_bytes())) };
        let (context, mut found) = load(&world, &input);
        found.dedup();
        assert_eq!(found, ["POL.PARSE"], "{bad}");
        assert!(context.given() && !context.readable());
        assert_eq!(&*context.policy().id, "gad.policy.none/1");
    }
}

#[test]
fn a_policy_has_the_hash_that_is_expected() {
    let world = World::new();
    let good = bytes(&world.policy);
    let with = |hash| PolicyInput { expected_hash: Some(hash), ..input(Some(&good)) };
    assert_eq!(load(&world, &with(world.policy.hash())).1, [""; 0]);
    assert_eq!(load(&world, &with(Digest::of(&good))).1, ["POL.HASH"]);
}

#[test]
fn replay_needs_a_runner() {
    let mut world = World::new();
    for replay in [
        ReplayPolicy::RequiredForAll,
        ReplayPolicy::RequiredFor(vec![ObservableKind::Command]),
        ReplayPolicy::Sampled { per_million: 1 },
    ] {
        world.policy.replay = replay;
        let policy = bytes(&world.policy);
        let (context, found) = load(&world, &input(Some(&policy)));
        assert_eq!(found, ["POL.REPLAY_UNSUPPORTED"]);
        assert_eq!(context.replay_layers().len(), 1);
        let with = PolicyInput { replay_runner: true, ..input(Some(&policy)) };
        assert_eq!(load(&world, &with).1, [""; 0]);
    }
}

#[test]
fn what_is_not_at_hand_does_not_count() {
    let mut world = World::new();
    let policy = bytes(&world.policy);
    world.trust.retain(|(name, _)| name == "b");
    let (context, found) = load(&world, &input(Some(&policy)));
    assert_eq!(found, [""; 0]);
    assert_eq!(context.tsa()[0].operator(), "tsa-b");
    let mut missing = vec![Digest::of(log_policy().as_bytes()), Digest::of(&TSA_A.root_der())];
    missing.sort_unstable();
    assert_eq!(context.missing(), missing);
    world.trust.clear();
    assert_eq!(load(&world, &input(Some(&policy))).1, ["POL.NO_ROOTS"]);
    // Who asks for no anchors needs no roots.
    world.policy.required_anchors.clear();
    assert_eq!(load(&world, &input(Some(&bytes(&world.policy)))).1, [""; 0]);
}

#[test]
fn a_log_policy_that_is_refused_is_not_used() {
    let mut world = World::new();
    let twice = log_policy().replace("group", "witness w4 KEY\ngroup");
    let key = log_policy().lines().nth(1).unwrap().split(' ').nth(2).unwrap().to_owned();
    for (text, expected) in [
        (twice.replace("KEY", &key), "LOG.WITNESS_DUP"),
        (log_policy().replace("quorum g\n", ""), "POLICY.NO_QUORUM"),
    ] {
        world.policy.logs = Some(Digest::of(text.as_bytes()));
        world.trust = vec![
            ("a".to_owned(), TSA_A.root_der()),
            ("logs".to_owned(), text.clone().into_bytes()),
        ];
        let policy = bytes(&world.policy);
        let (context, found) = load(&world, &input(Some(&policy)));
        assert_eq!(found, [expected], "{text}");
        assert!(context.logs().is_none());
        world.trust.remove(0);
        assert_eq!(load(&world, &input(Some(&policy))).1, [expected, "POL.NO_ROOTS"]);
    }
}

const LAYERS: &[ProvenanceLayer] = &[ProvenanceLayer::SignedEntriesAndCheckpoints];

fn facts() -> PolicyFacts<'static> {
    PolicyFacts {
        outcome: RunOutcome::Completed,
        notice: None,
        several_nodes: None,
        unbound: None,
        layers: Some(LAYERS),
        seal: None,
        operator: None,
        root_core: Some(Digest::of(b"root")),
        plan_hash: Some(Digest::of(b"plan")),
    }
}

fn judged(policy: &Policy, facts: &PolicyFacts<'_>) -> Vec<String> {
    let bytes = bytes(policy);
    let mut findings = Findings::new();
    let trust = TrustMaterial::default();
    let context = PolicyContext::load(&input(Some(&bytes)), &trust, &mut Findings::new());
    judge(facts, &context, &mut findings);
    codes(&findings)
}

#[test]
fn a_record_is_held_against_the_policy() {
    let mut policy = World::new().policy;
    let good = facts();
    let bad = PolicyFacts {
        outcome: RunOutcome::Invalid,
        notice: Some(7),
        several_nodes: Some(3),
        unbound: Some("core/artifacts/x"),
        layers: Some(&[ProvenanceLayer::RuntimeAttestation]),
        ..good
    };
    assert_eq!(judged(&policy, &good), [""; 0]);
    assert_eq!(judged(&policy, &bad), ["POL.OUTCOME", "POL.LAYERS"]);
    policy.reject_with_notice = true;
    policy.require_single_node_sessions = true;
    policy.require_bound_artifacts = true;
    assert_eq!(judged(&policy, &good), [""; 0]);
    let all = ["POL.OUTCOME", "POL.NOTICE", "POL.SESSION_NODES", "POL.UNBOUND", "POL.LAYERS"];
    assert_eq!(judged(&policy, &bad), all);
    assert_eq!(judged(&policy, &PolicyFacts { layers: None, ..good }), ["POL.LAYERS"]);

    // Without a policy nothing is asked.
    let context =
        PolicyContext::load(&input(None), &TrustMaterial::default(), &mut Findings::new());
    let mut findings = Findings::new();
    judge(&bad, &context, &mut findings);
    assert!(findings.is_empty());
}

#[test]
fn a_seal_is_the_operators_over_this_core() {
    let (key, other) = (SigningKey::from_seed(&[1; 32]), SigningKey::from_seed(&[2; 32]));
    let credential = Credential { key: key.public_key(), key_id: key.id() };
    let seal = |message: &[u8], signer: &SigningKey| OperatorSeal {
        signed: Signed {
            type_agrees: true,
            plan_hash: Some(Digest::of(b"plan")),
            key_id: Some(key.id()),
            signature: Some(signer.sign(message)),
            message: b"body".to_vec(),
        },
        root_core: Some(Digest::of(b"root")),
    };
    let good = seal(b"body", &key);
    let mut policy = World::new().policy;
    let with = |seal| PolicyFacts { seal, operator: Some(&credential), ..facts() };
    assert_eq!(judged(&policy, &with(None)), [""; 0]);
    assert_eq!(judged(&policy, &with(Some(&good))), [""; 0]);
    let mut bad = vec![seal(b"other", &key), seal(b"body", &other)];
    let mut change = |change: fn(&mut OperatorSeal)| {
        let mut seal = good.clone();
        change(&mut seal);
        bad.push(seal);
    };
    change(|seal| seal.signed.type_agrees = false);
    change(|seal| seal.signed.plan_hash = None);
    change(|seal| seal.signed.plan_hash = Some(Digest::of(b"other")));
    change(|seal| seal.signed.key_id = Some(SigningKey::from_seed(&[2; 32]).id()));
    change(|seal| seal.signed.signature = None);
    change(|seal| seal.root_core = None);
    change(|seal| seal.root_core = Some(Digest::of(b"plan")));
    for required in [false, true] {
        policy.require_operator_seal = required;
        let expected = if required { "POL.SEAL" } else { "(POL.SEAL)" };
        for seal in &bad {
            assert_eq!(judged(&policy, &with(Some(seal))), [expected], "{seal:?}");
        }
        let unknown = PolicyFacts { operator: None, ..with(Some(&good)) };
        assert_eq!(judged(&policy, &unknown), [expected]);
    }
    assert_eq!(judged(&policy, &with(None)), ["POL.SEAL"]);
    assert_eq!(judged(&policy, &with(Some(&good))), [""; 0]);
    // Nothing to seal: what can't be recomputed is not sealed.
    let none = PolicyFacts { root_core: None, ..with(Some(&bad[6])) };
    assert_eq!(judged(&policy, &none), ["POL.SEAL"]);
}
