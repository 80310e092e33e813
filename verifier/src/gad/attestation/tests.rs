//! Attestations, and who made them.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use anchorlog_proto::Digest;
use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::attestation::{AttestationBody, Implementation, PolicyName};
use anchorlog_proto::gad::names::{ObservationLayer, Role, RunOutcome};
use anchorlog_proto::gad::operator::{Credential, Operator};
use anchorlog_proto::gad::plan::Principal;
use anchorlog_proto::gad::policy::{CredentialAuthority, Party, Policy, ReplayPolicy};
use anchorlog_proto::signed_object::SigningKey;
use anchorlog_proto::timestamp::GenTime;

use super::{AttestError, AttestationFacts, AttestationFile, Evaluator, attest, judge};
use crate::gad::anchors::testing::{AT, END, World, codes};
use crate::gad::finding::Findings;
use crate::gad::report::{Input, Precedence, Report, RuleState, Statuses, Versions};

fn key(number: u8) -> SigningKey {
    SigningKey::from_seed(&[number; 32])
}

const EVALUATOR: u8 = 1;
const OPERATOR: u8 = 2;
const ENGINE: u8 = 3;
const OTHER: u8 = 4;

fn party(id: &str, name: &str, keys: &[u8]) -> Party {
    let keys = keys.iter().map(|number| key(*number).id()).collect();
    Party { id: id.into(), names: vec![name.into()], keys }
}

/// A policy, a record, and attestations of it.
struct Case {
    policy: Policy,
    body: AttestationBody,
    operator: Option<Operator>,
    principals: Vec<Principal>,
    signer: u8,
    beside: bool,
    predecessor: Option<Digest>,
    latest_anchor: Option<GenTime>,
    replay_asked: bool,
    in_core: Vec<Box<str>>,
}

impl Case {
    fn new() -> Self {
        let implementation = Implementation {
            name: "evaluator".into(),
            version: "1".into(),
            hash: Digest::of(b"binary"),
        };
        let mut policy = World::new().policy;
        policy.required_anchors.clear();
        policy.accepted_evaluators = vec![implementation.clone()];
        policy.parties = vec![
            party("op", "Operator Ltd", &[OPERATOR]),
            party("ev", "Evaluator AG", &[EVALUATOR]),
        ];
        policy.credential_authorities = vec![CredentialAuthority {
            id: "ca".into(),
            keys: [EVALUATOR, OPERATOR, ENGINE].iter().map(|number| key(*number).id()).collect(),
            roots: Vec::new(),
        }];
        let body = AttestationBody {
            plan_hash: Digest::of(b"plan"),
            root_core: Digest::of(b"root"),
            root_envelope: Some(Digest::of(b"envelope")),
            valid: true,
            outcome: RunOutcome::Completed,
            satisfied: true,
            spec_version: "1.3".into(),
            canonicalization: "jcs-int/1".into(),
            registry: "gad.registry/1".into(),
            evaluator: "Evaluator AG".into(),
            implementation,
            policy: PolicyName { id: "test".into(), hash: policy.hash() },
            replay_layers: Vec::new(),
            suite_version: "1".into(),
            evaluation_time: END + 1000,
        };
        let operator = Operator {
            identity: "Operator Ltd".into(),
            credential: Credential { key: key(OPERATOR).public_key(), key_id: key(OPERATOR).id() },
            implementation: "engine".into(),
            unit: "unit".into(),
            engagement: "lane".into(),
        };
        let engine = Principal {
            key_id: key(ENGINE).id(),
            key: key(ENGINE).public_key(),
            custody: "kept".into(),
            roles: vec![Role::Engine],
            party: None,
        };
        Self {
            policy,
            body,
            operator: Some(operator),
            principals: vec![engine],
            signer: EVALUATOR,
            beside: false,
            predecessor: Some(Digest::of(b"envelope")),
            latest_anchor: Some(GenTime::from_unix(END + 60)),
            replay_asked: false,
            in_core: Vec::new(),
        }
    }

    /// Under this policy, whatever it is by now.
    fn under_policy(mut self, change: impl FnOnce(&mut Policy)) -> Self {
        change(&mut self.policy);
        self.body.policy.hash = self.policy.hash();
        self
    }

    fn stating(mut self, change: impl FnOnce(&mut AttestationBody)) -> Self {
        change(&mut self.body);
        self
    }

    fn bytes(&self) -> Vec<u8> {
        self.body.sign(&key(self.signer)).to_canonical()
    }

    fn codes(&self) -> Vec<String> {
        let bytes = self.bytes();
        let (found, holds) = self.judge(&[&bytes]);
        assert_eq!(holds, found.is_empty() && self.in_core.is_empty());
        found
    }

