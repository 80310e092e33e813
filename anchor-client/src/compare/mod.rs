//! Gossip: checkpoints of one log from several places, shown to be one history, or the fork.
//!
//! What it is: every checkpoint that somebody has of a log ([`sources`]), its signature verified, is put in
//! line by size; what lies next to each other has to go together ([`relate()`]). Two of one size with different
//! roots are a split view, and nothing more is needed. For different sizes the log's own tiles, or a
//! mirror's, show whether the smaller is a prefix of the larger one: both hang from roots that the log signed,
//! so the tiles' keeper can't choose the answer, and a fork shown this way is shown to everybody.
//!
//! What it is not: a monitor. It reads no entries, and it says nothing about places it wasn't told of. What
//! nobody could show either way is undecided, and is called so.

mod gather;
mod relate;
pub mod sources;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::{Origin, VerifiedCheckpoint};
use anchorlog_proto::gad::known_checkpoints::{KnownCheckpoint, KnownCheckpoints};
use anchorlog_proto::note::VerifierKey;
use anchorlog_verifier::codes::Code;
use anchorlog_verifier::proof::Tree;

use crate::follow::{FollowOptions, TileLocation};

pub use gather::{Gathered, Problem, gather};
pub use relate::relate;

/// A tree of a log, as one or several places have it.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "what a place says about a log")]
pub struct Sighting {
    /// The tree.
    pub tree: Tree,
    /// The signed checkpoint; `None` for one that somebody only remembers.
    pub note: Option<Arc<VerifiedCheckpoint>>,
    /// Where it was seen, in the order they were asked.
    pub seen_in: Vec<String>,
}

/// Whom to believe a signature, and whom to ask for tiles.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "the caller fills it in")]
pub struct CompareOptions {
    /// The keys of the log.
    pub keys: Vec<VerifierKey>,
    /// Logs and mirrors whose tiles show what is a prefix of what.
    pub logs: Vec<TileLocation>,
    /// How to ask.
    pub follow: FollowOptions,
}

/// All trees of one log, in line.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "the result, for whoever shows it")]
pub struct Line {
    /// The log.
    pub origin: Origin,
    /// Its trees, by size and root.
    pub sightings: Vec<Sighting>,
    /// What lies next to each other, and trees of one size: positions in `sightings`, ascending.
    pub relations: Vec<Relation>,
}

/// How two trees of a log go together.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "the result, for whoever shows it")]
pub struct Relation {
    /// Position of the smaller one.
    pub older: usize,
    /// Position of the larger one.
    pub newer: usize,
    /// What was shown.
    pub verdict: Verdict,
}

/// What was shown about two trees.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Verdict {
    /// The smaller is a prefix of the larger one.
    Consistent,
    /// They can't be of one history.
    Fork(Fork),
    /// Neither could be shown.
    Undecided {
        /// What was tried, and what came of it.
        reasons: Vec<String>,
    },
}

/// Two trees that one honest log can't both have signed.
#[derive(Clone, Debug)]
#[allow(clippy::exhaustive_structs, reason = "the result, for whoever shows it")]
pub struct Fork {
    /// `LOG.SPLIT_VIEW` or `LOG.CONSISTENCY`.
    pub code: Code,
    /// What was shown, in a sentence.
    pub detail: String,
    /// Both, where both are signed; the second one may be another than the one compared: the tree that the
    /// tiles show, and that the log signed too.
    pub notes: Option<(Arc<VerifiedCheckpoint>, Arc<VerifiedCheckpoint>)>,
    /// A consistency proof that leads to the larger root and not to the smaller one.
    pub proof: Option<Vec<Digest>>,
}

impl Line {
    /// The forks.
    pub fn forks(&self) -> impl Iterator<Item = &Fork> {
        self.relations.iter().filter_map(|relation| match &relation.verdict {
            Verdict::Fork(fork) => Some(fork),
            _ => None,
        })
    }

    /// Whether everything was shown to be one history.
    #[must_use]
    pub fn is_consistent(&self) -> bool {
        self.relations.iter().all(|relation| matches!(relation.verdict, Verdict::Consistent))
    }
}

/// Puts sightings in line, log by log, equal ones together.
#[must_use]
pub fn line_up(sightings: Vec<(Origin, Sighting)>) -> Vec<Line> {
    // By size and root.
    type Trees = BTreeMap<(u64, Digest), Sighting>;
    let mut lines: BTreeMap<String, (Origin, Trees)> = BTreeMap::new();
    for (origin, sighting) in sightings {
        let (_, line) = lines
            .entry(origin.as_str().to_owned())
            .or_insert_with(|| (origin.clone(), BTreeMap::new()));
        let key = (sighting.tree.size.get(), sighting.tree.root);
        match line.get_mut(&key) {
            Some(known) => {
                known.note = known.note.take().or(sighting.note);
                known.seen_in.extend(sighting.seen_in);
            }
            None => {
                line.insert(key, sighting);
            }
        }
    }
    lines
        .into_values()
        .map(|(origin, line)| Line {
            origin,
            sightings: line.into_values().collect(),
            relations: Vec::new(),
        })
        .collect()
}

/// What a verifier may remember of these logs: every signed tree of a line in which nothing contradicts
/// anything, without proofs, since the memory doesn't know what it will be compared with. Trees that were
/// only remembered are in it too.
#[must_use]
pub fn to_remember(lines: &[Line]) -> KnownCheckpoints {
    let of_line = |line: &Line| {
        let origin = line.origin.clone();
        let known = |sighting: &Sighting| KnownCheckpoint {
            origin: origin.clone(),
            size: sighting.tree.size,
            root: sighting.tree.root,
            consistency: None,
        };
        line.sightings.iter().map(known).collect::<Vec<_>>()
    };
    let sound = lines.iter().filter(|line| line.forks().next().is_none());
    KnownCheckpoints { checkpoints: sound.flat_map(of_line).collect() }
}
