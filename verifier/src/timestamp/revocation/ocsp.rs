//! OCSP responses (RFC 6960).

use std::sync::Arc;

use anchorlog_proto::timestamp::ObjectIdentifier;
use anchorlog_proto::timestamp::element::{Element, Elements, context};
use anchorlog_proto::timestamp::{GenTime, HashAlgorithm};
use der::Tag;

use super::super::certificate::{
    Certificate, ExtendedKeyUsage, Extension, KeyUsage, Span, read_time,
};
use super::super::name::Name;
use super::super::signature::{Sha1, SignatureError, SignatureScheme, whole_octets};
use super::crl::read_reason;
use super::reason::Revocation;
use super::{EvidenceError, EvidenceKind, Sighting, Status, number, still_named};

/// The longest OCSP response that is read, in bytes.
pub const MAX_OCSP_BYTES: usize = 64 * 1024;

/// Answers of one response.
const MAX_ANSWERS: usize = 256;
/// Certificates of one response.
const MAX_CERTIFICATES: usize = 16;
/// Extensions of a response, or of one answer.
const MAX_EXTENSIONS: usize = 32;
const FORM: EvidenceError = EvidenceError::Form { what: "an OCSP response" };

/// `id-pkix-ocsp-basic`.
const BASIC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.48.1.1");
/// `id-pkix-ocsp-nonce`: of whoever asked the responder.
const NONCE: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.48.1.2");
/// `id-pkix-ocsp-archive-cutoff`.
const ARCHIVE_CUTOFF: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.48.1.6");

/// A successful basic OCSP response, as received.
#[derive(Clone, Debug)]
pub struct OcspResponse {
    der: Arc<[u8]>,
    tbs: Span,
    algorithm: Span,
    signature: Span,
    responder: Responder,
    produced_at: GenTime,
    answers: Span,
    certificates: Vec<Certificate>,
}

/// `ResponderID` (section 4.2.1).
#[derive(Clone, Copy, Debug)]
enum Responder {
    Name(Span),
    /// The SHA-1 digest of the key's octets.
    Key(Span),
}

impl OcspResponse {
    /// Reads the DER of an `OCSPResponse`. Certificates in it that can't be read are left out.
    pub fn parse(der: &[u8]) -> Result<Self, EvidenceError> {
        if der.len() > MAX_OCSP_BYTES {
            return Err(EvidenceError::Length { bytes: der.len(), limit: MAX_OCSP_BYTES });
        }
        let mut outer =
            Element::parse(der).and_then(|whole| whole.elements_of(Tag::Sequence)).ok_or(FORM)?;
        match outer.expect(Tag::Enumerated).ok_or(FORM)?.value() {
            [0] => {}
            [_] => return Err(EvidenceError::Unsuccessful),
            _ => return Err(FORM),
        }
        let basic = outer.expect(context(0, true)).and_then(|bytes| basic(&bytes)).ok_or(FORM)?;
        if !outer.is_empty() {
            return Err(FORM);
        }
        Self::read(der, basic).ok_or(FORM)
    }

    /// `BasicOCSPResponse` and `ResponseData`.
    fn read(der: &[u8], basic: &[u8]) -> Option<Self> {
        let mut fields = Element::parse(basic)?.elements_of(Tag::Sequence)?;
        let tbs = fields.expect(Tag::Sequence)?;
        let algorithm = fields.expect(Tag::Sequence)?;
        let signature = whole_octets(&fields.next()?)?;
        let certificates = match fields.optional(context(0, true)) {
            None => Vec::new(),
            Some(list) => {
                let list = Element::parse(list.value())?.elements_of(Tag::Sequence)?;
                let list = list.collect_all(MAX_CERTIFICATES)?;
                list.iter().filter_map(|one| Certificate::parse(one.raw()).ok()).collect()
            }
        };
        let mut data = tbs.elements()?;
        if let Some(version) = data.optional(context(0, true))
            && Element::parse(version.value())?.small() != Some(0)
        {
            return None;
        }
        let span = |part| Span::of(der, part);
        let responder = match data.next()? {
            by if by.tag() == context(1, true) => {
                Responder::Name(span(Name::read(&Element::parse(by.value())?)?.raw()))
            }
            by if by.tag() == context(2, true) => {
                Responder::Key(span(Element::parse(by.value())?.octets()?))
            }
            _ => return None,
        };
        let produced_at = read_time(&data.expect(Tag::GeneralizedTime)?)?;
        let answers = data.expect(Tag::Sequence)?.value();
        for answer in Elements::new(answers)?.collect_all(MAX_ANSWERS)? {
            Answer::read(&answer)?;
        }
        if let Some(extensions) = data.optional(context(1, true)) {
            understood(&extensions)?;
        }
        (fields.is_empty() && data.is_empty()).then(|| Self {
            tbs: span(tbs.raw()),
            algorithm: span(algorithm.raw()),
            signature: span(signature),
            responder,
            produced_at,
            answers: span(answers),
            certificates,
            der: der.into(),
        })
    }

