//! Bundles of RFC 0020 workflows, generated: nothing here was recorded from a run.
//!
//! A [`Plan`] says what a run does; [`generate`] does it as a runner would and lays the artifacts out as section
//! 11 has it, every digest taken by the writers of this module and not by the reader under test. A [`Tamper`]
//! sees every object before it is written, so that one thing can be changed and all that follows from it stays
//! consistent. The dialects in it are made up: their text isn't public, and nobody here reads them.

#![allow(
    missing_docs,
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::as_conversions,
    clippy::must_use_candidate,
    clippy::needless_pass_by_value,
    clippy::similar_names,
    clippy::too_many_lines,
    reason = "a generator for tests"
)]
#![allow(dead_code, unreachable_pub, unused_imports, reason = "not every test uses all of it")]

mod attempt;
mod form;
pub mod json;
pub mod plan;
mod record_class;
mod stage;

use std::collections::BTreeMap;

use anchorlog_proto::Digest;

use json::{Json, digest, number, object, text};
pub use plan::{Dialect, Plan, Select, StagePlan, Try};
pub use record_class::Parameter;

/// A bundle, and what an independent party would hold of it.
#[derive(Clone, Debug)]
pub struct Bundle {
    pub files: BTreeMap<String, Vec<u8>>,
    pub workflow: Digest,
    pub execution: Digest,
    pub runtime: Digest,
}

/// An object about to be written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Point<'p> {
    /// `workflow`, `pack`, `dialect`, `binding`, `bound`, `release`, `case`, `sources`, `preparation`, `audit`,
    /// `run`, `evaluation-error`, `payload`, `record`, `set`, `selection`, `execution`.
    pub what: &'p str,
    pub stage: &'p str,
    /// Which instance of the stage.
    pub instance: usize,
    /// Which attempt or output of it.
    pub index: usize,
}

/// Changes an object before it is written.
pub type Tamper<'t> = &'t dyn Fn(Point<'_>, &mut Json);

/// Changes nothing.
pub fn honest(_: Point<'_>, _: &mut Json) {}

/// Runs a plan.
pub fn generate(plan: &Plan, tamper: Tamper<'_>) -> Bundle {
    let mut world = stage::World::new(plan, tamper);
    world.run();
    world.finish()
}

impl Bundle {
    /// Changes the execution record and holds its new digest.
    pub fn reseal(&mut self, change: impl FnOnce(&mut Vec<u8>)) {
        let bytes = self.files.get_mut("execution.json").unwrap();
        change(bytes);
        self.execution = Digest::of(bytes);
        let line = format!("{}\n", self.execution);
        self.files.insert("execution.sha256".to_owned(), line.into_bytes());
    }
}

/// The workflow document of a plan.
fn workflow(plan: &Plan, published: &[Digest], packs: &[Digest]) -> Json {
    let consumed = |id: &str| plan.stages.iter().any(|stage| stage.from == Some(id));
    let stages = plan.stages.iter().enumerate().map(|(at, stage)| {
        let mut reference = form::identity(stage);
        *reference.at("digest") = digest(published[at]);
        let input = match stage.from {
            None => object([("root", Json::Bool(true))]),
            Some(from) => object([("fromStage", text(from)), ("selected", Json::Bool(true))]),
        };
        let execution = if stage.from.is_none() { "once" } else { "each-selected-record" };
        let cardinality = if stage.many { "many" } else { "one" };
        let mut declared = object([
            ("caseBindings", form::bindings(stage)),
            ("dialect", reference),
            ("execution", text(execution)),
            ("id", text(stage.id)),
            ("input", input),
            (
                "outputs",
                object([("cardinality", text(cardinality)), ("pointer", text(stage.pointer))]),
            ),
            ("pack", object([("digest", digest(packs[at])), ("id", text(form::pack_id(stage)))])),
            ("relation", form::relation(stage)),
        ]);
        if consumed(stage.id) {
            *declared.at("selection") = match &stage.select {
                Select::Rule(kind, outcome) => {
                    let rule = form::rule(kind, *outcome);
                    object([("mode", text("disposition")), ("rule", rule)])
                }
                _ => object([("mode", text("reviewer"))]),
            };
        }
        declared
    });
    object([
        (
            "limits",
            object([
                ("maxAttempts", number(plan.max_attempts)),
                ("maxInstances", number(plan.max_instances)),
                ("maxRecords", number(plan.max_records)),
                ("maxStages", number(8)),
            ]),
        ),
        ("result", text(plan.stages.last().unwrap().id)),
        ("stages", Json::List(stages.collect())),
        ("workflowVersion", number(1)),
    ])
}

/// `{workflowDigest, execution, stage, records}`
fn closed_set(workflow: Digest, stage: &str, records: &[Digest]) -> Json {
    object([
        ("execution", text(EXECUTION)),
        ("records", Json::List(records.iter().copied().map(digest).collect())),
        ("stage", text(stage)),
        ("workflowDigest", digest(workflow)),
    ])
}

fn nullable(texts: Option<&str>) -> Json {
    texts.map_or(Json::Null, text)
}

/// The execution's id in every bundle.
pub const EXECUTION: &str = "run-1";
