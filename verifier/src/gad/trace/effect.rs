//! What follows from an entry, by name.

use std::sync::Arc;

use anchorlog_proto::gad::entry::Payload;
use anchorlog_proto::gad::names::{EvidenceClass, PassFail, Risk};
use anchorlog_proto::gad::payload::{ExitStatus, RemediationAction};

use super::machine::{Machine, Subject};
use super::nodes::NodeState;
use super::{Judged, Request, Session, Status};
use crate::gad::NodeIx;

/// What an entry does.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[allow(clippy::exhaustive_enums, reason = "gad.table/1 is closed")]
pub enum Effect {
    /// The plan is frozen.
    Freeze,
    /// The session is open; its nodes are OPEN in a new attempt.
    OpenSession,
    /// The session's end is recorded.
    RecordExit,
    /// The session is closed; its nodes are CAPTURED or FAILED.
    CloseSession,
    /// Nothing: testimony.
    Testify,
    /// A probe is there for later verdicts.
    NoteProbe,
    /// A flag is open.
    OpenFlag,
    /// A removal answers the open flags.
    RecordRemoval,
    /// A change is recorded, for a REFUSED node.
    RecordChange,
    /// A pass closes all open flags.
    CloseFlags,
    /// A test is judged; the last one decides.
    Judge,
    /// A human is asked.
    AskHuman,
    /// APPROVED.
    Approve,
    /// REFUSED.
    Refuse,
    /// GRANTED, one retry more.
    Grant,
    /// TRIPPED.
    Trip,
    /// A range of the chain is covered.
    Cover,
    /// The run is over.
    Terminate,
    /// A defect is disclosed.
    Disclose,
}

impl Effect {
    /// The effect in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Freeze => "FROZEN",
            Self::OpenSession => {
                "nodes OPEN(s); attempt + 1; their verdicts and pending request cleared, open flags not"
            }
            Self::RecordExit => "exit recorded",
            Self::CloseSession => {
                "session closed; nodes CAPTURED(s) where it completed, else FAILED"
            }
            Self::Testify => "testimony",
            Self::NoteProbe => "probe set",
            Self::OpenFlag => "open flag",
            Self::RecordRemoval => "removal: recorded for the open flags",
            Self::RecordChange => "change recorded where n is REFUSED",
            Self::CloseFlags => "pass: all open flags of n closed; fail: left open",
            Self::Judge => {
                "when every test of n is judged: all pass with eff >= c_min: VERIFIED (normal) or \
                 AWAIT_GATE (gated), else FAILED"
            }
            Self::AskHuman => "AWAIT_APPROVAL",
            Self::Approve => "APPROVED",
            Self::Refuse => "REFUSED",
            Self::Grant => "GRANTED; retries(n) + 1",
            Self::Trip => "TRIPPED",
            Self::Cover => "coverage",
            Self::Terminate => "terminal",
            Self::Disclose => "disclosure",
        }
    }
}

impl Machine {
    /// Applies one effect of an entry.
    pub(super) fn apply(&mut self, effect: Effect, subject: &Subject<'_>) {
        let seq = subject.event.entry.seq;
        match effect {
            Effect::OpenSession => self.open_session_of(subject),
            Effect::RecordExit => self.record_exit(subject),
            Effect::CloseSession => self.close_session(subject),
            Effect::Judge => self.judge(subject),
            Effect::Terminate => {
                self.terminal = Some((subject.event.entry.entry_type, subject.event.index));
            }
            Effect::OpenFlag => self.with_node(subject, |state| {
                state.open_flags = state.open_flags.saturating_add(1);
                state.removal = false;
            }),
            Effect::RecordRemoval => {
                let removes = matches!(subject.payload, Payload::Remediation(remediation)
                    if remediation.action == Some(RemediationAction::Removal));
                self.with_node(subject, |state| {
                    state.removal |= removes && state.open_flags > 0;
                });
            }
            Effect::RecordChange => self.with_node(subject, |state| {
                if state.status == Status::Refused {
                    state.changes.insert(seq);
                }
            }),
            Effect::CloseFlags => {
                let passes = matches!(subject.payload, Payload::ScopeClosed(closed)
                    if closed.verdict == PassFail::Pass);
                self.with_node(subject, |state| {
                    if passes {
                        state.open_flags = 0;
                        state.removal = false;
                    }
                });
            }
            Effect::AskHuman => {
                let request = Request { seq, index: subject.event.index, h: subject.event.entry.h };
                self.with_node(subject, |state| {
                    state.status = Status::AwaitApproval;
                    state.request = Some(request);
                });
            }
            Effect::Approve => self.with_node(subject, |state| {
                state.status = Status::Approved;
                state.request = None;
            }),
            Effect::Refuse => self.with_node(subject, |state| {
                state.status = Status::Refused;
                state.request = None;
                state.changes.clear();
            }),
            Effect::Grant => self.with_node(subject, |state| {
                state.status = Status::Granted;
                state.retries = state.retries.saturating_add(1);
            }),
            Effect::Trip => self.with_node(subject, |state| {
                state.status = Status::Tripped;
                state.tripped = true;
            }),
            Effect::Freeze
            | Effect::Testify
            | Effect::NoteProbe
            | Effect::Cover
            | Effect::Disclose => {}
        }
    }

