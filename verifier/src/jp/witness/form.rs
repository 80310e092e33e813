//! The two forms of a report: `anchorlog.audit-trail-report/1`, and text for people.
//!
//! Every member is always there; what does not apply is `null` or empty. Equal inputs give equal bytes.

use core::fmt::Write as _;

use anchorlog_proto::json::{Object, Value, canonical};

use super::claims::{established, not_established};
use super::reader::Outcome;
use super::reading::Reading;
use super::records::Held;
use super::report::{Coverage, Report};
use crate::report::json::{finding, verifier};

/// The schema name of the JSON form.
pub const SCHEMA: &str = "anchorlog.audit-trail-report/1";

impl Report {
    /// The canonical JSON form, without a newline at its end.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        let keys = self.keys.iter().map(|key| Value::from(key.to_string()));
        let findings = self.findings();
        let findings: Vec<_> = findings.iter().map(finding).collect();
        let object = Object::from([
            ("schema", Value::from(SCHEMA)),
            ("command", COMMAND.into()),
            ("verdict", self.verdict().as_str().into()),
            ("refusal", self.refusal.as_ref().map_or(Value::Null, finding)),
            ("findings", findings.into()),
            ("findings_omitted", number(self.omitted())),
            ("trail", self.trail.to_string().into()),
            ("keys", keys.collect::<Vec<_>>().into()),
            ("chain", self.chain.as_ref().map_or(Value::Null, chain)),
            ("records", self.records.as_ref().map_or(Value::Null, records)),
            ("holder_checkpoints", self.holder.map_or(Value::Null, count)),
            ("countersigned", coverage(self.countersigned())),
            ("witnessed", coverage(self.witnessed())),
            ("required_through", optional(self.required)),
            ("establishes", texts(established(self))),
            ("does_not_establish", texts(not_established(self))),
            ("verifier", verifier()),
        ]);
        canonical(&object.into())
    }

    /// The short form for people: what follows the verdict and the findings.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::from("\n");
        let mut line = |name: &str, value: &str| {
            // Writing to a String can't fail.
            let _ = writeln!(text, "  {name:<14} {value}");
        };
        line("trail", &self.trail.to_string());
        if let Some(reading) = self.chain.as_ref().and_then(|chain| chain.reading.as_ref()) {
            describe(reading, &mut line);
        }
        if let Some(records) = &self.records {
            let Held { checked, lines, .. } = records;
            line("records", &format!("lines 1 to {checked} checked, of {lines}"));
        }
        if self.chain.is_some() {
            line("countersigned", &in_words(self.countersigned()));
        }
        if self.holder.is_some() {
            line("witnessed", &in_words(self.witnessed()));
        }
        if self.omitted() > 0 {
            line("more findings", &self.omitted().to_string());
        }
        for (title, claims) in
            [("established", established(self)), ("not established", not_established(self))]
        {
            if !claims.is_empty() {
                let _ = writeln!(text, "\n{title}:");
            }
            for claim in claims {
                let _ = writeln!(text, "  - {claim}");
            }
        }
        text
    }
}

fn describe(reading: &Reading, line: &mut impl FnMut(&str, &str)) {
    let highest = reading.highest_index();
    let from = reading.continued_after().map_or(0, |after| after.saturating_add(1));
    let span = if from > highest {
        format!("nothing after index {highest}")
    } else {
        format!("index {from} to {highest}")
    };
    let head = reading.head_index().map_or(String::new(), |head| format!(", head at {head}"));
    line("reading", &format!("{}: {span}{head}", reading.kind().as_str()));
    let latest = reading.latest_checkpoint().body();
    let (sequence, at) = (latest.checkpoint.sequence, latest.witnessed_at);
    let clock = "by the witness' clock";
    line("latest", &format!("record {sequence}, index {}, {at} {clock}", latest.index));
    if !reading.conflicts().is_empty() {
        let conflicts: Vec<_> = reading.conflicts().iter().take(20).map(u64::to_string).collect();
        let more = reading.conflicts().len().saturating_sub(conflicts.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        line("conflicts", &format!("at record {}{more}", conflicts.join(", ")));
    }
    if reading.is_retired() {
        line("retired", "the witness takes nothing more for this trail");
    }
}

fn in_words(coverage: Coverage) -> String {
    match coverage {
        Coverage::NotChecked => "not checked".to_owned(),
        Coverage::Failed => "nothing: the chain does not hold".to_owned(),
        Coverage::None => "no record".to_owned(),
        Coverage::Through(line) => format!("records 1 to {line}"),
    }
}

fn chain(outcome: &Outcome) -> Value<'_> {
    let faults = outcome.faults.iter().map(|fault| Value::from(fault.as_str()));
    Object::from([
        ("statement_lines", count(outcome.lines)),
        ("statements", count(outcome.statements)),
        ("faults", faults.collect::<Vec<_>>().into()),
        ("reading", outcome.reading.as_ref().map_or(Value::Null, reading)),
    ])
    .into()
}

fn reading(reading: &Reading) -> Value<'_> {
    let latest = reading.latest_checkpoint().body();
    let latest = Object::from([
        ("index", number(latest.index)),
        ("sequence", number(latest.checkpoint.sequence)),
        ("record_digest", latest.checkpoint.record_digest.to_string().into()),
        ("witnessed_at", latest.witnessed_at.to_string().into()),
    ]);
    let conflicts: Vec<_> = reading.conflicts().iter().copied().map(number).collect();
    Object::from([
        ("kind", Value::from(reading.kind().as_str())),
        ("continued_after", optional(reading.continued_after())),
        ("head_index", optional(reading.head_index())),
        ("highest_index", number(reading.highest_index())),
        ("latest_checkpoint", latest.into()),
        ("conflicts", conflicts.into()),
        ("retired", reading.is_retired().into()),
    ])
    .into()
}

fn records(held: &Held) -> Value<'_> {
    let faults = held.faults.iter().map(|fault| Value::from(fault.as_str()));
    Object::from([
        ("lines", number(held.lines)),
        ("incomplete_bytes", number(held.incomplete)),
        ("checked_through", number(held.checked)),
        ("legacy", number(held.legacy)),
        ("chained", number(held.chained)),
        ("unchained", number(held.unchained)),
        ("damaged", number(held.damaged)),
        ("faults", faults.collect::<Vec<_>>().into()),
    ])
    .into()
}

fn coverage(coverage: Coverage) -> Value<'static> {
    let row =
        [("state", Value::from(coverage.as_str())), ("through", optional(coverage.through()))];
    Object::from(row).into()
}

fn texts(texts: Vec<String>) -> Value<'static> {
    texts.into_iter().map(Value::from).collect::<Vec<_>>().into()
}

fn optional(value: Option<u64>) -> Value<'static> {
    value.map_or(Value::Null, number)
}

fn count(value: usize) -> Value<'static> {
    number(u64::try_from(value).unwrap_or(u64::MAX))
}

fn number(value: u64) -> Value<'static> {
    Value::try_from(value).unwrap_or_else(|_| value.to_string().into())
}

/// The command of the report.
pub const COMMAND: &str = "witness";
