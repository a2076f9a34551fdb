//! Stanford PLY: one polygon mesh or a point cloud.
//!
//! Read: ASCII, binary little- and big-endian, all scalar types under both of their names, lists of any type.
//! `vertex` gives positions (`x y z`), normals (`nx ny nz`), texture coordinates (`s t`, `u v` or
//! `texture_u texture_v`, `v` up in the file, down in a [`sinew_geom::Mesh`]) and colours (`red green blue alpha`). Every
//! other scalar of a vertex becomes an attribute: `vx vy vz` the vector `velocity`, `name_x name_y ..` the vector `name`,
//! the rest numbers under their own name, in single precision.
//!
//! Colours of a mesh are linear. Integers of a file are divided by their largest value and are sRGB, as Blender, MeshLab and
//! CloudCompare write them; floats are linear, as Blender writes those; alpha is linear. Writing goes the same way back.
//!
//! `face` gives polygons, cut as those of OBJ. A list `texcoord` of faces holds texture coordinates of corners, as MeshLab
//! writes them: they are the first set, and vertices are split as those of OBJ. Colours of faces are left out with a warning.
//! Other elements and list properties are skipped. Counts are checked against the bytes there are before anything is
//! allocated.
//!
//! The parser is our own, not `ply-rs`: errors name the element, its number and the property; nothing is allocated on
//! the word of a header; and a vertex does not pass through a map of strings.

mod columns;
mod header;
mod read;
mod write;

pub(crate) use read::parse_ply_from;
pub use read::{parse_ply, read_ply};
pub use write::{PlyEncoding, PlyOptions, write_ply};

#[cfg(test)]
mod tests;
