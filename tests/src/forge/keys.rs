//! Keys that are the same in every run, and signatures that are too.
//!
//! What it is: P-256, P-384, P-521 and Ed25519 keys derived from labels, the RSA keys of
//! `tests/vectors/forge`, and every signature scheme the cases need, ECDSA by RFC 6979 and PSS with a salt
//! that is a function of the message. What it isn't: safe. All of these keys are public.

use p256::ecdsa::signature::hazmat::PrehashSigner;
use p256::elliptic_curve::bigint::modular::{BoxedMontyForm, BoxedMontyParams};
use p256::elliptic_curve::bigint::{BoxedUint, Odd};
use rsa::pkcs8::DecodePrivateKey;
use rsa::traits::{PrivateKeyParts, PublicKeyParts};
use sha2::Digest;

use super::raw::{algorithm, bits, context, null, number, oid, sequence, unsigned};

/// A digest algorithm.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Hash {
    /// SHA-1, which a verifier refuses unless told otherwise.
    Sha1,
    /// SHA-224, which a verifier refuses.
    Sha224,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

impl Hash {
    /// Its object identifier, dotted.
    #[must_use]
    pub const fn dotted(self) -> &'static str {
        match self {
            Self::Sha1 => "1.3.14.3.2.26",
            Self::Sha224 => "2.16.840.1.101.3.4.2.4",
            Self::Sha256 => "2.16.840.1.101.3.4.2.1",
            Self::Sha384 => "2.16.840.1.101.3.4.2.2",
            Self::Sha512 => "2.16.840.1.101.3.4.2.3",
        }
    }

    /// Its name in lower case: `sha256`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sha1 => "sha1",
            Self::Sha224 => "sha224",
            Self::Sha256 => "sha256",
            Self::Sha384 => "sha384",
            Self::Sha512 => "sha512",
        }
    }

    /// Its `AlgorithmIdentifier` without parameters (RFC 5754 section 2).
    #[must_use]
    pub fn identifier(self) -> Vec<u8> {
        algorithm(self.dotted(), None)
    }

    /// Its `AlgorithmIdentifier` with NULL parameters, which RFC 5754 section 2 says to accept.
    #[must_use]
    pub fn identifier_with_null(self) -> Vec<u8> {
        algorithm(self.dotted(), Some(null()))
    }

    /// The digest of `message`.
    #[must_use]
    pub fn digest(self, message: &[u8]) -> Vec<u8> {
        match self {
            Self::Sha1 => sha1::Sha1::digest(message).to_vec(),
            Self::Sha224 => sha2::Sha224::digest(message).to_vec(),
            Self::Sha256 => sha2::Sha256::digest(message).to_vec(),
            Self::Sha384 => sha2::Sha384::digest(message).to_vec(),
            Self::Sha512 => sha2::Sha512::digest(message).to_vec(),
        }
    }
}

/// A way to sign.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scheme {
    /// RSASSA-PKCS1-v1_5 (RFC 8017 section 8.2).
    Pkcs1(Hash),
    /// RSASSA-PSS (RFC 8017 section 8.1).
    Pss {
        /// The digest of the message.
        hash: Hash,
        /// The digest within MGF1.
        mgf: Hash,
        /// The salt's length in octets.
        salt: u8,
    },
    /// ECDSA (FIPS 186-5) over this digest.
    Ecdsa(Hash),
    /// Ed25519 (RFC 8032).
    Ed25519,
}

impl Scheme {
    /// PSS as RFC 5754 and RFC 8017 recommend it: one digest, a salt of its length.
    #[must_use]
    pub const fn pss(hash: Hash) -> Self {
        let salt = match hash {
            Hash::Sha1 => 20,
            Hash::Sha224 => 28,
            Hash::Sha256 => 32,
            Hash::Sha384 => 48,
            Hash::Sha512 => 64,
        };
        Self::Pss { hash, mgf: hash, salt }
    }

