//! Tokens that `openssl ts` made, with a CA and an authority of its own, before our verifier.
//!
//! Without `openssl` these tests are skipped, unless `ANCHORLOG_REQUIRE_PEERS=1` forbids to go on without.

mod authority;

use std::time::{SystemTime, UNIX_EPOCH};

use anchorlog_proto::timestamp::{
    GenTime, HashAlgorithm, Imprint, TimestampRequest, TimestampResponse,
};
use anchorlog_tests::world::verifier;
use anchorlog_verifier::timestamp::{
    Expected, Note, Rules, Supplied, TokenFailure, TrustEntry, VerifiedToken, verify_response,
    verify_token,
};

use authority::{Authority, DATA, DEFAULT_POLICY, MANNERS, Manner, OTHER_POLICY, Query};

const RSA_2048: &str = "-algorithm RSA -pkeyopt rsa_keygen_bits:2048";
const P256: &str = "-algorithm EC -pkeyopt ec_paramgen_curve:P-256";
const P384: &str = "-algorithm EC -pkeyopt ec_paramgen_curve:P-384";
const HASHES: [&str; 3] = ["sha256", "sha384", "sha512"];

#[test]
fn tokens_of_openssl_with_rsa_2048_hold() {
    matrix(RSA_2048);
}

#[test]
fn tokens_of_openssl_with_p256_hold() {
    matrix(P256);
}

#[test]
fn tokens_of_openssl_with_p384_hold() {
    matrix(P384);
}

/// The digest that is signed, the digest of the imprint, and what a request may name or leave out, all with
/// all; the manners of the authority take turns.
fn matrix(key: &str) {
    if !authority::openssl_is_there() {
        return;
    }
    let (peer, stranger) = (Peer::new(key), Peer::new(key));
    let mut manners = MANNERS.iter().cycle();
    let mut verified = 0;
    for digest in HASHES {
        for hash in HASHES {
            for options in 0..8 {
                let [certificates, nonce, policy] = [1, 2, 4].map(|bit| options & bit != 0);
                let query = Query { hash, certificates, nonce, policy };
                let manner = *manners.next().unwrap();
                let about = format!("{key}, {digest}, {query:?}, {manner:?}");
                let (request, response) = peer.authority.stamp(manner, digest, query);
                let request = TimestampRequest::parse(&request).unwrap();
                let token = peer.verify(&response, &request);
                let token = token.unwrap_or_else(|failure| panic!("{about}: {failure}"));
                says_what_was_asked(&token, manner, query, &about);
                refused_otherwise(&response, &request, &peer, &stranger, &about);
                verified += 1;
            }
        }
    }
    assert_eq!(verified, 72);
}

fn says_what_was_asked(token: &VerifiedToken, manner: Manner, query: Query, about: &str) {
    let policy = if query.policy { OTHER_POLICY } else { DEFAULT_POLICY };
    assert_eq!(token.policy().to_string(), policy, "{about}");
    assert_eq!(token.imprint(), &imprint(query.hash, DATA), "{about}");
    assert_eq!(
        token.accuracy().map(|accuracy| accuracy.microseconds()),
        manner.accuracy,
        "{about}"
    );
    assert_eq!(token.chain().len(), 3, "{about}");
    assert_eq!(token.notes().contains(&Note::EssSha1), manner.ess_v1, "{about}");
    assert_eq!(token.notes().contains(&Note::NoAccuracy), manner.accuracy.is_none(), "{about}");
    let step = 10_u32.pow(9 - manner.digits);
    assert_eq!(token.gen_time().nanoseconds() % step, 0, "{about}");
    assert!((now() - token.gen_time().unix_seconds()).abs() <= 60, "{about}");
}

