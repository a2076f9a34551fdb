//! The fast kernel: four poses side by side, in double precision.
//!
//! It serves drivers whose poses share metric and kind of radial function; others, and curves, go through the reference. Poses are laid out
//! four to a block, joint after joint. A frame computes the influences of all blocks, one step over all blocks after the other, then
//! multiplies them by the inverse matrix, column by column. Additive drivers skip the matrix.

use super::bind::PoseDriverBind;
use super::definition::{Clamp, Normalize};
use super::metric::{Coordinates, Form};
use super::radial::Family;
use super::reference::sum_factor;
use fearless_simd::{Simd, f64x4, prelude::*};
use fearless_simd_macros::simd;

/// Poses that are computed together.
pub(super) const LANES: usize = 4;

/// A bound driver as the kernel reads it. Padded to whole vectors with poses whose coefficients are zero.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    form: Form,
    family: Family,
    count: usize,
    /// Vectors of four poses.
    blocks: usize,
    /// Joint after joint, block after block: four coordinates of four poses each.
    coordinates: Vec<[[f64; LANES]; 4]>,
    /// Block after block.
    rates: Vec<[f64; LANES]>,
    /// Pose after pose, all blocks of its column; empty for additive drivers.
    coefficients: Vec<[f64; LANES]>,
    /// Whether [`finish`] serves what comes after the system.
    pub(super) plain_finish: bool,
}

/// `of(pose)` for each pose, in vectors; zero behind the last.
fn vectors(count: usize, of: impl Fn(usize) -> f64) -> Vec<[f64; LANES]> {
    let value = |i| if i < count { of(i) } else { 0.0 };
    let blocks = 0..count.div_ceil(LANES);
    blocks
        .map(|b| std::array::from_fn(|lane| value(b * LANES + lane)))
        .collect()
}

impl Packed {
    /// `None` where the reference must be used.
    pub(super) fn of(bind: &PoseDriverBind) -> Option<Self> {
        let [channel] = bind.channels.as_slice() else {
            return None;
        };
        if matches!(channel.form, Form::PsdJsonArc | Form::EulerAngles) {
            return None;
        }
        let first = bind.radials.first()?.family()?;
        if bind.radials.iter().any(|r| r.family() != Some(first)) {
            return None;
        }
        let count = bind.pose_count;
        let of_joint = |joint: usize| {
            let poses = &bind.coordinates[joint * count..(joint + 1) * count];
            let of_axis: [_; 4] = std::array::from_fn(|c| vectors(count, |i| poses[i][c]));
            (0..count.div_ceil(LANES)).map(move |b| std::array::from_fn(|c| of_axis[c][b]))
        };
        let column = |pose: usize| {
            let system = bind.system.as_ref();
            let column = system.map(|s| vectors(count, |row| s.coefficients[(row, pose)]));
            column.unwrap_or_default()
        };
        Some(Self {
            form: channel.form,
            family: first,
            count,
            blocks: count.div_ceil(LANES),
            coordinates: (0..bind.joint_count).flat_map(of_joint).collect(),
            rates: vectors(count, |i| bind.radials[i].rate()),
            coefficients: (0..count).flat_map(column).collect(),
            plain_finish: bind.gains.is_empty()
                && bind.curves.iter().all(Option::is_none)
                && !matches!(bind.sum.mode, Normalize::WithinMedian { .. }),
        })
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.coordinates.as_slice())
            + size_of_val(self.rates.as_slice())
            + size_of_val(self.coefficients.as_slice())
    }
}

/// `asin(h) = h * P(h²)` for h² up to 1/2: Chebyshev fit of degree 11, off by less than 9e-12.
const ARCSINE: [f64; 12] = [
    0.999_999_999_993_730_1,
    0.166_666_670_196_271_96,
    0.074_999_672_339_734_48,
    0.044_654_713_821_687_7,
    0.030_161_635_061_033_1,
    0.024_767_921_324_684_024,
    0.001_020_459_135_634_158,
    0.086_086_257_247_734_5,
    -0.195_703_168_131_876_77,
    0.387_053_355_528_041_8,
    -0.393_020_625_412_464_3,
    0.205_537_188_053_131_18,
];

#[inline(always)]
fn arcsine<S: Simd>(h: f64x4<S>) -> f64x4<S> {
    let z = h * h;
    let mut sum = f64x4::splat(z.simd, ARCSINE[11]);
    for c in ARCSINE[..11].iter().rev() {
        sum = sum.mul_add(z, f64x4::splat(z.simd, *c));
    }
    sum * h
}

