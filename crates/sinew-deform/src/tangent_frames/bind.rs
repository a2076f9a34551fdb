//! Setup: smoothing groups, corner lists, UV coefficients, authored directions in local frames.
//!
//! In this order, since each part needs the one before it:
//!
//! 1. Smoothing groups (`groups.rs`): which vertices share a normal, and the corners of each group.
//! 2. Reference edges: the longest rest edge that leaves each group. It gives frames a direction around the normal without texture
//!    coordinates.
//! 3. Normals of the rest mesh in double precision, which stand in for vertices that lose all area around them.
//! 4. Authored normals and tangents in the local frames.
//! 5. Tangent groups: from UV gradients (`uv.rs`), or MikkTSpace's (`mikk.rs`).
//!
//! Everything but the topology is saved; [`TangentFramesBind::restored`] checks lengths and indices of saved data.

use super::groups::{Rows, smoothing_groups};
use super::reference::{self, FaceTerms};
use super::{mikk, uv};
use crate::{BindWatch, NodeError, Stopped};
use serde::{Deserialize, Serialize};
use sinew_geom::{Mesh, Real, Topology, Vec3};
use std::sync::Arc;

/// Stands for no vertex.
pub(super) const NO_VERTEX: u32 = u32::MAX;

/// How normals are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum NormalMode {
    /// Face normals weighted by the corner angle (Thürmer and Wüthrich 1998).
    #[default]
    AngleWeighted,
    /// Face normals weighted by area.
    AreaWeighted,
    /// Authored normals, stored in the frame of the angle-weighted ones.
    KeepAuthoredDelta,
    /// Angle weights, with each addend truncated to an integer.
    FixedPoint,
}

/// How tangents are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TangentMode {
    /// From the gradients of the texture coordinates, angle-weighted.
    #[default]
    Uv,
    /// MikkTSpace with the groups of the rest mesh.
    Mikktspace,
    /// Authored rest tangents, carried in the frame of the normal and one edge.
    Project,
    /// Without texture coordinates: perpendicular to the normal, along one edge.
    None,
}

/// Which vertices at one position share a normal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum HardEdges {
    /// Those whose authored rest normals differ by at most one degree; all if the mesh has none.
    #[default]
    Authored,
    /// Those whose own rest normals differ by at most `hard_angle`.
    Angle,
    /// All vertices.
    None,
    /// No vertices: each one uses only its own triangles.
    Split,
}

/// Settings of setup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TangentFramesConfig {
    /// How normals are made.
    pub normals: NormalMode,
    /// How tangents are made.
    pub tangents: TangentMode,
    /// Which vertices at one position share a normal.
    pub hard_edges: HardEdges,
    /// For [`HardEdges::Angle`]: largest angle between normals that are smoothed, radians.
    pub hard_angle: f32,
    /// Vertices at most this far apart at rest count as one position, metres.
    pub weld_tolerance: f32,
    /// Texture coordinate set for tangents. If the mesh has no set at all, tangents follow edges.
    pub uv_set: usize,
}

/// Why setup refused.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TangentFramesError {
    /// An attribute has another length than the mesh has vertices.
    #[error("{attribute}: found {found} elements, expected one for each of {expected} vertices")]
    Length {
        /// What it is.
        attribute: &'static str,
        /// Its length.
        found: usize,
        /// Number of vertices.
        expected: usize,
    },
    /// The mesh has texture coordinates, but not that set.
    #[error(
        "texture coordinate set {found} does not exist; the mesh has {count} sets, counted from 0"
    )]
    UvSet {
        /// The set asked for.
        found: usize,
        /// How many there are.
        count: usize,
    },
    /// More triangles than corner numbers can name.
    #[error("the mesh has {found} triangles, but at most {allowed} are supported")]
    TooManyTriangles {
        /// Number of triangles.
        found: usize,
        /// The limit.
        allowed: usize,
    },
    /// Saved bytes do not belong to this mesh and configuration.
    #[error("{0}")]
    Saved(String),
    /// The caller stopped setup.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl From<TangentFramesError> for NodeError {
    fn from(e: TangentFramesError) -> Self {
        match e {
            TangentFramesError::Saved(m) => Self::Restore(m),
            TangentFramesError::Stopped(stopped) => Self::Stopped(stopped),
            e => Self::Bind(Box::new(e)),
        }
    }
}

