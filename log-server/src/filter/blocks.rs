//! A blocked Bloom filter: every leaf sets eight bits in one cache line.
//!
//! A line has eight words of 64 bits, and a leaf sets one bit in each. So a question costs one access to
//! memory, wherever in many megabytes the line lies. With sixteen bits of memory for every leaf about one
//! foreign leaf in a thousand seems to be there; with eight bits one in thirty, with four one in three.

use anchorlog_proto::Digest;

/// Bytes of a line.
pub(super) const BLOCK_BYTES: u64 = 64;

/// Words of a line.
const WORDS: usize = 8;

/// Where a leaf's bits are, in a filter of any size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    /// Chooses the line.
    line: u64,
    /// Six bits for each word of the line.
    bits: u64,
}

/// What places leaves: random for every process, so that nobody outside can tell which leaves share bits.
///
/// A leaf hash is four words. They are hashed as NH does (Black et al., "UMAC", CRYPTO 1999): for any two
/// leaves the chance over keys that they fall together is at most 2^-64, whatever whoever chose them knows.
#[derive(Clone, Copy)]
pub(super) struct Key {
    words: [u64; 4],
    last: u64,
}

impl Key {
    /// Takes 40 random bytes for a key.
    pub(super) fn new(random: &[u8; 40]) -> Self {
        let [a, b, c, d, last] = words(random);
        Self { words: [a, b, c, d], last }
    }

    /// Where the bits of a leaf are.
    pub(super) fn position(&self, leaf_hash: &Digest) -> Position {
        let [a, b, c, d] = words(leaf_hash.as_bytes());
        let [ka, kb, kc, kd] = self.words;
        let product = |x: u64, y: u64| u128::from(x).wrapping_mul(u128::from(y));
        let sum = product(a.wrapping_add(ka), b.wrapping_add(kb))
            .wrapping_add(product(c.wrapping_add(kc), d.wrapping_add(kd)));
        let line = mixed(low(sum) ^ low(sum >> 64).rotate_left(32));
        Position { line, bits: mixed(line ^ self.last) }
    }
}

/// One filter of a fixed size.
///
/// Its memory comes zeroed from the system, page by page when it is first touched: a large filter takes no
/// time to make.
pub(super) struct Blocks {
    words: Box<[u64]>,
    /// Words before the first whole cache line.
    skip: usize,
    lines: u64,
}

impl Blocks {
    /// An empty filter of at most `bytes` bytes, and at least one line.
    pub(super) fn new(bytes: u64) -> Self {
        let lines = (bytes / BLOCK_BYTES).max(1);
        // One more than asked for, so that the first can begin where a cache line does.
        let words = usize::try_from(lines + 1).unwrap_or(usize::MAX).saturating_mul(WORDS);
        let words = vec![0; words].into_boxed_slice();
        let skip = words.as_ptr().align_offset(64).min(WORDS);
        Self { words, skip, lines }
    }

    /// Sets the bits of a leaf. Bits are never cleared, so from now on [`Self::may_have`] says yes to it.
    pub(super) fn insert(&mut self, position: Position) {
        let first = self.first_word(position);
        for (word, mask) in self.words.iter_mut().skip(first).zip(masks(position.bits)) {
            *word |= mask;
        }
    }

    /// Whether all bits of a leaf are set. No means that it was never inserted.
    pub(super) fn may_have(&self, position: Position) -> bool {
        let words = self.words.iter().skip(self.first_word(position));
        // Without a branch for each: no guess is better than even, and a wrong one costs more than all words.
        words.zip(masks(position.bits)).fold(0, |missing, (word, mask)| missing | (mask & !word))
            == 0
    }

    /// Where the line of a position begins: the upper half of a product is below the number of lines.
    fn first_word(&self, position: Position) -> usize {
        let line = u128::from(position.line).wrapping_mul(u128::from(self.lines)) >> 64;
        usize::try_from(line).unwrap_or_default().saturating_mul(WORDS).saturating_add(self.skip)
    }
}

/// One bit for each word of a line.
fn masks(bits: u64) -> impl Iterator<Item = u64> {
    (0..8).map(move |word| 1 << ((bits >> (6 * word)) & 63))
}

/// The finaliser of `SplitMix64`.
const fn mixed(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// The low half.
fn low(number: u128) -> u64 {
    u64::try_from(number & u128::from(u64::MAX)).unwrap_or_default()
}

/// The first words of some bytes.
fn words<const N: usize>(bytes: &[u8]) -> [u64; N] {
    let mut words = [0; N];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(number: u64) -> Digest {
        Digest::of(&number.to_be_bytes())
    }

    /// The share of foreign leaves, in tenths of a per cent, that a filter of `bits` a leaf takes for its own.
    fn false_positives(bits: u64) -> u64 {
        let (key, leaves) = (Key::new(&[0x5a; 40]), 20_000);
        let mut blocks = Blocks::new(leaves * bits / 8);
        (0..leaves).for_each(|number| blocks.insert(key.position(&leaf(number))));
        for number in 0..leaves {
            assert!(blocks.may_have(key.position(&leaf(number))), "{number}");
        }
        let foreign = leaves..3 * leaves;
        let found = foreign.filter(|number| blocks.may_have(key.position(&leaf(*number)))).count();
        u64::try_from(found).unwrap() * 1_000 / (2 * leaves)
    }

    #[test]
    fn what_memory_buys_is_what_the_documents_say() {
        assert!(false_positives(16) < 3);
        assert!((10..60).contains(&false_positives(8)));
        assert!((200..450).contains(&false_positives(4)));
    }

    #[test]
    fn another_key_puts_leaves_elsewhere() {
        let mut blocks = Blocks::new(1 << 20);
        let (key, other) = (Key::new(&[1; 40]), Key::new(&[2; 40]));
        (0..20_000).for_each(|number| blocks.insert(key.position(&leaf(number))));
        let found = (0..20_000).filter(|number| blocks.may_have(other.position(&leaf(*number))));
        assert!(found.count() < 200);
    }

    #[test]
    fn every_word_of_a_leaf_hash_counts() {
        let key = Key::new(&core::array::from_fn(|place| u8::try_from(place * 6).unwrap()));
        let position = |place: usize| {
            let mut bytes = [9; 32];
            bytes[place] ^= 1;
            let position = key.position(&Digest::from_bytes(bytes));
            (position.line, position.bits)
        };
        let mut positions: Vec<_> = (0..32).map(position).collect();
        positions.sort_unstable();
        positions.dedup();
        assert_eq!(positions.len(), 32);
    }

    #[test]
    fn the_smallest_filter_has_one_line() {
        let mut blocks = Blocks::new(0);
        let key = Key::new(&[3; 40]);
        blocks.insert(key.position(&leaf(1)));
        assert!(blocks.may_have(key.position(&leaf(1))));
        assert!(!blocks.may_have(key.position(&leaf(2))));
    }
}
