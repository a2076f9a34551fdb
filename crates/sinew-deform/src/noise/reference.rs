//! The noise at one point, generic over precision.

use super::bind::NoiseDirection;
use sinew_geom::{Real, Vec3};

/// Coordinates are kept within it, in cells. So far out `f32` has integers only, at which the noise is zero.
const FARTHEST: f64 = 1e9;

/// The hash `pcg4d` of Jarzynski and Olano, "Hash Functions for GPU Rendering", 2020: four well mixed words from four.
pub fn pcg4d([x, y, z, w]: [u32; 4]) -> [u32; 4] {
    let [mut x, mut y, mut z, mut w] =
        [x, y, z, w].map(|v| v.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    for round in 0..2 {
        x = x.wrapping_add(y.wrapping_mul(w));
        y = y.wrapping_add(z.wrapping_mul(x));
        z = z.wrapping_add(x.wrapping_mul(y));
        w = w.wrapping_add(y.wrapping_mul(z));
        if round == 0 {
            [x, y, z, w] = [x, y, z, w].map(|v| v ^ (v >> 16));
        }
    }
    [x, y, z, w]
}

/// Product of `p` and one of Perlin's gradients, which point to the edges of a cube. The lowest four bits of `hash` choose it.
#[inline(always)]
pub(super) fn gradient<R: Real>(hash: u32, [x, y, z]: [R; 3]) -> R {
    let h = hash & 15;
    let u = if h < 8 { x } else { y };
    let v = match h {
        0..=3 => y,
        12 | 14 => x,
        _ => z,
    };
    (if h & 1 == 0 { u } else { -u }) + (if h & 2 == 0 { v } else { -v })
}

/// Perlin's fade: 6t^5 - 15t^4 + 10t^3.
#[inline(always)]
fn fade<R: Real>(t: R) -> R {
    let c = R::from_double;
    t * t * t * (t * (t * c(6.0) - c(15.0)) + c(10.0))
}

#[inline(always)]
fn lerp<R: Real>(a: R, b: R, t: R) -> R {
    a + (b - a) * t
}

/// Improved noise (Perlin 2002) of `N` lattices at once. The point is at `fraction`, 0 to 1 on each axis, in the cell at `cell`.
/// `hash` gives the gradients of a lattice point.
#[inline(always)]
pub(super) fn lattice_noise<R: Real, const N: usize>(
    cell: [i32; 3],
    fraction: [R; 3],
    hash: impl Fn([i32; 3]) -> [u32; N],
) -> [R; N] {
    let corner = |i: i32| -> [R; N] {
        let step = [i & 1, i >> 1 & 1, i >> 2];
        let at = std::array::from_fn(|c| cell[c].wrapping_add(step[c]));
        let from = std::array::from_fn(|c| fraction[c] - R::from_double(f64::from(step[c])));
        hash(at).map(|h| gradient(h, from))
    };
    let [u, v, w] = fraction.map(fade);
    let mix =
        |a: [R; N], b: [R; N], t: R| -> [R; N] { std::array::from_fn(|n| lerp(a[n], b[n], t)) };
    let row = |i: i32| mix(corner(i), corner(i + 1), u);
    mix(mix(row(0), row(2), v), mix(row(4), row(6), v), w)
}

/// One octave in the form of the kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Octave<R> {
    /// Cells per metre.
    pub frequency: R,
    /// Largest displacement of this octave, m.
    pub amplitude: R,
    /// Added to the coordinates, in cells: 0 to 1.
    pub shift: [R; 3],
    /// Added to the cell: whole cells of the shift.
    pub cell: [i32; 3],
    /// Last word of the hash.
    pub seed: u32,
}

impl<R: Real> Octave<R> {
    /// In another precision.
    pub fn cast<S: Real>(&self) -> Octave<S> {
        let cast = |v: R| S::from_double(v.to_double());
        Octave {
            frequency: cast(self.frequency),
            amplitude: cast(self.amplitude),
            shift: self.shift.map(cast),
            cell: self.cell,
            seed: self.seed,
        }
    }

    /// Three independent noises at a point of the local frame in metres, each at most 1.0364 times the amplitude.
    #[inline(always)]
    pub fn at(&self, local: [R; 3]) -> [R; 3] {
        let far = R::from_double(FARTHEST);
        let mut cell = self.cell;
        let fraction = std::array::from_fn(|c| {
            let x = (local[c] * self.frequency + self.shift[c]).clamp(-far, far);
            let below = x.floor();
            cell[c] = cell[c].wrapping_add(below.to_double() as i32);
            x - below
        });
        let hash = |[x, y, z]: [i32; 3]| {
            let [x, y, z, _] = pcg4d([x as u32, y as u32, z as u32, self.seed]);
            [x >> 28, y >> 28, z >> 28]
        };
        lattice_noise(cell, fraction, hash).map(|n| n * self.amplitude)
    }
}

/// Displacement of a vertex at full strength, scene space. `directions`: as in [`super::NoiseBind`].
#[inline(always)]
pub(super) fn displacement<R: Real>(
    octaves: &[Octave<R>],
    direction: NoiseDirection,
    directions: &[[R; 3]; 3],
    local: [R; 3],
    normal: [R; 3],
) -> Vec3<R> {
    let mut sum = [R::zero(); 3];
    for octave in octaves {
        let noise = octave.at(local);
        sum = std::array::from_fn(|c| sum[c] + noise[c]);
    }
    let [a, b, c] = directions.map(Vec3::from);
    match direction {
        NoiseDirection::Normal => Vec3::from(normal) * sum[0],
        NoiseDirection::Axis(_) => a * sum[0],
        NoiseDirection::Free => a * sum[0] + b * sum[1] + c * sum[2],
    }
}
