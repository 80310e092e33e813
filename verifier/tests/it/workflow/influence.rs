//! Section 11's record-class case, by a verifier that computes influence as section 4 has it, over the made-up
//! sources of the generator.

use std::sync::Arc;

use anchorlog_proto::jp::json::{Bounds, Value, read};
use anchorlog_proto::jp::workflow::{Class, Influence};
use anchorlog_verifier::workflow::plug::{InfluenceOutcome, InfluenceRequest, InfluenceVerifier};
use anchorlog_verifier::workflow::{Check, Examination, Memory, Plugs, Status, examine};

use super::plugs::{Scripted, answered};
use super::{examined, expect};
use crate::workflow_world::json::Json;
use crate::workflow_world::{Bundle, Parameter, Plan, Point, Try, generate, honest};

/// Computes what is affected by declared dependencies, a parameter that no request names included.
#[derive(Debug)]
struct Computing;

impl InfluenceVerifier for Computing {
    fn verify(&self, request: &InfluenceRequest) -> InfluenceOutcome {
        let bound = read(&request.bound, &Bounds::FOREIGN).unwrap();
        let sources = list(&bound, "sources");
        let parent = request.parent.clone();
        // A case parameter that a copied destination overlaps, and every target of its source, and so on.
        let copied = |pointer: &str| {
            request.bindings.iter().any(|one| overlap(&one.to.to_string(), pointer))
        };
        let mut affected: Vec<&str> = Vec::new();
        loop {
            let before = affected.len();
            for source in sources {
                let is_affected = list(source, "parameters").iter().any(|parameter| {
                    let of = |name| parameter.get(name).and_then(Value::as_str);
                    of("case").is_some_and(copied)
                        || of("source").is_some_and(|from| affected.contains(&from))
                });
                let targets = list(source, "targets").iter().map(|target| text(target, "pointer"));
                let new: Vec<&str> =
                    targets.filter(|_| is_affected).filter(|one| !affected.contains(one)).collect();
                affected.extend(new);
            }
            if affected.len() == before {
                break;
            }
        }
        let generated = parent.as_ref().is_some_and(|parent| parent.generated_influence);
        let mut classes = Vec::new();
        let mut carries = false;
        for source in sources {
            for target in list(source, "targets") {
                let pointer = text(target, "pointer");
                let inherits = affected.contains(&pointer);
                let admits =
                    list(target, "admits").iter().any(|one| one.as_str() == Some("generated"));
                if inherits && generated && !admits {
                    return InfluenceOutcome::NotAdmitted(format!("{pointer} admits no generated"));
                }
                if overlap(pointer, &request.pointer) {
                    let class = text(source, "class");
                    classes.push(if class == "record" { Class::Record } else { Class::Generated });
                    carries |= class == "generated";
                    if let Some(parent) = parent.as_ref().filter(|_| inherits) {
                        classes.extend(parent.classes.iter().copied());
                        carries |= parent.generated_influence;
                    }
                }
            }
        }
        classes.sort_unstable();
        classes.dedup();
        let one = Influence { classes, generated_influence: carries };
        InfluenceOutcome::Agrees(vec![one; request.outputs])
    }
}

fn list<'v, 'a>(value: &'v Value<'a>, name: &str) -> &'v [Value<'a>] {
    value.get(name).and_then(Value::as_array).unwrap()
}

fn text<'v>(value: &'v Value<'_>, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap()
}

/// By whole tokens; no pointer here has an escape.
fn overlap(one: &str, other: &str) -> bool {
    one.split('/').zip(other.split('/')).all(|(one, other)| one == other)
}

fn plugs() -> Plugs {
    Plugs { influence: Some(Arc::new(Computing)), ..Scripted::agreeing().plugs() }
}

fn checked(bundle: &Bundle) -> Examination {
    examine(&Memory(bundle.files.clone()), &expect(bundle), &plugs()).unwrap()
}

fn finding(code: &str) -> String {
    format!("{{\"finding\":\"{code}\",\"result\":\"finding\"}}\n")
}

/// Without a plug the bundle is incomplete, and influence is one of the reasons.
#[track_caller]
fn unseen_without_a_plug(bundle: &Bundle) {
    let examination = examined(bundle);
    assert_eq!(examination.exit_code(), 4, "{}", examination.to_text());
    let Some(Status::NotPerformed { reason, .. }) = examination.status(Check::Influence) else {
        panic!("{}", examination.to_text());
    };
    assert_eq!(reason.as_str(), "no-influence-verifier");
    assert_eq!(examination.status(Check::Inventory), Some(&Status::Agrees));
}

