//! Every bit of a token counts: each single-bit flip, and each truncation, is refused.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anchorlog_tests::forge::{Case, Expected, Form, cases};
use anchorlog_tests::judge::Judge;

/// Tokens of different kinds: every signature algorithm, every way to name the signer. The cheapest to
/// verify for each kind: there are 150,000 flips.
const SWEPT: &[&str] = &[
    "rsa-2048-sha256",
    "pss-sha256",
    "p256-sha256",
    "p384-sha384",
    "p521-sha512",
    "ed25519",
    "ess-v1",
    "ess-both",
    "signer-by-key-identifier",
    "ess-v2-issuer-serial",
    "algorithm-protection",
];

#[test]
fn no_single_bit_can_change_and_no_byte_can_be_missing() {
    let cases = cases();
    let tokens: Vec<_> = SWEPT
        .iter()
        .map(|name| bare(cases.iter().find(|case| case.name == *name).unwrap()))
        .collect();
    let next = AtomicUsize::new(0);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(token) = tokens.get(next.fetch_add(1, Ordering::Relaxed)) {
                    sweep(token);
                }
            });
        }
    });
}

fn sweep(case: &Case) {
    let name = case.name;
    let judge = Judge::of(case);
    assert!(judge.judge(&case.bytes).is_ok(), "{name}");
    let mut bytes = case.bytes.clone();
    for bit in 0..bytes.len() * 8 {
        let (byte, mask) = (bit / 8, 1 << (bit % 8));
        bytes[byte] ^= mask;
        assert!(judge.judge(&bytes).is_err(), "{name}: {mask:#04x} in byte {byte}");
        bytes[byte] ^= mask;
    }
    for end in 0..bytes.len() {
        assert!(judge.judge(&bytes[..end]).is_err(), "{name}: {end} bytes");
    }
}

/// The case with the token alone: nobody signs what stands around it in a response.
fn bare(case: &Case) -> Case {
    assert!(matches!(case.expected, Expected::Holds { .. }));
    let mut bare = case.clone();
    if case.form == Form::Response {
        let response = anchorlog_proto::timestamp::TimestampResponse::parse(&case.bytes).unwrap();
        bare.bytes = response.granted().unwrap().to_vec();
        bare.form = Form::Token;
    }
    bare
}
