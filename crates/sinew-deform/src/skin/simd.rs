//! The fast kernel: eight vertices side by side.
//!
//! Lanes are vertices. For each block the kernel sums what the method blends, once; then it moves positions, normals and tangents with the
//! sum:
//!
//! * [`Linear`]: rows of `M = sum w_j M_j`, and `p' = M p`.
//! * [`Dual`] without stretch: `r = sum w_j r_j` and `d = sum w_j d_j`, where a joint whose rotation points away from the strongest joint's
//!   enters with the opposite sign. `r` stays unnormalised: `p' = p + (2 / |r|^2) (v x (v x p + w p) + Im(d r*))` with `r = (v, w)` divides
//!   once instead (Kavan et al., *Geometric Skinning with Approximate Dual Quaternion Blending*, 2008).
//! * [`Dual`] with stretch: `r`, and the sums of the joints' [`JointMotion::products`]. Each column of the vertex's matrix is the vector
//!   part of such a sum times `r*`, over `|r|^2`.
//! * [`Blended`]: linear and dual result, interpolated by `blend` times the mask. Directions are normalised again; a tangent's sign comes
//!   from the larger part.
//!
//! Where a matrix moves the vertex, normals go through its cofactor matrix, with the opposite sign if the matrix mirrors; tangents go
//! through the matrix itself, and their sign flips if it mirrors. A direction that loses its length stays as it came in. Each block loads
//! its joints once (`blocks.rs`), or each vertex its own row if neighbours share too few joints.

use super::bind::{Packed, SkinBind};
use super::blend::{BlendSource, Matrices, Quaternions};
use super::blocks::LANES;
use super::joint::JointMotion;
use super::reference::NO_LENGTH;
use super::run::Run;
use super::single;
use crate::lanes::{load8x4, store8x4};
use crate::simd_vector::V3;
use fearless_simd::{Simd, f32x8, prelude::*};
use fearless_simd_macros::simd;
use sinew_geom::{PackedAffine, Vec3};

/// A joint's rigid motion as the kernel reads it, real and dual part; quaternions as x y z w.
pub(super) type PackedMotion = [[f32; 4]; 2];
/// A joint's rotation, and its [`JointMotion::products`].
pub(super) type PackedProducts = [[f32; 4]; 5];

pub(super) fn pack_motion(joint: &JointMotion<f64>) -> PackedMotion {
    [joint.motion.real, joint.motion.dual].map(|q| q.coords.map(single).into())
}

pub(super) fn pack_products(joint: &JointMotion<f64>) -> PackedProducts {
    let [x, y, z, translation] = joint.products;
    [joint.motion.real, x, y, z, translation].map(|q| q.coords.map(single).into())
}

/// What one frame's joints look like to the kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FrameJoints<'a> {
    /// Weighted sums of matrices.
    Linear(Linear<'a>),
    /// Weighted sums of rigid motions.
    Dual(Dual<'a>),
}

/// Weighted sums of matrices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Linear<'a> {
    pub(crate) palette: &'a [PackedAffine],
    /// Where they take positions less an origin to positions less a reference.
    pub(crate) near: Option<Near>,
}

/// An origin near the vertices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Near {
    /// What is taken from positions that come in.
    pub(crate) origin: Vec3<f32>,
    /// What is added to those that go out.
    pub(crate) reference: Vec3<f32>,
}

/// Weighted sums of rigid motions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dual<'a> {
    pub(super) motions: &'a [PackedMotion],
    /// Where any joint is stretched.
    pub(super) products: Option<&'a [PackedProducts]>,
    /// Where it is between linear and dual quaternion.
    pub(crate) blended: Option<Blended<'a>>,
}

/// Between linear and dual quaternion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blended<'a> {
    pub(crate) linear: &'a [PackedAffine],
    /// How much of the dual-quaternion part.
    pub(crate) blend: f32,
    /// The same for each vertex.
    pub(crate) mask: Option<&'a [f32]>,
}