/// With the plug: the finding of check 3, from `check` and from `read`.
#[track_caller]
fn found(bundle: &Bundle) {
    let examination = checked(bundle);
    let found = examination.finding().map(|(check, code)| (check, code.as_str()));
    assert_eq!(found, Some((Check::Influence, "influence-mismatch")), "{}", examination.to_text());
    assert_eq!(examination.exit_code(), 2);
    assert_eq!(answered(bundle, &plugs()), Ok(finding("influence-mismatch")));
}

#[test]
fn a_refusal_before_acquisition_is_a_partial_reading() {
    for parameter in Parameter::ALL {
        let refused = Plan::refused_before_acquisition();
        let bundle = generate(&Plan::record_class(parameter, &["record"], refused), &honest);
        // The shape: a case, no attempt, nothing acquired, the failure by its name.
        let record = String::from_utf8(bundle.files["execution.json"].clone()).unwrap();
        assert_eq!(record.matches(r#""failure":"admission-refused""#).count(), 2, "{record}");
        assert!(bundle.files.contains_key("instances/people-1/case.json"));
        assert!(!bundle.files.keys().any(|path| path.starts_with("instances/people-1/attempts")));
        unseen_without_a_plug(&bundle);
        let report = String::from_utf8(bundle.files["expected-report.json"].clone()).unwrap();
        assert!(report.contains("\"completion\":\"partial\""), "{report}");
        assert_eq!(answered(&bundle, &plugs()), Ok(report), "{parameter:?}");
    }
}

#[test]
fn going_on_without_generated_admission_is_an_influence_mismatch() {
    for parameter in Parameter::ALL {
        for meets in [
            Plan::two_people(),
            // It got nothing, and asked all the same.
            vec![Try::Failed("acquisition-failed")],
            vec![Try::Interrupted],
            // The dialect's own refusal comes after acquisition, which is too late.
            vec![Try::Failed("admission-refused")],
        ] {
            let plan = Plan::record_class(parameter, &["record"], meets);
            let bundle = generate(&plan, &honest);
            unseen_without_a_plug(&bundle);
            found(&bundle);
        }
    }
}

#[test]
fn explicit_admission_is_a_reading_and_its_refusal_is_not() {
    for parameter in Parameter::ALL {
        let admits = ["generated", "record"];
        let bundle = generate(&Plan::record_class(parameter, &admits, Plan::two_people()), &honest);
        let report = String::from_utf8(bundle.files["expected-report.json"].clone()).unwrap();
        assert_eq!(answered(&bundle, &plugs()), Ok(report), "{parameter:?}");
        // Recorded as refused, though every affected target admits it.
        let refused = Plan::refused_before_acquisition();
        let bundle = generate(&Plan::record_class(parameter, &admits, refused), &honest);
        unseen_without_a_plug(&bundle);
        found(&bundle);
        // What was stopped or failed before it is no such statement.
        for unbegun in ["interrupted", "cancelled"] {
            let meets = vec![Try::Unbegun(unbegun, None)];
            for admits in [&admits[..], &["record"]] {
                let plan = Plan::record_class(parameter, admits, meets.clone());
                let report = answered(&generate(&plan, &honest), &plugs()).unwrap();
                assert!(report.contains("\"completion\":\"partial\""), "{report}");
            }
        }
    }
}

/// Records that claim no influence: what counts is what is computed, for the parent too.
#[test]
fn laundered_records_are_no_reading() {
    let launder = |stage: &'static str| {
        move |point: Point<'_>, json: &mut Json| {
            if point.what == "record" && point.stage == stage {
                *json.at("lineage").at("influence").at("generatedInfluence") = Json::Bool(false);
                *json.at("lineage").at("influence").at("classes") =
                    Json::List(vec![crate::workflow_world::json::text("record")]);
            }
        }
    };
    for parameter in Parameter::ALL {
        let went_on = Plan::record_class(parameter, &["record"], Plan::two_people());
        // The parent says that nothing of it is generated, and everything is pinned consistently to that.
        let bundle = generate(&went_on, &launder("organisations"));
        unseen_without_a_plug(&bundle);
        found(&bundle);
        // So does the child that was admitted; check 3 holds, check 4 does not.
        let admitted = Plan::record_class(parameter, &["generated", "record"], Plan::two_people());
        for stage in ["organisations", "people"] {
            let bundle = generate(&admitted, &launder(stage));
            unseen_without_a_plug(&bundle);
            let examination = checked(&bundle);
            let found = examination.finding().map(|(check, code)| (check, code.as_str()));
            assert_eq!(found, Some((Check::OutputInfluence, "output-mismatch")), "{stage}");
            assert_eq!(answered(&bundle, &plugs()), Ok(finding("output-mismatch")));
        }
    }
}
