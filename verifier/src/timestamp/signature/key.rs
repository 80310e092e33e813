//! Public keys: a `SubjectPublicKeyInfo` taken apart, and which keys are accepted.

use anchorlog_proto::timestamp::ObjectIdentifier;
use anchorlog_proto::timestamp::element::Element;
use anchorlog_proto::timestamp::{AlgorithmIdentifier, HashAlgorithm};
use der::Tag;

use super::SignatureError;
use super::scheme::{ED25519, RSA_ENCRYPTION, RSASSA_PSS, pss_parameters};

/// `id-ecPublicKey` (RFC 5480 section 2.1.1).
const EC_PUBLIC_KEY: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");

/// Bits of an RSA modulus that are accepted.
const RSA_BITS: core::ops::RangeInclusive<usize> = 2048..=8192;
/// The largest RSA exponent that is accepted; no real one comes near, and larger ones only cost
/// time.
const MAX_RSA_EXPONENT: u64 = (1 << 33) - 1;

/// A key whose form is right.
#[derive(Debug)]
pub(super) enum PublicKey<'a> {
    Rsa(RsaKey<'a>),
    Ec(EcKey<'a>),
    Ed25519(&'a [u8; 32]),
}

#[derive(Debug)]
pub(super) struct RsaKey<'a> {
    /// The `RSAPublicKey`, as received.
    #[cfg_attr(not(feature = "aws-lc"), allow(dead_code, reason = "only AWS-LC wants the DER"))]
    pub(super) der: &'a [u8],
    /// Without a leading zero octet; odd.
    pub(super) modulus: &'a [u8],
    /// Odd, from 3 to 2^33 - 1.
    pub(super) exponent: u64,
    use_of: RsaUse,
}

/// What an RSA key is for (RFC 4055 section 1.2).
#[derive(Clone, Copy, Debug)]
enum RsaUse {
    /// `rsaEncryption`: both paddings.
    General,
    /// `id-RSASSA-PSS`: PSS alone, and if parameters are stated, with this hash and at least this
    /// much salt.
    Pss(Option<(HashAlgorithm, u16)>),
}

#[derive(Debug)]
pub(super) struct EcKey<'a> {
    pub(super) curve: Curve,
    /// A point as SEC 1 writes it, uncompressed or compressed; not yet known to be on the curve.
    pub(super) point: &'a [u8],
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Curve {
    P256,
    P384,
    P521,
}

impl Curve {
    const ALL: [(Self, ObjectIdentifier); 3] = [
        (Self::P256, ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7")),
        (Self::P384, ObjectIdentifier::new_unwrap("1.3.132.0.34")),
        (Self::P521, ObjectIdentifier::new_unwrap("1.3.132.0.35")),
    ];

    /// Octets of a coordinate, and of a scalar.
    pub(super) const fn octets(self) -> usize {
        match self {
            Self::P256 => 32,
            Self::P384 => 48,
            Self::P521 => 66,
        }
    }
}

impl<'a> PublicKey<'a> {
    pub(super) fn read(key: &Element<'a>) -> Result<Self, SignatureError> {
        let (identifier, bits) = parts(key).ok_or(SignatureError::Key)?;
        let use_of = match (identifier.oid, identifier.parameters) {
            (RSA_ENCRYPTION, _) if identifier.is_plain() => RsaUse::General,
            (RSASSA_PSS, None) => RsaUse::Pss(None),
            (RSASSA_PSS, Some(parameters)) => {
                RsaUse::Pss(Some(pss_parameters(&parameters).ok_or(SignatureError::Key)?))
            }
            (EC_PUBLIC_KEY, Some(curve)) => return EcKey::read(&curve, bits).map(Self::Ec),
            (ED25519, None) => {
                return bits.try_into().map(Self::Ed25519).map_err(|_| SignatureError::Key);
            }
            _ => return Err(SignatureError::Key),
        };
        RsaKey::read(bits, use_of).map(Self::Rsa)
    }
}

fn parts<'a>(key: &Element<'a>) -> Option<(AlgorithmIdentifier<'a>, &'a [u8])> {
    let mut fields = key.elements_of(Tag::Sequence)?;
    let identifier = AlgorithmIdentifier::read(&fields.next()?)?;
    let bits = whole_octets(&fields.next()?)?;
    fields.is_empty().then_some((identifier, bits))
}

/// The octets of a BIT STRING without unused bits.
pub(in crate::timestamp) fn whole_octets<'a>(element: &Element<'a>) -> Option<&'a [u8]> {
    match element.value() {
        [0, octets @ ..] if element.tag() == Tag::BitString => Some(octets),
        _ => None,
    }
}

