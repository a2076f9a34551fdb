//! Colliders where they are during one step, and the contacts of one hair with them.
//!
//! Points are taken to the frame of the solid, where its distance does not change. A solid moves on a screw during the step, a vertex on a
//! straight line: its path in the solid's frame is taken for a parabola through three points.

use super::motion::{Rigid, RigidMotion};
use super::shape::Distance;
use crate::simd_vector::{V3, rows};
use fearless_simd::{Simd, f32x8, mask32x8, prelude::*};
use sinew_geom::{Mat3, Quat, Real, Vec3};

/// A solid and its motion during the frame.
#[derive(Clone, Copy)]
pub struct Collider<'a> {
    /// Signed distance in the solid's own frame.
    pub shape: &'a dyn Distance,
    /// From the solid's frame to scene space: in the last frame, and in this one.
    pub motion: RigidMotion<f32>,
}

impl std::fmt::Debug for Collider<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Collider")
            .field("motion", &self.motion)
            .finish_non_exhaustive()
    }
}

impl<'a> Collider<'a> {
    /// A solid that does not move, with its frame at the origin of the scene.
    pub fn still(shape: &'a dyn Distance) -> Self {
        Self {
            shape,
            motion: RigidMotion::default(),
        }
    }
}

/// Hair and one collider, with their margin and friction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Index into the colliders of the job.
    pub collider: usize,
    /// Distance that hair keeps from the surface, metres.
    pub margin: f32,
    /// Coefficient of Coulomb friction: 0 slides freely, 1 holds on slopes up to 45 degrees. Negative counts as 0.
    pub friction: f32,
}

/// What one hair collides with, and where that is during one step.
#[derive(Clone, Copy)]
pub(crate) struct Solids<'a, R: Real> {
    colliders: &'a [Collider<'a>],
    contacts: &'a [Contact],
    placements: &'a [Placement<R>],
    /// Contacts that are left out, a bit each; those beyond the last bit never are.
    out_of_reach: u32,
}

impl<'a, R: Real> Solids<'a, R> {
    /// The solids from `begin` to `end` (shares of the frame). `placements` is room for one a contact.
    pub(crate) fn place(
        colliders: &'a [Collider<'a>],
        contacts: &'a [Contact],
        placements: &'a mut [Placement<R>],
        [begin, end]: [f32; 2],
    ) -> Self {
        for (placement, contact) in placements.iter_mut().zip(contacts) {
            if let Some(collider) = colliders.get(contact.collider) {
                *placement = Placement::new(contact, collider, begin, end);
            }
        }
        Self {
            colliders,
            contacts,
            placements,
            out_of_reach: 0,
        }
    }
    /// Those that a strand can touch which is no longer than `reach` and hangs on a point that the step brings from `start` to `root`.
    ///
    /// As the solid sees it, no vertex moves further than its strand's root and length allow, so that one further away than
    /// that is neither touched nor passed through.
    pub(crate) fn in_reach(&self, start: Vec3<R>, root: Vec3<R>, reach: R) -> Self {
        let mut out = *self;
        for (contact, solid) in self.indexed().take_while(|(i, _)| *i < 32) {
            let moved = (root - solid.at.carry.point(start)).norm();
            let longest = reach * R::from_double(LONGER) + moved + moved;
            if solid.distance(root) - solid.at.margin > longest {
                out.out_of_reach |= 1 << contact;
            }
        }
        out
    }
    /// The contacts that [`Self::in_reach`] left out, a bit each.
    pub(crate) fn out_of_reach(&self) -> u32 {
        self.out_of_reach
    }
    /// Whether there is nothing to collide with.
    pub(crate) fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
    /// Contact after contact; those that name no collider are left out.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Placed<'a, R>> + use<'a, R> {
        self.indexed().map(|(_, solid)| solid)
    }
    /// The same with the index of the contact.
    pub(crate) fn indexed(&self) -> impl Iterator<Item = (usize, Placed<'a, R>)> + use<'a, R> {
        let (colliders, skipped) = (self.colliders, self.out_of_reach);
        let all = self.contacts.iter().zip(self.placements).enumerate();
        all.filter_map(move |(i, (contact, at))| {
            let shape = colliders.get(contact.collider)?.shape;
            let skips = i < 32 && (skipped >> i) & 1 != 0;
            (!skips).then_some((i, Placed { shape, at }))
        })
    }
}

/// Strands are taken for longer than they are by this factor: lengths come with roundings.
const LONGER: f64 = 1.01;

/// One contact's collider during a step.
#[derive(Clone, Copy)]
pub(crate) struct Placed<'a, R: Real> {
    pub(crate) shape: &'a dyn Distance,
    pub(crate) at: &'a Placement<R>,
}

/// Where the collider of a contact is during a step, and how it is tested.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement<R: Real> {
    pub(crate) motion: RigidMotion<R>,
    /// Where it is in the middle of the step.
    pub(crate) middle: Rigid<R>,
    /// From the scene to the solid at the end of the step: rotation, and the solid's origin in the scene.
    pub(crate) inverse: Mat3<R>,
    pub(crate) origin: Vec3<R>,
    /// Where the surface carries a point from the beginning of the step to its end.
    pub(crate) carry: Rigid<R>,
    pub(crate) margin: R,
    pub(crate) friction: R,
    /// Smallest detail of the solid; infinite for none.
    pub(crate) detail: R,
    /// Distance of samples along segments; infinite for none.
    pub(crate) spacing: R,
    /// Penetration that counts as none.
    pub(crate) tolerance: R,
}

