//! Anchors in a small world.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod order;
mod rfc3161;
mod tlog;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::envelope::DeclaredHead;
use anchorlog_proto::gad::names::AnchorKind;

use crate::gad::anchors::testing::{END, STRANGER, TSA_A, World};

const ROOT: AnchorKind = AnchorKind::CoreRoot;
const HEAD: AnchorKind = AnchorKind::ChainHead;
const PLAN: AnchorKind = AnchorKind::PlanCommitment;

#[test]
fn targets_are_those_of_the_record() {
    let mut world = World::new();
    world.stamp("anchors/a.tst", ROOT, TSA_A, END + 60);
    world.stamp("anchors/b.tst", HEAD, TSA_A, END + 60);
    world.stamp("anchors/c.tst", PLAN, TSA_A, END - 250);
    let good = world.judge();
    assert_eq!(good.codes(), [""; 0]);
    assert_eq!(good.states(), ["verified"; 3]);
    assert!(good.outcome.required().is_some());
    assert_eq!(good.outcome.latest().unwrap().unix_seconds(), END + 60);
    let report = &good.outcome.anchors()[0];
    assert_eq!((report.time, report.operator.as_deref()), (Some(END + 60), Some("tsa-a")));

    // Another value, truly stamped.
    for position in [0, 2] {
        let other = Digest::of(b"other");
        world.envelope.anchors[position].target = other;
        let path = world.envelope.anchors[position].item.path.clone();
        world.files.insert(path, TSA_A.token(&other, END + 60, 10));
    }
    let judged = world.judge();
    assert_eq!(judged.codes(), ["ANC.TARGET", "ANC.TARGET", "ANC.REQUIRED_MISSING"]);
    assert_eq!(judged.states(), ["failed", "verified", "failed"]);
    assert!(judged.outcome.required().is_none());
    assert!(judged.outcome.listed(ROOT) && !judged.outcome.verified(ROOT));

    // Nothing to compare with.
    world.record.plan_hash = None;
    assert!(world.judge().codes().contains(&"ANC.TARGET".to_owned()));
}

#[test]
fn heads_are_declared_and_in_the_chain() {
    let mut world = World::new();
    world.stamp("anchors/a.tst", ROOT, TSA_A, END + 60);
    world.stamp("anchors/b.tst", HEAD, TSA_A, END + 60);
    let heads = |list: &[(u64, u8)]| {
        let row = |(seq, head): &(u64, u8)| DeclaredHead { seq: *seq, head: Digest::of(&[*head]) };
        Some(list.iter().map(row).collect::<Vec<_>>())
    };
    world.envelope.heads = heads(&[(1, 1)]);
    assert_eq!(world.judge().codes(), ["ANC.HEAD_UNDECLARED"]);
    for wrong in [&[(1, 2)][..], &[(9, 2)]] {
        world.envelope.heads = heads(wrong);
        let judged = world.judge();
        assert_eq!(judged.codes(), ["ANC.HEAD_NOT_IN_CHAIN"]);
        assert_eq!(judged.states(), ["verified", "failed"]);
    }
    // Declared twice, once rightly: that it is wrong once is all that is wrong.
    world.envelope.heads = heads(&[(1, 2), (2, 2)]);
    let judged = world.judge();
    assert_eq!(judged.codes(), ["ANC.HEAD_NOT_IN_CHAIN"]);
    assert_eq!(judged.states(), ["verified"; 2]);
    world.envelope.heads = None;
    assert_eq!(world.judge().codes(), ["ANC.HEAD_NOT_IN_CHAIN", "ANC.HEAD_UNDECLARED"]);
}

#[test]
fn unknown_types_and_absent_files_verify_nothing() {
    let mut world = World::new();
    world.stamp("anchors/a.tst", ROOT, TSA_A, END + 60);
    world.envelope.anchors[0].anchor_type = None;
    let judged = world.judge();
    assert_eq!(judged.codes(), ["ANC.TYPE_UNKNOWN", "ANC.REQUIRED_MISSING"]);
    assert_eq!(judged.states(), ["unsupported"]);

    let mut world = World::new();
    world.stamp("anchors/a.tst", ROOT, TSA_A, END + 60);
    world.files.clear();
    let judged = world.judge();
    assert_eq!(judged.codes(), ["ANC.REQUIRED_MISSING"]);
    assert_eq!(judged.states(), ["failed"]);
}

#[test]
fn a_wrong_target_stays_wrong_whoever_signed() {
    let mut world = World::new();
    world.stamp("anchors/a.tst", ROOT, STRANGER, END + 60);
    world.envelope.anchors[0].target = Digest::of(b"other");
    let judged = world.judge();
    let expected = ["ANC.TARGET", "(ANC.UNTRUSTED_ISSUER)", "ANC.REQUIRED_MISSING"];
    assert_eq!(judged.codes(), expected);
    assert_eq!(judged.states(), ["failed"]);
}

#[test]
fn a_policy_that_does_not_hold_verifies_nothing() {
    let mut world = World::new();
    world.policy.required_anchors.clear();
    let judged = world.judge();
    assert_eq!(judged.codes(), ["(POL.VACUOUS)"]);
    assert!(judged.outcome.required().is_some() && judged.outcome.vacuous());
    // The same with a policy that asks for a replay that nobody can do.
    world.policy.replay = anchorlog_proto::gad::policy::ReplayPolicy::RequiredForAll;
    assert!(world.judge().outcome.required().is_none());
}
