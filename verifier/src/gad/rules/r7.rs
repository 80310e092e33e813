//! R7: a human was asked, on evidence of the engine, and a registered one answered that very question.
//!
//! What a consequence may rely on is looked at where the record relies on it, and not here. Whether the
//! register says who somebody really is, is not to be told from bytes.

use std::collections::BTreeMap;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::entry::{EntryType, Payload};
use anchorlog_proto::gad::names::Role;
use anchorlog_proto::gad::payload::{Decision, GateAnswer};

use crate::codes::gad::r7::{
    DECISION, FINDINGS_EMPTY, FINDINGS_NODE, FINDINGS_NOT_ENGINE, FINDINGS_REF, REFUSAL, REPLAY,
    ROLE, SIG, WHO,
};
use crate::gad::trace::Machine;
use crate::gad::witness::verifies_under;
use crate::gad::{Event, Findings, GadFinding, Kept, Ledger, NodeIx};

/// The observer of gates.
#[derive(Clone, Debug, Default)]
pub struct R7 {
    gates: BTreeMap<NodeIx, Gate>,
}

/// What was asked of humans about one node.
#[derive(Clone, Debug, Default)]
struct Gate {
    /// The latest gate_request or revised_approval_request.
    request: Option<Request>,
    /// It was refused, and nobody was asked again with something changed.
    refused: bool,
}

#[derive(Clone, Debug)]
struct Request {
    h: Digest,
    /// Ascending.
    findings: Box<[u64]>,
}

impl R7 {
    /// Before the first entry.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One entry, in order, before the machine steps over it.
    pub fn observe(
        &mut self,
        event: &Event<'_>,
        machine: &Machine,
        ledger: &Ledger,
        findings: &mut Findings,
    ) {
        let is_answer = matches!(event.entry.entry_type, EntryType::Approval | EntryType::Refusal);
        if is_answer && !(event.authentic && signed_by_who(event, machine)) {
            findings.push(GadFinding::new(SIG, event.place()));
        }
        let basis = |member, node, refs| Basis { event, machine, ledger, member, node, refs };
        match event.payload() {
            Some(Payload::GateRequest(request)) => {
                let node = machine.plan().find(request.node);
                basis("/findings", node, &request.findings).check(None, findings);
                self.ask(event, node, &request.findings, false);
            }
            Some(Payload::RevisedApprovalRequest(request)) => {
                let node = machine.plan().find(request.node);
                basis("/findings", node, &request.findings).check(None, findings);
                self.ask(event, node, &request.findings, true);
            }
            Some(Payload::Approval(answer)) => {
                check_answer(event, answer, Decision::Proceed, machine, findings);
                let (node, gate) = self.answered(event, answer, machine, findings);
                if gate.is_some_and(|gate| gate.refused) {
                    findings.push(
                        GadFinding::new(REFUSAL, event.place())
                            .expected("a revised_approval_request since the refusal"),
                    );
                }
                let request = gate.and_then(|gate| gate.request.as_ref());
                basis("/findings_ref", node, &answer.findings).check(request, findings);
            }
            Some(Payload::Refusal(answer)) => {
                check_answer(event, answer, Decision::Refuse, machine, findings);
                let (node, gate) = self.answered(event, answer, machine, findings);
                let request = gate.and_then(|gate| gate.request.as_ref());
                basis("/findings_ref", node, &answer.findings).check(request, findings);
                if let Some(node) = node {
                    self.gates.entry(node).or_default().refused = true;
                }
            }
            _ => {}
        }
    }

    fn ask(&mut self, event: &Event<'_>, node: Option<NodeIx>, refs: &[u64], revised: bool) {
        let Some(node) = node else { return };
        let gate = self.gates.entry(node).or_default();
        gate.request = Some(Request { h: event.h(), findings: refs.into() });
        gate.refused &= !revised;
    }

    /// What an answer is about; it has to say so by the chain hash of the request.
    fn answered(
        &self,
        event: &Event<'_>,
        answer: &GateAnswer<'_>,
        machine: &Machine,
        findings: &mut Findings,
    ) -> (Option<NodeIx>, Option<&Gate>) {
        let node = machine.plan().find(answer.node);
        let gate = node.and_then(|node| self.gates.get(&node));
        let request = gate.and_then(|gate| gate.request.as_ref());
        if request.map(|request| request.h) != Some(answer.request_h) {
            let finding = GadFinding::new(REPLAY, event.member("/request_h"));
            let finding = match request {
                Some(request) => finding.expected(request.h),
                None => finding.expected("h of a request for this node"),
            };
            findings.push(finding.actual(answer.request_h));
        }
        (node, gate)
    }
}

