//! Node `smooth`: moves points towards the mean of their neighbours.

#[cfg(test)]
mod tests;

use crate::laplacian::{
    LaplacianConfig, PIN_BORDER, Smoother, SmoothingScratch, WEIGHTS, WELD_TOLERANCE,
};
use crate::{
    BindContext, BoundNode, MASK_PORT, MaskWeight, MeshEffect, NodeDesc, NodeError, NodeKind, Par,
    ParameterDesc, PortDesc, PortType, Restore, UpdateContext,
};
use std::any::Any;

pub use crate::laplacian::SmootherError as SmoothBindError;

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "smooth",
    kind: NodeKind::Deformer,
    summary: "Moves points towards the mean of their neighbours.",
    page: include_str!("README.md"),
    rows: &[3, 4, 5, 6, 7, 8, 9, 10, 11],
    inputs: &[
        PortDesc::input("mesh", PortType::Mesh, "Mesh to smooth."),
        MASK_PORT,
    ],
    outputs: &[PortDesc::mesh_output(
        MeshEffect::MOVES_POINTS,
        "The smoothed mesh.",
    )],
    parameters: &[
        ParameterDesc::int("iterations", 10, 0, 10_000, "Number of passes.").in_update(),
        ParameterDesc::float(
            "step",
            0.5,
            0.0,
            1.0,
            "How far each pass goes towards the mean; above 0.5 short waves flip sign.",
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
        version: 1,
        restore,
    }),
};

/// One frame of work.
#[derive(Debug)]
pub struct SmoothJob<'a> {
    /// Setup, for the same topology as the input.
    pub bind: &'a Smoother,
    /// Number of passes.
    pub iterations: u32,
    /// Step of each pass, 0 to 1.
    pub step: f32,
    /// 0 gives the input, 1 the smoothed mesh.
    pub blend: f32,
    /// Strength for each vertex.
    pub weight: MaskWeight<'a>,
    /// Incoming positions, one a vertex.
    pub input: &'a [[f32; 3]],
    /// Same length as the input.
    pub output: &'a mut [[f32; 3]],
    /// From [`Smoother::new_scratch`].
    pub scratch: &'a mut SmoothingScratch,
    /// Threads.
    pub par: Par,
}

impl SmoothJob<'_> {
    /// Runs the job. Where lengths do not fit the setup, nothing is written.
    pub fn run(self) {
        if !self.bind.fits(self.input, self.scratch) {
            return;
        }
        self.bind.smooth(
            self.input,
            self.step,
            self.iterations,
            self.scratch,
            self.par,
        );
        self.bind.place(
            self.input,
            self.blend,
            &self.weight,
            self.scratch,
            self.output,
            self.par,
        );
    }
}

fn bind(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let config = LaplacianConfig::from_parameters(&context.parameters);
    let (smoother, ..) =
        Smoother::bind(context.mesh("mesh")?, &config).map_err(|e| NodeError::Bind(Box::new(e)))?;
    Ok(Box::new(Bound(smoother)))
}

fn restore(bytes: &[u8], context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let vertices = context.mesh("mesh")?.vertex_count();
    let smoother: Smoother =
        postcard::from_bytes(bytes).map_err(|e| NodeError::Restore(e.to_string()))?;
    if !smoother.layout().is_valid(vertices) {
        return Err(NodeError::Restore(format!(
            "smoothing weights are not those of a mesh of {vertices} vertices"
        )));
    }
    Ok(Box::new(Bound(smoother)))
}

#[derive(Debug)]
struct Bound(Smoother);

impl BoundNode for Bound {
    fn setup_bytes(&self) -> usize {
        self.0.layout().bytes()
    }
    fn new_scratch(&self) -> Box<dyn Any + Send> {
        Box::new(self.0.new_scratch())
    }
    fn scratch_bytes(&self) -> usize {
        self.0.scratch_bytes()
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "kernels work in single precision"
    )]
    fn update(&self, mut context: UpdateContext<'_>) {
        let weight = MaskWeight::from_context(&context);
        let output = context.outputs.mesh("mesh").positions;
        let scratch = context.scratch.downcast_mut::<SmoothingScratch>();
        let (Some(output), Some(scratch)) = (output, scratch) else {
            return;
        };
        let iterations = context.parameters.int("iterations");
        SmoothJob {
            bind: &self.0,
            iterations: u32::try_from(iterations).unwrap_or(0),
            step: context.parameters.float("step") as f32,
            blend: context.parameters.float("blend") as f32,
            weight,
            input: context.inputs.mesh("mesh").positions,
            output,
            scratch,
            par: context.par,
        }
        .run();
    }
    fn save(&self) -> Option<Vec<u8>> {
        postcard::to_stdvec(&self.0).ok()
    }
}
