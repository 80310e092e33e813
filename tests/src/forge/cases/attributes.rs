//! What is wrong with the signed attributes, correctly signed.

use super::forms_sound::{ess, sign_also};
use crate::forge::draft::List;
use crate::forge::keys::{Hash, Key, Scheme};
use crate::forge::raw::{attribute, integer, name, null, number, octets, oid, sequence};
use crate::forge::token::{
    ALGORITHM_PROTECTION, CONTENT_TYPE, DATA, ESS_V1, ESS_V2, MESSAGE_DIGEST, SignedAttribute,
    SignedOver, TST_INFO, algorithm_protection, ess_id_v1, ess_id_v2, ess_v1, ess_v2,
    issuer_serial,
};
use SignedAttribute::{ContentType, EssV1, EssV2, MessageDigest, Raw};

pub(super) fn add(list: &mut List<'_>) {
    basic(list);
    protection(list);
    essential_form(list);
    essential(list);
    essential_names(list);
}

fn basic(list: &mut List<'_>) {
    list.fails(
        "attributes-absent",
        "attributes.absent",
        "no signed attributes: the signature is over TSTInfo itself (RFC 5652 5.3)",
        |d| d.token.attributes = None,
    );
    list.fails(
        "attributes-empty",
        "attributes.absent",
        "signedAttrs without one (RFC 5652 5.3)",
        |d| {
            d.token.attributes = Some(Vec::new());
        },
    );
    list.fails("content-type-missing", "attributes.content-type-missing", "no content-type", |d| {
        d.token.attributes = Some(vec![MessageDigest, EssV2(Hash::Sha256)]);
    });
    list.fails(
        "content-type-data",
        "attributes.content-type",
        "content-type is id-data, eContentType is not (RFC 5652 11.1)",
        |d| {
            let wrong = Raw(attribute(CONTENT_TYPE, [oid(DATA)]));
            d.token.attributes = Some(vec![wrong, MessageDigest, EssV2(Hash::Sha256)]);
        },
    );
    list.fails(
        "message-digest-missing",
        "attributes.message-digest-missing",
        "no message-digest",
        |d| {
            d.token.attributes = Some(vec![ContentType, EssV2(Hash::Sha256)]);
        },
    );
    list.fails(
        "message-digest-other",
        "attributes.message-digest",
        "message-digest is that of other octets",
        |d| {
            let wrong = Raw(attribute(MESSAGE_DIGEST, [octets(Hash::Sha256.digest(b"?"))]));
            d.token.attributes = Some(vec![ContentType, wrong, EssV2(Hash::Sha256)]);
        },
    );
    list.fails(
        "message-digest-with-header",
        "attributes.message-digest",
        "message-digest is over eContent with tag and length (RFC 5652 5.4: without)",
        |d| {
            let digest = Hash::Sha256.digest(&octets(d.token.content()));
            let wrong = Raw(attribute(MESSAGE_DIGEST, [octets(digest)]));
            d.token.attributes = Some(vec![ContentType, wrong, EssV2(Hash::Sha256)]);
        },
    );
    list.fails(
        "message-digest-cut",
        "attributes.message-digest",
        "message-digest is a prefix of the right one",
        |d| {
            let digest = Hash::Sha256.digest(&d.token.content());
            let cut: Vec<u8> = digest.into_iter().take(20).collect();
            let wrong = Raw(attribute(MESSAGE_DIGEST, [octets(cut)]));
            d.token.attributes = Some(vec![ContentType, wrong, EssV2(Hash::Sha256)]);
        },
    );
    let repeated = "attributes.repeated";
    list.fails("content-type-twice", repeated, "two equal content-types (RFC 5652 11.1)", |d| {
        sign_also(d, attribute(CONTENT_TYPE, [oid(TST_INFO)]));
    });
    list.fails("message-digest-twice", repeated, "a right and a wrong message-digest", |d| {
        sign_also(d, attribute(MESSAGE_DIGEST, [octets([0xff; 32])]));
    });
    list.fails("ess-v1-twice", repeated, "two SigningCertificates (RFC 5035 5.4.2)", |d| {
        ess(d, vec![EssV1, EssV1]);
    });
    list.fails("ess-v2-twice", repeated, "two SigningCertificateV2s (RFC 5035 5.4.1)", |d| {
        ess(d, vec![EssV2(Hash::Sha256), EssV2(Hash::Sha512)]);
    });
    forms(list);
}

