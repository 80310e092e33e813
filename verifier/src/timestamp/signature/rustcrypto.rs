//! The mathematics of the crates of `RustCrypto`.

use anchorlog_proto::timestamp::HashAlgorithm;
use p256::ecdsa::signature::hazmat::PrehashVerifier;
use rsa::{BoxedUint, Pkcs1v15Sign, Pss};
use sha1::Sha1;
use sha2::{Sha256, Sha384, Sha512};

use super::key::{Curve, EcKey, RsaKey};
use super::{Backend, EcdsaSignature, SignatureError};

pub(super) struct RustCrypto;

impl Backend for RustCrypto {
    fn rsa_pkcs1(
        key: &RsaKey<'_>,
        hash: HashAlgorithm,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), SignatureError> {
        let padding = match hash {
            HashAlgorithm::Sha1 => Pkcs1v15Sign::new::<Sha1>(),
            HashAlgorithm::Sha256 => Pkcs1v15Sign::new::<Sha256>(),
            HashAlgorithm::Sha384 => Pkcs1v15Sign::new::<Sha384>(),
            HashAlgorithm::Sha512 => Pkcs1v15Sign::new::<Sha512>(),
            _ => return Err(SignatureError::Digest { hash }),
        };
        rsa_key(key)?
            .verify(padding, &hash.digest(message), signature)
            .map_err(|_| SignatureError::Invalid)
    }

    fn rsa_pss(
        key: &RsaKey<'_>,
        hash: HashAlgorithm,
        salt: u16,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), SignatureError> {
        let (key, digest, salt) = (rsa_key(key)?, hash.digest(message), usize::from(salt));
        match hash {
            HashAlgorithm::Sha1 => key.verify(Pss::<Sha1>::new_with_salt(salt), &digest, signature),
            HashAlgorithm::Sha256 => {
                key.verify(Pss::<Sha256>::new_with_salt(salt), &digest, signature)
            }
            HashAlgorithm::Sha384 => {
                key.verify(Pss::<Sha384>::new_with_salt(salt), &digest, signature)
            }
            HashAlgorithm::Sha512 => {
                key.verify(Pss::<Sha512>::new_with_salt(salt), &digest, signature)
            }
            _ => return Err(SignatureError::Digest { hash }),
        }
        .map_err(|_| SignatureError::Invalid)
    }

    fn ecdsa(
        key: &EcKey<'_>,
        hash: HashAlgorithm,
        message: &[u8],
        signature: &EcdsaSignature<'_>,
    ) -> Result<(), SignatureError> {
        // A digest shorter than the curve's order stands for the number it is (FIPS 186-5 section
        // 6.4.2); written to full length here, so that nobody below has to know.
        let digest = padded(&hash.digest(message), key.curve.octets());
        let fixed: Vec<u8> = [signature.r, signature.s]
            .iter()
            .flat_map(|number| padded(number, key.curve.octets()))
            .collect();
        match key.curve {
            Curve::P256 => {
                use p256::ecdsa::{Signature, VerifyingKey};
                let key =
                    VerifyingKey::from_sec1_bytes(key.point).map_err(|_| SignatureError::Key)?;
                Signature::from_slice(&fixed)
                    .and_then(|signature| key.verify_prehash(&digest, &signature))
            }
            Curve::P384 => {
                use p384::ecdsa::{Signature, VerifyingKey};
                let key =
                    VerifyingKey::from_sec1_bytes(key.point).map_err(|_| SignatureError::Key)?;
                Signature::from_slice(&fixed)
                    .and_then(|signature| key.verify_prehash(&digest, &signature))
            }
            Curve::P521 => {
                use p521::ecdsa::{Signature, VerifyingKey};
                let key =
                    VerifyingKey::from_sec1_bytes(key.point).map_err(|_| SignatureError::Key)?;
                Signature::from_slice(&fixed)
                    .and_then(|signature| key.verify_prehash(&digest, &signature))
            }
        }
        .map_err(|_| SignatureError::Invalid)
    }

    fn ed25519(key: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> Result<(), SignatureError> {
        use ed25519_dalek::{Signature, VerifyingKey};

        VerifyingKey::from_bytes(key)
            .map_err(|_| SignatureError::Key)?
            .verify_strict(message, &Signature::from_bytes(signature))
            .map_err(|_| SignatureError::Invalid)
    }
}

fn rsa_key(key: &RsaKey<'_>) -> Result<rsa::PublicKey, SignatureError> {
    let modulus = BoxedUint::from_be_slice_vartime(key.modulus);
    rsa::PublicKey::new(modulus, BoxedUint::from(key.exponent)).map_err(|_| SignatureError::Key)
}

fn padded(number: &[u8], octets: usize) -> Vec<u8> {
    let zeros = octets.saturating_sub(number.len());
    core::iter::repeat_n(0, zeros).chain(number.iter().copied()).collect()
}
