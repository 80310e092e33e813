use anchorlog_proto::gad::claims::{Noncoverage, Subject};
use anchorlog_proto::gad::entry::Payload;
use anchorlog_proto::gad::names::{EvidenceClass, PassFail};
use anchorlog_proto::gad::payload::{Delta, PlanSuperseded};

use std::sync::Arc;

use super::*;
use crate::gad::replay::ReplayRule;
use crate::gad::rules::R4;
use crate::gad::rules::testing::{Log, codes, digest, kept, key, plan};

const FREEZE: u64 = 0;
const DISPATCH: u64 = 1;
const RESULT: u64 = 3;
const SAID: u64 = 4;
const T1: u64 = 5;
const T2: u64 = 6;
const CHECKPOINT: u64 = 7;
const FLAGGED_RESULT: u64 = 10;
const CLOSED: u64 = 13;
const APPROVAL: u64 = 17;
const LAST_RESULT: u64 = 20;
const LAST_T1: u64 = 21;
/// Where a record that is changed goes on.
const NEXT: u64 = 22;
/// In a record that isn't.
const SUPERSEDED: u64 = NEXT;

/// A record with a piece of evidence for each predicate. n1: one attempt, nothing flagged. n2: flagged,
/// closed, approved. n3 and n4 together in one session at the end, after which t1 of n3 fails. What `change`
/// writes comes before the end.
fn record(log: &mut Log, change: impl FnOnce(&mut Log)) {
    log.freeze().session("s1", &["n1"], &[]).claim("s1", "n1").passes("s1", "n1").checkpoint();
    log.session("s2", &["n2"], &["docs/a"]).flag("n2", &["docs/a"]);
    log.closed("n2", PassFail::Pass).passes("s2", "n2").gate_request("n2").approval("n2");
    log.session("s3", &["n3", "n4"], &[]).verdict("s3", "n3", "t1", PassFail::Fail);
    change(log);
    let superseded = PlanSuperseded {
        predecessor: digest("plan"),
        successor: digest("another plan"),
        named_authority: key("authority").id(),
        delta: Some(Delta {
            reason: "r",
            obligations: vec![],
            class_floors: vec![],
            fences: vec![],
            tests: vec![],
        }),
    };
    log.push(EntryType::PlanSuperseded, Payload::PlanSuperseded(superseded));
}

fn record_plan() -> Arc<PlanIndex> {
    plan(|plan| {
        plan.edges.clear();
        plan.nodes.push(crate::gad::rules::testing::node("n4"));
    })
}

fn entries(seqs: &[u64]) -> Vec<EvidenceRef> {
    seqs.iter().map(|seq| EvidenceRef::Entry(*seq)).collect()
}

/// The claim of a predicate over this record at this class, with everything the registry asks for.
fn claim(predicate: &str, class: EvidenceClass) -> TypedClaim {
    let (node, test, evidence) = match predicate {
        "gad/test_passed" => (Some("n1"), Some("t1"), entries(&[T1])),
        "gad/node_verified" => (Some("n1"), None, entries(&[T1, T2])),
        "gad/scope_contained" => (Some("n1"), None, entries(&[RESULT])),
        "gad/gate_authorized" => (Some("n2"), None, entries(&[APPROVAL])),
        "gad/succeeded_with_delta" => (None, None, entries(&[SUPERSEDED])),
        "gad/record_covered" => (None, None, entries(&[CHECKPOINT])),
        "gad/existed_by" => (None, None, vec![EvidenceRef::Anchor(AnchorKind::CoreRoot)]),
        "gad/precedence_recorded" => (None, None, entries(&[FREEZE, DISPATCH])),
        "gad/precedence_bounded" => {
            (None, None, vec![EvidenceRef::Anchor(AnchorKind::PlanCommitment)])
        }
        "gad/executor_said" => (Some("n1"), None, entries(&[SAID])),
        _ => (Some("n1"), None, entries(&[T1])),
    };
    let aspect = Predicate::find(predicate).map_or("scope", |predicate| predicate.aspect);
    TypedClaim {
        predicate: predicate.into(),
        subject: Subject {
            plan_hash: digest("plan"),
            node: node.map(Into::into),
            test_id: test.map(Into::into),
        },
        evidence,
        class,
        noncoverage: Some(vec![Noncoverage { aspect: aspect.into(), text: "this".into() }]),
        issuer: IssuerType::Machine,
        signed: None,
    }
}

