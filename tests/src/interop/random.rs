//! Numbers that look random and come from a seed.

/// The `SplitMix64` generator: small, and the same everywhere. For tests only.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is at least 1.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// So many bytes.
    pub fn bytes(&mut self, count: u64) -> Vec<u8> {
        (0..count).map(|_| self.byte()).collect()
    }

    /// 32 bytes.
    pub fn array(&mut self) -> [u8; 32] {
        core::array::from_fn(|_| self.byte())
    }

    fn byte(&mut self) -> u8 {
        let [byte, ..] = self.next().to_le_bytes();
        byte
    }
}
