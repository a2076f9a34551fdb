//! Node `smooth`: moves points towards the mean of their neighbours.

#[cfg(test)]
mod tests;

use crate::laplacian::{
    DeviceClasses, DeviceSmoothing, FrameSpace, LaplacianConfig, MOST_LISTED, PIN_BORDER, POSE,
    Placing, Slots, Smoother, SmoothingScratch, SmoothingUniforms, WEIGHTS, WELD_TOLERANCE,
    warn_of_open_seams,
};
use crate::{
    BindContext, BoundNode, DeviceFrame, DeviceFrameData, DeviceNode, Example, MASK_PORT,
    MaskWeight, MeshEffect, NodeDesc, NodeDocs, NodeError, NodeKind, NodeScratch, Par,
    ParameterDesc, Parameters, PortDesc, PortType, Restore, UpdateContext,
};
use sinew_geom::Pose;

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "smooth",
    kind: NodeKind::Deformer,
    summary: "Moves points towards the mean of their neighbours.",
    docs: NodeDocs::page(include_str!("README.md"))
        .pictures(include_str!("pictures.txt"))
        .examples(&[Example {
            name: "smooth",
            graph: include_str!("smooth.json"),
            sample: "arm",
            before: "linear",
            frame: 54,
        }]),
    rows: &[3, 4, 5, 6, 7, 8, 9, 10, 11],
    inputs: &[
        PortDesc::input("mesh", PortType::Mesh, "Mesh to smooth."),
        POSE,
        MASK_PORT,
    ],
    outputs: &[PortDesc::mesh_output(
        MeshEffect::MOVES_POINTS,
        "The smoothed mesh.",
    )],
    parameters: &[
        ParameterDesc::int("iterations", 10, 0, 10_000, "Number of smoothing passes.").in_update(),
        ParameterDesc::float(
            "step",
            0.5,
            0.0,
            1.0,
            "Fraction of the way to the mean of the neighbours that each pass moves a point. Above 0.5, short waves flip sign from pass to pass.",
        ),
        WEIGHTS,
        PIN_BORDER,
        WELD_TOLERANCE,
        ParameterDesc::float(
            "blend",
            1.0,
            0.0,
            1.0,
            "0 gives the incoming mesh, 1 the smoothed one.",
        ),
        MaskWeight::WEIGHT,
        MaskWeight::INVERT,
    ],
    bind,
    restore: Some(Restore {
        version: 2,
        restore,
    }),
};

/// Smoothing of one frame.
#[derive(Debug)]
pub struct SmoothJob<'a> {
    /// From setup, for the same topology as the input.
    pub bind: &'a Smoother,
    /// Space in which points are smoothed, from [`crate::laplacian::Anchor::space`].
    pub space: FrameSpace,
    /// Number of passes.
    pub iterations: u32,
    /// Step of each pass, 0 to 1.
    pub step: f32,
    /// 0 gives the input, 1 the smoothed mesh.
    pub blend: f32,
    /// Strength for each vertex.
    pub weight: MaskWeight<'a>,
    /// Incoming positions in scene space, one per vertex.
    pub input: &'a [[f32; 3]],
    /// Same length as the input.
    pub output: &'a mut [[f32; 3]],
    /// From [`Smoother::new_scratch`].
    pub scratch: &'a mut SmoothingScratch,
    /// Threads.
    pub par: Par,
}

impl SmoothJob<'_> {
    /// Runs the job. If the lengths of input or scratch do not fit the bind, nothing is written; a shorter output gets the first vertices.
    ///
    /// # Cost
    /// O(iterations * edges) for any mesh. It does not allocate. The result is the same bits for any [`Par`].
    pub fn run(self) {
        let keeps_offsets = self.bind.layout().keeps_offsets();
        if !self.bind.fits(self.input, self.scratch, keeps_offsets) {
            return;
        }
        self.bind.smooth(
            self.input,
            self.space,
            self.step,
            self.iterations,
            self.scratch,
            self.par,
        );
        let how = Placing {
            positions: self.input,
            space: self.space,
            blend: self.blend,
            weight: &self.weight,
            keeps_offsets,
        };
        self.bind.place(how, self.scratch, self.output, self.par);
    }
}

