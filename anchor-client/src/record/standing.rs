//! Where a record stands, for people and programs that continue it.

use std::path::Path;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::entry::EntryType;
use anchorlog_proto::gad::names::Risk;
use anchorlog_verifier::gad::trace::{Machine, Status};
use anchorlog_verifier::gad::{GadFinding, NodeIx};

use super::RecordError;
use super::state::{Progress, State};

/// Where a record stands.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Standing {
    /// h(P).
    pub plan_hash: Digest,
    /// Number of entries.
    pub entries: u64,
    /// The last chain hash.
    pub head: Digest,
    /// The open session.
    pub open_session: Option<String>,
    /// Whether its executor's end is recorded.
    pub exited: bool,
    /// How the run ended.
    pub terminal: Option<EntryType>,
    /// Whether the last entry is a checkpoint: everything is signed for.
    pub sealed: bool,
    /// Every node, in the plan's order.
    pub nodes: Vec<NodeStanding>,
    /// What can be recorded next, of the plan as a whole, in the words of `anchor record`.
    pub next: Vec<String>,
    /// What breaks a rule in the history.
    pub defects: Vec<GadFinding>,
    /// Bytes of a torn last line that the next recorder will cut off.
    pub torn: u64,
}

/// Where a node stands.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NodeStanding {
    /// Its id.
    pub id: String,
    /// Its state.
    pub status: Status,
    /// It can be dispatched.
    pub ready: bool,
    /// How often it was dispatched.
    pub attempt: u32,
    /// How many retries are recorded, and how many the plan allows.
    pub retries: (u32, u32),
    /// How many of its tests are judged in this attempt, and how many it has.
    pub judged: (usize, usize),
    /// A flag is open.
    pub open_flag: bool,
    /// What can be recorded about it next.
    pub next: Vec<&'static str>,
}

impl Standing {
    /// Reads the record in `directory` without taking its lock and without changing anything. A record that
    /// grows meanwhile is read as far as it was whole.
    pub fn read(directory: &Path) -> Result<Self, RecordError> {
        let state = State::load(directory)?;
        let mut standing = Self::of(&state.progress);
        standing.torn = state.torn;
        Ok(standing)
    }

    pub(super) fn of(progress: &Progress) -> Self {
        let machine = progress.watch.machine();
        let plan = machine.plan();
        let open = machine.open_session();
        let terminal = machine.terminal().map(|(entry_type, _)| entry_type);
        let nodes: Vec<_> =
            plan.nodes().map(|node| NodeStanding::of(machine, node, terminal.is_some())).collect();
        Self {
            plan_hash: plan.hash(),
            entries: progress.entries,
            head: progress.chain.head(),
            open_session: open.map(|session| session.id.to_string()),
            exited: open.is_some_and(|session| session.exit.is_some()),
            terminal,
            sealed: progress.at_checkpoint,
            next: next_of_plan(progress, machine, &nodes),
            nodes,
            defects: progress.defects.clone(),
            torn: 0,
        }
    }
}

impl NodeStanding {
    fn of(machine: &Machine, node: NodeIx, terminated: bool) -> Self {
        let planned = machine.plan().node(node);
        let status = machine.status(node);
        let retries = (machine.retries(node), planned.retries);
        let open_flag = machine.has_open_flag(node);
        let judged = (machine.judged_count(node), planned.tests.len());
        let fresh = judged.0 == 0;
        let again = if retries.0 < retries.1 { "retry" } else { "trip" };
        let mut next = match status {
            _ if terminated => vec![],
            Status::Pending | Status::Granted if machine.is_ready(node) => vec!["dispatch"],
            Status::Captured if open_flag && machine.has_removal(node) => vec!["scope-closed"],
            Status::Captured if open_flag => vec!["remediation"],
            Status::Captured if fresh => vec!["flag", "verdict", again],
            Status::Captured => vec!["verdict"],
            Status::Failed => vec![again],
            Status::AwaitGate if planned.risk == Risk::Gated => vec!["gate-request"],
            Status::AwaitApproval => vec!["answer"],
            Status::Refused => vec!["remediation", "revised-request"],
            _ => vec![],
        };
        if machine.open_session().is_some() {
            // Between sessions only.
            next.retain(|step| !matches!(*step, "dispatch" | "verdict"));
        }
        Self {
            id: planned.id.to_string(),
            status,
            ready: machine.is_ready(node),
            attempt: machine.attempt(node),
            retries,
            judged,
            open_flag,
            next,
        }
    }
}

fn next_of_plan(progress: &Progress, machine: &Machine, nodes: &[NodeStanding]) -> Vec<String> {
    let text = |steps: &[&str]| steps.iter().map(|step| (*step).to_owned()).collect();
    if machine.terminal().is_some() {
        return if progress.at_checkpoint {
            text(&["export", "notice"])
        } else {
            text(&["checkpoint", "export", "notice"])
        };
    }
    if let Some(session) = machine.open_session() {
        let step = if session.exit.is_some() { "result" } else { "exit" };
        return text(&[step, "checkpoint", "snapshot"]);
    }
    let mut next = vec!["probe", "checkpoint", "snapshot"];
    if nodes.iter().all(|node| node_is_good(machine, node)) {
        next.insert(0, "complete");
        return text(&next);
    }
    let waits = nodes.iter().any(|node| node.status == Status::AwaitApproval);
    let stuck = nodes.iter().any(|node| {
        matches!(node.status, Status::Failed | Status::Tripped | Status::Refused)
            || (node.status == Status::Captured && node.judged.0 == 0)
    });
    if !waits && (stuck || !nodes.iter().any(|node| node.ready)) {
        next.push("halt");
    }
    next.push("supersede");
    text(&next)
}

fn node_is_good(machine: &Machine, node: &NodeStanding) -> bool {
    machine.plan().find(&node.id).is_some_and(|position| machine.is_good(position))
}
