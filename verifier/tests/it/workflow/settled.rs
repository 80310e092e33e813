//! What must not be taken for settled: attempts that were tried again, answers that never came, files that change,
//! and what nothing pins.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use anchorlog_proto::jp::json::Value;
use anchorlog_proto::jp::workflow::{Class, Influence};
use anchorlog_verifier::workflow::plug::{
    ExpansionOutcome, ExpansionRequest, ExpansionVerifier, InfluenceOutcome, InfluenceRequest,
    InfluenceVerifier, Kind, KindRequest, PreparationOutcome, PreparationRequest,
    PreparationVerifier,
};
use anchorlog_verifier::workflow::{
    Check, CouldNotRun, Files, Listed, Memory, Plugs, Status, examine, read_workflow,
};

use super::plugs::{Scripted, answered};
use super::{assert_found, at, examined, execution, expect, outcome_of, tampered};
use crate::workflow_world::json::{Json, object, text};
use crate::workflow_world::plan::{facts, item, outcome};
use crate::workflow_world::{Bundle, Plan, Select, Try, generate, honest};

fn people(ids: &[&str]) -> Json {
    facts("people", ids.iter().map(|id| item(id)).collect())
}

fn retried_after(first: Try) -> Plan {
    let mut plan = Plan::two_stages();
    let answer = Try::Evaluated(people(&["p1"]), outcome("listed"));
    plan.stages[1].instances[0] = vec![first, answer];
    plan
}

/// RFC 0020 section 7: a successful evaluation with valid outputs is not recorded as failed, so nobody asks again
/// until the answer is another one.
#[test]
fn an_attempt_is_not_tried_again_after_valid_outputs() {
    let valid = generate(&retried_after(Try::OutputInvalid(people(&["p9"]))), &honest);
    assert_found(outcome_of(&valid), Check::Inventory, "inventory-mismatch");
    let invalid = object([("people", Json::Null)]);
    let invalid = generate(&retried_after(Try::OutputInvalid(invalid)), &honest);
    assert_eq!(examined(&invalid).result(), "incomplete");
    let projection = generate(&retried_after(Try::Failed("projection-invalid")), &honest);
    assert_found(outcome_of(&projection), Check::Inventory, "inventory-mismatch");
}

#[test]
fn an_attempt_is_over_a_bound_only_where_it_is() {
    let with = |ids: &[&str], most: u32| {
        let mut plan = retried_after(Try::OutputInvalid(people(ids)));
        plan.max_records = most;
        generate(&plan, &|point, json| {
            if point == execution() {
                let first = json.at("instances").nth(1).at("attempts").nth(0);
                *first.at("failure") = text("limit-exceeded");
            }
        })
    };
    let within = with(&["p1", "p2", "p3"], 3);
    assert_found(outcome_of(&within), Check::BoundAccounting, "inventory-mismatch");
    let over = with(&["p1", "p2", "p3", "p4"], 3);
    assert_eq!(examined(&over).result(), "incomplete", "{}", examined(&over).to_text());
}

/// Section 2: every later instance of the stage records limit-exceeded, also one that was never begun and one
/// whose projection would fail.
#[test]
fn what_comes_after_a_bound_was_exceeded_need_not_have_begun() {
    let mut plan = Plan::record_bound();
    let nameless = object([("name", text("no id"))]);
    let offered = facts("organisations", vec![item("o1"), item("o2"), item("o3"), nameless]);
    plan.stages[0].instances = vec![vec![Try::Evaluated(offered, outcome("listed"))]];
    plan.stages[0].select = Select::Reviewer(vec![0, 1, 2, 3]);
    let six = plan.stages[1].instances[0].clone();
    let unbegun = vec![Try::Unbegun("failed", Some("limit-exceeded"))];
    plan.stages[1].instances = vec![six.clone(), six, unbegun];
    let mut bundle = generate(&plan, &|point, json| {
        if point == execution() {
            *json.at("instances").nth(3).at("caseDigest") = Json::Null;
        }
    });
    bundle.files.remove("instances/people-3/case.json").unwrap();
    assert_eq!(examined(&bundle).result(), "incomplete", "{}", examined(&bundle).to_text());
    // Where nothing was exceeded before it, there is nothing to tell it by.
    plan.max_records = 100;
    let examination = examined(&generate(&plan, &honest));
    let status = examination.status(Check::BoundAccounting).unwrap();
    assert!(matches!(status, Status::NotPerformed { .. }), "{status:?}");
}

