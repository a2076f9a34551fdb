//! Rows of numbers for kernels: for each element (a slot, a vertex) those of its neighbours, in an order that lets
//! the threads of a group read consecutive words.
//!
//! One array of `u32` holds it all. First a head for each element, then blocks of 32 elements: entry `k` of all 32,
//! then entry `k + 1` of all 32, as far as the longest row of the block goes. The lower five bits of a head are the
//! length of the row, the others (a multiple of 32) where its block starts. A row of [`LONG`] or more lies alone at
//! that place instead: its length, then its entries one after another.
//!
//! Entries come in pairs. Where all neighbours are less than 2^15 away, both share one word, as signed distances
//! from the element. Factors, if any, follow each pair (each entry of a long row).
//!
//! What a row of `n` entries moves: 4 bytes of head, `4 n` bytes, or `2 n` where near, and `4 n` of factors.

/// Length in a head that means: the row lies alone.
pub(crate) const LONG: usize = 31;
/// Elements of a block.
const BLOCK: usize = 32;

/// Functions for [`DeviceRows`] in kernels: `row_length`, `row_start`, `near_low`, `near_high`.
pub(crate) const DEVICE_ROWS_WGSL: &str = include_str!("device_rows.wgsl");

/// Numbers and their factors (empty where there are none).
pub(crate) type RowSlices<'a> = (&'a [u32], &'a [f32]);

/// Packed rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DeviceRows {
    /// Heads and blocks.
    pub(crate) words: Vec<u32>,
    /// Two entries a word.
    pub(crate) narrow: bool,
    /// Factors follow the entries.
    pub(crate) factored: bool,
}

impl DeviceRows {
    /// Packs rows, one an element. `indices` says that they are numbers of elements, so that distances may do. `None`
    /// where the result is too large for its own offsets.
    pub(crate) fn build<'a>(rows: &[RowSlices<'a>], indices: bool) -> Option<Self> {
        let mut this = Self {
            words: vec![0; rows.len().next_multiple_of(BLOCK)],
            narrow: indices && all_near(rows),
            factored: rows.iter().any(|r| !r.1.is_empty()),
        };
        for (b, block) in rows.chunks(BLOCK).enumerate() {
            this.push_block(b * BLOCK, block)?;
        }
        Some(this)
    }

    fn push_block(&mut self, first: usize, block: &[RowSlices<'_>]) -> Option<()> {
        let lengths = block.iter().map(|r| r.0.len());
        let longest = lengths.filter(|&n| n < LONG).max().unwrap_or(0);
        let start = self.words.len();
        let per_pair = self.words_per_pair();
        let size = longest.div_ceil(2) * per_pair * BLOCK;
        self.words.resize(start + size, 0);
        for (lane, row) in block.iter().enumerate() {
            let index = first + lane;
            let n = row.0.len();
            if n >= LONG {
                self.words[index] = head(self.words.len(), LONG)?;
                self.push_long(*row);
                continue;
            }
            self.words[index] = head(start, n)?;
            for (p, pair) in row.0.chunks(2).enumerate() {
                let at = start + p * per_pair * BLOCK + lane;
                self.put_pair(at, index, pair, row.1.get(p * 2..).unwrap_or_default());
            }
        }
        Some(())
    }

    /// Words that a pair takes in each lane.
    fn words_per_pair(&self) -> usize {
        2 - usize::from(self.narrow) + 2 * usize::from(self.factored)
    }

    fn put_pair(&mut self, at: usize, index: usize, pair: &[u32], factors: &[f32]) {
        let numbers = if self.narrow {
            let half = |n: u32| distance(n, index).unwrap_or(0).cast_unsigned();
            let high = pair.get(1).map_or(0, |&n| half(n));
            self.words[at] = u32::from(half(pair[0])) | u32::from(high) << 16;
            1
        } else {
            for (k, &n) in pair.iter().enumerate() {
                self.words[at + k * BLOCK] = n;
            }
            2
        };
        for (k, f) in factors.iter().take(pair.len()).enumerate() {
            self.words[at + (numbers + k) * BLOCK] = f.to_bits();
        }
    }

    fn push_long(&mut self, (numbers, factors): RowSlices<'_>) {
        self.words.push(u32::try_from(numbers.len()).unwrap_or(0));
        for (k, &n) in numbers.iter().enumerate() {
            self.words.push(n);
            if self.factored {
                let factor = factors.get(k).copied().unwrap_or(0.0);
                self.words.push(factor.to_bits());
            }
        }
        let size = self.words.len().next_multiple_of(BLOCK);
        self.words.resize(size, 0);
    }
}

