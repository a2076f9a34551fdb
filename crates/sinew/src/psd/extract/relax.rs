//! Offsets step by step, each vertex at its own pace.

use super::blocks::Blocks;
use super::stack::Stack;
use super::{ExtractError, ExtractOptions, SingularVertex};
use crate::geom::Vec3;

/// Steps go on to this share of the tolerance, where they can: rounding and dropping come on top.
const MARGIN: f64 = 0.25;
/// So many steps must bring the surface nearer by a hundredth.
const PATIENCE: usize = 40;
/// Pace of a vertex that a step took farther off, and of one that it brought nearer.
const SLOWER: f64 = 0.5;
const FASTER: f64 = 1.25;
/// More momentum makes vertices that hang on each other swing.
const MOST_MOMENTUM: f64 = 0.8;
/// The least pace.
const SLOWEST: f64 = 1.0 / 64.0;

/// Offsets and the way to them.
pub(super) struct Solution {
    pub(super) offsets: Vec<Vec3<f64>>,
    /// What was missing to the sculpt without offsets.
    pub(super) before: Vec<Vec3<f64>>,
    pub(super) singular: Vec<SingularVertex>,
    pub(super) steps: usize,
}

/// A vertex on its way.
#[derive(Clone, Copy)]
struct Walker {
    /// Share of the step that is taken.
    pace: f64,
    /// Steps since it last went astray: its momentum grows with them.
    steady: f64,
    /// How far off it was.
    distance: f64,
    /// Where it was before momentum.
    offset: Vec3<f64>,
}

impl Walker {
    const START: Self = Self {
        pace: 1.0,
        steady: 0.0,
        distance: f64::INFINITY,
        offset: Vec3::new(0.0, 0.0, 0.0),
    };

    /// From `at`, where `missing` is what the stack lacks there and `step` would make up for it; where to look next.
    fn walk(&mut self, at: Vec3<f64>, missing: f64, step: Vec3<f64>) -> Vec3<f64> {
        if missing > self.distance {
            self.pace = (self.pace * SLOWER).max(SLOWEST);
            self.steady = 0.0;
        } else {
            self.pace = (self.pace * FASTER).min(1.0);
            self.steady += 1.0;
        }
        self.distance = missing;
        let next = at + step * self.pace;
        let momentum = ((self.steady - 1.0).max(0.0) / (self.steady + 2.0)).min(MOST_MOMENTUM);
        let ahead = next + (next - self.offset) * momentum;
        self.offset = next;
        ahead
    }
}

pub(super) fn solve(
    stack: &mut Stack<'_, '_>,
    goal: &[Vec3<f64>],
    options: &ExtractOptions,
) -> Result<Solution, ExtractError> {
    let mut at = vec![Vec3::zeros(); goal.len()];
    let before = stack.residual(&at, goal)?;
    let blocks = Blocks::measure(stack, &at, options.singular_ratio)?;
    let mut missing = blocks.projected(&before);
    let mut walkers = vec![Walker::START; goal.len()];
    let mut best = (at.clone(), norm(&missing));
    let (mut steps, mut mark) = (0, (0, best.1));
    while steps < options.max_steps && longest(&missing) > MARGIN * options.tolerance {
        let full = blocks.solve(&missing);
        let each = walkers.iter_mut().zip(&mut at);
        for ((walker, at), (missing, full)) in each.zip(missing.iter().zip(full)) {
            *at = walker.walk(*at, missing.norm(), full);
        }
        steps += 1;
        missing = blocks.projected(&stack.residual(&at, goal)?);
        let left = norm(&missing);
        if left < best.1 {
            best = (at.clone(), left);
        }
        if best.1 < 0.99 * mark.1 {
            mark = (steps, best.1);
        } else if steps - mark.0 >= PATIENCE {
            break;
        }
    }
    Ok(Solution {
        offsets: best.0,
        before,
        singular: blocks.into_singular(),
        steps,
    })
}

fn norm(field: &[Vec3<f64>]) -> f64 {
    field.iter().map(Vec3::norm_squared).sum::<f64>().sqrt()
}

pub(super) fn longest(field: &[Vec3<f64>]) -> f64 {
    field.iter().map(Vec3::norm).fold(0.0, f64::max)
}
