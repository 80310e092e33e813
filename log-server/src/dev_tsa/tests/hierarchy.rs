//! What is kept, and renewed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anchorlog_proto::timestamp::Token;
use der::Decode as _;
use x509_cert::Certificate;

use super::*;
use crate::keys::KeyFileError;

/// An authority in `directory` whose certificates are good for a hundred seconds.
fn open(directory: &Path, signer: SignerKind, after: u64) -> Result<DevTsa, DevTsaError> {
    let options = DevTsaOptions {
        signer,
        certificate_validity: Duration::from_secs(100),
        root_validity: Duration::from_secs(1000),
        clock: Clock::of(move || at(after)),
    };
    DevTsa::open(directory, options)
}

fn certificate(tsa: &DevTsa, now: SystemTime) -> Certificate {
    let token = token(&tsa.respond(&request(HashAlgorithm::Sha256).to_der(), now));
    Certificate::from_der(Token::parse(&token).unwrap().certificates[0]).unwrap()
}

#[test]
fn the_files_are_kept_and_keys_are_private() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("deep/tsa");
    let tsa = open(&path, SignerKind::P256, 0).unwrap();
    let (root, signer) = (tsa.root_pem().to_owned(), certificate(&tsa, at(1)));
    assert_eq!(fs::read_to_string(tsa.root_path()).unwrap(), root);
    assert!(matches!(open(&path, SignerKind::P256, 0), Err(DevTsaError::Lock(_))));
    drop(tsa);

    let mode = |name: &str| fs::metadata(path.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("root-key.pem"), mode("tsa-p256.pem")), (0o600, 0o600));
    assert_ne!(mode("root.pem") & 0o400, 0);
    assert!(!fs::read_to_string(path.join("root.pem")).unwrap().contains("PRIVATE"));

    // The copy for everybody is made again if it is lost or isn't the root.
    for found in ["", "something else"] {
        fs::write(path.join("root.pem"), found).unwrap();
        let tsa = open(&path, SignerKind::P256, 2).unwrap();
        assert_eq!((tsa.root_pem(), certificate(&tsa, at(2))), (&*root, signer.clone()));
        assert_eq!(fs::read_to_string(tsa.root_path()).unwrap(), root);
    }

    // Another signer, the same root.
    let tsa = open(&path, SignerKind::Ed25519, 3).unwrap();
    assert_eq!(tsa.root_pem(), root);
    assert_ne!(certificate(&tsa, at(3)), signer);
    assert_eq!(mode("tsa-ed25519.pem"), 0o600);
}

#[test]
fn files_that_are_something_else_are_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    drop(open(path, SignerKind::P256, 0).unwrap());
    let file = path.join("root-key.pem");
    let (root, signer) = (fs::read(&file).unwrap(), fs::read(path.join("tsa-p256.pem")).unwrap());
    let key_of_one_certificate_of_another = {
        let end = b"-----END PRIVATE KEY-----\n";
        let cut = |file: &[u8]| file.windows(end.len()).position(|at| at == end).unwrap();
        [&root[..cut(&root)], &signer[cut(&signer)..]].concat()
    };
    for content in [&b"nothing"[..], &root[..root.len() / 2], &key_of_one_certificate_of_another] {
        fs::write(&file, content).unwrap();
        let error = open(path, SignerKind::P256, 0).unwrap_err();
        assert!(matches!(error, DevTsaError::Malformed { .. }), "{error}");
        assert_eq!(fs::read(&file).unwrap(), content);
    }
    fs::write(&file, root).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let error = open(path, SignerKind::P256, 0).unwrap_err();
    assert!(matches!(error, DevTsaError::Key(KeyFileError::Exposed { .. })), "{error}");
}

