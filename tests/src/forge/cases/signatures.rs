//! What is wrong with the signature itself, all algorithms being sound.

use crate::forge::draft::List;
use crate::forge::keys::{Hash, Key, Scheme};
use crate::forge::raw::{
    algorithm, contents, join, long_length, null, number, octets, sequence, tlv,
};
use crate::forge::token::SignedOver;

pub(super) fn add(list: &mut List<'_>) {
    signatures(list);
    octets_of_signatures(list);
    lengths_of_signatures(list);
}

/// The signature with its last bit flipped.
pub(super) fn flip_last(mut signature: Vec<u8>) -> Vec<u8> {
    if let Some(last) = signature.last_mut() {
        *last ^= 1;
    }
    signature
}

fn signatures(list: &mut List<'_>) {
    let reason = "signature.invalid";
    list.fails("signature-flipped", reason, "the last bit of an ECDSA signature", |d| {
        d.token.spoil = flip_last;
    });
    list.fails("signature-flipped-rsa", reason, "the last bit of an RSA signature", |d| {
        d.signer(&d.world.rsa2048);
        d.token.spoil = flip_last;
    });
    list.fails("signature-flipped-pss", reason, "the last bit of a PSS signature", |d| {
        d.signer(&d.world.rsa2048);
        d.token.scheme = Scheme::pss(Hash::Sha256);
        d.token.spoil = flip_last;
    });
    list.fails("signature-flipped-ed25519", reason, "the first bit of an Ed25519 signature", |d| {
        d.signer(&d.world.ed25519);
        d.token.spoil = |mut signature| {
            if let Some(first) = signature.first_mut() {
                *first ^= 1;
            }
            signature
        };
    });
    list.fails("signature-other-key", reason, "a sound signature by another key", |d| {
        let signed = d.token.signed();
        d.token.signature = Some(Key::p256("impostor").sign(d.token.scheme, &signed));
    });
    list.fails(
        "signature-over-implicit",
        reason,
        "over the attributes with their tag [0] (RFC 5652 5.4)",
        |d| {
            d.token.over = SignedOver::Implicit;
        },
    );
    list.fails(
        "signature-over-content",
        reason,
        "over TSTInfo, though there are attributes",
        |d| {
            d.token.over = SignedOver::Content;
        },
    );
    list.fails(
        "signature-of-another-token",
        reason,
        "the signature of a token with another serial number",
        |d| {
            let mut other = d.token.clone();
            other.info.serial = number(1);
            d.token.signature = Some(other.signer.key.sign(other.scheme, &other.signed()));
        },
    );
    list.fails(
        "signature-rsa-encryption-digest",
        reason,
        "rsaEncryption, signed over SHA-512, digest SHA-256",
        |d| {
            d.signer(&d.world.rsa2048);
            d.token.scheme = Scheme::Pkcs1(Hash::Sha512);
            d.token.signature_algorithm = Some(algorithm("1.2.840.113549.1.1.1", Some(null())));
        },
    );
    list.fails(
        "signature-rsa-padding-short",
        reason,
        "eight octets of padding and rubbish behind the digest",
        |d| {
            d.signer(&d.world.rsa2048);
            let digest = octets(Hash::Sha256.digest(&d.token.signed()));
            let info = sequence([Hash::Sha256.identifier_with_null(), digest]);
            let mut block = join([vec![0, 1], vec![0xff; 8], vec![0], info]);
            block.resize(d.token.signer.key.modulus_octets().unwrap_or(0), 0x5a);
            d.token.signature = d.token.signer.key.sign_block(&block);
        },
    );
}

fn octets_of_signatures(list: &mut List<'_>) {
    let reason = "signature.invalid";
    list.fails("signature-empty", reason, "no octets", |d| d.token.spoil = |_| Vec::new());
    list.fails("signature-zero", reason, "r = s = 0", |d| {
        d.token.spoil = |_| sequence([number(0), number(0)]);
    });
    list.fails("signature-trailing", reason, "an octet behind the ECDSA signature", |d| {
        d.token.spoil = |signature| join([signature, vec![0]]);
    });
    list.fails(
        "signature-trailing-inside",
        reason,
        "a third integer in the ECDSA signature",
        |d| {
            d.token.spoil = |signature| {
                let inner = contents(&signature);
                sequence([inner, &number(0)])
            };
        },
    );
    list.fails(
        "signature-long-length",
        reason,
        "the ECDSA signature has a length of two octets (RFC 3279 2.2.3)",
        |d| {
            d.token.spoil = |signature| long_length(0x30, 1, contents(&signature));
        },
    );
    list.fails(
        "signature-negative",
        reason,
        "r lacks the zero octet that keeps it positive",
        |d| {
            // Four of eight signatures have such an r; the serial number is varied until one does.
            for serial in 1..64 {
                d.token.info.serial = number(serial);
                let signature = d.token.signer.key.sign(d.token.scheme, &d.token.signed());
                if let Some([0x30, _, 0x02, 33, 0, rest @ ..]) = signature.get(..) {
                    d.token.signature = Some(tlv(0x30, join([&[0x02, 32], rest])));
                    break;
                }
            }
        },
    );
    list.fails("signature-zero-octet", reason, "r has a zero octet too many", |d| {
        for serial in 1..64 {
            d.token.info.serial = number(serial);
            let signature = d.token.signer.key.sign(d.token.scheme, &d.token.signed());
            if let Some([0x30, _, 0x02, 32, rest @ ..]) = signature.get(..) {
                d.token.signature = Some(tlv(0x30, join([&[0x02, 33, 0], rest])));
                break;
            }
        }
    });
    list.fails(
        "signature-raw",
        reason,
        "r and s side by side, 64 octets, as other formats have it",
        |d| {
            d.token.spoil = |signature| {
                let half = |tlv: &[u8]| {
                    let length = usize::from(tlv.get(1).copied().unwrap_or(0));
                    let value = tlv.get(2..2 + length).unwrap_or_default();
                    let value = value.get(value.len().saturating_sub(32)..).unwrap_or_default();
                    [vec![0; 32 - value.len()], value.to_vec()].concat()
                };
                let r = contents(&signature);
                let s =
                    r.get(2 + usize::from(r.get(1).copied().unwrap_or(0))..).unwrap_or_default();
                join([half(r), half(s)])
            };
        },
    );
}

fn lengths_of_signatures(list: &mut List<'_>) {
    let reason = "signature.invalid";
    list.fails(
        "signature-rsa-longer",
        reason,
        "an RSA signature with a zero octet in front (RFC 8017 8.2.2)",
        |d| {
            d.signer(&d.world.rsa2048);
            d.token.spoil = |signature| join([vec![0], signature]);
        },
    );
    list.fails(
        "signature-ed25519-order",
        reason,
        "S plus the order of the group (RFC 8032 5.1.7)",
        |d| {
            d.signer(&d.world.ed25519);
            d.token.spoil = |mut signature| {
                let mut carry = 0_u16;
                for (octet, order) in signature.iter_mut().skip(32).zip(ORDER) {
                    let sum = u16::from(*octet) + u16::from(order) + carry;
                    let [high, low] = sum.to_be_bytes();
                    *octet = low;
                    carry = high.into();
                }
                signature
            };
        },
    );
    list.fails("signature-ed25519-short", reason, "63 octets of an Ed25519 signature", |d| {
        d.signer(&d.world.ed25519);
        d.token.spoil = |mut signature| {
            signature.pop();
            signature
        };
    });
}

/// The order of Ed25519's group, little-endian (RFC 8032 section 5.1).
const ORDER: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];
