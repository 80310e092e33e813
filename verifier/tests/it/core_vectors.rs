//! Evaluation where the corpus of Core has no row: our own vectors, each read off the text.

use anchorlog_proto::jp::core_pack::PackLimits;
use anchorlog_verifier::jp::core::{ErrorClass, EvaluationError, Limits, Phase, Truth, evaluate};

use crate::jp_world::{evaluated, exception, is, pack_text, rule};

const TRUE: &str = r#"{"op":"literal","value":true}"#;
const FALSE: &str = r#"{"op":"literal","value":false}"#;
/// A fact that no facts have.
const UNKNOWN: &str = r#"{"op":"fact","path":"/nothing","operator":"equals","value":1}"#;

/// What a single condition is on these facts.
fn truth(condition: &str, facts: &str) -> Truth {
    let pack = pack_text(&rule("r", condition, "yes", "ignore"), "", "");
    evaluated(&pack, facts).trace.rules[0].condition.unwrap()
}

/// Disposition and credit of a pack on these facts, as text.
fn result(rules: &[String], exceptions: &[String], more: &str, facts: &str) -> String {
    let evaluation = evaluated(&pack_text(&rules.join(","), &exceptions.join(","), more), facts);
    format!("{} / {}", evaluation.disposition, evaluation.credit)
}