const VERIFIED: AnchorState = AnchorState { listed: true, verified: true };

/// The findings over some claims, and which of them were not evaluated.
fn judge(
    claims: Vec<Option<TypedClaim>>,
    registry_known: bool,
    anchors: Option<&dyn Fn(AnchorKind) -> AnchorState>,
    change: impl FnOnce(&mut Log),
) -> (Findings, Vec<usize>) {
    let plan = record_plan();
    let mut log = Log::new(&plan);
    record(&mut log, change);
    let claims = Claims { registry_known, claims };
    let mut verdicts = R4::new(Arc::clone(&plan), ReplayRule::none());
    let mut machine = Machine::new(Arc::clone(&plan), false);
    let mut ledger = Ledger::new();
    let mut scope = R6::new(&plan);
    for event in log.events() {
        scope.observe(&event, &machine, &ledger, &mut Findings::new());
        let judged = verdicts.observe(&event, &machine, &mut Findings::new());
        machine.step(&event, judged, &mut Findings::new());
        ledger.keep(event.index, event.entry.seq, kept(&event, &machine, judged));
    }
    let mut findings = Findings::new();
    let record = Record { plan: &plan, machine: &machine, ledger: &ledger, scope: &scope };
    let not_evaluated = super::judge(&claims, record, anchors, &mut findings);
    (findings, not_evaluated)
}

fn found(claim: TypedClaim) -> Vec<&'static str> {
    codes(&judge(vec![Some(claim)], true, Some(&|_| VERIFIED), |_| {}).0)
}

fn changed(predicate: &str, change: impl FnOnce(&mut TypedClaim)) -> Vec<&'static str> {
    let mut claim = claim(predicate, EvidenceClass::EngineObserved);
    change(&mut claim);
    found(claim)
}

/// For each row of the registry: what each class comes to, from attested up.
#[test]
fn each_predicate_holds_at_the_classes_its_evidence_supports() {
    use EvidenceClass::{Attested, EngineObserved, Proxy};
    let (fits, below, above): (&[&str], &[&str], &[&str]) = (&[], &["R9.ALLOWED"], &["R9.CLASS"]);
    let human = |claim: TypedClaim| claim.signed_by(digest("plan"), &key("approver"));
    for (predicate, expected) in [
        ("gad/test_passed", [below, fits, fits]),
        ("gad/node_verified", [below, fits, fits]),
        ("gad/scope_contained", [below, fits, fits]),
        ("gad/gate_authorized", [fits, fits, fits]),
        ("gad/succeeded_with_delta", [below, below, fits]),
        ("gad/record_covered", [below, below, fits]),
        ("gad/existed_by", [below, below, fits]),
        ("gad/precedence_recorded", [below, below, fits]),
        ("gad/precedence_bounded", [below, below, fits]),
        ("gad/executor_said", [fits, above, above]),
        ("judgment/adequate", [fits, above, above]),
    ] {
        for (class, expected) in [Attested, Proxy, EngineObserved].into_iter().zip(expected) {
            let mut claim = claim(predicate, class);
            if predicate == "judgment/adequate" {
                claim = human(claim);
            }
            assert_eq!(found(claim), *expected, "{predicate} {class}");
        }
    }
    let signed = human(claim("gad/gate_authorized", EngineObserved));
    assert_eq!(found(signed), [""; 0]);
}

#[test]
fn what_is_not_of_the_form_or_the_registry() {
    let good = || Some(claim("gad/test_passed", EvidenceClass::Proxy));
    let (findings, _) = judge(vec![good(), None], true, None, |_| {});
    assert_eq!(codes(&findings), ["R9.FORM"]);
    assert_eq!(findings.list().first().unwrap().place.pointer.as_deref(), Some("/claims/1"));
    let (findings, _) = judge(vec![good()], false, None, |_| {});
    assert_eq!(codes(&findings), ["R9.REGISTRY"]);
    assert_eq!(changed("gad/test_passed", |c| c.predicate = "gad/safe".into()), ["R9.PREDICATE"]);
    // A machine's claim in a signed object isn't of the form either.
    let signed =
        claim("gad/test_passed", EvidenceClass::Proxy).signed_by(digest("plan"), &key("approver"));
    assert_eq!(found(TypedClaim { issuer: IssuerType::Machine, ..signed }), ["R9.FORM"]);
    let (findings, _) = judge(vec![], true, None, |_| {});
    assert!(findings.is_empty());
}

