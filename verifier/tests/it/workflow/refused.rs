//! Pins, expectations, forms and bounds: one thing changed at a time.

use anchorlog_proto::Digest;
use anchorlog_verifier::workflow::{Check, Expectations, Memory, Plugs, Status, examine};

use super::{assert_found, at, examined, execution, expect, outcome_of, tampered, zero};
use crate::workflow_world::json::{Json, number, object, text};
use crate::workflow_world::{Plan, Point, Select, generate, honest};

#[test]
fn pins_of_retained_bytes() {
    let good = generate(&Plan::two_stages(), &honest);
    for (path, check) in [
        ("root-case.json", Check::ExpectedDigests),
        ("stages/people/pack.json", Check::FrozenPins),
        ("stages/people/dialect.json", Check::FrozenPins),
        ("stages/people/binding.json", Check::FrozenPins),
        ("stages/people/bound-dialect.json", Check::FrozenPins),
        ("stages/people/release.json", Check::FrozenPins),
        ("instances/people-1/case.json", Check::InstancePins),
        ("instances/people-1/attempts/1/preparation.json", Check::InstancePins),
        ("instances/people-1/attempts/1/audit.json", Check::InstancePins),
        ("instances/people-1/attempts/1/run.json", Check::InstancePins),
        ("outputs/people/people-1/0/payload.json", Check::InstancePins),
        ("outputs/people/people-1/0/record.json", Check::InstancePins),
        ("selections/organisations/1.json", Check::InstancePins),
        ("sets/people.json", Check::InstancePins),
    ] {
        let mut bundle = good.clone();
        let bytes = bundle.files.get_mut(path).unwrap();
        // One more member, in the place where it is canonical, or another digest where forms are closed.
        let changed = String::from_utf8(bytes.clone()).unwrap();
        let changed = match path {
            _ if path.ends_with("record.json") => changed.replacen("\"index\":0", "\"index\":7", 1),
            _ if path.starts_with("sets/") => changed.replacen("run-1", "run-2", 1),
            _ if path.starts_with("selections/") => changed.replacen("seen", "unseen", 1),
            _ => changed.replacen('{', "{\"\":0,", 1),
        };
        assert_ne!(changed.as_bytes(), &bytes[..], "{path}");
        *bytes = changed.into_bytes();
        assert_eq!(outcome_of(&bundle), (check, "digest-mismatch".to_owned()), "{path}");

        let mut bundle = good.clone();
        bundle.files.remove(path).unwrap();
        let absent = (Check::ArtifactsPresent, "inventory-mismatch".to_owned());
        assert_eq!(outcome_of(&bundle), absent, "{path}");

        let mut bundle = good.clone();
        bundle.files.insert(path.to_owned(), b"{".to_vec());
        assert_eq!(
            outcome_of(&bundle),
            (Check::StrictJson, "input-malformed".to_owned()),
            "{path}"
        );
    }
}

#[test]
fn expectations_that_are_held_elsewhere() {
    let good = generate(&Plan::two_stages(), &honest);
    let run = |expect: Expectations| {
        examine(&Memory(good.files.clone()), &expect, &Plugs::default()).unwrap()
    };
    let other = Some(Digest::of(b"other"));
    for wrong in [
        Expectations { workflow: other, ..expect(&good) },
        Expectations { execution: other, ..expect(&good) },
    ] {
        let finding = run(wrong).finding().map(|(check, code)| (check, code.as_str()));
        assert_eq!(finding, Some((Check::ExpectedDigests, "digest-mismatch")));
    }
    let finding = run(Expectations { runtime: other, ..expect(&good) }).finding().unwrap();
    assert_eq!(finding.0, Check::RuntimePins);
    // What isn't given isn't passed.
    let unmade = run(Expectations::default());
    for (check, reason) in
        [(Check::ExpectedDigests, "no-expectation"), (Check::RuntimePins, "no-runtime-pin")]
    {
        let Some(Status::NotPerformed { reason: own, .. }) = unmade.status(check) else { panic!() };
        assert_eq!(own.as_str(), reason);
    }
    // A branch that somebody replaced consistently is another digest.
    let replaced = generate(&Plan::empty_selection(), &honest);
    let finding = examine(&Memory(replaced.files), &expect(&good), &Plugs::default()).unwrap();
    assert_eq!(finding.finding().unwrap().0, Check::ExpectedDigests);
    // Side files never override, and have to agree.
    for side in ["workflow.sha256", "instances/people-1/attempts/1/preparation.sha256"] {
        let mut bundle = good.clone();
        bundle.files.insert(side.to_owned(), format!("{}\n", Digest::of(b"")).into_bytes());
        assert_eq!(outcome_of(&bundle).1, "digest-mismatch");
    }
    let mut bundle = good.clone();
    let side = "instances/people-1/attempts/1/verified-at.txt".to_owned();
    bundle.files.insert(side, b"2026-10-16T00:00:00Z\n".to_vec());
    assert_eq!(outcome_of(&bundle).1, "digest-mismatch");
    // More than a side file has to say is no agreement either, however it begins.
    for side in ["preparation.sha256", "verified-at.txt"] {
        let mut bundle = good.clone();
        let side = format!("instances/people-1/attempts/1/{side}");
        bundle.files.get_mut(&side).unwrap().extend([b' '; 5_000]);
        assert_eq!(outcome_of(&bundle).1, "digest-mismatch", "{side}");
    }
}