#[test]
fn conditions() {
    use Truth::{False, True, Unknown};
    let facts =
        r#"{"a":[1,{"b":null}],"s":"10","n":10,"big":9007199254740993,"o":{"x":1.0,"y":[true]}}"#;
    let fact = |path: &str, operator: &str, value: &str| {
        format!(r#"{{"op":"fact","path":"{path}","operator":"{operator}","value":{value}}}"#)
    };
    for (path, operator, value, expected) in [
        ("/s", "equals", "\"10\"", True),
        ("/s", "equals", "10", False),
        ("/n", "equals", "\"10\"", False),
        ("/n", "equals", "1.0e1", True),
        ("/n", "not-equals", "10.00", False),
        ("/n", "not-equals", "10.01", True),
        ("/big", "equals", "9007199254740992", False),
        ("/big", "equals", "9007199254740993.0", True),
        ("/a/1/b", "equals", "null", True),
        ("/a/1/b", "not-equals", "null", False),
        ("/a/1/b", "equals", "false", False),
        ("/a/01", "equals", "null", Unknown),
        ("/a/-", "not-equals", "null", Unknown),
        ("/a", "equals", r#"[1.0,{"b":null}]"#, True),
        ("/a", "equals", r#"[{"b":null},1]"#, False),
        ("/o", "equals", r#"{"y":[true],"x":1}"#, True),
        ("/o", "equals", r#"{"x":1}"#, False),
        ("/o", "equals", r#"{"x":1,"z":[true]}"#, False),
        ("/o", "in", r#"[null,{"x":1,"y":[true]}]"#, True),
        ("/n", "in", r#"["10",11]"#, False),
        ("/m", "in", "[null]", Unknown),
        ("/s", "greater-than", "\"9\"", True),
        ("/s", "greater-than", "\"10.0\"", False),
        ("/s", "greater-than-or-equal", "\"10.0\"", True),
        ("/s", "less-than", "\"10.000001\"", True),
        ("/s", "less-than-or-equal", "\"9.99\"", False),
        ("/n", "less-than", "\"11\"", Unknown),
        ("/a", "less-than-or-equal", "\"11\"", Unknown),
        ("/m", "greater-than", "\"0\"", Unknown),
        ("", "equals", facts, True),
    ] {
        assert_eq!(
            truth(&fact(path, operator, value), facts),
            expected,
            "{path} {operator} {value}"
        );
    }
    // A decimal-looking string that is none.
    assert_eq!(truth(&fact("", "greater-than", "\"1\""), "\"01\""), Unknown);
    // The one seam: an exponent beyond measure, and nothing else that tells the values apart.
    let beyond = fact("/v", "equals", "[1,1e1000000000000000001]");
    assert_eq!(truth(&beyond, r#"{"v":[1,2]}"#), Unknown);
    assert_eq!(truth(&beyond, r#"{"v":[2,2]}"#), False);
    assert_eq!(truth(&fact("/v", "in", "[1e1000000000000000001,2]"), r#"{"v":2}"#), True);
    let not = |condition: &str| format!(r#"{{"op":"not","condition":{condition}}}"#);
    assert_eq!(truth(&not(UNKNOWN), facts), Unknown);
    assert_eq!(truth(&not(FALSE), facts), True);
    let of = |op: &str, children: &[&str]| {
        format!(r#"{{"op":"{op}","conditions":[{}]}}"#, children.join(","))
    };
    assert_eq!(truth(&of("all", &[TRUE, UNKNOWN]), facts), Unknown);
    assert_eq!(truth(&of("all", &[UNKNOWN, FALSE]), facts), False);
    assert_eq!(truth(&of("any", &[UNKNOWN, TRUE]), facts), True);
    assert_eq!(truth(&of("any", &[FALSE, UNKNOWN]), facts), Unknown);
    assert_eq!(truth(&not(&of("all", &[&not(FALSE), &of("any", &[FALSE, TRUE])])), facts), False);
}

#[test]
fn who_contributes() {
    let r = |id: &str, when: &str, outcome: &str| rule(id, when, outcome, "ignore");
    let x = |id: &str, when: &str, effect: &str| exception(id, when, effect, "ignore");
    let fallback = r#","fallbackOutcome":"review""#;
    for (rules, exceptions, more, expected) in [
        // Two compatible rules, in either order; a false and an unknown one get nothing.
        (
            vec![
                r("b", TRUE, "yes"),
                r("a", TRUE, "yes"),
                r("c", FALSE, "yes"),
                r("d", UNKNOWN, "yes"),
            ],
            vec![],
            "",
            "outcome yes / rule a b",
        ),
        // A suppressed rule gets nothing, and its outcome is no candidate.
        (
            vec![r("a", TRUE, "yes"), r("b", TRUE, "no")],
            vec![x("s", TRUE, "suppress-rule:b")],
            "",
            "outcome yes / rule a",
        ),
        (
            vec![r("a", TRUE, "yes"), r("b", TRUE, "yes")],
            vec![x("s", TRUE, "suppress-rule:a"), x("t", UNKNOWN, "suppress-rule:b")],
            "",
            "outcome yes / rule b",
        ),
        // Two compatible forcing exceptions bypass a true rule of the same outcome and of another one.
        (
            vec![r("a", TRUE, "yes"), r("b", TRUE, "no")],
            vec![
                x("g", TRUE, "force-outcome:yes"),
                x("f", TRUE, "force-outcome:yes"),
                x("h", FALSE, "force-outcome:no"),
            ],
            "",
            "outcome yes / forcing-exception f g",
        ),
        // The same id in both namespaces.
        (
            vec![r("same", TRUE, "yes")],
            vec![x("same", FALSE, "force-outcome:yes")],
            "",
            "outcome yes / rule same",
        ),
        (
            vec![r("same", TRUE, "yes")],
            vec![x("same", TRUE, "force-outcome:yes")],
            "",
            "outcome yes / forcing-exception same",
        ),
        // Suppression goes with a forced outcome.
        (
            vec![r("a", TRUE, "yes")],
            vec![x("s", TRUE, "suppress-rule:a"), x("f", TRUE, "force-outcome:no")],
            "",
            "outcome no / forcing-exception f",
        ),
        // The fallback: false and ignored unknown rules don't prevent it; a suppressed true one neither.
        (
            vec![r("a", FALSE, "yes"), r("b", UNKNOWN, "no")],
            vec![],
            fallback,
            "outcome review / fallback",
        ),
        (
            vec![r("a", TRUE, "yes")],
            vec![x("s", TRUE, "suppress-rule:a")],
            fallback,
            "outcome review / fallback",
        ),
        // A rule that names the fallback outcome contributes.
        (vec![r("a", TRUE, "review")], vec![], fallback, "outcome review / rule a"),
    ] {
        assert_eq!(result(&rules, &exceptions, more, "{}"), expected);
        let (mut rules, mut exceptions) = (rules, exceptions);
        rules.reverse();
        exceptions.reverse();
        assert_eq!(result(&rules, &exceptions, more, "{}"), expected, "in the opposite order");
    }
}

#[test]
fn what_blocks_an_outcome() {
    let yes = || rule("a", TRUE, "yes", "ignore");
    let no = || rule("b", TRUE, "no", "ignore");
    let escalating = || rule("u", UNKNOWN, "yes", "escalate");
    let x = |id: &str, when: &str, effect: &str, on: &str| exception(id, when, effect, on);
    let fallback = r#","fallbackOutcome":"review""#;
    let handoff = r#","escalation":{"triggers":["unknown","not-applicable"],"target":{"kind":"queue","name":"n"}}"#;
    for (rules, exceptions, more, expected) in [
        (vec![yes(), no()], vec![], "", "unresolved conflict"),
        (
            vec![yes(), no(), escalating()],
            vec![],
            handoff,
            "unresolved conflict unknown, handoff requested by unknown",
        ),
        (vec![yes(), escalating()], vec![], "", "unresolved unknown"),
        (vec![escalating()], vec![], fallback, "unresolved unknown"),
        // An escalating unknown rule that is suppressed is not evaluated.
        (vec![yes(), escalating()], vec![x("s", TRUE, "suppress-rule:u", "ignore")], "", ""),
        (
            vec![yes()],
            vec![x("e", TRUE, "escalate", "ignore")],
            "",
            "unresolved exception-escalation, handoff requested by exception-escalation",
        ),
        (
            vec![yes()],
            vec![x("e", TRUE, "escalate", "ignore"), x("f", TRUE, "force-outcome:yes", "ignore")],
            "",
            "unresolved exception-escalation, handoff requested by exception-escalation",
        ),
        (
            vec![yes()],
            vec![
                x("f", TRUE, "force-outcome:yes", "ignore"),
                x("g", TRUE, "force-outcome:no", "ignore"),
            ],
            "",
            "unresolved conflict",
        ),
        (
            vec![yes()],
            vec![
                x("f", TRUE, "force-outcome:yes", "ignore"),
                x("g", UNKNOWN, "force-outcome:no", "escalate"),
            ],
            handoff,
            "unresolved unknown, handoff requested by unknown",
        ),
        // Direct request and configured trigger together.
        (
            vec![yes()],
            vec![x("e", TRUE, "escalate", "ignore"), x("g", UNKNOWN, "escalate", "escalate")],
            handoff,
            "unresolved exception-escalation unknown, handoff requested by exception-escalation unknown",
        ),
        (vec![rule("a", FALSE, "yes", "escalate")], vec![], "", "unresolved no-match"),
    ] {
        let got = result(&rules, &exceptions, more, "{}");
        let (disposition, credit) = got.split_once(" / ").unwrap();
        if expected.is_empty() {
            assert_eq!(got, "outcome yes / rule a");
        } else {
            assert_eq!((disposition, credit), (expected, "no outcome"));
        }
    }
}

#[test]
fn applicability_and_evidence_come_first() {
    let evidence = r#","evidenceRequirements":[{"id":"form","description":"d","required":true},{"id":"seal","description":"d","required":true},{"id":"note","description":"d","required":false}]"#;
    let run = |more: &str, exceptions: &str, evidence: Option<&str>| {
        let pack = pack_text(&rule("a", TRUE, "yes", "ignore"), exceptions, more);
        let got =
            evaluate(pack.as_bytes(), b"{}", evidence.map(str::as_bytes), &[], &Limits::DEFAULT)
                .unwrap();
        format!("{} / {}", got.disposition, got.credit)
    };
    let when = |condition: &str| format!(r#"{evidence},"applicability":{condition}"#);
    let scope =
        r#","escalation":{"triggers":["not-applicable"],"target":{"kind":"queue","name":"n"}}"#;
    assert_eq!(run(&when(FALSE), "", None), "not-applicable / no outcome");
    assert_eq!(
        run(&format!("{}{scope}", when(FALSE)), "", None),
        "not-applicable, handoff requested by not-applicable / no outcome"
    );
    assert_eq!(run(&when(UNKNOWN), "", None), "unresolved unknown / no outcome");
    assert_eq!(run(&when(TRUE), "", None), "unresolved unknown / no outcome");
    let both = r#"{"form":"present","seal":"present"}"#;
    assert_eq!(run(evidence, "", Some(both)), "outcome yes / rule a");
    assert_eq!(
        run(evidence, "", Some(r#"{"form":"present","seal":"absent"}"#)),
        "unresolved missing-required-evidence / no outcome"
    );
    // One absent and one unknown: only the absent one is a reason.
    assert_eq!(
        run(evidence, "", Some(r#"{"form":"absent"}"#)),
        "unresolved missing-required-evidence / no outcome"
    );
    assert_eq!(
        run(evidence, "", Some(r#"{"form":"present","seal":"unknown"}"#)),
        "unresolved unknown / no outcome"
    );
    // Exceptions are inspected all the same, and every reason is retained.
    let unknown = exception("g", UNKNOWN, "escalate", "escalate");
    assert_eq!(
        run(evidence, &unknown, Some(r#"{"form":"absent"}"#)),
        "unresolved missing-required-evidence unknown / no outcome"
    );
    let present = r#"{"op":"evidence-present","evidenceRequirement":"note"}"#;
    let forced = exception("f", present, "force-outcome:no", "ignore");
    assert_eq!(
        run(evidence, &forced, Some(r#"{"form":"present","seal":"present","note":"present"}"#)),
        "outcome no / forcing-exception f"
    );
    assert_eq!(
        run(evidence, &forced, Some(r#"{"form":"present","seal":"present","note":"absent"}"#)),
        "outcome yes / rule a"
    );
}

#[test]
fn errors_come_in_the_order_of_core() {
    let good = pack_text(
        &rule("a", TRUE, "yes", "ignore"),
        "",
        r#","evidenceRequirements":[{"id":"form","description":"d","required":false}]"#,
    );
    let bad = good.replace(r#""title":"t""#, r#""title":"""#);
    let requires = pack_text(
        &rule("a", TRUE, "yes", "ignore"),
        "",
        r#","extensions":{"com.example.x":1},"metadata":{"requiredExtensions":["com.example.x"]},"applicability":{"op":"literal","value":false}"#,
    );
    let run = |pack: &str, facts: &str, evidence: Option<&str>, supported: &[&str]| {
        evaluate(
            pack.as_bytes(),
            facts.as_bytes(),
            evidence.map(str::as_bytes),
            supported,
            &Limits::DEFAULT,
        )
        .map(|evaluation| evaluation.disposition.to_string())
        .map_err(|error| (error.class().as_str(), error.phase()))
    };
    let pre = |class| Err((class, Phase::Preflight));
    assert_eq!(run(&bad, "{}", None, &[]), pre("pack-not-conformant"));
    assert_eq!(run(&bad, "{", Some(r#"{"x":1}"#), &[]), pre("pack-not-conformant"));
    assert_eq!(run(&good, "{", None, &[]), pre("malformed-input"));
    assert_eq!(run(&good, r#"{"a":1,"a":1}"#, None, &[]), pre("malformed-input"));
    assert_eq!(
        run(&good, "7", None, &[]),
        Ok("outcome yes".to_owned()),
        "any JSON value is a facts document"
    );
    for evidence in
        ["[]", "null", "{", r#"{"other":"present"}"#, r#"{"form":"maybe"}"#, r#"{"form":null}"#]
    {
        assert_eq!(run(&good, "{}", Some(evidence), &[]), pre("malformed-input"), "{evidence}");
    }
    assert_eq!(run(&requires, "{}", None, &[]), pre("unsupported-required-extension"));
    // Input errors come before extensions, and both before any result.
    assert_eq!(run(&requires, "{}", Some(r#"{"other":"present"}"#), &[]), pre("malformed-input"));
    assert_eq!(run(&requires, "{}", None, &["com.example.x"]), Ok("not-applicable".to_owned()));
}

#[test]
fn limits_of_admission_are_malformed_input() {
    let pack = pack_text(&rule("a", &is("/a", "1"), "yes", "ignore"), "", "");
    let with = |admission: PackLimits, facts: &str| {
        let limits = Limits { admission, ..Limits::DEFAULT };
        evaluate(pack.as_bytes(), facts.as_bytes(), None, &[], &limits)
            .map(|_| ())
            .map_err(|error| error.class())
    };
    let default = PackLimits::DEFAULT;
    assert_eq!(with(default, "{}"), Ok(()));
    let refused = Err(ErrorClass::MalformedInput);
    assert_eq!(with(PackLimits { bytes: pack.len(), ..default }, "{}"), Ok(()));
    assert_eq!(
        with(PackLimits { bytes: pack.len() - 1, ..default }, "{}"),
        refused,
        "the pack is not admitted"
    );
    assert_eq!(
        with(PackLimits { bytes: pack.len(), ..default }, &" ".repeat(pack.len() + 1)),
        refused
    );
    assert_eq!(with(default, &format!("{}{}", "[".repeat(64), "]".repeat(64))), Ok(()));
    assert_eq!(with(default, &format!("{}{}", "[".repeat(65), "]".repeat(65))), refused);
    assert_eq!(with(default, &format!("\"{}\"", "s".repeat(65_536))), Ok(()));
    assert_eq!(with(default, &format!("\"{}\"", "s".repeat(65_537))), refused);
    assert_eq!(with(default, &"1".repeat(4096)), Ok(()));
    assert_eq!(with(default, &"1".repeat(4097)), refused);
}

#[test]
fn limits_of_evaluation_are_resource_exhaustion() {
    let rules: Vec<_> =
        (0..5).map(|n| rule(&format!("r{n}"), &is("/a", "[1,2,3]"), "yes", "ignore")).collect();
    let pack = pack_text(&rules.join(","), "", "");
    let run = |facts: &str, limits: &Limits| {
        evaluate(pack.as_bytes(), facts.as_bytes(), None, &[], limits)
    };
    let facts = r#"{"a":[1,2,3]}"#;
    let collection = |limit| Limits { collection: limit, ..Limits::DEFAULT };
    assert!(run(facts, &collection(5)).is_ok());
    let error = run(facts, &collection(4)).unwrap_err();
    assert_eq!(error, EvaluationError::Collection { limit: 4 });
    assert_eq!((error.class(), error.phase()), (ErrorClass::ResourceExhaustion, Phase::Evaluation));
    // A compared collection of the facts counts as well.
    assert!(run(r#"{"a":[1,2,3,4,5,6]}"#, &collection(5)).is_err());
    // Five rules of a condition, a token and four comparisons each.
    let work = |work| Limits { work, ..Limits::DEFAULT };
    assert!(run(facts, &work(5 * 6)).is_ok());
    assert_eq!(run(facts, &work(5 * 6 - 1)).unwrap_err(), EvaluationError::Work { limit: 29 });
    // Long texts cost by their length, and settled conditions are evaluated to the end: the work is the same
    // in every order.
    let any = format!(r#"{{"op":"any","conditions":[{TRUE},{}]}}"#, is("/s", "\"x\""));
    let late = format!(r#"{{"op":"any","conditions":[{},{TRUE}]}}"#, is("/s", "\"x\""));
    let long = format!(r#"{{"s":"{}"}}"#, "s".repeat(6400));
    for condition in [any, late] {
        let pack = pack_text(&rule("r", &condition, "yes", "ignore"), "", "");
        let run =
            |limit| evaluate(pack.as_bytes(), long.as_bytes(), None, &[], &work(limit)).map(|_| ());
        assert_eq!(run(105), Ok(()));
        assert_eq!(run(104), Err(EvaluationError::Work { limit: 104 }));
    }
}
