use anchorlog_proto::gad::names::PassFail;

use super::*;
use crate::gad::replay::ReplayRule;
use crate::gad::rules::R4;
use crate::gad::rules::testing::{Log, codes, node, plan};

/// The findings of this rule over a record that the machine and the rule of verdicts see as well.
fn findings(plan: &Arc<PlanIndex>, entries: impl FnOnce(&mut Log)) -> Findings {
    let mut log = Log::new(plan);
    log.freeze();
    entries(&mut log);
    let mut rule = Reliance::new(Arc::clone(plan));
    let mut verdicts = R4::new(Arc::clone(plan), ReplayRule::none());
    let mut machine = Machine::new(Arc::clone(plan), false);
    let mut findings = Findings::new();
    for event in log.events() {
        let judged = verdicts.observe(&event, &machine, &mut Findings::new());
        rule.observe(&event, &machine, &mut findings);
        machine.step(&event, judged, &mut Findings::new());
    }
    rule.finish(&mut findings);
    findings
}

fn run(entries: impl FnOnce(&mut Log)) -> Vec<&'static str> {
    codes(&findings(&plan(|_| {}), entries))
}

/// n1 alone, normal.
fn run_one(entries: impl FnOnce(&mut Log)) -> Vec<&'static str> {
    let plan = plan(|plan| {
        plan.nodes.truncate(1);
        plan.edges.clear();
    });
    codes(&findings(&plan, entries))
}

/// n2 alone, gated.
fn run_gated(entries: impl FnOnce(&mut Log)) -> Vec<&'static str> {
    let plan = plan(|plan| {
        plan.nodes = vec![plan.nodes.swap_remove(1)];
        plan.edges.clear();
    });
    codes(&findings(&plan, entries))
}

fn done(log: &mut Log, session: &'static str, node: &'static str) {
    log.session(session, &[node], &[]).passes(session, node);
}

#[test]
fn a_record_that_has_what_it_relies_on() {
    let found = run(|log| {
        done(log, "s1", "n1");
        done(log, "s2", "n2");
        log.gate_request("n2").approval("n2");
        done(log, "s3", "n3");
        log.completed();
    });
    assert_eq!(found, [""; 0]);
}

#[test]
fn plan_completed_relies_on_every_test_of_every_node() {
    assert_eq!(run_one(|log| log.completed().done()), ["R4.PASS_MISSING"]);
    let failed = run_one(|log| {
        log.session("s1", &["n1"], &[]).verdict("s1", "n1", "t1", PassFail::Pass);
        log.verdict("s1", "n1", "t2", PassFail::Fail).completed();
    });
    assert_eq!(failed, ["R4.PASS_MISSING"]);
    // Nothing relies on anything: nothing is asked.
    let unasked = run_one(|log| log.session("s1", &["n1"], &[]).done());
    assert_eq!(unasked, [""; 0]);
}

#[test]
fn each_attempt_stands_for_itself() {
    // t1 passed in the first attempt, t2 in the second.
    let found = run_one(|log| {
        log.session("s1", &["n1"], &[]).verdict("s1", "n1", "t1", PassFail::Pass);
        log.verdict("s1", "n1", "t2", PassFail::Fail);
        log.session("s2", &["n1"], &[]).verdict("s2", "n1", "t2", PassFail::Pass).completed();
    });
    assert_eq!(found, ["R4.PASS_MISSING"]);
}

#[test]
fn a_pass_below_its_class_is_told_at_the_verdict() {
    let plan = plan(|plan| {
        plan.nodes.truncate(1);
        plan.edges.clear();
    });
    let findings = findings(&plan, |log| {
        log.session("s1", &["n1"], &[]).passes("s1", "n1");
        log.change_verdict(|verdict| verdict.capture = None).completed();
    });
    assert_eq!(codes(&findings), ["R4.CLASS_BELOW"]);
    assert_eq!(findings.list().first().unwrap().place, Where::entry(5));
}

#[test]
fn an_open_flag_bars_reliance() {
    let flagged = |close: Option<PassFail>| {
        run_one(|log| {
            log.session("s1", &["n1"], &["docs/a"]).flag("n1", &["docs/a"]);
            if let Some(verdict) = close {
                log.closed("n1", verdict);
            }
            log.passes("s1", "n1").completed();
        })
    };
    assert_eq!(flagged(None), ["R6.OPEN_AT_GOOD"]);
    assert_eq!(flagged(Some(PassFail::Fail)), ["R6.OPEN_AT_GOOD"]);
    assert_eq!(flagged(Some(PassFail::Pass)), [""; 0]);
}

#[test]
fn a_dispatch_relies_on_direct_predecessors() {
    let found = run(|log| log.session("s2", &["n2"], &[]).done());
    assert_eq!(found, ["R4.PASS_MISSING"]);
    let places = |entries: fn(&mut Log)| -> Vec<Option<u64>> {
        let findings = findings(&plan(|_| {}), entries);
        findings.list().iter().map(|finding| finding.place.seq).collect()
    };
    // n3 relies on n2; only later does n2 on n1. Each is asked once.
    let asked = places(|log| {
        log.session("s3", &["n3"], &[]).session("s2", &["n2"], &[]);
        log.session("s4", &["n3"], &[]).session("s5", &["n2"], &[]);
    });
    assert_eq!(asked, [Some(1), Some(1), Some(4), Some(4)]);
}

