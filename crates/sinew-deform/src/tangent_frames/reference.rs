//! Normals and tangents of one triangle and of one vertex, generic over precision: the reference.
//!
//! 1. Per triangle ([`face_terms`], `face_tangent`): unit normal, the angle of each corner from `atan2`, and the direction in which `u`
//!    grows, as a combination of two edges with coefficients from setup. Edges are divided by their largest component first, so that
//!    squares of very small or large triangles neither vanish nor overflow. Triangles that are nearly lines add nothing. With area weights,
//!    both steps are spared: the cross product of two edges has the area as its length, and corners weigh 1.
//! 2. Per vertex (`vertex_normal`): the sum over the corners of its smoothing group, each face normal times the corner's angle (Thürmer and
//!    Wüthrich, *Computing Vertex Normals from Polygonal Facets*, 1998). The angle weight makes the normal independent of how a flat face
//!    is cut into triangles. With nothing to sum, the vertex keeps its rest normal.
//! 3. Per vertex (`vertex_tangent`): the sum over its tangent group, made perpendicular to the normal. If nothing is left of it, the
//!    tangent follows the group's reference edge, or any perpendicular direction.
//!
//! Authored directions are stored at setup in the frame (reference edge, bitangent, normal) of their vertex and are rebuilt from the
//! current frame.

use super::bind::{NO_VERTEX, TangentFramesBind};
use super::{NormalMode, TangentMode};
use sinew_geom::{Real, Vec3};

/// Squared sine-like ratio below which a triangle counts as a line: `|cross|^2` over the fourth power of its
/// largest edge component. Below it, rounding alone decides the direction in `f32`.
pub(super) const SLIVER: f64 = 1e-13;
/// The integer range of the fixed-point accumulation: one unit is this many steps.
pub(crate) const FIXED_POINT_RANGE: f64 = 32767.0;

/// What one triangle contributes to its corners.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FaceTerms<R: Real> {
    /// Unit normal; 0 if the triangle has no area. With area weighting, the cross product of two edges.
    pub normal: [R; 3],
    /// Weight of each corner: its angle in radians, or 1 with area weighting.
    pub weights: [R; 3],
}

/// `v` divided by its length; `None` if the length is 0, not finite or beyond about 1e-30 to 1e30. Safe from overflow and underflow of
/// squares.
#[inline]
pub fn unit<R: Real>(v: Vec3<R>) -> Option<Vec3<R>> {
    let square = v.norm_squared();
    if square > R::from_double(1e-20) && square < R::from_double(1e20) {
        return Some(v * (R::one() / square.sqrt()));
    }
    // Very short or long: scaled first, so that squares neither vanish nor overflow.
    let largest = v.amax();
    // Written so that NaN fails.
    if !(largest > R::from_double(1e-30) && largest < R::from_double(1e30)) {
        return None;
    }
    let v = v / largest;
    Some(v / v.norm())
}

/// Angle between two vectors of any length, 0 to pi radians. Accurate for all angles; 0 if a vector is 0.
#[inline]
pub fn angle_between<R: Real>(a: Vec3<R>, b: Vec3<R>) -> R {
    a.cross(&b).norm().atan2(a.dot(&b))
}

/// Normal and corner weights of the triangle `p` (counter-clockwise seen from outside).
#[inline]
pub(crate) fn face_terms<R: Real>(p: [Vec3<R>; 3], area_weighted: bool) -> FaceTerms<R> {
    let (e01, e02, e12) = (p[1] - p[0], p[2] - p[0], p[2] - p[1]);
    if area_weighted {
        let n = e01.cross(&e02);
        return FaceTerms {
            normal: n.into(),
            weights: [R::one(); 3],
        };
    }
    let largest = e01.amax().max(e02.amax());
    if !(largest > R::from_double(1e-30) && largest < R::from_double(1e30)) {
        return FaceTerms::default();
    }
    let scale = R::one() / largest;
    let (e01, e02, e12) = (e01 * scale, e02 * scale, e12 * scale);
    let n = e01.cross(&e02);
    let square = n.norm_squared();
    if square <= R::from_double(SLIVER) {
        return FaceTerms::default();
    }
    let length = square.sqrt();
    FaceTerms {
        normal: (n / length).into(),
        // All three corners have the same sine side: twice the area.
        weights: [
            length.atan2(e01.dot(&e02)),
            length.atan2(-e01.dot(&e12)),
            length.atan2(e02.dot(&e12)),
        ],
    }
}

