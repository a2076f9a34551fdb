//! A field as words: what travels over a link of type `field`, the same on every device.
//!
//! | word | holds |
//! |---|---|
//! | 0 | what follows: 0 nothing, 1 a grid in single precision, 2 a grid in half precision, 3 solids |
//! | 1 to 9 | rotation, field axes from scene axes, row after row (floats) |
//! | 10 to 12 | translation of `field point = scale * rotation * scene point + translation` |
//! | 13 | scale |
//! | 14 to 16 | origin of a grid: its node (0, 0, 0), in the field's frame |
//! | 17 | edge of a cell |
//! | 18 to 20 | bricks along each axis |
//! | 21 | bricks with values, or the number of solids |
//! | 22, 23, 24 | first word of the table of bricks, of the coarse level, of the values or solids |
//!
//! The numbers of a grid are those of [`FieldView`]; two of half precision share a word, the first in the lower half. A solid has twelve
//! words: its kind (0 capsule, 1 plane); of a capsule two centres and two radii; of a plane its unit normal and its distance from the
//! origin along that. Solids are in the field's frame, whose scale is one.

use super::field::{BRICK_VALUES, BrickValues, FieldView, GridShape};
use super::frame::FieldFrame;
use bytemuck::{cast_slice, cast_slice_mut};
use sinew_geom::index32;

/// WGSL that looks a field up: `field_sample(f: Field, point: vec3f) -> vec4f` is the gradient and the distance. Its head says which
/// functions it needs.
pub const FIELD_WGSL: &str = include_str!("../collide/field.wgsl");

/// Words before everything else.
pub(crate) const HEADER_WORDS: usize = 32;
/// Words of a solid.
pub(crate) const SOLID_WORDS: usize = 12;

const SINGLE: u32 = 1;
const HALF: u32 = 2;
const SOLIDS: u32 = 3;

/// Words of a grid with room for `bricks` bricks in its table and `slots` of them with values.
pub(crate) fn grid_words(entries: usize, slots: usize, half: bool) -> usize {
    let values = slots * BRICK_VALUES;
    let values = if half { values / 2 } else { values };
    HEADER_WORDS + 2 * entries + values
}

/// Words of a field of solids.
pub(crate) fn solids_words(count: usize) -> usize {
    HEADER_WORDS + count * SOLID_WORDS
}

/// Content of the words of a field.
#[derive(Clone, Copy, Debug)]
pub enum FieldWords<'a> {
    /// No field yet, or no valid words.
    Nothing,
    /// Distances on a grid.
    Grid(FieldView<'a>),
    /// Capsules and planes.
    Solids(SolidsView<'a>),
}

/// Capsules and planes in the words of a field.
#[derive(Clone, Copy, Debug)]
pub struct SolidsView<'a> {
    /// Twelve words each.
    pub solids: &'a [[u32; SOLID_WORDS]],
    /// Field space from scene space.
    pub frame: FieldFrame,
}

impl<'a> FieldWords<'a> {
    /// Reads words without copying; [`Self::Nothing`] if they are not those of a field.
    pub fn read(words: &'a [u32]) -> Self {
        Self::try_read(words).unwrap_or(Self::Nothing)
    }

    fn try_read(words: &'a [u32]) -> Option<Self> {
        let head = words.first_chunk::<HEADER_WORDS>()?;
        let frame = frame_of(head);
        let from = |at: usize| words.get(head[at] as usize..);
        let count = head[21] as usize;
        if head[0] == SOLIDS {
            let solids = from(24)?.as_chunks().0.get(..count)?;
            return Some(Self::Solids(SolidsView { solids, frame }));
        }
        let shape = GridShape {
            origin: [14, 15, 16].map(|i| f32::from_bits(head[i])),
            cell: f32::from_bits(head[17]),
            bricks: [head[18], head[19], head[20]],
        };
        let table = from(22)?.get(..shape.brick_count())?;
        let coarse = from(23)?.get(..shape.coarse_count())?;
        let values = match head[0] {
            SINGLE => {
                let all: &[f32] = cast_slice(from(24)?);
                BrickValues::Single(all.as_chunks().0.get(..count)?)
            }
            HALF => {
                let all: &[u16] = cast_slice(from(24)?);
                BrickValues::Half(all.as_chunks().0.get(..count)?)
            }
            _ => return None,
        };
        Some(Self::Grid(FieldView {
            shape,
            table,
            coarse: cast_slice(coarse),
            values,
            frame,
        }))
    }
}