#[test]
fn a_gate_request_relies_on_its_node_and_on_no_approval() {
    assert_eq!(run_gated(|log| log.gate_request("n2").done()), ["R4.PASS_MISSING"]);
    let asked = run_gated(|log| {
        done(log, "s1", "n2");
        log.gate_request("n2");
    });
    assert_eq!(asked, [""; 0]);
}

#[test]
fn request_approval_consequence() {
    let gated = |entries: fn(&mut Log)| {
        run_gated(|log| {
            done(log, "s1", "n2");
            entries(log);
        })
    };
    assert_eq!(gated(|log| log.gate_request("n2").approval("n2").completed().done()), [""; 0]);
    assert_eq!(gated(|log| log.approval("n2").completed().done()), ["R7.NO_REQUEST"]);
    assert_eq!(gated(|log| log.approval("n2").gate_request("n2").completed().done()), ["R7.ORDER"]);
    assert_eq!(gated(|log| log.approval("n2").completed().gate_request("n2").done()), ["R7.ORDER"]);
    assert_eq!(
        gated(|log| log.gate_request("n2").completed().approval("n2").done()),
        ["R7.CONSEQUENCE"]
    );
    // An approval too early and one in time: the one in time counts.
    assert_eq!(
        gated(|log| log.approval("n2").gate_request("n2").approval("n2").completed().done()),
        [""; 0]
    );
    // No approval at all is for the machine to miss, a refusal is none.
    assert_eq!(gated(|log| log.gate_request("n2").completed().done()), [""; 0]);
    assert_eq!(gated(|log| log.gate_request("n2").refusal("n2").completed().done()), [""; 0]);
    // Without a consequence nothing is asked.
    assert_eq!(gated(|log| log.approval("n2").done()), [""; 0]);
}

#[test]
fn an_approval_belongs_to_its_attempt() {
    let found = run_gated(|log| {
        done(log, "s1", "n2");
        log.gate_request("n2").approval("n2");
        done(log, "s2", "n2");
        log.completed().approval("n2");
    });
    assert_eq!(found, ["R7.CONSEQUENCE"]);
}

#[test]
fn a_dispatch_is_a_consequence_of_every_gated_node_with_a_path_to_it() {
    // n2 is gated; n3 comes after it, n4 after n3.
    let longer = plan(|plan| {
        plan.nodes.push(node("n4"));
        plan.edges.push(("n3".into(), "n4".into()));
    });
    for node in ["n3", "n4"] {
        let found = codes(&findings(&longer, |log| {
            done(log, "s1", "n1");
            done(log, "s2", "n2");
            log.gate_request("n2").session("s3", &[node], &[]).approval("n2");
        }));
        assert!(found.contains(&"R7.CONSEQUENCE"), "{node}: {found:?}");
    }
    // A node beside it is none.
    let beside = plan(|plan| {
        plan.nodes.push(node("n4"));
        plan.edges.retain(|(from, _)| &**from != "n2");
    });
    let found = codes(&findings(&beside, |log| {
        done(log, "s1", "n1");
        done(log, "s2", "n2");
        log.gate_request("n2").session("s3", &["n4"], &[]).session("s4", &["n3"], &[]);
        log.approval("n2");
    }));
    assert_eq!(found, [""; 0]);
}

#[test]
fn ids_the_plan_does_not_have_and_refused_forms_are_relied_on_by_nobody() {
    let found = run(|log| {
        log.dispatch("s1", &["n9"]).gate_request("n9").approval("n9");
        log.completed().change(|entry| entry.payload = None);
    });
    assert_eq!(found, [""; 0]);
}

/// A hundred thousand dispatches of a node with ten thousand predecessors take no 10^9 steps.
#[test]
fn a_node_is_asked_once_however_often_it_is_relied_on() {
    let plan = plan(|plan| {
        let before: Vec<String> = (0..10_000).map(|number| format!("p{number}")).collect();
        plan.nodes.extend(before.iter().map(|id| node(id)));
        plan.edges.extend(before.iter().map(|id| (id.as_str().into(), "n1".into())));
    });
    let mut log = Log::new(&plan);
    log.dispatch("s1", &["n1"]).completed();
    let machine = Machine::new(Arc::clone(&plan), false);
    let (mut rule, mut findings) = (Reliance::new(Arc::clone(&plan)), Findings::new());
    let start = std::time::Instant::now();
    for _ in 0..100_000 {
        for event in log.events() {
            rule.observe(&event, &machine, &mut findings);
        }
    }
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    // Two tests of each node, n2 and n3 included by the completion.
    let asked = 2 * (10_000 + 3);
    assert_eq!(findings.omitted().next().unwrap().1, asked - crate::gad::finding::MAX_PER_CODE);
}
