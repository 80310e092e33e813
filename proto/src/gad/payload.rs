//! The payloads of witness entries, one type each (gad-bytes/1, section 5 of the formats).
//!
//! Where a table names a rule's code for a member that is absent or wrong, the field is an `Option`:
//! `None` is what the rule then refuses. Everything else of the form is refused while reading.

use crate::digest::Digest;
use crate::signed_object::SignerId;

use super::names::{Capture, ObservationLayer, PassFail, SignalKind, words};

mod cells;
pub(super) mod read;
#[cfg(test)]
pub(super) mod table_tests;
#[cfg(test)]
pub(super) mod tables;
mod write;

/// The longest claim of an executor, in bytes.
pub const MAX_CLAIM_BYTES: usize = 65_536;

/// The longest description of a defect, in bytes.
pub const MAX_DEFECT_BYTES: usize = 4096;

/// The longest name of a model, its version or its provider, in bytes.
pub const MAX_IDENTITY_BYTES: usize = 256;

/// The longest reason of a succession, in bytes.
pub const MAX_REASON_BYTES: usize = 65_536;

/// The largest exit code, and by its negative the smallest.
pub const MAX_EXIT_CODE: i64 = 255;

/// `node` of an exit or a result: stated absence is a value, and a wrong one is told apart.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the format's three cases")]
pub enum NodeOrNull<'v> {
    /// The single node of the session.
    Node(&'v str),
    /// `null`: the session covered several.
    Null,
    /// Absent, or neither an id nor `null`.
    Malformed,
}

/// `nodes` of a dispatch.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "the format's three cases")]
pub enum DispatchNodes<'v> {
    /// The set N_s as stated, in its order.
    Set(Vec<&'v str>),
    /// The scalar spelling `node`, legal in records of spec_version 0.6 only.
    Scalar(&'v str),
    /// Absent, or not an array of strings.
    Malformed,
}

/// What was done by whom.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct ExecutorIdentity<'v> {
    /// The model.
    pub model: &'v str,
    /// Its version.
    pub version: &'v str,
    /// Who provides it.
    pub provider: &'v str,
}

/// One row of a dispatch's input.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct DispatchInput<'v> {
    /// The node.
    pub node: &'v str,
    /// desc(node).
    pub desc: &'v str,
    /// prior_failure(node), where there is one.
    pub prior_failure: Option<Vec<u64>>,
}

/// A reference to an artifact member with the digest it has to have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the two members always go together")]
pub struct ArtifactRef<'v> {
    /// Path of the member, relative to `core/`.
    pub path: &'v str,
    /// Its plain SHA-256.
    pub digest: Digest,
}

/// A session is commissioned over a set of nodes.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct Dispatch<'v> {
    /// The session.
    pub session_id: &'v str,
    /// N_s. `None` of its cases is checked here: R3.DISPATCH.NODES, R3.DISPATCH.SCALAR.
    pub nodes: DispatchNodes<'v>,
    /// Who executes.
    pub executor: ExecutorIdentity<'v>,
    /// What was instructed.
    pub instruction: ArtifactRef<'v>,
    /// The workspace before; absent: R3.DISPATCH.BASELINE.
    pub baseline: Option<Digest>,
    /// One row per node, in the order of `nodes`.
    pub input: Vec<DispatchInput<'v>>,
    /// SHA-256 of the commitment's anchor file, where the dispatch is bound to one.
    pub precommit: Option<Digest>,
}

words! {
    /// How an executor's session ended.
    ExitStatus {
        /// It returned with exit code 0.
        Completed = "completed",
        /// It crashed.
        Crashed = "crashed",
        /// Its time was up.
        TimedOut = "timed_out",
        /// It was killed.
        Killed = "killed",
        /// What it returned can't be used.
        Malformed = "malformed",
    }
}

/// A session's executor ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct ExecutorExit<'v> {
    /// The session.
    pub session_id: &'v str,
    /// Its single node, or null.
    pub node: NodeOrNull<'v>,
    /// How it ended.
    pub status: ExitStatus,
    /// The exit code, where there was one.
    pub exit_code: Option<i32>,
    /// What output there was.
    pub output: Option<ArtifactRef<'v>>,
}

words! {
    /// Whether a delta was captured.
    OutputStatus {
        /// Whole.
        Captured = "captured",
        /// In part.
        Partial = "partial",
        /// Not at all.
        NotRecorded = "not_recorded",
    }
}

