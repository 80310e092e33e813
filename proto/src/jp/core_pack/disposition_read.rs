//! Reading a recorded disposition (Core section 8.3), strictly.

use std::collections::BTreeSet;

use super::disposition::{Disposition, DispositionKind, Reason};
use crate::jp::fault::{Fault, Faults, Rule};
use crate::jp::json::{Fields, Value};

impl Disposition {
    /// Reads a disposition, which stands at `place`; what is wrong is noted under
    /// [`Rule::Disposition`].
    ///
    /// Both sets must be sorted and free of repeats, as Core serialises them.
    pub fn read(value: &Value<'_>, place: &str, faults: &mut Faults) -> Option<Self> {
        let mut own = Faults::new();
        let read = read(value, place, &mut own);
        // Whatever is wrong with it is one thing: it has not the form of a disposition.
        if let Some(fault) = own.first() {
            faults.push(Fault::new(Rule::Disposition, &fault.detail));
            return None;
        }
        if read.is_none() {
            faults.note(Rule::Disposition, format_args!("{place}: not a disposition of Core"));
        }
        read
    }
}

fn read(value: &Value<'_>, place: &str, faults: &mut Faults) -> Option<Disposition> {
    let mut fields = Fields::new(value, place, faults)?;
    let kind = fields.one_of("kind", |word| {
        use DispositionKind::{NotApplicable, Outcome, Unresolved};
        [Outcome, NotApplicable, Unresolved].into_iter().find(|kind| kind.as_str() == word)
    });
    let outcome = match kind {
        Some(DispositionKind::Outcome) => fields.parsed("outcomeId", "is no id"),
        _ => None,
    };
    let reasons = fields.array("reasons").and_then(reasons);
    let handoff = fields.required("handoff");
    fields.finish()?;
    let (kind, reasons) = (kind?, reasons?);
    let triggered_by = handoff_of(handoff?, place, faults)?;
    match kind {
        DispositionKind::Outcome if reasons.is_empty() && triggered_by.is_empty() => {
            outcome.map(Disposition::outcome)
        }
        DispositionKind::NotApplicable if reasons == BTreeSet::from([Reason::NotApplicable]) => {
            let requested = !triggered_by.is_empty();
            triggered_by.is_subset(&reasons).then(|| Disposition::not_applicable(requested))
        }
        DispositionKind::Unresolved => Disposition::unresolved(reasons, triggered_by).ok(),
        _ => None,
    }
}

fn handoff_of(value: &Value<'_>, place: &str, faults: &mut Faults) -> Option<BTreeSet<Reason>> {
    let mut fields = Fields::new(value, format_args!("{place}/handoff"), faults)?;
    let requested = fields.one_of("state", |word| match word {
        "requested" => Some(true),
        "none" => Some(false),
        _ => None,
    })?;
    let triggered_by = if requested {
        fields.array("triggeredBy").and_then(reasons).filter(|reasons| !reasons.is_empty())
    } else {
        Some(BTreeSet::new())
    };
    fields.finish()?;
    triggered_by
}

/// A set, serialised as Core does: ascending, each once.
fn reasons(elements: &[Value<'_>]) -> Option<BTreeSet<Reason>> {
    let all: Vec<Reason> =
        elements.iter().map(|one| one.as_str()?.parse().ok()).collect::<Option<_>>()?;
    all.windows(2).all(|pair| pair.is_sorted_by(|a, b| a < b)).then(|| all.into_iter().collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::jp::json::{Bounds, read as read_json};

    fn disposition(text: &str) -> Result<Disposition, Rule> {
        let value = read_json(text.as_bytes(), &Bounds::FOREIGN).unwrap();
        let mut faults = Faults::new();
        let read = Disposition::read(&value, "", &mut faults);
        faults.settle(read).map_err(|fault| fault.rule)
    }

    #[test]
    fn what_is_written_is_read() {
        for text in [
            r#"{"handoff":{"state":"none"},"kind":"outcome","outcomeId":"proceed","reasons":[]}"#,
            r#"{"handoff":{"state":"none"},"kind":"not-applicable","reasons":["not-applicable"]}"#,
            r#"{"handoff":{"state":"requested","triggeredBy":["not-applicable"]},"kind":"not-applicable","reasons":["not-applicable"]}"#,
            r#"{"handoff":{"state":"requested","triggeredBy":["conflict"]},"kind":"unresolved","reasons":["conflict","unknown"]}"#,
        ] {
            assert_eq!(String::from_utf8(disposition(text).unwrap().to_canonical()).unwrap(), text);
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "[]",
            "{}",
            r#"{"handoff":{"state":"none"},"kind":"outcome","reasons":[]}"#,
            r#"{"handoff":{"state":"none"},"kind":"outcome","outcomeId":null,"reasons":[]}"#,
            r#"{"handoff":{"state":"none"},"kind":"outcome","outcomeId":"A","reasons":[]}"#,
            r#"{"handoff":{"state":"none"},"kind":"outcome","outcomeId":"a","reasons":["unknown"]}"#,
            r#"{"handoff":{"state":"none"},"kind":"unresolved","outcomeId":"a","reasons":["unknown"]}"#,
            r#"{"handoff":{"state":"none"},"kind":"unresolved","reasons":[]}"#,
            r#"{"handoff":{"state":"none"},"kind":"unresolved","reasons":["not-applicable"]}"#,
            r#"{"handoff":{"state":"none"},"kind":"unresolved","reasons":["unknown","conflict"]}"#,
            r#"{"handoff":{"state":"none"},"kind":"unresolved","reasons":["unknown","unknown"]}"#,
            r#"{"handoff":{"state":"none"},"kind":"unresolved","reasons":["other"]}"#,
            r#"{"handoff":{"state":"none"},"kind":"not-applicable","reasons":["unknown"]}"#,
            r#"{"handoff":{"state":"none","triggeredBy":[]},"kind":"unresolved","reasons":["unknown"]}"#,
            r#"{"handoff":{"state":"requested","triggeredBy":[]},"kind":"unresolved","reasons":["unknown"]}"#,
            r#"{"handoff":{"state":"requested"},"kind":"unresolved","reasons":["unknown"]}"#,
            r#"{"handoff":{"state":"requested","triggeredBy":["conflict"]},"kind":"unresolved","reasons":["unknown"]}"#,
            r#"{"handoff":{"state":"none"},"kind":"unresolved","reasons":["unknown"],"trace":[]}"#,
        ] {
            assert_eq!(disposition(text), Err(Rule::Disposition), "{text}");
        }
    }
}
