//! The checks of a token, in the order that [`super::verify_token`] documents.

use anchorlog_proto::timestamp::element::Element;
use anchorlog_proto::timestamp::{
    AlgorithmIdentifier, AlgorithmProtection, GenTime, HashAlgorithm, ID_CT_TST_INFO, Imprint,
    SignerInfo, Token, TstInfo,
};

use super::certificate::Certificate;
use super::failure::TokenFailure;
use super::name::GeneralName;
use super::path::{Path, PathError, PathFault, Root, find_path, find_path_of, issuer_names};
use super::revocation::{Crl, Evidence, RevocationMode, RevocationRules, Stance, check_revocation};
use super::signature::{SignatureError, SignatureScheme};
use super::signer::{CertificateDigest, Signer, find_signer};
use super::signer_profile::check_signer;
use super::trust::{Expected, Rules, Supplied, TrustEntry};
use super::verified::{Note, Shown, VerifiedToken};

/// Every check of a token that was read. `received` are the bytes as they came.
pub(super) fn verify(
    received: &[u8],
    token: &Token<'_>,
    expected: &Expected,
    trust: &[TrustEntry],
    supplied: &Supplied,
    rules: &Rules,
    mut notes: Vec<Note>,
) -> Result<VerifiedToken, TokenFailure> {
    let digest = digest_algorithm(token, rules, &mut notes)?;
    let imprint = imprint(&token.info, rules, &mut notes)?;
    answers(&token.info, &imprint, expected)?;
    attributes(token, digest)?;
    let signer = find_signer(token, &supplied.certificates, rules)?;
    notes.extend(signer.by_sha1.then_some(Note::EssSha1));
    let scheme = signature(&token.signer, digest, &signer.certificate, rules, &mut notes)?;
    let profile = check_signer(&signer.certificate, rules.allow.eku())?;
    notes.extend((!profile.critical_eku).then_some(Note::NoncriticalEku));
    name(&token.info, &signer.certificate)?;
    future(token.info.gen_time, rules, &mut notes)?;
    notes.extend(token.info.accuracy.is_none().then_some(Note::NoAccuracy));
    let evidence = evidence(token, supplied, rules);
    let judged = judge(&token.info, &signer, trust, &evidence, rules)?;
    notes.extend(judged.unknown.then_some(Note::RevocationUnknown));
    notes.sort_unstable();
    notes.dedup();
    let Judged { operator, path, stance, .. } = judged;
    let shown = Shown { operator, scheme, path, stance, notes };
    Ok(VerifiedToken::new(received, imprint, &token.info, shown))
}

/// The hash of the message digest: known, without parameters, allowed.
fn digest_algorithm(
    token: &Token<'_>,
    rules: &Rules,
    notes: &mut Vec<Note>,
) -> Result<HashAlgorithm, TokenFailure> {
    let stated = &token.signer.digest_algorithm;
    let Some(digest) = HashAlgorithm::from_element(stated) else {
        let oid = stated.elements().and_then(|mut fields| fields.next()?.oid());
        let known = oid.as_ref().and_then(HashAlgorithm::from_oid).is_some();
        return Err(if known { TokenFailure::DigestParameters } else { TokenFailure::Digest });
    };
    allowed(digest, rules, notes).ok_or(TokenFailure::Digest)?;
    let announced = |one: &Element<'_>| HashAlgorithm::from_element(one) == Some(digest);
    // Any number may be announced, none too. But who announces others and not the signer's contradicts
    // himself, and RFC 5652 section 5.3 lets a verifier refuse that.
    if token.digest_algorithms.is_empty() {
        notes.push(Note::DigestUnlisted);
    } else if !token.digest_algorithms.iter().any(announced) {
        return Err(TokenFailure::DigestUnlisted);
    }
    Ok(digest)
}

/// What the token is over, if its hash is known and allowed and its length is the hash's.
fn imprint(
    info: &TstInfo<'_>,
    rules: &Rules,
    notes: &mut Vec<Note>,
) -> Result<Imprint, TokenFailure> {
    let stated = &info.imprint_algorithm;
    let known = HashAlgorithm::from_oid(&stated.oid).filter(|_| stated.is_plain());
    let algorithm = known
        .and_then(|algorithm| allowed(algorithm, rules, notes))
        .ok_or(TokenFailure::ImprintAlgorithm { algorithm: stated.oid })?;
    Ok(Imprint::new(algorithm, info.imprint.to_vec())?)
}

/// SHA-1 only where it is allowed, and then with a note.
fn allowed(
    algorithm: HashAlgorithm,
    rules: &Rules,
    notes: &mut Vec<Note>,
) -> Option<HashAlgorithm> {
    if algorithm != HashAlgorithm::Sha1 {
        return Some(algorithm);
    }
    notes.extend(rules.allow.sha1.then_some(Note::Sha1));
    rules.allow.sha1.then_some(algorithm)
}

