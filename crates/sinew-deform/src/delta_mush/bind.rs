//! Setup: the smoothed rest mesh, a frame for each point, the detail in that frame.

use super::frames::{FanBuilder, Fans, FrameKind};
use super::reference::{self, Frame, frame};
use crate::laplacian::{
    LaplacianConfig, Smoother, SmootherError, SmoothingScratch, smooth_watched,
};
use crate::{BindWatch, Par, Stopped};
use serde::{Deserialize, Serialize};
use sinew_geom::{Mesh, Real, Vec3, index32};

/// Why delta mush could not be set up.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DeltaMushBindError {
    /// The smoothing refused.
    #[error(transparent)]
    Smoother(#[from] SmootherError),
    /// Frames from UV need texture coordinates.
    #[error(
        "frame 'uv' needs texture coordinates of {vertices} vertices, but the mesh has {found}"
    )]
    NoUv {
        /// Number of vertices.
        vertices: usize,
        /// Number of texture coordinates.
        found: usize,
    },
    /// The caller stopped setup.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// Settings of setup.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeltaMushConfig {
    /// Neighbours and their weights.
    pub laplacian: LaplacianConfig,
    /// Number of smoothing passes.
    pub iterations: u32,
    /// Step of each pass, 0 to 1.
    pub step: f32,
    /// Frame in which the detail is stored.
    pub frame: FrameKind,
}

impl Default for DeltaMushConfig {
    fn default() -> Self {
        Self {
            laplacian: LaplacianConfig::default(),
            iterations: 10,
            step: 0.5,
            frame: FrameKind::AllNeighbours,
        }
    }
}

/// Setup results of delta mush.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeltaMushBind {
    pub(super) smoother: Smoother,
    pub(super) iterations: u32,
    pub(super) step: f32,
    pub(super) fans: Fans,
    /// For each slot: the detail along tangent, bitangent and normal, in the unit of the rest mesh; then the factor by which the square
    /// of the area vector is multiplied to know how much of the frame is left.
    pub(super) deltas: Vec<[f32; 4]>,
    /// Vertices that lie apart from the point that they share with others.
    pub(super) apart: Vec<Apart>,
}

/// A vertex that lies apart from its weld class, within the weld tolerance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Apart {
    pub(super) vertex: u32,
    /// From the point to the vertex at rest, in the point's frame and in the unit of the rest mesh.
    pub(super) offset: [f32; 3],
}

impl DeltaMushBind {
    /// Binds a mesh at rest, in double precision, on one thread.
    ///
    /// # Errors
    /// [`DeltaMushBindError`]: positions that are not finite, or no texture coordinates for [`FrameKind::Uv`].
    ///
    /// # Cost
    /// As [`Smoother::bind`], and O(iterations * edges) for the smoothed rest mesh.
    pub fn new(mesh: &Mesh, config: &DeltaMushConfig) -> Result<Self, DeltaMushBindError> {
        Self::new_watched(mesh, config, Par::Seq, &BindWatch::NONE)
    }

