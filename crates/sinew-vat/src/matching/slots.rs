//! Pairs of all frames put together: which triangle each slot of the texture shows.

use super::{FrameMatch, Predecessor, Unpaired};
use serde::{Deserialize, Serialize};

/// How many vacant slots are looked at for the nearest one: bounds the cost where all triangles change at once.
const LOOK: usize = 1024;

/// What a slot shows in a frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Slot {
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
        /// Whether the slot showed an unrelated triangle in the frame before: it jumps.
        jumps: bool,
    },
}

/// Which vacant slots a birth may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlotPolicy {
    /// All: as many slots as the fullest frame has triangles. A slot may then jump from a death to a birth near by.
    #[default]
    Fewest,
    /// Only those vacant long enough for both the death and the birth to be shown: more slots, no jumps.
    Clean,
}

/// Why pairs cannot be put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SlotsError {
    /// There must be one match between each two neighbours.
    #[error("{frames} frames need one match less, not {matches}")]
    Matches {
        /// Number of frames.
        frames: usize,
        /// Number of matches.
        matches: usize,
    },
    /// A match is of another frame.
    #[error("frame {frame} has {triangles} triangles, its match has {predecessors}")]
    Triangles {
        /// The later frame of the match.
        frame: usize,
        /// Its triangles.
        triangles: usize,
        /// Length of the list of predecessors.
        predecessors: usize,
    },
    /// A predecessor does not exist, or has two successors.
    #[error("frame {frame}: predecessor {triangle} is not there or named twice")]
    Predecessor {
        /// The later frame of the match.
        frame: usize,
        /// Index named in it.
        triangle: u32,
    },
}

/// Slots of a whole sequence.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Slots {
    rows: Vec<Vec<Slot>>,
    count: usize,
}

impl Slots {
    /// Slots in every frame.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Number of frames.
    #[must_use]
    pub fn frames(&self) -> usize {
        self.rows.len()
    }

    /// What the slots show in a frame: `count` entries, or none for a frame that is not there.
    #[must_use]
    pub fn frame(&self, frame: usize) -> &[Slot] {
        self.rows.get(frame).map_or(&[], Vec::as_slice)
    }
}

/// Follows each triangle through the sequence: a successor takes the slot of its predecessor, a birth a vacant one.
///
/// `counts` are the numbers of triangles of the frames, `matches[f]` relates frame `f` to `f + 1`. Births prefer slots
/// that were empty for long, then those that died nearest. A slot that dies into a frame and is taken in the next shows
/// the point of its death.
///
/// Cost: linear in frames times slots, times up to 1,024 for each birth without a long-empty slot.
///
/// # Errors
///
/// [`SlotsError`] if the matches do not belong to these frames.
pub fn compose(
    counts: &[usize],
    matches: &[FrameMatch],
    policy: SlotPolicy,
) -> Result<Slots, SlotsError> {
    let frames = counts.len();
    if matches.len() != frames.saturating_sub(1) {
        let matches = matches.len();
        return Err(SlotsError::Matches { frames, matches });
    }
    let Some(&first) = counts.first() else {
        return Ok(Slots::default());
    };
    let fullest = counts.iter().copied().max().unwrap_or(0);
    let mut chain = SlotChain::new(first, fullest, policy);
    let mut rows = Vec::with_capacity(frames);
    for (step, frame) in matches.iter().zip(1..) {
        check_count(frame, counts[frame], step)?;
        rows.push(chain.advance(step)?);
    }
    rows.push(chain.finish());
    let count = rows.last().map_or(0, Vec::len);
    for row in &mut rows {
        row.resize(count, Slot::Unused);
    }
    Ok(Slots { rows, count })
}

/// [`compose`] frame after frame, for sequences that do not fit into memory: holds one row.
#[derive(Clone, Debug)]
pub struct SlotChain {
    policy: SlotPolicy,
    /// Whether slots that show nothing may be taken by any birth.
    is_free_at_once: bool,
    frame: usize,
    row: Vec<Slot>,
}

impl SlotChain {
    /// Begins with the triangles of the first frame. `fullest`: triangles of the frame that has most.
    #[must_use]
    pub fn new(first: usize, fullest: usize, policy: SlotPolicy) -> Self {
        let least = match policy {
            SlotPolicy::Fewest => fullest,
            SlotPolicy::Clean => first,
        };
        let row = first_row(first, least);
        Self {
            policy,
            is_free_at_once: false,
            frame: 0,
            row,
        }
    }

    /// Lets slots be taken again in the frame behind the first that they show nothing in: for bakes in which blends go to ends of frames, so that no slot is
    /// seen on its way from where one triangle died to where another is born. In that frame they wait where the birth is. As many slots then do as
    /// triangles of a frame and births of the next one together, at most.
    #[must_use]
    pub fn freed_at_once(self) -> Self {
        Self {
            is_free_at_once: true,
            ..self
        }
    }

