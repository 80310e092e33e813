#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use super::*;
use crate::json::{ReadLimits, canonical, parse};

fn claim() -> TypedClaim {
    TypedClaim {
        predicate: "gad/test_passed".into(),
        subject: Subject { plan_hash: Digest::of(b"plan"), node: Some("n1".into()), test_id: None },
        evidence: vec![EvidenceRef::Entry(5), EvidenceRef::Anchor(AnchorKind::CoreRoot)],
        class: EvidenceClass::Proxy,
        noncoverage: Some(vec![Noncoverage { aspect: "scope".into(), text: "t".into() }]),
        issuer: IssuerType::Machine,
        signed: None,
    }
}

fn key() -> SigningKey {
    SigningKey::from_seed(&[4; 32])
}

fn text(claims: &[TypedClaim]) -> String {
    let claims = claims.iter().cloned().map(Some).collect();
    String::from_utf8(canonical(&Claims { registry_known: true, claims }.to_value())).unwrap()
}

fn read(text: &str) -> (Option<Claims>, Vec<String>) {
    let value = parse(text.as_bytes(), &ReadLimits::DEFAULT).unwrap();
    let mut defects = Defects::new();
    let claims = Claims::read(&value, &Limits::DEFAULT, &mut defects);
    let list = defects.list().iter();
    (claims, list.map(|d| format!("{} {}", d.code.as_str(), d.pointer)).collect())
}

/// The one claim with one replacement, and the defects.
fn changed(text: &str, from: &str, to: &str) -> (Option<TypedClaim>, Vec<String>) {
    assert!(text.contains(from), "{from}");
    let (claims, defects) = read(&text.replacen(from, to, 1));
    (claims.unwrap().claims.remove(0), defects)
}

#[test]
fn claims_read_and_write_back() {
    let human = claim().signed_by(Digest::of(b"plan"), &key());
    assert_eq!(human.issuer, IssuerType::Human);
    let text = text(&[claim(), human.clone()]);
    let (claims, defects) = read(&text);
    assert_eq!(defects, [""; 0]);
    let claims = claims.unwrap();
    assert_eq!(claims.claims, [Some(claim()), Some(human)]);
    assert_eq!(canonical(&claims.to_value()), text.into_bytes());
    let signed = claims.claims[1].as_ref().unwrap().signed.as_ref().unwrap();
    assert!(signed.type_agrees);
    assert_eq!((signed.key_id, signed.plan_hash), (Some(key().id()), Some(Digest::of(b"plan"))));
    key().public_key().verify(&signed.message, &signed.signature.unwrap()).unwrap();
}

#[test]
fn a_claim_that_is_not_of_the_form_has_no_defect_of_its_own() {
    for (from, to) in [
        ("\"predicate_id\":\"gad/test_passed\"", "\"predicate_id\":\"\""),
        ("\"evidence_class\":\"proxy\"", "\"evidence_class\":\"sure\""),
        ("\"issuer_type\":\"machine\"", "\"issuer_type\":1"),
        ("\"kind\":\"anchor\"", "\"kind\":\"hearsay\""),
        ("\"seq\":5", "\"seq\":-5"),
        ("\"node\":\"n1\"", "\"node\":\"!\""),
        ("sha256:", "sha1:"),
        (",\"test_id\":null", ""),
        ("\"evidence_class\":\"proxy\",", ""),
        ("{\"evidence_class\"", "7,{\"evidence_class\""),
        ("{\"evidence_class\"", "{\"ext\":0,\"evidence_class\""),
    ] {
        let (claim, defects) = changed(&text(&[claim()]), from, to);
        assert_eq!((claim, defects), (None, vec![]), "{to}");
    }
}