/// The series of `exp` at `x / 64`, for x up to 0; [`raised`] makes `exp(x)` of it: exactly at 0, off by less than 1e-13 anywhere. Nothing
/// below `exp(-40)` is told apart.
#[inline(always)]
fn exponential_root<S: Simd>(x: f64x4<S>) -> f64x4<S> {
    let simd = x.simd;
    let r = x.max(-40.0) * (1.0 / 64.0);
    // In pairs, so that fewer steps wait for the one before.
    let r2 = r * r;
    let low = r2.mul_add(f64x4::splat(simd, 0.5), r + 1.0);
    let middle = r.mul_add(
        f64x4::splat(simd, 1.0 / 24.0),
        f64x4::splat(simd, 1.0 / 6.0),
    );
    let high = r.mul_add(
        f64x4::splat(simd, 1.0 / 720.0),
        f64x4::splat(simd, 1.0 / 120.0),
    );
    let upper = r2.mul_add(high, middle);
    let top = r2 * r2 * r2 * r * (1.0 / 5040.0);
    (r2 * r).mul_add(upper, low + top)
}

/// To the power of 64.
#[inline(always)]
fn raised<S: Simd>(root: f64x4<S>) -> f64x4<S> {
    let mut power = root;
    for _ in 0..6 {
        power = power * power;
    }
    power
}

/// Squared distances of the coordinates of four poses from a query's.
#[inline(always)]
fn squares<S: Simd>(simd: S, query: &Coordinates, poses: &[[f64; LANES]; 4]) -> f64x4<S> {
    let x = f64x4::load_array(simd, poses[0]) - query[0];
    let y = f64x4::load_array(simd, poses[1]) - query[1];
    let z = f64x4::load_array(simd, poses[2]) - query[2];
    let w = f64x4::load_array(simd, poses[3]) - query[3];
    x.mul_add(x, y * y) + z.mul_add(z, w * w)
}

/// Distances of four poses, or their squares where the metric's form gives those.
#[inline(always)]
fn distance<S: Simd>(form: Form, squares: f64x4<S>) -> f64x4<S> {
    let pi = std::f64::consts::PI;
    // Of q and -q the nearer one: |a + b|² = 4 - |a - b|².
    let nearer = squares.min(4.0 - squares).max(0.0);
    match form {
        // Drivers of Euler angles never come here.
        Form::Euclidean | Form::EulerAngles => squares.sqrt(),
        Form::QuaternionArc => arcsine((nearer * 0.25).sqrt()) * 4.0,
        Form::QuaternionChord | Form::PsdJsonArc => squared_chord(nearer).sqrt(),
        Form::DirectionArc => {
            let angle = arcsine((nearer * 0.25).sqrt()) * 2.0;
            squares.simd_gt(2.0).select(pi - angle, angle)
        }
    }
}

/// `(4 h √(1 − h²))²` with h² a quarter of `nearer`.
#[inline(always)]
fn squared_chord<S: Simd>(nearer: f64x4<S>) -> f64x4<S> {
    nearer * (4.0 - nearer)
}

#[inline(always)]
fn squared_distance<S: Simd>(form: Form, squares: f64x4<S>) -> f64x4<S> {
    match form {
        Form::Euclidean | Form::EulerAngles => squares,
        Form::QuaternionChord => squared_chord(squares.min(4.0 - squares).max(0.0)),
        Form::QuaternionArc | Form::DirectionArc | Form::PsdJsonArc => {
            let d = distance(form, squares);
            d * d
        }
    }
}

/// Squared distances of the four poses of a block, over all joints.
#[inline(always)]
fn total<S: Simd>(simd: S, packed: &Packed, queries: &[Coordinates], block: usize) -> f64x4<S> {
    let mut sum = f64x4::splat(simd, 0.0);
    for (joint, query) in queries.iter().enumerate() {
        let poses = &packed.coordinates[joint * packed.blocks + block];
        sum += squared_distance(packed.form, squares(simd, query, poses));
    }
    sum
}

/// Distances of all poses, or their squares where the kernel takes those, times their rates.
///
/// In steps over all blocks: what one step does to a block is short enough for the processor to work on several blocks at once.
#[inline(always)]
fn arguments<S: Simd>(simd: S, packed: &Packed, queries: &[Coordinates], out: &mut [[f64; LANES]]) {
    let is_squared = packed.family == Family::Squared;
    if let [query] = queries {
        for (out, poses) in out.iter_mut().zip(&packed.coordinates) {
            squares(simd, query, poses).store_array(out);
        }
        for (out, rate) in out.iter_mut().zip(&packed.rates) {
            let squares = f64x4::load_array(simd, *out);
            let d = if is_squared {
                squared_distance(packed.form, squares)
            } else {
                distance(packed.form, squares)
            };
            (d * f64x4::load_array(simd, *rate)).store_array(out);
        }
        return;
    }
    for (block, (out, rate)) in out.iter_mut().zip(&packed.rates).enumerate() {
        let total = total(simd, packed, queries, block);
        let d = if is_squared { total } else { total.sqrt() };
        (d * f64x4::load_array(simd, *rate)).store_array(out);
    }
}

