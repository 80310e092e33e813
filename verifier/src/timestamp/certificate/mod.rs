//! X.509 certificates as time stamps need them, over the received bytes.
//!
//! What it is: a [`Certificate`] taken apart once, with its parts as they were received, because
//! signatures and digests are over those. The outer structure is strict DER; extensions that
//! decide something must be of their form, others are left out where they aren't.
//!
//! What it is not: a profile. Negative serial numbers, empty names, odd strings and unknown
//! extensions of real authorities are read; what such a certificate is good for is decided where it
//! is used ([`super::path`], [`super::signer_profile`]). A certificate that can't be read is the
//! caller's to skip: others in the same bag may be all it takes.

mod error;
mod extensions;
mod pem;
mod span;
mod time;

#[cfg(test)]
mod tests;

use anchorlog_proto::Digest;
use anchorlog_proto::timestamp::element::{Element, Elements, context};
use anchorlog_proto::timestamp::{GenTime, HashAlgorithm};
use der::Tag;

use super::name::{EMAIL_ADDRESS, GeneralName, Name};
use super::signature::whole_octets;

pub use error::CertificateError;
pub use extensions::{
    BasicConstraints, ExtendedKeyUsage, Extensions, KeyUsage, PolicyConstraints, PolicyMapping,
};
pub use pem::{MAX_BUNDLE_BYTES, MAX_BUNDLE_CERTIFICATES, read_certificates};

pub(super) use extensions::{ANY_POLICY, Extension, subtrees};
pub(super) use pem::{Encodings, encodings};
pub(super) use span::Span;
pub(super) use time::read_time;

/// The longest certificate that is read, in bytes.
pub const MAX_CERTIFICATE_BYTES: usize = 16 * 1024;

/// A certificate, as received.
#[derive(Clone, Debug)]
pub struct Certificate {
    der: Vec<u8>,
    parts: Parts,
    version: u8,
    not_before: GenTime,
    not_after: GenTime,
    extensions: Extensions,
}

/// Where the parts stand.
#[derive(Clone, Copy, Debug)]
struct Parts {
    tbs: Span,
    serial: Span,
    issuer: Span,
    subject: Span,
    public_key: Span,
    key_bits: Span,
    algorithm: Span,
    signature: Span,
}

impl Certificate {
    /// Reads the DER of one certificate.
    pub fn parse(der: &[u8]) -> Result<Self, CertificateError> {
        const FORM: CertificateError = CertificateError::Form { field: "certificate" };
        if der.len() > MAX_CERTIFICATE_BYTES {
            let bytes = der.len();
            return Err(CertificateError::Length { bytes, limit: MAX_CERTIFICATE_BYTES });
        }
        let mut outer =
            Element::parse(der).and_then(|whole| whole.elements_of(Tag::Sequence)).ok_or(FORM)?;
        let tbs = outer.expect(Tag::Sequence).ok_or(FORM)?;
        let algorithm = outer.expect(Tag::Sequence).ok_or(FORM)?;
        let signature = outer.next().and_then(|bits| whole_octets(&bits)).ok_or(FORM)?;
        if !outer.is_empty() {
            return Err(FORM);
        }
        let inner = ToBeSigned::read(tbs.elements().ok_or(FORM)?)?;
        if inner.algorithm.raw() != algorithm.raw() {
            return Err(CertificateError::SignatureAlgorithm);
        }
        let part = |part| Span::of(der, part);
        Ok(Self {
            der: der.to_vec(),
            parts: Parts {
                tbs: part(tbs.raw()),
                serial: part(inner.serial),
                issuer: part(inner.issuer.raw()),
                subject: part(inner.subject.raw()),
                public_key: part(inner.public_key.raw()),
                key_bits: part(inner.key_bits),
                algorithm: part(algorithm.raw()),
                signature: part(signature),
            },
            version: inner.version,
            not_before: inner.not_before,
            not_after: inner.not_after,
            extensions: Extensions::read(inner.extensions.as_ref(), der)?,
        })
    }

