//! What changed between two reports.

use core::fmt::Write as _;
use std::collections::BTreeMap;

use anchorlog_proto::json::{JsonCode, JsonError, Object, ReadLimits, Value, canonical, parse};

use super::REPORT_SCHEMA;

/// The largest report that is read, in bytes.
pub const MAX_REPORT_BYTES: usize = 64 << 20;

/// The differences of two reports, in a fixed order.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ReportDiff {
    /// Members that differ, with both values as canonical JSON: (name, old, new). Members of `rules` stand
    /// as `rules/R3`.
    pub members: Vec<(String, String, String)>,
    /// Findings that only the old report has, as canonical JSON.
    pub gone: Vec<String>,
    /// Findings that only the new report has, as canonical JSON.
    pub new: Vec<String>,
}

impl ReportDiff {
    /// Whether the reports say the same.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.members.is_empty() && self.gone.is_empty() && self.new.is_empty()
    }

    /// The canonical JSON form.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        let member = |(name, old, new): &(String, String, String)| {
            Value::from(Object::from([
                ("member", Value::from(name.clone())),
                ("old", old.clone().into()),
                ("new", new.clone().into()),
            ]))
        };
        let list = |texts: &[String]| -> Value<'static> {
            texts.iter().map(|text| Value::from(text.clone())).collect::<Vec<_>>().into()
        };
        let object = Object::from([
            ("schema", Value::from("gad.report-diff/1")),
            ("members", self.members.iter().map(member).collect::<Vec<_>>().into()),
            ("findings_gone", list(&self.gone)),
            ("findings_new", list(&self.new)),
        ]);
        canonical(&object.into())
    }

    /// One line per difference, for people.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for (name, old, new) in &self.members {
            // Writing to a String can't fail.
            let _ = writeln!(text, "{name}: {old} -> {new}");
        }
        for finding in &self.gone {
            let _ = writeln!(text, "- {finding}");
        }
        for finding in &self.new {
            let _ = writeln!(text, "+ {finding}");
        }
        text
    }
}

/// Compares two reports in their JSON form.
///
/// # Errors
///
/// [`JsonError`] when one of them isn't JSON, or no `gad.report/1` (J.ENUM at /schema).
pub fn diff(old: &[u8], new: &[u8]) -> Result<ReportDiff, JsonError> {
    let limits = ReadLimits::DEFAULT.with_bytes(MAX_REPORT_BYTES);
    let (old, new) = (parse(old, &limits)?, parse(new, &limits)?);
    let (old, new) = (report(&old)?, report(&new)?);
    let mut difference = ReportDiff::default();
    compare(old, new, "", &mut difference);
    let (before, after) = (findings(old), findings(new));
    for (finding, count) in &before {
        let left = count.saturating_sub(after.get(finding).copied().unwrap_or(0));
        difference.gone.extend(core::iter::repeat_n(finding.clone(), left));
    }
    for (finding, count) in &after {
        let left = count.saturating_sub(before.get(finding).copied().unwrap_or(0));
        difference.new.extend(core::iter::repeat_n(finding.clone(), left));
    }
    Ok(difference)
}

fn report<'v>(value: &'v Value<'v>) -> Result<&'v Object<'v>, JsonError> {
    let object = value.as_object().ok_or_else(|| JsonError::at(JsonCode::Type, ""))?;
    match object.get("schema").and_then(Value::as_str) {
        Some(REPORT_SCHEMA) => Ok(object),
        _ => Err(JsonError::at(JsonCode::Enum, "/schema")),
    }
}

/// Members that differ, but the findings; `rules` one by one.
fn compare(old: &Object<'_>, new: &Object<'_>, prefix: &str, difference: &mut ReportDiff) {
    let mut names: Vec<&str> = old.iter().chain(new.iter()).map(|(name, _)| name).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let (before, after) = (old.get(name), new.get(name));
        if name == "findings" || before == after {
            continue;
        }
        let nested = name == "rules" && prefix.is_empty();
        if let (true, Some(Value::Object(before)), Some(Value::Object(after))) =
            (nested, before, after)
        {
            compare(before, after, "rules/", difference);
        } else {
            difference.members.push((format!("{prefix}{name}"), shown(before), shown(after)));
        }
    }
}

fn findings(report: &Object<'_>) -> BTreeMap<String, usize> {
    let mut counted = BTreeMap::new();
    let list = report.get("findings").and_then(Value::as_array).unwrap_or_default();
    for finding in list {
        *counted.entry(shown(Some(finding))).or_insert(0) += 1;
    }
    counted
}

fn shown(value: Option<&Value<'_>>) -> String {
    value.map_or_else(String::new, |value| String::from_utf8_lossy(&canonical(value)).into_owned())
}
