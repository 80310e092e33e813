//! Algorithm 2, R4, R6 and R7 over nodes: "for n with terminal in {VERIFIED, APPROVED}: require ∀t ∈ T_n:
//! result(v_t) = pass ∧ eff(v_t) ≥ c_min(n)"; "require no node with an open flag reaches VERIFIED or
//! APPROVED"; "for n gated with terminal APPROVED: require gate_request(n) < approval(n) < first consequence
//! entry of n".
//!
//! A derived state is never VERIFIED without all that, so the rules are asked where a record *relies* on a
//! node being good, in the attempt current there: (a) plan_completed relies on every node, (b) a dispatch on
//! the direct predecessors of the nodes it names, (c) a gate_request on its node, though not on an approval.
//! The first such point of a node counts. The first consequence of a gated node is plan_completed or the
//! first dispatch of a node with a path from it.

use std::sync::Arc;

use anchorlog_proto::gad::entry::Payload;
use anchorlog_proto::gad::names::Risk;
use anchorlog_proto::gad::payload::DispatchNodes;

use crate::codes::gad::r4::{CLASS_BELOW, PASS_MISSING};
use crate::codes::gad::r6::OPEN_AT_GOOD;
use crate::codes::gad::r7::{CONSEQUENCE, NO_REQUEST, ORDER};
use crate::gad::trace::Machine;
use crate::gad::{Event, Findings, GadFinding, NodeIx, PlanIndex, Where};

/// An entry, by position and number.
#[derive(Clone, Copy, Debug)]
struct At {
    index: u64,
    seq: u64,
}

impl At {
    const fn of(event: &Event<'_>) -> Self {
        Self { index: event.index, seq: event.entry.seq }
    }
}

/// What is kept of one node.
#[derive(Clone, Copy, Debug, Default)]
struct Relied {
    /// Its evidence was asked for.
    asked: bool,
    /// It was dispatched, so all its direct predecessors were asked.
    dispatched: bool,
    /// It or a node after it was dispatched, so every gated node with a path to it has its consequence.
    passed: bool,
    first_request: Option<At>,
    last_approval: Option<At>,
    consequence: Option<Consequence>,
}

/// The first consequence of a gated node.
#[derive(Clone, Copy, Debug)]
struct Consequence {
    at: At,
    /// The latest approval of the attempt current there.
    approval: Option<At>,
    /// The latest approval of all before it.
    older: Option<At>,
    /// An approval stands after it.
    approved_later: bool,
}

/// The observer of what a record relies on.
#[derive(Clone, Debug)]
pub struct Reliance {
    plan: Arc<PlanIndex>,
    nodes: Vec<Relied>,
    /// A plan_completed was seen, so every node was asked and has its consequence.
    completed: bool,
}

impl Reliance {
    /// Before the first entry.
    #[must_use]
    pub fn new(plan: Arc<PlanIndex>) -> Self {
        let nodes = vec![Relied::default(); plan.plan().nodes.len()];
        Self { plan, nodes, completed: false }
    }

    /// One entry, in order, before the machine steps over it.
    pub fn observe(&mut self, event: &Event<'_>, machine: &Machine, findings: &mut Findings) {
        match event.payload() {
            Some(Payload::Dispatch(dispatch)) => match &dispatch.nodes {
                DispatchNodes::Set(nodes) => {
                    for node in nodes {
                        self.dispatch(node, event, machine, findings);
                    }
                }
                DispatchNodes::Scalar(node) => self.dispatch(node, event, machine, findings),
                DispatchNodes::Malformed => {}
            },
            Some(Payload::GateRequest(request)) => {
                if let Some(node) = self.plan.find(request.node) {
                    self.ask(node, event, machine, findings);
                    self.change(node, |relied| {
                        relied.first_request.get_or_insert(At::of(event));
                    });
                }
            }
            Some(Payload::Approval(approval)) => {
                if let Some(node) = self.plan.find(approval.node) {
                    self.change(node, |relied| {
                        relied.last_approval = Some(At::of(event));
                        if let Some(consequence) = &mut relied.consequence {
                            consequence.approved_later = true;
                        }
                    });
                }
            }
            Some(Payload::PlanCompleted) if !self.completed => {
                self.completed = true;
                for node in self.plan.nodes() {
                    self.ask(node, event, machine, findings);
                    self.consequence(node, event, machine);
                }
            }
            _ => {}
        }
    }

    /// After the last entry: what depends on approvals and requests that may come later.
    pub fn finish(&self, findings: &mut Findings) {
        for (node, relied) in self.plan.nodes().zip(&self.nodes) {
            if let Some(consequence) = relied.consequence {
                self.gate(node, consequence, relied.first_request, findings);
            }
        }
    }

