//! The JSON form of a report. Every member is always there; what does not apply is `null` or empty.

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::Origin;
use anchorlog_proto::json::{Object, Value, canonical};
use anchorlog_proto::receipt::ReceiptState;

use crate::checkpoint::WitnessTime;
use crate::finding::{Finding, Place};
use crate::proof::Tree;

use super::{Facts, PolicyFacts, PolicyGroup, PolicyKey, Report, SCHEMA, timestamp};

/// Writes a report in canonical form.
pub(super) fn write(report: &Report) -> Vec<u8> {
    let facts = &report.facts;
    let object = Object::from([
        ("schema", Value::from(SCHEMA)),
        ("command", report.command.into()),
        ("verdict", report.verdict.as_str().into()),
        ("findings", list(&report.findings, finding)),
        ("log", optional(facts.log.as_ref().map(Origin::as_str))),
        ("index", facts.index.map_or(Value::Null, unsigned)),
        ("leaf_hash", facts.leaf_hash.as_ref().map_or(Value::Null, digest)),
        ("size", facts.tree.map_or(Value::Null, |tree| unsigned(tree.size.get()))),
        ("root", facts.tree.map_or(Value::Null, |tree| digest(&tree.root))),
        ("older", facts.older.as_ref().map_or(Value::Null, older)),
        (
            "statement",
            facts.statement.as_ref().map_or(Value::Null, |entry| entry.to_object().into()),
        ),
        ("state", state(facts)),
        ("witnesses", list(&facts.witnesses, witness)),
        ("timestamps", list(&facts.timestamps, timestamp::row)),
        ("policy", facts.policy.as_ref().map_or(Value::Null, policy)),
        ("receipts", list(&facts.receipts, receipt)),
        ("verifier", verifier()),
    ]);
    canonical(&object.into())
}

/// One of several receipts.
fn receipt(facts: &Facts) -> Value<'_> {
    Object::from([
        ("log", optional(facts.log.as_ref().map(Origin::as_str))),
        ("index", facts.index.map_or(Value::Null, unsigned)),
        ("leaf_hash", facts.leaf_hash.as_ref().map_or(Value::Null, digest)),
        ("size", facts.tree.map_or(Value::Null, |tree| unsigned(tree.size.get()))),
        ("root", facts.tree.map_or(Value::Null, |tree| digest(&tree.root))),
        (
            "statement",
            facts.statement.as_ref().map_or(Value::Null, |entry| entry.to_object().into()),
        ),
        ("state", state(facts)),
        ("witnesses", list(&facts.witnesses, witness)),
        ("timestamps", list(&facts.timestamps, timestamp::row)),
    ])
    .into()
}

/// One row of the findings.
pub(crate) fn finding(finding: &Finding) -> Value<'_> {
    Object::from([
        ("code", Value::from(finding.code.as_str())),
        ("class", finding.code.class().as_str().into()),
        ("reason", finding.reason.map_or(Value::Null, Value::from)),
        ("title", finding.code.title().into()),
        ("detail", finding.detail.as_ref().into()),
        ("where", place(&finding.place)),
        ("expected", optional(finding.expected.as_deref())),
        ("actual", optional(finding.actual.as_deref())),
        ("clause", finding.code.clause().into()),
        ("hint", finding.code.action().into()),
    ])
    .into()
}

fn place(place: &Place) -> Value<'_> {
    Object::from([
        ("input", place.input.map_or(Value::Null, Value::from)),
        ("number", place.number.map_or(Value::Null, Value::from)),
        ("pointer", optional(place.pointer.as_deref())),
        ("offset", place.offset.map_or(Value::Null, Value::from)),
    ])
    .into()
}

fn state(facts: &Facts) -> Value<'static> {
    if facts.stated.is_none() && facts.shown.is_none() {
        return Value::Null;
    }
    Object::from([
        ("stated", optional(facts.stated.map(ReceiptState::as_str))),
        ("shown", optional(facts.shown.map(ReceiptState::as_str))),
    ])
    .into()
}

fn older(tree: &Tree) -> Value<'static> {
    Object::from([("size", unsigned(tree.size.get())), ("root", digest(&tree.root))]).into()
}

fn witness(witness: &WitnessTime) -> Value<'_> {
    Object::from([
        ("name", Value::from(witness.name.as_str())),
        ("unix_seconds", unsigned(witness.unix_seconds)),
    ])
    .into()
}

fn policy(policy: &PolicyFacts) -> Value<'_> {
    let mut object = Object::from([
        ("digest", digest(&policy.digest)),
        ("quorum", policy.quorum.as_str().into()),
    ]);
    if let Some(contents) = &policy.contents {
        object.insert("logs", list(&contents.logs, policy_key));
        object.insert("witnesses", list(&contents.witnesses, policy_key));
        object.insert("groups", list(&contents.groups, policy_group));
    }
    object.into()
}

fn policy_key(key: &PolicyKey) -> Value<'_> {
    Object::from([
        ("name", Value::from(key.name.as_str())),
        ("vkey", key.vkey.as_str().into()),
        ("url", optional(key.url.as_deref())),
    ])
    .into()
}

fn policy_group(group: &PolicyGroup) -> Value<'_> {
    Object::from([
        ("name", Value::from(group.name.as_str())),
        ("threshold", unsigned(group.threshold)),
        ("members", list(&group.members, |member| member.as_str().into())),
    ])
    .into()
}

/// Which program wrote the report.
pub(crate) fn verifier() -> Value<'static> {
    Object::from([("name", env!("CARGO_PKG_NAME")), ("version", env!("CARGO_PKG_VERSION"))]).into()
}

/// An integer, or decimal text from 2^53 on, where JSON has no exact integers.
pub(super) fn unsigned(number: u64) -> Value<'static> {
    Value::try_from(number).unwrap_or_else(|_| number.to_string().into())
}

pub(super) fn digest(digest: &Digest) -> Value<'static> {
    digest.to_string().into()
}

pub(super) fn optional(text: Option<&str>) -> Value<'_> {
    text.map_or(Value::Null, Value::from)
}

pub(super) fn list<'a, T>(items: &'a [T], row: impl Fn(&'a T) -> Value<'a>) -> Value<'a> {
    items.iter().map(row).collect::<Vec<_>>().into()
}