fn frame_of(head: &[u32; HEADER_WORDS]) -> FieldFrame {
    let number = |i: usize| f32::from_bits(head[i]);
    FieldFrame::from_parts(
        std::array::from_fn(|i| number(1 + i)),
        number(13),
        std::array::from_fn(|i| number(10 + i)),
    )
}

fn write_frame(head: &mut [u32], frame: &FieldFrame) {
    let (rotation, scale, translation) = frame.parts();
    let numbers = rotation.into_iter().chain(translation).chain([scale]);
    for (word, number) in head[1..].iter_mut().zip(numbers) {
        *word = number.to_bits();
    }
}

/// Moves the field that is in `words`, its numbers as they are.
pub(crate) fn move_words(words: &mut [u32], frame: &FieldFrame) {
    if words.len() >= HEADER_WORDS {
        write_frame(words, frame);
    }
}

/// Writes a grid; as much of it as there is room for ([`grid_words`]).
pub(crate) fn write_grid(words: &mut [u32], view: &FieldView<'_>, slots: usize) {
    if words.len() < HEADER_WORDS {
        return;
    }
    let (head, rest) = words.split_at_mut(HEADER_WORDS);
    let (entries, corners) = (view.table.len(), view.coarse.len());
    let starts = [0, entries, entries + corners];
    let (kind, values): (u32, &[u32]) = match view.values {
        BrickValues::Single(v) => (SINGLE, cast_slice(&v[..slots.min(v.len())])),
        BrickValues::Half(v) => (HALF, cast_slice(&v[..slots.min(v.len())])),
    };
    write_head(head, kind, &view.shape, &view.frame, starts, slots);
    let mut put = |start: usize, from: &[u32]| {
        if let Some(to) = rest.get_mut(start..start + from.len()) {
            to.copy_from_slice(from);
        } else {
            // Half a field is none.
            head[0] = 0;
        }
    };
    put(starts[0], view.table);
    put(starts[1], cast_slice(view.coarse));
    put(starts[2], values);
}

/// The parts of a grid in words, to be written in place.
pub(crate) struct GridParts<'a> {
    /// For each brick its place in `values`, or `NO_BRICK`.
    pub(crate) table: &'a mut [u32],
    /// Values at the corners of bricks.
    pub(crate) coarse: &'a mut [f32],
    /// Values of the bricks.
    pub(crate) values: &'a mut [[f32; BRICK_VALUES]],
    /// How many bricks have values.
    pub(crate) count: &'a mut u32,
}

/// Makes words a grid in single precision with room for all its bricks; `None` where the words are too few ([`grid_words`]). What was in
/// its parts stays there.
pub(crate) fn lay_grid<'a>(
    words: &'a mut [u32],
    shape: &GridShape,
    frame: &FieldFrame,
) -> Option<GridParts<'a>> {
    let (entries, corners) = (shape.brick_count(), shape.coarse_count());
    let (head, rest) = words.split_at_mut_checked(HEADER_WORDS)?;
    let (table, rest) = rest.split_at_mut_checked(entries)?;
    let (coarse, rest) = rest.split_at_mut_checked(corners)?;
    let values: &mut [f32] = cast_slice_mut(rest);
    let values = values.as_chunks_mut().0.get_mut(..entries)?;
    write_head(
        head,
        SINGLE,
        shape,
        frame,
        [0, entries, entries + corners],
        0,
    );
    Some(GridParts {
        table,
        coarse: cast_slice_mut(coarse),
        values,
        count: &mut head[21],
    })
}

fn write_head(
    head: &mut [u32],
    kind: u32,
    shape: &GridShape,
    frame: &FieldFrame,
    starts: [usize; 3],
    slots: usize,
) {
    head[0] = kind;
    write_frame(head, frame);
    for (i, number) in (14..).zip(shape.origin.into_iter().chain([shape.cell])) {
        head[i] = number.to_bits();
    }
    head[18..21].copy_from_slice(&shape.bricks);
    head[21] = index32(slots);
    for (i, start) in (22..).zip(starts) {
        head[i] = index32(HEADER_WORDS + start);
    }
}

