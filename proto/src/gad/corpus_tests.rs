//! The documents of a record on the published corpus.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failing test may panic")]

use std::path::{Path, PathBuf};

use super::claims::Claims;
use super::core_manifest::{CoreManifest, root_core};
use super::form::Defects;
use super::limits::Limits;
use super::operator::Operator;
use super::plan::{Plan, plan_hash};
use crate::json::corpus_tests::corpus_directory;
use crate::json::{ReadLimits, Value, canonical, parse, parse_canonical};

/// Names of the vectors that start so, with their directories, ascending.
pub(super) fn vectors(start: &str) -> Vec<(String, PathBuf)> {
    let Some(corpus) = corpus_directory() else { return Vec::new() };
    let mut found: Vec<_> = std::fs::read_dir(corpus.join("gad"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), path))
        .filter(|(name, path)| name.starts_with(start) && path.join("vector.json").is_file())
        .collect();
    found.sort();
    assert!(!found.is_empty());
    found
}

pub(super) fn document(directory: &Path, member: &str) -> Option<Vec<u8>> {
    let path = directory.join("bundle").join(member);
    path.is_file().then(|| std::fs::read(path).unwrap())
}

/// The codes a vector demands.
fn must_codes(directory: &Path) -> Vec<String> {
    let bytes = std::fs::read(directory.join("vector.json")).unwrap();
    let vector = parse(&bytes, &ReadLimits::DEFAULT).unwrap();
    let expected = vector.as_object().unwrap().get("expected").unwrap().as_object().unwrap();
    let codes = expected.get("must_codes").unwrap().as_array().unwrap();
    codes.iter().map(|code| code.as_str().unwrap().to_owned()).collect()
}

/// What `read` makes of a member, written again, and what was wrong with it.
fn again(
    directory: &Path,
    member: &str,
    read: impl Fn(&Value<'_>, &mut Defects) -> Option<Value<'static>>,
) -> Option<(Vec<u8>, Option<Vec<u8>>, Defects)> {
    let bytes = document(directory, member)?;
    let mut defects = Defects::new();
    let value = parse_canonical(&bytes, &ReadLimits::DEFAULT).unwrap();
    let written = read(&value, &mut defects).map(|value| canonical(&value));
    drop(value);
    Some((bytes, written, defects))
}

#[test]
fn base_records_read_and_write_back_to_their_bytes() {
    let limits = Limits::DEFAULT;
    let mut claims = 0;
    for (name, directory) in vectors("V") {
        let plan = |value: &Value<'_>, defects: &mut Defects| {
            Some(Plan::read(value, &limits, defects)?.to_value())
        };
        let operator = |value: &Value<'_>, defects: &mut Defects| {
            Some(Operator::read(value, defects)?.to_value())
        };
        let manifest = |value: &Value<'_>, defects: &mut Defects| {
            Some(CoreManifest::read(value, &limits, defects)?.to_value())
        };
        let claim = |value: &Value<'_>, defects: &mut Defects| {
            let claims = Claims::read(value, &limits, defects)?;
            assert!(claims.registry_known && claims.claims.iter().all(Option::is_some));
            Some(claims.to_value())
        };
        let found = [
            again(&directory, "core/plan.json", plan),
            again(&directory, "core/operator.json", operator),
            again(&directory, "core/manifest.json", manifest),
            again(&directory, "core/claims.json", claim),
        ];
        claims += usize::from(found[3].is_some());
        for (bytes, written, defects) in found.into_iter().flatten() {
            assert!(defects.is_empty(), "{name}: {defects:?}");
            let written = written.unwrap();
            // What has extensions writes as another document.
            if !bytes.windows(6).any(|part| part == b"\"ext\":") {
                assert_eq!(String::from_utf8(written).unwrap(), String::from_utf8(bytes).unwrap());
            }
        }
    }
    assert!(claims > 0 || corpus_directory().is_none());
}

#[test]
fn hashes_of_the_first_record_are_the_published_ones() {
    let Some((_, directory)) = vectors("V01").into_iter().next() else { return };
    assert_eq!(
        plan_hash(&document(&directory, "core/plan.json").unwrap()).to_string(),
        "sha256:8bce941825302d4cd5bcdf872130cbc07e0f303663daa4c38eea1dab15b07138"
    );
    assert_eq!(
        root_core(&document(&directory, "core/manifest.json").unwrap()).to_string(),
        "sha256:30b1bf79f3fee1534c5c819b844b3839fb89003ac8efd058c4a2521c51d2bb9b"
    );
}

/// Vectors whose defect reading one of the documents finds.
#[test]
fn defective_documents_have_the_codes_their_vectors_demand() {
    let limits = Limits::DEFAULT;
    let ours = |code: &str| {
        code.starts_with("PLAN.")
            || super::code::RULES.iter().any(|rule| rule.as_str() == code)
                && !code.starts_with("ATT.")
    };
    let mut found = 0;
    for (name, directory) in vectors("X") {
        let codes: Vec<_> = must_codes(&directory).into_iter().filter(|code| ours(code)).collect();
        if codes.is_empty() {
            continue;
        }
        let mut defects = Defects::new();
        let mut read = |member: &str, read: &dyn Fn(&Value<'_>, &mut Defects)| {
            if let Some(bytes) = document(&directory, member) {
                read(&parse(&bytes, &ReadLimits::DEFAULT).unwrap(), &mut defects);
            }
        };
        read("core/plan.json", &|value, defects| {
            assert!(Plan::read(value, &limits, defects).is_some(), "{name}");
        });
        read("core/operator.json", &|value, defects| drop(Operator::read(value, defects)));
        read("core/manifest.json", &|value, defects| {
            assert!(CoreManifest::read(value, &limits, defects).is_some(), "{name}");
        });
        read("envelope.json", &|value, defects| {
            drop(super::envelope::EnvelopeManifest::read(value, &limits, defects));
        });
        let raised: Vec<_> = defects.list().iter().map(|defect| defect.code.as_str()).collect();
        // X040 has no operator record at all, which is for whoever opens the bundle.
        if name != "X040" {
            for code in codes {
                assert!(raised.contains(&&*code), "{name}: {code} isn't among {defects:?}");
                found += 1;
            }
        }
    }
    assert!(found >= 15 || corpus_directory().is_none(), "{found}");
}