#[test]
fn issuers() {
    let judgment = || claim("judgment/secure", EvidenceClass::Attested);
    assert_eq!(found(judgment()), ["R9.MACHINE_JUDGMENT"]);
    // And only that, whatever else there is.
    let bare = TypedClaim { evidence: vec![], noncoverage: None, ..judgment() };
    assert_eq!(found(bare), ["R9.MACHINE_JUDGMENT"]);
    let unsigned = TypedClaim { issuer: IssuerType::Human, ..judgment() };
    assert_eq!(found(unsigned), ["R9.HUMAN_UNSIGNED"]);
    let signed = |plan: &str, name: &str| judgment().signed_by(digest(plan), &key(name));
    assert_eq!(found(signed("plan", "approver")), [""; 0]);
    assert_eq!(found(signed("plan", "authority")), [""; 0]);
    assert_eq!(found(signed("plan", "engine")), ["R9.HUMAN_UNSIGNED"]);
    assert_eq!(found(signed("plan", "stranger")), ["R9.HUMAN_UNSIGNED"]);
    assert_eq!(found(signed("another plan", "approver")), ["R9.HUMAN_UNSIGNED"]);
    let forged: [fn(&mut Signed); 4] = [
        |signed| signed.type_agrees = false,
        |signed| signed.signature = None,
        |signed| signed.message.push(b' '),
        |signed| signed.key_id = Some(key("authority").id()),
    ];
    for forge in forged {
        let mut claim = signed("plan", "approver");
        forge(claim.signed.as_mut().unwrap());
        assert_eq!(found(claim), ["R9.HUMAN_UNSIGNED"]);
    }
    // A human may not claim what only a machine may.
    let human =
        claim("gad/test_passed", EvidenceClass::Proxy).signed_by(digest("plan"), &key("approver"));
    assert_eq!(found(human), ["R9.ISSUER"]);
    let unsigned = changed("gad/test_passed", |claim| claim.issuer = IssuerType::Human);
    assert_eq!(unsigned, ["R9.HUMAN_UNSIGNED", "R9.ISSUER"]);
}

#[test]
fn noncoverage_names_the_aspect_of_the_predicate() {
    let with = |aspects: Option<&[&str]>| {
        changed("gad/test_passed", |claim| {
            claim.noncoverage = aspects.map(|aspects| {
                let named =
                    |aspect: &&str| Noncoverage { aspect: (*aspect).into(), text: "x".into() };
                aspects.iter().map(named).collect()
            });
        })
    };
    assert_eq!(with(Some(&["scope", "not_exercised"])), [""; 0]);
    for refused in [None, Some(&[][..]), Some(&["scope"])] {
        assert_eq!(with(refused), ["R9.NONCOVERAGE"], "{refused:?}");
    }
}

