use anchorlog_proto::encoding::hex_decode;
use anchorlog_proto::timestamp::HashAlgorithm::{Sha1 as OLD, Sha256, Sha384, Sha512};

use super::super::testing::{NULL, bits, integer, oid, tlv};
use super::*;

const MESSAGE: &[u8] = b"hello";

struct Vector {
    name: String,
    algorithm: Vec<u8>,
    key: Vec<u8>,
    signature: Vec<u8>,
}

fn vectors() -> Vec<Vector> {
    let lines = include_str!("vectors.txt").lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let fields: Vec<_> = line.split(' ').collect();
            let [name, algorithm, key, signature] = fields.try_into().unwrap();
            let [algorithm, key, signature] =
                [algorithm, key, signature].map(|hex| hex_decode(hex).unwrap());
            Vector { name: name.to_owned(), algorithm, key, signature }
        })
        .collect()
}

fn vector(name: &str) -> Vector {
    vectors().into_iter().find(|vector| vector.name == name).unwrap()
}

fn element(bytes: &[u8]) -> Element<'_> {
    Element::parse(bytes).unwrap()
}

/// What every back end there is says, which has to be the same.
fn verify(
    scheme: SignatureScheme,
    key: &[u8],
    message: &[u8],
    signature: &[u8],
) -> Result<(), SignatureError> {
    let verdict = scheme.verify_by::<rustcrypto::RustCrypto>(&element(key), message, signature);
    #[cfg(feature = "aws-lc")]
    {
        let other = scheme.verify_by::<aws_lc::AwsLc>(&element(key), message, signature);
        assert_eq!(verdict, other, "{scheme:?}");
    }
    verdict
}

impl Vector {
    fn scheme(&self) -> SignatureScheme {
        SignatureScheme::of_certificate(&element(&self.algorithm), Sha1::Allowed).unwrap()
    }

    fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), SignatureError> {
        verify(self.scheme(), &self.key, message, signature)
    }
}

#[test]
fn signatures_of_somebody_else_verify() {
    let vectors = vectors();
    assert_eq!(vectors.len(), 36);
    for vector in vectors {
        assert_eq!(vector.verify(MESSAGE, &vector.signature), Ok(()), "{}", vector.name);
    }
}

#[test]
fn no_other_message_signature_or_hash_does() {
    for vector in vectors() {
        let name = &vector.name;
        let refused = |message, signature: &[u8]| {
            assert_eq!(vector.verify(message, signature), Err(SignatureError::Invalid), "{name}");
        };
        refused(b"hellp", &vector.signature);
        for octet in [0, 1, vector.signature.len() / 2, vector.signature.len() - 1] {
            let mut changed = vector.signature.clone();
            changed[octet] ^= 1;
            refused(MESSAGE, &changed);
        }
        refused(MESSAGE, &vector.signature[1..]);
        refused(MESSAGE, &vector.signature[..vector.signature.len() - 1]);
        refused(MESSAGE, &[&[0], vector.signature.as_slice()].concat());
        refused(MESSAGE, &[vector.signature.as_slice(), &[0]].concat());
        refused(MESSAGE, &[]);

        let hash = if vector.scheme().hash() == Sha256 { Sha384 } else { Sha256 };
        let other = match vector.scheme() {
            SignatureScheme::RsaPkcs1 { .. } => SignatureScheme::RsaPkcs1 { hash },
            SignatureScheme::RsaPss { hash, salt: salt @ ..0x40 } => {
                SignatureScheme::RsaPss { hash, salt: salt + 1 }
            }
            SignatureScheme::Ecdsa { .. } => SignatureScheme::Ecdsa { hash },
            SignatureScheme::RsaPss { .. } | SignatureScheme::Ed25519 => continue,
        };
        let verdict = verify(other, &vector.key, MESSAGE, &vector.signature);
        assert_eq!(verdict, Err(SignatureError::Invalid), "{name}");
    }
}

