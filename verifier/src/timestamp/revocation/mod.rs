//! Revocation, as time stamps need it (RFC 3161 section 4).
//!
//! What it is: [`check_revocation`] looks through CRLs and OCSP responses for what they say about
//! the certificates of a path, and judges a token's time by it. Evidence counts when the issuer of
//! the certificate signed it (a [`Crl`] under the very key of the path; an [`OcspResponse`] also by
//! a responder that the issuer delegates to). It shows that a certificate was *not* revoked at an
//! instant when
//!
//! - it was issued at or after that instant: what was known before says nothing about it; and
//! - the certificate had not expired by then, unless the issuer says that it keeps expired ones on
//!   the list: issuers drop them, and a list that doesn't name such a certificate says nothing.
//!
//! It shows a revocation whenever it was issued; the reason decides which tokens that strikes.
//! Whatever revokes outweighs whatever doesn't; only a hold is lifted by newer evidence. How old
//! evidence is by now (`nextUpdate`) doesn't matter: the question is about the token's time.
//!
//! What it is not: nothing is fetched. Evidence of other issuers, for other certificates, with
//! extensions that aren't understood, or whose signature doesn't verify is passed over: it is as if
//! it were not there. Delegated OCSP responders are not themselves asked about.

mod crl;
mod error;
mod ocsp;
mod reason;

#[cfg(test)]
mod tests;

use anchorlog_proto::Digest;
use anchorlog_proto::timestamp::GenTime;

use super::certificate::Certificate;
use super::path::Path;
use super::signature::Sha1;
use reason::Revocation;

pub use crl::{Crl, MAX_CRL_BYTES, read_crls};
pub use error::{EvidenceError, RevocationError};
pub use ocsp::{MAX_OCSP_BYTES, OcspResponse};

/// The most CRLs of a path's issuers, and the most OCSP responses, that are looked at.
pub const MAX_EVIDENCE: usize = 64;

/// What there is to know about revocation.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// CRLs, of whatever issuers.
    pub crls: Vec<Crl>,
    /// OCSP responses, about whatever certificates.
    pub ocsp: Vec<OcspResponse>,
}

/// How much revocation counts.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum RevocationMode {
    /// It isn't looked at.
    #[default]
    None,
    /// What was supplied counts.
    Supplied,
    /// What was supplied counts, and has to show that nothing was revoked.
    Required,
}

/// Whose status [`RevocationMode::Required`] asks for.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum RevocationScope {
    /// The signer's, and every issuer's but the anchor's.
    #[default]
    Path,
    /// The signer's.
    Signer,
}

/// What a revocation without a reason does.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum UnexplainedRevocation {
    /// Every token is bad, whatever its time: RFC 3161 section 4.
    #[default]
    FailsAlways,
    /// Tokens from before the revocation stay good.
    ByDate,
}

/// The rules of revocation.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct RevocationRules {
    /// How much it counts.
    pub mode: RevocationMode,
    /// Whose status is required.
    pub scope: RevocationScope,
    /// What a revocation without a reason does.
    pub unexplained: UnexplainedRevocation,
    /// Whether evidence signed with SHA-1 counts.
    pub sha1: Sha1,
    /// Evidence that says it was issued later is passed over: at the time of evaluation nobody can
    /// have had it. [`super::verify_token`] sets it where that time is known.
    pub until: Option<GenTime>,
}

/// What kind of evidence shows that a certificate wasn't revoked.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum EvidenceKind {
    /// A CRL.
    Crl,
    /// An OCSP response.
    Ocsp,
}

/// The status of one certificate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct CertificateStatus {
    /// The SHA-256 digest of the certificate.
    pub certificate: Digest,
    /// When the newest evidence was issued that doesn't speak against it, and what kind it is. None:
    /// nothing supplied says anything about it.
    pub good: Option<(GenTime, EvidenceKind)>,
    /// Whether that evidence is as new as the instant, and so shows that the certificate was not
    /// revoked then. What was fetched when a token was made is mostly a little older.
    pub covers: bool,
}

/// What is known about revocation.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Stance {
    /// It was not looked at.
    NotChecked,
    /// It was: the status of every certificate but the anchor, the signer's first. A signer that is
    /// the anchor is there too, with an unknown status: nobody above it vouches for it.
    Checked(Vec<CertificateStatus>),
}

/// What one piece of evidence says about a certificate.
struct Sighting {
    kind: EvidenceKind,
    /// When it was issued: thisUpdate.
    as_of: GenTime,
    /// Whether it would have named every reason there was.
    whole: bool,
    status: Status,
}

