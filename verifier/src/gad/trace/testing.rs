//! Records by hand: plans of a few words, and a run that steps one entry after the other.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::arithmetic_side_effects,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::sync::Arc;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::entry::{Entry, EntryType, Payload};
use anchorlog_proto::gad::names::{
    Capture, EvidenceClass, ObservableKind, ObservationLayer, PassFail, Risk, Role, SignalKind,
};
use anchorlog_proto::gad::payload::{
    ArtifactRef, Checkpoint, Claim, Decision, Delta, Dispatch, DispatchInput, DispatchNodes,
    Disposition, ExecutionResult, ExecutorExit, ExecutorIdentity, ExitStatus, FailureReason, Flag,
    GateAnswer, GateRequest, NodeOrNull, OutputStatus, PlanSuperseded, Probe, Quiescence,
    Remediation, RemediationAction, Restoration, Retry, RevisedRequest, ScopeClosed, Trip, Verdict,
};
use anchorlog_proto::gad::plan::{Fence, Node, Plan, Principal, Test, TestSpec};
use anchorlog_proto::gad::signed::Signed;
use anchorlog_proto::signed_object::{SignerId, SigningKey};

use super::{Judged, Machine, Status};
use crate::gad::{Event, Findings, NodeIx, PlanIndex};

/// The key of a role in these plans.
pub(in crate::gad) fn key(role: Role) -> SigningKey {
    let byte = u8::try_from(Role::ALL.iter().position(|other| *other == role).unwrap()).unwrap();
    SigningKey::from_seed(&[byte + 1; 32])
}

/// A node with one test `t1`, B = 1, class floor proxy.
pub(in crate::gad) fn node(id: &str) -> Node {
    Node {
        id: id.into(),
        desc: "work".into(),
        fence: Fence::new(vec!["src/".into()]).unwrap(),
        tests: vec![test("t1")],
        c_min: EvidenceClass::Proxy,
        risk: Risk::Normal,
        retries: 1,
        testimony: false,
    }
}

/// The same, gated.
pub(in crate::gad) fn gated(id: &str) -> Node {
    Node { risk: Risk::Gated, ..node(id) }
}

/// A test.
pub(in crate::gad) fn test(id: &str) -> Test {
    Test::new(
        id,
        TestSpec {
            kind: ObservableKind::Command,
            run: "make test".into(),
            capture: Capture::EngineCapture,
            layers: vec![ObservationLayer::AuthenticatedEngineObservation],
            signal: SignalKind::DirectObservable,
            replay: false,
            expect_exit_code: 0,
        },
    )
}

/// A plan of these nodes and edges, with a key for every role.
pub(in crate::gad) fn plan(nodes: Vec<Node>, edges: &[(&str, &str)]) -> Plan {
    let principals = Role::ALL.iter().map(|role| {
        let key = key(*role).public_key();
        Principal { key_id: key.id(), key, custody: "box".into(), roles: vec![*role], party: None }
    });
    Plan {
        nodes,
        edges: edges.iter().map(|(from, to)| ((*from).into(), (*to).into())).collect(),
        principals: principals.collect(),
        clock: None,
    }
}

/// The h(P) of every plan here.
pub(in crate::gad) fn plan_hash() -> Digest {
    Digest::of(b"plan")
}

/// A record under way.
#[derive(Clone)]
pub(in crate::gad) struct Run {
    pub(in crate::gad) machine: Machine,
    /// The seq of the next entry; its position too.
    pub(in crate::gad) next: u64,
    findings: Findings,
}

impl Run {
    /// A frozen plan of these nodes without edges.
    pub(in crate::gad) fn of(nodes: Vec<Node>) -> Self {
        Self::with_edges(nodes, &[])
    }

    /// A frozen plan of these nodes and edges.
    pub(in crate::gad) fn with_edges(nodes: Vec<Node>, edges: &[(&str, &str)]) -> Self {
        let mut run = Self::unfrozen(plan(nodes, edges), false);
        run.put(
            EntryType::Freeze,
            Payload::Freeze { hash: Some(plan_hash()), embedded: Some(plan_hash()), plan: None },
        );
        run
    }

    /// Nothing yet.
    pub(in crate::gad) fn unfrozen(plan: Plan, scalar_dispatch_legal: bool) -> Self {
        let plan = Arc::new(PlanIndex::new(plan, plan_hash()));
        let machine = Machine::new(plan, scalar_dispatch_legal);
        Self { machine, next: 0, findings: Findings::new() }
    }

    /// Steps over an entry.
    pub(in crate::gad) fn put(&mut self, entry_type: EntryType, payload: Payload<'_>) -> &mut Self {
        self.enter(entry_type, Some(payload), None, None)
    }

