//! Reading an audit to its end, and what its parts have to agree on.

use crate::checkpoint::SignedCheckpoint;
use crate::json::{self, Fields, JsonCode, JsonError, ReadLimits, Value};
use crate::merkle::{TreeSize, empty_root};
use crate::signed_object::SignedObject;

use super::error::EntryProblem;
use super::{
    Audit, AuditBody, AuditError, AuditFinding, AuditedEntry, MAX_AUDIT_BYTES, MAX_ENTRIES,
    MAX_FINDINGS, SCHEMA, Start, Subject, TYPE,
};

impl Audit {
    /// Reads an audit, which must be canonical, and checks that its parts agree: the checkpoint is signed by
    /// the stated key, the entries ascend, lie within what was read and are about the subject.
    pub fn parse(bytes: &[u8]) -> Result<Self, AuditError> {
        let value = json::parse_canonical(bytes, &LIMITS)?;
        let object = SignedObject::read(&value, "")?;
        let mut fields = object.fields();
        if object.type_name() != TYPE {
            return Err(fields.error(JsonCode::Enum, "type").into());
        }
        fields.literal("schema", SCHEMA)?;
        let origin = fields.string("origin")?;
        let log_key = fields.string("log_key")?;
        let checkpoint = fields.string("checkpoint")?;
        let start = read_start(&mut fields)?;
        let subject = read_subject(&mut fields)?;
        let entries = list(&mut fields, "entries", MAX_ENTRIES, AuditedEntry::read)?;
        let entries_omitted = fields.unsigned("entries_omitted")?;
        let findings = list(&mut fields, "findings", MAX_FINDINGS, AuditFinding::read)?;
        let findings_omitted = fields.unsigned("findings_omitted")?;
        let time = fields.time("time")?;
        let stated_origin = fields.error(JsonCode::Enum, "origin");
        fields.finish()?;
        let body = AuditBody {
            log_key: log_key.parse().map_err(AuditError::LogKey)?,
            checkpoint: SignedCheckpoint::parse(checkpoint.as_bytes())
                .map_err(AuditError::Checkpoint)?,
            from: start,
            subject,
            entries,
            entries_omitted,
            findings,
            findings_omitted,
            time,
        };
        if body.origin().as_str() != origin {
            return Err(stated_origin.into());
        }
        body.check()?;
        Ok(Self {
            body,
            signer: object.signer(),
            signature: *object.signature(),
            message: object.body().to_canonical(),
        })
    }
}

impl AuditBody {
    /// What the types alone don't guarantee.
    pub(super) fn check(&self) -> Result<(), AuditError> {
        self.checkpoint.verify(&self.log_key).map_err(AuditError::Checkpoint)?;
        let (from, size) = (self.from.size, self.size());
        let impossible = from > size
            || (from == TreeSize::ZERO && self.from.root != empty_root())
            || (from == size && self.from.root != self.root());
        if impossible {
            return Err(AuditError::Start);
        }
        full(self.entries.len(), MAX_ENTRIES, self.entries_omitted)?;
        full(self.findings.len(), MAX_FINDINGS, self.findings_omitted)?;
        let mut last = None;
        for (position, entry) in self.entries.iter().enumerate() {
            let problem = match () {
                () if last.is_some_and(|last| last >= entry.index) => EntryProblem::Order,
                () if !self.covers(entry.index) => EntryProblem::Range,
                () if !self.subject.takes_statement(&entry.statement, entry.signer) => {
                    EntryProblem::Subject
                }
                () => {
                    last = Some(entry.index);
                    continue;
                }
            };
            return Err(AuditError::Entry { position, problem });
        }
        let unread =
            |finding: &AuditFinding| finding.indexes.iter().any(|index| !self.covers(*index));
        match self.findings.iter().position(unread) {
            Some(position) => Err(AuditError::Finding { position }),
            None => Ok(()),
        }
    }
}

/// Nothing is left out of a list that has room.
fn full(found: usize, limit: usize, omitted: u64) -> Result<(), AuditError> {
    if found > limit || (omitted > 0 && found < limit) {
        return Err(AuditError::Omitted { found, limit, omitted });
    }
    Ok(())
}

fn read_start(fields: &mut Fields<'_>) -> Result<Start, JsonError> {
    let mut start = fields.object("from")?;
    let size = start.unsigned("size")?;
    let size = TreeSize::new(size).map_err(|_| start.error(JsonCode::Enum, "size"))?;
    let root = start.digest("root")?;
    start.finish()?;
    Ok(Start { size, root })
}

fn read_subject(fields: &mut Fields<'_>) -> Result<Subject, JsonError> {
    let mut subject = fields.object("subject")?;
    let kind = subject.string("kind")?;
    let value = subject.string("value")?;
    if !matches!(kind, "plan" | "submitter" | "trail") {
        return Err(subject.error(JsonCode::Enum, "kind"));
    }
    let read = Subject::parse(kind, value);
    let read = read.ok_or_else(|| subject.error(JsonCode::Enum, "value"))?;
    subject.finish()?;
    Ok(read)
}

fn list<'v, T>(
    fields: &mut Fields<'v>,
    name: &'static str,
    most: usize,
    read: impl Fn(Fields<'v>) -> Result<T, JsonError>,
) -> Result<Vec<T>, JsonError> {
    let elements: &'v [Value<'v>] = fields.array(name)?;
    if elements.len() > most {
        return Err(fields.error(JsonCode::Enum, name));
    }
    let each = |(position, element): (usize, &'v Value<'v>)| {
        read(Fields::new(element, fields.pointer_to_element(name, position))?)
    };
    elements.iter().enumerate().map(each).collect()
}

const LIMITS: ReadLimits = ReadLimits::DEFAULT.with_bytes(MAX_AUDIT_BYTES);
