//! Closed output sets (RFC 0020 section 5).

use crate::Digest;
use crate::jp::canon::canon;
use crate::jp::fault::{Faults, Rule};
use crate::jp::id::Id;
use crate::jp::json::{Fields, Object, Value};

/// Everything a stage offered, selected or not.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the RFC's closed form")]
pub struct ClosedSet {
    /// The workflow.
    pub workflow_digest: Digest,
    /// The execution's id.
    pub execution: Id,
    /// The stage.
    pub stage: Id,
    /// Output records by digest, in instance order, then index.
    pub records: Vec<Digest>,
}

impl ClosedSet {
    /// Reads a set.
    pub fn read(value: &Value<'_>, faults: &mut Faults) -> Option<Self> {
        let mut fields = Fields::new(value, "", faults)?;
        let workflow_digest = fields.digest("workflowDigest");
        let execution = fields.parsed("execution", "is no id");
        let stage = fields.parsed("stage", "is no id");
        let records = fields.digests("records");
        fields.finish()?;
        let records = records?;
        if !distinct(&records) {
            faults.note(Rule::Form, "/records has a digest twice");
            return None;
        }
        Some(Self {
            workflow_digest: workflow_digest?,
            execution: execution?,
            stage: stage?,
            records,
        })
    }

    /// Its canonical bytes.
    #[must_use]
    pub fn canon(&self) -> Vec<u8> {
        let records = self.records.iter().map(|digest| Value::from(*digest)).collect();
        let object = Object::from([
            ("execution", Value::from(self.execution.as_str())),
            ("records", Value::Array(records)),
            ("stage", Value::from(self.stage.as_str())),
            ("workflowDigest", Value::from(self.workflow_digest)),
        ]);
        // There is no number in it, so it has a canon.
        canon(&Value::Object(object)).unwrap_or_default()
    }

    /// Its digest.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(&self.canon())
    }
}

/// Whether no digest occurs twice.
pub(super) fn distinct(digests: &[Digest]) -> bool {
    let mut seen = std::collections::HashSet::with_capacity(digests.len());
    digests.iter().all(|digest| seen.insert(digest))
}