/// A disposition is asked about wherever an evaluation completed.
#[test]
fn dispositions_of_failed_attempts_have_their_form() {
    let found = tampered(&Plan::unsuccessful(), at("audit", "people", 5, 0), |audit| {
        *audit.at("disposition") = text("anything");
    });
    assert_found(found, Check::Dispositions, "input-malformed");
}

/// Section 7 reads the disposition from `run.audit.disposition`; section 9 compares the record's bytes.
#[test]
fn an_export_shows_the_record_that_it_holds() {
    let shown = |id: &str| {
        object([
            ("disposition", outcome(id)),
            ("inputs", people(&["p1", "p2"])),
            ("instance", text("people-1")),
        ])
    };
    let run = at("run", "people", 0, 0);
    let found = tampered(&Plan::two_stages(), run, |json| {
        *json.at("run").at("audit") = shown("denied");
    });
    assert_found(found, Check::RunExports, "digest-mismatch");
    let same = generate(&Plan::two_stages(), &|point, json| {
        if point == run {
            *json.at("run").at("audit") = shown("listed");
        }
    });
    assert_eq!(examined(&same).result(), "incomplete", "{}", examined(&same).to_text());
}

#[test]
fn outputs_that_nothing_pins_are_counted() {
    let mut bundle = generate(&Plan::two_stages(), &honest);
    for name in ["record.json", "payload.json"] {
        let bytes = bundle.files[&format!("outputs/people/people-1/0/{name}")].clone();
        bundle.files.insert(format!("outputs/people/people-1/7/{name}"), bytes);
    }
    assert_eq!(examined(&bundle).unread_count, 2);
}

