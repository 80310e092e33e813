//! Why no path was found.

use core::fmt;

use anchorlog_proto::timestamp::ObjectIdentifier;

use super::super::certificate::Certificate;
use super::super::signature::SignatureError;
use crate::codes::Code;
use crate::codes::timestamp::{ALG, CHAIN, VALIDITY};

/// What stands against a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum PathFault {
    /// Nobody known has the issuer's name.
    NoPath,
    /// More work than is done in search of a path.
    Limit,
    /// The signature of a certificate is none of its issuer's key.
    Signature,
    /// A certificate's signature algorithm, or its issuer's key, is below the floor.
    Algorithm(SignatureError),
    /// A critical extension that isn't understood.
    UnknownCritical(ObjectIdentifier),
    /// An issuer isn't a certification authority.
    NotCa,
    /// An issuer may not sign certificates.
    KeyUsage,
    /// More certificates follow an issuer than it allows.
    PathLength,
    /// An issuer is for other purposes than time stamping.
    Purpose,
    /// The signer's certificate isn't valid at the instant.
    SignerValidity,
    /// An issuer's certificate isn't valid at the instant.
    IssuerValidity,
    /// A name is outside the constraints of an issuer.
    NameConstraints,
    /// The certificate policies of the path leave none.
    Policy,
}

/// Why no path was found: what stood against the attempt that came farthest.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PathError {
    fault: PathFault,
    subject: String,
}

impl PathError {
    /// What stands against this certificate.
    pub(in crate::timestamp) fn new(fault: PathFault, certificate: &Certificate) -> Self {
        Self { fault, subject: certificate.subject().to_string() }
    }

    /// What it is.
    #[must_use]
    pub const fn fault(&self) -> PathFault {
        self.fault
    }

    /// The name of the certificate that it is about, for a person to read.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// The stable code of a report.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self.fault {
            PathFault::Algorithm(_) => ALG,
            PathFault::SignerValidity | PathFault::IssuerValidity => VALIDITY,
            _ => CHAIN,
        }
    }

    /// The stable reason beneath the code.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self.fault {
            PathFault::NoPath => "chain.no-path",
            PathFault::Limit => "chain.limit",
            PathFault::Signature => "chain.signature",
            PathFault::Algorithm(SignatureError::Key) => "algorithm.key",
            PathFault::Algorithm(SignatureError::KeySize { .. }) => "algorithm.key-size",
            PathFault::Algorithm(_) => "algorithm.certificate",
            PathFault::UnknownCritical(_) => "chain.unknown-critical",
            PathFault::NotCa => "chain.not-ca",
            PathFault::KeyUsage => "chain.key-usage",
            PathFault::PathLength => "chain.path-length",
            PathFault::Purpose => "chain.eku",
            PathFault::SignerValidity => "validity.signer",
            PathFault::IssuerValidity => "validity.issuer",
            PathFault::NameConstraints => "chain.name-constraints",
            PathFault::Policy => "chain.policy",
        }
    }
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = &self.subject;
        match self.fault {
            PathFault::NoPath => write!(f, "nobody known issued {subject}"),
            PathFault::Limit => write!(f, "the search for the issuers of {subject} was given up"),
            PathFault::Signature => {
                write!(f, "{subject} is not signed by the issuer that it names")
            }
            PathFault::Algorithm(error) => write!(f, "{subject}: {error}"),
            PathFault::UnknownCritical(oid) => {
                write!(f, "{subject} has the critical extension {oid}, which isn't understood")
            }
            PathFault::NotCa => write!(f, "{subject} is no certification authority"),
            PathFault::KeyUsage => write!(f, "{subject} may not sign certificates"),
            PathFault::PathLength => {
                write!(f, "more certificates follow {subject} than it allows")
            }
            PathFault::Purpose => write!(f, "{subject} doesn't issue for time stamping"),
            PathFault::SignerValidity | PathFault::IssuerValidity => {
                write!(f, "the certificate of {subject} isn't valid at this time")
            }
            PathFault::NameConstraints => {
                write!(f, "{subject} has a name that an issuer may not issue for")
            }
            PathFault::Policy => {
                write!(f, "no certificate policy holds from the root to {subject}")
            }
        }
    }
}

impl core::error::Error for PathError {}
