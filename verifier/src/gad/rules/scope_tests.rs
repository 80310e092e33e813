//! Every code of R6 but the one of reliance.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use crate::gad::PlanIndex;
use crate::gad::testing::{
    APPROVER, ENGINE, Record, codes_of, dispatch, exit, judge, plan, result, verdict,
};
use anchorlog_proto::Digest;

/// n1 and n2 are normal, g is gated.
fn three() -> PlanIndex {
    plan(&[
        ("g", "gated", &["gate/"]),
        ("n1", "normal", &["src/one/", "README.md"]),
        ("n2", "normal", &["src/two/"]),
    ])
}

struct Story {
    plan: PlanIndex,
    record: Record,
}

impl Story {
    fn new() -> Self {
        let plan = three();
        let record = Record::new(&plan);
        Self { plan, record }
    }

    /// A completed session that touched this; the number of its result.
    fn session(&mut self, id: &str, nodes: &[&str], touched: &[&str]) -> u64 {
        let path = "artifacts/i";
        self.record.push("dispatch", &dispatch(id, nodes, path, &Digest::of(b"i")));
        let node = match nodes {
            [node] => format!("\"{node}\""),
            _ => "null".to_owned(),
        };
        self.record.push("executor_exit", &exit(id, &node, true));
        self.record.push("execution_result", &result(id, &node, touched))
    }

