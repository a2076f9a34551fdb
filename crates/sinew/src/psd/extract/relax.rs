//! Iterates the offsets; each step is a mix with earlier ones.
//!
//! Anderson mixing (Walker and Ni, "Anderson acceleration for fixed-point iterations", 2011) of the plain block
//! iteration: of all changes of the last steps, uses the mix with the smallest error. The error is weighted, so that a
//! few distant vertices count among thousands of reached ones. It is damped, so that the last micrometre does not cause
//! offsets of a decimetre.

use super::blocks::Blocks;
use super::mixture::{History, Weights};
use super::stack::Stack;
use super::{ExtractError, ExtractOptions, SingularVertex};
use crate::geom::Vec3;

/// Iteration aims at this share of the tolerance, since rounding and dropping add errors.
const MARGIN: f64 = 0.25;
/// This number of steps must reduce the error by a hundredth.
const PATIENCE: usize = 40;
/// Vertices get new weights after this number of steps.
const WEIGHTED_FOR: usize = 5;
/// A step with this multiple of the best error restarts there.
const ASTRAY: f64 = 4.0;

/// Offsets and their history.
pub(super) struct Solution {
    pub(super) offsets: Vec<Vec3<f64>>,
    /// Residual without offsets.
    pub(super) before: Vec<Vec3<f64>>,
    pub(super) singular: Vec<SingularVertex>,
    pub(super) steps: usize,
}

/// Offsets and their residual.
#[derive(Clone)]
struct Place {
    offsets: Vec<Vec3<f64>>,
    missing: Vec<Vec3<f64>>,
    /// Square root of the weighted squares of the residual.
    left: f64,
}

impl Place {
    fn new(offsets: Vec<Vec3<f64>>, missing: Vec<Vec3<f64>>, near: f64) -> Self {
        let left = Weights::of(&missing, near).norm(&missing);
        Self {
            offsets,
            missing,
            left,
        }
    }

    /// The next offsets: the mix of `history`, then a step of the blocks.
    fn next(&self, history: &History, damping: f64, blocks: &Blocks) -> Vec<Vec3<f64>> {
        let (mut offsets, mut missing) = (self.offsets.clone(), self.missing.clone());
        history.mix(&mut offsets, &mut missing, damping);
        for (offset, step) in offsets.iter_mut().zip(blocks.solve(&missing)) {
            *offset += step;
        }
        offsets
    }
}

pub(super) fn solve(
    stack: &mut Stack<'_, '_>,
    goal: &[Vec3<f64>],
    options: &ExtractOptions,
) -> Result<Solution, ExtractError> {
    let near = MARGIN * options.tolerance;
    let none = vec![Vec3::zeros(); goal.len()];
    let before = stack.residual(&none, goal)?;
    let blocks = Blocks::measure(stack, &none, options.singular_ratio)?;
    let mut at = Place::new(none, blocks.projected(&before), near);
    let mut best = at.clone();
    let mut history = History::new(Weights::of(&at.missing, near));
    let (mut steps, mut mark) = (0, (0, best.left));
    while steps < options.max_steps && longest(&at.missing) > near {
        if steps % WEIGHTED_FOR == 0 {
            history.reweight(Weights::of(&at.missing, near));
        }
        let offsets = at.next(&history, options.damping, &blocks);
        let missing = blocks.projected(&stack.residual(&offsets, goal)?);
        let next = Place::new(offsets, missing, near);
        steps += 1;
        if next.left > ASTRAY * best.left {
            history.clear();
            at = best.clone();
        } else {
            history.push(
                changes(&next.offsets, &at.offsets),
                changes(&next.missing, &at.missing),
            );
            at = next;
        }
        if at.left < best.left {
            best = at.clone();
        }
        if best.left < 0.99 * mark.1 {
            mark = (steps, best.left);
        } else if steps - mark.0 >= PATIENCE {
            break;
        }
    }
    Ok(Solution {
        offsets: best.offsets,
        before,
        singular: blocks.into_singular(),
        steps,
    })
}

fn changes(to: &[Vec3<f64>], from: &[Vec3<f64>]) -> Vec<[f32; 3]> {
    let change = |(to, from): (&Vec3<f64>, &Vec3<f64>)| super::stack::single(&(to - from));
    to.iter().zip(from).map(change).collect()
}

pub(super) fn longest(field: &[Vec3<f64>]) -> f64 {
    field.iter().map(Vec3::norm).fold(0.0, f64::max)
}
