//! Our tokens before the verifier of this workspace: its strictest rules, and nothing allowed.

use anchorlog_proto::timestamp::Token;
use anchorlog_verifier::timestamp::{
    Certificate, Expected, Rules, Supplied, TrustEntry, VerifiedToken, verify_response,
    verify_token,
};

use super::*;

fn trust(tsa: &DevTsa) -> Vec<TrustEntry> {
    let root = Certificate::parse(tsa.root_der()).unwrap();
    vec![TrustEntry::new("development", vec![root]).under_policies(vec![POLICY]).with_accuracy_s(1)]
}

/// Verifies the answer as of the time at which it was asked for.
fn verified(tsa: &DevTsa, request: &TimestampRequest, signer: Option<&[u8]>) -> VerifiedToken {
    let response = tsa.respond(&request.to_der(), at(0));
    let certificates = signer.map(|signer| Certificate::parse(signer).unwrap());
    let supplied =
        Supplied { certificates: certificates.into_iter().collect(), ..Supplied::default() };
    let token = TimestampResponse::parse(&response).unwrap().granted().unwrap();
    let time = Token::parse(token).unwrap().info.gen_time;
    verify_response(&response, request, &trust(tsa), &supplied, &Rules::at(time)).unwrap()
}

#[test]
fn every_token_holds() {
    for signer in SIGNERS {
        let (tsa, _directory) = tsa(signer);
        let with_certificate = token(&tsa.respond(&request(HashAlgorithm::Sha256).to_der(), at(0)));
        let certificate = Token::parse(&with_certificate).unwrap().certificates[0].to_vec();
        for hash in HASHES {
            for nonce in [None, Some("00"), Some("80")] {
                for policy in [None, Some(POLICY)] {
                    for cert_req in [true, false] {
                        let nonce = nonce.map(|nonce| nonce.parse().unwrap());
                        let request = TimestampRequest { policy, nonce, cert_req, ..request(hash) };
                        let supplied = (!cert_req).then_some(&*certificate);
                        let token = verified(&tsa, &request, supplied);
                        assert_eq!(token.operator(), "development");
                        assert_eq!(token.policy(), POLICY);
                        assert_eq!(token.imprint(), &request.imprint);
                        assert_eq!(token.chain().len(), 2);
                        assert_eq!(token.notes(), []);
                    }
                }
            }
        }
    }
}

#[test]
fn no_token_holds_under_another_root() {
    let ((tsa, _a), (other, _b)) = (tsa(SignerKind::P256), tsa(SignerKind::P256));
    let request = request(HashAlgorithm::Sha256);
    let stamped = token(&tsa.respond(&request.to_der(), at(0)));
    let verify = |trust: &[TrustEntry], expected: Expected| {
        let time = Token::parse(&stamped).unwrap().info.gen_time;
        verify_token(&stamped, &expected, trust, &Supplied::default(), &Rules::at(time))
            .map_err(|failure| failure.reason())
    };
    let expected = Expected::over(request.imprint.clone());
    assert!(verify(&trust(&tsa), expected.clone()).is_ok());
    assert_eq!(verify(&trust(&other), expected.clone()).unwrap_err(), "chain.no-path");
    assert_eq!(verify(&[], expected).unwrap_err(), "chain.no-path");
    let another = Expected::over(Imprint::of_data(HashAlgorithm::Sha256, b"something else"));
    assert_eq!(verify(&trust(&tsa), another).unwrap_err(), "imprint.mismatch");
}

/// What renewal is for: the token outlives its certificate, and tells until when that was good.
#[test]
fn a_token_tells_when_its_certificate_runs_out() {
    let directory = tempfile::tempdir().unwrap();
    let options = DevTsaOptions {
        certificate_validity: Duration::from_secs(2),
        clock: Clock::of(|| at(0)),
        ..DevTsaOptions::default()
    };
    let tsa = DevTsa::open(directory.path(), options).unwrap();
    let request = request(HashAlgorithm::Sha256);
    let end = |token: &VerifiedToken| token.signer_not_after().unix_seconds();
    let first = verified(&tsa, &request, None);
    assert_eq!(end(&first), first.gen_time().unix_seconds() + 2);
    let response = tsa.respond(&request.to_der(), at(2));
    let rules = Rules::default();
    let second =
        verify_response(&response, &request, &trust(&tsa), &Supplied::default(), &rules).unwrap();
    assert_eq!(end(&second), end(&first) + 2);
    assert_ne!(second.chain()[0], first.chain()[0]);
    assert_eq!(second.chain()[1], first.chain()[1]);
}
