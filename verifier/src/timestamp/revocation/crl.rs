//! Certificate revocation lists (RFC 5280 section 5).

use std::sync::Arc;

use anchorlog_proto::timestamp::GenTime;
use anchorlog_proto::timestamp::ObjectIdentifier;
use anchorlog_proto::timestamp::element::{Element, Elements, context};
use der::{Decode, Encode as _, Tag};
use x509_cert::ext::pkix::crl::dp::IssuingDistributionPoint;
use x509_cert::ext::pkix::name::DistributionPointName;

use super::super::certificate::{
    Certificate, Encodings, Extension, KeyUsage, Span, encodings, read_time,
};
use super::super::name::{GeneralName, Name};
use super::super::signature::{Sha1, SignatureScheme, whole_octets};
use super::reason::{Revocation, UNREADABLE};
use super::{EvidenceError, EvidenceKind, MAX_EVIDENCE, Sighting, Status, number, still_named};

/// The longest CRL that is read, in bytes. Its entries are read one by one where they stand, so
/// this bounds them too.
pub const MAX_CRL_BYTES: usize = 16 * 1024 * 1024;

/// Extensions of a CRL, or of one entry.
const MAX_EXTENSIONS: usize = 32;
const FORM: EvidenceError = EvidenceError::Form { what: "a CRL" };

const ISSUER_ALTERNATIVE_NAMES: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.18");
const CRL_NUMBER: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.20");
const REASON_CODE: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.21");
const INVALIDITY_DATE: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.24");
const DELTA_CRL_INDICATOR: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.27");
const ISSUING_DISTRIBUTION_POINT: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.28");
const AUTHORITY_KEY_ID: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.35");
const FRESHEST_CRL: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.46");
const EXPIRED_CERTS_ON_CRL: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.60");

/// A certificate revocation list, as received.
///
/// Any that is of its form is read; whether it counts for a certificate is found out with that.
#[derive(Clone, Debug)]
pub struct Crl {
    der: Arc<[u8]>,
    tbs: Span,
    algorithm: Span,
    signature: Span,
    issuer: Span,
    entries: Span,
    this_update: GenTime,
    scope: Scope,
    expired_kept_since: Option<GenTime>,
}

/// Whose certificates a list names.
#[derive(Clone, Debug)]
enum Scope {
    /// It doesn't count: one for several issuers, or one with critical extensions that aren't understood.
    Nobody,
    /// These, as its issuing distribution point says.
    Of {
        /// Whether whoever it doesn't name was not revoked. A delta, or a list for some reasons only, says
        /// that of nobody; whom it names is revoked all the same.
        whole: bool,
        users: bool,
        authorities: bool,
        /// The places of which certificates must name one, if it names some: each the DER of a
        /// GeneralName.
        points: Option<Vec<Vec<u8>>>,
    },
}

impl Crl {
    /// Reads the DER of a CRL, down to every entry.
    pub fn parse(der: &[u8]) -> Result<Self, EvidenceError> {
        if der.len() > MAX_CRL_BYTES {
            return Err(EvidenceError::Length { bytes: der.len(), limit: MAX_CRL_BYTES });
        }
        Self::read(der).ok_or(FORM)
    }

    fn read(der: &[u8]) -> Option<Self> {
        let mut outer = Element::parse(der)?.elements_of(Tag::Sequence)?;
        let tbs = outer.expect(Tag::Sequence)?;
        let algorithm = outer.expect(Tag::Sequence)?;
        let signature = whole_octets(&outer.next()?)?;
        let mut fields = tbs.elements()?;
        let version = fields.optional(Tag::Integer);
        let is_v2 = version.is_some_and(|version| version.small() == Some(1));
        let inner_algorithm = fields.expect(Tag::Sequence)?;
        let issuer = Name::read(&fields.next()?)?;
        let this_update = read_time(&fields.next()?)?;
        if matches!(fields.peek(), Some(Tag::UtcTime | Tag::GeneralizedTime)) {
            read_time(&fields.next()?)?;
        }
        let entries = fields.optional(Tag::Sequence).map_or(&[][..], |entries| entries.value());
        let extensions = fields.optional(context(0, true));
        let whole = outer.is_empty() && fields.is_empty();
        let versions_fit = is_v2 || (version.is_none() && extensions.is_none());
        if !whole || !versions_fit || inner_algorithm.raw() != algorithm.raw() {
            return None;
        }
        let mut scope = Scope::Of { whole: true, users: true, authorities: true, points: None };
        let mut is_delta = false;
        let mut expired_kept_since = None;
        if let Some(wrapper) = extensions {
            let list = Element::parse(wrapper.value())?.elements_of(Tag::Sequence)?;
            for extension in list.collect_all(MAX_EXTENSIONS)? {
                let extension = Extension::read(&extension)?;
                match extension.oid {
                    ISSUER_ALTERNATIVE_NAMES | CRL_NUMBER | AUTHORITY_KEY_ID | FRESHEST_CRL => {}
                    EXPIRED_CERTS_ON_CRL => {
                        expired_kept_since = extension.value().and_then(|time| read_time(&time));
                    }
                    ISSUING_DISTRIBUTION_POINT if !matches!(scope, Scope::Nobody) => {
                        scope = distribution_point(extension.octets);
                    }
                    DELTA_CRL_INDICATOR => is_delta = true,
                    _ if extension.critical => scope = Scope::Nobody,
                    _ => {}
                }
            }
        }
        let mut list = Elements::new(entries)?;
        while !list.is_empty() {
            if Entry::read(&list.next()?)?.has_unknown_critical() {
                scope = Scope::Nobody;
            }
        }
        if let Scope::Of { whole, .. } = &mut scope {
            *whole &= !is_delta;
        }
        let span = |part| Span::of(der, part);
        Some(Self {
            tbs: span(tbs.raw()),
            algorithm: span(algorithm.raw()),
            signature: span(signature),
            issuer: span(issuer.raw()),
            entries: span(entries),
            this_update,
            scope,
            expired_kept_since,
            der: der.into(),
        })
    }