#[test]
fn what_belongs_together() {
    let plan = Plan::two_stages();
    let binding = "stage-binding-mismatch";
    for member in ["packDigest", "runtimeDigest", "inputMapping"] {
        let release = at("release", "people", 0, 0);
        let found = tampered(&plan, release, |release| *release.at(member) = zero());
        assert_found(found, Check::ReleaseAssociation, binding);
    }
    let found = tampered(&Plan::named(), at("bound", "people", 0, 0), |bound| {
        *bound.at("superfluous") = text("binding");
    });
    assert_found(found, Check::ReleaseAssociation, binding);
    // The pins of the workflow are not those that were frozen.
    let found = tampered(&plan, at("workflow", "", 0, 0), |workflow| {
        *workflow.at("stages").nth(1).at("pack").at("digest") = zero();
    });
    assert_found(found, Check::FrozenPins, "digest-mismatch");
    let found = tampered(&plan, at("workflow", "", 0, 0), |workflow| {
        *workflow.at("stages").nth(0).at("pack").at("id") = text("urn:another");
    });
    assert_found(found, Check::FrozenPins, "digest-mismatch");
    let found = tampered(&plan, execution(), |record| *record.at("workflowDigest") = zero());
    assert_found(found, Check::ExpectedDigests, "digest-mismatch");

    let run = at("run", "people", 0, 0);
    let found = tampered(&plan, run, |run| {
        *run.at("run").at("input").at("preparation").at("facts") = Json::Null;
    });
    assert_found(found, Check::RunExports, "digest-mismatch");
    let found = tampered(&plan, run, |run| *run.at("run").at("auditBytes") = text("e30="));
    assert_found(found, Check::RunExports, "digest-mismatch");
    let found = tampered(&plan, run, |run| *run.at("release").at("title") = text("other"));
    assert_found(found, Check::RunExports, "digest-mismatch");
    let found = tampered(&plan, run, |run| {
        *run.at("release") = object([]);
        *run.at("releaseDigest") = text(Digest::of(b"{}").to_string());
    });
    assert_found(found, Check::RunExports, binding);
}

