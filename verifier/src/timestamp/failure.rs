//! Why a token does not hold.

use core::fmt;

use anchorlog_proto::Digest;
use anchorlog_proto::timestamp::{GenTime, Imprint, Nonce, ObjectIdentifier, TimestampError};

use super::path::PathError;
use super::revocation::RevocationError;
use super::signature::SignatureError;
use super::signer_profile::SignerError;
use crate::codes::Code;
use crate::codes::input::INTERNAL;
use crate::codes::timestamp::{
    ACCURACY, ALG, CERT_ABSENT, CERTS_UNASKED, ESS, FUTURE, IMPRINT, IMPRINT_ALG, NAME, NONCE,
    NOT_COUNTED, POLICY_OID, POLICY_WINDOW, ROOT_PURPOSE, SIGNED_ATTRS,
};
use crate::finding::Finding;

/// Why a token does not hold: the first rule it breaks, in the order of [`super::verify_token`].
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum TokenFailure {
    /// The bytes are no token, or not a granted one.
    Format(TimestampError),
    /// No accuracy, where one is required.
    AccuracyAbsent,
    /// An accuracy wider than the trust entry allows.
    AccuracyWide {
        /// What the entry allows, in seconds.
        allowed_s: u32,
        /// What the token says, in microseconds.
        microseconds: u64,
    },
    /// The protected algorithms aren't those of the signature.
    AlgorithmProtection,
    /// No certificate is the one that the signer identifier names.
    CertificateAbsent,
    /// The certificate that the token names can't be read.
    CertificateForm,
    /// Certificates, and the request asked for none.
    CertificatesUnasked,
    /// The content-type attribute names another type.
    ContentType,
    /// There is no content-type attribute.
    ContentTypeMissing,
    /// The signer's digest algorithm isn't known or allowed.
    Digest,
    /// Parameters of the signer's digest algorithm, which has none.
    DigestParameters,
    /// Digest algorithms are announced, and the signer's isn't one of them.
    DigestUnlisted,
    /// `ESSCertIDv2` with a hash that isn't known or allowed.
    EssAlgorithm,
    /// The signing-certificate attribute names another certificate than the signer identifier.
    EssDigest,
    /// Issuer and serial number in the signing-certificate attribute aren't the signer's.
    EssIssuerSerial,
    /// There is no signing-certificate attribute of either version.
    EssMissing,
    /// A further certificate that the attribute names doesn't stand in the path.
    EssOutsidePath,
    /// genTime lies ahead of the time of evaluation.
    Future {
        /// The token's time.
        gen_time: GenTime,
        /// The time of evaluation.
        at: GenTime,
    },
    /// The token is over something else.
    Imprint {
        /// What it should be over.
        expected: Imprint,
        /// What it is over.
        actual: Imprint,
    },
    /// The imprint's hash isn't known or allowed.
    ImprintAlgorithm {
        /// The hash.
        algorithm: ObjectIdentifier,
    },
    /// The message-digest attribute isn't the content's digest.
    MessageDigest,
    /// There is no message-digest attribute.
    MessageDigestMissing,
    /// The token's authority isn't a name of the signer.
    Name,
    /// The token repeats another nonce.
    NonceMismatch {
        /// The request's.
        expected: Nonce,
        /// The token's.
        actual: Nonce,
    },
    /// The token repeats no nonce, and the request had one.
    NonceMissing,
    /// No path to a root of any entry.
    Path(PathError),
    /// The trust entry doesn't accept the policy.
    PolicyNotAccepted {
        /// The token's policy.
        policy: ObjectIdentifier,
    },
    /// The token was made under another policy than the request named.
    PolicyNotAsked {
        /// The request's.
        expected: Box<ObjectIdentifier>,
        /// The token's.
        actual: Box<ObjectIdentifier>,
    },
    /// Revoked, or nothing shows that it isn't.
    Revocation(RevocationError),
    /// The path ends at a root that is trusted for something else.
    RootPurpose {
        /// The root's SHA-256 digest.
        root: Digest,
    },
    /// The signature or its algorithm.
    Signature(SignatureError),
    /// The signer's certificate may not sign time stamps.
    Signer(SignerError),
    /// genTime is outside the trust entry's window.
    Window {
        /// The token's time.
        gen_time: GenTime,
        /// Whose window.
        operator: String,
    },
}

