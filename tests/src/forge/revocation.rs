//! CRLs (RFC 5280 section 5) and OCSP responses (RFC 6960 section 4.2), every field a knob.
//!
//! What it is: templates that become signed evidence, sound or not. What it isn't: a judgement on what the
//! evidence means for a time stamp (RFC 3161 section 4), which the cases state.

use super::certificate::{Extension, Identity, authority_key_id, key_identifier, x509_time};
use super::keys::{Hash, Key, Scheme};
use super::raw::{
    bits, context, context_primitive, generalized, join, null, number, octets, oid, sequence, tlv,
};

/// One line of a CRL.
#[derive(Clone, Debug)]
pub struct Revoked {
    /// userCertificate, a whole `INTEGER`.
    pub serial: Vec<u8>,
    /// revocationDate, `YYYYMMDDhhmmssZ`.
    pub date: &'static str,
    /// reasonCode, if one is given.
    pub reason: Option<u8>,
    /// More crlEntryExtensions.
    pub extensions: Vec<Extension>,
}

impl Revoked {
    fn to_der(&self) -> Vec<u8> {
        let reason = self.reason.map(|code| Extension::new("2.5.29.21", false, tlv(0x0a, [code])));
        let extensions: Vec<_> =
            reason.iter().chain(&self.extensions).map(Extension::to_der).collect();
        let extensions = if extensions.is_empty() { Vec::new() } else { sequence(extensions) };
        sequence([self.serial.clone(), x509_time(self.date), extensions])
    }
}

/// What a CRL will say.
#[derive(Clone, Debug)]
pub struct Crl {
    /// The issuer's `Name`.
    pub issuer: Vec<u8>,
    /// thisUpdate, `YYYYMMDDhhmmssZ`.
    pub this_update: &'static str,
    /// nextUpdate; `None` leaves it out.
    pub next_update: Option<&'static str>,
    /// The lines.
    pub revoked: Vec<Revoked>,
    /// crlExtensions.
    pub extensions: Vec<Extension>,
    /// Flips the last bit of the signature.
    pub break_signature: bool,
    /// How it is signed; `None` for the way of the key.
    pub scheme: Option<Scheme>,
}

impl Crl {
    /// An empty list by this CA, issued some hours after the time of the tokens and good for a week.
    #[must_use]
    pub fn of(issuer: &Identity) -> Self {
        Self {
            issuer: issuer.template.subject.clone(),
            this_update: "20250601180000Z",
            next_update: Some("20250608180000Z"),
            revoked: Vec::new(),
            extensions: vec![
                authority_key_id(&issuer.key),
                Extension::new("2.5.29.20", false, number(0x11)),
            ],
            break_signature: false,
            scheme: None,
        }
    }

    /// Adds a line for this certificate.
    #[must_use]
    pub fn with(mut self, who: &Identity, date: &'static str, reason: Option<u8>) -> Self {
        let serial = who.template.serial.clone();
        self.revoked.push(Revoked { serial, date, reason, extensions: Vec::new() });
        self
    }

    /// `CertificateList`.
    #[must_use]
    pub fn sign(&self, key: &Key) -> Vec<u8> {
        let scheme = self.scheme.unwrap_or(key.scheme());
        let lines = if self.revoked.is_empty() {
            Vec::new()
        } else {
            sequence(self.revoked.iter().map(Revoked::to_der))
        };
        let signed = sequence([
            number(1),
            scheme.identifier(),
            self.issuer.clone(),
            x509_time(self.this_update),
            self.next_update.map(x509_time).unwrap_or_default(),
            lines,
            context(0, sequence(self.extensions.iter().map(Extension::to_der))),
        ]);
        let mut signature = key.sign(scheme, &signed);
        if let Some(last) = signature.last_mut().filter(|_| self.break_signature) {
            *last ^= 1;
        }
        sequence([signed, scheme.identifier(), bits(signature)])
    }
}