/// The same bytes, asked about anything else or under anybody else's root, hold for nothing.
fn refused_otherwise(
    response: &[u8],
    request: &TimestampRequest,
    peer: &Peer,
    stranger: &Peer,
    about: &str,
) {
    let token = TimestampResponse::parse(response).unwrap().granted().unwrap().to_vec();
    let sound = Expected {
        imprint: request.imprint.clone(),
        nonce: request.nonce.clone(),
        policy: request.policy,
    };
    let refused = |expected: &Expected, judge: &Peer, reason: &str| {
        let outcome =
            verify_token(&token, expected, &judge.trust, &peer.supplied, &Rules::at(clock()));
        assert_eq!(outcome.map_err(|failure| failure.reason()).err(), Some(reason), "{about}");
    };
    let hash = request.imprint.algorithm().name();
    let other = imprint(hash, b"what nobody had");
    refused(&Expected { imprint: other, ..sound.clone() }, peer, "imprint.mismatch");
    let nonce = Some("0123456789abcdef01".parse().unwrap());
    let reason = if request.nonce.is_some() { "nonce.mismatch" } else { "nonce.missing" };
    refused(&Expected { nonce, ..sound.clone() }, peer, reason);
    let policy = Some("1.3.6.1.4.1.32473.3161.12".parse().unwrap());
    refused(&Expected { policy, ..sound.clone() }, peer, "policy.not-asked");
    // The stranger's root has the same name and another key.
    refused(&sound, stranger, "chain.signature");
    let unasked = TimestampRequest { cert_req: !request.cert_req, ..request.clone() };
    let reason = if request.cert_req { "certificates.unasked" } else { "certificate.absent" };
    let outcome = peer.verify(response, &unasked);
    assert_eq!(outcome.map_err(|failure| failure.reason()).err(), Some(reason), "{about}");
}

#[test]
fn the_program_verifies_what_openssl_made() {
    if !authority::openssl_is_there() {
        return;
    }
    for (index, key) in [RSA_2048, P256, P384].into_iter().enumerate() {
        let (authority, stranger) = (Authority::new(key), Authority::new(key));
        let (hash, manner) = (HASHES[index], MANNERS[index + 1]);
        let query = Query { hash, certificates: index != 1, nonce: true, policy: index == 2 };
        authority.stamp(manner, hash, query);
        let file = |name: &str| authority.path().join(name).to_str().unwrap().to_owned();
        let other_root = stranger.path().join("root.pem").to_str().unwrap().to_owned();
        let (response, request, root) = (file("tsr"), file("tsq"), file("root.pem"));
        let (issuing, signer) = (file("issuing.pem"), file("signer.pem"));
        let certs: &[&str] =
            if index == 1 { &["--certs", &issuing, "--certs", &signer] } else { &[] };
        let run = |about: [&str; 2], root: &str| {
            let fixed = ["token", &response, about[0], about[1], "--roots", root, "--json"];
            let ran = verifier(fixed.iter().chain(certs));
            let reason = ran.json()["findings"][0]["reason"].as_str().map(str::to_owned);
            (ran.code, reason)
        };
        let refused = |reason: &str| (1, Some(reason.to_owned()));
        assert_eq!(run(["--request", &request], &root).0, 0, "{key}");
        assert_eq!(run(["--data", &file("data")], &root).0, 0, "{key}");
        assert_eq!(run(["--data", &root], &root), refused("imprint.mismatch"), "{key}");
        assert_eq!(
            run(["--data", &file("data")], &other_root),
            refused("chain.signature"),
            "{key}"
        );
    }
}

/// An authority and what a verifier knows of it.
struct Peer {
    authority: Authority,
    trust: Vec<TrustEntry>,
    supplied: Supplied,
}

impl Peer {
    fn new(key: &str) -> Self {
        let authority = Authority::new(key);
        let trust = vec![TrustEntry::new("openssl", vec![authority.certificate("root")])];
        let certificates = ["issuing", "signer"].map(|name| authority.certificate(name)).to_vec();
        Self { authority, trust, supplied: Supplied { certificates, ..Supplied::default() } }
    }

    fn verify(
        &self,
        response: &[u8],
        request: &TimestampRequest,
    ) -> Result<VerifiedToken, TokenFailure> {
        verify_response(response, request, &self.trust, &self.supplied, &Rules::at(clock()))
    }
}

fn imprint(hash: &str, data: &[u8]) -> Imprint {
    let named = |one: &HashAlgorithm| one.name() == hash;
    Imprint::of_data(HashAlgorithm::ALL.into_iter().find(named).unwrap(), data)
}

fn clock() -> GenTime {
    GenTime::from_unix(now())
}

fn now() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(elapsed.as_secs()).unwrap()
}
