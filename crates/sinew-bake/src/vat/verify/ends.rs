//! Where blends go: ends of frames and slots against the frame behind.
//!
//! With ends every corner of a frame's end must be on the surface of the next frame, which the sequence alone tells. What vanishes ends in a point,
//! and what lands nowhere goes as its neighbours go: corners that are not on that surface must be where matching, made anew from the two frames, puts them.
//! Corners at one place of the frame must go to one place, so that the surface stays closed. Normals there are those of the next frame ([`super::end_normals`]).
//! Without ends blends go to what the slot shows next: it must be the triangle that matching says, or the point that a triangle grows from or
//! shrinks to.

use super::distance;
use super::end_normals::{NextNormals, nearest_of};
use super::grid::Grid;
use super::judge::Judge;
use super::mode::JudgedFrame;
use super::parting::Parting;
use super::remesh::{corners_of, is_point};
use super::slots::Successors;
use crate::vat::ends::end_of;
use crate::vat::maker::error::{ErrorSum, angle_between};
use crate::vat::maker::matching::{FrameEnd, SurfaceTree};
use crate::vat::maker::normals::corner_normals;
use crate::vat::scan::match_frames;
use serde::Serialize;
use sinew_geom::Mesh;
use sinew_geom::vec3::length;

/// Where blends go.
#[derive(Clone, Debug, Serialize)]
pub struct EndErrors {
    /// Whether they go to ends of frames; otherwise they go to what the slot shows next.
    pub closed: bool,
    /// Distances of corners from the surface of the next frame, or from where matching puts them, metres.
    #[serde(skip)]
    pub errors: ErrorSum,
    /// How far they may be: half a step of the codes, and what single precision loses.
    pub allowed: f64,
    /// Corners that are not on the next frame's surface and need not be: of parts that vanish, or that land nowhere.
    pub elsewhere: u64,
    /// Corners that are too far off.
    pub beyond: u64,
    /// Points of frames whose corners go to different places, where the surface should stay closed.
    pub parting: u64,
    /// Angles between normals of corners and those of the next frame's surface at their places, or those that matching gives, radians: what is beyond
    /// what rounding of the places does. Nothing where blends go to slots, whose normals are compared as those of the next frame.
    #[serde(skip)]
    pub normals: ErrorSum,
    /// How far these may be, radians: what the format promises. `None` where the bake has no normals.
    pub normals_allowed: Option<f64>,
    /// Corners whose normals are too far off.
    pub normals_beyond: u64,
    /// Corners on the next frame's surface that have the normal of the side that they face, which begins beside them.
    pub facing: u64,
    /// The first frame with such a corner, by its number.
    pub first_wrong: Option<i64>,
}

impl EndErrors {
    /// For people: `; ends within 0.03 mm of the next frame's surface (allowed 0.04 mm), normals there within 0.35 degrees (allowed 0.39)` and what
    /// else there is to say.
    #[must_use]
    pub fn words(&self) -> String {
        let what = match self.closed {
            true => "the next frame's surface",
            false => "the triangles that follow",
        };
        let mut text = format!(
            "; ends within {:.4} mm of {what} (allowed {:.4} mm)",
            self.errors.largest * 1e3,
            self.allowed * 1e3
        );
        if let Some(allowed) = self.normals_allowed.filter(|_| self.normals.samples() > 0) {
            text += &format!(
                ", normals there within {:.2} degrees (allowed {:.2})",
                self.normals.largest.to_degrees(),
                allowed.to_degrees()
            );
        }
        let more = [
            (
                self.elsewhere,
                [
                    "corner of what vanishes or lands nowhere is where matching puts it",
                    "corners of what vanishes or lands nowhere are where matching puts them",
                ],
            ),
            (
                self.facing,
                [
                    "corner beside a hard edge has the normal of the side that it faces",
                    "corners beside a hard edge have the normal of the side that they face",
                ],
            ),
            (
                self.beyond,
                ["corner is beyond that", "corners are beyond that"],
            ),
            (
                self.normals_beyond,
                ["corner has another normal", "corners have other normals"],
            ),
            (self.parting, ["point parts", "points part"]),
        ];
        for (count, [one, many]) in more.into_iter().filter(|m| m.0 > 0) {
            text += &format!(", {count} {}", if count == 1 { one } else { many });
        }
        text
    }

