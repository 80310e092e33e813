//! The signer's certificate: sound variants, and what is wrong with it.

use crate::forge::case::Switch;
use crate::forge::certificate::{
    BASIC_CONSTRAINTS, EKU, Extension, KEY_USAGE, OCSP_SIGNING, TIME_STAMPING,
};
use crate::forge::draft::List;
use crate::forge::keys::{Hash, Scheme};
use crate::forge::raw::{generalized, named_bits, number, octets, oid, sequence, utc};

const CODE_SIGNING: &str = "1.3.6.1.5.5.7.3.3";
const ANY: &str = "2.5.29.37.0";
const NOBODYS: &str = "1.2.3.4";

pub(super) fn add(list: &mut List<'_>) {
    sound(list);
    purposes(list);
    usage(list);
    validity(list);
    form(list);
}

fn sound(list: &mut List<'_>) {
    list.holds("usage-non-repudiation", "keyUsage nonRepudiation alone", |d| {
        d.leaf(|leaf| leaf.extension(KEY_USAGE).value = named_bits(&[1]));
    });
    list.holds("usage-both", "keyUsage digitalSignature and nonRepudiation", |d| {
        d.leaf(|leaf| leaf.extension(KEY_USAGE).value = named_bits(&[0, 1]));
    });
    list.holds("usage-absent", "no keyUsage: no limit (RFC 5280 4.2.1.3)", |d| {
        d.leaf(|leaf| leaf.without(KEY_USAGE));
    });
    list.holds("basic-constraints-absent", "no basicConstraints: no CA (RFC 5280 4.2.1.9)", |d| {
        d.leaf(|leaf| leaf.without(BASIC_CONSTRAINTS));
    });
    list.holds("eku-not-critical-allowed", "EKU isn't critical, with the switch", |d| {
        d.leaf(|leaf| leaf.extension(EKU).critical = false);
        d.given.allow.push(Switch::NoncriticalEku);
    });
    list.holds(
        "time-at-not-before",
        "genTime is notBefore to the second: a closed interval",
        |d| {
            d.leaf(|leaf| leaf.valid("20250601120000Z", "20300101000000Z"));
        },
    );
    list.holds("time-at-not-after", "genTime is notAfter to the second (RFC 5280 4.1.2.5)", |d| {
        d.leaf(|leaf| leaf.valid("20240101000000Z", "20250601120000Z"));
    });
    list.holds(
        "time-after-2050",
        "notAfter is a GeneralizedTime without end (RFC 5280 4.1.2.5)",
        |d| {
            d.leaf(|leaf| leaf.not_after = generalized("99991231235959Z"));
        },
    );
    list.holds("extension-unknown-in-signer", "an unknown extension, not critical", |d| {
        let extension = Extension::new("1.3.6.1.4.1.32473.3161.11", false, octets("?"));
        d.leaf(|leaf| leaf.extensions.push(extension));
    });
    list.holds(
        "policies-critical-in-signer",
        "certificatePolicies, critical: processed (RFC 5280 6.1)",
        |d| {
            let policies = sequence([sequence([oid("1.3.6.1.4.1.32473.10")])]);
            d.leaf(|leaf| leaf.extensions.push(Extension::new("2.5.29.32", true, policies)));
        },
    );
}

fn purposes(list: &mut List<'_>) {
    list.fails("eku-missing", "eku.missing", "no EKU (RFC 3161 2.3)", |d| {
        d.leaf(|leaf| leaf.without(EKU));
    });
    list.fails(
        "eku-not-critical",
        "eku.not-critical",
        "EKU isn't critical, without the switch",
        |d| {
            d.leaf(|leaf| leaf.extension(EKU).critical = false);
        },
    );
    for (name, about, others) in [
        ("eku-code-signing", "EKU codeSigning", [CODE_SIGNING].as_slice()),
        ("eku-any", "EKU anyExtendedKeyUsage: that isn't timeStamping", &[ANY]),
        ("eku-unknown", "EKU 1.2.3.4", &[NOBODYS]),
        ("eku-ocsp-and-code", "EKU OCSPSigning and codeSigning", &[OCSP_SIGNING, CODE_SIGNING]),
    ] {
        list.fails(name, "eku.purpose", about, |d| {
            d.leaf(|leaf| {
                leaf.without(EKU);
                leaf.extensions.push(Extension::purposes(true, others));
            });
        });
    }
    for (name, about, other) in [
        (
            "eku-with-code-signing",
            "timeStamping and codeSigning (RFC 3161 2.3: only one)",
            CODE_SIGNING,
        ),
        ("eku-with-unknown", "timeStamping and 1.2.3.4: unknown purposes count", NOBODYS),
        ("eku-with-any", "timeStamping and anyExtendedKeyUsage", ANY),
    ] {
        list.fails(name, "eku.not-sole", about, |d| {
            d.leaf(|leaf| {
                leaf.without(EKU);
                leaf.extensions.push(Extension::purposes(true, &[TIME_STAMPING, other]));
            });
        });
    }
    list.fails("eku-after-unknown", "eku.not-sole", "1.2.3.4 stands before timeStamping", |d| {
        d.leaf(|leaf| {
            leaf.without(EKU);
            leaf.extensions.push(Extension::purposes(true, &[NOBODYS, TIME_STAMPING]));
        });
    });
    list.fails(
        "eku-switch-is-narrow",
        "eku.not-sole",
        "the switch for EKU that isn't critical doesn't allow two purposes",
        |d| {
            d.leaf(|leaf| {
                leaf.without(EKU);
                leaf.extensions.push(Extension::purposes(false, &[TIME_STAMPING, CODE_SIGNING]));
            });
            d.given.allow.push(Switch::NoncriticalEku);
        },
    );
}

