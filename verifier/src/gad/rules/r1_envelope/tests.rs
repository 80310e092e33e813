//! Envelopes of our own, and those of the corpus.

use core::num::NonZeroUsize;

use anchorlog_proto::gad::Defects;
use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::core_manifest::root_core;
use anchorlog_proto::gad::entry::Signed;
use anchorlog_proto::gad::envelope::{AnchorRow, AnchorType, OperatorSeal, root_envelope};
use anchorlog_proto::gad::names::{AnchorKind, ProvenanceLayer};
use anchorlog_proto::gad::payload::Malformed;
use anchorlog_proto::json::{ReadLimits, parse};

use super::*;
use crate::gad::container::Form;
use crate::gad::container::tests::{codes, must_codes, names, open_vector, vectors};

const TWO: NonZeroUsize = NonZeroUsize::new(2).unwrap();

fn item((path, text): &(&str, &str)) -> ItemRow {
    ItemRow { path: (*path).into(), digest: Digest::of(text.as_bytes()) }
}

fn root() -> Digest {
    Digest::of(b"core")
}

/// A manifest that lists these paths with these texts.
pub(in crate::gad) fn manifest(
    anchors: &[(&str, &str)],
    attestations: &[(&str, &str)],
) -> EnvelopeManifest {
    let anchor = |row| AnchorRow {
        item: item(row),
        anchor_type: Some(AnchorType::Tlog),
        kind: AnchorKind::CoreRoot,
        target: root(),
    };
    EnvelopeManifest {
        root_core: Some(root()),
        predecessor: Ok(None),
        layers: vec![ProvenanceLayer::SignedEntriesAndCheckpoints],
        heads: Some(vec![]),
        anchors: anchors.iter().map(anchor).collect(),
        attestations: attestations.iter().map(item).collect(),
        metadata: None,
        operator_seal: None,
    }
}

const ROOTS: fn() -> Roots =
    || Roots { core: Some(root()), envelope: Digest::of(b"envelope"), expected_envelope: None };

const ANCHORS: &[(&str, &str)] = &[("anchors/a.json", "a"), ("anchors/b.tsr", "b")];
const ATTESTATIONS: &[(&str, &str)] = &[("attestations/q.json", "q")];

fn ours() -> EnvelopeManifest {
    manifest(ANCHORS, ATTESTATIONS)
}

