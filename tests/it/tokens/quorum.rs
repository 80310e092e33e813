//! Several tokens over one thing: operators are counted, tokens aren't.

use anchorlog_proto::timestamp::{HashAlgorithm, Imprint};
use anchorlog_tests::forge::{Case, Form, cases};
use anchorlog_verifier::timestamp::{
    Certificate, Expected, MAX_TOKENS, Rules, Supplied, TrustEntry, verify_quorum,
};

#[test]
fn distinct_operators_count_and_bad_tokens_spoil_nothing() {
    let sound = case("token-alone");
    let Case { bytes: token, given, .. } = &sound;
    let roots: Vec<_> =
        given.trust[0].roots.iter().map(|der| Certificate::parse(der).unwrap()).collect();
    let trust = [TrustEntry::new("one", roots.clone()), TrustEntry::new("two", roots)];
    let expected =
        Expected::over(Imprint::new(HashAlgorithm::Sha256, given.digest.clone()).unwrap());
    let judge = |tokens: &[&[u8]]| {
        verify_quorum(tokens, &expected, &trust, &Supplied::default(), &Rules::default())
    };
    // The second is refused, and the third is the first again: one operator, by the first entry that fits.
    let quorum = judge(&[token, b"no token", token]).unwrap();
    assert_eq!(
        quorum.outcomes().iter().map(Result::is_ok).collect::<Vec<_>>(),
        [true, false, true]
    );
    assert_eq!(quorum.operators().into_iter().collect::<Vec<_>>(), ["one"]);
    assert!(quorum.reaches(1) && !quorum.reaches(2));
    assert!(!judge(&[]).unwrap().reaches(1));
    let most = vec![token.as_slice(); MAX_TOKENS];
    assert_eq!(judge(&most).unwrap().verified().count(), MAX_TOKENS);
    let more = vec![token.as_slice(); MAX_TOKENS + 1];
    assert_eq!(judge(&more).unwrap_err().reason(), "parse.count");
}

fn case(name: &str) -> Case {
    let case = cases().into_iter().find(|case| case.name == name).unwrap();
    assert_eq!(case.form, Form::Token);
    case
}