impl TokenFailure {
    /// The code of a report.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            // Every code of the formats is in the table: a test holds the two together.
            Self::Format(error) => Code::lookup(error.code()).unwrap_or(INTERNAL),
            Self::AccuracyAbsent | Self::AccuracyWide { .. } => ACCURACY,
            Self::CertificateAbsent | Self::CertificateForm => CERT_ABSENT,
            Self::CertificatesUnasked => CERTS_UNASKED,
            Self::AlgorithmProtection
            | Self::ContentType
            | Self::ContentTypeMissing
            | Self::MessageDigest
            | Self::MessageDigestMissing => SIGNED_ATTRS,
            Self::Digest | Self::DigestParameters | Self::DigestUnlisted => ALG,
            Self::EssAlgorithm
            | Self::EssDigest
            | Self::EssIssuerSerial
            | Self::EssMissing
            | Self::EssOutsidePath => ESS,
            Self::Future { .. } => FUTURE,
            Self::Imprint { .. } => IMPRINT,
            Self::ImprintAlgorithm { .. } => IMPRINT_ALG,
            Self::Name => NAME,
            Self::NonceMismatch { .. } | Self::NonceMissing => NONCE,
            Self::Path(error) => error.code(),
            Self::PolicyNotAccepted { .. } | Self::PolicyNotAsked { .. } => POLICY_OID,
            Self::Revocation(error) => error.code(),
            Self::RootPurpose { .. } => ROOT_PURPOSE,
            Self::Signature(error) => error.code(),
            Self::Signer(error) => error.code(),
            Self::Window { .. } => POLICY_WINDOW,
        }
    }

    /// The finer reason beneath the code: as stable as the code.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Format(error) => error.reason(),
            Self::AccuracyAbsent => "accuracy.absent",
            Self::AccuracyWide { .. } => "accuracy.wide",
            Self::AlgorithmProtection => "attributes.algorithm-protection",
            Self::CertificateAbsent => "certificate.absent",
            Self::CertificateForm => "certificate.form",
            Self::CertificatesUnasked => "certificates.unasked",
            Self::ContentType => "attributes.content-type",
            Self::ContentTypeMissing => "attributes.content-type-missing",
            Self::Digest => "algorithm.digest",
            Self::DigestParameters => "algorithm.parameters",
            Self::DigestUnlisted => "algorithm.unlisted",
            Self::EssAlgorithm => "ess.algorithm",
            Self::EssDigest => "ess.hash-mismatch",
            Self::EssIssuerSerial => "ess.issuer-serial",
            Self::EssMissing => "ess.missing",
            Self::EssOutsidePath => "ess.outside-path",
            Self::Future { .. } => "time.future",
            Self::Imprint { .. } => "imprint.mismatch",
            Self::ImprintAlgorithm { .. } => "imprint.algorithm",
            Self::MessageDigest => "attributes.message-digest",
            Self::MessageDigestMissing => "attributes.message-digest-missing",
            Self::Name => "name.mismatch",
            Self::NonceMismatch { .. } => "nonce.mismatch",
            Self::NonceMissing => "nonce.missing",
            Self::Path(error) => error.reason(),
            Self::PolicyNotAccepted { .. } => "policy.not-accepted",
            Self::PolicyNotAsked { .. } => "policy.not-asked",
            Self::Revocation(error) => error.reason(),
            Self::RootPurpose { .. } => "root.purpose",
            Self::Signature(error) => error.reason(),
            Self::Signer(error) => error.reason(),
            Self::Window { .. } => "window.outside",
        }
    }

    /// The failure as a row of a report.
    #[must_use]
    pub fn finding(&self) -> Finding {
        let finding = Finding::new(self.code(), self.to_string()).because(self.reason());
        match self {
            Self::Imprint { expected, actual } => finding.compared(expected, actual),
            Self::NonceMismatch { expected, actual } => finding.compared(expected, actual),
            Self::PolicyNotAsked { expected, actual } => finding.compared(expected, actual),
            _ => finding,
        }
    }

    /// The same where the token is one of several: it counts for nothing, and spoils nothing.
    #[must_use]
    pub fn not_counted(&self) -> Finding {
        Finding::new(NOT_COUNTED, format!("{}: {self}", self.code())).because(self.reason())
    }
}

