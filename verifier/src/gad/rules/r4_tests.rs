use std::sync::Mutex;

use anchorlog_proto::gad::names::{Capture, EvidenceClass};
use anchorlog_proto::gad::plan::Plan;
use anchorlog_proto::gad::policy::ReplayPolicy;

use super::*;
use crate::gad::replay::{Replay, ReplayRequest};
use crate::gad::rules::testing::{Log, codes, digest, key, plan};

/// What the entries come to: the codes, and what the machine is told of each verdict.
fn run_with(
    plan: &Arc<PlanIndex>,
    replay: ReplayRule,
    entries: impl FnOnce(&mut Log),
) -> (Vec<&'static str>, Vec<Judged>, ReplaySummary) {
    let mut log = Log::new(plan);
    entries(&mut log);
    let mut rule = R4::new(Arc::clone(plan), replay);
    let mut machine = Machine::new(Arc::clone(plan), false);
    let (mut findings, mut judged) = (Findings::new(), Vec::new());
    for event in log.events() {
        let verdict = rule.observe(&event, &machine, &mut findings);
        machine.step(&event, verdict, &mut Findings::new());
        judged.extend(verdict);
    }
    rule.finish(&mut findings);
    (codes(&findings), judged, rule.replayed())
}

fn run(entries: impl FnOnce(&mut Log)) -> (Vec<&'static str>, Vec<Judged>) {
    let (codes, judged, _) = run_with(&plan(|_| {}), ReplayRule::none(), entries);
    (codes, judged)
}

