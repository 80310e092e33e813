//! What stands in a token, and that it is signed.

use anchorlog_proto::timestamp::{SignerIdentifier, Token};
use der::{Decode as _, Encode as _};
use ed25519_dalek::Verifier as _;
use sha2::Digest as _;
use spki::DecodePublicKey as _;
use x509_cert::Certificate;
use x509_cert::ext::pkix::{
    AuthorityKeyIdentifier, BasicConstraints, ExtendedKeyUsage, KeyUsage, SubjectKeyIdentifier,
};

use super::*;

#[test]
fn a_token_says_what_was_asked_for() {
    for signer in SIGNERS {
        let (tsa, _directory) = tsa(signer);
        for hash in HASHES {
            for nonce in [None, Some("00"), Some("7f"), Some("80"), Some(&*"ff".repeat(64))] {
                for policy in [None, Some(POLICY)] {
                    for cert_req in [true, false] {
                        let nonce = nonce.map(|nonce| nonce.parse().unwrap());
                        let request = TimestampRequest { policy, nonce, cert_req, ..request(hash) };
                        let token = token(&tsa.respond(&request.to_der(), at(0)));
                        check(&Token::parse(&token).unwrap(), &request);
                    }
                }
            }
        }
    }
}

fn check(token: &Token<'_>, request: &TimestampRequest) {
    let info = &token.info;
    assert_eq!(info.policy, POLICY);
    assert_eq!(info.imprint, request.imprint.digest());
    assert_eq!(info.imprint_algorithm.oid, request.imprint.algorithm().oid());
    assert_eq!(info.gen_time.to_string(), "2026-06-01T12:00:00.25Z");
    assert_eq!(info.accuracy.unwrap().microseconds(), 1_000_000);
    assert!(!info.ordering);
    assert_eq!(info.nonce, request.nonce);
    assert_eq!(info.serial.len(), 16);
    assert_eq!(token.certificates.len(), usize::from(request.cert_req));
    assert_eq!(token.crls.len(), 0);
}

#[test]
fn the_imprint_is_repeated_to_the_octet() {
    let (tsa, _directory) = tsa(SignerKind::P256);
    let with_null = request(HashAlgorithm::Sha256).to_der();
    let parameters = with_null.windows(2).position(|two| two == [5, 0]).unwrap();
    // Without the NULL, and the three lengths around it two less.
    let mut without = [&with_null[..parameters], &with_null[parameters + 2..]].concat();
    for length in [1, 6, 8] {
        without[length] -= 2;
    }
    for (request, length) in [(with_null, 0x31), (without, 0x2f)] {
        let token = token(&tsa.respond(&request, at(0)));
        let imprint = &request[5..7 + usize::from(request[6])];
        assert_eq!(imprint[1], length);
        let content = Token::parse(&token).unwrap().content;
        assert!(content.windows(imprint.len()).any(|window| window == imprint));
    }
}

#[test]
fn a_negative_nonce_is_repeated_like_any_other() {
    let (tsa, _directory) = tsa(SignerKind::P256);
    let asked =
        TimestampRequest { nonce: Some("80".parse().unwrap()), ..request(HashAlgorithm::Sha256) };
    // The INTEGER 128 becomes -128: the zero before it goes, and the length around it is one less.
    let positive = asked.to_der();
    let at_nonce = positive.windows(4).position(|four| four == [2, 2, 0, 0x80]).unwrap();
    let mut request = [&positive[..at_nonce], &[2, 1, 0x80], &positive[at_nonce + 4..]].concat();
    request[1] -= 1;
    let token = token(&tsa.respond(&request, at(0)));
    assert_eq!(Token::parse(&token).unwrap().info.nonce.unwrap().to_string(), "...80");
}

#[test]
fn no_two_tokens_have_the_same_number() {
    let (tsa, _directory) = tsa(SignerKind::P256);
    let request = request(HashAlgorithm::Sha256).to_der();
    let mut numbers = std::collections::BTreeSet::new();
    for _ in 0..20 {
        let token = token(&tsa.respond(&request, at(0)));
        numbers.insert(Token::parse(&token).unwrap().info.serial.to_vec());
    }
    assert_eq!(numbers.len(), 20);
}

