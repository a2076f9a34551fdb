//! glTF 2.0, as `.gltf` and `.glb`.

pub mod read;
