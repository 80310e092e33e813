//! Whole runs, each exported and judged: everything that the table allows, and what it doesn't.

use anchorlog_client::record::{Document, Probed, Recorder, Target};
use anchorlog_proto::Digest;
use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::attestation::Implementation;
use anchorlog_proto::gad::claims::Claims;
use anchorlog_proto::gad::core_manifest::Seal;
use anchorlog_proto::gad::known_checkpoints::KnownCheckpoints;
use anchorlog_proto::gad::names::{PassFail, RunOutcome};
use anchorlog_proto::gad::payload::{Decision, ExitStatus, RemediationAction, Restoration};
use anchorlog_proto::gad::plan::plan_hash;
use anchorlog_verifier::codes::gad::r3::SUPERSEDE_DELTA_FALSE;
use anchorlog_verifier::gad::container::Bundle;
use anchorlog_verifier::gad::evaluate::{Request, SuccessorPlan, evaluate};
use anchorlog_verifier::gad::report::Asked;
use anchorlog_verifier::gad::trace::Status;
use anchorlog_verifier::gad::trust::TrustMaterial;

use crate::record::{
    N, World, approver, assert_valid, authority, engine, operator, plan, stranger,
};

const A: N = N::new("a", &["a/"]);
const B: N = N::new("b", &["b/"]);

