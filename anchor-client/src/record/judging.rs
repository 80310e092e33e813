//! Verdicts, probes, and what becomes of a node that failed.

use anchorlog_proto::Digest;
use anchorlog_proto::gad::entry::Payload;
use anchorlog_proto::gad::names::PassFail;
use anchorlog_proto::gad::payload::{FailureReason, Probe, Restoration, Retry, Trip, Verdict};
use anchorlog_verifier::gad::NodeIx;
use anchorlog_verifier::gad::trace::Status;

use super::{RecordError, Recorded, Recorder};

/// What the engine saw when it ran a test. Everything else of a verdict comes from the frozen plan and from
/// the record.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "the caller fills it in")]
pub struct Judgement<'j> {
    /// The node.
    pub node: &'j str,
    /// The test.
    pub test_id: &'j str,
    /// What it came to. `None`: pass exactly when `exit_code` is the one that the plan expects, so that
    /// unknown is fail.
    pub result: Option<PassFail>,
    /// The exit code, where there was one.
    pub exit_code: Option<i32>,
    /// The artifact that was executed.
    pub signal_artifact: Digest,
    /// What was judged.
    pub subject: Digest,
    /// Where.
    pub environment: Digest,
    /// What it wrote to standard output.
    pub stdout: Digest,
    /// What it wrote to standard error.
    pub stderr: Digest,
}

/// What a planted defect showed.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::exhaustive_structs, reason = "the caller fills it in")]
pub struct Probed<'p> {
    /// The artifact that was executed.
    pub signal_artifact: Digest,
    /// Where.
    pub environment: Digest,
    /// What was planted.
    pub induced_defect: &'p str,
    /// What the test said.
    pub demonstrated: PassFail,
    /// Whether the defect was taken out again.
    pub restoration: Restoration,
    /// When, in seconds since 1970; `None` is now.
    pub time: Option<i64>,
    /// Whether it really ran.
    pub spawned: bool,
    /// Its exit code.
    pub exit_code: Option<i64>,
    /// Digest of its output.
    pub output: Option<Digest>,
}

impl Recorder {
    /// Records the verdict on one test of one node, signed by the engine.
    pub fn verdict(&mut self, judgement: &Judgement<'_>) -> Result<Recorded, RecordError> {
        let node = self.node(judgement.node)?;
        let plan = std::sync::Arc::clone(&self.plan);
        let Some((_, test)) = plan.test(node, judgement.test_id) else {
            return Err(RecordError::NoTest {
                node: judgement.node.to_owned(),
                test_id: judgement.test_id.to_owned(),
            });
        };
        let result_seq = self.result_of(judgement.node)?;
        let session = self.session_of(judgement.node)?.id.to_string();
        let verdict_type = anchorlog_proto::gad::entry::EntryType::Verdict;
        let engine = self.engine_key(verdict_type)?.id().to_string();
        let expected = i32::from(test.spec.expect_exit_code);
        let result = judgement.result.unwrap_or(if judgement.exit_code == Some(expected) {
            PassFail::Pass
        } else {
            PassFail::Fail
        });
        self.record(&Payload::Verdict(Verdict {
            session_id: &session,
            execution_result_seq: result_seq,
            node: judgement.node,
            test_id: judgement.test_id,
            capture: Some(test.spec.capture),
            layers: Some(test.spec.layers.clone()),
            signal: Some(test.spec.signal),
            test_spec: Some(test.digest),
            signal_artifact: Some(judgement.signal_artifact),
            subject_artifact: Some(judgement.subject),
            environment: Some(judgement.environment),
            stdout: Some(judgement.stdout),
            stderr: Some(judgement.stderr),
            result: Some(result),
            exit_code: judgement.exit_code,
            engine_identity: Some(&engine),
            declares_class: false,
        }))
    }

    /// Records a probe, signed by the engine.
    pub fn probe(&mut self, probed: &Probed<'_>) -> Result<Recorded, RecordError> {
        let time = probed.time.unwrap_or_else(|| self.clock.now());
        self.record(&Payload::Probe(Probe {
            signal_artifact: probed.signal_artifact,
            environment: probed.environment,
            induced_defect: probed.induced_defect,
            demonstrated: probed.demonstrated,
            restoration: probed.restoration,
            time,
            spawned: probed.spawned,
            exit_code: probed.exit_code,
            output: probed.output,
        }))
    }

    /// Why a node's current attempt failed, and the entries that show it.
    ///
    /// # Errors
    ///
    /// [`RecordError::State`] when it didn't.
    pub fn failure(&self, node: &str) -> Result<(FailureReason, Vec<u64>), RecordError> {
        let position = self.node(node)?;
        let machine = self.machine();
        let session = machine.session_of(position);
        let shown = match machine.status(position) {
            Status::Failed => {
                let exit = session.filter(|session| session.failed()).and_then(|one| one.exit);
                match exit {
                    Some((_, exit)) => Some((FailureReason::SessionFailed, vec![exit])),
                    None => Some((FailureReason::VerdictFailed, self.failed_verdicts(position))),
                }
            }
            Status::Captured if machine.judged_count(position) == 0 => {
                let result = session.and_then(|session| session.result);
                result.map(|seq| (FailureReason::InsufficientBoundEvidence, vec![seq]))
            }
            _ => None,
        };
        shown.ok_or_else(|| RecordError::State {
            subject: node.to_owned(),
            reason: "its current attempt has not failed",
        })
    }

    /// Records that a failed node may be dispatched again. What shows the failure is named in it.
    pub fn retry(&mut self, node: &str) -> Result<Recorded, RecordError> {
        let (reason, shown) = self.failure(node)?;
        self.record(&Payload::Retry(Retry { node, reason, input_ref: Some(shown) }))
    }

    /// Records that a failed node has no retry left, with the history of its failures.
    pub fn trip(&mut self, node: &str) -> Result<Recorded, RecordError> {
        let (reason, shown) = self.failure(node)?;
        let mut history = self.memory().failures(self.node(node)?);
        history.extend(shown);
        history.sort_unstable();
        history.dedup();
        self.record(&Payload::Trip(Trip { node, reason, history }))
    }

    fn failed_verdicts(&self, node: NodeIx) -> Vec<u64> {
        let plan = self.plan().node(node);
        let judged = (0..plan.tests.len()).filter_map(|test| self.machine().judged(node, test));
        let mut failed: Vec<u64> = judged
            .filter(|judged| !judged.pass || judged.class < plan.c_min)
            .map(|judged| judged.seq)
            .collect();
        failed.sort_unstable();
        failed
    }
}
