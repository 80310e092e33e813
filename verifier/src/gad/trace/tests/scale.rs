//! The largest plans: what holds over all nodes is counted, and the counts are right.

use anchorlog_proto::gad::payload::FailureReason;
use anchorlog_proto::gad::plan::Node;

use crate::gad::trace::testing::{Run, node, test};

#[test]
fn a_node_that_is_lost_again_and_again_counts_as_good_in_the_end() {
    // Otherwise each entry of a record whose R3 is false already could cost as much as there are edges.
    let names: Vec<_> = (0..9_999).map(|number| format!("n{number}")).collect();
    let nodes = std::iter::once(node("hub")).chain(names.iter().map(|name| node(name))).collect();
    let edges: Vec<_> = names.iter().map(|name| ("hub", &**name)).collect();
    let mut run = Run::with_edges(nodes, &edges);
    for (number, name) in names.iter().enumerate().take(20) {
        run.session(&format!("s{number}"), "hub", 0).raised();
        run.dispatch(&format!("x{number}"), &[&**name]);
        let waits = run.raised().contains(&"R3.DISPATCH.DEPS".to_owned());
        assert_eq!(waits, number <= 16, "{number}");
        run.exit(&format!("x{number}"), name, 0);
        run.result(&format!("x{number}"), name).verdict("hub", true).clean();
        assert!(run.machine.is_good(run.ix("hub")) && run.machine.is_ready(run.ix("n9998")));
    }
}

#[test]
fn a_node_of_many_tests_fails_by_each() {
    let tests: Vec<_> = (0..1_000).map(|number| test(&format!("t{number}"))).collect();
    let names: Vec<_> = tests.iter().map(|test| test.id.clone()).collect();
    let mut run = Run::of(vec![Node { tests, retries: 1_000, ..node("n1") }]);
    for number in 0..3 {
        run.session(&format!("s{number}"), "n1", 0);
        let first = run.next;
        for name in &names {
            run.verdict_of("n1", name, false);
        }
        let failing: Vec<_> = (first..run.next).collect();
        run.retry("n1", FailureReason::VerdictFailed, &failing).clean();
    }
}

#[test]
fn a_session_may_cover_the_largest_plan() {
    let names: Vec<_> = (0..10_000).map(|number| format!("n{number}")).collect();
    let ids: Vec<_> = names.iter().map(|name| &**name).collect();
    let mut run = Run::of(ids.iter().map(|id| node(id)).collect());
    run.session_of("s1", &ids);
    for id in &ids {
        assert!(run.machine.unresolved() > 0);
        run.verdict(id, true);
    }
    assert_eq!(run.machine.unresolved(), 0);
    run.completed().finish(false).clean();
}
