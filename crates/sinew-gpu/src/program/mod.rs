//! Bound graphs on the device: texts put together, buffers assigned, launches recorded.
//!
//! [`GpuGraph`] holds what all instances share (setup results, rest meshes), [`GpuInstances`] any number of characters that
//! move together: each node costs the same number of launches for one and for ten thousand.

mod batches;
mod bounds;
mod crowd;
mod frame_data;
mod graph;
mod group;
mod host;
mod instances;
mod launch;
mod memory;
mod names;
mod nodes;
mod outputs;
mod planning;
mod rest_offsets;
mod rows;
mod schedule;
mod state;
mod text;
mod tile_text;
mod tiles;
mod unroll;

pub use graph::GpuGraph;
pub use instances::{GpuInstances, Kernel, KernelBinding};
pub use outputs::{GpuArrayOutput, GpuMesh, GpuMeshOutput};
pub use planning::LaunchStyle;
