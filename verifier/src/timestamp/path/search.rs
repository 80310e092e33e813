//! The search for a path: deep first, turning back, bounded.

use anchorlog_proto::timestamp::GenTime;

use super::super::certificate::{Certificate, ExtendedKeyUsage, KeyUsage};
use super::super::signature::{Sha1, SignatureError, SignatureScheme};
use super::constraints::names_hold;
use super::policy::policies_hold;
use super::{
    MAX_CANDIDATES, MAX_PATH_CERTIFICATES, MAX_SIGNATURE_CHECKS, Path, PathError, PathFault, Root,
};

pub(super) fn find<'a>(
    signer: &'a Certificate,
    candidates: &'a [Certificate],
    roots: &'a [Root],
    at: GenTime,
    sha1: Sha1,
    wanted: &dyn Fn(&[&Certificate]) -> bool,
) -> Result<Path<'a>, PathError> {
    let fault = |fault| Err(PathError::new(fault, signer));
    if candidates.len() > MAX_CANDIDATES || roots.len() > MAX_CANDIDATES {
        return fault(PathFault::Limit);
    }
    if !signer.is_valid_at(at) {
        return fault(PathFault::SignerValidity);
    }
    if let Some(oid) = signer.extensions().unknown_critical {
        return fault(PathFault::UnknownCritical(oid));
    }
    let mut sorted: Vec<_> = candidates.iter().collect();
    sorted.sort_unstable_by_key(|candidate| candidate.der());
    sorted.dedup_by_key(|candidate| candidate.der());
    let mut search = Search {
        candidates: sorted,
        roots,
        at,
        sha1,
        wanted,
        checks_left: MAX_SIGNATURE_CHECKS,
        chain: vec![signer],
        farthest: None,
    };
    match search.extend() {
        Some(path) => Ok(path),
        None if search.checks_left == 0 => fault(PathFault::Limit),
        None => match search.farthest {
            Some((_, fault, certificate)) => Err(PathError::new(fault, certificate)),
            None => fault(PathFault::NoPath),
        },
    }
}

struct Search<'a, 'w> {
    /// In the order of their bytes, each once.
    candidates: Vec<&'a Certificate>,
    roots: &'a [Root],
    at: GenTime,
    sha1: Sha1,
    wanted: &'w dyn Fn(&[&Certificate]) -> bool,
    checks_left: usize,
    /// The signer, its issuer, and so on; every link of it holds.
    chain: Vec<&'a Certificate>,
    /// How far the farthest attempt came, and what stood against it.
    farthest: Option<((usize, usize), PathFault, &'a Certificate)>,
}

impl<'a> Search<'a, '_> {
    /// Goes on from the end of the chain.
    fn extend(&mut self) -> Option<Path<'a>> {
        let last = *self.chain.last()?;
        let itself = self.roots.iter().find(|root| root.certificate() == last);
        if let Some(root) = itself
            && let Some(path) = self.complete(root)
        {
            return Some(path);
        }

        let mut roots: Vec<_> = self
            .roots
            .iter()
            .filter(|root| root.certificate() != last && is_issuer(root.certificate(), last))
            .collect();
        roots.sort_by_key(|root| !is_key_of(root.certificate(), last));
        let mut issuers: Vec<_> = self
            .candidates
            .iter()
            .filter(|candidate| is_issuer(candidate, last) && !self.is_used(candidate))
            .copied()
            .collect();
        issuers.sort_by_key(|candidate| !is_key_of(candidate, last));
        if roots.is_empty() && issuers.is_empty() && itself.is_none() {
            self.note(PathFault::NoPath, last);
            return None;
        }
        if self.chain.len() >= MAX_PATH_CERTIFICATES {
            self.note(PathFault::Limit, last);
            return None;
        }

