//! Deletes faces that touch given surfaces: the underside of a puddle, what leans on a wall.
//!
//! A face touches a surface when its three corners and its centroid all lie within a distance of that one surface.
//! Distances are to planes, endless, or to the nearest point of a triangle mesh (Ericson, *Real-Time Collision
//! Detection*, 5.1.5), found in a tree of boxes. Faces next to the contact that are smaller than the distance touch, too.

use super::faces::{self, corners};
use super::vector::{Point, centroid, unit, wide};
use super::{PrepareError, expect};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sinew_geom::Mesh;
use sinew_geom::vec3::{add, dot, length, scale, sub};

/// A plane.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plane {
    /// A point of it, metres.
    pub point: [f32; 3],
    /// Its normal, of any length but zero; points away from what lies behind it.
    pub normal: [f32; 3],
}

/// A triangle mesh, for its place only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Surface {
    /// Vertices, metres.
    pub positions: Vec<[f32; 3]>,
    /// Corner indices.
    pub triangles: Vec<[u32; 3]>,
}

impl From<&Mesh> for Surface {
    fn from(mesh: &Mesh) -> Self {
        Self {
            positions: mesh.positions.clone(),
            triangles: mesh.topology.triangles().to_vec(),
        }
    }
}

/// Which faces touch what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TouchingSettings {
    /// Planes to touch.
    pub planes: Vec<Plane>,
    /// Meshes to touch.
    pub surfaces: Vec<Surface>,
    /// How near counts as touching, metres; not negative; default 1 mm.
    pub distance: f32,
    /// Whether faces behind a plane count as touching it, however deep: for liquid that sank into the floor. Default no.
    pub behind_planes: bool,
}

impl Default for TouchingSettings {
    fn default() -> Self {
        Self {
            planes: Vec::new(),
            surfaces: Vec::new(),
            distance: 1e-3,
            behind_planes: false,
        }
    }
}

impl TouchingSettings {
    pub(super) fn check(&self) -> Result<(), PrepareError> {
        let fine = self.distance >= 0.0 && self.distance.is_finite();
        expect(
            fine,
            "touching.distance",
            self.distance,
            "a finite number, at least 0",
        )?;
        let bad =
            |p: &Plane| unit(wide(p.normal)).is_none() || !p.point.iter().all(|c| c.is_finite());
        if let Some(plane) = self.planes.iter().position(bad) {
            return Err(PrepareError::Plane { plane });
        }
        let mut surfaces = self.surfaces.iter().enumerate();
        surfaces.try_for_each(|(s, surface)| check_surface(s, surface))
    }
}

fn check_surface(surface: usize, given: &Surface) -> Result<(), PrepareError> {
    let bad = |v: &u32| {
        let corner = given.positions.get(*v as usize);
        corner.is_none_or(|p| !p.iter().all(|c| c.is_finite()))
    };
    let triangle = given.triangles.iter().position(|t| t.iter().any(bad));
    triangle.map_or(Ok(()), |triangle| {
        Err(PrepareError::Surface { surface, triangle })
    })
}

/// Which faces touched something.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct TouchingReport {
    /// Faces before.
    pub faces_before: usize,
    /// Faces that were deleted.
    pub faces_deleted: usize,
    /// How many of them touch each plane; a face may touch several.
    pub on_planes: Vec<usize>,
    /// How many of them touch each surface; a face may touch several.
    pub on_surfaces: Vec<usize>,
}

/// Deletes the faces of `mesh` that touch something.
///
/// # Cost
/// `O(faces)` for a plane, `O(triangles log triangles + faces log triangles)` for a surface, spread over threads.
pub(super) fn delete(mesh: &mut Mesh, settings: &TouchingSettings) -> TouchingReport {
    let mut keep = vec![true; mesh.topology.triangles().len()];
    let distance = f64::from(settings.distance);
    let mut on_planes = Vec::new();
    for plane in &settings.planes {
        let side = Side::of(plane, distance, settings.behind_planes);
        on_planes.push(mark(mesh, &mut keep, |p| side.touches(p)));
    }
    let mut on_surfaces = Vec::new();
    for surface in &settings.surfaces {
        let tree = Tree::new(surface);
        on_surfaces.push(mark(mesh, &mut keep, |p| tree.is_within(p, distance)));
    }
    TouchingReport {
        faces_before: keep.len(),
        faces_deleted: faces::keep_faces(mesh, &keep),
        on_planes,
        on_surfaces,
    }
}

/// Unmarks the faces whose corners and centroid all touch; returns how many those are.
fn mark(mesh: &Mesh, keep: &mut [bool], touches: impl Fn(Point) -> bool + Sync) -> usize {
    let face = |t: &[u32; 3]| {
        let corners = corners(mesh, t);
        corners
            .into_iter()
            .chain([centroid(&corners)])
            .all(&touches)
    };
    let triangles = mesh.topology.triangles().par_iter();
    let touching: Vec<bool> = triangles.map(face).collect();
    keep.iter_mut().zip(&touching).for_each(|(k, t)| *k &= !t);
    touching.into_iter().filter(|t| *t).count()
}

/// A plane with what counts as touching it.
struct Side {
    point: Point,
    normal: Point,
    /// Signed distances that touch.
    range: std::ops::RangeInclusive<f64>,
}

impl Side {
    fn of(plane: &Plane, distance: f64, behind: bool) -> Self {
        let low = if behind { f64::NEG_INFINITY } else { -distance };
        Self {
            point: wide(plane.point),
            normal: unit(wide(plane.normal)).unwrap_or([0.0, 1.0, 0.0]),
            range: low..=distance,
        }
    }

