//! What the recorder remembers of the entries beside what the rules do, so that nobody has to count
//! sequence numbers by hand: touched surfaces, evidence of attempts, failures.

use std::collections::BTreeMap;

use anchorlog_proto::gad::entry::Payload;
use anchorlog_proto::gad::payload::DispatchNodes;
use anchorlog_verifier::gad::trace::{Machine, Status};
use anchorlog_verifier::gad::{Event, NodeIx};

/// The memory, derived from the witness alone.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// t of the last entry.
    pub(super) last_time: Option<i64>,
    /// What each session touched.
    touched: BTreeMap<Box<str>, Box<[Box<str>]>>,
    nodes: BTreeMap<NodeIx, NodeMemory>,
}

#[derive(Clone, Debug, Default)]
struct NodeMemory {
    /// Engine entries about it in its current attempt.
    findings: Vec<u64>,
    /// What the latest retry named, until the next dispatch.
    prior_failure: Option<Vec<u64>>,
    /// What showed its failures, over all attempts.
    failures: Vec<u64>,
    /// The latest entry that records a change since its refusal.
    change: Option<u64>,
    /// What its pending request stands on.
    request: Vec<u64>,
}

impl Memory {
    /// Takes an entry, after the machine has stepped over it.
    pub(super) fn observe(&mut self, event: &Event<'_>, machine: &Machine) {
        let seq = event.entry.seq;
        self.last_time = Some(event.entry.time);
        let find = |id: &str| machine.plan().find(id);
        match event.payload() {
            Some(Payload::Dispatch(dispatch)) => {
                let DispatchNodes::Set(ids) = &dispatch.nodes else { return };
                for node in ids.iter().filter_map(|id| find(id)) {
                    let memory = self.nodes.entry(node).or_default();
                    let failures = std::mem::take(&mut memory.failures);
                    *memory = NodeMemory { failures, ..NodeMemory::default() };
                }
            }
            Some(Payload::ExecutionResult(result)) => {
                if let Ok(touched) = &result.touched {
                    self.touched
                        .entry(result.session_id.into())
                        .or_insert_with(|| touched.iter().map(|path| (*path).into()).collect());
                }
            }
            Some(Payload::Flag(flag)) => self.about(find(flag.node), seq, machine, false),
            Some(Payload::Remediation(remediation)) => {
                self.about(find(remediation.node), seq, machine, true);
            }
            Some(Payload::ScopeClosed(closed)) => self.about(find(closed.node), seq, machine, true),
            Some(Payload::Verdict(verdict)) => self.about(find(verdict.node), seq, machine, true),
            Some(Payload::GateRequest(request)) => {
                self.asked(find(request.node), &request.findings);
            }
            Some(Payload::RevisedApprovalRequest(request)) => {
                self.asked(find(request.node), &request.findings);
            }
            Some(Payload::Retry(retry)) => {
                let shown = retry.input_ref.clone().unwrap_or_default();
                if let Some(memory) =
                    find(retry.node).map(|node| self.nodes.entry(node).or_default())
                {
                    memory.failures.extend(&shown);
                    memory.prior_failure = Some(shown);
                }
            }
            _ => {}
        }
    }

    fn about(&mut self, node: Option<NodeIx>, seq: u64, machine: &Machine, change: bool) {
        let Some(node) = node else { return };
        let memory = self.nodes.entry(node).or_default();
        memory.findings.push(seq);
        if change && machine.status(node) == Status::Refused {
            memory.change = Some(seq);
        }
    }

    fn asked(&mut self, node: Option<NodeIx>, findings: &[u64]) {
        let Some(node) = node else { return };
        self.nodes.entry(node).or_default().request = findings.to_vec();
    }

    /// What a session touched, ascending; nothing before its result.
    pub(super) fn touched(&self, session: &str) -> &[Box<str>] {
        self.touched.get(session).map_or(&[], |touched| touched)
    }

    /// The engine's entries about a node in its current attempt, ascending.
    pub(super) fn findings(&self, node: NodeIx) -> Vec<u64> {
        self.nodes.get(&node).map(|memory| memory.findings.clone()).unwrap_or_default()
    }

    /// What its pending request stands on.
    pub(super) fn request(&self, node: NodeIx) -> Vec<u64> {
        self.nodes.get(&node).map(|memory| memory.request.clone()).unwrap_or_default()
    }

    /// The entry that records what changed since the refusal of a node.
    pub(super) fn change(&self, node: NodeIx) -> Option<u64> {
        self.nodes.get(&node)?.change
    }

    /// What showed the failure that a granted retry answers.
    pub(super) fn prior_failure(&self, node: NodeIx) -> Option<Vec<u64>> {
        self.nodes.get(&node)?.prior_failure.clone()
    }

    /// What showed the failures of earlier attempts.
    pub(super) fn failures(&self, node: NodeIx) -> Vec<u64> {
        self.nodes.get(&node).map(|memory| memory.failures.clone()).unwrap_or_default()
    }
}
