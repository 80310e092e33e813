//! A log that lies, and whoever notices: the same lies are told to every part that could fall for one.

mod compare;
mod monitor;
mod submit;

use anchorlog_tests::lying_log::{LyingLog, Served};
use anchorlog_tests::world::Anchor;
use anchorlog_tests::world::statements::entry;
use serde_json::Value;

/// How many entries everybody has seen when the lies begin: more than a tile.
const SEEN: u64 = 300;

/// A log whose [`SEEN`] entries were honest.
fn log() -> LyingLog {
    let log = LyingLog::new("liar.example/log");
    grow(&log, 0..SEEN);
    log
}

/// Appends statements.
fn grow(log: &LyingLog, numbers: impl Iterator<Item = u64>) {
    log.append(numbers.map(|number| entry(number).leaf_bytes().to_vec()));
}

/// The log behind HTTP, and somebody who has seen what it was.
fn seen() -> (LyingLog, Served, Anchor) {
    let log = log();
    let served = log.serve();
    let anchor = Anchor::at(served.address(), &log.vkey().to_string());
    let report = anchor.report(0, &["receipt", "7"]);
    assert_eq!(report["receipts"][0]["tree_size"], SEEN);
    (log, served, anchor)
}

/// The code of the first failure of a report.
fn code(report: &Value) -> &str {
    report["errors"][0]["code"].as_str().unwrap_or_else(|| panic!("no failure in {report:#}"))
}
