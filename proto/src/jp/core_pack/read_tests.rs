//! Packs that conform, and one change each that makes them not to.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use serde_json::{Value, json};

use super::{Condition, Effect, OnUnknown, Pack, PackLimits, PackRule, Reason, Test};

fn full() -> Value {
    json!({
        "specVersion": "0.2.0-draft",
        "id": "https://example.invalid/packs/full",
        "version": "1.20.3",
        "title": "t",
        "description": "d",
        "decision": {"intent": "i", "question": "q", "extensions": {"com.example.x": null}},
        "applicability": {"op": "evidence-present", "evidenceRequirement": "form"},
        "evidenceRequirements": [
            {"id": "form", "description": "d", "required": true, "kind": "document", "extensions": {}},
            {"id": "note", "description": "d", "required": false}
        ],
        "sources": [{
            "id": "src", "title": "t", "publisher": "p", "publishedAt": "2026-01-15",
            "locator": {"kind": "uri", "value": "v"},
            "citation": {"location": "l", "excerpt": "e"}, "rights": "r"
        }],
        "outcomes": [
            {"id": "yes", "label": "l", "description": "d"},
            {"id": "no", "label": "l", "extensions": {"com.example.y": [1.5, {"a": 1e300}]}}
        ],
        "rules": [
            {
                "id": "r1", "description": "d", "outcome": "yes", "onUnknown": "escalate",
                "when": {"op": "all", "conditions": [
                    {"op": "literal", "value": true},
                    {"op": "any", "conditions": [{"op": "not", "condition": {"op": "evidence-present", "evidenceRequirement": "note"}}]},
                    {"op": "fact", "path": "/a/0", "operator": "in", "value": [1.50, {"conditions": 1}]},
                    {"op": "fact", "path": "", "operator": "not-equals", "value": {"evidenceRequirement": "nothing"}},
                    {"op": "fact", "path": "/n", "operator": "less-than", "value": "-0.5"}
                ]},
                "evidenceRequirementRefs": ["form", "note"], "sourceRefs": ["src"], "rationale": "r"
            },
            {"id": "yes", "description": "d", "when": {"op": "literal", "value": false}, "outcome": "no", "onUnknown": "ignore"}
        ],
        "exceptions": [
            {"id": "r1", "description": "d", "when": {"op": "literal", "value": true}, "effect": "suppress-rule", "targetRule": "yes", "onUnknown": "ignore", "sourceRefs": ["src"]},
            {"id": "e2", "description": "d", "when": {"op": "literal", "value": true}, "effect": "force-outcome", "outcome": "no", "onUnknown": "escalate"},
            {"id": "e3", "description": "d", "when": {"op": "literal", "value": true}, "effect": "escalate", "onUnknown": "ignore"}
        ],
        "fallbackOutcome": "no",
        "escalation": {"triggers": ["unknown", "conflict"], "target": {"kind": "queue", "name": "n"}, "message": "m"},
        "metadata": {
            "authors": ["a"], "createdAt": "2026-07-27T00:00:00Z", "license": "l",
            "requiredExtensions": ["com.example.y"],
            "reviews": [{"reviewer": "r", "reviewedAt": "2026-07-27T00:00:00+02:00", "disposition": "approved", "note": "n"}]
        },
        "extensions": {"com.example.z": "<script>"}
    })
}

fn read(pack: &Value) -> Result<Pack, (PackRule, String)> {
    let bytes = serde_json::to_vec(pack).unwrap();
    Pack::read(&bytes, &PackLimits::DEFAULT).map_err(|error| (error.rule, error.pointer))
}

/// Sets the value at a pointer, or with `None` removes the member.
fn changed(pointer: &str, value: Option<Value>) -> Value {
    let mut pack = full();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match (pack.pointer_mut(parent).unwrap(), value) {
        (Value::Object(object), Some(value)) => drop(object.insert(name.to_owned(), value)),
        (Value::Object(object), None) => drop(object.remove(name).unwrap()),
        (Value::Array(elements), Some(value)) => match name.parse::<usize>() {
            Ok(at) => elements[at] = value,
            Err(_) => elements.push(value),
        },
        _ => panic!("{pointer}"),
    }
    pack
}

