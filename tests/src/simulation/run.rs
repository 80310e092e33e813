//! One world, from its seed to what it shows.

use std::collections::{BTreeMap, BTreeSet};

use super::compare::{Comparison, Seen, compare};
use super::log::{Log, LogNature};
use super::monitor::Monitor;
use super::network::{Message, Network};
use super::witness::{Said, Witness};
use super::{MONITORS, Settings, Shown, Universe, WITNESSES, below, percent};
use crate::interop::random::Random;

/// What must not be.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Violation {
    /// Two inconsistent checkpoints were cosigned by a quorum each.
    TwoQuorums {
        /// The sizes of the two trees.
        sizes: [u64; 2],
    },
    /// A fork that two parties saw was not proved, or its proof doesn't verify.
    ForkNotProved {
        /// The sizes of the two trees.
        sizes: [u64; 2],
    },
    /// Something consistent was taken for a fork, or something inconsistent for consistent.
    Misjudged {
        /// The sizes of the two trees.
        sizes: [u64; 2],
    },
    /// An honest log was accused.
    HonestAccused,
    /// A monitor saw two inconsistent trees and said nothing.
    Unnoticed,
}

/// What happened in one world or in many: a model in which nothing happens shows nothing.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counts {
    /// Cosignatures that left a witness.
    pub cosigned: u64,
    /// Checkpoints with a quorum.
    pub witnessed: u64,
    /// Answers that said another size.
    pub conflicts: u64,
    /// Answers that said that something is inconsistent.
    pub refused: u64,
    /// Witnesses killed after keeping and before answering.
    pub killed_before_answer: u64,
    /// Pairs of trees that two parties saw and that contradict each other.
    pub forks: u64,
    /// Those that were proved.
    pub proved: u64,
    /// What monitors and logs said didn't fit.
    pub alarms: u64,
}

/// What one world shows.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Outcome {
    /// What must not be.
    pub violations: Vec<Violation>,
    /// What happened.
    pub counts: Counts,
}

/// Lives through the world of this seed.
pub fn run(universe: &mut Universe, settings: &Settings, seed: u64) -> Outcome {
    let mut random = Random::new(seed);
    let mut world = World::new(settings, &mut random);
    for _ in 0..settings.steps {
        world.step(universe, &mut random);
    }
    world.judge(universe);
    world.outcome
}

struct World {
    settings: Settings,
    log: Log,
    witnesses: Vec<Witness>,
    monitors: Vec<Monitor>,
    network: Network,
    /// Who cosigned what.
    cosigned: BTreeMap<(u64, anchorlog_proto::Digest), (Shown, BTreeSet<usize>)>,
    outcome: Outcome,
}

impl World {
    fn new(settings: &Settings, random: &mut Random) -> Self {
        Self {
            settings: *settings,
            log: Log::new(settings, random),
            witnesses: settings.witnesses.map(Witness::new).into(),
            monitors: (0..MONITORS).map(|_| Monitor::default()).collect(),
            network: Network::default(),
            cosigned: BTreeMap::new(),
            outcome: Outcome::default(),
        }
    }

    /// Something happens.
    fn step(&mut self, universe: &mut Universe, random: &mut Random) {
        let witness = below(random, WITNESSES);
        let monitor = below(random, MONITORS);
        if percent(random, self.settings.kills) {
            let unanswered = self.witnesses[witness].kill();
            self.outcome.counts.killed_before_answer += u64::from(unanswered);
            return;
        }
        match random.below(100) {
            0..8 => self.log.grow(random),
            8..14 => self.log.commit(),
            14..18 => {
                let questions = self.log.offer(random, universe);
                self.network.send(questions);
            }
            18..24 => {
                let question = self.log.ask(witness, random, universe);
                self.network.send(question);
            }
            24..30 => {
                let question = self.monitors[monitor].ask();
                self.network.send([Message::Poll { monitor, question }]);
            }
            30..60 => {
                let full = percent(random, 5);
                let keys = std::slice::from_ref(universe.vkey());
                let said = self.witnesses[witness].work(keys, full);
                if let Some(said) = said {
                    self.say(witness, said);
                }
            }
            60..98 => {
                if let Some(message) = self.network.deliver(random) {
                    self.arrive(message, universe, random);
                }
            }
            98 => self.log.kill(random),
            _ => self.monitors[monitor].kill(),
        }
    }