fn bind(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let config = LaplacianConfig::from_parameters(&context.parameters);
    let (smoother, ..) =
        Smoother::bind(context.mesh("mesh")?, &config).map_err(|e| NodeError::Bind(Box::new(e)))?;
    warn_of_open_seams(context)?;
    Ok(Box::new(Bound(smoother)))
}

fn restore(bytes: &[u8], context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let vertices = context.mesh("mesh")?.vertex_count();
    let smoother: Smoother =
        postcard::from_bytes(bytes).map_err(|e| NodeError::Restore(e.to_string()))?;
    if !smoother.layout().is_valid(vertices) {
        return Err(NodeError::Restore(format!(
            "the saved smoothing weights do not belong to a mesh of {vertices} vertices"
        )));
    }
    Ok(Box::new(Bound(smoother)))
}

#[derive(Debug)]
struct Bound(Smoother);

fn iterations(parameters: &Parameters<'_>) -> u32 {
    u32::try_from(parameters.int("iterations")).unwrap_or(0)
}

/// Results of the smoothing, each with a pass of its own back to the vertices: in that order behind its passes.
const RESULTS: [Slots; 3] = [Slots::A, Slots::B, Slots::Gathered];

impl Bound {
    fn space(&self, pose: Option<&Pose>) -> FrameSpace {
        self.0.anchor().space(pose.map_or(&[], |p| &p.palette)).0
    }
}

impl Bound {
    fn smoothing(&self) -> DeviceSmoothing {
        let keeps_offsets = self.0.layout().keeps_offsets();
        DeviceSmoothing {
            keeps_gathered: keeps_offsets,
            keeps_offsets,
            whole: false,
        }
    }
}

impl BoundNode for Bound {
    fn setup_bytes(&self) -> usize {
        self.0.layout().bytes()
    }
    fn new_scratch(&self) -> Box<NodeScratch> {
        Box::new(self.0.new_scratch())
    }
    fn scratch_bytes(&self) -> usize {
        self.0.scratch_bytes(self.0.layout().keeps_offsets())
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let weight = MaskWeight::from_context(&context);
        let output = context.outputs.mesh("mesh").positions;
        let scratch = context.scratch.downcast_mut::<SmoothingScratch>();
        let (Some(output), Some(scratch)) = (output, scratch) else {
            return;
        };
        SmoothJob {
            bind: &self.0,
            space: self.space(context.inputs.pose("pose")),
            iterations: iterations(&context.parameters),
            step: context.parameters.single("step"),
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
        let layout = self.0.layout();
        let smoothing = self.smoothing().bound(context);
        let mut node = smoothing.node(layout, &DeviceClasses::new(layout));
        let iterations = iterations(&context.parameters);
        node.passes_vary = !context.is_fixed("iterations") || iterations > MOST_LISTED;
        if node.passes_vary {
            let results = &RESULTS[..2 + usize::from(smoothing.keeps_gathered)];
            let places = results.iter().map(|&from| smoothing.place(from));
            node.passes.extend(places);
        } else {
            let place = smoothing.place(smoothing.result(iterations));
            smoothing.listed(&mut node, iterations, &[place]);
        }
        Some(node)
    }
    fn write_device_frame(&self, frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
        let step = frame.parameters.single("step");
        let space = self.space(frame.inputs.pose("pose"));
        SmoothingUniforms::write(space, step, 0.0, frame, data);
    }
    fn device_passes(&self, frame: &DeviceFrame<'_>, _count: usize, run: &mut dyn FnMut(usize)) {
        let smoothing = self.smoothing();
        let iterations = iterations(&frame.parameters);
        smoothing.run(iterations, run);
        let result = smoothing.result(iterations);
        let place = RESULTS.iter().position(|&r| r == result).unwrap_or(0);
        run(smoothing.pass_count() + place);
    }
    fn save(&self) -> Option<Vec<u8>> {
        postcard::to_stdvec(&self.0).ok()
    }
}