    fn judge(&self, files: &[&[u8]]) -> (Vec<String>, bool) {
        let world = World { policy: self.policy.clone(), ..World::new() };
        let context = world.load(&mut Findings::new());
        let files: Vec<_> = files
            .iter()
            .map(|bytes| AttestationFile { name: "q", bytes, beside: self.beside })
            .collect();
        let facts = AttestationFacts {
            root_core: Some(Digest::of(b"root")),
            plan_hash: Some(Digest::of(b"plan")),
            valid: true,
            outcome: RunOutcome::Completed,
            satisfied: true,
            spec_version: Some("1.3"),
            canonicalization: Some("jcs-int/1"),
            registry: Some("gad.registry/1"),
            predecessor: self.predecessor,
            latest_anchor: self.latest_anchor,
            replay_asked: self.replay_asked,
            in_core: &self.in_core,
            operator: self.operator.as_ref(),
            principals: &self.principals,
        };
        let mut findings = Findings::new();
        let outcome = judge(&files, &facts, &context, &Limits::DEFAULT, &mut findings);
        (codes(&findings), outcome.holds().is_some())
    }
}

#[test]
fn a_good_attestation_counts() {
    assert_eq!(Case::new().codes(), [""; 0]);
    assert_eq!(Case::new().stating(|q| q.root_envelope = None).codes(), [""; 0]);
    let in_core = vec!["core/artifacts/q".into()];
    assert_eq!(Case { in_core, ..Case::new() }.codes(), ["ATT.IN_CORE"]);
}

#[test]
fn without_an_attestation_there_is_none() {
    assert_eq!(Case::new().judge(&[]), (vec!["ATT.MISSING".to_owned()], false));
}

#[test]
fn one_that_is_not_of_its_form_says_nothing() {
    let case = Case::new();
    let good = String::from_utf8(case.bytes()).unwrap();
    for bad in [
        String::new(),
        "{}".to_owned(),
        format!("{good}\n"),
        good.replace("\"type\":\"attestation\"", "\"type\":\"verdict\""),
        good.replace("\"conformance_suite_version\"", "\"suite\""),
        good.replace("\"satisfied\":true", "\"satisfied\":1"),
        good.replace("\"alg\":\"ed25519\"", "\"alg\":\"rsa\""),
        good.replace(&key(EVALUATOR).id().to_string(), &key(OTHER).id().to_string()),
        good.replace("Evaluator AG", ""),
    ] {
        assert_ne!(bad, good);
        let (mut found, holds) = case.judge(&[bad.as_bytes()]);
        found.dedup();
        assert_eq!((found, holds), (vec!["ATT.FORM".to_owned()], false), "{bad}");
    }
}

#[test]
fn every_statement_is_held_against_the_evaluation() {
    let stated = |change: fn(&mut AttestationBody)| Case::new().stating(change).codes();
    assert_eq!(stated(|q| q.root_core = Digest::of(b"x")), ["ATT.ROOT_CORE"]);
    assert_eq!(stated(|q| q.plan_hash = Digest::of(b"x")), ["ATT.ROOT_CORE"]);
    assert_eq!(stated(|q| q.valid = false), ["ATT.NEGATIVE", "ATT.DIVERGES"]);
    assert_eq!(stated(|q| q.outcome = RunOutcome::Halted), ["ATT.DIVERGES"]);
    assert_eq!(stated(|q| q.satisfied = false), ["ATT.DIVERGES"]);
    assert_eq!(stated(|q| q.spec_version = "1.2".into()), ["ATT.SPEC_VERSION"]);
    assert_eq!(stated(|q| q.canonicalization = "jcs".into()), ["ATT.SPEC_VERSION"]);
    assert_eq!(stated(|q| q.registry = "gad.registry/2".into()), ["ATT.SPEC_VERSION"]);
    assert_eq!(stated(|q| q.implementation.version = "2".into()), ["ATT.IMPLEMENTATION"]);
    assert_eq!(stated(|q| q.policy.hash = Digest::of(b"x")), ["ATT.POLICY"]);
    let mut case = Case::new().stating(|q| q.policy.hash = Digest::of(b"x"));
    case.policy.accept_attestations_under = vec![Digest::of(b"x")];
    assert_eq!(case.codes(), [""; 0]);
}

#[test]
fn the_signature_is_the_credentials() {
    let case = Case::new();
    let good = String::from_utf8(case.bytes()).unwrap();
    let altered = good.replace("\"1.3\"", "\"1.2\"");
    assert_ne!(altered, good);
    let (found, _) = case.judge(&[altered.as_bytes()]);
    assert_eq!(found, ["ATT.SIG", "ATT.SPEC_VERSION"]);
}

