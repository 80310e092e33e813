//! CRLs and OCSP responses beside the token, judged by RFC 3161 section 4.
//!
//! A revocation for one of the reasons unspecified (0), affiliationChanged (3), superseded (4) and
//! cessationOfOperation (5) leaves tokens alone that are older than it (4.1). For every other reason, and
//! without one, no token of the key holds (4.1, 4.2).
//!
//! Evidence is usable if its issuer signed it, it was issued no earlier than genTime and no later than it is
//! judged, and it isn't partial: only what is younger than a token can say that its signer was sound then.

use crate::forge::case::Revocation;
use crate::forge::certificate::{EKU, Extension, Identity, OCSP_SIGNING};
use crate::forge::draft::{Draft, List};
use crate::forge::keys::{Hash, Key};
use crate::forge::raw::{null, sequence};
use crate::forge::revocation::{CertStatus, Crl, Ocsp, cert_id};
use crate::forge::world::GEN_TIME;

pub(super) const BEFORE: &str = "20250601115959Z";
const AFTER: &str = "20250601120001Z";
const AT: &str = "20250601120000Z";
const DAY: i64 = 86_400;

/// Judges a day later, with the evidence there is.
pub(super) fn supplied(draft: &mut Draft<'_>) {
    draft.given.revocation = Revocation::Supplied;
    draft.given.at = GEN_TIME + DAY;
}

/// Judges a day later and wants evidence for signer and CA; that for the CA is there and good.
pub(super) fn required(draft: &mut Draft<'_>) {
    draft.given.revocation = Revocation::Required;
    draft.given.at = GEN_TIME + DAY;
    let above = Crl::of(&draft.root).sign(&draft.root.key);
    draft.given.crls.push(above);
}

/// Adds the CA's CRL, changed.
pub(super) fn crl(draft: &mut Draft<'_>, change: impl FnOnce(&mut Crl)) {
    let mut crl = Crl::of(&draft.intermediate);
    change(&mut crl);
    let signed = crl.sign(&draft.intermediate.key);
    draft.given.crls.push(signed);
}

/// Adds a CRL that revokes the signer.
fn revoke(draft: &mut Draft<'_>, date: &'static str, reason: Option<u8>) {
    let list = Crl::of(&draft.intermediate).with(&draft.token.signer, date, reason);
    let signed = list.sign(&draft.intermediate.key);
    draft.given.crls.push(signed);
}

/// Adds the CA's own OCSP response about the signer, changed.
pub(super) fn ocsp(draft: &mut Draft<'_>, change: impl FnOnce(&mut Ocsp)) {
    let mut response = Ocsp::about(&draft.token.signer, &draft.intermediate);
    change(&mut response);
    let signed = response.sign(&draft.intermediate);
    draft.given.ocsp.push(signed);
}

/// A responder below this CA, with id-kp-OCSPSigning.
pub(super) fn responder(ca: &Identity) -> Identity {
    ca.tsa("Forge OCSP Responder", Key::p256("responder")).again(ca, |template| {
        template.without(EKU);
        template.extensions.push(Extension::purposes(false, &[OCSP_SIGNING]));
    })
}

/// Adds an OCSP response by somebody else than the CA, its certificate within.
pub(super) fn delegated(draft: &mut Draft<'_>, by: &Identity) {
    let mut response = Ocsp::about(&draft.token.signer, &draft.intermediate);
    response.certificates = vec![by.certificate.clone()];
    draft.given.ocsp.push(response.sign(by));
}

pub(super) fn add(list: &mut List<'_>) {
    sound(list);
    sound_ocsp(list);
    reasons(list);
    revoked(list);
}

fn sound(list: &mut List<'_>) {
    list.holds("crl-good", "CRLs for signer and CA, neither lists them", |d| {
        required(d);
        crl(d, |_| {});
    });
    list.holds("crl-others-listed", "a CRL that lists other serial numbers", |d| {
        required(d);
        let other = d.world.p384.clone();
        crl(d, |crl| *crl = crl.clone().with(&other, BEFORE, Some(1)));
    });
    for (name, reason) in [
        ("crl-unspecified-after", 0),
        ("crl-affiliation-changed-after", 3),
        ("crl-superseded-after", 4),
        ("crl-cessation-after", 5),
    ] {
        list.holds(
            name,
            "revoked after genTime for a reason that spares older tokens (RFC 3161 4.1)",
            |d| {
                required(d);
                revoke(d, AFTER, Some(reason));
            },
        );
    }
    list.holds(
        "crl-revoked-not-looked-at",
        "a CRL revokes the signer, and the stance is none",
        |d| {
            supplied(d);
            revoke(d, BEFORE, Some(1));
            d.given.revocation = Revocation::None;
        },
    );
    list.holds("revocation-nothing-supplied", "the stance is supplied, and nothing was", supplied);
    list.holds(
        "crl-stranger-supplied",
        "a stranger's CRL revokes the signer: it counts for nothing",
        |d| {
            supplied(d);
            let list = Crl::of(&d.world.other_root).with(&d.token.signer, BEFORE, Some(1));
            d.given.crls.push(list.sign(&d.world.other_root.key));
        },
    );
    list.holds(
        "crl-forged-supplied",
        "a CRL in the CA's name by another key: it counts for nothing",
        |d| {
            supplied(d);
            let list = Crl::of(&d.intermediate).with(&d.token.signer, BEFORE, Some(1));
            d.given.crls.push(list.sign(&Key::p256("forger")));
        },
    );
    list.holds(
        "crl-unreadable-supplied",
        "octets that are no CRL, and the stance is supplied",
        |d| {
            supplied(d);
            d.given.crls.push(sequence([null()]));
            d.given.ocsp.push(sequence([null()]));
        },
    );
    list.holds("crl-issuer-superseded-after", "the CA was superseded after genTime", |d| {
        supplied(d);
        let list = Crl::of(&d.root).with(&d.intermediate, AFTER, Some(4));
        d.given.crls.push(list.sign(&d.root.key));
    });
}

