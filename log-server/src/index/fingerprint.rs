//! A sum over a set of rows that doesn't depend on their order.

use core::fmt;

use anchorlog_proto::Digest;

use super::Row;

/// The sum modulo 2^256 of the SHA-256 of every row, and how many rows there are.
///
/// Two stores with the same rows have the same fingerprint in whatever order they were written or are
/// read, so the sum scanned from an index can be compared with the sum computed from the log. It finds
/// damage and omissions. It is no defence against somebody who chooses rows freely, who could solve for a
/// colliding set; nothing is proved to third parties with it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Fingerprint {
    /// The sum as two halves, low half first.
    sum: [u128; 2],
    rows: u64,
}

impl Fingerprint {
    /// Takes one row in.
    pub fn add(&mut self, row: &Row) {
        let digest = Digest::of_parts(&[&[row.table().tag()], row.key(), row.value()]);
        self.add_number(halves(&digest), 1);
    }

    /// Takes in everything another fingerprint holds.
    pub fn merge(&mut self, other: &Self) {
        self.add_number(other.sum, other.rows);
    }

    /// How many rows were taken in.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// The 256-bit sum, most significant byte first.
    #[must_use]
    pub fn sum(&self) -> [u8; 32] {
        let [low, high] = self.sum;
        let mut bytes = [0; 32];
        let (head, tail) = bytes.split_at_mut(16);
        head.copy_from_slice(&high.to_be_bytes());
        tail.copy_from_slice(&low.to_be_bytes());
        bytes
    }

    fn add_number(&mut self, [low, high]: [u128; 2], rows: u64) {
        let (sum_low, carry) = self.sum[0].overflowing_add(low);
        let sum_high = self.sum[1].wrapping_add(high).wrapping_add(u128::from(carry));
        self.sum = [sum_low, sum_high];
        self.rows = self.rows.wrapping_add(rows);
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [low, high] = self.sum;
        write!(f, "{high:032x}{low:032x}/{}", self.rows)
    }
}

/// The digest as a number, low half first.
fn halves(digest: &Digest) -> [u128; 2] {
    let mut high = [0; 16];
    let mut low = [0; 16];
    let (head, tail) = digest.as_bytes().split_at(16);
    high.copy_from_slice(head);
    low.copy_from_slice(tail);
    [u128::from_be_bytes(low), u128::from_be_bytes(high)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A carry out of the low half must reach the high half, and one out of the high half is dropped.
    #[test]
    fn addition_is_modulo_two_to_the_256() {
        let mut sum = Fingerprint::default();
        sum.add_number([u128::MAX, 0], 1);
        sum.add_number([1, 0], 1);
        assert_eq!(sum, Fingerprint { sum: [0, 1], rows: 2 });
        sum.add_number([0, u128::MAX], 1);
        assert_eq!(sum, Fingerprint { sum: [0, 0], rows: 3 });
        assert_eq!(sum.sum(), [0; 32]);
    }

    #[test]
    fn the_digest_is_read_as_a_big_endian_number() {
        let mut bytes = [0; 32];
        bytes[31] = 7;
        bytes[0] = 1;
        assert_eq!(halves(&Digest::from_bytes(bytes)), [7, 1 << 120]);
        let mut sum = Fingerprint::default();
        sum.add_number([7, 1 << 120], 1);
        assert_eq!(sum.sum(), bytes);
    }
}
