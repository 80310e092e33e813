//! Walks at random: what is counted is what could be looked for, and no legal record is a dead end.

use std::collections::BTreeSet;

use anchorlog_proto::gad::entry::{EntryType, Payload};
use anchorlog_proto::gad::names::{PassFail, Role};
use anchorlog_proto::gad::payload::{ExitStatus, FailureReason, NodeOrNull, RemediationAction};
use anchorlog_proto::gad::plan::Node;

use crate::gad::NodeIx;
use crate::gad::trace::Status;
use crate::gad::trace::testing::{Run, gated, node, result, succession, test};

/// A small generator (splitmix64); the same numbers for the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }
}

fn run() -> Run {
    let mut twice = node("d");
    twice.tests.push(test("t2"));
    let nodes = vec![node("a"), gated("b"), Node { retries: 0, ..node("c") }, twice];
    Run::with_edges(nodes, &[("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])
}

/// Any entry but a terminal, whether or not it is legal.
fn any_entry(run: &mut Run, dice: &mut Dice) {
    let names = ["a", "b", "c", "d", "ghost"];
    let id = names[usize::try_from(dice.below(5)).unwrap()];
    let open = run.machine.open_session().map(|session| session.id.to_string());
    let session = open.filter(|_| dice.below(3) > 0).unwrap_or(format!("s{}", run.next));
    let reasons = FailureReason::ALL;
    let reason = reasons[usize::try_from(dice.below(3)).unwrap()];
    let input = [run.next - 1 - dice.below(2).min(run.next - 1)];
    match dice.below(19) {
        0 | 1 => run.dispatch(&session, &[id]),
        2 => run.dispatch(&session, &["a", "c"]),
        3 => run.exit(&session, id, 0),
        4 => run.exit(&session, id, 1),
        5 => run.result(&session, id),
        6 => run.session(&session, id, 0),
        7 => run.verdict(id, true),
        8 => run.verdict_of(id, "t2", true),
        9 => run.verdict(id, false),
        10 => run.gate_request(id),
        11 => run.approval(id),
        12 => run.refusal(id),
        13 => run.retry(id, reason, &input),
        14 => run.trip(id, reason),
        15 if dice.below(8) == 0 => run.flag(id).removal(id).scope_closed(id, PassFail::Pass),
        16 if dice.below(3) == 0 => run.remediation(id, RemediationAction::Revision),
        15 | 17 => run.revised(id, input[0]),
        _ => run.claim(&session, id),
    };
}

/// What is counted against what is looked for.
fn compare(run: &Run) {
    let (machine, plan) = (&run.machine, run.machine.plan());
    let count = |holds: &dyn Fn(NodeIx) -> bool| plan.nodes().filter(|node| holds(*node)).count();
    let ready = |node| {
        let before = plan.predecessors(node);
        matches!(machine.status(node), Status::Pending | Status::Granted)
            && before.iter().all(|node| machine.is_good(*node))
    };
    assert_eq!(machine.nodes.ready(), count(&ready));
    assert_eq!(machine.unresolved(), count(&|node| !machine.is_good(node)));
    let unjudged =
        |node| machine.status(node) == Status::Captured && machine.judged_count(node) == 0;
    assert_eq!(machine.nodes.unjudged(), count(&unjudged));
    for status in Status::ALL {
        assert_eq!(machine.nodes.count(status), count(&|node| machine.status(node) == status));
    }
}

#[test]
fn counts_are_right_whatever_the_record_says() {
    for seed in 0..300 {
        let (mut run, mut dice) = (run(), Dice(seed));
        for _ in 0..50 {
            any_entry(&mut run, &mut dice);
            compare(&run);
        }
    }
}

#[test]
fn a_legal_record_can_always_be_brought_to_an_end() {
    let mut reached = BTreeSet::new();
    for seed in 0..200 {
        let (mut run, mut dice) = (run(), Dice(seed));
        for _ in 0..400 {
            let mut next = run.clone();
            any_entry(&mut next, &mut dice);
            if !next.finish(true).raised().is_empty() {
                continue;
            }
            run = next;
            reached.extend(run.machine.plan().nodes().map(|node| run.machine.status(node)));
            let mut end = run.clone();
            let open = end.machine.open_session().cloned();
            if let Some(session) = open {
                let only =
                    session.nodes.first().map(|node| end.machine.plan().id(*node).to_owned());
                let named = match &only {
                    Some(id) if session.nodes.len() == 1 => NodeOrNull::Node(id),
                    _ => NodeOrNull::Null,
                };
                if session.exit.is_none() {
                    let crashed = ExitStatus::Killed;
                    end.exit_as(&session.id, named, crashed, None);
                }
                let result = result(&session.id, named);
                end.put(EntryType::ExecutionResult, Payload::ExecutionResult(result));
            }
            let plan = end.machine.plan();
            let due = plan.nodes().filter(|node| !end.machine.is_good(*node));
            let due: Vec<_> = due.map(|node| plan.id(node).to_owned()).collect();
            let due: Vec<_> = due.iter().map(|id| &**id).collect();
            end.superseded(succession(&due), Role::SuccessionAuthority).finish(false).clean();
        }
    }
    assert_eq!(reached, BTreeSet::from(Status::ALL));
}
