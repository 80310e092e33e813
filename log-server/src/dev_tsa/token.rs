//! Tokens: a TSTInfo, and the SignedData around it (RFC 3161 section 2.4.2, RFC 5652, RFC 5816).
//!
//! The `cms` crate builds SignedData and SignerInfo: it digests the content, adds the attributes
//! contentType and messageDigest, sorts the attributes as DER wants it, and signs. What stands in no CMS
//! standard is made here: TSTInfo, the ESS attribute, and CMSAlgorithmProtection.

use std::time::{SystemTime, UNIX_EPOCH};

use anchorlog_proto::timestamp::GenTime;
use cms::builder::{SignedDataBuilder, SignerInfoBuilder};
use cms::cert::{CertificateChoices, IssuerAndSerialNumber};
use cms::signed_data::{EncapsulatedContentInfo, SignerIdentifier};
use der::asn1::{Int, ObjectIdentifier, OctetString, SetOfVec};
use der::{Any, Decode as _, Encode as _, Sequence, Tag};
use sha2::{Digest as _, Sha256};
use spki::AlgorithmIdentifierOwned;
use x509_cert::attr::Attribute;
use x509_cert::ext::pkix::name::{GeneralName, GeneralNames};
use x509_cert::serial_number::SerialNumber;

use super::certificate::random_serial;
use super::identity::Identity;
use super::key::Key;
use super::request::Request;
use super::{DevTsaError, POLICY};

/// Builds the token that grants `request`, as of `now`.
pub(super) fn build(
    signer: &Identity,
    request: &Request<'_>,
    now: SystemTime,
) -> Result<Vec<u8>, DevTsaError> {
    let certificate = signer.certificate.tbs_certificate();
    let info = TstInfo {
        version: 1,
        policy: Any::new(Tag::ObjectIdentifier, POLICY.as_bytes())?,
        message_imprint: Any::from_der(request.imprint)?,
        serial_number: random_serial()?,
        gen_time: gen_time(now)?,
        accuracy: Accuracy { seconds: 1 },
        nonce: request.nonce.map(Int::from_der).transpose()?,
        tsa: GeneralName::DirectoryName(certificate.subject().clone()),
    };
    let content = EncapsulatedContentInfo {
        econtent_type: ID_CT_TST_INFO,
        econtent: Some(Any::new(Tag::OctetString, info.to_der()?)?),
    };
    let issuer_and_serial = IssuerAndSerialNumber {
        issuer: certificate.issuer().clone(),
        serial_number: certificate.serial_number().clone(),
    };
    let digest = signer.key.digest_algorithm();
    let identifier = SignerIdentifier::IssuerAndSerialNumber(issuer_and_serial);
    let mut signer_info = SignerInfoBuilder::new(identifier, digest.clone(), &content, None)?;
    signer_info.add_signed_attribute(signing_certificate(signer)?)?;
    signer_info.add_signed_attribute(algorithm_protection(&signer.key)?)?;

    let mut data = SignedDataBuilder::new(&content);
    data.add_digest_algorithm(digest)?;
    if request.cert_req {
        data.add_certificate(CertificateChoices::Certificate(signer.certificate.clone()))?;
    }
    match &signer.key {
        Key::P256(key) => {
            data.add_signer_info::<_, p256::ecdsa::DerSignature>(signer_info, key)?;
        }
        Key::Ed25519(key) => {
            data.add_signer_info::<_, ed25519_dalek::Signature>(signer_info, key)?;
        }
    }
    Ok(data.build()?.to_der()?)
}

/// The instant in whole milliseconds, rounded down. `der` has no fractions of a second.
fn gen_time(now: SystemTime) -> Result<Any, DevTsaError> {
    let since = now.duration_since(UNIX_EPOCH).map_err(|_| DevTsaError::Clock)?;
    let seconds = i64::try_from(since.as_secs()).map_err(|_| DevTsaError::Clock)?;
    let time = GenTime::from_unix(seconds).shifted(i64::from(since.subsec_millis()) * 1_000);
    let text = time.to_generalized_time().ok_or(DevTsaError::Clock)?;
    Ok(Any::new(Tag::GeneralizedTime, text.into_bytes())?)
}

/// SigningCertificateV2 (RFC 5035 section 3, RFC 5816): which certificate is the signer's, signed.
fn signing_certificate(signer: &Identity) -> Result<Attribute, DevTsaError> {
    let certificate = signer.certificate.tbs_certificate();
    let id = EssCertIdV2 {
        cert_hash: OctetString::new(Sha256::digest(signer.certificate.to_der()?).to_vec())?,
        issuer_serial: IssuerSerial {
            issuer: vec![GeneralName::DirectoryName(certificate.issuer().clone())],
            serial_number: certificate.serial_number().clone(),
        },
    };
    attribute(ID_AA_SIGNING_CERTIFICATE_V2, &SigningCertificateV2 { certs: vec![id] })
}

/// CMSAlgorithmProtection (RFC 6211): the algorithms, signed.
fn algorithm_protection(key: &Key) -> Result<Attribute, DevTsaError> {
    let protection = CmsAlgorithmProtection {
        digest: key.digest_algorithm(),
        signature: key.signature_algorithm()?,
    };
    attribute(ID_AA_CMS_ALGORITHM_PROTECTION, &protection)
}

fn attribute(oid: ObjectIdentifier, value: &impl der::Encode) -> Result<Attribute, DevTsaError> {
    let mut values = SetOfVec::new();
    values.insert(Any::from_der(&value.to_der()?)?)?;
    Ok(Attribute { oid, values })
}

/// RFC 3161 section 2.4.2. `ordering` is left out: this authority doesn't promise any.
#[derive(Sequence)]
struct TstInfo {
    version: u8,
    policy: Any,
    message_imprint: Any,
    serial_number: SerialNumber,
    gen_time: Any,
    accuracy: Accuracy,
    nonce: Option<Int>,
    #[asn1(context_specific = "0", tag_mode = "EXPLICIT")]
    tsa: GeneralName,
}

#[derive(Sequence)]
struct Accuracy {
    seconds: u8,
}

#[derive(Sequence)]
struct SigningCertificateV2 {
    certs: Vec<EssCertIdV2>,
}

/// `hashAlgorithm` is left out: SHA-256 is its default, and DER leaves defaults out.
#[derive(Sequence)]
struct EssCertIdV2 {
    cert_hash: OctetString,
    issuer_serial: IssuerSerial,
}

#[derive(Sequence)]
struct IssuerSerial {
    issuer: GeneralNames,
    serial_number: SerialNumber,
}

#[derive(Sequence)]
struct CmsAlgorithmProtection {
    digest: AlgorithmIdentifierOwned,
    #[asn1(context_specific = "1", tag_mode = "IMPLICIT", constructed = "true")]
    signature: AlgorithmIdentifierOwned,
}

const ID_CT_TST_INFO: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.16.1.4");
const ID_AA_SIGNING_CERTIFICATE_V2: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.16.2.47");
const ID_AA_CMS_ALGORITHM_PROTECTION: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.52");
