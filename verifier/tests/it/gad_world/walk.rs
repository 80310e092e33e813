//! Walks through the transition table: whatever entry comes next, legal or not, is written and watched.

use std::collections::BTreeMap;
use std::sync::Arc;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::chain::Line;
use anchorlog_proto::gad::entry::Payload;
use anchorlog_proto::gad::line::read_line;
use anchorlog_proto::gad::names::{Capture, PassFail, Role, SignalKind};
use anchorlog_proto::gad::payload::{
    Claim, Decision, Delta, Dispatch, DispatchInput, DispatchNodes, Disposition, ExecutionResult,
    ExecutorExit, ExecutorIdentity, ExitStatus, FailureReason, Flag, GateAnswer, GateRequest,
    NodeOrNull, OutputStatus, PlanSuperseded, Probe, Quiescence, Remediation, RemediationAction,
    Restoration, Retry, RevisedRequest, ScopeClosed, Trip, Verdict,
};
use anchorlog_proto::gad::plan::{Plan, Test};
use anchorlog_proto::signed_object::SigningKey;
use anchorlog_verifier::gad::replay::ReplayRule;
use anchorlog_verifier::gad::watch::Watch;
use anchorlog_verifier::gad::{Event, Findings, NodeIx, PlanIndex};

use super::{EVIDENCE, Record, artifact, role_key, small_plan};

/// Where choices come from: a generator, or the bytes of a fuzzer.
pub trait Choose {
    /// Some number below this one, which isn't 0.
    fn below(&mut self, limit: u64) -> u64;
}

/// A record that is written and watched at the same time.
#[derive(Clone)]
pub struct Walk {
    pub record: Record,
    pub watch: Watch,
    /// What the watch found.
    pub findings: Findings,
    /// Whether an entry was signed by a key without the role for it: R1's to find, nobody's who watches.
    pub forged: bool,
    /// The latest request of each node: its h, and what it stands on.
    requests: BTreeMap<String, (Digest, Vec<u64>)>,
    /// The latest entry about each node that a gate or a remediation may name.
    latest: BTreeMap<String, u64>,
    latest_session: String,
}

/// The record of one node, done at the first try, with its last checkpoint.
pub fn completed() -> Record {
    let mut walk = Walk::new(small_plan());
    walk.dispatch("s1", &["a"]);
    walk.exit("s1", &["a"], ExitStatus::Completed);
    walk.result("s1", &["a"], false);
    walk.verdict("a", 0, true, None);
    walk.end();
    assert!(walk.findings.is_empty(), "{:?}", walk.findings);
    walk.record
}

impl Walk {
    /// A record of this plan with its freeze.
    pub fn new(plan: Plan) -> Self {
        let record = Record::new(plan);
        let index = Arc::new(PlanIndex::new(record.plan.clone(), record.plan_hash));
        let mut walk = Self {
            record,
            watch: Watch::new(index, "1.3", ReplayRule::none()),
            findings: Findings::new(),
            forged: false,
            requests: BTreeMap::new(),
            latest: BTreeMap::new(),
            latest_session: "s0".to_owned(),
        };
        let line = walk.record.freeze();
        walk.see(&line, true);
        walk
    }

