//! All rules that watch the witness go by, in the one order they have.
//!
//! The evaluation shows every entry of a record to a [`Watch`]; a recorder shows a clone of its own the
//! entry it is about to write, and refuses what the clone finds. So both judge by the same code.

use std::sync::Arc;

use anchorlog_proto::gad::entry::{EntryType, Payload};
use anchorlog_proto::gad::names::EvidenceClass;
use anchorlog_proto::gad::payload::DispatchNodes;

use super::ledger::Ledger;
use super::replay::{ReplayRule, ReplaySummary};
use super::rules::{R2, R4, R6, R7, Reliance};
use super::trace::{Judged, Machine};
use super::witness::Coverage;
use super::{Event, Findings, PlanIndex};

/// Every rule of one record, and where each stands.
#[derive(Clone, Debug)]
pub struct Watch {
    machine: Machine,
    r2: R2,
    r4: R4,
    r6: R6,
    r7: R7,
    reliance: Reliance,
    ledger: Ledger,
    tally: Tally,
}

/// What is counted for the levels, the notes and the policy.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Tally {
    /// The first dispatch that names several nodes, by its seq.
    pub several_nodes: Option<u64>,
    /// The first nonconformance_notice, by its seq.
    pub notice: Option<u64>,
    /// The first verdict of attested class for a node that credits completion, by its seq.
    pub attested: Option<u64>,
}

/// The spec_version whose records may spell a dispatch's set of nodes as `node`.
const SCALAR_VERSION: &str = "0.6";

impl Watch {
    /// Before the first entry of a record of this plan, written by this version of the specification.
    #[must_use]
    pub fn new(plan: Arc<PlanIndex>, spec_version: &str, replay: ReplayRule) -> Self {
        Self {
            machine: Machine::new(Arc::clone(&plan), spec_version == SCALAR_VERSION),
            r2: R2::new(&plan),
            r4: R4::new(Arc::clone(&plan), replay),
            r6: R6::new(&plan),
            r7: R7::new(),
            reliance: Reliance::new(plan),
            ledger: Ledger::new(),
            tally: Tally::default(),
        }
    }

    /// One entry, in order.
    pub fn observe(&mut self, event: &Event<'_>, findings: &mut Findings) {
        self.r2.observe(event, findings);
        let judged = self.r4.observe(event, &self.machine, findings);
        self.r6.observe(event, &self.machine, &self.ledger, findings);
        self.r7.observe(event, &self.machine, &self.ledger, findings);
        self.reliance.observe(event, &self.machine, findings);
        self.count(event, judged);
        self.machine.step(event, judged, findings);
        self.ledger.push(event, &self.machine, judged);
    }

    /// After the last entry: what only the whole record shows. `snapshot`: its seal says that the run went
    /// on. Claims ([`super::rules::r9`]) come later, since they may rest on anchors.
    pub fn finish(&self, snapshot: bool, coverage: &Coverage, findings: &mut Findings) {
        self.r2.finish(findings);
        self.r4.finish(findings);
        self.r6.finish(&self.machine, coverage, findings);
        self.reliance.finish(findings);
        self.machine.finish(snapshot, findings);
    }

    /// The rule of recorded precedence.
    #[must_use]
    pub const fn precedence(&self) -> &R2 {
        &self.r2
    }

    /// The trace machine.
    #[must_use]
    pub const fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The rule of scope.
    #[must_use]
    pub const fn scope(&self) -> &R6 {
        &self.r6
    }

    /// What is kept of each entry.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// What was counted.
    #[must_use]
    pub const fn tally(&self) -> Tally {
        self.tally
    }

    /// What was replayed.
    #[must_use]
    pub const fn replayed(&self) -> ReplaySummary {
        self.r4.replayed()
    }

    fn count(&mut self, event: &Event<'_>, judged: Option<Judged>) {
        let seq = event.entry.seq;
        if event.entry.entry_type == EntryType::NonconformanceNotice {
            self.tally.notice.get_or_insert(seq);
        }
        match event.payload() {
            Some(Payload::Dispatch(dispatch)) => {
                if matches!(&dispatch.nodes, DispatchNodes::Set(nodes) if nodes.len() > 1) {
                    self.tally.several_nodes.get_or_insert(seq);
                }
            }
            Some(Payload::Verdict(verdict)) => {
                let plan = self.machine.plan();
                let credits =
                    plan.find(verdict.node).is_some_and(|node| !plan.node(node).testimony);
                if credits && judged.is_some_and(|one| one.class == EvidenceClass::Attested) {
                    self.tally.attested.get_or_insert(seq);
                }
            }
            _ => {}
        }
    }
}
