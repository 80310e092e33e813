//! Showing what lies next to each other to be one history, or not.

use std::sync::Arc;

use anchorlog_proto::checkpoint::VerifiedCheckpoint;
use anchorlog_proto::merkle::{TreeSize, empty_root};
use anchorlog_verifier::codes::log::{CONSISTENCY, SPLIT_VIEW};
use anchorlog_verifier::proof::Tree;

use super::{CompareOptions, Fork, Line, Relation, Sighting, Verdict};
use crate::follow::{FollowError, Follower, Target, TileLocation};

/// Fills in the relations of a line: trees of one size with each other, each with those of the next smaller
/// size, and each with a tree that somebody shows whole and that it is no prefix of. The trees that are shown
/// whole are in the line then.
pub async fn relate(line: &mut Line, options: &CompareOptions) {
    let mut shown = Vec::new();
    for location in &options.logs {
        shown.push(Shown::find(line, location, options).await);
    }
    for one in &shown {
        one.add_to(line);
    }
    for one in &mut shown {
        one.hold_against(&line.sightings).await;
    }
    let mut relations = Vec::new();
    for (newer, sighting) in line.sightings.iter().enumerate() {
        let size = sighting.tree.size;
        let same = line.sightings.iter().enumerate().take(newer);
        for (older, other) in same.clone().filter(|(_, other)| other.tree.size == size) {
            relations.push(Relation { older, newer, verdict: split(other, sighting) });
        }
        let before = same.clone().map(|(_, other)| other.tree.size).filter(|other| *other < size);
        let Some(before) = before.max() else { continue };
        for (older, _) in same.filter(|(_, other)| other.tree.size == before) {
            let verdict = compare(line, (older, newer), &shown, options).await;
            relations.push(Relation { older, newer, verdict });
        }
    }
    // A tree that is no prefix of one shown whole contradicts it, wherever the two stand in the line.
    for one in &shown {
        let Some(newer) = one.position_in(line) else { continue };
        for (older, stand) in one.stands.iter().enumerate() {
            let told = relations.iter().any(|known| (known.older, known.newer) == (older, newer));
            if let (Stand::Fork(fork), false) = (stand, told) {
                relations.push(Relation { older, newer, verdict: Verdict::Fork(fork.clone()) });
            }
        }
    }
    relations.sort_by_key(|relation| (relation.newer, relation.older));
    line.relations = relations;
}

fn split(older: &Sighting, newer: &Sighting) -> Verdict {
    let size = newer.tree.size;
    let detail = format!(
        "two trees of size {size} with different roots, in {} and in {}",
        older.seen_in.join(", "),
        newer.seen_in.join(", ")
    );
    let notes = older.note.clone().zip(newer.note.clone());
    Verdict::Fork(Fork { code: SPLIT_VIEW, detail, notes, proof: None })
}

/// A tree that one location shows whole, and how the trees of the line lie to it.
struct Shown {
    location: String,
    target: Result<Target, FollowError>,
    stands: Vec<Stand>,
}

/// How a tree lies to one that somebody shows whole.
enum Stand {
    /// A prefix of it.
    Prefix,
    /// None; the proof leads to what is the prefix.
    Fork(Fork),
    /// It is larger, or the tiles aren't to be had: why.
    Unknown(String),
}

impl Shown {
    /// The newest tree of the location, if it is of this log.
    async fn find(line: &Line, location: &TileLocation, options: &CompareOptions) -> Self {
        let target = async {
            let keys = options.keys.clone();
            let mut follower = Follower::new(location, keys, None, options.follow)?;
            let target = follower.poll().await?;
            let origin = &target.checkpoint().checkpoint().origin;
            if *origin != line.origin {
                return Err(FollowError::sink(format!("it serves the log {origin}")));
            }
            Ok(target)
        };
        Self { location: location.to_string(), target: target.await, stands: Vec::new() }
    }

    fn note(&self) -> Option<&VerifiedCheckpoint> {
        self.target.as_ref().ok().map(Target::checkpoint)
    }

    fn position_in(&self, line: &Line) -> Option<usize> {
        let tree = tree_of(self.note()?);
        line.sightings.iter().position(|sighting| sighting.tree == tree)
    }

