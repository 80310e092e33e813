//! The authority's root and signer: kept in a directory, made when missing, renewed when old.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anchorlog_client::durable;
use der::pem::LineEnding;
use der::{Encode as _, EncodePem as _};

use super::certificate::{make_root, make_signer};
use super::identity::Identity;
use super::key::SignerKind;
use super::{DevTsaError, DevTsaOptions};

/// A root and the signer of one kind below it.
#[derive(Debug)]
pub(super) struct Hierarchy {
    directory: PathBuf,
    kind: SignerKind,
    validity: Duration,
    root: Identity,
    /// Shared, so that a token can be signed while the next signer is made.
    signer: Arc<Identity>,
}

impl Hierarchy {
    /// Reads what is in the directory, and makes what is missing.
    pub(super) fn open(
        directory: &Path,
        options: &DevTsaOptions,
        now: SystemTime,
    ) -> Result<Self, DevTsaError> {
        let kind = options.signer;
        for validity in [options.certificate_validity, options.root_validity] {
            if validity.subsec_nanos() != 0 || !(SHORTEST..=LONGEST).contains(&validity) {
                return Err(DevTsaError::Validity { validity });
            }
        }
        let root_file = directory.join(ROOT_KEY);
        let root = match Identity::load(&root_file, SignerKind::P256)? {
            Some(root) => root,
            None => stored(make_root(now, options.root_validity)?, &root_file)?,
        };
        check_root(&root, &directory.join(ROOT), now)?;
        publish(&root, &directory.join(ROOT))?;
        let validity = options.certificate_validity;
        let file = directory.join(signer_file(kind));
        let signer = match Identity::load(&file, kind)? {
            Some(signer) if is_below(&signer, &root) && has_validity(&signer, &root, validity) => {
                signer
            }
            _ => stored(make_signer(&root, kind, now, validity)?, &file)?,
        };
        let signer = Arc::new(signer);
        let mut hierarchy = Self { directory: directory.into(), kind, validity, root, signer };
        hierarchy.signer_at(now)?;
        Ok(hierarchy)
    }

    /// The signer as it is.
    pub(super) fn signer(&self) -> &Identity {
        &self.signer
    }

    /// The signer for a token of `now`; another one, with a new key, if the present one's certificate
    /// has less than a quarter of its time left.
    pub(super) fn signer_at(&mut self, now: SystemTime) -> Result<Arc<Identity>, DevTsaError> {
        check_root(&self.root, &self.root_path(), now)?;
        let present = &self.signer;
        let is_good = (present.not_before()..=present.not_after()).contains(&now);
        let left = present.not_after().duration_since(now).unwrap_or_default();
        // The last certificate below a root is good as long as the root, and used up.
        let is_last = present.not_after() == self.root.not_after();
        if is_good && (is_last || left >= self.validity / 4) {
            return Ok(Arc::clone(present));
        }
        match self.renew(now) {
            // Better an old certificate than no token, as long as it is good.
            Err(error) if is_good => {
                tracing::warn!(%error, "the development TSA's certificate can't be renewed");
                Ok(Arc::clone(&self.signer))
            }
            renewed => renewed,
        }
    }

    pub(super) fn root_path(&self) -> PathBuf {
        self.directory.join(ROOT)
    }

    pub(super) fn root_der(&self) -> Result<Vec<u8>, DevTsaError> {
        Ok(self.root.certificate.to_der()?)
    }

    pub(super) fn root_pem(&self) -> Result<String, DevTsaError> {
        Ok(self.root.certificate.to_pem(LineEnding::LF)?)
    }

    fn renew(&mut self, now: SystemTime) -> Result<Arc<Identity>, DevTsaError> {
        let signer = make_signer(&self.root, self.kind, now, self.validity)?;
        let signer = stored(signer, &self.directory.join(signer_file(self.kind)))?;
        self.signer = Arc::new(signer);
        Ok(Arc::clone(&self.signer))
    }
}

/// Whether the root can be used at `now`.
fn check_root(root: &Identity, path: &Path, now: SystemTime) -> Result<(), DevTsaError> {
    if now < root.not_before() {
        Err(DevTsaError::Clock)
    } else if now > root.not_after() {
        Err(DevTsaError::RootExpired { path: path.into() })
    } else {
        Ok(())
    }
}

fn stored(identity: Identity, path: &Path) -> Result<Identity, DevTsaError> {
    identity.store(path)?;
    Ok(identity)
}

/// Writes the root's certificate where everybody can read it, if it isn't there.
fn publish(root: &Identity, path: &Path) -> Result<(), DevTsaError> {
    let pem = root.certificate.to_pem(LineEnding::LF)?;
    if std::fs::read(path).is_ok_and(|present| present == pem.as_bytes()) {
        return Ok(());
    }
    Ok(durable::write_replace(path, pem.as_bytes())?)
}

/// Whether the root is the one that the signer's certificate was made below.
fn is_below(signer: &Identity, root: &Identity) -> bool {
    signer.certificate.tbs_certificate().issuer() == root.certificate.tbs_certificate().subject()
}

/// Whether the signer's certificate is as long good as one would be that is made like this.
fn has_validity(signer: &Identity, root: &Identity, validity: Duration) -> bool {
    let as_asked = signer.not_before().checked_add(validity) == Some(signer.not_after());
    as_asked || signer.not_after() == root.not_after()
}

const fn signer_file(kind: SignerKind) -> &'static str {
    match kind {
        SignerKind::P256 => "tsa-p256.pem",
        SignerKind::Ed25519 => "tsa-ed25519.pem",
    }
}

const ROOT: &str = "root.pem";
const ROOT_KEY: &str = "root-key.pem";

/// A certificate that is good for less would run out while a token is made.
const SHORTEST: Duration = Duration::from_secs(2);
const LONGEST: Duration = Duration::from_hours(100 * 365 * 24);