#[test]
fn the_certificate_is_renewed_in_its_last_quarter_below_the_same_root() {
    for signer in SIGNERS {
        let directory = tempfile::tempdir().unwrap();
        let tsa = open(directory.path(), signer, 0).unwrap();
        let first = certificate(&tsa, at(0));
        assert_eq!(certificate(&tsa, at(74)), first);
        let second = certificate(&tsa, at(80));
        assert_ne!(second, first);
        let of = |certificate: &Certificate| {
            let tbs = certificate.tbs_certificate();
            let key = tbs.subject_public_key_info().clone();
            (tbs.validity().not_before.to_system_time(), tbs.issuer().clone(), key)
        };
        let ((start, issuer, key), (new_start, new_issuer, new_key)) = (of(&first), of(&second));
        assert_eq!(new_start.duration_since(start).unwrap(), Duration::from_secs(80));
        assert_eq!(issuer, new_issuer);
        assert_ne!(key, new_key);
        // Whole seconds: the quarter was of the clock's, 250 ms later.
        assert_eq!(tsa.certificate_not_after(), at(180) - Duration::from_millis(250));
        drop(tsa);
        assert_eq!(certificate(&open(directory.path(), signer, 81).unwrap(), at(81)), second);
        // Long after it has run out.
        let tsa = open(directory.path(), signer, 500).unwrap();
        assert_ne!(certificate(&tsa, at(500)), second);
    }
}

#[test]
fn no_certificate_outlives_the_root() {
    let directory = tempfile::tempdir().unwrap();
    let tsa = open(directory.path(), SignerKind::P256, 0).unwrap();
    let last = certificate(&tsa, at(950));
    let end = at(1000) - Duration::from_millis(250);
    assert_eq!(tsa.certificate_not_after(), end);
    // It isn't made anew for every token.
    assert_eq!(certificate(&tsa, at(999)), last);
    drop(tsa);
    assert_eq!(certificate(&open(directory.path(), SignerKind::P256, 999).unwrap(), at(999)), last);
    let error = open(directory.path(), SignerKind::P256, 1001).unwrap_err();
    assert!(matches!(error, DevTsaError::RootExpired { .. }), "{error}");
}

#[test]
fn another_validity_makes_another_certificate() {
    let directory = tempfile::tempdir().unwrap();
    let first = certificate(&open(directory.path(), SignerKind::P256, 0).unwrap(), at(0));
    let clock = Clock::of(|| at(1));
    for (seconds, possible) in [(50, true), (100, true), (1, false), (u64::MAX, false)] {
        let certificate_validity = Duration::from_secs(seconds);
        let options = DevTsaOptions {
            certificate_validity,
            clock: clock.clone(),
            ..DevTsaOptions::default()
        };
        match DevTsa::open(directory.path(), options) {
            Ok(tsa) => {
                assert!(possible);
                assert_ne!(certificate(&tsa, at(1)), first);
                let end = tsa.certificate_not_after().duration_since(at(1)).unwrap();
                assert_eq!(end.as_millis(), u128::from(seconds) * 1000 - 250);
            }
            Err(error) => {
                assert!(matches!(error, DevTsaError::Validity { .. }) && !possible, "{error}");
            }
        }
    }
}

#[test]
fn a_clock_that_goes_is_followed() {
    let directory = tempfile::tempdir().unwrap();
    let time = Arc::new(AtomicU64::new(0));
    let shown = Arc::clone(&time);
    let options = DevTsaOptions {
        clock: Clock::of(move || at(shown.load(Ordering::Relaxed))),
        certificate_validity: Duration::from_secs(2),
        ..DevTsaOptions::default()
    };
    let tsa = DevTsa::open(directory.path(), options).unwrap();
    let mut certificates = Vec::new();
    for seconds in 0..6 {
        time.store(seconds, Ordering::Relaxed);
        let certificate = certificate(&tsa, tsa.now());
        let validity = certificate.tbs_certificate().validity();
        assert!(validity.not_before.to_system_time() <= tsa.now());
        assert!(validity.not_after.to_system_time() >= tsa.now());
        certificates.push(certificate);
    }
    certificates.dedup();
    assert_eq!(certificates.len(), 3);
}

#[test]
fn a_full_disk_keeps_the_old_certificate_in_use() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("tsa");
    let tsa = open(&path, SignerKind::P256, 0).unwrap();
    let first = certificate(&tsa, at(0));
    // As good as full: the new file has nowhere to go.
    fs::remove_dir_all(&path).unwrap();
    assert_eq!(certificate(&tsa, at(90)), first);
    let response = tsa.respond(&request(HashAlgorithm::Sha256).to_der(), at(101));
    let response = TimestampResponse::parse(&response).unwrap();
    assert_eq!(response.failure, anchorlog_proto::timestamp::FailInfo::SYSTEM_FAILURE);
}
