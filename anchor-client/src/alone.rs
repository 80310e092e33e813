//! Asking the verifier about a bundle alone: without a policy, and so without anybody to trust.

use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::attestation::Implementation;
use anchorlog_proto::gad::known_checkpoints::KnownCheckpoints;
use anchorlog_verifier::gad::container::Bundle;
use anchorlog_verifier::gad::evaluate::{self, Request, RequestError};
use anchorlog_verifier::gad::finding::Findings;
use anchorlog_verifier::gad::report::Report;
use anchorlog_verifier::gad::trust::TrustMaterial;

/// Whether the record is valid, and what follows from it, as `evaluator` finds it at `at` (seconds since 1970).
pub(crate) fn evaluate(
    bundle: &Result<Bundle, Findings>,
    limits: &Limits,
    evaluator: Implementation,
    at: i64,
) -> Result<Report, RequestError> {
    let (trust, known) = (TrustMaterial::default(), KnownCheckpoints::default());
    let request = Request { limits: *limits, ..Request::new(&trust, &known, evaluator, at) };
    evaluate::evaluate(bundle, &request)
}
