//! Node `delta_mush`: smooths a deformed mesh and puts the detail of the rest mesh back.
//!
//! Mancewicz, Derksen, Rijpkema, Wilson, *Delta Mush: smoothing deformations while preserving detail*, DigiPro 2014. Setup smooths the rest
//! mesh and stores, for each point, the vector from smoothed to original in a frame of the smoothed surface (the *delta*). Each frame
//! smooths the deformed mesh by the same passes, builds the same frames, and adds the deltas. Our differences are on the page of the node.

mod bind;
mod device;
mod frames;
pub mod reference;
mod simd;
#[cfg(test)]
mod tests;

use crate::laplacian::{
    CHUNK, FrameSpace, LaplacianConfig, PIN_BORDER, POSE, Placing, SmoothingScratch,
    SmoothingUniforms, WEIGHTS, WELD_TOLERANCE, warn_of_open_seams,
};
use crate::{
    BindContext, BoundNode, Choice, DefaultValue, DeviceFrame, DeviceFrameData, DeviceNode,
    Example, MASK_PORT, MaskWeight, MeshEffect, NodeDesc, NodeDocs, NodeError, NodeKind,
    NodeScratch, Par, ParameterDesc, Parameters, PortDesc, PortType, Preset, Restore,
    UpdateContext, for_each_chunk,
};
use sinew_geom::{PackedAffine, Pose};

pub use bind::{Apart, DeltaMushBind, DeltaMushConfig};

pub use bind::DeltaMushBindError;
pub use frames::{Fan, Fans, FrameKind};

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "delta_mush",
    kind: NodeKind::Deformer,
    summary: "Smooths a deformed mesh and restores the detail of the rest mesh.",
    docs: NodeDocs::page(include_str!("README.md"))
        .pictures(include_str!("pictures.txt"))
        .examples(&[
            Example {
                name: "skin_delta_mush",
                graph: include_str!("skin_delta_mush.json"),
                sample: "arm",
                before: "linear",
                frame: 54,
            },
            Example {
                name: "rigid_delta_mush",
                graph: include_str!("rigid_delta_mush.json"),
                sample: "arm",
                before: "skin_rigid",
                frame: 54,
            },
        ])
        .presets(&[
            Preset {
                name: "tight",
                doc: "Repairs skinning close to the joints and keeps the rest: spreads over about one edge length.",
                values: &[("iterations", DefaultValue::Int(5))],
            },
            Preset {
                name: "soft",
                doc: "Rounds joints widely, as flesh: spreads over about four edge lengths.",
                values: &[("iterations", DefaultValue::Int(60))],
            },
        ]),
    rows: &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 19],
    inputs: &[
        PortDesc::input("mesh", PortType::Mesh, "Deformed mesh."),
        POSE,
        MASK_PORT,
    ],
    outputs: &[PortDesc::mesh_output(
        MeshEffect::MOVES_POINTS,
        "The mesh with its detail restored.",
    )],
    parameters: &[
        ParameterDesc::int("iterations", 10, 0, 10_000, "Number of smoothing passes."),
        ParameterDesc::float(
            "step",
            0.5,
            0.0,
            1.0,
            "Fraction of the way to the mean of the neighbours that each pass moves a point. Above 0.5, short waves flip sign from pass to pass.",
        )
        .in_setup(),
        WEIGHTS,
        PIN_BORDER,
        WELD_TOLERANCE,
        ParameterDesc::choice(
            "frame",
            "all_neighbours",
            &[
                Choice {
                    name: "all_neighbours",
                    doc: "Normal from all triangles around the point, tangent towards one fixed neighbour.",
                },
                Choice {
                    name: "two_edges",
                    doc: "Normal and tangent from two neighbours.",
                },
                Choice {
                    name: "uv",
                    doc: "Normal from all triangles around the point, tangent along increasing u.",
                },
            ],
            "Vertex frame that the detail rotates with.",
        ),
        ParameterDesc::choice(
            "scale",
            "pose",
            &[
                Choice {
                    name: "pose",
                    doc: "The detail scales with the joints: a uniformly scaled character keeps its shape.",
                },
                Choice {
                    name: "fixed",
                    doc: "The detail keeps the lengths of the rest mesh.",
                },
            ],
            "How the detail scales.",
        ),
        ParameterDesc::float(
            "displacement",
            1.0,
            0.0,
            1e6,
            "Amount of detail to restore. 0 gives the smoothed mesh; more than 1 exaggerates the detail.",
        ),
        ParameterDesc::float(
            "blend",
            1.0,
            0.0,
            1.0,
            "0 gives the incoming mesh, 1 the full result.",
        ),
        MaskWeight::WEIGHT,
        MaskWeight::INVERT,
    ],
    bind: bind_node,
    restore: Some(Restore {
        version: 2,
        restore: restore_node,
    }),
};

/// Delta mush of one frame.
#[derive(Debug)]
pub struct DeltaMushJob<'a> {
    /// From setup, for the same topology as the input.
    pub bind: &'a DeltaMushBind,
    /// Space in which points are smoothed, from [`crate::laplacian::Anchor::space`].
    pub space: FrameSpace,
    /// Amount of detail, in the unit of `space`: 1 restores the lengths of the rest mesh in the unit of the rest mesh. Divide by the growth
    /// that [`crate::laplacian::Anchor::space`] returns.
    pub displacement: f32,
    /// 0 gives the input, 1 the result.
    pub blend: f32,
    /// Strength for each vertex.
    pub weight: MaskWeight<'a>,
    /// Incoming positions in scene space, one per vertex.
    pub input: &'a [[f32; 3]],
    /// Same length as the input.
    pub output: &'a mut [[f32; 3]],
    /// From [`DeltaMushBind::new_scratch`].
    pub scratch: &'a mut SmoothingScratch,
    /// Threads.
    pub par: Par,
}

