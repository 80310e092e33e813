//! Digests on any number of threads; keys and attestations among the members.

#![allow(clippy::disallowed_methods, reason = "tests build their own worlds on disk")]

use anchorlog_proto::encoding::hex_encode;
use anchorlog_proto::gad::operator::Credential;
use anchorlog_proto::gad::{Defects, Limits};
use anchorlog_proto::json::{Object, Value};
use anchorlog_proto::signed_object::SigningKey;

use super::*;
use crate::gad::container::Form;
use crate::gad::container::tests::{codes, names, open_vector, vectors};

const ALL: fn(&str) -> bool = |_| true;

fn threads(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).unwrap()
}

fn bundle(members: Vec<(&str, Vec<u8>)>) -> Bundle {
    let members = members.into_iter().map(|(path, bytes)| (path.to_owned(), bytes));
    Bundle::in_memory(members, Form::Directory, &Limits::DEFAULT).unwrap()
}

fn survey(members: Vec<(&str, Vec<u8>)>) -> Survey {
    Survey::of(&bundle(members), ALL, threads(2)).unwrap()
}

#[test]
fn digests_do_not_depend_on_threads_and_sizes() {
    let sizes = [0, 1, 65535, 65536, 65537, 1 << 20, (1 << 20) + 1, 3 << 20];
    let paths: Vec<_> = (0..sizes.len()).map(|number| format!("core/artifacts/{number}")).collect();
    let members: Vec<_> =
        paths.iter().zip(sizes).map(|(path, size)| (&**path, vec![b'x'; size])).collect();
    let bundle = bundle(members.clone());
    let expected: Vec<_> = members.iter().map(|(path, it)| (*path, Digest::of(it))).collect();
    for count in [1, 2, 3, 64] {
        let survey = Survey::of(&bundle, ALL, threads(count)).unwrap();
        assert_eq!(survey.digests().collect::<Vec<_>>(), expected);
    }
    let some = Survey::of(&bundle, |path| path.ends_with('3'), threads(2)).unwrap();
    assert_eq!(some.digests().collect::<Vec<_>>(), expected[3..4]);
    assert_eq!((some.digest(expected[3].0), some.digest("x")), (Some(expected[3].1), None));
    let none = Survey::of(&bundle, |_| false, threads(2)).unwrap();
    assert_eq!(none.digests().count(), 0);
}

#[test]
fn members_that_cannot_be_read_are_all_found() {
    let root = tempfile::TempDir::new().unwrap();
    let names = ["a", "b", "c", "d"];
    for name in names {
        std::fs::write(root.path().join(name), name).unwrap();
    }
    let bundle = Bundle::open(root.path(), &Limits::DEFAULT).unwrap();
    std::fs::remove_file(root.path().join("b")).unwrap();
    std::fs::write(root.path().join("d"), "longer").unwrap();
    for count in [1, 4] {
        let findings = Survey::of(&bundle, ALL, threads(count)).unwrap_err();
        let places: Vec<_> =
            findings.list().iter().map(|it| it.place.member.as_deref().unwrap()).collect();
        assert_eq!((codes(&findings), places), (vec!["IN.OPEN".to_owned(); 2], vec!["b", "d"]));
        assert!(findings.affects(Affect::Outcome) && findings.affects(Affect::R1e));
    }
}

/// The plan of a base record and the seeds of its keys, which are public: they sign test vectors.
fn plan_and_seed() -> Option<(Plan, [u8; 32])> {
    let bundle = open_vector(&vectors()?.join("V01"), &Limits::DEFAULT).unwrap();
    let bytes = bundle.read_whole("core/plan.json").unwrap();
    let value = parse(&bytes, &ReadLimits::DEFAULT).unwrap();
    let plan = Plan::read(&value, &Limits::DEFAULT, &mut Defects::new()).unwrap();
    Some((plan, *Digest::of(b"gad test key engine").as_bytes()))
}

