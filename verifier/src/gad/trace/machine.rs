//! The engine: evaluates the table over one entry after the other, and keeps what later entries need.
//!
//! An entry costs its own size, whatever came before: what holds over all nodes is counted, not looked for.

use std::collections::BTreeSet;
use std::sync::Arc;

use anchorlog_proto::gad::entry::{EntryType, Payload};
use anchorlog_proto::gad::payload::DispatchNodes;

use super::nodes::{NodeState, Nodes};
use super::sessions::Sessions;
use super::table::{CLOSING, Guard, Otherwise, Over, Raises, row_of};
use super::{Judged, Request, Session, Status};
use crate::codes::Code;
use crate::codes::gad::r3::EXIT_MISSING;
use crate::gad::{Event, Findings, GadFinding, NodeIx, PlanIndex, Where};

/// The state machine of one record.
///
/// [`Machine::step`] takes every entry in order; between steps it tells where every node stands. A clone is
/// an independent machine in the same state: a recorder steps a clone over the entry it means to write.
#[derive(Clone, Debug)]
pub struct Machine {
    pub(super) plan: Arc<PlanIndex>,
    pub(super) scalar_dispatch_legal: bool,
    pub(super) nodes: Nodes,
    pub(super) sessions: Sessions,
    pub(super) terminal: Option<(EntryType, u64)>,
    /// The session whose result nothing but claims, probes and checkpoints has followed.
    pub(super) testimony: Option<usize>,
    /// Nodes that the latest step changed, in the order it did.
    changed: Vec<NodeIx>,
}

impl Machine {
    /// Before the first entry of a record of this plan. `scalar_dispatch_legal`: its spec_version is one
    /// that spelled a dispatch's set of nodes as `node`.
    #[must_use]
    pub fn new(plan: Arc<PlanIndex>, scalar_dispatch_legal: bool) -> Self {
        Self {
            nodes: Nodes::new(&plan),
            plan,
            scalar_dispatch_legal,
            sessions: Sessions::default(),
            terminal: None,
            testimony: None,
            changed: Vec::new(),
        }
    }

    /// One entry, in order. `judged` is, for a verdict, what it came to; without it a verdict counts as a
    /// failure. An entry whose payload was refused changes nothing.
    pub fn step(&mut self, event: &Event<'_>, judged: Option<Judged>, findings: &mut Findings) {
        self.changed.clear();
        let entry_type = event.entry.entry_type;
        if !matches!(entry_type, EntryType::Claim | EntryType::Probe | EntryType::Checkpoint) {
            self.testimony = None;
        }
        if let (Some(payload), Some(row)) = (event.payload(), row_of(entry_type)) {
            let subject = self.subject(event, payload, judged);
            let mut raised = Vec::new();
            if self.examine(row.guards, &subject, &mut raised, findings) {
                for effect in row.effects {
                    self.apply(*effect, &subject);
                }
            }
        }
    }

