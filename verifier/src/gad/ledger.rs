//! What is kept of each witness entry once it has gone by: enough to say what a later reference to it
//! refers to.
//!
//! What it is: one small row per line, found by position or by the number the entry states. What it
//! isn't: a judgment. An entry that can't be read, or whose type isn't known, has no row, and a row says
//! nothing about whether its entry was legal where it stands.

use std::collections::HashMap;

use anchorlog_proto::gad::entry::{EntryType, Payload};
use anchorlog_proto::gad::names::{EvidenceClass, PassFail};
use anchorlog_proto::gad::payload::{Decision, ExitStatus, NodeOrNull};

use super::plan_index::NodeIx;
use super::trace::{Judged, Machine};
use super::{Event, PlanIndex};

/// What is kept of one entry.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "built by the evaluation and by tests")]
pub struct Kept {
    /// Its type.
    pub entry_type: EntryType,
    /// Whether it is authenticated; see [`super::Event::authentic`].
    pub authentic: bool,
    /// What a verdict, a scope closure, an answer or an exit says: pass, proceed (an approval), completed.
    pub pass: Option<bool>,
    /// eff(v) of a verdict, by equation (3).
    pub class: Option<EvidenceClass>,
    /// The node it names, where the plan has it. `None` for a dispatch, which names a set.
    pub node: Option<NodeIx>,
    /// The attempt of that node in which it stands, 0 before the first dispatch.
    pub attempt: u32,
    /// The position of a verdict's test in T.
    pub test: Option<u32>,
    /// The position of the dispatch of the session it names; its own for a dispatch.
    pub session: Option<u32>,
}

impl Kept {
    /// Of an entry of this type, nothing but its type.
    #[must_use]
    pub const fn bare(entry_type: EntryType) -> Self {
        Self {
            entry_type,
            authentic: true,
            pass: None,
            class: None,
            node: None,
            attempt: 0,
            test: None,
            session: None,
        }
    }
}

/// The rows of a record so far, in the order of its lines.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    rows: Vec<Option<Kept>>,
    /// As long as the numbers stated are the positions, this many entries are found without a table.
    in_step: u64,
    /// From the first entry on that is numbered otherwise: the first position of each number.
    elsewhere: HashMap<u64, u32>,
}

impl Ledger {
    /// None.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps what there is of an entry, after the machine has stepped over it. `judged`: of a verdict, what it
    /// came to.
    pub fn push(&mut self, event: &Event<'_>, machine: &Machine, judged: Option<Judged>) {
        let kept = self.kept(event, machine, judged);
        self.keep(event.index, event.entry.seq, kept);
    }

    fn kept(&self, event: &Event<'_>, machine: &Machine, judged: Option<Judged>) -> Kept {
        let mut kept = Kept::bare(event.entry.entry_type);
        kept.authentic = event.authentic;
        let Some(payload) = event.payload() else { return kept };
        let About { node, session, test, pass } = About::of(payload, machine.plan());
        kept.node = node;
        kept.attempt = node.map_or(0, |node| machine.attempt(node));
        kept.test = test;
        kept.pass = pass;
        kept.class = judged.map(|judged| judged.class);
        let dispatch = match payload {
            Payload::Dispatch(_) => Some(event.index),
            _ => session
                .and_then(|id| machine.session(id))
                .and_then(|session| self.position(session.dispatch)),
        };
        kept.session = dispatch.and_then(|position| u32::try_from(position).ok());
        kept
    }

    /// Keeps `kept` of the entry at `position`, which states the number `seq`. Positions ascend; those left
    /// out have no row.
    pub fn keep(&mut self, position: u64, seq: u64, kept: Kept) {
        let Ok(index) = usize::try_from(position) else { return };
        if index < self.rows.len() {
            return;
        }
        // Bounded by the number of lines, of which the reader admits only so many.
        self.rows.resize(index, None);
        self.rows.push(Some(kept));
        if self.elsewhere.is_empty() && seq == position {
            self.in_step = position.saturating_add(1);
        } else if seq >= self.in_step
            && let Ok(position) = u32::try_from(position)
        {
            self.elsewhere.entry(seq).or_insert(position);
        }
    }

    /// How many lines have gone by, as far as a row was kept.
    #[must_use]
    pub fn len(&self) -> u64 {
        u64::try_from(self.rows.len()).unwrap_or(u64::MAX)
    }

    /// Whether nothing was kept yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The position of the first entry that states this number.
    #[must_use]
    pub fn position(&self, seq: u64) -> Option<u64> {
        if seq < self.in_step {
            return self.at(seq).map(|_| seq);
        }
        self.elsewhere.get(&seq).copied().map(u64::from)
    }

    /// The row of the first entry that states this number.
    #[must_use]
    pub fn get(&self, seq: u64) -> Option<&Kept> {
        self.position(seq).and_then(|position| self.at(position))
    }

