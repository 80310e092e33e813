//! Two checkpoints of one log, and what comparing them shows.
//!
//! What it is: a pure function over what two parties have. Whoever has read a log whole knows the root of every
//! prefix of what it read, and can prove it: a consistency proof that leads from *another* root of the smaller
//! size to the larger signed tree shows, to anybody, that the smaller signed tree is not its beginning. Of two
//! trees of the same size the notes alone show it.

use anchorlog_proto::Digest;
use anchorlog_proto::checkpoint::SignedCheckpoint;
use anchorlog_proto::merkle::consistency;

use super::Universe;
use crate::lying_log::Branch;

/// What a party has of a tree: the checkpoint, and all entries if it has read them.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The checkpoint.
    pub note: &'a SignedCheckpoint,
    /// The entries.
    pub tree: Option<&'a Branch>,
}

/// What two checkpoints are to each other.
#[derive(Clone, Debug)]
pub enum Comparison {
    /// The smaller tree is the beginning of the larger one, or they are the same.
    Consistent,
    /// They can't both be one log's.
    Fork(Box<Fork>),
    /// Neither party can show anything: the larger tree was read by none of them.
    Unproved,
}

/// The proof that one log signed two trees of which neither is the beginning of the other.
#[derive(Clone, Debug)]
pub struct Fork {
    smaller: SignedCheckpoint,
    larger: SignedCheckpoint,
    /// For two sizes: the root that the larger tree has at the smaller size, and the proof of that.
    bridge: Option<(Digest, Vec<Digest>)>,
}

/// Compares.
#[must_use]
pub fn compare(one: Seen<'_>, other: Seen<'_>) -> Comparison {
    let size = |seen: &Seen<'_>| seen.note.checkpoint().size;
    let (smaller, larger) = if size(&one) <= size(&other) { (one, other) } else { (other, one) };
    let root = smaller.note.checkpoint().root;
    let fork = |bridge| {
        let (smaller, larger) = (smaller.note.clone(), larger.note.clone());
        Comparison::Fork(Box::new(Fork { smaller, larger, bridge }))
    };
    if size(&smaller) == size(&larger) {
        return if root == larger.note.checkpoint().root {
            Comparison::Consistent
        } else {
            fork(None)
        };
    }
    if size(&smaller).get() == 0 {
        return Comparison::Consistent;
    }
    let Some(tree) = larger.tree else { return Comparison::Unproved };
    let (from, to) = (size(&smaller).get(), size(&larger).get());
    let there = tree.root(from);
    let proof = tree.consistency(from, to).expect("a tree of the larger size");
    if there == root { Comparison::Consistent } else { fork(Some((there, proof))) }
}

impl Fork {
    /// Whether it is one: verified from nothing but the log's key and what is in it.
    pub fn verify(&self, universe: &mut Universe) -> bool {
        if !universe.verifies(&self.smaller) || !universe.verifies(&self.larger) {
            return false;
        }
        let (smaller, larger) = (self.smaller.checkpoint(), self.larger.checkpoint());
        match &self.bridge {
            None => smaller.size == larger.size && smaller.root != larger.root,
            Some((there, proof)) => {
                let (from, to) = (smaller.size, larger.size);
                *there != smaller.root
                    && from.get() > 0
                    && consistency::verify(from, to, there, &larger.root, proof).is_ok()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fork(one: &super::super::Shown, other: &super::super::Shown) -> Fork {
        let seen = |shown: &'_ super::super::Shown| (shown.note.clone(), shown.tree.clone());
        let ((a, ta), (b, tb)) = (seen(one), seen(other));
        let one = Seen { note: &a, tree: Some(&ta) };
        match compare(one, Seen { note: &b, tree: Some(&tb) }) {
            Comparison::Fork(fork) => *fork,
            comparison => panic!("{comparison:?}"),
        }
    }

    #[test]
    fn a_fork_is_proved_and_a_proof_of_none_is_not() {
        let mut universe = Universe::new();
        let honest = Branch::of((0_u64..9).map(u64::to_be_bytes));
        let forked = honest.replaced(2, b"another".to_vec());
        let (five, nine) = (universe.sign(&honest, 5), universe.sign(&honest, 9));
        let (other_five, other_nine) = (universe.sign(&forked, 5), universe.sign(&forked, 9));
        for (one, other) in [(&five, &other_five), (&five, &other_nine), (&other_five, &nine)] {
            assert!(fork(one, other).verify(&mut universe));
        }
        // Where there is none, no bridge can be made up.
        let proof = forked.consistency(5, 9).unwrap();
        for bridge in [None, Some((honest.root(5), proof.clone())), Some((forked.root(5), proof))] {
            let (smaller, larger) = ((*five.note).clone(), (*nine.note).clone());
            assert!(!Fork { smaller, larger, bridge }.verify(&mut universe));
        }
        let seen = Seen { note: &five.note, tree: Some(&five.tree) };
        let unread = Seen { note: &nine.note, tree: None };
        assert!(matches!(compare(seen, unread), Comparison::Unproved));
        let read = Seen { note: &nine.note, tree: Some(&nine.tree) };
        assert!(matches!(compare(seen, read), Comparison::Consistent));
    }
}
