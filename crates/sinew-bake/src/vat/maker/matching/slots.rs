//! Pairs of all frames put together: which triangle each slot of the texture shows.

use super::{FrameMatch, Predecessor, Unpaired};

/// What a slot shows in a frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Slot {
    /// Nothing here, in the frame before or in the next: any common point will do.
    Unused,
    /// All corners at this point, where the triangle of the frame before ends.
    Dying([f32; 3]),
    /// All corners at this point, where the triangle of the next frame begins.
    Born([f32; 3]),
    /// Corner `k` of the slot is corner `(k + turn) % 3` of the triangle.
    Live {
        /// Index in the frame.
        triangle: u32,
        /// Which corner of it is corner 0 of the slot.
        turn: u8,
    },
}

/// A match is of other frames: a predecessor does not exist, or has two successors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("frame {frame}: predecessor {triangle} is not there or named twice")]
pub struct SlotsError {
    /// The later frame of the match.
    pub frame: usize,
    /// Index named in it.
    pub triangle: u32,
}

/// Follows each triangle through a sequence, frame after frame: a successor takes the slot of its predecessor, a birth a vacant one, or a new one.
/// A slot is vacant once both the death and the birth can be shown, so that no slot jumps. Holds one row.
///
/// Cost: linear in frames times slots.
#[derive(Clone, Debug)]
pub(crate) struct SlotChain {
    /// Whether slots that show nothing may be taken by any birth.
    is_free_at_once: bool,
    frame: usize,
    row: Vec<Slot>,
}

impl SlotChain {
    /// Begins with the number of triangles of the first frame.
    #[must_use]
    pub(crate) fn new(first: usize) -> Self {
        let live = (0..first as u32).map(|triangle| Slot::Live { triangle, turn: 0 });
        Self {
            is_free_at_once: false,
            frame: 0,
            row: live.collect(),
        }
    }

    /// Lets slots be taken again in the frame behind the first that they show nothing in: for bakes in which blends go to ends of frames, so that no slot is
    /// seen on its way from where one triangle died to where another is born. In that frame they wait where the birth is. As many slots then do as
    /// triangles of a frame and births of the next one together, at most.
    #[must_use]
    pub(crate) fn freed_at_once(self) -> Self {
        Self {
            is_free_at_once: true,
            ..self
        }
    }

    /// Goes on to the next frame; gives what the slots show in the one before, now that it is known what comes out of it. Later rows may be
    /// longer: slots that a row does not have yet are [`Slot::Unused`] there.
    ///
    /// # Errors
    /// [`SlotsError`] for a match of other frames.
    pub(crate) fn advance(&mut self, step: &FrameMatch) -> Result<Vec<Slot>, SlotsError> {
        self.frame += 1;
        check_predecessors(self.frame, &self.row, step)?;
        let after = next_row(&mut self.row, step, self.is_free_at_once);
        Ok(std::mem::replace(&mut self.row, after))
    }

    /// The row of the last frame; as long as there are slots.
    #[must_use]
    pub(crate) fn finish(self) -> Vec<Slot> {
        self.row
    }
}

/// Every predecessor is there, and has one successor.
fn check_predecessors(frame: usize, before: &[Slot], step: &FrameMatch) -> Result<(), SlotsError> {
    let mut unclaimed = vec![false; before.len()];
    for slot in before {
        if let Slot::Live { triangle, .. } = *slot
            && let Some(entry) = unclaimed.get_mut(triangle as usize)
        {
            *entry = true;
        }
    }
    for &Predecessor { triangle, .. } in step.predecessors.iter().flatten() {
        match unclaimed.get_mut(triangle as usize) {
            Some(entry) if *entry => *entry = false,
            _ => return Err(SlotsError { frame, triangle }),
        }
    }
    Ok(())
}

/// The row of the next frame; adds to the one before what grows out of it.
fn next_row(before: &mut Vec<Slot>, step: &FrameMatch, is_free_at_once: bool) -> Vec<Slot> {
    let mut after = continued(before, step);
    let is_vacant = |slot: &Slot| match slot {
        Slot::Unused => true,
        Slot::Dying(_) => is_free_at_once,
        _ => false,
    };
    let vacant = (0..before.len()).filter(|slot| is_vacant(&before[*slot]));
    let mut vacant = vacant.collect::<Vec<_>>().into_iter();
    for (triangle, predecessor) in (0..).zip(&step.predecessors) {
        if predecessor.is_some() {
            continue;
        }
        let slot = vacant.next().unwrap_or(after.len());
        if slot == after.len() {
            before.push(Slot::Unused);
            after.push(Slot::Unused);
        }
        before[slot] = Slot::Born(point_of(&step.births, triangle));
        after[slot] = Slot::Live { triangle, turn: 0 };
    }
    after
}

/// The next row with all successors and deaths, and no birth.
fn continued(before: &[Slot], step: &FrameMatch) -> Vec<Slot> {
    let mut successors = vec![None; before.len()];
    for (index, predecessor) in (0..).zip(&step.predecessors) {
        if let Some(Predecessor { triangle, turn }) = *predecessor {
            successors[triangle as usize] = Some((index, turn));
        }
    }
    let next = |slot: &Slot| match *slot {
        Slot::Live { triangle, turn } => match successors[triangle as usize] {
            Some((triangle, turned)) => Slot::Live {
                triangle,
                turn: (turn + 3 - turned % 3) % 3,
            },
            None => Slot::Dying(point_of(&step.deaths, triangle)),
        },
        _ => Slot::Unused,
    };
    before.iter().map(next).collect()
}

/// The origin for a triangle that is not listed, which [`super::match_triangles`] never leaves out.
fn point_of(unpaired: &[Unpaired], triangle: u32) -> [f32; 3] {
    let found = unpaired.binary_search_by_key(&triangle, |unpaired| unpaired.triangle);
    found.map_or([0.0; 3], |index| unpaired[index].point)
}