fn keys(survey: &Survey, plan: Option<&Plan>, operator: Option<&Operator>) -> Vec<String> {
    let mut findings = Findings::new();
    survey.key_material(plan, operator, false, &mut findings);
    assert!(findings.list().iter().all(|finding| finding.affects == [Affect::Note]));
    let mut strict = Findings::new();
    survey.key_material(plan, operator, true, &mut strict);
    assert!(strict.list().iter().all(|finding| finding.affects == [Affect::Defensible]));
    assert_eq!(codes(&findings), codes(&strict));
    assert!(findings.list().iter().all(|finding| finding.code.as_str() == "HYG.KEY_MATERIAL"));
    let path = |finding: &GadFinding| finding.place.member.as_deref().unwrap().to_owned();
    findings.list().iter().map(path).collect()
}

#[test]
fn a_seed_is_key_material_when_it_derives_a_known_key() {
    let Some((plan, seed)) = plan_and_seed() else { return };
    let own = [9; 32];
    let survey = survey(vec![
        ("anchors/raw.tst", seed.to_vec()),
        ("core/artifacts/hex", hex_encode(&seed).into_bytes()),
        ("core/artifacts/nobody", vec![8; 32]),
        ("core/artifacts/own", own.to_vec()),
        ("core/artifacts/text", b"no key".to_vec()),
    ]);
    let key = SigningKey::from_seed(&own).public_key();
    let operator = Operator {
        identity: "".into(),
        credential: Credential { key, key_id: key.id() },
        implementation: "".into(),
        unit: "".into(),
        engagement: "".into(),
    };
    assert_eq!(keys(&survey, None, None), [""; 0]);
    let registered = ["anchors/raw.tst", "core/artifacts/hex"];
    assert_eq!(keys(&survey, Some(&plan), None), registered);
    assert_eq!(keys(&survey, None, Some(&operator)), ["core/artifacts/own"]);
    let both = [registered.as_slice(), &["core/artifacts/own"]].concat();
    assert_eq!(keys(&survey, Some(&plan), Some(&operator)), both);
}

#[test]
fn a_private_key_is_key_material_whoever_uses_it() {
    use ed25519_dalek::pkcs8::EncodePrivateKey;
    let der = ed25519_dalek::SigningKey::from_bytes(&[7; 32]).to_pkcs8_der().unwrap();
    let mut large = der.as_bytes().to_vec();
    large.resize(1 << 20 | 1, 0);
    let survey = survey(vec![
        ("core/artifacts/key", der.as_bytes().to_vec()),
        ("core/artifacts/large", large),
    ]);
    assert_eq!(keys(&survey, None, None), ["core/artifacts/key"]);
}

#[test]
fn an_attestation_has_no_place_in_a_core() {
    let key = SigningKey::from_seed(&[1; 32]);
    let sign = |name: &str| {
        let object = SignedObject::sign(name, Object::from([("x", Value::Integer(1))]), &key);
        object.to_canonical()
    };
    let q = sign("attestation");
    let spaced = [b" \n".as_slice(), &q].concat();
    let mut broken = q.clone();
    broken.truncate(q.len() - 1);
    let listed = [b"[".as_slice(), &q, b"]"].concat();
    let survey = survey(vec![
        ("attestations/q.json", q.clone()),
        ("core/artifacts/broken", broken),
        ("core/artifacts/listed", listed),
        ("core/artifacts/other", sign("verdict")),
        ("core/artifacts/q", q),
        ("core/artifacts/spaced", spaced),
        ("core/artifacts/text", b"{\"body\":{\"type\":\"attestation\"}}".to_vec()),
    ]);
    let found = survey.attestations_in_core();
    assert_eq!(found, ["core/artifacts/q".into(), "core/artifacts/spaced".into()]);
}

#[test]
fn base_records_hold_no_keys_and_no_attestations_where_they_should_not() {
    let Some(vectors) = vectors() else { return };
    for name in names(&vectors).iter().filter(|name| name.starts_with('V')) {
        let bundle = open_vector(&vectors.join(name), &Limits::DEFAULT).unwrap();
        let survey = Survey::of(&bundle, ALL, threads(2)).unwrap();
        assert!(survey.keys.values().all(|key| *key != KeyMaterial::PrivateKey), "{name}");
        assert!(survey.attestations_in_core().is_empty(), "{name}");
        let inside = bundle.members().filter(|(path, _)| path.starts_with("attestations/")).count();
        assert_eq!(survey.attestations.len(), inside, "{name}");
    }
}
