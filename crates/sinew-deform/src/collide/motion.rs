//! Rigid placements, and the motion between two of them.

use sinew_geom::{Affine, Mat3, Quat, Real, Vec3};

/// A rotation, then a translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rigid<R: Real> {
    /// Rotation about the origin.
    pub rotation: Quat<R>,
    /// Position of the origin.
    pub translation: Vec3<R>,
}

impl<R: Real> Default for Rigid<R> {
    fn default() -> Self {
        Self::identity()
    }
}

impl<R: Real> Rigid<R> {
    /// The identity.
    pub fn identity() -> Self {
        Self {
            rotation: Quat::identity(),
            translation: Vec3::zeros(),
        }
    }
    /// The rigid part of a transform: the rotation in its matrix ([`crate::skin::rotation_of`], for any matrix), and its translation.
    pub fn of(transform: &Affine<R>) -> Self {
        Self {
            rotation: rotation_in(&transform.linear),
            translation: transform.translation,
        }
    }
    /// Rotates and translates a point.
    #[inline]
    pub fn point(&self, p: Vec3<R>) -> Vec3<R> {
        turn(&self.rotation, p) + self.translation
    }
    /// Rotates a direction.
    #[inline]
    pub fn vector(&self, v: Vec3<R>) -> Vec3<R> {
        turn(&self.rotation, v)
    }
    /// The point that [`Self::point`] takes to `p`.
    #[inline]
    pub fn inverse_point(&self, p: Vec3<R>) -> Vec3<R> {
        turn(&self.rotation.conjugate(), p - self.translation)
    }
    /// The placement that takes a point of `from` to the same point of `self`.
    pub(crate) fn relative_to(&self, from: &Self) -> Self {
        let rotation = self.rotation * from.rotation.conjugate();
        Self {
            rotation,
            translation: self.translation - turn(&rotation, from.translation),
        }
    }
    /// Whether all numbers are finite.
    pub fn is_finite(&self) -> bool {
        let finite = |v: &R| v.is_finite();
        self.rotation.coords.iter().all(finite) && self.translation.iter().all(finite)
    }
}

/// A rotated vector: two cross products, which is less than building the matrix.
#[inline]
pub(crate) fn turn<R: Real>(q: &Quat<R>, v: Vec3<R>) -> Vec3<R> {
    let axis = Vec3::new(q.i, q.j, q.k);
    let t = axis.cross(&v) * R::from_double(2.0);
    v + t * q.w + axis.cross(&t)
}

/// The rotation in a matrix; matrices that are rotations already, which most are, take no iteration.
fn rotation_in<R: Real>(linear: &Mat3<R>) -> Quat<R> {
    let off = (linear.transpose() * linear - Mat3::identity()).amax();
    if off < R::from_double(1e-6) && linear.determinant() > R::zero() {
        let matrix = sinew_geom::nalgebra::Rotation3::from_matrix_unchecked(*linear);
        return Quat::from_rotation_matrix(&matrix);
    }
    crate::skin::rotation_of(linear)
}

/// The screw motion from one placement to another: rotation about an axis at constant speed, and a slide along that
/// axis. All points of a rigid body take circular (helical) paths, so that the body keeps its shape at every moment,
/// which straight lines between the two ends do not give.
///
/// The path of the origin is written with its chord, not with the centre of the circle, so that it is exact for
/// small angles, too: with `d` the chord across the axis `n`, the part of it walked after the share `t` of the angle `a`
/// is `sin(t a / 2) / sin(a / 2)` long and turned back from `d` by `(1 - t) a / 2`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidMotion<R: Real> {
    from: Rigid<R>,
    to: Rigid<R>,
    axis: Vec3<R>,
    angle: R,
    along: Vec3<R>,
    across: Vec3<R>,
    sideways: Vec3<R>,
}

impl<R: Real> Default for RigidMotion<R> {
    fn default() -> Self {
        Self::still(Rigid::identity())
    }
}

impl<R: Real> RigidMotion<R> {
    /// From one placement to another, by the shorter rotation.
    pub fn between(from: Rigid<R>, to: Rigid<R>) -> Self {
        let mut turned = (to.rotation * from.rotation.conjugate())
            .into_inner()
            .coords;
        if turned.w < R::zero() {
            turned = -turned;
        }
        let sine = turned.xyz().norm();
        let axis = if sine > R::zero() {
            turned.xyz() / sine
        } else {
            Vec3::y()
        };
        let chord = to.translation - from.translation;
        let along = axis * axis.dot(&chord);
        Self {
            from,
            to,
            axis,
            angle: sine.atan2(turned.w) * R::from_double(2.0),
            along,
            across: chord - along,
            sideways: axis.cross(&chord),
        }
    }
    /// No motion.
    pub fn still(at: Rigid<R>) -> Self {
        Self::between(at, at)
    }
    /// Where it begins.
    pub fn from(&self) -> Rigid<R> {
        self.from
    }
    /// Where it ends.
    pub fn to(&self) -> Rigid<R> {
        self.to
    }
    /// Angle of the rotation, 0 to pi radians.
    pub fn angle(&self) -> R {
        self.angle
    }
    /// The placement after the share `t` of the motion, limited to 0 to 1. The ends are exact, bit for bit.
    pub fn at(&self, t: R) -> Rigid<R> {
        if t <= R::zero() {
            return self.from;
        }
        if t >= R::one() {
            return self.to;
        }
        let half = self.angle * R::from_double(0.5);
        let (walked, left) = (half * t, half * (R::one() - t));
        let share = if half < R::from_double(1e-4) {
            t
        } else {
            walked.sin() / half.sin()
        };
        let (sine, cosine) = walked.sin_cos();
        let step = Quat::new_unchecked(sinew_geom::nalgebra::Quaternion::from_parts(
            cosine,
            self.axis * sine,
        ));
        let path = self.across * (share * left.cos()) - self.sideways * (share * left.sin());
        let mut rotation = step * self.from.rotation;
        rotation.renormalize_fast();
        Rigid {
            rotation,
            translation: self.from.translation + self.along * t + path,
        }
    }
}
