//! Why a picture could not be drawn.

use sinew_gpu::{GpuError, LimitError};

/// What goes wrong when surfaces are made and pictures are drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The device refused, or is gone; limits are named.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// A picture without pixels.
    #[error("a picture of {width} x {height} pixels was asked for, expected at least 1 x 1")]
    NoPixels {
        /// Pixels across.
        width: u32,
        /// Pixels down.
        height: u32,
    },
    /// An array does not have one entry a vertex.
    #[error(
        "surface '{surface}': found {found} {what}, expected one for each of {expected} vertices"
    )]
    Length {
        /// Name of the surface.
        surface: String,
        /// "positions", "normals", "colors", "values".
        what: &'static str,
        /// Entries given.
        found: usize,
        /// Vertices of the surface.
        expected: usize,
    },
    /// The device output has fewer characters.
    #[error(
        "surface '{surface}': character {instance} was asked for, the output has {found}, counted from 0"
    )]
    NoInstance {
        /// Name of the surface.
        surface: String,
        /// Which one.
        instance: usize,
        /// How many there are.
        found: usize,
    },
    /// The surface has nothing to paint with.
    #[error("surface '{surface}' has no {what}")]
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
