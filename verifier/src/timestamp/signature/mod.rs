//! Signatures of tokens, certificates, CRLs and OCSP responses.
//!
//! What it is: which algorithms there are ([`SignatureScheme`]), which keys they accept, and the
//! verification. The floor is fixed: SHA-256, SHA-384 or SHA-512; RSA of 2048 to 8192 bits, P-256,
//! P-384, P-521 or Ed25519. SHA-1 counts only where the caller says [`Sha1::Allowed`].
//!
//! What it is not: nothing here knows certificates. Keys come as the received
//! `SubjectPublicKeyInfo`, algorithms as the received `AlgorithmIdentifier`.
//!
//! The forms of keys, parameters and signatures are judged here, once; only the mathematics is
//! somebody else's: that of the crates of `RustCrypto`, or AWS-LC's with the cargo feature
//! `aws-lc`. Both say the same about every input: where AWS-LC cannot do something (a PSS salt that
//! isn't as long as the digest, P-384 with SHA-1) the other does it.

#[cfg(feature = "aws-lc")]
mod aws_lc;
mod error;
mod key;
mod rustcrypto;
mod scheme;

#[cfg(test)]
mod tests;

use anchorlog_proto::timestamp::HashAlgorithm;
use anchorlog_proto::timestamp::element::Element;
use der::Tag;

pub use error::SignatureError;
pub use scheme::{Sha1, SignatureScheme};

pub(super) use key::whole_octets;

use key::{Curve, EcKey, PublicKey, RsaKey};

#[cfg(feature = "aws-lc")]
use aws_lc::AwsLc as Chosen;
#[cfg(not(feature = "aws-lc"))]
use rustcrypto::RustCrypto as Chosen;

/// Who does the mathematics. Inputs are of their form; what is left to find is a key that is no key
/// ([`SignatureError::Key`]) and a signature that isn't one ([`SignatureError::Invalid`]).
trait Backend {
    fn rsa_pkcs1(
        key: &RsaKey<'_>,
        hash: HashAlgorithm,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), SignatureError>;

    fn rsa_pss(
        key: &RsaKey<'_>,
        hash: HashAlgorithm,
        salt: u16,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), SignatureError>;

    fn ecdsa(
        key: &EcKey<'_>,
        hash: HashAlgorithm,
        message: &[u8],
        signature: &EcdsaSignature<'_>,
    ) -> Result<(), SignatureError>;

    /// The key is canonical and not of small order, and so is the signature's first half.
    fn ed25519(key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> Result<(), SignatureError>;
}

/// A signature of ECDSA: strict DER, both numbers above zero and as short as the curve's.
struct EcdsaSignature<'a> {
    #[cfg_attr(not(feature = "aws-lc"), allow(dead_code, reason = "only AWS-LC wants the DER"))]
    der: &'a [u8],
    r: &'a [u8],
    s: &'a [u8],
}

impl<'a> EcdsaSignature<'a> {
    fn read(der: &'a [u8], curve: Curve) -> Option<Self> {
        let mut numbers = Element::parse(der)?.elements_of(Tag::Sequence)?;
        let number = |element: Element<'a>| {
            element.unsigned().filter(|octets| octets.len() <= curve.octets() && *octets != [0])
        };
        let (r, s) = (number(numbers.next()?)?, number(numbers.next()?)?);
        numbers.is_empty().then_some(Self { der, r, s })
    }
}

impl SignatureScheme {
    /// Verifies a signature over `message` (which is hashed here) under a `SubjectPublicKeyInfo`.
    pub fn verify(
        self,
        key: &Element<'_>,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), SignatureError> {
        self.verify_by::<Chosen>(key, message, signature)
    }

    fn verify_by<B: Backend>(
        self,
        key: &Element<'_>,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), SignatureError> {
        match (self, PublicKey::read(key)?) {
            (Self::RsaPkcs1 { hash }, PublicKey::Rsa(key)) if key.is_general() => {
                key.check_length(signature)?;
                B::rsa_pkcs1(&key, hash, message, signature)
            }
            (Self::RsaPss { hash, salt }, PublicKey::Rsa(key)) if key.allows_pss(hash, salt) => {
                key.check_length(signature)?;
                B::rsa_pss(&key, hash, salt, message, signature)
            }
            (Self::Ecdsa { hash }, PublicKey::Ec(key)) => {
                let signature = EcdsaSignature::read(signature, key.curve);
                B::ecdsa(&key, hash, message, &signature.ok_or(SignatureError::Invalid)?)
            }
            (Self::Ed25519, PublicKey::Ed25519(key)) => {
                let signature = signature.try_into().map_err(|_| SignatureError::Invalid)?;
                key::check_ed25519(key, signature)?;
                B::ed25519(key, message, signature)
            }
            _ => Err(SignatureError::Key),
        }
    }
}
