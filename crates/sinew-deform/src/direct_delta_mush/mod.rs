//! Node `direct_delta_mush`: delta mush at the price of skinning.
//!
//! Le and Lewis, *Direct Delta Mush Skinning and Variants*, SIGGRAPH 2019. Setup smooths, for each joint, the field "weight, weight times
//! position, weight times position squared" over the rest mesh ([`moments()`]). Each vertex and joint then needs only a weight, a
//! vector and a symmetric matrix. Each frame sums them with the matrices of the joints, and takes a rotation and a translation from the
//! sum: no neighbour is read.
//!
//! | file | content |
//! |---|---|
//! | `setup.rs`, `filter.rs` | moments from a mesh |
//! | `moments.rs`, `blocks.rs` | moments as data, and in the order of the kernel |
//! | `joints.rs` | joints of a frame, near the origin |
//! | `reference.rs`, `rotation.rs` | one vertex of one frame; the nearest rotation |
//! | `simd.rs`, `device.rs` | the same on the CPU, eight vertices at a time, and on the GPU |
//! | `compress.rs`, `virtual_bones/` | two layers: few virtual bones, and linear skinning to them |

mod bind;
mod blocks;
mod compress;
#[cfg(test)]
mod compress_tests;
mod desc;
mod device;
mod filter;
mod joints;
mod moments;
pub mod reference;
mod rotation;
mod setup;
#[cfg(test)]
mod setup_tests;
mod simd;
#[cfg(test)]
mod tests;
mod variant;
mod virtual_bones;

use crate::laplacian::warn_of_open_seams;
use crate::skin::for_each_run;
use crate::{
    BindContext, BoundNode, DeviceFrame, DeviceFrameData, DeviceNode, MeshView, MeshViewMut,
    NodeError, NodeScratch, Par, UpdateContext,
};
use bind::{BindParts, settings_of, virtual_bones_of};
use joints::{joint_frame, reference_of};
use simd::{FrameJoints, Stretched};
use sinew_geom::{Affine, Mat3, PackedAffine, Real, Vec3};

pub use bind::DirectDeltaMushBind;
pub use compress::CompressionError;
pub use compress::VirtualBones;
pub use compress::{CompressionSettings, compress};
pub use desc::DESC;
pub(crate) use device::{ROTATION_WGSL, TURN_WGSL};
pub use joints::Frame;
pub use joints::JointFrame;
pub use moments::Moments;
pub use moments::PairMoments;
pub use rotation::nearest_rotation;
pub(crate) use rotation::newton;
pub use setup::{DirectDeltaMushError, SmoothingSettings, moments};
pub use variant::{Storage, Variant};
pub use virtual_bones::{VirtualBonesBind, VirtualBonesJob, VirtualBonesScratch};

/// Vertices in one task: a multiple of a block, small enough that two threads share a mesh of some ten thousand evenly.
const CHUNK: usize = 1024;

fn unmoved(linear: Mat3<f64>) -> PackedAffine {
    let translation = Vec3::zeros();
    Affine {
        linear,
        translation,
    }
    .into()
}

/// A joint of one frame as kernels read it.
struct PackedJoint {
    matrix: PackedAffine,
    /// The rotation times the joint's scale. The last column begins with one over the scale.
    turn: PackedAffine,
    rotation: [f32; 4],
    stretch: PackedAffine,
}

/// The joints of one frame in the form of the kernels, 160 bytes each; belongs to one instance.
#[derive(Clone, Debug, Default)]
pub struct DirectDeltaMushScratch {
    matrices: Vec<PackedAffine>,
    rotations: Vec<[f32; 4]>,
    turns: Vec<PackedAffine>,
    stretch: Vec<PackedAffine>,
}

impl DirectDeltaMushScratch {
    /// Scratch for the joints of `bind`. Allocates.
    pub fn new(bind: &DirectDeltaMushBind) -> Self {
        let n = bind.joint_count();
        Self {
            matrices: vec![PackedAffine::default(); n],
            rotations: vec![[0.0, 0.0, 0.0, 1.0]; n],
            turns: vec![PackedAffine::default(); n],
            stretch: vec![PackedAffine::default(); n],
        }
    }

    /// Whether it was made for the joints of `bind`.
    fn fits(&self, bind: &DirectDeltaMushBind) -> bool {
        self.matrices.len() == bind.joint_count()
    }

    /// Bytes held.
    fn bytes(&self) -> usize {
        let matrices = self.matrices.len() + self.turns.len() + self.stretch.len();
        matrices * size_of::<PackedAffine>() + size_of_val(self.rotations.as_slice())
    }

    /// A joint as kernels read it.
    fn pack(joint: &JointFrame<f64>) -> PackedJoint {
        let coords = joint.rotation.coords;
        PackedJoint {
            matrix: joint.matrix.into(),
            turn: Affine {
                linear: joint.turn * joint.scale,
                translation: Vec3::new(1.0 / joint.scale, 0.0, 0.0),
            }
            .into(),
            rotation: [coords.x, coords.y, coords.z, coords.w].map(Real::to_single),
            stretch: unmoved(joint.stretch),
        }
    }

    /// Splits the palette, in double precision.
    fn fill(&mut self, bind: &DirectDeltaMushBind, palette: &[PackedAffine]) -> FrameJoints<'_> {
        let origin = bind.origin();
        let reference = reference_of(palette, origin, bind.shares());
        let mut any = false;
        for (j, matrix) in palette.iter().enumerate() {
            let (frame, is_stretched) = joint_frame(matrix, origin, reference);
            any |= is_stretched;
            let packed = Self::pack(&frame);
            self.matrices[j] = packed.matrix;
            self.turns[j] = packed.turn;
            self.rotations[j] = packed.rotation;
            self.stretch[j] = packed.stretch;
        }
        FrameJoints {
            matrices: &self.matrices,
            rotations: &self.rotations,
            stretched: any.then_some(Stretched {
                turns: &self.turns,
                stretch: &self.stretch,
            }),
            origin: f64::array3(origin),
            reference: f64::array3(reference),
        }
    }
}

