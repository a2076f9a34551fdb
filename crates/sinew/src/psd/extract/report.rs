//! Report of an extraction.

use super::ExtractOptions;
use super::relax::longest;
use crate::geom::Vec3;

/// Distances of an output from a sculpt, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Distances {
    /// Distance of the farthest vertex.
    pub largest: f64,
    /// Root mean square over all vertices.
    pub rms: f64,
}

/// A vertex that no offset moves in some direction.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SingularVertex {
    /// Index of the vertex.
    pub vertex: usize,
    /// Smallest singular value of its block as a share of the largest; 0 if it does not move at all.
    pub ratio: f64,
}

/// A vertex and its distance from the sculpt.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct VertexDistance {
    /// Index of the vertex.
    pub vertex: usize,
    /// Distance in metres.
    pub distance: f64,
}

/// Report of an extraction. Distances are those of the graph, evaluated with the stored target.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExtractReport {
    /// Vertices of the mesh.
    pub vertices: usize,
    /// Vertices in the target.
    pub moved: usize,
    /// Vertices whose short offset was dropped.
    pub dropped: usize,
    /// Length of the longest offset, metres.
    pub longest_offset: f64,
    /// Number of steps.
    pub steps: usize,
    /// Number of evaluated frames.
    pub evaluations: usize,
    /// Distances without the corrective.
    pub before: Distances,
    /// Distances with the corrective.
    pub after: Distances,
    /// Number of singular vertices.
    pub singular: usize,
    /// The worst singular vertices, worst first.
    pub worst_singular: Vec<SingularVertex>,
    /// Number of vertices above the tolerance.
    pub missed: usize,
    /// The farthest of them, farthest first.
    pub worst_missed: Vec<VertexDistance>,
}

impl ExtractReport {
    /// True if every vertex reaches the sculpt within the tolerance.
    pub fn is_reached(&self) -> bool {
        self.missed == 0
    }
}

/// Data of a report.
pub(super) struct ReportParts<'a> {
    pub(super) before: &'a [Vec3<f64>],
    pub(super) after: &'a [Vec3<f64>],
    pub(super) offsets: &'a [Vec3<f64>],
    pub(super) singular: Vec<SingularVertex>,
    pub(super) steps: usize,
    pub(super) evaluations: usize,
    pub(super) dropped: usize,
}

impl ReportParts<'_> {
    pub(super) fn finish(self, options: &ExtractOptions) -> ExtractReport {
        let mut worst_singular = self.singular;
        worst_singular.sort_by(|a, b| a.ratio.total_cmp(&b.ratio));
        let singular = worst_singular.len();
        worst_singular.truncate(options.worst);
        let distances = self.after.iter().map(Vec3::norm).enumerate();
        let mut worst_missed: Vec<VertexDistance> = distances
            .filter(|d| d.1 > options.tolerance)
            .map(|(vertex, distance)| VertexDistance { vertex, distance })
            .collect();
        worst_missed.sort_by(|a, b| b.distance.total_cmp(&a.distance));
        let missed = worst_missed.len();
        worst_missed.truncate(options.worst);
        let moves = |d: &&Vec3<f64>| d.norm() > 0.0;
        ExtractReport {
            vertices: self.offsets.len(),
            moved: self.offsets.iter().filter(moves).count(),
            dropped: self.dropped,
            longest_offset: longest(self.offsets),
            steps: self.steps,
            evaluations: self.evaluations,
            before: distances_of(self.before),
            after: distances_of(self.after),
            singular,
            worst_singular,
            missed,
            worst_missed,
        }
    }
}

fn distances_of(field: &[Vec3<f64>]) -> Distances {
    let squares: f64 = field.iter().map(Vec3::norm_squared).sum();
    let count = field.len().max(1) as f64;
    Distances {
        largest: longest(field),
        rms: (squares / count).sqrt(),
    }
}