/// The token says what was asked for.
fn answers(info: &TstInfo<'_>, imprint: &Imprint, expected: &Expected) -> Result<(), TokenFailure> {
    if *imprint != expected.imprint {
        let (expected, actual) = (expected.imprint.clone(), imprint.clone());
        return Err(TokenFailure::Imprint { expected, actual });
    }
    match (&expected.nonce, &info.nonce) {
        (Some(_), None) => return Err(TokenFailure::NonceMissing),
        (Some(expected), Some(actual)) if expected != actual => {
            let (expected, actual) = (expected.clone(), actual.clone());
            return Err(TokenFailure::NonceMismatch { expected, actual });
        }
        _ => {}
    }
    match expected.policy {
        Some(expected) if expected != info.policy => {
            let (expected, actual) = (expected.into(), info.policy.into());
            Err(TokenFailure::PolicyNotAsked { expected, actual })
        }
        _ => Ok(()),
    }
}

/// The signed attributes are about this content.
fn attributes(token: &Token<'_>, digest: HashAlgorithm) -> Result<(), TokenFailure> {
    let attributes = &token.signer.attributes;
    match attributes.content_type {
        None => return Err(TokenFailure::ContentTypeMissing),
        Some(content_type) if content_type != ID_CT_TST_INFO => {
            return Err(TokenFailure::ContentType);
        }
        Some(_) => {}
    }
    match attributes.message_digest {
        None => return Err(TokenFailure::MessageDigestMissing),
        Some(stated) if stated != digest.digest(token.content) => {
            return Err(TokenFailure::MessageDigest);
        }
        Some(_) => {}
    }
    match &attributes.algorithm_protection {
        Some(protection) if !protects(protection, &token.signer) => {
            Err(TokenFailure::AlgorithmProtection)
        }
        _ => Ok(()),
    }
}

/// Whether the protected algorithms are those of the signer information (RFC 6211 section 3).
fn protects(protection: &AlgorithmProtection<'_>, signer: &SignerInfo<'_>) -> bool {
    let same = |protected: &AlgorithmIdentifier<'_>, stated: &Element<'_>| {
        AlgorithmIdentifier::read(stated).is_some_and(|stated| {
            protected.oid == stated.oid
                && (protected.parameters == stated.parameters
                    || (protected.is_plain() && stated.is_plain()))
        })
    };
    same(&protection.digest, &signer.digest_algorithm)
        && protection
            .signature
            .is_some_and(|protected| same(&protected, &signer.signature_algorithm))
}

/// The signature over the attributes, as received or in DER's order.
fn signature(
    signer: &SignerInfo<'_>,
    digest: HashAlgorithm,
    certificate: &Certificate,
    rules: &Rules,
    notes: &mut Vec<Note>,
) -> Result<SignatureScheme, TokenFailure> {
    let sha1 = rules.allow.sha1();
    let scheme = SignatureScheme::of_signer(&signer.signature_algorithm, digest, sha1)?;
    let verify =
        |message: &[u8]| scheme.verify(&certificate.public_key(), message, signer.signature);
    let sorted = signer.attributes.in_der_order();
    notes.extend(sorted.is_some().then_some(Note::UnsortedAttributes));
    match (verify(&signer.attributes.as_received()), sorted) {
        (Err(SignatureError::Invalid), Some(sorted)) => verify(&sorted)?,
        (verified, _) => verified?,
    }
    Ok(scheme)
}

/// The authority's name in the token, if there is one, is a name of the signer. It identifies nobody;
/// RFC 3161 section 2.4.2 asks for it all the same.
fn name(info: &TstInfo<'_>, signer: &Certificate) -> Result<(), TokenFailure> {
    match &info.tsa {
        Some(tsa) if !GeneralName::read(tsa).is_some_and(|tsa| signer.has_name(&tsa)) => {
            Err(TokenFailure::Name)
        }
        _ => Ok(()),
    }
}

fn future(gen_time: GenTime, rules: &Rules, notes: &mut Vec<Note>) -> Result<(), TokenFailure> {
    let Some(at) = rules.at else {
        notes.push(Note::FutureUnchecked);
        return Ok(());
    };
    if rules.latest().is_some_and(|latest| gen_time > latest) {
        return Err(TokenFailure::Future { gen_time, at });
    }
    Ok(())
}

/// What was supplied about revocation, and the CRLs that the token itself carries: they are signed
/// by whom they have to be signed by, wherever they come from.
fn evidence(token: &Token<'_>, supplied: &Supplied, rules: &Rules) -> Evidence {
    let mut evidence = Evidence::default();
    if rules.revocation.mode != RevocationMode::None {
        evidence.clone_from(&supplied.revocation);
        evidence.crls.extend(token.crls.iter().filter_map(|crl| Crl::parse(crl).ok()));
    }
    evidence
}

/// A trust entry under which everything holds.
struct Judged<'a> {
    operator: &'a str,
    path: Path<'a>,
    stance: Stance,
    unknown: bool,
}

