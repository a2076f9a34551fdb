//! Errors of drawing pictures.

use sinew_gpu::{GpuError, LimitError};

/// Errors of creating surfaces and drawing pictures.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// An error of the GPU: a limit, memory, a lost device.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// A picture without pixels.
    #[error("the picture has {width} x {height} pixels, expected at least 1 x 1")]
    NoPixels {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
    },
    /// An array does not have one entry per vertex.
    #[error(
        "surface '{surface}': found {found} {what}, expected one for each of {expected} vertices"
    )]
    Length {
        /// Name of the surface.
        surface: String,
        /// "positions", "normals", "colors", "values".
        what: &'static str,
        /// Entries of the array.
        found: usize,
        /// Vertices of the surface.
        expected: usize,
    },
    /// The GPU output has fewer characters.
    #[error(
        "surface '{surface}': there is no character {instance}; the output has {found}, counted from 0"
    )]
    NoInstance {
        /// Name of the surface.
        surface: String,
        /// Requested character.
        instance: usize,
        /// Number of characters.
        found: usize,
    },
    /// The surface lacks the data of its paint.
    #[error("surface '{surface}' has no {what}, which its paint needs")]
    Missing {
        /// Name of the surface.
        surface: String,
        /// "values", "other positions", "texture coordinates", "colors".
        what: &'static str,
    },
}

impl From<LimitError> for RenderError {
    fn from(error: LimitError) -> Self {
        Self::Gpu(error.into())
    }
}