/// Whether an answer is signed by the key registered for `who`. The key it names itself was verified
/// already; an unregistered `who` has its own code.
fn signed_by_who(event: &Event<'_>, machine: &Machine) -> bool {
    let (Some(Payload::Approval(answer) | Payload::Refusal(answer)), Some(signed)) =
        (event.payload(), &event.entry.signed)
    else {
        return true;
    };
    signed.key_id == Some(answer.who)
        || machine.plan().principal(answer.who).is_none()
        || verifies_under(signed, machine.plan(), answer.who)
}

/// Who answers, and what.
fn check_answer(
    event: &Event<'_>,
    answer: &GateAnswer<'_>,
    decision: Decision,
    machine: &Machine,
    findings: &mut Findings,
) {
    let plan = machine.plan();
    let who = |code| GadFinding::new(code, event.member("/who")).actual(answer.who);
    if plan.principal(answer.who).is_none() {
        findings.push(who(WHO).expected("a registered principal"));
    } else if !plan.has_role(answer.who, Role::Approver) {
        findings.push(who(ROLE).expected(Role::Approver));
    }
    if answer.decision != Some(decision) {
        let finding = GadFinding::new(DECISION, event.member("/decision")).expected(decision);
        findings.push(match answer.decision {
            Some(decision) => finding.actual(decision),
            None => finding,
        });
    }
}

/// The entries that a request or an answer stands on.
struct Basis<'b> {
    event: &'b Event<'b>,
    machine: &'b Machine,
    ledger: &'b Ledger,
    member: &'static str,
    node: Option<NodeIx>,
    refs: &'b [u64],
}

impl Basis<'_> {
    /// Each has to be an earlier entry of the engine about the node's current attempt; those of an answer
    /// have to be among those of its request.
    fn check(&self, request: Option<&Request>, findings: &mut Findings) {
        if self.refs.is_empty() {
            findings.push(GadFinding::new(FINDINGS_EMPTY, self.event.member(self.member)));
        }
        for (position, seq) in self.refs.iter().enumerate() {
            let mut wrong = |code, expected: &str| {
                findings.push_made(code, || {
                    let place = self.event.member(&format!("{}/{position}", self.member));
                    GadFinding::new(code, place).expected(expected).actual(seq)
                });
            };
            let asked = request.is_none_or(|request| request.findings.binary_search(seq).is_ok());
            if !asked {
                wrong(FINDINGS_REF, "one of the request's findings");
            }
            let earlier = |at: &u64| *at < self.event.index;
            let Some(kept) =
                self.ledger.position(*seq).filter(earlier).and_then(|at| self.ledger.at(at))
            else {
                // Said once, whichever way it is wrong.
                if asked {
                    wrong(FINDINGS_REF, "an earlier entry");
                }
                continue;
            };
            if !is_of_the_engine(kept.entry_type) {
                wrong(FINDINGS_NOT_ENGINE, "an entry that the engine issued");
            }
            if !self.is_current(kept) {
                wrong(FINDINGS_NODE, "an entry about the node's current attempt");
            }
        }
    }

    fn is_current(&self, kept: &Kept) -> bool {
        // A probe is about an artifact, whichever nodes it serves.
        if kept.entry_type == EntryType::Probe {
            return true;
        }
        let Some(node) = self.node else { return false };
        match kept.entry_type {
            // These are about all nodes of their session.
            EntryType::Dispatch | EntryType::ExecutorExit | EntryType::ExecutionResult => {
                let session = self.machine.session_of(node);
                let dispatch = session.and_then(|session| self.ledger.position(session.dispatch));
                dispatch.is_some() && dispatch == kept.session.map(u64::from)
            }
            _ => kept.node == Some(node) && kept.attempt == self.machine.attempt(node),
        }
    }
}

/// Whether the engine issues entries of this type: what executors and principals say isn't evidence of it.
const fn is_of_the_engine(entry_type: EntryType) -> bool {
    !matches!(
        entry_type,
        EntryType::Claim | EntryType::Approval | EntryType::Refusal | EntryType::PlanSuperseded
    )
}
