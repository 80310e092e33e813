//! A recorder and the evaluation judge by the same rules: whatever is watched while it is written is what is
//! found when it is read.

use std::collections::BTreeSet;

use anchorlog_proto::gad::Limits;
use anchorlog_proto::gad::core_manifest::Seal;
use anchorlog_verifier::codes::Code;
use anchorlog_verifier::codes::gad::Affect;
use anchorlog_verifier::gad::Findings;
use anchorlog_verifier::gad::container::{Bundle, Form};
use anchorlog_verifier::gad::report::Report;
use anchorlog_verifier::gad::witness::{Artifacts, WitnessContext, read_witness};

use super::Dice;
use crate::gad_world::{Choose, Walk, diamond, evaluation, pair};

/// A walk over one of two plans.
fn start(seed: u64) -> (Walk, Dice) {
    let plan = if seed.is_multiple_of(2) { diamond() } else { pair() };
    (Walk::new(plan), Dice(seed))
}

/// Evaluates the core of a walk.
fn evaluate(walk: &Walk, seal: Seal) -> Report {
    let (files, _) = walk.record.core(seal);
    let inside =
        |(path, bytes): (String, Vec<u8>)| (path.strip_prefix("core/").unwrap().to_owned(), bytes);
    let bundle = Bundle::in_memory(files.into_iter().map(inside), Form::Core, &Limits::DEFAULT);
    evaluation(&bundle, None, &[], 1)
}

/// What the watch has found, once it is told that the record ends here.
fn watched(walk: &Walk, snapshot: bool) -> Findings {
    let mut findings = walk.findings.clone();
    let artifacts = Artifacts::new([]);
    let cx = WitnessContext {
        plan: Some(walk.watch.machine().plan()),
        stated: None,
        artifacts: &artifacts,
        limits: &Limits::DEFAULT,
        threads: 1.try_into().unwrap(),
        batch_bytes: WitnessContext::BATCH_BYTES,
    };
    let witness = walk.record.lines.concat();
    let summary = read_witness(&*witness, &cx, &mut |_, _| {}, &mut Findings::new()).unwrap();
    walk.watch.finish(snapshot, summary.coverage(), &mut findings);
    findings
}

/// The rules that watch a record.
const RULES: [Affect; 7] =
    [Affect::R2, Affect::R3, Affect::R4, Affect::R5, Affect::R6, Affect::R7, Affect::R8];

/// Whether all of them hold.
fn holds(findings: &Findings) -> bool {
    !RULES.iter().any(|rule| findings.affects(*rule))
}

/// The findings of the rules that watch, as they are reported.
fn of_rules(findings: &Findings) -> Vec<String> {
    let rules = ["R2.", "R3.", "R4.", "R5.", "R6.", "R7.", "R8."];
    let sorted = findings.sorted();
    let found = sorted
        .into_iter()
        .filter(|one| rules.iter().any(|rule| one.code.as_str().starts_with(rule)));
    found.map(|finding| format!("{finding:?}")).collect()
}

#[test]
fn a_watched_record_is_judged_the_same_when_it_is_read() {
    let mut codes = BTreeSet::new();
    for seed in 0..1500 {
        let (mut walk, mut dice) = start(seed);
        for _ in 0..dice.below(60) {
            walk.step(&mut dice);
        }
        let snapshot = match dice.below(4) {
            0 => {
                walk.checkpoint();
                true
            }
            1 => {
                walk.halt();
                false
            }
            _ => {
                walk.end();
                false
            }
        };
        let seal = if snapshot { Seal::Snapshot } else { Seal::Final };
        let report = evaluate(&walk, seal);
        let watched = watched(&walk, snapshot);
        assert_eq!(of_rules(&watched), of_rules(&report.findings), "seed {seed}");
        // Nothing else was wrong with the record but signatures by the wrong key.
        let others = report.findings.list().iter();
        let others: Vec<_> = others.filter(|one| one.affects.contains(&Affect::R1)).collect();
        let forged = |code: &Code| code.as_str() == "R1.ISSUER.WRONG_ROLE";
        assert!(others.iter().all(|one| forged(&one.code)), "{seed}: {others:?}");
        assert_eq!(report.statuses.valid(), holds(&watched) && others.is_empty(), "seed {seed}");
        for rule in RULES {
            assert_eq!(watched.affects(rule), report.findings.affects(rule), "{seed} {rule:?}");
        }
        codes.extend(watched.list().iter().map(|one| one.code));
    }
    assert!(codes.len() >= 45, "of {} codes: {codes:?}", codes.len());
}

#[test]
fn a_walk_without_a_finding_is_a_valid_record_wherever_it_ends() {
    let mut ends = BTreeSet::new();
    let mut types = BTreeSet::new();
    for seed in 0..200 {
        let (mut walk, mut dice) = start(seed);
        for _ in 0..120 {
            let mut next = walk.clone();
            next.step(&mut dice);
            if holds(&next.findings) && !next.forged {
                walk = next;
            }
        }
        for way in 0..3 {
            let mut end = walk.clone();
            match way {
                0 => end.checkpoint(),
                1 => end.halt(),
                _ => end.end(),
            }
            let snapshot = way == 0;
            let seal = if snapshot { Seal::Snapshot } else { Seal::Final };
            let found = watched(&end, snapshot);
            let report = evaluate(&end, seal);
            assert_eq!(report.statuses.valid(), holds(&found), "{seed} {:#?}", report.findings);
            if holds(&found) {
                ends.insert(report.statuses.outcome().as_str());
            }
        }
        let terminal = walk.record.lines.iter().map(|line| entry_type(line));
        types.extend(terminal);
    }
    assert_eq!(ends, BTreeSet::from(["COMPLETED", "HALTED", "INCOMPLETE", "SUPERSEDED"]));
    assert!(types.len() >= 16, "{types:?}");
}

fn entry_type(line: &[u8]) -> String {
    let text = std::str::from_utf8(line).unwrap();
    let at = text.rfind(r#""type":""#).unwrap();
    text[at + 8..].split('"').next().unwrap().to_owned()
}
