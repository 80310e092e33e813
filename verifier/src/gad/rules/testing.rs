//! Records made by hand, for the tests of the rules.

use std::sync::Arc;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::entry::{Entry, EntryType, Payload, Signed};
use anchorlog_proto::gad::names::{
    Capture, EvidenceClass, ObservableKind, ObservationLayer, PassFail, Risk, Role, SignalKind,
};
use anchorlog_proto::gad::payload::{
    ArtifactRef, Checkpoint, Claim, Decision, Dispatch, DispatchInput, DispatchNodes,
    ExecutionResult, ExecutorExit, ExecutorIdentity, ExitStatus, Flag, GateAnswer, GateRequest,
    NodeOrNull, OutputStatus, Probe, Quiescence, Remediation, RemediationAction, Restoration,
    ScopeClosed, Verdict,
};
use anchorlog_proto::gad::plan::{ClockPolicy, Fence, Node, Plan, Principal, Test, TestSpec};
use anchorlog_proto::signed_object::SigningKey;

use crate::gad::trace::{Judged, Machine};
use crate::gad::{Event, Findings, Kept, PlanIndex};

/// The key with this name.
pub(in crate::gad) fn key(name: &str) -> SigningKey {
    SigningKey::from_seed(Digest::of(name.as_bytes()).as_bytes())
}

