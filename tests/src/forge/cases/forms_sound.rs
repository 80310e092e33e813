//! Sound tokens: what a token may look like around and beside its algorithms.

use crate::forge::case::{Form, Switch};
use crate::forge::certificate::{Extension, serial};
use crate::forge::draft::{Draft, List};
use crate::forge::keys::{Hash, Key, Scheme};
use crate::forge::raw::{
    attribute, boolean, context, context_primitive, integer, join, null, number, octets, oid,
    sequence, set, tlv, utc, utf8,
};
use crate::forge::revocation::Crl;
use crate::forge::token::{
    ESS_V2, MESSAGE_DIGEST, SIGNING_TIME, SignedAttribute, SignedOver, accuracy,
    attribute_certificate, ess_id_v1, ess_id_v2, ess_v1, ess_v2, imprint, issuer_serial,
    other_certificate, wide_integer,
};

/// Replaces the ESS attributes by these bytes.
pub(super) fn ess(draft: &mut Draft<'_>, attributes: Vec<SignedAttribute>) {
    let mut all = vec![SignedAttribute::ContentType, SignedAttribute::MessageDigest];
    all.extend(attributes);
    draft.token.attributes = Some(all);
}

/// Adds a signed attribute.
pub(super) fn sign_also(draft: &mut Draft<'_>, bytes: Vec<u8>) {
    draft.token.attributes.get_or_insert_default().push(SignedAttribute::Raw(bytes));
}

pub(super) fn add(list: &mut List<'_>) {
    essential(list);
    identifiers(list);
    bags(list);
    attributes(list);
    info(list);
    bound(list);
    times(list);
    responses(list);
}

fn essential(list: &mut List<'_>) {
    use SignedAttribute::{EssV1, EssV2, Raw};
    list.holds("ess-v1", "only SigningCertificate: SHA-1 as a name, allowed (RFC 5816 3)", |d| {
        ess(d, vec![EssV1]);
    });
    list.holds("ess-both", "SigningCertificate and SigningCertificateV2, both right", |d| {
        ess(d, vec![EssV1, EssV2(Hash::Sha256)]);
    });
    list.holds("ess-v2-sha384", "ESSCertIDv2 by SHA-384", |d| ess(d, vec![EssV2(Hash::Sha384)]));
    list.holds("ess-v2-sha512", "ESSCertIDv2 by SHA-512", |d| ess(d, vec![EssV2(Hash::Sha512)]));
    for (name, algorithm) in [
        ("ess-v2-sha256-written", Hash::Sha256.identifier()),
        ("ess-v2-sha256-null", Hash::Sha256.identifier_with_null()),
    ] {
        list.holds(
            name,
            "ESSCertIDv2 with SHA-256 written out: DER asks to leave the default out (RFC 5035 4), many don't",
            |d| {
                let hash = octets(Hash::Sha256.digest(&d.token.signer.certificate));
                let id = sequence([algorithm, hash]);
                ess(d, vec![Raw(ess_v2(&[id]))]);
            },
        );
    }
    list.holds("ess-v1-issuer-serial", "ESSCertID with a right issuerSerial", |d| {
        let template = d.token.signer.template.clone();
        let name = issuer_serial(&template.issuer, &template.serial);
        ess(d, vec![Raw(ess_v1(&[ess_id_v1(&d.token.signer.certificate, Some(name))]))]);
    });
    list.holds("ess-v2-issuer-serial", "ESSCertIDv2 with a right issuerSerial", |d| {
        let template = d.token.signer.template.clone();
        let name = issuer_serial(&template.issuer, &template.serial);
        let id = ess_id_v2(Hash::Sha256, &d.token.signer.certificate, Some(name));
        ess(d, vec![Raw(ess_v2(&[id]))]);
    });
    list.holds("ess-names-issuer", "a second ESSCertIDv2 names the intermediate", |d| {
        let ids = [&d.token.signer.certificate, &d.intermediate.certificate]
            .map(|certificate| ess_id_v2(Hash::Sha256, certificate, None));
        ess(d, vec![Raw(ess_v2(&ids))]);
    });
    list.holds(
        "ess-names-whole-path",
        "ESSCertIDv2 of signer, intermediate and root, each by another digest (RFC 5035 5.4.1)",
        |d| {
            let ids = [
                ess_id_v2(Hash::Sha256, &d.token.signer.certificate, None),
                ess_id_v2(Hash::Sha384, &d.root.certificate, None),
                ess_id_v2(Hash::Sha512, &d.intermediate.certificate, None),
            ];
            ess(d, vec![Raw(ess_v2(&ids))]);
        },
    );
    list.holds(
        "ess-policies",
        "SigningCertificateV2 with policies that both certificates carry (RFC 5035 5.4)",
        |d| {
            let policies = sequence([sequence([oid("1.3.6.1.4.1.32473.10")])]);
            let extension = Extension::new("2.5.29.32", false, policies.clone());
            let again = extension.clone();
            d.intermediate(|ca| ca.extensions.push(extension));
            d.leaf(|leaf| leaf.extensions.push(again));
            let id = ess_id_v2(Hash::Sha256, &d.token.signer.certificate, None);
            ess(d, vec![Raw(attribute(ESS_V2, [sequence([sequence([id]), policies])]))]);
        },
    );
}

