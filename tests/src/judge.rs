//! A forged case before the verifier's library.
//!
//! What it is: everything that a case is told, in the verifier's own types, so that any bytes can be judged in
//! the case's circumstances. What it isn't: an opinion; whether the answer is right is for the caller.

#![allow(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a case that can't be told to the verifier is a mistake in the case"
)]

use anchorlog_proto::encoding::hex_encode;
use anchorlog_proto::timestamp::{GenTime, HashAlgorithm, Imprint, Nonce, TimestampRequest};
use anchorlog_verifier::timestamp::path::Root;
use anchorlog_verifier::timestamp::revocation::{
    Crl, Evidence, OcspResponse, RevocationMode, RevocationRules,
};
use anchorlog_verifier::timestamp::{
    Allow, Certificate, Expected, Rules, Supplied, TokenFailure, TrustEntry, VerifiedToken,
    verify_response, verify_token,
};

use crate::forge::{Case, Form, Revocation, Switch, TrustSpec};

/// What the verifier makes of a case.
pub fn judge(case: &Case) -> Result<VerifiedToken, TokenFailure> {
    Judge::of(case).judge(&case.bytes)
}

/// The circumstances of a case, in which any bytes can be judged.
#[derive(Debug)]
pub struct Judge {
    form: Form,
    request: TimestampRequest,
    trust: Vec<TrustEntry>,
    supplied: Supplied,
    rules: Rules,
}

impl Judge {
    /// What this case is told.
    #[must_use]
    pub fn of(case: &Case) -> Self {
        let given = &case.given;
        let named = |one: &HashAlgorithm| one.name() == given.digest_algorithm;
        let algorithm = HashAlgorithm::ALL.into_iter().find(named).unwrap();
        let imprint = Imprint::new(algorithm, given.digest.clone()).unwrap();
        let asked = given.request.clone().unwrap_or_default();
        let nonce = asked.nonce.map(|octets| hex_encode(&octets).parse::<Nonce>().unwrap());
        let policy = asked.policy.map(|policy| policy.parse().unwrap());
        let supplied = Supplied {
            certificates: certificates(&given.certificates),
            revocation: Evidence {
                crls: given.crls.iter().filter_map(|der| Crl::parse(der).ok()).collect(),
                ocsp: given.ocsp.iter().filter_map(|der| OcspResponse::parse(der).ok()).collect(),
            },
        };
        let allow = Allow {
            sha1: given.allow.contains(&Switch::Sha1),
            ber: given.allow.contains(&Switch::Ber),
            noncritical_eku: given.allow.contains(&Switch::NoncriticalEku),
        };
        let mode = match given.revocation {
            Revocation::None => RevocationMode::None,
            Revocation::Supplied => RevocationMode::Supplied,
            Revocation::Required => RevocationMode::Required,
        };
        let rules = Rules {
            at: Some(GenTime::from_unix(given.at)),
            skew_s: given.skew_s,
            allow,
            revocation: RevocationRules { mode, ..RevocationRules::default() },
            other_roots: certificates(&given.other_roots).into_iter().map(Root::new).collect(),
        };
        let request = TimestampRequest { imprint, nonce, policy, cert_req: asked.cert_req };
        let trust = given.trust.iter().map(entry).collect();
        Self { form: case.form, request, trust, supplied, rules }
    }

    /// What the verifier makes of these bytes in them.
    pub fn judge(&self, bytes: &[u8]) -> Result<VerifiedToken, TokenFailure> {
        let Self { form, request, trust, supplied, rules } = self;
        match form {
            Form::Response => verify_response(bytes, request, trust, supplied, rules),
            Form::Token => {
                verify_token(bytes, &Expected::answering(request), trust, supplied, rules)
            }
        }
    }
}

fn entry(spec: &TrustSpec) -> TrustEntry {
    let window = |end: Option<i64>| end.map(GenTime::from_unix);
    let policies = spec.policies.iter().map(|policy| policy.parse().unwrap()).collect();
    let entry = TrustEntry::new(spec.operator, certificates(&spec.roots))
        .within(window(spec.window_start), window(spec.window_end))
        .under_policies(policies);
    match spec.max_accuracy_s {
        Some(seconds) => entry.with_accuracy_s(seconds),
        None => entry,
    }
}

fn certificates(ders: &[Vec<u8>]) -> Vec<Certificate> {
    ders.iter().filter_map(|der| Certificate::parse(der).ok()).collect()
}