fn usage(list: &mut List<'_>) {
    for (name, about, bits) in [
        ("usage-encipherment", "keyUsage keyEncipherment alone", [2].as_slice()),
        (
            "usage-with-encipherment",
            "keyUsage digitalSignature and keyEncipherment (ETSI EN 319 422)",
            &[0, 2],
        ),
        ("usage-with-cert-sign", "keyUsage digitalSignature and keyCertSign, no CA", &[0, 5]),
        ("usage-with-crl-sign", "keyUsage digitalSignature and cRLSign", &[0, 6]),
        (
            "usage-with-decipher-only",
            "keyUsage digitalSignature and decipherOnly, the ninth bit",
            &[0, 8],
        ),
        ("usage-none", "keyUsage without a bit", &[]),
    ] {
        list.fails(name, "signer.key-usage", about, |d| {
            d.leaf(|leaf| leaf.extension(KEY_USAGE).value = named_bits(bits));
        });
    }
    list.fails("signer-is-ca", "signer.is-ca", "the signer's certificate says CA TRUE", |d| {
        d.leaf(|leaf| {
            leaf.without(BASIC_CONSTRAINTS);
            leaf.extensions.push(Extension::ca(None));
        });
    });
    list.fails(
        "signer-unknown-critical",
        "chain.unknown-critical",
        "an unknown critical extension of the signer's certificate (RFC 5280 4.2)",
        |d| {
            let extension = Extension::new("1.3.6.1.4.1.32473.3161.11", true, octets("?"));
            d.leaf(|leaf| leaf.extensions.push(extension));
        },
    );
}

fn validity(list: &mut List<'_>) {
    let reason = "validity.signer";
    list.fails("signer-expired", reason, "genTime is a second after notAfter", |d| {
        d.leaf(|leaf| leaf.valid("20240101000000Z", "20250601115959Z"));
    });
    list.fails("signer-not-yet-valid", reason, "genTime is a second before notBefore", |d| {
        d.leaf(|leaf| leaf.valid("20250601120001Z", "20300101000000Z"));
    });
    list.fails(
        "signer-expired-by-fraction",
        reason,
        "genTime is a tenth of a second after notAfter",
        |d| {
            d.leaf(|leaf| leaf.valid("20240101000000Z", "20250601120000Z"));
            d.time("20250601120000.1Z");
        },
    );
    list.fails("signer-valid-now-only", reason, "valid when judged, not at genTime", |d| {
        d.leaf(|leaf| leaf.valid("20280101000000Z", "20300101000000Z"));
        d.given.at = 1_861_920_000; // 2029-01-01
    });
}

fn form(list: &mut List<'_>) {
    let reason = "certificate.form";
    list.fails("certificate-extension-twice", reason, "EKU is there twice (RFC 5280 4.2)", |d| {
        d.leaf(|leaf| leaf.extensions.push(Extension::purposes(true, &[TIME_STAMPING])));
    });
    list.fails(
        "certificate-v1-with-extensions",
        reason,
        "version 1 with extensions (RFC 5280 4.1.2.1)",
        |d| {
            d.leaf(|leaf| leaf.version = None);
        },
    );
    list.fails("certificate-version-4", reason, "a version that nobody knows", |d| {
        d.leaf(|leaf| leaf.version = Some(3));
    });
    list.fails(
        "certificate-two-algorithms",
        reason,
        "signature within and beside the signed part differ (RFC 5280 4.1.1.2)",
        |d| {
            d.leaf(|leaf| leaf.inner_algorithm = Some(Scheme::Ecdsa(Hash::Sha384).identifier()));
        },
    );
    list.fails(
        "certificate-date-local",
        reason,
        "notAfter lacks its Z (RFC 5280 4.1.2.5.1)",
        |d| {
            d.leaf(|leaf| leaf.not_after = utc("300101000000"));
        },
    );
    list.fails("certificate-date-integer", reason, "notBefore is an INTEGER", |d| {
        d.leaf(|leaf| leaf.not_before = number(0));
    });
    list.fails("certificate-eku-octets", reason, "EKU is no SEQUENCE", |d| {
        d.leaf(|leaf| leaf.extension(EKU).value = octets("?"));
    });
    list.fails("certificate-constraints-octets", reason, "basicConstraints is no SEQUENCE", |d| {
        d.leaf(|leaf| leaf.extension(BASIC_CONSTRAINTS).value = octets("?"));
    });
}
