//! What a caller trusts with: the files of a trust directory, found by their digests.
//!
//! What it is: DER certificates, DER CRLs and texts. A policy names roots and log policy texts by SHA-256
//! and nothing else makes one count: a certificate that no policy names helps to find a path, and that is
//! all. What it isn't: trust. [`super::policy`] says what of it counts.

use std::collections::BTreeMap;

use anchorlog_proto::Digest;
use anchorlog_proto::tlog_policy::{MAX_POLICY_BYTES, TlogPolicy};

use crate::timestamp::Certificate;
use crate::timestamp::revocation::Crl;

/// The files of a trust directory. Neither their names nor their order matter.
#[derive(Clone, Debug, Default)]
pub struct TrustMaterial {
    certificates: BTreeMap<Digest, Certificate>,
    crls: BTreeMap<Digest, Crl>,
    texts: BTreeMap<Digest, Vec<u8>>,
    ignored: Vec<Box<str>>,
}

impl TrustMaterial {
    /// Takes in files, each with a name for people. What is neither a certificate nor a CRL in DER nor
    /// short enough for a log policy is left out; what can't be read as one of the three is named by
    /// [`Self::ignored`].
    #[must_use]
    pub fn from_files(files: Vec<(String, Vec<u8>)>) -> Self {
        let mut material = Self::default();
        for (name, bytes) in files {
            let digest = Digest::of(&bytes);
            if let Ok(certificate) = Certificate::parse(&bytes) {
                material.certificates.insert(digest, certificate);
            } else if let Ok(crl) = Crl::parse(&bytes) {
                material.crls.insert(digest, crl);
            } else {
                let text = bytes.len() <= MAX_POLICY_BYTES;
                if !text || TlogPolicy::parse(&bytes).is_err() {
                    material.ignored.push(name.into());
                }
                // Kept although it can't be read: the policy that names it has to hear why.
                if text {
                    material.texts.insert(digest, bytes);
                }
            }
        }
        material.ignored.sort_unstable();
        material
    }

    /// The certificate with this SHA-256.
    #[must_use]
    pub fn certificate(&self, digest: &Digest) -> Option<&Certificate> {
        self.certificates.get(digest)
    }

    /// Every certificate, in the order of the digests.
    pub fn certificates(&self) -> impl Iterator<Item = &Certificate> {
        self.certificates.values()
    }

    /// Every CRL, in the order of the digests.
    pub fn crls(&self) -> impl Iterator<Item = &Crl> {
        self.crls.values()
    }

    /// The text with this SHA-256.
    #[must_use]
    pub fn text(&self, digest: &Digest) -> Option<&[u8]> {
        self.texts.get(digest).map(Vec::as_slice)
    }

    /// Names of files that are nothing a policy could name, ascending.
    #[must_use]
    pub fn ignored(&self) -> &[Box<str>] {
        &self.ignored
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::timestamp::testing::Draft;

    #[test]
    fn files_are_found_by_what_they_are() {
        let der = Draft::authority("Root", "Root", 1).der(1);
        let text = b"quorum none\n".to_vec();
        let files = vec![
            ("z.pem".to_owned(), b"-----BEGIN CERTIFICATE-----\n".to_vec()),
            ("root".to_owned(), der.clone()),
            ("logs".to_owned(), text.clone()),
            ("long".to_owned(), vec![b'#'; MAX_POLICY_BYTES + 1]),
        ];
        let material = TrustMaterial::from_files(files);
        assert_eq!(material.certificate(&Digest::of(&der)).unwrap().der(), der);
        assert_eq!(material.text(&Digest::of(&text)), Some(&text[..]));
        assert_eq!(material.certificate(&Digest::of(&text)).map(Certificate::der), None);
        assert_eq!((material.certificates().count(), material.crls().count()), (1, 0));
        let ignored: Vec<&str> = material.ignored().iter().map(AsRef::as_ref).collect();
        assert_eq!(ignored, ["long", "z.pem"]);
    }
}