/// Unit direction in which `u` grows over the triangle, with the sign of its orientation in UV space folded into
/// `coefficients`; zero where the UVs are degenerate.
#[inline]
pub(crate) fn face_tangent<R: Real>(p: [Vec3<R>; 3], coefficients: [f32; 2]) -> [R; 3] {
    let [a, b] = coefficients.map(R::from_single);
    let t = (p[1] - p[0]) * a + (p[2] - p[0]) * b;
    unit(t).unwrap_or_else(Vec3::zeros).into()
}

/// Sum over a list of corners (`4 * triangle + corner`) of the normals in `faces`, or of `vectors`, one per triangle, weighted by corner.
///
/// # Panics
/// If a corner names a triangle that does not exist.
#[inline]
pub fn gather<R: Real>(faces: &[FaceTerms<R>], vectors: Option<&[[R; 3]]>, row: &[u32]) -> Vec3<R> {
    let mut sum = Vec3::zeros();
    match vectors {
        None => {
            for &c in row {
                let f = &faces[(c >> 2) as usize];
                sum += Vec3::from(f.normal) * f.weights[(c & 3) as usize];
            }
        }
        Some(vectors) => {
            for &c in row {
                let t = (c >> 2) as usize;
                sum += Vec3::from(vectors[t]) * faces[t].weights[(c & 3) as usize];
            }
        }
    }
    sum
}

/// The same with each addend cut to an integer: exact, so the order of the sum does not matter.
pub(crate) fn gather_fixed<R: Real>(
    faces: &[FaceTerms<R>],
    vectors: Option<&[[R; 3]]>,
    row: &[u32],
) -> Vec3<R> {
    let mut sum = [0_i64; 3];
    for &c in row {
        let (t, k) = ((c >> 2) as usize, (c & 3) as usize);
        let f = &faces[t];
        let v = vectors.map_or(f.normal, |x| x[t]);
        for (s, x) in sum.iter_mut().zip(v) {
            *s += to_fixed((x * f.weights[k]).to_double());
        }
    }
    Vec3::from(sum.map(|s| R::from_double(s as f64)))
}

fn to_fixed(x: f64) -> i64 {
    (x * FIXED_POINT_RANGE) as i64
}

/// Step 6 of MikkTSpace: face tangents projected into the plane of the normal, weighted by the angle between the
/// projected edges.
fn gather_mikk<R: Real>(
    bind: &TangentFramesBind,
    positions: &[[f32; 3]],
    tangents: &[[R; 3]],
    row: &[u32],
    n: Vec3<R>,
) -> Vec3<R> {
    let flat = |v: Vec3<R>| unit(v - n * n.dot(&v)).unwrap_or_else(Vec3::zeros);
    let mut sum = Vec3::zeros();
    for &c in row {
        let (t, k) = ((c >> 2) as usize, (c & 3) as usize);
        let tri = bind.topology.triangles()[t];
        let at = |i: usize| R::vec3(positions[tri[(k + i) % 3] as usize]);
        let angle = angle_between(flat(at(1) - at(0)), flat(at(2) - at(0)));
        sum += flat(Vec3::from(tangents[t])) * angle;
    }
    sum
}

/// Part of `t` perpendicular to the unit normal, unit; `None` where nothing is left of it.
#[inline]
pub(crate) fn gram_schmidt<R: Real>(t: Vec3<R>, n: Vec3<R>) -> Option<Vec3<R>> {
    let t = unit(t)?;
    let flat = t - n * n.dot(&t);
    // Less than this is what rounding leaves of a parallel vector.
    (flat.norm_squared() > R::from_double(1e-10))
        .then(|| unit(flat))
        .flatten()
}

