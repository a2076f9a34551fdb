//! The fast kernel: eight vertices side by side, one binding of each after the other.
//!
//! A binding is a driver triangle, barycentric coordinates and the inverse of the triangle's rest frame. The kernel gathers the corners of
//! eight triangles, computes their frames now, and adds `weight * (origin + frame * inverse_rest_frame * (p - rest_origin))`, with `p` the
//! incoming position. The Jacobian `frame * inverse_rest_frame`, summed with the same weights, moves normals (by its cofactors) and
//! tangents; a tangent's sign flips if the Jacobian mirrors and the vertex follows it by more than half.
//!
//! Vertices without bindings stay where they are. If any triangle of a block has no area, the reference moves the whole block. Cost:
//! O(bindings), without allocation.

use super::reference::{Frame, one_by_one};
use super::{Binding, Out, WrapMode};
use crate::lanes::{load8x4_at, store8x4_at, strengths, values_at};
use crate::simd_vector::V3;
use fearless_simd::{Simd, f32x8, prelude::*};
use fearless_simd_macros::simd;
use std::ops::Range;

/// Eight bindings and the triangles under them.
#[derive(Default)]
struct Gathered {
    corners: [[[f32; 3]; 8]; 3],
    normals: [[[f32; 3]; 8]; 3],
    origin: [[f32; 3]; 8],
    /// Columns of the inverse rest frames.
    inverse: [[[f32; 3]; 8]; 3],
    barycentric: [[f32; 8]; 2],
    weight: [f32; 8],
}

/// Moves the vertices of a range. Blocks of vertices that hang on a collapsed triangle are left to the
/// reference.
#[simd]
pub(super) fn run<S: Simd, const FRAMES: bool>(
    simd: S,
    frame: &Frame<'_>,
    range: Range<usize>,
    mut out: Out<'_>,
) {
    let mut gathered = Gathered::default();
    for at in (0..range.len()).step_by(8) {
        let v = range.start + at;
        let block = v..range.end.min(v + 8);
        let p = V3::load_at(simd, frame.input.positions, v);
        match carry::<S, FRAMES>(simd, frame, &mut gathered, block.clone(), p) {
            Some(moved) => {
                let mut bound = [0.0; 8];
                for (bound, v) in bound.iter_mut().zip(block) {
                    *bound = f32::from(!frame.bind.bindings_of(v).is_empty());
                }
                let bound = f32x8::load_array(simd, bound);
                store(simd, frame, &moved, v, bound, p, at, &mut out);
            }
            None => one_by_one(frame, block, at, &mut out),
        }
    }
}

/// Where a block's points go, and the columns of the map's Jacobian there; `None` where a triangle has no area.
#[inline(always)]
fn carry<S: Simd, const FRAMES: bool>(
    simd: S,
    frame: &Frame<'_>,
    g: &mut Gathered,
    block: Range<usize>,
    p: V3<S>,
) -> Option<(V3<S>, [V3<S>; 3])> {
    let mut count = 0;
    for v in block.clone() {
        count = count.max(frame.bind.bindings_of(v).len());
    }
    let zero = V3::splat(simd, 0.0);
    let (mut moved, mut jacobian) = (zero, [zero; 3]);
    for k in 0..count {
        for lane in 0..8 {
            let v = block.end.min(block.start + lane + 1) - 1;
            g.fill(frame, frame.bind.bindings_of(v), k, lane);
        }
        let weight = f32x8::load_array(simd, g.weight);
        let (origin, columns) = local_frame(simd, frame.bind.config.mode, g)?;
        let rest = [
            V3::load(simd, &g.inverse[0]),
            V3::load(simd, &g.inverse[1]),
            V3::load(simd, &g.inverse[2]),
        ];
        let local = combine(rest, p - V3::load(simd, &g.origin));
        moved = (combine(columns, local) + origin).scale_add(weight, moved);
        if FRAMES {
            for c in 0..3 {
                jacobian[c] = combine(columns, rest[c]).scale_add(weight, jacobian[c]);
            }
        }
    }
    Some((moved, jacobian))
}

