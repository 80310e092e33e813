//! Envelope manifests: what is refused, what is left to rules, and how an envelope is extended.

#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use super::*;
use crate::gad::changes::{changes, json, shown, text, with};
use crate::signed_object::{SignedObject, SigningKey};

fn full() -> EnvelopeManifest {
    let digest = |byte: u8| Digest::from_bytes([byte; 32]);
    let item = |path: &str| ItemRow { path: path.into(), digest: Digest::of(path.as_bytes()) };
    let body =
        Object::from([("plan_hash", digest(1).to_string()), ("root_core", digest(2).to_string())]);
    let seal = SignedObject::sign(OPERATOR_SEAL_TYPE, body, &SigningKey::from_seed(&[3; 32]));
    let seal = Value::Object(seal.into_owned());
    let mut defects = Defects::new();
    let operator_seal = OperatorSeal::read(&seal, &At::root(""), &mut defects);
    assert_eq!(shown(&defects), [""; 0]);
    EnvelopeManifest {
        root_core: Some(digest(2)),
        predecessor: Ok(Some(digest(4))),
        layers: ProvenanceLayer::ALL.to_vec(),
        heads: Some(vec![
            DeclaredHead { seq: 3, head: digest(5) },
            DeclaredHead { seq: 9, head: digest(6) },
        ]),
        anchors: vec![
            AnchorRow {
                item: item("anchors/a.json"),
                anchor_type: Some(AnchorType::Tlog),
                kind: AnchorKind::ChainHead,
                target: digest(5),
            },
            AnchorRow {
                item: item("anchors/b.tsr"),
                anchor_type: Some(AnchorType::Rfc3161),
                kind: AnchorKind::CoreRoot,
                target: digest(2),
            },
        ],
        attestations: vec![item("attestations/p.json"), item("attestations/q.json")],
        metadata: Some(Metadata { producer: "somebody".into(), created: 1_784_545_200 }),
        operator_seal,
    }
}

fn read(value: &Value<'_>) -> (Option<EnvelopeManifest>, Defects) {
    let mut defects = Defects::new();
    let manifest = EnvelopeManifest::read(value, &Limits::DEFAULT, &mut defects);
    (manifest, defects)
}

/// Nothing is refused here, and nothing is left for a rule to refuse.
fn is_whole(manifest: &EnvelopeManifest) -> bool {
    manifest.root_core.is_some()
        && manifest.predecessor.is_ok()
        && !manifest.layers.is_empty()
        && manifest.heads.is_some()
        && manifest.anchors.iter().all(|row| row.anchor_type.is_some())
        && manifest.operator_seal.as_ref().is_none_or(|seal| {
            seal.root_core.is_some() && seal.signed.type_agrees && seal.signed.signature.is_some()
        })
}

/// The defects after one place was replaced, and what was read.
fn after(pointer: &str, replacement: &str) -> (Vec<String>, Option<EnvelopeManifest>) {
    let (manifest, defects) = read(&with(&full().to_value(), pointer, replacement));
    (shown(&defects), manifest)
}

#[track_caller]
fn refused(pointer: &str, replacement: &str, expected: &[&str]) -> Option<EnvelopeManifest> {
    let (found, manifest) = after(pointer, replacement);
    assert_eq!(found, expected, "{pointer} = {replacement}");
    manifest
}

