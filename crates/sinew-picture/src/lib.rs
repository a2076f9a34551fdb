//! Pictures of meshes, without a GPU: a z-buffer, supersampling, three lights, lines, labels, PNG.
//!
//! It exists for before/after pictures in demos, documents and tests, and stays small on purpose: no textures,
//! no shadows, no clipping (a triangle that reaches behind the camera is left out).
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
//! Same input, same bytes: drawing is sequential and in the order given.

mod camera;
mod canvas;
mod image;
mod normals;
mod shade;

#[cfg(test)]
mod tests;

pub use camera::Camera;
pub use canvas::{Background, LinePicture, MeshPicture, Picture};
pub use image::{Image, side_by_side};
pub use normals::smooth_normals;

/// Why a picture could not be drawn or written.
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
    /// The file could not be written.
    #[error("cannot write the picture {}: {source}", .path.display())]
    Write {
        /// What the system said.
        source: std::io::Error,
        /// Where.
        path: std::path::PathBuf,
    },
    /// The encoder refused.
    #[error("cannot encode the picture: {0}")]
    Encode(#[from] png::EncodingError),
}
