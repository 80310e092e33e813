//! An audit record of the Runtime, as far as a replay needs it.
//!
//! The record is another product's format (record version 1): its members are read by name, others are passed
//! over. What ties it to an output is that the output's lineage pins the exact bytes of its line.

use crate::digest::Digest;
use crate::jp::core_pack::{Disposition, SPEC_VERSION};
use crate::jp::fault::{Fault, Faults, Rule};
use crate::jp::json::{Bounds, Fields, Value, read_into};

/// One evaluation, as it was recorded.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AuditRecord<'a> {
    /// SHA-256 of the line without its newline.
    pub digest: Digest,
    /// SHA-256 of the pack's exact bytes.
    pub pack: Digest,
    /// The facts that were evaluated.
    pub facts: Value<'a>,
    /// The evidence availability, where one was supplied.
    pub evidence: Option<Value<'a>>,
    /// The disposition that came of it.
    pub disposition: Disposition,
}

impl<'a> AuditRecord<'a> {
    /// Reads one line; a newline at its end is no part of it.
    ///
    /// # Errors
    ///
    /// Not strict JSON, over a bound, another version of the record or of the evaluator, or without one of the
    /// members that a replay needs.
    pub fn read(line: &'a [u8]) -> Result<Self, Fault> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let mut faults = Faults::new();
        let root = read_into(line, &Bounds::FOREIGN, &mut faults);
        let record = root.and_then(|root| record(&root, Digest::of(line), &mut faults));
        faults.settle(record)
    }
}

fn record<'a>(root: &Value<'a>, digest: Digest, faults: &mut Faults) -> Option<AuditRecord<'a>> {
    let mut fields = Fields::new(root, "", faults)?;
    let version = selector(&mut fields, "recordVersion", "1");
    let evaluator = selector(&mut fields, "evaluatorSpecVersion", SPEC_VERSION);
    let pack = fields.required("pack")?;
    let inputs = fields.required("inputs")?;
    let disposition = fields.required("disposition")?;
    let pack = Fields::new(pack, "/pack", faults)?.digest("digest");
    let mut fields = Fields::new(inputs, "/inputs", faults)?;
    let facts = fields.required("facts").cloned();
    let supplied = fields.boolean("evidenceSupplied")?;
    let evidence = if supplied { Some(fields.required("evidence").cloned()?) } else { None };
    let disposition = Disposition::read(disposition, "/disposition", faults);
    version.and(evaluator)?;
    Some(AuditRecord { digest, pack: pack?, facts: facts?, evidence, disposition: disposition? })
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::jp::fault::RefusalCode;

    #[test]
    fn a_line_is_read_by_the_members_a_replay_needs() {
        let pack = Digest::of(b"pack");
        let line = format!(
            r#"{{"recordVersion":"1","sequence":1,"evaluatorSpecVersion":"0.2.0-draft","pack":{{"digest":"{pack}","id":"x"}},"inputs":{{"facts":{{"n":1.50}},"evidence":{{}},"evidenceSupplied":true}},"disposition":{{"handoff":{{"state":"none"}},"kind":"outcome","outcomeId":"yes","reasons":[]}}}}"#
        );
        let ended = format!("{line}\n");
        let record = AuditRecord::read(ended.as_bytes()).unwrap();
        assert_eq!((record.digest, record.pack), (Digest::of(line.as_bytes()), pack));
        assert!(record.evidence.is_some());
        let without =
            line.replace(r#""evidence":{},"evidenceSupplied":true"#, r#""evidenceSupplied":false"#);
        assert_eq!(AuditRecord::read(without.as_bytes()).unwrap().evidence, None);
        let code = |from: &str, to: &str| {
            let changed = line.replacen(from, to, 1);
            assert_ne!(changed, line);
            AuditRecord::read(changed.as_bytes()).unwrap_err().code()
        };
        assert_eq!(
            code(r#""recordVersion":"1""#, r#""recordVersion":"2""#),
            RefusalCode::VersionUnread
        );
        assert_eq!(code("0.2.0-draft", "0.3.0"), RefusalCode::VersionUnread);
        assert_eq!(code(r#""facts":{"n":1.50},"#, ""), RefusalCode::InputMalformed);
        assert_eq!(code(r#""kind":"outcome""#, r#""kind":"other""#), RefusalCode::InputMalformed);
        assert_eq!(code(r#""evidence":{},"#, ""), RefusalCode::InputMalformed);
    }
}
