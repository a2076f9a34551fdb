//! Point caches: positions of every point of a mesh in every frame.
//!
//! * PC2 (3ds Max, Maya, Blender), little-endian: `POINTCACHE2\0`, i32 version 1, i32 points, f32 start frame, f32 frames between samples,
//!   i32 samples (32 bytes), then x y z f32 of every point, sample after sample.
//! * MDD (LightWave, Blender), big-endian: i32 frames, i32 points, f32 seconds of each frame, then x y z f32 likewise.
//! * NPZ (NumPy): the array `positions` and, if there is one, `times`, as [`crate::write_npz`] writes them.
//! * Numbered OBJ or PLY files ([`crate::find_sequence`]) with the same triangles in each file.
//!
//! The points of several meshes follow each other in one list. [`PointCacheReader`] reads all of them, sample by sample;
//! [`PointCacheWriter`] writes PC2 and MDD.

mod archive;
mod read;
mod same_faces;
#[cfg(test)]
#[cfg(feature = "npz")]
mod tests;
mod timing;
mod write;

pub use read::PointCacheReader;
pub use timing::{PointTiming, SampleBlend};
pub use write::PointCacheWriter;

const PC2_MAGIC: &[u8; 12] = b"POINTCACHE2\0";
const PC2_HEADER: usize = 32;