    /// The response, as received.
    #[must_use]
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// What it says about a certificate of `issuer`, if it counts.
    pub(super) fn sightings(
        &self,
        certificate: &Certificate,
        issuer: &Certificate,
        sha1: Sha1,
    ) -> Vec<Sighting> {
        let answers = Elements::new(self.answers.within(&self.der));
        let answers = answers.and_then(|answers| answers.collect_all(MAX_ANSWERS));
        let sightings: Vec<_> = answers
            .unwrap_or_default()
            .iter()
            .filter_map(Answer::read)
            .filter(|answer| answer.is_about(certificate, issuer))
            .filter_map(|answer| answer.sighting(certificate))
            .collect();
        if sightings.is_empty() || !self.is_signed_for(issuer, sha1) {
            Vec::new()
        } else {
            sightings
        }
    }

    /// Section 4.2.2.2: the issuer signed it, or somebody to whom the issuer itself gave that
    /// purpose.
    fn is_signed_for(&self, issuer: &Certificate, sha1: Sha1) -> bool {
        let delegate = |one: &&Certificate| self.is_delegate(one, issuer, sha1);
        let delegates = self.certificates.iter().filter(|one| self.is_responder(one));
        let itself = Some(issuer).filter(|issuer| self.is_responder(issuer));
        itself
            .into_iter()
            .chain(delegates.filter(delegate))
            .any(|responder| self.is_signed_by(responder, sha1).is_ok())
    }

    fn is_responder(&self, certificate: &Certificate) -> bool {
        match self.responder {
            Responder::Name(name) => {
                certificate.subject().matches(&Name::again(name.within(&self.der)))
            }
            Responder::Key(digest) => {
                let key = certificate.public_key_octets();
                HashAlgorithm::Sha1.digest(key) == digest.within(&self.der)
            }
        }
    }

    fn is_delegate(&self, responder: &Certificate, issuer: &Certificate, sha1: Sha1) -> bool {
        let extensions = responder.extensions();
        let for_ocsp =
            |usage: &ExtendedKeyUsage| usage.purposes.contains(&ExtendedKeyUsage::OCSP_SIGNING);
        let signs = KeyUsage::DIGITAL_SIGNATURE.union(KeyUsage::NON_REPUDIATION);
        let is_issued = || {
            let algorithm = responder.signature_algorithm();
            let scheme = SignatureScheme::of_certificate(&algorithm, sha1)?;
            scheme.verify(&issuer.public_key(), responder.tbs(), responder.signature())
        };
        responder.issuer().matches(&issuer.subject())
            && extensions.extended_key_usage.as_ref().is_some_and(for_ocsp)
            && extensions.key_usage.is_none_or(|usage| usage.intersects(signs))
            && extensions.unknown_critical.is_none()
            && responder.is_valid_at(self.produced_at)
            && is_issued().is_ok()
    }

    fn is_signed_by(&self, responder: &Certificate, sha1: Sha1) -> Result<(), SignatureError> {
        let algorithm = Element::parse(self.algorithm.within(&self.der));
        let algorithm = algorithm.ok_or(SignatureError::Form)?;
        let (tbs, signature) = (self.tbs.within(&self.der), self.signature.within(&self.der));
        let scheme = SignatureScheme::of_certificate(&algorithm, sha1)?;
        scheme.verify(&responder.public_key(), tbs, signature)
    }
}

