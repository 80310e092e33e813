//! What is written is read, and what is not exactly the form is refused.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use proptest::prelude::*;

use super::super::{Drift, OutcomeTally, StageTally, Summary};
use super::MAX_WIRE_BYTES;
use crate::digest::Digest;
use crate::jp::core_pack::CoreId;
use crate::jp::fault::RefusalCode;

fn id(text: &str) -> CoreId {
    text.parse().unwrap()
}

fn summary(counts: &[(u64, u64)]) -> Summary {
    let digest = Digest::of(b"x");
    let mut stage = StageTally::new("s".parse().unwrap(), digest, digest, &[id("no"), id("yes")]);
    stage.unresolved = 2;
    stage.not_applicable = 1;
    for (name, (forcing, rules)) in ["a", "b", "c"].into_iter().zip(counts) {
        let tally = stage.outcomes.get_mut("yes").unwrap();
        tally.records += forcing + rules;
        if *forcing > 0 {
            tally.forcing.insert(id(name), *forcing);
        }
        if *rules > 0 {
            tally.rules.insert(id(name), *rules);
        }
    }
    let empty = StageTally::new("t".parse().unwrap(), digest, digest, &[id("done"), id("open")]);
    Summary::new(Digest::of(b"w"), "e1".parse().unwrap(), vec![stage, empty])
}

fn text(summary: &Summary) -> String {
    String::from_utf8(summary.to_canonical().unwrap()).unwrap()
}

fn refused(text: &str) -> RefusalCode {
    Summary::read(text.as_bytes()).unwrap_err().code()
}

#[test]
fn the_form_of_a_summary_is_this() {
    let x = Digest::of(b"x");
    let w = Digest::of(b"w");
    let expected = format!(
        concat!(
            r#"{{"execution":"e1","schema":"anchorlog.summary/1","stages":[{{"byRule":{{"#,
            r#""no":{{"contributors":{{"forcing-exception":{{}},"rule":{{}}}},"fallback":0,"records":0}},"#,
            r#""yes":{{"contributors":{{"forcing-exception":{{"a":1}},"rule":{{"b":2}}}},"fallback":0,"records":3}}}},"#,
            r#""outputSetDigest":"{x}","packDigest":"{x}","records":{{"not-applicable":1,"outcome":3,"unresolved":2}},"stage":"s"}},"#,
            r#"{{"byRule":{{"done":{{"contributors":{{"forcing-exception":{{}},"rule":{{}}}},"fallback":0,"records":0}},"#,
            r#""open":{{"contributors":{{"forcing-exception":{{}},"rule":{{}}}},"fallback":0,"records":0}}}},"#,
            r#""outputSetDigest":"{x}","packDigest":"{x}","records":{{"not-applicable":0,"outcome":0,"unresolved":0}},"stage":"t"}}],"#,
            r#""summaryVersion":2,"workflowDigest":"{w}"}}"#
        ),
        x = x,
        w = w
    );
    let made = summary(&[(1, 0), (0, 2)]);
    assert_eq!(text(&made), expected);
    assert_eq!(Summary::read(expected.as_bytes()), Ok(made));
}

#[test]
fn versions_are_unread_and_forms_malformed() {
    use RefusalCode::{InputMalformed, VersionUnread};
    let good = text(&summary(&[(1, 0)]));
    let with = |from: &str, to: &str| {
        let changed = good.replacen(from, to, 1);
        assert_ne!(changed, good, "{from}");
        refused(&changed)
    };
    assert_eq!(with(r#""summaryVersion":2"#, r#""summaryVersion":1"#), VersionUnread);
    assert_eq!(with(r#""summaryVersion":2"#, r#""summaryVersion":3"#), VersionUnread);
    assert_eq!(with("anchorlog.summary/1", "anchorlog.summary/2"), VersionUnread);
    assert_eq!(with(r#""summaryVersion":2"#, r#""summaryVersion":"2""#), InputMalformed);
    assert_eq!(with(r#","summaryVersion":2"#, ""), InputMalformed);
    assert_eq!(with("anchorlog.summary/1", "other/1"), InputMalformed);
    assert_eq!(with(r#""forcing-exception":{"a":1},"#, ""), InputMalformed);
    assert_eq!(with(r#"{"a":1}"#, r#"{"a":0}"#), InputMalformed);
    assert_eq!(with(r#"{"a":1}"#, r#"{"a":-1}"#), InputMalformed);
    assert_eq!(with(r#"{"a":1}"#, r#"{"a":1.0}"#), InputMalformed);
    assert_eq!(with(r#"{"a":1}"#, r#"{"A":1}"#), InputMalformed);
    assert_eq!(with(r#"{"a":1}"#, r#"{"a":1,"a":1}"#), InputMalformed);
    assert_eq!(with(r#""rule":{}"#, r#""rule":{},"other":{}"#), InputMalformed);
    assert_eq!(with(r#""outcome":1"#, r#""outcome":2"#), InputMalformed);
    assert_eq!(with(r#""stage":"t""#, r#""stage":"s""#), InputMalformed);
    // An unread version counts before what is malformed beside it.
    let both =
        good.replace(r#""summaryVersion":2"#, r#""summaryVersion":9"#).replace(r#"{"a":1}"#, "7");
    assert_eq!(refused(&both), VersionUnread);
}

#[test]
fn bounds_are_asked_first() {
    let long = format!("{}{{}}", " ".repeat(MAX_WIRE_BYTES - 1));
    assert_eq!(refused(&long), RefusalCode::InputOverBound);
    assert_eq!(refused(&"[".repeat(65)), RefusalCode::InputOverBound);
    assert_eq!(refused(&format!("[1{}]", "0".repeat(128))), RefusalCode::InputMalformed);
}

#[test]
fn a_drift_without_a_difference_lists_no_outcome() {
    let same = summary(&[(1, 2)]);
    let drift = Drift::between(&same, &same).unwrap();
    let bytes = drift.to_canonical().unwrap();
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert_eq!(text.matches(r#""byRule":{}"#).count(), 2);
    assert_eq!(Drift::read(&bytes), Ok(drift));
    let zero = r#""byRule":{"no":{"contributors":{"forcing-exception":{},"rule":{}},"fallback":0,"records":0}}"#;
    let listed = text.replacen(r#""byRule":{}"#, zero, 1);
    assert_eq!(Drift::read(listed.as_bytes()).unwrap_err().code(), RefusalCode::InputMalformed);
    let unread = text.replace(r#""driftVersion":2"#, r#""driftVersion":1"#);
    assert_eq!(Drift::read(unread.as_bytes()).unwrap_err().code(), RefusalCode::VersionUnread);
}

#[test]
fn counts_beyond_exact_integers_have_no_form() {
    let mut huge = summary(&[]);
    huge.stages[0].unresolved = u64::MAX;
    assert!(huge.to_canonical().is_err());
    huge.stages[0].unresolved = 0;
    let most = OutcomeTally { records: 1 << 53, ..OutcomeTally::default() };
    huge.stages[0].outcomes.insert(id("yes"), most);
    assert!(huge.to_canonical().is_err());
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        before in proptest::collection::vec((0_u64..9, 0_u64..9), 3),
        after in proptest::collection::vec((0_u64..9, 0_u64..9), 3),
    ) {
        let (before, after) = (summary(&before), summary(&after));
        prop_assert_eq!(Summary::read(&before.to_canonical().unwrap()), Ok(before.clone()));
        let drift = Drift::between(&before, &after).unwrap();
        prop_assert_eq!(Drift::read(&drift.to_canonical().unwrap()), Ok(drift));
    }
}
