//! What a case is: bytes, all that a verifier is told beside them, and the right answer.

use super::keys::Hash;
use super::token;

/// One token or response with the circumstances it is to be judged in.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name: kebab-case, unique, stable.
    pub name: &'static str,
    /// What is special about it, and by which clause the answer is right.
    pub about: &'static str,
    /// What the bytes are.
    pub form: Form,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// What the verifier is told.
    pub given: Given,
    /// The right answer.
    pub expected: Expected,
}

/// What bytes are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    /// A `TimeStampResp`, to be judged with its request.
    Response,
    /// A bare `TimeStampToken`.
    Token,
}

/// What a verifier is told beside the bytes.
#[derive(Clone, Debug)]
pub struct Given {
    /// The digest that was stamped.
    pub digest: Vec<u8>,
    /// By which algorithm: `sha1`, `sha256`, `sha384`, `sha512`.
    pub digest_algorithm: &'static str,
    /// What the request asked for beside it. Always there for a response; for a token its nonce and policy
    /// are to be compared, its `cert_req` means nothing.
    pub request: Option<Asked>,
    /// The trust entries, each an unsplittable unit.
    pub trust: Vec<TrustSpec>,
    /// Roots that are known and trusted, but for another purpose than time stamps (DER).
    pub other_roots: Vec<Vec<u8>>,
    /// Certificates supplied beside the token (DER).
    pub certificates: Vec<Vec<u8>>,
    /// CRLs supplied beside the token (DER).
    pub crls: Vec<Vec<u8>>,
    /// OCSP responses supplied beside the token (DER).
    pub ocsp: Vec<Vec<u8>>,
    /// What to make of CRLs and OCSP responses.
    pub revocation: Revocation,
    /// The evaluation time, in seconds since 1970.
    pub at: i64,
    /// By how many seconds genTime may lie ahead of `at`.
    pub skew_s: u32,
    /// What is allowed beyond the strict rules.
    pub allow: Vec<Switch>,
}

/// The part of a request that the answer is bound to, beside the imprint.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Asked {
    /// The nonce's magnitude, big-endian, leading zeroes without meaning.
    pub nonce: Option<Vec<u8>>,
    /// reqPolicy, dotted.
    pub policy: Option<&'static str>,
    /// certReq.
    pub cert_req: bool,
}

/// A trust entry.
#[derive(Clone, Debug, Default)]
pub struct TrustSpec {
    /// Whose roots these are.
    pub operator: &'static str,
    /// The trust anchors (DER certificates).
    pub roots: Vec<Vec<u8>>,
    /// The first second at which genTime may lie; `None` for no bound.
    pub window_start: Option<i64>,
    /// The last second at which genTime may lie; `None` for no bound.
    pub window_end: Option<i64>,
    /// The TSA policies accepted, dotted; none for any.
    pub policies: Vec<&'static str>,
    /// The widest accuracy accepted, in seconds; an absent accuracy then fails.
    pub max_accuracy_s: Option<u32>,
}

/// What to make of revocation evidence.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Revocation {
    /// It isn't looked at.
    None,
    /// What is supplied and usable counts; its absence doesn't.
    Supplied,
    /// Signer and intermediates need usable evidence, or the answer is `revocation.unknown`.
    Required,
}

/// A relaxation, by name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Switch {
    /// SHA-1 in imprint, digest, signature and `ESSCertIDv2`.
    Sha1,
    /// BER around the signed parts.
    Ber,
    /// A signer's extended key usage that isn't critical.
    NoncriticalEku,
}

impl Switch {
    /// `sha1`, `ber`, `noncritical-eku`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sha1 => "sha1",
            Self::Ber => "ber",
            Self::NoncriticalEku => "noncritical-eku",
        }
    }
}

/// The right answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Expected {
    /// The token holds.
    Holds {
        /// By the trust entry of this operator.
        operator: &'static str,
        /// Signed by this certificate (DER).
        signer: Vec<u8>,
        /// At this time, as TSTInfo says it.
        gen_time: &'static str,
    },
    /// The token does not hold, for this fine reason, one of [`REASONS`](super::REASONS).
    Fails(&'static str),
}

impl Case {
    /// The request as it went out, `TimeStampReq`; `None` where only a token is judged by its digest.
    #[must_use]
    pub fn request(&self) -> Option<Vec<u8>> {
        let asked = self.given.request.as_ref()?;
        let algorithm = HASHES.iter().find(|hash| hash.name() == self.given.digest_algorithm)?;
        let imprint = token::imprint(&algorithm.identifier(), &self.given.digest);
        Some(token::request(&imprint, asked.policy, asked.nonce.as_deref(), asked.cert_req))
    }
}

/// The digests that a request can be about.
const HASHES: [Hash; 4] = [Hash::Sha1, Hash::Sha256, Hash::Sha384, Hash::Sha512];
