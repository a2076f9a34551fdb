//! Posed sculpts become rest-space correctives, by undoing the stack.
//!
//! With `P(r)` the positions that a stack makes of rest positions `r` in one frame, and `S` the sculpt made on them, this finds
//! offsets `d` with `P(r + d) = S`: a morph target of `d` in front of the stack gives the sculpt in that pose (Lewis, Cordner
//! and Fong, "Pose space deformation", 2000, section 4). Nothing is known of the nodes: the stack is evaluated.
//!
//! - All vertices moved along one axis, to and fro, show how each output vertex answers: a 3x3 block `B` a vertex. Where every
//!   vertex goes its own way (skinning of any method, deformers) that is the whole Jacobian; where neighbours count (delta mush,
//!   smoothing) it is the answer to a motion that neighbours share.
//! - Each vertex goes by its inverted block times what is missing. Where the blocks are the Jacobian that is Newton's method, and a
//!   step or two are enough. Under a smoothing stack it would be Van Cittert's iteration, which finds short waves late or
//!   never; so each step is mixed with those before it (Anderson's mixing), with damped offsets.
//! - Steps repeat with residuals of the stack itself, so that the result is as accurate as the evaluation (about 1e-6 of the
//!   size in single precision), however coarse the differences are.
//!
//! Where influences cancel, a block is singular: no offset moves the vertex in some direction. The pseudo-inverse leaves that
//! direction alone, and the vertex is reported. A stack that smooths takes short waves away; what of a sculpt it cannot make
//! stays as a residual, and that is reported, too.

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

/// A mesh modelled on a posed character, and what of a graph it belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Sculpt<'a> {
    /// Name of the morph target.
    pub name: &'a str,
    /// Where each vertex shall be: metres, scene space, in the vertex order of the input's mesh.
    pub positions: &'a [[f32; 3]],
    /// The graph's mesh output that it was modelled on; without a name the first.
    pub output: Option<&'a str>,
    /// The graph's mesh input whose rest positions get the offsets; without a name the one that the output shows.
    pub input: Option<&'a str>,
}

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExtractOptions {
    /// Largest distance to the sculpt that counts as reached, metres.
    pub tolerance: f64,
    /// Offsets shorter than this are left out of the target, metres.
    pub drop_below: f64,
    /// A block whose smallest singular value is below this share of its largest is singular.
    pub singular_ratio: f64,
    /// Keeps offsets short where the stack takes most of them away: what is worth an offset is `damping` times as long as it. 0 comes
    /// nearest, with offsets that are wild in any other pose. Without effect where each vertex goes its own way.
    pub damping: f64,
    /// Steps, at most.
    pub max_steps: usize,
    /// How many of the worst vertices a report names.
    pub worst: usize,
    /// Threads for evaluating the stack.
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

/// A corrective and how well it does.
#[derive(Clone, Debug, PartialEq)]
pub struct Extraction {
    /// The graph's mesh input whose rest positions the target moves.
    pub input: String,
    /// Offsets of the rest positions, only for the vertices that move; metres, scene space. Normals and tangents are empty:
    /// they follow from the positions (`tangent_frames`), and a sculpt says nothing better.
    pub target: MorphTarget,
    /// What was reached and where it failed.
    pub report: ExtractReport,
}

/// The rest offsets that give `sculpt` in `frame`. Parameters are those that the instance has. Offsets that the instance had are
/// lost: afterwards it has none, and its outputs are those of `frame` without the corrective.
///
/// Evaluates the graph 9 times, and once more for each step: two or three where vertices do not depend on each other, about a
/// hundred else. Takes 1.7 KB for each vertex.
///
/// # Errors
/// [`ExtractError`]. A sculpt that cannot be reached is none: the report says how near it is.
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
    // What is left is measured with what the target holds: rounded, without the small ones.
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

/// The vertices whose offset counts, and how many have one that does not.
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
