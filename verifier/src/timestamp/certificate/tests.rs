use std::path::{Path, PathBuf};

use anchorlog_proto::timestamp::{ObjectIdentifier, TimestampResponse, Token};

use super::super::testing::{
    Draft, NULL, TIME_STAMPING, TRUE, attribute, basic_constraints, ecdsa_sha256, extension,
    integer, key_usage, name, oid, public_key, public_key_octets, purposes, sequence, set, time,
    tlv, utc_time,
};
use super::*;

#[test]
fn the_parts_are_the_received_bytes() {
    let draft = Draft::signer("tsa", "ca", 7);
    let der = draft.der(8);
    let certificate = Certificate::parse(&der).unwrap();
    assert_eq!(certificate.der(), der);
    assert_eq!((certificate.version(), certificate.serial()), (3, &[7][..]));
    assert_eq!(certificate.issuer().raw(), name(&["ca"]));
    assert_eq!(certificate.subject().to_string(), "CN=tsa");
    assert_eq!(certificate.not_before(), time("20250101000000Z"));
    assert_eq!(certificate.not_after(), time("20261231235959Z"));
    assert_eq!(certificate.public_key().raw(), public_key(7));
    assert_eq!(certificate.public_key_octets(), public_key_octets(7));
    assert_eq!(certificate.signature_algorithm().raw(), ecdsa_sha256());
    assert_eq!(certificate.fingerprint(), Digest::of(&der));
    assert_eq!(certificate.digest(HashAlgorithm::Sha1).len(), 20);
    assert!(!certificate.is_self_issued());
    assert!(Draft::new("a", "A", 1).by(1).is_self_issued());
    let outer = Element::parse(&der).unwrap().elements().unwrap().collect_all(3).unwrap();
    assert_eq!(certificate.tbs(), outer[0].raw());
    assert_eq!([&[0], certificate.signature()].concat(), outer[2].value());
}

#[test]
fn validity_includes_both_ends() {
    let certificate = Draft::signer("tsa", "ca", 7).by(8);
    for (at, valid) in [
        ("20241231235959.999Z", false),
        ("20250101000000Z", true),
        ("20261231235959Z", true),
        ("20261231235959.001Z", false),
    ] {
        assert_eq!(certificate.is_valid_at(time(at)), valid, "{at}");
    }
}

#[test]
fn odd_certificates_are_not_lost() {
    let unreadable_alternatives = |value: &[u8]| extension("2.5.29.35", false, value);
    let base = || Draft::signer("tsa", "ca", 7);
    for draft in [
        Draft { serial: tlv(2, &[&[0]]), ..base() },
        Draft { serial: tlv(2, &[&[0x80, 1]]), ..base() },
        Draft { serial: tlv(2, &[&[7; 40]]), ..base() },
        Draft { serial: tlv(2, &[]), ..base() },
        Draft { subject: tlv(0x30, &[]), ..base() },
        Draft { subject: tlv(0x30, &[&[4, 1, 7]]), ..base() },
        Draft { subject: sequence(&[set(&[&attribute("2.5.4.6", 0x13, b"Germany")])]), ..base() },
        Draft { version: None, ..base().without_extensions() },
        Draft { version: Some(0), ..base().without_extensions() },
        Draft { not_before: utc_time("500101000000Z"), ..base() },
        base().with(extension("1.2.3.4", false, b"no DER at all")),
        base().with(extension("1.2.3.4", true, &[])),
        // What only helps may be broken: both key identifiers, CRL places, responders.
        base().with(unreadable_alternatives(NULL)),
        base().with(extension("2.5.29.14", false, NULL)),
        base().with(extension("2.5.29.31", false, NULL)),
        base().with(extension("1.3.6.1.5.5.7.1.1", false, b"")),
        // DER leaves FALSE out, and authorities don't.
        base().with(extension("2.5.29.19", true, &tlv(0x30, &[&[1, 1, 0]]))),
        base().with(tlv(0x30, &[&oid("1.2.3.4"), &[1, 1, 0], &tlv(4, &[NULL])])),
    ] {
        draft.by(8);
    }
}

