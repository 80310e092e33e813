//! Why evidence can't be used, and why a path doesn't count.

use anchorlog_proto::Digest;
use anchorlog_proto::timestamp::GenTime;

use crate::codes::Code;
use crate::codes::timestamp::{REVOCATION_UNKNOWN, REVOKED};

/// Why bytes are no CRL or OCSP response that can be used.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EvidenceError {
    /// More of them than are read.
    #[error("more than {limit} CRLs")]
    Count {
        /// The most that are read.
        limit: usize,
    },
    /// Not of the form.
    #[error("no DER of {what}")]
    Form {
        /// Of what.
        what: &'static str,
    },
    /// More bytes than are read.
    #[error("{bytes} bytes, where at most {limit} are read")]
    Length {
        /// Bytes found.
        bytes: usize,
        /// The most that are read.
        limit: usize,
    },
    /// Text that is no PEM of CRLs.
    #[error("neither DER nor PEM of CRLs")]
    Pem,
    /// An OCSP response that says the responder failed.
    #[error("the OCSP response isn't a successful one")]
    Unsuccessful,
}

/// Why a path doesn't count, though it holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RevocationError {
    /// More evidence than is looked at.
    #[error("more than {limit} CRLs or OCSP responses")]
    Limit {
        /// The most that are looked at.
        limit: usize,
    },
    /// Nothing supplied says that a certificate was not revoked at the instant.
    #[error("nothing supplied shows that the certificate {certificate} was not revoked")]
    Unknown {
        /// The SHA-256 digest of the certificate.
        certificate: Digest,
    },
    /// The signer is revoked.
    #[error("the signer's certificate is revoked, as of {since}")]
    Signer {
        /// The revocation date. The token may be older: some reasons know no before.
        since: GenTime,
    },
    /// An issuer is revoked.
    #[error("the certificate {certificate} of an issuer is revoked, as of {since}")]
    Issuer {
        /// The SHA-256 digest of the certificate.
        certificate: Digest,
        /// The revocation date. The token may be older: some reasons know no before.
        since: GenTime,
    },
}

impl RevocationError {
    /// The stable code of a report.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Signer { .. } | Self::Issuer { .. } => REVOKED,
            _ => REVOCATION_UNKNOWN,
        }
    }

    /// The stable reason beneath the code.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Signer { .. } => "revoked.signer",
            Self::Issuer { .. } => "revoked.issuer",
            _ => "revocation.unknown",
        }
    }
}
