//! TimeStampToken: signed data that holds a TSTInfo (RFC 3161 section 2.4.2, RFC 5652).

use der::Tag;

use super::attributes::SignedAttributes;
use super::element::{Element, Elements, context};
use super::tst_info::TstInfo;
use super::{MAX_CERTIFICATES, MAX_TOKEN_BYTES, ObjectIdentifier, TimestampError};

/// `id-ct-TSTInfo`: the content type of a time stamp.
pub const ID_CT_TST_INFO: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.16.1.4");
const ID_SIGNED_DATA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.2");

/// Digest algorithms and revocation lists that are read from one token, each.
const MAX_LISTED: usize = 32;

/// A token, read but not verified. Everything is a view of the bytes that were received.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Token<'a> {
    /// The TSTInfo's encoding: what the message digest is over.
    pub content: &'a [u8],
    /// What the token says.
    pub info: TstInfo<'a>,
    /// The digest algorithms that are announced. The signer's should be among them.
    pub digest_algorithms: Vec<Element<'a>>,
    /// The certificates, in the order received: an unordered bag that nobody signed. Attribute
    /// certificates and other things in the bag are left out.
    pub certificates: Vec<&'a [u8]>,
    /// Certificate revocation lists in the token, which nobody signed as a part of it.
    pub crls: Vec<&'a [u8]>,
    /// The one signature.
    pub signer: SignerInfo<'a>,
}

/// The signature of a token and what it says about itself.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct SignerInfo<'a> {
    /// Whose signature it is, as a hint: the signing-certificate attribute decides.
    pub id: SignerIdentifier<'a>,
    /// The algorithm of the message digest.
    pub digest_algorithm: Element<'a>,
    /// What the signature is over.
    pub attributes: SignedAttributes<'a>,
    /// The algorithm of the signature.
    pub signature_algorithm: Element<'a>,
    /// The signature.
    pub signature: &'a [u8],
}

/// How the signer information names the signer's certificate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum SignerIdentifier<'a> {
    /// By issuer and serial number.
    IssuerAndSerial {
        /// The issuer's Name, as received.
        issuer: &'a [u8],
        /// Contents of the serial number's INTEGER.
        serial: &'a [u8],
    },
    /// By its subjectKeyIdentifier extension.
    SubjectKeyIdentifier(&'a [u8]),
}

impl<'a> Token<'a> {
    /// Reads a token: the whole of `bytes`, and nothing behind it.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, TimestampError> {
        if bytes.len() > MAX_TOKEN_BYTES {
            return Err(TimestampError::Length { bytes: bytes.len(), limit: MAX_TOKEN_BYTES });
        }
        let mut outer = Elements::new(bytes).ok_or(der("ContentInfo"))?;
        let content_info = outer.next().ok_or(der("ContentInfo"))?;
        if !outer.is_empty() {
            return Err(TimestampError::Trailing { what: "the token" });
        }
        let mut fields = content_info.elements_of(Tag::Sequence).ok_or(der("ContentInfo"))?;
        if fields.next().and_then(|id| id.oid()).ok_or(der("ContentInfo"))? != ID_SIGNED_DATA {
            return Err(TimestampError::ContentType);
        }
        let signed_data = fields.expect(context(0, true)).ok_or(der("ContentInfo"))?;
        if !fields.is_empty() {
            return Err(der("ContentInfo"));
        }
        let signed_data = Element::parse(signed_data.value()).ok_or(der("SignedData"))?;
        Self::read(signed_data.elements_of(Tag::Sequence).ok_or(der("SignedData"))?)
    }

    fn read(mut fields: Elements<'a>) -> Result<Self, TimestampError> {
        let version = fields.expect(Tag::Integer).and_then(|version| version.small());
        let version = version.ok_or(der("SignedData"))?;
        let digest_algorithms = fields.expect(Tag::Set).and_then(|set| set.elements());
        let digest_algorithms = digest_algorithms.ok_or(der("digestAlgorithms"))?;
        let digest_algorithms = at_most(digest_algorithms, MAX_LISTED, "digest algorithms")?;
        let content = read_content(&fields.expect(Tag::Sequence).ok_or(der("SignedData"))?)?;
        let bag = list(&mut fields, 0, MAX_CERTIFICATES, "certificates")?;
        let crls = list(&mut fields, 1, MAX_LISTED, "revocation lists")?;
        let signers = fields.expect(Tag::Set).and_then(|set| set.elements());
        let mut signers = signers.ok_or(der("signerInfos"))?;
        if !fields.is_empty() {
            return Err(der("SignedData"));
        }
        // RFC 5652 section 5.1 asks for 4 or 5 where the bag holds newer things than certificates.
        let strangers = bag.iter().chain(&crls).any(|item| item.tag() != Tag::Sequence);
        if version != 3 && !(strangers && matches!(version, 4 | 5)) {
            return Err(TimestampError::SignedDataVersion);
        }
        if signers.is_empty() {
            return Err(TimestampError::SignersNone);
        }
        let signer = signers.expect(Tag::Sequence).ok_or(der("SignerInfo"))?;
        if !signers.is_empty() {
            return Err(TimestampError::SignersSeveral);
        }
        let info = TstInfo::parse(content)?;
        let signer = SignerInfo::read(&signer)?;
        let certificates = sequences(bag);
        Ok(Self { content, info, digest_algorithms, certificates, crls: sequences(crls), signer })
    }
}