type Row = (&'static str, String);

/// The findings for these files: code and place.
fn check_files(files: &[(&str, &str)], manifest: &EnvelopeManifest) -> Vec<Row> {
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
    let files = files.chain([("core/manifest.json".to_owned(), vec![]), (ENVELOPE.into(), vec![])]);
    let bundle = Bundle::in_memory(files, Form::Directory, &Limits::DEFAULT).unwrap();
    let survey = Survey::of(&bundle, |_| true, TWO).unwrap();
    let mut findings = Findings::new();
    check(&bundle, manifest, &ROOTS(), &survey, &[], &mut findings);
    rows(&findings)
}

fn rows(findings: &Findings) -> Vec<Row> {
    let row = |finding: &GadFinding| {
        let pointer = finding.place.pointer.as_deref().unwrap_or_default();
        let place = format!("{}{pointer}", finding.place.member.as_deref().unwrap());
        (finding.code.as_str(), place)
    };
    findings.list().iter().map(row).collect()
}

fn row(code: &'static str, place: &str) -> Row {
    (code, place.to_owned())
}

fn files() -> Vec<(&'static str, &'static str)> {
    [ANCHORS, ATTESTATIONS].concat()
}

#[test]
fn an_envelope_that_lists_what_is_there_is_fine() {
    assert_eq!(check_files(&files(), &ours()), []);
}

#[test]
fn items_are_those_that_are_listed_with_their_bytes() {
    let mut files = files();
    files[0] = ("anchors/a.json", "A");
    files[1] = ("anchors/c.tsr", "b");
    files.push(("notes.txt", ""));
    let expected = [
        row("R1.ENV.ITEM_HASH", "anchors/a.json"),
        row("R1.ENV.ITEM_ABSENT", "anchors/b.tsr"),
        row("R1.ENV.ITEM_UNLISTED", "anchors/c.tsr"),
        row("R1.ENV.ITEM_UNLISTED", "notes.txt"),
    ];
    assert_eq!(check_files(&files, &ours()), expected);
}

#[test]
fn a_member_of_the_core_is_no_item() {
    let listed = manifest(ANCHORS, &[("attestations/q.json", "q"), ("core/manifest.json", "")]);
    let expected = [row("R1.ENV.ITEM_ABSENT", "core/manifest.json")];
    assert_eq!(check_files(&files(), &listed), expected);
}

#[test]
fn the_envelope_does_not_list_itself() {
    let listed = manifest(&[ANCHORS, &[(ENVELOPE, "")]].concat(), ATTESTATIONS);
    assert_eq!(check_files(&files(), &listed), [row("R1.ENV.SELF", "envelope.json/anchors/2")]);
    let listed = manifest(ANCHORS, &[ATTESTATIONS, &[(ENVELOPE, "x")]].concat());
    let expected = [row("R1.ENV.SELF", "envelope.json/attestations/1")];
    assert_eq!(check_files(&files(), &listed), expected);
}

#[test]
fn roots_are_recomputed_and_layers_declared() {
    for stated in [None, Some(Digest::of(b"other"))] {
        let mut manifest = ours();
        manifest.root_core = stated;
        let expected = [row("R1.ENV.ROOT_CORE", "envelope.json/root_core")];
        assert_eq!(check_files(&files(), &manifest), expected);
    }
    let mut findings = Findings::new();
    let mut roots = ROOTS();
    roots.expected_envelope = Some(roots.envelope);
    check_roots(&ours(), &roots, &mut findings);
    assert!(findings.is_empty());
    roots.expected_envelope = Some(root());
    roots.core = None;
    check_roots(&ours(), &roots, &mut findings);
    let expected = [
        row("R1.ENV.ROOT_CORE", "envelope.json/root_core"),
        row("R1.ENV.ROOT_ENVELOPE", "envelope.json"),
    ];
    assert_eq!(rows(&findings), expected);

    let mut manifest = ours();
    manifest.layers.clear();
    let expected = [row("R1.ENV.LAYERS_UNDECLARED", "envelope.json/provenance_layers")];
    assert_eq!(check_files(&files(), &manifest), expected);
    let mut findings = Findings::new();
    missing(&mut findings);
    assert_eq!(rows(&findings), [row("R1.ENV.MISSING", "envelope.json")]);
}

/// A seal that differs by its message.
fn seal(number: u8) -> OperatorSeal {
    let signed = Signed {
        type_agrees: true,
        plan_hash: None,
        key_id: None,
        signature: None,
        message: vec![number],
    };
    OperatorSeal { signed, root_core: Some(root()) }
}

#[test]
fn an_envelope_keeps_what_its_predecessors_held() {
    let lineage = |manifest: &EnvelopeManifest, predecessors: &[&Predecessor]| {
        let predecessors: Vec<_> = predecessors.iter().map(|it| (*it).clone()).collect();
        let mut findings = Findings::new();
        check_lineage(manifest, &predecessors, &mut findings);
        rows(&findings)
    };
    let first = Predecessor::of_manifest(Digest::of(b"E0"), manifest(&ANCHORS[..1], &[]));
    let mut second = Predecessor::of_manifest(Digest::of(b"E1"), manifest(ANCHORS, &[]));
    second.manifest.predecessor = Ok(Some(first.root_envelope));
    let mut third = ours();
    third.predecessor = Ok(Some(second.root_envelope));

    // As far as they are supplied, in any order.
    for supplied in
        [&[][..], &[&second], &[&first, &second], &[&second, &first], &[&second, &second]]
    {
        assert_eq!(lineage(&third, supplied), []);
    }
    // One that nobody names: without the one between, of another envelope, of the first of all.
    let mismatch = [row("R1.ENV.PREDECESSOR_MISMATCH", PREDECESSOR)];
    assert_eq!(lineage(&third, &[&first]), mismatch);
    assert_eq!(lineage(&ours(), &[&first]), mismatch);
    let other = Predecessor { root_envelope: Digest::of(b"x"), ..second.clone() };
    assert_eq!(lineage(&third, &[&other, &second]), mismatch);

    // An item that is gone, has other bytes, or went to the other list.
    let dropped = [row("R1.ENV.LINEAGE_DROPPED", "<predecessor>/anchors/0")];
    let renewed = [("anchors/a.json", "A"), ANCHORS[1]];
    for anchors in [&ANCHORS[1..], &renewed] {
        let mut third = manifest(anchors, &[ANCHORS[0]]);
        third.predecessor = Ok(Some(second.root_envelope));
        assert_eq!(lineage(&third, &[&second]), dropped);
    }
    // The core and the operator's seal are kept too.
    let mut other_core = third.clone();
    other_core.root_core = Some(Digest::of(b"another core"));
    let dropped_core = [row("R1.ENV.LINEAGE_DROPPED", "<predecessor>/root_core")];
    assert_eq!(lineage(&other_core, &[&second]), dropped_core);
    let mut sealed = second.clone();
    sealed.manifest.operator_seal = Some(seal(1));
    let dropped_seal = [row("R1.ENV.LINEAGE_DROPPED", "<predecessor>/operator_seal")];
    assert_eq!(lineage(&third, &[&sealed]), dropped_seal);
    let resealed = |number| {
        let mut third = third.clone();
        third.operator_seal = Some(seal(number));
        third
    };
    assert_eq!(lineage(&resealed(2), &[&sealed]), dropped_seal);
    assert_eq!(lineage(&resealed(1), &[&sealed]), []);
    // One that comes later is an addition.
    assert_eq!(lineage(&resealed(1), &[&second]), []);

    // Between two that came before.
    let mut between = second.clone();
    between.manifest.anchors.remove(0);
    assert_eq!(lineage(&third, &[&between, &first]), dropped);

    let mut malformed = ours();
    malformed.predecessor = Err(Malformed);
    let form = row("R1.ENV.PREDECESSOR_FORM", "envelope.json/predecessor");
    assert_eq!(lineage(&malformed, &[]), std::slice::from_ref(&form));
    assert_eq!(lineage(&malformed, &[&first]), [form, mismatch[0].clone()]);
}

#[test]
fn corpus_envelopes_have_the_findings_they_must() {
    let Some(vectors) = vectors() else { return };
    let (mut clean, mut found) = (0, Vec::new());
    for name in names(&vectors) {
        let vector = vectors.join(&name);
        let Ok(bundle) = open_vector(&vector, &Limits::DEFAULT) else { continue };
        let limits = ReadLimits::DEFAULT;
        let read = |bytes: &[u8]| {
            let value = parse(bytes, &limits).ok()?;
            EnvelopeManifest::read(&value, &Limits::DEFAULT, &mut Defects::new())
        };
        let Ok(bytes) = bundle.read_whole(ENVELOPE) else { continue };
        let Some(manifest) = read(&bytes) else { continue };
        let core = bundle.read_whole("core/manifest.json").unwrap();
        let survey = Survey::of(&bundle, |path| !path.starts_with(CORE), TWO).unwrap();
        let predecessors: Vec<_> = std::fs::read(vector.join("predecessor.json"))
            .into_iter()
            .map(|bytes| Predecessor::of_manifest(root_envelope(&bytes), read(&bytes).unwrap()))
            .collect();
        let roots = Roots {
            core: Some(root_core(&core)),
            envelope: root_envelope(&bytes),
            expected_envelope: None,
        };
        let mut findings = Findings::new();
        check(&bundle, &manifest, &roots, &survey, &predecessors, &mut findings);
        let mut must = must_codes(&vector, "R1.ENV.");
        must.retain(|code| code != "R1.ENV.ROOT_ENVELOPE" && code != "R1.ENV.MISSING");
        let codes = codes(&findings);
        assert!(must.iter().all(|code| codes.contains(code)), "{name}: {must:?} {codes:?}");
        if must.is_empty() {
            clean += 1;
            assert!(codes.is_empty() || !name.starts_with('V'), "{name}: {codes:?}");
        } else {
            found.push(name);
        }
    }
    assert!(clean > 200, "{clean}");
    assert_eq!(found, ["X043", "X045a", "X045b", "X286", "X328g"]);
}
