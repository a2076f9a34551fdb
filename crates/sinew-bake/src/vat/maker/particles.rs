//! Points that are born and die: one texel a slot, and a slot serves many points, one after the other.
//!
//! Points are known by their numbers. A slot that is taken over rests for two frames: in the first it stays where its point died, in
//! the second it waits where the next one is born, both times with size zero, so that no blend of two frames drags a sprite across the picture.

use serde::{Deserialize, Serialize};
use sinew_geom::{Attribute, Mesh};
use sinew_vat::quantity::Quantity;
use sinew_vat::texture::{TextureSpec, encode_vertices};
use std::collections::{BTreeMap, BTreeSet};

/// Frames between the last point of a slot and the next one.
const REST: usize = 2;

/// Which point a slot shows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum ParticleSlot {
    /// A point of the frame.
    Alive {
        /// Index in the frame.
        point: u32,
    },
    /// No point; size zero, here (metres).
    Absent {
        /// Where the last point was last, or where the next one comes up.
        position: [f32; 3],
    },
}

/// Why points cannot be followed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParticlesError {
    /// Nothing tells points apart.
    #[error("frame {frame} has no scalar attribute '{name}', which is to number its points")]
    NoNumbers {
        /// Index of the frame.
        frame: usize,
        /// Name of the attribute.
        name: String,
    },
    /// A number that is none, or too large to be one in single precision.
    #[error(
        "frame {frame}, point {point}: {found} is no number of a point; whole numbers from 0 to 16777216 are"
    )]
    Number {
        /// Index of the frame.
        frame: usize,
        /// Index of the point.
        point: usize,
        /// What is there.
        found: f32,
    },
    /// Two points with one number.
    #[error("frame {frame}: points {first} and {second} both have the number {number}")]
    Twice {
        /// Index of the frame.
        frame: usize,
        /// The earlier point.
        first: usize,
        /// The later point.
        second: usize,
        /// Their number.
        number: u32,
    },
}

/// The numbers of a frame's points, in their order, from a scalar attribute.
///
/// # Errors
/// [`ParticlesError`].
pub(crate) fn point_numbers(
    frame: usize,
    mesh: &Mesh,
    name: &str,
) -> Result<Vec<u32>, ParticlesError> {
    const LARGEST: f32 = 16_777_216.0;
    let values = match mesh.attributes.get(name) {
        Some(Attribute::Scalar(values)) => values.as_slice(),
        // A frame without points may have no attributes either.
        _ if mesh.positions.is_empty() => &[],
        _ => {
            return Err(ParticlesError::NoNumbers {
                frame,
                name: name.into(),
            });
        }
    };
    let mut seen = BTreeMap::new();
    let mut numbers = Vec::with_capacity(values.len());
    for (point, &found) in values.iter().enumerate() {
        if !(0.0..=LARGEST).contains(&found) || found.fract() != 0.0 {
            return Err(ParticlesError::Number {
                frame,
                point,
                found,
            });
        }
        let number = found as u32;
        if let Some(first) = seen.insert(number, point) {
            return Err(ParticlesError::Twice {
                frame,
                first,
                second: point,
                number,
            });
        }
        numbers.push(number);
    }
    Ok(numbers)
}

/// Slots of a whole sequence: which life of which point each shows.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct ParticleSlots {
    /// The lives in each slot, one after the other.
    slots: Vec<Vec<Life>>,
}

/// From its first to its last frame; a number that pauses begins another life.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Life {
    number: u32,
    first: usize,
    last: usize,
    birth: [f32; 3],
    death: [f32; 3],
}

