//! Delta mush as the formula says, generic over precision.

use super::bind::{Apart, DeltaMushBind};
use super::frames::Fan;
use crate::MaskWeight;
use crate::laplacian::{Placing, SmoothingScratch, mix, reference as laplacian};
use sinew_geom::{Real, Vec3};

/// Normal and tangent before they are made orthonormal.
#[derive(Clone, Copy, Debug)]
pub struct FrameVectors<R: Real> {
    /// Sum of cross products around the point: twice its area.
    pub normal: Vec3<R>,
    /// Direction of the tangent.
    pub edge: Vec3<R>,
}

/// An orthonormal, right-handed frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame<R: Real> {
    /// First axis.
    pub tangent: Vec3<R>,
    /// Second axis.
    pub bitangent: Vec3<R>,
    /// Third axis.
    pub normal: Vec3<R>,
    /// Strength of the detail: 1, fading to 0 where the frame collapses.
    pub left: R,
}

impl Frame<f64> {
    /// A vector in this frame.
    pub(super) fn local(&self, v: Vec3<f64>) -> [f32; 3] {
        [self.tangent, self.bitangent, self.normal].map(|axis| axis.dot(&v) as f32)
    }
}

/// Squares below this count as this in divisors.
pub(super) const TINY: f32 = 1e-36;
/// Inverse square of the sine between tangent and normal below which a frame fades.
pub(super) const SINE: f32 = 1e6;

/// Normal and edge of a fan. `points` has one point per slot.
pub fn vectors<R: Real>(fan: &Fan<'_>, points: &[Vec3<R>]) -> FrameVectors<R> {
    vectors_by(fan, |n| points[n as usize])
}

fn vectors_by<R: Real>(fan: &Fan<'_>, point: impl Fn(u32) -> Vec3<R>) -> FrameVectors<R> {
    let [base, tangent, strip @ ..] = fan.entries else {
        return FrameVectors {
            normal: Vec3::z(),
            edge: Vec3::x(),
        };
    };
    let p = point(*base);
    let at = |n: u32| point(n) - p;
    let normal = strip.windows(2).fold(Vec3::zeros(), |sum: Vec3<R>, pair| {
        sum + at(pair[0]).cross(&at(pair[1]))
    });
    let edge = if fan.factors.is_empty() {
        at(*tangent)
    } else {
        fan.entries
            .iter()
            .zip(fan.factors)
            .fold(Vec3::zeros(), |sum: Vec3<R>, (&n, &f)| {
                sum + at(n) * R::from_single(f)
            })
    };
    FrameVectors { normal, edge }
}

/// Makes a frame orthonormal. `factor` times the square of the area vector says how much of it is left. A zero vector gives zero axes,
/// never NaN.
pub fn frame<R: Real>(vectors: &FrameVectors<R>, factor: R) -> Frame<R> {
    let tiny = R::from_single(TINY);
    let unit = |v: Vec3<R>| v / v.norm_squared().max(tiny).sqrt();
    let normal = unit(vectors.normal);
    let e = vectors.edge;
    let t = e - normal * normal.dot(&e);
    let tangent = unit(t);
    let sine = t.norm_squared() * R::from_single(SINE) / e.norm_squared().max(tiny);
    let area = vectors.normal.norm_squared() * factor;
    Frame {
        tangent,
        bitangent: normal.cross(&tangent),
        normal,
        left: area.min(R::one()) * sine.min(R::one()),
    }
}

/// The detail of a slot in the space of the points: `delta` is along tangent, bitangent and normal, then the factor of [`frame`].
pub fn detail<R: Real>(vectors: &FrameVectors<R>, delta: [f32; 4]) -> Vec3<R> {
    let [x, y, z, factor] = delta.map(R::from_single);
    let f = frame(vectors, factor);
    (f.tangent * x + f.bitangent * y + f.normal * z) * f.left
}

impl DeltaMushBind {
    /// The slots whose frames come from the mesh before smoothing. Few, if any.
    pub(super) fn add_unsmoothed(&self, displacement: f32, scratch: &mut SmoothingScratch) {
        for &s in self.fans.unsmoothed() {
            let s = s as usize;
            let v = vectors_by(&self.fans.fan(s), |n| point(scratch.gathered[n as usize]));
            let moved = point(scratch.current[s]) + detail(&v, self.deltas[s]) * displacement;
            scratch.other[s] = [moved.x, moved.y, moved.z, moved.x];
        }
    }
}

impl DeltaMushBind {
    /// Puts vertices that lie apart from their points beside them. Few, if any. `scratch.other` holds the smoothed points.
    pub(super) fn place_apart(
        &self,
        how: Placing<'_>,
        displacement: f32,
        scratch: &SmoothingScratch,
        output: &mut [[f32; 3]],
    ) {
        let slots = self.smoother.layout().slot_of_vertex();
        for Apart { vertex, offset } in &self.apart {
            let v = *vertex as usize;
            let s = slots[v] as usize;
            let points = if self.fans.is_unsmoothed(s) {
                &scratch.gathered
            } else {
                &scratch.other
            };
            let frame = vectors_by(&self.fans.fan(s), |n| point(points[n as usize]));
            let detail = detail(&frame, self.beside_point(s, *offset)) * displacement;
            let moved = how.space.leave((point(scratch.current[s]) + detail).into());
            let w = how.blend * how.weight.at(v);
            output[v] = mix(how.positions[v], moved, w);
        }
    }

    /// What leads from a point to a vertex beside it, as its detail does.
    fn beside_point(&self, slot: usize, [x, y, z]: [f32; 3]) -> [f32; 4] {
        [x, y, z, self.deltas[slot][3]]
    }
}

fn point([x, y, z, _]: [f32; 4]) -> Vec3<f32> {
    Vec3::new(x, y, z)
}

/// The deformed positions, one per vertex, as the formula says. Allocates; for tests and comparisons. A `displacement` of 1 restores all
/// detail; points are smoothed about the origin of the scene.
pub fn deform<R: Real>(
    bind: &DeltaMushBind,
    input: &[[f32; 3]],
    displacement: R,
    blend: R,
    weight: &MaskWeight<'_>,
) -> Vec<Vec3<R>> {
    let layout = bind.smoother.layout();
    let unit = R::from_double(bind.smoother.anchor().rest_unit());
    let from = laplacian::gather::<R>(layout, input).into_iter();
    let from: Vec<Vec3<R>> = from.map(|p| p / unit).collect();
    let smooth = laplacian::smooth(layout, &from, f64::from(bind.step), bind.iterations);
    let turned = |s: usize, delta: [f32; 4]| {
        let points = if bind.fans.is_unsmoothed(s) {
            &from
        } else {
            &smooth
        };
        detail(&vectors(&bind.fans.fan(s), points), delta) * displacement
    };
    let target: Vec<Vec3<R>> = (0..smooth.len())
        .map(|s| smooth[s] + turned(s, bind.deltas[s]))
        .collect();
    let slots = layout.slot_of_vertex();
    let mut goals: Vec<Vec3<R>> = slots.iter().map(|&s| target[s as usize]).collect();
    for Apart { vertex, offset } in &bind.apart {
        let (v, s) = (*vertex as usize, slots[*vertex as usize] as usize);
        goals[v] += turned(s, bind.beside_point(s, *offset));
    }
    let placed = input.iter().zip(goals).enumerate();
    placed
        .map(|(v, (&p, goal))| {
            let w = blend * R::from_single(weight.at(v));
            R::vec3(p) * (R::one() - w) + goal * unit * w
        })
        .collect()
}
