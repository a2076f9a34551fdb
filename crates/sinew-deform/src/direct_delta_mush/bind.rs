//! Setup results of the node, in the form that kernels read.

use super::blocks::Blocks;
use super::variant::{Storage, Variant};
use super::{CompressionSettings, Moments, SmoothingSettings};
use crate::laplacian::LaplacianConfig;
use crate::{NodeError, Parameters};
use serde::{Deserialize, Serialize};
use sinew_geom::{Real, Vec3, index32};

/// A mesh bound to a rig: the moments in the order of the kernel. Immutable; instances share it.
#[derive(Clone, Debug)]
pub struct DirectDeltaMushBind {
    parts: BindParts,
}

/// What the cache holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct BindParts {
    variant: Variant,
    vertex_count: u32,
    /// Middle of the rest mesh, which centres and rest positions count from; single precision holds it exactly.
    origin: [f32; 3],
    /// What part of all vertices each joint moves.
    shares: Vec<f32>,
    blocks: Blocks,
}

impl BindParts {
    /// Number of vertices.
    pub(super) fn vertex_count(&self) -> usize {
        self.vertex_count as usize
    }
}

impl DirectDeltaMushBind {
    /// From the moments of a mesh and the number of joints that they were made for. Each row must have a joint. Only what the variant reads
    /// is kept: see [`Self::bytes`].
    pub fn new(moments: &Moments, joint_count: usize, variant: Variant, storage: Storage) -> Self {
        let origin = moments.origin.map(Real::to_single);
        let off: [f64; 3] = std::array::from_fn(|c| moments.origin[c] - f64::from(origin[c]));
        let moved = |p: &[f32; 3]| std::array::from_fn(|c| (f64::from(p[c]) + off[c]).to_single());
        let centers: Vec<[f32; 3]> = moments.centers.iter().map(moved).collect();
        let mut shares = vec![0.0_f64; joint_count];
        let part = 1.0 / moments.vertex_count().max(1) as f64;
        for (&joint, pair) in moments.joints.iter().zip(&moments.pairs) {
            if let Some(share) = shares.get_mut(joint as usize) {
                *share += f64::from(pair.weight) * part;
            }
        }
        let parts = BindParts {
            variant,
            vertex_count: index32(moments.vertex_count()),
            origin,
            shares: shares.into_iter().map(Real::to_single).collect(),
            blocks: Blocks::new(moments, &centers, variant.reads(), storage),
        };
        Self { parts }
    }

    /// From what was saved, where it fits.
    pub(super) fn from_parts(
        parts: BindParts,
        joint_count: usize,
        vertex_count: usize,
        variant: Variant,
        storage: Storage,
    ) -> Option<Self> {
        let reads = variant.reads();
        let asked = Blocks::storage_of(reads, storage);
        let fits = parts.vertex_count() == vertex_count
            && parts.variant == variant
            && parts.blocks.reads == reads
            && parts.blocks.storage == asked
            && parts.shares.len() == joint_count
            && parts.blocks.is_valid(vertex_count, joint_count);
        fits.then_some(Self { parts })
    }

    pub(super) fn parts(&self) -> &BindParts {
        &self.parts
    }
    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.parts.vertex_count()
    }
    /// Number of joints that a palette must have.
    pub fn joint_count(&self) -> usize {
        self.parts.shares.len()
    }
    /// How the motion of a vertex is made from its moments.
    pub fn variant(&self) -> Variant {
        self.parts.variant
    }
    pub(super) fn blocks(&self) -> &Blocks {
        &self.parts.blocks
    }
    pub(super) fn shares(&self) -> &[f32] {
        &self.parts.shares
    }
    /// Centre of the rest mesh in scene space, from which rest positions are counted.
    pub fn origin(&self) -> Vec3<f64> {
        Vec3::from(self.parts.origin.map(f64::from))
    }
    /// Bytes on the heap. A vertex takes, for each joint of its block of eight vertices:
    ///
    /// | variants | full | quantized |
    /// |---|---|---|
    /// | v0, v1 | 40 | 24 |
    /// | v2, v3 | 16 | 12 |
    /// | v4 | 4 | - |
    ///
    /// Each vertex takes 20 bytes more, or 28 if quantized.
    pub fn bytes(&self) -> usize {
        self.parts.blocks.bytes() + size_of_val(self.parts.shares.as_slice())
    }
}

/// Virtual bones and how many of them a vertex follows at most; `None` where there are none.
pub(super) fn virtual_bones_of(
    parameters: &Parameters<'_>,
    variant: Variant,
) -> Option<CompressionSettings> {
    let count = |name| usize::try_from(parameters.int(name)).unwrap_or(0);
    let (bones, influences) = (count("virtual_bones"), count("virtual_influences"));
    (bones > 0).then_some(CompressionSettings {
        bones,
        influences,
        variant,
    })
}

/// The node's parameters. Words are those of the description.
pub(super) fn settings_of(
    parameters: &Parameters<'_>,
) -> Result<(SmoothingSettings, Variant, Storage), NodeError> {
    let unknown = |name: &'static str, expected: &str| NodeError::Parameter {
        name,
        found: parameters.text(name).to_owned(),
        expected: expected.to_owned(),
    };
    let variant = Variant::from_name(parameters.text("variant"))
        .ok_or_else(|| unknown("variant", "v0, v1, v2, v3 or v4"))?;
    let storage = Storage::from_name(parameters.text("storage"))
        .ok_or_else(|| unknown("storage", "full or quantized"))?;
    let strongest_only = match parameters.text("skin_weights") {
        "authored" => false,
        "strongest" => true,
        _ => return Err(unknown("skin_weights", "authored or strongest")),
    };
    let settings = SmoothingSettings {
        lambda: parameters.float("lambda"),
        kappa: parameters.float("kappa"),
        alpha: parameters.float("alpha"),
        iterations: u32::try_from(parameters.int("iterations")).unwrap_or(0),
        laplacian: LaplacianConfig::from_parameters(parameters),
        strongest_only,
        tolerance: parameters.float("tolerance"),
    };
    Ok((settings, variant, storage))
}