    /// The CRL, as received.
    #[must_use]
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// Who issued it, by name.
    #[must_use]
    pub fn issuer(&self) -> Name<'_> {
        Name::again(self.issuer.within(&self.der))
    }

    /// When it was issued.
    #[must_use]
    pub const fn this_update(&self) -> GenTime {
        self.this_update
    }

    /// What it says about a certificate of `issuer`, if it counts.
    pub(super) fn sightings(
        &self,
        certificate: &Certificate,
        issuer: &Certificate,
        sha1: Sha1,
    ) -> Vec<Sighting> {
        if !self.issuer().matches(&issuer.subject()) || !self.scope.covers(certificate) {
            return Vec::new();
        }
        let whole = matches!(self.scope, Scope::Of { whole: true, .. });
        let entries = self.revocations(certificate);
        let revoked = entries.filter(|entry| whole || !entry.is_removal());
        let mut statuses: Vec<_> = revoked.map(Status::Revoked).collect();
        if whole
            && statuses.is_empty()
            && still_named(certificate, self.this_update, self.expired_kept_since)
        {
            statuses.push(Status::Good);
        }
        if statuses.is_empty() || !self.is_signed_by(issuer, sha1) {
            return Vec::new();
        }
        let (kind, as_of) = (EvidenceKind::Crl, self.this_update);
        statuses.into_iter().map(|status| Sighting { kind, as_of, whole, status }).collect()
    }

    /// What its entries say; there should be one at most.
    fn revocations(&self, certificate: &Certificate) -> impl Iterator<Item = Revocation> {
        let wanted = number(certificate.serial());
        self.entries()
            .filter(move |entry| number(entry.serial) == wanted)
            .map(|entry| entry.revocation())
    }

    /// The entries, as `parse` has read them once.
    fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let mut list = Elements::new(self.entries.within(&self.der));
        core::iter::from_fn(move || Entry::read(&list.as_mut()?.next()?))
    }

    fn is_signed_by(&self, issuer: &Certificate, sha1: Sha1) -> bool {
        let may_sign =
            issuer.extensions().key_usage.is_none_or(|usage| usage.intersects(KeyUsage::CRL_SIGN));
        let verifies = |algorithm: &Element<'_>| {
            let scheme = SignatureScheme::of_certificate(algorithm, sha1)?;
            let (tbs, signature) = (self.tbs.within(&self.der), self.signature.within(&self.der));
            scheme.verify(&issuer.public_key(), tbs, signature)
        };
        may_sign
            && Element::parse(self.algorithm.within(&self.der))
                .is_some_and(|algorithm| verifies(&algorithm).is_ok())
    }
}

impl Scope {
    fn covers(&self, certificate: &Certificate) -> bool {
        let Self::Of { users, authorities, points, .. } = self else { return false };
        let extensions = certificate.extensions();
        let is_ca = extensions.basic_constraints.is_some_and(|constraints| constraints.ca);
        let of_kind = if is_ca { *authorities } else { *users };
        let named = |point: &Vec<u8>| {
            extensions.crl_points.iter().any(|own| is_same_name(own, point))
                || is_issuer(certificate, point)
        };
        of_kind && points.as_ref().is_none_or(|points| points.iter().any(named))
    }
}

