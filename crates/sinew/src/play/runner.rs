//! Evaluates frames on the CPU or the GPU, with equal results up to rounding.

use super::{PlayError, RunError, StateFault};
use crate::deform::sdf::FieldWords;
use crate::deform::{Line, Par};
use crate::graph::{BoundGraph, Frame, Instance, OutputMesh};
use crate::io::FrameData;
use std::sync::Arc;

#[cfg(feature = "gpu")]
use crate::gpu::{Gpu, GpuError, GpuGraph, GpuInstances};

/// One character on the CPU or the GPU. Match on it to read results in place: slices of an [`Instance`], buffers of
/// `GpuInstances`.
#[derive(Debug)]
#[non_exhaustive]
pub enum Runner {
    /// On the CPU.
    Cpu(Box<Instance>),
    /// On the GPU, as a crowd of one.
    #[cfg(feature = "gpu")]
    Gpu(Box<GpuInstances>),
}

/// A copied output of one frame.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// A mesh: metres, scene space, one element per vertex.
    Mesh(FrameData),
    /// A mask or values.
    Floats(Vec<f32>),
    /// Line segments: metres, scene space.
    Lines(Vec<Line>),
}

/// Signed distances on a grid. Fields of solids have no grid.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldGrid {
    /// Nodes along each axis.
    pub nodes: [u32; 3],
    /// Distance at each node in metres, third index fastest; NaN where it is unknown.
    pub distances: Vec<f32>,
    /// Positions of nodes in scene space, metres: three rows, applied to `(i, j, k, 1)`.
    pub scene_from_node: [[f32; 4]; 3],
}

impl FieldGrid {
    /// Reads the grid from words; `None` if they contain solids or nothing.
    fn read(words: &[u32]) -> Option<Self> {
        let FieldWords::Grid(view) = FieldWords::read(words) else {
            return None;
        };
        Some(Self {
            nodes: view.shape.nodes(),
            distances: view.dense(),
            scene_from_node: view.scene_from_node(),
        })
    }
}

impl Runner {
    /// A character on the CPU.
    pub fn cpu(graph: &Arc<BoundGraph>) -> Self {
        Self::Cpu(Box::new(graph.instance()))
    }

    /// A character on the caller's GPU. A renderer can draw from its buffers without a copy.
    ///
    /// # Errors
    /// [`PlayError::Device`] if the GPU cannot run the graph, or failed.
    #[cfg(feature = "gpu")]
    pub fn gpu(gpu: &Gpu, graph: &Arc<BoundGraph>) -> Result<Self, PlayError> {
        let instances = GpuGraph::new(gpu, graph)?.instances(1)?;
        Ok(Self::Gpu(Box::new(instances)))
    }

    /// The graph.
    pub fn graph(&self) -> &Arc<BoundGraph> {
        match self {
            Self::Cpu(instance) => instance.graph(),
            #[cfg(feature = "gpu")]
            Self::Gpu(instances) => instances.graph(),
        }
    }

    /// Evaluates one frame. The CPU finishes it with the threads of the current pool. The GPU may still be working
    /// afterwards.
    ///
    /// # Errors
    /// [`RunError`].
    pub fn update(&mut self, frame: &Frame<'_>) -> Result<(), RunError> {
        match self {
            Self::Cpu(instance) => Ok(instance.update(frame, Par::Rayon)?),
            #[cfg(feature = "gpu")]
            Self::Gpu(instances) => {
                instances.update(std::slice::from_ref(frame))?;
                Ok(())
            }
        }
    }

    /// Forgets all frames: solvers start again, and the previous frame equals the next one. Parameters stay.
    pub fn reset(&mut self) {
        match self {
            Self::Cpu(instance) => instance.reset(),
            #[cfg(feature = "gpu")]
            Self::Gpu(instances) => instances.reset(),
        }
    }

    /// Goes on with another binding of the graph. The next frame is a first frame; parameters stay.
    pub(super) fn rebind(&mut self, graph: &Arc<BoundGraph>) -> Result<(), PlayError> {
        match self {
            Self::Cpu(instance) => instance.rebind(graph),
            #[cfg(feature = "gpu")]
            Self::Gpu(instances) => instances.rebind(graph)?,
        }
        Ok(())
    }

    /// Saves the state that later frames depend on, as [`Instance::save_state`].
    pub(super) fn save_state(&self) -> Result<Vec<u8>, StateFault> {
        match self {
            Self::Cpu(instance) => Ok(instance.save_state()),
            #[cfg(feature = "gpu")]
            Self::Gpu(instances) => Ok(instances.save_state(0)?),
        }
    }