/// Writes solids, `size` times as large; as many as there is room for ([`solids_words`]).
pub(crate) fn write_solids(
    words: &mut [u32],
    solids: &[[f32; SOLID_WORDS]],
    size: f32,
    frame: &FieldFrame,
) {
    if words.len() < HEADER_WORDS {
        return;
    }
    let (head, rest) = words.split_at_mut(HEADER_WORDS);
    let count = solids.len().min(rest.len() / SOLID_WORDS);
    head[0] = SOLIDS;
    write_frame(head, frame);
    head[21] = index32(count);
    head[24] = index32(HEADER_WORDS);
    let to: &mut [f32] = cast_slice_mut(&mut rest[..count * SOLID_WORDS]);
    to.copy_from_slice(solids[..count].as_flattened());
    for solid in to.as_chunks_mut::<SOLID_WORDS>().0 {
        // Lengths grow: centres and radii, and of a plane its distance, not its normal.
        let lengths = match solid[0].to_bits() {
            crate::solids::PLANE => 4..5,
            _ => 1..9,
        };
        solid[lengths].iter_mut().for_each(|v| *v *= size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_geom::{Quat, Vec3};

    fn frame() -> FieldFrame {
        let turn = Quat::from_axis_angle(&Vec3::y_axis(), 0.7);
        FieldFrame::new(turn, 1.0, [0.5, -2.0, 0.25]).expect("finite")
    }

    #[test]
    fn words_that_are_no_field_hold_nothing() {
        for words in [&[][..], &[1; 8], &[1; 40], &[u32::MAX; 64]] {
            assert!(matches!(FieldWords::read(words), FieldWords::Nothing));
        }
        // A grid cut short.
        let mut words = vec![0; HEADER_WORDS + 10];
        let view = FieldView {
            shape: GridShape {
                origin: [0.0; 3],
                cell: 1.0,
                bricks: [2, 1, 1],
            },
            table: &[0, 1],
            coarse: &[1.0; 12],
            values: BrickValues::Single(&[[2.0; BRICK_VALUES]; 2]),
            frame: frame(),
        };
        write_grid(&mut words, &view, 2);
        assert!(matches!(FieldWords::read(&words), FieldWords::Nothing));
    }

    #[test]
    fn a_grid_comes_back() {
        for half in [false, true] {
            let single = [
                [2.5; BRICK_VALUES],
                [-0.5; BRICK_VALUES],
                [9.0; BRICK_VALUES],
            ];
            let short = single.map(|b| b.map(|v| if v > 0.0 { 0x4100 } else { 0xb800 }));
            let values = match half {
                false => BrickValues::Single(&single),
                true => BrickValues::Half(&short),
            };
            let view = FieldView {
                shape: GridShape {
                    origin: [1.0, 2.0, 3.0],
                    cell: 0.25,
                    bricks: [2, 1, 1],
                },
                table: &[0, 1],
                coarse: &[1.0; 12],
                values,
                frame: frame(),
            };
            // Room for bricks that this frame does not need.
            let mut words = vec![0; grid_words(20, 3, half)];
            write_grid(&mut words, &view, 2);
            let FieldWords::Grid(found) = FieldWords::read(&words) else {
                panic!("a grid");
            };
            assert_eq!(found.shape, view.shape);
            assert_eq!((found.table, found.coarse), (view.table, view.coarse));
            assert_eq!(found.frame, view.frame);
            for (slot, node) in [(0, 0), (0, 511), (1, 7)] {
                assert_eq!(found.values.get(slot, node), view.values.get(slot, node));
            }
            // Words 0 to 24 all mean something; the rest only fills the header up.
            let read = |words: &[u32]| format!("{:?}", FieldWords::read(words));
            let as_written = read(&words);
            for word in 0..HEADER_WORDS {
                let mut other = words.clone();
                other[word] ^= 1;
                assert_eq!(read(&other) != as_written, word < 25, "word {word}");
            }
            let moved = FieldFrame::default();
            move_words(&mut words, &moved);
            let FieldWords::Grid(found) = FieldWords::read(&words) else {
                panic!("a grid");
            };
            assert_eq!(found.frame, moved);
        }
    }

    #[test]
    fn solids_come_back() {
        let mut capsule = [0.0; SOLID_WORDS];
        capsule[1..9].copy_from_slice(&[0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.5, 0.25]);
        let mut words = vec![0; solids_words(2)];
        write_solids(&mut words, &[capsule, capsule], 1.0, &frame());
        let FieldWords::Solids(found) = FieldWords::read(&words) else {
            panic!("solids");
        };
        assert_eq!(found.solids.len(), 2);
        assert_eq!(found.solids[1].map(f32::from_bits), capsule);
        assert_eq!(found.frame, frame());
    }
}