words! {
    /// What became of the executor's process tree.
    Quiescence {
        /// It came to rest.
        Quiesced = "quiesced",
        /// It was isolated.
        Isolated = "isolated",
        /// Neither.
        NotReached = "not_reached",
    }
}

/// What the engine observed at the close of a session.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct ExecutionResult<'v> {
    /// The session.
    pub session_id: &'v str,
    /// Its single node, or null.
    pub node: NodeOrNull<'v>,
    /// The delta; `Err` when the two members don't fit each other or their form (R3.RESULT.DELTA_FORM is
    /// also when presence contradicts `output_status`).
    pub delta: Result<Option<ArtifactRef<'v>>, Malformed>,
    /// The touched surface, ascending; `Err`: R3.RESULT.SURFACE_FORM.
    pub touched: Result<Vec<&'v str>, Malformed>,
    /// Whether the delta was captured.
    pub output_status: OutputStatus,
    /// Whether the executor's processes had come to rest.
    pub quiescence: Quiescence,
}

/// A member that isn't what its table says, for a rule to refuse under its own code.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "it says only that")]
pub struct Malformed;

/// What the executor said; testimony.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct Claim<'v> {
    /// The session.
    pub session_id: &'v str,
    /// The node it is about.
    pub node: &'v str,
    /// The words.
    pub text: &'v str,
}

/// Paths outside a node's fence.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct Flag<'v> {
    /// The node.
    pub node: &'v str,
    /// The execution result they come from.
    pub execution_result_seq: u64,
    /// The paths, ascending, not empty.
    pub paths: Vec<&'v str>,
}

words! {
    /// What was done about a flag or a refusal.
    RemediationAction {
        /// Stray work was removed.
        Removal = "removal",
        /// Refused work was changed.
        Revision = "revision",
        /// Not an action: a succession never closes a flag in place (R6.SUCCESSION_CLOSE).
        Succession = "succession",
    }
}

/// Something was changed in answer to a flag or a refusal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct Remediation<'v> {
    /// The node.
    pub node: &'v str,
    /// What; `None`: R6.REMEDIATION.ACTION.
    pub action: Option<RemediationAction>,
}

/// The engine looked at the scope again.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct ScopeClosed<'v> {
    /// The node.
    pub node: &'v str,
    /// What it found.
    pub verdict: PassFail,
}

/// The engine judged one test of one node.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct Verdict<'v> {
    /// The session whose work is judged.
    pub session_id: &'v str,
    /// That session's result.
    pub execution_result_seq: u64,
    /// The node.
    pub node: &'v str,
    /// The test.
    pub test_id: &'v str,
    /// `None`: R4.CAPTURE.
    pub capture: Option<Capture>,
    /// `None`: R4.LAYERS.
    pub layers: Option<Vec<ObservationLayer>>,
    /// `None`: R4.SIGNAL.
    pub signal: Option<SignalKind>,
    /// `None` where absent: R4.DIGESTS.
    pub test_spec: Option<Digest>,
    /// The artifact actually executed. `None` where absent: R4.DIGESTS.
    pub signal_artifact: Option<Digest>,
    /// What was judged. `None` where absent: R4.DIGESTS.
    pub subject_artifact: Option<Digest>,
    /// Where. `None` where absent: R4.DIGESTS.
    pub environment: Option<Digest>,
    /// `None` where absent: R4.DIGESTS.
    pub stdout: Option<Digest>,
    /// `None` where absent: R4.DIGESTS.
    pub stderr: Option<Digest>,
    /// `None`: R4.RESULT.
    pub result: Option<PassFail>,
    /// The exit code, where there was one.
    pub exit_code: Option<i32>,
    /// Has to be the signer's key id: R4.ENGINE_IDENTITY.
    pub engine_identity: Option<&'v str>,
    /// Whether it declares a class (`effective_class`, `evidence_class`, `class`): R4.CLASS_DECLARED.
    pub declares_class: bool,
}

words! {
    /// What a probe's restoration came to.
    Restoration {
        /// The defect is gone, and that was checked.
        Verified = "verified",
        /// Nobody checked.
        Unverified = "unverified",
        /// The defect is still there.
        Failed = "failed",
    }
}