fn forms(list: &mut List<'_>) {
    let form = "attributes.form";
    list.fails(
        "content-type-two-values",
        "attributes.repeated",
        "content-type with two values",
        |d| {
            let wrong = Raw(attribute(CONTENT_TYPE, [oid(DATA), oid(TST_INFO)]));
            d.token.attributes = Some(vec![wrong, MessageDigest, EssV2(Hash::Sha256)]);
        },
    );
    list.fails(
        "content-type-no-value",
        "attributes.repeated",
        "content-type without a value",
        |d| {
            let wrong = Raw(attribute::<&[u8]>(CONTENT_TYPE, []));
            d.token.attributes = Some(vec![wrong, MessageDigest, EssV2(Hash::Sha256)]);
        },
    );
    list.fails("content-type-octets", form, "content-type is an OCTET STRING", |d| {
        let wrong = Raw(attribute(CONTENT_TYPE, [octets(oid(TST_INFO))]));
        d.token.attributes = Some(vec![wrong, MessageDigest, EssV2(Hash::Sha256)]);
    });
    list.fails(
        "message-digest-two-values",
        "attributes.repeated",
        "message-digest with two values",
        |d| {
            let right = Hash::Sha256.digest(&d.token.content());
            let wrong = Raw(attribute(MESSAGE_DIGEST, [octets([0; 32]), octets(right)]));
            d.token.attributes = Some(vec![ContentType, wrong, EssV2(Hash::Sha256)]);
        },
    );
    list.fails(
        "message-digest-no-value",
        "attributes.repeated",
        "message-digest without a value",
        |d| {
            let wrong = Raw(attribute::<&[u8]>(MESSAGE_DIGEST, []));
            d.token.attributes = Some(vec![ContentType, wrong, EssV2(Hash::Sha256)]);
        },
    );
    list.fails("message-digest-null", form, "message-digest is NULL", |d| {
        let wrong = Raw(attribute(MESSAGE_DIGEST, [null()]));
        d.token.attributes = Some(vec![ContentType, wrong, EssV2(Hash::Sha256)]);
    });
    list.fails("attribute-without-values", form, "an unknown attribute without its SET", |d| {
        sign_also(d, sequence([oid("1.3.6.1.4.1.32473.3161.7")]));
    });
    list.fails("attribute-integer", form, "an INTEGER among the attributes", |d| {
        sign_also(d, number(1));
    });
}

fn protection(list: &mut List<'_>) {
    let reason = "attributes.algorithm-protection";
    list.fails(
        "protection-digest",
        reason,
        "CMSAlgorithmProtection has another digest (RFC 6211 3)",
        |d| {
            let other =
                algorithm_protection(&Hash::Sha512.identifier(), &d.token.scheme.identifier());
            sign_also(d, other);
        },
    );
    list.fails(
        "protection-signature",
        reason,
        "CMSAlgorithmProtection has another signature",
        |d| {
            let scheme = Scheme::Ecdsa(Hash::Sha512).identifier();
            sign_also(d, algorithm_protection(&Hash::Sha256.identifier(), &scheme));
        },
    );
    list.fails(
        "protection-mac",
        "attributes.form",
        "CMSAlgorithmProtection protects a MAC, tag [2], and there is a signature (RFC 6211 2)",
        |d| {
            let mac = crate::forge::raw::retag(0xa2, &d.token.scheme.identifier());
            let value = sequence([Hash::Sha256.identifier(), mac]);
            sign_also(d, attribute(ALGORITHM_PROTECTION, [value]));
        },
    );
    list.fails("protection-null", "attributes.form", "CMSAlgorithmProtection is NULL", |d| {
        sign_also(d, attribute(ALGORITHM_PROTECTION, [null()]));
    });
}

