//! How each precision is simulated.

use super::frame::{Frame, Guides, Task, run_each};
use super::simd::{self, GroupRoom};
use super::step::WorkVertex;
use sinew_geom::Real;
use std::fmt::Debug;
use std::ops::Range;

/// The precisions of the simulation: nodes run in `f32`; `f64` is for checks.
#[expect(private_bounds, reason = "no other precision can be simulated")]
pub trait HairReal: Real + Stepped {}

impl HairReal for f32 {}
impl HairReal for f64 {}

/// What does a task.
pub(crate) type Runner<R> =
    fn(Task, &Frame<'_, R>, Range<usize>, &mut Guides<'_, R>, &mut <R as Stepped>::Room);

/// What differs between them.
pub(crate) trait Stepped: Real {
    /// What one task works in.
    type Room: Clone + Debug + Send;

    const RUNNER: Runner<Self>;

    /// Room for strands of at most so many vertices.
    fn room(longest: usize) -> Self::Room;
    /// Bytes that it takes.
    fn room_bytes(room: &Self::Room) -> usize;
}

impl Stepped for f32 {
    type Room = GroupRoom;

    const RUNNER: Runner<Self> = simd::run;

    fn room(longest: usize) -> GroupRoom {
        GroupRoom::new(longest)
    }
    fn room_bytes(room: &GroupRoom) -> usize {
        room.bytes()
    }
}

impl Stepped for f64 {
    type Room = Vec<WorkVertex<f64>>;

    const RUNNER: Runner<Self> =
        |task, frame, guides, state, room| run_each(task, frame, guides, state, room);

    fn room(longest: usize) -> Self::Room {
        vec![WorkVertex::default(); longest]
    }
    fn room_bytes(room: &Self::Room) -> usize {
        size_of_val(room.as_slice())
    }
}