fn sound_ocsp(list: &mut List<'_>) {
    list.holds("ocsp-good", "an OCSP response by the CA says good", |d| {
        required(d);
        ocsp(d, |_| {});
    });
    list.holds(
        "ocsp-good-by-key",
        "the responder is named by its key, CertID is by SHA-256",
        |d| {
            required(d);
            let id = cert_id(Hash::Sha256, &d.intermediate, &d.token.signer.template.serial);
            ocsp(d, |response| {
                response.by_key = true;
                response.cert_id = id;
            });
        },
    );
    list.holds(
        "ocsp-good-delegated",
        "a responder of the CA's says good (RFC 6960 4.2.2.2)",
        |d| {
            required(d);
            let by = responder(&d.intermediate);
            delegated(d, &by);
        },
    );
    list.holds("ocsp-superseded-after", "revoked after genTime as superseded", |d| {
        required(d);
        ocsp(d, |response| response.status = CertStatus::Revoked(AFTER, Some(4)));
    });
    list.holds("ocsp-without-next-update", "no nextUpdate, thisUpdate after genTime", |d| {
        required(d);
        ocsp(d, |response| response.next_update = None);
    });
}

fn reasons(list: &mut List<'_>) {
    let reason = "revoked.signer";
    for (name, code) in [
        ("crl-unspecified-before", 0),
        ("crl-affiliation-changed-before", 3),
        ("crl-superseded-before", 4),
        ("crl-cessation-before", 5),
    ] {
        list.fails(name, reason, "revoked before genTime (RFC 3161 4.1)", |d| {
            required(d);
            revoke(d, BEFORE, Some(code));
        });
    }
    for (name, code) in [
        ("crl-key-compromise-before", Some(1)),
        ("crl-ca-compromise-before", Some(2)),
        ("crl-hold-before", Some(6)),
        ("crl-privilege-withdrawn-before", Some(9)),
        ("crl-aa-compromise-before", Some(10)),
        ("crl-no-reason-before", None),
    ] {
        list.fails(name, reason, "revoked before genTime", |d| {
            required(d);
            revoke(d, BEFORE, code);
        });
    }
    for (name, code) in [
        ("crl-key-compromise-after", Some(1)),
        ("crl-ca-compromise-after", Some(2)),
        ("crl-aa-compromise-after", Some(10)),
        ("crl-no-reason-after", None),
    ] {
        list.fails(
            name,
            reason,
            "revoked after genTime, and no token of the key holds (RFC 3161 4.1, 4.2)",
            |d| {
                required(d);
                revoke(d, AFTER, code);
            },
        );
    }
    for (name, code) in [
        ("crl-hold-after", Some(6)),
        ("crl-unused-reason-after", Some(7)),
        ("crl-remove-after", Some(8)),
        ("crl-privilege-withdrawn-after", Some(9)),
        ("crl-unknown-reason-after", Some(42)),
    ] {
        list.fails(
            name,
            reason,
            "revoked after genTime for a reason that isn't among 0, 3, 4, 5, which alone spare older tokens (RFC 3161 4.1)",
            |d| {
                required(d);
                revoke(d, AFTER, code);
            },
        );
    }
}

fn revoked(list: &mut List<'_>) {
    let reason = "revoked.signer";
    list.fails(
        "crl-superseded-at",
        reason,
        "superseded at genTime to the second: not before it",
        |d| {
            required(d);
            revoke(d, AT, Some(4));
        },
    );
    list.fails("crl-supplied", reason, "the stance is supplied, and the CRL revokes", |d| {
        supplied(d);
        revoke(d, BEFORE, Some(4));
    });
    list.fails(
        "crl-newer-revokes",
        reason,
        "an older CRL is clean, a newer one has keyCompromise",
        |d| {
            required(d);
            crl(d, |crl| {
                crl.this_update = "20250530000000Z";
                crl.next_update = Some("20250606000000Z");
            });
            revoke(d, AFTER, Some(1));
        },
    );
    list.fails(
        "crl-good-ocsp-revoked",
        reason,
        "the CRL is clean and OCSP says keyCompromise",
        |d| {
            required(d);
            crl(d, |_| {});
            ocsp(d, |response| response.status = CertStatus::Revoked(AFTER, Some(1)));
        },
    );
    list.fails("ocsp-superseded-before", reason, "OCSP: superseded before genTime", |d| {
        required(d);
        ocsp(d, |response| response.status = CertStatus::Revoked(BEFORE, Some(4)));
    });
    list.fails(
        "ocsp-no-reason-after",
        reason,
        "OCSP: revoked after genTime without a reason",
        |d| {
            required(d);
            ocsp(d, |response| response.status = CertStatus::Revoked(AFTER, None));
        },
    );
    list.fails("ocsp-key-compromise-after", reason, "OCSP: keyCompromise after genTime", |d| {
        supplied(d);
        ocsp(d, |response| response.status = CertStatus::Revoked(AFTER, Some(1)));
    });
    let issuer = "revoked.issuer";
    for (name, date, code) in [
        ("issuer-superseded-before", BEFORE, Some(4)),
        ("issuer-key-compromise-after", AFTER, Some(1)),
        ("issuer-ca-compromise-after", AFTER, Some(2)),
        ("issuer-no-reason-after", AFTER, None),
    ] {
        list.fails(name, issuer, "the root's CRL revokes the intermediate", |d| {
            supplied(d);
            let list = Crl::of(&d.root).with(&d.intermediate, date, code);
            d.given.crls.push(list.sign(&d.root.key));
        });
    }
}