fn head(offset: usize, length: usize) -> Option<u32> {
    u32::try_from(offset | length).ok()
}

fn distance(number: u32, index: usize) -> Option<i16> {
    let index = i64::try_from(index).ok()?;
    i16::try_from(i64::from(number) - index).ok()
}

fn all_near(rows: &[RowSlices<'_>]) -> bool {
    rows.iter()
        .enumerate()
        .all(|(i, row)| row.0.len() >= LONG || row.0.iter().all(|&n| distance(n, i).is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads a row as `device_rows.wgsl` describes it.
    fn read(rows: &DeviceRows, index: usize) -> (Vec<u32>, Vec<f32>) {
        let w = &rows.words;
        let (offset, length) = ((w[index] & !31) as usize, (w[index] & 31) as usize);
        let mut out = (Vec::new(), Vec::new());
        if length == LONG {
            let step = 1 + usize::from(rows.factored);
            for k in 0..w[offset] as usize {
                out.0.push(w[offset + 1 + k * step]);
                if rows.factored {
                    out.1.push(f32::from_bits(w[offset + 2 + k * step]));
                }
            }
            return out;
        }
        let per_pair = if rows.narrow { 1 } else { 2 } + if rows.factored { 2 } else { 0 };
        for k in 0..length {
            let at = offset + index % 32 + (k / 2) * per_pair * 32;
            let number = if rows.narrow {
                let half = (w[at] >> (16 * (k % 2)) & 0xffff) as u16;
                (index as i64 + i64::from(half.cast_signed())) as u32
            } else {
                w[at + (k % 2) * 32]
            };
            out.0.push(number);
            if rows.factored {
                let numbers = per_pair - 2;
                out.1.push(f32::from_bits(w[at + (numbers + k % 2) * 32]));
            }
        }
        out
    }

    proptest! {
        #[test]
        fn every_row_reads_back(
            lists in prop::collection::vec(prop::collection::vec(0_u32..100, 0..40), 0..100),
            far in prop::bool::ANY,
            factored in prop::bool::ANY,
        ) {
            let shift = if far { 100_000 } else { 0 };
            let lists: Vec<Vec<u32>> =
                lists.iter().map(|l| l.iter().map(|n| n + shift).collect()).collect();
            let factors: Vec<Vec<f32>> = lists
                .iter()
                .map(|l| l.iter().map(|&n| if factored { n as f32 * 0.5 } else { 0.0 }).collect())
                .collect();
            let none: &[f32] = &[];
            let rows: Vec<RowSlices<'_>> = lists
                .iter()
                .zip(&factors)
                .map(|(l, f)| (&l[..], if factored { &f[..] } else { none }))
                .collect();
            let packed = DeviceRows::build(&rows, true).expect("small");
            for (i, row) in rows.iter().enumerate() {
                let got = read(&packed, i);
                prop_assert_eq!(&got.0[..], row.0);
                if packed.factored {
                    prop_assert_eq!(&got.1[..], row.1);
                }
            }
        }
    }

    #[test]
    fn near_neighbours_take_half_the_words() {
        let near: Vec<Vec<u32>> = (0..64).map(|i| vec![i, i + 1, i + 2, i + 3]).collect();
        let rows: Vec<RowSlices<'_>> = near.iter().map(|l| (&l[..], &[][..])).collect();
        let narrow = DeviceRows::build(&rows, true).expect("small");
        let wide = DeviceRows::build(&rows, false).expect("small");
        assert!(narrow.narrow && !wide.narrow);
        assert_eq!(narrow.words.len(), 64 + 64 * 2);
        assert_eq!(wide.words.len(), 64 + 64 * 4);
    }
}
