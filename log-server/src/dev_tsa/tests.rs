//! The authority as its callers see it: what it grants, what it refuses, what it keeps.

#![allow(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that meets something unexpected may stop where it stands"
)]

mod hierarchy;
mod http;
mod openssl;
mod requests;
mod tokens;
mod verifier;

use std::time::UNIX_EPOCH;

use anchorlog_proto::timestamp::{
    HashAlgorithm, Imprint, Nonce, TimestampRequest, TimestampResponse,
};
use tempfile::TempDir;

use super::*;

/// 2026-06-01T12:00:00.25Z.
const NOW: Duration = Duration::from_millis(1_780_315_200_250);

fn at(after: u64) -> SystemTime {
    UNIX_EPOCH + NOW + Duration::from_secs(after)
}

/// An authority at [`NOW`].
fn tsa(signer: SignerKind) -> (DevTsa, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let clock = Clock::of(|| at(0));
    let options = DevTsaOptions { signer, clock, ..DevTsaOptions::default() };
    (DevTsa::open(&directory.path().join("tsa"), options).unwrap(), directory)
}

fn request(algorithm: HashAlgorithm) -> TimestampRequest {
    TimestampRequest::new(Imprint::of_data(algorithm, DATA), Nonce::from_random([0x91; 16]))
}

/// The token of a response that has to have one.
fn token(response: &[u8]) -> Vec<u8> {
    TimestampResponse::parse(response).unwrap().granted().unwrap().to_vec()
}

const DATA: &[u8] = b"what is stamped";

const SIGNERS: [SignerKind; 2] = [SignerKind::P256, SignerKind::Ed25519];

const HASHES: [HashAlgorithm; 3] =
    [HashAlgorithm::Sha256, HashAlgorithm::Sha384, HashAlgorithm::Sha512];