/// Where tangents come from: which corners, with which coefficients.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct UvBind {
    /// For each triangle what its two edges from corner 0 add to the direction of growing `u`.
    pub(super) coefficients: Vec<[f32; 2]>,
    /// Corners of each tangent group.
    pub(super) rows: Rows,
    /// Tangent group of each vertex.
    pub(super) row_of_vertex: Vec<u32>,
    /// Bitangent sign of each tangent group, glTF's convention.
    pub(super) signs: Vec<f32>,
}

/// Setup results for a mesh and a configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TangentFramesBind {
    #[serde(skip)]
    pub(super) topology: Arc<Topology>,
    pub(super) config: TangentFramesConfig,
    /// Corners of each smoothing group.
    pub(super) normal_rows: Rows,
    /// Smoothing group of each vertex.
    pub(super) group_of_vertex: Vec<u32>,
    /// Unit normals for vertices without area around them.
    pub(super) rest_normals: Vec<[f32; 3]>,
    /// Ends of one edge a smoothing group, or [`NO_VERTEX`].
    pub(super) reference: Vec<[u32; 2]>,
    /// Authored normals in the frame (reference edge, bitangent, normal).
    pub(super) local_normals: Option<Vec<[f32; 3]>>,
    /// Rest tangents in that frame, and their sign.
    pub(super) local_tangents: Option<Vec<[f32; 4]>>,
    pub(super) uv: Option<UvBind>,
}

impl TangentFramesBind {
    /// Prepares a mesh. Its rest positions, normals, tangents and texture coordinates are read.
    ///
    /// # Errors
    /// [`TangentFramesError`] if attributes do not fit the mesh.
    ///
    /// # Cost
    /// O(vertices + triangles), except for positions that very many vertices with different normals share.
    pub fn new(mesh: &Mesh, config: TangentFramesConfig) -> Result<Self, TangentFramesError> {
        Self::new_watched(mesh, config, &BindWatch::NONE)
    }

    /// As [`Self::new`], with progress and cancellation between its parts.
    ///
    /// # Errors
    /// As [`Self::new`]; [`TangentFramesError::Stopped`].
    pub fn new_watched(
        mesh: &Mesh,
        config: TangentFramesConfig,
        watch: &BindWatch<'_>,
    ) -> Result<Self, TangentFramesError> {
        check(mesh, &config)?;
        watch.step(0.0)?;
        let authored = mesh.normals.as_deref();
        let (group_of_vertex, normal_rows) = smoothing_groups(mesh, authored, &config);
        let mut bind = Self {
            topology: mesh.topology.clone(),
            config,
            reference: reference_edges(mesh, &normal_rows),
            normal_rows,
            group_of_vertex,
            rest_normals: vec![[0.0, 1.0, 0.0]; mesh.vertex_count()],
            ..Self::default()
        };
        watch.step(0.3)?;
        let faces = bind.reference_faces::<f64>(&mesh.positions);
        let computed: Vec<Vec3<f64>> = (0..mesh.vertex_count())
            .map(|v| reference::vertex_normal(&bind, &faces, &mesh.positions, v))
            .collect();
        let rest = |v: usize| {
            authored
                .and_then(|n| reference::unit(f64::vec3(n[v])))
                .unwrap_or(computed[v])
        };
        bind.rest_normals = (0..mesh.vertex_count())
            .map(|v| f64::array3(rest(v)))
            .collect();
        bind.bind_local(mesh, &computed);
        watch.step(0.6)?;
        bind.bind_uv(mesh, &faces);
        Ok(bind)
    }

