//! The fast kernel: eight vertices side by side.

use super::bind::{Packed, SkinBind};
use super::blend::{BlendSource, Matrices, Motions};
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
    pub(crate) motions: &'a [PackedMotion],
    /// Where any joint is stretched.
    pub(crate) stretch: Option<&'a [PackedAffine]>,
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
    match (dual.stretch.is_some(), dual.blended.is_some()) {
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
            block: block + b,
            p,
            n: normals.map(|n| &n[b]),
            t: tangents.map(|t| &t[b]),
        };
        let blend = mover.blend(simd, source, from);
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

/// A block of vertices that come in.
#[derive(Clone, Copy)]
struct Arriving<'a> {
    block: usize,
    p: &'a [[f32; 3]; LANES],
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
    fn blend<S: Simd, B: BlendSource>(
        self,
        simd: S,
        source: B,
        from: Arriving<'_>,
    ) -> Self::Blend<S>;
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
    fn blend<S: Simd, B: BlendSource>(self, simd: S, source: B, from: Arriving<'_>) -> Matrices<S> {
        source.matrices(simd, from.block, self.palette)
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
    motion: Motion<S>,
    /// Vertices that are stretched already.
    stretched: (V3<S>, Frames<S>),
    linear: Matrices<S>,
    /// How much vertices take of the dual-quaternion part.
    factor: f32x8<S>,
}

impl<const STRETCH: bool, const MIXED: bool> Mover for DualMover<'_, STRETCH, MIXED> {
    type Blend<S: Simd> = DualBlend<S>;
    #[inline(always)]
    fn blend<S: Simd, B: BlendSource>(
        self,
        simd: S,
        source: B,
        from: Arriving<'_>,
    ) -> DualBlend<S> {
        let zero = [f32x8::splat(simd, 0.0); 4];
        let (block, none) = (from.block, V3::of(zero));
        let mut stretched = (none, (none, zero));
        if STRETCH && let Some(palette) = self.0.stretch {
            let m = source.matrices(simd, block, palette);
            stretched.0 = move_point(&m, V3::load(simd, from.p));
            if from.t.is_some() {
                stretched.1 = move_frames::<S, true>(simd, &m, from.frames::<S, true>(simd));
            } else if from.n.is_some() {
                stretched.1 = move_frames::<S, false>(simd, &m, from.frames::<S, false>(simd));
            }
        }
        let motion = Motion::of(simd, source.motions(simd, block, self.0.motions));
        let (mut linear, mut factor) = ([zero; 3], zero[0]);
        if MIXED && let Some(blended) = self.0.blended {
            linear = source.matrices(simd, block, blended.linear);
            factor = blended.factors(simd, block);
        }
        DualBlend {
            motion,
            stretched,
            linear,
            factor,
        }
    }
    #[inline(always)]
    fn position<S: Simd>(self, _: S, blend: &DualBlend<S>, p: V3<S>) -> V3<S> {
        let mut moved = blend
            .motion
            .point(if STRETCH { blend.stretched.0 } else { p });
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
        let (mut n, mut t) = if STRETCH { blend.stretched.1 } else { frames };
        n = blend.motion.rotate(n);
        if TANGENTS {
            let turned = blend.motion.rotate(V3::of(t));
            t = [turned.x, turned.y, turned.z, t[3]];
        }
        if MIXED {
            let linear = move_frames::<S, TANGENTS>(simd, &blend.linear, frames);
            (n, t) = mix::<S, TANGENTS>(simd, linear, (n, t), blend.factor);
        }
        (n, t)
    }
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
    fn of(simd: S, [real, dual]: Motions<S>) -> Self {
        let (r, d) = (V3::of(real), V3::of(dual));
        let squared = r.dot(r) + real[3] * real[3];
        let translation = d * real[3] - r * dual[3];
        Self {
            r,
            w: real[3],
            // Never zero: the strongest joint's part is not cancelled by any other.
            twice: f32x8::splat(simd, 2.0) / squared.max(f32x8::splat(simd, 1e-30)),
            translation: translation + r.cross(d),
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