    /// The object identifier of the signature algorithm, dotted.
    #[must_use]
    pub const fn dotted(self) -> &'static str {
        match self {
            Self::Pkcs1(Hash::Sha1) => "1.2.840.113549.1.1.5",
            Self::Pkcs1(Hash::Sha224) => "1.2.840.113549.1.1.14",
            Self::Pkcs1(Hash::Sha256) => "1.2.840.113549.1.1.11",
            Self::Pkcs1(Hash::Sha384) => "1.2.840.113549.1.1.12",
            Self::Pkcs1(Hash::Sha512) => "1.2.840.113549.1.1.13",
            Self::Pss { .. } => "1.2.840.113549.1.1.10",
            Self::Ecdsa(Hash::Sha1) => "1.2.840.10045.4.1",
            Self::Ecdsa(Hash::Sha224) => "1.2.840.10045.4.3.1",
            Self::Ecdsa(Hash::Sha256) => "1.2.840.10045.4.3.2",
            Self::Ecdsa(Hash::Sha384) => "1.2.840.10045.4.3.3",
            Self::Ecdsa(Hash::Sha512) => "1.2.840.10045.4.3.4",
            Self::Ed25519 => "1.3.101.112",
        }
    }

    /// The `AlgorithmIdentifier` of the signature.
    #[must_use]
    pub fn identifier(self) -> Vec<u8> {
        let parameters = match self {
            Self::Pkcs1(_) => Some(null()),
            Self::Pss { hash, mgf, salt } => Some(pss_parameters(
                &hash.identifier_with_null(),
                &mgf.identifier_with_null(),
                salt,
                None,
            )),
            Self::Ecdsa(_) | Self::Ed25519 => None,
        };
        algorithm(self.dotted(), parameters)
    }

    /// The digest that the signed attributes go with. Ed25519: SHA-512 (RFC 8419 section 3.1).
    #[must_use]
    pub const fn digest(self) -> Hash {
        match self {
            Self::Pkcs1(hash) | Self::Pss { hash, .. } | Self::Ecdsa(hash) => hash,
            Self::Ed25519 => Hash::Sha512,
        }
    }
}

/// `RSASSA-PSS-params` (RFC 4055 section 3.1) from the two hash algorithm identifiers.
#[must_use]
pub fn pss_parameters(hash: &[u8], mgf_hash: &[u8], salt: u8, trailer: Option<u64>) -> Vec<u8> {
    let mgf1 = sequence([oid("1.2.840.113549.1.1.8"), mgf_hash.to_vec()]);
    sequence([
        context(0, hash),
        context(1, mgf1),
        context(2, number(salt.into())),
        trailer.map(|field| context(3, number(field))).unwrap_or_default(),
    ])
}

/// A private key.
#[derive(Debug)]
pub enum Key {
    /// On P-256.
    P256(p256::ecdsa::SigningKey),
    /// On P-384.
    P384(p384::ecdsa::SigningKey),
    /// On P-521.
    P521(p521::ecdsa::SigningKey),
    /// Ed25519.
    Ed25519(ed25519_dalek::SigningKey),
    /// RSA of any size.
    Rsa(Box<rsa::PrivateKey>),
}

#[allow(clippy::expect_used, reason = "labels and vectors are constants of the forge")]
impl Key {
    /// The P-256 key of this label.
    ///
    /// # Panics
    /// For a label whose hash is no scalar, which none of ours is.
    #[must_use]
    pub fn p256(label: &str) -> Self {
        let seed = Hash::Sha256.digest(label.as_bytes());
        Self::P256(p256::ecdsa::SigningKey::from_slice(&seed).expect("a scalar"))
    }

    /// The P-384 key of this label.
    ///
    /// # Panics
    /// For a label whose hash is no scalar, which none of ours is.
    #[must_use]
    pub fn p384(label: &str) -> Self {
        let seed = Hash::Sha384.digest(label.as_bytes());
        Self::P384(p384::ecdsa::SigningKey::from_slice(&seed).expect("a scalar"))
    }

    /// The P-521 key of this label.
    ///
    /// # Panics
    /// Never: the two highest octets are zero, so the number is below the order.
    #[must_use]
    pub fn p521(label: &str) -> Self {
        let mut seed = vec![0, 0];
        seed.extend(Hash::Sha512.digest(label.as_bytes()));
        Self::P521(p521::ecdsa::SigningKey::from_slice(&seed).expect("a scalar"))
    }

    /// The Ed25519 key of this label.
    #[must_use]
    pub fn ed25519(label: &str) -> Self {
        let mut seed = [0; 32];
        for (to, from) in seed.iter_mut().zip(Hash::Sha256.digest(label.as_bytes())) {
            *to = from;
        }
        Self::Ed25519(ed25519_dalek::SigningKey::from_bytes(&seed))
    }

