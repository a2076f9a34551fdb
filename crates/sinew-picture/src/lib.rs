#![doc = include_str!("../README.md")]
//!
//! # Types and functions
//!
//! * [`Picture`], [`Camera`]: the rasteriser (z-buffer, supersampling, three lights, lines).
//! * [`ColorMap`], [`Scale`], [`draw_scale_bar`]: numbers as colours, and the legend for them.
//! * [`draw_text`]: antialiased text. [`sheet`]: several pictures with labels and a legend.
//!
//! Drawing is sequential, in the order given.

mod camera;
mod canvas;
mod color_map;
mod extent;
mod scale_bar;
mod shade;
mod sheet;
mod srgb;
mod text;

#[cfg(test)]
mod tests;

pub use camera::{Camera, Lens};
pub use canvas::{Background, LinePicture, MeshPicture, Picture};
pub use color_map::ColorMap;
pub use extent::Extent;
pub use scale_bar::{Scale, ScaleBarStyle, draw_scale_bar, ticks};
pub use sheet::{Panel, sheet, side_by_side};
/// Finished pixels.
pub use sinew_geom::Image;
pub use srgb::{linear_from_srgb, srgb_from_linear};
pub use text::{Font, TextStyle, draw_text, text_width};

/// Why a picture could not be drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PictureError {
    /// An array does not have one entry per vertex.
    #[error("{found} {what} for {vertices} vertices")]
    Length {
        /// "normals" or "colors".
        what: &'static str,
        /// Entries given.
        found: usize,
        /// Vertices of the mesh.
        vertices: usize,
    },
    /// A triangle names a vertex that does not exist.
    #[error("triangle {triangle} refers to vertex {vertex}, the mesh has {vertices}")]
    VertexOutOfRange {
        /// Index of the triangle.
        triangle: usize,
        /// The vertex it names.
        vertex: u32,
        /// Vertices of the mesh.
        vertices: usize,
    },
}
