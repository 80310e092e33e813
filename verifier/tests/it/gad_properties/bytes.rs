//! One byte changed anywhere: the verdicts don't stay as they were, but for the words of an envelope that
//! nobody signs, and of those the report says so.

use std::fs;
use std::path::Path;

use anchorlog_proto::json::{ReadLimits, Value, parse};
use anchorlog_verifier::gad::container::{Bundle, Form};

use super::{Verdict, exhaustive, sample};
use crate::corpus::corpus_folder;
use crate::gad_vectors::run_as;
use crate::gad_world::{Defended, Files};

/// Evaluates with each of these bytes of a file replaced by another one, and gives the changed bytes and the
/// verdict to `look`.
fn change(sample: &Defended, path: &str, mut look: impl FnMut(&[u8], usize, &Verdict)) {
    let original = &sample.files[path];
    let mut files: Files = sample.files.clone();
    for (at, byte) in original.iter().enumerate() {
        for value in values(*byte, at) {
            files.get_mut(path).unwrap()[at] = value;
            let verdict = Verdict::of(&sample.evaluate(&files, 1));
            look(&files[path], at, &verdict);
        }
        files.get_mut(path).unwrap()[at] = *byte;
    }
}

/// Other values of the byte at this place: one bit of it, now and then a byte that JSON passes over or that
/// ends something; every bit, where everything is asked for.
fn values(byte: u8, at: usize) -> Vec<u8> {
    let mut values = vec![byte ^ (1 << (at % 8))];
    if exhaustive() {
        values = (0..8).map(|bit| byte ^ (1 << bit)).collect();
    }
    if exhaustive() || at.is_multiple_of(4) {
        let others = [b' ', b'\n', b'"', b'}', b'0', 0xff];
        values.push(others[at / 4 % others.len()]);
    }
    values.retain(|value| *value != byte);
    values
}

fn every_change_is_noticed(sample: &Defended, below: &str) {
    let mut seen = 0;
    for path in sample.files.keys().filter(|path| path.starts_with(below)) {
        change(sample, path, |_, at, verdict| {
            assert!(!verdict.is_defended(), "{path} at {at}");
            seen += 1;
        });
    }
    assert!(seen >= 600, "{below}: {seen}");
}

#[test]
fn of_the_core() {
    every_change_is_noticed(&sample(), "core/");
}

#[test]
fn of_an_anchor() {
    every_change_is_noticed(&sample(), "anchors/");
}

#[test]
fn of_an_attestation() {
    every_change_is_noticed(&sample(), "attestations/");
}

fn collect(root: &Path, folder: &Path, files: &mut Files) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            files.insert(name, fs::read(&path).unwrap());
        }
    }
}

#[test]
fn of_a_published_envelope() {
    let Some(gad) = corpus_folder("gad") else { return };
    let vector = gad.join("V17");
    let mut files = Files::new();
    collect(&vector.join("bundle"), &vector.join("bundle"), &mut files);
    let judge = |files: &Files| {
        let (report, ..) = run_as(&vector, 1, |_, limits| {
            Bundle::in_memory(files.clone(), Form::Directory, limits)
        });
        Verdict::of(&report)
    };
    assert!(judge(&files).is_defended());
    let originals = files.clone();
    for (path, original) in originals.iter().filter(|(path, _)| *path != "envelope.json") {
        let step = if exhaustive() { 1 } else { 13 };
        for (at, byte) in original.iter().enumerate().step_by(step) {
            for value in values(*byte, at) {
                files.get_mut(path).unwrap()[at] = value;
                assert!(!judge(&files).is_defended(), "{path} at {at}");
            }
            files.get_mut(path).unwrap()[at] = *byte;
        }
    }
}

/// A manifest without the members that nobody signs.
fn signed_part(manifest: &[u8]) -> Option<Value<'static>> {
    let Ok(Value::Object(mut object)) = parse(manifest, &ReadLimits::DEFAULT) else { return None };
    object.remove("metadata");
    object.remove("ext");
    Some(Value::Object(object).into_owned())
}

#[test]
fn of_the_manifest_of_the_envelope() {
    let sample = sample();
    let original = signed_part(&sample.files["envelope.json"]);
    let whole = Verdict::of(&sample.evaluate(&sample.files, 1));
    assert_eq!(
        whole.unsigned,
        "{\"created\":\"2026-07-20T10:00:00Z\",\"ext\":true,\"producer\":\"the producer\"}"
    );
    let (mut noticed, mut passed, mut told) = (0, 0, 0);
    change(&sample, "envelope.json", |bytes, at, verdict| {
        if !verdict.is_defended() {
            noticed += 1;
            return;
        }
        passed += 1;
        let shown = String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(signed_part(bytes), original, "at {at}: {shown}");
        told += u32::from(verdict.unsigned != whole.unsigned);
    });
    // Something of it was changed without effect, and the report shows what is changed.
    assert!(noticed > 1000 && passed > 15 && told > 10, "{noticed} {passed} {told}");
}