/// The kernel of all arguments.
#[inline(always)]
fn kernels<S: Simd>(simd: S, family: Family, out: &mut [[f64; LANES]]) {
    let Family::Power(power) = family else {
        for out in out.iter_mut() {
            exponential_root(-f64x4::load_array(simd, *out)).store_array(out);
        }
        for out in out {
            raised(f64x4::load_array(simd, *out)).store_array(out);
        }
        return;
    };
    for out in out {
        let x = f64x4::load_array(simd, *out);
        let squared = x * x;
        let power = match power {
            1 => x,
            3 => squared * x,
            _ => squared * squared * x,
        };
        (1.0 - power).max(0.0).store_array(out);
    }
}

/// Influences at a query: whole vectors. `queries` has one element a joint.
#[simd]
pub(super) fn influences<S: Simd>(
    simd: S,
    packed: &Packed,
    queries: &[Coordinates],
    influences: &mut [f64],
) {
    let (blocks, _) = influences.as_chunks_mut::<LANES>();
    arguments(simd, packed, queries, blocks);
    kernels(simd, packed.family, blocks);
}

/// Solved weights of a query, before limits. `queries` has one element a joint; `influences` and `weights` whole vectors.
#[simd]
pub(super) fn solved<S: Simd>(
    simd: S,
    packed: &Packed,
    queries: &[Coordinates],
    influences: &mut [f64],
    weights: &mut [f64],
) {
    let (blocks, _) = influences.as_chunks_mut::<LANES>();
    arguments(simd, packed, queries, blocks);
    kernels(simd, packed.family, blocks);
    if packed.coefficients.is_empty() {
        let (own, padding) = weights.split_at_mut(packed.count);
        own.copy_from_slice(&influences[..packed.count]);
        padding.fill(0.0);
    } else {
        multiply(simd, packed, influences, weights.as_chunks_mut().0);
    }
}

/// `coefficients * influences`, six vectors of rows at a time.
#[inline(always)]
fn multiply<S: Simd>(simd: S, packed: &Packed, influences: &[f64], weights: &mut [[f64; LANES]]) {
    let blocks = packed.blocks;
    let mut first = 0;
    while first < blocks {
        let width = (blocks - first).min(6);
        match width {
            1 => rows::<S, 1>(simd, packed, influences, first, weights),
            2 => rows::<S, 2>(simd, packed, influences, first, weights),
            3 => rows::<S, 3>(simd, packed, influences, first, weights),
            4 => rows::<S, 4>(simd, packed, influences, first, weights),
            5 => rows::<S, 5>(simd, packed, influences, first, weights),
            _ => rows::<S, 6>(simd, packed, influences, first, weights),
        }
        first += width;
    }
}

#[inline(always)]
fn rows<S: Simd, const N: usize>(
    simd: S,
    packed: &Packed,
    influences: &[f64],
    first: usize,
    weights: &mut [[f64; LANES]],
) {
    let mut sums = [f64x4::splat(simd, 0.0); N];
    for (column, v) in packed
        .coefficients
        .chunks_exact(packed.blocks)
        .zip(influences)
    {
        let Some(column) = column[first..].first_chunk::<N>() else {
            return;
        };
        for (sum, c) in sums.iter_mut().zip(column) {
            *sum = f64x4::load_array(simd, *c).mul_add(*v, *sum);
        }
    }
    for (out, sum) in weights[first..].iter_mut().zip(sums) {
        sum.store_array(out);
    }
}

/// Limits, sum and threshold, where no pose has a curve or a gain.
#[simd]
pub(super) fn finish<S: Simd>(simd: S, bind: &PoseDriverBind, weights: &mut [f64]) {
    let (low, high) = match bind.clamp {
        Clamp::None => (f64::MIN, f64::MAX),
        Clamp::Negative => (0.0, f64::MAX),
        Clamp::Unit => (0.0, 1.0),
    };
    let (blocks, _) = weights.as_chunks_mut::<LANES>();
    let mut sum = f64x4::splat(simd, 0.0);
    for block in blocks.iter_mut() {
        let w = f64x4::load_array(simd, *block).max(low).min(high);
        sum += w;
        w.store_array(block);
    }
    let [a, b, c, d]: [f64; LANES] = sum.into();
    let factor = sum_factor(bind, &[], (a + b) + (c + d));
    let threshold = bind.threshold;
    for block in blocks {
        let w = f64x4::load_array(simd, *block) * factor;
        let keeps = w.abs().simd_gt(threshold);
        keeps.select(w, f64x4::splat(simd, 0.0)).store_array(block);
    }
}
