//! Node `noise`: moves vertices by smooth noise of their rest positions.
//!
//! Improved gradient noise (Perlin, *Improving Noise*, SIGGRAPH 2002) in octaves. Gradients are chosen by an integer hash (`pcg4d`:
//! Jarzynski and Olano, *Hash Functions for GPU Rendering*, JCGT 9(3), 2020), which gives the same bits on the CPU and the GPU. Formulas:
//! `README.md` beside this file.

mod bind;
mod device;
mod reference;
#[cfg(test)]
mod tests;

use crate::local_frame::Axis;
use crate::{
    BindContext, BoundNode, Choice, DefaultValue, DeviceFrame, DeviceFrameData, DeviceNode,
    Example, MASK_PORT, MaskWeight, MeshEffect, MeshReads, MeshView, NodeDesc, NodeDocs, NodeError,
    NodeKind, Par, ParameterDesc, ParameterType, Phase, PortDesc, PortType, Role, UpdateContext,
    for_each_chunk,
};
use sinew_geom::Real;

pub use bind::{MAX_OCTAVES, NoiseBind, NoiseDirection, NoiseSettings};
pub use reference::{Octave, pcg4d};

const fn word(name: &'static str, doc: &'static str) -> Choice {
    Choice { name, doc }
}

const OFFSET: ParameterDesc = ParameterDesc {
    name: "offset",
    ty: ParameterType::Vec3,
    default: DefaultValue::Vec3([0.0; 3]),
    unit: "m",
    phase: Phase::Update,
    role: Role::Plain,
    doc: "Moves the noise in the local frame. Animate it to let the noise flow over the mesh.",
};

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "noise",
    kind: NodeKind::Deformer,
    summary: "Moves vertices by smooth noise of their rest positions.",
    docs: NodeDocs::page(include_str!("README.md"))
        .pictures(include_str!("pictures.txt"))
        .examples(&[
            Example {
                name: "noise",
                graph: include_str!("noise.json"),
                sample: "ball",
                before: "rest",
                frame: 24,
            },
        ]),
    rows: &[],
    inputs: &[
        PortDesc::input("mesh", PortType::Mesh, "Mesh to deform.").reading(MeshReads::NORMALS),
        MASK_PORT,
    ],
    outputs: &[PortDesc::mesh_output(
        MeshEffect::MOVES_POINTS,
        "The deformed mesh.",
    )],
    parameters: &[
        ParameterDesc::transform(
            "rest_transform",
            "Local frame of the noise at rest, in scene space. Scale and shear stretch the features, not the displacement. \
             A flat frame leaves the mesh unchanged.",
        )
        .in_setup(),
        ParameterDesc::choice(
            "direction",
            "normal",
            &[
                word("normal", "Along the current normal of each vertex."),
                word("axis", "Along `axis`."),
                word(
                    "free",
                    "In any direction: one noise for each axis of the local frame.",
                ),
            ],
            "Where vertices move to.",
        ),
        ParameterDesc::choice(
            "axis",
            "y",
            &[
                word("x", "Along local x."),
                word("y", "Along local y."),
                word("z", "Along local z."),
            ],
            "For `axis`: axis of the local frame that vertices move along.",
        ),
        ParameterDesc::float(
            "amplitude",
            0.02,
            -1e6,
            1e6,
            "Largest displacement. It may be exceeded by 4 %; most vertices move less than half of it.",
        )
        .with_unit("m"),
        ParameterDesc::float(
            "feature_size",
            0.2,
            1e-4,
            1e6,
            "Size of the largest features: edge length of the noise's cells, in the local frame.",
        )
        .with_unit("m"),
        ParameterDesc::int(
            "octaves",
            3,
            1,
            MAX_OCTAVES as i64,
            "Number of layers. Each one adds smaller features.",
        )
        .in_update(),
        ParameterDesc::float(
            "roughness",
            0.5,
            0.0,
            1.0,
            "Amplitude of each octave divided by that of the one before.",
        ),
        ParameterDesc::float(
            "lacunarity",
            2.0,
            1.0,
            4.0,
            "Frequency of each octave divided by that of the one before.",
        ),
        OFFSET,
        ParameterDesc::int(
            "seed",
            0,
            0,
            u32::MAX as i64,
            "Each seed gives another noise.",
        )
        .in_update(),
        MaskWeight::WEIGHT,
        MaskWeight::INVERT,
    ],
    bind: bind_node,
    restore: None,
};