fn identifiers(list: &mut List<'_>) {
    list.holds(
        "signer-by-key-identifier",
        "the signer is named by subjectKeyIdentifier, SignerInfo is version 3 (RFC 5652 5.3)",
        |d| {
            let id = d.token.signer.key_identifier();
            d.token.signer_id = Some(context_primitive(0, id));
            d.token.signer_version = number(3);
        },
    );
    list.holds(
        "twin-in-the-bag",
        "before the signer's certificate stands another with its issuer and serial number: ESS decides",
        |d| {
            let twin = d.token.signer.again(&d.intermediate, |twin| {
                twin.spki = Key::p256("impostor").spki();
            });
            d.bag().insert(0, twin.certificate);
        },
    );
    list.holds(
        "spoof-in-the-bag",
        "a self-made certificate with the signer's names and usage stands first (CVE-2026-33753 shape)",
        |d| {
            let mut template = d.token.signer.template.clone();
            template.serial = serial("spoof", 12);
            template.issuer.clone_from(&template.subject);
            let key = Key::p256("spoof");
            template.spki = key.spki();
            d.bag().insert(0, template.sign(&key));
        },
    );
}

fn bags(list: &mut List<'_>) {
    list.holds(
        "bag-reversed",
        "the intermediate stands before the signer: the bag has no order",
        |d| {
            d.bag().reverse();
        },
    );
    list.holds("bag-with-root", "the root is in the bag too, first", |d| {
        let root = d.root.certificate.clone();
        d.bag().insert(0, root);
    });
    list.holds("bag-duplicates", "each certificate is there twice", |d| {
        let again = d.bag().clone();
        d.bag().extend(again);
    });
    list.holds("bag-strangers", "certificates that have nothing to do with it", |d| {
        let (tsa, root) = (&d.world.other_tsa, &d.world.other_root);
        d.bag().insert(0, tsa.certificate.clone());
        d.bag().push(root.certificate.clone());
    });
    list.holds("bag-of-32", "32 certificates, the most there may be", |d| {
        let stranger = d.world.other_tsa.certificate.clone();
        d.bag().resize(32, stranger);
    });
    list.holds("bag-signer-only", "the intermediate comes from beside the token", |d| {
        d.given.certificates = vec![d.intermediate.certificate.clone()];
        d.bag().truncate(1);
    });
    list.holds(
        "bag-attribute-certificate-v1",
        "an attribute certificate of version 1, tag [1]; SignedData stays version 3 (RFC 5652 5.1, 10.2.2)",
        |d| d.bag().push(attribute_certificate(1)),
    );
    list.holds(
        "bag-attribute-certificate-v2",
        "an attribute certificate of version 2, tag [2]; SignedData is version 4 (RFC 5652 5.1)",
        |d| {
            d.bag().insert(0, attribute_certificate(2));
            d.token.version = number(4);
        },
    );
    list.holds(
        "bag-other-format",
        "a certificate of another format, tag [3]; SignedData is version 5 (RFC 5652 5.1)",
        |d| {
            d.bag().push(other_certificate());
            d.token.version = number(5);
        },
    );
    list.holds("bag-unreadable", "a SEQUENCE that is no certificate: nobody needs it", |d| {
        d.bag().insert(0, sequence([oid("1.3.6.1.4.1.32473.1"), null()]));
    });
    list.holds(
        "bag-deeply-nested",
        "an unreadable certificate of 2000 nested SEQUENCEs: whoever skips it needs no stack",
        |d| {
            let nested = (0..2000).fold(Vec::new(), |inner, _| sequence([inner]));
            d.bag().push(nested);
        },
    );
    list.holds("bag-absent", "certReq false, no certificates, the signer known otherwise", |d| {
        d.asked().cert_req = false;
        d.given.certificates = d.bag().clone();
        d.token.certificates = None;
    });
    list.holds(
        "bag-empty",
        "certReq false and an empty certificates field, as GitHub's authority sends it",
        |d| {
            d.asked().cert_req = false;
            d.given.certificates = d.bag().clone();
            d.token.certificates = Some(Vec::new());
        },
    );
    list.holds("crls-field", "SignedData.crls holds a CRL", |d| {
        let crl = Crl::of(&d.intermediate).sign(&d.intermediate.key);
        d.token.crls = context(1, crl);
    });
    list.holds(
        "crls-other-format",
        "SignedData.crls holds another format, tag [1]; SignedData is version 5 (RFC 5652 5.1)",
        |d| {
            d.token.crls = context(1, context(1, join([oid("1.3.6.1.4.1.32473.3161.8"), null()])));
            d.token.version = number(5);
        },
    );
}