fn is_same_name(ours: &[u8], theirs: &[u8]) -> bool {
    let same = |theirs| general_name(ours).is_some_and(|ours| ours.matches(&theirs));
    ours == theirs || general_name(theirs).is_some_and(same)
}

/// Whether the point is the issuer of the certificate by name: RFC 5280 section 6.3.3, last paragraph,
/// takes every certificate to name that one.
fn is_issuer(certificate: &Certificate, point: &[u8]) -> bool {
    let issuer = GeneralName::Directory(certificate.issuer());
    general_name(point).is_some_and(|point| point.matches(&issuer))
}

fn general_name(der: &[u8]) -> Option<GeneralName<'_>> {
    GeneralName::read(&Element::parse(der)?)
}

/// issuingDistributionPoint (RFC 5280 section 5.2.5).
fn distribution_point(der: &[u8]) -> Scope {
    let Ok(point) = IssuingDistributionPoint::from_der(der) else { return Scope::Nobody };
    if point.indirect_crl || point.only_contains_attribute_certs {
        return Scope::Nobody;
    }
    let points = match point.distribution_point {
        None => None,
        Some(DistributionPointName::FullName(names)) => {
            Some(names.iter().filter_map(|name| name.to_der().ok()).collect())
        }
        Some(DistributionPointName::NameRelativeToCRLIssuer(_)) => return Scope::Nobody,
    };
    Scope::Of {
        whole: point.only_some_reasons.is_none(),
        users: !point.only_contains_ca_certs,
        authorities: !point.only_contains_user_certs,
        points,
    }
}

/// An entry (RFC 5280 section 5.1.2.6).
struct Entry<'a> {
    serial: &'a [u8],
    date: GenTime,
    extensions: Vec<Extension<'a>>,
}

impl<'a> Entry<'a> {
    fn read(element: &Element<'a>) -> Option<Self> {
        let mut fields = element.elements_of(Tag::Sequence)?;
        let serial = fields.expect(Tag::Integer)?.value();
        let date = read_time(&fields.next()?)?;
        let extensions = match fields.optional(Tag::Sequence) {
            None => Vec::new(),
            Some(list) => {
                let list = list.elements()?.collect_all(MAX_EXTENSIONS)?;
                list.iter().map(Extension::read).collect::<Option<_>>()?
            }
        };
        fields.is_empty().then_some(Self { serial, date, extensions })
    }

    /// Section 5.3: such a list is used for nobody. certificateIssuer, of lists for several
    /// issuers, is one of them.
    fn has_unknown_critical(&self) -> bool {
        let known = |oid| oid == REASON_CODE || oid == INVALIDITY_DATE;
        self.extensions.iter().any(|extension| extension.critical && !known(extension.oid))
    }

    fn revocation(&self) -> Revocation {
        let mut revocation = Revocation { date: self.date, reason: None, invalid_since: None };
        for extension in &self.extensions {
            let value = extension.value();
            match extension.oid {
                REASON_CODE => revocation.reason = Some(read_reason(value.as_ref())),
                INVALIDITY_DATE => {
                    // One that can't be read may be any.
                    let since = value.and_then(|time| read_time(&time));
                    revocation.invalid_since = since.or(Some(GenTime::from_unix(i64::MIN)));
                }
                _ => {}
            }
        }
        revocation
    }
}

/// `CRLReason`; one that can't be read is one that nobody knows.
pub(super) fn read_reason(element: Option<&Element<'_>>) -> u8 {
    match element.map(|element| (element.tag(), element.value())) {
        Some((Tag::Enumerated, &[reason])) => reason,
        _ => UNREADABLE,
    }
}

/// Reads CRLs from a file: PEM with any number of them (text and other PEM around them is passed
/// over), or the DER of one. Whoever names a file means every CRL in it.
pub fn read_crls(bytes: &[u8]) -> Result<Vec<Crl>, EvidenceError> {
    // PEM is four characters for three bytes, and line ends.
    const LIMIT: usize = MAX_CRL_BYTES * 3 / 2;
    if bytes.len() > LIMIT {
        return Err(EvidenceError::Length { bytes: bytes.len(), limit: LIMIT });
    }
    match encodings(bytes, "X509 CRL", MAX_EVIDENCE) {
        Some(Encodings::Der) => Ok(vec![Crl::parse(bytes)?]),
        Some(Encodings::Pem(blocks)) => blocks.iter().map(|block| Crl::parse(block)).collect(),
        Some(Encodings::TooMany) => Err(EvidenceError::Count { limit: MAX_EVIDENCE }),
        None => Err(EvidenceError::Pem),
    }
}