    /// Takes those of a later frame.
    pub(super) fn join(&mut self, later: &Self) {
        self.errors.join(&later.errors);
        self.elsewhere += later.elsewhere;
        self.beyond += later.beyond;
        self.parting += later.parting;
        self.normals.join(&later.normals);
        self.normals_beyond += later.normals_beyond;
        self.facing += later.facing;
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

    /// Takes the normal of a corner.
    fn add_normal(&mut self, (frame, vertex): (u32, u32), angle: f64, number: i64) {
        self.normals.add(frame, vertex, angle);
        if angle.is_nan() || self.normals_allowed.is_some_and(|a| angle > a) {
            self.normals_beyond += 1;
            self.first_wrong.get_or_insert(number);
        }
    }

    /// Whether nothing is wrong.
    pub(super) fn is_right(&self) -> bool {
        self.beyond + self.parting + self.normals_beyond == 0
    }
}

/// Judges where blends of loose triangles go.
pub(crate) struct EndJudge {
    is_closed: bool,
    pub(super) allowed: f64,
    /// The same of normals, radians.
    normals_allowed: Option<f64>,
}

/// A corner that the next frame's surface alone does not explain.
struct Stray {
    vertex: u32,
    now: [f32; 3],
    end: [f32; 3],
    /// How far it is from that surface, metres; nothing where it is on it.
    off: Option<f64>,
    /// How far its normal is from that of the surface, radians; nothing where it is not on it.
    angle: Option<f64>,
}

impl EndJudge {
    /// `None` where blends go to texels that are compared anyhow, or nowhere.
    pub(super) fn new(judge: &Judge<'_>) -> Option<Self> {
        let manifest = judge.animation.manifest();
        if !manifest.can_blend {
            return None;
        }
        // Where nobody asked for blends from slot to slot, that these are there is a fault of its own.
        let settings = judge.settings;
        if !manifest.has_ends && (settings.has_ends() || !settings.is_matched()) {
            return None;
        }
        let half_step = length(judge.promised());
        Some(Self {
            is_closed: manifest.has_ends,
            allowed: half_step * 1.001 + judge.rounding_on_surfaces(),
            normals_allowed: judge.promised_normal.filter(|_| manifest.has_ends),
        })
    }

    /// What is known before a frame was looked at.
    pub(super) fn nothing(&self) -> EndErrors {
        EndErrors {
            closed: self.is_closed,
            errors: ErrorSum::default(),
            allowed: self.allowed,
            elsewhere: 0,
            beyond: 0,
            parting: 0,
            normals: ErrorSum::default(),
            normals_allowed: self.normals_allowed,
            normals_beyond: 0,
            facing: 0,
            first_wrong: None,
        }
    }

    /// Judges where blends of a frame go.
    pub(super) fn frame(&self, of: JudgedFrame<'_>) -> EndErrors {
        match (self.is_closed, of.next) {
            (true, Some((_, next))) => self.closed(of, next),
            (true, None) => self.still(of),
            // Slots are not matched over the seam of a loop.
            (false, Some((index, next))) if index == of.frame + 1 => {
                Successors::new(self, of, next).judge()
            }
            (false, _) => self.nothing(),
        }
    }

    /// The end of a frame that nothing follows is the frame.
    fn still(&self, of: JudgedFrame<'_>) -> EndErrors {
        let (judge, frame, number) = (of.judge, of.frame, of.number);
        let mut out = self.nothing();
        for slot in 0..judge.slots() {
            let [now, end] = [0, 1].map(|row| judge.slot_in_row(slot, 2 * frame + row));
            for (vertex, (now, end)) in (3 * slot..).zip(now.into_iter().zip(end)) {
                out.add((frame, vertex), distance(now, end), number);
                let normals = [0, 1].map(|row| judge.normal_in_row(vertex, 2 * frame + row));
                if let [Some(now), Some(end)] = normals {
                    out.add_normal((frame, vertex), angle_between(now, end), number);
                }
            }
        }
        out
    }

    fn closed(&self, of: JudgedFrame<'_>, next: &Mesh) -> EndErrors {
        let (judge, frame, number) = (of.judge, of.frame, of.number);
        let ground = Ground::new(self, judge, next);
        let (mut out, mut strays) = (self.nothing(), Vec::new());
        let mut parting = Parting::default();
        for slot in 0..judge.slots() {
            let [now, end] = [0, 1].map(|row| judge.slot_in_row(slot, 2 * frame + row));
            // Slots without a triangle stay where they are, but for those that one grows in. Ends are kept in the box, out of which rounding may bring a middle.
            let is_new = is_point(now);
            if is_new && is_point(end) && distance(now[0], end[0]) <= self.allowed {
                continue;
            }
            for (vertex, (now, end)) in (3 * slot..).zip(now.into_iter().zip(end)) {
                if !is_new {
                    parting.add(now, end);
                }
                let seen = judge.normal_in_row(vertex, 2 * frame + 1);
                let corner = ground.judge((frame, vertex), (end, seen), (number, &mut out));
                strays.extend(corner.map(|(off, angle)| Stray {
                    vertex,
                    now,
                    end,
                    off,
                    angle,
                }));
            }
        }
        out.parting = parting.points_that_part(of.mesh, judge.reach());
        if out.parting > 0 {
            out.first_wrong = Some(number);
        }
        if !strays.is_empty() {
            self.find_strays(of, next, &strays, &mut out);
        }
        out
    }

