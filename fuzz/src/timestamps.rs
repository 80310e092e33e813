//! What must hold for any bytes that are to be time stamps, certificates or revocation lists.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use anchorlog_proto::timestamp::element::{Element, Elements};
use anchorlog_proto::timestamp::{
    GenTime, HashAlgorithm, Imprint, TimestampRequest, TimestampResponse, Token, TstInfo, ber,
};
use anchorlog_verifier::timestamp::path::{Path, Root, find_path};
use anchorlog_verifier::timestamp::revocation::{
    Crl, Evidence, OcspResponse, RevocationError, RevocationMode, RevocationRules, check_revocation,
};
use anchorlog_verifier::timestamp::signature::Sha1;
use anchorlog_verifier::timestamp::{
    Allow, Certificate, Expected, Rules, Supplied, TrustEntry, verify_token,
};

use crate::forge::{Case, Expected as Answer, cases};

/// The forge's cases.
pub static CASES: LazyLock<Vec<Case>> = LazyLock::new(cases);

/// Every root that the forge's sound tokens lead to.
static ROOTS: LazyLock<Vec<Certificate>> = LazyLock::new(|| {
    let sound = CASES.iter().filter(|case| matches!(case.expected, Answer::Holds { .. }));
    let ders: BTreeSet<_> =
        sound.flat_map(|case| &case.given.trust).flat_map(|one| &one.roots).collect();
    ders.into_iter().filter_map(|der| Certificate::parse(der).ok()).collect()
});

/// What stands in the forge's tokens: only these contents have ever been signed.
static SIGNED: LazyLock<BTreeSet<Vec<u8>>> =
    LazyLock::new(|| CASES.iter().flat_map(|case| contents(&case.bytes)).collect());

fn contents(bytes: &[u8]) -> Option<Vec<u8>> {
    let rewritten = ber::response_to_der(bytes).or_else(|| ber::token_to_der(bytes));
    let bytes = rewritten.as_deref().unwrap_or(bytes);
    let token = TimestampResponse::parse(bytes).ok().and_then(|response| response.token);
    Token::parse(token.unwrap_or(bytes)).ok().map(|token| token.content.to_vec())
}

/// Requests are written back the same, unless they had extensions; responses and their rewriting end.
pub fn timestamp_response(bytes: &[u8]) {
    if let Ok(request) = TimestampRequest::parse(bytes) {
        assert_eq!(TimestampRequest::parse(&request.to_der()), Ok(request));
    }
    if let Some(rewritten) = ber::response_to_der(bytes) {
        assert_eq!(ber::response_to_der(&rewritten), None, "DER is rewritten once");
    }
    let Ok(response) = TimestampResponse::parse(bytes) else { return };
    if let Ok(token) = response.granted() {
        assert!(response.status.is_granted() && response.token == Some(token));
        let _ = Token::parse(token);
    }
}

/// Soundness: whatever token verifies, its content is one that the forge has signed.
pub fn timestamp_token(bytes: &[u8]) {
    if let Some(rewritten) = ber::token_to_der(bytes) {
        assert_eq!(ber::token_to_der(&rewritten), None, "DER is rewritten once");
    }
    let rewritten = ber::token_to_der(bytes);
    let Ok(token) = Token::parse(rewritten.as_deref().unwrap_or(bytes)) else { return };
    let Some(algorithm) = HashAlgorithm::from_oid(&token.info.imprint_algorithm.oid) else {
        return;
    };
    let Ok(imprint) = Imprint::new(algorithm, token.info.imprint.to_vec()) else { return };
    let trust = [TrustEntry::new("forge", ROOTS.clone())];
    let allow = Allow { sha1: true, ber: true, noncritical_eku: true };
    let rules = Rules { allow, ..Rules::default() };
    let expected = Expected::over(imprint);
    if verify_token(bytes, &expected, &trust, &Supplied::default(), &rules).is_ok() {
        assert!(SIGNED.contains(token.content), "a token that nobody signed");
    }
}

