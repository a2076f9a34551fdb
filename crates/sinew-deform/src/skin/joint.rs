//! A joint's skinning matrix as dual-quaternion skinning sums it up.

use sinew_geom::nalgebra::{self, Quaternion};
use sinew_geom::{Affine, DualQuaternion, Mat3, Quat, Real, Vec3};

/// One joint of one frame: its skinning matrix in the form that dual quaternion skinning sums up.
#[derive(Clone, Copy, Debug)]
pub struct JointMotion<R: Real> {
    /// The rotation of the matrix, and the translation that brings the joint's bind origin to where the matrix brings it. The whole
    /// matrix where it is not stretched.
    pub motion: DualQuaternion<R>,
    /// The columns of the matrix as pure quaternions, each multiplied by the rotation: a point at `(x, y, z)` comes to the quaternion
    /// `x products[0] + y products[1] + z products[2] + products[3]`.
    pub products: [Quaternion<R>; 4],
    /// Whether the matrix scales, shears or mirrors.
    pub is_stretched: bool,
}

/// Stretch below this (largest entry of `S - I`) counts as none: twice what rounding the palette to single
/// precision leaves behind, with room.
pub(crate) const NO_STRETCH: f64 = 1e-5;

/// Splits `matrix`; `origin` is where the joint sat at bind. Allocates nothing; any matrix gives a finite
/// result if its numbers are finite.
pub(crate) fn split_joint<R: Real>(matrix: &Affine<R>, origin: Vec3<R>) -> JointMotion<R> {
    let rotation = rotation_of(&matrix.linear);
    let r = rotation.to_rotation_matrix().into_inner();
    let stretch = r.transpose() * matrix.linear;
    let column = |c: usize| match c {
        3 => matrix.translation,
        c => matrix.linear.column(c).into_owned(),
    };
    let product = |c: usize| Quaternion::from_imag(column(c)) * rotation.into_inner();
    JointMotion {
        motion: DualQuaternion::from_rigid(rotation, matrix.point(origin) - r * origin),
        products: std::array::from_fn(product),
        is_stretched: (stretch - Mat3::identity()).amax() > R::from_double(NO_STRETCH),
    }
}

/// The rotation in a matrix.
///
/// * Regular: the orthogonal polar factor, by Newton's iteration with scaling (Higham, *Computing the Polar Decomposition*, 1986).
/// * Mirrored: that factor with one column reversed, the one that leaves the smallest rotation.
/// * Singular, or with a determinant below 1e-6 of the cube of its norm: an iteration that rotates a frame towards the columns (Müller et
///   al., *A Robust Method to Extract the Rotational Part of Deformations*, 2016).
/// * Zero, NaN or infinite: the identity.
///
/// Does not allocate; at most 20 and 60 iterations.
pub fn rotation_of<R: Real>(a: &Mat3<R>) -> Quat<R> {
    let Some(polar) = polar_factor(a) else {
        return align(a);
    };
    let mut best = polar;
    if polar.determinant() < R::zero() {
        let mirrored = |k: usize| {
            let mut m = polar;
            m.column_mut(k).neg_mut();
            m
        };
        best = mirrored(0);
        for k in 1..3 {
            let candidate = mirrored(k);
            if candidate.trace() > best.trace() {
                best = candidate;
            }
        }
    }
    Quat::from_rotation_matrix(&nalgebra::Rotation3::from_matrix_unchecked(best))
}

fn cofactor<R: Real>(m: &Mat3<R>) -> (Mat3<R>, R) {
    let column = |c: usize| m.column(c).into_owned();
    let (a, b, c) = (column(0), column(1), column(2));
    let bc = b.cross(&c);
    (
        Mat3::from_columns(&[bc, c.cross(&a), a.cross(&b)]),
        a.dot(&bc),
    )
}

/// Newton's iteration with Higham's scaling; `None` where the matrix is singular or nearly so.
fn polar_factor<R: Real>(a: &Mat3<R>) -> Option<Mat3<R>> {
    let size = a.norm();
    if !size.is_finite() || size <= R::zero() {
        return None;
    }
    let half = R::from_double(0.5);
    let mut x = a / size;
    if x.determinant().abs() < R::from_double(1e-6) {
        return None;
    }
    for _ in 0..20 {
        let (cof, det) = cofactor(&x);
        let inverse_transpose = cof / det;
        let scale = (inverse_transpose.norm() / x.norm()).sqrt();
        let next = (x * scale + inverse_transpose / scale) * half;
        let step = (next - x).norm();
        x = next;
        if step < R::default_epsilon() * R::from_double(8.0) {
            break;
        }
    }
    Some(x)
}

/// The identity or half a turn about an axis, whichever is nearest to `a`: a frame that is half a turn off has no way to turn.
fn nearest_half_turn<R: Real>(a: &Mat3<R>) -> Quat<R> {
    let [x, y, z] = [0, 1, 2].map(|k| a[(k, k)]);
    let turns = [
        (x + y + z, Quat::identity()),
        (
            x - y - z,
            Quat::new_unchecked(Quaternion::from_imag(Vec3::x())),
        ),
        (
            y - z - x,
            Quat::new_unchecked(Quaternion::from_imag(Vec3::y())),
        ),
        (
            z - x - y,
            Quat::new_unchecked(Quaternion::from_imag(Vec3::z())),
        ),
    ];
    let nearer = |best: (R, Quat<R>), turn: (R, Quat<R>)| if turn.0 > best.0 { turn } else { best };
    turns
        .into_iter()
        .reduce(nearer)
        .map_or_else(Quat::identity, |best| best.1)
}

/// Turns a frame step by step towards the columns of `a`; defined for every matrix (Müller et al., "A robust
/// method to extract the rotational part of deformations", 2016).
fn align<R: Real>(a: &Mat3<R>) -> Quat<R> {
    let size = a.norm();
    if !size.is_finite() || size <= R::zero() {
        return Quat::identity();
    }
    let a = a / size;
    let mut q = nearest_half_turn(&a);
    for _ in 0..60 {
        let r = q.to_rotation_matrix().into_inner();
        let (mut axis, mut dot) = (Vec3::zeros(), R::zero());
        for c in 0..3 {
            axis += r.column(c).cross(&a.column(c));
            dot += r.column(c).dot(&a.column(c));
        }
        let omega = axis / (dot.abs() + R::from_double(1e-9));
        if omega.norm() < R::default_epsilon() * R::from_double(4.0) {
            break;
        }
        q = Quat::new(omega) * q;
        q.renormalize();
    }
    q
}
