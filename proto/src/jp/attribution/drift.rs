//! Signed drift: how the counts of one execution differ from those of another.

use std::collections::{BTreeMap, BTreeSet};

use super::super::core_pack::CoreId;
use super::contributors::ContributorKind;
use super::tally::{Memberships, OutcomeTally, StageTally, Summary};
use crate::digest::Digest;
use crate::jp::id::Id;

/// Differences of one kind's memberships, after − before; no id without a difference.
pub type SignedMemberships = BTreeMap<CoreId, i64>;

/// The differences of one outcome, after − before.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "one difference for each count of a summary")]
pub struct OutcomeDrift {
    /// Of the outputs with this outcome.
    pub records: i64,
    /// Of those that the fallback selected.
    pub fallback: i64,
    /// Of the memberships of forcing exceptions.
    pub forcing: SignedMemberships,
    /// Of the memberships of rules.
    pub rules: SignedMemberships,
}

impl OutcomeDrift {
    /// The differences of one kind.
    #[must_use]
    pub const fn of(&self, kind: ContributorKind) -> &SignedMemberships {
        match kind {
            ContributorKind::ForcingException => &self.forcing,
            ContributorKind::Rule => &self.rules,
        }
    }

    /// Whether nothing differs.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        *self == Self::default()
    }
}

/// The differences of one stage.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct StageDrift {
    /// The stage.
    pub stage: Id,
    /// The pack before and after. Ids belong to a pack version: under another pack the same id is the
    /// same name, not shown to be the same rule.
    pub packs: [Option<Digest>; 2],
    /// Of the outputs with disposition kind `unresolved`.
    pub unresolved: i64,
    /// Of the outputs with disposition kind `not-applicable`.
    pub not_applicable: i64,
    /// By outcome; no outcome without a difference.
    pub outcomes: BTreeMap<CoreId, OutcomeDrift>,
}

/// One side of a comparison.
#[derive(Clone, Debug, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "what tells executions apart")]
pub struct Side {
    /// Digest of the workflow document.
    pub workflow: Digest,
    /// The execution's id.
    pub execution: Id,
}

/// The differences of two executions, after − before.
///
/// It subtracts counts. Outputs of different executions are not paired, so it has no list of changed
/// records; a change of contributors alone shows in the memberships and nowhere else.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Drift {
    /// What was before.
    pub before: Side,
    /// What came after.
    pub after: Side,
    /// Every stage of either side: in the order of `after`, then those that are gone.
    pub stages: Vec<StageDrift>,
}

/// Two counts differ by more than 63 bits hold. No count of outputs that were read is near that.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("counts differ by more than 63 bits hold")]
pub struct DriftOverflow;

impl Drift {
    /// Subtracts `before` from `after`.
    pub fn between(before: &Summary, after: &Summary) -> Result<Self, DriftOverflow> {
        let side = |of: &Summary| Side { workflow: of.workflow, execution: of.execution.clone() };
        let there: BTreeSet<&Id> = after.stages.iter().map(|stage| &stage.stage).collect();
        let gone = before.stages.iter().filter(|stage| !there.contains(&stage.stage));
        let kept = after.stages.iter().map(|stage| (before.stage(&stage.stage), Some(stage)));
        let stages = kept
            .chain(gone.map(|stage| (Some(stage), None)))
            .filter_map(|(before, after)| stage_drift(before, after))
            .collect::<Result<_, _>>()?;
        Ok(Self { before: side(before), after: side(after), stages })
    }

    /// Whether no count differs.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.stages.iter().all(|stage| {
            stage.unresolved == 0 && stage.not_applicable == 0 && stage.outcomes.is_empty()
        })
    }
}

/// `None` only where there is no stage on either side.
fn stage_drift(
    before: Option<&StageTally>,
    after: Option<&StageTally>,
) -> Option<Result<StageDrift, DriftOverflow>> {
    let stage = after.or(before)?.stage.clone();
    let count = |of: fn(&StageTally) -> u64| subtract(before.map_or(0, of), after.map_or(0, of));
    let drift = || {
        Ok(StageDrift {
            stage,
            packs: [before.map(|stage| stage.pack), after.map(|stage| stage.pack)],
            unresolved: count(|stage| stage.unresolved)?,
            not_applicable: count(|stage| stage.not_applicable)?,
            outcomes: outcomes(before, after)?,
        })
    };
    Some(drift())
}

fn outcomes(
    before: Option<&StageTally>,
    after: Option<&StageTally>,
) -> Result<BTreeMap<CoreId, OutcomeDrift>, DriftOverflow> {
    let none = OutcomeTally::default();
    let of = |side: Option<&'_ StageTally>, id: &CoreId| {
        side.and_then(|stage| stage.outcomes.get(id)).cloned().unwrap_or_default()
    };
    let ids: BTreeSet<&CoreId> =
        [before, after].into_iter().flatten().flat_map(|stage| stage.outcomes.keys()).collect();
    let mut found = BTreeMap::new();
    for id in ids {
        let (before, after) = (of(before, id), of(after, id));
        if before == none && after == none {
            continue;
        }
        let drift = OutcomeDrift {
            records: subtract(before.records, after.records)?,
            fallback: subtract(before.fallback, after.fallback)?,
            forcing: memberships(&before.forcing, &after.forcing)?,
            rules: memberships(&before.rules, &after.rules)?,
        };
        if !drift.is_zero() {
            found.insert(id.clone(), drift);
        }
    }
    Ok(found)
}

