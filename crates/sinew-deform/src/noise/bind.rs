//! Setup: rest positions in the frame of the noise. And the octaves of a frame.

use super::reference::Octave;
use crate::Parameters;
use crate::local_frame::Axis;
use arrayvec::ArrayVec;
use sinew_geom::{Affine, Real, Vec3};

/// Largest number of octaves.
pub const MAX_OCTAVES: usize = 16;

/// Shift from octave to octave, in cells: the first three of Roberts' R3 sequence, so that zeros of octaves do not meet.
const OCTAVE_SHIFT: [f64; 3] = [
    0.819_172_513_396_164_4,
    0.671_043_606_703_789_2,
    0.549_700_477_901_970_3,
];

/// 2^32 by the golden ratio: seeds of octaves are far from each other.
const OCTAVE_SEED: u32 = 0x9e37_79b9;

/// Rest coordinates are kept within it, m, so that no product overflows.
const FARTHEST: f64 = 1e20;

/// Direction of the displacement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NoiseDirection {
    /// Along the normal of each vertex.
    #[default]
    Normal,
    /// Along an axis of the local frame.
    Axis(Axis),
    /// Any direction: one noise for each axis of the local frame.
    Free,
}

/// Settings that may change in each frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseSettings {
    /// Largest displacement, m.
    pub amplitude: f64,
    /// Size of the largest features, m; at least 1e-4.
    pub feature_size: f64,
    /// Number of octaves, 1 to [`MAX_OCTAVES`].
    pub octaves: usize,
    /// Amplitude of an octave divided by that of the one before.
    pub roughness: f64,
    /// Frequency of an octave divided by that of the one before.
    pub lacunarity: f64,
    /// Position of the noise in the local frame, m.
    pub offset: [f64; 3],
    /// Seed: another one gives another noise.
    pub seed: u32,
}

impl NoiseSettings {
    pub(super) fn from_parameters(parameters: &Parameters<'_>) -> Self {
        Self {
            amplitude: parameters.float("amplitude"),
            feature_size: parameters.float("feature_size"),
            octaves: parameters.int("octaves").clamp(1, MAX_OCTAVES as i64) as usize,
            roughness: parameters.float("roughness"),
            lacunarity: parameters.float("lacunarity"),
            offset: parameters.vec3("offset"),
            seed: parameters.int("seed") as u32,
        }
    }

    /// The octaves, largest first. Their amplitudes add up to [`Self::amplitude`].
    pub fn octaves(&self) -> ArrayVec<Octave<f64>, MAX_OCTAVES> {
        let count = self.octaves.clamp(1, MAX_OCTAVES) as i32;
        let total: f64 = (0..count).map(|k| self.roughness.powi(k)).sum();
        let octave = |k: i32| {
            let frequency = self.lacunarity.powi(k) / self.feature_size.max(1e-4);
            let shift = |c: usize| {
                let shift = OCTAVE_SHIFT[c] * f64::from(k) - self.offset[c] * frequency;
                // Beyond 2^52 nothing of a cell is left.
                if shift.abs() < 4.5e15 { shift } else { 0.0 }
            };
            let shift = [shift(0), shift(1), shift(2)];
            Octave {
                frequency,
                amplitude: self.amplitude * self.roughness.powi(k) / total,
                shift: shift.map(|s| s - s.floor()),
                cell: shift.map(|s| s.floor() as i64 as i32),
                seed: self.seed.wrapping_add(OCTAVE_SEED.wrapping_mul(k as u32)),
            }
        };
        (0..count).map(octave).collect()
    }
}

/// Setup results: rest positions in the frame of the noise, 12 bytes per vertex.
#[derive(Clone, Debug)]
pub struct NoiseBind {
    /// Where vertices move to.
    pub(super) direction: NoiseDirection,
    /// Unit axes of the local frame in scene space; for [`NoiseDirection::Axis`] the chosen one first.
    pub(super) directions: [[f32; 3]; 3],
    /// Rest positions in the local frame, m. Empty if that frame is flat.
    pub(super) local: Vec<[f32; 3]>,
}

impl NoiseBind {
    /// From rest positions in scene space and the frame of the noise at rest. A flat frame gives a setup that moves nothing. Positions that
    /// are very far away are moved to a bound, where the noise is 0.
    pub fn new(rest: &[[f32; 3]], rest_transform: &Affine<f64>, direction: NoiseDirection) -> Self {
        let local_from_scene = rest_transform.inverse().filter(Affine::is_finite);
        let local = local_from_scene.map_or_else(Vec::new, |local_from_scene| {
            let local = |&p: &[f32; 3]| {
                let q = local_from_scene.point(f64::vec3(p));
                f64::array3(q.map(|c| c.clamp(-FARTHEST, FARTHEST)))
            };
            rest.iter().map(local).collect()
        });
        let first = match direction {
            NoiseDirection::Axis(Axis::Y) => 1,
            NoiseDirection::Axis(Axis::Z) => 2,
            _ => 0,
        };
        let directions = [first, (first + 1) % 3, (first + 2) % 3].map(|c| {
            let axis: Vec3<f64> = rest_transform.linear.column(c).into_owned();
            f64::array3(axis.try_normalize(0.0).unwrap_or_default())
        });
        Self {
            direction,
            directions,
            local,
        }
    }

    /// Whether nothing moves, because the frame is flat or there is no vertex.
    pub fn is_flat(&self) -> bool {
        self.local.is_empty()
    }
}
