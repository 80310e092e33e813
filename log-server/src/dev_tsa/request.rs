//! What is asked of the authority, and what it says when it won't.

use anchorlog_proto::timestamp::element::{Element, context};
use anchorlog_proto::timestamp::{
    AlgorithmIdentifier, HashAlgorithm, MAX_REQUEST_BYTES, TimestampRequest,
};
use der::Tag;

use super::{DevTsaError, POLICY};

/// A request that can be granted, as received.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request<'a> {
    /// The `MessageImprint`, DER: the token repeats it to the octet (RFC 3161 section 2.4.2).
    pub(super) imprint: &'a [u8],
    /// The nonce, an INTEGER in DER; it is repeated likewise.
    pub(super) nonce: Option<&'a [u8]>,
    /// Whether the signer's certificate is to be in the token.
    pub(super) cert_req: bool,
}

impl<'a> Request<'a> {
    /// Reads a request as `anchorlog-proto` does, but tells refusals apart.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, Refusal> {
        if bytes.len() > MAX_REQUEST_BYTES {
            return Err(Refusal::DataFormat);
        }
        let request = Self::view(bytes).ok_or(Refusal::DataFormat)??;
        TimestampRequest::parse(bytes).map_err(|_| Refusal::DataFormat)?;
        Ok(request)
    }

    /// Looks for what has a refusal of its own. `None` for what isn't even a request in form.
    fn view(bytes: &'a [u8]) -> Option<Result<Self, Refusal>> {
        let mut fields = Element::parse(bytes)?.elements_of(Tag::Sequence)?;
        let version = fields.expect(Tag::Integer)?;
        if version.value() != [1] {
            return Some(Err(Refusal::Version));
        }
        let imprint = fields.expect(Tag::Sequence)?;
        let algorithm = AlgorithmIdentifier::read(&imprint.elements()?.next()?)?;
        let known = HashAlgorithm::from_oid(&algorithm.oid).filter(|_| algorithm.is_plain());
        if known.is_none_or(|algorithm| !ALGORITHMS.contains(&algorithm)) {
            return Some(Err(Refusal::Algorithm));
        }
        let policy = fields.optional(Tag::ObjectIdentifier);
        // Compared as octets: identifiers that `der` has no room for are somebody else's policies too.
        if policy.is_some_and(|policy| policy.value() != POLICY.as_bytes()) {
            return Some(Err(Refusal::Policy));
        }
        let nonce = fields.optional(Tag::Integer).map(|nonce| nonce.raw());
        let cert_req = match fields.optional(Tag::Boolean) {
            Some(flag) => flag.boolean()?,
            None => false,
        };
        // Section 2.4.1: critical or not, what isn't known isn't passed over.
        if fields.optional(context(0, true)).is_some() {
            return Some(Err(Refusal::Extension));
        }
        fields.is_empty().then_some(Ok(Self { imprint: imprint.raw(), nonce, cert_req }))
    }
}

/// Why there is no token (RFC 3161 section 2.4.2, `PKIFailureInfo`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Refusal {
    /// The imprint isn't by one of [`ALGORITHMS`].
    Algorithm,
    /// The clock can't be right.
    Clock,
    /// It isn't a `TimeStampReq` in DER.
    DataFormat,
    /// It has an extension.
    Extension,
    /// It asks for another policy than [`POLICY`].
    Policy,
    /// The authority can't sign.
    System,
    /// It is of another version than 1.
    Version,
}

impl Refusal {
    /// What the requester is told of a failure of the authority; its own log is told the rest.
    pub(super) fn of(error: &DevTsaError) -> Self {
        tracing::error!(%error, "the development TSA can't stamp");
        if matches!(error, DevTsaError::Clock) { Self::Clock } else { Self::System }
    }

    /// The number of its bit.
    pub(super) const fn bit(self) -> u8 {
        match self {
            Self::Algorithm => 0,
            Self::Version => 2,
            Self::DataFormat => 5,
            Self::Clock => 14,
            Self::Policy => 15,
            Self::Extension => 16,
            Self::System => 25,
        }
    }

    /// The same for people.
    pub(super) const fn text(self) -> &'static str {
        match self {
            Self::Algorithm => "the imprint has to be SHA-256, SHA-384 or SHA-512",
            Self::Clock => "the authority's clock can't be right; its own log says more",
            Self::DataFormat => "this is no TimeStampReq in DER",
            Self::Extension => "no extension is known here",
            Self::Policy => "the only policy here is 1.3.6.1.4.1.32473.3161.1",
            Self::System => "the authority failed; its own log says why",
            Self::Version => "only version 1 is known here",
        }
    }
}

/// The hashes whose digests are stamped.
const ALGORITHMS: [HashAlgorithm; 3] =
    [HashAlgorithm::Sha256, HashAlgorithm::Sha384, HashAlgorithm::Sha512];
