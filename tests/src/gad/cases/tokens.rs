//! TSA.*: RFC 3161 tokens as anchors. The forge's own cases go much further; here each code shows once in an
//! envelope.

use serde_json::json;

use crate::forge::certificate::{BASIC_CONSTRAINTS, Extension};
use crate::forge::keys::{Hash, Key};
use crate::forge::raw::{number, octets, oid};
use crate::forge::token::{OTHER_POLICY, POLICY, SignedAttribute, accuracy, imprint};
use crate::gad::Case;
use crate::gad::Level::{N, Nobody, W};
use crate::gad::anchors::Stamp;
use crate::gad::base::envelopes::defensible;
use crate::gad::case::case;
use crate::gad::record::Files;
use crate::gad::trust::{PKI, crl};

const EKU: &str = "2.5.29.37";
const CODE_SIGNING: &str = "1.3.6.1.5.5.7.3.3";

pub(super) fn cases() -> Vec<Case> {
    let mut list = forms();
    list.extend(signers());
    list.extend(policies());
    list.extend(revocation());
    list.extend(controls());
    list
}

fn bad(
    name: &str,
    clause: &'static str,
    code: &'static str,
    why: &'static str,
    change: fn(&mut Stamp),
) -> Case {
    case(name, defensible, W, clause, why)
        .change(|r| r.anchor("root").stamp(change))
        .indefensible(&[code, "ANC.PRESENT_INVALID"])
}

fn forms() -> Vec<Case> {
    vec![
        bad("tsa-parse", "RFC 3161", "TSA.PARSE", "bytes that are no DER", |stamp| {
            stamp.rewrite = |_| b"not a token".to_vec();
        }),
        bad("tsa-parse-trailing", "RFC 3161", "TSA.PARSE", "a byte behind the token", |stamp| {
            stamp.rewrite = |bytes| [&bytes[..], b"\0"].concat();
        }),
        bad(
            "tsa-parse-form",
            "gad-formats 7",
            "TSA.PARSE",
            "a bare token under the name of a response",
            |stamp| {
                stamp.rewrite = |bytes| bytes[9..].to_vec();
            },
        ),
        bad(
            "tsa-status",
            "RFC 3161 2.4.2",
            "TSA.STATUS",
            "a response that wasn't granted",
            |stamp| {
                stamp.response.status = number(2);
            },
        ),
        bad("tsa-version", "RFC 3161 2.4.2", "TSA.VERSION", "TSTInfo of version 2", |stamp| {
            stamp.token.info.version = number(2);
        }),
        bad(
            "tsa-critical-extension",
            "RFC 3161 2.4.2",
            "TSA.VERSION",
            "an unknown critical extension",
            |stamp| {
                stamp.token.info.extend(&[("1.3.6.1.4.1.32473.3161.9", true, octets("x"))]);
            },
        ),
        bad(
            "tsa-imprint",
            "RFC 3161 2.4.2",
            "TSA.IMPRINT",
            "the imprint of something else",
            |stamp| {
                stamp.token.info.imprint = imprint(&Hash::Sha256.identifier(), &[7; 32]);
            },
        ),
        bad(
            "tsa-imprint-alg",
            "gad-definitions 2.18",
            "TSA.IMPRINT_ALG",
            "the imprint by SHA-1",
            |stamp| {
                stamp.token.info.imprint = imprint(&Hash::Sha1.identifier(), &[7; 20]);
            },
        ),
        bad("tsa-imprint-length", "RFC 3161 2.4.2", "TSA.IMPRINT_ALG", "half a digest", |stamp| {
            stamp.token.info.imprint = imprint(&Hash::Sha256.identifier(), &[7; 16]);
        }),
        bad(
            "tsa-imprint-other-alg",
            "gad-definitions 2.18",
            "TSA.IMPRINT",
            "the imprint by SHA-512",
            |stamp| {
                stamp.token.info.imprint = imprint(&Hash::Sha512.identifier(), &[7; 64]);
            },
        ),
        bad("tsa-signers", "RFC 3161 2.4.2", "TSA.SIGNERS", "two signers", |stamp| {
            stamp.token.signers = |one| vec![one.clone(), one];
        }),
        bad(
            "tsa-signed-attrs",
            "RFC 5652",
            "TSA.SIGNED_ATTRS",
            "message-digest is missing",
            |stamp| {
                let attributes = stamp.token.attributes.as_mut().expect("attributes");
                attributes.retain(|one| !matches!(one, SignedAttribute::MessageDigest));
            },
        ),
        bad(
            "tsa-signed-attrs-twice",
            "RFC 5652",
            "TSA.SIGNED_ATTRS",
            "content-type is there twice",
            |stamp| {
                stamp
                    .token
                    .attributes
                    .as_mut()
                    .expect("attributes")
                    .push(SignedAttribute::ContentType);
            },
        ),
        bad("tsa-ess", "RFC 5816", "TSA.ESS", "no signing-certificate attribute", |stamp| {
            let attributes = stamp.token.attributes.as_mut().expect("attributes");
            attributes.retain(|one| !matches!(one, SignedAttribute::EssV2(_)));
        }),
        bad("tsa-sig", "RFC 5652", "TSA.SIG", "a bit of the signature is flipped", |stamp| {
            stamp.token.spoil = |mut signature| {
                let last = signature.len() - 1;
                signature[last] ^= 1;
                signature
            };
        }),
    ]
}

