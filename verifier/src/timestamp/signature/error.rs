//! Why a signature doesn't count.

use anchorlog_proto::timestamp::HashAlgorithm;
use anchorlog_proto::timestamp::ObjectIdentifier;

use crate::codes::Code;
use crate::codes::timestamp::{ALG, SIG};

/// Why a signature, its algorithm or its key is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// A hash below the floor: SHA-1 where nothing allows it.
    #[error("{hash} is not accepted in a signature")]
    Digest {
        /// The hash.
        hash: HashAlgorithm,
    },
    /// The `AlgorithmIdentifier` isn't of its form.
    #[error("the signature algorithm isn't of its form")]
    Form,
    /// The signature is not one of this key over these bytes.
    #[error("the signature does not verify")]
    Invalid,
    /// The key isn't of its form, or not of the kind that the algorithm uses.
    #[error("the key does not fit the signature algorithm")]
    Key,
    /// An RSA key that is too short or too long.
    #[error("an RSA key of {bits} bits, where 2048 to 8192 are accepted")]
    KeySize {
        /// Bits of the modulus.
        bits: usize,
    },
    /// The digest algorithm beside the signature algorithm isn't the one it uses.
    #[error("the digest algorithm is {stated}, and the signature algorithm uses {used}")]
    Mismatch {
        /// The digest algorithm beside it.
        stated: HashAlgorithm,
        /// What the signature algorithm uses.
        used: HashAlgorithm,
    },
    /// Parameters where none belong, or others than the algorithm allows.
    #[error("the parameters of the signature algorithm are not allowed")]
    Parameters,
    /// An algorithm that isn't known.
    #[error("the signature algorithm {oid} is not known")]
    Unknown {
        /// Its identifier.
        oid: ObjectIdentifier,
    },
}

impl SignatureError {
    /// The stable code of a report.
    #[must_use]
    pub const fn code(&self) -> Code {
        if matches!(self, Self::Invalid) { SIG } else { ALG }
    }

    /// The stable reason beneath the code.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Digest { .. } => "algorithm.digest",
            Self::Form | Self::Unknown { .. } => "algorithm.signature",
            Self::Invalid => "signature.invalid",
            Self::Key => "algorithm.key",
            Self::KeySize { .. } => "algorithm.key-size",
            Self::Mismatch { .. } => "algorithm.mismatch",
            Self::Parameters => "algorithm.parameters",
        }
    }
}
