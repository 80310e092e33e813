//! Which signature algorithm an `AlgorithmIdentifier` names.

use core::fmt;

use anchorlog_proto::timestamp::ObjectIdentifier;
use anchorlog_proto::timestamp::element::{Element, context};
use anchorlog_proto::timestamp::{AlgorithmIdentifier, HashAlgorithm};
use der::Tag;

use super::SignatureError;

/// Whether SHA-1 counts in a signature: never by default.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Sha1 {
    /// SHA-1 is refused.
    #[default]
    Refused,
    /// SHA-1 counts: for tokens from before it was broken, and where the caller says so.
    Allowed,
}

/// How something is signed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum SignatureScheme {
    /// RSASSA-PKCS1-v1_5 (RFC 8017 section 8.2).
    RsaPkcs1 {
        /// The hash.
        hash: HashAlgorithm,
    },
    /// RSASSA-PSS (RFC 8017 section 8.1) with MGF1 over the same hash and trailer 0xbc.
    RsaPss {
        /// The hash, of the message and in MGF1.
        hash: HashAlgorithm,
        /// Octets of salt.
        salt: u16,
    },
    /// ECDSA on the curve of the key: P-256, P-384 or P-521.
    Ecdsa {
        /// The hash.
        hash: HashAlgorithm,
    },
    /// Ed25519 (RFC 8032), without a prehash or context.
    Ed25519,
}

/// `rsaEncryption` (RFC 8017 appendix A.1).
pub(super) const RSA_ENCRYPTION: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
/// `id-RSASSA-PSS` (RFC 4055 section 3.1).
pub(super) const RSASSA_PSS: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");
/// `id-Ed25519` (RFC 8410 section 3).
pub(super) const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");

const MGF1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.8");

