//! The node in two layers: virtual bones move as vertices of the mesh would, and all vertices follow them by linear skinning.
//!
//! Per frame, moments are summed for the bones only; a vertex costs what linear skinning costs. [`super::compress()`] finds bones and
//! weights in setup.

mod node;

use super::bind::BindParts;
use super::blocks::LANES;
use super::simd;
use super::{
    CHUNK, CompressionError, CompressionSettings, DirectDeltaMushBind, DirectDeltaMushScratch,
    Storage, Variant, VirtualBones,
};
use crate::skin::{FrameJoints, Linear, Near, Run, SkinBind, skin_vertices};
use crate::{MeshView, MeshViewMut, Par, for_each_chunk};
use serde::{Deserialize, Serialize};
use sinew_geom::{Influences, PackedAffine, Vec3};

pub(super) use node::restore;

/// A mesh bound to a rig through virtual bones.
#[derive(Clone, Debug)]
pub struct VirtualBonesBind {
    /// Its vertices are the bones.
    bones: DirectDeltaMushBind,
    /// Its joints are the bones.
    skin: SkinBind,
    error: CompressionError,
    full_bytes: u64,
}

/// What the cache holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Parts {
    bones: BindParts,
    offsets: Vec<u32>,
    joints: Vec<u32>,
    weights: Vec<f32>,
    error: CompressionError,
    full_bytes: u64,
}

impl VirtualBonesBind {
    /// From what [`super::compress()`] found with the same variant, and the number of joints that it was found for. `full_bytes` is
    /// what the mesh takes without virtual bones, for `Self::full_bytes`.
    pub fn new(
        found: &VirtualBones,
        joint_count: usize,
        (variant, storage): (Variant, Storage),
        full_bytes: usize,
    ) -> Self {
        let bones = DirectDeltaMushBind::new(&found.bones, joint_count, variant, storage);
        Self {
            skin: SkinBind::linear(found.influences.clone(), bones.vertex_count()),
            bones,
            error: found.error,
            full_bytes: full_bytes as u64,
        }
    }

    fn parts(&self) -> Parts {
        let influences = self.skin.influences();
        Parts {
            bones: self.bones.parts().clone(),
            offsets: influences.offsets().to_vec(),
            joints: influences.joints().to_vec(),
            weights: influences.weights().to_vec(),
            error: self.error,
            full_bytes: self.full_bytes,
        }
    }

    /// From what was saved, where it fits.
    fn from_parts(
        parts: Parts,
        (joint_count, vertex_count): (usize, usize),
        settings: CompressionSettings,
        storage: Storage,
    ) -> Option<Self> {
        let count = parts.bones.vertex_count();
        let variant = settings.variant;
        let bones =
            DirectDeltaMushBind::from_parts(parts.bones, joint_count, count, variant, storage)?;
        let influences = Influences::from_parts(parts.offsets, parts.joints, parts.weights, count)?;
        let fits = count <= settings.bones.min(vertex_count)
            && influences.vertex_count() == vertex_count
            && influences.max_per_vertex() <= settings.influences;
        fits.then(|| Self {
            skin: SkinBind::linear(influences, count),
            bones,
            error: parts.error,
            full_bytes: parts.full_bytes,
        })
    }

    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.skin.vertex_count()
    }
    /// Number of virtual bones.
    pub fn bone_count(&self) -> usize {
        self.bones.vertex_count()
    }
    /// Number of joints that a palette must have.
    pub fn joint_count(&self) -> usize {
        self.bones.joint_count()
    }
    /// Largest number of virtual bones of a vertex.
    pub fn influences_per_vertex(&self) -> usize {
        self.skin.influences().max_per_vertex()
    }
    /// Distance from the full method.
    pub fn error(&self) -> CompressionError {
        self.error
    }
    /// Bytes on the heap: the moments of the bones as in [`DirectDeltaMushBind::bytes`], and the weights as in linear skinning.
    pub fn bytes(&self) -> usize {
        self.bones.bytes() + self.skin.bytes()
    }
    /// Bytes that the mesh takes without virtual bones.
    pub(crate) fn full_bytes(&self) -> u64 {
        self.full_bytes
    }
}

/// Joints and bones of one frame; belongs to one instance.
#[derive(Clone, Debug, Default)]
pub struct VirtualBonesScratch {
    joints: DirectDeltaMushScratch,
    /// From rest space less the origin to posed space less the reference.
    bones: Vec<PackedAffine>,
}

impl VirtualBonesScratch {
    /// Scratch for the joints and bones of `bind`. Allocates.
    pub fn new(bind: &VirtualBonesBind) -> Self {
        Self {
            joints: DirectDeltaMushScratch::new(&bind.bones),
            bones: vec![PackedAffine::default(); bind.bone_count()],
        }
    }

    /// Bytes held.
    fn bytes(&self) -> usize {
        self.joints.bytes() + size_of_val(self.bones.as_slice())
    }
}

/// One frame of direct delta mush with virtual bones.
#[derive(Debug)]
pub struct VirtualBonesJob<'a> {
    /// From setup.
    pub bind: &'a VirtualBonesBind,
    /// Skinning matrices, at least one per joint of the bind: scene space now, from scene space at bind.
    pub palette: &'a [PackedAffine],
    /// Rest mesh, or a mesh that another node moved in rest space (morph targets); as many vertices as bound.
    pub input: MeshView<'a>,
    /// Attributes to write, each with the length of the input.
    pub output: MeshViewMut<'a>,
    /// From [`VirtualBonesScratch::new`] of the same bind.
    pub scratch: &'a mut VirtualBonesScratch,
    /// Threads.
    pub par: Par,
}

impl VirtualBonesJob<'_> {
    /// Runs the job. Attributes that the input lacks are not written. If palette, scratch or input do not fit the bind, nothing is written.
    ///
    /// # Cost
    /// O(joints + moments of the bones + influences). It does not allocate. The result is the same bits for any [`Par`].
    pub fn run(self) {
        let Self { bind, par, .. } = self;
        let VirtualBonesScratch { joints, bones } = self.scratch;
        let count = bind.joint_count();
        let fits = self.palette.len() >= count && joints.fits(&bind.bones);
        let fits = fits && bones.len() == bind.bone_count();
        if !fits || self.input.positions.len() != bind.vertex_count() {
            return;
        }
        let joints = joints.fill(&bind.bones, &self.palette[..count]);
        let (variant, blocks) = (bind.bones.variant(), bind.bones.blocks());
        for_each_chunk(par, bones.len(), CHUNK, &mut bones[..], &|range, out| {
            let run = Run {
                block: range.start / LANES,
                ..Run::default()
            };
            dispatch!(simd => simd::run(simd, variant, blocks, &joints, run, Some(out)));
        });
        let frame = FrameJoints::Linear(Linear {
            palette: bones,
            near: Some(Near {
                origin: Vec3::from(joints.origin),
                reference: Vec3::from(joints.reference),
            }),
        });
        skin_vertices(&bind.skin, frame, self.input, self.output, par);
    }
}
