//! Mode `cage`: mean value coordinates of a closed triangle mesh.
//!
//! Ju, Schaefer and Warren, "Mean Value Coordinates for Closed Triangular Meshes", 2005. Around a position `x`, a triangle covers a part of
//! the unit sphere with corners `u_i`. Its mean vector is `m = Σ θ_i n_i / 2`, with the angle `θ_i` of the edge opposite to corner `i`
//! and the unit normal `n_i` of the plane through that edge and `x`. Corner `i` gets the weight `(n_i m) / (n_i u_i d_i)` for its distance
//! `d_i`. Their paper has the same weights in angles. Angles and normals belong to edges here, which two triangles share.

use super::WrapMode;
use super::bind::WrapError;
use super::bvh::Bvh;
use super::points::{DriverPoints, Share, weld};
use sinew_geom::{Mesh, Real, Vec3};
use std::collections::BTreeMap;

/// Below this sine, a position lies in the plane of a triangle, which then has no weight (it would be of this size).
const IN_PLANE: f64 = 1e-8;

/// Angles of a triangle that sum to a full circle within this contain the position.
const FULL_CIRCLE: f64 = 1e-8;

/// Distance from a corner, as a share of the size of the cage, at which a position is the corner.
const AT_CORNER: f64 = 1e-9;

/// Distance over which gradients are measured, as a share of the size of the cage.
const STEP: f64 = 1e-5;

/// A cage without more volume than this share of the cube of its size is flat.
const FLAT: f64 = 1e-9;

/// A triangle: its corners, and for each corner the opposite edge, with -1 where the edge runs the other way.
#[derive(Debug)]
struct Face {
    corners: [usize; 3],
    edges: [(usize, f64); 3],
}

#[derive(Debug)]
pub(super) struct Cage {
    points: Vec<Vec3<f64>>,
    edges: Vec<[usize; 2]>,
    faces: Vec<Face>,
    /// Diagonal of the bounding box, metres.
    size: f64,
}

/// What coordinates of one position need.
#[derive(Debug)]
pub(super) struct CageScratch {
    directions: Vec<Vec3<f64>>,
    distances: Vec<f64>,
    /// Unit normal and angle of each edge.
    arcs: Vec<(Vec3<f64>, f64)>,
    pub(super) coordinates: Vec<f64>,
}

impl Cage {
    /// Checks that the driver is closed.
    pub(super) fn new(driver: &Mesh, points: &DriverPoints) -> Result<Self, WrapError> {
        let weld = weld(driver, WrapMode::Cage);
        let mut point_of_class = vec![0; weld.class_count()];
        for (i, v) in points.vertices.iter().enumerate() {
            point_of_class[weld.class_of_vertex[*v as usize] as usize] = i;
        }
        let point = |v: u32| point_of_class[weld.class_of_vertex[v as usize] as usize];
        let triangles = driver.topology.triangles().iter().map(|t| t.map(point));
        // Triangles that welding has flattened have no area.
        let triangles: Vec<[usize; 3]> = triangles
            .filter(|[a, b, c]| a != b && b != c && c != a)
            .collect();
        let edges = closed_edges(&triangles, points)?;
        let index = |a: usize, b: usize| {
            let at = edges.binary_search(&[a.min(b), a.max(b)]);
            (at.unwrap_or(0), if a < b { 1.0 } else { -1.0 })
        };
        let face = |&[a, b, c]: &[usize; 3]| Face {
            corners: [a, b, c],
            edges: [index(b, c), index(c, a), index(a, b)],
        };
        let (low, high) = sinew_geom::bounds(&driver.positions).unwrap_or_default();
        let this = Self {
            faces: triangles.iter().map(face).collect(),
            edges,
            points: points.positions.clone(),
            size: (f64::vec3(high) - f64::vec3(low)).norm(),
        };
        match this.volume().abs() > FLAT * this.size.powi(3) {
            true => Ok(this),
            false => Err(WrapError::FlatCage),
        }
    }

    fn volume(&self) -> f64 {
        let origin = self.points[0];
        let of = |f: &Face| {
            let [a, b, c] = f.corners.map(|i| self.points[i] - origin);
            a.dot(&b.cross(&c)) / 6.0
        };
        self.faces.iter().map(of).sum()
    }

    /// A tree of its triangles.
    pub(super) fn tree(&self) -> Bvh {
        let corners: Vec<_> = self
            .faces
            .iter()
            .map(|f| f.corners.map(|i| self.points[i]))
            .collect();
        let order = (0..sinew_geom::index32(corners.len())).collect();
        Bvh::build(corners, order)
    }

