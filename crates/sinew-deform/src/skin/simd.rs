//! The fast kernel: eight vertices side by side.

use super::bind::{Packed, SkinBind};
use super::blend::{BlendSource, Matrices, Motions};
use super::blocks::LANES;
use super::joint::JointMotion;
use super::reference::NO_LENGTH;
use super::single;
use crate::lanes::{load8x4, padded, store8x4};
use crate::simd_vector::V3;
use fearless_simd::{Simd, f32x8, prelude::*};
use fearless_simd_macros::simd;
use sinew_geom::{PackedAffine, Vec3};

/// A joint's rigid motion as the kernel reads it; quaternions as x y z w.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PackedMotion {
    pub(crate) real: [f32; 4],
    pub(crate) dual: [f32; 4],
}

impl From<&JointMotion<f64>> for PackedMotion {
    fn from(joint: &JointMotion<f64>) -> Self {
        Self {
            real: joint.motion.real.coords.map(single).into(),
            dual: joint.motion.dual.coords.map(single).into(),
        }
    }
}

/// What one frame's joints look like to the kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FrameJoints<'a> {
    /// Weighted sums of matrices.
    Linear(&'a [PackedAffine]),
    /// The same, near the origin.
    Near(Near<'a>),
    /// Weighted sums of rigid motions.
    Dual(Dual<'a>),
    /// Between the two.
    Blended(Blended<'a>),
}

/// Weighted sums of matrices.
#[derive(Clone, Copy)]
struct Linear<'a>(&'a [PackedAffine]);

/// Weighted sums of matrices that take positions less an origin to positions less a reference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near<'a> {
    pub(crate) palette: &'a [PackedAffine],
    /// What is taken from positions that come in.
    pub(crate) origin: Vec3<f32>,
    /// What is added to those that go out.
    pub(crate) reference: Vec3<f32>,
}

/// Weighted sums of rigid motions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dual<'a> {
    pub(crate) motions: &'a [PackedMotion],
    /// Where any joint is stretched.
    pub(crate) stretch: Option<&'a [PackedAffine]>,
}

/// Between linear and dual quaternion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blended<'a> {
    pub(crate) linear: &'a [PackedAffine],
    pub(crate) dual: Dual<'a>,
    /// How much of the dual-quaternion part.
    pub(crate) blend: f32,
    /// The same for each vertex.
    pub(crate) mask: Option<&'a [f32]>,
}

/// A run of vertices.
#[derive(Debug)]
pub(crate) struct Run<'a, 'b> {
    pub(crate) start: usize,
    pub(crate) positions: &'a [[f32; 3]],
    pub(crate) normals: Option<&'a [[f32; 3]]>,
    pub(crate) tangents: Option<&'a [[f32; 4]]>,
    pub(crate) out_positions: Option<&'b mut [[f32; 3]]>,
    pub(crate) out_normals: Option<&'b mut [[f32; 3]]>,
    pub(crate) out_tangents: Option<&'b mut [[f32; 4]]>,
}

/// Skins a run, which starts at a block.
#[inline(always)]
pub(crate) fn skin_run<S: Simd>(
    simd: S,
    bind: &SkinBind,
    joints: FrameJoints<'_>,
    run: Run<'_, '_>,
) {
    match &bind.packed {
        Packed::Blocks(blocks) => skin_from(simd, blocks, joints, run),
        Packed::Rows => skin_from(simd, &bind.influences, joints, run),
    }
}

#[inline(always)]
fn skin_from<S: Simd, B: BlendSource>(
    simd: S,
    source: B,
    joints: FrameJoints<'_>,
    run: Run<'_, '_>,
) {
    match joints {
        FrameJoints::Linear(palette) => skin_with(simd, source, Linear(palette), run),
        FrameJoints::Near(near) => skin_with(simd, source, near, run),
        FrameJoints::Dual(dual) => skin_with(simd, source, dual, run),
        FrameJoints::Blended(blended) => skin_with(simd, source, blended, run),
    }
}

#[inline(always)]
fn skin_with<S: Simd, B: BlendSource, M: Mover>(simd: S, source: B, mover: M, run: Run<'_, '_>) {
    match (run.normals.is_some(), run.tangents.is_some()) {
        (false, false) => run_blocks::<S, B, M, false, false>(simd, source, mover, run),
        (true, false) => run_blocks::<S, B, M, true, false>(simd, source, mover, run),
        (_, true) => run_blocks::<S, B, M, true, true>(simd, source, mover, run),
    }
}

