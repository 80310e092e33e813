//! `anchorlog.projection/1`: of one execution, what accounting for contributors needs.
//!
//! Our own form: RFC 0028 names canonical projections and does not show one. It holds the pins of an execution
//! of version 3, its output envelopes of version 2 exactly as they are, and beside each the Core section 8.3
//! disposition of the case that was evaluated for it.

use super::contributors::MAX_ENVELOPE_BYTES;
use super::output::Output;
use crate::digest::Digest;
use crate::jp::canon::canon;
use crate::jp::fault::{Fault, Faults, Rule};
use crate::jp::id::Id;
use crate::jp::json::{Bounds, Fields, Value, read_into};
use crate::jp::workflow::ClosedSet;

/// The largest projection that is read, in bytes: the local limit of RFC 0028 for everything together.
pub const MAX_PROJECTION_BYTES: usize = 33_554_432;

/// The outputs of one execution.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Projection {
    /// Digest of the workflow document.
    pub workflow: Digest,
    /// The execution's id.
    pub execution: Id,
    /// Every stage, in the workflow's order, also those without an output.
    pub stages: Vec<ProjectedStage>,
    /// How many bytes its canonical form has.
    pub canonical_bytes: usize,
}

/// One stage.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ProjectedStage {
    /// Its id.
    pub stage: Id,
    /// The pinned pack: SHA-256 of its exact bytes.
    pub pack: Digest,
    /// The envelope digests that the execution pins, in order, each once.
    pub records: Vec<Digest>,
    /// The outputs themselves, one for each pin.
    pub outputs: Vec<Output>,
}

impl ProjectedStage {
    /// SHA-256 of the closed output set (RFC 0020 section 5) that these pins are.
    #[must_use]
    pub fn set_digest(&self, workflow: Digest, execution: &Id) -> Digest {
        let (execution, stage) = (execution.clone(), self.stage.clone());
        let records = self.records.clone();
        ClosedSet { workflow_digest: workflow, execution, stage, records }.digest()
    }
}

impl Projection {
    /// Reads a projection, whatever its spelling. Refusals come in the order of RFC 0020's phases: bounds,
    /// JSON, counts, versions, forms, absent outputs.
    pub fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let mut faults = Faults::new();
        let root = read_into(bytes, &Bounds::object(MAX_PROJECTION_BYTES), &mut faults);
        let projection = root.and_then(|root| projection(&root, &mut faults));
        faults.settle(projection)
    }
}

/// Name of the form.
const SCHEMA: &str = "anchorlog.projection/1";

fn projection(root: &Value<'_>, faults: &mut Faults) -> Option<Projection> {
    let canonical_bytes = canon(root).ok()?.len();
    scan(root, faults);
    let mut fields = Fields::new(root, "", faults)?;
    let named = schema(&mut fields, SCHEMA);
    let version = fields.version("executionVersion", 3);
    let workflow = fields.digest("workflowDigest");
    let execution = fields.parsed("execution", "is no id");
    let listed = fields.array("stages");
    let closed = fields.finish();
    let listed = listed?;
    if listed.is_empty() {
        faults.note(Rule::Form, "/stages is empty");
    }
    let mut stages: Vec<ProjectedStage> = Vec::with_capacity(listed.len());
    let mut whole = true;
    for (at, value) in listed.iter().enumerate() {
        match stage(value, &format!("/stages/{at}"), faults) {
            Some(stage) if stages.iter().any(|other| other.stage == stage.stage) => {
                faults.note(Rule::Order, format_args!("/stages/{at}: the stage occurs twice"));
            }
            Some(stage) => stages.push(stage),
            None => whole = false,
        }
    }
    named.and(version).and(closed)?;
    let (workflow, execution) = (workflow?, execution?);
    whole.then_some(Projection { workflow, execution, stages, canonical_bytes })
}

/// What belongs to the phases before forms, of every envelope, however malformed another one is: size and
/// version.
fn scan(root: &Value<'_>, faults: &mut Faults) {
    let stages = root.get("stages").and_then(Value::as_array).unwrap_or_default();
    for (at, stage) in stages.iter().enumerate() {
        let outputs = stage.get("outputs").and_then(Value::as_array).unwrap_or_default();
        for (position, output) in outputs.iter().enumerate() {
            let Some(envelope) = output.get("envelope") else { continue };
            let place = format_args!("/stages/{at}/outputs/{position}/envelope");
            if canon(envelope).is_ok_and(|bytes| bytes.len() > MAX_ENVELOPE_BYTES) {
                let what = "has more than 65536 bytes in canonical form";
                faults.note(Rule::Bytes, format_args!("{place} {what}"));
            }
            let version = envelope.get("outputRecordVersion").and_then(Value::as_integer);
            if version.is_some_and(|version| version != 2) {
                let what = "outputRecordVersion is a version that is not read";
                faults.note(Rule::Version, format_args!("{place}/{what}"));
            }
        }
    }
}

fn stage(value: &Value<'_>, place: &str, faults: &mut Faults) -> Option<ProjectedStage> {
    let mut fields = Fields::new(value, place, faults)?;
    let stage = fields.parsed("stage", "is no id");
    let pack = fields.digest("packDigest");
    let records = fields.digests("records");
    let listed = fields.array("outputs");
    let closed = fields.finish();
    let (records, listed) = (records?, listed?);
    let mut sorted = records.clone();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| matches!(pair, [one, two] if one == two)) {
        faults.note(Rule::Order, format_args!("{place}/records: a record is pinned twice"));
    }
    if listed.len() < records.len() {
        faults.note(Rule::Absent, format_args!("{place}/outputs: a pinned record is absent"));
    }
    if listed.len() > records.len() {
        faults.note(Rule::Form, format_args!("{place}/outputs: an output that is not pinned"));
    }
    let mut outputs = Vec::with_capacity(listed.len());
    let mut whole = true;
    for (at, value) in listed.iter().enumerate() {
        match Output::read(value, &format!("{place}/outputs/{at}"), faults) {
            Some(output) => outputs.push(output),
            None => whole = false,
        }
    }
    closed?;
    let (stage, pack) = (stage?, pack?);
    whole.then_some(ProjectedStage { stage, pack, records, outputs })
}

/// The name of one of our own forms: another version of it is unread.
pub(super) fn schema(fields: &mut Fields<'_, '_, '_>, known: &str) -> Option<()> {
    let value = fields.required("schema")?;
    match value.as_str() {
        Some(name) if name == known => Some(()),
        Some(name) if name.split('/').next() == known.split('/').next() => {
            fields.note(Rule::Version, "schema", "is a version that is not read");
            None
        }
        _ => fields.wrong("schema", "is not the name of this form"),
    }
}
