//! Certification paths: from a signer to a root, at one instant (RFC 5280 section 6.1).
//!
//! What it is: [`find_path`], which puts certificates that happen to be at hand in order. An anchor
//! is whatever the caller believes: a root, an intermediate certificate, or the signer's own.
//!
//! What holds of a path: every certificate names and is signed by the next one, with an algorithm
//! and a key above the floor; every certificate but the anchor is valid at the instant, first and
//! last second included; every issuer is a certification authority of version 3, with `keyCertSign`
//! if it has a key usage, for time stamping or any purpose if it has an extended key usage, and
//! with no more issuers beneath it than it allows (self-issued ones don't count); there is no
//! critical extension that isn't understood; and name constraints and certificate policies hold
//! along the path.
//!
//! Of the anchor, what its certificate says about those beneath it counts too (whether it is a
//! certification authority, its key usage, path length and name constraints); its own dates and its
//! own signature don't, and its purposes don't either: it is for what the caller says it is for. An
//! anchor of version 1 says nothing, and may issue. A signer's dates count even where the signer is
//! the anchor.
//!
//! What it is not: nothing is fetched, and nothing here asks whether a certificate is revoked
//! ([`super::revocation`]) or may sign tokens ([`super::signer_profile`]).

mod constraints;
mod error;
mod policy;
mod search;

#[cfg(test)]
mod tests;

use anchorlog_proto::Digest;
use anchorlog_proto::timestamp::GenTime;

use super::certificate::Certificate;
use super::name::Name;
use super::signature::Sha1;

pub use error::{PathError, PathFault};

/// The most certificates of a path, signer and anchor included.
pub const MAX_PATH_CERTIFICATES: usize = 8;
/// The most signatures that are checked in search of a path.
pub const MAX_SIGNATURE_CHECKS: usize = 64;
/// The most candidates that are looked at in search of a path.
pub const MAX_CANDIDATES: usize = 256;
/// The most names that [`issuer_names`] follows.
const MAX_ISSUER_NAMES: usize = 64;

/// A trust anchor: a certificate that is believed, whatever it is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Root {
    certificate: Certificate,
    digest: Digest,
}

impl Root {
    /// The anchor that this certificate is.
    #[must_use]
    pub fn new(certificate: Certificate) -> Self {
        Self { digest: certificate.fingerprint(), certificate }
    }

    /// Its certificate.
    #[must_use]
    pub const fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// The SHA-256 digest of its certificate.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }
}

/// A path that holds.
#[derive(Clone, Debug)]
pub struct Path<'a> {
    certificates: Vec<&'a Certificate>,
    root: &'a Root,
}

impl<'a> Path<'a> {
    /// The certificates: the signer first, the anchor last. One, if the signer is the anchor.
    #[must_use]
    pub fn certificates(&self) -> &[&'a Certificate] {
        &self.certificates
    }

    /// The anchor.
    #[must_use]
    pub const fn root(&self) -> &'a Root {
        self.root
    }

    /// The SHA-256 digests of the certificates, in their order.
    #[must_use]
    pub fn digests(&self) -> Vec<Digest> {
        self.certificates.iter().map(|certificate| certificate.fingerprint()).collect()
    }
}

/// Finds a path from `signer` to one of `roots` that holds at `at`.
///
/// Certificates that may stand in between are the `candidates`. Neither their order nor repetitions
/// among them change the result: anchors are tried in the caller's order before candidates,
/// candidates in the order of their bytes, and in both those first whose key identifier is the
/// wanted one. The search goes deep first and turns back where something doesn't hold; it gives up
/// with [`PathFault::Limit`] after [`MAX_SIGNATURE_CHECKS`].
///
/// The error is the one of the attempt that came farthest: with the longest chain of signatures
/// that verify, and there with the last of the rules in the order of [`PathFault`]; of several, the
/// first.
pub fn find_path<'a>(
    signer: &'a Certificate,
    candidates: &'a [Certificate],
    roots: &'a [Root],
    at: GenTime,
    sha1: Sha1,
) -> Result<Path<'a>, PathError> {
    search::find(signer, candidates, roots, at, sha1, &|_| true)
}

/// As [`find_path`], of the paths that are `wanted`; a path that isn't is gone past like one that doesn't
/// hold. It is asked about whole paths that hold, the signer first and the anchor last.
pub(super) fn find_path_of<'a>(
    signer: &'a Certificate,
    candidates: &'a [Certificate],
    roots: &'a [Root],
    at: GenTime,
    sha1: Sha1,
    wanted: &dyn Fn(&[&Certificate]) -> bool,
) -> Result<Path<'a>, PathError> {
    search::find(signer, candidates, roots, at, sha1, wanted)
}

/// The names on the way from a signer up, without any verification: its subject, its issuer, and
/// the issuers of every candidate that a name on the way leads to. At most 64 names are followed.
///
/// A caller compares them with the subjects of the roots it knows to tell an unknown authority from
/// a known one whose path doesn't hold.
#[must_use]
pub fn issuer_names<'a>(signer: &'a Certificate, candidates: &'a [Certificate]) -> Vec<Name<'a>> {
    let mut names = vec![signer.subject(), signer.issuer()];
    let mut followed = 1;
    while let Some(name) = names.get(followed).copied() {
        followed += 1;
        for candidate in candidates.iter().take(MAX_CANDIDATES) {
            let issuer = candidate.issuer();
            if names.len() < MAX_ISSUER_NAMES
                && candidate.subject().matches(&name)
                && !names.iter().any(|known| known.matches(&issuer))
            {
                names.push(issuer);
            }
        }
    }
    names
}
