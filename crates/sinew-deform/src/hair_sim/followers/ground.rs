//! The surface under the roots of followers: the skin if it is known, otherwise a plane.

use crate::wrap::Bvh;
use sinew_geom::{Vec3, WeldMap};

pub(super) type P = Vec3<f64>;

/// Other roots that a plane is laid through.
const NEIGHBOURS: usize = 8;
/// With fewer of them there is no plane.
const LEAST_NEIGHBOURS: usize = 3;
/// Variance across a plane, in that of its shorter side, above which roots lie in none.
const THICKEST_PLANE: f64 = 0.25;
/// Variance across a line, in that along it, below which roots lie on one.
const WIDEST_LINE: f64 = 1e-4;

/// A place on a surface and its normal, either way round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) point: P,
    pub(super) normal: P,
}

/// The skin that strands grow on, at rest, with a tree for searches.
#[derive(Debug)]
pub struct RootSkin {
    triangles: Vec<[u32; 3]>,
    faces: Vec<P>,
    /// Of vertices; those at one position have one.
    normals: Vec<P>,
    positions: Vec<P>,
    boxes: Bvh,
}

impl RootSkin {
    /// From vertices and triangles in scene space at bind. Triangles without area are left out.
    ///
    /// Normals are those of Max, *Weights for Computing Vertex Normals from Facet Normals*, 1999, which are exact on spheres. Vertices at
    /// one position share theirs.
    ///
    /// # Panics
    /// If a triangle names a vertex that does not exist.
    ///
    /// # Cost
    /// O(T log T) for `T` triangles; double precision.
    pub fn new(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> Self {
        let positions_64: Vec<P> = positions
            .iter()
            .map(|p| P::from(p.map(f64::from)))
            .collect();
        let corners = |t: &[u32; 3]| t.map(|v| positions_64[v as usize]);
        let face = |t: &[u32; 3]| {
            let [a, b, c] = corners(t);
            unit((b - a).cross(&(c - a)))
        };
        let has_area = |t: &&[u32; 3]| face(t).is_some();
        let triangles: Vec<[u32; 3]> = triangles.iter().filter(has_area).copied().collect();
        let faces: Vec<P> = triangles.iter().filter_map(face).collect();
        let all: Vec<[P; 3]> = triangles.iter().map(corners).collect();
        let welded = WeldMap::by_position(positions, 0.0);
        let mut sums = vec![P::zeros(); welded.first_vertex.len()];
        for (t, corners) in triangles.iter().zip(&all) {
            for k in 0..3 {
                let class = welded.class_of_vertex[t[k] as usize];
                let [at, next, last] = [0, 1, 2].map(|i| corners[(k + i) % 3]);
                let (a, b) = (next - at, last - at);
                sums[class as usize] += a.cross(&b) / (a.norm_squared() * b.norm_squared());
            }
        }
        let normal = |&class: &u32| unit(sums[class as usize]).unwrap_or_default();
        let order = (0..).take(all.len()).collect();
        Self {
            normals: welded.class_of_vertex.iter().map(normal).collect(),
            boxes: Bvh::build(all, order),
            positions: positions_64,
            triangles,
            faces,
        }
    }

    /// The triangle nearest to a point, no farther than `limit` metres: the vertices of its corners, and the barycentric coordinates of the
    /// nearest point. `None` if there is none.
    pub fn corners_at(&self, point: [f32; 3], limit: f32) -> Option<([u32; 3], [f64; 3])> {
        let (p, limit) = (P::from(point.map(f64::from)), f64::from(limit));
        let found = self.boxes.nearest(p, 1, limit * limit, |_| true);
        let hit = found.first()?;
        Some((self.triangles[hit.triangle as usize], hit.barycentric))
    }

    /// The nearest place no farther than `limit`, of triangles that face the same way as `side`, where there is one.
    pub(super) fn nearest(&self, p: P, limit: f64, side: Option<P>) -> Option<Place> {
        let is_there = |t: u32| side.is_none_or(|side| self.faces[t as usize].dot(&side) > 0.0);
        let found = self.boxes.nearest(p, 1, limit * limit, is_there);
        let hit = found.first()?;
        let corners = self.triangles[hit.triangle as usize].map(|v| v as usize);
        let mean = |of: &[P]| -> P {
            let corners = corners.iter().zip(hit.barycentric);
            corners.map(|(&v, share)| of[v] * share).sum()
        };
        let flat = self.faces[hit.triangle as usize];
        Some(Place {
            point: mean(&self.positions),
            normal: unit(mean(&self.normals)).unwrap_or(flat),
        })
    }
}

/// Roots of guides, and what lies between them.
pub(super) struct Neighbours {
    roots: Vec<P>,
    boxes: Bvh,
}

impl Neighbours {
    pub(super) fn new(roots: Vec<P>) -> Self {
        // A triangle of one point is as far off as that.
        let points: Vec<[P; 3]> = roots.iter().map(|&p| [p; 3]).collect();
        let order = (0..).take(points.len()).collect();
        Self {
            boxes: Bvh::build(points, order),
            roots,
        }
    }

