//! Signed distance fields of moving meshes, rebuilt each frame.
//!
//! See the page `README.md` beside this file.

mod bind;
mod brick;
mod build;
mod device;
mod field;
mod frame;
mod half;
mod isosurface;
mod node;
mod orient;
mod reference;
mod sample_eight;
mod settings;
mod simd;
mod slices;
mod surface;
#[cfg(test)]
mod tests;
mod tree;
pub(crate) mod triangle;
mod walk;
mod winding;
mod words;

pub use crate::documented_sdf::{CompatibilityError, CompatibilityField};
pub use bind::{SdfBind, SurfaceReport};
pub use build::{BuildReport, FieldBuffers};
pub(crate) use field::unset_in_cells;
pub use field::{
    BRICK_CELLS, BRICK_NODES, BRICK_VALUES, BrickValues, FieldView, GridShape, NO_BRICK, UNSET,
};
pub use frame::FieldFrame;
pub use isosurface::{Isosurface, isosurface};
pub use node::DESC;
pub use reference::{Feature, Nearest, ReferenceMesh, closest_point, solid_angle};
pub use settings::{Axis, FieldBox, Resolution, SdfError, SdfSettings, SignMethod, Storage};
pub use slices::{Slice, slice};
pub use words::{
    FieldWords, HEADER_WORDS, SOLID_WORDS, SolidsView, grid_words, move_words, solids_words,
    write_grid, write_solids,
};
pub(crate) use words::{GridParts, lay_grid};
