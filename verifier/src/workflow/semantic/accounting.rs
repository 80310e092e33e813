//! Check 4: which instances exceed a bound, by the order of instances and nothing else.
//!
//! `limits.maxRecords` bounds a closed set by section 5. Section 11 speaks of siblings "when ten records remain",
//! which may mean a count over the branch. Both are counted here: where they disagree about what is recorded, the
//! check is not made.

use anchorlog_proto::jp::workflow::{Attempt, Failure, Instance, SetStatus};

use super::super::check::{Check, FindingCode, Reason, Tally};
use super::{Bench, Extracted, Step, extract, extract_of, instances, output_counts};

pub(super) fn check(bench: &Bench<'_>, tally: &mut Tally) -> Step {
    let loaded = bench.loaded;
    let most = loaded.workflow.limits.max_records;
    let counts = output_counts(loaded);
    let mut branch = Count { total: 0, tripped: false, fits: true };
    let mut stages_fit = true;
    for (position, stage) in loaded.workflow.stages.iter().enumerate() {
        let closed = loaded
            .execution
            .output_sets
            .get(position)
            .is_some_and(|set| set.status == SetStatus::Closed);
        if !closed {
            continue;
        }
        let mut own = Count { total: 0, tripped: false, fits: true };
        branch.tripped = false;
        for (at, instance) in instances(loaded, stage) {
            for position in earlier_over(instance) {
                let offers = match extract_of(bench, stage, at, instance, position)? {
                    Extracted::Values(values) => values.len(),
                    Extracted::Invalid(_) => 0,
                    Extracted::Unknown => {
                        let detail = format_args!("instance {}", instance.id);
                        tally.unmade(Check::BoundAccounting, Reason::NoRunExport, detail);
                        return Ok(());
                    }
                };
                own.fits &= own.exceeds(offers, most);
                branch.fits &= branch.exceeds(offers, most);
            }
            let exceeded = instance.failure == Some(Failure::LimitExceeded);
            let offers = if exceeded && !(own.tripped && branch.tripped) {
                match extract(bench, stage, at, instance)? {
                    Extracted::Values(values) => values.len(),
                    Extracted::Invalid(_) => 0,
                    Extracted::Unknown => {
                        let detail = format_args!("instance {}", instance.id);
                        tally.unmade(Check::BoundAccounting, Reason::NoRunExport, detail);
                        return Ok(());
                    }
                }
            } else {
                counts.get(at).copied().unwrap_or_default()
            };
            own.take(offers, exceeded, most);
            branch.take(offers, exceeded, most);
        }
        stages_fit &= own.fits;
    }
    match (stages_fit, branch.fits) {
        (true, true) => tally.agrees(Check::BoundAccounting),
        (false, false) => {
            let detail = "not the first instance over limits.maxRecords and those after it";
            let code = FindingCode::InventoryMismatch;
            return Err(tally.find(Check::BoundAccounting, code, detail).into());
        }
        _ => tally.unmade(Check::BoundAccounting, Reason::RecordScopeNotPublic, ""),
    }
    Ok(())
}

/// The attempts that were retried after they are said to have been over a bound.
fn earlier_over(instance: &Instance) -> impl Iterator<Item = usize> {
    let earlier = instance.attempts.split_last().map(|(_, earlier)| earlier).unwrap_or_default();
    let over = |attempt: &Attempt| attempt.failure == Some(Failure::LimitExceeded);
    earlier.iter().enumerate().filter(move |(_, one)| over(one)).map(|(position, _)| position)
}

/// One way of counting.
struct Count {
    total: u64,
    /// An instance of this stage was over the bound already.
    tripped: bool,
    /// What is recorded goes with this way.
    fits: bool,
}

impl Count {
    /// Whether so many more are over the bound, here.
    fn exceeds(&self, offers: usize, most: u64) -> bool {
        let total = self.total.saturating_add(u64::try_from(offers).unwrap_or(u64::MAX));
        self.tripped || total > most
    }

    fn take(&mut self, offers: usize, recorded_exceeded: bool, most: u64) {
        self.tripped = self.exceeds(offers, most);
        self.fits &= self.tripped == recorded_exceeded;
        if !self.tripped {
            self.total = self.total.saturating_add(u64::try_from(offers).unwrap_or(u64::MAX));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(most: u64, siblings: &[(usize, bool)]) -> bool {
        let mut count = Count { total: 0, tripped: false, fits: true };
        for (offers, exceeded) in siblings {
            count.take(*offers, *exceeded, most);
        }
        count.fits
    }

    #[test]
    fn the_first_over_the_bound_and_every_later_one() {
        assert!(fits(10, &[(6, false), (6, true), (1, true)]));
        assert!(!fits(10, &[(6, false), (6, true), (1, false)]));
        assert!(!fits(10, &[(6, false), (6, false)]));
        assert!(!fits(10, &[(6, true), (6, false)]));
        assert!(fits(12, &[(6, false), (6, false)]));
        assert!(fits(5, &[(6, true)]));
        assert!(fits(u64::MAX, &[(usize::MAX, false)]));
    }
}
