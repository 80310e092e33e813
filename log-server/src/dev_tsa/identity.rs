//! A key with the certificate for it, and the file that holds both.
//!
//! They are one file because they belong together: a crash can't leave a key with another key's
//! certificate.

use std::path::Path;
use std::time::SystemTime;

use anchorlog_client::durable;
use der::pem::LineEnding;
use der::{DecodePem as _, EncodePem as _};
use x509_cert::Certificate;
use zeroize::Zeroizing;

use super::DevTsaError;
use super::key::{Key, SignerKind};
use crate::keys::read_secret;

/// A key and its certificate.
#[derive(Debug)]
pub(super) struct Identity {
    pub(super) key: Key,
    pub(super) certificate: Certificate,
}

impl Identity {
    /// Reads the file. `None` if there is none.
    pub(super) fn load(path: &Path, kind: SignerKind) -> Result<Option<Self>, DevTsaError> {
        match read_secret(path, MAX_FILE) {
            Err(error) if error.is_not_found() => Ok(None),
            text => Self::from_pem(&text?, kind)
                .map(Some)
                .ok_or_else(|| DevTsaError::Malformed { path: path.into() }),
        }
    }

    /// Writes the file, or replaces it, readable by its owner only.
    pub(super) fn store(&self, path: &Path) -> Result<(), DevTsaError> {
        let mut text = Zeroizing::new(String::with_capacity(MAX_FILE));
        text.push_str(&self.key.to_pem()?);
        text.push_str(&self.certificate.to_pem(LineEnding::LF)?);
        durable::write_replace_with_mode(path, text.as_bytes(), durable::MODE_PRIVATE)?;
        Ok(())
    }

    /// The first instant at which the certificate is good.
    pub(super) fn not_before(&self) -> SystemTime {
        self.certificate.tbs_certificate().validity().not_before.to_system_time()
    }

    /// The last instant at which the certificate is good.
    pub(super) fn not_after(&self) -> SystemTime {
        self.certificate.tbs_certificate().validity().not_after.to_system_time()
    }

    fn from_pem(text: &str, kind: SignerKind) -> Option<Self> {
        let (key, certificate) = text.split_at_checked(text.find(CERTIFICATE)?)?;
        let key = Key::from_pem(kind, key)?;
        let certificate = Certificate::from_pem(certificate).ok()?;
        let certified = certificate.tbs_certificate().subject_public_key_info();
        (key.public().ok()? == *certified).then_some(Self { key, certificate })
    }
}

const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----";

/// Bytes of the longest file read; ours have about 1,200.
const MAX_FILE: usize = 8192;