#[test]
fn a_scheme_takes_only_its_own_keys() {
    let of = |name: &str| vector(name);
    let (rsa, pss, ec, ed) =
        (of("rsa-2048-sha256"), of("pss-only-key"), of("p256-sha256"), of("ed25519"));
    let schemes = [rsa.scheme(), ec.scheme(), ed.scheme()];
    for (position, scheme) in schemes.into_iter().enumerate() {
        for (other, vector) in [&rsa, &ec, &ed].into_iter().enumerate() {
            if other != position {
                let verdict = verify(scheme, &vector.key, MESSAGE, &vector.signature);
                assert_eq!(verdict, Err(SignatureError::Key));
            }
        }
    }
    // A key for PSS with SHA-384 and 48 octets of salt is for nothing else.
    let with = |scheme| verify(scheme, &pss.key, MESSAGE, &pss.signature);
    assert_eq!(with(SignatureScheme::RsaPss { hash: Sha384, salt: 48 }), Ok(()));
    assert_eq!(
        with(SignatureScheme::RsaPss { hash: Sha384, salt: 49 }),
        Err(SignatureError::Invalid)
    );
    for scheme in [
        SignatureScheme::RsaPkcs1 { hash: Sha384 },
        SignatureScheme::RsaPss { hash: Sha384, salt: 47 },
        SignatureScheme::RsaPss { hash: Sha256, salt: 48 },
        // No room: 256 octets are 64 of hash, 191 of salt and two more.
        SignatureScheme::RsaPss { hash: Sha512, salt: 191 },
    ] {
        assert_eq!(with(scheme), Err(SignatureError::Key), "{scheme:?}");
    }
}

fn rsa_key(modulus: &[u8], exponent: &[u8]) -> Vec<u8> {
    let algorithm = tlv(0x30, &[&oid("1.2.840.113549.1.1.1"), NULL]);
    let numbers = tlv(0x30, &[&integer(modulus), &integer(exponent)]);
    tlv(0x30, &[&algorithm, &bits(&numbers)])
}

#[test]
fn rsa_keys_have_a_size_and_a_form() {
    let scheme = SignatureScheme::RsaPkcs1 { hash: Sha256 };
    let modulus = |bits: usize| {
        let mut modulus = vec![0; bits.div_ceil(8)];
        modulus[0] = 1 << ((bits - 1) % 8);
        *modulus.last_mut().unwrap() |= 1;
        modulus
    };
    let verdict = |key: Vec<u8>, octets: usize| verify(scheme, &key, MESSAGE, &vec![0; octets]);
    for bits in [1024, 2047, 8193, 16384] {
        let size = Err(SignatureError::KeySize { bits });
        assert_eq!(verdict(rsa_key(&modulus(bits), &[1, 0, 1]), 256), size);
    }
    for bits in [2048, 8192] {
        let verdict = verdict(rsa_key(&modulus(bits), &[1, 0, 1]), bits / 8);
        assert_eq!(verdict, Err(SignatureError::Invalid));
    }
    let good = modulus(2048);
    let mut even = good.clone();
    *even.last_mut().unwrap() = 2;
    for exponent in [&[3][..], &[1, 0xff, 0xff, 0xff, 0xff]] {
        assert_eq!(verdict(rsa_key(&good, exponent), 256), Err(SignatureError::Invalid));
    }
    for key in [
        rsa_key(&even, &[1, 0, 1]),
        rsa_key(&good, &[0]),
        rsa_key(&good, &[1]),
        rsa_key(&good, &[4]),
        rsa_key(&good, &[2, 0, 0, 0, 1]),
        rsa_key(&good, &good),
    ] {
        assert_eq!(verdict(key, 256), Err(SignatureError::Key));
    }
}

