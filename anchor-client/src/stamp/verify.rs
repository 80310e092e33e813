//! The judge: where this module calls `anchorlog-verifier`.

use std::slice;

use anchorlog_proto::timestamp::{GenTime, TimestampRequest, Token};
use anchorlog_verifier::timestamp::path::find_path;
use anchorlog_verifier::timestamp::revocation::{
    Crl, Evidence, RevocationMode, RevocationRules, check_revocation,
};
use anchorlog_verifier::timestamp::{
    Allow, Certificate, Rules, Supplied, TokenFailure, VerifiedToken, verify_response,
};

use super::authority::Authority;

/// What a response is judged by, beside the authority's own trust entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judgement {
    /// The time at which it is judged.
    pub(super) at: GenTime,
    /// What is tolerated.
    pub(super) allow: Allow,
    /// How far genTime may lie ahead of `at`, in seconds.
    pub(super) skew_s: u32,
}

impl Judgement {
    /// Judges a response as the answer to its request. With revocation lists, they must not revoke it.
    pub(super) fn of_response(
        self,
        response: &[u8],
        request: &TimestampRequest,
        authority: &Authority,
        crls: Option<Vec<Crl>>,
    ) -> Result<VerifiedToken, Box<TokenFailure>> {
        let mode = if crls.is_some() { RevocationMode::Supplied } else { RevocationMode::None };
        let rules = Rules {
            allow: self.allow,
            skew_s: self.skew_s,
            revocation: self.revocation(mode),
            ..Rules::at(self.at)
        };
        let supplied = Supplied {
            certificates: authority.certificates().to_vec(),
            revocation: Evidence { crls: crls.unwrap_or_default(), ..Evidence::default() },
        };
        let trust = slice::from_ref(authority.trust());
        verify_response(response, request, trust, &supplied, &rules).map_err(Box::new)
    }

    /// Whether lists of today speak about every certificate of a verified token's path, the anchor
    /// apart.
    ///
    /// The verifier asks for lists from after genTime, which is right for later and impossible now: this
    /// asks for lists of whatever time, and the caller brings only those that are current.
    pub(super) fn is_covered(
        self,
        token: &VerifiedToken,
        authority: &Authority,
        crls: Vec<Crl>,
    ) -> bool {
        let Ok(read) = Token::parse(token.bytes()) else { return false };
        let bag = read.certificates.iter().filter_map(|der| Certificate::parse(der).ok());
        let bag: Vec<_> = bag.chain(authority.certificates().iter().cloned()).collect();
        let is_signer = |one: &&Certificate| Some(&one.fingerprint()) == token.chain().first();
        let Some(signer) = bag.iter().find(is_signer) else { return false };
        let (roots, sha1) = (authority.trust().roots(), self.allow.sha1());
        let Ok(path) = find_path(signer, &bag, roots, token.gen_time(), sha1) else { return false };
        let evidence = Evidence { crls, ..Evidence::default() };
        let rules = self.revocation(RevocationMode::Required);
        let ever = GenTime::from_unix(i64::MIN);
        path.digests() == token.chain() && check_revocation(&path, ever, &evidence, &rules).is_ok()
    }

    fn revocation(self, mode: RevocationMode) -> RevocationRules {
        RevocationRules { mode, sha1: self.allow.sha1(), ..RevocationRules::default() }
    }
}