/// The codes of one verdict of n1/t1, changed, and its class.
fn verdict(change: impl FnOnce(&mut Verdict<'static>)) -> (Vec<&'static str>, EvidenceClass) {
    let (codes, judged) = run(|log| {
        log.session("s1", &["n1"], &[]).verdict("s1", "n1", "t1", PassFail::Pass);
        log.change_verdict(change);
    });
    (codes, judged.first().unwrap().class)
}

#[test]
fn a_verdict_that_says_everything_has_no_finding() {
    assert_eq!(verdict(|_| {}), (vec![], EvidenceClass::EngineObserved));
    let (codes, judged) = run(|log| log.verdict("s1", "n1", "t1", PassFail::Fail).done());
    assert_eq!(codes, [""; 0]);
    assert_eq!(judged, [Judged { seq: 0, pass: false, class: EvidenceClass::EngineObserved }]);
}

#[test]
fn each_requirement_has_its_code() {
    let weak = EvidenceClass::Attested;
    let strong = EvidenceClass::EngineObserved;
    assert_eq!(verdict(|v| v.capture = None), (vec!["R4.CAPTURE"], weak));
    assert_eq!(verdict(|v| v.layers = None), (vec!["R4.LAYERS"], weak));
    assert_eq!(verdict(|v| v.signal = None), (vec!["R4.SIGNAL"], weak));
    assert_eq!(verdict(|v| v.result = None), (vec!["R4.RESULT"], strong));
    assert_eq!(verdict(|v| v.declares_class = true), (vec!["R4.CLASS_DECLARED"], strong));
    assert_eq!(verdict(|v| v.test_spec = Some(digest("x"))), (vec!["R4.SPEC_DIGEST"], strong));
    assert_eq!(verdict(|v| v.exit_code = Some(1)), (vec!["R4.CONTRADICTION"], strong));
    assert_eq!(verdict(|v| v.exit_code = None), (vec!["R4.CONTRADICTION"], strong));
    let other = &*Box::leak(key("approver").id().to_string().into_boxed_str());
    for identity in [None, Some("engine"), Some(other)] {
        let (codes, _) = verdict(|v| v.engine_identity = identity);
        assert_eq!(codes, ["R4.ENGINE_IDENTITY"], "{identity:?}");
    }
    let absent: [fn(&mut Verdict<'static>); 6] = [
        |v| v.test_spec = None,
        |v| v.signal_artifact = None,
        |v| v.subject_artifact = None,
        |v| v.environment = None,
        |v| v.stdout = None,
        |v| v.stderr = None,
    ];
    for absent in absent {
        assert_eq!(verdict(absent), (vec!["R4.DIGESTS"], strong));
    }
}

#[test]
fn what_is_frozen_may_not_be_declared_otherwise() {
    let frozen = |change: fn(&mut Verdict<'static>)| verdict(change);
    let relabelled = frozen(|v| v.capture = Some(Capture::AttestedCapture));
    assert_eq!(relabelled, (vec!["R4.SIGNAL_FROZEN"], EvidenceClass::Attested));
    let relabelled = frozen(|v| v.signal = Some(SignalKind::WorkerAuthoredProxy));
    assert_eq!(relabelled, (vec!["R4.SIGNAL_FROZEN", "R5.ABSENT"], EvidenceClass::Attested));
    let relabelled = frozen(|v| v.layers = Some(vec![]));
    assert_eq!(relabelled, (vec!["R4.SIGNAL_FROZEN"], EvidenceClass::Attested));
    let relabelled = frozen(|v| {
        v.layers.as_mut().unwrap().push(ObservationLayer::IndependentlyReplayable);
    });
    assert_eq!(relabelled, (vec!["R4.SIGNAL_FROZEN"], EvidenceClass::EngineObserved));
}

#[test]
fn a_fail_contradicts_no_exit_code() {
    for exit_code in [None, Some(0), Some(7)] {
        let (codes, _) = verdict(|v| {
            v.result = Some(PassFail::Fail);
            v.exit_code = exit_code;
        });
        assert_eq!(codes, [""; 0], "{exit_code:?}");
    }
}

#[test]
fn a_verdict_over_an_unknown_test_is_held_against_none() {
    let (codes, judged) = run(|log| {
        log.verdict("s1", "n1", "t9", PassFail::Pass).change_verdict(|v| v.exit_code = Some(9));
        log.verdict("s1", "n9", "t1", PassFail::Pass).change_verdict(|v| v.capture = None);
    });
    assert_eq!(codes, ["R4.CAPTURE"]);
    assert_eq!(judged.len(), 2);
}

#[test]
fn a_signature_is_judged_once_and_moves_the_trace_all_the_same() {
    let (codes, judged) = run(|log| log.verdict("s1", "n1", "t1", PassFail::Pass).forged().done());
    assert_eq!(codes, ["R4.SIG"]);
    assert_eq!(judged.first().unwrap().class, EvidenceClass::EngineObserved);
    // One whose form is refused as well.
    let (codes, judged) = run(|log| {
        log.verdict("s1", "n1", "t1", PassFail::Pass).forged();
        log.change(|entry| (entry.payload, entry.signed) = (None, None));
    });
    assert_eq!((codes, judged), (vec!["R4.SIG"], vec![]));
}

#[test]
fn undisclosed_custody_takes_the_layer_away() {
    let undisclosed = |plan: &mut Plan| plan.principals.first_mut().unwrap().custody = "".into();
    let plan = plan(undisclosed);
    let judge = |entries: fn(&mut Log)| {
        let (codes, judged, _) = run_with(&plan, ReplayRule::none(), entries);
        (codes, judged.first().unwrap().class)
    };
    let verdict = judge(|log| log.verdict("s1", "n1", "t1", PassFail::Pass).done());
    assert_eq!(verdict, (vec!["R4.CUSTODY"], EvidenceClass::Attested));
    // Only where the layer is declared.
    let verdict = judge(|log| {
        log.verdict("s1", "n1", "t1", PassFail::Pass).change_verdict(|v| v.layers = Some(vec![]));
    });
    assert_eq!(verdict, (vec!["R4.SIGNAL_FROZEN"], EvidenceClass::Attested));
    // Custody is asked of engines: another key's signature is the issuer table's affair.
    let verdict = judge(|log| {
        log.verdict("s1", "n1", "t1", PassFail::Pass).forged().change(|entry| {
            entry.signed.as_mut().unwrap().key_id = Some(key("approver").id());
        });
    });
    assert_eq!(verdict.0, ["R4.ENGINE_IDENTITY", "R4.SIG"]);
}

#[test]
fn a_probe_lifts_a_proxy_and_nothing_else() {
    let plan = plan(|plan| {
        let spec = &mut plan.nodes.first_mut().unwrap().tests.first_mut().unwrap().spec;
        spec.signal = SignalKind::WorkerAuthoredProxy;
    });
    let proxy = |log: &mut Log| {
        log.verdict("s1", "n1", "t1", PassFail::Pass)
            .change_verdict(|v| v.signal = Some(SignalKind::WorkerAuthoredProxy));
    };
    let class = |entries: &dyn Fn(&mut Log)| {
        let (codes, judged, _) = run_with(&plan, ReplayRule::none(), entries);
        (codes, judged.first().unwrap().class)
    };
    let probed = class(&|log| {
        log.probe(|_| {});
        proxy(log);
    });
    assert_eq!(probed, (vec![], EvidenceClass::Proxy));
    assert_eq!(class(&proxy), (vec!["R5.ABSENT"], EvidenceClass::Attested));
    let late = class(&|log| {
        proxy(log);
        log.probe(|_| {});
    });
    assert_eq!(late, (vec!["R5.ORDER"], EvidenceClass::Attested));
    let forged = class(&|log| {
        log.probe(|_| {}).forged();
        proxy(log);
    });
    assert_eq!(forged, (vec!["R5.SIG"], EvidenceClass::Attested));
}

/// Answers as told, and remembers what it was asked.
#[derive(Debug)]
struct Told(ReplayOutcome, Mutex<Vec<u64>>);

impl Replay for Told {
    fn outcome(&self, request: &ReplayRequest<'_>) -> ReplayOutcome {
        self.1.lock().unwrap().push(request.seq);
        self.0
    }
}

/// Everything replayable is asked for and comes to `outcome`: codes, classes, and who was asked.
fn replayed(
    outcome: ReplayOutcome,
    policy: ReplayPolicy,
    change: impl FnOnce(&mut Plan),
    entries: impl FnOnce(&mut Log),
) -> (Vec<&'static str>, Vec<EvidenceClass>, Vec<u64>, usize) {
    let plan = plan(|plan| {
        for node in &mut plan.nodes {
            for test in &mut node.tests {
                test.spec.layers = vec![ObservationLayer::IndependentlyReplayable];
            }
        }
        change(plan);
    });
    let told = Arc::new(Told(outcome, Mutex::default()));
    let answering: Arc<dyn Replay> = told.clone();
    let replay = ReplayRule::new(policy, None, answering);
    let (codes, judged, summary) = run_with(&plan, replay, entries);
    let asked = told.1.lock().unwrap().clone();
    let classes = judged.iter().map(|judged| judged.class).collect();
    (codes, classes, asked, summary.layers_exercised().len())
}

fn replayable(log: &mut Log) {
    log.session("s1", &["n1"], &[]).verdict("s1", "n1", "t1", PassFail::Pass).change_verdict(|v| {
        v.layers = Some(vec![ObservationLayer::IndependentlyReplayable]);
    });
}

#[test]
fn a_replay_that_agrees_makes_the_layer_hold() {
    use EvidenceClass::{Attested, EngineObserved};
    let all = ReplayPolicy::RequiredForAll;
    let with = |outcome, policy| replayed(outcome, policy, |_| {}, replayable);
    let agreed = with(ReplayOutcome::Agreed, all.clone());
    assert_eq!(agreed, (vec![], vec![EngineObserved], vec![3], 1));
    let failed = with(ReplayOutcome::Disagreed, all.clone());
    assert_eq!(failed, (vec!["R4.REPLAY_FAILED"], vec![Attested], vec![3], 1));
    let unavailable = with(ReplayOutcome::Unavailable, all);
    assert_eq!(unavailable, (vec!["R4.REPLAY_UNAVAILABLE"], vec![Attested], vec![3], 0));
    // Nobody asks: the layer is declared and doesn't hold.
    let unasked = with(ReplayOutcome::Agreed, ReplayPolicy::None);
    assert_eq!(unasked, (vec![], vec![Attested], vec![], 0));
}

#[test]
fn only_what_credits_completion_is_asked() {
    let all = || ReplayPolicy::RequiredForAll;
    let (agreed, failed) = (ReplayOutcome::Agreed, ReplayOutcome::Unavailable);
    // A fail credits nothing, nor does a verdict that isn't the first of its test.
    let (codes, _, asked, _) = replayed(
        failed,
        all(),
        |_| {},
        |log| {
            replayable(log);
            log.change_verdict(|v| v.result = Some(PassFail::Fail));
            log.verdict("s1", "n1", "t1", PassFail::Pass);
        },
    );
    assert_eq!((codes, asked), (vec!["R4.SIGNAL_FROZEN"], vec![]));
    // Nor testimony.
    let testimony = |plan: &mut Plan| plan.nodes.first_mut().unwrap().testimony = true;
    let (codes, _, asked, _) = replayed(failed, all(), testimony, replayable);
    assert_eq!((codes, asked), (vec![], vec![]));
    // What the frozen test doesn't call replayable isn't asked, whatever the verdict says.
    let direct = |plan: &mut Plan| {
        for test in &mut plan.nodes.first_mut().unwrap().tests {
            test.spec.layers = vec![];
        }
    };
    let (codes, classes, asked, _) = replayed(agreed, all(), direct, replayable);
    assert_eq!((codes, asked), (vec!["R4.SIGNAL_FROZEN"], vec![]));
    assert_eq!(classes, [EvidenceClass::Attested]);
    // A verdict that doesn't declare the layer has nothing from a replay that agrees.
    let (codes, classes, asked, _) = replayed(
        agreed,
        all(),
        |_| {},
        |log| {
            replayable(log);
            log.change_verdict(|v| v.layers = Some(vec![]));
        },
    );
    assert_eq!((codes, asked), (vec!["R4.SIGNAL_FROZEN"], vec![3]));
    assert_eq!(classes, [EvidenceClass::Attested]);
}
