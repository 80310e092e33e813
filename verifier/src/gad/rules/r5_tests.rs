use anchorlog_proto::gad::names::PassFail;

use super::*;
use crate::gad::rules::testing::{Log, codes, digest, plan};

/// The codes found for one verdict over ("artifact", "environment") that stands between two runs of entries.
fn run(before: impl FnOnce(&mut Log), after: impl FnOnce(&mut Log)) -> (bool, Vec<&'static str>) {
    let mut log = Log::new(&plan(|_| {}));
    log.freeze();
    before(&mut log);
    let verdict = log.next();
    log.verdict("s1", "n1", "t1", PassFail::Pass);
    after(&mut log);
    let (mut rule, mut findings, mut probed) = (R5::new(), Findings::new(), false);
    for event in log.events() {
        rule.observe(&event, &mut findings);
        if event.index == verdict {
            let (artifact, environment) = (digest("artifact"), digest("environment"));
            probed = rule.is_probed(&event, Some(artifact), Some(environment));
        }
    }
    rule.finish(&mut findings);
    assert!(findings.list().iter().all(|finding| finding.class() == crate::finding::Class::Note));
    (probed, codes(&findings))
}

fn nothing(_: &mut Log) {}

#[test]
fn a_matching_probe_before_the_verdict_counts() {
    assert_eq!(run(|log| log.probe(|_| {}).done(), nothing), (true, vec![]));
    // Whatever stands beside it.
    let unusable = |probe: &mut Probe<'_>| probe.demonstrated = PassFail::Pass;
    assert_eq!(run(|log| log.probe(unusable).probe(|_| {}).done(), nothing), (true, vec![]));
    assert_eq!(run(|log| log.probe(|_| {}).probe(unusable).done(), nothing), (true, vec![]));
}