    fn bind_local(&mut self, mesh: &Mesh, computed: &[Vec3<f64>]) {
        let in_frame = |v: usize, d: Vec3<f64>| {
            let n = computed[v];
            let t = reference::reference_edge_at(self, &mesh.positions, v, n);
            f64::array3(Vec3::new(t.dot(&d), n.cross(&t).dot(&d), n.dot(&d)))
        };
        let normals = (self.config.normals == NormalMode::KeepAuthoredDelta
            && mesh.normals.is_some())
        .then(|| {
            (0..computed.len())
                .map(|v| in_frame(v, f64::vec3(self.rest_normals[v])))
                .collect()
        });
        // Tangents are carried in the frame of the normal that is written, authored ones included.
        let tangents = mesh
            .tangents
            .as_ref()
            .filter(|_| self.config.tangents == TangentMode::Project);
        let keeps = normals.is_some();
        let tangents = tangents.map(|tangents| {
            let place = |(v, &[x, y, z, w]): (usize, &[f32; 4])| {
                let n = if keeps {
                    f64::vec3(self.rest_normals[v])
                } else {
                    computed[v]
                };
                let t = reference::reference_edge_at(self, &mesh.positions, v, n);
                let d = f64::vec3([x, y, z]);
                let [x, y, z] = f64::array3(Vec3::new(t.dot(&d), n.cross(&t).dot(&d), n.dot(&d)));
                [x, y, z, if w < 0.0 { -1.0 } else { 1.0 }]
            };
            tangents.iter().enumerate().map(place).collect()
        });
        self.local_normals = normals;
        self.local_tangents = tangents;
    }

    fn bind_uv(&mut self, mesh: &Mesh, faces: &[FaceTerms<f64>]) {
        let Some(uvs) = mesh.uvs.get(self.config.uv_set) else {
            return;
        };
        self.uv = match self.config.tangents {
            TangentMode::Uv => Some(uv::bind(self, faces, uvs)),
            TangentMode::Mikktspace => Some(mikk::freeze(mesh, &self.rest_normals, uvs)),
            TangentMode::Project | TangentMode::None => None,
        };
    }

    /// Face terms of all triangles in any precision, for tests and setup. Allocates.
    pub(crate) fn reference_faces<R: Real>(&self, positions: &[[f32; 3]]) -> Vec<FaceTerms<R>> {
        let area = self.config.normals == NormalMode::AreaWeighted;
        let corners = |t: &[u32; 3]| t.map(|v| R::vec3(positions[v as usize]));
        self.topology
            .triangles()
            .iter()
            .map(|t| reference::face_terms(corners(t), area))
            .collect()
    }

