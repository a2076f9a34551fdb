//! Setup: the closest points of the driver for each vertex.
//!
//! Slivers of the driver are left out, because their frames magnify rounding. In mode `surface`, Newton's method solves
//! `p = x(u, v) + h n(u, v)` with the normalized interpolated normal `n`, on each of the eight closest triangles, from nearest to farthest.
//! The first solution inside of its triangle counts, and one whose normal stands up from the triangle is preferred. Without a solution
//! (beyond a border, deep in a fold), the closest point is used. Everything runs in double precision. Modes in which points of the driver
//! move a vertex: `points.rs`.

use super::bvh::{Bvh, Hit};
use super::points::PointBind;
use super::reference::{DriverTriangle, local_frame};
use super::{WrapConfig, WrapMode};
use crate::tangent_frames::{
    HardEdges, TangentFramesBind, TangentFramesConfig, TangentMode, compute_normals, unit,
};
use crate::{BindWatch, NodeError, Par, Stopped};
use serde::{Deserialize, Serialize};
use sinew_geom::{Mat3, Mesh, Real, Topology, Vec3, index32};
use std::sync::Arc;

/// How many nearby triangles are tried for a point on the interpolated surface.
const CANDIDATES: usize = 8;

/// Vertices between two reports of setup.
pub(super) const VERTICES_A_REPORT: usize = 1024;

/// Why setup refused.
#[derive(Debug, thiserror::Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum WrapError {
    /// The driver has no triangle with area.
    #[error("the driver has {triangles} triangles, but none of them has an area")]
    EmptyDriver {
        /// Number of triangles.
        triangles: usize,
    },
    /// An attribute has another length than its mesh has vertices.
    #[error("{mesh}: found {found} positions, expected one for each of {expected} vertices")]
    Length {
        /// Which mesh.
        mesh: &'static str,
        /// Number of positions.
        found: usize,
        /// Number of vertices.
        expected: usize,
    },
    /// The driver has no vertices.
    #[error("the driver has no vertices; link a mesh with at least one")]
    NoPoints,
    /// Mode `rbf` or `cage` with too many points.
    #[error(
        "mode `{mode}` binds {vertices} vertices to {points} points of the driver, which takes {megabytes} MB; \
         expected at most {most} points for this mesh; simplify the driver, or use mode `surface` or `points`"
    )]
    TooLarge {
        /// The mode.
        mode: &'static str,
        /// Points of the driver at different positions.
        points: usize,
        /// Vertices of the mesh.
        vertices: usize,
        /// Memory that the weights would take.
        megabytes: usize,
        /// The largest number of points.
        most: usize,
    },
    /// Mode `rbf`: points too close to each other.
    #[error(
        "mode `rbf` cannot solve for the {points} points of the driver: the condition number is {condition:.1e}, expected at most 1e13; \
         remove points that are almost at the same position, or use mode `points`"
    )]
    Singular {
        /// Points of the driver at different positions.
        points: usize,
        /// Condition number of the system in the 1-norm.
        condition: f64,
    },
    /// Mode `cage`: the driver has a hole, or triangles that face each other.
    #[error(
        "the driver is not closed: triangles use the edge between vertices {} and {}, around ({}, {}, {}) m, {along} times forwards and \
         {back} times backwards, expected as often; fill holes and orient all triangles alike, or use mode `rbf` or `surface`",
        .vertices[0], .vertices[1], .position[0], .position[1], .position[2]
    )]
    NotClosed {
        /// Vertices of the driver at both ends of the edge.
        vertices: [u32; 2],
        /// The middle of the edge, metres.
        position: [f32; 3],
        /// Triangles that use it from the first to the second vertex.
        along: usize,
        /// Triangles that use it the other way.
        back: usize,
    },
    /// Mode `cage`: a cage without an inside.
    #[error(
        "the driver encloses no volume; mode `cage` needs a closed mesh around the vertices, or use mode `surface`"
    )]
    FlatCage,
    /// Saved bytes do not belong to these meshes and this configuration.
    #[error("{0}")]
    Saved(String),
    /// The caller stopped setup.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl From<WrapError> for NodeError {
    fn from(e: WrapError) -> Self {
        match e {
            WrapError::Saved(m) => Self::Restore(m),
            WrapError::Stopped(stopped) => Self::Stopped(stopped),
            e => Self::Bind(Box::new(e)),
        }
    }
}

/// One point on the driver and the inverse of its rest frame. 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Binding {
    /// Triangle of the driver.
    pub triangle: u32,
    /// Barycentric coordinates of corners 1 and 2; that of corner 0 is the rest to 1.
    pub barycentric: [f32; 2],
    /// Weight of this binding; those of a vertex sum to 1.
    pub weight: f32,
    /// The point at rest in scene space, metres.
    pub origin: [f32; 3],
    /// Columns of the inverse of the frame at rest.
    pub local_from_rest: [[f32; 3]; 3],
}