/// Skins a run.
#[inline(always)]
pub(crate) fn skin_run<S: Simd>(
    simd: S,
    bind: &SkinBind,
    joints: FrameJoints<'_>,
    run: Run<'_, '_>,
) {
    let dual = match joints {
        FrameJoints::Linear(linear) => return skin_with(simd, bind, linear, run),
        FrameJoints::Dual(dual) => dual,
    };
    match (dual.products.is_some(), dual.blended.is_some()) {
        (false, false) => skin_with(simd, bind, DualMover::<false, false>(dual), run),
        (true, false) => skin_with(simd, bind, DualMover::<true, false>(dual), run),
        (false, true) => skin_with(simd, bind, DualMover::<false, true>(dual), run),
        (true, true) => skin_with(simd, bind, DualMover::<true, true>(dual), run),
    }
}

#[inline(always)]
fn skin_with<S: Simd, M: Mover>(simd: S, bind: &SkinBind, mover: M, run: Run<'_, '_>) {
    match &bind.packed {
        Packed::Blocks(blocks) => run_blocks(simd, blocks, mover, run),
        Packed::Rows => run_blocks(simd, &bind.influences, mover, run),
    }
}

#[simd]
fn run_blocks<S: Simd, B: BlendSource, M: Mover>(simd: S, source: B, mover: M, run: Run<'_, '_>) {
    let Run {
        block,
        positions,
        normals,
        tangents,
        mut out_positions,
        mut out_normals,
        mut out_tangents,
    } = run;
    for (b, p) in positions.iter().enumerate() {
        let from = Arriving {
            n: normals.map(|n| &n[b]),
            t: tangents.map(|t| &t[b]),
        };
        let blend = mover.blend(simd, source, block + b);
        if let Some(out) = &mut out_positions {
            let p = V3::load(simd, p);
            mover.position(simd, &blend, p).store(&mut out[b]);
        }
        if from.t.is_some() {
            let (n, t) = mover.frames::<S, true>(simd, &blend, from.frames::<S, true>(simd));
            if let Some(out) = &mut out_normals {
                n.store(&mut out[b]);
            }
            if let Some(out) = &mut out_tangents {
                store8x4(t, &mut out[b]);
            }
        } else if let Some(out) = &mut out_normals {
            let (n, _) = mover.frames::<S, false>(simd, &blend, from.frames::<S, false>(simd));
            n.store(&mut out[b]);
        }
    }
}

/// Frames of a block of vertices that come in.
#[derive(Clone, Copy)]
struct Arriving<'a> {
    n: Option<&'a [[f32; 3]; LANES]>,
    t: Option<&'a [[f32; 4]; LANES]>,
}

impl Arriving<'_> {
    /// Zeros where there are none.
    #[inline(always)]
    fn frames<S: Simd, const TANGENTS: bool>(self, simd: S) -> Frames<S> {
        let zero = [f32x8::splat(simd, 0.0); 4];
        let (mut n, mut t) = (V3::of(zero), zero);
        if let Some(normals) = self.n {
            n = V3::load(simd, normals);
        }
        if TANGENTS && let Some(tangents) = self.t {
            t = load8x4(simd, tangents);
        }
        (n, t)
    }
}

/// Normals of eight vertices, and their tangents with signs.
pub(crate) type Frames<S> = (V3<S>, [f32x8<S>; 4]);

/// Moves blocks of vertices.
trait Mover: Copy {
    /// What the joints of a block sum up to.
    type Blend<S: Simd>;
    fn blend<S: Simd, B: BlendSource>(self, simd: S, source: B, block: usize) -> Self::Blend<S>;
    fn position<S: Simd>(self, simd: S, blend: &Self::Blend<S>, p: V3<S>) -> V3<S>;
    /// Normals, and with `TANGENTS` tangents.
    fn frames<S: Simd, const TANGENTS: bool>(
        self,
        simd: S,
        blend: &Self::Blend<S>,
        frames: Frames<S>,
    ) -> Frames<S>;
}

impl Mover for Linear<'_> {
    type Blend<S: Simd> = Matrices<S>;
    #[inline(always)]
    fn blend<S: Simd, B: BlendSource>(self, simd: S, source: B, block: usize) -> Matrices<S> {
        source.matrices(simd, block, self.palette)
    }
    #[inline(always)]
    fn position<S: Simd>(self, simd: S, blend: &Matrices<S>, p: V3<S>) -> V3<S> {
        let Some(near) = self.near else {
            return move_point(blend, p);
        };
        let p = p - V3::all(simd, near.origin);
        move_point(blend, p) + V3::all(simd, near.reference)
    }
    #[inline(always)]
    fn frames<S: Simd, const TANGENTS: bool>(
        self,
        simd: S,
        blend: &Matrices<S>,
        frames: Frames<S>,
    ) -> Frames<S> {
        move_frames::<S, TANGENTS>(simd, blend, frames)
    }
}

