//! Triangles that change: found again by where they are.

use super::grid::Grid;
use super::judge::{Judge, add_all};
use super::{Verified, distance};
use sinew_geom::Mesh;
use sinew_vat::normals::corner_normals;

impl Judge<'_> {
    /// How far rounding may take a corner, metres.
    pub(super) fn reach(&self) -> f64 {
        self.promised().iter().sum::<f64>() * 1.01 + 1e-7 * self.size()
    }

    pub(super) fn remesh_frame(&self, frame: u32, mesh: &Mesh, number: i64) -> Verified {
        let normals = corner_normals(&mesh.topology, &mesh.positions, self.settings.crease());
        let triangles = mesh.topology.triangles();
        let corners = |t: usize| corners_of(mesh, t);
        let reach = self.reach();
        let mut grid = Grid::new(reach, (0..triangles.len()).map(|t| middle(corners(t))));
        let mut out = self.nothing();
        for slot in 0..self.slots() {
            let step = self.animation.manifest().frame_step();
            let shown = self.slot_in_row(slot, frame * step);
            if is_point(shown) {
                continue;
            }
            // Where triangles are nearer to each other than the codes tell apart, the one with the same colours and normals is the one.
            let fit = grid.take(middle(shown), |t| {
                let (off, turn) = best_turn(shown, corners(t), reach)?;
                let mut corners =
                    (0..3).map(|k| (3 * slot + k, triangles[t][(k as usize + turn) % 3]));
                let is_other = corners.any(|(vertex, source)| {
                    self.differences(mesh, source as usize, vertex, frame)
                        .any(|d| d.is_beyond)
                });
                let is_other = is_other
                    || (0..3).any(|k| {
                        let truth = normals[t][(k as usize + turn) % 3];
                        let angle = self.normal_error((frame, 3 * slot + k), truth);
                        angle.is_some_and(|angle| self.is_beyond(angle))
                    });
                Some(((is_other, off), turn))
            });
            let Some((t, turn)) = fit else {
                out.invented += 1;
                continue;
            };
            for (k, seen) in shown.into_iter().enumerate() {
                let (vertex, truth) = (3 * slot + k as u32, (k + turn) % 3);
                let off = distance(seen, corners(t)[truth]);
                out.errors.position.add(frame, vertex, off);
                // Which corner is which is not seen of smaller ones.
                if span(corners(t)) > 2.0 * reach {
                    self.compare_normal(&mut out, (frame, vertex), normals[t][truth], number);
                    let source = triangles[t][truth] as usize;
                    let differences = self.differences(mesh, source, vertex, frame);
                    add_all(&mut out, differences, (frame, vertex), number);
                }
            }
        }
        // Triangles that are smaller than a step of the codes may come out as points.
        out.lost = grid
            .left()
            .filter(|t| span(corners(*t)) > 2.0 * reach)
            .count();
        if out.lost + out.invented > 0 {
            out.first_wrong = Some(number);
        }
        out
    }
}

pub(super) fn middle(corners: [[f32; 3]; 3]) -> [f64; 3] {
    std::array::from_fn(|k| corners.iter().map(|c| f64::from(c[k])).sum::<f64>() / 3.0)
}

/// Corners of a triangle.
pub(super) fn corners_of(mesh: &Mesh, triangle: usize) -> [[f32; 3]; 3] {
    mesh.topology.triangles()[triangle].map(|v| mesh.positions[v as usize])
}

/// Whether a slot shows nothing.
pub(super) fn is_point(corners: [[f32; 3]; 3]) -> bool {
    corners[0] == corners[1] && corners[1] == corners[2]
}

/// Longest side.
fn span(corners: [[f32; 3]; 3]) -> f64 {
    let side = |k: usize| distance(corners[k], corners[(k + 1) % 3]);
    side(0).max(side(1)).max(side(2))
}

/// The turn that brings corners nearest to each other, with the greatest of their distances; `None` beyond `reach`.
fn best_turn(shown: [[f32; 3]; 3], truth: [[f32; 3]; 3], reach: f64) -> Option<(f64, usize)> {
    let off = |turn: usize| {
        let each = (0..3).map(|k| distance(shown[k], truth[(k + turn) % 3]));
        (each.fold(0.0, f64::max), turn)
    };
    let best = (0..3).map(off).min_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 <= reach).then_some(best)
}