/// Setup results for two meshes and a configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WrapBind {
    #[serde(skip)]
    pub(super) driver: Arc<Topology>,
    /// Vertex normals of the driver, in [`WrapMode::Surface`].
    #[serde(skip)]
    pub(super) normals: Option<TangentFramesBind>,
    pub(super) config: WrapConfig,
    /// `vertex_count + 1` offsets into `bindings`; a vertex without any stays where it is.
    pub(super) offsets: Vec<u32>,
    pub(super) bindings: Vec<Binding>,
    /// Strength of each vertex by its distance.
    pub(super) strength: Vec<f32>,
    /// What moves the vertices in [`WrapMode::Points`], [`WrapMode::Rbf`] and [`WrapMode::Cage`]; there are no bindings then.
    pub(super) points: Option<PointBind>,
}

struct Rest {
    bvh: Bvh,
    triangles: Vec<DriverTriangle<f64>>,
    config: WrapConfig,
    /// Squared, m².
    limit: f64,
    radius: f64,
}

impl WrapBind {
    /// Binds the rest points of `mesh` to the rest surface of `driver`, both in scene space.
    ///
    /// # Errors
    /// [`WrapError`] if the driver does not suit the mode, or an attribute does not fit its mesh.
    ///
    /// # Cost
    /// O((V + T) log T) for `V` points and `T` triangles in practice, one thread. With `D` points of the driver, [`WrapMode::Rbf`] is
    /// O(D³ + V D²) and [`WrapMode::Cage`] is O(V T); both hold 16 V D bytes.
    pub fn new(mesh: &Mesh, driver: &Mesh, config: WrapConfig) -> Result<Self, WrapError> {
        Self::new_watched(mesh, driver, config, Par::Seq, &BindWatch::NONE)
    }

    /// As [`Self::new`], with threads for [`WrapMode::Rbf`] and [`WrapMode::Cage`], progress and cancellation: it asks every 1024 vertices,
    /// and every 32 in those modes.
    ///
    /// # Errors
    /// As [`Self::new`]; [`WrapError::Stopped`].
    pub fn new_watched(
        mesh: &Mesh,
        driver: &Mesh,
        config: WrapConfig,
        par: Par,
        watch: &BindWatch<'_>,
    ) -> Result<Self, WrapError> {
        watch.step(0.0)?;
        if config.mode.has_points() {
            let (points, strength) = PointBind::new(mesh, driver, &config, par, watch)?;
            return Ok(Self {
                driver: driver.topology.clone(),
                config,
                offsets: vec![0; strength.len() + 1],
                strength,
                points: Some(points),
                ..Self::default()
            });
        }
        let rest = Rest::new(mesh, driver, config)?;
        let mesh_normals = config.reject_opposing.then(|| match &mesh.normals {
            Some(n) if n.len() == mesh.vertex_count() => n.clone(),
            _ => compute_normals(mesh),
        });
        let mut this = Self {
            driver: driver.topology.clone(),
            normals: driver_normals(driver, &config),
            config,
            offsets: vec![0],
            ..Self::default()
        };
        for (v, &p) in mesh.positions.iter().enumerate() {
            if v.is_multiple_of(VERTICES_A_REPORT) {
                watch.step(v as f64 / mesh.positions.len() as f64)?;
            }
            let normal = mesh_normals.as_ref().map(|n| f64::vec3(n[v]));
            let distance = rest.bind_point(f64::vec3(p), normal, &mut this.bindings);
            this.strength.push(config.strength(distance));
            this.offsets.push(index32(this.bindings.len()));
        }
        Ok(this)
    }