#[test]
fn a_full_pack_is_read_to_the_end() {
    let pack = read(&full()).unwrap();
    assert_eq!((pack.id(), pack.version()), ("https://example.invalid/packs/full", "1.20.3"));
    assert_eq!(pack.outcomes().len(), 2);
    assert_eq!(pack.sources().len(), 1);
    assert!(pack.evidence_requirements()[0].required && !pack.evidence_requirements()[1].required);
    assert_eq!(pack.fallback_outcome().unwrap().as_str(), "no");
    let triggers: Vec<Reason> = pack.triggers().unwrap().iter().copied().collect();
    assert_eq!(triggers, [Reason::Conflict, Reason::Unknown]);
    assert_eq!(pack.required_extensions().collect::<Vec<_>>(), ["com.example.y"]);
    assert!(
        matches!(pack.applicability(), Some(Condition::EvidencePresent(id)) if id.as_str() == "form")
    );
    let rule = pack.rule(&"r1".parse().unwrap()).unwrap();
    assert_eq!((rule.outcome.as_str(), rule.on_unknown), ("yes", OnUnknown::Escalate));
    let Condition::All(children) = &rule.when else { panic!("all") };
    // Numbers are kept as they are spelled.
    assert!(matches!(&children[2], Condition::Fact { test: Test::In(all), .. } if all.len() == 2));
    let exception = pack.exception(&"r1".parse().unwrap()).unwrap();
    assert_eq!(exception.effect, Effect::SuppressRule("yes".parse().unwrap()));
    assert_eq!(pack.exceptions()[2].effect, Effect::Escalate);
}

#[test]
fn the_structure_is_that_of_the_schema() {
    use PackRule as R;
    let text = |text: &str| Some(json!(text));
    for (pointer, value, rule) in [
        ("/specVersion", text("0.1.0-draft"), R::SpecVersion),
        ("/specVersion", None, R::Missing),
        ("/id", text("relative/pack"), R::Uri),
        ("/version", text("1.0"), R::PackVersion),
        ("/title", text(""), R::Empty),
        ("/title", Some(json!(1)), R::Type),
        ("/description", Some(json!(null)), R::Type),
        ("/decision", None, R::Missing),
        ("/decision/question", text(""), R::Empty),
        ("/decision/priority", text("x"), R::Unknown),
        ("/unexpected", text("x"), R::Unknown),
        ("/outcomes/0/id", text("Yes"), R::LocalId),
        ("/outcomes/0/label", text(""), R::Empty),
        ("/outcomes", Some(json!([{"id": "yes", "label": "l"}])), R::Arity),
        ("/rules", Some(json!([])), R::Arity),
        ("/rules", Some(json!({})), R::Type),
        ("/rules/0/onUnknown", text("perhaps"), R::Type),
        ("/rules/0/sourceRefs", Some(json!(["src", "src"])), R::Repeated),
        ("/rules/0/when/op", text("xor"), R::Condition),
        ("/rules/0/when/value", Some(json!(true)), R::Unknown),
        ("/rules/0/when/conditions", Some(json!([])), R::Arity),
        ("/rules/0/when/conditions/1/conditions/0/condition", None, R::Missing),
        ("/rules/0/when/conditions/0/value", text("true"), R::Type),
        ("/rules/0/when/conditions/2/path", text("a"), R::FactPath),
        ("/rules/0/when/conditions/2/operator", text("matches"), R::Condition),
        ("/rules/0/when/conditions/2/value", Some(json!([])), R::InOperand),
        ("/rules/0/when/conditions/2/value", text("x"), R::InOperand),
        ("/rules/0/when/conditions/3/value", None, R::Missing),
        ("/rules/0/when/conditions/4/value", text("1e3"), R::DecimalOperand),
        ("/rules/0/when/conditions/4/value", Some(json!(1)), R::DecimalOperand),
        ("/rules/0/when/conditions/-", Some(json!(true)), R::Type),
        ("/exceptions/0/effect", text("ignore"), R::Type),
        ("/exceptions/0/outcome", text("no"), R::ExceptionShape),
        ("/exceptions/0/targetRule", None, R::ExceptionShape),
        ("/exceptions/1/outcome", None, R::ExceptionShape),
        ("/exceptions/1/targetRule", text("yes"), R::ExceptionShape),
        ("/exceptions/2/outcome", text("no"), R::ExceptionShape),
        ("/evidenceRequirements/0/kind", text("rumour"), R::Type),
        ("/evidenceRequirements/0/required", text("true"), R::Type),
        ("/sources/0/publishedAt", text("2026-02-30"), R::Date),
        ("/sources/0/locator/kind", text("isbn"), R::Type),
        ("/sources/0/locator/value", text(""), R::Empty),
        ("/sources/0/citation/excerpt", None, R::Missing),
        ("/escalation/triggers", Some(json!([])), R::Trigger),
        ("/escalation/triggers/0", text("exception-escalation"), R::Trigger),
        ("/escalation/triggers", Some(json!(["conflict", "conflict"])), R::Repeated),
        ("/escalation/target/name", text(""), R::Empty),
        ("/metadata/authors", Some(json!([])), R::Arity),
        ("/metadata/createdAt", text("yesterday"), R::DateTime),
        ("/metadata/reviews/0/disposition", text("maybe"), R::Type),
        ("/metadata/requiredExtensions/0", text("y"), R::ExtensionName),
        ("/extensions/review-policy", text("x"), R::ExtensionName),
        ("/extensions/org.judgmentpack.future", text("x"), R::ExtensionName),
        ("/outcomes/0/extensions", text("x"), R::Type),
    ] {
        let error = read(&changed(pointer, value)).unwrap_err();
        assert_eq!(error.0, rule, "{pointer}");
        if !matches!(rule, R::ExceptionShape | R::Repeated) {
            let place = pointer.replace("/-", "/5");
            assert_eq!(error.1, place, "{rule:?}");
        }
    }
}

