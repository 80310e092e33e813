//! A log, as it should be or not.

use super::network::Message;
use super::{MONITORS, Settings, Shown, Universe, WITNESSES, WitnessNature, below, percent};
use crate::interop::random::Random;
use crate::lying_log::Branch;
use anchorlog_proto::merkle::TreeSize;
use anchorlog_proto::tlog_witness::AddCheckpoint;

/// What a log is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LogNature {
    /// Signs what is durable, and nothing else.
    Honest,
    /// Signs before it is durable: forgets what it signed when it is killed.
    Hasty,
    /// Is set back to an old copy of itself now and then, and goes on from there.
    SetBack,
    /// Keeps two histories, and shows each to those who are to believe it.
    TwoFaced,
}

impl LogNature {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Honest, Self::Hasty, Self::SetBack, Self::TwoFaced];
}

/// The largest tree.
const LARGEST: u64 = 40;

#[derive(Debug)]
pub(super) struct Log {
    nature: LogNature,
    /// One history; two if it is two-faced.
    branches: Vec<Branch>,
    /// How many entries of the first branch are durable.
    durable: u64,
    /// The size of each branch that is offered to the witnesses.
    offered: Vec<u64>,
    /// Which branch each party is shown; accomplices are shown any.
    shown_to: [Option<usize>; WITNESSES + MONITORS],
    /// The size that each witness is taken to have.
    believed: [u64; WITNESSES],
    /// What the next entry is made of: no two entries are alike.
    next: u64,
    /// A witness knew more, or refused: something was lost, or somebody lies.
    pub(super) alarms: u32,
}

impl Log {
    pub(super) fn new(settings: &Settings, random: &mut Random) -> Self {
        let nature = settings.log;
        let faces = if nature == LogNature::TwoFaced { 2 } else { 1 };
        // A liar knows its accomplices.
        let shown_to = std::array::from_fn(|party| {
            let accomplice = settings.witnesses.get(party) == Some(&WitnessNature::Dishonest);
            (!accomplice).then(|| below(random, faces))
        });
        let mut log = Self {
            nature,
            branches: vec![Branch::new(); faces],
            durable: 0,
            offered: vec![0; faces],
            shown_to,
            believed: [0; WITNESSES],
            next: 0,
            alarms: 0,
        };
        // The two faces have some of their past in common.
        let common = random.below(8);
        log.append(&(0..faces).collect::<Vec<_>>(), common);
        log.durable = common;
        log
    }

    /// Takes up to three more entries, into one of its histories.
    pub(super) fn grow(&mut self, random: &mut Random) {
        let branch = below(random, self.branches.len());
        if self.branches[branch].size() < LARGEST {
            self.append(&[branch], 1 + random.below(3));
        }
    }

    /// Makes everything durable.
    pub(super) fn commit(&mut self) {
        self.durable = self.branches[0].size();
    }

    /// Killed, and started again with what is durable. One that is set back loses more.
    pub(super) fn kill(&mut self, random: &mut Random) {
        // What it took the witnesses to have was in memory, and so was what it offered them.
        self.believed = [0; WITNESSES];
        self.offered.fill(0);
        if self.nature == LogNature::TwoFaced {
            return;
        }
        if self.nature == LogNature::SetBack {
            self.durable = random.below(self.durable + 1);
        }
        self.branches[0] = self.branches[0].prefix(self.durable);
    }

    /// Offers the newest trees to all witnesses, or once more those that it offered last. A liar tries
    /// whether somebody takes both.
    pub(super) fn offer(&mut self, random: &mut Random, universe: &mut Universe) -> Vec<Message> {
        if percent(random, 50) {
            self.offered = (0..self.branches.len()).map(|face| self.published(face)).collect();
        }
        let times = if self.branches.len() > 1 { 1 + below(random, 3) } else { 1 };
        let everybody = (0..WITNESSES).flat_map(|witness| std::iter::repeat_n(witness, times));
        everybody.filter_map(|witness| self.ask(witness, random, universe)).collect()
    }

    /// Asks a witness to cosign the tree on offer.
    pub(super) fn ask(
        &mut self,
        witness: usize,
        random: &mut Random,
        universe: &mut Universe,
    ) -> Option<Message> {
        let face = self.face(witness, random);
        let branch = &self.branches[face];
        let size = self.offered[face];
        // Liars also guess, in the hope that somebody has forgotten.
        let old = match self.nature {
            LogNature::Honest => self.believed[witness],
            _ if percent(random, 10) => random.below(size + 1),
            _ => self.believed[witness],
        };
        let proof = branch.consistency(old, size)?;
        let shown = universe.sign(branch, size);
        let old = TreeSize::new(old).expect("small");
        let request = AddCheckpoint { old, proof, checkpoint: (*shown.note).clone() }.to_bytes();
        Some(Message::Ask { witness, request, shown })
    }

    /// Shows a monitor the newest tree it is to see.
    pub(super) fn show(
        &mut self,
        monitor: usize,
        random: &mut Random,
        universe: &mut Universe,
    ) -> Shown {
        let face = self.face(WITNESSES + monitor, random);
        universe.sign(&self.branches[face], self.published(face))
    }

    pub(super) fn cosigned(&mut self, witness: usize, size: u64) {
        // An answer that comes late says less than is known.
        self.believed[witness] = self.believed[witness].max(size);
    }

    /// A witness has another size than it was taken to have. Whether it is worth to ask again at once.
    pub(super) fn conflict(&mut self, witness: usize, size: u64) -> bool {
        // What is smaller comes late, or from a witness that has forgotten.
        let news = size > self.believed[witness];
        self.believed[witness] = size;
        if self.branches.iter().all(|branch| size > branch.size()) {
            self.alarms += 1;
        }
        news
    }

    pub(super) fn refused(&mut self) {
        self.alarms += 1;
    }

    /// What may be signed of a branch.
    fn published(&self, face: usize) -> u64 {
        match self.nature {
            LogNature::Honest | LogNature::SetBack => self.durable,
            LogNature::Hasty | LogNature::TwoFaced => self.branches[face].size(),
        }
    }

    /// The branch for a party. A liar shows the other one, too, now and then.
    fn face(&mut self, party: usize, random: &mut Random) -> usize {
        match self.shown_to[party] {
            Some(face) if !percent(random, 20) => face,
            _ => below(random, self.branches.len()),
        }
    }

    fn append(&mut self, branches: &[usize], count: u64) {
        for _ in 0..count {
            for branch in branches {
                self.branches[*branch].push(self.next.to_be_bytes().to_vec());
            }
            self.next += 1;
        }
    }
}
