//! Readers and writers of Sinew: the only crate that opens files or decodes bytes.
//!
//! Files are untrusted: every count is checked against the bytes that are there before anything is allocated,
//! and what is wrong is said with its place, what was found and what was expected ([`IoError`]).

mod error;
pub mod gltf;

pub use error::IoError;
pub use gltf::read::{GltfBuffer, GltfFile, GltfSource, read_gltf, read_gltf_bytes};