fn essential_form(list: &mut List<'_>) {
    list.fails(
        "ess-missing",
        "ess.missing",
        "neither SigningCertificate nor V2 (RFC 5816 2.2.1)",
        |d| {
            ess(d, Vec::new());
        },
    );
    list.fails(
        "ess-unsigned",
        "ess.missing",
        "SigningCertificateV2 is there, but not among the signed attributes",
        |d| {
            let id = ess_id_v2(Hash::Sha256, &d.token.signer.certificate, None);
            d.token.unsigned_attributes = crate::forge::raw::context(1, ess_v2(&[id]));
            ess(d, Vec::new());
        },
    );
    let form = "ess.form";
    for (name, about, value) in [
        ("ess-v2-null", "the value is NULL (CVE-2025-69420 shape)", null()),
        ("ess-v2-integer", "the value is an INTEGER", integer([5])),
        ("ess-v2-octets", "the value is an OCTET STRING", octets([0; 32])),
        ("ess-v2-empty-sequence", "the value is a SEQUENCE without certs", sequence::<&[u8]>([])),
        ("ess-v2-no-ids", "certs is empty: there is a first identifier (RFC 5035 5.4.1)", {
            sequence([sequence::<&[u8]>([])])
        }),
        ("ess-v2-id-null", "the identifier is NULL", sequence([sequence([null()])])),
        (
            "ess-v2-hash-integer",
            "certHash is an INTEGER",
            sequence([sequence([sequence([integer([1; 32])])])]),
        ),
    ] {
        list.fails(name, form, about, |d| ess(d, vec![Raw(attribute(ESS_V2, [value]))]));
    }
    list.fails("ess-v1-null", form, "SigningCertificate is NULL", |d| {
        ess(d, vec![Raw(attribute(ESS_V1, [null()]))]);
    });
    list.fails("ess-v1-octets", form, "SigningCertificate is an OCTET STRING", |d| {
        ess(d, vec![Raw(attribute(ESS_V1, [octets([0; 20])]))]);
    });
    list.fails(
        "ess-v1-null-beside-v2",
        form,
        "SigningCertificate is NULL beside a right V2",
        |d| {
            ess(d, vec![Raw(attribute(ESS_V1, [null()])), EssV2(Hash::Sha256)]);
        },
    );
    list.fails(
        "ess-v2-no-value",
        "attributes.repeated",
        "SigningCertificateV2 without a value",
        |d| {
            ess(d, vec![Raw(attribute::<&[u8]>(ESS_V2, []))]);
        },
    );
    list.fails(
        "ess-v2-two-values",
        "attributes.repeated",
        "SigningCertificateV2 with two values (RFC 5035 5.4.1)",
        |d| {
            let id = |hash| ess_id_v2(hash, &d.token.signer.certificate, None);
            let values = [Hash::Sha256, Hash::Sha384].map(|hash| sequence([sequence([id(hash)])]));
            ess(d, vec![Raw(attribute(ESS_V2, values))]);
        },
    );
}

fn essential(list: &mut List<'_>) {
    let mismatch = "ess.hash-mismatch";
    list.fails("ess-v2-other", mismatch, "ESSCertIDv2 is that of the intermediate", |d| {
        let id = ess_id_v2(Hash::Sha256, &d.intermediate.certificate, None);
        ess(d, vec![Raw(ess_v2(&[id]))]);
    });
    list.fails("ess-v1-other", mismatch, "ESSCertID is that of the intermediate", |d| {
        let id = ess_id_v1(&d.intermediate.certificate, None);
        ess(d, vec![Raw(ess_v1(&[id]))]);
    });
    list.fails(
        "ess-v1-wrong-v2-right",
        mismatch,
        "both are there and v1 is wrong: both count",
        |d| {
            let id = ess_id_v1(&d.intermediate.certificate, None);
            ess(d, vec![Raw(ess_v1(&[id])), EssV2(Hash::Sha256)]);
        },
    );
    list.fails(
        "ess-v1-right-v2-wrong",
        mismatch,
        "both are there and v2 is wrong: both count",
        |d| {
            let id = ess_id_v2(Hash::Sha256, &d.intermediate.certificate, None);
            ess(d, vec![EssV1, Raw(ess_v2(&[id]))]);
        },
    );
    list.fails(
        "ess-second-is-signer",
        mismatch,
        "the first identifier is wrong, the second right",
        |d| {
            let ids = [&d.intermediate.certificate, &d.token.signer.certificate]
                .map(|certificate| ess_id_v2(Hash::Sha256, certificate, None));
            ess(d, vec![Raw(ess_v2(&ids))]);
        },
    );
    list.fails("ess-v2-cut", mismatch, "certHash is a prefix of the right digest", |d| {
        let digest = Hash::Sha256.digest(&d.token.signer.certificate);
        let cut: Vec<u8> = digest.into_iter().take(20).collect();
        ess(d, vec![Raw(ess_v2(&[sequence([octets(cut)])]))]);
    });
    list.fails("ess-v2-of-key", mismatch, "certHash is the digest of the public key", |d| {
        let digest = Hash::Sha256.digest(&d.token.signer.template.spki);
        ess(d, vec![Raw(ess_v2(&[sequence([octets(digest)])]))]);
    });
    list.fails(
        "twin-alone",
        mismatch,
        "only another certificate with the signer's issuer and serial number is there",
        |d| {
            let twin = d.token.signer.again(&d.intermediate, |twin| {
                twin.spki = Key::p256("impostor").spki();
            });
            d.bag().remove(0);
            d.bag().insert(0, twin.certificate);
        },
    );
    let unknown = "ess.algorithm";
    list.fails("ess-v2-sha1", unknown, "ESSCertIDv2 by SHA-1 without the switch", |d| {
        ess(d, vec![EssV2(Hash::Sha1)]);
    });
    list.fails("ess-v2-sha224", unknown, "ESSCertIDv2 by SHA-224", |d| {
        ess(d, vec![EssV2(Hash::Sha224)]);
    });
    list.fails("ess-v2-parameters", unknown, "ESSCertIDv2 by SHA-256 with parameters", |d| {
        let odd = crate::forge::raw::algorithm(Hash::Sha256.dotted(), Some(octets("?")));
        let hash = octets(Hash::Sha256.digest(&d.token.signer.certificate));
        ess(d, vec![Raw(ess_v2(&[sequence([odd, hash])]))]);
    });
}

