//! Bound graphs on the GPU: generates kernels, assigns buffers, records launches.
//!
//! [`GpuGraph`] holds the data that all instances share (setup results, rest meshes). [`GpuInstances`] holds any number of characters
//! that are updated together: a node takes the same number of launches for one character and for ten thousand.

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