    /// Steps over an entry whose payload can't be read.
    pub(in crate::gad) fn put_unreadable(&mut self, entry_type: EntryType) -> &mut Self {
        self.enter(entry_type, None, None, None)
    }

    fn enter(
        &mut self,
        entry_type: EntryType,
        payload: Option<Payload<'_>>,
        signer: Option<SignerId>,
        judged: Option<Judged>,
    ) -> &mut Self {
        let wrapper = signer.map(|key_id| Signed {
            type_agrees: true,
            plan_hash: Some(plan_hash()),
            key_id: Some(key_id),
            signature: None,
            message: Vec::new(),
        });
        let h = Digest::of(&self.next.to_be_bytes());
        let entry = Entry { seq: self.next, time: 0, entry_type, payload, signed: wrapper, h };
        let event = Event { index: self.next, entry: &entry, authentic: true };
        self.machine.step(&event, judged, &mut self.findings);
        self.next += 1;
        self
    }

    /// The codes raised since the last time, ascending, each once, are these.
    #[track_caller]
    pub(in crate::gad) fn finds(&mut self, codes: &[&str]) -> &mut Self {
        assert_eq!(self.raised(), codes);
        self
    }

    /// Nothing was raised since the last time.
    #[track_caller]
    pub(in crate::gad) fn clean(&mut self) -> &mut Self {
        self.finds(&[])
    }

    /// The codes raised since the last time, ascending, each once.
    pub(in crate::gad) fn raised(&mut self) -> Vec<String> {
        let findings = std::mem::take(&mut self.findings);
        let mut codes: Vec<_> =
            findings.list().iter().map(|finding| finding.code.to_string()).collect();
        codes.sort();
        codes.dedup();
        codes
    }

    /// The findings since the last time.
    pub(in crate::gad) fn findings(&mut self) -> Findings {
        std::mem::take(&mut self.findings)
    }

    /// Whether the record may end here, by what is found then.
    pub(in crate::gad) fn finish(&mut self, snapshot: bool) -> &mut Self {
        self.machine.finish(snapshot, &mut self.findings);
        self
    }

    /// The node with this id.
    pub(in crate::gad) fn ix(&self, id: &str) -> NodeIx {
        self.machine.plan().find(id).unwrap()
    }

    /// A node stands there.
    #[track_caller]
    pub(in crate::gad) fn stands(&mut self, id: &str, status: Status) -> &mut Self {
        assert_eq!(self.machine.status(self.ix(id)), status, "{id}");
        self
    }

    /// A dispatch.
    pub(in crate::gad) fn dispatch(&mut self, session: &str, nodes: &[&str]) -> &mut Self {
        self.put(
            EntryType::Dispatch,
            Payload::Dispatch(dispatch(session, DispatchNodes::Set(nodes.to_vec()))),
        )
    }

    /// An exit of a one-node session.
    pub(in crate::gad) fn exit(&mut self, session: &str, node: &str, code: i32) -> &mut Self {
        let status = if code == 0 { ExitStatus::Completed } else { ExitStatus::Crashed };
        self.exit_as(session, NodeOrNull::Node(node), status, Some(code))
    }

    /// An exit.
    pub(in crate::gad) fn exit_as(
        &mut self,
        session_id: &str,
        node: NodeOrNull<'_>,
        status: ExitStatus,
        exit_code: Option<i32>,
    ) -> &mut Self {
        let exit = ExecutorExit { session_id, node, status, exit_code, output: None };
        self.put(EntryType::ExecutorExit, Payload::ExecutorExit(exit))
    }

    /// A result of a one-node session.
    pub(in crate::gad) fn result(&mut self, session: &str, node: &str) -> &mut Self {
        self.put(
            EntryType::ExecutionResult,
            Payload::ExecutionResult(result(session, NodeOrNull::Node(node))),
        )
    }

    /// dispatch, exit, result of one node.
    pub(in crate::gad) fn session(&mut self, session: &str, node: &str, code: i32) -> &mut Self {
        self.dispatch(session, &[node]).exit(session, node, code).result(session, node)
    }

    /// The same of several, completed.
    pub(in crate::gad) fn session_of(&mut self, session: &str, nodes: &[&str]) -> &mut Self {
        let (null, completed) = (NodeOrNull::Null, ExitStatus::Completed);
        self.dispatch(session, nodes).exit_as(session, null, completed, Some(0)).put(
            EntryType::ExecutionResult,
            Payload::ExecutionResult(result(session, NodeOrNull::Null)),
        )
    }

