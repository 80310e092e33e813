//! Manifests of our own, and those of the corpus.

use core::num::NonZeroUsize;

use anchorlog_proto::gad::core_manifest::{CoreMember, Seal};
use anchorlog_proto::gad::{Defects, Limits};
use anchorlog_proto::json::{ReadLimits, parse};

use super::*;
use crate::gad::container::Form;
use crate::gad::container::tests::{codes, must_codes, names, open_vector, vectors};

const TWO: NonZeroUsize = NonZeroUsize::new(2).unwrap();

/// A manifest that lists these paths with these texts, in the roles of their paths.
pub(in crate::gad) fn manifest(members: &[(&str, &str)]) -> CoreManifest {
    let row = |(path, text): &(&str, &str)| CoreMember {
        path: (*path).into(),
        role: ROLES
            .iter()
            .find(|(_, own)| own == path)
            .map_or(CoreRole::Artifact, |(role, _)| *role),
        size: u64::try_from(text.len()).unwrap(),
        digest: Digest::of(text.as_bytes()),
    };
    CoreManifest {
        spec_version: "1.3".into(),
        seal: Seal::Final,
        witness_count: 0,
        witness_head: Digest::of(b""),
        members: members.iter().map(row).collect(),
    }
}

const MEMBERS: &[(&str, &str)] = &[
    ("artifacts/a", "a"),
    ("artifacts/b", "b"),
    ("operator.json", "o"),
    ("plan.json", "p"),
    ("witness.jsonl", "w"),
];

/// The findings for these files under this manifest: code, member, pointer.
fn check(files: &[(&str, &str)], manifest: &CoreManifest) -> Vec<(&'static str, String, String)> {
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
    let files = files.chain([("manifest.json".to_owned(), vec![])]);
    let bundle = Bundle::in_memory(files, Form::Core, &Limits::DEFAULT).unwrap();
    let survey = Survey::of(&bundle, |_| true, TWO).unwrap();
    let mut findings = Findings::new();
    check_members(&bundle, manifest, &survey, &mut findings);
    let text = |text: &Option<Box<str>>| text.as_deref().unwrap_or_default().to_owned();
    let row = |finding: &GadFinding| {
        let place = &finding.place;
        (finding.code.as_str(), text(&place.member), text(&place.pointer))
    };
    findings.list().iter().map(row).collect()
}

fn row(code: &'static str, member: &str, pointer: &str) -> (&'static str, String, String) {
    (code, member.to_owned(), pointer.to_owned())
}

#[test]
fn a_manifest_that_lists_what_is_there_is_fine() {
    assert_eq!(check(MEMBERS, &manifest(MEMBERS)), []);
    let with_claims = [MEMBERS, &[("claims.json", "c")]].concat();
    assert_eq!(check(&with_claims, &manifest(&with_claims)), []);
}

#[test]
fn members_are_those_that_are_listed_with_their_bytes() {
    let listed = manifest(MEMBERS);
    let mut files = MEMBERS.to_vec();
    files[0] = ("artifacts/a", "A");
    files[1] = ("artifacts/b", "bb");
    files[3] = ("artifacts/stray", "");
    let expected = [
        row("R1.MANIFEST.HASH", "core/artifacts/a", ""),
        row("R1.MANIFEST.SIZE", "core/artifacts/b", ""),
        row("R1.MANIFEST.HASH", "core/artifacts/b", ""),
        row("R1.MANIFEST.ABSENT_MEMBER", "core/plan.json", ""),
        row("R1.MANIFEST.UNLISTED_MEMBER", "core/artifacts/stray", ""),
    ];
    assert_eq!(check(&files, &listed), expected);
}

#[test]
fn the_manifest_does_not_list_itself() {
    let listed = [&MEMBERS[..2], &[("manifest.json", "")], &MEMBERS[2..]].concat();
    let expected = [row("R1.MANIFEST.SELF", MANIFEST, "/members/2")];
    assert_eq!(check(MEMBERS, &manifest(&listed)), expected);
}

