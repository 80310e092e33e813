//! The sessions of a record: who was commissioned, how it ended, what was observed.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use anchorlog_proto::gad::payload::ExitStatus;

use crate::gad::NodeIx;

/// One session, from its dispatch on.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Session {
    /// Its id.
    pub id: Arc<str>,
    /// N_s: the nodes of the plan it was commissioned over, in the plan's order, none twice.
    pub nodes: Box<[NodeIx]>,
    /// How many different ids the dispatch names, unknown ones included.
    pub commissioned: u32,
    /// seq of its dispatch.
    pub dispatch: u64,
    /// How it ended, and the seq of the exit that says so.
    pub exit: Option<(ExitStatus, u64)>,
    /// seq of its result.
    pub result: Option<u64>,
    /// It ended as `completed` with exit code 0. False as long as it has no exit.
    pub completed: bool,
}

impl Session {
    /// Whether the node is in N_s.
    #[must_use]
    pub fn has(&self, node: NodeIx) -> bool {
        self.nodes.binary_search(&node).is_ok()
    }

    /// Whether it still runs: it has no result.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.result.is_none()
    }

    /// Whether it is known not to have completed: by its exit, or by a result without one.
    #[must_use]
    pub const fn failed(&self) -> bool {
        !self.completed && (self.exit.is_some() || self.result.is_some())
    }
}

/// All sessions, by number and by id.
#[derive(Clone, Debug, Default)]
pub(super) struct Sessions {
    list: Vec<Session>,
    by_id: HashMap<Arc<str>, usize>,
    /// Numbers of those without a result.
    open: BTreeSet<usize>,
    /// Numbers of those with a result and without an exit.
    headless: BTreeSet<usize>,
}

impl Sessions {
    /// The latest session with this id.
    pub(super) fn find(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    pub(super) fn get(&self, number: usize) -> Option<&Session> {
        self.list.get(number)
    }

    /// The latest open one.
    pub(super) fn open(&self) -> Option<usize> {
        self.open.last().copied()
    }

    pub(super) fn commission(&mut self, session: Session) -> usize {
        let number = self.list.len();
        self.by_id.insert(Arc::clone(&session.id), number);
        self.list.push(session);
        self.open.insert(number);
        number
    }

    pub(super) fn record_exit(
        &mut self,
        number: usize,
        status: ExitStatus,
        seq: u64,
        completed: bool,
    ) {
        if let Some(session) = self.list.get_mut(number) {
            session.exit = Some((status, seq));
            session.completed = completed;
            self.headless.remove(&number);
        }
    }

    pub(super) fn record_result(&mut self, number: usize, seq: u64) {
        if let Some(session) = self.list.get_mut(number) {
            session.result = Some(seq);
            self.open.remove(&number);
            if session.exit.is_none() {
                self.headless.insert(number);
            }
        }
    }

    /// Those that lack an exit or a result, in the order of their dispatches.
    pub(super) fn unfinished(&self) -> impl Iterator<Item = (usize, &Session)> {
        let numbers: BTreeSet<_> = self.open.union(&self.headless).copied().collect();
        numbers.into_iter().filter_map(|number| Some((number, self.list.get(number)?)))
    }

    pub(super) const fn len(&self) -> usize {
        self.list.len()
    }
}
