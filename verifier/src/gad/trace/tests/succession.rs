//! What a succession states, against the plan that follows.

use anchorlog_proto::Digest;
use anchorlog_proto::gad::entry::{Entry, EntryType, Payload};
use anchorlog_proto::gad::names::EvidenceClass;
use anchorlog_proto::gad::payload::{Change, Delta, PlanSuperseded};
use anchorlog_proto::gad::plan::{Fence, Node};

use crate::codes::gad::Affect;
use crate::gad::trace::check_delta;
use crate::gad::trace::testing::{node, plan, plan_hash, succession, test};
use crate::gad::{Event, Findings, PlanIndex};

/// The pointers of what isn't stated.
fn missing(after: Node, state: impl FnOnce(&mut Delta<'static>)) -> Vec<String> {
    let findings = check(after, state, true);
    let list = findings.list().iter();
    list.map(|finding| finding.place.pointer.as_deref().unwrap().to_owned()).collect()
}

fn check(after: Node, state: impl FnOnce(&mut Delta<'static>), policy: bool) -> Findings {
    let mut end: PlanSuperseded<'static> = succession(&["n1"]);
    state(end.delta.as_mut().unwrap());
    let entry = Entry {
        seq: 7,
        time: 0,
        entry_type: EntryType::PlanSuperseded,
        payload: Some(Payload::PlanSuperseded(end)),
        signed: None,
        h: Digest::of(b"h"),
    };
    let event = Event { index: 7, entry: &entry, authentic: true };
    let before = PlanIndex::new(plan(vec![before(), node("gone")], &[]), plan_hash());
    let mut findings = Findings::new();
    check_delta(&before, &plan(vec![after, node("new")], &[]), &event, policy, &mut findings);
    findings
}

fn before() -> Node {
    Node { tests: vec![test("t1"), test("t2")], ..node("n1") }
}

fn fence(entries: &[&str]) -> Fence {
    Fence::new(entries.iter().map(|entry| (*entry).into()).collect()).unwrap()
}

fn change<T>(test_id: Option<&'static str>, to: Option<T>) -> Change<'static, T> {
    Change { node: "n1", test_id, from: None, to }
}

#[test]
fn what_is_not_weaker_needs_no_row() {
    assert!(missing(before(), |_| {}).is_empty());
    let stronger = Node {
        c_min: EvidenceClass::EngineObserved,
        fence: fence(&[]),
        tests: vec![test("t2"), test("t1"), test("t3")],
        retries: 9,
        ..before()
    };
    assert!(missing(stronger, |_| {}).is_empty());
}

#[test]
fn a_lower_floor_is_stated() {
    let lower = || Node { c_min: EvidenceClass::Attested, ..before() };
    let at = ["/body/p/changed_class_floors"];
    assert_eq!(missing(lower(), |_| {}), at);
    let to = |class| {
        move |delta: &mut Delta<'static>| delta.class_floors.push(change(None, Some(class)))
    };
    assert_eq!(missing(lower(), to(EvidenceClass::Proxy)), at);
    assert!(missing(lower(), to(EvidenceClass::Attested)).is_empty());
}

#[test]
fn a_wider_fence_is_stated() {
    let wider = || Node { fence: fence(&["src/", "docs/"]), ..before() };
    let at = ["/body/p/changed_fences"];
    assert_eq!(missing(wider(), |_| {}), at);
    let to = |entries: &'static [&str]| {
        move |delta: &mut Delta<'static>| delta.fences.push(change(None, Some(fence(entries))))
    };
    assert_eq!(missing(wider(), to(&["docs/"])), at);
    assert!(missing(wider(), to(&["docs/", "src/"])).is_empty(), "a fence is a set");
}

#[test]
fn a_test_that_goes_or_changes_is_stated() {
    let at = ["/body/p/changed_tests"];
    let fewer = || Node { tests: vec![test("t1")], ..before() };
    assert_eq!(missing(fewer(), |_| {}), at);
    assert!(missing(fewer(), |delta| delta.tests.push(change(Some("t2"), None))).is_empty());
    let mut other = test("t2");
    other.digest = Digest::of(b"easier");
    let digest = other.digest;
    let replaced = || Node { tests: vec![test("t1"), other.clone()], ..before() };
    assert_eq!(missing(replaced(), |_| {}), at);
    assert_eq!(missing(replaced(), |delta| delta.tests.push(change(Some("t2"), None))), at);
    let stated =
        |test| move |delta: &mut Delta<'static>| delta.tests.push(change(Some(test), Some(digest)));
    assert_eq!(missing(replaced(), stated("t1")), at);
    assert!(missing(replaced(), stated("t2")).is_empty());
}

#[test]
fn it_is_a_note_without_a_policy() {
    let lower = || Node { c_min: EvidenceClass::Attested, ..before() };
    let with = check(lower(), |_| {}, true);
    assert!(with.affects(Affect::Defensible) && !with.affects(Affect::R3));
    let without = check(lower(), |_| {}, false);
    assert!(without.affects(Affect::Note) && !without.affects(Affect::Defensible));
}