/// RFC 8017 appendix A.2.4.
const RSA_PKCS1: [(ObjectIdentifier, HashAlgorithm); 4] = [
    (ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.5"), HashAlgorithm::Sha1),
    (ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.11"), HashAlgorithm::Sha256),
    (ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.12"), HashAlgorithm::Sha384),
    (ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.13"), HashAlgorithm::Sha512),
];

/// RFC 5758 section 3.2.
const ECDSA: [(ObjectIdentifier, HashAlgorithm); 4] = [
    (ObjectIdentifier::new_unwrap("1.2.840.10045.4.1"), HashAlgorithm::Sha1),
    (ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.2"), HashAlgorithm::Sha256),
    (ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.3"), HashAlgorithm::Sha384),
    (ObjectIdentifier::new_unwrap("1.2.840.10045.4.3.4"), HashAlgorithm::Sha512),
];

impl SignatureScheme {
    /// The scheme of an `AlgorithmIdentifier` that says everything: of a certificate, CRL or OCSP
    /// response.
    ///
    /// Parameters of RSA and ECDSA are absent or NULL. RFC 5758 wants them absent for ECDSA; a NULL
    /// says nothing, and real signers write it. Those of Ed25519 are absent (RFC 8410 section 3).
    pub fn of_certificate(identifier: &Element<'_>, sha1: Sha1) -> Result<Self, SignatureError> {
        let identifier = AlgorithmIdentifier::read(identifier).ok_or(SignatureError::Form)?;
        Self::known(&identifier)?.above_floor(sha1)
    }

    /// The scheme of a `SignerInfo`: its signature algorithm, and the digest algorithm beside it.
    ///
    /// `rsaEncryption` takes the hash from there (RFC 3370 section 3.2); for every other algorithm
    /// the two have to agree, for Ed25519 on SHA-512 (RFC 8419 section 3.1).
    pub fn of_signer(
        identifier: &Element<'_>,
        digest: HashAlgorithm,
        sha1: Sha1,
    ) -> Result<Self, SignatureError> {
        let identifier = AlgorithmIdentifier::read(identifier).ok_or(SignatureError::Form)?;
        let scheme = if identifier.oid == RSA_ENCRYPTION {
            plain(&identifier, Self::RsaPkcs1 { hash: digest })?
        } else {
            Self::known(&identifier)?
        };
        let scheme = scheme.above_floor(sha1)?;
        match scheme.hash() {
            _ if digest == HashAlgorithm::Sha1 && sha1 == Sha1::Refused => {
                Err(SignatureError::Digest { hash: digest })
            }
            used if used != digest => Err(SignatureError::Mismatch { stated: digest, used }),
            _ => Ok(scheme),
        }
    }

    /// The hash; SHA-512 for Ed25519.
    #[must_use]
    pub const fn hash(self) -> HashAlgorithm {
        match self {
            Self::RsaPkcs1 { hash } | Self::RsaPss { hash, .. } | Self::Ecdsa { hash } => hash,
            Self::Ed25519 => HashAlgorithm::Sha512,
        }
    }

    fn known(identifier: &AlgorithmIdentifier<'_>) -> Result<Self, SignatureError> {
        let oid = identifier.oid;
        let hash_of = |table: &[(ObjectIdentifier, HashAlgorithm)]| {
            table.iter().find(|(known, _)| *known == oid).map(|(_, hash)| *hash)
        };
        if let Some(hash) = hash_of(&RSA_PKCS1) {
            return plain(identifier, Self::RsaPkcs1 { hash });
        }
        if let Some(hash) = hash_of(&ECDSA) {
            return plain(identifier, Self::Ecdsa { hash });
        }
        match (oid, identifier.parameters) {
            (RSASSA_PSS, parameters) => parameters
                .and_then(|parameters| pss_parameters(&parameters))
                .map(|(hash, salt)| Self::RsaPss { hash, salt })
                .ok_or(SignatureError::Parameters),
            (ED25519, None) => Ok(Self::Ed25519),
            (ED25519, Some(_)) => Err(SignatureError::Parameters),
            _ => Err(SignatureError::Unknown { oid }),
        }
    }

    fn above_floor(self, sha1: Sha1) -> Result<Self, SignatureError> {
        match self.hash() {
            hash @ HashAlgorithm::Sha1 if sha1 == Sha1::Refused => {
                Err(SignatureError::Digest { hash })
            }
            _ => Ok(self),
        }
    }
}

fn plain(
    identifier: &AlgorithmIdentifier<'_>,
    scheme: SignatureScheme,
) -> Result<SignatureScheme, SignatureError> {
    if identifier.is_plain() { Ok(scheme) } else { Err(SignatureError::Parameters) }
}

/// `RSASSA-PSS-params` (RFC 4055 section 3.1): hash and salt length.
///
/// What is absent has its default: SHA-1, MGF1 with SHA-1, 20 octets, trailer 1. A default that is
/// written out all the same is understood. MGF1 has to use the same hash: no signer needs another,
/// and the two back ends agree on nothing else.
pub(super) fn pss_parameters(parameters: &Element<'_>) -> Option<(HashAlgorithm, u16)> {
    let mut fields = parameters.elements_of(Tag::Sequence)?;
    let mut field = |number| match fields.optional(context(number, true)) {
        Some(field) => Element::parse(field.value()).map(Some),
        None => Some(None),
    };
    let (hash, mask, salt, trailer) = (field(0)?, field(1)?, field(2)?, field(3)?);
    if !fields.is_empty() {
        return None;
    }
    let hash = match hash {
        Some(hash) => HashAlgorithm::from_element(&hash)?,
        None => HashAlgorithm::Sha1,
    };
    let mask_hash = match mask {
        Some(mask) => {
            let mask = AlgorithmIdentifier::read(&mask).filter(|mask| mask.oid == MGF1)?;
            HashAlgorithm::from_element(&mask.parameters?)?
        }
        None => HashAlgorithm::Sha1,
    };
    let salt = salt.map_or(Some(20), |salt| salt.small())?;
    let trailer = trailer.map_or(Some(1), |trailer| trailer.small())?;
    (hash == mask_hash && trailer == 1).then_some((hash, u16::try_from(salt).ok()?))
}

/// `RSA with sha256`, `RSA-PSS with sha256`, `ECDSA with sha256`, `Ed25519`.
impl fmt::Display for SignatureScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RsaPkcs1 { hash } => write!(f, "RSA with {hash}"),
            Self::RsaPss { hash, .. } => write!(f, "RSA-PSS with {hash}"),
            Self::Ecdsa { hash } => write!(f, "ECDSA with {hash}"),
            Self::Ed25519 => f.write_str("Ed25519"),
        }
    }
}