/// Agrees to everything but what it is told, by instance or stage.
#[derive(Clone, Debug, Default)]
struct Told {
    preparation: Vec<(&'static str, PreparationOutcome)>,
    expansion: Vec<(&'static str, ExpansionOutcome)>,
    influence: Vec<(&'static str, InfluenceOutcome)>,
}

fn told<T: Clone>(all: &[(&str, T)], whose: &str) -> Option<T> {
    all.iter().find(|(own, _)| *own == whose).map(|(_, outcome)| outcome.clone())
}

impl PreparationVerifier for Told {
    fn reads(&self, _: &KindRequest) -> Kind {
        Kind::Read
    }

    fn verify(&self, request: &PreparationRequest) -> PreparationOutcome {
        told(&self.preparation, &request.instance).unwrap_or_else(|| {
            let bounds = anchorlog_proto::jp::json::Bounds::FOREIGN;
            let value = anchorlog_proto::jp::json::read(&request.preparation, &bounds).unwrap();
            let facts = value.get("facts").unwrap().clone().into_owned();
            PreparationOutcome::Agrees { facts, lineage: Value::Array(vec![]) }
        })
    }
}

impl ExpansionVerifier for Told {
    fn verify(&self, request: &ExpansionRequest) -> ExpansionOutcome {
        told(&self.expansion, &request.stage).unwrap_or(ExpansionOutcome::Agrees)
    }
}

impl InfluenceVerifier for Told {
    fn verify(&self, request: &InfluenceRequest) -> InfluenceOutcome {
        let generated = Influence { classes: vec![Class::Generated], generated_influence: true };
        told(&self.influence, &request.instance)
            .unwrap_or_else(|| InfluenceOutcome::Agrees(vec![generated; request.outputs]))
    }
}

impl Told {
    fn plugs(&self) -> Plugs {
        let one = Arc::new(self.clone());
        Plugs { preparation: Some(one.clone()), expansion: Some(one.clone()), influence: Some(one) }
    }
}

fn unmade(bundle: &Bundle, plugs: &Plugs) -> BTreeSet<Check> {
    let files = Memory(bundle.files.clone());
    let examination = examine(&files, &expect(bundle), plugs).unwrap();
    examination.unperformed().map(|result| result.check).collect()
}

/// A check that a plugged verifier makes is not made where it gave no answer.
#[test]
fn no_answer_is_no_answer_to_anything() {
    let bundle = generate(&Plan::two_stages(), &honest);
    let expansion = vec![("people", ExpansionOutcome::NoAnswer)];
    let told = Told { expansion, ..Told::default() };
    let checks =
        [Check::BranchAggregate, Check::DialectForms, Check::Expansion, Check::ReleaseEncoding];
    assert_eq!(unmade(&bundle, &told.plugs()), BTreeSet::from(checks));
    let preparation = vec![("people-1", PreparationOutcome::NoAnswer)];
    let told = Told { preparation, ..Told::default() };
    let expected = [Check::PreparationBounds, Check::DialectForms, Check::Preparations];
    assert!(BTreeSet::from(expected).is_subset(&unmade(&bundle, &told.plugs())));
}

/// What wasn't answered comes before what was found after it, also in the same check.
#[test]
fn nothing_is_first_after_a_question_without_an_answer() {
    let bundle = generate(&Plan::two_stages(), &honest);
    let because = || "because".to_owned();
    for after in
        [PreparationOutcome::Finding(because()), PreparationOutcome::Refusal("later".to_owned())]
    {
        let preparation =
            vec![("organisations-1", PreparationOutcome::NoAnswer), ("people-1", after)];
        let told = Told { preparation, ..Told::default() };
        let answer = answered(&bundle, &told.plugs());
        assert!(answer.as_ref().is_err_and(|error| error.contains("no-answer")), "{answer:?}");
    }
    let expansion = vec![
        ("organisations", ExpansionOutcome::NoAnswer),
        ("people", ExpansionOutcome::Finding(because())),
    ];
    let told = Told { expansion, ..Told::default() };
    assert!(answered(&bundle, &told.plugs()).is_err());
    // Section 9: an earlier instance's influence-mismatch precedes a later one's case-mismatch.
    let bundle = generate(&Plan::two_stages(), &|point, json| {
        if point == at("case", "people", 0, 0) {
            *json.at("organisationId") = text("o9");
        }
    });
    let influence = vec![("organisations-1", InfluenceOutcome::NoAnswer)];
    let told = Told { influence, ..Told::default() };
    assert!(answered(&bundle, &told.plugs()).is_err());
    let files = Memory(bundle.files.clone());
    let examination = examine(&files, &expect(&bundle), &told.plugs()).unwrap();
    let report = String::from_utf8(examination.to_json()).unwrap();
    assert!(report.contains("\"precedence\":\"not-established\""), "{report}");
}

/// Without the case there was nothing to hold a preparation to, and nobody was asked.
#[test]
fn a_preparation_without_a_case_was_not_verified() {
    let mut bundle = generate(&Plan::two_stages(), &|point, json| {
        if point == execution() {
            *json.at("instances").nth(1).at("caseDigest") = Json::Null;
        }
    });
    bundle.files.remove("instances/people-1/case.json").unwrap();
    let files = Memory(bundle.files.clone());
    let examination = examine(&files, &expect(&bundle), &Told::default().plugs()).unwrap();
    let status = examination.status(Check::Preparations).unwrap();
    assert!(matches!(status, Status::NotPerformed { .. }), "{status:?}");
}

/// Files of which one is another one when it is read again.
struct Changing(Memory, &'static str, RefCell<BTreeSet<String>>);

impl Files for Changing {
    fn list(&self) -> Result<Vec<Listed>, CouldNotRun> {
        self.0.list()
    }

    fn read(&self, path: &str, most: usize) -> Result<Vec<u8>, CouldNotRun> {
        let again = !self.2.borrow_mut().insert(path.to_owned());
        let mut bytes = self.0.read(path, most)?;
        if again && path == self.1 {
            bytes.push(b' ');
        }
        Ok(bytes)
    }
}

/// A plugged verifier judges the bytes whose digests were compared, or nothing.
#[test]
fn documents_that_change_are_not_handed_on() {
    let bundle = generate(&Plan::two_stages(), &honest);
    let plugs = Scripted::agreeing().plugs();
    for name in
        ["dialect.json", "binding.json", "bound-dialect.json", "release.json", "profiles.json"]
    {
        let path = ["stages/people/", name].concat();
        let memory = Memory(bundle.files.clone());
        let files = Changing(memory, path.leak(), RefCell::default());
        let answer = read_workflow(&files, &expect(&bundle), &plugs);
        let changed = answer.as_ref().is_err_and(|error| error.0.contains("has changed"));
        assert!(changed, "{name}: {answer:?}");
    }
}
