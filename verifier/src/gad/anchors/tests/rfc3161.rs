//! Tokens over the value itself.

use anchorlog_proto::Digest;
use anchorlog_proto::gad::policy::TsaRevocation;

use super::ROOT;
use crate::gad::anchors::rfc3161::too_many_certificates;
use crate::gad::anchors::testing::{
    Authority, CREDENTIALS, END, STRANGER, TSA_A, TSA_B, World, response,
};

fn one(path: &str, bytes: Vec<u8>) -> World {
    let mut world = World::new();
    world.add(path, ROOT, bytes);
    world
}

fn root() -> Digest {
    Digest::of(b"root")
}

#[test]
fn the_name_says_which_form_a_file_has() {
    let token = TSA_A.token(&root(), END + 60, 10);
    for status in [0, 1] {
        assert_eq!(one("anchors/a.tsr", response(status, &token)).judge().states(), ["verified"]);
    }
    assert_eq!(one("anchors/a.tst", token.clone()).judge().states(), ["verified"]);
    let parse = ["TSA.PARSE", "ANC.PRESENT_INVALID", "ANC.REQUIRED_MISSING"];
    for (path, bytes) in [
        ("anchors/a.tsr", token.clone()),
        ("anchors/a.tst", response(0, &token)),
        ("anchors/a.der", token.clone()),
        ("anchors/tst", token.clone()),
        ("anchors/a.tst", [&token[..], &[0]].concat()),
        ("anchors/a.tst", Vec::new()),
    ] {
        let judged = one(path, bytes).judge();
        assert_eq!(judged.codes(), parse, "{path}");
        assert_eq!(judged.states(), ["failed"]);
    }
}

#[test]
fn a_response_has_to_be_granted_if_its_issuer_is_known() {
    let refused = response(2, &TSA_A.token(&root(), END + 60, 10));
    let expected = ["TSA.STATUS", "ANC.PRESENT_INVALID", "ANC.REQUIRED_MISSING"];
    assert_eq!(one("anchors/a.tsr", refused).judge().codes(), expected);
    // Without a token there is no issuer to be unknown.
    assert_eq!(one("anchors/a.tsr", response(2, &[])).judge().codes(), expected);
    let refused = response(2, &STRANGER.token(&root(), END + 60, 10));
    let judged = one("anchors/a.tsr", refused).judge();
    assert_eq!(judged.codes(), ["(ANC.UNTRUSTED_ISSUER)", "ANC.REQUIRED_MISSING"]);
}

#[test]
fn names_decide_whose_a_token_is() {
    let token = |by: Authority, certificates: &[Vec<u8>]| {
        by.token_with(&root(), END + 60, 10, certificates)
    };
    // An embedded root is no trust.
    let own = [STRANGER.signer_der(), STRANGER.root_der()];
    let judged = one("anchors/a.tst", token(STRANGER, &own)).judge();
    assert_eq!(judged.codes(), ["(ANC.UNTRUSTED_ISSUER)", "ANC.REQUIRED_MISSING"]);
    assert_eq!(judged.states(), ["unsupported"]);
    // Even one that is broken besides: nothing else is looked at.
    let broken = STRANGER.token(&Digest::of(b"other"), END + 60, 10);
    assert_eq!(one("anchors/a.tst", broken).judge().states(), ["unsupported"]);
    // The names of a known one, other keys.
    let forged = Authority { name: "TSA A", root: 11, signer: 12 };
    let own = [forged.signer_der(), forged.root_der()];
    let judged = one("anchors/a.tst", token(forged, &own)).judge();
    assert_eq!(judged.codes(), ["TSA.CHAIN", "ANC.PRESENT_INVALID", "ANC.REQUIRED_MISSING"]);
    // The signer's certificate is nowhere, or beside.
    let bare = token(TSA_A, &[]);
    let mut world = one("anchors/a.tst", bare);
    let expected = ["TSA.CERT_ABSENT", "ANC.PRESENT_INVALID", "ANC.REQUIRED_MISSING"];
    assert_eq!(world.judge().codes(), expected);
    world.trust.push(("signer".to_owned(), TSA_A.signer_der()));
    assert_eq!(world.judge().codes(), [""; 0]);
    // A root in the directory that the policy doesn't name is no trust.
    let mut world = one("anchors/a.tst", token(STRANGER, &[STRANGER.signer_der()]));
    world.trust.push(("root".to_owned(), STRANGER.root_der()));
    assert_eq!(world.judge().states(), ["unsupported"]);
}