impl fmt::Display for TokenFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Format(error) => return error.fmt(f),
            Self::Path(error) => return error.fmt(f),
            Self::Revocation(error) => return error.fmt(f),
            Self::Signature(error) => return error.fmt(f),
            Self::Signer(error) => return error.fmt(f),
            Self::AccuracyWide { allowed_s, microseconds } => {
                let allowed = u64::from(*allowed_s) * 1_000_000;
                return write!(
                    f,
                    "the accuracy is {microseconds} us, and {allowed} us are allowed"
                );
            }
            Self::Future { gen_time, at } => {
                return write!(f, "the token is of {gen_time}, and it is evaluated at {at}");
            }
            Self::ImprintAlgorithm { algorithm } => {
                return write!(f, "the imprint's hash {algorithm} is not known or not allowed");
            }
            Self::PolicyNotAccepted { policy } => {
                return write!(f, "the policy {policy} is not accepted");
            }
            Self::RootPurpose { root } => {
                return write!(f, "the path ends at {root}, a root for something else");
            }
            Self::Window { gen_time, operator } => {
                return write!(f, "{gen_time} is outside the window of {operator}");
            }
            Self::AccuracyAbsent => "the token states no accuracy, and one is required",
            Self::AlgorithmProtection => "the protected algorithms are not those of the signature",
            Self::CertificateAbsent => "the signer's certificate is not there",
            Self::CertificateForm => "the signer's certificate can't be read",
            Self::CertificatesUnasked => "there are certificates, and none were asked for",
            Self::ContentType => "the content-type attribute names another type",
            Self::ContentTypeMissing => "there is no content-type attribute",
            Self::Digest => "the digest algorithm is not known or not allowed",
            Self::DigestParameters => "the digest algorithm has parameters",
            Self::DigestUnlisted => "the signer's digest algorithm is not one of those announced",
            Self::EssAlgorithm => {
                "the signing-certificate attribute's hash is not known or not allowed"
            }
            Self::EssDigest => "the signing-certificate attribute names another certificate",
            Self::EssIssuerSerial => {
                "issuer and serial number in the signing-certificate attribute are not the signer's"
            }
            Self::EssMissing => "there is no signing-certificate attribute",
            Self::EssOutsidePath => {
                "the signing-certificate attribute names a certificate that is not in the path"
            }
            Self::Imprint { .. } => "the token is over something else",
            Self::MessageDigest => "the message-digest attribute is not the content's digest",
            Self::MessageDigestMissing => "there is no message-digest attribute",
            Self::Name => "the authority's name is not one of the signer's certificate",
            Self::NonceMismatch { .. } => "the token repeats another nonce",
            Self::NonceMissing => "the token repeats no nonce",
            Self::PolicyNotAsked { .. } => "the token was made under another policy than asked for",
        })
    }
}

impl core::error::Error for TokenFailure {}

impl From<TimestampError> for TokenFailure {
    fn from(error: TimestampError) -> Self {
        Self::Format(error)
    }
}

impl From<SignatureError> for TokenFailure {
    fn from(error: SignatureError) -> Self {
        Self::Signature(error)
    }
}

impl From<SignerError> for TokenFailure {
    fn from(error: SignerError) -> Self {
        Self::Signer(error)
    }
}

impl From<PathError> for TokenFailure {
    fn from(error: PathError) -> Self {
        Self::Path(error)
    }
}

impl From<RevocationError> for TokenFailure {
    fn from(error: RevocationError) -> Self {
        Self::Revocation(error)
    }
}
