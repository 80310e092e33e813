//! What is refused, and how.

use anchorlog_proto::timestamp::{FailInfo, Status};

use super::*;

/// DER of a short element.
fn element(tag: u8, contents: &[&[u8]]) -> Vec<u8> {
    let contents = contents.concat();
    match u8::try_from(contents.len()).unwrap() {
        length @ ..=0x7f => [&[tag, length][..], &contents].concat(),
        length => [&[tag, 0x81, length][..], &contents].concat(),
    }
}

/// The fields of a good request.
fn fields() -> Vec<u8> {
    let request = request(HashAlgorithm::Sha256).to_der();
    request[2..].to_vec()
}

fn refused(tsa: &DevTsa, request: &[u8], now: SystemTime) -> FailInfo {
    let response = tsa.respond(request, now);
    let response = TimestampResponse::parse(&response).unwrap();
    assert_eq!(response.status, Status::Rejection);
    assert_eq!(response.token, None);
    assert_eq!(response.texts.len(), 2);
    assert_eq!(response.texts[1], WARNING);
    assert!(response.failure.is_known());
    response.failure
}

#[test]
fn every_refusal_says_why() {
    let (tsa, _directory) = tsa(SignerKind::P256);
    let refused = |request: &[u8]| refused(&tsa, request, at(0));
    let good = element(0x30, &[&fields()]);
    assert!(TimestampResponse::parse(&tsa.respond(&good, at(0))).unwrap().granted().is_ok());

    // Another version.
    let mut version = good.clone();
    version[4] = 2;
    assert_eq!(refused(&version), FailInfo::BAD_REQUEST);

    // SHA-1, an unknown hash, a known one with parameters.
    let sha1 = TimestampRequest {
        imprint: Imprint::of_data(HashAlgorithm::Sha1, DATA),
        ..request(HashAlgorithm::Sha256)
    };
    assert_eq!(refused(&sha1.to_der()), FailInfo::BAD_ALG);
    let with_algorithm = |algorithm: &[u8]| {
        let imprint = element(0x30, &[&element(0x30, &[algorithm]), &element(4, &[&[7; 32]])]);
        element(0x30, &[&[2, 1, 1], &imprint])
    };
    let sha256: &[u8] = &[6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1];
    let sha3: &[u8] = &[6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 8];
    assert_eq!(refused(&with_algorithm(sha3)), FailInfo::BAD_ALG);
    assert_eq!(refused(&with_algorithm(&[sha256, &[4, 0]].concat())), FailInfo::BAD_ALG);

    // Another policy: one that is anybody's, and one with a second arc that `const-oid` can't hold.
    for policy in [&[6, 3, 0x2a, 3, 4][..], &[6, 3, 0x88, 0x37, 1]] {
        let imprint = &fields()[3..fields().len() - 22];
        let request = element(0x30, &[&[2, 1, 1], imprint, policy]);
        assert_eq!(refused(&request), FailInfo::UNACCEPTED_POLICY);
    }

    // Extensions, critical or not.
    for critical in [&[][..], &[1, 1, 0xff]] {
        let extension = element(0x30, &[&[6, 2, 0x2a, 3], critical, &[4, 0]]);
        let extensions = element(0xa0, &[&extension]);
        let request = element(0x30, &[&fields(), &extensions]);
        assert_eq!(refused(&request), FailInfo::UNACCEPTED_EXTENSION);
    }
}

#[test]
fn what_is_no_request_is_refused_as_that() {
    let (tsa, _directory) = tsa(SignerKind::P256);
    let good = element(0x30, &[&fields()]);
    let malformed = |request: &[u8]| {
        assert_eq!(refused(&tsa, request, at(0)), FailInfo::BAD_DATA_FORMAT, "{request:x?}");
    };
    for end in 0..good.len() {
        malformed(&good[..end]);
    }
    malformed(&[&good[..], &[0]].concat());
    malformed(b"<html>");
    malformed(&vec![0x30; 17 << 10]);
    // A digest that isn't as long as its hash's, a nonce that isn't minimal, a BOOLEAN that isn't DER, fields twice.
    let mut short = good.clone();
    short[23] -= 1;
    malformed(&short);
    malformed(&element(0x30, &[&fields()[..fields().len() - 22], &[2, 2, 0, 0x7f]]));
    malformed(&element(0x30, &[&fields()[..fields().len() - 22], &[1, 1, 1]]));
    malformed(&element(0x30, &[&fields(), &[1, 1, 0xff]]));
}

#[test]
fn flipped_bits_are_answered() {
    let (tsa, _directory) = tsa(SignerKind::Ed25519);
    let good = element(0x30, &[&fields()]);
    for bit in 0..good.len() * 8 {
        let mut request = good.clone();
        request[bit / 8] ^= 1 << (bit % 8);
        let response = tsa.respond(&request, at(0));
        let response = TimestampResponse::parse(&response).unwrap();
        assert_eq!(response.failure.is_empty(), response.granted().is_ok(), "bit {bit}");
    }
}

#[test]
fn a_clock_that_cannot_be_right_is_said() {
    let (tsa, _directory) = tsa(SignerKind::P256);
    let request = request(HashAlgorithm::Sha256).to_der();
    let before = UNIX_EPOCH - Duration::from_secs(1);
    for now in [before, UNIX_EPOCH, at(0) - Duration::from_secs(2)] {
        assert_eq!(refused(&tsa, &request, now), FailInfo::TIME_NOT_AVAILABLE);
    }
    // The root has run out: nothing that the requester could do.
    let late = at(0) + 4000 * DAY;
    assert_eq!(refused(&tsa, &request, late), FailInfo::SYSTEM_FAILURE);
}