    /// Corners that the surface of the next frame does not explain must be where matching puts one that is at their place now, with the normal that it gives.
    fn find_strays(&self, of: JudgedFrame<'_>, next: &Mesh, strays: &[Stray], out: &mut EndErrors) {
        let (judge, frame, number) = (of.judge, of.frame, of.number);
        let matched = Matched::new(self, of, next);
        for stray in strays {
            let at = (frame, stray.vertex);
            if let Some(off_surface) = stray.off {
                let off = matched.off(stray);
                out.elsewhere += u64::from(off <= self.allowed);
                out.add(at, off.min(off_surface), number);
            }
            let normals = [0, 1].map(|row| judge.normal_in_row(stray.vertex, 2 * frame + row));
            let [Some(now), Some(end)] = normals else {
                continue;
            };
            let angle = matched.angle(stray, now, end);
            let is_given = |a: &f64| self.normals_allowed.is_some_and(|allowed| *a <= allowed);
            out.facing += u64::from(stray.off.is_none() && angle.as_ref().is_some_and(is_given));
            let nearer = angle.into_iter().chain(stray.angle).reduce(f64::min);
            if let Some(angle) = nearer {
                out.add_normal(at, angle, number);
            }
        }
    }
}

/// The surface that the corners of an end are on.
struct Ground<'a> {
    surface: SurfaceTree,
    normals: Option<NextNormals<'a>>,
    allowed: f64,
}

impl<'a> Ground<'a> {
    fn new(ends: &EndJudge, judge: &Judge<'_>, next: &'a Mesh) -> Self {
        let count = next.topology.triangles().len();
        let triangles: Vec<_> = (0..count).map(|t| corners_of(next, t)).collect();
        Self {
            surface: SurfaceTree::new(&triangles),
            normals: NextNormals::new(judge, next, ends.allowed),
            allowed: ends.allowed,
        }
    }

    /// Takes a corner that is on the surface, with the normal that this has there. Otherwise gives how far it is from it, or how far its normal is off.
    fn judge(
        &self,
        at: (u32, u32),
        (end, seen): ([f32; 3], Option<[f32; 3]>),
        (number, out): (i64, &mut EndErrors),
    ) -> Option<(Option<f64>, Option<f64>)> {
        let near = self.surface.within(end, self.allowed);
        let Some(off) = near.iter().map(|n| n.distance).reduce(f64::min) else {
            let off = self.surface.distance(end).unwrap_or(f64::INFINITY);
            return Some((Some(off), None));
        };
        out.add(at, off, number);
        let (normals, seen) = (self.normals.as_ref()?, seen?);
        let angle = normals.off(seen, &near)?;
        if normals.is_beyond(angle) {
            return Some((None, Some(angle)));
        }
        out.add_normal(at, angle, number);
        None
    }
}

/// What matching, made anew, says of the corners of a frame.
struct Matched<'a> {
    mesh: &'a Mesh,
    normals: Vec<[[f32; 3]; 3]>,
    end: FrameEnd,
    /// Corners of triangles by where they are now, three each.
    grid: Grid,
    reach: f64,
    allowed: f64,
    normals_allowed: f64,
}

impl<'a> Matched<'a> {
    fn new(ends: &EndJudge, of: JudgedFrame<'a>, next: &Mesh) -> Self {
        let (judge, mesh) = (of.judge, of.mesh);
        let (settings, crease) = (judge.settings, judge.settings.crease());
        let step = match_frames(settings, mesh, next);
        let [normals, of_next] =
            [mesh, next].map(|m| corner_normals(&m.topology, &m.positions, crease));
        let both = [(mesh, &normals[..]), (next, &of_next[..])];
        let mut end = end_of(settings, both, &step);
        let (low, high) = judge.bounds();
        for point in &mut end.points {
            *point = std::array::from_fn(|k| point[k].clamp(low[k], high[k]));
        }
        let corners = mesh.topology.triangles().iter().flatten();
        let places = corners.map(|v| mesh.positions[*v as usize].map(f64::from));
        Self {
            grid: Grid::new(judge.reach(), places),
            mesh,
            normals,
            end,
            reach: judge.reach(),
            allowed: ends.allowed,
            normals_allowed: ends.normals_allowed.unwrap_or_default(),
        }
    }

    /// Corners of the frame at a place, each a triangle, a corner of it and its vertex.
    fn at(&self, now: [f32; 3]) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        let triangles = self.mesh.topology.triangles();
        let near = self.grid.near(now.map(f64::from));
        let corners = near.map(|c| (c / 3, c % 3, triangles[c / 3][c % 3] as usize));
        corners.filter(move |(_, _, v)| distance(self.mesh.positions[*v], now) <= self.reach)
    }

    /// How far a corner is from where one that is at its place now should go.
    fn off(&self, stray: &Stray) -> f64 {
        let each = self.at(stray.now);
        let each = each.map(|(_, _, v)| distance(self.end.points[v], stray.end));
        each.fold(f64::INFINITY, f64::min)
    }

    /// How far the normal of a corner, that was `now`, is from those that corners at its place get, which go where it goes; `None` where there is none.
    fn angle(&self, stray: &Stray, now: [f32; 3], end: [f32; 3]) -> Option<f64> {
        let here = self.at(stray.now).filter(|(t, k, v)| {
            distance(self.end.points[*v], stray.end) <= self.allowed
                && angle_between(now, self.normals[*t][*k]) <= self.normals_allowed
        });
        nearest_of(end, here.map(|(t, k, _)| self.end.normals[t][k]))
    }
}