    /// Goes on to the next frame; gives what the slots show in the one before, now that it is known what comes out of it. Later rows may be
    /// longer: slots that a row does not have yet are [`Slot::Unused`] there.
    ///
    /// # Errors
    /// [`SlotsError::Predecessor`] for a match of other frames.
    pub fn advance(&mut self, step: &FrameMatch) -> Result<Vec<Slot>, SlotsError> {
        self.frame += 1;
        check_predecessors(self.frame, &self.row, step)?;
        let after = next_row(&mut self.row, step, self.policy, self.is_free_at_once);
        Ok(std::mem::replace(&mut self.row, after))
    }

    /// The row of the last frame; as long as there are slots.
    #[must_use]
    pub fn finish(self) -> Vec<Slot> {
        self.row
    }
}

fn check_count(frame: usize, triangles: usize, step: &FrameMatch) -> Result<(), SlotsError> {
    let predecessors = step.predecessors.len();
    match predecessors == triangles {
        true => Ok(()),
        false => Err(SlotsError::Triangles {
            frame,
            triangles,
            predecessors,
        }),
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
            _ => return Err(SlotsError::Predecessor { frame, triangle }),
        }
    }
    Ok(())
}

fn first_row(count: usize, least: usize) -> Vec<Slot> {
    let live = (0..count as u32).map(|triangle| Slot::Live {
        triangle,
        turn: 0,
        jumps: false,
    });
    let mut row: Vec<Slot> = live.collect();
    row.resize(least, Slot::Unused);
    row
}

/// The row of the next frame; adds to the one before what grows out of it.
fn next_row(
    before: &mut Vec<Slot>,
    step: &FrameMatch,
    policy: SlotPolicy,
    is_free_at_once: bool,
) -> Vec<Slot> {
    let mut after = continued(before, step);
    let mut vacancies = Vacancies::new(before, &after, (policy, is_free_at_once));
    for (triangle, predecessor) in (0..).zip(&step.predecessors) {
        if predecessor.is_some() {
            continue;
        }
        let point = point_of(&step.births, triangle);
        let slot = vacancies.take(point).unwrap_or(after.len());
        if slot == after.len() {
            before.push(Slot::Unused);
            after.push(Slot::Unused);
        }
        let waits = is_free_at_once && matches!(before[slot], Slot::Dying(_));
        if waits || before[slot] == Slot::Unused {
            before[slot] = Slot::Born(point);
        }
        after[slot] = Slot::Live {
            triangle,
            turn: 0,
            jumps: matches!(before[slot], Slot::Live { .. }),
        };
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
        Slot::Live { triangle, turn, .. } => match successors[triangle as usize] {
            Some((triangle, turned)) => Slot::Live {
                triangle,
                turn: (turn + 3 - turned % 3) % 3,
                jumps: false,
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

/// Slots that a birth may take, best kind first.
#[derive(Debug)]
struct Vacancies {
    /// Empty before without any claim, the lowest last.
    empty: Vec<usize>,
    /// Died into the frame before, with the place.
    died: Vec<(usize, [f32; 3])>,
    /// Dying now, with the place.
    dying: Vec<(usize, [f32; 3])>,
}

impl Vacancies {
    fn new(before: &[Slot], after: &[Slot], (policy, is_free_at_once): (SlotPolicy, bool)) -> Self {
        let mut vacancies = Self {
            empty: Vec::new(),
            died: Vec::new(),
            dying: Vec::new(),
        };
        for (slot, pair) in before.iter().zip(after).enumerate().rev() {
            match (*pair.0, *pair.1, policy) {
                (Slot::Unused, _, _) => vacancies.empty.push(slot),
                (Slot::Dying(_), _, _) if is_free_at_once => vacancies.empty.push(slot),
                (Slot::Dying(point), _, SlotPolicy::Fewest) => vacancies.died.push((slot, point)),
                (_, Slot::Dying(point), SlotPolicy::Fewest) => vacancies.dying.push((slot, point)),
                _ => {}
            }
        }
        vacancies
    }

    fn take(&mut self, point: [f32; 3]) -> Option<usize> {
        self.empty
            .pop()
            .or_else(|| take_nearest(&mut self.died, point))
            .or_else(|| take_nearest(&mut self.dying, point))
    }
}

/// The nearest of the last few, by squared distance; the lowest slot among equals.
fn take_nearest(vacant: &mut Vec<(usize, [f32; 3])>, point: [f32; 3]) -> Option<usize> {
    let distance = |other: [f32; 3]| {
        (0..3)
            .map(|axis| (other[axis] - point[axis]).powi(2))
            .sum::<f32>()
    };
    let skipped = vacant.len().saturating_sub(LOOK);
    let nearest = vacant.iter().enumerate().skip(skipped).min_by(|a, b| {
        let by_distance = distance(a.1.1).total_cmp(&distance(b.1.1));
        by_distance.then(a.1.0.cmp(&b.1.0))
    });
    let index = nearest?.0;
    Some(vacant.remove(index).0)
}
