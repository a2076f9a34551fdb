//! Skinning of one vertex, generic over precision: the truth that the fast kernel is tested against.

use super::joint::JointMotion;
use sinew_geom::{Affine, DualQuaternion, Mat3, Quat, Real, Vec3, nalgebra::Quaternion};

/// Squared lengths up to this have no direction.
pub(crate) const NO_LENGTH: f64 = 1e-36;

/// A vertex on its way through the kernel.
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
pub fn blend_matrices<'a, R: Real>(row: impl Iterator<Item = (&'a Affine<R>, f32)>) -> Affine<R> {
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

/// Rotation and translation of the weighted sum of dual quaternions; the first of the row is the pivot for the
/// signs.
pub fn blend_motions<'a, R: Real>(
    row: impl Iterator<Item = (&'a DualQuaternion<R>, f32)>,
) -> (Quat<R>, Vec3<R>) {
    let zero = Quaternion::from_parts(R::zero(), Vec3::zeros());
    let mut sum = DualQuaternion {
        real: zero,
        dual: zero,
    };
    let mut pivot = None;
    for (q, w) in row {
        let pivot = pivot.get_or_insert(q.real);
        let w = R::from_single(w);
        let w = if q.real.dot(pivot) < R::zero() { -w } else { w };
        sum.real += q.real * w;
        sum.dual += q.dual * w;
    }
    sum.to_rigid().unwrap_or((Quat::identity(), Vec3::zeros()))
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
pub fn apply_affine<R: Real>(a: &Affine<R>, v: SkinVertex<R>) -> SkinVertex<R> {
    let mirrors = a.linear.determinant() < R::zero();
    SkinVertex {
        position: a.point(v.position),
        normal: direction(a.normal_matrix() * v.normal, v.normal),
        tangent: direction(a.linear * v.tangent, v.tangent),
        sign: if mirrors { -v.sign } else { v.sign },
    }
}

/// Linear skinning of one vertex.
pub fn skin_linear<R: Real>(
    palette: &[Affine<R>],
    row: (&[u32], &[f32]),
    v: SkinVertex<R>,
) -> SkinVertex<R> {
    let items = row.0.iter().zip(row.1);
    let a = blend_matrices(items.map(|(&j, &w)| (&palette[j as usize], w)));
    apply_affine(&a, v)
}

/// Dual-quaternion skinning of one vertex.
pub fn skin_dual_quaternion<R: Real>(
    joints: &[JointMotion<R>],
    row: (&[u32], &[f32]),
    v: SkinVertex<R>,
) -> SkinVertex<R> {
    let items = || row.0.iter().zip(row.1);
    let stretch = blend_matrices(items().map(|(&j, &w)| (&joints[j as usize].stretch, w)));
    let v = apply_affine(&stretch, v);
    let (r, t) = blend_motions(items().map(|(&j, &w)| (&joints[j as usize].motion, w)));
    SkinVertex {
        position: r * v.position + t,
        normal: r * v.normal,
        tangent: r * v.tangent,
        sign: v.sign,
    }
}

/// From `a` (factor 0) to `b` (factor 1); directions are renormalised.
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