    /// After the last entry: what is still missing. `snapshot`: the record says that it is one, so the
    /// session that is open at its end is no finding. A recorder asks after every step, as if for a
    /// snapshot: a result without its exit is found only here.
    pub fn finish(&self, snapshot: bool, findings: &mut Findings) {
        let exempt = if snapshot && self.terminal.is_none() { self.sessions.open() } else { None };
        for (number, session) in self.sessions.unfinished() {
            if Some(number) == exempt {
                continue;
            }
            for closing in CLOSING {
                let holds = if closing.code == EXIT_MISSING {
                    session.exit.is_some()
                } else {
                    session.result.is_some()
                };
                if !holds {
                    let place = Where::entry(session.dispatch);
                    findings.push(GadFinding::new(closing.code, place).actual(&session.id));
                }
            }
        }
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &PlanIndex {
        &self.plan
    }

    /// Where a node stands.
    #[must_use]
    pub fn status(&self, node: NodeIx) -> Status {
        self.nodes.get(node).status
    }

    /// Whether a node is in its good terminal: VERIFIED where it is normal, APPROVED where it is gated.
    #[must_use]
    pub fn is_good(&self, node: NodeIx) -> bool {
        self.nodes.get(node).good(self.plan.node(node).risk)
    }

    /// Whether a node is READY: it may be dispatched as far as the plan is concerned.
    #[must_use]
    pub fn is_ready(&self, node: NodeIx) -> bool {
        self.nodes.is_ready(node)
    }

    /// How many nodes are not good.
    #[must_use]
    pub const fn unresolved(&self) -> usize {
        self.nodes.unresolved()
    }

    /// The number of a node's current attempt; 0 before its first dispatch.
    #[must_use]
    pub fn attempt(&self, node: NodeIx) -> u32 {
        self.nodes.get(node).attempt
    }

    /// Position of the dispatch that began a node's current attempt.
    #[must_use]
    pub fn attempt_start(&self, node: NodeIx) -> Option<u64> {
        self.nodes.get(node).attempt_start
    }

    /// The session of a node's current attempt.
    #[must_use]
    pub fn session_of(&self, node: NodeIx) -> Option<&Session> {
        self.nodes.get(node).session.and_then(|number| self.sessions.get(number))
    }

    /// The latest session with this id.
    #[must_use]
    pub fn session(&self, id: &str) -> Option<&Session> {
        self.sessions.find(id).and_then(|number| self.sessions.get(number))
    }

    /// The session that is open; the latest, where a record opened several.
    #[must_use]
    pub fn open_session(&self) -> Option<&Session> {
        self.sessions.open().and_then(|number| self.sessions.get(number))
    }

    /// How many dispatches there were.
    #[must_use]
    pub const fn session_count(&self) -> usize {
        self.sessions.len()
    }

    /// The sessions that lack an exit or a result, in the order of their dispatches.
    pub fn unfinished_sessions(&self) -> impl Iterator<Item = &Session> {
        self.sessions.unfinished().map(|(_, session)| session)
    }

    /// Whether a node has a flag, of this attempt or an earlier one, that no passing scope_closed has closed.
    #[must_use]
    pub fn has_open_flag(&self, node: NodeIx) -> bool {
        self.nodes.get(node).open_flags > 0
    }

    /// Whether a removal was recorded since a node's latest flag, and the flag is open.
    #[must_use]
    pub fn has_removal(&self, node: NodeIx) -> bool {
        self.nodes.get(node).removal
    }

    /// Whether a flag of a node may stand here: it is CAPTURED and has no verdict in this attempt.
    #[must_use]
    pub fn may_be_flagged(&self, node: NodeIx) -> bool {
        self.nodes.get(node).unjudged()
    }

    /// What the first verdict of a test came to in a node's current attempt; the test by its position in T.
    #[must_use]
    pub fn judged(&self, node: NodeIx, test: usize) -> Option<Judged> {
        self.nodes.get(node).judged.get(&test).copied()
    }

    /// How many tests of a node have a verdict in this attempt.
    #[must_use]
    pub fn judged_count(&self, node: NodeIx) -> usize {
        self.nodes.get(node).judged.len()
    }

    /// The request of a node that no human has answered yet.
    #[must_use]
    pub fn pending_request(&self, node: NodeIx) -> Option<Request> {
        self.nodes.get(node).request
    }

    /// The terminal entry, and its position.
    #[must_use]
    pub const fn terminal(&self) -> Option<(EntryType, u64)> {
        self.terminal
    }

    /// How many retries of a node are recorded.
    #[must_use]
    pub fn retries(&self, node: NodeIx) -> u32 {
        self.nodes.get(node).retries
    }

    /// The nodes that the latest step changed, each once, in the plan's order.
    #[must_use]
    pub fn changed(&self) -> Vec<NodeIx> {
        let mut changed = self.changed.clone();
        changed.sort_unstable();
        changed.dedup();
        changed
    }

    pub(super) fn change(&mut self, node: NodeIx, by: impl FnOnce(&mut NodeState)) {
        self.nodes.change(&self.plan, node, by);
        self.changed.push(node);
    }

    /// Examines the guards of an entry; whether its effects are to be applied.
    fn examine(
        &self,
        guards: &[Guard],
        subject: &Subject<'_>,
        raised: &mut Vec<Code>,
        findings: &mut Findings,
    ) -> bool {
        let mut apply = true;
        let mut unknown = subject.unknown_node();
        for guard in guards {
            let Raises::Here(code) = guard.raises else { continue };
            if guard.over == Over::Node
                && let Some(Raises::Here(code)) = unknown.take()
            {
                let place = subject.event.member("/node");
                findings.push(GadFinding::new(code, place).expected("a node of the plan"));
                raised.push(code);
            }
            if guard.unless.iter().any(|other| raised.contains(other)) {
                continue;
            }
            let failures = match guard.over {
                Over::Entry => self.violates(guard.condition, subject, None).into_iter().collect(),
                Over::Node => {
                    let fails = |node| self.violates(guard.condition, subject, Some(node));
                    subject.nodes.iter().filter_map(|node| fails(*node)).collect::<Vec<_>>()
                }
            };
            if failures.is_empty() {
                continue;
            }
            for failure in failures {
                let mut finding = GadFinding::new(code, failure.place_in(subject.event, guard.at))
                    .expected(guard.condition.words());
                if let Some(actual) = failure.actual {
                    finding = finding.actual(actual);
                }
                findings.push(finding);
            }
            raised.push(code);
            match guard.otherwise {
                Otherwise::Apply => {}
                Otherwise::Ignore => apply = false,
                Otherwise::Stop => return false,
            }
        }
        apply
    }

    /// Looks up what an entry names.
    fn subject<'e>(
        &self,
        event: &'e Event<'e>,
        payload: &'e Payload<'e>,
        judged: Option<Judged>,
    ) -> Subject<'e> {
        let (node_id, session_id) = names(payload);
        let node = node_id.and_then(|id| self.plan.find(id));
        let test = match (payload, node) {
            (Payload::Verdict(verdict), Some(node)) => {
                self.plan.test(node, verdict.test_id).map(|(position, _)| position)
            }
            _ => None,
        };
        let (nodes, commissioned) = match payload {
            Payload::Dispatch(dispatch) => self.commissioned(&dispatch.nodes),
            _ => (node.into_iter().collect(), 0),
        };
        Subject {
            event,
            payload,
            node_id,
            node,
            session: session_id.and_then(|id| self.sessions.find(id)),
            test,
            nodes,
            commissioned,
            judged,
        }
    }

    /// The nodes of the plan that a dispatch names, each once, and how many different ids it names.
    fn commissioned(&self, nodes: &DispatchNodes<'_>) -> (Vec<NodeIx>, u32) {
        let ids: BTreeSet<&str> = match nodes {
            DispatchNodes::Set(ids) => ids.iter().copied().collect(),
            DispatchNodes::Scalar(id) => BTreeSet::from([*id]),
            DispatchNodes::Malformed => BTreeSet::new(),
        };
        let commissioned = u32::try_from(ids.len()).unwrap_or(u32::MAX);
        let mut nodes: Vec<_> = ids.into_iter().filter_map(|id| self.plan.find(id)).collect();
        nodes.sort_unstable();
        (nodes, commissioned)
    }
}