    pub(super) fn new_scratch(&self) -> CageScratch {
        CageScratch {
            directions: vec![Vec3::zeros(); self.points.len()],
            distances: vec![0.0; self.points.len()],
            arcs: vec![(Vec3::zeros(), 0.0); self.edges.len()],
            coordinates: vec![0.0; self.points.len()],
        }
    }

    /// Coordinates of a position and their gradients. At the edges of the cage, where coordinates have no gradient, it is that of a mean
    /// over all directions.
    pub(super) fn shares(&self, p: Vec3<f64>, scratch: &mut CageScratch, out: &mut [Share]) {
        self.coordinates(p, scratch);
        for (share, w) in out.iter_mut().zip(&scratch.coordinates) {
            share.weight = *w;
            share.gradient = Vec3::zeros();
        }
        // Corners of a regular tetrahedron: Σ t = 0 and Σ t tᵀ = 4 I.
        let corners = [
            Vec3::new(1.0, 1.0, 1.0),
            Vec3::new(1.0, -1.0, -1.0),
            Vec3::new(-1.0, 1.0, -1.0),
            Vec3::new(-1.0, -1.0, 1.0),
        ];
        let step = STEP * self.size;
        for t in corners {
            self.coordinates(p + t * step, scratch);
            for (share, w) in out.iter_mut().zip(&scratch.coordinates) {
                share.gradient += t * (w / (4.0 * step));
            }
        }
    }

    /// Writes the coordinates of a position, which sum to 1.
    pub(super) fn coordinates(&self, p: Vec3<f64>, scratch: &mut CageScratch) {
        let CageScratch {
            directions,
            distances,
            arcs,
            coordinates,
        } = scratch;
        coordinates.fill(0.0);
        for (i, q) in self.points.iter().enumerate() {
            let away = q - p;
            distances[i] = away.norm();
            if distances[i] <= AT_CORNER * self.size {
                coordinates[i] = 1.0;
                return;
            }
            directions[i] = away / distances[i];
        }
        for (arc, [a, b]) in arcs.iter_mut().zip(&self.edges) {
            let (u, v) = (directions[*a], directions[*b]);
            let cross = u.cross(&v);
            let sine = cross.norm();
            let normal = if sine > 0.0 { cross / sine } else { cross };
            *arc = (normal, sine.atan2(u.dot(&v)));
        }
        for face in &self.faces {
            let angles = face.edges.map(|(e, _)| arcs[e].1);
            let circle = angles.iter().sum::<f64>();
            if circle > std::f64::consts::TAU - FULL_CIRCLE {
                coordinates.fill(0.0);
                return on_face(face, angles, distances, coordinates);
            }
            let normals = face.edges.map(|(e, sign)| arcs[e].0 * sign);
            let mean = (0..3).map(|k| normals[k] * angles[k]).sum::<Vec3<f64>>() * 0.5;
            let sines = [0, 1, 2].map(|k| normals[k].dot(&directions[face.corners[k]]));
            if sines.iter().any(|s| s.abs() <= IN_PLANE) {
                continue;
            }
            for (k, &i) in face.corners.iter().enumerate() {
                coordinates[i] += normals[k].dot(&mean) / (sines[k] * distances[i]);
            }
        }
        let sum: f64 = coordinates.iter().sum();
        coordinates.iter_mut().for_each(|w| *w /= sum);
    }
}

/// Barycentric coordinates of a position on a triangle: areas opposite to the corners.
fn on_face(face: &Face, angles: [f64; 3], distances: &[f64], coordinates: &mut [f64]) {
    let [a, b, c] = face.corners.map(|i| distances[i]);
    let areas = [
        angles[0].sin() * b * c,
        angles[1].sin() * c * a,
        angles[2].sin() * a * b,
    ];
    let sum: f64 = areas.iter().sum();
    for (i, area) in face.corners.into_iter().zip(areas) {
        coordinates[i] = area / sum;
    }
}

/// The edges, lower point first, in order. Each must be used once in each direction.
fn closed_edges(
    triangles: &[[usize; 3]],
    points: &DriverPoints,
) -> Result<Vec<[usize; 2]>, WrapError> {
    let mut uses: BTreeMap<[usize; 2], [usize; 2]> = BTreeMap::new();
    for &[a, b, c] in triangles {
        for [a, b] in [[a, b], [b, c], [c, a]] {
            uses.entry([a.min(b), a.max(b)]).or_default()[usize::from(a > b)] += 1;
        }
    }
    for ([a, b], [along, back]) in &uses {
        if along != back || *along == 0 {
            return Err(WrapError::NotClosed {
                vertices: [points.vertices[*a], points.vertices[*b]],
                position: f64::array3((points.positions[*a] + points.positions[*b]) * 0.5),
                along: *along,
                back: *back,
            });
        }
    }
    Ok(uses.into_keys().collect())
}
