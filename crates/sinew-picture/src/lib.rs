//! Pictures, without a GPU and without files.
//!
//! * [`Picture`], [`Camera`]: a small rasteriser of meshes (z-buffer, supersampling, three lights, lines) for before/after
//!   pictures in demos, documents and tests. It has no textures, shadows or clipping: a triangle that reaches behind the camera
//!   is left out.
//! * [`ColorMap`], [`Scale`], [`draw_scale_bar`]: numbers as colours, and the legend for them.
//! * [`draw_text`]: antialiased text. [`sheet`]: several pictures with labels and a legend.
//!
//! ```
//! use sinew_picture::{Camera, MeshPicture, Picture};
//! let positions = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
//! let camera = Camera::framing(&positions, 0.3, 0.2, 1.0);
//! let mut picture = Picture::new(64, 64);
//! picture.draw_mesh(&MeshPicture::new(&positions, &[[0, 1, 2]]), &camera)?;
//! assert_eq!(picture.resolve().width(), 64);
//! # Ok::<(), sinew_picture::PictureError>(())
//! ```
//!
//! The same input gives the same bytes: drawing is sequential, in the order given.

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
