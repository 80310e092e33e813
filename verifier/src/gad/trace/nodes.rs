//! The nodes of a record: state, attempt, verdicts; and what holds over all of them, kept by counting.

use std::collections::{BTreeMap, BTreeSet};

use anchorlog_proto::Digest;
use anchorlog_proto::gad::names::{EvidenceClass, Risk};

use super::Status;
use crate::gad::{NodeIx, PlanIndex};

/// How often a node's loss of its good state is passed on to its successors. Only a record whose R3 is
/// false already loses one at all; without a bound such a record could make every entry cost an edge count.
const MAX_LOSSES: u8 = 16;

/// What a verdict came to: given by the rules of evidence, before the machine steps over it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "built by the rules of evidence and by tests")]
pub struct Judged {
    /// seq of the verdict.
    pub seq: u64,
    /// Its result is pass.
    pub pass: bool,
    /// eff(v), equation (3).
    pub class: EvidenceClass,
}

/// A human was asked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Request {
    /// seq of the gate_request or revised_approval_request.
    pub seq: u64,
    /// Its position.
    pub index: u64,
    /// Its chain hash.
    pub h: Digest,
}

/// What is known of one node.
#[derive(Clone, Debug)]
pub(super) struct NodeState {
    pub(super) status: Status,
    /// The number of dispatches so far.
    pub(super) attempt: u32,
    /// Position of the latest of them.
    pub(super) attempt_start: Option<u64>,
    /// Number of its session.
    pub(super) session: Option<usize>,
    /// Retry entries, over the whole record.
    pub(super) retries: u32,
    /// A trip was recorded, ever.
    pub(super) tripped: bool,
    /// Verdicts of this attempt by test: the first of each.
    pub(super) judged: BTreeMap<usize, Judged>,
    /// seq of those that fail, or pass below the class floor.
    pub(super) failing: BTreeSet<u64>,
    /// Flags that no passing scope_closed has closed, whichever attempt they are of.
    pub(super) open_flags: u32,
    /// A removal was recorded since the latest of them.
    pub(super) removal: bool,
    /// The request not yet answered.
    pub(super) request: Option<Request>,
    /// seq of entries since the refusal that record a change.
    pub(super) changes: BTreeSet<u64>,
    /// Successors count it as good.
    good_to_successors: bool,
    losses: u8,
    /// Direct predecessors that are not good.
    missing: u32,
}

/// All nodes of a plan.
#[derive(Clone, Debug)]
pub(super) struct Nodes {
    states: Vec<NodeState>,
    by_status: [usize; Status::ALL.len()],
    ready: usize,
    good: usize,
    unjudged: usize,
}

/// What is counted of a node.
#[derive(Clone, Copy, Eq, PartialEq)]
struct Counted {
    status: Status,
    ready: bool,
    good: bool,
    unjudged: bool,
}

impl Nodes {
    pub(super) fn new(plan: &PlanIndex) -> Self {
        let states: Vec<_> = plan.nodes().map(|node| NodeState::new(plan, node)).collect();
        let ready = states.iter().filter(|state| state.ready()).count();
        let mut by_status = [0; Status::ALL.len()];
        if let Some(pending) = by_status.get_mut(Status::Pending.position()) {
            *pending = states.len();
        }
        Self { states, by_status, ready, good: 0, unjudged: 0 }
    }

    /// The state of a node of this machine's plan.
    pub(super) fn get(&self, node: NodeIx) -> &NodeState {
        #[allow(clippy::expect_used, reason = "every NodeIx is made by the index it is used with")]
        self.states.get(node.position()).expect("a node of this plan")
    }

    /// How many stand there.
    pub(super) fn count(&self, status: Status) -> usize {
        self.by_status.get(status.position()).copied().unwrap_or(0)
    }

    /// |READY|.
    pub(super) const fn ready(&self) -> usize {
        self.ready
    }