    /// Restores such a state.
    pub(super) fn restore_state(&mut self, bytes: &[u8]) -> Result<(), StateFault> {
        match self {
            Self::Cpu(instance) => Ok(instance.restore_state(bytes)?),
            #[cfg(feature = "gpu")]
            Self::Gpu(instances) => Ok(instances.restore_state(0, bytes)?),
        }
    }

    /// Copies of all outputs of the last frame except poses and fields, with names, in document order. Waits for the
    /// GPU.
    ///
    /// # Errors
    /// `PlayError::Device` if the GPU failed.
    pub fn read_outputs(&mut self) -> Result<Vec<(String, Output)>, PlayError> {
        let plan = self.graph().plan().clone();
        let mut out = Vec::new();
        for output in plan.outputs() {
            let name = &output.name;
            let found = match self {
                Self::Cpu(instance) => cpu_output(instance, name),
                #[cfg(feature = "gpu")]
                Self::Gpu(instances) => device_output(instances, name)?,
            };
            out.extend(found.map(|found| (name.clone(), found)));
        }
        Ok(out)
    }

    /// Fields among the outputs of the last frame as dense grids, with names. Fields of solids have no grid. Waits for
    /// the GPU. Needs 4 bytes per grid node.
    ///
    /// # Errors
    /// `PlayError::Device` if the GPU failed.
    pub fn read_fields(&mut self) -> Result<Vec<(String, FieldGrid)>, PlayError> {
        let plan = self.graph().plan().clone();
        let mut out = Vec::new();
        for output in plan.outputs() {
            let name = &output.name;
            let grid = match self {
                Self::Cpu(instance) => instance.field_output(name).and_then(FieldGrid::read),
                #[cfg(feature = "gpu")]
                Self::Gpu(instances) => {
                    let words = instances.read_field(name, 0)?;
                    words.as_deref().and_then(FieldGrid::read)
                }
            };
            out.extend(grid.map(|grid| (name.clone(), grid)));
        }
        Ok(out)
    }

    /// The first vertex with a position that is not finite, and its output. Does not read back from the GPU.
    pub(super) fn not_finite(&self) -> Option<(&str, usize)> {
        match self {
            Self::Cpu(instance) => {
                let mut outputs = instance.plan().outputs().iter();
                outputs.find_map(|output| {
                    let mesh = instance.mesh_output(&output.name)?;
                    Some((output.name.as_str(), not_finite(mesh.positions)?))
                })
            }
            #[cfg(feature = "gpu")]
            Self::Gpu(_) => None,
        }
    }
}

/// The first position with an infinite or NaN coordinate.
pub(super) fn not_finite(positions: &[[f32; 3]]) -> Option<usize> {
    // Maximum of the bits without sign: a loop without exits, which compilers vectorise. The vertex is only searched if
    // it is needed.
    let coordinates = positions.as_flattened().iter();
    let largest = coordinates.fold(0, |most, c| most.max(c.abs().to_bits()));
    if largest < f32::INFINITY.to_bits() {
        return None;
    }
    let bad = |p: &[f32; 3]| p.iter().any(|c| !c.is_finite());
    positions.iter().position(bad)
}

fn cpu_output(instance: &Instance, name: &str) -> Option<Output> {
    let mesh = |m: OutputMesh<'_>| FrameData {
        positions: m.positions.to_vec(),
        normals: m.normals.map(<[_]>::to_vec),
        tangents: m.tangents.map(<[_]>::to_vec),
        colors: m.colors.map(<[_]>::to_vec),
    };
    let meshes = instance.mesh_output(name).map(|m| Output::Mesh(mesh(m)));
    meshes
        .or_else(|| Some(Output::Floats(instance.float_output(name)?.to_vec())))
        .or_else(|| Some(Output::Lines(instance.line_output(name)?.to_vec())))
}

#[cfg(feature = "gpu")]
fn device_output(instances: &mut GpuInstances, name: &str) -> Result<Option<Output>, GpuError> {
    if let Some(m) = instances.read_mesh(name, 0)? {
        return Ok(Some(Output::Mesh(FrameData {
            positions: m.positions,
            normals: m.normals,
            tangents: m.tangents,
            colors: m.colors,
        })));
    }
    if let Some(floats) = instances.read_floats(name, 0)? {
        return Ok(Some(Output::Floats(floats)));
    }
    Ok(instances.read_lines(name, 0)?.map(Output::Lines))
}

#[cfg(test)]
mod tests {
    use super::not_finite;

    #[test]
    fn what_is_not_finite_is_found() {
        let mut positions = vec![[0.0, -f32::MAX, f32::MIN_POSITIVE]; 40];
        assert_eq!(not_finite(&positions), None);
        assert_eq!(not_finite(&[]), None);
        for bad in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            positions[33][1] = bad;
            assert_eq!(not_finite(&positions), Some(33), "{bad}");
        }
    }
}
