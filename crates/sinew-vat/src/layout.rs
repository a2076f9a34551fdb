//! Where the texels of a vertex are.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// How vertices and frames share a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrangement {
    /// A frame is a block of texels, vertices row by row in it; blocks follow each other in rows of `across`.
    ///
    /// One row a frame is the block `[vertices, 1]`, one of them across.
    Blocks {
        /// Width and height of a block.
        block: [u32; 2],
        /// Blocks side by side.
        across: u32,
    },
    /// A vertex is a column, its frames below each other. Vertices beyond `width` begin again below (OpenVAT).
    Columns {
        /// Vertices side by side.
        width: u32,
    },
}

/// An arrangement for a number of vertices and frames, and the size that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Vertices of a frame.
    pub vertices: u32,
    /// Frames.
    pub frames: u32,
    /// How they share the texture.
    pub arrangement: Arrangement,
    /// Width and height of the texture; more than what is used where it was padded.
    pub size: [u32; 2],
}

/// Why there is no layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// Nothing to lay out.
    #[error(
        "{vertices} vertices and {frames} frames give no texture; at least one of each is needed"
    )]
    Empty {
        /// Vertices asked for.
        vertices: u32,
        /// Frames asked for.
        frames: u32,
    },
    /// No texture of that side holds so many.
    #[error(
        "{vertices} vertices times {frames} frames are {} texels; a texture of {limit} x {limit} cannot hold them", 
        u64::from(*.vertices) * u64::from(*.frames)
    )]
    TooLarge {
        /// Vertices asked for.
        vertices: u32,
        /// Frames asked for.
        frames: u32,
        /// Largest side allowed.
        limit: u32,
    },
}

/// Largest sides that kinds of devices promise, texels.
pub const DEVICES: [(&str, u32); 3] = [("WebGL 2", 2048), ("WebGPU", 8192), ("desktop", 16384)];

/// What a layout has to keep to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Texels that stay in one row: 3 where they are corners of triangles.
    pub unit: u32,
    /// Largest side, texels.
    pub side: u32,
    /// Whether sides are powers of two.
    pub powers_of_two: bool,
}

impl Limits {
    /// The layout that a bake takes.
    ///
    /// # Errors
    /// [`LayoutError`] where there is nothing to lay out or nothing fits.
    pub fn fitting(&self, vertices: u32, frames: u32) -> Result<Layout, LayoutError> {
        let layout = Layout::fitting(vertices, frames, self.unit, self.side)?;
        match self.powers_of_two {
            true => layout.padded_to_powers_of_two(self.side),
            false => Ok(layout),
        }
    }

    /// The first of [`DEVICES`] with a larger side that does.
    pub fn larger_device(&self, vertices: u32, frames: u32) -> Option<(&'static str, u32)> {
        larger_device(self.side, |side| {
            let limits = Self { side, ..*self };
            limits.fitting(vertices, frames).is_ok()
        })
    }
}

/// The first of [`DEVICES`] with a side larger than `side` that does.
pub fn larger_device(side: u32, does: impl Fn(u32) -> bool) -> Option<(&'static str, u32)> {
    let larger = DEVICES.into_iter().filter(|d| d.1 > side);
    larger.into_iter().find(|d| does(d.1))
}

/// Vertices of one frame that lie side by side in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowPiece {
    /// Column of the first.
    pub x: u32,
    /// The frame.
    pub frame: u32,
    /// Its vertices.
    pub vertices: Range<u32>,
}

impl Layout {
    /// One row a frame: texel `(vertex, frame)`.
    ///
    /// # Errors
    /// [`LayoutError::TooLarge`] where either is more than `limit`.
    pub fn rows(vertices: u32, frames: u32, limit: u32) -> Result<Self, LayoutError> {
        Self::blocks(vertices, frames, [vertices, 1], 1, limit)
    }

