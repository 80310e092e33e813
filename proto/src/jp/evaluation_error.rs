//! Retained evaluation-error envelopes (RFC 0020 section 7, Core section 8.4).

use super::fault::{Faults, Rule};
use super::json::{Bounds, Value, read_into};

/// What a retained envelope says: the evaluation failed with this class.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct EvaluationError {
    /// The class of Core section 8.4, or a reverse-domain class of an implementation.
    pub class: String,
}

impl EvaluationError {
    /// Reads an envelope: one strict JSON object of output version 2 of `experimental evaluate`, with status
    /// `error` or `unsupported`, no disposition, and `evaluationError` exactly `{class, phase,
    /// evaluatorSpecVersion}`. The rest of it (tool, diagnostics) changes nothing and isn't asked about.
    pub fn read(bytes: &[u8], faults: &mut Faults) -> Option<Self> {
        let document = read_into(bytes, &Bounds::EVALUATION_ERROR, faults)?;
        let error = well_formed(&document);
        if error.is_none() {
            faults.note(Rule::Envelope, "not an evaluation-error envelope");
        }
        error
    }
}

fn well_formed(document: &Value<'_>) -> Option<EvaluationError> {
    let text = |name| document.get(name).and_then(Value::as_str);
    let unsupported = match text("status")? {
        "error" => false,
        "unsupported" => true,
        _ => return None,
    };
    let is_evaluate = text("outputVersion")? == "2" && text("command")? == "experimental evaluate";
    if !is_evaluate || document.get("disposition").is_some() {
        return None;
    }
    let error = document.get("evaluationError")?.as_object()?;
    let class = error.get("class")?.as_str()?;
    let phase = error.get("phase")?.as_str()?;
    let specification = error.get("evaluatorSpecVersion")?.as_str()?;
    let phase_fits = match class {
        "pack-not-conformant" | "malformed-input" | UNSUPPORTED => phase == "preflight",
        "resource-exhaustion" => phase == "evaluation",
        other => other.contains('.') && ["preflight", "evaluation"].contains(&phase),
    };
    let fits = error.len() == 3
        && specification == "0.2.0-draft"
        && phase_fits
        && (!unsupported || class == UNSUPPORTED);
    fits.then(|| EvaluationError { class: class.to_owned() })
}

const UNSUPPORTED: &str = "unsupported-required-extension";

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"outputVersion":"2","tool":{"name":"jpack","version":"0.34.0"},"command":"experimental evaluate","status":"error","evaluationError":{"class":"resource-exhaustion","phase":"evaluation","evaluatorSpecVersion":"0.2.0-draft"},"diagnostics":[]}
"#;

    fn reads(text: &str) -> bool {
        let mut faults = Faults::new();
        let read = EvaluationError::read(text.as_bytes(), &mut faults).is_some();
        assert_eq!(read, faults.is_empty());
        read
    }

    #[test]
    fn one_thing_changed_at_a_time() {
        assert!(reads(GOOD));
        for (from, to, expected) in [
            (
                "resource-exhaustion\",\"phase\":\"evaluation",
                "malformed-input\",\"phase\":\"preflight",
                true,
            ),
            ("resource-exhaustion", "org.example.odd", true),
            ("resource-exhaustion", "malformed-input", false),
            ("resource-exhaustion", "odd", false),
            ("\"outputVersion\":\"2\"", "\"outputVersion\":2", false),
            ("experimental evaluate", "evaluate", false),
            ("\"status\":\"error\"", "\"status\":\"evaluated\"", false),
            ("\"status\":\"error\"", "\"status\":\"unsupported\"", false),
            ("\"diagnostics\"", "\"disposition\"", false),
            ("0.2.0-draft", "0.1.0", false),
            ("\"phase\"", "\"x\":1,\"phase\"", false),
            ("{\"outputVersion\"", "[{\"outputVersion\"", false),
            ("[]}\n", "[]}{}\n", false),
        ] {
            assert!(GOOD.contains(from), "{from}");
            assert_eq!(reads(&GOOD.replace(from, to)), expected, "{to}");
        }
        let unsupported = GOOD.replace("\"error\",", "\"unsupported\",").replace(
            "resource-exhaustion\",\"phase\":\"evaluation",
            "unsupported-required-extension\",\"phase\":\"preflight",
        );
        assert!(reads(&unsupported));
    }
}