#[test]
fn points_are_on_a_named_curve() {
    for name in ["p256", "p384", "p521"] {
        let vector = vector(&format!("{name}-sha256"));
        let refused = |key: &[u8], why: &str| {
            let verdict = verify(vector.scheme(), key, MESSAGE, &vector.signature);
            assert_eq!(verdict, Err(SignatureError::Key), "{name}: {why}");
        };
        let point = vector.key.len() - 1;
        let mut off = vector.key.clone();
        off[point] ^= 1;
        refused(&off, "not on the curve");
        let octets = match name {
            "p256" => 32,
            "p384" => 48,
            _ => 66,
        };
        let form = vector.key.len() - 2 * octets - 1;
        assert_eq!(vector.key[form], 4);
        for other in [0, 2, 5, 6, 7] {
            let mut hybrid = vector.key.clone();
            hybrid[form] = other;
            refused(&hybrid, "another form");
        }
        let curve = Element::parse(&vector.key).unwrap().elements().unwrap().next().unwrap();
        let with = |point: &[u8]| tlv(0x30, &[curve.raw(), &bits(point)]);
        refused(&with(&[0]), "infinity");
        refused(&with(&[&[4][..], &vec![0xff; 2 * octets]].concat()), "not reduced");
        refused(&with(&[&[2][..], &vec![0xff; octets]].concat()), "not reduced, compressed");
        refused(&with(&vector.key[form..point]), "short");
    }
    let explicit =
        tlv(0x30, &[&tlv(0x30, &[&oid("1.2.840.10045.2.1"), &tlv(0x30, &[])]), &bits(&[4])]);
    let unknown =
        tlv(0x30, &[&tlv(0x30, &[&oid("1.2.840.10045.2.1"), &oid("1.3.132.0.10")]), &bits(&[4])]);
    for key in [explicit, unknown] {
        let verdict = verify(SignatureScheme::Ecdsa { hash: Sha256 }, &key, MESSAGE, &[]);
        assert_eq!(verdict, Err(SignatureError::Key));
    }
}

#[test]
fn ecdsa_signatures_are_strict_der() {
    let vector = vector("p256-sha256");
    let mut numbers = element(&vector.signature).elements().unwrap();
    let (r, s) = (numbers.next().unwrap(), numbers.next().unwrap());
    let short = |number: &Element<'_>| number.unsigned().unwrap().to_vec();
    let sequence = |parts: &[&[u8]]| tlv(0x30, parts);
    let order = hex_decode("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551");
    let order = order.unwrap();
    assert_eq!(vector.verify(MESSAGE, &sequence(&[r.raw(), s.raw()])), Ok(()));
    let zeros = |number: &[u8]| tlv(2, &[&[0, 0], number]);
    for signature in [
        sequence(&[&integer(&[0]), s.raw()]),
        sequence(&[r.raw(), &integer(&[0])]),
        sequence(&[&integer(&order), s.raw()]),
        sequence(&[r.raw(), &integer(&order)]),
        sequence(&[&zeros(&short(&r)), s.raw()]),
        sequence(&[r.raw(), s.raw(), NULL]),
        sequence(&[r.raw()]),
        [r.raw(), s.raw()].concat(),
        [short(&r), short(&s)].concat(),
        sequence(&[&integer(&[1; 33]), s.raw()]),
        tlv(2, &[&[0xff]]),
    ] {
        assert_eq!(vector.verify(MESSAGE, &signature), Err(SignatureError::Invalid));
    }
    // s and its negative are both signatures (FIPS 186-5 asks for neither).
    let negative = negated(&short(&s), &order);
    assert_eq!(vector.verify(MESSAGE, &sequence(&[r.raw(), &integer(&negative)])), Ok(()));
}

/// `order - number`, both big endian.
fn negated(number: &[u8], order: &[u8]) -> Vec<u8> {
    let mut difference = order.to_vec();
    let mut borrow = 0;
    for (place, octet) in difference.iter_mut().rev().enumerate() {
        let subtrahend = number.iter().rev().nth(place).copied().unwrap_or(0);
        let value = i16::from(*octet) - i16::from(subtrahend) - borrow;
        borrow = i16::from(value < 0);
        *octet = u8::try_from(value.rem_euclid(256)).unwrap();
    }
    difference
}

fn ed25519_key(octets: &[u8]) -> Vec<u8> {
    tlv(0x30, &[&tlv(0x30, &[&oid("1.3.101.112")]), &bits(octets)])
}

