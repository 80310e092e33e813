//! Check 2: selections.

use std::collections::{HashMap, HashSet};

use anchorlog_proto::Digest;
use anchorlog_proto::jp::disposition::Conclusion;
use anchorlog_proto::jp::workflow::{ClosedSet, Mode, Rule, SelectionMode};

use super::super::check::{Check, FindingCode, Tally};
use super::{Bench, Step};

pub(super) fn check(bench: &Bench<'_>, tally: &mut Tally) -> Step {
    let loaded = bench.loaded;
    for (position, stage) in loaded.workflow.stages.iter().enumerate() {
        let Some(file) = loaded.selections.get(position).and_then(Option::as_ref) else { continue };
        let selection = &file.selection;
        let set = loaded.execution.closed_set(position);
        let records = set.as_ref().map(|set| set.records.as_slice()).unwrap_or_default();
        let mode_fits = match (&stage.selection, &selection.mode) {
            (Some(SelectionMode::Reviewer), Mode::Reviewer(_)) => true,
            (Some(SelectionMode::Disposition(stated)), Mode::Disposition(rule)) => stated == rule,
            _ => false,
        };
        for (holds, what) in [
            (selection.workflow_digest == loaded.workflow_digest, "it is of another workflow"),
            (selection.execution == loaded.execution.execution, "it is of another execution"),
            (selection.upstream_stage == stage.id, "it is of another stage"),
            (
                set.as_ref().map(ClosedSet::digest) == Some(selection.output_set_digest),
                "it is of another offered set",
            ),
            (
                u64::from(selection.revision) == file.named,
                "its file has the name of another revision",
            ),
            (
                is_subsequence(&selection.selected, records),
                "it selects what was not offered, or in another order",
            ),
            (mode_fits, "its mode is not the stage's"),
        ] {
            let detail = format_args!("selection of stage {}: {what}", stage.id);
            tally.require(holds, Check::Selections, FindingCode::SelectionMismatch, detail)?;
        }
        if let Mode::Disposition(rule) = &selection.mode {
            let satisfied = satisfying(bench, position, rule);
            let holds = satisfied.iter().eq(&selection.selected);
            let detail =
                format_args!("selection of stage {}: not what the dispositions select", stage.id);
            tally.require(holds, Check::Selections, FindingCode::SelectionMismatch, detail)?;
        }
    }
    tally.agrees(Check::Selections);
    Ok(())
}

/// The offered records whose instance's recorded disposition satisfies a rule.
fn satisfying(bench: &Bench<'_>, position: usize, rule: &Rule) -> Vec<Digest> {
    let loaded = bench.loaded;
    let offered = loaded.outputs.get(position).map(Vec::as_slice).unwrap_or_default();
    let concludes: HashSet<usize> = (0..)
        .zip(&loaded.attempts)
        .filter(|(_, attempts)| {
            attempts.last().and_then(|facts| facts.conclusion.as_ref()).is_some_and(|conclusion| {
                match (rule, conclusion) {
                    (Rule::Outcome(wanted), Conclusion::Outcome(id)) => wanted == id,
                    (Rule::Unresolved, Conclusion::Unresolved)
                    | (Rule::NotApplicable, Conclusion::NotApplicable) => true,
                    _ => false,
                }
            })
        })
        .map(|(at, _)| at)
        .collect();
    let satisfied = offered.iter().filter(|offered| concludes.contains(&offered.instance));
    satisfied.map(|offered| offered.digest).collect()
}

/// Whether every selected record is offered, in the offered order.
fn is_subsequence(selected: &[Digest], offered: &[Digest]) -> bool {
    let places: HashMap<&Digest, usize> = offered.iter().zip(0..).collect();
    let places: Option<Vec<usize>> =
        selected.iter().map(|digest| places.get(digest).copied()).collect();
    places.is_some_and(|places| places.is_sorted_by(|one, two| one < two))
}