/// [`Dual`], with joints that stretch and mixed into linear skinning or not.
#[derive(Clone, Copy)]
struct DualMover<'a, const STRETCH: bool, const MIXED: bool>(Dual<'a>);

/// What [`DualMover`] blends.
struct DualBlend<S: Simd> {
    /// Without stretch.
    motion: Motion<S>,
    /// With stretch.
    map: Matrices<S>,
    linear: Matrices<S>,
    /// How much vertices take of the dual-quaternion part.
    factor: f32x8<S>,
}

impl<const STRETCH: bool, const MIXED: bool> Mover for DualMover<'_, STRETCH, MIXED> {
    type Blend<S: Simd> = DualBlend<S>;
    #[inline(always)]
    fn blend<S: Simd, B: BlendSource>(self, simd: S, source: B, block: usize) -> DualBlend<S> {
        let zero = [f32x8::splat(simd, 0.0); 4];
        let mut out = DualBlend {
            motion: Motion::none(simd),
            map: [zero; 3],
            linear: [zero; 3],
            factor: zero[0],
        };
        match self.0.products {
            Some(products) if STRETCH => {
                out.map = map_of(simd, source.quaternions(simd, block, products));
            }
            _ => out.motion = Motion::of(simd, source.quaternions(simd, block, self.0.motions)),
        }
        if MIXED && let Some(blended) = self.0.blended {
            out.linear = source.matrices(simd, block, blended.linear);
            out.factor = blended.factors(simd, block);
        }
        out
    }
    #[inline(always)]
    fn position<S: Simd>(self, _: S, blend: &DualBlend<S>, p: V3<S>) -> V3<S> {
        let mut moved = if STRETCH {
            move_point(&blend.map, p)
        } else {
            blend.motion.point(p)
        };
        if MIXED {
            moved = lerp(move_point(&blend.linear, p), moved, blend.factor);
        }
        moved
    }
    #[inline(always)]
    fn frames<S: Simd, const TANGENTS: bool>(
        self,
        simd: S,
        blend: &DualBlend<S>,
        frames: Frames<S>,
    ) -> Frames<S> {
        let (mut n, mut t) = frames;
        if STRETCH {
            (n, t) = move_frames::<S, TANGENTS>(simd, &blend.map, frames);
        } else {
            n = blend.motion.rotate(n);
            if TANGENTS {
                let turned = blend.motion.rotate(V3::of(t));
                t = [turned.x, turned.y, turned.z, t[3]];
            }
        }
        if MIXED {
            let linear = move_frames::<S, TANGENTS>(simd, &blend.linear, frames);
            (n, t) = mix::<S, TANGENTS>(simd, linear, (n, t), blend.factor);
        }
        (n, t)
    }
}

/// The map of blended products: each times the conjugate of the blended rotation, over the square of that one's length.
#[inline(always)]
fn map_of<S: Simd>(simd: S, [real, products @ ..]: Quaternions<S, 5>) -> Matrices<S> {
    let r = V3::of(real);
    let squared = r.dot(r) + real[3] * real[3];
    // Never zero: the strongest joint's part is not cancelled by any other.
    let scale = f32x8::splat(simd, 1.0) / squared.max(f32x8::splat(simd, 1e-30));
    let mut out = [[scale; 4]; 3];
    for c in 0..4 {
        let column = without_rotation(r, real[3], products[c]) * scale;
        (out[0][c], out[1][c], out[2][c]) = (column.x, column.y, column.z);
    }
    out
}

/// The vector part of a quaternion times the conjugate of the one with parts `r` and `w`.
#[inline(always)]
fn without_rotation<S: Simd>(r: V3<S>, w: f32x8<S>, q: [f32x8<S>; 4]) -> V3<S> {
    let v = V3::of(q);
    v * w - r * q[3] + r.cross(v)
}