#[test]
fn evidence_has_to_be_there_and_of_the_right_kind() {
    let with = |predicate, evidence| changed(predicate, |claim| claim.evidence = evidence);
    assert_eq!(with("gad/test_passed", vec![]), ["R9.EVIDENCE_EMPTY"]);
    assert_eq!(with("gad/test_passed", entries(&[99])), ["R9.EVIDENCE_REF"]);
    for seq in [FREEZE, DISPATCH, RESULT, SAID, CHECKPOINT, APPROVAL, SUPERSEDED] {
        assert_eq!(with("gad/test_passed", entries(&[seq])), ["R9.EVIDENCE_SHAPE"], "{seq}");
    }
    let commitment = || vec![EvidenceRef::Anchor(AnchorKind::PlanCommitment)];
    let shape = ["R9.EVIDENCE_SHAPE"];
    assert_eq!(with("gad/test_passed", commitment()), shape);
    assert_eq!(with("gad/existed_by", commitment()), shape);
    assert_eq!(with("gad/existed_by", entries(&[CHECKPOINT])), shape);
    assert_eq!(with("gad/record_covered", commitment()), shape);
    let judgment = TypedClaim {
        evidence: commitment(),
        ..claim("judgment/adequate", EvidenceClass::Attested)
    };
    assert_eq!(found(judgment.signed_by(digest("plan"), &key("approver"))), shape);
    // Pieces too many, too few, or others than those that count.
    assert_eq!(with("gad/test_passed", entries(&[T1, T1])), shape);
    assert_eq!(with("gad/node_verified", entries(&[T1])), shape);
    assert_eq!(with("gad/node_verified", entries(&[T1, T1])), shape);
    assert_eq!(with("gad/node_verified", entries(&[T1, T2, T2])), shape);
    assert_eq!(with("gad/precedence_recorded", entries(&[FREEZE])), shape);
    assert_eq!(with("gad/precedence_recorded", entries(&[DISPATCH])), shape);
    assert_eq!(with("gad/precedence_recorded", entries(&[FREEZE, 8])), shape);
    assert_eq!(with("gad/precedence_recorded", entries(&[FREEZE, DISPATCH, 8])), shape);
    assert_eq!(with("gad/record_covered", entries(&[CHECKPOINT, CHECKPOINT])), [""; 0]);
}

#[test]
fn evidence_has_to_be_about_the_subject() {
    let subject = ["R9.EVIDENCE_SUBJECT"];
    let about = |predicate, node: Option<&str>, test: Option<&str>| {
        changed(predicate, |claim| {
            claim.subject.node = node.map(Into::into);
            claim.subject.test_id = test.map(Into::into);
        })
    };
    let other_plan = changed("gad/test_passed", |c| c.subject.plan_hash = digest("other"));
    assert_eq!(other_plan, subject);
    assert_eq!(about("gad/test_passed", Some("n1"), Some("t2")), subject);
    assert_eq!(about("gad/test_passed", Some("n2"), Some("t1")), subject);
    assert_eq!(about("gad/executor_said", Some("n2"), None), subject);
    assert_eq!(about("gad/gate_authorized", Some("n1"), None), subject);
    // Of another shape than the predicate's, or not in the plan.
    assert_eq!(about("gad/test_passed", Some("n1"), None), subject);
    assert_eq!(about("gad/test_passed", None, None), subject);
    assert_eq!(about("gad/test_passed", Some("n9"), Some("t1")), subject);
    assert_eq!(about("gad/test_passed", Some("n1"), Some("t9")), subject);
    assert_eq!(about("gad/node_verified", Some("n1"), Some("t1")), subject);
    assert_eq!(about("gad/record_covered", Some("n1"), None), subject);
    assert_eq!(about("gad/existed_by", Some("n1"), None), subject);
    // Verdicts of another node.
    let found = about("gad/node_verified", Some("n2"), None);
    assert_eq!(found, ["R9.EVIDENCE_SHAPE", "R9.EVIDENCE_SUBJECT"]);
    // A judgment may be about anything, on evidence about that or about the record.
    let judged = |node: Option<&str>, test: Option<&str>, evidence: &[u64]| {
        let mut claim = claim("judgment/adequate", EvidenceClass::Attested);
        claim.subject.node = node.map(Into::into);
        claim.subject.test_id = test.map(Into::into);
        claim.evidence = entries(evidence);
        self::found(claim.signed_by(digest("plan"), &key("approver")))
    };
    assert_eq!(judged(None, None, &[T1, CHECKPOINT, RESULT]), [""; 0]);
    assert_eq!(judged(Some("n1"), None, &[T1, CHECKPOINT, DISPATCH, RESULT, SAID]), [""; 0]);
    assert_eq!(judged(Some("n1"), Some("t1"), &[T1, RESULT]), [""; 0]);
    assert_eq!(judged(Some("n1"), Some("t1"), &[T2]), subject);
    assert_eq!(judged(Some("n2"), None, &[RESULT]), subject);
    assert_eq!(judged(Some("n3"), None, &[LAST_RESULT]), [""; 0]);
    assert_eq!(judged(None, Some("t1"), &[T1]), subject);
}

