//! Hash algorithms, and what a token is over.

use core::fmt;
use core::str::FromStr;

use der::Tag;
use sha2::Digest as _;

use super::element::Element;
use super::{ObjectIdentifier, TimestampError};
use crate::digest::Digest;
use crate::encoding::{hex_decode, hex_encode};

/// A hash algorithm that time stamps use (RFC 5754; SHA-1 for what is older).
///
/// Which of them are accepted where is the verifier's policy; this type only knows them.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum HashAlgorithm {
    /// SHA-1. Broken for everything but the identification of certificates.
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512.
    Sha512,
}

impl HashAlgorithm {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Sha1, Self::Sha256, Self::Sha384, Self::Sha512];

    /// The object identifier.
    #[must_use]
    pub const fn oid(self) -> ObjectIdentifier {
        ObjectIdentifier::new_unwrap(match self {
            Self::Sha1 => "1.3.14.3.2.26",
            Self::Sha256 => "2.16.840.1.101.3.4.2.1",
            Self::Sha384 => "2.16.840.1.101.3.4.2.2",
            Self::Sha512 => "2.16.840.1.101.3.4.2.3",
        })
    }

    /// The algorithm with this object identifier.
    #[must_use]
    pub fn from_oid(oid: &ObjectIdentifier) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.oid() == *oid)
    }

    /// The algorithm of an `AlgorithmIdentifier` whose parameters are absent or NULL: RFC 5754
    /// section 2 allows nothing else.
    #[must_use]
    pub fn from_element(identifier: &Element<'_>) -> Option<Self> {
        let identifier = AlgorithmIdentifier::read(identifier)?;
        if identifier.parameters.is_some_and(|parameters| !is_null(&parameters)) {
            return None;
        }
        Self::from_oid(&identifier.oid)
    }

    /// Length of a digest in octets.
    #[must_use]
    pub const fn length(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }

    /// The digest of `bytes`.
    #[must_use]
    pub fn digest(self, bytes: &[u8]) -> Vec<u8> {
        let mut hasher = ImprintHasher::new(self);
        hasher.update(bytes);
        hasher.finish().digest
    }

    /// The usual short name: `sha256`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sha1 => "sha1",
            Self::Sha256 => "sha256",
            Self::Sha384 => "sha384",
            Self::Sha512 => "sha512",
        }
    }
}

impl fmt::Display for HashAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// An `AlgorithmIdentifier` as received (RFC 5280 section 4.1.1.2).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct AlgorithmIdentifier<'a> {
    /// The algorithm.
    pub oid: ObjectIdentifier,
    /// Its parameters.
    pub parameters: Option<Element<'a>>,
}

impl<'a> AlgorithmIdentifier<'a> {
    /// Reads the SEQUENCE of an identifier and, optionally, parameters.
    #[must_use]
    pub fn read(element: &Element<'a>) -> Option<Self> {
        if element.tag() == Tag::Sequence { Self::read_contents(element) } else { None }
    }

    /// The same where another tag stands for the SEQUENCE.
    pub(super) fn read_contents(element: &Element<'a>) -> Option<Self> {
        let mut elements = element.elements()?;
        let oid = elements.next()?.oid()?;
        let parameters = if elements.is_empty() { None } else { Some(elements.next()?) };
        elements.is_empty().then_some(Self { oid, parameters })
    }

    /// Whether the parameters are absent or NULL.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.parameters.is_none_or(|parameters| is_null(&parameters))
    }
}

fn is_null(element: &Element<'_>) -> bool {
    element.tag() == Tag::Null && element.value().is_empty()
}

/// What a token is over: the digest of somebody's data, and the algorithm that made it.
///
/// `Display` and `FromStr` are `sha256:<hex>`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Imprint {
    algorithm: HashAlgorithm,
    digest: Vec<u8>,
}

impl Imprint {
    /// An imprint. Refused if the digest hasn't the algorithm's length.
    pub fn new(algorithm: HashAlgorithm, digest: Vec<u8>) -> Result<Self, TimestampError> {
        if digest.len() == algorithm.length() {
            Ok(Self { algorithm, digest })
        } else {
            Err(TimestampError::ImprintLength { algorithm, octets: digest.len() })
        }
    }

    /// The imprint that is this SHA-256 digest itself, as it stands.
    #[must_use]
    pub fn of_digest(digest: &Digest) -> Self {
        Self { algorithm: HashAlgorithm::Sha256, digest: digest.as_bytes().to_vec() }
    }

