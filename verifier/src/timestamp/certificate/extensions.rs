//! The extensions of a certificate (RFC 5280 section 4.2).

use anchorlog_proto::timestamp::ObjectIdentifier;
use anchorlog_proto::timestamp::element::{Element, Elements, context};
use der::{Decode, Encode as _, Tag};
use x509_cert::ext::pkix::name::{DistributionPointName, GeneralName as TypedName};
use x509_cert::ext::pkix::{AuthorityInfoAccessSyntax, CrlDistributionPoints};

use super::super::name::GeneralName;
use super::{CertificateError, Span};

/// Extensions of one certificate.
const MAX_EXTENSIONS: usize = 64;
/// Alternative names of one certificate, and subtrees of one list of name constraints.
const MAX_NAMES: usize = 1024;
/// Purposes of one certificate.
const MAX_PURPOSES: usize = 256;

/// `anyPolicy` (RFC 5280 section 4.2.1.4).
pub(in crate::timestamp) const ANY_POLICY: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("2.5.29.32.0");

const CA_ISSUERS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.48.2");
const OCSP: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.48.1");

const SUBJECT_KEY_ID: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.14");
const KEY_USAGE: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.15");
const ALTERNATIVE_NAMES: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.17");
const BASIC_CONSTRAINTS: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.19");
const NAME_CONSTRAINTS: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.30");
const CRL_DISTRIBUTION_POINTS: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.31");
const CERTIFICATE_POLICIES: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.32");
const POLICY_MAPPINGS: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.33");
const AUTHORITY_KEY_ID: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.35");
const POLICY_CONSTRAINTS: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.36");
const EXTENDED_KEY_USAGE: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.37");
const INHIBIT_ANY_POLICY: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.54");
const AUTHORITY_ACCESS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.1.1");

/// What the extensions of a certificate say.
///
/// Those that decide whether a path holds are of their form, or the certificate isn't read. Those
/// that only help (key identifiers, places of CRLs and OCSP responders) are left out where they
/// aren't of their form.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Extensions {
    /// basicConstraints.
    pub basic_constraints: Option<BasicConstraints>,
    /// keyUsage.
    pub key_usage: Option<KeyUsage>,
    /// extKeyUsage.
    pub extended_key_usage: Option<ExtendedKeyUsage>,
    /// subjectKeyIdentifier.
    pub subject_key_id: Option<Vec<u8>>,
    /// The key identifier of authorityKeyIdentifier.
    pub authority_key_id: Option<Vec<u8>>,
    /// certificatePolicies.
    pub policies: Option<Vec<ObjectIdentifier>>,
    /// policyMappings.
    pub policy_mappings: Vec<PolicyMapping>,
    /// policyConstraints.
    pub policy_constraints: PolicyConstraints,
    /// inhibitAnyPolicy: certificates that may follow before `anyPolicy` counts no longer.
    pub inhibit_any_policy: Option<u64>,
    /// Where there are CRLs: the URIs of cRLDistributionPoints.
    pub crl_uris: Vec<String>,
    /// Every name of cRLDistributionPoints, URIs among them, each the DER of a GeneralName.
    pub(in crate::timestamp) crl_points: Vec<Vec<u8>>,
    /// Where there are OCSP responders: URIs of authorityInfoAccess.
    pub ocsp_uris: Vec<String>,
    /// Where the issuer's certificate is: URIs of authorityInfoAccess.
    pub issuer_uris: Vec<String>,
    /// The first critical extension that isn't understood.
    pub unknown_critical: Option<ObjectIdentifier>,
    pub(super) alternative_names: Option<Span>,
    pub(super) name_constraints: Option<Span>,
}

/// basicConstraints (RFC 5280 section 4.2.1.9).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct BasicConstraints {
    /// Whether it is a certification authority.
    pub ca: bool,
    /// Intermediate certificates that may follow.
    pub path_length: Option<u64>,
}

