//! Frames on the driver and what they carry, generic over precision: the truth, and the CPU kernel.

use super::{Binding, WrapMode};
use crate::tangent_frames::{any_perpendicular, gram_schmidt, unit};
use sinew_geom::{Mat3, Real, Vec3};

/// The driver's triangle under a binding.
#[derive(Clone, Copy, Debug)]
pub struct DriverTriangle<R: Real> {
    /// Corner positions.
    pub corners: [Vec3<R>; 3],
    /// Vertex normals of the corners; used in [`WrapMode::Surface`] only.
    pub normals: [Vec3<R>; 3],
}

/// Origin and columns of the local frame at a point of a driver triangle. Finite for any finite triangle, regular
/// for every triangle with area.
pub fn local_frame<R: Real>(
    mode: WrapMode,
    t: &DriverTriangle<R>,
    barycentric: [R; 3],
) -> (Vec3<R>, Mat3<R>) {
    let [a, b, c] = t.corners;
    let (e1, e2) = (b - a, c - a);
    let origin = a * barycentric[0] + b * barycentric[1] + c * barycentric[2];
    let cross = e1.cross(&e2);
    let face = unit(cross).unwrap_or_else(|| {
        // Collapsed to a line or a point: any normal of what is left.
        unit(e1)
            .or_else(|| unit(e2))
            .map_or_else(Vec3::y, any_perpendicular)
    });
    let columns = match mode {
        WrapMode::Triangle => {
            let x = gram_schmidt(e1, face).unwrap_or_else(|| any_perpendicular(face));
            [x, face.cross(&x), face]
        }
        WrapMode::Surface => {
            let n = (0..3)
                .map(|k| t.normals[k] * barycentric[k])
                .sum::<Vec3<R>>();
            [e1, e2, unit(n).unwrap_or(face)]
        }
        // The offset grows with the square root of the area, so that scaling the driver scales the result.
        WrapMode::Smooth => [e1, e2, face * cross.norm().sqrt()],
    };
    (origin, Mat3::from_columns(&columns))
}

/// What a vertex's bindings make of it: the moved point and the Jacobian of the map there.
pub fn carry<R: Real>(
    mode: WrapMode,
    bindings: &[Binding],
    triangle: impl Fn(u32) -> DriverTriangle<R>,
    p: Vec3<R>,
) -> (Vec3<R>, Mat3<R>) {
    let (mut moved, mut jacobian) = (Vec3::zeros(), Mat3::zeros());
    for b in bindings {
        let [u, v] = b.barycentric.map(R::from_single);
        let (origin, frame) = local_frame(mode, &triangle(b.triangle), [R::one() - u - v, u, v]);
        let [x, y, z] = b.local_from_rest.map(R::vec3);
        let j = frame * Mat3::from_columns(&[x, y, z]);
        let w = R::from_single(b.weight);
        moved += (origin + j * (p - R::vec3(b.origin))) * w;
        jacobian += j * w;
    }
    (moved, jacobian)
}
