//! What each condition means, in terms of the state before the entry.

use std::collections::BTreeSet;

use anchorlog_proto::gad::entry::Payload;
use anchorlog_proto::gad::names::{Risk, Role};
use anchorlog_proto::gad::payload::{
    Dispatch, DispatchNodes, ExitStatus, FailureReason, NodeOrNull, OutputStatus, PlanSuperseded,
    Retry,
};

use super::machine::{Machine, Subject};
use super::nodes::NodeState;
use super::{Condition, Session, Status};
use crate::gad::{Event, NodeIx, Where};

/// A condition that doesn't hold.
#[derive(Debug, Default)]
pub(super) struct Failure {
    /// What is there instead.
    pub(super) actual: Option<String>,
    /// The entry it stands against, where that isn't the one examined.
    elsewhere: Option<u64>,
}

impl Failure {
    pub(super) fn place_in(&self, event: &Event<'_>, member: &str) -> Where {
        match self.elsewhere {
            Some(seq) => Where::entry(seq),
            None if member.is_empty() => event.place(),
            None => event.member(member),
        }
    }
}

/// `None` where `holds`; otherwise what is there instead.
fn unless(holds: bool, actual: impl FnOnce() -> String) -> Option<Failure> {
    (!holds).then(|| Failure { actual: Some(actual()), elsewhere: None })
}

/// `None` where `holds`, with nothing more to say.
fn require(holds: bool) -> Option<Failure> {
    (!holds).then(Failure::default)
}

impl Machine {
    /// Whether a condition fails for this entry, and for this node of it; how, then.
    pub(super) fn violates(
        &self,
        condition: Condition,
        subject: &Subject<'_>,
        node: Option<NodeIx>,
    ) -> Option<Failure> {
        match node {
            Some(node) => self.violates_of_node(condition, subject, node),
            None => self.violates_of_entry(condition, subject),
        }
    }

    fn violates_of_entry(&self, condition: Condition, subject: &Subject<'_>) -> Option<Failure> {
        use Condition as C;
        let session = subject.session.and_then(|number| self.sessions.get(number));
        let seq_of = |seq: u64| format!("entry {seq}");
        match (condition, subject.payload) {
            (C::NotTerminated, _) => {
                let (terminal, index) = self.terminal?;
                unless(false, || format!("after {terminal} on line {}", index.saturating_add(1)))
            }
            (C::Terminated, _) => require(self.terminal.is_some()),
            (C::NoOpenSession, _) => {
                let session = self.open_session()?;
                unless(false, || format!("{} is open", session.id))
            }
            (C::SessionFresh, _) => {
                let session = session?;
                unless(false, || seq_of(session.dispatch))
            }
            (C::NodesOfPlan, Payload::Dispatch(dispatch)) => self.nodes_of_plan(dispatch, subject),
            (C::NotScalar, Payload::Dispatch(dispatch)) => {
                let scalar = matches!(dispatch.nodes, DispatchNodes::Scalar(_));
                require(!scalar || self.scalar_dispatch_legal)
            }
            (C::BaselineStated, Payload::Dispatch(dispatch)) => {
                require(dispatch.baseline.is_some())
            }
            (C::SessionKnown, _) => require(session.is_some()),
            (C::NoExitYet, _) => session?.exit.map(|(_, seq)| seq_of(seq)).map(actual),
            (C::NoResultYet, Payload::ExecutorExit(_)) => {
                let result = session?.result?;
                let actual = Some(format!("its exit is entry {}", subject.event.entry.seq));
                Some(Failure { actual, elsewhere: Some(result) })
            }
            (C::NoResultYet, _) => session?.result.map(seq_of).map(actual),
            (C::SessionNotFailed, _) => {
                let session = session?;
                unless(!session.failed(), || match session.exit {
                    Some((ExitStatus::Completed, _)) => "its exit code is not 0".to_owned(),
                    Some((status, _)) => status.to_string(),
                    None => "no executor_exit".to_owned(),
                })
            }
            (C::CompletedMeansZero, Payload::ExecutorExit(exit)) => {
                let holds = exit.status != ExitStatus::Completed || exit.exit_code == Some(0);
                unless(holds, || exit.exit_code.map_or("null".to_owned(), |code| code.to_string()))
            }
            (C::NodeNamesSession, Payload::ExecutorExit(exit)) => {
                self.node_names(exit.node, session?)
            }
            (C::NodeNamesSession, Payload::ExecutionResult(result)) => {
                self.node_names(result.node, session?)
            }
            (C::DeltaFitsStatus, Payload::ExecutionResult(result)) => {
                let recorded = result.output_status != OutputStatus::NotRecorded;
                let holds = result.delta.is_ok_and(|delta| delta.is_some() == recorded);
                unless(holds, || format!("output_status {}", result.output_status))
            }
            (C::SurfaceSorted, Payload::ExecutionResult(result)) => require(result.touched.is_ok()),
            (C::OnlyTestimonySince, _) => {
                require(subject.session.is_some() && subject.session == self.testimony)
            }
            (C::AllGood, _) => {
                unless(self.nodes.unresolved() == 0, || self.name(&self.unresolved_nodes()))
            }
            (C::NobodyAwaited, _) => {
                let awaited = Status::AwaitApproval;
                unless(self.nodes.count(awaited) == 0, || {
                    let awaits = |node: &NodeIx| self.status(*node) == awaited;
                    self.name(&self.plan.nodes().filter(awaits).collect::<Vec<_>>())
                })
            }
            (C::NothingReady, _) => unless(self.may_stop(), || {
                let ready = |node: &NodeIx| self.nodes.is_ready(*node);
                self.name(&self.plan.nodes().filter(ready).collect::<Vec<_>>())
            }),
            (C::UnresolvedNamed, Payload::PlanHalted(unresolved)) => {
                let nodes = self.unresolved_nodes();
                let named: Vec<_> = nodes.iter().map(|node| self.plan.id(*node)).collect();
                unless(*unresolved == named, || unresolved.join(", "))
            }
            (C::DeltaStated, Payload::PlanSuperseded(end)) => require(end.delta.is_some()),
            (C::PredecessorIsThis, Payload::PlanSuperseded(end)) => {
                unless(end.predecessor == self.plan.hash(), || end.predecessor.to_string())
            }
            (C::SuccessorIsOther, Payload::PlanSuperseded(end)) => {
                let other = end.successor != end.predecessor && end.successor != self.plan.hash();
                unless(other, || end.successor.to_string())
            }
            (C::AuthoritySigned, Payload::PlanSuperseded(end)) => {
                let signer = subject.event.entry.signed.as_ref().and_then(|signed| signed.key_id);
                let authority = end.named_authority;
                let holds = signer == Some(authority)
                    && self.plan.has_role(authority, Role::SuccessionAuthority);
                unless(holds, || authority.to_string())
            }
            (C::ObligationsCovered, Payload::PlanSuperseded(end)) => self.obligations(end),
            _ => None,
        }
    }

