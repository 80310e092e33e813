//! Realistic runs: sessions over one to five nodes, tests of both kinds, probes, failures and retries, stray
//! work and its removal, gates with refusals, all of it legal and in the end complete.

use std::path::Path;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::core_manifest::Seal;
use anchorlog_proto::gad::entry::Payload;
use anchorlog_proto::gad::names::{PassFail, Risk, SignalKind};
use anchorlog_proto::gad::payload::{
    Claim, Decision, Dispatch, DispatchInput, DispatchNodes, ExecutionResult, ExecutorExit,
    ExecutorIdentity, ExitStatus, FailureReason, Flag, GateAnswer, GateRequest, NodeOrNull,
    OutputStatus, Probe, Quiescence, Remediation, RemediationAction, Restoration, Retry,
    RevisedRequest, ScopeClosed, Verdict,
};
use anchorlog_proto::gad::plan::{Node, Plan};

use super::plans::{node, plan, proxy};
use super::{Record, Written};

/// The most nodes a run has.
const MAX_NODES: u64 = 1_000;

/// How many entries a run has for each node, as long as it has fewer.
const ENTRIES_PER_NODE: u64 = 60;

/// How many entries a checkpoint covers.
const CHECKPOINT_EVERY: u64 = 64;

/// Writes a run of about so many entries: up to a node's last attempt more.
#[must_use]
pub fn write(folder: &Path, entries: u64) -> Written {
    let count = usize::try_from((entries / ENTRIES_PER_NODE).clamp(3, MAX_NODES)).unwrap();
    let groups = groups(count);
    let plan = plan_of(count, &groups);
    let mut run =
        Run { record: Record::create(folder, &plan, CHECKPOINT_EVERY), plan: &plan, sessions: 0 };
    let mut done = 0_u64;
    for group in &groups {
        let mut failed = run.first(group);
        for node in group {
            done += 1;
            let until = entries * done / u64::try_from(count).unwrap();
            run.finish_node(*node, failed.remove(0), until);
        }
    }
    run.record.write(&Payload::PlanCompleted);
    run.record.finish(Seal::Final)
}

/// Nodes by sessions: one to five each.
fn groups(count: usize) -> Vec<Vec<usize>> {
    let (mut groups, mut next, mut size) = (Vec::new(), 0, 0);
    while next < count {
        size = size % 5 + 1;
        let end = (next + size).min(count);
        groups.push((next..end).collect());
        next = end;
    }
    groups
}

/// Every node after one of the session before and one of any earlier session.
fn plan_of(count: usize, groups: &[Vec<usize>]) -> Plan {
    let mut edges = Vec::new();
    for pair in groups.windows(2) {
        for to in &pair[1] {
            let near = pair[0][to % pair[0].len()];
            let far = to * 7919 % pair[0][0].max(1);
            for from in if near == far { vec![near] } else { vec![far, near] } {
                edges.push((super::plans::id(from).into(), super::plans::id(*to).into()));
            }
        }
    }
    let nodes = (0..count).map(|number| match number % 16 {
        3 | 9 => proxy(node(number, 1 + number % 3)),
        15 => Node { risk: Risk::Gated, ..node(number, 1 + number % 3) },
        _ => node(number, 1 + number % 3),
    });
    plan(nodes.collect(), edges)
}

struct Run<'p> {
    record: Record,
    plan: &'p Plan,
    sessions: u64,
}

/// How an attempt failed: what a retry has to say of it.
type Failed = Option<(FailureReason, u64)>;

/// What becomes of a session.
struct Session {
    id: String,
    result: u64,
    /// seq of the exit, where it wasn't completed.
    crashed: Option<u64>,
}

