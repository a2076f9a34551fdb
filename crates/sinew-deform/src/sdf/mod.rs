//! Signed distance fields of moving meshes, rebuilt each frame.
//!
//! See the page `README.md` beside this file.
//!
//! ```text
//! SdfSettings ─┐
//! topology ────┼─ SdfBind (setup) ── FieldBuffers::build(positions) each frame ── FieldView: sample, gradient
//! rest mesh ───┘
//! ```
//!
//! # For developers
//!
//! How a brick is filled on the CPU (`brick.rs`): it gathers the clusters that could be nearest to one of its nodes, then each of its
//! eight 4 × 4 × 4 blocks, then each of their eight 2 × 2 × 2 groups. Seen from a point `c`, a triangle with closest point `q` lies
//! behind the plane through `q` across `c − q`, being convex: its distance from `c + o` is at least `|c − q| + o · u`. That bound costs
//! three multiplications and leaves about eight triangles a group. Far from a closed surface (further than the nodes of a block reach),
//! one sign serves the block. `device.rs` has the GPU's way.
//!
//! - [`SurfaceReport`] says whether a surface is closed, turned or doubled. [`BuildReport`] counts bricks without memory
//!   (`SdfSettings::spare_bricks`).
//! - `cargo test -p sinew --test it sdf_real:: -- --nocapture` measures real characters. At nodes of closed meshes no distance is
//!   missing and no sign is wrong. In the band, nodes are off by less than 0.00002 cells (asserted: 0.0001). Between nodes, one point
//!   in a thousand is off by more than half a cell (asserted: in five hundred). No interpolation of right distances can be off by more
//!   than 0.87 cells.
//! - A closed mesh that is folded, with four triangles at an edge: with pseudonormals a thirtieth of all nodes gets the wrong sign.
//! - A closing elbow: hair went 17 mm deep with pseudonormals, and 4 mm with winding numbers. That is why `automatic` takes the latter.

mod bind;
mod brick;
mod build;
mod columns;
mod device;
mod field;
mod frame;
mod half;
mod isosurface;
mod node;
mod orient;
mod reach;
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

pub use bind::SdfBind;
pub use bind::SurfaceReport;
pub use build::BuildReport;
pub use build::FieldBuffers;
pub(crate) use field::unset_in_cells;
pub(crate) use field::{BRICK_CELLS, BRICK_NODES, BRICK_VALUES};
pub use field::{FieldView, GridShape, NO_BRICK, UNSET};
pub use frame::FieldFrame;
#[cfg(test)]
pub(crate) use isosurface::Isosurface;
pub use isosurface::isosurface;
pub use node::DESC;
pub use reach::{FieldReach, FieldReaches};
pub(crate) use reference::closest_point;
pub use reference::{Nearest, ReferenceMesh};
#[cfg(test)]
pub(crate) use settings::FieldBox;
pub use settings::{Axis, Resolution, SdfError, SdfSettings, SignMethod, Storage};
pub use slices::slice;
pub use words::SolidsView;
pub use words::{FIELD_WGSL, FieldWords};
pub(crate) use words::{GridParts, lay_grid};
pub(crate) use words::{SOLID_WORDS, grid_words, solids_words, write_solids};
