//! Stanford PLY: one polygon mesh or a point cloud.
//!
//! Supported: ASCII, binary little-endian and big-endian, all scalar types under both names, lists of any type.
//! Properties of `vertex`:
//!
//! | property | in the mesh |
//! |---|---|
//! | `x y z` | positions in metres |
//! | `nx ny nz` | normals |
//! | `s t`, `u v` or `texture_u texture_v` | texture coordinates; `v` is up in the file, down in a [`sinew_geom::Mesh`] |
//! | `red green blue alpha` | colours |
//! | `vx vy vz` | vector attribute `velocity` |
//! | `name_x name_y ..` | vector attribute `name` |
//! | other scalars | scalar attribute of the same name, in single precision |
//!
//! Mesh colours are linear. Integer colours in a file are sRGB, divided by the largest value of their type, as in
//! Blender, MeshLab and CloudCompare. Float colours are linear, as in Blender. Alpha is linear. Writing does the
//! reverse.
//!
//! `face` gives polygons, triangulated as in the OBJ reader. A face list `texcoord` holds texture coordinates per
//! corner, as in MeshLab: it becomes the first set, and vertices are split as in the OBJ reader. Face colours are
//! dropped with a warning. Other elements and list properties are skipped. Counts are compared with the file size
//! before memory is allocated.
//!
//! The parser is our own instead of `ply-rs`: errors contain the element, its index and the property; memory is not
//! allocated because of a header alone; vertices do not pass through a map of strings.

mod columns;
mod header;
mod read;
mod write;

pub(crate) use read::parse_ply_from;
pub use read::{parse_ply, read_ply};
pub use write::{PlyEncoding, PlyOptions, write_ply};

#[cfg(test)]
mod tests;
