//! Every code of checkpoints and seals.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use anchorlog_proto::Digest;
use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::core_manifest::Seal;

use super::{Artifacts, WitnessContext, read_witness};
use crate::gad::testing::{ENGINE, Record, STRANGER, codes, plan};
use crate::gad::{Findings, PlanIndex};

const CLAIM: &str = r#"{"node":"n1","session_id":"s1","text":"done"}"#;

fn one_node() -> PlanIndex {
    plan(&[("n1", "normal", &["src/"])])
}

fn found(plan: &PlanIndex, record: &Record, seal: Seal) -> (Vec<String>, Vec<(u64, u64)>) {
    let artifacts = Artifacts::default();
    let cx = WitnessContext {
        plan: Some(plan),
        stated: Some(record.stated(seal)),
        artifacts: &artifacts,
        limits: &Limits::DEFAULT,
        threads: WitnessContext::all_cores(),
        batch_bytes: 1000,
    };
    let mut findings = Findings::new();
    let summary = read_witness(&record.bytes()[..], &cx, &mut |_, _| {}, &mut findings).unwrap();
    (codes(&findings), summary.coverage().ranges().to_vec())
}

/// Four claims, a checkpoint of these members made from them, and one that goes on from there.
fn with(members: impl Fn(&Record) -> String, seed: u8) -> (Vec<String>, Vec<(u64, u64)>) {
    let plan = one_node();
    let mut record = Record::new(&plan);
    record.push("claim", CLAIM);
    record.checkpoint();
    for _ in 0..3 {
        record.push("claim", CLAIM);
    }
    record.sign("checkpoint", &members(&record), seed);
    record.push("claim", CLAIM);
    let last = record.checkpoint_members(5, 6);
    record.sign("checkpoint", &last, ENGINE);
    found(&plan, &record, Seal::Snapshot)
}

fn stated(first: u64, last: u64) -> String {
    let digest = Digest::of(b"");
    format!(r#"{{"digest_over_range":"{digest}","head":"{digest}","range":[{first},{last}]}}"#)
}

#[test]
fn ranges_follow_one_another() {
    assert_eq!(with(|record| record.checkpoint_members(1, 4), ENGINE), (vec![], vec![(0, 6)]));
    let of = |first, last| with(|record| record.checkpoint_members(first, last), ENGINE);
    let holes = vec![(0, 0), (5, 6)];
    let expect = |found: &[&str]| {
        let found = found.iter().map(|code| format!("5 R1.CKPT.{code}"));
        (
            ["2 R1.CKPT.UNCOVERED".to_owned()].into_iter().chain(found).collect::<Vec<_>>(),
            holes.clone(),
        )
    };
    assert_eq!(of(2, 4), expect(&["GAP"]));
    assert_eq!(of(0, 4), expect(&["OVERLAP"]));
    assert_eq!(of(1, 3), expect(&["COVERS_SELF"]));
    assert_eq!(of(0, 2), expect(&["COVERS_SELF", "OVERLAP"]));
    let of = |first, last| with(|_| stated(first, last), ENGINE);
    assert_eq!(of(1, 5), expect(&["COVERS_SELF", "DIGEST"]));
    assert_eq!(of(1, (1 << 53) - 1), expect(&["COVERS_SELF", "DIGEST"]));
    assert_eq!(of(1, 4), expect(&["DIGEST", "DIGEST"]));
    assert_eq!(of(4, 1), expect(&["RANGE_FORM"]));
    let unread = stated(1, 4).replace("[1,4]", "[1]");
    assert_eq!(with(|_| unread.clone(), ENGINE), expect(&["RANGE_FORM"]));
}

#[test]
fn digest_and_head_are_both_looked_at() {
    let other = Digest::of(b"other");
    let swap = |record: &Record, name: &str| {
        let members = record.checkpoint_members(1, 4);
        let at = members.find(name).unwrap() + name.len() + 3;
        format!("{}{other}{}", &members[..at], &members[at + other.to_string().len()..])
    };
    for name in ["digest_over_range", "head"] {
        let (codes, _) = with(|record| swap(record, name), ENGINE);
        assert_eq!(codes, ["2 R1.CKPT.UNCOVERED", "5 R1.CKPT.DIGEST"], "{name}");
    }
}

#[test]
fn nobody_else_covers_anything() {
    let (codes, ranges) = with(|record| record.checkpoint_members(1, 4), STRANGER);
    assert_eq!(codes, ["5 R1.ISSUER.KEY_UNREGISTERED", "2 R1.CKPT.UNCOVERED"]);
    assert_eq!(ranges, [(0, 0), (5, 6)]);
}

#[test]
fn a_checkpoint_first_of_all_covers_nothing() {
    let plan = one_node();
    let mut record = Record::new(&plan);
    record.sign("checkpoint", &stated(0, 0), ENGINE);
    let (codes, ranges) = found(&plan, &record, Seal::Snapshot);
    assert_eq!(codes, ["0 R1.CKPT.COVERS_SELF", "0 R1.CKPT.DIGEST"]);
    assert_eq!(ranges, []);
}

#[test]
fn the_end_of_a_record() {
    let plan = one_node();
    let halted = r#"{"unresolved":["n1"]}"#;
    let of = |entries: &str, seal| {
        let mut record = Record::new(&plan);
        for entry in entries.chars() {
            match entry {
                'c' => record.push("claim", CLAIM),
                'k' => record.checkpoint(),
                't' => record.push("plan_halted", halted),
                _ => unreachable!(),
            };
        }
        found(&plan, &record, seal).0
    };
    assert_eq!(of("ctk", Seal::Final), [""; 0]);
    assert_eq!(of("ckck", Seal::Snapshot), [""; 0]);
    assert_eq!(of("cktkk", Seal::Final), [""; 0]);
    assert_eq!(
        of("cc", Seal::Snapshot),
        ["R1.CKPT.NONE", "0 R1.CKPT.UNCOVERED", "1 R1.CKPT.NOT_AT_HEAD", "R1.SEAL.UNSEALED"]
    );
    assert_eq!(
        of("ckc", Seal::Snapshot),
        ["2 R1.CKPT.UNCOVERED", "2 R1.CKPT.NOT_AT_HEAD", "R1.SEAL.UNSEALED"]
    );
    assert_eq!(
        of("ckt", Seal::Final),
        ["2 R1.CKPT.UNCOVERED", "2 R1.CKPT.NOT_AT_HEAD", "2 R1.CKPT.NO_FINAL"]
    );
    assert_eq!(of("ck", Seal::Final), ["R1.SEAL.MODE"]);
    assert_eq!(of("ctk", Seal::Snapshot), ["1 R1.SEAL.MODE"]);
}

#[test]
fn ranges_all_over_the_record_cost_no_more_than_their_budget() {
    let plan = one_node();
    let mut record = Record::new(&plan);
    record.push("claim", CLAIM);
    record.checkpoint();
    for _ in 0..400 {
        let last = usize::try_from(record.len()).unwrap() - 1;
        let members = record.checkpoint_members(0, last);
        record.sign("checkpoint", &members, ENGINE);
    }
    let (codes, _) = found(&plan, &record, Seal::Snapshot);
    let count = |code: &str| codes.iter().filter(|found| found.ends_with(code)).count();
    assert_eq!(count("OVERLAP"), 400);
    // The first ones are recomputed and right; from some point on they are raised unseen.
    let unseen = count("DIGEST");
    assert!((1..399).contains(&unseen), "{unseen}");
    assert!(codes.last().unwrap().ends_with("R1.CKPT.DIGEST"));
}
