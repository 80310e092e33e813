//! Reading a trace: every entry in one of the contract's shapes, all in its order.

use std::collections::BTreeSet;

use super::{RecordedTrace, RuleVerdict, Traced, TracedEffect, TracedResult, Verdict};
use crate::jp::core_pack::{CoreId, Disposition, OnUnknown, SPEC_VERSION};
use crate::jp::fault::{Faults, Rule};
use crate::jp::json::{Fields, Value};

/// The version of the Runtime's results whose trace is read.
const OUTPUT_VERSION: &str = "2";

impl TracedResult {
    /// Reads the result of an evaluation, which stands at `place`.
    ///
    /// What is wrong is noted with its place: a version that is not read, no disposition, or an entry of the trace
    /// that has none of its shapes or is out of its order.
    pub fn read(value: &Value<'_>, place: &str, faults: &mut Faults) -> Option<Self> {
        let mut fields = Fields::new(value, place, faults)?;
        let output = selector(&mut fields, "outputVersion", OUTPUT_VERSION);
        let evaluator = selector(&mut fields, "evaluatorSpecVersion", SPEC_VERSION);
        let disposition = fields.required("disposition");
        let entries = fields.array("trace");
        let place_of = |name: &str| format!("{place}/{name}");
        let disposition = disposition
            .and_then(|value| Disposition::read(value, &place_of("disposition"), faults));
        let trace = entries.and_then(|entries| trace(entries, &place_of("trace"), faults));
        output.and(evaluator)?;
        Some(Self { disposition: disposition?, trace: trace? })
    }
}

fn selector(fields: &mut Fields<'_, '_, '_>, name: &'static str, read: &str) -> Option<()> {
    match fields.required(name)?.as_str() {
        Some(version) if version == read => Some(()),
        Some(_) => {
            fields.note(Rule::Version, name, "is a version that is not read");
            None
        }
        None => fields.wrong(name, "is no version"),
    }
}

/// The stages, in the order in which an evaluation reaches them.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
enum Stage {
    Applicability,
    Exception,
    Rule,
}

