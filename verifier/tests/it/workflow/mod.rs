//! Workflows: generated bundles that agree, and each of them with one thing changed.

mod branches;
mod found;
mod influence;
mod plugs;
mod refused;
mod settled;

use anchorlog_proto::Digest;
use anchorlog_verifier::workflow::{
    Check, Completion, Examination, Expectations, Memory, Plugs, examine,
};

use crate::workflow_world::json::{Json, text};
use crate::workflow_world::{Bundle, Plan, Point, generate, honest};

pub fn expect(bundle: &Bundle) -> Expectations {
    Expectations {
        workflow: Some(bundle.workflow),
        execution: Some(bundle.execution),
        runtime: Some(bundle.runtime),
        ..Expectations::default()
    }
}

pub fn examined(bundle: &Bundle) -> Examination {
    let files = Memory(bundle.files.clone());
    examine(&files, &expect(bundle), &Plugs::default()).expect("it can run")
}

/// The checks that no bundle can pass without plugs, whatever is in it.
const NEVER: [Check; 8] = [
    Check::BranchAggregate,
    Check::PreparationBounds,
    Check::DialectForms,
    Check::DialectKinds,
    Check::Preparations,
    Check::ReleaseEncoding,
    Check::Expansion,
    Check::Influence,
];

pub fn plans() -> Vec<(&'static str, Plan)> {
    vec![
        ("two-stages", Plan::two_stages()),
        ("second-installation", Plan::second_installation()),
        ("outcome", Plan::disposition("outcome", Some("go"))),
        ("no-such-outcome", Plan::disposition("outcome", Some("nowhere"))),
        ("unresolved", Plan::disposition("unresolved", None)),
        ("not-applicable", Plan::disposition("not-applicable", None)),
        ("no-selection", Plan::no_selection()),
        ("empty-selection", Plan::empty_selection()),
        ("fan-out", Plan::fan_out(false)),
        ("fan-out-refused", Plan::fan_out(true)),
        ("record-bound", Plan::record_bound()),
        ("missing-and-null", Plan::missing_and_null()),
        ("duplicates", Plan::duplicates()),
        ("literals", Plan::literals()),
        ("unsuccessful", Plan::unsuccessful()),
        ("named", Plan::named()),
        ("legacy", Plan::legacy()),
        ("reordered", Plan::reordered()),
        ("stopped-after-admission", Plan::stopped_after_admission()),
    ]
}

#[test]
fn every_plan_agrees_as_far_as_it_can_be_checked() {
    for (name, plan) in plans() {
        let examination = examined(&generate(&plan, &honest));
        assert_eq!(examination.result(), "incomplete", "{name}: {}", examination.to_text());
        assert_eq!(examination.exit_code(), 4);
        let unmade: Vec<Check> = examination.unperformed().map(|result| result.check).collect();
        let mut expected = NEVER.to_vec();
        expected.push(Check::OutputInfluence);
        assert_eq!(unmade, expected, "{name}: {}", examination.to_text());
        assert_eq!(examination.unread_count, 0, "{name}: {:?}", examination.unread);
    }
}

#[test]
fn counts_and_completion() {
    let summary = |plan: &Plan| {
        let examination = examined(&generate(plan, &honest));
        let counts = examination.counts.unwrap();
        let figures = [counts.stages, counts.instances, counts.outputs, counts.selections];
        (figures, examination.completion.unwrap())
    };
    // Section 11: three instances, five outputs, one selection.
    assert_eq!(summary(&Plan::two_stages()), ([2, 3, 5, 1], Completion::Complete));
    assert_eq!(summary(&Plan::empty_selection()), ([2, 1, 3, 1], Completion::Complete));
    assert_eq!(summary(&Plan::no_selection()), ([2, 1, 3, 0], Completion::Partial));
    assert_eq!(summary(&Plan::fan_out(true)), ([2, 1, 3, 1], Completion::Partial));
    assert_eq!(summary(&Plan::record_bound()), ([2, 3, 9, 1], Completion::Partial));
    let (figures, completion) = summary(&Plan::disposition("outcome", Some("go")));
    assert_eq!((figures, completion), ([3, 7, 11, 2], Completion::Partial));
}

#[test]
fn two_installations_share_the_workflow_and_nothing_else() {
    let one = generate(&Plan::two_stages(), &honest);
    let two = generate(&Plan::second_installation(), &honest);
    assert_eq!(one.workflow, two.workflow);
    assert_ne!(one.execution, two.execution);
    let published = "stages/people/dialect.json";
    assert_eq!(one.files[published], two.files[published]);
    for other in ["binding.json", "bound-dialect.json", "release.json"] {
        let path = format!("stages/people/{other}");
        assert_ne!(one.files[&path], two.files[&path], "{path}");
    }
}

#[test]
fn duplicate_payloads_are_two_records() {
    let bundle = generate(&Plan::duplicates(), &honest);
    let of = |index: u32, name: &str| {
        bundle.files[&format!("outputs/organisations/organisations-1/{index}/{name}")].clone()
    };
    assert_eq!(of(0, "payload.json"), of(1, "payload.json"));
    assert_ne!(of(0, "record.json"), of(1, "record.json"));
}

/// What a changed bundle comes to.
pub fn outcome_of(bundle: &Bundle) -> (Check, String) {
    let examination = examined(bundle);
    match (examination.refusal(), examination.finding()) {
        (Some((check, code)), None) => (check, code.to_owned()),
        (None, Some((check, code))) => (check, code.as_str().to_owned()),
        _ => panic!("neither refused nor found: {}", examination.to_text()),
    }
}

/// The bundle of a plan in which every object of this kind, stage, instance and index is changed.
pub fn tampered(plan: &Plan, at: Point<'_>, change: impl Fn(&mut Json)) -> (Check, String) {
    let hit = std::cell::Cell::new(false);
    let bundle = generate(plan, &|point, json| {
        if point == at {
            hit.set(true);
            change(json);
        }
    });
    assert!(hit.get(), "nothing at {at:?}");
    outcome_of(&bundle)
}

pub const fn at<'p>(what: &'p str, stage: &'p str, instance: usize, index: usize) -> Point<'p> {
    Point { what, stage, instance, index }
}

pub const fn execution() -> Point<'static> {
    at("execution", "", 0, 0)
}

pub fn zero() -> Json {
    text(Digest::of(b"another").to_string())
}

#[track_caller]
pub fn assert_found(found: (Check, String), check: Check, code: &str) {
    assert_eq!(found, (check, code.to_owned()));
}