    /// The RSA key in this PEM text (PKCS #8).
    ///
    /// # Panics
    /// When there is none in it.
    #[must_use]
    pub fn rsa(pem: &str) -> Self {
        let (_, der) = pem_rfc7468::decode_vec(pem.as_bytes()).expect("PEM");
        Self::Rsa(Box::new(rsa::PrivateKey::from_pkcs8_der(&der).expect("an RSA key")))
    }

    /// `SubjectPublicKeyInfo`.
    #[must_use]
    pub fn spki(&self) -> Vec<u8> {
        let ec = |curve| algorithm("1.2.840.10045.2.1", Some(oid(curve)));
        let identifier = match self {
            Self::P256(_) => ec("1.2.840.10045.3.1.7"),
            Self::P384(_) => ec("1.3.132.0.34"),
            Self::P521(_) => ec("1.3.132.0.35"),
            Self::Ed25519(_) => algorithm("1.3.101.112", None),
            Self::Rsa(_) => algorithm("1.2.840.113549.1.1.1", Some(null())),
        };
        sequence([identifier, bits(self.public_octets())])
    }

    /// The octets of subjectPublicKey.
    #[must_use]
    pub fn public_octets(&self) -> Vec<u8> {
        match self {
            Self::P256(key) => key.verifying_key().to_sec1_point(false).as_bytes().to_vec(),
            Self::P384(key) => key.verifying_key().to_sec1_point(false).as_bytes().to_vec(),
            Self::P521(key) => key.verifying_key().to_sec1_point(false).as_bytes().to_vec(),
            Self::Ed25519(key) => key.verifying_key().as_bytes().to_vec(),
            Self::Rsa(key) => sequence([
                unsigned(&key.n().as_ref().to_be_bytes()),
                unsigned(&key.e().to_be_bytes()),
            ]),
        }
    }

    /// The scheme this key signs certificates with.
    #[must_use]
    pub const fn scheme(&self) -> Scheme {
        match self {
            Self::P256(_) => Scheme::Ecdsa(Hash::Sha256),
            Self::P384(_) => Scheme::Ecdsa(Hash::Sha384),
            Self::P521(_) => Scheme::Ecdsa(Hash::Sha512),
            Self::Ed25519(_) => Scheme::Ed25519,
            Self::Rsa(_) => Scheme::Pkcs1(Hash::Sha256),
        }
    }

    /// The signature over `message`.
    ///
    /// # Panics
    /// When the scheme isn't one of the key's kind.
    #[must_use]
    #[allow(clippy::panic, reason = "the forge picks key and scheme together")]
    pub fn sign(&self, scheme: Scheme, message: &[u8]) -> Vec<u8> {
        use ed25519_dalek::Signer;
        match (self, scheme) {
            (Self::Ed25519(key), Scheme::Ed25519) => key.sign(message).to_bytes().to_vec(),
            (Self::P256(key), Scheme::Ecdsa(hash)) => {
                let signature: p256::ecdsa::Signature =
                    key.sign_prehash(&hash.digest(message)).expect("a digest long enough");
                signature.to_der().as_bytes().to_vec()
            }
            (Self::P384(key), Scheme::Ecdsa(hash)) => {
                let signature: p384::ecdsa::Signature =
                    key.sign_prehash(&hash.digest(message)).expect("a digest long enough");
                signature.to_der().as_bytes().to_vec()
            }
            (Self::P521(key), Scheme::Ecdsa(hash)) => {
                let signature: p521::ecdsa::Signature =
                    key.sign_prehash(&hash.digest(message)).expect("a digest long enough");
                signature.to_der().as_bytes().to_vec()
            }
            (Self::Rsa(key), Scheme::Pkcs1(hash)) => {
                rsa_power(key, &pkcs1_block(key, hash, message))
            }
            (Self::Rsa(key), Scheme::Pss { hash, mgf, salt }) => {
                rsa_power(key, &pss_block(key, hash, mgf, salt, message))
            }
            _ => panic!("{scheme:?} is not for this key"),
        }
    }

    /// An RSA signature over this block, padded as the caller likes; shorter blocks get zeroes in front.
    /// `None` for other keys.
    #[must_use]
    pub fn sign_block(&self, block: &[u8]) -> Option<Vec<u8>> {
        let Self::Rsa(key) = self else { return None };
        Some(rsa_power(key, block))
    }

    /// The size of an RSA modulus in octets; `None` for other keys.
    #[must_use]
    pub fn modulus_octets(&self) -> Option<usize> {
        let Self::Rsa(key) = self else { return None };
        Some(key.size())
    }
}