fn signers() -> Vec<Case> {
    vec![
        bad("tsa-eku-missing", "RFC 3161 2.3", "TSA.EKU", "no extended key usage", |stamp| {
            stamp.leaf(|leaf| leaf.without(EKU));
        }),
        bad(
            "tsa-eku-not-critical",
            "RFC 3161 2.3",
            "TSA.EKU",
            "timeStamping isn't critical",
            |stamp| {
                stamp.leaf(|leaf| leaf.extension(EKU).critical = false);
            },
        ),
        bad("tsa-eku-other", "RFC 3161 2.3", "TSA.EKU", "code signing", |stamp| {
            stamp.leaf(|leaf| {
                leaf.without(EKU);
                leaf.extensions.push(Extension::purposes(true, &[CODE_SIGNING]));
            });
        }),
        bad("tsa-ca-leaf", "RFC 3161 2.3", "TSA.CA_LEAF", "the signer is a CA", |stamp| {
            stamp.leaf(|leaf| {
                leaf.without(BASIC_CONSTRAINTS);
                leaf.extensions.push(Extension::ca(None));
            });
        }),
        bad(
            "tsa-validity",
            "RFC 3161 App. B",
            "TSA.VALIDITY",
            "expired a second before genTime",
            |stamp| {
                stamp.leaf(|leaf| leaf.valid("20240101000000Z", "20250601115959Z"));
            },
        ),
        bad(
            "tsa-validity-early",
            "RFC 3161 App. B",
            "TSA.VALIDITY",
            "valid a second after genTime",
            |stamp| {
                stamp.leaf(|leaf| leaf.valid("20250601120001Z", "20300101000000Z"));
            },
        ),
        bad(
            "tsa-chain",
            "gad-formats 7",
            "TSA.CHAIN",
            "the known root's name, another's key",
            |stamp| {
                let forger = crate::forge::certificate::Identity::root_of(
                    "Suite Root A",
                    Key::p256("forger"),
                );
                stamp.by(&forger.tsa("Suite TSA A", Key::p256("forged tsa")));
            },
        ),
        bad("tsa-alg-sha1", "gad-formats 8", "TSA.ALG", "SHA-1 in the signature", |stamp| {
            stamp.token.digest_algorithm = Some(Hash::Sha1.identifier());
        }),
        case("tsa-cert-absent", defensible, N, "RFC 3161", "the signer's certificate is nowhere")
            .change(|r| {
                r.anchor("root").stamp(|stamp| stamp.token.certificates = None);
            })
            .indefensible(&["TSA.CERT_ABSENT", "ANC.PRESENT_INVALID"]),
        case(
            "tsa-root-purpose",
            defensible,
            W,
            "gad-formats 7",
            "a root that the policy keeps for evaluators",
        )
        .change(|r| r.anchor("root").stamp(|stamp| stamp.by(&PKI.tsa_e)))
        .indefensible(&["TSA.ROOT_PURPOSE", "ANC.PRESENT_INVALID"]),
    ]
}

fn policies() -> Vec<Case> {
    let policy = |name, pointer, value: serde_json::Value, code, why| {
        case(name, defensible, W, "gad-formats 8 tsa", why)
            .change(|r| r.policy(pointer, value))
            .indefensible(&[code, "ANC.PRESENT_INVALID"])
    };
    let end = json!({"start": "2024-01-01T00:00:00Z", "end": "2025-06-01T11:59:59Z"});
    let start = json!({"start": "2025-06-01T12:00:01Z", "end": null});
    vec![
        policy(
            "tsa-policy-window-end",
            "/tsa/0/window",
            end,
            "TSA.POLICY_WINDOW",
            "genTime a second after the window",
        ),
        policy(
            "tsa-policy-window-start",
            "/tsa/0/window",
            start,
            "TSA.POLICY_WINDOW",
            "genTime a second before the window",
        ),
        policy(
            "tsa-policy-oid",
            "/tsa/0/policies",
            json!([OTHER_POLICY]),
            "TSA.POLICY_OID",
            "another TSA policy is asked for",
        ),
        policy(
            "tsa-accuracy-wide",
            "/tsa/0/require_accuracy_s",
            json!(0),
            "TSA.ACCURACY",
            "a second where none may be",
        ),
        bad("tsa-accuracy-absent", "gad-formats 8 tsa", "TSA.ACCURACY", "no accuracy", |stamp| {
            stamp.token.info.accuracy = Vec::new();
        }),
        case(
            "tsa-future",
            defensible,
            W,
            "gad-definitions 2.19",
            "genTime after the evaluation, beyond the skew",
        )
        .change(|r| {
            r.inputs.at = "2025-06-01T11:58:59Z";
            r.attest("/body/evaluation_time", "2025-06-01T11:58:00Z");
        })
        .indefensible(&["TSA.FUTURE", "ANC.PRESENT_INVALID"]),
        case(
            "tsa-future-met",
            defensible,
            Nobody,
            "gad-definitions 2.19",
            "genTime after the evaluation by the skew",
        )
        .change(|r| {
            r.inputs.at = "2025-06-01T11:59:00Z";
            r.attest("/body/evaluation_time", "2025-06-01T11:59:00Z");
        })
        .holds(&[])
        .without(&["TSA.FUTURE"]),
        case(
            "tsa-policy-oid-met",
            defensible,
            Nobody,
            "gad-formats 8 tsa",
            "one of two TSA policies",
        )
        .change(|r| r.policy("/tsa/0/policies", json!([POLICY, OTHER_POLICY])))
        .holds(&[])
        .without(&["TSA.POLICY_OID"]),
        case(
            "tsa-window-met",
            defensible,
            Nobody,
            "gad-definitions 2.17",
            "windows are closed at both ends",
        )
        .change(|r| {
            let now = "2025-06-01T12:00:00Z";
            r.policy("/tsa/0/window", json!({"start": now, "end": now}));
        })
        .holds(&[])
        .without(&["TSA.POLICY_WINDOW"]),
    ]
}

