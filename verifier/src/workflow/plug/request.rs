//! What a plugged verifier is told.
//!
//! The bytes are those of the bundle. A command gets them as one JSON object, bytes in standard base64, null for
//! what isn't there, `schema` naming the request. Trust (historical profiles, keys) is not in a request: a
//! verifier has its own, and what a bundle retains is only retained.

use anchorlog_proto::encoding::base64_encode;
use anchorlog_proto::jp::canon::canon;
use anchorlog_proto::jp::dialect::{DialectFormat, DialectReference};
use anchorlog_proto::jp::json::{Object, Value};
use anchorlog_proto::jp::workflow::{CaseBinding, Influence};

/// Whether a kind of dialect is read: `anchorlog.workflow-kind/1`.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "built by the examination and by tests")]
pub struct KindRequest {
    /// The stage.
    pub stage: String,
    /// The stage's reference.
    pub reference: DialectReference,
    /// The published dialect.
    pub published: Vec<u8>,
    /// The bound dialect.
    pub bound: Vec<u8>,
}

/// One preparation: `anchorlog.workflow-preparation/1`.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "built by the examination and by tests")]
pub struct PreparationRequest {
    /// The stage.
    pub stage: String,
    /// The instance.
    pub instance: String,
    /// The attempt, from 1.
    pub attempt: usize,
    /// The bound dialect.
    pub bound: Vec<u8>,
    /// The case.
    pub case: Vec<u8>,
    /// The preparation.
    pub preparation: Vec<u8>,
    /// Retained acquisitions.
    pub sources: Option<Vec<u8>>,
    /// Retained profiles, which nobody has to trust.
    pub profiles: Option<Vec<u8>>,
    /// The audit record.
    pub audit: Option<Vec<u8>>,
    /// The preparation's own time, at which it is verified; no other clock.
    pub verified_at: Option<String>,
    /// Whether the preparation has to be bound to the audit.
    pub require_binding: bool,
}

/// One stage's expansion: `anchorlog.workflow-expansion/1`.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "built by the examination and by tests")]
pub struct ExpansionRequest {
    /// The stage.
    pub stage: String,
    /// The published dialect.
    pub published: Vec<u8>,
    /// The binding document.
    pub binding: Option<Vec<u8>>,
    /// The bound dialect.
    pub bound: Vec<u8>,
    /// Retained profiles, which nobody has to trust.
    pub profiles: Option<Vec<u8>>,
    /// The release.
    pub release: Vec<u8>,
    /// The workflow document, for its limits.
    pub workflow: Vec<u8>,
    /// How many files the bundle has.
    pub files: usize,
    /// How many bytes they have together.
    pub bytes: u64,
}

/// One instance's influence: `anchorlog.workflow-influence/1`.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "built by the examination and by tests")]
pub struct InfluenceRequest {
    /// The stage.
    pub stage: String,
    /// The instance.
    pub instance: String,
    /// The bound dialect.
    pub bound: Vec<u8>,
    /// The case, where the projection holds.
    pub case: Option<Vec<u8>>,
    /// The stage's bindings.
    pub bindings: Vec<CaseBinding>,
    /// What the selected parent carries, as it was computed; none at the root.
    pub parent: Option<Influence>,
    /// The recomputed lineage of the successful attempt's preparation.
    pub lineage: Option<Value<'static>>,
    /// The stage's output pointer.
    pub pointer: String,
    /// How many outputs the instance has.
    pub outputs: usize,
}

impl KindRequest {
    /// The request as a command reads it.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        let reference = match &self.reference.format {
            DialectFormat::Integer(version) => {
                Object::from([("version", Value::from(u32::from(*version)))])
            }
            DialectFormat::Named { format, id, version } => Object::from([
                ("formatVersion", Value::from(format.as_str())),
                ("id", Value::from(&**id)),
                ("version", Value::from(&**version)),
            ]),
        };
        json([
            ("bound", bytes(&self.bound)),
            ("published", bytes(&self.published)),
            ("reference", Value::Object(reference)),
            ("schema", Value::from("anchorlog.workflow-kind/1")),
            ("stage", Value::from(&*self.stage)),
        ])
    }
}

impl PreparationRequest {
    /// The request as a command reads it.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        json([
            ("attempt", count(self.attempt)),
            ("audit", optional(self.audit.as_deref())),
            ("bound", bytes(&self.bound)),
            ("case", bytes(&self.case)),
            ("instance", Value::from(&*self.instance)),
            ("preparation", bytes(&self.preparation)),
            ("profiles", optional(self.profiles.as_deref())),
            ("requireBinding", Value::from(self.require_binding)),
            ("schema", Value::from("anchorlog.workflow-preparation/1")),
            ("sources", optional(self.sources.as_deref())),
            ("stage", Value::from(&*self.stage)),
            ("verifiedAt", Value::from(self.verified_at.as_deref())),
        ])
    }
}

impl ExpansionRequest {
    /// The request as a command reads it.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        json([
            ("binding", optional(self.binding.as_deref())),
            ("bound", bytes(&self.bound)),
            ("bytes", Value::from(self.bytes.to_string())),
            ("files", count(self.files)),
            ("profiles", optional(self.profiles.as_deref())),
            ("published", bytes(&self.published)),
            ("release", bytes(&self.release)),
            ("schema", Value::from("anchorlog.workflow-expansion/1")),
            ("stage", Value::from(&*self.stage)),
            ("workflow", bytes(&self.workflow)),
        ])
    }
}

impl InfluenceRequest {
    /// The request as a command reads it.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        let bindings = self.bindings.iter().map(CaseBinding::to_value).collect();
        json([
            ("bound", bytes(&self.bound)),
            ("case", optional(self.case.as_deref())),
            ("caseBindings", Value::Array(bindings)),
            ("instance", Value::from(&*self.instance)),
            ("lineage", self.lineage.clone().unwrap_or(Value::Null)),
            ("outputPointer", Value::from(&*self.pointer)),
            ("outputs", count(self.outputs)),
            ("parent", self.parent.as_ref().map(influence).into()),
            ("schema", Value::from("anchorlog.workflow-influence/1")),
            ("stage", Value::from(&*self.stage)),
        ])
    }
}

fn influence(influence: &Influence) -> Value<'static> {
    let classes = influence.classes.iter().map(|class| Value::from(class.as_str())).collect();
    Value::Object(Object::from([
        ("classes", Value::Array(classes)),
        ("generatedInfluence", Value::from(influence.generated_influence)),
    ]))
}

fn json<const N: usize>(members: [(&str, Value<'_>); N]) -> Vec<u8> {
    let value = Value::Object(members.into_iter().collect());
    // A lineage with numbers outside the domain has no canon, and is written with its literals.
    canon(&value).unwrap_or_else(|_| anchorlog_proto::jp::canon::literal(&value))
}

fn bytes(bytes: &[u8]) -> Value<'static> {
    Value::from(base64_encode(bytes))
}

fn optional(of: Option<&[u8]>) -> Value<'static> {
    of.map(bytes).into()
}

fn count(count: usize) -> Value<'static> {
    u32::try_from(count).unwrap_or(u32::MAX).into()
}
