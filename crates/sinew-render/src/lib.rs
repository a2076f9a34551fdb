#![doc = include_str!("../README.md")]
//!
//! A [`Scene`] lists [`Surface`]s and [`Lines`] with their looks. A [`Shot`] has the camera and the size of the picture. A [`Renderer`]
//! draws them and returns an [`Image`](sinew_geom::Image). Surfaces draw from GPU buffers of a graph without a copy ([`Surface::bind`]),
//! or from arrays ([`Surface::upload`]).
//!
//! # Passes of a picture
//!
//! The shaders fetch vertices from storage buffers by index. Therefore they can draw any layout that kernels write, and each triangle
//! knows its edges. The passes are:
//!
//! 1. Depths from the key light: a shadow map of 1024 texels, read with 32 taps.
//! 2. Depths and normals from the camera.
//! 3. Ambient occlusion from them: alchemy estimator with 14 taps per pixel, rotated from pixel to pixel, then blurred.
//! 4. The picture with four samples per pixel, lit by three lights that move with the camera.
//!
//! Colours are linear until they are stored. The result does not depend on time or random numbers.

mod draws;
mod error;
mod facets;
mod hair;
mod lines;
mod markers;
mod materials;
mod pipelines;
mod renderer;
mod scene;
mod skeleton;
mod smooth;
mod surface;
mod targets;
mod view;

#[cfg(test)]
mod tests;

pub use error::RenderError;
pub use hair::Hair;
pub use lines::Lines;
pub use markers::points_mesh;
pub use materials::Materials;
pub use renderer::Renderer;
pub use scene::{
    Background, Layer, Lighting, LinesLook, Paint, Scene, Shot, SurfaceLook, ValueScale, Wireframe,
};
pub use skeleton::{Skeleton, skeletal_nodes};
pub use surface::Surface;
