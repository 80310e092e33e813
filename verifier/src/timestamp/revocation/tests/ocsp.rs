//! What responders say.

use anchorlog_proto::timestamp::HashAlgorithm;

use super::super::super::testing::{
    Draft, NULL, OCSP_SIGNING, SERVER_AUTH, TIME_STAMPING, extension, generalized_time, integer,
    key_usage, name, oid, public_key, public_key_octets, purposes, sequence, signed, tlv, utc_time,
    wrapped,
};
use super::super::{EvidenceError, EvidenceKind, MAX_OCSP_BYTES, OcspResponse};
use super::{AT, EARLIER, LATER, NOTHING, known, world};

/// An OCSP response to be: of the authority that issued the signer, unless said otherwise.
#[derive(Clone)]
pub(super) struct Answer {
    pub(super) hash: HashAlgorithm,
    pub(super) issuer: Vec<u8>,
    pub(super) issuer_key: u8,
    pub(super) serial: Vec<u8>,
    pub(super) status: Vec<u8>,
    pub(super) this_update: Vec<u8>,
    pub(super) extensions: Vec<Vec<u8>>,
    pub(super) response_extensions: Vec<Vec<u8>>,
    pub(super) responder: Vec<u8>,
    pub(super) key: u8,
    pub(super) certificates: Vec<Vec<u8>>,
}

/// Good, or revoked at a date for a reason.
pub(super) fn answer_of(revoked: Option<(&str, Option<u8>)>) -> Answer {
    let status = match revoked {
        None => tlv(0x80, &[]),
        Some((date, reason)) => {
            let reason = reason.map(|number| tlv(0xa0, &[&tlv(10, &[&[number]])]));
            tlv(0xa1, &[&generalized_time(date), &reason.unwrap_or_default()])
        }
    };
    Answer {
        hash: HashAlgorithm::Sha1,
        issuer: name(&["middle"]),
        issuer_key: 2,
        serial: integer(&[3]),
        status,
        this_update: generalized_time(LATER),
        extensions: Vec::new(),
        response_extensions: Vec::new(),
        responder: tlv(0xa1, &[&name(&["middle"])]),
        key: 2,
        certificates: Vec::new(),
    }
}

pub(super) fn ocsp(answer: &Answer) -> Vec<u8> {
    let id = sequence(&[
        tlv(0x30, &[&oid(&answer.hash.oid().to_string()), NULL]),
        tlv(4, &[&answer.hash.digest(&answer.issuer)]),
        tlv(4, &[&answer.hash.digest(&public_key_octets(answer.issuer_key))]),
        answer.serial.clone(),
    ]);
    let next_update = tlv(0xa0, &[&generalized_time("20300101000000Z")]);
    let single = sequence(&[
        id,
        answer.status.clone(),
        answer.this_update.clone(),
        next_update,
        wrapped(0xa1, &answer.extensions),
    ]);
    let data = sequence(&[
        answer.responder.clone(),
        generalized_time(LATER),
        tlv(0x30, &[&single]),
        wrapped(0xa1, &answer.response_extensions),
    ]);
    let basic = signed(&data, answer.key, &[wrapped(0xa0, &answer.certificates)]);
    let bytes = sequence(&[oid("1.3.6.1.5.5.7.48.1.1"), tlv(4, &[&basic])]);
    sequence(&[tlv(10, &[&[0]]), tlv(0xa0, &[&bytes])])
}

#[test]
fn responses_of_the_issuer_count() {
    let world = world();
    let good = || answer_of(None);
    let by_key = HashAlgorithm::Sha1.digest(&public_key_octets(2));
    for counting in [
        good(),
        Answer { hash: HashAlgorithm::Sha256, ..good() },
        Answer { responder: tlv(0xa2, &[&tlv(4, &[&by_key])]), ..good() },
        Answer { responder: tlv(0xa1, &[&name(&["Middle"])]), ..good() },
        Answer {
            response_extensions: vec![extension("1.3.6.1.5.5.7.48.1.2", true, NULL)],
            ..good()
        },
    ] {
        assert_eq!(world.signer(&[], &[ocsp(&counting)]), known(LATER, EvidenceKind::Ocsp));
    }
    for passed_over in [
        Answer { issuer: name(&["Middle"]), ..good() },
        Answer { issuer_key: 1, ..good() },
        Answer { serial: integer(&[4]), ..good() },
        Answer { status: tlv(0x82, &[]), ..good() },
        Answer { this_update: generalized_time(EARLIER), ..good() },
        Answer { responder: tlv(0xa1, &[&name(&["root"])]), ..good() },
        Answer { responder: tlv(0xa2, &[&tlv(4, &[&by_key[1..]])]), ..good() },
        Answer { key: 1, ..good() },
    ] {
        assert_eq!(world.signer(&[], &[ocsp(&passed_over)]), NOTHING);
    }
}