    fn violates_of_node(
        &self,
        condition: Condition,
        subject: &Subject<'_>,
        node: NodeIx,
    ) -> Option<Failure> {
        use Condition as C;
        use Status as S;
        let state = self.nodes.get(node);
        let declared = self.plan.node(node);
        let stands = |holds: bool| unless(holds, || format!("{} {}", declared.id, state.status));
        match (condition, subject.payload) {
            (C::NotResolved, _) => stands(!matches!(
                state.status,
                S::Verified
                    | S::Approved
                    | S::Tripped
                    | S::Refused
                    | S::AwaitGate
                    | S::AwaitApproval
            )),
            (C::NotFailed, _) => stands(state.status != S::Failed),
            (C::NotInFlight, _) => stands(!matches!(state.status, S::Open | S::Captured)),
            (C::NotRefused, _) => stands(state.status != S::Refused),
            (C::NeverTripped, _) => stands(!state.tripped),
            (C::PredecessorsGood, _) => {
                let missing = self.nodes.missing(node);
                unless(missing == 0, || format!("{}: {missing} not good", declared.id))
            }
            (C::NodeOfSession, Payload::Claim(_)) => {
                // A session that isn't known has no nodes to be outside of.
                let session = subject.session.and_then(|number| self.sessions.get(number))?;
                stands(session.has(node))
            }
            (C::NodeOfSession, _) => {
                let session = subject.session.and_then(|number| self.sessions.get(number));
                stands(session.is_some_and(|session| session.has(node)))
            }
            (C::TestOfNode, Payload::Verdict(verdict)) => {
                unless(subject.test.is_some(), || verdict.test_id.to_owned())
            }
            (C::NotJudgedYet, _) => {
                let earlier = subject.test.and_then(|test| state.judged.get(&test))?;
                unless(false, || format!("entry {}", earlier.seq))
            }
            (C::InWindow, Payload::Verdict(verdict)) => {
                let session = subject.session.and_then(|number| self.sessions.get(number));
                let result = session.and_then(|session| session.result);
                stands(
                    state.status == S::Captured
                        && subject.session.is_some()
                        && state.session == subject.session
                        && result == Some(verdict.execution_result_seq),
                )
            }
            (C::NoOpenFlag, _) => stands(state.open_flags == 0),
            (C::IsGated, _) => stands(declared.risk == Risk::Gated),
            (C::NotHalfJudged, _) => stands(state.status != S::Captured || state.judged.is_empty()),
            (C::AwaitsGate, _) => stands(state.status == S::AwaitGate),
            (C::AwaitsApproval, _) => stands(state.status == S::AwaitApproval),
            (C::IsRefused, _) => stands(state.status == S::Refused),
            (C::ChangeRecorded, Payload::RevisedApprovalRequest(request)) => {
                let recorded = state.changes.contains(&request.change_ref);
                unless(recorded, || format!("entry {}", request.change_ref))
            }
            (C::HasFailed, Payload::Retry(retry)) => stands(has_failed(state, retry.reason)),
            (C::HasFailed, Payload::Trip(trip)) => stands(has_failed(state, trip.reason)),
            (C::RetriesLeft, _) => unless(state.retries < declared.retries, || {
                format!("{} of {}", state.retries.saturating_add(1), declared.retries)
            }),
            (C::RetriesSpent, _) => unless(state.retries >= declared.retries, || {
                format!("{} of {}", state.retries, declared.retries)
            }),
            (C::InputShowsFailure, Payload::Retry(retry)) => self.diagnosis(retry, state),
            _ => None,
        }
    }