fn attributes(list: &mut List<'_>) {
    list.holds(
        "attributes-unsorted",
        "the signed attributes stand in another order than DER's and are signed as they stand",
        |d| {
            let mut sorted = d.token.attributes().unwrap_or_default();
            sorted.reverse();
            d.token.attributes = Some(sorted.into_iter().map(SignedAttribute::Raw).collect());
            d.token.keep_order = true;
        },
    );
    list.holds(
        "attributes-unsorted-signed-sorted",
        "they stand in another order and the signature is over DER's (RFC 5652 5.4: the DER encoding is signed)",
        |d| {
            let mut sorted = d.token.attributes().unwrap_or_default();
            sorted.reverse();
            d.token.attributes = Some(sorted.into_iter().map(SignedAttribute::Raw).collect());
            d.token.keep_order = true;
            d.token.over = SignedOver::SortedSet;
        },
    );
    list.holds("attribute-signing-time", "signing-time an hour off: it says nothing", |d| {
        sign_also(d, attribute(SIGNING_TIME, [utc("250601110000Z")]));
    });
    list.holds("attribute-unknown", "a signed attribute that nobody knows", |d| {
        sign_also(d, attribute("1.3.6.1.4.1.32473.3161.7", [octets("?"), octets("??")]));
    });
    list.holds("attribute-unsigned", "an unsigned attribute that nobody knows", |d| {
        d.token.unsigned_attributes = context(1, attribute("1.3.6.1.4.1.32473.3161.7", [null()]));
    });
    list.holds(
        "attribute-unsigned-message-digest",
        "a message-digest among the unsigned attributes: nothing there is looked at",
        |d| {
            d.token.unsigned_attributes = context(1, attribute(MESSAGE_DIGEST, [octets([0; 32])]));
        },
    );
}

