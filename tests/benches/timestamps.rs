//! What the verification of a time stamp costs, per kind of token, beside the bare signature checks that
//! it contains, and beside `openssl ts -verify` as a process.
//!
//! Each row interleaves the two sides in small rounds and prints the medians and their ratio.
//! `ANCHORLOG_VERIFIER` names a `verifier` program to time as a process; without it, or without
//! `openssl`, that part is left out.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    missing_docs,
    reason = "a benchmark builds its own inputs, prints its figures and fails by panicking"
)]

use std::hint::black_box;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anchorlog_proto::encoding::hex_encode;
use anchorlog_proto::timestamp::{HashAlgorithm, Imprint, TimestampResponse, Token};
use anchorlog_tests::forge::{Case, Form, cases};
use anchorlog_verifier::timestamp::signature::{Sha1, SignatureScheme};
use anchorlog_verifier::timestamp::{
    Certificate, Expected, Rules, Supplied, TrustEntry, VerifiedToken, verify_token,
};

/// Every kind of signer, over chains of the forge's usual length.
const KINDS: &[&str] = &[
    "rsa-2048-sha256",
    "rsa-3072-sha256",
    "rsa-4096-sha512",
    "pss-sha256",
    "p256-sha256",
    "p384-sha384",
    "p521-sha512",
    "ed25519",
    "ess-v1",
    "chain-rsa",
];

const ROUNDS: usize = 60;
const CALLS: usize = 5;

fn main() {
    let cases = cases();
    println!("{:<20} {:>10} {:>10} {:>6}", "token", "verify us", "bare us", "ratio");
    for name in KINDS {
        let case = cases.iter().find(|case| case.name == *name);
        let subject = Subject::of(case.unwrap_or_else(|| panic!("no case {name}")));
        let (whole, bare) = interleaved(ROUNDS, || subject.verify(), || subject.signatures());
        let ratio = whole.as_secs_f64() / bare.as_secs_f64();
        println!("{name:<20} {:>10.1} {:>10.1} {ratio:>6.2}", micros(whole), micros(bare));
    }
    processes(&cases);
}

/// One token, ready to be verified again and again.
struct Subject {
    token: Vec<u8>,
    expected: Expected,
    trust: Vec<TrustEntry>,
    supplied: Supplied,
    /// The signer first, the root last.
    path: Vec<Certificate>,
}

impl Subject {
    fn of(case: &Case) -> Self {
        let token = match case.form {
            Form::Token => case.bytes.clone(),
            Form::Response => {
                TimestampResponse::parse(&case.bytes).unwrap().granted().unwrap().to_vec()
            }
        };
        let certificate = |der: &Vec<u8>| Certificate::parse(der).unwrap();
        let roots: Vec<_> = case.given.trust[0].roots.iter().map(certificate).collect();
        let named = |one: &HashAlgorithm| one.name() == case.given.digest_algorithm;
        let algorithm = HashAlgorithm::ALL.into_iter().find(named).unwrap();
        let imprint = Imprint::new(algorithm, case.given.digest.clone()).unwrap();
        let supplied = Supplied {
            certificates: case.given.certificates.iter().map(certificate).collect(),
            ..Supplied::default()
        };
        let embedded = Token::parse(&token).unwrap().certificates;
        let mut known: Vec<Certificate> =
            embedded.iter().filter_map(|der| Certificate::parse(der).ok()).collect();
        known.extend(supplied.certificates.iter().chain(&roots).cloned());
        let trust = vec![TrustEntry::new("operator", roots)];
        let mut subject =
            Self { token, expected: Expected::over(imprint), trust, supplied, path: Vec::new() };
        let chain = subject.verify().chain().to_vec();
        let find = |digest: &anchorlog_proto::Digest| {
            known.iter().find(|one| one.fingerprint() == *digest).unwrap().clone()
        };
        subject.path = chain.iter().map(find).collect();
        subject
    }

    fn verify(&self) -> VerifiedToken {
        let Self { token, expected, trust, supplied, .. } = self;
        verify_token(token, expected, trust, supplied, &Rules::default()).unwrap()
    }

    /// The signatures of the token and of the certificates below the root, and nothing else.
    fn signatures(&self) {
        let token = Token::parse(&self.token).unwrap();
        let digest = HashAlgorithm::from_element(&token.signer.digest_algorithm).unwrap();
        let algorithm = &token.signer.signature_algorithm;
        let message = token.signer.attributes.as_received();
        let scheme = SignatureScheme::of_signer(algorithm, digest, Sha1::Refused).unwrap();
        scheme.verify(&self.path[0].public_key(), &message, token.signer.signature).unwrap();
        for pair in self.path.windows(2) {
            let (subject, issuer) = (&pair[0], &pair[1]);
            let algorithm = subject.signature_algorithm();
            let scheme = SignatureScheme::of_certificate(&algorithm, Sha1::Refused).unwrap();
            scheme.verify(&issuer.public_key(), subject.tbs(), subject.signature()).unwrap();
        }
    }
}

/// Medians of two things timed in turns.
fn interleaved<A, B>(
    rounds: usize,
    mut first: impl FnMut() -> A,
    mut second: impl FnMut() -> B,
) -> (Duration, Duration) {
    let mut times = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        times.0.push(timed(&mut first));
        times.1.push(timed(&mut second));
    }
    (median(times.0), median(times.1))
}

fn timed<T>(call: &mut impl FnMut() -> T) -> Duration {
    let begin = Instant::now();
    for _ in 0..CALLS {
        black_box(call());
    }
    begin.elapsed() / u32::try_from(CALLS).unwrap()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// `verifier token` and `openssl ts -verify` over the same token, as processes.
fn processes(cases: &[Case]) {
    let Some(verifier) = std::env::var_os("ANCHORLOG_VERIFIER") else { return };
    if Command::new("openssl").arg("version").stdout(Stdio::null()).status().is_err() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    println!("\n{:<20} {:>10} {:>10} {:>6}", "as a process", "ours us", "openssl us", "ratio");
    for name in ["rsa-2048-sha256", "p256-sha256", "p384-sha384"] {
        let case = cases.iter().find(|case| case.name == name).unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        let token = file("token.tsr", &case.bytes);
        let root = file("root.der", &case.given.trust[0].roots[0]);
        let pem = folder.path().join("root.pem");
        let mut convert = Command::new("openssl");
        convert.args(["x509", "-inform", "DER", "-in"]).arg(&root).arg("-out").arg(&pem);
        assert!(convert.status().unwrap().success());
        let digest = hex_encode(&case.given.digest);
        let ours = || {
            let mut command = Command::new(&verifier);
            command.arg("token").arg(&token).args(["--digest", &format!("sha256:{digest}")]);
            run(command.arg("--roots").arg(&pem));
        };
        let theirs = || {
            let mut command = Command::new("openssl");
            command.args(["ts", "-verify", "-digest", &digest, "-in"]).arg(&token);
            run(command.arg("-CAfile").arg(&pem).args(AT_GEN_TIME));
        };
        let (ours, theirs) = interleaved(20, ours, theirs);
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        println!("{name:<20} {:>10.0} {:>10.0} {ratio:>6.2}", micros(ours), micros(theirs));
    }
}

/// OpenSSL judges certificates at today's time unless it is told one: the forge's genTime.
const AT_GEN_TIME: [&str; 2] = ["-attime", "1748779200"];

fn run(command: &mut Command) {
    let output = command.stdout(Stdio::null()).stderr(Stdio::piped()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
