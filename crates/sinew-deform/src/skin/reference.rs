//! Skinning of one vertex, generic over precision: the reference for the fast kernel.

use super::joint::JointMotion;
use sinew_geom::{Affine, Mat3, Real, Vec3, nalgebra::Quaternion};

/// Squared lengths up to this have no direction.
pub(crate) const NO_LENGTH: f64 = 1e-36;

/// One vertex, before or after skinning, in scene space.
#[derive(Clone, Copy, Debug)]
pub struct SkinVertex<R: Real> {
    /// Position.
    pub position: Vec3<R>,
    /// Unit normal.
    pub normal: Vec3<R>,
    /// Unit tangent.
    pub tangent: Vec3<R>,
    /// Sign of the bitangent.
    pub sign: R,
}

/// Weighted sum of matrices.
pub(crate) fn blend_matrices<'a, R: Real>(
    row: impl Iterator<Item = (&'a Affine<R>, f32)>,
) -> Affine<R> {
    let mut sum = Affine {
        linear: Mat3::zeros(),
        translation: Vec3::zeros(),
    };
    for (m, w) in row {
        let w = R::from_single(w);
        sum.linear += m.linear * w;
        sum.translation += m.translation * w;
    }
    sum
}

/// The map of joints blended as dual quaternions; the first of the row is the pivot for the signs.
///
/// With `r_j` the rotation of joint `j` and `M_j` its matrix, a point `p` comes to the vector part of `(sum_j w_j (M_j p) r_j) r* / |r|^2`,
/// `r = sum_j w_j r_j`. For rigid matrices this is the blended dual quaternion. It is linear in the matrices: what scales them all
/// scales the result.
pub(crate) fn blend_motions<'a, R: Real>(
    row: impl Iterator<Item = (&'a JointMotion<R>, f32)>,
) -> Affine<R> {
    let zero = Quaternion::from_parts(R::zero(), Vec3::zeros());
    let (mut sum, mut products) = (zero, [zero; 4]);
    let mut pivot = None;
    for (joint, w) in row {
        let real = joint.motion.real;
        let pivot = pivot.get_or_insert(real);
        let w = R::from_single(w);
        let w = if real.dot(pivot) < R::zero() { -w } else { w };
        sum += real * w;
        for (sum, product) in products.iter_mut().zip(joint.products) {
            *sum += product * w;
        }
    }
    let back = sum.conjugate() / sum.norm_squared();
    let [x, y, z, translation] = products.map(|q| (q * back).imag());
    Affine {
        linear: Mat3::from_columns(&[x, y, z]),
        translation,
    }
}

fn direction<R: Real>(v: Vec3<R>, rest: Vec3<R>) -> Vec3<R> {
    let squared = v.norm_squared();
    if squared > R::from_double(NO_LENGTH) {
        v / squared.sqrt()
    } else {
        rest
    }
}

/// Position and frame through an affine map.
pub(crate) fn apply_affine<R: Real>(a: &Affine<R>, v: SkinVertex<R>) -> SkinVertex<R> {
    let mirrors = a.linear.determinant() < R::zero();
    SkinVertex {
        position: a.point(v.position),
        normal: direction(a.normal_matrix() * v.normal, v.normal),
        tangent: direction(a.linear * v.tangent, v.tangent),
        sign: if mirrors { -v.sign } else { v.sign },
    }
}

/// Linear skinning of one vertex: `p' = sum_j w_j M_j p`.
///
/// `row` has joints and weights, as many of each; joints index `palette`. Normals follow the cofactors of the blended matrix; directions
/// are normalized. A direction of zero length keeps that of `v`.
///
/// # Panics
/// If a joint of `row` is not in `palette`.
pub fn skin_linear<R: Real>(
    palette: &[Affine<R>],
    row: (&[u32], &[f32]),
    v: SkinVertex<R>,
) -> SkinVertex<R> {
    let items = row.0.iter().zip(row.1);
    let a = blend_matrices(items.map(|(&j, &w)| (&palette[j as usize], w)));
    apply_affine(&a, v)
}

/// Dual quaternion skinning of one vertex (Kavan et al. 2008): `p'` is the vector part of `(sum_j w_j (M_j p) r_j) r* / |r|^2` with
/// `r = sum_j w_j r_j`.
///
/// The first joint of `row` is the pivot for the signs of quaternions: put the strongest first. Directions as in [`skin_linear`].
///
/// # Panics
/// If a joint of `row` is not in `joints`.
pub fn skin_dual_quaternion<R: Real>(
    joints: &[JointMotion<R>],
    row: (&[u32], &[f32]),
    v: SkinVertex<R>,
) -> SkinVertex<R> {
    let items = row.0.iter().zip(row.1);
    let a = blend_motions(items.map(|(&j, &w)| (&joints[j as usize], w)));
    apply_affine(&a, v)
}

/// Linear interpolation from `a` (factor 0) to `b` (factor 1), with directions normalized again. The sign of the bitangent is that of `b`
/// above a factor of 0.5.
pub fn mix<R: Real>(a: SkinVertex<R>, b: SkinVertex<R>, factor: R) -> SkinVertex<R> {
    let lerp = |a: Vec3<R>, b: Vec3<R>| a + (b - a) * factor;
    SkinVertex {
        position: lerp(a.position, b.position),
        normal: direction(lerp(a.normal, b.normal), a.normal),
        tangent: direction(lerp(a.tangent, b.tangent), a.tangent),
        sign: if factor > R::from_double(0.5) {
            b.sign
        } else {
            a.sign
        },
    }
}
