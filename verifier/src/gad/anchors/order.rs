//! Trusted times against the times in the record, and the anchors a policy asks for.

use std::collections::BTreeSet;

use anchorlog_proto::gad::names::AnchorKind;
use anchorlog_proto::gad::policy::{PrecommitRule, RequiredAnchor, RequiredTarget, RequiredWhen};
use anchorlog_proto::timestamp::GenTime;

use crate::codes::gad::Affect;
use crate::codes::gad::anchor::{
    DISTINCT, NO_TRUSTED_TIME, PRECOMMIT_LATE, PRECOMMIT_UNBOUND, REQUIRED_MISSING,
    TIME_BEFORE_TERMINAL, TOO_LATE,
};
use crate::codes::gad::r2::CLOCK_ANCHOR_CONTRADICTION;
use crate::gad::facts::RecordFacts;
use crate::gad::finding::{Findings, GadFinding, Where};
use crate::gad::policy::POLICY_INPUT;
use crate::gad::report::Precedence;

use super::{Anchor, AnchorInput, TrustedTime, kind_of};

const SECOND_US: i64 = 1_000_000;

/// `R2.CLOCK.ANCHOR_CONTRADICTION`: an anchor over the core or a head existed at its time, and an entry
/// that it covers says it was written later than the plan's clock policy allows.
pub(super) fn contradictions(
    anchors: &[Anchor<'_>],
    record: &RecordFacts,
    findings: &mut Findings,
) {
    for anchor in anchors.iter().filter(|anchor| anchor.is_verified()) {
        let (Some(time), Some(covers)) = (anchor.time, anchor.covers) else { continue };
        let bound = after(time.latest(), i64::from(record.max_future_skew_s));
        let covered = record.latest.get(..=covers).unwrap_or(&record.latest);
        let late = covered.partition_point(|latest| GenTime::from_unix(*latest) <= bound);
        if let Some(seconds) = covered.get(late) {
            findings.push(
                GadFinding::new(CLOCK_ANCHOR_CONTRADICTION, anchor.place())
                    .expected(format_args!("no entry later than {bound}"))
                    .actual(format_args!("entry at line {late}: {}", GenTime::from_unix(*seconds))),
            );
        }
    }
}

/// What became of the requirements.
pub(super) struct Requirements {
    /// Whether none is in force.
    pub(super) vacuous: bool,
}

/// Each requirement in force: enough operators, each with an anchor whose time keeps the rule.
///
/// `ANC.TIME_BEFORE_TERMINAL` always fails DEFENSIBLE: it contradicts the record. The other rules say
/// which anchors count towards a requirement, and an anchor that doesn't count harms nobody where others
/// meet it: it is then a note.
pub(super) fn requirements(
    anchors: &[Anchor<'_>],
    input: &AnchorInput<'_>,
    findings: &mut Findings,
) -> Requirements {
    let skew_s = i64::from(input.policy.policy().skew_s);
    for anchor in of_kind(anchors, AnchorKind::CoreRoot) {
        before_terminal(anchor, input.record, skew_s, findings);
    }
    let mut vacuous = true;
    for (position, required) in input.policy.policy().required_anchors.iter().enumerate() {
        let in_force = match required.when {
            RequiredWhen::Always => true,
            RequiredWhen::BoundedPrecedenceClaimed => input.record.bounded_precedence_claimed(),
        };
        if in_force {
            vacuous = false;
            let place = Where::member(POLICY_INPUT).at(format!("/required_anchors/{position}"));
            require(anchors, required, input.record, skew_s, &place, findings);
        }
    }
    Requirements { vacuous }
}

/// A root anchor can't be older than the last thing the root covers.
fn before_terminal(
    anchor: &Anchor<'_>,
    record: &RecordFacts,
    skew_s: i64,
    findings: &mut Findings,
) {
    if let (Some(time), Some(end)) = (anchor.time, record.end_time)
        && precedes_end(time, end, skew_s)
    {
        findings.push(
            GadFinding::new(TIME_BEFORE_TERMINAL, anchor.place())
                .expected(format_args!("not before {} less {skew_s} s", GenTime::from_unix(end)))
                .actual(time.latest()),
        );
    }
}

fn precedes_end(time: TrustedTime, end: i64, skew_s: i64) -> bool {
    after(time.latest(), skew_s) < GenTime::from_unix(end)
}

fn require(
    anchors: &[Anchor<'_>],
    required: &RequiredAnchor,
    record: &RecordFacts,
    skew_s: i64,
    place: &Where,
    findings: &mut Findings,
) {
    let kind = kind_of(required.target);
    let candidates: Vec<&Anchor<'_>> = of_kind(anchors, kind)
        .filter(|anchor| anchor.row.anchor_type.is_some_and(|one| required.types.contains(&one)))
        .collect();
    let types: Vec<_> = required.types.iter().map(|one| one.as_str()).collect();
    if candidates.is_empty() {
        findings.push(
            GadFinding::new(REQUIRED_MISSING, place.clone())
                .expected(format_args!("a verified {kind} anchor: {}", types.join(", ")))
                .actual("none"),
        );
        return;
    }
    let least = usize::try_from(required.min_distinct_operators).unwrap_or(usize::MAX);
    let operators: BTreeSet<_> =
        candidates.iter().filter_map(|one| one.operator.as_deref()).collect();
    if operators.len() < least {
        let names: Vec<_> = operators.iter().copied().collect();
        findings.push(
            GadFinding::new(DISTINCT, place.clone())
                .expected(format_args!("{least} operators"))
                .actual(names.join(", ")),
        );
    }
    let mut counted = BTreeSet::new();
    let mut short = Vec::new();
    for anchor in candidates {
        let against = breaks(anchor, required.target, record, skew_s);
        if against.is_empty() {
            counted.extend(anchor.operator.as_deref());
        }
        short.extend(against);
    }
    let met = counted.len() >= least;
    for finding in short {
        findings.push(if met { finding.affecting(&[Affect::Note]) } else { finding });
    }
}

/// What a requirement's rule of time has against an anchor. That a root anchor lies before the end is
/// said elsewhere, once; it doesn't count either way.
fn breaks(
    anchor: &Anchor<'_>,
    target: RequiredTarget,
    record: &RecordFacts,
    skew_s: i64,
) -> Vec<GadFinding> {
    let Some(time) = anchor.time else {
        return vec![
            GadFinding::new(NO_TRUSTED_TIME, anchor.place())
                .expected("a time from a source that the policy lists")
                .actual("none"),
        ];
    };
    match target {
        RequiredTarget::CoreRoot { max_delay_s } | RequiredTarget::ChainHead { max_delay_s } => {
            let Some(end) = record.end_time else { return Vec::new() };
            let delay = i64::try_from(max_delay_s).unwrap_or(i64::MAX);
            let bound = GenTime::from_unix(end.saturating_add(delay));
            if time.time <= bound {
                return Vec::new();
            }
            let finding = GadFinding::new(TOO_LATE, anchor.place());
            vec![finding.expected(format_args!("not after {bound}")).actual(time.time)]
        }
        RequiredTarget::PlanCommitment { rule } => commitment(anchor, time, rule, record, skew_s),
    }
}

/// A commitment lies before the first dispatch, by the rule. Without any dispatch there is nothing that it
/// could be late for.
fn commitment(
    anchor: &Anchor<'_>,
    time: TrustedTime,
    rule: PrecommitRule,
    record: &RecordFacts,
    skew_s: i64,
) -> Vec<GadFinding> {
    let Some(first) = record.first_dispatch else { return Vec::new() };
    let late = |bound: GenTime, actual: GenTime| {
        (actual > bound).then(|| {
            GadFinding::new(PRECOMMIT_LATE, anchor.place())
                .expected(format_args!("not after {bound}"))
                .actual(actual)
        })
    };
    let dispatched = GenTime::from_unix(first.time);
    let mut against = Vec::new();
    match rule {
        PrecommitRule::BeforeFirstDispatch => against.extend(late(dispatched, time.latest())),
        PrecommitRule::BoundInDispatch => {
            if anchor.file.is_none() || first.precommit != anchor.file {
                let shown = |digest: Option<anchorlog_proto::Digest>| {
                    digest.map_or_else(|| "none".to_owned(), |digest| digest.to_string())
                };
                let place = Where::entry(first.seq).at("/body/p/precommit_digest");
                against.push(
                    GadFinding::new(PRECOMMIT_UNBOUND, place)
                        .expected(shown(anchor.file))
                        .actual(shown(first.precommit)),
                );
            }
            against.extend(late(after(dispatched, skew_s), time.earliest()));
        }
    }
    against
}

/// How precedence is shown: bounded where a verified commitment lies before the first dispatch by either
/// rule, as strictly as one of them asks.
pub(super) fn precedence(anchors: &[Anchor<'_>], record: &RecordFacts, skew_s: i64) -> Precedence {
    let before = |anchor: &Anchor<'_>| {
        anchor.time.is_some_and(|time| {
            [PrecommitRule::BeforeFirstDispatch, PrecommitRule::BoundInDispatch]
                .into_iter()
                .any(|rule| commitment(anchor, time, rule, record, skew_s).is_empty())
        })
    };
    if of_kind(anchors, AnchorKind::PlanCommitment).any(before) {
        Precedence::Bounded
    } else {
        Precedence::Recorded
    }
}

/// The verified anchors of a kind.
fn of_kind<'s, 'a>(
    anchors: &'s [Anchor<'a>],
    kind: AnchorKind,
) -> impl Iterator<Item = &'s Anchor<'a>> {
    anchors.iter().filter(move |anchor| anchor.is_verified() && anchor.row.kind == kind)
}

fn after(time: GenTime, seconds: i64) -> GenTime {
    time.shifted(seconds.saturating_mul(SECOND_US))
}
