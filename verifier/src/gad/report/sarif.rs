//! The report as SARIF 2.1.0, for tools that show findings beside files.
//!
//! A derived output: it says less than the report and can't be turned back into one.

use std::collections::BTreeSet;

use anchorlog_proto::json::{Object, Value, canonical};

use crate::codes::Code;
use crate::finding::Class;
use crate::gad::finding::GadFinding;

use super::Report;

/// Writes the findings of a report as a SARIF log with one run.
#[must_use]
pub fn write(report: &Report) -> Vec<u8> {
    let findings = report.findings.sorted();
    let codes: BTreeSet<Code> = findings.iter().map(|finding| finding.code).collect();
    let rules: Vec<_> = codes.iter().map(|code| rule(*code)).collect();
    let results: Vec<_> = findings.iter().map(|finding| result(finding)).collect();
    let driver = Object::from([
        ("name", Value::from(&*report.evaluator.name)),
        ("version", (&*report.evaluator.version).into()),
        ("rules", rules.into()),
    ]);
    let statuses = &report.statuses;
    let properties = Object::from([
        ("valid", Value::from(statuses.valid())),
        ("outcome", statuses.outcome().as_str().into()),
        ("satisfied", statuses.satisfied().into()),
        ("defensible", statuses.defensible().map_or(Value::Null, Value::from)),
        ("level", u32::from(statuses.level()).into()),
        ("policy", report.policy.hash.to_string().into()),
    ]);
    let run = Object::from([
        ("tool", Value::from(Object::from([("driver", driver)]))),
        ("results", results.into()),
        ("properties", properties.into()),
    ]);
    let log = Object::from([
        ("$schema", Value::from("https://json.schemastore.org/sarif-2.1.0.json")),
        ("version", "2.1.0".into()),
        ("runs", vec![Value::from(run)].into()),
    ]);
    canonical(&log.into())
}

fn rule(code: Code) -> Value<'static> {
    let text = |text: &'static str| Object::from([("text", text)]);
    Object::from([
        ("id", Value::from(code.as_str())),
        ("shortDescription", text(code.title()).into()),
        ("fullDescription", text(code.explanation()).into()),
        ("help", text(code.action()).into()),
        ("properties", Object::from([("clause", code.clause())]).into()),
    ])
    .into()
}

fn result(finding: &GadFinding) -> Value<'_> {
    let level = match finding.class() {
        Class::Broken | Class::Unmet | Class::Unsupported => "error",
        Class::Note => "note",
    };
    let mut message = finding.code.title().to_owned();
    if let Some(actual) = &finding.actual {
        message.push_str(": found ");
        message.push_str(actual);
    }
    if let Some(expected) = &finding.expected {
        message.push_str(", expected ");
        message.push_str(expected);
    }
    let mut location = Object::new();
    if let Some(member) = &finding.place.member {
        let mut physical = Object::from([(
            "artifactLocation",
            Value::from(Object::from([("uri", Value::from(&**member))])),
        )]);
        // A line of the witness is an entry; lines count from one.
        if let Some(line) = finding.place.seq.and_then(|seq| Value::try_from(seq + 1).ok()) {
            physical.insert("region", Object::from([("startLine", line)]));
        }
        location.insert("physicalLocation", physical);
    }
    if let Some(pointer) = &finding.place.pointer {
        let logical = Object::from([("fullyQualifiedName", Value::from(&**pointer))]);
        location.insert("logicalLocations", vec![Value::from(logical)]);
    }
    let locations: Vec<Value<'_>> =
        if location.iter().next().is_none() { Vec::new() } else { vec![location.into()] };
    let affects: Vec<_> = finding.affects.iter().map(|one| Value::from(one.as_str())).collect();
    let properties = Object::from([
        ("affects", Value::from(affects)),
        ("class", finding.class().as_str().into()),
    ]);
    Object::from([
        ("ruleId", Value::from(finding.code.as_str())),
        ("level", level.into()),
        ("message", Object::from([("text", message)]).into()),
        ("locations", locations.into()),
        ("properties", properties.into()),
    ])
    .into()
}
