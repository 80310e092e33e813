//! Algorithm 2, R5: "worker_authored_proxy reaches proxy strength only with probe q: idx(q) < idx(v) ∧
//! q.signal_artifact_digest = v.signal_artifact_digest ∧ q.env_digest = v.env_digest ∧ q.result =
//! demonstrated_fail ∧ q.restoration = verified".
//!
//! A probe counts if it is signed by the engine and really fired as well (spawned, non-zero exit, output).
//! Findings of this rule make nothing false: they say why a verdict's signal is only attested. Each is
//! about the probe that comes closest, the one with the fewest failing conditions, of several the first.
//!
//! Cost: probes are grouped by (artifact, environment), and of each group only the first probe with 0, 1,
//! 2, 3 and 4 conditions failing of itself is kept: no other can come closest to any verdict. So a verdict
//! costs the same however many probes there are, and the answer is exact.

use std::collections::HashMap;

use anchorlog_proto::Digest;
use anchorlog_proto::gad::entry::{EntryType, Payload};
use anchorlog_proto::gad::names::PassFail;
use anchorlog_proto::gad::payload::{Probe, Restoration};

use crate::codes::Code;
use crate::codes::gad::r5::{ABSENT, ARTIFACT, ENV, NOT_FIRED, ORDER, RESTORATION, RESULT, SIG};
use crate::gad::{Event, Findings, GadFinding, Where};

/// The observer of probes, and of the verdicts that need one.
#[derive(Clone, Debug, Default)]
pub struct R5 {
    groups: HashMap<(Digest, Digest), Firsts>,
    unmatched: Vec<Unmatched>,
}

/// A verdict over a worker-authored proxy without a matching probe before it.
#[derive(Clone, Copy, Debug)]
struct Unmatched {
    index: u64,
    seq: u64,
    artifact: Option<Digest>,
    environment: Option<Digest>,
}

impl R5 {
    /// Before the first entry.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// One entry, in order; only probes matter.
    pub fn observe(&mut self, event: &Event<'_>, findings: &mut Findings) {
        if event.entry.entry_type != EntryType::Probe {
            return;
        }
        if !event.authentic {
            report(FAILED_SIG, &event.place(), event.index, findings);
        }
        if let Some(Payload::Probe(probe)) = event.payload() {
            let conditions = conditions(probe, event.authentic);
            self.groups
                .entry((probe.signal_artifact, probe.environment))
                .or_insert(Firsts::NONE)
                .add(Candidate::new(event.index, conditions));
        }
    }

    /// Whether a probe before now matches a worker-authored proxy in everything. One that doesn't is
    /// remembered, for [`R5::finish`] to say why.
    pub fn is_probed(
        &mut self,
        event: &Event<'_>,
        artifact: Option<Digest>,
        environment: Option<Digest>,
    ) -> bool {
        let key = artifact.zip(environment);
        let group = key.and_then(|key| self.groups.get(&key));
        if group.is_some_and(|group| group.0.first().is_some_and(|first| first.exists())) {
            return true;
        }
        let (index, seq) = (event.index, event.entry.seq);
        self.unmatched.push(Unmatched { index, seq, artifact, environment });
        false
    }

    /// After the last entry.
    pub fn finish(&self, findings: &mut Findings) {
        if self.unmatched.is_empty() {
            return;
        }
        let index = Index::new(&self.groups);
        for verdict in &self.unmatched {
            let place = Where::entry(verdict.seq);
            let Some((probe, failing)) = index.closest(verdict) else {
                findings.push(GadFinding::new(ABSENT, place));
                continue;
            };
            report(failing, &place, probe, findings);
        }
    }
}

// What a probe can lack, a bit each; the first four are its own.
const FAILED_RESULT: u8 = 1;
const FAILED_RESTORATION: u8 = 1 << 1;
const FAILED_SIG: u8 = 1 << 2;
const FAILED_TO_FIRE: u8 = 1 << 3;
const FAILED_ORDER: u8 = 1 << 4;
const FAILED_ARTIFACT: u8 = 1 << 5;
const FAILED_ENV: u8 = 1 << 6;

const CODES: [(u8, Code); 7] = [
    (FAILED_ORDER, ORDER),
    (FAILED_ARTIFACT, ARTIFACT),
    (FAILED_ENV, ENV),
    (FAILED_RESULT, RESULT),
    (FAILED_RESTORATION, RESTORATION),
    (FAILED_SIG, SIG),
    (FAILED_TO_FIRE, NOT_FIRED),
];

