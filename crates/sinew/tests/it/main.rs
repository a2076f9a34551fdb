//! What the facade promises, on processors and GPUs.

#[cfg(feature = "io")]
mod arrays;
mod bake_skin;
mod common;
mod conformance;
#[cfg(feature = "io")]
mod direct_delta_mush;
mod field_reach;
mod follow;
mod gpu;
#[cfg(feature = "io")]
mod gpu_characters;
mod gpu_drivers;
mod gpu_hair;
#[cfg(all(feature = "gpu", feature = "io"))]
mod gpu_hair_held;
mod gpu_instances;
mod gpu_limits;
mod gpu_rows;
mod gpu_sdf;
#[cfg(all(feature = "gpu", feature = "io"))]
mod gpu_states;
mod gpu_styles;
mod gpu_tressfx;
#[cfg(feature = "io")]
mod gpu_vat;
#[cfg(feature = "io")]
mod hair;
#[cfg(feature = "io")]
mod hair_styles;
#[cfg(feature = "io")]
mod kernel_buffers;
#[cfg(feature = "io")]
mod kernel_fields;
#[cfg(feature = "io")]
mod kernels;
mod kernels_math;
mod linked;
mod no_allocation;
mod no_allocation_gpu;
#[cfg(feature = "io")]
mod no_allocation_play;
mod placed;
#[cfg(feature = "io")]
mod play;
#[cfg(feature = "io")]
mod point_caches;
#[cfg(feature = "io")]
mod pose_drivers;
mod pose_space;
#[cfg(feature = "io")]
mod psd_compress;
#[cfg(feature = "io")]
mod psd_extract;
#[cfg(feature = "io")]
mod sdf;
#[cfg(feature = "io")]
mod sdf_real;
#[cfg(feature = "io")]
mod set_positions;
mod solvers;
mod springs;
#[cfg(feature = "io")]
mod starters;
mod uniforms;
#[cfg(feature = "io")]
mod vat;