#[test]
fn what_decides_something_has_its_form() {
    for (dotted, value) in [
        ("2.5.29.15", NULL.to_vec()),
        ("2.5.29.15", tlv(3, &[&[0, 1, 2, 3]])),
        ("2.5.29.15", tlv(3, &[])),
        ("2.5.29.17", NULL.to_vec()),
        ("2.5.29.17", tlv(0x30, &[&[0x89, 0]])),
        ("2.5.29.19", NULL.to_vec()),
        ("2.5.29.19", tlv(0x30, &[TRUE, &[2, 1, 0xff]])),
        ("2.5.29.19", tlv(0x30, &[&[1, 1, 1]])),
        ("2.5.29.30", NULL.to_vec()),
        ("2.5.29.30", tlv(0x30, &[&tlv(0xa0, &[&tlv(0x30, &[NULL])])])),
        ("2.5.29.30", tlv(0x30, &[&tlv(0xa0, &[&tlv(0x30, &[&[0x82, 0], &[0x80, 1, 1]])])])),
        ("2.5.29.32", NULL.to_vec()),
        ("2.5.29.33", NULL.to_vec()),
        ("2.5.29.36", NULL.to_vec()),
        ("2.5.29.36", tlv(0x30, &[&[0x80, 1, 0x80]])),
        ("2.5.29.37", NULL.to_vec()),
        ("2.5.29.37", tlv(0x30, &[])),
        ("2.5.29.37", tlv(0x30, &[NULL])),
        ("2.5.29.54", NULL.to_vec()),
        ("2.5.29.54", [integer(&[0]), integer(&[0])].concat()),
    ] {
        let draft = Draft::new("tsa", "ca", 7).with(extension(dotted, false, &value));
        let oid = ObjectIdentifier::new_unwrap(dotted);
        assert_eq!(draft.read(8).unwrap_err(), CertificateError::Extension { oid }, "{value:x?}");
    }
}

#[test]
fn bytes_that_are_no_certificate() {
    let form = |field| CertificateError::Form { field };
    let base = || Draft::signer("tsa", "ca", 7);
    let refused = |draft: Draft| draft.read(8).unwrap_err();
    assert_eq!(refused(Draft { version: None, ..base() }), form("version"));
    assert_eq!(refused(Draft { version: Some(1), ..base() }), form("version"));
    assert_eq!(refused(Draft { version: Some(3), ..base() }), form("version"));
    assert_eq!(refused(Draft { serial: NULL.to_vec(), ..base() }), form("serial number"));
    assert_eq!(refused(Draft { issuer: NULL.to_vec(), ..base() }), form("issuer"));
    assert_eq!(refused(Draft { subject: NULL.to_vec(), ..base() }), form("subject"));
    assert_eq!(refused(Draft { not_after: utc_time("2701010000Z"), ..base() }), form("validity"));
    assert_eq!(refused(Draft { key: tlv(0x30, &[]), ..base() }), form("public key"));
    let other = tlv(0x30, &[&oid("1.2.840.10045.4.3.2"), NULL]);
    let two = Draft { inner_algorithm: other, ..base() };
    assert_eq!(refused(two), CertificateError::SignatureAlgorithm);
    let twice = base().with(purposes(false, &[TIME_STAMPING]));
    let oid = ObjectIdentifier::new_unwrap("2.5.29.37");
    assert_eq!(refused(twice), CertificateError::DuplicateExtension { oid });
    let unread = base().with(tlv(0x30, &[&[1, 1, 0xff]]));
    assert_eq!(refused(unread), form("extensions"));

    let der = base().der(8);
    for end in 0..der.len() {
        assert!(Certificate::parse(&der[..end]).is_err(), "{end}");
    }
    assert_eq!(Certificate::parse(&[&der, NULL].concat()).unwrap_err(), form("certificate"));
}

#[test]
fn sizes_and_counts_are_bounded() {
    let padded = |length: usize| {
        Draft::new("tsa", "ca", 7).with(extension("1.2.3.4", false, &vec![0; length])).der(8)
    };
    let around = padded(16_000).len() - 16_000;
    // The signature is a few octets shorter or longer from one certificate to the next.
    assert!(Certificate::parse(&padded(MAX_CERTIFICATE_BYTES - around - 8)).is_ok());
    let long = padded(MAX_CERTIFICATE_BYTES);
    let length = CertificateError::Length { bytes: long.len(), limit: MAX_CERTIFICATE_BYTES };
    assert_eq!(Certificate::parse(&long).unwrap_err(), length);
    let many = |count: u8| {
        let draft = Draft::new("tsa", "ca", 7);
        (0..count).fold(draft, |draft, number| {
            draft.with(extension(&format!("1.2.3.{number}"), false, NULL))
        })
    };
    assert!(many(64).read(8).is_ok());
    assert_eq!(many(65).read(8).unwrap_err(), CertificateError::Count { limit: 64 });
}

