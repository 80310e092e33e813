//! What an audit says about an envelope, as the verifier tells it.

use std::path::Path;

use anchorlog_proto::Digest;
use anchorlog_proto::audit::{AuditBody, AuditError};
use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::attestation::Implementation;
use anchorlog_proto::gad::known_checkpoints::KnownCheckpoints;
use anchorlog_proto::signed_object::SigningKey;
use anchorlog_verifier::gad::container::Bundle;
use anchorlog_verifier::gad::evaluate::{Request, RequestError, evaluate};
use anchorlog_verifier::gad::finding::GadFinding;
use anchorlog_verifier::gad::trust::TrustMaterial;

/// Compares what the log has with what an envelope, or a core, carries: the same findings that `verifier
/// envelope --audit` reports beside its verdict.
///
/// The verifier hears signed audits only, so `key` signs: the auditor's, or any other if nobody else is to
/// hear it.
pub fn beside(
    body: &AuditBody,
    key: &SigningKey,
    envelope: &Path,
    limits: &Limits,
) -> Result<Vec<GadFinding>, BesideError> {
    let audit = body.sign(key)?;
    let bundle = Bundle::open(envelope, limits);
    if bundle.is_err() {
        return Err(BesideError::Envelope);
    }
    let (trust, known) = (TrustMaterial::default(), KnownCheckpoints::default());
    // Goes into a report that isn't shown, as does the time, which counts for nothing without a policy.
    let evaluator = Implementation {
        name: env!("CARGO_PKG_NAME").into(),
        version: env!("CARGO_PKG_VERSION").into(),
        hash: Digest::of(b""),
    };
    let (audits, auditors) = ([audit], [key.public_key()]);
    let request = Request {
        limits: *limits,
        audits: &audits,
        auditors: &auditors,
        ..Request::new(&trust, &known, evaluator, 0)
    };
    let report = evaluate(&bundle, &request)?;
    // A container with a fault isn't looked into, and then there is no report on the audit.
    let audit = report.audits.into_iter().next().ok_or(BesideError::Envelope)?;
    Ok(audit.findings)
}

/// Why an envelope can't be compared with a log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BesideError {
    /// The audit can't be signed.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// The envelope can't be opened.
    #[error("the envelope can't be read; `verifier envelope` says why")]
    Envelope,
    /// The verifier takes no such request.
    #[error(transparent)]
    Request(#[from] RequestError),
}

impl BesideError {
    /// The stable code of the failure.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Audit(error) => error.code(),
            Self::Envelope | Self::Request(_) => "CLIENT.ENVELOPE",
        }
    }
}