    /// A claim.
    pub(in crate::gad) fn claim(&mut self, session_id: &str, node: &str) -> &mut Self {
        self.put(EntryType::Claim, Payload::Claim(Claim { session_id, node, text: "done" }))
    }

    /// A probe.
    pub(in crate::gad) fn probe(&mut self) -> &mut Self {
        let probe = Probe {
            signal_artifact: Digest::of(b"signal"),
            environment: Digest::of(b"environment"),
            induced_defect: "off by one",
            demonstrated: PassFail::Fail,
            restoration: Restoration::Verified,
            time: 0,
            spawned: true,
            exit_code: Some(1),
            output: Some(Digest::of(b"output")),
        };
        self.put(EntryType::Probe, Payload::Probe(probe))
    }

    /// A verdict of `t1` over the session of the node's current attempt.
    pub(in crate::gad) fn verdict(&mut self, node: &str, pass: bool) -> &mut Self {
        self.verdict_of(node, "t1", pass)
    }

    /// A verdict over the session of the node's current attempt.
    pub(in crate::gad) fn verdict_of(&mut self, node: &str, test: &str, pass: bool) -> &mut Self {
        let ix = self.machine.plan().find(node);
        let session = ix.and_then(|ix| self.machine.session_of(ix));
        let (id, seq) = session.map_or(("none".into(), 0), |session| {
            (session.id.clone(), session.result.unwrap_or(0))
        });
        let class = EvidenceClass::EngineObserved;
        self.verdict_as(&verdict(&id, seq, node, test), pass, class)
    }

    /// A verdict.
    pub(in crate::gad) fn verdict_as(
        &mut self,
        verdict: &Verdict<'_>,
        pass: bool,
        class: EvidenceClass,
    ) -> &mut Self {
        let judged = Some(Judged { seq: self.next, pass, class });
        let payload = Some(Payload::Verdict(verdict.clone()));
        self.enter(EntryType::Verdict, payload, Some(key(Role::Engine).id()), judged)
    }

    /// A flag over the result of the node's current session.
    pub(in crate::gad) fn flag(&mut self, node: &str) -> &mut Self {
        let seq = self.machine.plan().find(node).and_then(|ix| self.machine.session_of(ix)?.result);
        let flag =
            Flag { node, execution_result_seq: seq.unwrap_or(0), paths: vec!["docs/stray.md"] };
        self.put(EntryType::Flag, Payload::Flag(flag))
    }

    /// A removal.
    pub(in crate::gad) fn removal(&mut self, node: &str) -> &mut Self {
        self.remediation(node, RemediationAction::Removal)
    }

    /// A remediation.
    pub(in crate::gad) fn remediation(
        &mut self,
        node: &str,
        action: RemediationAction,
    ) -> &mut Self {
        let remediation = Remediation { node, action: Some(action) };
        self.put(EntryType::Remediation, Payload::Remediation(remediation))
    }

    /// A scope closure.
    pub(in crate::gad) fn scope_closed(&mut self, node: &str, verdict: PassFail) -> &mut Self {
        self.put(EntryType::ScopeClosed, Payload::ScopeClosed(ScopeClosed { node, verdict }))
    }

    /// A gate request.
    pub(in crate::gad) fn gate_request(&mut self, node: &str) -> &mut Self {
        let request = GateRequest { node, findings: vec![self.next - 1] };
        self.put(EntryType::GateRequest, Payload::GateRequest(request))
    }

    /// An approval.
    pub(in crate::gad) fn approval(&mut self, node: &str) -> &mut Self {
        let answer = answer(node, Decision::Proceed);
        self.put(EntryType::Approval, Payload::Approval(answer))
    }

    /// A refusal.
    pub(in crate::gad) fn refusal(&mut self, node: &str) -> &mut Self {
        self.put(EntryType::Refusal, Payload::Refusal(answer(node, Decision::Refuse)))
    }

    /// A revised request.
    pub(in crate::gad) fn revised(&mut self, node: &str, change_ref: u64) -> &mut Self {
        let request = RevisedRequest { node, findings: vec![change_ref], change_ref };
        self.put(EntryType::RevisedApprovalRequest, Payload::RevisedApprovalRequest(request))
    }

    /// A retry.
    pub(in crate::gad) fn retry(
        &mut self,
        node: &str,
        reason: FailureReason,
        input: &[u64],
    ) -> &mut Self {
        let retry = Retry { node, reason, input_ref: Some(input.to_vec()) };
        self.put(EntryType::Retry, Payload::Retry(retry))
    }

