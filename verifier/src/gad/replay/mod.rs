//! Replay: doing a verdict's test again, where the trust policy asks for it (Algorithm 2, equation (3):
//! "independently_replayable with replay succeeding, where Π's replay policy requires or samples it; the
//! evaluator performs every policy-required replay or fails closed").
//!
//! What it is: which verdicts are asked, what is asked, and what came of it. What it isn't: a way to run
//! tests; somebody outside does that, behind [`Replay`]. [`CommandRunner`] is the one that runs a command
//! the caller names.

mod request;
mod runner;

use core::fmt;
use std::sync::Arc;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::names::ObservationLayer;
use anchorlog_proto::gad::plan::TestSpec;
use anchorlog_proto::gad::policy::ReplayPolicy;
use anchorlog_proto::signed_object::Domain;

pub use request::{
    REPLAY_REQUEST_SCHEMA, REPLAY_RESULT_SCHEMA, ReplayRequest, ReplayResult, ReplayResultError,
};
pub use runner::{CommandRunner, RunnerLimits};

/// Somebody who can do tests again.
pub trait Replay: fmt::Debug + Send + Sync {
    /// Does the test of this request again and compares. Called once per verdict asked, in the record's
    /// order; everything that isn't a clear answer is [`ReplayOutcome::Unavailable`].
    fn outcome(&self, request: &ReplayRequest<'_>) -> ReplayOutcome;
}

/// What came of one replay.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[allow(
    clippy::exhaustive_enums,
    reason = "there is no fourth: whatever can't be told is unavailable"
)]
pub enum ReplayOutcome {
    /// It was done again with the verdict's result.
    Agreed,
    /// It was done again with another result.
    Disagreed,
    /// It wasn't done, or nobody can tell what came of it.
    Unavailable,
}

/// Nobody: every replay is unavailable. It is what an evaluation without a runner has.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::exhaustive_structs, reason = "it has nothing")]
pub struct NoReplay;

impl Replay for NoReplay {
    fn outcome(&self, _: &ReplayRequest<'_>) -> ReplayOutcome {
        ReplayOutcome::Unavailable
    }
}

/// Which verdicts are asked, and by whom they are answered.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReplayRule {
    policy: ReplayPolicy,
    root_core: Option<Digest>,
    replay: Arc<dyn Replay>,
}

impl ReplayRule {
    /// The replay rule of a policy over a record. Sampling depends on `root_core`: without one, every
    /// verdict is in the sample.
    #[must_use]
    pub fn new(policy: ReplayPolicy, root_core: Option<Digest>, replay: Arc<dyn Replay>) -> Self {
        Self { policy, root_core, replay }
    }

    /// The rule that asks for nothing.
    #[must_use]
    pub fn none() -> Self {
        Self::new(ReplayPolicy::None, None, Arc::new(NoReplay))
    }

    /// Whether the verdict with this number, of a test with this frozen spec, has to be done again: its
    /// frozen layers hold independently_replayable, and the policy names it.
    #[must_use]
    pub fn asks(&self, spec: &TestSpec, seq: u64) -> bool {
        spec.layers.contains(&ObservationLayer::IndependentlyReplayable)
            && match &self.policy {
                ReplayPolicy::None => false,
                ReplayPolicy::RequiredForAll => true,
                ReplayPolicy::RequiredFor(kinds) => kinds.contains(&spec.kind),
                ReplayPolicy::Sampled { per_million } => {
                    self.root_core.is_none_or(|root| is_sampled(&root, seq, *per_million))
                }
            }
    }

    /// Asks.
    #[must_use]
    pub fn outcome(&self, request: &ReplayRequest<'_>) -> ReplayOutcome {
        self.replay.outcome(request)
    }
}

/// Whether a record's entry is in a sample of so many in a million (definitions 2.22): the first eight bytes
/// of H("gad/1/replay-sample\0" ‖ root_core ‖ u64 seq), a fraction of 2^64, lie below the rate. `seq` is
/// hashed as eight bytes, big-endian.
#[must_use]
pub fn is_sampled(root_core: &Digest, seq: u64, per_million: u32) -> bool {
    let digest = Domain::ReplaySample.hash(&[root_core.as_bytes(), &seq.to_be_bytes()]);
    let point = digest.as_bytes().first_chunk().map_or(0, |first| u64::from_be_bytes(*first));
    u128::from(point) * 1_000_000 < u128::from(per_million) << 64
}

/// How many verdicts were asked, and what came of it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ReplaySummary {
    /// Replays that agreed.
    pub agreed: u64,
    /// Replays that disagreed.
    pub disagreed: u64,
    /// Replays that were not done.
    pub unavailable: u64,
}

