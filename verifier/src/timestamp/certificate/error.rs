//! Why bytes are no certificate.

use anchorlog_proto::timestamp::ObjectIdentifier;

use crate::codes::Code;
use crate::codes::timestamp::CERT_ABSENT;

/// Why bytes are no certificate that can be used.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// More certificates than are read.
    #[error("more than {limit} certificates")]
    Count {
        /// The most that are read.
        limit: usize,
    },
    /// An extension that stands twice (RFC 5280 section 4.2).
    #[error("the extension {oid} stands twice")]
    DuplicateExtension {
        /// The extension.
        oid: ObjectIdentifier,
    },
    /// An extension that decides something and isn't of its form.
    #[error("the extension {oid} isn't of its form")]
    Extension {
        /// The extension.
        oid: ObjectIdentifier,
    },
    /// Not the DER of a certificate.
    #[error("no DER of a certificate: {field}")]
    Form {
        /// The first field that isn't of its form.
        field: &'static str,
    },
    /// More bytes than are read.
    #[error("{bytes} bytes, where at most {limit} are read")]
    Length {
        /// Bytes found.
        bytes: usize,
        /// The most that are read.
        limit: usize,
    },
    /// Text that is no PEM of certificates.
    #[error("neither DER nor PEM of certificates")]
    Pem,
    /// The signature algorithm inside isn't the one outside (RFC 5280 section 4.1.1.2).
    #[error("the certificate states two different signature algorithms")]
    SignatureAlgorithm,
}

impl CertificateError {
    /// The stable code of a report.
    #[must_use]
    pub const fn code(&self) -> Code {
        CERT_ABSENT
    }

    /// The stable reason beneath the code.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        "certificate.form"
    }
}
