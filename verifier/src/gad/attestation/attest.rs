//! Making an attestation of an evaluation.

use anchorlog_proto::gad::attestation::{AttestationBody, PolicyName};
use anchorlog_proto::signed_object::SigningKey;

use crate::gad::report::{CANONICALIZATION, Report};

/// Who attests, and with what.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "the caller fills it in")]
pub struct Evaluator<'a> {
    /// The name the evaluator goes by, 1 to 1024 bytes: one that policies list.
    pub identity: &'a str,
    /// The evaluator's key.
    pub key: &'a SigningKey,
    /// The version of the conformance suite that the implementation passes.
    pub suite_version: &'a str,
}

/// Why an evaluation can't be attested.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AttestError {
    /// There is no root_core, plan, specification version or known registry to attest to.
    #[error("the record has no {what} that could be attested")]
    Nothing {
        /// Which.
        what: &'static str,
    },
    /// The evaluator's name is empty or longer than 1024 bytes.
    #[error("an evaluator's name has 1 to 1024 bytes, not {bytes}")]
    Identity {
        /// How many it has.
        bytes: usize,
    },
    /// The container or the policy couldn't be read, so that nothing was evaluated.
    #[error("nothing was evaluated")]
    Unevaluable,
}

/// The attestation Q of an evaluation, signed, in canonical form: the bytes of the file.
///
/// It states what the report states, whatever that is; an attestation of an invalid record says so. Its
/// envelope is the one that was evaluated, so that the envelope to carry it is the next one.
pub fn attest(report: &Report, evaluator: &Evaluator<'_>) -> Result<Vec<u8>, AttestError> {
    if report.statuses.unevaluable() {
        return Err(AttestError::Unevaluable);
    }
    let bytes = evaluator.identity.len();
    if !(1..=1024).contains(&bytes) {
        return Err(AttestError::Identity { bytes });
    }
    let nothing = |what| AttestError::Nothing { what };
    let body = AttestationBody {
        plan_hash: report.plan_hash.ok_or(nothing("plan"))?,
        root_core: report.root_core.ok_or(nothing("root_core"))?,
        root_envelope: report.root_envelope,
        valid: report.statuses.valid(),
        outcome: report.statuses.outcome(),
        satisfied: report.statuses.satisfied(),
        spec_version: report.versions.spec.clone().ok_or(nothing("specification version"))?,
        canonicalization: CANONICALIZATION.into(),
        registry: report.versions.registry.ok_or(nothing("predicate registry"))?.into(),
        evaluator: evaluator.identity.into(),
        implementation: report.evaluator.clone(),
        policy: PolicyName { id: report.policy.id.clone(), hash: report.policy.hash },
        replay_layers: report.replay_layers.clone(),
        suite_version: evaluator.suite_version.into(),
        evaluation_time: report.evaluation_time,
    };
    Ok(body.sign(evaluator.key).to_canonical())
}