fn memberships(
    before: &Memberships,
    after: &Memberships,
) -> Result<SignedMemberships, DriftOverflow> {
    let ids: BTreeSet<&CoreId> = before.keys().chain(after.keys()).collect();
    let mut found = SignedMemberships::new();
    for id in ids {
        let count = |side: &Memberships| side.get(id).copied().unwrap_or(0);
        let difference = subtract(count(before), count(after))?;
        if difference != 0 {
            found.insert(id.clone(), difference);
        }
    }
    Ok(found)
}

fn subtract(before: u64, after: u64) -> Result<i64, DriftOverflow> {
    let signed = |count: u64| i64::try_from(count).map_err(|_| DriftOverflow);
    // Both are at least 0, so their difference fits.
    Ok(signed(after)? - signed(before)?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use proptest::prelude::*;

    use super::*;

    /// An id, and how often it contributed as an exception and as a rule.
    type Row<'a> = (&'a str, u64, u64);
    /// A stage, its unresolved outputs, and its rows.
    type Stage<'a> = (&'a str, u64, &'a [Row<'a>]);

    fn summary(execution: &str, stages: &[Stage<'_>]) -> Summary {
        let stages = stages.iter().map(|(stage, unresolved, rules)| {
            let yes: CoreId = "yes".parse().unwrap();
            let digest = Digest::of(b"pack");
            let mut tally =
                StageTally::new(stage.parse().unwrap(), digest, digest, std::slice::from_ref(&yes));
            tally.unresolved = *unresolved;
            let outcome = tally.outcomes.get_mut(&yes).unwrap();
            for (id, forcing, rule) in *rules {
                let id: CoreId = id.parse().unwrap();
                outcome.records += forcing + rule;
                if *forcing > 0 {
                    outcome.forcing.insert(id.clone(), *forcing);
                }
                if *rule > 0 {
                    outcome.rules.insert(id, *rule);
                }
            }
            tally
        });
        Summary::new(Digest::of(b"w"), execution.parse().unwrap(), stages.collect())
    }

    #[test]
    fn drift_is_typed_and_signed() {
        let before = summary("e1", &[("s", 2, &[("a", 3, 1), ("b", 0, 2)])]);
        let after = summary("e2", &[("s", 1, &[("a", 0, 4), ("c", 1, 0)])]);
        let drift = Drift::between(&before, &after).unwrap();
        let [stage] = drift.stages.as_slice() else { panic!("one stage") };
        assert_eq!((stage.unresolved, stage.not_applicable), (-1, 0));
        let outcome = stage.outcomes.get("yes").unwrap();
        assert_eq!((outcome.records, outcome.fallback), (-1, 0));
        let of =
            |kind| outcome.of(kind).iter().map(|(id, n)| (id.as_str(), *n)).collect::<Vec<_>>();
        // The same id counts apart as an exception and as a rule.
        assert_eq!(of(ContributorKind::ForcingException), [("a", -3), ("c", 1)]);
        assert_eq!(of(ContributorKind::Rule), [("a", 3), ("b", -2)]);
        assert!(!drift.is_zero());
    }

    #[test]
    fn stages_that_come_and_go_are_compared_with_nothing() {
        let before = summary("e", &[("gone", 1, &[]), ("kept", 0, &[])]);
        let after = summary("e", &[("new", 0, &[("a", 0, 1)]), ("kept", 0, &[])]);
        let drift = Drift::between(&before, &after).unwrap();
        let names: Vec<_> = drift.stages.iter().map(|stage| stage.stage.as_str()).collect();
        assert_eq!(names, ["new", "kept", "gone"]);
        let pack = Some(Digest::of(b"pack"));
        let packs: Vec<_> = drift.stages.iter().map(|stage| stage.packs).collect();
        assert_eq!(packs, [[None, pack], [pack, pack], [pack, None]]);
        assert_eq!(drift.stages.last().unwrap().unresolved, -1);
    }

    #[test]
    fn counts_that_63_bits_do_not_hold_are_refused() {
        let huge = summary("e", &[("s", u64::MAX, &[])]);
        assert_eq!(Drift::between(&huge, &huge), Err(DriftOverflow));
    }

    proptest! {
        #[test]
        fn drift_added_to_before_is_after(
            before in proptest::collection::vec((0_u64..9, 0_u64..9), 3),
            after in proptest::collection::vec((0_u64..9, 0_u64..9), 3),
        ) {
            let make = |counts: &[(u64, u64)]| {
                let rows: Vec<_> = ["a", "b", "c"].into_iter().zip(counts).map(|(id, (f, r))| (id, *f, *r)).collect();
                summary("e", &[("s", 0, &rows)])
            };
            let (before, after) = (make(&before), make(&after));
            let drift = Drift::between(&before, &after).unwrap();
            let back = Drift::between(&after, &before).unwrap();
            prop_assert_eq!(drift.is_zero(), before == after);
            let (old, new) = (before.stages[0].outcomes["yes"].clone(), after.stages[0].outcomes["yes"].clone());
            let changed = drift.stages[0].outcomes.get("yes").cloned().unwrap_or_default();
            let reverse = back.stages[0].outcomes.get("yes").cloned().unwrap_or_default();
            for kind in ContributorKind::ALL {
                for id in ["a", "b", "c"] {
                    let at = |side: &Memberships| i64::try_from(side.get(id).copied().unwrap_or(0)).unwrap();
                    let delta = changed.of(kind).get(id).copied().unwrap_or(0);
                    prop_assert_eq!(at(old.of(kind)) + delta, at(new.of(kind)));
                    prop_assert_eq!(reverse.of(kind).get(id).copied().unwrap_or(0), -delta);
                }
            }
        }
    }
}