enum Status {
    Good,
    Revoked(Revocation),
}

/// Whether the certificates of a path were revoked, as far as it matters for a token of `at`.
///
/// The signer is looked at first, then its issuers, as far as the anchor, which nobody revokes.
pub fn check_revocation(
    path: &Path<'_>,
    at: GenTime,
    evidence: &Evidence,
    rules: &RevocationRules,
) -> Result<Stance, RevocationError> {
    if rules.mode == RevocationMode::None {
        return Ok(Stance::NotChecked);
    }
    let certificates = path.certificates();
    // Lists of others cost nothing: who keeps those of many authorities must not lose this one's.
    let concerns =
        |crl: &&Crl| certificates.iter().skip(1).any(|one| crl.issuer().matches(&one.subject()));
    let lists = evidence.crls.iter().filter(concerns).count();
    if lists > MAX_EVIDENCE || evidence.ocsp.len() > MAX_EVIDENCE {
        return Err(RevocationError::Limit { limit: MAX_EVIDENCE });
    }
    let issuers = certificates.iter().skip(1).map(Some).chain([None]);
    let below_anchor = certificates.len().saturating_sub(1).max(1);
    let mut statuses = Vec::new();
    for (certificate, issuer) in certificates.iter().zip(issuers).take(below_anchor) {
        let sightings = match issuer {
            Some(issuer) => sightings(certificate, issuer, evidence, rules),
            None => Vec::new(),
        };
        if let Some(since) = struck(&sightings, at, rules.unexplained) {
            let is_signer = statuses.is_empty();
            let certificate = certificate.fingerprint();
            return Err(if is_signer {
                RevocationError::Signer { since }
            } else {
                RevocationError::Issuer { certificate, since }
            });
        }
        // A revocation that doesn't strike shows as well that it was good before.
        let whole = sightings.iter().filter(|sighting| sighting.whole);
        let good = whole.map(|sighting| (sighting.as_of, sighting.kind)).max();
        let covers = good.is_some_and(|(as_of, _)| as_of >= at);
        statuses.push(CertificateStatus { certificate: certificate.fingerprint(), good, covers });
    }
    let asked = match rules.scope {
        RevocationScope::Path => statuses.len(),
        RevocationScope::Signer => 1,
    };
    match statuses.iter().take(asked).find(|status| !status.covers) {
        Some(unknown) if rules.mode == RevocationMode::Required => {
            Err(RevocationError::Unknown { certificate: unknown.certificate })
        }
        _ => Ok(Stance::Checked(statuses)),
    }
}

fn sightings(
    certificate: &Certificate,
    issuer: &Certificate,
    evidence: &Evidence,
    rules: &RevocationRules,
) -> Vec<Sighting> {
    let sha1 = rules.sha1;
    let crls = evidence.crls.iter().flat_map(|crl| crl.sightings(certificate, issuer, sha1));
    let ocsp = evidence.ocsp.iter().flat_map(|ocsp| ocsp.sightings(certificate, issuer, sha1));
    let known = |sighting: &Sighting| rules.until.is_none_or(|until| sighting.as_of <= until);
    crls.chain(ocsp).filter(known).collect()
}

/// The date of a revocation by which a token of `at` is bad.
fn struck(
    sightings: &[Sighting],
    at: GenTime,
    unexplained: UnexplainedRevocation,
) -> Option<GenTime> {
    let newest_good = sightings
        .iter()
        .filter(|sighting| matches!(sighting.status, Status::Good))
        .map(|sighting| sighting.as_of)
        .max();
    let mut dates = sightings.iter().filter_map(|sighting| {
        let Status::Revoked(revocation) = &sighting.status else { return None };
        let lifted = revocation.is_hold() && newest_good.is_some_and(|good| good > sighting.as_of);
        (!lifted && revocation.strikes(at, unexplained)).then_some(revocation.date)
    });
    dates.next()
}

/// Whether evidence issued at `as_of` still names a certificate that is revoked: up to the end of
/// its validity, or if the issuer keeps those that expired from `kept_since` on.
fn still_named(certificate: &Certificate, as_of: GenTime, kept_since: Option<GenTime>) -> bool {
    as_of <= certificate.not_after()
        || kept_since.is_some_and(|since| certificate.not_after() >= since)
}

/// The contents of an INTEGER without octets that only repeat its sign.
fn number(mut octets: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = octets
        && rest.first().is_some_and(|next| *first == if *next < 0x80 { 0 } else { 0xff })
    {
        octets = rest;
    }
    octets
}
