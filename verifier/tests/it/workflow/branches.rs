//! What section 11 lists beside single changes: recorded reports, orders, retries on either side of consumption,
//! envelopes, and commitments that stay as they are.

use anchorlog_proto::Digest;
use anchorlog_verifier::workflow::{Check, Memory, Plugs, examine};

use super::plugs::{Scripted, answered};
use super::{assert_found, at, examined, execution, expect, outcome_of, plans, tampered, zero};
use crate::workflow_world::json::{Json, digest, number, text};
use crate::workflow_world::plan::{facts, item, outcome};
use crate::workflow_world::{Bundle, Plan, Point, Select, StagePlan, Try, generate, honest};

/// The generator counts what it wrote; section 9's reader says the same, byte for byte.
#[test]
fn expected_reports_are_given() {
    for (name, plan) in plans() {
        let bundle = generate(&plan, &honest);
        let report = String::from_utf8(bundle.files["expected-report.json"].clone()).unwrap();
        let answer = answered(&bundle, &Scripted::agreeing().plugs());
        assert_eq!(answer, Ok(report), "{name}");
    }
}

#[test]
fn arrays_have_their_order() {
    let (one, other) =
        (generate(&Plan::two_stages(), &honest), generate(&Plan::reordered(), &honest));
    let sets = "sets/organisations.json";
    assert_ne!(one.files[sets], other.files[sets]);
    // An array inside of a payload, turned round.
    let found = tampered(&Plan::reordered(), at("payload", "organisations", 0, 1), |payload| {
        payload.at("tags").list().reverse();
    });
    assert_found(found, Check::Outputs, "output-mismatch");
}

/// Ten records remain, two siblings have six each: by the order of instances, whoever was done first.
#[test]
fn siblings_over_a_bound_in_both_orders_of_completion() {
    let finished = |plan: &Plan, order: [usize; 2]| {
        generate(plan, &|point, json| {
            if point.what == "audit" && point.stage == "people" {
                *json.at("sequence") = number(order[point.instance]);
            }
        })
    };
    let plan = Plan::record_bound();
    let bundles = [[1, 2], [2, 1]].map(|order| finished(&plan, order));
    assert_ne!(bundles[0].execution, bundles[1].execution);
    for bundle in &bundles {
        let examination = examined(bundle);
        assert_eq!(examination.result(), "incomplete", "{}", examination.to_text());
        let counts = examination.counts.unwrap();
        assert_eq!((counts.instances, counts.outputs), (3, 9));
    }
    // A runner that counts in the order of completion lets the second sibling have them.
    let mut plan = plan;
    plan.stages[1].over = Some(vec![0]);
    let bundle = finished(&plan, [2, 1]);
    assert_found(outcome_of(&bundle), Check::BoundAccounting, "inventory-mismatch");
    // And every later sibling fails, however few it has.
    let mut plan = Plan::record_bound();
    plan.stages[0].select = Select::Reviewer(vec![0, 1, 2]);
    let three = vec![Try::Evaluated(facts("people", vec![item("z")]), outcome("listed"))];
    let six = plan.stages[1].instances[0].clone();
    plan.stages[1].instances = vec![six.clone(), six, three];
    assert_eq!(examined(&generate(&plan, &honest)).result(), "incomplete");
    plan.stages[1].over = Some(vec![1]);
    let found = outcome_of(&generate(&plan, &honest));
    assert_found(found, Check::BoundAccounting, "inventory-mismatch");
}

/// Organisations, people, papers: people are selected and papers made of them.
fn three_stages() -> Plan {
    let mut plan = Plan::two_stages();
    plan.stages[1].select = Select::Reviewer(vec![0]);
    let papers = facts("papers", vec![item("w1")]);
    plan.stages.push(StagePlan {
        id: "papers",
        from: Some("people"),
        bindings: vec![("/id", "/personId", "string", true)],
        pointer: "/papers",
        select: Select::Terminal,
        instances: vec![vec![Try::Evaluated(papers, outcome("listed"))]],
        ..plan.stages[1].clone()
    });
    let people = plan.stages[1].instances[0].clone();
    plan.stages[1].instances = vec![people, vec![Try::Failed("acquisition-failed")]];
    plan
}

#[test]
fn a_retry_before_consumption_is_an_attempt_and_after_it_a_branch() {
    // Before: another attempt of the same instance.
    let mut before = Plan::two_stages();
    let people = before.stages[1].instances[0].clone();
    let retried = [vec![Try::Interrupted], people].concat();
    before.stages[1].instances = vec![retried];
    assert_eq!(examined(&generate(&before, &honest)).result(), "incomplete");
    // A completed instance is not run again in place.
    let mut rerun = before.clone();
    let people = Plan::two_stages().stages[1].instances[0].clone();
    rerun.stages[1].instances = vec![[people.clone(), people].concat()];
    let bundle = rewritten_rerun(&rerun);
    assert_found(outcome_of(&bundle), Check::Inventory, "inventory-mismatch");

    // After: people were selected and consumed when one of them was retried. It is a new instance of a new branch,
    // with a selection of its own; the ancestors are as they were.
    let consumed = three_stages();
    let one = generate(&consumed, &honest);
    let mut branch = three_stages();
    branch.stages[1].suffix = "-again";
    branch.stages[1].revision = 2;
    branch.stages[2].suffix = "-again";
    let answered_now = vec![Try::Evaluated(facts("people", vec![item("p3")]), outcome("listed"))];
    branch.stages[1].instances[1] = answered_now;
    branch.stages[1].select = Select::Reviewer(vec![0, 2]);
    let two = generate(&branch, &honest);
    for bundle in [&one, &two] {
        let examination = examined(bundle);
        assert_eq!(examination.result(), "incomplete", "{}", examination.to_text());
    }
    assert_ne!(one.execution, two.execution);
    for (path, bytes) in &one.files {
        if path.contains("/organisations-1/") || path.contains("organisations/1.json") {
            assert_eq!(two.files.get(path), Some(bytes), "{path}");
        }
    }
    assert!(two.files.contains_key("selections/people/2.json"));
    // The old branch's selection does not select for the new one.
    let found = tampered(&branch, at("selection", "people", 0, 0), |selection| {
        *selection.at("outputSetDigest") = zero();
    });
    assert_found(found, Check::Selections, "selection-mismatch");
}