/// One frame: positions moved by noise.
#[derive(Debug)]
pub struct NoiseJob<'a> {
    /// Setup results.
    pub bind: &'a NoiseBind,
    /// Settings of this frame.
    pub settings: NoiseSettings,
    /// Strength for each vertex.
    pub weight: MaskWeight<'a>,
    /// Mesh to deform, with as many vertices as in setup; vertices beyond those do not move. Without normals, [`NoiseDirection::Normal`]
    /// moves nothing.
    pub input: MeshView<'a>,
    /// Positions to write, as many as the input. With `None`, nothing is done.
    pub output: Option<&'a mut [[f32; 3]]>,
    /// Threads.
    pub par: Par,
}

impl NoiseJob<'_> {
    /// Runs the job.
    ///
    /// # Cost
    /// O(vertices * octaves). It does not allocate. The result is the same bits for any [`Par`].
    pub fn run(self) {
        self.run_in::<f32>();
    }

    /// The same with all arithmetic in precision `R`.
    fn run_in<R: Real>(self) {
        let Self {
            bind,
            settings,
            weight,
            input,
            output,
            par,
        } = self;
        let octaves: arrayvec::ArrayVec<Octave<R>, MAX_OCTAVES> =
            settings.octaves().iter().map(Octave::cast).collect();
        let wide = |v: [f32; 3]| v.map(R::from_single);
        let directions = bind.directions.map(wide);
        for_each_chunk(
            par,
            input.positions.len(),
            1024,
            (output,),
            &|range, out| {
                let (Some(out),) = out else {
                    return;
                };
                for (v, to) in range.zip(out) {
                    let (given, w) = (input.positions[v], weight.at(v));
                    *to = match bind.local.get(v) {
                        Some(&local) if w != 0.0 => {
                            let normal = input.normals.map_or([0.0; 3], |n| n[v]);
                            let step = reference::displacement(
                                &octaves,
                                bind.direction,
                                &directions,
                                wide(local),
                                wide(normal),
                            );
                            R::array3(R::vec3(given) + step * R::from_single(w))
                        }
                        _ => given,
                    };
                }
            },
        );
    }
}

fn bind_node(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let mesh = context.mesh("mesh")?;
    let parameters = &context.parameters;
    let axis = match parameters.text("axis") {
        "x" => Axis::X,
        "z" => Axis::Z,
        _ => Axis::Y,
    };
    let direction = match parameters.text("direction") {
        "axis" => NoiseDirection::Axis(axis),
        "free" => NoiseDirection::Free,
        _ => NoiseDirection::Normal,
    };
    let frame = parameters.transform("rest_transform");
    Ok(Box::new(Bound(NoiseBind::new(
        &mesh.positions,
        &frame,
        direction,
    ))))
}

#[derive(Debug)]
struct Bound(NoiseBind);

impl BoundNode for Bound {
    fn setup_bytes(&self) -> usize {
        size_of_val(self.0.local.as_slice())
    }
    fn device(&self, _context: &BindContext<'_>) -> Option<DeviceNode> {
        Some(device::node(&self.0))
    }
    fn write_device_frame(&self, frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
        device::write_frame(&self.0, frame, data);
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        NoiseJob {
            bind: &self.0,
            settings: NoiseSettings::from_parameters(&context.parameters),
            weight: MaskWeight::from_context(&context),
            input: context.inputs.mesh("mesh"),
            output: context.outputs.mesh("mesh").positions,
            par: context.par,
        }
        .run();
    }
}
