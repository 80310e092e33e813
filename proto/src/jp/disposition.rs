//! Dispositions (Core section 8.3): the closed result payload that a selection rule asks about.

use super::fault::{Faults, Rule};
use super::json::Value;

/// What a disposition concludes: all of it that a workflow compares.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "Core 0.2.0-draft has these kinds")]
pub enum Conclusion {
    /// `outcome`, with its id.
    Outcome(String),
    /// `unresolved`
    Unresolved,
    /// `not-applicable`
    NotApplicable,
}

/// The reasons of Core 0.2.0-draft, sorted.
pub const REASONS: [&str; 6] = [
    "conflict",
    "exception-escalation",
    "missing-required-evidence",
    "no-match",
    "not-applicable",
    "unknown",
];

impl Conclusion {
    /// Reads a disposition: `{kind, outcomeId?, reasons, handoff}`.
    ///
    /// `outcomeId` stands with an outcome only. Reasons are sorted and distinct, none for an outcome and at
    /// least one otherwise, exactly `not-applicable` for that kind. `handoff` is `{state}` or, when requested,
    /// has `triggeredBy`, a subset of the reasons.
    pub fn read(value: &Value<'_>, faults: &mut Faults) -> Option<Self> {
        let conclusion = Self::well_formed(value);
        if conclusion.is_none() {
            faults.note(Rule::Disposition, "not a disposition as Core section 8.3 has it");
        }
        conclusion
    }

    fn well_formed(value: &Value<'_>) -> Option<Self> {
        let object = value.as_object()?;
        let known = ["handoff", "kind", "outcomeId", "reasons"];
        if object.iter().any(|(name, _)| !known.contains(&name)) {
            return None;
        }
        let reasons = strings(object.get("reasons")?)?;
        let ascending = reasons.is_sorted_by(|one, two| one < two)
            && reasons.iter().all(|reason| REASONS.contains(reason));
        let outcome = object.get("outcomeId").map(Value::as_str);
        let conclusion = match (object.get("kind")?.as_str()?, outcome, reasons.as_slice()) {
            ("outcome", Some(Some(id)), []) if !id.is_empty() => Self::Outcome(id.to_owned()),
            ("unresolved", None, [_, ..]) => Self::Unresolved,
            ("not-applicable", None, ["not-applicable"]) => Self::NotApplicable,
            _ => return None,
        };
        let handoff = object.get("handoff")?.as_object()?;
        let triggers = handoff.get("triggeredBy");
        let members = 1 + usize::from(triggers.is_some());
        let requested = match (handoff.get("state")?.as_str()?, triggers) {
            ("requested", Some(triggers)) => {
                strings(triggers)?.iter().all(|trigger| reasons.contains(trigger))
            }
            ("none", None) => true,
            _ => false,
        };
        (ascending && requested && handoff.len() == members).then_some(conclusion)
    }
}

fn strings<'v>(value: &'v Value<'_>) -> Option<Vec<&'v str>> {
    value.as_array()?.iter().map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

    use super::*;
    use crate::jp::json::{Bounds, read};
    use crate::json::corpus_tests::corpus_file;

    fn conclusion(text: &str) -> Option<Conclusion> {
        let mut faults = Faults::new();
        let conclusion =
            Conclusion::read(&read(text.as_bytes(), &Bounds::FOREIGN).unwrap(), &mut faults);
        assert_eq!(
            conclusion.is_none(),
            faults.first().is_some_and(|f| f.rule == Rule::Disposition)
        );
        conclusion
    }

    #[test]
    fn what_is_a_disposition() {
        for (text, expected) in [
            (
                r#"{"handoff":{"state":"none"},"kind":"outcome","outcomeId":"go","reasons":[]}"#,
                Some(Conclusion::Outcome("go".into())),
            ),
            (
                r#"{"handoff":{"state":"requested","triggeredBy":["unknown"]},"kind":"unresolved","reasons":["conflict","unknown"]}"#,
                Some(Conclusion::Unresolved),
            ),
            (
                r#"{"handoff":{"state":"none"},"kind":"not-applicable","reasons":["not-applicable"]}"#,
                Some(Conclusion::NotApplicable),
            ),
            (r#"{"handoff":{"state":"none"},"kind":"outcome","reasons":[]}"#, None),
            (
                r#"{"handoff":{"state":"none"},"kind":"outcome","outcomeId":"go","reasons":["unknown"]}"#,
                None,
            ),
            (r#"{"handoff":{"state":"none"},"kind":"unresolved","reasons":[]}"#, None),
            (
                r#"{"handoff":{"state":"none"},"kind":"unresolved","reasons":["unknown","conflict"]}"#,
                None,
            ),
            (r#"{"handoff":{"state":"none"},"kind":"unresolved","reasons":["weather"]}"#, None),
            (
                r#"{"handoff":{"state":"none"},"kind":"unresolved","outcomeId":"go","reasons":["unknown"]}"#,
                None,
            ),
            (
                r#"{"handoff":{"state":"requested"},"kind":"unresolved","reasons":["unknown"]}"#,
                None,
            ),
            (
                r#"{"handoff":{"state":"requested","triggeredBy":["conflict"]},"kind":"unresolved","reasons":["unknown"]}"#,
                None,
            ),
            (
                r#"{"handoff":{"state":"none"},"kind":"unresolved","reasons":["unknown"],"trace":[]}"#,
                None,
            ),
            (
                r#"{"handoff":{"state":"none","x":1},"kind":"unresolved","reasons":["unknown"]}"#,
                None,
            ),
            (r#"{"kind":"unresolved","reasons":["unknown"]}"#, None),
            ("[]", None),
        ] {
            assert_eq!(conclusion(text), expected, "{text}");
        }
    }

    #[test]
    fn every_expected_disposition_of_core_is_one() {
        let Some(bytes) = corpus_file("judgment-pack/core/evaluation-manifest.json") else {
            return;
        };
        let manifest: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let cases = manifest["cases"].as_array().unwrap();
        let expected = cases.iter().filter_map(|case| case.get("expectedDisposition"));
        let read = expected.map(|disposition| conclusion(&disposition.to_string()).unwrap());
        assert!(read.count() >= 15);
    }
}
