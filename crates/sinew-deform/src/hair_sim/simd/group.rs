//! A group of strands on its way through the steps of a frame.
//!
//! Eight guides of similar length are loaded into lanes, go through up to 16 steps, and are stored. The matrix of the shape solve is the
//! same in all of these steps: it is built and decomposed once when they are loaded.

use super::contact::Reach;
use super::room::{GroupRoom, GroupVertex};
use super::turn::RigidLanes;
use super::{BEHIND, WIDTH, begin, finish, length, matrix, shape};
use crate::collide::Rigid;
use crate::hair_sim::bind::BoundVertex;
use crate::hair_sim::frame::{Frame, Guides, Moment};
use crate::hair_sim::step::{LENGTH_ITERATIONS, StepConstants, StrandStep};
use crate::lanes::{Lanes, Lanes3, point, put};
use sinew_geom::Vec3;
use std::array::from_fn;

/// What a step needs to know of all strands of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupStep<'a> {
    pub(super) constants: &'a StepConstants<f32>,
    /// Where the roots are at the end.
    pub(super) root: RigidLanes,
    /// The part of the roots' motion that strands take part in.
    pub(super) shared: RigidLanes,
    /// The motion of the skin at the roots.
    pub(super) skin: RigidLanes,
    pub(super) scale: Lanes,
    pub(super) wind: Lanes3,
    pub(super) windy: bool,
}

/// The strands of a step, one a lane.
pub(super) type Strands<'s> = [StrandStep<'s, f32>; WIDTH];

/// Up to eight guides, and the room that they are in.
pub(super) struct Group<'f, 'r> {
    pub(super) frame: &'f Frame<'f, f32>,
    /// Guide of each lane, and how many lanes are more than repetitions.
    lanes: [usize; WIDTH],
    used: usize,
    /// First guide of the task.
    first: usize,
    /// Vertices of the longest.
    longest: usize,
    /// Where the roots are at the beginning of the next step.
    roots: [Rigid<f32>; WIDTH],
    room: &'r mut GroupRoom,
}

impl<'f, 'r> Group<'f, 'r> {
    /// One to eight guides of the task that begins with guide `first`.
    pub(super) fn new(
        frame: &'f Frame<'f, f32>,
        members: &[usize],
        first: usize,
        room: &'r mut GroupRoom,
    ) -> Self {
        let lens = members.iter().map(|&g| frame.bind.guide_range(g).len());
        Self {
            frame,
            lanes: from_fn(|lane| *members.get(lane).unwrap_or(&members[0])),
            used: members.len().min(WIDTH),
            first,
            longest: lens.max().unwrap_or(0),
            roots: [Rigid::identity(); WIDTH],
            room,
        }
    }

    /// Takes the strands from the state, and makes ready what all steps share.
    pub(super) fn load(&mut self, state: &mut Guides<'_, f32>) {
        let begin = self.frame.moments.first().map_or(0.0, |m| m.span[0]);
        // Another frame, other strands: whatever was known of solids is not theirs.
        self.room.knows_distances = true;
        self.room.forget(self.longest);
        let vertices = &mut self.room.vertices[..self.longest];
        for (lane, &guide) in self.lanes.iter().enumerate() {
            let local = guide - self.first;
            let (x, velocity) = (
                state.positions.strand(local),
                state.velocities.strand(local),
            );
            let bound = self.frame.bind.guide_vertices(guide);
            load_strand(vertices, lane, bound, x, velocity);
            self.roots[lane] = self.frame.drives[guide].motion.at(begin);
        }
        if self.frame.constants.keeps_shape() {
            let constants = &self.frame.constants;
            let scale = &self.lanes.map(|g| self.frame.drives[g].scales[1]);
            dispatch!(simd => matrix::prepare(simd, constants, scale, vertices));
        }
    }

    /// Hands those strands back to the state that `chosen` names.
    pub(super) fn store(&self, state: &mut Guides<'_, f32>, chosen: [bool; WIDTH]) {
        for lane in (0..self.used).filter(|&lane| chosen[lane]) {
            let local = self.lanes[lane] - self.first;
            let x = state.positions.strand(local);
            for (x, w) in x.iter_mut().zip(&self.room.vertices) {
                *x = point(&w.x, lane);
            }
            let velocity = state.velocities.strand(local);
            for (v, w) in velocity.iter_mut().zip(&self.room.vertices) {
                *v = point(&w.velocity, lane);
            }
        }
    }

    /// Moves all strands on by one step.
    pub(super) fn step(&mut self, moment: &Moment<'_, f32>) {
        let strands = self.strands(moment);
        let step = &self.inputs(&strands);
        let vertices = &mut self.room.vertices[..self.longest];
        dispatch!(simd => begin::begin(simd, step, vertices));
        if step.constants.keeps_shape() {
            dispatch!(simd => shape::restore_shape(simd, step, vertices));
        }
        let longest = self.longest;
        let mut reach = Reach::find(&strands, (self.used, longest), step, self.room);
        for i in 0..step.constants.collision_iterations.max(1) {
            reach.push_out(self.room, longest, i == 0);
            let vertices = &mut self.room.vertices[..self.longest];
            for _ in 0..LENGTH_ITERATIONS {
                dispatch!(simd => length::restore_lengths(simd, step, vertices));
            }
        }
        reach.settle(self.room, longest);
        let vertices = &mut self.room.vertices[..self.longest];
        dispatch!(simd => length::settle(simd, step, vertices));
        let (vertices, touches) = reach.take_over(self.room, longest);
        let sum = dispatch!(simd => finish::finish(simd, step, vertices, touches, &reach.rubs));
        self.tidy(&strands, &sum, reach.freed);
    }