/// Reports what the probe at the position `probe` lacks.
fn report(failing: u8, place: &Where, probe: u64, findings: &mut Findings) {
    for (bit, code) in CODES {
        if failing & bit != 0 {
            findings.push(
                GadFinding::new(code, place.clone())
                    .actual(format_args!("the probe at position {probe}")),
            );
        }
    }
}

/// What a probe lacks of itself, whatever verdict it is held against.
fn conditions(probe: &Probe<'_>, authentic: bool) -> u8 {
    let fired = probe.spawned
        && probe.exit_code.is_some_and(|code| code != 0)
        && probe.output.is_some_and(|output| output != Digest::of(b""));
    let mut failing = 0;
    for (holds, bit) in [
        (probe.demonstrated == PassFail::Fail, FAILED_RESULT),
        (probe.restoration == Restoration::Verified, FAILED_RESTORATION),
        (authentic, FAILED_SIG),
        (fired, FAILED_TO_FIRE),
    ] {
        if !holds {
            failing |= bit;
        }
    }
    failing
}

/// A probe: its position and what it lacks of itself, in the order of positions.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Candidate(u64);

impl Candidate {
    const NONE: Self = Self(u64::MAX);

    fn new(index: u64, conditions: u8) -> Self {
        Self(index.saturating_mul(16).saturating_add(conditions.into()))
    }

    fn exists(self) -> bool {
        self != Self::NONE
    }

    const fn index(self) -> u64 {
        self.0 / 16
    }

    fn conditions(self) -> u8 {
        u8::try_from(self.0 % 16).unwrap_or(u8::MAX)
    }
}

/// Of some probes, the first with 0, 1, 2, 3 and 4 conditions failing of itself.
#[derive(Clone, Copy, Debug)]
struct Firsts([Candidate; 5]);

impl Firsts {
    const NONE: Self = Self([Candidate::NONE; 5]);

    fn add(&mut self, candidate: Candidate) {
        let count = usize::try_from(candidate.conditions().count_ones()).unwrap_or(usize::MAX);
        if let Some(first) = self.0.get_mut(count) {
            *first = candidate.min(*first);
        }
    }

    fn merge(&mut self, other: &Self) {
        for (first, other) in self.0.iter_mut().zip(&other.0) {
            *first = (*first).min(*other);
        }
    }
}

/// The groups, and what they come to by artifact, by environment and altogether.
struct Index<'r> {
    groups: &'r HashMap<(Digest, Digest), Firsts>,
    by_artifact: HashMap<Digest, Firsts>,
    by_environment: HashMap<Digest, Firsts>,
    all: Firsts,
}

impl<'r> Index<'r> {
    fn new(groups: &'r HashMap<(Digest, Digest), Firsts>) -> Self {
        let mut index = Self {
            groups,
            by_artifact: HashMap::new(),
            by_environment: HashMap::new(),
            all: Firsts::NONE,
        };
        // Minima don't depend on the order of the map.
        for ((artifact, environment), firsts) in groups {
            index.by_artifact.entry(*artifact).or_insert(Firsts::NONE).merge(firsts);
            index.by_environment.entry(*environment).or_insert(Firsts::NONE).merge(firsts);
            index.all.merge(firsts);
        }
        index
    }

    /// Position and failing conditions of the probe with the fewest; of several, the first.
    ///
    /// A wider group also holds probes that fail less than the group says. They count one more there than
    /// they have to, and rightly in the narrower group; so the least count is always a right one.
    fn closest(&self, verdict: &Unmatched) -> Option<(u64, u8)> {
        let both = verdict.artifact.zip(verdict.environment);
        let groups = [
            (both.and_then(|key| self.groups.get(&key)), 0),
            (verdict.artifact.and_then(|key| self.by_artifact.get(&key)), FAILED_ENV),
            (verdict.environment.and_then(|key| self.by_environment.get(&key)), FAILED_ARTIFACT),
            (Some(&self.all), FAILED_ARTIFACT | FAILED_ENV),
        ];
        let candidates = groups.into_iter().flat_map(|(group, failing)| {
            group.into_iter().flat_map(move |group| group.0.iter().map(move |of| (of, failing)))
        });
        candidates
            .filter(|(candidate, _)| candidate.exists())
            .map(|(candidate, failing)| {
                let late = candidate.index() >= verdict.index;
                let order = if late { FAILED_ORDER } else { 0 };
                (candidate.index(), candidate.conditions() | failing | order)
            })
            .min_by_key(|(index, failing)| (failing.count_ones(), *index))
    }
}

#[cfg(test)]
#[path = "r5_tests.rs"]
mod tests;