/// Any unit vector perpendicular to the unit normal: the axis least along it, made perpendicular.
pub(crate) fn any_perpendicular<R: Real>(n: Vec3<R>) -> Vec3<R> {
    let axis = if n.z.abs() < R::from_double(0.5) {
        Vec3::z()
    } else {
        Vec3::x()
    };
    gram_schmidt(axis, n).unwrap_or_else(Vec3::x)
}

/// Direction of the group's reference edge in the plane of `n`.
fn reference_edge<R: Real>(
    bind: &TangentFramesBind,
    positions: &[[f32; 3]],
    group: usize,
    n: Vec3<R>,
) -> Vec3<R> {
    let [a, b] = bind.reference[group];
    let edge = (a != NO_VERTEX)
        .then(|| R::vec3(positions[b as usize]) - R::vec3(positions[a as usize]))
        .and_then(|e| gram_schmidt(e, n));
    edge.unwrap_or_else(|| any_perpendicular(n))
}

/// The same for the group of vertex `v`.
pub(super) fn reference_edge_at<R: Real>(
    bind: &TangentFramesBind,
    positions: &[[f32; 3]],
    v: usize,
    n: Vec3<R>,
) -> Vec3<R> {
    reference_edge(bind, positions, bind.group_of_vertex[v] as usize, n)
}

/// Normal of vertex `v` from the face terms of the current positions; always unit.
#[inline]
pub(crate) fn vertex_normal<R: Real>(
    bind: &TangentFramesBind,
    faces: &[FaceTerms<R>],
    positions: &[[f32; 3]],
    v: usize,
) -> Vec3<R> {
    let group = bind.group_of_vertex[v] as usize;
    let row = bind.normal_rows.row(group);
    let sum = if bind.config.normals == NormalMode::FixedPoint {
        gather_fixed(faces, None, row)
    } else {
        gather(faces, None, row)
    };
    let Some(n) = unit(sum) else {
        return R::vec3(bind.rest_normals[v]);
    };
    match &bind.local_normals {
        None => n,
        Some(local) => {
            let t = reference_edge(bind, positions, group, n);
            let [x, y, z] = local[v].map(R::from_single);
            unit(t * x + n.cross(&t) * y + n * z).unwrap_or(n)
        }
    }
}

/// Tangent of vertex `v` with bitangent sign, perpendicular to the unit normal `n`; always unit.
#[inline]
pub(crate) fn vertex_tangent<R: Real>(
    bind: &TangentFramesBind,
    faces: &[FaceTerms<R>],
    tangents: &[[R; 3]],
    positions: &[[f32; 3]],
    n: Vec3<R>,
    v: usize,
) -> [f32; 4] {
    let group = bind.group_of_vertex[v] as usize;
    let mut sign = 1.0;
    let mut direction = None;
    if let Some(uv) = &bind.uv {
        let r = uv.row_of_vertex[v] as usize;
        let row = uv.rows.row(r);
        sign = uv.signs[r];
        let sum = match (bind.config.tangents, bind.config.normals) {
            (TangentMode::Mikktspace, _) => gather_mikk(bind, positions, tangents, row, n),
            (_, NormalMode::FixedPoint) => gather_fixed(faces, Some(tangents), row),
            _ => gather(faces, Some(tangents), row),
        };
        direction = gram_schmidt(sum, n);
    }
    if let Some(local) = &bind.local_tangents {
        let [x, y, z, w] = local[v];
        let t = reference_edge(bind, positions, group, n);
        let [x, y, z] = [x, y, z].map(R::from_single);
        direction = gram_schmidt(t * x + n.cross(&t) * y + n * z, n);
        sign = w;
    }
    let t = direction.unwrap_or_else(|| reference_edge(bind, positions, group, n));
    let [x, y, z] = R::array3(t);
    [x, y, z, sign]
}
