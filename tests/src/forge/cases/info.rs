//! What is wrong with TSTInfo, correctly signed.

use crate::forge::draft::List;
use crate::forge::keys::Hash;
use crate::forge::raw::{
    algorithm, boolean, context, context_primitive, generalized, integer, join, name, null, number,
    octets, oid, retag, sequence, tlv, utc,
};
use crate::forge::token::{accuracy, imprint};

pub(super) fn add(list: &mut List<'_>) {
    imprints(list);
    times(list);
    accuracies(list);
    fields(list);
    extensions(list);
    names(list);
}

fn imprints(list: &mut List<'_>) {
    list.fails("imprint-other-message", "imprint.mismatch", "the digest of another message", |d| {
        let digest = Hash::Sha256.digest(b"another message");
        d.token.info.imprint = imprint(&Hash::Sha256.identifier(), &digest);
    });
    list.fails(
        "imprint-other-algorithm",
        "imprint.mismatch",
        "the SHA-512 of the same message, where SHA-256 was asked for",
        |d| {
            let digest = Hash::Sha512.digest(crate::forge::world::MESSAGE);
            d.token.info.imprint = imprint(&Hash::Sha512.identifier(), &digest);
        },
    );
    list.fails(
        "imprint-cut",
        "imprint.length",
        "SHA-256 with the first 20 octets of the digest",
        |d| {
            let cut = d.given.digest.iter().copied().take(20).collect::<Vec<_>>();
            d.token.info.imprint = imprint(&Hash::Sha256.identifier(), &cut);
        },
    );
    list.fails(
        "imprint-longer",
        "imprint.length",
        "SHA-256 with a zero octet behind the digest",
        |d| {
            let longer = join([d.given.digest.clone(), vec![0]]);
            d.token.info.imprint = imprint(&Hash::Sha256.identifier(), &longer);
        },
    );
    list.fails("imprint-empty", "imprint.length", "SHA-256 with no octets", |d| {
        d.token.info.imprint = imprint(&Hash::Sha256.identifier(), &[]);
    });
    list.fails("imprint-sha1", "imprint.algorithm", "SHA-1 without the switch", |d| {
        d.imprint(Hash::Sha1);
    });
    list.fails("imprint-md5", "imprint.algorithm", "MD5, with 16 octets", |d| {
        d.token.info.imprint = imprint(&algorithm("1.2.840.113549.2.5", Some(null())), &[9; 16]);
    });
    list.fails("imprint-sha224", "imprint.algorithm", "SHA-224", |d| {
        let digest = Hash::Sha224.digest(crate::forge::world::MESSAGE);
        d.token.info.imprint = imprint(&Hash::Sha224.identifier(), &digest);
    });
    list.fails("imprint-unknown", "imprint.algorithm", "an algorithm nobody knows", |d| {
        let unknown = algorithm("1.3.6.1.4.1.32473.3161.4", None);
        d.token.info.imprint = imprint(&unknown, &d.given.digest);
    });
    list.fails(
        "imprint-parameters",
        "imprint.algorithm",
        "SHA-256 with an OCTET STRING for parameters: absent or NULL (RFC 5754 2)",
        |d| {
            let odd = algorithm(Hash::Sha256.dotted(), Some(octets("?")));
            d.token.info.imprint = imprint(&odd, &d.given.digest);
        },
    );
}