    /// Blocks of a given size.
    ///
    /// # Errors
    /// [`LayoutError::TooLarge`] where the blocks are too small for a frame or the texture gets larger than `limit`.
    pub fn blocks(
        vertices: u32,
        frames: u32,
        block: [u32; 2],
        across: u32,
        limit: u32,
    ) -> Result<Self, LayoutError> {
        check_some(vertices, frames)?;
        let too_large = LayoutError::TooLarge {
            vertices,
            frames,
            limit,
        };
        if u64::from(block[0]) * u64::from(block[1]) < u64::from(vertices) || across == 0 {
            return Err(too_large);
        }
        let width = u64::from(block[0]) * u64::from(across);
        let height = u64::from(block[1]) * u64::from(frames.div_ceil(across));
        Ok(Self {
            vertices,
            frames,
            arrangement: Arrangement::Blocks { block, across },
            size: within([width, height], limit).ok_or(too_large)?,
        })
    }

    /// The smallest texture whose sides are at most `limit`: one row a frame where that fits, otherwise blocks whose width is
    /// a multiple of `unit` (3 keeps the corners of a triangle in one row). Of equally small ones the squarest.
    ///
    /// Cost: `limit * ln(limit)` trials.
    ///
    /// # Errors
    /// [`LayoutError`] where there is nothing to lay out or nothing fits.
    pub fn fitting(vertices: u32, frames: u32, unit: u32, limit: u32) -> Result<Self, LayoutError> {
        check_some(vertices, frames)?;
        Self::rows(vertices, frames, limit).or_else(|_| {
            let all = block_layouts(vertices, frames, unit, limit);
            let best = all.min_by_key(|l| (l.texels(), l.size[0].abs_diff(l.size[1]), l.size[0]));
            best.ok_or(LayoutError::TooLarge {
                vertices,
                frames,
                limit,
            })
        })
    }

    /// OpenVAT's: columns of frames, sides powers of two from 64 to 8192 that differ by a factor of two at most, of those the
    /// smallest area. With `packed_rows` of 2 there is room for as many rows again below (normals).
    ///
    /// # Errors
    /// [`LayoutError`] where there is nothing to lay out or nothing fits.
    pub fn columns(vertices: u32, frames: u32, packed_rows: u32) -> Result<Self, LayoutError> {
        const LIMIT: u32 = 8192;
        check_some(vertices, frames)?;
        let sizes = (6..=13).map(|power| 1_u32 << power).filter_map(|width| {
            let rows = u64::from(vertices.div_ceil(width)) * u64::from(frames);
            let height = u32::try_from((rows * u64::from(packed_rows)).max(64)).ok()?;
            let height = height.checked_next_power_of_two()?;
            let near = width.ilog2().abs_diff(height.ilog2()) <= 1;
            (near && height <= LIMIT).then_some([width, height])
        });
        let least = sizes.min_by_key(|s| (u64::from(s[0]) * u64::from(s[1]), s[0]));
        let size = least.ok_or(LayoutError::TooLarge {
            vertices,
            frames,
            limit: LIMIT,
        })?;
        Ok(Self {
            vertices,
            frames,
            arrangement: Arrangement::Columns { width: size[0] },
            size,
        })
    }

    /// The same with sides that are powers of two; what is added at the right and below stays unused.
    ///
    /// # Errors
    /// [`LayoutError::TooLarge`] where that goes beyond `limit`.
    pub fn padded_to_powers_of_two(self, limit: u32) -> Result<Self, LayoutError> {
        let sides = self.size.map(|s| u64::from(s).next_power_of_two());
        let size = within(sides, limit).ok_or(LayoutError::TooLarge {
            vertices: self.vertices,
            frames: self.frames,
            limit,
        })?;
        Ok(Self { size, ..self })
    }

    /// Column and row of a vertex in a frame.
    pub fn texel(&self, vertex: u32, frame: u32) -> [u32; 2] {
        match self.arrangement {
            Arrangement::Blocks { block, across } => [
                (frame % across) * block[0] + vertex % block[0],
                (frame / across) * block[1] + vertex / block[0],
            ],
            Arrangement::Columns { width } => {
                [vertex % width, (vertex / width) * self.frames + frame]
            }
        }
    }