/// A TSTInfo's time is written back as it was read.
pub fn tst_info(bytes: &[u8]) {
    let Ok(info) = TstInfo::parse(bytes) else { return };
    let text = info.gen_time.to_generalized_time().expect("a year of four digits");
    assert_eq!(GenTime::parse(text.as_bytes()), Some(info.gen_time));
    assert!(bytes.windows(text.len()).any(|window| window == text.as_bytes()));
    assert!(info.accuracy.is_none_or(|accuracy| !accuracy.to_string().is_empty()));
}

/// A path starts with the first certificate, ends at a root, and consists of what was given.
pub fn certificate_path(bytes: &[u8]) {
    let Some(elements) = Elements::new(bytes).and_then(|elements| elements.collect_all(16)) else {
        return;
    };
    let read = elements.iter().filter_map(|element| Certificate::parse(element.raw()).ok());
    let certificates: Vec<_> = read.collect();
    let Some((signer, candidates)) = certificates.split_first() else { return };
    let roots: Vec<_> = ROOTS.iter().cloned().map(Root::new).collect();
    let Ok(path) = find_path(signer, candidates, &roots, signer.not_before(), Sha1::Refused) else {
        return;
    };
    assert_eq!(path.digests().first(), Some(&signer.fingerprint()));
    assert!(roots.iter().any(|root| Some(&root.digest()) == path.digests().last()));
    assert!(path.certificates().len() <= 8);
}

/// The signed part of a revocation list or of an OCSP response.
fn signed_part(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut outer = Element::parse(bytes)?.elements()?;
    let first = outer.next()?;
    let Some(wrapped) = outer.next().filter(|_| outer.is_empty()) else {
        // A list is signed data, algorithm and signature.
        return Some(first.raw().to_vec());
    };
    // A response wraps its signed data: status, [0] { SEQUENCE { type, OCTET STRING } }.
    let mut typed = Element::parse(wrapped.value())?.elements()?;
    typed.next()?;
    let basic = Element::parse(typed.next()?.octets()?)?;
    Some(basic.elements()?.next()?.raw().to_vec())
}

/// Soundness: evidence about revocation changes what is known only if an authority of the forge signed it.
pub fn revocation(bytes: &[u8]) {
    static SIGNER: LazyLock<(Certificate, Vec<Certificate>, Vec<Root>)> = LazyLock::new(|| {
        let case =
            CASES.iter().find(|case| !case.given.crls.is_empty()).expect("a case with a CRL");
        let token = TimestampResponse::parse(&case.bytes).expect("a response");
        let token = Token::parse(token.token.expect("a token")).expect("a token");
        let mut bag: Vec<_> =
            token.certificates.iter().filter_map(|der| Certificate::parse(der).ok()).collect();
        let position =
            bag.iter().position(|one| !one.extensions().basic_constraints.is_some_and(|b| b.ca));
        let signer = bag.remove(position.expect("a signer"));
        (signer, bag, ROOTS.iter().cloned().map(Root::new).collect())
    });
    let (signer, bag, roots) = &*SIGNER;
    let at = signer.not_before();
    let path: Path<'_> =
        find_path(signer, bag, roots, at, Sha1::Refused).expect("the forge's path");
    let mut evidence = Evidence::default();
    evidence.crls.extend(Crl::parse(bytes));
    evidence.ocsp.extend(OcspResponse::parse(bytes));
    let rules = RevocationRules { mode: RevocationMode::Required, ..RevocationRules::default() };
    static SIGNED_EVIDENCE: LazyLock<BTreeSet<Vec<u8>>> = LazyLock::new(|| {
        let all = CASES.iter().flat_map(|case| case.given.crls.iter().chain(&case.given.ocsp));
        all.filter_map(|der| signed_part(der)).collect()
    });
    match check_revocation(&path, at, &evidence, &rules) {
        Err(RevocationError::Unknown { .. }) => {}
        told => {
            let part = signed_part(bytes).expect("what tells something is of its form");
            assert!(SIGNED_EVIDENCE.contains(&part), "evidence that nobody signed: {told:?}");
        }
    }
}