    /// Any entry but a terminal one, whether or not it is legal here.
    pub fn step(&mut self, choose: &mut dyn Choose) {
        let ids: Vec<String> =
            self.record.plan.nodes.iter().map(|node| node.id.to_string()).collect();
        let pick = usize::try_from(choose.below(u64::try_from(ids.len()).unwrap() + 1)).unwrap();
        let id = ids.get(pick).map_or("ghost", |id| id.as_str());
        let machine = self.watch.machine();
        let open = machine.open_session();
        let done = open.is_some_and(|session| session.exit.is_some());
        let open: Option<(String, Vec<String>)> = open.map(|session| {
            let names = session.nodes.iter().map(|node| machine.plan().id(*node).to_owned());
            (session.id.to_string(), names.collect())
        });
        let sound = choose.below(8) > 0;
        // Nearly always what an open session needs, so that walks get anywhere.
        if let (Some((session, nodes)), true) = (&open, sound) {
            let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
            if done {
                self.result(session, &nodes, choose.below(6) == 0);
            } else {
                let statuses = ExitStatus::ALL;
                let bad = usize::try_from(choose.below(5)).unwrap();
                let status = if choose.below(4) == 0 { statuses[bad] } else { statuses[0] };
                self.exit(session, &nodes, status);
            }
            return;
        }
        let session = open.map_or_else(|| format!("s{}", self.record.next()), |(id, _)| id);
        let reason = FailureReason::ALL[usize::try_from(choose.below(3)).unwrap()];
        let pass = choose.below(4) > 0;
        let wrong_key = (choose.below(40) == 0).then(|| role_key(Role::SuccessionAuthority));
        match choose.below(20) {
            0..=3 => self.dispatch(&session, &[id]),
            4 => self.dispatch(&session, &["a", "c"]),
            5 => self.exit(&session, &[id], ExitStatus::Completed),
            6 => self.result(&session, &[id], false),
            7..=9 => self.verdict(id, choose.below(2), pass, wrong_key.as_ref()),
            10 => self.gate_request(id),
            11 => self.answer(id, Decision::Proceed, wrong_key.as_ref()),
            12 if choose.below(2) == 0 => self.answer(id, Decision::Refuse, wrong_key.as_ref()),
            12 | 13 => self.retry(id, reason),
            14 => self.trip(id, reason),
            15 => self.flag(id),
            16 => {
                let actions = [RemediationAction::Removal, RemediationAction::Revision];
                let action = Some(actions[usize::try_from(choose.below(2)).unwrap()]);
                let remediation = Remediation { node: id, action };
                let seq = self.put(&Payload::Remediation(remediation), None);
                self.latest.insert(id.to_owned(), seq);
            }
            17 => {
                let verdict = if pass { PassFail::Pass } else { PassFail::Fail };
                let closed = ScopeClosed { node: id, verdict };
                let seq = self.put(&Payload::ScopeClosed(closed), wrong_key.as_ref());
                self.latest.insert(id.to_owned(), seq);
            }
            18 if pass => self.probe(wrong_key.as_ref()),
            18 => {
                // A claim follows its session's result, wherever that was.
                let last = self.latest_session.clone();
                let claim = Claim { session_id: &last, node: id, text: "done" };
                self.put(&Payload::Claim(claim), None);
            }
            _ => self.revised(id),
        }
        if choose.below(12) == 0 {
            self.checkpoint();
        }
    }

    /// Ends the run as it stands, with the last checkpoint: completed when all is good, else superseded.
    pub fn end(&mut self) {
        let machine = self.watch.machine();
        let plan = machine.plan();
        let due: Vec<_> = plan.nodes().filter(|node| !machine.is_good(*node)).collect();
        let due: Vec<String> = due.iter().map(|node| plan.id(*node).to_owned()).collect();
        if due.is_empty() {
            self.put(&Payload::PlanCompleted, None);
        } else {
            let obligations = due.iter().map(|node| (node.as_str(), Disposition::Carried));
            let end = PlanSuperseded {
                predecessor: self.record.plan_hash,
                successor: Digest::of(b"successor"),
                named_authority: role_key(Role::SuccessionAuthority).id(),
                delta: Some(Delta {
                    reason: "split",
                    obligations: obligations.collect(),
                    class_floors: Vec::new(),
                    fences: Vec::new(),
                    tests: Vec::new(),
                }),
            };
            self.put(&Payload::PlanSuperseded(end), None);
        }
        self.checkpoint();
    }