#[test]
fn members_that_no_table_lists_are_refused_wherever_they_stand() {
    for (from, place) in [
        ("{\"evidence_class\"", ""),
        ("{\"node\"", "/subject_ref"),
        ("{\"kind\":\"entry\"", "/evidence_refs/0"),
    ] {
        let with = from.replacen('{', "{\"a\":0,", 1);
        let (claim, defects) = changed(&text(&[claim()]), from, &with);
        let expected = format!("J.UNKNOWN_FIELD /claims/0{place}/a");
        assert_eq!((claim, defects), (None, vec![expected]));
    }
    let (claim, defects) =
        changed(&text(&[claim()]), "{\"evidence_class\"", "{\"ext\":{},\"evidence_class\"");
    assert!(claim.is_some() && defects.is_empty());
}

#[test]
fn a_noncoverage_that_is_wrong_is_left_out() {
    let good = "[{\"aspect\":\"scope\",\"text\":\"t\"}]";
    for wrong in [
        "null",
        "[{\"aspect\":\"everything\",\"text\":\"t\"}]",
        "[{\"aspect\":\"scope\",\"text\":\"\"}]",
        "[{\"aspect\":\"scope\",\"text\":\"t\",\"x\":1}]",
        "[7]",
    ] {
        let (claim, defects) = changed(&text(&[claim()]), good, wrong);
        assert_eq!(defects, [""; 0]);
        assert_eq!(claim.unwrap().noncoverage, None, "{wrong}");
    }
    let (claim, _) = changed(&text(&[claim()]), &format!("\"noncoverage\":{good},"), "");
    assert_eq!(claim.unwrap().noncoverage, None);
    let (claim, _) = changed(&text(&[self::claim()]), good, "[]");
    assert_eq!(claim.unwrap().noncoverage, Some(vec![]));
}

#[test]
fn a_human_claim_keeps_what_is_wrong_with_its_signature() {
    let text = text(&[claim().signed_by(Digest::of(b"plan"), &key())]);
    let (claim, defects) = changed(&text, "\"signature\":\"", "\"signature\":\"A");
    assert_eq!(defects, ["J.B64_FORM /claims/0/signature"]);
    assert_eq!(claim.unwrap().signed.unwrap().signature, None);
    let (claim, defects) = changed(&text, "typed_claim", "verdict");
    assert!(defects.is_empty() && !claim.unwrap().signed.unwrap().type_agrees);
    // The members every signed body has belong to the form.
    for (from, to) in [("gadk1:", "x"), ("\"type\":\"typed_claim\"", "\"type\":1")] {
        assert_eq!(changed(&text, from, to), (None, vec![]));
    }
    let (claim, defects) = changed(&text, ",\"type\":\"typed_claim\"", "");
    assert_eq!((claim, defects), (None, vec![]));
    // Something else than {body, signature} is neither of the two.
    let (claim, defects) = changed(&text, "\"signature\"", "\"Signature\"");
    assert_eq!(claim, None);
    assert!(defects.iter().all(|defect| defect.starts_with("J.UNKNOWN_FIELD")), "{defects:?}");
}

#[test]
fn the_list_itself_has_the_codes_of_the_form() {
    let good = text(&[]);
    assert!(read(&good).1.is_empty());
    let (claims, defects) = read(&good.replace("gad.registry/1", "gad.registry/2"));
    assert!(!claims.unwrap().registry_known && defects.is_empty());
    let (claims, defects) = read(&good.replace("\"registry\":\"gad.registry/1\",", ""));
    assert!(!claims.unwrap().registry_known && defects.is_empty());
    assert_eq!(read(&good.replace("claims/1", "claims/2")).1, ["J.ENUM /schema"]);
    assert_eq!(read(&good.replace("[]", "{}")), (None, vec!["J.TYPE /claims".into()]));
    let mut limits = Limits::DEFAULT;
    limits.elements = 1;
    let mut defects = Defects::new();
    let value =
        parse(good.replace("[]", "[1,2]").as_bytes(), &ReadLimits::DEFAULT).unwrap().into_owned();
    assert_eq!(Claims::read(&value, &limits, &mut defects), None);
    assert_eq!(defects.list()[0].pointer, "/claims");
}

#[test]
fn aspects_ascend() {
    assert!(ASPECTS.is_sorted_by(|a, b| a < b));
}
