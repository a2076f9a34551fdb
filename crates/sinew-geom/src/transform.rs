//! Affine transforms and dual quaternions, generic over precision.

use crate::{Mat3, Quat, Vec3};
use bytemuck::{Pod, Zeroable};
use nalgebra::{Quaternion, RealField};

/// `f32` or `f64`, the precision of generic reference kernels.
pub trait Real: RealField + Copy + Default + Send + Sync + 'static {
    /// Rounds from double precision.
    fn from_double(value: f64) -> Self;
    /// Widens (or keeps) to double precision.
    fn to_double(self) -> f64;
    /// Widens (or keeps) a single-precision value.
    #[inline]
    fn from_single(value: f32) -> Self {
        Self::from_double(f64::from(value))
    }
    /// Rounds (or keeps) to single precision.
    fn to_single(self) -> f32;
    /// A 3-vector from single-precision storage.
    fn vec3(p: [f32; 3]) -> Vec3<Self> {
        Vec3::new(
            Self::from_single(p[0]),
            Self::from_single(p[1]),
            Self::from_single(p[2]),
        )
    }
    /// The inverse of a matrix; `None` if its determinant is exactly 0. A nearly singular matrix gives a huge inverse, and NaN stays NaN.
    /// Compiled once, in this crate.
    fn inverse_of(matrix: &Mat3<Self>) -> Option<Mat3<Self>>;
    /// A 3-vector to single-precision storage.
    fn array3(v: Vec3<Self>) -> [f32; 3] {
        [v.x.to_single(), v.y.to_single(), v.z.to_single()]
    }
}

impl Real for f32 {
    #[inline]
    fn from_double(value: f64) -> Self {
        value as f32
    }
    #[inline]
    fn to_double(self) -> f64 {
        f64::from(self)
    }
    #[inline]
    fn to_single(self) -> f32 {
        self
    }
    fn inverse_of(matrix: &Mat3<Self>) -> Option<Mat3<Self>> {
        matrix.try_inverse()
    }
}

impl Real for f64 {
    #[inline]
    fn from_double(value: f64) -> Self {
        value
    }
    #[inline]
    fn to_double(self) -> f64 {
        self
    }
    #[inline]
    fn to_single(self) -> f32 {
        self as f32
    }
    fn inverse_of(matrix: &Mat3<Self>) -> Option<Mat3<Self>> {
        matrix.try_inverse()
    }
}

/// An affine transform `p -> linear * p + translation` (column vectors).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Affine<R: Real> {
    /// Rotation, scale and shear.
    pub linear: Mat3<R>,
    /// Translation.
    pub translation: Vec3<R>,
}

impl<R: Real> Default for Affine<R> {
    fn default() -> Self {
        Self::identity()
    }
}

impl<R: Real> Affine<R> {
    /// The identity transform.
    pub fn identity() -> Self {
        Self {
            linear: Mat3::identity(),
            translation: Vec3::zeros(),
        }
    }

    /// Scale along the axes, then rotation, then translation.
    pub fn from_trs(translation: Vec3<R>, rotation: Quat<R>, scale: Vec3<R>) -> Self {
        Self {
            linear: rotation.to_rotation_matrix().into_inner() * Mat3::from_diagonal(&scale),
            translation,
        }
    }

    /// Reads a column-major 4x4 array as in glTF: `m[4 * c + r]` is row `r` of column `c`, the translation is `m[12..15]`. The fourth row
    /// is ignored, a projection too.
    pub fn from_columns(m: &[R; 16]) -> Self {
        Self {
            linear: Mat3::new(m[0], m[4], m[8], m[1], m[5], m[9], m[2], m[6], m[10]),
            translation: Vec3::new(m[12], m[13], m[14]),
        }
    }

    /// The column-major 4x4 array of [`Self::from_columns`].
    pub fn to_columns(&self) -> [R; 16] {
        std::array::from_fn(|i| match (i / 4, i % 4) {
            (column, 3) => {
                if column == 3 {
                    R::one()
                } else {
                    R::zero()
                }
            }
            (3, row) => self.translation[row],
            (column, row) => self.linear[(row, column)],
        })
    }

    /// `linear * p + translation`. For a direction, multiply `linear` alone; for a normal, use [`Self::normal_matrix`].
    pub fn point(&self, p: Vec3<R>) -> Vec3<R> {
        self.linear * p + self.translation
    }

    /// The inverse. `None` if the determinant of the linear part is exactly 0; nearly singular transforms give huge numbers.
    pub fn inverse(&self) -> Option<Self> {
        let linear = R::inverse_of(&self.linear)?;
        Some(Self {
            linear,
            translation: -(linear * self.translation),
        })
    }

    /// Matrix that transforms normals, up to their length: the cofactor matrix times the sign of the determinant. Also valid if the linear
    /// part is singular.
    /// Normalize the result: its length is an area factor.
    pub fn normal_matrix(&self) -> Mat3<R> {
        let (a, b, c) = (
            self.linear.column(0).into_owned(),
            self.linear.column(1).into_owned(),
            self.linear.column(2).into_owned(),
        );
        let cofactor = Mat3::from_columns(&[b.cross(&c), c.cross(&a), a.cross(&b)]);
        if a.dot(&b.cross(&c)) < R::zero() {
            -cofactor
        } else {
            cofactor
        }
    }