#[test]
fn extensions_are_read() {
    let uri = tlv(0x86, &[b"http://crl.example/a.crl"]);
    let point = tlv(0x30, &[&tlv(0x30, &[&tlv(0xa0, &[&tlv(0xa0, &[&uri])])])]);
    let access = |dotted| tlv(0x30, &[&oid(dotted), &uri]);
    let access = sequence(&[access("1.3.6.1.5.5.7.48.1"), access("1.3.6.1.5.5.7.48.2")]);
    let policy = tlv(0x30, &[&tlv(0x30, &[&oid("2.5.29.32.0")])]);
    let certificate = Draft::new("tsa", "ca", 7)
        .with(basic_constraints(true, Some(3)))
        .with(key_usage(&[0, 1, 5, 8]))
        .with(purposes(true, &[TIME_STAMPING, "1.2.3"]))
        .with(extension("2.5.29.14", false, &tlv(4, &[b"subject"])))
        .with(extension("2.5.29.35", false, &tlv(0x30, &[&tlv(0x80, &[b"issuer"])])))
        .with(extension("2.5.29.31", false, &point))
        .with(extension("1.3.6.1.5.5.7.1.1", false, &access))
        .with(extension("2.5.29.32", true, &policy))
        .with(extension("2.5.29.36", true, &tlv(0x30, &[&[0x80, 1, 2], &[0x81, 2, 0, 0xff]])))
        .with(extension("2.5.29.54", true, &integer(&[4])))
        .with(extension("1.2.3.5", true, NULL))
        .with(extension("1.2.3.4", true, NULL))
        .by(8);
    let read = certificate.extensions();
    assert_eq!(read.basic_constraints, Some(BasicConstraints { ca: true, path_length: Some(3) }));
    let usage = read.key_usage.unwrap();
    assert!(usage.intersects(KeyUsage::KEY_CERT_SIGN) && !usage.intersects(KeyUsage::CRL_SIGN));
    let both = KeyUsage::DIGITAL_SIGNATURE.union(KeyUsage::NON_REPUDIATION);
    assert!(usage.intersects(both) && !usage.is_subset(both.union(KeyUsage::KEY_CERT_SIGN)));
    let purposes = read.extended_key_usage.as_ref().unwrap();
    assert!(purposes.critical && purposes.purposes.len() == 2);
    assert_eq!(certificate.subject_key_id(), Some(&b"subject"[..]));
    assert_eq!(read.authority_key_id.as_deref(), Some(&b"issuer"[..]));
    for uris in [&read.crl_uris, &read.ocsp_uris, &read.issuer_uris] {
        assert_eq!(*uris, ["http://crl.example/a.crl"]);
    }
    assert_eq!(read.policies.as_deref(), Some(&[ANY_POLICY][..]));
    assert_eq!(read.policy_constraints.require_explicit_policy, Some(2));
    assert_eq!(read.policy_constraints.inhibit_policy_mapping, Some(u64::MAX));
    assert_eq!(read.inhibit_any_policy, Some(4));
    assert_eq!(read.unknown_critical.unwrap().to_string(), "1.2.3.5");
}

#[test]
fn a_subject_has_several_names() {
    let mail = attribute("1.2.840.113549.1.9.1", 0x16, b"tsa@example.test");
    let subject = sequence(&[set(&[&attribute("2.5.4.3", 0x0c, b"TSA")]), set(&[&mail])]);
    let alternatives = tlv(0x30, &[&tlv(0x82, &[b"tsa.example"]), &tlv(0xa4, &[&name(&["b"])])]);
    let certificate = Draft { subject: subject.clone(), ..Draft::new("", "ca", 7) }
        .with(extension("2.5.29.17", false, &alternatives))
        .by(8);
    let has = |bytes: &[u8]| {
        certificate.has_name(&GeneralName::read(&Element::parse(bytes).unwrap()).unwrap())
    };
    assert!(has(&tlv(0xa4, &[&subject])));
    assert!(has(&tlv(0xa4, &[&name(&["B"])])));
    assert!(has(&tlv(0x82, &[b"TSA.example"])));
    assert!(has(&tlv(0x81, &[b"tsa@EXAMPLE.test"])));
    assert!(!has(&tlv(0xa4, &[&name(&["TSA"])])));
    assert!(!has(&tlv(0x82, &[b"example"])));
    assert!(!has(&tlv(0x81, &[b"TSA@example.test"])));
    assert!(!has(&tlv(0x86, &[b"tsa.example"])));
    assert_eq!(certificate.alternative_names().len(), 2);
}

