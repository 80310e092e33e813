//! Maps from leaves, at the price of a multiplication.
//!
//! Leaf hashes are hashes already, so eight of their bytes would do to spread them, if nobody chose them. A
//! random number for every map keeps those who submit from choosing leaves that meet in one place.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use anchorlog_proto::Digest;

/// A map from leaf hashes.
pub(crate) type LeafMap<V> = HashMap<Digest, V, LeafHashing>;

/// Makes the hashers of one map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeafHashing {
    /// Added to the hash.
    addend: u64,
    /// Multiplied with it.
    factor: u64,
}

impl Default for LeafHashing {
    fn default() -> Self {
        let random = RandomState::new();
        Self { addend: random.hash_one(0), factor: random.hash_one(1) | 1 }
    }
}

impl BuildHasher for LeafHashing {
    type Hasher = LeafHasher;

    fn build_hasher(&self) -> LeafHasher {
        LeafHasher { hashing: *self, state: 0 }
    }
}

/// Hashes one digest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeafHasher {
    hashing: LeafHashing,
    state: u64,
}

impl Hasher for LeafHasher {
    fn write(&mut self, bytes: &[u8]) {
        let word = bytes.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        self.state = self.state.wrapping_add(word);
    }

    /// The length, which is the same for all.
    fn write_usize(&mut self, _length: usize) {}

    fn finish(&self) -> u64 {
        let sum = u128::from(self.state.wrapping_add(self.hashing.addend));
        let product = sum.wrapping_mul(u128::from(self.hashing.factor));
        // Both halves, since a map uses the lowest and the highest bits.
        u64::try_from((product ^ (product >> 64)) & u128::from(u64::MAX)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_that_share_their_first_bytes_are_still_told_apart() {
        let mut map = LeafMap::default();
        let leaf = |last: u8| {
            let mut bytes = [7; 32];
            bytes[31] = last;
            Digest::from_bytes(bytes)
        };
        for last in 0..=255 {
            assert_eq!(map.insert(leaf(last), last), None);
        }
        for last in 0..=255 {
            assert_eq!(map.get(&leaf(last)), Some(&last));
        }
    }

    #[test]
    fn no_two_maps_agree_and_bits_are_spread_at_both_ends() {
        let (one, other) = (LeafHashing::default(), LeafHashing::default());
        let leaves: Vec<Digest> = (0..4_096_u32).map(|n| Digest::of(&n.to_be_bytes())).collect();
        assert!(leaves.iter().any(|leaf| one.hash_one(leaf) != other.hash_one(leaf)));
        for shift in [0, 57] {
            let mut counts = [0; 128];
            for leaf in &leaves {
                let bits = (one.hash_one(leaf) >> shift) & 127;
                counts[usize::try_from(bits).unwrap()] += 1;
            }
            assert!(counts.iter().all(|count| (8..80).contains(count)), "{shift} {counts:?}");
        }
    }
}