impl<'p> Run<'p> {
    fn node(&self, number: usize) -> &'p Node {
        &self.plan.nodes[number]
    }

    /// The first attempt of a group: its first node passes, the others fail. What became of each.
    fn first(&mut self, group: &[usize]) -> Vec<Option<Failed>> {
        for node in group {
            self.probe(*node);
        }
        let inputs: Vec<_> = group.iter().map(|node| (*node, None)).collect();
        let session = self.session(&inputs, false, false);
        group
            .iter()
            .enumerate()
            .map(|(position, node)| Some(self.judge(*node, &session, position == 0)))
            .collect()
    }

    /// Retries a node until the record has so many entries, and then lets it pass.
    fn finish_node(&mut self, number: usize, first: Option<Failed>, until: u64) {
        let mut failed = first.flatten();
        let mut attempt = 0_u64;
        while let Some((reason, seq)) = failed {
            let node = &*self.node(number).id;
            self.record.write(&Payload::Retry(Retry { node, reason, input_ref: Some(vec![seq]) }));
            attempt += 1;
            let last = self.record.next_seq() >= until || attempt >= 999;
            if attempt % 8 == 1 {
                self.probe(number);
            }
            let crashes = !last && attempt.is_multiple_of(4);
            let strays = attempt % 5 == 2;
            let session = self.session(&[(number, Some(vec![seq]))], crashes, strays);
            failed = match session.crashed {
                Some(exit) => Some((FailureReason::SessionFailed, exit)),
                None => self.judge(number, &session, last),
            };
        }
    }

    /// Dispatch to result, and what follows a result.
    fn session(
        &mut self,
        inputs: &[(usize, Option<Vec<u64>>)],
        crashes: bool,
        strays: bool,
    ) -> Session {
        self.sessions += 1;
        let number = self.sessions;
        let id = format!("s{number:07}");
        let nodes: Vec<&Node> = inputs.iter().map(|(node, _)| self.node(*node)).collect();
        let ids: Vec<&str> = nodes.iter().map(|node| &*node.id).collect();
        let input = nodes.iter().zip(inputs).map(|(node, (_, prior))| DispatchInput {
            node: &node.id,
            desc: &node.desc,
            prior_failure: prior.clone(),
        });
        let instruction = format!("artifacts/instruction-{:02}.md", number % 16);
        let delta = format!("artifacts/delta-{:02}.patch", number % 64);
        let dispatch = Dispatch {
            session_id: &id,
            nodes: DispatchNodes::Set(ids.clone()),
            executor: ExecutorIdentity { model: "load", version: "1", provider: "bench" },
            instruction: self.record.artifact(&instruction),
            baseline: Some(Digest::of(&number.to_be_bytes())),
            input: input.collect(),
            precommit: None,
        };
        self.record.write(&Payload::Dispatch(dispatch));
        let node = if let [node] = *ids { NodeOrNull::Node(node) } else { NodeOrNull::Null };
        let exit = ExecutorExit {
            session_id: &id,
            node,
            status: if crashes { ExitStatus::Crashed } else { ExitStatus::Completed },
            exit_code: Some(i32::from(crashes)),
            output: None,
        };
        let exit = self.record.write(&Payload::ExecutorExit(exit));
        let mut touched: Vec<String> = ids
            .iter()
            .flat_map(|id| (0..=(number % 4)).map(move |file| format!("src/{id}/file{file}.rs")))
            .collect();
        if strays {
            touched.push("stray/notes.txt".to_owned());
        }
        let result = ExecutionResult {
            session_id: &id,
            node,
            delta: Ok(if crashes { None } else { Some(self.record.artifact(&delta)) }),
            touched: Ok(touched.iter().map(String::as_str).collect()),
            output_status: if crashes { OutputStatus::NotRecorded } else { OutputStatus::Captured },
            quiescence: Quiescence::Quiesced,
        };
        let result = self.record.write(&Payload::ExecutionResult(result));
        if crashes {
            return Session { id, result, crashed: Some(exit) };
        }
        if number.is_multiple_of(3) {
            let text = "All parts are done, and every test I ran here has passed.";
            self.record.write(&Payload::Claim(Claim { session_id: &id, node: ids[0], text }));
        }
        if strays {
            self.stray(ids[0], result);
        }
        Session { id, result, crashed: None }
    }

    /// A flag, the removal, and the recheck.
    fn stray(&mut self, node: &str, execution_result_seq: u64) {
        let paths = vec!["stray/notes.txt"];
        self.record.write(&Payload::Flag(Flag { node, execution_result_seq, paths }));
        let action = Some(RemediationAction::Removal);
        self.record.write(&Payload::Remediation(Remediation { node, action }));
        self.record.write(&Payload::ScopeClosed(ScopeClosed { node, verdict: PassFail::Pass }));
    }

    /// Verdicts on every test of a node, of which the first one fails unless it passes; and its gate.
    fn judge(&mut self, number: usize, session: &Session, passes: bool) -> Failed {
        let node = self.node(number);
        let engine = self.record.engine_identity();
        let mut seqs = Vec::new();
        for (position, test) in node.tests.iter().enumerate() {
            let passes = passes || position > 0;
            let output = Digest::of(&self.record.next_seq().to_be_bytes());
            let verdict = Verdict {
                session_id: &session.id,
                execution_result_seq: session.result,
                node: &node.id,
                test_id: &test.id,
                capture: Some(test.spec.capture),
                layers: Some(test.spec.layers.clone()),
                signal: Some(test.spec.signal),
                test_spec: Some(test.digest),
                signal_artifact: Some(artifact_of(node)),
                subject_artifact: Some(output),
                environment: Some(environment()),
                stdout: Some(output),
                stderr: Some(Digest::of(b"")),
                result: Some(if passes { PassFail::Pass } else { PassFail::Fail }),
                exit_code: Some(i32::from(!passes)),
                engine_identity: Some(&engine),
                declares_class: false,
            };
            seqs.push(self.record.write(&Payload::Verdict(verdict)));
        }
        if passes && node.risk == Risk::Gated {
            self.gate(&node.id, &seqs, number % 32 == 31);
        }
        (!passes).then(|| (FailureReason::VerdictFailed, seqs[0]))
    }

    fn gate(&mut self, node: &str, findings: &[u64], refused_first: bool) {
        let who = self.record.approver().id();
        let answer = |request_h, decision| GateAnswer {
            node,
            who,
            decision: Some(decision),
            findings: findings.to_vec(),
            request_h,
        };
        let request = GateRequest { node, findings: findings.to_vec() };
        let mut h = self.record.write_line(&Payload::GateRequest(request)).h;
        if refused_first {
            self.record.write(&Payload::Refusal(answer(h, Decision::Refuse)));
            let action = Some(RemediationAction::Revision);
            let change_ref = self.record.write(&Payload::Remediation(Remediation { node, action }));
            let revised = RevisedRequest { node, findings: findings.to_vec(), change_ref };
            h = self.record.write_line(&Payload::RevisedApprovalRequest(revised)).h;
        }
        self.record.write(&Payload::Approval(answer(h, Decision::Proceed)));
    }

    /// A planted defect, for a node whose tests the worker writes.
    fn probe(&mut self, number: usize) {
        let node = self.node(number);
        if node.tests.iter().all(|test| test.spec.signal == SignalKind::DirectObservable) {
            return;
        }
        let probe = Probe {
            signal_artifact: artifact_of(node),
            environment: environment(),
            induced_defect: "the first branch returns early",
            demonstrated: PassFail::Fail,
            restoration: Restoration::Verified,
            time: self.record.time(),
            spawned: true,
            exit_code: Some(1),
            output: Some(Digest::of(node.id.as_bytes())),
        };
        self.record.write(&Payload::Probe(probe));
    }
}

fn artifact_of(node: &Node) -> Digest {
    Digest::of(format!("{} as run", node.id).as_bytes())
}

fn environment() -> Digest {
    Digest::of(b"the container image")
}
