//! The two certificates of the authority, in the profiles of RFC 5280 and RFC 3161 section 2.3.
//!
//! Names say what it is in the first words that a viewer shows, and name no country: it is in none. They
//! also carry the root's key, shortened, so that the authorities of two directories have two names; a
//! verifier that was given one root then doesn't take the other's tokens for forgeries of it.

use std::str::FromStr as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anchorlog_proto::encoding::hex_encode;
use const_oid::db::rfc5280::ID_KP_TIME_STAMPING;
use der::referenced::OwnedToRef as _;
use spki::{SubjectPublicKeyInfoOwned, SubjectPublicKeyInfoRef};
use x509_cert::Certificate;
use x509_cert::builder::profile::BuilderProfile;
use x509_cert::builder::{Builder as _, CertificateBuilder, Result as BuildResult};
use x509_cert::certificate::TbsCertificate;
use x509_cert::ext::pkix::{
    AuthorityKeyIdentifier, BasicConstraints, ExtendedKeyUsage, KeyUsage, KeyUsages,
    SubjectKeyIdentifier,
};
use x509_cert::ext::{Extension, ToExtension as _};
use x509_cert::name::Name;
use x509_cert::serial_number::SerialNumber;
use x509_cert::time::{Time, Validity};

use super::DevTsaError;
use super::identity::Identity;
use super::key::{Key, SignerKind};

/// Makes a root: a key, and the certificate that it signs for itself.
pub(super) fn make_root(now: SystemTime, validity: Duration) -> Result<Identity, DevTsaError> {
    let key = Key::generate(SignerKind::P256)?;
    let subject = name("TSA root", &key)?;
    let not_after = now.checked_add(validity).ok_or(DevTsaError::Clock)?;
    let certificate = issue(Profile::Root { subject }, key.public()?, now, not_after, &key)?;
    Ok(Identity { key, certificate })
}

/// Makes a signer's key and has the root certify it, for no longer than the root itself is good.
pub(super) fn make_signer(
    root: &Identity,
    kind: SignerKind,
    now: SystemTime,
    validity: Duration,
) -> Result<Identity, DevTsaError> {
    let issuer = root.certificate.tbs_certificate().subject().clone();
    let profile = Profile::Signer { issuer, subject: name("TSA", &root.key)? };
    let key = Key::generate(kind)?;
    let not_after = now.checked_add(validity).ok_or(DevTsaError::Clock)?.min(root.not_after());
    let certificate = issue(profile, key.public()?, now, not_after, &root.key)?;
    Ok(Identity { key, certificate })
}

fn name(role: &str, root: &Key) -> Result<Name, DevTsaError> {
    let id = SubjectKeyIdentifier::try_from(root.public()?.owned_to_ref())?;
    let id = hex_encode(id.0.as_bytes().get(..4).unwrap_or_default());
    // RFC 4514 writes the most significant part last.
    Ok(Name::from_str(&format!(
        "CN=Anchorlog DEVELOPMENT {role} - DO NOT TRUST,OU=installation {id},\
         O=Anchorlog development"
    ))?)
}

/// A number that no other certificate and no other token of the authority has, as good as surely: 126
/// random bits, in 16 octets of the 20 that RFC 5280 section 4.1.2.2 and RFC 3161 section 2.4.2 allow.
pub(super) fn random_serial() -> Result<SerialNumber, DevTsaError> {
    let mut octets = [0; 16];
    getrandom::fill(&mut octets).map_err(|_| DevTsaError::Random)?;
    let [first, ..] = &mut octets;
    // Positive, and 16 octets long, whatever was drawn.
    *first = *first & 0x7f | 0x40;
    Ok(SerialNumber::new(&octets)?)
}

fn issue(
    profile: Profile,
    public: SubjectPublicKeyInfoOwned,
    not_before: SystemTime,
    not_after: SystemTime,
    issuer: &Key,
) -> Result<Certificate, DevTsaError> {
    let validity = Validity::new(time(not_before)?, time(not_after)?);
    let builder = CertificateBuilder::new(profile, random_serial()?, validity, public)?;
    Ok(match issuer {
        Key::P256(key) => builder.build::<_, p256::ecdsa::DerSignature>(key)?,
        Key::Ed25519(key) => builder.build::<_, ed25519_dalek::Signature>(key)?,
    })
}

/// A time as certificates express it, rounded down to the second.
fn time(instant: SystemTime) -> Result<Time, DevTsaError> {
    let since = instant.duration_since(UNIX_EPOCH).map_err(|_| DevTsaError::Clock)?;
    let whole = UNIX_EPOCH + Duration::from_secs(since.as_secs());
    Time::try_from(whole).map_err(|_| DevTsaError::Clock)
}

/// What is in a certificate besides key, time and number.
enum Profile {
    Root { subject: Name },
    Signer { issuer: Name, subject: Name },
}

impl BuilderProfile for Profile {
    fn get_issuer(&self, subject: &Name) -> Name {
        match self {
            Self::Root { .. } => subject.clone(),
            Self::Signer { issuer, .. } => issuer.clone(),
        }
    }

    fn get_subject(&self) -> Name {
        let (Self::Root { subject } | Self::Signer { subject, .. }) = self;
        subject.clone()
    }

    fn build_extensions(
        &self,
        public: SubjectPublicKeyInfoRef<'_>,
        issuer: SubjectPublicKeyInfoRef<'_>,
        certificate: &TbsCertificate,
    ) -> BuildResult<Vec<Extension>> {
        let subject = certificate.subject();
        let mut extensions = Vec::new();
        match self {
            Self::Root { .. } => {
                // RFC 5280 section 4.2.1.9. Nothing but signers' certificates comes below.
                let constraints = BasicConstraints { ca: true, path_len_constraint: Some(0) };
                extensions.push((true, &constraints).to_extension(subject, &[])?);
                let usage = KeyUsage(KeyUsages::KeyCertSign | KeyUsages::CRLSign);
                extensions.push((true, &usage).to_extension(subject, &[])?);
            }
            Self::Signer { .. } => {
                let usage = KeyUsage(KeyUsages::DigitalSignature.into());
                extensions.push((true, &usage).to_extension(subject, &[])?);
                // RFC 3161 section 2.3: this purpose alone, and critical.
                let purpose = ExtendedKeyUsage(vec![ID_KP_TIME_STAMPING]);
                extensions.push((true, &purpose).to_extension(subject, &[])?);
                // RFC 5280 section 4.2.1.1: a self-signed certificate can do without.
                let issuer = AuthorityKeyIdentifier::try_from(issuer)?;
                extensions.push((false, &issuer).to_extension(subject, &[])?);
            }
        }
        let public = SubjectKeyIdentifier::try_from(public)?;
        extensions.push((false, &public).to_extension(subject, &[])?);
        Ok(extensions)
    }
}
