//! `anchorlog.summary/1`.

use super::super::projection::schema;
use super::super::tally::{OutcomeTally, StageTally, Summary};
use super::SUMMARY_SCHEMA;
use super::counts::{BOUNDS, by_id, bytes, contributors, number, read_contributors};
use crate::jp::canon::NoCanon;
use crate::jp::fault::{Fault, Faults, Rule};
use crate::jp::json::{Fields, Object, Value, read_into};
use crate::json::MAX_INTEGER;

impl Summary {
    /// The canonical bytes.
    ///
    /// # Errors
    ///
    /// A count beyond 2^53-1, which no count of outputs that were read is.
    pub fn to_canonical(&self) -> Result<Vec<u8>, NoCanon> {
        bytes(Object::from([
            ("schema", SUMMARY_SCHEMA.into()),
            ("summaryVersion", number(2)),
            ("workflowDigest", self.workflow.into()),
            ("execution", self.execution.as_str().into()),
            ("stages", self.stages.iter().map(stage_value).collect::<Vec<_>>().into()),
        ]))
    }

    /// Reads a summary, whatever its spelling.
    ///
    /// # Errors
    ///
    /// In the order of RFC 0020's phases. Counts that break an invariant are read: who compares them finds
    /// that.
    pub fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let mut faults = Faults::new();
        let root = read_into(bytes, &BOUNDS, &mut faults);
        let read = root.and_then(|root| summary(&root, &mut faults));
        faults.settle(read)
    }
}

fn stage_value(stage: &StageTally) -> Value<'_> {
    let outcomes = stage.outcomes.iter().map(|(id, tally)| (id.as_str(), tally_value(tally)));
    let records = Object::from([
        ("outcome", number(stage.outcome_records().unwrap_or(u64::MAX))),
        ("unresolved", number(stage.unresolved)),
        ("not-applicable", number(stage.not_applicable)),
    ]);
    Object::from([
        ("stage", stage.stage.as_str().into()),
        ("packDigest", stage.pack.into()),
        ("outputSetDigest", stage.set.into()),
        ("records", records.into()),
        ("byRule", Value::Object(outcomes.collect())),
    ])
    .into()
}

fn tally_value(tally: &OutcomeTally) -> Value<'_> {
    Object::from([
        ("records", number(tally.records)),
        ("fallback", number(tally.fallback)),
        ("contributors", contributors(|kind| tally.of(kind))),
    ])
    .into()
}

fn summary(root: &Value<'_>, faults: &mut Faults) -> Option<Summary> {
    let mut fields = Fields::new(root, "", faults)?;
    let named = schema(&mut fields, SUMMARY_SCHEMA);
    let version = fields.version("summaryVersion", 2);
    let workflow = fields.digest("workflowDigest");
    let execution = fields.parsed("execution", "is no id");
    let listed = fields.array("stages");
    let closed = fields.finish();
    let mut stages: Vec<StageTally> = Vec::new();
    for (at, value) in listed?.iter().enumerate() {
        let place = format!("/stages/{at}");
        let stage = stage(value, &place, faults)?;
        if stages.iter().any(|other| other.stage == stage.stage) {
            faults.note(Rule::Order, format_args!("{place}: the stage occurs twice"));
        }
        stages.push(stage);
    }
    named.and(version).and(closed)?;
    Some(Summary::new(workflow?, execution?, stages))
}

fn stage(value: &Value<'_>, place: &str, faults: &mut Faults) -> Option<StageTally> {
    let mut fields = Fields::new(value, place, faults)?;
    let id = fields.parsed("stage", "is no id");
    let pack = fields.digest("packDigest");
    let set = fields.digest("outputSetDigest");
    let records = fields.required("records");
    let outcomes = fields.required("byRule");
    fields.finish()?;
    let mut fields = Fields::new(records?, format_args!("{place}/records"), faults)?;
    let outcome = count(&mut fields, "outcome");
    let unresolved = count(&mut fields, "unresolved");
    let not_applicable = count(&mut fields, "not-applicable");
    fields.finish()?;
    let mut tally = StageTally::new(id?, pack?, set?, []);
    tally.outcomes = by_id(outcomes?, &format!("{place}/byRule"), faults, outcome_tally)?;
    tally.unresolved = unresolved?;
    tally.not_applicable = not_applicable?;
    if tally.outcome_records() != Some(outcome?) {
        let what = "is not the sum of the outcomes' records";
        faults.note(Rule::Form, format_args!("{place}/records/outcome {what}"));
        return None;
    }
    Some(tally)
}

fn outcome_tally(value: &Value<'_>, place: &str, faults: &mut Faults) -> Option<OutcomeTally> {
    let mut fields = Fields::new(value, place, faults)?;
    let records = count(&mut fields, "records");
    let fallback = count(&mut fields, "fallback");
    let listed = fields.required("contributors");
    fields.finish()?;
    let positive = |count: i64| u64::try_from(count).ok().filter(|count| *count > 0);
    let place = format!("{place}/contributors");
    let [forcing, rules] = read_contributors(listed?, &place, faults, positive)?;
    Some(OutcomeTally { records: records?, fallback: fallback?, forcing, rules })
}

fn count(fields: &mut Fields<'_, '_, '_>, name: &'static str) -> Option<u64> {
    u64::try_from(fields.integer(name, 0, MAX_INTEGER)?).ok()
}