    /// As [`Self::new`], on threads, with progress and cancellation: it asks before each smoothing pass. The same bits for any number of
    /// threads.
    ///
    /// # Errors
    /// As [`Self::new`]; [`DeltaMushBindError::Stopped`].
    pub fn new_watched(
        mesh: &Mesh,
        config: &DeltaMushConfig,
        par: Par,
        watch: &BindWatch<'_>,
    ) -> Result<Self, DeltaMushBindError> {
        watch.step(0.0)?;
        let (smoother, weld, rings) = Smoother::bind(mesh, &config.laplacian)?;
        let uvs = mesh.uvs.first().map(Vec::as_slice).unwrap_or_default();
        if config.frame == FrameKind::Uv && uvs.len() != mesh.vertex_count() {
            return Err(DeltaMushBindError::NoUv {
                vertices: mesh.vertex_count(),
                found: uvs.len(),
            });
        }
        let layout = smoother.layout();
        let mut rest = crate::laplacian::reference::gather::<f64>(layout, &mesh.positions);
        let unit = smoother.anchor().rest_unit();
        rest.iter_mut().for_each(|p| *p /= unit);
        let (step, iterations) = (f64::from(config.step), config.iterations);
        let smooth = watch.part(0.1, 0.9, |watch| {
            smooth_watched(layout, &rest, step, iterations, par, &watch)
        })?;
        watch.step(0.9)?;
        let fans = FanBuilder {
            mesh,
            uvs,
            weld: &weld,
            rings: &rings,
            layout,
            rest: &rest,
            smooth: &smooth,
            kind: config.frame,
        }
        .build();
        let frame_of = |s: usize| {
            let points = if fans.is_unsmoothed(s) {
                &rest
            } else {
                &smooth
            };
            rest_frame(&fans, points, s)
        };
        let deltas = (0..rest.len())
            .map(|s| {
                let (frame, factor) = frame_of(s);
                let [x, y, z] = frame.local(rest[s] - smooth[s]);
                [x, y, z, factor]
            })
            .collect();
        let mut apart = Vec::new();
        for (v, (&slot, p)) in layout
            .slot_of_vertex()
            .iter()
            .zip(&mesh.positions)
            .enumerate()
        {
            let offset = f64::vec3(*p) / unit - rest[slot as usize];
            if layout.keeps_offsets() && offset != Vec3::zeros() {
                apart.push(Apart {
                    vertex: index32(v),
                    offset: frame_of(slot as usize).0.local(offset),
                });
            }
        }
        Ok(Self {
            smoother,
            iterations: config.iterations,
            step: config.step,
            fans,
            deltas,
            apart,
        })
    }

    /// Scratch of one instance: 32 bytes per weld class, or 48. Allocates.
    pub fn new_scratch(&self) -> SmoothingScratch {
        SmoothingScratch::new(self.deltas.len(), self.needs_gathered())
    }

    /// Whether the points before smoothing are needed beside those of the smoothing itself.
    pub(super) fn needs_gathered(&self) -> bool {
        !self.fans.unsmoothed().is_empty()
    }

    /// Bytes of [`Self::new_scratch`].
    pub fn scratch_bytes(&self) -> usize {
        self.smoother.scratch_bytes(self.needs_gathered())
    }

    /// Whether positions and scratch have the right lengths.
    pub(super) fn fits(&self, positions: &[[f32; 3]], scratch: &SmoothingScratch) -> bool {
        self.smoother
            .fits(positions, scratch, self.needs_gathered())
    }

    /// The smoothing part.
    pub fn smoother(&self) -> &Smoother {
        &self.smoother
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        let apart = size_of_val(self.apart.as_slice());
        self.smoother.layout().bytes() + self.fans.bytes() + self.deltas.len() * 16 + apart
    }

    /// Whether all lengths and indices fit a mesh of that many vertices. For data from a file.
    pub(super) fn is_valid(&self, vertex_count: usize) -> bool {
        let slots = self.smoother.layout().slot_count();
        self.smoother.layout().is_valid(vertex_count)
            && self.deltas.len() == slots
            && self.fans.is_valid(slots)
            && self
                .apart
                .iter()
                .all(|a| (a.vertex as usize) < vertex_count)
            && self.iterations <= 10_000
            && (0.0..=1.0).contains(&self.step)
    }
}

/// A frame is gone when its area vector is this much smaller than at rest.
const VANISHED: f64 = 1e-5;

/// The frame of a slot at rest, and the factor by which the square of its area vector is multiplied later.
fn rest_frame(fans: &Fans, points: &[Vec3<f64>], slot: usize) -> (Frame<f64>, f32) {
    let vectors = reference::vectors(&fans.fan(slot), points);
    let area = vectors.normal.norm_squared();
    let factor = (1.0 / (VANISHED * VANISHED * area)).min(1e37);
    (frame(&vectors, factor), factor as f32)
}
