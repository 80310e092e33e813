//! A sum over a set of rows that doesn't depend on their order.

use core::fmt;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::OnceLock;

use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::Row;

/// Two sums modulo 2^128 of a hash of every row, and how many rows there are.
///
/// Two stores with the same rows have the same fingerprint in whatever order they were written or are
/// read, so the sum scanned from an index can be compared with the sum computed from the log. It finds
/// damage and omissions. It is no defence against somebody who chooses rows freely and sees the sums; nothing
/// is proved to third parties with it.
///
/// The hash is XXH3 under two seeds that are random for every process: nobody can prepare rows that make up
/// for others, and fingerprints of different processes can't be compared.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Fingerprint {
    sums: [u128; 2],
    rows: u64,
}

impl Fingerprint {
    /// Takes one row in.
    pub fn add(&mut self, row: &Row) {
        let mut bytes = [0; MAX_ROW_BYTES];
        let parts: [&[u8]; 3] = [&[row.table().tag()], row.key(), row.value()];
        let mut length = 0;
        for part in parts {
            if let Some(place) = bytes.get_mut(length..length + part.len()) {
                place.copy_from_slice(part);
            }
            length += part.len();
        }
        let row = bytes.get(..length).unwrap_or(&bytes);
        self.add_numbers(seeds().map(|seed| xxh3_128_with_seed(row, seed)), 1);
    }

    /// Takes in everything another fingerprint holds.
    pub fn merge(&mut self, other: &Self) {
        self.add_numbers(other.sums, other.rows);
    }

    /// How many rows were taken in.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    fn add_numbers(&mut self, numbers: [u128; 2], rows: u64) {
        for (sum, number) in self.sums.iter_mut().zip(numbers) {
            *sum = sum.wrapping_add(number);
        }
        self.rows = self.rows.wrapping_add(rows);
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = self.sums;
        write!(f, "{first:032x}{second:032x}/{}", self.rows)
    }
}

/// The longest row: tag, 48 bytes of key and 32 of value.
const MAX_ROW_BYTES: usize = 81;

/// The two seeds of this process.
fn seeds() -> [u64; 2] {
    static SEEDS: OnceLock<[u64; 2]> = OnceLock::new();
    *SEEDS.get_or_init(|| {
        let random = RandomState::new();
        [random.hash_one(1), random.hash_one(2)]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(number: u8) -> Row {
        Row::Sequence { key: [number; 48], value: [3; 32] }
    }

    #[test]
    fn sums_do_not_depend_on_the_order_and_wrap() {
        let (mut one, mut other) = (Fingerprint::default(), Fingerprint::default());
        (0..200).for_each(|number| one.add(&row(number)));
        (0..200).rev().for_each(|number| other.add(&row(number)));
        assert_eq!(one, other);
        let mut parts = Fingerprint::default();
        for number in 0..200 {
            let mut part = Fingerprint::default();
            part.add(&row(number));
            parts.merge(&part);
        }
        assert_eq!(one, parts);
        assert_eq!(one.rows(), 200);
        one.add_numbers([u128::MAX; 2], 0);
        one.add_numbers([1; 2], 0);
        assert_eq!(one, parts);
    }

    /// Every byte of every kind of row counts, in both sums, and so does the table.
    #[test]
    fn every_byte_of_a_row_counts() {
        let rows = [
            Row::Leaf { key: [1; 65], value: [1; 8] },
            Row::Trail { key: [1; 40], value: [1] },
            Row::Signer { key: [1; 40], value: [1] },
            Row::Sequence { key: [1; 48], value: [1; 32] },
        ];
        let sums = |row: &Row| {
            let mut sum = Fingerprint::default();
            sum.add(row);
            sum.sums
        };
        let mut seen: Vec<[u128; 2]> = rows.iter().map(sums).collect();
        for row in &rows {
            let (key, value) = (row.key().to_vec(), row.value().to_vec());
            for place in 0..key.len() + value.len() {
                let (mut key, mut value) = (key.clone(), value.clone());
                match key.get_mut(place) {
                    Some(byte) => *byte ^= 4,
                    None => value[place - key.len()] ^= 4,
                }
                if let Ok(changed) = Row::read(row.table(), &key, &value) {
                    seen.push(sums(&changed));
                }
            }
        }
        assert!(seen.len() > 200);
        for part in 0..2 {
            let mut sums: Vec<u128> = seen.iter().map(|sums| sums[part]).collect();
            sums.sort_unstable();
            sums.dedup();
            assert_eq!(sums.len(), seen.len());
        }
    }
}