/// The block raised to the private exponent: RSASP1 of RFC 8017 section 5.2.1, done here so that blocks
/// that no signing interface would pad can be signed too.
#[allow(clippy::expect_used, reason = "the key's own modulus")]
fn rsa_power(key: &rsa::PrivateKey, block: &[u8]) -> Vec<u8> {
    let modulus = key.n().as_ref();
    let base =
        BoxedUint::from_be_slice(block, modulus.bits_precision()).expect("a block that fits");
    let odd = Odd::new(modulus.clone()).into_option().expect("an odd modulus");
    let power = BoxedMontyForm::new(base, &BoxedMontyParams::new_vartime(odd)).pow(key.d());
    let bytes = power.retrieve().to_be_bytes().to_vec();
    let excess = bytes.len().saturating_sub(key.size());
    bytes.into_iter().skip(excess).collect()
}

/// EMSA-PKCS1-v1_5 (RFC 8017 section 9.2).
fn pkcs1_block(key: &rsa::PrivateKey, hash: Hash, message: &[u8]) -> Vec<u8> {
    let info = sequence([hash.identifier_with_null(), super::raw::octets(hash.digest(message))]);
    let mut block = vec![0, 1];
    block.resize(key.size().saturating_sub(info.len() + 1), 0xff);
    block.push(0);
    block.extend(info);
    block
}

/// EMSA-PSS (RFC 8017 section 9.1.1) for moduli of whole octets.
fn pss_block(key: &rsa::PrivateKey, hash: Hash, mgf: Hash, salt: u8, message: &[u8]) -> Vec<u8> {
    let digest = hash.digest(message);
    let salt: Vec<u8> = mask(Hash::Sha256, &digest, salt.into());
    let h = hash.digest(&[[0; 8].as_slice(), &digest, &salt].concat());
    let mut db = vec![0; key.size().saturating_sub(salt.len() + h.len() + 2)];
    db.push(1);
    db.extend(&salt);
    for (octet, mask) in db.iter_mut().zip(mask(mgf, &h, key.size())) {
        *octet ^= mask;
    }
    if let Some(first) = db.first_mut() {
        *first &= 0x7f;
    }
    [db, h, vec![0xbc]].concat()
}

/// MGF1 (RFC 8017 section B.2.1).
fn mask(hash: Hash, seed: &[u8], octets: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut counter = 0_u32;
    while out.len() < octets {
        out.extend(hash.digest(&[seed, &counter.to_be_bytes()].concat()));
        counter += 1;
    }
    out.truncate(octets);
    out
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::Verifier as _;
    use p256::ecdsa::signature::hazmat::PrehashVerifier as _;
    use rsa::{Pkcs1v15Sign, Pss};

    use super::*;

    #[test]
    fn libraries_accept_what_is_padded_here() {
        let key = Key::rsa(super::super::world::RSA_2048);
        let Key::Rsa(private) = &key else { panic!("RSA") };
        let public = private.to_public_key();
        let digest = Hash::Sha384.digest(b"message");
        let signature = key.sign(Scheme::Pkcs1(Hash::Sha384), b"message");
        public.verify(Pkcs1v15Sign::new::<sha2::Sha384>(), &digest, &signature).unwrap();
        let signature = key.sign(Scheme::pss(Hash::Sha384), b"message");
        public.verify(Pss::<sha2::Sha384>::new(), &digest, &signature).unwrap();
        assert_eq!(signature, key.sign(Scheme::pss(Hash::Sha384), b"message"));
    }

    #[test]
    fn curves_sign_what_they_are_given() {
        let Key::P521(key) = Key::p521("test") else { panic!("P-521") };
        let signature = Key::p521("test").sign(Scheme::Ecdsa(Hash::Sha384), b"message");
        let signature = p521::ecdsa::Signature::from_der(&signature).unwrap();
        let digest = Hash::Sha384.digest(b"message");
        key.verifying_key().verify_prehash(&digest, &signature).unwrap();
        let Key::Ed25519(key) = Key::ed25519("test") else { panic!("Ed25519") };
        let signature = Key::ed25519("test").sign(Scheme::Ed25519, b"message");
        let signature = ed25519_dalek::Signature::from_slice(&signature).unwrap();
        key.verifying_key().verify(b"message", &signature).unwrap();
    }
}