    /// The row of the entry on this line, from 0.
    #[must_use]
    pub fn at(&self, position: u64) -> Option<&Kept> {
        self.rows.get(usize::try_from(position).ok()?)?.as_ref()
    }

    /// All rows with their positions, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Kept)> {
        (0..).zip(&self.rows).filter_map(|(position, row)| row.as_ref().map(|row| (position, row)))
    }
}

/// What an entry says it is about.
#[derive(Default)]
struct About<'e> {
    node: Option<NodeIx>,
    session: Option<&'e str>,
    test: Option<u32>,
    pass: Option<bool>,
}

impl<'e> About<'e> {
    fn of(payload: &'e Payload<'e>, plan: &PlanIndex) -> Self {
        let about = |node: &str| Self { node: plan.find(node), ..Self::default() };
        let passes = |result| result == PassFail::Pass;
        match payload {
            Payload::Dispatch(dispatch) => {
                Self { session: Some(dispatch.session_id), ..Self::default() }
            }
            Payload::ExecutorExit(exit) => {
                let completed = exit.status == ExitStatus::Completed && exit.exit_code == Some(0);
                let session = Some(exit.session_id);
                Self { session, pass: Some(completed), ..Self::of_single(exit.node, plan) }
            }
            Payload::ExecutionResult(result) => {
                Self { session: Some(result.session_id), ..Self::of_single(result.node, plan) }
            }
            Payload::Claim(claim) => Self { session: Some(claim.session_id), ..about(claim.node) },
            Payload::Flag(flag) => about(flag.node),
            Payload::Remediation(remediation) => about(remediation.node),
            Payload::ScopeClosed(closed) => {
                Self { pass: Some(passes(closed.verdict)), ..about(closed.node) }
            }
            Payload::Verdict(verdict) => {
                let node = plan.find(verdict.node);
                let test = node.and_then(|node| plan.test(node, verdict.test_id));
                Self {
                    node,
                    session: Some(verdict.session_id),
                    test: test.and_then(|(position, _)| u32::try_from(position).ok()),
                    pass: verdict.result.map(passes),
                }
            }
            Payload::GateRequest(request) => about(request.node),
            Payload::Approval(answer) | Payload::Refusal(answer) => {
                let pass = answer.decision.map(|decision| decision == Decision::Proceed);
                Self { pass, ..about(answer.node) }
            }
            Payload::RevisedApprovalRequest(request) => about(request.node),
            Payload::Retry(retry) => about(retry.node),
            Payload::Trip(trip) => about(trip.node),
            Payload::Freeze { .. }
            | Payload::Probe(_)
            | Payload::Checkpoint(_)
            | Payload::PlanCompleted
            | Payload::PlanHalted(_)
            | Payload::PlanSuperseded(_)
            | Payload::NonconformanceNotice(_) => Self::default(),
        }
    }

    fn of_single(node: NodeOrNull<'_>, plan: &PlanIndex) -> Self {
        let node = match node {
            NodeOrNull::Node(id) => plan.find(id),
            NodeOrNull::Null | NodeOrNull::Malformed => None,
        };
        Self { node, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(numbers: &[u64]) -> Ledger {
        let mut ledger = Ledger::new();
        for (position, seq) in (0..).zip(numbers) {
            ledger.keep(position, *seq, Kept::bare(EntryType::Claim));
        }
        ledger
    }

    #[test]
    fn numbers_in_step_are_positions() {
        let ledger = positions(&[0, 1, 2]);
        assert_eq!(ledger.position(2), Some(2));
        assert_eq!(ledger.position(3), None);
        assert!(ledger.elsewhere.is_empty());
        assert_eq!(ledger.len(), 3);
    }

    #[test]
    fn a_number_is_the_first_entry_that_states_it() {
        let ledger = positions(&[0, 1, 1, 7, 7, 3, 6]);
        let found: Vec<_> = (0..9).map(|seq| ledger.position(seq)).collect();
        let expected = [Some(0), Some(1), None, Some(5), None, None, Some(6), Some(3), None];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_line_without_a_row_is_no_entry() {
        let mut ledger = positions(&[0]);
        ledger.keep(2, 2, Kept::bare(EntryType::Probe));
        assert_eq!((ledger.position(1), ledger.at(1)), (None, None));
        assert_eq!(ledger.get(2).map(|kept| kept.entry_type), Some(EntryType::Probe));
        let rows: Vec<_> = ledger.iter().map(|(position, _)| position).collect();
        assert_eq!(rows, [0, 2]);
        // A position once passed stays as it is.
        ledger.keep(1, 1, Kept::bare(EntryType::Flag));
        assert_eq!(ledger.at(1), None);
    }

    #[test]
    fn a_row_is_small() {
        assert!(size_of::<Option<Kept>>() <= 36, "{}", size_of::<Option<Kept>>());
    }
}
