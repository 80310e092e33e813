//! A log, five witnesses and three monitors on a network that loses, delays, reorders and repeats messages,
//! with processes that are killed: thousands of small worlds, each the consequence of one number.
//!
//! What it is: a model in one thread, without a clock, that is driven by random numbers from a seed. Witnesses
//! take their decisions with the code that ships ([`anchorlog_proto::tlog_witness::decide`]), on the bytes of
//! real requests with real signatures, and keep and answer in the order that `log-server witness` keeps and
//! answers; logs, monitors and proofs are made of `proto`. What it isn't: a test of that server's disk or of
//! HTTP, which have their own.
//!
//! What must hold in every world ([`Violation`] names what doesn't):
//!
//! 1. Two inconsistent checkpoints never both reach the quorum, as long as any two quorums share an honest
//!    witness. With k of n witnesses and f dishonest ones that is `2k - n > f`: four of five with two
//!    dishonest ones, three of five only while all are honest. That a majority is honest is not enough by
//!    itself; a test shows the world in which it isn't.
//! 2. A fork that any two parties saw is proved by comparing what they have ([`compare`]), for anybody to
//!    verify, and nothing that is consistent is ever taken for one.
//! 3. An honest log, killed however often, is accused of nothing by anybody.
//!
//! The tests also break the witnesses on purpose, in ways that witnesses are broken: the model has to notice.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a model that contradicts itself has to stop"
)]

pub mod compare;
mod log;
mod monitor;
mod network;
mod run;
mod universe;
mod witness;

pub use log::LogNature;
pub use run::{Counts, Outcome, Violation, run};
pub use universe::{Shown, Universe};
pub use witness::WitnessNature;

use crate::interop::random::Random;

/// How many witnesses there are.
pub const WITNESSES: usize = 5;

/// How many monitors there are.
pub const MONITORS: usize = 3;

/// Who takes part in a world, and what counts as witnessed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Settings {
    /// What the log is.
    pub log: LogNature,
    /// What each witness is.
    pub witnesses: [WitnessNature; WITNESSES],
    /// How many of them have to cosign.
    pub quorum: usize,
    /// How many things happen.
    pub steps: u32,
    /// How many of a hundred of them are a witness being killed.
    pub kills: u64,
}

impl Settings {
    /// Any log, at most two dishonest witnesses, and the smallest quorum that is safe with two: four.
    #[must_use]
    pub fn drawn(random: &mut Random) -> Self {
        let natures = LogNature::ALL;
        let log = natures[below(random, natures.len())];
        let mut witnesses = [WitnessNature::Honest; WITNESSES];
        for _ in 0..random.below(3) {
            witnesses[below(random, WITNESSES)] = WitnessNature::Dishonest;
        }
        Self { log, witnesses, quorum: 4, steps: 400, kills: 2 }
    }
}

/// A position in something of this length, which is at least 1.
fn below(random: &mut Random, length: usize) -> usize {
    let bound = u64::try_from(length).expect("small");
    usize::try_from(random.below(bound)).expect("below a length")
}

/// Whether something happens that happens so often in a hundred.
fn percent(random: &mut Random, often: u64) -> bool {
    random.below(100) < often
}
