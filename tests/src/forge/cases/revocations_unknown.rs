//! CRLs and OCSP responses that say nothing, where evidence is required.

use super::revocations::{BEFORE, crl, delegated, ocsp, required, responder};
use crate::forge::certificate::{Extension, KEY_USAGE};
use crate::forge::draft::List;
use crate::forge::keys::{Hash, Key};
use crate::forge::raw::{context_primitive, named_bits, null, number, octets, sequence};
use crate::forge::revocation::{CertStatus, Crl, Revoked, cert_id};

pub(super) fn add(list: &mut List<'_>) {
    unknown(list);
    unknown_ocsp(list);
}

/// issuingDistributionPoint with these fields.
fn distribution_point(fields: Vec<u8>) -> Extension {
    Extension::new("2.5.29.28", true, sequence([fields]))
}

fn unknown(list: &mut List<'_>) {
    let reason = "revocation.unknown";
    list.fails(
        "revocation-nothing-required",
        reason,
        "evidence is required and there is none",
        |d| {
            required(d);
            d.given.crls.clear();
        },
    );
    list.fails("revocation-signer-missing", reason, "there is evidence for the CA alone", required);
    list.fails(
        "revocation-issuer-missing",
        reason,
        "there is evidence for the signer alone",
        |d| {
            required(d);
            d.given.crls.clear();
            crl(d, |_| {});
        },
    );
    list.fails("crl-stranger", reason, "a stranger's CRL", |d| {
        required(d);
        d.given.crls.push(Crl::of(&d.world.other_root).sign(&d.world.other_root.key));
    });
    list.fails("crl-forged", reason, "a CRL in the CA's name by another key", |d| {
        required(d);
        d.given.crls.push(Crl::of(&d.intermediate).sign(&Key::p256("forger")));
    });
    list.fails("crl-by-signer", reason, "a CRL in the CA's name by the signer's key", |d| {
        required(d);
        d.given.crls.push(Crl::of(&d.intermediate).sign(&d.token.signer.key));
    });
    for (name, about, change) in UNUSABLE {
        list.fails(name, reason, about, |d| {
            required(d);
            crl(d, change);
        });
    }
    list.fails("crl-unreadable", reason, "octets that are no CRL", |d| {
        required(d);
        d.given.crls.push(sequence([null()]));
    });
    list.fails(
        "crl-issuer-may-not",
        reason,
        "the CA's keyUsage lacks cRLSign (RFC 5280 6.3.3 f)",
        |d| {
            d.intermediate(|ca| ca.extension(KEY_USAGE).value = named_bits(&[5]));
            required(d);
            crl(d, |_| {});
        },
    );
}

type Change = fn(&mut Crl);

/// CRLs of the right CA that say nothing about the signer at genTime.
const UNUSABLE: [(&str, &str, Change); 10] = [
    ("crl-signature-broken", "the CRL's signature is broken", |crl| crl.break_signature = true),
    ("crl-expired", "nextUpdate is before genTime", |crl| {
        crl.this_update = "20250501000000Z";
        crl.next_update = Some("20250601115959Z");
    }),
    (
        "crl-older-than-the-token",
        "a CRL current at genTime, issued before it: it can't know",
        |crl| {
            crl.this_update = "20250530000000Z";
            crl.next_update = Some("20250606000000Z");
        },
    ),
    ("crl-from-the-future", "thisUpdate is after the evaluation time", |crl| {
        crl.this_update = "20250701000000Z";
        crl.next_update = Some("20250708000000Z");
    }),
    ("crl-unknown-critical", "an unknown critical extension of the CRL (RFC 5280 5.2)", |crl| {
        crl.extensions.push(Extension::new("1.3.6.1.4.1.32473.3161.12", true, octets("?")));
    }),
    (
        "crl-entry-unknown-critical",
        "an unknown critical extension of an entry (RFC 5280 5.3)",
        |crl| {
            crl.revoked.push(Revoked {
                serial: number(77),
                date: BEFORE,
                reason: Some(4),
                extensions: vec![Extension::new("1.3.6.1.4.1.32473.3161.12", true, octets("?"))],
            });
        },
    ),
    ("crl-delta", "a delta CRL without its base (RFC 5280 5.2.4)", |crl| {
        crl.extensions.push(Extension::new("2.5.29.27", true, number(3)));
    }),
    ("crl-indirect", "an indirect CRL (RFC 5280 5.2.5)", |crl| {
        crl.extensions.push(distribution_point(context_primitive(4, [0xff])));
    }),
    ("crl-for-authorities-only", "a CRL for CA certificates alone", |crl| {
        crl.extensions.push(distribution_point(context_primitive(2, [0xff])));
    }),
    ("crl-for-some-reasons", "a CRL for keyCompromise alone", |crl| {
        crl.extensions.push(distribution_point(context_primitive(3, [6, 0x40])));
    }),
];

fn unknown_ocsp(list: &mut List<'_>) {
    let reason = "revocation.unknown";
    list.fails("ocsp-unknown", reason, "OCSP says unknown", |d| {
        required(d);
        ocsp(d, |response| response.status = CertStatus::Unknown);
    });
    list.fails("ocsp-other-serial", reason, "OCSP is about another serial number", |d| {
        required(d);
        let id = cert_id(Hash::Sha1, &d.intermediate, &d.world.p384.template.serial);
        ocsp(d, |response| response.cert_id = id);
    });
    list.fails(
        "ocsp-other-issuer",
        reason,
        "OCSP is about the serial number of another issuer",
        |d| {
            required(d);
            let id = cert_id(Hash::Sha1, &d.world.other_root, &d.token.signer.template.serial);
            ocsp(d, |response| response.cert_id = id);
        },
    );
    list.fails("ocsp-signature-broken", reason, "the OCSP response's signature is broken", |d| {
        required(d);
        ocsp(d, |response| response.break_signature = true);
    });
    list.fails("ocsp-try-later", reason, "responseStatus tryLater", |d| {
        required(d);
        ocsp(d, |response| response.response_status = 3);
    });
    list.fails("ocsp-expired", reason, "nextUpdate is before genTime", |d| {
        required(d);
        ocsp(d, |response| {
            response.this_update = "20250501000000Z";
            response.next_update = Some("20250502000000Z");
        });
    });
    list.fails(
        "ocsp-unknown-critical",
        reason,
        "an unknown critical extension of the response",
        |d| {
            required(d);
            ocsp(d, |response| {
                response.extensions =
                    vec![Extension::new("1.3.6.1.4.1.32473.3161.13", true, octets("?"))];
            });
        },
    );
    list.fails("ocsp-by-tsa", reason, "a TSA of the CA answers: it lacks OCSPSigning", |d| {
        required(d);
        let by = d.world.p384.clone();
        delegated(d, &by);
    });
    list.fails("ocsp-by-signer", reason, "the signer answers for itself", |d| {
        required(d);
        let by = d.token.signer.clone();
        delegated(d, &by);
    });
    list.fails("ocsp-by-foreign-responder", reason, "a responder of another CA answers", |d| {
        required(d);
        let by = responder(&d.world.other_root);
        delegated(d, &by);
    });
    list.fails(
        "ocsp-responder-expired",
        reason,
        "the responder's certificate expired before it answered",
        |d| {
            required(d);
            let by = responder(&d.intermediate).again(&d.intermediate, |template| {
                template.valid("20240101000000Z", "20250101000000Z");
            });
            delegated(d, &by);
        },
    );
}
