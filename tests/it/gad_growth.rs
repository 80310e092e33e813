//! What EVALUATE costs grows with what it is given: whatever a record asks for, and whoever wrote it.

use std::path::Path;
use std::time::Duration;

use anchorlog_tests::gad_load::hostile::{CASES, Case, MAX_NODES};
use anchorlog_tests::gad_load::{measure, run};
use anchorlog_verifier::gad::finding::MAX_PER_CODE;
use anchorlog_verifier::gad::report::Report;

#[test]
fn a_generated_run_is_valid_and_complete() {
    let folder = tempfile::tempdir().unwrap();
    for entries in [100, 4_000] {
        let folder = folder.path().join(entries.to_string());
        let written = run::write(&folder, entries);
        assert!(written.entries >= entries && written.signed > written.entries / 4, "{written:?}");
        let report = judged(&folder);
        let statuses = &report.statuses;
        assert!(statuses.valid() && statuses.satisfied(), "{}", measure::codes(&report));
    }
}

#[test]
fn hostile_records_cost_time_in_proportion_to_their_size() {
    let found: Vec<_> = CASES.iter().filter_map(out_of_proportion).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The report, which no number of threads may change, with its lists held to their bounds.
fn judged(folder: &Path) -> Report {
    let (_, report) = measure::run(folder, 1);
    for threads in [2, 5] {
        assert_eq!(measure::run(folder, threads).1.to_json(), report.to_json());
    }
    let codes = report.findings.list().iter().map(|finding| finding.code);
    let mut counts = std::collections::BTreeMap::new();
    codes.for_each(|code| *counts.entry(code).or_insert(0_usize) += 1);
    assert!(counts.values().all(|count| *count <= MAX_PER_CODE));
    report
}

/// Eight times the size may cost three times as much for each unit, in the best of some attempts. What is
/// quadratic costs eight times as much.
fn out_of_proportion(case: &Case) -> Option<String> {
    const FACTOR: u32 = 8;
    // The kernel keeps the time of threads by its ticks.
    const TICKS: Duration = Duration::from_millis(10);
    let scratch = tempfile::tempdir().unwrap();
    let [small, large] = [("small", 1), ("large", u64::from(FACTOR))].map(|(name, factor)| {
        let folder = scratch.path().join(name);
        let _written = (case.write)(&folder, case.size / 400 * factor, MAX_NODES / 20);
        assert!(!judged(&folder).statuses.satisfied(), "{}", case.name);
        folder
    });
    let mut best = (Duration::MAX, Duration::MAX);
    for _ in 0..6 {
        best.0 = best.0.min(busy_with(&small));
        best.1 = best.1.min(busy_with(&large));
        if best.1 < 3 * FACTOR * best.0.max(TICKS) {
            return None;
        }
    }
    Some(format!("{}: {:?} and, {FACTOR} times as large, {:?}", case.name, best.0, best.1))
}

/// Processor time of an evaluation on this thread alone.
fn busy_with(folder: &Path) -> Duration {
    let before = measure::busy();
    let _judged = measure::run(folder, 1);
    measure::busy().checked_sub(before).unwrap()
}
