//! Colliders where they are during one step, and the contacts of one hair with them.

use super::motion::{Rigid, RigidMotion};
use super::shape::Distance;
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
        }
    }
    /// Whether there is nothing to collide with.
    pub(crate) fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
    /// Contact after contact; those that name no collider are left out.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Placed<'a, R>> + use<'a, R> {
        let colliders = self.colliders;
        let all = self.contacts.iter().zip(self.placements);
        all.filter_map(move |(contact, at)| {
            let shape = colliders.get(contact.collider)?.shape;
            Some(Placed { shape, at })
        })
    }
}

/// One contact's collider during a step.
#[derive(Clone, Copy)]
pub(crate) struct Placed<'a, R: Real> {
    pub(crate) shape: &'a dyn Distance,
    pub(crate) at: &'a Placement<R>,
}

/// Where the collider of a contact is during a step, and how it is tested.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement<R: Real> {
    /// From the scene to the solid at the end of the step: rotation, and the solid's origin in the scene.
    pub(crate) inverse: Mat3<R>,
    pub(crate) origin: Vec3<R>,
    /// Where the surface carries a point from the beginning of the step to its end.
    pub(crate) carry: Rigid<R>,
    pub(crate) margin: R,
    pub(crate) friction: R,
    /// Smallest detail of the solid; infinite for none.
    pub(crate) detail: R,
}

impl<R: Real> Default for Placement<R> {
    fn default() -> Self {
        Self {
            inverse: Mat3::identity(),
            origin: Vec3::zeros(),
            carry: Rigid::identity(),
            margin: R::zero(),
            friction: R::zero(),
            detail: R::zero(),
        }
    }
}

impl<R: Real> Placement<R> {
    fn new(contact: &Contact, collider: &Collider<'_>, begin: f32, end: f32) -> Self {
        let from = widened(&collider.motion.at(begin));
        let to = widened(&collider.motion.at(end));
        Self {
            inverse: to.rotation.to_rotation_matrix().into_inner().transpose(),
            origin: to.translation,
            carry: to.relative_to(&from),
            margin: R::from_single(contact.margin),
            friction: R::from_single(contact.friction.max(0.0)),
            detail: R::from_single(collider.shape.feature_size()),
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
