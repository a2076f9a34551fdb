//! The results of setup for each vertex and joint: moments of the rest shape, weighted by the smoothing.

use serde::{Deserialize, Serialize};

/// Moments of one vertex and one joint, 40 bytes. They are taken about the smoothed rest position of the vertex, which keeps single
/// precision exact enough far from the origin.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Serialize,
    Deserialize,
    bytemuck::Pod,
    bytemuck::Zeroable,
)]
#[repr(C)]
pub struct PairMoments {
    /// Second moments `xx, xy, xz, yy, yz, zz`, square metres.
    pub second: [f32; 6],
    /// First moments, metres. Those of a vertex sum to zero.
    pub first: [f32; 3],
    /// Weight. Those of a vertex sum to one.
    pub weight: f32,
}

/// Moments of a mesh in compressed rows: one row per vertex, strongest joint first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Moments {
    /// `vertex_count + 1` offsets into `joints` and `pairs`.
    pub offsets: Vec<u32>,
    /// The joint of each pair.
    pub joints: Vec<u32>,
    /// The moments of each pair, as many as `joints`.
    pub pairs: Vec<PairMoments>,
    /// Smoothed rest position of each vertex (`p` in the paper), relative to `origin`, metres.
    pub centers: Vec<[f32; 3]>,
    /// Centre of the rest mesh in scene space.
    pub origin: [f64; 3],
}

impl Moments {
    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.centers.len()
    }

    /// Joints and moments of vertex `v`, as many of each.
    ///
    /// # Panics
    /// If there is no vertex `v`.
    #[inline(always)]
    pub fn row(&self, v: usize) -> (&[u32], &[PairMoments]) {
        let range = self.offsets[v] as usize..self.offsets[v + 1] as usize;
        (&self.joints[range.clone()], &self.pairs[range])
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        size_of_val(self.offsets.as_slice())
            + size_of_val(self.joints.as_slice())
            + size_of_val(self.pairs.as_slice())
            + size_of_val(self.centers.as_slice())
    }
}
