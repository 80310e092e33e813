//! Output records (RFC 0020 section 5).

use super::stage::{Relation, pointer};
use crate::Digest;
use crate::jp::fault::Faults;
use crate::jp::id::Id;
use crate::jp::json::{Fields, Value};
use crate::jp::pointer::Pointer;

/// The envelope of one output; its digest is the record's identity.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the RFC's closed form")]
pub struct OutputRecord {
    /// Digest of the payload's retained bytes.
    pub payload_digest: Digest,
    /// Where it came from.
    pub lineage: Lineage,
}

/// Where an output came from.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the RFC's closed form")]
pub struct Lineage {
    /// The workflow.
    pub workflow_digest: Digest,
    /// The execution's id.
    pub execution: Id,
    /// The stage.
    pub stage: Id,
    /// The instance.
    pub instance: Id,
    /// The published dialect.
    pub published_dialect_digest: Digest,
    /// The binding document, where the dialect needed one.
    pub binding_document_digest: Option<Digest>,
    /// The bound dialect.
    pub bound_dialect_digest: Digest,
    /// The pack.
    pub pack_digest: Digest,
    /// The release.
    pub release_digest: Digest,
    /// The successful attempt's preparation.
    pub preparation_digest: Digest,
    /// The successful attempt's audit.
    pub audit_digest: Digest,
    /// The stage's pointer.
    pub output_pointer: Pointer,
    /// 0 for one, the array index for many; at most 4095.
    pub index: u16,
    /// The root case.
    pub root_case_digest: Digest,
    /// The instance's case.
    pub case_digest: Digest,
    /// The selected record it was made for; none at the root.
    pub parent_record: Option<Digest>,
    /// The selection that record is of; none at the root.
    pub selection_digest: Option<Digest>,
    /// The stage's relation.
    pub relation: Relation,
    /// What influenced it.
    pub influence: Influence,
}

/// The classes and the generated influence that a value carries (RFC 0020 section 4).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the RFC's closed form")]
pub struct Influence {
    /// Distinct, in the order of [`Class`].
    pub classes: Vec<Class>,
    /// Whether anything generated contributed.
    pub generated_influence: bool,
}

/// The class of a source, in the RFC's order.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[allow(clippy::exhaustive_enums, reason = "the RFC has these three")]
pub enum Class {
    /// `asserted`
    Asserted,
    /// `generated`
    Generated,
    /// `record`
    Record,
}

impl Class {
    /// As it is written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Asserted => "asserted",
            Self::Generated => "generated",
            Self::Record => "record",
        }
    }

    /// The class of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Asserted, Self::Generated, Self::Record].into_iter().find(|own| own.as_str() == name)
    }
}

impl OutputRecord {
    /// Reads a record.
    pub fn read(value: &Value<'_>, faults: &mut Faults) -> Option<Self> {
        let mut fields = Fields::new(value, "", faults)?;
        let version = fields.version("outputRecordVersion", 1);
        let payload_digest = fields.digest("payloadDigest");
        let lineage =
            fields.required("lineage").and_then(|value| Lineage::read(value, fields.faults()));
        fields.finish()?;
        version?;
        Some(Self { payload_digest: payload_digest?, lineage: lineage? })
    }
}

impl Lineage {
    /// Reads a lineage, which is the same in both versions of the envelope.
    pub(in crate::jp) fn read(value: &Value<'_>, faults: &mut Faults) -> Option<Self> {
        let mut fields = Fields::new(value, "/lineage", faults)?;
        let workflow_digest = fields.digest("workflowDigest");
        let execution = fields.parsed("execution", "is no id");
        let stage = fields.parsed("stage", "is no id");
        let instance = fields.parsed("instance", "is no id");
        let published_dialect_digest = fields.digest("publishedDialectDigest");
        let binding_document_digest = fields.nullable_digest("bindingDocumentDigest");
        let bound_dialect_digest = fields.digest("boundDialectDigest");
        let pack_digest = fields.digest("packDigest");
        let release_digest = fields.digest("releaseDigest");
        let preparation_digest = fields.digest("preparationDigest");
        let audit_digest = fields.digest("auditDigest");
        let output_pointer = pointer(&mut fields, "outputPointer");
        let index = fields.integer("index", 0, 4095).and_then(|index| u16::try_from(index).ok());
        let root_case_digest = fields.digest("rootCaseDigest");
        let case_digest = fields.digest("caseDigest");
        let parent_record = fields.nullable_digest("parentRecord");
        let selection_digest = fields.nullable_digest("selectionDigest");
        let relation = fields
            .required("relation")
            .and_then(|value| Relation::read(value, "/lineage/relation", fields.faults()));
        let influence = fields
            .required("influence")
            .and_then(|value| Influence::read(value, "/lineage/influence", fields.faults()));
        let (parent_record, selection_digest) = (parent_record?, selection_digest?);
        if parent_record.is_some() != selection_digest.is_some() {
            return fields
                .wrong("parentRecord", "is null without selectionDigest, or the other way round");
        }
        fields.finish()?;
        Some(Self {
            workflow_digest: workflow_digest?,
            execution: execution?,
            stage: stage?,
            instance: instance?,
            published_dialect_digest: published_dialect_digest?,
            binding_document_digest: binding_document_digest?,
            bound_dialect_digest: bound_dialect_digest?,
            pack_digest: pack_digest?,
            release_digest: release_digest?,
            preparation_digest: preparation_digest?,
            audit_digest: audit_digest?,
            output_pointer: output_pointer?,
            index: index?,
            root_case_digest: root_case_digest?,
            case_digest: case_digest?,
            parent_record,
            selection_digest,
            relation: relation?,
            influence: influence?,
        })
    }
}

impl Influence {
    /// Reads `{classes, generatedInfluence}`.
    pub fn read(value: &Value<'_>, place: &str, faults: &mut Faults) -> Option<Self> {
        let mut fields = Fields::new(value, place, faults)?;
        let names = fields.array("classes");
        let generated_influence = fields.boolean("generatedInfluence");
        let classes: Option<Vec<Class>> =
            names?.iter().map(|name| name.as_str().and_then(Class::from_name)).collect();
        let classes = match classes {
            Some(classes) if classes.is_sorted_by(|one, two| one < two) => classes,
            _ => return fields.wrong("classes", "are not distinct classes in order"),
        };
        fields.finish()?;
        Some(Self { classes, generated_influence: generated_influence? })
    }
}
