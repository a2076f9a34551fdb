//! Rotations and placements of eight strands.

use crate::collide::Rigid;
use crate::lanes::{Lanes, Lanes3, put};
use crate::simd_vector::V3;
use fearless_simd::{Simd, f32x8, mask32x8, prelude::*};
use sinew_geom::Vec3;

/// A rotation, then a translation, for each of eight strands.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct RigidLanes {
    axis: Lanes3,
    w: Lanes,
    translation: Lanes3,
}

impl RigidLanes {
    /// Sets that of one strand.
    pub(super) fn put(&mut self, lane: usize, rigid: &Rigid<f32>) {
        let q = &rigid.rotation;
        put(&mut self.axis, lane, Vec3::new(q.i, q.j, q.k));
        self.w[lane] = q.w;
        put(&mut self.translation, lane, rigid.translation);
    }
}

/// [`RigidLanes`], loaded.
#[derive(Clone, Copy)]
pub(super) struct Placement<S: Simd> {
    pub(super) rotation: Turn<S>,
    translation: V3<S>,
}

impl<S: Simd> Placement<S> {
    #[inline(always)]
    pub(super) fn load(simd: S, lanes: &RigidLanes) -> Self {
        Self {
            rotation: Turn {
                axis: V3::load_lanes(simd, &lanes.axis),
                w: f32x8::load_array_ref(simd, &lanes.w),
            },
            translation: V3::load_lanes(simd, &lanes.translation),
        }
    }
    /// Where a point goes.
    #[inline(always)]
    pub(super) fn point(self, p: V3<S>) -> V3<S> {
        self.rotation.vector(p) + self.translation
    }
}

/// A unit quaternion.
#[derive(Clone, Copy)]
pub(super) struct Turn<S: Simd> {
    axis: V3<S>,
    w: f32x8<S>,
}

impl<S: Simd> Turn<S> {
    /// Where a direction goes.
    #[inline(always)]
    pub(super) fn vector(self, v: V3<S>) -> V3<S> {
        let half = self.axis.cross(v);
        let t = half + half;
        t.scale_add(self.w, v) + self.axis.cross(t)
    }

    /// The rotation by `first`, then by this one; of unit length again where it nearly is.
    #[inline(always)]
    pub(super) fn after(self, first: Self) -> Self {
        let w = self.w.mul_sub(first.w, self.axis.dot(first.axis));
        let turned = self.axis.cross(first.axis);
        let axis = first
            .axis
            .scale_add(self.w, self.axis.scale_add(first.w, turned));
        let squared = axis.dot_add(axis, w * w);
        let correction = (f32x8::splat(squared.simd, 3.0) - squared) * 0.5;
        Self {
            axis: axis * correction,
            w: w * correction,
        }
    }

    /// `self` where `choose` holds, `otherwise` elsewhere.
    #[inline(always)]
    pub(super) fn or(self, choose: mask32x8<S>, otherwise: Self) -> Self {
        Self {
            axis: self.axis.or(choose, otherwise.axis),
            w: choose.select(self.w, otherwise.w),
        }
    }

    /// See [`super::super::shape::shortest_arc`].
    #[inline(always)]
    pub(super) fn shortest_arc(from: V3<S>, to: V3<S>) -> Self {
        let simd = from.x.simd;
        let one = f32x8::splat(simd, 1.0);
        let cosine = from.dot_add(to, one);
        let inverse = one / (cosine + cosine).sqrt();
        let arc = Self {
            axis: from.cross(to) * inverse,
            w: cosine * inverse,
        };
        let opposite = cosine.simd_lt(1e-6);
        if opposite.any_true() {
            return half_turn(from).or(opposite, arc);
        }
        arc
    }
}

/// About any axis across a unit vector.
#[inline(always)]
fn half_turn<S: Simd>(from: V3<S>) -> Turn<S> {
    let simd = from.x.simd;
    let (zero, one) = (f32x8::splat(simd, 0.0), f32x8::splat(simd, 1.0));
    let steep = from.x.abs().simd_lt(0.7);
    let other = V3 {
        x: steep.select(one, zero),
        y: steep.select(zero, one),
        z: zero,
    };
    let across = from.cross(other);
    Turn {
        axis: across * (one / across.dot(across).sqrt()),
        w: zero,
    }
}

/// No longer than `most`, the direction kept.
#[inline(always)]
pub(super) fn limited<S: Simd>(v: V3<S>, most: f32x8<S>) -> V3<S> {
    let squared = v.dot(v);
    let far = squared.simd_gt(most * most);
    // Few ever are, and a root and a division take long.
    if far.any_true() {
        return (v * (most / squared.sqrt())).or(far, v);
    }
    v
}
