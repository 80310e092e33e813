//! Execution records (RFC 0020 section 7).

use super::document::Workflow;
use super::instance::Instance;
use super::set::{ClosedSet, distinct};
use crate::Digest;
use crate::jp::fault::{Faults, Rule};
use crate::jp::id::Id;
use crate::jp::json::{Fields, Value};

/// The inventory of one branch of an execution.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the RFC's closed form")]
pub struct Execution {
    /// The workflow.
    pub workflow_digest: Digest,
    /// Its id, which its branches share.
    pub execution: Id,
    /// The root case.
    pub root_case_digest: Digest,
    /// What was frozen for each stage, in the workflow's order.
    pub frozen: Vec<Frozen>,
    /// Every instance, by stage, then selected parent.
    pub instances: Vec<Instance>,
    /// What each stage offered, in the workflow's order.
    pub output_sets: Vec<OutputSet>,
    /// The selection of each stage's outputs, in the workflow's order.
    pub selections: Vec<Option<Digest>>,
}

/// What an installation froze for a stage.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the RFC's closed form")]
pub struct Frozen {
    /// The stage.
    pub stage: Id,
    /// The published dialect.
    pub published_dialect_digest: Digest,
    /// The binding document, where the dialect needs one.
    pub binding_document_digest: Option<Digest>,
    /// The bound dialect.
    pub bound_dialect_digest: Digest,
    /// The pack.
    pub pack_digest: Digest,
    /// The release.
    pub release_digest: Digest,
    /// The runtime executable's exact bytes.
    pub runtime_digest: Digest,
}

/// What a stage offered.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the RFC's closed form")]
pub struct OutputSet {
    /// The stage.
    pub stage: Id,
    /// Whether it is closed.
    pub status: SetStatus,
    /// Output records by digest, in instance order, then index.
    pub records: Vec<Digest>,
}

/// Whether a stage's set is closed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the RFC has these two")]
pub enum SetStatus {
    /// Every expected instance is terminal.
    Closed,
    /// The stage was never entered.
    Blocked,
}

impl Execution {
    /// Reads an execution record by itself; [`Execution::in_order`] relates it to its workflow.
    pub fn read(value: &Value<'_>, faults: &mut Faults) -> Option<Self> {
        let mut fields = Fields::new(value, "", faults)?;
        let version = fields.version("executionVersion", 1);
        let workflow_digest = fields.digest("workflowDigest");
        let execution = fields.parsed("execution", "is no id");
        let root_case_digest = fields.digest("rootCaseDigest");
        let frozen = list(&mut fields, "frozen", Frozen::read);
        let instances = list(&mut fields, "instances", Instance::read);
        let output_sets = list(&mut fields, "outputSets", OutputSet::read);
        let selections = selections(&mut fields);
        fields.finish()?;
        version?;
        Some(Self {
            workflow_digest: workflow_digest?,
            execution: execution?,
            root_case_digest: root_case_digest?,
            frozen: frozen?,
            instances: instances?,
            output_sets: output_sets?,
            selections: selections?,
        })
    }

    /// Whether the record has its entries where this workflow has its stages, and no more than its limits.
    pub fn in_order(&self, workflow: &Workflow, faults: &mut Faults) -> bool {
        let before = faults.clone();
        self.within(workflow, faults);
        let mut order = |holds: bool, what: &str| {
            if !holds {
                faults.note(Rule::Order, what);
            }
        };
        let stages = || workflow.stages.iter().map(|stage| &stage.id);
        order(
            self.frozen.iter().map(|frozen| &frozen.stage).eq(stages()),
            "/frozen has not one entry per stage in the workflow's order",
        );
        order(
            self.output_sets.iter().map(|set| &set.stage).eq(stages()),
            "/outputSets has not one entry per stage in the workflow's order",
        );
        order(
            self.selections.len() == workflow.stages.len(),
            "/selections has not one entry per stage",
        );
        let places = self.instances.iter().map(|instance| workflow.stage(&instance.stage));
        let places: Option<Vec<usize>> = places.map(|stage| stage.map(|(at, _)| at)).collect();
        order(
            places.is_some_and(|places| places.is_sorted()),
            "/instances are not of the workflow's stages, in their order",
        );
        let mut ids: Vec<&Id> = self.instances.iter().map(|instance| &instance.id).collect();
        ids.sort_unstable();
        order(ids.is_sorted_by(|one, two| one < two), "/instances has an id twice");
        let sets_distinct = self.output_sets.iter().all(|set| distinct(&set.records));
        order(sets_distinct, "/outputSets has a record twice");
        *faults == before
    }