#[test]
fn refusals_of_form() {
    let plan = Plan::two_stages();
    let malformed = "input-malformed";
    // Named dialects and selectors.
    let named = Plan::named();
    for member in ["formatVersion", "id", "version"] {
        let dialect = at("dialect", "people", 0, 0);
        let found = tampered(&named, dialect, |dialect| *dialect.at(member) = text("9.9.9"));
        assert_found(found, Check::DialectIdentity, malformed);
    }
    let found = tampered(&named, at("dialect", "people", 0, 0), |dialect| dialect.remove("id"));
    assert_found(found, Check::DialectIdentity, malformed);
    let workflow = at("workflow", "", 0, 0);
    let found = tampered(&named, workflow, |workflow| {
        *workflow.at("stages").nth(0).at("dialect").at("formatVersion") = text("4.0.0");
    });
    assert_found(found, Check::Versions, "version-unread");
    let found = tampered(&plan, workflow, |workflow| {
        *workflow.at("stages").nth(0).at("dialect").at("version") = number(4);
    });
    assert_found(found, Check::Versions, "version-unread");
    for (what, member) in [
        ("workflow", "workflowVersion"),
        ("execution", "executionVersion"),
        ("selection", "selectionVersion"),
        ("record", "outputRecordVersion"),
        ("run", "version"),
    ] {
        let stage = match what {
            "workflow" | "execution" => "",
            "run" => "people",
            _ => "organisations",
        };
        let found = tampered(&plan, at(what, stage, 0, 0), |json| *json.at(member) = number(9));
        assert_found(found, Check::Versions, "version-unread");
    }
    // Bindings.
    let found = tampered(&plan, at("binding", "people", 0, 0), |binding| {
        *binding.at("dialect") = zero();
    });
    assert_found(found, Check::BindingDocuments, malformed);
    // Dispositions of completed evaluations.
    let audit = at("audit", "people", 0, 0);
    let found = tampered(&plan, audit, |audit| *audit.at("disposition").at("reasons") = Json::Null);
    assert_found(found, Check::Dispositions, malformed);
    let found = tampered(&plan, audit, |audit| audit.remove("disposition"));
    assert_found(found, Check::Dispositions, malformed);
    // Ordinary invocation errors are no Core errors.
    let error = at("evaluation-error", "people", 4, 0);
    let found = tampered(&Plan::unsuccessful(), error, |error| error.remove("evaluationError"));
    assert_found(found, Check::EvaluationErrors, malformed);
    // Bytes that aren't the canon, and files whose pins are null.
    let mut bundle = generate(&plan, &honest);
    bundle.reseal(|bytes| bytes.push(b'\n'));
    assert_found(outcome_of(&bundle), Check::ClosedForms, malformed);
    for path in
        ["instances/people-1/attempts/1/evaluation-error.json", "stages/people/binding.json"]
    {
        let mut bundle = generate(&Plan::named(), &honest);
        bundle.files.insert(path.to_owned(), b"{}".to_vec());
        assert_found(outcome_of(&bundle), Check::ClosedForms, malformed);
    }
    let found = tampered(&plan, execution(), |record| {
        *record.at("instances").nth(1).at("attempts").nth(0).at("number") = number(2);
    });
    assert_found(found, Check::ReferenceOrder, malformed);
    // A number outside the domain, in a case and in a payload.
    for (what, stage) in [("case", "people"), ("payload", "organisations")] {
        let found = tampered(&plan, at(what, stage, 0, 0), |json| *json.at("n") = number("1.5"));
        assert_found(found, Check::StrictJson, malformed);
    }
}

#[test]
fn refusals_of_bounds_come_first() {
    let plan = Plan::two_stages();
    let over = "input-over-bound";
    let nested = |levels: usize| (0..levels).fold(Json::Null, |inner, _| Json::List(vec![inner]));
    let payload = at("payload", "organisations", 1, 0);
    let payload = Point { instance: 0, index: 1, ..payload };
    // The root object is level 1: 31 more fit, 32 don't.
    let fits = generate(&plan, &|point, json| {
        if point == payload {
            *json.at("deep") = nested(31);
        }
    });
    // It is found to be another payload than was prepared, not too deep.
    assert_eq!(outcome_of(&fits).0, Check::Outputs);
    let found_deep = tampered(&plan, payload, |payload| *payload.at("deep") = nested(32));
    assert_found(found_deep, Check::Bounds, over);
    let found_long =
        tampered(&plan, payload, |payload| *payload.at("long") = text("x".repeat(65_537)));
    assert_found(found_long, Check::Counts, over);
    let found_wide = tampered(&plan, payload, |payload| {
        *payload.at("wide") = Json::List(vec![Json::Null; 4097]);
    });
    assert_found(found_wide, Check::Counts, over);
    let found_large = tampered(&plan, payload, |payload| {
        *payload.at("large") = Json::List(vec![text("x".repeat(1 << 16)); 17]);
    });
    assert_found(found_large, Check::Bounds, over);
    // Too many files.
    let mut bundle = generate(&plan, &honest);
    for number in 0..=65_536 {
        bundle.files.insert(format!("z{number}"), Vec::new());
    }
    assert_found(outcome_of(&bundle), Check::Bounds, over);
    // The bounds of an artifact count before another one's grammar, wherever they stand.
    let mut bundle = generate(&plan, &honest);
    bundle.files.insert("execution.json".to_owned(), b"{".to_vec());
    let deep = "[".repeat(40) + &"]".repeat(40);
    let path = "outputs/people/people-1/1/payload.json".to_owned();
    bundle.files.insert(path, deep.into_bytes());
    assert_found(outcome_of(&bundle), Check::Bounds, over);
    // And a missing file counts after everybody's form.
    let mut bundle = generate(&plan, &|point, json| {
        if point == at("record", "people", 0, 1) {
            json.remove("lineage");
        }
    });
    bundle.files.remove("stages/organisations/pack.json");
    assert_found(outcome_of(&bundle), Check::ClosedForms, "input-malformed");
    // maxInstances, maxRecords, maxAttempts of the document itself.
    for (member, most) in [("maxInstances", 2), ("maxRecords", 2)] {
        let found = tampered(&plan, at("workflow", "", 0, 0), |workflow| {
            *workflow.at("limits").at(member) = number(most);
        });
        assert_found(found, Check::Counts, over);
    }
}