/// A planted defect showed whether a test can fail.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct Probe<'v> {
    /// The artifact executed.
    pub signal_artifact: Digest,
    /// Where.
    pub environment: Digest,
    /// What was planted.
    pub induced_defect: &'v str,
    /// What the test said.
    pub demonstrated: PassFail,
    /// Whether the defect was taken out again.
    pub restoration: Restoration,
    /// When, in seconds since 1970.
    pub time: i64,
    /// Whether it really ran.
    pub spawned: bool,
    /// Its exit code.
    pub exit_code: Option<i64>,
    /// Digest of its output.
    pub output: Option<Digest>,
}

/// A human is asked.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct GateRequest<'v> {
    /// The node.
    pub node: &'v str,
    /// Entries it stands on, ascending; empty: R7.FINDINGS_EMPTY.
    pub findings: Vec<u64>,
}

words! {
    /// What a human decided.
    Decision {
        /// Go on.
        Proceed = "proceed",
        /// Don't.
        Refuse = "refuse",
    }
}

/// A human's answer: the body of an approval, and of a refusal.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct GateAnswer<'v> {
    /// The node.
    pub node: &'v str,
    /// Whose answer.
    pub who: SignerId,
    /// `None`: R7.DECISION, as one that contradicts the entry's type is.
    pub decision: Option<Decision>,
    /// Entries it stands on, ascending.
    pub findings: Vec<u64>,
    /// h of the request it answers.
    pub request_h: Digest,
}

/// A human is asked again after a refusal.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct RevisedRequest<'v> {
    /// The node.
    pub node: &'v str,
    /// Entries it stands on, ascending.
    pub findings: Vec<u64>,
    /// The entry that records what changed.
    pub change_ref: u64,
}

words! {
    /// Why a node failed.
    FailureReason {
        /// A test failed, or passed below its class.
        VerdictFailed = "verdict_failed",
        /// Its session didn't complete.
        SessionFailed = "session_failed",
        /// Its session completed and bound no sufficient evidence of it.
        InsufficientBoundEvidence = "insufficient_bound_evidence",
    }
}

/// A failed node may be dispatched again.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct Retry<'v> {
    /// The node.
    pub node: &'v str,
    /// Why it failed.
    pub reason: FailureReason,
    /// The entries that show it; `None`: R3.RETRY.NO_DIAGNOSIS, as an empty set is.
    pub input_ref: Option<Vec<u64>>,
}

/// A failed node has no retry left.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct Trip<'v> {
    /// The node.
    pub node: &'v str,
    /// Why it failed.
    pub reason: FailureReason,
    /// Its failures, ascending, not empty.
    pub history: Vec<u64>,
}

/// The engine signs a range of chain hashes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct Checkpoint {
    /// [a, b]; `None` when it isn't two sequence numbers (R1.CKPT.RANGE_FORM, as a > b is).
    pub range: Option<(u64, u64)>,
    /// H(dom(checkpoint-range), h_a … h_b).
    pub digest: Digest,
    /// h_b.
    pub head: Digest,
}

words! {
    /// What a succession does with an obligation.
    Disposition {
        /// The successor has it as it was.
        Carried = "carried",
        /// The successor has it no more.
        Removed = "removed",
        /// The successor has it otherwise.
        Changed = "changed",
    }
}

/// One stated change of a succession: of a class floor, a fence or a test.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct Change<'v, T> {
    /// The node.
    pub node: &'v str,
    /// The test, where it is about one.
    pub test_id: Option<&'v str>,
    /// What it was; `None` is `null`.
    pub from: Option<T>,
    /// What it becomes; `None` is `null`.
    pub to: Option<T>,
}

/// The plan ends by a successor; every delta is stated.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct PlanSuperseded<'v> {
    /// h of the plan that ends.
    pub predecessor: Digest,
    /// h of the plan that follows.
    pub successor: Digest,
    /// Who decided.
    pub named_authority: SignerId,
    /// The delta; `None` when a member of it is absent (R3.SUPERSEDE.DELTA).
    pub delta: Option<Delta<'v>>,
}

/// What a succession has to state.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the format lists exactly these members")]
pub struct Delta<'v> {
    /// Why.
    pub reason: &'v str,
    /// Every unresolved node, and what becomes of it.
    pub obligations: Vec<(&'v str, Disposition)>,
    /// Changed class floors.
    pub class_floors: Vec<Change<'v, super::names::EvidenceClass>>,
    /// Changed fences.
    pub fences: Vec<Change<'v, super::plan::Fence>>,
    /// Changed tests, by the digest of their spec.
    pub tests: Vec<Change<'v, Digest>>,
}
