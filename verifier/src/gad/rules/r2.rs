//! Algorithm 2, R2: "require unique freeze f; f.payload.hash = h(P_frozen); idx(f) < idx(first dispatch);
//! check wall-clock consistency under the declared clock policy (reference, not order)".
//!
//! That a clock policy is declared at all is a matter of the plan (R2.CLOCK.UNDECLARED, raised where it is
//! read); without one there is nothing here to hold times against.

use anchorlog_proto::Digest;
use anchorlog_proto::gad::entry::{EntryType, Payload};
use anchorlog_proto::gad::plan::ClockPolicy;

use crate::codes::gad::r2::{
    CLOCK_BACKSTEP, FREEZE_AFTER_DISPATCH, FREEZE_DUP, FREEZE_EMBED, FREEZE_HASH, FREEZE_MISSING,
    FREEZE_NOT_FIRST,
};
use crate::gad::finding::WITNESS;
use crate::gad::{Event, Findings, GadFinding, PlanIndex, Where};

/// The observer of recorded precedence.
#[derive(Clone, Debug)]
pub struct R2 {
    plan_hash: Digest,
    clock: Option<ClockPolicy>,
    freeze: Option<u64>,
    first_dispatch: Option<u64>,
    previous_time: Option<i64>,
}

impl R2 {
    /// Before the first entry of a record of this plan.
    #[must_use]
    pub const fn new(plan: &PlanIndex) -> Self {
        Self {
            plan_hash: plan.hash(),
            clock: plan.plan().clock,
            freeze: None,
            first_dispatch: None,
            previous_time: None,
        }
    }

    /// One entry, in order.
    pub fn observe(&mut self, event: &Event<'_>, findings: &mut Findings) {
        self.clock(event, findings);
        match event.entry.entry_type {
            EntryType::Freeze => self.freeze(event, findings),
            EntryType::Dispatch => {
                self.first_dispatch.get_or_insert(event.entry.seq);
            }
            _ => {}
        }
    }

    /// After the last entry.
    pub fn finish(&self, findings: &mut Findings) {
        if self.freeze.is_none() {
            findings.push(GadFinding::new(FREEZE_MISSING, Where::member(WITNESS)));
        }
    }

    fn freeze(&mut self, event: &Event<'_>, findings: &mut Findings) {
        if let Some(Payload::Freeze { hash, embedded, .. }) = event.payload() {
            if *hash != Some(self.plan_hash) {
                findings.push(self.other_plan(FREEZE_HASH, event.member("/hash"), *hash));
            }
            if *embedded != Some(self.plan_hash) {
                findings.push(self.other_plan(FREEZE_EMBED, event.member("/plan"), *embedded));
            }
        }
        if let Some(first) = self.freeze {
            findings.push(
                GadFinding::new(FREEZE_DUP, event.place())
                    .expected("one freeze")
                    .actual(format_args!("another one after entry {first}")),
            );
            return;
        }
        self.freeze = Some(event.entry.seq);
        if event.index != 0 {
            findings.push(
                GadFinding::new(FREEZE_NOT_FIRST, event.place())
                    .expected("the first entry")
                    .actual(format_args!("position {}", event.index)),
            );
        }
        if let Some(dispatch) = self.first_dispatch {
            findings.push(
                GadFinding::new(FREEZE_AFTER_DISPATCH, event.place())
                    .expected("before the first dispatch")
                    .actual(format_args!("after the dispatch of entry {dispatch}")),
            );
        }
    }

    fn other_plan(
        &self,
        code: crate::codes::Code,
        place: Where,
        actual: Option<Digest>,
    ) -> GadFinding {
        let finding = GadFinding::new(code, place).expected(self.plan_hash);
        match actual {
            Some(actual) => finding.actual(actual),
            None => finding,
        }
    }