impl<R: Real> Default for Placement<R> {
    fn default() -> Self {
        Self {
            motion: RigidMotion::default(),
            middle: Rigid::identity(),
            inverse: Mat3::identity(),
            origin: Vec3::zeros(),
            carry: Rigid::identity(),
            margin: R::zero(),
            friction: R::zero(),
            detail: R::zero(),
            spacing: R::zero(),
            tolerance: R::zero(),
        }
    }
}

/// Samples a feature.
const SAMPLES_PER_FEATURE: f32 = 2.0;
/// Penetration that counts as none, in spacings of samples.
const TOLERANCE: f32 = 0.001;
/// The same where no samples are needed, in scene units.
const TOLERANCE_OF_PLANES: f32 = 1e-6;

impl<R: Real> Placement<R> {
    fn new(contact: &Contact, collider: &Collider<'_>, begin: f32, end: f32) -> Self {
        let from = widened(&collider.motion.at(begin));
        let to = widened(&collider.motion.at(end));
        let spacing = collider.shape.feature_size() / SAMPLES_PER_FEATURE;
        let tolerance = if spacing.is_finite() {
            spacing * TOLERANCE
        } else {
            TOLERANCE_OF_PLANES
        };
        let motion = RigidMotion::between(from, to);
        Self {
            motion,
            middle: motion.at(R::from_double(0.5)),
            inverse: to.rotation.to_rotation_matrix().into_inner().transpose(),
            origin: to.translation,
            carry: to.relative_to(&from),
            margin: R::from_single(contact.margin),
            friction: R::from_single(contact.friction.max(0.0)),
            detail: R::from_single(collider.shape.feature_size()),
            spacing: R::from_single(spacing),
            tolerance: R::from_single(tolerance),
        }
    }
}

fn widened<R: Real>(rigid: &Rigid<f32>) -> Rigid<R> {
    let q = rigid.rotation.coords.map(R::from_single);
    Rigid {
        rotation: Quat::new_normalize(sinew_geom::nalgebra::Quaternion::from(q)),
        translation: rigid.translation.map(R::from_single),
    }
}

impl<R: Real> Placed<'_, R> {
    /// Signed distance of a point at the end of the step.
    #[inline]
    pub(crate) fn distance(&self, x: Vec3<R>) -> R {
        let local = self.at.inverse * (x - self.at.origin);
        R::from_single(self.shape.distance(R::array3(local)))
    }

    /// Distance and unit normal of a point at the end of the step; `otherwise` where the field has no gradient.
    #[inline]
    pub(crate) fn surface(&self, x: Vec3<R>, otherwise: Vec3<R>) -> (R, Vec3<R>) {
        let local = self.at.inverse * (x - self.at.origin);
        let (d, gradient) = self.shape.distance_and_gradient(R::array3(local));
        let normal = unit_or(self.at.inverse.tr_mul(&R::vec3(gradient)), otherwise);
        (R::from_single(d), normal)
    }

    /// Signed distance of a point of the solid's frame.
    pub(crate) fn distance_at(&self, local: Vec3<R>) -> R {
        R::from_single(self.shape.distance(R::array3(local)))
    }

    /// The way of a point through the solid's frame, while both move.
    pub(crate) fn path(&self, start: Vec3<R>, end: Vec3<R>) -> Path<R> {
        let begins = self.at.motion.from().inverse_point(start);
        let halfway = (start + end) * R::from_double(0.5);
        let middle = self.at.middle.inverse_point(halfway);
        let ends = self.at.inverse * (end - self.at.origin);
        let two = R::from_double(2.0);
        Path {
            begins,
            leaves: (middle - begins) * (two + two) - (ends - begins),
            bends: (begins + ends - middle * two) * two,
        }
    }
}

impl Placed<'_, f32> {
    /// [`Placed::distance`] of eight points; lanes that are not `wanted` get anything.
    #[inline(always)]
    pub(super) fn distances<S: Simd>(&self, x: V3<S>, wanted: mask32x8<S>) -> f32x8<S> {
        let simd = x.x.simd;
        let from = x - V3::all(simd, self.at.origin);
        let rows = rows(simd, &self.at.inverse);
        let mut points = [[0.0; 8]; 3];
        from.times(rows).store_lanes(&mut points);
        let wanted = wanted.to_bitmask() as u8;
        f32x8::load_array(simd, self.shape.distances(&points, wanted))
    }
}

/// A parabola through where a point is at the beginning, in the middle and at the end of a step. From the screw that it
/// stands for it differs by the third power of the step's angle.
pub(crate) struct Path<R: Real> {
    begins: Vec3<R>,
    leaves: Vec3<R>,
    bends: Vec3<R>,
}

impl<R: Real> Path<R> {
    /// After the share `t` of the step.
    pub(crate) fn at(&self, t: R) -> Vec3<R> {
        self.begins + (self.leaves + self.bends * t) * t
    }
    /// The highest speed on the way, in lengths a step: that at one of its ends.
    pub(crate) fn fastest(&self) -> R {
        let arrives = self.leaves + self.bends * R::from_double(2.0);
        self.leaves.norm().max(arrives.norm())
    }
}

/// Unit length, or `otherwise` where there is none.
#[inline]
pub(crate) fn unit_or<R: Real>(v: Vec3<R>, otherwise: Vec3<R>) -> Vec3<R> {
    let squared = v.norm_squared();
    if squared > R::from_double(1e-30) && squared.is_finite() {
        v * (R::one() / squared.sqrt())
    } else {
        otherwise
    }
}