    fn touches(&self, p: Point) -> bool {
        self.range.contains(&dot(sub(p, self.point), self.normal))
    }
}

/// Triangles of a leaf of the tree.
const LEAF: usize = 4;

/// A box along the axes.
#[derive(Clone, Copy)]
struct Bounds {
    low: Point,
    high: Point,
}

impl Bounds {
    fn of(triangles: &[[Point; 3]]) -> Self {
        let mut bounds = Self {
            low: [f64::INFINITY; 3],
            high: [f64::NEG_INFINITY; 3],
        };
        for p in triangles.iter().flatten() {
            bounds.low = std::array::from_fn(|c| bounds.low[c].min(p[c]));
            bounds.high = std::array::from_fn(|c| bounds.high[c].max(p[c]));
        }
        bounds
    }

    fn distance(&self, p: Point) -> f64 {
        let outside = |c: usize| (self.low[c] - p[c]).max(p[c] - self.high[c]).max(0.0);
        length([outside(0), outside(1), outside(2)])
    }

    fn longest_axis(&self) -> usize {
        let size = sub(self.high, self.low);
        (0..3).fold(0, |best, c| if size[c] > size[best] { c } else { best })
    }
}

/// A node of the tree: its box and, for inner ones, the node of its second half (the first half follows at once).
struct Node {
    bounds: Bounds,
    triangles: std::ops::Range<usize>,
    second: Option<usize>,
}

/// Triangles in a tree of boxes, halved along the longest side.
struct Tree {
    triangles: Vec<[Point; 3]>,
    nodes: Vec<Node>,
}

impl Tree {
    fn new(surface: &Surface) -> Self {
        let corner = |v: u32| wide(surface.positions[v as usize]);
        let triangles: Vec<_> = surface.triangles.iter().map(|t| t.map(corner)).collect();
        let mut tree = Self {
            nodes: Vec::with_capacity(triangles.len()),
            triangles,
        };
        let all = 0..tree.triangles.len();
        tree.grow(all);
        tree
    }

    /// Adds the node of a run of triangles. The depth is the logarithm of their number.
    fn grow(&mut self, run: std::ops::Range<usize>) {
        let triangles = &mut self.triangles[run.clone()];
        let bounds = Bounds::of(triangles);
        let node = self.nodes.len();
        self.nodes.push(Node {
            bounds,
            triangles: run.clone(),
            second: None,
        });
        if run.len() <= LEAF {
            return;
        }
        let axis = bounds.longest_axis();
        let half = run.len() / 2;
        let key = |t: &[Point; 3]| t[0][axis] + t[1][axis] + t[2][axis];
        triangles.select_nth_unstable_by(half, |a, b| key(a).total_cmp(&key(b)));
        let middle = run.start + half;
        self.grow(run.start..middle);
        self.nodes[node].second = Some(self.nodes.len());
        self.grow(middle..run.end);
    }

    /// Whether any triangle is within `distance` of `p`.
    fn is_within(&self, p: Point, distance: f64) -> bool {
        self.node_is_within(0, p, distance)
    }

    fn node_is_within(&self, node: usize, p: Point, distance: f64) -> bool {
        let Node {
            bounds,
            triangles,
            second,
        } = &self.nodes[node];
        if bounds.distance(p) > distance {
            return false;
        }
        let Some(second) = *second else {
            let mut leaf = self.triangles[triangles.clone()].iter();
            return leaf.any(|t| length(sub(nearest_point(t, p), p)) <= distance);
        };
        self.node_is_within(node + 1, p, distance) || self.node_is_within(second, p, distance)
    }
}

/// The point of a triangle nearest to `p`; triangles without area count as their edges.
fn nearest_point(t: &[Point; 3], p: Point) -> Point {
    if let Some(inside) = project_inside(t, p) {
        return inside;
    }
    let on_edges = [(0, 1), (1, 2), (2, 0)].map(|(i, j)| nearest_on_edge(t[i], t[j], p));
    let distance = |q: &Point| length(sub(*q, p));
    let [a, b, c] = on_edges;
    let nearer = |a: Point, b: Point| if distance(&b) < distance(&a) { b } else { a };
    nearer(nearer(a, b), c)
}

/// The foot of `p` on the plane of a triangle, where it falls inside.
fn project_inside(t: &[Point; 3], p: Point) -> Option<Point> {
    let (u, v, w) = (sub(t[1], t[0]), sub(t[2], t[0]), sub(p, t[0]));
    let (uu, uv, vv) = (dot(u, u), dot(u, v), dot(v, v));
    let (wu, wv) = (dot(w, u), dot(w, v));
    let area = uu * vv - uv * uv;
    // No area in double precision: the edges say it all.
    if area <= 1e-14 * uu * vv {
        return None;
    }
    let s = (vv * wu - uv * wv) / area;
    let r = (uu * wv - uv * wu) / area;
    let inside = s >= 0.0 && r >= 0.0 && s + r <= 1.0;
    inside.then(|| add(t[0], add(scale(u, s), scale(v, r))))
}

fn nearest_on_edge(a: Point, b: Point, p: Point) -> Point {
    let along = sub(b, a);
    let square = dot(along, along);
    let s = if square > 0.0 {
        dot(sub(p, a), along) / square
    } else {
        0.0
    };
    add(a, scale(along, s.clamp(0.0, 1.0)))
}