#[test]
fn keys_are_trusted_and_not_revoked() {
    let case = Case::new().under_policy(|policy| policy.credential_authorities.clear());
    assert_eq!(case.codes(), ["ATT.UNTRUSTED"]);
    let revoked =
        |from| Case::new().under_policy(|p| p.revoked_keys = vec![(key(EVALUATOR).id(), from)]);
    assert_eq!(revoked(AT).codes(), ["ATT.KEY_REVOKED"]);
    assert_eq!(revoked(AT + 1).codes(), [""; 0]);
    let other = Case::new().under_policy(|p| p.revoked_keys = vec![(key(OTHER).id(), 0)]);
    assert_eq!(other.codes(), [""; 0]);
}

#[test]
fn replay_that_was_asked_for_was_exercised() {
    let case = || Case::new().under_policy(|policy| policy.replay = ReplayPolicy::RequiredForAll);
    assert_eq!(case().codes(), [""; 0]);
    assert_eq!(Case { replay_asked: true, ..case() }.codes(), ["ATT.REPLAY_LAYERS"]);
    let exercised =
        case().stating(|q| q.replay_layers = vec![ObservationLayer::IndependentlyReplayable]);
    assert_eq!(Case { replay_asked: true, ..exercised }.codes(), [""; 0]);
}

#[test]
fn times_are_possible() {
    let at = |time| Case::new().stating(|q| q.evaluation_time = time);
    assert_eq!(at(AT + 300).codes(), [""; 0]);
    assert_eq!(at(AT + 301).codes(), ["ATT.TIME_FUTURE"]);
    // The anchor is of END + 60, the skew 300.
    assert_eq!(at(END - 240).codes(), [""; 0]);
    assert_eq!(at(END - 241).codes(), ["ATT.TIME_ORDER"]);
    assert_eq!(Case { latest_anchor: None, ..at(END - 241) }.codes(), [""; 0]);
    // Of another envelope than the one before: it need not have seen the anchor, unless it was given
    // beside this one.
    let early = || Case { predecessor: None, ..at(END - 241) };
    assert_eq!(early().codes(), [""; 0]);
    assert_eq!(early().stating(|q| q.root_envelope = None).codes(), [""; 0]);
    assert_eq!(Case { beside: true, ..early() }.codes(), ["ATT.TIME_ORDER"]);
}

#[test]
fn parties_are_resolved_and_distinct() {
    let parties = |parties: Vec<Party>| Case::new().under_policy(|p| p.parties = parties).codes();
    let (operator, evaluator) =
        (party("op", "Operator Ltd", &[OPERATOR]), party("ev", "Evaluator AG", &[EVALUATOR]));
    assert_eq!(parties(vec![evaluator.clone()]), ["IND.OPERATOR_UNRESOLVED"]);
    assert_eq!(parties(vec![operator.clone()]), ["IND.EVALUATOR_UNRESOLVED"]);
    let twice = party("op2", "Operator Ltd", &[]);
    assert_eq!(
        parties(vec![operator.clone(), evaluator.clone(), twice]),
        ["IND.OPERATOR_UNRESOLVED"]
    );
    // By its name and key together, byte for byte, and nobody else has one of them.
    for other in [
        party("ev", "Evaluator AG", &[OTHER]),
        party("ev", "Evaluator ag", &[EVALUATOR]),
        party("ev", "Evaluator AG ", &[EVALUATOR]),
    ] {
        assert_eq!(parties(vec![operator.clone(), other]), ["IND.EVALUATOR_UNRESOLVED"]);
    }
    for third in [party("x", "X", &[EVALUATOR]), party("x", "Evaluator AG", &[])] {
        let all = vec![operator.clone(), evaluator.clone(), third];
        assert_eq!(parties(all), ["IND.EVALUATOR_UNRESOLVED"]);
    }
    // The operator's name, and a credential that the policy knows as somebody else's.
    let theirs = party("ev", "Evaluator AG", &[EVALUATOR, OPERATOR]);
    assert_eq!(
        parties(vec![party("op", "Operator Ltd", &[]), theirs]),
        ["IND.OPERATOR_UNRESOLVED"]
    );
    assert_eq!(parties(vec![party("op", "Operator Ltd", &[]), evaluator.clone()]), [""; 0]);
    let mut both = party("op", "Operator Ltd", &[OPERATOR, EVALUATOR]);
    both.names.push("Evaluator AG".into());
    assert_eq!(parties(vec![both]), ["IND.SAME_PARTY"]);
    assert_eq!(Case { operator: None, ..Case::new() }.codes(), ["IND.OPERATOR_UNRESOLVED"]);
}

