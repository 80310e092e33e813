//! Times, and what a policy asks for.

use anchorlog_proto::Digest;
use anchorlog_proto::gad::envelope::AnchorType;
use anchorlog_proto::gad::policy::{PrecommitRule, RequiredTarget, RequiredWhen};

use super::{HEAD, PLAN, ROOT};
use crate::gad::anchors::testing::{END, TSA_A, TSA_B, World, required};
use crate::gad::report::Precedence;

/// The codes for a root anchor at this time.
fn at(seconds: i64) -> Vec<String> {
    let mut world = World::new();
    world.stamp("anchors/a.tst", ROOT, TSA_A, seconds);
    world.judge().codes()
}

#[test]
fn a_root_anchor_lies_behind_the_end_and_not_too_far() {
    // accuracy 10, skew 300, future skew 100, delay 3600.
    let mut world = World::new();
    world.record.max_future_skew_s = 1000;
    world.stamp("anchors/a.tst", ROOT, TSA_A, END - 310);
    assert_eq!(world.judge().codes(), [""; 0]);
    let mut world = World::new();
    world.record.max_future_skew_s = 1000;
    world.stamp("anchors/a.tst", ROOT, TSA_A, END - 311);
    assert_eq!(world.judge().codes(), ["ANC.TIME_BEFORE_TERMINAL"]);
    // Whether or not anybody asks for it.
    world.policy.required_anchors.clear();
    assert_eq!(world.judge().codes(), ["ANC.TIME_BEFORE_TERMINAL", "(POL.VACUOUS)"]);

    assert_eq!(at(END + 3600), [""; 0]);
    assert_eq!(at(END + 3601), ["ANC.TOO_LATE"]);
}

#[test]
fn an_anchored_entry_is_not_written_after_its_anchor() {
    assert_eq!(at(END - 110), [""; 0]);
    assert_eq!(at(END - 111), ["R2.CLOCK.ANCHOR_CONTRADICTION"]);
    // A head covers what is before it: its own entry is of END - 100.
    for (seconds, expected) in
        [(END - 210, vec![]), (END - 211, vec!["R2.CLOCK.ANCHOR_CONTRADICTION"])]
    {
        let mut world = World::new();
        world.stamp("anchors/a.tst", ROOT, TSA_A, END + 60);
        world.stamp("anchors/b.tst", HEAD, TSA_A, seconds);
        assert_eq!(world.judge().codes(), expected);
    }
    // A commitment covers no entry.
    let mut world = World::new();
    world.stamp("anchors/a.tst", ROOT, TSA_A, END + 60);
    world.stamp("anchors/b.tst", PLAN, TSA_A, END - 100_000);
    assert_eq!(world.judge().codes(), [""; 0]);
}

#[test]
fn one_that_is_late_harms_nobody_where_another_is_not() {
    let mut world = World::new();
    world.stamp("anchors/a.tst", ROOT, TSA_A, END + 60);
    world.stamp("anchors/b.tst", ROOT, TSA_B, END + 100_000);
    let judged = world.judge();
    assert_eq!(judged.codes(), ["(ANC.TOO_LATE)"]);
    assert!(judged.outcome.required().is_some());
    world.policy.required_anchors[0].min_distinct_operators = 2;
    assert_eq!(world.judge().codes(), ["ANC.TOO_LATE"]);
}

#[test]
fn operators_are_counted_once() {
    let mut world = World::new();
    world.policy.required_anchors[0].min_distinct_operators = 2;
    world.stamp("anchors/a.tst", ROOT, TSA_A, END + 60);
    world.stamp("anchors/b.tst", ROOT, TSA_A, END + 61);
    assert_eq!(world.judge().codes(), ["ANC.DISTINCT"]);
    world.stamp("anchors/c.tst", ROOT, TSA_B, END + 62);
    assert_eq!(world.judge().codes(), [""; 0]);
    world.policy.tsa[1].operator = "tsa-a".into();
    assert_eq!(world.judge().codes(), ["ANC.DISTINCT"]);
}

