//! The workflow document (RFC 0020 section 2).

use super::limits::Limits;
use super::stage::{Cardinality, Input, SelectionMode, Stage};
use crate::jp::fault::{Faults, Rule};
use crate::jp::id::Id;
use crate::jp::json::{Fields, Value};

/// A workflow: stages over selected records.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the RFC's closed form")]
pub struct Workflow {
    /// The stages, the root first; each other one after the stage it names.
    pub stages: Vec<Stage>,
    /// The terminal stage whose outputs are the result.
    pub result: Id,
    /// What a branch may come to.
    pub limits: Limits,
}

impl Workflow {
    /// Reads a workflow document.
    pub fn read(value: &Value<'_>, faults: &mut Faults) -> Option<Self> {
        let mut fields = Fields::new(value, "", faults)?;
        let version = fields.version("workflowVersion", 1);
        let limits =
            fields.required("limits").and_then(|value| Limits::read(value, fields.faults()));
        let stages = stages(&mut fields);
        let result = fields.parsed("result", "is no id");
        let finished = fields.finish();
        let workflow = Self { stages: stages?, result: result?, limits: limits? };
        version.and(finished)?;
        workflow.in_order(faults).then_some(workflow)
    }

    /// The stage of this id, and its position.
    #[must_use]
    pub fn stage(&self, id: &Id) -> Option<(usize, &Stage)> {
        self.stages.iter().enumerate().find(|(_, stage)| stage.id == *id)
    }

    /// Whether a stage consumes the outputs of this one.
    #[must_use]
    pub fn is_consumed(&self, id: &Id) -> bool {
        self.stages.iter().any(|stage| matches!(&stage.input, Input::From(from) if from == id))
    }

    fn in_order(&self, faults: &mut Faults) -> bool {
        if u64::try_from(self.stages.len()).is_ok_and(|count| count > self.limits.max_stages) {
            faults.note(Rule::Count, "more stages than limits.maxStages");
            return false;
        }
        let mut order = |what: String| {
            faults.note(Rule::Order, what);
            false
        };
        for (position, stage) in self.stages.iter().enumerate() {
            let id = &stage.id;
            let earlier = self.stages.get(..position).unwrap_or_default();
            if earlier.iter().any(|other| other.id == *id) {
                return order(format!("two stages {id}"));
            }
            let in_place = match &stage.input {
                Input::Root => position == 0,
                Input::From(from) => earlier.iter().any(|other| other.id == *from),
            };
            if !in_place {
                return order(format!("stage {id}: its input is not the root or an earlier stage"));
            }
            if self.is_consumed(id) != stage.selection.is_some() {
                return order(format!("stage {id}: a selection belongs to consumed stages alone"));
            }
            let by_rule = matches!(stage.selection, Some(SelectionMode::Disposition(_)));
            if by_rule && stage.outputs.cardinality != Cardinality::One {
                return order(format!("stage {id}: a disposition selects one output per case"));
            }
        }
        if self.stage(&self.result).is_none() || self.is_consumed(&self.result) {
            return order(format!("result {} is no terminal stage", self.result));
        }
        true
    }
}

fn stages(fields: &mut Fields<'_, '_, '_>) -> Option<Vec<Stage>> {
    let elements = fields.array("stages")?;
    if elements.is_empty() {
        return fields.wrong("stages", "is empty");
    }
    let mut stages = Vec::with_capacity(elements.len());
    let mut all = true;
    for (position, element) in elements.iter().enumerate() {
        match Stage::read(element, &format!("/stages/{position}"), fields.faults()) {
            Some(stage) => stages.push(stage),
            // Later stages may have a version that isn't read, which counts first.
            None => all = false,
        }
    }
    all.then_some(stages)
}
