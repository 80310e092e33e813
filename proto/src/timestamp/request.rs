//! TimeStampReq: what is asked of an authority (RFC 3161 section 2.4.1).

use der::Tag;

use super::algorithm::{HashAlgorithm, Imprint};
use super::element::{Element, context};
use super::nonce::Nonce;
use super::writer::{BOOLEAN, INTEGER, NULL, OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE, element};
use super::{MAX_EXTENSIONS, ObjectIdentifier, TimestampError};

/// The longest request that is read.
pub const MAX_REQUEST_BYTES: usize = 16 << 10;

/// A request for a time stamp.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "the request of RFC 3161 has exactly these fields")]
pub struct TimestampRequest {
    /// What the token is to be over.
    pub imprint: Imprint,
    /// The policy the token is to be made under; `None` leaves it to the authority.
    pub policy: Option<ObjectIdentifier>,
    /// What the token has to repeat.
    pub nonce: Option<Nonce>,
    /// Whether the token has to carry the signer's certificate.
    pub cert_req: bool,
}

impl TimestampRequest {
    /// A request with a nonce of 128 random bits that asks for the certificate: what a client wants
    /// that keeps tokens.
    #[must_use]
    pub fn new(imprint: Imprint, nonce: Nonce) -> Self {
        Self { imprint, policy: None, nonce: Some(nonce), cert_req: true }
    }

    /// The DER encoding.
    #[must_use]
    pub fn to_der(&self) -> Vec<u8> {
        let algorithm = element(
            SEQUENCE,
            &[
                &element(OBJECT_IDENTIFIER, &[self.imprint.algorithm().oid().as_bytes()]),
                &element(NULL, &[]),
            ],
        );
        let imprint =
            element(SEQUENCE, &[&algorithm, &element(OCTET_STRING, &[self.imprint.digest()])]);
        let policy = self.policy.map(|policy| element(OBJECT_IDENTIFIER, &[policy.as_bytes()]));
        let nonce = self.nonce.as_ref().map(|nonce| element(INTEGER, &[nonce.integer()]));
        // FALSE is the default, and DER leaves a default out.
        let cert_req = self.cert_req.then(|| element(BOOLEAN, &[&[0xff]]));
        element(
            SEQUENCE,
            &[
                &element(INTEGER, &[&[1]]),
                &imprint,
                policy.as_deref().unwrap_or_default(),
                nonce.as_deref().unwrap_or_default(),
                cert_req.as_deref().unwrap_or_default(),
            ],
        )
    }

    /// Reads a request, as an authority does. Extensions are passed over unless they are critical.
    pub fn parse(bytes: &[u8]) -> Result<Self, TimestampError> {
        const WHAT: &str = "TimeStampReq";
        if bytes.len() > MAX_REQUEST_BYTES {
            return Err(TimestampError::Length { bytes: bytes.len(), limit: MAX_REQUEST_BYTES });
        }
        let malformed = TimestampError::Der { what: WHAT };
        let request = Element::parse(bytes).ok_or(malformed.clone())?;
        let mut fields = request.elements_of(Tag::Sequence).ok_or(malformed.clone())?;
        if fields.next().and_then(|version| version.small()) != Some(1) {
            return Err(malformed);
        }
        let imprint = fields.expect(Tag::Sequence).ok_or(malformed.clone())?;
        let imprint = read_imprint(&imprint).ok_or(malformed.clone())??;
        let policy = match fields.optional(Tag::ObjectIdentifier) {
            Some(policy) => Some(policy.oid().ok_or(malformed.clone())?),
            None => None,
        };
        let nonce = match fields.optional(Tag::Integer) {
            Some(nonce) => Some(read_nonce(&nonce).ok_or(malformed.clone())?),
            None => None,
        };
        let cert_req = match fields.optional(Tag::Boolean) {
            Some(flag) => flag.boolean().ok_or(malformed.clone())?,
            None => false,
        };
        if let Some(extensions) = fields.optional(context(0, true)) {
            refuse_critical(&extensions)?;
        }
        if fields.is_empty() {
            Ok(Self { imprint, policy, nonce, cert_req })
        } else {
            Err(malformed)
        }
    }
}