    /// Median of the spaces that the eight roots around each have, were they spread evenly in a disc. `None` for less than two.
    pub(super) fn spacing(&self) -> Option<f64> {
        let others = NEIGHBOURS.min(self.roots.len().checked_sub(1)?);
        let spaces = self.roots.iter().map(|&at| {
            let found = self.boxes.nearest(at, others + 1, f64::MAX, |_| true);
            let far = found
                .iter()
                .map(|h| (self.roots[h.triangle as usize] - at).norm());
            far.fold(0.0, f64::max) * (std::f64::consts::PI / others as f64).sqrt()
        });
        let mut spaces: Vec<f64> = spaces.collect();
        spaces.sort_by(f64::total_cmp);
        (others > 0).then(|| spaces[spaces.len() / 2])
    }

    /// Normal of the plane that a root and those around it lie in; of roots on a line the one nearest to `along`. `None` where they lie in
    /// no plane, or there are too few.
    pub(super) fn normal(&self, root: usize, along: P) -> Option<P> {
        let at = self.roots[root];
        let found = self.boxes.nearest(at, NEIGHBOURS + 1, f64::MAX, |_| true);
        let offsets = found.iter().map(|h| self.roots[h.triangle as usize] - at);
        let others: Vec<P> = offsets.filter(|o| *o != P::zeros()).collect();
        if others.len() < LEAST_NEIGHBOURS {
            return None;
        }
        let spread: nalgebra::Matrix3<f64> = others.iter().map(|o| o * o.transpose()).sum();
        let axes = spread.symmetric_eigen();
        let mut order = [0, 1, 2];
        order.sort_by(|&a, &b| axes.eigenvalues[a].total_cmp(&axes.eigenvalues[b]));
        let [least, middle, most] = order.map(|i| axes.eigenvalues[i]);
        let axis = |i: usize| P::from(axes.eigenvectors.column(order[i]));
        if middle < WIDEST_LINE * most {
            let line = axis(2);
            return unit(along - line * line.dot(&along));
        }
        (least < THICKEST_PLANE * middle)
            .then(|| unit(axis(0)))
            .flatten()
    }
}

/// `None` for what has no direction.
pub(super) fn unit(v: P) -> Option<P> {
    let length = v.norm();
    (length > 1e-30 && length.is_finite()).then(|| v / length)
}

/// Two unit vectors across a unit vector, and each other.
pub(super) fn across(normal: P) -> [P; 2] {
    let other = if normal.x.abs() < 0.7 { P::x() } else { P::y() };
    let first = unit(normal.cross(&other)).unwrap_or_default();
    [first, normal.cross(&first)]
}

/// `v` turned on the shortest way that takes the unit vector `from` to `to`; as it is where these are opposite.
pub(super) fn turned(v: P, from: P, to: P) -> P {
    let (axis, cosine) = (from.cross(&to), from.dot(&to));
    if cosine < -0.999 {
        return v;
    }
    v + axis.cross(&v) + axis.cross(&axis.cross(&v)) / (1.0 + cosine)
}