#[test]
fn attributes_name_the_signer_and_are_signed() {
    for signer in SIGNERS {
        let (tsa, _directory) = tsa(signer);
        let token = token(&tsa.respond(&request(HashAlgorithm::Sha384).to_der(), at(0)));
        let token = Token::parse(&token).unwrap();
        let der = token.certificates[0];
        let certificate = Certificate::from_der(der).unwrap();
        let tbs = certificate.tbs_certificate();
        let attributes = &token.signer.attributes;
        let hash = match signer {
            SignerKind::P256 => HashAlgorithm::Sha256,
            SignerKind::Ed25519 => HashAlgorithm::Sha512,
        };
        assert_eq!(attributes.message_digest, Some(&*hash.digest(token.content)));
        assert_eq!(HashAlgorithm::from_element(&token.signer.digest_algorithm), Some(hash));
        assert_eq!(token.digest_algorithms, [token.signer.digest_algorithm]);
        assert_eq!(attributes.in_der_order(), None);

        let ess = &attributes.signing_certificate_v2.as_ref().unwrap().signer;
        assert_eq!(ess.algorithm, Some(HashAlgorithm::Sha256));
        assert_eq!(ess.digest, sha2::Sha256::digest(der).as_slice());
        let named = ess.issuer_serial.as_ref().unwrap();
        let issuer = tbs.issuer().to_der().unwrap();
        assert_eq!(named.issuer_name(), Some(&*issuer));
        let SignerIdentifier::IssuerAndSerial { issuer: name, serial } = token.signer.id else {
            panic!("{:?}", token.signer.id);
        };
        assert_eq!((name, serial), (&*issuer, named.serial));
        assert_eq!(serial, tbs.serial_number().as_bytes());

        let protection = attributes.algorithm_protection.as_ref().unwrap();
        let signature_algorithm = token.signer.signature_algorithm;
        assert_eq!(protection.digest.oid, hash.oid());
        assert_eq!(protection.signature.unwrap().oid, oid(&signature_algorithm));
        // Neither has parameters (RFC 5754 section 3.2, RFC 8419 section 3.1).
        assert_eq!(signature_algorithm.elements().unwrap().collect_all(9).unwrap().len(), 1);

        let public = tbs.subject_public_key_info().to_der().unwrap();
        let signed = attributes.as_received();
        match signer {
            SignerKind::P256 => {
                let key = p256::ecdsa::VerifyingKey::from_public_key_der(&public).unwrap();
                let signature = p256::ecdsa::DerSignature::try_from(token.signer.signature);
                key.verify(&signed, &signature.unwrap()).unwrap();
            }
            SignerKind::Ed25519 => {
                let key = ed25519_dalek::VerifyingKey::from_public_key_der(&public).unwrap();
                let signature = ed25519_dalek::Signature::from_slice(token.signer.signature);
                key.verify_strict(&signed, &signature.unwrap()).unwrap();
            }
        }
    }
}

fn oid(algorithm: &anchorlog_proto::timestamp::element::Element<'_>) -> ObjectIdentifier {
    algorithm.elements().unwrap().next().unwrap().oid().unwrap()
}

#[test]
fn certificates_have_the_profile_of_the_standard() {
    let (tsa, _directory) = tsa(SignerKind::Ed25519);
    let token = token(&tsa.respond(&request(HashAlgorithm::Sha256).to_der(), at(0)));
    let signer = Certificate::from_der(Token::parse(&token).unwrap().certificates[0]).unwrap();
    let root = Certificate::from_der(tsa.root_der()).unwrap();
    let (signer, root) = (signer.tbs_certificate(), root.tbs_certificate());

    let (critical, constraints) = root.get_extension::<BasicConstraints>().unwrap().unwrap();
    assert!(critical && constraints.ca && constraints.path_len_constraint == Some(0));
    let (critical, usage) = root.get_extension::<KeyUsage>().unwrap().unwrap();
    assert!(critical && usage.key_cert_sign() && usage.crl_sign() && !usage.digital_signature());
    assert_eq!(root.get_extension::<ExtendedKeyUsage>().unwrap(), None);

    assert_eq!(signer.get_extension::<BasicConstraints>().unwrap(), None);
    let (critical, usage) = signer.get_extension::<KeyUsage>().unwrap().unwrap();
    assert!(critical && usage.digital_signature() && !usage.key_cert_sign());
    let (critical, purposes) = signer.get_extension::<ExtendedKeyUsage>().unwrap().unwrap();
    assert!(critical);
    assert_eq!(purposes.0, [const_oid::db::rfc5280::ID_KP_TIME_STAMPING]);
    let (_, authority) = signer.get_extension::<AuthorityKeyIdentifier>().unwrap().unwrap();
    let (_, key) = root.get_extension::<SubjectKeyIdentifier>().unwrap().unwrap();
    assert_eq!(authority.key_identifier.as_ref(), Some(&key.0));
    assert!(signer.get_extension::<SubjectKeyIdentifier>().unwrap().is_some());

    assert_eq!(signer.issuer(), root.subject());
    let (signer, root) = (signer.subject().to_string(), root.subject().to_string());
    assert!(signer.starts_with("CN=Anchorlog DEVELOPMENT TSA - DO NOT TRUST,"), "{signer}");
    assert!(root.starts_with("CN=Anchorlog DEVELOPMENT TSA root - DO NOT TRUST,"), "{root}");
    assert!(!root.contains("C=") || !root.contains(",C="), "{root}");
}

#[test]
fn two_authorities_have_two_names() {
    let ((one, _a), (other, _b)) = (tsa(SignerKind::P256), tsa(SignerKind::P256));
    let name = |tsa: &DevTsa| {
        Certificate::from_der(tsa.root_der()).unwrap().tbs_certificate().subject().to_string()
    };
    assert_ne!(name(&one), name(&other));
}

#[test]
fn fractions_are_in_the_form_of_the_standard() {
    let (tsa, _directory) = tsa(SignerKind::P256);
    let request = request(HashAlgorithm::Sha256).to_der();
    for (milliseconds, text) in
        [(0, "12:00:00Z"), (1, "12:00:00.001Z"), (250, "12:00:00.25Z"), (999, "12:00:00.999Z")]
    {
        let now = at(0) - Duration::from_millis(250)
            + Duration::from_millis(milliseconds)
            + Duration::from_mins(1)
            + Duration::from_micros(999);
        let token = token(&tsa.respond(&request, now));
        let time = Token::parse(&token).unwrap().info.gen_time;
        assert_eq!(time.to_string(), format!("2026-06-01T{}", text.replace("00:00", "01:00")));
    }
}