/// keyUsage (RFC 5280 section 4.2.1.3): bit 0, `digitalSignature`, is the lowest.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct KeyUsage(u16);

impl KeyUsage {
    /// `digitalSignature`.
    pub const DIGITAL_SIGNATURE: Self = Self(1 << 0);
    /// `nonRepudiation`, or `contentCommitment`.
    pub const NON_REPUDIATION: Self = Self(1 << 1);
    /// `keyCertSign`.
    pub const KEY_CERT_SIGN: Self = Self(1 << 5);
    /// `cRLSign`.
    pub const CRL_SIGN: Self = Self(1 << 6);

    /// Whether one of the uses in `other` is here.
    #[must_use]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether there is nothing here but what is in `other`.
    #[must_use]
    pub const fn is_subset(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// Both uses.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// extKeyUsage (RFC 5280 section 4.2.1.12).
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ExtendedKeyUsage {
    /// Whether the extension is critical.
    pub critical: bool,
    /// The purposes, in their order; at least one.
    pub purposes: Vec<ObjectIdentifier>,
}

impl ExtendedKeyUsage {
    /// `id-kp-timeStamping` (RFC 3161 section 2.3).
    pub const TIME_STAMPING: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.8");
    /// `id-kp-OCSPSigning` (RFC 6960 section 4.2.2.2).
    pub const OCSP_SIGNING: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.3.9");
    /// `anyExtendedKeyUsage`.
    pub const ANY: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.37.0");
}

/// A mapping of policyMappings (RFC 5280 section 4.2.1.5).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct PolicyMapping {
    /// The issuer's policy.
    pub issuer: ObjectIdentifier,
    /// The subject's policy that is equivalent.
    pub subject: ObjectIdentifier,
}

/// policyConstraints (RFC 5280 section 4.2.1.11); nothing, if there are none.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct PolicyConstraints {
    /// Certificates that may follow before a policy is required.
    pub require_explicit_policy: Option<u64>,
    /// Certificates that may follow before policies are mapped no longer.
    pub inhibit_policy_mapping: Option<u64>,
}

impl Extensions {
    pub(super) fn read(
        extensions: Option<&Element<'_>>,
        der: &[u8],
    ) -> Result<Self, CertificateError> {
        const FORM: CertificateError = CertificateError::Form { field: "extensions" };
        let mut read = Self::default();
        let Some(extensions) = extensions else { return Ok(read) };
        let mut list = extensions.elements_of(Tag::Sequence).ok_or(FORM)?;
        let mut seen = Vec::new();
        while !list.is_empty() {
            let extension = list.next().and_then(|one| Extension::read(&one)).ok_or(FORM)?;
            if seen.len() == MAX_EXTENSIONS {
                return Err(CertificateError::Count { limit: MAX_EXTENSIONS });
            }
            if seen.contains(&extension.oid) {
                return Err(CertificateError::DuplicateExtension { oid: extension.oid });
            }
            seen.push(extension.oid);
            let understood = read
                .take(&extension, der)
                .ok_or(CertificateError::Extension { oid: extension.oid })?;
            if extension.critical && !understood && read.unknown_critical.is_none() {
                read.unknown_critical = Some(extension.oid);
            }
        }
        Ok(read)
    }