        for root in roots {
            if self.link(last, root.certificate(), true) {
                self.chain.push(root.certificate());
                let path = self.complete(root);
                self.chain.pop();
                if path.is_some() {
                    return path;
                }
            }
        }
        for issuer in issuers {
            if self.link(last, issuer, false) {
                self.chain.push(issuer);
                let path = self.extend();
                self.chain.pop();
                if path.is_some() {
                    return path;
                }
            }
        }
        None
    }

    /// What can only be said of a whole path: names and policies, from the anchor down.
    fn complete(&mut self, root: &'a Root) -> Option<Path<'a>> {
        let down: Vec<_> = self.chain.iter().rev().copied().collect();
        if let Err((fault, certificate)) = names_hold(&down) {
            self.note(fault, certificate);
            return None;
        }
        if !policies_hold(down.iter().skip(1).copied()) {
            self.note(PathFault::Policy, down.last()?);
            return None;
        }
        let certificates = self.chain.clone();
        (self.wanted)(&certificates).then_some(Path { certificates, root })
    }

    /// Whether `issuer` issued `subject`, the end of the chain, and may have.
    ///
    /// The signature comes first: of several issuers of one name, what stands against the one whose
    /// key it is says more than that the others' keys are others.
    fn link(&mut self, subject: &'a Certificate, issuer: &'a Certificate, is_anchor: bool) -> bool {
        let Some(left) = self.checks_left.checked_sub(1) else { return false };
        self.checks_left = left;
        let verdict = is_signed_by(subject, issuer, self.sha1)
            .map_err(|fault| (fault, subject))
            .and_then(|()| self.may_issue(issuer, is_anchor).map_err(|fault| (fault, issuer)));
        match verdict {
            Ok(()) => true,
            Err((fault, certificate)) => {
                self.note(fault, certificate);
                false
            }
        }
    }

    fn may_issue(&self, issuer: &Certificate, is_anchor: bool) -> Result<(), PathFault> {
        let extensions = issuer.extensions();
        if let Some(oid) = extensions.unknown_critical {
            return Err(PathFault::UnknownCritical(oid));
        }
        let old_anchor = is_anchor && issuer.version() < 3;
        let constraints = extensions.basic_constraints;
        if !old_anchor && !constraints.is_some_and(|constraints| constraints.ca) {
            return Err(PathFault::NotCa);
        }
        if extensions.key_usage.is_some_and(|usage| !usage.intersects(KeyUsage::KEY_CERT_SIGN)) {
            return Err(PathFault::KeyUsage);
        }
        let between = self.chain.iter().skip(1).filter(|one| !one.is_self_issued()).count();
        if constraints
            .and_then(|constraints| constraints.path_length)
            .is_some_and(|most| u64::try_from(between).is_ok_and(|between| between > most))
        {
            return Err(PathFault::PathLength);
        }
        let fits = |usage: &ExtendedKeyUsage| {
            usage.purposes.contains(&ExtendedKeyUsage::TIME_STAMPING)
                || usage.purposes.contains(&ExtendedKeyUsage::ANY)
        };
        // An anchor is for what the caller says it is for, whatever its own extension says.
        if !is_anchor && !extensions.extended_key_usage.as_ref().is_none_or(fits) {
            return Err(PathFault::Purpose);
        }
        if !is_anchor && !issuer.is_valid_at(self.at) {
            return Err(PathFault::IssuerValidity);
        }
        Ok(())
    }

    /// Whether a certificate of this name and key is in the chain: going through it again leads
    /// nowhere new.
    fn is_used(&self, candidate: &Certificate) -> bool {
        self.chain.iter().any(|used| {
            used.public_key() == candidate.public_key()
                && used.subject().matches(&candidate.subject())
        })
    }

    fn note(&mut self, fault: PathFault, certificate: &'a Certificate) {
        let progress = (self.chain.len(), rank(fault));
        if self.farthest.is_none_or(|(farthest, ..)| progress > farthest) {
            self.farthest = Some((progress, fault, certificate));
        }
    }
}

/// The order of [`PathFault`].
const fn rank(fault: PathFault) -> usize {
    match fault {
        PathFault::NoPath => 0,
        PathFault::Limit => 1,
        PathFault::Signature => 2,
        PathFault::Algorithm(_) => 3,
        PathFault::UnknownCritical(_) => 4,
        PathFault::NotCa => 5,
        PathFault::KeyUsage => 6,
        PathFault::PathLength => 7,
        PathFault::Purpose => 8,
        PathFault::SignerValidity | PathFault::IssuerValidity => 9,
        PathFault::NameConstraints => 10,
        PathFault::Policy => 11,
    }
}

fn is_issuer(issuer: &Certificate, subject: &Certificate) -> bool {
    issuer.subject().matches(&subject.issuer())
}

/// Whether the key identifiers say that it is the issuer's key. They only order the search.
fn is_key_of(issuer: &Certificate, subject: &Certificate) -> bool {
    let wanted = subject.extensions().authority_key_id.as_deref();
    wanted.is_some() && wanted == issuer.subject_key_id()
}

fn is_signed_by(subject: &Certificate, issuer: &Certificate, sha1: Sha1) -> Result<(), PathFault> {
    SignatureScheme::of_certificate(&subject.signature_algorithm(), sha1)
        .and_then(|scheme| scheme.verify(&issuer.public_key(), subject.tbs(), subject.signature()))
        .map_err(|error| match error {
            SignatureError::Invalid => PathFault::Signature,
            error => PathFault::Algorithm(error),
        })
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{Draft, time};
    use super::super::{find_path, find_path_of};
    use super::*;

    /// An authority whose certificate was renewed: whichever of the two the search would meet first, a
    /// path through the one that a token names is found.
    #[test]
    fn of_several_paths_the_wanted_one_is_found() {
        let roots = [Root::new(Draft::authority("root", "root", 1).by(1))];
        let signer = Draft::signer("signer", "middle", 3).by(2);
        let middle = Draft::authority("middle", "root", 2);
        let bag = [middle.by(1), middle.clone().valid("20250101000000Z", "20270101000000Z").by(1)];
        let at = time("20260101000000Z");
        for named in &bag {
            let wanted = |path: &[&Certificate]| path.contains(&named);
            let path = find_path_of(&signer, &bag, &roots, at, Sha1::Refused, &wanted).unwrap();
            assert!(path.certificates().contains(&named));
        }
        let none = find_path_of(&signer, &bag, &roots, at, Sha1::Refused, &|_| false);
        assert_eq!(none.unwrap_err().fault(), PathFault::NoPath);
        assert!(find_path(&signer, &bag, &roots, at, Sha1::Refused).is_ok());
    }
}