/// `NORMALS` and `TANGENTS` tell what is computed; what is not there is not stored.
#[simd]
fn run_blocks<S: Simd, B: BlendSource, M: Mover, const NORMALS: bool, const TANGENTS: bool>(
    simd: S,
    source: B,
    mover: M,
    run: Run<'_, '_>,
) {
    let Run {
        start,
        positions,
        normals,
        tangents,
        mut out_positions,
        mut out_normals,
        mut out_tangents,
    } = run;
    let (blocks, tail) = positions.as_chunks::<LANES>();
    let normal_blocks = normals.map_or(&[][..], |n| n.as_chunks::<LANES>().0);
    let tangent_blocks = tangents.map_or(&[][..], |t| t.as_chunks::<LANES>().0);
    let first = start / LANES;
    for (b, p) in blocks.iter().enumerate() {
        let mut v = Vertices {
            p: V3::load(simd, p),
            n: V3::splat(simd, 0.0),
            t: [f32x8::splat(simd, 0.0); 4],
        };
        if NORMALS && let Some(n) = normal_blocks.get(b) {
            v.n = V3::load(simd, n);
        }
        if TANGENTS && let Some(t) = tangent_blocks.get(b) {
            v.t = load8x4(simd, t);
        }
        let v = mover.block::<S, B, NORMALS, TANGENTS>(simd, source, first + b, v);
        let at = b * LANES;
        if let Some(out) = block_of(&mut out_positions, at) {
            v.p.store(out);
        }
        if NORMALS && let Some(out) = block_of(&mut out_normals, at) {
            v.n.store(out);
        }
        if TANGENTS && let Some(out) = block_of(&mut out_tangents, at) {
            store8x4(v.t, out);
        }
    }
    if tail.is_empty() {
        return;
    }
    // The last few as a full block of copies.
    let at = positions.len() - tail.len();
    let v = Vertices {
        p: V3::load(simd, &padded(tail)),
        n: V3::load(
            simd,
            &normals.map_or([[0.0; 3]; LANES], |n| padded(&n[at..])),
        ),
        t: load8x4(
            simd,
            &tangents.map_or([[0.0; 4]; LANES], |t| padded(&t[at..])),
        ),
    };
    let v = mover.block::<S, B, NORMALS, TANGENTS>(simd, source, first + blocks.len(), v);
    let mut three = [[0.0; 3]; LANES];
    if let Some(out) = out_positions {
        v.p.store(&mut three);
        out[at..].copy_from_slice(&three[..tail.len()]);
    }
    if let Some(out) = out_normals {
        v.n.store(&mut three);
        out[at..].copy_from_slice(&three[..tail.len()]);
    }
    if let Some(out) = out_tangents {
        let mut four = [[0.0; 4]; LANES];
        store8x4(v.t, &mut four);
        out[at..].copy_from_slice(&four[..tail.len()]);
    }
}

#[inline(always)]
fn block_of<'a, T>(out: &'a mut Option<&mut [T]>, at: usize) -> Option<&'a mut [T; LANES]> {
    out.as_mut()?.get_mut(at..)?.first_chunk_mut()
}

#[derive(Clone, Copy)]
pub(crate) struct Vertices<S: Simd> {
    pub(crate) p: V3<S>,
    pub(crate) n: V3<S>,
    /// Direction and sign.
    pub(crate) t: [f32x8<S>; 4],
}

/// Moves a block of vertices.
trait Mover: Copy {
    fn block<S: Simd, B: BlendSource, const NORMALS: bool, const TANGENTS: bool>(
        self,
        simd: S,
        source: B,
        block: usize,
        v: Vertices<S>,
    ) -> Vertices<S>;
}

impl Mover for Linear<'_> {
    #[inline(always)]
    fn block<S: Simd, B: BlendSource, const NORMALS: bool, const TANGENTS: bool>(
        self,
        simd: S,
        source: B,
        block: usize,
        v: Vertices<S>,
    ) -> Vertices<S> {
        let matrices = source.matrices(simd, block, self.0);
        apply_affine::<S, NORMALS, TANGENTS>(simd, matrices, v)
    }
}

impl Mover for Near<'_> {
    #[inline(always)]
    fn block<S: Simd, B: BlendSource, const NORMALS: bool, const TANGENTS: bool>(
        self,
        simd: S,
        source: B,
        block: usize,
        mut v: Vertices<S>,
    ) -> Vertices<S> {
        v.p = v.p - V3::all(simd, self.origin);
        let mut out = Linear(self.palette).block::<S, B, NORMALS, TANGENTS>(simd, source, block, v);
        out.p = out.p + V3::all(simd, self.reference);
        out
    }
}

impl Mover for Dual<'_> {
    #[inline(always)]
    fn block<S: Simd, B: BlendSource, const NORMALS: bool, const TANGENTS: bool>(
        self,
        simd: S,
        source: B,
        block: usize,
        v: Vertices<S>,
    ) -> Vertices<S> {
        let mut v = v;
        if let Some(stretch) = self.stretch {
            let matrices = source.matrices(simd, block, stretch);
            v = apply_affine::<S, NORMALS, TANGENTS>(simd, matrices, v);
        }
        let motions = source.motions(simd, block, self.motions);
        apply_motion::<S, NORMALS, TANGENTS>(simd, motions, v)
    }
}

