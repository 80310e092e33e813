//! Whose signature it is.
//!
//! The certificates of a token are a bag that nobody signed: order, duplicates and strangers mean
//! nothing. The signer is the certificate that the signer identifier AND every signing-certificate
//! attribute name. Names and serial numbers can be copied; the digest in the attribute, which the
//! signature covers, decides.

use anchorlog_proto::timestamp::element::Element;
use anchorlog_proto::timestamp::{EssCertId, HashAlgorithm, IssuerSerial, SignerIdentifier, Token};

use super::certificate::Certificate;
use super::failure::TokenFailure;
use super::name::Name;
use super::trust::Rules;

/// The signer's certificate, and what may stand above it.
pub(super) struct Signer {
    pub(super) certificate: Certificate,
    /// Every other certificate that could be read: of the token and supplied.
    pub(super) others: Vec<Certificate>,
    /// Further certificates that the token names: they have to stand in the path.
    pub(super) further: Vec<CertificateDigest>,
    /// Whether SHA-1 alone names the signer.
    pub(super) by_sha1: bool,
}

/// A certificate named by its digest.
pub(super) struct CertificateDigest {
    pub(super) algorithm: HashAlgorithm,
    pub(super) digest: Vec<u8>,
}

/// Finds the signer among the token's and the supplied certificates.
pub(super) fn find_signer(
    token: &Token<'_>,
    supplied: &[Certificate],
    rules: &Rules,
) -> Result<Signer, TokenFailure> {
    let attributes = &token.signer.attributes;
    let named = [&attributes.signing_certificate, &attributes.signing_certificate_v2];
    let mut ids = Vec::new();
    let mut further = Vec::new();
    for (version, attribute) in named.into_iter().enumerate() {
        let Some(attribute) = attribute else { continue };
        // The first version is SHA-1 by definition: it identifies, and is noted. The second has a
        // choice, and SHA-1 is none of the good ones.
        let sha1 = version == 0 || rules.allow.sha1;
        ids.push((checked(&attribute.signer, sha1)?, &attribute.signer));
        for id in &attribute.others {
            further.push(checked(id, sha1)?);
        }
    }
    if ids.is_empty() {
        return Err(TokenFailure::EssMissing);
    }
    let by_sha1 = ids.iter().all(|(id, _)| id.algorithm == HashAlgorithm::Sha1);

    let read = token.certificates.iter().filter_map(|raw| Certificate::parse(raw).ok());
    let mut certificates: Vec<_> = read.chain(supplied.iter().cloned()).collect();
    let identified = |certificate: &Certificate| is_identified(certificate, &token.signer.id);
    let digests_fit = |certificate: &Certificate| {
        ids.iter().all(|(id, _)| certificate.digest(id.algorithm) == id.digest)
    };
    let serials_fit = |certificate: &Certificate| {
        ids.iter().all(|(_, id)| {
            id.issuer_serial.as_ref().is_none_or(|issuer_serial| fits(certificate, issuer_serial))
        })
    };
    let named = |certificate: &Certificate| identified(certificate) && digests_fit(certificate);
    let Some(position) = certificates.iter().position(named) else {
        let unreadable = token.certificates.iter().any(|raw| {
            ids.iter().all(|(id, _)| id.algorithm.digest(raw) == id.digest)
                && Certificate::parse(raw).is_err()
        });
        return Err(if unreadable {
            TokenFailure::CertificateForm
        } else if certificates.iter().any(identified) {
            TokenFailure::EssDigest
        } else {
            TokenFailure::CertificateAbsent
        });
    };
    let certificate = certificates.swap_remove(position);
    if serials_fit(&certificate) {
        Ok(Signer { certificate, others: certificates, further, by_sha1 })
    } else {
        Err(TokenFailure::EssIssuerSerial)
    }
}

/// A name by a hash that is known and allowed.
fn checked(id: &EssCertId<'_>, sha1: bool) -> Result<CertificateDigest, TokenFailure> {
    let allowed = |algorithm: &HashAlgorithm| sha1 || *algorithm != HashAlgorithm::Sha1;
    let algorithm = id.algorithm.filter(allowed).ok_or(TokenFailure::EssAlgorithm)?;
    Ok(CertificateDigest { algorithm, digest: id.digest.to_vec() })
}

pub(super) fn is_identified(certificate: &Certificate, id: &SignerIdentifier<'_>) -> bool {
    match *id {
        SignerIdentifier::IssuerAndSerial { issuer, serial } => {
            certificate.serial() == serial && is_issuer(certificate, issuer)
        }
        SignerIdentifier::SubjectKeyIdentifier(id) => certificate.subject_key_id() == Some(id),
        _ => false,
    }
}

fn fits(certificate: &Certificate, issuer_serial: &IssuerSerial<'_>) -> bool {
    certificate.serial() == issuer_serial.serial
        && issuer_serial.issuer_name().is_some_and(|issuer| is_issuer(certificate, issuer))
}

fn is_issuer(certificate: &Certificate, issuer: &[u8]) -> bool {
    let name = Element::parse(issuer).and_then(|element| Name::read(&element));
    name.is_some_and(|name| name.reads_as(&certificate.issuer()))
}
