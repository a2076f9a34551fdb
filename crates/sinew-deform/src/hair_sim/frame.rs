//! What the tasks of a frame read and write, and how they go through the steps one strand at a time.

use super::bind::HairBind;
use super::state::Drive;
use super::step::{StepConstants, StrandStep, WorkVertex};
use super::wind::Gusts;
use crate::SplitMut;
use crate::collide::{PerStrand, Solids};
use arrayvec::ArrayVec;
use sinew_geom::{Real, Vec3};
use std::ops::Range;

/// Steps that tasks go through at once: there is room for where so many find the colliders.
pub(crate) const RUN: usize = 16;

/// What a task does to its guides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Moves them on by all steps.
    Advance,
    /// Brings them out of the solids that they begin in, with the first step's settings.
    Free,
}

/// What tasks read.
pub(crate) struct Frame<'a, R: Real> {
    pub(crate) bind: &'a HairBind,
    pub(crate) drives: &'a [Drive<R>],
    pub(crate) constants: StepConstants<R>,
    pub(crate) gusts: Gusts,
    pub(crate) moments: ArrayVec<Moment<'a, R>, RUN>,
}

/// One of the steps.
pub(crate) struct Moment<'a, R: Real> {
    /// Shares of the frame at which it begins and ends.
    pub(crate) span: [R; 2],
    /// Simulated time at its end.
    pub(crate) now_secs: f64,
    pub(crate) solids: Solids<'a, R>,
}

impl<R: Real> Frame<'_, R> {
    /// One guide in one step.
    pub(crate) fn strand<'s>(
        &'s self,
        guide: usize,
        moment: &'s Moment<'_, R>,
    ) -> StrandStep<'s, R> {
        StrandStep {
            bound: self.bind.guide_vertices(guide),
            constants: &self.constants,
            drive: &self.drives[guide],
            span: moment.span,
            wind: self.gusts.at(self.bind.guides[guide], moment.now_secs),
            solids: &moment.solids,
            reach: self.bind.reaches[guide],
        }
    }
}

/// What tasks move: guides, counted from the first of the task.
pub(crate) struct Guides<'a, R: Real> {
    pub(crate) positions: PerStrand<'a, Vec3<R>>,
    pub(crate) velocities: PerStrand<'a, Vec3<R>>,
}

impl<R: Real> SplitMut for Guides<'_, R> {
    fn split(self, mid: usize) -> (Self, Self) {
        let (p, v) = (self.positions.split(mid), self.velocities.split(mid));
        let part = |positions, velocities| Self {
            positions,
            velocities,
        };
        (part(p.0, v.0), part(p.1, v.1))
    }
}

/// A task of the reference: one strand at a time. `work` has room for the longest.
pub(crate) fn run_each<R: Real>(
    task: Task,
    frame: &Frame<'_, R>,
    guides: Range<usize>,
    state: &mut Guides<'_, R>,
    work: &mut [WorkVertex<R>],
) {
    for moment in &frame.moments {
        for (i, guide) in guides.clone().enumerate() {
            let strand = frame.strand(guide, moment);
            let (x, v) = (state.positions.strand(i), state.velocities.strand(i));
            let work = &mut work[..x.len()];
            match task {
                Task::Advance => strand.run(x, v, work),
                Task::Free => strand.free(x, v, work),
            }
            strand.restart_lost(x, v);
        }
    }
}
