//! Our tokens before OpenSSL, the program that most people check tokens with.
//!
//! Without `openssl` these tests are skipped, unless `ANCHORLOG_REQUIRE_PEERS=1` forbids to go on without.

use std::fs;
use std::process::{Command, Output};

use anchorlog_proto::timestamp::Token;

use super::*;

/// Whether there is an OpenSSL to ask.
fn openssl_is_there() -> bool {
    let there = Command::new("openssl").arg("version").output().is_ok_and(|o| o.status.success());
    let required = std::env::var_os("ANCHORLOG_REQUIRE_PEERS").is_some_and(|value| value == "1");
    assert!(there || !required, "ANCHORLOG_REQUIRE_PEERS=1, but there is no openssl");
    if !there {
        println!("skipped: there is no openssl");
    }
    there
}

fn openssl(directory: &Path, arguments: &[&str]) -> Output {
    Command::new("openssl").current_dir(directory).args(arguments).output().unwrap()
}

/// Runs, and insists on success.
fn openssl_agrees(directory: &Path, arguments: &[&str]) -> String {
    let output = openssl(directory, arguments);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "openssl {arguments:?}: {text}{errors}");
    text
}

/// An authority of now (OpenSSL verifies as of now), in a directory that has its root and the data.
fn world(signer: SignerKind) -> (DevTsa, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let options = DevTsaOptions { signer, ..DevTsaOptions::default() };
    let tsa = DevTsa::open(&directory.path().join("tsa"), options).unwrap();
    fs::write(directory.path().join("data"), DATA).unwrap();
    (tsa, directory)
}

#[test]
fn openssl_verifies_what_it_asked_for() {
    if !openssl_is_there() {
        return;
    }
    let (tsa, directory) = world(SignerKind::P256);
    let directory = directory.path();
    // For tokens without certificates.
    let signer = token(&tsa.respond(&request(HashAlgorithm::Sha256).to_der(), tsa.now()));
    fs::write(directory.join("signer.der"), Token::parse(&signer).unwrap().certificates[0])
        .unwrap();
    openssl_agrees(
        directory,
        &["x509", "-inform", "DER", "-in", "signer.der", "-out", "signer.pem"],
    );

    let policy = POLICY.to_string();
    for hash in ["-sha256", "-sha384", "-sha512"] {
        for nonce in [&[][..], &["-no_nonce"]] {
            for policy in [&[][..], &["-tspolicy", &policy]] {
                for cert_req in [&["-cert"][..], &[]] {
                    let query = ["ts", "-query", "-data", "data", hash, "-out", "tsq"];
                    let query = [&query, nonce, policy, cert_req].concat();
                    openssl_agrees(directory, &query);
                    let request = fs::read(directory.join("tsq")).unwrap();
                    fs::write(directory.join("tsr"), tsa.respond(&request, tsa.now())).unwrap();
                    let verify = ["ts", "-verify", "-in", "tsr", "-CAfile", "tsa/root.pem"];
                    let untrusted: &[&str] =
                        if cert_req.is_empty() { &["-untrusted", "signer.pem"] } else { &[] };
                    for expected in [&["-queryfile", "tsq"], &["-data", "data"]] {
                        let verify = [&verify, untrusted, expected].concat();
                        let text = openssl_agrees(directory, &verify);
                        assert!(text.contains("Verification: OK"), "{text}");
                    }
                }
            }
        }
    }
}

#[test]
fn openssl_refuses_what_it_did_not_ask_for() {
    if !openssl_is_there() {
        return;
    }
    let ((tsa, directory), (other, elsewhere)) = (world(SignerKind::P256), world(SignerKind::P256));
    let directory = directory.path();
    let stamped = tsa.respond(&request(HashAlgorithm::Sha256).to_der(), tsa.now());
    fs::write(directory.join("tsr"), &stamped).unwrap();
    fs::write(directory.join("other"), b"something else").unwrap();
    let verify = |data: &str, root: &Path| {
        let root = root.to_str().unwrap();
        openssl(directory, &["ts", "-verify", "-in", "tsr", "-data", data, "-CAfile", root])
    };
    assert!(verify("data", tsa.root_path()).status.success());
    assert!(!verify("other", tsa.root_path()).status.success());
    assert!(!verify("data", other.root_path()).status.success());
    drop(elsewhere);
}

