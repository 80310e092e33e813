//! The private keys of the authority: making, storing, and what goes with each kind.

use std::fmt;

use const_oid::db::rfc5912::{ID_SHA_256, ID_SHA_512};
use der::pem::LineEnding;
use ed25519_dalek::pkcs8::KeypairBytes;
use p256::pkcs8::{DecodePrivateKey as _, EncodePrivateKey as _};
use spki::{
    AlgorithmIdentifierOwned, DynSignatureAlgorithmIdentifier as _, SubjectPublicKeyInfoOwned,
};
use zeroize::Zeroizing;

use super::DevTsaError;

/// The kinds of keys that tokens can be signed with.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, clap::ValueEnum)]
#[non_exhaustive]
pub enum SignerKind {
    /// ECDSA on P-256 with SHA-256 (RFC 5754). Every verifier knows it.
    #[default]
    P256,
    /// Ed25519 with SHA-512 (RFC 8419). OpenSSL 3.0 can't verify its tokens.
    Ed25519,
}

impl fmt::Display for SignerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::P256 => "p256",
            Self::Ed25519 => "ed25519",
        })
    }
}

/// A private key. Its memory is wiped when it is dropped.
pub(super) enum Key {
    P256(p256::ecdsa::SigningKey),
    Ed25519(ed25519_dalek::SigningKey),
}

impl Key {
    /// Draws a key from the system's random source.
    pub(super) fn generate(kind: SignerKind) -> Result<Self, DevTsaError> {
        loop {
            let mut seed = Zeroizing::new([0; 32]);
            getrandom::fill(seed.as_mut_slice()).map_err(|_| DevTsaError::Random)?;
            match kind {
                SignerKind::Ed25519 => {
                    return Ok(Self::Ed25519(ed25519_dalek::SigningKey::from_bytes(&seed)));
                }
                // One number in 2^32 isn't a scalar of the curve; then another one is drawn.
                SignerKind::P256 => {
                    if let Ok(key) = p256::ecdsa::SigningKey::from_slice(seed.as_slice()) {
                        return Ok(Self::P256(key));
                    }
                }
            }
        }
    }

    /// Reads PKCS#8 PEM.
    pub(super) fn from_pem(kind: SignerKind, pem: &str) -> Option<Self> {
        match kind {
            SignerKind::P256 => p256::ecdsa::SigningKey::from_pkcs8_pem(pem).ok().map(Self::P256),
            SignerKind::Ed25519 => {
                ed25519_dalek::SigningKey::from_pkcs8_pem(pem).ok().map(Self::Ed25519)
            }
        }
    }

    /// Writes PKCS#8 PEM, as OpenSSL reads it.
    pub(super) fn to_pem(&self) -> Result<Zeroizing<String>, DevTsaError> {
        match self {
            Self::P256(key) => key.to_pkcs8_pem(LineEnding::LF),
            // Version 1, without the public key: OpenSSL 3.0 doesn't read version 2.
            Self::Ed25519(key) => KeypairBytes { secret_key: key.to_bytes(), public_key: None }
                .to_pkcs8_pem(LineEnding::LF),
        }
        .map_err(|_| DevTsaError::Pkcs8)
    }

    /// The public key as certificates carry it.
    pub(super) fn public(&self) -> Result<SubjectPublicKeyInfoOwned, DevTsaError> {
        let public = match self {
            Self::P256(key) => SubjectPublicKeyInfoOwned::from_key(key.verifying_key()),
            Self::Ed25519(key) => SubjectPublicKeyInfoOwned::from_key(&key.verifying_key()),
        };
        Ok(public.map_err(x509_cert::builder::Error::from)?)
    }

    /// The digest that goes into signed attributes beside this key: the one inside the signature
    /// algorithm (RFC 5754 section 3, RFC 8419 section 3.1). Without parameters (RFC 5754 section 2).
    pub(super) fn digest_algorithm(&self) -> AlgorithmIdentifierOwned {
        let oid = match self {
            Self::P256(_) => ID_SHA_256,
            Self::Ed25519(_) => ID_SHA_512,
        };
        AlgorithmIdentifierOwned { oid, parameters: None }
    }

    /// The signature algorithm, as it stands in a `SignerInfo`.
    pub(super) fn signature_algorithm(&self) -> Result<AlgorithmIdentifierOwned, DevTsaError> {
        let algorithm = match self {
            Self::P256(key) => key.signature_algorithm_identifier(),
            Self::Ed25519(key) => key.signature_algorithm_identifier(),
        };
        Ok(algorithm.map_err(x509_cert::builder::Error::from)?)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::P256(_) => "Key(p256)",
            Self::Ed25519(_) => "Key(ed25519)",
        })
    }
}
