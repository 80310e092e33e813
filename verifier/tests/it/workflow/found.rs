//! Selections, cases, inventories and outputs: one thing changed at a time.

use anchorlog_verifier::workflow::{Check, Status};

use super::{assert_found, at, examined, execution, outcome_of, tampered, zero};
use crate::workflow_world::json::{Json, number, object, text};
use crate::workflow_world::{Plan, Point, Select, generate, honest};

#[test]
fn selections_that_are_not_of_their_set() {
    let plan = Plan::two_stages();
    let mismatch = "selection-mismatch";
    let selection = at("selection", "organisations", 0, 0);
    for (member, value) in [
        ("workflowDigest", zero()),
        ("execution", text("run-2")),
        ("upstreamStage", text("people")),
        ("outputSetDigest", zero()),
        ("revision", number(2)),
    ] {
        let found = tampered(&plan, selection, |json| *json.at(member) = value.clone());
        assert_found(found, Check::Selections, mismatch);
    }
    let found = tampered(&plan, selection, |json| json.at("selected").list().push(zero()));
    assert_found(found, Check::Selections, mismatch);
    let found = tampered(&plan, selection, |json| json.at("selected").list().reverse());
    assert_found(found, Check::Selections, mismatch);
    let by_rule = Plan::disposition("outcome", Some("go"));
    let judged = at("selection", "judged", 0, 0);
    let found = tampered(&by_rule, judged, |json| json.at("selected").list().clear());
    assert_found(found, Check::Selections, mismatch);
    let found = tampered(&by_rule, judged, |json| *json.at("rule").at("outcomeId") = text("stop"));
    assert_found(found, Check::Selections, mismatch);
    // A disposition that was recorded otherwise selects otherwise.
    let found = tampered(&by_rule, at("audit", "judged", 2, 0), |audit| {
        *audit.at("disposition").at("outcomeId") = text("go");
    });
    assert_found(found, Check::Selections, mismatch);
}

#[test]
fn cases_that_are_not_the_projection() {
    let mismatch = "case-mismatch";
    let plan = Plan::two_stages();
    let case = at("case", "people", 0, 0);
    let found = tampered(&plan, case, |case| *case.at("organisationId") = text("o9"));
    assert_found(found, Check::Cases, mismatch);
    let found = tampered(&plan, case, |case| *case.at("inherited") = text("root"));
    assert_found(found, Check::Cases, mismatch);
    let literals = Plan::literals();
    let found = tampered(&literals, case, |case| *case.at("n").at("0") = number("0"));
    assert_found(found, Check::Cases, mismatch);
    let missing = Plan::missing_and_null();
    let found = tampered(&missing, at("case", "people", 1, 0), |case| {
        *case.at("extra") = object([("note", Json::Null)]);
    });
    assert_found(found, Check::Cases, mismatch);
    // A projection that holds is recorded as failed, and one that fails as cancelled with attempts.
    let found = tampered(&Plan::unsuccessful(), execution(), |record| {
        let instance = record.at("instances").nth(9);
        *instance.at("state") = text("failed");
        *instance.at("failure") = text("projection-invalid");
    });
    assert_found(found, Check::Cases, mismatch);
    let found = tampered(&plan, at("case", "organisations", 0, 0), |case| {
        *case.at("query") = text("other");
    });
    assert_found(found, Check::Cases, mismatch);
}

#[test]
fn inventories() {
    let plan = Plan::two_stages();
    let mismatch = "inventory-mismatch";
    let changed = |plan: &Plan, change: &dyn Fn(&mut Json)| {
        assert_found(tampered(plan, execution(), change), Check::Inventory, mismatch);
    };
    let extra = |id: &str, record: &Json| {
        let mut extra = record.clone();
        *extra.at("id") = text(id);
        *extra.at("state") = text("cancelled");
        *extra.at("caseDigest") = Json::Null;
        *extra.at("attempts") = Json::List(vec![]);
        extra
    };
    // An omitted child, a repeated one, an unselected one, a foreign one, and two in the wrong order.
    let mut bundle = generate(&plan, &|point, json| {
        if point == execution() {
            json.at("instances").list().pop();
        }
    });
    bundle.files.retain(|path, _| !path.starts_with("instances/people-2/"));
    assert_found(outcome_of(&bundle), Check::Inventory, mismatch);
    changed(&plan, &|record| {
        let twin = extra("twin", &record.at("instances").nth(2).clone());
        record.at("instances").list().push(twin);
    });
    changed(&plan, &|record| {
        let unselected = record.at("outputSets").nth(0).at("records").nth(1).clone();
        let mut child = extra("unselected", &record.at("instances").nth(2).clone());
        *child.at("parentRecord") = unselected;
        record.at("instances").list().push(child);
    });
    changed(&plan, &|record| {
        *record.at("instances").nth(2).at("parentRecord") = zero();
    });
    changed(&plan, &|record| record.at("instances").list().swap(1, 2));
    // Keys.
    changed(&plan, &|record| *record.at("instances").nth(1).at("inputDigest") = zero());
    changed(&plan, &|record| *record.at("instances").nth(1).at("selectionDigest") = zero());
    // States against outputs and attempts.
    let state = |at: usize, state: &'static str, failure: Json| {
        move |record: &mut Json| {
            let instance = record.at("instances").nth(at);
            *instance.at("state") = text(state);
            *instance.at("failure") = failure.clone();
        }
    };
    changed(&plan, &state(1, "completed-zero", Json::Null));
    changed(&plan, &state(2, "completed", Json::Null));
    changed(&plan, &state(2, "cancelled", Json::Null));
    let both = |at: usize, state: &'static str, failure: Json| {
        move |record: &mut Json| {
            let instance = record.at("instances").nth(at);
            *instance.at("state") = text(state);
            *instance.at("failure") = failure.clone();
            let last = instance.at("attempts").list().last_mut().unwrap();
            *last.at("state") = text(state);
            *last.at("failure") = failure.clone();
        }
    };
    // A successful evaluation with valid outputs, recorded as failed.
    changed(&plan, &both(2, "failed", text("acquisition-failed")));
    changed(&plan, &both(2, "failed", text("output-invalid")));
    changed(&plan, &both(2, "failed", text("evaluation-error")));
    changed(&Plan::unsuccessful(), &both(5, "failed", text("preparation-failed")));
    // Stage closure.
    changed(&plan, &|record| *record.at("outputSets").nth(1).at("status") = text("blocked"));
    let open = |record: &mut Json| *record.at("outputSets").nth(1).at("status") = text("closed");
    changed(&Plan::no_selection(), &open);
    // Siblings that are said to be over a bound that they are within.
    let found = tampered(&Plan::record_bound(), at("workflow", "", 0, 0), |workflow| {
        *workflow.at("limits").at("maxRecords") = number(100);
    });
    assert_found(found, Check::BoundAccounting, mismatch);
}