/// The `BasicOCSPResponse` in `ResponseBytes`.
fn basic<'a>(bytes: &Element<'a>) -> Option<&'a [u8]> {
    let mut fields = Element::parse(bytes.value())?.elements_of(Tag::Sequence)?;
    let oid = fields.next()?.oid()?;
    let response = fields.next()?.octets()?;
    (fields.is_empty() && oid == BASIC).then_some(response)
}

/// The extensions in `[1] EXPLICIT Extensions`. `None` if one is critical and not understood.
fn understood<'a>(wrapper: &Element<'a>) -> Option<Vec<Extension<'a>>> {
    let list = Element::parse(wrapper.value())?.elements_of(Tag::Sequence)?;
    let list = list.collect_all(MAX_EXTENSIONS)?;
    let list: Vec<_> = list.iter().map(Extension::read).collect::<Option<_>>()?;
    let known = |oid| oid == NONCE || oid == ARCHIVE_CUTOFF;
    let all = list.iter().all(|extension| !extension.critical || known(extension.oid));
    all.then_some(list)
}

/// `SingleResponse` (section 4.2.1).
struct Answer<'a> {
    hash: Option<HashAlgorithm>,
    name_digest: &'a [u8],
    key_digest: &'a [u8],
    serial: &'a [u8],
    status: Element<'a>,
    this_update: GenTime,
    /// id-pkix-ocsp-archive-cutoff: certificates that expired from then on are still known.
    kept_since: Option<GenTime>,
}

impl<'a> Answer<'a> {
    fn read(element: &Element<'a>) -> Option<Self> {
        let mut fields = element.elements_of(Tag::Sequence)?;
        let mut id = fields.next()?.elements_of(Tag::Sequence)?;
        let hash = HashAlgorithm::from_element(&id.next()?);
        let name_digest = id.next()?.octets()?;
        let key_digest = id.next()?.octets()?;
        let serial = id.expect(Tag::Integer)?.value();
        let status = fields.next()?;
        let this_update = read_time(&fields.expect(Tag::GeneralizedTime)?)?;
        if let Some(next_update) = fields.optional(context(0, true)) {
            read_time(&Element::parse(next_update.value())?)?;
        }
        let mut kept_since = None;
        if let Some(extensions) = fields.optional(context(1, true)) {
            let cutoff = |one: &Extension<'a>| one.oid == ARCHIVE_CUTOFF;
            let cutoff = understood(&extensions)?.into_iter().find(cutoff);
            kept_since = cutoff.and_then(|cutoff| read_time(&cutoff.value()?));
        }
        let whole = id.is_empty() && fields.is_empty();
        whole.then_some(Self {
            hash,
            name_digest,
            key_digest,
            serial,
            status,
            this_update,
            kept_since,
        })
    }

    /// Whether `CertID` names this certificate. Its hash identifies and protects nothing, so SHA-1
    /// does (section 4.3); the two digests are of what the issuer's certificate has, not of what
    /// a certificate says.
    fn is_about(&self, certificate: &Certificate, issuer: &Certificate) -> bool {
        self.hash.is_some_and(|hash| {
            number(self.serial) == number(certificate.serial())
                && hash.digest(certificate.issuer().raw()) == self.name_digest
                && hash.digest(issuer.public_key_octets()) == self.key_digest
        })
    }

    fn sighting(&self, certificate: &Certificate) -> Option<Sighting> {
        const GOOD: Tag = context(0, false);
        const REVOKED: Tag = context(1, true);

        let status = match self.status.tag() {
            GOOD if still_named(certificate, self.this_update, self.kept_since) => Status::Good,
            REVOKED => Status::Revoked(revocation(self.status.elements()?)?),
            // Unknown, or good for want of knowing better.
            _ => return None,
        };
        Some(Sighting { kind: EvidenceKind::Ocsp, as_of: self.this_update, whole: true, status })
    }
}

/// `RevokedInfo`.
fn revocation(mut fields: Elements<'_>) -> Option<Revocation> {
    let date = read_time(&fields.expect(Tag::GeneralizedTime)?)?;
    let reason = fields.optional(context(0, true));
    let reason = reason.map(|reason| read_reason(Element::parse(reason.value()).as_ref()));
    fields.is_empty().then_some(Revocation { date, reason, invalid_since: None })
}