type Change = fn(&mut Probe<'static>);

#[test]
fn each_condition_has_its_code() {
    assert_eq!(run(nothing, nothing), (false, vec!["R5.ABSENT"]));
    assert_eq!(run(nothing, |log| log.probe(|_| {}).done()), (false, vec!["R5.ORDER"]));
    let cases: [(Change, &str); 10] = [
        (|probe| probe.signal_artifact = digest("edited since"), "R5.ARTIFACT"),
        (|probe| probe.environment = digest("elsewhere"), "R5.ENV"),
        (|probe| probe.demonstrated = PassFail::Pass, "R5.RESULT"),
        (|probe| probe.restoration = Restoration::Unverified, "R5.RESTORATION"),
        (|probe| probe.restoration = Restoration::Failed, "R5.RESTORATION"),
        (|probe| probe.spawned = false, "R5.NOT_FIRED"),
        (|probe| probe.exit_code = Some(0), "R5.NOT_FIRED"),
        (|probe| probe.exit_code = None, "R5.NOT_FIRED"),
        (|probe| probe.output = None, "R5.NOT_FIRED"),
        (|probe| probe.output = Some(Digest::of(b"")), "R5.NOT_FIRED"),
    ];
    for (change, code) in cases {
        assert_eq!(run(|log| log.probe(change).done(), nothing), (false, vec![code]));
    }
    assert_eq!(run(|log| log.probe(|_| {}).forged().done(), nothing), (false, vec!["R5.SIG"]));
}

#[test]
fn a_forged_probe_is_reported_though_nobody_needs_it() {
    let (probed, found) = run(|log| log.probe(|_| {}).probe(|_| {}).forged().done(), nothing);
    assert!(probed);
    assert_eq!(found, ["R5.SIG"]);
}

#[test]
fn a_probe_whose_form_is_refused_is_no_probe() {
    let refused = |log: &mut Log| log.probe(|_| {}).change(|entry| entry.payload = None).done();
    assert_eq!(run(refused, nothing), (false, vec!["R5.ABSENT"]));
}

#[test]
fn the_closest_probe_is_the_one_that_is_told_about() {
    // Two conditions fail of the first, one of the second.
    let found = run(
        |log| {
            log.probe(|probe| {
                probe.demonstrated = PassFail::Pass;
                probe.environment = digest("elsewhere");
            })
            .probe(|probe| probe.restoration = Restoration::Failed)
            .done();
        },
        nothing,
    );
    assert_eq!(found, (false, vec!["R5.RESTORATION"]));
    // One of each: the first, and it may well be an earlier one than the verdict.
    let found = run(
        |log| log.probe(|probe| probe.environment = digest("elsewhere")).done(),
        |log| log.probe(|_| {}).done(),
    );
    assert_eq!(found, (false, vec!["R5.ENV"]));
}

#[test]
fn a_verdict_without_its_digests_is_matched_by_no_probe() {
    let mut log = Log::new(&plan(|_| {}));
    log.probe(|_| {}).verdict("s1", "n1", "t1", PassFail::Pass);
    for (artifact, environment, expected) in [
        (None, Some(digest("environment")), vec!["R5.ARTIFACT"]),
        (Some(digest("artifact")), None, vec!["R5.ENV"]),
        (None, None, vec!["R5.ARTIFACT", "R5.ENV"]),
    ] {
        let (mut rule, mut findings) = (R5::new(), Findings::new());
        for event in log.events() {
            rule.observe(&event, &mut findings);
            if event.index == 1 {
                assert!(!rule.is_probed(&event, artifact, environment));
            }
        }
        rule.finish(&mut findings);
        assert_eq!(codes(&findings), expected);
    }
}

/// The definition, word for word: every probe is looked at for every verdict.
fn closest_by_definition(
    probes: &[(u64, Digest, Digest, u8)],
    verdict: &Unmatched,
) -> Option<(u64, u8)> {
    let failing = probes.iter().map(|(index, artifact, environment, own)| {
        let mut failing = *own;
        if *index >= verdict.index {
            failing |= FAILED_ORDER;
        }
        if Some(*artifact) != verdict.artifact {
            failing |= FAILED_ARTIFACT;
        }
        if Some(*environment) != verdict.environment {
            failing |= FAILED_ENV;
        }
        (*index, failing)
    });
    failing.min_by_key(|(index, failing)| (failing.count_ones(), *index))
}

#[test]
fn the_groups_answer_as_the_definition_does() {
    // A fixed sequence of pseudo-random numbers.
    let mut state = 1_u64;
    let mut random = move |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for _ in 0..2_000 {
        let (mut rule, mut probes) = (R5::new(), Vec::<(u64, Digest, Digest, u8)>::new());
        for _ in 0..random(7) {
            let index = probes.last().map_or(0, |(index, ..)| index + 1 + random(4));
            let (artifact, environment) =
                (digest(&random(3).to_string()), digest(&random(3).to_string()));
            let own = u8::try_from(random(16)).unwrap();
            let group = rule.groups.entry((artifact, environment)).or_insert(Firsts::NONE);
            group.add(Candidate::new(index, own));
            probes.push((index, artifact, environment, own));
        }
        let index = Index::new(&rule.groups);
        for _ in 0..8 {
            let mut side = || (random(5) > 0).then(|| digest(&random(3).to_string()));
            let (artifact, environment) = (side(), side());
            let verdict = Unmatched { index: random(30), seq: 0, artifact, environment };
            let expected = closest_by_definition(&probes, &verdict);
            assert_eq!(index.closest(&verdict), expected, "{verdict:?} {probes:?}");
        }
    }
}

/// 10^5 probes against 10^5 verdicts, each with digests of its own, take no 10^10 steps.
#[test]
fn many_probes_and_many_verdicts_cost_their_sum() {
    const COUNT: u64 = 100_000;
    let mut rule = R5::new();
    for index in 0..COUNT {
        let own = Digest::of(&index.to_be_bytes());
        rule.groups
            .entry((own, own))
            .or_insert(Firsts::NONE)
            .add(Candidate::new(index, FAILED_RESULT));
        let other = Some(Digest::of(&(index + COUNT).to_be_bytes()));
        rule.unmatched.push(Unmatched {
            index,
            seq: index,
            artifact: other,
            environment: Some(own),
        });
    }
    let mut findings = Findings::new();
    let start = std::time::Instant::now();
    rule.finish(&mut findings);
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    assert_eq!(codes(&findings), ["R5.ARTIFACT", "R5.ENV", "R5.ORDER", "R5.RESULT"]);
}
