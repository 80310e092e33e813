//! What is wrong with a response before anybody looks at its token.

use crate::forge::case::Form;
use crate::forge::draft::{Draft, List};
use crate::forge::raw::{context, integer, join, named_bits, null, number, octets, sequence, tlv};
use crate::forge::token::OTHER_POLICY;

/// A response without a token, with this status and these failInfo bits.
fn refusal(draft: &mut Draft<'_>, status: u64, failures: &[usize]) {
    draft.response.status = number(status);
    draft.response.token = false;
    if !failures.is_empty() {
        draft.response.failures = named_bits(failures);
    }
}

pub(super) fn add(list: &mut List<'_>) {
    status(list);
    form(list);
    bound(list);
}

fn status(list: &mut List<'_>) {
    list.fails("status-rejected", "status.rejected", "status 2, without a word", |d| {
        refusal(d, 2, &[]);
    });
    for (name, bit) in [
        ("status-rejected-bad-alg", 0),
        ("status-rejected-bad-request", 2),
        ("status-rejected-bad-data-format", 5),
        ("status-rejected-time-not-available", 14),
        ("status-rejected-unaccepted-policy", 15),
        ("status-rejected-unaccepted-extension", 16),
        ("status-rejected-add-info", 17),
        ("status-rejected-system-failure", 25),
    ] {
        list.fails(
            name,
            "status.rejected",
            "status 2 with a known failInfo (RFC 3161 2.4.2)",
            |d| {
                refusal(d, 2, &[bit]);
                d.response.say("no");
            },
        );
    }
    list.fails("status-waiting", "status.waiting", "status 3: a token may come later", |d| {
        refusal(d, 3, &[]);
    });
    list.fails("status-revocation-warning", "status.revocation", "status 4", |d| {
        refusal(d, 4, &[]);
    });
    list.fails("status-revocation-notification", "status.revocation", "status 5", |d| {
        refusal(d, 5, &[]);
    });
    list.fails(
        "status-six",
        "status.unknown",
        "status 6 isn't known: an error (RFC 3161 2.4.2)",
        |d| {
            refusal(d, 6, &[]);
        },
    );
    list.fails("status-six-with-token", "status.unknown", "status 6 beside a sound token", |d| {
        d.response.status = number(6);
    });
    list.fails("status-negative", "status.unknown", "status -1", |d| {
        refusal(d, 2, &[]);
        d.response.status = integer([0xff]);
    });
    list.fails("status-wide", "status.unknown", "status 2^64: no number wraps around to 0", |d| {
        d.response.status = integer([1, 0, 0, 0, 0, 0, 0, 0, 0]);
    });
    list.fails("granted-without-token", "status.token-missing", "status 0 and no token", |d| {
        refusal(d, 0, &[]);
    });
    list.fails(
        "granted-with-mods-without-token",
        "status.token-missing",
        "status 1, no token",
        |d| {
            refusal(d, 1, &[]);
        },
    );
    for (name, value) in [
        ("rejected-with-token", 2),
        ("waiting-with-token", 3),
        ("revocation-warning-with-token", 4),
        ("revocation-notification-with-token", 5),
    ] {
        list.fails(
            name,
            "status.token-unexpected",
            "a sound token beside a status that isn't granted: it must not be there (RFC 3161 2.4.2)",
            |d| d.response.status = number(value),
        );
    }
    list.fails("fail-info-beside-granted", "status.fail-info", "failInfo beside status 0", |d| {
        d.response.failures = named_bits(&[25]);
    });
    list.fails(
        "fail-info-beside-granted-with-mods",
        "status.fail-info",
        "failInfo beside status 1",
        |d| {
            d.response.status = number(1);
            d.response.failures = named_bits(&[17]);
        },
    );
    list.fails(
        "fail-info-unknown-bit",
        "status.rejected",
        "status 2 with failInfo bit 3, which RFC 3161 doesn't have: not understood, and a rejection all the same",
        |d| refusal(d, 2, &[3]),
    );
    list.fails("fail-info-bit-far-out", "status.rejected", "status 2 with failInfo bit 63", |d| {
        refusal(d, 2, &[63]);
    });
}