    /// Whether the extension is understood. `None` if it decides something and isn't of its form.
    fn take(&mut self, extension: &Extension<'_>, der: &[u8]) -> Option<bool> {
        // Who doesn't know an extension doesn't know whether its contents are DER either.
        let value = extension.value().unwrap_or(Element::NULL);
        let typed = extension.octets;
        match extension.oid {
            BASIC_CONSTRAINTS => self.basic_constraints = Some(basic_constraints(&value)?),
            KEY_USAGE => self.key_usage = Some(key_usage(&value)?),
            EXTENDED_KEY_USAGE => {
                let purposes = purposes(&value)?;
                let critical = extension.critical;
                self.extended_key_usage = Some(ExtendedKeyUsage { critical, purposes });
            }
            ALTERNATIVE_NAMES => {
                general_names(typed)?;
                self.alternative_names = Some(Span::of(der, typed));
            }
            NAME_CONSTRAINTS => {
                subtrees(&value)?;
                self.name_constraints = Some(Span::of(der, typed));
            }
            CERTIFICATE_POLICIES => {
                // Qualifiers are for people.
                let policies = sequence_of(&value, |policy| policy.next()?.oid())?;
                self.policies = Some(policies);
            }
            POLICY_MAPPINGS => {
                self.policy_mappings = sequence_of(&value, |mapping| {
                    let (issuer, subject) = (mapping.next()?.oid()?, mapping.next()?.oid()?);
                    mapping.is_empty().then_some(PolicyMapping { issuer, subject })
                })?;
            }
            POLICY_CONSTRAINTS => self.policy_constraints = policy_constraints(&value)?,
            INHIBIT_ANY_POLICY => self.inhibit_any_policy = Some(value.small()?),
            SUBJECT_KEY_ID => {
                self.subject_key_id = value.octets().map(<[u8]>::to_vec);
                return Some(self.subject_key_id.is_some());
            }
            AUTHORITY_KEY_ID => {
                let fields = value.elements_of(Tag::Sequence);
                let id = fields.and_then(|mut fields| fields.optional(context(0, false)));
                self.authority_key_id = id.map(|id| id.value().to_vec());
            }
            CRL_DISTRIBUTION_POINTS => return Some(self.take_distribution_points(typed)),
            AUTHORITY_ACCESS => return Some(self.take_access(typed)),
            _ => return Some(false),
        }
        Some(true)
    }

    fn take_distribution_points(&mut self, der: &[u8]) -> bool {
        let Ok(points) = CrlDistributionPoints::from_der(der) else { return false };
        for point in points.0 {
            if let Some(DistributionPointName::FullName(names)) = point.distribution_point {
                self.crl_uris.extend(names.iter().filter_map(uri));
                self.crl_points.extend(names.iter().filter_map(|name| name.to_der().ok()));
            }
        }
        true
    }

    fn take_access(&mut self, der: &[u8]) -> bool {
        let Ok(descriptions) = AuthorityInfoAccessSyntax::from_der(der) else { return false };
        for description in descriptions.0 {
            let uri = uri(&description.access_location);
            match description.access_method.as_bytes() {
                method if method == OCSP.as_bytes() => self.ocsp_uris.extend(uri),
                method if method == CA_ISSUERS.as_bytes() => self.issuer_uris.extend(uri),
                _ => {}
            }
        }
        true
    }
}

/// A SEQUENCE of one or more SEQUENCEs, each read by `read`.
fn sequence_of<T>(
    value: &Element<'_>,
    read: impl Fn(&mut Elements<'_>) -> Option<T>,
) -> Option<Vec<T>> {
    let all = value.elements_of(Tag::Sequence)?.collect_all(MAX_NAMES)?;
    let one = |element: &Element<'_>| read(&mut element.elements_of(Tag::Sequence)?);
    all.iter().map(one).collect::<Option<Vec<_>>>().filter(|all| !all.is_empty())
}

fn uri(name: &TypedName) -> Option<String> {
    match name {
        TypedName::UniformResourceIdentifier(uri) => Some(uri.as_str().to_owned()),
        _ => None,
    }
}

/// One extension.
pub(in crate::timestamp) struct Extension<'a> {
    pub(in crate::timestamp) oid: ObjectIdentifier,
    pub(in crate::timestamp) critical: bool,
    /// What the OCTET STRING holds.
    pub(in crate::timestamp) octets: &'a [u8],
}