#[test]
fn what_is_written_reads_back() {
    let mut minimal = full();
    minimal.predecessor = Ok(None);
    minimal.heads = Some(Vec::new());
    minimal.anchors.clear();
    minimal.attestations.clear();
    minimal.operator_seal = None;
    for manifest in [full(), minimal] {
        assert!(is_whole(&manifest));
        let value = manifest.to_value();
        let (found, defects) = read(&value);
        assert_eq!(shown(&defects), [""; 0]);
        assert_eq!(found, Some(manifest));
    }
    let with_ext = with(&full().to_value(), "/ext", r#"{"ü":{"any":[true]}}"#);
    assert_eq!(read(&with_ext), (Some(full()), Defects::new()));
}

#[test]
fn every_change_of_one_place_is_noticed() {
    let changes = changes(&full().to_value());
    assert!(changes.len() > 90, "only {}", changes.len());
    for change in changes {
        // The seal is the one member that may be absent.
        if change.what == "removed /operator_seal" {
            continue;
        }
        let (manifest, defects) = read(&change.value);
        let whole = manifest.as_ref().is_some_and(is_whole) && defects.is_empty();
        assert!(!whole, "{}", change.what);
        // What isn't whole isn't written as if it were.
        if let Some(manifest) = manifest.filter(|manifest| !is_whole(manifest)) {
            let again = read(&manifest.to_value());
            let whole = again.0.as_ref().is_some_and(is_whole) && again.1.is_empty();
            assert!(!whole || !defects.is_empty(), "{}", change.what);
        }
    }
}

#[test]
fn another_schema_says_nothing_more() {
    for schema in ["\"gad.envelope-manifest/2\"", "1", "null"] {
        assert_eq!(refused("/schema", schema, &["R1.PROFILE.UNSUPPORTED /schema"]), None);
    }
    let (manifest, defects) = read(&json("{}"));
    assert_eq!(
        (manifest, shown(&defects)),
        (None, vec!["R1.PROFILE.UNSUPPORTED /schema".to_owned()])
    );
    let (manifest, defects) = read(&json("[]"));
    assert_eq!((manifest, shown(&defects)), (None, vec!["J.TYPE ".to_owned()]));
}

#[test]
fn what_rules_refuse_is_no_defect() {
    for wrong in ["false", "\"\"", "{}"] {
        assert_eq!(refused("/predecessor", wrong, &[]).unwrap().predecessor, Err(Malformed));
    }
    assert_eq!(refused("/predecessor", "null", &[]).unwrap().predecessor, Ok(None));
    assert!(refused("/provenance_layers", "[]", &[]).unwrap().layers.is_empty());
    let manifest = refused("/anchors/0/type", "\"rfc3162\"", &[]).unwrap();
    assert_eq!(manifest.anchors.first().unwrap().anchor_type, None);
    // With a defect besides, for whoever reads no rules.
    let manifest = refused("/root_core", "\"sha256:00\"", &["J.DIGEST_FORM /root_core"]);
    assert_eq!(manifest.unwrap().root_core, None);
    let manifest = refused("/anchors/0/type", "7", &["J.TYPE /anchors/0/type"]).unwrap();
    assert_eq!(manifest.anchors.first().unwrap().anchor_type, None);
}

#[test]
fn heads_ascend() {
    assert_eq!(refused("/declared_heads", "[]", &[]).unwrap().heads, Some(Vec::new()));
    for (pointer, wrong, code) in [
        ("/declared_heads", "{}", "J.TYPE"),
        ("/declared_heads/0", "1", "J.TYPE"),
        ("/declared_heads/0/seq", "-1", "J.ENUM"),
        ("/declared_heads/1/head", "\"\"", "J.DIGEST_FORM"),
        ("/declared_heads/1/zz", "1", "J.UNKNOWN_FIELD"),
    ] {
        refused(pointer, wrong, &[&format!("{code} {pointer}")]);
    }
    for seq in ["9", "10"] {
        let manifest = refused("/declared_heads/0/seq", seq, &["J.ENUM /declared_heads"]);
        assert_eq!(manifest.unwrap().heads, None);
    }
}

#[test]
fn layers_are_a_set_of_known_words() {
    let manifest = refused("/provenance_layers", "[\"hope\"]", &["J.ENUM /provenance_layers/0"]);
    assert!(manifest.unwrap().layers.is_empty());
    refused("/provenance_layers", "[7]", &["J.TYPE /provenance_layers/0"]);
    refused("/provenance_layers", "\"hope\"", &["J.TYPE /provenance_layers"]);
    let [a, b] = ["constructor_inspection", "runtime_attestation"];
    for wrong in [format!("[\"{b}\",\"{a}\"]"), format!("[\"{a}\",\"{b}\",\"{b}\"]")] {
        let manifest = refused("/provenance_layers", &wrong, &["J.ENUM /provenance_layers"]);
        let known = [ProvenanceLayer::ConstructorInspection, ProvenanceLayer::RuntimeAttestation];
        assert_eq!(manifest.unwrap().layers, known);
    }
}

#[test]
fn lists_ascend_and_have_limits() {
    let path = "\"attestations/a.json\"";
    let manifest = refused("/attestations/1/path", path, &["J.ENUM /attestations/1"]).unwrap();
    assert_eq!(manifest.attestations.len(), 2);
    refused("/attestations/1/path", "\"attestations/p.json\"", &["J.ENUM /attestations/1"]);
    refused("/anchors/0/path", "\"anchors/c.json\"", &["J.ENUM /anchors/1"]);
    // Only the rows that can't be read are missing.
    let manifest = refused("/anchors/0/kind", "\"root\"", &["J.ENUM /anchors/0/kind"]).unwrap();
    assert_eq!(manifest.anchors, full().anchors.split_off(1));
    refused("/anchors/1/target", "\"sha256:0\"", &["J.DIGEST_FORM /anchors/1/target"]);
    assert_eq!(refused("/anchors", "{}", &["J.TYPE /anchors"]), None);

    let mut limits = Limits { anchors: 2, attestations: 2, ..Limits::DEFAULT };
    let value = full().to_value();
    let mut defects = Defects::new();
    assert!(EnvelopeManifest::read(&value, &limits, &mut defects).is_some());
    limits.anchors = 1;
    limits.attestations = 1;
    assert_eq!(EnvelopeManifest::read(&value, &limits, &mut defects), None);
    assert_eq!(shown(&defects), ["IN.LIMIT_COUNT /anchors", "IN.LIMIT_COUNT /attestations"]);
}

#[test]
fn metadata_is_closed() {
    let manifest = refused("/metadata/producer", "\"\"", &["J.ENUM /metadata/producer"]);
    assert_eq!(manifest.unwrap().metadata, None);
    let long = format!("\"{}\"", "x".repeat(257));
    refused("/metadata/producer", &long, &["J.ENUM /metadata/producer"]);
    refused("/metadata/producer", &long.replacen('x', "", 1), &[]);
    refused("/metadata/created", "\"2026-02-30T00:00:00Z\"", &["J.TIME_FORM /metadata/created"]);
    refused("/metadata/ext", "{}", &["J.UNKNOWN_FIELD /metadata/ext"]);
}

#[test]
fn a_seal_that_is_not_whole_is_there_all_the_same() {
    let expected = ["J.DIGEST_FORM /operator_seal/body/root_core"];
    let manifest = refused("/operator_seal/body/root_core", "\"\"", &expected).unwrap();
    assert_eq!(manifest.operator_seal.unwrap().root_core, None);
    let manifest = refused("/operator_seal/body/type", "\"attestation\"", &[]).unwrap();
    assert!(!manifest.operator_seal.unwrap().signed.type_agrees);
    let expected = ["J.B64_FORM /operator_seal/signature"];
    let manifest = refused("/operator_seal/signature", "\"AAAA\"", &expected).unwrap();
    assert_eq!(manifest.operator_seal.unwrap().signed.signature, None);
    let expected = ["J.UNKNOWN_FIELD /operator_seal/body/ext"];
    refused("/operator_seal/body/ext", "{}", &expected);
    let manifest = refused("/operator_seal", "{}", &["J.TYPE /operator_seal"]).unwrap();
    assert_eq!(manifest.operator_seal, None);
}

#[test]
fn a_successor_keeps_everything() {
    let first = full();
    let root = root_envelope(text(&first.to_value()).as_bytes());
    let mut second = first.successor(root);
    assert_eq!(second.predecessor, Ok(Some(root)));
    assert_eq!(EnvelopeManifest { predecessor: first.predecessor, ..second.clone() }, first);

    let row = |path: &str| ItemRow { path: path.into(), digest: Digest::of(b"new") };
    let anchor =
        |path: &str| AnchorRow { item: row(path), ..first.anchors.first().unwrap().clone() };
    for path in ["attestations/a", "attestations/pp", "attestations/z"] {
        assert!(second.add_attestation(row(path)) && second.lists(path));
    }
    for path in ["anchors/0", "anchors/aa", "anchors/c"] {
        assert!(second.add_anchor(anchor(path)) && second.lists(path));
    }
    let before = second.clone();
    assert!(!second.add_attestation(row("attestations/pp")));
    assert!(!second.add_attestation(row("anchors/c")));
    assert!(!second.add_anchor(anchor("attestations/q.json")));
    assert_eq!(second, before);
    let (found, defects) = read(&second.to_value());
    assert_eq!((found, shown(&defects)), (Some(second), Vec::new()));
}

#[test]
fn the_root_is_a_hash_of_its_own_domain() {
    let bytes = text(&full().to_value());
    let prefixed = [b"gad/1/envelope-manifest\0", bytes.as_bytes()].concat();
    assert_eq!(root_envelope(bytes.as_bytes()), Digest::of(&prefixed));
}
