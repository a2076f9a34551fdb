//! The truth: one point, every triangle, scalar. Ericson's closest point ("Real-Time Collision Detection", 2005, section
//! 5.1.5), Baerentzen and Aanaes' pseudonormals ("Signed Distance Computation Using the Angle Weighted
//! Pseudonormal", 2005) and Van Oosterom and Strackee's solid angles ("The Solid Angle of a Plane Triangle", 1983).

use super::bind::SdfBind;
use sinew_geom::{Real, Vec3};

/// Part of a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Its inside.
    Face,
    /// Between corner `0` and the next.
    Edge(usize),
    /// A corner.
    Vertex(usize),
}

/// The point of a triangle that is closest to `p`, and what it lies on. A triangle without area is its three edges.
pub(crate) fn closest_point<R: Real>(p: Vec3<R>, corners: [Vec3<R>; 3]) -> (Vec3<R>, Feature) {
    if own_normal(&corners) != Vec3::zeros() {
        return closest_of_face(p, corners);
    }
    let edges = [0, 1, 2].map(|k| closest_of_edge(p, &corners, k));
    let nearer = |a: (Vec3<R>, Feature), b: (Vec3<R>, Feature)| {
        if (b.0 - p).norm() < (a.0 - p).norm() {
            b
        } else {
            a
        }
    };
    nearer(nearer(edges[0], edges[1]), edges[2])
}

fn closest_of_edge<R: Real>(p: Vec3<R>, corners: &[Vec3<R>; 3], k: usize) -> (Vec3<R>, Feature) {
    let next = (k + 1) % 3;
    let (a, ab) = (corners[k], corners[next] - corners[k]);
    let (along, square) = (ab.dot(&(p - a)), ab.norm_squared());
    if along <= R::zero() || square <= R::zero() {
        (a, Feature::Vertex(k))
    } else if along >= square {
        (corners[next], Feature::Vertex(next))
    } else {
        (a + ab * (along / square), Feature::Edge(k))
    }
}

