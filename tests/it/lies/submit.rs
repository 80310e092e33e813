//! Who submits and looks up: no lie gets a receipt accepted, and nothing false is shown as proved.

use anchorlog_proto::statement::LogEntry;
use anchorlog_tests::lying_log::{Lie, LyingLog, made_up};
use anchorlog_tests::world::statements::digest;
use serde_json::{Value, json};

use super::{SEEN, code, grow, seen};

/// Each lie, with what a submission and a look-up that meet it call it. `None` where there is nothing to meet.
fn lies() -> Vec<(Lie, Option<&'static str>, Option<&'static str>)> {
    vec![
        (Lie::SplitView { index: 5 }, Some("LOG.SPLIT_VIEW"), Some("LOG.SPLIT_VIEW")),
        (Lie::Rollback { size: 290 }, Some("LOG.ROLLBACK"), Some("LOG.ROLLBACK")),
        (Lie::Fork { index: 5, more: 9 }, Some("LOG.CONSISTENCY"), Some("LOG.CONSISTENCY")),
        (Lie::WrongEntry { index: 5 }, Some("RCT.LEAF_HASH"), Some("LOG.INCLUSION")),
        // Its neighbours are proved as ever: only who asks for that leaf can notice.
        (Lie::WrongLeaf { index: 5 }, None, Some("LOG.INCLUSION")),
        (Lie::WrongIndex { one: 5, other: 6 }, Some("LOG.INCLUSION"), Some("LOG.INCLUSION")),
        (Lie::Stale { size: SEEN - 1 }, Some("PROOF.INDEX"), Some("LOG.ROLLBACK")),
        // What has been seen before is no news, but what is submitted must be in it.
        (Lie::Stale { size: SEEN }, Some("PROOF.INDEX"), None),
    ]
}

/// The digest that a look-up has to ask for to meet the lie.
fn asked(log: &LyingLog, lie: Lie) -> String {
    match lie {
        Lie::WrongEntry { index } | Lie::WrongLeaf { index } => {
            LogEntry::from_leaf(&made_up(index)).unwrap().statement().digest.to_string()
        }
        _ => {
            let leaf = log.truth().entry(5).unwrap().to_vec();
            LogEntry::from_leaf(&leaf).unwrap().statement().digest.to_string()
        }
    }
}

#[test]
fn every_lie_about_a_submission_is_named_and_the_statement_waits() {
    for (lie, expected, _) in lies() {
        let (log, _served, anchor) = seen();
        log.tell(lie);
        let new = digest(900).to_string();
        let submit = ["submit", "--kind", "digest", "--digest", &new];
        let Some(expected) = expected else {
            assert_eq!(anchor.report(0, &submit)["receipts"][0]["index"], SEEN, "{lie:?}");
            continue;
        };
        let report = anchor.report(exit_code(expected), &submit);
        assert_eq!(code(&report), expected, "{lie:?}: {report:#}");
        assert_eq!(
            (&report["left_in_outbox"], &report["receipts"]),
            (&1.into(), &json!([])),
            "{lie:?}"
        );

        // Once it is honest again, the statement gets its place.
        log.tell(Lie::None);
        let report = anchor.report(0, &submit);
        let place = |index: u64| (Value::from(index), Value::from(0));
        let found = (report["receipts"][0]["index"].clone(), report["left_in_outbox"].clone());
        assert_eq!(found, place(SEEN), "{lie:?}");
    }
}

#[test]
fn every_lie_that_a_look_up_meets_is_named() {
    for (lie, _, expected) in lies() {
        let (log, _served, anchor) = seen();
        log.tell(lie);
        let asked = asked(&log, lie);
        let Some(expected) = expected else {
            assert_eq!(anchor.report(0, &["lookup", &asked])["entries"][0]["index"], 5, "{lie:?}");
            continue;
        };
        let report = anchor.report(1, &["lookup", &asked]);
        assert_eq!(code(&report), expected, "{lie:?}: {report:#}");
    }
}

#[test]
fn a_log_that_only_grows_is_believed() {
    let (log, _served, anchor) = seen();
    grow(&log, SEEN..SEEN + 250);
    let asked = digest(SEEN + 249).to_string();
    let report = anchor.report(0, &["lookup", &asked]);
    assert_eq!(
        (&report["entries"][0]["index"], &report["tree_size"]),
        (&(SEEN + 249).into(), &(SEEN + 250).into())
    );
    let batch: Vec<String> = (900..910).map(|number| digest(number).to_string()).collect();
    let mut submit = vec!["submit", "--kind", "digest"];
    for digest in &batch {
        submit.extend(["--digest", digest]);
    }
    let report = anchor.report(0, &submit);
    assert_eq!(report["receipts"][9]["index"], SEEN + 259);
}

/// What can't be read at all could not be evaluated; what can and is false does not hold.
fn exit_code(code: &str) -> i32 {
    if code.starts_with("LOG.") { 1 } else { 2 }
}
