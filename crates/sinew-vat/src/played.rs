//! Pieces and particles of a bake at a moment, as players compute them, in double precision and in the axes and the unit of the bake.

use crate::animation::VertexAnimation;
use crate::manifest::{Mode, Space};
use crate::playback::FrameBlend;
use crate::quantity::Quantity;
use sinew_geom::vec3::cross;

/// A bake of [`Mode::Rigid`].
#[derive(Clone, Copy, Debug)]
pub struct PlayedPieces<'a> {
    animation: &'a VertexAnimation,
    places: usize,
    rotations: usize,
}

/// How a piece lies at a moment, in the axes and the unit of the bake.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayedPose {
    /// Where its pivot is in the carrier, as importers turn that.
    pub pivot: [f64; 3],
    /// Where it is now.
    pub position: [f64; 3],
    /// Unit quaternion, `x y z w`.
    pub rotation: [f64; 4],
}

impl<'a> PlayedPieces<'a> {
    /// `None` for a bake of another mode.
    pub fn new(animation: &'a VertexAnimation) -> Option<Self> {
        let manifest = animation.manifest();
        (manifest.mode == Mode::Rigid).then_some(())?;
        Some(Self {
            animation,
            places: manifest.texture(&Quantity::Position)?,
            rotations: manifest.texture(&Quantity::Rotation)?,
        })
    }

    /// How a piece lies at a moment. Without a direction in its texels it is not turned.
    pub fn pose(&self, piece: u32, at: FrameBlend) -> PlayedPose {
        let at = self.animation.manifest().in_layout(at);
        let place = |frame| self.numbers::<3>(self.places, piece, frame);
        let turn = |frame| self.numbers::<4>(self.rotations, piece, frame);
        let (mut position, mut rotation) = (place(at.frame), turn(at.frame));
        if at.weight > 0.0 {
            let weight = f64::from(at.weight);
            position = mixed(position, place(at.next), weight);
            let mut next = turn(at.next);
            // Both quaternions are the same rotation; the nearer one is the shorter way.
            if dot(rotation, next) < 0.0 {
                next = next.map(|c| -c);
            }
            rotation = mixed(rotation, next, weight);
        }
        let length = dot(rotation, rotation).sqrt();
        PlayedPose {
            pivot: place(0),
            position,
            rotation: match length > 1e-6 {
                true => rotation.map(|c| c / length),
                false => [0.0, 0.0, 0.0, 1.0],
            },
        }
    }

    fn numbers<const N: usize>(&self, texture: usize, piece: u32, frame: u32) -> [f64; N] {
        std::array::from_fn(|k| f64::from(self.animation.value(texture, piece, frame, k)))
    }
}

impl PlayedPose {
    /// The same in metres, in the axes of glTF, for the carrier as it is in its file; `space` is that of the bake.
    #[must_use]
    pub fn in_gltf(&self, space: Space) -> Self {
        let [x, y, z, w] = self.rotation;
        // The axis of a rotation turns the other way in a mirror.
        let turn = if space.mirrors() { -1.0 } else { 1.0 };
        let [x, y, z] = direction_in_gltf(space, [x, y, z]).map(|c| c * turn);
        Self {
            pivot: position_in_gltf(space, self.pivot),
            position: position_in_gltf(space, self.position),
            rotation: [x, y, z, w],
        }
    }

    /// Where a vertex of the carrier is: `rotation * (carrier - pivot) + position`.
    pub fn place(&self, carrier: [f32; 3]) -> [f64; 3] {
        let arm = std::array::from_fn(|k| f64::from(carrier[k]) - self.pivot[k]);
        let turned = self.turn(arm);
        std::array::from_fn(|k| turned[k] + self.position[k])
    }

    /// A direction of the carrier, turned: `v + 2 q x (q x v + w v)`.
    pub fn turn(&self, v: [f64; 3]) -> [f64; 3] {
        let [x, y, z, w] = self.rotation;
        let q = [x, y, z];
        let once = cross(q, v);
        let inner = std::array::from_fn(|k| once[k] + w * v[k]);
        let twice = cross(q, inner);
        std::array::from_fn(|k| v[k] + 2.0 * twice[k])
    }
}

/// A bake of [`Mode::Particles`].
#[derive(Clone, Copy, Debug)]
pub struct PlayedParticles<'a> {
    animation: &'a VertexAnimation,
    places: usize,
    sizes: usize,
}

impl<'a> PlayedParticles<'a> {
    /// `None` for a bake of another mode.
    pub fn new(animation: &'a VertexAnimation) -> Option<Self> {
        let manifest = animation.manifest();
        (manifest.mode == Mode::Particles).then_some(())?;
        Some(Self {
            animation,
            places: manifest.texture(&Quantity::Position)?,
            sizes: manifest.texture(&Quantity::Size)?,
        })
    }

    /// Middle and width of the square of a slot at a moment; width zero where there is no particle.
    pub fn sprite(&self, slot: u32, at: FrameBlend) -> ([f64; 3], f64) {
        let at = self.animation.manifest().in_layout(at);
        let value = |texture: usize, frame: u32, k: usize| {
            f64::from(self.animation.value(texture, slot, frame, k))
        };
        let place = |frame| [0, 1, 2].map(|k| value(self.places, frame, k));
        let size = |frame| [value(self.sizes, frame, 0)];
        if at.weight == 0.0 {
            return (place(at.frame), size(at.frame)[0]);
        }
        let weight = f64::from(at.weight);
        let middle = mixed(place(at.frame), place(at.next), weight);
        (middle, mixed(size(at.frame), size(at.next), weight)[0])
    }
}

/// What `Space::place` was given, in double precision.
#[must_use]
pub fn position_in_gltf(space: Space, v: [f64; 3]) -> [f64; 3] {
    direction_in_gltf(space, v).map(|c| c / f64::from(space.units_per_metre()))
}

fn direction_in_gltf(space: Space, v: [f64; 3]) -> [f64; 3] {
    // Each axis of the space is one of glTF, one way or the other, so that units of it say which.
    std::array::from_fn(|k| {
        let mut axis = [0.0_f32; 3];
        axis[k] = 1.0;
        let along = space.direction(axis);
        (0..3).map(|j| f64::from(along[j]) * v[j]).sum()
    })
}

fn mixed<const N: usize>(a: [f64; N], b: [f64; N], weight: f64) -> [f64; N] {
    std::array::from_fn(|k| a[k] + (b[k] - a[k]) * weight)
}

fn dot(a: [f64; 4], b: [f64; 4]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
