//! What was stated, against what was counted.

use std::collections::BTreeSet;
use std::fmt::Display;

use anchorlog_proto::Digest;
use anchorlog_proto::jp::attribution::{
    ContributorKind, Drift, ExecutionPins, OutcomeDrift, OutcomeTally, Projection, StageDrift,
    StageTally, Summary,
};
use anchorlog_proto::jp::core_pack::CoreId;
use anchorlog_proto::jp::id::Id;

use super::{DRIFT as DRIFT_INPUT, EXECUTION, Found, SUMMARY};
use crate::codes::Code;
use crate::codes::attribution::{COUNT, DRIFT, INVARIANT, PIN};
use crate::finding::Finding;

/// Holds a stated summary against the counted one: first its own invariants, then every member.
#[must_use]
pub fn compare_summary(stated: &Summary, counted: &Summary) -> Found {
    let mut found = Found::default();
    for (at, stage) in stated.stages.iter().enumerate() {
        for (outcome, tally) in &stage.outcomes {
            if let Err(error) = tally.check() {
                let finding = Finding::new(INVARIANT, error.to_string()).in_input(SUMMARY);
                found.push(finding.at(format!("/stages/{at}/byRule/{outcome}")));
            }
        }
    }
    let mut compare = Compare { code: COUNT, input: SUMMARY, found };
    compare.same("/workflowDigest", &counted.workflow, &stated.workflow);
    compare.same("/execution", &counted.execution, &stated.execution);
    let ids = |summary: &Summary| names(summary.stages.iter().map(|stage| &stage.stage));
    if compare.same("/stages", &ids(counted), &ids(stated)) {
        for (at, (counted, stated)) in counted.stages.iter().zip(&stated.stages).enumerate() {
            compare.stage(&format!("/stages/{at}"), counted, stated);
        }
    }
    compare.found
}

/// Holds a stated drift against the computed one.
#[must_use]
pub fn compare_drift(stated: &Drift, computed: &Drift) -> Found {
    let mut compare = Compare { code: DRIFT, input: DRIFT_INPUT, found: Found::default() };
    for (name, computed, stated) in
        [("/before", &computed.before, &stated.before), ("/after", &computed.after, &stated.after)]
    {
        compare.same(&format!("{name}/workflowDigest"), &computed.workflow, &stated.workflow);
        compare.same(&format!("{name}/execution"), &computed.execution, &stated.execution);
    }
    let ids = |drift: &Drift| names(drift.stages.iter().map(|stage| &stage.stage));
    if compare.same("/stages", &ids(computed), &ids(stated)) {
        for (at, (computed, stated)) in computed.stages.iter().zip(&stated.stages).enumerate() {
            compare.stage_drift(&format!("/stages/{at}"), computed, stated);
        }
    }
    compare.found
}

/// Holds an execution record's pins against the projection's.
#[must_use]
pub fn compare_execution(execution: &ExecutionPins, projection: &Projection) -> Found {
    let mut compare = Compare { code: PIN, input: EXECUTION, found: Found::default() };
    compare.same("/workflowDigest", &projection.workflow, &execution.workflow);
    compare.same("/execution", &projection.execution, &execution.execution);
    let stages = names(projection.stages.iter().map(|stage| &stage.stage));
    if compare.same("/frozen", &stages, &names(execution.packs.iter().map(|(id, _)| id))) {
        for (at, (stage, (_, pack))) in projection.stages.iter().zip(&execution.packs).enumerate() {
            compare.same(&format!("/frozen/{at}/packDigest"), &stage.pack, pack);
        }
    }
    if compare.same("/outputSets", &stages, &names(execution.sets.iter().map(|(id, _)| id))) {
        for (at, (stage, (_, set))) in projection.stages.iter().zip(&execution.sets).enumerate() {
            if stage.records != *set {
                let count = |records: &[Digest]| format!("{} records", records.len());
                let place = format!("/outputSets/{at}/records");
                compare.differ(&place, &count(&stage.records), &count(set));
            }
        }
    }
    compare.found
}

fn names<'i>(ids: impl Iterator<Item = &'i Id>) -> String {
    let ids: Vec<&str> = ids.map(Id::as_str).collect();
    ids.join(" ")
}

struct Compare {
    code: Code,
    input: &'static str,
    found: Found,
}