#[test]
fn references_resolve_to_the_right_kind() {
    use PackRule as R;
    for (pointer, value, rule) in [
        ("/outcomes/1/id", "yes", R::DuplicateId),
        ("/rules/1/id", "r1", R::DuplicateId),
        ("/exceptions/1/id", "r1", R::DuplicateId),
        ("/evidenceRequirements/1/id", "form", R::DuplicateId),
        // A rule's id is no outcome.
        ("/rules/0/outcome", "r1", R::UnresolvedOutcome),
        ("/exceptions/1/outcome", "e2", R::UnresolvedOutcome),
        ("/fallbackOutcome", "maybe", R::UnresolvedOutcome),
        ("/exceptions/0/targetRule", "e2", R::UnresolvedRule),
        ("/applicability/evidenceRequirement", "src", R::UnresolvedEvidence),
        ("/rules/0/evidenceRequirementRefs/1", "src", R::UnresolvedEvidence),
        (
            "/rules/0/when/conditions/1/conditions/0/condition/evidenceRequirement",
            "x",
            R::UnresolvedEvidence,
        ),
        ("/rules/0/sourceRefs/0", "form", R::UnresolvedSource),
        ("/exceptions/0/sourceRefs/0", "form", R::UnresolvedSource),
        ("/metadata/requiredExtensions/0", "com.example.absent", R::MissingExtension),
    ] {
        assert_eq!(read(&changed(pointer, Some(json!(value)))), Err((rule, pointer.to_owned())));
    }
    let mut sources = full();
    let again = sources["sources"][0].clone();
    sources["sources"].as_array_mut().unwrap().push(again);
    assert_eq!(read(&sources), Err((R::DuplicateId, "/sources/1/id".to_owned())));
    // Structure comes before references, wherever it stands.
    let mut both = changed("/fallbackOutcome", Some(json!("maybe")));
    both["extensions"]["bad"] = json!(1);
    assert_eq!(read(&both), Err((R::ExtensionName, "/extensions/bad".to_owned())));
}

#[test]
fn the_carrier_is_strict_and_bounded() {
    let rule = |bytes: &[u8], limits: &PackLimits| Pack::read(bytes, limits).unwrap_err().rule;
    let bytes = serde_json::to_vec(&full()).unwrap();
    let text = String::from_utf8(bytes.clone()).unwrap();
    for bad in [
        text.replacen(r#""title":"t""#, r#""title":"t","title":"t""#, 1),
        text.replacen(r#""label":"l""#, r#""label":"l","la\u0062el":"l""#, 1),
        format!("{text} {{}}"),
        text.replacen("\"t\"", "\"\\ud800\"", 1),
        format!("\u{feff}{text}"),
        String::new(),
        text.trim_end_matches('}').to_owned(),
    ] {
        assert_eq!(rule(bad.as_bytes(), &PackLimits::DEFAULT), PackRule::Carrier, "{bad}");
    }
    assert_eq!(rule(b"[]", &PackLimits::DEFAULT), PackRule::Type);
    let exact = PackLimits { bytes: bytes.len(), ..PackLimits::DEFAULT };
    assert!(Pack::read(&bytes, &exact).is_ok());
    let tight = PackLimits { bytes: bytes.len() - 1, ..PackLimits::DEFAULT };
    assert_eq!(rule(&bytes, &tight), PackRule::Limit);
    let flat = PackLimits { levels: 3, ..PackLimits::DEFAULT };
    assert_eq!(rule(&bytes, &flat), PackRule::Limit);
    let short = PackLimits { string: 20, ..PackLimits::DEFAULT };
    assert_eq!(rule(&bytes, &short), PackRule::Limit);
    let long = format!("{{\"n\":{}}}", "1".repeat(4097));
    assert_eq!(rule(long.as_bytes(), &PackLimits::DEFAULT), PackRule::Limit);
    assert!(Pack::read(&bytes, &tight).unwrap_err().is_limit());
}

#[test]
fn deep_places_have_bounded_pointers() {
    let mut pack = full();
    let name = format!("com.{}", "a".repeat(60_000));
    pack["extensions"][&name] = json!(1);
    assert!(read(&pack).is_ok());
    pack["extensions"][format!("{name}!")] = json!(1);
    assert_eq!(read(&pack), Err((PackRule::ExtensionName, "/extensions".to_owned())));
}