    fn with_node(&mut self, subject: &Subject<'_>, by: impl FnOnce(&mut NodeState)) {
        if let Some(node) = subject.node {
            self.change(node, by);
        }
    }

    fn open_session_of(&mut self, subject: &Subject<'_>) {
        let Payload::Dispatch(dispatch) = subject.payload else { return };
        let number = self.sessions.commission(Session {
            id: Arc::from(dispatch.session_id),
            nodes: subject.nodes.clone().into_boxed_slice(),
            commissioned: subject.commissioned,
            dispatch: subject.event.entry.seq,
            exit: None,
            result: None,
            completed: false,
        });
        let start = subject.event.index;
        for node in &subject.nodes {
            self.change(*node, |state| {
                state.status = Status::Open;
                state.attempt = state.attempt.saturating_add(1);
                state.attempt_start = Some(start);
                state.session = Some(number);
                state.judged.clear();
                state.failing.clear();
                // Not the open flags: what was touched is still there, and only a removal and a
                // recheck close a flag (R6). A retry would wash it away otherwise.
                state.request = None;
                state.changes.clear();
            });
        }
    }

    fn record_exit(&mut self, subject: &Subject<'_>) {
        let (Payload::ExecutorExit(exit), Some(number)) = (subject.payload, subject.session) else {
            return;
        };
        let completed = exit.status == ExitStatus::Completed && exit.exit_code == Some(0);
        self.sessions.record_exit(number, exit.status, subject.event.entry.seq, completed);
        if self.sessions.get(number).is_some_and(|session| !session.is_open()) {
            // The result came first, and that is found; now it is known what it closed.
            self.settle(number, |status| status == Status::Failed);
        }
    }

    fn close_session(&mut self, subject: &Subject<'_>) {
        let Some(number) = subject.session else { return };
        self.sessions.record_result(number, subject.event.entry.seq);
        self.testimony = Some(number);
        self.settle(number, |_| true);
    }

    /// The nodes of a closed session whose current attempt it is, as far as they stand there: CAPTURED or
    /// FAILED.
    fn settle(&mut self, number: usize, from: impl Fn(Status) -> bool) {
        let Some(session) = self.sessions.get(number) else { return };
        let status = if session.completed { Status::Captured } else { Status::Failed };
        for node in session.nodes.clone() {
            let state = self.nodes.get(node);
            if state.session == Some(number) && from(state.status) {
                self.change(node, |state| state.status = status);
                if status == Status::Captured {
                    self.decide(node);
                }
            }
        }
    }

    fn judge(&mut self, subject: &Subject<'_>) {
        let (Some(node), Some(test)) = (subject.node, subject.test) else { return };
        let seq = subject.event.entry.seq;
        let judged =
            subject.judged.unwrap_or(Judged { seq, pass: false, class: EvidenceClass::Attested });
        let credits = judged.pass && judged.class >= self.plan.node(node).c_min;
        self.change(node, |state| {
            state.judged.entry(test).or_insert(judged);
            if !credits {
                state.failing.insert(seq);
            }
        });
        self.decide(node);
    }

    /// Once every test has its verdict, a node is VERIFIED, AWAIT_GATE or FAILED.
    fn decide(&mut self, node: NodeIx) {
        let declared = self.plan.node(node);
        let (tests, risk) = (declared.tests.len(), declared.risk);
        let state = self.nodes.get(node);
        // A node without a test can't be judged; for all of nothing is not good.
        if tests == 0 || state.judged.len() < tests {
            return;
        }
        let status = match (state.failing.is_empty(), risk) {
            (false, _) => Status::Failed,
            (true, Risk::Normal) => Status::Verified,
            (true, Risk::Gated) => Status::AwaitGate,
        };
        self.change(node, |state| state.status = status);
    }
}