    fn get(&self, node: NodeIx) -> Relied {
        self.nodes.get(node.position()).copied().unwrap_or_default()
    }

    fn change(&mut self, node: NodeIx, by: impl FnOnce(&mut Relied)) {
        if let Some(relied) = self.nodes.get_mut(node.position()) {
            by(relied);
        }
    }

    fn dispatch(
        &mut self,
        node: &str,
        event: &Event<'_>,
        machine: &Machine,
        findings: &mut Findings,
    ) {
        let plan = Arc::clone(&self.plan);
        let Some(node) = plan.find(node) else { return };
        if self.get(node).dispatched {
            return;
        }
        self.change(node, |relied| relied.dispatched = true);
        for predecessor in plan.predecessors(node) {
            self.ask(*predecessor, event, machine, findings);
        }
        // Each node is passed once in a whole record.
        let mut waiting = vec![node];
        while let Some(node) = waiting.pop() {
            if self.get(node).passed {
                continue;
            }
            self.change(node, |relied| relied.passed = true);
            for predecessor in plan.predecessors(node) {
                self.consequence(*predecessor, event, machine);
                waiting.push(*predecessor);
            }
        }
    }

    /// Asks for the evidence of a node: its tests and its scope.
    fn ask(&mut self, node: NodeIx, event: &Event<'_>, machine: &Machine, findings: &mut Findings) {
        if self.get(node).asked {
            return;
        }
        self.change(node, |relied| relied.asked = true);
        let of_plan = self.plan.node(node);
        let (id, floor, relying) = (&*of_plan.id, of_plan.c_min, event.entry.seq);
        for (position, test) in of_plan.tests.iter().enumerate() {
            match machine.judged(node, position) {
                Some(judged) if !judged.pass => findings.push(
                    GadFinding::new(PASS_MISSING, event.place())
                        .expected(format_args!("a passing verdict of {id}/{} to rely on", test.id))
                        .actual(format_args!("a failing one, entry {}", judged.seq)),
                ),
                Some(judged) if judged.class < floor => findings.push(
                    GadFinding::new(CLASS_BELOW, Where::entry(judged.seq))
                        .expected(format_args!(
                            "{floor} or above for {id}; entry {relying} relies on it"
                        ))
                        .actual(judged.class),
                ),
                Some(_) => {}
                None => findings.push(
                    GadFinding::new(PASS_MISSING, event.place())
                        .expected(format_args!("a passing verdict of {id}/{} to rely on", test.id))
                        .actual("none in the current attempt"),
                ),
            }
        }
        if machine.has_open_flag(node) {
            findings.push(
                GadFinding::new(OPEN_AT_GOOD, event.place())
                    .expected(format_args!("every flag of {id} closed"))
                    .actual("an open flag"),
            );
        }
    }

    /// A consequence of a node; only the first one of a gated node counts.
    fn consequence(&mut self, node: NodeIx, event: &Event<'_>, machine: &Machine) {
        let relied = self.get(node);
        if relied.consequence.is_some() || self.plan.node(node).risk != Risk::Gated {
            return;
        }
        let older = relied.last_approval;
        let start = machine.attempt_start(node).unwrap_or(0);
        let approval = older.filter(|approval| approval.index >= start);
        let at = At::of(event);
        self.change(node, |relied| {
            relied.consequence = Some(Consequence { at, approval, older, approved_later: false });
        });
    }

    /// Request, approval, consequence: in this order.
    fn gate(
        &self,
        node: NodeIx,
        consequence: Consequence,
        first_request: Option<At>,
        findings: &mut Findings,
    ) {
        let id = self.plan.id(node);
        if consequence.approval.is_none() && consequence.approved_later {
            findings.push(
                GadFinding::new(CONSEQUENCE, Where::entry(consequence.at.seq))
                    .expected(format_args!("the approval of {id} before"))
                    .actual("it comes later"),
            );
            return;
        }
        // An approval that never comes is for the machine to miss.
        let Some(approval) = consequence.approval.or(consequence.older) else { return };
        let place = Where::entry(approval.seq);
        match first_request {
            None => findings.push(
                GadFinding::new(NO_REQUEST, place)
                    .expected(format_args!("a gate_request of {id} before"))
                    .actual("none in the record"),
            ),
            Some(request) if approval.index < request.index => findings.push(
                GadFinding::new(ORDER, place)
                    .expected(format_args!("a gate_request of {id} before"))
                    .actual(format_args!("the first one is entry {}", request.seq)),
            ),
            Some(_) => {}
        }
    }
}

#[cfg(test)]
#[path = "reliance_tests.rs"]
mod tests;
