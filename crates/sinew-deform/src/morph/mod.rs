//! Node `morph`: adds weighted deltas (blend shapes).

mod bind;
mod device;
mod reference;
#[cfg(test)]
mod tests;

use crate::{
    BindContext, BoundNode, DeviceFrame, DeviceFrameData, DeviceNode, Example, MeshEffect,
    MeshView, MeshViewMut, NodeDesc, NodeDocs, NodeError, NodeKind, NodeScratch, Par,
    ParameterDesc, PortDesc, PortType, UpdateContext, for_each_chunk,
};
use reference::{add_deltas, add_directions};

pub use bind::MorphBind;
pub use bind::MorphBindError;
pub(crate) use bind::{Delta, pose_weights};
pub(crate) use device::MOVED_DIRECTION_WGSL;

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "morph",
    kind: NodeKind::Deformer,
    summary: "Adds the mesh's morph targets (blend shapes) by weight.",
    docs: NodeDocs::page(include_str!("README.md"))
        .pictures(include_str!("pictures.txt"))
        .examples(&[Example {
            name: "morph",
            graph: include_str!("morph.json"),
            sample: "arm",
            before: "linear",
            frame: 54,
        }]),
    rows: &[18],
    inputs: &[
        PortDesc::input("mesh", PortType::Mesh, "Mesh with morph targets."),
        PortDesc::optional(
            "pose",
            PortType::Pose,
            "Pose that the weights come from if `weights` has no link.",
        )
        .of_morph_weights(),
        PortDesc::optional(
            "weights",
            PortType::Values,
            "One weight for each morph target. Replaces the weights of the pose.",
        ),
    ],
    outputs: &[PortDesc::mesh_output(
        MeshEffect::MOVES_FRAMES,
        "The morphed mesh.",
    )],
    parameters: &[ParameterDesc::float(
        "scale",
        1.0,
        -100.0,
        100.0,
        "Multiplies all weights. 0 leaves the mesh unchanged; more than 1 exaggerates.",
    )],
    bind: bind_node,
    restore: None,
};

/// One frame of morphing: `position + scale * sum of weight * delta`.
#[derive(Debug)]
pub struct MorphJob<'a> {
    /// From setup.
    pub bind: &'a MorphBind,
    /// One per target; surplus weights are ignored. Numbers below 0 and above 1 extrapolate.
    pub weights: &'a [f32],
    /// Multiplies all weights.
    pub scale: f32,
    /// Mesh to morph, as many vertices as bound, in the space of the deltas (scene space at bind).
    pub input: MeshView<'a>,
    /// Attributes to write, each with the length of the input.
    pub output: MeshViewMut<'a>,
    /// Threads.
    pub par: Par,
}

impl MorphJob<'_> {
    /// Runs the job. Attributes that the input lacks are not written. If there are too few weights, or the number of vertices differs from
    /// the bind, nothing is written. Normals and tangents are normalized where any delta acts.
    ///
    /// # Cost
    /// O(vertices + deltas), deltas of targets with weight 0 included. It does not allocate. The result is the same bits for any [`Par`].
    pub fn run(self) {
        let Self {
            bind,
            weights,
            scale,
            input,
            output,
            par,
        } = self;
        let n = input.positions.len();
        if weights.len() < bind.target_count || n + 1 != bind.offsets.len() {
            return;
        }
        let outputs = (output.positions, output.normals, output.tangents);
        for_each_chunk(par, n, 4096, outputs, &|range, (mut p, mut n, mut t)| {
            for (i, v) in range.enumerate() {
                let row = bind.row(v);
                if let Some(p) = &mut p {
                    let base = input.positions[v];
                    p[i] = add_deltas::<f32>(base, row, weights, scale, |d| d.position)
                        .map_or(base, Into::into);
                }
                if let (Some(n), Some(base)) = (&mut n, input.normals) {
                    n[i] = add_directions(base[v], row, weights, scale, |d| d.normal);
                }
                if let (Some(t), Some(base)) = (&mut t, input.tangents) {
                    let [x, y, z, sign] = base[v];
                    let [x, y, z] = add_directions([x, y, z], row, weights, scale, |d| d.tangent);
                    t[i] = [x, y, z, sign];
                }
            }
        });
    }
}

fn bind_node(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let wrap = |e: MorphBindError| NodeError::Bind(Box::new(e));
    let mesh = context.mesh("mesh")?;
    let bind = MorphBind::new(mesh).map_err(wrap)?;
    let source = match context.value_count("weights") {
        Some(found) => {
            let expected = bind.target_count;
            if found != expected {
                return Err(wrap(MorphBindError::WeightCount { found, expected }));
            }
            WeightSource::Values
        }
        None if context.is_linked("pose") => {
            WeightSource::Pose(pose_weights(mesh, context.rig("pose")?).map_err(wrap)?)
        }
        None => return Err(wrap(MorphBindError::NoWeights)),
    };
    Ok(Box::new(BoundMorph { bind, source }))
}

#[derive(Debug)]
enum WeightSource {
    /// One a target.
    Values,
    /// Index of each target's weight in the pose.
    Pose(Vec<usize>),
}

#[derive(Debug)]
struct BoundMorph {
    bind: MorphBind,
    source: WeightSource,
}

impl BoundNode for BoundMorph {
    fn setup_bytes(&self) -> usize {
        self.bind.bytes()
    }
    fn new_scratch(&self) -> Box<NodeScratch> {
        Box::new(vec![0.0_f32; self.bind.target_count])
    }
    fn scratch_bytes(&self) -> usize {
        self.bind.target_count * 4
    }
    fn device(&self, _context: &BindContext<'_>) -> Option<DeviceNode> {
        Some(device::node(self))
    }
    fn write_device_frame(&self, frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
        device::write_frame(self, frame, data);
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let Some(scratch) = context.scratch.downcast_mut::<Vec<f32>>() else {
            return;
        };
        let weights = match &self.source {
            WeightSource::Values => context.inputs.floats("weights").unwrap_or_default(),
            WeightSource::Pose(indices) => {
                let pose = context.inputs.pose("pose");
                for (w, &i) in scratch.iter_mut().zip(indices) {
                    *w = pose
                        .and_then(|p| p.morph_weights.get(i))
                        .copied()
                        .unwrap_or(0.0);
                }
                scratch
            }
        };
        MorphJob {
            bind: &self.bind,
            weights,
            scale: context.parameters.single("scale"),
            input: context.inputs.mesh("mesh"),
            output: context.outputs.mesh("mesh"),
            par: context.par,
        }
        .run();
    }
}