    /// Ends the run by `plan_halted`.
    pub fn halt(&mut self) {
        let machine = self.watch.machine();
        let plan = machine.plan();
        let due = plan.nodes().filter(|node| !machine.is_good(*node));
        let mut due: Vec<String> = due.map(|node| plan.id(node).to_owned()).collect();
        due.sort();
        self.put(&Payload::PlanHalted(due.iter().map(String::as_str).collect()), None);
        self.checkpoint();
    }

    /// The checkpoint over everything since the last one.
    pub fn checkpoint(&mut self) {
        let line = self.record.checkpoint();
        self.see(&line, true);
    }

    /// Writes an entry, signed by whoever has to or by the given key, and watches it.
    pub fn put(&mut self, payload: &Payload<'_>, other: Option<&SigningKey>) -> u64 {
        let line = match other {
            Some(key) => self.record.append_by(payload, Some(key)),
            None => self.record.append(payload),
        };
        let forged = other.is_some();
        self.see(&line, !forged);
        self.forged |= forged;
        line.seq
    }

    fn see(&mut self, line: &Line, authentic: bool) {
        let limits = Limits::DEFAULT;
        let document = read_line(line.bytes.strip_suffix(b"\n").unwrap(), &limits).unwrap();
        let mut defects = anchorlog_proto::gad::Defects::new();
        let reading = document.entry(&limits, &mut defects);
        assert!(defects.is_empty(), "{defects:?}");
        let entry = reading.entry().unwrap();
        let event = Event { index: line.seq, entry, authentic };
        self.watch.observe(&event, &mut self.findings);
    }

    fn node(&self, id: &str) -> Option<NodeIx> {
        self.watch.machine().plan().find(id)
    }

    fn dispatch(&mut self, session_id: &str, nodes: &[&str]) {
        let input =
            nodes.iter().map(|node| DispatchInput { node, desc: "work", prior_failure: None });
        let dispatch = Dispatch {
            session_id,
            nodes: DispatchNodes::Set(nodes.to_vec()),
            executor: ExecutorIdentity { model: "m", version: "1", provider: "p" },
            instruction: artifact(),
            baseline: Some(Digest::of(b"baseline")),
            input: input.collect(),
            precommit: None,
        };
        session_id.clone_into(&mut self.latest_session);
        self.put(&Payload::Dispatch(dispatch), None);
    }

    fn exit(&mut self, session_id: &str, nodes: &[&str], status: ExitStatus) {
        let completed = status == ExitStatus::Completed;
        let exit_code = Some(i32::from(!completed));
        let node = named(nodes);
        let output = Some(artifact());
        let exit = ExecutorExit { session_id, node, status, exit_code, output };
        let seq = self.put(&Payload::ExecutorExit(exit), None);
        for node in nodes {
            self.latest.insert((*node).to_owned(), seq);
        }
    }

    fn result(&mut self, session_id: &str, nodes: &[&str], stray: bool) {
        let touched = if stray { vec!["docs/stray.md", "src/a.rs"] } else { vec!["src/a.rs"] };
        let result = ExecutionResult {
            session_id,
            node: named(nodes),
            delta: Ok(Some(artifact())),
            touched: Ok(touched),
            output_status: OutputStatus::Captured,
            quiescence: Quiescence::Quiesced,
        };
        self.put(&Payload::ExecutionResult(result), None);
    }