/// Both attempts of the first instance are recorded as completed; its outputs are the last one's.
fn rewritten_rerun(plan: &Plan) -> Bundle {
    let mut plan = plan.clone();
    plan.stages[0].select = Select::Reviewer(vec![0]);
    let facts = match &plan.stages[1].instances[0][1] {
        Try::Evaluated(facts, _) => facts.clone(),
        other => panic!("{other:?}"),
    };
    plan.stages[1].instances[0][0] = Try::OutputInvalid(facts);
    generate(&plan, &|point, json| {
        if point == execution() {
            let first = json.at("instances").nth(1).at("attempts").nth(0);
            *first.at("state") = text("completed");
            *first.at("failure") = Json::Null;
        }
    })
}

#[test]
fn error_envelopes_and_their_attempts() {
    let plan = Plan::unsuccessful();
    let good = generate(&plan, &honest);
    let path = "instances/people-5/attempts/1/evaluation-error.json";
    let mut bundle = good.clone();
    bundle.files.remove(path).unwrap();
    assert_found(outcome_of(&bundle), Check::ArtifactsPresent, "inventory-mismatch");
    // Its last newline is part of it; another class is another envelope.
    let mut bundle = good.clone();
    bundle.files.get_mut(path).unwrap().pop();
    assert_found(outcome_of(&bundle), Check::EvaluationErrorPins, "digest-mismatch");
    // Attached to a successful attempt, file and pin.
    let envelope = good.files[path].clone();
    let mut bundle = generate(&plan, &|point: Point<'_>, json: &mut Json| {
        if point == execution() {
            let last = json.at("instances").nth(1).at("attempts").nth(2);
            *last.at("evaluationErrorDigest") = digest(Digest::of(&envelope));
        }
    });
    let attached = "instances/people-1/attempts/3/evaluation-error.json".to_owned();
    bundle.files.insert(attached, envelope);
    // Of which attempt it is belongs to check 4 (section 9).
    assert_found(outcome_of(&bundle), Check::Inventory, "inventory-mismatch");
    // The pin of an evaluation error taken away, and with it the file.
    let mut bundle = generate(&plan, &|point: Point<'_>, json: &mut Json| {
        if point == execution() {
            let attempt = json.at("instances").nth(5).at("attempts").nth(0);
            *attempt.at("evaluationErrorDigest") = Json::Null;
        }
    });
    bundle.files.remove(path).unwrap();
    assert_found(outcome_of(&bundle), Check::Inventory, "inventory-mismatch");
}

/// Bound documents keep the identity of what they bind.
#[test]
fn bound_documents_without_their_identity_are_refused() {
    for member in ["formatVersion", "id", "version"] {
        let found = tampered(&Plan::named(), at("bound", "organisations", 0, 0), |bound| {
            bound.remove(member);
        });
        assert_found(found, Check::DialectIdentity, "input-malformed");
    }
    // Nor does an integer stand in for a name, or the other way round.
    let found = tampered(&Plan::named(), at("bound", "organisations", 0, 0), |bound| {
        bound.remove("formatVersion");
        bound.remove("id");
        *bound.at("version") = number(3);
    });
    assert_found(found, Check::DialectIdentity, "input-malformed");
    let found = tampered(&Plan::two_stages(), at("bound", "people", 0, 0), |bound| {
        *bound.at("formatVersion") = text("3.0.0");
    });
    assert_found(found, Check::DialectIdentity, "input-malformed");
}

/// The rest of what section 11 has rewritten consistently, against what somebody holds.
#[test]
fn rewritten_packs_answers_revisions_and_relations_are_other_commitments() {
    let plan = Plan::two_stages();
    let good = generate(&plan, &honest);
    let mut revised = plan.clone();
    revised.stages[0].revision = 2;
    let revised = generate(&revised, &honest);
    let answers = generate(&plan, &|point, json| {
        if point == at("preparation", "people", 0, 0) {
            *json.at("facts").at("people").nth(0).at("name") = text("another answer");
        }
    });
    let relation = generate(&plan, &|point, json| {
        if point == at("workflow", "", 0, 0) {
            *json.at("stages").nth(1).at("relation").at("label") = text("employed-by");
        }
        if point.what == "record" && point.stage == "people" {
            *json.at("lineage").at("relation").at("label") = text("employed-by");
        }
    });
    let pack = generate(&plan, &|point, json| {
        if point == at("pack", "people", 0, 0) {
            *json.at("rules") = Json::List(vec![]);
        }
    });
    assert_eq!(examined(&pack).result(), "incomplete", "it agrees with itself");
    assert_eq!(examined(&relation).result(), "incomplete", "so does this");
    for (name, rewritten) in
        [("revision", revised), ("answers", answers), ("relation", relation), ("pack", pack)]
    {
        assert_ne!(rewritten.execution, good.execution, "{name}");
        let examination =
            examine(&Memory(rewritten.files), &expect(&good), &Plugs::default()).unwrap();
        let finding = examination.finding().map(|(check, code)| (check, code.as_str()));
        assert_eq!(finding, Some((Check::ExpectedDigests, "digest-mismatch")), "{name}");
    }
}
