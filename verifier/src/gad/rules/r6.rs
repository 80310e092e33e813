//! R6: what sessions touched outside their fences is flagged, and flags close by removal and a recheck.
//!
//! Mechanical: flags are held against the touched surface of the result they name. That the engine really
//! observed that surface is not to be told from bytes. Whether a node becomes good with an open flag is
//! looked at where the record relies on it, and not here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anchorlog_proto::gad::entry::{EntryType, Payload};
use anchorlog_proto::gad::payload::{
    DispatchNodes, ExecutionResult, Flag, Remediation, RemediationAction, ScopeClosed, Verdict,
};

use super::surface::{Fences, Surface};
use crate::codes::gad::r6::{
    CLOSE_NO_FLAG, CLOSE_NO_REMEDIATION, CLOSE_SIG, FLAG_IN_FENCE, FLAG_INCOMPLETE,
    FLAG_NOT_TOUCHED, FLAG_OMITTED, FLAG_REF, FLAG_UNAUTHENTICATED, REMEDIATION_ACTION,
    REMEDIATION_NO_FLAG, SUCCESSION_CLOSE,
};
use crate::gad::trace::{Machine, Session, Status};
use crate::gad::witness::Coverage;
use crate::gad::{Event, Findings, GadFinding, Ledger, NodeIx, PlanIndex, Where};

/// The observer of scope.
#[derive(Clone, Debug)]
pub struct R6 {
    fences: Arc<Fences>,
    /// By session.
    surfaces: BTreeMap<Arc<str>, Surface>,
    /// seq of each flag, and the position of the result it names.
    flags: Vec<(u64, u64)>,
}

impl R6 {
    /// Before the first entry.
    #[must_use]
    pub fn new(plan: &PlanIndex) -> Self {
        Self { fences: Arc::new(Fences::new(plan)), surfaces: BTreeMap::new(), flags: Vec::new() }
    }

    /// One entry, in order, before the machine steps over it.
    pub fn observe(
        &mut self,
        event: &Event<'_>,
        machine: &Machine,
        ledger: &Ledger,
        findings: &mut Findings,
    ) {
        if event.entry.entry_type == EntryType::ScopeClosed && !event.authentic {
            findings.push(GadFinding::new(CLOSE_SIG, event.place()));
        }
        match event.payload() {
            Some(Payload::Dispatch(dispatch)) => {
                self.dispatch(&dispatch.nodes, machine, findings);
            }
            Some(Payload::ExecutionResult(result)) => {
                self.result(event, result, machine, findings);
            }
            Some(Payload::Verdict(verdict)) => self.verdict(verdict, machine, findings),
            Some(Payload::Flag(flag)) => self.flag(event, flag, machine, ledger, findings),
            Some(Payload::Remediation(remediation)) => {
                check_remediation(event, remediation, machine, findings);
            }
            Some(Payload::ScopeClosed(closed)) => check_closure(event, closed, machine, findings),
            _ => {}
        }
    }

    /// After the last entry. `coverage` says which entries valid checkpoints cover.
    pub fn finish(&self, machine: &Machine, coverage: &Coverage, findings: &mut Findings) {
        let mut judged: Vec<_> =
            self.surfaces.values().filter(|surface| surface.judged()).collect();
        judged.sort_by_key(|surface| surface.result);
        for surface in judged {
            conclude(surface, &self.fences, machine.plan(), findings);
        }
        for (flag, result) in &self.flags {
            if !coverage.contains(*result) {
                let place = Where::entry(*flag).at("/body/p/execution_result_seq");
                findings.push(
                    GadFinding::new(FLAG_UNAUTHENTICATED, place)
                        .expected("a result in the range of a valid checkpoint"),
                );
            }
        }
    }

    /// Nodes that are dispatched again wait for nothing in the session before.
    fn dispatch(&mut self, nodes: &DispatchNodes<'_>, machine: &Machine, findings: &mut Findings) {
        let ids = match nodes {
            DispatchNodes::Set(ids) => ids.as_slice(),
            DispatchNodes::Scalar(id) => std::slice::from_ref(id),
            DispatchNodes::Malformed => &[],
        };
        for node in ids.iter().filter_map(|id| machine.plan().find(id)) {
            self.settle(node, machine, false, findings);
        }
    }

    fn verdict(&mut self, verdict: &Verdict<'_>, machine: &Machine, findings: &mut Findings) {
        if let Some(node) = machine.plan().find(verdict.node) {
            self.settle(node, machine, true, findings);
        }
    }

    /// A node is judged or dispatched again: it can't be flagged in this attempt any more. When that holds
    /// for every node of the session, nothing can change and nothing is kept.
    fn settle(&mut self, node: NodeIx, machine: &Machine, judged: bool, findings: &mut Findings) {
        let Some(session) = machine.session_of(node) else { return };
        let Some(surface) = self.surfaces.get_mut(&session.id) else { return };
        if Some(surface.result) != session.result {
            return;
        }
        if judged {
            surface.judge();
        }
        surface.waiting.remove(&node);
        if surface.waiting.is_empty()
            && let Some(surface) = self.surfaces.remove(&session.id)
            && surface.judged()
        {
            conclude(&surface, &self.fences, machine.plan(), findings);
        }
    }

    fn result(
        &mut self,
        event: &Event<'_>,
        result: &ExecutionResult<'_>,
        machine: &Machine,
        findings: &mut Findings,
    ) {
        let Some(session) = machine.session(result.session_id) else { return };
        // A repeated result is ignored.
        let (true, Ok(touched)) = (session.is_open(), &result.touched) else { return };
        let current = |node: &NodeIx| {
            machine.session_of(*node).is_some_and(|current| current.dispatch == session.dispatch)
        };
        let waiting: BTreeSet<_> = session.nodes.iter().copied().filter(current).collect();
        if waiting.is_empty() {
            return;
        }
        let surface = Surface::new(session, event.entry.seq, touched, waiting);
        let before = self.surfaces.insert(Arc::clone(&session.id), surface);
        // An id that is used again ends what was known under it.
        if let Some(before) = before.filter(Surface::judged) {
            conclude(&before, &self.fences, machine.plan(), findings);
        }
    }