    /// t_i may not lie before t_(i-1) by more than max_backstep_s.
    fn clock(&mut self, event: &Event<'_>, findings: &mut Findings) {
        let time = event.entry.time;
        let previous = self.previous_time.replace(time);
        let (Some(clock), Some(previous)) = (self.clock, previous) else { return };
        if time < previous.saturating_sub(clock.max_backstep_s.into()) {
            findings.push(
                GadFinding::new(CLOCK_BACKSTEP, event.place().at("/body/t"))
                    .expected(format_args!(
                        "at most {} s before the entry before it",
                        clock.max_backstep_s
                    ))
                    .actual(format_args!("{} s before it", previous.saturating_sub(time))),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gad::rules::testing::{Log, codes, plan};

    fn run(entries: impl FnOnce(&mut Log)) -> Vec<&'static str> {
        let plan = plan(|_| {});
        let mut log = Log::new(&plan);
        entries(&mut log);
        let mut rule = R2::new(&plan);
        let mut findings = Findings::new();
        for event in log.events() {
            rule.observe(&event, &mut findings);
        }
        rule.finish(&mut findings);
        codes(&findings)
    }

    #[test]
    fn a_freeze_that_comes_first_says_the_plan_and_is_the_only_one() {
        assert_eq!(run(|log| log.freeze().dispatch("s1", &["n1"]).done()), [""; 0]);
        assert_eq!(run(|log| log.dispatch("s1", &["n1"]).done()), ["R2.FREEZE.MISSING"]);
        assert_eq!(run(|log| log.freeze().freeze().done()), ["R2.FREEZE.DUP"]);
        assert_eq!(run(|log| log.checkpoint().freeze().done()), ["R2.FREEZE.NOT_FIRST"]);
        assert_eq!(
            run(|log| log.dispatch("s1", &["n1"]).freeze().done()),
            ["R2.FREEZE.AFTER_DISPATCH", "R2.FREEZE.NOT_FIRST"]
        );
    }

    #[test]
    fn hash_and_embedded_plan_are_each_held_against_the_plan() {
        let plan = plan(|_| {});
        let (right, other) = (Some(plan.hash()), Some(Digest::of(b"another plan")));
        for (hash, embedded, expected) in [
            (right, right, &[][..]),
            (other, right, &["R2.FREEZE.HASH"]),
            (None, right, &["R2.FREEZE.HASH"]),
            (right, other, &["R2.FREEZE.EMBED"]),
            (right, None, &["R2.FREEZE.EMBED"]),
            (other, other, &["R2.FREEZE.EMBED", "R2.FREEZE.HASH"]),
        ] {
            let found = run(|log| {
                log.push(EntryType::Freeze, Payload::Freeze { hash, embedded, plan: None });
            });
            assert_eq!(found, expected, "{hash:?} {embedded:?}");
        }
    }

    #[test]
    fn time_may_step_back_as_far_as_declared() {
        // The plan of these tests declares 5 seconds.
        assert_eq!(run(|log| log.at(100).freeze().at(95).checkpoint().done()), [""; 0]);
        assert_eq!(
            run(|log| log.at(100).freeze().at(94).checkpoint().at(93).checkpoint().done()),
            ["R2.CLOCK.BACKSTEP"]
        );
        // Each against the one before it, not against the latest.
        assert_eq!(
            run(|log| log.at(100).freeze().at(95).checkpoint().at(90).checkpoint().done()),
            [""; 0]
        );
        assert_eq!(
            run(|log| log
                .at(i64::MIN)
                .freeze()
                .at(i64::MAX)
                .checkpoint()
                .at(i64::MIN)
                .checkpoint()
                .done()),
            ["R2.CLOCK.BACKSTEP"]
        );
    }

    #[test]
    fn without_a_declared_policy_times_are_not_judged() {
        let plan = plan(|plan| plan.clock = None);
        let mut log = Log::new(&plan);
        log.at(100).freeze().at(0).checkpoint().done();
        let (mut rule, mut findings) = (R2::new(&plan), Findings::new());
        for event in log.events() {
            rule.observe(&event, &mut findings);
        }
        assert!(findings.is_empty());
    }
}
