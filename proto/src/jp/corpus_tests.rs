//! The public vectors: the gateway's canonical form, our own computed ones, two real exports.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a failing test may panic")]

use super::canon::{canon, is_rfc8785, literal, release};
use super::json::{Bounds, Numbers, raw_member, read};
use crate::Digest;
use crate::json::corpus_tests::corpus_file;

/// The domain of workflow objects within the bounds of nobody in particular.
const INTEGERS: Bounds = Bounds { numbers: Numbers::Integers, ..Bounds::FOREIGN };

#[test]
fn canonical_vectors() {
    let Some(bytes) = corpus_file("judgment-pack/gateway/canon.json") else { return };
    let file: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let vectors = file["vectors"].as_array().unwrap();
    assert_eq!(vectors.len(), 30);
    for vector in vectors {
        let input = vector["inputJson"].as_str().unwrap();
        let read = read(input.as_bytes(), &INTEGERS);
        if vector["reject"] == true {
            assert!(read.is_err(), "{vector}");
        } else {
            let written = canon(&read.unwrap()).unwrap();
            assert_eq!(crate::encoding::hex_encode(&written), vector["expectedHex"], "{vector}");
            assert_eq!(written, vector["expectedUtf8"].as_str().unwrap().as_bytes());
        }
    }
}

#[test]
fn computed_vectors() {
    let Some(bytes) = corpus_file("judgment-pack/vectors-computed.json") else { return };
    let file: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    for vector in file["forms"].as_array().unwrap() {
        let text = |name: &str| vector[name].as_str().unwrap();
        let refused = text("canon").starts_with("REFUSED");
        let Ok(value) = read(text("input").as_bytes(), &INTEGERS) else {
            assert!(refused && text("literalInferred").starts_with("REFUSED"), "{vector}");
            continue;
        };
        assert!(!refused, "{vector}");
        let canonical = canon(&value).unwrap();
        assert_eq!(canonical, text("canon").as_bytes());
        assert_eq!(Digest::of(&canonical).to_string(), text("canonDigest"));
        assert_eq!(literal(&value), text("literalInferred").as_bytes());
        assert_eq!(Digest::of(&literal(&value)).to_string(), text("literalDigest"));
        assert_eq!(is_rfc8785(&value), text("jcs") == text("canon"), "{vector}");
    }
    for vector in file["objects"].as_array().unwrap() {
        let text = vector["canon"].as_str().unwrap();
        let value = read(text.as_bytes(), &Bounds::EXECUTION).unwrap();
        assert_eq!(canon(&value).unwrap(), text.as_bytes());
        assert_eq!(Digest::of(text.as_bytes()).to_string(), vector["digest"]);
        assert!(is_rfc8785(&value));
    }
}

#[test]
fn release_digests_of_real_exports() {
    for name in ["no-mapping-run", "mapping-v2-before-exact-bytes"] {
        let path = format!("judgment-pack/runner/{name}.run.json");
        let Some(bytes) = corpus_file(&path) else { return };
        let export = read(&bytes, &Bounds::EXPORT).unwrap();
        let digest = Digest::of(&release(export.get("release").unwrap())).to_string();
        assert_eq!(Some(&*digest), export.get("releaseDigest").unwrap().as_str(), "{name}");
    }
}

#[test]
fn the_mapping_digest_of_integer_version_2_has_its_legacy_members() {
    let path = "judgment-pack/runner/mapping-v2-before-exact-bytes.run.json";
    let Some(bytes) = corpus_file(path) else { return };
    let export = read(&bytes, &Bounds::EXPORT).unwrap();
    let mapping = export.get("release").unwrap().get("inputMapping").unwrap();
    let preparation = export.get("run").unwrap().get("input").unwrap().get("preparation").unwrap();
    let digest = Digest::of(&canon(mapping).unwrap()).to_string();
    assert_eq!(Some(&*digest), preparation.get("mappingDigest").unwrap().as_str());
}

#[test]
fn a_preparation_as_written_and_sorted() {
    let folder = "judgment-pack/runner/mapping-v2-before-exact-bytes";
    let Some(bytes) = corpus_file(&format!("{folder}.run.json")) else { return };
    let written = raw_member(&bytes, &["run", "input", "preparation"]).unwrap();
    let value = read(written, &Bounds::FOREIGN).unwrap();
    let sorted = corpus_file(&format!("{folder}.preparation-sorted.json")).unwrap();
    let structural = corpus_file(&format!("{folder}.preparation-struct-order.json")).unwrap();
    assert_eq!(literal(&value), sorted);
    assert_eq!(written, structural);
}