#[test]
fn a_root_for_something_else_is_no_root_for_time() {
    let mut world = one("anchors/a.tst", CREDENTIALS.token(&root(), END + 60, 10));
    let authority = anchorlog_proto::gad::policy::CredentialAuthority {
        id: "ca".into(),
        keys: Vec::new(),
        roots: vec![Digest::of(&CREDENTIALS.root_der())],
    };
    world.policy.credential_authorities = vec![authority];
    // As long as the root isn't at hand, nobody knows the name.
    assert_eq!(world.judge().states(), ["unsupported"]);
    world.trust.push(("ca".to_owned(), CREDENTIALS.root_der()));
    let expected = ["TSA.ROOT_PURPOSE", "ANC.PRESENT_INVALID", "ANC.REQUIRED_MISSING"];
    assert_eq!(world.judge().codes(), expected);
}

#[test]
fn what_the_policy_asks_of_a_token_is_asked() {
    let invalid = |code: &str| vec![code.to_owned(), "ANC.PRESENT_INVALID".to_owned()];
    let judge = |world: &World| {
        let mut codes = world.judge().codes();
        codes.retain(|code| code != "ANC.REQUIRED_MISSING");
        codes
    };
    let other = TSA_A.token(&Digest::of(b"other"), END + 60, 10);
    assert_eq!(judge(&one("anchors/a.tst", other)), invalid("TSA.IMPRINT"));
    let wide = TSA_A.token(&root(), END + 60, 61);
    assert_eq!(judge(&one("anchors/a.tst", wide)), invalid("TSA.ACCURACY"));
    let future = TSA_A.token(&root(), crate::gad::anchors::testing::AT + 301, 10);
    assert_eq!(judge(&one("anchors/a.tst", future)), invalid("TSA.FUTURE"));

    let mut world = one("anchors/a.tst", TSA_A.token(&root(), END + 60, 10));
    world.policy.tsa[0].end = Some(END + 60);
    assert_eq!(judge(&world), [""; 0]);
    world.policy.tsa[0].end = Some(END + 59);
    assert_eq!(judge(&world), invalid("TSA.POLICY_WINDOW"));
    world.policy.tsa[0].end = None;
    world.policy.tsa[0].policies = vec!["1.2.3.4.2".parse().unwrap()];
    assert_eq!(judge(&world), invalid("TSA.POLICY_OID"));
    world.policy.tsa[0].policies.clear();
    world.policy.tsa_revocation = TsaRevocation::Required;
    assert_eq!(judge(&world), invalid("TSA.REVOCATION_UNKNOWN"));
    world.policy.tsa_revocation = TsaRevocation::Supplied;
    assert_eq!(judge(&world), [""; 0]);
}

#[test]
fn a_root_that_is_not_at_hand_makes_its_authority_unknown() {
    let mut world = one("anchors/a.tst", TSA_A.token(&root(), END + 60, 10));
    world.trust.retain(|(name, _)| name != "a");
    assert_eq!(world.judge().codes(), ["(ANC.UNTRUSTED_ISSUER)", "ANC.REQUIRED_MISSING"]);
}

#[test]
fn certificates_are_counted_in_every_form() {
    let all = vec![TSA_A.signer_der(), TSA_A.root_der(), TSA_B.root_der()];
    let token = TSA_A.token_with(&root(), END + 60, 10, &all);
    for (path, bytes) in [
        ("anchors/a.tst", token.clone()),
        ("anchors/a.tsr", response(0, &token)),
        (
            "anchors/a.json",
            format!(
                "{{\"timestamps\":[\"{}\"]}}",
                anchorlog_proto::encoding::base64_encode(&token)
            )
            .into_bytes(),
        ),
    ] {
        let world = one(path, bytes.clone());
        let row = &world.envelope.anchors[0];
        assert!(!too_many_certificates(row, &bytes, 3), "{path}");
        assert!(too_many_certificates(row, &bytes, 2), "{path}");
    }
    // More than are ever read.
    let many = vec![TSA_A.signer_der(); 33];
    let token = TSA_A.token_with(&root(), END + 60, 10, &many);
    let world = one("anchors/a.tst", token.clone());
    assert!(too_many_certificates(&world.envelope.anchors[0], &token, 1000));
    assert_eq!(world.judge().codes()[0], "IN.LIMIT_COUNT");
    assert!(!too_many_certificates(&world.envelope.anchors[0], b"none", 0));
}