    /// Highest column and highest row that any vertex of any frame is at; `None` where there is no vertex, no frame or a side of zero. Holds
    /// for layouts from files, too, which nothing has checked.
    pub(crate) fn farthest(&self) -> Option<[u64; 2]> {
        let [vertices, frames] = [self.vertices, self.frames].map(u64::from);
        let last = |count: u64| count.checked_sub(1);
        let (vertex, frame) = (last(vertices)?, last(frames)?);
        match self.arrangement {
            Arrangement::Blocks { block, across } => {
                let ([width, height], across) = (block.map(u64::from), u64::from(across));
                let row_in_block = vertex.checked_div(width)?;
                let row_of_blocks = frame.checked_div(across)?;
                if row_in_block >= height {
                    return None;
                }
                let x = frame.min(across - 1) * width + vertex.min(width - 1);
                Some([x, row_of_blocks * height + row_in_block])
            }
            Arrangement::Columns { width } => {
                let width = u64::from(width);
                let wraps = vertex.checked_div(width)?;
                Some([vertex.min(width - 1), wraps * frames + frame])
            }
        }
    }

    /// What row `y` consists of, from the left. Texels between and behind the pieces are unused.
    pub fn row(&self, y: u32) -> impl Iterator<Item = RowPiece> + '_ {
        let (first_frame, count, start, width) = match self.arrangement {
            Arrangement::Blocks { block, across } => {
                let first = u64::from(y / block[1]) * u64::from(across);
                let first = u32::try_from(first).unwrap_or(u32::MAX).min(self.frames);
                let count = across.min(self.frames - first);
                (
                    first,
                    count,
                    u64::from(y % block[1]) * u64::from(block[0]),
                    block[0],
                )
            }
            Arrangement::Columns { width } => {
                let start = u64::from(y / self.frames) * u64::from(width);
                (y % self.frames, 1, start, width)
            }
        };
        let start = u32::try_from(start).unwrap_or(u32::MAX).min(self.vertices);
        let end = start.saturating_add(width).min(self.vertices);
        (0..count)
            .filter(move |_| start < end)
            .map(move |k| RowPiece {
                x: k * width,
                frame: first_frame + k,
                vertices: start..end,
            })
    }

    /// Texels of the texture.
    pub fn texels(&self) -> u64 {
        u64::from(self.size[0]) * u64::from(self.size[1])
    }

    /// Share of the texels that no vertex uses.
    pub fn waste(&self) -> f64 {
        let used = u64::from(self.vertices) * u64::from(self.frames);
        1.0 - used as f64 / self.texels() as f64
    }
}

fn check_some(vertices: u32, frames: u32) -> Result<(), LayoutError> {
    match vertices > 0 && frames > 0 {
        true => Ok(()),
        false => Err(LayoutError::Empty { vertices, frames }),
    }
}

fn within(size: [u64; 2], limit: u32) -> Option<[u32; 2]> {
    let [width, height] = size.map(|s| u32::try_from(s).ok().filter(|s| *s <= limit));
    Some([width?, height?])
}

