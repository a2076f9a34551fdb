//! Newton's method with inexact steps and a line search.

use super::blocks::Blocks;
use super::krylov::{Field, gmres, norm};
use super::stack::Stack;
use super::{ExtractError, ExtractOptions, SingularVertex};
use crate::geom::Vec3;

/// Reach of the differences along a direction, as a share of the mesh's size.
const REACH: f64 = 1e-3;
/// What may be left of the residual of the linear system.
const LINEAR: f64 = 1e-2;
/// How often a step is halved.
const HALVINGS: i32 = 6;
/// Two steps in a row that leave more than this of the distance are the end.
const STALLED: f64 = 0.9;
/// Steps go on to this share of the tolerance, where they can: rounding and dropping come on top.
const MARGIN: f64 = 0.25;

/// Offsets and the way to them.
pub(super) struct Solution {
    pub(super) offsets: Field,
    /// What was missing to the sculpt without offsets.
    pub(super) before: Field,
    pub(super) singular: Vec<SingularVertex>,
    pub(super) steps: usize,
}

pub(super) fn solve(
    stack: &mut Stack<'_, '_>,
    goal: &[Vec3<f64>],
    options: &ExtractOptions,
) -> Result<Solution, ExtractError> {
    let mut offsets = vec![Vec3::zeros(); goal.len()];
    let before = stack.residual(&offsets, goal)?;
    let mut residual = before.clone();
    let mut blocks = Blocks::measure(stack, &offsets, options.singular_ratio)?;
    let (mut steps, mut slow) = (0, 0);
    while steps < options.max_steps && slow < 2 {
        let reachable = blocks.projected(&residual);
        if longest(&reachable) <= MARGIN * options.tolerance {
            break;
        }
        if steps > 0 {
            blocks = Blocks::measure(stack, &offsets, options.singular_ratio)?;
        }
        let reachable = blocks.projected(&residual);
        let step = step(stack, &offsets, &blocks, &reachable)?;
        let so_far = norm(&reachable);
        let distance = |field: &Field| norm(&blocks.projected(field));
        let Some(found) = line_search(stack, goal, &offsets, &step, so_far, distance)? else {
            break;
        };
        steps += 1;
        let left = distance(&found.1) / so_far;
        slow = if left > STALLED { slow + 1 } else { 0 };
        (offsets, residual) = found;
    }
    Ok(Solution {
        offsets,
        before,
        singular: blocks.into_singular(),
        steps,
    })
}

pub(super) fn longest(field: &[Vec3<f64>]) -> f64 {
    field.iter().map(Vec3::norm).fold(0.0, f64::max)
}

/// Offsets that take the linearised stack to the goal.
fn step(
    stack: &mut Stack<'_, '_>,
    offsets: &[Vec3<f64>],
    blocks: &Blocks,
    residual: &[Vec3<f64>],
) -> Result<Field, ExtractError> {
    let reach = REACH * stack.size();
    let solved = gmres(residual, LINEAR, |x| {
        let image = stack.derivative(offsets, &blocks.solve(x), reach)?;
        Ok::<_, ExtractError>(blocks.projected(&image))
    })?;
    Ok(blocks.solve(&solved))
}

/// Offsets and residual of the longest part of the step that brings the output nearer to the goal; `None` where none does.
fn line_search(
    stack: &mut Stack<'_, '_>,
    goal: &[Vec3<f64>],
    offsets: &[Vec3<f64>],
    step: &[Vec3<f64>],
    so_far: f64,
    distance: impl Fn(&Field) -> f64,
) -> Result<Option<(Field, Field)>, ExtractError> {
    for halvings in 0..=HALVINGS {
        let part = 0.5_f64.powi(halvings);
        let moved: Field = offsets
            .iter()
            .zip(step)
            .map(|(d, s)| d + s * part)
            .collect();
        let found = stack.residual(&moved, goal)?;
        if distance(&found) < so_far {
            return Ok(Some((moved, found)));
        }
    }
    Ok(None)
}