#[test]
fn negative_evidence_is_none() {
    let failed = changed("gad/test_passed", |claim| {
        claim.subject.node = Some("n3".into());
        claim.evidence = entries(&[LAST_T1]);
    });
    assert_eq!(failed, ["R9.EVIDENCE_NEGATIVE"]);
    let gate = |change: fn(&mut Log)| {
        let mut claim = claim("gad/gate_authorized", EvidenceClass::EngineObserved);
        claim.evidence = entries(&[NEXT]);
        codes(&judge(vec![Some(claim)], true, Some(&|_| VERIFIED), change).0)
    };
    assert_eq!(gate(|log| log.refusal("n2").done()), ["R9.EVIDENCE_NEGATIVE"]);
    assert_eq!(gate(|log| log.approval("n2").done()), [""; 0]);
    assert_eq!(gate(|log| log.approval("n2").forged().done()), ["R9.EVIDENCE_SHAPE"]);
}

#[test]
fn only_the_last_attempt_counts() {
    let again = |predicate, change: fn(&mut Log)| {
        let class = match predicate {
            "gad/executor_said" => EvidenceClass::Attested,
            _ => EvidenceClass::EngineObserved,
        };
        codes(&judge(vec![Some(claim(predicate, class))], true, Some(&|_| VERIFIED), change).0)
    };
    let dispatched: fn(&mut Log) = |log| log.session("s4", &["n1", "n2"], &[]).done();
    let subject = ["R9.EVIDENCE_SUBJECT"];
    assert_eq!(again("gad/test_passed", dispatched), subject);
    assert_eq!(again("gad/gate_authorized", dispatched), subject);
    for predicate in ["gad/node_verified", "gad/scope_contained"] {
        assert_eq!(again(predicate, dispatched), ["R9.EVIDENCE_SHAPE", "R9.EVIDENCE_SUBJECT"]);
    }
    assert_eq!(again("gad/executor_said", dispatched), [""; 0]);
    // A second verdict of one test is ignored, so it is no evidence.
    let mut second = claim("gad/test_passed", EvidenceClass::Proxy);
    second.evidence = entries(&[NEXT]);
    let repeat: fn(&mut Log) = |log| log.verdict("s1", "n1", "t1", PassFail::Pass).done();
    let (findings, _) = judge(vec![Some(second)], true, None, repeat);
    assert_eq!(codes(&findings), ["R9.EVIDENCE_SHAPE"]);
}

#[test]
fn scope_needs_its_closure_when_it_was_flagged() {
    let scope = |node: &str, class, evidence: &[u64]| {
        let mut claim = claim("gad/scope_contained", class);
        claim.subject.node = Some(node.into());
        claim.evidence = entries(evidence);
        found(claim)
    };
    let top = EvidenceClass::EngineObserved;
    assert_eq!(scope("n2", top, &[FLAGGED_RESULT, CLOSED]), [""; 0]);
    assert_eq!(scope("n2", top, &[FLAGGED_RESULT]), ["R9.EVIDENCE_SHAPE"]);
    assert_eq!(scope("n2", top, &[CLOSED]), ["R9.EVIDENCE_SHAPE"]);
    assert_eq!(scope("n1", top, &[RESULT, CLOSED]), ["R9.EVIDENCE_SUBJECT"]);
    // A session of several nodes attributes by proxy.
    assert_eq!(scope("n3", EvidenceClass::Proxy, &[LAST_RESULT]), [""; 0]);
    assert_eq!(scope("n3", top, &[LAST_RESULT]), ["R9.CLASS"]);
    // A closure says nothing of a flag after it, nor does one that failed.
    let reflagged = |change: fn(&mut Log), evidence: &[u64]| {
        let mut claim = claim("gad/scope_contained", top);
        claim.subject.node = Some("n2".into());
        claim.evidence = entries(evidence);
        codes(&judge(vec![Some(claim)], true, None, change).0)
    };
    let flag: fn(&mut Log) = |log| log.flag("n2", &["docs/b"]).done();
    assert_eq!(reflagged(flag, &[FLAGGED_RESULT, CLOSED]), ["R9.EVIDENCE_SHAPE"]);
    let failed: fn(&mut Log) =
        |log| log.flag("n2", &["docs/b"]).closed("n2", PassFail::Fail).done();
    let last = NEXT + 2;
    assert_eq!(reflagged(failed, &[FLAGGED_RESULT, last]), ["R9.EVIDENCE_NEGATIVE"]);
}