#[test]
fn openssl_shows_what_we_say() {
    if !openssl_is_there() {
        return;
    }
    let (tsa, directory) = world(SignerKind::P256);
    let directory = directory.path();
    let stamped = tsa.respond(&request(HashAlgorithm::Sha256).to_der(), tsa.now());
    fs::write(directory.join("tsr"), stamped).unwrap();
    let text = openssl_agrees(directory, &["ts", "-reply", "-in", "tsr", "-text"]);
    for expected in [
        "Status: Granted.",
        WARNING,
        "Policy OID: 1.3.6.1.4.1.32473.3161.1",
        "Accuracy: 0x01 seconds, unspecified millis, unspecified micros",
        "Ordering: no",
        "/CN=Anchorlog DEVELOPMENT TSA - DO NOT TRUST",
    ] {
        assert!(text.contains(expected), "{expected:?} isn't in {text}");
    }
    let refusals: [(&[u8], &str); 2] = [
        (b"nonsense", "Failure info: the data submitted has the wrong format"),
        (&[0x30, 3, 2, 1, 2], "Failure info: transaction not permitted or supported"),
    ];
    for (request, failure) in refusals {
        fs::write(directory.join("tsr"), tsa.respond(request, tsa.now())).unwrap();
        let text = openssl_agrees(directory, &["ts", "-reply", "-in", "tsr", "-text"]);
        assert!(text.contains("Status: Rejected.") && text.contains(failure), "{text}");
    }
}

/// `openssl ts` of 3.0 knows no Ed25519 tokens. What they are made of it does know.
#[test]
fn openssl_verifies_the_parts_of_an_ed25519_token() {
    if !openssl_is_there() {
        return;
    }
    let (tsa, directory) = world(SignerKind::Ed25519);
    let directory = directory.path();
    let stamped = token(&tsa.respond(&request(HashAlgorithm::Sha256).to_der(), tsa.now()));
    let stamped = Token::parse(&stamped).unwrap();
    fs::write(directory.join("signer.der"), stamped.certificates[0]).unwrap();
    fs::write(directory.join("attributes"), stamped.signer.attributes.as_received()).unwrap();
    fs::write(directory.join("signature"), stamped.signer.signature).unwrap();
    for command in [
        "x509 -inform DER -in signer.der -out signer.pem",
        "verify -x509_strict -purpose timestampsign -CAfile tsa/root.pem signer.pem",
        "pkeyutl -verify -certin -inkey signer.pem -rawin -in attributes -sigfile signature",
    ] {
        openssl_agrees(directory, &command.split(' ').collect::<Vec<_>>());
    }
}

#[test]
fn openssl_reads_our_keys_and_finds_our_certificates_strict() {
    if !openssl_is_there() {
        return;
    }
    for (signer, file) in
        [(SignerKind::P256, "tsa/tsa-p256.pem"), (SignerKind::Ed25519, "tsa/tsa-ed25519.pem")]
    {
        let (_tsa, directory) = world(signer);
        let verify = ["verify", "-x509_strict", "-purpose", "timestampsign", "-check_ss_sig"];
        let verify = [&verify[..], &["-CAfile", "tsa/root.pem", file]].concat();
        openssl_agrees(directory.path(), &verify);
        for file in [file, "tsa/root-key.pem"] {
            let key = openssl_agrees(directory.path(), &["pkey", "-in", file, "-pubout"]);
            let certified =
                openssl_agrees(directory.path(), &["x509", "-in", file, "-noout", "-pubkey"]);
            assert_eq!(key, certified);
        }
    }
}