    /// The certificate, as received.
    #[must_use]
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// The part that is signed, as received.
    #[must_use]
    pub fn tbs(&self) -> &[u8] {
        self.parts.tbs.within(&self.der)
    }

    /// The version: 1, 2 or 3.
    #[must_use]
    pub const fn version(&self) -> u8 {
        self.version
    }

    /// The contents of the serial number's INTEGER, as received: two's complement.
    #[must_use]
    pub fn serial(&self) -> &[u8] {
        self.parts.serial.within(&self.der)
    }

    /// Who issued it, by name.
    #[must_use]
    pub fn issuer(&self) -> Name<'_> {
        self.name(self.parts.issuer)
    }

    /// Whose it is, by name.
    #[must_use]
    pub fn subject(&self) -> Name<'_> {
        self.name(self.parts.subject)
    }

    /// The first instant at which it is valid.
    #[must_use]
    pub const fn not_before(&self) -> GenTime {
        self.not_before
    }

    /// The last instant at which it is valid.
    #[must_use]
    pub const fn not_after(&self) -> GenTime {
        self.not_after
    }

    /// Whether `at` is from the first to the last instant of its validity, both included.
    #[must_use]
    pub fn is_valid_at(&self, at: GenTime) -> bool {
        (self.not_before..=self.not_after).contains(&at)
    }

    /// The `SubjectPublicKeyInfo`, as received.
    #[must_use]
    pub fn public_key(&self) -> Element<'_> {
        self.element(self.parts.public_key)
    }

    /// The octets of the public key itself: what key identifiers are digests of.
    #[must_use]
    pub fn public_key_octets(&self) -> &[u8] {
        self.parts.key_bits.within(&self.der)
    }

    /// The `AlgorithmIdentifier` of its signature, as received.
    #[must_use]
    pub fn signature_algorithm(&self) -> Element<'_> {
        self.element(self.parts.algorithm)
    }

    /// The octets of its signature.
    #[must_use]
    pub fn signature(&self) -> &[u8] {
        self.parts.signature.within(&self.der)
    }

    /// Its extensions.
    #[must_use]
    pub const fn extensions(&self) -> &Extensions {
        &self.extensions
    }

    /// The subject key identifier extension.
    #[must_use]
    pub fn subject_key_id(&self) -> Option<&[u8]> {
        self.extensions.subject_key_id.as_deref()
    }

    /// The subject's alternative names.
    #[must_use]
    pub fn alternative_names(&self) -> Vec<GeneralName<'_>> {
        let names = self.extensions.alternative_names.map(|span| span.within(&self.der));
        names.and_then(extensions::general_names).unwrap_or_default()
    }

    /// The contents of the name constraints extension, which is of its form.
    pub(super) fn name_constraints(&self) -> Option<Element<'_>> {
        self.extensions.name_constraints.map(|span| self.element(span))
    }

    /// Whether issuer and subject are the same name.
    #[must_use]
    pub fn is_self_issued(&self) -> bool {
        self.issuer().matches(&self.subject())
    }

    /// Whether this is a name of the subject: its distinguished name, or one of its alternative
    /// names; a mailbox may also stand in the distinguished name (RFC 3161 section 2.4.2, `tsa`).
    #[must_use]
    pub fn has_name(&self, name: &GeneralName<'_>) -> bool {
        match name {
            GeneralName::Directory(name) if name.matches(&self.subject()) => true,
            GeneralName::Mail(_) if self.mailboxes().any(|own| name.matches(&own)) => true,
            _ => self.alternative_names().iter().any(|own| name.matches(own)),
        }
    }

    /// The mailboxes of the distinguished name.
    pub(super) fn mailboxes(&self) -> impl Iterator<Item = GeneralName<'_>> {
        let names = self.subject().relative_names().unwrap_or_default();
        names.into_iter().flatten().filter(|attribute| attribute.oid == EMAIL_ADDRESS).filter_map(
            |attribute| core::str::from_utf8(attribute.value.value()).ok().map(GeneralName::Mail),
        )
    }

    /// The digest of the certificate as received: what `ESSCertID` holds.
    #[must_use]
    pub fn digest(&self, algorithm: HashAlgorithm) -> Vec<u8> {
        algorithm.digest(&self.der)
    }

    /// The SHA-256 digest of the certificate as received.
    #[must_use]
    pub fn fingerprint(&self) -> Digest {
        Digest::of(&self.der)
    }

    fn name(&self, span: Span) -> Name<'_> {
        Name::again(span.within(&self.der))
    }

    /// What `parse` has read can be read again; nobody ever sees the NULL.
    fn element(&self, span: Span) -> Element<'_> {
        Element::parse(span.within(&self.der)).unwrap_or(Element::NULL)
    }
}