/// The first trust entry under which the token holds; else why it holds under none, by the entry
/// that came farthest.
fn judge<'a>(
    info: &TstInfo<'_>,
    signer: &'a Signer,
    trust: &'a [TrustEntry],
    evidence: &Evidence,
    rules: &Rules,
) -> Result<Judged<'a>, TokenFailure> {
    let mut farthest: Option<(Progress, TokenFailure)> = None;
    for entry in trust {
        let (progress, failure) = match under(info, signer, entry, evidence, rules) {
            Ok(judged) => return Ok(judged),
            Err(failure) => failure,
        };
        if farthest.as_ref().is_none_or(|(best, _)| progress > *best) {
            farthest = Some((progress, failure));
        }
    }
    match farthest {
        Some((progress, failure)) if progress > Progress::Stranger => Err(failure),
        farthest => Err(stranger(info, signer, rules)
            .or(farthest.map(|(_, failure)| failure))
            .unwrap_or_else(|| {
                TokenFailure::Path(PathError::new(PathFault::NoPath, &signer.certificate))
            })),
    }
}

/// How far a trust entry came.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Progress {
    /// It knows nobody on the way from the signer up.
    Stranger,
    /// It knows the name of somebody on the way, and there is no path.
    Named,
    /// There is a path.
    Path,
    /// And genTime is within the window.
    Window,
    /// And the policy is accepted.
    Policy,
    /// And the accuracy is good enough.
    Accuracy,
}

fn under<'a>(
    info: &TstInfo<'_>,
    signer: &'a Signer,
    entry: &'a TrustEntry,
    evidence: &Evidence,
    rules: &Rules,
) -> Result<Judged<'a>, (Progress, TokenFailure)> {
    let sha1 = rules.allow.sha1();
    let (certificate, others) = (&signer.certificate, &signer.others);
    let roots = entry.roots();
    let wanted = |path: &[&Certificate]| holds_all(path, &signer.further);
    let path = find_path_of(certificate, others, roots, info.gen_time, sha1, &wanted);
    let path = path.map_err(|error| {
        if !signer.further.is_empty()
            && find_path(certificate, others, roots, info.gen_time, sha1).is_ok()
        {
            return (Progress::Path, TokenFailure::EssOutsidePath);
        }
        let known = knows(roots, certificate, others);
        (if known { Progress::Named } else { Progress::Stranger }, error.into())
    })?;
    if !entry.includes(info.gen_time) {
        let operator = entry.operator().to_owned();
        return Err((Progress::Path, TokenFailure::Window { gen_time: info.gen_time, operator }));
    }
    if !entry.accepts_policy(&info.policy) {
        return Err((Progress::Window, TokenFailure::PolicyNotAccepted { policy: info.policy }));
    }
    accuracy(info, entry).map_err(|failure| (Progress::Policy, failure))?;
    let until = rules.latest().or(rules.revocation.until);
    let revocation = RevocationRules { sha1, until, ..rules.revocation };
    let stance = check_revocation(&path, info.gen_time, evidence, &revocation);
    let stance = stance.map_err(|error| (Progress::Accuracy, error.into()))?;
    let unknown = match &stance {
        Stance::Checked(statuses) => statuses.iter().any(|status| !status.covers),
        _ => false,
    };
    Ok(Judged { operator: entry.operator(), path, stance, unknown })
}

/// Whether every certificate that is named stands in the path. Each is hashed once for an algorithm,
/// however many are named.
fn holds_all(path: &[&Certificate], named: &[CertificateDigest]) -> bool {
    HashAlgorithm::ALL.into_iter().all(|algorithm| {
        let mut named = named.iter().filter(|id| id.algorithm == algorithm).peekable();
        let digests: Vec<_> = match named.peek() {
            Some(_) => path.iter().map(|one| one.digest(algorithm)).collect(),
            None => Vec::new(),
        };
        named.all(|id| digests.contains(&id.digest))
    })
}

fn accuracy(info: &TstInfo<'_>, entry: &TrustEntry) -> Result<(), TokenFailure> {
    let Some(allowed_s) = entry.accuracy_s() else { return Ok(()) };
    let accuracy = info.accuracy.ok_or(TokenFailure::AccuracyAbsent)?;
    let microseconds = accuracy.microseconds();
    if microseconds > u64::from(allowed_s) * 1_000_000 {
        return Err(TokenFailure::AccuracyWide { allowed_s, microseconds });
    }
    Ok(())
}

/// Whether a root has a name that stands on the way from the signer up.
fn knows(roots: &[Root], signer: &Certificate, others: &[Certificate]) -> bool {
    let names = issuer_names(signer, others);
    let is_known =
        |root: &Root| names.iter().any(|name| name.matches(&root.certificate().subject()));
    roots.iter().any(is_known)
}

/// A root that is trusted for something else, if the path ends at one.
fn stranger(info: &TstInfo<'_>, signer: &Signer, rules: &Rules) -> Option<TokenFailure> {
    let (certificate, others) = (&signer.certificate, &signer.others);
    let roots = &rules.other_roots;
    let path = find_path(certificate, others, roots, info.gen_time, rules.allow.sha1()).ok()?;
    Some(TokenFailure::RootPurpose { root: path.root().digest() })
}