#[test]
fn every_role_is_there_once_and_on_its_own_path() {
    let missing = "R1.MANIFEST.ROLE_MISSING";
    for (position, (name, _)) in MEMBERS.iter().enumerate().skip(2) {
        let mut files = MEMBERS.to_vec();
        files.remove(position);
        assert_eq!(
            check(&files, &manifest(&files)),
            [row(missing, MANIFEST, "/members")],
            "{name}"
        );

        // Listed as an artifact.
        let mut listed = manifest(MEMBERS);
        listed.members[position].role = CoreRole::Artifact;
        let own = format!("/members/{position}/role");
        let expected = [row(missing, MANIFEST, "/members"), row(missing, MANIFEST, &own)];
        assert_eq!(check(MEMBERS, &listed), expected, "{name}");
    }
    // An artifact in a role of which there is one already.
    for role in [CoreRole::Plan, CoreRole::Witness, CoreRole::Operator] {
        let mut listed = manifest(MEMBERS);
        listed.members[0].role = role;
        let expected =
            [row(missing, MANIFEST, "/members"), row(missing, MANIFEST, "/members/0/role")];
        assert_eq!(check(MEMBERS, &listed), expected);
    }
    let mut listed = manifest(MEMBERS);
    listed.members[0].role = CoreRole::Claims;
    assert_eq!(check(MEMBERS, &listed), [row(missing, MANIFEST, "/members/0/role")]);
    let files = [MEMBERS, &[("notes.txt", "")]].concat();
    assert_eq!(check(&files, &manifest(&files)), [row(missing, MANIFEST, "/members/5/role")]);
}

#[test]
fn a_member_that_nobody_read_is_not_the_listed_one() {
    let files = MEMBERS.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
    let bundle = Bundle::in_memory(files, Form::Core, &Limits::DEFAULT).unwrap();
    let mut findings = Findings::new();
    check_members(&bundle, &manifest(MEMBERS), &Survey::new(), &mut findings);
    assert_eq!(codes(&findings), ["R1.MANIFEST.HASH"; 5]);
}

#[test]
fn roots_artifacts_and_absence() {
    let mut findings = Findings::new();
    let root = Digest::of(b"root");
    check_root(root, None, &mut findings);
    check_root(root, Some(root), &mut findings);
    assert!(findings.is_empty());
    check_root(root, Some(Digest::of(b"other")), &mut findings);
    unbound(["artifacts/a"], &mut findings);
    missing(&mut findings);
    let found: Vec<_> = findings.list().iter().map(|finding| finding.code.as_str()).collect();
    assert_eq!(found, ["R1.ROOT_CORE", "R1.ARTIFACT.UNBOUND", "R1.MANIFEST.MISSING"]);
    assert_eq!(findings.list()[1].place, Where::member("core/artifacts/a"));

    let mut survey = Survey::new();
    let facts = crate::gad::artifacts::MemberFacts::of(b"not a");
    survey.add("core/artifacts/a", facts);
    survey.add("core/plan.json", facts);
    let listed = manifest(MEMBERS);
    let artifacts: Vec<_> = artifacts(&listed, &survey).collect();
    assert_eq!(artifacts, [("artifacts/a", Digest::of(b"not a"))]);
}

/// The codes of [`check_members`] that a vector demands, and no other one where it demands none.
#[test]
fn corpus_manifests_have_the_findings_they_must() {
    let Some(vectors) = vectors() else { return };
    let (mut clean, mut found) = (0, Vec::new());
    for name in names(&vectors) {
        let Ok(bundle) = open_vector(&vectors.join(&name), &Limits::DEFAULT) else { continue };
        let Ok(bytes) = bundle.read_whole(MANIFEST) else { continue };
        let Ok(value) = parse(&bytes, &ReadLimits::DEFAULT) else { continue };
        let mut defects = Defects::new();
        let Some(manifest) = CoreManifest::read(&value, &Limits::DEFAULT, &mut defects) else {
            continue;
        };
        let mut paths = Findings::new();
        bundle.check_paths(Some(&manifest), None, &mut paths);
        if !paths.is_empty() {
            assert_eq!((&*name, codes(&paths)), ("X047", vec!["IN.PATH_TRAVERSAL".into()]));
            continue;
        }
        let survey = Survey::of(&bundle, |_| true, TWO).unwrap();
        let mut findings = Findings::new();
        check_members(&bundle, &manifest, &survey, &mut findings);
        let mut must = must_codes(&vectors.join(&name), "R1.MANIFEST.");
        must.retain(|code| code != "R1.MANIFEST.DUP" && code != "R1.MANIFEST.MISSING");
        let codes = codes(&findings);
        assert!(must.iter().all(|code| codes.contains(code)), "{name}: {codes:?}");
        if must.is_empty() {
            clean += 1;
            assert!(codes.is_empty() || !name.starts_with('V'), "{name}: {codes:?}");
        } else {
            found.push(name);
        }
    }
    assert!(clean > 200, "{clean}");
    assert_eq!(found, ["X002", "X004", "X040", "X040c", "X263"]);
}