    /// The same transform in another precision. `f32` rounds to nearest; numbers beyond its range become infinite.
    pub fn cast<T: Real>(&self) -> Affine<T> {
        Affine {
            linear: self.linear.map(|v| T::from_double(v.to_double())),
            translation: self.translation.map(|v| T::from_double(v.to_double())),
        }
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        self.linear.iter().all(|v| v.is_finite()) && self.translation.iter().all(|v| v.is_finite())
    }
}

impl<R: Real> std::ops::Mul for Affine<R> {
    type Output = Self;
    /// The transform that applies `rhs` first, then `self`: `(a * b).point(p) == a.point(b.point(p))` up to rounding.
    fn mul(self, rhs: Self) -> Self {
        Self {
            linear: self.linear * rhs.linear,
            translation: self.linear * rhs.translation + self.translation,
        }
    }
}

/// An [`Affine`] as three rows of four `f32`: the palette layout that CPU and GPU kernels read.
/// 48 bytes, without padding.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct PackedAffine {
    /// Row `r` is `[linear[r][0], linear[r][1], linear[r][2], translation[r]]`.
    pub rows: [[f32; 4]; 3],
}

impl Default for PackedAffine {
    fn default() -> Self {
        Affine::<f32>::identity().into()
    }
}

impl<R: Real> From<Affine<R>> for PackedAffine {
    fn from(a: Affine<R>) -> Self {
        let row = |r: usize| {
            [
                a.linear[(r, 0)].to_single(),
                a.linear[(r, 1)].to_single(),
                a.linear[(r, 2)].to_single(),
                a.translation[r].to_single(),
            ]
        };
        Self {
            rows: [row(0), row(1), row(2)],
        }
    }
}

impl PackedAffine {
    /// Unpacks into any precision.
    pub fn unpack<R: Real>(&self) -> Affine<R> {
        let m = |r: usize, c: usize| R::from_single(self.rows[r][c]);
        Affine {
            linear: Mat3::from_fn(m),
            translation: Vec3::new(m(0, 3), m(1, 3), m(2, 3)),
        }
    }
}

/// A rigid motion as a pair of quaternions: `real` is the rotation, `dual = (0, t) * real / 2`.
///
/// Source: Kavan, Collins, Zara, O'Sullivan, "Skinning with Dual Quaternions", 2007.
/// A sum of dual quaternions is meaningful only if their `real` parts lie in one half space: negate both parts of one whose dot product
/// with a common pivot is negative. `q` and `-q` are the same motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualQuaternion<R: Real> {
    /// Rotation.
    pub real: Quaternion<R>,
    /// Half the translation quaternion times the rotation.
    pub dual: Quaternion<R>,
}

impl<R: Real> DualQuaternion<R> {
    /// Creates a dual quaternion from a rotation and the translation after it.
    pub fn from_rigid(rotation: Quat<R>, translation: Vec3<R>) -> Self {
        let real = rotation.into_inner();
        let half = R::from_double(0.5);
        Self {
            real,
            dual: Quaternion::from_parts(R::zero(), translation * half) * real,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Affine<f64> {
        Affine::from_trs(
            Vec3::new(1.0, -2.0, 3.0),
            Quat::from_euler_angles(0.3, -0.7, 1.1),
            Vec3::new(1.0, 2.0, 0.5),
        )
    }

    #[test]
    fn inverse_undoes() {
        let a = sample();
        let id = a * a.inverse().expect("regular");
        assert!(
            (id.linear - Mat3::identity()).norm() < 1e-12 && id.translation.norm() < 1e-12,
            "a * a^-1 is the identity"
        );
    }

    #[test]
    fn normal_matrix_is_inverse_transpose_up_to_scale() {
        let mut a = sample();
        for flip in [1.0, -1.0] {
            a.linear.column_mut(0).scale_mut(flip);
            let n = Vec3::new(0.2, 0.5, -0.7);
            let expected = (a.linear.try_inverse().expect("regular").transpose() * n).normalize();
            let got = (a.normal_matrix() * n).normalize();
            assert!((expected - got).norm() < 1e-12, "flip {flip}");
        }
    }

    #[test]
    fn dual_part_holds_half_the_translation() {
        let q = Quat::from_euler_angles(0.4, 0.1, -2.0);
        let t = Vec3::new(0.3, 4.0, -1.0);
        let d = DualQuaternion::from_rigid(q, t);
        let back = d.dual * d.real.conjugate() * 2.0;
        assert!((back.imag() - t).norm() < 1e-12 && f64::abs(back.w) < 1e-12);
        assert!((d.real - q.into_inner()).norm() < 1e-15);
    }

    #[test]
    fn packed_rows_hold_the_matrix() {
        let a = sample();
        let back: Affine<f64> = PackedAffine::from(a).unpack();
        assert!((a.linear - back.linear).norm() < 1e-6, "linear part");
    }
}