impl ParticleSlots {
    /// Follows points through the frames: numbers and places of each. Deterministic; the fewest slots that lives of that length need
    /// with their rests.
    #[cfg(test)]
    pub(crate) fn new<'a>(frames: impl IntoIterator<Item = (&'a [u32], &'a [[f32; 3]])>) -> Self {
        let mut follower = ParticleFollower::default();
        for (numbers, positions) in frames {
            follower.advance(numbers, positions);
        }
        follower.finish()
    }

    /// How many slots there are.
    pub(crate) fn count(&self) -> usize {
        self.slots.len()
    }

    /// What each slot shows in a frame whose points have these numbers. `elsewhere` is for a slot that never had a point and never gets one.
    pub(crate) fn of_frame(
        &self,
        frame: usize,
        numbers: &[u32],
        elsewhere: [f32; 3],
    ) -> Vec<ParticleSlot> {
        let points: BTreeMap<u32, u32> = numbers.iter().copied().zip(0..).collect();
        let show = |lives: &Vec<Life>| {
            // The first life that has not ended before this frame.
            let next = lives.partition_point(|life| life.last < frame);
            let waiting = lives.get(next);
            let gone = next.checked_sub(1).and_then(|i| lives.get(i));
            match (gone, waiting) {
                (_, Some(life)) if life.first <= frame => match points.get(&life.number) {
                    Some(&point) => ParticleSlot::Alive { point },
                    None => ParticleSlot::Absent {
                        position: life.birth,
                    },
                },
                (Some(gone), Some(life)) if frame + 1 < life.first => ParticleSlot::Absent {
                    position: gone.death,
                },
                (_, Some(life)) => ParticleSlot::Absent {
                    position: life.birth,
                },
                (Some(gone), None) => ParticleSlot::Absent {
                    position: gone.death,
                },
                (None, None) => ParticleSlot::Absent {
                    position: elsewhere,
                },
            }
        };
        self.slots.iter().map(show).collect()
    }
}

/// Follows points frame by frame; one frame is in memory, and the lives of all points.
#[derive(Clone, Debug, Default)]
pub(crate) struct ParticleFollower {
    slots: Vec<Vec<Life>>,
    /// Slot of each number that was there in the frame before.
    alive: BTreeMap<u32, usize>,
    /// Slots by the frame from which they may be taken, then by number.
    free: BTreeSet<(usize, usize)>,
    frame: usize,
}

impl ParticleFollower {
    /// Takes the next frame: number and place of each point.
    pub(crate) fn advance(&mut self, numbers: &[u32], positions: &[[f32; 3]]) {
        let frame = self.frame;
        let mut still = BTreeMap::new();
        let mut born = Vec::new();
        for (number, position) in numbers.iter().zip(positions) {
            let Some(slot) = self.alive.remove(number) else {
                born.push((*number, *position));
                continue;
            };
            if let Some(life) = self.slots[slot].last_mut() {
                (life.last, life.death) = (frame, *position);
            }
            still.insert(*number, slot);
        }
        // Gone since the frame before: `frame` and the next are its rest.
        let gone = self.alive.values().map(|slot| (frame + REST, *slot));
        self.free.extend(gone);
        for (number, position) in born {
            let slot = self.take_slot();
            self.slots[slot].push(Life {
                number,
                first: frame,
                last: frame,
                birth: position,
                death: position,
            });
            still.insert(number, slot);
        }
        self.alive = still;
        self.frame += 1;
    }

    /// The slot that has rested longest, or a new one.
    fn take_slot(&mut self) -> usize {
        match self.free.first() {
            Some(&(from, slot)) if from <= self.frame => {
                self.free.pop_first();
                slot
            }
            _ => {
                self.slots.push(Vec::new());
                self.slots.len() - 1
            }
        }
    }

    /// The slots of all frames.
    pub(crate) fn finish(self) -> ParticleSlots {
        ParticleSlots { slots: self.slots }
    }
}

/// The texels of one frame, one for each slot. `size` is the width of a point, metres ([`Quantity::Size`], and a fourth channel of positions). What a slot without a point holds is
/// zero but for its place: with a texture of sizes it is not seen.
pub(crate) fn encode_points(
    mesh: &Mesh,
    slots: &[ParticleSlot],
    size: impl Fn(usize) -> f32,
    textures: &[TextureSpec],
) -> Vec<Vec<u8>> {
    let is_size = |quantity: &Quantity, channel: usize| {
        *quantity == Quantity::Size || (*quantity == Quantity::Position && channel == 3)
    };
    let value = |quantity: &Quantity, slot: usize, channel: usize| match slots[slot] {
        ParticleSlot::Alive { point } if is_size(quantity, channel) => size(point as usize),
        ParticleSlot::Absent { .. } if is_size(quantity, channel) => 0.0,
        ParticleSlot::Alive { point } => quantity
            .of_vertex(mesh, point as usize, channel)
            .unwrap_or_default(),
        ParticleSlot::Absent { position } if *quantity == Quantity::Position => position[channel],
        ParticleSlot::Absent { .. } => quantity.where_absent(channel),
    };
    encode_vertices(textures, slots.len(), value)
}

#[cfg(test)]
#[path = "particles_tests.rs"]
mod tests;