    /// How many are CAPTURED without a verdict: excluded by their session.
    pub(super) const fn unjudged(&self) -> usize {
        self.unjudged
    }

    /// How many are not good.
    pub(super) const fn unresolved(&self) -> usize {
        self.states.len().saturating_sub(self.good)
    }

    /// Whether it is READY.
    pub(super) fn is_ready(&self, node: NodeIx) -> bool {
        self.get(node).ready()
    }

    /// How many of its direct predecessors are not good.
    pub(super) fn missing(&self, node: NodeIx) -> u32 {
        self.get(node).missing
    }

    /// Changes a node; everything that is counted follows.
    pub(super) fn change(
        &mut self,
        plan: &PlanIndex,
        node: NodeIx,
        by: impl FnOnce(&mut NodeState),
    ) {
        let Some(state) = self.states.get_mut(node.position()) else { return };
        let before = state.counted(plan, node);
        by(state);
        let after = state.counted(plan, node);
        let passed_on = state.pass_on(after.good);
        self.recount(before, after);
        if let Some(good) = passed_on {
            for successor in plan.successors(node) {
                self.predecessor(plan, *successor, good);
            }
        }
    }

    fn predecessor(&mut self, plan: &PlanIndex, node: NodeIx, good: bool) {
        let Some(state) = self.states.get_mut(node.position()) else { return };
        let before = state.counted(plan, node);
        let missing =
            if good { state.missing.checked_sub(1) } else { state.missing.checked_add(1) };
        state.missing = missing.unwrap_or(state.missing);
        let after = state.counted(plan, node);
        self.recount(before, after);
    }

    fn recount(&mut self, before: Counted, after: Counted) {
        if before == after {
            return;
        }
        let step = |count: &mut usize, before: bool, after: bool| {
            *count = count.saturating_add(usize::from(after)).saturating_sub(usize::from(before));
        };
        step(&mut self.ready, before.ready, after.ready);
        step(&mut self.good, before.good, after.good);
        step(&mut self.unjudged, before.unjudged, after.unjudged);
        for status in [before.status, after.status] {
            if let Some(count) = self.by_status.get_mut(status.position()) {
                step(count, status == before.status, status == after.status);
            }
        }
    }
}

impl NodeState {
    fn new(plan: &PlanIndex, node: NodeIx) -> Self {
        Self {
            status: Status::Pending,
            attempt: 0,
            attempt_start: None,
            session: None,
            retries: 0,
            tripped: false,
            judged: BTreeMap::new(),
            failing: BTreeSet::new(),
            open_flags: 0,
            removal: false,
            request: None,
            changes: BTreeSet::new(),
            good_to_successors: false,
            losses: 0,
            missing: u32::try_from(plan.predecessors(node).len()).unwrap_or(u32::MAX),
        }
    }

    /// CAPTURED, and no verdict was recorded: excluded by its session.
    pub(super) fn unjudged(&self) -> bool {
        self.status == Status::Captured && self.judged.is_empty()
    }

    pub(super) fn good(&self, risk: Risk) -> bool {
        match risk {
            Risk::Normal => self.status == Status::Verified,
            Risk::Gated => self.status == Status::Approved,
        }
    }

    fn ready(&self) -> bool {
        matches!(self.status, Status::Pending | Status::Granted) && self.missing == 0
    }

    fn counted(&self, plan: &PlanIndex, node: NodeIx) -> Counted {
        Counted {
            status: self.status,
            ready: self.ready(),
            good: self.good(plan.node(node).risk),
            unjudged: self.unjudged(),
        }
    }

    /// What successors are to be told, if anything.
    fn pass_on(&mut self, good: bool) -> Option<bool> {
        if good == self.good_to_successors || (!good && self.losses >= MAX_LOSSES) {
            return None;
        }
        self.losses = self.losses.saturating_add(u8::from(!good));
        self.good_to_successors = good;
        Some(good)
    }
}
