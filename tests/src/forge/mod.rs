//! Tokens made to be judged: sound ones of every kind, and bad ones with one defect each.
//!
//! What it is: the other side of the verifier's tests. A small DER writer, keys, certificates, CRLs, OCSP
//! responses and tokens are all made here without a line of `anchorlog-proto` or `anchorlog-verifier`, and
//! each bad token is complete and correctly signed but for the one thing its name says. [`cases`] lists
//! them with everything a verifier has to be told and the reason it has to give. What it isn't: a
//! verifier, or a source of trust. All keys are public.
//!
//! `forge-tokens DIR` writes the cases as files, for other implementations to judge.

pub mod case;
mod cases;
pub mod certificate;
pub mod draft;
pub mod keys;
pub mod raw;
pub mod revocation;
pub mod token;
pub mod world;

pub use case::{Asked, Case, Expected, Form, Given, Revocation, Switch, TrustSpec};

/// All cases. The same in each run.
#[must_use]
pub fn cases() -> Vec<Case> {
    let world = world::World::new();
    let mut list = draft::List::new(&world);
    cases::add(&mut list);
    list.into_cases()
}

/// Every reason for which a token may fail, the coarse code in front.
pub const REASONS: &[(&str, &[&str])] = &[
    (
        "TSA.PARSE",
        &[
            "parse.ber",
            "parse.der",
            "parse.trailing",
            "parse.length",
            "parse.count",
            "parse.content-type",
            "parse.encapsulated-type",
            "parse.content-absent",
            "parse.signed-data-version",
            "parse.signer-version",
            "parse.tst-info",
            "parse.gen-time",
            "parse.accuracy",
            "parse.serial",
            "parse.response",
        ],
    ),
    (
        "TSA.STATUS",
        &[
            "status.rejected",
            "status.waiting",
            "status.revocation",
            "status.unknown",
            "status.token-missing",
            "status.token-unexpected",
            "status.fail-info",
        ],
    ),
    ("TSA.VERSION", &["version.tst-info", "version.critical-extension"]),
    ("TSA.IMPRINT_ALG", &["imprint.algorithm", "imprint.length"]),
    ("TSA.IMPRINT", &["imprint.mismatch"]),
    ("TSA.NONCE", &["nonce.missing", "nonce.mismatch"]),
    ("TSA.SIGNERS", &["signers.none", "signers.several"]),
    (
        "TSA.SIGNED_ATTRS",
        &[
            "attributes.absent",
            "attributes.form",
            "attributes.repeated",
            "attributes.content-type-missing",
            "attributes.content-type",
            "attributes.message-digest-missing",
            "attributes.message-digest",
            "attributes.algorithm-protection",
        ],
    ),
    (
        "TSA.ESS",
        &[
            "ess.missing",
            "ess.form",
            "ess.algorithm",
            "ess.hash-mismatch",
            "ess.issuer-serial",
            "ess.outside-path",
        ],
    ),
    ("TSA.SIG", &["signature.invalid"]),
    ("TSA.CERT_ABSENT", &["certificate.absent", "certificate.form"]),
    ("TSA.CERTS_UNASKED", &["certificates.unasked"]),
    ("TSA.NAME", &["name.mismatch"]),
    (
        "TSA.ALG",
        &[
            "algorithm.digest",
            "algorithm.unlisted",
            "algorithm.signature",
            "algorithm.mismatch",
            "algorithm.parameters",
            "algorithm.key",
            "algorithm.key-size",
            "algorithm.certificate",
        ],
    ),
    (
        "TSA.CHAIN",
        &[
            "chain.no-path",
            "chain.signature",
            "chain.not-ca",
            "chain.path-length",
            "chain.key-usage",
            "chain.eku",
            "chain.name-constraints",
            "chain.policy",
            "chain.unknown-critical",
            "chain.limit",
        ],
    ),
    ("TSA.ROOT_PURPOSE", &["root.purpose"]),
    (
        "TSA.EKU",
        &["eku.missing", "eku.purpose", "eku.not-sole", "eku.not-critical", "signer.key-usage"],
    ),
    ("TSA.CA_LEAF", &["signer.is-ca"]),
    ("TSA.VALIDITY", &["validity.signer", "validity.issuer"]),
    ("TSA.POLICY_WINDOW", &["window.outside"]),
    ("TSA.REVOKED", &["revoked.signer", "revoked.issuer"]),
    ("TSA.REVOCATION_UNKNOWN", &["revocation.unknown"]),
    ("TSA.POLICY_OID", &["policy.not-accepted", "policy.not-asked"]),
    ("TSA.ACCURACY", &["accuracy.absent", "accuracy.wide"]),
    ("TSA.FUTURE", &["time.future"]),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::LazyLock;

    use super::*;

    static CASES: LazyLock<Vec<Case>> = LazyLock::new(cases);

    #[test]
    fn names_are_unique_and_in_kebab_case() {
        let mut seen = BTreeSet::new();
        for case in CASES.iter() {
            let sound = |part: &str| {
                !part.is_empty()
                    && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            };
            assert!(case.name.split('-').all(sound), "{}", case.name);
            assert!(seen.insert(case.name), "{} is there twice", case.name);
            assert!(!case.about.contains(['\t', '\n']), "{}", case.name);
        }
    }

    #[test]
    fn every_reason_has_a_case_and_no_case_another() {
        let known: BTreeSet<_> =
            REASONS.iter().flat_map(|(_, reasons)| *reasons).copied().collect();
        let used: BTreeSet<_> = CASES
            .iter()
            .filter_map(|case| match case.expected {
                Expected::Fails(reason) => Some(reason),
                Expected::Holds { .. } => None,
            })
            .collect();
        assert_eq!(used, known);
    }

    #[test]
    fn bytes_are_the_same_each_time_and_differ_between_cases() {
        let again = cases();
        assert_eq!(again.len(), CASES.len());
        for (one, other) in again.iter().zip(CASES.iter()) {
            assert_eq!(one.bytes, other.bytes, "{}", one.name);
        }
        // Where the bytes are the same, what is told about them isn't.
        let told = |case: &Case| {
            let mut told = case.bytes.clone();
            told.extend(format!("{:?}{:?}", case.form, case.given).bytes());
            told
        };
        let distinct: BTreeSet<_> = CASES.iter().map(told).collect();
        assert_eq!(distinct.len(), CASES.len());
    }

    #[test]
    fn there_are_enough() {
        let sound =
            CASES.iter().filter(|case| matches!(case.expected, Expected::Holds { .. })).count();
        assert!(sound >= 150, "{sound} sound ones");
        assert!(CASES.len() - sound >= 400, "{} bad ones", CASES.len() - sound);
    }
}