impl Gathered {
    /// Takes the binding `k` of a vertex; its first one without weight where it has fewer.
    #[inline(always)]
    fn fill(&mut self, frame: &Frame<'_>, bindings: &[Binding], k: usize, lane: usize) {
        let Some(b) = bindings.get(k).or(bindings.first()) else {
            self.weight[lane] = 0.0;
            return;
        };
        self.weight[lane] = if k < bindings.len() { b.weight } else { 0.0 };
        self.barycentric[0][lane] = b.barycentric[0];
        self.barycentric[1][lane] = b.barycentric[1];
        self.origin[lane] = b.origin;
        let triangle = frame.bind.driver.triangles()[b.triangle as usize];
        for (c, corner) in triangle.into_iter().enumerate() {
            self.inverse[c][lane] = b.local_from_rest[c];
            self.corners[c][lane] = frame.driver[corner as usize];
            if let Some(&n) = frame.normals.get(corner as usize) {
                self.normals[c][lane] = n;
            }
        }
    }
}

/// [`super::local_frame`] for triangles with area.
#[inline(always)]
fn local_frame<S: Simd>(simd: S, mode: WrapMode, g: &Gathered) -> Option<(V3<S>, [V3<S>; 3])> {
    let a = V3::load(simd, &g.corners[0]);
    let e1 = V3::load(simd, &g.corners[1]) - a;
    let e2 = V3::load(simd, &g.corners[2]) - a;
    let u = f32x8::load_array(simd, g.barycentric[0]);
    let v = f32x8::load_array(simd, g.barycentric[1]);
    let origin = e2.scale_add(v, e1.scale_add(u, a));
    let cross = e1.cross(e2);
    let square = cross.dot(cross);
    let usable = square.simd_gt(1e-30) & square.simd_lt(1e30);
    let unused = f32x8::load_array(simd, g.weight).simd_eq(0.0);
    if !(usable | unused).all_true() {
        return None;
    }
    let face = cross.unit_or(V3::splat(simd, 0.0));
    let columns = match mode {
        WrapMode::Triangle => {
            let x = e1.unit_or(face);
            [x, face.cross(x), face]
        }
        WrapMode::Surface => {
            let one = f32x8::splat(simd, 1.0);
            let n = V3::load(simd, &g.normals[0]) * (one - u - v);
            let n = V3::load(simd, &g.normals[1]).scale_add(u, n);
            let n = V3::load(simd, &g.normals[2]).scale_add(v, n);
            [e1, e2, n.unit_or(face)]
        }
        _ => [e1, e2, face * square.sqrt().sqrt()],
    };
    Some((origin, columns))
}

/// Writes the block of vertices from `v` on to index `at`, moved as far as its strength times `bound` says.
#[expect(clippy::too_many_arguments, reason = "inlined into two kernels")]
#[inline(always)]
pub(super) fn store<S: Simd>(
    simd: S,
    frame: &Frame<'_>,
    (moved, jacobian): &(V3<S>, [V3<S>; 3]),
    v: usize,
    bound: f32x8<S>,
    p: V3<S>,
    at: usize,
    (positions, normals, tangents): &mut Out<'_>,
) {
    let w = strengths(simd, &frame.weight, v) * values_at(simd, &frame.bind.strength, v) * bound;
    let zero = f32x8::splat(simd, 0.0);
    let still = w.simd_eq(0.0);
    if let Some(out) = positions {
        let moved = (*moved - p).scale_add(w, p);
        p.or(still, moved).store_at(out, at);
    }
    let [a, b, c] = *jacobian;
    let cofactor = [b.cross(c), c.cross(a), a.cross(b)];
    let mirrors = a.dot(cofactor[0]).simd_lt(0.0);
    let mut normal = None;
    if let Some(given) = frame.input.normals {
        let n = V3::load_at(simd, given, v);
        let to = combine(cofactor, n);
        let to = (V3::splat(simd, 0.0) - to).or(mirrors, to);
        let n = n.toward(to, w);
        if let Some(out) = normals {
            n.store_at(out, at);
        }
        normal = Some(n);
    }
    if let (Some(out), Some(given)) = (tangents, frame.input.tangents) {
        let given = load8x4_at(simd, given, v);
        let mut t = V3::of(given);
        t = t.toward(combine(*jacobian, t), w);
        if let Some(n) = normal {
            let flat = n.scale_add(zero - n.dot(t), t);
            let long = flat.dot(flat).simd_gt(1e-10);
            t = flat.unit_or(t).or(long, t);
        }
        let t = V3::of(given).or(still, t);
        let flips = mirrors & w.simd_gt(0.5);
        let sign = flips.select(zero - given[3], given[3]);
        store8x4_at([t.x, t.y, t.z, sign], out, at);
    }
}

/// `columns * v`.
#[inline(always)]
pub(super) fn combine<S: Simd>(columns: [V3<S>; 3], v: V3<S>) -> V3<S> {
    let [a, b, c] = columns;
    c.scale_add(v.z, b.scale_add(v.y, a * v.x))
}