/// Every layout in blocks whose width is a multiple of `unit`.
fn block_layouts(
    vertices: u32,
    frames: u32,
    unit: u32,
    limit: u32,
) -> impl Iterator<Item = Layout> {
    let unit = unit.max(1);
    let widest = vertices.min(limit) / unit;
    (1..=widest).flat_map(move |n| {
        let width = n * unit;
        let block = [width, vertices.div_ceil(width)];
        (1..=(limit / width).min(frames))
            .filter_map(move |across| Layout::blocks(vertices, frames, block, across, limit).ok())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn row_99_one_texel_a_vertex_and_one_row_a_frame() {
        // 1,130 triangles and 300 frames, as the method was published: fewer texels than 1024 x 1024.
        let layout = Layout::rows(3390, 300, 8192).expect("fits");
        assert_eq!(layout.size, [3390, 300]);
        assert_eq!(layout.texels(), 1_017_000);
        assert_eq!(layout.texel(3 * 7 + 2, 41), [23, 41]);
        assert_eq!(layout.waste(), 0.0);
    }

    #[test]
    fn row_112_blocks_where_a_row_is_too_wide() {
        let layout = Layout::fitting(29_844, 60, 3, 4096).expect("fits");
        let Arrangement::Blocks { block, across } = layout.arrangement else {
            panic!("{layout:?}");
        };
        assert_eq!(block[0] % 3, 0, "a triangle is not cut");
        assert!(layout.size.iter().all(|s| *s <= 4096), "{layout:?}");
        assert!(layout.waste() < 0.001, "{layout:?}: {}", layout.waste());
        // By hand: frame 5 begins five blocks on.
        let [x, y] = layout.texel(0, 5);
        assert_eq!([x / block[0], y / block[1]], [5 % across, 5 / across]);
    }

    #[test]
    fn row_114_padding_to_powers_of_two_moves_no_texel() {
        let plain = Layout::rows(3390, 300, 8192).expect("fits");
        let padded = plain.padded_to_powers_of_two(8192).expect("fits");
        assert_eq!(padded.size, [4096, 512]);
        assert_eq!(padded.texel(3389, 299), plain.texel(3389, 299));
        assert!((padded.waste() - (1.0 - 1_017_000.0 / 2_097_152.0)).abs() < 1e-12);
        assert!(plain.padded_to_powers_of_two(4000).is_err());
    }

    #[test]
    fn columns_are_those_of_openvat() {
        // 1000 vertices, 60 frames: 64 wide needs 16 wraps, 960 rows, 1024 high (too long); 256 wide 4 wraps, 240 rows.
        let layout = Layout::columns(1000, 60, 1).expect("fits");
        assert_eq!(layout.size, [256, 256]);
        assert_eq!(layout.texel(257, 3), [1, 63]);
        assert_eq!(Layout::columns(1000, 60, 2).expect("fits").size, [256, 512]);
    }

    #[test]
    fn what_cannot_be_is_said() {
        assert_eq!(
            Layout::rows(0, 5, 64),
            Err(LayoutError::Empty {
                vertices: 0,
                frames: 5
            })
        );
        let error = Layout::fitting(100_000, 1000, 3, 4096).expect_err("too many");
        assert_eq!(
            error.to_string(),
            "100000 vertices times 1000 frames are 100000000 texels; a texture of 4096 x 4096 cannot hold them"
        );
        assert!(Layout::columns(u32::MAX, u32::MAX, 2).is_err());
        assert!(Layout::rows(u32::MAX, 2, u32::MAX).is_ok());
    }

    fn any_layout() -> impl Strategy<Value = Layout> {
        (1_u32..400, 1_u32..40, 1_u32..4, 20_u32..200, 0..3_u8).prop_filter_map(
            "fits",
            |(vertices, frames, unit, limit, kind)| match kind {
                0 => Layout::rows(vertices, frames, 400).ok(),
                1 => Layout::fitting(vertices, frames, unit, limit).ok(),
                _ => Layout::columns(vertices, frames, 1).ok(),
            },
        )
    }

    proptest! {
        #[test]
        fn rows_and_texels_say_the_same(layout in any_layout()) {
            let mut owner = vec![None; (layout.size[0] * layout.size[1]) as usize];
            let place = |x: u32, y: u32| (y * layout.size[0] + x) as usize;
            for frame in 0..layout.frames {
                for vertex in 0..layout.vertices {
                    let [x, y] = layout.texel(vertex, frame);
                    prop_assert!(x < layout.size[0] && y < layout.size[1]);
                    let before = owner[place(x, y)].replace((vertex, frame));
                    prop_assert_eq!(before, None, "two in one texel");
                }
            }
            let mut seen = 0;
            for y in 0..layout.size[1] {
                for piece in layout.row(y) {
                    for (k, vertex) in piece.vertices.clone().enumerate() {
                        let at = place(piece.x + k as u32, y);
                        prop_assert_eq!(owner[at], Some((vertex, piece.frame)));
                        seen += 1;
                    }
                }
            }
            prop_assert_eq!(seen, layout.vertices * layout.frames);
        }
    }
}