    fn verdict(&mut self, id: &str, test: u64, pass: bool, other: Option<&SigningKey>) {
        let nodes = &self.record.plan.nodes;
        let tests = nodes.iter().find(|node| *node.id == *id).map(|node| node.tests.as_slice());
        let tests: &[Test] = tests.unwrap_or_default();
        let test = usize::try_from(test).unwrap().min(tests.len().saturating_sub(1));
        let test = tests.get(test).cloned();
        let session = self.node(id).and_then(|node| self.watch.machine().session_of(node));
        let (session_id, execution_result_seq) = session
            .map_or(("none".to_owned(), 0), |session| {
                (session.id.to_string(), session.result.unwrap_or(0))
            });
        let engine = role_key(Role::Engine).id().to_string();
        let digest = Some(Digest::of(EVIDENCE));
        let verdict = Verdict {
            session_id: &session_id,
            execution_result_seq,
            node: id,
            test_id: test.as_ref().map_or("ghost", |test| &test.id),
            capture: Some(Capture::EngineCapture),
            layers: Some(test.as_ref().map_or_else(Vec::new, |test| test.spec.layers.clone())),
            signal: Some(
                test.as_ref().map_or(SignalKind::DirectObservable, |test| test.spec.signal),
            ),
            test_spec: Some(test.as_ref().map_or(Digest::of(b""), |test| test.digest)),
            signal_artifact: digest,
            subject_artifact: digest,
            environment: digest,
            stdout: digest,
            stderr: digest,
            result: Some(if pass { PassFail::Pass } else { PassFail::Fail }),
            exit_code: Some(i32::from(!pass)),
            engine_identity: Some(&engine),
            declares_class: false,
        };
        let seq = self.put(&Payload::Verdict(verdict), other);
        self.latest.insert(id.to_owned(), seq);
    }

    fn probe(&mut self, other: Option<&SigningKey>) {
        let probe = Probe {
            signal_artifact: Digest::of(EVIDENCE),
            environment: Digest::of(EVIDENCE),
            induced_defect: "off by one",
            demonstrated: PassFail::Fail,
            restoration: Restoration::Verified,
            time: self.record.time,
            spawned: true,
            exit_code: Some(1),
            output: Some(Digest::of(b"output")),
        };
        self.put(&Payload::Probe(probe), other);
    }

    fn gate_request(&mut self, id: &str) {
        let findings = vec![self.latest.get(id).copied().unwrap_or(0)];
        let request = GateRequest { node: id, findings: findings.clone() };
        let seq = self.put(&Payload::GateRequest(request), None);
        self.requests.insert(id.to_owned(), (self.record.head(seq), findings));
    }

    fn revised(&mut self, id: &str) {
        let change_ref = self.latest.get(id).copied().unwrap_or(0);
        let request = RevisedRequest { node: id, findings: vec![change_ref], change_ref };
        let seq = self.put(&Payload::RevisedApprovalRequest(request), None);
        self.requests.insert(id.to_owned(), (self.record.head(seq), vec![change_ref]));
    }

    fn answer(&mut self, id: &str, decision: Decision, other: Option<&SigningKey>) {
        let (request_h, findings) =
            self.requests.get(id).cloned().unwrap_or((Digest::of(b"none"), vec![0]));
        let who = role_key(Role::Approver).id();
        let answer = GateAnswer { node: id, who, decision: Some(decision), findings, request_h };
        let payload = match decision {
            Decision::Proceed => Payload::Approval(answer),
            Decision::Refuse => Payload::Refusal(answer),
        };
        self.put(&payload, other);
    }

    fn retry(&mut self, id: &str, reason: FailureReason) {
        let input_ref = Some(vec![self.latest.get(id).copied().unwrap_or(0)]);
        self.put(&Payload::Retry(Retry { node: id, reason, input_ref }), None);
    }

    fn trip(&mut self, id: &str, reason: FailureReason) {
        let history = vec![self.latest.get(id).copied().unwrap_or(0)];
        self.put(&Payload::Trip(Trip { node: id, reason, history }), None);
    }

    fn flag(&mut self, id: &str) {
        let session = self.node(id).and_then(|node| self.watch.machine().session_of(node));
        let execution_result_seq = session.and_then(|session| session.result).unwrap_or(0);
        let flag = Flag { node: id, execution_result_seq, paths: vec!["docs/stray.md"] };
        self.put(&Payload::Flag(flag), None);
    }
}

/// `node` of an exit or a result of these nodes.
fn named<'n>(nodes: &[&'n str]) -> NodeOrNull<'n> {
    match nodes {
        [node] => NodeOrNull::Node(node),
        _ => NodeOrNull::Null,
    }
}