fn closest_of_face<R: Real>(p: Vec3<R>, [a, b, c]: [Vec3<R>; 3]) -> (Vec3<R>, Feature) {
    let zero = R::zero();
    let (ab, ac) = (b - a, c - a);
    let (d1, d2) = (ab.dot(&(p - a)), ac.dot(&(p - a)));
    if d1 <= zero && d2 <= zero {
        return (a, Feature::Vertex(0));
    }
    let (d3, d4) = (ab.dot(&(p - b)), ac.dot(&(p - b)));
    if d3 >= zero && d4 <= d3 {
        return (b, Feature::Vertex(1));
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= zero && d1 >= zero && d3 <= zero {
        return (a + ab * (d1 / (d1 - d3)), Feature::Edge(0));
    }
    let (d5, d6) = (ab.dot(&(p - c)), ac.dot(&(p - c)));
    if d6 >= zero && d5 <= d6 {
        return (c, Feature::Vertex(2));
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= zero && d2 >= zero && d6 <= zero {
        return (a + ac * (d2 / (d2 - d6)), Feature::Edge(2));
    }
    let va = d3 * d6 - d5 * d4;
    let (to_c, from_c) = (d4 - d3, d5 - d6);
    if va <= zero && to_c >= zero && from_c >= zero {
        return (b + (c - b) * (to_c / (to_c + from_c)), Feature::Edge(1));
    }
    let sum = va + vb + vc;
    (a + ab * (vb / sum) + ac * (vc / sum), Feature::Face)
}

/// The closest point of a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest<R: Real> {
    /// Triangle of the topology; the lowest where several are as close.
    pub triangle: usize,
    /// The closest point.
    pub point: Vec3<R>,
    /// What it lies on.
    pub feature: Feature,
    /// Without sign.
    pub distance: R,
}

/// A mesh at one moment, with the normals that signs need.
#[derive(Clone, Debug)]
pub struct ReferenceMesh<R: Real> {
    corners: Vec<[Vec3<R>; 3]>,
    /// Of faces, of edges from corner k to the next, of corners.
    normals: Vec<[Vec3<R>; 7]>,
}

impl<R: Real> ReferenceMesh<R> {
    /// Reads the topology that `bind` found, and positions in any frame. Linear time.
    pub fn new(bind: &SdfBind, positions: &[[f32; 3]]) -> Self {
        let corners: Vec<[Vec3<R>; 3]> = (bind.triangles.iter())
            .map(|t| t.map(|v| point(positions[v as usize])))
            .collect();
        let faces = face_normals(bind, &corners);
        let normals = (0..corners.len())
            .map(|t| normals_of(bind, &corners, &faces, t))
            .collect();
        Self { corners, normals }
    }

    /// Corners of a triangle.
    pub fn corners(&self, triangle: usize) -> [Vec3<R>; 3] {
        self.corners[triangle]
    }

    /// Tries every triangle.
    pub fn nearest(&self, p: Vec3<R>) -> Option<Nearest<R>> {
        self.nearest_of(p, 0..self.corners.len())
    }

    /// Tries some triangles.
    pub fn nearest_of(
        &self,
        p: Vec3<R>,
        triangles: impl Iterator<Item = usize>,
    ) -> Option<Nearest<R>> {
        let mut best: Option<Nearest<R>> = None;
        for triangle in triangles {
            let (point, feature) = closest_point(p, self.corners[triangle]);
            let distance = (p - point).norm();
            if best.is_none_or(|b| distance < b.distance) {
                best = Some(Nearest {
                    triangle,
                    point,
                    feature,
                    distance,
                });
            }
        }
        best
    }

    /// Whether `p` is behind the pseudonormal of what it is nearest to. A tie is outside.
    pub fn is_behind(&self, p: Vec3<R>, nearest: &Nearest<R>) -> bool {
        let n = &self.normals[nearest.triangle];
        let normal = match nearest.feature {
            Feature::Face => n[0],
            Feature::Edge(k) => n[1 + k],
            Feature::Vertex(k) => n[4 + k],
        };
        (p - nearest.point).dot(&normal) < R::zero()
    }

    /// Generalised winding number: 1 inside a closed mesh, 0 outside, a fraction near holes.
    pub fn winding_number(&self, p: Vec3<R>) -> R {
        let sum = (self.corners.iter()).fold(R::zero(), |sum, c| sum + solid_angle(p, *c));
        sum / (R::two_pi() + R::two_pi())
    }
}

/// Signed solid angle of a triangle seen from `p`, positive from behind.
pub(crate) fn solid_angle<R: Real>(p: Vec3<R>, corners: [Vec3<R>; 3]) -> R {
    let [a, b, c] = corners.map(|v| v - p);
    let (la, lb, lc) = (a.norm(), b.norm(), c.norm());
    let volume = a.dot(&b.cross(&c));
    let denominator = la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb;
    let half = volume.atan2(denominator);
    half + half
}

fn point<R: Real>(p: [f32; 3]) -> Vec3<R> {
    Vec3::from(p.map(|c| R::from_single(c)))
}

fn unit_or_zero<R: Real>(v: Vec3<R>) -> Vec3<R> {
    v.try_normalize(R::from_double(1e-30))
        .unwrap_or_else(Vec3::zeros)
}

/// Unit normals. A triangle without area takes the mean of its neighbours', so that the surface has no gap in signs.
fn face_normals<R: Real>(bind: &SdfBind, corners: &[[Vec3<R>; 3]]) -> Vec<Vec3<R>> {
    let own: Vec<Vec3<R>> = corners.iter().map(own_normal).collect();
    (0..own.len())
        .map(|t| {
            if own[t] != Vec3::zeros() {
                return own[t];
            }
            let around = bind.edges_of(t).into_iter();
            let sum = around
                .flat_map(|e| bind.triangles_of_edge(e))
                .map(|&n| own[n as usize]);
            unit_or_zero(sum.fold(Vec3::zeros(), |s, n| s + n))
        })
        .collect()
}

fn own_normal<R: Real>([a, b, c]: &[Vec3<R>; 3]) -> Vec3<R> {
    let normal = (b - a).cross(&(c - a));
    let longest = (b - a).norm().max((c - b).norm()).max((a - c).norm());
    // The same limit as in the fast kernels: flatter ones have no plane in single precision.
    if normal.norm() <= R::from_double(1e-5) * longest * longest {
        return Vec3::zeros();
    }
    unit_or_zero(normal)
}

fn normals_of<R: Real>(
    bind: &SdfBind,
    corners: &[[Vec3<R>; 3]],
    faces: &[Vec3<R>],
    triangle: usize,
) -> [Vec3<R>; 7] {
    let edges = bind.edges_of(triangle).map(|e| {
        let around = bind.triangles_of_edge(e).iter();
        around.fold(Vec3::zeros(), |s, &t| s + faces[t as usize])
    });
    let vertices = bind.classes_of(triangle).map(|class| {
        let fan = bind.corners_of_class(class).iter();
        fan.fold(Vec3::zeros(), |s, &corner| {
            let (t, k) = (corner as usize / 3, corner as usize % 3);
            s + faces[t] * corner_angle(&corners[t], k)
        })
    });
    let [e0, e1, e2] = edges;
    let [v0, v1, v2] = vertices;
    [faces[triangle], e0, e1, e2, v0, v1, v2]
}

fn corner_angle<R: Real>(corners: &[Vec3<R>; 3], k: usize) -> R {
    let (a, b, c) = (corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3]);
    if own_normal(corners) == Vec3::zeros() {
        return R::zero();
    }
    (b - a).angle(&(c - a))
}
