//! How each precision is simulated.

use super::frame::{Frame, Guides, Task, run_task};
use crate::strand_step::{Vertex, VertexOfEight};
use fearless_simd::{Simd, f32x8};
use sinew_geom::Real;
use std::fmt::Debug;
use std::ops::Range;

/// The precisions of the simulation: nodes run in `f32`; `f64` is for checks.
#[expect(private_bounds, reason = "no other precision can be simulated")]
pub trait HairReal: Real + Stepped {}

impl HairReal for f32 {}
impl HairReal for f64 {}

/// What differs between them.
pub(crate) trait Stepped: Real {
    /// What one task works in: a vertex of each strand of a group, for each vertex of the longest.
    type Work: Clone + Debug + Send + Default;

    /// Does the task for all its guides.
    fn run(
        task: Task,
        frame: &Frame<'_, Self>,
        guides: Range<usize>,
        state: &mut Guides<'_, Self>,
        work: &mut [Self::Work],
    );
}

impl Stepped for f32 {
    type Work = VertexOfEight;

    fn run(
        task: Task,
        frame: &Frame<'_, f32>,
        guides: Range<usize>,
        state: &mut Guides<'_, f32>,
        work: &mut [Self::Work],
    ) {
        dispatch!(simd => run_lanes(simd, task, frame, guides, state, work));
    }
}

#[inline(always)]
fn run_lanes<S: Simd>(
    simd: S,
    task: Task,
    frame: &Frame<'_, f32>,
    guides: Range<usize>,
    state: &mut Guides<'_, f32>,
    work: &mut [VertexOfEight],
) {
    run_task::<f32, f32x8<S>>(simd, task, frame, guides, state, work);
}

impl Stepped for f64 {
    type Work = Vertex<f64>;

    fn run(
        task: Task,
        frame: &Frame<'_, f64>,
        guides: Range<usize>,
        state: &mut Guides<'_, f64>,
        work: &mut [Self::Work],
    ) {
        run_task::<f64, f64>((), task, frame, guides, state, work);
    }
}
