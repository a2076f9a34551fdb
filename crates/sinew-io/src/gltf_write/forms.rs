//! How the numbers of an attribute are stored: as floats, as multiples of a step for meshoptimizer's exponential filter,
//! or as normalised integers of `KHR_mesh_quantization`.

use super::GlbCompression;
use crate::CachedMesh;
use std::io;
use std::ops::Range;

const I8: u32 = 5120;
const I16: u32 = 5122;
const U16: u32 = 5123;
const F32: u32 = 5126;

/// Largest mantissa of the exponential filter, which has 24 bits with its sign.
const MOST_STEPS: f32 = 8_388_607.0;
/// Positions have at least this many steps along the longest side of the mesh.
const STEPS_PER_SIDE: f32 = 16_384.0;
/// Exponents of the steps of unit vectors and colours. In frame 0, fine enough for the validator's check of unit length.
const BASE_STEPS: i32 = -15;
/// In targets: 0.4 degrees, as 8-bit normals have.
const DIRECTION_STEPS: i32 = -7;
const COLOR_STEPS: i32 = -12;
/// 1/16 texel of a texture of 4096 texels.
const UV_STEPS: i32 = -16;
/// Largest deviation of a direction in integers, in radians: 0.5 degrees, less what a reader adds that normalises those of frame 0.
const LARGEST_ANGLE: f64 = 0.0084;
/// Shortest sum of a direction of frame 0 and its delta. In shorter ones, the rounding of frame 0 would count for more than that.
const SHORTEST: f64 = 0.1;

/// A number format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Float,
    /// Floats that are multiples of 2 to this power.
    Steps(i32),
    /// Normalised integers.
    I8,
    I16,
    U16,
}

impl Form {
    /// Component type of the accessor.
    pub(super) fn component(self) -> u32 {
        match self {
            Self::Float | Self::Steps(_) => F32,
            Self::I8 => I8,
            Self::I16 => I16,
            Self::U16 => U16,
        }
    }

    /// Bytes of a number.
    pub(super) fn size(self) -> usize {
        match self {
            Self::Float | Self::Steps(_) => 4,
            Self::I8 => 1,
            Self::I16 | Self::U16 => 2,
        }
    }

    /// The integer that stands for 1. `None` for floats.
    pub(super) fn one(self) -> Option<f32> {
        match self {
            Self::Float | Self::Steps(_) => None,
            Self::I8 => Some(127.0),
            Self::I16 => Some(32_767.0),
            Self::U16 => Some(65_535.0),
        }
    }

    /// The number as the accessor has it: rounded, an integer for integers.
    pub(super) fn stored(self, number: f32) -> f32 {
        match (self, self.one()) {
            (Self::Steps(e), _) => {
                let steps = (number / power(e)).round_ties_even();
                // Adding zero turns -0.0 into 0.0.
                steps.clamp(-MOST_STEPS, MOST_STEPS) * power(e) + 0.0
            }
            (_, Some(one)) => (number * one).round_ties_even().clamp(-one, one) + 0.0,
            _ => number,
        }
    }

    /// The number that a reader gets.
    pub(super) fn read(self, stored: f32) -> f32 {
        self.one().map_or(stored, |one| stored / one)
    }

    /// Appends the bytes of a stored number.
    pub(super) fn put(self, stored: f32, out: &mut Vec<u8>) {
        match self {
            Self::Float => out.extend(stored.to_le_bytes()),
            Self::Steps(e) => {
                let mantissa = (stored / power(e)) as i32 as u32 & 0x00FF_FFFF;
                out.extend((((e as u32) << 24) | mantissa).to_le_bytes());
            }
            Self::I8 => out.extend((stored as i8).to_le_bytes()),
            Self::I16 => out.extend((stored as i16).to_le_bytes()),
            Self::U16 => out.extend((stored as u16).to_le_bytes()),
        }
    }

    /// Steps of 2 to the power `exponent`, or larger ones if `largest` needs them.
    fn steps(exponent: i32, largest: f32) -> Self {
        let least = exponent_of(largest / MOST_STEPS) + 1;
        Self::Steps(exponent.max(least).clamp(-100, 100))
    }