fn times(list: &mut List<'_>) {
    for (name, about, text) in [
        ("time-offset", "an offset in place of Z", "20250601140000+0200"),
        ("time-offset-zero", "the offset zero in place of Z", "20250601120000+0000"),
        ("time-local", "no Z: local time", "20250601120000"),
        ("time-no-seconds", "no seconds", "202506011200Z"),
        ("time-no-minutes", "no minutes", "2025060112Z"),
        ("time-fraction-trailing-zero", "a fraction that ends with 0", "20250601120000.50Z"),
        ("time-fraction-zero", "the fraction 0", "20250601120000.0Z"),
        ("time-fraction-bare-point", "a point and no fraction", "20250601120000.Z"),
        ("time-fraction-comma", "a comma in place of the point", "20250601120000,5Z"),
        ("time-fraction-sign", "a sign in the fraction", "20250601120000.+5Z"),
        ("time-fraction-of-minute", "a fraction of the minute", "202506011200.5Z"),
        ("time-lower-case", "z in place of Z", "20250601120000z"),
        (
            "time-second-60",
            "second 60: RFC 3161 2.4.2 has UTC, whose text forms here end at 59",
            "20250601115960Z",
        ),
        ("time-minute-60", "minute 60", "20250601116000Z"),
        ("time-hour-24", "hour 24", "20250531240000Z"),
        ("time-month-13", "month 13", "20251301120000Z"),
        ("time-month-0", "month 0", "20250001120000Z"),
        ("time-day-0", "day 0", "20250600120000Z"),
        ("time-june-31", "the 31st of June", "20250631120000Z"),
        ("time-no-leap-day", "the 29th of February 2025", "20250229120000Z"),
        ("time-two-digit-year", "a year of two digits in a GeneralizedTime", "250601120000Z"),
        ("time-letters", "a letter among the digits", "2025O601120000Z"),
        ("time-space", "a space in front", " 20250601120000Z"),
        ("time-nul", "a NUL behind", "20250601120000Z\0"),
        ("time-empty", "no characters", ""),
    ] {
        list.fails(name, "parse.gen-time", about, |d| d.token.info.time(text));
    }
    list.fails(
        "time-utc-type",
        "parse.gen-time",
        "a UTCTime (RFC 3161 2.4.2: GeneralizedTime)",
        |d| {
            d.token.info.gen_time = utc("250601120000Z");
        },
    );
}

fn accuracies(list: &mut List<'_>) {
    for (name, about, value) in [
        ("accuracy-millis-0", "millis 0: from 1 to 999", accuracy(None, Some(0), None)),
        ("accuracy-millis-1000", "millis 1000", accuracy(None, Some(1000), None)),
        ("accuracy-micros-0", "micros 0", accuracy(Some(1), None, Some(0))),
        ("accuracy-micros-1000", "micros 1000", accuracy(Some(1), None, Some(1000))),
        (
            "accuracy-seconds-negative",
            "seconds -1: no deviation is negative",
            sequence([integer([0xff])]),
        ),
        ("accuracy-millis-negative", "millis -1", sequence([retag(0x80, &integer([0xff]))])),
        ("accuracy-disorder", "micros before millis", {
            sequence([retag(0x81, &number(5)), retag(0x80, &number(5))])
        }),
        ("accuracy-fourth-part", "a part [2]", sequence([number(1), retag(0x82, &number(5))])),
    ] {
        list.fails(name, "parse.accuracy", about, |d| d.token.info.accuracy = value);
    }
}