type Change = fn(&mut Json);

/// Somebody rewrites everything consistently: only what is held elsewhere shows it.
#[test]
fn consistent_rewrites_against_fixed_commitments() {
    let plan = Plan::two_stages();
    let good = generate(&plan, &honest);
    let changes: [(Point<'_>, Change); 7] = [
        (at("dialect", "people", 0, 0), |json| *json.at("sources") = Json::List(vec![])),
        (at("binding", "people", 0, 0), |json| *json.at("profile") = text("other")),
        (at("audit", "people", 1, 0), |json| *json.at("inputs") = Json::Null),
        (at("preparation", "people", 1, 0), |json| *json.at("answer") = text("other")),
        (at("selection", "organisations", 0, 0), |json| {
            *json.at("review").at("assertion") = text("other");
        }),
        (at("case", "people", 0, 0), |json| *json.at("organisationId") = text("other")),
        (at("record", "people", 0, 0), |json| {
            *json.at("lineage").at("influence").at("generatedInfluence") = Json::Bool(false);
        }),
    ];
    for (place, change) in changes {
        let rewritten = generate(&plan, &|point, json| {
            if point == place {
                change(json);
            }
        });
        assert_ne!(rewritten.execution, good.execution, "{place:?}");
        let examination = examine(&Memory(rewritten.files), &expect(&good), &Plugs::default());
        let finding = examination.unwrap().finding().map(|(check, code)| (check, code.as_str()));
        assert_eq!(finding, Some((Check::ExpectedDigests, "digest-mismatch")), "{place:?}");
    }
}

/// Two branches of one execution: one id, the same ancestors, other selections and digests. Both agree.
#[test]
fn branches_share_their_id_and_their_ancestors() {
    let one = generate(&Plan::two_stages(), &honest);
    let mut plan = Plan::two_stages();
    plan.stages[0].select = Select::Reviewer(vec![1]);
    let two = generate(&plan, &honest);
    assert_ne!(one.execution, two.execution);
    for (path, bytes) in &one.files {
        if path.contains("/organisations-1/") || path == "sets/organisations.json" {
            assert_eq!(two.files.get(path), Some(bytes), "{path}");
        }
    }
    assert_eq!(examined(&two).result(), "incomplete");
}

/// The literal form is inferred: another one is no refusal, and no agreement either.
#[test]
fn another_literal_form_is_not_judged() {
    let mut bundle = generate(&Plan::two_stages(), &honest);
    let folder = "instances/people-2/attempts/1";
    let preparation = bundle.files.get_mut(&format!("{folder}/preparation.json")).unwrap();
    let before = Digest::of(preparation).to_string();
    preparation.push(b'\n');
    let after = Digest::of(preparation).to_string();
    bundle.files.remove(&format!("{folder}/preparation.sha256"));
    bundle.reseal(|bytes| {
        *bytes = String::from_utf8(bytes.clone()).unwrap().replace(&before, &after).into_bytes();
    });
    let examination = examined(&bundle);
    assert_eq!(examination.result(), "incomplete", "{}", examination.to_text());
    let Some(Status::NotPerformed { reason, detail }) = examination.status(Check::LiteralForm)
    else {
        panic!("{}", examination.to_text());
    };
    assert_eq!(reason.as_str(), "literal-form-inferred");
    assert!(detail.ends_with("preparation.json"), "{detail}");
}

/// A bundle may hold what nothing pins; it is counted, not judged.
#[test]
fn files_that_nothing_pins_are_listed() {
    let mut bundle = generate(&Plan::two_stages(), &honest);
    for path in ["commitment.json", "selections/organisations/2.json", "instances/x/case.json"] {
        bundle.files.insert(path.to_owned(), b"{".to_vec());
    }
    let examination = examined(&bundle);
    assert_eq!((examination.result(), examination.unread_count), ("incomplete", 3));
    assert_eq!(examination.unread[0], "commitment.json");
}
