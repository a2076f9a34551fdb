//! The last pass: frames of the smoothed points and the detail in them, four slots at a time.

use super::bind::DeltaMushBind;
use super::frames::Fan;
use super::reference::{SINE, TINY};
use crate::simd_level;
use fearless_simd::{dispatch, f32x4, prelude::*};
use fearless_simd_macros::simd;
use std::ops::Range;

/// Slots at a time.
const BLOCK: usize = 4;

/// For the slots of `range`: the smoothed point plus its detail.
pub(super) fn add_detail(
    bind: &DeltaMushBind,
    displacement: f32,
    src: &[[f32; 4]],
    range: Range<usize>,
    out: &mut [[f32; 4]],
) {
    dispatch!(simd_level(), simd => run(simd, bind, displacement, src, range, out));
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
    let own = &src[range.clone()];
    let deltas = &bind.deltas[range.clone()];
    let blocks = out
        .chunks_mut(BLOCK)
        .zip(own.chunks(BLOCK))
        .zip(deltas.chunks(BLOCK));
    let mut slot = range.start;
    for ((out, own), deltas) in blocks {
        let mut block = Block::default();
        for (i, (p, d)) in own.iter().zip(deltas).enumerate() {
            block.points[i] = *p;
            block.deltas[i] = *d;
            let fan = bind.fans.fan(slot + i);
            (block.normals[i], block.edges[i]) = vectors(simd, &fan, src);
        }
        slot += BLOCK;
        let result = block.solve(simd, displacement);
        out.copy_from_slice(&result[..out.len()]);
    }
}

/// Four slots, one after the other.
#[derive(Default)]
struct Block {
    points: [[f32; 4]; BLOCK],
    deltas: [[f32; 4]; BLOCK],
    /// Lanes `z x y` of the area vector.
    normals: [[f32; 4]; BLOCK],
    edges: [[f32; 4]; BLOCK],
}

/// The area vector (lanes `z x y`) and the edge of a fan.
#[inline(always)]
fn vectors<S: Simd>(simd: S, fan: &Fan<'_>, src: &[[f32; 4]]) -> ([f32; 4], [f32; 4]) {
    let [base, tangent, first, strip @ ..] = fan.entries else {
        return ([1.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]);
    };
    let load = |n: u32| f32x4::simd_from(simd, src[n as usize]);
    let p = load(*base);
    let mut from = load(*first) - p;
    let mut from_yzx = from.slide::<1>(from);
    let mut sum = f32x4::splat(simd, 0.0);
    for &n in strip {
        let to = load(n) - p;
        let to_yzx = to.slide::<1>(to);
        sum = from.mul_add(to_yzx, sum) - from_yzx * to;
        (from, from_yzx) = (to, to_yzx);
    }
    let mut edge = load(*tangent) - p;
    if !fan.factors.is_empty() {
        edge = f32x4::splat(simd, 0.0);
        for (&n, &f) in fan.entries.iter().zip(fan.factors) {
            edge = (load(n) - p).mul_add(f, edge);
        }
    }
    (sum.into(), edge.into())
}

/// Three components of four slots.
#[derive(Clone, Copy)]
struct Lanes<S: Simd> {
    x: f32x4<S>,
    y: f32x4<S>,
    z: f32x4<S>,
}

impl<S: Simd> Lanes<S> {
    #[inline(always)]
    fn dot(self, o: Self) -> f32x4<S> {
        self.x * o.x + self.y * o.y + self.z * o.z
    }
    #[inline(always)]
    fn scale(self, f: f32x4<S>) -> Self {
        Self {
            x: self.x * f,
            y: self.y * f,
            z: self.z * f,
        }
    }
    #[inline(always)]
    fn plus(self, o: Self) -> Self {
        Self {
            x: self.x + o.x,
            y: self.y + o.y,
            z: self.z + o.z,
        }
    }
    #[inline(always)]
    fn cross(self, o: Self) -> Self {
        Self {
            x: self.y * o.z - self.z * o.y,
            y: self.z * o.x - self.x * o.z,
            z: self.x * o.y - self.y * o.x,
        }
    }
}

impl Block {
    #[inline(always)]
    fn solve<S: Simd>(&self, simd: S, displacement: f32) -> [[f32; 4]; BLOCK] {
        let lanes = |rows: &[[f32; 4]; BLOCK]| {
            f32x4::load_four_interleaved(simd, bytemuck::cast_ref::<_, [f32; 16]>(rows))
        };
        let one = f32x4::splat(simd, 1.0);
        let tiny = f32x4::splat(simd, TINY);
        let [z, x, y, _] = lanes(&self.normals);
        let area = Lanes { x, y, z };
        let [x, y, z, _] = lanes(&self.edges);
        let edge = Lanes { x, y, z };
        let [dx, dy, dz, factor] = lanes(&self.deltas);
        let area2 = area.dot(area);
        let n = area.scale(one / area2.max(tiny).sqrt());
        let t = edge.plus(n.scale(-n.dot(edge)));
        let t2 = t.dot(t);
        let sine = t2 * SINE / edge.dot(edge).max(tiny);
        let t = t.scale(one / t2.max(tiny).sqrt());
        let b = n.cross(t);
        let left = (area2 * factor).min(one) * sine.min(one) * displacement;
        let detail = t.scale(dx).plus(b.scale(dy)).plus(n.scale(dz));
        let [x, y, z, _] = lanes(&self.points);
        let p = Lanes { x, y, z }.plus(detail.scale(left));
        let mut out = [0.0; 16];
        f32x4::store_four_interleaved([p.x, p.y, p.z, p.x], &mut out);
        bytemuck::cast(out)
    }
}
