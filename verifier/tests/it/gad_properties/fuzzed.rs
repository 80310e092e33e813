//! What the fuzz targets hold of any bytes, of some bytes here: the targets' own functions, on every run of the
//! tests and without their tool.

#[path = "../../../../fuzz/src/gad/mod.rs"]
#[allow(dead_code, reason = "made for the targets, which use all of it")]
mod gad;

use std::collections::BTreeSet;

use anchorlog_proto::gad::core_manifest::Seal;
use anchorlog_proto::gad::tar::TarWriter;
use anchorlog_proto::json::canonical;

use super::{Dice, sample};
use crate::gad_world::{Choose, Files, Walk, diamond, policy};

/// Changes some bytes: one to four places overwritten, doubled or left out.
fn spoilt(bytes: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=dice.below(4) {
        let at = usize::try_from(dice.below(u64::try_from(bytes.len()).unwrap().max(1))).unwrap();
        let length = usize::try_from(dice.below(9)).unwrap().min(bytes.len() - at);
        match dice.below(4) {
            0 => drop(bytes.drain(at..at + length)),
            1 => {
                let part = bytes[at..at + length].to_vec();
                bytes.splice(at..at, part);
            }
            _ if at < bytes.len() => {
                let others = b"\"{}[],:0129-aefnstu \\\xff\x00";
                let pick =
                    usize::try_from(dice.below(u64::try_from(others.len()).unwrap())).unwrap();
                bytes[at] = others[pick];
            }
            _ => {}
        }
    }
    bytes
}

fn try_out(target: fn(&[u8]), seed: &[u8], times: u64) {
    target(seed);
    let mut dice = Dice(u64::try_from(seed.len()).unwrap());
    for _ in 0..times {
        target(&spoilt(seed, &mut dice));
    }
}

/// More of everything with `ANCHORLOG_EXHAUSTIVE=1`.
fn times(times: u64) -> u64 {
    if super::exhaustive() { 100 * times } else { times }
}

#[test]
fn readers() {
    let sample = sample();
    let file = |path: &str| sample.files[path].as_slice();
    let reader = |target: fn(&[u8]), path: &str| try_out(target, file(path), times(500));
    reader(gad::plan, "core/plan.json");
    reader(gad::core_manifest, "core/manifest.json");
    reader(gad::beside, "core/operator.json");
    reader(gad::envelope, "envelope.json");
    reader(gad::attestation, "attestations/q.json");
    reader(gad::anchor_file, "anchors/root.json");
    try_out(gad::policy, &canonical(&policy().to_value()), times(500));
    let (mut walk, mut dice) = (Walk::new(diamond()), Dice(1));
    for _ in 0..100 {
        walk.step(&mut dice);
    }
    for line in &walk.record.lines {
        try_out(gad::entry, line.strip_suffix(b"\n").unwrap(), times(20));
    }
}

fn archive(files: &Files) -> Vec<u8> {
    let mut writer = TarWriter::new(Vec::new());
    for (path, bytes) in files {
        writer.append(path, u64::try_from(bytes.len()).unwrap(), bytes.as_slice()).unwrap();
    }
    writer.finish().unwrap()
}

#[test]
fn archives() {
    let small = Files::from([("a".to_owned(), b"x".to_vec()), ("b/c".to_owned(), vec![0; 513])]);
    try_out(gad::tar, &archive(&small), times(1000));
    try_out(gad::bundle, &archive(&sample().files), times(50));
    let (core, _) = Walk::new(diamond()).record.core(Seal::Snapshot);
    try_out(gad::bundle, &archive(&core), times(50));
}

#[test]
fn records_that_are_changed_and_put_right_again() {
    let (mut codes, mut valid, mut defensible) = (BTreeSet::new(), 0, 0);
    for seed in 0..times(300) {
        let mut dice = Dice(seed);
        let bytes: Vec<u8> =
            (0..dice.below(900)).map(|_| u8::try_from(dice.below(256)).unwrap()).collect();
        let report = gad::evaluate(&bytes);
        codes.extend(report.findings.list().iter().map(|finding| finding.code));
        valid += u32::from(report.statuses.valid());
        defensible += u32::from(report.statuses.defensible() == Some(true));
    }
    println!("{valid} valid, {defensible} defensible, {} codes: {codes:?}", codes.len());
    assert!(valid >= 10 && defensible >= 2 && codes.len() >= 150);
}