impl DeltaMushJob<'_> {
    /// Runs the job. If the lengths of input or scratch do not fit the bind, nothing is written.
    ///
    /// # Cost
    /// O((iterations + 1) * edges). It does not allocate. The result is the same bits for any [`Par`].
    pub fn run(self) {
        let (bind, par, scratch) = (self.bind, self.par, self.scratch);
        if !bind.fits(self.input, scratch) {
            return;
        }
        let (space, iterations) = (self.space, bind.iterations);
        bind.smoother
            .smooth(self.input, space, bind.step, iterations, scratch, par);
        let src = &scratch.current[..];
        let slots = src.len();
        for_each_chunk(par, slots, CHUNK, &mut scratch.other[..], &|range, out| {
            simd::add_detail(bind, self.displacement, src, range, out);
        });
        bind.add_unsmoothed(self.displacement, scratch);
        std::mem::swap(&mut scratch.current, &mut scratch.other);
        let how = Placing {
            positions: self.input,
            space,
            blend: self.blend,
            weight: &self.weight,
            keeps_offsets: false,
        };
        bind.smoother.place(how, scratch, self.output, par);
        bind.place_apart(how, self.displacement, scratch, self.output);
    }
}

fn bind_node(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let parameters = &context.parameters;
    let config = DeltaMushConfig {
        laplacian: LaplacianConfig::from_parameters(parameters),
        iterations: u32::try_from(parameters.int("iterations")).unwrap_or(0),
        step: parameters.single("step"),
        frame: FrameKind::from_name(parameters.text("frame")).unwrap_or_default(),
    };
    let mesh = context.mesh("mesh")?;
    let bind = DeltaMushBind::new_watched(mesh, &config, context.par, &context.watch);
    let bind = bind.map_err(|error| match error {
        DeltaMushBindError::Stopped(stopped) => stopped.into(),
        other => NodeError::Bind(Box::new(other)),
    })?;
    warn_of_open_seams(context)?;
    Ok(Box::new(Bound::new(bind, context)))
}

fn restore_node(bytes: &[u8], context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let vertices = context.mesh("mesh")?.vertex_count();
    let bind: DeltaMushBind =
        postcard::from_bytes(bytes).map_err(|e| NodeError::Restore(e.to_string()))?;
    if !bind.is_valid(vertices) {
        return Err(NodeError::Restore(format!(
            "the saved deltas do not belong to a mesh of {vertices} vertices"
        )));
    }
    Ok(Box::new(Bound::new(bind, context)))
}

#[derive(Debug)]
struct Bound {
    bind: DeltaMushBind,
    /// Whether the detail takes the scale of the pose.
    scales: bool,
}

impl Bound {
    fn new(bind: DeltaMushBind, context: &BindContext<'_>) -> Self {
        Self {
            bind,
            scales: context.parameters.text("scale") == "pose",
        }
    }

    /// Space and displacement of a frame.
    fn of_frame(&self, parameters: &Parameters<'_>, pose: Option<&Pose>) -> (FrameSpace, f32) {
        let palette: &[PackedAffine] = pose.map_or(&[], |p| &p.palette);
        let anchor = self.bind.smoother().anchor();
        let scale = if self.scales {
            anchor.scale(palette)
        } else {
            1.0
        };
        let (space, growth) = anchor.space(palette);
        (space, parameters.single("displacement") * scale / growth)
    }
}

impl BoundNode for Bound {
    fn setup_bytes(&self) -> usize {
        self.bind.bytes()
    }
    fn new_scratch(&self) -> Box<NodeScratch> {
        Box::new(self.bind.new_scratch())
    }
    fn scratch_bytes(&self) -> usize {
        self.bind.scratch_bytes()
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let weight = MaskWeight::from_context(&context);
        let output = context.outputs.mesh("mesh").positions;
        let scratch = context.scratch.downcast_mut::<SmoothingScratch>();
        let (Some(output), Some(scratch)) = (output, scratch) else {
            return;
        };
        let pose = context.inputs.pose("pose");
        let (space, displacement) = self.of_frame(&context.parameters, pose);
        DeltaMushJob {
            bind: &self.bind,
            space,
            displacement,
            blend: context.parameters.single("blend"),
            weight,
            input: context.inputs.mesh("mesh").positions,
            output,
            scratch,
            par: context.par,
        }
        .run();
    }
    fn device(&self, context: &BindContext<'_>) -> Option<DeviceNode> {
        Some(self.bind.device_node(context))
    }
    fn write_device_frame(&self, frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
        let pose = frame.inputs.pose("pose");
        let (space, displacement) = self.of_frame(&frame.parameters, pose);
        SmoothingUniforms::write(space, self.bind.step, displacement, frame, data);
    }
    fn device_passes(&self, _frame: &DeviceFrame<'_>, count: usize, run: &mut dyn FnMut(usize)) {
        self.bind.device_passes(count, run);
    }
    fn save(&self) -> Option<Vec<u8>> {
        postcard::to_stdvec(&self.bind).ok()
    }
}
