//! Wavefront OBJ: one polygon mesh.
//!
//! Supported: `v` (with optional colour: sRGB in the file, linear in a mesh), `vt`, `vn`, `f` with any number of
//! corners and negative indices, names of `o` and `g`, line continuation with `\`. Skipped: `usemtl`, `mtllib`, `s`,
//! lines, points and curves.
//!
//! Vertex `i` of the file stays vertex `i` of the mesh. A vertex is split only if its faces have different texture
//! coordinates or normals; the copies follow at the end. `v` of texture coordinates points up in OBJ and down in a
//! [`sinew_geom::Mesh`]; reading and writing flip it.
//!
//! Concave polygons are triangulated without overlaps. If a triangle fan from one corner does this, they stay polygons
//! that start at this corner. Otherwise they become triangles.
//!
//! The parser is our own instead of `tobj`: errors contain the line, what was found and what was expected; vertices
//! keep their order in the file (point caches depend on it), and polygons stay polygons.

mod read;
mod write;

pub(crate) use read::parse_obj_from;
pub use read::{parse_obj, read_obj};
pub use write::write_obj;

#[cfg(test)]
mod tests;