#[test]
fn a_surface_outside_the_fence_contains_no_scope() {
    let scope = |change: fn(&mut Log), node: &str, result: u64, class| {
        let mut claim = claim("gad/scope_contained", class);
        claim.subject.node = Some(node.into());
        claim.evidence = entries(&[result]);
        codes(&judge(vec![Some(claim)], true, None, change).0)
    };
    let top = EvidenceClass::EngineObserved;
    // Nobody judged or flagged it, so R6 has nothing to say; the claim has.
    let stray: fn(&mut Log) = |log| log.session("s4", &["n1"], &["docs/a", "src/a"]).done();
    assert_eq!(scope(stray, "n1", NEXT + 2, top), ["R9.EVIDENCE_NEGATIVE"]);
    let within: fn(&mut Log) = |log| log.session("s4", &["n1"], &["src/a"]).done();
    assert_eq!(scope(within, "n1", NEXT + 2, top), [""; 0]);
    // One of several nodes: what no fence of the session admits.
    let shared: fn(&mut Log) = |log| log.session("s4", &["n1", "n3"], &["docs/a"]).done();
    assert_eq!(scope(shared, "n3", NEXT + 2, EvidenceClass::Proxy), ["R9.EVIDENCE_NEGATIVE"]);
    // A flag of an earlier attempt that nobody closed.
    let open: fn(&mut Log) = |log| {
        log.session("s4", &["n1"], &["docs/a"]).flag("n1", &["docs/a"]);
        log.session("s5", &["n1"], &[]).done();
    };
    assert_eq!(scope(open, "n1", NEXT + 6, top), ["R9.EVIDENCE_SHAPE"]);
}

#[test]
fn anchors_count_by_kind() {
    use EvidenceClass::{Attested, EngineObserved};
    let bounded = |class, state: AnchorState| {
        let claim = claim("gad/precedence_bounded", class);
        let of = move |kind| if kind == AnchorKind::PlanCommitment { state } else { VERIFIED };
        codes(&judge(vec![Some(claim)], true, Some(&of), |_| {}).0)
    };
    assert_eq!(bounded(EngineObserved, VERIFIED), [""; 0]);
    let listed = AnchorState { listed: true, verified: false };
    assert_eq!(bounded(EngineObserved, listed), ["R9.CLASS"]);
    assert_eq!(bounded(Attested, listed), ["R9.ALLOWED"]);
    assert_eq!(bounded(EngineObserved, AnchorState::default()), ["R9.EVIDENCE_REF"]);
}

#[test]
fn without_an_envelope_claims_over_anchors_wait() {
    let top = EvidenceClass::EngineObserved;
    let mut refused = claim("gad/existed_by", EvidenceClass::Attested);
    refused.noncoverage = None;
    let claims = vec![
        Some(claim("gad/test_passed", top)),
        Some(claim("gad/existed_by", top)),
        None,
        Some(refused),
        Some(claim("gad/executor_said", top)),
    ];
    let (findings, not_evaluated) = judge(claims, true, None, |_| {});
    assert_eq!(not_evaluated, [1, 3]);
    assert_eq!(codes(&findings), ["R9.CLASS", "R9.FORM"]);
}

#[test]
fn what_is_signed_is_pointed_at_inside_its_object() {
    let signed = claim("judgment/adequate", EvidenceClass::Proxy)
        .signed_by(digest("plan"), &key("approver"));
    let (findings, _) = judge(vec![None, Some(signed)], true, None, |_| {});
    let pointers: Vec<_> =
        findings.sorted().iter().map(|finding| finding.place.pointer.clone().unwrap()).collect();
    assert_eq!(
        pointers.iter().map(|pointer| &**pointer).collect::<Vec<_>>(),
        ["/claims/0", "/claims/1/body/evidence_class"]
    );
}