fn revocation() -> Vec<Case> {
    let listed = |name: &'static str,
                  date: &'static str,
                  reason: Option<u8>,
                  stance: &'static str| {
        case(name, defensible, W, "RFC 3161 4, gad-formats 7", "the signer and a revocation list")
            .change(|r| {
                let crl = crl().with(&PKI.tsa_a, date, reason).sign(&PKI.issuing_a.key);
                r.inputs.trust = Some((name, Files::from([("tsa-a.crl".into(), crl)])));
                r.policy("/revocation/tsa", stance);
            })
    };
    let found = ["TSA.REVOKED", "ANC.PRESENT_INVALID"];
    vec![
        listed("tsa-revoked", "20250601120000Z", Some(5), "supplied").indefensible(&found),
        listed("tsa-revoked-later-compromise", "20250602000000Z", Some(1), "supplied")
            .indefensible(&found),
        listed("tsa-revoked-later", "20250601120001Z", Some(5), "supplied")
            .holds(&[])
            .without(&["TSA.REVOKED"]),
        listed("tsa-revoked-not-asked", "20250501000000Z", Some(1), "none")
            .holds(&[])
            .without(&["TSA.REVOKED"]),
        case(
            "tsa-revocation-unknown",
            defensible,
            N,
            "gad-formats 8 revocation",
            "evidence is asked for and isn't there",
        )
        .change(|r| r.policy("/revocation/tsa", "required"))
        .indefensible(&["TSA.REVOCATION_UNKNOWN"]),
    ]
}

fn controls() -> Vec<Case> {
    let good = |name, why, change: fn(&mut Stamp)| {
        case(name, defensible, Nobody, "RFC 3161", why)
            .change(|r| r.anchor("root").stamp(change))
            .holds(&[])
            .without(&["ANC.PRESENT_INVALID", "ANC.UNTRUSTED_ISSUER"])
    };
    vec![
        good("tsa-bare-token", "a token without its response", |stamp| stamp.bare = true),
        good("tsa-granted-with-mods", "granted with modifications", |stamp| {
            stamp.response.status = number(1);
        }),
        good("tsa-ed25519", "a TSA with an Ed25519 key", |stamp| stamp.by(&PKI.tsa_b)),
        good("tsa-validity-met", "validity is closed at both ends", |stamp| {
            stamp.leaf(|leaf| leaf.valid("20250601120000Z", "20250601120000Z"));
        }),
        good("tsa-expired-since", "a certificate that has expired since", |stamp| {
            stamp.leaf(|leaf| leaf.valid("20240101000000Z", "20250615000000Z"));
        }),
        good("tsa-no-nonce", "no nonce, no ordering", |stamp| stamp.token.info.nonce = Vec::new()),
        good("tsa-accuracy-millis", "accuracy in seconds, millis and micros", |stamp| {
            stamp.token.info.accuracy = accuracy(Some(1), Some(500), Some(1));
        }),
        good("tsa-policy-other", "any TSA policy, where none is asked for", |stamp| {
            stamp.token.info.policy = oid(OTHER_POLICY);
        }),
        case(
            "tsa-certificates-supplied",
            defensible,
            Nobody,
            "gad-formats 7",
            "the certificates are in the trust directory",
        )
        .change(|r| {
            r.anchor("root").stamp(|stamp| stamp.token.certificates = None);
            r.inputs.trust = Some((
                "tsa-certificates",
                Files::from([
                    ("tsa-a.der".into(), PKI.tsa_a.certificate.clone()),
                    ("issuing-a.der".into(), PKI.issuing_a.certificate.clone()),
                ]),
            ));
        })
        .holds(&[])
        .without(&["TSA.CERT_ABSENT"]),
    ]
}
