//! Certificates (RFC 5280 section 4) with every field a knob.
//!
//! What it is: a template whose fields may be set to anything, and what it becomes once an issuer has signed
//! it, sound or not. What it isn't: the hierarchy that the cases share, which is `world`.

use std::sync::Arc;

use super::keys::{Hash, Key, Scheme};
use super::raw::{
    bits, boolean, context, context_primitive, generalized, integer, join, named_bits, number,
    octets, oid, sequence, unsigned, utc,
};

/// id-kp-timeStamping.
pub const TIME_STAMPING: &str = "1.3.6.1.5.5.7.3.8";
/// id-kp-OCSPSigning.
pub const OCSP_SIGNING: &str = "1.3.6.1.5.5.7.3.9";
/// id-ce-extKeyUsage.
pub const EKU: &str = "2.5.29.37";
/// id-ce-keyUsage.
pub const KEY_USAGE: &str = "2.5.29.15";
/// id-ce-basicConstraints.
pub const BASIC_CONSTRAINTS: &str = "2.5.29.19";
/// id-ce-subjectKeyIdentifier.
pub const SUBJECT_KEY_ID: &str = "2.5.29.14";
/// id-ce-authorityKeyIdentifier.
pub const AUTHORITY_KEY_ID: &str = "2.5.29.35";
/// id-ce-subjectAltName.
pub const SUBJECT_ALT_NAME: &str = "2.5.29.17";
/// id-ce-nameConstraints.
pub const NAME_CONSTRAINTS: &str = "2.5.29.30";
/// id-ce-certificatePolicies.
pub const POLICIES: &str = "2.5.29.32";
/// id-ce-policyConstraints.
pub const POLICY_CONSTRAINTS: &str = "2.5.29.36";

/// One extension.
#[derive(Clone, Debug)]
pub struct Extension {
    /// Its identifier, dotted.
    pub oid: &'static str,
    /// Whether it is critical.
    pub critical: bool,
    /// The contents of extnValue.
    pub value: Vec<u8>,
}

impl Extension {
    /// An extension of these parts.
    #[must_use]
    pub const fn new(oid: &'static str, critical: bool, value: Vec<u8>) -> Self {
        Self { oid, critical, value }
    }

    /// extKeyUsage with these purposes.
    #[must_use]
    pub fn purposes(critical: bool, purposes: &[&str]) -> Self {
        Self::new(EKU, critical, sequence(purposes.iter().map(|purpose| oid(purpose))))
    }

    /// keyUsage with these bits.
    #[must_use]
    pub fn key_usage(bits: &[usize]) -> Self {
        Self::new(KEY_USAGE, true, named_bits(bits))
    }

    /// basicConstraints of a CA.
    #[must_use]
    pub fn ca(path_length: Option<u64>) -> Self {
        let path_length = path_length.map(number).unwrap_or_default();
        Self::new(BASIC_CONSTRAINTS, true, sequence([boolean(true), path_length]))
    }

    /// `Extension`.
    #[must_use]
    pub fn to_der(&self) -> Vec<u8> {
        let critical = if self.critical { boolean(true) } else { Vec::new() };
        sequence([oid(self.oid), critical, octets(&self.value)])
    }
}

/// What a certificate will say.
#[derive(Clone, Debug)]
pub struct Template {
    /// The version's number, 2 for v3; `None` leaves it out, which means v1.
    pub version: Option<u64>,
    /// serialNumber, as a whole `INTEGER`.
    pub serial: Vec<u8>,
    /// The issuer's `Name`.
    pub issuer: Vec<u8>,
    /// The subject's `Name`.
    pub subject: Vec<u8>,
    /// notBefore, as a whole `UTCTime` or `GeneralizedTime`.
    pub not_before: Vec<u8>,
    /// notAfter, likewise.
    pub not_after: Vec<u8>,
    /// `SubjectPublicKeyInfo`.
    pub spki: Vec<u8>,
    /// The extensions, in order; none leaves the field out.
    pub extensions: Vec<Extension>,
    /// How it is signed; `None` for the way of the issuer's key.
    pub scheme: Option<Scheme>,
    /// The signature algorithm within the signed part, in place of the scheme's own.
    pub inner_algorithm: Option<Vec<u8>>,
    /// The signature algorithm beside the signature, in place of the scheme's own.
    pub outer_algorithm: Option<Vec<u8>>,
    /// Flips the last bit of the signature.
    pub break_signature: bool,
    /// The key that signs in place of the issuer's.
    pub forger: Option<Arc<Key>>,
}

impl Template {
    /// The first extension with this identifier.
    ///
    /// # Panics
    /// When there is none.
    #[allow(clippy::expect_used, reason = "the forge knows its own templates")]
    pub fn extension(&mut self, oid: &str) -> &mut Extension {
        self.extensions
            .iter_mut()
            .find(|known| known.oid == oid)
            .expect("an extension of the template")
    }