/// Two certificates are the same when their bytes are.
impl PartialEq for Certificate {
    fn eq(&self, other: &Self) -> bool {
        self.der == other.der
    }
}

impl Eq for Certificate {}

/// `TBSCertificate` (RFC 5280 section 4.1), as far as extensions.
struct ToBeSigned<'a> {
    version: u8,
    serial: &'a [u8],
    algorithm: Element<'a>,
    issuer: Name<'a>,
    not_before: GenTime,
    not_after: GenTime,
    subject: Name<'a>,
    public_key: Element<'a>,
    key_bits: &'a [u8],
    extensions: Option<Element<'a>>,
}

impl<'a> ToBeSigned<'a> {
    fn read(mut fields: Elements<'a>) -> Result<Self, CertificateError> {
        let form = |field| CertificateError::Form { field };
        let version = match fields.optional(context(0, true)) {
            None => 1,
            Some(number) => Element::parse(number.value())
                .and_then(|number| number.small())
                .and_then(|number| u8::try_from(number + 1).ok())
                .filter(|version| (1..=3).contains(version))
                .ok_or(form("version"))?,
        };
        let serial = fields.expect(Tag::Integer).ok_or(form("serial number"))?.value();
        let algorithm = fields.expect(Tag::Sequence).ok_or(form("signature"))?;
        let issuer = fields.next().and_then(|name| Name::read(&name)).ok_or(form("issuer"))?;
        let (not_before, not_after) =
            fields.next().and_then(|validity| read_validity(&validity)).ok_or(form("validity"))?;
        let subject = fields.next().and_then(|name| Name::read(&name)).ok_or(form("subject"))?;
        let key = fields.expect(Tag::Sequence).ok_or(form("public key"))?;
        let key_bits = read_key_bits(&key).ok_or(form("public key"))?;
        // The unique identifiers of version 2 say nothing to anybody.
        fields.optional(context(1, false));
        fields.optional(context(2, false));
        let extensions = match fields.optional(context(3, true)) {
            None => None,
            Some(_) if version != 3 => return Err(form("version")),
            Some(wrapper) => Some(Element::parse(wrapper.value()).ok_or(form("extensions"))?),
        };
        if !fields.is_empty() {
            return Err(form("extensions"));
        }
        Ok(Self {
            version,
            serial,
            algorithm,
            issuer,
            not_before,
            not_after,
            subject,
            public_key: key,
            key_bits,
            extensions,
        })
    }
}

fn read_validity(validity: &Element<'_>) -> Option<(GenTime, GenTime)> {
    let mut times = validity.elements_of(Tag::Sequence)?;
    let validity = (read_time(&times.next()?)?, read_time(&times.next()?)?);
    times.is_empty().then_some(validity)
}

fn read_key_bits<'a>(key: &Element<'a>) -> Option<&'a [u8]> {
    let mut fields = key.elements()?;
    fields.expect(Tag::Sequence)?;
    let bits = whole_octets(&fields.next()?)?;
    fields.is_empty().then_some(bits)
}
