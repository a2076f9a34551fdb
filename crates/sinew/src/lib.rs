//! Sinew: an open deformer graph.
//!
//! You give it a character (mesh, skeleton, clips, morph targets) and a small document that says how the character deforms. It
//! gives you the deformed mesh of each frame.
//!
//! ```
//! use sinew::deform::Par;
//! use sinew::geom::{Mesh, Topology};
//! use sinew::graph::{Frame, InputBinding, Instance, NoNesting};
//! use std::sync::Arc;
//!
//! let mesh = Mesh::new(
//!     "triangle",
//!     Topology::new(3, vec![[0, 1, 2]])?,
//!     vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
//! );
//! let document = r#"{
//!     "sinew": "1.0",
//!     "inputs": { "body": { "type": "mesh" } },
//!     "stack": [{ "node": "transform", "transform": { "translation": [0, 0, 2] } }]
//! }"#;
//! let plan = sinew::graph::compile("shift.json", document, &NoNesting)?;
//! let mut instance = Instance::bind(Arc::new(plan), &[InputBinding::Mesh(Arc::new(mesh))], &[], Par::Seq)?;
//! instance.update(&Frame::default(), Par::Seq)?;
//! let body = instance.mesh_output("body").expect("declared by the stack");
//! assert_eq!(body.positions[1], [1.0, 0.0, 2.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Use this in an engine, which has its own meshes and poses. For characters in files, use `play` (feature `io`). It loads a
//! character, compiles its graph or a default one, binds it and plays clips frame by frame, on the CPU or (feature `gpu`) on the
//! GPU.

#[cfg(feature = "io")]
pub mod bake;
/// The deformers and their registry.
pub use sinew_deform as deform;
/// Meshes, rigs and clips.
pub use sinew_geom as geom;
/// GPUs.
#[cfg(feature = "gpu")]
pub use sinew_gpu as gpu;
/// Graph documents, plans and instances.
pub use sinew_graph as graph;
#[cfg(feature = "io")]
pub mod hair;
/// Readers and writers of files.
#[cfg(feature = "io")]
pub use sinew_io as io;
#[cfg(feature = "io")]
pub mod play;
pub mod psd;
/// Parts of pictures other than the scene: cameras, colour maps, contact sheets, text.
#[cfg(feature = "render")]
pub use sinew_picture as picture;
/// Rendering.
#[cfg(feature = "render")]
pub use sinew_render as render;
/// Vertex animation textures as arrays.
pub use sinew_vat as vat;
