//! What a report establishes, and what it does not, in sentences (section 8.8).

use super::reading::{Reading, ReadingKind};
use super::report::{Coverage, Report};

/// What is shown. Nothing is where chain or copy has a finding.
pub(super) fn established(report: &Report) -> Vec<String> {
    let mut all = Vec::new();
    if !report.is_clean() {
        return all;
    }
    if let Some(reading) = reading(report) {
        let highest = reading.highest_index();
        let from = reading.continued_after().map_or(0, |after| after.saturating_add(1));
        if from <= highest {
            all.push(format!(
                "The statements of index {from} to {highest} are all there, as the holder of a trusted key signed \
                 them: none is missing, altered or out of order."
            ));
        }
    }
    if let Coverage::Through(line) = report.countersigned() {
        all.push(format!(
            "Records 1 to {line} of this copy are those that existed when the witness signed for record {line}, \
             if the witness is independent of the trail's operator."
        ));
    }
    let held = report.records.as_ref().and_then(|records| records.held);
    if let Some(line) = held.filter(|line| Some(*line) > report.countersigned().through()) {
        all.push(format!(
            "Records 1 to {line} of this copy are those that existed when the checkpoint of record {line} was \
             made, if its holder is independent of the trail's operator."
        ));
    }
    all
}

/// What is not shown, whatever was found.
pub(super) fn not_established(report: &Report) -> Vec<String> {
    let mut all = Vec::new();
    if report.refusal.is_some() {
        return all;
    }
    if let Some(reading) = reading(report) {
        recency(reading, &mut all);
    }
    match (&report.records, report.witnessed().through()) {
        (None, _) => all.push("Anything about the records: no copy of the trail was given.".to_owned()),
        (Some(_), Some(line)) => all.push(format!(
            "Records after {line}: no checkpoint that counts covers them, and a copy cut off there looks the same."
        )),
        (Some(_), None) => all.push("Any record: no checkpoint that counts covers one.".to_owned()),
    }
    all.push(
        "That the records are true, that every decision was recorded, or that this is the only trail.".to_owned(),
    );
    if report.chain.is_some() {
        all.push(
            "Anything against a witness that works with the operator or whose key was stolen: it can sign any \
             checkpoint, state any time, and sign a second chain for somebody else."
                .to_owned(),
        );
        all.push("Who submitted a checkpoint, and when any record was made.".to_owned());
    }
    all
}

fn reading(report: &Report) -> Option<&Reading> {
    report.chain.as_ref()?.reading.as_ref()
}

fn recency(reading: &Reading, all: &mut Vec<String>) {
    if let Some(after) = reading.continued_after() {
        all.push(format!(
            "Anything about the statements up to index {after}: they were not read now. The continuation is as good \
             as the reading that saved it, and nothing in it tells who did."
        ));
    }
    let highest = reading.highest_index();
    all.push(match (reading.kind(), reading.head_index()) {
        (ReadingKind::Current, Some(head)) => format!(
            "That index {head} is still the witness' head: it is as current as your fetching it, and a signature \
             does not say when that was."
        ),
        _ => format!(
            "That there is no statement after index {highest}: without a head fetched from the witness the chain was \
             read only as far as it was given."
        ),
    });
}
