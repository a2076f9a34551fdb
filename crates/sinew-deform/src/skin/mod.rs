//! Node `skin`: moves vertices with the joints that influence them.
//!
//! Each frame, the palette becomes what the method sums up: matrices as they are, or dual quaternions. If any joint is stretched, its whole
//! matrix takes part by its products with the rotation ([`JointMotion`]). Then all vertices are visited, eight side by side. Setup packs
//! the influences of eight consecutive vertices into one list of joints, because neighbours in a buffer mostly follow the same joints.
//! Where they do not, each vertex keeps its own row.

mod bind;
mod blend;
mod blocks;
mod device;
mod joint;
mod reference;
mod run;
mod simd;
#[cfg(test)]
mod tests;

use crate::{
    BindContext, BoundNode, Choice, DeviceFrame, DeviceFrameData, DeviceNode, Example, MeshEffect,
    MeshView, MeshViewMut, NodeDesc, NodeDocs, NodeError, NodeKind, NodeScratch, Par,
    ParameterDesc, PortDesc, PortType, UpdateContext,
};
pub(crate) use blend::Matrices;
pub(crate) use run::{Run, for_each_run};
use simd::{Blended, Dual, PackedMotion, PackedProducts};
pub(crate) use simd::{FrameJoints, Frames, Linear, Near, move_frames, move_point};
#[cfg(test)]
use sinew_geom::Affine;
use sinew_geom::PackedAffine;

pub use bind::SkinBindError;
pub(crate) use bind::check_influences;
pub use bind::{SkinBind, SkinMethod};
pub(crate) use device::add_blending;
pub use joint::JointMotion;
pub(crate) use joint::NO_STRETCH;
pub use joint::rotation_of;
pub(crate) use joint::split_joint;
pub use reference::SkinVertex;
pub use reference::{mix, skin_dual_quaternion, skin_linear};

/// Vertices in one task: a multiple of a block, small enough that two threads share a mesh of some ten thousand evenly.
const CHUNK: usize = 1024;

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "skin",
    kind: NodeKind::Deformer,
    summary: "Moves vertices with the joints that influence them.",
    docs: NodeDocs::page(include_str!("README.md"))
        .pictures(include_str!("pictures.txt"))
        .examples(&[
            Example {
                name: "skin_linear",
                graph: include_str!("skin_linear.json"),
                sample: "arm",
                before: "rest",
                frame: 54,
            },
            Example {
                name: "skin_dual_quaternion",
                graph: include_str!("skin_dual_quaternion.json"),
                sample: "arm",
                before: "linear",
                frame: 54,
            },
            Example {
                name: "skin_rigid",
                graph: include_str!("skin_rigid.json"),
                sample: "arm",
                before: "linear",
                frame: 54,
            },
        ]),
    rows: &[17, 18],
    inputs: &[
        PortDesc::input("mesh", PortType::Mesh, "Mesh with joint weights."),
        PortDesc::input(
            "pose",
            PortType::Pose,
            "Pose of the rig that the mesh is bound to.",
        ),
        PortDesc::optional(
            "dual_quaternion_mask",
            PortType::Mask,
            "For method `blended`: share of the dual quaternion result at each vertex. Without a link it is 1.",
        ),
    ],
    outputs: &[PortDesc::mesh_output(
        MeshEffect::MOVES_FRAMES,
        "The skinned mesh.",
    )],
    parameters: &[
        ParameterDesc::choice(
            "method",
            "linear",
            &[
                Choice {
                    name: "rigid",
                    doc: "Each vertex follows its strongest joint.",
                },
                Choice {
                    name: "linear",
                    doc: "Weighted sum of matrices.",
                },
                Choice {
                    name: "dual_quaternion",
                    doc: "Weighted sum of rigid motions: no loss of volume where joints twist.",
                },
                Choice {
                    name: "blended",
                    doc: "A blend of linear and dual quaternion at each vertex.",
                },
            ],
            "How the joints of a vertex combine.",
        ),
        ParameterDesc::float(
            "dual_quaternion_blend",
            1.0,
            0.0,
            1.0,
            "For method `blended`: 0 is linear, 1 is dual quaternion. Multiplied by `dual_quaternion_mask`.",
        ),
    ],
    bind: bind_node,
    restore: None,
};

