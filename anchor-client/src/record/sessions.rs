//! Sessions: commissioned before anything is spawned, ended by an exit and a result.

use anchorlog_proto::Digest;
use anchorlog_proto::gad::entry::Payload;
use anchorlog_proto::gad::payload::{
    Claim, Dispatch, DispatchInput, DispatchNodes, ExecutionResult, ExecutorExit, ExecutorIdentity,
    ExitStatus, NodeOrNull, OutputStatus, Quiescence,
};
use anchorlog_verifier::gad::trace::Session;

use super::artifacts::Artifact;
use super::{RecordError, Recorded, Recorder};

/// What a session is commissioned for.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "the caller fills it in")]
pub struct Commission<'c> {
    /// Its id, never used before in the record; [`Recorder::fresh_session_id`] makes one.
    pub session_id: &'c str,
    /// N_s: the nodes, all of them READY.
    pub nodes: &'c [&'c str],
    /// Who executes.
    pub executor: ExecutorIdentity<'c>,
    /// What is instructed.
    pub instruction: &'c Artifact,
    /// The digest of the workspace before ([`super::Baseline::digest`]).
    pub baseline: Digest,
    /// SHA-256 of the anchor file of the plan's commitment, where there is one.
    pub precommit: Option<Digest>,
}

/// How an executor ended.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "the caller fills it in")]
pub struct ExecutorEnd<'e> {
    /// How. `completed` is only what ended with exit code 0.
    pub status: ExitStatus,
    /// Its exit code, where there is one; a signal is its number, negative.
    pub exit_code: Option<i32>,
    /// What it had written by then.
    pub output: Option<&'e Artifact>,
}

/// What the engine observed of a session, after it came to rest.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "the caller fills it in")]
pub struct Observed<'o> {
    /// What changed, where that was captured.
    pub delta: Option<&'o Artifact>,
    /// Whether all of it was captured; `not_recorded` exactly where `delta` is `None`.
    pub output_status: OutputStatus,
    /// What was touched, in any order.
    pub touched: &'o [String],
    /// Whether everything that ran had ended.
    pub quiescence: Quiescence,
}

impl Recorder {
    /// A session id that the record doesn't have: `s1`, `s2`, ….
    #[must_use]
    pub fn fresh_session_id(&self) -> String {
        let mut number = self.machine().session_count().saturating_add(1);
        loop {
            let id = format!("s{number}");
            if self.machine().session(&id).is_none() {
                return id;
            }
            number = number.saturating_add(1);
        }
    }

    /// Records that a session is commissioned. Call it before the executor is spawned. Descriptions come from
    /// the plan, prior failures from the retries that granted another attempt.
    pub fn dispatch(&mut self, commission: &Commission<'_>) -> Result<Recorded, RecordError> {
        self.check_artifact(&commission.instruction.reference())?;
        let plan = std::sync::Arc::clone(&self.plan);
        let mut input = Vec::with_capacity(commission.nodes.len());
        for id in commission.nodes {
            let node = self.node(id)?;
            input.push(DispatchInput {
                node: id,
                desc: &plan.node(node).desc,
                prior_failure: self.memory().prior_failure(node),
            });
        }
        self.record(&Payload::Dispatch(Dispatch {
            session_id: commission.session_id,
            nodes: DispatchNodes::Set(commission.nodes.to_vec()),
            executor: commission.executor,
            instruction: commission.instruction.reference(),
            baseline: Some(commission.baseline),
            input,
            precommit: commission.precommit,
        }))
    }

    /// Records how the executor of the open session ended.
    pub fn executor_exit(&mut self, end: &ExecutorEnd<'_>) -> Result<Recorded, RecordError> {
        let (session, node) = self.open_session()?;
        if let Some(output) = end.output {
            self.check_artifact(&output.reference())?;
        }
        self.record(&Payload::ExecutorExit(ExecutorExit {
            session_id: &session,
            node: named(node.as_deref()),
            status: end.status,
            exit_code: end.exit_code,
            output: end.output.map(Artifact::reference),
        }))
    }

    /// Records what the engine observed of the open session, which ends with it.
    pub fn execution_result(&mut self, observed: &Observed<'_>) -> Result<Recorded, RecordError> {
        let (session, node) = self.open_session()?;
        if self.machine().open_session().is_some_and(|open| open.exit.is_none()) {
            return Err(RecordError::State {
                subject: session,
                reason: "its executor's end has to be recorded first",
            });
        }
        if let Some(delta) = observed.delta {
            self.check_artifact(&delta.reference())?;
        }
        let mut touched: Vec<&str> = observed.touched.iter().map(String::as_str).collect();
        touched.sort_unstable();
        touched.dedup();
        self.record(&Payload::ExecutionResult(ExecutionResult {
            session_id: &session,
            node: named(node.as_deref()),
            delta: Ok(observed.delta.map(Artifact::reference)),
            touched: Ok(touched),
            output_status: observed.output_status,
            quiescence: observed.quiescence,
        }))
    }

    /// Records what the executor says about a node: testimony, right after the result of its session.
    pub fn claim(&mut self, node: &str, text: &str) -> Result<Recorded, RecordError> {
        let session = self.session_of(node)?.id.to_string();
        self.record(&Payload::Claim(Claim { session_id: &session, node, text }))
    }

    /// The id of the open session, and its node where it has one alone.
    fn open_session(&self) -> Result<(String, Option<String>), RecordError> {
        let session = self.machine().open_session().ok_or_else(|| RecordError::State {
            subject: "session".to_owned(),
            reason: "none is open",
        })?;
        let node = match &*session.nodes {
            [node] if session.commissioned == 1 => Some(self.plan().id(*node).to_owned()),
            _ => None,
        };
        Ok((session.id.to_string(), node))
    }

    /// The session of the current attempt of a node.
    pub(super) fn session_of(&self, node: &str) -> Result<&Session, RecordError> {
        let position = self.node(node)?;
        self.machine().session_of(position).ok_or_else(|| RecordError::State {
            subject: node.to_owned(),
            reason: "was never dispatched",
        })
    }

    /// The result of that session.
    pub(super) fn result_of(&self, node: &str) -> Result<u64, RecordError> {
        self.session_of(node)?.result.ok_or_else(|| RecordError::State {
            subject: node.to_owned(),
            reason: "its session has no result yet",
        })
    }
}

fn named(node: Option<&str>) -> NodeOrNull<'_> {
    node.map_or(NodeOrNull::Null, NodeOrNull::Node)
}
