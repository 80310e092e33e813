//! The derived state after an entry, for people who follow a record: `evaluate --trace`.

use core::fmt::Write as _;

use anchorlog_proto::gad::entry::EntryType;
use anchorlog_proto::json::{Object, Value, canonical};

use super::{Machine, Status};
use crate::gad::{Event, NodeIx};

/// What the machine holds after one entry.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Snapshot<'m> {
    /// seq of the entry as stated.
    pub seq: u64,
    /// Its type.
    pub entry_type: EntryType,
    /// Whether the machine stepped over it: its payload could be read.
    pub stepped: bool,
    /// The session that is open now.
    pub open_session: Option<&'m str>,
    /// The terminal entry so far.
    pub terminal: Option<EntryType>,
    /// The nodes shown, in the plan's order.
    pub nodes: Vec<NodeView<'m>>,
}

/// A node as it stands after an entry.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct NodeView<'m> {
    /// Its id.
    pub id: &'m str,
    /// Where it stands.
    pub status: Status,
    /// Whether it is READY.
    pub ready: bool,
    /// The number of its dispatches.
    pub attempt: u32,
    /// The session of the latest of them.
    pub session: Option<&'m str>,
    /// How many of its tests have a verdict in this attempt.
    pub judged: usize,
    /// How many tests it has.
    pub tests: usize,
    /// Whether it has an open flag.
    pub open_flag: bool,
    /// How many retries of it are recorded.
    pub retries: u32,
}

impl<'m> Snapshot<'m> {
    /// What the entry just stepped over changed.
    #[must_use]
    pub fn of_changes(machine: &'m Machine, event: &Event<'_>) -> Self {
        Self::of(machine, event, machine.changed())
    }

    /// Every node, after the entry just stepped over.
    #[must_use]
    pub fn of_all(machine: &'m Machine, event: &Event<'_>) -> Self {
        Self::of(machine, event, machine.plan().nodes().collect())
    }

    fn of(machine: &'m Machine, event: &Event<'_>, nodes: Vec<NodeIx>) -> Self {
        Self {
            seq: event.entry.seq,
            entry_type: event.entry.entry_type,
            stepped: event.payload().is_some(),
            open_session: machine.open_session().map(|session| &*session.id),
            terminal: machine.terminal().map(|(terminal, _)| terminal),
            nodes: nodes.into_iter().map(|node| NodeView::of(machine, node)).collect(),
        }
    }

    /// One line of JSON, with its LF: an object with `seq`, `type`, `stepped`, `open_session`, `terminal` and
    /// `nodes`, in canonical form.
    #[must_use]
    pub fn to_json_line(&self) -> Vec<u8> {
        let text = |text: Option<&'m str>| text.map_or(Value::Null, Value::from);
        let value = Value::Object(Object::from_iter([
            ("seq", number(self.seq)),
            ("type", Value::from(self.entry_type.as_str())),
            ("stepped", Value::Bool(self.stepped)),
            ("open_session", text(self.open_session)),
            ("terminal", text(self.terminal.map(EntryType::as_str))),
            ("nodes", Value::Array(self.nodes.iter().copied().map(NodeView::to_value).collect())),
        ]));
        let mut line = canonical(&value);
        line.push(b'\n');
        line
    }

    /// Lines of text: the entry, and below it the nodes.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = format!("{:>6}  {}", self.seq, self.entry_type);
        if !self.stepped {
            out.push_str("  (not stepped: its payload can't be read)");
        }
        if let Some(session) = self.open_session {
            // Writing to a String can't fail.
            let _ = write!(out, "  [{session} is open]");
        }
        out.push('\n');
        for node in &self.nodes {
            node.write_text(&mut out);
        }
        out
    }
}

impl<'m> NodeView<'m> {
    fn of(machine: &'m Machine, node: NodeIx) -> Self {
        Self {
            id: machine.plan().id(node),
            status: machine.status(node),
            ready: machine.is_ready(node),
            attempt: machine.attempt(node),
            session: machine.session_of(node).map(|session| &*session.id),
            judged: machine.judged_count(node),
            tests: machine.plan().node(node).tests.len(),
            open_flag: machine.has_open_flag(node),
            retries: machine.retries(node),
        }
    }

    fn to_value(self) -> Value<'m> {
        Value::Object(Object::from_iter([
            ("node", Value::from(self.id)),
            ("status", Value::from(self.status.as_str())),
            ("ready", Value::Bool(self.ready)),
            ("attempt", number(self.attempt.into())),
            ("session", self.session.map_or(Value::Null, Value::from)),
            ("judged", count(self.judged)),
            ("tests", count(self.tests)),
            ("open_flag", Value::Bool(self.open_flag)),
            ("retries", number(self.retries.into())),
        ]))
    }

    fn write_text(&self, out: &mut String) {
        let _ = write!(out, "        {} {}", self.id, self.status);
        if let Some(session) = self.session {
            let _ = write!(out, "({session})");
        }
        if self.ready {
            out.push_str(" ready");
        }
        let _ = write!(out, " attempt {}", self.attempt);
        if self.judged > 0 {
            let _ = write!(out, ", judged {} of {}", self.judged, self.tests);
        }
        if self.retries > 0 {
            let _ = write!(out, ", retries {}", self.retries);
        }
        if self.open_flag {
            out.push_str(", open flag");
        }
        out.push('\n');
    }
}

fn number(number: u64) -> Value<'static> {
    Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

fn count(count: usize) -> Value<'static> {
    Value::Integer(i64::try_from(count).unwrap_or(i64::MAX))
}
