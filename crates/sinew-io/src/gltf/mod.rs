//! glTF 2.0, as `.gltf` and `.glb`. Reading needs the feature `gltf`.

#[cfg(feature = "gltf")]
pub mod read;
pub(crate) mod source;

pub use source::{GltfBuffer, GltfSource, PrimitiveVertices};