/// A digest that only says this.
pub(in crate::gad) fn digest(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

/// A spec that the engine observes directly.
pub(in crate::gad) fn spec() -> TestSpec {
    TestSpec {
        kind: ObservableKind::Command,
        run: "make test".into(),
        capture: Capture::EngineCapture,
        layers: vec![ObservationLayer::AuthenticatedEngineObservation],
        signal: SignalKind::DirectObservable,
        replay: false,
        expect_exit_code: 0,
    }
}

/// A test with that spec.
pub(in crate::gad) fn test(id: &str) -> Test {
    Test { id: id.into(), spec: spec(), digest: digest("spec") }
}

/// A node with the tests t1 and t2, floor engine_observed, fence `src/`, one retry.
pub(in crate::gad) fn node(id: &str) -> Node {
    Node {
        id: id.into(),
        desc: "work".into(),
        fence: Fence::new(vec!["src/".into()]).unwrap(),
        tests: vec![test("t1"), test("t2")],
        c_min: EvidenceClass::EngineObserved,
        risk: Risk::Normal,
        retries: 1,
        testimony: false,
    }
}

fn principal(name: &str, role: Role) -> Principal {
    let key = key(name);
    Principal {
        key_id: key.id(),
        key: key.public_key(),
        custody: "in the tests".into(),
        roles: vec![role],
        party: None,
    }
}

/// n1 (normal), n2 (gated) after it, n3 (normal) after that; clocks may step back 5 seconds.
pub(in crate::gad) fn plan(change: impl FnOnce(&mut Plan)) -> Arc<PlanIndex> {
    let gated = Node { risk: Risk::Gated, ..node("n2") };
    let mut plan = Plan {
        nodes: vec![node("n1"), gated, node("n3")],
        edges: vec![("n1".into(), "n2".into()), ("n2".into(), "n3".into())],
        principals: vec![
            principal("engine", Role::Engine),
            principal("approver", Role::Approver),
            principal("authority", Role::SuccessionAuthority),
        ],
        clock: Some(ClockPolicy { max_backstep_s: 5, max_future_skew_s: 300 }),
    };
    change(&mut plan);
    Arc::new(PlanIndex::new(plan, digest("plan")))
}

/// The codes found, ascending, each once.
pub(in crate::gad) fn codes(findings: &Findings) -> Vec<&'static str> {
    let mut codes: Vec<_> = findings.list().iter().map(|finding| finding.code.as_str()).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// A witness being written: each call appends one entry.
pub(in crate::gad) struct Log {
    entries: Vec<(Entry<'static>, bool)>,
    plan_hash: Digest,
    time: Option<i64>,
}

impl Log {
    pub(in crate::gad) fn new(plan: &PlanIndex) -> Self {
        Self { entries: Vec::new(), plan_hash: plan.hash(), time: None }
    }

    /// The entries as the rules see them.
    pub(in crate::gad) fn events(&self) -> impl Iterator<Item = Event<'_>> {
        self.entries.iter().zip(0..).map(|((entry, authentic), index)| Event {
            index,
            entry,
            authentic: *authentic,
        })
    }

    /// Ends a chain of calls in a closure.
    #[allow(clippy::unused_self, reason = "it takes the chain's value away")]
    pub(in crate::gad) fn done(&mut self) {}

    /// seq of the entry that comes next.
    pub(in crate::gad) fn next(&self) -> u64 {
        u64::try_from(self.entries.len()).unwrap()
    }

    /// From here on, entries are written at this time.
    pub(in crate::gad) fn at(&mut self, time: i64) -> &mut Self {
        self.time = Some(time);
        self
    }

    /// The last entry is not authentic.
    pub(in crate::gad) fn forged(&mut self) -> &mut Self {
        self.entries.last_mut().unwrap().1 = false;
        self
    }

    /// Changes the last entry.
    pub(in crate::gad) fn change(&mut self, change: impl FnOnce(&mut Entry<'static>)) -> &mut Self {
        change(&mut self.entries.last_mut().unwrap().0);
        self
    }

    /// Changes the last entry, a verdict.
    pub(in crate::gad) fn change_verdict(
        &mut self,
        change: impl FnOnce(&mut Verdict<'static>),
    ) -> &mut Self {
        self.change(|entry| match &mut entry.payload {
            Some(Payload::Verdict(verdict)) => change(verdict),
            _ => panic!("not a verdict"),
        })
    }

    pub(in crate::gad) fn push(
        &mut self,
        entry_type: EntryType,
        payload: Payload<'static>,
    ) -> &mut Self {
        let signed = entry_type.issuer().required_role().map(|role| {
            let signer = key(match role {
                Role::Engine => "engine",
                Role::Approver => "approver",
                Role::SuccessionAuthority => "authority",
            });
            Signed {
                type_agrees: true,
                plan_hash: Some(self.plan_hash),
                key_id: Some(signer.id()),
                signature: Some(signer.sign(b"")),
                message: Vec::new(),
            }
        });
        let (seq, time) = (self.next(), self.time);
        let time = time.unwrap_or_else(|| i64::try_from(seq).unwrap());
        let h = digest(&format!("h{seq}"));
        let payload = Some(payload);
        self.entries.push((Entry { seq, time, entry_type, payload, signed, h }, true));
        self
    }

    pub(in crate::gad) fn freeze(&mut self) -> &mut Self {
        let hash = Some(self.plan_hash);
        self.push(EntryType::Freeze, Payload::Freeze { hash, embedded: hash, plan: None })
    }

    pub(in crate::gad) fn checkpoint(&mut self) -> &mut Self {
        let (digest, head) = (digest("range"), digest("head"));
        let checkpoint = Checkpoint { range: None, digest, head };
        self.push(EntryType::Checkpoint, Payload::Checkpoint(checkpoint))
    }

    pub(in crate::gad) fn dispatch(
        &mut self,
        session_id: &'static str,
        nodes: &[&'static str],
    ) -> &mut Self {
        let row = |node: &&'static str| DispatchInput { node, desc: "work", prior_failure: None };
        let dispatch = Dispatch {
            session_id,
            nodes: DispatchNodes::Set(nodes.to_vec()),
            executor: ExecutorIdentity { model: "m", version: "1", provider: "p" },
            instruction: ArtifactRef { path: "artifacts/i", digest: digest("i") },
            baseline: Some(digest("baseline")),
            input: nodes.iter().map(row).collect(),
            precommit: None,
        };
        self.push(EntryType::Dispatch, Payload::Dispatch(dispatch))
    }

    /// Dispatch, completed exit and captured result of a session that touches these paths.
    pub(in crate::gad) fn session(
        &mut self,
        session_id: &'static str,
        nodes: &[&'static str],
        touched: &[&'static str],
    ) -> &mut Self {
        let node = match nodes {
            [node] => NodeOrNull::Node(node),
            _ => NodeOrNull::Null,
        };
        let exit = ExecutorExit {
            session_id,
            node,
            status: ExitStatus::Completed,
            exit_code: Some(0),
            output: None,
        };
        let result = ExecutionResult {
            session_id,
            node,
            delta: Ok(Some(ArtifactRef { path: "artifacts/d", digest: digest("d") })),
            touched: Ok(touched.to_vec()),
            output_status: OutputStatus::Captured,
            quiescence: Quiescence::Quiesced,
        };
        self.dispatch(session_id, nodes)
            .push(EntryType::ExecutorExit, Payload::ExecutorExit(exit))
            .push(EntryType::ExecutionResult, Payload::ExecutionResult(result))
    }

    /// A verdict over the latest result: pass with exit code 0, or fail with 1.
    pub(in crate::gad) fn verdict(
        &mut self,
        session_id: &'static str,
        node: &'static str,
        test_id: &'static str,
        result: PassFail,
    ) -> &mut Self {
        let of_type =
            |(entry, _): &&(Entry<'_>, bool)| entry.entry_type == EntryType::ExecutionResult;
        let execution_result_seq = self.entries.iter().rfind(of_type).map_or(0, |(e, _)| e.seq);
        let verdict = Verdict {
            session_id,
            execution_result_seq,
            node,
            test_id,
            capture: Some(Capture::EngineCapture),
            layers: Some(vec![ObservationLayer::AuthenticatedEngineObservation]),
            signal: Some(SignalKind::DirectObservable),
            test_spec: Some(digest("spec")),
            signal_artifact: Some(digest("artifact")),
            subject_artifact: Some(digest("subject")),
            environment: Some(digest("environment")),
            stdout: Some(digest("stdout")),
            stderr: Some(digest("stderr")),
            result: Some(result),
            exit_code: Some(i32::from(result == PassFail::Fail)),
            engine_identity: Some(engine_identity()),
            declares_class: false,
        };
        self.push(EntryType::Verdict, Payload::Verdict(verdict))
    }

    /// Passing verdicts for t1 and t2.
    pub(in crate::gad) fn passes(
        &mut self,
        session_id: &'static str,
        node: &'static str,
    ) -> &mut Self {
        self.verdict(session_id, node, "t1", PassFail::Pass).verdict(
            session_id,
            node,
            "t2",
            PassFail::Pass,
        )
    }

    /// A probe that matches the verdicts above, changed.
    pub(in crate::gad) fn probe(&mut self, change: impl FnOnce(&mut Probe<'static>)) -> &mut Self {
        let mut probe = Probe {
            signal_artifact: digest("artifact"),
            environment: digest("environment"),
            induced_defect: "a planted defect",
            demonstrated: PassFail::Fail,
            restoration: Restoration::Verified,
            time: 0,
            spawned: true,
            exit_code: Some(1),
            output: Some(digest("1 test failed")),
        };
        change(&mut probe);
        self.push(EntryType::Probe, Payload::Probe(probe))
    }

    pub(in crate::gad) fn flag(&mut self, node: &'static str, paths: &[&'static str]) -> &mut Self {
        let execution_result_seq = self.next().saturating_sub(1);
        let flag = Flag { node, execution_result_seq, paths: paths.to_vec() };
        self.push(EntryType::Flag, Payload::Flag(flag))
    }

    /// Removal and a scope_closed of this verdict.
    pub(in crate::gad) fn closed(&mut self, node: &'static str, verdict: PassFail) -> &mut Self {
        let action = Some(RemediationAction::Removal);
        self.push(EntryType::Remediation, Payload::Remediation(Remediation { node, action }))
            .push(EntryType::ScopeClosed, Payload::ScopeClosed(ScopeClosed { node, verdict }))
    }

    pub(in crate::gad) fn claim(
        &mut self,
        session_id: &'static str,
        node: &'static str,
    ) -> &mut Self {
        let claim = Claim { session_id, node, text: "done" };
        self.push(EntryType::Claim, Payload::Claim(claim))
    }

    pub(in crate::gad) fn gate_request(&mut self, node: &'static str) -> &mut Self {
        let findings = vec![self.next().saturating_sub(1)];
        self.push(EntryType::GateRequest, Payload::GateRequest(GateRequest { node, findings }))
    }

    fn answer(&self, node: &'static str, decision: Decision) -> GateAnswer<'static> {
        let last = self.next().saturating_sub(1);
        GateAnswer {
            node,
            who: key("approver").id(),
            decision: Some(decision),
            findings: vec![last.saturating_sub(1)],
            request_h: digest(&format!("h{last}")),
        }
    }

    pub(in crate::gad) fn approval(&mut self, node: &'static str) -> &mut Self {
        let answer = self.answer(node, Decision::Proceed);
        self.push(EntryType::Approval, Payload::Approval(answer))
    }

    pub(in crate::gad) fn refusal(&mut self, node: &'static str) -> &mut Self {
        let answer = self.answer(node, Decision::Refuse);
        self.push(EntryType::Refusal, Payload::Refusal(answer))
    }

    pub(in crate::gad) fn completed(&mut self) -> &mut Self {
        self.push(EntryType::PlanCompleted, Payload::PlanCompleted)
    }
}

/// The engine's key id as a verdict states it.
pub(in crate::gad) fn engine_identity() -> &'static str {
    static ID: std::sync::LazyLock<String> =
        std::sync::LazyLock::new(|| key("engine").id().to_string());
    &ID
}

/// The row of an entry, once the machine has stepped over it.
pub(in crate::gad) fn kept(event: &Event<'_>, machine: &Machine, judged: Option<Judged>) -> Kept {
    let plan = machine.plan();
    let session = |id: &str| {
        // In these records numbers are positions.
        machine.session(id).map(|session| u32::try_from(session.dispatch).unwrap())
    };
    let (mut node, mut id, mut pass, mut test) = (None, None, None, None);
    match event.payload().unwrap() {
        Payload::Dispatch(dispatch) => id = Some(dispatch.session_id),
        Payload::ExecutorExit(exit) => id = Some(exit.session_id),
        Payload::ExecutionResult(result) => {
            id = Some(result.session_id);
            if let NodeOrNull::Node(of) = result.node {
                node = Some(of);
            }
        }
        Payload::Claim(claim) => (node, id) = (Some(claim.node), Some(claim.session_id)),
        Payload::Flag(flag) => node = Some(flag.node),
        Payload::Remediation(remediation) => node = Some(remediation.node),
        Payload::ScopeClosed(closed) => {
            (node, pass) = (Some(closed.node), Some(closed.verdict == PassFail::Pass));
        }
        Payload::Verdict(verdict) => {
            (node, id) = (Some(verdict.node), Some(verdict.session_id));
            pass = judged.map(|judged| judged.pass);
            let of = plan.find(verdict.node);
            test = of.and_then(|node| plan.test(node, verdict.test_id));
        }
        Payload::GateRequest(request) => node = Some(request.node),
        Payload::Approval(answer) => (node, pass) = (Some(answer.node), Some(true)),
        Payload::Refusal(answer) => (node, pass) = (Some(answer.node), Some(false)),
        _ => {}
    }
    let node = node.and_then(|node| plan.find(node));
    Kept {
        authentic: event.authentic,
        pass,
        class: judged.map(|judged| judged.class),
        node,
        attempt: node.map_or(0, |node| machine.attempt(node)),
        test: test.map(|(position, _)| u32::try_from(position).unwrap()),
        session: id.and_then(session),
        ..Kept::bare(event.entry.entry_type)
    }
}