    /// Face tangents of all triangles in any precision, for tests. Allocates; zeros without UVs.
    #[cfg(test)]
    pub(crate) fn reference_tangents<R: Real>(&self, positions: &[[f32; 3]]) -> Vec<[R; 3]> {
        let corners = |t: &[u32; 3]| t.map(|v| R::vec3(positions[v as usize]));
        let triangles = self.topology.triangles().iter().enumerate();
        triangles
            .map(|(i, t)| {
                let c = self.uv.as_ref().map_or([0.0; 2], |u| u.coefficients[i]);
                reference::face_tangent(corners(t), c)
            })
            .collect()
    }

    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.topology.vertex_count()
    }
    /// Number of smoothing groups.
    #[cfg(test)]
    pub(crate) fn group_count(&self) -> usize {
        self.normal_rows.len()
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let n = self.group_of_vertex.len();
        let uv = self.uv.as_ref().map_or(0, |u| {
            u.coefficients.len() * 8 + u.rows.bytes() + n * 4 + u.signs.len() * 4
        });
        let local = self.local_normals.as_ref().map_or(0, |l| l.len() * 12)
            + self.local_tangents.as_ref().map_or(0, |l| l.len() * 16);
        self.normal_rows.bytes() + n * 16 + self.reference.len() * 8 + uv + local
    }

    /// Checks a bind from a file against the mesh and the configuration, and adds the topology.
    ///
    /// # Errors
    /// [`TangentFramesError::Saved`] names the first part that does not fit.
    pub fn restored(
        mut self,
        mesh: &Mesh,
        config: TangentFramesConfig,
    ) -> Result<Self, TangentFramesError> {
        check(mesh, &config)?;
        let (n, triangles) = (mesh.vertex_count(), mesh.topology.triangles().len());
        let rows_fit = |rows: &Rows, of_vertex: &[u32]| {
            rows.is_valid(triangles)
                && of_vertex.len() == n
                && of_vertex.iter().all(|&r| (r as usize) < rows.len())
        };
        let is_vertex = |v: u32| v == NO_VERTEX || (v as usize) < n;
        let uv_fits = |u: &UvBind| {
            rows_fit(&u.rows, &u.row_of_vertex)
                && u.coefficients.len() == triangles
                && u.signs.len() == u.rows.len()
        };
        let parts = [
            (self.config == config, "configuration"),
            (
                rows_fit(&self.normal_rows, &self.group_of_vertex),
                "smoothing groups",
            ),
            (self.rest_normals.len() == n, "rest normals"),
            (
                self.reference.len() == self.normal_rows.len()
                    && self.reference.iter().flatten().all(|&v| is_vertex(v))
                    && self
                        .reference
                        .iter()
                        .all(|r| (r[0] == NO_VERTEX) == (r[1] == NO_VERTEX)),
                "reference edges",
            ),
            (
                self.local_normals.as_ref().is_none_or(|l| l.len() == n),
                "local normals",
            ),
            (
                self.local_tangents.as_ref().is_none_or(|l| l.len() == n),
                "local tangents",
            ),
            (self.uv.as_ref().is_none_or(uv_fits), "tangent groups"),
        ];
        if let Some((_, what)) = parts.iter().find(|p| !p.0) {
            return Err(TangentFramesError::Saved(format!("{what} do not fit")));
        }
        self.topology = mesh.topology.clone();
        Ok(self)
    }
}

fn check(mesh: &Mesh, config: &TangentFramesConfig) -> Result<(), TangentFramesError> {
    let expected = mesh.vertex_count();
    let triangles = mesh.topology.triangles().len();
    let allowed = (u32::MAX >> 2) as usize;
    if triangles > allowed {
        return Err(TangentFramesError::TooManyTriangles {
            found: triangles,
            allowed,
        });
    }
    let uses_uv = matches!(config.tangents, TangentMode::Uv | TangentMode::Mikktspace);
    let uvs = mesh.uvs.get(config.uv_set).filter(|_| uses_uv);
    if uses_uv && uvs.is_none() && !mesh.uvs.is_empty() {
        return Err(TangentFramesError::UvSet {
            found: config.uv_set,
            count: mesh.uvs.len(),
        });
    }
    let lengths = [
        ("positions", Some(mesh.positions.len())),
        ("normals", mesh.normals.as_ref().map(Vec::len)),
        ("tangents", mesh.tangents.as_ref().map(Vec::len)),
        ("texture coordinates", uvs.map(Vec::len)),
    ];
    for (attribute, found) in lengths {
        if let Some(found) = found.filter(|&f| f != expected) {
            return Err(TangentFramesError::Length {
                attribute,
                found,
                expected,
            });
        }
    }
    Ok(())
}

/// The longest rest edge that leaves each group, counter-clockwise: the least likely to collapse.
fn reference_edges(mesh: &Mesh, rows: &Rows) -> Vec<[u32; 2]> {
    let length = |[a, b]: [u32; 2]| {
        (f64::vec3(mesh.positions[b as usize]) - f64::vec3(mesh.positions[a as usize]))
            .norm_squared()
    };
    let longest = |row: &[u32]| {
        let mut best = ([NO_VERTEX; 2], 0.0);
        for &c in row {
            let t = mesh.topology.triangles()[(c >> 2) as usize];
            let k = (c & 3) as usize;
            for other in [t[(k + 1) % 3], t[(k + 2) % 3]] {
                let l = length([t[k], other]);
                if l > best.1 {
                    best = ([t[k], other], l);
                }
            }
        }
        best.0
    };
    (0..rows.len()).map(|g| longest(rows.row(g))).collect()
}