fn trace(entries: &[Value<'_>], place: &str, faults: &mut Faults) -> Option<RecordedTrace> {
    let mut trace = RecordedTrace::default();
    let mut seen: BTreeSet<(Stage, CoreId)> = BTreeSet::new();
    let mut reached = None;
    for (at, value) in entries.iter().enumerate() {
        let mut fields = Fields::new(value, format_args!("{place}/{at}"), faults)?;
        let stage = fields.one_of("stage", |word| match word {
            "applicability" => Some(Stage::Applicability),
            "exception" => Some(Stage::Exception),
            "rule" => Some(Stage::Rule),
            _ => None,
        })?;
        let again = stage == Stage::Applicability && reached.is_some();
        if again || reached.is_some_and(|last| last > stage) {
            return fields.wrong("stage", "comes after one that it comes before");
        }
        reached = Some(stage);
        match stage {
            // Its id is not looked at: older versions write an empty one.
            Stage::Applicability => {
                let verdict = applicability(&mut fields)?;
                trace.applicability = Some(verdict);
            }
            Stage::Exception => {
                let id = once(&mut fields, stage, &mut seen)?;
                let verdict = exception(&mut fields)?;
                trace.exceptions.push(Traced { id, verdict });
            }
            Stage::Rule => {
                let id = once(&mut fields, stage, &mut seen)?;
                let verdict = rule(&mut fields)?;
                let skipped = verdict == RuleVerdict::Skipped;
                let first = trace.rules.first();
                if first.is_some_and(|rule| skipped != (rule.verdict == RuleVerdict::Skipped)) {
                    return fields.wrong("skipped", "is not the same for all rules");
                }
                trace.rules.push(Traced { id, verdict });
            }
        }
    }
    Some(trace)
}

fn once(
    fields: &mut Fields<'_, '_, '_>,
    stage: Stage,
    seen: &mut BTreeSet<(Stage, CoreId)>,
) -> Option<CoreId> {
    let id: CoreId = fields.parsed("id", "is no id")?;
    if seen.insert((stage, id.clone())) {
        Some(id)
    } else {
        fields.wrong("id", "has an entry already")
    }
}

fn applicability(fields: &mut Fields<'_, '_, '_>) -> Option<Verdict<()>> {
    absent(fields, &["effect", "outcome", "suppressed", "skipped", "onUnknown"])?;
    match condition(fields)? {
        Condition::True => Some(Verdict::True(())),
        Condition::False => Some(Verdict::False),
        Condition::Unknown => Some(Verdict::Unknown(None)),
        Condition::NotEvaluated => fields.wrong("condition", "is not one of its values"),
    }
}

fn exception(fields: &mut Fields<'_, '_, '_>) -> Option<Verdict<TracedEffect>> {
    absent(fields, &["suppressed", "skipped"])?;
    match condition(fields)? {
        Condition::True => {
            absent(fields, &["onUnknown"])?;
            effect(fields).map(Verdict::True)
        }
        Condition::False => {
            absent(fields, &["effect", "outcome", "onUnknown"])?;
            Some(Verdict::False)
        }
        Condition::Unknown => {
            absent(fields, &["effect", "outcome"])?;
            on_unknown(fields).map(|what| Verdict::Unknown(Some(what)))
        }
        Condition::NotEvaluated => fields.wrong("condition", "is not one of its values"),
    }
}

fn rule(fields: &mut Fields<'_, '_, '_>) -> Option<RuleVerdict> {
    absent(fields, &["effect"])?;
    let condition = condition(fields)?;
    if condition != Condition::NotEvaluated {
        absent(fields, &["suppressed", "skipped"])?;
    }
    match condition {
        Condition::True => {
            absent(fields, &["onUnknown"])?;
            let outcome = fields.parsed("outcome", "is no id")?;
            Some(RuleVerdict::Evaluated(Verdict::True(outcome)))
        }
        Condition::False => {
            absent(fields, &["outcome", "onUnknown"])?;
            Some(RuleVerdict::Evaluated(Verdict::False))
        }
        Condition::Unknown => {
            absent(fields, &["outcome"])?;
            on_unknown(fields).map(|what| RuleVerdict::Evaluated(Verdict::Unknown(Some(what))))
        }
        Condition::NotEvaluated => {
            absent(fields, &["outcome", "onUnknown"])?;
            match (flag(fields, "skipped")?, flag(fields, "suppressed")?) {
                (true, false) => Some(RuleVerdict::Skipped),
                (false, true) => Some(RuleVerdict::Suppressed),
                _ => fields.wrong("condition", "is not-evaluated, and neither or both say why"),
            }
        }
    }
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Condition {
    True,
    False,
    Unknown,
    NotEvaluated,
}

fn condition(fields: &mut Fields<'_, '_, '_>) -> Option<Condition> {
    fields.one_of("condition", |word| match word {
        "true" => Some(Condition::True),
        "false" => Some(Condition::False),
        "unknown" => Some(Condition::Unknown),
        "not-evaluated" => Some(Condition::NotEvaluated),
        _ => None,
    })
}

fn effect(fields: &mut Fields<'_, '_, '_>) -> Option<TracedEffect> {
    let effect = fields.one_of("effect", |word| match word {
        "force-outcome" => Some(None),
        "suppress-rule" => Some(Some(TracedEffect::SuppressRule)),
        "escalate" => Some(Some(TracedEffect::Escalate)),
        _ => None,
    })?;
    match effect {
        None => fields.parsed("outcome", "is no id").map(TracedEffect::ForceOutcome),
        Some(effect) => absent(fields, &["outcome"]).map(|()| effect),
    }
}

fn on_unknown(fields: &mut Fields<'_, '_, '_>) -> Option<OnUnknown> {
    fields.one_of("onUnknown", |word| match word {
        "ignore" => Some(OnUnknown::Ignore),
        "escalate" => Some(OnUnknown::Escalate),
        _ => None,
    })
}

/// A member that is true or absent.
fn flag(fields: &mut Fields<'_, '_, '_>, name: &'static str) -> Option<bool> {
    match fields.optional(name).map(Value::as_bool) {
        None => Some(false),
        Some(Some(true)) => Some(true),
        Some(_) => fields.wrong(name, "is there and not true"),
    }
}

/// Members that an entry of this shape has not.
fn absent(fields: &mut Fields<'_, '_, '_>, names: &[&'static str]) -> Option<()> {
    match names.iter().find(|name| fields.optional(name).is_some()) {
        Some(name) => fields.wrong(name, "is there, which it isn't in an entry of this shape"),
        None => Some(()),
    }
}