    /// Takes the extensions with this identifier away.
    pub fn without(&mut self, oid: &str) {
        self.extensions.retain(|known| known.oid != oid);
    }

    /// Sets validity to these times, `YYYYMMDDhhmmssZ`, in the form RFC 5280 section 4.1.2.5 asks for.
    pub fn valid(&mut self, from: &str, to: &str) {
        self.not_before = x509_time(from);
        self.not_after = x509_time(to);
    }

    /// `TBSCertificate`.
    fn to_be_signed(&self, inner_algorithm: &[u8]) -> Vec<u8> {
        let extensions = if self.extensions.is_empty() {
            Vec::new()
        } else {
            context(3, sequence(self.extensions.iter().map(Extension::to_der)))
        };
        sequence([
            self.version.map(|version| context(0, number(version))).unwrap_or_default(),
            self.serial.clone(),
            inner_algorithm.to_vec(),
            self.issuer.clone(),
            sequence([&self.not_before, &self.not_after]),
            self.subject.clone(),
            self.spki.clone(),
            extensions,
        ])
    }

    /// The certificate, signed by `key`.
    #[must_use]
    pub fn sign(&self, key: &Key) -> Vec<u8> {
        let key = self.forger.as_deref().unwrap_or(key);
        let scheme = self.scheme.unwrap_or(key.scheme());
        let inner = self.inner_algorithm.clone().unwrap_or_else(|| scheme.identifier());
        let outer = self.outer_algorithm.clone().unwrap_or_else(|| scheme.identifier());
        let signed = self.to_be_signed(&inner);
        let mut signature = key.sign(scheme, &signed);
        if let Some(last) = signature.last_mut().filter(|_| self.break_signature) {
            *last ^= 1;
        }
        sequence([signed, outer, bits(signature)])
    }
}

/// A certificate with its private key.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The key.
    pub key: Arc<Key>,
    /// What the certificate says.
    pub template: Template,
    /// The certificate.
    pub certificate: Vec<u8>,
}

impl Identity {
    /// A root that signed itself.
    #[must_use]
    pub fn root(template: Template, key: Arc<Key>) -> Self {
        let certificate = template.sign(&key);
        Self { key, template, certificate }
    }

    /// What `issuer` makes of the template.
    #[must_use]
    pub fn issued(template: Template, key: Arc<Key>, issuer: &Self) -> Self {
        let certificate = template.sign(&issuer.key);
        Self { key, template, certificate }
    }

    /// The identifier that RFC 5280 section 4.2.1.2 (1) makes of the key.
    #[must_use]
    pub fn key_identifier(&self) -> Vec<u8> {
        key_identifier(&self.key)
    }

    /// `IssuerAndSerialNumber`.
    #[must_use]
    pub fn issuer_and_serial(&self) -> Vec<u8> {
        sequence([&self.template.issuer, &self.template.serial])
    }
}

/// The SHA-1 of the public key's bits (RFC 5280 section 4.2.1.2): a name, not a digest that protects.
#[must_use]
pub fn key_identifier(key: &Key) -> Vec<u8> {
    Hash::Sha1.digest(&key.public_octets())
}

/// subjectKeyIdentifier for this key.
#[must_use]
pub fn subject_key_id(key: &Key) -> Extension {
    Extension::new(SUBJECT_KEY_ID, false, octets(key_identifier(key)))
}

/// authorityKeyIdentifier for this issuer's key.
#[must_use]
pub fn authority_key_id(key: &Key) -> Extension {
    Extension::new(AUTHORITY_KEY_ID, false, sequence([context_primitive(0, key_identifier(key))]))
}

/// A serial number of `octets` octets that hangs on the label: positive, high bit clear.
#[must_use]
pub fn serial(label: &str, octets: usize) -> Vec<u8> {
    let mut bytes = Hash::Sha512.digest(label.as_bytes());
    bytes.truncate(octets);
    if let Some(first) = bytes.first_mut() {
        *first = *first & 0x3f | 0x40;
    }
    unsigned(&bytes)
}

/// `UTCTime` up to 2049, `GeneralizedTime` from 2050 on (RFC 5280 section 4.1.2.5).
#[must_use]
pub fn x509_time(text: &str) -> Vec<u8> {
    match text.strip_prefix("20") {
        Some(short) if text < "2050" => utc(short),
        _ => generalized(text),
    }
}

/// nameConstraints that permit, or exclude, the names below this `Name`.
#[must_use]
pub fn name_constraints(permitted: &[&[u8]], excluded: &[&[u8]]) -> Extension {
    let trees = |number: u8, names: &[&[u8]]| {
        let bases = names.iter().map(|name| sequence([context(4, name)]));
        if names.is_empty() { Vec::new() } else { context(number, join(bases)) }
    };
    Extension::new(NAME_CONSTRAINTS, true, sequence([trees(0, permitted), trees(1, excluded)]))
}

/// An `INTEGER` that is negative: -1.
#[must_use]
pub fn minus_one() -> Vec<u8> {
    integer([0xff])
}