fn essential_names(list: &mut List<'_>) {
    let name_reason = "ess.issuer-serial";
    list.fails("ess-v2-serial", name_reason, "issuerSerial has another serial number", |d| {
        let other = issuer_serial(&d.token.signer.template.issuer, &number(99));
        let id = ess_id_v2(Hash::Sha256, &d.token.signer.certificate, Some(other));
        ess(d, vec![Raw(ess_v2(&[id]))]);
    });
    list.fails("ess-v1-serial", name_reason, "issuerSerial of v1 has another serial number", |d| {
        let other = issuer_serial(&d.token.signer.template.issuer, &number(99));
        let id = ess_id_v1(&d.token.signer.certificate, Some(other));
        ess(d, vec![Raw(ess_v1(&[id]))]);
    });
    list.fails("ess-v2-issuer", name_reason, "issuerSerial has another issuer", |d| {
        let other = issuer_serial(&name("Somebody Else"), &d.token.signer.template.serial);
        let id = ess_id_v2(Hash::Sha256, &d.token.signer.certificate, Some(other));
        ess(d, vec![Raw(ess_v2(&[id]))]);
    });
    list.fails(
        "ess-v2-two-issuers",
        name_reason,
        "issuerSerial has the right issuer and another: exactly one directoryName (RFC 5035 5.4.1.1)",
        |d| {
            let template = d.token.signer.template.clone();
            let names = [&template.issuer, &name("Somebody Else")]
                .map(|issuer| crate::forge::raw::context(4, issuer));
            let both = sequence([sequence(names), template.serial]);
            let id = ess_id_v2(Hash::Sha256, &d.token.signer.certificate, Some(both));
            ess(d, vec![Raw(ess_v2(&[id]))]);
        },
    );
    let outside = "ess.outside-path";
    list.fails(
        "ess-second-outside",
        outside,
        "a second identifier of a stranger (RFC 5035 5.4.1)",
        |d| {
            let stranger = d.world.other_root.certificate.clone();
            d.bag().push(stranger.clone());
            let ids = [&d.token.signer.certificate, &stranger]
                .map(|certificate| ess_id_v2(Hash::Sha256, certificate, None));
            ess(d, vec![Raw(ess_v2(&ids))]);
        },
    );
    list.fails("ess-v1-second-outside", outside, "a second v1 identifier of nobody", |d| {
        let ids = [d.token.signer.certificate.as_slice(), b"nobody"]
            .map(|certificate| ess_id_v1(certificate, None));
        ess(d, vec![Raw(ess_v1(&ids))]);
    });
    list.fails(
        "attributes-reversed",
        "signature.invalid",
        "the signature is over the reverse order",
        |d| {
            d.token.over = SignedOver::Reversed;
        },
    );
}
