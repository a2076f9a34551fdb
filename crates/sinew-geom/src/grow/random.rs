//! Random numbers that are the same everywhere.

/// Steele, Lea and Flood's `SplitMix64` (2014), as a stream.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// The stream with this number under this seed; streams do not depend on each other.
    pub(super) fn new(seed: u32, stream: u64) -> Self {
        let mut this = Self(u64::from(seed) << 32 ^ 0x5155_4e45);
        this.0 = this.bits() ^ stream;
        this.0 = this.bits();
        this
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// 0 to 1, without 1.
    pub(super) fn share(&mut self) -> f64 {
        let whole = (self.bits() >> 11) as f64;
        whole / (1_u64 << 53) as f64
    }
}