/// A MessageImprint with a hash that is known. The inner error is a digest of another length.
fn read_imprint(imprint: &Element<'_>) -> Option<Result<Imprint, TimestampError>> {
    let mut fields = imprint.elements()?;
    let algorithm = HashAlgorithm::from_element(&fields.next()?)?;
    let digest = fields.next()?.octets()?;
    fields.is_empty().then(|| Imprint::new(algorithm, digest.to_vec()))
}

/// An INTEGER that isn't too long.
pub(super) fn read_nonce(nonce: &Element<'_>) -> Option<Nonce> {
    Nonce::from_integer(nonce.integer()?)
}

/// Reads the contents of an `[n] Extensions` for its form, and for extensions that are critical:
/// none is understood.
pub(super) fn refuse_critical(extensions: &Element<'_>) -> Result<(), TimestampError> {
    let malformed = TimestampError::Der { what: "Extensions" };
    let extensions = extensions.elements().and_then(|all| all.collect_all(MAX_EXTENSIONS));
    let extensions = extensions.filter(|all| !all.is_empty()).ok_or(malformed.clone())?;
    let mut seen = Vec::new();
    for extension in extensions {
        let mut fields = extension.elements_of(Tag::Sequence).ok_or(malformed.clone())?;
        let id = fields.next().and_then(|id| id.oid()).ok_or(malformed.clone())?;
        if seen.contains(&id) {
            return Err(malformed);
        }
        seen.push(id);
        let critical = match fields.optional(Tag::Boolean) {
            // DER leaves the default FALSE out; an authority that doesn't has said the same.
            Some(flag) => flag.boolean().ok_or(malformed.clone())?,
            None => false,
        };
        if fields.next().and_then(|value| value.octets()).is_none() || !fields.is_empty() {
            return Err(malformed);
        }
        if critical {
            return Err(TimestampError::CriticalExtension);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::hex_encode;

    fn request() -> TimestampRequest {
        let imprint = Imprint::of_data(HashAlgorithm::Sha256, b"hello");
        TimestampRequest::new(imprint, "8102030405060708".parse().unwrap())
    }

    #[test]
    fn the_encoding_is_der() {
        assert_eq!(
            hex_encode(&request().to_der()),
            "30440201013031300d060960864801650304020105000420\
             2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\
             0209008102030405060708\
             0101ff"
        );
    }

    #[test]
    fn what_is_written_is_read() {
        let policy = ObjectIdentifier::new_unwrap("1.2.3.4");
        for policy in [None, Some(policy)] {
            for nonce in [None, Some("00"), Some("ff"), Some("7f00")] {
                for cert_req in [false, true] {
                    let nonce = nonce.map(|nonce| nonce.parse().unwrap());
                    let request = TimestampRequest { policy, nonce, cert_req, ..request() };
                    assert_eq!(TimestampRequest::parse(&request.to_der()), Ok(request));
                }
            }
        }
    }

    #[test]
    fn no_prefix_and_no_suffix_is_a_request() {
        let bytes = request().to_der();
        for end in 0..bytes.len() {
            assert!(TimestampRequest::parse(&bytes[..end]).is_err(), "{end}");
        }
        assert!(TimestampRequest::parse(&[&bytes[..], &[0]].concat()).is_err());
        let long = vec![0; MAX_REQUEST_BYTES + 1];
        let error = TimestampError::Length { bytes: long.len(), limit: MAX_REQUEST_BYTES };
        assert_eq!(TimestampRequest::parse(&long), Err(error));
    }

    #[test]
    fn critical_extensions_are_refused_and_others_passed_over() {
        let with = |extension: &[u8]| {
            let bytes = request().to_der();
            let extensions = element(0xa0, &[extension]);
            TimestampRequest::parse(&element(SEQUENCE, &[&bytes[2..], &extensions]))
        };
        let id = [6, 2, 0x2a, 3];
        assert_eq!(with(&element(SEQUENCE, &[&id, &[4, 0]])), Ok(request()));
        let critical = element(SEQUENCE, &[&id, &[1, 1, 0xff], &[4, 0]]);
        assert_eq!(with(&critical), Err(TimestampError::CriticalExtension));
        assert!(with(&element(SEQUENCE, &[&id, &[1, 1, 1], &[4, 0]])).is_err());
        assert!(with(&element(SEQUENCE, &[&id])).is_err());
        assert!(with(&[]).is_err());
        assert!(with(&element(SEQUENCE, &[&id, &[4, 0]]).repeat(2)).is_err());
    }
}