    /// The log may have grown since it was asked for its checkpoint.
    fn add_to(&self, line: &mut Line) {
        let Some(note) = self.note() else { return };
        if self.position_in(line).is_none() {
            line.sightings.push(Sighting {
                tree: tree_of(note),
                note: Some(Arc::new(note.clone())),
                seen_in: vec![self.location.clone()],
            });
            line.sightings.sort_by_key(|sighting| (sighting.tree.size, sighting.tree.root));
        }
    }

    async fn hold_against(&mut self, sightings: &[Sighting]) {
        let mut stands = Vec::with_capacity(sightings.len());
        for sighting in sightings {
            stands.push(match &mut self.target {
                Ok(target) => stand(target, sighting, &self.location).await,
                Err(error) => Stand::Unknown(format!("{}: {error}", self.location)),
            });
        }
        self.stands = stands;
    }
}

fn tree_of(note: &VerifiedCheckpoint) -> Tree {
    Tree { size: note.checkpoint().size, root: note.checkpoint().root }
}

async fn stand(target: &mut Target, sighting: &Sighting, location: &str) -> Stand {
    let shown = Arc::new(target.checkpoint().clone());
    let (from, to) = (sighting.tree.size, shown.checkpoint().size);
    match target.prefix(from).await {
        Ok(None) => Stand::Unknown(format!("{location} shows a tree of size {to} only")),
        Ok(Some((root, _))) if root == sighting.tree.root => Stand::Prefix,
        Ok(Some((_, proof))) => {
            let code = if from == to { SPLIT_VIEW } else { CONSISTENCY };
            let detail = format!(
                "the tree of size {from} in {} is no prefix of the tree of size {to} that {location} shows",
                sighting.seen_in.join(", ")
            );
            let notes = sighting.note.clone().map(|note| (note, shown));
            Stand::Fork(Fork { code, detail, notes, proof: Some(proof) })
        }
        Err(error) => Stand::Unknown(format!("{location}: {error}")),
    }
}

/// Whether the tree at position `older` is a prefix of the one at `newer`.
async fn compare(
    line: &Line,
    (older_at, newer_at): (usize, usize),
    shown: &[Shown],
    options: &CompareOptions,
) -> Verdict {
    let (Some(older), Some(newer)) = (line.sightings.get(older_at), line.sightings.get(newer_at))
    else {
        return Verdict::Undecided { reasons: Vec::new() };
    };
    // Every tree extends the empty one.
    if older.tree == (Tree { size: TreeSize::ZERO, root: empty_root() }) {
        return Verdict::Consistent;
    }
    let mut reasons = Vec::new();
    for one in shown {
        match (one.stands.get(older_at), one.stands.get(newer_at)) {
            (Some(Stand::Prefix), Some(Stand::Prefix)) => return Verdict::Consistent,
            // The prefix of a prefix is one too.
            (Some(Stand::Fork(fork)), Some(Stand::Prefix)) => return Verdict::Fork(fork.clone()),
            (Some(Stand::Unknown(reason)), _) | (_, Some(Stand::Unknown(reason))) => {
                reasons.push(reason.clone());
            }
            // Where the larger one is a fork itself, what lies below it isn't known from here.
            _ => reasons.push(format!(
                "the tree of size {} is not in the one that {} shows",
                newer.tree.size, one.location
            )),
        }
    }
    // The newer tree itself, where its tiles are still to be had.
    for (location, one) in options.logs.iter().zip(shown) {
        let (Some(note), Ok(_)) = (&newer.note, &one.target) else { continue };
        let target = async {
            let keys = options.keys.clone();
            let mut follower = Follower::new(location, keys, None, options.follow)?;
            follower.take(note.signed()).await
        };
        let stand = match target.await {
            Ok(mut target) => stand(&mut target, older, &one.location).await,
            Err(error) => Stand::Unknown(format!("{}: {error}", one.location)),
        };
        match stand {
            Stand::Prefix => return Verdict::Consistent,
            Stand::Fork(fork) => return Verdict::Fork(fork),
            Stand::Unknown(reason) => reasons.push(reason),
        }
    }
    if shown.is_empty() {
        reasons.push("nobody was asked for the log's tiles; --log says who has them".to_owned());
    }
    reasons.dedup();
    Verdict::Undecided { reasons }
}