impl<'a> Extension<'a> {
    /// `Extension` (RFC 5280 section 4.1). A `critical` that is FALSE may be written out: DER says
    /// otherwise, and real certificates do it.
    pub(in crate::timestamp) fn read(element: &Element<'a>) -> Option<Self> {
        let mut fields = element.elements_of(Tag::Sequence)?;
        let oid = fields.next()?.oid()?;
        let critical = match fields.optional(Tag::Boolean) {
            Some(critical) => critical.boolean()?,
            None => false,
        };
        let octets = fields.next()?.octets()?;
        fields.is_empty().then_some(Self { oid, critical, octets })
    }

    /// The one element that the OCTET STRING holds.
    pub(in crate::timestamp) fn value(&self) -> Option<Element<'a>> {
        Element::parse(self.octets)
    }
}

/// `GeneralNames`.
pub(super) fn general_names(der: &[u8]) -> Option<Vec<GeneralName<'_>>> {
    let names = Element::parse(der)?.elements_of(Tag::Sequence)?.collect_all(MAX_NAMES)?;
    names.iter().map(GeneralName::read).collect()
}

/// The permitted and the excluded subtrees of name constraints (RFC 5280 section 4.2.1.10).
pub(in crate::timestamp) fn subtrees<'a>(
    constraints: &Element<'a>,
) -> Option<[Vec<GeneralName<'a>>; 2]> {
    let mut fields = constraints.elements_of(Tag::Sequence)?;
    let mut list = |number| match fields.optional(context(number, true)) {
        None => Some(Vec::new()),
        Some(list) => {
            let list = list.elements()?.collect_all(MAX_NAMES)?;
            list.iter().map(subtree).collect()
        }
    };
    let both = [list(0)?, list(1)?];
    fields.is_empty().then_some(both)
}

/// `GeneralSubtree`, whose minimum is 0 and whose maximum is absent: the profile knows no others.
fn subtree<'a>(element: &Element<'a>) -> Option<GeneralName<'a>> {
    let mut fields = element.elements_of(Tag::Sequence)?;
    let base = GeneralName::read(&fields.next()?)?;
    if let Some(minimum) = fields.optional(context(0, false))
        && minimum.value() != [0]
    {
        return None;
    }
    fields.is_empty().then_some(base)
}

fn basic_constraints(value: &Element<'_>) -> Option<BasicConstraints> {
    let mut fields = value.elements_of(Tag::Sequence)?;
    let ca = match fields.optional(Tag::Boolean) {
        Some(ca) => ca.boolean()?,
        None => false,
    };
    let path_length = match fields.optional(Tag::Integer) {
        Some(length) => Some(length.small()?),
        None => None,
    };
    fields.is_empty().then_some(BasicConstraints { ca, path_length })
}

fn key_usage(value: &Element<'_>) -> Option<KeyUsage> {
    let (&unused, octets) = value.value().split_first()?;
    if value.tag() != Tag::BitString || octets.len() > 2 || unused > 7 {
        return None;
    }
    let bits = octets.iter().zip([0_u32, 8]);
    Some(KeyUsage(
        bits.fold(0, |all, (octet, shift)| all | u16::from(octet.reverse_bits()) << shift),
    ))
}

fn purposes(value: &Element<'_>) -> Option<Vec<ObjectIdentifier>> {
    let purposes = value.elements_of(Tag::Sequence)?.collect_all(MAX_PURPOSES)?;
    let purposes: Vec<_> = purposes.iter().map(Element::oid).collect::<Option<_>>()?;
    (!purposes.is_empty()).then_some(purposes)
}

fn policy_constraints(value: &Element<'_>) -> Option<PolicyConstraints> {
    let mut fields = value.elements_of(Tag::Sequence)?;
    let mut count = |number| match fields.optional(context(number, false)) {
        None => Some(None),
        Some(count) => match count.value() {
            [high @ 0..0x80] => Some(Some(u64::from(*high))),
            // So many certificates never follow.
            [0..0x80, _, ..] => Some(Some(u64::MAX)),
            _ => None,
        },
    };
    let constraints =
        PolicyConstraints { require_explicit_policy: count(0)?, inhibit_policy_mapping: count(1)? };
    fields.is_empty().then_some(constraints)
}