fn info(list: &mut List<'_>) {
    for (name, about, value) in [
        ("accuracy-absent", "no accuracy, and none required", Vec::new()),
        (
            "accuracy-empty",
            "an accuracy without parts: each is zero (RFC 3161 2.4.2)",
            accuracy(None, None, None),
        ),
        ("accuracy-millis", "accuracy 999 ms", accuracy(None, Some(999), None)),
        ("accuracy-micros", "accuracy 1 µs", accuracy(None, None, Some(1))),
        ("accuracy-all", "accuracy in all three parts", accuracy(Some(1), Some(2), Some(3))),
        (
            "accuracy-zero-seconds",
            "accuracy of 0 seconds: seconds have no lower bound",
            accuracy(Some(0), None, None),
        ),
        ("accuracy-day", "accuracy of a day", accuracy(Some(86_400), None, None)),
    ] {
        list.holds(name, about, |d| d.token.info.accuracy = value);
    }
    list.holds(
        "accuracy-wide-seconds",
        "an accuracy of seconds of 17 octets, where none is asked for",
        |d| {
            d.token.info.accuracy = sequence([integer([1; 17])]);
        },
    );
    list.holds(
        "ordering-false-written",
        "ordering FALSE written out, which DER leaves out (X.690 11.5): it says the same, and the bytes are signed",
        |d| d.token.info.ordering = boolean(false),
    );
    list.holds("ordering-true", "ordering TRUE", |d| d.token.info.ordering = boolean(true));
    list.holds("tsa-named", "tsa is the subject of the signer's certificate", |d| {
        let name = context(4, &d.token.signer.template.subject);
        d.token.info.tsa = context(0, name);
    });
    list.holds(
        "tsa-named-in-another-case",
        "tsa is that subject in PrintableString and upper case: the same name (RFC 5280 7.1)",
        |d| {
            let part = |kind, text| set([sequence([oid(kind), tlv(0x13, text)])]);
            let name = sequence([
                part("2.5.4.6", "XX"),
                part("2.5.4.10", "ANCHORLOG FORGE"),
                part("2.5.4.3", "FORGE TSA P-256"),
            ]);
            d.token.info.tsa = context(0, context(4, name));
        },
    );
    list.holds(
        "tsa-named-by-alternative",
        "tsa is a dNSName of the signer's subjectAltName: one of the names included (RFC 3161 2.4.2)",
        |d| {
            let dns = context_primitive(2, "tsa.example");
            let names = sequence([dns.clone()]);
            d.leaf(|leaf| leaf.extensions.push(Extension::new("2.5.29.17", false, names)));
            d.token.info.tsa = context(0, dns);
        },
    );
    for (name, about, serial) in [
        ("serial-160-bits", "a serial number of 160 bits, the highest set", {
            join([vec![0x02, 21, 0], vec![0xfe; 20]])
        }),
        (
            "serial-zero",
            "serial number 0: RFC 3161 has no lower bound, and zero is an INTEGER",
            number(0),
        ),
        ("serial-20-octets", "a serial number of 20 octets", wide_integer(20)),
    ] {
        list.holds(name, about, |d| d.token.info.serial = serial);
    }
}

