//! One entry by itself, for whoever is about to write it: the form of its line, and its issuer.

use anchorlog_proto::gad::Defects;
use anchorlog_proto::gad::entry::{Entry, EntryReading};
use anchorlog_proto::gad::limits::Limits;
use anchorlog_proto::gad::line::LineDocument;

use super::{issuer, owner};
use crate::gad::{Findings, PlanIndex, Where};

/// Judges the entry of a line as the reading of a whole witness does, apart from what needs other lines or
/// the artifacts. Gives the entry and whether it is authentic; `None` when the line is no entry of a known
/// type, for which a finding stands unless the type is unknown.
pub fn judge_entry<'v>(
    document: &'v LineDocument<'_>,
    plan: &PlanIndex,
    limits: &Limits,
    findings: &mut Findings,
) -> Option<(Entry<'v>, bool)> {
    let mut defects = Defects::new();
    let reading = document.entry(limits, &mut defects);
    let place = Where::entry(reading.link().map_or(0, |(seq, _)| seq));
    let mut found = Vec::new();
    owner::findings(&defects, reading.entry().map(|entry| entry.entry_type), &place, &mut found);
    let judged = match reading {
        EntryReading::Entry(entry) => {
            let authentic = issuer::check(&entry, Some(plan), &mut found);
            Some((entry, authentic))
        }
        EntryReading::UnknownType(_) | EntryReading::Unreadable => None,
    };
    for finding in found {
        findings.push(finding);
    }
    judged
}