    /// Strands that were brought far out of a solid are at rest; those that are lost begin anew.
    fn tidy(&mut self, strands: &Strands<'_>, sum: &Lanes3, freed: Lanes) {
        for lane in 0..self.used {
            let lost = !point(sum, lane).iter().all(|c| c.is_finite());
            if lost {
                let contacts = &mut self.room.contacts[..self.longest];
                contacts.iter_mut().for_each(|c| c.forget_lane(lane));
                for (w, x) in self.room.vertices.iter_mut().zip(strands[lane].at_rest()) {
                    put(&mut w.x, lane, x);
                }
            }
            let kept = strands[lane].kept_when_freed(freed[lane]);
            if lost || kept < 1.0 {
                for w in &mut self.room.vertices[..self.longest] {
                    // Lost velocities may be no numbers.
                    let v = point(&w.velocity, lane) * kept;
                    put(&mut w.velocity, lane, if lost { Vec3::zeros() } else { v });
                }
            }
        }
    }

    /// Takes all velocities. Only where drives are still, as in what comes before the first frame: the next step begins where roots are
    /// now.
    pub(super) fn stop(&mut self) {
        for w in &mut self.room.vertices[..self.longest] {
            w.velocity = [[0.0; WIDTH]; 3];
        }
    }

    /// Moves strands of the state out of the solids that they begin in; tells which.
    pub(super) fn push_free(
        &mut self,
        moment: &Moment<'_, f32>,
        state: &mut Guides<'_, f32>,
    ) -> [bool; WIDTH] {
        let mut moved = [false; WIDTH];
        for (moved, &guide) in moved.iter_mut().zip(&self.lanes[..self.used]) {
            let x = state.positions.strand(guide - self.first);
            let work = &mut self.room.alone[..x.len()];
            *moved = self.frame.strand(guide, moment).push_free(x, work);
        }
        moved
    }

    /// Strands of the state whose numbers are too large to go on with begin anew.
    pub(super) fn restart_lost(&self, moment: &Moment<'_, f32>, state: &mut Guides<'_, f32>) {
        for &guide in &self.lanes[..self.used] {
            let local = guide - self.first;
            let x = state.positions.strand(local);
            let strand = self.frame.strand(guide, moment);
            strand.restart_lost(x, state.velocities.strand(local));
        }
    }

    fn strands<'s>(&self, moment: &'s Moment<'_, f32>) -> Strands<'s>
    where
        'f: 's,
    {
        let frame = self.frame;
        self.lanes.map(|guide| frame.strand(guide, moment))
    }

    /// What the step needs of the strands; roots go on to its end.
    fn inputs(&mut self, strands: &Strands<'_>) -> GroupStep<'f> {
        let mut step = GroupStep {
            constants: &self.frame.constants,
            root: RigidLanes::default(),
            shared: RigidLanes::default(),
            skin: RigidLanes::default(),
            scale: [0.0; WIDTH],
            wind: [[0.0; WIDTH]; 3],
            windy: false,
        };
        for (lane, strand) in strands.iter().enumerate() {
            let root = strand.drive.motion.at(strand.span[1]);
            step.shared.put(lane, &strand.shared(&self.roots[lane]));
            step.skin
                .put(lane, &strand.skin_motion(&self.roots[lane], &root));
            step.root.put(lane, &root);
            step.scale[lane] = strand.scale();
            put(&mut step.wind, lane, strand.wind);
            step.windy |= strand.wind != Vec3::zeros();
            self.roots[lane] = root;
        }
        step
    }
}

fn load_strand(
    vertices: &mut [GroupVertex],
    lane: usize,
    bound: &[BoundVertex],
    x: &[Vec3<f32>],
    velocity: &[Vec3<f32>],
) {
    let given = bound.iter().zip(x).zip(velocity);
    let (own, behind) = vertices.split_at_mut(bound.len());
    for (w, ((b, &x), &velocity)) in own.iter_mut().zip(given) {
        load_bound(w, lane, b);
        put(&mut w.x, lane, x);
        put(&mut w.velocity, lane, velocity);
    }
    let none = BoundVertex {
        length: BEHIND,
        ..BoundVertex::default()
    };
    for w in behind {
        load_bound(w, lane, &none);
        put(&mut w.x, lane, Vec3::zeros());
        put(&mut w.velocity, lane, Vec3::zeros());
    }
}

fn load_bound(w: &mut GroupVertex, lane: usize, b: &BoundVertex) {
    put(&mut w.offset, lane, b.offset.into());
    w.inverse_mass[lane] = b.inverse_mass;
    w.length[lane] = b.length;
    w.arc[lane] = b.arc;
    w.lever[lane] = b.lever;
    w.bend[lane] = b.bend;
}