fn bound(list: &mut List<'_>) {
    list.holds(
        "nonce-high-bit",
        "a nonce whose highest bit is set: one zero octet in front",
        |d| {
            d.nonce(&[0xff, 0, 0, 0, 0, 0, 0, 1]);
        },
    );
    list.holds(
        "nonce-leading-zero",
        "a nonce asked for with zero octets in front: integers are compared, not octets",
        |d| {
            d.nonce(&[0, 0, 0x12, 0x34]);
        },
    );
    list.holds("nonce-zero-octet-last", "a nonce that ends with a zero octet", |d| {
        d.nonce(&[0x12, 0x34, 0]);
    });
    list.holds("nonce-unasked", "a nonce that nobody asked for: nothing forbids it", |d| {
        d.asked().nonce = None;
    });
    list.holds(
        "nonce-negative-unasked",
        "a bare token with a negative nonce: an INTEGER as good as any, and nobody compares it",
        |d| {
            d.form = Form::Token;
            d.given.request = None;
            d.token.info.nonce = integer([0x80, 0x01]);
        },
    );
    list.holds("policy-asked", "the policy that was asked for", |d| {
        d.asked().policy = Some(crate::forge::token::POLICY);
    });
    list.holds(
        "policy-in-the-example-arc",
        "a policy under 2.999: a second arc over 39 is legal",
        |d| {
            d.token.info.policy = oid("2.999.3161.1");
        },
    );
    list.holds("extension-unknown", "an unknown extension of TSTInfo, not critical", |d| {
        d.token.info.extend(&[("1.3.6.1.4.1.32473.3161.6", false, octets("?"))]);
    });
    list.holds(
        "extension-qualified",
        "qcStatements with esi4-qtstStatement-1, as qualified tokens have it (ETSI EN 319 422 9.1)",
        |d| {
            let statements = sequence([sequence([oid("0.4.0.19422.1.1")])]);
            d.token.info.extend(&[("1.3.6.1.5.5.7.1.3", false, statements)]);
        },
    );
    list.holds("token-alone", "the bare token, without a request", |d| {
        d.form = Form::Token;
        d.given.request = None;
    });
    list.holds("token-with-request", "the bare token, its nonce and policy to be compared", |d| {
        d.form = Form::Token;
        d.asked().policy = Some(crate::forge::token::POLICY);
    });
    list.holds(
        "token-certificates-beside",
        "the bare token has no certificates; they come from beside it",
        |d| {
            d.form = Form::Token;
            d.given.request = None;
            d.given.certificates = d.bag().clone();
            d.token.certificates = None;
        },
    );
    list.holds("sha1-signature-allowed", "RSA with SHA-1 throughout, with the switch sha1", |d| {
        d.signer(&d.world.rsa2048);
        d.token.scheme = Scheme::Pkcs1(Hash::Sha1);
        d.token.digest = Hash::Sha1;
        d.given.allow.push(Switch::Sha1);
    });
    list.holds("sha1-imprint-allowed", "a SHA-1 imprint with the switch sha1", |d| {
        d.imprint(Hash::Sha1);
        d.given.allow.push(Switch::Sha1);
    });
    list.holds("sha1-ess-v2-allowed", "ESSCertIDv2 by SHA-1 with the switch sha1", |d| {
        ess(d, vec![SignedAttribute::EssV2(Hash::Sha1)]);
        d.given.allow.push(Switch::Sha1);
    });
    list.holds("imprint-any-message", "an imprint that is no digest of anything", |d| {
        d.given.digest = vec![0; 32];
        d.token.info.imprint = imprint(&Hash::Sha256.identifier(), &[0; 32]);
    });
}

fn times(list: &mut List<'_>) {
    for (name, text) in [
        ("time-fraction-1", "20250601120000.5Z"),
        ("time-fraction-3", "20250601120000.123Z"),
        ("time-fraction-6", "20250601120000.000001Z"),
        ("time-fraction-7", "20250601120000.1234567Z"),
        ("time-fraction-9", "20250601120000.123456789Z"),
        ("time-fraction-18", "20250601120000.123456789012345678Z"),
        ("time-leap-day", "20240229235959Z"),
    ] {
        list.holds(name, "a genTime as RFC 3161 2.4.2 has it", |d| d.time(text));
    }
    list.holds("time-slightly-ahead", "genTime is ahead of the clock, within the skew", |d| {
        d.given.at = crate::forge::world::GEN_TIME - 30;
    });
    list.holds(
        "time-long-ago",
        "judged after the signer's certificate expired: genTime counts",
        |d| {
            d.given.at = crate::forge::world::GEN_TIME + 7 * crate::forge::world::YEAR;
        },
    );
}

fn responses(list: &mut List<'_>) {
    list.holds("status-granted-with-mods", "status 1, grantedWithMods, with text", |d| {
        d.response.status = number(1);
        d.response.say("accuracy is not what you asked for");
    });
    list.holds("status-text", "status 0 with two texts", |d| {
        d.response.text = sequence([utf8("Operation Okay"), utf8("ガラス")]);
    });
    list.holds("everything-optional", "all that may be there is there", |d| {
        d.time("20250601120000.25Z");
        d.token.info.ordering = boolean(true);
        let name = context(4, &d.token.signer.template.subject);
        d.token.info.tsa = context(0, name);
        d.token.info.extend(&[("1.3.6.1.4.1.32473.3161.6", false, tlv(0x05, []))]);
        sign_also(d, attribute(SIGNING_TIME, [utc("250601120000Z")]));
        d.token.unsigned_attributes = context(1, attribute("1.3.6.1.4.1.32473.3161.7", [null()]));
    });
}
