//! Node `drive_morphs`: weights of poses become weights of morph targets.

mod bind;
mod desc;
mod reference;
#[cfg(test)]
mod tests;

use crate::morph::pose_weights;
use crate::{BindContext, BoundNode, NodeError, UpdateContext};
use reference::{in_between, mixture, rest_of_parent};
use sinew_geom::Mesh;

pub use bind::{Combination, InBetween, Mix};

pub use bind::CombinationRule;

pub(crate) use bind::{DriveMorphsBind, DriveMorphsConfig, DriveMorphsError};
pub use desc::DESC;

/// One frame of work.
#[derive(Debug)]
pub(crate) struct DriveMorphsJob<'a> {
    /// From setup.
    pub bind: &'a DriveMorphsBind,
    /// As many as [`DriveMorphsConfig::targets`] has names, or [`Mix::weights`] has coefficients.
    pub weights: &'a [f32],
    /// Weights to start from, one per target; `None` starts from 0.
    pub base: Option<&'a [f32]>,
    /// Weights of a whole pose, to start from too, and where in it those of the targets are; a place that is not in it adds nothing.
    pub pose: Option<(&'a [f32], &'a [usize])>,
    /// Multiplies the weights, not what they are added to.
    pub gain: f32,
    /// Weights of all targets.
    pub output: &'a mut [f32],
}

impl DriveMorphsJob<'_> {
    /// Runs the job, in time linear in weights, targets and what was bound; allocates nothing. Nothing is written where
    /// counts do not fit what was bound.
    pub(crate) fn run(self) {
        let (bind, out) = (self.bind, self.output);
        let is_short = |list: Option<&[f32]>| list.is_some_and(|l| l.len() != bind.target_count);
        if self.weights.len() != bind.weight_count
            || out.len() != bind.target_count
            || is_short(self.base)
        {
            return;
        }
        match self.base {
            Some(base) => out.copy_from_slice(base),
            None => out.fill(0.0),
        }
        if let Some((pose, indices)) = self.pose {
            for (out, &i) in out.iter_mut().zip(indices) {
                *out += pose.get(i).copied().unwrap_or(0.0);
            }
        }
        for &(weight, target) in &bind.driven {
            out[target] += self.gain * self.weights[weight];
        }
        let rows = bind.coefficients.chunks_exact(bind.weight_count.max(1));
        for (&target, row) in bind.mixed.iter().zip(rows) {
            out[target] += self.gain * mixture(row, self.weights);
        }
        let limit = |w: f32| if bind.clamp { w.clamp(0.0, 1.0) } else { w };
        out.iter_mut().for_each(|w| *w = limit(*w));
        for c in &bind.combinations {
            let parents = c.of.iter().map(|&p| out[p].max(0.0));
            let combined = match c.rule {
                CombinationRule::Product => parents.product(),
                CombinationRule::Minimum => parents.fold(f32::INFINITY, f32::min),
            };
            out[c.target] = limit(out[c.target] + combined);
        }
        // No parent is an in-between itself, so that all still have their weights here.
        for b in &bind.in_betweens {
            out[b.target] = limit(out[b.target] + in_between(out[b.parent], b.knots));
        }
        for &(parent, last) in &bind.parents {
            out[parent] = rest_of_parent(out[parent], last);
        }
    }
}

fn bind_node(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    fn wrap(e: impl std::error::Error + Send + Sync + 'static) -> NodeError {
        NodeError::Bind(Box::new(e))
    }
    let mesh = context.mesh("mesh")?;
    let config = config(context);
    let bind = DriveMorphsBind::new(mesh, &config).map_err(wrap)?;
    check_counts(context, mesh, &bind)?;
    let pose = match context.is_linked("pose") {
        true => Some(pose_weights(mesh, context.rig("pose")?).map_err(wrap)?),
        false => None,
    };
    let replaced = context.parameters.texts("replaced");
    let pose = without(mesh, pose, replaced).map_err(wrap)?;
    Ok(Box::new(BoundDriveMorphs { bind, pose }))
}

/// Places in the pose; nowhere for targets that are replaced.
fn without(
    mesh: &Mesh,
    mut pose: Option<Vec<usize>>,
    replaced: &[String],
) -> Result<Option<Vec<usize>>, DriveMorphsError> {
    for target in bind::places(mesh, "replaced", replaced)? {
        if let Some(indices) = &mut pose {
            indices[target] = usize::MAX;
        }
    }
    Ok(pose)
}

fn config<'a>(context: &BindContext<'a>) -> DriveMorphsConfig<'a> {
    let p = context.parameters;
    let in_between = |r: crate::Parameters<'a>| InBetween {
        target: r.text("target"),
        of: r.text("of"),
        at: r.single("at"),
    };
    let mix = |r: crate::Parameters<'a>| Mix {
        target: r.text("target"),
        weights: r.floats("weights"),
    };
    let combination = |r: crate::Parameters<'a>| Combination {
        target: r.text("target"),
        of: r.texts("of"),
        rule: match r.text("rule") {
            "minimum" => CombinationRule::Minimum,
            _ => CombinationRule::Product,
        },
    };
    DriveMorphsConfig {
        targets: p.texts("targets"),
        mix: p.records("mix").map(mix).collect(),
        in_betweens: p.records("in_betweens").map(in_between).collect(),
        combinations: p.records("combinations").map(combination).collect(),
        clamp: p.bool("clamp"),
    }
}

/// What is linked has as many values as it must.
fn check_counts(
    context: &BindContext<'_>,
    mesh: &Mesh,
    bind: &DriveMorphsBind,
) -> Result<(), NodeError> {
    let found = context.value_count("weights").unwrap_or(0);
    if found != bind.weight_count {
        return Err(wrong_count(context, bind.weight_count, found));
    }
    match context.value_count("base") {
        Some(found) if found != bind.target_count => Err(NodeError::Input {
            port: "base",
            message: format!(
                "found {found} linked weights, but the mesh '{}' has {} morph targets",
                mesh.name, bind.target_count
            ),
        }),
        _ => Ok(()),
    }
}

/// By the list that says how many weights come in.
fn wrong_count(context: &BindContext<'_>, bound: usize, linked: usize) -> NodeError {
    let is_mix = context.parameters.texts("targets").is_empty() && bound > 0;
    let (name, found, none) = match is_mix {
        true => ("mix", format!("{bound} numbers in 'weights'"), "0"),
        false => ("targets", format!("{bound} names"), "\"\""),
    };
    let expected =
        format!("{linked}, one for each linked weight ({none} for a weight that drives nothing)");
    NodeError::Parameter {
        name,
        found,
        expected,
    }
}

#[derive(Debug)]
struct BoundDriveMorphs {
    bind: DriveMorphsBind,
    /// Index of each target's weight in the pose.
    pose: Option<Vec<usize>>,
}

impl BoundNode for BoundDriveMorphs {
    fn setup_bytes(&self) -> usize {
        self.bind.bytes() + self.pose.as_deref().map_or(0, size_of_val)
    }
    fn output_len(&self, _port: &str) -> usize {
        self.bind.target_count
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let Some(output) = context.outputs.floats("weights") else {
            return;
        };
        let pose = context.inputs.pose("pose");
        DriveMorphsJob {
            bind: &self.bind,
            weights: context.inputs.floats("weights").unwrap_or_default(),
            base: context.inputs.floats("base"),
            pose: pose
                .zip(self.pose.as_deref())
                .map(|(pose, indices)| (pose.morph_weights.as_slice(), indices)),
            gain: context.parameters.single("gain"),
            output,
        }
        .run();
    }
}