/// Direct delta mush of one frame. Positions, normals and tangents are in scene space.
#[derive(Debug)]
pub struct DirectDeltaMushJob<'a> {
    /// From setup.
    pub bind: &'a DirectDeltaMushBind,
    /// Skinning matrices, at least one per joint of the bind: scene space now, from scene space at bind.
    pub palette: &'a [PackedAffine],
    /// Rest mesh, or a mesh that another node moved in rest space (morph targets); as many vertices as bound.
    pub input: MeshView<'a>,
    /// Attributes to write, each with the length of the input.
    pub output: MeshViewMut<'a>,
    /// From [`DirectDeltaMushScratch::new`] of the same bind.
    pub scratch: &'a mut DirectDeltaMushScratch,
    /// Threads.
    pub par: Par,
}

impl DirectDeltaMushJob<'_> {
    /// Runs the job. Attributes that the input lacks are not written. If palette, scratch or input do not fit the bind, nothing is written.
    ///
    /// # Cost
    /// O(joints + pairs of vertices and joints). It does not allocate. The result is the same bits for any [`Par`].
    pub fn run(self) {
        let Self {
            bind,
            palette,
            input,
            output,
            scratch,
            par,
        } = self;
        let n = input.positions.len();
        let joints = bind.joint_count();
        let fits = palette.len() >= joints && scratch.fits(bind);
        if !fits || n != bind.vertex_count() {
            return;
        }
        let joints = scratch.fill(bind, &palette[..joints]);
        let (variant, blocks) = (bind.variant(), bind.blocks());
        for_each_run(par, CHUNK, input, output, &|run| {
            dispatch!(simd => simd::run(simd, variant, blocks, &joints, run, None));
        });
    }
}

fn bind_node(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let mesh = context.mesh("mesh")?;
    let joints = context.rig("pose")?.joints().len();
    let (settings, variant, storage) = settings_of(&context.parameters)?;
    let two_layers = virtual_bones_of(&context.parameters, variant);
    // The rest is for virtual bones.
    let share = if two_layers.is_some() { 0.4 } else { 1.0 };
    let found = context.watch.part(0.0, share, |watch| {
        moments(mesh, joints, &settings, context.par, &watch)
    });
    let moments = found.map_err(refused)?;
    warn_of_open_seams(context)?;
    let full = DirectDeltaMushBind::new(&moments, joints, variant, storage);
    let Some(settings) = two_layers else {
        return Ok(Box::new(full));
    };
    let full_bytes = full.bytes();
    drop(full);
    let rig = context.rig("pose")?;
    let found = context.watch.part(share, 1.0, |watch| {
        compress(
            &moments,
            &mesh.positions,
            rig,
            settings,
            context.par,
            &watch,
        )
    });
    let found = found.map_err(refused)?;
    let form = (variant, storage);
    Ok(Box::new(VirtualBonesBind::new(
        &found, joints, form, full_bytes,
    )))
}

fn refused(error: DirectDeltaMushError) -> NodeError {
    match error {
        DirectDeltaMushError::Stopped(stopped) => NodeError::Stopped(stopped),
        other => NodeError::Bind(Box::new(other)),
    }
}

fn restore_node(bytes: &[u8], context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let mesh = context.mesh("mesh")?;
    let joints = context.rig("pose")?.joints().len();
    let (_, variant, storage) = settings_of(&context.parameters)?;
    let counts = (joints, mesh.vertex_count());
    if let Some(settings) = virtual_bones_of(&context.parameters, variant) {
        let bind = virtual_bones::restore(bytes, counts, settings, storage)?;
        return Ok(Box::new(bind));
    }
    let parts: BindParts =
        postcard::from_bytes(bytes).map_err(|e| NodeError::Restore(e.to_string()))?;
    let count = mesh.vertex_count();
    let bind = DirectDeltaMushBind::from_parts(parts, joints, count, variant, storage);
    let bind = bind.ok_or_else(|| {
        NodeError::Restore(format!(
            "the saved moments do not belong to a mesh of {count} vertices and a rig of {joints} joints, variant {}",
            variant.as_str()
        ))
    })?;
    Ok(Box::new(bind))
}

impl BoundNode for DirectDeltaMushBind {
    fn setup_bytes(&self) -> usize {
        self.bytes()
    }
    fn new_scratch(&self) -> Box<NodeScratch> {
        Box::new(DirectDeltaMushScratch::new(self))
    }
    fn scratch_bytes(&self) -> usize {
        DirectDeltaMushScratch::new(self).bytes()
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let (Some(pose), Some(scratch)) = (
            context.inputs.pose("pose"),
            context.scratch.downcast_mut::<DirectDeltaMushScratch>(),
        ) else {
            return;
        };
        DirectDeltaMushJob {
            bind: self,
            palette: &pose.palette,
            input: context.inputs.mesh("mesh"),
            output: context.outputs.mesh("mesh"),
            scratch,
            par: context.par,
        }
        .run();
    }
    fn device(&self, _context: &BindContext<'_>) -> Option<DeviceNode> {
        Some(device::node(self))
    }
    fn write_device_frame(&self, frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
        device::write_frame(self, frame, data);
    }
    fn save(&self) -> Option<Vec<u8>> {
        postcard::to_stdvec(self.parts()).ok()
    }
}
