//! Thousands of small worlds, and that the model would notice.
//!
//! `ANCHORLOG_RUNS` says how many, `ANCHORLOG_SEED` from which on; a failure names the seed of its world, and
//! with `ANCHORLOG_RUNS=1` that world is lived through again.

use std::env;
use std::time::{SystemTime, UNIX_EPOCH};

use anchorlog_tests::interop::random::Random;
use anchorlog_tests::simulation::{
    Counts, LogNature, Settings, Universe, Violation, WitnessNature, run,
};

use WitnessNature::{AnswersFirst, DecidesMeanwhile, Dishonest, Forgets, Honest};

fn number(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is not a number: {text}")))
}

/// A world whose people, too, are drawn from its seed.
fn drawn(seed: u64) -> Settings {
    Settings::drawn(&mut Random::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
}

#[test]
fn no_world_breaks_what_must_hold() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let first = number("ANCHORLOG_SEED").unwrap_or(u64::from(now.subsec_nanos()));
    let runs = number("ANCHORLOG_RUNS").unwrap_or(2000);
    println!("seeds {first} to {} (ANCHORLOG_SEED, ANCHORLOG_RUNS)", first + runs - 1);
    let mut universe = Universe::new();
    let mut sum = Counts::default();
    let mut honest_witnessed = 0;
    for seed in first..first + runs {
        let settings = drawn(seed);
        let outcome = run(&mut universe, &settings, seed);
        assert_eq!(outcome.violations, [], "ANCHORLOG_SEED={seed} ANCHORLOG_RUNS=1: {settings:?}");
        sum = add(sum, outcome.counts);
        honest_witnessed +=
            u64::from(settings.log == LogNature::Honest && outcome.counts.witnessed > 0);
    }
    println!("{sum:?}, honest logs witnessed: {honest_witnessed}");
    if runs >= 1000 {
        // A quarter of the logs is honest, and most of those get their quorum; the others lie and are found out.
        assert!(honest_witnessed > runs / 8, "{honest_witnessed} of {runs}");
        assert!(sum.killed_before_answer > runs / 20, "{sum:?}");
        for count in [sum.conflicts, sum.refused, sum.forks, sum.alarms, sum.witnessed] {
            assert!(count > runs / 2, "{sum:?}");
        }
        assert_eq!(sum.forks, sum.proved);
    }
}

#[test]
fn the_same_seed_is_the_same_world() {
    for seed in 0..20 {
        let settings = drawn(seed);
        let [one, other] = [(), ()].map(|()| run(&mut Universe::new(), &settings, seed));
        assert_eq!(one, other);
    }
}

/// The first of so many worlds, of a log with two faces, in which two inconsistent checkpoints had their
/// quorums. Nothing else may be wrong in any of them: what monitors see and what is proved does not depend on
/// witnesses.
fn two_quorums(witnesses: [WitnessNature; 5], quorum: usize, worlds: u64) -> Option<u64> {
    let mut universe = Universe::new();
    (0..worlds).find(|seed| {
        let log = LogNature::TwoFaced;
        let settings = Settings { log, witnesses, quorum, steps: 600, kills: 6 };
        let outcome = run(&mut universe, &settings, *seed);
        let two = |violation: &Violation| matches!(violation, Violation::TwoQuorums { .. });
        assert!(outcome.violations.iter().all(two), "{seed}: {:?}", outcome.violations);
        !outcome.violations.is_empty()
    })
}

#[test]
fn broken_witnesses_are_found() {
    for broken in [AnswersFirst, DecidesMeanwhile, Forgets] {
        let found = two_quorums([broken; 5], 3, 1000);
        println!("{broken:?}: world {found:?}");
        assert!(found.is_some(), "{broken:?}");
    }
    assert_eq!(two_quorums([Honest; 5], 3, 200), None);
}

#[test]
fn a_quorum_must_outnumber_the_dishonest_in_every_overlap() {
    let dishonest = |count: usize| -> [WitnessNature; 5] {
        std::array::from_fn(|position| if position < count { Dishonest } else { Honest })
    };
    for (count, quorum, safe) in [
        (0, 3, true),
        // One dishonest witness is in both quorums: a majority is honest, and it isn't enough.
        (1, 3, false),
        (2, 3, false),
        (1, 4, true),
        (2, 4, true),
        // A dishonest majority.
        (3, 4, false),
        (3, 5, true),
        (5, 5, false),
    ] {
        let found = two_quorums(dishonest(count), quorum, 100);
        assert_eq!(found.is_none(), safe, "{count} dishonest, {quorum} of 5: {found:?}");
    }
}

fn add(one: Counts, other: Counts) -> Counts {
    Counts {
        cosigned: one.cosigned + other.cosigned,
        witnessed: one.witnessed + other.witnessed,
        conflicts: one.conflicts + other.conflicts,
        refused: one.refused + other.refused,
        killed_before_answer: one.killed_before_answer + other.killed_before_answer,
        forks: one.forks + other.forks,
        proved: one.proved + other.proved,
        alarms: one.alarms + other.alarms,
    }
}