fn form(list: &mut List<'_>) {
    list.fails("response-trailing", "parse.trailing", "one octet behind the response", |d| {
        d.rewrite = |bytes| join([bytes, vec![0]]);
    });
    list.fails(
        "response-twice",
        "parse.trailing",
        "the response twice, one behind the other",
        |d| {
            d.rewrite = |bytes| join([bytes.clone(), bytes]);
        },
    );
    list.fails("response-third-field", "parse.response", "a field behind the token", |d| {
        d.response.rest = null();
    });
    list.fails(
        "response-is-token",
        "parse.response",
        "a bare token where a response is due (RFC 3161 3.4)",
        |d| {
            d.bytes = Some(d.token.to_der());
        },
    );
    list.fails(
        "response-empty-sequence",
        "parse.response",
        "a SEQUENCE without PKIStatusInfo",
        |d| {
            d.bytes = Some(sequence::<&[u8]>([]));
        },
    );
    list.fails("response-status-string", "parse.response", "status is an OCTET STRING", |d| {
        d.response.status = octets([0]);
    });
    list.fails("response-empty", "parse.response", "nothing at all", |d| {
        d.bytes = Some(Vec::new());
    });
    list.fails("response-html", "parse.response", "a web page", |d| {
        d.bytes = Some(b"<!DOCTYPE html><title>502 Bad Gateway</title>".to_vec());
    });
    list.fails("response-cut", "parse.response", "the last octet is missing", |d| {
        d.rewrite = |mut bytes| {
            bytes.pop();
            bytes
        };
    });
    list.fails(
        "response-huge-length",
        "parse.response",
        "a length of 4 GiB: nobody may allocate it",
        |d| {
            d.bytes = Some(vec![0x30, 0x84, 0xff, 0xff, 0xff, 0xff, 0x30, 0x03, 0x02, 0x01, 0x00]);
        },
    );
    list.fails("response-length-of-128-bits", "parse.response", "a length of 16 octets", |d| {
        let mut bytes = vec![0x30, 0x90];
        bytes.extend([0xff; 16]);
        d.bytes = Some(bytes);
    });
    list.fails("response-too-long", "parse.length", "more than 1 MiB, in the free text", |d| {
        d.response.say(&"x".repeat(1 << 20));
    });
    list.fails(
        "token-too-long",
        "parse.length",
        "a token of more than 64 KiB, in an unsigned attribute",
        |d| {
            let value = octets(vec![0; 70_000]);
            let attribute = crate::forge::raw::attribute("1.3.6.1.4.1.32473.3161.7", [value]);
            d.token.unsigned_attributes = context(1, attribute);
        },
    );
    list.fails("token-cut", "parse.der", "the last octet of a bare token is missing", |d| {
        d.form = Form::Token;
        d.rewrite = |mut bytes| {
            bytes.pop();
            bytes
        };
    });
    list.fails("token-huge-length", "parse.der", "a bare token with a length of 4 GiB", |d| {
        d.form = Form::Token;
        d.bytes = Some(vec![0x30, 0x84, 0xff, 0xff, 0xff, 0xff, 0x06, 0x03, 0x02, 0x01, 0x00]);
    });
    list.fails("token-is-integer", "parse.der", "an INTEGER for a token", |d| {
        d.form = Form::Token;
        d.bytes = Some(number(5));
    });
    list.fails("token-is-response", "parse.der", "a response where a bare token is due", |d| {
        d.form = Form::Token;
        d.bytes = Some(d.response.to_der(&d.token.to_der()));
    });
    list.fails("token-trailing", "parse.trailing", "two octets behind a bare token", |d| {
        d.form = Form::Token;
        d.rewrite = |bytes| join([bytes, null()]);
    });
    list.fails("token-deeply-nested", "parse.der", "5000 nested SEQUENCEs and no token", |d| {
        d.form = Form::Token;
        d.bytes = Some((0..5000).fold(Vec::new(), |inner, _| tlv(0x30, inner)));
    });
}

fn bound(list: &mut List<'_>) {
    list.fails("nonce-missing", "nonce.missing", "a nonce was sent and none came back", |d| {
        d.token.info.nonce = Vec::new();
    });
    list.fails("nonce-differs", "nonce.mismatch", "another nonce came back", |d| {
        d.token.info.nonce = number(0x1234);
    });
    list.fails("nonce-last-octet", "nonce.mismatch", "a nonce off by one in its last octet", |d| {
        d.nonce(&[7, 7, 7, 7, 7, 7, 7, 7]);
        d.asked().nonce = Some(vec![7, 7, 7, 7, 7, 7, 7, 8]);
    });
    list.fails(
        "nonce-cut",
        "nonce.mismatch",
        "the nonce without its last octet, which is zero",
        |d| {
            d.nonce(&[7, 7, 7, 7]);
            d.asked().nonce = Some(vec![7, 7, 7, 7, 0]);
        },
    );
    list.fails(
        "nonce-negative",
        "nonce.mismatch",
        "the nonce ff came back as the INTEGER with the content ff, which is -1: integers are compared",
        |d| {
            d.asked().nonce = Some(vec![0xff]);
            d.token.info.nonce = integer([0xff]);
        },
    );
    list.fails("token-nonce-differs", "nonce.mismatch", "the bare token has another nonce", |d| {
        d.form = Form::Token;
        d.token.info.nonce = number(0x1234);
    });
    list.fails("policy-not-asked", "policy.not-asked", "another policy than reqPolicy", |d| {
        d.asked().policy = Some(OTHER_POLICY);
    });
    list.fails(
        "certificates-asked-absent",
        "certificate.absent",
        "certReq was TRUE and there are none, though the verifier has them (RFC 3161 2.4.1)",
        |d| {
            d.given.certificates = d.bag().clone();
            d.token.certificates = None;
        },
    );
    list.fails(
        "certificates-asked-empty",
        "certificate.absent",
        "certReq was TRUE and the field is empty",
        |d| {
            d.given.certificates = d.bag().clone();
            d.token.certificates = Some(Vec::new());
        },
    );
    list.fails(
        "certificates-asked-issuer-only",
        "certificate.absent",
        "certReq was TRUE and the bag lacks the signer, though the verifier has it (RFC 3161 2.4.1)",
        |d| {
            d.given.certificates = d.bag().clone();
            d.bag().remove(0);
        },
    );
    list.fails(
        "token-certificates-nowhere",
        "certificate.absent",
        "a bare token without certificates, and none beside it",
        |d| {
            d.form = Form::Token;
            d.given.request = None;
            d.token.certificates = None;
        },
    );
    list.fails(
        "certificates-unasked",
        "certificates.unasked",
        "certReq was FALSE and there are certificates: the field must be absent (RFC 3161 2.4.1)",
        |d| d.asked().cert_req = false,
    );
}
