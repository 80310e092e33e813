//! The semantic checks, 1 to 4, each over the whole branch in stage, instance and attempt order. The first thing
//! that doesn't hold ends them.

mod accounting;
mod cases;
mod inventory;
mod outputs;
mod pins;
mod selections;

use std::collections::BTreeSet;

use anchorlog_proto::jp::export::RunExport;
use anchorlog_proto::jp::fault::Faults;
use anchorlog_proto::jp::id::Id;
use anchorlog_proto::jp::json::{Bounds, Value};
use anchorlog_proto::jp::workflow::{Cardinality, Frozen, Instance, Stage};

use super::check::{Stopped, Tally};
use super::examine::Expectations;
use super::files::{CouldNotRun, Files};
use super::layout;
use super::load::{Loaded, again};
use super::plug::{InfluenceAgrees, Plugs, PreparationAgrees};

/// What the checks are made with.
pub(super) struct Bench<'b> {
    pub(super) files: &'b dyn Files,
    pub(super) loaded: &'b Loaded,
    pub(super) expect: &'b Expectations,
    pub(super) plugs: &'b Plugs,
    /// Every path of the bundle.
    pub(super) paths: &'b BTreeSet<String>,
    /// How many bytes its files have together.
    pub(super) bytes: u64,
    /// By instance, then attempt; empty when no verifier is plugged in.
    pub(super) preparations: &'b [Vec<Option<PreparationAgrees>>],
}

impl Bench<'_> {
    /// Whether there is such a file.
    pub(super) fn has(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    /// What was frozen for a stage.
    pub(super) fn frozen(&self, stage: &Id) -> Option<&Frozen> {
        self.loaded.execution.frozen.iter().find(|frozen| frozen.stage == *stage)
    }
}

/// What was proven on the way.
#[derive(Debug, Default)]
pub(super) struct Proven {
    /// One for each stage, when an expansion verifier is plugged in.
    pub(super) expansions: Vec<super::plug::ExpansionAgrees>,
    /// By instance; empty when no influence verifier is plugged in.
    pub(super) influences: Vec<Option<InfluenceAgrees>>,
}

/// Either a check ended it, or the verifier could not run.
#[derive(Debug)]
pub(super) enum Interrupted {
    Stopped,
    CouldNotRun(CouldNotRun),
}

impl From<Stopped> for Interrupted {
    fn from(Stopped: Stopped) -> Self {
        Self::Stopped
    }
}

impl From<CouldNotRun> for Interrupted {
    fn from(error: CouldNotRun) -> Self {
        Self::CouldNotRun(error)
    }
}

pub(super) type Step = Result<(), Interrupted>;

/// Checks 1 to 4.
pub(super) fn checks(bench: &Bench<'_>, tally: &mut Tally) -> Result<Proven, Interrupted> {
    let mut proven = Proven::default();
    pins::check(bench, tally, &mut proven)?;
    selections::check(bench, tally)?;
    cases::check(bench, tally, &mut proven)?;
    inventory::check(bench, tally)?;
    accounting::check(bench, tally)?;
    outputs::check(bench, tally, &proven)?;
    Ok(proven)
}

/// What an instance's prepared facts offer.
#[derive(Debug)]
pub(super) enum Extracted {
    /// There is no run export with facts.
    Unknown,
    /// Not what the stage's outputs have to be.
    Invalid(&'static str),
    /// The values, by index.
    Values(Vec<Value<'static>>),
}

/// Extracts what the last attempt of an instance offers, by the stage's pointer and cardinality.
pub(super) fn extract(
    bench: &Bench<'_>,
    stage: &Stage,
    at: usize,
    instance: &Instance,
) -> Result<Extracted, CouldNotRun> {
    extract_of(bench, stage, at, instance, instance.attempts.len().saturating_sub(1))
}

/// The same of the attempt at a position.
pub(super) fn extract_of(
    bench: &Bench<'_>,
    stage: &Stage,
    at: usize,
    instance: &Instance,
    position: usize,
) -> Result<Extracted, CouldNotRun> {
    let facts = bench.loaded.attempts.get(at).and_then(|attempts| attempts.get(position));
    let Some(digest) = facts.and_then(|facts| facts.run) else { return Ok(Extracted::Unknown) };
    let path = layout::attempt(&instance.id, position, "run.json");
    let bytes = again(bench.files, &path, &Bounds::EXPORT, digest)?;
    let Some(facts) = RunExport::read(&bytes, &mut Faults::new()).and_then(|export| export.facts)
    else {
        return Ok(Extracted::Unknown);
    };
    let value = stage.outputs.pointer.get(&facts);
    Ok(match (stage.outputs.cardinality, value) {
        (Cardinality::One, Some(Value::Object(object))) => {
            Extracted::Values(vec![Value::Object(object.clone()).into_owned()])
        }
        (Cardinality::Many, Some(Value::Array(elements))) => {
            if elements.iter().any(|element| element.as_object().is_none()) {
                Extracted::Invalid("an element that is no object")
            } else {
                Extracted::Values(elements.iter().cloned().map(Value::into_owned).collect())
            }
        }
        (_, None) => Extracted::Invalid("nothing at the pointer"),
        _ => Extracted::Invalid("another type at the pointer"),
    })
}

/// The stage of an instance, which the form phase made sure of.
pub(super) fn stage_of<'l>(loaded: &'l Loaded, instance: &Instance) -> Option<(usize, &'l Stage)> {
    loaded.workflow.stage(&instance.stage)
}

/// Instances with their positions, of the stage at a position.
pub(super) fn instances<'l>(
    loaded: &'l Loaded,
    stage: &'l Stage,
) -> impl Iterator<Item = (usize, &'l Instance)> {
    let all = loaded.execution.instances.iter().enumerate();
    all.filter(move |(_, instance)| instance.stage == stage.id)
}

/// How many outputs each instance has.
pub(super) fn output_counts(loaded: &Loaded) -> Vec<usize> {
    let mut counts = vec![0; loaded.execution.instances.len()];
    for offered in loaded.outputs.iter().flatten() {
        if let Some(count) = counts.get_mut(offered.instance) {
            *count += 1;
        }
    }
    counts
}
