//! The mathematics of AWS-LC.

use anchorlog_proto::timestamp::HashAlgorithm;
use aws_lc_rs::signature::{self as aws, ParsedPublicKey, VerificationAlgorithm};

use super::key::{Curve, EcKey, RsaKey};
use super::rustcrypto::RustCrypto;
use super::{Backend, EcdsaSignature, SignatureError};

pub(super) struct AwsLc;

impl Backend for AwsLc {
    fn rsa_pkcs1(
        key: &RsaKey<'_>,
        hash: HashAlgorithm,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), SignatureError> {
        let algorithm = match hash {
            HashAlgorithm::Sha1 => &aws::RSA_PKCS1_2048_8192_SHA1_FOR_LEGACY_USE_ONLY,
            HashAlgorithm::Sha256 => &aws::RSA_PKCS1_2048_8192_SHA256,
            HashAlgorithm::Sha384 => &aws::RSA_PKCS1_2048_8192_SHA384,
            HashAlgorithm::Sha512 => &aws::RSA_PKCS1_2048_8192_SHA512,
            _ => return RustCrypto::rsa_pkcs1(key, hash, message, signature),
        };
        verify(algorithm, key.der, message, signature)
    }

    /// AWS-LC's algorithms state the salt length once and for all: as long as the digest.
    fn rsa_pss(
        key: &RsaKey<'_>,
        hash: HashAlgorithm,
        salt: u16,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), SignatureError> {
        let algorithm = match (hash, salt) {
            (HashAlgorithm::Sha256, 32) => &aws::RSA_PSS_2048_8192_SHA256,
            (HashAlgorithm::Sha384, 48) => &aws::RSA_PSS_2048_8192_SHA384,
            (HashAlgorithm::Sha512, 64) => &aws::RSA_PSS_2048_8192_SHA512,
            _ => return RustCrypto::rsa_pss(key, hash, salt, message, signature),
        };
        verify(algorithm, key.der, message, signature)
    }

    fn ecdsa(
        key: &EcKey<'_>,
        hash: HashAlgorithm,
        message: &[u8],
        signature: &EcdsaSignature<'_>,
    ) -> Result<(), SignatureError> {
        let algorithm = match (key.curve, hash) {
            (Curve::P256, HashAlgorithm::Sha1) => &aws::ECDSA_P256_SHA1_ASN1,
            (Curve::P256, HashAlgorithm::Sha256) => &aws::ECDSA_P256_SHA256_ASN1,
            (Curve::P256, HashAlgorithm::Sha384) => &aws::ECDSA_P256_SHA384_ASN1,
            (Curve::P256, HashAlgorithm::Sha512) => &aws::ECDSA_P256_SHA512_ASN1,
            (Curve::P384, HashAlgorithm::Sha256) => &aws::ECDSA_P384_SHA256_ASN1,
            (Curve::P384, HashAlgorithm::Sha384) => &aws::ECDSA_P384_SHA384_ASN1,
            (Curve::P384, HashAlgorithm::Sha512) => &aws::ECDSA_P384_SHA512_ASN1,
            (Curve::P521, HashAlgorithm::Sha1) => &aws::ECDSA_P521_SHA1_ASN1,
            (Curve::P521, HashAlgorithm::Sha256) => &aws::ECDSA_P521_SHA256_ASN1,
            (Curve::P521, HashAlgorithm::Sha384) => &aws::ECDSA_P521_SHA384_ASN1,
            (Curve::P521, HashAlgorithm::Sha512) => &aws::ECDSA_P521_SHA512_ASN1,
            _ => return RustCrypto::ecdsa(key, hash, message, signature),
        };
        verify(algorithm, key.point, message, signature.der)
    }

    fn ed25519(key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> Result<(), SignatureError> {
        verify(&aws::ED25519, key, message, signature)
    }
}

fn verify(
    algorithm: &'static dyn VerificationAlgorithm,
    key: &[u8],
    message: &[u8],
    signature: &[u8],
) -> Result<(), SignatureError> {
    let key = ParsedPublicKey::new(algorithm, key).map_err(|_| SignatureError::Key)?;
    key.verify_sig(message, signature).map_err(|_| SignatureError::Invalid)
}
