//! What the tasks of a frame read and write, and how they go through the steps, a group of strands side by side.

use super::bind::HairBind;
use super::detail::{LastStep, fade, go_with_root};
use super::group::Group;
use super::state::{CHUNK, Drive, Kept};
use super::wind::Gusts;
use crate::SplitMut;
use crate::collide::{PerStrand, Solids};
use crate::strand_step::{Lanes as _, Laws, Number, Vertex};
use arrayvec::ArrayVec;
use sinew_geom::{Real, Vec3};
use std::ops::Range;

/// Steps that tasks go through at once: there is room for where so many find the colliders.
pub(crate) const RUN: usize = 16;

/// Steps in which strands find a shape outside of what they begin in.
const FREEING_STEPS: usize = 24;

/// What a task does to its guides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    /// Moves them on by all steps.
    Advance,
    /// Brings those that begin in a solid out of it; they are at rest afterwards. The others stay as they are.
    Free,
}

/// What tasks read.
pub(crate) struct Frame<'a, R: Real> {
    pub(crate) bind: &'a HairBind,
    pub(crate) drives: &'a [Drive<R>],
    pub(crate) laws: Laws,
    pub(crate) gravity: Vec3<R>,
    /// Fraction of the arc length that is pulled to the rest position.
    pub(crate) pulled: f32,
    /// Guides that it hides are not simulated.
    pub(crate) detail: f32,
    pub(crate) gusts: Gusts,
    /// What pushes guide vertices, along the axes of their roots; empty where nothing does.
    pub(crate) pushes: &'a [Vec3<R>],
    pub(crate) moments: ArrayVec<Moment<'a, R>, RUN>,
    /// Where solids are at the end of the frame, still.
    pub(crate) ends: Solids<'a, R>,
}

/// One of the steps.
pub(crate) struct Moment<'a, R: Real> {
    /// Shares of the frame at which it begins and ends.
    pub(crate) span: [R; 2],
    /// Simulated time at its end.
    pub(crate) now_secs: f64,
    pub(crate) solids: Solids<'a, R>,
}

/// What tasks move: guides, counted from the first of the task.
pub(crate) struct Guides<'a, R: Real> {
    pub(crate) kept: PerStrand<'a, Kept<R>>,
    /// In the scene.
    pub(crate) positions: PerStrand<'a, Vec3<R>>,
}

impl<R: Real> SplitMut for Guides<'_, R> {
    fn split(self, mid: usize) -> (Self, Self) {
        let (k, p) = (self.kept.split(mid), self.positions.split(mid));
        let part = |kept, positions| Self { kept, positions };
        (part(k.0, p.0), part(k.1, p.1))
    }
}

impl<R: Real> Frame<'_, R> {
    fn shows(&self, guide: usize) -> bool {
        let shown_from = self.bind.shown_from[self.bind.guides[guide] as usize];
        fade(self.detail, shown_from) > 0.0
    }

    /// Moves a guide that is hidden.
    fn carry(&self, guide: usize, first: usize, state: &mut Guides<'_, R>) {
        let drive = &self.drives[guide];
        let Some([begin, end]) = self.moments.last().map(|m| m.span) else {
            return;
        };
        let root = LastStep {
            end: drive.motion.at(end),
            shared: drive.motion.at(begin + (end - begin) * drive.share),
            secs: R::from_double(self.laws.h),
            scale: drive.scales[1],
        };
        go_with_root(
            self.bind.guide_vertices(guide),
            &root,
            state.kept.strand(guide - first),
            state.positions.strand(guide - first),
        );
    }
}

/// A task. Guides are grouped by their number of vertices; hidden ones go with their roots.
#[inline(always)]
pub(crate) fn run_task<R: Real, N: Number>(
    token: N::Token,
    task: Task,
    frame: &Frame<'_, R>,
    guides: Range<usize>,
    state: &mut Guides<'_, R>,
    work: &mut [Vertex<N::Stored>],
) {
    let shown = guides.clone().filter(|&guide| frame.shows(guide));
    let mut sorted: ArrayVec<usize, CHUNK> = shown.collect();
    if task == Task::Advance {
        for guide in guides.clone().filter(|&guide| !frame.shows(guide)) {
            frame.carry(guide, guides.start, state);
        }
    }
    // The number breaks ties, so that neighbours stay together.
    sorted.sort_unstable_by_key(|&guide| (frame.bind.guide_range(guide).len(), guide));
    for members in sorted.chunks(N::Stored::LANES) {
        let mut group = Group::<R, N>::new(frame, members, guides.start, token, work);
        group.load(state);
        match task {
            Task::Advance => {
                for moment in &frame.moments {
                    group.step(moment);
                }
                group.store(state, u8::MAX);
            }
            Task::Free => {
                let Some(moment) = frame.moments.first() else {
                    continue;
                };
                let moved = group.place_outside(moment);
                for _ in 0..FREEING_STEPS {
                    if moved == 0 {
                        break;
                    }
                    group.step(moment);
                    group.stop();
                }
                group.store(state, moved);
            }
        }
    }
}