impl Compare {
    /// Whether both are written the same.
    fn same(&mut self, place: &str, expected: &impl Display, actual: &impl Display) -> bool {
        let (expected, actual) = (expected.to_string(), actual.to_string());
        if expected == actual {
            return true;
        }
        self.differ(place, &expected, &actual);
        false
    }

    fn differ(&mut self, place: &str, expected: &str, actual: &str) {
        let detail = format!("expected {}, found {}", short(expected), short(actual));
        let finding = Finding::new(self.code, detail).in_input(self.input).at(place);
        self.found.push(finding.compared(expected, actual));
    }

    fn stage(&mut self, place: &str, counted: &StageTally, stated: &StageTally) {
        self.same(&format!("{place}/packDigest"), &counted.pack, &stated.pack);
        self.same(&format!("{place}/outputSetDigest"), &counted.set, &stated.set);
        let records = format!("{place}/records");
        self.same(&format!("{records}/unresolved"), &counted.unresolved, &stated.unresolved);
        let not_applicable = (&counted.not_applicable, &stated.not_applicable);
        self.same(&format!("{records}/not-applicable"), not_applicable.0, not_applicable.1);
        let none = OutcomeTally::default();
        for id in union(counted.outcomes.keys(), stated.outcomes.keys()) {
            let place = format!("{place}/byRule/{id}");
            let sides = (counted.outcomes.get(id), stated.outcomes.get(id));
            if sides.0.is_some() != sides.1.is_some() {
                let said = |side: bool| if side { "an outcome" } else { "no such outcome" };
                self.same(&place, &said(sides.0.is_some()), &said(sides.1.is_some()));
                continue;
            }
            let (counted, stated) = (sides.0.unwrap_or(&none), sides.1.unwrap_or(&none));
            self.same(&format!("{place}/records"), &counted.records, &stated.records);
            self.same(&format!("{place}/fallback"), &counted.fallback, &stated.fallback);
            for kind in ContributorKind::ALL {
                let (counted, stated) = (counted.of(kind), stated.of(kind));
                for member in union(counted.keys(), stated.keys()) {
                    let count = |side: Option<&u64>| side.copied().unwrap_or(0);
                    let place = format!("{place}/contributors/{kind}/{member}");
                    self.same(&place, &count(counted.get(member)), &count(stated.get(member)));
                }
            }
        }
    }

    fn stage_drift(&mut self, place: &str, computed: &StageDrift, stated: &StageDrift) {
        let pack = |pack: Option<Digest>| pack.map_or("none".to_owned(), |pack| pack.to_string());
        let sides =
            ["before", "after"].into_iter().zip(computed.packs.into_iter().zip(stated.packs));
        for (side, (computed, stated)) in sides {
            self.same(&format!("{place}/packDigests/{side}"), &pack(computed), &pack(stated));
        }
        self.same(&format!("{place}/unresolved"), &computed.unresolved, &stated.unresolved);
        let not_applicable = (&computed.not_applicable, &stated.not_applicable);
        self.same(&format!("{place}/not-applicable"), not_applicable.0, not_applicable.1);
        let none = OutcomeDrift::default();
        for id in union(computed.outcomes.keys(), stated.outcomes.keys()) {
            let place = format!("{place}/byRule/{id}");
            let computed = computed.outcomes.get(id).unwrap_or(&none);
            let stated = stated.outcomes.get(id).unwrap_or(&none);
            self.same(&format!("{place}/records"), &computed.records, &stated.records);
            self.same(&format!("{place}/fallback"), &computed.fallback, &stated.fallback);
            for kind in ContributorKind::ALL {
                let (computed, stated) = (computed.of(kind), stated.of(kind));
                for member in union(computed.keys(), stated.keys()) {
                    let count = |side: Option<&i64>| side.copied().unwrap_or(0);
                    let place = format!("{place}/contributors/{kind}/{member}");
                    self.same(&place, &count(computed.get(member)), &count(stated.get(member)));
                }
            }
        }
    }
}

fn union<'k>(
    one: impl Iterator<Item = &'k CoreId>,
    two: impl Iterator<Item = &'k CoreId>,
) -> BTreeSet<&'k CoreId> {
    one.chain(two).collect()
}

fn short(text: &str) -> &str {
    text.get(..text.floor_char_boundary(120)).unwrap_or_default()
}