    /// A trip.
    pub(in crate::gad) fn trip(&mut self, node: &str, reason: FailureReason) -> &mut Self {
        let trip = Trip { node, reason, history: vec![self.next - 1] };
        self.put(EntryType::Trip, Payload::Trip(trip))
    }

    /// A checkpoint.
    pub(in crate::gad) fn checkpoint(&mut self) -> &mut Self {
        let h = Digest::of(b"head");
        let checkpoint = Checkpoint { range: Some((0, self.next - 1)), digest: h, head: h };
        self.put(EntryType::Checkpoint, Payload::Checkpoint(checkpoint))
    }

    /// plan_completed.
    pub(in crate::gad) fn completed(&mut self) -> &mut Self {
        self.put(EntryType::PlanCompleted, Payload::PlanCompleted)
    }

    /// plan_halted.
    pub(in crate::gad) fn halted(&mut self, unresolved: &[&str]) -> &mut Self {
        self.put(EntryType::PlanHalted, Payload::PlanHalted(unresolved.to_vec()))
    }

    /// plan_superseded, signed by this key.
    pub(in crate::gad) fn superseded(
        &mut self,
        end: PlanSuperseded<'_>,
        signer: Role,
    ) -> &mut Self {
        let signer = Some(key(signer).id());
        self.enter(EntryType::PlanSuperseded, Some(Payload::PlanSuperseded(end)), signer, None)
    }

    /// nonconformance_notice.
    pub(in crate::gad) fn notice(&mut self) -> &mut Self {
        let notice = Payload::NonconformanceNotice(vec!["an entry is missing"]);
        self.put(EntryType::NonconformanceNotice, notice)
    }
}

/// A dispatch.
pub(in crate::gad) fn dispatch<'d>(session_id: &'d str, nodes: DispatchNodes<'d>) -> Dispatch<'d> {
    let ids = match &nodes {
        DispatchNodes::Set(ids) => ids.clone(),
        DispatchNodes::Scalar(id) => vec![*id],
        DispatchNodes::Malformed => Vec::new(),
    };
    let row = |node| DispatchInput { node, desc: "work", prior_failure: None };
    Dispatch {
        session_id,
        nodes,
        executor: ExecutorIdentity { model: "m", version: "1", provider: "p" },
        instruction: artifact(),
        baseline: Some(Digest::of(b"baseline")),
        input: ids.into_iter().map(row).collect(),
        precommit: None,
    }
}

/// A result with a captured delta.
pub(in crate::gad) fn result<'r>(session_id: &'r str, node: NodeOrNull<'r>) -> ExecutionResult<'r> {
    ExecutionResult {
        session_id,
        node,
        delta: Ok(Some(artifact())),
        touched: Ok(vec!["src/a.rs"]),
        output_status: OutputStatus::Captured,
        quiescence: Quiescence::Quiesced,
    }
}

/// A verdict.
pub(in crate::gad) fn verdict<'v>(
    session_id: &'v str,
    execution_result_seq: u64,
    node: &'v str,
    test_id: &'v str,
) -> Verdict<'v> {
    let digest = Some(Digest::of(b"evidence"));
    Verdict {
        session_id,
        execution_result_seq,
        node,
        test_id,
        capture: Some(Capture::EngineCapture),
        layers: Some(vec![ObservationLayer::AuthenticatedEngineObservation]),
        signal: Some(SignalKind::DirectObservable),
        test_spec: digest,
        signal_artifact: digest,
        subject_artifact: digest,
        environment: digest,
        stdout: digest,
        stderr: digest,
        result: Some(PassFail::Pass),
        exit_code: Some(0),
        engine_identity: None,
        declares_class: false,
    }
}

/// A succession that carries these nodes.
pub(in crate::gad) fn succession<'s>(carried: &[&'s str]) -> PlanSuperseded<'s> {
    PlanSuperseded {
        predecessor: plan_hash(),
        successor: Digest::of(b"successor"),
        named_authority: key(Role::SuccessionAuthority).id(),
        delta: Some(Delta {
            reason: "split",
            obligations: carried.iter().map(|node| (*node, Disposition::Carried)).collect(),
            class_floors: Vec::new(),
            fences: Vec::new(),
            tests: Vec::new(),
        }),
    }
}

fn artifact() -> ArtifactRef<'static> {
    ArtifactRef { path: "artifacts/a", digest: Digest::of(b"artifact") }
}

fn answer(node: &str, decision: Decision) -> GateAnswer<'_> {
    GateAnswer {
        node,
        who: key(Role::Approver).id(),
        decision: Some(decision),
        findings: vec![1],
        request_h: Digest::of(b"request"),
    }
}