/// `certStatus` of an OCSP response.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CertStatus {
    /// Not revoked.
    Good,
    /// Revoked at this time, for this reason.
    Revoked(&'static str, Option<u8>),
    /// The responder doesn't know the certificate.
    Unknown,
}

/// What an OCSP response will say about one certificate.
#[derive(Clone, Debug)]
pub struct Ocsp {
    /// `CertID`.
    pub cert_id: Vec<u8>,
    /// certStatus.
    pub status: CertStatus,
    /// thisUpdate.
    pub this_update: &'static str,
    /// nextUpdate; `None` leaves it out.
    pub next_update: Option<&'static str>,
    /// Certificates beside the signature.
    pub certificates: Vec<Vec<u8>>,
    /// responseStatus: 0 is successful, and anything else has no body.
    pub response_status: u8,
    /// Flips the last bit of the signature.
    pub break_signature: bool,
    /// responseExtensions.
    pub extensions: Vec<Extension>,
    /// byKey in place of byName.
    pub by_key: bool,
}

impl Ocsp {
    /// "Good" for this certificate of this issuer, some hours after the time of the tokens.
    #[must_use]
    pub fn about(who: &Identity, issuer: &Identity) -> Self {
        Self {
            cert_id: cert_id(Hash::Sha1, issuer, &who.template.serial),
            status: CertStatus::Good,
            this_update: "20250601180000Z",
            next_update: Some("20250608180000Z"),
            certificates: Vec::new(),
            response_status: 0,
            break_signature: false,
            extensions: Vec::new(),
            by_key: false,
        }
    }

    /// `OCSPResponse`, signed by this responder.
    #[must_use]
    pub fn sign(&self, responder: &Identity) -> Vec<u8> {
        let status = tlv(0x0a, [self.response_status]);
        if self.response_status != 0 {
            return sequence([status]);
        }
        let cert_status = match self.status {
            CertStatus::Good => context_primitive(0, []),
            CertStatus::Revoked(date, reason) => {
                let reason = reason.map(|code| context(0, tlv(0x0a, [code]))).unwrap_or_default();
                context(1, join([generalized(date), reason]))
            }
            CertStatus::Unknown => context_primitive(2, []),
        };
        let single = sequence([
            self.cert_id.clone(),
            cert_status,
            generalized(self.this_update),
            self.next_update.map(|time| context(0, generalized(time))).unwrap_or_default(),
        ]);
        let id = if self.by_key {
            context(2, octets(key_identifier(&responder.key)))
        } else {
            context(1, &responder.template.subject)
        };
        let extensions = if self.extensions.is_empty() {
            Vec::new()
        } else {
            context(1, sequence(self.extensions.iter().map(Extension::to_der)))
        };
        let data = sequence([id, generalized(self.this_update), sequence([single]), extensions]);
        let scheme = responder.key.scheme();
        let mut signature = responder.key.sign(scheme, &data);
        if let Some(last) = signature.last_mut().filter(|_| self.break_signature) {
            *last ^= 1;
        }
        let certificates = if self.certificates.is_empty() {
            Vec::new()
        } else {
            context(0, sequence(&self.certificates))
        };
        let basic = sequence([data, scheme.identifier(), bits(signature), certificates]);
        let bytes = sequence([oid("1.3.6.1.5.5.7.48.1.1"), octets(basic)]);
        sequence([status, context(0, bytes)])
    }
}

/// `CertID` (RFC 6960 section 4.1.1). Its digest only names, so SHA-1 is usual.
#[must_use]
pub fn cert_id(hash: Hash, issuer: &Identity, serial: &[u8]) -> Vec<u8> {
    sequence([
        sequence([oid(hash.dotted()), null()]),
        octets(hash.digest(&issuer.template.subject)),
        octets(hash.digest(&issuer.key.public_octets())),
        serial.to_vec(),
    ])
}