    /// The form of an attribute in frame 0.
    pub(super) fn of_base(
        compression: GlbCompression,
        name: &str,
        data: &[f32],
        places: &Places,
    ) -> Self {
        let is_uv = name.starts_with("TEXCOORD");
        let is_color = name.starts_with("COLOR");
        let is_direction = name == "NORMAL" || name == "TANGENT";
        let largest = || data.iter().fold(0.0_f32, |m, n| m.max(n.abs()));
        match compression {
            GlbCompression::None => Self::Float,
            _ if name == "POSITION" => places.form,
            GlbCompression::Quantize if is_direction => Self::I16,
            GlbCompression::Quantize if is_color => Self::U16,
            GlbCompression::Quantize if is_uv && data.iter().all(|n| (0.0..=1.0).contains(n)) => {
                Self::U16
            }
            GlbCompression::Meshopt if is_direction || is_color => Self::Steps(BASE_STEPS),
            GlbCompression::Meshopt if is_uv => Self::steps(UV_STEPS, largest()),
            _ => Self::Float,
        }
    }
}

/// 2 to the power `exponent`, which is -126 to 127.
fn power(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}

/// The exponent of a number: 2 to this power is at most the number. -127 for zero.
fn exponent_of(number: f32) -> i32 {
    ((number.to_bits() >> 23) & 0xFF) as i32 - 127
}

/// How the positions of a node are stored: a reader gets `center + scale * number`.
#[derive(Clone, Debug)]
pub(super) struct Places {
    pub(super) center: [f32; 3],
    pub(super) scale: f32,
    form: Form,
    /// Longest side of the box of any frame.
    pub(super) side: f32,
    /// Largest coordinate.
    pub(super) far: f32,
}

impl Places {
    /// The positions as they are.
    fn plain() -> Self {
        Self {
            center: [0.0; 3],
            scale: 1.0,
            form: Form::Float,
            side: 0.0,
            far: 0.0,
        }
    }

    /// For some vertices of a mesh, over all frames.
    pub(super) fn of(
        compression: GlbCompression,
        cached: &CachedMesh<'_>,
        vertices: &[Range<usize>],
    ) -> io::Result<Self> {
        if compression == GlbCompression::None {
            return Ok(Self::plain());
        }
        let mut out = Self::plain();
        let (mut base, mut travel) = (([0.0; 3], [0.0; 3]), 0.0_f32);
        for (k, frame) in cached.frames.iter().enumerate() {
            let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
            for range in vertices {
                let range = 3 * range.start..3 * range.end;
                let now = frame.position_numbers().range(range.clone())?;
                let first = cached.frames[0].position_numbers().range(range)?;
                for (i, (p, p0)) in now.iter().zip(&*first).enumerate() {
                    low[i % 3] = low[i % 3].min(*p);
                    high[i % 3] = high[i % 3].max(*p);
                    travel = travel.max((p - p0).abs());
                }
            }
            for c in 0..3 {
                out.side = out.side.max(high[c] - low[c]);
                out.far = out.far.max(high[c].abs()).max(low[c].abs());
            }
            if k == 0 {
                base = (low, high);
            }
        }
        out.fit(compression, base, travel);
        Ok(out)
    }

    /// Chooses form, scale and centre. `base` is the box of frame 0, `travel` the longest way along an axis.
    fn fit(&mut self, compression: GlbCompression, (low, high): ([f32; 3], [f32; 3]), travel: f32) {
        if compression == GlbCompression::Meshopt {
            // A single vertex has no side.
            let side = if self.side > 0.0 { self.side } else { travel };
            let wanted = exponent_of(side / STEPS_PER_SIDE);
            self.form = Form::steps(wanted, self.far.max(travel));
            return;
        }
        self.form = Form::I16;
        self.center = std::array::from_fn(|c| low[c] / 2.0 + high[c] / 2.0);
        let half = (0..3).map(|c| high[c] - self.center[c]);
        let reach = half.fold(travel, f32::max);
        // Deltas count from the rounded positions of frame 0, which are half a step off.
        let reach = reach * (32_767.0 / 32_766.0);
        self.scale = if reach > 0.0 { reach } else { 1.0 };
    }

    /// Positions as numbers of the node.
    pub(super) fn local(&self, positions: &[f32]) -> Vec<f32> {
        if self.form != Form::I16 {
            return positions.to_vec();
        }
        let center = self.center.map(f64::from).into_iter().cycle();
        let scale = f64::from(self.scale);
        let all = positions.iter().zip(center);
        all.map(|(p, c)| ((f64::from(*p) - c) / scale) as f32)
            .collect()
    }