impl<'a> SignerInfo<'a> {
    fn read(signer: &Element<'a>) -> Result<Self, TimestampError> {
        const WHAT: &str = "SignerInfo";
        let mut fields = signer.elements().ok_or(der(WHAT))?;
        let version = fields.expect(Tag::Integer).and_then(|version| version.small());
        let version = version.ok_or(der(WHAT))?;
        let id = fields.next().as_ref().and_then(SignerIdentifier::read).ok_or(der(WHAT))?;
        let fitting = match id {
            SignerIdentifier::IssuerAndSerial { .. } => 1,
            SignerIdentifier::SubjectKeyIdentifier(_) => 3,
        };
        if version != fitting {
            return Err(TimestampError::SignerVersion);
        }
        let digest_algorithm = fields.expect(Tag::Sequence).ok_or(der(WHAT))?;
        let attributes = fields.optional(context(0, true)).ok_or_else(|| {
            let next = fields.peek();
            if next == Some(Tag::Sequence) { TimestampError::AttributesAbsent } else { der(WHAT) }
        })?;
        let attributes = attributes.elements().ok_or(der("signed attributes"))?;
        let attributes = SignedAttributes::read(attributes)?;
        let signature_algorithm = fields.expect(Tag::Sequence).ok_or(der(WHAT))?;
        let signature = fields.next().and_then(|signature| signature.octets());
        let signature = signature.ok_or(der(WHAT))?;
        // Unsigned attributes say nothing that anybody could rely on.
        fields.optional(context(1, true));
        if fields.is_empty() {
            Ok(Self { id, digest_algorithm, attributes, signature_algorithm, signature })
        } else {
            Err(der(WHAT))
        }
    }
}

impl<'a> SignerIdentifier<'a> {
    fn read(id: &Element<'a>) -> Option<Self> {
        if id.tag() == context(0, false) {
            return Some(Self::SubjectKeyIdentifier(id.value()));
        }
        let mut fields = id.elements_of(Tag::Sequence)?;
        let issuer = fields.expect(Tag::Sequence)?.raw();
        let serial = fields.expect(Tag::Integer)?.value();
        fields.is_empty().then_some(Self::IssuerAndSerial { issuer, serial })
    }
}

/// The octets of the encapsulated TSTInfo.
fn read_content<'a>(content_info: &Element<'a>) -> Result<&'a [u8], TimestampError> {
    const WHAT: &str = "EncapsulatedContentInfo";
    let mut fields = content_info.elements().ok_or(der(WHAT))?;
    if fields.next().and_then(|id| id.oid()).ok_or(der(WHAT))? != ID_CT_TST_INFO {
        return Err(TimestampError::EncapsulatedType);
    }
    if fields.is_empty() {
        return Err(TimestampError::ContentAbsent);
    }
    let content = fields.expect(context(0, true)).ok_or(der(WHAT))?;
    let octets = Element::parse(content.value()).and_then(|content| content.octets());
    if fields.is_empty() { octets.ok_or(der(WHAT)) } else { Err(der(WHAT)) }
}

/// The elements of an `[tag] IMPLICIT SET OF` that may be absent.
fn list<'a>(
    fields: &mut Elements<'a>,
    tag: u32,
    limit: usize,
    what: &'static str,
) -> Result<Vec<Element<'a>>, TimestampError> {
    let Some(list) = fields.optional(context(tag, true)) else { return Ok(Vec::new()) };
    at_most(list.elements().ok_or(der(what))?, limit, what)
}

fn at_most<'a>(
    mut elements: Elements<'a>,
    limit: usize,
    what: &'static str,
) -> Result<Vec<Element<'a>>, TimestampError> {
    let mut list = Vec::new();
    while !elements.is_empty() {
        if list.len() == limit {
            return Err(TimestampError::Count { what, limit });
        }
        list.push(elements.next().ok_or(der(what))?);
    }
    Ok(list)
}

/// Certificates and revocation lists are SEQUENCEs; every other choice has a tag.
fn sequences(elements: Vec<Element<'_>>) -> Vec<&[u8]> {
    let sequences = elements.into_iter().filter(|element| element.tag() == Tag::Sequence);
    sequences.map(|element| element.raw()).collect()
}

const fn der(what: &'static str) -> TimestampError {
    TimestampError::Der { what }
}
