//! Files that are cut, left out, doubled or called otherwise; and the same files in another order or form.

use std::fs;
use std::path::Path;

use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::tar::TarWriter;
use anchorlog_verifier::gad::container::{Bundle, Form};
use anchorlog_verifier::gad::report::Report;

use super::{Verdict, exhaustive, sample};
use crate::gad_world::{Defended, Files};

fn is_noticed(sample: &Defended, files: &Files, what: &str) {
    let verdict = Verdict::of(&sample.evaluate(files, 1));
    assert!(!verdict.is_defended(), "{what}");
}

#[test]
fn every_truncation_is_noticed() {
    let sample = sample();
    let mut files = sample.files.clone();
    for (path, bytes) in &sample.files {
        for length in 0..bytes.len() {
            // Of a long file its end, where cuts look like something whole, and samples of the rest.
            let near = bytes.len() - length <= 200 || bytes[length] == b'\n';
            if bytes.len() > 1000 && !near && !length.is_multiple_of(7) && !exhaustive() {
                continue;
            }
            files.insert(path.clone(), bytes[..length].to_vec());
            is_noticed(&sample, &files, &format!("{path} cut to {length}"));
        }
        files.insert(path.clone(), [bytes.as_slice(), b"\n"].concat());
        is_noticed(&sample, &files, &format!("{path} and a newline"));
        files.insert(path.clone(), bytes.clone());
    }
}

#[test]
fn every_file_left_out_doubled_or_renamed_is_noticed() {
    let sample = sample();
    let names = ["x", "core/x", "core/artifacts/x", "anchors/x.json", "attestations/x.json"];
    for (path, bytes) in &sample.files {
        let mut without = sample.files.clone();
        without.remove(path);
        is_noticed(&sample, &without, &format!("no {path}"));
        for name in names {
            let mut doubled = sample.files.clone();
            doubled.insert(name.to_owned(), bytes.clone());
            is_noticed(&sample, &doubled, &format!("{path} again as {name}"));
            let mut renamed = without.clone();
            renamed.insert(name.to_owned(), bytes.clone());
            is_noticed(&sample, &renamed, &format!("{path} as {name}"));
        }
        // One file in another's place.
        for (other, theirs) in sample.files.iter().filter(|(other, _)| *other > path) {
            let mut swapped = sample.files.clone();
            swapped.insert(path.clone(), theirs.clone());
            swapped.insert(other.clone(), bytes.clone());
            is_noticed(&sample, &swapped, &format!("{path} and {other} swapped"));
        }
    }
}

fn write<'f>(root: &Path, files: impl Iterator<Item = (&'f String, &'f Vec<u8>)>) {
    for (path, bytes) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// A report without what was handed in.
fn apart_from_input(report: &Report) -> String {
    let text = String::from_utf8(report.to_json()).unwrap();
    let from = text.find(r#""input":{"#).unwrap();
    let to = from + text[from..].find('}').unwrap();
    format!("{}{}", &text[..from], &text[to..])
}

#[test]
fn the_report_depends_on_the_bytes_alone() {
    let mut sample = sample();
    // With findings of several files, so that their order shows.
    for (path, bytes) in &mut sample.files {
        if path.contains("plan") || path.contains("witness") || path.contains("anchors") {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
        }
    }
    sample.files.insert("core/artifacts/b".to_owned(), b"b".to_vec());
    sample.files.insert("core/artifacts/a".to_owned(), b"a".to_vec());
    let limits = Limits::DEFAULT;
    let memory = sample.evaluate(&sample.files, 1);
    let expected = apart_from_input(&memory);
    assert!(memory.findings.list().len() > 10);

    let folder = tempfile::tempdir().unwrap();
    let [forwards, backwards] = ["forwards", "backwards"].map(|name| folder.path().join(name));
    write(&forwards, sample.files.iter());
    write(&backwards, sample.files.iter().rev());
    for (root, threads) in [(&forwards, 1), (&forwards, 3), (&backwards, 2)] {
        let report = sample.evaluate_bundle(&Bundle::open(root, &limits), threads);
        assert_eq!(report.to_json(), memory.to_json());
    }
    let mut writer = TarWriter::new(Vec::new());
    for (path, bytes) in &sample.files {
        writer.append(path, u64::try_from(bytes.len()).unwrap(), bytes.as_slice()).unwrap();
    }
    let tar = writer.finish().unwrap();
    let file = folder.path().join("bundle.tar");
    fs::write(&file, &tar).unwrap();
    for bundle in [Bundle::open(&file, &limits), Bundle::from_tar(&tar, &limits)] {
        let report = sample.evaluate_bundle(&bundle, 2);
        assert_eq!(apart_from_input(&report), expected);
        assert_eq!(report.input.form, Form::Tar.as_str());
    }
}