    /// Number of driven vertices.
    pub fn vertex_count(&self) -> usize {
        self.strength.len()
    }
    /// Bindings of vertex `v`; empty where it hangs on nothing.
    pub(crate) fn bindings_of(&self, v: usize) -> &[Binding] {
        &self.bindings[self.offsets[v] as usize..self.offsets[v + 1] as usize]
    }
    /// One position for each vertex?
    pub(super) fn check_lengths(mesh: &Mesh, driver: &Mesh) -> Result<(), WrapError> {
        for (name, m) in [("mesh", mesh), ("driver", driver)] {
            if m.positions.len() != m.vertex_count() {
                return Err(WrapError::Length {
                    mesh: name,
                    found: m.positions.len(),
                    expected: m.vertex_count(),
                });
            }
        }
        Ok(())
    }
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.bindings[..])
            + self.points.as_ref().map_or(0, PointBind::bytes)
            + 4 * (self.offsets.len() + self.strength.len())
            + self.normals.as_ref().map_or(0, TangentFramesBind::bytes)
    }

    /// Checks a bind from a file against the meshes and the configuration, and adds the parts that a file does not hold.
    ///
    /// # Errors
    /// [`WrapError::Saved`] names the first part that does not fit.
    pub fn restored(
        mut self,
        mesh: &Mesh,
        driver: &Mesh,
        config: WrapConfig,
    ) -> Result<Self, WrapError> {
        let n = mesh.vertex_count();
        let triangles = driver.topology.triangles().len();
        let parts = [
            (self.config == config, "configuration"),
            (self.strength.len() == n, "strengths"),
            (
                self.offsets.len() == n + 1
                    && self.offsets[0] == 0
                    && self.offsets.is_sorted()
                    && self.offsets[n] as usize == self.bindings.len(),
                "offsets",
            ),
            (
                self.bindings
                    .iter()
                    .all(|b| (b.triangle as usize) < triangles),
                "triangles",
            ),
            (
                driver.positions.len() == driver.vertex_count(),
                "driver positions",
            ),
            (
                match &self.points {
                    Some(p) => {
                        config.mode.has_points() && p.fits(config.mode, n, driver.positions.len())
                    }
                    None => !config.mode.has_points(),
                },
                "points",
            ),
        ];
        if let Some((_, what)) = parts.iter().find(|p| !p.0) {
            return Err(WrapError::Saved(format!("{what} do not fit")));
        }
        self.driver = driver.topology.clone();
        self.normals = driver_normals(driver, &config);
        if let Some(points) = &mut self.points {
            points.rest.clone_from(&driver.positions);
        }
        Ok(self)
    }
}

/// The driver's own normals may be missing or out of date: ours are made each frame.
fn driver_normals(driver: &Mesh, config: &WrapConfig) -> Option<TangentFramesBind> {
    let bare = Mesh {
        topology: driver.topology.clone(),
        positions: driver.positions.clone(),
        ..Mesh::default()
    };
    let frames = TangentFramesConfig {
        hard_edges: HardEdges::None,
        tangents: TangentMode::None,
        ..TangentFramesConfig::default()
    };
    (config.mode == WrapMode::Surface)
        .then(|| TangentFramesBind::new(&bare, frames).ok())
        .flatten()
}

/// Sine of the angle between normal and triangle above which the frame of both serves without magnifying much.
const UPRIGHT: f64 = 0.1;

impl Rest {
    fn new(mesh: &Mesh, driver: &Mesh, config: WrapConfig) -> Result<Self, WrapError> {
        WrapBind::check_lengths(mesh, driver)?;
        let normals = compute_normals(driver);
        let triangles: Vec<_> = driver
            .topology
            .triangles()
            .iter()
            .map(|t| DriverTriangle {
                corners: t.map(|v| f64::vec3(driver.positions[v as usize])),
                normals: t.map(|v| f64::vec3(normals[v as usize])),
            })
            .collect();
        // Slivers have no usable frame: left out.
        let healthy = |t: &DriverTriangle<f64>| {
            let [a, b, c] = t.corners;
            let longest = (b - a).norm().max((c - a).norm()).max((c - b).norm());
            (b - a).cross(&(c - a)).norm() > 1e-6 * longest * longest
        };
        let order: Vec<u32> = (0_u32..)
            .zip(&triangles)
            .filter(|(_, t)| healthy(t))
            .map(|(i, _)| i)
            .collect();
        if order.is_empty() {
            return Err(WrapError::EmptyDriver {
                triangles: triangles.len(),
            });
        }
        let edges = order.iter().map(|&i| {
            let [a, b, c] = triangles[i as usize].corners;
            ((b - a).norm() + (c - b).norm() + (a - c).norm()) / 3.0
        });
        let mean_edge = edges.sum::<f64>() / order.len() as f64;
        let corners = triangles.iter().map(|t| t.corners).collect();
        let given = |v: f32| (v > 0.0).then_some(f64::from(v));
        Ok(Self {
            bvh: Bvh::build(corners, order),
            triangles,
            limit: given(config.max_distance).map_or(f64::INFINITY, |d| d * d),
            radius: given(config.radius).unwrap_or(mean_edge),
            config,
        })
    }

