//! The last pass: frames of the smoothed points and the detail in them, eight slots at a time.

use super::bind::DeltaMushBind;
use super::frames::Fan;
use super::reference::{SINE, TINY};
use crate::lanes::{load8x4, store8x4};
use crate::simd_vector::V3;
use fearless_simd::{f32x4, f32x8, prelude::*};
use fearless_simd_macros::simd;
use std::ops::Range;

/// Slots at a time.
const BLOCK: usize = 8;

/// For the slots of `range`: the smoothed point plus its detail.
pub(super) fn add_detail(
    bind: &DeltaMushBind,
    displacement: f32,
    src: &[[f32; 4]],
    range: Range<usize>,
    out: &mut [[f32; 4]],
) {
    dispatch!(simd => run(simd, bind, displacement, src, range, out));
}

#[simd]
fn run<S: Simd>(
    simd: S,
    bind: &DeltaMushBind,
    displacement: f32,
    src: &[[f32; 4]],
    range: Range<usize>,
    out: &mut [[f32; 4]],
) {
    let points = &src[range.clone()];
    let deltas = &bind.deltas[range.clone()];
    let mut vectors = Vectors::default();
    let (point_blocks, points_left) = points.as_chunks::<BLOCK>();
    let (delta_blocks, deltas_left) = deltas.as_chunks::<BLOCK>();
    let (out_blocks, out_left) = out.as_chunks_mut::<BLOCK>();
    let mut slot = range.start;
    for ((out, points), deltas) in out_blocks.iter_mut().zip(point_blocks).zip(delta_blocks) {
        vectors.gather(simd, bind, slot, src);
        vectors.solve(simd, displacement, points, deltas, out);
        slot += BLOCK;
    }
    if out_left.is_empty() {
        return;
    }
    let mut padded = [[[0.0; 4]; BLOCK]; 3];
    padded[0][..points_left.len()].copy_from_slice(points_left);
    padded[1][..deltas_left.len()].copy_from_slice(deltas_left);
    for i in 0..out_left.len() {
        vectors.one(simd, &bind.fans.fan(slot + i), i, src);
    }
    let [points, deltas, result] = &mut padded;
    vectors.solve(simd, displacement, points, deltas, result);
    out_left.copy_from_slice(&result[..out_left.len()]);
}

/// What the frames of eight slots are made of.
#[derive(Default)]
struct Vectors {
    /// Lanes `z x y` of the area vectors.
    normals: [[f32; 4]; BLOCK],
    edges: [[f32; 4]; BLOCK],
}

/// Slots are sorted by their number of neighbours, so that mostly all of a block have fans of one length.
macro_rules! by_length {
    ($self:ident, $simd:ident, $length:ident, $entries:ident, $src:ident, $($known:literal)+, else $other:expr) => {
        match $length {
            $($known => {
                for (i, row) in $entries.as_chunks::<$known>().0.iter().take(BLOCK).enumerate() {
                    ($self.normals[i], $self.edges[i]) = one_edge($simd, row, $src);
                }
            })+
            _ => $other,
        }
    };
}

impl Vectors {
    #[inline(always)]
    fn gather<S: Simd>(&mut self, simd: S, bind: &DeltaMushBind, slot: usize, src: &[[f32; 4]]) {
        if let Some((entries, length)) = bind.fans.even_block::<BLOCK>(slot) {
            by_length!(self, simd, length, entries, src, 5 6 7 8 9 10 11 12, else {
                for (i, row) in entries.chunks_exact(length).take(BLOCK).enumerate() {
                    (self.normals[i], self.edges[i]) = one_edge(simd, row, src);
                }
            });
        } else {
            for i in 0..BLOCK {
                self.one(simd, &bind.fans.fan(slot + i), i, src);
            }
        }
    }

    #[inline(always)]
    fn one<S: Simd>(&mut self, simd: S, fan: &Fan<'_>, lane: usize, src: &[[f32; 4]]) {
        (self.normals[lane], self.edges[lane]) = one_edge(simd, fan.entries, src);
        if let [base, _, _, ..] = fan.entries
            && !fan.factors.is_empty()
        {
            let p = f32x4::load_array(simd, src[*base as usize]);
            let mut edge = f32x4::splat(simd, 0.0);
            for (&n, &f) in fan.entries.iter().zip(fan.factors) {
                let to = f32x4::load_array(simd, src[n as usize]) - p;
                edge = to.mul_add(f, edge);
            }
            self.edges[lane] = edge.into();
        }
    }

    #[inline(always)]
    fn solve<S: Simd>(
        &self,
        simd: S,
        displacement: f32,
        points: &[[f32; 4]; BLOCK],
        deltas: &[[f32; 4]; BLOCK],
        out: &mut [[f32; 4]; BLOCK],
    ) {
        let one = f32x8::splat(simd, 1.0);
        let tiny = f32x8::splat(simd, TINY);
        let [z, x, y, _] = load8x4(simd, &self.normals);
        let area = V3 { x, y, z };
        let edge = V3::of(load8x4(simd, &self.edges));
        let area2 = area.dot(area);
        let n = area * (one / area2.max(tiny).sqrt());
        let t = n.scale_add(-n.dot(edge), edge);
        let t2 = t.dot(t);
        let sine = t2 * SINE / edge.dot(edge).max(tiny);
        let t = t * (one / t2.max(tiny).sqrt());
        let b = n.cross(t);
        let delta = load8x4(simd, deltas);
        let left = (area2 * delta[3]).min(one) * sine.min(one) * displacement;
        let detail = n.scale_add(delta[2], b.scale_add(delta[1], t * delta[0]));
        let p = detail.scale_add(left, V3::of(load8x4(simd, points)));
        store8x4([p.x, p.y, p.z, p.x], out);
    }
}

/// The area vector (lanes `z x y`) and the edge of a fan whose tangent is one edge.
#[inline(always)]
fn one_edge<S: Simd>(simd: S, entries: &[u32], src: &[[f32; 4]]) -> ([f32; 4], [f32; 4]) {
    let [base, tangent, first, strip @ ..] = entries else {
        return ([1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]);
    };
    let p = f32x4::load_array(simd, src[*base as usize]);
    let mut from = f32x4::load_array(simd, src[*first as usize]) - p;
    let mut from_yzx = from.slide::<1>(from);
    // Two sums, so that one does not wait for the other.
    let (mut plus, mut minus) = (f32x4::splat(simd, 0.0), f32x4::splat(simd, 0.0));
    for &n in strip {
        let to = f32x4::load_array(simd, src[n as usize]) - p;
        let to_yzx = to.slide::<1>(to);
        plus = from.mul_add(to_yzx, plus);
        minus = from_yzx.mul_add(to, minus);
        (from, from_yzx) = (to, to_yzx);
    }
    let edge = f32x4::load_array(simd, src[*tangent as usize]) - p;
    ((plus - minus).into(), edge.into())
}