    /// The largest distance in metres of what a reader gets to the true positions, including its own float rounding.
    pub(super) fn error(&self, read: impl Iterator<Item = f32>, positions: &[f32]) -> f64 {
        let (center, scale) = (self.center.map(f64::from), f64::from(self.scale));
        let (mut largest, mut sum) = (0.0_f64, 0.0);
        for (i, (n, p)) in read.zip(positions).enumerate() {
            let off = center[i % 3] + scale * f64::from(n) - f64::from(*p);
            sum += off * off;
            if i % 3 == 2 {
                largest = largest.max(sum);
                sum = 0.0;
            }
        }
        largest.sqrt() + f64::from(self.far * f32::EPSILON)
    }
}

/// An attribute of frame 0 as stored.
pub(super) struct Base {
    pub(super) form: Form,
    /// Before rounding.
    exact: Vec<f32>,
    pub(super) stored: Vec<f32>,
}

impl Base {
    pub(super) fn new(form: Form, exact: Vec<f32>) -> Self {
        let stored = exact.iter().map(|n| form.stored(*n)).collect();
        Self {
            form,
            exact,
            stored,
        }
    }

    /// The deltas to a frame, of `width` in `own` numbers per vertex, as stored. Rounded deltas count from the rounded frame 0, so that its
    /// error does not add to theirs.
    pub(super) fn deltas(
        &self,
        name: &str,
        compression: GlbCompression,
        frame: &[f32],
        [own, width]: [usize; 2],
    ) -> (Form, Vec<f32>) {
        let is_direction = name == "NORMAL" || name == "TANGENT";
        let form = match compression {
            GlbCompression::None => Form::Float,
            _ if name == "POSITION" => self.form,
            GlbCompression::Quantize if is_direction => {
                let mut integers = [Form::I8, Form::I16].into_iter();
                let found = integers.find_map(|f| Some((f, self.directions(f, frame, own)?)));
                if let Some(found) = found {
                    return found;
                }
                Form::Float
            }
            GlbCompression::Quantize => Form::Float,
            GlbCompression::Meshopt if is_direction => Form::Steps(DIRECTION_STEPS),
            GlbCompression::Meshopt => Form::Steps(COLOR_STEPS),
        };
        let rows = self.exact.chunks_exact(own).zip(frame.chunks_exact(own));
        let rows = rows.zip(self.stored.chunks_exact(own));
        let deltas = rows.flat_map(|((exact, now), stored)| {
            (0..width).map(move |c| {
                let from = match form {
                    Form::Float => exact[c],
                    _ => self.form.read(stored[c]),
                };
                form.stored(super::geometry::finite(now[c] - from) + 0.0)
            })
        });
        (form, deltas.collect())
    }

    /// Deltas of unit vectors in -1 to 1, the range of normalised integers: a delta may lead to a shorter vector, since readers
    /// normalise the sum. `None` if a direction would be too far off.
    fn directions(&self, form: Form, frame: &[f32], own: usize) -> Option<Vec<f32>> {
        let mut out = Vec::with_capacity(frame.len() / own * 3);
        for (stored, now) in self.stored.chunks_exact(own).zip(frame.chunks_exact(own)) {
            let from: [f32; 3] = std::array::from_fn(|c| self.form.read(stored[c]));
            let now = [now[0], now[1], now[2]];
            let delta = within_range(from, now).map(|d| form.stored(d));
            let shown: [f64; 3] = std::array::from_fn(|c| f64::from(from[c] + form.read(delta[c])));
            let now = now.map(f64::from);
            if sinew_geom::vec3::length(shown) < SHORTEST {
                return None;
            }
            let shown = sinew_geom::vec3::unit(shown)?;
            let off: f64 = (0..3).map(|c| (shown[c] - now[c]).powi(2)).sum();
            if off > LARGEST_ANGLE * LARGEST_ANGLE {
                return None;
            }
            out.extend(delta);
        }
        Some(out)
    }
}

/// The delta from `from` to the longest vector along the unit vector `to`, of length 1 or less, that has no component beyond 1.
fn within_range(from: [f32; 3], to: [f32; 3]) -> [f32; 3] {
    let most = |c: usize| {
        let ahead = from[c] * to[c].signum();
        if to[c] == 0.0 {
            1.0
        } else {
            (1.0 + ahead) / to[c].abs()
        }
    };
    let length = (0..3).map(most).fold(1.0, f32::min).max(0.0);
    std::array::from_fn(|c| length * to[c] - from[c])
}