    /// The imprint of `data`.
    #[must_use]
    pub fn of_data(algorithm: HashAlgorithm, data: &[u8]) -> Self {
        Self { algorithm, digest: algorithm.digest(data) }
    }

    /// The algorithm.
    #[must_use]
    pub const fn algorithm(&self) -> HashAlgorithm {
        self.algorithm
    }

    /// The digest; its length is the algorithm's.
    #[must_use]
    pub fn digest(&self) -> &[u8] {
        &self.digest
    }
}

/// An imprint in the making, of data that comes in pieces.
#[derive(Clone, Debug)]
pub struct ImprintHasher(State);

#[derive(Clone, Debug)]
enum State {
    Sha1(sha1::Sha1),
    Sha256(sha2::Sha256),
    Sha384(sha2::Sha384),
    Sha512(sha2::Sha512),
}

impl ImprintHasher {
    /// Of nothing yet.
    #[must_use]
    pub fn new(algorithm: HashAlgorithm) -> Self {
        Self(match algorithm {
            HashAlgorithm::Sha1 => State::Sha1(sha1::Sha1::new()),
            HashAlgorithm::Sha256 => State::Sha256(sha2::Sha256::new()),
            HashAlgorithm::Sha384 => State::Sha384(sha2::Sha384::new()),
            HashAlgorithm::Sha512 => State::Sha512(sha2::Sha512::new()),
        })
    }

    /// Takes the next piece.
    pub fn update(&mut self, piece: &[u8]) {
        match &mut self.0 {
            State::Sha1(hasher) => hasher.update(piece),
            State::Sha256(hasher) => hasher.update(piece),
            State::Sha384(hasher) => hasher.update(piece),
            State::Sha512(hasher) => hasher.update(piece),
        }
    }

    /// The imprint of all pieces.
    #[must_use]
    pub fn finish(self) -> Imprint {
        let (algorithm, digest) = match self.0 {
            State::Sha1(hasher) => (HashAlgorithm::Sha1, hasher.finalize().to_vec()),
            State::Sha256(hasher) => (HashAlgorithm::Sha256, hasher.finalize().to_vec()),
            State::Sha384(hasher) => (HashAlgorithm::Sha384, hasher.finalize().to_vec()),
            State::Sha512(hasher) => (HashAlgorithm::Sha512, hasher.finalize().to_vec()),
        };
        Imprint { algorithm, digest }
    }
}

impl fmt::Display for Imprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.algorithm, hex_encode(&self.digest))
    }
}

impl FromStr for Imprint {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, hex) = text.split_once(':').ok_or(TimestampError::ImprintText)?;
        let algorithm = HashAlgorithm::ALL
            .into_iter()
            .find(|algorithm| algorithm.name() == name)
            .ok_or(TimestampError::ImprintText)?;
        Self::new(algorithm, hex_decode(hex).map_err(|_| TimestampError::ImprintText)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_absent_or_null() {
        let with = |parameters: &[u8]| {
            let oid = [6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1];
            let mut bytes = vec![0x30, 11 + u8::try_from(parameters.len()).unwrap()];
            bytes.extend(oid);
            bytes.extend(parameters);
            HashAlgorithm::from_element(&Element::parse(&bytes).unwrap())
        };
        assert_eq!(with(&[]), Some(HashAlgorithm::Sha256));
        assert_eq!(with(&[5, 0]), Some(HashAlgorithm::Sha256));
        for bad in [&[5, 1, 0][..], &[4, 0], &[0x30, 0], &[5, 0, 5, 0], &[5]] {
            assert_eq!(with(bad), None, "{bad:x?}");
        }
    }

    #[test]
    fn imprints_have_the_length_of_their_algorithm() {
        for algorithm in HashAlgorithm::ALL {
            let imprint = Imprint::of_data(algorithm, b"hello");
            assert_eq!(imprint.digest().len(), algorithm.length());
            let mut hasher = ImprintHasher::new(algorithm);
            hasher.update(b"hel");
            hasher.update(b"lo");
            assert_eq!(hasher.finish(), imprint);
            assert_eq!(imprint.to_string().parse(), Ok(imprint));
            assert!(Imprint::new(algorithm, vec![0; algorithm.length() - 1]).is_err());
        }
        for bad in ["", "sha256", "md5:00", "sha256:xx", "sha256:00"] {
            assert!(bad.parse::<Imprint>().is_err(), "{bad}");
        }
    }
}
