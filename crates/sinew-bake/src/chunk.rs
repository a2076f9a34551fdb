//! A share of the frames.

use std::ops::Range;
use std::str::FromStr;

/// One of `of` shares of the frames, counted from one: `1/4` to `4/4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    index: usize,
    of: usize,
}

/// Why a text names no chunk.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{found}' is no chunk, expected I/N with I from 1 to N: 1/4 is the first of four")]
#[non_exhaustive]
pub struct ChunkError {
    /// The text.
    pub found: String,
}

impl Chunk {
    /// All frames.
    pub const ALL: Self = Self { index: 0, of: 1 };

    /// Its frames: shares follow each other and differ by one frame at most.
    pub fn frames(self, count: usize) -> Range<usize> {
        let bound = |i: usize| (i as u128 * count as u128 / self.of as u128) as usize;
        bound(self.index)..bound(self.index + 1)
    }
}

impl FromStr for Chunk {
    type Err = ChunkError;

    fn from_str(text: &str) -> Result<Self, ChunkError> {
        let parsed = text.split_once('/').and_then(|(index, of)| {
            let (index, of): (usize, usize) = (index.parse().ok()?, of.parse().ok()?);
            let index = index.checked_sub(1)?;
            (index < of).then_some(Self { index, of })
        });
        parsed.ok_or_else(|| ChunkError { found: text.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_every_frame_once() {
        for (count, of) in [(60, 4), (7, 3), (2, 5), (0, 2), (1, 1)] {
            let chunks = (1..=of).map(|i| format!("{i}/{of}").parse::<Chunk>().expect("valid"));
            let frames: Vec<usize> = chunks.flat_map(|c| c.frames(count)).collect();
            assert_eq!(frames, (0..count).collect::<Vec<_>>());
        }
        for wrong in ["", "0/3", "4/3", "1", "1/0", "-1/2", "a/b"] {
            assert!(wrong.parse::<Chunk>().is_err(), "{wrong}");
        }
    }
}