impl Blended<'_> {
    /// How much the vertices of a block take of the dual-quaternion part.
    #[inline(always)]
    fn factors<S: Simd>(&self, simd: S, block: usize) -> f32x8<S> {
        let mut factors = [0.0; LANES];
        for (i, f) in factors.iter_mut().enumerate() {
            let mask = self
                .mask
                .map_or(1.0, |m| m[(block * LANES + i).min(m.len() - 1)]);
            *f = (self.blend * mask).clamp(0.0, 1.0);
        }
        f32x8::load_array(simd, factors)
    }
}

/// Points through matrices.
#[inline(always)]
pub(crate) fn move_point<S: Simd>([x, y, z]: &Matrices<S>, p: V3<S>) -> V3<S> {
    V3 {
        x: V3::of(*x).dot_add(p, x[3]),
        y: V3::of(*y).dot_add(p, y[3]),
        z: V3::of(*z).dot_add(p, z[3]),
    }
}

/// Normals, and with `TANGENTS` tangents, through matrices.
#[inline(always)]
pub(crate) fn move_frames<S: Simd, const TANGENTS: bool>(
    simd: S,
    [x, y, z]: &Matrices<S>,
    (n, t): Frames<S>,
) -> Frames<S> {
    let (a, b, c) = (V3::of(*x), V3::of(*y), V3::of(*z));
    // Rows of the cofactor matrix are cross products of the rows.
    let bc = b.cross(c);
    let mirrors = a.dot(bc).simd_lt(f32x8::splat(simd, 0.0));
    let moved = V3 {
        x: bc.dot(n),
        y: c.cross(a).dot(n),
        z: a.cross(b).dot(n),
    };
    let one = f32x8::splat(simd, 1.0);
    let n = direction(simd, moved, mirrors.select(-one, one), n);
    if !TANGENTS {
        return (n, t);
    }
    let d = direction(simd, V3::of(t).times([a, b, c]), one, V3::of(t));
    (n, [d.x, d.y, d.z, mirrors.select(-t[3], t[3])])
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

/// Rigid motions of eight vertices.
struct Motion<S: Simd> {
    /// Vector and scalar part of a quaternion of any length.
    r: V3<S>,
    w: f32x8<S>,
    /// Two over the square of that length.
    twice: f32x8<S>,
    translation: V3<S>,
}

impl<S: Simd> Motion<S> {
    #[inline(always)]
    fn none(simd: S) -> Self {
        let zero = f32x8::splat(simd, 0.0);
        let r = V3::of([zero; 4]);
        Self {
            r,
            w: zero,
            twice: zero,
            translation: r,
        }
    }
    #[inline(always)]
    fn of(simd: S, [real, dual]: Quaternions<S, 2>) -> Self {
        let r = V3::of(real);
        let squared = r.dot(r) + real[3] * real[3];
        Self {
            r,
            w: real[3],
            // Never zero: the strongest joint's part is not cancelled by any other.
            twice: f32x8::splat(simd, 2.0) / squared.max(f32x8::splat(simd, 1e-30)),
            translation: without_rotation(r, real[3], dual),
        }
    }
    #[inline(always)]
    fn point(&self, p: V3<S>) -> V3<S> {
        self.translation.scale_add(self.twice, self.rotate(p))
    }
    /// `v + twice r x (r x v + w v)`.
    #[inline(always)]
    fn rotate(&self, v: V3<S>) -> V3<S> {
        let inner = v.scale_add(self.w, self.r.cross(v));
        self.r.cross(inner).scale_add(self.twice, v)
    }
}

#[inline(always)]
fn lerp<S: Simd>(a: V3<S>, b: V3<S>, factor: f32x8<S>) -> V3<S> {
    (b - a).scale_add(factor, a)
}

#[inline(always)]
fn mix<S: Simd, const TANGENTS: bool>(
    simd: S,
    a: Frames<S>,
    b: Frames<S>,
    factor: f32x8<S>,
) -> Frames<S> {
    let one = f32x8::splat(simd, 1.0);
    let n = direction(simd, lerp(a.0, b.0, factor), one, a.0);
    if !TANGENTS {
        return (n, a.1);
    }
    let (ta, tb) = (V3::of(a.1), V3::of(b.1));
    let t = direction(simd, lerp(ta, tb, factor), one, ta);
    let second = factor.simd_gt(f32x8::splat(simd, 0.5));
    (n, [t.x, t.y, t.z, second.select(b.1[3], a.1[3])])
}
