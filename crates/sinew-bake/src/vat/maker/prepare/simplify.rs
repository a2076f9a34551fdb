//! Brings the number of faces to a target.
//!
//! The simplifier is meshoptimizer (edge collapses by quadric error, Garland and Heckbert 1997, with the improvements of
//! its author). It keeps a subset of the vertices, so all attributes survive as they are. Around it:
//!
//! 1. **Joining.** Vertices at one place with equal texture coordinates, colours and user attributes become one, so that
//!    loose triangles hang together. Vertices that differ there stay apart: a seam, which is collapsed along itself only.
//!    Normals and tangents do not make a seam; of vertices that differ only in them each face takes the one whose normal
//!    fits it best. Edges sharper than an angle become seams, too, when asked for.
//! 2. **Search.** One run usually ends within a few faces of the target. Where it ends too low it is repeated with a
//!    higher aim, and a third run takes the rest of the way from the second's result. Where it gets stuck above the
//!    target, seams other than hard edges give way, then small loose parts, then topology (clusters of vertices on a grid);
//!    at the very last the smallest faces go. Each of these starts from the result of the one before, and the report says how far it went.
//! 3. **Pieces.** Closed parts vanish where fewer than four faces are left to them. Each gets four back, of its own vertices (an open one, one), which the
//!    others have to do without; all of them half of the faces at most, the largest first. What is beyond that is gone.
//! 4. **Flips.** Inner edges of two nearly coplanar faces are turned over where that makes the smallest angle of the two
//!    larger, until none is left. Seams, hard edges, borders and edges of more than two faces stay; no face turns
//!    over and no edge comes to exist twice.

mod flips;
mod keep;
mod search;
mod shared;
mod wedges;

pub(crate) use shared::{SharedCollapse, shared_frames};

use super::faces::{self, corners};
use super::shape::Shape;
use super::{PrepareError, expect};
use flips::{Flips, MOST_MOVED};
use search::Search;
use serde::{Deserialize, Serialize};
use sinew_geom::Mesh;
use wedges::Wedges;

/// How far it went to reach the target. Each includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Method {
    /// Nothing: the mesh had few enough faces.
    #[default]
    Unchanged,
    /// Edge collapses that respect topology and seams.
    Collapses,
    /// Collapses across seams other than hard edges, then small loose parts go.
    Permissive,
    /// Clusters of vertices on a grid, without regard for topology, borders or edges.
    Sloppy,
    /// The smallest faces are dropped.
    Cut,
}

/// How to simplify.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SimplifySettings {
    /// Most faces to leave, at least 1; default 1000.
    pub target_faces: usize,
    /// Edges whose faces' normals differ by more than this (radians, 0 to pi) are kept as edges. Default: none.
    pub hard_edge_angle: Option<f32>,
}

impl Default for SimplifySettings {
    fn default() -> Self {
        Self {
            target_faces: 1000,
            hard_edge_angle: None,
        }
    }
}

impl SimplifySettings {
    pub(super) fn check(&self) -> Result<(), PrepareError> {
        expect(
            self.target_faces > 0,
            "simplify.target_faces",
            0_u32,
            "at least 1",
        )?;
        let angle = self.hard_edge_angle.unwrap_or(0.0);
        expect(
            (0.0..=std::f32::consts::PI + 1e-5).contains(&angle),
            "simplify.hard_edge_angle",
            angle,
            "an angle from 0 to pi, in radians",
        )
    }
}

/// What simplification did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SimplifyReport {
    /// Most faces that were asked for.
    pub target_faces: usize,
    /// Faces before.
    pub faces_before: usize,
    /// Faces after.
    pub faces_after: usize,
    /// How far it went.
    pub method: Method,
    /// Runs of the simplifier that collapses edges.
    pub runs: u32,
    /// Runs of the one that clusters vertices, about a tenth of the cost each.
    pub sloppy_runs: u32,
    /// The simplifier's own estimate of the distance between the surfaces, metres, summed over the runs that led to
    /// the result; says nothing about [`Method::Cut`].
    pub error: f64,
    /// Pieces of which collapses left nothing, and that are a tetrahedron or a triangle of their vertices.
    pub stand_ins: usize,
    /// Their share of the surface before, 0 to 1; each where it is largest, of a sequence that shares its collapse.
    pub stand_in_share: f64,
    /// Edges that were flipped.
    pub flips: usize,
    /// Farthest that a flip moved the surface, metres.
    pub largest_flip: f64,
    /// Triangles of the mesh that came in.
    pub shape_before: Shape,
    /// Triangles after the search, before the flips; of a sequence that shares its collapse those of one of its frames.
    pub shape_simplified: Shape,
    /// Triangles in the end.
    pub shape_after: Shape,
}

/// Simplifies `mesh`; one with few enough faces stays as it is. Faces of which two corners fall together go first.
///
/// # Cost
/// At most three runs of the simplifier on the whole mesh, mostly one, and eight on grids of what it leaves; where pieces vanish, a few more on what is left.
/// Joining and flips are `O(faces log faces)`. One thread.
pub(super) fn simplify(mesh: &mut Mesh, settings: &SimplifySettings) -> SimplifyReport {
    let shape_before = shape(mesh);
    let mut report = SimplifyReport {
        target_faces: settings.target_faces,
        faces_before: mesh.topology.triangles().len(),
        faces_after: mesh.topology.triangles().len(),
        method: Method::Unchanged,
        shape_before,
        shape_simplified: shape_before,
        shape_after: shape_before,
        ..SimplifyReport::default()
    };
    if report.faces_before <= settings.target_faces {
        return report;
    }
    let kept = kept_triangles(mesh, &[], settings, &mut report);
    *mesh = faces::with_triangles(mesh, &kept);
    report.shape_after = shape(mesh);
    report.faces_after = kept.len();
    report
}

/// The triangles that are left, of vertices of the mesh; `poses`: positions of its vertices in other frames, whose shape counts as much.
fn kept_triangles(
    mesh: &Mesh,
    poses: &[&[[f32; 3]]],
    settings: &SimplifySettings,
    report: &mut SimplifyReport,
) -> Vec<[u32; 3]> {
    let wedges = Wedges::of(mesh, poses, settings.hard_edge_angle);
    let mut triangles = Search::new(&wedges, settings.target_faces).find(report);
    report.shape_simplified = Shape::of(triangles.iter().map(|t| wedges.corners(t)));
    let distance = f64::from(MOST_MOVED) * f64::from(mesh.diagonal());
    (report.flips, report.largest_flip) = Flips::new(&wedges, &mut triangles, distance).run();
    wedges.vertices_of(mesh, &triangles)
}

/// What the search leaves where nothing stands for pieces that vanish, without flips.
#[cfg(test)]
pub(super) fn without_stand_ins(mesh: &Mesh, target_faces: usize) -> Mesh {
    let wedges = Wedges::of(mesh, &[], None);
    let triangles = Search::new(&wedges, target_faces).find_without_stand_ins();
    faces::with_triangles(mesh, &wedges.vertices_of(mesh, &triangles))
}

fn shape(mesh: &Mesh) -> Shape {
    Shape::of(mesh.topology.triangles().iter().map(|t| corners(mesh, t)))
}
