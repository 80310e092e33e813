//! Whose a token says it is: by names alone, before any signature is looked at.

use anchorlog_proto::timestamp::Token;

use super::certificate::Certificate;
use super::path::{Root, issuer_names};
use super::signer::is_identified;
use super::trust::{Rules, Supplied, TrustEntry};

/// Whether the caller knows the authority that a token names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum StatedIssuer {
    /// No certificate at hand is the one that the token names as its signer's.
    Nobody,
    /// Nobody on the way up has the name of a root that the caller knows.
    Unknown,
    /// Somebody has, be it a root of a trust entry or one that is trusted for something else.
    Known,
}

/// Follows the names of issuers from the signer's certificate up, through the certificates in the token
/// and the supplied ones, and compares them with the subjects of the roots. Whether anything holds is
/// [`super::verify_token`]'s to say.
pub(crate) fn stated_issuer(
    token: &Token<'_>,
    trust: &[TrustEntry],
    supplied: &Supplied,
    rules: &Rules,
) -> StatedIssuer {
    let read = token.certificates.iter().filter_map(|raw| Certificate::parse(raw).ok());
    let certificates: Vec<_> = read.chain(supplied.certificates.iter().cloned()).collect();
    let roots: Vec<&Root> =
        trust.iter().flat_map(TrustEntry::roots).chain(&rules.other_roots).collect();
    let mut stated = StatedIssuer::Nobody;
    for signer in certificates.iter().filter(|one| is_identified(one, &token.signer.id)) {
        stated = StatedIssuer::Unknown;
        let names = issuer_names(signer, &certificates);
        let is_known = |root: &&Root| {
            let subject = root.certificate().subject();
            names.iter().any(|name| name.matches(&subject))
        };
        if roots.iter().any(is_known) {
            return StatedIssuer::Known;
        }
    }
    stated
}