#[test]
fn records_that_fit_a_stage_and_not_the_branch() {
    let mut plan = Plan::record_bound();
    plan.max_records = 8;
    plan.stages[0].select = Select::Reviewer(vec![0]);
    let examination = examined(&generate(&plan, &honest));
    let Some(Status::NotPerformed { reason, .. }) = examination.status(Check::BoundAccounting)
    else {
        panic!("{}", examination.to_text());
    };
    assert_eq!(reason.as_str(), "record-scope-not-public");
}

#[test]
fn outputs_that_were_not_prepared() {
    let plan = Plan::two_stages();
    let mismatch = "output-mismatch";
    let payload = at("payload", "people", 0, 1);
    let found = tampered(&plan, payload, |payload| *payload.at("name") = text("other"));
    assert_found(found, Check::Outputs, mismatch);
    let mut literals = Plan::literals();
    literals.stages[0].select = Select::Reviewer(vec![0]);
    let found = tampered(&literals, at("payload", "organisations", 0, 2), |payload| {
        *payload.at("n") = number("0");
    });
    assert_found(found, Check::Outputs, mismatch);
    let record = at("record", "people", 0, 0);
    for member in [
        "workflowDigest",
        "publishedDialectDigest",
        "bindingDocumentDigest",
        "boundDialectDigest",
        "packDigest",
        "releaseDigest",
        "preparationDigest",
        "auditDigest",
        "rootCaseDigest",
        "caseDigest",
        "parentRecord",
        "selectionDigest",
    ] {
        let found = tampered(&plan, record, |record| *record.at("lineage").at(member) = zero());
        assert_found(found, Check::Outputs, mismatch);
    }
    for (member, value) in [
        ("execution", text("run-2")),
        ("stage", text("organisations")),
        ("instance", text("people-2")),
        ("outputPointer", text("/persons")),
        ("index", number(1)),
    ] {
        let found =
            tampered(&plan, record, |record| *record.at("lineage").at(member) = value.clone());
        assert_found(found, Check::Outputs, mismatch);
    }
    let found = tampered(&plan, record, |record| {
        *record.at("lineage").at("relation").at("direction") = text("parent-to-output");
    });
    assert_found(found, Check::Outputs, mismatch);
    // One output fewer than was prepared, and two in another order.
    let fewer = |point: Point<'_>, json: &mut Json| match point.what {
        "set" if point.stage == "people" => {
            json.at("records").list().pop();
        }
        _ => {}
    };
    assert_found(outcome_of(&generate(&plan, &fewer)), Check::Outputs, mismatch);
    let swapped = |point: Point<'_>, json: &mut Json| {
        if point.what == "set" && point.stage == "people" {
            json.at("records").list().reverse();
        }
    };
    assert_found(outcome_of(&generate(&plan, &swapped)), Check::Outputs, mismatch);
    // Facts that offer no such thing.
    let run = at("run", "people", 0, 0);
    for facts in [object([]), object([("people", object([]))])] {
        let found =
            tampered(&plan, run, |run| *run.at("run").at("input").at("facts") = facts.clone());
        assert_found(found, Check::Outputs, mismatch);
    }
    // No facts at all: nothing to extract from, which is no agreement.
    let bundle = generate(&plan, &|point, json| {
        if point == run {
            *json.at("run").at("input").at("facts") = Json::Null;
        }
    });
    let examination = examined(&bundle);
    let Some(Status::NotPerformed { reason, .. }) = examination.status(Check::Outputs) else {
        panic!("{}", examination.to_text());
    };
    assert_eq!(reason.as_str(), "no-run-export");
}