/// The joints of one frame in the form of the kernels; belongs to one instance.
#[derive(Clone, Debug, Default)]
pub struct SkinScratch {
    motions: Vec<PackedMotion>,
    products: Vec<PackedProducts>,
}

impl SkinScratch {
    /// Scratch for the joints of `bind`. Allocates.
    pub fn new(bind: &SkinBind) -> Self {
        let n = if bind.method().uses_dual_quaternions() {
            bind.joint_count()
        } else {
            0
        };
        Self {
            motions: vec![PackedMotion::default(); n],
            products: vec![PackedProducts::default(); n],
        }
    }

    /// Splits the palette; returns whether any joint is stretched.
    fn fill(&mut self, bind: &SkinBind, palette: &[PackedAffine]) -> bool {
        let mut any = false;
        let outputs = self.motions.iter_mut().zip(&mut self.products);
        for ((m, &origin), (motion, products)) in palette.iter().zip(&bind.origins).zip(outputs) {
            let split = split_joint::<f64>(&m.unpack::<f64>(), origin);
            *motion = simd::pack_motion(&split);
            *products = simd::pack_products(&split);
            any |= split.is_stretched;
        }
        any
    }
}

fn single(v: f64) -> f32 {
    v as f32
}

/// Skinning of one frame. Positions, normals and tangents are in scene space.
#[derive(Debug)]
pub struct SkinJob<'a> {
    /// From setup.
    pub bind: &'a SkinBind,
    /// Skinning matrices, at least one per joint of the bind: scene space now, from scene space at bind ([`sinew_geom::Pose::palette`]).
    pub palette: &'a [PackedAffine],
    /// For [`SkinMethod::Blended`]: 0 is linear, 1 is dual quaternion.
    pub dual_quaternion_blend: f32,
    /// Factor of `dual_quaternion_blend`, one per vertex. A shorter mask is ignored.
    pub dual_quaternion_mask: Option<&'a [f32]>,
    /// Rest mesh, or the mesh that a node before skinning moved; as many vertices as bound.
    pub input: MeshView<'a>,
    /// Attributes to write, each with the length of the input.
    pub output: MeshViewMut<'a>,
    /// From [`SkinScratch::new`] of the same bind.
    pub scratch: &'a mut SkinScratch,
    /// Threads.
    pub par: Par,
}

impl SkinJob<'_> {
    /// Runs the job. Attributes that the input lacks are not written. If the palette is shorter than the joints of the bind, or the number
    /// of positions differs from its vertices, nothing is written.
    ///
    /// # Cost
    /// O(influences + joints). It does not allocate. The result is the same bits for any [`Par`].
    pub fn run(self) {
        let Self {
            bind,
            palette,
            input,
            output,
            par,
            ..
        } = self;
        let n = input.positions.len();
        let mask = self.dual_quaternion_mask.filter(|m| m.len() >= n);
        if palette.len() < bind.joint_count() || n != bind.vertex_count() {
            return;
        }
        let palette = &palette[..bind.joint_count()];
        let method = bind.method();
        let dual = method.uses_dual_quaternions();
        let stretched = dual && self.scratch.fill(bind, palette);
        let scratch = &*self.scratch;
        let dual = Dual {
            motions: &scratch.motions,
            products: stretched.then_some(&scratch.products),
            blended: None,
        };
        let near = None;
        let joints = match method {
            SkinMethod::Rigid | SkinMethod::Linear => FrameJoints::Linear(Linear { palette, near }),
            SkinMethod::DualQuaternion => FrameJoints::Dual(dual),
            SkinMethod::Blended => FrameJoints::Dual(Dual {
                blended: Some(Blended {
                    linear: palette,
                    blend: self.dual_quaternion_blend,
                    mask,
                }),
                ..dual
            }),
        };
        skin_vertices(bind, joints, input, output, par);
    }
}

