//! Frames on the driver and the points that they carry, generic over precision: the reference, and the code that moves points on collapsed
//! triangles.

use super::points::PointBind;
use super::{Binding, Out, WrapBind, WrapMode};
use crate::direct_delta_mush::nearest_rotation;
use crate::tangent_frames::{any_perpendicular, gram_schmidt, unit};
use crate::{MaskWeight, MeshView};
use sinew_geom::{Affine, Mat3, Real, Vec3};
use std::ops::Range;

/// The triangle of the driver under a binding.
#[derive(Clone, Copy, Debug)]
pub struct DriverTriangle<R: Real> {
    /// Corner positions.
    pub corners: [Vec3<R>; 3],
    /// Vertex normals of the corners; used in [`WrapMode::Surface`] only.
    pub normals: [Vec3<R>; 3],
}

/// Origin and columns of the local frame at a point of a driver triangle. It is finite for any finite triangle, and regular for every
/// triangle with an area.
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
        _ => [e1, e2, face * cross.norm().sqrt()],
    };
    (origin, Mat3::from_columns(&columns))
}

/// The position to which the bindings of a vertex carry `p`, and the Jacobian of the map there. `triangle` gives the current triangle for
/// an index. Without bindings, both are 0.
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

/// The position to which the points of the driver carry `p`, which belongs to vertex `v`, and the Jacobian of the map there.
/// `displacement` gives the current displacement of a driver vertex from rest.
pub(super) fn carry_by_points<R: Real>(
    points: &PointBind,
    v: usize,
    displacement: impl Fn(u32) -> Vec3<R>,
    p: Vec3<R>,
) -> (Vec3<R>, Mat3<R>) {
    let (mut shift, mut gradient) = (Vec3::zeros(), Mat3::zeros());
    for (point, (w, g)) in points.points_of(v).iter().zip(points.shares_of(v)) {
        let d = displacement(*point);
        shift += d * R::from_single(w);
        gradient += d * R::vec3(g).transpose();
    }
    let offset = p - R::vec3(points.origins[v]);
    // Points at one position differ by rounding only.
    let is_collapsed = |m: &Mat3<R>| m.norm_squared().to_single() < COLLAPSED;
    let Some(m) = points.moments.get(v) else {
        let jacobian = Mat3::identity() + gradient;
        let moved = p + shift + gradient * offset;
        return match is_collapsed(&jacobian) {
            true => (moved, Mat3::zeros()),
            false => (moved, jacobian),
        };
    };
    let [xx, xy, xz, yy, yz, zz] = m.map(R::from_single);
    let a = Mat3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz) + gradient;
    let origin = R::vec3(points.origins[v]);
    if is_collapsed(&a) {
        return (origin + shift, Mat3::zeros());
    }
    let unit = a / a.norm();
    // Cofactors have the same nearest rotation, and they fix it where all points are in one plane.
    let rotation = nearest_rotation(&(unit + cofactors(&unit)));
    let similarity = rotation * rotation.dot(&a);
    (origin + shift + similarity * offset, similarity)
}

/// Squared size of moments or of a Jacobian, about 1 at rest, below which the points are at one position.
pub(super) const COLLAPSED: f32 = 1e-9;

fn cofactors<R: Real>(m: &Mat3<R>) -> Mat3<R> {
    let [x, y, z] = [0, 1, 2].map(|c| m.column(c).into_owned());
    Mat3::from_columns(&[y.cross(&z), z.cross(&x), x.cross(&y)])
}

/// What all vertices of a frame share.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    pub(super) bind: &'a WrapBind,
    pub(super) weight: MaskWeight<'a>,
    pub(super) input: MeshView<'a>,
    /// Positions of the driver.
    pub(super) driver: &'a [[f32; 3]],
    /// Its vertex normals, in [`WrapMode::Surface`].
    pub(super) normals: &'a [[f32; 3]],
    /// Displacements of the driver from rest, in modes with points.
    pub(super) displacements: &'a [[f32; 3]],
}

/// Moves the vertices of `block`, which begins at index `at` of the outputs, by the reference.
pub(super) fn one_by_one(
    frame: &Frame<'_>,
    block: Range<usize>,
    at: usize,
    (p, n, t): &mut Out<'_>,
) {
    let triangle = |t: u32| {
        let t = frame.bind.driver.triangles()[t as usize];
        let normal = |v: u32| frame.normals.get(v as usize).copied().unwrap_or_default();
        DriverTriangle {
            corners: t.map(|v| f32::vec3(frame.driver[v as usize])),
            normals: t.map(|v| f32::vec3(normal(v))),
        }
    };
    for (i, v) in (at..).zip(block) {
        let w = frame.weight.at(v) * frame.bind.strength[v];
        let carry = |p| match &frame.bind.points {
            Some(points) => {
                let displacement = |d: u32| f32::vec3(frame.displacements[d as usize]);
                carry_by_points(points, v, displacement, p)
            }
            None => carry(
                frame.bind.config.mode,
                frame.bind.bindings_of(v),
                triangle,
                p,
            ),
        };
        let is_bound = frame.bind.points.is_some() || !frame.bind.bindings_of(v).is_empty();
        let w = if is_bound { w } else { 0.0 };
        let moved = move_vertex(carry, w, &frame.input, v);
        if let Some(p) = p {
            p[i] = moved.0;
        }
        if let (Some(n), Some(value)) = (n.as_mut(), moved.1) {
            n[i] = value;
        }
        if let (Some(t), Some(value)) = (t.as_mut(), moved.2) {
            t[i] = value;
        }
    }
}

type Moved = ([f32; 3], Option<[f32; 3]>, Option<[f32; 4]>);

/// Position, normal and tangent of one vertex; the incoming ones where it hangs on nothing.
fn move_vertex(
    carry: impl Fn(Vec3<f32>) -> (Vec3<f32>, Mat3<f32>),
    w: f32,
    input: &MeshView<'_>,
    v: usize,
) -> Moved {
    let (normal, tangent) = (input.normals.map(|n| n[v]), input.tangents.map(|t| t[v]));
    if w == 0.0 {
        return (input.positions[v], normal, tangent);
    }
    let p = f32::vec3(input.positions[v]);
    let (moved, linear) = carry(p);
    let map = Affine {
        linear,
        translation: Vec3::zeros(),
    };
    let toward = |from: Vec3<f32>, to: Option<Vec3<f32>>| {
        let to = to.unwrap_or(from);
        unit(from + (to - from) * w).unwrap_or(from)
    };
    let new_normal = normal.map(|n| toward(f32::vec3(n), unit(map.normal_matrix() * f32::vec3(n))));
    let new_tangent = tangent.map(|[x, y, z, sign]| {
        let t = f32::vec3([x, y, z]);
        let t = toward(t, unit(linear * t));
        let t = new_normal.and_then(|n| gram_schmidt(t, n)).unwrap_or(t);
        [
            t.x,
            t.y,
            t.z,
            if linear.determinant() < 0.0 && w > 0.5 {
                -sign
            } else {
                sign
            },
        ]
    });
    (
        f32::array3(p + (moved - p) * w),
        new_normal.map(Into::into),
        new_tangent,
    )
}