    fn flag(&mut self, node: &str, result: u64, paths: &[&str]) -> u64 {
        let payload =
            format!(r#"{{"execution_result_seq":{result},"node":"{node}","paths":{paths:?}}}"#);
        self.record.push("flag", &payload)
    }

    fn remediation(&mut self, node: &str, action: &str) -> u64 {
        self.record.push("remediation", &format!(r#"{{"action":"{action}","node":"{node}"}}"#))
    }

    fn close(&mut self, node: &str, says: &str) -> u64 {
        let members = format!(r#"{{"node":"{node}","verdict":"{says}"}}"#);
        self.record.sign("scope_closed", &members, ENGINE)
    }

    fn verdict(&mut self, session: &str, result: u64, node: &str) -> u64 {
        self.record.sign("verdict", &verdict(session, result, node, "pass"), ENGINE)
    }

    /// What R6 finds once the record is covered.
    fn found(mut self) -> Vec<String> {
        self.record.checkpoint();
        codes_of("R6.", &judge(&self.record.bytes(), &self.plan))
    }
}

#[test]
fn a_flag_that_is_removed_and_closed() {
    let mut story = Story::new();
    let result = story.session("s1", &["n1"], &["README.md", "src/one/a", "src/two/b"]);
    story.flag("n1", result, &["src/two/b"]);
    story.remediation("n1", "removal");
    story.close("n1", "fail");
    story.close("n1", "pass");
    story.verdict("s1", result, "n1");
    assert_eq!(story.found(), [""; 0]);
}

#[test]
fn what_is_outside_every_fence_is_flagged() {
    let mut story = Story::new();
    let result = story.session("s1", &["n1"], &["src/one/a", "src/two/b", "src/two/c"]);
    story.verdict("s1", result, "n1");
    assert_eq!(story.found(), ["2 R6.FLAG.OMITTED"]);

    let mut story = Story::new();
    let result = story.session("s1", &["n1"], &["src/one/a", "src/two/b", "src/two/c"]);
    story.flag("n1", result, &["src/two/c"]);
    story.verdict("s1", result, "n1");
    assert_eq!(story.found(), ["2 R6.FLAG.INCOMPLETE"]);

    // Two flags name it together.
    let mut story = Story::new();
    let result = story.session("s1", &["n1"], &["src/one/a", "src/two/b", "src/two/c"]);
    story.flag("n1", result, &["src/two/c"]);
    story.flag("n1", result, &["src/two/b"]);
    story.verdict("s1", result, "n1");
    assert_eq!(story.found(), [""; 0]);

    // A session that nobody judged, or that failed, owes no flag.
    let mut story = Story::new();
    story.session("s1", &["n1"], &["src/two/b"]);
    assert_eq!(story.found(), [""; 0]);
}

#[test]
fn several_nodes_share_their_fences_and_their_flags() {
    let touched = ["gate/x", "src/one/a", "src/two/b", "src/two/c"];
    // Everything lies in some fence of the session.
    let mut story = Story::new();
    let result = story.session("s1", &["n2", "n1"], &touched[1..]);
    story.verdict("s1", result, "n1");
    story.verdict("s1", result, "n2");
    assert_eq!(story.found(), [""; 0]);

    // Something lies in none: whichever node flags it, also after another one was judged.
    for flagged in [false, true] {
        let mut story = Story::new();
        let result = story.session("s1", &["n2", "n1"], &touched);
        story.verdict("s1", result, "n1");
        if flagged {
            story.flag("n2", result, &["gate/x"]);
        }
        let codes = if flagged { vec![] } else { vec!["2 R6.FLAG.OMITTED"] };
        assert_eq!(story.found(), codes);
    }

    // A flag of less is not incomplete here, but something is omitted.
    let mut story = Story::new();
    let result = story.session("s1", &["n2", "n1"], &["gate/x", "gate/y", "src/one/a"]);
    story.flag("n2", result, &["src/one/a"]);
    story.verdict("s1", result, "n1");
    assert_eq!(story.found(), ["2 R6.FLAG.OMITTED"]);

    // The last of its nodes is dispatched again: what is left is concluded then.
    let mut story = Story::new();
    let result = story.session("s1", &["n2", "n1"], &touched);
    story.verdict("s1", result, "n1");
    story.session("s2", &["n2"], &["src/two/b"]);
    assert_eq!(story.found(), ["2 R6.FLAG.OMITTED"]);
}

#[test]
fn a_flag_is_mechanical() {
    let mut story = Story::new();
    let result = story.session("s1", &["n1"], &["src/one/a", "src/two/b"]);
    story.flag("n1", result, &["src/one/a", "src/two/b", "src/two/c"]);
    assert_eq!(story.found(), ["3 R6.FLAG.IN_FENCE", "3 R6.FLAG.NOT_TOUCHED"]);
}

#[test]
fn a_flag_names_the_result_of_the_nodes_session() {
    let story = |node: &str, result: u64| {
        let mut story = Story::new();
        let own = story.session("s1", &["n1"], &["src/two/b"]);
        assert_eq!(own, 2);
        story.session("s2", &["n2"], &["src/two/b"]);
        story.flag(node, result, &["src/two/b"]);
        story.found()
    };
    assert_eq!(story("n1", 2), [""; 0]);
    assert_eq!(story("n1", 5), ["6 R6.FLAG.REF"]);
    assert_eq!(story("n1", 1), ["6 R6.FLAG.REF"]);
    assert_eq!(story("nobody", 2), ["6 R6.FLAG.REF"]);
    assert_eq!(story("n2", 2), ["6 R6.FLAG.REF", "6 R6.FLAG.IN_FENCE"]);

    // A node that was judged can't be flagged any more.
    let mut story = Story::new();
    let result = story.session("s1", &["n1"], &["src/one/a", "src/two/b"]);
    story.flag("n1", result, &["src/two/b"]);
    story.verdict("s1", result, "n1");
    story.flag("n1", result, &["src/two/b"]);
    assert_eq!(story.found(), ["5 R6.FLAG.REF"]);
}

#[test]
fn the_result_is_covered() {
    let mut story = Story::new();
    let result = story.session("s1", &["n1"], &["src/two/b"]);
    story.flag("n1", result, &["src/two/b"]);
    let members = story.record.checkpoint_members(0, 3);
    story.record.sign("checkpoint", &members, APPROVER);
    let codes = codes_of("R6.", &judge(&story.record.bytes(), &story.plan));
    assert_eq!(codes, ["3 R6.FLAG.UNAUTHENTICATED"]);
}

#[test]
fn remediation_answers_a_flag() {
    let story = |node: &str, action: &str, flagged: bool| {
        let mut story = Story::new();
        let result = story.session("s1", &["n1"], &["src/two/b"]);
        if flagged {
            story.flag("n1", result, &["src/two/b"]);
        } else {
            story.record.checkpoint();
        }
        story.remediation(node, action);
        story.found()
    };
    assert_eq!(story("n1", "removal", true), [""; 0]);
    assert_eq!(story("n1", "removal", false), ["4 R6.REMEDIATION.NO_FLAG"]);
    assert_eq!(story("nobody", "removal", true), ["4 R6.REMEDIATION.NO_FLAG"]);
    assert_eq!(story("n1", "revision", true), ["4 R6.REMEDIATION.NO_FLAG"]);
    assert_eq!(story("n1", "apology", true), ["4 R6.REMEDIATION.ACTION"]);
    assert_eq!(story("n1", "succession", true), ["4 R6.SUCCESSION_CLOSE"]);
    assert_eq!(
        story("n1", "succession", false),
        ["4 R6.SUCCESSION_CLOSE", "4 R6.REMEDIATION.NO_FLAG"]
    );
}

#[test]
fn a_closure_follows_a_removal_and_is_signed() {
    let mut story = Story::new();
    let result = story.session("s1", &["n1"], &["src/two/b", "src/two/c"]);
    story.close("n1", "pass");
    story.close("nobody", "pass");
    story.flag("n1", result, &["src/two/b"]);
    story.close("n1", "pass");
    assert_eq!(
        story.found(),
        ["3 R6.CLOSE.NO_FLAG", "4 R6.CLOSE.NO_FLAG", "6 R6.CLOSE.NO_REMEDIATION"]
    );

    // A flag after the removal needs another one.
    let mut story = Story::new();
    let result = story.session("s1", &["n1"], &["src/two/b", "src/two/c"]);
    story.flag("n1", result, &["src/two/b"]);
    story.remediation("n1", "removal");
    story.flag("n1", result, &["src/two/c"]);
    story.close("n1", "pass");
    assert_eq!(story.found(), ["6 R6.CLOSE.NO_REMEDIATION"]);

    for (payload, seed) in [(None, APPROVER), (Some(r#"{"node":"n1","verdict":"pass"}"#), 0)] {
        let mut story = Story::new();
        let result = story.session("s1", &["n1"], &["src/two/b"]);
        story.flag("n1", result, &["src/two/b"]);
        story.remediation("n1", "removal");
        if let Some(payload) = payload {
            story.record.push("scope_closed", payload);
        } else {
            let members = r#"{"node":"n1","verdict":"pass"}"#;
            story.record.sign("scope_closed", members, seed);
        }
        assert_eq!(story.found(), ["5 R6.CLOSE.SIG"]);
    }
}

#[test]
fn what_can_change_no_more_is_not_kept() {
    use super::R6;
    use crate::gad::trace::Machine;
    use crate::gad::{Findings, Ledger};
    use std::sync::Arc;

    let mut story = Story::new();
    for round in 0..20 {
        let id = format!("s{round}");
        let result = story.session(&id, &["n1"], &["src/one/a"]);
        if round % 2 == 0 {
            story.verdict(&id, result, "n1");
        }
    }
    let plan = Arc::new(story.plan.clone());
    let mut machine = Machine::new(Arc::clone(&plan), false);
    let mut r6 = R6::new(&plan);
    let ledger = Ledger::new();
    let mut most = 0;
    let mut observer = |event: &crate::gad::Event<'_>, findings: &mut Findings| {
        r6.observe(event, &machine, &ledger, findings);
        machine.step(event, None, findings);
        most = most.max(r6.surfaces());
    };
    let artifacts = crate::gad::witness::Artifacts::default();
    let cx = crate::gad::witness::WitnessContext {
        plan: Some(&plan),
        stated: None,
        artifacts: &artifacts,
        limits: &anchorlog_proto::gad::Limits::DEFAULT,
        threads: std::num::NonZeroUsize::MIN,
        batch_bytes: 1000,
    };
    let bytes = story.record.bytes();
    let mut findings = Findings::new();
    crate::gad::witness::read_witness(&bytes[..], &cx, &mut observer, &mut findings).unwrap();
    assert_eq!(most, 1);
}