    /// A witness says something: with that it is out, whether or not it arrives.
    fn say(&mut self, witness: usize, said: Said) {
        let counts = &mut self.outcome.counts;
        match said {
            Said::Cosigned(shown) => {
                counts.cosigned += 1;
                let size = shown.head().0;
                self.network.send([Message::Cosigned { witness, size }]);
                self.count(witness, &shown);
            }
            Said::Conflict(size) => {
                counts.conflicts += 1;
                self.network.send([Message::Conflict { witness, size }]);
            }
            Said::Refused => {
                counts.refused += 1;
                self.network.send([Message::Refused]);
            }
        }
    }

    /// A cosignature is out; what it brings to the quorum must agree with all that is there.
    fn count(&mut self, witness: usize, shown: &Shown) {
        let head = shown.head();
        let (_, by) = self.cosigned.entry(head).or_insert_with(|| (shown.clone(), BTreeSet::new()));
        let quorum = self.settings.quorum;
        if !by.insert(witness) || by.len() != quorum {
            return;
        }
        self.outcome.counts.witnessed += 1;
        for (other, by) in self.cosigned.values() {
            if by.len() >= quorum && !other.agrees(shown) {
                let sizes = [other.head().0, head.0];
                self.outcome.violations.push(Violation::TwoQuorums { sizes });
            }
        }
    }

    fn arrive(&mut self, message: Message, universe: &mut Universe, random: &mut Random) {
        match message {
            Message::Ask { witness, request, shown } => {
                self.witnesses[witness].take(request, shown);
            }
            Message::Cosigned { witness, size } => self.log.cosigned(witness, size),
            Message::Conflict { witness, size } => {
                if self.log.conflict(witness, size) {
                    let question = self.log.ask(witness, random, universe);
                    self.network.send(question);
                }
            }
            Message::Refused => self.log.refused(),
            Message::Poll { monitor, question } => {
                let shown = self.log.show(monitor, random, universe);
                self.network.send([Message::Answer { monitor, question, shown }]);
            }
            Message::Answer { monitor, question, shown } => {
                self.monitors[monitor].take(question, shown);
            }
        }
    }

    /// Everything that anybody saw is compared with everything that anybody else saw.
    fn judge(&mut self, universe: &mut Universe) {
        self.outcome.counts.alarms = u64::from(self.log.alarms)
            + self.monitors.iter().map(|one| u64::from(one.alarms)).sum::<u64>();
        if self.settings.log == LogNature::Honest && self.outcome.counts.alarms > 0 {
            self.outcome.violations.push(Violation::HonestAccused);
        }
        for monitor in &self.monitors {
            let contradicts = |(one, other): (&Shown, &Shown)| !one.agrees(other);
            let noticed = monitor.alarms > 0;
            if !noticed && pairs(&monitor.seen).any(contradicts) {
                self.outcome.violations.push(Violation::Unnoticed);
            }
        }
        // A tree that a monitor has read, or that a witness has only seen the head of; each once.
        let mut seen: BTreeMap<_, (Shown, bool)> = BTreeMap::new();
        for shown in self.monitors.iter().flat_map(|monitor| &monitor.seen) {
            seen.insert((shown.head(), true), (shown.clone(), true));
        }
        for (head, (shown, _)) in &self.cosigned {
            seen.insert((*head, false), (shown.clone(), false));
        }
        let seen: Vec<_> = seen.into_values().collect();
        for (one, other) in pairs(&seen) {
            self.judge_pair(one, other, universe);
        }
    }

    fn judge_pair(&mut self, one: &(Shown, bool), other: &(Shown, bool), universe: &mut Universe) {
        fn seen((shown, read): &(Shown, bool)) -> Seen<'_> {
            Seen { note: &shown.note, tree: read.then_some(&*shown.tree) }
        }
        let (sizes, agree) = ([one.0.head().0, other.0.head().0], one.0.agrees(&other.0));
        let larger = if sizes[0] > sizes[1] { one } else { other };
        let provable = sizes[0] == sizes[1] || larger.1;
        self.outcome.counts.forks += u64::from(!agree && provable);
        let violation = match compare(seen(one), seen(other)) {
            Comparison::Consistent if agree => return,
            Comparison::Unproved if !provable => return,
            Comparison::Fork(fork) if !agree && fork.verify(universe) => {
                self.outcome.counts.proved += 1;
                return;
            }
            Comparison::Fork(_) | Comparison::Consistent => Violation::Misjudged { sizes },
            Comparison::Unproved => Violation::ForkNotProved { sizes },
        };
        self.outcome.violations.push(violation);
    }
}

/// Every two of them.
fn pairs<T>(all: &[T]) -> impl Iterator<Item = (&T, &T)> {
    all.iter()
        .enumerate()
        .flat_map(|(position, one)| all[..position].iter().map(move |other| (other, one)))
}
