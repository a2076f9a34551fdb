#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! Functions for several formats are in the root of the crate: [`read_any`], [`read_mesh`], [`read_sequence`]. A reader returns a
//! [`sinew_geom::Asset`], or an [`IoError`] with the location of the error.
//!
//! * [`gltf`], [`obj`], [`ply`], [`tressfx`]: characters, meshes and strands. [`gltf_write`]: GLB.
//! * [`point_cache`]: PC2, MDD, NPZ and numbered files as point caches. [`write_npz`]: NumPy arrays. [`FrameCache`]: the input of all animation writers.
//! * [`picture`], [`texture`]: pixels. [`vertex_animation`]: bakes. [`pose_driver`]: pose drivers of other systems.
//! * [`AtomicFile`], [`AtomicDir`]: files that appear complete or not at all. [`Folders`]: which files a document may name.

#![cfg_attr(
    not(all(feature = "gltf", feature = "npz", feature = "vat")),
    allow(dead_code, reason = "helpers of formats that this build leaves out")
)]

mod any;
mod atomic;
mod bytes;
#[cfg(test)]
mod case_files;
mod error;
mod fault;
#[cfg(feature = "fbx")]
pub mod fbx;
mod file_box;
mod folders;
mod frames;
pub mod gltf;
#[cfg(feature = "gltf")]
pub mod gltf_write;
mod json_place;
#[cfg(feature = "npz")]
mod npz;
pub mod obj;
#[cfg(feature = "images")]
pub mod picture;
pub mod ply;
pub mod point_cache;
mod polygon;
pub mod pose_driver;
mod range_reader;
mod sequence;
mod spool;
mod strand_checks;
#[cfg(test)]
#[cfg(all(feature = "gltf", feature = "npz"))]
mod strands_tests;
mod surface;
#[cfg(feature = "images")]
pub mod texture;
pub mod tressfx;
mod values;
#[cfg(feature = "vat")]
pub mod vertex_animation;

pub use any::{
    AnyFile, files_ending_with, first_in_folder, read_any, read_bytes, read_text, remove_files,
    write_bytes, write_own, write_record, write_text,
};
pub use atomic::{AtomicDir, AtomicFile, FolderLock, Writability, set_synced};
pub use error::IoError;
#[cfg(feature = "fbx")]
pub use fbx::{read_fbx, read_fbx_bytes};
pub use file_box::FileBox;
pub use folders::Folders;
pub use frames::{CachedFrame, CachedMesh, ExtraArray, FrameCache, FrameData};
#[cfg(feature = "gltf")]
pub use gltf::read::{GltfFile, read_appearance, read_gltf, read_gltf_bytes};
pub use gltf::{GltfBuffer, GltfSource, PrimitiveVertices};
#[cfg(feature = "npz")]
pub use npz::{write_npz, write_npz_meshes};
#[cfg(feature = "images")]
pub use picture::{FrameRate, decode_image, png_bytes, read_png, write_animation, write_png};
pub use point_cache::{PointCacheReader, PointTiming};
pub use polygon::topology as topology_of_polygons;
pub use range_reader::RangeReader;
pub use sequence::{
    MeshFormat, SequenceFiles, find_sequence, read_mesh, read_mesh_from, read_sequence,
    write_mesh_sequence,
};
pub use spool::{Numbers, Spool};
pub use surface::{Surface, turn_z_up_to_y_up};
#[cfg(feature = "images")]
pub use texture::{Texels, Texture, TextureWriter, read_texture};
pub use values::{ValueTable, read_values};
#[cfg(feature = "vat")]
pub use vertex_animation::read_vertex_animation;