impl<'a> RsaKey<'a> {
    fn read(der: &'a [u8], use_of: RsaUse) -> Result<Self, SignatureError> {
        let numbers = || {
            let mut numbers = Element::parse(der)?.elements_of(Tag::Sequence)?;
            let modulus = numbers.next()?.unsigned()?;
            let exponent = numbers.next()?.small()?;
            numbers.is_empty().then_some((modulus, exponent))
        };
        let (modulus, exponent) = numbers().ok_or(SignatureError::Key)?;
        let key = Self { der, modulus, exponent, use_of };
        if !RSA_BITS.contains(&key.bits()) {
            return Err(SignatureError::KeySize { bits: key.bits() });
        }
        let odd = modulus.last().is_some_and(|last| last % 2 == 1) && exponent % 2 == 1;
        if odd && (3..=MAX_RSA_EXPONENT).contains(&exponent) {
            Ok(key)
        } else {
            Err(SignatureError::Key)
        }
    }

    fn bits(&self) -> usize {
        let zeros = self.modulus.first().map_or(0, |first| first.leading_zeros());
        (self.modulus.len() * 8).saturating_sub(usize::try_from(zeros).unwrap_or(0))
    }

    pub(super) const fn is_general(&self) -> bool {
        matches!(self.use_of, RsaUse::General)
    }

    /// Whether the key may be used with this hash and salt, and has room for them
    /// (RFC 8017 section 9.1.2 step 3).
    pub(super) fn allows_pss(&self, hash: HashAlgorithm, salt: u16) -> bool {
        let room = (self.bits() - 1).div_ceil(8) >= hash.length() + usize::from(salt) + 2;
        room && match self.use_of {
            RsaUse::General | RsaUse::Pss(None) => true,
            RsaUse::Pss(Some((only, least))) => hash == only && salt >= least,
        }
    }

    /// RFC 8017 sections 8.1.2 and 8.2.2, step 1: a signature is as long as the modulus.
    pub(super) fn check_length(&self, signature: &[u8]) -> Result<(), SignatureError> {
        if signature.len() == self.modulus.len() { Ok(()) } else { Err(SignatureError::Invalid) }
    }
}

impl<'a> EcKey<'a> {
    /// Named curves only: explicit parameters let a forger choose the generator.
    fn read(parameters: &Element<'_>, point: &'a [u8]) -> Result<Self, SignatureError> {
        let oid = parameters.oid().ok_or(SignatureError::Key)?;
        let (curve, _) =
            Curve::ALL.into_iter().find(|(_, known)| *known == oid).ok_or(SignatureError::Key)?;
        match point {
            [4, coordinates @ ..] if coordinates.len() == 2 * curve.octets() => {}
            [2 | 3, x @ ..] if x.len() == curve.octets() => {}
            _ => return Err(SignatureError::Key),
        }
        Ok(Self { curve, point })
    }
}

/// The strict rules of Ed25519, on which implementations differ unless somebody sees to them: the
/// key is encoded canonically, and neither it nor the signature's R is of small order (with such a
/// key one signature fits many messages).
pub(super) fn check_ed25519(key: &[u8; 32], signature: &[u8; 64]) -> Result<(), SignatureError> {
    use ed25519_dalek::VerifyingKey;

    let point = VerifyingKey::from_bytes(key).map_err(|_| SignatureError::Key)?;
    if point.is_weak() || !is_reduced(key) {
        return Err(SignatureError::Key);
    }
    // R is a point like the key, and the library only tells of keys whether they are of small
    // order.
    let r = signature.first_chunk().and_then(|r| VerifyingKey::from_bytes(r).ok());
    if r.is_some_and(|r| !r.is_weak()) { Ok(()) } else { Err(SignatureError::Invalid) }
}

/// Whether the y coordinate is below 2^255 - 19.
fn is_reduced(point: &[u8; 32]) -> bool {
    let [low, middle @ .., high] = point;
    *low < 0xed || high & 0x7f != 0x7f || middle.iter().any(|octet| *octet != 0xff)
}