fn fields(list: &mut List<'_>) {
    list.fails("info-version-2", "version.tst-info", "TSTInfo version 2 (RFC 3161 2.4.2)", |d| {
        d.token.info.version = number(2);
    });
    list.fails("info-version-0", "version.tst-info", "TSTInfo version 0", |d| {
        d.token.info.version = number(0);
    });
    list.fails("serial-negative", "parse.serial", "a serial number below zero", |d| {
        d.token.info.serial = integer([0x80, 1]);
    });
    list.fails("serial-161-bits", "parse.serial", "a serial number of 161 bits", |d| {
        d.token.info.serial = integer([1; 21]);
    });
    list.fails("serial-1000-octets", "parse.serial", "a serial number of 1000 octets", |d| {
        d.token.info.serial = integer(vec![1; 1000]);
    });
    list.fails(
        "serial-not-minimal",
        "parse.serial",
        "a serial number with a zero octet too many",
        |d| {
            d.token.info.serial = integer([0, 1]);
        },
    );
    list.fails(
        "nonce-not-minimal",
        "parse.tst-info",
        "a nonce with a zero octet too many (X.690 8.3.2)",
        |d| {
            d.asked().nonce = Some(vec![0x12]);
            d.token.info.nonce = integer([0, 0x12]);
        },
    );
    list.fails(
        "ordering-one",
        "parse.tst-info",
        "ordering is TRUE as 01: DER has ff (X.690 11.1)",
        |d| {
            d.token.info.ordering = tlv(0x01, [1]);
        },
    );
    list.fails("policy-integer", "parse.tst-info", "policy is an INTEGER", |d| {
        d.token.info.policy = number(1);
    });
    list.fails(
        "policy-padded-arc",
        "parse.tst-info",
        "policy has an arc with padding (X.690 8.19.2)",
        |d| {
            d.token.info.policy = tlv(0x06, [0x2b, 0x80, 0x01]);
        },
    );
    list.fails("policy-absent", "parse.tst-info", "no policy", |d| {
        d.token.info.policy = Vec::new();
    });
    list.fails("info-disorder", "parse.tst-info", "the nonce stands before ordering", |d| {
        d.token.info.accuracy = join([d.token.info.accuracy.clone(), d.token.info.nonce.clone()]);
        d.token.info.nonce = boolean(true);
    });
    list.fails("info-field-behind", "parse.tst-info", "a field [2] behind the last", |d| {
        d.token.info.rest = context(2, null());
    });
    list.fails("info-is-set", "parse.tst-info", "TSTInfo is a SET", |d| {
        d.token.content = Some(retag(0x31, &d.token.info.to_der()));
    });
}

fn extensions(list: &mut List<'_>) {
    list.fails(
        "extension-critical",
        "version.critical-extension",
        "an unknown critical extension of TSTInfo",
        |d| d.token.info.extend(&[("1.3.6.1.4.1.32473.3161.6", true, octets("?"))]),
    );
    list.fails(
        "extension-critical-second",
        "version.critical-extension",
        "a critical extension behind one that isn't",
        |d| {
            d.token.info.extend(&[
                ("1.3.6.1.4.1.32473.3161.6", false, octets("?")),
                ("1.3.6.1.4.1.32473.3161.5", true, octets("?")),
            ]);
        },
    );
    list.fails("extension-twice", "parse.tst-info", "one extension twice (RFC 5280 4.2)", |d| {
        let one = ("1.3.6.1.4.1.32473.3161.6", false, octets("?"));
        d.token.info.extend(&[one.clone(), one]);
    });
    list.fails(
        "extensions-empty",
        "parse.tst-info",
        "extensions without one (RFC 5280 4.1)",
        |d| {
            d.token.info.extend(&[]);
        },
    );
    list.fails("time-octets", "parse.gen-time", "genTime is an OCTET STRING", |d| {
        d.token.info.gen_time = retag(0x04, &generalized("20250601120000Z"));
    });
}

fn names(list: &mut List<'_>) {
    list.fails(
        "tsa-other-name",
        "name.mismatch",
        "tsa names somebody else: it must be a name of the signer's certificate (RFC 3161 2.4.2)",
        |d| d.token.info.tsa = context(0, context(4, name("Somebody Else"))),
    );
    list.fails("tsa-issuer-name", "name.mismatch", "tsa names the signer's issuer", |d| {
        let issuer = d.token.signer.template.issuer.clone();
        d.token.info.tsa = context(0, context(4, issuer));
    });
    list.fails(
        "tsa-other-kind",
        "name.mismatch",
        "tsa is a dNSName, and the certificate has no such name",
        |d| d.token.info.tsa = context(0, context_primitive(2, "tsa.example")),
    );
    list.fails("tsa-empty-name", "name.mismatch", "tsa is a directoryName without parts", |d| {
        d.token.info.tsa = context(0, context(4, sequence::<&[u8]>([])));
    });
    list.fails(
        "tsa-registered-id",
        "name.mismatch",
        "tsa is a registeredID that nobody has",
        |d| {
            let id = retag(0x88, &oid("1.3.6.1.4.1.32473.1"));
            d.token.info.tsa = context(0, id);
        },
    );
}
