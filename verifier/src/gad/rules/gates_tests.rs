//! Every code of R7 but those of reliance.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use crate::gad::PlanIndex;
use crate::gad::testing::{
    APPROVER, ENGINE, Record, SECOND_APPROVER, STRANGER, codes_of, dispatch, exit, judge, key,
    plan, result, verdict,
};
use anchorlog_proto::Digest;

struct Story {
    plan: PlanIndex,
    record: Record,
}

/// An answer before it is signed.
struct Answer {
    who: u8,
    signer: u8,
    decision: &'static str,
    findings: Vec<u64>,
    request: Digest,
}

impl Story {
    /// Two gated nodes, each with a session and a verdict: results 3 and 7, verdicts 4 and 8, a claim on
    /// `a` 9 and a probe 0.
    fn new() -> Self {
        let plan = plan(&[("a", "gated", &["src/"]), ("b", "gated", &["src/"])]);
        let record = Record::new(&plan);
        let mut story = Self { plan, record };
        let digest = Digest::of(b"x");
        let probe = format!(
            r#"{{"demonstrated_result":"fail","environment_digest":"{digest}","exit_code":1,"induced_defect":"d","output_digest":"{digest}","restoration":"verified","signal_artifact_digest":"{digest}","spawned":true,"t":"2026-07-20T10:00:00Z"}}"#
        );
        story.record.sign("probe", &probe, ENGINE);
        story.session("sa", "a");
        story.session("sb", "b");
        story.record.push("claim", r#"{"node":"a","session_id":"sa","text":"done"}"#);
        assert_eq!(story.record.len(), 10);
        story
    }

    fn session(&mut self, id: &str, node: &str) {
        let digest = Digest::of(b"i");
        self.record.push("dispatch", &dispatch(id, &[node], "artifacts/i", &digest));
        let name = format!("\"{node}\"");
        self.record.push("executor_exit", &exit(id, &name, true));
        let result = self.record.push("execution_result", &result(id, &name, &[]));
        self.record.sign("verdict", &verdict(id, result, node, "pass"), ENGINE);
    }

    fn request(&mut self, node: &str, findings: &[u64]) -> u64 {
        let payload = format!(r#"{{"findings":{findings:?},"node":"{node}"}}"#);
        self.record.push("gate_request", &payload)
    }

    fn revised(&mut self, node: &str, findings: &[u64], change: u64) -> u64 {
        let payload =
            format!(r#"{{"change_ref":{change},"findings":{findings:?},"node":"{node}"}}"#);
        self.record.push("revised_approval_request", &payload)
    }

    /// An approval of the request just made.
    fn approval(&self) -> Answer {
        Answer {
            who: APPROVER,
            signer: APPROVER,
            decision: "proceed",
            findings: vec![4],
            request: self.record.head(),
        }
    }

    fn answer(&mut self, type_name: &str, node: &str, answer: &Answer) -> u64 {
        let Answer { who, signer, decision, findings, request } = answer;
        let who = key(*who).id();
        let members = format!(
            r#"{{"decision":"{decision}","findings_ref":{findings:?},"node":"{node}","request_h":"{request}","who":"{who}"}}"#
        );
        self.record.sign(type_name, &members, *signer)
    }

    fn found(mut self) -> Vec<String> {
        self.record.checkpoint();
        codes_of("R7.", &judge(&self.record.bytes(), &self.plan))
    }
}

/// What is found when `a` is requested, and approved as `change` says.
fn approved(change: impl FnOnce(&mut Answer)) -> Vec<String> {
    let mut story = Story::new();
    story.request("a", &[3, 4]);
    let mut answer = story.approval();
    change(&mut answer);
    story.answer("approval", "a", &answer);
    story.found()
}

#[test]
fn a_request_and_its_answer() {
    assert_eq!(approved(|_| {}), [""; 0]);
    assert_eq!(approved(|answer| answer.findings = vec![3, 4]), [""; 0]);
    let mut story = Story::new();
    story.request("a", &[0, 1, 2, 3, 4]);
    let answer = Answer { decision: "refuse", ..story.approval() };
    story.answer("refusal", "a", &answer);
    assert_eq!(story.found(), [""; 0]);
}

#[test]
fn who_answers_is_a_registered_approver_and_signs() {
    assert_eq!(
        approved(|answer| (answer.who, answer.signer) = (STRANGER, STRANGER)),
        ["11 R7.SIG", "11 R7.WHO"]
    );
    assert_eq!(approved(|answer| answer.who = STRANGER), ["11 R7.WHO"]);
    assert_eq!(
        approved(|answer| (answer.who, answer.signer) = (ENGINE, ENGINE)),
        ["11 R7.SIG", "11 R7.ROLE"]
    );
    assert_eq!(approved(|answer| answer.who = SECOND_APPROVER), ["11 R7.SIG"]);
    assert_eq!(approved(|answer| answer.signer = ENGINE), ["11 R7.SIG"]);
    // One that can't be read at all is not signed either.
    let mut story = Story::new();
    story.request("a", &[4]);
    story.record.push("refusal", "{}");
    assert_eq!(story.found(), ["11 R7.SIG"]);
}

#[test]
fn a_decision_is_that_of_its_type() {
    assert_eq!(approved(|answer| answer.decision = "refuse"), ["11 R7.DECISION"]);
    assert_eq!(approved(|answer| answer.decision = "maybe"), ["11 R7.DECISION"]);
    let mut story = Story::new();
    story.request("a", &[4]);
    let answer = story.approval();
    story.answer("refusal", "a", &answer);
    assert_eq!(story.found(), ["11 R7.DECISION"]);
}

#[test]
fn an_answer_is_bound_to_the_latest_request_of_its_node() {
    assert_eq!(approved(|answer| answer.request = Digest::of(b"other")), ["11 R7.REPLAY"]);
    // To an earlier request, to that of another node, to none.
    let mut story = Story::new();
    story.request("a", &[4]);
    let early = story.approval();
    story.request("b", &[8]);
    story.request("a", &[4]);
    story.answer("approval", "a", &early);
    story.answer("approval", "b", &Answer { findings: vec![8], ..early });
    assert_eq!(story.found(), ["13 R7.REPLAY", "14 R7.REPLAY"]);
    let mut story = Story::new();
    let answer = story.approval();
    story.answer("approval", "a", &answer);
    assert_eq!(story.found(), ["10 R7.REPLAY"]);
}

#[test]
fn a_refusal_stands_until_something_is_revised() {
    let refused = |revise: bool| {
        let mut story = Story::new();
        story.request("a", &[4]);
        let answer = Answer { decision: "refuse", ..story.approval() };
        story.answer("refusal", "a", &answer);
        let change = story.record.push("remediation", r#"{"action":"revision","node":"a"}"#);
        if revise {
            story.revised("a", &[4, change], change);
        } else {
            story.request("a", &[4]);
        }
        let answer = story.approval();
        story.answer("approval", "a", &answer);
        story.found()
    };
    assert_eq!(refused(true), [""; 0]);
    assert_eq!(refused(false), ["14 R7.REFUSAL"]);
}

#[test]
fn findings_are_earlier_engine_entries_about_the_node_in_this_attempt() {
    let requested = |findings: &[u64]| {
        let mut story = Story::new();
        story.request("a", findings);
        story.found()
    };
    assert_eq!(requested(&[]), ["10 R7.FINDINGS_EMPTY"]);
    assert_eq!(requested(&[10]), ["10 R7.FINDINGS_REF"]);
    assert_eq!(requested(&[11, 99]), ["10 R7.FINDINGS_REF", "10 R7.FINDINGS_REF"]);
    assert_eq!(requested(&[9]), ["10 R7.FINDINGS_NOT_ENGINE"]);
    for other in [5, 6, 7, 8] {
        assert_eq!(requested(&[other]), ["10 R7.FINDINGS_NODE"], "{other}");
    }
    let mut story = Story::new();
    let checkpoint = story.record.checkpoint();
    story.request("a", &[checkpoint]);
    story.request("nobody", &[0, 4]);
    assert_eq!(story.found(), ["11 R7.FINDINGS_NODE", "12 R7.FINDINGS_NODE"]);

    // An older attempt.
    let mut story = Story::new();
    story.session("again", "a");
    story.request("a", &[1, 2, 3, 4, 10, 11, 12, 13]);
    assert_eq!(story.found(), ["14 R7.FINDINGS_NODE"; 4]);

    // Those of an answer are among those of its request; what both are wrong about is said of both.
    assert_eq!(approved(|answer| answer.findings = vec![2]), ["11 R7.FINDINGS_REF"]);
    assert_eq!(approved(|answer| answer.findings = vec![99]), ["11 R7.FINDINGS_REF"]);
    assert_eq!(approved(|answer| answer.findings = vec![]), ["11 R7.FINDINGS_EMPTY"]);
    assert_eq!(
        approved(|answer| answer.findings = vec![8, 10]),
        ["11 R7.FINDINGS_REF", "11 R7.FINDINGS_NODE", "11 R7.FINDINGS_REF"]
    );
}