impl Mover for Blended<'_> {
    #[inline(always)]
    fn block<S: Simd, B: BlendSource, const NORMALS: bool, const TANGENTS: bool>(
        self,
        simd: S,
        source: B,
        block: usize,
        v: Vertices<S>,
    ) -> Vertices<S> {
        let linear = Linear(self.linear).block::<S, B, NORMALS, TANGENTS>(simd, source, block, v);
        let dual = self
            .dual
            .block::<S, B, NORMALS, TANGENTS>(simd, source, block, v);
        let mut factor = [0.0; LANES];
        for (i, f) in factor.iter_mut().enumerate() {
            let mask = self
                .mask
                .map_or(1.0, |m| m[(block * LANES + i).min(m.len() - 1)]);
            *f = (self.blend * mask).clamp(0.0, 1.0);
        }
        mix(simd, linear, dual, f32x8::load_array(simd, factor))
    }
}

#[inline(always)]
pub(crate) fn apply_affine<S: Simd, const NORMALS: bool, const TANGENTS: bool>(
    simd: S,
    m: Matrices<S>,
    v: Vertices<S>,
) -> Vertices<S> {
    let [x, y, z] = m;
    let (a, b, c) = (V3::of(x), V3::of(y), V3::of(z));
    let mut out = v;
    out.p = V3 {
        x: a.dot_add(v.p, x[3]),
        y: b.dot_add(v.p, y[3]),
        z: c.dot_add(v.p, z[3]),
    };
    if !NORMALS && !TANGENTS {
        return out;
    }
    // Rows of the cofactor matrix are cross products of the rows.
    let bc = b.cross(c);
    let mirrors = a.dot(bc).simd_lt(f32x8::splat(simd, 0.0));
    if NORMALS {
        let n = V3 {
            x: bc.dot(v.n),
            y: c.cross(a).dot(v.n),
            z: a.cross(b).dot(v.n),
        };
        let one = f32x8::splat(simd, 1.0);
        out.n = direction(simd, n, mirrors.select(-one, one), v.n);
    }
    if TANGENTS {
        let t = V3::of(v.t);
        let moved = V3 {
            x: a.dot(t),
            y: b.dot(t),
            z: c.dot(t),
        };
        let d = direction(simd, moved, f32x8::splat(simd, 1.0), t);
        out.t = [d.x, d.y, d.z, mirrors.select(-v.t[3], v.t[3])];
    }
    out
}

/// `sign * v / |v|`, or `rest` where `v` has no length.
#[inline(always)]
fn direction<S: Simd>(simd: S, v: V3<S>, sign: f32x8<S>, rest: V3<S>) -> V3<S> {
    let limit = f32x8::splat(simd, NO_LENGTH as f32);
    let squared = v.dot(v);
    let good = squared.simd_gt(limit);
    let inverse = sign / squared.max(limit).sqrt();
    let unit = v * inverse;
    V3 {
        x: good.select(unit.x, rest.x),
        y: good.select(unit.y, rest.y),
        z: good.select(unit.z, rest.z),
    }
}

#[inline(always)]
fn apply_motion<S: Simd, const NORMALS: bool, const TANGENTS: bool>(
    simd: S,
    [real, dual]: Motions<S>,
    v: Vertices<S>,
) -> Vertices<S> {
    let (r, d) = (V3::of(real), V3::of(dual));
    let squared = r.dot(r) + real[3] * real[3];
    // Never zero: the strongest joint's part is not cancelled by any other.
    let twice = f32x8::splat(simd, 2.0) / squared.max(f32x8::splat(simd, 1e-30));
    let t = d * real[3] - r * dual[3];
    let cross = r.cross(d);
    let t = V3 {
        x: t.x + cross.x,
        y: t.y + cross.y,
        z: t.z + cross.z,
    };
    let mut out = v;
    out.p = t.scale_add(twice, rotate(r, real[3], twice, v.p));
    if NORMALS {
        out.n = rotate(r, real[3], twice, v.n);
    }
    if TANGENTS {
        let t = rotate(r, real[3], twice, V3::of(v.t));
        out.t = [t.x, t.y, t.z, v.t[3]];
    }
    out
}

/// `v + twice r x (r x v + w v)`.
#[inline(always)]
fn rotate<S: Simd>(r: V3<S>, w: f32x8<S>, twice: f32x8<S>, v: V3<S>) -> V3<S> {
    let inner = v.scale_add(w, r.cross(v));
    r.cross(inner).scale_add(twice, v)
}

#[inline(always)]
fn lerp<S: Simd>(a: V3<S>, b: V3<S>, factor: f32x8<S>) -> V3<S> {
    (b - a).scale_add(factor, a)
}

#[inline(always)]
fn mix<S: Simd>(simd: S, a: Vertices<S>, b: Vertices<S>, factor: f32x8<S>) -> Vertices<S> {
    let one = f32x8::splat(simd, 1.0);
    let (ta, tb) = (V3::of(a.t), V3::of(b.t));
    let t = direction(simd, lerp(ta, tb, factor), one, ta);
    let second = factor.simd_gt(f32x8::splat(simd, 0.5));
    Vertices {
        p: lerp(a.p, b.p, factor),
        n: direction(simd, lerp(a.n, b.n, factor), one, a.n),
        t: [t.x, t.y, t.z, second.select(b.t[3], a.t[3])],
    }
}
