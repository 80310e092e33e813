//! Certificates for the tests: a little DER, P-256 keys out of a number, and what they sign.

use anchorlog_proto::timestamp::{GenTime, ObjectIdentifier};
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{DerSignature, SigningKey};

use super::certificate::{Certificate, CertificateError};

pub(crate) const NULL: &[u8] = &[5, 0];
pub(crate) const TRUE: &[u8] = &[1, 1, 0xff];

/// One element.
pub(crate) fn tlv(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let contents = parts.concat();
    let mut encoding = vec![tag];
    if let Ok(short @ 0..0x80) = u8::try_from(contents.len()) {
        encoding.push(short);
    } else {
        let octets: Vec<_> =
            contents.len().to_be_bytes().into_iter().skip_while(|octet| *octet == 0).collect();
        encoding.push(0x80 | u8::try_from(octets.len()).unwrap());
        encoding.extend(octets);
    }
    encoding.extend(contents);
    encoding
}

pub(crate) fn sequence(parts: &[Vec<u8>]) -> Vec<u8> {
    tlv(0x30, &parts.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// A SEQUENCE, or nothing of nothing.
pub(crate) fn list(parts: &[Vec<u8>]) -> Vec<u8> {
    if parts.is_empty() { Vec::new() } else { sequence(parts) }
}

/// A SEQUENCE in an explicit tag, or nothing of nothing.
pub(crate) fn wrapped(tag: u8, parts: &[Vec<u8>]) -> Vec<u8> {
    if parts.is_empty() { Vec::new() } else { tlv(tag, &[&sequence(parts)]) }
}

pub(crate) fn set(parts: &[&[u8]]) -> Vec<u8> {
    tlv(0x31, parts)
}

pub(crate) fn oid(dotted: &str) -> Vec<u8> {
    let oid = ObjectIdentifier::new_unwrap(dotted);
    tlv(6, &[oid.as_bytes()])
}

/// A positive INTEGER.
pub(crate) fn integer(octets: &[u8]) -> Vec<u8> {
    let zero: &[u8] = if octets[0] >= 0x80 { &[0] } else { &[] };
    tlv(2, &[zero, octets])
}

/// A BIT STRING of whole octets.
pub(crate) fn bits(octets: &[u8]) -> Vec<u8> {
    tlv(3, &[&[0], octets])
}

pub(crate) fn attribute(dotted: &str, tag: u8, text: &[u8]) -> Vec<u8> {
    tlv(0x30, &[&oid(dotted), &tlv(tag, &[text])])
}

/// A distinguished name of common names.
pub(crate) fn name(texts: &[&str]) -> Vec<u8> {
    let part = |text: &&str| set(&[&attribute("2.5.4.3", 0x0c, text.as_bytes())]);
    sequence(&texts.iter().map(part).collect::<Vec<_>>())
}

pub(crate) fn utc_time(text: &str) -> Vec<u8> {
    tlv(0x17, &[text.as_bytes()])
}

pub(crate) fn generalized_time(text: &str) -> Vec<u8> {
    tlv(0x18, &[text.as_bytes()])
}

/// The instant of `YYYYMMDDhhmmssZ`.
pub(crate) fn time(text: &str) -> GenTime {
    GenTime::parse(text.as_bytes()).unwrap()
}

/// A key, the same each time.
pub(crate) fn key(number: u8) -> SigningKey {
    SigningKey::from_slice(&[number; 32]).unwrap()
}

/// `ecdsa-with-SHA256`.
pub(crate) fn ecdsa_sha256() -> Vec<u8> {
    tlv(0x30, &[&oid("1.2.840.10045.4.3.2")])
}

/// What a key signs: the bytes, the algorithm, the signature.
pub(crate) fn signed(tbs: &[u8], number: u8, rest: &[Vec<u8>]) -> Vec<u8> {
    let signature: DerSignature = key(number).sign(tbs);
    let parts = [tbs.to_vec(), ecdsa_sha256(), bits(signature.as_bytes())];
    sequence(&[&parts, rest].concat())
}

pub(crate) fn public_key_octets(number: u8) -> Vec<u8> {
    key(number).verifying_key().to_sec1_point(false).as_bytes().to_vec()
}

pub(crate) fn public_key(number: u8) -> Vec<u8> {
    let algorithm = tlv(0x30, &[&oid("1.2.840.10045.2.1"), &oid("1.2.840.10045.3.1.7")]);
    tlv(0x30, &[&algorithm, &bits(&public_key_octets(number))])
}

pub(crate) fn extension(dotted: &str, critical: bool, value: &[u8]) -> Vec<u8> {
    let critical: &[u8] = if critical { TRUE } else { &[] };
    tlv(0x30, &[&oid(dotted), critical, &tlv(4, &[value])])
}

pub(crate) fn basic_constraints(ca: bool, path_length: Option<u8>) -> Vec<u8> {
    let ca: &[u8] = if ca { TRUE } else { &[] };
    let length = path_length.map(|length| integer(&[length])).unwrap_or_default();
    extension("2.5.29.19", true, &tlv(0x30, &[ca, &length]))
}

/// Bits as the standard counts them: `digitalSignature` is 0.
pub(crate) fn key_usage(uses: &[u32]) -> Vec<u8> {
    let octets = uses.iter().fold(0_u16, |all, bit| all | 0x8000 >> bit).to_be_bytes();
    extension("2.5.29.15", true, &tlv(3, &[&[0], &octets]))
}

pub(crate) fn purposes(critical: bool, dotted: &[&str]) -> Vec<u8> {
    let oids = dotted.iter().map(|dotted| oid(dotted)).collect::<Vec<_>>();
    extension("2.5.29.37", critical, &sequence(&oids))
}

pub(crate) const TIME_STAMPING: &str = "1.3.6.1.5.5.7.3.8";
pub(crate) const SERVER_AUTH: &str = "1.3.6.1.5.5.7.3.1";
pub(crate) const ANY_PURPOSE: &str = "2.5.29.37.0";
pub(crate) const OCSP_SIGNING: &str = "1.3.6.1.5.5.7.3.9";

/// A certificate to be.
#[derive(Clone)]
pub(crate) struct Draft {
    pub(crate) version: Option<u8>,
    pub(crate) serial: Vec<u8>,
    pub(crate) issuer: Vec<u8>,
    pub(crate) subject: Vec<u8>,
    pub(crate) not_before: Vec<u8>,
    pub(crate) not_after: Vec<u8>,
    pub(crate) key: Vec<u8>,
    pub(crate) extensions: Vec<Vec<u8>>,
    pub(crate) inner_algorithm: Vec<u8>,
}

impl Draft {
    /// A certificate without extensions, valid through the years 2025 and 2026.
    pub(crate) fn new(subject: &str, issuer: &str, key: u8) -> Self {
        Self {
            version: Some(2),
            serial: integer(&[key]),
            issuer: name(&[issuer]),
            subject: name(&[subject]),
            not_before: utc_time("250101000000Z"),
            not_after: utc_time("261231235959Z"),
            key: public_key(key),
            extensions: Vec::new(),
            inner_algorithm: ecdsa_sha256(),
        }
    }

    pub(crate) fn authority(subject: &str, issuer: &str, key: u8) -> Self {
        let draft = Self::new(subject, issuer, key);
        draft.with(basic_constraints(true, None)).with(key_usage(&[5, 6]))
    }

    pub(crate) fn signer(subject: &str, issuer: &str, key: u8) -> Self {
        let draft = Self::new(subject, issuer, key);
        draft.with(key_usage(&[0])).with(purposes(true, &[TIME_STAMPING]))
    }

    pub(crate) fn with(mut self, extension: Vec<u8>) -> Self {
        self.extensions.push(extension);
        self
    }

    pub(crate) fn without_extensions(mut self) -> Self {
        self.extensions.clear();
        self
    }

    pub(crate) fn valid(mut self, not_before: &str, not_after: &str) -> Self {
        (self.not_before, self.not_after) =
            (generalized_time(not_before), generalized_time(not_after));
        self
    }

    pub(crate) fn der(&self, issuer_key: u8) -> Vec<u8> {
        let version = self.version.map(|version| tlv(0xa0, &[&integer(&[version])]));
        let tbs = sequence(&[
            version.unwrap_or_default(),
            self.serial.clone(),
            self.inner_algorithm.clone(),
            self.issuer.clone(),
            sequence(&[self.not_before.clone(), self.not_after.clone()]),
            self.subject.clone(),
            self.key.clone(),
            wrapped(0xa3, &self.extensions),
        ]);
        signed(&tbs, issuer_key, &[])
    }

    pub(crate) fn read(&self, issuer_key: u8) -> Result<Certificate, CertificateError> {
        Certificate::parse(&self.der(issuer_key))
    }

    pub(crate) fn by(&self, issuer_key: u8) -> Certificate {
        self.read(issuer_key).unwrap()
    }
}