#[test]
fn only_the_kinds_and_types_that_are_asked_for_count() {
    let mut world = World::new();
    world.stamp("anchors/a.tst", ROOT, TSA_A, END + 60);
    world.policy.required_anchors[0].types = vec![AnchorType::Tlog];
    assert_eq!(world.judge().codes(), ["ANC.REQUIRED_MISSING"]);
    world.policy.required_anchors = vec![required(RequiredTarget::ChainHead { max_delay_s: 60 })];
    assert_eq!(world.judge().codes(), ["ANC.REQUIRED_MISSING"]);
    world.stamp("anchors/b.tst", HEAD, TSA_A, END + 60);
    assert_eq!(world.judge().codes(), [""; 0]);
}

#[test]
fn time_comes_from_listed_sources() {
    let mut world = World::new();
    world.policy.time_sources.clear();
    world.stamp("anchors/a.tst", ROOT, TSA_A, END + 60);
    let judged = world.judge();
    assert_eq!(judged.codes(), ["ANC.NO_TRUSTED_TIME"]);
    assert_eq!(judged.outcome.latest(), None);
    assert_eq!(judged.states(), ["verified"]);
}

/// A world with a required commitment by this rule, stamped at this time.
fn committed(rule: PrecommitRule, seconds: i64) -> World {
    let mut world = World::new();
    world.policy.required_anchors = vec![required(RequiredTarget::PlanCommitment { rule })];
    world.stamp("anchors/plan.tst", PLAN, TSA_A, seconds);
    world
}

fn bind(world: &mut World) {
    let file = Digest::of(&world.files["anchors/plan.tst"]);
    world.record.first_dispatch.as_mut().unwrap().precommit = Some(file);
}

#[test]
fn a_commitment_lies_before_the_first_dispatch() {
    let rule = PrecommitRule::BeforeFirstDispatch;
    let judged = committed(rule, END - 210).judge();
    assert_eq!(judged.codes(), [""; 0]);
    assert_eq!(judged.outcome.precedence(), Precedence::Bounded);
    let judged = committed(rule, END - 209).judge();
    assert_eq!(judged.codes(), ["ANC.PRECOMMIT_LATE"]);
    assert_eq!(judged.outcome.precedence(), Precedence::Recorded);
    // Nothing was dispatched: it isn't late for anything.
    let mut world = committed(rule, END);
    world.record.first_dispatch = None;
    assert_eq!(world.judge().codes(), [""; 0]);
}

#[test]
fn a_bound_commitment_is_carried_by_the_first_dispatch() {
    let rule = PrecommitRule::BoundInDispatch;
    let mut world = committed(rule, END - 250);
    assert_eq!(world.judge().codes(), ["ANC.PRECOMMIT_UNBOUND"]);
    bind(&mut world);
    assert_eq!(world.judge().codes(), [""; 0]);
    // T - accuracy up to the dispatch and the policy's skew.
    for (seconds, expected) in [(END + 110, vec![]), (END + 111, vec!["ANC.PRECOMMIT_LATE"])] {
        let mut world = committed(rule, seconds);
        bind(&mut world);
        assert_eq!(world.judge().codes(), expected);
    }
    // Another commitment beside it can't be bound too, and need not be.
    world.stamp("anchors/second.tst", PLAN, TSA_B, END - 250);
    assert_eq!(world.judge().codes(), ["(ANC.PRECOMMIT_UNBOUND)"]);
}

#[test]
fn what_is_claimed_brings_requirements_into_force() {
    let mut world = committed(PrecommitRule::BeforeFirstDispatch, END);
    world.policy.required_anchors[0].when = RequiredWhen::BoundedPrecedenceClaimed;
    let judged = world.judge();
    assert_eq!(judged.codes(), ["(POL.VACUOUS)"]);
    assert!(judged.outcome.vacuous());
    bind(&mut world);
    assert_eq!(world.judge().codes(), ["ANC.PRECOMMIT_LATE"]);
    let mut world = committed(PrecommitRule::BeforeFirstDispatch, END);
    world.policy.required_anchors[0].when = RequiredWhen::BoundedPrecedenceClaimed;
    world.record.claims_bounded = true;
    // A commitment after the first dispatch is none that bounds anything.
    assert_eq!(world.judge().codes(), ["ANC.PRECOMMIT_LATE", "R2.LABEL.BOUNDED"]);
    world.envelope.anchors.clear();
    assert_eq!(world.judge().codes(), ["ANC.REQUIRED_MISSING", "R2.LABEL.BOUNDED"]);
}
