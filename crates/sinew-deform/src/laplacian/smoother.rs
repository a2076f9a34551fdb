//! Smoothing bound to a mesh: what `smooth` and `delta_mush` share at run time.

use super::{Anchor, CHUNK, FrameSpace, LaplacianConfig, Layout, MeanOperator, simd};
use crate::{MaskWeight, Par, for_each_chunk};
use serde::{Deserialize, Serialize};
use sinew_geom::{Mesh, OneRings, WeldMap};

/// Why smoothing could not be set up.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SmootherError {
    /// A rest position is NaN or infinite.
    #[error("rest position of vertex {vertex} is not finite")]
    NotFinite {
        /// Index of the vertex.
        vertex: usize,
    },
    /// The number of positions is not the number of vertices.
    #[error("the mesh has {positions} positions, but its topology has {vertices} vertices")]
    Count {
        /// Number of positions.
        positions: usize,
        /// Number of vertices of the topology.
        vertices: usize,
    },
}

/// One finite position a vertex.
///
/// # Errors
/// [`SmootherError`] names the first position that is not finite.
pub(crate) fn check_positions(mesh: &Mesh) -> Result<(), SmootherError> {
    let (positions, vertices) = (mesh.positions.len(), mesh.vertex_count());
    if positions != vertices {
        return Err(SmootherError::Count {
            positions,
            vertices,
        });
    }
    let bad = |p: &[f32; 3]| p.iter().any(|c| !c.is_finite());
    match mesh.positions.iter().position(bad) {
        Some(vertex) => Err(SmootherError::NotFinite { vertex }),
        None => Ok(()),
    }
}

/// Points of one instance during a frame: two buffers of 16 bytes per weld class, and a third one where the points before smoothing are
/// needed.
#[derive(Clone, Debug, Default)]
pub struct SmoothingScratch {
    pub(crate) current: Vec<[f32; 4]>,
    pub(crate) other: Vec<[f32; 4]>,
    /// The points before smoothing; empty unless vertices that share a slot lie apart, or frames need them.
    pub(crate) gathered: Vec<[f32; 4]>,
}

impl SmoothingScratch {
    /// Room for that many points, with those before smoothing where they are kept.
    pub(crate) fn new(slots: usize, keeps_gathered: bool) -> Self {
        Self {
            current: vec![[0.0; 4]; slots],
            other: vec![[0.0; 4]; slots],
            gathered: vec![[0.0; 4]; if keeps_gathered { slots } else { 0 }],
        }
    }
}

/// How points go back to vertices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placing<'a> {
    /// Incoming positions.
    pub(crate) positions: &'a [[f32; 3]],
    /// The space that points are in.
    pub(crate) space: FrameSpace,
    /// 0 gives the incoming positions, 1 the points.
    pub(crate) blend: f32,
    /// Strength for each vertex.
    pub(crate) weight: &'a MaskWeight<'a>,
    /// Vertices of one point move as it does, and keep their distances.
    pub(crate) keeps_offsets: bool,
}

/// The smoothing operator of a mesh, ready to run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Smoother {
    pub(crate) layout: Layout,
    pub(crate) anchor: Anchor,
}

impl Smoother {
    /// Binds a mesh at rest. Also returns the weld map and the one-rings, which other setup can use.
    ///
    /// # Errors
    /// [`SmootherError`] names the first position that is not finite, or a wrong number of positions.
    ///
    /// # Cost
    /// As [`MeanOperator::build`]. The result takes [`Layout::bytes`] and 4 bytes per joint.
    pub fn bind(
        mesh: &Mesh,
        config: &LaplacianConfig,
    ) -> Result<(Self, WeldMap, OneRings), SmootherError> {
        check_positions(mesh)?;
        let (operator, weld, rings) = MeanOperator::build(mesh, config);
        let layout = Layout::new(&operator, &weld, &mesh.positions);
        let anchor = Anchor::new(mesh);
        Ok((Self { layout, anchor }, weld, rings))
    }

    /// The operator in the order of the kernels.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Where the mesh is in a pose, and how large it is.
    pub fn anchor(&self) -> &Anchor {
        &self.anchor
    }

    /// Scratch of one instance. Allocates.
    pub fn new_scratch(&self) -> SmoothingScratch {
        SmoothingScratch::new(self.layout.slot_count(), self.layout.keeps_offsets())
    }

    /// Bytes of a scratch.
    pub(crate) fn scratch_bytes(&self, keeps_gathered: bool) -> usize {
        let buffers = if keeps_gathered { 3 } else { 2 };
        buffers * self.layout.slot_count() * size_of::<[f32; 4]>()
    }

    /// Whether positions and scratch have the right lengths.
    pub(crate) fn fits(
        &self,
        positions: &[[f32; 3]],
        scratch: &SmoothingScratch,
        keeps_gathered: bool,
    ) -> bool {
        let n = self.layout.slot_count();
        positions.len() == self.layout.vertex_count()
            && scratch.current.len() == n
            && scratch.other.len() == n
            && (!keeps_gathered || scratch.gathered.len() == n)
    }

    /// Gathers the points of the slots in a space, and smooths them; the result is in `scratch.current`.
    pub(crate) fn smooth(
        &self,
        positions: &[[f32; 3]],
        space: FrameSpace,
        step: f32,
        iterations: u32,
        scratch: &mut SmoothingScratch,
        par: Par,
    ) {
        let layout = &self.layout;
        let n = layout.slot_count();
        for_each_chunk(par, n, CHUNK, &mut scratch.current[..], &|range, out| {
            simd::gather(layout, positions, space, range, out);
        });
        if scratch.gathered.len() == n {
            scratch.gathered.copy_from_slice(&scratch.current);
        }
        for _ in 0..iterations {
            let src = &scratch.current[..];
            for_each_chunk(par, n, CHUNK, &mut scratch.other[..], &|range, out| {
                simd::smooth(layout, step, range.start / CHUNK, src, out);
            });
            std::mem::swap(&mut scratch.current, &mut scratch.other);
        }
    }

    /// Writes each vertex: from its input towards the point of its slot in `scratch.current`.
    pub(crate) fn place(
        &self,
        how: Placing<'_>,
        scratch: &SmoothingScratch,
        output: &mut [[f32; 3]],
        par: Par,
    ) {
        let n = how.positions.len().min(output.len());
        for_each_chunk(par, n, CHUNK, &mut output[..n], &|range, out: &mut [_]| {
            let job = simd::Place {
                layout: &self.layout,
                how,
                targets: &scratch.current,
                gathered: &scratch.gathered,
            };
            job.run(range, out);
        });
    }
}
