//! Counts of contributors: what a summary says, apart from any wire form.

use std::collections::BTreeMap;

use super::super::core_pack::CoreId;
use super::contributors::{ContributorKind, Credit, MAX_CONTRIBUTORS};
use crate::digest::Digest;
use crate::jp::id::Id;

/// Memberships of one kind: how many outputs each id contributed to; no id with none.
pub type Memberships = BTreeMap<CoreId, u64>;

/// The counts of one declared outcome in one stage.
///
/// With N records, F of them by fallback, and M memberships in all: every single count is at most
/// N − F, and N − F ≤ M ≤ 4096 × (N − F).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "RFC 0028 fixes the counts of a summary")]
pub struct OutcomeTally {
    /// N: outputs with this outcome.
    pub records: u64,
    /// F: those of them that the fallback selected.
    pub fallback: u64,
    /// Memberships of forcing exceptions.
    pub forcing: Memberships,
    /// Memberships of rules.
    pub rules: Memberships,
}

/// An invariant that counts break.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InvariantError {
    /// F > N.
    #[error("more fallback records than records")]
    Fallback,
    /// A single count is 0, which has no entry.
    #[error("an identity is counted zero times")]
    Zero,
    /// A single count is over N − F.
    #[error("an identity is counted more often than there are records with contributors")]
    Single,
    /// M < N − F: a record with contributors has at least one.
    #[error("fewer memberships than records with contributors")]
    TooFew,
    /// M > 4096 × (N − F).
    #[error("more memberships than records with contributors can have")]
    TooMany,
    /// The greatest count of each kind together are over N − F, though a record has one kind only.
    #[error("rules and forcing exceptions need more records with contributors than there are")]
    Kinds,
    /// A sum that 64 bits don't hold.
    #[error("a sum is too large")]
    Overflow,
}

impl OutcomeTally {
    /// The memberships of one kind.
    #[must_use]
    pub const fn of(&self, kind: ContributorKind) -> &Memberships {
        match kind {
            ContributorKind::ForcingException => &self.forcing,
            ContributorKind::Rule => &self.rules,
        }
    }

    /// M: all memberships; `None` if 64 bits don't hold the sum.
    #[must_use]
    pub fn memberships(&self) -> Option<u64> {
        self.forcing
            .values()
            .chain(self.rules.values())
            .try_fold(0_u64, |sum, n| sum.checked_add(*n))
    }

    /// Checks the invariants of N, F and M, and the one that follows from homogeneous collections.
    pub fn check(&self) -> Result<(), InvariantError> {
        let credited = self.records.checked_sub(self.fallback).ok_or(InvariantError::Fallback)?;
        let greatest = |counts: &Memberships| counts.values().copied().max().unwrap_or(0);
        let (forcing, rules) = (greatest(&self.forcing), greatest(&self.rules));
        if self.forcing.values().chain(self.rules.values()).any(|count| *count == 0) {
            return Err(InvariantError::Zero);
        }
        if forcing > credited || rules > credited {
            return Err(InvariantError::Single);
        }
        let total = self.memberships().ok_or(InvariantError::Overflow)?;
        if total < credited {
            return Err(InvariantError::TooFew);
        }
        let ceiling = u64::try_from(MAX_CONTRIBUTORS).unwrap_or(u64::MAX).checked_mul(credited);
        if total > ceiling.ok_or(InvariantError::Overflow)? {
            return Err(InvariantError::TooMany);
        }
        if forcing.checked_add(rules).ok_or(InvariantError::Overflow)? > credited {
            return Err(InvariantError::Kinds);
        }
        Ok(())
    }

    /// Counts one output with this outcome. [`Credit::NonOutcome`] is none and counts nothing.
    fn add(&mut self, credit: &Credit) {
        match credit {
            Credit::Contributors(contributors) => {
                self.records += 1;
                let counts = match contributors.kind() {
                    ContributorKind::ForcingException => &mut self.forcing,
                    ContributorKind::Rule => &mut self.rules,
                };
                for id in contributors.ids() {
                    match counts.get_mut(id) {
                        Some(count) => *count += 1,
                        None => drop(counts.insert(id.clone(), 1)),
                    }
                }
            }
            Credit::Fallback => {
                self.records += 1;
                self.fallback += 1;
            }
            Credit::NonOutcome => {}
        }
    }
}

/// The counts of one stage. Every outcome that the pack declares has an entry, also with no records.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct StageTally {
    /// The stage.
    pub stage: Id,
    /// The pinned pack.
    pub pack: Digest,
    /// SHA-256 of the canonical closed set that the counted outputs are.
    pub set: Digest,
    /// Outputs with disposition kind `unresolved`.
    pub unresolved: u64,
    /// Outputs with disposition kind `not-applicable`.
    pub not_applicable: u64,
    /// The counts by declared outcome.
    pub outcomes: BTreeMap<CoreId, OutcomeTally>,
}