fn pem(label: &str, der: &[u8]) -> String {
    pem_rfc7468::encode_string(label, pem_rfc7468::LineEnding::LF, der).unwrap()
}

#[test]
fn files_hold_der_or_pem_among_other_text() {
    let (one, two) = (Draft::signer("a", "ca", 1).der(3), Draft::signer("b", "ca", 2).der(3));
    let count = |bytes: &[u8]| read_certificates(bytes).map(|found| found.len());
    assert_eq!(count(&one), Ok(1));
    let bundle = format!(
        "0 s:CN=a\n{}\n{}text\r\n{}",
        pem("CERTIFICATE", &one),
        pem("PRIVATE KEY", b"passed over"),
        pem("CERTIFICATE", &two).replace('\n', "\r\n"),
    );
    let read = read_certificates(bundle.as_bytes()).unwrap();
    assert_eq!(read.iter().map(Certificate::der).collect::<Vec<_>>(), [&one, &two]);
    assert_eq!(count(b""), Err(CertificateError::Pem));
    assert_eq!(count(b"text"), Err(CertificateError::Pem));
    assert_eq!(count(pem("PRIVATE KEY", &one).as_bytes()), Err(CertificateError::Pem));
    assert_eq!(count(&bundle.as_bytes()[..bundle.len() - 10]), Err(CertificateError::Pem));
    let broken = pem("CERTIFICATE", &one).replacen("MII", "M!I", 1);
    assert_eq!(count(broken.as_bytes()), Err(CertificateError::Pem));
    let wrong = format!("{}{}", pem("CERTIFICATE", &one), pem("CERTIFICATE", NULL));
    assert_eq!(count(wrong.as_bytes()), Err(CertificateError::Form { field: "certificate" }));
    let many = |count| pem("CERTIFICATE", &one).repeat(count);
    assert_eq!(count(many(MAX_BUNDLE_CERTIFICATES).as_bytes()), Ok(MAX_BUNDLE_CERTIFICATES));
    let limit = CertificateError::Count { limit: MAX_BUNDLE_CERTIFICATES };
    assert_eq!(count(many(MAX_BUNDLE_CERTIFICATES + 1).as_bytes()), Err(limit));
    let bytes = MAX_BUNDLE_BYTES + 1;
    let limit = CertificateError::Length { bytes, limit: MAX_BUNDLE_BYTES };
    assert_eq!(count(&vec![b'x'; bytes]), Err(limit));
}

/// Every file below the RFC 3161 part of the corpus, if there is one; required when the environment
/// says so.
fn corpus() -> Vec<PathBuf> {
    let Some(corpus) = std::env::var_os("ANCHORLOG_CORPUS") else {
        let required = std::env::var_os("ANCHORLOG_REQUIRE_CORPUS").is_some_and(|one| one == "1");
        assert!(!required, "ANCHORLOG_CORPUS is not set");
        println!("skipped: ANCHORLOG_CORPUS is not set");
        return Vec::new();
    };
    let mut folders = vec![Path::new(&corpus).join("rfc3161")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { &mut folders } else { &mut files }.push(path);
        }
    }
    files
}

#[test]
fn every_certificate_of_the_corpus_is_read() {
    let files = corpus();
    let (mut in_tokens, mut in_bundles) = (0, 0);
    for path in &files {
        let bytes = std::fs::read(path).unwrap();
        if path.extension() == Some("pem".as_ref()) {
            in_bundles +=
                read_certificates(&bytes).unwrap_or_else(|e| panic!("{path:?}: {e}")).len();
            continue;
        }
        let response = TimestampResponse::parse(&bytes).ok().and_then(|response| response.token);
        let Ok(token) = Token::parse(response.unwrap_or(&bytes)) else { continue };
        for certificate in &token.certificates {
            let read = Certificate::parse(certificate);
            // Versions 1 and 2 of attribute certificates stand elsewhere; nothing here is
            // unreadable.
            let read = read.unwrap_or_else(|error| panic!("{path:?}: {error}"));
            assert_eq!(read.der(), *certificate);
            in_tokens += 1;
        }
    }
    assert!(files.is_empty() || (in_tokens > 60 && in_bundles > 15), "{in_tokens} {in_bundles}");
}
