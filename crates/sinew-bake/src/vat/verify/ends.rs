//! Where blends go: ends of frames and slots against the frame behind.
//!
//! With ends (`closed`) every corner of a frame's end must be on the surface of the next frame, which the sequence alone tells. What vanishes ends in a point,
//! and what lands nowhere goes as its neighbours go: corners that are not on that surface must be where matching, made anew from the two frames, puts them.
//! Corners at one place of the frame must go to one place, so that the surface stays closed.
//! Without ends (`slots`) blends go to what the slot shows next: it must be the triangle that matching says, or the point that a triangle grows from or
//! shrinks to.

use super::distance;
use super::grid::Grid;
use super::judge::Judge;
use super::parting::Parting;
use super::slots::Successors;
use super::triangles::{corners_of, is_point};
use crate::vat::ends::end_of;
use crate::vat::scan::match_frames;
use crate::vat::settings::{InBetweens, Matching};
use serde::Serialize;
use sinew_geom::Mesh;
use sinew_vat::error::ErrorSum;
use sinew_vat::manifest::Mode;
use sinew_vat::matching::SurfaceTree;
use sinew_vat::normals::corner_normals;

/// Share of the box's diagonal that single precision may lose on the way to a surface and back.
const ROUNDING: f64 = 2e-6;

/// Where blends go.
#[derive(Clone, Debug, Serialize)]
pub struct EndErrors {
    /// What they go towards.
    pub in_betweens: InBetweens,
    /// Distances of corners from the surface of the next frame, or from where matching puts them, metres.
    #[serde(skip)]
    pub errors: ErrorSum,
    /// How far they may be: half a step of the codes, and what single precision loses.
    pub allowed: f64,
    /// Corners that are not on the next frame's surface and need not be: of parts that vanish, or that land nowhere; where slots may jump, of those
    /// that do.
    pub elsewhere: u64,
    /// Corners that are too far off.
    pub beyond: u64,
    /// Points of frames whose corners go to different places, where the surface should stay closed.
    pub parting: u64,
    /// The first frame with such a corner, by its number.
    pub first_wrong: Option<i64>,
}

impl EndErrors {
    /// For people: `; ends within 0.03 mm of the next frame's surface (allowed 0.04 mm)` and what else there is to say.
    #[must_use]
    pub fn words(&self) -> String {
        let (what, others) = match self.in_betweens {
            InBetweens::Closed => (
                "the next frame's surface",
                "of what vanishes or lands nowhere are where matching puts them",
            ),
            InBetweens::Slots => (
                "the triangles that follow",
                "jump to others, since slots are few",
            ),
        };
        let mut text = format!(
            "; ends within {:.4} mm of {what} (allowed {:.4} mm)",
            self.errors.largest * 1e3,
            self.allowed * 1e3
        );
        let more = [
            (self.elsewhere, "corners", others),
            (self.beyond, "corners", "are beyond that"),
            (self.parting, "points", "part"),
        ];
        for (count, what, which) in more.into_iter().filter(|m| m.0 > 0) {
            text += &format!(", {count} {what} {which}");
        }
        text
    }

    /// Takes those of a later frame.
    pub(super) fn join(&mut self, later: &Self) {
        self.errors.join(&later.errors);
        self.elsewhere += later.elsewhere;
        self.beyond += later.beyond;
        self.parting += later.parting;
        self.first_wrong = self.first_wrong.or(later.first_wrong);
    }

    /// Takes a corner.
    pub(super) fn add(&mut self, (frame, vertex): (u32, u32), off: f64, number: i64) {
        self.errors.add(frame, vertex, off);
        if off.is_nan() || off > self.allowed {
            self.beyond += 1;
            self.first_wrong.get_or_insert(number);
        }
    }
}

/// Judges where blends of loose triangles go.
pub(super) struct EndJudge {
    pub(super) in_betweens: InBetweens,
    pub(super) matching: Matching,
    pub(super) allowed: f64,
}

/// A corner that is not on the next frame's surface.
struct Stray {
    vertex: u32,
    now: [f32; 3],
    end: [f32; 3],
    /// How far it is from that surface, metres.
    off: f64,
}

impl EndJudge {
    /// `None` where blends go to texels that are compared anyhow, or nowhere.
    pub(super) fn new(judge: &Judge<'_>) -> Option<Self> {
        let manifest = judge.animation.manifest();
        if manifest.mode != Mode::Remesh || !manifest.can_blend {
            return None;
        }
        let (in_betweens, matching) = match (manifest.has_ends, judge.settings.matching()) {
            (true, matching) => (InBetweens::Closed, matching.cloned().unwrap_or_default()),
            // Nobody asked for blends from slot to slot: that these are there is a fault of its own.
            (false, _) if judge.settings.has_ends() => return None,
            (false, matching) => (InBetweens::Slots, matching.cloned()?),
        };
        let half_step = judge.promised().iter().map(|p| p * p).sum::<f64>().sqrt();
        Some(Self {
            in_betweens,
            matching,
            allowed: half_step * 1.001 + ROUNDING * judge.size(),
        })
    }

