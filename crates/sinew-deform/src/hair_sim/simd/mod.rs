//! Steps on the CPU, eight strands side by side, in single precision. The formulas are those of `step.rs`, `shape.rs` and `length.rs`, in
//! the same order; branches are masks.
//!
//! Guides of a task are grouped by their number of vertices. Shorter strands of a group are filled up to its longest with vertices that
//! nothing moves and that move nothing ([`BEHIND`]). Lanes without a strand repeat another one and are not written back. A group is loaded
//! once and goes through all steps of a task. Contacts are computed only for strands that a solid can reach.

mod begin;
mod contact;
mod finish;
mod group;
mod length;
mod matrix;
mod room;
mod shape;
#[cfg(test)]
mod tests;
mod turn;

use super::frame::{Frame, Guides, Task};
use super::state::CHUNK;
use super::step::RELAXING_STEPS;
use arrayvec::ArrayVec;
use group::Group;
use std::ops::Range;

pub(crate) use room::GroupRoom;

/// Strands side by side.
const WIDTH: usize = 8;
/// Length of segments behind the tip of a strand that is shorter than others of its group. Such vertices have no mass to be moved by, no
/// stiffness and no place in the solve for lengths.
const BEHIND: f32 = -1.0;

/// One task: a run of guides.
pub(crate) fn run(
    task: Task,
    frame: &Frame<'_, f32>,
    guides: Range<usize>,
    state: &mut Guides<'_, f32>,
    room: &mut GroupRoom,
) {
    let mut sorted: ArrayVec<usize, CHUNK> = guides.clone().collect();
    // The number breaks ties, so that neighbours stay together.
    sorted.sort_unstable_by_key(|&guide| (frame.bind.guide_range(guide).len(), guide));
    for members in sorted.chunks(WIDTH) {
        let mut group = Group::new(frame, members, guides.start, room);
        match task {
            Task::Advance => advance(&mut group, state),
            Task::Free => free(&mut group, state),
        }
    }
}

/// All steps of a group.
fn advance(group: &mut Group<'_, '_>, state: &mut Guides<'_, f32>) {
    group.load(state);
    for moment in &group.frame.moments {
        group.step(moment);
    }
    group.store(state, [true; WIDTH]);
}

/// Brings strands out of the solids that they begin in, as [`super::step::StrandStep::free`] does.
fn free(group: &mut Group<'_, '_>, state: &mut Guides<'_, f32>) {
    let Some(moment) = group.frame.moments.first() else {
        return;
    };
    let moved = group.push_free(moment, state);
    if moved.contains(&true) {
        group.load(state);
        for _ in 0..RELAXING_STEPS {
            group.step(moment);
            group.stop();
        }
        group.store(state, moved);
    }
    group.restart_lost(moment, state);
}