/// An entry with what it names, looked up.
pub(super) struct Subject<'e> {
    pub(super) event: &'e Event<'e>,
    pub(super) payload: &'e Payload<'e>,
    /// The node id it names, where its type names one that the table's guards are about.
    node_id: Option<&'e str>,
    /// That node, where the plan has it.
    pub(super) node: Option<NodeIx>,
    /// Number of the latest session with the id it names.
    pub(super) session: Option<usize>,
    /// For a verdict: position of its test in T.
    pub(super) test: Option<usize>,
    /// The nodes its guards are asked of: those of a dispatch, or the one it names.
    pub(super) nodes: Vec<NodeIx>,
    /// For a dispatch: how many different ids it names.
    pub(super) commissioned: u32,
    /// For a verdict: what it came to.
    pub(super) judged: Option<Judged>,
}

impl Subject<'_> {
    /// What is raised for the node it names when the plan doesn't have it.
    fn unknown_node(&self) -> Option<Raises> {
        let unknown = self.node_id.is_some() && self.node.is_none();
        if unknown {
            row_of(self.event.entry.entry_type).and_then(|row| row.unknown_node)
        } else {
            None
        }
    }
}

/// The node and the session an entry names. The node of an exit or a result is about the session's shape,
/// not the subject of a guard.
const fn names<'p>(payload: &Payload<'p>) -> (Option<&'p str>, Option<&'p str>) {
    match payload {
        Payload::Dispatch(dispatch) => (None, Some(dispatch.session_id)),
        Payload::ExecutorExit(exit) => (None, Some(exit.session_id)),
        Payload::ExecutionResult(result) => (None, Some(result.session_id)),
        Payload::Claim(claim) => (Some(claim.node), Some(claim.session_id)),
        Payload::Verdict(verdict) => (Some(verdict.node), Some(verdict.session_id)),
        Payload::Flag(flag) => (Some(flag.node), None),
        Payload::Remediation(remediation) => (Some(remediation.node), None),
        Payload::ScopeClosed(closed) => (Some(closed.node), None),
        Payload::GateRequest(request) => (Some(request.node), None),
        Payload::Approval(answer) | Payload::Refusal(answer) => (Some(answer.node), None),
        Payload::RevisedApprovalRequest(request) => (Some(request.node), None),
        Payload::Retry(retry) => (Some(retry.node), None),
        Payload::Trip(trip) => (Some(trip.node), None),
        Payload::Freeze { .. }
        | Payload::Probe(_)
        | Payload::Checkpoint(_)
        | Payload::PlanCompleted
        | Payload::PlanHalted(_)
        | Payload::PlanSuperseded(_)
        | Payload::NonconformanceNotice(_) => (None, None),
    }
}