    /// What is known before a frame was looked at.
    pub(super) fn nothing(&self) -> EndErrors {
        EndErrors {
            in_betweens: self.in_betweens,
            errors: ErrorSum::default(),
            allowed: self.allowed,
            elsewhere: 0,
            beyond: 0,
            parting: 0,
            first_wrong: None,
        }
    }

    /// Judges where blends of a frame go; `next` is the frame there, if any.
    pub(super) fn frame(
        &self,
        judge: &Judge<'_>,
        now: (u32, &Mesh),
        next: Option<(u32, &Mesh)>,
        number: i64,
    ) -> EndErrors {
        match (self.in_betweens, next) {
            (InBetweens::Closed, Some(next)) => self.closed(judge, now, next.1, number),
            (InBetweens::Closed, None) => self.still(judge, now.0, number),
            // Slots are not matched over the seam of a loop.
            (InBetweens::Slots, Some(next)) if next.0 == now.0 + 1 => {
                Successors::new(self, judge, now, next).judge(number)
            }
            (InBetweens::Slots, _) => self.nothing(),
        }
    }

    /// The end of a frame that nothing follows is the frame.
    fn still(&self, judge: &Judge<'_>, frame: u32, number: i64) -> EndErrors {
        let mut out = self.nothing();
        for slot in 0..judge.slots() {
            let [now, end] = [0, 1].map(|row| judge.slot_in_row(slot, 2 * frame + row));
            for (vertex, (now, end)) in (3 * slot..).zip(now.into_iter().zip(end)) {
                out.add((frame, vertex), distance(now, end), number);
            }
        }
        out
    }

    fn closed(
        &self,
        judge: &Judge<'_>,
        (frame, mesh): (u32, &Mesh),
        next: &Mesh,
        number: i64,
    ) -> EndErrors {
        let count = next.topology.triangles().len();
        let triangles: Vec<_> = (0..count).map(|t| corners_of(next, t)).collect();
        let surface = SurfaceTree::new(&triangles);
        let (mut out, mut strays) = (self.nothing(), Vec::new());
        let mut parting = Parting::default();
        for slot in 0..judge.slots() {
            let [now, end] = [0, 1].map(|row| judge.slot_in_row(slot, 2 * frame + row));
            // Slots without a triangle stay where they are, but for those that one grows in.
            let is_new = is_point(now);
            if is_new && end == now {
                continue;
            }
            for (vertex, (now, end)) in (3 * slot..).zip(now.into_iter().zip(end)) {
                if !is_new {
                    parting.add(now, end);
                }
                let off = surface.distance(end).unwrap_or(f64::INFINITY);
                match off <= self.allowed {
                    true => out.add((frame, vertex), off, number),
                    false => strays.push(Stray {
                        vertex,
                        now,
                        end,
                        off,
                    }),
                }
            }
        }
        out.parting = parting.points_that_part(mesh, judge.reach());
        if out.parting > 0 {
            out.first_wrong = Some(number);
        }
        if !strays.is_empty() {
            self.find_strays(judge, (frame, mesh), next, &strays, (number, &mut out));
        }
        out
    }

    /// Corners that are not on the surface of the next frame must be where matching puts a point that is at their place now.
    fn find_strays(
        &self,
        judge: &Judge<'_>,
        (frame, mesh): (u32, &Mesh),
        next: &Mesh,
        strays: &[Stray],
        (number, out): (i64, &mut EndErrors),
    ) {
        let ends = self.ends_of(judge, mesh, next);
        let reach = judge.reach();
        let places = mesh.positions.iter().map(|p| p.map(f64::from));
        let grid = Grid::new(reach, places);
        for stray in strays {
            let here = grid.near(stray.now.map(f64::from));
            let here = here.filter(|v| distance(mesh.positions[*v], stray.now) <= reach);
            let off = here.map(|v| distance(ends[v], stray.end));
            let off = off.fold(f64::INFINITY, f64::min);
            out.elsewhere += u64::from(off <= self.allowed);
            out.add((frame, stray.vertex), off.min(stray.off), number);
        }
    }

    /// Where the points of a frame are when the next one begins, in the box of the bake.
    fn ends_of(&self, judge: &Judge<'_>, mesh: &Mesh, next: &Mesh) -> Vec<[f32; 3]> {
        let (settings, crease) = (judge.settings, judge.settings.crease());
        let step = match_frames(settings, mesh, next, &self.matching);
        let normals = [mesh, next].map(|m| corner_normals(&m.topology, &m.positions, crease));
        let both = [(mesh, &normals[0][..]), (next, &normals[1][..])];
        let end = end_of(settings, both, &step, &self.matching);
        let (low, high) = judge.bounds();
        let inside = |p: [f32; 3]| std::array::from_fn(|k| p[k].clamp(low[k], high[k]));
        end.points.into_iter().map(inside).collect()
    }
}