    /// The closed set of the stage at a position, as it is derived from the record.
    #[must_use]
    pub fn closed_set(&self, position: usize) -> Option<ClosedSet> {
        let set = self.output_sets.get(position)?;
        Some(ClosedSet {
            workflow_digest: self.workflow_digest,
            execution: self.execution.clone(),
            stage: set.stage.clone(),
            records: set.records.clone(),
        })
    }

    /// The instances of a stage, in order.
    pub fn instances_of<'e>(&'e self, stage: &'e Id) -> impl Iterator<Item = &'e Instance> {
        self.instances.iter().filter(move |instance| instance.stage == *stage)
    }

    fn within(&self, workflow: &Workflow, faults: &mut Faults) {
        let limits = &workflow.limits;
        let over = |count: usize, most: u64| u64::try_from(count).is_ok_and(|count| count > most);
        if self.instances.is_empty() {
            faults.note(Rule::Form, "/instances is empty");
        }
        if over(self.instances.len(), limits.max_instances) {
            faults.note(Rule::Count, "/instances has more entries than limits.maxInstances");
        }
        if self.output_sets.iter().any(|set| over(set.records.len(), limits.max_records)) {
            faults.note(Rule::Count, "/outputSets has more records than limits.maxRecords");
        }
        let mut attempts = self.instances.iter().map(|instance| instance.attempts.len());
        if attempts.any(|count| over(count, limits.max_attempts)) {
            faults.note(Rule::Count, "/instances has more attempts than limits.maxAttempts");
        }
    }
}

impl Frozen {
    fn read(value: &Value<'_>, place: &str, faults: &mut Faults) -> Option<Self> {
        let mut fields = Fields::new(value, place, faults)?;
        let stage = fields.parsed("stage", "is no id");
        let published_dialect_digest = fields.digest("publishedDialectDigest");
        let binding_document_digest = fields.nullable_digest("bindingDocumentDigest");
        let bound_dialect_digest = fields.digest("boundDialectDigest");
        let pack_digest = fields.digest("packDigest");
        let release_digest = fields.digest("releaseDigest");
        let runtime_digest = fields.digest("runtimeDigest");
        fields.finish()?;
        Some(Self {
            stage: stage?,
            published_dialect_digest: published_dialect_digest?,
            binding_document_digest: binding_document_digest?,
            bound_dialect_digest: bound_dialect_digest?,
            pack_digest: pack_digest?,
            release_digest: release_digest?,
            runtime_digest: runtime_digest?,
        })
    }
}

impl OutputSet {
    fn read(value: &Value<'_>, place: &str, faults: &mut Faults) -> Option<Self> {
        let mut fields = Fields::new(value, place, faults)?;
        let stage = fields.parsed("stage", "is no id");
        let status = fields.one_of("status", |text| match text {
            "closed" => Some(SetStatus::Closed),
            "blocked" => Some(SetStatus::Blocked),
            _ => None,
        });
        let records = fields.digests("records");
        fields.finish()?;
        Some(Self { stage: stage?, status: status?, records: records? })
    }
}

fn list<T>(
    fields: &mut Fields<'_, '_, '_>,
    name: &'static str,
    read: impl Fn(&Value<'_>, &str, &mut Faults) -> Option<T>,
) -> Option<Vec<T>> {
    let elements = fields.array(name)?;
    let mut list = Vec::with_capacity(elements.len());
    for (position, element) in elements.iter().enumerate() {
        list.push(read(element, &format!("/{name}/{position}"), fields.faults())?);
    }
    Some(list)
}

fn selections(fields: &mut Fields<'_, '_, '_>) -> Option<Vec<Option<Digest>>> {
    let elements = fields.array("selections")?;
    let mut selections = Vec::with_capacity(elements.len());
    for element in elements {
        selections.push(match element {
            Value::Null => None,
            value => match value.as_str().and_then(|text| text.parse().ok()) {
                Some(digest) => Some(digest),
                None => return fields.wrong("selections", "has neither a digest nor null"),
            },
        });
    }
    Some(selections)
}
