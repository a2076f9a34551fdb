//! The transform of one vertex, generic over precision.

use crate::MeshView;
use sinew_geom::{Affine, Mat3, Real, Vec3};

/// A vertex after the transform.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moved {
    /// Position.
    pub position: [f32; 3],
    /// Unit normal, where the input has one.
    pub normal: Option<[f32; 3]>,
    /// Unit tangent with sign, where the input has one.
    pub tangent: Option<[f32; 4]>,
}

/// Moves vertex `v` of `input`; `normal_matrix` is [`Affine::normal_matrix`] of `transform`.
pub(crate) fn transform_vertex<R: Real>(
    transform: &Affine<R>,
    normal_matrix: &Mat3<R>,
    weight: f32,
    input: &MeshView<'_>,
    v: usize,
) -> Moved {
    let w = R::from_single(weight);
    let p = R::vec3(input.positions[v]);
    let blend_direction = |from: Vec3<R>, to: Vec3<R>| {
        if weight == 0.0 {
            return from;
        }
        let to = to.try_normalize(R::zero()).unwrap_or(from);
        (from + (to - from) * w)
            .try_normalize(R::zero())
            .unwrap_or(from)
    };
    Moved {
        position: R::array3(p + (transform.point(p) - p) * w),
        normal: input.normals.map(|n| {
            let n = R::vec3(n[v]);
            R::array3(blend_direction(n, normal_matrix * n))
        }),
        tangent: input.tangents.map(|t| {
            let [x, y, z, sign] = t[v];
            let t = R::vec3([x, y, z]);
            let [x, y, z] = R::array3(blend_direction(t, transform.linear * t));
            let flips = transform.linear.determinant() < R::zero() && weight > 0.5;
            [x, y, z, if flips { -sign } else { sign }]
        }),
    }
}
