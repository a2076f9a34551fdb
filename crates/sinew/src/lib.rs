#![doc = include_str!("../README.md")]
//! ## Modules
//!
//! | module | holds |
//! |---|---|
//! | [`geom`] | meshes, rigs, clips, poses |
//! | [`deform`] | the deformers and drivers, and their registry |
//! | [`graph`] | graph documents, plans, instances |
//! | [`psd`] | tools for pose space deformation: checks, correctives, compression, conversion |
//! | [`vat`] | vertex animation textures as arrays |
//! | `io` | readers and writers of files |
//! | `play` | plays characters from files or from memory |
//! | `bake` | bakes: vertex animation textures, skin weights |
//! | `hair` | grows strands on a character, and writes hair files |
//! | `gpu` | adapters, buffers, kernels, graphs on the GPU |
//! | `picture`, `render` | pictures of results |
//!
//! `io`, `play` and `hair` need the feature `io`, `bake` needs `bake`; `gpu` needs `gpu`; `picture` and `render` need `render`.

#[cfg(feature = "bake")]
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

/// The code of the page about the library compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/library.md")]
struct LibraryPage;
