//! EVALUATE (Algorithm 2): an envelope and a policy in, a report out.
//!
//! The order is that of gad-bytes/1: container, documents, R1 to R9 while the witness goes by, OUTCOME,
//! CONTRACT_SATISFIED, policy, anchors, attestations, independence, DEFENSIBLE, level. Whatever one step
//! finds, the others look at the whole record; only a fault of the container ends the evaluation. There is
//! no clock and no network here: equal requests give equal reports, on any machine and number of threads.

mod conclude;
mod core;
mod documents;
mod envelope;

use std::num::NonZeroUsize;
use std::sync::Arc;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::attestation::Implementation;
use anchorlog_proto::gad::known_checkpoints::KnownCheckpoints;
use anchorlog_proto::gad::plan::Plan;
use anchorlog_proto::signed_object::PublicKey;

use super::Event;
use super::container::Bundle;
use super::finding::Findings;
use super::replay::Replay;
use super::report::{Asked, Report};
use super::rules::r1_envelope::Predecessor;
use super::trace::Machine;
use super::trust::TrustMaterial;
use super::witness::WitnessContext;

pub use documents::{
    read_known_checkpoints, read_predecessor, read_predecessor_bundle, read_successor_plan,
};

/// What to evaluate, and under what.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "the caller fills it in, from `Request::new`")]
pub struct Request<'a> {
    /// The trust policy Π, in its bytes.
    pub policy: Option<&'a [u8]>,
    /// The hash the policy has to have, where the caller knows it from elsewhere.
    pub policy_hash: Option<Digest>,
    /// Certificates, log policy texts and revocation lists that a policy names by their digests.
    pub trust: &'a TrustMaterial,
    /// Attestations given beside the envelope.
    pub attestations: &'a [Vec<u8>],
    /// Audits of logs, `anchorlog.audit/1`: reported beside the verdict, which never depends on them.
    pub audits: &'a [Vec<u8>],
    /// The keys of the auditors whose audits are looked at.
    pub auditors: &'a [PublicKey],
    /// Manifests of envelopes before this one.
    pub predecessors: &'a [Predecessor],
    /// The plan that a succession names.
    pub successor: Option<&'a SuccessorPlan>,
    /// The root_core the caller expects.
    pub expect_root_core: Option<Digest>,
    /// The root_envelope the caller expects.
    pub expect_root_envelope: Option<Digest>,
    /// The caller's memory of logs.
    pub known_checkpoints: &'a KnownCheckpoints,
    /// The limits.
    pub limits: Limits,
    /// What replays verdicts, if anything does.
    pub replay: Option<Arc<dyn Replay>>,
    /// The status the caller asks for.
    pub asked: Asked,
    /// The time of evaluation, in seconds since 1970.
    pub evaluation_time: i64,
    /// Who evaluates: goes into the report.
    pub evaluator: Implementation,
    /// How many threads may be used; the result is the same for every number.
    pub threads: NonZeroUsize,
}

impl<'a> Request<'a> {
    /// VALID_RECORD at this time, without a policy and with the default limits, on all cores.
    #[must_use]
    pub fn new(
        trust: &'a TrustMaterial,
        known_checkpoints: &'a KnownCheckpoints,
        evaluator: Implementation,
        evaluation_time: i64,
    ) -> Self {
        Self {
            policy: None,
            policy_hash: None,
            trust,
            attestations: &[],
            audits: &[],
            auditors: &[],
            predecessors: &[],
            successor: None,
            expect_root_core: None,
            expect_root_envelope: None,
            known_checkpoints,
            limits: Limits::DEFAULT,
            replay: None,
            asked: Asked::Valid,
            evaluation_time,
            evaluator,
            threads: WitnessContext::all_cores(),
        }
    }
}

/// A successor plan that the caller supplied.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "made by `read_successor_plan`")]
pub struct SuccessorPlan {
    /// The plan.
    pub plan: Plan,
    /// Its h.
    pub hash: Digest,
}

/// Why a request can't be evaluated, beside what a report can say.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The successor plan isn't the one that the record names.
    #[error("the successor plan is {actual}, and the record names {expected}")]
    Successor {
        /// The successor that the record names.
        expected: Digest,
        /// h of the plan that was supplied.
        actual: Digest,
    },
}

/// Who is shown every step of the trace, after the machine has stepped over the entry.
pub type Tracer<'t> = dyn FnMut(&Machine, &Event<'_>) + Send + 't;

/// Evaluates a bundle that was opened, or reports why it could not be.
///
/// # Errors
///
/// [`RequestError`] when the caller's own inputs don't fit the record.
pub fn evaluate(
    bundle: &Result<Bundle, Findings>,
    request: &Request<'_>,
) -> Result<Report, RequestError> {
    evaluate_traced(bundle, request, None)
}

/// As [`evaluate`], and shows every step of the trace to `tracer`.
///
/// # Errors
///
/// As [`evaluate`].
pub fn evaluate_traced(
    bundle: &Result<Bundle, Findings>,
    request: &Request<'_>,
    tracer: Option<&mut Tracer<'_>>,
) -> Result<Report, RequestError> {
    let mut findings = Findings::new();
    let bundle = match bundle {
        Ok(bundle) => bundle,
        Err(faults) => {
            findings.append(faults.clone());
            return Ok(conclude::refused(None, request, findings));
        }
    };
    match envelope::judge(bundle, request, tracer, &mut findings) {
        Ok(judged) => Ok(conclude::report(bundle, request, judged, findings)),
        Err(envelope::Stop::Container) => Ok(conclude::refused(Some(bundle), request, findings)),
        Err(envelope::Stop::Request(error)) => Err(error),
    }
}
