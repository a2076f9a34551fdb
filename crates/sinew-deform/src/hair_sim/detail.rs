//! Level of detail: which strands are shown, and how much of each.
//!
//! Each guide has a rank between 0 and 1. Roots are ordered along a curve that fills space (Morton 1966); the rank is the bit-reversed
//! position in that order (van der Corput 1935). The first half of the ranks is every second root along the curve, the first quarter every
//! fourth: any first part of them covers the scalp evenly. Followers have ranks of their own among those of their guide, and are shown only
//! where both ranks allow it.
//!
//! A strand grows from nothing to its whole length while the detail goes through a band around its rank. The band ends at 0 and 1 at the
//! latest. Bounds of the band are exact in single precision, so that CPU and GPU fade alike, and nothing is shortened at a detail of 1.

use super::bind::{BoundVertex, pinned};
use super::state::Kept;
use crate::collide::Rigid;
use crate::strand_step::UNKNOWN;
use sinew_geom::{Real, Strands, Vec3};

/// Detail in which a strand grows to its whole length; a power of two.
pub(crate) const BAND: f32 = 0.125;

/// Share of its length that a strand shows which is shown from a detail on.
pub(crate) fn fade(detail: f32, shown_from: f32) -> f32 {
    ((detail - shown_from) * (1.0 / BAND)).clamp(0.0, 1.0)
}

/// For each strand, the detail from which on something of it is shown. `guide_of` says which of the guides each is or follows; `roots` are
/// those of the guides.
pub(crate) fn shown_from(strands: &Strands, guide_of: &[u32], roots: &[[f32; 3]]) -> Vec<f32> {
    let order = ranked(roots);
    let of_guide: Vec<f32> = order.iter().map(|&n| rank(n, 0.5, roots.len())).collect();
    let mut followers = vec![0; roots.len()];
    for s in (0..strands.len()).filter(|&s| !strands.is_guide(s)) {
        followers[guide_of[s] as usize] += 1;
    }
    let mut before = vec![0; roots.len()];
    let of_strand = guide_of.iter().enumerate().map(|(s, &guide)| {
        let guide = guide as usize;
        if strands.is_guide(s) {
            return band_begin(of_guide[guide]);
        }
        let number = before[guide];
        before[guide] += 1;
        // Ranks differ from guide to guide, evenly for any first part of the guides: not all first followers fade at once.
        let within = ((order[guide] as f64 + 0.5) * GOLDEN).fract();
        let own = rank(number, within, followers[guide]);
        band_begin(own.max(of_guide[guide]))
    });
    of_strand.collect()
}

/// Multiples of it, without their whole parts, fill the interval evenly.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

fn rank(number: usize, within: f64, count: usize) -> f32 {
    ((number as f64 + within) / count as f64) as f32
}

fn band_begin(rank: f32) -> f32 {
    (rank - 0.5 * BAND).clamp(0.0, 1.0 - BAND)
}

/// For each point, its number in the order in which points are shown.
fn ranked(points: &[[f32; 3]]) -> Vec<usize> {
    let codes = morton_codes(points);
    let mut along: Vec<usize> = (0..points.len()).collect();
    along.sort_by_key(|&i| codes[i]);
    let mut places: Vec<usize> = (0..points.len()).collect();
    places.sort_unstable_by_key(|place| place.reverse_bits());
    let mut out = vec![0; points.len()];
    for (number, place) in places.into_iter().enumerate() {
        out[along[place]] = number;
    }
    out
}

/// Places along a curve that fills the box of the points (Morton 1966): neighbours on it are neighbours in space.
pub(crate) fn morton_codes(points: &[[f32; 3]]) -> Vec<u32> {
    const LARGEST: f32 = 1023.0;
    let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for point in points {
        for k in 0..3 {
            low[k] = low[k].min(point[k]);
            high[k] = high[k].max(point[k]);
        }
    }
    let extent = (0..3).map(|k| high[k] - low[k]).fold(1e-30, f32::max);
    let code = |point: &[f32; 3]| {
        let along = |k: usize| {
            let cell = ((point[k] - low[k]) / extent * LARGEST) as u32;
            spread(cell) << k
        };
        along(0) | along(1) | along(2)
    };
    points.iter().map(code).collect()
}

/// Ten bits, two zeros before each of them.
fn spread(bits: u32) -> u32 {
    let mut x = bits & 0x3ff;
    x = (x | x << 16) & 0x0300_00ff;
    x = (x | x << 8) & 0x0300_f00f;
    x = (x | x << 4) & 0x030c_30c3;
    (x | x << 2) & 0x0924_9249
}

/// How a root moves in the last step of a frame.
pub(crate) struct LastStep<R: Real> {
    pub(crate) end: Rigid<R>,
    /// Where the part of the motion leads that the whole strand takes part in.
    pub(crate) shared: Rigid<R>,
    pub(crate) secs: R,
    pub(crate) scale: R,
}

/// A strand that is not shown keeps its shape and goes with its root, at the speed that this takes.
pub(crate) fn go_with_root<R: Real>(
    bound: &[BoundVertex],
    root: &LastStep<R>,
    kept: &mut [Kept<R>],
    positions: &mut [Vec3<R>],
) {
    let pins = pinned(bound);
    let (scale, per_sec) = (root.scale, R::one() / root.secs);
    let mut x = Vec3::zeros();
    for (i, ((b, kept), position)) in bound.iter().zip(kept).zip(positions).enumerate() {
        if i < pins {
            x = R::vec3(b.offset) * scale;
        } else {
            x += kept.turned(Vec3::x()) * (R::from_single(b.length) * scale);
        }
        let at = root.end.point(x);
        let way = root.end.rotation.conjugate() * (at - root.shared.point(x));
        kept.velocity = if i < pins {
            Vec3::zeros()
        } else {
            way * per_sec
        };
        kept.anchor = x;
        kept.touched = -R::one();
        kept.room = R::from_double(UNKNOWN);
        kept.doubt = R::zero();
        *position = at;
    }
}