    fn flag(
        &mut self,
        event: &Event<'_>,
        flag: &Flag<'_>,
        machine: &Machine,
        ledger: &Ledger,
        findings: &mut Findings,
    ) {
        let plan = machine.plan();
        let Some(node) = plan.find(flag.node) else {
            findings.push(
                GadFinding::new(FLAG_REF, event.member("/node"))
                    .expected("a node of the plan")
                    .actual(flag.node),
            );
            return;
        };
        if !machine.may_be_flagged(node) {
            findings.push(
                GadFinding::new(FLAG_REF, event.member("/node"))
                    .expected("a CAPTURED node without a verdict in this attempt")
                    .actual(machine.status(node)),
            );
        }
        let session = machine.session_of(node);
        let result = session.and_then(|session| session.result);
        if result != Some(flag.execution_result_seq) {
            let mut finding = GadFinding::new(FLAG_REF, event.member("/execution_result_seq"))
                .actual(flag.execution_result_seq);
            if let Some(result) = result {
                finding = finding.expected(result);
            }
            findings.push(finding);
        } else if let Some(position) = ledger.position(flag.execution_result_seq) {
            self.flags.push((event.entry.seq, position));
        }
        let mut surface = session
            .and_then(|session| self.surfaces.get_mut(&session.id))
            .filter(|surface| result == Some(surface.result) && surface.completed());
        let fence = &plan.node(node).fence;
        for (position, path) in flag.paths.iter().enumerate() {
            let mut wrong = |code| {
                findings.push_made(code, || {
                    let place = event.member(&format!("/paths/{position}"));
                    GadFinding::new(code, place).actual(path)
                });
            };
            if surface.as_mut().is_some_and(|surface| !surface.name(path)) {
                wrong(FLAG_NOT_TOUCHED);
            }
            if fence.admits(path) {
                wrong(FLAG_IN_FENCE);
            }
        }
        if let Some(surface) = surface {
            surface.flagged = true;
        }
    }
}

impl R6 {
    /// Whether a session touched something outside every fence of its nodes that no flag names. Of a session
    /// of which a node was judged, [`R6::finish`] says so.
    pub(super) fn strays(&self, session: &Session, plan: &PlanIndex) -> bool {
        let surface = self.surfaces.get(&session.id);
        surface
            .filter(|surface| Some(surface.result) == session.result)
            .is_some_and(|surface| surface.omitted(&self.fences, plan).is_some())
    }
}

#[cfg(test)]
impl R6 {
    /// How many surfaces are kept.
    pub(super) fn surfaces(&self) -> usize {
        self.surfaces.len()
    }
}

/// What a session left unflagged, once nothing of it can be flagged any more.
fn conclude(surface: &Surface, fences: &Fences, plan: &PlanIndex, findings: &mut Findings) {
    let Some((position, path, count)) = surface.omitted(fences, plan) else { return };
    let (code, expected) = if surface.single && surface.flagged {
        (FLAG_INCOMPLETE, "flags of all that was touched outside the fence")
    } else {
        (FLAG_OMITTED, "a flag of what was touched outside every fence of the session")
    };
    let place = Where::entry(surface.result).at(format!("/body/p/touched_surface/{position}"));
    let finding = GadFinding::new(code, place).expected(expected);
    findings.push(match count {
        1 => finding.actual(path),
        _ => finding.actual(format_args!("{path} and {} more", count.saturating_sub(1))),
    });
}

fn check_remediation(
    event: &Event<'_>,
    remediation: &Remediation<'_>,
    machine: &Machine,
    findings: &mut Findings,
) {
    let node = machine.plan().find(remediation.node);
    let action = match remediation.action {
        Some(RemediationAction::Removal) => None,
        // A revision answers a refusal; that it changes something is what the revised request is about.
        Some(RemediationAction::Revision) => {
            if node.is_some_and(|node| machine.status(node) == Status::Refused) {
                return;
            }
            None
        }
        Some(RemediationAction::Succession) => Some(SUCCESSION_CLOSE),
        None => Some(REMEDIATION_ACTION),
    };
    if let Some(code) = action {
        findings.push(
            GadFinding::new(code, event.member("/action"))
                .expected("removal of what was flagged, or revision of what was refused"),
        );
    }
    let flagged = node.is_some_and(|node| machine.has_open_flag(node));
    if !flagged || remediation.action == Some(RemediationAction::Revision) {
        findings.push(
            GadFinding::new(REMEDIATION_NO_FLAG, event.member("/node"))
                .expected("a node with an open flag; for a revision, a REFUSED one")
                .actual(remediation.node),
        );
    }
}

fn check_closure(
    event: &Event<'_>,
    closed: &ScopeClosed<'_>,
    machine: &Machine,
    findings: &mut Findings,
) {
    let node = machine.plan().find(closed.node).filter(|node| machine.has_open_flag(*node));
    let Some(node) = node else {
        findings.push(
            GadFinding::new(CLOSE_NO_FLAG, event.member("/node"))
                .expected("a node with an open flag")
                .actual(closed.node),
        );
        return;
    };
    if !machine.has_removal(node) {
        findings.push(
            GadFinding::new(CLOSE_NO_REMEDIATION, event.member("/node"))
                .expected("a removal since the latest flag")
                .actual(closed.node),
        );
    }
}