#[test]
fn a_run_from_freeze_to_completion() {
    let world = World::new();
    let mut run = world.freeze("record", &plan(&[A, B], &[["a", "b"]], 0));
    run.refused("R3.DISPATCH.DEPS", |run| run.dispatch(&["b"]));
    run.refused("R3.COMPLETED.UNSATISFIED", |run| run.recorder.complete());
    run.refused("RECORD.UNKNOWN", |run| run.dispatch(&["c"]));
    run.session(&["a"], &["a/x"]);
    run.recorder.claim("a", "done").unwrap();
    run.refused("RECORD.UNKNOWN", |run| run.verdict("a", "t2", 0));
    run.pass("a");
    run.refused("R3.VERDICT.DUP", |run| run.verdict("a", "t1", 0));
    run.recorder.checkpoint().unwrap();
    run.session(&["b"], &["b/y", "b/x"]);
    run.pass("b");
    run.refused("RECORD.NOT_TERMINATED", |run| {
        let target = Target::of(run.recorder.directory().with_file_name("early"));
        run.recorder.export(&target)
    });
    run.recorder.complete().unwrap();
    run.refused("R3.PHASE.AFTER_TERMINAL", |run| run.dispatch(&["b"]));
    run.refused("R3.PHASE.MULTI_TERMINAL", |run| run.recorder.halt());

    // Kept, and named by nothing.
    run.recorder.artifact("unused.txt", b"unused").unwrap();
    let exported = world.export(&mut run, "core", RunOutcome::Completed);
    assert!(exported.checkpoint.is_some() && exported.notice.is_none());
    assert_eq!(exported.left_out, ["artifacts/unused.txt"]);
    assert!(exported.report.statuses.satisfied());
    assert_eq!(exported.report.statuses.level(), 3);

    // Again, as an archive: the same core.
    let packed = world.export(&mut run, "core.tar", RunOutcome::Completed);
    assert_eq!(packed.root_core, exported.root_core);
    assert!(packed.checkpoint.is_none());
    let bundle = Bundle::open(&world.at("core.tar"), &Limits::DEFAULT).unwrap();
    assert!(bundle.contains("core/witness.jsonl") && bundle.contains("core/manifest.json"));
    run.refused("RECORD.EXISTS", |run| {
        let target = Target::of(run.recorder.directory().with_file_name("core"));
        run.recorder.export(&target)
    });
    let names: Vec<_> = std::fs::read_dir(world.directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(names.iter().all(|name| !name.starts_with('.')), "{names:?}");
}

#[test]
fn failures_lead_to_retry_then_trip_then_halt() {
    let world = World::new();
    let mut run = world.freeze("record", &plan(&[A, B], &[], 0));
    run.refused("RECORD.STATE", |run| run.recorder.retry("a"));
    run.crash(&["a"]);
    run.refused("R3.DISPATCH.NO_RETRY", |run| run.dispatch(&["a"]));
    run.refused("R3.TRIP.EARLY", |run| run.recorder.trip("a"));
    run.recorder.retry("a").unwrap();
    run.session(&["a"], &[]);
    run.verdict("a", "t1", 2).unwrap();
    run.refused("R8.BOUND", |run| run.recorder.retry("a"));
    run.recorder.trip("a").unwrap();
    run.refused("R8.TRIP_EXIT", |run| run.dispatch(&["a"]));
    // A completed session without evidence of its node.
    run.session(&["b"], &[]);
    run.recorder.retry("b").unwrap();
    run.session(&["b"], &[]);
    run.pass("b");
    run.recorder.halt().unwrap();
    let exported = world.export(&mut run, "core", RunOutcome::Halted);
    assert!(!exported.report.statuses.satisfied());
    let witness = String::from_utf8(run.witness()).unwrap();
    assert!(
        witness.contains(r#""history":[2,8],"node":"a","reason":"verdict_failed""#),
        "{witness}"
    );
    assert!(witness.contains(r#""prior_failure":[2]"#), "{witness}");
    assert!(witness.contains(r#""unresolved":["a"]"#), "{witness}");
}

#[test]
fn gates_are_refused_revised_and_approved() {
    let world = World::new();
    let mut run = world.freeze("record", &plan(&[A.gated(), B], &[["a", "b"]], 0));
    run.session(&["a"], &["a/x"]);
    run.refused("R3.GATE.PREMATURE", |run| run.recorder.gate_request("a", Some(&[3])));
    run.pass("a");
    run.refused("RECORD.STATE", |run| run.recorder.answer("a", Decision::Proceed, &approver()));
    run.refused("R3.DISPATCH.DEPS", |run| run.dispatch(&["b"]));
    run.recorder.gate_request("a", None).unwrap();
    run.refused("R3.HALT.PENDING_HUMAN", |run| run.recorder.halt());
    for key in [engine(), stranger(), authority()] {
        run.refused("RECORD.KEY_ROLE", |run| run.recorder.answer("a", Decision::Proceed, &key));
    }
    run.recorder.answer("a", Decision::Refuse, &approver()).unwrap();
    run.refused("RECORD.STATE", |run| run.recorder.revised_request("a", None, None));
    run.refused("R3.REFUSED.REENTRY", |run| run.recorder.gate_request("a", None));
    run.recorder.remediation("a", RemediationAction::Revision).unwrap();
    run.recorder.revised_request("a", None, None).unwrap();

    // Signed elsewhere: the body goes out, the signature comes back.
    let body = run.recorder.gate_body("a", Decision::Proceed, approver().id()).unwrap();
    let sign = |key: &anchorlog_proto::signed_object::SigningKey| {
        let bytes = body.to_canonical();
        let signature = key.sign(&bytes).to_base64();
        [b"{\"body\":", bytes.as_slice(), b",\"signature\":\"", signature.as_bytes(), b"\"}"]
            .concat()
    };
    run.refused("R1.ISSUER.SIG", |run| run.recorder.signed_answer(&sign(&stranger())));
    run.refused("RECORD.SIGNED_OBJECT", |run| run.recorder.signed_answer(b"{}"));
    run.recorder.signed_answer(&sign(&approver())).unwrap();
    run.refused("R3.GATE.NO_REQUEST", |run| run.recorder.signed_answer(&sign(&approver())));
    run.session(&["b"], &[]);
    run.pass("b");
    run.recorder.complete().unwrap();
    world.export(&mut run, "core", RunOutcome::Completed);
}

#[test]
fn stray_work_is_flagged_removed_and_looked_at_again() {
    let world = World::new();
    let mut run = world.freeze("record", &plan(&[A], &[], 0));
    run.session(&["a"], &["a/x", "b/y", "c"]);
    assert_eq!(run.recorder.stray("a").unwrap(), ["b/y", "c"]);
    run.refused("R6.FLAG.OMITTED", |run| run.verdict("a", "t1", 0));
    run.refused("R6.FLAG.IN_FENCE", |run| run.recorder.flag("a", Some(&["a/x".into()])));
    run.refused("R6.FLAG.NOT_TOUCHED", |run| run.recorder.flag("a", Some(&["d".into()])));
    run.recorder.flag("a", None).unwrap().unwrap();
    run.refused("R3.VERDICT.OPEN_FLAG", |run| run.verdict("a", "t1", 0));
    run.refused("R6.CLOSE.NO_REMEDIATION", |run| run.scope(PassFail::Pass, "a"));
    run.recorder.remediation("a", RemediationAction::Removal).unwrap();
    run.scope(PassFail::Fail, "a").unwrap();
    run.recorder.remediation("a", RemediationAction::Removal).unwrap();
    run.scope(PassFail::Pass, "a").unwrap();
    run.pass("a");
    run.recorder.complete().unwrap();
    world.export(&mut run, "core", RunOutcome::Completed);
}

#[test]
fn a_session_over_several_nodes() {
    let world = World::new();
    let mut run = world.freeze("record", &plan(&[A, B], &[], 0));
    run.session(&["b", "a"], &["a/x", "b/x", "c"]);
    assert_eq!(run.recorder.stray("a").unwrap(), ["c"]);
    run.pass("a");
    // The last chance to say whose the stray work is.
    run.refused("R6.FLAG.OMITTED", |run| run.verdict("b", "t1", 0));
    run.refused("R6.FLAG.OMITTED", |run| run.recorder.retry("b"));
    run.refused("R6.FLAG.OMITTED", |run| run.recorder.halt());
    run.recorder.flag("b", None).unwrap().unwrap();
    run.recorder.remediation("b", RemediationAction::Removal).unwrap();
    run.scope(PassFail::Pass, "b").unwrap();
    run.pass("b");
    run.recorder.complete().unwrap();
    world.export(&mut run, "core", RunOutcome::Completed);
}

#[test]
fn a_probe_raises_the_verdicts_after_it() {
    let world = World::new();
    let mut node = A;
    node.signal = "worker_authored_proxy";
    node.c_min = "proxy";
    let mut run = world.freeze("record", &plan(&[node], &[], 0));
    run.session(&["a"], &[]);
    let probed = |restoration| Probed {
        signal_artifact: Digest::of(b"make"),
        environment: Digest::of(b"environment"),
        induced_defect: "removed a check",
        demonstrated: PassFail::Fail,
        restoration,
        time: None,
        spawned: true,
        exit_code: Some(1),
        output: Some(Digest::of(b"output")),
    };
    // Without a probe that showed that the test can fail, a pass counts as testimony, below the floor.
    let node = run.recorder.plan().find("a").unwrap();
    run.recorder.probe(&probed(Restoration::Unverified)).unwrap();
    run.pass("a");
    assert_eq!(run.recorder.machine().status(node), Status::Failed);
    run.recorder.retry("a").unwrap();
    run.session(&["a"], &[]);
    run.recorder.probe(&probed(Restoration::Verified)).unwrap();
    run.pass("a");
    assert_eq!(run.recorder.machine().status(node), Status::Verified);
    run.recorder.complete().unwrap();
    world.export(&mut run, "core", RunOutcome::Completed);
}

fn request<'a>(
    trust: &'a TrustMaterial,
    known: &'a KnownCheckpoints,
    successor: Option<&'a SuccessorPlan>,
) -> Request<'a> {
    Request {
        policy: None,
        policy_hash: None,
        trust,
        attestations: &[],
        audits: &[],
        auditors: &[],
        predecessors: &[],
        successor,
        expect_root_core: None,
        expect_root_envelope: None,
        known_checkpoints: known,
        limits: Limits::DEFAULT,
        replay: None,
        asked: Asked::Valid,
        evaluation_time: crate::record::START,
        evaluator: Implementation {
            name: "test".into(),
            version: "1".into(),
            hash: Digest::of(b"test"),
        },
        threads: std::num::NonZeroUsize::MIN,
    }
}

#[test]
fn a_succession_states_every_difference() {
    let world = World::new();
    let mut run = world.freeze("record", &plan(&[A, B, N::new("c", &[])], &[], 0));
    run.session(&["a"], &[]);
    run.pass("a");
    let mut weaker = B;
    weaker.c_min = "proxy";
    weaker.allow = &["b/", "d/"];
    weaker.tests = &["t2"];
    let successor = plan(&[A, weaker], &[], 0);
    let supersede = |key| {
        let successor = successor.clone();
        move |run: &mut crate::record::Run| run.recorder.supersede(&successor, "scope grew", &key)
    };
    run.refused("RECORD.KEY_ROLE", supersede(engine()));
    supersede(authority())(&mut run).unwrap();
    world.export(&mut run, "core", RunOutcome::Superseded);
    let witness = String::from_utf8(run.witness()).unwrap();
    for stated in [
        r#""obligation_map":[{"disposition":"changed","node":"b"},{"disposition":"removed","node":"c"}]"#,
        r#""changed_class_floors":[{"from":"engine_observed","node":"b","to":"proxy"}]"#,
        r#""changed_fences":[{"from":{"allow":["b/"],"kind":"paths"},"node":"b","to":{"allow":["b/","d/"],"kind":"paths"}}]"#,
        r#""node":"b","test_id":"t1","to":null}"#,
    ] {
        assert!(witness.contains(stated), "{stated} in {witness}");
    }
    // With the successor at hand nothing is found unsaid.
    let bundle = Bundle::open(&world.at("core"), &Limits::DEFAULT);
    let after =
        SuccessorPlan { hash: plan_hash(&successor.canonical), plan: successor.content.clone() };
    let (trust, known) = (TrustMaterial::default(), KnownCheckpoints::default());
    let report = evaluate(&bundle, &request(&trust, &known, Some(&after))).unwrap();
    assert!(report.statuses.valid() && !report.findings.has(SUPERSEDE_DELTA_FALSE));
    // The successor has a record of its own.
    let next = world.freeze("next", &successor);
    assert_eq!(next.recorder.standing().entries, 1);
}

#[test]
fn a_snapshot_is_taken_while_a_session_is_open() {
    let world = World::new();
    let mut run = world.freeze("record", &plan(&[A], &[], 0));
    run.dispatch(&["a"]).unwrap();
    let snapshot = run.recorder.snapshot(&Target::of(world.at("snapshot"))).unwrap();
    assert_valid(&snapshot);
    assert_eq!(snapshot.seal, Seal::Snapshot);
    assert_eq!(snapshot.report.statuses.outcome(), RunOutcome::Incomplete);
    run.exit(ExitStatus::Completed, Some(0)).unwrap();
    run.result(&[]).unwrap();
    run.pass("a");
    assert_eq!(
        run.recorder.machine().status(run.recorder.plan().find("a").unwrap()),
        Status::Verified
    );
    let checked = run.recorder.check().unwrap();
    assert!(checked.statuses.valid());
    assert_eq!(checked.statuses.outcome(), RunOutcome::Incomplete);
    run.recorder.complete().unwrap();
    assert!(run.recorder.check().unwrap().statuses.satisfied());
    run.refused("RECORD.STATE", |run| {
        let target = Target::of(run.recorder.directory().with_file_name("late"));
        run.recorder.snapshot(&target)
    });
    let last = world.export(&mut run, "core", RunOutcome::Completed);
    assert_ne!(last.root_core, snapshot.root_core);
}

#[test]
fn claims_travel_with_the_core_and_have_to_hold() {
    let world = World::new();
    let mut run = world.freeze("record", &plan(&[A], &[], 0));
    run.session(&["a"], &[]);
    run.pass("a");
    run.recorder.complete().unwrap();
    let hash = run.recorder.plan().hash();
    let claims = |class: &str| {
        let text = format!(
            r#"{{"claims":[{{"evidence_class":"{class}","evidence_refs":[{{"kind":"entry","seq":4}}],"issuer_type":"machine","noncoverage":[{{"aspect":"not_exercised","text":"all else"}}],"predicate_id":"gad/test_passed","subject_ref":{{"node":"a","plan_hash":"{hash}","test_id":"t1"}}}}],"registry":"gad.registry/1","schema":"gad.claims/1"}}"#
        );
        Document::read(text.as_bytes(), std::path::Path::new("claims"), Claims::read).unwrap()
    };
    // Evidence of a node's verdict, named as that of a subject it isn't about.
    let mut wrong = claims("engine_observed");
    wrong.canonical = String::from_utf8(wrong.canonical)
        .unwrap()
        .replace(r#""seq":4"#, r#""seq":3"#)
        .into_bytes();
    run.recorder.set_claims(&wrong).unwrap();
    let target = Target::of(world.at("core"));
    let error = run.recorder.export(&target).unwrap_err();
    assert_eq!(error.code(), "RECORD.PACKAGING", "{error}");
    assert!(!world.at("core").exists());
    run.recorder.set_claims(&claims("engine_observed")).unwrap();
    world.export(&mut run, "core", RunOutcome::Completed);
    assert!(world.at("core/claims.json").exists());
}

#[test]
fn nothing_is_recorded_with_a_key_that_has_no_role() {
    let world = World::new();
    drop(world.freeze("record", &plan(&[A], &[], 0)));
    for key in [approver(), stranger()] {
        let (plan, operator, other) = (plan(&[A], &[], 0), operator(), world.at("other"));
        let refused = Recorder::freeze(&other, &plan, &operator, Some(key.clone()), world.clock());
        assert_eq!(refused.err().unwrap().code(), "RECORD.KEY_ROLE");
        assert!(!other.exists());
        let recorder = Recorder::open(&world.at("record")).unwrap();
        assert_eq!(recorder.with_engine(key).err().unwrap().code(), "RECORD.KEY_ROLE");
    }
    let mut recorder = Recorder::open_at(&world.at("record"), world.clock()).unwrap();
    assert_eq!(recorder.checkpoint().unwrap_err().code(), "RECORD.NO_KEY");
}
