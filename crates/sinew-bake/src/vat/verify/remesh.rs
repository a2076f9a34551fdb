//! Triangles that change: found again by where they are.

use super::carrier::Fault;
use super::ends::EndJudge;
use super::grid::Grid;
use super::judge::Judge;
use super::mode::{FrameJudge, JudgedFrame, JudgedMode};
use super::pairing::{Candidate, Pairing};
use super::{Verified, distance};
use crate::BakeError;
use crate::vat::maker::normals::corner_normals;
use crate::vat::mode::Remesh;
use sinew_geom::Mesh;
use sinew_geom::vec3::length;
use sinew_vat::manifest::Manifest;

impl JudgedMode for Remesh {
    fn triangles(&self, manifest: &Manifest) -> Option<Vec<[u32; 3]>> {
        let slots = manifest.layout.vertices / 3;
        let loose = (0..slots).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]);
        Some(loose.collect())
    }

    fn must_blend(&self, manifest: &Manifest) -> Option<&'static str> {
        let why = "frames have ends to go to (`has_ends`)";
        manifest.has_ends.then_some(why)
    }

    fn judge<'a>(&self, judge: &Judge<'a>) -> Result<Box<dyn FrameJudge + 'a>, BakeError> {
        let ends = EndJudge::new(judge);
        Ok(Box::new(RemeshJudge { ends }))
    }
}

/// Where triangles change.
struct RemeshJudge {
    /// Where frames are blended.
    ends: Option<EndJudge>,
}

impl FrameJudge for RemeshJudge {
    fn frame(&self, of: JudgedFrame<'_>) -> Result<Verified, BakeError> {
        let mut out = of.judge.remesh_frame(self, of);
        out.ends = self.ends.as_ref().map(|ends| ends.frame(of));
        Ok(out)
    }

    fn carrier_faults(&self, judge: &Judge<'_>) -> Vec<Fault> {
        let floating = judge.floating_fault(3);
        floating.into_iter().chain(other_blends(judge)).collect()
    }

    fn nothing(&self, judge: &Judge<'_>) -> Verified {
        Verified {
            ends: self.ends.as_ref().map(EndJudge::nothing),
            ..judge.nothing(0.0)
        }
    }

    fn ends(&self) -> Option<&EndJudge> {
        self.ends.as_ref()
    }
}

/// Whether loose triangles without ends blend is a choice, which settings tell.
fn other_blends(judge: &Judge<'_>) -> Option<Fault> {
    let manifest = judge.animation.manifest();
    let why = match (manifest.can_blend, manifest.has_ends) {
        (true, false) if !judge.settings.is_matched() => {
            "slots show unrelated triangles in that order, so that players have to step"
        }
        (true, false) if judge.settings.has_ends() => {
            "frames have no ends to go to (`has_ends`), which closed in-betweens need"
        }
        _ => return None,
    };
    Some(Fault::Blends { why })
}

impl Judge<'_> {
    /// How far rounding may take a corner, metres: half a step of each coordinate at once, and what single precision loses.
    pub(super) fn reach(&self) -> f64 {
        length(self.promised()) * 1.001 + self.rounding().max(2e-7 * self.size())
    }

    fn remesh_frame(&self, frames: &RemeshJudge, of: JudgedFrame<'_>) -> Verified {
        let (frame, mesh) = (of.frame, of.mesh);
        let normals = corner_normals(&mesh.topology, &mesh.positions, self.settings.crease());
        let triangles = mesh.topology.triangles();
        let corners = |t: usize| corners_of(mesh, t);
        let reach = self.reach();
        let grid = Grid::new(reach, (0..triangles.len()).map(|t| middle(corners(t))));
        let step = self.animation.manifest().frame_step();
        let shown = (0..self.slots()).map(|slot| (slot, self.slot_in_row(slot, frame * step)));
        let shown: Vec<_> = shown.filter(|(_, s)| !is_point(*s)).collect();
        let fits = |(slot, shown): &(u32, [[f32; 3]; 3])| {
            let near = grid.near(middle(*shown));
            let each = near.filter_map(|t| {
                let (off, turn) = best_turn(*shown, corners(t), reach)?;
                Some(Candidate {
                    item: t,
                    off,
                    turn,
                    is_other: self.is_other((*slot, frame), (t, turn), mesh, &normals),
                })
            });
            each.collect()
        };
        // Triangles that are smaller than a step of the codes may come out as points.
        let is_missed = |t: usize| span(corners(t)) > 2.0 * reach;
        let pairing = Pairing::new(shown.iter().map(fits).collect(), triangles.len(), is_missed);
        let mut out = frames.nothing(self);
        for (i, (slot, shown)) in shown.into_iter().enumerate() {
            let Some(&Candidate { item: t, turn, .. }) = pairing.of(i) else {
                out.invented += 1;
                continue;
            };
            for (k, seen) in shown.into_iter().enumerate() {
                let (vertex, truth) = (3 * slot + k as u32, (k + turn) % 3);
                let off = distance(seen, corners(t)[truth]);
                out.errors.position.add(frame, vertex, off);
                // Which corner is which is not seen of smaller ones.
                if is_missed(t) {
                    let source = triangles[t][truth] as usize;
                    of.compare(&mut out, vertex, source, normals[t][truth]);
                }
            }
        }
        out.lost = pairing.left().filter(|t| is_missed(*t)).count();
        if out.lost + out.invented > 0 {
            out.first_wrong = Some(of.number);
        }
        out
    }

    /// Whether the colours or normals of a slot are not those of a triangle: where triangles are nearer to each other than the codes tell apart, these do.
    fn is_other(
        &self,
        (slot, frame): (u32, u32),
        (t, turn): (usize, usize),
        mesh: &Mesh,
        normals: &[[[f32; 3]; 3]],
    ) -> bool {
        (0..3).any(|k| {
            let (vertex, truth) = (3 * slot + k, (k as usize + turn) % 3);
            let source = mesh.topology.triangles()[t][truth] as usize;
            let mut differences = self.differences(mesh, source, vertex, frame);
            let angle = self.normal_error((frame, vertex), normals[t][truth]);
            differences.any(|d| d.is_beyond) || angle.is_some_and(|angle| self.is_beyond(angle))
        })
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
