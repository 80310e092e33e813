//! `anchorlog.drift/1`.

use super::super::drift::{Drift, OutcomeDrift, Side, StageDrift};
use super::super::projection::schema;
use super::DRIFT_SCHEMA;
use super::counts::{BOUNDS, by_id, bytes, contributors, number, read_contributors};
use crate::jp::canon::NoCanon;
use crate::jp::fault::{Fault, Faults, Rule};
use crate::jp::id::Id;
use crate::jp::json::{Fields, Object, Value, read_into};
use crate::json::MAX_INTEGER;

impl Drift {
    /// The canonical bytes.
    ///
    /// # Errors
    ///
    /// A difference beyond ±(2^53-1), which none of outputs that were read is.
    pub fn to_canonical(&self) -> Result<Vec<u8>, NoCanon> {
        bytes(Object::from([
            ("schema", DRIFT_SCHEMA.into()),
            ("driftVersion", number(2)),
            ("before", side_value(&self.before)),
            ("after", side_value(&self.after)),
            ("stages", self.stages.iter().map(stage_value).collect::<Vec<_>>().into()),
        ]))
    }

    /// Reads a drift, whatever its spelling; refusals in the order of RFC 0020's phases.
    pub fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let mut faults = Faults::new();
        let root = read_into(bytes, &BOUNDS, &mut faults);
        let read = root.and_then(|root| drift(&root, &mut faults));
        faults.settle(read)
    }
}

fn side_value(side: &Side) -> Value<'_> {
    Object::from([
        ("workflowDigest", side.workflow.into()),
        ("execution", side.execution.as_str().into()),
    ])
    .into()
}

fn stage_value(stage: &StageDrift) -> Value<'_> {
    let outcomes = stage.outcomes.iter().map(|(id, drift)| (id.as_str(), outcome_value(drift)));
    let [before, after] = stage.packs;
    Object::from([
        ("stage", stage.stage.as_str().into()),
        ("packDigests", Object::from([("before", before.into()), ("after", after.into())]).into()),
        ("unresolved", number(stage.unresolved)),
        ("not-applicable", number(stage.not_applicable)),
        ("byRule", Value::Object(outcomes.collect())),
    ])
    .into()
}

fn outcome_value(drift: &OutcomeDrift) -> Value<'_> {
    Object::from([
        ("records", number(drift.records)),
        ("fallback", number(drift.fallback)),
        ("contributors", contributors(|kind| drift.of(kind))),
    ])
    .into()
}

fn drift(root: &Value<'_>, faults: &mut Faults) -> Option<Drift> {
    let mut fields = Fields::new(root, "", faults)?;
    let named = schema(&mut fields, DRIFT_SCHEMA);
    let version = fields.version("driftVersion", 2);
    let before = fields.required("before");
    let after = fields.required("after");
    let listed = fields.array("stages");
    let closed = fields.finish();
    let before = side(before?, "/before", faults)?;
    let after = side(after?, "/after", faults)?;
    let mut stages: Vec<StageDrift> = Vec::new();
    for (at, value) in listed?.iter().enumerate() {
        let place = format!("/stages/{at}");
        let stage = stage(value, &place, faults)?;
        if stages.iter().any(|other| other.stage == stage.stage) {
            faults.note(Rule::Order, format_args!("{place}: the stage occurs twice"));
        }
        stages.push(stage);
    }
    named.and(version).and(closed)?;
    Some(Drift { before, after, stages })
}

fn side(value: &Value<'_>, place: &str, faults: &mut Faults) -> Option<Side> {
    let mut fields = Fields::new(value, place, faults)?;
    let workflow = fields.digest("workflowDigest");
    let execution: Option<Id> = fields.parsed("execution", "is no id");
    fields.finish()?;
    Some(Side { workflow: workflow?, execution: execution? })
}

fn stage(value: &Value<'_>, place: &str, faults: &mut Faults) -> Option<StageDrift> {
    let mut fields = Fields::new(value, place, faults)?;
    let stage = fields.parsed("stage", "is no id");
    let packs = fields.required("packDigests");
    let unresolved = difference(&mut fields, "unresolved");
    let not_applicable = difference(&mut fields, "not-applicable");
    let outcomes = fields.required("byRule");
    fields.finish()?;
    let mut fields = Fields::new(packs?, format_args!("{place}/packDigests"), faults)?;
    let before = fields.nullable_digest("before");
    let after = fields.nullable_digest("after");
    fields.finish()?;
    let packs = [before?, after?];
    if packs == [None, None] {
        faults.note(Rule::Form, format_args!("{place}/packDigests: on one side at least"));
        return None;
    }
    let outcomes = by_id(outcomes?, &format!("{place}/byRule"), faults, outcome)?;
    Some(StageDrift {
        stage: stage?,
        packs,
        unresolved: unresolved?,
        not_applicable: not_applicable?,
        outcomes,
    })
}

fn outcome(value: &Value<'_>, place: &str, faults: &mut Faults) -> Option<OutcomeDrift> {
    let mut fields = Fields::new(value, place, faults)?;
    let records = difference(&mut fields, "records");
    let fallback = difference(&mut fields, "fallback");
    let listed = fields.required("contributors");
    fields.finish()?;
    let listed_place = format!("{place}/contributors");
    let some = |count: i64| (count != 0).then_some(count);
    let [forcing, rules] = read_contributors(listed?, &listed_place, faults, some)?;
    let drift = OutcomeDrift { records: records?, fallback: fallback?, forcing, rules };
    if drift.is_zero() {
        faults.note(Rule::Form, format_args!("{place}: nothing differs, so it is not listed"));
        return None;
    }
    Some(drift)
}

fn difference(fields: &mut Fields<'_, '_, '_>, name: &'static str) -> Option<i64> {
    fields.integer(name, -MAX_INTEGER, MAX_INTEGER)
}