#[test]
fn related_parties_and_unknown_rules_are_not_independent() {
    let related = |groups: &[&[&str]]| {
        let group =
            |group: &&[&str]| group.iter().map(|id| (*id).into()).collect::<Vec<Box<str>>>();
        let groups = groups.iter().map(group).collect();
        Case::new().under_policy(|policy| policy.related_groups = groups).codes()
    };
    assert_eq!(related(&[&["op", "x"], &["ev", "x"]]), [""; 0]);
    assert_eq!(related(&[&["x"], &["ev", "x", "op"]]), ["IND.RELATED"]);
    let rule = Case::new().under_policy(|policy| policy.independence = "other/1".into());
    assert_eq!(rule.codes(), ["IND.RULE"]);
}

#[test]
fn keys_are_not_shared() {
    // Whoever lists the operator's key is somebody else than the operator's name says.
    let unplaced = &["IND.OPERATOR_UNRESOLVED", "IND.SHARED_KEY"][..];
    for (signer, party_keys, expected) in
        [(OPERATOR, &[OPERATOR][..], unplaced), (ENGINE, &[ENGINE], &["IND.SHARED_KEY"])]
    {
        let mut case = Case::new().under_policy(|policy| {
            policy.parties =
                vec![party("op", "Operator Ltd", &[]), party("ev", "Evaluator AG", party_keys)];
        });
        case.signer = signer;
        assert_eq!(case.codes(), expected);
        // Whatever identifier the record gives it.
        if let Some(engine) = case.principals.first_mut() {
            engine.key_id = key(OTHER).id();
        }
        if let Some(operator) = &mut case.operator {
            operator.credential.key_id = key(OTHER).id();
        }
        assert_eq!(case.codes(), expected);
    }
}

#[test]
fn one_that_passes_is_enough_and_the_others_are_still_reported() {
    let case = Case::new();
    let (good, bad) = (case.bytes(), Case::new().stating(|q| q.valid = false).bytes());
    let (found, holds) = case.judge(&[&bad, &good, b"{}"]);
    assert!(holds && found.iter().all(|code| code.starts_with('(')), "{found:?}");
    assert_eq!(found[..2], ["(ATT.NEGATIVE)", "(ATT.DIVERGES)"]);
    // Not half of one and half of another.
    let mut stranger = Case::new();
    stranger.signer = OTHER;
    let negative = Case::new().stating(|q| q.satisfied = false).bytes();
    let (found, holds) = case.judge(&[&stranger.bytes(), &negative]);
    assert!(!holds);
    assert_eq!(found, ["ATT.UNTRUSTED", "IND.EVALUATOR_UNRESOLVED", "ATT.DIVERGES"]);
}

fn report(case: &Case) -> Report {
    let q = &case.body;
    Report {
        evaluator: q.implementation.clone(),
        input: Input { form: "directory", sha256: None },
        root_core: Some(q.root_core),
        root_envelope: q.root_envelope,
        plan_hash: Some(q.plan_hash),
        versions: Versions {
            spec: Some(q.spec_version.clone()),
            registry: Some("gad.registry/1"),
            ..Versions::default()
        },
        statuses: Statuses {
            valid: q.valid,
            outcome: q.outcome,
            satisfied: q.satisfied,
            defensible: Some(false),
            level: 3,
            rules: [RuleState::Pass; 10],
            unevaluable: false,
        },
        anchors: Vec::new(),
        audits: Vec::new(),
        unsigned_metadata: None,
        claims_not_evaluated: Vec::new(),
        replay_layers: Vec::new(),
        vacuous_anchors: true,
        precedence: Precedence::Recorded,
        policy: q.policy.clone(),
        limits: Limits::DEFAULT,
        evaluation_time: q.evaluation_time,
        findings: Findings::new(),
    }
}

#[test]
fn an_evaluation_is_attested_as_it_came_out() {
    let case = Case::new();
    let key = key(EVALUATOR);
    let evaluator = Evaluator { identity: "Evaluator AG", key: &key, suite_version: "1" };
    let mut report = report(&case);
    let made = attest(&report, &evaluator).unwrap();
    assert_eq!(made, case.bytes());
    assert_eq!(case.judge(&[&made]), (Vec::new(), true));

    // A bad result is attested as one.
    report.statuses.valid = false;
    let (found, _) = case.judge(&[&attest(&report, &evaluator).unwrap()]);
    assert_eq!(found, ["ATT.NEGATIVE", "ATT.DIVERGES"]);

    for identity in [String::new(), "x".repeat(1025)] {
        let refused = attest(&report, &Evaluator { identity: &identity, ..evaluator.clone() });
        assert_eq!(refused, Err(AttestError::Identity { bytes: identity.len() }));
    }
    report.plan_hash = None;
    assert_eq!(attest(&report, &evaluator), Err(AttestError::Nothing { what: "plan" }));
    report.statuses.unevaluable = true;
    assert_eq!(attest(&report, &evaluator), Err(AttestError::Unevaluable));
}
