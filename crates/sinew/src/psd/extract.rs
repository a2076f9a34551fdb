//! Converts posed sculpts to rest-space correctives by inverting the deformer stack.
//!
//! `P(r)` are the positions that a stack computes from rest positions `r` in one frame. `S` is the sculpt on them. This
//! finds offsets `d` with `P(r + d) = S`: a morph target of `d` before the stack gives the sculpt in that pose (Lewis,
//! Cordner and Fong, "Pose space deformation", 2000, section 4). The stack is a black box that is evaluated.
//!
//! - Moving all vertices along one axis, forwards and backwards, gives the response of each output vertex: a 3x3 block
//!   `B` per vertex. If vertices are independent (skinning of any method, deformers), this is the whole Jacobian. If
//!   neighbours count (delta mush, smoothing), it is the response to a common motion.
//! - Each vertex moves by its inverted block times its residual. If the blocks are the Jacobian, this is Newton's
//!   method, and one or two steps are enough. With a smoothing stack, it is Van Cittert's iteration, which finds short
//!   waves late or never. Thus each step is mixed with the previous ones (Anderson mixing), with damped offsets.
//! - Steps use residuals of the stack itself. Thus the result is as accurate as the evaluation (about 1e-6 of the size
//!   in single precision), even with coarse differences.
//!
//! If influences cancel, a block is singular: no offset moves the vertex in some direction. The pseudo-inverse ignores
//! that direction, and the report lists the vertex. A stack that smooths removes short waves; the part of a sculpt that
//! it cannot produce stays as a residual in the report.

mod blocks;
mod error;
mod mixture;
mod relax;
mod report;
mod stack;

pub use error::ExtractError;
pub use report::{Distances, ExtractReport, SingularVertex, VertexDistance};

use crate::deform::Par;
use crate::geom::{MorphTarget, Vec3};
use crate::graph::{Frame, Instance};
use relax::solve;
use report::ReportParts;
use stack::Stack;

/// A mesh sculpted on a posed character, and the parts of a graph it belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Sculpt<'a> {
    /// Name of the morph target.
    pub name: &'a str,
    /// Target position of each vertex: metres, scene space, in the vertex order of the input's mesh.
    pub positions: &'a [[f32; 3]],
    /// The graph's mesh output that was sculpted on; `None` means the first.
    pub output: Option<&'a str>,
    /// The graph's mesh input whose rest positions get the offsets; `None` means that of the output.
    pub input: Option<&'a str>,
}

/// Options of an extraction.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExtractOptions {
    /// Largest distance to the sculpt that counts as reached, metres.
    pub tolerance: f64,
    /// Offsets shorter than this are dropped from the target, metres.
    pub drop_below: f64,
    /// A block is singular if its smallest singular value is below this share of its largest.
    pub singular_ratio: f64,
    /// Damping of offsets that the stack mostly removes: an offset must reduce the error by `damping` times its length.
    /// 0 gives the smallest error, but extreme offsets in other poses. Has no effect if vertices are independent.
    pub damping: f64,
    /// Maximum number of steps.
    pub max_steps: usize,
    /// Number of worst vertices in the report.
    pub worst: usize,
    /// Threads to evaluate the stack.
    pub par: Par,
}

impl Default for ExtractOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-5,
            drop_below: 1e-6,
            singular_ratio: 0.1,
            damping: 0.005,
            max_steps: 300,
            worst: 8,
            par: Par::Seq,
        }
    }
}

/// A corrective and its error.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Extraction {
    /// The graph's mesh input whose rest positions the target moves.
    pub input: String,
    /// Offsets of the rest positions of vertices that move; metres, scene space. Normals and tangents are empty: they
    /// follow from the positions (`tangent_frames`), and a sculpt has no better ones.
    pub target: MorphTarget,
    /// Errors and singular vertices.
    pub report: ExtractReport,
}

/// Computes the rest offsets that give `sculpt` in `frame`, with the current parameters of the instance. Replaces
/// offsets of the instance: afterwards it has none, and its outputs are those of `frame` without the corrective.
///
/// Evaluates the graph 9 times, plus once per step: two or three steps for independent vertices, otherwise about a
/// hundred. Needs 1.7 KB per vertex.
///
/// # Errors
/// [`ExtractError`]. A sculpt that cannot be reached is not an error; see the report.
pub fn extract_corrective(
    instance: &mut Instance,
    frame: &Frame<'_>,
    sculpt: &Sculpt<'_>,
    options: &ExtractOptions,
) -> Result<Extraction, ExtractError> {
    check_options(options)?;
    let mut stack = Stack::new(instance, frame, sculpt, options.par)?;
    let goal = stack.check_sculpt(sculpt.positions)?;
    let found = extract_with(&mut stack, &goal, sculpt.name, options);
    let cleared = stack.clear();
    let extraction = found?;
    cleared?;
    Ok(extraction)
}

fn check_options(options: &ExtractOptions) -> Result<(), ExtractError> {
    let numbers = [
        ("tolerance", options.tolerance),
        ("drop_below", options.drop_below),
        ("singular_ratio", options.singular_ratio),
        ("damping", options.damping),
    ];
    match numbers.iter().find(|n| !(n.1.is_finite() && n.1 >= 0.0)) {
        Some(&(option, found)) => Err(ExtractError::Option { option, found }),
        None => Ok(()),
    }
}

fn extract_with(
    stack: &mut Stack<'_, '_>,
    goal: &[Vec3<f64>],
    name: &str,
    options: &ExtractOptions,
) -> Result<Extraction, ExtractError> {
    let solution = solve(stack, goal, options)?;
    let (target, dropped) = sparse(name, &solution.offsets, options.drop_below);
    // Measures the remaining error with the stored target: rounded, without small offsets.
    let mut kept = vec![Vec3::zeros(); goal.len()];
    for (&v, p) in target.vertices.iter().zip(&target.positions) {
        kept[v as usize] = Vec3::from(p.map(f64::from));
    }
    let after = stack.residual(&kept, goal)?;
    let report = ReportParts {
        before: &solution.before,
        after: &after,
        offsets: &kept,
        singular: solution.singular,
        steps: solution.steps,
        evaluations: stack.evaluations(),
        dropped,
    };
    Ok(Extraction {
        input: stack.input().to_owned(),
        report: report.finish(options),
        target,
    })
}

/// The vertices with a sufficient offset, and the number of dropped ones.
fn sparse(name: &str, offsets: &[Vec3<f64>], drop_below: f64) -> (MorphTarget, usize) {
    let mut target = MorphTarget {
        name: name.to_owned(),
        ..MorphTarget::default()
    };
    let mut dropped = 0;
    for (vertex, d) in (0_u32..).zip(offsets) {
        let single = stack::single(d);
        if single == [0.0; 3] {
            continue;
        }
        if d.norm() < drop_below {
            dropped += 1;
            continue;
        }
        target.vertices.push(vertex);
        target.positions.push(single);
    }
    (target, dropped)
}
