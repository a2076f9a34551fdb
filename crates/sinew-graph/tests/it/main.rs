//! The crate as its users see it: documents, what is wrong with them, and what they compute.

mod angles;
mod bind_options;
mod check;
mod fit;
mod frame_time;
mod heavy_kernels;
mod instance;
mod kernels;
mod kernels_cpu;
mod linked;
mod nested;
mod own_nodes;
mod records;
mod setup_cache;
