//! Writing and signing an audit.

use crate::json::{JsonCode, JsonError, Object, Value, format_utc_seconds};
use crate::signed_object::{SignedObject, SigningKey};

use super::entry::integer;
use super::{AuditBody, AuditError, AuditFinding, AuditedEntry, MAX_AUDIT_BYTES, SCHEMA, TYPE};

impl AuditBody {
    /// The audit of this key, in canonical form, if it is one that [`super::Audit::parse`] would accept.
    pub fn sign(&self, key: &SigningKey) -> Result<Vec<u8>, AuditError> {
        self.check()?;
        let note = self.checkpoint.to_bytes();
        // A note is UTF-8: it was read from text, or made from it.
        let note = core::str::from_utf8(&note)
            .map_err(|_| JsonError::at(JsonCode::Utf8, "/body/checkpoint"))?;
        let start = Object::from([
            ("size", integer(self.from.size.get())?),
            ("root", self.from.root.to_string().into()),
        ]);
        let subject = Object::from([
            ("kind", Value::from(self.subject.kind())),
            ("value", self.subject.value().into()),
        ]);
        let entries: Result<Vec<_>, _> = self.entries.iter().map(AuditedEntry::to_value).collect();
        let findings: Result<Vec<_>, _> =
            self.findings.iter().map(AuditFinding::to_value).collect();
        let body = Object::from([
            ("schema", Value::from(SCHEMA)),
            ("origin", self.origin().as_str().into()),
            ("log_key", self.log_key.to_string().into()),
            ("checkpoint", note.into()),
            ("from", start.into()),
            ("subject", subject.into()),
            ("entries", entries?.into()),
            ("entries_omitted", integer(self.entries_omitted)?),
            ("findings", findings?.into()),
            ("findings_omitted", integer(self.findings_omitted)?),
            ("time", format_utc_seconds(self.time).into()),
        ]);
        let bytes = SignedObject::sign(TYPE, body, key).to_canonical();
        if bytes.len() > MAX_AUDIT_BYTES {
            return Err(JsonError::at(JsonCode::LimitBytes, "").into());
        }
        Ok(bytes)
    }
}