impl StageTally {
    /// Nothing counted yet, for these declared outcomes.
    pub fn new<'o>(
        stage: Id,
        pack: Digest,
        set: Digest,
        outcomes: impl IntoIterator<Item = &'o CoreId>,
    ) -> Self {
        let outcomes =
            outcomes.into_iter().map(|id| (id.clone(), OutcomeTally::default())).collect();
        Self { stage, pack, set, unresolved: 0, not_applicable: 0, outcomes }
    }

    /// Counts one output with this outcome. Whether there is such an outcome.
    #[must_use]
    pub fn add_outcome(&mut self, outcome: &CoreId, credit: &Credit) -> bool {
        let tally = self.outcomes.get_mut(outcome);
        tally.map(|tally| tally.add(credit)).is_some()
    }

    /// Outputs with an outcome; `None` if 64 bits don't hold the sum.
    #[must_use]
    pub fn outcome_records(&self) -> Option<u64> {
        self.outcomes.values().try_fold(0_u64, |sum, tally| sum.checked_add(tally.records))
    }

    /// All outputs; `None` if 64 bits don't hold the sum.
    #[must_use]
    pub fn records(&self) -> Option<u64> {
        self.outcome_records()?.checked_add(self.unresolved)?.checked_add(self.not_applicable)
    }

    /// Checks every outcome's invariants; the error names the outcome.
    pub fn check(&self) -> Result<(), (CoreId, InvariantError)> {
        for (id, tally) in &self.outcomes {
            tally.check().map_err(|error| (id.clone(), error))?;
        }
        Ok(())
    }
}

/// The counts of one execution: one entry per stage, in the workflow's order, also for empty stages.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// Digest of the workflow document.
    pub workflow: Digest,
    /// The execution's id.
    pub execution: Id,
    /// The stages.
    pub stages: Vec<StageTally>,
}

impl Summary {
    /// A summary of these stages.
    #[must_use]
    pub const fn new(workflow: Digest, execution: Id, stages: Vec<StageTally>) -> Self {
        Self { workflow, execution, stages }
    }

    /// The counts of one stage.
    #[must_use]
    pub fn stage(&self, id: &Id) -> Option<&StageTally> {
        self.stages.iter().find(|stage| stage.stage == *id)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::super::contributors::Contributors;
    use super::*;

    fn id(text: &str) -> CoreId {
        text.parse().unwrap()
    }

    fn counts(all: &[(&str, u64)]) -> Memberships {
        all.iter().map(|(text, count)| (id(text), *count)).collect()
    }

    fn tally(
        records: u64,
        fallback: u64,
        forcing: &[(&str, u64)],
        rules: &[(&str, u64)],
    ) -> OutcomeTally {
        OutcomeTally { records, fallback, forcing: counts(forcing), rules: counts(rules) }
    }

    #[test]
    fn the_invariants_are_those_of_the_rfc() {
        let check = |records, fallback, forcing: &[_], rules: &[_]| {
            tally(records, fallback, forcing, rules).check()
        };
        assert_eq!(check(0, 0, &[], &[]), Ok(()));
        assert_eq!(check(3, 3, &[], &[]), Ok(()), "N = F, so M = 0");
        assert_eq!(check(3, 1, &[], &[("a", 2), ("b", 1)]), Ok(()));
        assert_eq!(check(2, 3, &[], &[]), Err(InvariantError::Fallback));
        assert_eq!(check(3, 3, &[], &[("a", 1)]), Err(InvariantError::Single));
        assert_eq!(check(3, 1, &[], &[("a", 3)]), Err(InvariantError::Single));
        assert_eq!(check(3, 0, &[("a", 4)], &[]), Err(InvariantError::Single));
        assert_eq!(check(3, 0, &[], &[("a", 2)]), Err(InvariantError::TooFew));
        assert_eq!(check(3, 0, &[], &[]), Err(InvariantError::TooFew));
        assert_eq!(check(1, 0, &[], &[("a", 1), ("b", 0)]), Err(InvariantError::Zero));
        assert_eq!(check(2, 0, &[("a", 2)], &[("b", 1)]), Err(InvariantError::Kinds));
        assert_eq!(check(3, 0, &[("a", 2)], &[("a", 1)]), Ok(()));
    }

    #[test]
    fn the_ceiling_of_memberships_is_exact() {
        let rules = |count: usize| -> Memberships {
            (0..count).map(|n| (id(&format!("r{n:05}")), 1)).collect()
        };
        let with = |rules| OutcomeTally { records: 1, rules, ..OutcomeTally::default() };
        assert_eq!(with(rules(MAX_CONTRIBUTORS)).check(), Ok(()));
        assert_eq!(with(rules(MAX_CONTRIBUTORS + 1)).check(), Err(InvariantError::TooMany));
        let half = tally(u64::MAX, 0, &[], &[("a", u64::MAX), ("b", 1)]);
        assert_eq!(half.check(), Err(InvariantError::Overflow));
        let product = tally(u64::MAX, 0, &[], &[("a", u64::MAX)]);
        assert_eq!(product.check(), Err(InvariantError::Overflow));
    }

    #[test]
    fn every_member_counts_once_per_output() {
        let stage = "s".parse().unwrap();
        let (pack, set) = (Digest::of(b"pack"), Digest::of(b"set"));
        let mut stage = StageTally::new(stage, pack, set, &[id("yes"), id("no")]);
        let two = Credit::Contributors(
            Contributors::new(ContributorKind::Rule, [id("a"), id("b")]).unwrap(),
        );
        let one = Credit::Contributors(
            Contributors::new(ContributorKind::ForcingException, [id("a")]).unwrap(),
        );
        assert!(stage.add_outcome(&id("yes"), &two) && stage.add_outcome(&id("yes"), &two));
        assert!(
            stage.add_outcome(&id("yes"), &one) && stage.add_outcome(&id("yes"), &Credit::Fallback)
        );
        assert!(!stage.add_outcome(&id("maybe"), &one));
        let expected = tally(4, 1, &[("a", 1)], &[("a", 2), ("b", 2)]);
        assert_eq!(stage.outcomes.get("yes"), Some(&expected));
        assert_eq!(stage.outcomes.get("no"), Some(&OutcomeTally::default()));
        assert_eq!((stage.records(), stage.outcome_records()), (Some(4), Some(4)));
        assert_eq!(stage.check(), Ok(()));
    }
}