#[test]
fn ed25519_is_strict() {
    let scheme = SignatureScheme::Ed25519;
    let vector = vector("ed25519");
    // S + L is the same number to those who don't look.
    let order = hex_decode("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
    let mut larger = vector.signature.clone();
    let mut carry = 0;
    for (octet, add) in larger[32..].iter_mut().zip(order.unwrap()) {
        let sum = u16::from(*octet) + u16::from(add) + carry;
        *octet = sum.to_le_bytes()[0];
        carry = sum >> 8;
    }
    assert_eq!(vector.verify(MESSAGE, &larger), Err(SignatureError::Invalid));

    // With a key of small order, R = key and S = 0 fits every other message or more.
    let small = |low: u8, middle: u8, high: u8| {
        let mut point = [middle; 32];
        (point[0], point[31]) = (low, high);
        point
    };
    let mut keys = vec![
        small(1, 0, 0),
        small(1, 0, 0x80),
        small(0, 0, 0),
        small(0, 0, 0x80),
        small(0xec, 0xff, 0x7f),
        small(0xed, 0xff, 0x7f),
        small(0xee, 0xff, 0x7f),
        small(0xee, 0xff, 0xff),
        small(0xff, 0xff, 0x7f),
    ];
    for eighth in [
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    ] {
        keys.push(hex_decode(eighth).unwrap().try_into().unwrap());
    }
    for point in keys {
        let signature = [point, [0; 32]].concat();
        for message in [&b"hello"[..], b"a", b"b", b"c"] {
            let verdict = verify(scheme, &ed25519_key(&point), message, &signature);
            assert_eq!(verdict, Err(SignatureError::Key), "{point:x?}");
            let verdict = verify(scheme, &vector.key, message, &signature);
            assert_eq!(verdict, Err(SignatureError::Invalid), "{point:x?}");
        }
    }
    // A number that is no point.
    let verdict = verify(scheme, &ed25519_key(&small(2, 0, 0)), MESSAGE, &vector.signature);
    assert_eq!(verdict, Err(SignatureError::Key));
    for octets in [31, 33] {
        let verdict = verify(scheme, &ed25519_key(&vec![9; octets]), MESSAGE, &vector.signature);
        assert_eq!(verdict, Err(SignatureError::Key));
    }
}

fn scheme_of(algorithm: &[&[u8]]) -> Result<SignatureScheme, SignatureError> {
    SignatureScheme::of_certificate(&element(&tlv(0x30, algorithm)), Sha1::Refused)
}

#[test]
fn parameters_are_those_of_the_algorithm() {
    let (rsa, ecdsa) = (oid("1.2.840.113549.1.1.12"), oid("1.2.840.10045.4.3.4"));
    let ed25519 = oid("1.3.101.112");
    assert_eq!(scheme_of(&[&rsa]), Ok(SignatureScheme::RsaPkcs1 { hash: Sha384 }));
    assert_eq!(scheme_of(&[&rsa, NULL]), Ok(SignatureScheme::RsaPkcs1 { hash: Sha384 }));
    assert_eq!(scheme_of(&[&ecdsa]), Ok(SignatureScheme::Ecdsa { hash: Sha512 }));
    assert_eq!(scheme_of(&[&ecdsa, NULL]), Ok(SignatureScheme::Ecdsa { hash: Sha512 }));
    assert_eq!(scheme_of(&[&ed25519]), Ok(SignatureScheme::Ed25519));
    assert_eq!(scheme_of(&[&ed25519, NULL]), Err(SignatureError::Parameters));
    for other in [&[5, 1, 0][..], &[0x30, 0], &[4, 0]] {
        assert_eq!(scheme_of(&[&rsa, other]), Err(SignatureError::Parameters));
        assert_eq!(scheme_of(&[&ecdsa, other]), Err(SignatureError::Parameters));
    }
    assert_eq!(scheme_of(&[&rsa, NULL, NULL]), Err(SignatureError::Form));
    assert_eq!(scheme_of(&[NULL]), Err(SignatureError::Form));
    for unknown in ["1.2.840.113549.1.1.4", "1.2.840.113549.1.1.1", "1.2.840.10045.2.1"] {
        let refused = scheme_of(&[&oid(unknown), NULL]);
        assert!(matches!(refused, Err(SignatureError::Unknown { .. })), "{unknown}");
    }
    for old in ["1.2.840.113549.1.1.5", "1.2.840.10045.4.1"] {
        assert_eq!(scheme_of(&[&oid(old)]), Err(SignatureError::Digest { hash: OLD }));
    }
}

#[test]
fn pss_parameters_agree_with_themselves() {
    let hash = |oid_text: &str, null: &[u8]| tlv(0x30, &[&oid(oid_text), null]);
    let sha256 = |null| hash("2.16.840.1.101.3.4.2.1", null);
    let mgf = |hash: &[u8]| tlv(0xa1, &[&tlv(0x30, &[&oid("1.2.840.113549.1.1.8"), hash])]);
    let outer = |hash: &[u8]| tlv(0xa0, &[hash]);
    let salt = |octets: &[u8]| tlv(0xa2, &[&integer(octets)]);
    let trailer = |number: u8| tlv(0xa3, &[&integer(&[number])]);
    let pss = |parts: &[&[u8]]| scheme_of(&[&oid("1.2.840.113549.1.1.10"), &tlv(0x30, parts)]);
    let (with, without) = (sha256(NULL), sha256(&[]));
    let good = Ok(SignatureScheme::RsaPss { hash: Sha256, salt: 32 });
    assert_eq!(pss(&[&outer(&with), &mgf(&without), &salt(&[32])]), good);
    assert_eq!(pss(&[&outer(&without), &mgf(&with), &salt(&[32]), &trailer(1)]), good);
    let default = Ok(SignatureScheme::RsaPss { hash: Sha256, salt: 20 });
    assert_eq!(pss(&[&outer(&with), &mgf(&with)]), default);
    assert_eq!(pss(&[]), Err(SignatureError::Digest { hash: OLD }));
    let sha384 = hash("2.16.840.1.101.3.4.2.2", NULL);
    for parts in [
        &[&outer(&with)[..], &mgf(&sha384), &salt(&[32])][..],
        &[&outer(&with), &salt(&[32])],
        &[&outer(&with), &mgf(&with), &salt(&[32]), &trailer(2)],
        &[&mgf(&with), &outer(&with), &salt(&[32])],
        &[&outer(&with), &mgf(&with), &salt(&[1, 0, 0])],
        &[&outer(&with), &mgf(&with), &salt(&[32]), NULL],
        &[&outer(&sha256(&[4, 0])), &mgf(&with)],
        &[&outer(&hash("1.2.840.113549.2.5", NULL)), &mgf(&with)],
    ] {
        assert_eq!(pss(parts), Err(SignatureError::Parameters), "{parts:x?}");
    }
    let absent = scheme_of(&[&oid("1.2.840.113549.1.1.10")]);
    assert_eq!(absent, Err(SignatureError::Parameters));
}

#[test]
fn a_signer_states_its_digest_twice() {
    let of = |algorithm: &[u8], digest, sha1| {
        SignatureScheme::of_signer(&element(algorithm), digest, sha1)
    };
    let rsa = tlv(0x30, &[&oid("1.2.840.113549.1.1.1"), NULL]);
    let (refused, allowed) = (Sha1::Refused, Sha1::Allowed);
    for hash in [Sha256, Sha384, Sha512] {
        assert_eq!(of(&rsa, hash, refused), Ok(SignatureScheme::RsaPkcs1 { hash }));
    }
    assert_eq!(of(&rsa, OLD, refused), Err(SignatureError::Digest { hash: OLD }));
    assert_eq!(of(&rsa, OLD, allowed), Ok(SignatureScheme::RsaPkcs1 { hash: OLD }));
    let ecdsa = tlv(0x30, &[&oid("1.2.840.10045.4.3.2")]);
    assert_eq!(of(&ecdsa, Sha256, refused), Ok(SignatureScheme::Ecdsa { hash: Sha256 }));
    let mismatch = Err(SignatureError::Mismatch { stated: Sha384, used: Sha256 });
    assert_eq!(of(&ecdsa, Sha384, refused), mismatch);
    assert_eq!(of(&ecdsa, OLD, refused), Err(SignatureError::Digest { hash: OLD }));
    let ed25519 = tlv(0x30, &[&oid("1.3.101.112")]);
    assert_eq!(of(&ed25519, Sha512, refused), Ok(SignatureScheme::Ed25519));
    let mismatch = Err(SignatureError::Mismatch { stated: Sha256, used: Sha512 });
    assert_eq!(of(&ed25519, Sha256, refused), mismatch);
}
