//! Run exports of the Runner: what a workflow reader takes from one (RFC 0020 section 7).
//!
//! The exports `{version, releaseDigest, release, run}` of versions 2 to 5 are read as the public Runner writes
//! them. Their own closed form at the RFC's pin is not public: members that aren't listed here are left alone.

use super::fault::{Faults, Rule};
use super::json::{Bounds, Fields, Object, Value, raw_member, read_into};
use crate::Digest;
use crate::encoding::base64_decode;

/// What is in a run export.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct RunExport<'a> {
    /// The digest that the export states for its release.
    pub release_digest: Digest,
    /// The release.
    pub release: Value<'a>,
    /// `run.input.preparation`, where there is one.
    pub preparation: Option<Value<'a>>,
    /// `run.input.facts`: the prepared facts document, where there is one.
    pub facts: Option<Value<'a>>,
    /// The audit record's exact bytes, without a newline at the end.
    pub audit: Option<Vec<u8>>,
    /// `run.audit`: the same record as a value, where it is there. From version 3 on only comparing tells
    /// whether it is the one that the bytes are of.
    pub record: Option<Value<'a>>,
    /// `run.result`: what the Runtime printed, its trace included; absent where the evaluation failed.
    pub result: Option<Value<'a>>,
}

impl<'a> RunExport<'a> {
    /// The versions that are read.
    pub const VERSIONS: core::ops::RangeInclusive<i64> = 2..=5;

    /// Reads an export.
    pub fn read(bytes: &'a [u8], faults: &mut Faults) -> Option<Self> {
        let document = read_into(bytes, &Bounds::EXPORT, faults)?;
        let mut fields = Fields::new(&document, "", faults)?;
        let version = match fields.required("version")?.as_integer() {
            Some(version) if Self::VERSIONS.contains(&version) => version,
            Some(_) => {
                fields.note(Rule::Version, "version", "is an export version that is not read");
                return None;
            }
            None => return fields.wrong("version", "is no integer"),
        };
        let release_digest = fields.digest("releaseDigest");
        let release = fields.required("release")?.as_object();
        let run = fields.required("run")?.as_object();
        let (Some(release), Some(run)) = (release, run) else {
            return fields.wrong("run", "or release is no object");
        };
        let input = run.get("input").and_then(Value::as_object);
        let of_input =
            |name| input.and_then(|input| input.get(name)).filter(|value| !value.is_null());
        let audit = match audit(bytes, version, run) {
            Ok(audit) => audit,
            Err(what) => return fields.wrong("run", what),
        };
        Some(Self {
            release_digest: release_digest?,
            release: Value::Object(release.clone()),
            preparation: of_input("preparation").cloned(),
            facts: of_input("facts").cloned(),
            audit,
            record: run.get("audit").filter(|value| !value.is_null()).cloned(),
            result: run.get("result").filter(|value| !value.is_null()).cloned(),
        })
    }
}

/// `run.auditBytes` where it is present; in version 2 the bytes of `run.audit` as they lie in the export.
fn audit(bytes: &[u8], version: i64, run: &Object<'_>) -> Result<Option<Vec<u8>>, &'static str> {
    let present = |name| run.get(name).filter(|value| !value.is_null());
    if let Some(encoded) = present("auditBytes") {
        let decoded = encoded.as_str().and_then(|text| base64_decode(text).ok());
        return decoded.map(Some).ok_or("has auditBytes that are no base64");
    }
    match (present("audit"), version) {
        (None, _) => Ok(None),
        (Some(_), 2) => Ok(raw_member(bytes, &["run", "audit"]).map(<[u8]>::to_vec)),
        (Some(_), _) => Err("has an audit record without its exact bytes"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::json::corpus_tests::corpus_file;

    fn rule(text: &str) -> Option<Rule> {
        let mut faults = Faults::new();
        let export = RunExport::read(text.as_bytes(), &mut faults);
        assert_eq!(export.is_some(), faults.is_empty());
        faults.first().map(|fault| fault.rule)
    }

    #[test]
    fn forms() {
        let digest = Digest::of(b"").to_string();
        let export = |version: &str, run: &str| {
            format!(
                r#"{{"release":{{}},"releaseDigest":"{digest}","run":{run},"version":{version}}}"#
            )
        };
        assert_eq!(rule(&export("2", "{}")), None);
        assert_eq!(rule(&export("2", r#"{"audit":{"a":1}}"#)), None);
        assert_eq!(rule(&export("5", r#"{"auditBytes":"e30="}"#)), None);
        assert_eq!(rule(&export("5", r#"{"auditBytes":"e30"}"#)), Some(Rule::Form));
        assert_eq!(rule(&export("4", r#"{"audit":{"a":1}}"#)), Some(Rule::Form));
        assert_eq!(rule(&export("1", "{}")), Some(Rule::Version));
        assert_eq!(rule(&export("6", "{}")), Some(Rule::Version));
        assert_eq!(rule(&export("\"2\"", "{}")), Some(Rule::Form));
        assert_eq!(rule(&export("2", "[]")), Some(Rule::Form));
        assert_eq!(rule("{}"), Some(Rule::Form));
    }

    #[test]
    fn a_version_2_audit_is_as_written() {
        let digest = Digest::of(b"").to_string();
        let text = format!(
            r#"{{"release":{{}},"releaseDigest":"{digest}","run":{{"audit": {{"b":1, "a":"<"}} }},"version":2}}"#
        );
        let export = RunExport::read(text.as_bytes(), &mut Faults::new()).unwrap();
        assert_eq!(export.audit.unwrap(), br#"{"b":1, "a":"<"}"#);
    }

    #[test]
    fn real_exports() {
        let folder = "judgment-pack/runner";
        let Some(bytes) = corpus_file(&format!("{folder}/no-mapping-run.run.json")) else { return };
        let export = RunExport::read(&bytes, &mut Faults::new()).unwrap();
        let line = corpus_file(&format!("{folder}/no-mapping-run.audit-record.jsonl")).unwrap();
        assert_eq!(export.audit.as_deref(), line.strip_suffix(b"\n"));
        assert!(export.preparation.is_none() && export.facts.is_some());

        let name = "mapping-v2-before-exact-bytes.run.json";
        let bytes = corpus_file(&format!("{folder}/{name}")).unwrap();
        let export = RunExport::read(&bytes, &mut Faults::new()).unwrap();
        let audit = export.audit.unwrap();
        assert!(audit.starts_with(b"{\"recordVersion\"") && audit.ends_with(b"}"));
        assert!(export.preparation.unwrap().get("lineage").is_some());
    }
}