#[test]
fn the_issuer_may_delegate() {
    let world = world();
    let draft = || {
        Draft::new("responder", "middle", 5)
            .with(purposes(false, &[OCSP_SIGNING]))
            .valid(LATER, LATER)
    };
    let by_key = tlv(0xa2, &[&tlv(4, &[&HashAlgorithm::Sha1.digest(&public_key_octets(5))])]);
    let with = |certificates: &[Vec<u8>], responder: Option<&[u8]>| {
        let by_name = tlv(0xa1, &[&name(&["responder"])]);
        let answer = Answer {
            responder: responder.map_or(by_name, <[u8]>::to_vec),
            key: 5,
            certificates: certificates.to_vec(),
            ..answer_of(None)
        };
        world.signer(&[], &[ocsp(&answer)])
    };
    let counts = known(LATER, EvidenceKind::Ocsp);
    assert_eq!(with(&[draft().der(2)], None), counts);
    assert_eq!(with(&[draft().der(2)], Some(&by_key)), counts);
    assert_eq!(with(&[NULL.to_vec(), draft().der(2)], None), counts);
    assert_eq!(with(&[draft().with(key_usage(&[0])).der(2)], None), counts);
    assert_eq!(with(&[], None), NOTHING);
    let other = |dotted| Draft::new("responder", "middle", 5).with(purposes(false, &[dotted]));
    for refused in [
        draft().der(1),
        draft().der(5),
        draft().with(key_usage(&[5])).der(2),
        draft().with(extension("1.2.3.4", true, NULL)).der(2),
        Draft { issuer: name(&["root"]), ..draft() }.der(1),
        draft().valid(EARLIER, AT).der(2),
        Draft::new("responder", "middle", 5).der(2),
        other("2.5.29.37.0").der(2),
        other(TIME_STAMPING).der(2),
        other(SERVER_AUTH).der(2),
        Draft { key: public_key(6), ..draft() }.der(2),
    ] {
        assert_eq!(with(&[refused], None), NOTHING);
    }
}

#[test]
fn bytes_that_are_no_response() {
    let form = EvidenceError::Form { what: "an OCSP response" };
    let der = ocsp(&answer_of(Some((EARLIER, Some(1)))));
    assert!(OcspResponse::parse(&der).is_ok());
    for end in 0..der.len() {
        assert_eq!(OcspResponse::parse(&der[..end]).unwrap_err(), form, "{end}");
    }
    for status in [1, 2, 3, 5, 6] {
        let failed = sequence(&[tlv(10, &[&[status]])]);
        assert_eq!(OcspResponse::parse(&failed).unwrap_err(), EvidenceError::Unsuccessful);
    }
    for bad in [
        Answer { extensions: vec![extension("1.2.3.4", true, NULL)], ..answer_of(None) },
        Answer { response_extensions: vec![extension("1.2.3.4", true, NULL)], ..answer_of(None) },
        Answer { responder: NULL.to_vec(), ..answer_of(None) },
        Answer { this_update: utc_time("260101000000Z"), ..answer_of(None) },
        Answer { certificates: vec![NULL.to_vec(); 17], ..answer_of(None) },
    ] {
        assert_eq!(OcspResponse::parse(&ocsp(&bad)).unwrap_err(), form);
    }
    let bytes = MAX_OCSP_BYTES + 1;
    let limit = EvidenceError::Length { bytes, limit: MAX_OCSP_BYTES };
    assert_eq!(OcspResponse::parse(&vec![0; bytes]).unwrap_err(), limit);
}
