//! What is wrong with the CMS structure around a sound TSTInfo.

use crate::forge::draft::List;
use crate::forge::keys::Hash;
use crate::forge::raw::{
    context, context_primitive, integer, join, null, number, octets, oid, sequence, set,
};
use crate::forge::token::{DATA, SIGNED_DATA, TST_INFO, Token};

pub(super) fn add(list: &mut List<'_>) {
    content(list);
    versions(list);
    signers(list);
    fields(list);
}

fn content(list: &mut List<'_>) {
    list.fails("content-info-data", "parse.content-type", "ContentInfo is id-data", |d| {
        d.token.outer_type = DATA;
    });
    list.fails(
        "content-info-digested-data",
        "parse.content-type",
        "ContentInfo says id-digestedData around a sound SignedData",
        |d| d.token.outer_type = "1.2.840.113549.1.7.5",
    );
    list.fails(
        "encapsulated-data",
        "parse.encapsulated-type",
        "eContentType is id-data, and content-type agrees (RFC 3161 2.4.2)",
        |d| d.token.content_type = DATA,
    );
    list.fails(
        "encapsulated-unknown",
        "parse.encapsulated-type",
        "eContentType has one more arc than id-ct-TSTInfo",
        |d| d.token.content_type = "1.2.840.113549.1.9.16.1.4.1",
    );
    list.fails(
        "content-absent",
        "parse.content-absent",
        "no eContent: a detached signature (RFC 3161 2.4.2)",
        |d| d.token.encapsulated = Some(sequence([oid(TST_INFO)])),
    );
    list.fails(
        "content-not-octets",
        "parse.der",
        "TSTInfo stands in eContent as it is, as PKCS #7 has it, not in an OCTET STRING (RFC 5652 5.2)",
        |d| {
            let info = d.token.content();
            d.token.encapsulated = Some(sequence([oid(TST_INFO), context(0, info)]));
        },
    );
    list.fails("content-empty", "parse.tst-info", "eContent has no octets", |d| {
        d.token.content = Some(Vec::new());
    });
    list.fails(
        "content-trailing",
        "parse.trailing",
        "an octet behind TSTInfo, signed with it",
        |d| {
            d.token.content = Some(join([d.token.info.to_der(), vec![0]]));
        },
    );
    list.fails(
        "content-info-third-field",
        "parse.der",
        "a field behind the content of ContentInfo",
        |d| {
            let data = sequence(d.token.signed_data_parts());
            let token = sequence([oid(SIGNED_DATA), context(0, data), null()]);
            d.bytes = Some(d.response.to_der(&token));
        },
    );
    list.fails("signed-data-last-field", "parse.der", "a field behind signerInfos", |d| {
        let mut parts = d.token.signed_data_parts();
        parts.push(null());
        let token = sequence([oid(SIGNED_DATA), context(0, sequence(parts))]);
        d.bytes = Some(d.response.to_der(&token));
    });
}

fn versions(list: &mut List<'_>) {
    for (name, version) in
        [("signed-data-version-1", 1), ("signed-data-version-0", 0), ("signed-data-version-6", 6)]
    {
        list.fails(
            name,
            "parse.signed-data-version",
            "eContentType isn't id-data, so the version is 3 (RFC 5652 5.1)",
            |d| d.token.version = number(version),
        );
    }
    list.fails(
        "signer-version-3-by-issuer",
        "parse.signer-version",
        "SignerInfo version 3 with issuerAndSerialNumber, which asks for 1 (RFC 5652 5.3)",
        |d| d.token.signer_version = number(3),
    );
    list.fails(
        "signer-version-1-by-key",
        "parse.signer-version",
        "SignerInfo version 1 with subjectKeyIdentifier, which asks for 3 (RFC 5652 5.3)",
        |d| {
            let id = d.token.signer.key_identifier();
            d.token.signer_id = Some(context_primitive(0, id));
        },
    );
    list.fails("signer-version-2", "parse.signer-version", "SignerInfo version 2", |d| {
        d.token.signer_version = number(2);
    });
}

fn signers(list: &mut List<'_>) {
    list.fails("signers-none", "signers.none", "signerInfos is empty (RFC 3161 2.4.2)", |d| {
        d.token.signers = |_| Vec::new();
    });
    list.fails("signers-two", "signers.several", "two sound signatures by two authorities", |d| {
        let second = Token::new(&d.world.p384, &d.given.digest);
        d.token.more_signers.push(second.signer_info());
        d.bag().push(second.signer.certificate);
        let digests = [Hash::Sha256.identifier(), Hash::Sha384.identifier()];
        d.token.digest_algorithms = Some(set(digests));
    });
    list.fails(
        "signers-one-sound",
        "signers.several",
        "a sound signature and one that isn't",
        |d| {
            let mut second = Token::new(&d.world.p384, &d.given.digest);
            second.spoil = super::signatures::flip_last;
            d.token.more_signers.push(second.signer_info());
            let digests = [Hash::Sha256.identifier(), Hash::Sha384.identifier()];
            d.token.digest_algorithms = Some(set(digests));
        },
    );
    list.fails("signers-same-twice", "signers.several", "the same SignerInfo twice", |d| {
        d.token.signers = |one| vec![one.clone(), one];
    });
    list.fails(
        "signer-unknown-serial",
        "certificate.absent",
        "the signer identifier has a serial number that no certificate has",
        |d| {
            let issuer = d.token.signer.template.issuer.clone();
            d.token.signer_id = Some(sequence([issuer, number(99)]));
        },
    );
    list.fails(
        "signer-unknown-issuer",
        "certificate.absent",
        "the signer identifier has the right serial number of another issuer",
        |d| {
            let other = d.world.other_root.template.subject.clone();
            d.token.signer_id = Some(sequence([other, d.token.signer.template.serial.clone()]));
        },
    );
    list.fails(
        "signer-unknown-key-identifier",
        "certificate.absent",
        "the signer identifier has a key identifier that no certificate has",
        |d| {
            d.token.signer_id = Some(context_primitive(0, [7; 20]));
            d.token.signer_version = number(3);
        },
    );
    list.fails(
        "signer-identifier-integer",
        "parse.der",
        "the signer identifier is an INTEGER",
        |d| d.token.signer_id = Some(number(1)),
    );
}

fn fields(list: &mut List<'_>) {
    list.fails("bag-of-33", "parse.count", "more than 32 certificates", |d| {
        let stranger = d.world.other_tsa.certificate.clone();
        d.bag().resize(33, stranger);
    });
    list.fails(
        "digest-algorithms-integer",
        "parse.der",
        "digestAlgorithms is a SEQUENCE in place of a SET",
        |d| d.token.digest_algorithms = Some(sequence([Hash::Sha256.identifier()])),
    );
    list.fails("version-not-minimal", "parse.der", "SignedData.version is 02 02 00 03", |d| {
        d.token.version = integer([0, 3]);
    });
    list.fails(
        "version-empty",
        "parse.der",
        "SignedData.version is an INTEGER without octets",
        |d| {
            d.token.version = integer([]);
        },
    );
    list.fails("signature-bit-string", "parse.der", "the signature stands in a BIT STRING", |d| {
        d.token.signature_tag = 0x03;
    });
    list.fails("unsigned-attributes-octets", "parse.der", "unsignedAttrs isn't constructed", |d| {
        d.token.unsigned_attributes = context_primitive(1, octets("?"));
    });
}