    /// Appends the bindings of one point; returns its distance from the driver, or `None` where nothing is near.
    fn bind_point(
        &self,
        p: Vec3<f64>,
        normal: Option<Vec3<f64>>,
        out: &mut Vec<Binding>,
    ) -> Option<f64> {
        let accept = |t: u32| {
            let [a, b, c] = self.triangles[t as usize].corners;
            normal.is_none_or(|n| (b - a).cross(&(c - a)).dot(&n) >= 0.0)
        };
        let k = match self.config.mode {
            WrapMode::Surface => CANDIDATES,
            WrapMode::Triangle => 1,
            _ => self.config.neighbours.max(1),
        };
        let hits = self.bvh.nearest(p, k, self.limit, accept);
        let first = *hits.first()?;
        match self.config.mode {
            WrapMode::Surface => {
                let feet = || hits.iter().filter_map(|h| self.phong_foot(h, p));
                let touching = hits.iter().filter(|h| h.square <= first.square);
                let mut closest = touching.map(|h| (h.triangle, h.barycentric));
                // In a sharp fold some triangles stand nearly along the normal: their frames are flat and magnify
                // rounding, those of their neighbours are not.
                let upright = |place: &(u32, [f64; 3])| self.is_upright(*place);
                let place = feet().find(upright).or_else(|| feet().next());
                let place = place.or_else(|| closest.find(upright));
                let (triangle, barycentric) = place.unwrap_or((first.triangle, first.barycentric));
                out.extend(self.binding(triangle, barycentric, 1.0));
            }
            WrapMode::Triangle => out.extend(self.binding(first.triangle, first.barycentric, 1.0)),
            _ => {
                // Relative to the closest, which changes nothing after normalising and cannot underflow to zero.
                let weight =
                    |h: &Hit| (-(h.square - first.square) / (self.radius * self.radius)).exp();
                let sum: f64 = hits.iter().map(weight).sum();
                out.extend(
                    hits.iter()
                        .filter_map(|h| self.binding(h.triangle, h.barycentric, weight(h) / sum)),
                );
            }
        }
        Some(first.square.sqrt())
    }

    /// Whether the interpolated normal stands up from the triangle.
    fn is_upright(&self, (triangle, barycentric): (u32, [f64; 3])) -> bool {
        let t = &self.triangles[triangle as usize];
        let [a, b, c] = t.corners;
        let normal = (0..3).map(|k| t.normals[k] * barycentric[k]);
        let normal = unit(normal.sum::<Vec3<f64>>());
        let sine = unit((b - a).cross(&(c - a))).zip(normal);
        sine.is_some_and(|(face, normal)| face.dot(&normal).abs() >= UPRIGHT)
    }

    fn binding(&self, triangle: u32, barycentric: [f64; 3], weight: f64) -> Option<Binding> {
        let t = &self.triangles[triangle as usize];
        let (origin, frame) = local_frame(self.config.mode, t, barycentric);
        // An interpolated normal may lie in the plane of the triangle: then its own normal serves.
        let inverse = f64::inverse_of(&frame).or_else(|| {
            let [a, b, c] = t.corners;
            let n = unit((b - a).cross(&(c - a)))?;
            f64::inverse_of(&Mat3::from_columns(&[b - a, c - a, n]))
        })?;
        let column = |c: usize| f64::array3(inverse.column(c).into_owned());
        Some(Binding {
            triangle,
            barycentric: [barycentric[1].to_single(), barycentric[2].to_single()],
            weight: weight.to_single(),
            origin: f64::array3(origin),
            local_from_rest: [column(0), column(1), column(2)],
        })
    }

    /// Solves `p = x(u, v) + h n(u, v)` with `n` the normalised interpolation of vertex normals, by Newton's method
    /// from the closest point; `None` where it does not converge within the triangle.
    fn phong_foot(&self, hit: &Hit, p: Vec3<f64>) -> Option<(u32, [f64; 3])> {
        let t = &self.triangles[hit.triangle as usize];
        let ([a, b, c], [na, nb, nc]) = (t.corners, t.normals);
        let (mut u, mut v) = (hit.barycentric[1], hit.barycentric[2]);
        let mut h = None;
        let scale = (b - a).norm().max((c - a).norm());
        for _ in 0..20 {
            let sum = na + (nb - na) * u + (nc - na) * v;
            let length = sum.norm();
            if length < 1e-6 {
                return None;
            }
            let n = sum / length;
            let x = a + (b - a) * u + (c - a) * v;
            let height = h.unwrap_or_else(|| (p - x).dot(&n));
            let residual = x + n * height - p;
            if residual.norm() < 1e-10 * scale {
                let inside = u >= -1e-7 && v >= -1e-7 && u + v <= 1.0 + 1e-7;
                return inside.then_some((hit.triangle, [1.0 - u - v, u, v]));
            }
            let tilt = |d: Vec3<f64>| (d - n * n.dot(&d)) * (height / length);
            let j = Mat3::from_columns(&[b - a + tilt(nb - na), c - a + tilt(nc - na), n]);
            let step = j.lu().solve(&residual)?;
            u -= step.x;
            v -= step.y;
            h = Some(height - step.z);
        }
        None
    }
}