/// Moves vertices, as many as bound, with joints of a frame. Attributes that the input lacks are not written.
pub(crate) fn skin_vertices(
    bind: &SkinBind,
    joints: FrameJoints<'_>,
    input: MeshView<'_>,
    output: MeshViewMut<'_>,
    par: Par,
) {
    for_each_run(par, CHUNK, input, output, &|run| {
        dispatch!(simd => simd::skin_run(simd, bind, joints, run));
    });
}

/// The same frame through the reference, in double precision and on one thread.
#[cfg(test)]
pub(crate) fn skin_reference(
    bind: &SkinBind,
    palette: &[PackedAffine],
    blend: impl Fn(usize) -> f64,
    input: &MeshView<'_>,
) -> Vec<SkinVertex<f64>> {
    use sinew_geom::{Real, Vec3};
    let matrices: Vec<Affine<f64>> = palette.iter().map(PackedAffine::unpack).collect();
    let joints: Vec<JointMotion<f64>> = matrices
        .iter()
        .zip(&bind.origins)
        .map(|(m, &c)| split_joint(m, c))
        .collect();
    let vertex = |v: usize| {
        let t = input.tangents.map_or([0.0; 4], |t| t[v]);
        SkinVertex {
            position: f64::vec3(input.positions[v]),
            normal: input.normals.map_or(Vec3::zeros(), |n| f64::vec3(n[v])),
            tangent: f64::vec3([t[0], t[1], t[2]]),
            sign: f64::from(t[3]),
        }
    };
    (0..input.positions.len())
        .map(|v| {
            let row = bind.row(v);
            let linear = || skin_linear(&matrices, row, vertex(v));
            let dual = || skin_dual_quaternion(&joints, row, vertex(v));
            match bind.method() {
                SkinMethod::Rigid | SkinMethod::Linear => linear(),
                SkinMethod::DualQuaternion => dual(),
                SkinMethod::Blended => mix(linear(), dual(), blend(v).clamp(0.0, 1.0)),
            }
        })
        .collect()
}

fn bind_node(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let name = context.parameters.text("method");
    let method = SkinMethod::from_name(name).ok_or_else(|| NodeError::Parameter {
        name: "method",
        found: name.to_owned(),
        expected: "rigid, linear, dual_quaternion or blended".into(),
    })?;
    let (mesh, rig) = (context.mesh("mesh")?, context.rig("pose")?);
    let bind = SkinBind::new(mesh, rig, method).map_err(|e| NodeError::Bind(Box::new(e)))?;
    Ok(Box::new(bind))
}

impl BoundNode for SkinBind {
    fn setup_bytes(&self) -> usize {
        self.bytes()
    }
    fn new_scratch(&self) -> Box<NodeScratch> {
        Box::new(SkinScratch::new(self))
    }
    fn scratch_bytes(&self) -> usize {
        let s = SkinScratch::new(self);
        size_of_val(s.motions.as_slice()) + size_of_val(s.products.as_slice())
    }
    fn device(&self, _context: &BindContext<'_>) -> Option<DeviceNode> {
        Some(device::node(self))
    }
    fn write_device_frame(&self, frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
        device::write_frame(self, frame, data);
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let (Some(pose), Some(scratch)) = (
            context.inputs.pose("pose"),
            context.scratch.downcast_mut::<SkinScratch>(),
        ) else {
            return;
        };
        SkinJob {
            bind: self,
            palette: &pose.palette,
            dual_quaternion_blend: single(context.parameters.float("dual_quaternion_blend")),
            dual_quaternion_mask: context.inputs.mask("dual_quaternion_mask"),
            input: context.inputs.mesh("mesh"),
            output: context.outputs.mesh("mesh"),
            scratch,
            par: context.par,
        }
        .run();
    }
}