impl ReplaySummary {
    /// How many verdicts were asked about.
    #[must_use]
    pub const fn asked(&self) -> u64 {
        self.agreed.saturating_add(self.disagreed).saturating_add(self.unavailable)
    }

    /// Counts one more.
    pub const fn add(&mut self, outcome: ReplayOutcome) {
        let count = match outcome {
            ReplayOutcome::Agreed => &mut self.agreed,
            ReplayOutcome::Disagreed => &mut self.disagreed,
            ReplayOutcome::Unavailable => &mut self.unavailable,
        };
        *count = count.saturating_add(1);
    }

    /// `replay_layers_exercised` of an attestation: independently_replayable when at least one replay was
    /// asked for and every one that was asked for was done.
    #[must_use]
    pub const fn layers_exercised(&self) -> &'static [ObservationLayer] {
        let done = self.agreed > 0 || self.disagreed > 0;
        if done && self.unavailable == 0 {
            &[ObservationLayer::IndependentlyReplayable]
        } else {
            &[]
        }
    }
}

#[cfg(test)]
mod tests {
    use anchorlog_proto::gad::names::ObservableKind;

    use super::*;
    use crate::gad::rules::testing::spec;

    fn asks(policy: ReplayPolicy, spec: &TestSpec) -> bool {
        ReplayRule::new(policy, Some(Digest::of(b"root")), Arc::new(NoReplay)).asks(spec, 1)
    }

    #[test]
    fn the_policy_says_which_replayable_tests_are_asked() {
        let mut replayable = spec();
        replayable.layers.push(ObservationLayer::IndependentlyReplayable);
        let http = ReplayPolicy::RequiredFor(vec![ObservableKind::Http]);
        let command =
            ReplayPolicy::RequiredFor(vec![ObservableKind::Command, ObservableKind::Http]);
        for (policy, expected) in [
            (ReplayPolicy::None, false),
            (ReplayPolicy::RequiredForAll, true),
            (http, false),
            (command, true),
            (ReplayPolicy::Sampled { per_million: 0 }, false),
            (ReplayPolicy::Sampled { per_million: 1_000_000 }, true),
        ] {
            assert_eq!(asks(policy.clone(), &replayable), expected, "{policy:?}");
            // What the frozen test doesn't declare replayable is never asked.
            assert!(!asks(policy, &spec()));
        }
        let unknown = ReplayPolicy::Sampled { per_million: 0 };
        assert!(ReplayRule::new(unknown, None, Arc::new(NoReplay)).asks(&replayable, 1));
    }

    #[test]
    fn a_sample_is_as_large_as_declared_and_the_same_each_time() {
        let root = Digest::of(b"root");
        let sample = |root: Digest, rate| -> Vec<u64> {
            (0..100_000).filter(|seq| is_sampled(&root, *seq, rate)).collect()
        };
        let tenth = sample(root, 100_000);
        assert!((9_600..10_400).contains(&tenth.len()), "{}", tenth.len());
        assert_eq!(tenth, sample(root, 100_000));
        assert_ne!(tenth, sample(Digest::of(b"another root"), 100_000));
        // A higher rate only adds.
        let fifth = sample(root, 200_000);
        assert!(tenth.iter().all(|seq| fifth.binary_search(seq).is_ok()));
        assert_eq!(sample(root, 0).len(), 0);
        assert_eq!(sample(root, 1_000_000).len(), 100_000);
    }

    #[test]
    fn the_sample_is_the_declared_function() {
        let root = Digest::of(b"root");
        let mut message = b"gad/1/replay-sample\0".to_vec();
        message.extend_from_slice(root.as_bytes());
        message.extend_from_slice(&7_u64.to_be_bytes());
        let digest = Digest::of(&message);
        let point = u64::from_be_bytes(*digest.as_bytes().first_chunk().unwrap());
        let rate = u32::try_from((u128::from(point) * 1_000_000) >> 64).unwrap();
        assert!(is_sampled(&root, 7, rate + 1));
        assert!(!is_sampled(&root, 7, rate));
    }

    #[test]
    fn a_layer_counts_as_exercised_when_everything_asked_for_was_done() {
        use ReplayOutcome::{Agreed, Disagreed, Unavailable};
        let layers = |outcomes: &[ReplayOutcome]| {
            let mut summary = ReplaySummary::default();
            for outcome in outcomes {
                summary.add(*outcome);
            }
            summary.layers_exercised().len()
        };
        assert_eq!(layers(&[]), 0);
        assert_eq!(layers(&[Agreed]), 1);
        assert_eq!(layers(&[Disagreed]), 1);
        assert_eq!(layers(&[Agreed, Agreed, Disagreed]), 1);
        assert_eq!(layers(&[Agreed, Unavailable]), 0);
        assert_eq!(layers(&[Unavailable]), 0);
    }
}
