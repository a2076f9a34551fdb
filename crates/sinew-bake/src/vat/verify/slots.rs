//! What slots show next, against the triangles that matching says.

use super::distance;
use super::ends::{EndErrors, EndJudge};
use super::grid::Grid;
use super::mode::JudgedFrame;
use super::remesh::{corners_of, is_point, middle};
use crate::vat::maker::matching::FrameMatch;
use crate::vat::scan::match_frames;
use sinew_geom::Mesh;

type Corners = [[f32; 3]; 3];

/// Two neighbouring frames and what becomes of the triangles of the first one.
pub(super) struct Successors<'a> {
    ends: &'a EndJudge,
    of: JudgedFrame<'a>,
    next: &'a Mesh,
    /// Where the corners of each triangle go.
    goals: Vec<Corners>,
    /// Of each triangle of the next frame the point that it grows from, if it does.
    births: Vec<Option<[f32; 3]>>,
    /// Triangles of both by their middle.
    grids: [Grid; 2],
    reach: f64,
}

impl<'a> Successors<'a> {
    pub(super) fn new(ends: &'a EndJudge, of: JudgedFrame<'a>, next: &'a Mesh) -> Self {
        let step = match_frames(of.judge.settings, of.mesh, next);
        let reach = of.judge.reach();
        let mut births = vec![None; next.topology.triangles().len()];
        for birth in &step.births {
            births[birth.triangle as usize] = Some(birth.point);
        }
        Self {
            goals: goals_of(of.mesh, next, &step),
            grids: [of.mesh, next].map(|m| grid_of(m, reach)),
            ends,
            of,
            next,
            births,
            reach,
        }
    }

    pub(super) fn judge(&self) -> EndErrors {
        let mut out = self.ends.nothing();
        let (judge, frame) = (self.of.judge, self.of.frame);
        for slot in 0..judge.slots() {
            let [now, then] = [0, 1].map(|step| judge.slot_in_row(slot, frame + step));
            if is_point(now) && is_point(then) {
                continue;
            }
            let off = self.of_triangle(now, then).min(self.of_birth(now, then));
            (0..3).for_each(|k| out.add((frame, 3 * slot + k), off, self.of.number));
        }
        out
    }

    /// How far what a slot shows next is from where the triangle that it shows goes. More than one triangle may be at its place.
    fn of_triangle(&self, now: Corners, then: Corners) -> f64 {
        let candidates = self.at(0, self.of.mesh, now);
        let each = candidates.map(|(t, turn)| {
            let goal = |k: usize| self.goals[t][(k + turn) % 3];
            let off = (0..3).map(|k| distance(then[k], goal(k)));
            off.fold(0.0, f64::max)
        });
        each.fold(f64::INFINITY, f64::min)
    }

    /// How far a slot without a triangle is from the point that what it shows next grows from.
    fn of_birth(&self, now: Corners, then: Corners) -> f64 {
        if !is_point(now) {
            return f64::INFINITY;
        }
        let candidates = self.at(1, self.next, then);
        let births = candidates.filter_map(|(t, _)| self.births[t]);
        let each = births.map(|point| distance(point, now[0]));
        each.fold(f64::INFINITY, f64::min)
    }

    /// Triangles of a frame that corners may be those of, and which corner comes first.
    fn at<'b>(
        &'b self,
        grid: usize,
        mesh: &'b Mesh,
        shown: Corners,
    ) -> impl Iterator<Item = (usize, usize)> + 'b {
        let near = self.grids[grid].near(middle(shown));
        let turns = near.flat_map(|t| (0..3).map(move |turn| (t, turn)));
        turns.filter(move |(t, turn)| {
            let truth = corners_of(mesh, *t);
            (0..3).all(|k| distance(shown[k], truth[(k + turn) % 3]) <= self.reach)
        })
    }
}

fn grid_of(mesh: &Mesh, reach: f64) -> Grid {
    let count = mesh.topology.triangles().len();
    Grid::new(reach, (0..count).map(|t| middle(corners_of(mesh, t))))
}

/// Where the corners of each triangle of a frame go: to those of the triangle that it becomes, or into a point.
fn goals_of(mesh: &Mesh, next: &Mesh, step: &FrameMatch) -> Vec<Corners> {
    let count = mesh.topology.triangles().len();
    let mut goals: Vec<Corners> = (0..count).map(|t| corners_of(mesh, t)).collect();
    for death in &step.deaths {
        goals[death.triangle as usize] = [death.point; 3];
    }
    for (t, before) in step.predecessors.iter().enumerate() {
        let Some(before) = before else { continue };
        let corners = corners_of(next, t);
        for (k, corner) in corners.into_iter().enumerate() {
            // Corner `k` was that one of the triangle before.
            goals[before.triangle as usize][(k + before.turn as usize) % 3] = corner;
        }
    }
    goals
}