    fn nodes_of_plan(&self, dispatch: &Dispatch<'_>, subject: &Subject<'_>) -> Option<Failure> {
        let stated = match &dispatch.nodes {
            DispatchNodes::Set(ids) => ids.as_slice(),
            DispatchNodes::Scalar(id) => std::slice::from_ref(id),
            DispatchNodes::Malformed => &[],
        };
        if stated.is_empty() {
            return unless(false, || "no nodes".to_owned());
        }
        if let Some(unknown) = stated.iter().find(|id| self.plan.find(id).is_none()) {
            return unless(false, || (*unknown).to_owned());
        }
        let repeated = subject.nodes.len() != stated.len();
        unless(!repeated, || {
            let mut seen = BTreeSet::new();
            stated
                .iter()
                .find(|id| !seen.insert(**id))
                .map_or_else(String::new, |id| (*id).to_owned())
        })
    }

    /// `node` of an exit or a result against N_s.
    fn node_names(&self, node: NodeOrNull<'_>, session: &Session) -> Option<Failure> {
        let holds = match (node, session.commissioned) {
            (NodeOrNull::Null, commissioned) => commissioned != 1,
            // A commissioned node that the plan doesn't have was found at the dispatch.
            (NodeOrNull::Node(id), 1) => {
                session.nodes.first().is_none_or(|node| self.plan.id(*node) == id)
            }
            (NodeOrNull::Node(_) | NodeOrNull::Malformed, _) => false,
        };
        unless(holds, || match node {
            NodeOrNull::Node(id) => id.to_owned(),
            NodeOrNull::Null => "null".to_owned(),
            NodeOrNull::Malformed => "neither an id nor null".to_owned(),
        })
    }

    /// Each entry that a retry names has to show the failure of the node's current attempt: a verdict that
    /// credits nothing, an exit that isn't a completion, or, for a node its session excluded, the result.
    fn diagnosis(&self, retry: &Retry<'_>, state: &NodeState) -> Option<Failure> {
        let Some(refs) = retry.input_ref.as_ref().filter(|refs| !refs.is_empty()) else {
            return unless(false, || "none".to_owned());
        };
        let session = state.session.and_then(|number| self.sessions.get(number));
        let exit = session.filter(|session| !session.completed).and_then(|session| session.exit);
        let excluded = state.unjudged() && retry.reason == FailureReason::InsufficientBoundEvidence;
        let result = session.filter(|_| excluded).and_then(|session| session.result);
        let shows = |seq: u64| {
            state.failing.contains(&seq)
                || exit.is_some_and(|(_, exit)| exit == seq)
                || result == Some(seq)
        };
        let other = refs.iter().find(|seq| !shows(**seq))?;
        unless(false, || format!("entry {other}"))
    }

    fn may_stop(&self) -> bool {
        let stuck = [Status::Failed, Status::Tripped, Status::Refused];
        self.nodes.ready() == 0
            || self.nodes.unjudged() > 0
            || stuck.iter().any(|status| self.nodes.count(*status) > 0)
    }

    /// Every node that is not good, by id.
    fn unresolved_nodes(&self) -> Vec<NodeIx> {
        let mut nodes: Vec<_> = self.plan.nodes().filter(|node| !self.is_good(*node)).collect();
        nodes.sort_unstable_by_key(|node| self.plan.id(*node));
        nodes
    }

    fn obligations(&self, end: &PlanSuperseded<'_>) -> Option<Failure> {
        let delta = end.delta.as_ref()?;
        let mut named: Vec<_> = delta.obligations.iter().map(|(node, _)| *node).collect();
        named.sort_unstable();
        let nodes = self.unresolved_nodes();
        let due: Vec<_> = nodes.iter().map(|node| self.plan.id(*node)).collect();
        unless(named == due, || named.join(", "))
    }

    fn name(&self, nodes: &[NodeIx]) -> String {
        nodes.iter().map(|node| self.plan.id(*node)).collect::<Vec<_>>().join(", ")
    }
}

fn actual(actual: String) -> Failure {
    Failure { actual: Some(actual), elsewhere: None }
}

/// FAILED; or excluded by a completed session, and said to be.
fn has_failed(state: &NodeState, reason: FailureReason) -> bool {
    state.status == Status::Failed
        || (state.unjudged() && reason == FailureReason::InsufficientBoundEvidence)
}
